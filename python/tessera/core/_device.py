# SPDX-License-Identifier: Apache-2.0
"""Devices: GPUs by number, and the CPU."""

from __future__ import annotations

import operator
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from .. import _core
from . import _context
from ._device_properties import DeviceProperties
from ._errors import cpu_cannot, shown, why_no_gpu
from ._event import Event
from ._options import options_of
from ._place import CPU, CUDA, context_of, in_context
from ._stream import Stream, StreamOptions, default_stream

if TYPE_CHECKING:
    from ._context import Context, ContextOptions
    from ._device_resources import DeviceResources
    from ._memory._buffer import Buffer, MemoryResource

__all__ = ["ComputeCapability", "Device", "DeviceProperties"]

_tls = threading.local()
_new_stream, _new_event = Stream._create, Event._create  # bound once


class ComputeCapability(NamedTuple):
    """The generation of a GPU: (9, 0) is Hopper."""

    major: int
    minor: int


class Device:
    """A device: ``Device(0)`` is GPU 0, ``Device("cpu")`` the CPU, ``Device()`` the current one.

    ``Device()`` gives the GPU whose context is current in this thread, else GPU 0, else (where no
    GPU is found) the CPU. There is one object for each device and thread.

    Parameters
    ----------
    device_id : int, str, Device, optional
        Number of a GPU; ``"cpu"``, ``"cuda"`` or ``"cuda:N"``; a Device is given back.

    Raises
    ------
    ValueError
        There is no such device.
    """

    __slots__ = ("__weakref__", "_id", "_memory_resource", "_properties")
    _id: int  # as the core names it: kind << 8 | ordinal
    _memory_resource: Any
    _properties: DeviceProperties | None

    def __new__(cls, device_id: Device | int | str | None = None) -> Device:
        if isinstance(device_id, Device):
            return device_id
        return device_of(_core._current_device() if device_id is None else _id_of(device_id))

    @classmethod
    def get_all_devices(cls) -> tuple[Device, ...]:
        """The GPUs of this machine, in order; none where there is no driver."""
        return tuple(device_of(CUDA | i) for i in range(_core.device_count("cuda")))

    # ---- what it is

    @property
    def _is_cpu(self) -> bool:
        return self._id < CUDA

    def _gpu(self, what: str) -> int:
        """The ordinal; DeviceError on the CPU, which has none of ``what``."""
        if self._is_cpu:
            raise cpu_cannot(what)
        return self._id & 255

    @property
    def _text(self) -> str:
        """As other parts of Tessera name devices."""
        return "cpu" if self._is_cpu else f"cuda:{self._id & 255}"

    @property
    def device_id(self) -> int:
        """The number of the GPU; -1 for the CPU."""
        return -1 if self._is_cpu else self._id & 255

    @property
    def name(self) -> str:
        """As the maker calls it."""
        return str(_core.device_info(self._text)["name"])

    @property
    def uuid(self) -> str:
        """The GPU's identity, as nvidia-smi writes it without "GPU-"."""
        from ..bindings import driver

        hexes = driver.checked.cuDeviceGetUuid(self._gpu("UUID")).bytes.hex()
        return "-".join((hexes[:8], hexes[8:12], hexes[12:16], hexes[16:20], hexes[20:]))

    @property
    def pci_bus_id(self) -> str:
        """Place on the PCI bus, "0000:65:00.0"."""
        from ..bindings import driver

        text = driver.checked.cuDeviceGetPCIBusId(13, self._gpu("PCI bus id"))
        return str(text.split(b"\0")[0].decode())

    @property
    def properties(self) -> DeviceProperties:
        """What the GPU has and can."""
        if self._properties is None:
            self._properties = DeviceProperties._init(self._gpu("CUDA properties"))
        return self._properties

    @property
    def compute_capability(self) -> ComputeCapability:
        """The GPU's generation."""
        if self._is_cpu:
            raise cpu_cannot("compute capability")
        return ComputeCapability(
            self.properties.compute_capability_major, self.properties.compute_capability_minor
        )

    @property
    def arch(self) -> str:
        """The compute capability as compilers write it: "90"."""
        return "".join(str(part) for part in self.compute_capability)

    def to_system_device(self) -> Any:
        """The same GPU for NVML: ``tessera.core.system.Device``."""
        self._gpu("NVML")
        from .system import Device as SystemDevice

        return SystemDevice(uuid=self.uuid)

    # ---- the current device

    def set_current(self, ctx: Context | None = None) -> Context | None:
        """Makes the device this thread's current one.

        Parameters
        ----------
        ctx : Context, optional
            A context of this GPU to use instead of its primary one.

        Returns
        -------
        Context or None
            With ``ctx``, the context that was current before.
        """
        _core._set_cpu_current(self._is_cpu)
        if self._is_cpu:
            if ctx is not None:
                raise cpu_cannot("contexts")
            return None
        from ._context import set_current_context

        return set_current_context(self, ctx)

    @property
    def context(self) -> Context:
        """The current context if it is one of this GPU, else its primary one."""
        from ._context import Context

        ordinal = self._gpu("contexts")
        return Context._of_handle(context_of(ordinal), self._id)

    def create_context(self, options: ContextOptions | dict[str, Any] | None = None) -> Context:
        """A green context: one that may use part of the GPU (``options.resources``)."""
        from ._context import create_green_context

        self._gpu("contexts")
        return create_green_context(self, options)

    @property
    def resources(self) -> DeviceResources:
        """The SMs and work queues of the GPU, to be divided among green contexts."""
        from ._device_resources import DeviceResources

        self._gpu("resources to divide")
        return DeviceResources._init(self)

    def can_access_peer(self, peer: Device | int) -> bool:
        """Whether kernels of this GPU can use memory of another one."""
        from ..bindings import driver

        mine, other = self._gpu("peers"), Device(peer)
        if other == self:
            return True
        return bool(driver.checked.cuDeviceCanAccessPeer(mine, other._gpu("peers")))

    def sync(self) -> None:
        """Waits for everything given to the device. Raises for kernels that failed."""
        _core.synchronize(self._text)

    # ---- short forms

    def use(self) -> Device:
        """``device = Device(0).use()``: as ``set_current()``, gives the device."""
        self.set_current()
        return self

    def synchronize(self) -> None:
        """As ``sync()``."""
        self.sync()

    def mem_alloc(self, nbytes: int) -> Buffer:
        """As ``allocate(nbytes)``; see ``Buffer.copy_from_host`` and ``copy_to_host``."""
        return self.allocate(nbytes)

    # ---- making things

    @property
    def memory_resource(self) -> MemoryResource:
        """What ``allocate`` uses; the device's default pool unless it was set."""
        if self._memory_resource is None:
            from ._memory._pool import default_resource

            self._memory_resource = default_resource(self)
        return self._memory_resource

    @memory_resource.setter
    def memory_resource(self, mr: MemoryResource) -> None:
        from ._memory._buffer import MemoryResource

        if not isinstance(mr, MemoryResource):
            raise TypeError(f"memory_resource must be a MemoryResource, not {type(mr).__name__}")
        self._memory_resource = mr

    @property
    def default_stream(self) -> Stream:
        """The stream that everything else waits for, and that waits for everything else."""
        token = default_stream()
        return Stream._wrap(self._id, 0 if self._is_cpu else token._address, None, False)

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        """``size`` bytes of ``memory_resource``, usable by work of ``stream`` (None: the default
        one)."""
        return self.memory_resource.allocate(
            size, stream=self.default_stream if stream is None else stream
        )

    def create_stream(
        self, obj: Any = None, options: StreamOptions | dict[str, Any] | None = None
    ) -> Stream:
        """A new stream, or one over another library's (an object with ``__cuda_stream__``), kept
        alive."""
        # `data`: without the Python call of a weak dictionary's length; a dead entry costs time only
        if obj is None and options is None and (not _context._green_contexts.data or self._is_cpu):
            return _new_stream(self._id, True, None)
        return self._create_stream(Stream, obj, options)

    def _create_stream(self, cls: type[Stream], obj: Any, options: Any) -> Stream:
        if obj is not None:
            if options is not None:
                raise ValueError(
                    "obj and options cannot be both specified: a stream of another library has its own"
                )
            return cls._of_object(obj, self._id)
        o = options_of(StreamOptions, options)
        if o.priority is not None:
            self._check_priority(o.priority)
        if self._is_cpu:
            return cls._create(self._id, bool(o.nonblocking), o.priority)
        return _context.green_stream(cls, self, o) or cls._create(
            self._id, bool(o.nonblocking), o.priority
        )

    def _check_priority(self, priority: int) -> None:
        if not isinstance(priority, int):
            raise TypeError(f"priority must be an int, not {type(priority).__name__}")
        if self._is_cpu:
            return
        from ..bindings import driver

        with in_context(self._id & 255):
            least, greatest = driver.checked.cuCtxGetStreamPriorityRange()
        if not greatest <= priority <= least:
            raise ValueError(
                f"priority {priority} is out of range {greatest} to {least} of {self.name}"
            )

    def create_event(self, options: Any = None) -> Event:
        """An event that was not recorded yet."""
        flags = Event._flags_of(options)
        if flags & 4:
            raise TypeError("IPC-enabled events must be bound; use Stream.record for creation.")
        return _new_event(self._id, flags)

    def create_graph_builder(self) -> Any:
        """A builder that captures the work given to it into a graph."""
        from .graph import GraphBuilder

        return GraphBuilder._init(stream=self.create_stream(), is_stream_owner=True)

    def create_opaque_array(self, options: Any) -> Any:
        """An array in the layout of texture units."""
        from .texture import OpaqueArray

        self._gpu("texture units")
        return OpaqueArray._init(self, options)

    def create_mipmapped_array(self, options: Any) -> Any:
        """An array with its smaller versions, for texture units."""
        from .texture import MipmappedArray

        self._gpu("texture units")
        return MipmappedArray._init(self, options)

    def create_texture_object(self, *, resource: Any, options: Any = None) -> Any:
        """What kernels read an array or memory through, with filtering and addressing."""
        from .texture import TextureObject

        self._gpu("texture units")
        return TextureObject._init(self, resource, options)

    def create_surface_object(self, *, resource: Any) -> Any:
        """What kernels write an array through."""
        from .texture import SurfaceObject

        self._gpu("texture units")
        return SurfaceObject._init(self, resource)

    # ---- as a value

    def __int__(self) -> int:
        return self.device_id

    def __eq__(self, other: object) -> bool:
        return self._id == other._id if isinstance(other, Device) else NotImplemented

    def __hash__(self) -> int:
        return hash(("tessera.core.Device", self._id))

    def __repr__(self) -> str:
        return f"<Device {'cpu' if self._is_cpu else self._id & 255} ({self.name})>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Device, ("cpu" if self._is_cpu else self.device_id,)


