# SPDX-License-Identifier: Apache-2.0
"""What the host computes for arrays of a GPU: copied there and back, and counted."""

from __future__ import annotations

import numpy
import tessera.numeric as np


def test_transforms_factorizations_and_random_numbers_lie_where_asked(mock) -> None:
    x = numpy.random.default_rng(0).standard_normal((4, 4))
    a = np.asarray(x, device="cuda")
    before = np.host_calls()
    for name, made, wanted in (
        ("fft", np.fft.fft(a), numpy.fft.fft(x)),
        ("linalg.inv", np.linalg.inv(a), numpy.linalg.inv(x)),
    ):
        assert made.device == "cuda:0"
        numpy.testing.assert_allclose(made.get(), wanted, rtol=1e-13, atol=1e-13)
        assert np.host_calls()[name] == before.get(name, 0) + 1
    np.fft.fft(x)
    assert np.host_calls()["fft"] == before.get("fft", 0) + 1
    with np.device("cuda"):
        drawn = np.random.default_rng(1).normal(size=3)
    assert drawn.device == "cuda:0"
    assert (drawn.get() == numpy.random.default_rng(1).normal(size=3)).all()


def test_results_of_no_axes_lie_where_new_arrays_do(mock) -> None:
    with np.device("cuda"):
        made = np.add(numpy.float64(3), 2, out=...)
        assert made.device == "cuda:0"
