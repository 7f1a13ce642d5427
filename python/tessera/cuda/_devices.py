# SPDX-License-Identifier: Apache-2.0
"""Devices and contexts. On a machine without a GPU there is one device, number 0: the CPU."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .. import _core, core
from . import config
from ._errors import CudaSupportError

__all__ = [
    "Context", "Device", "close", "cuda_error", "current_context", "detect", "get_current_device", "gpus",
    "is_available", "is_bfloat16_supported", "is_float16_supported", "is_fp8_supported", "is_supported_version",
    "list_devices", "profile_start", "profile_stop", "profiling", "require_context", "runtime", "select_device",
    "synchronize",
]  # fmt: skip

_locked = threading.local()


class Device:
    """A GPU, or the CPU device. Names of CU_DEVICE_ATTRIBUTE_* are attributes: ``MULTIPROCESSOR_COUNT``."""

    def __init__(self, device: core.Device) -> None:
        self._device = device
        self.id = max(device.device_id, 0)

    @property
    def name(self) -> str:
        """As the maker calls it."""
        return self._device.name

    @property
    def uuid(self) -> str:
        """``GPU-...``; of the CPU device a name."""
        return "CPU-00000000-0000-0000-0000-000000000000" if self._is_cpu else f"GPU-{self._device.uuid}"

    @property
    def _is_cpu(self) -> bool:
        return self._device.device_id < 0

    @property
    def compute_capability(self) -> tuple[int, int]:
        """(major, minor); the CPU device does what one of (9, 0) does."""
        if self._is_cpu:
            return config.FORCE_CUDA_CC or (9, 0)
        return tuple(self._device.compute_capability)  # type: ignore[return-value]

    supports_float16 = True

    @property
    def supports_bfloat16(self) -> bool:
        return self.compute_capability >= (8, 0)

    def reset(self) -> None:
        """Ends everything on the device."""
        _core.reset(self._device._text)

    def get_primary_context(self) -> Context:
        """The device's context."""
        return Context(self)

    release_primary_context = reset

    @property
    def attributes(self) -> dict[str, Any]:
        return {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not name.isupper():
            raise AttributeError(f"a device has no attribute {name!r}")
        if self._is_cpu:
            if name in _OF_CPU:
                return _OF_CPU[name]()
            raise AttributeError(f"the CPU device has no attribute {name!r}; it has {', '.join(_OF_CPU)}")
        from ..bindings import driver

        number = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}", None)
        if number is None:
            raise AttributeError(f"the driver has no CU_DEVICE_ATTRIBUTE_{name}")
        return int(driver.checked.cuDeviceGetAttribute(number, self.id))

    def __int__(self) -> int:
        return self.id

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self._device == other._device

    def __hash__(self) -> int:
        return hash(self._device)

    def __repr__(self) -> str:
        return f"<CUDA device {self.id} '{self.name}'>"


def _cores() -> int:
    return int(_core.device_info("cpu")["units"])  # as TESSERA_NUM_THREADS, affinity and cgroup say


# What kernels of threads meet on the CPU device, which keeps to the limits of GPUs.
_OF_CPU: dict[str, Callable[[], int]] = {
    "MULTIPROCESSOR_COUNT": _cores,
    "WARP_SIZE": lambda: 32,
    "MAX_THREADS_PER_BLOCK": lambda: 1024,
    "MAX_BLOCK_DIM_X": lambda: 1024,
    "MAX_BLOCK_DIM_Y": lambda: 1024,
    "MAX_BLOCK_DIM_Z": lambda: 64,
    "MAX_GRID_DIM_X": lambda: (1 << 31) - 1,
    "MAX_GRID_DIM_Y": lambda: 65535,
    "MAX_GRID_DIM_Z": lambda: 65535,
    "MAX_SHARED_MEMORY_PER_BLOCK": lambda: 48 << 10,
    "UNIFIED_ADDRESSING": lambda: 1,
    "CONCURRENT_MANAGED_ACCESS": lambda: 1,
    "MANAGED_MEMORY": lambda: 1,
    "COOPERATIVE_LAUNCH": lambda: 1,
    "COMPUTE_CAPABILITY_MAJOR": lambda: (config.FORCE_CUDA_CC or (9, 0))[0],
    "COMPUTE_CAPABILITY_MINOR": lambda: (config.FORCE_CUDA_CC or (9, 0))[1],
    "MAX_THREADS_PER_MULTIPROCESSOR": lambda: 2048,
    "MAX_REGISTERS_PER_BLOCK": lambda: 65536,
    "TOTAL_CONSTANT_MEMORY": lambda: 64 << 10,
    "ASYNC_ENGINE_COUNT": lambda: 1,
    "CONCURRENT_KERNELS": lambda: 1,
    "CAN_MAP_HOST_MEMORY": lambda: 1,
    "PAGEABLE_MEMORY_ACCESS": lambda: 1,
    "INTEGRATED": lambda: 1,
    "ECC_ENABLED": lambda: 0,
}


