# SPDX-License-Identifier: Apache-2.0
"""Reductions whose parts the last block joins, and elements under a mask, whose blocks look back at each other: the
kernels that a GPU gets, run thread by thread by the reference interpreter on the mock's memory; and their tiles."""

from __future__ import annotations

import ctypes
import pathlib
import re
import subprocess
import sys

import numpy
import pytest
import tessera.numeric as np
from front import lower
from long_form import unless_short
from tessera import _core

CASES = [
    ("sum", (40003,), 0, "f4"), ("sum", (40003,), 0, "f8"), ("argmax", (40003,), 0, "f4"), ("any", (50000,), 0, "?"),
    ("argmin", (3500, 40), 0, "i2"), ("max", (2, 33000), 1, "i4"), ("sum", (33000,), 0, "c8"),
    ("sum", (34000,), 0, "f2"),
    ("sum", (1100, 130), 0, "f4"), ("spread", (1100, 130), 0, "f4"), ("spread", (40003,), 0, "f8"),
]  # fmt: skip


def text_of(dump: str) -> str:
    return dump[dump.index("entry @") : dump.index("\n}\n", dump.index("entry @")) + 3]


def run_as_gpu(words, n: int, blocks, text: str, target: int) -> None:
    """The kernel of this text with ``n`` words as arguments."""
    grid = (ctypes.c_uint32 * 3)(*blocks)
    job = lower.Interpret(words, n, grid, None, None, 50_000_000, target, 5)
    err, code = lower.Error(), text.encode()
    if lower.library().ts_interpret_text(code, ctypes.c_size_t(len(code)), None, ctypes.byref(job), ctypes.byref(err)):
        raise RuntimeError(err.text.decode())


@pytest.mark.parametrize(("name", "shape", "axis", "dtype"), CASES)
def test_the_last_block_joins_what_all_gave(mock, capfd, monkeypatch, name, shape, axis, dtype) -> None:
    rng = numpy.random.default_rng(len(shape))
    x = rng.integers(-50, 50, shape).astype(dtype) if dtype != "?" else numpy.arange(50000) == 49999
    a = np.asarray(x, device="cuda")
    dtype = "i8" if name == "sum" and dtype[0] == "i" else None
    call = lambda: _core.numeric_fold(name, a, (axis,), dtype, True, None)
    wanted = (x.var(axis, keepdims=True) * shape[axis] if name == "spread"
              else getattr(numpy, name)(x, axis=axis, keepdims=True))  # fmt: skip
    monkeypatch.setenv("TS_DUMP", "fold")
    call()
    text = text_of(capfd.readouterr().err)
    assert "atomic_rmw_tko add acq_rel device" in text
    mock.n_values, before = text[: text.index("{")].count("%"), mock.n_launches
    made = call()
    assert mock.n_launches == before + 1 and mock.grid[2] > 1
    for _ in range(2):  # the counters are 0 again
        run_as_gpu(mock.values, mock.n_values, mock.grid, text, 90)
        numpy.testing.assert_allclose(made.get(), wanted, rtol=1e-5 if name == "spread" else 0)
    mock.n_values = 0


# Axes; shapes whose tiles are all whole along kept and folded axes, along some, along none. Those of a list have one
# kernel, which no list behind it has.
TILED = [
    ((0,), [(1024,), (2048,), (2047,), (7000,)]), ((0,), [(3,), (128,)]), ((1,), [(2, 33000), (2, 40960)]),
    ((0,), [(128, 256), (129, 256), (77, 128)]), ((0,), [(128, 250), (77, 130)]),
    ((1,), [(2, 128, 64), (3, 130, 64)]), ((1,), [(2, 100, 40)]), ((0, 2), [(40, 3, 1024), (40, 2, 1500)]),
]  # fmt: skip


