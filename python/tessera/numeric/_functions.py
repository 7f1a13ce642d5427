# SPDX-License-Identifier: Apache-2.0
"""Making arrays, and views of them in other shapes. Signatures are NumPy's."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy

from .. import _core
from ._foreign import GPU, MOST_AXES, of_dlpack, of_shown, shows_gpu
from ._ndarray import ndarray
from ._setup import (
    ITEMS,
    NO_VALUE,
    OWN,
    WEAK_KINDS,
    HostDtype,
    Memory,
    default_device,
    dtype_of,
    fitted,
    is_held,
    of_numpy,
    on,
    place,
    stored_as,
    to_numpy,
    warn_of_lost_parts,
)
from ._ufunc import FUNCTIONS, copy_of, select

_abs, _any, _all, _max, _min = builtins.abs, builtins.any, builtins.all, builtins.max, builtins.min
normalize = numpy.lib.array_utils.normalize_axis_index
normalize_many = numpy.lib.array_utils.normalize_axis_tuple


# -- making --------------------------------------------------------------------------------------------


def one_of(words: Iterable[Any]) -> str:
    """Words that a message offers."""
    *most, last = map(repr, words)
    return f"{', '.join(most)} or {last}" if most else last


def check_order(order: Any, allowed: str = "CFAK") -> str:
    if order is None:
        return "K" if "K" in allowed else "C"
    order = order.decode() if isinstance(order, bytes) else order
    if not isinstance(order, str):
        raise TypeError(f"order must be str, not {type(order).__name__}")
    if order.upper() not in tuple(allowed):
        wanted = "only {} order is permitted" if order.upper() in tuple("CFAK") else "order must be one of {}"
        raise ValueError(f"{wanted.format(one_of(allowed))} (got {order!r})")
    return order.upper()


def check_copy(copy: Any) -> None:
    """Refuses texts, all of which are true."""
    if isinstance(copy, str):
        raise ValueError(f"strings are not allowed for 'copy' keyword. Use True/False/None instead of {copy!r}.")


def _is_subarray(dtype: Any) -> bool:
    """Whether elements of a dtype are arrays themselves, whose axes an array of it has at its end."""
    may_be = isinstance(dtype, (tuple, numpy.dtype)) or (isinstance(dtype, str) and "(" in dtype)
    return may_be and dtype_of(dtype).subdtype is not None


def empty(
    shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    """A new array whose elements are anything."""
    if device is not None:
        return on(device, empty, shape, dtype, order)
    if isinstance(shape, ndarray):
        shape = to_numpy(shape, True).tolist()
    if _is_subarray(dtype):
        dtype, inner = dtype_of(dtype).subdtype
        shape = (*(shape if hasattr(shape, "__iter__") else (shape,)), *inner)
    return _core.numeric_empty(
        shape, float if dtype is None else dtype, check_order(order, "CF") == "F"
    )


def _fill(made: ndarray, value: Any) -> ndarray:
    """A new array filled with a value."""
    value = numpy.complex128(value) if type(value) is complex else value  # parts may be lost
    wraps = isinstance(value, (list, tuple, float, numpy.integer))  # where it does not fit, as NumPy's
    if wraps and made.dtype.kind in "biufc":
        return copy_of(asarray(value, device=made.device), made, casting="unsafe")
    if made.dtype.kind == "M" and type(value) is int:  # a count also where no unit is known, as NumPy's ones
        return copy_of(value, made, casting="unsafe")
    made[...] = value
    return made


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None,
         like: Any = None) -> ndarray:  # fmt: skip
    """A new array whose elements are all ``fill_value``."""
    if dtype is None:
        dtype = asarray(fill_value).dtype
    made = empty(shape, dtype, order, device=device)
    return _fill(made, fill_value)


def _filled(made: ndarray, value: int) -> ndarray:
    """A new array filled with 0 or 1; of items 0 is all bytes 0."""
    if value or not made._is_items:
        _fill(made, value)
    elif made.nbytes:
        made._words(8)[...] = 0
    return made


def zeros(
    shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    """A new array of zeros."""
    return _filled(empty(shape, dtype, order, device=device), 0)


def ones(
    shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    """A new array of ones."""
    return full(shape, 1, float if dtype is None else dtype, order, device=device)


def _like(prototype: Any, dtype: Any, order: str, shape: Any, device: Any) -> ndarray:
    if device is not None:
        return on(device, _like, prototype, dtype, order, shape, None)
    a = asarray(prototype)
    dtype = a.dtype if dtype is None else dtype
    order = check_order(order)
    if shape is not None and not isinstance(shape, int):
        shape = tuple(shape)
    if isinstance(shape, int):
        shape = (shape,)
    if shape is not None and shape != a.shape and (order != "K" or len(shape) != a.ndim):
        return empty(shape, dtype, "F" if order == "F" or (order == "A" and a.flags.fnc) else "C")
    shape = a.shape if shape is None else shape
    axes = _axes_as(a, order)
    made = empty([shape[d] for d in axes], dtype)
    return (
        made.transpose([axes.index(d) for d in range(a.ndim)]) if axes != [*range(a.ndim)] else made
    )


def _axes_as(a: ndarray, order: str) -> list[int]:
    """Axes of a copy of ``a``, outermost first."""
    plain = [*range(a.ndim)]
    if order == "F" or (order == "A" and a.flags.fnc):
        return plain[::-1]
    return _as_they_lie(a.strides) if order == "K" else plain


def _as_they_lie(strides: tuple[int, ...]) -> list[int]:
    """Axes by their strides, the longest first; one of stride 0 says nothing of its neighbours, as in NumPy's
    iterators."""
    made: list[int] = []  # innermost first
    for axis in range(len(strides) - 1, -1, -1):
        place = len(made)
        for k in range(len(made) - 1, -1, -1):
            if strides[axis] and strides[made[k]]:
                if _abs(strides[made[k]]) <= _abs(strides[axis]):
                    break
                place = k
        made.insert(place, axis)
    return made[::-1]


def empty_like(prototype: Any, /, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
               device: Any = None) -> ndarray:  # fmt: skip
    """A new array as ``prototype`` whose elements are anything."""
    made = _like(prototype, dtype, order, shape, device)
    made = made._view(0, made.dtype, made.shape, made.strides, True) if made.base is not None else made
    return as_class(made, prototype if subok else None)


def full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
              device: Any = None) -> ndarray:  # fmt: skip
    """A new array as ``a`` whose elements are all ``fill_value``."""
    made = _like(a, dtype, order, shape, device)
    return _fill(made, fill_value)


def zeros_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
               device: Any = None) -> ndarray:  # fmt: skip
    """A new array of zeros as ``a``."""
    return _filled(_like(a, dtype, order, shape, device), 0)


def ones_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
              device: Any = None) -> ndarray:  # fmt: skip
    """A new array of ones as ``a``."""
    return full_like(a, 1, dtype, order, subok, shape, device=device)


MOST_DIMENSIONS = 64  # NumPy's


def array(object: Any, dtype: Any = None, *, copy: Any = True, order: str = "K", subok: bool = False, ndmin: int = 0,
          ndmax: int = MOST_DIMENSIONS, like: Any = None) -> ndarray:  # fmt: skip
    """An array of anything like an array; a copy unless ``copy`` says otherwise."""
    order, taken = check_order(order), None
    ndmin, ndmax = operator.index(ndmin), operator.index(ndmax)
    if not 0 <= ndmax <= MOST_DIMENSIONS:
        raise ValueError(f"ndmax must be in the range [0, NPY_MAXDIMS ({MOST_DIMENSIONS})]")
    if ndmax < ndmin:
        raise ValueError(f"ndmin must be <= ndmax ({ndmax})")
    if not isinstance(object, (ndarray, numpy.ndarray, numpy.generic, list, tuple)):
        object = array_shown(object, dtype, copy)
    if isinstance(object, ndarray):
        a = object if type(object) is ndarray else object._view(0, object.dtype, object.shape, object.strides)
        taken, is_new = a, False
    elif isinstance(object, (numpy.ndarray, numpy.generic)) or hasattr(
        object, "__array_interface__"
    ):
        shared = numpy.asarray(object)
        is_new = not isinstance(object, numpy.ndarray) and shared.base is None
        if dtype is not None and not is_held(shared.dtype):  # objects, strings: NumPy reads them
            shared, is_new = shared.astype(dtype_of(dtype)), True
        a = of_numpy(shared, private=is_new)
    else:
        asked: Any = {
            "dtype": None if dtype is None else dtype_of(dtype),
            "order": None if order == "K" else order,
            "copy": copy if copy is None else bool(copy),  # memory of buffers is shared; NumPy's refusal to copy
        }
        try:
            made = numpy.array(object, **asked)
        except (OverflowError, TypeError, ValueError):  # arrays of no axes, of ours, are cast where numbers must fit
            if not isinstance(object, (list, tuple)) or not _any(hasattr(type(x), "__array__") for x in object):
                raise
            made = numpy.array([_read(x) for x in object], **asked)
        if made.ndim > ndmax:
            raise ValueError(
                "setting an array element with a sequence. The requested array would exceed the maximum number of "
                f"dimension of {ndmax}."
            )
        shares = made.base is not None
        a, is_new = of_numpy(made, private=not shares), not shares
    wanted = a.dtype if dtype is None else fitted(a.dtype, dtype_of(dtype))
    if wanted.num != a.dtype.num and wanted == a.dtype:  # longlong, or what is equal to it
        is_copied = copy and not is_new and isinstance(object, (ndarray, numpy.ndarray))
        a, wanted = (a, a.dtype) if is_copied else (a._meant(wanted, is_new), wanted)
    if a.ndim > ndmax and wanted != a.dtype:
        raise ValueError("object too deep for desired array")
    lies = (
        order in "KA"
        or (a.flags.c_contiguous and order == "C")
        or (a.flags.f_contiguous and order == "F")
    )
    refused = copy is False and (is_new or wanted != a.dtype or not lies)
    if (copy and not is_new) or wanted != a.dtype or not lies or refused:
        if refused:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        a, is_new = astype_as(a, wanted, order), True
    if ndmin > a.ndim:
        a = a.reshape((1,) * (ndmin - a.ndim) + a.shape)
    if isinstance(object, ndarray) and a is taken:  # nothing had to be made
        return object if subok else a
    return a if type(a) is type(object) is ndarray else as_class(a, object if subok else None, is_new)


def _read(x: Any) -> Any:
    """An element of a list as NumPy takes it: arrays of ours, also those that an object's __array__ gives, as its."""
    if not hasattr(type(x), "__array__") or isinstance(x, (numpy.ndarray, numpy.generic)):
        return x
    given = x if isinstance(x, ndarray) else x.__array__()
    return to_numpy(given) if type(given) is ndarray else x


