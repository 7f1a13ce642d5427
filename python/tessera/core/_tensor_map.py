# SPDX-License-Identifier: Apache-2.0
"""TensorMapDescriptor: what the tensor memory accelerator (TMA, from Hopper on) copies by.

Made of a view: ``view.as_tensor_map(box_dim=(64, 64))``; shapes are in NumPy's order, last axis
contiguous. Passed to kernels by value, as ``__grid_constant__ const CUtensorMap``.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from ._memoryview import CPU, CUDA, StridedMemoryView, bfloat16
from ._options import options_of

__all__ = [
    "TensorMapDataType",
    "TensorMapDescriptor",
    "TensorMapDescriptorOptions",
    "TensorMapIm2ColWideMode",
    "TensorMapInterleave",
    "TensorMapL2Promotion",
    "TensorMapOOBFill",
    "TensorMapSwizzle",
]


class TensorMapDataType(IntEnum):
    """Element types."""

    UINT8, UINT16, UINT32, INT32, UINT64, INT64 = range(6)
    FLOAT16, FLOAT32, FLOAT64, BFLOAT16, FLOAT32_FTZ, TFLOAT32, TFLOAT32_FTZ = range(6, 13)


class TensorMapInterleave(IntEnum):
    """Whether channels are interleaved in memory (NC/8HWC8)."""

    NONE, INTERLEAVE_16B, INTERLEAVE_32B = range(3)


class TensorMapSwizzle(IntEnum):
    """How 16-byte pieces are permuted in shared memory."""

    NONE, SWIZZLE_32B, SWIZZLE_64B, SWIZZLE_128B = range(4)


class TensorMapL2Promotion(IntEnum):
    """The size of what is fetched into L2."""

    NONE, L2_64B, L2_128B, L2_256B = range(4)


class TensorMapOOBFill(IntEnum):
    """What is read outside of the array: zeros, or NaNs that multiply like zeros."""

    NONE, NAN_REQUEST_ZERO_FMA = range(2)


class TensorMapIm2ColWideMode(IntEnum):
    """How wide an im2col box of Blackwell is."""

    W, W128 = range(2)


_NUMPY_DTYPE_TO_TMA = {
    np.dtype(kind): TensorMapDataType[kind.upper()]
    for kind in ("uint8 uint16 uint32 int32 uint64 int64 float16 float32 float64".split())
}
if bfloat16 is not None:
    _NUMPY_DTYPE_TO_TMA[np.dtype(bfloat16)] = TensorMapDataType.BFLOAT16
_BYTES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4)  # of each data type


@dataclass
class TensorMapDescriptorOptions:
    """How an array is copied.

    Parameters
    ----------
    box_dim : tuple of int
        Elements of a copy along each axis, 1 to 256.
    element_strides : tuple of int, optional
        Steps through the array, 1 to 8; 1 by default.
    data_type : TensorMapDataType or dtype, optional
        The view's own by default.
    interleave, swizzle, l2_promotion, oob_fill : enum
        NONE by default.
    """

    box_dim: Sequence[int] | None = None
    element_strides: Sequence[int] | None = None
    data_type: Any = None
    interleave: TensorMapInterleave = TensorMapInterleave.NONE
    swizzle: TensorMapSwizzle = TensorMapSwizzle.NONE
    l2_promotion: TensorMapL2Promotion = TensorMapL2Promotion.NONE
    oob_fill: TensorMapOOBFill = TensorMapOOBFill.NONE

    def __post_init__(self) -> None:
        for name, kind in _ENUMS.items():
            if not isinstance(given := getattr(self, name), kind):
                raise TypeError(f"{name} must be a {kind.__name__}, not {type(given).__name__}")


_ENUMS = {
    "interleave": TensorMapInterleave,
    "swizzle": TensorMapSwizzle,
    "l2_promotion": TensorMapL2Promotion,
    "oob_fill": TensorMapOOBFill,
}


def _options(box_dim: Any, options: Any, rest: dict[str, Any]) -> TensorMapDescriptorOptions:
    if options is None:
        return TensorMapDescriptorOptions(box_dim, **rest)
    if box_dim is not None or rest:
        raise TypeError("Specify either options or the individual tensor map arguments, not both")
    return options_of(TensorMapDescriptorOptions, options)


def _data_type(view: Any, given: Any) -> TensorMapDataType:
    if isinstance(given, TensorMapDataType):
        return given
    dtype = view.dtype if given is None else _as_dtype(given)
    if dtype in _NUMPY_DTYPE_TO_TMA:
        return _NUMPY_DTYPE_TO_TMA[dtype]
    if dtype == np.int8:
        return TensorMapDataType.UINT8  # the same bytes
    raise ValueError(f"TMA has no data type for {dtype}; give data_type=TensorMapDataType....")


def _as_dtype(given: Any) -> np.dtype[Any]:
    if isinstance(given, int):
        raise TypeError(f"data_type must be a TensorMapDataType or a dtype, not {given!r}")
    try:
        return np.dtype(given)
    except TypeError:
        raise TypeError(
            f"data_type must be a TensorMapDataType or a dtype, not {given!r}"
        ) from None


def _require_view_device(view: Any, expected: int, operation: str) -> None:
    kind, ordinal = view.__dlpack_device__()
    if kind == CUDA and ordinal != expected:
        raise ValueError(f"{operation} expects tensor on device {expected}, got {ordinal}")


def _accessible(tensor: Any) -> Any:
    """A view of device memory, of a view or of what can be viewed."""
    is_view = isinstance(tensor, StridedMemoryView)
    view = tensor if is_view else StridedMemoryView.from_any_interface(tensor, stream_ptr=-1)
    if view.__dlpack_device__()[0] == CPU:
        raise ValueError("a tensor map needs device-accessible memory; this is host memory")
    if view.ptr % 16:
        raise ValueError(
            f"a tensor map needs an address that is a multiple of 16, not {view.ptr:#x}"
        )
    return view


def _sized(name: str, values: Any, n: int) -> tuple[int, ...]:
    values = tuple(values)
    if len(values) != n:
        raise ValueError(f"{name} must have {n} elements, got {len(values)}")
    return values


class _Shape:
    """Extents and byte strides of a view, in elements of a data type (a view of bytes counts
    anew)."""

    def __init__(self, view: Any, kind: TensorMapDataType) -> None:
        layout, size = view._layout, _BYTES[kind]
        self.shape, steps = view.shape, [step * layout.itemsize for step in layout.steps]
        if layout.itemsize != size:
            if len(view.shape) != 1 or layout.itemsize != 1 or view.size % size:
                raise ValueError(
                    f"elements of {layout.itemsize} bytes cannot be taken as {kind.name}"
                )
            self.shape, steps = (view.size // size,), [size]
        if steps and steps[-1] != size and self.shape[-1] != 1:
            raise ValueError(f"the last axis must be contiguous, its step is {steps[-1]} bytes")
        self.strides = steps[:-1]
        if any(step % 16 for step in self.strides):
            raise ValueError(f"strides must be multiples of 16 bytes, they are {tuple(steps)}")


def _ranked(view: Any, kind: TensorMapDataType, low: int, what: str) -> _Shape:
    n = len(view.shape)
    if not low <= n <= 5:
        raise ValueError(f"{what} rank must be between {low} and 5, got {n}")
    return _Shape(view, kind)


class TensorMapDescriptor(ctypes.c_uint64 * 16):  # type: ignore[misc]
    """128 bytes that describe copies of boxes of an array; a kernel's argument.

    It keeps the view it was made of, or was moved to by ``replace_address``, alive.
    """

    def __init__(self, *args: Any) -> None:
        raise RuntimeError(
            "TensorMapDescriptor cannot be instantiated directly. Please use "
            "StridedMemoryView.as_tensor_map()."
        )

    @classmethod
    def _encoded(cls, view: Any, text: str, encode: Callable[[int], Any]) -> TensorMapDescriptor:
        from . import Device

        made = cls.from_buffer_copy(bytes(128))
        made._device, made._text, made._encode = Device(), text, encode
        made._take(view)
        return made

    def _take(self, view: Any) -> None:
        encoded = self._encode(view.ptr)
        ctypes.memmove(self, encoded.getPtr(), 128)
        self._view = view

    @classmethod
    def _begin(cls, view: Any, options: TensorMapDescriptorOptions, what: str, low: int) -> Any:
        """(view, data type, shape, element strides) after what all kinds of maps check."""
        from . import Device

        view = _accessible(view)
        kind = _data_type(view, options.data_type)
        shape = _ranked(view, kind, low, what)
        steps = options.element_strides
        n = len(shape.shape)
        steps = (1,) * n if steps is None else _sized("element_strides", steps, n)
        _require_view_device(view, Device().device_id, f"TensorMapDescriptor.{_NAMES[what]}")
        return view, kind, shape, steps

    @classmethod
    def _from_tiled(
        cls, view: Any, box_dim: Any = None, *, options: Any = None, **rest: Any
    ) -> TensorMapDescriptor:
        """Boxes of an array."""
        told = _options(box_dim, options, rest)
        view, kind, shape, steps = cls._begin(view, told, "Tensor", 1)
        if told.box_dim is None:
            raise TypeError("box_dim is needed: the elements of a copy along each axis")
        box = _sized("box_dim", told.box_dim, len(shape.shape))
        for i, n in enumerate(box):
            if not 1 <= n <= 256:
                raise ValueError(f"box_dim[{i}] must be in [1, 256], got {n}")
        middle = (list(box[::-1]), list(steps[::-1]))
        return cls._finish("EncodeTiled", "tiled", view, kind, shape, told, middle, ())

    @classmethod
    def _from_im2col(
        cls, view: Any, pixel_box_lower_corner: Any, pixel_box_upper_corner: Any,
        channels_per_pixel: int, pixels_per_column: int, **rest: Any,
    ) -> TensorMapDescriptor:  # fmt: skip
        """Columns of a convolution's input (N, spatial axes, C)."""
        told = TensorMapDescriptorOptions(**rest)
        view, kind, shape, steps = cls._begin(view, told, "Im2col tensor", 3)
        n = len(shape.shape) - 2
        low = _sized("pixel_box_lower_corner", pixel_box_lower_corner, n)
        high = _sized("pixel_box_upper_corner", pixel_box_upper_corner, n)
        middle = (
            list(low[::-1]),
            list(high[::-1]),
            channels_per_pixel,
            pixels_per_column,
            list(steps[::-1]),
        )
        return cls._finish("EncodeIm2col", "im2col", view, kind, shape, told, middle, ())

    @classmethod
    def _from_im2col_wide(
        cls, view: Any, pixel_box_lower_corner_width: int, pixel_box_upper_corner_width: int,
        channels_per_pixel: int, pixels_per_column: int, *,
        mode: TensorMapIm2ColWideMode = TensorMapIm2ColWideMode.W, **rest: Any,
    ) -> TensorMapDescriptor:  # fmt: skip
        """Columns along the width only (Blackwell)."""
        told = TensorMapDescriptorOptions(**rest)
        view, kind, shape, steps = cls._begin(view, told, "Im2col-wide tensor", 3)
        middle = (pixel_box_lower_corner_width, pixel_box_upper_corner_width, channels_per_pixel,
                  pixels_per_column, list(steps[::-1]))  # fmt: skip
        return cls._finish(
            "EncodeIm2colWide", "im2col-wide", view, kind, shape, told, middle, (mode,)
        )

    @classmethod
    def _finish(
        cls, call: str, word: str, view: Any, kind: TensorMapDataType, shape: _Shape,
        told: TensorMapDescriptorOptions, middle: tuple[Any, ...], mode: tuple[Any, ...],
    ) -> TensorMapDescriptor:  # fmt: skip
        from ..bindings import driver

        def enum(name: str, given: int) -> Any:
            return getattr(driver, f"CUtensorMap{name}")(int(given))

        head = (enum("DataType", kind), len(shape.shape))
        # the driver wants an address of strides even where rank 1 has none
        sizes = (list(shape.shape[::-1]), shape.strides[::-1] or [0])
        flags = (
            enum("Interleave", told.interleave),
            *(enum("Im2ColWideMode", given) for given in mode),
            enum("Swizzle", told.swizzle),
            enum("L2promotion", told.l2_promotion),
            enum("FloatOOBfill", told.oob_fill),
        )
        function = getattr(driver.checked, f"cuTensorMap{call}")
        encode = functools.partial(_encode, function, head, (*sizes, *middle, *flags))
        text = f"{word}, rank={len(shape.shape)}, dtype={kind.name}, swizzle={told.swizzle.name}"
        return cls._encoded(view, text, encode)

    @property
    def device(self) -> Any:
        """The Device it was made for."""
        return self._device

    def replace_address(self, tensor: Any) -> None:
        """The same boxes of other memory: a view, or what can be viewed. The shape stays."""
        view = _accessible(tensor)
        _require_view_device(view, self._device.device_id, "replace_address")
        self._take(view)

    def __repr__(self) -> str:
        return f"TensorMapDescriptor({self._text})"


_NAMES = {
    "Tensor": "_from_tiled",
    "Im2col tensor": "_from_im2col",
    "Im2col-wide tensor": "_from_im2col_wide",
}


def _encode(function: Any, head: tuple[Any, ...], rest: tuple[Any, ...], address: int) -> Any:
    return function(*head, address, *rest)
