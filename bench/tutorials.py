# SPDX-License-Identifier: Apache-2.0
"""Question: how fast are the kernels of Triton's tutorials, written the same way in the tile language and in Triton?

Each kernel is tried with the same tile sizes on both sides and the best of each is timed beside the other, and beside
torch where it has the operation. Results are checked against float64, at every tile size. Triton also gets numbers of
warps and stages, which it wants to be told; the tile language chooses them itself.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import tessera.tile as ct

from . import tutorial_tile as ours
from .common import Run, Table, have
from .contest import Begun, Contest, Deadline, Timer, measure, named
from .gemm_gpu import Many
from .warm import ahead

LIMIT = 1.0  # seconds of rounds for a table
OURS, TRITON, TORCH = "tessera", "triton", "torch"


@dataclass(frozen=True)
class Choice:
    """Sizes of tiles; what Triton is told beside them."""

    tile: tuple[int, ...]
    warps: int = 4
    stages: int = 3

    def __str__(self) -> str:
        return " x ".join(map(str, self.tile))


@dataclass
class Launch:
    """One launch of a tile kernel."""

    kernel: Any
    grid: tuple[int, ...]
    arguments: tuple[Any, ...]

    def __call__(self) -> None:
        ct.launch(None, self.grid, self.kernel, self.arguments)


@dataclass
class Question:
    """One table. ``outputs`` by implementation are poisoned before a choice is checked; ``wanted`` gives the same in
    float64, of the rows or elements that ``part`` takes."""

    name: str
    unit: str
    amount: float
    choices: list[Choice]
    tile: Callable[[Choice], list[Launch]]
    triton: Callable[[Any, Choice], Run]
    torch: Run | None
    outputs: dict[str, list[Any]]
    wanted: Callable[[], list[Any]]
    tolerance: float
    part: Callable[[Any], Any] = lambda x: x
    clear: Callable[[], None] = lambda: None
    zeroed: bool = False  # outputs begin as zeros
    expected: list[Any] = field(default_factory=list)

    def error(self, who: str) -> float:
        """The greatest difference from float64, relative to 1 or the typical size and to the number itself."""
        if not self.expected:
            self.expected = self.wanted()
        worst = 0.0
        for found, wanted in zip(self.outputs[who], self.expected, strict=True):
            found = self.part(found).double()
            size = max(1.0, float(wanted.square().mean().sqrt()))
            error = float(((found - wanted).abs() / (size + wanted.abs())).max())
            worst = math.nan if math.isnan(error) else max(worst, error)
        return worst

    def poison(self, who: str) -> None:
        for x in self.outputs[who]:
            x.fill_(0 if self.zeroed else math.nan)
        self.clear()


def _all(runs: list[Launch]) -> Run:
    if len(runs) == 1:
        return runs[0]

    def run() -> None:
        for launch in runs:
            launch()

    return run


class _Maker:
    """Arrays of a device, and the questions."""

    def __init__(self, device: str, small: bool) -> None:
        import torch

        self.torch, self.device, self.small = torch, device, small
        self.units = torch.cuda.get_device_properties(0).multi_processor_count if device == "cuda" else 4

    def draw(self, *shape: int, dtype: str = "float16") -> Any:
        x = self.torch.randn(*shape, device=self.device)
        return x.to(getattr(self.torch, dtype))

    def outs(self, *like: Any, names: tuple[str, ...] = (OURS, TRITON)) -> dict[str, list[Any]]:
        return {n: [self.torch.full_like(x, math.nan) for x in like] for n in names}

    def vector_add(self) -> Iterator[Question]:
        n = (1 << 16) + 3 if self.small else 1 << 28
        x, y = self.draw(n, dtype="float32"), self.draw(n, dtype="float32")
        out = self.outs(x, names=(OURS, TRITON, TORCH))
        yield Question(
            f"vector add float32 {n}", "GB/s", 12e-9 * n,
            [Choice((1024,)), Choice((2048,), 8)],
            lambda c: [Launch(ours.vector_add, (-(-n // c.tile[0]),), (x, y, out[OURS][0], *c.tile))],
            lambda t, c: functools.partial(
                t.vector_add[(-(-n // c.tile[0]),)], x, y, out[TRITON][0], n, *c.tile, num_warps=c.warps
            ),
            lambda: self.torch.add(x, y, out=out[TORCH][0]), out,
            lambda: [x[-(1 << 20) :].double() + y[-(1 << 20) :].double()], 1e-6,
            part=lambda z: z[-(1 << 20) :],
        )  # fmt: skip

    def softmax(self) -> Iterator[Question]:
        sizes = [(64, 200)] if self.small else [(4096, 781), (4096, 8192), (16384, 4096)]
        for rows, cols in sizes:
            x = self.draw(rows, cols, dtype="float32")
            out = self.outs(x, names=(OURS, TRITON, TORCH))
            width = 1 << (cols - 1).bit_length()
            # the second number: blocks of a multiprocessor
            choices = [Choice((width, many), warps, 2) for many, warps in ((8, 4), (4, 8), (2, 16))]

            def grid(c: Choice, rows: int = rows) -> tuple[int]:
                return (min(rows, self.units * c.tile[1]),)

            yield Question(
                f"fused softmax float32 {rows} x {cols}", "GB/s", 8e-9 * x.numel(), choices,
                lambda c, x=x, o=out[OURS][0], g=grid: [Launch(ours.softmax, g(c), (x, o, c.tile[0]))],
                lambda t, c, x=x, o=out[TRITON][0], g=grid, r=rows, n=cols: functools.partial(
                    t.softmax[g(c)], x, o, r, n, c.tile[0], c.stages, num_warps=c.warps
                ),
                lambda x=x, o=out[TORCH][0]: self.torch.softmax(x, -1, out=o), out,
                lambda x=x: [self.torch.softmax(x.double(), -1)], 1e-6,
            )  # fmt: skip

    def matmul_leaky(self) -> Iterator[Question]:
        choices = [
            Choice((128, 256, 64), 8, 3), Choice((128, 128, 64), 4, 4), Choice((64, 256, 32), 4, 4),
            Choice((128, 128, 32), 4, 4), Choice((256, 128, 64), 8, 3),
        ]  # fmt: skip
        for n in (256,) if self.small else (4096, 8192):
            a, b = self.draw(n, n), self.draw(n, n)
            out = self.outs(a, names=(OURS, TRITON, TORCH))

            def grid(c: Choice, n: int = n) -> tuple[int]:
                return (-(-n // c.tile[0]) * -(-n // c.tile[1]),)

            def by_torch(a: Any = a, b: Any = b, o: Any = out[TORCH]) -> None:
                o[0] = self.torch.nn.functional.leaky_relu(a @ b, 0.01)

            def wanted(a: Any = a, b: Any = b) -> list[Any]:
                z = a[-64:].double() @ b.double()
                return [self.torch.where(z >= 0, z, 0.01 * z)]

            yield Question(
                f"matmul + leaky ReLU float16 {n}", "TFLOP/s", 2e-12 * n**3, choices,
                lambda c, a=a, b=b, o=out[OURS][0], g=grid: [
                    Launch(ours.matmul_leaky, g(c), (a, b, o, *c.tile, 8))
                ],
                lambda t, c, a=a, b=b, o=out[TRITON][0], g=grid, n=n: functools.partial(
                    t.matmul_leaky[g(c)], a, b, o, n, n, n, *c.tile, 8,
                    num_warps=c.warps, num_stages=c.stages,
                ),
                by_torch, out, wanted, 2e-3, part=lambda z: z[-64:],
            )  # fmt: skip

    def dropout(self) -> Iterator[Question]:
        n, p, seed = (1 << 16) + 3 if self.small else 1 << 27, 0.3, 123456789
        x = self.draw(n, dtype="float32")
        out = self.outs(x, names=(OURS, TRITON, TORCH))

        def by_torch() -> None:
            out[TORCH][0] = self.torch.nn.functional.dropout(x, p)

        def part(z: Any) -> Any:
            return z[-(1 << 20) :]

        def wanted() -> list[Any]:
            first = max(0, n - (1 << 20))
            words = _philox(self.torch.arange(first, n, device=self.device), seed)
            keep = (words >> 8).float() * 2.0**-24 > p
            return [self.torch.where(keep, part(x).double() / (1 - p), 0.0)]

        yield Question(
            f"dropout float32 {n}, seeded (torch draws other numbers)", "GB/s", 8e-9 * n,
            [Choice((1024,)), Choice((2048,), 8)],
            lambda c: [Launch(ours.dropout, (-(-n // c.tile[0]),), (x, out[OURS][0], p, seed, *c.tile))],
            lambda t, c: functools.partial(
                t.dropout[(-(-n // c.tile[0]),)], x, out[TRITON][0], n, p, seed, *c.tile, num_warps=c.warps
            ),
            by_torch, out, wanted, 1e-6, part=part,
        )  # fmt: skip

    def norm(self) -> Iterator[Question]:
        rows, cols = (64, 500) if self.small else (4096, 8192)
        x, dy = self.draw(rows, cols), self.draw(rows, cols)
        w, b = self.draw(cols), self.draw(cols)
        torch, eps = self.torch, 1e-5
        mean, rstd = (torch.empty(rows, device=self.device) for _ in range(2))
        out = self.outs(x, names=(OURS, TRITON, TORCH))
        width = 1 << (cols - 1).bit_length()
        tail = min(rows, 256)

        def by_torch() -> None:
            out[TORCH][0] = torch.nn.functional.layer_norm(x, (cols,), w, b, eps)

        def wanted() -> list[Any]:
            double = [z.double() for z in (x[-tail:], w, b)]
            return [torch.nn.functional.layer_norm(double[0], (cols,), double[1], double[2], eps)]

        yield Question(
            f"layer norm forward float16 {rows} x {cols}", "GB/s", 4e-9 * x.numel(),
            [Choice((width,), 16), Choice((width,), 8), Choice((width // 4,), 8), Choice((width // 8,), 4)],
            lambda c: [Launch(ours.norm_forward, (rows,), (x, w, b, out[OURS][0], mean, rstd, eps, *c.tile))],
            lambda t, c: functools.partial(
                t.norm_forward[(rows,)], x, w, b, out[TRITON][0], mean, rstd, cols, eps, *c.tile,
                num_warps=c.warps,
            ),
            by_torch, out, wanted, 3e-3, part=lambda z: z[-tail:],
        )  # fmt: skip
        yield self._norm_backward(x, dy, w, b, width)

    def _norm_backward(self, x: Any, dy: Any, w: Any, b: Any, width: int) -> Question:
        torch, (rows, cols) = self.torch, x.shape
        mean = x.float().mean(-1)
        rstd = 1 / (x.float().var(-1, correction=0) + 1e-5).sqrt()
        group = 96
        sums = [torch.zeros(group, cols, device=self.device) for _ in range(2)]
        locks = torch.zeros(2, group, dtype=torch.int32, device=self.device)
        out = self.outs(x, w, b)
        leaves = [z.detach().clone().requires_grad_() for z in (x, w, b)]
        with torch.enable_grad():
            y = torch.nn.functional.layer_norm(leaves[0], (cols,), leaves[1], leaves[2], 1e-5)
        out[TORCH] = [None, None, None]

        def by_torch() -> None:
            out[TORCH][:] = torch.autograd.grad(y, leaves, dy, retain_graph=True)

        def wanted() -> list[Any]:
            t, g, weight = x.double(), dy.double(), w.double()
            scale = 1 / (t.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()
            xhat = (t - t.mean(-1, keepdim=True)) * scale
            wdy = weight * g
            means = (xhat * wdy).mean(-1, keepdim=True), wdy.mean(-1, keepdim=True)
            return [(wdy - xhat * means[0] - means[1]) * scale, (g * xhat).sum(0), g.sum(0)]

        def tile(c: Choice) -> list[Launch]:
            dx, dw, db = out[OURS]
            rows_first = (dx, dy, *sums, x, w, mean, rstd, locks[0], locks[1], *c.tile, group)
            return [
                Launch(ours.norm_backward, (rows,), rows_first),
                Launch(ours.norm_sums, (-(-cols // 128),), (*sums, dw, db, 32, 128)),
            ]

        def triton(t: Any, c: Choice) -> Run:
            dx, dw, db = out[TRITON]

            def run() -> None:
                t.norm_backward[(rows,)](
                    dx, dy, *sums, x, w, mean, rstd, locks[0], locks[1], cols, *c.tile, group,
                    num_warps=c.warps,
                )  # fmt: skip
                t.norm_sums[(-(-cols // 128),)](*sums, dw, db, group, cols, 32, 128)

            return run

        def cleared(run: Run) -> Run:
            def both() -> None:
                locks.zero_()  # each run begins with no sums, as the tutorial's caller has it
                run()

            return both

        return Question(
            f"layer norm backward float16 {rows} x {cols}", "GB/s", 6e-9 * x.numel(),
            [Choice((width,), 8), Choice((width,), 16)],
            lambda c: [cleared(_all(tile(c)))], lambda t, c: cleared(triton(t, c)),  # type: ignore[list-item]
            by_torch, out, wanted, 1e-2,
        )  # fmt: skip

    def attention(self) -> Iterator[Question]:
        torch = self.torch
        heads, length = (2, 256) if self.small else (64, 4096)
        choices = [
            Choice((128, 128), 8, 3), Choice((128, 64), 8, 3), Choice((128, 64), 4, 3), Choice((64, 64), 4, 3),
        ]  # fmt: skip
        for d, causal in itertools.product((64, 128), (False, True)):
            q, k, v = (self.draw(heads, length, d) for _ in range(3))
            out = self.outs(q, names=(OURS, TRITON, TORCH))
            scale = d**-0.5

            def by_torch(q: Any = q, k: Any = k, v: Any = v, o: Any = out[TORCH], causal: bool = causal) -> None:
                four = (z.unsqueeze(0) for z in (q, k, v))
                o[0] = torch.nn.functional.scaled_dot_product_attention(*four, is_causal=causal)[0]

            def wanted(q: Any = q, k: Any = k, v: Any = v, causal: bool = causal) -> list[Any]:
                s = q[-1].double() @ k[-1].double().T * q.shape[-1] ** -0.5
                if causal:
                    s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), -math.inf)
                return [torch.softmax(s, -1) @ v[-1].double()]

            def triton(
                t: Any, c: Choice, q: Any = q, k: Any = k, v: Any = v, o: Any = out[TRITON][0],
                d: int = d, causal: bool = causal, scale: float = scale,
            ) -> Run:  # fmt: skip
                from triton.tools.tensor_descriptor import TensorDescriptor

                def rows(x: Any, block: int) -> Any:
                    return TensorDescriptor.from_tensor(x.view(heads * length, d), [block, d])

                tm, tn = c.tile
                return functools.partial(
                    t.attention[(length // tm, heads)], rows(q, tm), rows(k, tn), rows(v, tn), rows(o, tm),
                    length, scale, causal, tm, tn, d, num_warps=c.warps, num_stages=c.stages,
                )  # fmt: skip

            yield Question(
                f"attention float16 {heads} x {length} x {d}{', causal' if causal else ''}", "TFLOP/s",
                4e-12 * heads * length**2 * d / (2 if causal else 1), choices,
                lambda c, q=q, k=k, v=v, o=out[OURS][0], d=d, causal=causal, s=scale: [
                    Launch(ours.attention, (length // c.tile[0], heads), (q, k, v, o, s, causal, *c.tile, d))
                ],
                triton, by_torch, out, wanted, 4e-3, part=lambda z: z[-1],
            )  # fmt: skip

    def grouped_matmul(self) -> Iterator[Question]:
        torch = self.torch
        for n in (256,) if self.small else (512, 1024, 4096):
            sizes = [(n, n, n), (n // 2, n, n), (n, n // 2, n), (n // 4 + n // 4, n // 2, n // 2)]
            a = [self.draw(m, k) for m, _, k in sizes]
            b = [self.draw(k, cols) for _, cols, k in sizes]
            out = {
                who: [torch.full((m, cols), math.nan, device=self.device, dtype=torch.float16)
                      for m, cols, _ in sizes]
                for who in (OURS, TRITON, TORCH)
            }  # fmt: skip
            table = torch.tensor(sizes, dtype=torch.int32, device=self.device)

            def addresses(matrices: list[Any]) -> Any:
                return torch.tensor([m.data_ptr() for m in matrices], device=self.device)

            def by_torch(a: Any = a, b: Any = b, o: Any = out[TORCH]) -> None:
                for x, y, z in zip(a, b, o, strict=True):
                    torch.mm(x, y, out=z)

            def triton(t: Any, c: Choice, a: Any = a, b: Any = b, o: Any = out[TRITON], s: Any = table) -> Run:
                return functools.partial(
                    t.grouped_matmul[(self.units,)], addresses(a), addresses(b), addresses(o), s, len(a),
                    *c.tile, num_warps=c.warps, num_stages=c.stages,
                )  # fmt: skip

            yield Question(
                f"grouped GEMM float16, four of at most {n}", "TFLOP/s",
                2e-12 * sum(m * cols * k for m, cols, k in sizes),
                [Choice((128, 128, 32), 8, 3), Choice((128, 128, 64), 8, 3), Choice((64, 128, 64), 4, 4)],
                lambda c, a=a, b=b, o=out[OURS]: [
                    Launch(ours.grouped_matmul, (self.units,), (a, b, o, *c.tile))
                ],
                triton, by_torch, out,
                lambda a=a, b=b: [x.double() @ y.double() for x, y in zip(a, b, strict=True)], 2e-3,
            )  # fmt: skip

    def scaled_matmul(self) -> Iterator[Question]:
        """Where the GPU has no block-scaled product, both languages multiply widened tiles."""
        torch = self.torch
        n = 256 if self.small else 8192
        a, b = (self.draw(n, n, dtype="float8_e4m3fn") for _ in range(2))
        bytes_a, bytes_b = (
            torch.randint(124, 131, (n, n // 32), device=self.device, dtype=torch.uint8) for _ in range(2)
        )
        scale_a, scale_b = (z.view(torch.float8_e8m0fnu) for z in (bytes_a, bytes_b))
        out = self.outs(torch.empty(n, n, device=self.device, dtype=torch.float16))

        def wide(x: Any, scale: Any) -> Any:
            powers = torch.exp2(scale.double() - 127).repeat_interleave(32, 1)
            return x.float().double() * powers

        yield Question(
            f"block-scaled matmul float8_e4m3 {n}", "TFLOP/s", 2e-12 * n**3,
            [Choice((128, 128, 128), 8, 3), Choice((128, 128, 64), 8, 3), Choice((128, 256, 64), 8, 3)],
            lambda c: [Launch(
                ours.scaled_matmul, ((n // c.tile[0]) * (n // c.tile[1]),),
                (a, scale_a, b, scale_b, out[OURS][0], *c.tile),
            )],
            lambda t, c: functools.partial(
                t.scaled_matmul[((n // c.tile[0]) * (n // c.tile[1]),)], a, bytes_a, b, bytes_b,
                out[TRITON][0], n, n, n, *c.tile, num_warps=c.warps, num_stages=c.stages,
            ),
            None, out, lambda: [wide(a[-32:], bytes_a[-32:]) @ wide(b, bytes_b).T], 4e-3,
            part=lambda z: z[-32:],
        )  # fmt: skip


def _philox(counter: Any, seed: int) -> Any:
    """Word 0 of Philox 4x32-10 of counters (i, 0, 0, 0), in int64 arithmetic of torch."""
    low = 0xFFFFFFFF
    c = [counter & low, counter * 0, counter * 0, counter * 0]
    keys = [seed & low, seed >> 32]

    def product(x: Any, factor: int) -> tuple[Any, Any]:
        """High and low word: x * factor does not fit int64, its halves do."""
        lower, upper = (x & 0xFFFF) * factor, (x >> 16) * factor
        middle = upper + (lower >> 16)
        return middle >> 16, ((middle & 0xFFFF) << 16 | (lower & 0xFFFF)) & low

    for _ in range(10):
        high0, low0 = product(c[0], 0xD2511F53)
        high1, low1 = product(c[2], 0xCD9E8D57)
        c = [high1 ^ c[1] ^ keys[0], low1, high0 ^ c[3] ^ keys[1], low0]
        keys = [(keys[0] + 0x9E3779B9) & low, (keys[1] + 0xBB67AE85) & low]
    return c[0]


KINDS = (
    "attention", "matmul_leaky", "softmax", "norm", "dropout", "grouped_matmul", "scaled_matmul", "vector_add",
)  # fmt: skip


QUESTIONS = 17  # of all kinds


def questions(device: str, small: bool, kinds: tuple[str, ...] = KINDS) -> Iterator[Question]:
    maker = _Maker(device, small)
    for kind in kinds:
        yield from getattr(maker, kind)()


def fastest(
    question: Question, who: str, make: Callable[[Choice], Run], timer: Timer
) -> tuple[Run | None, str]:
    """The fastest choice whose result is right, and what is to be said: its tile, and those that failed."""
    best: tuple[float, Run | None, str] = (math.inf, None, "none")
    failed: dict[str, list[str]] = {}
    for choice in question.choices:
        try:
            question.poison(who)
            run = make(choice)
            run()
            timer.wait()
            error = question.error(who)
            if not error <= question.tolerance:
                failed.setdefault(f"WRONG, error {error:.1e}", []).append(str(choice))
                continue
            host = timer.host(run)
            seconds = min(timer.seconds(run, 3, host) for _ in range(3))
        except Exception as failure:
            failed.setdefault(named(failure), []).append(str(choice))
            timer.alive(question.name)
            continue
        if seconds < best[0]:
            best = seconds, run, str(choice)
    said = (f"{', '.join(choices)}: {why}" for why, choices in failed.items())
    return best[1], "; ".join([f"{who} {best[2]}", *said])


def _makers(question: Question) -> dict[str, Callable[[Choice], Run]]:
    makers: dict[str, Callable[[Choice], Run]] = {OURS: lambda c: _all(question.tile(c))}
    if have("triton"):
        from . import tutorial_triton

        makers[TRITON] = lambda c: question.triton(tutorial_triton, c)
    return makers


def table_of(question: Question, device: str, rounds: int) -> Table:
    timer = Timer(device)
    runs: dict[str, Run] = {}
    notes = []
    for who, make in _makers(question).items():
        run, said = fastest(question, who, make, timer)
        notes.append(said)
        if run:
            runs[who] = run
    if question.torch:
        runs[TORCH] = question.torch
    exact = "dropout" not in question.name  # torch's numbers are others there

    def error(who: str) -> float:
        return question.error(who) if exact or who != TORCH else 0.0

    contest = Contest(
        question.name, question.unit, question.amount, TRITON if TRITON in runs else TORCH,
        runs, error, question.tolerance, "; ".join(notes),
    )  # fmt: skip
    return measure(contest, device, rounds, LIMIT)


def _compile(device: str, small: bool, place: int) -> None:
    """Every choice of one question, on both sides."""
    question = next(itertools.islice(questions(device, small), place, None), None)
    if question is None:  # small ones are fewer
        return
    timer = Timer(device)
    for choice in question.choices:
        for who, make in _makers(question).items():
            with contextlib.suppress(Exception):  # it is named when it is timed
                question.poison(who)
                make(choice)()
                timer.wait()


def tables(
    device: str, rounds: int, small: bool, *, seconds: float | None, state: pathlib.Path | None
) -> Iterator[Table]:
    deadline, begun = Deadline(seconds), Begun(state)
    if device == "cuda" and begun.first("compile"):
        print("tutorials: compiling ahead ...", flush=True)
        work = functools.partial(_compile, device, small)
        print(f"  {ahead(work, QUESTIONS, None if seconds is None else 0.3 * seconds)}", flush=True)
    everything = Many("Triton's tutorials, all", "", 1.0, TRITON, what="kernel")
    left = []
    for question in questions(device, small):
        if deadline.over():
            left.append(question.name)
        elif begun.first(question.name):
            print(f"{question.name} ...", flush=True)
            table = table_of(question, device, rounds)
            everything.add(question.name, table)
            yield table
            if device == "cuda":
                import torch

                torch.cuda.empty_cache()
    everything.note += f"Not run: {', '.join(left)}" if left else ""
    yield everything
