# SPDX-License-Identifier: Apache-2.0
"""Question: how fast are the samples and benchmarks of a checkout of cuTile Python, unchanged, on us and on the peer?

--suite names the checkout; with --peer the installed ``cuda.tile`` takes part in the same process. Samples
(DIR/samples) are called at sizes that fill a GPU and compared with torch in float64 or float32; benchmarks
(DIR/test/bench_*.py) run with their own arguments, tuned tile sizes and checks, a CUDA graph each where they ask for
one. When --seconds are over, the rest is named as not run: cases of all files take turns.
"""

from __future__ import annotations

import functools
import itertools
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

from . import suite as checkout
from .common import Run, Table
from .contest import Begun, Contest, Deadline, Timer, measure, named
from .gemm_gpu import Many
from .warm import ahead

TORCH = "torch"
LIMIT = 0.3  # seconds of rounds for a case
OUTSIDE = {
    "AllGatherMatmul.py": "needs several GPUs", "BlockScaledMatMul.py": "needs sm_100",
    "FFT.py": "its wrapper makes twiddles at each call: see the benchmark fft",
}  # fmt: skip


class _Sample:
    """One call of a sample: arrays, the call on a module, the same by torch, and how much it is."""

    def __init__(
        self, name: str, file: str, call: Callable[[Any], Any], by_torch: Run | None,
        wanted: Callable[[], Any], amount: float, unit: str, tolerance: float,
    ) -> None:  # fmt: skip
        self.name, self.file, self.call, self.by_torch = name, file, call, by_torch
        self.wanted, self.amount, self.unit, self.tolerance = wanted, amount, unit, tolerance


def _attention(torch: Any, small: bool) -> Iterator[_Sample]:
    from torch.nn.functional import scaled_dot_product_attention

    batch, heads, length = (1, 2, 256) if small else (4, 16, 4096)
    tiles = [(128, 128), (64, 64), (128, 64), (256, 128), (256, 64)]
    for (tm, tn), d, causal in itertools.product(tiles, (128, 64), (False, True)):
        q, k, v = (
            torch.randn(batch, heads, length, d, dtype=torch.float16, device="cuda")
            for _ in range(3)
        )

        def by_torch(q: Any = q, k: Any = k, v: Any = v, causal: bool = causal) -> Any:
            return scaled_dot_product_attention(q, k, v, is_causal=causal)

        def call(
            m: Any, q: Any = q, k: Any = k, v: Any = v, tm: int = tm, tn: int = tn, causal: bool = causal
        ) -> Any:
            return m.cutile_fmha(q, k, v, tile_m=tm, tile_n=tn, causal=causal)

        flops = 4.0 * batch * heads * length**2 * d / (2 if causal else 1)
        name = f"AttentionFMHA {batch} x {heads} x {length} x {d}{', causal' if causal else ''}, tile {tm} x {tn}"
        yield _Sample(
            name, "AttentionFMHA.py", call, by_torch, by_torch, flops * 1e-12, "TFLOP/s", 2e-2
        )


def _products(torch: Any, small: bool) -> Iterator[_Sample]:
    for n, persistent in itertools.product((256,) if small else (4096, 8192), (False, True)):
        a, b = (torch.randn(n, n, device="cuda").to(torch.bfloat16) for _ in range(2))
        yield _Sample(
            f"MatMul bfloat16 {n}{', persistent' if persistent else ''}", "MatMul.py",
            lambda m, a=a, b=b, p=persistent: m.cutile_matmul(a, b, persistent=p),
            lambda a=a, b=b: a @ b, lambda a=a, b=b: a.float() @ b.float(),
            2e-12 * n**3, "TFLOP/s", 4e-2,
        )  # fmt: skip
    for count, n in ((2, 256),) if small else ((16, 1024), (64, 512)):
        a, b = (torch.randn(count, n, n, device="cuda").to(torch.float16) for _ in range(2))
        yield _Sample(
            f"BatchMatMul float16 {count} x {n}", "BatchMatMul.py",
            lambda m, a=a, b=b: m.bmm(a, b, a.dtype), lambda a=a, b=b: a @ b,
            lambda a=a, b=b: a.float() @ b.float(), 2e-12 * count * n**3, "TFLOP/s", 4e-2,
        )  # fmt: skip


