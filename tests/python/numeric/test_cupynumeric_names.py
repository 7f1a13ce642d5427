# SPDX-License-Identifier: Apache-2.0
"""Arguments of cuPyNumeric's own."""

import numpy as np
import pytest

import tessera.cupynumeric as num


@pytest.mark.parametrize("bits", ["XORWOW", "MRG32k3a", "PHILOX4_32_10"])
def test_distributions_have_dtypes(bits):
    generator = num.random.Generator(getattr(num.random, bits)(seed=42))
    assert generator.beta(2.0, 5.0, size=3, dtype="f4").dtype == generator.uniform(0, 1, 3, "f4").dtype == "f4"
    assert generator.binomial(ntrials=15, p=0.4, size=3, dtype=np.uint32).dtype == "u4"
    assert generator.cauchy(1.0, 2.0, (2, 3), "f4").shape == (2, 3) and type(generator.beta(2.0, 5.0)) is float
    assert generator.bit_generator.random_raw(shape=(2, 3)).shape == (2, 3)
    assert type(num.random.default_rng(3)) is num.random.Generator and num.random.gamma(2.0, 1.0, 3, "f4").dtype == "f4"
    with pytest.raises(TypeError, match="trials"):
        generator.beta(2.0, 5.0, trials=3)


def test_convolutions_of_several_axes():
    a, v = np.arange(12.0).reshape(3, 4), np.arange(4.0).reshape(2, 2)
    wanted = np.zeros((4, 5))
    for i in range(2):
        for j in range(2):
            wanted[i : i + 3, j : j + 4] += a * v[i, j]
    np.testing.assert_allclose(num.convolve(a, v), wanted)
    made = num.convolve(a[0], v[0], "same", method="fft")
    np.testing.assert_allclose(made, np.convolve(a[0], v[0], "same"), atol=1e-9)
    np.testing.assert_allclose(num.convolve(a[0], v[0]), np.convolve(a[0], v[0]))


def test_results_go_into_arrays():
    a, out = num.ones((2, 3)), num.zeros((2, 2))
    assert num.inner(a, a, out=out) is out and out[1, 1] == 3
    assert num.tensordot(a, a.T, axes=1, out=out) is out and out[0, 0] == 3
    with pytest.raises(ValueError, match=r"out= has shape \(3,\)"):
        num.inner(a, a, out=num.zeros(3))
    with pytest.raises(TypeError):
        num.inner(a, a, out=num.zeros((2, 2), int))


def test_differences_without_others():
    a = num.array([1, 4, 9])
    assert num.diff(a, prepend=None, append=None).tolist() == [3, 5] and num.diff(a, 1, -1, [0]).tolist() == [1, 3, 5]
