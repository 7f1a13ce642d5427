# SPDX-License-Identifier: Apache-2.0
"""Curves and surfaces through points: SciPy's, on the host (`tessera.numeric.fallback`)."""

from __future__ import annotations

from ._missing import of_module

__all__: list[str] = []

__getattr__ = of_module("interpolate")
