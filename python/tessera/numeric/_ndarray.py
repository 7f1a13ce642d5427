# SPDX-License-Identifier: Apache-2.0
"""The array class: what is not written in C (ext/numeric.c). Methods are the functions of the same name."""

from __future__ import annotations

import contextlib
import functools
import math
import operator
import types
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy

from .. import _core
from . import _setup
from ._foreign import MOST_AXES


class Flags:
    """How an array lies in memory, by NumPy's names: ``a.flags.c_contiguous``, ``a.flags["WRITEABLE"]``."""

    _names: ClassVar = {
        "C": "c_contiguous",
        "F": "f_contiguous",
        "O": "owndata",
        "W": "writeable",
        "A": "aligned",
        "X": "writebackifcopy",
    }
    _other: ClassVar = {"B": "behaved", "CA": "carray", "FA": "farray"}

    def __init__(self, array: ndarray) -> None:
        self._array = array

    def _is_dense(self, axes: Any) -> bool:
        a, step = self._array, self._array.itemsize
        for d in axes:
            if a.shape[d] != 1 and a.strides[d] != step:
                return a.size == 0
            step *= a.shape[d]
        return True

    @property
    def c_contiguous(self) -> bool:
        return self._is_dense(range(self._array.ndim - 1, -1, -1))

    @property
    def f_contiguous(self) -> bool:
        return self._is_dense(range(self._array.ndim))

    @property
    def contiguous(self) -> bool:
        return self.c_contiguous

    @property
    def forc(self) -> bool:
        return self.c_contiguous or self.f_contiguous

    @property
    def fnc(self) -> bool:
        return self.f_contiguous and not self.c_contiguous

    @property
    def owndata(self) -> bool:
        return self._array.base is None

    @property
    def writeable(self) -> bool:
        return self._array._writeable

    @writeable.setter
    def writeable(self, value: bool) -> None:
        base = self._array.base
        if value and isinstance(base, ndarray) and not base._writeable:
            raise ValueError("cannot set WRITEABLE flag to True of this array")
        if value and isinstance(base, numpy.ndarray) and not base.flags.writeable:
            raise ValueError("cannot set WRITEABLE flag to True of this array")
        self._array._writeable = bool(value)

    @property
    def aligned(self) -> bool:  # numbers that kernels do not read where they lie are items
        a = self._array
        return not a._is_items or a.dtype.kind not in "biufcmM" or not a.dtype.isnative

    @property
    def writebackifcopy(self) -> bool:
        return False

    @property
    def behaved(self) -> bool:
        return self.writeable

    @property
    def carray(self) -> bool:
        return self.writeable and self.c_contiguous

    @property
    def farray(self) -> bool:
        return self.writeable and self.fnc

    @property
    def fortran(self) -> bool:
        return self.f_contiguous

    @property
    def num(self) -> int:
        return sum(bit for name, bit in _FLAG_BITS.items() if getattr(self, name))

    def _attribute(self, name: str) -> str:
        found = self._names.get(name) or self._other.get(name) or name.lower()
        if not isinstance(getattr(Flags, found, None), property):
            raise KeyError("Unknown flag")
        return found

    def __getitem__(self, name: str) -> bool:
        return getattr(self, self._attribute(name))

    def __setitem__(self, name: str, value: bool) -> None:
        setattr(self, self._attribute(name), value)

    def __repr__(self) -> str:
        return "\n".join(
            f"  {name.upper()} : {getattr(self, name)}" for name in self._names.values()
        )


_FLAG_BITS = {"c_contiguous": 1, "f_contiguous": 2, "owndata": 4, "aligned": 256, "writeable": 1024}  # NumPy's numbers

# NumPy's functions that are operators of Python's, by their names in the module operator.
OPERATORS = {
    "add": "add", "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor", "divide": "truediv", "equal": "eq",
    "floor_divide": "floordiv", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le",
    "multiply": "mul", "not_equal": "ne", "power": "pow", "remainder": "mod", "subtract": "sub",
}  # fmt: skip
_OURS: dict[Any, Any] = _core.numeric_ours  # our function for each of NumPy's that was called with arrays of ours


def _as_array(value: Any) -> Any:
    """A number of Python's as an array, of which any cast is made."""
    return numpy.asarray(value) if type(value) in (int, float, complex) else value


