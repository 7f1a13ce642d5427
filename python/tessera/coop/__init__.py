# SPDX-License-Identifier: Apache-2.0
"""Collectives for kernels of threads: what the threads of a block, or the lanes of a warp, do together.

``coop.block.reduce(x, op, threads=128)`` in a kernel of `tessera.cuda`. Each is a function in the language of kernels
itself, in this folder: compiled with the kernel, for GPUs and for the CPU device. See docs/guide/coop.md.
"""

from __future__ import annotations

from . import block, warp
from ._primitives import StatefulFunction

__all__ = ["StatefulFunction", "block", "warp"]
