# SPDX-License-Identifier: Apache-2.0
"""The state of the mock driver as ctypes see it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator

import pytest


class MockTensorMap(ctypes.Structure):
    """mock_tmap: what a tensor map was encoded of."""

    _fields_ = [
        *((name, ctypes.c_int) for name in ("type", "swizzle", "promotion", "fill", "interleave")),
        ("rank", ctypes.c_uint32), ("box", ctypes.c_uint32 * 5), ("steps", ctypes.c_uint32 * 5),
        ("base", ctypes.c_void_p), ("dims", ctypes.c_uint64 * 5), ("strides", ctypes.c_uint64 * 5),
    ]  # fmt: skip


class MockState(ctypes.Structure):
    """The beginning of mock_state (tests/mock/mock.h), member by member, as far as tests look."""

    _fields_ = [
        *((name, ctypes.c_int) for name in (
            "n_devices", "cc_major", "cc_minor", "pools", "old_driver", "init_result", "load_result",
            "alloc_failures", "bad_loads", "serial_loads", "sticky", "keeps_fault", "busy")),
        ("error_log", ctypes.c_char_p), ("info_log", ctypes.c_char_p),
        *((name, ctypes.c_uint) for name in (
            "n_launches", "n_encoded", "n_alloc", "n_free", "n_context", "n_reset", "n_attr", "n_load",
            "n_unload", "n_tried", "n_streams", "n_events")),
        ("bytes_out", ctypes.c_size_t), ("current", ctypes.c_void_p), ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3), ("shared_bytes", ctypes.c_uint), ("stream", ctypes.c_void_p),
        ("pdl", ctypes.c_int), ("cluster", ctypes.c_uint), ("params", ctypes.c_void_p),
        ("values", ctypes.c_uint64 * 300), ("n_values", ctypes.c_uint64), ("attr", ctypes.c_int * 32),
        ("n_param_bytes", ctypes.c_size_t), ("param_bytes", ctypes.c_size_t * 300),
        ("priority", ctypes.c_int), ("event_flags", ctypes.c_uint), ("vmm_is_adjacent", ctypes.c_int),
        ("vmm_failures", ctypes.c_int), ("n_reserved", ctypes.c_uint), ("n_physical", ctypes.c_uint),
        ("n_mapped", ctypes.c_uint), ("is_capturing", ctypes.c_int), ("callback_result", ctypes.c_int),
        ("n_syncs", ctypes.c_uint), ("kernel", ctypes.c_void_p), ("user", ctypes.c_void_p),
        ("keep_failures", ctypes.c_int), *((name, ctypes.c_uint) for name in (
            "n_graphs", "n_nodes", "n_execs", "n_kept", "n_graph_launches", "n_uploads", "n_arrays",
            "n_objects")),
        ("resource", ctypes.c_char * 144), ("texture", ctypes.c_char * 104),
        ("is_full", ctypes.c_int),
        ("pool_props", ctypes.c_char * 88), ("has_peers", ctypes.c_int),
        *((name, ctypes.c_uint) for name in ("n_pools", "n_green", "n_access_calls", "n_trims")),
        ("tmap", MockTensorMap * 16), ("code", ctypes.c_char * 1024),
    ]  # fmt: skip


@pytest.fixture
def mock() -> Iterator[MockState]:
    """The mock as new, in a process that has it as its driver; for `conftest.py` of folders on_mock."""
    state = MockState.in_dll(ctypes.CDLL(os.environ["TESSERA_CUDA_DRIVER"]), "mock_state_data")
    state.alloc_failures = state.sticky = state.busy = 0
    state.n_values = 0
    yield state
    state.sticky = 0
