# SPDX-License-Identifier: Apache-2.0
"""A program: the source of a kernel, its arguments, and the comparison of its two runs.

`Program.run` runs the source through the second reading (language.py) and through Tessera, and
compares every element of every buffer, those that the kernel must leave alone included.
"""

from __future__ import annotations

import linecache
import os
import pathlib
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import language, memory, ptx
from .values import COMPLEX, FLOATS, INTS, Tile, Unknown, biggest, is_complex, rounded

FRONT = pathlib.Path(__file__).resolve().parents[2] / "python" / "front"


@dataclass(frozen=True)
class Array:
    """A parameter that is an array.

    `layout` says how it lies in memory of its own: "C", "F", "step" (every second element), "shift"
    (not aligned). With `window` it is a part of `buffer` instead, by a NumPy expression that makes a
    view: ("b0", "[3:67].reshape(8, 8).T").
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    kind: str = "in"
    layout: str = "C"
    window: tuple[str, str] | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a program: passed, open (hangs on what the language leaves open), refused,
    skipped (the reader of PTX lacks an instruction), wrong, or error (an exception that is no refusal, a
    mistake of the second reading)."""

    kind: str
    text: str = ""
    seconds: float = 0.0  # for compiling and running


@dataclass
class Program:
    """The source and the arguments; values of the arrays follow from `seed`."""

    seed: int
    source: str
    arrays: list[Array]
    scalars: list[tuple[str, str, Any]] = field(default_factory=list)
    constant: int | None = None
    grid: tuple[int, int] = (1, 1)
    small: bool = True
    buffers: dict[str, tuple[str, int]] = field(default_factory=dict)
    limit: float | None = None  # seconds of processor time on the CPU device

    def run(self, device: str = "cpu") -> Outcome:
        """Both runs and their comparison."""
        name = f"<fuzz {self.seed} {hash(self.source)}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(True), name)
        try:
            code = compile(self.source, name, "exec")
            return Run(self, code, device).outcome()
        finally:
            del linecache.cache[name]

    def describe(self) -> str:
        """The source with a comment on the arguments."""
        lines = [f"# {a}" for a in self.arrays] + [f"# buffer {b}" for b in self.buffers.items()]
        rest = f"# scalars {self.scalars}, constant {self.constant}, grid {self.grid}"
        return "\n".join([self.source, *lines, rest])


def values(r: random.Random, dt: str, shape: tuple[int, ...], small: bool) -> Tile:
    """Random elements: small ones with which arithmetic is mostly exact, or any."""
    if is_complex(dt):
        re, im = (values(r, COMPLEX[dt], shape, small) for _ in range(2))
        return Tile(re.v + 1j * im.v, dt, np.where(np.isfinite(re.v) & np.isfinite(im.v), 0.0, np.inf))
    n = int(np.prod(shape))
    rng = np.random.default_rng(r.getrandbits(32))
    v: Any
    if dt == "bool_":
        v = rng.integers(0, 2, n).astype(bool)
    elif dt in INTS:
        info = np.iinfo(dt)
        if small:
            v = rng.integers(max(info.min, -9), 10, n).astype(dt)
        else:
            v = rng.integers(info.min, info.max, n, dtype=INTS[dt].type, endpoint=True)
            v[rng.random(n) < 0.2] = r.choice([info.min, info.max, 0, 1])
    elif small:
        v = rng.integers(-32, 33, n) / 8.0
    else:
        v = rounded(dt, rng.standard_normal(n) * 2.0 ** rng.integers(-6, 6, n))
        if r.random() < 0.3:
            v[rng.random(n) < 0.1] = r.choice([np.nan, np.inf, -np.inf, 0.0, biggest(dt)])
    return Tile(v.reshape(shape), dt)


def dense(t: Tile) -> Any:
    """The values as a NumPy array of their own dtype."""
    if t.dt != "bfloat16":
        return t.v.astype("bool" if t.dt == "bool_" else t.dt)
    import ml_dtypes

    return t.v.astype(np.float32).astype(ml_dtypes.bfloat16)


def laid_out(a: Any, layout: str) -> tuple[Any, Any]:
    """The array in a layout, and all the memory around it."""
    if layout == "F" and a.ndim > 1:
        room = np.asfortranarray(a)
        return room, room
    if layout == "step" and a.ndim:
        room = np.zeros(tuple(2 * n for n in a.shape), a.dtype)
        part = room[tuple(slice(None, None, 2) for _ in a.shape)]
    elif layout == "shift":
        room = np.zeros(a.size + 3, a.dtype)
        part = room[1 : 1 + a.size].reshape(a.shape)
    else:
        return a, a
    part[...] = a
    return part, room


