# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLC3002, RUF015, B023, SIM201
"""Values known at compile time and the run-time scalars among them: tuples, comprehensions, typed constants,
literals that meet bools, division by zero."""

import functools

import ml_dtypes
import numpy as np
import pytest
import tessera.tile as ct
from lower import LowerError, lower, run
from lower import array as array_spec


def ints(kernel, *args, n=8, grid=(1, 1, 1)):
    """What a kernel writes into an array of int32 zeros."""
    out = np.zeros(n, np.int32)
    run(kernel, out, *args, grid=grid)
    return out.tolist()


# ---- comprehensions --------------------------------------------------------------------------------


def test_lambdas_of_a_comprehension_share_its_last_value():
    def kernel(out):
        functions = tuple(lambda: s for s in ct.static_iter(range(3)))
        called = tuple((lambda: s)() for s in ct.static_iter(range(3)))
        nested = tuple(tuple(lambda: j for j in ct.static_iter(range(1, 4)))[0]() + i for i in ct.static_iter(range(2)))
        s = 40
        values = (functions[0](), called[0], called[1], *nested, functions[2](), s)
        for i, v in ct.static_iter(enumerate(values)):
            ct.scatter(out, i, v)

    assert ints(kernel) == [2, 0, 1, 3, 4, 2, 40, 0]


def make_adders(values):
    return tuple(lambda x, v=v: x + v for v in ct.static_iter(values))


def test_closures_outlive_the_call_and_the_comprehension_they_come_from():
    def kernel(out, n):
        adders = make_adders((n, 10))
        ct.scatter(out, 0, adders[0](1))
        ct.scatter(out, 1, adders[1](1))

    assert ints(kernel, 5, n=2) == [6, 11]


s = (1, 2, 3)


def test_a_comprehension_runs_over_what_its_name_means_outside():
    def kernel(out):
        found = tuple(s for s in ct.static_iter(s))
        n = 2
        more = tuple(a + b + n for n, (a, b) in ct.static_iter(((n, (3, 4)),)))
        ct.scatter(out, 0, found[2])
        ct.scatter(out, 1, more[0])

    assert ints(kernel, n=2) == [3, 9]


# ---- tuples with scalars of run time ------------------------------------------------------------------

COMPARISONS = [  # of a = 0, 1, 2, 3
    (lambda a: (a,) == (0,), [1, 0, 0, 0]),
    (lambda a: (a,) != (0,), [0, 1, 1, 1]),
    (lambda a: ((a, 1), 2) == ((0, 1), 2), [1, 0, 0, 0]),
    (lambda a: ((a, 1), "x", None) != ((0, 1), "x", None), [0, 1, 1, 1]),
    (lambda a: (a, 1) in ((0, 1), (2, 1)), [1, 0, 1, 0]),
    (lambda a: a in (0, 2), [1, 0, 1, 0]),
    (lambda a: a not in (0, 2), [0, 1, 0, 1]),
    (lambda a: a in (), [0, 0, 0, 0]),
    (lambda a: (a, a) == (a, a), [1, 1, 1, 1]),
    (lambda a: (a, 1) == (a, 1, 2), [0, 0, 0, 0]),
    (lambda a: (a, 1) != (a, 2), [1, 1, 1, 1]),
    (lambda a: (a, 1.5) == (2, 1.5) or a == 0, [1, 0, 1, 0]),
    (lambda a: not ((a, "x") == (a, "y")), [1, 1, 1, 1]),
    (lambda a: (a, None) == (a, 1), [0, 0, 0, 0]),
    (lambda a: 2 in (2, ct.ones((4,), ct.int32)), [1, 1, 1, 1]),
]


@pytest.mark.parametrize("at", range(len(COMPARISONS)))
def test_tuples_compare_item_by_item(at):
    function, wanted = COMPARISONS[at]

    def kernel(out):
        a = ct.bid(0)
        ct.scatter(out, a, 1 if function(a) else 0)

    assert ints(kernel, n=4, grid=(4, 1, 1)) == wanted


