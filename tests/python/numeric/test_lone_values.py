# SPDX-License-Identifier: Apache-2.0
"""Values that were computed alone before do not wait (src/numeric/quick.c): which these are, and NumPy's results."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import tessera.numeric as tn
from long_form import LONG
from tessera import _core

KINDS = {
    "add": lambda m, x, y, z: x + y, "number": lambda m, x, y, z: x * 3, "root": lambda m, x, y, z: m.sqrt(x),
    "compare": lambda m, x, y, z: x <= y, "divide": lambda m, x, y, z: x / y, "floor": lambda m, x, y, z: x // 3,
    "negative": lambda m, x, y, z: -x, "sine": lambda m, x, y, z: m.sin(x),
    "where": lambda m, x, y, z: m.where(x, y, 2), "into": lambda m, x, y, z: m.add(x, y, out=z),
    "in place": lambda m, x, y, z: z.__iadd__(x), "turned": lambda m, x, y, z: x - y[::-1],
    "row": lambda m, x, y, z: x + y[-1:],
}  # fmt: skip


def waiting() -> int:
    return _core.numeric_stats()["waiting"]


def ramp(n: int):
    x, y = tn.arange(float(n)), tn.ones(n)
    tn.wait()
    return x, y


def computed_alone(call, times: int = 2) -> None:
    for _ in range(times):
        tn.wait(call())


def test_a_value_that_was_computed_alone_twice_does_not_wait():
    x, y = ramp(5001)
    for _ in range(2):
        made = tn.arctan2(x, y)
        assert waiting() == 1
        tn.wait(made)
    for n in (3000, 5001, 100_001):
        made = tn.arctan2(x[:n], y[:1])
        tn.wait(made)
    made = tn.arctan2(x, y)
    assert waiting() == 0
    np.testing.assert_allclose(np.asarray(made), np.arctan2(np.arange(5001.0), 1))


def test_a_value_that_becomes_an_operand_waits_again():
    x, y = ramp(4000)
    computed_alone(lambda: tn.fmax(x, y), 3)
    for use in (lambda v: v * 2, lambda v: v.sum()):
        computed_alone(lambda: tn.fmax(x, y), 25)
        made = tn.fmax(x, y)
        assert waiting() == 0
        tn.wait(use(made))
        made = tn.fmax(x, y)
        assert waiting() == 1
        tn.wait(made)


def test_a_value_that_was_read_before_it_is_an_operand_does_not_wait():
    x, y = ramp(4000)
    computed_alone(lambda: tn.fmin(x, y), 3)
    made = tn.fmin(x, y)
    tn.wait(made)
    tn.wait(made * 2)
    tn.fmin(x, y)
    assert waiting() == 0


def test_values_of_one_group_go_on_waiting():
    x, _ = ramp(3000)
    for _ in range(4):
        both = tn.floor(x), tn.ceil(x)
        assert waiting() == 2
        tn.wait(*both)


def arrays(rng, n: int, dtype: str):
    shape = (n // 37, 37) if n % 37 == 0 else (n,)
    x, y, z = (rng.integers(0, 9, shape).astype(dtype) for _ in range(3))
    if np.dtype(dtype).kind == "f":
        x.flat[:: n // 7] = np.nan
        y.flat[1 :: n // 5] = -0.0
        z.flat[2 :: n // 3] = np.inf
    step = slice(None, None, -1) if rng.random() < 0.3 else slice(None, None, 2) if rng.random() < 0.3 else slice(None)
    return x, y, z, step


@pytest.mark.parametrize("name", KINDS)
def test_values_that_do_not_wait_are_numpys(name):
    rng = np.random.default_rng(len(name))
    for _ in range(40 if LONG else 8):
        dtype = rng.choice(["i4", "f4", "f8", "i8", "u1", "c16"])
        n = int(rng.choice([513, 600, 1024, 4096, 5000, 37 * 41, 37 * 999, 16384, 16385, 50_000]))
        x, y, z, step = arrays(rng, n, dtype)
        for _ in range(4):
            made = []
            for m in (np, tn):
                a, b, c = ((m.array(v)[step]) for v in (x, y, z))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        found = KINDS[name](m, a, b, c)
                        made.append((np.asarray(found), np.asarray(c)))
                    except TypeError:
                        made.append((np.empty(0), np.empty(0)))
            for wanted, found in zip(*made, strict=True):
                assert wanted.dtype == found.dtype and wanted.shape == found.shape
                np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_faults_of_values_that_do_not_wait_are_told_each_time():
    x, y = tn.ones(20_000), tn.zeros(20_000)
    for _ in range(6):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            tn.wait(x / y)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        tn.wait(x / y)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        tn.wait(x / y)


def test_what_they_are_computed_of_may_change_behind():
    x = tn.arange(9000.0)
    for i in range(6):
        made = tn.sqrt(x)
        x[0] = 9 + i
        assert np.asarray(made)[0] == (0 if i == 0 else np.sqrt(9.0 + i - 1))
