# SPDX-License-Identifier: Apache-2.0
"""Calls on few elements that NumPy computes (ext/numeric_lend.c): every row of its table, on arrays of every kind."""

from __future__ import annotations

import pathlib
import re
import sys
import warnings

import numpy as np
import pytest
import tessera.numeric as tn
from long_form import LONG
from tessera import _core

TABLE = pathlib.Path(__file__).parents[3] / "ext" / "numeric_lend.def"
MOST = {name: int(most) for name, most in re.findall(r'^LEND\("([\w.]+)", (\d+)', TABLE.read_text(), re.M)}
ROWS = dict(re.findall(r'^LEND\("([\w.]+)", .*, (\w+)\)$', TABLE.read_text(), re.M))
# Calls of each row. x and y: two vectors; s: sorted; k, l: integers from 0 on; t: truths; m: a matrix; r: a square one.
CALLS = """
all(x) | any(m, axis=0, keepdims=True) | any([x, y]) | argmax(m, 1, keepdims=True) | argmin([3, 1, 2])
average(x) | average(x, weights=s) | max(m, axis=(0, 1)) | max(x, initial=3) | mean(m, (0, 1)) | median(x)
median(m, 0) | min(x, where=t, initial=7) | nanargmax(x) | nanargmin(m, 1) | nanmax(x) | nanmean(m, 0)
nanmedian(x) | nanmin(m) | nanpercentile(x, [10, 50]) | nanprod(x) | nanquantile(x, 0.5) | nanstd(x)
nansum(m, 1) | nanvar(m, 0) | percentile(x, 50) | percentile(m, [10, 90], axis=0) | prod(x, where=t) | ptp(m, 0)
quantile(x, [0.1, 0.9]) | quantile(x, 2.0) | std(x) | std(m, 0, ddof=1) | sum(m, axis=(0, 1))
sum(x, dtype="f4") | var(m, keepdims=True) | x.all(where=t) | x.any(where=t) | m.max((0, 1)) | m.mean((0, 1))
m.min((0, 1)) | m.prod((0, 1)) | x.std() | m.var(1) | m.sum((0, 1)) | m.trace() | corrcoef(x, y) | cov(m)
count_nonzero(x) | count_nonzero(m, axis=1) | cumprod(x) | cumsum(m, 0) | cumsum(m) | cumulative_prod(x)
cumulative_sum(x, include_initial=True) | ediff1d(x) | gradient(x) | gradient(m) | nancumprod(x)
nancumsum(m, 1) | trapezoid(x) | unwrap(x) | x.cumprod() | m.cumsum(1) | argpartition(x, 0) | argsort([3, 1, 2])
digitize(x, s) | digitize(0.5, s) | histogram(x) | histogram(x, 3, (0, 2)) | histogram2d(x, y, 2)
histogram_bin_edges(x, 3) | histogramdd(m, 2) | intersect1d(k, l) | isin(k, l) | lexsort((k, l))
isin(k, [1, 2]) | partition(x, 0, axis=0) | searchsorted(s, 0.5) | searchsorted(s, x, "right") | setdiff1d(k, l)
setxor1d(k, l) | sort([3, 1, 2]) | sort_complex(x) | union1d(k, l) | unique(k, return_counts=True) | unique(m, axis=0)
unique_all(k) | unique(k, return_index=True, return_inverse=True) | unique_counts(k) | unique_inverse(k)
unique_values(k) | s.searchsorted(0.5) | s.searchsorted(x, side="right") | argwhere(t) | argwhere(m)
choose(k % 2, [x, y]) | compress(t, x) | compress(t, m, axis=0) | delete(x, 0) | delete(m, [0], 1)
extract(t, x) | insert(x, 0, 2) | insert(m, 0, 5, axis=1) | nonzero(x) | nonzero(m)
ravel_multi_index((k, l), (64, 64)) | select([t, ~t], [x, y]) | take(m, [0], axis=1)
take_along_axis(m, np.argsort(m, 1), 1) | take_along_axis(x, k % 1, 0)
take(x, [[0]], mode="clip") | unravel_index(k, (8, 8)) | where(t) | where(t, x, 0) | (k % 2).choose([x, y])
x.compress(t) | x.nonzero() | m.take([0], 1) | x.take(99) | copyto(x, y) | copyto(x, 3) | fill_diagonal(r, 4)
place(x, t, [1, 2]) | put(x, [0], 3) | put(x, [99], 3) | put_along_axis(x, k % 1, 5, 0) | putmask(x, t, [1, 2])
x.put([0], 7) | allclose(x, y) | allclose(x, x, equal_nan=True) | angle(x) | array_equal(x, x)
array_equal(x, y) | array_equiv(x, m) | i0(x) | interp(x, s, s) | interp(0.5, s, s, left=2) | isclose(x, y)
nan_to_num(x) | nan_to_num(m, nan=3.0, posinf=1) | piecewise(x, [t], [1, 2]) | polyval([1, 2], x) | x.clip(0, 1)
x.clip(0.5) | x.round(1) | m.round() | append(x, y) | append(x, 1) | append(m, m, 0) | block([x, y])
block([[m], [m]]) | bincount(k) | bincount(k, x) | bincount(k, minlength=9) | column_stack((x, y))
convolve(x, y) | correlate(x, y, "full") | cross(v, v) | packbits(t) | packbits(k) | roll(x, 1)
roll(m, 1, axis=0) | roll(m, (1, 2), (0, 1)) | stack((x, y)) | stack([m, m], axis=1) | tril(m) | triu(m, 1)
unpackbits(k.astype("u1")) | arange(0, 10, 2) | arange(0.0, 1.0, 0.3) | arange(5, dtype="f4") | bartlett(5)
blackman(5) | fft.fftfreq(8) | fft.rfftfreq(8, 0.5) | full(5, 1.5) | full(3, x[:1]) | full((2, 3), 7)
full_like(m, 2) | full_like(x, 1.5, dtype="f4") | geomspace(1, 8, 4) | hamming(4) | hanning(4)
linspace(0, 1, 5) | linspace(0, 1, 5, retstep=True) | linspace(x, y, 3) | logspace(0, 1, 3) | pad(x, 1)
pad(m, 1, "edge") | repeat(x, 2) | repeat(m, 2, axis=0) | repeat(m, [2], 0) | resize(x, 5) | tile(x, 2)
tile(m, (2, 2)) | x.repeat(3) | m.repeat(2, 1) | diag(x) | diag(m) | diag_indices(3) | diagflat(x) | eye(3)
eye(3, 4, 1, "i4") | identity(2) | indices((2, 3)) | tri(3) | tril_indices(3) | triu_indices(3, 1)
vander(x, 3) | einsum("i,i,i->i", x, y, x) | einsum("ij->ji", m) | einsum("ij,kj", m, m) | inner(x, y) | kron(x, m)
meshgrid(x, y) | meshgrid(x, y, indexing="ij", sparse=True) | outer(x, y) | polyadd(x, y) | polydiv(x, [1, 2])
polyfit(s, y, 1) | polymul(x, y) | polysub(x, y) | tensordot(x, y, 1) | tensordot(m, m) | trace(m) | vdot(x, y)
add.outer(x, y) | add.accumulate(x) | multiply.accumulate(m, 1) | add.reduce(x) | maximum.reduce(m, 1)
minimum.reduce(x, initial=3) | add.reduceat(x, [0]) | add.at(x, k % 1, 2) | multiply.at(x, 0, 3)
add.at(x, slice(0, 1), 2) | add.at(m, (..., slice(1)), y[:1]) | einsum("ij,kj->ki", m, m)
add.at(x, 99, 1) | bitwise_count(k) | divmod(k, 3) | gcd(k, l) | modf(x) | frexp(x) | ldexp(x, k)
gcd.reduce(k) | divmod(x, y) | linalg.cholesky(r @ r.T) | linalg.cond(r) | linalg.cross(v, v) | linalg.det(r)
linalg.eig(r) | linalg.eigh(r) | linalg.eigvals(r) | linalg.eigvalsh(r) | linalg.inv(r) | linalg.inv(r * 0)
linalg.lstsq(r, v) | linalg.matrix_norm(r) | linalg.matrix_power(r, 3) | linalg.matrix_rank(r)
linalg.multi_dot([r, r, v]) | linalg.norm(x) | linalg.norm(m, axis=1) | linalg.norm(m, 1) | linalg.pinv(r)
linalg.qr(r) | linalg.slogdet(r) | linalg.solve(r, v) | linalg.svd(r) | linalg.svdvals(r)
linalg.tensorinv(r, 1) | linalg.tensorsolve(r, v) | linalg.trace(r) | linalg.vector_norm(x) | fft.fft(x)
fft.fft(m, 3, 0) | fft.fft2(m) | fft.fftn(m) | fft.fftshift(x) | fft.hfft(x) | fft.ifft(x) | fft.ifft2(m)
fft.ifftn(m) | fft.ifftshift(m) | fft.ihfft(x) | fft.irfft(x) | fft.irfft2(m) | fft.irfftn(m) | fft.rfft(x)
fft.rfft2(m) | fft.rfftn(m) | array([1.0, 2]) | array([[1, 2], [3, True]]) | array([x, y]) | array([x[:1], 1])
array(3) | array([1, 2], "f4") | array([]) | array([1, [2]]) | array([2**70]) | array([2**63]) | array((1, 2j))
array([np.float32(1)]) | array([None]) | array("abc") | array([x], ndmin=3) | x.astype("f4") | x.astype(int)
m.astype("c8") | (x * 1e300).astype("f4") | can_cast("f4", "i8") | result_type(x, 1.0, "f4")
promote_types("f4", "i8") | asarray([1, 2]) | asarray(x, "f4") | asarray([1], copy=False) | m.item(0)
m.item(0, 0) | x.item(-1) | x.item(99) | x.tobytes() | m.tobytes("F") | x.tolist() | m.tolist() | x.partition(0)
x.sort() | m.sort(0) | x.sort(kind="stable")
"""
CALLS = [call.strip() for line in CALLS.strip().splitlines() for call in line.split("|")]


