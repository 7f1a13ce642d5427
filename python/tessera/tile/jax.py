# SPDX-License-Identifier: Apache-2.0
"""Tile kernels inside JAX programs, traced ones too: ``from tessera.tile.jax import cutile_call``.

A call is one of XLA's foreign function interface (ext/xla.c): the kernel works on XLA's own memory, on its stream.
What the call is stands as a text in the program, with the packed kernel in it, so that an exported program runs in
another process.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tessera.tile as ct

from .. import _core

__all__ = ["InputOutput", "OutputPlaceholder", "cutile_call"]


@dataclass(frozen=True)
class OutputPlaceholder:
    """An output of ``cutile_call`` that JAX allocates.

    Parameters
    ----------
    shape : tuple of int
    dtype
        As JAX takes them.
    """

    shape: tuple[int, ...]
    dtype: Any


@dataclass(frozen=True)
class InputOutput:
    """An array that the kernel reads and writes; what it wrote is an output, the array stays as it is.

    Parameters
    ----------
    array : jax.Array
    """

    array: Any


def _leaves(args: Any) -> Iterator[Any]:
    for arg in args:
        if isinstance(arg, tuple):
            yield from _leaves(arg)
        else:
            yield arg


def _is_output(arg: Any) -> bool:
    return isinstance(arg, (OutputPlaceholder, InputOutput))


def _inputs(leaves: list[Any]) -> list[Any]:
    return [leaf for leaf in leaves if not _is_number(leaf) and not isinstance(leaf, OutputPlaceholder)]


def _shaped(output: Any) -> Any:
    """What has the shape and dtype of an output."""
    return output.array if isinstance(output, InputOutput) else output


def _is_number(arg: Any) -> bool:
    return arg is None or isinstance(arg, (bool, int, float))


# ---- what a call is, as a text ------------------------------------------------------------------------------

_TARGET = "cutile_launch"  # its name among XLA's functions, as the peer's
_numbers = itertools.count()
_kernels: dict[str, Any] = {}  # of this process, by what stands for them in the text


class _Packed(_core.Kernel):
    """A kernel of another process: what its text says of it."""

    def __init__(self, prepared: tuple[Any, ...]) -> None:
        self._prepared = prepared
        self.__name__ = prepared[0]

    def _prepare(self) -> tuple[Any, ...]:
        return self._prepared

    def _complete(self, args: Any, named: Any) -> tuple[Any, ...]:
        """The arguments in order: the text has those by name last, in the order of the parameters."""
        return (*args, *(named or {}).values())

    def _has_keyword_only(self) -> bool:
        return False


def _plain(value: Any) -> Any:
    """Tuples of any class as tuples, which `ast.literal_eval` reads back."""
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


def _kernel_text(kernel: Any) -> str:
    """What stands for a kernel: all of it where it needs no Python to compile, else a number in this process."""
    name, file, pack, rows, hints, host = kernel._prepare()
    whole = repr(_plain((name, file, pack, rows, hints)))
    text = f"number {next(_numbers)} of a process" if host is not None and host.asks else whole
    _kernels.setdefault(text, kernel)
    return text


@functools.lru_cache(maxsize=1024)
def _read(call: str) -> tuple[Any, Any, Any, Any]:
    """Kernel, grid, arguments and the names of the last of them, of a call's text."""
    text, grid, args, names = ast.literal_eval(call)
    kernel = _kernels.get(text)
    if kernel is None and text.startswith("number "):
        raise RuntimeError(
            "this program holds a tile kernel that evaluates Python while it is compiled, so that it can run only in "
            "the process that made it; build the program again"
        )
    if kernel is None:
        kernel = _kernels[text] = _Packed((*ast.literal_eval(text), None))
    return kernel, grid, args, names


def _names(kernel: Any, args: tuple[Any, ...]) -> tuple[str, ...]:
    """The names of arguments for parameters that take them by name alone; TypeError where tuples do not fit."""
    code, rows = kernel._function.__code__, kernel._prepare()[3]
    for row, arg in zip(rows, args, strict=False):
        if isinstance(arg, tuple) and row.items and row.form == _core.PARAM_TUPLE and len(row.items) != len(arg):
            raise TypeError(
                f"kernel '{kernel.__name__}', argument '{row.name}' expects a tuple of length {len(row.items)}, "
                f"got {len(arg)}"
            )
    return tuple(row.name for row in rows[code.co_argcount : len(args)])


def _number(value: Any) -> Any:
    """A number as `ast.literal_eval` reads it back: it knows no infinities and NaN."""
    return ("float", value.hex()) if isinstance(value, float) else ("value", value)


