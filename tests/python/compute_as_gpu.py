# SPDX-License-Identifier: Apache-2.0
"""Algorithms as they are made for a GPU: ptxas takes their kernels where it is installed, and the reference interpreter
runs them thread by thread."""

import os
import re
import shutil
import subprocess
import types

import numpy as np
from simt_run import run

from tessera import cuda
from tessera.compute import _engine, _onesweep, _reduce

__all__ = ["interpret", "not_again", "small_leaves"]

ASSEMBLER = shutil.which("ptxas")


class Interpreted:
    """A kernel that a launch hands to the interpreter, and that waits there until it has ended."""

    def __init__(self, function, schedule, target, opt_level):
        self.function, self.schedule, self.target, self.assembled = function, schedule, target, set()
        self.opt_level = opt_level

    def __getitem__(self, launch):
        blocks, threads, _, *shared = launch

        def call(*args):
            kinds = tuple(cuda.typeof(arg) for arg in args)
            if self.schedule == 0 and not self.opt_level and kinds not in self.assembled:
                assembled(self.function, kinds)
                self.assembled.add(kinds)
            where = {"grid": (blocks,), "block": (threads,), "shared": sum(shared)}
            where |= {"target": self.target, "schedule": self.schedule}
            run(self.function, *args, **where, opt_level=self.opt_level)

        return call


def assembled(function, kinds):
    """Compiles a kernel as a launch with arguments of these types would; ptxas takes it, and it needs no stack."""
    if ASSEMBLER is None:
        return
    text, _ = cuda.compile_ptx(function, kinds, cc=(9, 0))
    for block in re.findall(r"mov\.u32 (%r\d+), %ctaid\.x;", text):  # places are numbers of 64 bits
        uses = re.findall(rf"^(\S+) [^\n]*{block}\b[^\n]*", text, re.MULTILINE)
        assert not [use for use in uses if use.startswith(("mul.lo", "mad.lo", "shl", "add", "sub"))], uses
    command = [ASSEMBLER, "-arch=sm_90a", "-v", "-o", os.devnull, "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "0 bytes stack frame" in done.stderr, f"{function.__name__}: {done.stderr}"


def not_again(monkeypatch):
    """Calls are made the long way, with kernels that are made anew."""
    monkeypatch.setattr(_engine, "_kernels", {})
    monkeypatch.setattr(_engine, "replayed", lambda key, given: False)
    monkeypatch.setattr(_engine, "wanted", lambda key, given: None)


def small_leaves(monkeypatch):
    """Leaves of 1,024 items, groups of four of them."""
    monkeypatch.setattr(_reduce, "ITEMS", 4)
    monkeypatch.setattr(_reduce, "LEAF", 4 * _reduce.THREADS)
    monkeypatch.setattr(_reduce, "GROUP", 4)


def interpret(monkeypatch, schedule, target=90, opt_level=0):
    """From here on algorithms take their forms for a GPU, and the interpreter runs them; with ``opt_level=1`` as code
    that is quickly made."""
    clear = lambda stream, array: array.fill(0)  # noqa: E731
    gpu = types.SimpleNamespace(_current_device=lambda: 1, DEVICE_CUDA=1, compute_clear=clear)
    monkeypatch.setattr(_engine, "_core", gpu)
    monkeypatch.setattr(_engine, "_kept", {})
    made = lambda function, bounds, source=None: Interpreted(function, schedule, target, opt_level)  # noqa: E731
    monkeypatch.setattr(_engine, "_jitted", made)
    monkeypatch.setattr(_engine, "is_lost", lambda array: False)
    monkeypatch.setattr(_reduce, "_FULL", 4)  # from four leaves on, blocks take several
    monkeypatch.setattr(_reduce, "_RUN", 2)
    monkeypatch.setattr(_onesweep, "per_thread", lambda nbytes: max(1, min(8, 64 // nbytes)))  # so N are many tiles
    not_again(monkeypatch)
    monkeypatch.setattr("tessera.cuda._arrays.pooled_array", lambda n, dtype, stream=None: np.zeros(n, dtype))
    zeros = lambda needs: [np.zeros(n, dtype) for n, dtype in needs]  # noqa: E731
    monkeypatch.setattr("tessera.cuda._arrays.pooled_arrays", zeros)
