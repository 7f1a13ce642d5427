# SPDX-License-Identifier: Apache-2.0
"""Making, joining and splitting arrays against NumPy, and signatures that are NumPy's."""

from __future__ import annotations

import inspect

import warnings

import numpy as np
import pytest
import tessera.numeric as tn

A, B, C = np.arange(6), np.arange(12).reshape(3, 4), np.arange(24.0).reshape(2, 3, 4)
CALLS = [
    ("concatenate", ([B, B + 1],)),
    ("concatenate", ([B, B.T.copy().T], 1)),
    ("concatenate", ([A, A * 1.5], None)),
    ("stack", ([B, B], 1)),
    ("stack", ([B, B], -1)),
    ("vstack", ([A, A],)),
    ("hstack", ([A, A],)),
    ("hstack", ([B, B],)),
    ("dstack", ([B, B],)),
    ("column_stack", ([A, A],)),
    ("split", (A, 3)),
    ("split", (B, [1, 2], 1)),
    ("array_split", (A, 4)),
    ("hsplit", (B, 2)),
    ("vsplit", (B, 3)),
    ("dsplit", (C, 2)),
    ("tile", (B, (2, 1, 3))),
    ("tile", (A, 2)),
    ("roll", (B, 3)),
    ("roll", (B, (1, -1), (0, 1))),
    ("append", (A, [7, 8])),
    ("moveaxis", (C, 0, -1)),
    ("moveaxis", (C, (0, 1), (-1, -2))),
    ("rollaxis", (C, 2)),
    ("expand_dims", (B, (0, 2))),
    ("squeeze", (C[:1], 0)),
    ("rot90", (B, 3)),
    ("fliplr", (B,)),
    ("flipud", (B,)),
    ("broadcast_to", (A, (3, 6))),
    ("broadcast_arrays", (A[:4], B)),
    ("atleast_2d", (A,)),
    ("atleast_3d", (B,)),
    ("diagonal", (C, 1, 1, 2)),
    ("transpose", (C, (1, 2, 0))),
    ("reshape", (C.T, (6, 4))),
    ("reshape", (C, (-1, 2), "F")),
    ("ravel", (C.T, "K")),
    ("ravel", (C, "F")),
    ("eye", (3, 4, 1)),
    ("identity", (3,)),
    ("linspace", (0, 1, 7)),
    ("linspace", (0, 10, 5, False)),
    ("linspace", ([0, 1], [5, 9], 4)),
    ("arange", (3, 9, 2)),
    ("full", ((2, 2), 7)),
    ("zeros_like", (B.T,)),
    ("full_like", (B, 2.5)),
    ("ones", (3, "i2")),
    ("unstack", (B,)),
    ("sort", (B[:, ::-1].copy(), 0)),
    ("argsort", (B % 3,)),
    ("unique", (B % 5,)),
    ("unique", (B % 5, True, True, True)),
    ("searchsorted", (A, [2, 9, -1], "right")),
    ("searchsorted", (A * 1.5, 4)),
    ("isin", (B, [1, 5])),
    ("bincount", (A % 3,)),
    ("union1d", (A, [9, 2])),
    ("intersect1d", (A, [4, 2, 9])),
    ("setdiff1d", (A, [1, 2])),
    ("setxor1d", (A, [1, 9])),
    ("ediff1d", (A, 9, [7, 8])),
    ("delete", (A, [1, -1])),
    ("delete", (B, 1, 1)),
    ("delete", (B, slice(0, 2), 0)),
    ("insert", (A, 2, 9)),
    ("insert", (A, [1, 1, 5], [7, 8, 9])),
    ("insert", (B, 1, 9, 1)),
    ("insert", (B, [0, 2], [[5], [6], [7]], 1)),
    ("resize", (B, (5, 4))),
    ("block", ([[B, B], [B + 1, B]],)),
    ("apply_along_axis", (lambda x: x[::-1], 1, B)),
    ("apply_along_axis", (lambda x: x.sum(), 0, B)),
    ("tril_indices", (4, 1)),
    ("triu_indices", (3, -1, 4)),
    ("ix_", ([0, 2], [1, 3])),
    ("trapezoid", (B, None, 0.5)),
    ("median", (B[:, ::-1].copy(), 1)),
    ("median", (B,)),
    ("digitize", ([0.5, 3, 9], A)),
    ("ravel_multi_index", (([0, 2], [1, 3]), (3, 4))),
    ("matmul", (B, B.T)),
    ("matmul", (C, B.T)),
    ("dot", (B, B[0])),
    ("inner", (B, B)),
    ("outer", (A, A)),
    ("tensordot", (C, C, ([0, 1], [0, 1]))),
    ("vecdot", (B, B)),
    ("trace", (B,)),
    ("kron", (A, B)),
    ("cross", (B[:, :3], B[:, 1:])),
    ("cumsum", (B, 1)),
    ("cumprod", (A + 1,)),
    ("clip", (B, 2, 7)),
    ("round", (C / 7, 2)),
    ("round", (B * 7, -1)),
    ("divmod", (B, 5)),
    ("nan_to_num", (np.array([np.nan, np.inf, 1]),)),
    ("angle", (B + 1j,)),
    ("diff", (B, 2)),
    ("average", (C, 1)),
    ("nansum", (np.array([np.nan, 2]),)),
    ("tril", (B,)),
    ("triu", (C, 1)),
    ("diag", (A, 1)),
    ("meshgrid", (A, B[0])),
    ("indices", ((2, 3),)),
    ("vander", (A, 3)),
    ("isclose", (A, A + 1e-9)),
    ("array_equal", (A, A)),
    ("partition", (B[:, ::-1].copy(), 2)),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_results_are_numpys(number):
    name, args = CALLS[number]
    wanted, got = getattr(np, name)(*args), getattr(tn, name)(*args)
    pairs = zip(got, wanted, strict=True) if isinstance(wanted, (list, tuple)) else [(got, wanted)]
    for one, other in pairs:
        one, other = np.asarray(one), np.asarray(other)
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-14)


