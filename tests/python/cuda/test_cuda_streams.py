# SPDX-License-Identifier: Apache-2.0
"""In which order streams of the CPU device work: the default stream comes after the others, as CUDA's legacy one."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from tessera import core, cuda


@cuda.jit
def late(x: Any, n: int) -> None:
    value = 0.0
    for i in range(n):
        value = value * 0.5 + i
    x[0] = 1 + value * 0


@cuda.jit
def held(flag: Any, x: Any) -> None:
    while cuda.atomic.add(flag, 0, 0) == 0:
        pass
    x[0] = 1


@cuda.jit
def copied(x: Any, y: Any) -> None:
    y[0] = x[0]


@contextlib.contextmanager
def releasing(flag: Any) -> Iterator[Callable[[], bool]]:
    """Lets kernels that wait for a flag go on at the end; after 30 s, too, so that who waits for them fails."""

    def release() -> None:
        flag._elements[0] = 1

    timer = threading.Timer(30, release)
    timer.start()
    try:
        yield lambda: flag._elements[0] == 0
    finally:
        timer.cancel()
        release()


def _by_kernel(x: Any) -> float:
    y = cuda.to_device(numpy.zeros(1))
    copied[1, 1](x, y)
    return float(y.copy_to_host()[0])


def _by_event(x: Any) -> float:
    event = cuda.event()
    event.record()
    event.synchronize()
    return float(x._elements[0])


def _by_default_stream(x: Any) -> float:
    cuda.default_stream().synchronize()
    return float(x._elements[0])


READS = {
    "copy_to_host": lambda x: x.copy_to_host()[0],
    "item": lambda x: x[0],
    "asarray": lambda x: numpy.asarray(x)[0],
    "kernel": _by_kernel,
    "event": _by_event,
    "default stream": _by_default_stream,
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_what_has_no_stream_comes_after_the_work_of_streams(read: Any) -> None:
    x, stream = cuda.to_device(numpy.zeros(1)), cuda.stream()
    late[1, 1](x, 1)
    x[0] = 0
    late[1, 1, stream](x, 20_000_000)
    assert read(x) == 1


def test_a_copy_to_the_device_comes_after_the_work_of_streams() -> None:
    x, stream = cuda.to_device(numpy.zeros(1)), cuda.stream()
    late[1, 1, stream](x, 20_000_000)
    x.copy_to_device(numpy.full(1, 9.0))
    stream.synchronize()
    assert x.copy_to_host() == [9]


def test_streams_that_do_not_block_are_independent() -> None:
    stream = core.Device("cpu").create_stream()
    flag, x = cuda.to_device(numpy.zeros(1, numpy.int32)), cuda.to_device(numpy.zeros(1))
    held[1, 1, stream](flag, x)
    with releasing(flag) as is_held:
        copied[1, 1](cuda.to_device(numpy.ones(1)), cuda.to_device(numpy.ones(1)))
        cuda.default_stream().synchronize()
        assert is_held()
    stream.sync()


def test_dropping_a_stream_does_not_wait_and_its_work_is_done() -> None:
    flag, x, stream = cuda.to_device(numpy.zeros(1, numpy.int32)), cuda.to_device(numpy.zeros(1)), cuda.stream()
    held[1, 1, stream](flag, x)
    with releasing(flag) as is_held:
        del stream
        assert is_held()
    cuda.synchronize()
    assert x.copy_to_host() == [1]
