# SPDX-License-Identifier: Apache-2.0
"""How rows that are long for one thread block are shared by those of a cluster."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import tessera.tile as ct

from . import multiprocessors, next_power_of_two, on_gpu


class Share(NamedTuple):
    """How a cluster takes long rows."""

    blocks: int  # of a cluster
    warps: int  # of a block
    kept: int  # blocks that a multiprocessor holds at once; 0: as many as fit
    # Rows of a cluster: 1, or several, of which the next is on its way while one is computed; 0:
    # all rows, dealt out to the clusters that the GPU holds at once.
    rows: int
    # The rows are taken all at once: weights are read and sums exchanged once for all.
    together: bool = False


# By operation, bytes of an element and columns: the fastest of some forty each on an H200.
SHARES = {
    ("softmax", 4, 8192): Share(2, 4, 4, 1),
    ("softmax", 4, 16384): Share(4, 4, 6, 1),
    ("softmax", 4, 32768): Share(8, 4, 6, 1),
    ("softmax", 4, 65536): Share(8, 4, 0, 8),
    ("softmax", 2, 16384): Share(2, 8, 0, 1),
    ("softmax", 2, 32768): Share(8, 4, 0, 4),
    ("softmax", 2, 65536): Share(4, 8, 0, 4),
    ("layer_norm", 4, 16384): Share(4, 8, 2, 4, together=True),
    ("layer_norm", 4, 32768): Share(8, 8, 2, 4, together=True),
    ("layer_norm", 4, 65536): Share(16, 8, 2, 4, together=True),
    ("layer_norm", 2, 32768): Share(2, 16, 1, 0),
    ("layer_norm", 2, 65536): Share(8, 4, 0, 8),
    ("rms_norm", 4, 16384): Share(2, 8, 3, 1),
    ("rms_norm", 4, 32768): Share(4, 8, 0, 1),
    ("rms_norm", 4, 65536): Share(4, 8, 2, 1),
    ("rms_norm", 2, 32768): Share(4, 8, 0, 4),
    ("rms_norm", 2, 65536): Share(8, 4, 0, 8),
}


@functools.lru_cache(maxsize=1)
def _has_clusters() -> bool:
    import tessera

    return bool(tessera.device_info("cuda")["compute_capability"] >= (9, 0))


def share_of(operation: str, x: Any) -> Share | None:
    """How the rows of ``x`` (rows, columns) are shared; None: a block takes them whole."""
    if not on_gpu(x) or not _has_clusters():
        return None
    cols, itemsize = x.shape[1], x.dtype.itemsize
    if operation != "softmax" and cols > 32768 and cols * itemsize % 16:
        # Such rows are read by elements; weights would take too much memory to join them.
        return None
    return SHARES.get((operation, itemsize, next_power_of_two(cols)))


@functools.lru_cache(maxsize=64)
def _hinted(kernel: Any, share: Share) -> Any:
    hints = {"occupancy": share.kept} if share.kept else {}
    return kernel.replace_hints(num_ctas=share.blocks, num_worker_warps=share.warps, **hints)


def launch_shared(
    share: Share,
    kernels: tuple[Any, Any],
    arguments: tuple[Any, ...],
    constants: tuple[Any, ...],
    stream: Any,
) -> None:
    """Launches the first kernel, whose blocks take rows at once (its constants begin with their
    number), or the second, whose blocks walk over rows. The first argument is the array of rows.
    """
    rows = arguments[0].shape[0]
    if share.rows == 1 or share.together:
        grid = (ct.cdiv(rows, share.rows), 1, 1)
        ct.launch(stream, grid, _hinted(kernels[0], share), (*arguments, share.rows, *constants))
        return
    if share.rows:
        blocks = ct.cdiv(rows, share.rows)
    else:
        blocks = min(rows, multiprocessors() * max(1, share.kept) // share.blocks)
    ct.launch(stream, (blocks, 1, 1), _hinted(kernels[1], share), (*arguments, *constants))
