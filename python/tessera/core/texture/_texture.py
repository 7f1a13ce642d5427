# SPDX-License-Identifier: Apache-2.0
"""TextureObject: through which kernels sample arrays and memory; and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...bindings import driver
from .._utils.cuda_utils import check_or_create_options
from ..typing import AddressModeType, FilterModeType, ReadModeType
from ._array import OpaqueArray
from ._closing import Closing, address_of
from ._format import array_format, channels, cuda_format, element_bytes
from ._mipmapped_array import MipmappedArray

__all__ = ["ResourceDescriptor", "TextureObject", "TextureObjectOptions"]


class ResourceDescriptor:
    """What a texture or surface is of: made by ``from_opaque_array``, ``from_mipmapped_array``,
    ``from_linear``, ``from_pitch2d``. It keeps the source alive.

    Attributes
    ----------
    kind : str
        "array", "mipmapped_array", "linear" or "pitch2d".
    source : OpaqueArray, MipmappedArray or Buffer
    format, num_channels
        Of an element.
    size_bytes, width, height, pitch_bytes : int
        Of memory.
    """

    __slots__ = ("_size_bytes", "format", "height", "kind", "num_channels", "pitch_bytes", "source",
                 "width")  # fmt: skip
    kind: str
    source: Any
    format: Any
    num_channels: int
    width: int
    height: int
    pitch_bytes: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "ResourceDescriptor cannot be instantiated directly. Please use "
            "ResourceDescriptor.from_*()."
        )

    @classmethod
    def _of(
        cls, kind: str, source: Any, form: Any, n_channels: int, **rest: int
    ) -> ResourceDescriptor:
        self = object.__new__(cls)
        self.kind, self.source, self.format, self.num_channels = kind, source, form, n_channels
        self._size_bytes = rest.get("size_bytes", 0)
        self.width, self.height = rest.get("width", 0), rest.get("height", 0)
        self.pitch_bytes = rest.get("pitch_bytes", 0)
        return self

    @property
    def size_bytes(self) -> int:
        """Bytes of linear memory."""
        return self._size_bytes

    @classmethod
    def from_opaque_array(cls, array: Any) -> ResourceDescriptor:
        """A CUDA array."""
        if not isinstance(array, OpaqueArray):
            raise TypeError(f"array must be an OpaqueArray, not {type(array).__name__}")
        return cls._of("array", array, array.format, array.num_channels)

    @classmethod
    def from_mipmapped_array(cls, mipmapped_array: Any) -> ResourceDescriptor:
        """All levels of a mipmapped array."""
        if not isinstance(mipmapped_array, MipmappedArray):
            kind = type(mipmapped_array).__name__
            raise TypeError(f"mipmapped_array must be a MipmappedArray, not {kind}")
        told = mipmapped_array
        return cls._of("mipmapped_array", told, told.format, told.num_channels)

    @classmethod
    def from_linear(
        cls, buffer: Any, *, format: Any, num_channels: int, size_bytes: int | None = None
    ) -> ResourceDescriptor:
        """A row of elements in a Buffer; all of it by default."""
        _check_buffer(buffer)
        made = cls._of("linear", buffer, array_format(format), channels(num_channels))
        size, element = buffer.size if size_bytes is None else size_bytes, element_bytes(made)
        if size > buffer.size:
            raise ValueError(f"size_bytes {size} exceeds buffer.size {buffer.size}")
        if size < element:
            raise ValueError(f"size_bytes {size} must hold at least one element of {element} bytes")
        if size % element:
            raise ValueError(f"size_bytes {size} must be a multiple of element size {element}")
        made._size_bytes = size
        return made

    @classmethod
    def from_pitch2d(
        cls,
        buffer: Any,
        *,
        format: Any,
        num_channels: int,
        width: int,
        height: int,
        pitch_bytes: int,
    ) -> ResourceDescriptor:
        """Rows of elements in a Buffer, ``pitch_bytes`` apart."""
        _check_buffer(buffer)
        for name, extent in (("width", width), ("height", height)):
            if extent < 1:
                raise ValueError(f"{name} must be >= 1, got {extent}")
        made = cls._of(
            "pitch2d", buffer, array_format(format), channels(num_channels), width=width, height=height,
            pitch_bytes=pitch_bytes,
        )  # fmt: skip
        row = width * element_bytes(made)
        if pitch_bytes < row:
            raise ValueError(f"pitch_bytes {pitch_bytes} is less than a row of {row} bytes")
        if pitch_bytes * height > buffer.size:
            raise ValueError(
                f"pitch_bytes * height = {pitch_bytes * height} exceeds buffer.size {buffer.size}"
            )
        return made

    def _made(self) -> Any:
        """For the driver."""
        made = driver.CUDA_RESOURCE_DESC()
        made.resType = driver.CUresourcetype[_KINDS[self.kind]]
        _FILL[self.kind](self, made.res)
        return made

    def __repr__(self) -> str:
        return (
            f"ResourceDescriptor(kind={self.kind!r}, format={self.format}, "
            f"num_channels={self.num_channels})"
        )


def _check_buffer(buffer: Any) -> None:
    from .. import Buffer

    if not isinstance(buffer, Buffer):
        raise TypeError(f"buffer must be a Buffer, not {type(buffer).__name__}")


def _fill_array(of: ResourceDescriptor, res: Any) -> None:
    res.array.hArray = driver.CUarray(of.source._live)


def _fill_mipmap(of: ResourceDescriptor, res: Any) -> None:
    res.mipmap.hMipmappedArray = driver.CUmipmappedArray(of.source._live)


def _fill_linear(of: ResourceDescriptor, res: Any) -> None:
    res.linear.devPtr = address_of(of.source)
    res.linear.format, res.linear.numChannels = cuda_format(of.format), of.num_channels
    res.linear.sizeInBytes = of._size_bytes


def _fill_pitch(of: ResourceDescriptor, res: Any) -> None:
    res.pitch2D.devPtr = address_of(of.source)
    res.pitch2D.format, res.pitch2D.numChannels = cuda_format(of.format), of.num_channels
    res.pitch2D.width, res.pitch2D.height = of.width, of.height
    res.pitch2D.pitchInBytes = of.pitch_bytes


_KINDS = {
    "array": "CU_RESOURCE_TYPE_ARRAY",
    "mipmapped_array": "CU_RESOURCE_TYPE_MIPMAPPED_ARRAY",
    "linear": "CU_RESOURCE_TYPE_LINEAR",
    "pitch2d": "CU_RESOURCE_TYPE_PITCH2D",
}
_FILL = {
    "array": _fill_array,
    "mipmapped_array": _fill_mipmap,
    "linear": _fill_linear,
    "pitch2d": _fill_pitch,
}


@dataclass
class TextureObjectOptions:
    """How a texture is sampled.

    Parameters
    ----------
    address_mode : AddressModeType or tuple
        Outside of the extent: "wrap", "clamp", "mirror" or "border"; one for all axes, or up to
        three.
    filter_mode, mipmap_filter_mode : FilterModeType
        "point" or "linear".
    read_mode : ReadModeType
        "element_type", or "normalized_float": integers as fractions of their range.
    normalized_coords : bool
        Coordinates from 0 to 1.
    border_color : tuple of four floats, optional
    """

    address_mode: Any = AddressModeType.CLAMP
    filter_mode: FilterModeType | str = FilterModeType.POINT
    read_mode: ReadModeType | str = ReadModeType.ELEMENT_TYPE
    normalized_coords: bool = False
    srgb: bool = False
    disable_trilinear_optimization: bool = False
    seamless_cubemap: bool = False
    max_anisotropy: int = 0
    mipmap_filter_mode: FilterModeType | str = FilterModeType.POINT
    mipmap_level_bias: float = 0.0
    min_mipmap_level_clamp: float = 0.0
    max_mipmap_level_clamp: float = 0.0
    border_color: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for name, kind in _WORDS.items():
            try:
                setattr(self, name, kind(getattr(self, name)))
            except ValueError:
                given = getattr(self, name)
                raise ValueError(f"{name} must be a {kind.__name__}, got {given!r}") from None


_WORDS = {
    "filter_mode": FilterModeType,
    "read_mode": ReadModeType,
    "mipmap_filter_mode": FilterModeType,
}
_FLAGS = {
    "normalized_coords": "CU_TRSF_NORMALIZED_COORDINATES",
    "srgb": "CU_TRSF_SRGB",
    "disable_trilinear_optimization": "CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION",
    "seamless_cubemap": "CU_TRSF_SEAMLESS_CUBEMAP",
}


def _normalize_address_modes(given: Any) -> tuple[AddressModeType, ...]:
    """Three modes; the last one stands for those that are missing."""
    if isinstance(given, str):
        given = (given,)
    elif not isinstance(given, (tuple, list)):
        raise TypeError(
            f"address_mode must be an AddressModeType or a tuple of them, not {given!r}"
        )
    if not 1 <= len(given) <= 3:
        raise ValueError(f"address_mode tuple must have 1-3 entries, got {len(given)}")
    modes = []
    for i, mode in enumerate(given):
        try:
            modes.append(AddressModeType(mode))
        except ValueError:
            raise ValueError(
                f"address_mode[{i}] must be an AddressModeType, got {mode!r}"
            ) from None
    return (*modes, *(modes[-1],) * (3 - len(modes)))


def _filter(given: Any) -> Any:
    return driver.CUfilter_mode[f"CU_TR_FILTER_MODE_{given.name}"]


def _texture_descriptor(told: TextureObjectOptions) -> Any:
    if told.max_anisotropy < 0:
        raise ValueError(f"max_anisotropy must be >= 0, got {told.max_anisotropy}")
    if told.border_color is not None and len(told.border_color) != 4:
        raise ValueError(f"border_color must have 4 elements, got {len(told.border_color)}")
    made = driver.CUDA_TEXTURE_DESC()
    made.addressMode = [
        driver.CUaddress_mode[f"CU_TR_ADDRESS_MODE_{mode.name}"]
        for mode in _normalize_address_modes(told.address_mode)
    ]
    made.filterMode, made.mipmapFilterMode = map(
        _filter, (told.filter_mode, told.mipmap_filter_mode)
    )
    made.flags = sum(getattr(driver, flag) for name, flag in _FLAGS.items() if getattr(told, name))
    if told.read_mode == ReadModeType.ELEMENT_TYPE:
        made.flags |= driver.CU_TRSF_READ_AS_INTEGER
    made.maxAnisotropy = told.max_anisotropy
    made.mipmapLevelBias = told.mipmap_level_bias
    made.minMipmapLevelClamp = told.min_mipmap_level_clamp
    made.maxMipmapLevelClamp = told.max_mipmap_level_clamp
    if told.border_color is not None:
        made.borderColor = list(told.border_color)
    return made


class TextureObject(Closing):
    """Made by ``device.create_texture_object(resource=..., options=TextureObjectOptions(...))``;
    ``handle`` is a kernel's argument. It keeps the resource alive."""

    __slots__ = ("device", "options", "resource")
    device: Any
    options: TextureObjectOptions
    resource: ResourceDescriptor

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "TextureObject cannot be instantiated directly. Please use "
            "Device.create_texture_object()."
        )

    @classmethod
    def _init(cls, device: Any, resource: Any, options: Any) -> TextureObject:
        if not isinstance(resource, ResourceDescriptor):
            raise TypeError(f"resource must be a ResourceDescriptor, not {type(resource).__name__}")
        told = check_or_create_options(TextureObjectOptions, options, "texture options")
        made = _texture_descriptor(told)
        self = object.__new__(cls)
        self.resource, self.options, self.device = resource, told, device
        self._handle = int(driver.checked.cuTexObjectCreate(resource._made(), made, None))
        self._end = driver.checked.cuTexObjectDestroy
        return self

    def __repr__(self) -> str:
        return f"TextureObject(handle={self._handle:#x}, {self.resource!r})"
