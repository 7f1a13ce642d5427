# SPDX-License-Identifier: Apache-2.0
"""NVRTC, the compiler of CUDA C++ at run time (nvrtc.h of CUDA 13.0). It needs no GPU.

``TESSERA_PATH_NVRTC`` names another library file.
"""

from __future__ import annotations

from ._api import Api, publish, sizeof
from ._errors import NVRTCError
from ._library import Library

_api = Api(__name__, Library("nvrtc").find, "NVRTC")


def _raise(function: str, code: object) -> None:
    _, text = _api["nvrtcGetErrorString"](code)
    raise NVRTCError(function, code, (text or b"").decode())  # type: ignore[arg-type]


_api.error = _raise
publish(_api, {"sizeof": sizeof})
