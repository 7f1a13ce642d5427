# SPDX-License-Identifier: Apache-2.0
"""Calls on few elements of a GPU whose results are looked at for faults before they return: they come to host memory
(src/numeric/near.c), so the mock's memory shows what NumPy's does."""

from __future__ import annotations

import itertools
import warnings

import numpy
import pytest
import tessera.numeric as np
from tessera import _core

FLOATS = ["f2", "f4", "f8", "c8", "c16"]
TARGETS = ["i1", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "c8"]
VALUES = [1.5, -3.0, 70000.0, 1e30, 1e300, numpy.inf, -numpy.inf, numpy.nan]


def heard(call, errors=None) -> tuple[str, object]:
    """What a call warns of or raises, and what it gives."""
    with warnings.catch_warnings(record=True) as said, numpy.errstate(**(errors or {})):
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", numpy.exceptions.ComplexWarning)
        try:
            made = call()
        except (FloatingPointError, OverflowError, TypeError, ValueError) as error:
            return repr(error), None
    return str([str(each.message) for each in said]), made


def same(call, x, *rest, errors=None) -> None:
    """`rest` are places of a call that lie on the GPU, too."""
    theirs = heard(lambda: call(numpy, x.copy(), *(each.copy() for each in rest)), errors)
    given = [np.asarray(each.copy(), device="cuda") for each in (x, *rest)]
    ours = heard(lambda: call(np, *given), errors)
    assert ours[0] == theirs[0]
    if theirs[1] is not None:
        assert ours[1].device == "cuda:0" and ours[1].dtype == theirs[1].dtype
        numpy.testing.assert_allclose(numpy.asarray(ours[1]), theirs[1], rtol=1e-15)  # of logarithms


def assigned(m, x, out):
    out[...] = x
    return out


def copied(m, x, out):
    m.copyto(out, x, casting="unsafe")
    return out


@pytest.mark.parametrize("errors", [{}, {"all": "raise"}])
@pytest.mark.parametrize("dtype", FLOATS)
def test_casts_of_few_elements_tell_at_the_call(mock, dtype: str, errors: dict[str, str]) -> None:
    with numpy.errstate(all="ignore"):
        x = numpy.array([*VALUES, 1], dtype)
    for to in TARGETS:
        if numpy.can_cast(dtype, to):
            continue
        for value in (x, x[:2], x[3:4], x[::-2], x[:0], numpy.concatenate([x] * 12).reshape(9, 12)[:, 1::3]):
            whole = to[0] in "iu" and not numpy.isfinite(value).all()  # what that becomes is the processor's
            pairs = [lambda m, x, out: x.astype(out.dtype), assigned, copied]
            for call in pairs:
                out = numpy.zeros(value.shape, to)
                theirs, ours = (
                    heard(lambda: call(m, *both), errors)  # noqa: B023
                    for m, both in (
                        (numpy, (value.copy(), out.copy())),
                        (np, [np.asarray(each.copy(), device="cuda") for each in (value, out)]),
                    )
                )
                assert ours[0] == theirs[0], (dtype, to, value)
                if ours[1] is not None and not whole:
                    numpy.testing.assert_array_equal(numpy.asarray(ours[1]), theirs[1])


@pytest.mark.parametrize("errors", [{}, {"all": "raise"}])
@pytest.mark.parametrize("to", TARGETS)
def test_casts_under_masks_tell_at_the_call(mock, to: str, errors: dict[str, str]) -> None:
    bits = [True, False, True]
    for dtype, where in itertools.product(FLOATS, (bits, tuple(bits), [1, 0, 2], numpy.array(bits))):
        if numpy.can_cast(dtype, to):
            continue
        for value in VALUES:
            with numpy.errstate(all="ignore"):
                x = numpy.array([1, value, 2], dtype)
            for each in (x, x[[1, 0, 2]], x[:2]):  # left out, written, too few
                def masked(m, a, b, where=where):
                    m.copyto(a, b, casting="unsafe", where=where)

                theirs = heard(lambda: masked(numpy, numpy.zeros(3, to), each), errors)  # noqa: B023
                a, b = (np.asarray(y, device="cuda") for y in (numpy.zeros(3, to), each.copy()))
                with np.device("cuda"):
                    ours = heard(lambda: masked(np, a, b), errors)  # noqa: B023
                assert ours[0].split("(")[0] == theirs[0].split("(")[0], (dtype, value, where)


@pytest.mark.parametrize("errors", [{}, {"all": "raise"}])
@pytest.mark.parametrize("to", ["f2", "f4", "f8", "c8", "i1", "u4", "i8"])
def test_numbers_of_the_hosts_dtypes_are_copied_and_told_of(mock, to: str, errors: dict[str, str]) -> None:
    for value in (numpy.longdouble(3), numpy.longdouble("1e4000"), numpy.longdouble("nan"), numpy.clongdouble(7e4j)):
        for x, where in itertools.product((value, numpy.array([value] * 3)), (True, [True, False, True])):
            def host(m, out):
                m.copyto(out, x, casting="unsafe", where=where)  # noqa: B023
                return out

            theirs = heard(lambda: host(numpy, numpy.ones(3, to)), errors)  # noqa: B023
            with np.fallback("silent"), np.device("cuda"):
                out, before = np.asarray(numpy.ones(3, to), device="cuda"), mock.n_launches
                ours = heard(lambda: host(np, out), errors)  # noqa: B023
                np.wait(out)
            assert ours[0] == theirs[0]
            assert ours[1] is (out if theirs[1] is not None else None)
            assert (mock.n_launches > before) == (theirs[1] is not None)  # it is written


