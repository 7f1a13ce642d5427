# SPDX-License-Identifier: Apache-2.0
"""Program order in a tile block on the GPU, without one: random programs of loads, gathers, stores,
scatters and atomics on one or two arrays, compiled and run thread by thread with races reported, against
what they mean.
"""

import io
import itertools
import linecache
import random

import numpy as np
import pytest
from lower import Const, run

import tessera.tile as ct


class Program:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.size = self.random.choice([64, 128, 256, 1024])
        self.arrays = self.random.choice([["a"], ["a"], ["a", "b"]])
        self.lines: list[str] = []
        self.values: list[tuple[str, int]] = []
        self.count, self.depth = 0, 1
        self.load()
        for _ in range(self.random.choice([2, 4, 6, 9])):
            if self.random.random() < 0.15:
                self.loop()
            else:
                self.step()
        self.line(f"ct.store(o, 0, {self.values[-1][0]})")

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def add(self, source: str, n: int) -> None:
        self.count += 1
        self.line(f"v{self.count} = {source}")
        self.values.append((f"v{self.count}", n))

    def length(self, most: int) -> int:
        return 2 ** self.random.randrange(most.bit_length())

    def index(self) -> str:
        return self.random.choice(["0", "1", "i", "i + 1"] if self.depth > 1 else ["0", "1", "2"])

    def places(self, n: int) -> str:
        """All of n places in another order, perhaps moved."""
        shift = self.random.choice([0, 0, 1, 7])
        if self.random.random() < 0.5:
            return f"(ct.arange({n}, dtype=ct.int32) ^ {self.random.randrange(n)}) + {shift}"
        step, first = self.random.choice([1, 3, 5, 7]), self.random.randrange(n)
        return f"(ct.arange({n}, dtype=ct.int32) * {step} + {first}) % {n} + {shift}"

    def turned(self, value: str, n: int) -> str:
        k = self.length(n)
        return f"{value}.reshape(({n // k}, {k})).permute((1, 0)).reshape({n})"

    def load(self) -> None:
        n, array = max(8, self.length(self.size)), self.random.choice(self.arrays)
        zero = "padding_mode=ct.PaddingMode.ZERO"
        tile = f"ct.load({array}, {self.index()}, {n}, {zero})"
        steps = self.random.choice([1, 3, n // 2])
        view = f"{array}.tiled_view({n}, {zero}, traversal_steps={steps}).load(({self.index()},))"
        gather = f"ct.gather({array}, {self.places(n)}, padding_value=0)"
        self.add(self.random.choice([tile, tile, view, gather, self.turned(tile, n)]), n)

    def work(self) -> None:
        value, n = self.random.choice(self.values[-3:])
        both = f"ct.cat(({value}, {value} + 1), 0)"
        kinds = [
            f"{value} * 3 + 1",
            self.turned(value, n),
            f"ct.cumsum({value}, 0)",
            f"{value} + ct.sum({value})",
        ]
        source = self.random.choice([*kinds, both] if n < 1024 else kinds)
        self.add(source, 2 * n if source == both else n)

    def store(self) -> None:
        (value, n), array = self.random.choice(self.values[-3:]), self.random.choice(self.arrays)
        steps = self.random.choice([1, 3, max(1, n // 2)])
        tile = f"ct.store({array}, {self.index()}, {value})"
        view = f"{array}.tiled_view({n}, traversal_steps={steps}).store(({self.index()},), {value})"
        scatter = f"ct.scatter({array}, {self.places(n)}, {value})"
        atomic = f"ct.atomic_add({array}, {self.places(n)}, {value})"
        self.line(self.random.choice([tile, tile, view, scatter, atomic]))

    def step(self) -> None:
        self.random.choice([self.load, self.work, self.store, self.store])()

    def loop(self) -> None:
        kept = len(self.values)
        self.line(f"for i in range({self.random.choice([2, 3])}):")
        self.depth = 2
        self.load()
        for _ in range(self.random.randrange(1, 5)):
            self.step()
        self.depth = 1
        del self.values[kept:]

    def function(self, seed: int):
        text = "\n".join(["def kernel(a, b, o):", *self.lines, ""])
        name = f"<order {seed}>"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        space = {"ct": ct}
        exec(compile(text, name, "exec"), space)  # noqa: S102
        return space["kernel"], text


@pytest.mark.parametrize("target", [80, 90])
def test_a_block_keeps_program_order(target: int) -> None:
    for seed in range(150):
        program = Program(seed)
        function, text = program.function(seed)
        start = [np.arange(1, program.size + 1, dtype=np.int32) * k % 1009 for k in (7, 11)]
        start.append(np.zeros(4096, np.int32))
        want, got = [x.copy() for x in start], [x.copy() for x in start]
        run(function, *want)
        run(function, *got, target=target, schedule=seed % 4)
        for x, y in zip(want, got, strict=True):
            assert (x == y).all(), f"seed {seed}\n{text}"


# Of trip i: runs that follow each other, in one row; such as overlap; such whose elements change threads.
RUNS = ["i * {n} + k", "(7 + i * {n}) + k", "x.shape[0] * 3 + (k + i * {n})", "{n} * (2 - i) + k", "(i + 1) * {n} + k"]
OTHERS = ["i + k", "i * {h} + k", "i * {n} + ({n} - 1 - k)", "i * {n} + (k ^ 1)", "2 * k + i * {n}", "i * {n} + i + k"]


def scatters(first: str, second: str, n: int, values=("ct.gather(x, k) + i", "ct.gather(x, k) * 2 - i")):
    places = [p.format(n=n, h=n // 2) for p in (first, second)]
    text = f"""def kernel(x, y):
    k = ct.arange({n}, dtype=ct.int32)
    for i in range(3):
        ct.scatter(y, {places[0]}, {values[0]})
        ct.scatter(y, {places[1]}, {values[1]})
"""
    name = f"<scatters {first} {second} {n} {values}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"ct": ct}
    exec(compile(text, name, "exec"), space)  # noqa: S102
    return space["kernel"]


@pytest.mark.parametrize("n", [64, 512])
def test_scatters_over_scatters_keep_their_order(n: int) -> None:
    """Threads that run on their own write a place in the order of the program, or a race is told."""
    for first, second in itertools.product([*RUNS, *OTHERS], repeat=2):
        function = scatters(first, second, n)
        x, want, got = np.arange(n, dtype=np.int32), *np.zeros((2, 8 * n), np.int32)
        run(function, x, want)
        run(function, x, got, target=90, schedule=n % 3)
        assert (want == got).all(), (first, second)


def barriers(*given) -> int:
    kernel = ct.kernel(scatters(*given))
    x, y = np.zeros(512, np.int32), np.zeros(4096, np.int32)
    convention = ct.compilation.CallingConvention.cutile_python_v2()
    signature = ct.compilation.KernelSignature.from_kernel_args(kernel, (x, y), convention)
    file = io.BytesIO()
    ct.compilation.export_kernel(kernel, [signature], file, gpu_code="sm_90", output_format="ptx")
    return file.getvalue().count(b"bar.sync") + file.getvalue().count(b"barrier.sync")


def test_scatters_of_runs_need_no_barriers():
    assert [barriers(RUNS[i], RUNS[j], 512) for i, j in ((0, 0), (0, 3), (1, 1))] == [0, 0, 0]
    assert barriers(RUNS[0], RUNS[1], 512) > 0  # their remainders differ
    assert all(barriers(places, places, 512) for places in OTHERS)


def test_scatters_of_one_value_need_no_barriers():
    one, two, element = ("ct.full((512,), {}, dtype=ct.int32)".format(v) for v in (1, 2, "i"))
    found = [barriers(OTHERS[1], OTHERS[5], 512, values) for values in ((one, one), (one, two), (element, element))]
    assert found[0] == 0 and all(found[1:])


def promised(x, y, z):
    i = ct.bid(0)
    steps = x.tiled_view((4,), traversal_steps=(2,))
    y.tiled_view((4,)).store(i, steps.load(i, check_bounds=False), check_bounds=False)
    z.tiled_view((2, 2)).store((i, 0), ct.ones((2, 2), ct.int32), check_bounds=False)


@pytest.mark.parametrize("target", [0, 80, 90])
def test_views_that_promise_their_bounds_reach_their_tiles(target):
    x, y, z = np.arange(8, dtype=np.int32), np.zeros(12, np.int32), np.zeros((6, 2), np.int32)
    run(promised, x, y, z, grid=(3, 1, 1), target=target)
    np.testing.assert_array_equal(y, [0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7])
    assert (z == 1).all()


def product_in_place(x, y, T: ct.Constant[int]):
    """Rows of x times y, into the first columns of x and then into the next, which the second product reads."""
    for step in range(2):
        acc = ct.zeros((T, T), dtype=ct.float32)
        for k in range(ct.cdiv(x.shape[1], T)):
            a = ct.load(x, index=(0, k), shape=(T, T))
            b = ct.load(y, index=(k, 0), shape=(T, T))
            acc = ct.mma(a, b, acc)
        ct.store(x, index=(0, step), tile=acc.astype(x.dtype))


@pytest.mark.parametrize("schedule", range(3))
@pytest.mark.parametrize("target", [80, 90])
def test_copies_ahead_of_a_product_stay_between_the_stores_around_its_loop(target, schedule):
    random = np.random.default_rng(schedule)
    x = random.integers(-2, 3, (32, 160)).astype(np.float16)
    y = random.integers(-1, 2, (160, 32)).astype(np.float16)
    wanted = x.astype(np.float64)
    for step in range(2):
        wanted[:, 32 * step : 32 * step + 32] = wanted @ y.astype(np.float64)
    run(product_in_place, x, y, Const(32), target=target, schedule=schedule, facts=True)
    assert np.array_equal(x.astype(np.float64), wanted.astype(np.float16).astype(np.float64))
