# SPDX-License-Identifier: Apache-2.0
"""Memory resources of a GPU: what the driver is asked for, and what is undone when it refuses."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from tessera import core

Counts = tuple[int, int, int]


def counts(mock: Any) -> Counts:
    return mock.n_reserved, mock.n_physical, mock.n_mapped


@pytest.fixture
def virtual(mock: Any, device: core.Device) -> core.VirtualMemoryResource:
    mock.vmm_is_adjacent = mock.vmm_failures = 0
    return core.VirtualMemoryResource(device)


def test_virtual_memory_grows_in_place_where_it_can(mock: Any, virtual: Any) -> None:
    before, mock.vmm_is_adjacent = counts(mock), 1
    buffer = virtual.allocate(1000)
    address = buffer.handle
    assert buffer.size == 1 << 16 and buffer.device_id == 0
    assert virtual.modify_allocation(buffer, 1 << 17) is buffer
    assert (buffer.handle, buffer.size) == (address, 1 << 17)
    assert virtual.modify_allocation(buffer, 5) is buffer and buffer.size == 1 << 17
    buffer.close()
    assert counts(mock) == before


def test_virtual_memory_moves_where_it_must(mock: Any, virtual: Any) -> None:
    before = counts(mock)
    buffer = virtual.allocate(1 << 16)
    address = buffer.handle
    virtual.modify_allocation(buffer, 1 << 18)
    assert buffer.handle != address and buffer.size == 1 << 18
    buffer.close()
    assert counts(mock) == before


@pytest.mark.parametrize("is_adjacent", [0, 1])
def test_growing_that_fails_changes_nothing(mock: Any, virtual: Any, is_adjacent: int) -> None:
    before = counts(mock)
    buffer = virtual.allocate(1 << 16)
    held, place = counts(mock), (buffer.handle, buffer.size)
    mock.vmm_is_adjacent, mock.vmm_failures = is_adjacent, 9
    with pytest.raises(core.CUDAError, match="OUT_OF_MEMORY"):
        virtual.modify_allocation(buffer, 1 << 18, config={"self_access": "r"})
    assert (buffer.handle, buffer.size) == place and counts(mock) == held
    assert virtual.config.self_access == "rw"
    mock.vmm_failures = 0
    buffer.close()
    assert counts(mock) == before


@pytest.mark.parametrize("failures", [1, 2])
def test_an_allocation_that_fails_leaves_nothing(mock: Any, virtual: Any, failures: int) -> None:
    before, mock.vmm_failures = counts(mock), failures
    for _ in range(failures):
        with pytest.raises(core.CUDAError, match="cuMemMap.*OUT_OF_MEMORY"):
            virtual.allocate(1 << 16)
        assert counts(mock) == before
    virtual.allocate(1 << 16).close()
    assert counts(mock) == before


def test_growing_what_is_lent_or_foreign_is_refused(virtual: Any, device: core.Device) -> None:
    buffer = virtual.allocate(1 << 16)
    capsule = buffer.__dlpack__()
    with pytest.raises(BufferError, match="is lent .* and cannot move"):
        virtual.modify_allocation(buffer, 1 << 18)
    assert buffer.size == 1 << 16
    del capsule
    virtual.modify_allocation(buffer, 1 << 18)
    other = core.VirtualMemoryResource(device)
    for foreign in (buffer, device.allocate(8)):
        with pytest.raises(ValueError, match="the buffer is not of this resource"):
            other.modify_allocation(foreign, 1 << 20)
    buffer.close()
    with pytest.raises(ValueError, match="the buffer is not of this resource"):
        virtual.modify_allocation(buffer, 1 << 20)


def test_options_of_virtual_memory_are_checked(virtual: Any) -> None:
    virtual.config.granularity = "tiny"
    with pytest.raises(ValueError, match="Unsupported granularity: 'tiny'; it is one of 'minimum'"):
        virtual.allocate(1)
    with pytest.raises(ValueError, match="is not of this resource"):
        virtual.deallocate(4096, 1)


def test_page_locked_memory_is_lent_to_the_host(device: core.Device) -> None:
    with core.LegacyPinnedMemoryResource().allocate(16) as buffer:
        buffer.fill(3)
        assert bytes(memoryview(buffer)) == b"\3" * 16
        assert buffer.is_device_accessible and buffer.device_id == -1
    with pytest.raises(RuntimeError, match="not bound to any GPU"):
        _ = core.LegacyPinnedMemoryResource().device_id


def test_a_pool_that_was_closed_says_so(device: core.Device) -> None:
    resource = core.DeviceMemoryResource(device, {"max_size": 1 << 20})
    assert resource.is_handle_owned
    resource.close()
    with pytest.raises(RuntimeError, match="the memory resource is closed"):
        resource.allocate(8)


@pytest.mark.parametrize("size", [-1, 2**63, "8", 1.5])
def test_bad_sizes_are_refused(mock: Any, device: core.Device, size: Any) -> None:
    before = mock.n_alloc
    with pytest.raises((ValueError, TypeError, OverflowError)):
        device.allocate(size)
    assert mock.n_alloc == before


def test_a_pool_does_not_allocate_while_its_stream_captures(mock: Any, device: core.Device) -> None:
    stream, pool = device.create_stream(), core.DeviceMemoryResource(device)
    mock.is_capturing = 1
    with pytest.raises(RuntimeError, match="on a capturing stream .consider using GraphMemory"):
        pool.allocate(1, stream=stream)
    mock.is_capturing = 0
    pool.allocate(1, stream=stream).close()


def test_memory_that_was_freed_behind_a_buffer_is_a_warning(device: core.Device) -> None:
    buffer = device.allocate(64)
    device.memory_resource.deallocate(buffer.handle, buffer.size)
    with pytest.warns(core.CUDAWarning, match="64 bytes .* was not given back"):
        buffer.close()


def test_pools_are_not_pickled_without_ipc(device: core.Device) -> None:
    import pickle

    for thing in (device.memory_resource, device.allocate(8)):
        with pytest.raises(RuntimeError, match="Memory resource is not IPC-enabled"):
            pickle.dumps(thing)
    assert pickle.loads(pickle.dumps(device)) is device


def test_a_buffer_may_be_of_nobody(device: core.Device) -> None:
    array = (ctypes.c_byte * 4)(1, 2, 3, 4)
    buffer = core.Buffer.from_handle(ctypes.addressof(array), 4, owner=array)
    assert buffer.owner is array and buffer.memory_resource is None
    with pytest.raises(ValueError, match="cannot be both specified together"):
        core.Buffer.from_handle(1, 1, mr=device.memory_resource, owner=array)
    with pytest.raises(ValueError, match="cannot have -1 bytes"):
        core.Buffer.from_handle(1, -1)


def test_memory_of_the_host_alone_is_not_given_to_the_driver(mock: Any, device: core.Device) -> None:
    """A real driver refuses its address; the mock would not notice, so it refuses everything here."""

    class Host(core.MemoryResource):
        is_device_accessible, is_host_accessible, device_id = False, True, -1

        def allocate(self, size: int, *, stream: Any = None) -> core.Buffer:
            self.kept = (ctypes.c_byte * size)()
            return core.Buffer.from_handle(ctypes.addressof(self.kept), size, mr=self)

        def deallocate(self, ptr: int, size: int, *, stream: Any) -> None:
            self.freed = size

    resource, copies = Host(), Host()
    buffer, copy = resource.allocate(8), copies.allocate(8)
    mock.sticky = 700
    buffer.fill(3)
    copy.copy_from(buffer)
    assert bytes(copy) == b"\3" * 8
    mock.sticky = 0
    buffer.close()
    assert resource.freed == 8
