# SPDX-License-Identifier: Apache-2.0
"""Loops that load and compute without products, as thread code for sm_90: several trips whose loads go ahead together,
what must not go ahead, masks that neighbours share, quotients with one divisor, exponentials of masked elements."""

import math

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from lower import Const, run
from tessera import _core

ZERO = ct.PaddingMode.ZERO


def sums(x, out, last, T: ct.Constant[int]):
    """Running sums over pieces of a row: each piece of ``out``, and the total of ``last``."""
    row, total = ct.bid(0), ct.zeros((1, T), dtype=ct.float32)
    for i in range(ct.cdiv(x.shape[1], T)):
        total = total + ct.load(x, index=(row, i), shape=(1, T), padding_mode=ZERO).astype(ct.float32)
        ct.store(out, index=(row, i), tile=total)
    ct.store(last, index=(row, 0), tile=total)


@pytest.mark.parametrize("pieces", [0, 1, 2, 3, 4, 5, 7, 8, 11])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_trips_at_once_are_the_trips(pieces, dtype):
    x = np.random.default_rng(pieces).standard_normal((3, pieces * 256 - pieces % 2 * 8 * (pieces > 0)))
    x = x.astype(dtype)
    out, last = np.full((3, pieces * 256), 7, np.float32), np.full((3, 256), 7, np.float32)
    run(sums, x, out, last, Const(256), grid=(3, 1, 1), target=90, facts=True)
    wide = np.zeros((3, pieces, 256), np.float32)
    wide.reshape(3, -1)[:, : x.shape[1]] = x
    wanted = np.zeros((3, 256), np.float32)
    for i in range(pieces):
        wanted = wanted + wide[:, i]
        assert np.array_equal(out.reshape(3, pieces, 256)[:, i], wanted)
    assert np.array_equal(last, wanted)


def known_sums(x, out, last, T: ct.Constant[int], N: ct.Constant[int]):
    """The same over N pieces, a number that is known; pointers, whose stores another one may meet."""
    at, total = ct.arange(T, dtype=ct.int32), ct.zeros((T,), dtype=ct.float32)
    for i in range(N):
        total = total + ct.gather(x, i * T + at).astype(ct.float32)
        ct.scatter(out, i * T + at, total)
    ct.store(last, index=(0,), tile=total)


@pytest.mark.parametrize("pieces", range(10))
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_known_number_of_trips_are_the_trips(pieces, dtype):
    x = np.random.default_rng(pieces).integers(-99, 99, pieces * 128 - 3 * (pieces > 0)).astype(dtype)
    out, last = np.full(pieces * 128, 7, np.float32), np.full(128, 7, np.float32)
    run(known_sums, x, out, last, Const(128), Const(pieces), target=90, facts=True)
    wide = np.zeros(pieces * 128, np.float32)
    wide[: x.size] = x
    wanted = wide.reshape(pieces, 128).cumsum(0)
    assert np.array_equal(out.reshape(pieces, 128), wanted)
    assert np.array_equal(last, wanted[-1] if pieces else np.zeros(128))


def spread(x, T: ct.Constant[int]):
    """Each piece from the one before, in place."""
    for i in range(1, ct.cdiv(x.shape[0], T)):
        t = ct.load(x, index=(i - 1,), shape=(T,), padding_mode=ZERO)
        ct.store(x, index=(i,), tile=t * 2 + 1)


def test_loads_of_what_the_loop_stores_stay_behind_the_stores():
    x = np.arange(9 * 128, dtype=np.float32)
    run(spread, x, Const(128), target=90, facts=True)
    wanted = np.arange(128, dtype=np.float32)
    for i in range(9):
        assert np.array_equal(x[128 * i : 128 * i + 128], wanted)
        wanted = wanted * 2 + 1


def follow(next_, x, out, T: ct.Constant[int]):
    """The place of each piece is known from the one before."""
    at, total = ct.int32(0), ct.zeros((T,), dtype=ct.float32)
    for _ in range(6):
        total = total + ct.load(x, index=(at,), shape=(T,))
        at = ct.load(next_, index=(at,), shape=(1,)).item()
    ct.store(out, index=(0,), tile=total)


