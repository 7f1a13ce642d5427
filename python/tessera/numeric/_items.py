# SPDX-License-Identifier: Apache-2.0
"""Items: arrays whose elements are bytes to the library, with a dtype of NumPy that says what they mean.

Records (structured dtypes) and texts are never computed with; numbers in the byte order of another machine, or at
places that are no multiples of their size, as a field of a packed record, are copied to where kernels read them.
Items move as words: views of unsigned integers with one more axis, which any copy, gather or scatter of numbers moves,
on every device. docs/adr/0032-records.md.
"""

from __future__ import annotations

import functools
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy

from .. import _core
from . import _functions as f
from . import _host
from ._ndarray import OPERATORS, ndarray
from ._setup import ITEMS, of_host, on, stored_as, to_numpy
from ._ufunc import FUNCTIONS, Made, copy_of, select, ufunc

# Methods that change the array, by our names: what NumPy calls them.
IN_PLACE = {"_sort_in_place": "sort", "_partition": "partition"}
# Functions that write to one of their arguments, and which.
WRITE = {**dict.fromkeys(IN_PLACE, 0), "ufunc.at": 1, "Generator.shuffle": 1, "RandomState.shuffle": 1}
NAMESPACES = {"tessera.numeric.fft": "fft", "tessera.numeric.linalg": "linalg"}  # NumPy's, of functions of ours
KEEP = frozenset(
    "nan_to_num partition setdiff1d sort unique unique_all unique_counts unique_inverse unique_values".split()
)  # functions whose result has the byte order of their array


def is_items(x: Any) -> bool:
    """Whether it is an array whose elements are bytes to the library."""
    return isinstance(x, ndarray) and x._is_items


def is_number(dtype: Any) -> bool:
    """Whether items of a dtype are numbers, dates or spans, which can be computed with from another place."""
    return stored_as(native(dtype)) is not ITEMS


def native(dtype: Any) -> Any:
    """The dtype in the byte order of this machine; of records, whose fields have their own, itself."""
    return dtype if dtype.isnative or dtype.names is not None else dtype.newbyteorder("=")


# -- words ---------------------------------------------------------------------------------------------


def words_of(*arrays: ndarray) -> list[ndarray]:
    """Arrays of one size of element as words of one width."""
    made = [a._words(8) for a in arrays]
    width = min((words.itemsize for words in made), default=8)
    return [
        words if words.itemsize == width else a._words(width) for a, words in zip(arrays, made, strict=True)
    ]


def of_words(words: ndarray, dtype: Any) -> ndarray:
    """The elements that words, which no other array has, are."""
    if words.shape[-1] > 1 and words.strides[-1] != words.itemsize:
        words = words.copy("C")
    return words._view(0, dtype, words.shape[:-1], words.strides[:-1], words.base is None)


