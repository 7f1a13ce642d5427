# SPDX-License-Identifier: Apache-2.0
"""The linker of PTX, LTO-IR and objects (nvJitLink.h of CUDA 13.0). It needs no GPU.

Handles are ints; a function that fails raises ``nvJitLinkError``. ``TESSERA_PATH_NVJITLINK`` names
another library file.
"""

from __future__ import annotations

from typing import Any

from ._api import Api, publish
from ._errors import nvJitLinkError
from ._library import Library

_library = Library("nvJitLink")
_api = Api(__name__, _library.find, "NVJITLINK")
_api.raising = True


def _raise(_function: str, code: Any) -> None:
    raise nvJitLinkError(code)


_api.error = _raise
publish(_api, {"nvJitLinkError": nvJitLinkError})