@pytest.mark.parametrize(
    "function, text",
    [
        (lambda t, x: (t,) == (t,), "found: float32 tile of shape (16,)"),
        (lambda t, x: (1, (x,)) == (2, (x,)), "found: float32 array of rank 1"),
        (lambda t, x: 2 in (1, t, 2), "found: float32 tile of shape (16,)"),
        (lambda t, x: t in (1, 2), "found: float32 tile of shape (16,)"),
        (lambda t, x: (1, ct.bid(0)) < (1, ct.bid(1)), "tuples of what the kernel computes have == and !="),
    ],
)
def test_tiles_and_arrays_in_compared_tuples_are_refused(function, text):
    def kernel(x):
        t = ct.load(x, 0, 16)
        if function(t, x):
            ct.store(x, 0, t)

    with pytest.raises(LowerError) as caught:
        lower(kernel, array_spec())
    assert caught.value.status == "TILETYPE" and text in str(caught.value)


# ---- constants have the precision of their dtype ------------------------------------------------------

FLOATS = {
    "float16": np.float16, "float32": np.float32, "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2, "float8_e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "float4_e2m1fn": ml_dtypes.float4_e2m1fn,
}  # fmt: skip
VALUES = (0.1, 0.2, 0.3, 1.0, 3.3, 5.75, 1e-9)


def by_dtype(name, value):
    if name == "tfloat32":
        bits = np.array(value, np.float32).view(np.uint32)
        return (bits + 0xFFF + (bits >> 13 & 1) & 0xFFFFE000).astype(np.uint32).view(np.float32)
    return np.array(value).astype(FLOATS[name])


@pytest.mark.parametrize("name", [*FLOATS, "tfloat32"])
def test_a_typed_constant_is_rounded_wherever_it_is_made(name):
    dtype = getattr(ct, name)
    scalars = name != "float4_e2m1fn"
    host = by_dtype(name, 0.3) if scalars and name != "tfloat32" else None

    def kernel(out):
        for i, v in ct.static_iter(enumerate(VALUES)):
            ct.scatter(out, i, ct.max(ct.astype(ct.full((2,), v, dtype), ct.float64)))
            ct.scatter(out, 10 + i, ct.astype(ct.astile(v, dtype=dtype), ct.float64))
            if scalars:
                ct.scatter(out, 20 + i, ct.float64(dtype(v)))
        if host is not None:
            ct.scatter(out, 30, ct.float64(host))

    out = np.zeros(31)
    run(kernel, out)
    wanted = np.array([float(by_dtype(name, v)) for v in VALUES])
    np.testing.assert_array_equal(out[:7], wanted)
    np.testing.assert_array_equal(out[10:17], wanted)
    if scalars:
        np.testing.assert_array_equal(out[20:27], wanted)
    if host is not None:
        assert out[30] == float(host)


def test_a_constant_that_is_too_great_saturates_as_conversions_do():
    def kernel(out):
        ct.scatter(out, 0, ct.float64(ct.float8_e4m3fn(1000.0)))
        ct.scatter(out, 1, ct.float64(ct.float16(1e9)))
        ct.scatter(out, 2, ct.float64(ct.float8_e5m3fnu(0.3)))

    out = np.zeros(3)
    run(kernel, out)
    assert out.tolist() == [448.0, np.inf, 0.3125]


@pytest.mark.parametrize("target", [0, 90])
def test_a_constant_infinity_is_kept_where_the_type_has_one(target):
    def kernel(out):
        for i, dtype in ct.static_iter(enumerate((ct.float8_e5m2, ct.float16, ct.float8_e4m3fn))):
            ct.scatter(out, 4 * i, ct.float64(dtype(float("inf"))))
            ct.scatter(out, 4 * i + 1, ct.float64(dtype(-float("inf"))))
            ct.scatter(out, 4 * i + 2, ct.max(ct.astype(ct.full((2,), float("inf"), dtype), ct.float64)))
            ct.scatter(out, 4 * i + 3, ct.max(ct.astype(ct.astype(ct.gather(out, 12), dtype), ct.float64)))

    out = np.append(np.zeros(12), np.inf)
    run(kernel, out, target=target)
    kept = [np.inf, -np.inf, np.inf]
    assert out[:12].tolist() == [*kept, 57344.0, *kept, np.inf, 448.0, -448.0, 448.0, 448.0]


def test_integer_constants_wrap_and_floats_are_cut():
    def kernel(out):
        values = (ct.int8(300), ct.uint8(-1), ct.int8(2.5), ct.int8(-2.5), ct.uint32(-3), ct.float16(1e6), ct.bool_(5))
        for i, v in ct.static_iter(enumerate(values)):
            ct.scatter(out, i, ct.float64(v))

    out = np.zeros(7)
    run(kernel, out)
    assert out.tolist() == [44, 255, 2, -2, 2**32 - 3, np.inf, 1]


