# SPDX-License-Identifier: Apache-2.0
"""What kernels report, and who asks for it: options, environment, ufuncs by themselves; shapes that do not fit."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from tessera import cuda
from tessera.cuda import config


def beyond(x: Any) -> None:
    x[cuda.grid(1)] = 1


def named(x: Any) -> None:
    if x[0] > 0:
        v = 7
    x[0] = v


def assigned(x: Any, y: Any) -> None:
    x[:] = y


@pytest.mark.parametrize("name", ["TESSERA_CHECKED", "NUMBA_BOUNDSCHECK", "NUMBA_CUDA_BOUNDSCHECK"])
def test_the_environment_asks_for_checks_of_indices(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    config.reload_config()
    try:
        with pytest.raises(IndexError, match="index 100 is out of bounds for axis 0 with size 100"):
            cuda.jit(beyond)[101, 1](numpy.zeros(100))
    finally:
        monkeypatch.undo()
        config.reload_config()


def test_checked_reports_everything() -> None:
    kernel = cuda.jit(checked=True)
    with pytest.raises(IndexError):
        kernel(beyond)[101, 1](numpy.zeros(100))
    with pytest.raises(UnboundLocalError):
        kernel(named)[1, 1](numpy.zeros(1))
    with pytest.raises(ValueError, match="another number of elements"):
        kernel(assigned)[1, 1](numpy.zeros(3), numpy.zeros(2))


def test_wrong_wishes_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="checked='most'"):
        cuda.jit(checked="most")
    monkeypatch.setenv("TESSERA_CHECKED", "2")
    with pytest.raises(ValueError, match="TESSERA_CHECKED=2"):
        cuda.jit(beyond)


@pytest.mark.parametrize(("n", "m"), [(4, 2), (2, 4), (0, 3), ((2, 3), (3, 2)), ((2, 3), (2, 2))], ids=str)
def test_assignment_of_another_shape(n: Any, m: Any) -> None:
    wrong = numpy.zeros(n), numpy.ones(m)
    with pytest.raises(ValueError, match="another number of elements along axis"):
        cuda.jit(debug=True, opt=False)(assigned)[1, 1](*wrong)
    cuda.jit(assigned)[1, 1](*wrong)  # without debug nothing outside of them is touched


@pytest.mark.parametrize(("n", "m"), [(4, 4), (4, 1), ((2, 3), 3), ((2, 3), (2, 1)), ((2, 3), (1, 1))], ids=str)
def test_assignment_that_broadcasts(n: Any, m: Any) -> None:
    x, y = numpy.zeros(n), numpy.random.default_rng(1).random(m)
    cuda.jit(debug=True, opt=False)(assigned)[1, 1](x, y)
    assert numpy.array_equal(x, numpy.broadcast_to(y, n))


def test_shapes_known_to_differ_do_not_compile() -> None:
    @cuda.jit
    def kernel(x: Any) -> None:
        a, b = cuda.local.array(3, numpy.float64), cuda.local.array(2, numpy.float64)
        a[:] = b
        x[0] = a[0]

    with pytest.raises(cuda.errors.TypingError, match="2 elements along axis 0 does not fit in one of 3"):
        kernel[1, 1](numpy.zeros(1))


def positive(x: Any) -> Any:
    if x < 0:
        raise ValueError("negative")
    return 1 / x


def all_positive(x: Any, y: Any) -> None:
    for i in range(x.size):
        assert x[i] > 0, "not positive"
        y[i] = x[i]


@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_ufuncs_raise_what_their_function_raises(target: str) -> None:
    scalar = cuda.vectorize(["float64(float64)"], target=target)(positive)
    with pytest.raises(ValueError, match="negative"):
        scalar(numpy.array([1, -2.0]))
    assert scalar(numpy.array([0, 2.0])).tolist() == [numpy.inf, 0.5]  # divisions are NumPy's
    vector = cuda.guvectorize(["void(f8[:], f8[:])"], "(n)->(n)", target=target)(all_positive)
    with pytest.raises(AssertionError, match="not positive"):
        vector(-numpy.ones((3, 2)))
    assert vector(numpy.ones((3, 2))).tolist() == [[1, 1]] * 3


def test_ufuncs_of_device_arrays_tell_the_next_wait() -> None:
    scalar, stream = cuda.vectorize(["float64(float64)"])(positive), cuda.stream()
    scalar(cuda.to_device(-numpy.ones(2)), stream=stream)
    with pytest.raises(RuntimeError, match="negative"):
        stream.synchronize()


def test_reductions_raise_what_their_function_raises() -> None:
    @cuda.reduce
    def total(a: Any, b: Any) -> Any:
        if a > 5:
            raise OverflowError("too much")
        return a + b

    with pytest.raises(OverflowError, match="too much"):
        total(numpy.arange(10.0))
    assert total(numpy.ones(4)) == 4
