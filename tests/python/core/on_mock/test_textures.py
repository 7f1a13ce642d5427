# SPDX-License-Identifier: Apache-2.0
"""Arrays, mipmapped arrays, textures and surfaces of a GPU; the mock copies and records."""

from __future__ import annotations

import ctypes
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tessera import core
from tessera.bindings import driver
from tessera.core.texture import (
    MipmappedArray,
    MipmappedArrayOptions,
    OpaqueArray,
    OpaqueArrayOptions,
    ResourceDescriptor,
    SurfaceObject,
    TextureObject,
    TextureObjectOptions,
)


@pytest.fixture(autouse=True)
def nothing_left(mock: Any) -> Iterator[None]:
    gc.collect()
    before = mock.n_arrays, mock.n_objects
    yield
    gc.collect()
    assert (mock.n_arrays, mock.n_objects) == before


def told(mock: Any, name: str) -> Any:
    """The description that the driver was given last, as the struct it is."""
    made = {"resource": driver.CUDA_RESOURCE_DESC, "texture": driver.CUDA_TEXTURE_DESC}[name]()
    room = memoryview(made)
    address = ctypes.addressof(mock) + getattr(type(mock), name).offset
    room[:] = ctypes.string_at(address, room.nbytes)
    return made


@pytest.fixture
def stream(device: core.Device) -> core.Stream:
    return device.create_stream()


# ---- arrays


@pytest.mark.parametrize("shape", [(6,), (6, 4), (6, 4, 3)])
@pytest.mark.parametrize(
    ("kind", "n"), [("uint8", 1), ("float16", 4), ("int32", 2), ("float32", 1)]
)
def test_elements_go_in_and_come_out(
    device: core.Device, stream: Any, shape: Any, kind: str, n: int
) -> None:
    array = device.create_opaque_array(OpaqueArrayOptions(shape=shape, format=kind, num_channels=n))
    elements = np.arange(array.size_bytes, dtype=np.uint8)
    assert array.element_bytes == n * np.dtype(kind).itemsize
    assert array.size_bytes == np.prod(shape) * array.element_bytes
    array.copy_from(elements, stream=stream)
    back = np.zeros_like(elements)
    assert array.copy_to(back, stream=stream) is back
    assert (back == elements).all()
    buffer = device.allocate(array.size_bytes)
    buffer.fill(5)
    array.copy_from(buffer, stream=stream)
    array.copy_to(back, stream=stream)
    assert (back == 5).all() and "OpaqueArray(shape=" in repr(array)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"shape": (0, 4), "format": "uint8"}, ValueError, r"shape\[0\] must be >= 1, got 0"),
        ({"shape": (1, -4), "format": "uint8"}, ValueError, r"shape\[1\] must be >= 1, got -4"),
        ({"shape": (1,) * 4, "format": "uint8"}, ValueError, "rank must be 1, 2 or 3, got 4"),
        ({"shape": 3, "format": "uint8"}, TypeError, "a tuple of 1 to 3 ints, not 3"),
        ({"shape": (4,), "format": "float64"}, ValueError, "no ArrayFormatType equivalent"),
        ({"shape": (4,), "format": 7}, ValueError, "must be an ArrayFormatType"),
        ({"shape": (4,), "format": "int8", "num_channels": 3}, ValueError, "1, 2 or 4, got 3"),
    ],
)
def test_bad_options_are_named(options: Any, error: type, words: str) -> None:
    for kind in (OpaqueArrayOptions, MipmappedArrayOptions):
        with pytest.raises(error, match=words):
            kind(**options)


def test_memory_that_does_not_fit_is_refused(device: core.Device, stream: Any) -> None:
    array = device.create_opaque_array({"shape": (4, 4), "format": "uint8"})
    read_only = np.zeros(16, np.uint8)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="15 bytes is smaller than the array extent of 16"):
        array.copy_from(bytes(15), stream=stream)
    with pytest.raises(ValueError, match="read-only"):
        array.copy_to(read_only, stream=stream)
    with pytest.raises(ValueError, match="must be contiguous"):
        array.copy_from(np.zeros(32, np.uint8)[::2], stream=stream)
    buffer = device.allocate(16)
    buffer.close()
    with pytest.raises(RuntimeError, match="the Buffer is closed"):
        array.copy_from(buffer, stream=stream)
    with pytest.raises(TypeError, match="stream is required"):
        array.copy_from(bytes(16), stream=None)


