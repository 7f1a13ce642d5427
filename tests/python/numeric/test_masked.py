# SPDX-License-Identifier: Apache-2.0
"""Masked arrays, classes derived from ndarray and ``a.flat``, against NumPy's."""

from __future__ import annotations

import itertools
import pickle
import warnings

import numpy as np
import pytest
import tessera.numeric as tn

PROGRAMS = {
    "printing": lambda m: repr(m.ma.array([1.0, 2, 3], mask=[0, 1, 0])),
    "sum": lambda m: m.ma.array([1.0, 2, 3], mask=[0, 1, 0]).sum(),
    "std": lambda m: m.ma.array([1.0, 2, 3], mask=[0, 1, 0]).std(),
    "mean of rows": lambda m: m.ma.array([[1.0, 2], [3, 5]], mask=[[0, 1], [1, 1]]).mean(1).tolist(),
    "variances": lambda m: m.ma.array([[1.0, 2], [3, 5]], mask=[[0, 1], [0, 0]]).var(0).tolist(),
    "filled": lambda m: (m.ma.array([1.0, 2, 3], mask=[0, 1, 0]) + 1).filled(0).tolist(),
    "where": lambda m: m.ma.masked_where(m.arange(5) > 2, m.arange(5)).tolist(),
    "invalid": lambda m: m.ma.masked_invalid(m.array([1, m.nan])).tolist(),
    "median": lambda m: m.ma.median(m.ma.array([1.0, 2, 3, 9], mask=[0, 1, 0, 0])),
    "average": lambda m: m.ma.average(m.ma.array([1.0, 2, 3], mask=[0, 1, 0])),
    "indexing": lambda m: m.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])[0].tolist(),
    "assignment": lambda m: assigned(m),
    "concatenate": lambda m: m.ma.concatenate([m.ma.array([1], mask=[1]), m.arange(2)]).tolist(),
    "domain": lambda m: m.ma.sqrt(m.ma.array([-1.0, 4])).tolist(),
    "negative": lambda m: (-m.ma.array([1, 2], mask=[0, 1])).tolist(),
    "argsort": lambda m: m.ma.array([3, 1, 2], mask=[1, 0, 0]).argsort().tolist(),
    "sort": lambda m: m.ma.sort(m.ma.array([3, 1, 2], mask=[1, 0, 0])).tolist(),
    "product": lambda m: (m.ma.array([1.0, 2], mask=[0, 1]) * m.ma.array([1.0, 2], mask=[0, 0])).tolist(),
    "divide by zero": lambda m: (m.ma.array([1.0, 2]) / m.array([0.0, 1])).tolist(),
    "compare": lambda m: (m.ma.array([1, 2], mask=[0, 1]) == m.ma.array([1, 2], mask=[1, 1])).tolist(),
    "scalar first": lambda m: (np.float64(2) - m.ma.array([1.0, 2], mask=[0, 1])).tolist(),
    "scalar compared": lambda m: (np.int64(2) == m.ma.array([1, 2], mask=[0, 1])).tolist(),
    "runs": lambda m: m.ma.notmasked_contiguous(m.ma.array([1.0, 2, 3], mask=[0, 1, 0])),
    "singleton": lambda m: m.ma.array([1, 2], mask=[0, 1])[1] is m.ma.masked,
    "unique": lambda m: m.ma.unique(m.ma.array([1, 2, 1], mask=[0, 1, 0])).tolist(),
    "dot": lambda m: m.ma.dot(m.ma.array([[1.0, 2]], mask=[[0, 1]]), m.ma.array([[1.0], [2]])).tolist(),
    "extremes": lambda m: [x.tolist() for x in extremes(m)],
    "compressed": lambda m: m.ma.array([1, 2, 3], mask=[0, 1, 0]).compressed().tolist(),
    "count": lambda m: int(m.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [1, 1]]).count()),
    "cumsum": lambda m: m.ma.array([1, 2, 3], mask=[0, 1, 0]).cumsum().tolist(),
    "fit": lambda m: m.ma.polyfit(m.ma.array([1.0, 2, 3]), m.ma.array([1.0, 2, 3]), 1).round(6).tolist(),
    "shape": lambda m: m.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0]).reshape(2, 2).T.tolist(),
}  # fmt: skip


