# SPDX-License-Identifier: Apache-2.0
"""tessera.scipy by closed forms and NumPy, and the names under which CuPy's and cuPyNumeric's programs find it."""

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import cupy as cp
from tessera import cupynumeric, cupyx
from tessera.scipy import linalg, ndimage, signal

IMAGE = np.array([[1, 1, 0, 0, 2], [0, 0, 0, 2, 2], [3, 0, 0, 0, 0]])


def test_regions_are_numbered_in_the_order_of_their_first_elements():
    made, n = ndimage.label(tn.array(IMAGE))
    np.testing.assert_array_equal(np.asarray(made), IMAGE)
    assert n == 3 and ndimage.find_objects(made)[1] == (slice(0, 2), slice(3, 5))
    snake = np.zeros((31, 31), int)  # one region whose way is long
    snake[::2] = 1
    snake[1::4, -1] = snake[3::4, 0] = 1
    assert ndimage.label(tn.array(snake))[1] == 1
    counts = ndimage.histogram(tn.array(IMAGE), 0, 4, 2, made, [3, 1])
    assert [c.tolist() for c in counts] == [[0, 1], [2, 0]]
    assert ndimage.label(tn.zeros((0, 3)))[1] == 0


def test_filters_keep_what_they_must():
    x = tn.array(np.arange(40.0).reshape(5, 8))
    np.testing.assert_allclose(float(ndimage.gaussian_filter(x, 1.5, mode="wrap").sum()), 780)
    np.testing.assert_allclose(np.asarray(ndimage.laplace(x))[1:-1, 1:-1], 0, atol=1e-12)
    places = np.indices((5, 8))
    for order in range(6):  # the spline goes through the elements
        made = ndimage.map_coordinates(x, places, order=order, mode="reflect")
        np.testing.assert_allclose(np.asarray(made), np.asarray(x), atol=1e-12)
    np.testing.assert_array_equal(np.asarray(ndimage.rotate(x, 90, order=1)), np.rot90(np.asarray(x)))


def test_signals():
    step = signal.lfilter([1.0], [1.0, -0.5], tn.ones(20))
    np.testing.assert_allclose(np.asarray(step), 2 - 0.5 ** np.arange(20))
    a, b = np.arange(9), np.array([1, -2, 1])
    np.testing.assert_array_equal(np.asarray(signal.convolve(tn.array(a), tn.array(b))), np.convolve(a, b))
    np.testing.assert_allclose(np.asarray(signal.get_window("hann", 4)), [0, 0.5, 1, 0.5], atol=1e-15)


def test_cupyx_has_the_functions_for_its_arrays():
    x = cp.array(IMAGE)
    made, n = cupyx.scipy.ndimage.label(x)
    assert type(made) is cp.ndarray and n == 3
    out = cp.empty_like(x)
    assert cupyx.scipy.ndimage.maximum_filter(x, 3, output=out) is out
    assert type(cupyx.scipy.signal.windows.hann(3)) is cp.ndarray
    assert type(cupyx.scipy.spatial.distance.cdist(x, x)) is cp.ndarray
    assert type(cupyx.scipy.linalg.toeplitz(x[0])) is cp.ndarray and "zscore" in dir(cupyx.scipy.stats)
    with pytest.raises(TypeError, match="cupy.asarray"):
        cupyx.scipy.ndimage.label(IMAGE)
    with pytest.raises(AttributeError, match="it has fft, fftpack, interpolate, linalg, ndimage"):
        cupyx.scipy.cluster  # noqa: B018


