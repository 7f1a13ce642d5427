# SPDX-License-Identifier: Apache-2.0
"""Memory and events for other processes; this process stands for both."""

from __future__ import annotations

import concurrent.futures
import os
import pickle
import uuid
from multiprocessing.reduction import ForkingPickler
from typing import Any

import pytest
from tessera import core
from tessera.core._event import IPCEventDescriptor
from tessera.core._memory import _ipc
from tessera.core._memory._ipc import IPCAllocationHandle, IPCBufferDescriptor


@pytest.fixture
def pool(device: core.Device) -> core.DeviceMemoryResource:
    return core.DeviceMemoryResource(device, {"max_size": 1 << 20, "ipc_enabled": True})


def twin_of(pool: core.DeviceMemoryResource) -> core.DeviceMemoryResource:
    """The pool as the other process opens it, from a handle without a name."""
    handle = IPCAllocationHandle._init(os.dup(pool.allocation_handle.handle), None)
    return core.DeviceMemoryResource.from_allocation_handle(0, handle)


def test_a_pool_is_opened_by_its_file_descriptor(pool: Any) -> None:
    handle = pool.allocation_handle
    assert handle is pool.allocation_handle and handle.handle >= 0 and pool.uuid == handle.uuid
    assert core.DeviceMemoryResource.from_allocation_handle(0, handle) is pool
    assert core.DeviceMemoryResource.from_registry(handle.uuid) is pool
    twin = twin_of(pool)
    assert twin is not pool and twin.is_mapped and twin.is_ipc_enabled and not pool.is_mapped
    again = core.DeviceMemoryResource.from_allocation_handle(0, twin.allocation_handle)
    assert again is twin and twin.uuid not in (None, pool.uuid)
    with pytest.raises(
        TypeError, match="is a DeviceMemoryResource here, not a PinnedMemoryResource"
    ):
        core.PinnedMemoryResource.from_allocation_handle(handle)


def test_a_file_descriptor_is_closed_once(pool: Any) -> None:
    handle = pool.allocation_handle
    descriptor = int(handle)
    handle.close()
    handle.close()
    assert handle.handle == -1
    with pytest.raises(OSError):
        os.fstat(descriptor)
    with pytest.raises(ValueError, match=r"\(fd\) -1: must be non-negative"):
        IPCAllocationHandle._init(-1, None)
    with pytest.raises(core.CUDAError, match="cuMemPoolImportFromShareableHandle"):
        core.DeviceMemoryResource.from_allocation_handle(0, descriptor)


def test_names_of_pools_are_unique(pool: Any) -> None:
    name = uuid.uuid4()
    assert pool.register(name) is pool and pool.register(name) is pool
    with pytest.raises(ValueError, match=f"registered as {name} already"):
        pool.register(uuid.uuid4())
    with pytest.raises(RuntimeError, match="was not found; send it to this process first"):
        core.DeviceMemoryResource.from_registry(uuid.uuid4())


def test_a_buffer_is_opened_by_its_descriptor(pool: Any) -> None:
    buffer = pool.allocate(64)
    told = pickle.loads(pickle.dumps(buffer.ipc_descriptor))
    assert told == buffer.ipc_descriptor and told.size == 64 and hash(told)
    twin = core.Buffer.from_ipc_descriptor(twin_of(pool), told)
    assert (twin.handle, twin.size, twin.is_mapped) == (buffer.handle, 64, True)
    assert twin.ipc_descriptor == told
    twin.close(stream=core.Device().default_stream)


def test_memory_that_is_opened_twice_ends_with_the_last_buffer(mock: Any, pool: Any) -> None:
    buffer = pool.allocate(64)
    told = buffer.ipc_descriptor
    first, second = (core.Buffer.from_ipc_descriptor(twin_of(pool), told) for _ in range(2))
    before = mock.n_free
    first.close()
    assert mock.n_free == before and second.size == 64
    second.close()
    assert mock.n_free == before + 1


def test_queues_send_pools_with_their_buffers(pool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = pool.allocate(64)
    assert pickle.loads(pickle.dumps(pool)) is pool
    plain = pickle.dumps(buffer)
    with monkeypatch.context() as elsewhere, pytest.raises(RuntimeError, match="was not found"):
        elsewhere.setattr(_ipc, "_registry", {})
        pickle.loads(plain)
    assert pickle.loads(ForkingPickler.dumps(pool)) is pool
    twin = pickle.loads(ForkingPickler.dumps(buffer))
    assert (twin.handle, twin.memory_resource) == (buffer.handle, pool)


def test_a_buffer_of_another_process_can_be_sent_on_when_it_is_closed(pool: Any) -> None:
    buffer = pool.allocate(64)
    twin = core.Buffer.from_ipc_descriptor(twin_of(pool), buffer.ipc_descriptor)
    resource = twin.memory_resource
    twin.close()
    assert _ipc.reduce_buffer(twin)[1] == (resource, buffer.ipc_descriptor)
    del twin
    assert not _ipc._sendable


def test_threads_export_a_pool_once(pool: Any) -> None:
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        handles = set(threads.map(lambda _: pool.allocation_handle, range(64)))
    assert len(handles) == 1


def test_wrong_descriptors_are_refused(pool: Any, device: core.Device) -> None:
    payload = pool.allocate(64).ipc_descriptor._payload
    opened = core.Buffer.from_ipc_descriptor
    with pytest.raises(ValueError, match="payload is 63 bytes; expected at least 64"):
        opened(pool, IPCBufferDescriptor._init(payload[:63], 64))
    with pytest.raises(TypeError, match="an IPCBufferDescriptor is needed, not a bytes"):
        opened(pool, payload)
    with pytest.raises(core.CUDAError, match="cuMemPoolImportPointer"):
        opened(pool, IPCBufferDescriptor._init(bytes(64), 64))
    with pytest.raises(ValueError, match="5000 bytes exceeds the mapped allocation extent of 4096"):
        opened(twin_of(pool), IPCBufferDescriptor._init(payload, 5000))
    with pytest.raises(RuntimeError, match="not IPC-enabled"):
        opened(device.memory_resource, IPCBufferDescriptor._init(payload, 64))
    with pytest.raises(RuntimeError, match="not IPC-enabled"):
        _ = device.allocate(8).ipc_descriptor


def test_an_event_is_opened_by_its_descriptor(mock: Any, device: core.Device) -> None:
    event = device.create_stream().record(options={"ipc_enabled": True, "blocking_sync": True})
    before = mock.n_events
    twin = core.Event.from_ipc_descriptor(event.ipc_descriptor)
    assert mock.n_events == before + 1 and twin != event
    assert twin.is_ipc_enabled and twin.is_blocking_sync and not twin.is_timing_enabled
    assert twin.device is None and twin.context is None and event.device is device
    assert twin.ipc_descriptor == event.ipc_descriptor
    twin.close()
    assert mock.n_events == before
    with pytest.raises(ValueError, match="reserved field is 3 bytes; expected at least 64"):
        core.Event.from_ipc_descriptor(IPCEventDescriptor._init(b"abc", False))
    with pytest.raises(RuntimeError, match="Event is not IPC-enabled"):
        _ = device.create_event().ipc_descriptor
    with pytest.raises(TypeError, match="IPC-enabled events cannot use timing"):
        device.create_event({"ipc_enabled": True, "timing_enabled": True})
