# SPDX-License-Identifier: Apache-2.0
"""Names that programs reach into the peer for: is a function of nvJitLink or libNVVM there, and
where?"""

from __future__ import annotations

from . import nvjitlink, nvvm, utils

__all__ = ["nvjitlink", "nvvm", "utils"]
