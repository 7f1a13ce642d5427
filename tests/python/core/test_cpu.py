# SPDX-License-Identifier: Apache-2.0
"""The host objects on the CPU device."""

from __future__ import annotations

import asyncio
import ctypes
import threading
import time
from typing import Any

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from tessera import _core, core


@ct.kernel
def double_kernel(a, out):  # type: ignore[no-untyped-def]
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.load(a, index=(i,), shape=(16,)) * 2)


@pytest.fixture
def cpu() -> core.Device:
    return core.Device("cpu")


def test_there_is_one_device_for_each_thread(cpu: core.Device) -> None:
    assert (
        core.Device("cpu") is cpu
        and core.Device(cpu) is cpu
        and hash(cpu) == hash(core.Device("cpu"))
    )
    assert cpu.device_id == -1 and "cpu" in repr(cpu)


@pytest.mark.parametrize("bad", ["gpu", "cuda:x", 10**6, -1])
def test_unknown_devices_are_named(bad: Any) -> None:
    with pytest.raises((ValueError, RuntimeError), match=str(bad).lstrip("-")):
        core.Device(bad)


@pytest.mark.parametrize("bad", [0.9, [0], b"cpu"])
def test_what_is_no_number_of_a_device_is_not_rounded(bad: Any) -> None:
    with pytest.raises(TypeError, match="is not a device; use a number"):
        core.Device(bad)


def test_a_tile_kernel_runs_on_a_stream(cpu: core.Device) -> None:
    stream = cpu.create_stream()
    a, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    core.launch(stream, core.LaunchConfig(grid=4), double_kernel, a, out)
    stream.sync()
    np.testing.assert_array_equal(out, 2 * a)


def test_events_of_the_cpu_have_times(cpu: core.Device) -> None:
    stream = cpu.create_stream()
    begin, end = (stream.record(options={"timing_enabled": True}) for _ in range(2))
    end.sync()
    assert end.is_done and end - begin >= 0


@ct.kernel
def long_kernel(x):  # type: ignore[no-untyped-def]
    tile = ct.load(x, index=(0,), shape=(16,))
    for _ in range(100_000_000):
        tile = tile * 0.5 + 1
    ct.store(x, index=(0,), tile=tile)


