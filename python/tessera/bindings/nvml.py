# SPDX-License-Identifier: Apache-2.0
"""NVML, the management library of the driver (nvml.h of CUDA 13.0): every function, enum and
struct.

``err, n = nvmlDeviceGetCount()``, or ``checked.nvmlDeviceGetCount()``, which raises the class of
``NvmlError`` that the status names. ``nvmlInit()`` comes first. Texts are written into a bytearray
of the caller, structs into one that is passed; a struct with a ``version`` takes
``struct_version(class, n)``.

The peer's names are here too: ``nvml.device_get_name(device)`` gives a str and raises by itself,
``nvml.ComputeMode`` and ``nvml.PciInfo`` are short for the types of C (see ``_nvml_names.py``).
"""

from __future__ import annotations

from typing import Any

from ._api import Api, publish, sizeof
from ._library import Library

_api = Api(__name__, Library("nvml").find, "NVML")


def _name_fields(cls: Any, layout: str) -> None:
    from ._nvml_names import name_fields

    name_fields(cls, layout)


def _other_name(api: Api, name: str) -> Any:
    from ._nvml_names import find

    return find(api, name)


_api.name_fields, _api.other_name = _name_fields, _other_name


class NvmlError(RuntimeError):
    """A call of ``checked`` failed: ``status`` is the number."""

    status = 0

    def __init__(self, status: Any, function: str = "") -> None:
        self.status = int(status)
        _, text = _api["nvmlErrorString"](status)
        super().__init__(f"{function}: {status.name} ({self.status}): {(text or b'').decode()}")


def _class_name(member: str) -> str:
    """NotSupportedError for NVML_ERROR_NOT_SUPPORTED."""
    return "".join(word.title() for word in member.removeprefix("NVML_ERROR_").split("_")) + "Error"


# Exception class of each status.
ERRORS: dict[int, type[NvmlError]] = {
    int(member): type(_class_name(member.name), (NvmlError,), {"__module__": __name__})
    for member in _api["nvmlReturn_t"]
    if member
}


def _raise(function: str, code: Any) -> None:
    raise ERRORS.get(int(code), NvmlError)(code, function)


def struct_version(struct: Any, number: int) -> int:
    """What the field ``version`` of a struct must hold: its size and its number."""
    return sizeof(struct) | number << 24


_api.error = _raise
publish(
    _api,
    {
        "sizeof": sizeof,
        "struct_version": struct_version,
        "NvmlError": NvmlError,
        **{kind.__name__: kind for kind in ERRORS.values()},
    },
)
