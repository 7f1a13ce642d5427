# SPDX-License-Identifier: Apache-2.0
"""Pools of the host and of managed memory, what pools tell of themselves, and memory of graphs."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import pytest
from tessera import core
from tessera.bindings import driver
from tessera.core.utils import discard_batch, discard_prefetch_batch, prefetch_batch

DEVICE, HOST, HOST_NUMA = 1, 2, 3


def props(mock: Any) -> Any:
    made = driver.CUmemPoolProps()
    room = memoryview(made)
    room[:] = ctypes.string_at(ctypes.addressof(mock) + type(mock).pool_props.offset, room.nbytes)
    return made


# ---- pools of the host


def test_page_locked_pools(mock: Any, device: core.Device) -> None:
    shared = core.PinnedMemoryResource()
    assert not shared.is_handle_owned and shared.numa_id == -1 and shared.device_id == -1
    device.allocate(8).close()  # the device has a pool of its own from its first use on
    before = mock.n_pools
    own = core.PinnedMemoryResource({"max_size": 1 << 20, "numa_id": 1})
    told = props(mock)
    assert mock.n_pools == before + 1 and own.is_handle_owned and own.numa_id == 1
    assert (int(told.location.type), told.location.id, told.maxSize) == (HOST_NUMA, 1, 1 << 20)
    with own.allocate(64, stream=device.default_stream) as buffer:
        assert buffer.is_host_accessible and buffer.is_device_accessible and not buffer.is_managed
        assert buffer.__dlpack_device__() == (3, 0)
    own.close()
    gc.collect()
    assert mock.n_pools == before
    with pytest.raises(ValueError, match="numa_id must be >= 0, not -3"):
        core.PinnedMemoryResource({"numa_id": -3})


@pytest.mark.parametrize(
    ("options", "place", "preferred"),
    [
        ({"preferred_location": 1}, (DEVICE, 1), ("device", 1)),
        ({"preferred_location": -1}, (HOST, 0), ("host", None)),
        ({"preferred_location_type": "host"}, (HOST, 0), ("host", None)),
        ({"preferred_location_type": "host_numa", "preferred_location": 2}, (HOST_NUMA, 2),
         ("host_numa", 2)),
    ],
)  # fmt: skip
def test_managed_pools_prefer_a_place(
    mock: Any, device: core.Device, options: Any, place: Any, preferred: Any
) -> None:
    resource = core.ManagedMemoryResource(options)
    told = props(mock)
    assert (int(told.location.type), told.location.id) == place
    assert resource.preferred_location == preferred and resource.is_managed
    assert isinstance(resource.allocate(8, stream=device.default_stream), core.ManagedBuffer)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"preferred_location": -2}, "a device ordinal, -1 .the host. or None, not -2"),
        ({"preferred_location_type": "device"}, "a device ordinal for 'device', not None"),
        ({"preferred_location_type": "host", "preferred_location": 1}, "None for 'host', not 1"),
        ({"preferred_location_type": "host_numa", "preferred_location": -1}, "not -1"),
        ({"preferred_location_type": "moon"}, "moon"),
    ],
)
def test_places_that_are_none(device: core.Device, options: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        core.ManagedMemoryResource(options)


# ---- advice


@pytest.fixture
def managed(device: core.Device) -> core.ManagedBuffer:
    return core.ManagedMemoryResource().allocate(64, stream=device.default_stream)  # type: ignore[return-value]


def test_advice_is_kept_by_the_driver(managed: core.ManagedBuffer) -> None:
    managed.read_mostly = True
    assert managed.read_mostly is True
    managed.read_mostly = False
    assert managed.read_mostly is False
    for place in (
        core.Device(1),
        core.Host(),
        core.Host(numa_id=3),
        core.Host.numa_current(),
        None,
    ):
        managed.preferred_location = place
        assert managed.preferred_location == place
    with pytest.raises(TypeError, match="location must be a Device, Host, or None, not int"):
        managed.preferred_location = 1  # type: ignore[assignment]


def test_who_keeps_a_mapping_is_a_set(managed: core.ManagedBuffer) -> None:
    first, second, host = core.Device(0), core.Device(1), core.Host()
    managed.accessed_by.add(first)
    managed.accessed_by |= {host}
    assert set(managed.accessed_by) == {first, host} and first in managed.accessed_by
    managed.accessed_by = [second]
    assert list(managed.accessed_by) == [second] and len(managed.accessed_by) == 1
    managed.accessed_by.discard(first)
    managed.accessed_by.discard(second)
    assert set(managed.accessed_by) == set() and repr(managed.accessed_by) == "AccessedBy({})"
    with pytest.raises(ValueError, match="does not support location_type='host_numa'"):
        managed.accessed_by = [first, core.Host(numa_id=0)]
    assert set(managed.accessed_by) == set()


def test_memory_moves_and_is_discarded(managed: core.ManagedBuffer, device: core.Device) -> None:
    stream = device.create_stream()
    managed.prefetch(core.Device(1), stream=stream)
    assert managed.last_prefetch_location == core.Device(1)
    managed.prefetch(core.Host(), stream=stream)
    assert managed.last_prefetch_location == core.Host()
    managed.fill(7)
    managed.discard(stream=stream)
    assert bytes(managed) == bytes(64)
    managed.discard_prefetch(device, stream=stream)
    assert managed.last_prefetch_location == device
    with pytest.raises(ValueError, match="location is required"):
        managed.prefetch(None, stream=stream)  # type: ignore[arg-type]
    managed.close()
    with pytest.raises(RuntimeError, match="the buffer is closed"):
        managed.prefetch(device, stream=stream)


def test_many_buffers_at_once(device: core.Device) -> None:
    resource, stream = core.ManagedMemoryResource(), device.create_stream()
    a, b = (resource.allocate(8, stream=stream) for _ in range(2))
    prefetch_batch(stream, [a, b], core.Device(1))
    assert b.last_prefetch_location == core.Device(1)  # type: ignore[attr-defined]
    discard_prefetch_batch(stream, [a, b], [core.Device(1), core.Host()])
    assert b.last_prefetch_location == core.Host()  # type: ignore[attr-defined]
    discard_batch(stream, [a, b])
    discard_prefetch_batch(stream, [], core.Host())
    for buffers, places, error, words in (
        (a, device, TypeError, "a sequence of Buffers is needed, not a ManagedBuffer"),
        ([a, 3], device, TypeError, "it has a int"),
        ([a, b], [device], ValueError, "length of the locations is 1, but there are 2 buffers"),
    ):
        with pytest.raises(error, match=words):
            prefetch_batch(stream, buffers, places)
    with pytest.raises(TypeError, match="stream is required"):
        discard_batch(None, [a])


# ---- what pools tell


def test_attributes_of_a_pool(device: core.Device) -> None:
    told = core.DeviceMemoryResource(device, {"max_size": 1 << 20}).attributes
    told.release_threshold = 4096
    told.reuse_allow_opportunistic = True
    assert told.release_threshold == 4096 and told.reuse_allow_opportunistic is True
    told.used_mem_high = 0
    assert told.used_mem_high == 0 and "release_threshold=4096" in repr(told)
    with pytest.raises(
        AttributeError, match="'used_mem_current' of 'PoolAttributes' .* not writable"
    ):
        told.used_mem_current = 1
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        type(told)()


def test_peers_are_a_set_and_one_call(mock: Any, device: core.Device) -> None:
    mock.has_peers = 1
    resource = core.DeviceMemoryResource(device)
    other = core.Device(1)
    before = mock.n_access_calls
    resource.peer_accessible_by = [device, 1]
    assert set(resource.peer_accessible_by) == {other} and 1 in resource.peer_accessible_by
    assert mock.n_access_calls == before + 1
    resource.peer_accessible_by.discard(other)
    assert other not in resource.peer_accessible_by and device not in resource.peer_accessible_by
    resource.peer_accessible_by.update([other], [1])
    assert mock.n_access_calls == before + 3
    resource.peer_accessible_by.clear()
    assert len(resource.peer_accessible_by) == 0
    mock.has_peers = 0
    with pytest.raises(ValueError, match="Device 1 cannot access peer memory of device 0"):
        resource.peer_accessible_by.add(other)
    with pytest.raises(ValueError, match="device_id must be 0 to 1"):
        resource.peer_accessible_by = [7]


# ---- memory of graphs


def test_memory_of_a_graph_lives_in_it(mock: Any, device: core.Device) -> None:
    resource = core.GraphMemoryResource(device)
    assert resource is core.GraphMemoryResource(0) and resource.device_id == 0
    stream, out = device.create_stream(), mock.bytes_out
    with pytest.raises(RuntimeError, match="on a non-capturing stream"):
        resource.allocate(64, stream=stream)
    builder = device.create_graph_builder().begin_building()
    buffer = resource.allocate(64, stream=builder)
    buffer.fill(5, stream=builder)
    address = buffer.handle
    buffer.close(stream=builder)
    definition = builder.end_building().graph_definition
    names = sorted(type(node).__name__ for node in definition.nodes())
    assert names == ["AllocNode", "FreeNode", "MemsetNode"] and mock.bytes_out == out
    builder.complete().launch(stream)
    assert ctypes.string_at(address, 64) == b"\5" * 64


def test_attributes_of_memory_of_graphs(mock: Any, device: core.Device) -> None:
    resource, before = core.GraphMemoryResource(device), mock.n_trims
    assert resource.attributes.used_mem_high == 1
    resource.attributes.used_mem_high = 0
    assert resource.attributes.used_mem_high == 0
    with pytest.raises(AttributeError, match=r"may only be set to zero \(got 5\)"):
        resource.attributes.used_mem_high = 5
    resource.trim()
    assert mock.n_trims == before + 1
