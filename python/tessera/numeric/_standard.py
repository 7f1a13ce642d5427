# SPDX-License-Identifier: Apache-2.0
"""What `array_api` consists of: arrays and functions that follow the array standard where NumPy does not.

A function takes arrays of any class as those of tessera.numeric, whose function does the work, and gives objects of
:class:`Array` over the same memory. Names are a table; what the standard means otherwise is `_OWN`.
"""

from __future__ import annotations

import functools
import importlib
import operator
import types
from typing import Any, NamedTuple

import numpy

from .. import numeric as tn
from ._ndarray import ndarray as Base

HOME = "tessera.numeric.array_api"
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
CONSTANTS = """
    bool complex128 complex64 e float32 float64 inf int16 int32 int64 int8 nan newaxis pi uint16 uint32 uint64 uint8
"""
FUNCTIONS = """
    arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros
    zeros_like astype can_cast finfo iinfo isdtype result_type
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or
    bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater
    greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and
    logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow real
    reciprocal remainder round sign signbit sin sinh square sqrt subtract tan tanh trunc
    take take_along_axis matmul matrix_transpose tensordot vecdot
    broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll
    squeeze stack tile unstack argmax argmin count_nonzero nonzero searchsorted where
    isin unique_all unique_counts unique_inverse unique_values argsort sort
    cumulative_prod cumulative_sum max mean min prod std sum var all any diff
"""
EXTENSIONS = {
    "linalg": """
        cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power matrix_rank
        matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm
    """,
    "fft": "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn",
}
_LISTED = ("broadcast_arrays", "meshgrid")  # gave lists before 2025.12
_device: Any = vars(tn.ndarray.__base__)["device"]


# -- arrays ------------------------------------------------------------------------------------------


def _take(x: Any, met: list[Any]) -> Any:
    """An argument as tessera.numeric wants it; `met`: the arrays among them."""
    if isinstance(x, Base):
        met.append(x)
        return x if type(x) is Base else x._as(Base)
    return type(x)([_take(item, met) for item in x]) if type(x) in (list, tuple) else x


def _give(made: Any, met: list[Any]) -> Any:
    """A result of tessera.numeric's as the standard has it: of no axes, too, an array of the operands' device."""
    if isinstance(made, numpy.generic):
        made = tn.asarray(made) if not met else tn.asarray(made, device=_device.__get__(met[0]))
    if type(made) is Base:
        if any(made is x for x in met):
            return made._as(Array)
        made.__class__ = Array  # a new object, which nobody else has
    elif isinstance(made, (tuple, list)):
        items = [_give(item, met) for item in made]
        return type(made)(*items) if hasattr(made, "_fields") else type(made)(items)
    return made


def _made(function: Any, *args: Any, **options: Any) -> Any:
    met: list[Any] = []
    args = tuple([_take(x, met) for x in args])
    return _give(function(*args, **{key: _take(x, met) for key, x in options.items()}), met)