@pytest.mark.parametrize("closed", ["stream", "event"])
def test_what_a_thread_waits_for_may_be_closed(cpu: core.Device, closed: str) -> None:
    used: dict[str, Any] = {"stream": cpu.create_stream()}
    core.launch(used["stream"], core.LaunchConfig(grid=1), long_kernel, np.zeros(16, np.float32))
    used["stream"].sync()
    x = cpu.allocate(64).view("float32")
    core.launch(used["stream"], core.LaunchConfig(grid=1), long_kernel, x)
    used["event"] = used["stream"].record()
    ended: list[int] = []
    threads = [
        threading.Thread(target=lambda: (used[closed].sync(), ended.append(1))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    time.sleep(0.02)
    used[closed].close()
    for thread in threads:
        thread.join()
    with pytest.raises(RuntimeError, match=f"the {closed} is closed"):
        used[closed].sync()
    assert len(ended) == 3


def test_memory_outlives_close_while_it_is_lent(cpu: core.Device) -> None:
    buffer = cpu.allocate(16)
    buffer.fill(5)
    view, array = memoryview(buffer), np.from_dlpack(buffer)
    buffer.close()
    assert view[0] == 5 and array[15] == 5 and buffer.handle == 0
    view.release()
    assert array[3] == 5


class Arrays(core.MemoryResource):
    """A resource of a user: ctypes arrays."""

    is_device_accessible, is_host_accessible, device_id = False, True, -1

    def __init__(self) -> None:
        self.live: dict[int, Any] = {}
        self.fails = False

    def allocate(self, size: int, *, stream: Any = None) -> core.Buffer:
        array = (ctypes.c_byte * size)()
        address = ctypes.addressof(array)
        self.live[address] = array
        return core.Buffer.from_handle(address, size, mr=self)

    def deallocate(self, ptr: int, size: int, *, stream: Any) -> None:
        if self.fails:
            raise OSError("no")
        del self.live[ptr]


def test_a_resource_of_a_user_is_asked_to_free(cpu: core.Device) -> None:
    resource = Arrays()
    with resource.allocate(8) as buffer:
        buffer.fill(1)
        assert bytes(buffer) == b"\1" * 8
    assert not resource.live
    dropped = resource.allocate(8)
    del dropped
    assert not resource.live


def test_a_resource_that_fails_to_free_is_a_warning() -> None:
    resource = Arrays()
    resource.fails = True
    buffer = resource.allocate(8)
    with pytest.warns(core.CUDAWarning, match="8 bytes .* was not given back: no"):
        buffer.close()


def test_pools_name_what_they_are_not_given(cpu: core.Device) -> None:
    pool = cpu.memory_resource
    with pytest.raises(TypeError, match=r"deallocate\(\) needs a size"):
        pool.deallocate(0)
    with pytest.raises(TypeError, match=r"deallocate\(\) needs the address"):
        pool.deallocate(size=8)
    with pytest.raises(ValueError, match="cannot allocate -1 bytes"):
        pool.allocate(-1)


def test_what_a_cpu_cannot_do_names_the_device(cpu: core.Device) -> None:
    for use in (
        lambda: cpu.properties,
        lambda: cpu.uuid,
        lambda: cpu.context,
        lambda: cpu.compute_capability,
    ):
        with pytest.raises(RuntimeError, match="the CPU device has no"):
            use()


def test_the_cpu_can_be_the_current_device(cpu: core.Device) -> None:
    cpu.set_current()
    try:
        assert core.Device() is cpu
    finally:
        _core._set_cpu_current(False)


def test_a_buffer_can_be_viewed_as_an_array(cpu: core.Device) -> None:
    buffer = cpu.allocate(64)
    array = buffer.view("int32", (2, 3))
    np.from_dlpack(array)[:] = 7
    assert array.shape == (2, 3) and bytes(buffer)[:4] == b"\7\0\0\0"
    buffer.close()
    assert array.numpy()[1, 2] == 7
    with pytest.raises(RuntimeError, match="the buffer is closed"):
        buffer.view()
    with pytest.raises(ValueError, match=r"shape \(2, 30\) .* does not fit 64 bytes"):
        cpu.allocate(64).view("float32", (2, 30))


def test_launch_attributes_reach_the_driver_s_form() -> None:
    from tessera.core._launch_config import _to_native_launch_config

    config = core.LaunchConfig(
        grid=(2, 3), block=32, priority=-1, programmatic_stream_serialization=True,
        attributes={"MEM_SYNC_DOMAIN": 1},
    )  # fmt: skip
    native = _to_native_launch_config(config)
    assert (native.gridDimX, native.gridDimY, native.blockDimX, native.numAttrs) == (2, 3, 32, 3)
    kinds = {attribute.id.name.removeprefix("CU_LAUNCH_ATTRIBUTE_") for attribute in native.attrs}
    assert kinds == {"PRIORITY", "PROGRAMMATIC_STREAM_SERIALIZATION", "MEM_SYNC_DOMAIN"}
    assert native.attrs[0].value.programmaticStreamSerializationAllowed == 1
    assert {config: 1}[core.LaunchConfig(**{"grid": (2, 3), "block": 32, "priority": -1,
            "programmatic_stream_serialization": True, "attributes": {"MEM_SYNC_DOMAIN": 1}})] == 1  # fmt: skip
    config.grid = 5
    assert config.grid == (5, 1, 1)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("shmem_size", -1, "shmem_size must be 0 or more bytes, not -1"),
        ("shmem_size", 2**32, "shmem_size must be 0 or more"),
        ("priority", 2**40, "PRIORITY: 1099511627776 does not fit 4 bytes"),
        ("block", 0, "must be 1 to 4294967295, not 0"),
    ],
)
def test_a_refused_field_of_a_launch_stays_as_it_was(field: str, value: int, message: str) -> None:
    config = core.LaunchConfig(grid=1, block=32, shmem_size=16, priority=-1)
    before = repr(config)
    with pytest.raises(ValueError, match=message):
        setattr(config, field, value)
    assert repr(config) == before