@pytest.fixture(autouse=True)
def _lends():
    before = _core.numeric_lends(True)
    yield
    _core.numeric_lends(before)


def _vectors(rng):
    """Vectors of one kind, of one length: random, with what makes functions differ."""
    n = int(rng.choice([0, 1, 2, 5, 9]))
    dtype = rng.choice(["f8", "f8", "f8", "f4", "i8", "i4", "u1", "c16", "?"])
    x, y = (rng.normal(size=n) * 3 if dtype != "u1" else rng.integers(0, 9, n) for _ in "xy")
    x, y = x.astype(dtype), y.astype(dtype)
    if dtype[0] == "f" and n > 1 and rng.random() < 0.4:
        x[rng.integers(n)] = rng.choice([np.nan, np.inf, -0.0])
    return x, y


def _spread(rng, x):
    """The same elements as a view of another kind."""
    kind = rng.integers(4)
    if kind == 0 and x.ndim == 1:
        wide = np.zeros(2 * x.size, x.dtype)
        wide[::2] = x
        return wide, lambda a: a[::2]
    if kind == 1:
        return np.ascontiguousarray(np.flip(x, 0)), lambda a: a[::-1]
    if kind == 2 and x.ndim == 2:
        return np.ascontiguousarray(x.T), lambda a: a.T
    return x, lambda a: a