@pytest.mark.parametrize(
    "name, args",
    [
        ("concatenate", ([],)),
        ("concatenate", ([A, B],)),
        ("concatenate", ([B, B[:, :2]],)),
        ("stack", ([A, B],)),
        ("split", (A, 4)),
        ("reshape", (A, (4, 2))),
        ("reshape", (A, (-1, -1))),
        ("transpose", (B, (0, 0))),
        ("squeeze", (B, 0)),
        ("broadcast_to", (A, (3, 5))),
        ("expand_dims", (B, 9)),
        ("zeros", (-1,)),
        ("moveaxis", (B, 0, 5)),
    ],
)
def test_mistakes_are_numpys(name, args):
    with pytest.raises(Exception) as theirs:
        getattr(np, name)(*args)
    with pytest.raises(type(theirs.value)):
        getattr(tn, name)(*args)


def functions():
    for name in dir(tn):
        ours = getattr(tn, name)
        if inspect.isfunction(ours) and getattr(ours, "__module__", "").startswith(
            "tessera.numeric"
        ):
            yield name


@pytest.mark.parametrize("name", [*functions()])
def test_signatures_are_numpys(name):
    """Names and kinds of parameters; what NumPy has in C without a signature is left out."""
    if not hasattr(np, name) or name in ("diagonal",):
        pytest.skip("no function of NumPy, or one with more parameters")
    try:
        theirs = inspect.signature(getattr(np, name))
    except ValueError:
        pytest.skip("NumPy does not tell its signature")
    if any(p.kind is p.VAR_POSITIONAL for p in theirs.parameters.values()):
        pytest.skip("NumPy's own says nothing")
    ours = inspect.signature(getattr(tn, name))
    wanted = [(p.name, p.kind) for p in theirs.parameters.values() if p.name != "like"]
    assert [(p.name, p.kind) for p in ours.parameters.values() if p.name != "like"] == wanted


