# SPDX-License-Identifier: Apache-2.0
"""Loads and stores of one block on one array happen in program order, whatever shares a loop."""

from __future__ import annotations

import numpy as np
import pytest
import tessera.tile as ct

N = 64


def lane(n):
    return ct.arange(n, dtype=ct.int32)


@ct.kernel
def overwrite(x):
    ct.store(x, (0,), ct.full((N,), 7, ct.int32))
    ct.scatter(x, N - 1 - lane(N), ct.full((N,), 8, ct.int32))


@ct.kernel
def swap(x):
    a, b = ct.load(x, (0,), (N // 2,)), ct.load(x, (1,), (N // 2,))
    ct.store(x, (0,), ct.cat((b, a), 0))


@ct.kernel
def take(x, y):
    t = ct.gather(x, N - 1 - lane(N))
    ct.store(x, (0,), ct.zeros((N,), ct.int32))
    ct.store(y, (0,), t)


@ct.kernel
def add_one_twice(x, y):
    t = ct.load(x, (0,), (N,))
    ct.store(x, (0,), t + 1)
    ct.store(y, (0,), t * 2)


@ct.kernel
def mirror(x, y):
    t = ct.load(x, (0,), (N,))
    ct.scatter(y, N - 1 - lane(N), t)


@ct.kernel
def in_a_branch(x, y, flag):
    t = ct.load(x, (0,), (N,))
    if flag > 0:
        ct.store(x, (0,), ct.zeros((N,), ct.int32))
    ct.store(y, (0,), t)


@ct.kernel
def in_a_loop(x, y, n):
    t = ct.load(x, (0,), (N,))
    for i in range(n):
        ct.scatter(x, (lane(N) + i) % N, t)
    ct.store(y, (0,), t)


@ct.kernel
def before_an_atomic(x, y):
    t = ct.load(x, (0,), (N,))
    ct.atomic_add(x, N - 1 - lane(N), t)
    ct.store(y, (0,), t)


def arange():
    return np.arange(N, dtype=np.int32)


def test_a_later_scatter_wins():
    x = arange()
    ct.launch(None, (1,), overwrite, (x,))
    assert (x == 8).all()


def test_both_loads_come_before_the_store():
    x = arange()
    ct.launch(None, (1,), swap, (x,))
    assert (x == np.roll(arange(), N // 2)).all()


def test_a_gather_comes_before_the_store_behind_it():
    x, y = arange(), np.zeros(N, np.int32)
    ct.launch(None, (1,), take, (x, y))
    assert (y == arange()[::-1]).all() and not x.any()


def test_a_tile_keeps_its_value_when_its_array_is_written():
    x, y = arange(), np.zeros(N, np.int32)
    ct.launch(None, (1,), add_one_twice, (x, y))
    assert (x == arange() + 1).all() and (y == arange() * 2).all()


@pytest.mark.parametrize("flag", [0, 1])
def test_a_store_in_a_branch_leaves_the_tile(flag):
    x, y = arange(), np.zeros(N, np.int32)
    ct.launch(None, (1,), in_a_branch, (x, y, flag))
    assert (y == arange()).all() and (x == (0 if flag else arange())).all()


@pytest.mark.parametrize("n", [0, 1, 5])
def test_stores_in_a_loop_leave_the_tile(n):
    x, y = arange(), np.zeros(N, np.int32)
    ct.launch(None, (1,), in_a_loop, (x, y, n))
    assert (y == arange()).all() and (x == np.roll(arange(), max(n - 1, 0))).all()


def test_an_atomic_leaves_the_tile():
    x, y = arange(), np.zeros(N, np.int32)
    ct.launch(None, (1,), before_an_atomic, (x, y))
    assert (y == arange()).all() and (x == N - 1).all()


@pytest.mark.parametrize("shift", [0, 1, 8, 17])
def test_two_names_of_one_memory_are_in_order_too(shift):
    buffer = np.arange(N + shift, dtype=np.int32)
    wanted = buffer.copy()
    wanted[shift:] = buffer[:N][::-1]
    ct.launch(None, (1,), mirror, (buffer[:N], buffer[shift:]))
    assert (buffer == wanted).all()


def test_arrays_apart_and_shared_take_turns_in_one_kernel():
    for _ in range(3):
        x, y = arange(), np.zeros(N, np.int32)
        ct.launch(None, (1,), mirror, (x, y))
        assert (y == arange()[::-1]).all() and (x == arange()).all()
        ct.launch(None, (1,), mirror, (x, x))
        assert (x == arange()[::-1]).all()


@ct.kernel
def over_the_next(x, y, flag):
    if flag > 0:
        t = ct.gather(y, lane(16) % 4)
        ct.store(y, (0,), t)
        x.get_raw_memory().store_offset(15 - lane(16), t)
    else:
        t = ct.load(y, (0,), (4,))
        x.get_raw_memory().store_offset(15 - lane(8), ct.full((8,), 99, ct.int32))
        ct.store(x, (0,), t)


def test_raw_memory_that_leaves_its_array_is_in_order_with_the_array_there():
    buffer = np.arange(16, dtype=np.int32)
    ct.launch(None, (1,), over_the_next, (buffer[:8], buffer[8::3], 1))
    assert (buffer == np.tile([8, 11, 14, 0], 4)[::-1]).all()


def test_a_tile_keeps_its_value_when_raw_memory_of_its_neighbour_is_written():
    buffer = np.arange(16, dtype=np.int32)
    ct.launch(None, (1,), over_the_next, (buffer[:8], buffer[8:], 0))
    assert (buffer == [8, 9, 10, 11, 4, 5, 6, 7] + [99] * 8).all()


@ct.kernel
def affine(x, out):
    v = ct.load(x, (0,), (N,))
    _, b = ct.reduce((v, v + 1), 0, lambda a, b, c, d: (a * c, b * c + d), (1, 0))
    ct.store(out, (0,), b)


def test_a_function_that_does_not_commute_is_applied_in_order():
    x = np.random.default_rng(1).integers(1, 9, N).astype(np.int32)
    out, wanted = np.zeros(1, np.int32), 0
    ct.launch(None, (1,), affine, (x, out))
    for v in x.tolist():
        wanted = (wanted * v + v + 1) & 0xFFFFFFFF
    assert int(out[0]) & 0xFFFFFFFF == wanted


@ct.kernel
def a_dead_argmax(a, b, index, total, copy):
    x = ct.load(a, (0, 0, 0), (8, 4, 128))
    s = ct.sum(x)
    m = ct.argmax(x > 0, 1)
    t = ct.load(b, (0,), (1024,), padding_mode=ct.PaddingMode.ZERO)
    ct.store(index, (0, 0), m)
    ct.store(total, (0,), s + 1)
    ct.store(copy, (0,), t)


def test_a_result_without_a_user_keeps_its_memory_until_it_is_written():
    a, b = np.ones((8, 4, 128), np.float32), np.arange(1, 1001, dtype=np.int32)
    index, total, copy = (
        np.zeros((8, 128), np.int32),
        np.zeros(1, np.float32),
        np.zeros(1000, np.int32),
    )
    ct.launch(None, (1,), a_dead_argmax, (a, b, index, total, copy))
    assert (copy == b).all() and total[0] == a.size + 1


def butterfly(stages):
    """A kernel of `stages` steps x[i], x[i + h] -> sum, difference (a Walsh-Hadamard transform)."""

    @ct.kernel
    def kernel(x, out, n: ct.Constant[int]):
        v = ct.load(x, (0,), (n,))
        for s in ct.static_iter(range(stages)):
            v3 = v.reshape((n // (2 << s), 2, 1 << s))
            a = ct.extract(v3, (0, 0, 0), (n // (2 << s), 1, 1 << s))
            b = ct.extract(v3, (0, 1, 0), (n // (2 << s), 1, 1 << s))
            v = ct.cat((a + b, a - b), 1).reshape((n,))
        ct.store(out, (0,), v)

    return kernel


@pytest.mark.parametrize("stages", [3, 12])
def test_butterflies_of_many_stages_compile(stages):
    """Expanded element by element the 12 stages would be 4096 times the code of none."""
    n = 1 << stages
    x = np.random.default_rng(stages).integers(-9, 9, n).astype(np.int32)
    out, wanted = np.zeros_like(x), x.copy()
    ct.launch(None, (1,), butterfly(stages), (x, out, n))
    for s in range(stages):
        v = wanted.reshape(-1, 2, 1 << s)
        wanted = np.stack((v[:, 0] + v[:, 1], v[:, 0] - v[:, 1]), 1).reshape(n)
    assert (out == wanted).all()


@ct.kernel
def carried(x, n):
    t = ct.load(x, (0,), (N,))
    for i in range(n):
        swapped = ct.cat((ct.extract(t, (1,), (N // 2,)), ct.extract(t, (0,), (N // 2,))), 0)
        ct.scatter(x, lane(N), swapped)
        t = t + t


def test_a_carried_tile_is_read_before_its_next_value_is_written():
    x = arange()
    ct.launch(None, (1,), carried, (x, 2))
    assert (x == 2 * np.roll(arange(), N // 2)).all()


@ct.kernel
def carried_as_one(x, y, n):
    a, b = ct.load(x, (0,), (N,)), ct.load(x, (1,), (N,))
    for i in range(n):
        ct.store(y, (i,), ct.reshape(ct.transpose(ct.reshape(b, (8, N // 8))), (N,)))
        a = a + b
        b = a


def test_carried_tiles_are_written_as_if_at_once():
    x, y = np.arange(2 * N, dtype=np.int32), np.zeros(3 * N, np.int32)
    a, b, wanted = x[:N], x[N:], []
    for _ in range(3):
        wanted.append(b.reshape(8, N // 8).T.reshape(N))
        a = a + b
        b = a
    ct.launch(None, (1,), carried_as_one, (x, y, 3))
    assert (y == np.concatenate(wanted)).all()


@ct.kernel
def forty_carried(x, y, n, K: ct.Constant[int]):
    t = tuple(ct.load(x, (k,), (N,)) for k in ct.static_iter(range(K)))
    for i in range(n):
        t = tuple(t[(k + 1) % K] + t[k] for k in ct.static_iter(range(K)))
    for k in ct.static_iter(range(K)):
        ct.store(y, (k,), t[k])


@pytest.mark.parametrize("count", [2, 31, 70])
def test_any_number_of_tiles_is_carried_at_once(count):
    x = np.random.default_rng(count).integers(-9, 9, (count, N)).astype(np.int32)
    y, wanted = np.zeros_like(x), x
    for _ in range(3):
        wanted = wanted + np.roll(wanted, -1, 0)
    ct.launch(None, (1,), forty_carried, (x.ravel(), y.ravel(), 3, count))
    assert (y == wanted).all()


@ct.kernel
def under_three_names(a, b, c, out):
    t = ct.gather(b, N - 1 - lane(N))
    ct.store(c, (0,), t)
    ct.store(out, (0,), ct.gather(a, N - 1 - lane(N)))


@pytest.mark.parametrize("at", [0, 5])
def test_an_array_read_and_written_under_three_names(at):
    buffer, out = np.arange(N + at, dtype=np.int32), np.zeros(N, np.int32)
    wanted = buffer.copy()
    wanted[at:] = buffer[:N][::-1]
    ct.launch(None, (1,), under_three_names, (buffer[:N], buffer[:N], buffer[at:], out))
    assert (buffer == wanted).all() and (out == wanted[:N][::-1]).all()
