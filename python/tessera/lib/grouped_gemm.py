# SPDX-License-Identifier: Apache-2.0
"""Products of groups of rows, each with a matrix of its own: the layers of a mixture of experts, whose tokens are
sorted by expert. How many rows a group has is known on the device alone."""

from __future__ import annotations

from typing import Any

import tessera.tile as ct

from . import _check as check
from ._gemm_plan import PRECISE, TF32, known_plan, make_plan, remember
from ._rules import RULES, accept
from .gemm import accumulator, begin, launch, look, multiply, place

PAIRS = RULES["grouped_gemm"].pairs


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


KERNELS = {"grouped_gemm": grouped_gemm_kernel}


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
    One launch, whatever the groups are; sums as for ``gemm``. On a GPU rows of ``a``, ``b`` and ``c`` should be
    aligned to 16 bytes. An offset beyond M counts as M, one that falls as the one before it.
    """
    key = look(PAIRS, a, b, offsets, c), tf32, fast
    plan = known_plan(key)
    if plan is None:  # arrays that look like those of an earlier call have been checked
        _check_groups(a, b, offsets, c)
        plan = make_plan(KERNELS, a, b, c, TF32 * bool(tf32) | PRECISE * (not fast))
        remember(key, plan)
    args = a, b, offsets, c, *plan.constants
    launch(stream, plan.grid, plan.kernel, args, **plan.launch)
