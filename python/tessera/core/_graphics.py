# SPDX-License-Identifier: Apache-2.0
"""GraphicsResource: memory shared with OpenGL, which these bindings do not have."""

from __future__ import annotations

from typing import Any, NoReturn

from .._errors import DeviceError

__all__ = ["GraphicsResource"]


class GraphicsResource:
    """A buffer or image of OpenGL that kernels could use.

    Tessera's bindings have no functions of OpenGL (cudaGL.h): making one raises DeviceError.
    Register the object with another package and wrap the mapped address: ``Buffer.from_handle(ptr,
    size)``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "GraphicsResource objects cannot be instantiated directly. Please use "
            "GraphicsResource.from_gl_buffer() or from_gl_image()."
        )

    @classmethod
    def from_gl_buffer(cls, gl_buffer: int, *, flags: Any = None, stream: Any = None) -> NoReturn:
        """A buffer of OpenGL: not available."""
        _refuse("from_gl_buffer")

    @classmethod
    def from_gl_image(
        cls, image: int, target: int, *, flags: Any = None, stream: Any = None
    ) -> NoReturn:
        """A texture or renderbuffer of OpenGL: not available."""
        _refuse("from_gl_image")


def _refuse(what: str) -> NoReturn:
    raise DeviceError(
        f"GraphicsResource.{what}: Tessera has no interoperability with OpenGL; wrap an address "
        "that was mapped elsewhere with Buffer.from_handle(ptr, size)"
    )
