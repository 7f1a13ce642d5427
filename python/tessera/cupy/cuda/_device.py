# SPDX-License-Identifier: Apache-2.0
"""Devices by CuPy's numbers."""

from __future__ import annotations

import contextvars
from typing import Any

from ... import _core, core
from ... import numeric as tn

__all__ = ["Device", "get_compute_capability", "get_device_id"]

# How to leave the `with` blocks of this thread: threads may enter one device's object.
_entered: contextvars.ContextVar[tuple[Any, ...]] = contextvars.ContextVar("cupy_devices_entered", default=())


def has_gpu() -> bool:
    """Whether arrays lie on GPUs here."""
    return _core.device_count("cuda") > 0


def _count() -> int:
    return _core.device_count("cuda") or 1


class Device:
    """``with Device(1): ...``: new arrays and kernels are there. ``Device()`` is the current one.

    Raises
    ------
    ValueError
        There is no such device.
    """

    id: int

    def __init__(self, device: Any = None) -> None:
        number: int = (
            _current()
            if device is None
            else device.id
            if isinstance(device, Device)
            else int(device)
        )
        if not 0 <= number < _count():
            raise ValueError(f"there is no device {number}; this machine has {_count()}")
        self.id = number

    @classmethod
    def _of_name(cls, name: str) -> Device:
        return cls(int(name.partition(":")[2] or 0)) if name != "cpu" or not has_gpu() else cls(0)

    @property
    def _name(self) -> str:
        return f"cuda:{self.id}" if has_gpu() else "cpu"

    def __enter__(self) -> Device:  # noqa: PYI034  no Self in Python 3.10
        before = _current()
        token = _core.numeric_current.set(_core.numeric_place(self._name))
        _entered.set((*_entered.get(), (token, before)))
        self._select(self.id)
        return self

    def __exit__(self, *exception: object) -> None:
        *outer, (token, before) = _entered.get()
        _entered.set(tuple(outer))
        _core.numeric_current.reset(token)
        self._select(before)

    @staticmethod
    def _select(number: int) -> None:
        if has_gpu():
            core.Device(number).set_current()

    def use(self) -> Device:
        """Makes it the current device of this thread."""
        _core.numeric_current.set(_core.numeric_place(self._name))
        self._select(self.id)
        return self

    def synchronize(self) -> None:
        """Waits until everything on it is done."""
        from ... import synchronize

        _core.numeric_flush()
        synchronize(self._name)

    @property
    def attributes(self) -> dict[str, int]:
        """What the driver says of it, by names of cudaDeviceAttr without prefix."""
        from . import runtime

        return runtime.attributes(self.id)

    @property
    def compute_capability(self) -> str:
        """ "90" for 9.0; of the CPU "0"."""
        if not has_gpu():
            return "0"
        found = core.Device(self.id).compute_capability
        return f"{found.major}{found.minor}"

    @property
    def mem_info(self) -> tuple[int, int]:
        """Bytes that are free, and all."""
        from . import runtime

        with self:
            return runtime.memGetInfo()

    @property
    def pci_bus_id(self) -> str:
        """Where it is plugged in."""
        return str(core.Device(self.id).pci_bus_id) if has_gpu() else "cpu"

    def __int__(self) -> int:
        return self.id

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __lt__(self, other: Device) -> bool:
        return self.id < other.id

    def __hash__(self) -> int:
        return self.id

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>" if has_gpu() else "<CPU Device 0>"


def _current() -> int:
    number = _core.numeric_current.get(None)
    name = str(_core.numeric_device_name(number)) if number is not None else ""
    if name.startswith("cuda:"):
        return int(name[5:])
    return 0


def get_device_id() -> int:
    """The number of the current device."""
    return _current()


def get_compute_capability() -> str:
    """Of the current device."""
    return Device().compute_capability


def wait_for_arrays() -> Any:
    """Starts the work that arrays wait for; the current device's default stream then has it."""
    _core.numeric_flush()
    return tn
