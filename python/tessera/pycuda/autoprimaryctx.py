# SPDX-License-Identifier: Apache-2.0
"""The same as ``autoinit``, which uses the primary context too."""

from __future__ import annotations

from .autoinit import context, device

__all__ = ["context", "device"]
