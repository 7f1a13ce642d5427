# SPDX-License-Identifier: Apache-2.0
"""A progress bar on a terminal with rich installed; otherwise silence."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["bar"]


class _Silent:
    def stage(self, what: str, total: int) -> None:
        pass

    def step(self) -> None:
        pass


class _Rich:
    def __init__(self, progress: Any, total: int) -> None:
        self.progress = progress
        self.task = progress.add_task("tuning", total=total)

    def stage(self, what: str, total: int) -> None:
        self.progress.reset(self.task, description=what, total=max(total, 1))

    def step(self) -> None:
        self.progress.advance(self.task)


@contextmanager
def bar(total: int, quiet: bool) -> Iterator[Any]:
    """Something with ``stage(what, total)`` and ``step()``."""
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        quiet = True
    if quiet or not sys.stderr.isatty():
        yield _Silent()
        return
    with Progress(console=Console(stderr=True), transient=True) as progress:
        yield _Rich(progress, total)
