# SPDX-License-Identifier: Apache-2.0
"""Question: how fast are 54 programs written for NumPy, the kinds of kernels of the NPBench set, on tessera.numeric
with nothing changed but the import, beside NumPy, numba (`@njit` of the same text) and JAX (`jit` of it, x64)?

Each peer has copies of the modules of kernels of its own, in which `np` is its module. Where a peer has no time it
cannot run the text: numba has not all of NumPy, JAX's arrays do not change. Results are compared with NumPy's: what is
returned, and what the arguments hold afterwards. The least wall time of interleaved runs, with --one-thread the least
time of the processor, everybody on one; compiled before. A run of more than --limit seconds is given up and said; with
--seconds, kernels that have not begun by then are left out.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import pathlib
import signal
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..common import have, is_one_thread, quiet, use_fast_code
from .kernel import PRESETS, Rng

use_fast_code()

FAMILIES = ("linear", "grids", "apps")
TOLERANCE = 1e-7
_SECONDS = 2.0  # of all runs of one kernel


class Peer(NamedTuple):
    """``compiled`` makes of a kernel what is timed; ``put`` and ``back`` move an array; ``wait`` ends a run."""

    name: str
    module: Any
    compiled: Callable[[Any, tuple[Any, ...]], Callable[..., Any]]
    put: Callable[[np.ndarray], Any]
    back: Callable[[Any], np.ndarray]
    wait: Callable[[Any], None]
    traces: bool = False  # and gives results as values alone


def _as_is(function: Any, _: Any) -> Any:
    return function


def _nothing(_: Any) -> None:
    pass


def _tessera(device: str) -> Peer:
    import tessera
    from tessera import numeric

    def put(x: np.ndarray) -> Any:
        with numeric.device(device):
            return numeric.array(x)

    def wait(_: Any) -> None:
        numeric.wait()
        tessera.synchronize(device)

    def compiled(function: Any, _: Any) -> Any:
        def run(*arguments: Any) -> Any:
            with numeric.device(device):  # of arrays that it makes
                return function(*arguments)

        return run

    return Peer("tessera", numeric, compiled, put, numeric.asnumpy, wait)


def _jax() -> Peer:
    import jax

    jax.config.update("jax_enable_x64", True)

    def compiled(function: Any, arguments: tuple[Any, ...]) -> Any:
        static = [i for i, x in enumerate(arguments) if not isinstance(x, np.ndarray)]
        return jax.jit(function, static_argnums=static)

    return Peer("jax", jax.numpy, compiled, jax.numpy.asarray, np.asarray, jax.block_until_ready, traces=True)


def _peers(device: str) -> list[Peer]:
    peers = [Peer("numpy", np, _as_is, np.array, np.asarray, _nothing)]
    if device == "cpu" and have("numba"):
        peers.append(Peer("numba", np, _as_is, np.array, np.asarray, _nothing))
    if have("jax"):
        peers.append(_jax())
    if device != "cpu" and have("cupy"):
        import cupy

        wait = lambda _: cupy.cuda.Device().synchronize()
        peers.append(Peer("cupy", cupy, _as_is, cupy.asarray, cupy.asnumpy, wait))
    return [*peers, _tessera(device)]


def _loaded(family: str, peer: Peer) -> ModuleType:
    """The peer's own copy of a module of kernels."""
    path = pathlib.Path(__file__).with_name(family + ".py")
    spec = importlib.util.spec_from_file_location(f"{__name__}.{family}_of_{peer.name}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.np = peer.module  # type: ignore[attr-defined]
    if peer.name == "numba":
        import numba

        for name, each in inspect.getmembers(module, inspect.isfunction):
            if each.__module__ == module.__name__:
                setattr(module, name, numba.njit(each))
    return module


def kernels() -> dict[str, str]:
    """The names of all kernels with the module that has each."""
    found = {}
    for family in FAMILIES:
        module = importlib.import_module(f"{__name__}.{family}")
        found |= {name: family for name, f in vars(module).items() if hasattr(f, "make")}
    return dict(sorted(found.items()))


@dataclass
class Row:
    """One kernel: the times of each peer in seconds, why others have none."""

    name: str
    n: int
    times: dict[str, list[float]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)  # with a time: it was given up then

    def is_compared(self) -> bool:
        """Whether both times are there, and one at least is a whole run's."""
        ours = ("numpy", "tessera")
        return all(p in self.times for p in ours) and any(p not in self.missing for p in ours)

    def shown(self, peer: str) -> str:
        given_up = ">" if peer in self.missing else ""
        return f"{given_up}{self.least(peer) * 1e3:,.3g}" if peer in self.times else "-"

    def least(self, peer: str) -> float:
        return min(self.times[peer])

    def over(self, *peers: str) -> float:
        """How much faster we are than the best of these, of those that ran."""
        return min(self.least(p) for p in peers if p in self.times) / self.least("tessera")


@dataclass
class Summary:
    """The table of all kernels, as common.Table."""

    question: str
    peers: list[str]
    rows: list[Row] = field(default_factory=list)

    def show(self) -> str:
        def line(*cells: str) -> str:
            return "| " + " | ".join(cells) + " |"

        others = [p for p in self.peers if p != "tessera"]
        heads = ["kernel", "n", *(f"{p}, ms" for p in self.peers), "over NumPy", "over the best"]
        lines = [f"**{self.question}**", "", line(*heads)]
        lines.append("|" + "---|" * len(heads))
        rows = [row for row in self.rows if row.is_compared()]
        for row in self.rows:
            times = [row.shown(p) for p in self.peers]
            ratios = [f"{row.over('numpy'):.2f}", f"{row.over(*others):.2f}"] if row in rows else ["-", "-"]
            lines.append(line(row.name, f"{row.n:,}", *times, *ratios))
        if rows:
            over, best = [r.over("numpy") for r in rows], [r.over(*others) for r in rows]
            spreads = [(sorted(t)[len(t) // 2] / min(t) - 1) for r in rows for t in r.times.values()]
            counts = [f"{sum(x >= 1 for x in each)} of {len(rows)} at 1.0 or more" for each in (over, best)]
            lines.append(
                f"\nOver NumPy: median {statistics.median(over):.2f}, geometric mean "
                f"{statistics.geometric_mean(over):.2f}, {counts[0]}; over the best: median "
                f"{statistics.median(best):.2f}, {counts[1]}. Medians lie above the least times by "
                f"{statistics.median(spreads) * 100:.0f} % (median of all)."
            )
        return "\n".join(lines) + "\n"

    def json_lines(self, device: str) -> list[str]:
        return [
            json.dumps({"question": self.question, "device": device, "kernel": r.name, "n": r.n, "times_s": r.times,
                        "missing": r.missing})
            for r in self.rows
        ]  # fmt: skip


def _copies(peer: Peer, arguments: tuple[Any, ...]) -> list[Any]:
    return [peer.put(x) if isinstance(x, np.ndarray) else x for x in arguments]


def _results(peer: Peer, returned: Any, arguments: list[Any], wanted: tuple[Any, ...]) -> list[np.ndarray]:
    """What is returned, then the arrays among the arguments."""
    values = list(returned) if isinstance(returned, tuple) else [] if returned is None else [returned]
    if not peer.traces:
        values += [a for a, x in zip(arguments, wanted, strict=True) if isinstance(x, np.ndarray)]
    return [np.asarray(v if np.isscalar(v) else peer.back(v)) for v in values]


def _differs(found: list[np.ndarray], wanted: list[np.ndarray], traces: bool) -> str:
    """Why results are not those of NumPy; "": they are."""
    if traces and not found:
        return "it changes its arguments"
    for a, b in zip(found, wanted, strict=False):
        scale = np.abs(b).max(initial=0.0) + 1e-300
        if a.shape != b.shape or not np.allclose(a / scale, b / scale, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            return "WRONG"
    return ""


@contextlib.contextmanager
def _limited(seconds: float | None) -> Iterator[None]:
    """Raises TimeoutError inside, between two of its statements, when the time has passed."""

    def over(*_: Any) -> None:
        raise TimeoutError(f"a run of more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds or 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _run(
    peer: Peer, call: Callable[..., Any], arguments: tuple[Any, ...], limit: float | None = None
) -> tuple[float, Any, list[Any]]:
    own, now = _copies(peer, arguments), time.process_time if is_one_thread() else time.perf_counter
    for own_array, x in zip(own, arguments, strict=True):
        if isinstance(x, np.ndarray):
            own_array.sum()  # so that the caches hold what they can, whichever way the copy was written
    peer.wait(own)
    with _limited(limit):
        start = now()
        returned = call(*own)
        peer.wait(returned)
        return now() - start, returned, own


def _ready(
    row: Row, peer: Peer, function: Any, arguments: tuple[Any, ...], wanted: list[np.ndarray] | None,
    limit: float | None,
) -> tuple[Callable[..., Any], list[np.ndarray]] | None:  # fmt: skip
    """The compiled kernel and its results, checked; None where the peer cannot run it."""
    if peer.traces and not function.traced:
        row.missing[peer.name] = "its loops would be written out"
        return None
    try:
        call = peer.compiled(function, arguments)
        seconds, returned, own = _run(peer, call, arguments, limit)
        found = _results(peer, returned, own, arguments)
    except TimeoutError as slow:
        row.times[peer.name], row.missing[peer.name] = [limit or 0.0], str(slow)
        return None
    except Exception as failure:  # a peer that does not run is said, not hidden
        row.missing[peer.name] = f"{type(failure).__name__}: {str(failure).strip().splitlines()[0][:200]}"
        return None
    why = _differs(found, wanted, peer.traces) if wanted is not None else ""
    if why:
        row.missing[peer.name] = why
    if not why and seconds > _SECONDS / 10 and peer.name == "numpy":
        row.times[peer.name] = [seconds]  # nothing was compiled, and it will not get much faster
    return None if why else (call, found)


def _measure(
    name: str, preset: str, peers: list[Peer], of: dict[str, Any], rounds: int, limit: float | None
) -> Row:
    function = of["numpy"]
    n = function.sizes[preset]
    row, arguments, calls = Row(name, n), function.make(Rng(), n), {}
    wanted = None
    for peer in peers:
        ready = _ready(row, peer, of[peer.name], arguments, wanted, limit)
        if ready:
            calls[peer.name] = ready[0]
            wanted = ready[1] if wanted is None else wanted
    end = time.perf_counter() + _SECONDS
    slow = set(row.times)
    for done in range(rounds):
        if done and time.perf_counter() > end:
            break
        for peer in peers:
            if peer.name in calls and peer.name not in slow:
                if not is_one_thread():
                    quiet()
                row.times.setdefault(peer.name, []).append(_run(peer, calls[peer.name], arguments)[0])
    return row


def _said(row: Row) -> str:
    times = [f"{peer} {min(t) * 1e3:.3g} ms" for peer, t in row.times.items()]
    return f"{row.name} {row.n}: {', '.join(times)}" + "".join(f"; {p}: {why}" for p, why in row.missing.items())


def tables(
    device: str, rounds: int, small: bool, sizes: str, only: str | None, limit: float | None = None,
    seconds: float | None = None, among: str | None = None,
) -> Iterator[Summary]:  # fmt: skip
    """A table of all kernels for each preset of `sizes`."""
    end = time.perf_counter() + (seconds or float("inf"))
    warnings.simplefilter("ignore")  # numba's of layouts, NumPy's of overflow
    names = kernels()
    chosen = only.split(",") if only else list(names)
    if not names.keys() >= set(chosen):
        raise SystemExit(f"--only: {', '.join(set(chosen) - names.keys())} is none of {', '.join(names)}")
    presets = ["tiny"] if small else sizes.split(",")
    if not set(presets) <= set(PRESETS):
        raise SystemExit(f"--sizes: {sizes} is not of {', '.join(PRESETS)}")
    peers = [p for p in _peers(device) if among is None or p.name in (*among.split(","), "numpy", "tessera")]
    modules = {(family, peer.name): _loaded(family, peer) for family in FAMILIES for peer in peers}
    threads = ", one thread, CPU time" if is_one_thread() else ""
    for preset in presets:
        summary = Summary(f"NPBench's kernels, size {preset}, {device}{threads}", [p.name for p in peers])
        try:
            for i, name in enumerate(chosen):
                if time.perf_counter() > end:
                    print(f"no time for {', '.join(chosen[i:])}", file=sys.stderr)
                    break
                of = {p.name: getattr(modules[names[name], p.name], name) for p in peers}
                summary.rows.append(_measure(name, preset, peers, of, rounds, limit))
                print(f"{i + 1}/{len(chosen)} {_said(summary.rows[-1])}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            yield summary
            raise
        yield summary
