# SPDX-License-Identifier: Apache-2.0
"""Prefix sums of any associative C expression, over one-dimensional arrays.

Three launches: every block reduces one stretch of the array, one block scans what came out, every
block scans its stretch with what lies before it. The array is read twice and written once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _generate as generate
from ._call import LogicError
from ._dtypes import dtype_to_ctype

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]

BLOCK, BLOCKS = 256, 1024

_KERNELS = """
{preamble}
typedef {ctype} scan_type;
__device__ inline scan_type tessera_scan(const scan_type &a, const scan_type &b) {{ return {scan}; }}

/* One tile of {block} x {items} elements at `at`: sums[t] becomes the inclusive scan of the threads' totals. */
__device__ inline int tessera_tile(const scan_type *in, unsigned long long at, unsigned long long end,
                                   scan_type *items, scan_type *sums)
{{
    unsigned t = threadIdx.x;
    unsigned long long left = end - at;
    unsigned n = left < {block} * {items} ? (unsigned)left : {block} * {items};
    for (unsigned k = t; k < n; k += {block})
        items[k] = in[at + k];
    __syncthreads();
    unsigned first = t * {items}, last = first + {items} < n ? first + {items} : n;
    unsigned active = (n + {items} - 1) / {items};
    if (t < active) {{
        scan_type total = items[first];
        for (unsigned k = first + 1; k < last; k++)
            total = items[k] = tessera_scan(total, items[k]);
        sums[t] = total;
    }}
    __syncthreads();
    for (unsigned d = 1; d < active; d *= 2) {{
        bool joins = t >= d && t < active;
        scan_type both = joins ? tessera_scan(sums[t - d], sums[t]) : sums[0];
        __syncthreads();
        if (joins)
            sums[t] = both;
        __syncthreads();
    }}
    return active;
}}

#define TESSERA_ROOM                                                             \\
    __shared__ __align__(16) unsigned char _items[{block} * {items} * sizeof(scan_type)]; \\
    __shared__ __align__(16) unsigned char _sums[{block} * sizeof(scan_type)];   \\
    scan_type *items = (scan_type *)_items, *sums = (scan_type *)_sums;

extern "C" __global__ void {name}_reduce(const scan_type *in, scan_type *out, unsigned long long n,
                                         unsigned long long stretch)
{{
    TESSERA_ROOM
    unsigned long long at = blockIdx.x * stretch, end = at + stretch < n ? at + stretch : n;
    scan_type total = in[at];
    for (bool is_first = true; at < end; at += {block} * {items}, is_first = false) {{
        int active = tessera_tile(in, at, end, items, sums);
        total = is_first ? sums[active - 1] : tessera_scan(total, sums[active - 1]);
        __syncthreads();
    }}
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}}