def shown_as(a: ndarray, dtype: numpy.dtype[Any]) -> ndarray:
    """An array that nobody else has seen, in a dtype equal to its own, which may be longlong."""
    return a if a.dtype.num == dtype.num else a._meant(dtype, True)


def as_class(a: ndarray, like: Any, is_new: bool = False) -> ndarray:
    """An array of the class of another one, ndarray if that is none; arrays of the host stay what they are. ``is_new``:
    nobody else has it, and what is made of it owns its memory."""
    kind = type(like) if isinstance(like, ndarray) else ndarray
    if type(a) is kind or not isinstance(a, ndarray):
        return a
    made = a._view(0, a.dtype, a.shape, a.strides) if kind is ndarray else a._as(kind, None if is_new else a)
    if kind is not ndarray:
        made.__array_finalize__(like)
    return made


def priority(a: Any) -> float:
    """The rank of an array's class among classes that take part: 0 of those that say nothing of it."""
    own = getattr(type(a), "__array_priority__", 0.0)
    return 0.0 if own == ndarray.__array_priority__ else own


def array_shown(object: Any, dtype: Any = None, copy: Any = None) -> Any:
    """What an object shows of a GPU's memory, or its ``__array__`` gives, where that is an array; else the object,
    which NumPy reads. The method is asked for a dtype and for a copy as NumPy asks it."""
    if shows_gpu(object):
        return of_shown(object)
    if not hasattr(type(object), "__array__"):
        return object
    if hasattr(object, "__array_interface__"):
        return object
    given = () if dtype is None else (dtype_of(dtype),)
    try:
        made = object.__array__(*given) if copy is None else object.__array__(*given, copy=bool(copy))
    except TypeError as error:
        if copy is None or "copy" not in str(error):
            raise
        if not copy:
            raise ValueError("Unable to avoid copy while creating an array as requested.") from error
        made = object.__array__(*given)
    return made if isinstance(made, (ndarray, numpy.ndarray)) else object