@pytest.mark.parametrize("fold", unless_short(
    [("sum", "f4"), ("sum", "f2"), ("sum", "?"), ("any", "?"), ("argmin", "i4"), ("prod", "c8"), ("spread", "f4")],
    [("sum", "i1"), ("sum", "u2"), ("max", "i1")],
), ids=str)  # fmt: skip
def test_folds_of_whole_tiles_and_of_others(mock, capfd, monkeypatch, fold) -> None:
    name, dtype = fold
    rng, text = numpy.random.default_rng(len(name)), ""
    tiled = [(axes, shape) for axes, shapes in TILED for shape in shapes if len(axes) == 1 or name in ("sum", "max")]
    monkeypatch.setenv("TS_DUMP", "fold")
    for axes, shape in tiled:
        x = rng.integers(-9, 9, shape).astype(dtype) if name != "prod" else rng.choice([1, -1, 1j], shape).astype(dtype)
        a = np.asarray(x, device="cuda")
        inner = {"i1": "i8", "u2": "u8", "?": "i8"}.get(dtype, dtype) if name == "sum" else None
        call = lambda: _core.numeric_fold(name, a, axes, inner, True, None)  # noqa: B023
        capfd.readouterr()  # what the interpreter compiled
        call()
        dump = capfd.readouterr().err
        text = text_of(dump) if "entry @" in dump else text
        mock.n_values = text[: text.index("{")].count("%")
        made = call()
        run_as_gpu(mock.values, mock.n_values, mock.grid, text, 90)
        mock.n_values = 0
        x = x.astype("f4") if dtype == "f2" else x  # whose sums NumPy rounds
        wanted = (x.var(axes, keepdims=True) * x.size / made.size if name == "spread"
                  else getattr(numpy, name)(x, axis=axes if len(axes) > 1 else axes[0], keepdims=True))  # fmt: skip
        wanted = wanted.astype(made.dtype)
        numpy.testing.assert_allclose(made.get(), wanted, rtol=1e-5 if name == "spread" else 0, err_msg=str(shape))


def test_rows_and_numbers_are_read_before_the_loops(mock, capfd, monkeypatch) -> None:
    x, row = numpy.arange(1100.0 * 130).reshape(1100, 130) % 7, numpy.arange(130.0)
    a, b = np.asarray(x, device="cuda"), np.asarray(row, device="cuda")
    before = _core.numeric_small(0)  # all waits
    monkeypatch.setenv("TS_DUMP", "fold")
    call = lambda: _core.numeric_fold("max", (a - b) * 2.0, (0,), None, True, None)
    call()
    text = text_of(capfd.readouterr().err)
    loops = text[text.index(" = for ") : text.index("atomic_rmw_tko")]
    assert loops.count("load_view_tko") == 2 and "load_ptr_tko" not in loops and "%p" not in loops
    mock.n_values = text[: text.index("{")].count("%")
    made = call()
    _core.numeric_small(before)
    run_as_gpu(mock.values, mock.n_values, mock.grid, text, 90)
    mock.n_values = 0
    assert (made.get() == ((x - row) * 2).max(0)).all()


def test_whole_tiles_are_read_in_vectors_of_several_trips(mock, capfd, monkeypatch) -> None:
    """Without masks, which a loop of its own takes for what is left."""
    a = np.empty(1 << 22, "f4", device="cuda")
    monkeypatch.setenv("TS_DUMP", "dce")
    _core.numeric_fold("prod", a, (0,), None, True, None)
    text = capfd.readouterr().err
    text = text[text.rindex("// after dce") :]
    loop = text[text.index(" = for ") :]
    loop = loop[: loop.index("continue")]
    assert loop.count(" = ld n=4 ") == 8 and "select" not in loop and "cmpi" not in loop


def test_bytes_are_read_16_at_a_time_and_added_up_in_32_bits(mock, capfd, monkeypatch) -> None:
    """Those of all as those of rows; 64 bits are two instructions each."""
    monkeypatch.setenv("TS_DUMP", "dce")
    for shape, axis in (((1 << 22,), 0), ((64, 2048), 1), ((64, 1 << 14), 1)):
        a = np.empty(shape, "i1", device="cuda")
        np.wait(np.sum(a, axis, keepdims=True))
        text = capfd.readouterr().err
        text = text[text.rindex("// after dce") :]
        loop = text[text.index(" = for ") :] if " = for " in text else text
        loop = loop[: loop.index("continue")] if " = for " in text else loop
        assert " = ld n=16 " in loop and "addi" in loop and loop.count(" : i64") < 8, shape


def test_rows_that_are_read_once_take_fewer_blocks(mock, capfd, monkeypatch) -> None:
    """Of integers none at all: they are folded by loops."""
    monkeypatch.setenv("TS_DUMP", "fold")
    found = {}
    for dtype in ("f4", "f2", "i4"):
        a = np.empty((64, 1 << 14), dtype, device="cuda")
        np.wait(np.sum(a, 1))
        found[dtype] = mock.cluster if "entry @elementwise" in capfd.readouterr().err else 0
    a = np.empty((64, 1 << 14), "f4", device="cuda")
    np.wait(a - np.max(a, 1)[:, None])
    assert found == {"f4": 4, "f2": 2, "i4": 0} and mock.cluster == 4


