# SPDX-License-Identifier: Apache-2.0
"""Question: which of NumPy's functions are slower on the CPU here than NumPy's own, at 10^3, 10^5 and 10^7 elements?

One row for a call and a number of elements, the slowest first. Nothing is lent to NumPy (`TESSERA_LEND=0`). Results are
compared with NumPy's in dtype, shape and values before anything is timed; least times of interleaved samples.
--only: parts of calls, with commas between; --sizes: other numbers of elements.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .common import is_one_thread

os.environ.setdefault("TESSERA_LEND", "0")

SIZES = [10**3, 10**5, 10**7]
_SAMPLE = 2e-3  # seconds of one sample, at least
_SECONDS = 1.5  # of all samples of one row
_MOST = 4.0  # seconds of a call of NumPy's at the size before, above which a size is left out

# Calls by what they stand on. Names: n elements as x, y (float64), f (float32), i (places below n), u (int64 of few
# values), b (bool), c (complex), w (sorted float64), p (a permutation), o (begins of segments, ascending); m a square
# of about n elements, t three axes with 64 in the middle, e a stack of 3 x 3, q a positive definite stack, k few
# places, z an array that calls change.
CALLS = """
reduceat: np.add.reduceat(x, o) | np.add.reduceat(u, o) | np.add.reduceat(f, o) | np.maximum.reduceat(x, o)
    | np.multiply.reduceat(x, o) | np.logical_or.reduceat(b, o) | np.bitwise_or.reduceat(u, o)
    | np.add.reduceat(m, o[:m.shape[0] // 4] % m.shape[0], 0)
    | np.add.reduceat(m, o[:m.shape[1] // 4] % m.shape[1], 1)
at: np.add.at(z, i, x) | np.add.at(z, i, 1.0) | np.subtract.at(z, i, x) | np.maximum.at(z, i, x)
    | np.multiply.at(z, i, 1.0) | np.add.at(zi, i, 1) | np.bitwise_or.at(zi, i, u) | np.add.at(zm, (im, im), ym)
    | np.add.at(zf, i, f) | np.minimum.at(zf, i, f) | np.negative.at(z, i) | np.divide.at(z, i, 1.0)
accumulate: np.cumsum(x) | np.cumsum(f) | np.cumprod(y) | np.cumsum(m, 0) | np.cumsum(m, 1) | np.cumsum(t, 1)
    | np.maximum.accumulate(x) | np.maximum.accumulate(m, 0) | np.maximum.accumulate(m, 1) | np.nancumsum(x)
    | np.cumsum(u) | np.bitwise_or.accumulate(u) | np.subtract.accumulate(x) | np.logaddexp.accumulate(x)
reduce: np.bitwise_or.reduce(u) | np.logaddexp.reduce(x) | np.hypot.reduce(x) | np.fmax.reduce(x) | np.ptp(m, 0)
    | np.subtract.reduce(m, 0) | np.gcd.reduce(u) | np.logical_xor.reduce(b) | np.count_nonzero(b, 0)
    | np.count_nonzero(m, 1) | np.nanmax(x) | np.nansum(m, 0) | np.nanmean(m, 1) | np.nanstd(x) | np.std(m, 0)
    | np.average(x, weights=y) | np.bitwise_and.reduce(um, 1) | np.nanargmax(m, 1)
sets: np.unique(x) | np.unique(u) | np.unique(f) | np.unique(u, return_counts=True)
    | np.unique(u, return_inverse=True)
    | np.unique(x, return_index=True) | np.unique(u, True, True, True) | np.unique(r, axis=0) | np.isin(u, k)
    | np.isin(x, y) | np.intersect1d(i, p) | np.setdiff1d(i, p[:k.size]) | np.union1d(u, k) | np.setxor1d(i, p)
    | np.unique_counts(u) | np.unique_values(x) | np.trim_zeros(u)
order: np.sort(x) | np.argsort(x) | np.sort(m, 0) | np.argsort(m, 1) | np.argsort(u, kind="stable")
    | np.lexsort((x, u))
    | np.lexsort((u, x)) | np.partition(x, n // 2)[n // 2] | np.argpartition(x, 5)[5] | np.partition(m, 3, 1)[:, 3]
    | np.partition(x, (1, n // 2, n - 2))[n // 2] | np.argpartition(m, 3, 0)[3] | np.searchsorted(w, x)
    | np.searchsorted(w, x, "right") | np.searchsorted(x, y, sorter=s) | np.searchsorted(us, u) | np.digitize(x, ws)
    | np.sort_complex(c) | np.flatnonzero(b) | np.argwhere(bm) | np.nonzero(bm) | np.searchsorted(w, 0.25)
percentiles: np.median(x) | np.median(m, 0) | np.median(m, 1) | np.median(t, 1) | np.percentile(x, 90)
    | np.percentile(x, [5, 50, 95]) | np.percentile(m, 25, 1) | np.quantile(t, 0.3, 1) | np.nanmedian(xn)
    | np.nanmedian(mn, 1) | np.nanpercentile(xn, 40) | np.nanpercentile(mn, 40, 1) | np.nanpercentile(mn, [1, 9], 0)
    | np.quantile(x, 0.4, method="lower") | np.nanquantile(tn, 0.5, 1) | np.percentile(m, [10, 20], 0)
counts: np.bincount(u) | np.bincount(i, x) | np.histogram(x, 50) | np.histogram(x, ws)
    | np.histogram(x, 50, weights=y)
    | np.histogram2d(x, y, 20) | np.histogramdd((x, y), 8) | np.histogram(x, 50, (0.0, 0.5))
    | np.histogram_bin_edges(x)
places: z[i] | m[im, im] | np.take(x, i) | np.take(m, im, 1) | np.take_along_axis(m, sm, 1)
    | np.take_along_axis(m, s0, 0)
    | np.put_along_axis(zm, sm, m, 1) | np.put(z, i, x) | z.__setitem__(i, x) | zm.__setitem__((im, im), ym)
    | zm.__setitem__(im, 1.0) | z.__setitem__(b, 0.0) | np.compress(b, x) | np.extract(b, x) | np.place(z, b, y)
    | np.choose(ch, (x, y, w)) | np.select([b, x > 0.5], [x, y]) | np.putmask(z, b, y) | x[b] | m[bm] | m[im]
    | np.where(b, x, y) | np.ix_(im, im)[0] | np.unravel_index(p % m.size, m.shape)[0]
    | np.ravel_multi_index((i, i), (n, n)) | np.tril(m) | np.triu_indices(m.shape[0])[0] | np.diag(m)
    | np.fill_diagonal(zm, 1.0)
moves: np.roll(x, 7) | np.roll(m, 3, 1) | np.roll(m, (2, 3), (0, 1)) | np.pad(x, 5) | np.pad(m, 2, "edge")
    | np.pad(m, 2, "reflect") | np.pad(m, 3, "wrap") | np.tile(x, 3) | np.tile(m, (2, 2)) | np.repeat(x, 3)
    | np.repeat(x, u) | np.repeat(m, 2, 0) | np.repeat(m, 2, 1) | np.flip(m).copy() | np.rot90(m).copy()
    | np.concatenate((x, y)) | np.stack((x, y), 1) | np.vstack((m, m)) | np.column_stack((x, y))
    | np.block([[m, m], [m, m]])
    | np.insert(x, 3, 1.0) | np.insert(x, k, 1.0) | np.delete(x, 3) | np.delete(x, k) | np.delete(m, 1, 1)
    | np.append(x, y)
    | np.meshgrid(xs, xs)[0].copy() | np.array_split(x, 5)[2].copy() | np.resize(x, 2 * n)
    | np.moveaxis(t, 0, 2).copy()
    | np.swapaxes(m, 0, 1).copy() | np.broadcast_to(xs, (xs.size, xs.size)).copy() | m.astype("f4")
    | m.T.astype("i8") | np.fliplr(m).copy()
products: np.cross(v3, v3) | np.kron(xs, xs) | np.outer(xs, xs) | np.einsum("ij,ij->i", m, m)
    | np.einsum("ij,jk->ik", a8, a8)
    | np.einsum("bij,bjk->bik", e, e) | np.einsum("ii", m) | np.einsum("ij->ji", m).copy() | np.einsum("i,i", x, y)
    | np.inner(m, m[:2]) | np.vdot(x, y) | np.tensordot(m, m[:3], (1, 1)) | np.dot(x, y) | e @ e | np.trace(m)
    | np.convolve(x, g) | np.correlate(x, g, "same") | np.convolve(xs, xs) | np.matmul(m[:8], m[:, :8])
differences: np.diff(x) | np.diff(m, axis=0) | np.diff(x, 2) | np.gradient(x) | np.gradient(m)[0] | np.ediff1d(x)
    | np.trapezoid(x) | np.trapezoid(m, axis=0) | np.unwrap(x) | np.interp(x, ws, ws) | np.interp(w, w, x)
elements: np.nan_to_num(xn) | np.clip(x, 0.2, 0.8) | np.round(x, 2) | np.angle(c) | np.real_if_close(c) | np.sinc(x)
    | np.i0(x) | np.piecewise(x, [x < 0.5], [0.0, 1.0]) | np.isclose(x, y) | np.allclose(x, x) | np.array_equal(x, y)
    | np.polyval([1.0, 2.0, 3.0], x) | np.divmod(u, 3)[1] | np.modf(x)[0] | np.frexp(x)[0] | np.heaviside(x, 0.5)
    | np.packbits(b) | np.unpackbits(u8) | np.gcd(u, 6) | np.lcm(u, 6) | np.fmod(x, 0.3) | np.mod(x, 0.3) | u // 7
    | u % 7
    | np.vander(xs, 4) | np.apply_along_axis(np.sum, 1, m[:20]) | np.cov(m[:4]) | np.corrcoef(m[:4]) | np.isnan(x)
    | np.bitwise_count(u)
masked: (mx + mx) | (mx * 2.0).data | mx.sum() | mx.mean() | np.ma.array(x, mask=b).filled(0.0) | mx.compressed()
    | np.ma.masked_where(b, x).data | mx[3:].data | np.ma.masked_invalid(xn).data | np.ma.sqrt(mx).data
    | mm.sum(0).data
    | (mx > 0.5).data | mx.max() | np.ma.median(mx) | mx.copy().data | mm.mean(1).data | mx.std()
random: rng().random(n) | rng().normal(size=n) | rng().integers(0, 100, n) | rng().standard_normal(n, "f4")
    | rng().choice(x, 100)
    | rng().permutation(x) | rng().shuffle(z) | rng().exponential(size=n) | rng().uniform(0, 2, n)
    | rng().poisson(3.0, n)
    | old().rand(n) | old().randn(n) | old().randint(0, 9, n) | rng().choice(x, 100, replace=False)
    | rng().random(n, "f4")
fft: np.fft.fft(x2) | np.fft.rfft(x2) | np.fft.fft(x) | np.fft.fft(x[:prime]) | np.fft.ifft(c) | np.fft.fft2(m)
    | np.fft.rfft(m, axis=0) | np.fft.irfft(c) | np.fft.fftshift(x) | np.fft.fftfreq(n) | np.fft.rfft2(m)
    | np.fft.fft(e, axis=0)
linear: np.linalg.solve(q, v) | np.linalg.inv(q) | np.linalg.det(q) | np.linalg.eigh(q)[0] | np.linalg.svd(q)[1]
    | np.linalg.cholesky(q)
    | np.linalg.norm(x) | np.linalg.norm(m, axis=1) | np.linalg.norm(e, axis=(1, 2)) | np.linalg.eigvals(q)
    | np.linalg.qr(q)[1]
    | np.linalg.pinv(q) | np.linalg.matrix_power(e, 3) | np.linalg.slogdet(q)[1]
    | np.linalg.lstsq(m[:, :3], m[:, 3])[0]
    | np.linalg.matrix_rank(q) | np.linalg.multi_dot((m[:5], m[:5].T, m[:5]))
"""  # fmt: skip


def calls() -> list[tuple[str, str]]:
    """Groups and calls."""
    found: list[tuple[str, str]] = []
    group = ""
    for line in CALLS.strip().splitlines():
        if not line.startswith(" "):
            group, _, line = line.partition(": ")
        found += [(group, text.strip()) for text in line.split(" | ") if text.strip(" |")]
    return [(group, text.removeprefix("| ")) for group, text in found]


def _arrays(n: int) -> dict[str, np.ndarray]:
    """The names of calls that are arrays, as NumPy's."""
    rng = np.random.default_rng(n)
    side = int(n**0.5)
    x, y = rng.random(n), rng.random(n)
    m = rng.random((side, side))
    u = rng.integers(0, 10, n)
    made = {"x": x, "y": y, "m": m, "u": u, "f": x.astype("f4"), "i": rng.integers(0, n, n), "b": x < y}
    made |= {"g": rng.random(9)}
    made |= {"c": x + 1j * y, "w": np.sort(x), "p": rng.permutation(n), "o": np.unique(rng.integers(0, n, n // 8))}
    made |= {"im": rng.integers(0, side, side), "ym": y[:side].copy(), "um": u[: side * side].reshape(side, side)}
    made |= {"bm": m < 0.4, "xn": np.where(y < 0.1, np.nan, x), "mn": np.where(m < 0.1, np.nan, m), "s": np.argsort(x)}
    made |= {"sm": np.argsort(m, 1), "s0": np.argsort(m, 0), "us": np.sort(u), "xs": x[:side].copy()}
    made |= {"ws": np.linspace(0, 1, 21)}
    made |= {"ch": rng.integers(0, 3, n), "k": rng.integers(0, n, 50), "r": rng.integers(0, 5, (n // 4, 4))}
    inner = max(1, int((n / 64) ** 0.5))
    t = rng.random((inner, 64, inner))
    made |= {"t": t, "tn": np.where(t < 0.1, np.nan, t), "u8": rng.integers(0, 256, n, "u1"), "a8": rng.random((8, 8))}
    e = rng.random((max(1, n // 9), 3, 3))
    made |= {"e": e, "q": e @ e.transpose(0, 2, 1) + np.eye(3), "v": rng.random((len(e), 3, 1))}
    made |= {"x2": x[: 1 << (n.bit_length() - 1)]}
    made |= {"zi": u.copy(), "z": y.copy(), "zf": y.astype("f4"), "zm": m.copy()}
    made["v3"] = made["v"][..., 0]
    return made


def _prime(n: int) -> int:
    return next(p for p in range(n, 1, -1) if all(p % d for d in range(2, int(p**0.5) + 1)))


def _names(module: Any, arrays: dict[str, np.ndarray], n: int) -> dict[str, Any]:
    """What a call sees, in arrays of a module."""
    made: dict[str, Any] = {name: module.array(a) for name, a in arrays.items()}
    made |= {"np": module, "n": n, "prime": _prime(n)}
    made["rng"] = lambda: module.random.default_rng(3)
    made["old"] = lambda: module.random.RandomState(3)
    made["mx"] = module.ma.array(made["x"], mask=made["b"])
    made["mm"] = module.ma.array(made["m"], mask=made["bm"])
    return made


@dataclass
class Row:
    """One call at one size: the times of both in seconds, or why there are none."""

    group: str
    call: str
    n: int
    times: dict[str, list[float]] = field(default_factory=dict)
    failure: str = ""

    def least(self, peer: str) -> float:
        return min(self.times[peer])

    @property
    def ratio(self) -> float:
        return self.least("numpy") / self.least("tessera")


def _parts(made: Any) -> list[np.ndarray]:
    return [np.asarray(part) for part in (made if isinstance(made, (tuple, list)) else [made])]


def _difference(found: Any, wanted: Any) -> str:
    """What differs; "": nothing."""
    for a, b in zip(_parts(found), _parts(wanted), strict=True):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{a.dtype} {a.shape} for {b.dtype} {b.shape}"
        if a.dtype == object:
            continue
        tolerance = 1e-4 if a.dtype.itemsize < 8 else 1e-7
        if not (np.allclose(a, b, tolerance, 1e-6, True) if b.dtype.kind in "fc" else np.array_equal(a, b)):
            return "other values"
    return ""


def _sample(run: Callable[[], Any], n: int) -> float:
    now = time.process_time if is_one_thread() else time.perf_counter
    start = now()
    for _ in range(n):
        run()
    return (now() - start) / n


def _run(code: Any, seen: dict[str, Any], made: Any) -> Callable[[], Any]:
    """A call, and the wait for its result where it gives arrays that may wait, or for all where it only writes."""
    from tessera import numeric

    def write() -> None:
        eval(code, seen)
        numeric.wait()

    if made is None and seen["np"] is numeric:
        return write
    if type(made) is numeric.ndarray:
        return lambda: numeric.wait(eval(code, seen))
    if type(made) in (tuple, list) and all(type(part) is numeric.ndarray for part in made):
        return lambda: numeric.wait(*eval(code, seen))
    return lambda: eval(code, seen)


def _row(row: Row, names: dict[str, dict[str, Any]], arrays: dict[str, np.ndarray], rounds: int) -> None:
    code = compile(row.call, "call", "eval")
    changed = [name for name in ("z", "zi", "zf", "zm") if name in code.co_names]
    runs: dict[str, Callable[[], Any]] = {}
    results = {}
    for peer, seen in names.items():
        for name in changed:
            seen[name] = seen["np"].array(arrays[name])
        made = eval(code, seen)
        results[peer] = seen[changed[0]] if made is None else made
        runs[peer] = _run(code, seen, made)
    row.failure = _difference(results["tessera"], results["numpy"])
    if row.failure:
        return
    del results, made
    count, spent = {}, 0.0
    for peer, run in runs.items():
        once = max(_sample(run, 1), 1e-7)
        count[peer] = max(1, int(_SAMPLE / once))
        spent += once * count[peer]
        row.times[peer] = [once]
    for _ in range(max(1, min(rounds, int(_SECONDS / spent)))):
        for peer, run in runs.items():
            row.times[peer].append(_sample(run, count[peer]))


@dataclass
class Summary:
    """The table of all rows, as common.Table."""

    question: str
    rows: list[Row] = field(default_factory=list)

    def show(self) -> str:
        lines = [f"**{self.question}**", "", "| call | n | NumPy, us | Tessera, us | over NumPy |"]
        lines.append("|---|---|---|---|---|")
        timed = sorted((r for r in self.rows if not r.failure), key=lambda r: r.ratio)
        for r in timed:
            us = [f"{r.least(peer) * 1e6:,.4g}" for peer in ("numpy", "tessera")]
            lines.append(f"| `{r.call}` | {r.n:.0e} | {us[0]} | {us[1]} | {r.ratio:.3g} |")
        lines += [f"| `{r.call}` | {r.n:.0e} | {r.failure} | | |" for r in self.rows if r.failure]
        lines.append("")
        for n in sorted({r.n for r in timed}):
            ratios = [r.ratio for r in timed if r.n == n]
            below = [sum(x < bound for x in ratios) for bound in (0.5, 0.9)]
            lines.append(
                f"{n:,} elements: {len(ratios)} calls, median {statistics.median(ratios):.2f}, {below[0]} below 0.5, "
                f"{below[1]} below 0.9."
            )
        return "\n".join(lines) + "\n"

    def json_lines(self, device: str) -> list[str]:
        return [
            json.dumps({"question": self.question, "device": device, "call": r.call, "n": r.n, "times_s": r.times,
                        "failure": r.failure})
            for r in self.rows
        ]  # fmt: skip


def tables(device: str, rounds: int, small: bool, only: str | None, sizes: str) -> Iterator[Summary]:
    """One table of all calls and sizes."""
    from tessera import numeric

    if device != "cpu":
        raise SystemExit("named compares with NumPy on the CPU")
    warnings.simplefilter("ignore")
    wanted = [part.strip() for part in only.split(",")] if only else [""]
    summary = Summary("named calls, cpu" + (", one thread, CPU time" if is_one_thread() else ""))
    slow: dict[str, float] = {}
    numbers = SIZES if sizes == "S" else [int(float(each)) for each in sizes.split(",")]
    for n in numbers[:1] if small else numbers:
        arrays = _arrays(n)
        names = {"numpy": _names(np, arrays, n), "tessera": _names(numeric, arrays, n)}
        for group, text in calls():
            if not any(part in f"{group}: {text}" for part in wanted) or slow.get(text, 0.0) > _MOST:
                continue
            row = Row(group, text, n)
            try:
                _row(row, names, arrays, rounds)
            except Exception as failure:  # one that does not run is said, not hidden
                row.failure = f"{type(failure).__name__}: {str(failure)[:200]}"
            if not row.failure:
                slow[text] = max(row.times["numpy"][0], row.times["tessera"][0]) * 100
            summary.rows.append(row)
            shown = row.failure or f"{row.ratio:.3g}"
            print(f"{n:.0e} {text}: {shown}", file=sys.stderr, flush=True)
    yield summary
