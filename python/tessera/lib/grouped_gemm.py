# SPDX-License-Identifier: Apache-2.0
"""Products of groups of rows, each with a matrix of its own: the layers of a mixture of experts, whose tokens are
sorted by expert. How many rows a group has is known on the device alone."""

from __future__ import annotations

import functools
from typing import Any

import tessera
import tessera.tile as ct

from . import _check as check
from . import _gemm_gpu as gpu
from . import _gemm_plan as planning
from . import _gpu_array as arrays
from . import on_gpu
from ._rules import RULES, accept
from .gemm import accumulator, begin, cpu_tile, launch, look, multiply, place

PAIRS = RULES["grouped_gemm"].pairs
TILES = ((128, 256), (128, 128), (64, 256), (64, 128))


@ct.kernel
def grouped_gemm_kernel(
    a, b, offsets, c,
    TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int], GROUP: ct.Constant[int],
    TF32: ct.Constant[bool], FAST: ct.Constant[bool],
):  # fmt: skip
    """The tiles of all groups are counted through, and each block makes every num_blocks-th: ``mine`` is the first of
    them in a group. A slice ends where the group does, so loads and stores stop there."""
    begin()
    blocks, cols = ct.num_blocks(0), ct.cdiv(c.shape[1], TN)
    start, mine = 0, ct.bid(0)
    for i in range(b.shape[0]):
        end = ct.load(offsets, index=(i,), shape=(1,)).item()
        end = max(min(end, a.shape[0]), start)
        rows = ct.cdiv(end - start, TM)
        inputs = a.slice(axis=0, start=start, stop=end)
        outputs = c.slice(axis=0, start=start, stop=end)
        for tile in range(mine, rows * cols, blocks):
            m, n = place(tile, rows, cols, GROUP)
            acc = ct.zeros((TM, TN), dtype=accumulator(a.dtype))
            for k in range(ct.cdiv(a.shape[1], TK)):
                x = ct.load(inputs, index=(m, k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO)
                y = ct.load(b, index=(i, k, n), shape=(1, TK, TN), padding_mode=ct.PaddingMode.ZERO)
                acc = multiply(x, ct.reshape(y, (TK, TN)), acc, TF32, FAST)
            ct.store(outputs, index=(m, n), tile=ct.astype(acc, c.dtype))
        mine = (mine - rows * cols) % blocks
        start = end


@functools.lru_cache(maxsize=1024)
def gpu_tile(rows: int, n: int, dtype: str, tensor: bool) -> tuple[int, int, int]:
    """The tile with which ``rows`` rows, a group in the mean, take the least time: its last tile is half full."""
    if not tensor:
        return planning.OTHERS[dtype.partition("_")[0]][0][:3]
    cost = lambda t: (rows + t[0] / 2) / t[0] * ct.cdiv(n, t[1]) * planning.step(*t)
    return (*min(TILES, key=cost), 128 // arrays.BYTES[dtype])


def _check_groups(a: Any, b: Any, offsets: Any, c: Any) -> None:
    m, k = check.rank("grouped_gemm", "a", a, 2)
    groups, _, n = check.rank("grouped_gemm", "b", b, 3)
    check.shape("grouped_gemm", "b", b, (groups, k, n))
    check.shape("grouped_gemm", "offsets", offsets, (groups,))
    check.shape("grouped_gemm", "c", c, (m, n))
    accept("grouped_gemm", a, b, offsets, c)


def grouped_gemm(
    a: Any, b: Any, offsets: Any, c: Any, stream: Any = None,
    *, tf32: bool = False, fast: bool = True,
) -> None:  # fmt: skip
    """``c[s:e] = a[s:e] @ b[i]`` for each group i of rows, from ``s = offsets[i - 1]`` (0 for the first) to
    ``e = offsets[i]``.

    Parameters
    ----------
    a : array (M, K)
        Rows sorted by group.
    b : array (G, K, N)
        A matrix for each group, of any strides.
    offsets : array (G,) of int32
        Where each group ends; never falling, at most M. Groups may be empty. Only the device reads them.
    c : array (M, N)
        Rows from the last offset on stay as they are.
    stream : stream, optional
    tf32, fast : bool
        As for ``gemm``.

    Raises
    ------
    ValueError
        When shapes do not fit, or ``c`` shares memory with another array.
    TypeError
        When ``offsets`` are not int32; else as for ``gemm``.

    Notes
    -----
    One launch, whatever the groups are; sums as for ``gemm``. On a GPU rows of ``a``, ``b`` and ``c`` should be aligned to
    16 bytes. An offset beyond M counts as M, one that falls as the one before it.
    """
    key = look(PAIRS, a, b, offsets, c), tf32, fast
    way = gpu.way_of(key)
    if way is None:  # arrays that look like those of an earlier call have been checked
        _check_groups(a, b, offsets, c)
        way = _first_way(a, b, c, gpu.options(a, tf32, fast))
        gpu.remember(key, way)
    if c.shape[0] and c.shape[1]:
        args = a, b, offsets, c, *way.constants
        launch(stream, way.grid, grouped_gemm_kernel, args, **way.launch)


def _first_way(a: Any, b: Any, c: Any, flags: tuple[bool, bool]) -> gpu.Way:
    n, name, rows = int(c.shape[1]), arrays.dtype_name(a), ct.cdiv(a.shape[0], max(1, b.shape[0]))
    if on_gpu(c):
        tensor = gpu.on_tensor_cores(name, flags)
        tile = gpu_tile(int(rows), n, name, tensor)
        blocks = gpu.units(arrays.device_of(c)) * (1 if tensor else 2)
    else:
        tile = cpu_tile(max(1, rows), n, a.shape[1])
        blocks = tessera.device_info("cpu")["units"]
    return gpu.Way(planning.Plan(tile, 8, 1, False), (blocks, 1, 1), (*tile, 8, *flags))
