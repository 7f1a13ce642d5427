# SPDX-License-Identifier: Apache-2.0
"""Random statements that write: to items of a random key, by values that may not fit, in mixed byte orders, to fields
of packed records and views of them. Each is run on NumPy's array and on ours; the arrays must stay equal, and results,
dtypes and classes of exceptions be the same. TESSERA_NUMERIC_STATEMENTS says how many (20,000 take three minutes)."""

from __future__ import annotations

import os
import warnings

import numpy as np
import tessera.numeric as tn
from long_form import LONG

COUNT = int(os.environ.get("TESSERA_NUMERIC_STATEMENTS", "1500" if LONG else "40"))
KINDS = ("i1", "u1", "i2", "u2", "i4", "i8", "u8", "f4", "f8", "?", ">i2", ">i4", ">u4", ">f4", ">f8", "c8")
RECORD = np.dtype([("x", "i1"), ("y", "f4"), ("z", ">i2"), ("w", "u8")])  # packed: y, z and w lie at odd places
INTEGERS = (0, 1, -1, 5, 127, 128, 255, 256, 300, -129, 40000, 70000, 2**31, -(2**31) - 1, 2**53 + 1, 2**63, -(2**63))
UFUNCS = ("add", "subtract", "multiply", "maximum", "minimum")


def pick(rng, things):
    return things[rng.integers(len(things))]


def target(rng):
    """An array of NumPy's and ours with the same elements, and how both are viewed."""
    shape = pick(rng, [(6,), (5,), (3, 4), (2, 3, 2)])
    kind = pick(rng, (*KINDS, "record", "record"))
    if kind == "record":
        data = np.zeros(shape, RECORD)
        for name in RECORD.names:
            data[name] = np.arange(data.size).reshape(shape) % 7
        name = pick(rng, (*RECORD.names, "y", "w"))
        return data, tn.array(data), lambda a: a[name], name
    data = (np.arange(np.prod(shape)).reshape(shape) % 5).astype(kind)
    way = int(rng.integers(4))
    ways = (lambda a: a, lambda a: a[::-1], lambda a: a.T, lambda a: a[..., ::2])
    return data, tn.array(data), ways[way], f"{kind} view {way}"


def number(rng):
    one = pick(rng, INTEGERS)
    near = one if abs(one) < 2**31 else 7  # other floats have no integer
    return pick(rng, (one, one, one, float(near), 1.5, True))


def index(rng, n):
    """A key along one axis: a maker of it for a module, and its text."""
    kind, places = pick(rng, "isllaabB"), [int(i) for i in rng.integers(-n, n, rng.integers(0, 4))]
    if kind == "i":
        return (lambda m: places[0]) if places else (lambda m: 0)
    if kind == "s":
        step = int(pick(rng, (1, 2, -1)))
        return lambda m: slice(None, None, step)
    if kind == "l":
        return lambda m: list(places)
    if kind == "a":
        dtype = pick(rng, ("i8", "i4", ">i8", ">i2", "u1" if all(i >= 0 for i in places) else "i1"))
        return lambda m: m.array(places, dtype)
    mask = [bool(i) for i in rng.integers(0, 2, n)]
    return (lambda m: mask) if kind == "b" else (lambda m: m.array(mask))


def key(rng, a):
    if rng.integers(4) == 0:
        bound = int(rng.integers(5))
        return lambda m, a: a < bound  # a mask of all elements
    one = index(rng, a.shape[0])
    if a.ndim == 1 or rng.integers(2):
        return lambda m, a: one(m)
    other = index(rng, a.shape[1])
    return lambda m, a: (one(m), other(m))


def value(rng, a):
    kind = int(rng.integers(4))
    one = number(rng)
    if kind == 0:
        return lambda m: one
    many = [number(rng) for _ in range(rng.integers(1, 4))]
    if a.dtype.kind == "b":
        many = many[:1]  # a.flat[i] = [1, 0] is their truth in NumPy
    if kind == 1:
        return lambda m: many
    dtype = pick(rng, KINDS)
    small = [int(i) for i in rng.integers(0, 100, rng.integers(1, 4))]
    return (lambda m: m.array(small, dtype)) if kind == 2 else (lambda m: np.array(small[0], dtype)[()])


def statement(rng, a):
    """What is done to an array, and its name."""
    where, what, n = key(rng, a), value(rng, a), number(rng)
    name, flat = pick(rng, UFUNCS), index(rng, a.size)
    few = n % 1000  # sums of others are floats that have no integer
    if a.dtype.kind == "b" and isinstance(n, int):
        n = few  # NumPy's comparisons of bools end at 2**63
    choice = pick(rng, ("set",) * 6 + ("change", "at", "flat", "put", "place", "putmask", "copyto", "fill", "compare",
                                       "where", "take", "clip", "full", "number"))  # fmt: skip

    def change(m, a):
        where_ = where(m, a)
        a[where_] = getattr(m, name)(a[where_], what(m))

    return choice, {
        "set": lambda m, a: a.__setitem__(where(m, a), what(m)), "change": change,
        "at": lambda m, a: getattr(m, name).at(a, where(m, a), few), "flat": lambda m, a: a.flat.__setitem__(
            flat(m), what(m)),
        "put": lambda m, a: m.put(a, [0, -1, 2], what(m)), "place": lambda m, a: m.place(a, a > 1, what(m)),
        "putmask": lambda m, a: m.putmask(a, a > 1, what(m)), "copyto": lambda m, a: m.copyto(a, few),
        "fill": lambda m, a: a.fill(n), "compare": lambda m, a: [a == n, a < n, n >= a],
        "where": lambda m, a: m.where(a > 1, a, n), "take": lambda m, a: m.take(a, flat(m), mode="wrap"),
        "clip": lambda m, a: m.clip(a, 1, n), "full": lambda m, a: m.full_like(a, n),
        "number": lambda m, a: getattr(m, name)(a, n),
    }[choice]  # fmt: skip


def outcome(run, m, a):
    try:
        made = run(m, a)
    except Exception as error:  # noqa: BLE001
        return type(error).__name__
    made = [np.asarray(x) for x in (made if isinstance(made, list) else [made]) if x is not None]
    return [(x.dtype, x.shape, x.tobytes()) for x in made]


def test_statements_that_write_are_numpys():
    rng, bad = np.random.default_rng(int(os.environ.get("TESSERA_NUMERIC_SEED", "1"))), []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for i in range(COUNT):
            if i % 4 == 0:
                theirs, ours, view, text = target(rng)
            choice, run = statement(rng, view(theirs))
            wanted, found = outcome(run, np, view(theirs)), outcome(run, tn, view(ours))
            same = np.asarray(ours).tobytes() == theirs.tobytes()
            failed = isinstance(wanted, str)  # NumPy may have written some elements of a list before the one that fails
            if wanted != found or not (same or failed):
                bad.append((i, text, choice, wanted, found, theirs.tolist(), ours.tolist()))
            if not same:
                ours[...] = tn.array(theirs)
    assert not bad, f"{len(bad)} of {COUNT}, the first: {bad[0]}"
