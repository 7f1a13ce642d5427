# SPDX-License-Identifier: Apache-2.0
"""What kernels compute: lowered, then run by the reference interpreter, against NumPy."""

import math

import numpy as np
import pytest
import tessera.tile as ct
from lower import Const as C
from lower import run

RNG = np.random.default_rng(7)


def f32(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def i32(*shape, low=-20, high=20):
    return RNG.integers(low, high, shape).astype(np.int32)


# ---- one input, one output, one block of 16 --------------------------------------------------------


def apply(function, x, out_dtype=None, n=16):
    """Runs out = function(x tile) over one block."""

    def kernel(x, out):
        ct.store(out, 0, function(ct.load(x, 0, n)))

    out = np.zeros(x.shape, out_dtype or x.dtype)
    run(kernel, x, out)
    return out


UNARY = [
    ("neg", lambda x: -x, lambda x: -x),
    ("plus", lambda x: +x, lambda x: x),
    ("abs", lambda x: abs(x), np.abs),
    ("-inf", lambda x: ct.where(x > 0, x, float("-inf")), lambda x: np.where(x > 0, x, -np.inf)),
    ("nan", lambda x: ct.where(x > 0, x, float("nan")), lambda x: np.where(x > 0, x, np.nan)),
    ("exp", lambda x: ct.exp(x), np.exp),
    ("exp2", lambda x: ct.exp2(x), np.exp2),
    ("log", lambda x: ct.log(abs(x)), lambda x: np.log(np.abs(x))),
    ("log2", lambda x: ct.log2(abs(x) + 1), lambda x: np.log2(np.abs(x) + 1)),
    ("sqrt", lambda x: ct.sqrt(abs(x)), lambda x: np.sqrt(np.abs(x))),
    ("rsqrt", lambda x: ct.rsqrt(abs(x) + 1), lambda x: 1 / np.sqrt(np.abs(x) + 1)),
    ("sin", lambda x: ct.sin(x), np.sin),
    ("cos", lambda x: ct.cos(x), np.cos),
    ("tan", lambda x: ct.tan(x), np.tan),
    ("sinh", lambda x: ct.sinh(x), np.sinh),
    ("cosh", lambda x: ct.cosh(x), np.cosh),
    ("tanh", lambda x: ct.tanh(x), np.tanh),
    ("floor", lambda x: ct.floor(x * 3), lambda x: np.floor(x * 3)),
    ("ceil", lambda x: ct.ceil(x * 3), lambda x: np.ceil(x * 3)),
    ("square", lambda x: x**2, lambda x: x**2),
    ("cube", lambda x: x**3, lambda x: x**3),
    ("power5", lambda x: x**5, lambda x: x**5),
    ("power0", lambda x: x**0, lambda x: np.ones_like(x)),
    ("inverse", lambda x: x**-1, lambda x: 1 / x),
    ("root", lambda x: abs(x) ** 0.5, lambda x: np.abs(x) ** 0.5),
    ("floordiv", lambda x: x // 0.3, lambda x: np.floor(x / np.float32(0.3))),
    ("mod", lambda x: x % 0.7, lambda x: np.mod(x, np.float32(0.7))),
    ("atan2", lambda x: ct.atan2(x, 0.5), lambda x: np.arctan2(x, np.float32(0.5))),
    ("where", lambda x: ct.where(x > 0, x, 0.0), lambda x: np.where(x > 0, x, 0)),
    ("clamp", lambda x: min(max(x, -0.5), 0.5), lambda x: np.clip(x, -0.5, 0.5)),
    ("chain", lambda x: ct.where((x > -1) & (x < 1), 1.0, 0.0), lambda x: ((x > -1) & (x < 1)).astype(np.float32)),
    ("math_on_tile", lambda x: math.sin(x) + math.pi, lambda x: np.sin(x) + np.float32(math.pi)),
    ("reshape", lambda x: ct.reshape(ct.reshape(x, (4, 4)), (-1,)), lambda x: x),
    ("transpose", lambda x: ct.reshape(ct.transpose(ct.reshape(x, (2, 8))), (16,)),
        lambda x: x.reshape(2, 8).T.ravel()),
    ("permute", lambda x: x.reshape((2, 2, 4)).permute((2, 0, 1)).reshape(16),
        lambda x: x.reshape(2, 2, 4).transpose(2, 0, 1).ravel()),
    ("none_index", lambda x: ct.reshape(x[None, :] + x[:, None], (256,)).extract(0, 16), lambda x: x + x[0]),
    ("softmax", lambda x: ct.exp(x - ct.max(x)) / ct.sum(ct.exp(x - ct.max(x))),
        lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum()),
    ("cumsum", lambda x: ct.cumsum(x), np.cumsum),
    ("cumsum_reverse", lambda x: ct.cumsum(x, 0, reverse=True), lambda x: np.cumsum(x[::-1])[::-1]),
    ("cumprod", lambda x: ct.cumprod(x), np.cumprod),
    ("prod", lambda x: x * 0 + ct.prod(x), lambda x: np.full_like(x, x.prod())),
    ("f16", lambda x: ct.astype(ct.astype(x, ct.float16), ct.float32),
        lambda x: x.astype(np.float16).astype(np.float32)),
    ("trunc", lambda x: ct.astype(ct.astype(x * 5, ct.int32), ct.float32), lambda x: np.trunc(x * 5)),
    ("bits", lambda x: ct.bitcast(ct.bitcast(x, ct.int32) & 0x7FFFFFFF, ct.float32), np.abs),
    ("bytes", lambda x: ct.unpack_from_bytes(ct.pack_to_bytes(x), ct.float32), lambda x: x),
    ("insert", lambda x: ct.insert(x, 1, x.extract(0, 8)), lambda x: np.concatenate([x[:8], x[:8]])),
    ("insert_one", lambda x: x.insert(3, 9.0), lambda x: np.concatenate([x[:3], [9], x[4:]])),
    ("cat", lambda x: ct.cat((x.extract(1, 8), x.extract(0, 8)), 0), lambda x: np.roll(x, 8)),
    ("item", lambda x: x + x.extract(2, 1).item(), lambda x: x + x[2]),
    ("scalar_extract", lambda x: x + ct.extract(x, (5,), ()), lambda x: x + x[5]),
    ("round_mode", lambda x: ct.add(x, 1.0, rounding_mode=ct.RoundingMode.RN), lambda x: x + 1),
]  # fmt: skip


@pytest.mark.parametrize("name,kernel,want", UNARY, ids=[row[0] for row in UNARY])
def test_float_expression(name, kernel, want):
    x = f32(16)
    np.testing.assert_allclose(apply(kernel, x), want(x).astype(np.float32), rtol=2e-6, atol=1e-6)


INTEGER = [
    ("floordiv", lambda x: x // 3, lambda x: x // 3),
    ("floordiv_negative", lambda x: x // -3, lambda x: x // -3),
    ("mod", lambda x: x % 7, lambda x: x % 7),
    ("mod_negative", lambda x: x % -7, lambda x: x % -7),
    ("mod_power", lambda x: x % 8, lambda x: x % 8),
    ("cdiv", lambda x: ct.cdiv(x, 3), lambda x: -(-x // 3)),
    ("divmod", lambda x: divmod(x, 5)[0] * 5 + divmod(x, 5)[1], lambda x: x),
    ("shift", lambda x: (x << 3) >> 1, lambda x: (x << 3) >> 1),
    ("bits", lambda x: (x & 12) | (x ^ 5), lambda x: (x & 12) | (x ^ 5)),
    ("invert", lambda x: ~x, lambda x: ~x),
    ("power", lambda x: x**3, lambda x: x**3),
    ("minmax", lambda x: ct.minimum(ct.maximum(x, -3), 4), lambda x: np.clip(x, -3, 4)),
    ("where", lambda x: ct.where(x % 2 == 0, x, -x), lambda x: np.where(x % 2 == 0, x, -x)),
    ("compare", lambda x: ct.astype(x >= 2, ct.int32), lambda x: (x >= 2).astype(np.int32)),
    ("bool_sum", lambda x: x * 0 + ct.sum(x > 0), lambda x: np.full_like(x, (x > 0).sum())),
    ("arange", lambda x: x + ct.arange(16, dtype=ct.int32, start=5, step=2), lambda x: x + 5 + 2 * np.arange(16)),
    ("astile", lambda x: x + ct.reshape(ct.astile(((1, 2), (3, 4))), (4, 1)).reshape(4).extract(2, 1), lambda x: x + 3),
    ("narrow", lambda x: ct.astype(ct.astype(x * 100, ct.int8), ct.int32),
        lambda x: (x * 100).astype(np.int8).astype(np.int32)),
    ("unsigned", lambda x: ct.astype(ct.astype(x, ct.uint8), ct.int32), lambda x: x.astype(np.uint8).astype(np.int32)),
]  # fmt: skip


@pytest.mark.parametrize("name,kernel,want", INTEGER, ids=[row[0] for row in INTEGER])
def test_integer_expression(name, kernel, want):
    x = i32(16)
    np.testing.assert_array_equal(apply(kernel, x), want(x))


REDUCTIONS = [
    ("sum", lambda x: ct.sum(x, 1), lambda x: x.sum(1)),
    ("sum_axis0", lambda x: ct.sum(x, 0), lambda x: x.sum(0)),
    ("sum_both", lambda x: ct.sum(x, (0, 1)), lambda x: x.sum()),
    ("max", lambda x: ct.max(x, 1), lambda x: x.max(1)),
    ("min_keep", lambda x: ct.min(x, 1, keepdims=True).reshape(4), lambda x: x.min(1)),
    ("argmax", lambda x: ct.argmax(x, 1), lambda x: x.argmax(1)),
    ("argmin_negative_axis", lambda x: ct.argmin(x, -1), lambda x: x.argmin(1)),
    ("argmax_flat", lambda x: ct.argmax(x), lambda x: x.argmax()),
    ("reduce", lambda x: ct.reduce(x, 1, lambda a, b: a + b, 0), lambda x: x.sum(1)),
    ("reduce_pair", lambda x: ct.reduce((x, -x), 1, lambda a, b, c, d: (max(a, c), min(b, d)), (-1e30, 1e30))[1],
        lambda x: -x.max(1)),
    ("reduce_op", lambda x: ct.reduce(x, 1, ct.maximum, -1e30), lambda x: x.max(1)),
    ("scan", lambda x: ct.sum(ct.scan(x, 1, lambda a, b: a + b, 0.0), 1), lambda x: np.cumsum(x, 1).sum(1)),
]  # fmt: skip


@pytest.mark.parametrize("name,body,want", REDUCTIONS, ids=[row[0] for row in REDUCTIONS])
def test_reduction(name, body, want):
    x = f32(4, 8)

    def kernel(x, out):
        ct.store(out, (0,), ct.astype(body(ct.load(x, (0, 0), (4, 8))), ct.float32))

    out = np.zeros(np.atleast_1d(want(x)).shape, np.float32)
    run(kernel, x, out)
    np.testing.assert_allclose(out, want(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("propagate,want", [(False, 2), (True, 1)])
def test_argmax_skips_nan_unless_it_propagates(propagate, want):
    x = np.array([1, np.nan, 3, 3], np.float32)

    def kernel(x, out, P):
        ct.store(out, (0,), ct.argmax(ct.load(x, 0, 4), propagate_nan=P))

    out = np.zeros(1, np.int32)
    run(kernel, x, out, C(propagate))
    assert out[0] == want


# Lines without a number, and without a positive zero: an identity that is not neutral would show.
NEUTRAL = [
    ("max", lambda x: ct.max(x), np.nan, np.nan),
    ("min", lambda x: ct.min(x), np.nan, np.nan),
    ("max_propagates", lambda x: ct.max(x, propagate_nan=True), np.nan, np.nan),
    ("max_of_infinities", lambda x: ct.max(x), -np.inf, -np.inf),
    ("sum", lambda x: ct.sum(x), -0.0, -0.0),
    ("sum_down", lambda x: ct.sum(x, rounding_mode=ct.RoundingMode.RM), 0.0, 0.0),
    ("prod", lambda x: ct.prod(x), -0.0, 0.0),
]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name,body,fill,want", NEUTRAL, ids=[row[0] for row in NEUTRAL])
def test_reductions_start_at_the_neutral_element(name, body, fill, want, dtype):
    if dtype == np.float16 and name == "sum_down":
        pytest.skip("rounding modes are for float32 and float64")
    x = np.full(16, fill, dtype)
    found = apply(lambda t: ct.ones(16, t.dtype) * body(t), x)
    np.testing.assert_array_equal(found, np.full(16, want, dtype))
    assert (np.signbit(found) == np.signbit(dtype(want))).all() or np.isnan(want)


def test_int8_sum_wraps_in_int8():
    x = np.full(16, 100, np.int8)
    assert (apply(lambda t: t * 0 + ct.sum(t), x) == np.int8(1600 & 0xFF)).all()


# ---- promotion --------------------------------------------------------------------------------------


@pytest.mark.parametrize("left,right,want", [
    ("int8", "int32", "int32"), ("bool", "int16", "int16"), ("int64", "float16", "float16"),
    ("float16", "float32", "float32"), ("float32", "float64", "float64"), ("uint8", "uint32", "uint32"),
    ("uint64", "float32", "float32"), ("bool", "float16", "float16"),
])  # fmt: skip
def test_mixed_dtypes_promote(left, right, want):
    result = getattr(ct, want)

    def kernel(x, y, out):
        z = ct.load(x, 0, 8) + ct.load(y, 0, 8)
        ct.static_assert(z.dtype == result)
        ct.store(out, 0, z)

    x, y = np.arange(8).astype(left), np.arange(8).astype(right)
    out = np.zeros(8, want)
    run(kernel, x, y, out)
    np.testing.assert_array_equal(out, x.astype(want) + y.astype(want))


def test_literals_take_the_dtype_of_the_tile():
    def kernel(x):
        t = ct.load(x, 0, 8)
        i8, i32 = ct.astype(t, ct.int8), ct.astype(t, ct.int32)
        ct.static_assert((t + 1).dtype == ct.float16)
        ct.static_assert((t * 0.5).dtype == ct.float16)
        ct.static_assert((i8 + 1.5).dtype == ct.float32)
        ct.static_assert((i8 + True).dtype == ct.int8)
        ct.static_assert((i8 + ct.int16(1)).dtype == ct.int16)
        ct.static_assert((i32 / 2).dtype == ct.float32)
        ct.static_assert((t > 0).dtype == ct.bool_)
        ct.static_assert((-(t > 0)).dtype == ct.int32)

    run(kernel, np.zeros(8, np.float16))


def check(condition):
    ct.static_assert(condition)


def test_constants_fold_as_in_python():
    def kernel(N, out):
        check(N // 3 == 33 and N % 7 == 2 and -N // 3 == -34 and -N % 7 == 5)
        check(N / 8 == 12.5 and N**2 == 10000)
        half = 2**-1
        check(half == 0.5)
        check(
            (N << 2) == 400 and (N >> 3) == 12 and (N & 6) == 4 and (N | 1) == 101 and N ^ 1 == 101
        )
        check(ct.int8(300) == 44 and ct.uint8(-1) == 255 and ct.float16(0.1) != 0.1)
        check(
            min(N, 3) == 3 and max(N, 3, 200) == 200 and abs(-N) == 100 and ct.cdiv(N, 16) == 7
        )
        check(
            math.ceil(2.1) == 3
            and math.log2(8) == 3.0
            and int(3.9) == 3
            and float(3) == 3.0
            and bool(2)
        )
        check(2**64 - 1 > 2**63 and 2**64 * 2**30 // 2**90 == 16)
        check((1, 2) + (3,) == (1, 2, 3) and 2 in (1, 2) and 5 not in (1, 2))
        check(
            (1, 2, 3)[-1] == 3
            and (1, 2, 3)[0:2] == (1, 2)
            and (1, 2, 3)[::-1] == (3, 2, 1)
            and len((1, 2)) == 2
        )
        check(
            "a" + "b" == "ab" and f"{N}x{1.5}" == "100x1.5" and str(2.0) == "2.0" and not ""
        )
        check(
            sum((1, 2, 3)) == 6
            and tuple(range(3)) == (0, 1, 2)
            and all((1, True))
            and not any((0, False))
        )
        check(None is None and out is not None and 1 < 2 < 3 and not 1 < 2 > 3)
        check(ct.float32 == ct.float32 and getattr(out, "nothing", 4) == 4)
        check(
            ct.PaddingMode.ZERO != ct.PaddingMode.NAN and ct.PaddingMode.ZERO.name == "ZERO"
        )
        check(
            out.ndim == 1
            and out.dtype == ct.float32
            and ct.float16.bitwidth == 16
            and ct.float16.name == "float16"
        )

    run(kernel, C(100), np.zeros(4, np.float32))


# ---- memory -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mode,want", [("ZERO", 0.0), ("NEG_INF", -np.inf), ("NAN", np.nan), ("POS_INF", np.inf)]
)
def test_padding_outside_the_array(mode, want):
    padding = getattr(ct.PaddingMode, mode)

    def kernel(x, out):
        ct.store(out, 0, ct.load(x, 0, 8, padding_mode=padding))

    out = np.zeros(8, np.float32)
    run(kernel, f32(5), out)
    np.testing.assert_array_equal(out[5:], np.full(3, want, np.float32))


@pytest.mark.parametrize("order,turn", [("C", (0, 1)), ("F", (1, 0)), ((1, 0), (1, 0))])
def test_order_of_tile_axes(order, turn):
    def kernel(x, out):
        i, j = ct.bid(0), ct.bid(1)
        ct.store(out, (i, j), ct.load(x, (i, j), (2, 4), order=order))

    x = f32(8, 8)
    out = np.zeros((8, 8), np.float32)
    run(kernel, x, out, grid=(4, 2, 1))
    np.testing.assert_array_equal(out, x.transpose(turn))


def test_bool_arrays_hold_bytes():
    def kernel(x, out):
        t = ct.load(x, 0, 8)
        ct.store(out, 0, ~t)

    x = np.array([0, 1, 0, 1, 1, 0, 0, 1], bool)
    out = np.zeros(8, bool)
    run(kernel, x, out)
    np.testing.assert_array_equal(out, ~x)


def test_scalar_access_and_rank_zero():
    def kernel(x, s, out):
        v = ct.load(x, (1, 2), ()) + ct.load(s, (), ())
        ct.store(out, 3, v)

    x, s, out = f32(3, 4), np.array(2.5, np.float32), np.zeros(5, np.float32)
    run(kernel, x, s, out)
    assert out[3] == x[1, 2] + s


def test_gather_and_scatter():
    def kernel(x, idx, out):
        i = ct.load(idx, 0, 8)
        t = ct.gather(x, (i, ct.arange(8, dtype=ct.int32)), mask=i != 2, padding_value=-1.0)
        ct.scatter(out, ct.arange(8, dtype=ct.int64) * 2, t, mask=i > -2)

    x, out = f32(4, 8), np.zeros(16, np.float32)
    idx = np.array([0, 3, 2, -1, 1, 4, 2, 0], np.int32)
    run(kernel, x, idx, out)
    want = [x[i, j] if 0 <= i < 4 and i != 2 else -1 for j, i in enumerate(idx)]
    np.testing.assert_array_equal(out[::2], np.array(want, np.float32))


def test_scatter_drops_what_is_outside():
    def kernel(out):
        ct.scatter(out, ct.arange(8, dtype=ct.int32) - 2, 1.0)

    out = np.zeros(4, np.float32)
    run(kernel, out)
    np.testing.assert_array_equal(out, 1)


@pytest.mark.parametrize("op,want", [
    ("atomic_add", lambda a, u: a + u), ("atomic_max", np.maximum), ("atomic_min", np.minimum),
    ("atomic_and", np.bitwise_and), ("atomic_or", np.bitwise_or), ("atomic_xor", np.bitwise_xor),
    ("atomic_xchg", lambda a, u: u),
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_atomics_on_integers(op, want, dtype):
    operation = getattr(ct, op)

    def kernel(x, u, old):
        i = ct.arange(8, dtype=ct.int32)
        ct.store(old, 0, operation(x, i, ct.load(u, 0, 8)))

    x, u = i32(8, low=0).astype(dtype), i32(8, low=0).astype(dtype)
    before, old = x.copy(), np.zeros(8, dtype)
    run(kernel, x, u, old)
    np.testing.assert_array_equal(x, want(before, u))
    np.testing.assert_array_equal(old, before)


def test_atomic_add_of_floats_and_compare_and_swap():
    def kernel(total, flag):
        ct.atomic_add(total, 0, 1.5)
        ct.atomic_cas(flag, 0, ct.bid(0), ct.bid(0) + 1)

    total, flag = np.zeros(1, np.float32), np.zeros(1, np.int32)
    run(kernel, total, flag, grid=(4, 1, 1))
    assert total[0] == 6 and flag[0] == 4


def test_raw_memory():
    def kernel(x, out):
        i = ct.arange(8, dtype=ct.int32)
        raw = x.get_raw_memory()
        out.get_raw_memory().store_offset(i, raw.load_offset(7 - i, mask=i > 2, padding_value=0))
        out.get_raw_memory().atomic_add_offset(0, 5.0)

    x, out = f32(8), np.zeros(8, np.float32)
    run(kernel, x, out)
    want = np.where(np.arange(8) > 2, x[::-1], 0)
    want[0] += 5
    np.testing.assert_array_equal(out, want.astype(np.float32))


def test_array_slice_and_views():
    def kernel(x, out, n):
        part = x.slice(0, 2, n).slice(1, 0, 4)
        ct.static_assert(part.shape[1] == 4)
        view = part.tiled_view((2, 4), padding_mode=ct.PaddingMode.ZERO)
        t = view.load((1, 0)) + part.shape[0] * 0
        out.tiled_view((2, 4)).store((0, 0), t)

    x, out = f32(8, 8), np.zeros((2, 4), np.float32)
    run(kernel, x, out, 6)
    np.testing.assert_array_equal(out, x[4:6, :4])


def test_overlapping_windows():
    def kernel(x, out):
        view = x.tiled_view(4, traversal_steps=2)
        ct.static_assert(view.tile_shape == (4,) and view.traversal_steps == (2,))
        i = ct.bid(0)
        ct.store(out, i, ct.sum(view.load(i)) + view.num_tiles(0) * 0)

    x, out = f32(10), np.zeros(4, np.float32)
    run(kernel, x, out, grid=(4, 1, 1))
    np.testing.assert_allclose(out, [x[2 * i : 2 * i + 4].sum() for i in range(4)], rtol=1e-5)


def test_view_atomics():
    def kernel(out):
        out.tiled_view(4).atomic_store_add(0, ct.arange(4, dtype=ct.int32))

    out = np.zeros(4, np.int32)
    run(kernel, out, grid=(3, 1, 1))
    np.testing.assert_array_equal(out, np.arange(4) * 3)


def test_advanced_indexing():
    def kernel(x, rows, out):
        r = ct.load(rows, 0, 4)
        t = ct.load_advanced_indexing(x, (r, ct.Slice(2, 4)), padding_mode=ct.PaddingMode.ZERO)
        ct.store_advanced_indexing(out, (r, ct.Slice(0, 4)), t)

    x, out = f32(8, 8), np.zeros((8, 4), np.float32)
    rows = np.array([5, 0, 7, 2], np.int32)
    run(kernel, x, rows, out)
    want = np.zeros_like(out)
    want[rows] = x[rows, 2:6]
    np.testing.assert_array_equal(out, want)


def test_num_tiles_and_blocks():
    def kernel(x, out):
        ct.scatter(out, 0, ct.num_tiles(x, 0, (4, 8)))
        ct.scatter(out, 1, ct.num_tiles(x, axis=1, shape=(4, 8)))
        ct.scatter(out, 2, ct.num_blocks(1))

    out = np.zeros(3, np.int32)
    run(kernel, f32(10, 9), out, grid=(1, 5, 1))
    np.testing.assert_array_equal(out, [3, 2, 5])


# ---- control flow -----------------------------------------------------------------------------------


def scalar_kernel(function, *args, dtype=np.int32):
    """Stores function(*args) at index 0."""

    def kernel(out, values):
        ct.scatter(out, 0, function(*values))

    out = np.zeros(1, dtype)
    run(kernel, out, tuple(args))
    return out[0].item()


def sum_to(n):
    total = 0
    for i in range(n):
        total += i
    return total


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def first_square_above(n):
    for i in range(100):
        if i * i > n:
            break
    else_value = 0
    k = 0
    while True:
        if k * k > n:
            return k
        k += 1


def skip_threes(n):
    total = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        total += i
    return total


def early(n):
    if n < 0:
        return -1
    if n == 0:
        return 0
    n = n * 2
    if n > 10:
        if n > 100:
            return 100
        n = n - 1
    return n


def nested_loops(n):
    total = 0
    for i in range(n):
        for j in range(i):
            if j == 3:
                break
            total = total + j
        total = total + 1
    return total


def find_pair(n):
    for i in range(1, n):
        for j in range(1, n):
            if i * j == n:
                return i * 100 + j
    return -1


def tuple_loop(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def choose(n):
    x = 5 if n > 3 else n
    return x + (1 if n > 3 and n < 6 or n == 2 else 0)


def swap_types(n):
    x = 0
    while n > 0:
        x = x + n
        n -= 1
    return x


def unrolled(n):
    total = n
    for k, v in ct.static_iter(enumerate((3, 5, 7))):
        total += k * v
    return total + sum(tuple(x * 2 for x in ct.static_iter(range(4)) if x != 2))


def scoped(n):
    acc = 0
    for i in range(n):
        t = i * 2
        if t > 4:
            u = t
            acc += u
    for i in range(3):
        t = i
        acc += t
    return acc


def recurse(k, n):
    return n if k == 0 else recurse(k - 1, n + k)


def deep(n):
    return recurse(5, n)


def defaults(n, step=2, *rest, scale=3, **named):
    return (
        n * scale + step + sum(rest) + named.get("z", 0) if False else n * scale + step + sum(rest)
    )


def call_forms(n):
    pair = (4, 5)
    return defaults(n) + defaults(n, 1, *pair) + defaults(n, scale=2, step=0) + defaults(*(n, 7))


def closures(n):
    k = 10

    def add(x, by=1):
        return x + k + by

    twice = lambda f, x: f(f(x))
    return twice(add, n) + twice(lambda x: x * 2, n)


def range_forms(n):
    total = 0
    for i in range(2, n, 3):
        total += i
    return total


def while_continue(n):
    i, odd = 0, 0
    while i < n:
        i += 1
        if i % 2 == 0:
            continue
        odd += i
    return odd


def shadowed(n):
    i = 100
    for i in range(n):
        pass
    return i


def returns_in_while(n):
    i = 0
    while i < 50:
        if i * n > 30:
            return i
        i += 1
    return -5


FUNCTIONS = [
    sum_to, collatz, skip_threes, early, nested_loops, find_pair, tuple_loop, choose, swap_types, scoped, range_forms,
    while_continue, shadowed, returns_in_while,
]  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 5, 6, 7, 12, 60])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_control_flow_as_in_python(function, n):
    assert scalar_kernel(function, n) == np.int64(function(n)).astype(
        np.int32
    )  # wraps as int32 does


def test_search_by_endless_loop():
    assert scalar_kernel(first_square_above, 50) == 8


def test_helpers_called_in_many_ways():
    assert scalar_kernel(call_forms, 3) == call_forms(3)
    assert scalar_kernel(closures, 3) == closures(3)
    assert scalar_kernel(deep, 3) == 3 + 15
    assert scalar_kernel(unrolled, 1) == 1 + 5 + 14 + 8


def test_kernel_returns_early():
    def kernel(out, n):
        i = ct.bid(0)
        if i >= n:
            return
        for k in range(10):
            if k == i:
                ct.scatter(out, i, k)
                return
        ct.scatter(out, i, 99)

    out = np.full(6, -1, np.int32)
    run(kernel, out, 4, grid=(6, 1, 1))
    np.testing.assert_array_equal(out, [0, 1, 2, 3, -1, -1])


def test_literal_before_a_loop_takes_the_type_inside():
    def kernel(x, out):
        acc = 0.0
        for i in range(ct.num_tiles(x, 0, 4)):
            acc = acc + ct.load(x, i, 4)
        ct.store(out, 0, acc)

    x, out = f32(16), np.zeros(4, np.float32)
    run(kernel, x, out)
    np.testing.assert_allclose(out, x.reshape(4, 4).sum(0), rtol=1e-5)


def test_arrays_and_tuples_cross_branches():
    def kernel(x, y, out, n):
        which = x
        state = (0, 1.0)
        if n > 2:
            which = y
            state = (n, 2.5)
        ct.store(out, 0, ct.load(which, 0, 4) * state[1] + state[0])

    x, y, out = f32(4), f32(4), np.zeros(4, np.float32)
    for n in (1, 3):
        run(kernel, x, y, out, n)
        want = y * np.float32(2.5) + 3 if n > 2 else x
        np.testing.assert_array_equal(out, want)


def test_dead_branch_is_not_checked():
    def kernel(out, FLAG):
        if FLAG:
            ct.store(out, 0, undefined_name + [1])
        x = out.shape[0] if not FLAG else undefined_name
        ct.store(out, 0, x)

    out = np.zeros(1, np.int32)
    run(kernel, out, C(False))
    assert out[0] == 1


def test_matrix_products():
    def kernel(a, b, out, out2):
        x, y = ct.load(a, (0, 0), (4, 8)), ct.load(b, (0, 0), (8, 16))
        ct.store(out, (0, 0), ct.mma(x, y, ct.full((4, 16), 1.0, ct.float32)))
        ct.store(out2, (0, 0), x @ y)

    a, b = f32(4, 8), f32(8, 16)
    out, out2 = np.zeros((2, 4, 16), np.float32)
    run(kernel, a, b, out, out2)
    np.testing.assert_allclose(out, a @ b + 1, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(out2, a @ b, rtol=1e-5, atol=1e-5)


def test_matmul_of_batches_vectors_and_bytes():
    def kernel(a, b, v, out, out1, out2):
        x, y = ct.load(a, (0, 0, 0), (2, 4, 8)), ct.load(b, (0, 0), (8, 4))
        ct.store(out, (0, 0, 0), x @ y)
        ct.store(out1, 0, ct.load(b, (0, 0), (8, 4)).transpose() @ ct.load(v, 0, 8))
        i = ct.astype(y, ct.int8)
        ct.store(out2, (0, 0), ct.mma(ct.transpose(i), i, ct.zeros((4, 4), ct.int32)))

    a, b, v = f32(2, 4, 8), f32(8, 4) * 4, f32(8)
    out, out1, out2 = (
        np.zeros((2, 4, 4), np.float32),
        np.zeros(4, np.float32),
        np.zeros((4, 4), np.int32),
    )
    run(kernel, a, b, v, out, out1, out2)
    np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(out1, b.T @ v, rtol=1e-4, atol=1e-5)
    whole = b.astype(np.int32)
    np.testing.assert_array_equal(out2, whole.T @ whole)


# ---- printing ---------------------------------------------------------------------------------------


def test_print_and_printf():
    def kernel(x, n):
        i = ct.bid(0)
        ct.print("block", i, n, True, 1.5, sep="|")
        print(f"{i:3d} {n} {100 * 2}%", end=";\n")
        ct.printf("%5.2f %d\n", 1.25, i)

    text = run(kernel, f32(4), 7)
    assert text == "block|0|7|True|1.5\n  0 7 200%;\n 1.25 0\n"


def test_assert_reports():
    def kernel(x):
        ct.assert_(ct.load(x, 0, 4) > 0, "not positive")

    run(kernel, np.ones(4, np.float32))
    with pytest.raises(Exception, match="not positive"):
        run(kernel, np.zeros(4, np.float32))


# ---- other values ---------------------------------------------------------------------------------------


def test_scalars_of_every_dtype():
    def kernel(out, a, b, c, d):
        ct.scatter(out, 0, ct.astype(a, ct.float64) + b + c + ct.where(d, 1.0, 0.0))

    out = np.zeros(1, np.float64)
    run(kernel, out, np.int64(1 << 40), np.float16(0.5), np.uint8(200), True)
    assert out[0] == (1 << 40) + 0.5 + 200 + 1


SHAPE = (4, 4)
SCALE = np.float16(0.5)


def test_globals_numpy_scalars_and_dtypes():
    def kernel(x, out):
        t = ct.load(x, (0, 0), SHAPE)
        scaled = ct.astype(t, ct.int8) * SCALE
        ct.static_assert(scaled.dtype == ct.float16)
        ct.store(out, (0, 0), ct.astype(t * SCALE, np.float32) + ct.zeros(SHAPE, dtype=np.float32))

    x, out = f32(4, 4), np.zeros((4, 4), np.float32)
    run(kernel, x, out)
    np.testing.assert_array_equal(out, x * np.float32(0.5))


def test_unpacking_and_starred():
    def kernel(out):
        (a, (b, c)), *rest = (1, (2, 3)), 4, 5
        x = y = a + b
        more = (*rest, 6)
        ct.static_assert(rest == (4, 5) and (a, b, c) == (1, 2, 3) and more == (4, 5, 6))
        z: int = x * y
        ct.scatter(out, 0, z)

    out = np.zeros(1, np.int32)
    run(kernel, out)
    assert out[0] == 9


def parts_outside(x, y, i):
    t = ct.reshape(ct.load(x, 0, 64), (4, 16))
    ct.store(y, 0, ct.reshape(ct.extract(t, (i, i + 1), (1, 8)), (8,)))
    ct.store(x, 0, ct.reshape(ct.insert(t, (i, i - 1), ct.full((2, 4), -1, ct.int32)), (64,)))


@pytest.mark.parametrize("target", [0, 90])
@pytest.mark.parametrize("index", [3, 4, -1, 1001, -(2**31), 2**31 - 1])
def test_an_index_of_a_part_wraps(index, target):
    x, y = np.arange(64, dtype=np.int32), np.zeros(8, np.int32)
    grid, wanted = x.copy().reshape(4, 16), x.copy().reshape(4, 16)
    row, column = 2 * (index % 2), 4 * ((index - 1) % 4)
    wanted[row : row + 2, column : column + 4] = -1
    run(parts_outside, x, y, index, target=target)
    assert (y == grid[index % 4, 8 * ((index + 1) % 2) :][:8]).all()
    assert (x == wanted.ravel()).all()
