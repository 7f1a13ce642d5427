# SPDX-License-Identifier: Apache-2.0
"""The words of NVML's enums, with the numbers they stand for."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ..typing import StrEnum

# Enum: word=number of NVML ...
_TABLE = """
AddressingMode: hmm=1 ats=2
AffinityScope: node=0 socket=1
ClockId: current=0 customer_boost_max=3
ClocksEventReasons: none=0 gpu_idle=1 applications_clocks_setting=2 sw_power_cap=4 hw_slowdown=8
 sync_boost=16 sw_thermal_slowdown=32 hw_thermal_slowdown=64 hw_power_brake_slowdown=128
 display_clock_setting=256
ClockType: graphics=0 sm=1 memory=2 video=3
CoolerControl: toggle=1 variable=2
CoolerTarget: none=1 gpu=2 memory=4 power_supply=8
EventType: none=0 single_bit_ecc_error=1 double_bit_ecc_error=2 pstate=4 xid_critical_error=8
 clock=16 power_source_change=128 mig_config_change=256 single_bit_ecc_error_storm=512
 dram_retirement_event=1024 dram_retirement_failure=2048 non_fatal_poison_error=4096
 fatal_poison_error=8192 gpu_unavailable_error=16384 gpu_recovery_action=32768
FanControlPolicy: temperature_controlled=0 manual=1
GpuP2PCapsIndex: read=0 write=1 nvlink=2 atomics=3 pci=4 prop=4 unknown=5
GpuP2PStatus: ok=0 chipset_not_supported=1 gpu_not_supported=2 ioh_topology_not_supported=3
 disabled_by_regkey=4 not_supported=5 unknown=6
GpuTopologyLevel: internal=0 single=10 multiple=20 hostbridge=30 node=40 system=50
InforomObject: oem=0 ecc=1 power=2 den=3
SystemEventType: unbind=1 bind=2
TemperatureThresholds: shutdown=0 slowdown=1 mem_max=2 gpu_max=3 acoustic_min=4 acoustic_curr=5
 acoustic_max=6 gps_curr=7
ThermalController: gpu_internal=1 adm1032=2 adt7461=3 max6649=4 max1617=5 lm99=6 lm89=7 lm64=8
 g781=9 adt7473=10 sbmax6649=11 vbiosevt=12 os=13 nvsyscon_canoas=14 nvsyscon_e551=15 max6649r=16
 adt7473s=17 unknown=-1
ThermalTarget: none=0 gpu=1 memory=2 power_supply=4 board=8 vcd_board=9 vcd_inlet=10 vcd_outlet=11
 all=15
"""
# Where the text of a member is not its name in lower case.
_TEXTS = {
    "chipset_not_supported": "chipset not supported",
    "gpu_not_supported": "GPU not supported",
    "ioh_topology_not_supported": "IOH topology not supported",
    "disabled_by_regkey": "disabled by regkey",
    "not_supported": "not supported",
}

_NUMBERS: dict[tuple[str, str], int] = {}  # by enum and member: words repeat


def _enums() -> dict[str, Any]:
    made = {}
    for line in _TABLE.replace("\n ", " ").strip().splitlines():
        name, _, words = line.partition(":")
        rows = dict(word.split("=") for word in words.split())
        members = {word.upper(): _TEXTS.get(word, word) for word in rows}
        made[name] = kind = StrEnum(name, members, module=__name__)  # type: ignore[call-overload]
        _NUMBERS.update({(name, word.upper()): int(number) for word, number in rows.items()})
        kind.__doc__ = f"Words of NVML: {', '.join(rows)}."
    return made


class DeviceArch(IntEnum):
    """Generations of GPUs."""

    KEPLER, MAXWELL, PASCAL, VOLTA, TURING, AMPERE, ADA, HOPPER, BLACKWELL = range(2, 11)
    UNKNOWN = 0xFFFFFFFF


def _number(member: Any) -> int:
    return _NUMBERS[type(member).__name__, member.name]


def number_of(kind: Any, word: Any) -> int:
    """NVML's number of a word of an enum; ValueError names the words there are."""
    try:
        return _number(kind(word))
    except ValueError:
        known = ", ".join(str(member) for member in kind)
        raise ValueError(f"{word!r} is no {kind.__name__}; there are {known}") from None


def word_of(kind: Any, number: int, default: Any = None) -> Any:
    """The word of a number."""
    return next((member for member in kind if _number(member) == number), default)


def words_of(kind: Any, mask: int) -> list[Any]:
    """The words of the bits of a mask."""
    return [member for member in kind if _number(member) & mask]


_MADE = _enums()
globals().update(_MADE)


def __getattr__(name: str) -> Any:
    if name != "FieldId":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ...bindings import nvml

    prefix = "NVML_FI_"
    names = [entry for entry in nvml._api.entries if entry.startswith(prefix)]
    members = {entry.removeprefix(prefix): getattr(nvml, entry) for entry in names}
    globals()[name] = kind = IntEnum("FieldId", members, module=__name__)  # type: ignore[misc]
    return kind


__all__ = ["DeviceArch", "FieldId", *_MADE]
