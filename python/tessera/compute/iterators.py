# SPDX-License-Identifier: Apache-2.0
"""Sequences that algorithms read from or write to: arrays, and iterators that compute their items.

In kernels each is a function of its state and an index:

    load(s, i)      the item i
    store(s, i, v)  writes the item i

States are tuples of numbers, arrays and the states of what an iterator stands on; they are arguments of the launch, so
an iterator with another start or array uses the code that is there. Composed iterators are inlined: a transform of a
zip of arrays is as fast as the loop that a user would write.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy

from .. import _core
from . import types
from ._text import written
from .op import OpKind, Operator, operator_of
from .types import TypeDescriptor

__all__ = [
    "CacheModifiedInputIterator", "ConstantIterator", "CountingIterator", "DiscardIterator", "Iterator",
    "PermutationIterator", "ReverseIterator", "ShuffleIterator", "TransformIterator", "TransformOutputIterator",
    "ZipIterator",
]  # fmt: skip

_HOST = 1  # the memory of the host in `__dlpack_device__`

Function = Callable[..., Any]


class Iterator:
    """A sequence without an end that algorithms read from, write to, or both.

    ``it + n`` is the sequence from its item n on.

    Attributes
    ----------
    value_type : TypeDescriptor or None
        The type of the items; None: what the operator gives, which is known when code is made.
    kind : hashable
        Equal for iterators that the same code works on.
    state : tuple
        What that code gets.
    is_input_iterator, is_output_iterator : bool
        Whether items can be read, and written.
    """

    value_type: TypeDescriptor | None
    kind: Any
    state: tuple[Any, ...]
    is_input_iterator = True
    is_output_iterator = False
    length: int | None = None  # items that there are; None: no end is known
    children: tuple[Iterator, ...] = ()  # what it stands on
    _order = 0  # how their items go with those of this one: 1 item by item, -1 backwards, 0 in any way

    def _stands_on(self) -> list[tuple[Iterator, int]]:
        """The sequences whose items it reads or writes, and their order."""
        return [(child, self._order) for child in self.children]

    def _only_read(self) -> tuple[Iterator, ...]:
        """Those of them that say where it is written."""
        return ()

    def load(self) -> Function:
        """The function of a kernel that reads an item."""
        raise ValueError(f"a {type(self).__name__} does not support input operations: it can be written to only")

    def store(self) -> Function:
        """The function of a kernel that writes an item."""
        raise ValueError(f"a {type(self).__name__} does not support output operations: it can be read only")

    def __add__(self, offset: int) -> Iterator:
        raise NotImplementedError

    def __radd__(self, offset: int) -> Iterator:
        return self + offset

    @property
    def state_alignment(self) -> int:
        """Bytes: states hold numbers and addresses of up to 8."""
        return 8


class ArrayIterator(Iterator):
    """The elements of an array, from one on.

    Parameters
    ----------
    array
        An array of a device or of NumPy. One of several axes is taken in the order of its memory if that has no gaps,
        else in the order of its indices, the last one first.
    offset : int
    """

    is_output_iterator = True

    def __init__(self, array: Any, offset: int = 0) -> None:
        array = as_host(array)
        self.value_type = types.from_numpy_dtype(dtype_of(array))
        self.array, self.offset = _in_a_row(array, self.value_type.dtype), offset
        self.state = (self.array, offset) if offset else (self.array,)
        self.kind = ("array", self.value_type.dtype, bool(offset), len(self.array.shape))
        if isinstance(self.array, numpy.ndarray) and not self.array.flags.aligned:
            self.kind += ("unaligned",)  # kernels that lie packed in the library read aligned numbers alone

    @property
    def length(self) -> int:  # type: ignore[override]
        """Elements from the first one on."""
        return math.prod(self.array.shape) - self.offset

    @property
    def is_in_a_row(self) -> bool:
        """Whether it has one axis, so that kernels may index it."""
        return len(self.array.shape) == 1 and not self.offset

    def load(self) -> Function:
        return _array_functions(self.value_type, bool(self.offset), len(self.array.shape))[0]

    def store(self) -> Function:
        return _array_functions(self.value_type, bool(self.offset), len(self.array.shape))[1]

    def __add__(self, offset: int) -> Iterator:
        return ArrayIterator(self.array, self.offset + offset)


def as_host(value: Any) -> Any:
    """An array of another library in host memory, Tessera's or torch's, as one of NumPy; others as they are."""
    kind = type(value)
    if kind is not numpy.ndarray and hasattr(kind, "filled"):
        raise TypeError("the mask of a masked array would be lost: pass its filled(value) or compressed()")
    if kind is numpy.ndarray or not hasattr(kind, "__dlpack_device__") or hasattr(value, "__cuda_array_interface__"):
        return value
    if value.__dlpack_device__()[0] != _HOST:
        return value
    if getattr(value, "_is_items", False):  # records of tessera.numeric
        return value.__tessera_argument__
    shares = hasattr(value, "__array_interface__")  # also of dtypes that DLPack has not, as dates
    return numpy.asarray(value) if shares else numpy.from_dlpack(value)


class Room(Iterator):
    """Takes as many items as a sequence has room for; those after them are lost."""

    is_input_iterator, is_output_iterator, _order = False, True, 1

    def __init__(self, under: Iterator) -> None:
        self.under, self.value_type, self.length, self.children = under, under.value_type, under.length, (under,)
        self.state, self.kind = (under.state, numpy.int64(under.length or 0)), ("room", under.kind)

    def store(self) -> Function:
        put = self.under.store()

        def store(s: Any, i: Any, v: Any) -> None:
            if i < s[1]:
                put(s[0], i, v)

        return store


def within_room(it: Iterator, most: int) -> Iterator:
    """What may be given up to ``most`` items: the sequence itself, where it has room for as many."""
    return it if it.length is None or it.length >= most else Room(it)


def dtypes_of(*sequences: Iterator) -> list[Any]:
    """The dtypes of the items; None: what an operator gives, which is known when code is made."""
    return [it.value_type and it.value_type.dtype for it in sequences]


def dtype_of(array: Any) -> numpy.dtype[Any]:
    """The NumPy dtype of an array, of NumPy or of others."""
    dtype = getattr(array, "dtype", None)
    if isinstance(dtype, numpy.dtype):
        return dtype
    from ..cuda._typeof import as_dtype, typeof

    found: Any = typeof(array)
    if not hasattr(found, "dtype"):
        raise TypeError(f"a {type(array).__name__} is neither an array nor an iterator: {str(array)[:60]}")
    return numpy.dtype(as_dtype(found.dtype))


def _in_a_row(array: Any, dtype: numpy.dtype[Any]) -> Any:
    """The array with fields that launches see, and with one axis if its memory has no gaps."""
    shape = getattr(array, "shape", None)
    if shape is not None and len(shape) == 1 and (dtype.names is None or isinstance(array, numpy.ndarray)):
        return array
    if isinstance(array, numpy.ndarray):
        is_c, is_f = array.flags.c_contiguous, array.flags.f_contiguous
        return array.reshape(-1, order="C" if is_c else "F") if is_c or is_f else array
    from ..cuda import as_cuda_array

    found = as_cuda_array(array)
    if dtype.names is not None:
        found = found.view(dtype)
    if found.ndim == 1:
        return found
    is_c, is_f = found.is_c_contiguous(), found.is_f_contiguous()
    return found.reshape(found.size, order="C" if is_c else "F") if is_c or is_f else found


def _at(axes: int) -> Function:
    """The function of a kernel that gives the indices of item i of an array with several axes."""
    lines, names = ["def at(a, i):"], [f"i{axis}" for axis in range(axes)]
    for axis in reversed(range(1, axes)):
        lines += [f"    {names[axis]} = i % a.shape[{axis}]", f"    i = i // a.shape[{axis}]"]
    lines += [f"    return i, {', '.join(names[1:])}", ""]
    return written("\n".join(lines), {}, "view")["at"]  # type: ignore[no-any-return]


@functools.lru_cache(1024)
def _array_functions(kind: TypeDescriptor, moved: bool, axes: int) -> tuple[Function, Function]:
    get, put = kind.get, kind.put
    if axes > 1:
        at = _at(axes)

        def load_at(s: Any, i: Any) -> Any:
            return get(s[0], at(s[0], s[1] + i if moved else i))

        def store_at(s: Any, i: Any, v: Any) -> None:
            put(s[0], at(s[0], s[1] + i if moved else i), v)

        return load_at, store_at

    # without a sign: algorithms know no index below zero, which kernels would take to count from the end
    def load(s: Any, i: Any) -> Any:
        return get(s[0], numpy.uint64(i))

    def store(s: Any, i: Any, v: Any) -> None:
        put(s[0], numpy.uint64(i), v)

    def load_from(s: Any, i: Any) -> Any:
        return get(s[0], numpy.uint64(s[1] + i))

    def store_from(s: Any, i: Any, v: Any) -> None:
        put(s[0], numpy.uint64(s[1] + i), v)

    return (load_from, store_from) if moved else (load, store)


def iterator_of(what: Any, name: str) -> Iterator:
    """The iterator that an argument is, or that stands for the elements of an array, which kernels can read.

    Raises
    ------
    TypeError
        For what is neither, with the name of the parameter.
    ValueError
        For an array of a GPU at an address that its dtype cannot have there.
    """
    found = iterator_like(what, name)
    if isinstance(found, ArrayIterator) and found is not what:
        _check_address(found, name)
    return found


def iterator_like(what: Any, name: str) -> Iterator:
    """As `iterator_of`, also of a stand-in, which has no memory.

    Raises
    ------
    TypeError
        For what is neither, with the name of the parameter.
    """
    if isinstance(what, Iterator):
        return what
    try:
        found = ArrayIterator(what)
    except (TypeError, NotImplementedError, AttributeError, ValueError) as error:
        if isinstance(error, ValueError) and hasattr(what, "shape"):
            raise
        if what is None or not hasattr(what, "shape"):
            raise TypeError(
                f"{name} is a {type(what).__name__}: {str(what)[:60]}; give an array of a device or of NumPy, or an "
                "iterator"
            ) from None
        raise TypeError(f"{name}: {error}") from None
    return found


def _check_address(it: ArrayIterator, name: str) -> None:
    """GPUs read and write numbers at multiples of their size alone."""
    if isinstance(it.array, numpy.ndarray) or _core._current_device() < _core.DEVICE_CUDA:
        return
    address, dtype = it.array.__cuda_array_interface__["data"][0], it.value_type.dtype
    if address % dtype.alignment:
        raise ValueError(
            f"{name}: the array at {address:#x} is not aligned to its items, of {dtype}, as GPUs need it; pass a copy"
        )


class CountingIterator(Iterator):
    """``start, start + 1, ..``

    Parameters
    ----------
    start : numpy.number
        Its dtype is that of the items.
    """

    def __init__(self, start: Any) -> None:
        self.start = _scalar(start, "start")
        self.value_type = types.from_numpy_dtype(self.start.dtype)
        self.kind, self.state = ("counting", self.value_type.dtype), (self.start,)

    def load(self) -> Function:
        cast = self.value_type.cast  # type: ignore[union-attr]

        def load(s: Any, i: Any) -> Any:
            return cast(s[0] + cast(i))

        return load

    def __add__(self, offset: int) -> Iterator:
        return CountingIterator(self.start.dtype.type(self.start + self.start.dtype.type(offset)))


class ConstantIterator(Iterator):
    """The same value for ever.

    Parameters
    ----------
    value : numpy.generic or struct
    """

    def __init__(self, value: Any) -> None:
        if not hasattr(type(value), "__tessera_type__"):
            value = _scalar(value, "value")
        self.value, self.value_type = value, types.type_of(value)
        self.kind, self.state = ("constant", self.value_type), (value,)

    def load(self) -> Function:
        cast = self.value_type.cast  # type: ignore[union-attr]

        def load(s: Any, i: Any) -> Any:
            return cast(s[0])

        return load

    def __add__(self, offset: int) -> Iterator:
        return self


class DiscardIterator(Iterator):
    """Takes what is written and keeps nothing; reads give zero.

    Parameters
    ----------
    reference_iterator : array or iterator
        Whose items those of this one are like; None: bytes.
    """

    is_output_iterator = True

    def __init__(self, reference_iterator: Any = None) -> None:
        like = None if reference_iterator is None else iterator_of(reference_iterator, "reference_iterator")
        self.value_type = types.uint8 if like is None else like.value_type
        self.kind, self.state = ("discard", self.value_type), (numpy.uint8(0),)

    def load(self) -> Function:
        if self.value_type is None:
            return super().load()
        zero, cast = self.value_type.zero, self.value_type.cast

        def load(s: Any, i: Any) -> Any:
            return cast(zero)

        return load

    def store(self) -> Function:
        def store(s: Any, i: Any, v: Any) -> None:
            pass

        return store

    def __add__(self, offset: int) -> Iterator:
        return self


class CacheModifiedInputIterator(ArrayIterator):
    """The elements of an array, loaded past caches.

    Parameters
    ----------
    array
    modifier : {"stream", "global", "volatile"}
        Loads that are used once (``ld.global.cs``), that skip the first cache (``.cg``), that skip both (``.cv``).
    """

    is_output_iterator = False

    def __init__(self, array: Any, modifier: str = "stream", offset: int = 0) -> None:
        if modifier not in ("stream", "global", "volatile"):
            raise ValueError(f"modifier is {modifier!r}; it must be 'stream', 'global' or 'volatile'")
        super().__init__(array, offset)
        size = self.value_type.size  # type: ignore[union-attr]
        if size not in (1, 2, 4, 8, 16):
            raise ValueError(f"items have {size} bytes; loads past caches are of 1, 2, 4, 8 or 16")
        self.modifier, self.kind = modifier, (*self.kind, modifier)

    def load(self) -> Function:
        kind: Any = self.value_type
        if kind.dtype.names is not None or kind.dtype.kind == "c" or len(self.array.shape) > 1:
            return super().load()
        from .. import cuda

        modified = {"stream": cuda.ldcs, "global": cuda.ldcg, "volatile": cuda.ldcv}[self.modifier]
        if self.offset:
            return lambda s, i: modified(s[0], s[1] + i)
        return lambda s, i: modified(s[0], i)

    def store(self) -> Function:
        return Iterator.store(self)

    def __add__(self, offset: int) -> Iterator:
        return CacheModifiedInputIterator(self.array, self.modifier, self.offset + offset)


class TransformIterator(Iterator):
    """``op`` of each item of another sequence; or, with ``is_input=False``, as `TransformOutputIterator`.

    Parameters
    ----------
    underlying : array or iterator
    transform_op : function or OpKind
    value_type : TypeDescriptor, optional
        What the items are converted to. Not given: the annotation of what the function returns, else what it gives.
    is_input : bool
    """

    _order = 1

    def __init__(self, underlying: Any, transform_op: Any, value_type: Any = None, is_input: bool = True) -> None:
        self.underlying = iterator_of(underlying, "underlying")
        self.op, self.transform_op = operator_of(transform_op, 1, "transform_op"), transform_op
        self.is_input_iterator, self.is_output_iterator = is_input, not is_input
        given, returned = _annotated(transform_op)
        self._given = value_type
        found = value_type if value_type is not None else returned if is_input else given
        if found is None and is_input and isinstance(transform_op, OpKind):
            found = types.boolean if transform_op is OpKind.LOGICAL_NOT else self.underlying.value_type
        self.value_type = None if found is None else types.type_of(found)
        name = getattr(transform_op, "__qualname__", "")
        self.kind = ("transform", is_input, self.op.key, name, self.underlying.kind, self.value_type)
        self.state, self.children = self.underlying.state, (self.underlying,)
        self.length = self.underlying.length

    def load(self) -> Function:
        if not self.is_input_iterator:
            return super().load()
        under, op = self.underlying.load(), self.op.function
        if self.value_type is None:
            return lambda s, i: op(under(s, i))
        cast = self.value_type.cast
        return lambda s, i: cast(op(under(s, i)))

    def store(self) -> Function:
        if not self.is_output_iterator:
            return super().store()
        under, op, kind = self.underlying.store(), self.op.function, self.underlying.value_type
        taken = self.value_type.cast if self.value_type is not None else _same
        given = kind.cast if kind is not None else _same

        def store(s: Any, i: Any, v: Any) -> None:
            under(s, i, given(op(taken(v))))

        return store

    def __add__(self, offset: int) -> Iterator:
        return type(self)._moved(self, offset)

    @staticmethod
    def _moved(it: Any, offset: int) -> Iterator:
        return TransformIterator(it.underlying + offset, it.transform_op, it._given, it.is_input_iterator)


class TransformOutputIterator(TransformIterator):
    """What is written goes through ``op`` to another sequence.

    Parameters
    ----------
    underlying : array or iterator
    transform_op : function or OpKind
    output_value_type : TypeDescriptor, optional
        The type of what is written; the annotation of the parameter says it, too.

    Raises
    ------
    ValueError
        Where neither says it.
    """

    def __init__(self, underlying: Any, transform_op: Any, output_value_type: Any = None) -> None:
        super().__init__(underlying, transform_op, output_value_type, is_input=False)
        if self.value_type is None and isinstance(transform_op, OpKind):
            self.value_type = self.underlying.value_type
        if self.value_type is None:
            raise ValueError(
                "the type of what is written must be known: annotate the parameter of the function, or give "
                "output_value_type"
            )

    @staticmethod
    def _moved(it: Any, offset: int) -> Iterator:
        return TransformOutputIterator(it.underlying + offset, it.transform_op, it._given)


class ReverseIterator(Iterator):
    """Another sequence backwards: from the last element of an array, or from where an iterator stands.

    Parameters
    ----------
    underlying : array or iterator
    """

    _order = -1

    def __init__(self, underlying: Any, _at: bool = False) -> None:
        under = iterator_of(underlying, "underlying")
        if not isinstance(underlying, Iterator):
            under = ArrayIterator(underlying, (under.length or 0) - 1)
            under.kind, under.state = (*under.kind[:2], True, *under.kind[3:]), (under.array, under.offset)
        self.underlying, self.value_type, self.state = under, under.value_type, under.state
        self.length = under.offset + 1 if isinstance(under, ArrayIterator) else None
        self.is_input_iterator, self.is_output_iterator = under.is_input_iterator, under.is_output_iterator
        self.kind, self.children = ("reverse", under.kind), (under,)

    def load(self) -> Function:
        under = self.underlying.load()
        return lambda s, i: under(s, -i)

    def store(self) -> Function:
        under = self.underlying.store()

        def store(s: Any, i: Any, v: Any) -> None:
            under(s, -i, v)

        return store

    def __add__(self, offset: int) -> Iterator:
        return ReverseIterator(self.underlying + -offset)


class PermutationIterator(Iterator):
    """``values[indices[0]], values[indices[1]], ..``

    Parameters
    ----------
    values, indices : array or iterator
    """

    def __init__(self, values: Any, indices: Any) -> None:
        self.values, self.indices = iterator_of(values, "values"), iterator_of(indices, "indices")
        kind = self.indices.value_type
        if kind is not None and kind.dtype.kind not in "iu":
            raise TypeError(f"indices are {kind.dtype}; they must be whole numbers")
        self.value_type, self.children = self.values.value_type, (self.values, self.indices)
        self.is_input_iterator, self.is_output_iterator = self.values.is_input_iterator, self.values.is_output_iterator
        self.kind = ("permutation", self.values.kind, self.indices.kind)
        self.length = self.indices.length
        self.state = (self.values.state, self.indices.state)

    def _stands_on(self) -> list[tuple[Iterator, int]]:
        return [(self.values, 0), (self.indices, 1)]

    def _only_read(self) -> tuple[Iterator, ...]:
        return (self.indices,)

    def load(self) -> Function:
        value, index = self.values.load(), self.indices.load()
        return lambda s, i: value(s[0], index(s[1], i))

    def store(self) -> Function:
        value, index = self.values.store(), self.indices.load()

        def store(s: Any, i: Any, v: Any) -> None:
            value(s[0], index(s[1], i), v)

        return store

    def __add__(self, offset: int) -> Iterator:
        return PermutationIterator(self.values, self.indices + offset)


class ZipIterator(Iterator):
    """Structs of the items of several sequences, with the fields ``field_0``, ``field_1``, ..

    Parameters
    ----------
    *iterators : arrays or iterators
        Or one list or tuple of them.
    """

    _order = 1

    def __init__(self, *iterators: Any) -> None:
        if len(iterators) == 1 and isinstance(iterators[0], (list, tuple)):
            iterators = tuple(iterators[0])
        if not iterators:
            raise ValueError("a ZipIterator needs at least one array or iterator")
        self.children = tuple(iterator_of(it, f"iterators[{i}]") for i, it in enumerate(iterators))
        self.is_input_iterator = all(it.is_input_iterator for it in self.children)
        self.is_output_iterator = all(it.is_output_iterator for it in self.children)
        self.kind = ("zip", *(it.kind for it in self.children))
        self.length = min((it.length for it in self.children if it.length is not None), default=None)
        self.state = tuple(it.state for it in self.children)

    @functools.cached_property
    def value_type(self) -> TypeDescriptor | None:  # type: ignore[override]
        kinds = [it.value_type for it in self.children]
        if any(kind is None for kind in kinds):
            return None
        return _zipped(tuple(kinds))

    def load(self) -> Function:
        loads, cls = tuple(it.load() for it in self.children), _tuple_class(len(self.children))
        if self.value_type is not None:
            cls = self.value_type.cls  # type: ignore[attr-defined]
        return _by_index([f"F[{i}](s[{i}], i)" for i in range(len(loads))], loads, cls)

    def store(self) -> Function:
        lines = [f"    F{i}(s[{i}], i, C{i}(v[{i}]))" for i in range(len(self.children))]
        space: dict[str, Any] = {}
        for i, it in enumerate(self.children):
            space[f"F{i}"], space[f"C{i}"] = it.store(), _same if it.value_type is None else it.value_type.cast
        written("\n".join(["def store(s, i, v):", *lines, ""]), space, "zip")
        return space["store"]  # type: ignore[no-any-return]

    def __add__(self, offset: int) -> Iterator:
        return ZipIterator(*(it + offset for it in self.children))


def _by_index(items: list[str], functions: tuple[Function, ...], cls: Any) -> Function:
    space: dict[str, Any] = {"F": functions, "cls": cls}
    text = f"def load(s, i):\n    return cls({', '.join(items)})\n"
    written(text, space, "zip")
    return space["load"]  # type: ignore[no-any-return]


@functools.lru_cache(1024)
def _zipped(kinds: tuple[TypeDescriptor, ...]) -> TypeDescriptor:
    return types.struct({f"field_{i}": kind for i, kind in enumerate(kinds)}, "Zip")


@functools.lru_cache(1024)
def _tuple_class(n: int) -> Any:
    import collections

    return collections.namedtuple("Zip", [f"field_{i}" for i in range(n)])  # type: ignore[misc]


class ShuffleIterator(Iterator):
    """The numbers 0 to ``num_items - 1`` in a random order that the seed fixes, each once; items are int64.

    A Feistel cipher of the least number of bits that holds them all, applied again while it gives a number beyond
    (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002): no memory, and 2 steps on average at most.

    Parameters
    ----------
    num_items : int
    seed : int
    """

    value_type = types.int64

    def __init__(self, num_items: int, seed: int = 0, _at: int = 0) -> None:
        if num_items <= 0:
            raise ValueError(f"num_items must be > 0, found {num_items}")
        self.num_items, self.seed, self.at = int(num_items), int(seed), _at
        bits, keys = max(2, (self.num_items - 1).bit_length()), shuffle_keys(self.seed)
        low = bits // 2
        self.state = (_at, numpy.uint64(self.num_items), numpy.uint64(low), numpy.uint64((1 << low) - 1),
                      numpy.uint64((1 << bits - low) - 1), keys)  # fmt: skip
        self.kind, self.length = ("shuffle",), max(0, self.num_items - _at)

    def load(self) -> Function:
        return _shuffled

    def __add__(self, offset: int) -> Iterator:
        return ShuffleIterator(self.num_items, self.seed, self.at + offset)


def shuffle_keys(seed: int) -> tuple[Any, ...]:
    return tuple(numpy.random.SeedSequence(seed & (1 << 64) - 1).generate_state(_ROUNDS, numpy.uint64))


_ROUNDS = 8
_MIX, _HALF = numpy.uint64(0xD6E8FEB86659FD93), numpy.uint64(32)


def _shuffled(s: Any, i: Any) -> Any:
    at, n, low, low_mask, high_mask, keys = s
    return _permuted(numpy.uint64(at + i), n, low, low_mask, high_mask, keys)


def shuffling() -> Function:
    """The function of a kernel that gives item i of a `ShuffleIterator` of n items, a number that the device knows."""
    from ..cuda import clz

    def shuffled(n: Any, keys: Any, i: Any) -> Any:
        bits, one = numpy.uint64(max(2, 64 - clz(numpy.uint64(n - 1)))), numpy.uint64(1)
        low = bits >> one
        high_mask = (one << (bits - low)) - one
        return _permuted(numpy.uint64(i), numpy.uint64(n), low, (one << low) - one, high_mask, keys)

    return shuffled


def _permuted(v: Any, n: Any, low: Any, low_mask: Any, high_mask: Any, keys: Any) -> Any:
    while True:
        left, right = v >> low, v & low_mask
        for r in range(0, _ROUNDS, 2):
            left ^= _mixed(right, keys[r]) & high_mask
            right ^= _mixed(left, keys[r + 1]) & low_mask
        v = left << low | right
        if v < n:
            break
    return numpy.int64(v)


def _mixed(x: Any, key: Any) -> Any:
    x = (x ^ key) * _MIX
    x = (x ^ x >> _HALF) * _MIX
    return x ^ x >> _HALF


def _same(v: Any) -> Any:
    return v


def _scalar(value: Any, name: str) -> Any:
    """A number of the host as one of NumPy."""
    if isinstance(value, numpy.generic):
        return value
    if isinstance(value, numpy.ndarray) and value.size == 1:
        return value.reshape(-1)[0]
    if isinstance(value, (bool, int, float, complex)):
        return numpy.asarray(value)[()]
    raise TypeError(f"{name} is a {type(value).__name__}: {value!r}; give a number of NumPy, such as numpy.int32(0)")


def _annotated(op: Any) -> tuple[TypeDescriptor | None, TypeDescriptor | None]:
    """The annotated types of the parameter and of what a function returns."""
    function = getattr(op, "py_func", op)
    if isinstance(op, Operator) or not getattr(function, "__annotations__", None):
        return None, None
    parameters, returned = types.signature_from_annotations(function)
    return (parameters[0] if parameters else None), returned