def _described(args: Any) -> Any:
    """The arguments with each leaf as (kind, ...)."""
    made: list[Any] = []
    for arg in args:
        if isinstance(arg, tuple):
            made.append(("tuple", _described(arg)))
        elif isinstance(arg, OutputPlaceholder):
            made.append(("output", str(_dtype(arg.dtype)), tuple(map(int, arg.shape))))
        elif _is_number(arg):
            made.append(_number(arg))
        else:
            array = arg.array if isinstance(arg, InputOutput) else arg
            made.append(("both" if array is not arg else "input", str(array.dtype), tuple(map(int, array.shape))))
    return tuple(made)


def _filled(described: Any, device: str, inputs: Iterator[int], outputs: Iterator[int]) -> tuple[Any, ...]:
    """The arguments of a launch: arrays over the addresses that XLA gives."""

    def filled(kind: str, what: Any, shape: Any = ()) -> Any:
        if kind == "tuple":
            return _filled(what, device, inputs, outputs)
        if kind in ("float", "value"):
            return float.fromhex(what) if kind == "float" else what
        address = next(inputs if kind == "input" else outputs)
        if kind == "both":
            next(inputs)  # the same memory: input_output_aliases
        return _core.array_at(address, shape, what, device)

    return tuple(filled(*leaf) for leaf in described)


class _Stream:
    """XLA's stream."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


def _run(call: str, device: str, stream: int, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> None:
    """Launches; called by ext/xla.c when XLA runs the program."""
    kernel, grid, described, names = _read(call)
    args = _filled(described, device, iter(inputs), iter(outputs))
    at = len(args) - len(names)
    named = dict(zip(names, args[at:], strict=True)) if names else None
    ct.launch(None if device == "cpu" else _Stream(stream), grid, kernel, args[:at], named)
    if device == "cpu":
        _core.synchronize("cpu")


@functools.cache
def _registered() -> None:
    """Tells JAX of the functions, once."""
    import jax

    for platform, handler in zip(("cpu", "CUDA"), _core.xla_handlers(), strict=True):
        jax.ffi.register_ffi_target(_TARGET, handler, platform=platform)


with contextlib.suppress(ImportError):  # JAX; programs of another process may come before the first call
    _registered()


def _dtype(dtype: Any) -> Any:
    import jax

    return jax.numpy.dtype(dtype)


# ---- the call ---------------------------------------------------------------------------------------------------


def cutile_call(grid: tuple[int, ...], kernel: Any, args: tuple[Any, ...]) -> Any:
    """Launches a kernel from a JAX program, inside ``jax.jit`` too.

    Parameters
    ----------
    grid : tuple of up to 3 ints
    kernel : kernel
    args : tuple
        One for each parameter: a ``jax.Array`` that is read, an ``OutputPlaceholder``, an ``InputOutput``, a number,
        or a tuple of these. A number that is an argument of a traced function must be static there.

    Returns
    -------
    jax.Array, or tuple of them
        The outputs in the order of ``args``; the one itself where there is one.

    Raises
    ------
    TypeError
        For an argument that is none of these, or when there is no output.

    Notes
    -----
    Arrays are row-major. The kernel must not write to an array that is not an output, and must write all elements of
    an ``OutputPlaceholder``: what it leaves out is undefined. On a GPU the launch is enqueued on XLA's stream; on the
    CPU the call returns when the kernel has ended. Derivatives and ``vmap`` are not defined. Programs made by
    ``jax.export`` run in other processes once these have imported ``tessera.tile.jax``, unless the kernel evaluates
    Python while it is compiled (``ct.static_eval`` and the like).

    References
    ----------
    XLA's foreign function interface: https://openxla.org/xla/custom_call
    """
    import jax

    if not isinstance(kernel, ct.kernel):
        raise TypeError(f"cutile_call() takes a function decorated with @ct.kernel, not a {type(kernel).__name__}")
    leaves = list(_leaves(args))
    outputs = [leaf for leaf in leaves if _is_output(leaf)]
    if not outputs:
        raise TypeError("cutile_call(): no argument is an OutputPlaceholder or InputOutput, so nothing would come out")
    arrays = [leaf.array if isinstance(leaf, InputOutput) else leaf for leaf in _inputs(leaves)]
    for array in arrays:
        if not hasattr(array, "shape") or not hasattr(array, "dtype"):
            what = type(array).__name__
            raise TypeError(f"cutile_call() takes arrays, outputs, numbers and tuples of them, not a {what}")
    _registered()
    call = repr((_kernel_text(kernel), tuple(map(int, grid)), _described(args), _names(kernel, args)))
    places = [i for i, leaf in enumerate(outputs) if isinstance(leaf, InputOutput)]
    readers = [i for i, leaf in enumerate(_inputs(leaves)) if isinstance(leaf, InputOutput)]
    found = jax.ffi.ffi_call(
        _TARGET,
        tuple(jax.ShapeDtypeStruct(shaped.shape, shaped.dtype) for shaped in map(_shaped, outputs)),
        input_output_aliases=dict(zip(readers, places, strict=True)),
    )(*arrays, call=call)
    return found[0] if len(found) == 1 else tuple(found)
