# SPDX-License-Identifier: Apache-2.0
"""NumPy's longlong and ulonglong, which are equal to int64 and uint64 and not the same dtypes."""

from __future__ import annotations

import pickle

import numpy
import pytest

import tessera.numeric as np

OPERANDS = {"q": "qlQL", "l": "qQ", "Q": "qlQL", "L": "qQ"}
FUNCTIONS = [
    name for name, f in sorted(vars(numpy).items())
    if isinstance(f, numpy.ufunc) and (f.nin, f.nout, f.signature) == (2, 1, None)
    and hasattr(np, name) and name not in ("gcd", "lcm")
]  # fmt: skip

EXPRESSIONS = """-a; ~a; abs(a); a.sum(); a.max(0, keepdims=True); a.cumsum(); a.cumprod()
xp.sum(b, dtype='q'); xp.ptp(a); xp.add.reduce(a); xp.add.accumulate(a); xp.subtract.accumulate(a)
xp.subtract.reduce(a); xp.multiply.outer(a, b); xp.sort(a); xp.unique(a); xp.argsort(a); a.argmax(); a.mean()
a > b; a / a; xp.nonzero(a)[0]; xp.bincount(a); a.copy(); a.flatten(); a.ravel(); a.T; a.reshape(3, 1); a[:2]
a[0]; a[[0, 2]]; a[a > 1]; xp.take(a, [0]); xp.repeat(a, 2); xp.concatenate([a, b]); xp.concatenate([b, a])
xp.stack([a, a]); xp.where(a > 1, a, b); xp.clip(a, 1, 2); xp.diff(a); a @ a; a @ b; xp.dot(b, a)
xp.einsum('i,i', a, a); xp.tensordot(a, b, 1); a.astype('l'); a.astype('L'); b.astype('q'); b.astype('Q')
b.astype('q', copy=False); a.view('l'); b.view('q'); a.view('d').view('l'); xp.array(a, dtype='l')
xp.array(a); xp.asarray(a, 'l'); xp.asarray(b, 'q'); xp.asarray(a, 'q') is a; xp.zeros(2, 'q')
xp.ones(2, xp.longlong); xp.empty(2, xp.dtypes.LongLongDType); xp.full(2, xp.longlong(3))
xp.arange(3, dtype='q'); xp.zeros_like(a); xp.full_like(a, 2); xp.array(xp.longlong(2))
xp.array(xp.longlong(2), 'l'); xp.array([xp.longlong(2), 1]); xp.add(b, b, dtype='q')
xp.add(a, a, dtype='l'); xp.promote_types('l', 'q'); xp.result_type(a, b, 'i'); xp.result_type(a, xp.uint64)
a.tolist(); a.item(0); memoryview(a).format; memoryview(a.astype('Q')).format
xp.asarray(numpy.array([1, 2], 'q')); numpy.asarray(a); xp.broadcast_to(a, (2, 3)); a[::-1].copy()
pickle.loads(pickle.dumps(a)); xp.convolve(a, a); xp.convolve(b, a, 'same'); xp.correlate(a, b); xp.polymul(a, a)
xp.convolve(b, b); xp.intersect1d(a, b); xp.intersect1d(b, a); xp.intersect1d(b, b)
xp.add(b, b, signature='qq->q'); xp.add(a, a, signature='ll->l'); xp.add(a, 1, signature=(None, None, 'l'))
xp.add(b, b, signature=('q', None, None)); xp.less(b, b, signature='qq->?')
xp.add(b, b, signature='bb->b', casting='unsafe')
xp.bitwise_or.accumulate(a, dtype='l'); xp.gcd.accumulate(b, dtype='q')"""

LARGE = """x @ x; x @ y; y @ x; y @ y; x @ x[0]; xp.dot(x, x); xp.inner(x, y); xp.tensordot(x, x, 1); xp.vdot(x, x)
xp.einsum('ij,jk->ik', x, x); xp.einsum('ij,jk->ik', y, y); s @ s; xp.matmul(s, y[:30, :30])
xp.einsum('aij,ajk->aik', s, s)
(x << 40) @ x; (x << 40) @ y; (y << 40) @ y; x @ y.astype('i4'); x.astype('Q') @ x.astype('Q')
xp.linalg.matrix_power(x, 3)"""