def test_a_with_block_waits_for_its_stream(cpu: core.Device) -> None:
    x = cpu.allocate(64).view("float32")
    for make in (cpu.create_stream, lambda: tessera.Stream("cpu")):
        with make() as stream:
            core.launch(stream, core.LaunchConfig(grid=1), long_kernel, x)
            marked = stream.record()
        assert marked.is_done
        with pytest.raises(KeyError, match="body"), stream:
            raise KeyError("body")
        with stream:
            stream.close()
        with pytest.raises(RuntimeError, match="the stream is closed"), stream:
            pass


def test_what_is_no_kernel_and_no_array_is_named(cpu: core.Device) -> None:
    with pytest.raises((TypeError, RuntimeError, ValueError)):
        core.launch(cpu.create_stream(), core.LaunchConfig(grid=1), _core.NativeKernel(), object())
    with pytest.raises(TypeError, match="an array is wanted, found object"):
        _core.copy_of(object())
    with pytest.raises(TypeError, match="shmem_size must be an int, not float"):
        core.LaunchConfig(grid=1, shmem_size=16.5)


def test_launch_attributes_have_the_driver_s_names() -> None:
    for name in ("priority", "CU_LAUNCH_ATTRIBUTE_PRIORITY"):
        core.LaunchConfig(grid=1, attributes={name: 1})
    with pytest.raises(ValueError, match="no launch attribute is called 'PRIORTY'"):
        core.LaunchConfig(grid=1, attributes={"PRIORTY": 1})


def test_short_forms(cpu: core.Device) -> None:
    device = core.Device("cpu").use()
    assert device is cpu and core.Device() is cpu
    x = np.arange(16, dtype=np.float32)
    memory = device.mem_alloc(x.nbytes)
    memory.copy_from_host(x)
    device.synchronize()
    back = np.zeros_like(x)
    assert memory.copy_to_host(back) is back and (back == x).all()
    for wrong, words in ((x[::2], "must be contiguous"), (x[:3], "the source has 12 bytes")):
        with pytest.raises(ValueError, match=words):
            memory.copy_from_host(wrong)
    with pytest.raises(ValueError, match="the host memory is read-only"):
        memory.copy_to_host(x.tobytes())


class Closing:
    """Ends an object of ours at the moment when it is asked for its own data."""

    def __init__(self, victim: Any, array: Any = None) -> None:
        self.victim, self.array = victim, array

    def __cuda_stream__(self) -> tuple[int, int]:
        self.victim.close()
        return 0, 0

    def __dlpack__(self, **options: Any) -> Any:
        self.victim.close()
        return self.array.__dlpack__(**options)


def test_what_is_closed_by_a_foreign_stream_is_not_used(cpu: core.Device) -> None:
    buffer, event, pool = cpu.allocate(16), cpu.create_event(), core.DeviceMemoryResource(cpu)
    stream = cpu.create_stream()
    for use, words in (
        (lambda: buffer.fill(0, stream=Closing(buffer)), "the buffer is closed"),
        (lambda: event.record(Closing(event)), "the event is closed"),
        (lambda: stream.wait(Closing(stream)), "the stream is closed"),
        (lambda: pool.allocate(16, stream=Closing(pool)), "the memory resource is closed"),
    ):
        with pytest.raises(RuntimeError, match=words):
            use()


