# SPDX-License-Identifier: Apache-2.0
"""Search spaces: configurations, and how one becomes a kernel with hints, constants and
arguments."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from .. import _core
from ..tile._kernel import _HINTS
from ..tile._kernel import kernel as Kernel

__all__ = ["Config", "arguments", "chosen", "expand", "hints_of", "variant"]


class Config(dict[str, Any]):
    """One point of a space: a dictionary whose items are attributes too, ``c.TM`` for
    ``c["TM"]``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the configuration {self!r} has no {name!r}") from None

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{k}={v!r}' for k, v in self.items())})"


class AsGiven(list[Any]):
    """Configurations that are used as they are: the very objects, repetitions among them."""


def expand(space: Any) -> list[Any]:
    """The configurations of a space, in order and without repetitions.

    A mapping ``{"TM": [64, 128], "num_stages": [3, 4]}`` gives all combinations as ``Config``;
    any other iterable gives its items, mappings among them as ``Config``.
    """
    if isinstance(space, AsGiven) and space:
        return [*space]
    if isinstance(space, Mapping):
        values = [v if isinstance(v, (list, tuple, range)) else [v] for v in space.values()]
        for name, choices in zip(space, values):
            if not choices:
                raise ValueError(f"the search space is empty: {name!r} has no values; give one or more")
        found = [Config(zip(space, combination)) for combination in itertools.product(*values)]
    elif isinstance(space, Iterable):
        found = [Config(c) if isinstance(c, Mapping) else c for c in space]
    else:
        raise TypeError(
            f"a search space is a mapping of names to values or an iterable of configurations, "
            f"not a {type(space).__name__}"
        )
    seen: set[str] = set()
    unique = [c for c in found if not (repr(c) in seen or seen.add(repr(c)))]
    if not unique:
        raise ValueError("the search space is empty; give one configuration or more")
    return unique


def hints_of(config: Any) -> dict[str, Any]:
    """The kernel hints among the items of a configuration: ``num_stages``, ``num_ctas``, ..."""
    return {k: v for k, v in config.items() if k in _HINTS} if isinstance(config, Mapping) else {}


def variant(kernel: Any, config: Any, hints: Mapping[str, Any] | None) -> Any:
    """A kernel object of its own for a configuration, so that variants compile side by side."""
    made = kernel if isinstance(kernel, Kernel) else kernel(config)
    if not isinstance(made, Kernel):
        raise TypeError(
            f"tuning takes a function decorated with @kernel, not a {type(made).__name__}"
        )
    if made._pack is None:
        made._prepare()  # read the source once, not for each variant
    return made.replace_hints(**(hints_of(config) if hints is None else hints))


def _misspelt(items: Mapping[str, Any], rows: Any) -> str:
    """What to say of names in a configuration that are neither parameter nor hint."""
    known = [*(r[0] for r in rows if r[1] & _core.PARAM_CONSTANT), *_HINTS]
    strange = [name for name in items if name not in known]
    if not strange:
        return ""
    close = difflib.get_close_matches(strange[0], known, 1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"; {strange[0]!r} of the configuration is no constant parameter and no hint{hint}"


def chosen(kernel: Any, config: Any) -> set[str]:
    """The constant parameters that a configuration names."""
    items = config if isinstance(config, Mapping) else {}
    return {r[0] for r in kernel._prepare()[3] if r[0] in items and r[1] & _core.PARAM_CONSTANT}


def arguments(kernel: Any, config: Any, n: int) -> list[tuple[bool, Any]]:
    """How the kernel's arguments come about, one pair a parameter: ``(True, value)`` for constants
    that the configuration names, ``(False, i)`` for the i-th of the ``n`` arguments that are given."""
    rows = kernel._prepare()[3]
    items = config if isinstance(config, Mapping) else {}
    named = chosen(kernel, config)
    if len(rows) - len(named) != n:
        wanted = ", ".join(r[0] for r in rows if r[0] not in named)
        raise TypeError(
            f"kernel '{kernel.__name__}' wants {len(rows) - len(named)} arguments beside its tuned "
            f"constants ({wanted}), not {n}{_misspelt(items, rows)}"
        )
    rest = iter(range(n))
    return [(True, items[r[0]]) if r[0] in named else (False, next(rest)) for r in rows]
