# SPDX-License-Identifier: Apache-2.0
"""``python -m bench all-gpu --seconds N --out DIR``: the questions that want a GPU for minutes, in one call.

Each is a process of its own with a share of the time that is left; a table is in DIR/QUESTION.md as soon as it is
finished. A question whose process fails, or says nothing for a while, is begun again behind the place where it was.
DIR gets a log of everything, all figures as JSON lines, and the shapes of ``products``: seven files.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO

from .contest import Deadline

# In order of importance: seconds of 500, and the options of its own.
PARTS: dict[str, tuple[float, tuple[str, ...]]] = {
    "chain": (70, ()),
    "samples": (180, ("--state", "{state}", "--suite", "{suite}")),
    "tutorials": (140, ("--state", "{state}")),
    "products": (100, ("--state", "{state}")),
}
SILENT = 90.0  # seconds without a word, after which a process counts as stuck
GRACE = 8.0  # of its share, in which a process ends what it is at
TRIES = 4


class _Process:
    """A question's process in a group of its own; its output goes to the terminal and the log."""

    def __init__(self, command: list[str], log: IO[str]) -> None:
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        environment.setdefault("CUDA_CACHE_MAXSIZE", str(4 << 30))
        self.child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env=environment, start_new_session=True,
        )  # fmt: skip
        self.log, self.heard = log, time.monotonic()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.child.stdout
        for line in self.child.stdout:
            self.heard = time.monotonic()
            self.log.write(line)
            self.log.flush()
            sys.stdout.write(line)
            sys.stdout.flush()

    def wait(self, seconds: float) -> str:
        """``""`` when it ended well, else what happened."""
        end = time.monotonic() + seconds
        while self.child.poll() is None:
            if time.monotonic() > end:
                return "ended: its time was over"
            if time.monotonic() - self.heard > SILENT:
                return f"ended: silent for {SILENT:.0f} s"
            time.sleep(0.1)
        self.reader.join(5)
        return f"ended with status {self.child.returncode}" if self.child.returncode else ""

    def stop(self) -> None:
        """Asks the group to end, then ends it."""
        for number in (signal.SIGINT, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.child.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.child.wait(3)
        self.reader.join(5)


def _run(name: str, common: list[str], options: list[str], seconds: float, deadline: Deadline,
         log: IO[str]) -> str:  # fmt: skip
    """One question, begun again where it failed; what happened."""
    own, said = Deadline(seconds), []
    for _ in range(TRIES):
        left = min(own.left(), deadline.left())
        if left < 2 * GRACE:
            said.append("no time left")
            break
        words = ["--seconds", f"{left - GRACE:.0f}", *common, *options]
        process = _Process([sys.executable, "-m", "bench", name, *words], log)
        try:
            failure = process.wait(left)
        finally:
            process.stop()
        said.append(failure or "done")
        if not failure:
            break
    return ", then ".join(said)


def main(
    device: str, seconds: float | None, out: pathlib.Path, suite: pathlib.Path | None, peer: bool,
    small: bool, rounds: int,
) -> int:  # fmt: skip
    """Runs all parts; 0 when each ended well."""
    out.mkdir(parents=True, exist_ok=True)
    deadline = Deadline(seconds or 500.0)
    common = ["--device", device, "--rounds", str(rounds), "--json", str(out / "tables.jsonl")]
    common += ["--small"] if small else []
    parts = {n: p for n, p in PARTS.items() if n != "samples" or suite}
    results = {}
    with (out / "log.txt").open("a", encoding="utf-8") as log, tempfile.TemporaryDirectory() as folder:
        for i, (name, (share, words)) in enumerate(parts.items()):
            shares = sum(s for s, _ in list(parts.values())[i:])
            state = pathlib.Path(folder) / f"{name}.jsonl"
            options = [w.format(state=state, suite=suite) for w in words]
            options += ["--peer"] if name == "samples" and peer else []
            options += ["--markdown", str(out / f"{name}.md")]
            begin = time.monotonic()
            result = _run(name, common, options, deadline.left() * share / shares, deadline, log)
            results[name] = f"{result}, {time.monotonic() - begin:.0f} s"
            print(f"== {name}: {results[name]}", file=log, flush=True)
            if name == "products" and state.exists():
                shutil.copy(state, out / "products.jsonl")
    for name, result in results.items():
        print(f"== {name}: {result}", flush=True)
    return 0 if all("done" in r for r in results.values()) else 1
