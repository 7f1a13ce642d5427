# SPDX-License-Identifier: Apache-2.0
"""The memories that threads access, and the instructions that do: loads, stores, atomics, copies.

Global memory is one NumPy array of bytes in which the arrays of the program lie; other bytes of it must not
be touched, and every access is aligned to its size. Shared and local memory begin with a pattern.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .compute import TYPES
from .text import Inst

if TYPE_CHECKING:
    from .machine import Machine, Step

GAP = 256  # bytes between arrays, and what a GPU's allocations are aligned to


class Fault(Exception):
    """Something that no kernel may do."""


class Memory:
    """Global memory: arrays are placed in it one behind the other."""

    def __init__(self, size: int) -> None:
        room = np.zeros(size + 2 * GAP, np.uint8)
        first = -room.ctypes.data % GAP
        self.bytes = room[first : first + (size + GAP) // GAP * GAP]
        self.base = self.bytes.ctypes.data
        self.ok = np.zeros(len(self.bytes), bool)
        self.next = GAP
        self.symbols: dict[str, int] = {}

    @staticmethod
    def room(sizes: list[int]) -> int:
        return sum(-(-n // GAP) * GAP + GAP for n in sizes) + 2 * GAP

    def place(self, a: Any) -> Any:
        """The array in this memory, with the same strides."""
        flat = np.ravel(a, order="K")
        at = self.next
        self.next += -(-flat.nbytes // GAP) * GAP + GAP
        self.ok[at : at + flat.nbytes] = True
        copy = self.bytes[at : at + flat.nbytes].view(a.dtype)
        copy[...] = flat
        return np.lib.stride_tricks.as_strided(copy, a.shape, a.strides)

    @staticmethod
    def view(part: Any, room: Any, placed: Any) -> Any:
        """The place of a part of an array, of which the whole was placed."""
        offset = part.ctypes.data - room.ctypes.data
        flat = np.ravel(placed, order="K")[offset // part.itemsize :]
        return np.lib.stride_tricks.as_strided(flat, part.shape, part.strides)


class Space:
    """A memory as threads see it: where it begins, and where the part of each thread lies."""

    def __init__(self, data: Any, base: int, first: Any, ok: Any, size: int = -1) -> None:
        self.data, self.base, self.first = data, base, first
        self.size = len(data) if size < 0 else size
        self.ok = {1: ok} if ok is not None else None
        self.views: dict[tuple[Any, int], Any] = {}

    def units(self, dtype: Any, n: int) -> Any:
        """The memory as rows of n elements; as elements for n = 1."""
        key = (dtype, n)
        if key not in self.views:
            size = dtype.itemsize * n
            whole = self.data[: len(self.data) // size * size].view(dtype)
            self.views[key] = whole if n == 1 else whole.reshape(-1, n)
        return self.views[key]

    def locate(self, at: Any, lanes: Any, width: int, inst: Inst) -> Any:
        """Numbers of the units of `width` bytes at the addresses `at` of these lanes."""
        at = at.astype(np.uint64) - np.uint64(self.base)  # below the base: beyond the end
        i = (at // np.uint64(width)).astype(np.int64)
        bad = (at % np.uint64(width) != 0) | (at > self.size - width)
        if self.ok is not None and not bad.any():
            if width not in self.ok:
                ok = self.ok[1][: len(self.ok[1]) // width * width]
                self.ok[width] = ok.reshape(-1, width).all(1)
            bad = ~self.ok[width][i]
        if bad.any():
            k = int(np.argmax(bad))
            lane = k if isinstance(lanes, slice) else int(lanes[k])
            offset = int(at[k].astype(np.int64))
            raise Fault(
                f"{inst.line}: {width} bytes at {offset} are no aligned part of an array, "
                f"thread {lane}"
            )
        return i if self.first is None else i + self.first[lanes] // width


ALL = slice(None)


def lanes_of(mask: Any) -> Any:
    return ALL if mask is None else np.flatnonzero(mask)


def is_none(lanes: Any) -> bool:
    return lanes is not ALL and not len(lanes)


def extended(v: Any, kind: str) -> Any:
    """What a load gives a register of this type."""
    want = TYPES[kind]
    if v.dtype.itemsize == want.itemsize:
        return np.ascontiguousarray(v).view(want)
    wide = "i" if v.dtype.kind == "i" else "u"
    return v.astype(f"{wide}{want.itemsize}").view(want)


def put_lanes(slots: list[Any], out: int, value: Any, lanes: Any) -> None:
    if lanes is ALL:
        slots[out] = value
    else:
        slots[out] = slots[out].copy()
        slots[out][lanes] = value


def shape_of(inst: Inst) -> tuple[Any, int]:
    """The type of an element in memory, and how many an instruction moves."""
    vector = next((p for p in inst.parts if p in ("v2", "v4")), "v1")
    return TYPES[inst.parts[-1]], int(vector[1:])


def listed(text: str) -> list[str]:
    return [a.strip() for a in text.strip("{}").split(",")]


ACCESS = {"global", "shared", "local", "volatile", "relaxed", "acquire", "release", "gpu", "sys"}
ACCESS |= {"cta", "nc", "L1::no_allocate", "v2", "v4"}


def loading(m: Machine, inst: Inst) -> Step:
    space = m.spaces[next(p for p in inst.parts if p in m.spaces)]
    dtype, n = shape_of(inst)
    outs = [m.writes(a) for a in listed(inst.args[0])]
    base, offset = m.address(inst.args[1])
    units, width, plus = space.units(dtype, n), dtype.itemsize * n, np.uint64(offset % 2**64)
    if len(outs) != n:
        raise Fault(f"{inst.line}: {len(outs)} registers for {n} elements")

    def load(slots: list[Any], mask: Any) -> None:
        lanes = lanes_of(mask)
        if is_none(lanes):
            return
        at = slots[base][lanes].astype(np.uint64) + plus
        found = units[space.locate(at, lanes, width, inst)]
        for k, (out, kind) in enumerate(outs):
            v = found if n == 1 else found[:, k]
            put_lanes(slots, out, extended(v, kind), lanes)

    return load


def low_bits(x: Any, dtype: Any) -> Any:
    if x.dtype.itemsize == dtype.itemsize:
        return x.view(dtype)
    return x.astype(f"u{dtype.itemsize}").view(dtype)


def storing(m: Machine, inst: Inst) -> Step:
    space = m.spaces[next(p for p in inst.parts if p in m.spaces)]
    dtype, n = shape_of(inst)
    base, offset = m.address(inst.args[0])
    ins = [m.reads(a, inst.parts[-1])[0] for a in listed(inst.args[1])]
    units, width, plus = space.units(dtype, n), dtype.itemsize * n, np.uint64(offset % 2**64)
    if len(ins) != n:
        raise Fault(f"{inst.line}: {len(ins)} registers for {n} elements")

    def store(slots: list[Any], mask: Any) -> None:
        lanes = lanes_of(mask)
        if is_none(lanes):
            return
        at = slots[base][lanes].astype(np.uint64) + plus
        i = space.locate(at, lanes, width, inst)
        values = [low_bits(slots[k], dtype)[lanes] for k in ins]
        units[i] = values[0] if n == 1 else np.stack(values, 1)

    return store


# ---- atomics ----------------------------------------------------------------------------------------


def updated(op: str, dtype: Any) -> Callable[..., Any]:
    """The new value of the old one and the operands."""
    if op == "exch":
        return lambda old, a: a
    if op == "cas":
        return lambda old, a, b: np.where(old == a, b, old)
    if op == "min" or op == "max":
        return np.minimum if op == "min" else np.maximum
    rows: dict[str, Callable[..., Any]] = {
        "add": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    }  # fmt: skip
    return rows[op]


def atomic(m: Machine, inst: Inst) -> Step | None:
    """atom and red: threads at one address one after the other, by their numbers."""
    space = m.spaces[next(p for p in inst.parts if p in m.spaces)]
    op, kind = inst.parts[-2], inst.parts[-1]
    if op == "noftz":
        op = inst.parts[-3]
    if op not in ("add", "and", "or", "xor", "min", "max", "exch", "cas"):
        return None
    gives = inst.parts[0] == "atom"
    args = inst.args[1:] if gives else inst.args
    dtype, fn = TYPES[kind], updated(op, TYPES[kind])
    base, offset = m.address(args[0])
    ins = [m.reads(a, kind)[0] for a in args[1:]]
    out = m.writes(inst.args[0]) if gives else None
    units, plus = space.units(dtype, 1), np.uint64(offset % 2**64)

    def step(slots: list[Any], mask: Any) -> None:
        lanes = np.arange(m.n) if mask is None else np.flatnonzero(mask)
        if not len(lanes):
            return
        at = slots[base][lanes].astype(np.uint64) + plus
        i = space.locate(at, lanes, dtype.itemsize, inst)
        values = [low_bits(slots[k], dtype)[lanes] for k in ins]
        old = np.empty(len(lanes), dtype)
        rest = np.arange(len(lanes))
        while len(rest):
            _, first = np.unique(i[rest], return_index=True)
            now = rest[first]
            old[now] = units[i[now]]
            units[i[now]] = fn(old[now], *(v[now] for v in values))
            rest = np.delete(rest, first)
        if out:
            put_lanes(slots, out[0], extended(old, out[1]), lanes)

    return step


# ---- copies -------------------------------------------------------------------------------------------


def copying(m: Machine, inst: Inst) -> Step | None:
    """cp.async, done at once; waiting for it is then nothing."""
    if inst.parts[2] in ("commit_group", "wait_group", "wait_all"):
        return lambda slots, mask: None
    if inst.parts[2:] not in (("ca", "shared", "global"), ("cg", "shared", "global")):
        return None
    to, source = m.spaces["shared"], m.spaces["global"]
    (a, plus_a), (b, plus_b) = m.address(inst.args[0]), m.address(inst.args[1])
    n = int(inst.args[2])
    size = m.reads(inst.args[3], "u32")[0] if len(inst.args) > 3 else None
    byte = np.dtype(np.uint8)

    def copy(slots: list[Any], mask: Any) -> None:
        lanes = np.arange(m.n) if mask is None else np.flatnonzero(mask)
        if not len(lanes):
            return
        many = np.full(len(lanes), n) if size is None else slots[size][lanes]
        i = to.locate(slots[a][lanes] + np.uint64(plus_a % 2**64), lanes, n, inst)
        rows = np.zeros((len(lanes), n), np.uint8)
        some = many > 0
        at = slots[b][lanes][some] + np.uint64(plus_b % 2**64)
        for k in range(n):
            part = np.arange(len(at))[many[some] > k]
            where = source.locate(at[part] + np.uint64(k), lanes[some][part], 1, inst)
            rows[np.flatnonzero(some)[part], k] = source.units(byte, 1)[where]
        to.units(byte, n)[i] = rows

    return copy


def accessing(m: Machine, inst: Inst) -> Step | None:
    """The instruction bound to the machine; None: it is none of these."""
    stem = inst.parts[0]
    if inst.parts[:2] == ("cp", "async"):
        return copying(m, inst)
    if stem in ("ld", "st"):
        if set(inst.parts[1:-1]) - ACCESS or inst.parts[-1] not in TYPES:
            return None
        return loading(m, inst) if stem == "ld" else storing(m, inst)
    if stem in ("atom", "red") and inst.parts[-1] in TYPES:
        return atomic(m, inst) if set(inst.parts) & set(m.spaces) else None
    return None


__all__ = ["Fault", "Memory", "Space", "accessing"]
