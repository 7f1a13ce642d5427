# SPDX-License-Identifier: Apache-2.0
"""tessera.scipy against SciPy, where it is installed: a row for each function and way to call it."""

import numpy as np
import pytest
import tessera.numeric as tn
from long_form import LONG, unless_short
from tessera.scipy import fft, signal

scipy = pytest.importorskip("scipy")
pytest.importorskip("scipy.signal")
pytest.importorskip("scipy.linalg")
rng = np.random.default_rng(7)
X, BYTES, L = rng.random((7, 9)), rng.integers(0, 200, (7, 9)).astype("u1"), rng.random((3, 60))
C, F, B, SOLID = (X + 1j * X[::-1]).astype("c8"), X.astype("f4"), X > 0.4, rng.random((5, 6, 4))
SHAPE = np.array([[0, 1, 1], [1, 1, 0], [0, 1, 0]], bool)
MASK, LABELS = rng.random((7, 9)) > 0.3, rng.integers(0, 5, (7, 9))
WEIGHTS, PLACES = rng.random((3, 4)) - 0.3, rng.random((2, 40)) * 14 - 3
K, LINE = rng.random(5), rng.random(50)
WHOLE = rng.integers(-99, 99, 400)  # longer than MOST_SHIFTS
M = rng.random((4, 4))
S, POINTS = M @ M.T + np.eye(4), rng.random((5, 4)) + 0.1
IIR = (np.array([0.1, 0.2, 0.1]), np.array([1, -0.6, 0.2]))
SOS = np.array([[0.1, 0.2, 0.1, 1, -0.6, 0.2], [1, 0.5, 0, 1, -0.3, 0]])
MODES = "reflect mirror nearest wrap constant grid-mirror grid-constant grid-wrap".split()


