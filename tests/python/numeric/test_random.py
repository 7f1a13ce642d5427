# SPDX-License-Identifier: Apache-2.0
"""Random streams against NumPy's: the same numbers of the same seeds, method by method."""

from __future__ import annotations

import copy
import inspect
import pickle
import threading

import numpy as np
import pytest
import tessera.numeric as tn
from tessera.numeric import random as ours
from tessera.numeric.random._bits import lock_of

BITS = ["PCG64", "PCG64DXSM", "Philox", "MT19937", "SFC64"]
ARGUMENTS = {
    "beta": (2.0, 3.0), "binomial": (10, 0.3), "chisquare": (3.0,), "dirichlet": ([1.0, 2.0, 3.0],), "f": (3.0, 4.0),
    "gamma": (2.5,), "geometric": (0.2,), "hypergeometric": (5, 6, 4), "integers": (3, 1000), "logseries": (0.4,),
    "multinomial": (10, [0.2, 0.3, 0.5]), "multivariate_hypergeometric": ([4, 5, 6], 7),
    "multivariate_normal": ([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]]), "negative_binomial": (5, 0.4),
    "noncentral_chisquare": (3.0, 2.0), "noncentral_f": (3.0, 4.0, 2.0), "pareto": (3.0,), "poisson": (4.5,),
    "power": (2.0,), "randint": (3, 1000), "random_integers": (3, 9), "standard_gamma": (2.0,), "standard_t": (4.0,),
    "triangular": (0.0, 1.0, 3.0), "vonmises": (0.5, 2.0), "wald": (1.0, 2.0), "weibull": (2.0,), "zipf": (2.5,),
}  # fmt: skip
IN_PLACE = {
    "bytes",
    "choice",
    "permutation",
    "permuted",
    "rand",
    "randn",
    "shuffle",
    "spawn",
    "seed",
}


def methods(kind):
    return [
        n
        for n in dir(kind)
        if n[0] != "_" and n not in IN_PLACE | {"bit_generator", "get_state", "set_state"}
    ]


def same(found, wanted):
    assert isinstance(found, tn.ndarray) == isinstance(wanted, np.ndarray)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype
    np.testing.assert_array_equal(np.asarray(found), wanted)


def pair(name="PCG64", seed=7):
    return ours.Generator(getattr(ours, name)(seed)), np.random.Generator(
        getattr(np.random, name)(seed)
    )


@pytest.mark.parametrize("bits", BITS)
def test_bit_generators(bits):
    a, b = pair(bits)
    same(a.bit_generator.random_raw(5), b.bit_generator.random_raw(5))
    for name in ("random", "standard_normal", "standard_exponential"):
        for dtype in ("f4", "f8"):
            same(getattr(a, name)(1000, dtype=dtype), getattr(b, name)(1000, dtype=dtype))
    for dtype in "?bBhHiIqQ":
        high = 2 if dtype == "?" else 100
        same(a.integers(0, high, 77, dtype=dtype), b.integers(0, high, 77, dtype=dtype))
    np.testing.assert_equal(copy.deepcopy(np.asarray(a.random(3))), b.random(3))
    state = a.bit_generator.state
    first = a.random(4)
    a.bit_generator.state = state
    same(a.random(4), np.asarray(first))
    again = pickle.loads(pickle.dumps(a))
    same(again.random(4), np.asarray(a.random(4)))
    assert isinstance(again, ours.Generator) and type(again.bit_generator) is getattr(ours, bits)


@pytest.mark.parametrize("name", methods(np.random.Generator))
def test_generator(name):
    a, b = pair()
    arguments = ARGUMENTS.get(name, ())
    for size in (None, 5, (2, 3), 0):
        same(getattr(a, name)(*arguments, size=size), getattr(b, name)(*arguments, size=size))
    if not any(isinstance(x, list) for x in arguments):
        lists = [np.full((2, 1), x) for x in arguments]
        same(getattr(a, name)(*map(tn.array, lists)), getattr(b, name)(*lists))
    assert inspect.signature(getattr(ours.Generator, name)) == inspect.signature(
        getattr(np.random.Generator, name)
    )


