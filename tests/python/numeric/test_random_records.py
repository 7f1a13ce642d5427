# SPDX-License-Identifier: Apache-2.0
"""Random programs on arrays of random records, run by NumPy and by tessera.numeric: results, dtypes, strides' signs and
what memory is shared must be the same."""

from __future__ import annotations

import os
import random

import numpy
import pytest
import tessera.numeric as tn

LONG = bool(os.environ.get("TESSERA_TEST_LONG"))
PLAIN = "? b B h H i I q Q e f d F D S3 U2 V5 M8[s] m8[ms]".split()


def dtype_of(r: random.Random, depth: int = 2) -> numpy.dtype:
    fields = []
    for i in range(r.randint(1, 4)):
        kind = r.random()
        if depth and kind < 0.2:
            of = dtype_of(r, depth - 1)
        else:
            of = numpy.dtype(r.choice(PLAIN))
            if r.random() < 0.15 and of.kind != "V":
                of = of.newbyteorder()
        name = f"f{i}" if r.random() < 0.8 else (f"title {i}", f"f{i}")
        shape = tuple(r.randint(1, 3) for _ in range(r.randint(1, 2)))
        fields.append((name, of, shape) if r.random() < 0.2 else (name, of))
    return numpy.dtype(fields, align=r.random() < 0.3)


def contents(r: random.Random, dtype: numpy.dtype, shape: tuple) -> numpy.ndarray:
    """Records of small numbers and short texts, every byte of which is known."""
    made = numpy.zeros(shape, dtype)
    rng = numpy.random.default_rng(r.randrange(1 << 30))
    fill(made, rng)
    return made


def fill(a: numpy.ndarray, rng: numpy.random.Generator) -> None:
    if a.dtype.names is not None:
        for name in a.dtype.names:
            fill(a[name], rng)
        return
    numbers = rng.integers(0, 5, a.shape)
    if a.dtype.kind == "V":
        a[...] = numbers.astype("S5").view("V5").reshape(a.shape) if a.dtype.itemsize == 5 else a
    else:
        a[...] = numbers.astype("S3") if a.dtype.kind == "S" else numbers