def _memory(torch: Any, small: bool) -> Iterator[_Sample]:
    rows, cols = (64, 2048) if small else (16384, 8192)
    for dtype in (torch.float32, torch.bfloat16):
        kind = str(dtype).removeprefix("torch.")
        x = torch.randn(rows, cols, device="cuda").to(dtype)
        w, b = (torch.randn(cols, device="cuda").to(dtype) for _ in range(2))

        def norm(x: Any = x, w: Any = w, b: Any = b) -> Any:
            return torch.nn.functional.layer_norm(x, w.shape, w, b, 1e-5)

        yield _Sample(
            f"LayerNorm {kind} {rows} x {cols}", "LayerNorm.py",
            lambda m, x=x, w=w, b=b: m.cutile_layer_norm(x, w, b, 1e-5), norm,
            lambda x=x, w=w, b=b: torch.nn.functional.layer_norm(
                x.float(), w.shape, w.float(), b.float(), 1e-5
            ),
            2e-9 * x.numel() * x.element_size(), "GB/s", 2e-2,
        )  # fmt: skip
        side = 512 if small else 16384
        y = torch.randn(side, side, device="cuda").to(dtype)
        yield _Sample(
            f"Transpose {kind} {side} x {side}", "Transpose.py",
            lambda m, y=y: m.cutile_transpose(y), lambda y=y: y.t().contiguous(), y.t,
            2e-9 * y.numel() * y.element_size(), "GB/s", 0.0,
        )  # fmt: skip
    n = 1 << (16 if small else 28)
    a, b = (torch.randn(n, device="cuda") for _ in range(2))
    for gather in (False, True):
        yield _Sample(
            f"VectorAddition float32 {n}{', gather' if gather else ''}", "VectorAddition.py",
            lambda m, a=a, b=b, g=gather: m.vec_add(a, b, use_gather=g),
            lambda a=a, b=b: a + b, lambda a=a, b=b: a + b, 12e-9 * n, "GB/s", 0.0,
        )  # fmt: skip


def _moe(torch: Any, small: bool) -> Iterator[_Sample]:
    tokens, hidden, experts, inner, top = (16, 64, 8, 64, 2) if small else (48, 512, 64, 1024, 8)

    def draw(*shape: int, scale: float) -> Any:
        return (torch.randn(*shape, device="cuda") * scale).to(torch.bfloat16)

    x, w1 = draw(tokens, hidden, scale=0.5), draw(experts, inner * 2, hidden, scale=0.1)
    w2 = draw(experts, hidden, inner, scale=0.1)
    ids = torch.stack([torch.randperm(experts, device="cuda")[:top] for _ in range(tokens)])
    weights = torch.softmax(torch.randn(tokens, top, device="cuda"), -1).to(torch.bfloat16)
    given = x, w1, w2, weights, ids
    modules: list[Any] = []

    def call(m: Any) -> Any:
        modules[:] = [m]
        return m.cutile_moe(*given, tile_m=128, tile_n=128, tile_k=64)

    yield _Sample(
        f"MoE bfloat16, {tokens} tokens, {experts} experts, with its host code", "MoE.py", call,
        lambda: modules[0].torch_moe(*given), lambda: modules[0].torch_moe(*given),
        1e-6 * tokens, "tokens/us", 1e-1,
    )  # fmt: skip


def _error(found: Any, wanted: Any) -> float:
    """The greatest difference, relative to 1 and to the wanted number; products of long rows to their size."""
    found, wanted = found.float(), wanted.float()
    size = max(1.0, float(wanted.square().mean().sqrt()))
    return float(((found - wanted).abs() / (size + wanted.abs())).max())


