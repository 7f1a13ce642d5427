# SPDX-License-Identifier: Apache-2.0
"""Every algorithm on a GPU: what cannot be done is refused before anything is launched."""

from __future__ import annotations

import numpy as np
import pytest
from compute_calls import NUMBERS, calls
from long_form import LONG

from tessera import compute, cuda
from tests.python.mock_driver import MockState

NAMES = tuple(calls(np.array))


@pytest.mark.parametrize("name", NAMES)
def test_every_algorithm(mock: MockState, name: str) -> None:
    function, given = getattr(compute, name), calls(cuda.to_device)[name]
    before = mock.n_launches
    for number in NUMBERS:
        if number in given:
            with pytest.raises(ValueError, match="21"):
                function(**{**given, number: 21})
    with pytest.raises(TypeError, match="__cuda_stream__"):
        function(**given, stream=5)
    assert mock.n_launches == before
    if LONG:
        function(**given)
        assert mock.n_launches > before