def assigned(m):
    a = m.ma.array([1.0, 2, 3, 4], mask=[0, 1, 0, 0])
    a[1], a[2] = 7, m.ma.masked
    a += 1
    return a.tolist()


def extremes(m):
    a = m.ma.array([[1, 2], [3, 4]], mask=[[1, 1], [0, 1]])
    return a.min(0), a.max(1), a.min(), a.max(), a.take([1, 0], 0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_masked_arrays(name):
    found, wanted = PROGRAMS[name](tn), PROGRAMS[name](np)
    if isinstance(wanted, (float, np.floating)):
        assert type(found) is type(wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
    else:
        assert found == wanted


def test_masked_arrays_hold_ours():
    a = tn.ma.array([1.0, 2.0], mask=[0, 1])
    assert type(a.data) is tn.ndarray and isinstance(a, tn.ndarray) and type(a.mask) is tn.ndarray
    assert type(a + 1) is tn.ma.MaskedArray is type(tn.exp(a))


class Named(tn.ndarray):
    def __array_finalize__(self, obj):
        self.name = getattr(obj, "name", "none")


def test_derived_classes():
    a = Named((2, 3), int)
    assert a.name == "none" and a.shape == (2, 3)
    a[...] = 1
    a.name = "mine"
    b = a.view(Named)
    assert b.name == "mine" and tn.shares_memory(a, b)
    assert type(tn.asarray(a)) is tn.ndarray and tn.asanyarray(a) is a
    assert type(tn.array(a)) is tn.ndarray and tn.array(a, subok=True).name == "mine"
    assert type(a + 1) is Named is type(-a) and type(a.view(tn.ndarray)) is tn.ndarray
    with pytest.raises(TypeError, match="derives"):
        a._as(int)


def test_setting_the_shape():
    a = tn.arange(6)
    a.shape = 2, -1
    assert a.shape == (2, 3) and a[1, 0] == 3
    with pytest.raises(AttributeError, match="in-place"):
        a.T.shape = (6,)
    with pytest.raises(ValueError, match="size"):
        a.shape = (4,)


def flat_program(m):
    a = m.arange(12).reshape(3, 4)
    parts = [
        [int(x) for x in a.T.flat],
        int(a.flat[5]),
        a.flat[2:9:3].tolist(),
        a.flat[[1, -1]].tolist(),
        len(a.flat),
    ]
    a.flat[3] = 50
    a.T.flat[1:4] = [7, 8, 9]
    a.flat[[0, 5]] = -1
    parts.append(a.tolist())
    a.flat = [1, 2, 3]
    parts += [a.tolist(), (a.flat == 2).tolist(), a.flat.copy().tolist()]
    rest = a.flat
    next(rest)
    return [*parts, rest.index, tuple(map(int, rest.coords))]


def test_flat():
    assert flat_program(tn) == flat_program(np)
    for bad in (99, (1, 2)):
        with pytest.raises(IndexError):
            tn.arange(3).flat[bad]


class Tagged(tn.ndarray):
    def __array_finalize__(self, obj):
        self.tag = getattr(obj, "tag", "none")


class NumpysTagged(np.ndarray):
    def __array_finalize__(self, obj):
        self.tag = getattr(obj, "tag", "none")


IN_CLASS = {
    "part": lambda m, a: a[1:], "row": lambda m, a: a[0], "turned": lambda m, a: a.T, "places": lambda m, a: a[[1, 0]],
    "mask": lambda m, a: a[a > 2], "sum": lambda m, a: a.sum(), "sums": lambda m, a: m.sum(a, axis=1),
    "mean": lambda m, a: a.mean(), "median": lambda m, a: m.median(a, axis=0), "average": lambda m, a: m.average(a),
    "expand": lambda m, a: m.expand_dims(a, 0), "copy": lambda m, a: a.copy(), "place": lambda m, a: a.argmax(),
    "ints": lambda m, a: a.astype(int), "resize": lambda m, a: m.resize(a, 4), "ones": lambda m, a: m.ones_like(a),
    "line": lambda m, a: a.reshape(-1), "running": lambda m, a: a.cumsum(0), "reduce": lambda m, a: m.add.reduce(a),
    "linspace": lambda m, a: m.linspace(a, a * 2, 3), "kron": lambda m, a: m.kron(a, a), "sort": lambda m, a: m.sort(a),
    "gradient": lambda m, a: m.gradient(a)[0], "diff": lambda m, a: m.diff(a), "insert": lambda m, a: m.insert(a, 0, 1),
    "round": lambda m, a: a.round(), "clip": lambda m, a: a.clip(1, 2), "where": lambda m, a: m.where(a > 1, a, a),
    "vstack": lambda m, a: m.vstack([a, a]), "copied": lambda m, a: m.copy(a, subok=True), "item": lambda m, a: a[0, 1],
}  # fmt: skip


@pytest.mark.parametrize("name", IN_CLASS)
def test_results_of_derived_classes(name):
    found = []
    for m, kind in ((np, NumpysTagged), (tn, Tagged)):
        a = m.arange(6.0).reshape(2, 3).view(kind)
        a.tag = "mine"
        made = IN_CLASS[name](m, a)
        found.append((type(made) is kind, getattr(made, "tag", None), m.asarray(made).tolist()))
    assert found[0] == found[1]


def reduced(m, function):
    a = m.ma.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], mask=[[1, 0, 0], [1, 0, 1]])
    made = getattr(a, function)()
    parts = [made, getattr(a, function)(0), getattr(a, function)(axis=1, keepdims=True)]
    parts += [getattr(m.ma.array([1, 2], mask=True), function)(), getattr(m.ma, function)(a > 1)]
    out = m.ma.zeros(3, bool)
    assert getattr(a, function)(0, out) is out
    return [type(x).__name__ for x in parts], [str(x) for x in parts], str(out)