@pytest.mark.parametrize(
    "shape",
    [(24,), (4, -1), (-1,), (2, 3, 4), (1, 24, 1), (5, 5), (-1, -1), (-2, 12), (0, 24), (25,), ()],
)
def test_reshape_in_each_way_to_call_it(shape):
    x = np.arange(24.0).reshape(4, 6)
    for call in (
        lambda m, a: a.reshape(shape), lambda m, a: a.reshape(*shape), lambda m, a: m.reshape(a, shape),
        lambda m, a: a.T.reshape(shape), lambda m, a: a.reshape(shape, order="F"), lambda m, a: a[::2].ravel(),
        lambda m, a: a.reshape([*shape]), lambda m, a: m.ravel(a),
    ):  # fmt: skip
        try:
            wanted = call(np, x)
        except (ValueError, TypeError) as error:
            with pytest.raises(type(error)):
                call(tn, tn.array(x))
            continue
        made = call(tn, tn.array(x))
        assert made.shape == wanted.shape and made.strides == wanted.strides
        assert (np.asarray(made) == wanted).all()


def test_reductions_in_each_way_to_call_them():
    x = np.arange(24, dtype="i2").reshape(4, 6) - 7
    a = tn.array(x)
    for call in (
        lambda m, a: a.sum(), lambda m, a: a.sum(1), lambda m, a: a.sum(axis=-1, keepdims=True),
        lambda m, a: m.max(a, 0),
        lambda m, a: m.prod(a, axis=None), lambda m, a: a.argmax(), lambda m, a: a.argmin(axis=0),
        lambda m, a: a.any(0),
        lambda m, a: a.sum(dtype="f4"), lambda m, a: a.sum(2), lambda m, a: a.max(axis=(0, 1)),
        lambda m, a: a.sum(foo=1), lambda m, a: a.min(initial=-100), lambda m, a: a[:, :0].sum(1),
        lambda m, a: a[:0].max(),
        lambda m, a: m.sum(a > 3), lambda m, a: m.all(a.astype("u1")), lambda m, a: m.sum(a.astype("u1"), 1),
    ):  # fmt: skip
        try:
            wanted = call(np, x)
        except (ValueError, TypeError) as error:
            with pytest.raises(type(error)):
                call(tn, a)
            continue
        made = call(tn, a)
        assert np.asarray(made).dtype == wanted.dtype and (np.asarray(made) == wanted).all()
        assert isinstance(made, tn.ndarray) == isinstance(wanted, np.ndarray)


@pytest.mark.parametrize(
    "axes",
    [(), (None,), (1, 0), ((1, 0),), ([-1, 0],), (np.array([1, 0]),), (np.int64(1), np.int8(0))],
)
def test_axes_of_the_method_transpose(axes):
    x = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(np.asarray(tn.array(x).transpose(*axes)), x.transpose(*axes))
    if axes and isinstance(axes[0], np.ndarray):
        axes = (tn.array(axes[0]),)
        np.testing.assert_array_equal(np.asarray(tn.array(x).transpose(*axes)), x.T)


def test_axes_that_the_method_transpose_refuses():
    assert tn.ones(3).transpose(np.int64(0)).shape == (3,)
    assert tn.array(5.0).transpose(()).shape == ()
    for axes in ((), (np.int64(0),), ([0, 0],)):
        with pytest.raises(ValueError):
            tn.ones((2, 2)).transpose(*axes or ((),))


@pytest.mark.parametrize(
    "shape", [(), (None,), (5,), (np.int64(5),), ((2, 3),), (np.array([3, 2]),), (2, 2), ((),)]
)
def test_shapes_of_the_method_resize(shape):
    x = np.arange(4.0)
    a = tn.array(x)
    a.resize(*shape)
    x.resize(*shape)
    np.testing.assert_array_equal(np.asarray(a), x)
    assert a.shape == x.shape
    if shape and isinstance(shape[0], np.ndarray):
        a.resize(tn.array([1, 2]))
        assert a.shape == (1, 2)


def test_weights_of_cov():
    x, weights = np.arange(8.0).reshape(2, 4) ** 2, np.array([1, 2, 1, 3])
    for name in ("aweights", "fweights"):
        made = tn.cov(tn.array(x), **{name: tn.array(weights)})
        np.testing.assert_allclose(np.asarray(made), np.cov(x, **{name: weights}))