class _Gpus:
    """``cuda.gpus``: the devices. ``with cuda.gpus[1]: ...`` works on one of them."""

    @property
    def lst(self) -> list[_Managed]:
        found = core.Device.get_all_devices() if not config.DISABLE_CUDA else ()
        return [_Managed(device) for device in found or (core.Device("cpu"),)]

    def __len__(self) -> int:
        return len(self.lst)

    def __iter__(self) -> Iterator[_Managed]:
        return iter(self.lst)

    def __getitem__(self, index: Any) -> _Managed:
        found = self.lst
        if not -len(found) <= int(index) < len(found):
            has = "one, number 0" if len(found) == 1 else f"{len(found)}, numbers 0 to {len(found) - 1}"
            raise IndexError(f"there is no device {int(index)}; this machine has {has}")
        return found[int(index)]

    @property
    def current(self) -> _Managed:
        """The current device."""
        return _Managed(core.Device())

    def __str__(self) -> str:
        return ", ".join(map(str, self.lst))


class _Managed(Device):
    """A device as a block: it is current inside, and what was before is afterwards."""

    def __enter__(self) -> Context:
        before = _core._current_device()
        if getattr(_locked, "device", None) not in (None, self._device._id):
            raise RuntimeError("Cannot switch CUDA-context.")
        self.__dict__.setdefault("_before", []).append(before)
        self._device.set_current()
        return Context(self)

    def __exit__(self, *error: object) -> None:
        core._device.device_of(self._before.pop()).set_current()


gpus = _Gpus()


class Context:
    """The context of a device: its memory, streams and limits."""

    def __init__(self, device: Device) -> None:
        self.device = device

    @property
    def id(self) -> int:
        return self.device.id

    @property
    def handle(self) -> Any:
        """The driver's context; 0 on the CPU device."""
        return 0 if self.device._is_cpu else self.device._device.context.handle

    @property
    def memory_manager(self) -> Any:
        """Who allocates: Tessera, or the manager that was set."""
        from ._managers import builtin, chosen

        return chosen() or builtin

    @memory_manager.setter
    def memory_manager(self, manager: Any) -> None:
        """None: the manager is made anew when it is next needed."""
        from ._managers import renew

        renew(manager)

    @property
    def deallocations(self) -> Any:
        """Memory that was not given back yet."""
        from ._memory import deallocations

        return deallocations

    def get_memory_info(self) -> Any:
        """(free, total) bytes, with these names."""
        return self.memory_manager.get_memory_info()

    def memalloc(self, bytesize: int) -> Any:
        """Device memory."""
        return self.memory_manager.memalloc(bytesize)

    def memhostalloc(self, bytesize: int, mapped: bool = False, portable: bool = False, wc: bool = False) -> Any:
        """Page-locked host memory."""
        from ._host_memory import host_block

        return host_block(bytesize, mapped=mapped, portable=portable, wc=wc)

    def memallocmanaged(self, bytesize: int, attach_global: bool = True) -> Any:
        """Memory that moves by itself."""
        from ._host_memory import managed_block

        return managed_block(bytesize, attach_global)

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> Any:
        """Page-locks host memory that is there."""
        from ._host_memory import pinned_block

        return pinned_block(owner, pointer, size, mapped=mapped)

    def get_ipc_handle(self, memory: Any) -> Any:
        """What another process opens memory with."""
        from ._ipc import handle_of_memory

        return handle_of_memory(int(memory.device_pointer_value), memory.size)

    def create_stream(self) -> Any:
        """A new stream."""
        from ._streams import stream

        return stream()

    def get_default_stream(self) -> Any:
        """The default stream."""
        from ._streams import default_stream

        return default_stream()

    def get_legacy_default_stream(self) -> Any:
        """The default stream of the device."""
        from ._streams import legacy_default_stream

        return legacy_default_stream()

    def get_per_thread_default_stream(self) -> Any:
        """The default stream of the thread."""
        from ._streams import per_thread_default_stream

        return per_thread_default_stream()

    def create_external_stream(self, ptr: int) -> Any:
        """A stream of another library."""
        from ._streams import external_stream

        return external_stream(ptr)

    def create_event(self, timing: bool = True) -> Any:
        """A new event."""
        from ._streams import event

        return event(timing)

    def create_module_ptx(self, ptx: Any) -> Any:
        """PTX as a module, a ``tessera.core.ObjectCode``."""
        return core.ObjectCode.from_ptx(ptx.encode() if isinstance(ptx, str) else ptx)

    def create_module_image(self, image: Any) -> Any:
        """A cubin as a module."""
        return core.ObjectCode.from_cubin(image)

    def can_access_peer(self, peer_context: Any) -> bool:
        """Whether kernels can use memory of another GPU."""
        other = getattr(peer_context, "device", peer_context)
        number = int(other)
        return not self.device._is_cpu and self.device._device.can_access_peer(number)

    def enable_peer_access(self, peer_context: Any, flags: int = 0) -> None:
        """Lets kernels use memory of another GPU."""
        from ..bindings import driver

        driver.checked.cuCtxEnablePeerAccess(peer_context, flags)

    def get_max_potential_block_size(self, *args: Any, **named: Any) -> tuple[int, int]:
        """(blocks, threads of a block) that fill the device."""
        return 2 * self.device.MULTIPROCESSOR_COUNT, 256

    def push(self) -> None:
        """Makes the device current."""
        self.device._device.set_current()

    def pop(self) -> None:
        """Lets it go; the next current device is found as at the beginning."""

    def prepare_for_use(self) -> None:
        """Contexts are ready when they are made."""

    def reset(self) -> None:
        """Waits for the device, gives back memory that nobody uses, and ends modules whose code has callbacks: their
        kernels are loaded anew."""
        from ._loaded import end_all

        synchronize()
        end_all()
        self.memory_manager.reset()

    def synchronize(self) -> None:
        """Waits for the device."""
        self.device._device.sync()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and self.device == other.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"<CUDA context of {self.device!r}>"


