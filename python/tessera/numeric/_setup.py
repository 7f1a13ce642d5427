# SPDX-License-Identifier: Apache-2.0
"""What the C half of arrays asks of Python: NumPy's dtypes and scalars, and objects of others as arrays."""

from __future__ import annotations

import contextvars
import operator
import os
import sys
import warnings
from typing import Any

import numpy

import tessera

from .. import _core


class HostDtype(TypeError):
    """Asks for arrays of a dtype that no kernel computes: the call that meets it is NumPy's (`_host.by_numpy`)."""


READONLY, PRIVATE = 1, 2  # flags of _core.numeric_wrap
# What classes of others are asked for in calls of a routine, ROUTINE_IS_FUNCTION .. of ext/numeric_routine.c: as a
# function, as a method of functions of elements, as such a function.
FUNCTION, METHOD, UFUNC = 1, 2, 3


def _dtype(name: str) -> numpy.dtype[Any] | None:
    """NumPy's dtype of a name of dtype.def; bfloat16 and narrow floats are those of ml_dtypes, where installed."""
    try:
        return numpy.dtype(name)
    except TypeError:
        pass
    if name != "bfloat16":
        return None
    try:
        import ml_dtypes
    except ImportError:
        return None
    return numpy.dtype(getattr(ml_dtypes, name))


DTYPES = (None, *(_dtype("bool" if name == "bool_" else name) for name, *_ in _core.DTYPES))


def dtype_of(what: Any) -> numpy.dtype[Any]:
    """What ``dtype=`` takes as NumPy's dtype."""
    if isinstance(what, type) and issubclass(what, numpy.dtype):  # a class, as numpy.dtypes.Float64DType
        try:
            what = what()
        except TypeError:  # its dtypes have parameters, as units
            what = numpy.empty(0, what).dtype
    if isinstance(what, _core.NumericArray):  # not the dtype of its elements: NumPy refuses an array
        raise TypeError(f"Cannot construct a dtype from an array; its own is array.dtype, here {what.dtype}")
    return numpy.dtype(what)


def loop_of(what: Any) -> numpy.dtype[Any]:
    """The same in the byte order of this machine, as functions compute."""
    found = dtype_of(what)
    return found if found.isnative else found.newbyteorder("=")


def named_dtype(what: Any) -> numpy.dtype[Any]:
    """What ``dtype=`` and ``signature=`` name; a byte order or a unit is no part of a loop."""
    dtype = dtype_of(what)
    if not dtype.isnative or (dtype.kind in "mM" and numpy.datetime_data(dtype)[0] != "generic"):
        raise TypeError(
            "The `dtype` and `signature` arguments to ufuncs only select the general DType and not details such as "
            f"the byte order or time unit: found {dtype!r}. Convert operands or use `out` for those."
        )
    return dtype


def scalar(dtype: numpy.dtype[Any], data: bytes) -> Any:
    """The scalar of these bytes."""
    return numpy.frombuffer(data, dtype)[0]


class Memory:
    """Memory that NumPy describes, kept alive by ``owner``: NumPy makes arrays of it."""

    def __init__(self, interface: dict[str, Any], owner: Any) -> None:
        self.__array_interface__ = interface
        self.owner = owner


class device:
    """Where arrays are made: ``with numeric.device("cuda"): ...``; ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.

    A call computes where its arrays lie. Lists and NumPy's arrays among its operands are copied there; arrays of two
    devices in one call are a ValueError that names both. Of this thread and of tasks begun inside.

    Raises
    ------
    ValueError
        The name is none of a device.
    DeviceNotFoundError
        This machine has no such device.
    """

    def __init__(self, name: Any) -> None:
        self._place = _core.numeric_place(name)
        self._tokens: list[Any] = []

    def __enter__(self) -> device:  # noqa: PYI034  no Self in Python 3.10
        self._tokens.append(_core.numeric_current.set(self._place))
        return self

    def __exit__(self, *exception: object) -> None:
        _core.numeric_current.reset(self._tokens.pop())

    def __repr__(self) -> str:
        return f"device({_core.numeric_device_name(self._place)!r})"

    def __str__(self) -> str:
        return str(_core.numeric_device_name(self._place))


def default_device(name: Any = None) -> str:
    """Where arrays are made outside of `device`; with a name it is that device from now on, in all threads."""
    if name is not None:
        _core.numeric_default(_core.numeric_place(name))
    return str(_core.numeric_device_name(_core.numeric_place(None)))


