# SPDX-License-Identifier: Apache-2.0
"""Launch shapes that are measured: ``ProfileGuidedOptimizer``.

    fast = profiler.ProfileGuidedOptimizer().optimize(kernel, (sample, 0.5))
    fast(data, 0.5)

Kernels are those of ``cuda.kernel`` and ``cuda.compile_kernel``. Shapes are raced against each other as
``tessera.tune`` does it, on copies of the sample; every shape must give what the first one gave. The best is kept on
disk for arrays of the same dtypes and about the same extents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["ProfileGuidedOptimizer"]

# Shapes that are tried, by the number of axes.
BLOCKS: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((64,), (128,), (256,), (512,), (1024,)),
    2: ((8, 32), (1, 256), (4, 64), (16, 16), (32, 8), (32, 32)),
    3: ((4, 4, 16), (1, 4, 64), (8, 8, 8), (2, 4, 32)),
}
ITEMS = (1, 2, 4, 8, 16)  # of a thread, for kernels that stride over the grid


class ProfileGuidedOptimizer:
    """Chooses how a kernel is launched by measuring it on a sample.

    Parameters
    ----------
    rounds : int
        At most so many samples of each shape.
    seconds : float
        About so much time for all.
    keep : bool
        Keep the result on disk, and take one that is there.
    """

    def __init__(self, *, rounds: int = 20, seconds: float = 1.0, keep: bool = True) -> None:
        from .tune import _numbers

        self.rounds, self.seconds = _numbers.count("rounds", rounds), _numbers.seconds("seconds", seconds)
        self.keep = keep
        self.report: dict[Any, float] = {}

    def optimize(self, kernel: Any, args: Any) -> Any:
        """The kernel with the fastest launch shape for arguments like these.

        Parameters
        ----------
        kernel : kernel of ``cuda.kernel`` or ``cuda.compile_kernel``
        args : tuple
            A sample of its arguments; the arrays stay as they are.

        Returns
        -------
        kernel
            Its values are those of the kernel that was given; ``self.report`` has the microseconds of each shape that
            was measured, and is empty where the result was kept.

        Raises
        ------
        TypeError
            The kernel has no launch shape of its own, or ``args`` is not a tuple.
        RuntimeError
            Shapes give different values: what the kernel computes depends on its blocks.
        """
        from ._arguments import bound
        from .cuda._auto import ArrayKernel

        if not isinstance(kernel, ArrayKernel):
            raise TypeError(f"optimize() takes a kernel of cuda.kernel or cuda.compile_kernel, not {kernel!r}")
        if not isinstance(args, (tuple, list)):
            raise TypeError(f"optimize() takes the arguments as a tuple, found a {type(args).__name__}")
        whole = bound(kernel.py_func, tuple(args), {})
        kernel._extents(whole)  # mistakes in the arguments
        self.report = {}
        key = self._key(kernel, whole)
        known = self._kept(key)
        if known is None:
            known = self._fastest(kernel, whole)
            if self.keep:
                from .tune import _store

                _store.save(key, {"config": repr(tuple(known)), "mean_us": self.report[known]})
        return kernel.shaped(known)

    def _key(self, kernel: Any, args: Any) -> str:
        from . import _core
        from .cuda._auto import _place
        from .tune import _arrays, _store

        place = "cpu" if kernel._target == "cpu" else _place(args)
        return _store.key_of(kernel, "threads of " + str(_core.device_info(place)["name"]), _arrays.shape_class(args))

    def _kept(self, key: str) -> Any:
        from .tune import _store

        entry = _store.load(key) if self.keep else None
        return next((s for s in _shapes(0, True) if entry and entry["config"] == repr(tuple(s))), None)

    def _fastest(self, kernel: Any, args: Any) -> Any:
        from .cuda._auto import _place
        from .tune import _time

        place = "cpu" if kernel._target == "cpu" else _place(args)
        clock = _time.Clock(place, None)
        candidates, first = [], None
        for shape in _shapes(kernel.facts.axes, kernel.facts.strides):
            shaped, copies = kernel.shaped(shape), tuple(_copied(arg) for arg in args)
            shaped(*copies)
            clock.wait()
            values = [_read(value) for value in copies]
            first = values if first is None else first
            if not all(_same(a, b) for a, b in zip(first, values)):
                raise RuntimeError(
                    f"kernel '{kernel.__name__}' gives other values in blocks of {shape.block} than it does in others: "
                    "what it computes depends on how it is launched, so say kernel[blocks, threads]"
                )
            candidates.append(_time.Candidate(shape, _launch_of(shaped, copies)))
        for candidate in candidates:
            clock.warm(candidate)
        _time.race(candidates, clock, rounds=self.rounds, seconds=self.seconds)
        best = min((c for c in candidates if c.finalist and c.times), key=lambda c: c.median)
        self.report = {c.config: c.median for c in candidates if c.times}
        return best.config


def _shapes(axes: int, strides: bool) -> Iterator[Any]:
    """What may be chosen for so many axes (0: for any number)."""
    from .cuda._auto import Shape

    for count in [axes] if axes else BLOCKS:
        for block in BLOCKS[count]:
            for items in ITEMS if strides else ITEMS[:1]:
                yield Shape(block, items)


def _launch_of(kernel: Any, args: Any) -> Any:
    return lambda: kernel(*args)


def _is_array(value: Any) -> bool:
    from ._arguments import is_array

    return is_array(value) and hasattr(value, "copy" if not hasattr(value, "copy_to_host") else "copy_to_host")


def _copied(value: Any) -> Any:
    """An array of its own with the elements of an argument; other arguments as they are."""
    if not _is_array(value):
        return value
    if hasattr(value, "copy_to_host"):
        from .cuda import to_device

        return to_device(value.copy_to_host())
    return value.clone() if hasattr(value, "clone") else value.copy()


def _read(value: Any) -> Any:
    """The elements of an array on the host."""
    if not _is_array(value):
        return None
    from .tune import _arrays

    return value.copy_to_host() if hasattr(value, "copy_to_host") else _arrays.read([value])[0]


def _same(a: Any, b: Any) -> bool:
    import numpy

    return a is None or bool(numpy.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