def test_sums_of_halves_read_16_bytes_at_a_time(mock, capfd, monkeypatch) -> None:
    """Though the parts that the last block joins are float32."""
    a = np.empty((1100, 256), "f2", device="cuda")
    monkeypatch.setenv("TS_DUMP", "dce")
    np.wait(np.sum(a, 0))
    loads = [line for line in capfd.readouterr().err.splitlines() if " = ld n=" in line and ": f16, f16" in line]
    assert loads and all(" = ld n=8 " in line for line in loads)


@pytest.mark.parametrize(("dtype", "n"), [("f4", 9001), ("i8", 4096), ("i1", 4097)])
def test_masks_choose_in_one_pass(mock, capfd, monkeypatch, dtype, n) -> None:
    x = numpy.random.default_rng(n).integers(-9, 9, n).astype(dtype)
    a, launched = np.asarray(x, device="cuda"), mock.n_launches
    monkeypatch.setenv("TS_DUMP", "fold")
    assert a[a > 0].size == 0  # the mock computes nothing, so nothing was counted
    text = text_of(capfd.readouterr().err)
    assert mock.n_launches == launched + 1 and text.count("atomic_rmw_tko add relaxed device") == 2
    words, out = numpy.zeros(512, "i8"), numpy.zeros(n, dtype)
    assert x.ctypes.data % 16 == words.ctypes.data % 16 == out.ctypes.data % 16 == 0  # as text says of memory of GPUs
    values = (ctypes.c_uint64 * 5)(x.ctypes.data, words.ctypes.data, out.ctypes.data, n, 0)
    run_as_gpu(values, 5, (2, 1, 1), text, 90)
    wanted = x[x > 0]
    assert words[1] == wanted.size and (out[: wanted.size] == wanted).all() and not out[wanted.size :].any()


def test_masks_of_wide_elements_take_tiles_of_few(mock, capfd, monkeypatch) -> None:
    """32 complex numbers for a thread were more than its registers hold, and 3 s of an assembler."""
    n = 9000
    x = numpy.random.default_rng(n).integers(-9, 9, (n, 2)).astype("f8").view("c16").ravel()
    a = np.asarray(x, device="cuda")
    monkeypatch.setenv("TS_DUMP", "fold")
    assert a[abs(a) > 5].size == 0
    text = text_of(capfd.readouterr().err)
    assert mock.grid[0] == 9
    words, out = numpy.zeros(512, "i8"), numpy.zeros(n, "c16")
    five = int(numpy.float64(5).view("u8"))
    values = (ctypes.c_uint64 * 5)(x.ctypes.data, words.ctypes.data, out.ctypes.data, n, five)
    run_as_gpu(values, 5, (2, 1, 1), text, 90)
    wanted = x[abs(x) > 5]
    assert words[1] == wanted.size and (out[: wanted.size] == wanted).all() and not out[wanted.size :].any()


def test_tiles_fit_what_kernels_read_and_compute(mock) -> None:
    a = np.empty((300, 400), "f4", device="cuda")
    np.wait(a[:-2, 1:] + a[2:, 1:])  # rows beside each other: 16 x 64 elements
    assert list(mock.grid) == [7, 19, 1] and mock.block[0] == 128
    np.wait(a[:, :-2] + a[:, 2:])
    assert mock.block[0] == 256
    for n, threads in ((1 << 24, 64), (1 << 20, 256)):
        x = np.empty(n, "f4", device="cuda")
        np.wait(np.exp(np.sin(np.exp(x)) / np.cos(x) / np.log(x)))  # many elements, each of many instructions
        assert mock.block[0] == threads


def few(m, x):
    return m.sqrt(x * x + 1) * 2


def heavy(m, x):
    return m.sqrt(m.sin(x) * m.cos(x) + m.exp(-x * x) + 2)


def three(m, x):
    return m.sqrt(m.sin(x[0]) * m.cos(x[1]) + m.exp(-x[2] * x[2]) + 2)