def rows():
    """Module, function, arguments, options."""
    nd, sg = "ndimage", "signal"
    for k, mode in enumerate(MODES):
        x = (X, BYTES, C, F)[k % 4]
        real = (X, BYTES, F)[k % 3]
        yield nd, "correlate", (x, WEIGHTS), {"mode": mode, "cval": 1.5, "origin": (1, -1)}
        yield nd, "convolve", (x, WEIGHTS), {"mode": mode, "cval": 1.5}
        yield nd, "minimum_filter", (real, (2, 5)), {"mode": mode, "cval": 2}
        yield nd, "maximum_filter", (real,), {"footprint": SHAPE, "mode": mode, "origin": (0, 1)}
        yield nd, "median_filter", (real, 3), {"mode": mode}
        yield nd, "map_coordinates", (X, PLACES), {"order": k % 6, "mode": mode, "cval": 1.5}
        yield nd, "map_coordinates", (BYTES, PLACES), {"order": 1, "mode": mode}
        yield nd, "zoom", (X, (0.6, 1.5)), {"mode": mode, "grid_mode": bool(k % 2), "order": 1 + k % 3}
        yield nd, "rotate", (X, 33), {"mode": mode, "reshape": bool(k % 2)}
        yield nd, "spline_filter", (X,), {"mode": mode}
    yield nd, "correlate", (X, rng.random((9, 9))), {}
    yield nd, "correlate", (SOLID, WEIGHTS), {"axes": (2, 0)}
    yield nd, "convolve1d", (BYTES, K), {"axis": 0, "origin": 1}
    yield nd, "gaussian_filter", (C, 1.3), {}
    yield nd, "gaussian_filter", (X, (1, 2)), {"order": (1, 3), "mode": "mirror"}
    for f in ("sobel", "prewitt", "laplace"):
        yield nd, f, (BYTES if f == "sobel" else F,), {}
    yield nd, "gaussian_laplace", (X, 1.2), {}
    yield nd, "gaussian_gradient_magnitude", (F, 1.2), {}
    yield nd, "uniform_filter", (BYTES, (3, 4)), {"mode": "nearest"}
    yield nd, "percentile_filter", (X, -20, 4), {}
    yield nd, "rank_filter", (BYTES, -2, 3), {}
    for f in ("binary_erosion", "binary_dilation", "binary_opening", "binary_closing"):
        yield nd, f, (B,), {"structure": SHAPE, "iterations": 2}
        yield nd, f, (B,), {"structure": np.ones((2, 3)), "origin": (0, -1), "mask": MASK}
    yield nd, "binary_dilation", (B,), {"iterations": -1, "mask": MASK}
    yield nd, "binary_fill_holes", (B,), {}
    yield nd, "binary_hit_or_miss", (B,), {"structure1": SHAPE}
    yield nd, "iterate_structure", (SHAPE, 3), {}
    for f in ("grey_erosion", "grey_dilation", "grey_opening", "grey_closing", "morphological_gradient",
              "morphological_laplace", "white_tophat", "black_tophat"):  # fmt: skip
        yield nd, f, (BYTES,), {"size": (2, 3), "mode": "wrap"}
        yield nd, f, (X,), {"structure": np.arange(9.0).reshape(3, 3) / 9}
        yield nd, f, (F,), {"footprint": SHAPE}
    yield nd, "label", (B,), {}
    yield nd, "label", (~B,), {"structure": np.ones((3, 3))}
    yield nd, "label", (np.arange(510) % 2,), {"output": "u1"}
    yield nd, "find_objects", (LABELS,), {}
    for f in ("sum_labels", "mean", "variance", "standard_deviation", "minimum", "maximum", "median", "center_of_mass",
              "minimum_position", "maximum_position", "extrema"):  # fmt: skip
        yield nd, f, (X, LABELS, np.array([3, 1, 1])), {}
        yield nd, f, (BYTES, LABELS), {}
    yield nd, "shift", (X, (1.2, -2.5)), {}
    yield nd, "affine_transform", (X, np.array([[0.8, 0.2, 1], [-0.1, 1.1, 0]])), {"output_shape": (4, 5)}
    for f, value in (("fourier_gaussian", 1.2), ("fourier_uniform", (3, 2)), ("fourier_shift", (1.5, -2))):
        yield nd, f, (C, value), {}
        yield nd, f, (np.fft.rfft2(X), value), {"n": 9}
    for mode in ("full", "same", "valid"):
        for method in ("direct", "fft"):
            yield sg, "convolve", (X, WEIGHTS, mode, method), {}
            yield sg, "correlate", (WEIGHTS, C, mode, method), {}
        yield sg, "convolve", (LABELS, LABELS[:3, :2], mode), {}
        yield sg, "convolve", (WHOLE, WHOLE[:130], mode), {}
        yield sg, "convolve", (WHOLE << 40, WHOLE[:130] << 15, mode), {}
        yield sg, "fftconvolve", (X, WEIGHTS[:1], mode), {"axes": 1}
        yield sg, "correlation_lags", (5, 8, mode), {}
        for boundary in ("fill", "wrap", "symm"):
            yield sg, "convolve2d", (X, WEIGHTS, mode, boundary), {}
            yield sg, "correlate2d", (C, WEIGHTS * 1j, mode, boundary), {}
    yield sg, "medfilt", (X, 3), {}
    yield sg, "wiener", (X, 3), {}
    yield sg, "order_filter", (X, SHAPE, 2), {}
    yield sg, "lfilter", (*IIR, X), {"axis": 0}
    yield sg, "lfilter", (*IIR, LINE), {"zi": np.array([0.1, 0.2])}
    yield sg, "lfilter", (K, [2.0], F), {}
    yield sg, "lfiltic", (*IIR, LINE[:4]), {}
    yield sg, "sosfilt", (SOS, C), {}
    yield sg, "sosfilt_zi", (SOS,), {}
    for kind in ("odd", "even", "constant", None):
        yield sg, "filtfilt", (*IIR, L), {"padtype": kind}
    yield sg, "sosfiltfilt", (SOS, L), {}
    yield sg, "detrend", (L,), {"bp": [20, 33]}
    for mode in ("interp", "constant", "mirror"):
        yield sg, "savgol_filter", (L, 7, 3), {"deriv": 1, "mode": mode}
    yield sg, "hilbert", (L,), {"N": 50}
    for n in (20, 49, 51, 100):
        yield sg, "resample", (LINE, n), {}
    yield sg, "resample_poly", (L, 3, 2), {"axis": 1}
    yield sg, "resample_poly", (LINE, 2, 5), {}
    yield sg, "decimate", (LINE, 3), {"ftype": "fir"}
    for n, both in ((None, True), (5, False), (1, True)):
        yield sg, "decimate", (L, 4, n), {"zero_phase": both}
    yield sg, "firwin", (21, [0.2, 0.5]), {"pass_zero": False}
    yield sg, "firwin", (20, 10), {"fs": 50, "width": 3}
    for name in ("hann", ("tukey", 0.3), ("kaiser", 3.0), "parzen", "bohman", "triang", ("gaussian", 2), "flattop",
                 "barthann", "cosine", "lanczos", ("exponential", None, 2.0), "bartlett"):  # fmt: skip
        yield sg, "get_window", (name, 9), {}
    yield sg, "welch", (L, 10.0), {"nperseg": 20}
    yield sg, "csd", (LINE, K.repeat(10)), {"nperseg": 17, "detrend": "linear", "return_onesided": False}
    yield sg, "coherence", (LINE, K.repeat(10)), {"nperseg": 20}
    yield sg, "spectrogram", (L.T,), {"axis": 0, "nperseg": 16}
    yield sg, "periodogram", (LINE,), {"nfft": 30, "scaling": "spectrum"}
    waves = {"chirp": (1.0, 10.0, 5.0, "log"), "square": (0.3,), "sawtooth": (0.3,), "gausspulse": (2.0,)}
    for f, args in waves.items():
        yield sg, f, (LINE * 9, *args), {}
    yield sg, "argrelmin", (X,), {"axis": 1, "order": 2, "mode": "wrap"}
    for f in ("trim_mean", "zscore", "entropy"):
        yield "stats", f, (X, 0.2) if f == "trim_mean" else (X,), {}
    yield "stats", "entropy", (X, F), {"base": 2}
    yield "stats", "boxcox_llf", (0.5, X), {}
    for f in ("cosine", "correlation", "canberra", "jensenshannon", "chebyshev", "hamming", "minkowski"):
        yield "spatial.distance", "cdist", (POINTS, X[:3, :4], f), {}
    yield "spatial.distance", "pdist", (POINTS,), {}
    for f in ("solve_triangular", "expm"):
        yield "linalg", f, (M, M[0])[: 2 if f == "solve_triangular" else 1], {}
    yield "linalg", "solve_triangular", (M * 1j, M), {"trans": 2, "lower": True, "unit_diagonal": True}
    yield "linalg", "expm", (M * 30,), {}
    yield "linalg", "convolution_matrix", (K, 4, "same"), {}
    yield "linalg", "helmert", (5,), {}
    yield "linalg", "fiedler_companion", (K,), {}
    for a in (M, M.astype("F") * 1j, rng.random((40, 35)), rng.random((35, 40)), rng.random((2, 3, 3)), M[:0, :0]):
        for options in ({}, {"permute_l": True}, {"p_indices": True}):
            yield "linalg", "lu", (a,), options
        yield "linalg", "lu_factor", (a,), {}
    for trans in (0, 1, 2):
        factors = scipy.linalg.lu_factor(rng.random((2, 4, 4)) + 1j * rng.random((4, 4)))
        for b in (M[0], M, rng.random((2, 4, 3))):
            yield "linalg", "lu_solve", (factors, b), {"trans": trans}
    for k, f in enumerate(("dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn")):
        for kind in (1, 2, 3, 4):
            x, norm = (X, F, C, BYTES)[(k + kind) % 4], (None, "ortho", "forward")[(k + kind) % 3]
            yield "fft", f, (x, kind), {"norm": norm}
            yield "fft", f, (X, kind, 5 if k < 4 else (5, 12)), {"norm": norm, "orthogonalize": kind % 2 == 0}
    for f in ("irfft", "hfft", "rfftn", "fft2", "hfft2", "hfftn", "ihfft2", "ihfftn"):
        yield "fft", f, (F,), {}
    for t in ("f", "i"):
        yield "stats", "entropy", ((X * 9 + 1).astype(t),), {}


