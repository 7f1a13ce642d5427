# SPDX-License-Identifier: Apache-2.0
"""What all arrays of textures check: element formats, channels, shapes."""

from __future__ import annotations

from typing import Any

from ...bindings import driver
from .._errors import shown
from ..typing import ArrayFormatType

__all__ = ["array_format", "channels", "cuda_format", "descriptor", "element_bytes", "shape_of"]

# Format -> (what CUDA calls it, bytes).
_FORMATS = {
    ArrayFormatType.UINT8: ("UNSIGNED_INT8", 1),
    ArrayFormatType.UINT16: ("UNSIGNED_INT16", 2),
    ArrayFormatType.UINT32: ("UNSIGNED_INT32", 4),
    ArrayFormatType.INT8: ("SIGNED_INT8", 1),
    ArrayFormatType.INT16: ("SIGNED_INT16", 2),
    ArrayFormatType.INT32: ("SIGNED_INT32", 4),
    ArrayFormatType.FLOAT16: ("HALF", 2),
    ArrayFormatType.FLOAT32: ("FLOAT", 4),
}


def array_format(given: Any) -> ArrayFormatType:
    """A format by its word, or by a dtype."""
    if isinstance(given, str):
        try:
            return ArrayFormatType(given)
        except ValueError:
            pass
    elif isinstance(given, (int, float)) or given is None:
        raise ValueError(f"format must be an ArrayFormatType, a str or a dtype, not {shown(given)}")
    import numpy as np

    try:
        return ArrayFormatType(np.dtype(given).name)
    except TypeError:
        raise ValueError(
            f"format must be an ArrayFormatType, a str or a dtype, not {shown(given)}"
        ) from None
    except ValueError:
        raise ValueError(f"dtype {np.dtype(given)} has no ArrayFormatType equivalent") from None


def channels(given: int) -> int:
    """1, 2 or 4."""
    if given not in (1, 2, 4):
        raise ValueError(f"num_channels must be 1, 2 or 4, got {given}")
    return given


def shape_of(given: Any) -> tuple[int, ...]:
    """One to three extents."""
    try:
        shape = tuple(int(extent) for extent in given)
    except TypeError:
        raise TypeError(f"shape must be a tuple of 1 to 3 ints, not {given!r}") from None
    if not 1 <= len(shape) <= 3:
        raise ValueError(f"shape rank must be 1, 2 or 3, got {len(shape)}")
    for i, extent in enumerate(shape):
        if extent < 1:
            raise ValueError(f"shape[{i}] must be >= 1, got {extent}")
    return shape


def element_bytes(options: Any) -> int:
    """Bytes of all channels of an element."""
    return _FORMATS[options.format][1] * int(options.num_channels)


def cuda_format(given: ArrayFormatType) -> Any:
    """The driver's enum."""
    return driver.CUarray_format[f"CU_AD_FORMAT_{_FORMATS[given][0]}"]


def descriptor(options: Any) -> Any:
    """What an array is made of, for the driver."""
    made = driver.CUDA_ARRAY3D_DESCRIPTOR()
    extents = [*options.shape, 0, 0][:3]
    made.Width, made.Height, made.Depth = extents
    made.Format, made.NumChannels = cuda_format(options.format), options.num_channels
    made.Flags = driver.CUDA_ARRAY3D_SURFACE_LDST if options.is_surface_load_store else 0
    return made
