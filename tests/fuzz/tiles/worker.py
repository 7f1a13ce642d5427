# SPDX-License-Identifier: Apache-2.0
"""A process that runs the programs it is sent, and what its parent holds of it.

Requests and answers are lines of JSON. A program that ends the process, or that does not end, costs its
worker; the parent knows which program it was and starts another worker.
"""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from typing import Any

from . import corpus
from .generators import GENERATORS, Case
from .program import Outcome
from .refusals import stated

FOLDER = pathlib.Path(__file__).resolve().parent


def answer(request: dict[str, Any]) -> Outcome:
    """Runs one program; refusals that the language does not state are failures."""

    try:
        program: Case
        if "text" in request:
            program = corpus.parse(request["text"])
        else:
            program = GENERATORS[request["generator"]](request["seed"])
        outcome = program.run(request["device"])
    except Exception:
        return Outcome("error", traceback.format_exc()[-3000:])
    if outcome.kind != "refused":
        return outcome
    rule = stated(outcome.text)
    text = rule or f"a refusal that the language does not state: {outcome.text}"
    return dataclasses.replace(outcome, kind="refused" if rule else "wrong", text=text)


def serve() -> None:
    """The worker's loop. What kernels print goes to stderr."""
    faulthandler.enable()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        outcome = answer(json.loads(line))
        out.write(json.dumps(dataclasses.asdict(outcome)) + "\n")
        out.flush()


class Worker:
    """A child process and the program that it runs now."""

    def __init__(self) -> None:
        self.errors = tempfile.TemporaryFile("w+b")
        self.process = subprocess.Popen(
            [sys.executable, str(FOLDER), "--worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={"CUDA_CACHE_DISABLE": "1", "TESSERA_CACHE_DIR": "off", **os.environ},
            process_group=0,  # Ctrl-C reaches the parent alone, which ends its workers
        )
        self.request: dict[str, Any] = {}
        self.started = 0.0

    def send(self, request: dict[str, Any]) -> None:
        assert self.process.stdin
        self.errors.seek(0)
        self.errors.truncate()
        self.request, self.started = request, time.monotonic()
        with contextlib.suppress(BrokenPipeError):  # seen when the answer is read
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()

    def receive(self) -> Outcome | None:
        """The answer; None if the process ended without one."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        return Outcome(**json.loads(line)) if line.endswith(b"\n") else None

    def seconds(self) -> float:
        return time.monotonic() - self.started

    def ended(self) -> Outcome:
        """What is known of a process that ended by itself."""
        code = self.process.wait()
        return Outcome("crash", f"exit status {code}\n{self.said()}", self.seconds())

    def stop(self) -> Outcome:
        """Ends a process that does not end; its Python stack is in the text."""
        self.process.send_signal(signal.SIGABRT)
        try:
            self.process.wait(3)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return Outcome("hang", f"after {self.seconds():.0f} s\n{self.said()}", self.seconds())

    def said(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-4000:]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.errors.close()
