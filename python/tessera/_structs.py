# SPDX-License-Identifier: Apache-2.0
"""What arrays hold beside numbers: records of NumPy (structured dtypes) and texts of a fixed length, as the packer
writes them and launches pass them.

NumPy is imported only where an array or dtype of NumPy is at hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _ast_table as tables
from ._foreign import dtype_name, is_of_numba

if TYPE_CHECKING:
    from ._pack import _Packer

__all__ = ["Structured", "bytes_of", "element_of", "is_constant", "pack_constant", "pack_element"]


class Structured:
    """An array as launches take it: the dtype of its elements, and their first bytes, an array of uint8 with the
    strides (in bytes) of the elements."""

    __slots__ = ("array", "dtype")

    def __init__(self, dtype: Any, array: Any) -> None:
        self.dtype, self.array = dtype, array


def element_of(obj: Any) -> Any:
    """The NumPy dtype of records or texts that an object stands for, or None."""
    dtype = getattr(type(obj), "__tessera_element__", None)
    if dtype is not None:
        return dtype.__get__(obj)
    if is_of_numba(obj, "Record"):
        return obj.dtype
    is_dtype = type(obj).__module__.partition(".")[0] == "numpy" and hasattr(obj, "itemsize")
    return obj if is_dtype and getattr(obj, "kind", "") in ("V", "S", "U", "m", "M") else None


def _described(dtype: Any) -> str:
    if dtype.subdtype is not None:
        return f"{_described(dtype.subdtype[0])}{list(dtype.shape)}"
    if dtype.names is None:
        return str(dtype)
    return f"record ({', '.join(f'{name}: {_described(dtype.fields[name][0])}' for name in dtype.names)})"


def _refuse(dtype: Any, why: str) -> None:
    raise TypeError(f"kernels cannot hold elements of {dtype}: {why}")


def pack_element(packer: _Packer, dtype: Any) -> int:
    """The object of the pack that says what elements of the dtype are: DTYPE, CHARS, STRUCT, or the
    RECORD that dates and spans are instances of."""
    if not dtype.isnative:
        _refuse(dtype, 'it has the byte order of another machine; pass array.astype(array.dtype.newbyteorder("="))')
    if dtype.kind in "SU" and dtype.itemsize:
        size = 1 if dtype.kind == "S" else 4
        return packer.add(tables.CHARS, dtype.itemsize // size, size)
    if dtype.kind in "mM":
        from .cuda._times import class_of

        return packer.object(class_of(dtype))
    if dtype.names is None:
        name = dtype_name(dtype)
        if name is None:
            _refuse(dtype, "they are no numbers, texts or records of such")
        return packer.add(tables.DTYPE, packer.text(str(name)))
    if not dtype.itemsize:
        _refuse(dtype, "it has no bytes")
    words = []
    for name in dtype.names:
        of, offset = dtype.fields[name][:2]
        base, shape = (of, ()) if of.subdtype is None else of.subdtype
        words += [packer.text(name), pack_element(packer, base), offset, packer.list(list(shape))]
    return packer.add(tables.STRUCT, packer.text(_described(dtype)[:120]), dtype.itemsize, packer.list(words))


def is_constant(obj: Any, most: int) -> bool:
    """Whether it is an array of records or texts of the host, or one of them, with at most so many elements."""
    if type(obj).__module__.partition(".")[0] != "numpy" or element_of(getattr(obj, "dtype", None)) is None:
        return False
    return hasattr(obj, "tobytes") and 0 < obj.size <= most and not isinstance(obj, (str, bytes))


def pack_constant(packer: _Packer, obj: Any) -> int:
    """The object of the pack with the bytes of all elements."""
    if obj.dtype.kind in "mM" and obj.shape == ():
        from .cuda._times import instance_of

        return packer.object(instance_of(obj))
    of = pack_element(packer, obj.dtype)
    found = obj.tobytes()
    found += bytes(-len(found) % 4)
    words = [int.from_bytes(found[i : i + 4], "little") for i in range(0, len(found), 4)]
    return packer.add(tables.ELEMENTS, of, packer.list(list(obj.shape)), packer.list(words))


def bytes_of(value: Any) -> Structured | None:
    """An argument as `Structured`; None: it is no array or record of NumPy."""
    if isinstance(value, Structured):
        return value
    if not type(value).__module__.partition(".")[0] == "numpy" and not hasattr(value, "__array_interface__"):
        return None
    import numpy

    if isinstance(value, numpy.void):
        return Structured(value.dtype, _record_bytes(value))
    if not isinstance(value, numpy.ndarray) or not value.dtype.itemsize or value.dtype.hasobject:
        return None
    return Structured(value.dtype, numpy.ndarray.getfield(value, numpy.uint8, 0).view(numpy.ndarray))


class _Place:
    """Memory that another object keeps, for NumPy."""

    def __init__(self, address: int, keep: Any) -> None:
        self.__array_interface__ = {"shape": (), "typestr": "|u1", "version": 3, "data": (address, False)}
        self.keep = keep


def _record_bytes(value: Any) -> Any:
    """The first byte of a record, which kernels may change as they change arrays."""
    import numpy

    address = numpy.frombuffer(value, numpy.uint8).__array_interface__["data"][0]
    return numpy.asarray(_Place(address, value))
