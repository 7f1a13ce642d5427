# SPDX-License-Identifier: Apache-2.0
"""The search: expand, compile in threads, prune by the cost model, check, race, keep the best.

Before the race every variant runs once on the outputs as they were found; it must give what the
first variant gave. One that differs has failed; when most differ from the first, nobody knows who
is right and the search says so. Afterwards the outputs hold what the best variant writes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any

from .. import _core
from .. import tile as ct
from .._arguments import device_of
from . import _arrays, _numbers, _progress, _space, _store
from ._check import Check
from ._result import Measurement, TuningResult
from ._time import Candidate, Clock, Stuck, race
from ._trial import Trials

__all__ = ["search"]


class NothingRuns(RuntimeError, ValueError):
    """No configuration of a space could be run. (The peer's tuner raises ValueError.)"""


@dataclass
class _Work:
    """One search on its way."""

    kernel: Any
    grid_fn: Callable[[Any], Any]
    args_fn: Callable[[Any], Any]
    hints_fn: Callable[[Any], Any] | None
    stream: Any
    configs: list[Any]
    failures: list[tuple[Any, type[BaseException], str]] = field(default_factory=list)
    pruned: list[tuple[Any, str]] = field(default_factory=list)
    interrupted: bool = False

    def fail(self, config: Any, error: BaseException) -> None:
        self.failures.append((config, type(error), str(error)))


@dataclass
class _Variant:
    config: Any
    kernel: Any
    grid: tuple[int, ...]
    args: tuple[Any, ...]
    predicted: float = 0.0
    written: list[bool] = field(default_factory=list)


def _variant(work: _Work, config: Any) -> _Variant:
    hints = work.hints_fn(config) if work.hints_fn else None
    grid = work.grid_fn(config)
    grid = (grid,) if isinstance(grid, int) else tuple(grid)
    kernel = _space.variant(work.kernel, config, hints)
    args = work.args_fn(config)
    return _Variant(config, kernel, grid, kernel._complete(args if isinstance(args, tuple) else tuple(args), {}))


def _predict(variant: _Variant, stream: Any, target: int) -> _Variant:
    facts = _core.report(stream, variant.grid, variant.kernel, variant.args, target, None)
    variant.predicted = facts["predicted_s"] if facts["evaluated"] else 0.0
    return variant


def _prepare(variant: _Variant, stream: Any) -> _Variant:
    variant.written = _core.prepare(stream, variant.kernel, variant.args)["written"]
    return variant


def _in_threads(
    work: _Work, variants: list[_Variant], job: Callable[[_Variant], _Variant], threads: int,
    step: Callable[[], None],
) -> list[_Variant]:  # fmt: skip
    """The variants that a job leaves, in order; failures are noted. Ctrl-C keeps those done so
    far."""
    pool = ThreadPoolExecutor(threads)
    jobs: list[tuple[_Variant, Future[_Variant]]] = [(v, pool.submit(job, v)) for v in variants]
    done: list[_Variant] = []
    try:
        for variant, future in jobs:
            try:
                done.append(future.result())
            except Exception as error:
                work.fail(variant.config, error)
            step()
    except KeyboardInterrupt:
        work.interrupted = True
    pool.shutdown(wait=True, cancel_futures=True)
    return done


def _prune(work: _Work, variants: list[_Variant], factor: float) -> list[_Variant]:
    """Drops those predicted `factor` times slower than the best prediction."""
    best = min((v.predicted for v in variants if v.predicted > 0), default=0.0)
    kept = []
    for v in variants:
        if best > 0 and v.predicted > factor * best:
            work.pruned.append(
                (v.config, f"predicted {v.predicted * 1e6:.1f} us, best {best * 1e6:.1f} us")
            )
        else:
            kept.append(v)
    return kept


def _candidate(variant: _Variant, clock: Clock) -> Candidate:
    def launch() -> None:
        ct.launch(clock.stream, variant.grid, variant.kernel, variant.args)

    return Candidate(variant.config, launch)


def _trials(clock: Clock) -> Any:
    """Where variants run first that nobody could stop here; None: they need not."""
    is_wanted = clock.gpu and clock.limit_s < inf
    return Trials(clock.device, clock.limit_s) if is_wanted else contextlib.nullcontext()


def _admit(
    work: _Work, variants: list[_Variant], check: Check | None, clock: Clock, trials: Trials | None,
    step: Callable[[], None],
) -> list[Candidate]:  # fmt: skip
    """Runs each variant for the first times: those that run, in time and rightly, may race."""
    admitted: list[Candidate] = []
    try:
        for variant in variants:
            candidate = _candidate(variant, clock)
            try:
                job = None
                if trials:
                    trials.run(variant.kernel, variant.grid, variant.args)
                if check:
                    job = partial(check.run, variant.args, variant.written, candidate.launch)
                clock.first(candidate, job)
                us = clock.warm(candidate)
                if us * 1e-6 > clock.limit_s:
                    raise TimeoutError(
                        f"one run took {us * 1e-6:.3g} s, the limit is {clock.limit_s:g} s"
                    )
                admitted.append(candidate)
            except Stuck as error:
                raise Stuck(f"configuration {variant.config!r}: {error}; leave it out") from None
            except Exception as error:
                work.fail(variant.config, error)
            step()
    except KeyboardInterrupt:
        work.interrupted = True
    if check:
        check.conclude()
    return admitted


def _measurement(c: Candidate) -> Measurement[Any]:
    return Measurement(c.config, sum(c.times) / len(c.times), len(c.times), c.error, c.median)


def _result(work: _Work, candidates: list[Candidate], checked: bool) -> TuningResult[Any]:
    timed = [_measurement(c) for c in candidates if c.times]
    if not timed and work.interrupted:
        raise KeyboardInterrupt
    if not timed:
        reasons = list(dict.fromkeys(f"{kind.__name__}: {text}" for _, kind, text in work.failures))
        head = f"none of the {len(work.configs)} configurations could be run:"
        raise NothingRuns("\n".join([head, *reasons[:3]]))
    best = _measurement(
        min((c for c in candidates if c.times and c.finalist), key=lambda c: c.median)
    )
    return TuningResult(best, timed, work.failures, work.pruned, work.interrupted, checked)


def _check_of(
    variants: list[_Variant], wanted: bool, tolerance: Any, reference: Any, clock: Clock
) -> Check | None:
    if not wanted or not variants:
        return None
    first = variants[0]
    return Check(first.args, first.written, tolerance, reference, clock.wait)


def search(
    kernel: Any,
    grid_fn: Callable[[Any], Any],
    args_fn: Callable[[Any], Any],
    space: Any,
    *,
    hints_fn: Callable[[Any], Any] | None = None,
    stream: Any = None,
    check: bool = True,
    reference: Callable[[], Any] | None = None,
    tolerance: float | None = None,
    prune: float | None = 2.0,
    rounds: int = 30,
    seconds: float = 5.0,
    limit_s: float | None = None,
    threads: int | None = None,
    keep: bool = True,
    quiet: bool = False,
    sweep: bool = True,
) -> TuningResult[Any]:
    """Finds the fastest configuration of a kernel by timing them against each other.

    Parameters
    ----------
    kernel : kernel, or function from a configuration to a kernel
    grid_fn, args_fn : functions from a configuration to the grid and the arguments of the launch
    space : mapping of names to lists of values, or iterable of configurations
    hints_fn : function from a configuration to a dictionary of hints, optional
        By default those items of a mapping that are hints: ``num_stages``, ``num_ctas``,
        ``occupancy``, ``num_worker_warps``, ``opt_level``.
    stream : optional
        As for ``ct.launch``.
    check : bool
        Compare the outputs of all variants; a variant that differs from the first one has failed.
    reference : function, optional
        Writes the right outputs into the arguments; then every variant is compared with these.
    tolerance : float, optional
        Greatest difference allowed, relative to the output's largest element; by default what
        another order of summation may cost in the output's dtype. Integers must be equal.
    prune : float, optional
        On a GPU: variants predicted so many times slower than the best prediction are not run;
        None: all.
    rounds, seconds : int, float
        At most so many samples each, and about so much time for all. A variant whose first run
        takes longer than ``seconds`` (and than 1 s) has failed, as beyond ``limit_s``.
    limit_s : float, optional
        A variant of which any run takes longer has failed; inf: none has. The CPU stops it; with a
        limit each run is a thread's, which adds up to 0.1 ms to its time. A kernel on a GPU cannot
        be stopped; with a limit each variant first runs once in a process of its own, with copies of
        the arguments, which is killed when the limit is over. Kernels and arguments that cannot be
        sent there, and later runs, have only this process: one that does not end is a RuntimeError
        that names it, and ends the search.
    threads : int, optional
        Compile so many at once; by default one for each core, at most 16.
    keep : bool
        Keep the best on disk, for ``Tuned`` kernels and ``best``.
    quiet : bool
        No progress bar.
    sweep : bool
        Sweep the L2 cache of a GPU before each sample; without, samples find there what the one before left.

    Returns
    -------
    TuningResult

    Raises
    ------
    ValueError, TypeError
        The space is empty; a number means nothing, such as 0 ``seconds``.
    RuntimeError
        No configuration could be run, or most disagree with the first; a kernel on a GPU that only
        this process could run went beyond ``limit_s``, or in its first run beyond ``seconds``.

    Notes
    -----
    Samples are interleaved; on a GPU they are device times.
    Ctrl-C ends the search with what is known so far. The arrays that the kernel writes hold the
    best variant's results afterwards.
    """
    seconds, rounds = _numbers.seconds("seconds", seconds), _numbers.count("rounds", rounds)
    threads = None if threads is None else _numbers.count("threads", threads)
    first_s = max(seconds, 1.0)
    if limit_s is not None:
        first_s = limit_s = _numbers.seconds("limit_s", limit_s, least=0, endless=True)
    work = _Work(kernel, grid_fn, args_fn, hints_fn, stream, _space.expand(space))
    variants = []
    for config in work.configs:
        try:
            variants.append(_variant(work, config))
        except Exception as error:
            work.fail(config, error)
    args = variants[0].args if variants else ()
    device = device_of(args)
    with _progress.bar(len(work.configs), quiet) as progress:
        variants = _compiled(work, variants, device, prune, threads, progress)
        clock = Clock(device, stream, inf if limit_s is None else limit_s, first_s, swept=sweep)
        checks = _check_of(variants, check, tolerance, reference, clock)
        progress.stage("checking", len(variants))
        with _trials(clock) as trials:
            candidates = _admit(work, variants, checks, clock, trials, progress.step)
        progress.stage("timing", rounds * len(candidates))
        if not work.interrupted:
            _race(work, candidates, clock, rounds, seconds, progress.step)
    result = _result(work, candidates, checks is not None)
    _finish(work, candidates, checks, clock, result, device, args, keep)
    return result


def _compiled(
    work: _Work,
    variants: list[_Variant],
    device: str,
    prune: float | None,
    threads: int | None,
    progress: Any,
) -> list[_Variant]:
    """Predicted, pruned and compiled."""
    count = threads or min(16, os.cpu_count() or 1)
    if device != "cpu" and prune and len(variants) > 1:
        target = int(_core.device_info(device)["target"])
        progress.stage("predicting", len(variants))
        variants = _in_threads(
            work, variants, lambda v: _predict(v, work.stream, target), count, progress.step
        )
        variants = _prune(work, variants, prune)
    progress.stage("compiling", len(variants))
    return _in_threads(work, variants, lambda v: _prepare(v, work.stream), count, progress.step)


def _race(
    work: _Work,
    candidates: list[Candidate],
    clock: Clock,
    rounds: int,
    seconds: float,
    step: Callable[[], None],
) -> None:
    if not candidates:
        return
    try:
        race(candidates, clock, rounds=rounds, seconds=seconds, step=step, fail=work.fail)
    except KeyboardInterrupt:
        work.interrupted = True


def _finish(
    work: _Work, candidates: list[Candidate], checks: Check | None, clock: Clock, result: TuningResult[Any], device:
    str, args: Any, keep: bool,
) -> None:  # fmt: skip
    """Leaves the best variant's results in the outputs, and its configuration on disk."""
    if checks:
        checks.outputs.restore()
    next(c for c in candidates if c.config is result.best.config).launch()
    clock.wait()  # the arguments may end with the search
    if keep:
        name = str(_core.device_info(device)["name"])
        base = _space.variant(work.kernel, result.best.config, {})
        entry = {"config": repr(result.best.config), "mean_us": result.best.mean_us}
        _store.save(_store.key_of(base, name, _arrays.shape_class(args)), entry)
