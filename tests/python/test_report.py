# SPDX-License-Identifier: Apache-2.0
"""Cost reports from Python: counts against arithmetic, decisions with their lines, the command."""

import inspect
import shutil
import subprocess
import sys

import numpy as np
import pytest

import tessera
import tessera.tile as ct
from tessera.lib.random import normal_kernel


@ct.kernel
def add_kernel(a, b, out, TILE: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(
        out,
        index=(i,),
        tile=ct.load(a, index=(i,), shape=(TILE,)) + ct.load(b, index=(i,), shape=(TILE,)),
    )


@ct.kernel
def gather_kernel(a, index, out):
    i = ct.load(index, index=(ct.bid(0),), shape=(64,))
    ct.store(out, index=(ct.bid(0),), tile=ct.gather(a, i))


@ct.kernel
def product_kernel(a, b, c, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    cols = ct.cdiv(c.shape[1], TN)
    m, n = ct.bid(0) // cols, ct.bid(0) % cols
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], TK)):
        x = ct.load(a, index=(m, k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(k, n), shape=(TK, TN), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(m, n), tile=ct.astype(acc, c.dtype))


def arrays(n=1 << 16):
    return tuple(np.ones(n, np.float32) for _ in range(3))


def product(n=1024, dtype="bfloat16"):
    return tuple(tessera.zeros((n, n), dtype) for _ in range(3))


def line_of(function, text):
    lines, first = inspect.getsourcelines(getattr(function, "__wrapped__", function))
    return first + next(i for i, line in enumerate(lines) if text in line)


def test_work_of_an_addition():
    report = add_kernel.report(*arrays(), 1024, grid=(64,), target="sm_90a")
    n = 1 << 16
    assert report["total"] == {"load": 8 * n, "store": 4 * n, "f32": n}
    assert report["exact"] and report["dram_bytes"] == 12 * n and report["bound"] == "dram"
    assert report["machine"] == "NVIDIA H200" and report["assumed"]
    assert {a["name"]: (a["load"], a["store"]) for a in report["arrays"]} == {
        "a": (4 * n, 0), "b": (4 * n, 0), "out": (0, 4 * n),
    }  # fmt: skip


def test_work_of_a_product_and_its_trip_count():
    report = tessera.cost_report(product_kernel, (*product(), 128, 256, 64), (32,), target="sm_90")
    assert report["total"]["tensor_f16"] == 2 * 1024**3
    assert report["total"]["load"] == 2 * (1024**3 // 256 + 1024**3 // 128)
    loop = next(r for r in report["regions"] if r["what"] == "for")
    assert loop["trips"] == "cdiv(a.shape[1], 64)" and loop["runs"] == 32 * 16
    assert loop["line"] == line_of(product_kernel, "for k in")


def test_decisions_name_their_line_and_reason():
    report = tessera.cost_report(product_kernel, (*product(), 128, 256, 64), (32,), target="sm_90")
    assert [n["line"] for n in report.notes("product", "wgmma")] == [
        line_of(product_kernel, "ct.mma")
    ]
    assert [n["line"] for n in report.notes("load", "tma")] == [
        line_of(product_kernel, t) for t in ("x = ", "y = ")
    ]
    assert report.notes("pipeline", "tma")
    small = tessera.cost_report(product_kernel, (*product(), 32, 64, 64), (512,), target="sm_90")
    assert small.notes("product", "mma.sync") and not small.notes("product", "wgmma")
    assert "M at least 64" in small.notes("missed", "wgmma")[0]["text"]


def test_an_unaligned_array_says_why_it_is_slow():
    a, b, out = arrays(4096 + 4)
    report = add_kernel.report(a[1:4097], b[:4096], out[:4096], 1024, grid=(4,), target="sm_80")
    scalar = report.notes("load", "scalar")
    assert len(scalar) == 2 and not report.notes("load", "vector")  # the other one lives as the first does
    missed = {(note["line"], note["column"]): note["text"] for note in report.notes("missed", "vector")}
    reasons = [missed[note["line"], note["column"]] for note in scalar]
    assert "multiples of 4 bytes" in reasons[0] and "in this layout" in reasons[1]


def test_a_gather_is_called_one():
    index = np.zeros(256, np.int32)
    report = gather_kernel.report(
        np.ones(64, np.float32), index, np.ones(256, np.float32), grid=(4,), target="sm_90"
    )
    assert [n["line"] for n in report.notes("load", "gather")] == [
        line_of(gather_kernel, "ct.gather")
    ]


def test_a_generator_of_random_numbers_needs_no_shared_memory():
    """Each number is computed where it is stored: a chain of some hundred operations stays free to be."""
    out = np.zeros(1 << 16, np.float32)
    report = normal_kernel.report(out, 1, 2, 3, 4, True, False, grid=(16,), target="sm_90")
    assert report.notes("store", "vector") and not report.notes("move", "shared")


def test_without_a_grid_there_are_formulas_only():
    report = add_kernel.report(*arrays(), 1024, target="sm_90")
    assert not report["evaluated"] and report["bound"] == "" and report["total"] == {}
    assert report["regions"][0]["work"]["load"] == 2 * 4096


def test_the_cpu_has_counts_but_no_roof():
    report = add_kernel.report(*arrays(), 1024, grid=(64,))
    assert report["target"] == 1 and report["total"]["f32"] == 1 << 16
    assert report["bound"] == "" and report["roof_s"] == {} and "the CPU" in str(report)


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas")
def test_the_assembler_tells_registers():
    report = tessera.cost_report(product_kernel, (*product(), 128, 256, 64), (32,), target="sm_90")
    assert (
        64 <= report["resources"]["registers"] <= 255
        and report["resources"]["spill_store_bytes"] == 0
    )
    assert not report["resources"]["serialised"] and report.warnings == []
    assert f"{report['resources']['registers']} registers" in str(report)


def test_no_assembler_is_said():
    report = tessera.cost_report(
        add_kernel, (*arrays(), 1024), (64,), target="sm_90", assemble=False
    )
    assert report["resources"] is None and "registers unknown" in str(report)


def test_wrong_targets_and_arguments_are_refused():
    with pytest.raises(ValueError, match="sm_77.*sm_80"):
        add_kernel.report(*arrays(), 1024, target="sm_77")
    with pytest.raises(TypeError):
        add_kernel.report(1, target="sm_90")
    with pytest.raises(ct.TileTypeError, match="power of two"):
        add_kernel.report(*arrays(), 1000, target="sm_90")


def test_the_command_reports_each_specialisation_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, cuda.tile as ct\n"
        "@ct.kernel\n"
        "def twice(a):\n"
        "    i = ct.bid(0)\n"
        "    ct.store(a, (i,), ct.load(a, (i,), (16,)) * 2)\n"
        "a = np.ones(64, np.float32)\n"
        "for _ in range(3):\n"
        "    ct.launch(None, (4,), twice, (a,))\n"
        "twice[4](np.ones(64))\n"
        "print('result', a.sum())\n"
    )
    done = subprocess.run([sys.executable, "-m", "tessera", "report", "--target", "sm_80", str(script)],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("twice for sm_80") == 2 and "result 512.0" in done.stdout
    none = subprocess.run(
        [sys.executable, "-m", "tessera", "report", "nowhere.py"], capture_output=True, text=True
    )
    assert none.returncode == 2 and "nowhere.py" in none.stderr


def test_hints_differ_by_target():
    kernel = product_kernel.replace_hints(num_stages=ct.ByTarget(default=3, sm_90=2))
    args = (*product(512), 64, 64, 64)
    texts = {
        t: kernel.report(*args, grid=(64,), target=t).notes("pipeline")[0]["text"]
        for t in ("sm_80", "sm_90")
    }
    assert texts["sm_80"].startswith("3 stages") and texts["sm_90"].startswith("2 stages")


@ct.kernel
def around_a_store(x, y, out):
    before = ct.load(x, index=(0,), shape=(32,))
    ct.store(y, index=(0,), tile=before + 1)
    ct.store(out, index=(0,), tile=ct.load(x, index=(0,), shape=(32,)))


def barriers(*args):
    codes = []
    tessera._core.report(None, (1,), around_a_store, args, 90, lambda code, _: codes.append(code))
    return codes[0].count(b"bar.sync")


def test_arrays_that_share_memory_are_reported_as_launched():
    whole, apart, out = arrays(64)
    assert barriers(apart[:32], whole[:32], out) == 0
    assert barriers(whole[:32], whole[:32], out) > 0  # its loads and stores stay in order
    assert barriers(whole[8:40], whole[:32], out) > 0


@ct.kernel
def listed_kernel(a, b, out, T: ct.Constant[int]):
    for g in range(len(a)):
        one, two, acc = a[g], b[g], ct.zeros((T, T), dtype=ct.float32)
        for k in range(ct.cdiv(one.shape[1], T)):
            x = ct.load(one, index=(0, k), shape=(T, T), padding_mode=ct.PaddingMode.ZERO)
            y = ct.load(two, index=(k, 0), shape=(T, T), padding_mode=ct.PaddingMode.ZERO)
            acc = ct.mma(x, y, acc)
        ct.store(out[g], index=(0, 0), tile=acc.astype(ct.float16))


def test_products_of_lists_are_loaded_steps_ahead():
    a = [np.zeros((64, 64), np.float16) for _ in range(3)]
    report = listed_kernel.report(a, a, [x.copy() for x in a], 64, grid=(1,), target="sm_90")
    assert [n["text"] for n in report.notes("load", "cp.async")] == ["16 bytes a copy"] * 2


@ct.kernel
def rows_kernel(x, out, T: ct.Constant[int]):
    for row in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        ct.store(out, index=(row, 0), tile=ct.load(x, index=(row, 0), shape=(1, T)) * 2)


def test_loops_that_load_ahead_say_so():
    x = np.zeros((64, 1024), np.float32)
    report = rows_kernel.report(x, x.copy(), 1024, grid=(8,), target="sm_90")
    assert [n["text"] for n in report.notes("pipeline", "registers")] == ["each trip loads for the next one"]
    assert not rows_kernel.report(x, x, 1024, grid=(8,), target="sm_90").notes("pipeline", "registers")


def test_loops_that_copy_rows_ahead_say_so():
    x = np.zeros((64, 8192), np.float32)
    report = rows_kernel.report(x, x.copy(), 8192, grid=(8,), target="sm_90")
    said = [n["text"] for n in report.notes("pipeline", "cp.async")]
    assert said == ["each trip copies 32768 bytes for the next one"]
    alone = ct.kernel(rows_kernel.__wrapped__, num_stages=1).report(x, x.copy(), 8192, grid=(8,), target="sm_90")
    assert not alone.notes("pipeline")


@ct.kernel
def weighted_kernel(x, weight, out, M: ct.Constant[int], N: ct.Constant[int]):
    w = ct.load(weight, index=(0,), shape=(N,))
    for i in range(ct.bid(0), ct.cdiv(x.shape[0], M), ct.num_blocks(0)):
        t = ct.load(x, index=(i, 0), shape=(M, N)).astype(ct.float32)
        ct.store(out, index=(i, 0), tile=(t * w - ct.max(t, axis=1, keepdims=True)).astype(out.dtype))


def test_rows_with_little_on_its_way_are_copied_two_trips_ahead():
    x = np.zeros((64, 1024), np.float16)
    report = weighted_kernel.report(x, x[0].copy(), x.copy(), 8, 1024, grid=(8,), target="sm_90")
    said = [n["text"] for n in report.notes("pipeline", "cp.async")]
    assert said == ["each trip copies 16384 bytes for the one after the next"]


def test_weights_of_rows_are_loaded_before_the_loop_as_it_wants_them():
    x = np.zeros((64, 1024), np.float16)
    report = weighted_kernel.report(x, x[0].copy(), x.copy(), 8, 1024, grid=(8,), target="sm_90")
    assert [n["text"] for n in report.notes("load", "vector")] == ["16 bytes an access"]
    assert all("partial results" in n["text"] for n in report.notes("move"))


def test_single_rows_are_copied_for_the_next_trip_alone():
    x = np.zeros((64, 4096), np.float32)
    report = top_kernel.report(x, x.copy(), 4096, grid=(8,), target="sm_90")
    said = [n["text"] for n in report.notes("pipeline", "cp.async")]
    assert said == ["each trip copies 16384 bytes for the next one"]


@ct.kernel
def top_kernel(x, out, T: ct.Constant[int]):
    for row in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        t = ct.load(x, index=(row, 0), shape=(1, T))
        ct.store(out, index=(row, 0), tile=t - ct.max(t, axis=1, keepdims=True))


@ct.kernel
def whole_kernel(x, w, out, M: ct.Constant[int], N: ct.Constant[int]):
    t = ct.load(x, index=(ct.bid(0), 0), shape=(M, N))
    ct.store(out, index=(ct.bid(0), 0), tile=ct.matmul(ct.load(w, index=(0, 0), shape=(16, M)), t).astype(out.dtype))


@pytest.mark.parametrize("rows, warps", [(16, 4), (32, 4), (64, 8), (128, 16)])
def test_large_tiles_beside_small_products_have_more_warps(rows, warps):
    x, w = np.zeros((rows, 256), np.float16), np.zeros((16, rows), np.float16)
    report = whole_kernel.report(x, w, np.zeros((16, 256), np.float16), rows, 256, grid=(1,), target="sm_90")
    assert report["threads"] == 32 * warps


@ct.kernel
def constant_trips_kernel(x, out, TRIPS: ct.Constant[int]):
    total = ct.zeros((128,), dtype=ct.float32)
    for i in range(TRIPS):
        total = total + ct.load(x, index=(i,), shape=(128,))
    ct.store(out, index=(0,), tile=total)


@pytest.mark.parametrize("trips, at_once", [(2, 2), (3, 2), (4, 2), (8, 2)])
def test_a_known_number_of_trips_bounds_those_at_once(trips, at_once):
    x = np.zeros(2048, np.float32)
    report = constant_trips_kernel.report(x, x[:128].copy(), trips, grid=(1,), target="sm_90")
    said = [n["text"] for n in report.notes("pipeline", "registers")]
    assert said == [f"loads of {at_once} trips at once"]


@ct.kernel
def widening_kernel(x, out, T: ct.Constant[int]):
    ct.store(out, index=(ct.bid(0),), tile=ct.load(x, index=(ct.bid(0),), shape=(T,)).astype(out.dtype))


@pytest.mark.parametrize("dtype, loaded", [("float16", 16), ("float32", 8), ("float64", 4)])
def test_threads_hold_16_bytes_of_what_is_stored_side_by_side(dtype, loaded):
    x = np.zeros(4096, np.float16)
    report = widening_kernel.report(x, x.astype(dtype), 4096, grid=(1,), target="sm_90")
    assert [n["text"] for n in report.notes("load", "vector")] == [f"{loaded} bytes an access"]
    assert [n["text"] for n in report.notes("store", "vector")] == ["16 bytes an access"]


@ct.kernel
def widened_kernel(a, b, c, T: ct.Constant[int]):
    acc = ct.zeros((T, T), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], T)):
        x = ct.load(a, index=(0, k), shape=(T, T)).astype(ct.float16)
        acc = ct.mma(x, ct.load(b, index=(k, 0), shape=(T, T)).astype(ct.float16), acc)
    ct.store(c, index=(0, 0), tile=acc)


