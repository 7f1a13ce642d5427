# SPDX-License-Identifier: Apache-2.0
"""Programs that were once wrong (tests/fuzz/tiles/corpus), against the second reading of the language,
and the programs' own parts: what counts as a failure, and what is left out of a finding."""

import pathlib
import shutil
import subprocess
import sys

import drivers
import pytest

FUZZ = pathlib.Path(__file__).resolve().parents[1] / "fuzz"
sys.path.insert(0, str(FUZZ))

from tiles import corpus, generators, harness, program, refusals, shrink  # noqa: E402


@pytest.mark.parametrize("file", corpus.files(), ids=lambda f: f.stem)
def test_what_was_wrong_stays_right(file):
    outcome = corpus.parse(file.read_text()).run()
    assert outcome.kind in ("passed", "open"), outcome.text


@pytest.mark.parametrize("file", corpus.files(), ids=lambda f: f.stem)
def test_what_was_wrong_stays_right_in_gpu_threads(file):
    outcome = corpus.parse(file.read_text()).run("eval90")
    assert outcome.kind in ("passed", "open"), outcome.text


@pytest.mark.parametrize("file", corpus.files(), ids=lambda f: f.stem)
def test_what_was_wrong_stays_right_in_ptx(file):
    outcome = corpus.parse(file.read_text()).run("ptx90")
    assert outcome.kind in ("passed", "open"), outcome.text


@pytest.mark.gpu
def test_what_was_wrong_stays_right_on_the_gpu():
    command = [sys.executable, str(FUZZ / "tiles"), "corpus", "--device", "cuda", "--jobs", "4"]
    done = subprocess.run(
        command, env=drivers.of_machine(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


@pytest.mark.skipif(not shutil.which("ptxas"), reason="no ptxas")
def test_what_was_wrong_assembles():
    files = [f for f in corpus.files() if f.stem.startswith(("predicate", "crash"))]
    outcomes = {file.stem: corpus.parse(file.read_text()).run("sm_90") for file in files}
    wrong = {name: o.text for name, o in outcomes.items() if o.kind not in ("passed", "open")}
    assert not wrong


@pytest.mark.parametrize(("device", "seeds"), [("cpu", 8), ("eval90", 40)])
def test_kernels_that_copy_and_multiply_asynchronously(device, seeds):
    for seed in range(seeds):
        outcome = generators.GENERATORS["hardware"](seed).run(device)
        assert outcome.kind == "passed", f"seed {seed}: {outcome.text}"


@pytest.mark.parametrize("name", generators.GENERATORS)
def test_a_seed_always_makes_the_same_program(name):
    make = generators.GENERATORS[name]
    assert [make(k).describe() for k in (1, 2)] == [make(k).describe() for k in (1, 2)]
    assert make(1).describe() != make(2).describe()


@pytest.mark.parametrize("name", ["kernels", "order", "networks"])
def test_a_program_survives_its_file(name):
    made = generators.GENERATORS[name](7)
    assert corpus.parse(corpus.text(made, "tried")) == made


def wrong_program():
    """One store more than the second reading sees, among lines that do not matter."""
    arrays = [program.Array("a", "int32", (16,)), program.Array("b", "int32", (16,), "out")]
    lines = ["def kernel(a, b, s):", "    t = ct.load(a, (0,), (16,))", "    for i in range(s):"]
    lines += ["        t = t + 1", "    u = ct.sum(t, 0)", "    ct.store(b, (0,), t)"]
    return program.Program(3, "\n".join(lines) + "\n", arrays, [("s", "int32", 3)])


class Pretended(shrink.Trial):
    """A trial in which every program that stores to b is wrong."""

    def __init__(self):
        pass

    def run(self, tried):
        stores = "ct.store(b" in tried.source and "t = ct.load" in tried.source
        return program.Outcome("wrong" if stores else "passed", "b(0,): got 1, want 2")


def test_a_finding_keeps_only_what_it_needs():
    small, _ = shrink.shrunk(wrong_program(), program.Outcome("wrong", "b(0,): got 1"), Pretended())
    body = "    t = ct.load(a, (0,), (16,))\n    ct.store(b, (0,), t)\n"
    assert small.source == "def kernel(a, b):\n" + body
    assert [a.name for a in small.arrays] == ["a", "b"] and not small.scalars


def test_a_wrong_element_is_found(monkeypatch):
    run = program.Run.actual
    monkeypatch.setattr(program.Run, "actual", lambda self: changed(run(self)))
    outcome = wrong_program().run()
    assert outcome.kind == "wrong" and outcome.text.startswith("b(5,): got np.int32(")


def changed(result):
    result[2]["b"][5] += 1
    return result


def test_a_wrong_element_of_a_thread_kernel_is_found(monkeypatch):
    made = generators.GENERATORS["threads"](3)
    assert made.run("ptx90").kind == made.run("eval90").kind == "passed"
    read = type(made).read

    def changed_read(self, target):
        arrays = read(self, target)
        arrays[-1][5] += 1
        return arrays

    monkeypatch.setattr(type(made), "read", changed_read)
    outcome = made.run("ptx90")
    assert outcome.kind == "wrong" and "[5]: got " in outcome.text
    assert made.run("cpu").kind == "passed"  # it does not read PTX


def test_refusals_are_stated_or_failures():
    assert refusals.stated("axis 0 has a negative stride (shape (4,), ...)") == "negative stride"
    assert refusals.stated("something unheard of") is None


def test_the_tally_counts_by_reason(capsys):
    tally = harness.Tally(most=5)
    for kind, text in [
        ("passed", "9"),
        ("open", ""),
        ("refused", "negative stride"),
        ("hang", "x"),
    ]:
        tally.add({"generator": "order", "seed": 1}, program.Outcome(kind, text))
    tally.close()
    said = capsys.readouterr().out
    assert "order 1: HANG x" in said and "skipped 1: negative stride" in said
    assert said.endswith("1 passed, 1 failed, 2 skipped\n")
