# SPDX-License-Identifier: Apache-2.0
"""``python -m tessera run`` answers the peers' names, in children too, and never without being
asked."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

PACKAGE = str(pathlib.Path(__import__("tessera").__file__).resolve().parents[1])


def run(
    folder: pathlib.Path, code: str, *options: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(code)
    given = os.environ.get("PYTHONPATH", "")
    env = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in (PACKAGE, given) if p)} | variables
    command = [sys.executable, "-m", "tessera", "run", *options, str(script)]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_names_are_the_same_objects(tmp_path: pathlib.Path) -> None:
    code = """
import cuda.bindings.driver as a, cuda.pathfinder as b
from cuda.bindings import nvrtc
from cuda.bindings.driver import checked
import tessera.bindings.driver as c, tessera.pathfinder as d
assert a is c and b is d and checked is c.checked and nvrtc.__name__ == "tessera.bindings.nvrtc"
assert c.__spec__.name == "tessera.bindings.driver" and isinstance(a.CUstream(1), c.CUstream)
print("same")
"""
    done = run(tmp_path, code)
    assert done.stdout == "same\n", done.stderr


def test_core_has_its_former_name(tmp_path: pathlib.Path) -> None:
    code = """
from cuda.core.experimental import Device, LaunchConfig
from cuda.core.experimental.utils import StridedMemoryView
import cuda.core, cuda.core.utils, tessera.core
assert Device is cuda.core.Device is tessera.core.Device and LaunchConfig is tessera.core.LaunchConfig
assert StridedMemoryView is cuda.core.utils.StridedMemoryView
print("same")
"""
    done = run(tmp_path, code)
    assert done.stdout == "same\n", done.stderr


@pytest.mark.parametrize("way", ["subprocess", "spawn"])
def test_children_answer_too(tmp_path: pathlib.Path, way: str) -> None:
    body = {
        "subprocess": "program = 'import cuda.bindings.driver as d; print(d.__name__)'; "
        "subprocess.run([sys.executable, '-c', program], check=True)",
        "spawn": "p = multiprocessing.get_context('spawn').Process(target=child); "
        "p.start(); p.join(); sys.exit(p.exitcode)",
    }[way]
    code = f"""
import multiprocessing, subprocess, sys
def child():
    import cuda.bindings.driver as d
    print(d.__name__, flush=True)
if __name__ == "__main__":
    {body}
