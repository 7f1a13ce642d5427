# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: programs that measure Tessera beside whatever peers are installed, in one run.

``python -m bench`` runs them all; ``python -m bench memory gemm --device cuda`` some. Each peer gets the
same fresh random data, results are checked against float64 before anything is timed, rounds are
interleaved (A, B, C, A, B, C, ...), and every figure is a median with its spread. ``--markdown FILE``
appends the tables that docs/benchmarks.md holds; ``--json FILE`` one line per figure.
"""

import os

os.environ.setdefault("TESSERA_TIERS", "0")  # fast code from the first call on: samples would be of both kinds
