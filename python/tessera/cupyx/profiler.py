# SPDX-License-Identifier: Apache-2.0
"""Times of calls: on the host, and on the device."""

from __future__ import annotations

import contextlib
import functools
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from ..cupy import cuda

__all__ = ["benchmark", "profile", "time_range"]


class PerfCaseResult:
    """Seconds of each call: ``cpu_times``, and ``gpu_times`` with a row for each device."""

    def __init__(self, name: str, times: Any, devices: Any) -> None:
        self.name, self._times, self._devices = name, times, devices

    @property
    def cpu_times(self) -> Any:
        """Seconds on the host until the call returned."""
        return self._times[0]

    @property
    def gpu_times(self) -> Any:
        """Seconds between the start of the call and the end of its work, for each device."""
        return self._times[1:]

    @staticmethod
    def _line(name: str, times: Any, show_gpu: bool) -> str:
        micro = times * 1e6
        text = f"    {name}:{micro.mean():9.03f} us"
        if len(times) > 1:
            text += (
                f"   +/-{micro.std():6.03f} (min:{micro.min():9.03f} / max:{micro.max():9.03f}) us"
            )
        return text

    def to_str(self, show_gpu: bool = False) -> str:
        """One line: the mean, the deviation, the least and the greatest."""
        lines = [f"{self.name:<20s}:", self._line("CPU", self.cpu_times, False)]
        if show_gpu:
            lines += [
                self._line(f"GPU-{d}", t, True)
                for d, t in zip(self._devices, self.gpu_times, strict=True)
            ]
        return " ".join(lines)

    def __str__(self) -> str:
        return self.to_str(show_gpu=True)

    def __repr__(self) -> str:
        return f"<{self}>"


def benchmark(
    func: Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
    n_repeat: int = 10000,
    *,
    name: str | None = None,
    n_warmup: int = 10,
    max_duration: float = math.inf,
    devices: Any = None,
) -> PerfCaseResult:
    """Times of a function, called again and again.

    Raises
    ------
    ValueError
        ``func`` cannot be called, or a count is not positive.
    """
    options = {} if kwargs is None else kwargs
    checks = (
        (callable(func), "`func` should be a callable object."),
        (isinstance(args, tuple), "`args` should be of tuple type."),
        (isinstance(options, dict), "`kwargs` should be of dict type."),
        (isinstance(n_repeat, int), "`n_repeat` should be an integer."),
        (name is None or isinstance(name, str), "`name` should be a string."),
        (isinstance(n_warmup, int), "`n_warmup` should be an integer."),
    )
    for is_right, message in checks:
        if not is_right:
            raise ValueError(message)
    numbers = [cuda.Device().id] if devices is None else [int(d) for d in devices]
    for _ in range(n_warmup):
        func(*args, **options)
    _wait(numbers)
    host, device, spent = [], [], 0.0
    for _ in range(n_repeat):
        begins = [_event(number) for number in numbers]
        begin = time.perf_counter()
        func(*args, **options)
        host.append(time.perf_counter() - begin)
        ends = [_event(number) for number in numbers]
        _wait(numbers)
        device.append(
            [cuda.get_elapsed_time(b, e) * 1e-3 for b, e in zip(begins, ends, strict=True)]
        )
        spent += time.perf_counter() - begin
        if spent > max_duration:
            break
    times = numpy.array([host, *zip(*device, strict=True)])
    return PerfCaseResult(func.__name__ if name is None else name, times, numbers)


def _event(number: int) -> Any:
    with cuda.Device(number):
        return cuda.Stream.null.record()


def _wait(numbers: list[int]) -> None:
    for number in numbers:
        cuda.Device(number).synchronize()


class time_range:
    """A range that profilers show; a decorator, or for ``with``.

    Parameters
    ----------
    message : str, optional
        Its name; a decorated function's own.
    color_id, argb_color : int, optional
        A number of a colour, or the colour.
    sync : bool
        Whether the device is waited for at both ends.

    Raises
    ------
    RuntimeError
        ``cupy.cuda.nvtx.available`` is False.
    """

    def __init__(
        self, message: str | None = None, color_id: int | None = None, argb_color: int | None = None, sync: bool = False
    ) -> None:
        if not cuda.nvtx.available:
            raise RuntimeError("nvtx is not available: cupy.cuda.nvtx.available is False")
        if color_id is not None and argb_color is not None:
            raise ValueError("Only either color_id or argb_color can be specified")
        self._message, self._sync = message, sync
        self._color, self._argb = -1 if color_id is None else color_id, argb_color

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with a range around each call."""

        @functools.wraps(func)
        def ranged(*args: Any, **options: Any) -> Any:
            with time_range(self._message or func.__name__, **self._options()):
                return func(*args, **options)

        return ranged

    def _options(self) -> dict[str, Any]:
        color = {"color_id": self._color} if self._argb is None else {"argb_color": self._argb}
        return {**color, "sync": self._sync}

    def __enter__(self) -> time_range:  # noqa: PYI034  no Self in Python 3.10
        if self._message is None:
            raise ValueError("time_range needs a message where it decorates no function")
        if self._sync:
            cuda.Device().synchronize()
        if self._argb is None:
            cuda.nvtx.RangePush(self._message, self._color)
        else:
            cuda.nvtx.RangePushC(self._message, self._argb)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._sync:
            cuda.Device().synchronize()
        cuda.nvtx.RangePop()


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """What runs inside is profiled."""
    with cuda.profile():
        yield