OF_OPERANDS = {
    "dot": lambda m, a, b: m.dot(a, b), "dot from the right": lambda m, a, b: m.dot(b, a), "@": lambda m, a, b: a @ b,
    "@ from the right": lambda m, a, b: b @ a, "inner": lambda m, a, b: m.inner(b, a),
    "method": lambda m, a, b: a.dot(b),
    "outer": lambda m, a, b: m.add.outer(a, b), "matmul": lambda m, a, b: m.matmul(b, a),
    "bits": lambda m, a, b: m.packbits(a > 1), "imag": lambda m, a, b: a.imag, "vdot": lambda m, a, b: m.vdot(a, b),
    "concatenate": lambda m, a, b: m.concatenate([b, a]), "stack": lambda m, a, b: m.stack([a, b]),
    "block": lambda m, a, b: m.block([[a, b], [b, a]]), "append": lambda m, a, b: m.append(a, b),
    "multi_dot": lambda m, a, b: m.linalg.multi_dot([b, a, b]), "correlate": lambda m, a, b: m.correlate(a[0], b[0]),
}  # fmt: skip


@pytest.mark.parametrize("rank", [None, 10.0])
@pytest.mark.parametrize("name", OF_OPERANDS)
def test_classes_by_rank_of_operands(name, rank):
    found = []
    for m in (np, tn):
        kind = type("Kind", (m.ndarray,), {} if rank is None else {"__array_priority__": rank})
        made = OF_OPERANDS[name](m, m.array([[1.0, 2.0], [3.0, 4.0]]).view(kind), m.array([[2.0, 2.0], [0.0, 1.0]]))
        found.append((type(made) is kind, np.asarray(made).tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("function", ["all", "any"])
def test_logical_reductions(function):
    assert reduced(tn, function) == reduced(np, function)


MASKED = {
    "unique": lambda m, a: m.ma.unique(a), "setxor1d": lambda m, a: m.ma.setxor1d(a, [1, 2]),
    "setdiff1d": lambda m, a: m.ma.setdiff1d(a, [1]), "union1d": lambda m, a: m.ma.union1d(a, a),
    "ediff1d": lambda m, a: m.ma.ediff1d(m.arange(5)), "median": lambda m, a: m.ma.median(a),
    "asanyarray": lambda m, a: m.ma.asanyarray(m.arange(3)), "delete": lambda m, a: m.delete(a, 1),
    "take": lambda m, a: m.ma.take(m.arange(5), a),
    "insert": lambda m, a: m.insert(a, 1, 5), "flat": lambda m, a: a.flat[1:3], "diff": lambda m, a: m.ma.diff(a),
    "edges": lambda m, a: m.ma.mask_rowcols(m.ma.array([[1, 2], [3, 4]], mask=[[1, 0], [0, 0]])),
}  # fmt: skip


@pytest.mark.parametrize("name", MASKED)
def test_functions_of_masked_arrays(name):
    found = []
    for m in (np, tn):
        made = MASKED[name](m, m.ma.array([3, 1, 1, 2], mask=[0, 1, 0, 0]))
        found.append((type(made).__name__, str(made), str(m.ma.getmaskarray(made))))
    assert found[0] == found[1]


OUT = {
    "minimum": lambda m, a: a.min(out=m.zeros(())), "minima": lambda m, a: a.min(0, out=m.zeros(3)),
    "masked maxima": lambda m, a: a.max(0, out=m.ma.zeros(3)), "variances": lambda m, a: a.var(0, out=m.zeros(3)),
    "no variance": lambda m, a: m.ma.array([1.0, 2.0], mask=True).var(out=m.ma.array(-1.0)),
    "NaN": lambda m, a: m.ma.array([1.0, 2.0], mask=True).var(out=m.zeros(())), "place": lambda m, a: a.flat[1],
    "element": lambda m, a: a.flat[0], "elements": lambda m, a: list(a.flat),
    "every": lambda m, a: a.all(0, m.ones(3, bool)),
}  # fmt: skip


@pytest.mark.parametrize("name", OUT)
def test_reductions_into_arrays(name):
    found = []
    for m in (np, tn):
        made = OUT[name](m, m.ma.array([[1, 5.0, 2], [3, 4, 7]], mask=[[0, 1, 0], [1, 1, 0]]))
        found.append((type(made).__name__, str(made)))
    assert found[0] == found[1]


def variance(m, name, shape, dtype, axis, ddof, keepdims):
    a = m.ma.array(np.arange(4.0).astype(dtype).reshape(shape))
    made = getattr(a, name)(axis, ddof=ddof, keepdims=keepdims)
    return type(made).__name__, made is m.ma.masked, made.tolist(), np.asarray(m.ma.getmaskarray(made)).tolist(), \
        np.asarray(m.ma.getdata(made)).tolist()  # fmt: skip


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("dtype", ["f4", "i8", "c16"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_variances_without_degrees_of_freedom_are_masked(name, dtype):
    for axis, ddof, keepdims in itertools.product((None, 0, 1, (0, 1)), (0, 1, 2, 2.5, 4), (False, True)):
        case = name, (2, 2), dtype, axis, ddof, keepdims
        assert variance(tn, *case) == variance(np, *case), case
    assert variance(tn, name, 4, dtype, 0, 4, False) == variance(np, name, 4, dtype, 0, 4, False)
    for m in (np, tn):
        assert np.isnan([getattr(m.ma.array(3.0), name)(ddof=1), getattr(m.ma.array([]), name)()]).all()


@pytest.mark.parametrize("m", [np, tn])
def test_integers_have_no_place_for_masked_results(m):
    a = m.ma.array([1, 2], mask=[0, 1])
    for call in (lambda: a.min(0, out=m.zeros((), int)), lambda: m.ma.array([1], mask=True).var(out=m.zeros((), int))):
        with pytest.raises(m.ma.MaskError):
            call()


def test_masked_arrays_are_pickled(tmp_path):
    a = tn.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]], fill_value=7)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        other = pickle.loads(pickle.dumps(a, protocol))
        assert type(other) is tn.ma.MaskedArray and str(other) == str(a) and other.fill_value == 7
    with pytest.raises(NotImplementedError):  # a file of an array has no place for the mask
        tn.save(tmp_path / "masked.npy", a)


def of_matrix(m):
    a = m.matrix([[1.0, 2.0], [3.0, 4.0]])
    parts = [a * a, a**2, a.I, a.T, a[0], a[:, 0], a.sum(), a.sum(0), a.A1, a.max(1), a.ravel(), m.bmat([[a, a]])]
    parts += [m.asmatrix(m.ones(3)), a @ m.ones((2, 1)), a + 1, m.kron(a, a), a.flatten(), m.sort(a, None)]
    parts += [a.argmax(), a.argmin(0), a.std(), m.nanmin(a, axis=0), a.real, a.imag]
    return [(type(x).__name__, np.asarray(x).round(12).tolist()) for x in parts]


@pytest.mark.filterwarnings("ignore:the matrix subclass")
class Derived(tn.ndarray):
    pass


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_matrices_stay_matrices_when_they_are_joined():
    for name in ("vstack", "hstack", "column_stack", "atleast_1d", "atleast_2d"):
        made = []
        for m in (np, tn):
            a = m.matrix([[1, 2]])
            made.append(getattr(m, name)(a if "atleast" in name else [a, m.ones((1, 2))]))
        assert type(made[0]) is np.matrix and type(made[1]) is tn.matrix, name
        assert made[0].tolist() == made[1].tolist(), name
    assert type(tn.atleast_3d(tn.ones(2).view(Derived))) is Derived
    a = tn.matrix([[1 + 2j, 3j]])
    assert type(a.real) is type(a.imag) is type(tn.real(a)) is tn.matrix
    a.imag[0, 1] = 7
    assert a.imag.tolist() == [[2, 7]] and a.real.tolist() == [[1, 0]]
    assert type(a.view(Derived).imag) is Derived


def test_matrices():
    assert of_matrix(tn) == of_matrix(np)
    assert isinstance(tn.matrix([[1]]), tn.ndarray)


def test_clip_into_a_masked_array_keeps_masks_of_operands():
    for module in (np, tn):
        a = module.ma.array([1.0, 5, 9], mask=[0, 1, 0])
        other = module.ma.array([1.0, 5, 9], mask=[0, 0, 1])
        assert module.clip(a, 2, 3, out=a) is a and a.tolist() == [2, None, 3]
        a.clip(2, other, out=a)
        assert a.tolist() == [1, None, None]
        a.clip(2, 3, out=other)
        assert other.tolist() == [2, None, None]
        module.clip(module.array([1.0, 5, 9]), 2, 3, out=a)
        assert a.tolist() == [2, 3, 3]


def test_variances_written_to_arrays_are_numpys() -> None:
    """Without a mask the result has no mask for slices that no degree of freedom is left for: infinite, or 1."""
    rows = [[1.0, 2, 3], [1, 1, 1]]
    outs = (lambda m: m.zeros(2), lambda m: m.ma.zeros(2), lambda m: m.ma.array([0.0, 0], mask=[1, 0]))
    for name in ("var", "std"):
        for ddof in (0, 1, 3, 5):
            for make in outs:
                made = []
                for m in (np, tn):
                    out = make(m)
                    with np.errstate(all="ignore"), warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        assert getattr(m.ma.array(rows), name)(1, ddof=ddof, out=out) is out
                    made.append((np.asarray(m.ma.getdata(out)), np.asarray(m.ma.getmaskarray(out))))
                np.testing.assert_allclose(made[1][0], made[0][0], rtol=1e-15, err_msg=f"{name} {ddof}")
                assert made[1][1].tolist() == made[0][1].tolist(), (name, ddof)
