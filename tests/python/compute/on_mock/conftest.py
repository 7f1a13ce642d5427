# SPDX-License-Identifier: Apache-2.0
"""The mock's state (tests/mock/mock.h)."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator

import pytest

from tests.python.mock_driver import MockState


@pytest.fixture
def mock() -> Iterator[MockState]:
    """The mock as new."""
    state = MockState.in_dll(ctypes.CDLL(os.environ["TESSERA_CUDA_DRIVER"]), "mock_state_data")
    state.alloc_failures = state.sticky = state.busy = 0
    state.n_values = 0
    yield state
    state.sticky = 0
