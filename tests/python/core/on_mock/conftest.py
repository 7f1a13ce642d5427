# SPDX-License-Identifier: Apache-2.0
"""The mock's state (tests/mock/mock.h), a kernel of it, and a device to use."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from typing import Any

import pytest
from tessera import _core, core

from tests.python.mock_driver import MockState


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