class _Files:
    """Modules by file and implementation; those that do not load are kept as what they raised."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.loaded: dict[tuple[str, pathlib.Path], Any] = {}

    def of(self, who: str, path: pathlib.Path) -> Any:
        if (who, path) not in self.loaded:
            try:
                self.loaded[who, path] = checkout.load(who, path)
            except Exception as failure:
                self.loaded[who, path] = failure
        found = self.loaded[who, path]
        if isinstance(found, Exception):
            raise found
        return found


def _sample_table(sample: _Sample, folder: pathlib.Path, files: _Files, device: str, rounds: int) -> Table:
    kept: dict[str, Any] = {}

    def run(who: str) -> None:
        kept[who] = None
        kept[who] = sample.call(files.of(who, folder / sample.file))

    runs: dict[str, Run] = {who: (lambda who=who: run(who)) for who in files.names}
    by_torch = sample.by_torch
    if by_torch:
        runs[TORCH] = lambda: kept.__setitem__(TORCH, by_torch())
    wanted: list[Any] = []

    def error(who: str) -> float:
        if not wanted:
            wanted.append(sample.wanted())
        return _error(kept[who], wanted[0])

    yardstick = checkout.PEER if checkout.PEER in files.names else TORCH
    contest = Contest(
        f"sample {sample.name}", sample.unit, sample.amount, yardstick, runs, error, sample.tolerance
    )
    return measure(contest, device, rounds, LIMIT)


def _graph(device: str, call: Run) -> Run:
    """The call as a graph of the GPU, where it can be one."""
    if device != "cuda":
        return call
    import torch

    for _ in range(3):  # until memory and kernels are as they stay
        call()
    here = torch.cuda.current_stream()
    stream = torch.cuda.Stream() if here == torch.cuda.default_stream() else here
    stream.wait_stream(here)
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.stream(stream), torch.cuda.graph(graph, stream=stream):
            call()
    except Exception as failure:  # a call that waits, for instance
        torch.cuda.synchronize()
        print(f"  no graph: {named(failure)}", flush=True)
        return call

    def replay(_arrays: Run = call) -> None:  # a graph does not keep the arrays that its call had
        graph.replay()

    return replay


def _case_table(
    case: checkout.Case, path: pathlib.Path, files: _Files, device: str, rounds: int
) -> Table:
    """A benchmark with its own arguments. Everyone draws arrays of their own, as it does under pytest."""
    runs: dict[str, Run] = {}
    failures, info = [], {"bytes_rw": 0.0, "flop_count": 0.0}
    for who in (*files.names, TORCH):
        try:
            module = files.of(files.names[0] if who == TORCH else who, path)
            backend = TORCH if who == TORCH else "cutile"
            ready = checkout.prepare(module, case, backend, functools.partial(_graph, device))
        except Exception as failure:
            failures.append(f"{who} did not run: {named(failure)}")
            continue
        assert ready.call
        runs[who] = ready.call
        info.update(ready.extra_info)
    flops, moved = info["flop_count"], info["bytes_rw"]
    of_memory = not flops or flops < 50 * moved  # operations a byte, below which memory is the bound
    amount, unit = (moved * 1e-9, "GB/s") if of_memory else (flops * 1e-12, "TFLOP/s")
    if not amount:
        amount, unit = 1.0, "runs/s"
    yardstick = checkout.PEER if checkout.PEER in runs else TORCH
    note = "; ".join(failures)
    contest = Contest(f"benchmark {case.name()}", unit, amount, yardstick, runs, None, note=note)
    return measure(contest, device, rounds, LIMIT)


def _benchmarks(folder: pathlib.Path, files: _Files) -> Iterator[tuple[pathlib.Path, Any]]:
    """The cases of all files in turns; a file that does not load gives what it raised."""
    lists = []
    for path in sorted(folder.glob("bench_*.py")):
        try:
            lists.append([(path, c) for c in checkout.cases(files.of(files.names[0], path))])
        except Exception as failure:
            lists.append([(path, failure)])
    for row in itertools.zip_longest(*lists):
        yield from (entry for entry in row if entry)


def _best(tables: list[Table]) -> Iterator[Table]:
    """One line for each sample that was tried with several tiles: everyone's best."""
    groups: dict[str, list[Table]] = {}
    for table in tables:
        name, _, tile = table.question.partition(", tile ")
        if tile and table.figures:
            groups.setdefault(name, []).append(table)
    for name, members in groups.items():
        first = members[0]
        best = Table(f"{name}, best tile of each", first.unit, first.amount, first.yardstick)
        for who in dict.fromkeys(f.peer for t in members for f in t.figures):
            figures = [f for t in members if (f := t.of(who))]
            best.figures.append(min(figures, key=lambda f: f.median))
        yield best