def test_loads_whose_place_is_loaded_stay_in_their_trip():
    x = np.random.default_rng(1).integers(0, 100, (6, 128)).astype(np.float32)
    out = np.zeros(128, np.float32)
    run(follow, np.array([3, 5, 1, 2, 0, 4], np.int32), x.reshape(-1), out, Const(128), target=90, facts=True)
    assert np.array_equal(out, x[0] + x[3] + x[2] + x[1] + x[5] + x[4])


def masked(x, out, n: int, T: ct.Constant[int]):
    """Beyond ``cols`` zero: eight neighbours share a comparison, where they do; beyond n they may not."""
    cols = x.shape[0]
    for i in range(ct.cdiv(out.shape[0], T)):
        at = i * T + ct.arange(T, dtype=ct.int32)
        t = ct.load(out, index=(i,), shape=(T,))
        ct.store(out, index=(i,), tile=ct.where(at < cols, t, ct.where(at < n, 1, 2).astype(t.dtype)))


@pytest.mark.parametrize("cols", [0, 16, 128, 304, 1024])
def test_masks_of_neighbours(cols):
    out = np.random.default_rng(cols).integers(10, 99, 1024).astype(np.float16)
    wanted = out.copy()
    wanted[cols:] = 2
    wanted[cols:777] = 1
    run(masked, np.zeros(cols, np.float16), out, 777, Const(512), target=90, facts=True)
    assert np.array_equal(out, wanted)


def quotients(x, by, out, T: ct.Constant[int]):
    ct.store(out, index=(0,), tile=ct.load(x, index=(0,), shape=(T,)) / ct.load(by, index=(0,), shape=(1,)))


SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-45, -1e-40, 1.17549435e-38, 3.4028235e38, 1.0, -3.0, 2.0**-91,
           2.0**-90, -(2.0**-90), 2.0**90, 2.0**91]  # fmt: skip


DIVISORS = [3.0, 1.0, 781.25, 0.1, 2.0**30, 2.0**31, 2.0**-30, 2.0**-31, -3.0, 0.0, -0.0, 1e-45, 3e38, math.inf,
            math.nan]  # fmt: skip


def assert_quotients(kernel, x, by):
    """Bit for bit NumPy's; any NaN where that has one. A thread has eight elements at least."""
    x, by = np.resize(x, 8192), by if by.size == 1 else np.resize(by, 8192)
    out = np.zeros_like(x)
    run(kernel, x, by, out, Const(8192), target=90, facts=True)
    with np.errstate(all="ignore"):
        wanted = x / by
    ordinary = ~np.isnan(wanted)
    assert np.array_equal(signed(out[ordinary]), signed(wanted[ordinary]))
    assert np.isnan(out[~ordinary]).all()


def signed(x):
    return x.view(f"u{x.itemsize}")


@pytest.mark.parametrize("by", DIVISORS)
def test_quotients_with_one_divisor_are_exact(by):
    random = np.random.default_rng(4)
    usual = np.concatenate([random.standard_normal(3 * 512), np.zeros(256), -np.zeros(256)]).astype(np.float32)
    bits = random.integers(0, 1 << 32, 2048, np.uint64).astype(np.uint32).view(np.float32)
    some = np.resize(np.array(SPECIAL, np.float32), 2048)
    for x in (usual, bits, some):
        assert_quotients(quotients, x, np.array([by], np.float32))


def own_quotients(x, by, out, T: ct.Constant[int]):
    ct.store(out, index=(0,), tile=ct.load(x, index=(0,), shape=(T,)) / ct.load(by, index=(0,), shape=(T,)))


def nearly_ties(random, sign):
    """Dividends and divisors whose quotients lie as near as can be to the middle between two float32."""
    by = random.integers(1 << 22, 1 << 23, 1 << 13) * 2 + 1
    inverse = by
    for _ in range(5):
        inverse = inverse * (2 - by * inverse) % (1 << 24)
    middle = sign * inverse % (1 << 24) + (1 << 24)  # by * middle is sign, modulo 2^24
    x = (by * middle - sign) >> 24
    kept = np.flatnonzero(x < 1 << 24)[:2048]
    return x[kept].astype(np.float32), by[kept].astype(np.float32)


def ties_of_least(random):
    """Dividends and divisors whose quotients lie in the middle between two of the least float32."""
    middle, by = random.integers(0, 1 << 10, 2048) * 2 + 1, random.integers(0, 1 << 12, 2048) * 2 + 1
    return np.ldexp(np.float32(middle * by), -90), np.ldexp(np.float32(by), 60)


