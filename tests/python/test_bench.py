# SPDX-License-Identifier: Apache-2.0
"""The benchmarks of bench/ that want a GPU for minutes: what they compare, skip and keep, tried on the CPU."""

import dataclasses
import io
import json
import math
import os
import pathlib
import shutil
import sys
import time

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from bench import all_gpu, named, products
from bench.contest import Begun, Contest, measure
from bench.gemm_gpu import Many
from bench.warm import ahead

KERNEL = """
import cuda.tile as ct


@ct.kernel
def doubled(x, out, TILE: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.load(x, index=(i,), shape=(TILE,)) * FACTOR)
"""
BENCH = """
import pytest
import torch
import cuda.tile as ct
from cuda.tile._bytecode.version import BytecodeVersion
from conftest import dtype_id, requires_tileiras, shape_id
from util import estimate_bench_iter, require_hopper_or_newer
from kernels.doubled import doubled


@pytest.fixture(params=[(64,), (256,)], ids=shape_id)
def shape(request):
    return request.param


@pytest.fixture(params=[torch.float32], ids=dtype_id)
def dtype(request):
    return request.param


@require_hopper_or_newer()
@pytest.mark.parametrize("plus", [0, 1], ids=["zero", "one"])
@pytest.mark.benchmark(group="doubled")
def bench_doubled(shape, dtype, plus, backend, benchmark):
    x = torch.rand(shape, dtype=dtype) + plus
    out = torch.zeros_like(x)
    backend(x, out)
    torch.testing.assert_close(out, x + x)
    benchmark.pedantic(backend, (x, out), rounds=1, cudagraph=True)
    benchmark.extra_info["bytes_rw"] = 8 * x.numel()


@pytest.mark.skip(reason="another day")
def bench_later(shape, backend, benchmark):
    raise AssertionError


def cutile_doubled(x, out):
    ct.launch(None, (x.numel() // 64,), doubled, (x, out, 64))


def torch_doubled(x, out):
    torch.add(x, x, out=out)
"""


def contest(runs, error=lambda name: 0.0):
    return Contest("question", "runs/s", 1.0, "b", runs, error, 0.5)


def test_a_wrong_result_is_not_timed():
    table = measure(contest({"a": int, "b": int}, {"a": 1.0, "b": 0.0}.get), "cpu", 3)
    assert [f.peer for f in table.figures] == ["b"] and "a is WRONG" in table.note


def test_an_error_that_is_no_number_is_wrong():
    table = measure(contest({"a": int}, lambda name: math.nan), "cpu", 3)
    assert not table.figures and "WRONG" in table.note


def test_who_raises_is_named_and_the_others_are_timed():
    def fails():
        raise ValueError("no\nroom")

    table = measure(contest({"a": fails, "b": lambda: time.sleep(1e-3)}), "cpu", 4)
    assert table.note == "a did not run: ValueError: no room"
    assert len(table.of("b").times) == 4 and table.of("b").median >= 1e-3
    assert "of b" in table.show()


def test_what_was_begun_is_left_out_afterwards(tmp_path):
    path = tmp_path / "state"
    assert Begun(path).first("one")
    again = Begun(path)
    assert not again.first("one") and again.first("two")
    assert Begun(None).first("one")


def test_many_names_what_lacks_a_figure():
    many = Many("all", "", 1.0, "b")
    many.add("good", measure(contest({"tessera": int, "b": int}), "cpu", 3))
    many.add("bad", measure(contest({"b": int}), "cpu", 3))
    assert [r[0] for r in many.ratios] == ["good"] and "bad" in many.show()


