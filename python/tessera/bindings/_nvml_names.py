# SPDX-License-Identifier: Apache-2.0
"""NVML under its peer's names, made of the table when first named.

``nvml.device_get_name(device)`` is ``nvmlDeviceGetName``: it raises the class of a failed status,
makes the struct or the room that C wants of its caller and gives what was written there: a str, a
struct, a list. Handles are ints. ``nvml.ComputeMode`` is ``nvmlComputeMode_t`` with short members,
``nvml.PciInfo`` is ``nvmlPciInfo_t``, ``nvml.MAX_GPU_UTILIZATIONS`` a constant without its prefix.
The fields of structs have both spellings, ``busId`` and ``bus_id``.
"""

from __future__ import annotations

import functools
import re
import sys
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from .. import _bindings as core
from ._attributes import decode, room

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ._api import Api

__all__ = ["FieldValue", "find", "snake"]

_ROOM = 1024  # bytes for a text: the longest that NVML names is 80, a path is longer

# Enums of the peer that are groups of constants in the header: the prefix of the constants.
_GROUPS = {
    "AdaptiveClockingInfoStatus": "NVML_ADAPTIVE_CLOCKING_INFO_STATUS_",
    "AffinityScope": "NVML_AFFINITY_SCOPE_",
    "BusType": "NVML_BUS_TYPE_",
    "ComputeInstanceProfile": "NVML_COMPUTE_INSTANCE_",
    "DeviceArch": "NVML_DEVICE_ARCH_",
    "DeviceMig": "NVML_DEVICE_MIG_",
    "EncoderQuery": "NVML_ENCODER_QUERY_",
    "FI": "NVML_FI_",
    "FanControlPolicy": "NVML_FAN_POLICY_",
    "FieldId": "NVML_FI_",
    "GpuFabricState": "NVML_GPU_FABRIC_STATE_",
    "GpuInstanceProfile": "NVML_GPU_INSTANCE_",
    "GridLicenseState": "NVML_GRID_LICENSE_STATE_",
    "InitFlag": "NVML_INIT_FLAG_",
    "NvlinkState": "NVML_NVLINK_STATE_",
    "PcieAtomicsCap": "NVML_PCIE_ATOMICS_CAP_",
    "PcieLinkMaxSpeed": "NVML_PCIE_LINK_MAX_",
    "PowerMizerMode": "NVML_POWER_MIZER_MODE_",
    "PowerScope": "NVML_POWER_SCOPE_",
    "PowerSource": "NVML_POWER_SOURCE_",
    "VgpuSchedulerArr": "NVML_VGPU_SCHEDULER_ARR_",
    "VgpuSchedulerPolicy": "NVML_VGPU_SCHEDULER_POLICY_",
}

# What a list holds, by the name of its parameter.
_ELEMENTS = {
    "addresses": "u64",
    "clocksMHz": "u32",
    "computeInstances": "nvmlComputeInstance_t",
    "cpuSet": "u64",
    "deviceArray": "nvmlDevice_t",
    "gpuInstances": "nvmlGpuInstance_t",
    "devices": "nvmlDevice_t",
    "hwbcEntries": "nvmlHwbcEntry_t",
    "infos": "nvmlProcessInfo_t",
    "nodeSet": "u64",
    "pids": "u32",
    "placements": "nvmlGpuInstancePlacement_t",
    "sessionInfo": "nvmlFBCSessionInfo_t",
    "sessionInfos": "nvmlEncoderSessionInfo_t",
    "timestamps": "u64",
    "utilization": "nvmlProcessUtilizationSample_t",
    "vgpuInstances": "u32",
    "vgpuTypeIds": "u32",
}

# Arrays of structs that are filled as far as another field says: array field -> that field.
_COUNTS = {
    "attestationCertChain": "attestationCertChainSize",
    "attestationReport": "attestationReportSize",
    "bridgeChipInfo": "bridgeCount",
    "bwModes": "totalBwModes",
    "cecAttestationReport": "cecAttestationReportSize",
    "certChain": "certChainSize",
    "clkMonList": "clkMonListSize",
    "gridLicensableFeatures": "licensableFeaturesCount",
}


# Structs that are questions: the fields the caller gives, by function of the table. What remains
# of the struct is the answer, if it is one that gets something.
_ASKED = {
    "nvmlDeviceGetClockOffsets": ("type", "pstate"),
    "nvmlDeviceGetConfComputeGpuAttestationReport": ("nonce",),
    "nvmlDeviceGetFanSpeedRPM": ("fan",),
    "nvmlDeviceGetTemperatureV": ("sensorType",),
    "nvmlDeviceSetPowerManagementLimit_v2": ("powerScope", "powerValueMw"),
    "nvmlSystemEventSetCreate": (),
    "nvmlSystemEventSetFree": ("set",),
    "nvmlSystemRegisterEvents": ("eventTypes", "set"),
    "nvmlVgpuTypeGetMaxInstancesPerGpuInstance": ("vgpuTypeId",),
}