def shown(x):
    """What a result is: the letter of its dtype, the class of a scalar, its elements."""
    dtype = getattr(x, "dtype", x)
    is_array = isinstance(x, (numpy.ndarray, np.ndarray))
    values = x.tolist() if hasattr(x, "tolist") else None
    return getattr(dtype, "char", dtype), None if is_array else type(x), values


@pytest.mark.parametrize(
    "expression", [e.strip() for line in EXPRESSIONS.split("\n") for e in line.split(";")]
)
def test_expressions_show_numpys_dtype(expression):
    results = []
    for xp in (numpy, np):
        a, b = xp.array([1, 2, 3], "q"), xp.array([4, 5, 6], "l")
        made = eval(expression, {"xp": xp, "a": a, "b": b, "numpy": numpy, "pickle": pickle})
        results.append(shown(made)[: 2 if "empty" in expression else 3])
    assert results[0] == results[1]


@pytest.mark.parametrize("expression", [e.strip() for line in LARGE.split("\n") for e in line.split(";")])
def test_large_products_show_numpys_dtype(expression):
    results = []
    for xp in (numpy, np):
        x = xp.array(numpy.arange(1600).reshape(40, 40) % 7, "q")
        s = xp.array(numpy.arange(2700).reshape(3, 30, 30) % 5, "q")
        results.append(shown(eval(expression, {"xp": xp, "x": x, "y": x.astype("l"), "s": s})))
    assert results[0] == results[1]


@pytest.mark.parametrize("options", [{}, {"dtype": "q"}, {"dtype": "l"}, {"dtype": "L"}, {"initial": 1}])
@pytest.mark.parametrize("name", ["bitwise_or", "bitwise_and", "bitwise_xor", "gcd", "add", "maximum"])
def test_reductions_show_numpys_dtype(name, options):
    for dtype in "qlQi":
        for shape in ((0,), (0, 3), (2,), (2, 3)):
            results = []
            for xp in (numpy, np):
                try:
                    results.append(shown(getattr(xp, name).reduce(xp.ones(shape, dtype), **options)))
                except ValueError as error:
                    results.append(type(error))
            assert results[0] == results[1], (dtype, shape)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_promote_as_numpy(name):
    f, g = getattr(np, name), getattr(numpy, name)
    for x, others in OPERANDS.items():
        for y in others:
            arrays = numpy.array([7, 5], x), numpy.array([2, 3], y)
            try:
                wanted = g(*arrays)
            except TypeError:
                with pytest.raises(TypeError):
                    f(*map(np.array, arrays))
                continue
            made = f(*map(np.array, arrays))
            assert (made.dtype.char, made.tolist()) == (wanted.dtype.char, wanted.tolist()), (x, y)


def test_views_share_memory_and_writes_keep_the_dtype():
    a = np.zeros(4, "q")
    a.view("l")[1] = 5
    a[2:] = np.array([7, 8], "l")
    a += 1
    a[0] = numpy.longlong(9)
    with pytest.raises(OverflowError):
        a[1] = numpy.ulonglong(2**64 - 1)
    assert a.tolist() == [9, 6, 8, 9]
    assert a.dtype.char == "q"
    assert np.asarray(a, "l").base is a


def test_it_is_computed_as_int64():
    a = np.arange(100_000, dtype="q")
    assert ((a * 3 + a) // 2 - 1).sum() == sum(i * 4 // 2 - 1 for i in range(100_000))
    assert (a + a).dtype.char == "q"


@pytest.mark.parametrize("letters", ["ql", "lq", "QL", "LQ"])
def test_loops_in_order_give_the_dtype_of_each_call(letters):
    for name in ("fmod", "remainder", "left_shift"):
        for letter in letters:  # what the first call finds is kept
            given = numpy.array([5, 3], letter)
            made, wanted = (getattr(m, name).reduce(m.asarray(given)) for m in (np, numpy))
            assert (made.dtype.char, int(made)) == (wanted.dtype.char, int(wanted)), (name, letter)