def current_context(devnum: int | None = None) -> Context:
    """The context of the current device, or of device ``devnum``."""
    return Context(Device(core.Device()) if devnum is None else gpus[devnum])


def get_current_device() -> Device:
    """The current device."""
    return gpus.current


def list_devices() -> list[_Managed]:
    """All devices."""
    return gpus.lst


def select_device(device_id: int) -> Device:
    """Makes a device current in this thread; ValueError or IndexError where there is none of the number."""
    if getattr(_locked, "device", None) is not None:
        raise RuntimeError("Cannot switch CUDA-context.")
    chosen = gpus[device_id]
    chosen._device.set_current()
    return chosen


def require_context(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function that keeps to the current device while it runs."""

    @functools.wraps(fn)
    def run(*args: Any, **kwargs: Any) -> Any:
        before = getattr(_locked, "device", None)
        _locked.device = _core._current_device()
        try:
            return fn(*args, **kwargs)
        finally:
            _locked.device = before

    return run


def synchronize() -> None:
    """Waits for all work of the current device."""
    core.Device().sync()


def close() -> None:
    """Waits for the current device and lets it go; arrays stay valid."""
    from ._memory import deallocations

    synchronize()
    deallocations.clear()


@contextlib.contextmanager
def profiling() -> Iterator[None]:
    """A block between ``profile_start`` and ``profile_stop``."""
    profile_start()
    try:
        yield
    finally:
        profile_stop()


def _profiler(name: str) -> None:
    if core.Device().device_id >= 0:
        from ..bindings import driver

        getattr(driver.checked, name)()


def profile_start() -> None:
    """A profiler begins to collect here; nothing without a GPU."""
    _profiler("cuProfilerStart")


def profile_stop() -> None:
    """A profiler ends to collect here."""
    _profiler("cuProfilerStop")


# ---- what there is -----------------------------------------------------------------------------------


def is_available() -> bool:
    """Whether kernels can run: on a GPU, or on the CPU device where LLVM is found. Never raises."""
    try:
        if _core.device_count("cuda") > 0 and not config.DISABLE_CUDA:
            return True
        return not _core.llvm_info()["error"]
    except Exception:  # noqa: BLE001 - a promise
        return False


def is_supported_version() -> bool:
    """Whether the driver is new enough; True without a GPU."""
    return True


def cuda_error() -> CudaSupportError | None:
    """Why no kernel can run; None where they can."""
    if config.DISABLE_CUDA and _core.device_count("cuda") > 0:
        from ._memory import DISABLED

        return CudaSupportError(DISABLED)
    if is_available():
        return None
    return CudaSupportError(f"there is no GPU, and no LLVM for the CPU device: {_core.llvm_info()['error']}")


def detect() -> bool:
    """Prints the devices; gives whether there are any."""
    found = list_devices()
    print(f"Found {len(found)} CUDA devices")
    for device in found:
        major, minor = device.compute_capability
        kind = "CPU device" if device._is_cpu else f"compute capability: {major}.{minor}"
        print(f"id {device.id}    {device.name!r:>40}                              [SUPPORTED]")
        print(f"{'':>22}{kind}")
        print(f"{'':>22}uuid: {device.uuid}")
    print("Summary:")
    print(f"\t{len(found)}/{len(found)} devices are supported")
    return bool(found)


def is_float16_supported() -> bool:
    """Always."""
    return True


def is_bfloat16_supported() -> bool:
    """On GPUs from (8, 0) on, and on the CPU device."""
    return get_current_device().compute_capability >= (8, 0)


def is_fp8_supported() -> bool:
    """On GPUs from (8, 9) on, and on the CPU device."""
    return get_current_device().compute_capability >= (8, 9)


class _Runtime:
    """``cuda.runtime``."""

    def get_version(self) -> tuple[int, int]:
        """Of the driver's CUDA; of the PTX that is written where there is none."""
        if core.Device().device_id < 0:
            return 13, 0
        from ..bindings import driver

        number = int(driver.checked.cuDriverGetVersion())
        return number // 1000, number % 1000 // 10

    def is_supported_version(self) -> bool:
        return True

    @property
    def supported_versions(self) -> tuple[tuple[int, int], ...]:
        return (self.get_version(),)


runtime = _Runtime()