def device_of(number: int) -> Device:
    """This thread's Device for a number of the core."""
    devices: dict[int, Device] | None = getattr(_tls, "devices", None)
    if devices is None:
        devices = _tls.devices = {}
    device = devices.get(number)
    if device is None:
        device = devices[number] = object.__new__(Device)
        device._id, device._memory_resource, device._properties = number, None, None
    return device


def _id_of(device: int | str) -> int:
    if isinstance(device, str):
        if device in ("cpu", "cpu:0"):
            return CPU
        head, _, tail = device.partition(":")
        if head != "cuda" or not (tail or "0").isdecimal():
            raise ValueError(
                f"{shown(device)} is not a device; use a number, 'cpu', 'cuda' or 'cuda:N'"
            )
        device = int(tail or 0)
    try:
        number = operator.index(None if isinstance(device, bool) else device)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"{shown(device)} is not a device; use a number, 'cpu', 'cuda' or 'cuda:N'"
        ) from None
    count = _core.device_count("cuda")
    if not 0 <= number < count:
        _refuse_number(number, count)
    return CUDA | number


def _refuse_number(number: int, count: int) -> NoReturn:
    if count == 0 and number == 0:
        _core.device_info("cuda:0")  # raises DeviceNotFoundError, which says what is missing
    if count == 0:
        raise ValueError(f"device_id {number} names no GPU: {why_no_gpu()}; or use Device('cpu')")
    raise ValueError(
        f"device_id must be 0 to {count - 1}: this machine has {count} GPUs, not one of number "
        f"{number}; use Device('cpu') for the CPU"
    )
