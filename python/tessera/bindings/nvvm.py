# SPDX-License-Identifier: Apache-2.0
"""libNVVM, the compiler of NVVM IR (nvvm.h of CUDA 13.0). It needs no GPU.

Handles are ints; a function that fails raises ``nvvmError``. ``TESSERA_PATH_NVVM`` names another
library file.
"""

from __future__ import annotations

from ._api import raising
from ._errors import nvvmError

_api, _library = raising(__name__, "nvvm", nvvmError)
