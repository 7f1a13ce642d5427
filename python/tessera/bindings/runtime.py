# SPDX-License-Identifier: Apache-2.0
"""The CUDA runtime API (cuda_runtime_api.h of CUDA 13.0): what can be called without a host
compiler.

It calls the installed libcudart (docs/adr/0008-bindings-by-table.md); ``TESSERA_PATH_CUDART`` names
another file. Kernels are launched with ``tessera.bindings.driver``.
"""

from __future__ import annotations

from typing import Any

from ._api import Api, publish, sizeof
from ._errors import CUDAError
from ._library import Library

_library = Library("cudart")
_api = Api(__name__, _library.find, "RUNTIME")


def _raise(function: str, code: object) -> None:
    _, text = _api["cudaGetErrorString"](code)
    hint = _no_driver() if code == _api["cudaError_t"].cudaErrorInsufficientDriver else ""
    raise CUDAError(function, code, (text or b"").decode() + hint)  # type: ignore[arg-type]


def _no_driver() -> str:
    """libcudart says of a driver that is not there that it is too old."""
    from ..pathfinder import DynamicLibNotFoundError, locate_nvidia_dynamic_lib

    try:
        locate_nvidia_dynamic_lib("cuda")
    except DynamicLibNotFoundError as error:
        return f": {error}"
    return ""


def getLocalRuntimeVersion() -> tuple[object, int]:  # noqa: N802
    """(status, version) of the libcudart that is installed here."""
    return _api["cudaRuntimeGetVersion"]()  # type: ignore[no-any-return]


def make_cudaPitchedPtr(d: Any, p: int, xsz: int, ysz: int) -> Any:  # noqa: N802
    """A cudaPitchedPtr: address, pitch in bytes, width and height in elements."""
    return _api["cudaPitchedPtr"](ptr=d, pitch=p, xsize=xsz, ysize=ysz)


def make_cudaPos(x: int, y: int, z: int) -> Any:  # noqa: N802
    """A cudaPos."""
    return _api["cudaPos"](x=x, y=y, z=z)


def make_cudaExtent(w: int, h: int, d: int) -> Any:  # noqa: N802
    """A cudaExtent: width in elements or bytes, height, depth."""
    return _api["cudaExtent"](width=w, height=h, depth=d)


_api.error = _raise
_made = (make_cudaPitchedPtr, make_cudaPos, make_cudaExtent, getLocalRuntimeVersion)
publish(_api, {"sizeof": sizeof, **{function.__name__: function for function in _made}})
