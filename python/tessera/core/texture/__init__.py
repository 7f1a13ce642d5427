# SPDX-License-Identifier: Apache-2.0
"""CUDA arrays, textures and surfaces.

A CUDA array has a layout of the hardware's own: it is filled and read by copies, sampled through a
TextureObject and written through a SurfaceObject, whose ``handle`` is the kernel's argument. Shapes
are (width,), (width, height) or (width, height, depth).
"""

from __future__ import annotations

from ._array import OpaqueArray, OpaqueArrayOptions
from ._mipmapped_array import MipmappedArray, MipmappedArrayOptions
from ._surface import SurfaceObject
from ._texture import ResourceDescriptor, TextureObject, TextureObjectOptions

__all__ = [
    "MipmappedArray",
    "MipmappedArrayOptions",
    "OpaqueArray",
    "OpaqueArrayOptions",
    "ResourceDescriptor",
    "SurfaceObject",
    "TextureObject",
    "TextureObjectOptions",
]
