# SPDX-License-Identifier: Apache-2.0
"""The operations of arrays, one table: numpy's function, which decides the dtype of the result, and
the C expression of it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ._dtypes import ScalarArg, VectorArg, dtype_to_ctype
from .elementwise import ElementwiseKernel

__all__ = ["BINARY", "COMPARE", "UNARY", "apply", "assign_kernel", "result_dtype"]

# Name -> (numpy's function, C expression of {x} and {y}, which have the type of the result {T}).
BINARY = {
    "add": (np.add, "{x} + {y}"),
    "sub": (np.subtract, "{x} - {y}"),
    "mul": (np.multiply, "{x} * {y}"),
    "truediv": (np.true_divide, "{x} / {y}"),
    "floordiv": (np.floor_divide, "tessera::floor_divide<{T}>({x}, {y})"),
    "mod": (np.remainder, "tessera::remainder<{T}>({x}, {y})"),
    "pow": (np.power, "tessera::power({x}, {y})"),
    "and": (np.bitwise_and, "{x} & {y}"),
    "or": (np.bitwise_or, "{x} | {y}"),
    "xor": (np.bitwise_xor, "{x} ^ {y}"),
    "lshift": (np.left_shift, "{x} << {y}"),
    "rshift": (np.right_shift, "{x} >> {y}"),
    "maximum": (np.maximum, "tessera::maximum<{T}>({x}, {y})"),
    "minimum": (np.minimum, "tessera::minimum<{T}>({x}, {y})"),
    "fmod": (np.fmod, "tessera::fmod<{T}>({x}, {y})"),
    "atan2": (np.arctan2, "::atan2({x}, {y})"),
}
# The same with a truth as the result; {T} is the type both operands go to.
COMPARE = {
    "eq": (np.equal, "{x} == {y}"),
    "ne": (np.not_equal, "{x} != {y}"),
    "lt": (np.less, "{x} < {y}"),
    "le": (np.less_equal, "{x} <= {y}"),
    "gt": (np.greater, "{x} > {y}"),
    "ge": (np.greater_equal, "{x} >= {y}"),
    "logical_and": (np.logical_and, "tessera::to<bool>({x}) && tessera::to<bool>({y})"),
    "logical_or": (np.logical_or, "tessera::to<bool>({x}) || tessera::to<bool>({y})"),
}
# Of one operand. {v} is the value as it is, {x} has the type of the result, {m} is "::" for real
# and "pycuda::" for complex numbers.
UNARY = {
    "neg": (np.negative, "-{x}"),
    "pos": (np.positive, "{x}"),
    "abs": (np.absolute, "tessera::absolute({v})"),
    "invert": (np.invert, "~{x}"),
    "conj": (np.conjugate, "tessera::conjugate({x})"),
    "logical_not": (np.logical_not, "!tessera::to<bool>({v})"),
    "fabs": (np.absolute, "tessera::absolute({v})"),
    "ceil": (np.ceil, "tessera::ceil({x})"),
    "floor": (np.floor, "tessera::floor({x})"),
    **{
        name: (getattr(np, numpy), f"{{m}}{name}({{x}})")
        for name, numpy in {
            "exp": "exp", "log": "log", "log10": "log10", "sqrt": "sqrt", "sin": "sin",
            "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
            "asin": "arcsin", "acos": "arccos", "atan": "arctan",
        }.items()
    },
}  # fmt: skip


@functools.lru_cache(maxsize=None)
def _dtype(function: Any, kinds: tuple[Any, ...]) -> np.dtype[Any]:
    values = [np.ones(1, kind) if isinstance(kind, np.dtype) else kind(1) for kind in kinds]
    return function(*values).dtype  # type: ignore[no-any-return]


def kind_of(value: Any) -> Any:
    """What decides the dtype of a result: the dtype of arrays and numpy's scalars, else the class."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None:
        return np.dtype(dtype)
    if isinstance(value, bool):
        return np.dtype(bool)
    for class_ in (int, float, complex):
        if isinstance(value, class_):
            return class_
    raise TypeError(f"{value!r} is no number and no array")


def result_dtype(function: Any, *values: Any) -> np.dtype[Any]:
    """The dtype numpy's function gives for arrays of these dtypes and these scalars."""
    return _dtype(function, tuple(kind_of(value) for value in values))


def _ctype(dtype: np.dtype[Any]) -> str:
    """What is computed with: half precision in float."""
    return "float" if dtype.char == "e" else dtype_to_ctype(dtype)


def _source(dtypes: tuple[np.dtype[Any], ...]) -> str:
    return "#include <cuda_fp16.h>" if any(d.char == "e" for d in dtypes) else ""


def _read(name: str, is_vector: bool, dtype: np.dtype[Any], to: str) -> str:
    value = f"{name}[i]" if is_vector else name
    if dtype.char == "e":
        value = f"(float)({value})"
    return value if dtype.kind == "V" else f"tessera::to<{to}>({value})"


def _write(expression: str, dtype: np.dtype[Any]) -> str:
    if dtype.kind == "V":
        return f"z[i] = {expression}"
    if dtype.char == "e":
        return f"z[i] = __float2half_rn(tessera::to<float>({expression}))"
    return f"z[i] = tessera::to<{dtype_to_ctype(dtype)}>({expression})"


@functools.lru_cache(maxsize=None)
def _kernel(
    name: str, expression: str, common: np.dtype[Any], z: np.dtype[Any],
    operands: tuple[tuple[np.dtype[Any], bool], ...],
) -> ElementwiseKernel:  # fmt: skip
    """z[i] = expression of x and y, each an array or a value."""
    T, names = _ctype(common), "xy"[: len(operands)]
    reads = {n: _read(n, v, d, T) for n, (d, v) in zip(names, operands, strict=True)}
    plain = _read("x", operands[0][1], operands[0][0], _ctype(operands[0][0]))
    text = expression.format(T=T, v=plain, m="pycuda::" if common.kind == "c" else "::", **reads)
    arguments = [VectorArg(z, "z")] + [
        (VectorArg if is_vector else ScalarArg)(d, n)
        for n, (d, is_vector) in zip(names, operands, strict=True)
    ]
    preamble = _source((common, z, *(d for d, _ in operands)))
    return ElementwiseKernel(arguments, _write(text, z), f"{name}_kernel", preamble=preamble)


def apply(name: str, values: tuple[Any, ...], out: Any, stream: Any, common: Any = None) -> Any:
    """Runs an operation of the tables into `out`; values are arrays or scalars."""
    row = UNARY.get(name) or BINARY.get(name) or COMPARE[name]
    if common is None:
        common = result_dtype(np.add if name in COMPARE else row[0], *values)
    operands = tuple(
        (v.dtype, True) if hasattr(v, "gpudata") else (common, False) for v in values
    )
    scalars = [v if hasattr(v, "gpudata") else common.type(v) for v in values]
    kernel = _kernel(name, row[1], common, out.dtype, operands)
    kernel(out, *scalars, stream=stream, shape=out.shape)
    return out


def assign_kernel(z: np.dtype[Any], x: np.dtype[Any], is_vector: bool) -> ElementwiseKernel:
    """z[i] = x[i] or x, converted."""
    common = z if z.kind != "b" else x
    return _kernel("copy", "{x}", common, z, ((x, is_vector),))
