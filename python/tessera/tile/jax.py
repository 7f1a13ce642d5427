# SPDX-License-Identifier: Apache-2.0
"""Tile kernels inside JAX programs, traced ones too: ``from tessera.tile.jax import cutile_call``.

The kernel runs as a callback of the host: on the CPU it works on JAX's own memory, on a GPU the arrays go through the
memory of the host, which costs two copies. JAX is imported when the first call is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tessera.tile as ct

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


def _is_number(arg: Any) -> bool:
    return arg is None or isinstance(arg, (bool, int, float))


def _filled(args: Any, values: Iterator[Any]) -> tuple[Any, ...]:
    """The arguments with the leaves of ``values``, in order."""
    made = [_filled(arg, values) if isinstance(arg, tuple) else next(values) for arg in args]
    return args._make(made) if hasattr(args, "_make") else tuple(made)


def _launch(grid: Any, kernel: Any, args: tuple[Any, ...], inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Runs the kernel on arrays of the host; gives its outputs."""
    import numpy as np

    given, outputs = iter(inputs), []

    def value(leaf: Any) -> Any:
        if _is_number(leaf):
            return leaf
        if isinstance(leaf, OutputPlaceholder):
            outputs.append(np.zeros(leaf.shape, leaf.dtype))
        elif isinstance(leaf, InputOutput):
            outputs.append(np.array(next(given)))
        else:
            return np.asarray(next(given))
        return outputs[-1]

    ct.launch(None, grid, kernel, _filled(args, map(value, _leaves(args))))
    return tuple(outputs)


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
    Arrays are row-major. The kernel must not write to an array that is not an output. An ``OutputPlaceholder``
    begins with zeros. Derivatives and ``vmap`` are not defined.
    """
    import jax

    if not isinstance(kernel, ct.kernel):
        raise TypeError(f"cutile_call() takes a function decorated with @ct.kernel, not a {type(kernel).__name__}")
    leaves = list(_leaves(args))
    outputs = [leaf for leaf in leaves if _is_output(leaf)]
    if not outputs:
        raise TypeError("cutile_call(): no argument is an OutputPlaceholder or InputOutput, so nothing would come out")
    arrays = [leaf.array if isinstance(leaf, InputOutput) else leaf for leaf in leaves if not _is_number(leaf)]
    arrays = [array for array in arrays if not isinstance(array, OutputPlaceholder)]
    for array in arrays:
        if not hasattr(array, "shape") or not hasattr(array, "dtype"):
            what = type(array).__name__
            raise TypeError(f"cutile_call() takes arrays, outputs, numbers and tuples of them, not a {what}")
    # What the callback keeps must not hold values of a trace: leaves become what they are, and no more.
    kept = _filled(args, (_shape_of(leaf) for leaf in leaves))
    shapes = tuple(jax.ShapeDtypeStruct(_shape_of(leaf).shape, _shape_of(leaf).dtype) for leaf in outputs)
    found = jax.pure_callback(lambda *inputs: _launch(grid, kernel, kept, inputs), shapes, *arrays)
    return found[0] if len(found) == 1 else tuple(found)


@dataclass(frozen=True)
class _Kept(InputOutput):
    """An ``InputOutput`` of a trace: its shape and dtype without the array."""

    shape: tuple[int, ...] = ()
    dtype: Any = None


def _shape_of(leaf: Any) -> Any:
    if isinstance(leaf, InputOutput):
        return _Kept(None, tuple(leaf.array.shape), leaf.array.dtype)
    return leaf if _is_number(leaf) or isinstance(leaf, OutputPlaceholder) else "an array"
