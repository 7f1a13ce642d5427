# SPDX-License-Identifier: Apache-2.0
"""What the threads of a warp do together: shuffles, votes, reductions, matrix fragments, tensor cores.

All 32 threads of a warp take part (the machine sees to it), so lanes are rows of 32. Products of tensor
cores are calculated in float64 and rounded once; their order of addition is open anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .compute import TYPES
from .memory import Fault, extended, listed
from .text import Inst

if TYPE_CHECKING:
    from .machine import Machine, Step

LANE = np.arange(32)
WHOLE = "0xffffffff"


def put(slots: list[Any], out: int, value: Any, mask: Any) -> None:
    slots[out] = value if mask is None else np.where(mask, value, slots[out])


# ---- shuffles and votes ---------------------------------------------------------------------------


def shuffle_source(mode: str, b: Any, c: int) -> Any:
    """The lane that each lane reads."""
    clamp, segment = c & 31, c >> 8 & 31
    low, high = LANE & segment, LANE & segment | clamp & ~segment
    b = b & 31
    if mode == "idx":
        j = low | b & ~segment
    else:
        j = {"up": LANE - b, "down": LANE + b, "bfly": LANE ^ b}[mode]
    inside = j >= high if mode == "up" else j <= high
    return np.where(inside, j, LANE)


def shuffled(m: Machine, inst: Inst) -> Step:
    out, kind = m.writes(inst.args[0])
    a, _ = m.reads(inst.args[1], "b32")
    b, _ = m.reads(inst.args[2], "s32")
    mode, c = inst.parts[2], int(inst.args[3], 0)

    def step(slots: list[Any], mask: Any) -> None:
        source = shuffle_source(mode, slots[b].view(np.int32).reshape(-1, 32), c)
        value = np.take_along_axis(slots[a].reshape(-1, 32), source, 1).reshape(-1)
        put(slots, out, value.view(TYPES[kind]), mask)

    return step


def voted(m: Machine, inst: Inst) -> Step:
    (out, _), (a, _), mode = m.writes(inst.args[0]), m.reads(inst.args[1], "pred"), inst.parts[2]

    def step(slots: list[Any], mask: Any) -> None:
        votes = slots[a].reshape(-1, 32)
        if mode == "ballot":
            one = (votes * (1 << LANE)).sum(1).astype(np.uint32)
        else:
            one = votes.any(1) if mode == "any" else votes.all(1)
        put(slots, out, np.repeat(one, 32), mask)

    return step


REDUCED = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
           "or": np.bitwise_or, "xor": np.bitwise_xor}  # fmt: skip


def reduced(m: Machine, inst: Inst) -> Step:
    (out, kind), (a, _) = m.writes(inst.args[0]), m.reads(inst.args[1], "b32")
    fn, t = REDUCED[inst.parts[2]], TYPES[inst.parts[3]]

    def step(slots: list[Any], mask: Any) -> None:
        one = fn.reduce(slots[a].view(t).reshape(-1, 32), axis=1, dtype=t)
        put(slots, out, np.repeat(one, 32).view(TYPES[kind]), mask)

    return step


def matched(m: Machine, inst: Inst) -> Step:
    (out, _), (a, _) = m.writes(inst.args[0]), m.reads(inst.args[1], inst.parts[-1])

    def step(slots: list[Any], mask: Any) -> None:
        x = slots[a].reshape(-1, 32)
        same = (x[:, :, None] == x[:, None, :]) * (1 << LANE)
        put(slots, out, same.sum(2).astype(np.uint32).reshape(-1), mask)

    return step


def elected(m: Machine, inst: Inst) -> Step:
    out, _ = m.writes(inst.args[0].removeprefix("_|"))
    first = np.arange(m.n) % 32 == 0
    return lambda slots, mask: put(slots, out, first, mask)


# ---- matrices in shared memory ----------------------------------------------------------------------


def fragment(inst: Inst) -> tuple[int, bool]:
    return int(inst.parts[4][1:]), "trans" in inst.parts


def rows_of(m: Machine, inst: Inst, slots: list[Any], mask: Any, text: str) -> tuple[Any, Any]:
    """Warps that take part, and the numbers of the 16-byte rows: [warps, matrices, 8]."""
    base, offset = m.address(text)
    n, _ = fragment(inst)
    warps = np.arange(m.n // 32) if mask is None else np.flatnonzero(mask.reshape(-1, 32)[:, 0])
    lanes = (warps[:, None] * 32 + np.arange(8 * n)).reshape(-1)
    at = slots[base][lanes] + np.uint64(offset % 2**64)
    rows = m.spaces["shared"].locate(at, lanes, 16, inst)
    return warps, rows.reshape(len(warps), n, 8)


def load_matrix(m: Machine, inst: Inst) -> Step:
    outs = [m.writes(a) for a in listed(inst.args[0])]
    n, trans = fragment(inst)
    units = m.spaces["shared"].units(np.dtype(np.uint16), 8)

    def step(slots: list[Any], mask: Any) -> None:
        warps, rows = rows_of(m, inst, slots, mask, inst.args[1])
        found = units[rows]
        found = np.ascontiguousarray(found.swapaxes(2, 3) if trans else found)
        words = found.view(np.uint32).reshape(len(warps), n, 32)
        for k, (out, kind) in enumerate(outs):
            value = slots[out].copy().reshape(-1, 32)
            value[warps] = extended(words[:, k], kind)
            slots[out] = value.reshape(-1)

    return step


def store_matrix(m: Machine, inst: Inst) -> Step:
    ins = [m.reads(a, "b32")[0] for a in listed(inst.args[1])]
    n, trans = fragment(inst)
    units = m.spaces["shared"].units(np.dtype(np.uint16), 8)

    def step(slots: list[Any], mask: Any) -> None:
        warps, rows = rows_of(m, inst, slots, mask, inst.args[0])
        words = np.stack([slots[k].view(np.uint32).reshape(-1, 32)[warps] for k in ins], 1)
        values = words.view(np.uint16).reshape(len(warps), n, 8, 8)
        units[rows] = values.swapaxes(2, 3) if trans else values

    return step


# ---- tensor cores -------------------------------------------------------------------------------------

G, C = LANE[:, None] // 4, LANE[:, None] % 4  # row group and column of a lane
SHAPES = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "f64": 64}


def place_a(bits: int, n: int) -> tuple[Any, Any]:
    """Row and column (k) of the elements that a lane holds of A, n of them."""
    v = np.arange(n)
    if bits == 16:
        return G + 8 * (v >> 1 & 1), 2 * C + (v & 1) + 8 * (v >> 2)
    if bits == 8:
        return G + 8 * (v >> 2 & 1), 4 * C + (v & 3) + 16 * (v >> 3)
    return G + 8 * (v & 1), C + 4 * (v >> 1)


def place_b(bits: int, n: int) -> tuple[Any, Any]:
    """Row (k) and column of the elements of B."""
    v = np.arange(n)
    if bits == 16:
        return 2 * C + (v & 1) + 8 * (v >> 1), G + 0 * v
    if bits == 8:
        return 4 * C + (v & 3) + 16 * (v >> 2), G + 0 * v
    return C + 4 * v, G + 0 * v


def place_c(n: int) -> tuple[Any, Any]:
    v = np.arange(n)
    return G + 8 * (v >> 1), 2 * C + (v & 1)


def elements(slots: list[Any], regs: list[int], t: str) -> Any:
    """[warps, 32, elements] of the registers, in float64 or int64."""
    words = np.stack([slots[r] for r in regs], 1)
    if t == "tf32":
        found = (words.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    else:
        found = words.view(TYPES[t])
    return found.reshape(-1, 32, found.shape[1]).astype(np.int64 if t[1] == "8" else np.float64)


def multiplied(m: Machine, inst: Inst) -> Step | None:
    """mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c"""
    shape, types = inst.parts[3], inst.parts[6:]
    rows, cols, k = (int(x) for x in shape.replace("n", " ").replace("k", " ")[1:].split())
    if inst.parts[4:6] != ("row", "col") or types[1] not in SHAPES or types[0] not in TYPES:
        return None
    outs = [m.writes(a) for a in listed(inst.args[0])]
    a, b, c = ([m.reads(x, "b32")[0] for x in listed(text)] for text in inst.args[1:])
    bits, whole = SHAPES[types[1]], types[0] == "s32"

    def step(slots: list[Any], mask: Any) -> None:
        x, y = elements(slots, a, types[1]), elements(slots, b, types[2])
        left = np.zeros((len(x), rows, k), x.dtype)
        right = np.zeros((len(x), k, cols), y.dtype)
        left[(ALL, *place_a(bits, x.shape[2]))] = x
        right[(ALL, *place_b(bits, y.shape[2]))] = y
        have = np.stack([slots[r] for r in c], 1).view(TYPES[types[3]])
        have = have.reshape(-1, 32, len(c)).astype(np.int64 if whole else np.float64)
        sums = have + (left @ right)[(ALL, *place_c(len(c)))]
        for j, (out, kind) in enumerate(outs):
            value = sums[:, :, j].reshape(-1).astype(TYPES[types[0]])
            put(slots, out, value.view(TYPES[kind]), mask)

    return step


ALL = slice(None)


# ---- all ------------------------------------------------------------------------------------------------


def together(m: Machine, inst: Inst) -> Step | None:
    """The instruction bound to the machine; None: it is none of these."""
    stem = ".".join(inst.parts[:2])
    masked = ("shfl.sync", "vote.sync", "redux.sync", "match.any", "elect.sync")
    if stem in masked and inst.args[-1] != WHOLE:
        raise Fault(f"{inst.line}: wanted the threads of a whole warp")
    rows = {
        "shfl.sync": shuffled,
        "vote.sync": voted,
        "redux.sync": reduced,
        "match.any": matched,
        "elect.sync": elected,
        "ldmatrix.sync": load_matrix,
        "stmatrix.sync": store_matrix,
        "mma.sync": multiplied,
    }
    return rows[stem](m, inst) if stem in rows else None