def test_closed_arrays_say_so(device: core.Device, stream: Any) -> None:
    with device.create_opaque_array({"shape": (4,), "format": "uint8"}) as array:
        resource = ResourceDescriptor.from_opaque_array(array)
    assert array.handle == 0
    array.close()
    with pytest.raises(RuntimeError, match="the OpaqueArray is closed"):
        array.copy_from(bytes(4), stream=stream)
    with pytest.raises(RuntimeError, match="the OpaqueArray is closed"):
        device.create_texture_object(resource=resource)
    levels = device.create_mipmapped_array({"shape": (4,), "format": "uint8", "num_levels": 2})
    levels.close()
    with pytest.raises(RuntimeError, match="the MipmappedArray is closed"):
        levels.get_level(0)


def test_a_failed_device_is_told(mock: Any, device: core.Device) -> None:
    mock.sticky = 2
    with pytest.raises(core.CUDAError, match="cuArray3DCreate.*OUT_OF_MEMORY"):
        device.create_opaque_array({"shape": (4,), "format": "uint8"})
    mock.sticky = 0
    mock.n_arrays -= 1  # it was made before the mock refused


def test_nothing_is_made_by_constructors() -> None:
    for kind in (OpaqueArray, MipmappedArray, TextureObject, SurfaceObject, ResourceDescriptor):
        with pytest.raises(RuntimeError, match=f"{kind.__name__} cannot be instantiated directly"):
            kind()


# ---- levels


def test_levels_are_arrays_that_keep_the_memory(
    mock: Any, device: core.Device, stream: Any
) -> None:
    options = MipmappedArrayOptions(shape=(8, 4), format="uint8", num_levels=3)
    levels = device.create_mipmapped_array(options)
    assert (levels.shape, levels.num_levels, levels.device) == ((8, 4), 3, device)
    small = levels.get_level(2)
    assert small.shape == (2, 1) and levels.get_level(1).shape == (4, 2)
    for level, words in (
        (-1, "level must be >= 0, got -1"),
        (3, r"level must be < num_levels \(3\)"),
    ):
        with pytest.raises(ValueError, match=words):
            levels.get_level(level)
    before = mock.n_arrays
    levels.close()
    gc.collect()
    assert mock.n_arrays == before
    back = bytearray(2)
    small.copy_from(b"ab", stream=stream)
    small.copy_to(back, stream=stream)
    assert back == b"ab"
    small.close()
    del small
    gc.collect()
    assert mock.n_arrays == before - 1


def test_at_least_one_level() -> None:
    with pytest.raises(ValueError, match="num_levels must be >= 1, got 0"):
        MipmappedArrayOptions(shape=(8,), format="uint8", num_levels=0)


# ---- textures


def test_a_texture_of_each_kind(mock: Any, device: core.Device) -> None:
    array = device.create_opaque_array({"shape": (4, 4), "format": "float32"})
    levels = device.create_mipmapped_array({"shape": (4,), "format": "uint8", "num_levels": 2})
    buffer = device.allocate(1024)
    linear = ResourceDescriptor.from_linear(buffer, format="float32", num_channels=2, size_bytes=64)
    rows = ResourceDescriptor.from_pitch2d(
        buffer, format="uint8", num_channels=4, width=8, height=4, pitch_bytes=64
    )
    for kind, resource in enumerate((
        ResourceDescriptor.from_opaque_array(array),
        ResourceDescriptor.from_mipmapped_array(levels),
        linear,
        rows,
    )):  # fmt: skip
        texture = device.create_texture_object(resource=resource)
        assert texture.handle and texture.resource is resource
        assert int(told(mock, "resource").resType) == kind
    made = told(mock, "resource").res.pitch2D
    assert (made.width, made.height, made.pitchInBytes, made.numChannels) == (8, 4, 64, 4)
    assert int(made.devPtr) == buffer.handle and linear.size_bytes == 64