def _all_samples(torch: Any, small: bool) -> Iterator[_Sample]:
    for make in (_products, _memory, _moe, _attention):
        yield from make(torch, small)


_files: list[_Files] = []  # of a process that compiles ahead


def _compile(suite: pathlib.Path, names: list[str], device: str, small: bool, place: int) -> None:
    """One sample or benchmark, by everyone: its code is in their caches."""
    import torch

    if not _files:
        _files.append(_Files(names))
    files, timer = _files[0], Timer(device)
    entry: Any = next(itertools.islice(_everything(torch, suite, files, small), place, None))
    for who in names:
        if isinstance(entry, _Sample):
            entry.call(files.of(who, suite / "samples" / entry.file))
        elif not isinstance(entry[1], Exception) and not entry[1].skipped:
            checkout.prepare(files.of(who, entry[0]), entry[1], "cutile")
        timer.wait()
    if device == "cuda":
        torch.cuda.empty_cache()


def _everything(torch: Any, suite: pathlib.Path, files: _Files, small: bool) -> Iterator[Any]:
    """All samples, then all benchmarks but those that only differ in how much they move."""
    yield from _all_samples(torch, small)
    for path, case in _benchmarks(suite / "test", files):
        if path.name != "bench_vec_add.py":
            yield path, case


def _compile_ahead(suite: pathlib.Path, files: _Files, device: str, small: bool, seconds: float | None) -> str:
    import torch

    # counted without arrays: the samples' number does not depend on their size
    count = sum(1 for _ in _everything(torch, suite, files, small=True))
    work = functools.partial(_compile, suite, files.names, device, small)
    return ahead(work, count, None if seconds is None else 0.25 * seconds)


def tables(
    device: str, rounds: int, small: bool, *, suite: pathlib.Path | None, peer: bool,
    seconds: float | None, state: pathlib.Path | None,
) -> Iterator[Table]:  # fmt: skip
    if suite is None or not (suite / "samples").is_dir():
        raise SystemExit(f"bench samples: --suite must name a checkout of cuTile Python, not {suite}")
    if peer and not checkout.installed():
        raise SystemExit("bench samples: --peer wants the package cuda.tile, which is not installed")
    import torch

    deadline, begun = Deadline(seconds), Begun(state)
    files = _Files([checkout.OURS, checkout.PEER] if peer else [checkout.OURS])
    yardstick = checkout.PEER if peer else TORCH
    all_of_them = Many("samples and benchmarks, all", "", 1.0, yardstick, what="case")
    if device == "cuda" and begun.first("compile"):
        print("samples: compiling ahead ...", flush=True)
        print(f"  {_compile_ahead(suite, files, device, small, seconds)}", flush=True)
    left: list[str] = []
    with_tiles: list[Table] = []
    for sample in _all_samples(torch, small):
        if deadline.left() < (0 if seconds is None else 0.4 * seconds):  # the benchmarks' share
            left.append(sample.name)
        elif begun.first(sample.name):
            print(f"{sample.name} ...", flush=True)
            table = _sample_table(sample, suite / "samples", files, device, rounds)
            with_tiles.append(table)
            yield table
    for table in _best(with_tiles):
        with_tiles.append(table)
        yield table
    for table in with_tiles:
        if ", tile " not in table.question:
            all_of_them.add(table.question, table)
    for path, case in _benchmarks(suite / "test", files):
        if isinstance(case, Exception):
            left.append(f"{path.name}: {named(case)}")
        elif case.skipped:
            left.append(f"{case.name()}: {case.skipped}")
        elif deadline.over():
            left.append(case.name())
        elif begun.first(case.name()):
            print(f"{path.name} {case.name()} ...", flush=True)
            table = _case_table(case, path, files, device, rounds)
            all_of_them.add(table.question, table)
            yield table
            if device == "cuda":
                torch.cuda.empty_cache()
    left += [f"{name}: {why}" for name, why in OUTSIDE.items()]
    all_of_them.note += f"{'. ' if all_of_them.note else ''}Not run: " + "; ".join(left)
    yield all_of_them