@ct.kernel
def pieces_kernel(x, y, out, T: ct.Constant[int]):
    for i in range(ct.cdiv(x.shape[0], T)):
        t = ct.load(x, index=(i,), shape=(T,)) + ct.load(y, index=(i,), shape=(T,))
        ct.store(out, index=(i,), tile=t / ct.sum(t))


def test_what_is_left_of_trips_at_once_is_not_copied_ahead():
    x = np.zeros(1 << 16, np.float32)
    report = pieces_kernel.report(x, x.copy(), x.copy(), 1024, grid=(1,), target="sm_90")
    assert report.notes("pipeline", "registers") and not report.notes("pipeline", "cp.async")


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
def test_tiles_that_operands_are_computed_from_are_copied_ahead(target):
    a = np.zeros((64, 256), np.int8)
    report = widened_kernel.report(a, a.reshape(256, 64), np.zeros((64, 64), np.float32), 64, grid=(1,), target=target)
    said = [n["text"] for n in report.notes("pipeline", "cp.async")]
    assert said == ["each trip copies 8192 bytes for the next one"]


@ct.kernel
def norm_kernel(x, out, T: ct.Constant[int]):
    total = ct.zeros((1, T), dtype=ct.float32)
    for i in range(ct.cdiv(x.shape[1], T)):
        total = total + ct.load(x, index=(ct.bid(0), i), shape=(1, T)).astype(ct.float32)
    mean = ct.sum(total, axis=1, keepdims=True) / x.shape[1]
    for i in range(ct.cdiv(x.shape[1], T)):
        t = ct.load(x, index=(ct.bid(0), i), shape=(1, T)).astype(ct.float32)
        ct.store(out, index=(ct.bid(0), i), tile=(t - mean).astype(out.dtype))


