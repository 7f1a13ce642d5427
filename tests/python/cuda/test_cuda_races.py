# SPDX-License-Identifier: Apache-2.0
"""``checked="races"``: what threads do to each other is named by line, thread and block; what is right passes."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from tessera import cuda

WATCHED = cuda.jit(checked="races")


def one_element(x: Any) -> None:
    x[0] = cuda.grid(1)


def same_value(x: Any) -> None:
    x[0] = 3


def turned(x: Any, barrier: Any) -> None:
    s = cuda.shared.array(64, numpy.float64)
    i = cuda.threadIdx.x
    s[i] = 0
    cuda.syncthreads()
    s[i] = x[i]
    if barrier:
        cuda.syncthreads()
    x[i] = s[63 - i]


def read_before_write(x: Any) -> None:
    s = cuda.shared.array(64, numpy.float64)
    x[0] += s[cuda.threadIdx.x]


def read_then_written(x: Any, barrier: Any) -> None:
    i = cuda.threadIdx.x
    value = x[(i + 1) % 64]
    if barrier:
        cuda.syncthreads()
    x[i] = value + 1


def in_a_warp(x: Any, together: Any) -> None:
    s = cuda.shared.array(32, numpy.int32)
    i = cuda.threadIdx.x
    s[i] = i
    if together:
        cuda.syncwarp()
    x[i] = s[i ^ 1]


def branch(x: Any, n: Any) -> None:
    i = cuda.threadIdx.x
    if i < n:
        cuda.syncthreads()
    x[i] = 1


def warp_branch(x: Any, n: Any) -> None:
    i = cuda.threadIdx.x
    if i < n:
        cuda.syncwarp()
    x[i] = 1


def gone(x: Any, n: Any) -> None:
    i = cuda.threadIdx.x
    if i >= n:
        return
    cuda.syncthreads()
    x[i] = 1


def last(x: Any, count: Any, out: Any, fence: Any) -> None:
    i = cuda.grid(1)
    x[i] = i
    if fence:
        cuda.threadfence()
    if cuda.atomic.add(count, 0, 1) == x.size - 1:
        for j in range(x.size):
            out[0] += x[j]


def histogram(x: Any, h: Any, atomic: Any) -> None:
    i = cuda.grid(1)
    if i < x.size:
        if atomic:
            cuda.atomic.add(h, x[i], 1)
        else:
            h[x[i]] += 1


def beyond(x: Any) -> None:
    x[cuda.grid(1)] = 1


def zeros(n: int, dtype: Any = numpy.float64) -> Any:
    return numpy.zeros(n, dtype)


NUMBERS = numpy.arange(30) % 4

WRONG = {
    "two threads": (one_element, (1, 64), (zeros(1),), "race", r"global memory that thread \(0, 0, 0\) of block"),
    "blocks": (one_element, (2, 1), (zeros(1),), "race", r"thread \(0, 0, 0\) of block \(0, 0, 0\) wrote in line 1\d"),
    "no barrier": (turned, (1, 64), (numpy.ones(64), 0), "race", "shared memory that thread .* in line"),
    "before it is written": (read_before_write, (1, 32), (zeros(1),), "unwritten", "no thread has written"),
    "read, then written": (read_then_written, (1, 64), (numpy.arange(64.0), 0), "race", "(read|wrote) in line"),
    "in a warp": (in_a_warp, (1, 32), (zeros(32, "i4"), 0), "race", "shared"),
    "barrier in a branch": (branch, (1, 64), (zeros(64), 16), "barrier", r"its block .* thread \(16, 0, 0\) does not"),
    "syncwarp in a branch": (warp_branch, (1, 64), (zeros(64), 16), "barrier", "its warp"),
    "no fence": (last, (4, 8), (zeros(32), zeros(1, "i4"), zeros(1), 0), "race", "global"),
    "plain histogram": (histogram, (4, 8), (NUMBERS, zeros(4, "i8"), 0), "race", "global"),
}  # fmt: skip

RIGHT = {
    "same value": (same_value, (2, 64), (zeros(1),)),
    "barrier": (turned, (1, 64), (numpy.arange(64.0), 1)),
    "read, barrier, written": (read_then_written, (1, 64), (numpy.arange(64.0), 1)),
    "syncwarp": (in_a_warp, (1, 32), (zeros(32, "i4"), 1)),
    "barrier of all": (branch, (1, 64), (zeros(64), 64)),
    "barrier of a whole warp": (branch, (1, 64), (zeros(64), 0)),
    "threads that have ended": (gone, (1, 64), (zeros(64), 16)),
    "last one adds up": (last, (4, 8), (zeros(32), zeros(1, "i4"), zeros(1), 1)),
    "histogram": (histogram, (4, 8), (NUMBERS, zeros(4, "i8"), 1)),
}


def _copies(args: Any) -> Any:
    return tuple(a.copy() if isinstance(a, numpy.ndarray) else a for a in args)


@pytest.mark.parametrize(("function", "launch", "args", "code", "text"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_named(function: Any, launch: Any, args: Any, code: str, text: str) -> None:
    with pytest.raises(RuntimeError, match=text) as raised:
        WATCHED(function)[launch](*_copies(args))
    where = raised.value.__cause__.failure  # type: ignore[union-attr]
    assert (where.code, where.function) == (code, function.__name__)
    assert where.line > function.__code__.co_firstlineno and where.thread is not None


@pytest.mark.parametrize(("function", "launch", "args"), RIGHT.values(), ids=RIGHT.keys())
def test_what_is_right_gives_what_a_launch_gives(function: Any, launch: Any, args: Any) -> None:
    found, wanted = _copies(args), _copies(args)
    WATCHED(function)[launch](*found)
    cuda.jit(function)[launch](*wanted)
    assert all(numpy.array_equal(a, b) for a, b in zip(found, wanted))


def test_indices_and_exceptions_are_found_too() -> None:
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 9"):
        WATCHED(beyond)[2, 8](zeros(9))


def test_the_environment_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESSERA_CHECKED", "races")
    with pytest.raises(RuntimeError, match="race"):
        cuda.jit(one_element)[1, 64](zeros(1))


def test_it_comes_after_the_work_of_its_stream_and_prints(capfd: pytest.CaptureFixture[str]) -> None:
    @WATCHED
    def shown(x: Any) -> None:
        print("found", x[0])

    x, stream = cuda.to_device(zeros(1)), cuda.stream()
    cuda.jit(same_value)[1, 1, stream](x)
    shown[1, 1, stream](x)
    assert "found 3.0" in capfd.readouterr().out