class Run:
    """One program on one device."""

    def __init__(self, program: Program, code: Any, device: str) -> None:
        self.program, self.code, self.device = program, code, device
        r = random.Random(program.seed ^ 0x5EED)
        alone = {a.name: (a.dtype, a.shape) for a in program.arrays if not a.window}
        shared = {name: (dtype, (n,)) for name, (dtype, n) in program.buffers.items()}
        self.start = {n: values(r, *what, program.small) for n, what in {**alone, **shared}.items()}
        self.opt_level = r.choice([0, 3, 3, 3])
        self.schedule = r.randrange(1000)  # of the warps that are interpreted

    def outcome(self) -> Outcome:
        try:
            want = self.expected()
        except Unknown:
            return Outcome("open")
        start = time.process_time()
        if self.device.startswith("sm_"):
            return Outcome(*self.assembled(), time.process_time() - start)
        ways = {"eval": self.interpreted, "ptx": self.read}
        kind, text, got = ways.get(self.device.rstrip("0123456789"), self.actual)()
        took = time.process_time() - start
        if kind != "passed":
            return Outcome(kind, text, took)
        if self.program.limit and self.device == "cpu" and took > self.program.limit:
            return Outcome("wrong", f"took {took:.1f} s, wanted {self.program.limit:g} s", took)
        return Outcome(*self.compared(want, got), took)

    def expected(self) -> dict[str, memory.Array]:
        """The buffers after the second reading of every block."""
        p = self.program
        whole = {n: memory.Array.of(t) for n, t in self.start.items()}
        arrays = [self.placed(a, whole, lambda b, take: b.window(take)) for a in p.arrays]
        scalars = [Tile(s[2], s[1]) for s in p.scalars] + ([p.constant] if p.constant else [])
        for y in range(p.grid[1]):
            for x in range(p.grid[0]):
                ct = language.block((x, y, 0), (*p.grid, 1))
                space = {"ct": ct, "range": language.counted}
                exec(self.code, space)
                space["kernel"](*arrays, *scalars)  # type: ignore[operator]
        return whole

    @staticmethod
    def placed(a: Array, whole: dict[str, Any], window: Callable[[Any, Any], Any]) -> Any:
        if not a.window:
            return whole[a.name]
        buffer, text = a.window
        return window(whole[buffer], lambda base: eval(f"base{text}", {"base": base}))

    def kernel(self) -> Any:
        import tessera.tile as ct

        space: dict[str, Any] = {"ct": ct}
        exec(self.code, space)
        return ct.kernel(space["kernel"], opt_level=self.opt_level)

    def scalars(self) -> list[Any]:
        return [s[2] for s in self.program.scalars]

    def constants(self) -> list[int]:
        return [self.program.constant] if self.program.constant else []

    def compiled(self, arrays: list[Any], target: int) -> tuple[bytes, dict[str, Any]]:
        """The PTX of the launch for a GPU that need not be there, and its report."""
        from tessera import _core

        codes: list[bytes] = []
        args = (*arrays, *self.scalars(), *self.constants())
        keep = lambda code, _: codes.append(code)  # noqa: E731
        report = _core.report(None, self.program.grid, self.kernel(), args, target, keep)
        return codes[0], report

    def assembled(self) -> tuple[str, str]:
        """Compiles and asks ptxas to assemble it."""
        import tessera.tile as ct

        parts = {n: laid_out(dense(t), "C")[0] for n, t in self.start.items()}
        arrays = [self.placed(a, parts, lambda base, take: take(base)) for a in self.program.arrays]
        target = int(self.device.removeprefix("sm_"))
        try:
            code, _ = self.compiled(arrays, target)
        except (ct.TileError, TypeError, ValueError) as e:
            return "refused", f"{type(e).__name__}: {e}"
        arch = f"sm_{target}" + ("a" if target >= 90 else "")
        command = ["ptxas", f"-arch={arch}", "-o", os.devnull, "-"]
        done = subprocess.run(command, input=code, capture_output=True, check=False)
        if done.returncode:
            said = (done.stdout + done.stderr).decode(errors="replace")
            return "wrong", f"not assembled: exit status {done.returncode} of ptxas: {said}"
        return "passed", ""

    def read(self) -> tuple[str, str, dict[str, Any]]:
        """The PTX of the launch, run by the reader of PTX: arrays lie as on a GPU."""
        import tessera.tile as ct

        sys.path.append(str(FRONT))
        from lower import words_of  # type: ignore[import-not-found]

        p = self.program
        layouts = {a.name: a.layout for a in p.arrays}
        laid = {n: laid_out(dense(t), layouts.get(n, "C")) for n, t in self.start.items()}
        device = ptx.Memory(ptx.Memory.room([room.nbytes for _, room in laid.values()]))
        parts, rooms = {}, {}
        for n, (part, room) in laid.items():
            rooms[n] = device.place(room)
            parts[n] = device.view(part, room, rooms[n])
        before = {n: room.copy() for n, room in rooms.items()}
        arrays = [self.placed(a, parts, lambda base, take: take(base)) for a in p.arrays]
        try:
            code, report = self.compiled(arrays, int(self.device.removeprefix("ptx")))
        except (ct.TileError, TypeError, ValueError) as e:
            return "refused", f"{type(e).__name__}: {e}", {}
        try:
            entry = ptx.parsed(code.decode())
            words = words_of((*arrays, *self.scalars()))
            params = dict(zip(entry.params, words, strict=True))
            schedule = 0 if self.schedule % 4 else self.schedule + 1
            launch = ptx.Launch(report["grid"], params, report["shared_bytes"], schedule)
            ptx.run(entry, launch, device)
        except ptx.Unread as e:
            return "skipped", f"the reader of PTX does not know {e}", {}
        except ptx.Fault as e:
            return "wrong", f"PTX: {e}", {}
        return self.beside(parts, rooms, before)

    def interpreted(self) -> tuple[str, str, dict[str, Any]]:
        """The reference interpreter: "eval" runs tiles, "eval90" the threads of code for sm_90; of three
        programs two with all that a launch knows of its arrays, which lie as on a GPU.
        """
        import tessera.tile as ct

        sys.path.append(str(FRONT))
        from lower import Const, LowerError, run  # type: ignore[import-not-found]

        p = self.program
        space: dict[str, Any] = {"ct": ct}
        exec(self.code, space)
        starts = {n: dense(t) for n, t in self.start.items()}
        device = ptx.Memory(ptx.Memory.room([a.nbytes for a in starts.values()]))
        parts = {n: device.place(a) for n, a in starts.items()}
        arrays = [self.placed(a, parts, lambda base, take: take(base)) for a in p.arrays]
        args = (*arrays, *self.scalars(), *(Const(c) for c in self.constants()))
        options = {
            "grid": (*p.grid, 1),
            "target": int(self.device.removeprefix("eval") or 0),
            "schedule": self.schedule,
            "facts": self.schedule % 3 > 0,
        }
        try:
            run(space["kernel"], *args, **options)
        except LowerError as e:
            return "refused", f"{e.status}: {e}", {}
        return "passed", "", parts

    def actual(self) -> tuple[str, str, dict[str, Any]]:
        """The kind of outcome with its text, and the buffers after the launch."""
        import tessera
        import tessera.tile as ct

        p = self.program
        layouts = {a.name: a.layout for a in p.arrays}
        parts, rooms = {}, {}
        for n, t in self.start.items():
            parts[n], rooms[n] = laid_out(dense(t), layouts.get(n, "C"))
        before = {n: room.copy() for n, room in rooms.items()}
        if self.device != "cpu":
            parts = {n: tessera.array(part, device=self.device) for n, part in parts.items()}
        arrays = [self.placed(a, parts, lambda base, take: take(base)) for a in p.arrays]
        try:
            kernel = self.kernel()
            args = (*arrays, *self.scalars(), *self.constants())
            ct.launch(None, p.grid, kernel, args)
        except (ct.TileError, TypeError, ValueError) as e:
            return "refused", f"{type(e).__name__}: {e}", {}
        if self.device != "cpu":
            return "passed", "", {n: part.numpy() for n, part in parts.items()}
        return self.beside(parts, rooms, before)

    def beside(
        self, parts: dict[str, Any], rooms: dict[str, Any], before: dict[str, Any]
    ) -> tuple[str, str, dict[str, Any]]:
        """The buffers, if what lies around them is as it was."""
        got = {n: part.copy() for n, part in parts.items()}
        for n, part in parts.items():
            part[...] = dense(self.start[n])
            if rooms[n].tobytes() != before[n].tobytes():
                return "wrong", f"{n}: memory beside the array was written", {}
        return "passed", "", got

    def compared(self, want: dict[str, memory.Array], got: dict[str, Any]) -> tuple[str, str]:
        """("passed", compared elements) or ("wrong", the first difference)."""
        compared = 0
        for n, w in want.items():
            known = np.isfinite(w.e)
            is_close = w.dt in FLOATS or is_complex(w.dt)
            have = got[n].astype(w.v.dtype) if is_close else got[n]
            same = have == w.v
            if is_close:
                nan = np.isnan(have) & np.isnan(w.v)
                same = same | nan | (np.abs(have - w.v) <= w.e * 1.0001)
            bad = known & ~same
            compared += int(known.sum())
            if bad.any():
                at = tuple(int(i) for i in np.argwhere(bad)[0])
                return "wrong", (
                    f"{n}{at}: got {have[at]!r}, want {w.v[at]!r} within {w.e[at]:g}; "
                    f"{int(bad.sum())} of {bad.size} elements, {w.dt}"
                )
        return "passed", str(compared)
