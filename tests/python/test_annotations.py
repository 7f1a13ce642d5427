# SPDX-License-Identifier: Apache-2.0
"""Annotations of parameters that are tuples, lists and arrays: what becomes a constant, what is refused."""

import random
from typing import Annotated, Tuple  # noqa: UP035

import numpy as np
import pytest
import tessera.tile as ct


def array_of(**details):
    return Annotated[ct.Array, ct.ArrayAnnotation(**details)]


def list_of(element):
    return Annotated[list, ct.ListAnnotation(element=element)]


def kernel_of(function, **notes):
    """A kernel of the function of its own, with these annotations."""
    code = type(function)(function.__code__, function.__globals__, closure=function.__closure__)
    code.__annotations__ = notes
    return ct.kernel(code)


def compiled(kernel):
    return kernel._stats()["specialised"]


# ---- tuples ------------------------------------------------------------------------------------------


def write_groups(out, cfg):
    n = 0
    for group in ct.static_iter(cfg):
        for leaf in ct.static_iter(group):
            ct.scatter(out, n, ct.astype(leaf, ct.int64))
            n += 1


LEAVES = {
    "constant": (ct.Constant[int], lambda r: r.randrange(-9, 9)),
    "int": (int, lambda r: r.randrange(-9, 9)),
    "none": (ct.Tile, lambda r: r.randrange(-9, 9)),
    "int64": (ct.ScalarInt64, lambda r: r.randrange(-(2**40), 2**40)),
    "dtype": (ct.int8, lambda r: r.randrange(-128, 128)),
}


@pytest.mark.parametrize("seed", range(12))
def test_random_tuples_recompile_for_constants_only(seed):
    r = random.Random(seed)
    kinds = [[r.choice([*LEAVES]) for _ in range(r.randrange(1, 4))] for _ in range(r.randrange(1, 4))]
    note = tuple[tuple(tuple[tuple(LEAVES[k][0] for k in group)] for group in kinds)]
    kernel = kernel_of(write_groups, cfg=note)
    seen = set()
    for _ in range(4):
        cfg = tuple(tuple(LEAVES[k][1](r) for k in group) for group in kinds)
        out = np.zeros(16, np.int64)
        ct.launch(None, (1,), kernel, (out, cfg))
        flat = [v for group in cfg for v in group]
        assert out[: len(flat)].tolist() == flat
        names = [k for group in kinds for k in group]
        seen.add(tuple(v for k, v in zip(names, flat) if k == "constant"))
        assert compiled(kernel) == len(seen)


@pytest.mark.parametrize(
    "note",
    [
        tuple[ct.Constant[int], ...], ct.Constant[tuple[int, int]], ct.Constant[tuple],
        Tuple[ct.Constant[int], ct.Constant],  # noqa: UP006
    ],  # fmt: skip
)
def test_all_items_are_constants(note):
    def load_part(out, cfg):
        ct.store(out, (0,), ct.full((cfg[0],), cfg[1], out.dtype))

    kernel = kernel_of(load_part, cfg=note)
    for cfg in ((4, 2), (4, 3), (2, 3), (4, 2)):
        out = np.zeros(4, np.int32)
        ct.launch(None, (1,), kernel, (out, cfg))
        assert out.tolist() == [cfg[1]] * cfg[0] + [0] * (4 - cfg[0])
    assert compiled(kernel) == 3


def test_items_of_a_nested_tuple_of_any_length():
    kernel = kernel_of(write_groups, cfg=tuple[tuple[int, ct.Constant[int]], ...])
    for cfg in (((1, 2),), ((3, 2),), ((1, 2), (3, 4)), ((5, 2), (6, 4))):
        out = np.zeros(4, np.int64)
        ct.launch(None, (1,), kernel, (out, cfg))
        assert out.tolist()[: 2 * len(cfg)] == [v for group in cfg for v in group]
    assert compiled(kernel) == 2


def nothing(out, cfg):
    pass


@pytest.mark.parametrize(
    ("note", "cfg", "kind", "text"),
    [
        (tuple[int, int], (1, 2, 3), TypeError, "is a tuple of length 3, but is annotated as a tuple of length 2"),
        (tuple[()], (1,), TypeError, "annotated as a tuple of length 0"),
        (tuple[tuple[int], int], ((1, 2), 3), TypeError, r"'cfg\[0\]': is a tuple of length 2"),
        (tuple[int, ...], 3, TypeError, "annotated as a tuple but is a number"),
        (tuple[int, ...], [np.zeros(1)], TypeError, "annotated as a tuple but is a list"),
        (tuple[int, tuple[int, int]], (1, (2, 2.5)), TypeError, r"'cfg\[1\]\[1\]': is annotated int but is the float"),
        (tuple[ct.Constant[int], int], (np.zeros(1), 1), TypeError, r"'cfg\[0\]': is annotated Constant but is"),
        (tuple[ct.int8], (128,), OverflowError, r"'cfg\[0\]': the int 128 does not fit int8"),
        (ct.Constant[tuple[ct.ScalarInt64, int]], (1, 2), TypeError, r"'cfg\[0\]': Constant cannot be combined with"),
        (tuple[str], ("a",), TypeError, r"'cfg\[0\]': is a str; .* annotated ct.Constant"),
        (tuple[array_of(static_shape_dims=(1,))], (np.zeros(1),), ValueError, r"'cfg\[0\]': is annotated with static_"),
        (list_of(array_of()), np.zeros(1), TypeError, "annotated as a list but is an array"),
    ],
)  # fmt: skip
def test_tuples_that_do_not_fit(note, cfg, kind, text):
    with pytest.raises(kind, match=text):
        ct.launch(None, (1,), kernel_of(nothing, cfg=note), (np.zeros(1), cfg))


