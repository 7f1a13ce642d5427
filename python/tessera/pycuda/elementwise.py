# SPDX-License-Identifier: Apache-2.0
"""Kernels of one C statement per element: ``ElementwiseKernel("float *z", "z[i] = 7")``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _generate as generate
from ._call import LogicError
from ._dtypes import Argument, ScalarArg, VectorArg, parse_arguments

__all__ = ["ElementwiseKernel", "ScalarArg", "VectorArg"]


class ElementwiseKernel:
    """Runs ``operation`` for every index ``i`` of its arrays.

    `arguments` is a C argument list; `operation` a C statement without its semicolon. `preamble`
    stands before the kernel, `loop_prep` before its loop and `after_loop` behind it.
    """

    def __init__(
        self, arguments: Any, operation: str, name: str = "kernel", keep: bool = False,
        options: Any = None, preamble: str = "", loop_prep: str = "", after_loop: str = "",
    ) -> None:  # fmt: skip
        self.arguments: list[Argument] = parse_arguments(arguments)
        self.vectors = [a for a in self.arguments if a.is_vector]
        if not self.vectors:
            raise RuntimeError("an elementwise kernel needs at least one array among its arguments")
        self.operation, self.name, self.preamble = operation, name, preamble
        self.loop_prep, self.after_loop = loop_prep, after_loop
        self.keep, self.options = keep, options
        names = {a.name for a in self.arguments}
        self._n = "n" if "n" not in names else "_n"

    def source(self, rank: int = 0, has_range: bool = False) -> str:
        """The kernel in C++ for arrays of a rank; 0 when they lie in memory in one order."""
        extra = ["long long start", "long long stop", "long long step"] if has_range else []
        params = [
            *(a.declarator() for a in self.arguments), f"unsigned long long {self._n}", *extra,
            *generate.declare_strides(self.vectors, rank),
        ]  # fmt: skip
        index, count = "long long" if has_range else "unsigned long long", "gridDim.x * blockDim.x"
        first = "blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x"
        loop = f"for ({index} i = {first}; i < {self._n}; i += (unsigned long long){count})"
        if has_range:
            first = f"start + (long long)({first}) * step"
            end = "step > 0 ? i < stop : i > stop"
            loop = f"for ({index} i = {first}; {end}; i += step * (long long)({count}))"
        body = generate.substitute(self.operation, self.vectors)
        return (
            f"{self.preamble}\nextern \"C\" __global__ void {self.name}({', '.join(params)})\n{{\n"
            f"{self.loop_prep};\n{loop} {{\n{generate.find_indices(self.vectors, rank)}{body};\n}}\n"
            f"{self.after_loop};\n}}\n"
        )

    def _function(self, rank: int, has_range: bool) -> Any:
        if rank and not generate.takes_strides(self.operation, self.vectors):
            raise LogicError(
                f"{self.name}: its arrays do not lie in memory in one order, and the operation uses "
                "them at other places than [i]; copy() them first"
            )
        return generate.compiled(
            self,
            (rank, has_range),
            lambda: generate.module_function(
                self.source(rank, has_range), self.name, self.options, self.keep
            ),
        )

    def __call__(
        self, *args: Any, range: Any = None, slice: Any = None, stream: Any = None,  # noqa: A002
        shape: tuple[int, ...] | None = None,
    ) -> None:  # fmt: skip
        """Runs on all elements of the arrays, or on the indices of `range` or `slice`; arrays that
        are smaller than `shape` are broadcast to it."""
        if len(args) != len(self.arguments):
            raise TypeError(f"{self.name} takes {len(self.arguments)} arguments, not {len(args)}")
        arrays = [v for a, v in zip(self.arguments, args, strict=True) if a.is_vector]
        self._check(args, arrays[0].size if shape is None else 0)
        layout = generate.layout_of(arrays, shape)
        limits, count = _limits(range, slice, layout.n)
        if count == 0:
            return
        function = self._function(layout.rank, bool(limits))
        values = [
            v if a.is_vector else generate.convert(a, v)
            for a, v in zip(self.arguments, args, strict=True)
        ]
        numbers = [np.uint64(layout.n), *map(np.int64, (*limits, *layout.numbers))]
        blocks = generate.grid_of(count)
        function(*values, *numbers, block=(generate.BLOCK, 1, 1), grid=(blocks, 1), stream=stream)

    def _check(self, args: Sequence[Any], n: int) -> None:
        """The dtypes of the arrays, and that those read at [i] have n elements."""
        for argument, value in zip(self.arguments, args, strict=True):
            if not argument.is_vector:
                continue
            dtype = getattr(value, "dtype", None)
            if dtype is None:
                raise TypeError(f"{self.name}: {argument.name} must be an array, not {value!r}")
            if dtype != argument.dtype:
                raise TypeError(
                    f"{self.name}: {argument.name} is an array of {argument.dtype}, not of {dtype}"
                )
            if value.size < n and generate.takes_strides(self.operation, [argument]):
                raise ValueError(f"{self.name}: {argument.name} has {value.size} elements, not {n}")


def _limits(range_: Any, slice_: Any, n: int) -> tuple[tuple[int, ...], int]:
    """((start, stop, step) or (), number of indices)."""
    if range_ is not None and slice_ is not None:
        raise TypeError("give range or slice, not both")
    if range_ is None and slice_ is None:
        return (), n
    if slice_ is not None:
        limits = slice_.indices(n)
    else:
        limits = (range_.start or 0, range_.stop, range_.step or 1)
    return limits, len(range(*limits))