extern "C" __global__ void {name}_scan(const scan_type *in, scan_type *out, const scan_type *before,
                                       unsigned long long n, unsigned long long stretch)
{{
    TESSERA_ROOM
    unsigned t = threadIdx.x;
    unsigned long long at = blockIdx.x * stretch, end = at + stretch < n ? at + stretch : n;
    bool has_carry = blockIdx.x > 0;
    scan_type carry = before[has_carry ? blockIdx.x - 1 : 0];
    for (; at < end; at += {block} * {items}) {{
        int active = tessera_tile(in, at, end, items, sums);
        unsigned long long left = end - at;
        unsigned count = left < {block} * {items} ? (unsigned)left : {block} * {items};
        for (unsigned k = t; k < count; k += {block}) {{
            unsigned owner = k / {items}, own = k % {items};
            bool has_before = has_carry || owner > 0;
            scan_type prefix = owner == 0 ? carry : sums[owner - 1];
            if (owner > 0 && has_carry)
                prefix = tessera_scan(carry, prefix);
            {store}
        }}
        scan_type last = has_carry ? tessera_scan(carry, sums[active - 1]) : sums[active - 1];
        __syncthreads();
        carry = last;
        has_carry = true;
    }}
}}
"""
_INCLUSIVE = """(void)own;
            out[at + k] = has_before ? tessera_scan(prefix, items[k]) : items[k];"""
_EXCLUSIVE = """scan_type inner = own ? items[k - 1] : prefix;
            out[at + k] = own && has_before ? tessera_scan(prefix, inner)
                          : own || has_before ? inner : scan_type({neutral});"""


class _ScanKernel:
    """What both kinds share; `_store` writes one element."""

    _store = ""

    def __init__(
        self, dtype: Any, scan_expr: str, neutral: Any = None, name_prefix: str = "scan",
        options: Any = None, preamble: str = "", devices: Any = None,
    ) -> None:  # fmt: skip
        del devices
        self.dtype, self.name = np.dtype(dtype), name_prefix
        self.options, self.preamble, self.scan_expr = options, preamble, scan_expr
        self.neutral = neutral
        # An odd number of elements per thread keeps the banks of shared memory apart.
        self.items = max(1, min(9, 24576 // (BLOCK * self.dtype.itemsize)) - 1 | 1)

    def source(self) -> str:
        """The kernels in C++."""
        return _KERNELS.format(
            preamble=self.preamble, ctype=dtype_to_ctype(self.dtype), scan=self.scan_expr,
            name=self.name, block=BLOCK, items=self.items,
            store=self._store.format(neutral=self.neutral),
        )  # fmt: skip

    def _functions(self) -> tuple[Any, Any]:
        def make() -> tuple[Any, Any]:
            first = generate.module_function(self.source(), f"{self.name}_reduce", self.options)
            return first, first.module.get_function(f"{self.name}_scan")

        return generate.compiled(self, "kernels", make)  # type: ignore[no-any-return]

    def __call__(
        self, input_ary: Any, output_ary: Any = None, allocator: Any = None, n: int | None = None,
        stream: Any = None,
    ) -> Any:  # fmt: skip
        """Scans the first `n` elements into `output_ary`, or in place; gives the output."""
        from .gpuarray import empty

        output = input_ary if output_ary is None else output_ary
        for array in (input_ary, output):
            if array.dtype != self.dtype or not array.flags.forc:
                raise LogicError(f"a scan wants contiguous arrays of {self.dtype}")
        n = input_ary.size if n is None else n
        if not 0 <= n <= min(input_ary.size, output.size):
            raise LogicError(f"{n} elements are more than the arrays have")
        if n == 0:
            return output
        reduce_, scan = self._functions()
        tile = BLOCK * self.items
        stretch = -(-n // (tile * BLOCKS)) * tile
        blocks = -(-n // stretch)
        where = {"block": (BLOCK, 1, 1), "stream": stream}
        sums = empty(blocks, self.dtype, allocator=allocator or input_ary.allocator)
        sizes = (np.uint64(n), np.uint64(stretch))
        if blocks > 1:
            reduce_(input_ary, sums, *sizes, grid=(blocks, 1), **where)
            self._scan_sums(sums, blocks, where)
        scan(input_ary, output, sums, *sizes, grid=(blocks, 1), **where)
        return output

    def _scan_sums(self, sums: Any, n: int, where: dict[str, Any]) -> None:
        """Scans the blocks' totals inclusively, by one block."""
        kernel = generate.compiled(
            self,
            "sums",
            lambda: InclusiveScanKernel(
                self.dtype, self.scan_expr, None, self.name, self.options, self.preamble
            ),
        )
        _, scan = kernel._functions()
        scan(sums, sums, sums, np.uint64(n), np.uint64(2**62), grid=(1, 1), **where)


class InclusiveScanKernel(_ScanKernel):
    """out[i] joins in[0] to in[i]."""

    _store = _INCLUSIVE


class ExclusiveScanKernel(_ScanKernel):
    """out[i] joins in[0] to in[i - 1]; out[0] is the neutral element."""

    _store = _EXCLUSIVE

    def __init__(self, dtype: Any, scan_expr: str, neutral: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dtype, scan_expr, neutral, *args, **kwargs)