@pytest.mark.parametrize("name", methods(np.random.RandomState))
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_legacy(name):
    a, b = ours.RandomState(3), np.random.RandomState(3)
    arguments = ARGUMENTS.get(name, ())
    for size in (None, 5, (2, 3)):
        same(getattr(a, name)(*arguments, size=size), getattr(b, name)(*arguments, size=size))
    if name != "tomaxint":
        ours.seed(5)
        wanted = getattr(np.random.RandomState(5), name)(*arguments, size=4)
        same(getattr(ours, name)(*arguments, size=4), wanted)


def test_legacy_shapes_and_state():
    a, b = ours.RandomState(3), np.random.RandomState(3)
    same(a.rand(2, 3), b.rand(2, 3))
    same(a.randn(4), b.randn(4))
    assert a.bytes(9) == b.bytes(9)
    state = a.get_state()
    first = np.asarray(a.rand(3))
    a.set_state(state)
    same(pickle.loads(pickle.dumps(a)).rand(3), first)
    same(a.rand(3), first)


def test_orders_and_choices():
    for a, b in (pair(), (ours.RandomState(2), np.random.RandomState(2))):
        for n in (1, 2, 17, 1000):
            x = np.arange(3 * n).reshape(n, 3)
            y, ones = tn.array(x), tn.arange(n)
            a.shuffle(y), b.shuffle(x)
            same(y, x)
            line = np.arange(n)
            a.shuffle(ones), b.shuffle(line)
            same(ones, line)
            same(a.permutation(n), b.permutation(n))
            same(a.permutation(tn.array(x)), b.permutation(x))
            same(a.choice(n, 4), b.choice(n, 4))
            same(a.choice(tn.arange(n), n, False), b.choice(np.arange(n), n, False))
        same(a.choice(3, 5, p=tn.array([0.2, 0.3, 0.5])), b.choice(3, 5, p=[0.2, 0.3, 0.5]))
    a, b = pair()
    x = np.arange(12).reshape(3, 4)
    for axis in (None, 0, 1):
        same(a.permuted(tn.array(x), axis=axis), b.permuted(x, axis=axis))
    y = tn.array(x)
    a.shuffle(y, axis=1), b.shuffle(x, axis=1)
    same(y, x)
    items, theirs = [*range(9)], [*range(9)]
    a.shuffle(items), b.shuffle(theirs)
    assert items == theirs


def test_into_arrays():
    a, b = pair()
    for name, arguments in (
        ("random", ()),
        ("standard_normal", ()),
        ("standard_exponential", ()),
        ("standard_gamma", (2.0,)),
    ):
        for dtype in "fd":
            out = tn.empty((3, 4), dtype)
            assert getattr(a, name)(*arguments, out=out, dtype=dtype) is out
            same(out, getattr(b, name)(*arguments, (3, 4), dtype=dtype))
    out = tn.empty(5)
    waiting = out + 0
    assert a.random(None, float, out) is out and waiting.shape == (5,)
    with pytest.raises(TypeError):
        a.random(out=tn.empty(5, "f4"))
    with pytest.raises(ValueError, match="contiguous"):
        a.random(out=tn.empty((4, 4))[:, ::2])
    with pytest.raises(TypeError, match=r"tessera\.numeric"):
        a.random(out=np.empty(3))


def test_seeds_and_streams():
    same(
        ours.default_rng(tn.array([1, 2, 3])).random(3), np.random.default_rng([1, 2, 3]).random(3)
    )
    rng = ours.default_rng(1)
    assert ours.default_rng(rng) is rng
    same(ours.default_rng(np.random.PCG64(4)).random(3), np.random.default_rng(4).random(3))
    for mine, theirs in zip(rng.spawn(2), np.random.default_rng(1).spawn(2), strict=True):
        same(mine.random(2), theirs.random(2))
    ours.seed(11)
    same(ours.random(3), np.random.RandomState(11).random(3))
    before = ours.get_bit_generator()
    try:
        ours.set_bit_generator(ours.PCG64(3))
        ours.seed(4)
        same(ours.random(2), np.random.Generator(np.random.PCG64(4)).random(2))
    finally:
        ours.set_bit_generator(before)