MANY = [
    (few, (1 << 24,), "f4", 512, 128), (few, (1 << 24,), "f8", 512, 128), (few, (1 << 24,), "f2", 1024, 128),
    (few, (1 << 22,), "f4", 1024, 256), (heavy, (1 << 24,), "f4", 512, 128), (three, (3, 1 << 24), "f4", 256, 32),
    (lambda m, x: few(m, x[1:]), ((1 << 24) + 1,), "f4", 1024, 256),
    (lambda m, x: few(m, x[:, 1:]), (1 << 12, (1 << 12) + 1), "f4", 1024, 256),
]  # fmt: skip


@pytest.mark.parametrize(("call", "shape", "dtype", "tile", "threads"), MANY)
def test_tiles_of_many_elements(mock, capfd, monkeypatch, call, shape, dtype, tile, threads) -> None:
    """Small blocks where each moves 4 KB and places are dense and begin at lines; and what a few of them compute."""
    n, part = 1 << (22 if shape == (1 << 22,) else 24), 2 * tile + 7
    x = numpy.zeros(shape, dtype)
    x[..., : part + 9] = numpy.random.default_rng(part).uniform(-3, 3, (*shape[:-1], part + 9))
    a = np.asarray(x, device="cuda")
    monkeypatch.setenv("TS_DUMP", "fold")
    np.wait(call(np, a))
    dump = capfd.readouterr().err
    text = text_of(dump) if "entry @" in dump else ""
    mock.n_values = text[: text.index("{")].count("%") if text else 0
    made = call(np, a)
    np.wait(made)
    words, mock.n_values = mock.values, 0
    assert mock.block[0] == threads and mock.grid[0] * mock.grid[1] * tile == n
    if tile == 1024:
        return
    before, wanted = made.get(), call(numpy, x[..., :part])
    words[[*words].index(n)] = part  # the extent
    run_as_gpu(words, text[: text.index("{")].count("%"), (3, 1, 1), text, 90)
    numpy.testing.assert_allclose(made.get()[:part], wanted, rtol=1e-14 if dtype == "f8" else 1e-6)
    assert (made.get()[part:] == before[part:]).all()


@pytest.mark.parametrize(("dtype", "n", "once", "cluster", "threads"), [
    ("i1", 4096, True, 0, 128), ("i4", 4096, True, 0, 128), ("f4", 8192, True, 2, 128), ("f2", 8192, True, 0, 256),
    ("f2", 8192, False, 0, 256), ("f2", 4096, False, 0, 128), ("f4", 8192, False, 2, 128), ("f4", 16384, False, 4, 128),
])  # fmt: skip
def test_rows_of_two_blocks(mock, capfd, monkeypatch, dtype, n, once, cluster, threads) -> None:
    """Not where wide results are all that needs them, nor where elements that are used again are narrow."""
    x = numpy.random.default_rng(n).integers(-50, 50, (2, n)).astype(dtype)
    a = np.asarray(x, device="cuda")
    call = lambda m, x: m.sum(x, 1) if once else x + m.max(x, 1)[:, None]
    monkeypatch.setenv("TS_DUMP", "fold")
    np.wait(call(np, a))
    text = text_of(capfd.readouterr().err)
    mock.n_values = text[: text.index("{")].count("%")
    made = call(np, a)
    np.wait(made)
    n_values, mock.n_values = mock.n_values, 0
    assert (mock.cluster, mock.block[0]) == (cluster, threads)
    run_as_gpu(mock.values, n_values, (2, 1, 1), text, 90)
    numpy.testing.assert_allclose(made.get(), call(numpy, x), rtol=1e-3 if dtype == "f2" and once else 0)


def softmax(m, x):
    e = m.exp(x - m.max(x, 1)[:, None])
    return e / m.sum(e, 1)[:, None]


def norm(m, x):
    d = x - m.mean(x, 1)[:, None]
    return d / m.sqrt(m.mean(d * d, 1)[:, None] + 1e-5)


def rms(m, x):
    return x / m.sqrt(m.mean(x * x, 1)[:, None] + 1e-5)


def run_rows(mock, capfd, monkeypatch, call, x):
    """The result, the blocks of a cluster, a block's threads, and the registers that a thread may have."""
    a = np.asarray(x, device="cuda")
    monkeypatch.setenv("TS_DUMP", "fold")
    np.wait(call(np, a))
    text = text_of(capfd.readouterr().err)
    mock.n_values = text[: text.index("{")].count("%")
    made = call(np, a)
    np.wait(made)
    n_values, mock.n_values = mock.n_values, 0
    run_as_gpu(mock.values, n_values, (len(x), 1, 1), text, 90)
    hint = re.search(r"max_registers=(\d+)", text)
    return made.get(), (mock.cluster, mock.block[0], int(hint[1]) if hint else 0)


