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
from .._arguments import Whole, bound, defaults_of, device_of
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


MAX_PLANS = 4096


@dataclass(frozen=True)
class _Plan:
    """One configuration, ready to be launched."""

    config: Any
    kernel: Any
    places: list[tuple[bool, Any]] | None  # see _space.arguments
    args: Callable[..., Any] | None = None

    def arguments(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.args is not None:
            return tuple(self.args(self.config, *args))
        return Whole([v if fixed else args[v] for fixed, v in self.places or ()])


def _fast_key(args: tuple[Any, ...]) -> Any:
    """Equal for arguments of one shape class; cheap, but not the same for all of the class."""
    key = []
    for value in args:
        shape = getattr(value, "shape", None)
        if shape is None:
            key.append(_fast_key(value) if isinstance(value, (tuple, list)) else None)
            continue
        stride = getattr(value, "stride", None)
        strides = stride() if callable(stride) else getattr(value, "strides", None)
        key.append((shape, strides, getattr(value, "dtype", None), getattr(value, "device", None)))
    return tuple(key)


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
        self._plans: dict[Any, _Plan] = {}
        self._has_defaults = bool(defaults_of(kernel._function)) or kernel._has_keyword_only()
        self.__name__, self.__doc__, self.__wrapped__ = kernel.__name__, kernel.__doc__, kernel

    def __repr__(self) -> str:
        return f"<tuned kernel {self.kernel.__qualname__}, {len(self.configs)} configurations>"

    def __call__(self, *args: Any, stream: Any = None, **named: Any) -> None:
        """Launches with the configuration chosen for these arguments."""
        args = self._bound(args, named)
        plan = self._plans.get(_fast_key(args))
        if plan is None:
            plan = self._plan_of(args)
        ct.launch(stream, self._grid(plan.config, *args), plan.kernel, plan.arguments(args))

    async def async_call(self, *args: Any, stream: Any = None, **named: Any) -> None:
        """Launches, and waits in asyncio or trio; see ``kernel.async_call``."""
        args = self._bound(args, named)
        plan = self._plans.get(_fast_key(args)) or self._plan_of(args)
        grid = self._grid(plan.config, *args)
        await plan.kernel.async_call(*plan.arguments(args), grid=grid, stream=stream)

    def choice(self, *args: Any, **named: Any) -> Any:
        """The configuration a launch with these arguments uses."""
        args = self._bound(args, named)
        return (self._plans.get(_fast_key(args)) or self._plan_of(args)).config

    def _bound(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments that are not chosen, in order: those given by name, and defaults, in their places."""
        if not named and not self._has_defaults:
            return args
        if self.choices.args is None:
            return bound(self.kernel._function, args, named, _space.chosen(self.kernel, self.default))
        if named:
            raise TypeError(
                f"{self!r} takes its arguments by position, as args= of its choices does; found {next(iter(named))}=..."
            )
        return args

    def _plan_of(self, args: tuple[Any, ...]) -> _Plan:
        """Looks the configuration up, on disk once a shape class; remembers it for these shapes."""
        key = (device_of(args), _arrays.shape_class(args))
        if key not in self._chosen:
            self._chosen[key] = self._stored(*key) or self.default
        plan = self._plan_with(self._chosen[key], args)
        if len(self._plans) >= MAX_PLANS:
            self._plans.clear()
        self._plans[_fast_key(args)] = plan
        return plan

    def _plan_with(self, config: Any, args: tuple[Any, ...]) -> _Plan:
        if self.choices.args is None:
            return _Plan(
                config, self._variant(config), _space.arguments(self.kernel, config, len(args))
            )
        return _Plan(config, self._variant(config), None, self.choices.args)

    def _divided(
        self, args: tuple[Any, ...], named: dict[str, Any], known: dict[str, Any] | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The kernel's arguments, and the options that a function with these keyword defaults takes."""
        options = {name: value for name, value in named.items() if name in (known or ())}
        return self._bound(args, {n: v for n, v in named.items() if n not in options}), options

    def tune(self, *args: Any, **options: Any) -> TuningResult:
        """Searches with these arguments, by position or by name; options are those of ``search``. Later launches of
        the shape class use the best, in other processes too."""
        args, options = self._divided(args, options, search.__kwdefaults__)
        result = search(
            self.kernel,
            lambda c: self._grid(c, *args),
            lambda c: self._plan_with(c, args).arguments(args),
            self.configs,
            **options,
        )
        self._plans.clear()
        self._chosen[(device_of(args), _arrays.shape_class(args))] = result.best.config
        return result

    def forget(self, *args: Any, **named: Any) -> None:
        """Drops what was kept for these arguments."""
        args = self._bound(args, named)
        device, shapes = device_of(args), _arrays.shape_class(args)
        self._plans.clear()
        self._chosen.pop((device, shapes), None)
        _store.forget(self._key(device, shapes))

    def report(self, *args: Any, **options: Any) -> Any:
        """The cost report of a launch with these arguments (``tessera.cost_report``)."""
        from .._report import cost_report

        args, options = self._divided(args, options, cost_report.__kwdefaults__)
        plan = self._plan_of(args)
        grid = self._grid(plan.config, *args)
        return cost_report(plan.kernel, plan.arguments(args), grid, **options)

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
    name = str(_core.device_info(device_of(args))["name"])
    entry = _store.load(_store.key_of(kernel, name, _arrays.shape_class(args)))
    return str(entry["config"]) if entry else None
