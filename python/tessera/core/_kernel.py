# SPDX-License-Identifier: Apache-2.0
"""Kernel: a function of loaded code, its parameters, and its launches."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from .. import _core
from ..bindings import CUDAError, driver
from ._kernel_queries import (
    KernelAttributes,
    KernelOccupancy,
    MaxPotentialBlockSizeOccupancyResult,
)

__all__ = [
    "Kernel",
    "KernelAttributes",
    "KernelOccupancy",
    "MaxPotentialBlockSizeOccupancyResult",
    "ParamInfo",
]


class ParamInfo(NamedTuple):
    """Where a parameter is in the kernel's parameter block, in bytes."""

    offset: int
    size: int


class _Launch:
    """``kernel[config]`` or ``kernel[config, stream]``: called, or awaited by ``async_call``."""

    __slots__ = ("_config", "_kernel", "_stream")

    def __init__(self, kernel: Kernel, config: Any, stream: Any) -> None:
        self._kernel, self._config, self._stream = kernel, config, stream

    def __call__(self, *args: Any) -> None:
        """Launches."""
        from . import Device, launch

        stream = Device().default_stream if self._stream is None else self._stream
        launch(stream, self._config, self._kernel, *args)

    async def async_call(self, *args: Any) -> None:
        """Launches, and waits in asyncio or trio; see ``Kernel.async_call``."""
        await self._kernel.async_call(*args, config=self._config, stream=self._stream)

    def __repr__(self) -> str:
        return f"<launch of {self._kernel!r}>"


class Kernel(_core.NativeKernel):
    """A function of loaded code: ``code.get_kernel("saxpy")``. It keeps the code loaded.

    ``kernel[config](a, x, y)`` launches on the default stream; ``launch(stream, config, kernel, a,
    x, y)`` on a given one. ``await kernel[config].async_call(a, x, y)`` launches and waits.
    """

    __slots__ = ("_handle", "_library", "_occupancy")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "Kernel objects cannot be instantiated directly. Please use ObjectCode.get_kernel() or "
            "Kernel.from_handle()."
        )

    @classmethod
    def _from_library(cls, handle: Any, library: Any, name: str = "") -> Kernel:
        shown = name or f"at {int(handle):#x}"
        self: Kernel = cls._create(None, int(handle), False, library, shown)
        self._handle, self._library = handle, library
        return self

    @classmethod
    def from_handle(cls, handle: int, mod: Any = None) -> Kernel:
        """A kernel by its CUkernel; ``mod`` is an ObjectCode to keep loaded, which is not needed
        for a kernel of an ObjectCode of this process."""
        from ._object_code import ObjectCode, _Library

        if isinstance(handle, bool) or not isinstance(handle, int):
            raise TypeError(f"handle must be an int, not {type(handle).__name__}")
        if mod is not None and not isinstance(mod, ObjectCode):
            raise TypeError(f"mod must be an ObjectCode, not {type(mod).__name__}")
        kernel = driver.CUkernel(handle)
        status, library = driver.cuKernelGetLibrary(kernel)
        if mod is not None and not status and int(library) != int(mod.handle):
            warnings.warn(
                f"the library of kernel {handle:#x} does not match that of mod; the kernel's own "
                "must be kept loaded by you",
                RuntimeWarning,
                stacklevel=2,
            )
        owner = mod if status else _Library.known.get(int(library), mod)
        return cls._from_library(kernel, owner)

    @property
    def handle(self) -> Any:
        """The CUkernel."""
        return self._handle

    @property
    def attributes(self) -> KernelAttributes:
        """Registers, shared memory and so on, of the current device or of
        ``attributes[device]``."""
        return KernelAttributes._of(self)

    @property
    def occupancy(self) -> KernelOccupancy:
        """How much of the kernel fits on the current device."""
        return KernelOccupancy._of(self)

    @property
    def name(self) -> str:
        """The name in the code."""
        return driver.checked.cuKernelGetName(self._handle).decode()  # type: ignore[no-any-return]

    @property
    def arguments_info(self) -> list[ParamInfo]:
        """Offset and size of each parameter. Needs a driver of CUDA 12.4 or newer."""
        infos: list[ParamInfo] = []
        invalid = driver.CUresult.CUDA_ERROR_INVALID_VALUE
        while True:
            status, offset, size = driver.cuKernelGetParamInfo(self._handle, len(infos))
            if status == invalid:
                return infos
            if status:
                raise CUDAError("cuKernelGetParamInfo", status)
            infos.append(ParamInfo(int(offset), int(size)))

    @property
    def num_arguments(self) -> int:
        """The number of parameters."""
        return len(self.arguments_info)

    def __getitem__(self, config: Any) -> _Launch:
        """``kernel[config](*args)``: a launch on the default stream of the current device;
        ``kernel[config, stream](*args)`` on a given one."""
        config, stream = config if isinstance(config, tuple) else (config, None)
        return _Launch(self, config, stream)

    async def async_call(self, *args: Any, config: Any, stream: Any = None) -> None:
        """``await kernel.async_call(a, b, config=config)``: launches, and waits in asyncio or trio.

        Parameters
        ----------
        args
            As for ``launch``. They live until the kernel has ended, also when the waiting task is
            cancelled.
        config : LaunchConfig
        stream : Stream, optional
            None: the default stream of the current device.

        Raises
        ------
        TypeError, ValueError, OverflowError
            Before anything is enqueued.
        CUDAError
            The driver refused, or the kernel failed while it ran.
        """
        from .._async import finished, stream_of
        from . import Device, launch

        order = stream_of(Device().default_stream if stream is None else stream, "cuda")
        await finished(lambda: launch(order, config, self, *args), order, (self, args))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and int(self.handle) == int(other.handle)

    def __hash__(self) -> int:
        return hash((Kernel, int(self.handle)))

    def __repr__(self) -> str:
        return f"<Kernel handle={int(self.handle):#x}>"
