# SPDX-License-Identifier: Apache-2.0
"""NVML's short names and system.Device, on the mock NVML of tests/mock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tessera.bindings import nvml
from tessera.core import system
from tessera.core.system import typing as words


@pytest.fixture
def gpu() -> Iterator[int]:
    nvml.init_v2()
    yield nvml.device_get_handle_by_index_v2(1)
    nvml.shutdown()


def test_short_functions_make_and_read_what_c_wants(gpu: int) -> None:
    assert (type(gpu), gpu, nvml.device_get_count_v2()) == (int, 101, 2)
    assert nvml.device_get_name(gpu) == "Mock 1"
    assert nvml.device_get_name(device=100) == "Mock 0"
    assert nvml.device_get_min_max_fan_speed(gpu) == (20, 100)
    assert nvml.device_get_temperature_v(gpu, nvml.TemperatureSensors.TEMPERATURE_GPU) == 41
    assert nvml.device_get_handle_by_uuidv(nvml.UUIDType.ASCII, b"GPU-1") == gpu
    processes = nvml.device_get_compute_running_processes_v3(gpu)
    assert [(p.pid, p.used_gpu_memory) for p in processes] == [(11, 1000), (12, 2000)]
    with pytest.raises(TypeError):
        nvml.device_get_name(gpu, 1)


def test_short_functions_raise_the_class_of_the_status(gpu: int) -> None:
    with pytest.raises(nvml.NotSupportedError, match="Not Supported"):
        nvml.device_get_serial(gpu)
    nvml.shutdown()
    with pytest.raises(nvml.UninitializedError):
        nvml.device_get_count_v2()
    nvml.init_v2()


def test_structs_have_both_spellings(gpu: int) -> None:
    info = nvml.device_get_pci_info_v3(gpu)
    assert isinstance(info, nvml.PciInfo) and nvml.PciInfo is nvml.nvmlPciInfo_t
    assert (info.bus_id, info.bus, info.device_, info.pci_device_id) == (
        "00000000:04:00.0",
        4,
        1,
        0x233510DE,
    )
    assert info.pciDeviceId == info.pci_device_id and info.ptr == info.getPtr()
    chips = nvml.device_get_bridge_chip_info(gpu).bridge_chip_info
    assert [(chip.type, chip.fw_version) for chip in chips] == [(1, 7)]


def test_enums_have_short_members() -> None:
    assert nvml.ComputeMode.COMPUTEMODE_PROHIBITED == 2 and nvml.Return.SUCCESS == 0
    assert nvml.PageRetirementCause.COUNT == 2 and nvml.NvlinkVersion.VERSION_4_0 == 6
    assert nvml.DeviceArch.HOPPER == 9 and nvml.FI.DEV_NVLINK_LINK_COUNT == 91
    assert nvml.MAX_GPU_UTILIZATIONS == 8
    with pytest.raises(AttributeError, match="no attribute 'device_get_nothing'"):
        nvml.device_get_nothing  # noqa: B018


def test_field_values_of_the_bindings(gpu: int) -> None:
    asked = nvml.FieldValue(2)
    asked[0].field_id, asked[1].field_id, asked[1].scope_id = 91, 83, 3
    told = nvml.device_get_field_values(gpu, asked)
    assert told is asked and told.nvml_return == [nvml.Return.SUCCESS] * 2
    assert told[0].value.ui_val[0] == 2 and told[1].value.ull_val[0] == (1 << 40) + 3
    assert len(nvml.device_get_field_values(gpu, [])) == 0
    (missing,) = nvml.device_get_field_values(gpu, [7])
    assert missing.nvml_return == nvml.Return.ERROR_NOT_SUPPORTED


def test_field_values_of_a_device() -> None:
    device = system.Device(index=0)
    energy, links, none = device.get_field_values(
        [(words.FieldId.DEV_TOTAL_ENERGY_CONSUMPTION, 3), 91, 7]
    )
    assert (energy.value, energy.scope_id, energy.timestamp) == ((1 << 40) + 3, 3, 5)
    assert links.field_id == words.FieldId.DEV_NVLINK_LINK_COUNT and links.value == 2
    with pytest.raises(system.NotSupportedError, match="field 7"):
        none.value  # noqa: B018
    values = device.get_field_values([91, 83])
    values.validate()
    assert values.get_all_values() == [2, 1 << 40] and len(device.get_field_values([])) == 0
    device.clear_field_values([91])
    with pytest.raises(system.InvalidArgumentError):
        device.clear_field_values([0])


def test_lists_are_asked_for_by_their_number(gpu: int) -> None:
    assert nvml.system_get_topology_gpu_set(3) == [100, 101]
    near = list(system.Device.get_all_devices_with_cpu_affinity(3))
    assert near == list(system.Device.get_all_devices())
    assert [p.pid for p in near[0].compute_running_processes] == [11, 12]


def test_fans() -> None:
    device = system.Device(index=0)
    fan = device.get_fan()
    assert (fan.speed, fan.speed_rpm, fan.target_speed, fan.min_max_speed) == (
        30,
        1200,
        30,
        (20, 100),
    )
    fan.speed = 50
    assert (fan.speed, fan.control_policy) == (50, words.FanControlPolicy.MANUAL)
    fan.set_default_speed()
    assert fan.control_policy == "temperature_controlled"
    with pytest.raises(ValueError, match="there is no fan 1: the device has 1"):
        device.get_fan(1)


def test_links() -> None:
    device = system.Device(index=0)
    up, down = device.get_nvlinks()
    assert (up.state, up.version, down.state) == (True, (4, 0), False)
    with pytest.raises(RuntimeError, match="unknown version of NVLink, 99"):
        device.get_nvlink(1).version  # noqa: B018
    with pytest.raises(ValueError, match="there is no link 2"):
        device.get_nvlink(2)
    with pytest.warns(DeprecationWarning, match="max_links"):
        assert type(up).max_links == 18


def test_parts_of_a_gpu() -> None:
    mig = system.Device(index=1).mig
    assert [int(part._handle) for part in mig.get_all_devices()] == [1010, 1012]
    assert mig.get_device_by_index(2).mig.parent == system.Device(index=1)
    event = system.SystemEvent(words.SystemEventType.UNBIND, 0x0400)
    assert event.device == system.Device(index=0)
