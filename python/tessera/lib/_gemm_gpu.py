# SPDX-License-Identifier: Apache-2.0
"""How a matrix product runs on a GPU: its plan (_gemm_plan.py) for arrays as they lie, and the ways found so far."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import tessera
import tessera.tile as ct

from . import _gemm_deep
from ._gemm_plan import Plan, plan, small_plan
from ._gpu_array import BYTES, Copy, copy_of, device_of, dtype_name, unit_of_copy

EARLY = {"programmatic_dependent_launch": True}  # for kernels that call begin() first


def options(a: Any, tf32: bool, fast: bool) -> tuple[bool, bool]:
    """Of the kernels: float32 as tf32, float8 with fast accumulation."""
    name = dtype_name(a)
    return tf32 and name == "float32", fast and name.startswith("float8")


def on_tensor_cores(name: str, flags: tuple[bool, bool]) -> bool:
    """Whether wgmma takes the type; ``flags``: float32 as tf32, float8 with fast accumulation."""
    if name in ("float32", "float64"):
        return flags[0]
    return flags[1] or not name.startswith("float8")


@functools.lru_cache(maxsize=64)
def units(device: str) -> int:
    """Multiprocessors of a GPU."""
    return int(tessera.device_info(device)["units"])


@functools.lru_cache(maxsize=64)
def has_clusters(device: str) -> bool:
    """Whether the blocks of a cluster can share a product's loop over K: with wgmma."""
    return int(tessera.device_info(device)["target"]) == 90


# ---- ways -------------------------------------------------------------------------------------------------


class Way(NamedTuple):
    """A plan for arrays as they lie: the grid, the kernel's constants and how it is launched, whether that is all; what
    is copied, room for pieces. The kernel is the caller's to find."""

    plan: Plan
    grid: tuple[int, int, int]
    constants: tuple[Any, ...]
    plain: bool = True
    copies: tuple[Copy | None, Copy | None] = (None, None)
    parts: tuple[int, int, int] | None = None
    sums: str = ""
    device: str = ""
    kernel: Any = None

    @property
    def launch(self) -> dict[str, bool]:
        """Options of the launch."""
        return EARLY if self.plan.early else {}


_ways: dict[Any, Way] = {}


def way_of(key: Any) -> Way | None:
    """What was found for these looks and options before."""
    return _ways.get(key)


def remember(key: Any, way: Way) -> None:
    """Once for each shape, layout and type; keys that begin with None tell nothing of the arrays."""
    if key is None or key[0] is None:
        return
    if len(_ways) > 4096:
        _ways.clear()
    _ways[key] = way


def _copies(a: Any, b: Any, major: bool) -> tuple[Copy | None, Copy | None]:
    first, second = unit_of_copy(a, 1, major), unit_of_copy(b, 0, major)
    return (
        None if first is None else copy_of(a, first),
        None if second is None else copy_of(b, second),
    )


def _is_tall(m: int, n: int, k: int, name: str, sms: int) -> bool:
    """65 to 128 rows of 16-bit elements beside a large operand that a cluster of two for each 64 of its columns reads:
    as rows of the transposed product, with six stages, an H200 takes 0.94 of the time of other plans."""
    return BYTES[name] == 2 and 64 < m <= 128 and k >= 8192 and sms * 3 // 4 <= 2 * ct.cdiv(n, 64) <= sms


def _deep_plan(m: int, n: int, k: int, name: str, device: str, tensor: bool) -> Plan | None:
    """Of few tiles in both directions. Blocks that share multiprocessors are spread unevenly when they start early,
    which only short products make up for."""
    sms, found = units(device), None
    if tensor and has_clusters(device) and _is_tall(m, n, k, name, sms):
        return Plan((64, 128, 64), 8, 1, True, ctas=2, stages=6)
    if not tensor:
        found = _gemm_deep.other(m, n, k, name, sms)
    elif has_clusters(device) and m * n <= sms << 12 and (min(m, n) > 128 or max(m, n) < 1024):
        found = _gemm_deep.deep(m, n, k, BYTES[name], sms)
    if found is None:
        return None
    early = tensor or k < 4096
    return Plan(found.tile, 8, found.pieces, False, ctas=found.ctas, early=early)


def find_way(a: Any, b: Any, c: Any, flags: tuple[bool, bool]) -> Way:
    """How a product of arrays that have elements runs on a GPU."""
    name, device = dtype_name(a), device_of(c)
    tensor, major = on_tensor_cores(name, flags), BYTES[name] != 2
    m, n, k = int(c.shape[0]), int(c.shape[1]), int(a.shape[1])
    copies = _copies(a, b, major) if tensor else (None, None)
    small = small_plan(m, n, k, units(device)) if any(copies) and not major else None
    if small:
        return _way(small, (m, n), (None, None), flags, (name, device, False))
    chosen = _deep_plan(m, n, k, name, device, tensor)
    if chosen is None:
        chosen = plan(m, n, k, name, units(device), tensor, clusters=has_clusters(device))
    return _way(chosen, (m, n), copies, flags, (name, device, tensor))


def _constants(chosen: Plan, flags: tuple[bool, bool]) -> tuple[Any, ...]:
    rows, cols, depth = chosen.tile
    if chosen.pieces > 1:
        return (rows, cols, depth, chosen.pieces, *flags)
    if chosen.more:
        return (rows, cols, chosen.more, depth, chosen.group, *flags)
    return (rows, cols, depth, chosen.group, *flags) + (() if chosen.ctas else (chosen.tail,))


def _way(
    chosen: Plan,
    shape: tuple[int, int],
    copies: tuple[Copy | None, Copy | None],
    flags: tuple[bool, bool],
    where: tuple[str, str, bool],
) -> Way:
    """``where``: type, device, and whether a block that makes many tiles has its multiprocessor for itself."""
    name, device, alone = where
    m, n = shape[::-1] if chosen.swapped else shape
    rows, cols = ct.cdiv(m, chosen.tile[0]), ct.cdiv(n, chosen.tile[1] + chosen.more)
    blocks, parts = rows * cols, None
    if chosen.pieces > 1:
        parts = chosen.pieces, rows * chosen.tile[0], cols * chosen.tile[1]
    elif alone and not chosen.ctas:
        blocks = min(blocks, units(device))
    grid = blocks, chosen.pieces, 1
    sums = {"int8": "int32", "float64": "float64"}.get(name, "float32")
    plain = parts is None and not chosen.swapped and not any(copies)
    constants = _constants(chosen, flags)
    return Way(chosen, grid, constants, plain, copies, parts, sums, device)
