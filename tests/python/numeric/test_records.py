# SPDX-License-Identifier: Apache-2.0
"""Records, texts and numbers in another byte order, against NumPy's: what is stored, viewed, moved and compared."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core

PACKED = np.dtype([("tag", "i1"), ("x", "f4"), ("n", "i8"), ("v", "f4", (3,))])  # fields at places of no multiple
ALIGNED = np.dtype([("a", "i1"), ("b", "f8"), ("in", [("c", "u2"), ("d", "S3")])], align=True)
DTYPES = [PACKED, ALIGNED, np.dtype("V8"), np.dtype("S5"), np.dtype("U3"), np.dtype(">f8"), np.dtype(">i2")]


def made(dtype, n=6):
    rng = np.random.default_rng(7)
    return np.frombuffer(rng.integers(48, 57, n * dtype.itemsize, "u1").tobytes(), dtype).copy() if (
        dtype.kind not in "U"
    ) else np.array(["ab", "b", "", "xyz", "b", "q"][:n], dtype)  # fmt: skip


def same(ours, theirs):
    theirs = np.asarray(theirs)
    assert isinstance(ours, tn.ndarray) or not theirs.ndim
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    assert listed(np.asarray(ours)) == listed(theirs)


def listed(a):
    """The elements, field by field: records compare arrays within them as arrays."""
    return a.tolist() if a.dtype.names is None else [listed(a[name]) for name in a.dtype.names]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "call",
    [
        lambda m, a: a[1:5:2], lambda m, a: a[::-1].copy(), lambda m, a: a[[3, 0, -1]], lambda m, a: a[m.arange(6) > 2],
        lambda m, a: a.reshape(2, 3).T.copy("F"), lambda m, a: m.concatenate([a, a[:2]]), lambda m, a: m.stack([a, a]),
        lambda m, a: m.repeat(a, 2), lambda m, a: m.take(a, m.asarray([[1, 2]])), lambda m, a: m.roll(a, 2),
        lambda m, a: m.where(m.arange(6) % 2 == 0, a, a[::-1]), lambda m, a: m.tile(a, 2), lambda m, a: m.flip(a),
        lambda m, a: m.asarray(a == a[::-1]), lambda m, a: m.asarray(a != a[2]), lambda m, a: m.zeros_like(a),
        lambda m, a: m.broadcast_to(a[1:2], (3,)), lambda m, a: m.delete(a, 1), lambda m, a: a.view(f"V{a.itemsize}"),
        lambda m, a: m.append(a, a[:1]), lambda m, a: m.compress([True, False, True], a), lambda m, a: a.flat[2:4],
    ],
)  # fmt: skip
def test_items_move_as_numpys(dtype, call):
    theirs = made(dtype)
    same(call(tn, tn.array(theirs)), call(np, theirs))


@pytest.mark.parametrize("dtype", [*DTYPES, np.dtype("i1,f8")], ids=str)
@pytest.mark.parametrize("shape", [(6,), (3, 1), (3, 2)])
def test_arrays_of_places_read_and_write_items(dtype, shape):
    theirs = made(dtype, int(np.prod(shape))).reshape(shape)
    ours = tn.array(theirs)
    for places in ([2], [0, -1], [[1], [0]], []):
        key = np.array(places, int)
        same(ours[tn.array(key)], theirs[key])
        for value in (theirs[::-1].copy()[key], theirs[0].copy()):  # as many rows, one
            theirs[key] = value
            ours[tn.array(key)] = tn.array(value)
            same(ours, theirs)
    mask = np.arange(theirs.size).reshape(shape) % 2 == 0
    theirs[mask] = theirs[~mask][:1]
    ours[tn.array(mask)] = tn.array(theirs[mask])
    same(ours, theirs)


def test_fields_are_views():
    theirs = made(PACKED)
    theirs["x"], theirs["v"] = 2.5, 1
    ours = tn.array(theirs)
    for a in (ours, theirs):
        a["x"][1:3] = 7
        a["n"] = np.arange(6)
        a["v"][:, 1] *= 3
        a["v"][0] = [4, 5, 6]
        a[["n", "tag"]][2] = (100, 3)
        a[4] = (1, 2, 3, 4)
        a[a["n"] > 90] = (9, 9, 9, 9)
        a[["x", "v"]][1:2] = a[["x", "v"]][0:1]
    same(ours, theirs)
    same(ours[["v", "x"]], theirs[["v", "x"]])
    assert ours["v"].strides == theirs["v"].strides and ours["n"].base is ours
    assert ours["x"].sum() == theirs["x"].sum() and (ours["x"] * 2 + ours["n"]).tolist() == (
        theirs["x"] * 2 + theirs["n"]).tolist()  # fmt: skip
    nested = tn.zeros(3, ALIGNED)
    nested["in"]["c"][1:] = [5, 6]
    nested["in"][0] = (1, b"ab")
    assert nested["in"].tolist() == [(1, b"ab"), (5, b""), (6, b"")]


def test_writes_leave_bytes_between_fields_alone():
    ours, theirs = tn.array(made(PACKED)), made(PACKED)
    for m, a in ((tn, ours), (np, theirs)):
        part = a[["tag", "n"]]
        part[...] = part[::-1].copy()
        part[[0, 1]] = part[5]
        m.copyto(part, part[2], where=m.asarray([True, False] * 3))
    assert ours.tobytes() == theirs.tobytes()


def test_elements_of_records_share_memory():
    theirs = made(PACKED)
    ours = tn.array(theirs)
    ours[1]["n"] = 5
    assert ours["n"][1] == 5 and isinstance(ours[1], np.void) and ours[1].dtype == PACKED
    assert [x["tag"] for x in ours] == theirs["tag"].tolist()
    assert ours[2].item()[:3] == theirs[2].item()[:3] and ours.item(2)[:3] == theirs.item(2)[:3]


def test_making():
    pairs = [(1, 2.5), (3, 4.5)]
    for m in (np, tn):
        made = [
            m.array(pairs, "i4,f8"), m.zeros(2, "i4,S3"), m.ones((2, 1), "u1,f4"), m.full(3, np.array((1, 2), "i2,i2")),
            m.empty((0, 2), PACKED), m.fromiter(pairs, "i4,f8"), m.frombuffer(bytes(range(24)), "i4,u2,u2"),
            m.asarray(pairs, [("a", "f4"), ("b", "f4")]), m.full_like(m.zeros(2, "i4,f8"), 3), m.zeros(2, "(2,3)i4"),
            m.array(["a", "bcd"]), m.array([b"x", b"yz"], "S1"),
        ]  # fmt: skip
        if m is np:
            wanted = made
    for ours, theirs in zip(made, wanted, strict=True):
        same(ours, theirs)


def test_conversions():
    theirs = np.array([(1, 2.5), (3, 4.5)], "i4,f8")
    ours = tn.array(theirs)
    for dtype in ("f4,f4", "i8,>f8", [("a", "S5"), ("b", "i2")]):
        same(ours.astype(dtype), theirs.astype(dtype))
    same(tn.arange(3).astype("f4,i8"), np.arange(3).astype("f4,i8"))
    same(ours[["f0"]].astype("f8"), theirs[["f0"]].astype("f8"))
    same(ours.view("V12"), theirs.view("V12"))
    same(ours["f1"].astype("U8"), theirs["f1"].astype("U8"))
    same(tn.array(["1", "22"]).astype("i4"), np.array(["1", "22"]).astype("i4"))
    with pytest.raises(TypeError):
        ours.astype("f8")
    assert tn.result_type("i4,f4", "i8,f4") == np.result_type("i4,f4", "i8,f4")
    assert tn.can_cast("i4,f4", "i8,f8") and not tn.can_cast("i8,f8", "i4,f4")


def test_nothing_is_computed_of_records():
    ours = tn.zeros(3, PACKED)
    for call in (
        lambda: ours + 1, lambda: tn.sin(ours), lambda: ours < ours, lambda: ours == 1, lambda: ours.sum(),
        lambda: ours == tn.zeros(3, "i4,i4"), lambda: tn.arange(3) + ours, lambda: tn.dot(ours, ours),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match="no field of name y"):
        ours["y"]
    with pytest.raises(IndexError):
        tn.arange(3)["x"]
    with pytest.raises(IndexError, match="too many indices"):
        ours[[0], [0]]


def test_the_host_orders_records_and_says_so():
    theirs = made(PACKED)
    ours, before = tn.array(theirs), tn.host_calls().get("sort", 0)
    same(tn.sort(ours, order=["n", "x"]), np.sort(theirs, order=["n", "x"]))
    same(tn.argsort(ours, order="x"), np.argsort(theirs, order="x"))
    same(tn.unique(tn.array(["b", "a", "b"])), np.unique(["b", "a", "b"]))
    ours.sort(order="tag")
    same(ours, np.sort(theirs, order="tag"))
    assert tn.host_calls()["sort"] == before + 2


@pytest.mark.parametrize("name", ["union1d", "intersect1d", "setdiff1d", "setxor1d"])
@pytest.mark.parametrize("take", [np.array, list, tn.array])
def test_sets_of_texts_and_records_are_numpys(name, take):
    given = [(["b", "a", "b"], ["c", "a"]), ([b"b", b"a"], [b"c", b"aa", b"b"])]
    if take is tn.array:
        records = np.array([(1, 2.0), (0, 1.0)], "i4,f8")
        given.append((records, records[:1]))
    for one, other in given:
        made = getattr(tn, name)(take(one), take(other))
        assert type(made) is tn.ndarray
        same(made, getattr(np, name)(one, other))


@pytest.mark.parametrize("call", [
    lambda m: m.sort(["b", "c", "a"]), lambda m: m.argsort(["b", "a", "b"], kind="stable"),
    lambda m: m.sort([["b", "a"], ["a", "c"]], 0), lambda m: m.unique(["b", "a", "b"], return_counts=True)[1],
    lambda m: m.isin(["b", "a"], ["a"]), lambda m: m.searchsorted(["a", "c"], ["b", "d"]),
    lambda m: m.searchsorted(m.arange(3), "a"),
])  # fmt: skip
def test_texts_in_lists_are_ordered(call):
    assert np.asarray(call(tn)).tolist() == np.asarray(call(np)).tolist()


TEXTS = np.array(["a", "bb", "c"], "U6")


@pytest.mark.parametrize("call", [
    lambda m, a: m.add.at(a(TEXTS), [0, 2], "z"), lambda m, a: m.add.at(a(TEXTS), [0, 2, 0], a(["z", "y", "x"])),
    lambda m, a: m.multiply.at(a(TEXTS), a([0, 2]), 3), lambda m, a: m.add.at(a(TEXTS.astype("S4")), [1], b"q"),
    lambda m, a: m.add.at(a(np.array([1, 2], ">i4")), [0, 0], 5), lambda m, a: m.maximum.at(a(TEXTS), [0], "q"),
    lambda m, a: m.add.at(a(np.zeros(3, "i4,f8")), [0], 1), lambda m, a: m.negative.at(a(np.zeros(3, "i4,f8")), [0]),
    lambda m, a: m.add.outer(a(TEXTS), a(TEXTS)), lambda m, a: m.add.reduce(a(np.zeros(3, "i4,f8"))),
    lambda m, a: m.add.accumulate(a(np.zeros(3, "i4,f8"))),
])  # fmt: skip
def test_methods_of_functions_take_items_as_numpys(call):
    outcomes = []
    for module in (np, tn):
        taken = []
        try:
            made = call(module, lambda x, m=module, all=taken: all.append(m.array(x)) or all[-1])
            outcomes.append(np.asarray(taken[0] if made is None else made).tolist())
        except TypeError as error:
            outcomes.append((type(error), str(error)))
    assert outcomes[0] == outcomes[1]


def test_another_byte_order_is_stored_and_computed():
    theirs = np.array([[3, 1, 2], [7, -5, 6]], ">f8")
    ours = tn.asarray(theirs)
    assert ours.dtype == ">f8" and np.shares_memory(np.asarray(ours), theirs)
    for call in (
        lambda m, a: a + 1, lambda m, a: a.sum(0), lambda m, a: m.sort(a), lambda m, a: a @ a.T,
        lambda m, a: a.T.copy(),
        lambda m, a: m.concatenate([a, a], dtype=">f8"), lambda m, a: a.astype(">i4"), lambda m, a: a.byteswap(),
        lambda m, a: m.maximum(a, 2, dtype="f8"), lambda m, a: m.arange(3).astype(">f8") + a, lambda m, a: a.cumsum(1),
    ):  # fmt: skip
        found, wanted = call(tn, ours), call(np, theirs)
        assert found.tolist() == wanted.tolist() and found.shape == wanted.shape
    assert (ours + 1).dtype == np.dtype("=f8") and ours.astype(">i4").dtype == ">i4" and ours.copy().dtype == ">f8"
    ours[0] = [9, 8, 7]
    ours += 1
    np.testing.assert_array_equal(theirs, [[10, 9, 8], [8, -4, 7]])
    complexes = np.array([1 + 2j, 3 - 4j], ">c16")
    assert (tn.array(complexes) * 2).tolist() == (complexes * 2).tolist()
    assert tn.array(complexes).imag.tolist() == [2, -4]
    with pytest.raises(TypeError):
        tn.add(ours, ours, out=tn.zeros((2, 3), ">i4"))


def test_numbers_at_odd_places_are_read_and_written_where_they_lie():
    room = np.zeros(41, "u1")
    theirs = room[1:].view("f8")
    ours = tn.asarray(theirs)
    assert ours.dtype == "f8" and not theirs.flags.aligned
    ours[...] = range(5)
    ours[1:] *= 2
    tn.multiply(ours, 10, out=ours)
    np.testing.assert_array_equal(theirs, [0, 20, 40, 60, 80])
    assert ours.sum() == 200 and ours[[1, 3]].tolist() == [20, 60] and ours.max() == 80
    ours.sort()
    assert tn.sqrt(ours[:2]).tolist() == np.sqrt(theirs[:2]).tolist()


def test_files_pickles_buffers_and_interfaces():
    for dtype in (PACKED, ALIGNED, np.dtype("S5"), np.dtype(">f8")):
        theirs = made(dtype)
        ours = tn.array(theirs)
        file = io.BytesIO()
        tn.save(file, ours)
        file.seek(0)
        same(tn.load(file), theirs)
        same(pickle.loads(pickle.dumps(ours)), pickle.loads(pickle.dumps(theirs)))
        assert np.shares_memory(np.asarray(ours), np.asarray(ours)) and np.asarray(ours).dtype == dtype
        assert repr(ours) == repr(theirs) and ours.tobytes() == theirs.tobytes()
    assert memoryview(tn.array(made(PACKED))).format == memoryview(made(PACKED)).format
    assert tn.zeros(2, PACKED).__array_interface__["descr"] == PACKED.descr
    for dtype in (ALIGNED, np.dtype({"names": ["f1"], "formats": [">m8[ms]"], "offsets": [8], "itemsize": 16})):
        assert np.asarray(tn.zeros(2, dtype)).dtype == dtype
    with pytest.raises(AttributeError, match="cannot describe"):  # its fields overlap
        tn.zeros(2, np.dtype({"names": ["a", "b"], "formats": ["i4", "i2"], "offsets": [0, 2]})).__array_interface__


def test_other_views_of_the_type():
    ours = tn.zeros(3, PACKED)
    assert ours.getfield("f4", 1).strides == (25,)
    ours.setfield(5, "f4", 1)
    assert ours["x"].tolist() == [5, 5, 5]
    raw = tn.arange(6, dtype="i4")
    raw.dtype = "i4,f4"
    assert raw.dtype.names == ("f0", "f1") and raw.shape == (3,)
    with pytest.raises(ValueError, match="offset"):
        ours.getfield("f8", 20)
    assert tn.zeros(2, "i4,f8").view("(12,)u1").shape == (2, 12)


def test_record_arrays_and_functions_of_records():
    found = tn.rec.array([(1, 2.5, "a"), (3, 4.5, "b")], dtype="i4,f8,S3")
    assert isinstance(found, tn.recarray) and found.f1.sum() == 7.0 and found[0].f2 == b"a"
    found.f0 = 7
    assert found.f0.tolist() == [7, 7] and isinstance(found.f0, tn.ndarray)
    rf = tn.lib.recfunctions
    a = tn.array([(1, 2.0, 3), (4, 5.0, 6)], [("a", "i4"), ("b", "f4"), ("c", "i4")])
    assert rf.structured_to_unstructured(a).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert rf.drop_fields(a, "b").tolist() == [(1, 3), (4, 6)]
    assert rf.append_fields(a, "d", [1, 2], usemask=False)["d"].tolist() == [1, 2]
    assert rf.repack_fields(a[["a", "c"]]).dtype.itemsize == 8


def test_kernels_of_threads_take_records_in_place():
    from tessera import cuda

    @cuda.jit
    def double(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i].x = a[i].x * 2 + a[i].n

    theirs = made(PACKED)
    theirs["x"], theirs["n"] = 1.5, range(6)
    ours = tn.array(theirs)
    double[1, 32](ours)
    assert ours["x"].tolist() == (theirs["x"] * 2 + theirs["n"]).tolist()


def test_algorithms_take_records_in_place():
    from tessera import compute

    @compute.gpu_struct
    class Pixel:
        r: np.int32
        g: np.int32

    colors = np.array([(1, 5), (2, 9), (3, 4)], Pixel.dtype)
    for m in (tn, pytest.importorskip("tessera.cupy")):
        pixels, greatest = m.array(colors), m.empty(1, Pixel.dtype)
        compute.reduce_into(
            d_in=pixels, d_out=greatest, num_items=3, op=lambda a, b: a if a.g > b.g else b, h_init=Pixel(0, 0)
        )
        assert greatest.get().tolist() == [(2, 9)]
        assert m.array(colors.view("i4")).view(Pixel.dtype).get().tolist() == colors.tolist()


def test_texts_of_many_widths():
    for n in range(1, 4200):
        assert tn.zeros(1, f"S{n}").dtype.itemsize == n


MOST = """
import tessera.numeric as tn
made = 0
try:
    for made in range(70_000):
        tn.zeros(1, f"S{made + 1}")