class Program:
    """Pairs of arrays, NumPy's and ours, that the same statements change."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.dtypes = [dtype_of(self.r) for _ in range(2)]
        self.pairs: list = []
        self.done: list[str] = []
        for _ in range(2):
            self.make()

    def make(self) -> None:
        shape = tuple(self.r.randint(0 if self.r.random() < 0.1 else 1, 5) for _ in range(self.r.randint(0, 3)))
        theirs = contents(self.r, self.r.choice(self.dtypes), shape)
        self.add("make", theirs, tn.array(theirs))

    def add(self, what: str, theirs, ours) -> None:
        self.done.append(f"{what} -> {getattr(theirs, 'dtype', None)} {getattr(theirs, 'shape', None)}")
        self.same(theirs, ours)
        if isinstance(theirs, numpy.ndarray):
            self.pairs.append((theirs, ours))
            del self.pairs[:-12]

    def same(self, theirs, ours) -> None:
        told = "\n".join(self.done)
        assert ours.dtype == theirs.dtype, told
        assert isinstance(theirs, numpy.ndarray) == isinstance(ours, tn.ndarray), told
        assert ours.shape == theirs.shape, told
        for x, y in zip(leaves(numpy.asarray(ours)), leaves(numpy.asarray(theirs)), strict=True):
            assert x.dtype == y.dtype and x.tolist() == y.tolist(), f"{told}\n{x}\n{y}"

    def both(self, what: str, function, *pairs) -> None:
        try:
            theirs = function(numpy, *(p[0] for p in pairs))
        except (TypeError, ValueError, IndexError, KeyError) as error:
            self.done.append(f"{what} raises {error!r}")
            with pytest.raises((type(error), ValueError, TypeError)):
                function(tn, *(p[1] for p in pairs))
            return
        ours = function(tn, *(p[1] for p in pairs))
        self.add(what, theirs, ours)

    def key(self, a: numpy.ndarray):
        r = self.r
        if a.dtype.names and r.random() < 0.35:
            names = [*a.dtype.names]
            return r.choice(names) if r.random() < 0.7 else r.sample(names, r.randint(1, len(names)))
        if a.ndim and r.random() < 0.25:
            n = a.shape[0]
            return [r.randint(-n, n - 1) for _ in range(r.randint(0, 4))] if n else slice(None)
        if r.random() < 0.2:
            return numpy.array([[r.random() < 0.5 for _ in range(max(a.size, 1))]]).ravel()[: a.size].reshape(a.shape)
        items = []
        for n in a.shape[: r.randint(0, a.ndim)]:
            begin, step = r.randint(-1, 3), r.choice([1, 1, 2, -1])
            whole = slice(begin if step > 0 else None, None, step)
            items.append(r.randint(0, n - 1) if n and r.random() < 0.3 else whole)
        return (*items, ...) if r.random() < 0.5 else tuple(items)

    def statement(self) -> None:
        r, pair = self.r, self.r.choice(self.pairs)
        a = pair[0]
        match r.randrange(11):
            case 0:
                self.make()
            case 1 | 2:
                key, of = self.key(a), r.choice([of_array, of_list])
                self.both(f"a[{key!r}] {of.__name__}", lambda np, x: x[of(np, key)], pair)
            case 3:
                key, of = self.key(a), r.choice([of_array, of_list])
                try:
                    value = contents(r, a[key].dtype, a[key].shape if r.random() < 0.5 else ())[()]
                except (IndexError, ValueError):
                    return
                self.write(
                    f"a[{key!r}] = {value!r} {of.__name__}",
                    lambda np, x: x.__setitem__(of(np, key), of(np, value)), pair,
                )  # fmt: skip
            case 4:
                other = r.choice(self.pairs)
                self.write("a[...] = b", lambda np, x, y: x.__setitem__(..., y), pair, other)
            case 5:
                self.both("copy", lambda np, x: x.copy(), pair)
            case 6:
                other = r.choice(self.pairs)
                self.both("==", lambda np, x, y: np.asarray(x == y), pair, other)
            case 7:
                axis = r.randint(0, max(a.ndim - 1, 0))
                self.both("concatenate", lambda np, x: np.concatenate([x, x[::-1]], axis), pair)
            case 8:
                n = r.randint(0, 3)
                self.both("repeat", lambda np, x: np.repeat(x, n, axis=0), pair)
            case 9:
                self.both("T", lambda np, x: x.T, pair)
            case _:
                mask = numpy.array([r.random() < 0.5 for _ in range(a.size)]).reshape(a.shape)
                self.both("where", lambda np, x: np.where(np.asarray(mask), x, x[...]), pair)

    def write(self, what: str, function, *pairs) -> None:
        before = [(p[0].copy(), p) for p in self.pairs]
        try:
            with numpy.errstate(all="ignore"):
                function(numpy, *(p[0] for p in pairs))
        except (TypeError, ValueError, IndexError, KeyError) as error:
            self.done.append(f"{what} raises {error!r}")
            for kept, (theirs, _) in before:
                if theirs.flags.writeable:
                    theirs[...] = kept
            with pytest.raises((type(error), ValueError, TypeError)):
                function(tn, *(p[1] for p in pairs))
            self.pairs = []  # what was written before the error may differ
            self.make()
            return
        self.done.append(what)
        function(tn, *(p[1] for p in pairs))
        for theirs, ours in self.pairs:
            self.same(theirs, ours)


def of_array(np, x):
    """A list of places, or an array, as an array of the module."""
    is_list = isinstance(x, list) and not any(isinstance(i, str) for i in x)
    return np.asarray(x, int if is_list else x.dtype) if is_list or isinstance(x, numpy.ndarray) else x


def of_list(np, x):
    return x


def leaves(a: numpy.ndarray) -> list[numpy.ndarray]:
    """The fields of all levels, without what stands between them."""
    if a.dtype.names is None:
        return [a]
    return [leaf for name in a.dtype.names for leaf in leaves(a[name])]


def run(seed: int, statements: int = 12) -> None:
    program = Program(seed)
    for _ in range(statements):
        program.statement()


@pytest.mark.parametrize("block", range(40 if LONG else 2))
def test_random_programs_on_records(block):
    for seed in range(block * 100, block * 100 + (100 if LONG else 25)):
        run(seed)
