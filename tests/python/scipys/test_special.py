# SPDX-License-Identifier: Apache-2.0
"""tessera.scipy.special against SciPy, and by identities where SciPy is off; what is SciPy's alone."""

import itertools
import math

import numpy as np
import pytest
import tessera.numeric as tn
from long_form import unless_short
from tessera import cupy as cp
from tessera import cupyx
from tessera.numeric import FallbackWarning, fallback
from tessera.scipy import interpolate, signal, spatial, special

scipy = pytest.importorskip("scipy")
theirs = pytest.importorskip("scipy.special")
rng = np.random.default_rng(3)
EDGES = [0.0, -0.0, math.nan, -math.inf, 1.0, -1.0, 0.5, -2.5, 30.0]
REAL = np.r_[EDGES, np.inf, rng.normal(0, 20, 60), rng.lognormal(0, 6, 60)]
PLUS = np.r_[EDGES, np.inf, rng.lognormal(0, 4, 30)]
SHAPES, PART = rng.lognormal(0, 3, 14), np.r_[0, 1, -1, math.nan, rng.random(12)]
COUNTS = np.r_[-1.0, 0, 1, 4, 30]
DEGREES = np.r_[np.arange(-720, 721, 45.0), rng.normal(0, 400, 40), math.nan]


def grid(*vectors):
    return [v.ravel() for v in np.meshgrid(*vectors)]


def rows():
    for f in ("psi", "gammasgn", "i0e", "i1e", "k0", "k0e", "k1", "k1e", "ellipk", "ellipkm1", "exp1", "expi"):
        yield f, [REAL]
    yield "log_ndtr", [REAL[REAL < 30]]
    yield "zetac", [REAL[~(abs(REAL) > 50)]]
    yield "zeta", [REAL[~(abs(REAL) > 50)]]
    for f in ("i0", "i1"):
        yield f, [REAL[~np.isinf(REAL)]]
    for f in ("sindg", "cosdg", "tandg", "cotdg"):
        yield f, [DEGREES]
    for f in ("gammainc", "gammaincc", "chdtr", "chdtrc", "gdtr", "gdtrc"):
        yield f, ([1.5] if f[0] == "g" and f[1] == "d" else []) + grid(SHAPES, np.r_[PLUS, SHAPES * 1.01])
    for f in ("gammaincinv", "gammainccinv", "chdtri"):
        yield f, grid(SHAPES, PART)
    yield "betainc", grid(SHAPES, SHAPES, PART)
    yield "betaincinv", grid(SHAPES[SHAPES > 0.05], SHAPES[SHAPES > 0.05], PART)
    for f in ("beta", "betaln"):
        yield f, grid(np.r_[EDGES, SHAPES, -3, -4], np.r_[EDGES, SHAPES, -3])
    yield "poch", grid(np.r_[SHAPES, -2.5], [0, 1, 2, -0.5, 0.25, 20])
    yield "expn", grid(np.r_[-1, 0, 1, 2, 9, 80], PLUS)
    yield "yn", grid(np.r_[-3, 0, 1, 4], np.r_[0, SHAPES[SHAPES < 100]])
    yield "polygamma", grid(np.r_[0, 1, 2, 7], np.r_[rng.normal(0, 9, 20), 1e6])
    yield "zeta", grid(np.r_[1, 1.5, 2, 9, 40], np.r_[rng.normal(0, 9, 20), 1e9])
    yield "lpmv", grid(np.r_[0, 1, 3, -2], np.r_[0, 1, 4, 12, -3], np.linspace(-1, 1, 9))
    for f in ("bdtr", "bdtrc", "bdtri", "nbdtr", "nbdtrc", "nbdtri"):
        yield f, grid(COUNTS, COUNTS + 2, np.r_[PART, 0.3])
    for f in ("pdtr", "pdtrc"):
        yield f, grid(COUNTS, PLUS)
    yield "pdtri", grid(COUNTS, PART)
    for f in ("fdtr", "fdtrc"):
        yield f, grid([1.0, 2.5, 10], [1.0, 3, 50], PLUS)
    yield "fdtri", grid([1.0, 2.5, 10], [1.0, 3, 50], PART)


