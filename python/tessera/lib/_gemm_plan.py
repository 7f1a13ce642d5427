# SPDX-License-Identifier: Apache-2.0
"""How matrix products run: plans, which the core makes (ts_gemm_plan_make of tessera/lib.h, with the tables of
src/lib/gemm.def), and those found so far."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from tessera import _core

EARLY = {"programmatic_dependent_launch": True}  # for kernels that call begin() first
TF32, PRECISE, GELU = _core.GEMM_TF32, _core.GEMM_PRECISE, _core.GEMM_GELU

Copy = tuple[int, tuple[int, int]]  # axis of unit stride; extents of the other axis and of it


class Plan(NamedTuple):
    """The kernel, its grid, constants and options of the launch; whether that is all. Else whether the arrays are
    passed as (b.T, a.T, c.T), what is copied of a and b before, and the room for sums of pieces of K."""

    kernel: Any
    grid: tuple[int, int, int]
    constants: tuple[Any, ...]
    launch: dict[str, bool]
    plain: bool
    swapped: bool
    copies: tuple[Copy | None, Copy | None]
    parts: tuple[int, int, int] | None
    sums: str


@functools.lru_cache(maxsize=64)
def _hinted(kernel: Any, ctas: int, occupancy: int, stages: int) -> Any:
    hints = {"num_ctas": ctas, "occupancy": occupancy, "num_stages": stages}
    given = {name: value for name, value in hints.items() if value}
    return kernel.replace_hints(**given) if given else kernel


def make_plan(
    kernels: dict[str, Any], a: Any, b: Any, c: Any, flags: int = 0,
    tile: tuple[int, int, int] | None = None, group: int = 8, machine: tuple[int, int] | None = None,
) -> Plan:  # fmt: skip
    """The plan of a product of these arrays; ``kernels`` by their names there. ``machine``: target and units to plan
    for, in place of those of ``c``."""
    name, hints, early, grid, constants, swapped, copies, parts, sums = _core.gemm_plan(
        a, b, c, flags, tile, group, machine
    )
    plain = parts is None and not swapped and copies == (None, None)
    kernel = _hinted(kernels[name], *hints)
    return Plan(
        kernel, grid, constants, EARLY if early else {}, plain, swapped, copies, parts, sums
    )


_plans: dict[Any, Plan] = {}


def known_plan(key: Any) -> Plan | None:
    """What was found for these looks and options before."""
    return _plans.get(key)


def remember(key: Any, plan: Plan) -> None:
    """Once for each shape, layout and type; keys that begin with None tell nothing of the arrays."""
    if key is None or key[0] is None:
        return
    if len(_plans) > 4096:
        _plans.clear()
    _plans[key] = plan