def test_quotients_by_divisors_of_their_own_are_exact():
    random = np.random.default_rng(6)

    def bits():
        return random.integers(0, 1 << 32, 2048, np.uint64).astype(np.uint32).view(np.float32)

    def usual(span):
        powers = np.exp2(random.integers(-span, span + 1, 2048)) * random.choice([-1, 1], 2048)
        return ((1 + random.random(2048)) * powers).astype(np.float32)

    zeros = np.resize(np.array([0, -0.0, 1, -1], np.float32), 2048)
    special = np.resize(np.array(SPECIAL, np.float32), 2048), np.repeat(np.array(SPECIAL, np.float32), 128)
    for x, by in [(usual(3), usual(3)), (usual(92), usual(1)), (usual(1), usual(31)), (bits(), bits()), special,
                  special[::-1], (zeros, abs(usual(2))), (zeros, usual(2)), (usual(4), zeros),
                  (usual(120), usual(120)), nearly_ties(random, 1), nearly_ties(random, -1),
                  ties_of_least(random)]:  # fmt: skip
        assert_quotients(own_quotients, x, by)


@pytest.mark.parametrize("sign", [1, -1])
def test_quotients_whose_remainders_are_too_small_are_exact(sign):
    x, by = nearly_ties(np.random.default_rng(9), sign)
    for power in (-125, -130, -140, -145):
        assert_quotients(own_quotients, np.ldexp(x, power), np.ldexp(by, -23))


HALF = [0.0, -0.0, math.inf, -math.inf, math.nan, 6e-8, -6e-8, 1.2e-7, 6.1e-5, -6.104e-5, 65504.0, -65504.0, 1.0,
        -3.0, 0.1, 9.0]  # fmt: skip


@pytest.mark.parametrize("by", [3.0, 6.0, 0.1, 1.0, -7.0, 6e-8, 65504.0, 0.0, -0.0, math.inf, -math.inf, math.nan])
def test_quotients_of_halves_with_one_divisor_are_exact(by):
    random = np.random.default_rng(7)
    bits = random.integers(0, 1 << 16, 2048).astype(np.uint16).view(np.float16)
    for x in (bits, abs(bits), np.resize(np.array(HALF, np.float16), 2048)):
        assert_quotients(quotients, x, np.array([by], np.float16))


def test_quotients_of_halves_by_divisors_of_their_own_are_exact():
    random = np.random.default_rng(8)
    special = np.resize(np.array(HALF, np.float16), 2048), np.repeat(np.array(HALF, np.float16), 128)
    bits = [random.integers(0, 1 << 16, 2048).astype(np.uint16).view(np.float16) for _ in range(4)]
    tiny = random.integers(0, 2048, 2048).astype(np.uint16).view(np.float16)  # quotients between two of the least
    for x, by in [bits[:2], bits[2:], special, special[::-1], (tiny, random.integers(1, 64, 2048).astype(np.float16))]:
        assert_quotients(own_quotients, x, by)


def exponentials(x, out, T: ct.Constant[int]):
    ct.store(out, index=(0,), tile=ct.exp(ct.load(x, index=(0,), shape=(T,))))


@pytest.mark.parametrize(
    "odd", [(), (-math.inf,), (-1e30, -104.5), (-104.0, -90.0), (88.0, 89.0), (math.nan,), (-math.inf, -95.0, math.inf)]
)
def test_exponentials_of_masked_elements(odd):
    x = np.random.default_rng(2).uniform(-5, 5, 1024).astype(np.float32)
    x[np.arange(0, 1024, 7)[: 20 * len(odd)]] = np.resize(np.array(odd, np.float32), 20 * len(odd)) if odd else []
    out = np.full(1024, 7, np.float32)
    run(exponentials, x, out, Const(1024), target=90, facts=True)
    with np.errstate(over="ignore"):
        wanted = np.exp(x.astype(np.float64)).astype(np.float32)
    assert np.allclose(out, wanted, rtol=2.5e-7, atol=3e-45, equal_nan=True)
    assert not out[x <= -104.5].any()


def binary_exponentials(x, out, T: ct.Constant[int]):
    ct.store(out, index=(0,), tile=ct.exp2(ct.load(x, index=(0,), shape=(T,))))


