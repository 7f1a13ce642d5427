# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions against NumPy, dtype by dtype, over numbers at the edges. Functions that IEEE 754 determines
are the same to the bit; the others lie within a few units in the last place of NumPy's, which has errors of its own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core
from tessera.numeric import _ufunc

DTYPES = "?bBiqQefdFD"
ULPS = {
    name: 4
    for name in [
        "arccos",
        "arccosh",
        "arcsin",
        "arcsinh",
        "arctan",
        "arctan2",
        "arctanh",
        "cbrt",
        "cos",
        "cosh",
        "degrees",
        "exp",
        "exp2",
        "expm1",
        "hypot",
        "log",
        "log10",
        "log1p",
        "log2",
        "logaddexp",
        "logaddexp2",
        "power",
        "float_power",
        "radians",
        "sin",
        "sinh",
        "tan",
        "tanh",
        "absolute",
        "divide",
        "reciprocal",
        "multiply",
        "square",
    ]
}
EXACT_WHEN_REAL = ("absolute", "divide", "reciprocal", "multiply", "square")
FUNCTIONS = [name for name in _core.NUMERIC_FUNCTIONS if name not in _ufunc.INNER]

ONE, AXES = [np.ones((1, 1))], [[0], [1]]  # of nested_iters, which is missing