ROWS = list(rows())


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "row", unless_short(ROWS[::7], [row for k, row in enumerate(ROWS) if k % 7]), ids=lambda row: row[0]
)
def test_as_scipy(row):
    name, args = row
    wanted = getattr(theirs, name)(*args)
    with fallback("error"):
        made = np.asarray(getattr(special, name)(*map(tn.asarray, args)))
    tiny = (abs(made) < 1e-290) & (abs(wanted) < 1e-290)  # SciPy gives 0 for some
    assert made.dtype == wanted.dtype
    np.testing.assert_allclose(np.where(tiny, 0, made), np.where(tiny, 0, wanted), rtol=3e-10, atol=0)


def test_where_scipy_is_off():
    """Values of mpmath 1.3 with 30 digits."""
    assert special.gammainc(1e9, 1e9 - 2e5) == pytest.approx(1.266437917018217e-10, rel=1e-12)
    assert special.gammainc(1e7, 9970738.9) == pytest.approx(1.0021807392216002e-20, rel=1e-12)
    made = special.betainc(28.48035868435799, 0.001, 0.9743589743589743)
    assert made == pytest.approx(3.5558268172155956e-4, rel=1e-12)
    assert special.beta(5e5, 1) == pytest.approx(2e-6, rel=1e-14)
    assert special.bdtri(0, 200, 1e-20) == pytest.approx(1 - 10**-0.1, rel=1e-12)


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_inverses_come_back(name):
    a = np.logspace(-5, 10, 40)
    made = getattr(special, name + "inv")(tn.asarray(a), getattr(special, name)(tn.asarray(a), tn.asarray(a)))
    np.testing.assert_allclose(np.asarray(made), a, rtol=1e-10 if name == "gammainc" else 1e-14)


@pytest.mark.parametrize("name", ["psi", "exp1", "gammainc", "expn", "pdtri", "zeta", "betainc", "poch"])
def test_dtypes_are_scipys(name):
    n = {"psi": 1, "exp1": 1, "betainc": 3}.get(name, 2)
    for kinds in itertools.product("?bhilefd", repeat=n):
        args = [np.ones(2, t) for t in kinds]
        if name in ("expn", "pdtri") and kinds[0] in "?bh" and kinds[1] in "ef":
            continue  # SciPy's loop of longs
        wanted = getattr(theirs, name)(*args)
        assert getattr(special, name)(*map(tn.asarray, args)).dtype == wanted.dtype, kinds


@pytest.mark.parametrize("kind", unless_short("?Hef", "bild"))
def test_numbers_of_python_are_weak(kind):
    x = np.zeros(2, kind)
    for name, args in (("lpmv", (1, 2, x)), ("betainc", (1, 2, x)), ("poch", (x, 1.5)), ("poch", (x, 2))):
        wanted = getattr(theirs, name)(*args)
        made = getattr(special, name)(*(tn.asarray(a) if a is x else a for a in args))
        assert made.dtype == wanted.dtype, (name, kind)


def test_cupyx_has_them_for_its_arrays():
    x = cp.linspace(0.5, 3, 6)
    made = cupyx.scipy.special.gammainc(2, x)
    assert type(made) is cp.ndarray and made.dtype == "f8"
    np.testing.assert_allclose(made.get(), theirs.gammainc(2, x.get()))
    assert cupyx.scipy.special.digamma is cupyx.scipy.special.psi
    out = cp.zeros(6, "f4")
    assert cupyx.scipy.special.psi(x, out) is out
    np.testing.assert_allclose(out.get(), theirs.psi(x.get()), rtol=1e-6)
    for f in ("erf", "gamma", "log1p"):
        assert getattr(cupyx.scipy.special, f)(cp.ones(2, "f2")).dtype == "f8"
    assert cupyx.scipy.special.entr(cp.ones(2, "f2")).dtype == "f4"


