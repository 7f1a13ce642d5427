# SPDX-License-Identifier: Apache-2.0
"""The linker of PTX, LTO-IR and objects (nvJitLink.h of CUDA 13.0). It needs no GPU.

Handles are ints; a function that fails raises ``nvJitLinkError``. ``TESSERA_PATH_NVJITLINK`` names
another library file.
"""

from __future__ import annotations

from ._api import raising
from ._errors import nvJitLinkError

_api, _library = raising(__name__, "nvJitLink", nvJitLinkError)