@pytest.mark.parametrize("target", [0, 90])
@pytest.mark.parametrize("kernel, function", [(exponentials, np.exp), (binary_exponentials, np.exp2)])
def test_exponentials_of_halves(kernel, function, target):
    """To the last place, and at both ends, where they are 0 and infinity."""
    x = np.arange(0, 1 << 16, 16, np.uint16).view(np.float16)
    x[:90] = np.linspace(-27, 18, 90)
    x = np.resize(np.concatenate([x, [-np.inf, np.inf, np.nan, 65504, -65504]]).astype(np.float16), 8192)
    out = np.full(8192, 7, np.float16)
    run(kernel, x, out, Const(8192), target=target, facts=True)
    with np.errstate(all="ignore"):
        wanted = function(x.astype(np.float64)).astype(np.float16)
    ordinary = ~np.isnan(wanted)
    assert (abs(signed(out[ordinary]).astype(int) - signed(wanted[ordinary])) <= 1).all()
    assert np.array_equal(np.isinf(out), np.isinf(wanted)) and np.array_equal(out == 0, wanted == 0)
    assert np.isnan(out[~ordinary]).all()


def rows(x, weight, out, totals, T: ct.Constant[int]):
    """Every num_blocks-th row."""
    total = ct.zeros((T,), dtype=ct.float32)
    for row in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        t = ct.load(x, index=(row, 0), shape=(1, T), padding_mode=ZERO).reshape((T,))
        w = ct.load(weight, index=(row % 2, 0), shape=(1, T), padding_mode=ZERO).reshape((T,))
        total = total + t
        ct.store(out, index=(row, 0), tile=(t * w + row).reshape((1, T)))
    ct.store(totals, index=(ct.bid(0), 0), tile=total.reshape((1, T)))


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 13])
def test_trips_in_unknown_steps_load_for_the_next_one(count):
    x = np.random.default_rng(count).integers(-9, 9, (count, 248)).astype(np.float32)
    w = np.random.default_rng(9).integers(-9, 9, (2, 248)).astype(np.float32)
    out, totals = np.full((count, 248), 7, np.float32), np.full((4, 248), 7, np.float32)
    run(rows, x, w, out, totals, Const(256), grid=(4, 1, 1), target=90, facts=True)
    row = np.arange(count)
    assert np.array_equal(out, x * w[row % 2] + row[:, None])
    assert np.array_equal(totals, [x[k::4].sum(0) for k in range(4)])


@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("cols", [8192, 8184, 8181, 4300])
def test_trips_in_unknown_steps_copy_for_the_next_one(count, dtype, cols):
    """Rows that would take too many registers, aligned, cut within a vector, and at any place."""
    random = np.random.default_rng(count * cols)
    x, w = (random.integers(-9, 9, (n, 8192)).astype(dtype)[:, :cols] for n in (count, 2))
    if cols == 4300:
        x, w = x.copy(), w[:, 1:].copy()  # rows begin anywhere
    out, totals = np.full((count, cols), 7, dtype), np.full((2, cols), 7, dtype)
    run(rows_wide, x, w, out, totals, Const(8192), grid=(2, 1, 1), target=90, facts=True)
    row, wide = np.arange(count), np.zeros((2, cols), dtype)
    wide[:, : w.shape[1]] = w
    assert np.array_equal(out, x * wide[row % 2] + row[:, None].astype(dtype))
    assert np.array_equal(totals, [x[k::2].sum(0, dtype=dtype) for k in range(2)])


def rows_wide(x, weight, out, totals, T: ct.Constant[int]):
    """Every num_blocks-th row; the rows of totals are those of x, afterwards."""
    total = ct.zeros((T,), dtype=x.dtype)
    for row in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        t = ct.load(x, index=(row, 0), shape=(1, T), padding_mode=ZERO).reshape((T,))
        w = ct.load(weight, index=(row % 2, 0), shape=(1, T), padding_mode=ZERO).reshape((T,))
        total = total + t
        ct.store(out, index=(row, 0), tile=(t * w + row.astype(x.dtype)).reshape((1, T)))
    ct.store(totals, index=(ct.bid(0), 0), tile=total.reshape((1, T)))


def greatest(x, out, T: ct.Constant[int]):
    """What lies beyond a row is less than all of it."""
    for row in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        t = ct.load(x, index=(row, 0), shape=(1, T), padding_mode=ct.PaddingMode.NEG_INF)
        ct.store(out, index=(row, 0), tile=ct.max(t, axis=1, keepdims=True))


