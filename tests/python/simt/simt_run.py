# SPDX-License-Identifier: Apache-2.0
"""Drives the thread language through libtessera.so alone: kernels lowered to thread IR, run by the reference
interpreter thread by thread, compiled to PTX."""

from __future__ import annotations

import ctypes
import pathlib
import shutil
import struct
import subprocess

import lower as front
import numpy as np
import pytest

from tessera import _core, _pack, _structs
from tessera.cuda import _device as cuda  # noqa: F401  (tests take it from here)

ROOT = pathlib.Path(__file__).parents[3]
LowerError = front.LowerError


def _word(value: np.generic) -> int:
    return int.from_bytes(value.tobytes().ljust(8, b"\0"), "little")


def _record_param(arg: np.ndarray | np.void, host: object) -> tuple[list[front.Spec], list[int]]:
    """An array of records or texts, or a record: what its elements are, then the array of bytes."""
    found = _structs.bytes_of(arg)
    assert found is not None
    bits = found.array.ctypes.data | 16
    for n, stride in zip(found.array.shape, found.array.strides, strict=True):
        bits |= stride if n > 1 else 0
    number, align = host.element(found.dtype), (bits & -bits).bit_length() - 1  # type: ignore[attr-defined]
    head = front.Spec(kind=_core.SPEC_STRUCT, value=number, align=align)
    specs, words = front._param(found.array)
    return [head, *specs], words


def _param(arg: object, host: object = None, facts: bool = False) -> tuple[list[front.Spec], list[int]]:
    """Spec and parameter slots of one argument as a launch of a kernel of threads has them."""
    if isinstance(arg, (np.ndarray, np.void)) and arg.dtype.kind in "VSU":
        return _record_param(arg, host)
    if isinstance(arg, bool):
        return front.scalar("bool_"), [int(arg)]
    if isinstance(arg, int):
        return front.scalar("int64"), [arg & 0xFFFFFFFFFFFFFFFF]
    if isinstance(arg, float):
        return front.scalar("float64"), [struct.unpack("Q", struct.pack("d", arg))[0]]
    if isinstance(arg, tuple):
        parts = [_param(item, host, facts) for item in arg]
        head = [front.Spec(kind=6, value=len(arg))]
        return head + [s for p in parts for s in p[0]], [w for p in parts for w in p[1]]
    return front._param(arg, facts)


def _on_the_host(array: object) -> np.ndarray:
    """An array of the CPU device, as NumPy's."""

    class Lent:
        __array_interface__ = array.__cuda_array_interface__  # type: ignore[attr-defined]

    return np.asarray(Lent)


class Job:
    """A kernel and its arguments in C form, with those that the launch adds."""

    def __init__(self, fn: object, args: tuple, checked: int = 0, facts: bool = False) -> None:
        _, host = _pack.pack_kernel(fn, None, "thread", bool(checked), bool(checked & 4))  # type: ignore[arg-type]
        parts = [_param(a, host, facts) for a in (*args, *map(_on_the_host, host.captured))]
        self.pack = host.pack()
        self.specs, self.n = front.spec_of(tuple(p[0] for p in parts))
        front._mark_shared(self.specs, args)
        self.words = [w & 0xFFFFFFFFFFFFFFFF for p in parts for w in p[1]]


def ir(fn: object, *args: object, facts: bool = False) -> str:
    """The thread IR of a kernel, with `facts` made for all that a launch knows of the arrays."""
    _, host = _pack.pack_kernel(fn, dialect="thread")  # type: ignore[arg-type]
    parts = [_param(a, host, facts)[0] for a in args]
    return front.lower_pack(host.pack(), *parts)


def run(
    fn: object, *args: object, grid: tuple[int, ...] = (1,), block: tuple[int, ...] = (1,), target: int = 0,
    shared: int = 0, schedule: int = 0, checked: int = 0, cluster: tuple[int, int, int] = (0, 0, 0),
    facts: bool = False, opt_level: int = 0,
) -> str:  # fmt: skip
    """Runs a kernel on NumPy arrays by the reference interpreter: as it is written, or what a GPU ``target`` makes of
    it, with `facts` all that a launch knows of the arrays; gives what it printed."""
    job = Job(fn, args, checked, facts)
    given = {"checked": checked, "opt_level": opt_level}
    hints = (ctypes.c_uint8 * len(_core.HINTS))(*(given.get(name, 0) for name in _core.HINTS))
    printed: list[bytes] = []
    callback = front.PRINT(lambda user, text, size: printed.append(ctypes.string_at(text, size)))
    err = front.Error()
    call = front.Interpret(
        (ctypes.c_uint64 * max(len(job.words), 1))(*job.words), len(job.words),
        (ctypes.c_uint32 * 3)(*grid, *(1,) * (3 - len(grid))), ctypes.cast(callback, ctypes.c_void_p), None,
        50_000_000, target, schedule, None, 0, (ctypes.c_uint32 * 3)(*block, *(1,) * (3 - len(block))),
        (ctypes.c_uint32 * 3)(*cluster), shared,
    )  # fmt: skip
    status = front.library().ts_interpret_pack(
        job.pack, ctypes.c_size_t(len(job.pack)), job.specs, ctypes.c_size_t(job.n), hints, ctypes.byref(call),
        ctypes.byref(err),
    )  # fmt: skip
    if status:
        raise LowerError(status, err.text.decode())
    return b"".join(printed).decode()


needs_ptxas = pytest.mark.skipif(not shutil.which("ptxas"), reason="no ptxas")


def assemble(fn: object, args: tuple, target: int, folder: pathlib.Path) -> str:
    """PTX of a kernel for arrays like these, which ptxas has taken for the architecture `target`."""
    from tessera.cuda import compile_ptx, typeof

    number = max(t for t in _core.TARGETS.values() if t <= target)
    types = tuple(typeof(a) for a in args)
    text, _ = compile_ptx(fn, types, cc=divmod(number, 10))
    path = folder / "kernel.ptx"
    path.write_text(text)
    arch = f"sm_{target}a" if target >= 90 else f"sm_{target}"
    command = ["ptxas", f"-arch={arch}", "-O0", "-o", "/dev/null", path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return text


def message(fn: object, *args: object) -> str:
    """The message of a kernel that does not compile."""
    try:
        ir(fn, *args)
    except LowerError as e:
        return str(e)
    raise AssertionError(f"{fn} compiles")


def value(fn: object, *args: object, dtype: str = "float64") -> object:
    """What a function of numbers gives: a kernel stores it into an array of one element."""
    out = np.zeros(1, dtype)
    run(fn, out, *args)
    return out[0]
