# SPDX-License-Identifier: Apache-2.0
"""Details of NumPy's meaning, each a program that is run with NumPy and with ours: results, dtypes, exceptions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tessera.numeric as tn

NAN, INF = float("nan"), float("inf")


def outcome(m, program):
    """What a program gives: dtypes and lists; of an exception its class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = program(m)
        except (TypeError, ValueError, OverflowError, ArithmeticError, IndexError, RuntimeError) as error:
            kinds = (OverflowError, FloatingPointError, TypeError, IndexError, ValueError, RuntimeError)
            return next(kind for kind in kinds if isinstance(error, kind))
    parts = made if isinstance(made, (tuple, list)) else (made,)
    return [repr((str(np.asarray(x).dtype), np.asarray(x).tolist())) for x in parts]


def written(kind, key, value):
    def program(m):
        a = m.zeros(3 if key != () else (), kind)
        a[key] = value
        return a

    return program


@pytest.mark.parametrize("kind", ["i8", "i2", "u1", "?", "f4"])
@pytest.mark.parametrize("value", [
    NAN, INF, np.float32(NAN), np.float64(INF), 1e30, 300, 300.0, -1.0, np.float32(-1), 2.7, NAN + 1j, np.int64(300),
], ids=repr)  # fmt: skip
def test_numbers_that_are_written(kind, value):
    for key in (0, (), ..., slice(None)):
        if isinstance(value, np.floating) and kind == "u1" and not np.isfinite(value):
            continue  # NumPy's result depends on the processor
        assert outcome(tn, written(kind, key, value)) == outcome(np, written(kind, key, value)), key


def strict(program):
    def run(m):
        with np.errstate(all="raise"):
            return program(m)

    return run


def as_int8(m, values):
    return m.array(values * 2000, "i1")


