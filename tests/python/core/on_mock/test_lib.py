# SPDX-License-Identifier: Apache-2.0
"""Functions of tessera.lib launch kernels on arrays of Tessera's own on a GPU, in every floating-point dtype: of
bfloat16 and float8, which `__cuda_array_interface__` cannot name, too."""

from __future__ import annotations

from typing import Any

import pytest
import tessera
from lib_cases import CASES, FLOATS, NARROW, TAKES, call


@pytest.mark.parametrize("name, given", [(n, d) for n in TAKES for d in TAKES[n] if d in [*FLOATS, *NARROW]])
def test_arrays_of_every_floating_point_dtype_are_launched(mock: Any, name: str, given: str) -> None:
    case, launches = CASES[name], mock.n_launches
    kinds = {array: case.dtypes.get(array, given) for array in case.shapes}
    call(name, {array: tessera.empty(shape, kinds[array], "cuda") for array, shape in case.shapes.items()})
    assert mock.n_launches > launches