def _bytes(a: ndarray, dtype: Any) -> ndarray:
    """The bytes of numbers, each part's along the last axis, a view."""
    parts = (2, a.itemsize // 2) if dtype.kind == "c" else (a.itemsize,)
    steps = (a.itemsize // 2, 1)[-len(parts) :]
    return a._view(0, numpy.uint8, a.shape + parts, a.strides + steps)


def turned(a: ndarray, dtype: Any) -> ndarray:
    """Numbers as those of a dtype in the other byte order: a copy."""
    made = f.empty_like(f.as_class(a, None), dtype)
    if not _core.numeric_turn(a, made, a.itemsize // (2 if dtype.kind == "c" else 1)):
        _bytes(made, dtype)[...] = _bytes(a, dtype)[..., ::-1]
    return made


def loaded(a: ndarray) -> ndarray:
    """Numbers that no kernel can read where they lie as an array of their native dtype: a copy."""
    dtype = native(a.dtype)
    if not is_number(dtype):
        raise TypeError(f"kernels compute numbers alone, found an array of dtype {a.dtype}")
    if a.dtype.isnative:
        words = a._words(8)
        return of_words(copy_of(words, order="C" if _repeats(a) else "K"), dtype)
    return turned(a, dtype)


def truth(a: ndarray) -> Any:
    """Whether each element is not 0: of records whether a field is, of texts and voids whether a byte is."""
    if is_number(a.dtype):
        return a if a.dtype == numpy.bool_ else loaded(a) != 0
    if not a.itemsize:
        return f.zeros(a.shape, bool)
    if a.dtype.names is None:
        return f.asarray(a._words(8) != 0).any(-1)
    made: Any = f.zeros(a.shape, bool)
    for name in a.dtype.names:
        part = f.asarray(truth(field(a, name)) if is_items(field(a, name)) else field(a, name) != 0)
        made = made | (part.any(tuple(range(a.ndim, part.ndim))) if part.ndim > a.ndim else part)
    return made


def _repeats(a: ndarray) -> bool:
    """Whether elements overlap, or are one, so that the order of strides does not say which axis is inside."""
    return any(abs(step) < a.itemsize and n > 1 for n, step in zip(a.shape, a.strides, strict=True))


def numbers(x: Any) -> Any:
    """An operand with numbers where kernels read them; others as they are."""
    return loaded(x) if is_items(x) and is_number(x.dtype) else x


@functools.lru_cache(1024)
def runs(dtype: Any) -> tuple[tuple[int, int], ...] | None:
    """The bytes of records that belong to fields, as places and lengths; None: all do."""
    made: list[list[int]] = []
    for begin, end in sorted(_spans(dtype, 0)):
        if made and begin <= made[-1][1]:
            made[-1][1] = max(made[-1][1], end)
        else:
            made.append([begin, end])
    found = tuple((begin, end - begin) for begin, end in made)
    return None if found == ((0, dtype.itemsize),) else found


def _spans(dtype: Any, at: int) -> list[tuple[int, int]]:
    """Begin and end of the bytes of each field of all levels."""
    if dtype.subdtype is not None:
        of, shape = dtype.subdtype
        inside = _spans(of, 0)
        if len(inside) == 1 and inside[0] == (0, of.itemsize):
            return [(at, at + dtype.itemsize)]
        return [
            (at + i * of.itemsize + begin, at + i * of.itemsize + end)
            for i in range(math.prod(shape))
            for begin, end in inside
        ]
    if dtype.names is None:
        return [(at, at + dtype.itemsize)]
    fields = (dtype.fields[name] for name in dtype.names)
    return [span for of, offset, *_ in fields for span in _spans(of, at + offset)]


def runs_of(*arrays: ndarray) -> list[tuple[ndarray, ...]]:
    """Views of what the fields of arrays of one dtype are made of, for each run of bytes; themselves where all are."""
    found = runs(arrays[0].dtype)
    if found is None:
        return [arrays]
    return [tuple(part(a, numpy.dtype(f"V{n}"), at) for a in arrays) for at, n in found if n]


def assign(out: ndarray, value: ndarray, where: Any = True) -> ndarray:
    """Writes elements of the dtype of ``out`` there, where a condition holds."""
    if where is True:
        out[...] = value
        return out
    where = f.asarray(where, bool)[..., None]
    for to, given in runs_of(out, value) if out.nbytes else ():
        words, from_words = words_of(to, given)
        copy_of(from_words, words, where=where)
    return out


def element(view: ndarray) -> Any:
    """The element of an array of no axes in host memory, as NumPy's scalar; of records one that shares it."""
    if view.dtype.names is None:
        return numpy.array(to_numpy(view, briefly=True))[()]
    return to_numpy(view)[()]


def lend(a: ndarray) -> Any:
    """What kernels and buffers are given for an array: NumPy's in the same memory."""
    return to_numpy(a._as(ndarray))


def argument(dtype: Any, array: Any) -> Any:
    """What kernels are given for items on another device: the first bytes of each, and what they are."""
    from .._structs import Structured

    return Structured(dtype, array)


def lend_buffer(a: ndarray) -> Any:
    """The same for the buffer protocol; refused where its formats cannot say what elements are."""
    lent = lend(a)
    if not _reads_back(a.dtype):
        raise BufferError(f"buffers cannot describe {a.dtype}; numpy.asarray(a) shares the memory")
    return lent


@functools.lru_cache(1024)
def _reads_back(dtype: Any) -> bool:
    """Whether NumPy reads its own description of a dtype in a buffer; false of some with bytes between fields."""
    try:
        told = memoryview(numpy.zeros(1, dtype))
    except (ValueError, BufferError):
        return True  # NumPy's own refusal
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return bool(numpy.asarray(told).dtype == dtype)
        except (ValueError, RuntimeError):
            return False


def descr(dtype: Any, exact: bool) -> Any:
    """The description of records in ``__array_interface__``; None: its typestr says all."""
    if dtype.names is None:
        return None
    try:
        told = dtype.descr  # with bytes between fields as fields without a name, as NumPy tells them
        if exact and numpy.dtype(told) != dtype:  # NumPy would read these as fields; it takes __array__ instead
            raise ValueError(told)
    except (ValueError, TypeError):  # or fields overlap, or stand in another order
        raise AttributeError(
            f"__array_interface__ cannot describe {dtype}; numpy.asarray(a) shares the memory"
        ) from None
    return told


# -- fields --------------------------------------------------------------------------------------------


def is_field(key: Any) -> bool:
    """Whether a key names fields."""
    return isinstance(key, str) or (type(key) is list and bool(key) and all(isinstance(k, str) for k in key))


def field(a: ndarray, key: Any) -> ndarray:
    """A view of one field of records, or of several as records."""
    dtype = a.dtype
    if dtype.names is None:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
            "valid indices"
        )
    if not isinstance(key, str):
        return a._view(0, numpy.empty(0, dtype)[key].dtype, a.shape, a.strides)
    if key not in dtype.fields:
        raise ValueError(f"no field of name {key}")
    return part(a, *dtype.fields[key][:2])


def part(a: ndarray, dtype: Any, offset: int) -> ndarray:
    """A view of what lies so many bytes behind the begin of each element."""
    base, shape = (dtype, ()) if dtype.subdtype is None else dtype.subdtype
    steps = tuple(base.itemsize * math.prod(shape[d + 1 :]) for d in range(len(shape)))
    return a._view(offset, base, a.shape + shape, a.strides + steps)


# -- conversion ----------------------------------------------------------------------------------------


def _place_of(*things: Any) -> str:
    """The device of the first array among things; the CPU, where others are read, if there is none."""
    return next((_core.NumericArray.device.__get__(x) for x in things if isinstance(x, ndarray)), "cpu")


def cast(value: Any, dtype: Any) -> ndarray:
    """Anything as an array of a dtype, as assignment converts it; one in the memory of ``value`` where it can be."""
    if not isinstance(value, (ndarray, numpy.ndarray, numpy.generic)):
        return of_host(numpy.array(value, dtype), private=True)
    if not isinstance(value, ndarray):
        made = numpy.asarray(value)
        value = of_host(made, private=made is not value)
    return on(_place_of(value), converted, value, dtype)


def converted(a: ndarray, dtype: Any, order: str = "K") -> ndarray:
    """An array in another dtype, of which one may be of items; itself where it has the dtype."""
    if a.dtype == dtype and stored_as(dtype) is ITEMS:
        return a
    a = numbers(a)
    if a.dtype == dtype:
        return a
    plain = native(dtype)
    if not is_items(a) and is_number(plain):
        return _stored(a.astype(plain, order, copy=False), dtype)
    if _fits(a.dtype, dtype):
        made = f.zeros(a.shape, dtype)
        names = a.dtype.names or [None] * len(dtype.names)
        for name, to in zip(names, dtype.names, strict=True):
            field(made, to)[...] = _aligned(a if name is None else field(a, name), field(made, to).ndim - a.ndim, name)
        return made
    if a.dtype.names is not None and len(a.dtype.names) == 1 and is_number(dtype):
        return converted(field(a, a.dtype.names[0]), dtype)
    made = _host.call("astype", numpy.ndarray.astype, a, dtype)
    return f.asarray(made)


def _stored(a: ndarray, dtype: Any) -> ndarray:
    """Numbers in the byte order of a dtype."""
    return a if a.dtype == dtype else turned(a, dtype)


def _fits(source: Any, target: Any) -> bool:
    """Whether records of one dtype become those of another field by field, numbers alone."""
    if target.names is None:
        return False
    own = [target.fields[name][0] for name in target.names]
    if source.names is None:
        return is_number(source) and all(is_number(of) for of in own if of.subdtype is None) and not any(
            of.subdtype for of in own
        )
    theirs = [source.fields[name][0] for name in source.names]
    return len(own) == len(theirs) and all(
        of.subdtype is None and to.subdtype is None and (is_number(of) and is_number(to) or _fits(of, to) or of == to)
        or of == to
        for of, to in zip(theirs, own, strict=True)
    )


def _aligned(a: ndarray, extra: int, name: Any) -> ndarray:
    return a[(..., *(None,) * extra)] if name is None and extra else a


def store(values: ndarray, out: ndarray) -> ndarray:
    """Writes numbers to items that are numbers."""
    return assign(out, _stored(values.astype(native(out.dtype), copy=False), out.dtype))


# -- calls ---------------------------------------------------------------------------------------------


def call(name: str, operands: tuple[Any, ...], out: Any, options: dict[str, Any]) -> Any:
    """An elementwise function where items are among operands, or `out`, or are the dtype asked for."""
    return on(_place_of(out, *operands), _call, name, operands, out, options)


def _call(name: str, operands: tuple[Any, ...], out: Any, options: dict[str, Any]) -> Any:
    if name == "copy":
        return _copied(operands[0], out, options)
    if name == "select":
        return _selected(*operands)
    if options.get("casting") == "no" and any(is_items(x) and not x.dtype.isnative for x in operands):
        raise TypeError(f"Cannot cast ufunc '{name}' input with casting rule 'no': its byte order is another machine's")
    operands = tuple(map(numbers, operands))
    if any(map(is_items, operands)):
        return _without_numbers(name, operands, out, options)
    if options.get("dtype") is not None:
        options["dtype"] = native(numpy.dtype(options["dtype"]))
        if stored_as(options["dtype"]) is ITEMS:  # NumPy's refusal, for no loop makes texts of numbers
            return _without_numbers(name, operands, out, options)
    function = FUNCTIONS[name]
    if not is_items(out):
        return function(*operands, out, **options)
    made = loaded(out) if "where" in options else f.empty(out.shape, native(out.dtype))
    function(*operands, made, **options)
    return store(made, out)


def _copied(x: Any, out: Any, options: dict[str, Any]) -> Any:
    x = f.asarray(x)
    if out is None:
        dtype = options.get("dtype")
        dtype = x.dtype if dtype is None else f.dtype_of(dtype)
        order = options.get("order", "K")
        made = converted(x, dtype, order)
        lies = order not in "CF" or made.flags["C" if order == "C" else "F"]
        if (made is not x and lies) or not is_items(made):
            return made
        room = f.empty_like(made, order=order)
        copy_of(*words_of(made, room)) if made.itemsize else None
        return room
    if not f.can_cast(x.dtype, out.dtype, options.get("casting", "same_kind")):
        raise TypeError(
            f"Cannot cast array data from {x.dtype!r} to {out.dtype!r} according to the rule "
            f"'{options.get('casting', 'same_kind')}'"
        )
    made = converted(x, out.dtype)
    if not is_items(out):
        return copy_of(made, out, casting="unsafe", where=options.get("where", True))
    return assign(out, made, options.get("where", True))


def _selected(condition: Any, x: Any, y: Any) -> Any:
    condition = f.asarray(numbers(condition))
    x, y = (each if type(each) in (int, float, complex) else f.asarray(each) for each in (x, y))
    dtype = f.result_type(x, y)
    if stored_as(dtype) is not ITEMS:
        return select(condition, numbers(x), numbers(y))
    one, other = words_of(converted(f.asarray(x), dtype), converted(f.asarray(y), dtype))
    return of_words(f.asarray(select(condition[..., None], one, other)), dtype)


def _without_numbers(name: str, operands: tuple[Any, ...], out: Any, options: dict[str, Any]) -> Any:
    """Records are compared field by field; texts, and what NumPy refuses, are the host's."""
    arrays = [f.asarray(x) for x in operands]
    if name in ("equal", "not_equal") and any(a.dtype.kind == "V" for a in arrays) and out is None:
        from ._reduce import scalar_of

        return scalar_of(f.asarray(_compared(*arrays, name == "equal")))
    if out is not None and name == "multiply":  # of texts and counts: NumPy's loop asks how wide they become
        options = {**options, "out": numpy.empty(out.shape, out.dtype)}
    by_operator = getattr(operator, OPERATORS.get(name, ""), None) if out is None and not options else None
    made = _host.call(name, by_operator or getattr(numpy, name), *operands, **options)
    return made if out is None else copy_of(f.asarray(made), out, casting="unsafe")


def _compared(x: ndarray, y: ndarray, equal: bool) -> Any:
    if x.dtype.kind != "V" or y.dtype.kind != "V":
        raise TypeError("Cannot compare structured or void to non-void arrays.")
    if (x.dtype.names is None) != (y.dtype.names is None) or x.dtype.names is None:
        return _compared_bytes(x, y, equal)
    try:
        numpy.promote_types(x.dtype, y.dtype)
    except TypeError:
        raise TypeError(
            "Cannot compare structured arrays unless they have a common dtype.  I.e. `np.result_type(arr1, arr2)` "
            "must be defined."
        ) from None
    shape = numpy.broadcast_shapes(x.shape, y.shape)
    made: Any = f.full(shape, equal, bool)
    for name in x.dtype.names:
        one, other = field(x, name), field(y, name)
        same = f.asarray(one == other if equal else one != other)
        axes = tuple(range(len(shape), same.ndim))
        if axes:
            same = f.asarray(same.all(axis=axes) if equal else same.any(axis=axes))
        made = (made & same) if equal else (made | same)
    return made


def _compared_bytes(x: ndarray, y: ndarray, equal: bool) -> Any:
    """Voids without fields, which are equal if their bytes are."""
    if x.dtype != y.dtype:
        return _host.call("equal" if equal else "not_equal", operator.eq if equal else operator.ne, x, y)
    one, other = words_of(x, y)
    same = f.asarray(one == other if equal else one != other)
    return same.all(axis=-1) if equal else same.any(axis=-1)


def routine(args: tuple[Any, ...], function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A function that computes, called with items: numbers are copied to where it reads them; records and texts are
    the host's, which is counted."""
    given = [*args, *options.values()]
    if any(is_items(x) and not is_number(x.dtype) for x in given):
        return _by_host(function, args, options)
    taken = {id(x): loaded(x) for x in given if is_items(x)}
    made = function(
        *(taken.get(id(x), x) for x in args), **{key: taken.get(id(x), x) for key, x in options.items()}
    )
    for x in given:  # what the function has written to
        at = WRITE.get(function.__qualname__)
        if is_items(x) and (made is taken[id(x)] or (at is not None and x is args[at])):
            store(taken[id(x)], x)
            return None if made is None else x
    return _kept(made, args[0].dtype) if function.__name__ in KEEP and is_items(args[0]) else made


def _kept(made: Any, dtype: Any) -> Any:
    """What a function made of numbers, where those of its first array's dtype, in that array's byte order."""
    if isinstance(made, tuple):
        return type(made)(*(_kept(made[0], dtype), *made[1:])) if hasattr(made, "_fields") else (
            _kept(made[0], dtype), *made[1:])  # fmt: skip
    return _stored(made, dtype) if isinstance(made, ndarray) and made.dtype == native(dtype) else made


def _by_host(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    in_place = function.__qualname__ in IN_PLACE
    owner: Any = getattr(numpy, NAMESPACES.get(function.__module__, ""), numpy)
    owner = numpy.ndarray if in_place or function.__name__.startswith("_") else owner
    name = IN_PLACE.get(function.__qualname__, function.__name__).strip("_")
    if bool(args) and isinstance(args[0], (ufunc, Made)):  # a method of a function: reduce, outer, at, or its call
        name = "__call__" if name == "call" else name
        owner, args = getattr(numpy, args[0].__name__), args[1:]
        in_place = name == "at"
    theirs, a = getattr(owner, name), args[0] if args else None
    if not in_place or not isinstance(a, ndarray):
        return _host.call(name, theirs, *args, **options)
    turned = to_numpy(a) if a.device == "cpu" else to_numpy(a).copy()
    _host.count(name)
    theirs(turned, *_host.take(args[1:]), **_host.take(options))
    if a.device != "cpu" and a.nbytes:  # copies of texts without a width are wider
        assign(a, of_host(turned, private=True)._to(a.device))
    return None