def _whole_steps(strides: Any) -> tuple[int, ...]:
    """Strides as NumPy reads them: an integer, or a sequence of some."""
    given = strides.tolist() if isinstance(strides, (ndarray, numpy.ndarray)) else strides
    is_one = hasattr(given, "__index__")
    if is_one or (hasattr(given, "__getitem__") and not isinstance(given, dict)):
        with contextlib.suppress(TypeError):
            steps = (given,) if is_one else tuple(given)
            made = tuple(map(operator.index, steps))
            if all(-(2**63) <= x < 2**63 for x in made) and not any(isinstance(x, (bool, numpy.bool)) for x in steps):
                return made
    raise TypeError("invalid strides")


def is_derived(x: Any) -> bool:
    """Is x an array of a derived class?"""
    return isinstance(x, ndarray) and type(x) is not ndarray


class ndarray(_core.NumericArray):
    """NumPy's array, whose operations wait and are computed together.

    Made by the functions of :mod:`tessera.numeric`; ``numpy.asarray`` shares its memory.
    """

    __slots__ = ()
    __array_priority__ = 1000.0
    __module__ = "tessera.numeric"

    def __new__(  # noqa: PYI034
        cls,
        shape: Any,
        dtype: Any = float,
        buffer: Any = None,
        offset: int = 0,
        strides: Any = None,
        order: Any = None,
    ) -> ndarray:
        """A new array, or one in the memory of a buffer."""
        has_size = not isinstance(dtype, str) or _setup.dtype_of(dtype).itemsize
        if buffer is None and strides is None and has_size:
            made = _functions.empty(shape, dtype, "F" if _functions.check_order(order) == "F" else "C")
        else:
            strides = strides.tolist() if isinstance(strides, ndarray) else strides
            shared = buffer if isinstance(buffer, ndarray) and buffer.device != "cpu" else None
            if shared is not None and not shared.flags.forc:
                raise ValueError("ndarray is not contiguous")
            buffer = _setup.to_numpy(buffer) if isinstance(buffer, ndarray) else buffer
            theirs = numpy.ndarray(shape, dtype, buffer, offset, strides, order)
            if shared is not None:
                made = shared._view(offset, theirs.dtype, theirs.shape, theirs.strides)
            else:
                made = _setup.of_numpy(theirs)
                made.flags.writeable &= theirs.flags.writeable  # of a copy on a GPU, too
        if cls is ndarray:
            return made
        derived = made._as(cls, None)
        derived.__array_finalize__(None)
        return derived

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    def __array_finalize__(self, obj: Any, /) -> None:
        """What a derived class does when an object of it is made from another array; nothing here."""

    __class_getitem__ = classmethod(types.GenericAlias)

    # -- memory ------------------------------------------------------------------------------------

    @property
    def flags(self) -> Flags:
        """How the array lies in memory."""
        return Flags(self)

    @property
    def ctypes(self) -> Any:
        """Address, extents and strides for `ctypes`, as NumPy's; the memory stays where it is from then on."""
        if self.device != "cpu":
            raise ValueError(
                f"an array on {self.device} has no address in host memory: a.get().ctypes has that of a copy"
            )
        return _setup.to_numpy(self).ctypes

    @property
    def mT(self) -> ndarray:
        """A view with the last two axes exchanged."""
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return self.swapaxes(-1, -2)

    @property
    def real(self) -> ndarray:
        """The real part: a view; the array itself where it is real."""
        made = self._complex_part(0)
        if made is not None:
            return made
        return self if self.dtype.kind != "c" else self._odd_part(0)

    @real.setter
    def real(self, value: Any) -> None:
        part, value = self.real, _as_array(value)
        try:
            _functions.copyto(part, value, casting="unsafe")  # of itself it may not be writeable
        except _setup.HostDtype:
            part[...] = value

    @property
    def imag(self) -> ndarray:
        """The imaginary part: a view; zeros, read-only, where the array is real."""
        made = self._complex_part(1)
        if made is not None:
            return made
        if self.dtype.kind == "c":
            return self._odd_part(self.itemsize // 2)
        order = "F" if self.flags.fnc else "C"
        made = _functions.zeros(self.shape, self.dtype, order, device=self.device)
        made.flags.writeable = False
        return _functions.as_class(made, self)

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self.imag[...] = _as_array(value)

    def _odd_part(self, offset: int) -> ndarray:
        """A part of complex numbers of another byte order, or of a derived class."""
        dtype = numpy.dtype(f"f{self.itemsize // 2}").newbyteorder(self.dtype.byteorder)
        return _functions.as_class(self._view(offset, dtype, self.shape, self.strides), self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        if copy is False and self.device != "cpu":
            raise ValueError(
                f"an array on {self.device} is copied to become NumPy's, and copy=False forbids that"
            )
        if copy or self.device != "cpu":
            return numpy.array(_setup.to_numpy(self, briefly=True), dtype)
        shared = _setup.to_numpy(self)
        if dtype is None or numpy.dtype(dtype) == shared.dtype:
            return shared
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return shared.astype(dtype)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: Any = None,
    ) -> Any:
        _functions.check_copy(copy)
        moves = self.device != "cpu" and dl_device == (1, 0)
        if moves and copy is False:
            raise BufferError(f"the array lies on {self.device}: the CPU gets a copy, which copy=False forbids")
        made = self._to("cpu") if moves else self.copy() if copy else self
        if made.device != "cpu" and made.ndim > MOST_AXES:
            raise BufferError(f"memory of a GPU is handed out with up to {MOST_AXES} axes; reshape the array")
        given = _setup.to_numpy(made) if made.device == "cpu" else made.__tessera_argument__
        if made.device != "cpu" and dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"the array lies on {self.device}, not on dl_device={dl_device!r}; move it first")
        if self.dtype.kind in "mM" or not hasattr(given, "__dlpack__"):
            raise BufferError(f"DLPack has no dtype {self.dtype}; convert the elements with astype()")
        return given.__dlpack__(
            stream=stream, max_version=max_version, dl_device=dl_device, copy=None
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, _, number = self.device.partition(":")
        return (1, 0) if kind == "cpu" else (2, int(number))

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        from . import _standard

        return _standard.namespace(api_version or _standard.VERSIONS[-1])

    def __reversed__(self) -> Any:
        if not self.ndim:
            raise TypeError("reversed() takes an array with axes, found one of none")
        return (self[i] for i in range(len(self) - 1, -1, -1))

    def to_device(self, device: Any, /, *, stream: Any = None) -> ndarray:
        """The array on a device: itself where it lies there, else a copy."""
        if stream is not None:
            raise ValueError("to_device(): stream= must be None: arrays move in the order of the program")
        if device is None or isinstance(device, (int, float)):
            raise TypeError(f"to_device() takes 'cpu', 'cuda' or 'cuda:N', found {device!r}")
        return _setup.place(self, device)

    def get(self) -> numpy.ndarray[Any, Any]:
        """A copy as NumPy's array (CuPy's name)."""
        return _functions.asnumpy(self)

    def _ufunc_of_numpy(self, function: Any = None, method: Any = None, *inputs: Any, **options: Any) -> Any:
        """What __array_ufunc__ gives: NumPy's functions on our arrays are ours, and those that were called before are
        found without this; with an object of a derived class they are its operators."""
        import tessera.numeric

        if not hasattr(function, "__name__") or not isinstance(method, str):
            raise TypeError(f"__array_ufunc__ takes a ufunc and the name of its method, not {function!r}, {method!r}")
        if isinstance(function, tessera.numeric.ufunc):
            if len(options.get("out", ())) == 1:
                options["out"] = options["out"][0]
            return getattr(function, method)(*inputs, **options)
        by_operator = getattr(operator, OPERATORS.get(function.__name__, ""), None)
        is_array = len(inputs) == 2 and not isinstance(inputs[0], numpy.generic)  # whose operators call functions
        if by_operator and is_array and method == "__call__" and not options and is_derived(inputs[1]):
            return by_operator(_functions.asarray(inputs[0]), inputs[1])
        if getattr(numpy, function.__name__, None) is not function:  # another library's, of whatever name
            return self._by_host(function, method, inputs, options)
        ours = getattr(tessera.numeric, function.__name__, None)
        if ours is None:
            return NotImplemented
        outs = options.get("out", ())
        if outs and all(isinstance(out, numpy.ndarray) for out in outs):  # NumPy's: its memory is written by the host
            from . import _host

            _host.count(function.__name__)
            return getattr(function, method)(*_host.take(inputs), **_host.take(options))
        if method != "__call__":
            ours = getattr(ours, method)
        else:
            _OURS[function] = ours
        if len(outs) == 1:
            options["out"] = options["out"][0]
            if not isinstance(options["out"], ndarray):
                return NotImplemented
        return ours(*inputs, **options)

    def _by_host(self, function: Any, method: str, inputs: Any, options: Any) -> Any:
        """Another library's ufunc on our arrays, where nobody else among the operands may know better."""
        from . import _host

        known = (ndarray, numpy.ndarray, numpy.generic, int, float, complex, list)
        if method != "__call__" or not all(isinstance(x, known) for x in inputs) or is_derived(self):
            return NotImplemented
        return _host.absent(f"the ufunc {function.__name__}", function, inputs, options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from ._protocols import function_of_array

        return function_of_array(func, types, args, kwargs)

    # -- elements ----------------------------------------------------------------------------------

    def item(self, *index: Any) -> Any:
        """An element as a number of Python's."""
        if len(index) == 1 and isinstance(index[0], tuple):
            index = index[0]
        if len(index) == 1 and self.ndim != 1:
            place = _setup.whole(index[0])
            if not -self.size <= place < self.size:
                raise IndexError(f"index {place} is out of bounds for size {self.size}")
            index = tuple(map(int, numpy.unravel_index(place % self.size, self.shape)))
        if index and len(index) != self.ndim:
            raise ValueError("incorrect number of indices for array")
        if index:
            return self[tuple(map(_setup.whole, index))].item()
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self._scalar().item()

    def tolist(self) -> Any:
        """Nested lists of Python's numbers."""
        return _setup.to_numpy(self, briefly=True).tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """The elements' bytes."""
        return _setup.to_numpy(self, briefly=True).tobytes(order)

    def _single(self, kind: str) -> Any:
        if self.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        if kind != "complex" and self.dtype.kind == "c":
            raise TypeError(f"{kind}() argument must be a string or a real number, not 'complex'")
        return self._scalar()

    def __int__(self) -> int:
        return int(self._single("int"))

    def __float__(self) -> float:
        return float(self._single("float"))

    def __complex__(self) -> complex:
        return complex(self._single("complex"))

    def __index__(self) -> int:
        if self.ndim or self.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self._scalar())

    def __iter__(self) -> Any:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __repr__(self) -> str:
        shown = _setup.to_numpy(self, briefly=True)
        name = type(self).__name__
        return numpy.array_repr(shown if name == "ndarray" else shown.view(_named(name)))

    def __str__(self) -> str:
        return numpy.array_str(_setup.to_numpy(self, briefly=True))

    def __format__(self, spec: str) -> str:
        if self.ndim and spec:
            kind = type(self)
            raise TypeError(f"unsupported format string passed to {kind.__module__}.{kind.__qualname__}.__format__")
        return format(self._scalar() if not self.ndim else str(self), spec)

    def __copy__(self) -> ndarray:
        return self.copy("K")

    def __deepcopy__(self, memo: Any) -> ndarray:
        return self.copy("K")

    def __reduce_ex__(self, protocol: Any) -> Any:
        if type(self) is ndarray and protocol >= 5:  # NumPy's array is pickled without a copy of its memory
            stays = not self.flags.writeable and self.flags.forc  # a buffer that nobody may write to
            made = _setup.to_numpy(self.copy("F" if self.flags.fnc else "C"))
            return _read_only if stays else _functions.array, (made,)
        return self.__reduce__()

    def __reduce__(self) -> Any:
        return _new, (type(self), (0,), b"b"), _setup.to_numpy(self, briefly=True).__reduce__()[2]

    def __setstate__(self, state: Any, /) -> None:
        """Becomes the array of a pickle: its shape, dtype, order and bytes, as NumPy's."""
        made = numpy.ndarray((0,), "b")
        made.__setstate__(state)
        self._become(_setup.of_numpy(made, private=True))

    def __imatmul__(self, other: Any) -> Any:  # noqa: PYI034
        if type(self) is not ndarray or type(other) not in (ndarray, numpy.ndarray):
            from . import _protocols, matmul

            axes = [(-1,), (-2, -1), (-1,)] if self.ndim == 1 else [(-2, -1)] * 3
            made = _protocols.ufunc_answered(matmul, "__call__", (self, other), {"axes": axes, "out": (self,)})
            if made is not ...:
                return made
        made = _functions.asarray(self @ other)
        if made.shape != self.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {self.shape} doesn't match {made.shape}"
            )
        return _functions.copy_of(made, self)

    @property
    def flat(self) -> Any:
        """The elements along one axis, to read and to write."""
        from ._flat import flatiter

        return flatiter(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        if isinstance(value, ndarray) and self.flags.f_contiguous and not value.flags.f_contiguous:
            value = value.copy()  # as NumPy, whose values lie column by column where the array does
        if type(value) is ndarray and value.shape == self.shape and value.dtype == self.dtype and not self._is_items:
            flags = self.flags
            in_rows = flags.c_contiguous and value.flags.c_contiguous
            if in_rows and flags.writeable and not _functions.may_share_memory(value, self):
                _functions.copy_of(value, _functions.as_class(self, None))
                return
        self.flat[...] = value

    @property
    def data(self) -> memoryview:
        """The memory as a buffer."""
        return memoryview(self)

    def _retyped_in_place(self, dtype: Any) -> None:
        self._become(self.view(dtype, ndarray))

    def getfield(self, dtype: Any, offset: int = 0) -> ndarray:
        """A view of what lies so many bytes behind the begin of each element, as a dtype."""
        dtype, offset = _setup.dtype_of(dtype), operator.index(offset)
        if offset < 0 or offset + dtype.itemsize > self.itemsize:
            raise ValueError(
                f"Need 0 <= offset <= {self.itemsize} for requested type but received offset = {offset}"
            )
        from ._items import part

        return part(self, dtype, offset)

    def setfield(self, val: Any, dtype: Any, offset: int = 0) -> None:
        """Puts a value into the field that `getfield` gives."""
        self.getfield(dtype, offset)[...] = val

    def _restrided_in_place(self, strides: Any) -> None:
        warnings.warn(
            "setting the strides of an array is deprecated, as in NumPy 2.4; make a view by "
            "lib.stride_tricks.as_strided()",
            DeprecationWarning,
            stacklevel=_setup.user_level(),
        )
        given = _whole_steps(strides)
        if len(given) != self.ndim:
            raise ValueError(f"strides must be of the same length as shape ({self.ndim})")
        from .lib.stride_tricks import _check_room

        _check_room(self, self.shape, given)
        self._become(self._view(0, self.dtype, self.shape, given))

    def _reshaped_in_place(self, shape: Any) -> None:
        try:
            made = _functions.reshape(self, shape, copy=False)
        except ValueError as error:
            if "copy" not in str(error):
                raise
            raise AttributeError(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape."
            ) from None
        self._become(made)

    def resize(self, *new_shape: Any, refcheck: bool = True) -> None:
        """Gives the array another shape, in place; new elements are 0. Views of it keep what they were."""
        shape = _functions.listed(new_shape)
        if shape is None or not new_shape:
            return
        if not self.flags.forc:
            raise ValueError("resize only works on single-segment arrays")
        order, flat = "F" if self.flags.fnc else "C", _functions.as_class(self, None)
        flat = _functions.reshape(flat, -1, order=order)  # the elements as they lie
        if math.prod(shape) == self.size and min(shape, default=0) >= 0:
            self._become(_functions.reshape(flat, shape, order=order))
            return
        if self.base is not None:
            raise ValueError("cannot resize this array: it does not own its data")
        made = _functions.zeros(shape, self.dtype, order, device=self.device)
        n = min(made.size, self.size)
        _functions.reshape(made, -1, order=order)[:n] = flat[:n]
        self._become(made)

    def byteswap(self, inplace: bool = False) -> ndarray:
        """The elements with their bytes in the other order."""
        parts = {"c": self.itemsize // 2, "U": 4, "S": 1, "V": 1}  # of records below, each field by itself
        part = max(parts.get(self.dtype.kind, self.itemsize), 1)
        made = _functions.empty(self.shape, self.dtype, device=self.device)
        if _core.numeric_turn(self, made, part):
            return _functions.copy_of(made, self) if inplace else made
        whole = _functions.array(self, order="C").reshape(self.shape or 1)
        turned = (
            whole.view("u1")
            .reshape(-1, part)[:, ::-1]
            .copy()
            .reshape(-1)
            .view(self.dtype)
            .reshape(self.shape)
        )
        for name in self.dtype.names or ():
            turned[name] = turned[name].byteswap()
        return _functions.copy_of(turned, self) if inplace else turned

    def fill(self, value: Any) -> None:
        """Makes every element ``value``."""
        is_array = isinstance(value, (ndarray, numpy.ndarray)) and value.ndim
        is_text = isinstance(value, (str, bytes))
        is_list = isinstance(value, Sequence) and not is_text and self.dtype.names is None and self.dtype.kind != "O"
        if is_array and self.dtype.kind == "c" and self.flags.writeable:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        if is_list and self.dtype.kind in "iuc":
            raise TypeError(f"a real number is required, not '{type(value).__name__}'")
        if self.dtype.kind == "b" and (is_list or is_array):
            value = bool(value)
        elif is_array or is_list:
            raise ValueError("setting an array element with a sequence.")
        _functions.as_class(self, None)[...] = value  # without views of a derived class, whose making may fill them


@functools.cache
def _named(name: str) -> type:
    """A class of NumPy's arrays that prints them by the name of one of ours."""
    return type(name, (numpy.ndarray,), {})


def _read_only(theirs: numpy.ndarray) -> ndarray:
    """The array of a pickle that nobody may write to."""
    made = _functions.array(theirs)
    made.flags.writeable = False
    return made


def _new(kind: type[ndarray], shape: Any, dtype: Any) -> ndarray:
    """The array of a pickle before its state is set."""
    return ndarray.__new__(kind, shape, dtype)


from . import _functions
