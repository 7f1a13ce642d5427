# SPDX-License-Identifier: Apache-2.0
"""Accesses outside an array: slices, indices of any size, padding, and what checked mode reports.

The table of memory operations is that of src/lang/tile/tile_op.def: an operation without a case here fails.
"""

import importlib.util
import pathlib
import random
import re

import gen_language
import numpy as np
import pytest
import tessera
import tessera.tile as ct

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUARD, N = 24, 16


def guarded(dtype=np.int32):
    """An array of N numbers with memory of its own on both sides: (whole, array)."""
    whole = np.arange(2 * GUARD + N).astype(dtype)
    return whole, whole[GUARD : GUARD + N]


def kernels_of(tmp_path, source):
    path = tmp_path / "kernels.py"
    path.write_text("import numpy as np\nimport tessera.tile as ct\n\n" + source)
    spec = importlib.util.spec_from_file_location("kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- slices ----------------------------------------------------------------------------------


@ct.kernel
def read_slice(x, y, start: ct.ScalarInt64, stop: ct.ScalarInt64):
    part = x.slice(axis=0, start=start, stop=stop)
    ct.store(y, (0,), ct.load(part, (0,), (8,)))
    ct.scatter(y, 8, part.shape[0])


@ct.kernel
def write_slice(x, start: ct.ScalarInt64, stop: ct.ScalarInt64):
    part = x.slice(axis=0, start=start, stop=stop)
    ct.store(part, (0,), ct.full((8,), -1, ct.int32))
    ct.scatter(part, ct.arange(8, dtype=ct.int32) - 8, -2)
    ct.scatter(part, ct.arange(8, dtype=ct.int32) + 8, -3)


@ct.kernel
def slice_of_slice(x, y, a: int, b: int, c: int, d: int):
    part = x.slice(0, a, b).slice(0, c, d)
    ct.store(y, (0,), ct.load(part, (0,), (8,)))
    ct.scatter(y, 8, part.shape[0])


@ct.kernel
def columns(x, y, start: int, stop: int):
    ct.store(y, (0, 0), ct.load(x.slice(1, start, stop), (0, 0), (4, 8)))


def clamped(start, stop, n):
    start = max(start, 0)
    stop = max(min(stop, n), start)
    return (start, stop) if start < stop else (0, 0)


BOUNDS = [-(2**63), -(2**40), -(2**31), -5, -1, 0, 1, 3, N - 1, N, N + 1, 100, 2**28, 2**31 - 1,
          2**31, 2**32 + 3, 2**40, 2**61, 2**63 - 1]  # fmt: skip


@pytest.mark.parametrize("start", BOUNDS)
def test_a_slice_stays_in_its_array(start):
    for stop in BOUNDS:
        whole, x = guarded()
        y = np.full(9, -7, np.int32)
        low, high = clamped(start, stop, N)
        ct.launch(None, (1,), read_slice, (x, y, start, stop))
        part = x[low:high][:8]
        wanted = np.zeros(9, np.int32)
        wanted[: len(part)], wanted[8] = part, high - low
        np.testing.assert_array_equal(y, wanted, err_msg=f"{start}:{stop}")
        changed = whole.copy()
        view = changed[GUARD : GUARD + N][low:high]
        view[:8] = -1
        view[8:16] = -3
        ct.launch(None, (1,), write_slice, (x, start, stop))
        np.testing.assert_array_equal(whole, changed, err_msg=f"{start}:{stop}")


def test_slices_of_slices_and_of_columns_stay_in_theirs():
    rng = random.Random(1)
    for _ in range(200):
        a, b, c, d = (rng.randint(-4, N + 4) for _ in range(4))
        _, x = guarded()
        y = np.full(9, -7, np.int32)
        low, high = clamped(a, b, N)
        part = x[low:high]
        low, high = clamped(c, d, len(part))
        part = part[low:high]
        ct.launch(None, (1,), slice_of_slice, (x, y, a, b, c, d))
        wanted = np.zeros(9, np.int32)
        wanted[: min(8, len(part))], wanted[8] = part[:8], len(part)
        np.testing.assert_array_equal(y, wanted, err_msg=f"{a}:{b}, {c}:{d}")
        z, out = np.arange(40, dtype=np.int32).reshape(4, 10), np.full((4, 8), -7, np.int32)
        low, high = clamped(a, b, 10)
        ct.launch(None, (1,), columns, (z, out, a, b))
        wanted = np.zeros((4, 8), np.int32)
        wanted[:, : min(8, high - low)] = z[:, low:high][:, :8]
        np.testing.assert_array_equal(out, wanted, err_msg=f"columns {a}:{b}")


@pytest.mark.parametrize(
    "bounds,text",
    [
        ("-2, 3", "'start' is -2"),
        ("0, -1", "'stop' is -1"),
        ("5, 3", "'stop' is 3, before 'start', which is 5"),
        ("ct.uint32(2), 3", "a signed integer scalar"),
        ("ct.astype(i, ct.uint8), 3", "a signed integer scalar"),
        ("1.0, 3", "a signed integer scalar"),
        ("ct.arange(2, dtype=ct.int32), 3", "a signed integer scalar"),
    ],
)
def test_bounds_that_cannot_be_meant_are_refused(bounds, text, tmp_path):
    source = f"@ct.kernel\ndef k(x, i: int):\n    x.slice(0, {bounds})\n"
    kernel = kernels_of(tmp_path, source).k
    with pytest.raises(tessera.TileTypeError, match=re.escape(text)):
        ct.launch(None, (1,), kernel, (np.zeros(8, np.float32), 1))


@ct.kernel
def constant_slice(x, y):
    part = x.slice(0, 2, 10)
    ct.store(y, (0,), ct.load(part, (0,), part.shape))
    ct.scatter(part, 7, 5.0)


def test_constant_bounds_give_a_constant_shape_and_still_end_with_the_array():
    whole = np.arange(32, dtype=np.float32)
    for n in (16, 10, 6, 2, 0):
        before, y = whole.copy(), np.full(8, -1, np.float32)
        ct.launch(None, (1,), constant_slice, (whole[:n], y))
        np.testing.assert_array_equal(y, [*before[2:n], *[0] * 8][:8])
        before[9:10] = 5 if n > 9 else before[9:10]
        np.testing.assert_array_equal(whole, before)


# ---- indices of any size -----------------------------------------------------------------------


@ct.kernel
def access(x, y, z, i: ct.ScalarInt64, j: ct.ScalarInt64):
    ct.store(y, (0, 0), ct.load(x, (i, j), (2, 4)))
    view = x.tiled_view((2, 4), traversal_steps=(1, 3))
    ct.store(y, (1, 0), view.load((i, j)))
    rows = i + ct.arange(2, dtype=ct.int64)
    ct.store(y, (2, 0), ct.load_advanced_indexing(x, (rows, ct.Slice(j, 4))))
    ct.store(y, (3, 0), ct.gather(x, (rows[:, None], (j + ct.arange(4, dtype=ct.int64))[None, :])))
    ct.store(z, (i, j), ct.full((2, 4), 1, ct.int32))
    z.tiled_view((2, 4), traversal_steps=(1, 3)).atomic_store_add((i, j), 100)
    ct.store_advanced_indexing(z, (rows, ct.Slice(j, 4)), ct.full((2, 4), 2, ct.int32))
    ct.scatter(z, (rows[:, None], j), 3)


def test_indices_of_any_size_mean_what_they_say():
    """Against a model in Python's integers, which do not wrap."""
    rng = random.Random(2)
    edges = [
        2**k // d + s
        for k in (31, 32, 33, 61, 62, 63, 64)
        for d in (1, 2, 3, 4)
        for s in (-1, 0, 1)
    ]
    edges = [e for e in edges + [-e for e in edges] if -(2**63) <= e < 2**63]
    steps = [(2, 4), (1, 3), (1, 1), (1, 1)]
    for _ in range(150):
        i, j = (rng.choice(edges) if rng.random() < 0.5 else rng.randint(-3, 4) for _ in range(2))
        whole = np.zeros(10 * 9, np.int32)
        x, z = np.arange(1, 46, dtype=np.int32).reshape(5, 9), whole[27:72].reshape(5, 9)
        y, wanted = np.full((8, 4), -1, np.int32), np.zeros((8, 4), np.int32)
        model = np.zeros((5, 9), np.int32)
        wraps = lambda v: (v + 2**63) % 2**64 - 2**63  # arithmetic of the kernel itself
        for a, (si, sj) in enumerate(steps):
            for r in range(2):
                for c in range(4):
                    row = i * si + r if a < 2 else wraps(i + r)
                    column = wraps(j + c) if a == 3 else j * sj + c
                    if 0 <= row < 5 and 0 <= column < 9:
                        wanted[2 * a + r, c] = x[row, column]
                        if a == 0:
                            model[row, column] = 1
                        elif a == 1:
                            model[row, column] += 100
                        elif a == 2:
                            model[row, column] = 2
                        elif c == 0:
                            model[row, column] = 3
        ct.launch(None, (1,), access, (x, y, z, i, j))
        np.testing.assert_array_equal(y, wanted, err_msg=f"index {i}, {j}")
        np.testing.assert_array_equal(z, model, err_msg=f"index {i}, {j}")
        assert not whole[:27].any() and not whole[72:].any(), (i, j)


@ct.kernel
def unsigned_index(x, y, i: ct.ScalarInt64):
    u = ct.astype(i, ct.uint64)
    ct.store(y, (0,), ct.load(x, (u,), (4,)))
    ct.store(y, (1,), x.tiled_view(4, traversal_steps=1).load(u))
    ct.store(y, (2,), ct.gather(x, u + ct.arange(4, dtype=ct.uint64)))
    ct.store(y, (3,), ct.load(x, (2**70,), (4,)))


def test_unsigned_indices_beyond_int64_are_beyond_the_array():
    x = np.arange(1, 9, dtype=np.int32)
    for i in (-2, -1, -(2**63)):
        y = np.full(16, -1, np.int32)
        ct.launch(None, (1,), unsigned_index, (x, y, i))
        wrapped = [(i % 2**64 + c) % 2**64 for c in range(4)]
        wanted = [x[c] if c < 8 else 0 for c in wrapped]
        np.testing.assert_array_equal(y, [0] * 8 + wanted + [0] * 4)


# ---- padding -------------------------------------------------------------------------------------


def pad_body(x, y):
    ct.store(y, (0,), ct.load(x, (0,), (8,)))
    ct.store(y, (1,), x.tiled_view((8,)).load((0,)))
    ct.store(y, (2,), ct.load(x, (3,), (8,)))
    ct.store(y, (3,), ct.load(x, (0,), (8,), padding_mode=ct.PaddingMode.ZERO))


pads = ct.kernel(pad_body)
pads_checked = ct.kernel(pad_body, checked=True)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u4", "f2", "f4", "f8", "bool"])
def test_undetermined_padding_is_zero_and_shows_in_checked_mode(dtype):
    x = np.ones(5, dtype)
    for kernel, poison in ((pads, False), (pads_checked, True)):
        y = np.ones(32, dtype)
        ct.launch(None, (1,), kernel, (x, y))
        zero, shown = np.zeros(1, dtype)[0], np.zeros(1, dtype)[0]
        if poison:
            size = np.dtype(dtype).itemsize
            shown = np.frombuffer(b"\x55" * size, dtype)[0] if dtype != "bool" else True
            shown = np.dtype(dtype).type("nan") if dtype[0] == "f" else shown
        one = np.ones(1, dtype)[0]
        wanted = [one] * 5 + [shown] * 3
        np.testing.assert_array_equal(y, wanted * 2 + [shown] * 8 + [one] * 5 + [zero] * 3)


# ---- checked mode: every memory operation ------------------------------------------------------------


def memory_operations():
    """name -> signature of the operations that op_memory.c, op_element.c and op_view.c lower."""
    folder = ROOT / "src/lang/tile"
    source = "".join((folder / f"op_{part}.c").read_text() for part in ("memory", "element", "view"))
    lowered = set(re.findall(r"^ts_status fr_op_(\w+)\(", source, re.MULTILINE))
    return {op.name: op.signature for op in gen_language.tile_ops() if op.lowering in lowered}


NO_ACCESS = {
    "array_from_foreign",  # makes an array; what reads it is checked as that of any array
    "bid",
    "num_blocks",
    "num_tiles",
    "Slice",
    "array_tiled_view",
    "array_get_raw_memory",
    "view_num_tiles",
}
IN = "i + ct.arange(4, dtype=ct.int64)"
VALUE = "ct.ones((4,), ct.int32)"
RAW = "x.get_raw_memory()"
VIEW = "x.tiled_view((4,))"
ROWS = "(i + ct.arange(4, dtype=ct.int64), ct.Slice(0, 4))"
# What each does outside its array: "pads" (and drops) by the language, or is reported in checked mode.
CASES = {
    "load": ("pads", "ct.store(y, 0, ct.load(x, i, 4{more}))"),
    "store": ("pads", f"ct.store(x, i, {VALUE}{{more}})"),
    "gather": ("reports", f"ct.store(y, 0, ct.gather(x, {IN}{{more}}))"),
    "scatter": ("reports", f"ct.scatter(x, {IN}, {VALUE}{{more}})"),
    "atomic_cas": ("reports", f"ct.atomic_cas(x, {IN}, {VALUE}, {VALUE}{{more}})"),
    "raw_load_offset": ("reports", f"ct.store(y, 0, {RAW}.load_offset({IN}{{more}}))"),
    "raw_store_offset": ("reports", f"{RAW}.store_offset({IN}, {VALUE}{{more}})"),
    "raw_atomic_cas_offset": ("reports", f"{RAW}.atomic_cas_offset({IN}, {VALUE}, {VALUE}{{more}})"),
    "load_advanced_indexing": ("reports", f"ct.store(y2, (0, 0), ct.load_advanced_indexing(x2, {ROWS}))"),
    "store_advanced_indexing": (
        "reports", f"ct.store_advanced_indexing(x2, {ROWS}, ct.ones((4, 4), ct.int32))"),
    "array_slice": ("reports", "ct.store(x.slice(0, i, i + 4), 0, ct.ones((4,), ct.int32))"),
    "view_load": ("pads", f"ct.store(y, 0, {VIEW}.load(i{{more}}))"),
    "view_store": ("pads", f"{VIEW}.store(i, {VALUE}{{more}})"),
    **{f"atomic_{m}": ("reports", f"ct.atomic_{m}(x, {IN}, {VALUE}{{more}})")
       for m in ("xchg", "add", "max", "min", "and", "or", "xor")},
    **{f"raw_atomic_{m}_offset": ("reports", f"{RAW}.atomic_{m}_offset({IN}, {VALUE}{{more}})")
       for m in ("xchg", "add", "max", "min", "and", "or", "xor")},
    **{f"view_atomic_store_{m}": ("pads", f"{VIEW}.atomic_store_{m}(i, {VALUE})")
       for m in ("add", "max", "min", "and", "or", "xor")},
}  # fmt: skip


def test_every_memory_operation_has_a_case():
    assert set(memory_operations()) == set(CASES) | NO_ACCESS


def variants():
    for name, signature in memory_operations().items():
        if name in CASES:
            yield name, ""
            for option in ("check_bounds", "mask"):
                if f"{option}?" in signature.split():
                    yield name, f", {option}=False"


def launch(module, name, index):
    whole, x = guarded()
    y = np.zeros(4, np.int32)
    arguments = (x, y, x.reshape(4, 4), np.zeros((4, 4), np.int32), index)
    ct.launch(None, (2,), getattr(module, name), arguments)
    return whole


@pytest.mark.parametrize("name,more", list(variants()))
def test_checked_mode_sees_every_access_outside(name, more, tmp_path):
    kind, call = CASES[name]
    mask = ", mask=ct.zeros((4,), ct.bool_)"
    call = call.format(more=mask if "mask" in more else more)
    head = "(x, y, x2, y2, i: ct.ScalarInt64):\n    " + call + "\n"
    source = f"@ct.kernel\ndef plain{head}\n@ct.kernel(checked=True)\ndef checked{head}"
    module = kernels_of(tmp_path, source)
    reports = ("mask" not in more) and (kind == "reports" or "check_bounds" in more)
    promised = (
        name.startswith("raw_") or "check_bounds" in more
    )  # outside is an error of the program
    inside = guarded()[0]
    launch(module, "checked", 0)
    for index in (-7, 100, 2**31, 2**40, 2**62 + 1, -(2**62)):
        if not promised or "mask" in more:
            np.testing.assert_array_equal(launch(module, "plain", index), inside)
        if not reports:
            np.testing.assert_array_equal(launch(module, "checked", index), inside)
            continue
        with pytest.raises(tessera.KernelError) as caught:
            launch(module, "checked", index)
        text = str(caught.value)
        method = re.sub("^(raw|view|array)_", "", name)
        assert f"{method}()" in text and "assertion" not in text, text
        assert re.search(f"(index|start|stop) {index} (is|lies) ", text), text
        assert "kernels.py, line" in text and "block (" in text, text


@ct.kernel(checked=True)
def checked_slice(x, y, start: int, stop: int):
    ct.store(y, 0, ct.load(x.slice(0, start, stop), 0, 4))


@pytest.mark.parametrize(
    "start,stop,text",
    [
        (-2, 3, "slice(), axis 0: start -2 is not from 0 to the extent 16"),
        (17, 18, "slice(), axis 0: start 17 is not from 0 to the extent 16"),
        (3, 17, "slice(), axis 0: stop 17 is not from 0 to the extent 16"),
        (5, 4, "slice(), axis 0: stop 4 lies before start 5"),
    ],
)
def test_a_checked_slice_names_its_bounds(start, stop, text):
    _, x = guarded()
    with pytest.raises(tessera.KernelError, match=re.escape(text)):
        ct.launch(None, (1,), checked_slice, (x, np.zeros(4, np.int32), start, stop))
    for fine in ((0, 16), (16, 16), (0, 0), (3, 3)):
        ct.launch(None, (1,), checked_slice, (x, np.zeros(4, np.int32), *fine))


def part_of_a_tile(x, y, i, j):
    t = ct.load(x, 0, 16)
    part = ct.extract(ct.reshape(t, (4, 4)), (i, j), (1, 2))
    ct.store(y, 0, ct.reshape(part, (2,)))
    ct.store(x, 0, ct.insert(t, i, ct.zeros((4,), ct.int32)))


@pytest.mark.parametrize("wide", [int, np.int64])
def test_a_part_of_a_tile_that_is_outside_is_reported(wide):
    kernel = ct.kernel(part_of_a_tile, checked=True)
    x, y = np.arange(16, dtype=np.int32), np.zeros(2, np.int32)
    ct.launch(None, (1,), kernel, (x, y, wide(3), wide(1)))
    assert (y == [14, 15]).all() and (x[:12] == np.arange(12)).all() and not x[12:].any()
    big = 2**31 - 1 if wide is int else 2**32
    for i, j, axis, index, size in ((4, 0, 0, 4, 4), (-1, 1, 0, -1, 4), (0, 2, 1, 2, 2), (big, 0, 0, big, 4)):
        text = f"extract(), axis {axis}: index {index} is out of bounds for size {size}"
        with pytest.raises(tessera.KernelError, match=re.escape(text)):
            ct.launch(None, (1,), kernel, (x, y, wide(i), wide(j)))


def insert_alone(x, y, i):
    ct.store(y, 0, ct.insert(ct.load(x, 0, 16), i, 7))


def test_an_insert_outside_is_reported():
    x, y = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    for i in (-1, 16, 1000):
        with pytest.raises(tessera.KernelError,
            match=re.escape(f"insert(), axis 0: index {i} is out of bounds for size 16")):
            ct.launch(None, (1,), ct.kernel(insert_alone, checked=True), (x, y, i))
        ct.launch(None, (1,), ct.kernel(insert_alone), (x, y, i))  # unchecked it wraps
        wanted = np.arange(16)
        wanted[i % 16] = 7
        assert (y == wanted).all()


@ct.kernel(checked=True)
def list_item(arrays, y, i: int):
    ct.store(y, 0, ct.load(arrays[i], 0, 4))


def test_a_list_index_outside_is_reported():
    arrays, y = [np.full(4, k, np.int32) for k in range(3)], np.zeros(4, np.int32)
    ct.launch(None, (1,), list_item, (arrays, y, 2))
    assert (y == 2).all()
    for i in (-1, 3):
        with pytest.raises(tessera.KernelError, match=f"index {i} is out of bounds for size 3"):
            ct.launch(None, (1,), list_item, (arrays, y, i))


@ct.kernel
def promised_views(x, y, z):
    i = ct.bid(0)
    steps = x.tiled_view((4,), traversal_steps=(2,))
    y.tiled_view((4,)).store(i, steps.load(i, check_bounds=False), check_bounds=False)
    z.tiled_view((2, 2)).store((i, 0), ct.ones((2, 2), ct.int32), check_bounds=False, latency=2)


def test_views_take_the_promise_that_tiles_lie_inside():
    x, y, z = np.arange(8, dtype=np.int32), np.zeros(12, np.int32), np.zeros((6, 2), np.int32)
    ct.launch(None, (3,), promised_views, (x, y, z))
    np.testing.assert_array_equal(y, [0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7])
    assert (z == 1).all()


@ct.kernel(checked=True)
def checked_steps(x, y, i: int):
    y.tiled_view((4,)).store(0, x.tiled_view((4,), traversal_steps=(3,)).load(i, check_bounds=False))


@pytest.mark.parametrize("n", [0, 3, 4, 6, 7, 12, 13])
def test_a_promise_about_a_view_with_steps_is_checked(n):
    x, y = np.arange(n, dtype=np.int32), np.zeros(4, np.int32)
    whole = sum(3 * i + 4 <= n for i in range(n))
    for i in range(-1, 5):
        if 0 <= i < whole:
            ct.launch(None, (1,), checked_steps, (x, y, i))
            np.testing.assert_array_equal(y, x[3 * i : 3 * i + 4])
            continue
        text = f"load(), axis 0: index {i} is not of a whole tile, of which there are {whole}"
        with pytest.raises(tessera.KernelError, match=re.escape(text)):
            ct.launch(None, (1,), checked_steps, (x, y, i))
