# SPDX-License-Identifier: Apache-2.0
"""The version of the host objects: that of Tessera."""

from __future__ import annotations

from .. import __version__

__all__ = ["__version__"]