# Only under the name of C: structs and arrays that hold, or point to, more than their caller knows.
_ONLY_C = {
    "nvmlDeviceGetProcessesUtilizationInfo", "nvmlDeviceGetRunningProcessDetailList",
    "nvmlDeviceGetSamples", "nvmlDeviceGetVgpuMetadata", "nvmlDeviceGetVgpuProcessUtilization",
    "nvmlDeviceGetVgpuProcessesUtilizationInfo", "nvmlDeviceGetVgpuTypeCreatablePlacements",
    "nvmlDeviceGetVgpuTypeSupportedPlacements", "nvmlDeviceGetVgpuUtilization",
    "nvmlDeviceReadWritePRM_v1", "nvmlGetVgpuCompatibility",
    "nvmlGpuInstanceGetVgpuTypeCreatablePlacements", "nvmlSystemEventSetWait",
    "nvmlVgpuInstanceGetEncoderSessions", "nvmlVgpuInstanceGetFBCSessions",
    "nvmlVgpuInstanceGetMetadata",
}  # fmt: skip


def snake(name: str) -> str:
    """device_get_uuid for DeviceGetUUID."""
    name = name.replace("NvLink", "Nvlink").replace("P2P", "P2p")
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


# ---- structs


def _decoded(value: Any) -> str:
    """An array of char, in whichever form it comes, as a str."""
    data = bytes(n % 256 for n in value)
    return data.split(b"\0")[0].decode(errors="replace")


def _text(field: Any) -> property:
    """An array of char as a str."""

    return property(lambda self: _decoded(field.__get__(self, type(self))), doc="A text.")


def _counted(field: Any, count: str) -> property:
    """As much of an array as is filled."""
    return property(
        lambda self: list(field.__get__(self, type(self)))[: getattr(self, count)],
        doc="The entries there are.",
    )


def _spelling(name: str) -> str:
    return "type" if name == "typename" else snake(name)


def name_fields(cls: Any, layout: str) -> None:
    """Gives a struct's class the short names of its fields beside those of C."""
    counts = set(_COUNTS.values())
    for name in cls._fields:
        field = vars(cls)[name]
        if name in _COUNTS and _COUNTS[name] in cls._fields:
            field = _counted(field, _COUNTS[name])
        elif re.search(rf"\b{name}:i8\[", layout):
            field = _text(field)
        word = "device_" if name == "device" else _spelling(name)
        if name not in counts and not hasattr(cls, word):
            setattr(cls, word, field)
    cls.ptr = property(core.Record.getPtr, doc="The address of the struct.")


def _versioned(api: Api, kind: str) -> Any:
    """A struct with its version filled in."""
    made = api[kind]()
    if "version" in type(made)._fields[:1]:
        number = re.search(r"_v(\d+)_t$", api.canonical(kind))
        made.version = type(made)._type.size | int(number[1] if number else 1) << 24
    return made


def _value_of(struct: Any, asked: tuple[str, ...]) -> Any:
    """A struct, or the one field it has beside its version and the question."""
    known = {"version", *asked}
    fields = [name for name in type(struct)._fields if name not in known]
    if len(fields) == len(type(struct)._fields) or len(fields) != 1:
        return struct
    value = getattr(struct, _spelling(fields[0]))
    return _decoded(value) if isinstance(value, bytes) else value


class _Value:
    """A union: every member as a list of one."""

    def __init__(self, union: Any) -> None:
        self._union = union

    def __getattr__(self, name: str) -> list[Any]:
        return [getattr(self._union, name)]


class FieldValue:
    """``FieldValue(n)``: that many questions; set ``field_id`` and ``scope_id`` of each."""

    __slots__ = ("_items", "_room")

    def __init__(self, size: int = 1) -> None:
        import ctypes

        from .nvml import nvmlFieldValue_t, sizeof

        step = sizeof(nvmlFieldValue_t)
        room = (ctypes.c_char * (size * step))()
        at = ctypes.addressof(room)
        self._set(room, [nvmlFieldValue_t(_ptr=at + i * step) for i in range(size)])

    def _set(self, room: Any, items: list[Any]) -> None:
        object.__setattr__(self, "_room", room)
        object.__setattr__(self, "_items", items)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> FieldValue:
        part = FieldValue.__new__(FieldValue)
        items = self._items[index]
        part._set(self._room, items if isinstance(index, slice) else [items])
        return part

    def __getattr__(self, name: str) -> Any:
        found = [getattr(item, name) for item in self._items]
        found = [_Value(value) for value in found] if name == "value" else found
        return found[0] if len(found) == 1 else found

    def __setattr__(self, name: str, value: Any) -> None:
        for item in self._items:
            setattr(item, name, value)


