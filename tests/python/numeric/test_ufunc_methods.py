# SPDX-License-Identifier: Apache-2.0
"""at, reduceat, reductions in order, types and signatures of functions, against NumPy."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core
from tessera.numeric import _ufunc_methods

OTHERS = ["subtract", "bitwise_and", "bitwise_xor", "fmax", "hypot", "floor_divide", "logaddexp", "power"]
NAMES = [name for name, thing in vars(tn).items() if isinstance(thing, tn.ufunc) and thing.signature is None]


def both(call, *arrays):
    try:
        wanted = call(np, *(x.copy() for x in arrays))
    except (ValueError, TypeError, IndexError) as error:
        kind = next(k for k in (ValueError, TypeError, IndexError) if isinstance(error, k))
        with pytest.raises(kind):
            call(tn, *map(tn.array, arrays))
        return
    made = call(tn, *map(tn.array, arrays))
    assert np.asarray(made).dtype == np.asarray(wanted).dtype and np.shape(made) == np.shape(wanted)
    np.testing.assert_allclose(np.asarray(made), wanted, rtol=5e-3 if np.asarray(wanted).dtype == "f2" else 1e-6)


def in_place(name, *given):
    def call(m, a):
        getattr(m, name).at(a, *given)
        return a

    return call


@pytest.mark.parametrize("dtype", ["f8", "i4", "u1"])
@pytest.mark.parametrize(
    "key", [[0, 0, 1, -1], [[0, 3], [3, 3]], slice(1, 4), ..., ([1, 1, 2], [0, 0, 3]), [9], True]
)
def test_at_counts_every_time_that_an_index_occurs(dtype, key):
    x = np.arange(1, 25).reshape(6, 4).astype(dtype)
    for name in ("add", "multiply", "maximum", "subtract"):
        both(in_place(name, key, 3), x)
        both(in_place(name, key), x)
    both(in_place("negative", key), x.astype("i4"))
    both(in_place("negative", key, 3), x)
    both(in_place("add", key, 1.5), x)
    both(in_place("divide", key, np.float32(2)), x)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8", "?"])
@pytest.mark.parametrize("value", [300, -1, 2**40, True])
def test_at_wraps_numbers_that_do_not_fit(dtype, value):
    for name in ("add", "multiply", "maximum"):
        for key in (0, [1], [0, 1]):
            both(in_place(name, key, value), np.ones(3, dtype))


def test_at_with_many_of_one_index():
    rng = np.random.default_rng(0)
    x, places, values = np.zeros(5), rng.integers(0, 5, 100), rng.standard_normal(100)
    both(in_place("add", places, values), x)
    both(lambda m, a: in_place("add", [0, 1, 2], a[2:])(m, a), np.arange(5.0))
    with pytest.raises(TypeError, match="first operand must be array"):
        tn.add.at([1, 2], [0], 1)


@pytest.mark.parametrize("axis", [0, 1, -1, None, (0, 1)])
@pytest.mark.parametrize("name", OTHERS)
def test_reductions_of_other_functions(name, axis):
    x = np.arange(1, 25).reshape(6, 4)[:, ::-1] % 7 + 1
    both(lambda m, a: getattr(m, name).reduce(a, axis=axis), x)
    both(lambda m, a: getattr(m, name).reduce(a, axis=axis, keepdims=True), x)
    both(lambda m, a: getattr(m, name).reduce(a[:0], axis=axis), x)
    if axis in (0, 1):
        both(lambda m, a: getattr(m, name).accumulate(a, axis=axis), x % 3)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("indices", [[0, 2, 3], [3, 1, 1], [0], [], [5, 0], [7]])
def test_reduceat(indices, axis):
    x = np.arange(24.0).reshape(4, 6)
    for name in ("add", "maximum", "subtract", "multiply"):
        both(lambda m, a, name=name: getattr(m, name).reduceat(a, indices, axis), x)


@pytest.mark.parametrize("values", [2, [1, 2, 3], np.float32(1.5), np.array([1, 2, 3], "i1")], ids=str)
def test_subtract_at_places(values):
    for dtype in ("i1", "u2", "f4", "f8") if np.ndim(values) or isinstance(values, int) else ("f4", "f8"):
        want, got = np.arange(6).astype(dtype), tn.arange(6).astype(dtype)
        np.subtract.at(want, [0, 0, 5], values)
        tn.subtract.at(got, [0, 0, 5], values)
        np.testing.assert_array_equal(tn.asnumpy(got), want)


@pytest.mark.parametrize("name", NAMES)
def test_attributes_are_numpys(name):
    ours, theirs = getattr(tn, name), getattr(np, name)
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    for attribute in ("nin", "nout", "nargs", "identity"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    assert ours.ntypes == len(ours.types) and set(ours.types) & set(theirs.types)
    if name != "float_power":  # narrow floats stay so where NumPy has float64
        assert set(ours.types) <= set(theirs.types)


BINARY = [
    name for name in NAMES if getattr(tn, name).nin == 2 and getattr(tn, name).__name__ != "arctan2"
]  # NumPy's arctan2.reduce over one column differs by its strides


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*BINARY, "gcd", "lcm"])
def test_reductions_with_starts_and_masks(name):
    rng = np.random.default_rng(sum(map(ord, name)))
    with np.errstate(all="ignore"):
        for _ in range(12):  # at most one axis is empty: of two NumPy says either
            shape = tuple(rng.choice([0, 1, 2, 3, 5], rng.integers(1, 4), p=[0.1, 0.2, 0.3, 0.3, 0.1]))
            shape = tuple(n if n or 0 not in shape[:i] else 1 for i, n in enumerate(shape))
            x = rng.integers(0, 5, shape).astype(rng.choice(["?", "u1", "i4", "i8", "f4", "f8"]))
            axes = [int(d) for d in rng.permutation(len(shape))[: rng.integers(1, len(shape) + 1)]]
            axis = axes[0] if len(axes) == 1 else (None, tuple(axes))[rng.integers(2)]
            options = {"axis": axis, "keepdims": bool(rng.integers(2))}
            if rng.integers(2):
                options["initial"] = int(rng.integers(0, 4))
            masked = rng.integers(0, 2, shape).astype(bool)
            if x.dtype == bool and name in ("power", "floor_divide", "remainder", "fmod", "left_shift", "right_shift"):
                x = x.astype("i4")
            both(lambda m, a, o=options: getattr(m, name).reduce(a, **o), x)
            both(lambda m, a, w, o=options: getattr(m, name).reduce(a, where=w, **o), x, masked)


def test_reductions_take_the_start_once_in_the_dtype_of_the_loop():
    for call in (
        lambda m: m.bitwise_xor.reduce(m.array([[1, 1], [1, 1]]), axis=(0, 1), initial=1),
        lambda m: m.hypot.reduce(m.array([[3, 4], [0, 0]]), axis=None, initial=5),
        lambda m: m.bitwise_xor.reduce(m.array([1, 2]), where=m.array([False, True]), initial=4),
        lambda m: m.subtract.reduce(m.array([1, 2]), where=m.array([True, False]), initial=10),
        lambda m: m.fmax.reduce(m.zeros((0, 3)), axis=(0, 1), initial=5),
        lambda m: m.bitwise_and.reduce(m.zeros(0, "u1")),
        lambda m: m.bitwise_or.reduce(m.zeros(0, "u1"), initial=None),
        lambda m: m.hypot.reduce(m.array([-3])),
        lambda m: m.hypot.reduceat(m.array([-3]), [0]),
        lambda m: m.divide.reduce(m.array([3])),
        lambda m: m.less.reduce(m.array([1, 2, 3])),
        lambda m: m.logical_xor.reduce(m.array([1, 2, 3]), dtype=int),
        lambda m: m.gcd.reduce(m.array([-4])),
    ):
        both(call)


@pytest.mark.parametrize("dtype", ["?", "i1", "u4", "i8", "f4", "f8"])
def test_at_joins_many_of_one_index(dtype):
    rng = np.random.default_rng(1)
    x, values = rng.integers(0, 9, 7).astype(dtype), rng.integers(0, 9, 300).astype(dtype)
    for places in (rng.integers(0, 7, 300), np.zeros(300, int), rng.integers(0, 2, 300) * 6 - 7):
        for name in ("add", "multiply", "maximum", "bitwise_xor", "fmin", "subtract"):
            if dtype != "?" or name != "subtract":
                with np.errstate(all="ignore"):
                    both(in_place(name, places, values), x)
        both(in_place("add", places, 1.25), x.astype("i4"))
    both(in_place("multiply", [0, 0], np.array([1e200, 1e200])), np.array([1e-300]))


def test_at_takes_few_passes_for_many_equal_indices():
    calls = []

    class Add:
        __name__, nin = "add", 2

        def __call__(self, *given):
            calls.append(len(given[0]))
            return tn.add(*given)

    from tessera.numeric._ufunc_methods import at

    a = tn.zeros(3)
    at(Add(), a, tn.zeros(1000, int), tn.ones(1000))
    assert a.tolist() == [1000, 0, 0] and len(calls) <= 12 and sum(calls) <= 1001


@pytest.mark.parametrize("dtype", ["u1", "f8"])
def test_subtracting_at_one_place_often_is_quick(dtype):
    rng = np.random.default_rng(5)
    places, values = np.zeros(3000, int), rng.integers(0, 4, 3000).astype(dtype)
    places[::3] = 2
    x = np.arange(4).astype(dtype)
    a = tn.array(x)
    before = _core.numeric_stats()["launched"]
    tn.subtract.at(a, tn.array(places), tn.array(values))
    assert _core.numeric_stats()["launched"] - before < 900  # one round for each occurrence would be 2,000
    np.subtract.at(x, places, values)
    np.testing.assert_array_equal(np.asarray(a), x)


def test_functions_of_other_libraries_are_not_taken_by_name():
    a = tn.ones(3)
    ufunc = np.frompyfunc(lambda x: x + 100, 1, 1)
    with tn.fallback("error"), pytest.raises(NotImplementedError, match="the ufunc .* has no counterpart"):
        ufunc(a)
    special = pytest.importorskip("scipy.special")
    for name in ("log1p", "exp2", "cbrt"):
        with pytest.warns(tn.FallbackWarning, match=f"the ufunc {name} has no counterpart"):
            getattr(special, name)(a)
    assert isinstance(np.log1p(a), tn.ndarray)


def test_numbers_are_cast_to_a_dtype_by_the_rule():
    a = tn.asarray(np.ones(3, np.float32))
    for number, dtype in ((1j, "f4"), (1.5, "i4"), (1j, "i8")):
        x = tn.asarray(np.ones(3, dtype))
        with pytest.raises(TypeError, match="Cannot cast ufunc 'add' input 1 from dtype.*'same_kind'"):
            tn.add(x, number, dtype=dtype)
    assert tn.add(tn.asarray([1]), 1.5, dtype="i4", casting="unsafe").tolist() == [2]
    assert tn.add(a, 2, dtype="f2").tolist() == [3.0] * 3
    with pytest.raises(TypeError, match="Cannot cast ufunc 'sin' input 0"):
        tn.sin(1j, dtype="f4")


def test_arrays_of_numpy_take_results():
    x, ours = np.arange(6, dtype=np.float32), tn.asarray(np.full(3, 2, np.float32))
    x[::2] *= ours
    assert x.tolist() == [0, 1, 4, 3, 8, 5]
    y = x[:3]
    y += ours
    assert type(y) is np.ndarray
    assert x.tolist() == [2, 3, 6, 3, 8, 5]
    out = np.zeros((), np.float32)
    assert np.add.reduce(ours, out=out) is out
    assert out == 6
    quotient, rest = np.zeros(3, np.float32), np.zeros(3, np.float32)
    np.divmod(y, ours, out=(quotient, rest))
    assert (quotient.tolist(), rest.tolist()) == ([1, 1, 3], [0, 1, 0])
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' output"):
        np.add(ours, ours, out=np.zeros(3, np.int32))


def test_vectorize_calls_functions_of_python():
    a, b = tn.asarray(np.arange(3, dtype=np.float32)), tn.asarray([[1], [2]])
    once = tn.vectorize(lambda x: x / 2)(a)
    assert type(once) is tn.ndarray
    assert once.tolist() == [0, 0.5, 1]
    assert tn.vectorize(lambda x, y: x + y, otypes="d")(a, b).tolist() == [[1, 2, 3], [2, 3, 4]]
    low, high = tn.vectorize(lambda x: (x - 1, x + 1), cache=True)(a)
    assert (low.tolist(), high.tolist()) == ([-1, 0, 1], [1, 2, 3])


LOOPS = {
    "twice": lambda m: m.add(1, 2, sig="ll->l", signature="ll->l"), "unit": lambda m: m.add(3, 5, dtype="m8[ns]"),
    "order": lambda m: m.add(3, 5, dtype=">i8"), "letters": lambda m: m.add(1, 2, signature="%^->#"),
    "bytes": lambda m: m.add(1, 2, signature=b"ll->l"), "half": lambda m: m.add(1, 2, signature=b"ii-i"),
    "no loop": lambda m: m.ldexp(1.0, m.uint64(3), dtype="d"), "all": lambda m: m.gcd(m.array(4), 6, dtype="i4"),
    "parts": lambda m: m.modf(m.array([7], "f4"), signature="d->dd"), "weak": lambda m: m.add(3.0, 4.0, dtype="f4"),
    "equiv": lambda m: m.add(3.0, 4.0, dtype="f4", casting="equiv"),
    "same": lambda m: m.add(m.array([3.0]), 3.0, casting="equiv"),
    "no": lambda m: m.add(m.ones(2, "f4"), m.ones(2), casting="no"),
    "turned": lambda m: m.add(m.ones(2, ">f4"), m.ones(2, ">f4"), casting="no"),
    "turned back": lambda m: m.add(m.ones(2, ">f4"), m.ones(2, ">f4"), casting="equiv"),
    "truth": lambda m: m.logical_and(m.arange(3), 1.5, casting="equiv"),
    "scalar": lambda m: m.vecdot(m.ones(3), 7), "-0": lambda m: m.sum(m.array([-0.0, -0.0]), initial=-0.0),
    "rows of -0": lambda m: m.sum(m.array([[-0.0, -0.0], [-0.0, 0.0]]), axis=1, initial=-0.0),
    "complex -0": lambda m: m.sum(m.array([complex(-0.0, -0.0)]), initial=complex(-0.0, 0.0)),
    "resolved": lambda m: m.add.resolve_dtypes((m.dtype("i4"), m.dtype("f4"), None)),
    "reduced": lambda m: m.add.resolve_dtypes((None, m.dtype("i2"), None), reduction=True),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_loops_and_casts_are_chosen_as_numpy_does(name):
    made = []
    for m in (np, tn):
        try:
            made.append(repr(np.asarray(LOOPS[name](m)).tolist()))
        except (TypeError, ValueError) as error:
            made.append(TypeError if isinstance(error, TypeError) else ValueError)
    assert made[0] == made[1]


def test_results_are_of_the_class_of_the_highest_priority():
    def kinds(m):
        low = type("low", (m.ndarray,), {"__array_priority__": -2000})
        high = type("high", (m.ndarray,), {"__array_priority__": -1000})
        x, y, z = m.ones((2, 2)).view(low), m.ones((2, 2)).view(high), m.ones((2, 2))
        made = [x + y, y + x, m.add(x, z), m.vecdot(x, y), m.matmul(z, x), m.vecdot(x[0], y[0])]
        made += m.broadcast_arrays(x, m.ones(2), subok=True) + m.broadcast_arrays(x, m.ones(2))
        strided = m.lib.stride_tricks.as_strided(x, (2,), (8,), subok=True)
        return [type(a).__name__ for a in (*made, strided, m.broadcast_to(x, (3, 2, 2), subok=True))]

    assert kinds(tn) == kinds(np)


def test_nan_is_looked_for_where_it_is_told_of():
    class OnGpu:
        device = "cuda:0"

    a = tn.array([1.0, np.nan, 3.0])
    for function in (tn.maximum, tn.minimum):
        with pytest.warns(RuntimeWarning, match=f"invalid value encountered in {function.__name__}"):
            function.at(a, tn.array([0, 1]), tn.array([2.0, 2.0]))
    found = {}
    for action in ("ignore", "warn", "raise", "print"):
        with tn.errstate(invalid=action):
            found[action] = [_ufunc_methods._looks_for_nan(x) for x in (a, OnGpu)]
    assert found == {"ignore": [False, False], "warn": [True, False], "raise": [True, True], "print": [True, True]}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extremes_at_places_know_zeros_and_nan(name, dtype):
    rng = np.random.default_rng(7)
    odd = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0], dtype)
    to, values, at = rng.choice(odd, 40), rng.choice(odd, 900), rng.integers(-40, 40, 900)
    ours, theirs = tn.array(to), to.copy()
    with np.errstate(invalid="ignore"), tn.errstate(invalid="ignore"):
        getattr(tn, name).at(ours, tn.array(at), tn.array(values))
    for k, value in zip(at, values):  # NumPy keeps either zero
        theirs[k] = np.asarray(getattr(tn, name)(tn.array(theirs[k]), tn.array(value)))
    np.testing.assert_array_equal(np.asarray(ours), theirs)
    np.testing.assert_array_equal(np.signbit(np.asarray(ours))[theirs == 0], np.signbit(theirs)[theirs == 0])


@pytest.mark.parametrize("places", [[3], [-4], [0, 1, -5], [2**62], [-(2**63)], [1] * 70 + [4]])
def test_places_out_of_range_are_told_as_numpys(places):
    x = np.zeros(4)
    if -5 in places or max(places) > 3 or min(places) < -4:
        with pytest.raises(IndexError):
            np.add.at(x, np.array(places), 1.0)
        with pytest.raises(IndexError):
            tn.add.at(tn.array(x), tn.array(places), 1.0)
        return
    a = tn.array(x)
    tn.add.at(a, tn.array(places), 1.0)
    np.add.at(x, np.array(places), 1.0)
    np.testing.assert_array_equal(np.asarray(a), x)


@pytest.mark.parametrize("axis", [0, -1, 2, -3, (0,), (2,), (0, 1), (), None, "a", 1.5])
@pytest.mark.parametrize("shape", [(), 3, (2, 3), 0])
@pytest.mark.parametrize("name", ["hypot", "add", "maximum", "left_shift"])
def test_axes_are_looked_at_before_loops(name, shape, axis):
    for method, dtype in itertools.product(("reduce", "accumulate"), (None, "c16", "i4")):
        made = []
        for m in (np, tn):
            try:
                found = getattr(getattr(m, name), method)(m.ones(shape), axis=axis, dtype=dtype)
                made.append(np.asarray(found).tolist())
            except (TypeError, ValueError) as error:
                made.append("TypeError" if isinstance(error, TypeError) else type(error).__name__)
        assert made[0] == made[1], (method, dtype)
