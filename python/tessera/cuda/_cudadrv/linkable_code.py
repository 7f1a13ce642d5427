# SPDX-License-Identifier: Apache-2.0
"""Code that kernels are linked with."""

from __future__ import annotations

from .._linking import LTOIR, Archive, Cubin, CUSource, Fatbin, LinkableCode, Object, PTXSource

__all__ = ["Archive", "CUSource", "Cubin", "Fatbin", "LTOIR", "LinkableCode", "Object", "PTXSource"]
