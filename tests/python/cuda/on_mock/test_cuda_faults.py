# SPDX-License-Identifier: Apache-2.0
"""A fault of a kernel of threads on a GPU, and the reset after it."""

from __future__ import annotations

import numpy as np
import pytest
from tessera import cuda, reset

from tests.python.mock_driver import MockState

ILLEGAL_ADDRESS = 700


@cuda.jit
def writes(x):
    x[cuda.grid(1)] = 1


def test_a_fault_names_the_kernel_and_kernels_run_after_the_reset(mock: MockState) -> None:
    lost, host = cuda.to_device(np.zeros(64)), np.zeros(64)
    writes[1, 64](lost)
    mock.sticky = ILLEGAL_ADDRESS
    with pytest.raises(RuntimeError, match="ILLEGAL_ADDRESS.* in kernel 'writes'.*checked=True"):
        cuda.synchronize()
    with pytest.raises(RuntimeError, match="reset"):
        writes[1, 64](host)
    reset("cuda:0")
    mock.sticky = 0
    before = mock.n_launches
    writes[1, 64](cuda.to_device(host))
    cuda.synchronize()
    assert mock.n_launches == before + 1
    with pytest.raises(BufferError, match="argument .x.: the memory of the array .* lost when its device was reset"):
        writes[1, 64](lost)
