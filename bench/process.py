# SPDX-License-Identifier: Apache-2.0
"""Questions about whole processes: what does the import cost over bare Python, how long until the first
small kernel has run with an empty cache, and how long with a warm one? Each sample is a fresh process.
"""

from __future__ import annotations

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from .common import Figure, Table, have

SMALL = """
import time
{before}
start = time.perf_counter()
{call}
print({shown})
"""

KERNEL = """
import tessera.tile as ct
@ct.kernel
def add(a, b, out):
    i = ct.bid(0)
    x = ct.load(a, index=(i,), shape=(16,))
    y = ct.load(b, index=(i,), shape=(16,))
    ct.store(out, index=(i,), tile=x + y)
"""

NUMBA = """
import numba, numpy as np
@numba.njit
def add(a, b, out):
    for i in range(a.size):
        out[i] = a[i] + b[i]
a = np.ones(1024, np.float32); b = a.copy(); out = a.copy()
"""


def _environment(cache: str, driver: str) -> dict[str, str]:
    """Caches of the sample's own; byte code is kept, as in an installed package."""
    env = dict(os.environ, TESSERA_CACHE_DIR=cache, CUDA_CACHE_PATH=driver)
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return env


def _sample(text: str, cache: str) -> float:
    """Seconds that a fresh process printed."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "first_call.py"
        script.write_text(text)
        env = _environment(cache, f"{folder}/driver")
        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, env=env, check=True
        )
    return float(done.stdout.split()[-1])


def fresh(text: str, rounds: int) -> list[float]:
    """What so many processes printed, each with an empty cache."""
    times = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            times.append(_sample(text, f"{folder}/cache"))
    return times


def _first(
    device: str, cache: str, rounds: int, shown: str = "time.perf_counter() - start"
) -> list[float]:
    arrays = (
        "import tessera\n"
        f"a, b, out = (tessera.zeros(1024, 'float32', '{device}') for _ in range(3)); tessera.synchronize()"
    )
    call = "ct.launch(None, (64, 1, 1), add, (a, b, out)); tessera.synchronize()"
    times = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            text = SMALL.format(before=KERNEL + arrays, call=call, shown=shown)
            place = cache or f"{folder}/cache"
            if cache == "warm":
                place = f"{folder}/cache"
                script_cache = place
                _warm(text, script_cache, times)
            else:
                times.append(_sample(text, place))
    return times


def _warm(text: str, cache: str, times: list[float]) -> None:
    """Two processes on one cache; the second one counts. The script must keep its name and text."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "first_call.py"
        script.write_text(text)
        env = _environment(cache, f"{folder}/driver")
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, str(script)], capture_output=True, text=True, env=env, check=True
            )
        times.append(float(done.stdout.split()[-1]))


def _import_cost(module: str, rounds: int) -> list[float]:
    """Wall seconds of a process that imports, less the median of one that does not."""
    import time

    def wall(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=_environment("off", ""))
        return time.perf_counter() - start

    wall(f"import {module}")
    pairs = [(wall("pass"), wall(f"import {module}")) for _ in range(rounds)]
    bare = statistics.median(b for b, _ in pairs)
    return [t - bare for _, t in pairs]


def tables(device: str, rounds: int, small: bool) -> list[Table]:
    rounds = 3 if small else min(rounds, 11)
    imports = Table("import in a fresh process, over bare Python", "imports/s", 1.0, "numpy")
    for module in ("tessera", "tessera.tile", "numpy", "numba", "jax", "torch", "triton", "cupy"):
        if have(module.split(".")[0]):
            imports.figures.append(
                Figure(
                    module,
                    _import_cost(
                        module, rounds if module.startswith("t") and module[1] == "e" else 3
                    ),
                    float("nan"),
                )
            )
    first = Table(f"first call of a small kernel, {device}", "calls/s", 1.0, "")
    first.figures.append(Figure("tessera, empty cache", _first(device, "", rounds), float("nan")))
    first.figures.append(
        Figure("tessera, warm caches", _first(device, "warm", rounds), float("nan"))
    )
    own = 'time.perf_counter() - start - add._stats()["load_ns"] * 1e-9'
    first.figures.append(
        Figure(
            "tessera, empty cache, without loading the code",
            _first(device, "", rounds, own),
            float("nan"),
        )
    )
    if have("numba") and device == "cpu":
        times = [
            _sample(
                SMALL.format(
                    before=NUMBA, call="add(a, b, out)", shown="time.perf_counter() - start"
                ),
                "off",
            )
            for _ in range(min(rounds, 3))
        ]
        first.figures.append(Figure("numba", times, float("nan")))
    return [imports, first]