def astype_as(a: ndarray, dtype: Any, order: str) -> ndarray:
    """A new array with the elements of ``a`` in another dtype; of no derived class."""
    a = as_class(a, None)
    is_swapped = stored_as(dtype_of(dtype)) is ITEMS  # or is of no numbers: converted tells of it
    if a.dtype.kind == "c" and dtype_of(dtype).kind in "iuf" and not is_swapped:
        warn_of_lost_parts(4)
    if (a._is_items or is_swapped) and order in "KC":
        return copy_of(a, dtype=dtype, casting="unsafe", order=order)
    if (
        a.ndim
        and order in "CFK"
        and not (order == "K" and a.base is not None and _any(s <= 0 for s in a.strides))
    ):
        return copy_of(a, dtype=dtype, casting="unsafe", order=order)
    made = _like(a, dtype, order, None, None)
    copy_of(a, made, casting="unsafe")
    return (
        made._view(0, made.dtype, made.shape, made.strides, True) if made.base is not None else made
    )


def asarray(a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None,
            like: Any = None) -> ndarray:  # fmt: skip
    """``a`` as an array: itself where it is one, in the memory of other libraries' where that is possible."""
    if device is not None:
        return place(array(a, dtype, copy=copy, order="K" if order is None else order), device)
    if type(a) is ndarray and dtype is None and order is None and not copy:
        return a
    return array(a, dtype, copy=copy, order="K" if order is None else order)


def assigned(value: Any, dtype: Any) -> ndarray:
    """A value that is written to elements of a dtype: arrays as they are, others as NumPy reads them for it, where
    Python's integers must fit."""
    if not isinstance(value, (ndarray, numpy.ndarray, numpy.generic)):
        return asarray(value, dtype)
    try:
        return asarray(value)
    except HostDtype:
        return asarray(value, dtype)


def index_array(indices: Any) -> ndarray:
    """Indices as an array of integers, or an error."""
    if isinstance(indices, (list, tuple)) and not asarray(indices).size:
        raise TypeError("indices must be integral: the provided empty sequence was inferred as float. "
                        "Wrap it with 'np.array(indices, dtype=np.intp)'")  # fmt: skip
    places = asarray(indices)
    if places.dtype == bool:
        return places.astype(numpy.intp)
    if places.dtype.kind not in "iu":
        raise TypeError("only int indices permitted")
    return places if places.dtype in OWN and not places._is_items else places.astype(places.dtype.newbyteorder("="))


