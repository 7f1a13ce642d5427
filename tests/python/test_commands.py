# SPDX-License-Identifier: Apache-2.0
"""The command line: doctor, tour, run."""

import pathlib
import subprocess
import sys

import pytest


def tessera(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "tessera", *words], capture_output=True, text=True, **options
    )


def test_doctor_names_what_it_found():
    done = tessera("doctor")
    assert done.returncode in (0, 1) and done.stderr == ""
    for word in ("Tessera", "Python", "CPU", "LLVM", "GPU", "cache"):
        assert any(line.split()[1] == word for line in done.stdout.splitlines()), word


def test_the_tour_is_right_and_writes_its_report(tmp_path):
    for package in ("PIL", "matplotlib", "rich"):
        pytest.importorskip(package)
    done = tessera(
        "tour", "--small", "--seconds", "0.05", "--device", "cpu", "--out", str(tmp_path / "out")
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = (tmp_path / "out" / "report.html").read_text()
    assert "<svg" in report and "http://" not in report.split("<svg")[0] and "WRONG" not in report
    assert {p.name for p in pathlib.Path(tmp_path / "out").glob("*.png")} == {
        "photo.png",
        "blur.png",
        "edges.png",
        "reaction.png",
    }


def test_report_refuses_an_unknown_target(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("print('ran')\n")
    done = tessera("report", "--target", "sm_9", str(script))
    assert done.returncode == 2 and not done.stdout and "Traceback" not in done.stderr
    assert "'sm_9' is not a target" in done.stderr and "did you mean 'sm_90'" in done.stderr


def test_report_tells_its_usage():
    done = tessera("report", "--help")
    assert done.returncode == 0 and "[--target T] SCRIPT" in done.stdout and not done.stderr


def test_an_unknown_command_shows_the_usage():
    done = tessera("nonsense")
    assert done.returncode == 2 and "usage" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rnu"], "there is no command 'rnu'; did you mean 'run'?"),
        (["run", "--strct", "x.py"], "there is no option '--strct'; did you mean '--strict'?"),
        (["run", "nothing.py"], "there is no file 'nothing.py'"),
    ],
)
def test_a_mistake_is_named_with_what_was_meant(words, said):
    done = tessera(*words)
    assert done.returncode == 2 and said in done.stderr and done.stdout == ""


def test_run_has_help():
    done = tessera("run", "--help")
    assert done.returncode == 0 and "pycuda" in done.stdout and done.stderr == ""


def test_help_names_what_scripts_are_written_for():
    said = tessera("--help").stdout
    assert all(word in said for word in ("--numpy", "`cupy`", "`numba.cuda`", "`cupynumeric`"))
    doctor = tessera("doctor", "--help")
    assert doctor.returncode == 0 and "tessera doctor [--strict] [--numpy]" in doctor.stdout


def test_doctor_names_the_compilers():
    done = tessera("doctor")
    for word in ("nvrtc", "nvJitLink", "nvvm", "cudart"):
        (line,) = [n for n in done.stdout.splitlines() if n.split()[1] == word]
        assert line.startswith("ok") or "pip install nvidia-" in line
