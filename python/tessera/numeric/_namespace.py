# SPDX-License-Identifier: Apache-2.0
"""What the array standard asks about a module: devices, dtypes, what depends on data (version 2025.12)."""

from __future__ import annotations

from typing import Any

import numpy

from tessera import _core

from . import _setup

_NUMPYS = numpy.__array_namespace_info__()


class __array_namespace_info__:
    """The devices and dtypes of this module, as the array standard asks for them."""

    def capabilities(self) -> dict[str, Any]:
        """Masks as indices and shapes that depend on data work; how many axes an array may have."""
        return dict(_NUMPYS.capabilities())

    def default_device(self) -> str:
        """Where arrays are made that name no device."""
        return _setup.default_device()

    def devices(self) -> Any:
        """The CPU, then the GPUs of this machine; a list, as NumPy's (in `array_api` a tuple, as the standard's)."""
        return ["cpu", *(f"cuda:{i}" for i in range(_core.device_count("cuda")))]

    def _check(self, device: Any) -> None:
        if device is not None:
            _core.numeric_place(device)

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of arrays that name none, the same on all devices."""
        self._check(device)
        return dict(_NUMPYS.default_dtypes())

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Names and dtypes of the standard, of one kind or of several, the same on all devices."""
        self._check(device)
        return dict(_NUMPYS.dtypes(kind=kind))
