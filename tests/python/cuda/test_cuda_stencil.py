# SPDX-License-Identifier: Apache-2.0
"""``cuda.stencil``: against the function itself, run by Python place by place, and numba's where it is installed."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

from tessera import cuda
from tessera.cuda.errors import NumbaValueError

OFFSET = 2


class _At:
    """An array whose indices count from a place."""

    def __init__(self, array: np.ndarray, place: tuple[int, ...]) -> None:
        self.array, self.place = array, place

    def __getitem__(self, index: Any) -> Any:
        axes = index if isinstance(index, tuple) else (index,)
        moved = tuple(
            slice(k + i.start, k + i.stop) if isinstance(i, slice) else k + i
            for k, i in zip(self.place, axes, strict=True)
        )
        return self.array[moved]


def by_hand(function: Any, args: tuple, reach: tuple, standard: tuple = (), cval: Any = 0, out: Any = None) -> Any:
    """The stencil as it is defined."""
    first, results = args[0], {}
    names = function.__code__.co_varnames
    for place in itertools.product(*map(range, first.shape)):
        if all(0 <= k + min(lo, 0) and k + max(hi, 0) < n for k, n, (lo, hi) in zip(place, first.shape, reach)):
            given = (
                _At(a, place) if isinstance(a, np.ndarray) and name not in standard else a
                for a, name in zip(args, names)
            )
            results[place] = function(*given)
    if out is None:
        out = np.full(first.shape, cval, np.result_type(*results.values()) if results else np.float64)
    for place, value in results.items():
        out[place] = value
    return out


def cross(a):
    return np.float32(0.25) * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


def ahead(a):
    return a[0] + a[2]


def mixed(a, b, w, s):
    return a[-1] * w[0] + b[1] * w[1] + s


def chosen(a):
    if a[0] > 2:
        return a[-1]
    return a[1] * 1.5


def named(a):
    j = 1
    return a[j - OFFSET] + a[-j * OFFSET]


def deep(a):
    return a[-1, 0, 0, 1] - a[1, 2, 0, 0]


def inner(a, at):
    return a[at[0]]


@pytest.mark.parametrize("shape", [(7, 9), (3, 40), (1, 5), (2, 2)])
def test_neighbours_of_two_axes(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(0).random(shape, np.float32)
    found = cuda.stencil(cross)(x)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, by_hand(cross, (x,), ((-1, 1), (-1, 1))).astype(np.float32))


def test_results_have_the_type_of_the_function() -> None:
    x = np.arange(6, dtype=np.int32)
    for function, reach in ((ahead, ((0, 2),)), (chosen, ((-1, 1),)), (named, ((-2, 0),))):
        found = cuda.stencil(function)(x)
        np.testing.assert_array_equal(found, by_hand(function, (x,), reach))
        assert found.dtype == (np.float64 if function is chosen else np.int64)
    assert cuda.stencil(lambda a: a[0] > a[-1])(x).dtype == bool
    assert cuda.stencil(lambda a: a[0] * a[-1])(x.astype(np.uint8)).dtype == np.uint64


def test_several_arrays_and_numbers() -> None:
    rng = np.random.default_rng(1)
    a, b, w = rng.random(20), rng.random(23), rng.random(2)
    found = cuda.stencil(standard_indexing=("w",))(mixed)(a, b, w, 3)
    np.testing.assert_allclose(found, by_hand(mixed, (a, b, w, 3), ((-1, 1),), ("w",)), 1e-15)


def test_more_axes_than_a_grid_has() -> None:
    x = np.random.default_rng(2).random((4, 5, 3, 6))
    np.testing.assert_array_equal(cuda.stencil(deep)(x), by_hand(deep, (x,), ((-1, 1), (0, 2), (0, 0), (0, 1))))


def test_cval_and_out() -> None:
    x = np.arange(6)
    np.testing.assert_array_equal(cuda.stencil(cval=5)(ahead)(x), [2, 4, 6, 8, 5, 5])
    np.testing.assert_array_equal(cuda.stencil(cval=np.nan)(chosen)(x)[[0, 5]], [np.nan, np.nan])
    for dtype in (np.int64, np.float32):
        out = np.full(6, 77, dtype)
        assert cuda.stencil(ahead)(x, out=out) is out
        np.testing.assert_array_equal(out, [2, 4, 6, 8, 77, 77])
        np.testing.assert_array_equal(cuda.stencil(cval=5)(ahead)(x, out=out), [2, 4, 6, 8, 5, 5])
    wide = np.full(8, 77)
    np.testing.assert_array_equal(cuda.stencil(ahead)(x, out=wide), [2, 4, 6, 8, 77, 77, 77, 77])
    z = np.exp(1j * np.arange(5))
    out = np.zeros(5, complex)
    np.testing.assert_allclose(cuda.stencil(lambda a: a[0] * a[1])(z, out=out)[:4], z[:4] * z[1:])


def given_or_one(a, d, c):
    if c > 0:
        d = 1
    return a[d]


def one_or_nothing(a, c):
    if c > 0:
        j = 1
    return a[j]


def of_the_last_trip(a, c):
    for _ in range(c):
        j = 1
    return a[j]


def one_more(a, d):
    d = d + 1
    return a[d]


def of_itself(a):
    j = j + 1  # noqa: F821
    return a[j]


@pytest.mark.parametrize(("function", "args"), [(given_or_one, (100, 0)), (one_or_nothing, (0,)),
                         (of_the_last_trip, (0,)), (one_more, (100,)), (of_itself, ())])  # fmt: skip
def test_a_name_that_not_every_path_binds_once_is_not_constant(function: Any, args: tuple) -> None:
    with pytest.raises(NumbaValueError, match="not constant, 'neighborhood' option required"):
        cuda.stencil(function)(np.arange(6.0), *args)


def test_a_parameter_that_is_bound_again_is_read_within_the_neighborhood() -> None:
    found = cuda.stencil(neighborhood=((0, 2),))(given_or_one)
    x = np.arange(6.0)
    np.testing.assert_array_equal(found(x, 2, 0), [2, 3, 4, 5, 0, 0])
    np.testing.assert_array_equal(found(x, 2, 1), [1, 2, 3, 4, 0, 0])


def test_a_neighborhood_that_only_the_running_function_uses() -> None:
    @cuda.stencil(neighborhood=((-2, 1),))
    def total(a):
        c = 0
        for i in range(-2, 2):
            c += a[i]
        return c

    assert total.neighborhood == [[-2, 1]]
    np.testing.assert_array_equal(total(np.arange(6)), [0, 0, 6, 10, 14, 0])
    means = cuda.stencil(neighborhood=((-1, 1),))(lambda a: np.mean(a[-1:2]))
    np.testing.assert_allclose(means(np.arange(6.0)), [0, 1, 2, 3, 4, 0])
    x, at = np.arange(6), np.array([-1, 1, 1, -1, 0, -1])
    with pytest.raises(NumbaValueError, match="not constant, 'neighborhood' option required: 'inner' has at"):
        cuda.stencil(inner)(x, at)
    found = cuda.stencil(neighborhood=((-1, 1),))(inner)(x, at)
    np.testing.assert_array_equal(found, by_hand(inner, (x, at), ((-1, 1),)))


def test_places_and_orders_of_memory() -> None:
    x = np.random.default_rng(3).random((9, 14), np.float32)
    wanted = cuda.stencil(cross)(x)
    np.testing.assert_array_equal(cuda.stencil(cross)(np.asfortranarray(x)), wanted)
    np.testing.assert_array_equal(cuda.stencil(cross)(x[::-1, ::2]), cuda.stencil(cross)(x[::-1, ::2].copy()))
    on_device = cuda.to_device(x)
    found = cuda.stencil(cross)(on_device)
    assert cuda.is_cuda_array(found)
    np.testing.assert_array_equal(found.copy_to_host(), wanted)
    out = cuda.to_device(np.ones_like(x))
    assert cuda.stencil(cross)(x, out=out) is out
    np.testing.assert_array_equal(out.copy_to_host()[1:-1, 1:-1], wanted[1:-1, 1:-1])
    np.testing.assert_array_equal(cuda.stencil(target="cpu")(cross)(x), wanted)
    assert cuda.stencil(ahead)(np.arange(0)).shape == (0,)
    np.testing.assert_array_equal(cuda.stencil(ahead)(np.arange(2)), [0, 0])


def _random(seed: int) -> tuple[str, np.ndarray, tuple]:
    """A stencil over one to three axes, an array, how far it goes."""
    rng = random.Random(seed)
    ndim = rng.randint(1, 3)
    offsets = [tuple(rng.randint(-2, 2) for _ in range(ndim)) for _ in range(rng.randint(1, 6))]
    terms = [f"a[{', '.join(map(str, at))}]{rng.choice(('', ' * 2', ' - 1', ' * a[' + ', '.join('0' * ndim) + ']'))}"
             for at in offsets]  # fmt: skip
    text = "def f(a):\n    return " + rng.choice((" + ", " - ")).join(terms) + "\n"
    x = np.random.default_rng(seed).integers(-9, 9, [rng.randint(1, 9) for _ in range(ndim)])
    x = x.astype(rng.choice(("int32", "int64", "float64")))
    return text, x, tuple((min(0, *at), max(0, *at)) for at in zip(*offsets, strict=True))


@pytest.mark.parametrize("seed", range(24))
def test_random_stencils(seed: int) -> None:
    text, x, reach = _random(seed)
    space: dict[str, Any] = {}
    exec(compile(text, f"<stencil {seed}>", "exec"), space)  # noqa: S102
    found = cuda.stencil(space["f"])(x)
    np.testing.assert_array_equal(found, by_hand(space["f"], (x,), reach), err_msg=text)


def test_as_numba() -> None:
    numba = pytest.importorskip("numba")
    if not hasattr(numba, "stencils"):
        pytest.skip("numba is not installed")
    x = np.arange(20) % 7
    for function in (ahead, chosen):
        ours, theirs = cuda.stencil(function)(x), numba.stencil(function)(x)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


MISTAKES: list[tuple[Any, Any, tuple, type, str]] = [
    ({"foo": 1}, ahead, (), NumbaValueError, "Unknown stencil option foo"),
    ({"target": "gpu"}, ahead, (), NumbaValueError, "must be 'cuda' or 'cpu'"),
    ({"neighborhood": ((1, -1),)}, ahead, (), NumbaValueError, "least and the greatest"),
    ({"standard_indexing": "b"}, ahead, (), NumbaValueError, "not present in the stencil kernel definition: b"),
    ({"standard_indexing": ("a",)}, ahead, (), NumbaValueError, "first argument .* relative indexing"),
    ({"neighborhood": ((0, 1),)}, ahead, (np.arange(4),), NumbaValueError, r"reads at 2 along axis 0 .*outside"),
    ({"neighborhood": ((0, 1), (0, 0))}, ahead, (np.arange(4),), NumbaValueError, "2 dimensional neighborhood"),
    ({}, cross, (np.arange(4),), NumbaValueError, "2 dimensional neighborhood specified for 1 dim"),
    ({}, ahead, ([1, 2],), TypeError, r"pass numpy.asarray\(x\)"),
    ({}, ahead, (np.arange(3), 1), TypeError, r"takes 1 arguments \(a\), found 2"),
    ({}, mixed, (np.arange(3), np.arange(2), 1, 2), ValueError, "'b' has shape"),
    ({"cval": 1.5}, ahead, (np.arange(3),), NumbaValueError, "1.5 is no int64, which .ahead."),
    ({}, lambda a: a, (np.arange(3),), NumbaValueError, "must return a scalar"),
    ({}, lambda *a: a[0], (np.arange(3),), TypeError, "takes 0 arguments"),
    ({}, lambda a, b=1: a[0], (np.arange(3), 1), NumbaValueError, "default arguments"),
    ({}, lambda a: a[0:], (np.arange(3),), NumbaValueError, "a slice has a begin and an end"),
]


@pytest.mark.parametrize(("options", "function", "args", "error", "words"), MISTAKES)
def test_mistakes(options: Any, function: Any, args: tuple, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        cuda.stencil(**options)(function)(*args)


def test_mistakes_of_the_text() -> None:
    def stores(a):
        a[0] = 2
        return a[1]

    with pytest.raises(NumbaValueError, match="Assignments to arrays passed to stencil kernels is not allowed"):
        cuda.stencil(stores)(np.arange(3))
    with pytest.raises(NumbaValueError, match="Unsupported mode style reflect"):
        cuda.stencil("reflect")
    with pytest.raises(ValueError, match=r"out has shape \(2,\)"):
        cuda.stencil(ahead)(np.arange(3), out=np.zeros(2))

    def wrong(a):
        return a[0] + nothing  # noqa: F821

    with pytest.raises(Exception, match=r"test_cuda_stencil.py>:\d+.*\n.*a\[\(k0_ \+ \(0\)\)\] \+ nothing"):
        cuda.stencil(wrong)(np.arange(3))
