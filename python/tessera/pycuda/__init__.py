# SPDX-License-Identifier: Apache-2.0
"""CUDA C from Python with the names and conventions of PyCUDA.

``pycuda.driver``, ``compiler.SourceModule``, ``gpuarray``, ``cumath``, ``curandom``,
``ElementwiseKernel`` and the rest, on ``tessera.bindings``: sources are compiled in the process by
NVRTC, so neither nvcc nor a host compiler is needed. Start with ``import tessera.pycuda.autoinit``;
``python -m tessera run script.py`` answers ``import pycuda``. docs/guide/from-pycuda.md tells what
is equal, better and different.
"""

from __future__ import annotations

__all__ = ["VERSION", "VERSION_STATUS", "VERSION_TEXT"]

# The release of PyCUDA whose interface this is.
VERSION = (2026, 1)
VERSION_STATUS = ""
VERSION_TEXT = "2026.1"
