# SPDX-License-Identifier: Apache-2.0
"""``python -m tessera run --numpy script.py``: the script's NumPy is tessera.numeric; what it imports has NumPy."""

from __future__ import annotations

import pathlib
import subprocess
import sys

SCRIPT = """
import numpy as np
import numpy.linalg
import numpy.matlib, numpy.version
from numpy import sqrt
from numpy.exceptions import AxisError
from numpy.typing import NDArray
from numpy.random import default_rng
import cupynumeric
import nvmath.linalg.advanced, nvmath.random
import statistics, helper

def inside():
    import numpy
    return numpy

a = np.arange(4.0)
same = cupynumeric.ndarray is nvmath.ndarray is np.ndarray
print(type(a).__module__, sqrt is np.sqrt, inside() is np, same, helper.kind(), numpy.linalg.norm(a) > 3)
print(default_rng(1).random(2), __name__, statistics.mean([1, 2]))

# NumPy's C code imports its own parts when it first needs them, in the frame of the script.
import copy, pickle
record = np.zeros(2, "i4,f4")
print(a.dtype, np.float64(3).sum(), np.float64(3).reshape(1), record[0], np.dtype("i4,f8").newbyteorder(">").descr)
for one in (np.float64(3), a, record, record.dtype, np.datetime64("2000")):
    assert repr(pickle.loads(pickle.dumps(one))) == repr(copy.deepcopy(one)) == repr(one)
print(__import__("numpy.linalg") is np)
print(isinstance(np.matlib.ones(2), np.ndarray), NDArray[np.float64].__origin__ is np.ndarray)
"""


def run(folder: pathlib.Path, *options: str) -> str:
    (folder / "script.py").write_text(SCRIPT)
    (folder / "helper.py").write_text("import numpy\ndef kind():\n    return type(numpy.ones(1)).__module__\n")
    command = [sys.executable, "-m", "tessera", "run", *options, str(folder / "script.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_numpy_is_ours_where_it_is_asked_for(tmp_path: pathlib.Path) -> None:
    said = run(tmp_path, "--numpy").splitlines()
    assert said[0] == "tessera.numeric True True True numpy True"
    assert said[1].endswith("__main__ 1.5")
    assert said[2:] == ["float64 3.0 [3.] (0, 0.0) [('f0', '>i4'), ('f1', '>f8')]", "True", "True True"]


def test_numpy_stays_numpy_otherwise(tmp_path: pathlib.Path) -> None:
    assert run(tmp_path, "--strict").startswith("numpy True True False numpy True")
