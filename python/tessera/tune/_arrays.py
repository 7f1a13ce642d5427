# SPDX-License-Identifier: Apache-2.0
"""Array arguments of any library: which there are, what shape class they have, their contents on
the host, and whether two results agree.
"""

from __future__ import annotations

from typing import Any

from .. import _core
from .._arguments import array_args, flat
from ..tile import _dtype

__all__ = ["Outputs", "agree", "read", "shape_class", "written_args"]


def _bucket(extent: int) -> int:
    return 1 << max(0, int(extent) - 1).bit_length()


def _order(value: Any) -> str:
    """Axes from the smallest stride to the largest: arrays stored alike have it alike."""
    strides = getattr(value, "strides", None)
    if callable(getattr(value, "stride", None)):
        strides = value.stride()
    if not isinstance(strides, tuple):
        return ""
    return "".join(str(i) for i in sorted(range(len(strides)), key=lambda i: (strides[i], -i)))


def shape_class(args: Any) -> str:
    """What tuning results are kept by: dtype, extents up to the next power of two, order of the
    axes."""
    parts = []
    for value in flat(args):
        dtype = str(getattr(value, "dtype", "uint8")).rpartition(".")[2]
        extents = "x".join(str(_bucket(n)) for n in getattr(value, "shape", ()))
        parts.append(f"{dtype}[{extents}]{_order(value)}")
    return " ".join(parts)


# ---- contents ----------------------------------------------------------------------------------


def _shared(value: Any) -> Any:
    """An Array or NumPy array over the same memory, as plain integers where NumPy lacks the
    dtype."""
    import numpy

    if isinstance(value, numpy.ndarray):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return numpy.asarray(value)
    return value if isinstance(value, _core.Array) else _core.from_dlpack(value)


def _raw_dtype(name: str) -> Any:
    """The NumPy dtype itself, or unsigned integers of its size."""
    import numpy

    try:
        dtype = numpy.dtype("bool" if name == "bool_" else name)
        if dtype.kind in "biufc":
            return dtype
    except TypeError:
        pass
    return numpy.dtype(f"uint{8 * getattr(_dtype, name).itemsize}")


def _read(value: Any) -> Any:
    """A copy of the elements on the host."""
    import numpy

    shared = _shared(value)
    if isinstance(shared, numpy.ndarray):
        return shared.copy()
    copy = numpy.empty(shared.shape, _raw_dtype(str(shared.dtype).rpartition(".")[2]))
    shared._to_host(copy)
    return copy


def _write(value: Any, copy: Any) -> None:
    import numpy

    shared = _shared(value)
    if isinstance(shared, numpy.ndarray):
        shared[...] = copy
    else:
        shared._from_host(copy)


def _place(value: Any) -> tuple[int, Any]:
    """Where an array lies: equal for views of the same elements."""
    shared = _shared(value)
    return (shared.ptr if isinstance(shared, _core.Array) else shared.ctypes.data), shared.shape


def written_args(args: Any, written: list[bool]) -> list[Any]:
    """The arrays among the arguments that the kernel may write; ``written`` is what
    ``_core.prepare`` says."""
    items = array_args(args)
    if len(items) != len(written):
        raise TypeError(
            "an argument is an array of a kind that cannot be read back; search with check=False"
        )
    return [
        a
        for item, w in zip(items, written)
        if w
        for a in (item if isinstance(item, list) else [item])
    ]


class Outputs:
    """Arrays that a kernel writes: taken once before the search, put back before each checked
    run."""

    def __init__(self, arrays: list[Any]) -> None:
        self.arrays = arrays
        self.before = [_read(a) for a in arrays]
        self.places = [_place(a) for a in arrays]

    def restore(self) -> None:
        for array, copy in zip(self.arrays, self.before):
            _write(array, copy)

    def are(self, arrays: list[Any]) -> bool:
        """Whether other arrays are these."""
        return [_place(a) for a in arrays] == self.places


def read(arrays: list[Any]) -> list[Any]:
    """Copies on the host, in a dtype NumPy computes with."""
    return [_floats(a, _read(a)) for a in arrays]


def _floats(value: Any, copy: Any) -> Any:
    """bfloat16 as float32; other dtypes that NumPy lacks stay bytes and must agree exactly."""
    import numpy

    if "bfloat16" in str(value.dtype) and copy.dtype.itemsize == 2:
        return (copy.view(numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32)
    return copy


# ---- agreement ---------------------------------------------------------------------------------

# Greatest difference relative to the largest element, by stored dtype: sums in another order.
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-4, "float64": 1e-10}


def agree(found: list[Any], wanted: list[Any], dtypes: list[str], tolerance: float | None) -> str:
    """Empty when two sets of outputs agree; otherwise what differs."""
    import numpy

    for i, (x, y, dtype) in enumerate(zip(found, wanted, dtypes)):
        if numpy.array_equal(x, y):
            continue
        if x.dtype.kind != "f":
            return f"output {i} differs in {int((x != y).sum())} elements"
        bound = TOLERANCE.get(dtype, 1e-4) if tolerance is None else tolerance
        same = (x == y) | (numpy.isnan(x) & numpy.isnan(y))
        x, y = x[~same].astype(numpy.float64), y[~same].astype(numpy.float64)
        finite = numpy.abs(wanted[i][numpy.isfinite(wanted[i])])
        scale = float(finite.max()) if finite.size else 0.0
        with numpy.errstate(invalid="ignore"):
            worst = float(numpy.max(numpy.abs(x - y), initial=0.0))
        if not worst <= bound * scale:
            return f"output {i} differs by {worst:.3g}, over {bound:g} of {scale:.3g}"
    return ""
