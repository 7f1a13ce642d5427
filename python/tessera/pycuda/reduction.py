# SPDX-License-Identifier: Apache-2.0
"""Reductions of C snippets: ``ReductionKernel(np.float32, "0", "a+b", "x[i]*y[i]", "float *x,
float *y")``."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _generate as generate
from ._dtypes import Argument, dtype_to_ctype, parse_arguments

__all__ = ["ReductionKernel"]

# Up to so many elements one block does it all; that is one launch and one allocation.
ONE_BLOCK = 8192
BLOCKS = 1024

_KERNEL = """
{preamble}
typedef {ctype} out_type;
__device__ inline out_type tessera_reduce(const out_type &a, const out_type &b) {{ return {reduce}; }}
extern "C" __global__ void {name}(out_type *_out, {params})
{{
    __shared__ __align__(16) unsigned char _room[{block} * sizeof(out_type)];
    out_type *_part = (out_type *)_room;
    out_type _acc = out_type({neutral});
    for (unsigned long long i = blockIdx.x * {block}ull + threadIdx.x; i < {n}; i += gridDim.x * {block}ull) {{
{indices}        _acc = tessera_reduce(_acc, {map});
    }}
    _part[threadIdx.x] = _acc;
    for (unsigned half = {block} / 2; half; half /= 2) {{
        __syncthreads();
        if (threadIdx.x < half)
            _part[threadIdx.x] = tessera_reduce(_part[threadIdx.x], _part[threadIdx.x + half]);
    }}
    if (threadIdx.x == 0)
        _out[blockIdx.x] = _part[0];
}}
"""


class ReductionKernel:
    """Maps every element by ``map_expr`` and joins the values by ``reduce_expr`` of a and b.

    The result is a GPUArray of shape () and dtype `dtype_out`.
    """

    def __init__(
        self, dtype_out: Any, neutral: Any, reduce_expr: str, map_expr: str | None = None,
        arguments: Any = None, name: str = "reduce_kernel", keep: bool = False, options: Any = None,
        preamble: str = "", allocator: Any = None,
    ) -> None:  # fmt: skip
        self.dtype_out, self.neutral, self.reduce_expr = np.dtype(dtype_out), neutral, reduce_expr
        self.arguments = parse_arguments(
            arguments or f"const {dtype_to_ctype(self.dtype_out)} *in"
        )
        self.vectors = [a for a in self.arguments if a.is_vector]
        if not self.vectors:
            raise RuntimeError("a reduction needs at least one array among its arguments")
        self.map_expr = map_expr or f"{self.vectors[0].name}[i]"
        self.name, self.keep, self.options = name, keep, options
        self.preamble, self.allocator = preamble, allocator
        # The block shrinks for large elements: its values share 16 KiB.
        self.block = min(256, 1 << (16384 // self.dtype_out.itemsize).bit_length() - 1)

    def source(self, rank: int = 0) -> str:
        """The first stage in C++ for arrays of a rank."""
        body = generate.substitute(self.map_expr, self.vectors)
        return self._text(self.arguments, self.vectors, body, rank)

    def second(self) -> str:
        """The second stage: the same of the blocks' values."""
        arguments = parse_arguments(f"{dtype_to_ctype(self.dtype_out)} *_in")
        return self._text(arguments, arguments, "_in[_in_i]", 0)

    def _text(self, arguments: list[Argument], vectors: list[Argument], body: str, rank: int) -> str:
        count = "_n" if any(a.name == "n" for a in arguments) else "n"
        params = [
            *(a.declarator() for a in arguments), f"unsigned long long {count}",
            *generate.declare_strides(vectors, rank),
        ]  # fmt: skip
        return _KERNEL.format(
            preamble=self.preamble, ctype=dtype_to_ctype(self.dtype_out), reduce=self.reduce_expr,
            name=self.name, params=", ".join(params), neutral=self.neutral, map=body,
            indices=generate.find_indices(vectors, rank), block=self.block, n=count,
        )  # fmt: skip

    def _function(self, stage: int, rank: int) -> Any:
        def make() -> Any:
            text = self.second() if stage else self.source(rank)
            return generate.module_function(text, self.name, self.options, self.keep)

        return generate.compiled(self, (stage, rank), make)

    def __call__(
        self, *args: Any, stream: Any = None, out: Any = None, allocator: Any = None,
        range: Any = None, slice: Any = None,  # noqa: A002
    ) -> Any:  # fmt: skip
        """Reduces over the elements of the first array, or the indices of `slice` in it."""
        from .gpuarray import empty

        if range is not None:
            raise TypeError("reductions take slice=, not range=; slice the arrays otherwise")
        values, arrays = self._values(args, slice)
        allocator = allocator or self.allocator or arrays[0].allocator
        if out is None:
            out = empty((), self.dtype_out, allocator=allocator)
        elif out.dtype != self.dtype_out or out.size != 1:
            raise TypeError(f"{self.name}: out must be one element of {self.dtype_out}")
        layout = generate.layout_of(arrays)
        blocks = 1 if layout.n <= ONE_BLOCK else min(generate.grid_of(layout.n, self.block), BLOCKS)
        part = out if blocks == 1 else empty(blocks, self.dtype_out, allocator=allocator)
        numbers = [np.uint64(layout.n), *map(np.int64, layout.numbers)]
        where = {"block": (self.block, 1, 1), "stream": stream}
        self._function(0, layout.rank)(part, *values, *numbers, grid=(blocks, 1), **where)
        if blocks > 1:
            self._function(1, 0)(out, part, np.uint64(blocks), grid=(1, 1), **where)
        return out

    def _values(self, args: Any, slice_: Any) -> tuple[list[Any], list[Any]]:
        if len(args) != len(self.arguments):
            raise TypeError(f"{self.name} takes {len(self.arguments)} arguments, not {len(args)}")
        pairs = list(zip(self.arguments, args, strict=True))
        for argument, value in pairs:
            if argument.is_vector and getattr(value, "dtype", None) != argument.dtype:
                got = getattr(value, "dtype", type(value).__name__)
                raise TypeError(
                    f"{self.name}: {argument.name} is an array of {argument.dtype}, not of {got}"
                )
        values = [
            generate.convert(a, v) if not a.is_vector else v if slice_ is None else v[slice_]
            for a, v in pairs
        ]
        return values, [v for (a, _), v in zip(pairs, values, strict=True) if a.is_vector]