def _names(rng):
    x, y = _vectors(rng)
    n = x.size
    names = {"x": x, "y": y, "s": np.sort(rng.normal(size=n)), "k": rng.integers(0, 9, n), "l": rng.integers(0, 9, n),
             "t": rng.random(n) < 0.5, "m": (rng.normal(size=(n, 3)) * 3).astype(x.dtype), "v": rng.normal(size=3),
             "r": rng.normal(size=(3, 3)) + 4 * np.eye(3)}  # fmt: skip
    return {name: _spread(rng, array) for name, array in names.items()}


def _outcome(module, names, call):
    """What a call gives, what it warns of, and the arrays afterwards."""
    held = {name: module.array(array) for name, (array, _) in names.items()}
    space = {name: view(held[name]) for name, (_, view) in names.items()}
    space |= {"np": module, "make": module}
    own = re.match(r"\(?[a-z]\b", call) and call.split(".")[0].strip("(")[0] in names
    text = call if own else f"make.{call}"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            made = eval(text, space)  # noqa: S307
        except Exception as mistake:  # noqa: BLE001
            made = type(mistake)
    return made, {str(w.message) for w in seen}, held


_RTOL = (1e-12, 1e-6)


def _same(found, wanted, call):
    if isinstance(wanted, type):
        assert isinstance(found, type), (call, found, wanted)
        assert issubclass(found, wanted) or issubclass(wanted, found), (call, found, wanted)
    elif isinstance(wanted, (tuple, list)):
        assert type(found).__name__ == type(wanted).__name__ and len(found) == len(wanted), call
        for one, other in zip(found, wanted, strict=True):
            _same(one, other, call)
    elif isinstance(wanted, np.ndarray):
        assert isinstance(found, (tn.ndarray, np.ndarray)), (call, type(found))
        assert found.dtype == wanted.dtype and found.shape == wanted.shape, (call, found.dtype, wanted.dtype)
        if wanted.dtype.kind not in "fc":
            np.testing.assert_array_equal(np.asarray(found), wanted)
            return
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=_RTOL[wanted.dtype.itemsize < 8], atol=1e-12)
    else:
        assert type(found) is type(wanted), (call, type(found), type(wanted))
        np.testing.assert_equal(found, wanted)