def test_a_tree_has_limits():
    wide = tuple[tuple([int] * 120)]
    with pytest.raises(TypeError, match="items"):
        ct.launch(None, (1,), kernel_of(nothing, out=wide, cfg=tuple[wide, wide]), (np.zeros(1), 1))
    deep = int
    for _ in range(80):
        deep = tuple[deep]
    with pytest.raises(ValueError, match="deep"):
        ct.launch(None, (1,), kernel_of(nothing, cfg=deep), (np.zeros(1), 1))


# ---- arrays and lists ----------------------------------------------------------------------------------


def write_shape(out, x):
    ct.static_assert(x.shape[1] == 8)
    ct.scatter(out, 0, x.shape[0])


@pytest.mark.parametrize("axes", [(1,), (-1,), (0, -1), (-2, -1), (0, 1)])
def test_axes_from_both_ends(axes):
    kernel = kernel_of(write_shape, x=array_of(static_shape_dims=axes))
    out = np.zeros(1, np.int32)
    for rows in (4, 32, 64):
        ct.launch(None, (1,), kernel, (out, np.zeros((rows, 8))))
        assert out[0] == rows
    alike = 2 if len(axes) == 1 else 3  # 4 is no multiple of 16
    assert compiled(kernel) == alike


@pytest.mark.parametrize(
    ("details", "kind", "text"),
    [
        ({"static_shape_dims": (False,)}, TypeError, r"static_shape_dims\[0\] must be int"),
        ({"static_stride_dims": (0, 1.0)}, TypeError, r"static_stride_dims\[1\] must be int"),
        ({"static_stride_dims": 0}, TypeError, "must be a tuple"),
        ({"index_dtype": ct.int16}, ValueError, "int32 or ct.int64"),
    ],
)
def test_array_annotations_that_are_none(details, kind, text):
    with pytest.raises(kind, match=text):
        ct.ArrayAnnotation(**details)


@pytest.mark.parametrize(
    ("details", "text"),
    [
        ({"static_shape_dims": (2,)}, r"static_shape_dims=\(2,\), but the array has 2 axes"),
        ({"static_stride_dims": (5,)}, r"static_stride_dims=\(5,\), but the array has 2 axes"),
        ({"static_stride_dims": (-3,)}, r"static_stride_dims=\(-3,\), but the array has 2 axes"),
        ({"static_shape_dims": (9,)}, "static_shape_dims contains axis 9"),
        ({"static_stride_dims": (0, 0)}, "duplicate axis"),
        ({"static_stride_dims": (0, -2)}, r"axis 0 twice in static_stride_dims \(as -2 too\)"),
    ],
)
def test_axes_that_an_array_lacks(details, text):
    with pytest.raises(ValueError, match=text):
        ct.launch(None, (1,), kernel_of(nothing, cfg=array_of(**details)), (np.zeros(1), np.zeros((4, 8))))


def add_columns(xs, out):
    total = ct.zeros((4,), out.dtype)
    for i in range(len(xs)):
        x = xs[i]
        ct.static_assert(x.shape[0] == 4 and x.strides[0] == 2)
        total += ct.load(x, (0,), (4,))
    ct.store(out, (0,), total)


EVERY_OTHER = ct.ArrayAnnotation(static_shape_dims=(0,), static_stride_dims=(-1,))


@pytest.mark.parametrize(
    "note",
    [list_of(EVERY_OTHER), list_of(Annotated[ct.Array, EVERY_OTHER]), list[Annotated[ct.Array, EVERY_OTHER]]],
)
def test_arrays_of_a_list_share_their_constants(note):
    kernel = kernel_of(add_columns, xs=note)
    out = np.zeros(4)
    xs = [np.arange(8.0)[::2], np.ones(8)[::2]]
    ct.launch(None, (1,), kernel, (xs, out))
    assert out.tolist() == [1.0, 3.0, 5.0, 7.0]
    with pytest.raises(ValueError, match="vary in static stride at axis 0: item 0 has stride 2, item 1 1"):
        ct.launch(None, (1,), kernel, ([xs[0], np.ones(4)], out))
    with pytest.raises(ValueError, match="vary in static shape at axis 0: item 0 has extent 4, item 2 5"):
        ct.launch(None, (1,), kernel, ([*xs, np.ones(10)[::2]], out))


def write_width(out, xs):
    ct.scatter(out, 0, 64 if xs[0].shape[0].dtype == ct.int64 else 32)


@pytest.mark.parametrize(("element", "bits"), [(ct.IndexedWithInt64, 64), (ct.ArrayAnnotation(), 32)])
def test_width_of_indices_in_a_list(element, bits):
    out = np.zeros(1, np.int32)
    ct.launch(None, (1,), kernel_of(write_width, xs=list_of(element)), (out, [np.zeros(3)]))
    assert out[0] == bits


@pytest.mark.parametrize("element", [int, ct.ListAnnotation, Annotated[ct.Array, 3], ct.ScalarInt64])
def test_elements_of_lists_that_are_none(element):
    with pytest.raises(TypeError, match="must be one ArrayAnnotation"):
        ct.ListAnnotation(element=element)


def test_annotations_compare_by_what_they_say():
    assert ct.ArrayAnnotation(static_shape_dims=(0,)) == ct.ArrayAnnotation(static_shape_dims=(0,))
    assert ct.ArrayAnnotation(static_shape_dims=(0,)) != ct.ArrayAnnotation(static_stride_dims=(0,))
    assert repr(ct.ListAnnotation(element=ct.ArrayAnnotation())).startswith("ListAnnotation(element=ArrayAnnotation(")
    assert len({ct.ConstantAnnotation(), ct.ConstantAnnotation()}) == 1