def test_a_store_rounds_ints_to_the_nearest_float():
    def kernel(x, y, z):
        ct.store(y, 0, ct.load(x, 0, 2))
        ct.store(z, 0, ct.load(x, 0, 2))

    x, y, z = np.array([2**24 + 1, 2**24 + 3], np.int32), np.zeros(2, np.float32), np.zeros(2, np.float16)
    run(kernel, x, y, z)
    assert y.tolist() == [2**24, 2**24 + 4] and z.tolist() == [np.inf, np.inf]


UNHELD = [
    ("a sign", lambda: ct.float8_e8m0fnu(-0.2)),
    ("a sign", lambda: ct.full((2,), -1.0, ct.float8_e8m0fnu)),
    ("a sign", lambda: ct.astile((1.0, -1.0), dtype=ct.float8_e5m3fnu)),
    ("a sign", lambda: ct.where(ct.bid(0) > 0, ct.full((2,), 1, ct.float8_e8m0fnu), -2.0)),
    ("a NaN", lambda: ct.full((2,), float("nan"), ct.float4_e2m1fn)),
]


@pytest.mark.parametrize("at", range(len(UNHELD)))
def test_what_a_format_cannot_hold_is_refused(at):
    what, make = UNHELD[at]

    def kernel(x):
        make()

    with pytest.raises(LowerError, match=f"cannot hold {what}") as caught:
        lower(kernel, array_spec())
    assert caught.value.status == "TILEVALUE"


@pytest.mark.parametrize("function", [lambda: -ct.float8_e4m3fn(1.0), lambda: ct.float8_e5m2(1) < ct.float8_e5m2(2)])
def test_storage_types_compute_nothing_as_constants_either(function):
    def kernel(x):
        function()

    with pytest.raises(LowerError, match="storage type"):
        lower(kernel, array_spec())


# ---- bools ----------------------------------------------------------------------------------------------


def test_zero_and_one_become_bools():
    def kernel(x, y, index):
        t = ct.gather(x, ct.load(index, 0, 4))
        ct.store(y, 0, t)
        ct.scatter(y, 0, 1)
        ct.store(y, (1,), ct.gather(x, ct.load(index, 0, 4), padding_value=1))
        ct.scatter(x, 1, 0)

    x, y = np.array([True, True, False]), np.zeros(8, bool)
    run(kernel, x, y, np.array([5, 0, -1, 1], np.int32))
    assert y.tolist() == [True, True, False, True, True, True, True, True]
    assert x.tolist() == [True, False, False]


def test_other_numbers_do_not_become_bools():
    def kernel(x):
        ct.scatter(x, 0, 2)

    with pytest.raises(LowerError, match="constant 2 cannot become bool_ implicitly"):
        lower(kernel, array_spec("bool_"))


# ---- division by zero -------------------------------------------------------------------------------------

DIVIDENDS, DIVISORS = [-7, 7, 100, 0, -128, 5, 3, 1], [0, 2, 0, 0, 0, -2, 0, 1]


