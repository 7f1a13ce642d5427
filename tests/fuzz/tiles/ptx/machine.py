# SPDX-License-Identifier: Apache-2.0
"""Runs the code of some thread blocks: every register is a NumPy array with one lane a thread.

The threads that stand at the smallest place in the code, and do not wait, run next, up to the next label,
branch or instruction of several threads. So those that went apart meet again where their ways join,
without an analysis of the branches. An instruction gets the mask of its threads (None: all of them);
registers are never changed in place, so arrays may be shared.

With a `schedule` other than 0 the warps run one after the other instead, each as far as it can go, in an
order that it gives: barriers that are missing show then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import compute
from .compute import TYPES
from .memory import Fault, Memory, Space, accessing, extended
from .text import Entry, Inst
from .warps import together

MOST = 400_000  # instructions of one run; loops without end are findings
LANES = 1024  # blocks are run together up to about so many threads
SHARED, LOCAL = 0x400, 0x10000  # addresses where the spaces begin
BARRIERS = 16
POISON = 0xA5
CONTROL = ("bra", "ret", "bar", "trap")

Step = Callable[[list[Any], Any], None]

__all__ = ["Fault", "Launch", "run"]


@dataclass(frozen=True)
class Launch:
    grid: tuple[int, int, int]
    params: dict[str, int]
    shared: int  # bytes of shared memory
    schedule: int = 0
    block: tuple[int, int, int] = (0, 0, 0)  # threads; (0, 0, 0): what the text says, along x


class Machine:
    """The registers and memories of `blocks`, and the code bound to them."""

    def __init__(self, entry: Entry, launch: Launch, memory: Memory) -> None:
        self.entry, self.launch, self.memory = entry, launch, memory

    def start(self, blocks: Any) -> None:
        """Registers with their poison, and the numbers of the threads."""
        threads, grid = self.entry.threads, self.launch.grid
        if threads % 32 or not threads:
            raise Fault(f"{threads} threads a block: wanted a multiple of 32")
        self.n_blocks, self.n = len(blocks), len(blocks) * threads
        lane = np.arange(self.n, dtype=np.uint32)
        self.block = (lane // threads).astype(np.int64)
        tid, place = lane % threads, blocks.astype(np.uint32)[self.block]
        self.names: dict[str, tuple[int, str]] = {}  # operand as written, or constant: slot, type
        self.slots: list[Any] = []
        special = {"laneid": tid % 32, "lanemask_lt": (1 << tid % 32) - 1}
        block = self.launch.block if any(self.launch.block) else (threads, 1, 1)
        for k, axis in enumerate("xyz"):
            special[f"tid.{axis}"] = tid // np.uint32(np.prod(block[:k])) % np.uint32(block[k])
            special[f"ntid.{axis}"] = np.full(self.n, block[k])
            special[f"ctaid.{axis}"] = place // np.uint32(np.prod(grid[:k])) % np.uint32(grid[k])
            special[f"nctaid.{axis}"] = np.full(self.n, grid[k])
        for name, value in special.items():
            self.slot(f"%{name}", "u32", value.astype(np.uint32))
        pattern = np.full(8 * self.n, POISON, np.uint8)
        for prefix, kind in self.entry.registers.items():
            bits = TYPES[kind]
            fill = lane % 2 == 1 if kind == "pred" else pattern[: bits.itemsize * self.n].view(bits)
            for k in range(self.entry.sizes[prefix]):
                self.slot(f"{prefix}{k}", kind, fill)
        self.start_memory()

    def start_memory(self) -> None:
        size = max(16, -(-self.launch.shared // 16) * 16)
        pattern = np.full(size * self.n_blocks, POISON, np.uint8)
        first = self.block * size
        self.spaces = {"global": Space(self.memory.bytes, self.memory.base, None, self.memory.ok)}
        self.spaces["shared"] = Space(pattern, SHARED, first, None, self.launch.shared)
        at = 0
        for name, many in self.entry.locals.items():
            self.slot(name, "u64", np.full(self.n, LOCAL + at, np.uint64))
            at += -(-many // 16) * 16
        room = np.full(max(at, 16) * self.n, POISON, np.uint8)
        own = np.arange(self.n, dtype=np.int64) * max(at, 16)
        self.spaces["local"] = Space(room, LOCAL, own, None, at)

    # ---- operands -------------------------------------------------------------------------------

    def slot(self, name: str, kind: str, value: Any) -> int:
        self.names[name] = (len(self.slots), kind)
        self.slots.append(value)
        return len(self.slots) - 1

    def constant(self, text: str, kind: str) -> tuple[int, str]:
        """The slot of an immediate, or of a symbol with an offset."""
        key = f"{text} {kind}"
        if key not in self.names:
            self.slot(key, kind, np.full(self.n, self.literal(text, kind), TYPES[kind]))
        return self.names[key]

    def literal(self, text: str, kind: str) -> Any:
        if text[:2] in ("0f", "0d"):
            word = np.array(int(text[2:], 16), np.uint32 if text[1] == "f" else np.uint64)
            return word.view(np.float32 if text[1] == "f" else np.float64)
        if "+" in text:
            symbol, offset = text.split("+")
            return self.symbol(symbol) + int(offset)
        if not text.lstrip("-")[:1].isdigit():
            return self.symbol(text)
        value = int(text, 0)
        if kind in ("f16", "bf16"):
            raise ValueError(f"operand {text} of type {kind}: wanted a register")
        if kind in ("f32", "f64", "pred"):
            return value
        bits = TYPES[kind].itemsize * 8
        return np.array(value & (1 << bits) - 1, f"u{bits // 8}").view(TYPES[kind])

    def symbol(self, name: str) -> int:
        if name == "smem":
            return SHARED
        if name in self.names:
            return int(self.slots[self.names[name][0]][0])
        return self.memory.symbols[name]

    def reads(self, text: str, kind: str) -> tuple[int, str]:
        """Slot and type of what is read: a register, or a constant of the wanted type."""
        if text in self.names:
            return self.names[text]
        if text.startswith("%"):
            raise Fault(f"register {text} is not declared")
        return self.constant(text, kind)

    def writes(self, text: str) -> tuple[int, str]:
        if text not in self.names:
            raise Fault(f"register {text} is not declared")
        return self.names[text]

    def address(self, text: str) -> tuple[int, int]:
        """Slot and constant offset of "[%rd1+8]" or "[smem+16]"."""
        base, _, offset = text.strip("[]").partition("+")
        if not base.startswith("%"):
            return self.constant(base, "u64")[0], int(offset or 0)
        return self.reads(base, "u64")[0], int(offset or 0)

    # ---- binding --------------------------------------------------------------------------------

    def bind(self, inst: Inst) -> Step:
        step = self.bound(inst)
        if not inst.guard or inst.parts[0] in CONTROL:
            return step
        guard, negated = self.reads(inst.guard, "pred")[0], inst.negated

        def guarded(slots: list[Any], mask: Any) -> None:
            holds = ~slots[guard] if negated else slots[guard]
            step(slots, holds if mask is None else mask & holds)

        return guarded

    def bound(self, inst: Inst) -> Step:
        stem = inst.parts[0]
        if stem in CONTROL or stem in ("fence", "membar", "nanosleep"):
            return lambda slots, mask: None
        if stem == "mov":
            return self.bind_mov(inst)
        if stem == "ld" and inst.parts[1] == "param":
            return self.bind_param(inst)
        found = compute.rule(inst.parts)
        if found:
            return self.bind_rule(*second_result(inst, found))
        step = together(self, inst) or accessing(self, inst)
        if not step:
            raise inst.unread()
        return step

    def bind_param(self, inst: Inst) -> Step:
        name, bits = inst.args[1].strip("[]"), int(inst.parts[-1][1:])
        if bits // 8 != self.entry.params[name]:
            raise Fault(f"{inst.line} reads {bits // 8} of {self.entry.params[name]} bytes")
        word = np.array(self.launch.params[name] & (1 << bits) - 1, f"u{bits // 8}")
        out, kind = self.writes(inst.args[0])
        slot = self.slot(inst.line, kind, extended(np.full(self.n, word), kind))
        return move((out, kind), (slot, kind))

    def bind_mov(self, inst: Inst) -> Step:
        to, source = inst.args
        if to.startswith("{"):
            return self.bind_unpack(inst)
        if source.startswith("{"):
            parts = [self.reads(a, "b16")[0] for a in source.strip("{}").split(", ")]
            out, kind = self.writes(to)

            def pack(slots: list[Any], mask: Any) -> None:
                both = np.stack([slots[p] for p in parts], 1)
                put(slots, out, both.view(TYPES[kind])[:, 0], mask)

            return pack
        return move(self.writes(to), self.reads(source, inst.parts[-1]))

    def bind_unpack(self, inst: Inst) -> Step:
        outs = [self.writes(a) for a in inst.args[0].strip("{}").split(", ")]
        source = self.reads(inst.args[1], inst.parts[-1])[0]

        def unpack(slots: list[Any], mask: Any) -> None:
            whole = np.ascontiguousarray(slots[source])
            for k, (out, kind) in enumerate(outs):
                part = whole.view(TYPES[kind]).reshape(-1, len(outs))[:, k]
                put(slots, out, np.ascontiguousarray(part), mask)

        return unpack

    def bind_rule(self, inst: Inst, rule: compute.Rule) -> Step:
        if len(inst.args) != len(rule.reads) + 1:
            raise Fault(f"{inst.line}: {len(inst.args)} operands, wanted {len(rule.reads) + 1}")
        ins = [
            (*self.reads(a, t), TYPES[t]) for a, t in zip(inst.args[1:], rule.reads, strict=True)
        ]
        out, kind = self.writes(inst.args[0])
        convert = [reader(TYPES[k], t, inst) for _, k, t in ins]
        fn, finish = rule.fn, writer(TYPES[rule.writes], TYPES[kind], inst)
        if len(ins) == 2:
            (a, _, _), (b, _, _) = ins
            left, right = convert

            def binary(slots: list[Any], mask: Any) -> None:
                x = finish(fn(left(slots[a]), right(slots[b])))
                slots[out] = x if mask is None else np.where(mask, x, slots[out])

            return binary

        def step(slots: list[Any], mask: Any) -> None:
            values = [c(slots[i[0]]) for c, i in zip(convert, ins, strict=True)]
            put(slots, out, finish(fn(*values)), mask)

        return step


def second_result(inst: Inst, rule: compute.Rule) -> tuple[Inst, compute.Rule]:
    """setp whose first result goes nowhere ("_|%p1") writes the opposite."""
    if not inst.args[0].startswith("_|"):
        return inst, rule
    args = (inst.args[0][2:], *inst.args[1:])
    return replace(inst, args=args), replace(rule, fn=lambda a, b: ~rule.fn(a, b))


def put(slots: list[Any], out: int, value: Any, mask: Any) -> None:
    slots[out] = value if mask is None else np.where(mask, value, slots[out])


def move(to: tuple[int, str], source: tuple[int, str]) -> Step:
    (out, kind), (a, of) = to, source
    if TYPES[kind].itemsize != TYPES[of].itemsize or (kind == "pred") != (of == "pred"):
        raise Fault(f"mov from {of} to {kind}")
    if kind == "pred":
        return lambda slots, mask: put(slots, out, slots[a], mask)
    return lambda slots, mask: put(slots, out, slots[a].view(TYPES[kind]), mask)


def reader(have: Any, want: Any, inst: Inst) -> Callable[[Any], Any]:
    """A register as operand: its bits as the type; of a conversion its low bits."""
    if have == want:
        return lambda x: x
    if have.itemsize == want.itemsize and bool not in (have, want):
        return lambda x: x.view(want)
    if inst.parts[0] != "cvt" or have.itemsize < want.itemsize:
        raise Fault(f"{inst.line}: a register of {have} where {want} is wanted")
    bits = np.dtype(f"u{want.itemsize}")
    return lambda x: x.astype(bits).view(want)


def writer(have: Any, want: Any, inst: Inst) -> Callable[[Any], Any]:
    """A result as register; of a conversion extended to its bits."""
    if have == want:
        return lambda x: x
    if have.itemsize == want.itemsize and bool not in (have, want):
        return lambda x: x.view(want)
    if inst.parts[0] != "cvt" or have.itemsize > want.itemsize:
        raise Fault(f"{inst.line}: a result of {have} for a register of {want}")
    wide = np.dtype(f"{have.kind}{want.itemsize}")
    return lambda x: x.astype(wide).view(want)


# ---- running --------------------------------------------------------------------------------------


class Running:
    """Where the threads are. While all are together `apart` is False and `at` alone says where."""

    def __init__(self, machine: Machine, schedule: int) -> None:
        self.m, self.code = machine, machine.entry.code
        warps = np.random.default_rng(schedule).permutation(machine.n // 32)
        self.rank = np.repeat(warps, 32) if schedule else None
        entry = machine.entry
        self.steps = [machine.bind(i) for i in self.code]
        self.kinds = [i.parts[0] if i.parts[0] in CONTROL else "" for i in self.code]
        self.kinds = [
            k or ("warp" if "sync" in i.parts else "")
            for k, i in zip(self.kinds, self.code, strict=True)
        ]
        targets = set(entry.labels.values())
        self.stop = [0] * (len(self.code) + 1)
        for k in range(len(self.code) - 1, -1, -1):
            last = k + 1 >= len(self.code) or k + 1 in targets or self.kinds[k + 1]
            self.stop[k] = k if self.kinds[k] else k + 1 if last else self.stop[k + 1]
        n = machine.n
        self.pc = np.zeros(n, np.int64)
        self.live = np.ones(n, bool)  # not returned
        self.waits = np.zeros(n, bool)  # at a barrier, or for its warp
        self.barrier = np.full(n, -1)
        self.arrived = np.zeros((machine.n_blocks, BARRIERS), np.int64)
        self.count = 0

    def run(self) -> None:
        at, mask = (0, None) if self.rank is None else (-1, None)
        while True:
            if mask is not None or at < 0:
                at, mask = self.next()
                if at < 0:
                    return
            at, mask = self.stretch(at, mask)

    def next(self) -> tuple[int, Any]:
        """Place and mask of those that run next; -1 at the end."""
        ready = self.live & ~self.waits
        if not ready.any():
            if self.live.any():
                raise Fault(self.stuck())
            return -1, None
        if self.rank is not None:
            ready = ready & (self.rank == self.rank[ready].min())
        at = int(self.pc[ready].min())
        mask = ready & (self.pc == at)
        return at, None if mask.all() else mask

    def stuck(self) -> str:
        lane, n = int(np.argmax(self.live)), int(self.live.sum())
        return f"no thread can go on: {n} wait, thread {lane} at {self.code[self.pc[lane]].line}"

    def stretch(self, at: int, mask: Any) -> tuple[int, Any]:
        """Runs up to the next stop and the instruction there; gives where to go on."""
        end, slots = self.stop[at], self.m.slots
        self.count += end - at + 1
        if self.count > MOST:
            raise Fault(f"more than {MOST} instructions, at {self.code[at].line}")
        for step in self.steps[at:end]:
            step(slots, mask)
        if end >= len(self.code):
            raise Fault("the code ends without ret")
        kind = self.kinds[end]
        if not kind:  # a label
            return self.go(end, mask)
        if kind in ("ret", "bar", "trap") and self.code[end].guard:
            raise self.code[end].unread()
        if mask is not None:
            self.pc[mask] = end
        return getattr(self, f"do_{kind}")(end, mask)

    def go(self, to: int, mask: Any) -> tuple[int, Any]:
        if mask is not None:
            self.pc[mask] = to
        return to, mask

    def all_to(self, at: int) -> Any:
        """The mask of all lanes, for those that were together until now."""
        self.pc[:] = at
        return np.ones(self.m.n, bool)

    def do_bra(self, at: int, mask: Any) -> tuple[int, Any]:
        inst = self.code[at]
        to = self.m.entry.labels[inst.args[0]]
        if not inst.guard:
            return self.go(to, mask)
        holds = self.m.slots[self.m.names[inst.guard][0]]
        holds = ~holds if inst.negated else holds
        if mask is None:
            if holds.all():
                return to, None
            if not holds.any():
                return at + 1, None
            mask = self.all_to(at)
        self.pc[mask] = np.where(holds[mask], to, at + 1)
        return at, mask

    def do_ret(self, at: int, mask: Any) -> tuple[int, Any]:
        mask = self.all_to(at) if mask is None else mask
        self.live[mask] = False
        return at, mask

    def do_trap(self, at: int, mask: Any) -> tuple[int, Any]:
        raise Fault("a trap is met")

    def do_warp(self, at: int, mask: Any) -> tuple[int, Any]:
        """Threads of one warp do something together: they wait for those that are elsewhere."""
        if mask is None:
            self.steps[at](self.m.slots, None)
            return at + 1, None
        mask = mask | (self.waits & (self.barrier < 0) & (self.pc == at))
        whole = mask & np.repeat(mask.reshape(-1, 32).all(1), 32)
        self.waits[mask] = True
        self.waits[whole] = False
        if whole.any():
            self.steps[at](self.m.slots, whole)
            self.pc[whole] = at + 1
        return at, mask

    def do_bar(self, at: int, mask: Any) -> tuple[int, Any]:
        inst = self.code[at]
        if inst.parts[1] == "warp":
            return self.do_warp(at, mask)
        threads = self.m.entry.threads
        number = self.m.slots[self.m.reads(inst.args[0], "u32")[0]]
        wanted = int(inst.args[1]) if len(inst.args) > 1 else threads
        if mask is None:
            alike = wanted == threads and (number == number[0]).all()
            if alike and inst.parts[1] == "sync" and not self.arrived[:, number[0]].any():
                return at + 1, None
            mask = self.all_to(at)
        np.add.at(self.arrived, (self.m.block[mask], number[mask]), 1)
        if inst.parts[1] == "sync":
            self.waits[mask] = True
            self.barrier[mask] = number[mask]
        else:
            self.pc[mask] = at + 1
        self.release(wanted, np.unique(number[mask]), inst)
        return at, mask

    def release(self, wanted: int, numbers: Any, inst: Inst) -> None:
        for number in numbers:
            arrived = self.arrived[:, number]
            if (arrived > wanted).any():
                raise Fault(f"{inst.line}: {int(arrived.max())} threads arrive, wanted {wanted}")
            full = arrived == wanted
            free = (self.barrier == number) & full[self.m.block]
            self.waits[free] = False
            self.barrier[free] = -1
            self.pc[free] += 1
            arrived[full] = 0


def run(entry: Entry, launch: Launch, memory: Memory) -> None:
    """Runs all blocks of a grid, some at a time."""
    blocks = np.arange(int(np.prod(launch.grid)))
    if any(launch.block):
        entry.threads = int(np.prod(launch.block))
    for name, data in entry.globals.items():
        memory.symbols[name] = memory.place(np.frombuffer(data, np.uint8)).ctypes.data
    machine = Machine(entry, launch, memory)
    each = max(1, LANES // max(entry.threads, 1))
    for k in range(0, len(blocks), each):
        machine.start(blocks[k : k + each])
        Running(machine, launch.schedule).run()