ROWS = list(rows())


def ours(value):
    if isinstance(value, tuple) and any(isinstance(x, np.ndarray) for x in value):
        return tuple(map(ours, value))
    return tn.array(value) if isinstance(value, np.ndarray) else value


def same(made, wanted, tolerance):
    if wanted is None or isinstance(wanted, (int, slice)):
        assert made == wanted
    elif isinstance(wanted, (tuple, list)):
        assert len(made) == len(wanted)
        for a, b in zip(made, wanted, strict=True):
            same(a, b, tolerance)
    else:
        wanted = np.asarray(wanted)
        assert np.asarray(made).dtype == wanted.dtype and np.shape(made) == wanted.shape
        np.testing.assert_allclose(np.asarray(made), wanted, rtol=tolerance, atol=tolerance)


def check(row):
    module, function, args, options = row
    theirs = __import__(f"scipy.{module}", fromlist=["x"])
    mine = __import__(f"tessera.scipy.{module}", fromlist=["x"])
    wanted = getattr(theirs, function)(*args, **options)
    made = getattr(mine, function)(*map(ours, args), **{name: ours(value) for name, value in options.items()})
    # SciPy's coefficients of splines that reflect are off by 1e-5 near the ends.
    splines = function in ("map_coordinates", "zoom", "rotate", "spline_filter")
    single = any(getattr(a, "dtype", None) in (np.float32, np.complex64) for a in args)
    same(made, wanted, 2e-5 if splines else 2e-6 if single else 1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
@pytest.mark.parametrize(
    "row", unless_short(ROWS[::6], [row for k, row in enumerate(ROWS) if k % 6]), ids=lambda row: row[1]
)
def test_as_scipy(row):
    check(row)


MANY = np.arange(520) % 2 == 0  # of regions

SAID = [
    (("ndimage", "correlate"), (X, WEIGHTS[0]), {}, RuntimeError, "incorrect shape"),
    (("ndimage", "correlate"), (X, WEIGHTS), {"mode": "around"}, RuntimeError, "'around'; there are reflect"),
    (("ndimage", "convolve"), (X, WEIGHTS), {"origin": 5}, ValueError, "invalid origin"),
    (("ndimage", "label"), (B,), {"structure": SHAPE}, RuntimeError, "not symmetric"),
    (("ndimage", "label"), (MANY,), {"output": "i1"}, RuntimeError, "insufficient bit-depth"),
    (("ndimage", "label"), (MANY,), {"output": tn.zeros(MANY.shape, "u1")}, RuntimeError, "insufficient bit-depth"),
    (("ndimage", "label"), (MANY,), {"output": tn.zeros((2, *MANY.shape), int)}, ValueError, "output shape"),
    (("ndimage", "label"), (MANY,), {"output": "c8"}, TypeError, "complex64"),
    (("ndimage", "label"), (C,), {}, TypeError, "Complex"),
    (("ndimage", "rank_filter"), (X, 20, 3), {}, RuntimeError, "rank not within"),
    (("ndimage", "median_filter"), (X,), {}, RuntimeError, "no footprint"),
    (("ndimage", "zoom"), (X, 2), {"order": 7}, RuntimeError, "spline order"),
    (("ndimage", "binary_erosion"), (C,), {}, TypeError, "Complex"),
    (("signal", "convolve"), (X, K), {}, ValueError, "dimensionality"),
    (("signal", "convolve"), (X, X, "some"), {}, ValueError, "'some'"),
    (("signal", "lfilter"), (*IIR, X), {"zi": np.ones(5)}, ValueError, r"expected \(7, 2\), found \(5,\)"),
    (("signal", "filtfilt"), (*IIR, K), {}, ValueError, "greater than padlen"),
    (("signal", "decimate"), (LINE, 3), {"ftype": "some"}, ValueError, "found 'some'"),
    (("signal", "get_window"), ("round", 5), {}, ValueError, "'round'; there are barthann"),
    (("signal", "firwin"), (20, 0.4), {"pass_zero": "highpass"}, ValueError, "even number of weights"),
    (("spatial.distance", "cdist"), (POINTS, POINTS, "near"), {}, ValueError, "'near'; there are euclidean"),
    (("linalg", "solve_triangular"), (np.zeros((2, 2)), K[:2]), {}, np.linalg.LinAlgError, "singular"),
    (("stats", "trim_mean"), (X, 0.6), {}, ValueError, "too big"),
]


@pytest.mark.parametrize(("place", "args", "options", "error", "text"), SAID, ids=lambda v: "")
def test_mistakes_are_named(place, args, options, error, text):
    module = __import__(f"tessera.scipy.{place[0]}", fromlist=["x"])
    with pytest.raises(error, match=text):
        getattr(module, place[1])(*map(ours, args), **options)


@pytest.mark.parametrize(("function", "args"), [
    ("uniform_filter", (3,)), ("correlate1d", (K,)), ("shift", ((1.3, 0.2),)), ("sobel", ()), ("prewitt", (0,)),
    ("correlate1d", ([256, 0, 255.5],)), ("laplace", ()),
], ids=lambda v: "")  # fmt: skip
def test_results_of_bool_are_cut_as_scipys_bytes(function, args):
    check(("ndimage", function, (B, *args), {}))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("function", "args"), [
    ("welch", ()), ("csd", (L[::-1].astype("f4"),)), ("hilbert", ()), ("gausspulse", ()), ("decimate", (4,)),
], ids=lambda v: "")  # fmt: skip
def test_precision_is_scipys(function, args):
    x = L.astype("f4")
    wanted = getattr(scipy.signal, function)(x, *args)
    made = getattr(signal, function)(tn.array(x), *map(ours, args))
    same(made, wanted, 1e-4)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", ["fourier_uniform", "fourier_gaussian"])
