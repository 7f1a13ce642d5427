# SPDX-License-Identifier: Apache-2.0
"""Names of dtypes in C and back, CUDA's vector types, and C argument lists."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

__all__ = [
    "Argument", "PointerArg", "ScalarArg", "VectorArg", "dtype_to_ctype", "get_or_register_dtype",
    "parse_arguments", "parse_c_arg", "parse_ctype", "register_dtype", "vec",
]  # fmt: skip

# numpy's name -> how C says it; the first is the one that is written.
_NAMES = {
    "bool": ["bool"], "int8": ["signed char", "char", "int8_t"],
    "uint8": ["unsigned char", "uint8_t"], "int16": ["short", "short int", "signed short", "int16_t"],
    "uint16": ["unsigned short", "unsigned short int", "uint16_t"],
    "int32": ["int", "signed int", "signed", "int32_t"],
    "uint32": ["unsigned", "unsigned int", "uint32_t"],
    "int64": ["long", "long int", "signed long", "int64_t", "ptrdiff_t", "ssize_t"],
    "uint64": ["unsigned long", "unsigned long int", "uint64_t", "size_t"],
    "longlong": ["long long", "long long int"],
    "ulonglong": ["unsigned long long", "unsigned long long int"],
    "float16": ["half", "__half"], "float32": ["float", "fp_tex_float"], "float64": ["double"],
    "complex64": ["pycuda::complex<float>"], "complex128": ["pycuda::complex<double>"],
}  # fmt: skip
_dtype_of: dict[str, np.dtype[Any]] = {}
_name_of: dict[np.dtype[Any], str] = {}


def register_dtype(dtype: Any, name: str | list[str]) -> None:
    """Tells the C name(s) of a dtype, so that kernels can be made for it."""
    names = [name] if isinstance(name, str) else list(name)
    dtype = np.dtype(dtype)
    for word in names:
        known = _dtype_of.setdefault(" ".join(word.split()), dtype)
        if known != dtype:
            raise RuntimeError(f"the C type {word!r} is {known} already, not {dtype}")
    _name_of.setdefault(dtype, names[0])


def get_or_register_dtype(c_names: str | list[str], dtype: Any = None) -> np.dtype[Any]:
    """The dtype of a C name, which is registered first where a dtype is given."""
    names = [c_names] if isinstance(c_names, str) else c_names
    if dtype is not None:
        register_dtype(dtype, names)
    return parse_ctype(names[0])


def dtype_to_ctype(dtype: Any, with_fp_tex_hack: bool = False) -> str:
    """The C name of a dtype."""
    if dtype is None:
        raise ValueError("dtype must not be None")
    dtype = np.dtype(dtype)
    if with_fp_tex_hack and dtype.char in "dFD":
        return {"d": "fp_tex_double", "F": "fp_tex_cfloat", "D": "fp_tex_cdouble"}[dtype.char]
    try:
        return _name_of[dtype]
    except KeyError:
        raise ValueError(
            f"no C type is known for dtype {dtype}; register_dtype() tells one"
        ) from None


def parse_ctype(text: str) -> np.dtype[Any]:
    """The dtype of a C type, ``const`` and the like left out."""
    words = re.sub(r"\b(const|volatile|__restrict__|__restrict|struct)\b", " ", text).split()
    name = " ".join(words).replace(" <", "<").replace("< ", "<").replace(" >", ">")
    try:
        return _dtype_of[name]
    except KeyError:
        raise ValueError(f"the C type {name!r} is not known; register_dtype() tells it") from None


for _numpy, _words in _NAMES.items():
    register_dtype(_numpy, _words)
_name_of[np.dtype("longlong")] = "long long" if np.dtype("longlong") != np.dtype("int64") else "long"
for _word in _NAMES["longlong"]:
    _dtype_of[_word] = np.dtype("longlong")


# ---- arguments of kernels ------------------------------------------------------------------------


class Argument:
    """One argument of a kernel: its dtype, name, and how C declares it."""

    is_vector = False

    def __init__(self, dtype: Any, name: str) -> None:
        self.dtype, self.name = np.dtype(dtype), name

    def declarator(self) -> str:
        """As it stands in the argument list."""
        return f"{dtype_to_ctype(self.dtype)} {self.name}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dtype!r}, {self.name!r})"


class ScalarArg(Argument):
    """A value, the same for all elements."""


class VectorArg(Argument):
    """An array."""

    is_vector = True

    def declarator(self) -> str:
        """As it stands in the argument list."""
        return f"{dtype_to_ctype(self.dtype)} *{self.name}"


class PointerArg(VectorArg):
    """An array that is not read at [i]: it has no part in the shape of the loop."""

    is_vector = False


def parse_c_arg(c_arg: str) -> Argument:
    """The argument that ``"float *x"`` declares."""
    match = re.fullmatch(r"\s*(.+?)(\s*\*\s*|\s+)(?:__restrict__\s+|const\s+)*(\w+)\s*", c_arg)
    if not match:
        raise ValueError(f"{c_arg!r} is not an argument of a kernel, as 'float *x' or 'int n' is")
    type_, mark, name = match.groups()
    dtype = parse_ctype(type_)
    return (VectorArg if "*" in mark else ScalarArg)(dtype, name)


def parse_arguments(arguments: Any) -> list[Argument]:
    """The arguments of a C argument list, or of a list of Argument objects."""
    if isinstance(arguments, str):
        return [parse_c_arg(word) for word in re.split(r",(?![^<]*>)", arguments)]
    if not isinstance(arguments, (list, tuple)):
        raise TypeError(
            f"a kernel's arguments are a C argument list, as 'float *z, int n', or a list of "
            f"VectorArg and ScalarArg, not {arguments!r}"
        )
    return list(arguments)


# ---- vector types --------------------------------------------------------------------------------


class _Vectors:
    """CUDA's vector types: ``vec.float3`` is a dtype, ``vec.make_float3(1, 2, 3)`` a value."""

    types: dict[str, np.dtype[Any]]

    def __init__(self) -> None:
        bases = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4",
                 "uint": "u4", "long": "i8", "ulong": "u8", "longlong": "q", "ulonglong": "Q",
                 "float": "f4", "double": "f8"}  # fmt: skip
        self.types = {}
        for base, code in bases.items():
            for n in range(1, 5):
                dtype = np.dtype([(field, code) for field in "xyzw"[:n]])
                self.types[f"{base}{n}"] = dtype
                _dtype_of[f"{base}{n}"] = dtype
                _name_of.setdefault(dtype, f"{base}{n}")

    def __getattr__(self, name: str) -> Any:
        dtype = self.__dict__.get("types", {}).get(name.removeprefix("make_"))
        if dtype is None:
            raise AttributeError(f"there is no vector type {name}")
        if not name.startswith("make_"):
            return dtype

        def make(*values: Any) -> np.ndarray[Any, Any]:
            if len(values) != len(dtype.names):
                raise TypeError(f"{name} takes {len(dtype.names)} values, not {len(values)}")
            return np.array(values, dtype=dtype)

        return make


vec = _Vectors()
