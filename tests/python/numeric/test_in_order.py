# SPDX-License-Identifier: Apache-2.0
"""Methods of functions of two elements that go through host memory in order, as NumPy's do: reduceat, accumulate,
reduce and at, on random arrays of every dtype and layout."""

from __future__ import annotations

import warnings

import numpy
import pytest

import tessera.numeric as np

FUNCTIONS = ("add subtract multiply divide maximum minimum fmax fmin bitwise_and bitwise_or bitwise_xor logical_and "
             "logical_or logical_xor").split()  # fmt: skip
DTYPES = "? b B h H i I l L f d F D".split()
FAULTS = ("divide by zero", "overflow", "invalid value")


def _random(rng, dtype, shape):
    x = numpy.asarray(rng.normal(size=shape)) * 10.0 ** rng.choice([1, 1, 37])
    if dtype in "fdFD" and x.size and rng.random() < 0.3:
        x.flat[rng.integers(0, x.size, 3)] = numpy.nan, 0.0, -0.0
    if dtype in "FD":
        x = x + 1j * rng.normal(size=shape)
    with numpy.errstate(all="ignore"):
        x = numpy.asarray(x).astype(dtype)
    if not x.ndim:
        return x
    x = x[..., ::-1] if rng.random() < 0.3 else x
    return x.T if rng.random() < 0.3 else x


def _put(x):
    """The same elements, lying as NumPy's lie."""
    return np.array(x.T, order="C").T if x.flags.f_contiguous else np.array(x)