def place(a: Any, where: Any = None) -> Any:
    """The array where new ones lie, or on a device: itself where it is there."""
    if _core.numeric_place(where) == _core.numeric_place(a.device):
        return a
    return a._to(where)


def wait(*arrays: Any) -> None:
    """Computes what arrays wait for, all that waits if none is given, and waits until their devices are done.

    For timing, and before other programs look at memory; reading an element does the same for its array.
    """
    for a in arrays:
        if not hasattr(a, "device"):
            raise TypeError(f"wait() takes arrays, one after another, not {type(a).__name__}")
    _core.numeric_flush(*arrays)
    for where in {a.device for a in arrays} or {default_device()}:
        _core.synchronize(where)


def on(where: Any, function: Any, /, *args: Any, **options: Any) -> Any:
    """What a function gives while a device is current."""
    with device(where):
        return function(*args, **options)


def memory(a: Any, briefly: bool = False) -> Any:
    """What kernels of the library take in place of an array, to read or to write: it lies where the array does."""
    if a.device == "cpu":
        return to_numpy(a, briefly)
    return a._brief_argument if briefly else a.__tessera_argument__


def of_numpy(array: numpy.ndarray[Any, Any], private: bool = False) -> Any:
    """An array where new ones lie: in the memory of NumPy's, if that is host memory; ``private``: nobody else will look
    at it."""
    return place(of_host(array, private))


def is_held(dtype: numpy.dtype[Any]) -> bool:
    """Whether arrays may have this dtype."""
    return dtype in OWN or stored_as(dtype) is not None


def of_host(array: numpy.ndarray[Any, Any], private: bool = False) -> Any:
    """An array in the memory of NumPy's, on the CPU."""
    made = _core.numeric_of_numpy(array, private)
    if made is not None:
        return made
    if not is_held(array.dtype):
        raise HostDtype(
            f"arrays of dtype {array.dtype} are NumPy's own, which this function does not take; give it "
            "`a.astype(float)`, or call NumPy's function"
        )
    low, high = numpy.lib.array_utils.byte_bounds(array)
    address = array.__array_interface__["data"][0]
    flags = (0 if array.flags.writeable else READONLY) | (PRIVATE if private else 0)
    return _core.numeric_wrap(
        low, high - low, array, address - low, array.dtype, array.shape, array.strides, flags
    )


# Dtypes that arrays have beside the library's own, by their kind: what they are stored as (docs/adr/0031-meanings.md).
STORED: dict[str, numpy.dtype[Any]] = {"M": numpy.dtype(numpy.int64), "m": numpy.dtype(numpy.int64)}


# NumPy's other dtypes of 64 bits: equal to int64 and uint64, and not the same.
LONGLONGS = tuple(numpy.dtype(char) for char in "qQ")


# The library's own dtypes; and what the dtypes of items are stored as (docs/adr/0032-records.md).
OWN = frozenset(dtype for dtype in DTYPES if dtype is not None)
ITEMS = object()


def stored_as(dtype: numpy.dtype[Any]) -> Any:
    """What elements of a dtype that is none of the library's own are stored as: a dtype of its own, or ITEMS; None: it
    has no such arrays."""
    if dtype.hasobject or dtype.subdtype is not None:
        return None
    if dtype.kind in "SU" or (dtype.kind == "V" and dtype.num < _FIRST_OF_OTHERS):
        return ITEMS
    turned = dtype.newbyteorder("=")
    if not dtype.isnative and (turned in OWN or turned.kind in STORED):
        return ITEMS
    return STORED.get(dtype.kind)


def identity(dtype: numpy.dtype[Any]) -> tuple[Any, ...]:
    """What tells a dtype from others that compare equal: M8[1000us] and M8[ms], records and those of numpy.record."""
    if dtype.names is None:
        return dtype, dtype.type, numpy.datetime_data(dtype) if dtype.kind in "mM" else None
    return dtype, dtype.type, dtype.isalignedstruct, *(identity(dtype[name].base) for name in dtype.names)


def fitted(source: numpy.dtype[Any], dtype: numpy.dtype[Any]) -> numpy.dtype[Any]:
    """The dtype that a conversion to one gives: of a time without a unit, that with the unit of what is converted."""
    if source.kind in "mM" and dtype.kind in "mM" and numpy.datetime_data(dtype)[0] == "generic":
        return numpy.dtype(dtype.kind + source.str[2:])
    return dtype


# How the files begin that no user wrote: a line of the user's program is one of another file.
LIBRARIES = tuple(
    os.path.join(os.path.dirname(os.path.abspath(str(module.__file__))), "")
    for module in (tessera, numpy)
) + ("<frozen ",)


