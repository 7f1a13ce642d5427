# SPDX-License-Identifier: Apache-2.0
"""What the host computes for arrays of a GPU: copied there and back, and counted."""

from __future__ import annotations

import numpy
import pytest
import tessera.numeric as np
from tessera.numeric import _host


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


def test_what_leaves_a_gpu_for_the_host_is_told_of(mock) -> None:
    a = np.asarray(numpy.eye(4), device="cuda")
    with np.fallback("error"):
        for call in (np.linalg.inv, np.fft.fft):
            with pytest.raises(NotImplementedError, match=r"has no kernel \(test_host.py:\d+\): .* 128 bytes leave"):
                call(a)
    with np.doctor() as d, pytest.warns(np.FallbackWarning, match="linalg.inv has no kernel"):
        np.linalg.inv(a)
    names = {(each.kind, each.name) for each in d.findings}
    assert {("fallback", "linalg.inv"), ("to_host", ""), ("to_device", "")} <= names


def test_a_copy_of_a_gpus_array_that_the_host_wrote_to_goes_back(mock) -> None:
    a = np.asarray(numpy.zeros((2, 3)), device="cuda")
    before = mock.n_launches
    with np.fallback("silent"):
        _host.absent("numpy.sum", numpy.sum, (a[:, 1],), {})
        assert mock.n_launches == before + 1  # a dense copy of the column
        _host.absent("numpy.copyto", numpy.copyto, (a[:, 1], 7), {})
        assert mock.n_launches == before + 3  # and the column is written
