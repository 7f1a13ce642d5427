# SPDX-License-Identifier: Apache-2.0
"""Whether variants of a kernel write the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _arrays

__all__ = ["Check"]


class Check:
    """Compares each variant's outputs with those of the first that ran, or with a reference."""

    def __init__(
        self,
        args: Any,
        written: list[bool],
        tolerance: float | None,
        reference: Any,
        wait: Callable[[], None],
    ) -> None:
        self.outputs = _arrays.Outputs(_arrays.written_args(args, written))
        self.dtypes = [str(a.dtype).rpartition(".")[2] for a in self.outputs.arrays]
        self.tolerance, self.wait = tolerance, wait
        self.wanted: list[Any] | None = None
        self.agreed = self.differed = 0
        self.trusted = reference is not None
        if self.trusted:
            reference()
            wait()
            self.wanted = _arrays.read(self.outputs.arrays)

    def run(self, args: Any, written: list[bool], launch: Callable[[], None]) -> None:
        """Raises ValueError when the outputs are not those wanted. Variants may have outputs of
        their own."""
        arrays = _arrays.written_args(args, written)
        if self.outputs.are(arrays):
            self.outputs.restore()
        launch()
        self.wait()
        found = _arrays.read(arrays)
        if self.wanted is None:
            self.wanted = found
        why = _arrays.agree(found, self.wanted, self.dtypes, self.tolerance)
        self.agreed, self.differed = self.agreed + (not why), self.differed + bool(why)
        if why:
            raise ValueError(f"wrong result: {why}")

    def conclude(self) -> None:
        if not self.trusted and self.differed > self.agreed:
            raise RuntimeError(
                f"{self.differed} of {self.agreed + self.differed} variants do not agree with the "
                "first one; give a `reference` function that writes the right outputs, or a "
                "`tolerance`"
            )