def test_filters_of_no_size_and_no_length(function):
    for size, n in ((0, -1), (0, 5), (2, 0), (0, 0)):
        check(("ndimage", function, (X, size), {"n": n}))


@pytest.mark.parametrize("shape", [(40, 50), (9, 8, 7), (300,), (4, 3, 5, 4), (3, 0), ()])
def test_regions_as_scipy(shape):
    for share in (0.3, 0.6, 0.9):
        x = np.random.default_rng(3).random(shape) < share
        for near in (None, np.ones((3,) * x.ndim), np.zeros((3,) * x.ndim)):
            check(("ndimage", "label", (x, near), {}))


@pytest.mark.skipif(not LONG, reason="a kernel of three lgamma, slow to compile")
def test_beta_has_the_sign_and_the_poles_of_scipys():
    grid = np.array([-4, -3.5, -3, -2.5, -2, -1, -0.75, -0.25, 0, 0.5, 1, 1.5, 2, 3, 4.5])
    from tessera.cupyx.scipy import special

    wanted = __import__("scipy.special", fromlist=["x"]).beta(grid[:, None], grid)
    made = special.beta(tn.array(grid[:, None]), tn.array(grid))
    np.testing.assert_allclose(made.get(), wanted, rtol=1e-9, atol=1e-12)


