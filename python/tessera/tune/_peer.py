# SPDX-License-Identifier: Apache-2.0
"""The tuner with the signature of ``cuda.tile.tune``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from . import _numbers
from ._result import TuningResult
from ._search import search

__all__ = ["exhaustive_search"]


def exhaustive_search(
    search_space: Iterable[Any],
    stream: Any,
    grid_fn: Callable[[Any], Any],
    kernel: Any,
    args_fn: Callable[[Any], Any],
    hints_fn: Callable[[Any], Any] | None = None,
    *,
    quiet: bool = False,
    single_run_timeout_sec: float | None = None,
) -> TuningResult:
    """Times every configuration of a space and gives the fastest.

    Parameters
    ----------
    search_space : iterable
        Configurations, any objects.
    stream
        As for ``ct.launch``.
    grid_fn, args_fn, hints_fn : functions of a configuration
        Grid, arguments and hints (a dictionary, for ``kernel.replace_hints``) of the launch.
    kernel : kernel, or function from a configuration to one
    quiet : bool
        No progress bar.
    single_run_timeout_sec : float, optional
        A configuration whose single run takes longer has failed. The CPU stops it. A kernel on a
        GPU cannot be stopped: one that does not end is a RuntimeError that names it.

    Returns
    -------
    TuningResult

    Notes
    -----
    Nothing is pruned, checked or kept: for that there is ``tessera.tune.search``. Variants are
    compiled in parallel and timed interleaved.
    """
    limit = float("inf")
    if single_run_timeout_sec is not None:
        name = "single_run_timeout_sec"
        limit = _numbers.seconds(name, single_run_timeout_sec, endless=True)
    return search(
        kernel, grid_fn, args_fn, search_space, hints_fn=hints_fn or (lambda config: {}),
        stream=stream, check=False, prune=None, limit_s=limit, keep=False, quiet=quiet,
    )  # fmt: skip
