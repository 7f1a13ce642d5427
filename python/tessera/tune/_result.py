# SPDX-License-Identifier: Apache-2.0
"""What a search gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

__all__ = ["Measurement", "TuningResult"]


T = TypeVar("T")


@dataclass(frozen=True)
class Measurement(Generic[T]):
    """Times of one configuration, in microseconds."""

    config: T
    mean_us: float
    num_samples: int
    error_margin_us: float
    median_us: float = 0.0


@dataclass(frozen=True)
class TuningResult(Generic[T]):
    """The outcome of a search.

    Attributes
    ----------
    best : Measurement
        The configuration of the least median.
    successes : sequence of Measurement
        All that were timed, in the order of the space.
    failures : sequence of (config, class of the exception, message)
        Those that did not compile or run, or gave a wrong result.
    pruned : sequence of (config, reason)
        Those the cost model put far behind; they were not run.
    interrupted : bool
        Ctrl-C ended the search early.
    checked : bool
        Every success gave the same outputs.
    """

    best: Measurement[T]
    successes: Sequence[Measurement[T]]
    failures: Sequence[tuple[T, type[BaseException], str]]
    pruned: Sequence[tuple[T, str]] = field(default=())
    interrupted: bool = False
    checked: bool = False

    def summary(self, *, top_k: int = 10, bottom_k: int = 2) -> str:
        """A table of the fastest and slowest configurations, the best marked ``*``, with medians and with
        means and the margins of these, and how many did not take part."""
        ranked = sorted(self.successes, key=lambda m: m.median_us)
        hidden = max(0, len(ranked) - top_k - bottom_k)
        shown = ranked if not hidden else ranked[:top_k] + ranked[len(ranked) - bottom_k :]
        lines = []
        for i, m in enumerate(shown):
            if hidden and i == top_k:
                lines.append(f"  ... {hidden} more")
            mark = "*" if m == self.best else " "
            times = f"{m.median_us:10.2f} us, mean {m.mean_us:.2f} +- {m.error_margin_us:.2f}"
            lines.append(f"{mark} {times}  x{m.num_samples:<4d} {m.config!r}")
        lines += [f"  pruned: {config!r}: {why}" for config, why in self.pruned[:top_k]]
        lines += [f"  failed: {config!r}: {kind.__name__}: {text.splitlines()[0] if text else ''}"
                  for config, kind, text in self.failures[:top_k]]  # fmt: skip
        head = f"{len(ranked)} succeeded, {len(self.failures)} failed"
        head += f", {len(self.pruned)} pruned" if self.pruned else ""
        return "\n".join([head + (", interrupted" if self.interrupted else ""), *lines])

    def __str__(self) -> str:
        return self.summary()
