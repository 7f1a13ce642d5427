# SPDX-License-Identifier: Apache-2.0
"""Numbers that NVML knows by the id of a field: energy, errors, counters of links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...bindings import nvml
from . import typing as words
from ._nvml_context import ask

__all__ = ["FieldValue", "FieldValues"]

# Member of the union by the type of a value.
_MEMBERS = {
    "DOUBLE": "dVal",
    "UNSIGNED_INT": "uiVal",
    "UNSIGNED_LONG": "ulVal",
    "UNSIGNED_LONG_LONG": "ullVal",
    "SIGNED_LONG_LONG": "sllVal",
    "SIGNED_INT": "siVal",
    "UNSIGNED_SHORT": "usVal",
}


class FieldValue:
    """The value of one field."""

    __slots__ = ("_told",)

    def __init__(self, told: Any) -> None:
        self._told = told

    field_id = property(lambda self: words.FieldId(self._told.fieldId), doc="Its FieldId.")  # type: ignore[attr-defined]
    scope_id = property(lambda self: int(self._told.scopeId), doc="Of a link, say.")
    timestamp = property(lambda self: int(self._told.timestamp), doc="Microseconds since 1970.")
    latency_usec = property(lambda self: int(self._told.latencyUsec), doc="How long it took.")

    def validate(self) -> None:
        """Raises what kept NVML from telling the value."""
        status = self._told.nvmlReturn
        if status:
            nvml._raise(f"field {self._told.fieldId}", status)

    @property
    def value(self) -> int | float:
        """The number; raises NvmlError where there is none."""
        self.validate()
        kind = nvml.nvmlValueType_t(self._told.valueType).name.removeprefix("NVML_VALUE_TYPE_")
        return getattr(self._told.value, _MEMBERS[kind])  # type: ignore[no-any-return]


class FieldValues(Sequence[FieldValue]):
    """The values of several fields, asked for at once."""

    def __init__(self, told: Sequence[Any]) -> None:
        self._values = [FieldValue(one) for one in told]

    def __getitem__(self, index: Any) -> Any:
        return self._values[index]

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[FieldValue]:
        return iter(self._values)

    def validate(self) -> None:
        """Raises for the first field that has no value."""
        for value in self._values:
            value.validate()

    def get_all_values(self) -> list[int | float]:
        """The numbers; raises where one is missing."""
        return [value.value for value in self._values]


def field_values(
    function: str, device: Any, field_ids: Sequence[int | tuple[int, int]]
) -> list[Any]:
    """Asks a function for fields: ids or pairs of an id and a scope."""
    size = nvml.sizeof(nvml.nvmlFieldValue_t)
    room = bytearray(size * len(field_ids))
    for i, field in enumerate(field_ids):
        id_, scope = field if isinstance(field, tuple) else (field, 0)
        one = nvml.nvmlFieldValue_t(fieldId=int(id_), scopeId=int(scope))
        room[i * size : (i + 1) * size] = bytes(one)
    if field_ids:  # NVML refuses an empty list
        ask(function, device, len(field_ids), room)
    return [_record(room[i * size : (i + 1) * size]) for i in range(len(field_ids))]


def _record(data: bytearray) -> Any:
    made = nvml.nvmlFieldValue_t()
    memoryview(made)[:] = data
    return made