def _field_values(values: Any) -> FieldValue:
    """A FieldValue of one, or of a list of field ids or of (field id, scope id)."""
    if isinstance(values, FieldValue):
        return values
    made = FieldValue(len(values))
    for one, value in zip(made, values, strict=True):
        one.field_id, one.scope_id = value if isinstance(value, tuple) else (value, 0)
    return made


# ---- functions


def _checked(api: Api, name: str) -> Any:
    """The function of the table that raises."""
    return getattr(sys.modules[api.module].checked, name)


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, core.Handle) else value


class _Call:
    """How a function of the peer becomes one of the table.

    `inputs` are the parameters that the caller gives. `prepare` makes an argument of C for each
    other one and notes how to read it afterwards.
    """

    def __init__(self, api: Api, name: str) -> None:
        self.api, self.name, self.kinds = api, name, api.parameters(name)
        self.is_getter = re.search(r"Get|Wait|SetCreate", name) is not None
        self.asked = _ASKED.get(name)
        self.roles = {p: self.role(p, kind) for p, kind in self.kinds.items()}
        self.inputs = [p for p, role in self.roles.items() if role == "input"]
        self.inputs += self.asked or ()

    def role(self, param: str, kind: str) -> str:
        if kind.startswith(">"):
            return "output"
        if kind == "buffer":
            return "text"
        if kind == "*" and param in _ELEMENTS:
            return "list"
        is_struct = kind.startswith("*") and kind != "*"
        if is_struct and (self.is_getter or self.asked is not None):
            return "struct"
        has_text = "buffer" in self.kinds.values() or param == "length"
        if kind == "u32" and has_text and param in ("length", "size"):
            return "room"
        return "count" if kind == "&u32" else "input"

    def bind(self, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        from inspect import Parameter, Signature

        kind = Parameter.POSITIONAL_OR_KEYWORD
        words = {_spelling(p): p for p in self.inputs}
        bound = Signature([Parameter(word, kind) for word in words]).bind(*args, **named)
        return {words[word]: value for word, value in bound.arguments.items()}

    def __call__(self, *args: Any, **named: Any) -> Any:
        given = self.bind(args, named)
        count = next((p for p, role in self.roles.items() if role == "count"), None)
        if count:
            return self.lists(given, count)
        arguments, results = self.prepare(given, None)
        return self.results(_checked(self.api, self.name)(*arguments), results)

    def prepare(self, given: dict[str, Any], count: int | None) -> tuple[list[Any], list[Any]]:
        """The arguments in the order of C, and a reader for each result that C writes itself."""
        arguments: list[Any] = []
        readers: list[Any] = []
        for param, role in self.roles.items():
            if role == "output":
                continue
            argument, reader = self.argument(param, role, given, count)
            arguments.append(argument)
            if reader:
                readers.append(reader)
        return arguments, readers

    def argument(self, param: str, role: str, given: dict[str, Any], count: int | None) -> Any:
        if role == "input":
            return self.given(param, given[param]), None
        if role in ("room", "count"):
            return (_ROOM if role == "room" else count), None
        if role == "struct":
            return self.struct(param, given)
        if role == "text":
            text = bytearray(_ROOM)
            return text, lambda: _decoded(text)
        return self.room(param, given, count)

    def struct(self, param: str, given: dict[str, Any]) -> Any:
        made = _versioned(self.api, self.kinds[param][1:])
        for field in self.asked or ():
            value = given[field]
            if isinstance(value, bytes):
                value = value.ljust(len(getattr(made, field)), b"\0")
            setattr(made, field, value)
        return made, (lambda: _value_of(made, self.asked or ())) if self.is_getter else None

    def given(self, param: str, value: Any) -> Any:
        """An address may stand for a struct, and a str for a text."""
        kind = self.kinds[param]
        if kind.startswith("*") and isinstance(value, int):
            return self.api[kind[1:]](_ptr=value)
        return value.encode() if kind == "text" and isinstance(value, str) else value

    def room(self, param: str, given: dict[str, Any], count: int | None) -> Any:
        n = (
            count
            if count is not None
            else next((given[p] for p in self.inputs if p.endswith("SetSize")), 0)
        )
        if not n:
            return None, list
        kind = _ELEMENTS[param]
        size = self.api.type(kind).size
        data = room(self.name, n, size)
        return data, lambda: [
            _plain(decode(self.api, kind, data[i * size : (i + 1) * size])) for i in range(n)
        ]

    def results(self, found: Any, readers: list[Any]) -> Any:
        told = found if isinstance(found, tuple) else () if found is None else (found,)
        values = [*(_plain(value) for value in told), *(read() for read in readers)]
        return None if not values else values[0] if len(values) == 1 else tuple(values)

    def lists(self, given: dict[str, Any], count: str) -> Any:
        """Asked for the number first, then for the entries; there may be more by then."""
        from .nvml import InsufficientSizeError

        n = 0
        while True:
            arguments, readers = self.prepare(given, n)
            try:
                found = _checked(self.api, self.name)(*arguments)
            except InsufficientSizeError:
                found = None
            told = found if isinstance(found, tuple) else (found,)
            n_found = next((int(v) for v in reversed(told) if v is not None), n + 16)
            if found is not None and n_found <= n or n_found == 0:
                values = [read()[:n_found] for read in readers]
                return values[0] if len(values) == 1 else tuple(values)
            n = n_found


def _field_getter(api: Api, name: str) -> Callable[..., Any]:
    def call(device: Any, values: Any) -> Any:
        fields = _field_values(values)
        if len(fields):
            address = fields._items[0].getPtr()
            _checked(api, name)(device, len(fields), address)
        return fields if name == "nvmlDeviceGetFieldValues" else None

    return call


def _handle_by_uuid(api: Api, name: str) -> Callable[..., Any]:
    def call(type: int, uuid: bytes) -> int:
        made = _versioned(api, "nvmlUUID_v1_t")
        made.type = type
        value = memoryview(made)[8:]
        value[: len(uuid)] = bytes(uuid)
        return int(_checked(api, name)(made))

    return call


def _performance_states(api: Api, name: str) -> Callable[..., Any]:
    def call(device: Any) -> list[int]:
        room = bytearray(4 * api["NVML_MAX_GPU_PERF_PSTATES"])
        _checked(api, name)(device, room, len(room))
        found = (int.from_bytes(room[i : i + 4], "little") for i in range(0, len(room), 4))
        return [n for n in found if n < api["NVML_MAX_GPU_PERF_PSTATES"]]

    return call


_SPECIAL = {
    "nvmlDeviceClearFieldValues": _field_getter,
    "nvmlDeviceGetFieldValues": _field_getter,
    "nvmlDeviceGetHandleByUUIDV": _handle_by_uuid,
    "nvmlDeviceGetSupportedPerformanceStates": _performance_states,
}


def _function(api: Api, name: str, word: str) -> Any:
    made = _SPECIAL[name](api, name) if name in _SPECIAL else _Call(api, name)

    def call(*args: Any, **named: Any) -> Any:
        return made(*args, **named)

    inputs = ", ".join(_spelling(p) for p in getattr(made, "inputs", ()))
    call.__name__ = call.__qualname__ = word
    call.__doc__ = f"{word}({inputs}): {name}, raising."
    call.__module__ = api.module
    return call


# ---- names


@functools.cache
def _functions(api: Api) -> dict[str, str]:
    """Function of the table by its short name, which has the symbol's version."""
    rows = (row for row in api.entries.items() if row[1][0] == "fn" and row[0] not in _ONLY_C)
    return {snake(e[2].split()[0].removeprefix("nvml")): name for name, e in rows}


def _enum(api: Api, word: str, members: Iterable[tuple[str, int]], prefix: str) -> Any:
    named = {name.removeprefix(prefix): value for name, value in members}
    named = {f"VERSION_{n}" if n[:1].isdigit() else n: v for n, v in named.items()}
    return IntEnum(word, named, module=api.module)  # type: ignore[misc]


def _enum_of_table(api: Api, word: str, entry: str) -> Any:
    members = [(name, int(member)) for name, member in api[entry].__members__.items()]
    own = f"NVML_{snake(word).upper()}_"
    prefix = own if all(name.startswith(own) for name, _ in members) else "NVML_"
    return _enum(api, word, members, prefix)


def find(api: Api, word: str) -> Any:
    """What a short name stands for; KeyError for no name."""
    if word == "FieldValue":
        return FieldValue
    if word in _GROUPS:
        names = [entry for entry in api.entries if entry.startswith(_GROUPS[word])]
        return _enum(api, word, [(name, api[name]) for name in names], _GROUPS[word])
    for entry in (f"nvml{word}_t", f"nvml{word}"):
        kind = api.entries.get(api.canonical(entry), [""])[0]
        if kind in ("enum", "struct"):
            return _enum_of_table(api, word, entry) if kind == "enum" else api[entry]
    if f"NVML_{word}" in api.entries:
        return api[f"NVML_{word}"]
    return _function(api, _functions(api)[word], word)
