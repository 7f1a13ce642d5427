# SPDX-License-Identifier: Apache-2.0
"""Division by zero, overflow and invalid operations on few elements are told as NumPy tells them."""

from __future__ import annotations

import operator
import platform
import warnings

import numpy as np
import pytest
import tessera.numeric as tn

@pytest.fixture(autouse=True)
def warnings_are_shown():
    """Also where pytest runs with -W ignore: a call whose warnings nobody sees looks for no faults."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        yield


CALLS = {
    "pole": lambda m, a: 1 / (a - a), "none": lambda m, a: (a - a) / (a - a), "finite": lambda m, a: a / 3,
    "log0": lambda m, a: m.log(a - a), "log": lambda m, a: m.log(-a), "sqrt": lambda m, a: m.sqrt(-a),
    "exp": lambda m, a: m.exp(a * 1000), "square": lambda m, a: (a * 1e30) * (a * 1e30),
    "inf": lambda m, a: a * np.inf - np.inf, "nan in": lambda m, a: a * np.nan + 1, "inf in": lambda m, a: a / np.inf,
    "power": lambda m, a: (a - a) ** -1.0, "remainder": lambda m, a: a % (a - a),
    "arcsin": lambda m, a: m.arcsin(a * 2), "arctanh": lambda m, a: m.arctanh(a / a),
    "floor": lambda m, a: a // (a - a), "masked": lambda m, a: m.divide(
        a, a - a, out=m.zeros(a.shape, a.dtype), where=a < 0), "minimum": lambda m, a: m.minimum(a, np.inf),
}  # fmt: skip


LARGE = CALLS | {
    "remainder of rows": lambda m, a: a.reshape(-1, 10) % 0, "narrow": lambda m, a: 1 / (a.reshape(-1, 10) * 0).sum(1),
    "row over its sum": lambda m, a: a.reshape(-1, 10) / (a.reshape(-1, 10) * 0).sum(1, keepdims=True),
    "folded": lambda m, a: ((a - a) / a[::-1] / (a - 5)).sum(), "scanned": lambda m, a: m.cumsum(1 / (a - 3)),
    "selected": lambda m, a: m.where(a > 3, 1 / (a - 3), 0), "kept": lambda m, a: (1 / (a - 3))[a > 3],
    "written": lambda m, a: a.__setitem__([1, 2], a[:2] / (a[:2] - a[:2])), "complex": lambda m, a: (a + 1j) / (a - a),
    "in place": lambda m, a: a.__itruediv__(a - a), "integers": lambda m, a: a.astype("i8") // (a.astype("i8") - 7),
    "least": lambda m, a: (a * 0 - 128).astype("i1") // np.int8(-1), "chain": lambda m, a: m.sqrt(1 / (a - 9) - 1) * 2,
    "no fault": lambda m, a: 1 / a,
}  # fmt: skip
DIFFERENT = ("exp", "square", "inf", "power")  # sums and products of many tell nothing; power(x, -1) has another name


def told(call, m, a):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        made = call(m, a)
        if m is tn:
            tn.wait()
        del made
    return sorted({str(each.message) for each in seen if each.category is RuntimeWarning})


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_faults_are_those_of_numpy(name, dtype):
    for x in (np.arange(1, 9).astype(dtype), np.arange(1, 13).astype(dtype).reshape(3, 4)[:, ::2].T):
        assert told(CALLS[name], tn, tn.array(x)) == told(CALLS[name], np, x)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_kernels_of_many_elements_tell_as_numpy(dtype):
    """Calls that wait, which are told of when they are computed, and (f8) calls on shared memory, which do not."""
    for name, call in LARGE.items() if dtype == "f4" else list(LARGE.items())[len(CALLS) - 4 :]:
        x = np.arange(1, 20001).astype(dtype)
        wanted, a = told(call, np, x.copy()), tn.array(x)
        shared = np.asarray(a) if dtype == "f8" else None
        assert name in DIFFERENT or told(call, tn, a) == wanted, name
        del shared


def test_late_faults_are_those_that_the_call_wanted():
    a = tn.arange(10000.0)
    with np.errstate(all="ignore"):
        quiet = 1 / a
    loud = a / a
    with pytest.warns(RuntimeWarning, match="invalid value encountered in divide") as seen:
        assert float(loud[1]) == 1 and float(quiet[2]) == 0.5
    assert len(seen) == 1 and seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert float(loud[1]) == 1  # told once
        with pytest.raises(RuntimeWarning):
            float((1 / a).max())


@pytest.mark.parametrize("first", ["divide by zero", "invalid value"])
def test_a_late_fault_that_is_an_error_does_not_hide_others(first):
    a = tn.arange(10000.0)
    both = tn.log(-1 - a) + 1 / a
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.filterwarnings("error", message=first)
        with pytest.raises(RuntimeWarning, match=first):
            float(both[1])
    assert len(seen) == 1 and first not in str(seen[0].message)


def test_integers_and_casts():
    x = np.array([1, -128, 0, 5], "i1")
    for call in (
        lambda m, a: a // 0, lambda m, a: a % m.asarray([0, 1, 2, 3], "i1"), lambda m, a: a // np.int8(-1),
        lambda m, a: a // 2, lambda m, a: m.asarray([1e300, 1.0]).astype("f4"),
        lambda m, a: m.asarray([1.0]).astype("i4"),
    ):  # fmt: skip
        assert told(call, tn, tn.array(x)) == told(call, np, x)


def kinds(said):
    """Faults without the names of functions: NumPy computes spans over numbers by another one."""
    return [text.split(" encountered")[0] for text in said]


@pytest.mark.parametrize("dtype", ["i4", "u1", "m8[s]"])
@pytest.mark.parametrize("call", ["floor_divide", "remainder", "fmod", "divide"])
def test_later_calls_tell_what_the_first_one_told(call, dtype):
    """The second call with operands of one kind takes a shorter way, which looked at fewer functions."""
    if dtype[0] == "m" and call == "fmod":
        return
    for zero in (0, np.zeros((), dtype)[()], np.array([0, 1, 2]).astype(dtype)):
        if isinstance(zero, int) and dtype[0] == "m" and call != "floor_divide":
            continue
        x = np.array([7, -5, 3]).astype(dtype)
        wanted = kinds(told(lambda m, a: getattr(m, call)(a, zero), np, x))
        a, other = tn.array(x), tn.array(zero) if isinstance(zero, np.ndarray) else zero
        for _ in range(3):
            assert kinds(told(lambda m, a: getattr(m, call)(a, other), tn, a)) == wanted


def test_faults_in_place_see_what_was_there():
    def call(m, a):
        a /= a - a
        a[1:] /= a[:-1] - a[:-1]

    assert told(call, tn, tn.array([1.0, 0.0, 2.0])) == told(call, np, np.array([1.0, 0.0, 2.0]))


def test_errstate_says_what_becomes_of_faults():
    a, said = tn.array([1.0, 0.0]), []
    with np.errstate(all="ignore"):
        assert not told(lambda m, a: 1 / a, tn, a)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
        1 / a
    with np.errstate(divide="call", call=lambda words, code: said.append((words, code))):
        1 / a
    assert said == [("divide by zero", 1)]
    with np.errstate(invalid="raise"):
        b = tn.array([1.0, 0.0])
        with pytest.raises(FloatingPointError):
            b /= b
        assert (1 / tn.array([1.0]))[0] == 1


def test_a_fault_is_told_once_and_stops_nothing_else():
    """By reads alone, and not again where a value is computed a second time."""
    x, c = tn.arange(100_000.0), tn.zeros(100_000)
    y = 1 / x
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        d = c + 1
        c[1:] += c[:-1] + 7
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in divide"):
            (y + 1).sum()
        assert c[5] == 7 and y[1] == 1 and d[3] == 1
        assert (tn.sqrt(c[1:] + 2))[3] == 3


FOLDS = {
    "sum": lambda m, a: m.sum(a), "axis": lambda m, a: m.array([a, a[::-1]]).sum(axis=1, keepdims=True),
    "one row": lambda m, a: m.add.reduce(m.array([[1.0, np.nan, 2.0], [np.inf, -np.inf, 0.0]]), axis=1),
    "method": lambda m, a: a.sum(axis=0), "cumsum": lambda m, a: m.cumsum(a), "prod": lambda m, a: (a * 1e200).prod(),
    "accumulate": lambda m, a: m.multiply.accumulate(a * 1e200), "half": lambda m, a: m.full(3, 6e4, "f2").sum(),
    "mean": lambda m, a: m.full(2, 1.5e308).mean(), "complex": lambda m, a: m.array([np.inf + 1j, -np.inf]).sum(),
    "masked": lambda m, a: m.add.reduce(a, where=m.array([True, True, False])), "fine": lambda m, a: m.sum(a[:2]),
    "broadcast mask": lambda m, a: m.add.reduce(m.array([a, a]), axis=1, where=m.array([[True], [False]])),
    "max": lambda m, a: a.max(), "integers": lambda m, a: m.arange(9).sum(), "nothing": lambda m, a: a[:0].sum(),
    "at": lambda m, a: m.floor_divide.at(m.ones(700, "i4"), np.arange(900) % 700, m.arange(900, dtype="i4")),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDS)
def test_reductions_of_few_elements_tell_as_numpy(name):
    x = np.array([np.inf, 3.0, -np.inf])
    assert told(FOLDS[name], tn, tn.array(x)) == told(FOLDS[name], np, x)
    with np.errstate(all="raise"):
        failed = []
        for m, a in ((np, x), (tn, tn.array(x))):
            try:
                FOLDS[name](m, a)
            except FloatingPointError:
                failed.append(m)
        assert len(failed) in (0, 2)


def test_filters_of_warnings_hold_at_the_call():
    x = tn.arange(20000.0)
    for m, a in ((np, np.arange(20000.0)), (tn, x)):  # who wants each warning gets it at once
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            m.sqrt(a / 0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = 1 / x
        assert np.isinf(made[0]) and not seen
        late = 2 / x
        assert not seen and np.isinf(late[0]) and len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            3 / x


def test_filters_at_the_end_of_the_list_hold():
    x = tn.zeros(3)
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.simplefilter("ignore", DeprecationWarning)
        with pytest.warns(RuntimeWarning):
            1 / x
        with warnings.catch_warnings(record=True):
            1 / x
        warnings.simplefilter("error", append=True)
        with pytest.raises(RuntimeWarning):
            1 / x


ERROR_FILTERS = {
    "kind": lambda: warnings.simplefilter("error"), "message": lambda: warnings.filterwarnings("error", "overflow"),
    "last": lambda: warnings.simplefilter("error", append=True),
    "behind another": lambda: (warnings.simplefilter("error"), warnings.filterwarnings("ignore", "nothing of us")),
    "line": lambda: warnings.filterwarnings("error", module=__name__.replace(".", "[.]")),
}  # fmt: skip
OVERFLOWS = {
    "chain": lambda m, a: a * 10 + 1, "exp": lambda m, a: m.exp(a), "sum": lambda m, a: a.sum(),
    "rows": lambda m, a: m.add.reduce(a.reshape(50, -1), axis=1), "cumsum": lambda m, a: m.add.accumulate(a),
    "product": lambda m, a: m.multiply.reduce(a), "cast": lambda m, a: a.astype("f4"),
    "waiting": lambda m, a: m.add.reduce(a.reshape(-1, 50) + 1, axis=1), "in place": lambda m, a: operator.imul(a, 10),
}  # fmt: skip


@pytest.mark.parametrize("how", ERROR_FILTERS)
def test_filters_that_raise_hold_however_they_are_written(how):
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.filterwarnings("ignore", "numpy.dtype size changed")
        ERROR_FILTERS[how]()
        for name, call in OVERFLOWS.items():
            if (how, name) == ("line", "sum"):  # NumPy's line is in its own program
                continue
            for m in (np, tn):
                with pytest.raises(RuntimeWarning, match="overflow"):
                    call(m, m.full(5000, 1e308))


def test_filters_that_show_each_warning_hold_however_they_are_written():
    with warnings.catch_warnings(record=True) as seen:
        warnings.filterwarnings("always", "overflow")
        tn.full(5000, 1e308).sum()
        tn.exp(tn.full(5000, 1e308))
    assert [str(each.message) for each in seen] == ["overflow encountered in reduce", "overflow encountered in exp"]


def test_buffers_lose_no_faults():
    made = tn.ones(100_000) / tn.zeros(100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero"):
            np.asarray(made)  # drops what the buffer raises
        assert np.isinf(np.asarray(made)).all()


PRODUCTS = {
    "matrices": lambda m, a: a.reshape(4, 3) @ a.reshape(3, 4), "vectors": lambda m, a: m.dot(a, a),
    "one row": lambda m, a: a.reshape(4, 3) @ a[:3], "method": lambda m, a: a.reshape(4, 3).dot(a[:3]),
    "stack": lambda m, a: m.matmul(a.reshape(2, 2, 3), a.reshape(2, 3, 2)), "inner": lambda m, a: m.inner(a, a),
    "broadcast": lambda m, a: m.matmul(a.reshape(2, 1, 2, 3), a[:6].reshape(3, 2)), "vdot": lambda m, a: m.vdot(a, a),
    "tensordot": lambda m, a: m.tensordot(a.reshape(4, 3), a.reshape(3, 4), 1), "vecdot": lambda m, a: m.vecdot(a, a),
    "matvec": lambda m, a: m.matvec(a.reshape(2, 2, 3), a[:3]), "vecmat": lambda m, a: m.vecmat(a[:4], a.reshape(4, 3)),
    "einsum": lambda m, a: m.einsum("ij,jk", a.reshape(4, 3), a.reshape(3, 4)),
    "turned": lambda m, a: a.reshape(4, 3)[::-1].T @ a.reshape(4, 3)[:, ::-1],
    "large": lambda m, a: m.tile(a, 100).reshape(30, 40) @ m.tile(a, 100).reshape(40, 30),
}  # fmt: skip
FACTORS = {"finite": [], "overflow": [1e300, 1e300], "invalid": [np.inf, -np.inf]}


def outcome(call, m, a):
    try:
        return told(call, m, a)
    except FloatingPointError as error:
        return str(error)


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_products_tell_as_numpy(name, dtype):
    for kind, odd in FACTORS.items():
        if dtype == "c16" and kind == "overflow":
            continue  # products of parts, some of which a library leaves out
        x = np.array([*odd, *[1.0, 2.0, 3.0] * 4][:12], dtype)
        for errors in ({}, {"all": "ignore"}, {"over": "raise", "invalid": "raise"}):
            with np.errstate(**errors):
                assert outcome(PRODUCTS[name], tn, tn.array(x)) == outcome(PRODUCTS[name], np, x), (kind, errors)


def test_large_casts_tell_as_numpy():
    """Casts of more elements than are looked at, whose kernels tell."""
    kinds = [("f8", "i4", np.nan), ("f8", "i4", 2.0**31), ("f8", "i4", -(2.0**31) - 0.5), ("f8", "i4", -(2.0**31) - 1),
             ("f4", "i8", np.inf), ("f4", "u4", 2.0**32), ("f4", "u4", -2.0), ("f2", "i4", np.inf),
             ("f8", "u8", 2.0**64),
             ("f8", "f4", 1e300), ("f8", "f4", 3.4028235e38), ("f8", "f2", 65519.9), ("f8", "f2", 65520.0),
             ("f4", "f2", 1e6), ("f8", "f4", np.inf), ("i4", "f2", 65520), ("i8", "f2", -65520), ("u2", "f2", 65535),
             ("c16", "c8", 1e300j), ("c16", "c8", np.inf), ("f8", "c8", 1e300), ("f8", "?", np.nan)]  # fmt: skip
    ways = [lambda m, a, to: a.astype(to), lambda m, a, to: m.zeros(a.shape, to).__setitem__(slice(None), a),
            lambda m, a, to: (a[::-1] * 1).astype(to) + m.ones((), to)]  # fmt: skip
    for kind, to, value in kinds:
        x = np.ones(10_000, kind)
        x[7_001] = value
        for way in ways:
            wanted = told(lambda m, a: way(m, a, to), np, x)
            assert told(lambda m, a: way(m, a, to), tn, tn.array(x)) == wanted, (kind, to, value)
            with np.errstate(all="raise"):
                assert (outcome(lambda m, a: way(m, a, to), tn, tn.array(x)) != []) == (wanted != []), (kind, to, value)


UNDERFLOWS = {
    "multiply": lambda m, a: a * a, "exact": lambda m, a: a * 2.0**-60, "divide": lambda m, a: a / 1e20,
    "exp": lambda m, a: m.exp(a * 0 - 1000), "square": lambda m, a: m.square(a), "power": lambda m, a: a**3,
    "cast": lambda m, a: m.array([1e-300]).astype("f4"), "half": lambda m, a: m.array([1e-10], "f4").astype("f2"),
    "add": lambda m, a: a - a, "zero": lambda m, a: a * 0, "infinite": lambda m, a: 1 / (a * m.inf),
    "prod": lambda m, a: m.prod(a), "reciprocal": lambda m, a: m.reciprocal(a * 0 + 1.7e308),
    "many": lambda m, a: m.tile(a, 5000) * 1e-200, "in place": lambda m, a: m.multiply(a, a, out=a),
}  # fmt: skip


@pytest.mark.parametrize("name", UNDERFLOWS)
def test_underflow_is_told_where_it_is_wanted(name):
    x = np.array([1e-300, 1e-290, 3e-300])
    for errors in ({}, {"under": "raise"}, {"under": "warn"}, {"under": "ignore", "over": "raise"}):
        with np.errstate(**errors):
            for _ in range(2):  # the second call with operands of one kind is shorter
                wanted = outcome(UNDERFLOWS[name], np, x.copy())
                assert outcome(UNDERFLOWS[name], tn, tn.array(x)) == wanted, errors


def test_functions_of_others_tell_by_their_own_name():
    calls = [lambda m, a: m.divmod(a, 0), lambda m, a: divmod(a, 0), lambda m, a: m.divmod(a, a - a),
             lambda m, a: m.ldexp(a, 5000), lambda m, a: m.spacing(a / 0), lambda m, a: m.nextafter(a + 1.7e308, m.inf),
             lambda m, a: m.modf(a * m.inf), lambda m, a: m.reciprocal(a.astype("i4") * 0)]  # fmt: skip
    for call in calls:
        for x in ([1.0], [0.0, 2.0], [np.inf, 1.0]):
            with np.errstate(over="ignore"):
                x = np.array(x)
            assert told(call, tn, tn.array(x)) == told(call, np, x), x
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="divide by zero encountered in divmod"):
        divmod(tn.ones(3), 0)


def flat_put(a, values):
    a.flat[:] = values


WAYS = {
    "copyto": lambda m, a, x: m.copyto(a, x, casting="unsafe"), "astype": lambda m, a, x: x.astype(a.dtype),
    "where": lambda m, a, x: m.copyto(a, x, casting="unsafe", where=m.array([True, False, True])),
    "no element": lambda m, a, x: m.copyto(a, x, casting="unsafe", where=m.array([False, False, False])),
    "mask": lambda m, a, x: a.__setitem__([True, False, True], x[:2]), "fill": lambda m, a, x: a.fill(x[0]),
    "places": lambda m, a, x: a.__setitem__([0, 1], x[:2]), "rows": lambda m, a, x: a[None].__setitem__([0, 0], x),
    "flat": lambda m, a, x: flat_put(a, x), "part": lambda m, a, x: a.__setitem__(slice(None, None, -1), x),
    "put": lambda m, a, x: m.put(a, [0, 2], x[:2]), "asarray": lambda m, a, x: m.asarray(x, dtype=a.dtype),
    "steps": lambda m, a, x: m.array([[x[0]] * 4] * 3)[:, ::2].astype(a.dtype),
}  # fmt: skip
CASTS = [
    ("f2", 70000), ("f2", 70000.0), ("f2", np.float32(70000)), ("f2", np.uint16(65535)), ("f2", np.int16(32767)),
    ("f4", 1e300), ("f4", np.float32(np.inf)), ("c8", 2e300), ("c8", 2e300j), ("c8", np.complex64(1)), ("f8", 1e300),
    ("i4", np.float64("inf")), ("u1", np.float32("nan")), ("i8", np.float16("inf")), ("i4", complex(np.inf)),
    ("i4", 3.0), ("?", 1e300),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype, value", CASTS)
def test_casts_on_every_way(dtype, value, way):
    if way == "fill" and isinstance(value, complex) and dtype == "i4":
        pytest.skip("NumPy converts the one element by int(), which refuses it")
    seen = []
    for m in (np, tn):
        found = []
        for errors in ({}, {"all": "raise"}):
            with np.errstate(**errors), warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always", RuntimeWarning)
                try:
                    WAYS[way](m, m.zeros(3, dtype), m.array([value] * 3))
                except Exception as error:
                    found.append(type(error))
            found += [(str(each.message), each.category) for each in heard]
        seen.append(found)
    assert seen[0] == seen[1]


@pytest.mark.parametrize("n", [10, 1025, 5000])
@pytest.mark.parametrize("function", ["divide", "multiply", "add", "sqrt", "log", "exp", "floor_divide"])
def test_faults_in_place_and_of_chosen_elements_are_told(function: str, n: int) -> None:
    """Where errors are wanted, also of what the call overwrites and of some elements alone."""
    start = {"divide": 1.0, "floor_divide": 1.0, "sqrt": -1.0, "log": -1.0, "exp": 800.0}.get(function, 1e308)
    others = {"divide": (0.0,), "floor_divide": (0.0,), "multiply": (10.0,), "add": (1e308,)}.get(function, ())
    errors = []
    for m in (np, tn):
        x, first = m.full(n, start), m.arange(n) == 0
        f = getattr(m, function)
        calls = [
            lambda f=f, x=x: f(x.copy(), *others, out=x.copy()),
            lambda f=f, x=x, first=first, m=m: f(x, *others, where=first, out=m.zeros(n)),
            lambda f=f, x=x: f(x, *others, out=x),
        ]  # fmt: skip
        for call in calls:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                with pytest.raises(FloatingPointError) as error:
                    call()
            errors.append(str(error.value))
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            f(m.full(n, start), *others, where=m.zeros(n, bool), out=m.zeros(n))
    assert errors[:3] == errors[3:]


@pytest.mark.parametrize("n", [0, 3, 4096, 4097, 600000])
@pytest.mark.parametrize("name", ["prod", "sum"])
def test_folds_of_rows_without_elements_tell_nothing(n, name):
    with np.errstate(all="raise"):
        out = getattr(tn, name)(tn.empty((0, n)), axis=0, out=tn.empty(n))
        assert np.array_equal(np.asarray(out), np.full(n, float(name == "prod")))
        getattr(tn, name)(tn.empty((0, n)), axis=0, initial=0.0, out=out)
        assert getattr(tn, name)(tn.empty((n, 0)), axis=1, out=tn.empty(n)).shape == (n,)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_and_quotients_that_are_tiny_underflow_where_they_are_not_exact(dtype):
    rng = np.random.default_rng(7)
    least = np.finfo(dtype).smallest_subnormal
    digits = np.finfo(dtype).nmant + 1
    for k in range(300):
        x, y = (np.array([rng.integers(1, 1 << int(rng.integers(1, digits + 1)))], dtype) for _ in range(2))
        x = np.ldexp(x, -int(rng.integers(1, 30)))
        y = np.ldexp(y, int(np.log2(least)) - int(rng.integers(-8, 30)) + 30).astype(dtype)
        for name, a, b in (("multiply", x, y), ("divide", y, x), ("divide", y * least, y)):
            found = []
            for m in (np, tn):
                with np.errstate(all="ignore", under="raise"):
                    try:
                        getattr(m, name)(m.asarray(a), m.asarray(b))
                        found.append(False)
                    except FloatingPointError:
                        found.append(True)
            assert found[0] == found[1], (k, name, a, b)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_powers_of_two_below_the_least_number_underflow(dtype):
    least = int(np.log2(float(np.finfo(dtype).smallest_subnormal)))
    for exponent in (least - 11, least - 1, least, least + 1, 0):
        if exponent < least:
            with np.errstate(under="raise"), pytest.raises(FloatingPointError, match="underflow encountered in exp2"):
                tn.exp2(tn.array([exponent], dtype))
        else:
            with np.errstate(under="raise"):
                assert tn.exp2(tn.array([exponent], dtype))[0] == 2.0**exponent


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_neighbours_below_the_least_whole_number_underflow_as_cs(dtype):
    tiny, least = np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal
    for x, y in [(0, 1), (tiny, 0), (tiny, 1), (least, 0), (0, 0), (least, least), (0, -0.0), (-0.0, -1), (2 * tiny, 0),
                 (0, np.inf), (0, np.nan)]:  # fmt: skip
        found = []
        for m in (np, tn):
            try:
                with np.errstate(all="ignore", under="raise"):
                    m.nextafter(m.array([x], dtype), m.array([y], dtype))[0]
                found.append(False)
            except FloatingPointError:
                found.append(True)
        assert found[0] == found[1], (x, y)


# What one look decides: operands that are good, and each kind of bad one, at the first, a middle and the last place.
LOOKED_AT = {
    "by a number": (lambda m, a, b: a // 7, "i8", []), "by zero": (lambda m, a, b: a // 0, "i8", []),
    "by minus one": (lambda m, a, b: a // -1, "i2", [-(1 << 15)]), "rest of it": (lambda m, a, b: a % 3, "u1", []),
    "quotient": (lambda m, a, b: b // a, "i4", [0, -1]), "rest": (lambda m, a, b: m.fmod(b, a), "i8", [0, -1]),
    "unsigned": (lambda m, a, b: b % a, "u2", [0, 65535]), "by pairs": (lambda m, a, b: b[::2] // a[::2], "i8", [0]),
    "half as wide": (lambda m, a, b: a.astype("f4"), "f8", [1e39, np.inf, np.nan, -1e300]),
    "to int32": (lambda m, a, b: a.astype("i4"), "f8", [2.0**31, -(2.0**31), -(2.0**31) - 0.5, np.nan, -0.0]),
    "to int64": (lambda m, a, b: a.astype("i8"), "f4", [2.0**63, -(2.0**63), 2.0**62, np.nan]),
    "to int8": (lambda m, a, b: a[::-1].astype("i1"), "f8", [300.0, -2e9, 3e9]),
    "to uint32": (lambda m, a, b: a.astype("u4"), "f8", [-0.5, -1.0, 2.0**32, 2.0**32 - 1, -0.0]),
    "to uint64": (lambda m, a, b: a.astype("u8"), "f4", [-0.5, 2.0**64, 2.0**63, np.inf]),
    "to complex64": (lambda m, a, b: a.astype("c8"), "c16", [1e39j, np.nan]),
    "columns": (lambda m, a, b: a.reshape(-1, 4).T.astype("i4"), "f8", [3e9]),
    "part": (lambda m, a, b: m.ones(a.size, "i4").__setitem__(slice(None, None, 2), a[::2]), "f8", [3e9]),
    "root": (lambda m, a, b: m.sqrt(a), "f8", [-1.0]), "pole": (lambda m, a, b: b / a, "f8", [0.0, np.inf]),
    "too large": (lambda m, a, b: a * a, "f8", [1e200]),
}  # fmt: skip


@pytest.mark.parametrize("count", [4, 100, 1000, 4096, 4100])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_one_look_finds_what_each_element_would_tell(name, count):
    call, dtype, bad = LOOKED_AT[name]
    good = (np.arange(count) % 50 + 1).astype(dtype)
    sources = [good] * 4  # the same call again: code and what is looked at are known
    for value in bad:
        for place in (0, count // 2, count - 1):
            sources.append(good.copy())
            sources[-1][place] = value
    if name == "too large" and count > 4096:  # products of many tell nothing
        return
    with np.errstate(all="ignore"):
        wanted = [call(np, a, good) for a in sources]
    for a, value in zip(sources, wanted, strict=True):
        x, y = tn.array(a), tn.array(good)
        assert told(lambda m, a: call(m, a, y if m is tn else good), tn, x) == told(
            lambda m, a: call(m, a, good), np, a
        )
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(np.asarray(call(tn, x, y)), value)


@pytest.mark.parametrize("n", [3, 5000, 100000])
def test_what_a_mask_leaves_out_is_told_of_by_none(n):
    """Also where the result is cast to a narrower array."""
    zero = np.ones(n)
    zero[1] = 0
    big = np.where(zero > 0, 2.0, 1e300)
    calls = {
        "divide": lambda m, z, b, o: m.divide(1.0, z, out=o, where=z != 0),
        "log": lambda m, z, b, o: m.log(z, out=o, where=z > 0),
        "power": lambda m, z, b, o: m.power(b, 2, out=o, where=b < 9),
        "add": lambda m, z, b, o: m.add(b, b, out=o, where=b < 9),
        "told": lambda m, z, b, o: m.add(b, b, out=o, where=b > 9),
        "integers": lambda m, z, b, o: m.floor_divide(1.0, z, out=o, where=z != 0, casting="unsafe"),
    }
    for name, call in calls.items():
        dtype = "i4" if name == "integers" else "f4"
        results = []
        for m in (np, tn):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                made = np.asarray(call(m, m.array(zero), m.array(big), m.full(n, 7, dtype)))
            results.append((made, [str(each.message) for each in seen]))
        np.testing.assert_array_equal(results[1][0], results[0][0], name)
        assert results[1][1] == results[0][1], name
        if name != "told":
            with tn.errstate(all="raise"):
                call(tn, tn.array(zero), tn.array(big), tn.full(n, 7, dtype))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="NumPy converts what does not fit as the processor does")
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("count", [1, 7, 8, 9, 1000, 5000])
def test_what_does_not_fit_in_uint32_is_numpys(dtype, count):
    """NumPy converts four float32 or float64 of a row at once, those that are left, and float16, another way."""
    with np.errstate(all="ignore"):
        for value in (np.nan, np.inf, -np.inf, -1.5, 7e4, -5e9, 5e9, 2.0**32, 1e19, -1e19):
            a = np.full(count, value, dtype)
            a[1::3] = 1
            x = tn.array(a)
            for _ in range(3):  # the same call again: code is known
                np.testing.assert_array_equal(np.asarray(x.astype("u4")), a.astype("u4"))
            if count < 5000:
                np.testing.assert_array_equal(np.asarray(x[::-1].astype("u4")), a[::-1].astype("u4"))
                out, to = np.zeros((count, 2), "u4"), tn.zeros((count, 2), "u4")
                out[:, 0], to[:, 0] = a, x
                np.testing.assert_array_equal(np.asarray(to), out)
                two, also = np.stack([a, a, a]), tn.stack([x, x, x])
                np.testing.assert_array_equal(np.asarray(also.astype("u4")), two.astype("u4"))
                part, of = also[:, :-1], two[:, :-1]
                np.testing.assert_array_equal(np.asarray(part.astype("u4")), of.astype("u4"))
                np.testing.assert_array_equal(np.asarray(also.T.astype("u4")), two.T.astype("u4"))