@pytest.mark.parametrize("call", CALLS)
def test_calls_are_numpys(call):
    rng = np.random.default_rng(sum(map(ord, call)))
    for _ in range(12 if LONG else 6):
        names = _names(rng)
        (found, told, ours), (wanted, said, theirs) = _outcome(tn, names, call), _outcome(np, names, call)
        _same(found, wanted, call)
        for name in names:
            np.testing.assert_array_equal(np.asarray(ours[name]), theirs[name], err_msg=call)
        assert isinstance(wanted, type) or told == said, (call, told, said)


def test_every_row_is_called_and_counted():
    before = tn.host_calls()
    for call in CALLS:
        for seed in range(8):
            _outcome(tn, _names(np.random.default_rng(seed)), call)
    after = tn.host_calls()
    missed = {name for name, how in ROWS.items() if how != "MOVES" and after.get(name, 0) == before.get(name, 0)}
    assert not missed


def _row_of(call):
    """The row of a call, by its text."""
    own = re.match(r"[xmsr]\.(\w+)", call)
    return f"ndarray.{own[1]}" if own else re.match(r"\(?[\w.]+", call)[0]


def _long_names(rng, n):
    """Arrays of so many elements, or the next fewer that a matrix has."""
    x, y, side = rng.normal(size=n), rng.normal(size=n), int(n**0.5)
    return {"x": x, "y": y, "s": np.sort(x), "k": rng.integers(0, 9, n), "l": rng.integers(0, 9, n), "t": x > 0.3,
            "m": rng.normal(size=(3, n // 3)), "v": rng.normal(size=3),
            "r": rng.normal(size=(side, side)) + 4 * side * np.eye(side)}  # fmt: skip


_COMPUTED_HERE = ("argpartition",)  # of one vector that is long, which the row would allow


@pytest.mark.parametrize("row", [name for name, most in MOST.items() if most > 1024 and ROWS[name] != "MEETS"])
def test_long_calls_are_numpys_up_to_the_bound(row):
    calls = [call for call in CALLS if _row_of(call) == row and not re.search(r"\bv\b|histogramdd", call)]
    rng = np.random.default_rng(len(row))
    for n in (1025, MOST[row]):
        names, before = _long_names(rng, n), tn.host_calls().get(row, 0)
        names = {name: (array, lambda a: a) for name, array in names.items()}
        for call in calls[:3]:
            (found, told, ours), (wanted, said, theirs) = _outcome(tn, names, call), _outcome(np, names, call)
            if row == "argpartition":  # the order on both sides of the place is free
                found, wanted = np.asarray(found)[:1], wanted[:1]
            _same(found, wanted, call)
            for name in names:
                np.testing.assert_array_equal(np.asarray(ours[name]), theirs[name], err_msg=call)
            assert isinstance(wanted, type) or told == said, (call, told, said)
        assert not calls or row in _COMPUTED_HERE or tn.host_calls().get(row, 0) > before, (row, n)


def test_sums_of_products_are_lent_by_the_number_of_products():
    rng, most = np.random.default_rng(4), MOST["einsum"]
    for extent in (2, 15, 16, 17):
        arrays = [rng.random((extent, extent)) for _ in range(3)]
        for text, n in (("ab,cd,ad->bc", 4), ("ab,bc,cd->da", 4), (" a b, bc,cd -> da", 4)):
            before = tn.host_calls().get("einsum", 0)
            made = tn.einsum(text, *map(tn.array, arrays))
            np.testing.assert_allclose(made, np.einsum(text, *arrays), 1e-12)
            assert tn.host_calls().get("einsum", 0) == before + (extent**n <= most), (text, extent)
    before = tn.host_calls().get("einsum", 0)
    assert tn.einsum("i,i", tn.ones(3), tn.ones(3)) == 3.0 and tn.host_calls().get("einsum", 0) == before
    assert tn.einsum("ab->ba", tn.ones((30, 30))).base is not None
    for text in ("ij, jk -> ik", " i j,kj->ik", "i,i ", "ij,jk- >ik", "ij,jk-> i k\t", "\ud800,ij"):
        ranks = [1, 1] if text[0] == "i" and text[1] == "," else [2, 2]
        found = []
        for m in (np, tn):
            x = m.arange(3.0 ** ranks[0]).reshape((3,) * ranks[0])
            try:
                found.append(np.asarray(m.einsum(text, x, x)).tolist())
            except ValueError:
                found.append(ValueError)
        assert found[0] == found[1], text
    x = rng.random(MOST["convolve"] // 4)
    for n, is_lent in ((4, True), (5, False)):
        before = tn.host_calls().get("convolve", 0)
        np.testing.assert_allclose(tn.convolve(tn.array(x), tn.ones(n)), np.convolve(x, np.ones(n)), 1e-12)
        assert tn.host_calls().get("convolve", 0) == before + is_lent


def test_views_and_arrays_themselves_stay_what_they_are():
    a = tn.arange(6.0)
    same = tn.asarray(a)
    assert same is a
    m = a.reshape(2, 3)
    part = tn.diag(m)
    a[0] = 9.0
    assert part[0] == 9.0 and part.base is not None
    for made in tn.meshgrid(a, a, copy=False, sparse=True):
        a[1] = 5.0
        assert 5.0 in made.tolist()[0] or [5.0] in made.tolist()


def test_what_waits_is_read_and_written_in_order():
    big = tn.arange(1 << 16) * 1.0
    a = tn.arange(4.0)
    waits = big * a[0] + a[1]
    a.sort()
    tn.add.at(a, [0, 0], 1.0)
    tn.put(a, [1], 7.0)
    assert waits[3] == 1.0 and a.tolist() == [2.0, 7.0, 2.0, 3.0]
    read_only = tn.arange(3)
    read_only.flags.writeable = False
    for change in (lambda: read_only.sort(), lambda: tn.put(read_only, 0, 1), lambda: tn.add.at(read_only, 0, 1)):
        with pytest.raises(ValueError, match="read-only"):
            change()


def test_derived_classes_dates_and_others_go_their_way():
    class Derived(tn.ndarray):
        pass

    x = tn.arange(4.0).view(Derived)
    assert type(tn.cumsum(x)) is Derived and type(x.repeat(2)) is Derived
    days = tn.array(["2020-01-02", "2020-01-01"], "M8[D]")
    assert str(tn.sort(days)[0]) == "2020-01-01" and str(tn.repeat(days, 2)[1]) == "2020-01-02"
    assert isinstance(tn.cumsum(np.arange(3)), tn.ndarray)
    out = tn.zeros(3)
    assert tn.cumsum(tn.ones(3), out=out) is out and out.tolist() == [1, 2, 3]
    assert tn.repeat(tn.arange(5000), 2).size == 10000 and tn.tile(tn.arange(3), 5000).size == 15000


@pytest.mark.parametrize(("seed", "n"), [(0, 6), (1, 6), (2, 6), (3, 5000)])
def test_streams_draw_numpys_numbers(seed, n):
    draws = ["random(5)", "normal(size=3)", "integers(0, 9, 4)", "choice(x)", "choice(x, 3, p=p)", "permutation(x)",
             "permutation(7)", "shuffle(x)", "shuffle(m)", "shuffle(m, axis=1)", "shuffle(w)", "random(-1)",
             "normal(0, -1)",
             "random()", "random((2, 3), 'f4')", "uniform(x, x + 1)", "exponential(2.0, (2, 2))", "permuted(m, axis=1)",
             "multivariate_normal(x[:2], m[:2, :2] @ m[:2, :2].T)", "random(2)"]  # fmt: skip
    outcomes = []
    for module in (tn, np):
        x, m = module.arange(n) * 1.0, module.arange(2.0 * n).reshape(-1, 4)
        space = {"x": x, "m": m, "w": m[:, ::2], "p": module.full(n, 1 / n), "g": module.random.default_rng(seed)}
        made = []
        for draw in draws:
            try:
                found = eval(f"g.{draw}", space)  # noqa: S307
            except (ValueError, TypeError) as mistake:
                found = type(mistake)
            made.append(np.asarray(found) if isinstance(found, (tn.ndarray, np.ndarray)) else found)
        outcomes.append([*made, np.asarray(x), np.asarray(m)])
    for found, wanted, draw in zip(*outcomes, [*draws, "x", "m"], strict=True):
        np.testing.assert_equal(found, wanted, draw)


def test_failed_calls_write_once():
    made = []
    for m in (np, tn):
        a = m.array([1e308, 1.0, 2.0, 3.0])
        with m.errstate(all="raise"), pytest.raises(FloatingPointError):
            m.multiply.at(a, [1, 0, 2], [5.0, 100.0, 7.0])
        made.append(a.tolist())
    assert made[0] == made[1] == [np.inf, 5, 14, 3]  # a second write would multiply by 5 and 7 again
    a = tn.zeros(3)
    with pytest.raises(IndexError):
        tn.add.at(a, [1, 99], 1)
    assert a[1] == 0
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning):
        warnings.simplefilter("error")
        tn.nanmax(tn.array([tn.nan]))


def test_errstate_and_warnings_are_numpys():
    x = tn.array([1.0, 0.0])
    with tn.errstate(all="raise"), pytest.raises(FloatingPointError):
        tn.divide.accumulate(tn.array([1.0, 0.0]))
    with pytest.warns(RuntimeWarning, match="invalid|divide"):
        tn.divide.accumulate(x)
    with pytest.warns(RuntimeWarning, match="All-NaN") as seen:
        tn.nanmax(tn.array([tn.nan]))
    assert seen[0].filename == __file__


def test_an_array_given_twice_is_one():
    i, j = tn.diag_indices(3)
    assert i is j
    i[0] = 9
    assert int(j[0]) == 9
    one, other = tn.tril_indices(3)
    assert one is not other


# Calls that make many elements of few numbers: none is lent.
GREAT = """
arange(5e4) | arange(0, 1, 1e-5) | full((300, 300), 1.0) | full(tn.array([300, 300]), 1.0) | tile(x, (64, 64))
repeat(x, tn.array(200)) | repeat(x, 4000) | indices((64, 64, 2)) | histogram(x, 50000) | einsum("i,j->ij", x, x)
tensordot(x, x, 0) | hanning(5e4) | linspace(0.0, 1.0, tn.array(50000)) | fft.fft(x, 50000) | resize(x, (99, 99))
"""


@pytest.mark.parametrize("call", [call.strip() for line in GREAT.strip().splitlines() for call in line.split("|")])
def test_few_numbers_that_make_many_elements_are_not_lent(call):
    name, before = call.split("(")[0], tn.host_calls()
    space = {"tn": tn, "x": tn.arange(600.0)}
    try:
        made = eval(f"tn.{call}", space)  # noqa: S307
    except TypeError:
        made = None
    if made is not None:
        space = {"tn": np, "x": np.arange(600.0)}
        _same(made, eval(f"tn.{call}", space), call)  # noqa: S307
    assert tn.host_calls().get(name, 0) == before.get(name, 0)


# -- indices -------------------------------------------------------------------------------------------

KINDS = ["f8", "f4", "i8", "i4", "u1", "c16", "?", "M8[D]", "m8[s]", ">i4", "S3", "U2", [("x", "f8"), ("y", "i2")]]


def _elements(rng, dtype, shape):
    """Random elements of a kind; numbers of all kinds, texts of digits."""
    made = rng.integers(0, 90, shape)
    if not isinstance(dtype, str):
        records = np.zeros(shape, dtype)
        records["x"], records["y"] = made / 4, made
        return records
    return made.astype("i8" if dtype[0] in "Mm" else dtype).astype(dtype)


def _places(rng, n, shape):
    """Places along an axis, at times one that it lacks, as an array of ours, of NumPy's or a list."""
    most = n + (rng.random() < 0.05)
    made = rng.integers(-n, most, shape) if most else np.zeros(shape, int)
    made = made.astype(rng.choice(["i8", "i8", "i4", "u1", "f8"])) if rng.random() < 0.2 else made
    return made, rng.choice(["ours", "ours", "numpy", "list", "waits"])


def _key(rng, shape):
    """A random key, as parts: what it is in NumPy, and of which kind in ours."""
    parts, d, together = [], 0, tuple(rng.integers(0, 4, rng.integers(0, 3)))
    while d < len(shape) and rng.random() < 0.9:
        kind, n = rng.integers(9), shape[d]
        if kind < 4:
            axes = tuple(1 if rng.random() < 0.2 else each for each in together)
            parts.append(_places(rng, n, axes[rng.integers(len(axes) + 1) :]))
        elif kind == 4:
            axes = int(rng.integers(0, len(shape) - d + 1))
            mask = rng.random(shape[d : d + axes] if rng.random() < 0.9 else (3,) * axes) < 0.5
            parts.append((np.asarray(mask), rng.choice(["ours", "numpy", "list", "waits"])))
            d += axes - 1
        elif kind == 5:
            step = int(rng.choice([-2, -1, 1, 2]))
            parts.append((slice(None if rng.random() < 0.5 else int(rng.integers(-3, 4)), None, step), ""))
        elif kind == 6:
            parts.append((int(rng.integers(-n, n)) if n else 0, ""))
        else:
            parts.append((None if kind == 7 else Ellipsis, ""))
            d -= 1
        d += 1
    return parts or [(Ellipsis, "")]


def _keys(parts, is_tuple):
    """The key for ours and for NumPy."""
    ours, theirs = [], []
    for part, how in parts:
        theirs.append(part.tolist() if how == "list" else part)
        if how == "ours":
            part = tn.array(part)
        elif how == "waits":
            part = tn.array(part) if part.dtype.kind == "f" else tn.array(part) ^ tn.array(np.zeros_like(part))
        ours.append(theirs[-1] if how == "list" else part)
    return (tuple(ours), tuple(theirs)) if is_tuple else (ours[0], theirs[0])


def _told(action):
    """What an action gives or raises, and the classes of its warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            made = action()
        except Exception as mistake:  # noqa: BLE001
            made = type(mistake)
    return made, {w.category for w in seen}


def _value(rng, dtype, a, key):
    """What is written: NumPy's, of which ours is an array at times, or a number."""
    kind = rng.integers(4)
    if kind == 0:
        return _elements(rng, dtype, (1,))[0]
    made, _ = _told(lambda: a[key])
    shape = np.shape(made) if not isinstance(made, type) else (2,)
    shape = shape[rng.integers(len(shape) + 1) :] if rng.random() < 0.5 else shape
    is_number = isinstance(dtype, str) and dtype in ("f8", "f4", "i8", "i4", "u1", "c16")
    return _elements(rng, rng.choice(["f8", "i4", "c16", "?"]) if kind == 1 and is_number else dtype, shape)


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_indices_are_numpys(dtype):
    rng = np.random.default_rng(len(str(dtype)))
    for _ in range(1500 if LONG else 250):
        shape = tuple(rng.integers(0 if rng.random() < 0.1 else 1, 5, rng.integers(1, 4)))
        array, view = _spread(rng, _elements(rng, dtype, shape))
        held, theirs = tn.array(array), array.copy()
        a, b = view(held), view(theirs)
        parts = _key(rng, b.shape)
        ours, key = _keys(parts, len(parts) > 1 or rng.random() < 0.3)
        (found, told), (wanted, said) = _told(lambda: a[ours]), _told(lambda: b[key])  # noqa: B023
        if isinstance(wanted, np.ndarray) and not isinstance(dtype, str):
            assert found.dtype == wanted.dtype and found.shape == wanted.shape, (key, shape)
            np.testing.assert_array_equal(np.asarray(found), wanted)
        elif isinstance(wanted, (type, np.ndarray)):
            _same(found, wanted, (key, shape))
        else:
            assert np.asarray(found)[()] == wanted, (key, shape)
        value = _value(rng, dtype, b, key)
        mine = tn.array(value) if isinstance(value, np.ndarray) and rng.random() < 0.8 else value

        def write(x, k, v):
            x[k] = v

        found, told = _told(lambda: write(a, ours, mine))  # noqa: B023
        wanted, said = _told(lambda: write(b, key, value))  # noqa: B023
        _same(found, wanted, (key, shape, value)) if wanted else None
        assert found is None or wanted, (key, shape, value, found)
        np.testing.assert_array_equal(np.asarray(held), theirs, err_msg=str((key, shape, value)))
        assert wanted or told == said, (key, shape, told, said)


def _indexed(action):
    """How often NumPy did it."""
    before = tn.host_calls()
    action()
    after = tn.host_calls()
    return sum(after.get(name, 0) - before.get(name, 0) for name in ("ndarray.__getitem__", "ndarray.__setitem__"))


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "u8", "?"])
@pytest.mark.parametrize("of", ["i8", "c16", "M8[s]", "S3"])
def test_elements_that_are_taken_lie_in_row_major_order(of, dtype):
    x = np.arange(24).reshape(2, 3, 4).astype(of)
    for turned in (lambda a: a, lambda a: a.T, lambda a: a[:, ::-1]):
        for axis in (None, 0, 1, 2):
            for places in (np.array([1, 0], dtype), np.array([[1, 0], [0, 1]], dtype)):
                wanted = np.take(turned(x), places, axis)
                a = turned(tn.asarray(x))
                for made in (tn.take(a, places, axis), a.take(places, axis), a.take(tn.asarray(places), axis)):
                    assert made.strides == wanted.strides and made.tolist() == wanted.tolist()