def asanyarray(a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None,
               like: Any = None) -> ndarray:  # fmt: skip
    """``a`` as an array, as :func:`asarray`; objects of derived classes stay what they are."""
    if isinstance(a, ndarray) and (dtype, order, device) == (None, None, None) and not copy:
        return a
    return as_class(asarray(a, dtype, order, device=device, copy=copy), a)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> ndarray:
    """The array row-major, of at least one axis."""
    made = asarray(a, dtype, "C")
    return made if made.ndim else made.reshape(1)


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> ndarray:
    """The array column-major, of at least one axis."""
    made = asarray(a, dtype, "F")
    return made if made.ndim else made.reshape(1)


def copy(a: Any, order: str = "K", subok: bool = False) -> ndarray:
    """A new array with the same elements."""
    return array(a, order=order)


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> ndarray:
    """An array in the memory of an object with ``__dlpack__``, of the host or a GPU."""
    check_copy(copy)
    if type(x) is ndarray and x.ndim > MOST_AXES and x.device != "cpu":
        empty(0, x.dtype, device=x.device).__dlpack__()  # which refuses dtypes that DLPack has not
        made = x.view()
    elif hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] == GPU:
        made = of_dlpack(x)
    else:
        made = on("cpu", array, numpy.from_dlpack(x), copy=False)  # there it lies, whatever device is current
    moved = made if device is None else place(made, device)
    if moved is not made and copy is False:
        raise ValueError(f"the array lies on {made.device}: device={device!r} needs a copy, which copy=False forbids")
    return made.copy() if copy and moved is made else moved


def frombuffer(
    buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0, *, like: Any = None
) -> ndarray:
    """An array in the memory of a buffer."""
    return of_numpy(numpy.frombuffer(buffer, dtype, count, offset))


def asnumpy(a: Any) -> numpy.ndarray[Any, Any]:
    """A copy as NumPy's array."""
    return numpy.array(to_numpy(a, briefly=True)) if isinstance(a, ndarray) else numpy.asarray(a)


def _iota(n: int, dtype: Any) -> ndarray:
    """0, 1, .. n - 1."""
    return array(numpy.arange(n, dtype=dtype), copy=None)


_FEW = 4096  # numbers that are made by the host as fast as by a kernel


def arange(start_or_stop: Any = NO_VALUE, /, stop: Any = NO_VALUE, step: Any = 1, *, dtype: Any = None,
           device: Any = None, like: Any = None, start: Any = NO_VALUE) -> ndarray:  # fmt: skip
    """Numbers from start, by step, before stop."""
    if start_or_stop is NO_VALUE:
        if stop is NO_VALUE:
            raise TypeError("arange() requires stop to be specified.")
        start_or_stop, stop = (stop, None) if start is NO_VALUE else (start, stop)
    elif start is not NO_VALUE:
        raise TypeError("argument for arange() given by name ('start') and position (position 0)")
    stop = None if stop is NO_VALUE else stop
    if device is not None:
        return on(device, arange, start_or_stop, stop, step, dtype=dtype)
    dtype = None if dtype is None else dtype_of(dtype)
    given = [x._scalar() if isinstance(x, ndarray) and not x.ndim else x for x in (start_or_stop, stop, step)]
    made = _arange_there(*given, dtype) if default_device() != "cpu" else None
    return of_numpy(numpy.arange(*given, dtype=dtype), private=True) if made is None else made


arange.__wrapped__ = numpy.arange  # type: ignore[attr-defined]  # its signature, for who asks


def _arange_there(start: Any, stop: Any, step: Any, dtype: Any) -> ndarray | None:
    """Many numbers by a kernel where new arrays lie, as NumPy computes them; None: the host had better make them."""
    start, stop = (0, start) if stop is None else (0 if start is None else start, stop)
    kinds = {type(x) for x in (start, stop, step)}
    if not kinds <= {int, float} or not step or not builtins.all(abs(x) < 2**53 for x in (start, stop, step)):
        return None
    dtype = numpy.dtype(numpy.float64 if float in kinds else numpy.int64) if dtype is None else dtype
    if not _FEW < (stop - start) / step < 2**40:
        return None
    n, along = math.ceil((stop - start) / step), _core.numeric_iota
    if dtype.char in "fd":  # the first two are stored as they are, the step is their difference
        first, second = dtype.type(start), dtype.type(start + step)
        made = along(n).astype(dtype) * (second - first) + first
        return asarray(select(along(n) < 2, select(along(n) < 1, first, second), made))
    limits = numpy.iinfo(dtype) if dtype.char in "bBhHiIlL" and float not in kinds else None
    if limits is None or not builtins.all(limits.min <= x <= limits.max for x in (start, start + (n - 1) * step)):
        return None
    return asarray(along(n) * step + start).astype(dtype, copy=False)


_NUMBERS = {int, float, numpy.float64}


def linspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
             axis: int = 0, *, device: Any = None) -> Any:  # fmt: skip
    """``num`` numbers from start to stop, evenly spaced."""
    if device is not None:
        return on(device, linspace, start, stop, num, endpoint, retstep, dtype, axis)
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    if {type(start), type(stop)} <= _NUMBERS and num <= _FEW and not retstep:
        return of_numpy(numpy.linspace(start, stop, num, endpoint, False, dtype, axis), private=True)
    ends = [x if type(x) in (int, float, complex) else asarray(x) for x in (start, stop)]
    found = result_type(*ends, 1.0)
    first, last = (asarray(asarray(x) * 1.0) for x in ends)
    whole = dtype is not None and dtype_of(dtype).kind in "iu"
    dtype = found if dtype is None else dtype_of(dtype)
    gap = asarray(last - first, found)
    parts = num - 1 if endpoint else num
    along = _iota(num, found).reshape((-1,) + (1,) * gap.ndim)
    if parts > 0:
        step = gap / parts
        made = (
            along * step
            if not (_abs(to_numpy(asarray(step), True)) == 0).any()
            else along / parts * gap
        )
    else:
        step, made = math.nan, along * gap
    made = made + first
    if endpoint and num > 1:
        made[-1, ...] = last
    if axis != 0:
        made = moveaxis(made, 0, axis)
    made = (FUNCTIONS["floor"](made) if whole else made).astype(dtype, copy=False)
    return (made, step) if retstep else made


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float, order: str = "C", *, device: Any = None,
        like: Any = None) -> ndarray:  # fmt: skip
    """Ones on a diagonal, zeros elsewhere."""
    rows, columns = operator.index(N), operator.index(N if M is None else M)
    made = zeros((rows, columns), dtype, order, device=device)
    if -rows < k < columns:
        diagonal(made, k, writeable=True)[...] = 1
    return made


def identity(n: int, dtype: Any = None, *, like: Any = None) -> ndarray:
    """Ones on the diagonal, zeros elsewhere."""
    return eye(n, dtype=float if dtype is None else dtype)


# -- dtypes --------------------------------------------------------------------------------------------


def min_scalar_type(a: Any, /) -> numpy.dtype[Any]:
    """The smallest dtype that holds a number; that of an array with axes."""
    if isinstance(a, ndarray):
        return a.dtype if a.ndim else numpy.min_scalar_type(to_numpy(a)[()])
    return numpy.min_scalar_type(a)


def result_type(*arrays_and_dtypes: Any) -> numpy.dtype[Any]:
    """The dtype that NumPy's rules give to operands."""
    given = [_operand(each) for each in arrays_and_dtypes]
    if _any(not isinstance(each, str) and each not in OWN for each in given):  # NumPy knows them
        weak = {"i": 0, "f": 0.0, "c": 0j}
        return numpy.result_type(*(weak[each] if isinstance(each, str) else each for each in given))
    return _core.numeric_promote(*given)


def _operand(each: Any) -> Any:
    if type(each) in (int, float, complex):
        return {int: "i", float: "f", complex: "c"}[type(each)]
    if isinstance(each, (ndarray, numpy.ndarray, numpy.generic)):
        return each.dtype
    if isinstance(each, bool):
        return numpy.dtype(bool)
    return dtype_of(each)