def test_options_become_the_drivers(mock: Any, device: core.Device) -> None:
    array = device.create_opaque_array({"shape": (4, 4), "format": "uint8"})
    options = TextureObjectOptions(
        address_mode=("wrap", "border"), filter_mode="linear", read_mode="normalized_float",
        normalized_coords=True, srgb=True, max_anisotropy=4, mipmap_level_bias=0.5,
        min_mipmap_level_clamp=1.0, max_mipmap_level_clamp=2.0, border_color=(1, 2, 3, 4),
    )  # fmt: skip
    resource = ResourceDescriptor.from_opaque_array(array)
    device.create_texture_object(resource=resource, options=options)
    made = told(mock, "texture")
    assert [int(mode) for mode in made.addressMode] == [0, 3, 3]
    assert (int(made.filterMode), int(made.mipmapFilterMode)) == (1, 0)
    assert made.flags == driver.CU_TRSF_NORMALIZED_COORDINATES | driver.CU_TRSF_SRGB
    assert (made.maxAnisotropy, made.mipmapLevelBias) == (4, 0.5)
    assert (made.minMipmapLevelClamp, made.maxMipmapLevelClamp) == (1.0, 2.0)
    assert list(made.borderColor) == [1, 2, 3, 4]
    device.create_texture_object(resource=resource)
    assert told(mock, "texture").flags == driver.CU_TRSF_READ_AS_INTEGER


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"filter_mode": "cubic"}, "filter_mode must be a FilterModeType, got 'cubic'"),
        ({"address_mode": "over"}, r"address_mode\[0\] must be an AddressModeType, got 'over'"),
        ({"address_mode": ()}, "1-3 entries, got 0"),
        ({"max_anisotropy": -1}, "max_anisotropy must be >= 0, got -1"),
        ({"border_color": (1, 2)}, "border_color must have 4 elements, got 2"),
    ],
)
def test_bad_texture_options_are_named(device: core.Device, options: Any, words: str) -> None:
    array = device.create_opaque_array({"shape": (4, 4), "format": "uint8"})
    with pytest.raises(ValueError, match=words):
        device.create_texture_object(
            resource=ResourceDescriptor.from_opaque_array(array),
            options=TextureObjectOptions(**options),
        )


def test_memory_of_textures_is_checked(device: core.Device) -> None:
    buffer = device.allocate(64)
    linear, rows = ResourceDescriptor.from_linear, ResourceDescriptor.from_pitch2d
    form: dict[str, Any] = {"format": "float32", "num_channels": 1}
    for size, words in ((65, "exceeds buffer.size 64"), (3, "at least one element of 4"),
                        (6, "multiple of element size 4")):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            linear(buffer, size_bytes=size, **form)
    for width, height, pitch, words in ((0, 1, 4, "width must be >= 1"), (4, 1, 8, "less than a row of 16"),
                                        (4, 5, 16, "= 80 exceeds buffer.size 64")):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            rows(buffer, width=width, height=height, pitch_bytes=pitch, **form)
    with pytest.raises(TypeError, match="buffer must be a Buffer, not bytes"):
        linear(b"", **form)
    with pytest.raises(TypeError, match="array must be an OpaqueArray, not Buffer"):
        ResourceDescriptor.from_opaque_array(buffer)
    with pytest.raises(TypeError, match="resource must be a ResourceDescriptor, not Buffer"):
        device.create_texture_object(resource=buffer)
    closed = linear(buffer, **form)
    buffer.close()
    with pytest.raises(RuntimeError, match="the Buffer is closed"):
        device.create_texture_object(resource=closed)


def test_a_texture_keeps_its_array(mock: Any, device: core.Device) -> None:
    array = device.create_opaque_array({"shape": (4,), "format": "uint8"})
    seen = weakref.ref(array)
    before = mock.n_objects
    texture = device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(array))
    del array
    gc.collect()
    assert seen() is not None and mock.n_objects == before + 1
    texture.close()
    texture.close()
    assert mock.n_objects == before
    del texture
    gc.collect()
    assert seen() is None


# ---- surfaces


def test_a_surface_needs_an_array_made_for_it(mock: Any, device: core.Device) -> None:
    def resource(**more: Any) -> ResourceDescriptor:
        options = {"shape": (4,), "format": "uint8", **more}
        return ResourceDescriptor.from_opaque_array(device.create_opaque_array(options))

    surface = device.create_surface_object(resource=resource(is_surface_load_store=True))
    assert surface.handle and repr(surface) == f"SurfaceObject(handle={surface.handle:#x})"
    with pytest.raises(ValueError, match="is_surface_load_store=True"):
        device.create_surface_object(resource=resource())
    linear = ResourceDescriptor.from_linear(device.allocate(8), format="int8", num_channels=1)
    with pytest.raises(ValueError, match="array-backed resource, not one of linear"):
        device.create_surface_object(resource=linear)


def test_a_cpu_has_no_texture_units() -> None:
    cpu = core.Device("cpu")
    with pytest.raises(Exception, match="(?i)cpu.*texture units|texture units.*cpu"):
        cpu.create_opaque_array({"shape": (4,), "format": "uint8"})