def test_a_stream_that_an_argument_closes_is_not_used(cpu: core.Device) -> None:
    config, out = core.LaunchConfig(grid=1), np.zeros(16, np.float32)
    for launch in (
        lambda stream, array: core.launch(stream, config, double_kernel, array, out),
        lambda stream, array: ct.launch(stream, (1,), double_kernel, (array, out)),
    ):
        stream = cpu.create_stream()
        with pytest.raises(RuntimeError, match="the stream is closed"):
            launch(stream, Closing(stream, np.ones(16, np.float32)))
    assert not out.any()


def test_numbers_of_devices_are_not_cut() -> None:
    for number in (-1, 2**16, 2**16 + 1):
        with pytest.raises(ValueError, match=f"{number} is not the number of a device"):
            _core.Event._create(number, 0)


class HasHandle:
    handle = "0x10"


def test_a_handle_that_is_none_is_named(cpu: core.Device) -> None:
    with pytest.raises(TypeError, match="HasHandle is not a stream: its attribute 'handle' is '0x1"):
        cpu.allocate(16, stream=HasHandle())


def test_memory_of_no_dtype_is_named() -> None:
    characters = memoryview(b"text").cast("c")
    with pytest.raises(TypeError, match="argument 'a': is a memoryview whose elements are of no"):
        ct.launch(None, (1,), double_kernel, (characters, np.zeros(16, np.float32)))


def test_launch_options_that_are_zero_count() -> None:
    plain, lowest = core.LaunchConfig(grid=1), core.LaunchConfig(grid=1, priority=0)
    assert plain != lowest and "priority=0" in repr(lowest) and "priority" not in repr(plain)


def test_a_grid_beyond_the_driver_is_named() -> None:
    with pytest.raises(ValueError, match="each of LaunchConfig.grid must be 1 to 4294967295, not"):
        core.LaunchConfig(grid=2**32)


@ct.kernel
def twice_kernel(x):  # type: ignore[no-untyped-def]
    i = ct.bid(0)
    ct.store(x, index=(i,), tile=ct.load(x, index=(i,), shape=(16,)) * 2)


def _launch(cpu: core.Device, buffer: core.Buffer) -> None:
    core.launch(cpu.create_stream(), core.LaunchConfig(grid=4), twice_kernel, buffer)


def _await_call(cpu: core.Device, buffer: core.Buffer) -> None:
    asyncio.run(twice_kernel.async_call(buffer, grid=4))


@pytest.mark.parametrize("run", [_launch, _await_call])
def test_a_buffer_is_no_array_of_a_tile_kernel(cpu: core.Device, run: Any) -> None:
    buffer = cpu.allocate(256)
    words = r"kernel 'twice_kernel', argument 'x': is a Buffer .*pass buffer.view\('float32'\)"
    with pytest.raises(TypeError, match=words):
        run(cpu, buffer)
    buffer.close()
    with pytest.raises(RuntimeError, match="the buffer is closed"):
        run(cpu, buffer)


@pytest.mark.parametrize(
    "use",
    [
        lambda cpu, stream: cpu.allocate(64, stream=stream),
        lambda cpu, stream: cpu.allocate(64).close(stream=stream),
        lambda cpu, stream: cpu.memory_resource.allocate(64, stream=stream),
        lambda cpu, stream: cpu.allocate(64).fill(0, stream=stream),
    ],
    ids=["allocate", "close", "pool", "fill"],
)
def test_a_raw_handle_is_no_stream_of_the_cpu(cpu: core.Device, use: Any) -> None:
    with pytest.raises(ValueError, match="handle 0x7 is not a stream of the CPU device"):
        use(cpu, 7)


def test_the_default_streams_of_the_driver_are_the_cpu_s_too(cpu: core.Device) -> None:
    for stream in (core.LEGACY_DEFAULT_STREAM, core.PER_THREAD_DEFAULT_STREAM, 0, 1, 2):
        cpu.allocate(64, stream=stream).close(stream=stream)


