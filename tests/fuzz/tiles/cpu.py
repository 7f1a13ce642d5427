# SPDX-License-Identifier: Apache-2.0
"""Launches a kernel of threads, given as IR text, on the CPU device through the C API."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from .program import FRONT

TEXT, ARRAY, CPU = 1, 1, 256  # TS_SOURCE_TEXT, TS_SPEC_ARRAY, the id of the CPU device


class Desc(ctypes.Structure):
    """The head of ts_kernel_desc; the members behind are zero."""

    _fields_ = [("name", ctypes.c_char_p), ("file", ctypes.c_char_p), ("kind", ctypes.c_int),
                ("text", ctypes.c_char_p), ("n", ctypes.c_size_t), ("rest", ctypes.c_uint64 * 64)]  # fmt: skip


class Arg(ctypes.Structure):
    """ts_arg; an array of rank 0 passes its pointer alone."""

    _fields_ = [("kind", ctypes.c_uint8), ("dtype", ctypes.c_uint8), ("rank", ctypes.c_uint8),
                ("readonly", ctypes.c_uint8), ("device", ctypes.c_uint16), ("reserved", ctypes.c_uint16),
                ("data", ctypes.c_void_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("buffer", ctypes.c_void_p)]  # fmt: skip


class Config(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_int64 * 3), ("block", ctypes.c_uint32 * 3), ("shared_bytes", ctypes.c_uint32),
                ("cluster", ctypes.c_uint32 * 3), ("flags", ctypes.c_uint32)]  # fmt: skip


def launched(text: str, grid: Any, block: Any, shared: int, arrays: list[Any]) -> None:
    """Runs the first kernel, whose parameters are the arrays' addresses."""
    sys.path.append(str(FRONT))
    from lower import Error, LowerError, library  # type: ignore[import-not-found]

    lib, err, kernel, source = library(), Error(), ctypes.c_void_p(), text.encode()

    def check(status: int) -> None:
        if status:
            raise LowerError(status, err.text.decode())

    desc = Desc(name=b"k", kind=TEXT, text=source, n=len(source))
    check(lib.ts_kernel_create(ctypes.byref(desc), ctypes.byref(kernel), ctypes.byref(err)))
    try:
        lib.ts_dtype_find.argtypes = [ctypes.c_char_p]
        args = (Arg * len(arrays))(
            *(
                Arg(ARRAY, lib.ts_dtype_find(a.dtype.name.encode()), device=CPU, data=a.ctypes.data)
                for a in arrays
            )
        )
        config = Config((ctypes.c_int64 * 3)(*grid), (ctypes.c_uint32 * 3)(*block), shared)
        n = ctypes.c_size_t(len(arrays))
        check(
            lib.ts_launch_config_run(None, ctypes.byref(config), kernel, args, n, ctypes.byref(err))
        )
    finally:
        lib.ts_kernel_release(kernel)
