# SPDX-License-Identifier: Apache-2.0
"""Drives the front end through libtessera.so alone: a function and its arguments give IR text or the
message of an error.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import struct

from tessera import _core, _pack

ROOT = pathlib.Path(__file__).parents[3]
DTYPES = [row[0] for row in _core.DTYPES]
STATUS = {
    -7: "SYNTAX",
    -8: "TILETYPE",
    -9: "TILEVALUE",
    -10: "RECURSION",
    -12: "STATICEVAL",
    -13: "STATICASSERT",
}


class Spec(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint8) for n in
                ("kind dtype rank index_bits align16 unit_stride stride_div16 shape_div16 shape_one static_shape "
                 "static_stride loose").split()
                ] + [("overlap", ctypes.c_uint8), ("align", ctypes.c_uint8), ("same_as", ctypes.c_uint16),
                ("value", ctypes.c_int64), ("dims", ctypes.c_int64 * 8), ("strides", ctypes.c_int64 * 8)]  # fmt: skip


class Error(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_int),
        ("driver_code", ctypes.c_int),
        ("text", ctypes.c_char * 6000),
        ("failure", ctypes.c_uint32 * 13),
    ]


class LowerError(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = STATUS.get(status, str(status))


def library() -> ctypes.CDLL:
    """The newest libtessera.so of the build folders."""
    found = sorted(ROOT.glob("build*/libtessera.so"), key=lambda path: path.stat().st_mtime)
    if "TESSERA_LIBRARY" in os.environ:
        found = [pathlib.Path(os.environ["TESSERA_LIBRARY"])]
    if not found:
        import pytest

        pytest.skip(
            "libtessera.so is not built (meson setup build && ninja -C build libtessera.so)"
        )
    return ctypes.CDLL(str(found[-1]))


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
        return [Spec(kind=8)]
    if isinstance(value, bool):
        return [Spec(kind=5, value=value)]
    if isinstance(value, int):
        return [Spec(kind=3, value=value)]
    if isinstance(value, float):
        return [Spec(kind=4, value=struct.unpack("q", struct.pack("d", value))[0])]
    if isinstance(value, tuple):
        return [Spec(kind=6, value=len(value))] + [
            s for item in value for s in (item if isinstance(item, list) else const(item))
        ]
    raise TypeError(value)


def array_list(dtype: str = "float32", rank: int = 1) -> list[Spec]:
    return [Spec(kind=7, value=2), *array(dtype, rank, align16=0, unit_stride=0, stride_div16=0)]


def spec_of(args: tuple) -> ctypes.Array:
    flat = [s for arg in args for s in (arg if isinstance(arg, list) else const(arg))]
    return (Spec * max(len(flat), 1))(*flat), len(flat)


class Interpret(ctypes.Structure):
    _fields_ = [("params", ctypes.POINTER(ctypes.c_uint64)), ("n_params", ctypes.c_size_t),
        ("grid", ctypes.c_uint32 * 3),
                ("print", ctypes.c_void_p), ("print_user", ctypes.c_void_p), ("max_steps", ctypes.c_uint64),
                ("target", ctypes.c_uint32), ("schedule", ctypes.c_uint32),
                ("ranges", ctypes.c_void_p), ("n_ranges", ctypes.c_size_t), ("block", ctypes.c_uint32 * 3),
                ("cluster", ctypes.c_uint32 * 3), ("shared_bytes", ctypes.c_uint32)]  # fmt: skip


PRINT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)


def _bits(holds) -> int:
    """One bit per axis."""
    return sum(1 << d for d, h in enumerate(holds) if h)


def _strides(arg) -> list[int]:
    """In elements; those of extents of 1, which are never used, as of a dense array."""
    strides, dense = [], 1
    for extent, stride in zip(reversed(arg.shape), reversed(arg.strides), strict=True):
        step = dense if extent == 1 else stride // arg.itemsize
        strides.append(step)
        dense = max(extent, 1) * step
    return strides[::-1]


def _array_param(arg, facts: bool) -> tuple[list[Spec], list[int]]:
    """With `facts` code may use all that a launch knows (src/device/args.c), else only strides of 1."""
    dtype = {"bool": "bool_"}.get(arg.dtype.name, arg.dtype.name)
    strides = _strides(arg)
    known = {"align16": 0, "stride_div16": 0}
    if facts:
        known["align16"] = int(arg.ctypes.data % 16 == 0)
        known["stride_div16"] = _bits(s * arg.itemsize % 16 == 0 for s in strides)
        known["shape_div16"] = _bits(n % 16 == 0 for n in arg.shape)
        known["shape_one"] = _bits(n == 1 for n in arg.shape)
    spec = array(dtype, arg.ndim, unit_stride=_bits(s == 1 for s in strides), **known)
    return spec, [arg.ctypes.data, *arg.shape, *strides]


def _list_param(arrays, facts: bool) -> tuple[list[Spec], list[int]]:
    """A list: what holds for each array, and the table of their words, which the spec keeps."""
    import numpy as np

    parts = [_array_param(a, facts) for a in arrays]
    (spec,), _ = parts[0]
    for (other,), _ in parts[1:]:
        for name in "align16 unit_stride stride_div16 shape_div16 shape_one".split():
            setattr(spec, name, getattr(spec, name) & getattr(other, name))
    spec.table = np.array([w for _, words in parts for w in words], np.uint64)
    return [Spec(kind=7, value=len(arrays)), spec], [spec.table.ctypes.data, len(arrays)]


def _param(arg, facts: bool = False) -> tuple[list[Spec], list[int]]:
    """Spec and parameter slots of one argument: a NumPy array, a typed scalar, or a constant."""
    import numpy as np

    if isinstance(arg, Const):
        return const(arg.value), []
    if isinstance(arg, np.ndarray):
        return _array_param(arg, facts)
    if isinstance(arg, np.complexfloating):
        parts = [_param(arg.real), _param(arg.imag)]
        return [Spec(kind=12), Spec(kind=6, value=2), *parts[0][0], *parts[1][0]], [*parts[0][1], *parts[1][1]]
    if isinstance(arg, np.generic):
        return scalar({"bool": "bool_"}.get(arg.dtype.name, arg.dtype.name)), [
            int.from_bytes(arg.tobytes().ljust(8, b"\0"), "little")
        ]
    if isinstance(arg, bool):
        return scalar("bool_"), [int(arg)]
    if isinstance(arg, int):
        return scalar("int32"), [arg & 0xFFFFFFFF]
    if isinstance(arg, float):
        return scalar("float32"), [struct.unpack("I", struct.pack("f", arg))[0]]
    if isinstance(arg, list):
        return _list_param(arg, facts)
    if isinstance(arg, tuple):
        parts = [_param(a, facts) for a in arg]
        return [Spec(kind=6, value=len(arg)), *(s for p in parts for s in p[0])], [
            w for p in parts for w in p[1]
        ]
    raise TypeError(arg)


def words_of(args: tuple) -> list[int]:
    """The parameter slots of a launch with these arguments (src/device/args.c)."""
    return [w & 0xFFFFFFFFFFFFFFFF for a in args for w in _param(a)[1]]


def _mark_shared(specs: ctypes.Array, args: tuple) -> None:
    """Says which arrays share memory, as the launch does (src/run/args.c)."""
    import numpy as np

    found: list = []

    def walk(arg: object) -> None:
        if isinstance(arg, tuple):
            for item in arg:
                walk(item)
        elif isinstance(arg, np.ndarray):
            spec = [s for s in specs if s.kind == 1][len(found)]
            for k, other in enumerate(found):
                same = arg.__array_interface__ == other.__array_interface__
                if same and not spec.same_as:
                    spec.same_as = k + 1
                elif not same and np.may_share_memory(arg, other):
                    spec.overlap = 1
            found.append(arg)

    walk(args)


class Const:
    """Marks a compile-time constant among the arguments of ``run``."""

    def __init__(self, value: object) -> None:
        self.value = value


def run(fn, *args, grid=(1, 1, 1), target=0, schedule=0, hints=None, facts=False) -> str:
    """Lowers a kernel and runs it by the reference interpreter on NumPy arrays, for a GPU ``target`` (90)
    thread by thread; gives what it printed. With ``facts`` it is the code of a launch with these arrays.
    """
    pack = _pack.pack_function(fn)
    parts = [_param(a, facts) for a in args]
    specs, n = spec_of(tuple(p[0] for p in parts))
    _mark_shared(specs, args)
    words = [w & 0xFFFFFFFFFFFFFFFF for p in parts for w in p[1]]
    printed: list[bytes] = []
    callback = PRINT(lambda user, text, size: printed.append(ctypes.string_at(text, size)))
    params = (ctypes.c_uint64 * max(len(words), 1))(*words)
    job = Interpret(
        params,
        len(words),
        (ctypes.c_uint32 * 3)(*grid),
        ctypes.cast(callback, ctypes.c_void_p),
        None,
        50_000_000,
        target,
        schedule,
    )
    err = Error()
    status = library().ts_interpret_pack(
        pack,
        ctypes.c_size_t(len(pack)),
        specs,
        ctypes.c_size_t(n),
        hints,
        ctypes.byref(job),
        ctypes.byref(err),
    )
    if status:
        raise LowerError(status, err.text.decode())
    return b"".join(printed).decode()


def lower(fn, *args) -> str:
    """IR text of a kernel for the arguments; LowerError when it does not compile."""
    return lower_pack(_pack.pack_function(fn), *args)


def lower_pack(pack: bytes, *args) -> str:
    lib = library()
    specs, n = spec_of(args)
    out, size, err = ctypes.c_void_p(), ctypes.c_size_t(), Error()
    status = lib.ts_lower_text(
        pack,
        ctypes.c_size_t(len(pack)),
        specs,
        ctypes.c_size_t(n),
        None,
        None,
        ctypes.byref(out),
        ctypes.byref(size),
        ctypes.byref(err),
    )
    if status:
        raise LowerError(status, err.text.decode())
    text = ctypes.string_at(out, size.value).decode()
    ctypes.CDLL(None).free(out)
    return text