@pytest.mark.parametrize(
    ("use", "error", "words"),
    [
        (lambda cpu: cpu.allocate(10.5), TypeError, r"allocate\(\) .* not as the float 10.5"),
        (lambda cpu: cpu.allocate("10"), TypeError, r"allocate\(\) .* not as the str '10'"),
        (lambda cpu: cpu.allocate(1 << 70), OverflowError, f"cannot allocate {1 << 70} bytes"),
        (lambda cpu: cpu.allocate(8).fill(), TypeError, r"fill\(\) needs a value"),
        (lambda cpu: cpu.allocate(8).fill(np.zeros(2)), ValueError, "the 16 of a numpy.ndarray"),
        (
            lambda cpu: core.launch(None, core.LaunchConfig(grid=1), twice_kernel, x=1),
            TypeError,
            r"launch\(\) takes no argument by name: pass 'x' by position",
        ),
    ],
)
def test_messages_name_the_call_and_the_value(
    cpu: core.Device, use: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        use(cpu)


def _copy_awaited(cpu: core.Device) -> None:
    asyncio.run(cpu.allocate(8).async_copy_from([1] * 8))


@pytest.mark.parametrize(
    ("use", "error", "words"),
    [
        (lambda cpu: cpu.allocate(8).view("u1", "x"), TypeError, r"view\(\): shape .* not 'x'"),
        (lambda cpu: cpu.allocate(8).view("u1", (1.5,)), TypeError, r"view\(\): shape .*1.5"),
        (lambda cpu: cpu.allocate(8).copy_from_host([1] * 8), TypeError, r"a list; use np.asarray"),
        (_copy_awaited, TypeError, r"a list; use np.asarray"),
        (
            lambda cpu: cpu.allocate(8).copy_from_host(np.ones((8, 2), np.uint8)[:, 0]),
            ValueError,
            "must be contiguous; use np.ascontiguousarray",
        ),
        (lambda cpu: core.Device(1.5), TypeError, "1.5 is not a device; use a number"),
        (lambda cpu: core.Device(True), TypeError, "True is not a device; use a number"),
        (lambda cpu: core.Device(-1), ValueError, r"device_id .*Device\('cpu'\)"),
        (lambda cpu: core.Device("cuda:99"), ValueError, r"device_id .*Device\('cpu'\)"),
        (lambda cpu: cpu.memory_resource.attributes, RuntimeError, "CPU device has no attributes"),
        (lambda cpu: cpu.can_access_peer(0), RuntimeError, "the CPU device has no peers"),
        (
            lambda cpu: core.DeviceMemoryResource(cpu, {"max_size": 100}),
            RuntimeError,
            "the CPU device has no pools of their own.*max_size=100",
        ),
        (lambda cpu: core.LaunchConfig(gird=4), TypeError, "no option 'gird'; did you mean 'grid'"),
        (
            lambda cpu: core.ProgramOptions(archh="sm_90"),
            TypeError,
            "no option 'archh'; did you mean 'arch'",
        ),
    ],
)
def test_messages_name_the_value_and_the_way_out(
    cpu: core.Device, use: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        use(cpu)


@pytest.mark.parametrize("option", ["cluster", "is_cooperative"])
def test_launch_options_of_gpus_are_named_on_the_cpu(cpu: core.Device, option: str) -> None:
    cpu.set_current()
    try:
        with pytest.raises(RuntimeError, match=f"the CPU device has no .*LaunchConfig.{option}"):
            core.LaunchConfig(grid=1, **{option: 1})
    finally:
        _core._set_cpu_current(False)


def test_what_a_cpu_cannot_do_tells_why_there_is_no_gpu(cpu: core.Device) -> None:
    with pytest.raises(RuntimeError, match="no compute capability; no GPU was found: .*driver"):
        _ = core.Device().compute_capability


def test_numpy_s_short_names_are_dtypes(cpu: core.Device) -> None:
    buffer = cpu.allocate(8)
    for name in ("u1", "i2", "f4", "i8", "f8"):
        assert buffer.view(name).numpy().dtype == np.dtype(name)
    for name in ("f1", "f3", "i9", "x4"):
        with pytest.raises(TypeError, match=f"'{name}' is not a dtype"):
            buffer.view(name)
