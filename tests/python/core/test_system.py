# SPDX-License-Identifier: Apache-2.0
"""system and checkpoint as far as they go without a driver."""

from __future__ import annotations

import pytest

from tessera.bindings import nvml
from tessera.core import checkpoint, system
from tessera.core.system import typing as words
from tessera.core.system._device import _unpack_bitmask


def test_words_stand_for_numbers() -> None:
    assert words.number_of(words.ClockType, "memory") == 2
    assert words.word_of(words.GpuP2PStatus, 1) == "chipset not supported"
    assert words.words_of(words.EventType, 8 | 16) == ["xid_critical_error", "clock"]
    assert words.FieldId.DEV_TOTAL_ENERGY_CONSUMPTION == 83
    with pytest.raises(ValueError, match="'x' is no ClockType; there are graphics, sm"):
        words.number_of(words.ClockType, "x")


def test_bits_become_numbers() -> None:
    assert _unpack_bitmask([5, 1]) == [0, 2, 64]
    with pytest.raises(TypeError):
        _unpack_bitmask(1)  # type: ignore[arg-type]


def test_every_status_has_its_exception() -> None:
    assert len(nvml.ERRORS) == 31
    assert issubclass(system.NotSupportedError, system.NvmlError)
    error = nvml.ERRORS[3]
    assert error is system.NotSupportedError
    kind = nvml.nvmlMemory_v2_t
    assert nvml.struct_version(kind, 2) == nvml.sizeof(kind) | 2 << 24


def test_without_nvml_the_error_says_what_is_missing() -> None:
    if system.CUDA_BINDINGS_NVML_IS_COMPATIBLE:
        pytest.skip("NVML is here")
    with pytest.raises(RuntimeError, match="requires NVML support"):
        system.get_kernel_mode_driver_version()
    with pytest.raises(ValueError, match="exactly one of index, uuid and pci_bus_id"):
        system.Device()


def test_a_process_is_a_positive_int() -> None:
    assert checkpoint.Process(7).pid == 7
    with pytest.raises(TypeError, match="pid must be an int"):
        checkpoint.Process(True)
    with pytest.raises(ValueError, match="pid must be a positive int"):
        checkpoint.Process(0)
