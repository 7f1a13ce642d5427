# SPDX-License-Identifier: Apache-2.0
"""Question: how fast are kernels of threads beside numba-cuda, which reads the same text (threads_text.py), and
beside CUDA C of the same algorithms through NVRTC (threads.cu)? And what does a launch of them cost the host?

Each kernel gets fresh random data; results are checked against float64, or exactly. How they are timed: contest.py.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import tessera
from tessera import cuda as ours

from .common import Figure, Run, Table
from .contest import Contest, Deadline, measure, named
from .launch import batch, driver

OURS, NUMBA, C = "tessera", "numba-cuda", "CUDA C"
RNG = np.random.default_rng(int.from_bytes(os.urandom(8), "little"))
HERE = pathlib.Path(__file__).parent


class Step(NamedTuple):
    """One launch: arrays by name and numbers; ``extents`` is what C takes beside them."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[Any, ...]
    extents: tuple[int, ...] = ()


class Case(NamedTuple):
    """Some launches that give ``wanted``, of the arrays of that name: all of it or what a slice takes. ``start`` are
    the arrays that are written, as they are before; ``share`` of the results may be beyond ``tolerance``, where a
    rounding decides how far a loop goes. ``amount`` in ``unit`` is done."""

    name: str
    unit: str
    amount: float
    steps: tuple[Step, ...]
    inputs: dict[str, np.ndarray]
    start: dict[str, np.ndarray]
    wanted: dict[str, np.ndarray]
    tolerance: float
    part: Any = slice(None)
    share: float = 0.0


