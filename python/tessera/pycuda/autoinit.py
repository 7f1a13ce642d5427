# SPDX-License-Identifier: Apache-2.0
"""Importing this module makes the device's primary context current: ``device``, ``context``.

``CUDA_DEVICE`` or the file ``~/.cuda_device`` name the device by number. Torch, CuPy and
``tessera`` itself work in the same context.
"""

from __future__ import annotations

import atexit

from . import driver
from .tools import make_default_context

__all__ = ["context", "device"]

driver.init()
context = make_default_context()
device = context.get_device()
atexit.register(context.detach)