def test_indices_of_few_places_are_lent_also_of_many_elements():
    a = tn.array(np.zeros((300000, 3)))
    rows = tn.array([5, 299999])
    assert _indexed(lambda: a[[1, 2], [0, 1]]) == 1
    assert _indexed(lambda: a.__setitem__(([1, 299999], slice(None)), 2.0)) == 1
    assert a[299999].tolist() == [2.0] * 3 and a[:, 0].sum() == 4.0
    assert _indexed(lambda: a[:, [0, 1]]) == 0 and _indexed(lambda: a.__setitem__((slice(None), [0, 1]), 1.0)) == 0
    assert _indexed(lambda: (a * 2)[[1, 2], [0, 1]]) == 0
    assert _indexed(lambda: a[rows.astype("i4"), :]) == 1 and _indexed(lambda: a[tn.zeros(5000, "i4"), :]) == 0
    _core.numeric_lends(False)
    assert _indexed(lambda: a[[1, 2], [0, 1]]) == 0
    _core.numeric_lends(True)
    assert a[rows.astype("i4"), :].tolist() == [[1, 1, 0], [1, 1, 2]]


def test_indexed_elements_are_no_view_of_what_was_lent():
    records = tn.array(np.array([(1.0, 2), (3.0, 4)], [("x", "f8"), ("y", "i2")]))
    part = records[["x"]]
    records["x"] = 7.0
    assert part["x"].tolist() == [7.0, 7.0]  # a view of ours, whatever NumPy's is
    taken = records[tn.array([True, False])]
    records["x"] = 9.0
    assert taken["x"].tolist() == [7.0] and records.tolist() == [(9.0, 2), (9.0, 4)]