class Array(Base):
    """An array whose operators follow the standard; else that of `tessera.numeric`, with which it shares memory."""

    __slots__ = ()
    __module__ = HOME
    __array_priority__ = 1001.0

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return _give(array, [self])

    def __getitem__(self, key: Any) -> Any:
        return _made(Base.__getitem__, self, key)

    def __floordiv__(self, other: Any) -> Any:
        return _operated(_floor_divide, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _operated(_floor_divide, other, self)

    def __ifloordiv__(self, other: Any) -> Any:
        tn.copyto(self, _floor_divide(self, other))
        return self

    def __reduce__(self) -> Any:
        return importlib.import_module(HOME).asarray, (tn.asnumpy(self),)


def _operated(function: Any, x1: Any, x2: Any) -> Any:
    known = all(isinstance(x, (Base, numpy.ndarray, numpy.generic, bool, int, float, complex)) for x in (x1, x2))
    return _made(function, x1, x2) if known else NotImplemented


def _program(name: str) -> Any:
    """An operator that tessera.numeric has in Python."""
    theirs = getattr(Base, name)

    @functools.wraps(theirs)
    def call(self: Any, *others: Any) -> Any:
        made = _made(theirs, self, *others)
        return self if name.startswith("__i") else made

    return call


for _name in [f"__{prefix}{name}__" for name in ("pow", "matmul") for prefix in ("", "r", "i")]:
    if hasattr(Base, _name):
        setattr(Array, _name, _program(_name))


# -- what the standard means otherwise than NumPy ----------------------------------------------------


class FloatInfo(NamedTuple):
    """What a floating-point dtype can represent, as numbers of Python's."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


def _finfo(type: Any, /) -> FloatInfo:
    """What a floating-point dtype, or that of an array, can represent."""
    x = numpy.finfo(type.dtype if isinstance(type, (Base, numpy.generic)) else type)
    return FloatInfo(int(x.bits), float(x.eps), float(x.max), float(x.min), float(x.smallest_normal), x.dtype)


def _iinfo(type: Any, /) -> Any:
    """What an integer dtype, or that of an array, can represent."""
    return numpy.iinfo(type.dtype if isinstance(type, (Base, numpy.generic)) else type)


def _clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Elements not below ``min`` and not above ``max``."""
    return tn.clip(x, min, max)


def _floor_divide(x1: Any, x2: Any, /) -> Any:
    """The quotient rounded down; with infinities it is that of ``/``."""
    if tn.result_type(x1, x2).kind != "f":
        return tn.floor_divide(x1, x2)
    infinite = [tn.isinf(x) for x in (x1, x2) if not isinstance(x, int)]  # Python's may have more than 64 bits
    with numpy.errstate(all="ignore"):
        return tn.where(functools.reduce(operator.or_, infinite), tn.divide(x1, x2), tn.floor_divide(x1, x2))


def _by_parts(function: Any, where: Any, real: Any, imag: Any) -> Any:
    """A function of complex numbers with other parts of its results at some places."""

    def call(x: Any, /) -> Any:
        made = function(x)
        if made.dtype.kind != "c":
            return made
        x, made = tn.asarray(x), tn.asarray(made)
        other = made.copy()
        other.real, other.imag = real(x.real), imag(x.imag)
        return tn.where(where(x), other, made)

    call.__doc__, call.__name__ = function.__doc__, function.__name__
    return call


def _sign_of(size: float) -> Any:
    return lambda x: tn.copysign(x.dtype.type(size), x)


_tanh = _by_parts(tn.tanh, lambda x: tn.isinf(x.real) & tn.isfinite(x.imag), _sign_of(1), _sign_of(0))
_expm1_at_zero = _by_parts(tn.expm1, lambda x: x == 0, tn.abs, lambda x: x)


def _expm1(x: Any, /) -> Any:
    """``exp(x) - 1``; where a real part is infinite or NaN the imaginary one is that of ``exp(x)``."""
    made = _expm1_at_zero(x)
    if made.dtype.kind != "c":
        return made
    x, made = tn.asarray(x), tn.asarray(made)
    other = made.copy()
    other.imag = tn.exp(x).imag
    return tn.where(tn.isfinite(x.real), made, other)


def _complex(dtype: Any) -> Any:
    return numpy.result_type(dtype, numpy.complex64)


def _eig(x: Any, /) -> Any:
    """Eigenvalues and eigenvectors: complex, also where all are real."""
    made = tn.linalg.eig(x)
    return type(made)(*[part.astype(_complex(part.dtype), copy=False) for part in made])


def _eigvals(x: Any, /) -> Any:
    """Eigenvalues: complex, also where all are real."""
    made = tn.linalg.eigvals(x)
    return made.astype(_complex(made.dtype), copy=False)


_OWN = {
    "clip": _clip, "expm1": _expm1, "finfo": _finfo, "floor_divide": _floor_divide, "iinfo": _iinfo, "tanh": _tanh,
    "linalg.eig": _eig, "linalg.eigvals": _eigvals,
}  # fmt: skip


# -- namespaces --------------------------------------------------------------------------------------


def _wrapped(name: str, function: Any) -> Any:
    def call(*args: Any, **options: Any) -> Any:
        return _made(function, *args, **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__, call.__module__ = function.__doc__, HOME
    call.__wrapped__ = function  # type: ignore[attr-defined]
    return call


def _as_list(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> list[Any]:
        return list(function(*args, **options))

    return call


class _Info(tn.__array_namespace_info__):
    """As it is since 2025.12."""

    def devices(self) -> Any:
        """The CPU, then the GPUs of this machine."""
        return tuple(super().devices())


def _wrapped_all(home: Any, names: str, prefix: str = "") -> dict[str, Any]:
    return {name: _wrapped(name, _OWN.get(prefix + name) or getattr(home, name)) for name in names.split()}


def _extension(name: str) -> Any:
    made = types.ModuleType(f"{HOME}.{name}", f"The extension {name} of the standard.")
    made.__dict__.update(_wrapped_all(getattr(tn, name), EXTENSIONS[name], f"{name}."))
    return made


def names() -> dict[str, Any]:
    """What the namespace of the newest version has."""
    return {
        **{name: getattr(tn, name) for name in CONSTANTS.split()},
        **_wrapped_all(tn, FUNCTIONS),
        **{name: _extension(name) for name in EXTENSIONS},
        "Array": Array,
        "__array_api_version__": VERSIONS[-1],
        "__array_namespace_info__": _Info,
    }


@functools.cache
def namespace(version: str) -> Any:
    """The namespace of a version of the standard."""
    newest = importlib.import_module(HOME)
    if version == VERSIONS[-1]:
        return newest
    if version not in VERSIONS:
        raise ValueError(f"version {version} of the array API standard is not supported: {', '.join(VERSIONS)} are")
    made = types.ModuleType(HOME, newest.__doc__)
    made.__dict__.update({name: getattr(newest, name) for name in newest.__all__})
    made.__dict__.update({name: _as_list(getattr(newest, name)) for name in _LISTED})
    made.__dict__.update(__array_api_version__=version, __array_namespace_info__=tn.__array_namespace_info__)
    return made