_FIRST_OF_OTHERS = 256  # numbers of dtypes that other packages register, some of which say that they are voids


# Modules whose functions take items: they only move elements, or ask what they are.
MOVE = frozenset(f"{__package__}.{name}" for name in ("_functions", "_index", "_io", "_joining", "_methods", "_more"))
CLIP: Any = vars(numpy)["_core"].umath.clip  # the function that the method is, for classes that ask
NO_VALUE: Any = numpy._NoValue  # the default of arguments that NumPy tells from None


def to_numpy(array: Any, briefly: bool = False) -> numpy.ndarray[Any, Any]:
    """NumPy's array in the memory of ours; of an array on a GPU a read-only copy. ``briefly``: for one look; nothing
    may be called on arrays meanwhile."""
    if array.device != "cpu":
        made = to_numpy(array._to("cpu"))
        if made.size or not array.flags.writeable:  # nothing is lost without elements
            made.flags.writeable = False
        return made
    if array._is_items:
        if not array.nbytes:
            return numpy.ndarray(array.shape, array.dtype)  # empty() makes texts without a width wider
        if not briefly:
            array._address()  # from now on it stays where it is
        interface = array._interface
        interface["typestr"] = f"|V{array.itemsize}"
        return numpy.asarray(Memory(interface, array)).view(array.dtype)
    if not briefly:
        array._address()
    interface = array._interface
    if interface["typestr"][1] != "V":
        made = numpy.asarray(Memory(interface, array))
        return made.view(array.dtype) if array._is_longlong else made
    interface["typestr"] = f"<u{array.itemsize}"
    return numpy.asarray(Memory(interface, array)).view(array.dtype)


def convert(value: Any, dtype: Any = None, assigned: bool = False) -> Any:
    """An operand that is no array of ours and no number of Python's: an array, or NotImplemented. ``assigned``: it is
    written to elements of ``dtype``, by which NumPy reads lists; arrays stay as they are."""
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        made = numpy.asarray(value, None if assigned else dtype)
        return of_host(made, private=made is not value)
    if getattr(type(value), "__array_ufunc__", True) is None:
        return NotImplemented
    if hasattr(value, "__cuda_array_interface__"):  # memory of a GPU is an operand where it lies
        from ._foreign import of_shown

        return of_shown(value)
    if hasattr(type(value), "__array__"):  # it may give an array of ours
        from ._functions import asarray

        return asarray(value, dtype)
    if isinstance(value, int) and dtype is None:  # subclasses of int, as enumerations
        value = int(value)
    return of_host(numpy.array(value, dtype), private=True)


_FAULTS = {1: ("divide", "divide by zero", 1), 2: ("over", "overflow", 2), 16: ("under", "underflow", 4),
           4: ("invalid", "invalid value", 8), 8: ("over", "overflow", 2)}  # fmt: skip
ALL_FAULTS, INVALID = 31, 4
# Numbers of Python's, and the kinds of dtypes that take them as theirs.
WEAK_KINDS = {int: "iufc", float: "fc", complex: "c"}
_GROWS = 8  # a number of Python's that is infinite in the dtype of a call


_umath: Any = numpy._core.umath
ERRORS: Any = getattr(_umath, "_extobj_contextvar", None)  # where NumPy keeps what errstate wants


_WARNS = dict.fromkeys(("divide", "over", "invalid", "under"), "warn")


def report(function: str, faults: int, late: bool = False) -> None:
    """Tells of faults in a call as NumPy's errstate wants it; ``late``: in one that has waited, which wanted
    warnings."""
    wanted: Any = _WARNS if late else numpy.geterr()
    name = "cast" if function == "copy" else function.removeprefix("time_")
    for bit, (kind, words, code) in _FAULTS.items():
        if not faults & bit or wanted[kind] == "ignore":
            continue
        text = f"{words} encountered in {'cast' if bit == _GROWS else name}"
        if wanted[kind] == "raise":
            raise FloatingPointError(text)
        if wanted[kind] == "warn":
            warnings.warn(text, RuntimeWarning, stacklevel=user_level())
        elif wanted[kind] == "print":
            print(f"Warning: {text}", file=sys.stderr)
        else:
            _call_or_log(wanted[kind], words, text, code)


def whole(index: Any) -> int:
    """An index as a number of Python's; bools are refused."""
    if isinstance(index, (bool, numpy.bool)):
        raise TypeError("an integer is required")
    number = operator.index(index)
    if not -sys.maxsize <= number + 1 <= sys.maxsize + 1:
        raise OverflowError("Python int too large to convert to C long")
    return number