def promote_types(type1: Any, type2: Any, /) -> numpy.dtype[Any]:
    """The least dtype that holds both; the first one itself, with its metadata, where they are equal."""
    one, other = dtype_of(type1), dtype_of(type2)
    same = isinstance(type1, numpy.dtype) and type1.isnative and type1 == type2
    if one not in OWN or other not in OWN:
        return numpy.promote_types(one, other)
    return type1 if same else _core.numeric_promote(one, other)


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether a conversion is allowed by a rule."""
    if type(from_) in (int, float, complex):
        raise TypeError("can_cast() does not support Python ints, floats, and complex because the result used to "
                        "depend "
                        "on the value.")  # fmt: skip
    given = from_.dtype if isinstance(from_, ndarray) else dtype_of(from_), dtype_of(to)
    if _any(each not in OWN for each in given):
        return bool(numpy.can_cast(*given, casting))
    return _core.numeric_can_cast(*given, casting)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> ndarray:
    """A copy of an array in another dtype."""
    if isinstance(x, numpy.generic):
        x = asarray(x)
    if not isinstance(x, ndarray):
        raise TypeError(f"Input should be an array. It is a {type(x)} instead.")
    return place(x.astype(dtype, copy=copy), x.device if device is None else device)


# -- shapes --------------------------------------------------------------------------------------------


def _dense_strides(shape: Any, item: int, order: str) -> tuple[int, ...]:
    strides, step = [], item
    for extent in shape if order == "F" else shape[::-1]:
        strides.append(step)
        step *= _max(extent, 1)
    return tuple(strides if order == "F" else strides[::-1])


def _reshaped_strides(a: ndarray, shape: tuple[int, ...], order: str) -> tuple[int, ...] | None:
    """Strides of a view of another shape; None: only a copy could do it."""
    if a.size == 0:
        return _dense_strides(shape, a.itemsize, order)
    old = [(n, s) for n, s in zip(a.shape, a.strides, strict=True) if n != 1]
    new = [*shape]
    if order == "F":
        old, new = old[::-1], new[::-1]
    strides: list[int] = []
    i = j = 0
    while i < len(old) and j < len(new):
        i_end, j_end, n_old, n_new = i + 1, j + 1, old[i][0], new[j]
        while n_old != n_new:
            if n_new < n_old:
                n_new *= new[j_end]
                j_end += 1
            else:
                n_old *= old[i_end][0]
                i_end += 1
        if _any(old[k][1] != old[k + 1][1] * old[k + 1][0] for k in range(i, i_end - 1)):
            return None
        step, part = old[i_end - 1][1], []
        for n in new[j:j_end][::-1]:
            part.append(step)
            step *= n
        strides += part[::-1]
        i, j = i_end, j_end
    strides += [strides[-1] if strides else a.itemsize] * (len(new) - j)
    return tuple(strides if order == "C" else strides[::-1])


def _new_shape(a: ndarray, shape: Any) -> tuple[int, ...]:
    if isinstance(shape, (int, numpy.integer)) or not hasattr(shape, "__iter__"):
        shape = (shape,)
    if _any(isinstance(n, (bool, numpy.bool)) for n in shape):
        raise TypeError("an integer is required, found a bool")
    made = [_max(operator.index(n), -1) for n in shape]  # NumPy takes any negative number as unknown
    if made.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    if -1 in made:
        rest = math.prod(n for n in made if n != -1)
        if rest == 0 or a.size % rest:
            text = str(tuple(made)).replace(" ", "")
            raise ValueError(f"cannot reshape array of size {a.size} into shape {text}")
        made[made.index(-1)] = a.size // rest
    if math.prod(made) != a.size:
        text = str(tuple(made)).replace(" ", "")
        raise ValueError(f"cannot reshape array of size {a.size} into shape {text}")
    return tuple(made)


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: Any = None) -> ndarray:
    """The same elements in another shape: a view where that is possible."""
    if order == "C" and copy is None:
        made = _core.numeric_reshape(a, shape)
        if made is not None:
            return made
    if isinstance(copy, str):
        raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    a = asarray(a)
    shape = _new_shape(a, shape)
    order = check_order(order, "CFA")
    if order == "A":
        order = "F" if a.flags.fnc else "C"
    strides = None if copy else _reshaped_strides(a, shape, order)
    if strides is None:
        if copy is False:
            raise ValueError("Unable to avoid creating a copy while reshaping.")
        a = astype_as(a, a.dtype, order)
        strides = _dense_strides(shape, a.itemsize, order)
    return a._view(0, a.dtype, shape, strides)


def ravel(a: Any, order: str = "C") -> ndarray:
    """The elements along one axis: a view where they lie so."""
    if order == "C":
        made = _core.numeric_reshape(a, -1)
        if made is not None:
            return made
    a = asarray(a)
    order = check_order(order)
    if order == "K":
        axes = _axes_as(a, "K")
        a = a.transpose(axes) if axes != [*range(a.ndim)] else a
        order = "C"
    made = reshape(a, (-1,) if a.size else (0,), order)
    if not made.flags.c_contiguous:
        made = copy_of(made)
    return (
        made
        if may_share_memory(made, a) or not a.size
        else made._view(0, a.dtype, made.shape, made.strides, True)
    )


def listed(given: tuple[Any, ...]) -> tuple[int, ...] | None:
    """Integers that a method takes one by one or as one sequence; None for the one None."""
    if len(given) == 1:
        (only,) = given
        if only is None:
            return None
        try:
            return (operator.index(only),)
        except TypeError:
            if not hasattr(only, "__getitem__"):
                raise TypeError(f"expected a sequence of integers or a single integer, got {only!r}") from None
            given = only
    return tuple(map(operator.index, given))


def transpose(a: Any, axes: Any = None) -> ndarray:
    """A view with axes in another order; reversed if none is given."""
    a = asarray(a)
    if axes is None:
        return a.T
    axes = [operator.index(d) for d in (axes if hasattr(axes, "__iter__") else (axes,))]
    if len(axes) != a.ndim:
        raise ValueError("axes don't match array")
    axes = [normalize(d, a.ndim) for d in axes]
    if len({*axes}) != a.ndim:
        raise ValueError("repeated axis in transpose")
    return a._view(0, a.dtype, [a.shape[d] for d in axes], [a.strides[d] for d in axes])


permute_dims = transpose


def matrix_transpose(x: Any, /) -> ndarray:
    """A view with the last two axes exchanged."""
    x = asarray(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return swapaxes(x, -1, -2)


def swapaxes(a: Any, axis1: Any, axis2: Any) -> ndarray:
    """A view with two axes exchanged."""
    a = asarray(a)
    axes = [*range(a.ndim)]
    one, two = normalize(axis1, a.ndim, "axis1"), normalize(axis2, a.ndim, "axis2")
    axes[one], axes[two] = axes[two], axes[one]
    return transpose(a, axes)


def moveaxis(a: Any, source: Any, destination: Any) -> ndarray:
    """A view with axes at other places."""
    a = asarray(a)
    source = normalize_many(source, a.ndim, "source")
    destination = normalize_many(destination, a.ndim, "destination")
    if len(source) != len(destination):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements"
        )
    axes = [d for d in range(a.ndim) if d not in source]
    for to, d in sorted(zip(destination, source, strict=True)):
        axes.insert(to, d)
    return transpose(a, axes)


def rollaxis(a: Any, axis: int, start: int = 0) -> ndarray:
    """A view with an axis before another one."""
    a = asarray(a)
    axis = normalize(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    if not 0 <= start <= a.ndim:
        raise numpy.exceptions.AxisError(
            f"'start' arg requires {-a.ndim} <= start < {a.ndim + 1}, but {start} was passed in"
        )
    return moveaxis(a, axis, start - (axis < start))


def squeeze(a: Any, axis: Any = None) -> ndarray:
    """A view without axes of extent 1."""
    a = asarray(a)
    if not a.ndim and isinstance(axis, int) and axis in (0, -1):
        return a
    gone = (
        [d for d in range(a.ndim) if a.shape[d] == 1]
        if axis is None
        else normalize_many(axis, a.ndim)
    )
    if _any(a.shape[d] != 1 for d in gone):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    if not gone:
        return a
    kept = [d for d in range(a.ndim) if d not in gone]
    return a._view(0, a.dtype, [a.shape[d] for d in kept], [a.strides[d] for d in kept])


def expand_dims(a: Any, axis: Any) -> ndarray:
    """A view with new axes of extent 1."""
    a = asarray(a)
    axis = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = a.ndim + len(axis)
    new = normalize_many(axis, rank)
    return a[tuple(None if d in new else slice(None) for d in range(rank))]


def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """The shape to which these broadcast."""
    return numpy.broadcast_shapes(*args)


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> ndarray:
    """A read-only view in a larger shape."""
    a = asarray(array)
    shape = tuple(shape) if hasattr(shape, "__iter__") else (operator.index(shape),)
    up = len(shape) - a.ndim
    if _any(n < 0 for n in shape):
        raise ValueError("all elements of broadcast shape must be non-negative")
    if up < 0 or _any(n != 1 and n != m for n, m in zip(a.shape, shape[up:], strict=True)):
        raise ValueError(
            f"operands could not be broadcast together with remapped shapes [original->remapped]: {a.shape}  and "
            f"requested shape {shape}"
        )
    strides = [0] * up + [0 if n == 1 else s for n, s in zip(a.shape, a.strides, strict=True)]
    view = a._view(0, a.dtype, shape, strides)
    view._writeable = False
    return as_class(view, array if subok else None)


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[ndarray, ...]:
    """Views of one shape."""
    arrays = [asanyarray(a) if subok else asarray(a) for a in args]
    shape = numpy.broadcast_shapes(*(a.shape for a in arrays))
    return tuple(a if a.shape == shape else broadcast_to(a, shape, subok) for a in arrays)


def atleast_1d(*arys: Any) -> Any:
    """Arrays of at least one axis."""
    made = tuple(a if a.ndim else a.reshape(1) for a in map(asanyarray, arys))
    return made[0] if len(made) == 1 else made


def atleast_2d(*arys: Any) -> Any:
    """Arrays of at least two axes."""
    made = tuple(a if a.ndim > 1 else a.reshape(1, -1) for a in map(asanyarray, arys))
    return made[0] if len(made) == 1 else made


def atleast_3d(*arys: Any) -> Any:
    """Arrays of at least three axes."""
    made = tuple(
        a if a.ndim > 2 else a[:, :, None] if a.ndim == 2 else a.reshape(1, -1, 1)
        for a in map(asanyarray, arys)
    )
    return made[0] if len(made) == 1 else made


def diagonal(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, *, writeable: bool = False
) -> ndarray:
    """A view of diagonals, read-only."""
    a, offset = asarray(a), operator.index(offset)
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    one, two = normalize(axis1, a.ndim, "axis1"), normalize(axis2, a.ndim, "axis2")
    if one == two:
        raise ValueError("axis1 and axis2 cannot be the same")
    rows, columns = a.shape[one] - _max(-offset, 0), a.shape[two] - _max(offset, 0)
    n = _max(_min(rows, columns), 0)
    begin = _max(-offset, 0) * a.strides[one] + _max(offset, 0) * a.strides[two] if n else 0
    kept = [d for d in range(a.ndim) if d not in (one, two)]
    view = a._view(begin, a.dtype, [*(a.shape[d] for d in kept), n],
                   [*(a.strides[d] for d in kept), a.strides[one] + a.strides[two]])  # fmt: skip
    view._writeable = a._writeable and writeable
    return view


def flip(m: Any, axis: Any = None) -> ndarray:
    """A view with axes the other way round."""
    m = asarray(m)
    if axis is None and m.ndim == 1:
        return m[::-1]
    axes = range(m.ndim) if axis is None else normalize_many(axis, m.ndim)
    return m[tuple(slice(None, None, -1) if d in axes else slice(None) for d in range(m.ndim))]


def flipud(m: Any) -> ndarray:
    """Rows the other way round."""
    if asarray(m).ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(m, 0)


def fliplr(m: Any) -> ndarray:
    """Columns the other way round."""
    if asarray(m).ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> ndarray:
    """Turned by quarters in the plane of two axes."""
    m = asarray(m)
    axes = tuple(axes)
    if len(axes) != 2 or axes[0] == axes[1] or _abs(axes[0] - axes[1]) == m.ndim:
        raise ValueError("len(axes) must be 2." if len(axes) != 2 else "Axes must be different.")
    if _any(not -m.ndim <= d < m.ndim for d in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={m.ndim}.")
    k %= 4
    if k == 0:
        return m[:]
    if k == 2:
        return flip(flip(m, axes[0]), axes[1])
    return swapaxes(flip(m, axes[1]), *axes) if k == 1 else flip(swapaxes(m, *axes), axes[1])


# -- memory --------------------------------------------------------------------------------------------


def copyto(dst: ndarray, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Elements of one array into another."""
    if isinstance(dst, numpy.ndarray):
        raise HostDtype("copyto: it writes to an array of NumPy's")
    if not isinstance(dst, ndarray):
        raise TypeError(
            f"copyto() argument 1 must be tessera.numeric.ndarray, not {type(dst).__name__}"
        )
    is_weak = dst.dtype.kind in WEAK_KINDS.get(type(src), "")
    if type(src) in WEAK_KINDS and casting == "equiv" and dst.dtype.kind in ("iufc" if type(src) is int else "fc"):
        raise TypeError(f"Cannot cast a number of Python to {dst.dtype!r} according to the rule 'equiv'")
    if is_weak:
        src = asarray(src, dst.dtype)  # Python's numbers take the dtype of their kind
    elif isinstance(src, numpy.generic) and casting == "no" and src.dtype != dst.dtype and dst.flags.writeable:
        raise TypeError(f"Cannot cast scalar from {src.dtype!r} to {dst.dtype!r} according to the rule 'no'")
    src = asarray(src)  # lists too, which NumPy does not read by the dtype of dst
    is_itself = src.ndim > 0 and _is_same_place(src, dst)
    if isinstance(where, (ndarray, numpy.ndarray)) and where.dtype != bool:
        raise TypeError(f"Cannot cast array data from {where.dtype!r} to dtype('bool') according to the rule 'safe'")
    if src.dtype != dst.dtype and not can_cast(src.dtype, dst.dtype, casting):
        if not dst.flags.writeable:
            raise ValueError("assignment destination is read-only")
        raise TypeError(f"Cannot cast array data from {src.dtype!r} to {dst.dtype!r} according to the rule '{casting}'")
    if src.ndim > dst.ndim and _all(n == 1 for n in src.shape[: src.ndim - dst.ndim]):
        src = src.reshape(src.shape[src.ndim - dst.ndim :])  # first axes of extent 1 are none
    if src.ndim > dst.ndim:
        raise ValueError(f"could not broadcast input array from shape {src.shape} into shape {dst.shape}")
    is_none = src.ndim and (where is False or (getattr(where, "ndim", 1) == 0 and not where))  # nothing is copied
    loses = casting == "unsafe" and src.dtype.kind == "c" and dst.dtype.kind in "iuf"
    if loses and dst.flags.writeable and not is_none:
        warn_of_lost_parts()
    if where is not True and not src.ndim and dst.size > 1 and dst.flags.writeable:
        if src.dtype != dst.dtype and src.dtype.kind in "iuf" and dst.dtype.kind in "iufc":
            src = astype_as(src, dst.dtype, "K")  # once, whatever the mask leaves out
    if not is_itself:  # to itself nothing is written, whatever is wrong
        copy_of(src, dst, casting=casting, where=where)