def test_cupynumeric_has_names_of_its_own():
    a = cupynumeric.array([[4.0, 2.0], [2.0, 3.0]])
    factor = cupynumeric.linalg.cho_factor(a, lower=True)
    np.testing.assert_allclose(np.asarray(a @ cupynumeric.linalg.cho_solve(factor, tn.ones(2))), [1, 1])
    np.testing.assert_allclose(np.asarray(cupynumeric.linalg.expm(tn.zeros((2, 2)))), np.eye(2))
    u, s, vh = cupynumeric.linalg.tssvd(a)
    np.testing.assert_allclose(np.asarray((u * s) @ vh), np.asarray(a))
    many = cupynumeric.ndimage.batched_convolve(tn.ones((2, 5)), tn.array([[1.0, 1, 1], [0, 1, 0]]))
    assert many.shape == (2, 2, 5) and many[:, 0].tolist() == [[3] * 5] * 2
    drawn = cupynumeric.random.Generator(cupynumeric.random.XORWOW(seed=3)).normal(size=4)
    assert drawn.shape == (4,) and cupynumeric.in1d([[1], [2]], [2]).tolist() == [False, True]
    assert cupynumeric.is_supported_dtype("f4") and not cupynumeric.is_supported_dtype("O")
    with pytest.raises(AttributeError, match="'cupynumeric' has no attribute 'nothing'"):
        cupynumeric.nothing  # noqa: B018


def test_singular_factors_are_a_warning():
    from tessera.scipy import linalg

    with pytest.warns(RuntimeWarning, match="Diagonal number 2 is exactly zero"):
        made, pivots = linalg.lu_factor(tn.array([[1.0, 2], [2, 4]]))
    assert pivots.tolist() == [1, 1] and made.tolist() == [[2, 4], [0.5, 0]]
    with pytest.raises(TypeError, match="complex"):
        cupyx.scipy.stats.entropy(cp.ones(3, "F"))


def test_cupyx_takes_a_vector_for_each_matrix():
    a = np.tril(np.random.default_rng(1).random((2, 3, 3)) + 1)
    b = np.arange(6.0).reshape(2, 3)
    made = cupyx.scipy.linalg.solve_triangular(cp.array(a), cp.array(b), lower=True)
    wanted = np.linalg.solve(a, b[..., None])[..., 0]
    np.testing.assert_allclose(made.get(), wanted, atol=1e-15)  # an element is 0
    positive = a @ a.swapaxes(-1, -2)
    factor = cp.array(np.where(np.tri(3) > 0, a, np.nan))  # the other triangle is not read
    made = cupyx.linalg.cho_solve((factor, True), cp.array(b))
    np.testing.assert_allclose(made.get(), np.linalg.solve(positive, b[..., None])[..., 0])
    np.testing.assert_allclose(cupyx.linalg.invh(cp.array(positive[0])).get(), np.linalg.inv(positive[0]))
    with pytest.raises(np.linalg.LinAlgError):
        cupyx.linalg.invh(cp.array(-positive[0]))


def _substituted(a, b, lower, unit):
    """x of a x = b by rows, in numbers of Python's."""
    n, x = len(b), [*b]
    for k in range(n) if lower else reversed(range(n)):
        for other in range(k) if lower else range(k + 1, n):
            x[k] -= a[k][other] * x[other]
        x[k] = x[k] if unit else x[k] / a[k][k]
    return np.array(x)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("trans", [0, 1, 2, "N", "T", "C"])
@pytest.mark.parametrize("unit", [True, False])
def test_triangles_are_solved_row_by_row(lower, trans, unit):
    random = np.random.default_rng(20)
    for n in (1, 2, 3, 16, 17, 40, 100):
        a = random.normal(size=(n, n)) + 1j * random.normal(size=(n, n))
        a *= 10.0 ** random.uniform(-2, 2, (n, n)) / n  # a pivoted factor of which is another one
        a[range(n), range(n)] = 10.0 ** random.uniform(-4, 4, n) * random.choice([-1, 1], n)
        a = a if n % 2 else a.real
        b = random.normal(size=n)
        made = np.asarray(linalg.solve_triangular(tn.array(a), tn.array(b), trans, lower, unit))
        way = {0: a, "N": a, 1: a.T, "T": a.T, 2: a.conj().T, "C": a.conj().T}[trans]
        is_lower = lower == (trans in (0, "N"))
        part = np.tril(way, -unit) if is_lower else np.triu(way, unit)
        part = part + unit * np.eye(n)
        # backward stable: the residual of each row is within roundings of what the row sums
        bound = 4 * (n + 2) * np.finfo(float).eps * (np.abs(part) @ np.abs(made) + np.abs(b))
        with np.errstate(all="ignore"):
            assert np.all(np.abs(part @ made - b) <= bound) or not np.isfinite(made).all()
        if n <= 3:
            np.testing.assert_allclose(made, _substituted(way.tolist(), b.tolist(), is_lower, unit), 1e-13)


