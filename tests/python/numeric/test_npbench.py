# SPDX-License-Identifier: Apache-2.0
"""The programs of bench/npbench and bench/sizes give NumPy's results; all of them with TESSERA_TEST_LONG."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))

from bench import npbench

FEW = ["adi", "cholesky", "compute", "go_fast", "hdiff", "mandelbrot2", "nussinov", "softmax", "spmv", "vadv"]


@pytest.fixture(autouse=True)
def numpy_alone(monkeypatch):
    monkeypatch.setattr(npbench, "have", lambda _: False)
    monkeypatch.setattr(npbench, "quiet", lambda: None)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(npbench.kernels()) if os.environ.get("TESSERA_TEST_LONG") else FEW)
def test_results_are_numpys(name):
    (summary,) = npbench.tables("cpu", 1, True, "S", name)
    (row,) = summary.rows
    assert not row.missing and set(row.times) == {"numpy", "tessera"}
    assert f"| {name} |" in summary.show()


def test_the_set_is_whole_and_wrong_names_are_told():
    assert len(npbench.kernels()) == 54
    for sizes, only in (("S,XL", None), ("S", "adi,no")):
        with pytest.raises(SystemExit, match="none of|is not of"):
            next(npbench.tables("cpu", 1, False, sizes, only))


def test_a_wrong_result_is_named_and_not_timed(monkeypatch):
    monkeypatch.setattr(npbench, "TOLERANCE", -1.0)
    (summary,) = npbench.tables("cpu", 1, True, "S", "atax")
    assert summary.rows[0].missing == {"tessera": "WRONG"} and "tessera" not in summary.rows[0].times


def test_what_ran_is_shown_when_it_is_stopped(monkeypatch):
    measured = npbench._measure

    def stopped(name, *more):
        if name == "bicg":
            raise KeyboardInterrupt
        return measured(name, *more)

    monkeypatch.setattr(npbench, "_measure", stopped)
    found = npbench.tables("cpu", 1, True, "S", "atax,bicg")
    assert [row.name for row in next(found).rows] == ["atax"]
    with pytest.raises(KeyboardInterrupt):
        next(found)


def test_expressions_by_size_are_checked(monkeypatch):
    from bench import sizes

    monkeypatch.setattr(sizes, "have", lambda _: False)
    row = sizes._row("chain of nine", sizes.EXPRESSIONS["chain of nine"], 1000, 1)
    assert set(row.times) == {"numpy", "tessera"} and not row.missing
    row = sizes._row("another", "x + (1 if type(x).__module__ == 'numpy' else 2)", 1000, 1)
    assert row.missing == {"tessera": "WRONG"}


def test_runs_beyond_the_limit_are_given_up_and_said():
    (summary,) = npbench.tables("cpu", 1, True, "S", "nussinov", limit=1e-5)
    (row,) = summary.rows
    assert row.times["tessera"] == [1e-5] and "more than 1e-05 s" in row.missing["tessera"]
    assert not row.is_compared() and "| >0.01 |" in summary.show()


def test_kernels_after_the_end_are_left_out(capsys):
    (summary,) = npbench.tables("cpu", 1, True, "S", "atax,bicg", seconds=1e-9)
    assert not summary.rows and "no time for atax, bicg" in capsys.readouterr().err
