# SPDX-License-Identifier: Apache-2.0
"""The ``kernel`` decorator, its hints, and helpers of the host side."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar, Union

from .. import _core
from .._arguments import bound, launcher, parameter_names
from .._errors import TileSyntaxError
from .._source import snapshot_of
from ._annotation import annotations_of, parameter

__all__ = [
    "ByTarget",
    "Slice",
    "compiler_timeout",
    "function",
    "kernel",
    "launch",
]

launch = _core.launch

CO_VARARGS, CO_VARKEYWORDS = 4, 8  # of inspect, which is slow to import
T = TypeVar("T")


# ---- indices -------------------------------------------------------------------------------------------


class Slice(Generic[T]):
    """``ct.Slice(start, length)``: a dense range of an axis for ``load_advanced_indexing``."""

    __tessera_op__ = "Slice"


# ---- hints -------------------------------------------------------------------------------------------


class ByTarget(Generic[T]):
    """A hint that differs between architectures: ``ByTarget(default=1, sm_90=2)``.

    Parameters
    ----------
    default
        The hint where no other is named; None: as if it were not given.
    sm_80, sm_86, sm_89, sm_90, sm_100, sm_120, ...
        The hint on that architecture.

    Raises
    ------
    ValueError
        For a name that is not an architecture's.
    """

    def __init__(self, *, default: Any = None, **by_name: Any) -> None:
        unknown = [name for name in by_name if not (name.startswith("sm_") and name[3:].isdigit())]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not an architecture; use names such as sm_90")
        self.default = default
        self.by_name = by_name

    def __repr__(self) -> str:
        by_name = [f"{name}={value!r}" for name, value in self.by_name.items()]
        return f"ByTarget({', '.join([f'default={self.default!r}', *by_name])})"


_HINTS: dict[str, tuple[Callable[[int], bool], str]] = {
    "num_ctas": (lambda v: v in (1, 2, 4, 8, 16), "a power of two from 1 to 16"),
    "occupancy": (lambda v: 1 <= v <= 32, "1 to 32"),
    "opt_level": (lambda v: 0 <= v <= 3, "0 to 3"),
    "num_worker_warps": (lambda v: v in (4, 8, 16, 32), "4, 8, 16 or 32"),
    "num_stages": (lambda v: 1 <= v <= 8, "1 to 8"),
}
_DEFAULTS = {"opt_level": _core.OPT_LEVEL}


def _check_hint(name: str, value: Any) -> Any:
    good, wanted = _HINTS[name]
    values = [value.default, *value.by_name.values()] if isinstance(value, ByTarget) else [value]
    for v in values:
        if v is None:
            continue
        if isinstance(v, bool) or not isinstance(v, int):
            raise TypeError(
                f"kernel hint {name} must be an int, None or ByTarget, not {type(v).__name__}"
            )
        if not good(v):
            raise ValueError(f"kernel hint {name} is {v}; it must be {wanted}")
    return value


def _hint_on(value: Any, target: int) -> int:
    """A hint's value on a target (0: on those not named)."""
    if isinstance(value, ByTarget):
        value = value.by_name.get(f"sm_{target}", value.default)
    return int(value or 0)


@contextlib.contextmanager
def compiler_timeout(timeout_sec: float) -> Iterator[None]:
    """``with ct.compiler_timeout(10): ...``: a kernel that takes longer to compile is a
    ``TileCompilerTimeoutError``.

    Parameters
    ----------
    timeout_sec : float
        Seconds for each compilation that begins in the block, in any thread of the process.

    Notes
    -----
    The time is looked at between passes of the compiler: LLVM's part and the GPU driver's assembly are not
    interrupted. The variable CUDA_TILE_COMPILER_TIMEOUT_SEC of cuTile has no effect here.
    """
    if isinstance(timeout_sec, bool) or not isinstance(timeout_sec, (int, float)):
        raise TypeError(f"compiler_timeout() takes seconds, not a {type(timeout_sec).__name__}")
    if not 0 < timeout_sec < 1e9:
        raise ValueError(f"compiler_timeout() takes seconds above 0, not {timeout_sec}")
    before = _core.compile_limit(timeout_sec)
    try:
        yield
    finally:
        _core.compile_limit(before)


# ---- the kernel ----------------------------------------------------------------------------------------