PROGRAMS = {
    "promotion of three": lambda m: m.empty(0, m.result_type("i2", "u2", "f2")),
    "promotion of bool": lambda m: m.empty(0, m.result_type("?", "i1", 2.0, "c8")),
    "weak numbers are joined": lambda m: m.concatenate([np.float32(1), 1.0], axis=None),
    "counts of nothing": lambda m: m.bincount([], minlength=2),
    "putmask of nothing": lambda m: putmask(m),
    "take by bools": lambda m: m.take(m.arange(4), [True, False]),
    "logspace of bases": lambda m: m.logspace(0, 3, 4, base=m.array([1, 2])[:, None], axis=-1).round(12),
    "geomspace of both signs": lambda m: m.geomspace(-1, -8, 4).round(12),
    "geomspace of complex": lambda m: m.geomspace(1j, 16j, 5).round(12),
    "vectorize by signature": lambda m: m.vectorize(lambda a, b: a.sum() + b.mean(), signature="(n),(m)->()")(
        m.arange(6).reshape(2, 3), m.arange(4)),
    "vectorize of lines": lambda m: m.vectorize(lambda a: a - a.mean(), signature="(n)->(n)")(m.arange(4.0)),
    "divmod": lambda m: m.divmod(m.arange(4, dtype="f4"), 2.0),
    "divmod by dtype": lambda m: m.divmod(m.arange(4), 2, dtype="f8"),
    "divmod's loops": lambda m: m.divmod(m.arange(4), 2, signature="ii->ii"),
    "ldexp by signature": lambda m: m.ldexp(m.ones(2, "f4"), 3, signature="di->d"),
    "ldexp by another": lambda m: m.ldexp(m.ones(2, "f4"), 3, signature="ff->f"),
    "matmul by signature": lambda m: m.matmul(m.ones((2, 3), "f4"), m.ones(3, "f4"), signature="dd->d"),
    "no reductions": lambda m: m.matmul.reduce(m.ones((2, 2))),
    "dtype in place": lambda m: retyped(m),
    "sum of one": lambda m: (m.sum(3, axis=0), m.power.reduce(3), m.max(m.float32(2), axis=-1), m.any(0, axis=0)),
    "max of nothing": lambda m: m.max(m.zeros((0, 0)), axis=1),
    "max of no axis": lambda m: m.max(m.zeros((0, 0)), axis=()),
    "argmax of nothing": lambda m: m.argmax(m.zeros((2, 0)), axis=1),
    "argmin of no rows": lambda m: m.argmin(m.zeros((0, 2)), axis=1),
    "out=...": lambda m: [type(x) is m.ndarray for x in (m.add(1, 2, out=...), m.add.reduce(m.ones(2), out=...),
                                                         *m.divmod(1, 2, out=...))],
    "... in a tuple": lambda m: m.negative(1, out=(...,)),
    "... by place": lambda m: m.add(1, 2, ...),
    "vecdot spreads": lambda m: m.vecdot(m.arange(3), m.arange(3), out=m.empty((2, 2))),
    "bool as extent": lambda m: m.arange(2).reshape(True, -1),
    "bool as axis": lambda m: m.take(m.arange(2), [0], False),
    "64 places": lambda m: m.ones((1,) * 64)[(m.array([0]),) * 64],
    "raising, large": strict(lambda m: m.arange(100_000) // m.zeros(100_000, int)),
    "raising, overflow": strict(lambda m: m.exp(m.arange(10_000.0))),
    "raising, least": strict(lambda m: as_int8(m, [-128, 5]) // -1),
    "raising, fine": strict(lambda m: m.arange(10_000) + 1),
}  # fmt: skip


def putmask(m):
    a = m.arange(3)
    m.putmask(a, m.array([True, False, True]), [])
    return a


def retyped(m):
    a = m.arange(3, dtype="i4")
    a.dtype = "f4"
    return a.view("i4")


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    assert outcome(tn, PROGRAMS[name]) == outcome(np, PROGRAMS[name])


def test_functions_of_elements_are_ufuncs():
    for name in ("add", "divmod", "frexp", "gcd", "matmul", "vecdot", "ldexp"):
        ours, theirs = getattr(tn, name), getattr(np, name)
        assert isinstance(ours, tn.ufunc) and repr(ours) == repr(theirs)
        for what in ("nin", "nout", "nargs", "signature"):
            assert getattr(ours, what) == getattr(theirs, what)
        assert set(ours.types) <= set(theirs.types) and ours.ntypes == len(ours.types)
    assert not isinstance(tn.sum, tn.ufunc)


def test_functions_of_pythons():
    join = tn.frompyfunc(lambda a, b: f"{a}{b}", 2, 1)
    assert join(tn.arange(3), "x").tolist() == ["0x", "1x", "2x"] and join.nin == 2
    total = tn.frompyfunc(lambda a, b: a + b, 2, 1, identity=0)
    assert total.reduce(tn.arange(5)) == 10 and total.identity == 0
    assert tn.host_calls()["frompyfunc"] >= 2


@pytest.mark.parametrize("name", [n for n in dir(np.ndarray) if n[0] != "_"])
def test_methods_have_numpys_signatures(name):
    import inspect

    try:
        wanted = inspect.signature(getattr(np.ndarray, name))
    except (TypeError, ValueError):
        return
    assert inspect.signature(getattr(tn.ndarray, name)) == wanted


def warned(m, program):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        program(m)
    return [(w.category, str(w.message)) for w in found]


@pytest.mark.parametrize("program", [
    lambda m: m.ones(3, "c8").astype("f4"), lambda m: m.ones(3, "c8").astype("c16"),
    lambda m: m.ones(3, "c8").astype("?"), lambda m: m.zeros(3).__setitem__(slice(1), m.ones(1, "c16")),
    lambda m: m.add(m.ones(3), 1, where=m.arange(3) > 1),
    lambda m: m.add(m.ones(3), 1, where=m.arange(3) > 1, out=None),
    lambda m: m.add(m.ones(3), 1, where=True),
])  # fmt: skip
def test_warnings(program):
    assert warned(tn, program) == warned(np, program)


def test_strides_of_a_number_are_none():
    view = tn.lib.stride_tricks.as_strided(7, (2, 3))  # as numpy.vectorize asks for shapes
    assert view.shape == (2, 3) and view.tolist() == [[7] * 3] * 2
