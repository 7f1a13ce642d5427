# SPDX-License-Identifier: Apache-2.0
"""Kernels that pick their own configuration: the best one kept for this device and shape class,
or else the default. A launch never searches; ``tune`` does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import _core
from .. import tile as ct
from . import _arrays, _space, _store
from ._result import TuningResult
from ._search import search

__all__ = ["Choices", "Tuned", "best", "tuned"]


@dataclass(frozen=True)
class Choices:
    """What may be chosen, for ``ct.kernel(tuned=...)``.

    Parameters
    ----------
    space : mapping or iterable
        See ``search``. Items named like a ``ct.Constant`` parameter of the kernel become its
        argument, items named like a hint become that hint.
    grid : function
        ``grid(config, *args)``: the grid of a launch with these arguments.
    args : function, optional
        ``args(config, *args)``: the kernel's arguments; by default ``args`` with the constants
        that the configuration names in their places.
    default : optional
        The configuration used until there is a tuned one; by default the first of the space.
    """

    space: Any
    grid: Callable[..., Any]
    args: Callable[..., Any] | None = None
    default: Any = None


class Tuned:
    """A kernel with choices; called with the arguments that are not chosen: ``matmul(a, b, c)``."""

    def __init__(self, kernel: Any, choices: Choices) -> None:
        self.kernel, self.choices = kernel, choices
        self.configs = _space.expand(choices.space)
        self.default = (
            self.configs[0] if choices.default is None else _space.expand([choices.default])[0]
        )
        self._by_text = {repr(c): c for c in [*self.configs, self.default]}
        self._variants: dict[str, Any] = {}
        self._chosen: dict[tuple[str, str], Any] = {}
        self.__name__, self.__doc__, self.__wrapped__ = kernel.__name__, kernel.__doc__, kernel

    def __repr__(self) -> str:
        return f"<tuned kernel {self.kernel.__qualname__}, {len(self.configs)} configurations>"

    def __call__(self, *args: Any, stream: Any = None) -> None:
        """Launches with the configuration chosen for these arguments."""
        config = self.choice(*args)
        ct.launch(
            stream, self._grid(config, *args), self._variant(config), self._args(config, *args)
        )

    def choice(self, *args: Any) -> Any:
        """The configuration a launch with these arguments uses: looked up on disk once a shape
        class."""
        key = (_arrays.device_of(args), _arrays.shape_class(args))
        if key not in self._chosen:
            self._chosen[key] = self._stored(*key) or self.default
        return self._chosen[key]

    def tune(self, *args: Any, **options: Any) -> TuningResult:
        """Searches with these arguments; options are those of ``search``. Later launches of the
        shape class use the best, in other processes too."""
        result = search(
            self.kernel,
            lambda c: self._grid(c, *args),
            lambda c: self._args(c, *args),
            self.configs,
            **options,
        )
        self._chosen[(_arrays.device_of(args), _arrays.shape_class(args))] = result.best.config
        return result

    def forget(self, *args: Any) -> None:
        """Drops what was kept for these arguments."""
        device, shapes = _arrays.device_of(args), _arrays.shape_class(args)
        self._chosen.pop((device, shapes), None)
        _store.forget(self._key(device, shapes))

    def report(self, *args: Any, **options: Any) -> Any:
        """The cost report of a launch with these arguments (``tessera.cost_report``)."""
        from .._report import cost_report

        config = self.choice(*args)
        return cost_report(
            self._variant(config), self._args(config, *args), self._grid(config, *args), **options
        )

    def _key(self, device: str, shapes: str) -> str:
        return _store.key_of(
            _space.variant(self.kernel, self.default, {}),
            str(_core.device_info(device)["name"]),
            shapes,
        )

    def _stored(self, device: str, shapes: str) -> Any:
        entry = _store.load(self._key(device, shapes))
        return self._by_text.get(entry["config"]) if entry else None

    def _grid(self, config: Any, *args: Any) -> Any:
        grid = self.choices.grid(config, *args)
        return (grid,) if isinstance(grid, int) else tuple(grid)

    def _args(self, config: Any, *args: Any) -> tuple[Any, ...]:
        if self.choices.args:
            return tuple(self.choices.args(config, *args))
        return _space.arguments(self.kernel, config, args)

    def _variant(self, config: Any) -> Any:
        text = repr(config)
        if text not in self._variants:
            self._variants[text] = _space.variant(self.kernel, config, None)
        return self._variants[text]


def tuned(
    space: Any,
    grid: Callable[..., Any],
    args: Callable[..., Any] | None = None,
    default: Any = None,
) -> Callable[[Any], Tuned]:
    """Decorator above ``@ct.kernel``: the kernel with choices, a ``Tuned``. See ``Choices``."""
    return lambda kernel: Tuned(kernel, Choices(space, grid, args, default))


def best(kernel: Any, args: tuple[Any, ...]) -> str | None:
    """The configuration kept for a kernel and arguments of this shape class, as text; None when
    there is none."""
    name = str(_core.device_info(_arrays.device_of(args))["name"])
    entry = _store.load(_store.key_of(kernel, name, _arrays.shape_class(args)))
    return str(entry["config"]) if entry else None
