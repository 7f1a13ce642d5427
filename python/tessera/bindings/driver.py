# SPDX-License-Identifier: Apache-2.0
"""The CUDA driver API (cuda.h of CUDA 13.0): every function, enum, handle and struct.

``err, value = cuMemAlloc(1024)``, or ``value = checked.cuMemAlloc(1024)``. The driver is opened at
the first call; ``TESSERA_CUDA_DRIVER`` names another library.
"""

from __future__ import annotations

from ._api import Api, publish, sizeof
from ._errors import CUDAError
from ._library import DriverLibrary

_api = Api(__name__, DriverLibrary("cuda", "TESSERA_CUDA_DRIVER").find, "DRIVER")


def _raise(function: str, code: object) -> None:
    _, text = _api["cuGetErrorString"](code)
    raise CUDAError(function, code, (text or b"").decode())  # type: ignore[arg-type]


_api.error = _raise
publish(_api, {"sizeof": sizeof, "CUDAError": CUDAError})
