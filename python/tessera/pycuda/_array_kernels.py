# SPDX-License-Identifier: Apache-2.0
"""The kernels of arrays that are no operators, made once for each combination of dtypes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ._dtypes import Argument, PointerArg, ScalarArg, VectorArg, dtype_to_ctype
from .elementwise import ElementwiseKernel
from .reduction import ReductionKernel

__all__ = ["arange", "axpby", "choose", "move", "part", "reduction"]

Dtype = np.dtype[Any]
_once = functools.lru_cache(maxsize=None)


def _to(dtype: Dtype, value: str) -> str:
    return value if dtype.kind == "V" else f"tessera::to<{dtype_to_ctype(dtype)}>({value})"


@_once
def part(dtype: Dtype, half: Dtype, name: str) -> ElementwiseKernel:
    """z = real or imaginary part of x."""
    arguments = [VectorArg(half, "z"), VectorArg(dtype, "x")]
    return ElementwiseKernel(arguments, f"z[i] = x[i].{name}()", f"{name}_kernel")


@_once
def axpby(z: Dtype, x: Dtype, y: Dtype) -> ElementwiseKernel:
    """z = a x + b y."""
    arguments = [
        VectorArg(z, "z"), ScalarArg(z, "a"), VectorArg(x, "x"), ScalarArg(z, "b"),
        VectorArg(y, "y"),
    ]  # fmt: skip
    return ElementwiseKernel(
        arguments, f"z[i] = a * {_to(z, 'x[i]')} + b * {_to(z, 'y[i]')}", "axpby_kernel"
    )


@_once
def arange(dtype: Dtype) -> ElementwiseKernel:
    """z = start + i step."""
    T = dtype_to_ctype(dtype)
    arguments = [VectorArg(dtype, "z"), ScalarArg(dtype, "start"), ScalarArg(dtype, "step")]
    return ElementwiseKernel(arguments, f"z[i] = start + ({T})i * step", "arange_kernel")


@_once
def choose(
    test: str, z: Dtype, c: Dtype, x: Dtype, y: Dtype, x_is_array: bool, y_is_array: bool
) -> ElementwiseKernel:
    """z = x where the test of c holds, else y."""
    arguments: list[Argument] = [VectorArg(z, "z"), VectorArg(c, "c")]
    values = []
    for name, dtype, is_array in (("x", x, x_is_array), ("y", y, y_is_array)):
        arguments.append((VectorArg if is_array else ScalarArg)(dtype, name))
        values.append(_to(z, f"{name}[i]" if is_array else name))
    text = f"z[i] = {test.format(c='c[i]')} ? {values[0]} : {values[1]}"
    return ElementwiseKernel(arguments, text, "choose_kernel")


@_once
def move(dtype: Dtype, read: Dtype | None, write: Dtype | None) -> ElementwiseKernel:
    """z[write[i]] = a[read[i] + offset], each without its indices where there are none."""
    arguments: list[Argument] = [PointerArg(dtype, "z"), PointerArg(dtype, "a")]
    arguments += [VectorArg(d, n) for n, d in (("read", read), ("write", write)) if d is not None]
    arguments.append(ScalarArg(np.int64, "offset"))
    source = "read[i]" if read is not None else "i"
    target = "write[i]" if write is not None else "i"
    return ElementwiseKernel(arguments, f"z[{target}] = a[{source} + offset]", "move_kernel")


# Name -> (C of joining a and b, C of an element's value; {x} and {y} are the elements as the
# result's type T, {b} is the element's truth).
_REDUCTIONS = {
    "sum": ("a + b", "{x}"),
    "dot": ("a + b", "{x} * {y}"),
    "max": ("tessera::maximum(a, b)", "{x}"),
    "min": ("tessera::minimum(a, b)", "{x}"),
    "any": ("a || b", "{b}"),
    "all": ("a && b", "{b}"),
}


def _neutral(name: str, dtype: Dtype) -> str:
    """The element that changes nothing."""
    if name not in ("max", "min"):
        return "1" if name == "all" else "0"
    if dtype.kind == "f":
        return ("-" if name == "max" else "") + "__longlong_as_double(0x7ff0000000000000ll)"
    if dtype.kind == "b":
        return "0" if name == "max" else "1"
    if dtype.kind not in "iu":
        raise TypeError(f"{name} is not defined for {dtype}")
    info = np.iinfo(dtype)
    value = int(info.min if name == "max" else info.max)
    if value < 0:
        return f"({dtype_to_ctype(dtype)})({value + 1} - 1)"
    return f"{value}{'ull' if dtype.kind == 'u' else 'll'}"


@_once
def reduction(name: str, out: Dtype, *dtypes: Dtype) -> ReductionKernel:
    """A reduction of the table; of a subset the first array has the indices."""
    plain = name.removeprefix("subset_")
    join, value = _REDUCTIONS[plain]
    has_subset = plain != name
    names = (["subset"] if has_subset else []) + ["x", "y"]
    kind: Any = PointerArg if has_subset else VectorArg
    arguments = [
        (VectorArg if n == "subset" else kind)(d, n) for d, n in zip(dtypes, names, strict=False)
    ]
    at = "subset[i]" if has_subset else "i"
    T = dtype_to_ctype(out)
    reads = {n: f"tessera::to<{T}>({n}[{at}])" for n in "xy"}
    text = value.format(b=f"tessera::to<bool>(x[{at}])", **reads)
    return ReductionKernel(
        out, _neutral(plain, out), join, text, arguments, f"{plain}_kernel"
    )