def test_logsumexp_has_signs():
    a, b = rng.normal(0, 3, (3, 4)), rng.normal(0, 1, (3, 4))
    b[0] = 0
    for axis in (None, 0, 1):
        made = cupyx.scipy.special.logsumexp(cp.array(a), axis, cp.array(b), return_sign=True)
        with np.errstate(divide="ignore"):
            wanted = theirs.logsumexp(a, axis, b, return_sign=True)
        for x, y in zip(made, wanted, strict=True):
            np.testing.assert_allclose(x.get(), y, rtol=1e-12)


def test_sums_of_gammas():
    x = rng.random(5) * 9 + 3
    np.testing.assert_allclose(np.asarray(special.multigammaln(tn.asarray(x), 3)), theirs.multigammaln(x, 3))
    with pytest.raises(ValueError, match="not met"):
        special.multigammaln(tn.asarray([0.1]), 3)
    made = special.sph_harm_y(tn.arange(4), tn.asarray([[-2], [1]]), 0.7, 1.9)
    wanted = theirs.sph_harm_y(np.arange(4), np.array([[-2], [1]]), 0.7, 1.9)
    np.testing.assert_allclose(np.asarray(made), wanted, rtol=1e-12, atol=1e-15)


def test_what_scipy_alone_has_is_told_of():
    x = tn.linspace(0.1, 1, 5)
    with pytest.warns(FallbackWarning, match=r"scipy\.special\.sici has no counterpart in tessera\.scipy"):
        made = special.sici(x)
    np.testing.assert_array_equal(np.asarray(made[0]), theirs.sici(np.asarray(x))[0])
    with fallback("error"), pytest.raises(NotImplementedError, match=r"signal\.butter"):
        signal.butter(3, 0.2)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        special.nothing  # noqa: B018
    with fallback("error"), pytest.raises(NotImplementedError, match="psi"):
        special.psi(x * 1j)
    with fallback("silent"):
        np.testing.assert_allclose(np.asarray(special.psi(x * 1j)), theirs.psi(np.asarray(x) * 1j))


def test_objects_of_scipy_take_and_give_arrays():
    points = cp.asarray(rng.random((20, 2)))
    with fallback("silent"):
        tree = cupyx.scipy.spatial.KDTree(points)
        distances, places = tree.query(points[:3], k=2)
        assert type(distances) is cp.ndarray and places[:, 0].tolist() == [0, 1, 2]
        assert "KDTree" in repr(tree) and type(tree.maxes) is cp.ndarray
        assert spatial.KDTree(tn.asarray(points.get())).query(tn.zeros(2))[1].shape == ()
        curve = interpolate.CubicSpline(tn.arange(5.0), tn.arange(5.0) ** 3)
        made = curve.derivative()(tn.asarray([2.0]))
    assert type(made) is tn.ndarray and made[0] == pytest.approx(12)
    with fallback("error"), pytest.raises(NotImplementedError, match=r"KDTree\.query"):
        tree.query(points[:3])


@pytest.mark.parametrize(
    ("name", "args", "wanted"),
    [
        ("betainc", (1e15, 1e15, 0.5), 0.5),
        ("betainc", (1e300, 1e300, 0.5), 0.5),
        ("betainc", (1e10, 1e10, 0.500005), 0.9213503964788),
        ("betainc", (1e9, 3e9, 0.250001), 0.558065082245),
        ("betainc", (20.0, 1e12, 2e-11), 0.529742733195),
        ("betaincinv", (20.0, 1e300, 0.5), 1.966767233209e-299),
        ("fdtrc", (20.0, 1e300, 3.0), theirs.gammaincc(10.0, 30.0)),
        ("fdtr", (20.0, 1e300, 3.0), theirs.gammainc(10.0, 30.0)),
        ("fdtr", (1e300, 1e300, 1.0), 0.5),
    ],
)
def test_parts_of_beta_for_large_numbers(name, args, wanted):
    made = getattr(special, name)(*(tn.asarray([x]) for x in args))
    np.testing.assert_allclose(np.asarray(made), wanted, rtol=1e-10)
