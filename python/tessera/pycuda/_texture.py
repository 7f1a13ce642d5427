# SPDX-License-Identifier: Apache-2.0
"""Arrays for textures, and texture and surface references.

CUDA 12 has no references any more. ``compiler.SourceModule`` declares ``texture<...>`` and
``surface<...>`` as variables that hold the number of a texture object (``include/tessera/
references.hpp``); the classes here make that object and store its number before a launch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bindings import driver
from ._call import LogicError, cu
from ._context import Context, Owner, stream_handle
from ._copy import Memcpy2D, Memcpy3D
from ._enums import names

__all__ = [
    "Array", "ArrayDescriptor", "ArrayDescriptor3D", "SurfaceReference", "TextureReference",
    "bind_array_to_texref", "dtype_to_array_format", "gpuarray_to_array",
    "make_multichannel_2d_array", "matrix_to_array", "matrix_to_texref", "np_to_array",
]  # fmt: skip

_FORMATS = {
    "u1": "UNSIGNED_INT8", "u2": "UNSIGNED_INT16", "u4": "UNSIGNED_INT32", "i1": "SIGNED_INT8",
    "i2": "SIGNED_INT16", "i4": "SIGNED_INT32", "f2": "HALF", "f4": "FLOAT",
}  # fmt: skip
# Wider elements are read as several of int32 and put together; see include/pycuda-helpers.hpp.
_SPLIT = {"f8": ("i4", 2), "i8": ("i4", 2), "u8": ("u4", 2), "c8": ("f4", 2), "c16": ("i4", 4)}


def _code(dtype: Any) -> str:
    dtype = np.dtype(dtype)
    return f"{dtype.kind}{dtype.itemsize}"


def dtype_to_array_format(dtype: Any) -> Any:
    """The ``array_format`` of a dtype."""
    try:
        return getattr(names["array_format"], _FORMATS[_code(dtype)])
    except KeyError:
        raise TypeError(f"an Array has no elements of type {np.dtype(dtype)}") from None


def _format_of(dtype: Any) -> tuple[Any, int]:
    """(array_format, channels) that hold one element of a dtype, wide ones included."""
    code, channels = _SPLIT.get(_code(dtype), (_code(dtype), 1))
    return dtype_to_array_format(np.dtype(code)), channels


class ArrayDescriptor:
    """Form of a two-dimensional Array: width and height in elements, format, channels."""

    _struct = "CUDA_ARRAY_DESCRIPTOR"
    _fields = ("width", "height", "format", "num_channels")

    def __init__(self) -> None:
        self.width = self.height = self.depth = self.flags = 0
        self.format, self.num_channels = names["array_format"].FLOAT, 1

    def _record(self) -> Any:
        values = {name.title().replace("_", ""): getattr(self, name) for name in self._fields}
        return getattr(driver, self._struct)(
            **{field: value if field == "Format" else int(value) for field, value in values.items()}
        )

    @classmethod
    def _of(cls, record: Any) -> Any:
        made = cls()
        for name in cls._fields:
            setattr(made, name, getattr(record, name.title().replace("_", "")))
        return made


class ArrayDescriptor3D(ArrayDescriptor):
    """Form of an Array of three dimensions or layers; ``flags`` of ``array3d_flags``."""

    _struct = "CUDA_ARRAY3D_DESCRIPTOR"
    _fields = (*ArrayDescriptor._fields, "depth", "flags")


class Array(Owner):
    """Memory in the order that textures read best."""

    _held = "handle"

    def __init__(self, descriptor: ArrayDescriptor) -> None:
        is_deep = isinstance(descriptor, ArrayDescriptor3D)
        create = cu.cuArray3DCreate if is_deep else cu.cuArrayCreate
        self._context = Context.get_current()
        self.handle = int(create(descriptor._record()))

    def get_descriptor(self) -> ArrayDescriptor:
        """Its form."""
        return ArrayDescriptor._of(cu.cuArrayGetDescriptor(self.handle))  # type: ignore[no-any-return]

    def get_descriptor_3d(self) -> ArrayDescriptor3D:
        """Its form, with depth and flags."""
        return ArrayDescriptor3D._of(cu.cuArray3DGetDescriptor(self.handle))  # type: ignore[no-any-return]

    def free(self) -> None:
        """Gives the memory back."""
        self._release()

    def _end(self, handle: int) -> None:
        cu.cuArrayDestroy(handle)


class _Reference(Owner):
    """A variable of a module that holds the number of an object made of an Array or of memory."""

    _held = "_object"

    def __init__(self, address: int = 0) -> None:
        self._address, self._object, self._is_stored = address, 0, True
        self._resource: Any = None
        self._kept: Any = None
        self._context = Context.get_current()

    def _use(self, resource: Any, kept: Any) -> None:
        self._resource, self._kept, self._is_stored = resource, kept, False

    def set_array(self, array: Array, flags: int = 0) -> None:
        """Reads (and writes, for a surface) an Array."""
        del flags
        resource = driver.CUDA_RESOURCE_DESC(resType=driver.CUresourcetype(0))
        resource.res.array.hArray = array.handle
        self._use(resource, array)

    def get_array(self) -> Array:
        """The Array that was set."""
        if not isinstance(self._kept, Array):
            raise LogicError("no Array was bound to this reference")
        return self._kept

    def _create(self) -> int:
        raise NotImplementedError

    def _store(self, stream: Any) -> None:
        """Before a launch: the object's number goes to the module's variable."""
        if self._is_stored:
            return
        self._release()
        self._object = self._create()
        number = np.uint64(self._object)
        cu.cuStreamSynchronize(stream_handle(stream))  # earlier launches still read the variable
        cu.cuMemcpyHtoD(self._address, number.tobytes(), 8)
        self._is_stored = True


class SurfaceReference(_Reference):
    """A ``surface<...>`` variable."""

    def _create(self) -> int:
        return int(cu.cuSurfObjectCreate(self._resource))

    def _end(self, number: int) -> None:
        cu.cuSurfObjectDestroy(number)


class TextureReference(_Reference):
    """A ``texture<...>`` variable."""

    def __init__(self, address: int = 0) -> None:
        super().__init__(address)
        clamp, point = names["address_mode"].CLAMP, names["filter_mode"].POINT
        self._modes, self._filter, self._flags = [clamp, clamp, clamp], point, 0
        self._format: tuple[Any, int] = (names["array_format"].FLOAT, 1)
        if address:
            words = np.zeros(3, np.uint32)
            cu.cuMemcpyDtoH(words, address, 12)  # object number, then the flags of its type
            self._flags = int(words[2])

    def set_address(self, devptr: Any, bytes: int, allow_offset: bool = False) -> int:  # noqa: A002
        """Reads device memory, with ``tex1Dfetch``; gives the offset, which is always 0."""
        del allow_offset
        self._linear = (int(devptr), bytes)
        self._use(None, devptr)
        return 0

    def set_address_2d(self, devptr: Any, descr: ArrayDescriptor, pitch: int) -> None:
        """Reads rows of device memory."""
        resource = driver.CUDA_RESOURCE_DESC(resType=driver.CUresourcetype(3))
        resource.res.pitch2D = driver.CUDA_RESOURCE_DESC_pitch2D(
            devPtr=int(devptr), format=descr.format, numChannels=descr.num_channels,
            width=descr.width, height=descr.height, pitchInBytes=pitch,
        )  # fmt: skip
        self._use(resource, devptr)

    def set_format(self, fmt: Any, num_components: int) -> None:
        """The elements of device memory."""
        self._format, self._is_stored = (fmt, num_components), self._kept is None

    def set_address_mode(self, dim: int, am: Any) -> None:
        """What is read beyond the edge of an axis."""
        self._modes[dim], self._is_stored = am, self._kept is None

    def set_filter_mode(self, fm: Any) -> None:
        """Nearest element or linear interpolation."""
        self._filter, self._is_stored = fm, self._kept is None

    def set_flags(self, flags: int) -> None:
        """TRSF_READ_AS_INTEGER, TRSF_NORMALIZED_COORDINATES."""
        self._flags, self._is_stored = int(flags), self._kept is None

    def get_address_mode(self, dim: int) -> Any:
        """An ``address_mode``."""
        return self._modes[dim]

    def get_filter_mode(self) -> Any:
        """A ``filter_mode``."""
        return self._filter

    def get_flags(self) -> int:
        """The flags."""
        return self._flags

    def get_format(self) -> tuple[Any, int]:
        """(array_format, channels)."""
        return self._format

    def _create(self) -> int:
        resource = self._resource
        if resource is None:
            address, size = self._linear
            resource = driver.CUDA_RESOURCE_DESC(resType=driver.CUresourcetype(2))
            resource.res.linear = driver.CUDA_RESOURCE_DESC_linear(
                devPtr=address, format=self._format[0], numChannels=self._format[1],
                sizeInBytes=size,
            )  # fmt: skip
        how = driver.CUDA_TEXTURE_DESC(filterMode=self._filter, flags=self._flags)
        how.addressMode = self._modes
        return int(cu.cuTexObjectCreate(resource, how, None))

    def _end(self, number: int) -> None:
        cu.cuTexObjectDestroy(number)


def bind_array_to_texref(ary: Array, texref: TextureReference) -> None:
    """Binds an Array, with coordinates in elements and values as they are stored."""
    texref.set_array(ary)
    texref.set_address_mode(0, names["address_mode"].CLAMP)
    texref.set_address_mode(1, names["address_mode"].CLAMP)
    texref.set_filter_mode(names["filter_mode"].POINT)


# ---- arrays of numpy's ---------------------------------------------------------------------------


def _order_of(matrix: Any, order: str) -> Any:
    if order not in ("C", "F"):
        raise LogicError(f"order must be 'C' or 'F', not {order!r}")
    return np.asarray(matrix, order=order)


def matrix_to_array(matrix: Any, order: str, allow_double_hack: bool = False) -> Array:
    """A two-dimensional Array of a matrix; with order "F" the first index is the first coordinate."""
    matrix = _order_of(matrix, order)
    if matrix.dtype.itemsize > 4 and not allow_double_hack:
        raise TypeError(f"{matrix.dtype} is wider than an element: allow_double_hack=True")
    height, width = matrix.shape if order == "C" else matrix.shape[::-1]
    made = ArrayDescriptor()
    made.width, made.height = width, height
    made.format, made.num_channels = _format_of(matrix.dtype)
    return _filled(Array(made), matrix, width * matrix.itemsize, height, 1)


def _filled(array: Array, source: Any, pitch: int, height: int, depth: int) -> Array:
    """Copies host or device memory of `depth` layers of `height` rows into an Array."""
    copy: Any = Memcpy3D() if depth > 1 else Memcpy2D()
    if hasattr(source, "gpudata"):
        copy.set_src_device(source.gpudata)
    else:
        copy.set_src_host(source)
    copy.set_dst_array(array)
    copy.width_in_bytes = copy.src_pitch = pitch
    copy.height = height
    if depth > 1:
        copy.src_height, copy.depth = height, depth
    copy()
    return array


def _deep(source: Any, order: str, allow_surface: bool) -> Array:
    """An Array of two (with one layer) or three dimensions of an array of host or device."""
    shape = source.shape if order == "C" else source.shape[::-1]
    if not 2 <= len(shape) <= 3:
        raise LogicError(f"an Array is made of 2 or 3 dimensions, not {len(shape)}")
    flags, made = names["array3d_flags"], ArrayDescriptor3D()
    depth, (height, width) = (shape[0] if len(shape) == 3 else 0), shape[-2:]
    made.width, made.height, made.depth = width, height, depth
    made.format, made.num_channels = _format_of(source.dtype)
    made.flags = flags.SURFACE_LDST if allow_surface else 0
    if len(shape) == 2 and allow_surface:
        made.depth, made.flags = 1, made.flags | flags.LAYERED
    return _filled(Array(made), source, width * source.dtype.itemsize, height, max(1, depth))


def np_to_array(nparray: Any, order: str, allowSurfaceBind: bool = False) -> Array:  # noqa: N803
    """An Array of an array of 2 or 3 dimensions; for surfaces, 2 dimensions become a layer."""
    return _deep(_order_of(nparray, order), order, allowSurfaceBind)


def gpuarray_to_array(gpuarray: Any, order: str, allowSurfaceBind: bool = False) -> Array:  # noqa: N803
    """``np_to_array`` of a GPUArray, copied within the device."""
    is_ordered = gpuarray.flags.c_contiguous if order == "C" else gpuarray.flags.f_contiguous
    if not is_ordered:
        raise LogicError(f"the array is not contiguous in order {order!r}")
    return _deep(gpuarray, order, allowSurfaceBind)


def make_multichannel_2d_array(ndarray: Any, order: str) -> Array:
    """An Array of (channels, width, height) values in order "F", (height, width, channels) in "C"."""
    ndarray = _order_of(ndarray, order)
    channels, width, height = ndarray.shape if order == "F" else ndarray.shape[::-1]
    made = ArrayDescriptor()
    made.width, made.height = width, height
    made.format, made.num_channels = dtype_to_array_format(ndarray.dtype), channels
    return _filled(Array(made), ndarray, width * channels * ndarray.itemsize, height, 1)


def matrix_to_texref(matrix: Any, texref: TextureReference, order: str) -> None:
    """Binds a matrix."""
    bind_array_to_texref(matrix_to_array(matrix, order), texref)
