# SPDX-License-Identifier: Apache-2.0
"""NumPy's Python programs on arrays of ours, its packages polynomial, lib and testing: against NumPy, and that our
kernels compute them."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core
from tessera.numeric import _numpys

X = np.arange(20.0) * 7 % 11
M = X.reshape(4, 5)
CALLS = {
    "array2string": [(X,)], "base_repr": [(5,)], "blackman": [(5,)], "convolve": [(X, np.ones(3))],
    "corrcoef": [(M,)], "correlate": [(X, np.arange(3.0))], "cov": [(M,), (M, M)], "diag_indices_from": [(M[:, :4],)],
    "gradient": [(X,), (M,), (X, 2.0)], "hanning": [(5,)], "histogram": [(X,), (X, 4), (X, [0, 3, 9])],
    "histogram2d": [(X, X[::-1])], "i0": [(X,)], "interp": [(np.array([0.5, 1.5]), np.arange(3), X[:3])],
    "isfortran": [(M,), (M.T,)], "kaiser": [(5, 2.0)], "nanargmax": [(X,)], "nanmedian": [(X,)],
    "nanpercentile": [(X, 30)], "nanstd": [(M, 1)], "nanvar": [(X,)], "pad": [(X, 2), (M, 1, "edge")],
    "percentile": [(X, 30), (M, [10, 50], 0)], "piecewise": [(X, [X > 3, X <= 3], [1, 2])], "poly": [(X[:3],)],
    "polyadd": [(X[:3], X[:2])], "polydiv": [(X[1:5], X[1:3])], "polyfit": [(X, X**2 + 1, 2)], "polymul": [(X, X[:3])],
    "polyval": [(X[:3], X)], "quantile": [(X, 0.3)], "real_if_close": [(X + 0j,)], "roots": [([1, -3, 2],)],
    "select": [([X > 5, X < 2], [X, -X])], "trim_zeros": [(np.array([0, 1, 2, 0]),)], "typename": [("d",)],
    "unwrap": [(X,)],
}  # fmt: skip
HOST = {"interp", "linalg.eigvals", "linalg.lstsq", "linalg.inv", "seterr", "geterr"}


def ours(x):
    if isinstance(x, np.ndarray):
        return tn.array(x)
    return [ours(each) for each in x] if isinstance(x, list) else x


def same(found, wanted):
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    elif isinstance(wanted, (str, bool)):
        assert found == wanted
    else:
        assert isinstance(found, tn.ndarray) == isinstance(wanted, np.ndarray), type(found)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", CALLS)
def test_functions(name):
    before = tn.host_calls()
    for arguments in CALLS[name]:
        same(getattr(tn, name)(*map(ours, arguments)), getattr(np, name)(*arguments))
    new = {key for key, n in tn.host_calls().items() if n != before.get(key, 0)}
    assert new <= HOST, new


def test_close_to_real_is_executed_on_our_arrays():
    assert tn.real_if_close.__wrapped__.__globals__["__name__"] == "tessera.numeric"  # not NumPy's, lent our arrays
    assert tn.common_type(tn.ones(2, "f4"), tn.ones(1, "c8")) is np.complex64
    assert tn.mintypecode(["d", "F"]) == "D" and tn.typename("d") == "double precision"


def test_objects_that_are_indexed_or_called():
    same(tn.r_[1:3, 5, 0.5], np.r_[1:3, 5, 0.5])
    same(tn.c_[tn.arange(3), tn.arange(3)], np.c_[np.arange(3), np.arange(3)])
    same(tn.mgrid[0:2, 0:3], np.mgrid[0:2, 0:3])
    same(tn.poly1d([1, 2, 3])(tn.arange(3)), np.poly1d([1, 2, 3])(np.arange(3)))
    made = pickle.loads(pickle.dumps(tn.poly1d([1, 2])))
    assert type(made) is tn.poly1d and made.order == 1


@pytest.mark.parametrize(
    "name", ["Polynomial", "Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre"]
)
def test_series(name):
    mine, theirs = getattr(tn.polynomial, name), getattr(np.polynomial, name)
    p, q, a, b = mine([1, 2, 3]), mine([0, 1]), theirs([1, 2, 3]), theirs([0, 1])
    for found, wanted in ((p + q, a + b), (p * q, a * b), (p**2, a**2), (p // q, a // b), (p.deriv(), a.deriv()),
                          (p.integ(), a.integ())):  # fmt: skip
        assert isinstance(found, mine)
        same(found.coef, wanted.coef)
    same(p(tn.array(X)), a(X))
    same(
        mine.fit(tn.array(X[:6]), tn.arange(6.0), 2).coef, theirs.fit(X[:6], np.arange(6.0), 2).coef
    )
    same(
        p.convert(kind=tn.polynomial.Polynomial).coef, a.convert(kind=np.polynomial.Polynomial).coef
    )
    assert str(p) == str(a)
    assert pickle.loads(pickle.dumps(p)) == p and type(p).__module__.startswith(
        "tessera.numeric.polynomial"
    )


def test_modules_of_series():
    from tessera.numeric.polynomial import chebyshev, polynomial

    same(chebyshev.chebval(tn.array(X), [1, 2, 3]), np.polynomial.chebyshev.chebval(X, [1, 2, 3]))
    same(polynomial.polyvander(tn.array(X), 3), np.polynomial.polynomial.polyvander(X, 3))
    assert chebyshev.Chebyshev is tn.polynomial.Chebyshev


def test_views_by_strides():
    from tessera.numeric.lib import stride_tricks

    a = tn.array(X)
    for found, wanted in (
        (
            stride_tricks.as_strided(a, (4, 3), (16, 8)),
            np.lib.stride_tricks.as_strided(X, (4, 3), (16, 8)),
        ),
        (stride_tricks.sliding_window_view(a, 4), np.lib.stride_tricks.sliding_window_view(X, 4)),
        (
            stride_tricks.sliding_window_view(tn.array(M), (2, 3)),
            np.lib.stride_tricks.sliding_window_view(M, (2, 3)),
        ),
    ):
        same(found, wanted)
        assert found.strides == wanted.strides and tn.shares_memory(found, found.base)
    assert not stride_tricks.sliding_window_view(a, 4).flags.writeable
    with pytest.raises(ValueError, match="memory has 160"):
        stride_tricks.as_strided(a, (30,), (8,))
    part = X.copy()[5:]
    for x, shape, strides in (
        (a[5:], (20,), (8,)), (a[:3], (5,), (-8,)), (a[18:], (3,), (8,)), (a[::-1], (2,), (8,)), (a, (20,), (2**60,)),
        (a[:4], (3, 4), (-8, 8)), (tn.asarray(part), (3,), (-8,)), (a + 1, (2,), (-8,)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="its memory has"):
            stride_tricks.as_strided(x, shape, strides)
    with pytest.raises(ValueError, match="negative"):
        stride_tricks.as_strided(a, (-1,), (8,))
    same(stride_tricks.as_strided(a[5:], (6,), (-8,)), X[5::-1])
    same(stride_tricks.as_strided(a[:3], (20,), (8,)), X)
    kept = (b := tn.array(X))[5:]
    b.resize(100)
    with pytest.raises(ValueError, match="its memory has 160"):
        stride_tricks.as_strided(kept, (50,), (8,))
    with pytest.raises(ValueError, match="larger"):
        stride_tricks.sliding_window_view(a, 21)
    low, high = tn.lib.array_utils.byte_bounds(a[::-1])
    assert high - low == 160
    same(tn.emath.sqrt(tn.array([-1.0, 4.0])), np.emath.sqrt(np.array([-1.0, 4.0])))


def test_testing_takes_our_arrays():
    tn.testing.assert_array_equal(tn.arange(3), [0, 1, 2])
    with pytest.raises(AssertionError):
        tn.testing.assert_allclose(tn.ones(3), tn.zeros(3))


def test_classes_of_dtypes():
    assert tn.ones(2, np.dtypes.Float32DType).dtype == np.float32


def test_ellipsis_as_out_gives_an_array():
    made = tn.true_divide(3, 2, out=...)
    assert isinstance(made, tn.ndarray) and made.shape == () and float(made) == 1.5


def test_functions_that_numpy_has_in_c_do_not_become_methods():
    class Case:
        array, total = tn.array, tn.sum

    assert Case().array([1, 2]).tolist() == [1, 2]
    assert pickle.loads(pickle.dumps(tn.array)) is tn.array
    assert isinstance(Case().total(axis=0), Case)  # a method: the sum of one object is itself
    assert tn.ones(3).__array_wrap__(np.arange(2)).tolist() == [0, 1]


@pytest.mark.parametrize("module", ["tessera.numeric", "tessera.numeric.linalg", "tessera.numeric.fft"])
def test_functions_are_pickled_by_their_public_name(module):
    home = importlib.import_module(module)
    routines = {name: thing for name, thing in vars(home).items() if isinstance(thing, _core.NumericRoutine)}
    for name, thing in routines.items():
        if not name.startswith("_"):
            assert pickle.loads(pickle.dumps(thing)) is thing, name
            assert thing.__module__ == module and repr(thing).startswith(f"<function {module}.")
    assert len(routines) > 10


FIRST_USE = """
import sys, threading
import tessera.numeric as tn
sys.setswitchinterval(1e-6)
calls = [
    lambda: tn.percentile(tn.arange(5.0), 50), lambda: tn.poly1d([1, 2])(2),
    lambda: tn.polynomial.Polynomial([1, 2])(2),
    lambda: tn.ma.array([1, 2], mask=[0, 1]).sum(), lambda: tn.pad(tn.arange(3), 1).sum(), lambda: tn.emath.sqrt(4.0),
    lambda: tn.polynomial.Chebyshev([1, 2])(2),
    lambda: tn.gradient(tn.arange(3.0))[0], lambda: tn.ma.median([1, 2, 3]), lambda: tn.percentile(tn.arange(3.0), 50),
]
found, begin = {}, threading.Barrier(len(calls))
def work(i):
    begin.wait()
    try:
        found[i] = float(calls[i]())
    except BaseException as error:
        found[i] = repr(error)
threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(len(calls))]
for each in threads: each.start()
for each in threads: each.join(60)
print([found.get(i) for i in range(len(calls))])
"""


def test_first_uses_in_threads():
    made = subprocess.run(
        [sys.executable, "-c", FIRST_USE], check=False, capture_output=True, text=True, timeout=100
    )
    assert made.stdout.split("\n")[0] == "[2.0, 4.0, 5.0, 1.0, 3.0, 2.0, 5.0, 1.0, 2.0, 1.0]", made


_AT_ONCE = """
import importlib, sys, threading
sys.setswitchinterval(1e-5)
import tessera.numeric as tn
wrong = []
def run(function, *arguments):
    try:
        function(*arguments)
    except BaseException as error:
        wrong.append(repr(error))
def use():
    assert tn.polynomial.Chebyshev([1, 2])(3) == 7
    assert tn.ma.array([1, 2], mask=[0, 1]).sum() == 1
names = ["legendre", "hermite", "laguerre"]
names = [*(f"polynomial.{name}" for name in names), "polynomial", "ma", "ma.core", "lib.scimath"]
jobs = [(importlib.import_module, f"tessera.numeric.{name}") for name in names] + [(use,), (use,)]
threads = [threading.Thread(target=run, args=job, daemon=True) for job in jobs]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(30)
import tessera.numeric.polynomial.legendre as legendre
assert list(legendre.legadd([1, 2], [3])) == [4, 2] and "legadd" in dir(legendre)
assert not wrong and not any(thread.is_alive() for thread in threads), wrong
"""


def test_first_uses_in_many_threads_beside_imports():
    done = subprocess.run([sys.executable, "-c", _AT_ONCE], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def test_adopted_functions_are_looked_up_once_and_listed_as_before():
    vars(tn).pop("interp", None)
    _numpys.FOUND.discard("interp")
    names = dir(tn)
    assert tn.interp is tn.interp and vars(tn)["interp"] is tn.interp
    assert dir(tn) == names
    assert _numpys._resolve("numpy", "interp") is not tn.interp  # programs get the function that asks no classes
