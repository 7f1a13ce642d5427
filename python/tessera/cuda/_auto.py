# SPDX-License-Identifier: Apache-2.0
"""Kernels that are launched over their arrays: ``@cuda.kernel``, ``@cuda.compile_kernel(...)``, and ``async_call`` of
every kernel of threads.

How many threads there are follows from the arrays: along each axis as many as the longest array has elements there.
The kernel checks its index, as always. What the function says is read from its text: over how many axes it goes
(``cuda.grid(2)``, ``threadIdx.y``), whether it strides over the grid (``cuda.gridsize``), which arrays it assigns to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from .._arguments import bound
from .._async import exports, finished, stream_of
from ._dispatcher import Dispatcher
from ._options import options_of

__all__ = ["ArrayKernel", "Shape", "compile_kernel", "kernel"]

# Threads of a block by the number of axes, where nothing was measured. The last axis of an array is the one along
# which neighbours lie in memory.
BLOCKS: dict[int, tuple[int, ...]] = {1: (256,), 2: (8, 32), 3: (4, 4, 16)}
_OPTIMIZE = {"none": False, "default": True, "aggressive": True}
_TARGETS = ("auto", "gpu", "cpu")


class Shape(NamedTuple):
    """How a launch is laid out: threads of a block along each axis, and how many elements each thread takes, which is 1
    unless the kernel strides over the grid."""

    block: tuple[int, ...]
    items: int = 1


class _Facts(NamedTuple):
    """What the text of a kernel says."""

    axes: int
    strides: bool
    written: tuple[str, ...]


# ---- the text of a kernel ----------------------------------------------------------------------------


def _targets(node: ast.AST) -> Iterator[str]:
    """Names whose elements a statement assigns to."""
    found = getattr(node, "targets", None) or [getattr(node, "target", None)]
    for target in found if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) else ():
        for part in ast.walk(target):
            if isinstance(part, (ast.Subscript, ast.Attribute)) and isinstance(part.ctx, ast.Store):
                base: Any = part
                while isinstance(base, (ast.Subscript, ast.Attribute)):
                    base = base.value
                if isinstance(base, ast.Name):
                    yield base.id


def _atomic(node: ast.AST) -> Iterator[str]:
    """The array of ``cuda.atomic.add(x, i, v)``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        of, first = node.func.value, node.args[0]
        name = of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""
        if name == "atomic" and isinstance(first, ast.Name):
            yield first.id


def _axes(node: ast.AST) -> int:
    """How many axes a call or attribute needs: ``grid(2)``, ``blockIdx.y``."""
    if isinstance(node, ast.Attribute) and node.attr in ("y", "z"):
        base = node.value
        name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
        return "xyz".index(node.attr) + 1 if name in ("threadIdx", "blockIdx") else 1
    if isinstance(node, ast.Call) and _called(node) in ("grid", "gridsize") and node.args:
        count = node.args[0]
        if isinstance(count, ast.Constant) and isinstance(count.value, int) and 1 <= count.value <= 3:
            return count.value
    return 1


def _called(node: ast.Call) -> str:
    of = node.func
    return of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""


def _facts_of(function: Any, snapshot: Any) -> _Facts:
    from .._source import source_of

    tree = source_of(function, snapshot)[0]
    code = function.__code__
    nodes = list(ast.walk(tree))
    stored = {name for node in nodes for find in (_targets, _atomic) for name in find(node)}
    return _Facts(
        max(_axes(node) for node in nodes),
        any(isinstance(node, ast.Call) and _called(node) == "gridsize" for node in nodes),
        tuple(name for name in code.co_varnames[: code.co_argcount] if name in stored),
    )


# ---- the kernel --------------------------------------------------------------------------------------