def numbers(dtype, seed):
    """A few hundred numbers of a dtype: edges, small ones, random ones."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, 130).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        edges = [info.min, info.max, 0, 1, 2, 3, 5, 7]
        return np.concatenate([np.array(edges, dtype), rng.integers(0, 100, 122).astype(dtype)])
    if dtype.kind == "c":
        return (numbers("f8", seed)[:130] + 1j * numbers("f8", seed + 1)[:130]).astype(dtype)
    edges = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, 1.5, -2.5, 1e-3, 3]
    with np.errstate(all="ignore"):
        return np.concatenate([edges, rng.standard_normal(118) * 5]).astype(dtype)


def assert_close(ours, theirs, name, kind):
    ours = np.asarray(ours)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    if kind == "c" or (name in ULPS and ours.dtype.kind == "f" and name not in EXACT_WHEN_REAL):
        if ours.dtype.kind == "b":
            np.testing.assert_array_equal(ours, theirs)
            return
        ulps = 64 if kind == "c" and "power" in name else ULPS.get(name, 0)
        eps = np.finfo(ours.dtype).eps * ulps
        np.testing.assert_allclose(
            ours, theirs, rtol=eps, atol=eps * 4 if kind == "c" else eps / 64
        )
    else:
        np.testing.assert_array_equal(ours, theirs)
        if ours.dtype.kind == "f" and name not in ("maximum", "minimum", "fmax", "fmin"):
            numbers = ~np.isnan(theirs)
            np.testing.assert_array_equal(np.signbit(ours[numbers]), np.signbit(theirs[numbers]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_numpys(name):
    ours, theirs = getattr(tn, name), getattr(np, name)
    for dtype in DTYPES:
        x = [numbers(dtype, 3 * i + 1) for i in range(ours.nin)]
        if ours.nin == 2:
            x[1] = np.roll(x[1], 17)
        if name in ("power", "left_shift", "right_shift") and np.dtype(dtype).kind in "iu":
            x[1] = np.abs(x[1] % 9)
        if name == "reciprocal" and np.dtype(dtype).kind in "iu":
            x[0] = np.maximum(x[0], 1)  # of 0 NumPy gives anything
        if np.dtype(dtype).kind == "c":  # products of infinities differ by how they are written
            x = [np.where(np.isfinite(each) & (each != 0), each, 1 + 1j) for each in x]
        try:
            with np.errstate(all="ignore"):
                wanted = theirs(*x)
        except TypeError:
            with pytest.raises(TypeError):
                ours(*map(tn.array, x))
            continue
        try:
            got = ours(*map(tn.array, x))
        except TypeError as error:
            assert np.dtype(dtype).kind == "c" and "yet" in str(error)
            continue
        assert_close(got, wanted, name, np.dtype(dtype).kind)


@pytest.mark.parametrize("source", "?bBiIqQefdFD")
def test_conversions_are_numpys(source):
    x = numbers(source, 5)
    with np.errstate(all="ignore"):
        x = np.where(
            np.isfinite(x) & (np.abs(x.astype("D")) < 1e9), x, np.ones((), x.dtype)
        ).astype(source)
    for target in "?bBhHiIqQefdFD":
        with np.testing.suppress_warnings() as quiet:
            quiet.filter(np.exceptions.ComplexWarning)
            quiet.filter(RuntimeWarning)
            wanted = x.astype(target)
        np.testing.assert_array_equal(
            np.asarray(tn.array(x).astype(target)), wanted, err_msg=f"{source} {target}"
        )


def test_keywords_are_numpys():
    x, y = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    a, b = tn.array(x), tn.array(y)
    out = tn.zeros((2, 3), "f4")
    assert tn.add(a, b, out) is out and tn.add(a, b, out=(out,)) is out
    np.testing.assert_array_equal(np.asarray(out), (x + y).astype("f4"))
    np.testing.assert_array_equal(np.asarray(tn.add(a, b, dtype="f4")), np.add(x, y, dtype="f4"))
    mask = x > 2
    out = tn.full((2, 3), 9.0)
    tn.multiply(a, 2, out=out, where=tn.array(mask))
    np.testing.assert_array_equal(
        np.asarray(out), np.multiply(x, 2, out=np.full((2, 3), 9.0), where=mask)
    )
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' output"):
        tn.add(a, b, out=tn.zeros((2, 3), int))
    with pytest.raises(TypeError, match="unexpected keyword"):
        tn.add(a, b, nonsense=1)
    with pytest.raises(ValueError, match="casting must be one of"):
        tn.add(a, b, casting="bold")
    with pytest.raises(ValueError, match=r"\(2,3\) \(4,\)"):
        tn.add(a, tn.ones(4))
    with pytest.raises(ValueError, match="read-only"):
        tn.add(a, b, out=tn.broadcast_to(a, (2, 3)))


def test_missing_functions_say_so():
    with tn.fallback("error"), pytest.raises(NotImplementedError, match=r"numpy.nested_iters has no counterpart"):
        tn.nested_iters(ONE, AXES)
    with pytest.raises(AttributeError):
        getattr(tn, "nothing_of_this_name")  # noqa: B009


def test_the_namespace_tells_its_devices_and_dtypes():
    info, theirs = tn.__array_namespace_info__(), np.__array_namespace_info__()
    assert info.devices()[0] == info.default_device() == "cpu"
    assert tn.zeros(2, device=info.devices()[-1]).device == info.devices()[-1]
    assert info.dtypes(kind=("bool", "integral"), device="cpu") == theirs.dtypes(kind=("bool", "integral"))
    assert info.default_dtypes() == theirs.default_dtypes() and info.capabilities()["max dimensions"] == 64
    with pytest.raises(ValueError, match="nowhere"):
        info.dtypes(device="nowhere")


def test_results_go_into_arrays_of_numpys():
    a, out = tn.arange(4.0), np.zeros(4, "f4")
    assert tn.add(a, 1, out=out) is out and out.tolist() == [1, 2, 3, 4]
    assert tn.sqrt(a, out) is out and tn.add(a, 5, out=(out,), where=[True, False, False, True]) is out
    np.testing.assert_array_equal(out, np.array([5, 1, np.sqrt(2), 8], "f4"))
    total = np.zeros((), "i4")
    assert tn.sum(a + 0.4, out=total) is total and total == 7
    with pytest.raises(TypeError, match="same_kind"):
        tn.add(a, 0.5, out=np.zeros(4, int))
    with pytest.raises(ValueError, match="broadcast"):
        tn.add(a, 1, out=np.zeros(3))
    with pytest.raises(TypeError, match="return arrays must be of ArrayType"):
        tn.add(a, 1, out=[0])


# What NumPy does with each, and where each was another thing once.
AS_NUMPY = {
    "sums go into integers": lambda m: [
        getattr(m, name)(m.array([[1.5, 2.5], [3.5, 4.7]]), axis=0, out=m.zeros(2, "i4"))
        for name in ("sum", "prod", "max", "min", "mean", "var", "median")
    ],
    "vectors have triangles": lambda m: [m.tril(m.array([1, 2, 3])), m.triu(m.array([5]), -1)],
    "diagonals are cut off": lambda m: [m.tri(3, k=-1.5), m.mask_indices(4, m.triu, 0.5)[0]],
    "flags have short names": lambda m: [
        m.zeros((2, 3)).flags[k] for k in ("CA", "FA", "B", "FORC", "BEHAVED", "CARRAY")
    ],
    "flags are attributes": lambda m: [
        getattr(m.zeros((2, 3)).T.flags, k) for k in ("behaved", "carray", "farray", "fortran", "num")
    ],
    "places are whole": lambda m: m.take(m.arange(5), [1.5, True]),
    "so are places that are put": lambda m: put(m, [1, 2, 3.2, 100]),
    "broadcast axes say nothing of an order": lambda m: m.ravel(
        m.broadcast_to(m.arange(6).reshape(2, 1, 3), (2, 4, 3)).T, "K"
    ),
    "places in a shape have 64 bits": lambda m: m.ravel_multi_index((m.array([9], "i1"), m.array([9], "i1")), (90, 90)),
    "first axes of one element are none": lambda m: copied(m, (2, 3), (1, 2, 3)),
    "edges of NaN go down": lambda m: [
        m.digitize(m.array([1, m.nan]), m.array([m.nan] * 3), right) for right in (False, True)
    ],
    "masks are truths": lambda m: masked(m, m.array([1.5, 0, 2]), [9, 8, 7]),
    "elements that occur twice are in none": lambda m: m.setxor1d(m.array([1, 1, 2]), m.array([2, 3, 3]), True),
    "numbers have no axis to lose": lambda m: [m.squeeze(m.array(3.0), axis=-1)],
    "new shapes lie by rows": lambda m: [m.empty_like(m.zeros((2, 3, 4)).T, shape=(4, 2)).flags.c_contiguous],
    "angles of negative numbers": lambda m: m.angle(m.array([-1.0, 1])),
    "an order may be left out": lambda m: [m.ravel_multi_index(([1], [2]), (3, 4), order=None)],
    "powers lie by rows": lambda m: [m.vander(m.arange(3.0)).flags.c_contiguous],
    "what is empty shares nothing": lambda m: [m.may_share_memory(*[m.arange(4)[:0]] * 2)],
    "memory is shared between first and last bytes": lambda m: [
        m.may_share_memory(m.arange(12)[i], m.arange(12)[i]) for i in (slice(3), slice(0, 0))
    ],
    "parts that touch share none": lambda m: [
        m.may_share_memory(a[i], a[j])
        for a in [m.arange(12)]
        for i in (slice(1, 7), slice(6, 0, -2), slice(0, 1))
        for j in (slice(7, 10), slice(6, 8), slice(1, 12, 3), slice(11, 5, -1))
    ],
    "truths are places in a shape": lambda m: [
        *m.unravel_index(m.array([True, False]), (2, 2), order=None), m.ravel_multi_index([m.ones(2, bool)] * 2, (2, 2))
    ],
    "nothing in common has both dtypes": lambda m: [
        x.dtype.name == "float64" or x.dtype.name
        for x in m.intersect1d(m.array([0]), m.array([], "f8"), return_indices=True)
    ],
    "numbers of repeats are cut off": lambda m: [m.repeat(m.arange(3), 2.7), m.repeat([1, 2], [1.5, 2.9])],
    "an axis alone is an order of one": lambda m: [m.transpose(m.arange(3), 0), m.arange(3).transpose(0)],
    "what is empty is viewed as any dtype": lambda m: [m.ones((3, 20), "i2")[:0, ::2].view("i4")],
    "sinc of half a zero": lambda m: [m.sinc(m.zeros(1, "e")), m.sinc(m.array([0.5], "e"))],
    "sums of truths from the first on": lambda m: [
        m.cumulative_sum(m.ones((2, 2), "?"), axis=1, out=m.zeros((2, 3), "?"), include_initial=True)
    ],
    "medians of NaN are NaN, of infinities are not": lambda m: [
        m.median(m.array([[m.nan, 1, 2], [1, 2, m.inf], [m.inf, m.inf, 3]], t), axis=1) for t in ("f4", "c8")
    ],
    "bases have numbers of their own": lambda m: m.round(m.logspace(0, 2, 5, base=m.array([2.0, 3.0])), 9),
}


def copied(m, shape, given):
    a = m.zeros(shape)
    m.copyto(a, m.arange(6.0).reshape(given))
    return a


def masked(m, mask, values):
    a = m.arange(3)
    m.putmask(a, mask, values)
    return a


def put(m, places):
    a = m.arange(5)
    m.put(a, places, [9], mode="wrap")
    return a


@pytest.mark.parametrize("what", AS_NUMPY)
def test_as_numpy_does(what):
    made, wanted = AS_NUMPY[what](tn), AS_NUMPY[what](np)
    for a, b in zip(made, wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


MISTAKES = [
    (lambda: tn.repeat(tn.zeros((2, 3)), 2, axis=-4), np.exceptions.AxisError, "axis -4"),
    (lambda: tn.searchsorted(tn.arange(3), 1, sorter=tn.array([0.0, 1, 2])), TypeError, "only contain integers"),
    (lambda: tn.searchsorted(tn.arange(3), 1, sorter=tn.array([0, 1])), ValueError, "must equal a.size"),
    (lambda: tn.digitize(tn.array([1j]), tn.array([1.0])), TypeError, "may not be complex"),
    (lambda: masked(tn, [1, 0, 1], tn.array([1.5])), TypeError, "float64.*'safe'"),
    (lambda: tn.place(tn.arange(3), [True, False], [1]), ValueError, "mask and data must be the same size"),
    (lambda: tn.add([1], [1], out=tn.zeros(1, "f8"), casting="no"), TypeError, "Cannot cast ufunc 'add' output"),
    (lambda: tn.isin([1], [1], kind="tree"), ValueError, "Invalid kind: 'tree'"),
    (lambda: tn.isin([1.5], [1], kind="table"), ValueError, "only supported for boolean or integer"),
    (lambda: tn.put_along_axis(tn.arange(5), tn.array([1, 2]), tn.arange(5), None), ValueError, "broadcast"),
    (lambda: tn.repeat(tn.arange(3), tn.array([1.0])), TypeError, "'safe'"),
    (lambda: tn.tril_indices_from(4), AttributeError, "ndim"),
    (lambda: tn.unravel_index([1], (2, 3), "A"), ValueError, "only 'C' or 'F'"),
    (lambda: tn.ravel_multi_index(([1], [5]), (2, 3), "bad"), ValueError, "got 'bad'"),
    (lambda: tn.correlate(tn.array(1.0), tn.ones(2)), ValueError, "too small depth"),
    (lambda: tn.nanmean(tn.ones(2), out=tn.zeros((), int)), TypeError, "out must be inexact"),
    (lambda: tn.reshape(tn.arange(6), (2, 3), copy="never"), ValueError, "strings are not allowed"),
    (lambda: copied(tn, (3,), (2, 3)), ValueError, "could not broadcast"),
    (lambda: tn.copyto(tn.zeros(2, "f4"), np.float64(1), casting="no"), TypeError, "the rule 'no'"),
    (lambda: tn.copyto(tn.zeros(2, "f4"), tn.ones(2, "i4"), casting="equiv"), TypeError, "the rule 'equiv'"),
    (lambda: tn.ones(2).ravel(0), TypeError, "order must be str, not int"),
]


@pytest.mark.parametrize(("call", "error", "text"), MISTAKES, ids=lambda v: "")
def test_mistakes_are_numpys(call, error, text):
    with pytest.raises(error, match=text):
        call()


LOSES = [
    lambda z: tn.concatenate([z, tn.zeros(1)], dtype="f8", casting="unsafe"),
    lambda z: z.astype(float),
    lambda z: z.astype(float),  # as the call before
    lambda z: tn.asarray(z, "f4"),
    lambda z: tn.sum(z, dtype=float),
    lambda z: tn.zeros(2).__setitem__(slice(None), z),
]


@pytest.mark.parametrize("call", LOSES)
def test_imaginary_parts_that_are_lost_are_warned_of(call):
    with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part"):
        call(tn.array([1 + 2j, 3]))
    tn.array([1j]).astype(bool)  # which loses nothing


def test_elements_take_no_complex_numbers_of_pythons():
    for index in (0, slice(None)):
        with pytest.raises(TypeError, match="not 'complex'"):
            tn.zeros(2)[index] = 1j
    with pytest.raises(ValueError, match="with a sequence"):
        tn.zeros(2).fill(tn.ones(2))
    assert tn.array(258, "i2").byteswap() == 513
    assert tn.zeros((2, 3, 4))[tn.zeros(0, bool)].shape == (0, 3, 4)


def test_shifts_that_are_matrices_are_refused():
    with pytest.raises(ValueError, match="should be scalars or 1D"):
        tn.roll(tn.arange(6).reshape(2, 3), [[1, 2], [3, 4]], 0)
    with pytest.raises(TypeError, match="float64.*'safe'"):
        tn.take(tn.arange(5), tn.array([1.0]))


def test_floats_that_do_not_fit_integers_are_numpys_on_x86():
    far = [1e10, -1e10, 3e9, -3e9, np.nan, np.inf, -np.inf, 1e19, -1e19, 2.0**31, 2.0**32 + 5, -(2.0**31) - 1, 300.7,
           -300.7, 70000.0, -7e4, 2.0**63, 2.0**64, 9.3e18, -5.0]  # fmt: skip
    with np.errstate(all="ignore"):
        for kind in ("f8", "f4"):
            x = np.array(far * 300, kind)
            for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
                for n in (len(far), x.size):
                    np.testing.assert_array_equal(tn.array(x[:n]).astype(dtype), x[:n].astype(dtype), f"{kind} {dtype}")


def test_complex_numbers_at_their_edges_are_numpys():
    parts = [0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan, -3.0]
    x = np.array([complex(re, im) for re in parts for im in parts])
    one, other = (each.ravel() for each in np.meshgrid(x, x))
    with np.errstate(all="ignore"):
        for y in (0, 1, 2, 3, 4, 7, 99, -1, -2, -3):
            wanted = x ** np.array([y] * x.size)
            np.testing.assert_array_equal(tn.array(x) ** tn.array([y] * x.size), wanted, str(y))
        np.testing.assert_array_equal(tn.array(x[:2]) ** (1 + 1j), x[:2] ** (1 + 1j))
        np.testing.assert_array_equal(tn.sign(tn.array(x)), np.sign(x))
        huge = np.array([complex(re, im) for re in (*parts, 1e300, -1e20) for im in (*parts, 1e300, -1e20)])
        for name, kind in itertools.product(("arctanh", "arctan"), ("c16", "c8")):
            z = huge.astype(kind)
            wanted = getattr(np, name)(z)
            np.testing.assert_allclose(getattr(tn, name)(tn.array(z)), wanted, rtol=1e-6, err_msg=name)
        for name in ("less", "less_equal", "greater", "greater_equal", "equal"):
            got = getattr(tn, name)(tn.array(one), tn.array(other))
            np.testing.assert_array_equal(got, getattr(np, name)(one, other), name)


def integers(rng, dtype, n):
    """Integers of every length, ends of the dtype and few small ones."""
    limits = np.iinfo(dtype)
    ends = [limits.min, limits.max, limits.max - 1, limits.max // 2 + 1, 0, 1, 3]
    ends += [-1, limits.min + 1, -3] if limits.min else []
    long = rng.integers(0, limits.max, n, dtype, endpoint=True) >> rng.integers(0, limits.bits - 1, n).astype(dtype)
    signs = np.where(rng.random(n) < 0.5, 1, -1 if limits.min else 1).astype(dtype)
    return np.where(rng.random(n) < 0.3, rng.choice(np.array(ends, dtype), n), long * signs)


@pytest.mark.parametrize("dtype", "bBhHiIqQ")
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_integers_are_divided_exactly(name, dtype):
    rng = np.random.default_rng([ord(dtype), len(name)])
    for n in (3, 70, 1500):
        x, y = integers(rng, dtype, n), integers(rng, dtype, n)
        with np.errstate(all="ignore"):
            beside = np.where(y == 0, x, x // np.where(y == 0, 1, y) * y + rng.integers(-1, 2, n).astype(dtype))
            for a, b in [(x, y), (beside.astype(dtype), y), *((x, by) for by in y[:4]), (x[::-2], y[::-2])]:
                there = getattr(tn, name)(tn.asarray(a), b if np.ndim(b) == 0 else tn.asarray(b))
                assert np.array_equal(np.asarray(there), getattr(np, name)(a, b)), (n, b)