@ct.kernel
def divide_tiles(x, y, out):
    a, b = ct.load(x, 0, 8), ct.load(y, 0, 8)
    ct.store(out, (0, 0), (a // b)[None, :])
    ct.store(out, (1, 0), (a % b)[None, :])
    ct.store(out, (2, 0), ct.cdiv(a, b)[None, :])


@ct.kernel
def divide_scalars(x, y, out):
    i = ct.bid(0)
    a, b = ct.gather(x, i), ct.gather(y, i)
    ct.scatter(out, (0, i), a // b)
    ct.scatter(out, (1, i), a % b)
    ct.scatter(out, (2, i), ct.cdiv(a, b))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint32, np.uint64])
@pytest.mark.parametrize("kernel, blocks", [(divide_tiles, 1), (divide_scalars, 8)])
def test_division_by_zero_gives_zero_in_tiles_and_scalars_everywhere(dtype, kernel, blocks):
    x, y = np.array(DIVIDENDS).astype(dtype), np.array(DIVISORS).astype(dtype)
    seen, ran = np.full((3, 8), 99, dtype), np.full((3, 8), 99, dtype)
    run(kernel._function, x, y, seen, grid=(blocks, 1, 1))
    ct.launch(None, (blocks,), kernel, (x, y, ran))
    with np.errstate(all="ignore"):
        wanted = np.stack([x // y, x % y,
            np.where(y == 0, 0, -(-x.astype(object) // np.where(y == 0, 1, y))).astype(dtype)])
    np.testing.assert_array_equal(seen, wanted)
    np.testing.assert_array_equal(ran, wanted)


# ---- builtins ---------------------------------------------------------------------------------------


def test_round_is_pythons():
    def kernel(out, x, n):
        digits = round(1234.5678, 3) == 1234.568 and round(2.5, None) == 2 and round(0.15, 1) == 0.1
        t = round(ct.astype(ct.arange(4, dtype=ct.int32), ct.float32) * 0.5)
        values = (round(2.5), round(-3.5), round(7), round(True), round(x), round(n), digits, ct.sum(t))
        for i, v in ct.static_iter(enumerate(values)):
            ct.scatter(out, i, ct.astype(v, ct.int32))
        ct.static_assert(t.dtype == ct.float32)

    assert ints(kernel, 3.5, 9) == [2, -4, 7, 1, 4, 9, 1, 0 + 0 + 1 + 2]
    assert ints(kernel, -2.5, -9)[4:6] == [-2, -9]


def test_any_and_all_of_run_time_scalars():
    def kernel(out, n):
        t = ct.arange(4, dtype=ct.int32)
        values = (
            any((n > 1, n > 5)), all((n > 1, n > 5)), any((n, 0)), all((n, 1, n > 2)), any((n > 100, True)),
            all((n > 100, False)), any(x > n for x in ct.static_iter((1, 2, 3))), any((ct.sum(t) > n, n > 100)),
        )  # fmt: skip
        for i, v in ct.static_iter(enumerate(values)):
            ct.scatter(out, i, ct.astype(v, ct.int32))

    for n in (0, 2, 3, 6, 7):
        want = [n > 1 or n > 5, n > 5, n != 0, n > 2, True, False, n < 3, n < 6]
        assert ints(kernel, n) == [int(w) for w in want], n


def test_dicts_are_merged_and_sets_searched():
    outer = {"a": 1, "b": 2}

    def kernel(out, n):
        d = {"z": 0, **outer, "b": 5, **{"c": n}}
        known = tuple(d.keys()) == ("z", "a", "b", "c") and "q" not in {"a", "b"} and 3 in {1, 2, 3}
        values = (d["c"] + d["a"], n in {4, 7}, known, d["b"])
        for i, v in ct.static_iter(enumerate(values)):
            ct.scatter(out, i, ct.astype(v, ct.int32))

    assert ints(kernel, 7)[:4] == [8, 1, 1, 5] and ints(kernel, 5)[:4] == [6, 0, 1, 5]


class Space:
    """A class that is nothing else in kernels: a place for names."""

    K = 3

    class Inner:
        Z = 4

    @staticmethod
    def add(t, n=1):
        return t + n + Space.K

    def plain(self):
        return self * 2


def test_classes_hold_constants_and_functions():
    def kernel(out):
        values = (Space.K, Space.Inner.Z, Space.add(1), Space.add(1, n=Space.Inner.Z), Space.plain(5))
        for i, v in ct.static_iter(enumerate(values)):
            ct.scatter(out, i, v)

    def missing(out):
        ct.scatter(out, 0, Space.Q)

    assert ints(kernel)[:5] == [3, 4, 5, 8, 10]
    with pytest.raises(LowerError, match="'Space'.* has no attribute 'Q'"):
        run(missing, np.zeros(8, np.int32))


def weighted(a, b, c=1, *, d=0):
    return a * b + c + d


TWICE = functools.partial(weighted, 2)
MOVED = functools.partial(TWICE, c=7)


def test_partial_functions_are_called():
    by_name = functools.partial(weighted, b=3, d=5)
    total = functools.partial(ct.sum, axis=0)

    def kernel(out):
        t = ct.arange(4, dtype=ct.int32)
        values = (TWICE(5), TWICE(5, 2, d=3), MOVED(4, d=1), by_name(2, c=9), by_name(2, d=0), total(t), MOVED(1, c=0))
        for i, v in ct.static_iter(enumerate(values)):
            ct.scatter(out, i, v)

    def many(out):
        ct.scatter(out, 0, TWICE(1, 2, 3))

    want = [TWICE(5), TWICE(5, 2, d=3), MOVED(4, d=1), by_name(2, c=9), by_name(2, d=0), 6, MOVED(1, c=0)]
    assert ints(kernel)[:7] == want
    with pytest.raises(LowerError, match=r"weighted\(\) takes .* arguments, got 4"):
        run(many, np.zeros(8, np.int32))
