# SPDX-License-Identifier: Apache-2.0
"""Einstein sums and products of matrices against NumPy: random subscripts, paths, views, axes= and mistakes."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import tessera.numeric as tn
from tessera.numeric import _linear

EXTENTS = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 1}


def same(found, wanted):
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    limit = 0 if wanted.dtype.kind in "biu" else 1e-12 if wanted.dtype.char in "dD" else 1e-4
    np.testing.assert_allclose(found, wanted, rtol=limit, atol=limit)


def program(seed):
    """Subscripts, operands and whether they are given as lists."""
    rng = np.random.default_rng(seed)
    dtype = rng.choice([*"dfDFi?b"])
    n = rng.integers(1, 5)
    words, arrays, dots = [], [], rng.random() < 0.3
    for _ in range(n):
        word = "".join(rng.choice([*EXTENTS], rng.integers(0, 4)))
        shape = [EXTENTS[c] if rng.random() < 0.9 else 1 for c in word]
        if dots:
            at, extra = rng.integers(0, len(word) + 1), rng.integers(0, 3)
            shape[at:at] = [2, 3][2 - extra :]
            word = word[:at] + "..." + word[at:]
        for i, c in enumerate(word):  # axes of one label in one operand are alike
            if c in word[:i] and c != ".":
                return program(seed + 1000)
        words.append(word)
        arrays.append(rng.integers(-3, 4, shape).astype(dtype))
    used = sorted({c for word in words for c in word if c != "."})
    output = [c for c in used if rng.random() < 0.5]
    rng.shuffle(output)
    text = ",".join(words)
    if rng.random() < 0.8:
        text += "->" + ("..." if dots else "") + "".join(output)
    return text, arrays


@pytest.mark.parametrize("seed", range(60))
def test_random_sums(seed):
    text, arrays = program(seed)
    wanted = np.einsum(text, *arrays)
    ours = [tn.array(a) for a in arrays]
    same(tn.einsum(text, *ours), wanted)
    for optimize in (True, "optimal"):
        same(tn.einsum(text, *ours, optimize=optimize), wanted)
    out = tn.empty(wanted.shape, wanted.dtype)
    assert tn.einsum(text, *ours, out=out) is out
    same(out, wanted)


def test_large_ones_go_through_the_products():
    rng = np.random.default_rng(1)
    x, y, z = (
        rng.standard_normal((6, 40, 50)),
        rng.standard_normal((6, 50, 30)),
        rng.standard_normal((30, 40)),
    )
    for text, arrays in (("bij,bjk->bik", (x, y)), ("bij,bjk,kl->bil", (x, y, z)), ("bij,bij->b", (x, x)),
                         ("bij,bjk->ki", (x, y))):  # fmt: skip
        for optimize in (False, True):
            found = tn.einsum(text, *map(tn.array, arrays), optimize=optimize)
            np.testing.assert_allclose(
                np.asarray(found), np.einsum(text, *arrays, optimize=True), rtol=1e-11
            )


def test_repeated_labels_and_views():
    x = np.arange(27.0).reshape(3, 3, 3)
    a = tn.array(x)
    for text in ("iij->j", "iii", "iij->ij", "ijj", "iii->i"):
        same(tn.einsum(text, a), np.einsum(text, x))
    diagonal = tn.einsum("iii->i", a)
    diagonal[...] = 0
    assert tn.shares_memory(diagonal, a) and float(a[1, 1, 1]) == 0
    assert tn.shares_memory(tn.einsum("ijk->kji", a), a)
    for text in ("", "->", "..."):  # nothing is computed, so that dtype= says nothing, as NumPy's
        assert tn.einsum(text, 2.5, dtype="f4").dtype == np.einsum(text, 2.5, dtype="f4").dtype == float


def test_lists_and_options():
    x = np.arange(12).reshape(3, 4)
    same(
        tn.einsum(tn.array(x), [0, 1], tn.array(x), [2, 1], [0, 2]),
        np.einsum(x, [0, 1], x, [2, 1], [0, 2]),
    )
    same(
        tn.einsum(tn.array(x), [Ellipsis, 1], [1, Ellipsis]),
        np.einsum(x, [Ellipsis, 1], [1, Ellipsis]),
    )
    same(tn.einsum("ij->j", tn.array(x), dtype="f8"), np.einsum("ij->j", x, dtype="f8"))
    assert tn.einsum("ij->ji", tn.array(x), order="C").flags.c_contiguous
    assert (
        tn.einsum_path("ij,jk,kl", *[tn.ones((3, 3))] * 3)[0]
        == np.einsum_path("ij,jk,kl", *[np.ones((3, 3))] * 3)[0]
    )
    assert [*inspect.signature(tn.einsum).parameters] == [*inspect.signature(np.einsum).parameters]


@pytest.mark.parametrize("bad", [
    ("",), ("i", 0), ("ij", [0, 0]), ("i..", [0]), ("i%", [0]), ("i->ij", [0]), ("ij->iji", [[0]]), ("i,j", [0]),
    ("i", [0], [0]), (3,), (3, [0]), ("ii", [[1, 2, 3]]), ("iii->", np.ones((2, 1, 2))),
    ("ii,i", np.ones((1, 3)), [1, 2, 3]), ("...i->i", [[0]]), ("ij,jk", np.ones((2, 3)), np.ones((2, 3))),
    ("ii", np.ones((2, 3))), (),
])  # fmt: skip
def test_mistakes(bad):
    with pytest.raises(ValueError):
        np.einsum(*bad)
    with pytest.raises(ValueError):
        tn.einsum(*bad)


SHAPES = [((40, 50), (50, 33)), ((3, 40, 50), (50, 33)), ((2, 1, 40, 50), (3, 50, 33)), ((40, 50), (2, 50, 33))]
KINDS = [(dtype, _linear.MOST_ADDED) for dtype in "? i1 u1 i2 u2 i4 u4 i8 u8 c8 c16".split()]


@pytest.mark.parametrize(("dtype", "most_added"), [*KINDS, ("i4", 16)])
def test_large_products_without_a_kernel_of_their_own(dtype, most_added, monkeypatch):
    monkeypatch.setattr(_linear, "MOST_ADDED", most_added)
    rng = np.random.default_rng(1)
    for shapes in SHAPES[: 1 if most_added == 16 else None]:
        for bits in (3, 64):
            x, y = (rng.integers(-1 << bits - 1, (1 << bits - 1) - 1, s, endpoint=True) for s in shapes)
            if dtype[0] == "c":
                x, y = (rng.standard_normal(s) + 1j * z / 2**bits for s, z in zip(shapes, (x, y), strict=True))
            elif dtype == "?":
                x, y = x % 7 == 0, y % 7 == 0
            x, y = x.astype(dtype), y.astype(dtype)
            made, wanted = tn.array(x) @ tn.array(y), x @ y
            assert made.dtype == wanted.dtype
            tolerance = {"c8": 1e-4, "c16": 1e-12}.get(dtype, 0)
            np.testing.assert_allclose(np.asarray(made), wanted, rtol=tolerance, atol=tolerance)


def test_out_of_dot_has_the_shape_of_the_result():
    for a, b, shape in ((np.ones(3), np.ones(3), (3,)), (np.ones((2, 3)), np.ones(3), (2, 2))):
        for m in (np, tn):
            with pytest.raises(ValueError, match="not acceptable"):
                m.dot(m.array(a), m.array(b), out=m.empty(shape))


def test_axes_of_one_element_are_spread_into_out():
    for m in (np, tn):
        out = m.zeros((2, 3))
        m.einsum("ab->ab", m.array([[1.0], [2.0]]), out=out)
        assert out.tolist() == [[1] * 3, [2] * 3]


def test_mistakes_in_options():
    for options, error in (({"casting": "any"}, ValueError), ({"order": "Q"}, ValueError), ({"more": 1}, TypeError),
                           ({"dtype": "i4"}, TypeError), ({"out": 3}, TypeError)):  # fmt: skip
        with pytest.raises(error):
            tn.einsum("i->", tn.ones(3), **options)


@pytest.mark.parametrize(
    "options", [{"axes": [(1, 0), (-1, 1), (0, 2)]}, {"dtype": "f8"}, {"order": "F"}]
)
def test_products_with_options(options):
    x, y = np.arange(24, dtype="i4").reshape(3, 4, 2), np.arange(30, dtype="i4").reshape(2, 5, 3)
    x, y = x[:, :3] * 1, y[:, :3] * 1
    if "axes" not in options:
        x, y = x.swapaxes(1, 2) * 1, y.swapaxes(1, 2)[:1].repeat(3, 0)
    same(tn.matmul(tn.array(x), tn.array(y), **options), np.matmul(x, y, **options))


@pytest.mark.parametrize("dtype", [*"?bHiLefdFD"])
def test_stacks_of_small_matrices_are_multiplied_as_numpys(dtype):
    rng = np.random.default_rng(ord(dtype))
    for _ in range(40):
        m, k, n = (int(each) for each in rng.integers(0 if rng.random() < 0.1 else 1, 6, 3))
        lead = tuple(int(each) for each in rng.integers(1, 5, rng.integers(1, 3)))
        x, y = ((rng.normal(size=(*lead, *each)) * 5).astype(dtype) for each in ((m, k), (k, n)))
        if rng.random() < 0.3:  # transposed, turned, or of other axes in front
            x = np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)[..., ::-1, :]
        y = y[:1] if rng.random() < 0.2 else y.astype("f8") if rng.random() < 0.2 else y
        same(tn.array(x) @ tn.array(y), x @ y)
        with pytest.raises(ValueError, match="mismatch in its core dimension"):
            tn.array(x) @ tn.ones((*lead, k + 1, n), dtype)


def test_faults_of_stacks_are_told_of_as_matmuls():
    x = np.full((3, 2, 2), 1e300)
    with pytest.warns(RuntimeWarning, match="overflow encountered in matmul"):
        made = tn.array(x) @ tn.array(x)
        assert np.isinf(np.asarray(made)).all()


def test_products_along_axes():
    x, y = np.arange(24.0).reshape(2, 3, 4), np.arange(24.0)[::-1].reshape(2, 3, 4) + 1j
    for options in (
        {"axis": 0},
        {"axis": 1, "keepdims": True},
        {"axes": [1, 1]},
        {"axes": [1, 1, ()]},
        {"keepdims": True},
    ):
        same(tn.vecdot(tn.array(y), tn.array(x), **options), np.vecdot(y, x, **options))
    same(
        tn.matvec(tn.array(x), tn.array(x[:, 0]), axes=[(1, 2), 1, 0]),
        np.matvec(x, x[:, 0], axes=[(1, 2), 1, 0]),
    )
    same(
        tn.vecmat(tn.array(y[:, :, 0]), tn.array(x), axes=[1, (1, 2), 0]),
        np.vecmat(y[:, :, 0], x, axes=[1, (1, 2), 0]),
    )
    for bad, error in (({"axes": 3}, TypeError), ({"axes": [(0, 1)]}, ValueError), ({"axis": 1}, TypeError),
                       ({"axes": [(0,), (0, 1), (0, 1)]}, np.exceptions.AxisError)):  # fmt: skip
        with pytest.raises(error):
            tn.matmul(tn.array(x), tn.array(x), **bad)


@pytest.mark.parametrize("mode", ["valid", "same", "full"])
@pytest.mark.parametrize("n", [1, 2, 5, 8])
@pytest.mark.parametrize("m", [1, 2, 3, 4, 9])
def test_convolutions(n, m, mode):
    for dtype in "bdF":
        x, y = (np.arange(k) * 3 % 7 - 2 for k in (n, m))
        x, y = x.astype(dtype), (y + 1j if dtype == "F" else y).astype(dtype)
        same(tn.convolve(tn.array(x), tn.array(y), mode), np.convolve(x, y, mode))
        same(tn.correlate(tn.array(x), tn.array(y), mode), np.correlate(x, y, mode))
    with pytest.raises(ValueError, match="empty"):
        tn.convolve(tn.ones(0), tn.ones(2))


PRODUCTS = ["i,i", "i,i->", "ij,j", "ij,j->i", "ij,jk", "ij,jk->ik", "ij,kj->ik", "ij,ij->i"]


@pytest.mark.parametrize("dtypes", [("f4", "f4"), ("f8", "f8"), ("f8", "f4"), ("i8", "i8"), ("c16", "c16")])
def test_common_products_are_numpys_also_where_extents_are_one_or_odd(dtypes):
    rng = np.random.default_rng(8)
    for text in PRODUCTS:
        labels = text.partition("->")[0].split(",")
        for _ in range(30):
            extents = dict(zip("ijk", (int(n) for n in rng.choice([0, 1, 2, 3, 7, 40], 3)), strict=True))
            arrays = [np.round(rng.random([extents[c] for c in each]) * 9, 1).astype(dtype)
                      for each, dtype in zip(labels, dtypes, strict=True)]  # fmt: skip
            if rng.integers(4) == 0:  # broadcast, or refused
                arrays[0] = arrays[0][..., :1]
            if rng.integers(3) == 0:
                arrays[0] = np.asfortranarray(arrays[0])[..., ::-1]
            calls = [lambda m, a, text=text: m.einsum(text, *a), lambda m, a: m.inner(*a), lambda m, a: m.vdot(*a)]
            for call in calls:
                found = []
                for m in (np, tn):
                    try:
                        found.append(call(m, [m.array(a) if m is tn else a for a in arrays]))
                    except ValueError as error:
                        found.append(type(error))
                assert isinstance(found[0], type) == isinstance(found[1], type), (text, arrays)
                if not isinstance(found[0], type):
                    same(found[1], found[0])


TURNED = ["ij->ji", "ij->ij", "abc->cab", "i->i", "ij->jj", "ij->j", "iij->ij", "i1->1i", "ij -> ji"]


@pytest.mark.parametrize("text", TURNED)
def test_views_with_axes_in_another_order_are_numpys(text):
    rank = len(text.split("->")[0].strip())
    for x in (np.arange(8.0).reshape({1: (8,), 2: (2, 4), 3: (2, 2, 2)}[rank]), np.zeros((2,) * rank)):
        try:
            wanted = np.einsum(text, x)
        except ValueError:
            with pytest.raises(ValueError):
                tn.einsum(text, tn.array(x))
            continue
        a = tn.array(x)
        found = tn.einsum(text, a)
        np.testing.assert_array_equal(np.asarray(found), wanted)
        assert np.shares_memory(wanted, x) == (isinstance(found, tn.ndarray) and tn.shares_memory(found, a))


@pytest.mark.parametrize("text", ["ij,jk,kl->il", "ij,jk,kl->li", "ij,kj,kl->il", "bij,bjk,bkl->bil", "kl,jk,ij->il"])
def test_results_by_a_path_lie_as_numpys(text):
    arrays = [np.random.default_rng(3).random((6,) * len(word)) for word in text.partition("->")[0].split(",")]
    wanted, made = np.einsum(text, *arrays, optimize=True), tn.einsum(text, *map(tn.array, arrays), optimize=True)
    same(made, wanted)
    assert made.strides == wanted.strides
