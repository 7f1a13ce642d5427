# SPDX-License-Identifier: Apache-2.0
"""Arrays of values of any kind, in kernels.

A *value* is a number, a named tuple or a frozen dataclass of values. It is kept in memory number by number, each in an
array of its own, so that neighbouring threads have neighbouring words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy import int32

from . import _device as cuda
from ._device import parts, whole

__all__ = ["Places", "local_like", "shared_like"]


@dataclass(frozen=True)
class Places:
    """An array of values: one array for each number of ``like``."""

    arrays: Any
    like: Any

    def __getitem__(self, i: Any) -> Any:
        return whole(self.like, tuple(a[i] for a in self.arrays))

    def __setitem__(self, i: Any, value: Any) -> None:
        for a, part in zip(self.arrays, parts(value)):
            a[i] = part

    def __len__(self) -> int:
        return len(self.arrays[0])


def shared_like(n: int, like: Any, wide: bool = False) -> Any:
    """Memory of the block for ``n`` values like this one. ``wide``: whole numbers of less than 32 bits are in words of
    their own, so that threads with neighbouring ones meet different banks."""
    return Places(tuple(cuda.shared.array(n, _word(part.dtype) if wide else part.dtype) for part in parts(like)), like)


def _word(dtype: Any) -> Any:
    return int32 if dtype.kind in "biu" and dtype.itemsize < 4 else dtype


def local_like(n: int, like: Any) -> Any:
    """Memory of the thread for ``n`` values like this one."""
    return Places(tuple(cuda.local.array(n, part.dtype) for part in parts(like)), like)