except RuntimeError as error:
    assert made == 65_535 and "use fewer, as one width for many texts" in str(error), (made, error)
    assert tn.zeros(2, "S7")[0] == b"" and float((tn.zeros(2) + 1)[0]) == 1
else:
    raise AssertionError(made)
"""


@pytest.mark.skipif(not os.environ.get("TESSERA_TEST_LONG"), reason="takes seconds; TESSERA_TEST_LONG runs it")
def test_more_dtypes_than_there_is_room_for():
    subprocess.run([sys.executable, "-c", MOST], check=True)


@pytest.mark.parametrize(
    "wanted",
    [
        np.array(["ab", "c"]),
        np.array([b"ab", b"c"]),
        np.array([(1, 2.0, "xy", [3, 4])], "i4,>f8,U2,2i2"),
        np.array([(1, (2, b"ab"))], [("a", "i2"), ("b", [("c", "i4"), ("d", "S2")])]),
        np.array(3 + 4j),
    ],
    ids=lambda a: str(a.dtype),
)
def test_bytes_are_turned_in_each_part(wanted):
    made = tn.array(wanted)
    assert made.byteswap().tobytes() == wanted.byteswap().tobytes()
    made.byteswap(inplace=True)
    assert made.tobytes() == wanted.byteswap().tobytes() and made.dtype == wanted.dtype


def test_dtypes_that_compare_equal_stay_apart():
    fields = [("a", "i4")]
    for one, other in (
        (np.dtype(fields), np.dtype((np.record, fields))), (np.dtype(fields), np.dtype(fields, align=True)),
        (np.dtype("M8[1000us]"), np.dtype("M8[ms]")), (np.dtype("m8[1000ms]"), np.dtype("m8[s]")),
        (np.dtype([("in", [("t", "M8[1000us]")])]), np.dtype([("in", [("t", "M8[ms]")])])),
    ):  # fmt: skip
        assert one == other
        for dtype in (one, other, one):
            for a in (tn.zeros(2, dtype), tn.array(np.zeros(2, dtype))):
                assert (repr(a.dtype), a.dtype.type) == (repr(dtype), dtype.type)
                assert a.dtype.isalignedstruct == dtype.isalignedstruct
        a = tn.zeros(2, one)
        a[...] = tn.ones(2, "i4").view(other) if one.itemsize == 4 else tn.ones(2, "i8").view(other)
        assert np.asarray(a).tobytes() == np.ones(2, f"i{one.itemsize}").tobytes()
    assert tn.rec.fromarrays([[1, 2]], dtype=fields)[0].a == 1


@pytest.mark.parametrize("dtype", ["S", "U", "S0", ">U0", "V0"])
def test_texts_without_a_width_are_as_wide_as_numpys(dtype):
    for call in (
        lambda m: m.zeros(3, dtype), lambda m: m.zeros_like(m.zeros(2), dtype), lambda m: m.zeros((2, 0), dtype),
        lambda m: m.full(2, b"abc" if dtype == "S" else "abc", dtype) if dtype != "V0" else m.zeros(1, dtype),
    ):  # fmt: skip
        same(call(tn), call(np))
    narrow = np.zeros(3, [("a", "S0"), ("b", "i4")])
    assert np.asarray(tn.array(narrow)["a"]).dtype == "S0"


@pytest.mark.parametrize("dtype", ["<f8", ">f8", ">i2", ">c16", ">M8[D]", "q"])
def test_moved_elements_keep_their_byte_order(dtype):
    theirs = np.arange(6).astype(dtype)
    calls = [lambda m, a: m.roll(a, 1), lambda m, a: m.roll(a, -2), lambda m, a: m.roll(a.reshape(2, 3), 1, 1),
             lambda m, a: m.roll(a.reshape(2, 3), 1), lambda m, a: m.delete(a, 2), lambda m, a: m.delete(a, [1, 3]),
             lambda m, a: m.delete(a, slice(1, 2)), lambda m, a: m.insert(a, 2, a[0]),
             lambda m, a: m.insert(a, [1, 2], a[0])]  # fmt: skip
    if theirs.dtype.kind != "M":
        calls += [lambda m, a: m.pad(a, 2), lambda m, a: m.pad(a, (0, 1)), lambda m, a: m.insert(a, 1, [7, 8])]
    for i, call in enumerate(calls):
        made, wanted = call(tn, tn.array(theirs)), call(np, theirs)
        assert (made.dtype, made.dtype.char) == (wanted.dtype, wanted.dtype.char), i
        assert made.tolist() == wanted.tolist(), i


BYTE_ORDERS = {
    "rows": lambda a: a, "columns": lambda a: a.T, "back": lambda a: a[::-1, 1:, ::-2], "gaps": lambda a: a[:, :, 1],
    "empty": lambda a: a[:0], "one": lambda a: a[2, 1, 3], "moved": lambda a: a.transpose(1, 2, 0),
}  # fmt: skip


@pytest.mark.parametrize("layout", BYTE_ORDERS)
@pytest.mark.parametrize("dtype", ["i2", "u4", "i8", "f2", "f4", "f8", "c8", "c16", "M8[s]", "U3"])
def test_bytes_in_the_other_order_are_numpys(layout, dtype):
    raw = np.arange(5 * 4 * 6 * np.dtype(dtype).itemsize, dtype="u1") % 61
    source = np.arange(120).astype(dtype).reshape(5, 4, 6) if dtype == "U3" else raw.view(dtype).reshape(5, 4, 6)
    if (layout, dtype) == ("one", "U3"):  # NumPy turns the address of such a scalar's text
        return
    other = np.dtype(dtype).newbyteorder()
    made = []
    for m in np, tn:
        a = BYTE_ORDERS[layout](m.asarray(source))
        turned = m.asarray(a.astype(other))
        packed = m.frombuffer(b"x" + source.astype(other).tobytes(), other, offset=1).reshape(5, 4, 6)
        packed = BYTE_ORDERS[layout](packed)
        again = m.array(a)
        if isinstance(a, m.ndarray):
            again.byteswap(inplace=True)
        results = [turned, m.asarray(turned.astype(dtype)), m.asarray(packed.astype(dtype)), a.byteswap(), again]
        made.append([(r.dtype.str, r.shape, r.tobytes()) for r in map(np.asarray, results)])
    assert made[0] == made[1]


@pytest.mark.parametrize("n", [0, 1, 7, 40000])
def test_numbers_of_the_other_byte_order_are_computed_with(n):
    source = np.linspace(-3, 5, n)
    theirs, ours = source.astype(">f8"), tn.asarray(source).astype(">f8")
    assert (ours + 1).dtype == (theirs + 1).dtype and (ours + 1).tobytes() == (theirs + 1).tobytes()
    assert ours[::-2].astype("f4").tobytes() == theirs[::-2].astype("f4").tobytes()
    with pytest.raises(ValueError, match="differ"):
        _core.numeric_turn(ours, tn.zeros(n + 1), 8)


def test_record_arrays_are_pickled():
    records = tn.rec.fromarrays([[1, 2], [3.5, 4]], names="a,b")
    for protocol in (2, 5):
        for thing in (records, records[1], tn.ma.mrecords.fromarrays([[1, 2]], names="a")):
            again = pickle.loads(pickle.dumps(thing, protocol))
            assert type(again) is type(thing) and again.dtype == thing.dtype and again.a.tolist() == thing.a.tolist()
    assert pickle.loads(pickle.dumps(records.dtype)) == records.dtype and type(records[0]) is np.record
