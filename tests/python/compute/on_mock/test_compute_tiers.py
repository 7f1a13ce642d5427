# SPDX-License-Identifier: Apache-2.0
"""The first call of an algorithm loads code that is quickly made; fast code takes its place, and is what is kept."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy as np
import pytest

from tessera import compute, cuda
from tessera.compute import _engine, _store
from tessera.cuda._errors import CudaAPIError

N = 50_000


@pytest.fixture(autouse=True)
def _tiers(monkeypatch):
    monkeypatch.setenv("TESSERA_TIERS", "1")
    compute.clear_all_caches()


def loads(mock, call):
    """How many pieces of code a call loads, in the background too."""
    before = mock.n_load
    call()
    compute.wait_for_code()
    return mock.n_load - before


def scan(step):
    x, out = cuda.device_array(N, np.float32), cuda.device_array(N, np.float32)
    compute.inclusive_scan(d_in=x, d_out=out, op=lambda a, b: a + b + step, num_items=N)


def test_fast_code_takes_the_place_of_quick_code(mock):
    assert loads(mock, lambda: scan(11)) == 2
    launches = mock.n_launches
    assert loads(mock, lambda: scan(11)) == 0
    assert mock.n_launches == launches + 1


def test_without_tiers_the_first_call_loads_fast_code(mock, monkeypatch):
    monkeypatch.setenv("TESSERA_TIERS", "0")
    assert loads(mock, lambda: scan(12)) == 1


def test_code_that_cannot_be_made_is_reported_once(mock):
    def problems(step):
        scan(step)
        mock.load_result = 218
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            compute.wait_for_code()
        mock.load_result = 0
        return [str(warning.message) for warning in found]

    steps = iter(range(100, 200))
    found = next(found for found in map(problems, steps) if found)  # fast code may be there before the driver fails
    assert "kernel 'take_one' goes on with code that was quickly made" in found[0]
    launches = mock.n_launches
    assert not any(problems(step) for _, step in zip(range(5), steps)) and mock.n_launches == launches + 5


FORKS = """
import numpy as np, os
from tessera import compute, cuda
from tessera.compute import _engine, _store
from tessera.cuda._errors import CudaAPIError
x, out = cuda.device_array(100, np.int32), cuda.device_array(100, np.int32)
for step in range(16):  # more than there are threads of the background: some wait
    compute.inclusive_scan(d_in=x, d_out=out, op=lambda a, b: a + b + step, num_items=100)
child = os.fork()
if child == 0:
    try:
        compute.wait_for_code()
    except RuntimeWarning as warning:
        print(warning, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_child_of_fork_warns_of_no_code_for_its_parents_gpu(tmp_path):
    extra = {"TESSERA_TIERS": "1", "TESSERA_CACHE_DIR": str(tmp_path)}
    program = tmp_path / "forks.py"
    program.write_text(FORKS)
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", program], env=os.environ | extra, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert done.stdout == ""


PROGRAM = """
import numpy as np, sys
from tessera import compute, cuda, _core
x, out = cuda.device_array(5000, np.float32), cuda.device_array(5000, np.float32)
compute.inclusive_scan(d_in=x, d_out=out, op=compute.OpKind.PLUS, num_items=5000)
if len(sys.argv) > 1:
    compute.wait_for_code()
from tessera.compute import _engine
print([k._stats() for k in _engine._kernels.values()][0])
"""


def test_the_next_process_begins_with_fast_code(tmp_path):
    extra = {"TESSERA_TIERS": "1", "TESSERA_CACHE_DIR": str(tmp_path)}
    found = []
    for _ in range(2):  # the end of the first waits for what is made in the background
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(PROGRAM)], env=os.environ | extra, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        found.append(eval(done.stdout))
    assert found[0]["from_disk"] == 0
    assert (found[1]["from_disk"], found[1]["compiled"]) == (1, 0)


REDUCE = ["pack of reduce", "kernel reduce"]  # and what is said of its function


@pytest.fixture
def kept(monkeypatch):
    """The packs that are kept from now on; none is found."""
    kept: list[str] = []
    monkeypatch.setattr(_engine, "_keeps", True)
    monkeypatch.setattr(_store._core, "cache_kept", lambda name: None)
    monkeypatch.setattr(_store._core, "cache_keep", lambda kind, name, text: kept.append(kind))
    for module in (_engine, _store):
        monkeypatch.setattr(module, "name_of", lambda make, key, bounds: b"a name")
    return kept


def reduce_pairs():
    """A kernel whose arguments the host names."""
    Pair = compute.gpu_struct({"s": np.int64, "t": np.int64}, "Pair")
    pairs, out = cuda.device_array(9, Pair.dtype), cuda.device_array(1, Pair.dtype)
    op = lambda a, b: a if a.t > b.t else b  # noqa: E731
    compute.reduce_into(d_in=pairs, d_out=out, h_init=Pair(0, 0), num_items=9, op=op)


def reduce_numbers():
    numbers, one = cuda.device_array(9, np.int64), cuda.device_array(1, np.int64)
    compute.reduce_into(d_in=numbers, d_out=one, h_init=np.int64(0), num_items=9, op=lambda a, b: a if a > b else b)


def test_packs_whose_arguments_the_host_names_are_not_kept(mock, kept):
    """It names the classes of structs by numbers of objects, which another process may count otherwise."""
    reduce_pairs()
    assert not kept
    reduce_numbers()
    assert kept == REDUCE


def test_a_call_keeps_its_own_packs_only(mock, kept, monkeypatch):
    """Another thread's call ends between a kernel's packing and its launch, when the host has named nothing yet."""
    note, between = _store._note_packed, []

    def note_and_call(kernel, name):
        note(kernel, name)
        if threading.current_thread() is threading.main_thread():
            other = threading.Thread(target=reduce_numbers)
            other.start()
            other.join()
            between.extend(kept)

    monkeypatch.setattr(_store, "_note_packed", note_and_call)
    reduce_pairs()
    assert between == kept == REDUCE


def test_packs_of_a_call_that_raises_are_not_kept(mock, kept):
    mock.load_result = 218
    with pytest.raises(CudaAPIError):
        reduce_numbers()
    mock.load_result = 0
    compute.clear_all_caches()
    scan(13)
    assert kept and "pack of reduce" not in kept