def test_broadcast():
    arrays = [tn.zeros((6, 7)), tn.ones((5, 6, 1)), tn.arange(7)]
    made = tn.broadcast(arrays[0], tn.broadcast(*arrays[1:]))
    assert (made.shape, made.ndim, made.numiter, made.size) == ((5, 6, 7), 3, 3, 210)
    assert all(each.base is a for each, a in zip(made.iters, arrays, strict=True))
    wanted = np.broadcast([[1], [2]], [1, 2, 3])
    made = tn.broadcast([[1], [2]], [1, 2, 3])
    assert [tuple(map(int, pair)) for pair in made] == [tuple(map(int, pair)) for pair in wanted]
    made.reset()
    assert made.index == 0
    with pytest.raises(ValueError, match=r"arg 0 with shape \(1, 3\) and arg 2 with shape \(2,\)"):
        tn.broadcast([[1, 2, 3]], [[4], [5]], [6, 7])


def test_joins_want_sequences():
    for join in (tn.stack, tn.vstack, tn.hstack, tn.dstack, tn.column_stack):
        with pytest.raises(TypeError, match="sequence"):
            join(tn.arange(3) for _ in range(2))


def test_limits_and_numbers():
    a = tn.arange(5, dtype="u1")
    assert tn.clip(a, -1, 3).tolist() == [0, 1, 2, 3, 3]
    assert tn.clip(a, 1, 2**300).tolist() == [1, 1, 2, 3, 4]
    below = float(1 - np.finfo("f8").eps)
    assert tn.isclose(tn.array(below, "f4"), below, atol=0, rtol=0)
    assert not tn.isclose(tn.array(below, "f4"), np.float64(below), atol=0, rtol=0)
    with pytest.warns(RuntimeWarning, match="not valid"):
        tn.isclose([1.0], [1.0], atol=np.nan)
    assert tn.nan_to_num(np.array([np.nan, np.inf]), nan=np.inf, posinf=9).tolist() == [np.inf, 9]
    assert tn.vander(np.array([1 + 1j, 1 - 1j]), 3).tolist() == [[2j, 1 + 1j, 1], [-2j, 1 - 1j, 1]]
    with pytest.raises(TypeError, match="complex"):
        tn.isposinf([1j])
    assert isinstance(tn.real(tn.array(1)), tn.ndarray)
    assert type(tn.real(1)) is int
    assert tn.promote_types(np.dtype("i4", metadata={1: 1}), np.dtype("i4", metadata={1: 1})).metadata == {1: 1}
    with pytest.warns(DeprecationWarning, match="2-dimensional"):
        assert tn.cross([1, 2], [4, 5]) == -3
    with pytest.warns(DeprecationWarning, match="2-dimensional"):
        assert tn.cross([1, 2, 3], [4, 5]).tolist() == [-15, 12, -3]
    assert tn.ones(np.array([2, 3])).shape == tn.ones(tn.array([2, 3])).shape == (2, 3)


@pytest.mark.parametrize("dtype", ["f8", "i2", "?", "c8", "M8[s]"])
def test_zeros_are_put_around_arrays(dtype):
    rng = np.random.default_rng(12)
    for shape in [(), (0,), (5,), (3, 4), (2, 0, 3), (2, 3, 4)]:
        a = (rng.random(shape) * 9).astype("i8").astype(dtype)
        for x in (a, np.asfortranarray(a), a[..., ::-1] if a.ndim else a):
            for width in (0, 2, (1, 3), [0, 1], -1, (2,), 1.5, ((1, 2),) * a.ndim, np.int64(1)):
                made = []
                for module in (np, tn):
                    try:
                        b = module.pad(module.asarray(x), width)
                        made.append((b.dtype, b.shape, b.flags.f_contiguous, np.asarray(b).tolist()))
                    except (TypeError, ValueError) as error:
                        made.append(type(error))
                assert made[0] == made[1], (shape, width)


def _told(m, call) -> tuple[str, object]:
    """What a call gives, or the class of what it raises; deprecated things tell of it."""
    try:
        with pytest.warns(DeprecationWarning):
            return "", np.asarray(call(m)).tolist()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error).__name__, None


