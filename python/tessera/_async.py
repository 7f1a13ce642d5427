# SPDX-License-Identifier: Apache-2.0
"""Work that is awaited: what ``async_call`` of kernels and ``async_copy_to`` of buffers share.

The work is given to its stream in one step with the wait for it, when the coroutine begins. So an
await ends with that work, whatever other tasks give to the stream behind it, and a coroutine that
was never begun has done nothing.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from . import _core
from ._arguments import device_of, flat
from ._await import running_loop, wait

__all__ = ["call", "exports", "finished", "stream_of"]

# The stream of an event loop for work on the CPU that names none: the device's own would hold the
# loop up until the work is done.
_cpu_streams: weakref.WeakKeyDictionary[Any, _core.Stream] = weakref.WeakKeyDictionary()


class _End(NamedTuple):
    """The end of what a stream was given so far; ``keep`` lives until then."""

    stream: _core.Stream
    keep: Any

    def __await__(self) -> Generator[Any, None, None]:
        return wait(self.stream, self.keep)


async def finished(work: Callable[[], Any], stream: _core.Stream, uses: Any) -> Any:
    """Gives work to a stream, waits for it, and returns what ``work()`` did.

    ``uses``, and the result, live until the work is done, also where the task is cancelled.
    """
    running_loop()  # nothing is enqueued where nobody could wait
    result = work()
    await _End(stream, (result, uses))
    return result


def stream_of(given: Any, device: str | int) -> _core.Stream:
    """The stream that a user gave, else the default one for awaited work on the device."""
    if isinstance(given, _core.Stream):
        return given
    if given is not None:
        return _foreign(given)
    if str(device) != "cpu":
        return _core.Stream._wrap(device, 0, None, False)
    loop = running_loop()
    if loop not in _cpu_streams:
        _cpu_streams[loop] = _core.Stream("cpu")
    return _cpu_streams[loop]


def _foreign(given: Any) -> _core.Stream:
    from .core import Stream

    if hasattr(type(given), "_launched"):
        raise TypeError(
            "what a graph builder records does not run and cannot be awaited; "
            "launch the graph on a stream, then await the stream"
        )
    return Stream(given)


async def call(kernel: Any, grid: Any, args: tuple[Any, ...], stream: Any) -> None:
    """``async_call`` of a tile kernel."""
    order = stream_of(stream, device_of(args) if stream is None else "cpu")
    await finished(
        lambda: _core.launch_kept(order, grid, kernel, args), order, (args, exports(args), kernel)
    )


def exports(args: Any) -> list[memoryview]:
    """Views of the host memory among the arguments, which then cannot be resized."""
    held = []
    for array in flat(args):
        try:
            held.append(memoryview(array))
        except (TypeError, ValueError, BufferError):  # not lent this way; the array itself is kept
            continue
    return held