def told_as(name: str, faults: int, function: Any, *operands: Any) -> Any:
    """The result of a function that calls others; their faults are reported under its name, if ``faults`` has them."""
    if not _core.numeric_collect():
        return function(*operands)
    told = 0
    try:
        made = function(*operands)
        told = faults
    finally:
        _core.numeric_collected(name, told)
    return made


def user_level(libraries: tuple[str, ...] = LIBRARIES) -> int:
    """The level of the frame that called who asks, or of the line of no library behind it, for `warnings`."""
    frame: Any = sys._getframe(2)
    level = 2
    while frame.f_back and frame.f_code.co_filename.startswith(libraries):
        frame, level = frame.f_back, level + 1
    return level


_STRICT, _AT_ONCE, _UNDERFLOW = 16, 32, 64  # CALL_STRICT, CALL_AT_ONCE, CALL_UNDERFLOW of ext/numeric_call.c


def watches() -> int:
    """The faults that numpy.errstate wants warnings of, as bits; `_STRICT` where it wants them reported in other ways,
    and `_UNDERFLOW` where it wants that.
    By Python's filters of warnings none where these are ignored, and `_AT_ONCE`, too, where one may be an error or each
    is shown."""
    wanted: Any = numpy.geterr()
    if wanted["under"] != "ignore":
        return _STRICT | _UNDERFLOW
    if not {*wanted.values()} <= {"ignore", "warn"}:
        return _STRICT
    action = _filtered()
    if action == "ignore":
        return 0
    bits = sum(bit for bit, (kind, _, _) in _FAULTS.items() if bit < _GROWS and wanted[kind] == "warn")
    return bits | _AT_ONCE if bits and action == "error" else bits


def _filtered() -> str:
    """What Python's filters do with warnings of faults: "error" where one that may match raises or shows each,
    whichever messages, modules and lines it names; "ignore" where all of them ignore."""
    actions = set()
    for action, message, category, module, line in warnings.filters:
        if not issubclass(RuntimeWarning, category):
            continue
        actions.add("error" if action in ("always", "all", "error") else action)
        if (message, module, line) == (None, None, 0):  # those behind it are never asked
            break
    else:
        actions.add("default")
    return "error" if "error" in actions else "ignore" if actions == {"ignore"} else "default"


def _call_or_log(how: str, words: str, text: str, code: int) -> None:
    target: Any = numpy.geterrcall()
    if target is None:
        raise NameError(
            f"{how} specified for {words} (in {text.rsplit(' ', 1)[1]}) but no object with write method found"
        )
    if how == "call":
        target(words, code)
    else:
        target.write(f"Warning: {text}\n")


# Hooks that the C half calls as they are, not as routines.
_AS_THEY_ARE = ("by_numpy", "derived", "function_answered", "give", "host_calls", "mask_of", "ufunc_answered")


def setup(array_class: type, **hooks: Any) -> None:
    """Tells the C half everything; called once, when the class is there."""
    from . import _items, _meanings

    hooks = {
        name: hook if name in _AS_THEY_ARE else _core.NumericRoutine(hook, __name__, True)
        for name, hook in hooks.items()
    }
    hooks["items_call"] = _core.NumericRoutine(_items.routine, __name__, True)
    hooks.update(report=report, convert=convert, dtype_of=dtype_of, scalar=scalar, integer_type=numpy.integer,
                 numpy_array=numpy.ndarray, numpy=numpy, numpy_generic=numpy.generic,
                 numpy_dtype=numpy.dtype,
                 host_dtype=HostDtype, identity=identity, stored_as=stored_as, meant_call=_meanings.call,
                 meant_cast=_meanings.cast,
                 longlongs=LONGLONGS,
                 items=ITEMS, items_scalar=_items.element, items_lend=_items.lend, items_buffer=_items.lend_buffer,
                 items_descr=_items.descr, items_runs=_items.runs, items_argument=_items.argument,
                 libraries=LIBRARIES)  # fmt: skip
    default = None if ERRORS is None else contextvars.Context().run(ERRORS.get)
    hooks.update(errors=ERRORS, errors_default=default, watches=watches, warnings=vars(warnings), filters_key="filters")
    _core.numeric_setup(array_class, DTYPES, hooks)
    os.register_at_fork(after_in_child=_core.numeric_forked)


def warn_of_lost_parts(stacklevel: int = 3) -> None:
    """NumPy's warning that complex numbers become real ones."""
    said = "Casting complex values to real discards the imaginary part"
    warnings.warn(said, numpy.exceptions.ComplexWarning, stacklevel=stacklevel)
