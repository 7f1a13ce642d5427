# SPDX-License-Identifier: Apache-2.0
"""The type of a value, and types of NumPy's dtypes both ways."""

from __future__ import annotations

import enum
import functools
from typing import Any

from .. import _core
from . import types

__all__ = ["as_dtype", "from_dtype", "typeof"]


def from_dtype(dtype: Any) -> types.Type:
    """The type of elements of a NumPy dtype."""
    import numpy

    dtype = numpy.dtype(dtype)
    if dtype.subdtype is not None:
        return types.NestedArray(from_dtype(dtype.subdtype[0]), dtype.subdtype[1])
    if dtype.names is not None:
        fields = [(name, (from_dtype(dtype.fields[name][0]), dtype.fields[name][1])) for name in dtype.names]
        return types.Record(fields, dtype.itemsize, dtype.isalignedstruct)
    if dtype.kind in "mM":
        unit = numpy.datetime_data(dtype)[0]
        return (types.NPDatetime if dtype.kind == "M" else types.NPTimedelta)("" if unit == "generic" else unit)
    if dtype.kind == "S":
        return types.CharSeq(dtype.itemsize)
    if dtype.kind == "U":
        return types.UnicodeCharSeq(dtype.itemsize // 4)
    found = _scalar(dtype)
    if found is None:
        raise NotImplementedError(f"kernels have no type for the dtype {dtype}")
    return found


@functools.cache
def _scalar(dtype: Any) -> types.Type | None:
    """The type of numbers of a dtype, whose name NumPy makes anew each time."""
    return types.SCALARS.get(dtype.name)


def as_dtype(type_: types.Type) -> Any:
    """The NumPy dtype of a type."""
    import numpy

    if isinstance(type_, types.NestedArray):
        return numpy.dtype((as_dtype(type_.dtype), type_.shape))
    if isinstance(type_, types.Record):
        names = list(type_.fields)
        return numpy.dtype(
            {
                "names": names,
                "formats": [as_dtype(type_.fields[n][0]) for n in names],
                "offsets": [type_.fields[n][1] for n in names],
                "itemsize": type_.size,
            },
            align=type_.aligned,
        )
    if isinstance(type_, types.CharSeq):
        return numpy.dtype(f"S{type_.count}")
    if isinstance(type_, types.UnicodeCharSeq):
        return numpy.dtype(f"U{type_.count}")
    if isinstance(type_, types.EnumMember):
        return as_dtype(type_.dtype)
    if isinstance(type_, (types.NPDatetime, types.NPTimedelta)):
        return numpy.dtype(type_.name.replace("[]", ""))
    if type_ == types.bfloat16 or isinstance(type_, types.NarrowFloat):
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, type_.name))
    return numpy.dtype(type_.name)


# By class: what cuda.extending.typeof_impl.register() was given.
registered: dict[type, Any] = {}

_PYTHON: dict[type, types.Type] = {
    bool: types.boolean, float: types.float64, complex: types.complex128, type(None): types.none
}  # fmt: skip


def _layout(shape: tuple[int, ...], strides: tuple[int, ...] | None, itemsize: int) -> str:
    """C, F or A; axes of extent 1 do not count, and an array without elements is both."""
    if strides is None or 0 in shape:
        return "C"
    for layout, axes in (("C", range(len(shape) - 1, -1, -1)), ("F", range(len(shape)))):
        step = itemsize
        for axis in axes:
            if shape[axis] != 1 and strides[axis] != step:
                break
            step *= shape[axis]
        else:
            return layout
    return "A"


def _of_interface(desc: dict[str, Any], aligned: bool = True) -> types.Array:
    import numpy

    dtype = numpy.dtype(desc.get("descr", desc["typestr"]) if desc["typestr"][1] == "V" else desc["typestr"])
    layout = _layout(tuple(desc["shape"]), desc.get("strides"), dtype.itemsize)
    return types.Array(from_dtype(dtype), len(desc["shape"]), layout, bool(desc["data"][1]), aligned=aligned)


def _of_sequence(value: tuple[Any, ...]) -> types.Type:
    items = [typeof(item) for item in value]
    if hasattr(value, "_fields"):
        same = items and all(t == items[0] for t in items)
        cls = type(value)
        return types.NamedUniTuple(items[0], len(items), cls) if same else types.NamedTuple(items, cls)
    return types.Tuple(items)


def _of_own(value: Any) -> types.Array:
    itemsize = value.nbytes // value.size if value.size else 1
    strides = tuple(s * itemsize for s in value.strides)
    name = str(getattr(value.dtype, "name", value.dtype)).replace("bool_", "bool")
    return types.Array(types.SCALARS[name], value.ndim, _layout(value.shape, strides, itemsize))


def typeof(value: Any) -> types.Type:
    """The type that a kernel sees for an argument.

    Raises
    ------
    ValueError
        It is nothing that a kernel takes.
    """
    known = _PYTHON.get(type(value))
    if known is not None:
        return known
    for cls in type(value).__mro__ if registered else ():
        if cls in registered:
            return registered[cls](value, None)  # type: ignore[no-any-return]
    if isinstance(value, enum.Enum):
        member = types.IntEnumMember if isinstance(value, int) else types.EnumMember
        return member(type(value), typeof(value.value))
    if isinstance(value, int):
        if -(1 << 63) <= value < 1 << 64:
            return types.SCALARS["int64" if value < 1 << 63 else "uint64"]
        raise ValueError(f"Int value is too large: {value}; kernels have 64 bits")
    if isinstance(value, tuple):
        return _of_sequence(value)
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is not None:
        return types.Dataclass([typeof(getattr(value, name)) for name in fields], type(value))
    return _typeof_array(value)


def _typeof_array(value: Any) -> types.Type:
    kind = type(value)
    numba_type = getattr(value, "_numba_type_", None)
    if isinstance(numba_type, types.Type):
        return numba_type
    if kind.__module__.partition(".")[0] in ("numpy", "ml_dtypes") and hasattr(value, "dtype"):
        import numpy

        if isinstance(value, numpy.ndarray):
            layout = _layout(value.shape, value.strides, value.itemsize)
            flags = value.flags
            return types.Array(
                from_dtype(value.dtype), value.ndim, layout, not flags.writeable, aligned=bool(flags.aligned)
            )
        return from_dtype(value.dtype)
    for name in ("__cuda_array_interface__", "__array_interface__"):
        desc = getattr(value, name, None)
        if isinstance(desc, dict):
            return _of_interface(desc)
    if isinstance(value, _core.Array):
        return _of_own(value)
    if hasattr(value, "__dlpack__"):
        return _of_own(_core.from_dlpack(value))
    if isinstance(value, types.Type):
        return types.DType(value)
    from .._pack import dtype_name

    name = dtype_name(value)
    if name is not None:
        found = types.SCALARS[name.removesuffix("_")]
        return types.NumberClass(found) if isinstance(value, type) else types.DType(found)
    raise ValueError(f"Cannot determine Numba type of {kind}: kernels take arrays, numbers, tuples of them and None")
