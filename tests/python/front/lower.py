# SPDX-License-Identifier: Apache-2.0
"""Drives the front end through libtessera.so alone: a function and its arguments give IR text or the
message of an error. No extension module is needed.
"""

from __future__ import annotations

import ctypes
import pathlib
import struct

from tessera import _pack

ROOT = pathlib.Path(__file__).parents[3]
DTYPES = (
    "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "tfloat32 float8_e4m3fn float8_e5m2 float8_e8m0fnu float4_e2m1fn float8_e5m3fnu"
).split()
STATUS = {-7: "SYNTAX", -8: "TILETYPE", -9: "TILEVALUE", -10: "RECURSION", -12: "STATICEVAL", -13: "STATICASSERT"}


class Spec(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint8) for n in
                ("kind dtype rank index_bits align16 unit_stride stride_div16 shape_div16 shape_one static_shape static_stride loose").split()
                ] + [("reserved", ctypes.c_uint32), ("value", ctypes.c_int64), ("dims", ctypes.c_int64 * 8), ("strides", ctypes.c_int64 * 8)]  # fmt: skip


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("driver_code", ctypes.c_int), ("text", ctypes.c_char * 6000)]


class LowerError(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = STATUS.get(status, str(status))


def library() -> ctypes.CDLL:
    return ctypes.CDLL(str(ROOT / "build" / "libtessera.so"))


def array(dtype: str = "float32", rank: int = 1, **bits: int) -> list[Spec]:
    """An aligned row-major array whose extents are known only at run time."""
    spec = Spec(kind=1, dtype=DTYPES.index(dtype) + 1, rank=rank, index_bits=32, align16=1)
    spec.unit_stride = 1 << (rank - 1) if rank else 0
    spec.stride_div16 = (1 << max(rank - 1, 0)) - 1
    for name, value in bits.items():
        setattr(spec, name, value)
    return [spec]


def scalar(dtype: str) -> list[Spec]:
    return [Spec(kind=2, dtype=DTYPES.index(dtype) + 1)]


def const(value: object) -> list[Spec]:
    if value is None:
        return [Spec(kind=9)]
    if isinstance(value, bool):
        return [Spec(kind=5, value=value)]
    if isinstance(value, int):
        return [Spec(kind=3, value=value)]
    if isinstance(value, float):
        return [Spec(kind=4, value=struct.unpack("q", struct.pack("d", value))[0])]
    if isinstance(value, tuple):
        return [Spec(kind=7, value=len(value))] + [s for item in value for s in (item if isinstance(item, list) else const(item))]
    raise TypeError(value)


def array_list(dtype: str = "float32", rank: int = 1) -> list[Spec]:
    return [Spec(kind=8, value=2), *array(dtype, rank, align16=0, unit_stride=0, stride_div16=0)]


def spec_of(args: tuple) -> ctypes.Array:
    flat = [s for arg in args for s in (arg if isinstance(arg, list) else const(arg))]
    return (Spec * max(len(flat), 1))(*flat), len(flat)


def lower(fn, *args) -> str:
    """IR text of a kernel for the arguments; LowerError when it does not compile."""
    return lower_pack(_pack.pack_function(fn), *args)


def lower_pack(pack: bytes, *args) -> str:
    lib = library()
    specs, n = spec_of(args)
    out, size, err = ctypes.c_void_p(), ctypes.c_size_t(), Error()
    status = lib.ts_lower_text(pack, ctypes.c_size_t(len(pack)), specs, ctypes.c_size_t(n), None, None, ctypes.byref(out),
                               ctypes.byref(size), ctypes.byref(err))
    if status:
        raise LowerError(status, err.text.decode())
    text = ctypes.string_at(out, size.value).decode()
    ctypes.CDLL(None).free(out)
    return text
