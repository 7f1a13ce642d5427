# SPDX-License-Identifier: Apache-2.0
"""Stopping a process's use of GPUs and going on later (Linux, driver of CUDA 12.8 or newer).

A coordinator locks the process, checkpoints it (its GPU memory moves to the host, the GPU is free),
saves or moves the process by other means such as CRIU, restores and unlocks it::

    process = Process(pid)
    process.lock(timeout_ms=5000)
    process.checkpoint()
    process.restore()
    process.unlock()
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..bindings import FunctionNotFoundError

if TYPE_CHECKING:
    from .typing import ProcessStateType

__all__ = ["Process"]

_STATES = ("running", "locked", "checkpointed", "failed")


def _get_driver() -> Any:
    """The driver's functions; RuntimeError where it cannot checkpoint."""
    from ..bindings import driver

    try:
        driver._api.find("cuCheckpointProcessGetState@12080")
    except FunctionNotFoundError:
        raise RuntimeError(
            "CUDA checkpointing is not supported by the installed NVIDIA driver. "
            "It needs one of CUDA 12.8 or newer."
        ) from None
    return driver


def _call(name: str, *args: Any) -> Any:
    driver = _get_driver()
    status, *results = getattr(driver, name)(*args)
    if status == driver.CUresult.CUDA_ERROR_NOT_SUPPORTED:
        raise RuntimeError(f"CUDA checkpointing is not supported for this process ({name})")
    if status:
        driver._raise(name, status)
    return results[0] if results else None


def _uuid(given: Any) -> Any:
    """A CUuuid of itself or of its text, as Device.uuid gives it."""
    driver = _get_driver()
    if isinstance(given, driver.CUuuid):
        return given
    if not isinstance(given, str):
        raise TypeError(f"a GPU is named by its UUID, str or CUuuid, not {type(given).__name__}")
    try:
        data = bytes.fromhex(given.removeprefix("GPU-").replace("-", ""))
    except ValueError:
        data = b""
    if len(data) != 16:
        raise ValueError(f"{given!r} is no UUID of a GPU; it looks like Device.uuid")
    made = driver.CUuuid()
    made.bytes = data
    return made


def _pairs(mapping: Mapping[Any, Any]) -> list[Any]:
    driver = _get_driver()
    pairs = []
    for old, new in mapping.items():
        pair = driver.CUcheckpointGpuPair()
        pair.oldUuid, pair.newUuid = _uuid(old), _uuid(new)
        pairs.append(pair)
    return pairs


class Process:
    """A process that uses CUDA, by its id."""

    __slots__ = ("_pid",)

    def __init__(self, pid: int) -> None:
        if isinstance(pid, bool) or not isinstance(pid, int):
            raise TypeError(f"pid must be an int, not {type(pid).__name__}")
        if pid < 1:
            raise ValueError(f"pid must be a positive int, got {pid}")
        self._pid = pid

    @property
    def pid(self) -> int:
        """The process id."""
        return self._pid

    @property
    def state(self) -> ProcessStateType:
        """``"running"``, ``"locked"``, ``"checkpointed"`` or ``"failed"``."""
        return _STATES[int(_call("cuCheckpointProcessGetState", self._pid))]  # type: ignore[return-value]

    @property
    def restore_thread_id(self) -> int:
        """The thread of the process that does the restoring."""
        return int(_call("cuCheckpointProcessGetRestoreThreadId", self._pid))

    def lock(self, timeout_ms: int = 0) -> None:
        """Stops further calls of CUDA in the process; 0 waits without end for those under way."""
        if isinstance(timeout_ms, bool) or not isinstance(timeout_ms, int):
            raise TypeError(f"timeout_ms must be an int, not {type(timeout_ms).__name__}")
        if timeout_ms < 0:
            raise ValueError(f"timeout_ms must be >= 0, got {timeout_ms}")
        args = _get_driver().CUcheckpointLockArgs()
        args.timeoutMs = timeout_ms
        _call("cuCheckpointProcessLock", self._pid, args)

    def checkpoint(self) -> None:
        """Moves the GPU memory of the locked process to the host and frees the GPU."""
        _call("cuCheckpointProcessCheckpoint", self._pid, None)

    def restore(self, gpu_mapping: Mapping[Any, Any] | None = None) -> None:
        """Moves it back; the process is locked then. ``gpu_mapping`` tells for each GPU's UUID (text
        of ``Device.uuid``, or CUuuid) which GPU takes its place."""
        args = _get_driver().CUcheckpointRestoreArgs()
        if gpu_mapping is not None:
            args.gpuPairs = _pairs(gpu_mapping)
            args.gpuPairsCount = len(gpu_mapping)
        _call("cuCheckpointProcessRestore", self._pid, args)

    def unlock(self) -> None:
        """Lets the process call CUDA again."""
        _call("cuCheckpointProcessUnlock", self._pid, None)

    def __repr__(self) -> str:
        return f"Process(pid={self._pid})"
