# SPDX-License-Identifier: Apache-2.0
"""``launch(stream, config, kernel, *args)``, which is C (ext/host_launch.c)."""

from __future__ import annotations

from .._core import host_launch as launch

__all__ = ["launch"]