def test_loggamma_is_real_where_gamma_is_positive():
    from tessera.cupyx.scipy import special

    x = np.array([-2.5, -1, -0.0, 0, 0.5, 3, np.inf, np.nan])
    wanted = __import__("scipy.special", fromlist=["x"]).loggamma(x)
    np.testing.assert_allclose(special.loggamma(tn.array(x)).get(), wanted, rtol=1e-14)


def test_numbers_of_python_have_no_dtype_beside_arrays():
    from tessera.cupyx.scipy import special

    assert special.huber(tn.ones(3, "f4"), 0.5).dtype == np.float32
    assert special.huber(0.5, tn.ones(3, "f8")).dtype == special.huber(tn.ones(3, "i4"), 0.5).dtype == np.float64


def test_fast_lengths_and_axes_of_transforms_are_scipys():
    ours, theirs = fft, pytest.importorskip("scipy.fft")
    for n in (*range(200), 100001):
        for real in (False, True):
            assert ours.next_fast_len(n, real) == theirs.next_fast_len(n, real)
    for wrong, error in ((-1, ValueError), (2.5, TypeError)):
        with pytest.raises(error):
            ours.next_fast_len(wrong)
    x = np.ones((4, 4))
    for name in ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn", "fft2", "hfft2", "ihfft2", "dctn"):
        for options in ({"axes": (0, 0)}, {"axes": (0, -2)}, {"axes": (0, 5)}, {"s": (2, 3), "axes": (0,)},
                        {"s": (2, 3, 4)}):  # fmt: skip
            with pytest.raises(ValueError):
                getattr(theirs, name)(x, **options)
            with pytest.raises(ValueError):
                getattr(ours, name)(x, **options)