def _is_same_place(a: ndarray, b: ndarray) -> bool:
    """Whether arrays are the same elements of memory."""
    alike = (a.dtype, a.shape, a.strides, a.device) == (b.dtype, b.shape, b.strides, b.device)
    return alike and (a is b or a._address() == b._address())


def may_share_memory(a: Any, b: Any, /, max_work: Any = 0) -> bool:
    """Whether two arrays may have memory in common: by their bounds, or, where ``max_work`` is not 0, exactly."""
    a, b = asarray(a), asarray(b)
    if max_work not in (None, 0):
        return _shares_within(numpy.may_share_memory, a, b, max_work)
    return a.size > 0 and b.size > 0 and a._shares(b, False)


def shares_memory(a: Any, b: Any, /, max_work: Any = -1) -> bool:
    """Whether two arrays have memory in common; ``max_work``: candidates to try before TooHardError, -1 for all."""
    a, b = asarray(a), asarray(b)
    return _shares_within(numpy.shares_memory, a, b, -1 if max_work is None else max_work)


def _shares_within(theirs: Any, a: ndarray, b: ndarray, max_work: int) -> bool:
    """The same; NumPy, which counts candidates, where their number has a limit."""
    if max_work == -1 or a.device != b.device:
        return a._shares(b, True)
    return bool(theirs(_there(a), _there(b), max_work))


def _there(a: ndarray) -> Any:
    """An array of NumPy's at the addresses of ours, on any device: nobody may look at its elements."""
    a._address()  # computed, and from now on it stays where it is
    return numpy.asarray(Memory({**a._interface, "typestr": f"|V{a.itemsize}"}, a)) if a.nbytes else to_numpy(a)


def ndim(a: Any) -> int:
    """Number of axes."""
    return asarray(a).ndim


def shape(a: Any) -> tuple[int, ...]:
    """Extents of the axes."""
    return asarray(a).shape


def size(a: Any, axis: Any = None) -> int:
    """Number of elements, or those along axes."""
    a = asarray(a)
    return a.size if axis is None else math.prod(a.shape[d] for d in normalize_many(axis, a.ndim))
