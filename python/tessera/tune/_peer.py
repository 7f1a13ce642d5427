# SPDX-License-Identifier: Apache-2.0
"""The tuner with the signature of ``cuda.tile.tune``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from . import _numbers, _space
from ._result import TuningResult
from ._search import search

__all__ = ["exhaustive_search"]

T = TypeVar("T")


def exhaustive_search(
    search_space: Iterable[T],
    stream: Any,
    grid_fn: Callable[[T], Any],
    kernel: Any,
    args_fn: Callable[[T], Any],
    hints_fn: Callable[[T], Any] | None = None,
    *,
    quiet: bool = False,
    single_run_timeout_sec: float | None = None,
    flush_l2: bool = True,
) -> TuningResult[T]:
    """Times every configuration of a space and gives the fastest.

    Parameters
    ----------
    search_space : iterable
        Configurations, any objects; ``result.best.config`` is one of these objects.
    stream
        As for ``ct.launch``.
    grid_fn, args_fn, hints_fn : functions of a configuration
        Grid, arguments and hints (a dictionary, for ``kernel.replace_hints``) of the launch.
    kernel : kernel, or function from a configuration to one
    quiet : bool
        No progress bar, and the result is not printed.
    single_run_timeout_sec : float, optional
        A configuration whose single run takes longer has failed. The CPU stops it; on a GPU its first
        run is that of a process of its own, as ``limit_s`` of ``tessera.tune.search`` says.
    flush_l2 : bool
        Sweep the L2 cache of a GPU before each sample.

    Returns
    -------
    TuningResult

    Raises
    ------
    ValueError
        The space is empty, or none of its configurations could be run (a RuntimeError, too).

    Notes
    -----
    Nothing is pruned, checked or kept: for that there is ``tessera.tune.search``. Variants are
    compiled in parallel and timed interleaved.
    """
    limit = float("inf")
    if single_run_timeout_sec is not None:
        name = "single_run_timeout_sec"
        limit = _numbers.seconds(name, single_run_timeout_sec, endless=True)
    result = search(
        kernel, grid_fn, args_fn, _space.AsGiven(search_space), hints_fn=hints_fn or (lambda config: {}),
        stream=stream, check=False, prune=None, limit_s=limit, keep=False, quiet=quiet, sweep=flush_l2,
    )  # fmt: skip
    if not quiet:
        print(result)
    return result
