# SPDX-License-Identifier: Apache-2.0
"""Arguments that C does not take as they are: host arrays for a GPU, ``cuda.In``, ``cuda.Out``, ``cuda.InOut``, enum
members, and what extensions make of theirs."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable
from typing import Any

from .. import _core
from .._arguments import is_array
from ..core._place import CUDA
from . import config
from ._errors import NumbaPerformanceWarning

__all__ = ["In", "InOut", "Out", "prepared"]


class _Hint:
    """How a host array is passed to a GPU. On the CPU device the kernel works on the array itself, with ``In`` on a
    copy."""

    copies_in = copies_out = True

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def _numba_type_(self) -> Any:
        from ._typeof import typeof

        return typeof(self.value)

    def to_device(self, retr: list[Callable[[], Any]], stream: Any = 0) -> Any:
        """The array on the current device; ``retr`` gets what copies it back."""
        device = _core._current_device()
        return _moved(self.array(), device, self.copies_in, self.copies_out, retr)

    def array(self) -> Any:
        """What it is a hint about; TypeError where that is no array."""
        if is_array(self.value) or _is_record(self.value) or hasattr(self.value, "__cuda_array_interface__"):
            return self.value
        name, found = type(self).__name__, type(self.value).__name__
        raise TypeError(f"cuda.{name}() takes an array, found a {found}; pass numpy.asarray(value)")


class In(_Hint):
    """``cuda.In(a)``: the kernel reads the host array ``a``; what it writes is lost."""

    copies_out = False


class Out(_Hint):
    """``cuda.Out(a)``: the kernel writes the whole of the host array ``a``."""

    copies_in = False


class InOut(_Hint):
    """``cuda.InOut(a)``: the kernel reads and writes the host array ``a``, as without this."""


def _is_record(value: Any) -> bool:
    """A record of NumPy, or an array of records, texts or dates."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    one_time = kind in ("m", "M") and value.shape == ()
    return kind in tuple("VSUmM") and not one_time and type(value).__module__.partition(".")[0] == "numpy"


def _is_host(value: Any) -> bool:
    return (is_array(value) or _is_record(value)) and not hasattr(value, "__cuda_array_interface__") and _of_cpu(value)


def _of_cpu(value: Any) -> bool:
    return str(getattr(value, "device", "cpu")).partition(":")[0] == "cpu"


def _moved(value: Any, device: int, copies_in: bool, copies_out: bool, back: list[Callable[[], Any]]) -> Any:
    if not _is_host(value):
        return value
    if device < CUDA:
        return value if copies_out or not hasattr(value, "copy") else value.copy()
    if _is_record(value):
        from ._arrays import placed

        records = placed(value)
        if copies_out:
            back.append(lambda: records.copy_to_host(value))
        return records
    place, turned = f"cuda:{device & 255}", _is_fortran(value)
    there = value.T if turned else value
    array = _core.copy_of(there, place) if copies_in else _core.empty(there.shape, there.dtype, place)
    if copies_out:
        back.append(lambda: _copied_back(array, there))
    return array.transpose() if turned else array


def _is_fortran(value: Any) -> bool:
    """Whether the first index of a NumPy array is the one whose elements lie side by side; its copy keeps to that."""
    flags = getattr(value, "flags", None)
    return getattr(flags, "f_contiguous", False) and not flags.c_contiguous


def _copied_back(array: Any, value: Any) -> None:
    from .._array import to_numpy

    if isinstance(value, _core.Array):
        value._from_host(to_numpy(array)) if hasattr(value, "_from_host") else None
    elif hasattr(value, "__setitem__"):
        found = to_numpy(array)
        value[...] = found if type(value).__module__ == "numpy" else type(value)(found)


_TEXT = "pass numpy.array([value]), an array of texts of a fixed length, or name it in the kernel as a global"
_INSTEAD = {
    str: _TEXT,
    bytes: _TEXT,
    dict: "pass a tuple or a named tuple of its values, or an array with a structured dtype",
    set: "pass numpy.array(sorted(value)), an array of its elements",
}


def _plain(value: Any) -> Any:
    """What numbers, tuples and None are passed as."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, list):
        raise TypeError(
            "a list cannot be passed to a kernel: pass a tuple, or numpy.asarray(list) for an array of its elements"
        )
    if getattr(getattr(value, "dtype", None), "kind", "") in ("m", "M") and value.shape == ():
        from ._times import instance_of

        return instance_of(value)
    for kind, instead in _INSTEAD.items():
        if isinstance(value, kind):
            raise NotImplementedError(f"a {kind.__name__} cannot be passed to a kernel: {value!r}; {instead}")
    return value


def _warn_of_copy() -> None:
    if config.CUDA_WARN_ON_IMPLICIT_COPY and not config.DISABLE_PERFORMANCE_WARNINGS:
        warnings.warn(
            NumbaPerformanceWarning(
                "Host array used in CUDA kernel will incur copy overhead to/from device; use cuda.to_device(), or "
                "cuda.In() and cuda.Out()."
            ),
            stacklevel=4,
        )


def prepared(args: tuple[Any, ...], device: int, extensions: tuple[Any, ...], stream: Any) -> tuple[Any, Any]:
    """Arguments as C takes them, and what is to be called after the kernel has ended."""
    back: list[Callable[[], Any]] = []
    found = []
    for value in args:
        for extension in reversed(extensions):
            from ._typeof import typeof

            _, value = extension.prepare_args(typeof(value), value, stream=stream, retr=back)
        found.append(_argument(value, device, back))
    return tuple(found), back


def _wants_dressing(value: Any, device: int) -> bool:
    """Whether it is device memory that C does not take by itself: that of the CPU device behind another object, arrays
    of others with a stream whose work comes first, and with dates."""
    desc = None if hasattr(value, "__tessera_argument__") else getattr(value, "__cuda_array_interface__", None)
    if not isinstance(desc, dict):
        return False
    return device < CUDA or desc.get("stream") is not None or desc.get("typestr", "")[1:2] in ("m", "M")


def _argument(value: Any, device: int, back: list[Callable[[], Any]]) -> Any:
    if isinstance(value, _Hint):
        return _moved(value.array(), device, value.copies_in, value.copies_out, back)
    if isinstance(value, tuple):
        items = [_argument(item, device, back) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, _core.Buffer):
        return value.view("uint8")
    if _wants_dressing(value, device):
        from ._device_array import as_device_array

        return as_device_array(value)
    if device >= CUDA and _is_host(value):
        _warn_of_copy()
        return _moved(value, device, True, True, back)
    return _plain(value)
