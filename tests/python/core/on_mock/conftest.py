# SPDX-License-Identifier: Apache-2.0
"""The mock's state (tests/mock/mock.h), a kernel of it, and a device to use."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from typing import Any

import pytest
from tessera import _core, core


class MockState(ctypes.Structure):
    """mock_state up to what the tests look at."""

    _fields_ = [
        *((name, ctypes.c_int) for name in (
            "n_devices", "cc_major", "cc_minor", "pools", "old_driver", "init_result", "load_result",
            "alloc_failures", "sticky", "keeps_fault", "busy")),
        ("error_log", ctypes.c_char_p), ("info_log", ctypes.c_char_p),
        *((name, ctypes.c_uint) for name in (
            "n_launches", "n_encoded", "n_alloc", "n_free", "n_context", "n_reset", "n_attr", "n_load",
            "n_unload", "n_streams", "n_events")),
        ("bytes_out", ctypes.c_size_t), ("current", ctypes.c_void_p), ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3), ("shared_bytes", ctypes.c_uint), ("stream", ctypes.c_void_p),
        ("pdl", ctypes.c_int), ("cluster", ctypes.c_uint), ("params", ctypes.c_void_p),
        ("values", ctypes.c_uint64 * 300), ("n_values", ctypes.c_uint64), ("attr", ctypes.c_int * 32),
        ("n_param_bytes", ctypes.c_size_t), ("param_bytes", ctypes.c_size_t * 300),
        ("priority", ctypes.c_int), ("event_flags", ctypes.c_uint), ("vmm_is_adjacent", ctypes.c_int),
        ("vmm_failures", ctypes.c_int), ("n_reserved", ctypes.c_uint), ("n_physical", ctypes.c_uint),
        ("n_mapped", ctypes.c_uint), ("is_capturing", ctypes.c_int),
    ]  # fmt: skip


@pytest.fixture
def mock() -> Iterator[MockState]:
    """The mock as new; nothing that a test made may be left over."""
    state = MockState.in_dll(ctypes.CDLL(os.environ["TESSERA_CUDA_DRIVER"]), "mock_state_data")
    state.alloc_failures = state.sticky = state.busy = state.n_values = state.n_param_bytes = 0
    yield state
    state.sticky = 0


@pytest.fixture
def device(mock: MockState) -> core.Device:
    chosen = core.Device(0)
    chosen.set_current()
    return chosen


@pytest.fixture
def make_kernel(mock: MockState) -> Any:
    """make_kernel(8, 4): a kernel whose parameters have these sizes; mock.values get their
    bytes."""

    def make(*sizes: int) -> Any:
        mock.n_param_bytes = mock.n_values = len(sizes)
        mock.param_bytes[: len(sizes)] = list(sizes)
        return _core.NativeKernel._create(2 << 8, ctypes.addressof(mock), False, None, "scale")

    return make