@pytest.mark.parametrize(("n", "cluster", "threads"), [
    (8191, 0, 256), (8192, 0, 256), (8193, 0, 512), (16384, 0, 512), (16385, 2, 512), (32768, 2, 512),
])  # fmt: skip
@pytest.mark.parametrize("call", [softmax, norm, rms])
def test_narrow_rows_that_are_read_again(mock, capfd, monkeypatch, call, n, cluster, threads) -> None:
    """One block of up to 16 warps, 32 elements a thread; two of them where a row is longer."""
    x = numpy.random.default_rng(n).standard_normal((2, n)).astype("f2")
    made, chosen = run_rows(mock, capfd, monkeypatch, call, x)
    assert chosen == (cluster, threads, 64)
    wanted = call(numpy, x.astype("f8"))
    numpy.testing.assert_allclose(made.astype("f8"), wanted, rtol=4e-3, atol=1e-7 if call is softmax else 4e-3)


UNFIT = [
    lambda m, x: softmax(m, m.tanh(x)), lambda m, x: m.tanh(norm(m, x)), lambda m, x: norm(m, x / (1 + m.exp(-x))),
    lambda m, x: norm(m, x.astype("f4")).astype("f2"), lambda m, x: softmax(m, x) * x[::-1],
]  # fmt: skip


@pytest.mark.parametrize("call", UNFIT)
def test_narrow_rows_that_need_more_registers(mock, capfd, monkeypatch, call) -> None:
    """What is heavy, wider or of two rows takes half as many elements a thread, and all registers of a block."""
    x = numpy.random.default_rng(8).standard_normal((2, 8192)).astype("f2")
    made, chosen = run_rows(mock, capfd, monkeypatch, call, x)
    assert chosen == (0, 512, 0)
    numpy.testing.assert_allclose(made.astype("f8"), call(numpy, x.astype("f8")), rtol=8e-3, atol=8e-3)


OLD_GPU = """
import ctypes, os, sys
sys.path.append(sys.argv[1])
from mock_driver import MockState
mock = MockState.in_dll(ctypes.CDLL(os.environ["TESSERA_CUDA_DRIVER"]), "mock_state_data")
mock.cc_major, mock.cc_minor = 8, 0
import tessera.numeric as np
a = np.empty((2, 1 << 15), "f2", device="cuda")
np.wait(a - np.max(a, 1)[:, None])
print(mock.cluster, mock.block[0])
"""


def test_long_narrow_rows_of_gpus_without_clusters(monkeypatch) -> None:
    """Their block holds twice as much, for which 64 registers a thread are too few."""
    monkeypatch.setenv("TS_DUMP", "fold")
    folder = str(pathlib.Path(__file__).resolve().parents[2])
    run = subprocess.run([sys.executable, "-c", OLD_GPU, folder], capture_output=True, text=True, check=True)
    text = text_of(run.stderr)
    assert run.stdout.split() == ["0", "512"] and "num_ctas=2" in text and "max_registers" not in text


@pytest.mark.parametrize(("m", "k", "n", "dtype"), [
    (256, 25, 6, "f8"), (40, 150, 16, "f4"), (33, 65, 17, "i4"), (2, 9000, 3, "f8"), (64, 33, 20, "c8"),
])  # fmt: skip
def test_products_of_few_are_one_launch_without_python(mock, capfd, monkeypatch, m, k, n, dtype) -> None:
    rng = numpy.random.default_rng(k)
    x, y = ((rng.standard_normal(shape) * 9).astype(dtype) for shape in ((m, k), (k, n)))
    a, b = np.asarray(x, device="cuda"), np.asarray(y, device="cuda")
    monkeypatch.setenv("TS_DUMP", "fold")
    capfd.readouterr()
    np.wait(a @ b)
    text = text_of(capfd.readouterr().err)
    mock.n_values, before = text[: text.index("{")].count("%"), mock.n_launches
    made = a @ b
    np.wait(made)
    assert mock.n_launches == before + 1
    run_as_gpu(mock.values, mock.n_values, mock.grid, text, 90)
    mock.n_values = 0
    numpy.testing.assert_allclose(made.get(), x @ y, 1e-4 if dtype in ("f4", "c8") else 1e-9, 1e-4)