def _uniform(*shape: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    return RNG.uniform(low, high, shape).astype(np.float32)


def _blocks(n: int, block: int) -> int:
    return -(-n // block)


# ---- the kernels ---------------------------------------------------------------------------------------------------


def _stream_cases(small: bool) -> Iterator[Case]:
    n = 1 << 12 if small else 1 << 26
    x, y, a = _uniform(n), _uniform(n), np.float32(0.75)
    zeros = np.zeros(n, np.float32)
    step = Step("vector_add", (_blocks(n, 256),), (256,), ("x", "y", "out"), (n,))
    yield Case("vector add", "GB/s", 12e-9 * n, (step,), {"x": x, "y": y}, {"out": zeros},
               {"out": x.astype(np.float64) + y}, 1e-6)  # fmt: skip
    step = Step("saxpy", (min(_blocks(n, 256), 1056),), (256,), (a, "x", "y"), (n,))
    yield Case("saxpy", "GB/s", 12e-9 * n, (step,), {"x": x}, {"y": y}, {"y": a * x.astype(np.float64) + y}, 1e-6)
    one, two = (RNG.integers(0, 256, n, np.uint8) for _ in range(2))
    step = Step("narrow_add", (_blocks(n, 256),), (256,), ("x", "y", "out"), (n,))
    yield Case("vector add uint8", "GB/s", 3e-9 * n, (step,), {"x": one, "y": two}, {"out": np.zeros(n, np.uint8)},
               {"out": one + two}, 0)  # fmt: skip
    rows, columns = (96, 160) if small else (8192, 8000)
    x = _uniform(rows, columns)
    step = Step("transpose", (_blocks(columns, 32), _blocks(rows, 32)), (32, 8), ("x", "out"), (rows, columns))
    yield Case("transpose", "GB/s", 8e-9 * x.size, (step,), {"x": x}, {"out": np.zeros((columns, rows), np.float32)},
               {"out": x.T}, 0)  # fmt: skip


def _product_cases(small: bool) -> Iterator[Case]:
    m, n, k = (64, 96, 80) if small else (2048, 2048, 2048)
    a, b = _uniform(m, k, low=-1), _uniform(k, n, low=-1)
    step = Step("matmul", (_blocks(n, 32), _blocks(m, 32)), (32, 32), ("a", "b", "c"), (m, n, k))
    yield Case("matmul, shared memory", "TFLOP/s", 2e-12 * m * n * k, (step,), {"a": a, "b": b},
               {"c": np.zeros((m, n), np.float32)}, {"c": a.astype(np.float64) @ b}, 1e-4)  # fmt: skip
    left, right = a.astype(np.float16), b[:, : n // 32 * 32].astype(np.float16)
    left, right = left[:, : k // 32 * 32], right[: k // 32 * 32]
    step = Step("tensor_matmul", (right.shape[1] // 32, m // 64), (128,), ("a", "b", "c"), (m, *right.shape[::-1]))
    yield Case("matmul float16, tensor cores", "TFLOP/s", 2e-12 * m * right.size, (step,),
               {"a": np.ascontiguousarray(left), "b": np.ascontiguousarray(right)},
               {"c": np.zeros((m, right.shape[1]), np.float32)},
               {"c": left.astype(np.float64) @ right.astype(np.float64)}, 1e-4)  # fmt: skip
    rows = 512 if small else 1 << 19
    counts = RNG.integers(16, 96, rows)
    starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    size = int(starts[-1])
    columns, values, x = RNG.integers(0, rows, size, np.int32), _uniform(size), _uniform(rows)
    sums = np.add.reduceat(values.astype(np.float64) * x[columns], starts[:-1])
    step = Step("spmv", (_blocks(rows, 8),), (256,), ("starts", "columns", "values", "x", "out"), (rows,))
    yield Case("SpMV", "GB/s", 8e-9 * size, (step,), {"starts": starts, "columns": columns, "values": values, "x": x},
               {"out": np.zeros(rows, np.float32)}, {"out": sums}, 1e-5)  # fmt: skip


def _sum_cases(small: bool) -> Iterator[Case]:
    n = 5000 if small else 1 << 26
    x, zero = _uniform(n, low=-1), np.zeros(1, np.float32)
    total = np.array([x.sum(dtype=np.float64)])
    for name, kernel in (("block reduction", "block_sum"), ("warp reduction", "warp_sum")):
        step = Step(kernel, (min(_blocks(n, 256), 1056),), (256,), ("x", "out"), (n,))
        yield Case(name, "GB/s", 4e-9 * n, (step,), {"x": x}, {"out": zero}, {"out": total}, 1e-3)
    n = 5000 if small else 1 << 24
    x = _uniform(n)
    inner = _blocks(n, 256)
    outer = _blocks(inner, 256)
    top = _blocks(outer, 256)
    steps = (
        Step("scan_blocks", (inner,), (256,), ("x", "out", "sums"), (n,)),
        Step("scan_blocks", (outer,), (256,), ("sums", "sums2", "more"), (inner,)),
        Step("scan_blocks", (top,), (256,), ("more", "more2", "last"), (outer,)),
        Step("scan_add", (outer,), (256,), ("sums2", "more2"), (inner,)),
        Step("scan_add", (inner,), (256,), ("out", "sums2"), (n,)),
    )
    sizes = {"out": n, "sums": inner, "sums2": inner, "more": outer, "more2": outer, "last": top}
    yield Case("scan", "GB/s", 8e-9 * n, steps, {"x": x}, {k: np.zeros(s, np.float32) for k, s in sizes.items()},
               {"out": np.cumsum(x, dtype=np.float64)}, 1e-3)  # fmt: skip
    n = 5000 if small else 1 << 27
    bins = RNG.integers(0, 256, n, np.uint8)
    step = Step("histogram", (min(_blocks(n, 256), 1056),), (256,), ("x", "out"), (n,))
    yield Case("histogram uint8", "GB/s", 1e-9 * n, (step,), {"x": bins}, {"out": np.zeros(256, np.int32)},
               {"out": np.bincount(bins, minlength=256)}, 0)  # fmt: skip


def _normal_below(d: np.ndarray) -> np.ndarray:
    k = 1 / (1 + 0.2316419 * abs(d))
    series = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.39894228040143267794 * np.exp(-0.5 * d * d) * series
    return np.where(d > 0, 1 - tail, tail)


def _options(s: np.ndarray, x: np.ndarray, t: np.ndarray, rate: float, volatility: float) -> dict[str, np.ndarray]:
    s, x, t = (v.astype(np.float64) for v in (s, x, t))
    d1 = (np.log(s / x) + (rate + 0.5 * volatility**2) * t) / (volatility * np.sqrt(t))
    n1, n2 = _normal_below(d1), _normal_below(d1 - volatility * np.sqrt(t))
    discounted = x * np.exp(-rate * t)
    return {"call": s * n1 - discounted * n2, "put": discounted * (1 - n2) - s * (1 - n1)}


def _escapes(left: float, top: float, step: float, rows: np.ndarray, columns: int, most: int) -> np.ndarray:
    c = left + np.arange(columns) * step + 1j * (top + rows * step)[:, None]
    z, n = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(most):
        inside = z.real**2 + z.imag**2 <= 4
        n += inside
        z = np.where(inside, z * z + c, z)
    return n


def _arithmetic_cases(small: bool) -> Iterator[Case]:
    n = 1 << 12 if small else 1 << 24
    price, strike, years = _uniform(n, low=5, high=30), _uniform(n, low=1, high=100), _uniform(n, low=0.25, high=10)
    rate, volatility = np.float32(0.02), np.float32(0.3)
    step = Step("black_scholes", (_blocks(n, 256),), (256,),
                ("price", "strike", "years", rate, volatility, "call", "put"), (n,))  # fmt: skip
    zeros = np.zeros(n, np.float32)
    yield Case("Black-Scholes", "Goption/s", 1e-9 * n, (step,), {"price": price, "strike": strike, "years": years},
               {"call": zeros, "put": zeros}, _options(price, strike, years, float(rate), float(volatility)),
               1e-4)  # fmt: skip
    rows, columns, every = (32, 48, 1) if small else (2048, 2048, 64)
    left, top, by = np.float32(-2.0), np.float32(-1.25), np.float32(2.5 / rows)
    step = Step("mandelbrot", (_blocks(columns, 32), _blocks(rows, 8)), (32, 8), (left, top, by, "out"),
                (rows, columns))  # fmt: skip
    counts = _escapes(float(left), float(top), float(by), np.arange(0, rows, every), columns, 256)
    yield Case("mandelbrot", "Mpixel/s", 1e-6 * rows * columns, (step,), {},
               {"out": np.zeros((rows, columns), np.int32)}, {"out": counts}, 0, np.s_[::every], 0.02)  # fmt: skip
    n, few = (512, 512) if small else (1 << 15, 256)
    place = {name: _uniform(n, low=-1) for name in "xyz"} | {"mass": _uniform(n)}
    step = Step("bodies", (n // 256,), (256,), ("x", "y", "z", "mass", "ax", "ay", "az", np.float32(0.01)), (n,))
    yield Case("n-body", "Ginteraction/s", 1e-9 * n * n, (step,), place,
               {f"a{name}": np.zeros(n, np.float32) for name in "xyz"}, _pulls(place, few, 0.01), 1e-3,
               np.s_[:few])  # fmt: skip
    n, rounds = (1 << 10, 20) if small else (1 << 20, 500)
    seeds = RNG.integers(1, 1 << 63, n, np.uint64)
    step = Step("monte_carlo", (_blocks(n, 256),), (256,), ("seeds", "inside", np.int32(rounds)), (n,))
    few = min(n, 1 << 12)
    yield Case("Monte Carlo", "Gpoint/s", 1e-9 * n * rounds, (step,), {"seeds": seeds},
               {"inside": np.zeros(n, np.int32)}, {"inside": _hits(seeds[:few], rounds)}, 0, np.s_[:few],
               0.001)  # fmt: skip
    rows, columns, every = (32, 48, 1) if small else (2048, 2048, 64)
    step = Step("march", (_blocks(columns, 32), _blocks(rows, 8)), (32, 8), ("spheres", "out"), (rows, columns))
    yield Case("ray marching", "Mpixel/s", 1e-6 * rows * columns, (step,), {"spheres": _spheres()},
               {"out": np.zeros((rows, columns), np.float32)},
               {"out": _march(_spheres(), rows, columns, np.arange(0, rows, every))}, 1e-2, np.s_[::every],
               0.02)  # fmt: skip


def _pulls(place: dict[str, np.ndarray], few: int, softening: float) -> dict[str, np.ndarray]:
    x, y, z, mass = (v.astype(np.float64) for v in place.values())
    d = [v - v[:few, None] for v in (x, y, z)]
    pull = mass * (d[0] ** 2 + d[1] ** 2 + d[2] ** 2 + softening) ** -1.5
    return {f"a{name}": (part * pull).sum(1) for name, part in zip("xyz", d)}


def _hits(state: np.ndarray, rounds: int) -> np.ndarray:
    count = np.zeros(state.size, np.int32)
    for _ in range(rounds):
        state = state ^ (state << np.uint64(13))
        state = state ^ (state >> np.uint64(7))
        state = state ^ (state << np.uint64(17))
        x, y = (state >> np.uint64(40)) * 2.0**-24, (state & np.uint64(0xFFFFFF)) * 2.0**-24
        count += x * x + y * y < 1
    return count


def _spheres() -> np.ndarray:
    return np.array([[0, 0, 3, 1], [1.5, 0.5, 4, 0.8], [-1.5, 0.25, 3.5, 0.6], [0, -101, 3, 100]], np.float32)


def _march(spheres: np.ndarray, rows: int, columns: int, some: np.ndarray) -> np.ndarray:
    x, y = (np.arange(columns) + 0.5) / columns * 2 - 1, 1 - (some[:, None] + 0.5) / rows * 2
    ray = np.stack(np.broadcast_arrays(x, y, 1.0), -1)
    ray /= np.linalg.norm(ray, axis=-1, keepdims=True)
    far = np.zeros(ray.shape[:2])
    goes = np.ones(far.shape, bool)
    for _ in range(64):
        at = ray * far[..., None]
        near = (np.linalg.norm(at[..., None, :] - spheres[:, :3], axis=-1) - spheres[:, 3]).min(-1)
        far += np.where(goes, near, 0)
        goes &= (near >= 1e-3) & (far <= 20)
    return far


def _neighbour_cases(small: bool) -> Iterator[Case]:
    rows, columns = (40, 70) if small else (8192, 8192)
    x = _uniform(rows, columns)
    wide, zeros = x.astype(np.float64), np.zeros_like(x)
    inner = np.zeros_like(wide)
    inner[1:-1, 1:-1] = 0.25 * (wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:])
    step = Step("jacobi", (_blocks(columns, 32), _blocks(rows, 8)), (32, 8), ("x", "out"), (rows, columns))
    yield Case("Jacobi, 5 points", "GB/s", 8e-9 * x.size, (step,), {"x": x}, {"out": zeros}, {"out": inner}, 1e-6)
    shape = (12, 20, 40) if small else (400, 400, 400)
    x, rate = _uniform(*shape), np.float32(0.1)
    wide, zeros = x.astype(np.float64), np.zeros_like(x)
    inner, m = np.zeros_like(wide), np.s_[1:-1]
    around = wide[:-2, m, m] + wide[2:, m, m] + wide[m, :-2, m] + wide[m, 2:, m] + wide[m, m, :-2] + wide[m, m, 2:]
    inner[m, m, m] = wide[m, m, m] + float(rate) * (around - 6 * wide[m, m, m])
    step = Step("heat", (_blocks(shape[2], 32), _blocks(shape[1], 8), shape[0]), (32, 8), ("x", "out", rate), shape)
    yield Case("heat, 7 points", "GB/s", 8e-9 * x.size, (step,), {"x": x}, {"out": zeros}, {"out": inner}, 1e-6)
    n = 1 << (12 if small else 24)
    x = _uniform(n)
    step = Step("bitonic", (n // 1024,), (512,), ("x", "out"))
    yield Case("bitonic sort of 1024", "Gkey/s", 1e-9 * n, (step,), {"x": x}, {"out": np.zeros_like(x)},
               {"out": np.sort(x.reshape(-1, 1024)).reshape(-1)}, 0)  # fmt: skip
    n = 300 if small else 1 << 18
    one, two = (RNG.integers(97, 101, (32, n), np.uint8) for _ in range(2))
    few = min(n, 4096)
    step = Step("levenshtein", (_blocks(n, 128),), (128,), ("one", "two", "out"), (n,))
    yield Case("Levenshtein", "Gcell/s", 1024e-9 * n, (step,), {"one": one, "two": two}, {"out": np.zeros(n, np.int32)},
               {"out": _edits(one[:, :few], two[:, :few])}, 0, np.s_[:few])  # fmt: skip


def _edits(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    n = one.shape[1]
    row = np.repeat(np.arange(33)[:, None], n, axis=1)
    for r, letter in enumerate(one):
        before = row.copy()
        row[0] = r + 1
        for k in range(32):
            least = np.minimum(np.minimum(before[k], before[k + 1]), row[k]) + 1
            row[k + 1] = np.where(letter == two[k], before[k], least)
    return row[32]


def cases(small: bool) -> Iterator[Case]:
    """All of them, with fresh data."""
    for some in (_stream_cases, _product_cases, _sum_cases, _arithmetic_cases, _neighbour_cases):
        yield from some(small)


# ---- who runs them -------------------------------------------------------------------------------------------------


@functools.cache
def kernels(cuda: Any) -> Any:
    """The module of kernels, read with this ``cuda``."""
    spec = importlib.util.spec_from_file_location(f"threads_{cuda.__name__}", HERE / "threads_text.py")
    assert spec and spec.loader
    module: Any = importlib.util.module_from_spec(spec)
    module.cuda = cuda
    spec.loader.exec_module(module)
    return module


def _numba() -> Any:
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # type: ignore[attr-defined]  # numba-cuda 0.30 asks for it
    from numba import cuda

    return cuda


class _C:
    """The kernels of threads.cu; ``k[grid, block](*arguments)`` as the others."""

    def __init__(self) -> None:
        from tessera import core

        device = core.Device()
        device.set_current()
        program = core.Program((HERE / "threads.cu").read_text(encoding="utf-8"), "c++", {"arch": f"sm_{device.arch}"})
        self.code = program.compile("cubin")

    def __getattr__(self, name: str) -> Any:
        return self.code.get_kernel(name)


def _c_run(code: _C, case: Case, arrays: dict[str, Any]) -> Run:
    from tessera import core

    stream, launches = core.Stream.from_handle(0), []
    for step in case.steps:
        numbers = [np.int32(n) for n in step.extents]
        given = [arrays[a].data_ptr() if isinstance(a, str) else a for a in step.arguments]
        config = core.LaunchConfig(grid=step.grid, block=step.block)
        launches.append((config, getattr(code, step.kernel), (*given, *numbers)))

    def run() -> None:
        for config, kernel, given in launches:
            core.launch(stream, config, kernel, *given)

    return run


def _python_run(module: Any, case: Case, arrays: dict[str, Any]) -> Run:
    launches = []
    for step in case.steps:
        given = tuple(arrays[a] if isinstance(a, str) else a for a in step.arguments)
        launches.append((getattr(module, step.kernel)[step.grid, step.block], given))

    def run() -> None:
        for launch, given in launches:
            launch(*given)

    return run


class _Arrays:
    """The arrays of a case on the device: ``outputs`` are written, and begin anew for each implementation."""

    def __init__(self, case: Case, device: str) -> None:
        self.case, self.gpu = case, device == "cuda"
        self.all = {name: self._copy(x) for name, x in (case.inputs | case.start).items()}

    def _copy(self, x: np.ndarray) -> Any:
        if not self.gpu:
            return x.copy()
        import torch

        return torch.from_numpy(x.view(np.int64) if x.dtype == np.uint64 else x).cuda()

    def begin(self) -> None:
        for name, x in self.case.start.items():
            self.all[name][...] = self._copy(x) if self.gpu else x

    def error(self, run: Run) -> float:
        """Of one run, with the part of results that may be wrong left out."""
        self.begin()
        run()
        worst = 0.0
        for name, wanted in self.case.wanted.items():
            found = self.all[name]
            wanted = wanted.astype(np.float64)
            found = (found.cpu().numpy() if self.gpu else found)[self.case.part]
            wrong = np.abs(found.astype(np.float64) - wanted) / (1 + np.abs(wanted))
            few = int(self.case.share * wrong.size)
            worst = max(worst, float(np.sort(np.nan_to_num(wrong, nan=np.inf).reshape(-1))[-1 - few]))
        return worst

    def of_numba(self, cuda: Any) -> dict[str, Any]:
        return self._as(cuda)

    def of_tessera(self) -> dict[str, Any]:
        return self._as(ours) if self.gpu else self.all

    def _as(self, cuda: Any) -> dict[str, Any]:
        found = {name: cuda.as_cuda_array(x) for name, x in self.all.items()}
        unsigned = [name for name, x in self.case.inputs.items() if x.dtype == np.uint64]
        return found | {name: found[name].view(np.uint64) for name in unsigned}


# ---- tables --------------------------------------------------------------------------------------------------------


class Ratios(Table):
    """All kernels: their times, and the peers' over ours."""

    def __init__(self, rows: list[tuple[str, Table]]) -> None:
        super().__init__("kernels of threads", "", 1.0, "")
        self.rows = rows
        self.figures = [Figure(f"{name}: {f.peer}", f.times, f.error) for name, table in rows for f in table.figures]

    def show(self) -> str:
        lines = [
            f"**{self.question}**", "",
            f"| kernel | {OURS} | rate | spread | {NUMBA} | {C} | {NUMBA} / {OURS} | {C} / {OURS} |",
            "|---|---|---|---|---|---|---|---|",
        ]  # fmt: skip
        for name, table in self.rows:
            own, numba, c = (table.of(p) for p in (OURS, NUMBA, C))
            if own is None:
                continue
            shown = [f"{f.median * 1e6:,.1f} us" if f else "-" for f in (own, numba, c)]
            ratios = [f"{f.median / own.median:.2f}" if f else "-" for f in (numba, c)]
            lines.append(f"| {name} | {shown[0]} | {table.rate(own):,.4g} {table.unit} | {own.spread * 100:.1f} % | "
                         f"{shown[1]} | {shown[2]} | {ratios[0]} | {ratios[1]} |")  # fmt: skip
        return "\n".join(lines) + "\n"


def _peers(device: str) -> tuple[Any, Any]:
    """numba-cuda and the kernels of threads.cu, None where they are not there."""
    if device != "cuda":
        return None, None
    found: list[Any] = []
    for get in (_numba, _C):
        try:
            found.append(get())
        except Exception as failure:
            print(f"  {get.__name__.strip('_')}: not measured: {named(failure)}")
            found.append(None)
    return found[0], found[1]


def _contest(case: Case, device: str, own: Any, numba: Any, c: Any) -> Contest:
    arrays = _Arrays(case, device)
    runs = {OURS: _python_run(own, case, arrays.of_tessera())}
    if numba:
        runs[NUMBA] = _python_run(kernels(numba), case, arrays.of_numba(numba))
    if c:
        runs[C] = _c_run(c, case, arrays.all)
    return Contest(case.name, case.unit, case.amount, C if c else OURS, runs, lambda name: arrays.error(runs[name]),
                   case.tolerance)  # fmt: skip


# ---- launches ------------------------------------------------------------------------------------------------------


def _calls(cuda: Any, few: list[Any], many: list[Any]) -> dict[str, Run]:
    """Launches of kernels that do nothing."""
    kernels_of = kernels(cuda)
    empty = {n: getattr(kernels_of, f"empty{n}") for n in (0, 3, 16)}
    ints = tuple(range(16))
    return {
        "no argument": lambda: empty[0][8, 128](),
        "3 device arrays": lambda: empty[3][8, 128](*few),
        "16 device arrays": lambda: empty[16][8, 128](*many),
        "16 ints": lambda: empty[16][8, 128](*ints),
    }


def _launches(device: str, rounds: int, small: bool, numba: Any) -> Iterator[Table]:
    """What a launch costs the host, the brackets included."""
    gpu, n = device == "cuda", 10 if small else 100
    few = [ours.to_device(np.zeros(1024, np.float32)) if gpu else np.zeros(1024, np.float32) for _ in range(3)]
    peers = {OURS: _calls(ours, few, few * 5 + few[:1])}
    if gpu:
        import torch

        tensors = [torch.zeros(1024, device="cuda") for _ in range(3)]
        peers[OURS]["3 torch tensors"] = _calls(ours, tensors, [])["3 device arrays"]
    if numba:
        lent = [numba.as_cuda_array(t) for t in tensors]
        peers[NUMBA] = _calls(numba, lent, lent * 5 + lent[:1])
        peers[NUMBA]["3 torch tensors"] = _calls(numba, tensors, [])["3 device arrays"]
    c = Figure("cuLaunchKernel from C, 4 arguments", driver() if gpu else [float("nan")], float("nan"))
    for name in peers[OURS]:
        runs = {peer: calls[name] for peer, calls in peers.items() if name in calls}
        times: dict[str, list[float]] = {peer: [] for peer in runs}
        for i in range(-2, max(rounds, 21)):
            for peer, run in runs.items():
                elapsed = batch(run, n)
                tessera.synchronize()
                if i >= 0:
                    times[peer].append(elapsed)
        figures = [Figure(peer, t, float("nan")) for peer, t in times.items()] + ([c] if gpu else [])
        yield Table(f"host time of a launch of threads: {name}", "launches/s", 1.0, NUMBA, figures)


def tables(device: str, rounds: int, small: bool, seconds: float | None = None) -> Iterator[Table]:
    """A table for each kernel, one of all, one of launches."""
    deadline = Deadline(seconds)
    own = kernels(ours)
    numba, c = _peers(device)
    rows = []
    for i, case in enumerate(cases(small)):
        if deadline.over():
            print(f"  {case.name}: no time left")
            continue
        share = 0.0 if small else min(2.0, deadline.left() / (2 * max(1, 23 - i)))
        table = measure(_contest(case, device, own, numba, c), device, rounds, share)
        rows.append((case.name, table))
        yield table
    yield from _launches(device, rounds, small, numba)
    yield Ratios(rows)
