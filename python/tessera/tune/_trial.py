# SPDX-License-Identifier: Apache-2.0
"""The first run of a variant in a process of its own: a kernel on a GPU cannot be stopped, but a process can.

The process gets the kernel as it was packed and copies of its arguments, compiles (what is on disk is found there),
says that it is ready, launches, waits, and answers. One that does not answer in time is killed, and the GPU is free
again; so it is where the kernel touches memory that is not its own. The next variant gets a new process, all others
share one. What cannot be sent (a kernel that asks the host while it compiles, an argument that cannot be pickled) is
not tried: nothing is known of it.
"""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import threading
import time
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import tessera

from .. import _core
from .. import tile as ct
from .._arguments import device_of, is_array
from . import _arrays
from ._time import GRACE_S, late

__all__ = ["Trials", "serve"]

READY, DONE, FAILED, UNKNOWN = range(4)
CHILD = "import sys; from tessera.tune._trial import serve; serve(int(sys.argv[1]))"
PARENT_S = 0.5  # between two looks at whether the parent still lives


class _Sent(_core.Kernel):  # type: ignore[misc]
    """A kernel as another process packed it."""

    def __init__(self, prepared: Any) -> None:
        self.prepared = prepared
        self.__name__ = self.__qualname__ = prepared[0]

    def _prepare(self) -> Any:
        return self.prepared

    def _complete(self, args: Any, named: Any) -> Any:
        return args

    def _has_keyword_only(self) -> bool:
        return False


class _Pickler(pickle.Pickler):
    """Kernels leave as what they were packed to, arrays as copies of their elements."""

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, _core.Kernel):
            *prepared, _ = obj._prepare()
            return "kernel", (*prepared, None)  # without the host: who asks it does not compile there
        if not isinstance(obj, type) and is_array(obj):
            name = str(_arrays._shared(obj).dtype).rpartition(".")[2]
            copy = _arrays._read(obj)
            return "array", (copy.tobytes(), copy.dtype.str, copy.shape, name, device_of((obj,)))
        return None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, pid: Any) -> Any:
        kind, what = pid
        if kind == "kernel":
            return _Sent(what)
        import numpy

        elements, raw, shape, dtype, device = what
        array = tessera.empty(shape, dtype, device)
        _arrays._write(array, numpy.frombuffer(elements, raw).reshape(shape))
        return array


def _packed(what: Any) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(what)
    return buffer.getvalue()


# ---- the child ---------------------------------------------------------------------------------


def _end_with(parent: int) -> None:
    """Without a parent nobody would stop a kernel that does not end."""
    while os.getppid() == parent:
        time.sleep(PARENT_S)
    os._exit(1)


def _answer(connection: Any, data: bytes) -> None:
    try:
        device, grid, kernel, args = _Unpickler(io.BytesIO(data)).load()
        _core.prepare(None, kernel, args)
        tessera.synchronize(device)
    except Exception as error:
        connection.send((UNKNOWN, repr(error)))
        return
    connection.send((READY, ""))
    try:
        ct.launch(None, grid, kernel, args)
        tessera.synchronize(device)
        connection.send((DONE, ""))
    except Exception as error:
        connection.send((FAILED, f"{type(error).__name__}: {error}"))


def serve(descriptor: int) -> None:
    """Runs what comes until the other end is closed."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    connection = Connection(descriptor)
    while True:
        try:
            data = connection.recv_bytes()
        except EOFError:
            return
        _answer(connection, data)


# ---- the parent --------------------------------------------------------------------------------


class Trials:
    """Runs variants in a child, each for at most ``limit_s``."""

    def __init__(self, device: str, limit_s: float) -> None:
        self.device, self.limit_s = device, limit_s
        self.process: Any = None
        self.connection: Any = None

    def __enter__(self) -> Trials:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Kills the child, whatever it does."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.connection.close()
        self.process = self.connection = None

    def _start(self) -> None:
        self.connection, theirs = Pipe()
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
        quiet = subprocess.DEVNULL  # a kernel that prints does so once, in this process
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", CHILD, str(theirs.fileno())], pass_fds=[theirs.fileno()], env=environment,
                stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True,
            )  # fmt: skip

    def run(self, kernel: Any, grid: Any, args: Any) -> bool:
        """Whether the variant was tried; TimeoutError when it did not end in time, RuntimeError when it failed."""
        try:
            data = _packed((self.device, grid, kernel, args))
        except Exception:  # of any class: objects of users pickle themselves
            return False
        if not self.process:
            self._start()
        try:
            self.connection.send_bytes(data)
            answer, text = self.connection.recv()
            if answer == READY:
                if not self.connection.poll(self.limit_s + GRACE_S):
                    raise late(self.limit_s)
                answer, text = self.connection.recv()
        except (EOFError, OSError) as error:
            self.close()
            if isinstance(error, TimeoutError):
                raise
            raise RuntimeError("the process that ran it ended") from None
        except BaseException:
            self.close()
            raise
        if answer == FAILED:
            self.close()  # the GPU may be of no more use to it
            raise RuntimeError(text)
        return bool(answer == DONE)