@pytest.mark.parametrize("strides", [
    8, (8,), (16,), (-8,), (0,), (24,), (8, 8), (), None, "x", True, (True,), (np.True_,), 2**63, (2**63,), 2**70, {8},
    {8: 1}, np.array([8]), np.array(8), np.array([8.0]), [np.array(8)], [np.array([8])], range(8, 9), 8.0, b"8",
])  # fmt: skip
@pytest.mark.parametrize("part", [slice(None), slice(2, 4), slice(None, None, -1), slice(3, None, 2), slice(0, 0)])
def test_strides_are_set_within_the_memory(part: slice, strides: object) -> None:
    def call(m):
        a = m.arange(12)[part]
        a.strides = strides
        return a

    assert _told(tn, call) == _told(np, call)


def test_strides_are_set_from_an_array_of_ours() -> None:
    a = tn.arange(6).reshape(2, 3)
    with pytest.warns(DeprecationWarning):
        a.strides = tn.array([8, 16])
    assert a.strides == (8, 16) and a.tolist() == [[0, 2, 4], [1, 3, 5]]


def test_strides_that_were_set_are_of_the_same_memory() -> None:
    a = tn.arange(12)
    b = a[:4]
    with pytest.warns(DeprecationWarning, match="as_strided"):
        b.strides = (16,)
    b[1] = 70
    assert a[2] == 70 and b.strides == (16,) and b.tolist() == [0, 70, 4, 6]


def test_strides_of_a_new_array_may_be_an_array() -> None:
    made = tn.ndarray((2, 3), int, tn.arange(12), 0, tn.array([8, 16]))
    assert made.tolist() == [[0, 2, 4], [1, 3, 5]] and made.strides == (8, 16)


@pytest.mark.parametrize("given", [
    {}, {"step": 3}, {"start": 4}, {"start": 3, "stop": 9}, {"stop": 3}, {"stop": 3.5, "step": 2, "dtype": "f4"},
    {"start": None, "stop": 3}, {"start": 5, "stop": 1, "step": -2}, {"start": 5, "stop": None}, {"stop": None},
    {"start": 5, "stop": None, "step": 2},
])  # fmt: skip
def test_arange_takes_start_and_stop_by_name(given: dict[str, object]) -> None:
    def told(m) -> tuple[object, ...]:
        try:
            made = m.arange(**given)
        except TypeError as error:
            return (str(error),)
        return made.dtype, made.tolist()

    assert told(tn) == told(np)
    with pytest.raises(TypeError, match="start"):
        tn.arange(3, start=4)


@pytest.mark.parametrize(("given", "options"), [
    ([1, 2], {"ndmax": 1}), ([[1, 2]], {"ndmax": 1}), ([[[1]]], {"ndmax": 2}), ([1], {"ndmax": -1}),
    ([1], {"ndmax": 65}), ([1], {"ndmax": 64}), ([1], {"ndmax": 1, "ndmin": 2}), ([1], {"ndmax": 2, "ndmin": 2}),
    (np.ones((2, 2)), {"ndmax": 1}), ([1], {"ndmax": 0}), (1, {"ndmax": 0}), ((), {"ndmax": 0}),
    (1, {"ndmax": 0, "ndmin": 1}), (np.ones((2, 2)), {"ndmax": 1, "dtype": "f4"}), (1, {"ndmin": 65}),
    (np.ones((2, 2)), {"ndmax": 1, "dtype": "f8"}), (np.ones((2, 2)), {"ndmax": 0}),
])  # fmt: skip
def test_array_of_at_most_so_many_axes(given: object, options: dict[str, int]) -> None:
    def told(m) -> tuple[object, ...]:
        try:
            return m.array(given, **options).shape
        except ValueError as error:
            return ("ValueError", str(error).strip())

    assert told(tn) == told(np)


def test_limits_of_axes_are_integers_and_hold_for_casts_of_arrays() -> None:
    for options in ({"ndmax": 1.5}, {"ndmax": None}, {"ndmin": 1.5}):
        for m in (np, tn):
            with pytest.raises(TypeError):
                m.array([3], **options)
    for m in (np, tn):
        with pytest.raises(ValueError, match="too deep"):
            m.array(tn.ones((2, 2)), "f4", ndmax=1)
        assert m.array(m.ones((2, 2)), ndmax=1).shape == (2, 2)


