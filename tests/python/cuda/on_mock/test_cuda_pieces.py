# SPDX-License-Identifier: Apache-2.0
"""Arrays' memory that nobody uses any more, on the mock driver: when it is handed out again, and when it goes back."""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tessera import _core, cuda
from tessera.bindings import driver
from tessera.cuda._memory import deallocations, memory_info
from tessera.cuda._pieces import KEPT, pieces
from tests.python.mock_driver import MockState


class Calls:
    """How often the driver was called, by names."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.of = {"cuMemAlloc": 0, "cuMemFree": 0, "cuCtxSynchronize": 0}
        for name in self.of:
            monkeypatch.setattr(driver, name, self._counted(name, getattr(driver, name)))

    def _counted(self, name: str, real: Any) -> Any:
        def call(*args: Any) -> Any:
            self.of[name] += 1
            return real(*args)

        return call

    def taken(self) -> tuple[int, ...]:
        """Allocations, pieces freed and waits since the last time."""
        found = tuple(self.of.values())
        self.of = dict.fromkeys(self.of, 0)
        return found


@pytest.fixture
def calls(mock: MockState, monkeypatch: pytest.MonkeyPatch) -> Iterator[Calls]:
    deallocations.clear()
    cuda.device_array(1)
    deallocations.clear()
    made = Calls(monkeypatch)
    yield made
    deallocations.clear()




def test_memory_is_handed_out_again_after_one_wait(calls: Calls) -> None:
    first = {cuda.device_array(1000, "u1").gpu_data.address for _ in range(11)}
    assert calls.taken() == (11, 0, 0) and pieces.bytes(0) == 11 * 1024
    again = [cuda.device_array(900 + i, "u1") for i in range(11)]
    assert {a.gpu_data.address for a in again} == first and calls.taken() == (0, 0, 1) and pieces.bytes(0) == 0
    other = cuda.device_array(1000, "u1")
    assert calls.taken() == (1, 0, 0) and other.gpu_data.address not in first


def test_what_came_after_a_wait_needs_another(calls: Calls) -> None:
    for _ in range(22):
        cuda.device_array(1000, "u1")
    assert calls.taken() == (11, 0, 1)  # ten wait for the eleventh; then all of these serve, after one wait
    for _ in range(11):
        cuda.device_array(1000, "u1")
    assert calls.taken() == (0, 0, 1)


def test_what_is_kept_goes_back_on_demand_and_beyond_a_bound(calls: Calls) -> None:
    for _ in range(11):
        cuda.device_array(1000, "u1")
    deallocations.clear()
    assert calls.taken() == (11, 11, 0) and pieces.bytes(0) == 0
    big = [cuda.device_array(KEPT // 4, "u1") for _ in range(6)] + [cuda.device_array(KEPT // 4 + 1, "u1")]
    del big
    deallocations._release()
    assert calls.taken() == (7, 3, 0) and pieces.bytes(0) == KEPT


def test_what_another_process_was_told_of_is_freed(calls: Calls) -> None:
    array = cuda.device_array(1000, "u1")
    array.get_ipc_handle()
    del array
    deallocations._release()
    assert calls.taken() == (1, 1, 0) and pieces.bytes(0) == 0


def test_memory_that_is_out_is_made_of_what_is_kept(
    calls: Calls, mock: MockState, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(11):
        cuda.device_array(1000, "u1")
    monkeypatch.setattr(driver.checked, "cuMemGetInfo", lambda: (10_000, 1 << 30))
    assert memory_info() == (10_000 + 11 * 1024, 1 << 30)
    mock.alloc_failures = 1
    array = cuda.device_array(4000, "u1")
    assert calls.taken() == (13, 11, 0) and pieces.bytes(0) == 0 and array.size == 4000
    assert memory_info()[0] == 10_000


def test_a_reset_takes_it_along(calls: Calls) -> None:
    for _ in range(11):
        cuda.device_array(1000, "u1")
    calls.taken()
    _core.reset("cuda:0")
    assert pieces.bytes(0) == 0
    array = cuda.to_device(np.ones(125))
    assert calls.taken()[:2] == (1, 0) and array.copy_to_host().tolist() == [1] * 125


def test_waits_that_fail_leave_it(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(11):
        cuda.device_array(1000, "u1")
    calls.taken()
    monkeypatch.setattr(driver, "cuCtxSynchronize", lambda: (driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,))
    cuda.device_array(1000, "u1")
    assert calls.taken() == (1, 0, 0) and pieces.bytes(0) == 11 * 1024


def test_what_comes_during_a_wait_needs_another(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(11):
        cuda.device_array(1000, "u1")
    late, wait = [cuda.device_array(2000, "u1")], driver.cuCtxSynchronize

    def collecting() -> Any:
        late.clear()
        deallocations._release()
        return wait()

    monkeypatch.setattr(driver, "cuCtxSynchronize", collecting)
    calls.taken()
    cuda.device_array(1000, "u1")
    cuda.device_array(2000, "u1")
    assert calls.taken() == (0, 0, 2)


def test_pieces_that_go_during_a_wait_are_not_handed_out(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(11):
        cuda.device_array(1000, "u1")
    calls.taken()
    wait = driver.cuCtxSynchronize
    monkeypatch.setattr(driver, "cuCtxSynchronize", lambda: (pieces.flush(), wait())[1])
    assert cuda.device_array(1000, "u1").size == 1000
    assert calls.taken() == (1, 11, 1) and pieces.bytes(0) == 0


def test_a_fork_gives_the_child_a_lock_of_its_own(calls: Calls) -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(pieces._lock.acquire).result()
        child = os.fork()
        if not child:
            os._exit(0 if pieces._lock.acquire(timeout=5) else 1)
        pool.submit(pieces._lock.release).result()
    assert os.waitpid(child, 0)[1] == 0


def test_a_capture_is_not_waited_for(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(11):
        cuda.device_array(1000, "u1")
    calls.taken()
    implicit = driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    monkeypatch.setattr(driver, "cuStreamIsCapturing", lambda stream: (implicit, None))
    cuda.device_array(1000, "u1")
    assert calls.taken() == (1, 0, 0)