def test_lent_arrays_are_let_go():
    a, value, mask = tn.zeros((2, 3)), tn.ones(1), tn.array([True, True])
    before = [sys.getrefcount(each) for each in (a, value, mask)]
    for _ in range(9):
        assert a[mask, :].size == 6 and a[[0, 1], [1, 2]].size == 2
        a[mask, :] = value
        a[[0, 1], :] = [[1, 2, 3]]
        for key in (([0, 9], [0, 0]), (["x"], [0]), (mask, [0, 1, 1])):
            with pytest.raises(IndexError):
                a[key]
            with pytest.raises(IndexError):
                a[key] = value
    del key
    assert [sys.getrefcount(each) for each in (a, value, mask)] == before


def test_indices_of_derived_classes_and_what_waits():
    class Derived(tn.ndarray):
        pass

    x = tn.arange(6.0).reshape(2, 3).view(Derived)
    assert type(x[[0, 1], [1, 2]]) is Derived
    x[[0, 1], [1, 2]] = 9
    assert x.tolist() == [[0, 9, 2], [3, 4, 9]]
    masked = tn.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    assert masked[[0, 1], [1, 0]].mask.tolist() == [True, False]
    a, big = tn.arange(6.0).reshape(2, 3), tn.arange(1 << 17) * 1.0
    waits = big * a[0, 1] + tn.sum(a)
    a[:, [0, 1]] = a[:, [1, 0]]
    assert waits[2] == 17.0 and a.tolist() == [[1, 0, 2], [4, 3, 5]]
    a[[0, 1], :] = a[::-1]
    assert a.tolist() == [[4, 3, 5], [1, 0, 2]]
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        a[[0, 1], [1, 2]] = 3


@pytest.mark.parametrize("width", [1500, (1500, 1500), ((1, 1), (1500, 1500))])
def test_pads_of_many_elements_are_computed_here(width) -> None:
    a, before = tn.ones((100, 100)), tn.host_calls().get("pad", 0)
    made = tn.pad(a, width)
    assert tn.host_calls().get("pad", 0) == before
    assert tn.pad(tn.ones((100, 100)), 3).sum() == 10000 == made.sum()
    assert tn.host_calls().get("pad", 0) == before + 1
