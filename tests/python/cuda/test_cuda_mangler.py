# SPDX-License-Identifier: Apache-2.0
"""Names of C++ functions: what c++filt reads back as the prototype beside each."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from tessera.cuda import float32, float64, int32, types, uint64
from tessera.cuda import itanium_mangler as names

NAMES = [
    ("scale", (float32, int32), "_Z5scalefi", "scale(float, int)"),
    ("space.norm", (types.CPointer(float64), uint64), "_ZN5space4normEPdy", "space::norm(double*, unsigned long long)"),
    ("none", (), "_Z4nonev", "none()"),
    ("wide", (types.boolean, types.complex64, types.int8, types.float16), "_Z4widebCfaDh",
     "wide(bool, float _Complex, signed char, decimal16)"),
    ("f", (types.Array(float32, 1, "C"),), "_Z1f33array_28float32_2c_201d_2c_20C_29", ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "symbol", "prototype"), NAMES)
def test_symbols(name: str, args: tuple[types.Type, ...], symbol: str, prototype: str) -> None:
    assert names.mangle(name, args) == symbol
    if shutil.which("c++filt") and prototype and "float16" not in map(str, args):
        assert subprocess.check_output(["c++filt", symbol], text=True).strip() == prototype


def test_parts_of_names() -> None:
    assert names.mangle_identifier("f", [int32, 3, -4]) == "1fIiLi3ELin4EE"
    assert names.mangle_identifier("f", abi_tags=["v1"]) == "1fB2v1"
    assert names.mangle_value(12.5) == "7_12_2e5" and names.mangle_value(7) == "Li7E"
    assert names.escape_string("<lambda>.é") == "_3clambda_3e_2e_c3_a9"
    assert names.mangle_type(types.range_iter32_type) == "16range_iter_int32"