@ct.kernel
def mean_kernel(x, out, T: ct.Constant[int]):
    total = ct.zeros((1, T), dtype=ct.float32)
    for i in range(ct.cdiv(x.shape[1], T)):
        total = total + ct.load(x, index=(ct.bid(0), i), shape=(1, T)).astype(ct.float32)
    ct.store(out, index=(ct.bid(0), 0), tile=ct.sum(total, axis=1, keepdims=True).astype(out.dtype))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_kernels_that_go_over_a_row_again_have_many_warps_and_trips(dtype):
    x = np.zeros((4, 16384), dtype)
    again = norm_kernel.report(x, x.copy(), 1024, grid=(4,), target="sm_90")
    once = mean_kernel.report(x, x.copy(), 1024, grid=(4,), target="sm_90")
    assert (again["threads"], once["threads"]) == (512 if dtype == "float32" else 128, 128)  # rows half as long
    assert {n["text"] for n in again.notes("pipeline", "registers")} == {"loads of 4 trips at once"}
    asked = ct.kernel(norm_kernel.__wrapped__, num_worker_warps=4).report(x, x.copy(), 1024, grid=(4,), target="sm_90")
    assert asked["threads"] == 128


@ct.kernel
def columns_kernel(x, out, R: ct.Constant[int], T: ct.Constant[int]):
    total = ct.zeros((R, T), dtype=ct.float32)
    for i in range(ct.cdiv(x.shape[0], R)):
        total = total + ct.load(x, index=(i, ct.bid(0)), shape=(R, T), padding_mode=ct.PaddingMode.ZERO)
    ct.store(out, index=(ct.bid(0),), tile=ct.sum(total, axis=0))


def test_columns_off_vectors_are_summed_in_threads():
    """Threads have whole columns, where rows would be dealt out to warps; and all registers, which they need."""
    x, out = np.zeros((64, 250), np.float32), np.zeros(250, np.float32)
    report = columns_kernel.report(x, out, 64, 1024, grid=(1,), target="sm_90")
    assert report["shared_bytes"] == 0
    if report["resources"]:  # ptxas is here
        assert report["resources"]["registers"] == 65536 // report["threads"]