"""
    done = run(tmp_path, code)
    assert (done.returncode, done.stdout) == (0, "tessera.bindings.driver\n"), done.stderr


def test_a_sitecustomize_of_ones_own_still_runs(tmp_path: pathlib.Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("print('mine')\n")
    code = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import cuda.tile'], check=True)\n"
    done = run(tmp_path, code, PYTHONPATH=os.pathsep.join([str(own), PACKAGE]))
    assert done.stdout == "mine\nmine\n", done.stderr


def fake_peer(folder: pathlib.Path) -> str:
    for path in ("cuda/nvmath/__init__.py", "cuda/bindings/__init__.py"):
        file = folder / "peer" / path
        file.parent.mkdir(parents=True)
        file.write_text("theirs = True\n")
    return str(folder / "peer")


def test_an_installed_peer_keeps_what_is_not_ours(tmp_path: pathlib.Path) -> None:
    peer = fake_peer(tmp_path)
    code = "import cuda.nvmath, cuda.bindings\nprint(cuda.nvmath.theirs, hasattr(cuda.bindings, 'theirs'))\n"
    assert run(tmp_path, code, PYTHONPATH=os.pathsep.join([peer, PACKAGE])).stdout == "True False\n"


def test_strict_refuses_the_peer(tmp_path: pathlib.Path) -> None:
    peer = fake_peer(tmp_path)
    done = run(
        tmp_path, "import cuda.nvmath\n", "--strict", PYTHONPATH=os.pathsep.join([peer, PACKAGE])
    )
    assert done.returncode == 1 and "No module named 'cuda.nvmath'" in done.stderr


def test_strict_holds_in_children(tmp_path: pathlib.Path) -> None:
    peer = fake_peer(tmp_path)
    code = "import subprocess, sys\nsys.exit(subprocess.run([sys.executable, '-c', 'import cuda.nvmath']).returncode)\n"
    assert (
        run(tmp_path, code, "--strict", PYTHONPATH=os.pathsep.join([peer, PACKAGE])).returncode == 1
    )


def test_a_module_that_is_not_there(tmp_path: pathlib.Path) -> None:
    code = (
        "import importlib.util\nprint(importlib.util.find_spec('cuda.bindings.nothing'))\n"
        "import cuda.bindings.nothing\n"
    )
    done = run(tmp_path, code)
    assert done.stdout == "None\n" and "No module named 'cuda.bindings.nothing'" in done.stderr


def test_modules_are_run_by_name(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, "-m", "tessera", "run", "-m", "platform"]
    env = os.environ | {"PYTHONPATH": PACKAGE}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Linux" in done.stdout


def test_without_the_runner_nothing_is_shadowed() -> None:
    code = (
        "import tessera, sys, tessera.bindings.driver; "
        "assert not any(n == 'cuda' or n.startswith('cuda.') for n in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": PACKAGE}
    env.pop("TESSERA_ALIASES", None)
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0


def test_names_of_cuda_python_11_say_where_they_went(tmp_path: pathlib.Path) -> None:
    done = run(tmp_path, "from cuda import cuda\n", "--strict")
    assert "ImportError: there is no cuda.cuda: import cuda.bindings.driver instead" in done.stderr


def test_an_older_peer_keeps_its_own(tmp_path: pathlib.Path) -> None:
    peer = fake_peer(tmp_path)
    (tmp_path / "peer" / "cuda" / "cuda.py").write_text("theirs = True\n")
    code = "from cuda import cuda\nprint(cuda.theirs)\n"
    assert run(tmp_path, code, PYTHONPATH=os.pathsep.join([peer, PACKAGE])).stdout == "True\n"


def test_numba_cuda_is_ours(tmp_path: pathlib.Path) -> None:
    code = """
import tessera.cuda
def lambda_double(x):
    return x * 2
from numba import cuda, float32, types, typeof
from numba.cuda import types as same
assert cuda is tessera.cuda and types is same and float32 is types.float32 and str(typeof(3)) == "int64"
from numba.cuda import HAS_NUMBA, itanium_mangler
from numba.cuda.cudaimpl import lower
from numba.cuda.cudadrv import devicearray, error
from numba.cuda.cudadrv.devicearray import DeviceNDArray
import numba.cuda.cudadrv
assert numba.cuda.cudadrv.devicearray is devicearray and isinstance(cuda.device_array(1), DeviceNDArray)
assert error.CudaSupportError is cuda.CudaSupportError
try:
    from numba.cuda.cudadrv import nvvm
except ImportError:
    pass
assert HAS_NUMBA and lower is cuda.extending.lower_builtin and itanium_mangler is cuda.itanium_mangler
import math, numba, numpy
assert numba.vectorize(math.erf)(numpy.ones(2))[0] == math.erf(1.0)
assert numba.vectorize(["f8(f8)"])(lambda_double)(numpy.ones(2)).tolist() == [2, 2]
assert numba.njit(lambda_double)(4) == 8
try:
    from numba import jitclass
except ImportError as error:
    print(error)
try:
    import numba.cuda.core.ir
except ModuleNotFoundError as error:
    print(error.name)
"""
    done = run(tmp_path, code, "--strict")
    assert done.returncode == 0, done.stderr
    assert "pip install numba" in done.stdout and "numba.cuda.core" in done.stdout


def test_finders_of_others_see_packages(tmp_path: pathlib.Path) -> None:
    """numba-cuda's own finder counts where the parts of numba are."""
    code = """
import importlib.util
import numba.cuda
for name in ("numba", "cuda"):
    print(importlib.util.find_spec(name).submodule_search_locations)
"""
    assert run(tmp_path, code, "--strict").stdout == "[]\n[]\n"
