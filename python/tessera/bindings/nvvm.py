# SPDX-License-Identifier: Apache-2.0
"""libNVVM, the compiler of NVVM IR (nvvm.h of CUDA 13.0). It needs no GPU.

Handles are ints; a function that fails raises ``nvvmError``. ``TESSERA_PATH_NVVM`` names another
library file.
"""

from __future__ import annotations

from typing import Any

from ._api import Api, publish
from ._errors import nvvmError
from ._library import Library

_library = Library("nvvm")
_api = Api(__name__, _library.find, "NVVM")
_api.raising = True


def _raise(_function: str, code: Any) -> None:
    raise nvvmError(code)


_api.error = _raise
publish(_api, {"nvvmError": nvvmError})