def test_random_shapes_follow_from_seed_and_place():
    few, many = products.shapes(30, 7), products.shapes(300, 7)
    assert many[:30] == few != products.shapes(30, 8)[:30]
    for i, (extents, order, multiple) in enumerate(many):
        assert all(16 <= e <= 16384 and e % multiple == 0 or e == 16 for e in extents)
        assert order == ("NN", "NT", "TN")[i // 3 % 3] and multiple == (1, 8, 64)[i % 3]


def test_products_go_on_behind_a_torn_line(tmp_path):
    path = tmp_path / "state"
    products.State(path, 3).add(5, 1e-3, 2e-3)
    products.State(path, 4).add(6, 1e-3, 2e-3)
    with path.open("a") as f:
        f.write('{"seed": 3, "pla')
    assert products.State(path, 3).found == {5: (1e-3, 2e-3)}


def test_products_on_the_cpu(tmp_path):
    pytest.importorskip("torch")
    state = tmp_path / "state"
    options = {"seconds": None, "random": 3, "seed": 1, "state": state}
    found = list(products.tables("cpu", 3, True, **options))
    assert len(found[0].ratios) == 3 and not [t for t in found if "WRONG" in t.note]
    kept = state.read_text()
    assert len([json.loads(line) for line in kept.splitlines()]) == 3
    again = list(products.tables("cpu", 3, True, **options))
    assert again[0].ratios == found[0].ratios and state.read_text() == kept


def test_kernels_of_threads_on_the_cpu(monkeypatch, capsys):
    monkeypatch.setenv("CC", "no-such-compiler")
    from bench import threads_cpu

    found = list(threads_cpu.tables("cpu", 3, True))
    assert len(found) == 8 and all(table.of("tessera") for table in found)
    assert "C: not measured" in capsys.readouterr().err


def test_algorithms_beside_numpy(monkeypatch):
    from bench import algorithms, common

    monkeypatch.setattr(common, "quiet", lambda: None)
    found = list(algorithms.tables("cpu", 1, True))
    rows = found[: len(algorithms.ROWS)]
    assert {row.group for row in algorithms.ROWS} == {*range(1, 19)} and all(table.of("tessera") for table in rows)
    assert sum(table.of("numpy") is not None for table in rows) > 30
    assert [table.question[:3] for table in found[len(rows) :]] == ["20.", "22.", "22."]


def test_one_thread_shows_the_least_of_all_rounds(monkeypatch):
    from bench import common

    monkeypatch.setenv("TESSERA_BENCH_ONE_THREAD", "1")
    peer = common.Peer("tessera", lambda: None, lambda: np.zeros(1))
    for rounds in (0, 3):
        found = common.compare(common.Table("", "GB/s", 1.0, ""), [peer], None, 0, "cpu", rounds)
        assert len(found.of("tessera").times) == min(rounds, 1)


def test_bits_are_checked_where_the_items_are(monkeypatch):
    pytest.importorskip("torch")
    from bench import algorithms, common

    monkeypatch.setattr(common, "quiet", lambda: None)
    row = next(row for row in algorithms.ROWS if "bits" in row.name)

    def almost(c, a, o, n):
        row.ours(c, a, o, n)
        o["out"][:] = np.nextafter(o["out"], np.float32(np.inf))

    def checked(row):
        return algorithms._checked_there(common.Table(row.name, "GB/s", 1.0, ""), row, 1 << 22, "cpu", 1)

    assert checked(row).of("tessera").error == 0  # of two groups of leaves
    with pytest.raises(SystemExit, match="result is wrong"):
        checked(dataclasses.replace(row, ours=almost))


def test_array_programs_are_right_and_timed():
    from bench import arrays

    found = list(arrays.tables("cpu", 1, True))
    assert len(found) == len(arrays.PROGRAMS)
    assert all({"tessera", "numpy"} <= {figure.peer for figure in table.figures} for table in found)
    assert not [t.note for t in found if t.note]


def test_an_array_program_that_is_wrong_is_not_timed(monkeypatch):
    from bench import arrays

    bad = arrays.PROGRAMS[0]._replace(run=lambda np_, x: x if np_ is np else x + 1)
    monkeypatch.setattr(arrays, "PROGRAMS", [bad])
    with pytest.raises(SystemExit, match="tessera's result is wrong"):
        next(arrays.tables("cpu", 1, True))


def test_algorithms_end_in_time(capsys):
    from bench import algorithms

    assert list(algorithms.tables("cpu", 1, True, seconds=-1.0)) == []
    assert "tables are left out" in capsys.readouterr().err


def test_what_compiles_ahead_ends_in_time_and_survives_crashes(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert ahead(abs, 5, None).startswith("5 of 5 compiled ahead by 3 processes")
    assert ahead(os._exit, 2, None).startswith("0 of 2")
    begin = time.monotonic()
    assert int(ahead(time.sleep, 40, 3.0).split()[0]) < 9
    assert time.monotonic() - begin < 15


def checkout(tmp_path, factor="2"):
    folder = tmp_path / "test"
    (folder / "kernels").mkdir(parents=True)
    (folder / "kernels" / "__init__.py").touch()
    (folder / "kernels" / "doubled.py").write_text(KERNEL.replace("FACTOR", factor))
    (folder / "bench_doubled.py").write_text(BENCH)
    return folder / "bench_doubled.py"


def test_benchmarks_of_a_checkout_run_unchanged(tmp_path):
    pytest.importorskip("torch")
    from bench import suite

    before = {n for n in sys.modules if n.startswith("cuda.tile") or n in ("conftest", "util")}
    module = suite.load(suite.OURS, checkout(tmp_path))
    after = {n for n in sys.modules if n.startswith("cuda.tile") or n in ("conftest", "util")}
    assert before == after and sys.modules["pytest"] is pytest
    cases = suite.cases(module)
    assert [c.name() for c in cases if not c.skipped] == [
        f"doubled {n} float32 {plus}" for n in (64, 256) for plus in (0, 1)
    ]
    assert {c.skipped for c in cases} == {None, "another day"}
    for backend in ("cutile", "torch"):
        ready = suite.prepare(module, cases[3], backend, lambda call: (call, "a graph"))
        ready.call[0]()
        assert ready.call[1] == "a graph" and ready.extra_info == {"bytes_rw": 2048}


def test_a_benchmark_whose_check_fails_does_not_run(tmp_path):
    pytest.importorskip("torch")
    from bench import samples, suite

    files = samples._Files([suite.OURS])
    path = checkout(tmp_path, factor="3")
    case = suite.cases(files.of(suite.OURS, path))[0]
    table = samples._case_table(case, path, files, "cpu", 3)
    assert [f.peer for f in table.figures] == ["torch"]
    assert "tessera did not run: AssertionError" in table.note


def test_samples_want_a_checkout(tmp_path):
    pytest.importorskip("torch")
    from bench import samples

    with pytest.raises(SystemExit, match="--suite must name a checkout"):
        next(samples.tables("cpu", 3, True, suite=tmp_path, peer=False, seconds=1, state=None))


@pytest.mark.parametrize(
    "kind", ["attention", "matmul_leaky", "softmax", "norm", "dropout", "grouped_matmul", "scaled_matmul", "vector_add"]
)  # fmt: skip
def test_tutorial_kernels_are_right(kind):
    pytest.importorskip("torch")
    from bench import tutorials

    assert kind in tutorials.KINDS
    for question in tutorials.questions("cpu", True, (kind,)):
        choice = question.choices[-1]
        question.poison(tutorials.OURS)
        assert not question.error(tutorials.OURS) <= question.tolerance
        tutorials._all(question.tile(choice))()
        assert question.error(tutorials.OURS) <= question.tolerance, question.name


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas")
@pytest.mark.parametrize("kind", ["attention", "matmul_leaky"])
def test_tutorial_products_neither_spill_nor_wait(kind):
    pytest.importorskip("torch")
    from tessera._report import cost_report

    from bench import tutorials

    for question in tutorials.questions("cpu", True, (kind,)):
        for launch in question.tile(question.choices[0]):
            report = cost_report(launch.kernel, launch.arguments, launch.grid, target="sm_90a")
            found = report["resources"]
            assert found["spill_store_bytes"] == 0 and not found["serialised"], question.name


def run_parts(monkeypatch, tmp_path, script, seconds=60.0, shares=(1.0,)):
    """all-gpu with processes that run a script instead of a question."""
    process = all_gpu._Process
    monkeypatch.setattr(all_gpu, "PARTS", {f"part{i}": (s, ()) for i, s in enumerate(shares)})
    monkeypatch.setattr(all_gpu, "GRACE", 0.2)
    monkeypatch.setattr(
        all_gpu, "_Process", lambda command, log: process([sys.executable, "-c", script], log)
    )
    status = all_gpu.main("cpu", seconds, tmp_path / "out", None, False, True, 3)
    return status, (tmp_path / "out" / "log.txt").read_text()


def test_all_gpu_begins_a_part_again_that_fails(monkeypatch, tmp_path):
    mark = tmp_path / "mark"
    script = f"""
import pathlib, sys
mark = pathlib.Path({str(mark)!r})
print('here', flush=True)
sys.exit(0 if mark.exists() else mark.touch() or 3)
"""
    status, log = run_parts(monkeypatch, tmp_path, script)
    assert status == 0 and log.count("here") == 2 and "ended with status 3, then done" in log


def test_all_gpu_ends_a_silent_part(monkeypatch, tmp_path):
    monkeypatch.setattr(all_gpu, "SILENT", 0.3)
    monkeypatch.setattr(all_gpu, "TRIES", 1)
    status, log = run_parts(monkeypatch, tmp_path, "import time; time.sleep(60)")
    assert status == 1 and "silent" in log


def test_all_gpu_keeps_to_its_time(monkeypatch, tmp_path):
    begin = time.monotonic()
    script = "import time\nwhile True: print('on', flush=True); time.sleep(0.1)"
    status, log = run_parts(monkeypatch, tmp_path, script, seconds=4.0, shares=(3.0, 1.0))
    ends = [line for line in log.splitlines() if line.startswith("== part")]
    assert status == 1 and "its time was over" in ends[0] and time.monotonic() - begin < 30
    assert "its time was over" in ends[1] or "no time left" in ends[1]  # which a busy machine leaves for the second


def test_a_process_that_ignores_the_signal_is_ended():
    script = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print('on', flush=True)
time.sleep(60)
"""
    process = all_gpu._Process([sys.executable, "-c", script], io.StringIO())
    assert "its time was over" in process.wait(1.0)
    process.stop()
    assert process.child.poll() is not None


@pytest.mark.parametrize("call", ["z.__setitem__(b, 0.0)", "z + 1.0", "(z + 1.0, z - 1.0)"])
def test_calls_are_timed_with_what_they_leave_waiting(call):
    import tessera.numeric as tn
    from tessera import _core

    n = 1 << 20
    seen = {"np": tn, "z": tn.ones(n), "b": tn.arange(n) % 2 == 0}
    tn.wait()
    code = compile(call, "call", "eval")
    run = named._run(code, seen, eval(code, seen))
    given = run()
    assert _core.numeric_stats()["waiting"] == 0 and given is None
