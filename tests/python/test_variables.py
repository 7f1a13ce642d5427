# SPDX-License-Identifier: Apache-2.0
"""Environment variables with values that mean nothing are refused with what they take, not ignored."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np
import tessera.tile as ct

@ct.kernel
def add(x, out):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.load(x, index=(i,), shape=(16,)) + 1)

x = np.zeros(16, np.float32)
ct.launch(None, (1,), add, (x, x))
assert (x == 1).all()
"""


def run(tmp_path, name, value):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    env = {**os.environ, "TESSERA_CACHE_DIR": str(tmp_path / "cache"), name: value}
    return subprocess.run(
        [sys.executable, path], env=env, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    "name, value, takes",
    [
        ("TS_DUMP", "fold,flod", "no pass 'flod'; it takes all, or a list with commas of inline, recursion, complex, "),
        ("TS_DUMP", "foldx", "no pass 'foldx'"),
        ("TS_STOP", "fold,dce", "no pass 'fold,dce'; it takes one of inline, recursion, complex, "),
        ("TS_SKIP", "early,lat", "no pass 'lat'; it takes all, or a list with commas of inline, recursion, complex, "),
        ("TS_BISECT", "two", "not a number of steps; give 0 (no step that may be left out) or more"),
        ("TS_BISECT", "-1", "not a number of steps"),
        ("TS_BISECT", "3x", "not a number of steps"),
        ("TESSERA_NUM_THREADS", "two", "not a number of threads; give 1 to 512"),
        ("TESSERA_NUM_THREADS", "0", "give 1 to 512"),
        ("TESSERA_NUM_THREADS", "4x", "give 1 to 512"),
        ("TESSERA_VECTOR_BYTES", "24", "it takes 16, 32 or 64"),
        ("TESSERA_CACHE_SIZE", "lots", "not a size; give bytes, or a number with K, M or G"),
        ("TESSERA_CACHE_SIZE", "1GB", "not a size"),
        ("TESSERA_CACHE_SIZE", "-1", "not a size"),
        ("TESSERA_CHECKED", "yes", "it takes 1 (every kernel), races"),
    ],
)
def test_value_that_means_nothing_is_refused(tmp_path, name, value, takes):
    done = run(tmp_path, name, value)
    assert done.returncode != 0
    assert f"{name}={value}" in done.stderr
    assert takes in done.stderr


@pytest.mark.parametrize(
    "name, value",
    [
        ("TS_DUMP", "fold,dce"),
        ("TS_DUMP", ""),
        ("TS_DUMP", "all"),
        ("TS_STOP", "licm"),
        ("TS_SKIP", "early,licm"),
        ("TS_BISECT", "0"),
        ("TS_BISECT", ""),
        ("TESSERA_NUM_THREADS", "3"),
        ("TESSERA_NUM_THREADS", ""),
        ("TESSERA_CACHE_SIZE", "1.5g"),
        ("TESSERA_CACHE_SIZE", "100000"),
        ("TESSERA_CHECKED", "1"),
        ("TESSERA_CHECKED", "0"),
    ],
)
def test_value_that_means_something_is_taken(tmp_path, name, value):
    done = run(tmp_path, name, value)
    assert done.returncode == 0, done.stderr


def test_a_wish_about_numpy_that_means_nothing_is_refused():
    env = {**os.environ, "TESSERA_LEND": "yes"}
    done = subprocess.run(
        [sys.executable, "-c", "import tessera.numeric"], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and "TESSERA_LEND=yes: it takes 1" in done.stderr


def test_threads_that_are_asked_for_are_the_processors_of_the_cpu_device():
    text = "from tessera import cuda; print(cuda.get_current_device().MULTIPROCESSOR_COUNT)"
    env = {**os.environ, "TESSERA_NUM_THREADS": "3", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, "-c", text], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3"]


@pytest.mark.parametrize("wish, want", [("0", []), ("", ["percentile"]), ("1", ["percentile"])])
def test_calls_on_few_elements_are_ours_where_that_is_wanted(wish, want):
    text = (
        "import tessera.numeric as np; x = np.ones(5)\n"
        "assert np.percentile(x, 50) == 1; print(*np.host_calls())"
    )
    env = {**os.environ, "TESSERA_LEND": wish}
    done = subprocess.run([sys.executable, "-c", text], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == want


def test_bisect_runs_the_first_steps_and_names_the_last(tmp_path):
    steps = []
    for n in range(1, 20):
        done = run(tmp_path, "TS_BISECT", str(n))
        assert done.returncode == 0, done.stderr
        if not done.stderr:
            break
        steps.append(done.stderr.removeprefix(f"TS_BISECT={n}: step {n} is "))
    names = [step.split()[0] for step in steps]
    assert names == ["fold", "fma", "dce", "licm", "fold", "dce", "licm"]  # pipeline.def, less what must run
    assert all(step.endswith(" at tile level, of @add\n") for step in steps)