@pytest.mark.parametrize("cols", [4096, 4093, 2049, 7, 1])
@pytest.mark.parametrize("schedule", range(3))
def test_copied_rows_are_padded_as_they_ask(cols, schedule):
    x = np.random.default_rng(cols).integers(-99, -3, (7, cols)).astype(np.float32)
    out = np.zeros((7, 1), np.float32)
    run(greatest, x, out, Const(4096), grid=(2, 1, 1), target=90, facts=True, schedule=schedule)
    assert np.array_equal(out, x.max(1, keepdims=True))


def pairs_of_rows(x, weight, out, M: ct.Constant[int], N: ct.Constant[int]):
    """Little on its way: copied two trips ahead. The weights are loaded as every row wants them."""
    w = ct.load(weight, index=(0,), shape=(N,))
    for i in range(ct.bid(0), ct.cdiv(x.shape[0], M), ct.num_blocks(0)):
        t = ct.load(x, index=(i, 0), shape=(M, N), padding_mode=ZERO)
        top = ct.max(t, axis=1, keepdims=True)
        ct.store(out, index=(i, 0), tile=t * w + top)


@pytest.mark.parametrize("trips", range(7))
@pytest.mark.parametrize("cols", [1024, 1016, 1001])
@pytest.mark.parametrize("schedule", range(2))
def test_rows_that_are_copied_two_trips_ahead_are_those_of_their_trip(trips, cols, schedule):
    random = np.random.default_rng(trips * cols)
    x, w = (random.integers(-9, 9, shape).astype(np.float16) for shape in ((8 * trips - (trips > 1), cols), cols))
    out = np.full(x.shape, 7, np.float16)
    run(pairs_of_rows, x, w, out, Const(8), Const(1024), grid=(2, 1, 1), target=90, facts=True, schedule=schedule)
    wide = np.zeros((x.shape[0], 1024), np.float16)
    wide[:, :cols] = x
    assert np.array_equal(out, x * w + wide.max(1, keepdims=True))


def drawn(x, out, seed: int, T: ct.Constant[int]):
    """A long chain of an index, read beside what is loaded, and once more behind it."""
    i = ct.bid(0)
    at = ct.astype(i * T + ct.arange(T, dtype=ct.int32), ct.uint32)
    for _ in ct.static_iter(range(12)):
        at = (at ^ ct.uint32(seed)) * ct.uint32(0x9E3779B9) + (at >> ct.uint32(7))
    t = ct.load(x, index=(i,), shape=(T,))
    ct.store(out, index=(i,), tile=ct.where(ct.astype(at >> ct.uint32(31), ct.int32) == 1, t / 3.0, t))


def test_numbers_that_are_drawn_early_are_those_of_their_element():
    x = np.random.default_rng(5).standard_normal(1000).astype(np.float32)
    out = np.full(1000, 7, np.float32)
    run(drawn, x, out, 77, Const(512), grid=(2, 1, 1), target=90, facts=True)
    at = np.arange(1024, dtype=np.uint32)
    for _ in range(12):
        at = (at ^ np.uint32(77)) * np.uint32(0x9E3779B9) + (at >> np.uint32(7))
    assert np.array_equal(out, np.where(at[:1000] >> 31 == 1, x / np.float32(3), x))