def _outcome(run):
    """The result or the class of the error, and the faults that were told of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            made = run()
        except Exception as error:
            return type(error), set()
    kinds = {kind for kind in FAULTS for w in told if w.category is RuntimeWarning and kind in str(w.message)}
    return numpy.asarray(made), kinds


def _check(ours, theirs, exact=True, faults=True):
    made, told = _outcome(ours)
    wanted, expected = _outcome(theirs)
    if isinstance(wanted, type):
        assert isinstance(made, type)  # where two things are wrong, which one is told of may differ
        return
    assert made.dtype == wanted.dtype and made.shape == wanted.shape
    if exact:
        numpy.testing.assert_array_equal(made, wanted)
    else:
        numpy.testing.assert_allclose(made, wanted, 1e-5)
    if faults:
        assert told == expected


def _shape(rng):
    if rng.random() < 0.2:
        return (int(rng.integers(100, 700)),)
    return tuple(int(n) for n in rng.integers(rng.random() > 0.1, 20, rng.integers(1, 4)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_segments_are_joined_as_numpys(name):
    rng = numpy.random.default_rng(FUNCTIONS.index(name))
    for _ in range(60):
        x = _random(rng, rng.choice(DTYPES), _shape(rng))
        if name == "divide" and x.dtype.kind not in "fc":
            continue  # of integers it is no function of one dtype
        axis = int(rng.integers(-x.ndim, x.ndim))
        begins = rng.integers(0, max(x.shape[axis], 1), rng.integers(0, 9))
        y, wide = _put(x), rng.choice([None, numpy.int64, numpy.float64]) if name == "add" else None
        faults = not (name == "divide" and x.dtype.kind == "c")
        _check(lambda: getattr(np, name).reduceat(y, np.asarray(begins), axis, wide),
               lambda: getattr(numpy, name).reduceat(x, begins, axis, wide), faults=faults)  # fmt: skip


@pytest.mark.parametrize("method", ["reduceat", "accumulate"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_that_are_named_decide_the_dtype(name, method):
    rng = numpy.random.default_rng(FUNCTIONS.index(name) + 300)
    for _ in range(60):
        x = _random(rng, rng.choice(DTYPES), _shape(rng))
        out = _random(rng, rng.choice(DTYPES), x.shape)
        both = numpy.promote_types(x.dtype, out.dtype).kind
        if not x.size or len(x) < 2 or (name in ("divide", "multiply") and both == "c"):
            continue
        if name == "divide" and both != "f":
            continue
        if out.dtype.kind in "iu" and both in "fc":
            continue  # C says nothing of floats that no integer is near
        begins = ([0, *rng.integers(0, x.shape[0], 3)],) if method == "reduceat" else ()
        out = out[:4].repeat(4, 0)[:4] if begins else out
        if rng.random() < 0.2:
            out = out[:-1]  # too short: an error, with nothing written
        y, given = _put(x), _put(out)

        def run(function, a, out, begins=begins):
            with numpy.errstate(all="ignore"):
                return getattr(function, method)(a, *begins, out=out)

        _check(lambda: run(getattr(np, name), y, given), lambda: run(getattr(numpy, name), x, out),
               exact=False, faults=False)  # fmt: skip
        _check(lambda: given, lambda: out, exact=False, faults=False)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor", "subtract", "bitwise_or"])
def test_a_dtype_without_a_loop_is_an_error(name):
    for dtype in "?ifdF":
        for run in (lambda m: getattr(m, name).reduceat(m.ones(4, "?"), [0, 2], dtype=dtype),
                    lambda m: getattr(m, name).accumulate(m.ones(4, "?"), dtype=dtype)):  # fmt: skip
            wanted, _ = _outcome(lambda run=run: run(numpy))
            made, _ = _outcome(lambda run=run: run(np))
            assert made is wanted if isinstance(wanted, type) else (made == wanted).all() and made.dtype == wanted.dtype


@pytest.mark.parametrize("name", FUNCTIONS)
def test_running_results_and_reductions_are_numpys(name):
    rng = numpy.random.default_rng(FUNCTIONS.index(name) + 100)
    for _ in range(40):
        x = _random(rng, rng.choice(DTYPES), _shape(rng))
        if name in ("divide", "multiply") and x.dtype.kind == "c":
            continue  # what is not finite differs between kernels and NumPy
        axis = int(rng.integers(-x.ndim, x.ndim))
        y, function = _put(x), getattr(np, name)
        for ours, theirs in ((function.accumulate, getattr(numpy, name).accumulate),
                             (function.reduce, getattr(numpy, name).reduce)):  # fmt: skip
            _check(lambda ours=ours: ours(y, axis), lambda theirs=theirs: theirs(x, axis), exact=False, faults=False)


@pytest.mark.parametrize("dtype", [*"bBhHiIlL"])
def test_divisors_are_joined_as_numpys(dtype):
    rng = numpy.random.default_rng(ord(dtype))
    for _ in range(30):
        shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 4)))
        x = (rng.integers(-9, 10, shape) * 6).astype(dtype)
        axis = int(rng.integers(-x.ndim, x.ndim))
        for call in (lambda m, a, axis=axis: m.gcd.reduce(a, axis), lambda m, a: m.gcd.reduce(a),
                     lambda m, a, axis=axis: m.gcd.accumulate(a, axis),
                     lambda m, a, axis=axis: m.gcd.reduceat(a, m.array([0, 0]), axis)):  # fmt: skip
            _check(lambda call=call: call(np, np.array(x)), lambda call=call: call(numpy, x))


def _places(rng, x):
    """A key of arrays of places, some equal, some counted from the end."""
    n = int(rng.integers(1, 40))
    first = rng.integers(-x.shape[0], x.shape[0], n)
    if x.ndim > 1 and rng.random() < 0.4:
        return first, rng.integers(-x.shape[1], x.shape[1], n)
    if x.ndim > 1 and rng.random() < 0.4:
        return ..., rng.integers(0, x.shape[-1], 3)
    if rng.random() < 0.3:
        return first.reshape(-1, 1)
    return first


@pytest.mark.parametrize("name", FUNCTIONS)
def test_at_places_each_value_counts_in_order(name):
    rng = numpy.random.default_rng(FUNCTIONS.index(name) + 200)
    for _ in range(60):
        x = _random(rng, rng.choice(DTYPES), _shape(rng))
        if not x.size or (name == "divide" and x.dtype.kind != "f"):
            continue
        key = _places(rng, x)
        value = _random(rng, x.dtype.char, x[key].shape if rng.random() < 0.7 else (1,) * rng.integers(0, 2))
        keys = key if type(key) is tuple else (key,)
        ours = tuple(np.asarray(k) if isinstance(k, numpy.ndarray) else k for k in keys)
        y, before = _put(x), x * 1
        shown = [y * 1]  # what waits reads the elements as they were

        def run(module, a, key, value):
            getattr(module, name).at(a, key, value)
            return a

        told = name not in ("maximum", "minimum", "fmax", "fmin")
        _check(lambda: run(np, y, ours if len(ours) > 1 else ours[0], np.asarray(value)),
               lambda: run(numpy, x, key, value), faults=told)  # fmt: skip
        numpy.testing.assert_array_equal(shown[0], before)


def _slices(rng, x):
    """A key of slices, dots and numbers, which names each element once."""
    key = []
    for extent in x.shape[: rng.integers(1, x.ndim + 1)]:
        begin, end = sorted(int(n) for n in rng.integers(-extent, extent + 1, 2))
        key.append(slice(begin, end, int(rng.choice([-2, -1, 1, 2, 3]))) if rng.random() < 0.7 else min(begin, 0))
    if rng.random() < 0.3:
        key = [..., *key]
    return key[0] if len(key) == 1 and rng.random() < 0.5 else tuple(key)


@pytest.mark.parametrize("name", [*FUNCTIONS, "negative", "absolute"])
def test_at_slices_is_numpys(name):
    rng = numpy.random.default_rng(len(name) + 400)
    for _ in range(60):
        x = _random(rng, rng.choice(DTYPES), _shape(rng))
        if name in ("divide", "multiply") and x.dtype.kind == "c":
            continue  # what is not finite differs between kernels and NumPy
        key = _slices(rng, x)
        try:
            part = numpy.asarray(x[key])
        except IndexError:
            continue
        value = _random(rng, rng.choice([x.dtype.char, "d", "i"]), part.shape if rng.random() < 0.7 else part.shape[1:])
        if part.dtype.kind in "iub" and value.dtype.kind in "fc":
            continue  # C says nothing of floats that no integer is near
        value = rng.choice([3, 0.1, True]).item() if rng.random() < 0.3 else value
        given = () if name in ("negative", "absolute") else (value,)
        y, before = _put(x), x * 1
        shown = [y * 1]  # what waits reads the elements as they were

        def run(module, a, given, key=key):
            getattr(module, name).at(a, key, *given)
            return a

        _check(lambda: run(np, y, tuple(np.asarray(v) if isinstance(v, numpy.ndarray) else v for v in given)),
               lambda: run(numpy, x, given), exact=False, faults=False)  # fmt: skip
        numpy.testing.assert_array_equal(shown[0], before)


def test_at_slices_of_shared_elements_joins_each_in_turn():
    wanted, made = numpy.ones(3), np.ones(3)
    for module, a in ((numpy, wanted), (np, made)):
        module.add.at(module.lib.stride_tricks.as_strided(a, (4,), (0,)), slice(None), 1.0)
        module.add.at(a, slice(1, 3), a[:2] * 1)
    numpy.testing.assert_array_equal(made, wanted)


def test_at_adds_numbers_as_float64():
    for key in (0, slice(0, 3), [0, 0]):
        wanted = numpy.array([1e-3, 7.7, 3.3e7], "f4")
        made = np.array(wanted)
        numpy.add.at(wanted, key, 0.1)
        np.add.at(made, key, 0.1)
        numpy.testing.assert_array_equal(made, wanted)


def _at_outcome(module, name, values, key, number):
    a = module.array(values)
    place = key(module)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            getattr(module, name).at(a, place, number)
        except Exception as error:  # noqa: BLE001
            return type(error), numpy.asarray(a).tolist(), []
    return a.dtype, numpy.asarray(a).tolist(), [str(w.message) for w in seen]


_PLACES = (lambda m: 0, lambda m: slice(None), lambda m: [0, 1], lambda m: m.arange(5),
           lambda m: m.arange(3, dtype="i4"), lambda m: m.array([1, 0, 1]),
           lambda m: m.arange(8) < 4, lambda m: (m.array([2, 2]),))  # fmt: skip
_NUMBERS = (2, -1, 2**24 + 1, 2**53 + 1, 2**62 + 1, 0.1, 2.0, -7.25, 3 + 0j, 0.1 + 2j)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", "b H i q Q f d F D".split())
def test_at_takes_numbers_of_python_as_numpy_does(dtype):
    rng = numpy.random.default_rng(11)
    low, high = (0, 2**64 - 1) if dtype == "Q" else (-(2**62), 2**62)
    values = rng.integers(low, high, 8, "Q" if dtype == "Q" else "q").astype(dtype)
    if dtype in "fdFD":
        values = (rng.normal(size=8) / 7 + (1j * rng.normal(size=8) if dtype in "FD" else 0)).astype(dtype)
    for name in ("add", "subtract", "multiply", "divide", "maximum", "bitwise_and"):
        for number in _NUMBERS:
            for k, key in enumerate(_PLACES):
                wanted, made = (_at_outcome(m, name, values, key, number) for m in (numpy, np))
                assert made[0] == wanted[0], (name, number, k, made, wanted)
                numpy.testing.assert_array_equal(made[1], wanted[1], f"{name} {number} {k}")
                if name in ("add", "bitwise_and"):
                    assert made[2] == wanted[2], (name, number, k)


def test_at_takes_values_of_other_dtypes_and_lists_of_places():
    for dtype, value in (("f8", 2), ("f8", numpy.arange(4)), ("i8", True), ("f4", numpy.float32(0.1)), ("u1", 3)):
        wanted, made = numpy.ones(9, dtype), np.ones(9, dtype)
        numpy.add.at(wanted, [1, 1, -1, 2], value)
        np.add.at(made, [1, 1, -1, 2], np.asarray(value) if isinstance(value, numpy.ndarray) else value)
        numpy.testing.assert_array_equal(made, wanted)
        assert made.dtype == wanted.dtype


def test_at_reads_values_before_it_writes_where_memory_is_shared():
    wanted, made = numpy.arange(8.0), np.arange(8.0)
    numpy.add.at(wanted, numpy.arange(8) // 2, wanted[::-1])
    np.add.at(made, np.arange(8) // 2, made[::-1])
    numpy.testing.assert_array_equal(made, wanted)


def test_places_outside_are_errors_and_nothing_is_written():
    a = np.ones(5)
    with pytest.raises(IndexError, match="out of bounds"):
        np.add.at(a, np.array([0, 7]), 1.0)
    with pytest.raises(IndexError, match="out-of-bounds"):
        np.add.reduceat(a, np.array([0, 5]))
    assert a.tolist() == [1.0] * 5


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_logarithms_of_sums_are_walked_in_order(name, dtype):
    x = (numpy.random.default_rng(2).random((7, 33)) * 40 - 20).astype(dtype)
    x[1, 3], x[2, 4], x[2, 5], x[3, 6], x[4, :] = numpy.inf, -numpy.inf, -numpy.inf, numpy.nan, -numpy.inf
    of, to = getattr(numpy, name), getattr(np, name)
    for axis in (0, 1):
        for call in ("accumulate", "reduce"):
            wanted, made = getattr(of, call)(x, axis), getattr(to, call)(np.array(x), axis)
            assert made.dtype == wanted.dtype
            numpy.testing.assert_allclose(numpy.asarray(made), wanted, 1e-6 if dtype == "f4" else 1e-14)
    made, wanted = to.reduceat(np.array(x[0]), [0, 5, 9]), of.reduceat(x[0], [0, 5, 9])
    numpy.testing.assert_allclose(numpy.asarray(made), wanted, 1e-6)
    kept, wanted = np.array(x[0]), x[0].copy()
    to.at(kept, np.array([1, 1, 3]), x[5, :3])
    of.at(wanted, [1, 1, 3], x[5, :3])
    numpy.testing.assert_allclose(numpy.asarray(kept), wanted, 1e-6)