def test_stacks_of_triangles_broadcast():
    a, b = np.tril(np.random.default_rng(3).normal(size=(3, 20, 20))) + 4 * np.eye(20), np.arange(20.0)
    solved = linalg.solve_triangular(tn.array(a), tn.array(b), lower=True)
    np.testing.assert_allclose(np.asarray(solved), np.linalg.solve(a, b[:, None])[..., 0], 1e-10)
    many = np.random.default_rng(4).normal(size=(2, 1, 20, 4)).astype("f4")
    solved = linalg.solve_triangular(tn.array(a), tn.array(many), lower=True)
    assert solved.shape == (2, 3, 20, 4) and solved.dtype == "f8"
    np.testing.assert_allclose(np.asarray(solved), np.linalg.solve(a, many), 1e-10)
    made = linalg.solve_triangular(np.array([[1.0, 0], [4, 1]]), np.array([1.0, 1e20]), lower=True)
    assert made.tolist() == [1, 1e20]
    with pytest.raises(ValueError, match="incompatible"):
        linalg.solve_triangular(tn.array(a), tn.ones((3, 4)))
    assert linalg.solve_triangular(tn.zeros((0, 0)), tn.zeros(0)).shape == (0,)


def test_results_lie_by_rows():
    x = tn.asarray(np.asfortranarray(np.random.default_rng(2).random((4, 5))))
    filtered = ndimage.median_filter(x, 3), ndimage.gaussian_filter1d(x, 1, axis=0)
    for made in (*filtered, signal.upfirdn([1, 2.0], x, 2, axis=0)):
        assert made.flags.c_contiguous


def test_cupyx_is_a_backend_of_scipys_transforms():
    fft = pytest.importorskip("scipy.fft")
    with fft.set_backend(cupyx.scipy.fft):
        made = fft.dct(cp.arange(4.0)), fft.rfft2(cp.ones((2, 3)))
    assert all(type(x) is cp.ndarray for x in made)
    np.testing.assert_allclose(made[0].get(), fft.dct(np.arange(4.0)), atol=1e-14)
    assert cupyx.scipy.fft.irfft(cp.ones(3, "e")).dtype == cupyx.scipy.fft.hfft(cp.ones(3, "e")).dtype == "f4"
    with pytest.raises(RuntimeError, match="two elements"):
        cupyx.scipy.fft.dct(cp.ones(1), type=1)


def test_cupyx_takes_what_cupy_alone_has():
    x = cp.asarray(IMAGE)
    assert cupyx.scipy.ndimage.label(x, np.ones((3, 3)))[1] == 3
    image, turn = cp.asarray(IMAGE, "f4"), cp.eye(3, dtype="f4")
    made = cupyx.scipy.ndimage.affine_transform(image, turn, texture_memory=True)
    np.testing.assert_array_equal(made.get(), IMAGE)
    wrong = {"mode": "mirror"}, {"output": "wrong"}, {"output": "f8"}, {"output_shape": (7,)}
    for options in wrong:
        with pytest.raises(ValueError, match="texture_memory"):
            cupyx.scipy.ndimage.affine_transform(image, turn, texture_memory=True, **options)
