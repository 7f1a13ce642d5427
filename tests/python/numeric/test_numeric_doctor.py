# SPDX-License-Identifier: Apache-2.0
"""The doctor names the line of each pattern that costs: reads, writes of elements, cuts, copies, what is never read."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading

import numpy
import pytest
import tessera.numeric as np
from tessera import _core, _run

SCRIPT = """
import sys
import tessera.numeric as np
a = np.ones(5000)
total = 0
for i in range(12):
    total += a[i]
sys.exit(3 if sys.argv[1:] == ["fail"] else 0)
"""

ONE, AXES = [numpy.ones((1, 1))], [[0], [1]]  # of nested_iters, which is missing


def kinds(doctor, line: int) -> dict:
    return {(each.kind, each.name): each for each in doctor.findings if each.file == __file__ and each.line == line}


def here() -> int:
    return sys._getframe(1).f_lineno


def test_reads_and_writes_of_elements() -> None:
    a = np.ones(5000)
    with np.doctor() as d:
        for i in range(20):
            a[i] = a[i + 1] + 1
            line = here() - 1
        if (a > 1).any():
            read = here() - 1
    found = kinds(d, line)
    assert found["element_read", ""].count == found["element_write", "copy"].count == 20
    assert found["element_read", ""].bytes == 160 and "a.tolist()" in found["element_read", ""].advice
    assert kinds(d, read)["read", ""].count == 1 and not kinds(d, read)["read", ""].advice
    assert all(each.seconds >= 0 for each in d.findings) and d.seconds >= sum(each.seconds for each in d.findings)


def test_causes_of_cuts_and_values_that_nobody_reads() -> None:
    a = np.ones(5000)
    with np.doctor() as d:
        line = here() + 1
        x = a * 2
        a[1:3] = 0
        del x
        y = (a + 1)[::2] * 3
        z = numpy.asarray(y)
        y + 1
        b = np.arange(5000.0) + 0
        b[1:] += b[:-1]
    assert kinds(d, line)["unread", ""].bytes == 40000
    assert kinds(d, line + 1)["cut", "part"].advice
    assert ("cut", "shape") in kinds(d, line + 3) and z.shape == (2500,)
    assert ("cut", "memory") in kinds(d, line + 4) and ("exposed", "") in kinds(d, line + 4)
    assert kinds(d, line + 5)["eager", "add"].count == 1
    assert kinds(d, line + 7)["copy", "add"].bytes == 39992


def test_a_write_computes_only_what_may_read_there() -> None:
    a, b = np.ones(5000), np.ones(5000)
    np.wait(a, b)
    with np.doctor() as d:
        x = a * 2
        b[3] = 5
        np.ones(100)
        assert not any(each.kind == "cut" for each in d.findings)
        a[3] = 7
        assert any(each.name == "part" for each in d.findings)
    assert x[3] == 2 and a[3] == 7 and b[3] == 5


def test_what_the_host_computes_is_named() -> None:
    with np.doctor() as d, np.fallback("silent"):
        np.nested_iters(ONE, AXES)
        line = here() - 1
    assert kinds(d, line)["fallback", "numpy.nested_iters"].seconds > 0


def test_lines_are_the_users_through_functions_of_ours_and_numpys() -> None:
    a = np.ones((50, 60))
    with np.doctor() as d:
        np.trim_zeros(a[0])  # NumPy's program on our arrays
        [str(a), list(a[0])]
        line = here() - 1
    assert {(each.file, line - each.line) for each in d.findings if each.kind != "unread"} <= {
        (__file__, 0), (__file__, 1)
    }  # fmt: skip


def test_doctors_inside_of_each_other_and_of_other_threads() -> None:
    a = np.ones(600)

    def read() -> None:
        float(a[5])

    with np.doctor() as outer:
        float(a[0])
        with np.doctor() as inner:
            thread = threading.Thread(target=read)
            thread.start()
            thread.join()
            assert sum(each.count for each in inner.findings if each.kind == "element_read") == 1
        float(a[1])
    assert sum(each.count for each in inner.findings if each.kind == "element_read") == 1
    assert sum(each.count for each in outer.findings if each.kind == "element_read") == 3
    assert _core.numeric_events() == [] and _core.numeric_user() is not None


def test_without_a_doctor_nothing_is_kept() -> None:
    float(np.ones(600)[3])
    _core.numeric_event("fallback", "nothing", 1, 1)
    assert _core.numeric_events() == []
    with pytest.raises(ValueError, match="unknown kind of event: nonsense"):
        _core.numeric_event("nonsense", "nothing", 1, 1)


def test_arrays_may_go_while_events_are_kept() -> None:
    """A collection of garbage in the midst of a call frees arrays, whose end is no call of the program's."""
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        with np.doctor() as d:
            for _ in range(50):
                ring = [np.ones(600) + 1]
                ring.append(ring)
                np.ones(600)[2]
    finally:
        gc.set_threshold(*before)
    assert len(d.findings) < 30


def test_report_is_text_and_json() -> None:
    a = np.ones(5000)
    with np.doctor() as d:
        for i in range(10):
            float(a[i])
    text, rows = str(d), json.loads(d.json())
    assert "float(a[i])" in text and "10 x" in text and "One element at a time is slow" in text
    assert {"file", "line", "kind", "name", "count", "seconds", "bytes", "advice", "title"} <= set(rows[0])
    assert "more lines cost less" in d.report(0) and "findings>" in repr(d)


def test_script_from_the_command_line(tmp_path) -> None:
    script, out = tmp_path / "script.py", tmp_path / "out.json"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "tessera", "doctor"]
    done = subprocess.run([*command, str(script), "fail"], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "total += a[i]" in done.stderr and "12 x" in done.stderr
    done = subprocess.run([*command, "--json", str(out), str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr
    assert any(row["line"] == 7 and row["kind"] == "element_read" for row in json.loads(out.read_text()))


def test_who_watched_nothing_is_told_of_numpy(capsys) -> None:
    with _run._doctor(""):
        numpy.ones(3) + 1
    assert "with --numpy a script's `import numpy` gives `tessera.numeric`" in capsys.readouterr().err