def test_mistakes():
    rng = ours.default_rng(0)
    for bad in (
        lambda: rng.integers(5, 2),
        lambda: rng.normal(scale=-1),
        lambda: rng.choice(0, 3),
        lambda: rng.random(-1),
    ):
        with pytest.raises(ValueError):
            bad()
    x = tn.arange(4)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        rng.shuffle(x)


@pytest.mark.parametrize("bits", ["PCG64", "Philox"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_streams_that_jump_are_drawn_in_parallel(bits, dtype):
    """Long arrays: the same numbers as one after the other, and the stream stands behind them."""
    a, b = pair(bits)
    for shape in (1 << 13, (3, 5000), 70000, 8195, (1 << 13) + 2, 1 << 17, 5):
        before = tn.host_calls().get("random.random", 0)
        stands = b.bit_generator.state
        same(a.random(shape, dtype), b.random(shape, dtype))
        aligned = bits == "PCG64" or stands["buffer_pos"] == 4
        small = np.prod(shape) < 1 << 13 or (
            dtype == "f4" and (np.prod(shape) % 2 or stands["has_uint32"])
        )
        assert tn.host_calls().get("random.random", 0) - before == (
            0 if aligned and not small else 1
        )
        np.testing.assert_equal(where(a), where(b))
    same(a.uniform(-2, 7.5, 1 << 14), b.uniform(-2, 7.5, 1 << 14))
    out, wanted = tn.empty((64, 256), dtype), np.empty((64, 256), dtype)
    assert a.random(out=out, dtype=dtype) is out
    b.random(out=wanted, dtype=dtype)
    same(out, wanted)
    same(a.normal(size=9), b.normal(size=9))


def where(generator):
    """The state, without the half of a word that is not waiting to be drawn."""

    def plain(x):
        return {k: plain(v) for k, v in x.items()} if isinstance(x, dict) else np.asarray(x)

    state = plain(generator.bit_generator.state)
    return state if state["has_uint32"] else state | {"uinteger": 0}


def test_a_counter_that_passes_its_word():
    state = np.random.Philox(1).state
    state["state"]["counter"][0] = 2**64 - 5
    a, b = pair("Philox")
    a.bit_generator.state = b.bit_generator.state = state
    same(a.random(1 << 14), b.random(1 << 14))


def in_threads(n, work):
    begin = threading.Barrier(n)

    def one(i):
        begin.wait()
        work(i)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(n)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


@pytest.mark.parametrize("kind", [np.random.PCG64, ours.PCG64, ours.Philox])
def test_generators_of_one_stream_share_its_lock(kind):
    bits, found = kind(5), []

    def draw(i):
        rng = ours.Generator(bits)
        for k in range(10):
            found.append(np.asarray(rng.random(8192 if (i + k) % 2 else 4096)))

    in_threads(4, draw)
    numbers = np.concatenate(found)
    assert len(np.unique(numbers)) == len(numbers)
    wanted = np.random.Generator(getattr(np.random, kind.__name__)(5)).random(len(numbers))
    np.testing.assert_array_equal(np.sort(numbers), np.sort(wanted))


@pytest.mark.parametrize(
    "work",
    [
        lambda rng: rng.shuffle(tn.arange(9)),
        lambda rng: rng.shuffle([1, 2, 3]),
        lambda rng: rng.permuted(tn.arange(9)),
        lambda rng: rng.integers(5, size=3),
        lambda rng: rng.random(10000),
        lambda rng: rng.spawn(2),
        lambda rng: rng.bit_generator.random_raw(3),
        lambda rng: rng.bit_generator.state,
        lambda rng: setattr(rng.bit_generator, "state", ours.PCG64(3).state),
        lambda rng: rng.bit_generator.advance(3),
        lambda rng: rng.bit_generator.jumped(),
    ],
)
def test_what_draws_waits_for_the_lock_of_the_stream(work):
    check_waits(ours.default_rng(3), work)


@pytest.mark.parametrize(
    "work",
    [
        lambda legacy: legacy.seed(4),
        lambda legacy: legacy.set_state(np.random.RandomState(4).get_state()),
        lambda legacy: legacy.get_state(),
        lambda legacy: legacy.shuffle(tn.arange(9)),
        lambda legacy: legacy.rand(3),
    ],
)
def test_legacy_streams_wait_too(work):
    check_waits(ours.RandomState(3), work)


def check_waits(rng, work):
    done = threading.Event()
    thread = threading.Thread(target=lambda: (work(rng), done.set()))
    with lock_of(rng._stream):
        thread.start()
        assert not done.wait(0.05)
    assert done.wait(30)
    thread.join()


def test_orders_are_counted():
    rng, legacy = ours.default_rng(1), ours.RandomState(1)
    for name, work in (
        ("random.permuted", lambda: rng.permuted(tn.arange(4))),
        ("random.shuffle", lambda: rng.shuffle(tn.arange(4))),
        ("random.shuffle", lambda: legacy.shuffle(tn.arange(4))),
        ("random.shuffle", lambda: ours.shuffle(tn.arange(4))),
        ("random.random_raw", lambda: rng.bit_generator.random_raw(4)),
    ):
        before = tn.host_calls().get(name, 0)
        work()
        assert tn.host_calls()[name] == before + 1


class Throws(tn.ndarray):
    def __float__(self):
        raise TypeError("no number")


class Shows:
    def __array__(self, dtype=None, copy=None):
        return tn.arange(5)


@pytest.mark.parametrize("m", [np, tn])
def test_masked_arrays_are_shuffled_with_their_masks(m):
    for draw in (m.random.RandomState(1), m.random.default_rng(1)):
        a = m.ma.array(m.arange(20), mask=m.arange(20) % 3 == 0)
        draw.shuffle(a)
        assert sorted(a.compressed().tolist()) == [i for i in range(20) if i % 3]
        two = m.ma.array(m.arange(20).reshape(4, 5), mask=m.arange(20).reshape(4, 5) % 3 == 0)
        draw.shuffle(two)
        assert sorted(two.compressed().tolist()) == [i for i in range(20) if i % 3]


def test_arguments_by_their_own_conversions():
    wanted = np.random.RandomState(1).permutation(5).tolist()
    assert tn.random.RandomState(1).permutation(Shows()).tolist() == wanted
    with pytest.raises(TypeError, match="no number"):
        tn.random.default_rng(1).uniform(tn.array(1.0).view(Throws), 2.0)


def test_generators_are_pickled_by_name_and_state():
    for made in (tn.random.RandomState(3), tn.random.RandomState(tn.random.PCG64(3)), tn.random.default_rng(3)):
        made.normal()
        other = pickle.loads(pickle.dumps(made))
        assert type(other) is type(made) and (other.normal(size=4) == made.normal(size=4)).all()
        build, _, _ = made.__reduce__()
        assert type(build("PCG64")) is type(made)


def test_shuffling_a_dict_warns_of_this_line():
    for draw in (tn.random, tn.random.default_rng(1)):
        values = {0: 0, 1: 1, 2: 2}
        with pytest.warns(UserWarning) as told:
            draw.shuffle(values)
        assert len(told) == 1 and told[0].filename == __file__


def test_numbers_are_not_shuffled():
    for draw in (tn.random.RandomState(1), tn.random.default_rng(1)):
        with pytest.raises(TypeError):
            draw.shuffle(tn.array(3))
