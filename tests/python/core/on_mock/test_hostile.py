# SPDX-License-Identifier: Apache-2.0
"""What users do wrong, and what goes wrong under them: a clear exception, and nothing hangs."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import tessera
import tessera.tile as ct
from tessera import KernelError, core
from tessera.core.graph import GraphDefinition


@ct.kernel
def double_kernel(x):  # type: ignore[no-untyped-def]
    ct.store(x, index=(0,), tile=ct.load(x, index=(0,), shape=(16,)) * 2)


def test_a_stream_of_another_device_is_refused(
    mock: Any, device: core.Device, make_kernel: Any
) -> None:
    other = core.Device(1).create_stream()
    with pytest.raises(ValueError, match="the stream belongs to another device"):
        device.memory_resource.allocate(8, stream=other)
    with pytest.raises(ValueError, match="the stream belongs to another device"):
        device.create_event().record(other)


def test_work_for_one_device_is_refused_on_a_stream_of_another(
    mock: Any, device: core.Device, make_kernel: Any
) -> None:
    buffer, event = device.allocate(8), device.create_event()
    other = core.Device(1).create_stream()
    before = mock.n_launches
    for use in (
        lambda: buffer.copy_to(stream=other),  # which allocates
        lambda: buffer.close(stream=other),
        lambda: other.record(event),
    ):
        with pytest.raises(ValueError, match="the stream belongs to another device"):
            use()
    assert mock.n_launches == before and buffer.handle


def test_closed_objects_say_so_wherever_they_are_used(
    device: core.Device, make_kernel: Any
) -> None:
    stream, event = device.create_stream(), device.create_event()
    buffer, other = device.allocate(8), device.allocate(8)
    buffer.close()
    event.close()
    for use in (
        lambda: other.copy_to(buffer),
        lambda: other.copy_from(buffer),
        lambda: buffer.view(),
        lambda: core.launch(stream, core.LaunchConfig(1, block=1), make_kernel(8), buffer),
    ):
        with pytest.raises((RuntimeError, BufferError), match="closed"):
            use()
    for use in (lambda: stream.wait(event), lambda: stream.record(event), event.sync):
        with pytest.raises(RuntimeError, match="the event is closed"):
            use()


def test_a_fault_names_the_kernel_and_is_a_cuda_error(
    mock: Any, device: core.Device, make_kernel: Any
) -> None:
    stream = device.create_stream()
    core.launch(stream, core.LaunchConfig(grid=1, block=1), make_kernel())
    mock.sticky = 700
    with pytest.raises(
        core.CUDAError, match="CUDA_ERROR_ILLEGAL_ADDRESS.*kernel 'scale'"
    ) as caught:
        stream.sync()
    assert isinstance(caught.value, KernelError) and int(caught.value.code) == 700
    with pytest.raises(core.CUDAError, match="cannot be used since"):
        device.allocate(8)
    mock.sticky = 0
    from tessera import reset

    reset("cuda:0")
    with pytest.raises(RuntimeError, match="before its device was reset"):
        stream.record(core.Device(0).create_event())


def test_buffers_of_before_a_reset_say_so(device: core.Device) -> None:
    from tessera import reset

    buffer = device.allocate(8)
    reset("cuda:0")
    with pytest.raises(RuntimeError, match="lost when its device was reset"):
        buffer.fill(0)
    buffer.close()


def test_threads_share_a_stream(mock: Any, device: core.Device, make_kernel: Any) -> None:
    stream, kernel, config = (
        device.create_stream(),
        make_kernel(8),
        core.LaunchConfig(grid=1, block=1),
    )
    failures: list[BaseException] = []

    def work() -> None:
        try:
            core.Device(0).set_current()
            for i in range(200):
                core.launch(stream, config, kernel, i)
                stream.wait(stream.record())
        except BaseException as failure:
            failures.append(failure)

    before = mock.n_launches
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and mock.n_launches <= before + 1600


def in_child(use: Callable[[], object]) -> str:
    """What a use raises in a child of fork()."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            use()
        except Exception as failure:
            os.write(writing, f"{type(failure).__name__}: {failure}".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def _launch(kind: str, device: core.Device, make_kernel: Any) -> Any:
    """A call that launches a kernel of the driver, or a tile kernel, on a stream."""
    if kind == "native":
        native = make_kernel()
        return lambda stream: core.launch(stream, core.LaunchConfig(grid=1), native)
    array = tessera.zeros((16,), "float32", device="cuda:0")
    return lambda stream: ct.launch(stream, (1,), double_kernel, (array,))


@pytest.mark.parametrize("kind", ["native", "tile"])
def test_python_goes_on_while_a_launch_waits(
    mock: Any, device: core.Device, make_kernel: Any, kind: str
) -> None:
    launch, stream = _launch(kind, device, make_kernel), device.create_stream()
    launch(stream)
    mock.is_full = 1
    threading.Timer(0.05, setattr, (mock, "is_full", 0)).start()
    launch(stream)


def test_a_stream_that_is_closed_in_use_ends_behind_it(
    mock: Any, device: core.Device, make_kernel: Any
) -> None:
    launch, stream = _launch("native", device, make_kernel), device.create_stream()
    launch(stream)
    before, launches = mock.n_streams, mock.n_launches
    mock.is_full = 1
    threads = [threading.Thread(target=launch, args=(stream,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    stream.close()
    with pytest.raises(RuntimeError, match="the stream is closed"):
        launch(stream)
    assert (mock.n_streams, mock.n_launches) == (before, launches)
    mock.is_full = 0
    for thread in threads:
        thread.join()
    assert (mock.n_streams, mock.n_launches) == (before - 1, launches + 3)


def test_a_child_of_fork_is_told(device: core.Device, make_kernel: Any) -> None:
    stream, event, buffer = device.create_stream(), device.create_event(), device.allocate(8)
    kernel, config = make_kernel(), core.LaunchConfig(grid=1, block=1)

    async def wait() -> None:
        await stream

    for use in (
        stream.record,
        stream.sync,
        event.sync,
        lambda: buffer.fill(0),
        lambda: buffer.copy_to(stream=stream),
        lambda: device.allocate(8),
        lambda: core.launch(stream, config, kernel),
        lambda: asyncio.run(wait()),
        device.create_stream,
    ):
        text = in_child(use)
        assert "before fork()" in text and "RuntimeError" in text, text


ALIVE = """
import asyncio, ctypes, os
from tessera import core
from tessera.core.graph import GraphDefinition
from tessera.core.texture import ResourceDescriptor
class Box: pass
x = Box()
d = core.Device(0); d.set_current()
x.stream = d.create_stream(); x.buffer = d.allocate(64, stream=x.stream)
x.event = x.stream.record(); x.view = core.Buffer.from_handle(1, 1)
x.builder = d.create_graph_builder().begin_building()
x.definition = GraphDefinition(); x.node = x.definition.callback(lambda: x)
x.graph = x.definition.instantiate(); x.graph.launch(x.stream)
x.array = d.create_opaque_array({"shape": (4,), "format": "uint8"})
x.texture = d.create_texture_object(resource=ResourceDescriptor.from_opaque_array(x.array))
x.pool = core.DeviceMemoryResource(d, {"ipc_enabled": True}); x.handle = x.pool.allocation_handle
x.kernel = core.ObjectCode.from_ptx(b"ptx").get_kernel("scale")
library = ctypes.CDLL(os.environ["TESSERA_CUDA_DRIVER"])
ctypes.c_int.in_dll(library, "mock_hold").value = 1
async def main():
    x.task = asyncio.ensure_future(x.kernel[core.LaunchConfig(grid=1, block=1)].async_call())
    await asyncio.sleep(0)
x.loop = asyncio.new_event_loop()
x.loop.run_until_complete(main())
x.task._log_destroy_pending = False
"""


@pytest.mark.parametrize("cycle", ["", "x.me = x"])
def test_a_program_may_end_with_everything_alive(cycle: str) -> None:
    """Module globals, reference cycles and work in flight are torn down without a word."""
    run = subprocess.run(
        [sys.executable, "-c", ALIVE + cycle],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")


def test_an_exception_of_a_users_resource_arrives(device: core.Device) -> None:
    class Failing(core.MemoryResource):
        is_device_accessible, is_host_accessible, device_id = True, False, 0

        def allocate(self, size: int, *, stream: Any = None) -> core.Buffer:
            raise ZeroDivisionError("in allocate")

        def deallocate(self, ptr: int, size: int, *, stream: Any = None) -> None:
            raise ZeroDivisionError("in deallocate")

    buffer = core.Buffer.from_handle(4096, 8, mr=Failing())
    with pytest.raises(ZeroDivisionError, match="in allocate"):
        buffer.copy_to()
    with pytest.warns(core.CUDAWarning, match="in deallocate"):
        buffer.close()


def test_an_exception_of_a_foreign_stream_arrives(device: core.Device, make_kernel: Any) -> None:
    class Foreign:
        def __cuda_stream__(self) -> tuple[int, int]:
            raise ZeroDivisionError("in the protocol")

    config, kernel = core.LaunchConfig(grid=1, block=1), make_kernel()
    for use in (
        lambda: core.launch(Foreign(), config, kernel),
        lambda: core.Stream(Foreign()),
        lambda: device.allocate(8, stream=Foreign()),
    ):
        with pytest.raises(ZeroDivisionError, match="in the protocol"):
            use()


def test_a_stream_that_an_argument_closes_ends_behind_the_launch(
    mock: Any, device: core.Device, make_kernel: Any
) -> None:
    class Closing:
        def __index__(self) -> int:
            stream.close()
            return 7

    stream, kernel = device.create_stream(), make_kernel(8)
    before, launches = mock.n_streams, mock.n_launches
    core.launch(stream, core.LaunchConfig(grid=1, block=1), kernel, Closing())
    assert (mock.n_streams, mock.n_launches) == (before - 1, launches + 1)
    assert stream._closed


@pytest.mark.parametrize(
    ("attributes", "error", "words"),
    [
        ({"NO_SUCH": 1}, ValueError, "no launch attribute is called 'NO_SUCH'"),
        ({"PRIORITY": 2**40}, ValueError, "PRIORITY: 1099511627776 does not fit 4 bytes"),
        ({"PRIORITY": "high"}, ValueError, "high"),
        ({"CLUSTER_DIMENSION": (1, 2)}, ValueError, "values to unpack"),
        ({"CLUSTER_DIMENSION": lambda value: 1 / 0}, ZeroDivisionError, "division"),
        (
            {"CLUSTER_DIMENSION": lambda value: setattr(value.clusterDim, "w", 1)},
            AttributeError,
            "w",
        ),
        (
            {"CLUSTER_DIMENSION": lambda value: setattr(value.clusterDim, "x", -1)},
            OverflowError,
            "",
        ),
    ],
)
def test_wrong_fields_of_launch_attributes(
    device: core.Device, attributes: Any, error: type, words: str
) -> None:
    with pytest.raises(error, match=words):
        core.LaunchConfig(grid=1, block=1, attributes=attributes)


LONG = "x" * 1_000_000


def test_over_long_texts_are_taken_or_named(mock: Any, device: core.Device) -> None:
    """A megabyte where a word is expected: no crash, and no megabyte in the message."""
    for use in (
        lambda: core.Device(LONG),
        lambda: core.LaunchConfig(grid=1, block=1, attributes={LONG: 1}),
        lambda: device.create_stream(options={LONG: 1}),
        lambda: core.Program("code", LONG),
        lambda: core.Program("code", "c++", {LONG: 1}),
        lambda: core.VirtualMemoryResource(device, {"granularity": LONG}).allocate(1),
        lambda: device.create_graph_builder().begin_building(LONG),
        lambda: device.create_opaque_array({"shape": (4,), "format": LONG}),
    ):
        with pytest.raises((ValueError, TypeError, RuntimeError)) as caught:
            use()
        assert len(str(caught.value)) < 3000, str(caught.value)[:200]
    assert core.ObjectCode.from_ptx(b"ptx", name=LONG).get_kernel(LONG).name == "scale"


@pytest.mark.parametrize("size", [-1, -(2**70), 2**64])
def test_sizes_that_are_none(mock: Any, device: core.Device, size: int) -> None:
    before = mock.n_alloc, mock.bytes_out
    definition = GraphDefinition()
    for use in (
        lambda: core.VirtualMemoryResource(device).allocate(size),
        lambda: core.LegacyPinnedMemoryResource().allocate(size),
        lambda: core.DeviceMemoryResource(device, {"max_size": size}),
        lambda: core.Buffer.from_handle(4096, size),
        lambda: definition.allocate(size),
        lambda: definition.memset(4096, 0, size),
        lambda: definition.memcpy(4096, 8192, size),
        lambda: device.allocate(64).view("uint8", size),
    ):
        with pytest.raises((ValueError, OverflowError, TypeError, core.CUDAError)):
            use()
    assert (mock.n_alloc, mock.bytes_out) == before or mock.bytes_out == before[1]
    assert definition.nodes() == set()


def test_cycles_through_buffers_are_collected(mock: Any, device: core.Device) -> None:
    class Owner:
        buffer: Any

    gc.collect()
    before = mock.bytes_out
    resource = core.DeviceMemoryResource(device)
    resource.buffer = resource.allocate(32)  # type: ignore[attr-defined]
    owner = Owner()
    owner.buffer = core.Buffer.from_handle(1, 1, owner=owner)
    del resource, owner
    gc.collect()
    assert mock.bytes_out == before


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: core.LaunchConfig(), "needs a grid"),
        (lambda: core.LaunchConfig(grid=0, block=1), "must be 1 to 4294967295"),
        (lambda: core.LaunchConfig(grid=(1, 2, 3, 4), block=1), "1 to 3 ints"),
        (lambda: core.LaunchConfig(grid=1, block=(1, -1)), "must be 1 to 4294967295"),
        (lambda: core.LaunchConfig(grid=1, block=1, shmem_size=-1), "shmem_size must be 0 or more"),
        (lambda: core.LaunchConfig(grid="x", block=1), "must be ints"),
    ],
)
def test_bad_configurations_are_named(device: core.Device, make: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_options_that_do_not_exist_are_named(device: core.Device) -> None:
    with pytest.raises(TypeError, match="no option 'prioritty'; did you mean 'priority'"):
        device.create_stream(options={"prioritty": 1})