def _again(found: Any, hints: dict[str, Any]) -> kernel:
    """A kernel of a pickle: ``found`` is its function, or a kernel of the same function."""
    return kernel(found, **hints) if not isinstance(found, kernel) else found.replace_hints(**hints)


class kernel(_core.Kernel):  # type: ignore[misc]
    """``@ct.kernel`` or ``@ct.kernel(num_ctas=2, ...)``: makes a function a tile kernel.

    Parameters
    ----------
    num_ctas : int or ByTarget, optional
        Thread blocks of a GPU that work on one tile block: a power of two from 1 to 16. In a kernel of one
        product they share its loop over K; two or four share the rows or columns of products in a loop
        over tiles, and of tiles that are too large for one.
    occupancy : int or ByTarget, optional
        Tile blocks to keep on one multiprocessor, 1 to 32.
    opt_level : int or ByTarget
        0 to 3.
    num_worker_warps : int or ByTarget, optional
        4, 8, 16 or 32.
    num_stages : int, optional
        Depth of load pipelines, 1 to 8.
    checked : bool
        Report indices of ``gather``, ``scatter`` and atomics that are out of bounds; also switched on
        for every kernel by ``TESSERA_CHECKED=1``.
    fastmath : bool
        Allow approximate instructions on a GPU.
    tuned : tessera.tune.Choices, optional
        Tile sizes and hints chosen per device and shape class: gives a ``tessera.tune.Tuned``.
    source : str, optional
        The whole text that the function was made of, where neither Python nor Tessera keeps it: a script read from
        stdin, and ``exec`` before the first import of ``tessera.tile``.

    Notes
    -----
    A kernel is launched with ``ct.launch``, not called. It is compiled at its first launch and again for
    argument types, alignments and constants it has not had yet; compiled code is kept on disk.

    A launch gives arguments by position or by name, and takes the defaults of parameters that it leaves out. Kernels
    at the top level of a module can be pickled.
    """

    def __new__(cls, function: Any = None, /, **hints: Any) -> Any:
        if function is None:
            return lambda f: cls(f, **hints)
        choices = hints.pop("tuned", None)
        if choices is None:
            return super().__new__(cls)
        from ..tune import Tuned

        return Tuned(cls(function, **hints), choices)

    def __init__(
        self,
        function: Any = None,
        /,
        *,
        checked: bool = False,
        fastmath: bool = False,
        source: str | None = None,
        **hints: Any,
    ) -> None:
        unknown = set(hints) - set(_HINTS)
        if unknown:
            raise TypeError(
                f"kernel() has no hint {sorted(unknown)[0]!r}; it has {', '.join(_HINTS)}, checked, fastmath, "
                "source"
            )
        if not callable(function) or not hasattr(function, "__code__"):
            raise TypeError(f"@kernel takes a Python function, not a {type(function).__name__}")
        self._function = function
        self._hints = {
            **_DEFAULTS,
            **{name: _check_hint(name, value) for name, value in hints.items()},
        }
        self._checked, self._fastmath = bool(checked), bool(fastmath)
        self._pack: tuple[bytes, Any] | None = None
        self._snapshot = snapshot_of(function, source)  # of its file: what is imported is what runs
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self.__wrapped__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"kernel '{self.__name__}' cannot be called; run it with ct.launch(stream, grid, {self.__name__}, args)"
        )

    def __getitem__(self, config: Any) -> Callable[..., None]:
        """``k[grid](x, n=3)`` is ``ct.launch(None, grid, k, (x,), {"n": 3})``; ``k[grid, stream]`` names a stream,
        where the grid is a tuple.

        Examples
        --------
        >>> add[ct.cdiv(n, 1024)](x, y, out)    # doctest: +SKIP
        >>> add[(8, 4), stream](x, y, out)    # doctest: +SKIP
        """
        return launcher(self, config)

    async def async_call(self, *args: Any, grid: Any, stream: Any = None, **named: Any) -> None:
        """``await kernel.async_call(x, y, grid=(8,))``: launches, and waits in asyncio or trio.

        Parameters
        ----------
        args, named
            The kernel's arguments. They, and the host memory among them, live until the kernel has
            ended, also when the waiting task is cancelled; do not change them before.
        grid : int or tuple of up to 3 ints
            Blocks along each axis.
        stream : Stream, optional
            None: the default stream of the arguments' device; on the CPU one of the event loop's own.

        Raises
        ------
        KernelError
            The kernel failed while it ran; all others as ``ct.launch``.
        """
        from .._async import call

        await call(self, grid, self._complete(args, named), stream)

    def __reduce__(self) -> Any:
        """By its name, as functions are."""
        import sys

        found: Any = sys.modules.get(self.__module__)
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is self:
            return self.__qualname__
        kept = {**self._hints, "checked": self._checked, "fastmath": self._fastmath}
        if found is self._function or getattr(found, "_function", None) is self._function:
            return _again, (found, kept)
        import pickle

        raise pickle.PicklingError(
            f"kernel '{self.__qualname__}' cannot be pickled: it is not found as {self.__module__}.{self.__qualname__}"
            "; define it at the top level of a module"
        )

    def _complete(self, args: Any, named: Any) -> tuple[Any, ...]:
        """An argument for each parameter; called by ext/kernel.c where some are named or missing."""
        return bound(self._function, args, {} if named is None else named)

    def _has_keyword_only(self) -> bool:
        return bool(self._function.__code__.co_kwonlyargcount)

    def __repr__(self) -> str:
        return f"<kernel {self.__qualname__}>"

    def replace_hints(self, **hints: Any) -> kernel:
        """A copy of the kernel with other hints."""
        kept = {**self._hints, "checked": self._checked, "fastmath": self._fastmath}
        other = kernel(self._function, **{**kept, **hints})
        other._snapshot, other._pack = self._snapshot, self._pack  # hints are not part of them; order as _prepare
        return other

    def report(
        self, *args: Any, grid: Any = None, stream: Any = None, target: Any = None, **named: Any
    ) -> Any:
        """The cost report of a launch with these arguments, which is not run: see
        ``tessera.cost_report``."""
        from .._report import cost_report

        return cost_report(self, args, grid, kwargs=named, stream=stream, target=target)

    def _prepare(self) -> tuple[str, str, bytes, tuple[Any, ...], tuple[Any, ...], Any]:
        """What the C side needs: name, file, pack, parameter rows, hints, host (see ext/kernel.c)."""
        from .._checked import wished
        from .._pack import pack_kernel

        snapshot = self._snapshot  # read first: another thread takes it away once there is a pack
        if self._pack is None:
            self._pack = pack_kernel(self._function, snapshot)
            self._snapshot = None
        code = self._function.__code__
        if code.co_flags & (CO_VARARGS | CO_VARKEYWORDS):
            raise TileSyntaxError(
                f"kernel '{self.__name__}' ({code.co_filename}:{code.co_firstlineno}) cannot take *args or **kwargs\n"
                + (
                    "  help: it is a wrapper that a decorator made; put @ct.kernel next to the def, below the others"
                    if hasattr(self._function, "__wrapped__")
                    else "  help: take a tuple: it may hold any number of arrays"
                )
            )
        notes = annotations_of(self._function)
        rows = tuple(parameter(name, notes.get(name)) for name in parameter_names(self._function))
        checked = self._checked or wished() > 0
        pack, host = self._pack
        return self.__name__, code.co_filename, pack, rows, self._hint_rows(checked), host

    def _hint_rows(self, checked: bool) -> tuple[Any, ...]:
        """``(target, numbers in the order of _core.HINTS)``: 0 first, then each target that some hint names."""
        named = {n for v in self._hints.values() if isinstance(v, ByTarget) for n in v.by_name}
        given = {**self._hints, "checked": int(checked), "fastmath": int(self._fastmath)}
        rows = []
        for target in (0, *sorted(int(n[3:]) for n in named)):
            rows.append((target, tuple(_hint_on(given.get(name), target) for name in _core.HINTS)))
        return tuple(rows)


F = TypeVar("F", bound=Callable[..., Any])


def function(fn: Union[F, None] = None, /, *, host: bool = False, tile: bool = True) -> Any:
    """Marks a helper of kernels. Any plain function can be one; without ``host`` this one refuses to run
    on the host."""
    if fn is None:
        return lambda f: function(f, host=host, tile=tile)
    if host:
        return fn

    def outside(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"{fn.__name__}() is a helper of tile kernels and was called on the host"
        )

    outside.__name__, outside.__doc__ = fn.__name__, fn.__doc__
    outside.__wrapped__ = fn  # type: ignore[attr-defined]
    outside.__tessera_helper__ = fn  # type: ignore[attr-defined]
    return outside