class ArrayKernel(Dispatcher):
    """A kernel that is called with its arrays: ``k(x, y)`` runs it with enough threads for all their elements.

    ``k[blocks, threads](x, y)`` still says how many.
    """

    _shape: Shape | None = None
    _target = "auto"
    _said: _Facts | None = None

    def __init__(self, py_func: Any, options: Any, source: str | None = None) -> None:
        super().__init__(py_func, options, source)
        self._text = self._snapshot

    @property
    def facts(self) -> _Facts:
        """What the text of the kernel says: its axes, whether it strides over the grid, what it writes."""
        if self._said is None:
            self._said = _facts_of(self.py_func, self._text)
        return self._said

    def shaped(self, shape: Shape) -> ArrayKernel:
        """The same kernel, launched in this shape."""
        made = type(self)(self.py_func, self.options)
        made._shape, made._target, made._said, made._pack = shape, self._target, self._said, self._pack
        made._text = self._text
        return made

    def over(self, args: tuple[Any, ...], stream: Any = None) -> Any:
        """The launch for these arguments, or None where there is nothing to do; ``k.over(args)(*args)`` runs it."""
        extents = self._extents(args)
        shape = self._shape or Shape(BLOCKS[len(extents)])
        if 0 in extents:
            return None
        per_block = (*(b * shape.items for b in shape.block[:1]), *shape.block[1:])
        blocks = tuple(-(-n // b) for n, b in zip(extents, per_block))
        return self[blocks, shape.block, stream or 0]

    def _extents(self, args: tuple[Any, ...]) -> tuple[int, ...]:
        axes = self.facts.axes
        shapes = [tuple(arg.shape) for arg in args if isinstance(getattr(arg, "shape", None), tuple)]
        shapes = [shape for shape in shapes if len(shape) >= axes]
        if not shapes:
            raise ValueError(
                f"kernel '{self.__name__}' goes over {axes} ax{'is' if axes == 1 else 'es'}, but no argument is an "
                f"array with so many: give the launch configuration, {self.__name__}[blocks, threads](...)"
            )
        if axes == 1:
            import math

            return (max(math.prod(shape) for shape in shapes),)
        return tuple(max(shape[axis] for shape in shapes) for axis in range(axes))

    def __call__(self, *args: Any, stream: Any = None, **named: Any) -> None:
        """Runs the kernel over its arrays, as a launch does: on a GPU, the call does not wait for device arrays."""
        whole = bound(self.py_func, args, named)
        launch = self.over(whole, stream if stream is not None else self._own_stream())
        if launch is not None:
            launch(*whole)

    async def async_call(self, *args: Any, stream: Any = None, **named: Any) -> Any:
        """``await k.async_call(x, y)``: runs the kernel over its arrays, and waits in asyncio or trio.

        Returns
        -------
        array or tuple
            What the kernel assigns to: the argument, or a tuple of them; None where it is nothing.
        """
        whole = bound(self.py_func, args, named)
        launch = self.over(whole, stream if stream is not None else self._own_stream())
        if launch is not None:
            await launch.async_call(*whole)
        code = self.py_func.__code__
        names = code.co_varnames[: code.co_argcount]
        written = tuple(value for name, value in zip(names, whole) if name in self.facts.written)
        return written[0] if len(written) == 1 else written or None

    def _own_stream(self) -> Any:
        """The default stream of the device that the target names."""
        if self._target != "cpu":
            return None
        from .. import _core

        streams: Any = _core.Stream
        return streams._wrap("cpu", 0, None, False)


def kernel(function: Any = None, **options: Any) -> Any:
    """Makes a function a kernel that is called with its arrays: ``@cuda.kernel``, then ``k(x, y)`` or
    ``await k.async_call(x, y)``.

    Parameters
    ----------
    function : function
    options
        As of ``cuda.jit``.

    Returns
    -------
    ArrayKernel or decorator

    Notes
    -----
    There are as many threads along each axis as the longest array has elements, in whole blocks: the kernel checks its
    index. Of ``cuda.grid(2)`` and ``cuda.grid(3)`` the first index is that of the arrays' first axis. numba has nothing
    like it; a kernel of ``cuda.jit`` says its blocks and threads at every launch.
    """
    checked = options_of(dict(options))
    if checked.device:
        raise ValueError("cuda.kernel() makes kernels; functions that kernels call are made by cuda.jit(device=True)")

    def decorate(found: Any) -> ArrayKernel:
        plain = getattr(found, "py_func", found)
        if not callable(plain) or not hasattr(plain, "__code__"):
            raise TypeError(f"cuda.kernel() takes a Python function, not {found!r} (a {type(found).__name__})")
        return ArrayKernel(plain, checked)

    return decorate if function is None else decorate(function)


def compile_kernel(function: Any = None, *, target: str = "auto", optimize: str = "default", **options: Any) -> Any:
    """``cuda.kernel`` with its options in words: ``@compile_kernel(target="gpu", optimize="aggressive")``.

    Parameters
    ----------
    target : str
        ``"cpu"``: the CPU device; ``"gpu"`` and ``"auto"``: the current device, which is the CPU device where there is
        no GPU.
    optimize : str
        ``"none"`` for debugging; ``"default"`` and ``"aggressive"`` are the same, the whole of the compiler. Values
        change with ``fastmath=True`` only.
    options
        As of ``cuda.jit``.
    """
    for name, given, known in (("target", target, _TARGETS), ("optimize", optimize, tuple(_OPTIMIZE))):
        if given not in known:
            from .._errors import did_you_mean

            words = ", ".join(map(repr, known))
            raise ValueError(f"{name} must be one of {words}, not {given!r}{did_you_mean(str(given), known)}")
    decorator = kernel(None, **{"opt": _OPTIMIZE[optimize], **options})

    def decorate(found: Any) -> ArrayKernel:
        made: ArrayKernel = decorator(found)
        made._target = target
        return made

    return decorate if function is None else decorate(function)


# ---- awaited launches --------------------------------------------------------------------------------


async def awaited(dispatcher: Dispatcher, launch: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    """``async_call`` of a launch: what is passed lives until the kernel has ended."""
    from .. import _core
    from ._arguments import prepared
    from ._dispatcher import _device_of_stream

    try:
        dispatcher._prepare()  # its arrays of the module are known then
    except Exception as error:
        raise dispatcher._failed(error) from None
    whole = dispatcher._complete(args, named)
    order = stream_of(None if isinstance(launch.stream, int) else launch.stream, _place(whole))
    passed, back = prepared(tuple(whole), _device_of_stream(order), tuple(dispatcher.extensions), order)
    kernel = dispatcher if dispatcher._can_compile else dispatcher._best(dispatcher._typed(passed))
    run = _core.ThreadLaunch(kernel, launch.griddim, launch.blockdim, order, launch.sharedmem, launch.cluster).run_kept
    await finished(lambda: run(*passed), order, (whole, passed, exports(whole), dispatcher))
    for copy in back:
        copy()


def _place(args: Any) -> str:
    """Where a launch without a stream goes: to the GPU of an array, or the current device."""
    from .. import _core
    from .._arguments import device_of

    found = device_of(args) if _core.device_count("cuda") else "cpu"
    current = _core._current_device()
    return found if found != "cpu" or current < _core.DEVICE_CUDA else f"cuda:{current & 255}"