def rows_then(x, out, T: ct.Constant[int]):
    """Behind the loop, rows that it has read are overwritten; before it, one was written."""
    ct.store(x, index=(0, 0), tile=ct.full((1, T), 3, dtype=x.dtype))
    total = ct.zeros((1, T), dtype=x.dtype)
    for row in range(0, x.shape[0], ct.num_blocks(0)):
        total = total + ct.load(x, index=(row, 0), shape=(1, T))
    turned = ct.reshape(ct.permute(ct.reshape(total, (T // 32, 32)), (1, 0)), (1, T))
    ct.store(x, index=(1, 0), tile=turned)
    ct.store(out, index=(0, 0), tile=turned)


@pytest.mark.parametrize("schedule", range(4))
def test_copied_rows_keep_their_place_among_stores(schedule):
    x = np.random.default_rng(3).integers(-9, 9, (5, 4096)).astype(np.float32)
    first = x.copy()
    first[0] = 3
    wanted = first.sum(0).reshape(128, 32).T.reshape(-1)
    out = np.zeros((1, 4096), np.float32)
    run(rows_then, x, out, Const(4096), target=90, facts=True, schedule=schedule)
    assert np.array_equal(out[0], wanted) and np.array_equal(x[1], wanted)


def widened(a, b, c, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """A product whose operands are computed from what is loaded."""
    acc = ct.zeros((M, N), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], K)):
        x = ct.load(a, index=(ct.bid(0), k), shape=(M, K), padding_mode=ZERO).astype(ct.float16)
        y = ct.load(b, index=(k, 0), shape=(K, N), padding_mode=ZERO).astype(ct.float16)
        acc = ct.mma(x, y * 2, acc)
    ct.store(c, index=(ct.bid(0), 0), tile=acc)


@pytest.mark.parametrize("target", [80, 90, 120])
@pytest.mark.parametrize("shape", [(64, 64, 64), (100, 60, 208), (64, 64, 0), (70, 64, 16), (33, 50, 77)])
def test_what_operands_are_computed_from_is_copied_a_trip_ahead(shape, target):
    m, n, k = shape
    random = np.random.default_rng(m * n + k)
    a, b = (random.integers(-5, 6, s).astype(np.int8) for s in ((m, k), (k, n)))
    c = np.full((m, n), 7, np.float32)
    run(widened, a, b, c, Const(64), Const(64), Const(64), grid=(-(-m // 64), 1, 1), target=target, facts=True)
    assert np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32) * 2)


def rows_in_place(x, T: ct.Constant[int]):
    """Every num_blocks-th row becomes the next one's start: the loop writes what it loads."""
    for row in range(ct.bid(0), x.shape[0] - 1, ct.num_blocks(0)):
        t = ct.load(x, index=(row, 0), shape=(1, T))
        ct.store(x, index=(row + 1, 0), tile=t + 1)


def test_rows_that_the_loop_writes_are_loaded_in_their_trip():
    x = np.zeros((9, 128), np.float32)
    run(rows_in_place, x, Const(128), target=90, facts=True)
    assert np.array_equal(x, np.broadcast_to(np.arange(9, dtype=np.float32)[:, None], x.shape))


def weighted(x, y, out, T: ct.Constant[int]):
    """Loads with arithmetic between them, which they go before; the last reads what was stored."""
    row = ct.bid(0)
    a = ct.load(x, index=(row, 0), shape=(1, T), padding_mode=ZERO).astype(ct.float32)
    b = ct.load(y, index=(row, 0), shape=(1, T), padding_mode=ZERO).astype(ct.float32)
    ct.store(y, index=(row, 0), tile=(a * b).astype(y.dtype))
    c = ct.load(y, index=(row, 0), shape=(1, T), padding_mode=ZERO).astype(ct.float32)
    d = ct.load(x, index=(row + 1, 0), shape=(1, T), padding_mode=ZERO).astype(ct.float32)
    ct.store(out, index=(row, 0), tile=a + b * 2 + c * 3 + d * 5)


@pytest.mark.parametrize("cols", [0, 8, 1000, 1024, 2048, 4096, 4100])
@pytest.mark.parametrize("schedule", range(2))
def test_loads_go_before_the_arithmetic_between_them(cols, schedule):
    """Four to eight vectors of 16 bits a thread."""
    random = np.random.default_rng(cols)
    x, y = (random.integers(-3, 4, (3, cols)).astype(np.float16) for _ in range(2))
    out = np.full((3, 4096), 7, np.float32)
    a, b, n = x.astype(np.float32), y.astype(np.float32), min(cols, 4096)
    d = np.vstack([a[1:], np.zeros((1, cols), np.float32)])
    run(weighted, x, y, out, Const(4096), grid=(3, 1, 1), target=90, facts=True, schedule=schedule)
    assert np.array_equal(y[:, :n], (a * b)[:, :n])
    assert np.array_equal(out[:, :n], (a + b * 2 + a * b * 3 + d * 5)[:, :n]) and (out[:, n:] == 0).all()


def test_a_variable_leaves_the_pass_out(monkeypatch):
    def code():
        found = []
        args = (*(tessera.zeros((3, 4096), "float16") for _ in range(2)), tessera.zeros((3, 4096), "float32"), 4096)
        _core.report(None, (3, 1, 1), ct.kernel(weighted), args, 90, lambda text, _: found.append(bytes(text)), None)
        return found[0]

    whole = code()
    monkeypatch.setenv("TS_SKIP", "early")
    assert code() != whole
    monkeypatch.delenv("TS_SKIP")
    assert code() == whole
