# SPDX-License-Identifier: Apache-2.0
"""Tuning: the fastest tile sizes and hints of a kernel, found by timing and kept on disk.

    @ct.kernel(tuned=tune.Choices(
        space={"TM": [64, 128], "TN": [128, 256], "num_stages": [3, 4]},
        grid=lambda c, a, b, out: (ct.cdiv(out.shape[0], c.TM), ct.cdiv(out.shape[1], c.TN)),
    ))
    def matmul(a, b, out, TM: ct.Constant[int], TN: ct.Constant[int]): ...

    matmul.tune(a, b, out)   # once; later launches, of other processes too, take the best
    matmul(a, b, out)

``search`` does the same for any kernel; ``exhaustive_search`` has the signature of
``cuda.tile.tune``. See docs/performance.md.
"""

from __future__ import annotations

from ._peer import exhaustive_search
from ._result import Measurement, TuningResult
from ._search import search
from ._space import Config
from ._tuned import Choices, Tuned, best, tuned

__all__ = [
    "Choices",
    "Config",
    "Measurement",
    "Tuned",
    "TuningResult",
    "best",
    "exhaustive_search",
    "search",
    "tuned",
]
