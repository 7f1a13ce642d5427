# SPDX-License-Identifier: Apache-2.0
"""Random kernels of threads, as `threads` makes them, in which blocks also copy asynchronously, arrive at mbarriers,
move matrices through shared memory, multiply them, and read and write neighbours at once.

What it compares is the same: the interpreter of the text as it is written, which makes copies as late as it can, with
the CPU device, which makes them at once, and with the interpreter of what the passes made for a GPU.
"""

from __future__ import annotations

from .threads import BYTES, FLOATS, IN, INPUTS, INTS, Threads

ROW = 16  # bytes of a matrix' row


class Hardware(Threads):
    """One kernel; all that is here needs the whole block."""

    def statement(self, *, uniform: bool, depth: int) -> None:
        if not uniform or self.r.random() < 0.7:
            super().statement(uniform=uniform, depth=depth)
            return
        self.r.choice([self.neighbours, self.copied, self.bulk, self.arrived, self.matrices, self.product])()

    # ---- pieces -----------------------------------------------------------------------------------

    def array(self, t: str, each: int) -> str:
        """Shared memory for so many elements of each thread."""
        value, many = self.name(), BYTES[t] * self.threads * each
        self.line(f"{value} = shared_alloc bytes={many} align=128 : ptr<{t}, shared>")
        self.static += many + 128
        return value

    def place(self, base: str, t: str, index: str, each: int) -> str:
        at = self.emit(f"muli {index}, {self.constant('i32', each)}", "i32")
        return self.pointer(base, at, f"ptr<{t}, shared>")

    def other(self) -> str:
        """The number of another thread, or of this one."""
        moved = self.emit(f"addi {self.t}, {self.below(32)}", "i32")
        return self.emit(f"remi unsigned {moved}, {self.constant('i32', self.threads)}", "i32")

    def read_all(self, p: str, t: str, n: int) -> None:
        names = self.results([t] * n)
        self.line(f"{', '.join(names)} = ld n={n} {p} : {', '.join([t] * n)}")
        for name in names:
            self.known(t, name)

    def by_first(self, *lines: str) -> None:
        """What the first thread of the block does."""
        first = self.emit(f"cmpi eq {self.t}, {self.constant('i32', 0)}", "i1")

        def body() -> None:
            for text in lines:
                self.line(text)
            self.line("yield")

        self.region(f"if {first} {{", body)
        self.region("} else {", lambda: self.line("yield"))
        self.line("}")

    # ---- statements -------------------------------------------------------------------------------

    def neighbours(self) -> None:
        """Some elements at once, out of an input or by way of shared memory."""
        t = self.r.choice([*INTS, *FLOATS])
        n = self.r.choice([k for k in (2, 4, 8, 16) if k * BYTES[t] <= 16])
        if self.r.random() < 0.4:
            t, array = self.r.choice(INPUTS)
            n = self.r.choice([k for k in (2, 4) if k * BYTES[t] <= 16])
            at = self.emit(f"muli {self.below(IN // n)}, {self.constant('i32', n)}", "i32")
            self.read_all(self.pointer(array, at, f"ptr<{t}>"), t, n)
            return
        base = self.array(t, n)
        self.line(f"st n={n} {self.place(base, t, self.t, n)}, {', '.join(self.any(t) for _ in range(n))}")
        self.line("bar_sync")
        self.read_all(self.place(base, t, self.other(), n), t, n)
        self.line("bar_sync")

    def copied(self) -> None:
        """cp_async of each thread, of a part perhaps, read by another one."""
        t, array = self.r.choice(INPUTS)
        n = self.r.choice([k for k in (1, 2, 4) if k * BYTES[t] <= 16])
        base = self.array(t, n)
        at = self.emit(f"muli {self.below(IN // n)}, {self.constant('i32', n)}", "i32")
        source, target = self.pointer(array, at, f"ptr<{t}>"), self.place(base, t, self.t, n)
        part = ""
        if self.r.random() < 0.5:
            many = self.emit(f"mini {self.below(8)}, {self.constant('i32', n)}", "i32")
            part = " src=" + self.emit(f"muli {many}, {self.constant('i32', BYTES[t])}", "i32")
        self.line(f"cp_async bytes={n * BYTES[t]} {target}, {source}{part}")
        self.line("cp_async_commit")
        if self.r.random() < 0.5:
            self.expression()
        self.line("cp_async_wait")
        self.line("bar_sync")
        self.read_all(self.place(base, t, self.other(), n), t, n)
        self.line("bar_sync")

    def arrived(self) -> None:
        """An mbarrier in the place of a barrier, for two phases."""
        t, bar = self.r.choice(["i32", "i64", "f32"]), self.array("i64", 1)
        base = self.array(t, 1)
        count = f"mbar_init count={self.threads} {bar}"
        if self.r.random() < 0.5:
            count = f"mbar_init {bar}, {self.constant('i32', self.threads)}"
        self.by_first(count)
        self.line("bar_sync")
        for phase in range(2):
            self.line(f"st n=1 {self.place(base, t, self.t, 1)}, {self.any(t)}")
            self.line(f"mbar_arrive {bar}")
            if self.r.random() < 0.5:
                self.expression()
            self.line(f"mbar_wait {bar}, {self.constant('i32', phase)}")
            self.read_all(self.place(base, t, self.other(), 1), t, 1)
            self.line("bar_sync")
        self.by_first(f"mbar_inval {bar}")
        self.line("bar_sync")

    def bulk(self) -> None:
        """A copy of the first thread."""
        t, array = self.r.choice(INPUTS)
        n = 16 // BYTES[t] * self.r.choice([1, 2, self.threads // 32])
        n = min(n, IN, self.threads)
        base, bar = self.array(t, 1), self.array("i64", 1)
        many = self.constant("i32", n * BYTES[t])
        first = 16 // BYTES[t] * self.r.randrange(0, (IN - n) * BYTES[t] // 16 + 1)
        p = self.pointer(array, self.constant("i32", first), f"ptr<{t}>")
        self.by_first(f"mbar_init count=1 {bar}", "fence mbar_init", f"mbar_expect {bar}, {many}",
                      f"bulk_load {base}, {bar}, {p}, {many}")  # fmt: skip
        self.line("bar_sync")
        self.line(f"mbar_wait {bar}, {self.constant('i32', 0)}")
        at = self.emit(f"remi unsigned {self.t}, {self.constant('i32', n)}", "i32")
        self.read_all(self.place(base, t, at, 1), t, 1)
        self.line("bar_sync")
        self.by_first(f"mbar_inval {bar}")
        self.line("bar_sync")

    def matrices(self) -> None:
        """Each thread fills a row; the warp loads matrices of them, and perhaps stores them elsewhere."""
        n, base = self.r.choice([1, 2, 4]), self.array("i32", ROW // 4)
        mine = self.place(base, "i32", self.t, ROW // 4)
        self.line(f"st n=4 {mine}, {', '.join(self.any('i32') for _ in range(4))}")
        self.line("warp_sync" if self.r.random() < 0.5 else "bar_sync")
        names = self.results(["i32"] * n)
        trans = " trans" if self.r.random() < 0.5 else ""
        self.line(f"{', '.join(names)} = ldmatrix n={n}{trans} {mine} : {', '.join(['i32'] * n)}")
        for name in names:
            self.known("i32", name)
        self.line("bar_sync")
        if self.r.random() < 0.5:
            trans = " trans" if self.r.random() < 0.5 else ""
            self.line(f"st n=4 {mine}, {', '.join([self.constant('i32', 0)] * 4)}")
            self.line("bar_sync")
            self.line(f"stmatrix n={n}{trans} {mine}, {', '.join(self.any('i32') for _ in range(n))}")
            self.line("bar_sync")
            self.read_all(self.place(base, "i32", self.other(), ROW // 4), "i32", 4)
            self.line("bar_sync")

    def product(self) -> None:
        """Of bytes: its sums are exact, and the same wherever it is made."""
        names, row = self.results(["i32"] * 4), self.r.choice([("m16n8k32_s8", 6), ("m16n8k16_s8", 3)])
        opnds = ", ".join(self.any("i32") for _ in range(row[1] + 4))
        self.line(f"{', '.join(names)} = mma_sync {row[0]} {opnds} : i32, i32, i32, i32")
        for name in names:
            self.known("i32", name)


def generate(seed: int) -> Hardware:
    return Hardware(seed)