@pytest.mark.parametrize("to", ["f2", "f4", "c8", "i1", "u1", "i4", "u8"])
@pytest.mark.parametrize("value", [
    70000, 70000.0, 1e300, 65519.0, 65520.0, numpy.float32(7e4), numpy.float64(numpy.inf), numpy.float64(-1.5),
    numpy.float64(255.5), 3.4028235677973366e38, 2e300j, 10**100, numpy.nan,
])  # fmt: skip
def test_numbers_that_an_array_does_not_hold_are_told_of(mock, to: str, value: object) -> None:
    def put(m, x):
        x[1] = value
        return x

    theirs, ours = (heard(lambda: put(m, x))[0] for m, x in (
        (numpy, numpy.zeros(3, to)), (np, np.asarray(numpy.zeros(3, to), device="cuda"))))  # fmt: skip
    assert ours.split("(")[0] == theirs.split("(")[0]


def test_calls_of_few_elements_raise_where_errstate_says_so(mock) -> None:
    x = numpy.array([1.0, 0.0, -2.0, 1e300, numpy.inf])
    y = numpy.array([0.0, 0.0, 1e-300, 1e300, numpy.inf])
    small = numpy.array([1e-4, 3, 0], "f2")
    calls = [lambda m, a, b: a / b, lambda m, a, b: a * b, lambda m, a, b: m.sqrt(a), lambda m, a, b: m.log(a + 3),
             lambda m, a, b: a - b, lambda m, a, b: a // b, lambda m, a, b: m.negative(a)]  # fmt: skip
    for call, errors in itertools.product(calls, [
        {"all": "raise"}, {"divide": "raise"}, {"invalid": "raise"}, {"over": "raise"}, {"under": "raise"},
        {"under": "warn"},
    ]):  # fmt: skip
        same(call, x, y, errors=errors)
        same(call, x[:2], y[:2], errors=errors)
        same(call, small, small, errors=errors)


@pytest.mark.parametrize("dtype", FLOATS)
def test_reductions_of_few_elements_raise_where_errstate_says_so(mock, dtype: str) -> None:
    calls = [lambda m, a: m.sum(a), lambda m, a: a.sum(-1), lambda m, a: m.add.reduce(a, keepdims=True),
             lambda m, a: m.cumsum(a), lambda m, a: m.add.accumulate(a), lambda m, a: m.prod(a),
             lambda m, a: m.sum(a, where=m.asarray(numpy.arange(a.size) != 1))]  # fmt: skip
    odd = [[1, numpy.inf, -numpy.inf], [6e4, 6e4, 6e4], [numpy.nan, 1, 2], [1, 2, 3]]
    for call, x, errors in itertools.product(calls, odd, [{"invalid": "raise"}, {"over": "raise"}, {"all": "raise"}]):
        with np.device("cuda"):
            given, before = np.asarray(numpy.array(x, dtype), device="cuda"), mock.n_launches
            ours = heard(lambda: call(np, given), errors)[0]  # noqa: B023
        assert ours.split("(")[0] == heard(lambda: call(numpy, numpy.array(x, dtype)), errors)[0].split("(")[0]  # noqa: B023
        assert mock.n_launches == before
    many = np.asarray(numpy.full(5000, 1, dtype), device="cuda")
    before = _core.numeric_stats()["carried"]
    with numpy.errstate(all="raise"):
        many.sum()
    assert _core.numeric_stats()["carried"] == before


def test_many_elements_stay_and_wait(mock) -> None:
    x = np.asarray(numpy.full(5000, 1e300), device="cuda")
    with np.device("cuda"), warnings.catch_warnings():
        warnings.simplefilter("error")
        before = _core.numeric_stats()["carried"]
        assert x.astype("f4").device == "cuda:0"
        assert _core.numeric_stats()["carried"] == before


def test_casts_of_what_waits_wait_with_it(mock) -> None:
    x = np.asarray(numpy.full((3, 5000), 1e4, "f2"), device="cuda")
    with np.device("cuda"), warnings.catch_warnings():
        warnings.simplefilter("error")
        before = _core.numeric_stats()["carried"]
        made = x / np.mean(x, 1)[:, None]  # a float32 divided, and cast
        assert made.device == "cuda:0"
        assert _core.numeric_stats()["carried"] == before


@pytest.mark.parametrize(("n", "waits"), [(60, True), (6000, False)])
def test_counts_of_few_elements_are_read_for_warnings(mock, n: int, waits: bool) -> None:
    x = np.asarray(numpy.ones((n, 2)), device="cuda")
    keep = np.asarray(numpy.ones((n, 2), bool), device="cuda")
    np.wait(x.mean(0, where=keep))
    before = mock.n_syncs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the mock counts nothing
        x.mean(0, where=keep)
    assert (mock.n_syncs > before) == waits