def test_arrays_beyond_an_address_space_are_refused_at_once() -> None:
    one = tn.broadcast_to(tn.array(1, "u1"), 2**60)
    for call in (lambda: tn.empty(2**60, "u1"), lambda: tn.zeros((2**30, 2**30), "i1"), lambda: one + 1, one.copy):
        with pytest.raises(MemoryError, match=r"Unable to allocate 1\.00 EiB for an array with shape"):
            call()
    for n in (2**47 + 1, 2**56):
        with pytest.raises(MemoryError, match=r"Unable to allocate (128\. T|64\.0 P)iB for an array with shape"):
            tn.zeros(n, "u1")
    assert one[:3].tolist() == [1, 1, 1]


@pytest.mark.parametrize("seed", range(12))
def test_blocks_of_all_shapes_are_numpys(seed):
    rng = np.random.default_rng(seed)
    cuts = [rng.integers(0, 4, rng.integers(1, 4)) for _ in range(2)]
    dtypes = rng.choice(["f8", "f4", "i8", "D", "?"], 3)
    parts = [[(rng.random((m, n)) * 9).astype(rng.choice(dtypes)) for n in cuts[1]] for m in cuts[0]]
    if seed % 3 == 0:
        parts[0][0] = np.asfortranarray(parts[0][0])
    if seed % 4 == 0:
        parts = [parts, parts]  # of three axes
    ours = tn.block([[tn.array(x) for x in row] if isinstance(row[0], np.ndarray) else
                     [[tn.array(x) for x in each] for each in row] for row in parts])  # fmt: skip
    theirs = np.block(parts)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    np.testing.assert_array_equal(np.asarray(ours), theirs)


def test_blocks_of_other_ranks_and_mistakes_are_numpys():
    row, whole = np.arange(3.0), np.ones((2, 3))
    found = tn.block([[tn.array(row)], [tn.array(whole)]])
    np.testing.assert_array_equal(np.asarray(found), np.block([[row], [whole]]))
    with pytest.raises(ValueError, match="must match exactly"):
        tn.block([[tn.ones((2, 3))], [tn.ones((2, 4))]])
    with pytest.raises(ValueError, match="must match exactly"):
        tn.block([[tn.ones((2, 3)), tn.ones((1, 3))]])


@pytest.mark.parametrize("shape", [0, 1, 7, 12, 13, 40, 200, (3, 4), (5, 0), (2, 3, 9)])
def test_resized_copies_are_numpys(shape):
    x = np.arange(12).reshape(3, 4)
    for given in (x, x.T, x[:, ::-2], x[:0]):
        np.testing.assert_array_equal(np.asarray(tn.resize(tn.array(given), shape)), np.resize(given, shape))
    a = tn.array(x)
    tn.resize(a, 12)[0] = 99
    assert a[0, 0] == 0


OF_LINES = [np.sum, lambda x: x.max(), lambda x: int(x[0]), lambda x: x[0] > 1, lambda x: 3.5]


@pytest.mark.parametrize("function", OF_LINES)
def test_numbers_along_an_axis_are_numpys(function):
    x = np.arange(24).reshape(2, 3, 4) * 1.5
    for given, axis in ((x, 0), (x, 2), (x.astype("f4"), 1), (x.astype("i2"), -1), (x[0, 0], 0)):
        found = np.asarray(tn.apply_along_axis(function, axis, tn.array(given)))
        wanted = np.apply_along_axis(function, axis, given)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["f8", "i4", "c8", "?", "M8[s]"])
@pytest.mark.parametrize("value", [
    None, np.array([1, 2, 3], object), np.array(["a", 2, 3], object), np.longdouble(1.5), np.ones(3, np.longdouble),
    np.ones(3, np.clongdouble), 2**70, [None, 1, 2], 1.5, [1, 2, 3], np.arange(3.0),
])  # fmt: skip
@pytest.mark.parametrize("is_writeable", [True, False])
def test_real_parts_are_set_from_dtypes_of_the_host(dtype: str, value: object, is_writeable: bool) -> None:
    def told(m) -> tuple[object, list[type]]:
        a = m.asarray(np.arange(6).reshape(2, 3).astype(dtype))
        a.flags.writeable = is_writeable
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                a.real = value
            except (TypeError, ValueError, OverflowError) as error:
                return type(error).__name__, []
            return repr(np.asarray(a)), [each.category for each in seen]

    assert told(tn) == told(np)
