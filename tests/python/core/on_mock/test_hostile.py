# SPDX-License-Identifier: Apache-2.0
"""What users do wrong, and what goes wrong under them: a clear exception, and nothing hangs."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from typing import Any

import pytest

from tessera import KernelError, core


def test_a_stream_of_another_device_is_refused(
    mock: Any, device: core.Device, make_kernel: Any
) -> None:
    other = core.Device(1).create_stream()
    with pytest.raises(ValueError, match="the stream belongs to another device"):
        device.memory_resource.allocate(8, stream=other)
    with pytest.raises(ValueError, match="the stream belongs to another device"):
        device.create_event().record(other)


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_of_fork_is_told(device: core.Device) -> None:
    stream = device.create_stream()
    child = os.fork()
    if child == 0:
        try:
            stream.record()
        except RuntimeError as failure:
            os._exit(0 if "before fork()" in str(failure) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("cycle", ["", "x.me = x; "])
def test_a_program_may_end_with_everything_alive(cycle: str) -> None:
    """Module globals and reference cycles are torn down without a word."""
    program = (
        "from tessera import core\n"
        "class Box: pass\n"
        "x = Box()\n"
        "d = core.Device(0); d.set_current()\n"
        "x.stream = d.create_stream(); x.buffer = d.allocate(64, stream=x.stream)\n"
        "x.event = x.stream.record(); x.view = core.Buffer.from_handle(1, 1)\n"
        f"{cycle}pass\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")


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
        (lambda: core.LaunchConfig(grid=0, block=1), "must be 1 or more"),
        (lambda: core.LaunchConfig(grid=(1, 2, 3, 4), block=1), "1 to 3 ints"),
        (lambda: core.LaunchConfig(grid=1, block=(1, -1)), "must be 1 or more"),
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
