# SPDX-License-Identifier: Apache-2.0
"""Between CuPy's names and `tessera.numeric`, whose functions do the work.

    cupy.f(x)  -->  take: x as an array of tessera.numeric  -->  tessera.numeric.f  -->  give: the result as CuPy's

Arrays of CuPy's are objects of a class of their own (_ndarray.py) over the same memory. What they do otherwise than
NumPy's is here and there: results of no axes are arrays, and NumPy's arrays are no operands.
"""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy

from .. import _core
from .. import numeric as tn
from ..numeric import _setup
from ..numeric._foreign import ends_of
from ..numeric._host import rebuilt
from ..numeric._ndarray import ndarray as Base
from ..scipy._missing import HostObject

__all__ = ["Base", "View", "ends_of", "give", "quiet", "refuse", "refuse_all", "take", "wrapped"]

# Functions to which NumPy's arrays may be given; they say so by their names or ask about dtypes.
CONVERTS = frozenset(
    "array asarray asanyarray ascontiguousarray asfortranarray asarray_chkfinite require asnumpy copyto "
    "frombuffer fromiter from_dlpack save savez savez_compressed savetxt result_type can_cast min_scalar_type "
    "promote_types may_share_memory shares_memory isscalar ndim shape size iterable ix_ copy set astype put "
    "take repeat bincount full full_like empty_like zeros_like ones_like fill histogram histogramdd histogram2d "
    "percentile quantile average khatri_rao bandwidth expm".split()
)
# Functions whose answer about arrays is an array of CuPy's where NumPy's is Python's.
# Functions that make arrays of a dtype, and at which place it is given; those of another array's take no subok=.
DTYPED = {
    "empty": 1, "zeros": 1, "ones": 1, "full": 2, "empty_like": 1, "zeros_like": 1, "ones_like": 1, "full_like": 2,
}  # fmt: skip
ANSWERS = {"allclose": bool, "array_equal": bool, "array_equiv": bool, "matrix_rank": int}
_SCALARS = frozenset(dtype.type for dtype in _setup.DTYPES if dtype is not None)


@functools.cache
def _default() -> Any:
    """Where arrays lie that no device is said for: the first GPU, the CPU where there is none."""
    return _core.numeric_place("cuda:0") if _core.device_count("cuda") else None


with numpy.errstate(all="ignore"):
    _IGNORED = None if _setup.ERRORS is None else _setup.ERRORS.get()


def quiet(function: Any, *args: Any) -> Any:
    """What a function gives that tells of no faults of arithmetic: CuPy never does."""
    if _IGNORED is None:  # NumPy keeps elsewhere what errstate wants
        with numpy.errstate(all="ignore"):
            return function(*args)
    before = _setup.ERRORS.set(_IGNORED)
    try:
        return function(*args)
    finally:
        _setup.ERRORS.reset(before)


def placed(function: Any) -> Any:
    """What a function gives, quietly, with new arrays on the current device of CuPy's."""
    if _default() is None or _core.numeric_current.get(None) is not None:
        return quiet(function)
    token = _core.numeric_current.set(_default())
    try:
        return quiet(function)
    finally:
        _core.numeric_current.reset(token)


def refuse(x: Any) -> None:
    """NumPy's arrays are no operands: TypeError."""
    if isinstance(x, numpy.ndarray):
        raise TypeError(
            f"Unsupported type {type(x)}: NumPy's arrays are not converted by themselves; use cupy.asarray(x)"
        )


def refuse_all(values: Any) -> None:
    for x in values:
        if isinstance(x, numpy.ndarray):
            refuse(x)


def held_dtype(dtype: Any) -> Any:
    """A dtype that new arrays have: ValueError for those that CuPy's have not."""
    made = numpy.dtype(dtype)
    if made.subdtype is not None or not made.itemsize or made.hasobject:
        raise ValueError(f"Unsupported dtype {made}: arrays hold numbers, dates and records of them")
    if not made.isnative:
        raise ValueError(f"Unsupported byte-order of dtype {made.str}: arrays have that of this machine")
    return made


def _checked_dtype(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    place = DTYPED[name]
    dtype = args[place] if len(args) > place else options.get("dtype")
    if dtype is not None:
        held_dtype(dtype)
    if options.get("subok") is not None:
        raise TypeError(f"cupy.{name}() takes no subok=: results are cupy.ndarray")


def take(x: Any, held: list[Any], strict: bool) -> Any:
    """An argument as tessera.numeric wants it; `held`: pairs of what it got and what the user gave."""
    if isinstance(x, Base):
        made = x if type(x) is Base else x._as(Base)
        held.append((made, x))
        return made
    if type(x) in (list, tuple):
        return type(x)(take(item, held, strict) for item in x)
    if strict and isinstance(x, numpy.ndarray):
        refuse(x)
    return (
        getattr(x, "_inner", x)
        if isinstance(x, (View, ufunc)) or type(x).__name__ == "poly1d"
        else x
    )


def give(made: Any, held: Any = ()) -> Any:
    """A result of tessera.numeric's as CuPy's."""
    if isinstance(made, Base):
        for taken, given in held:
            if taken is made:
                return given if type(given) is not Base else given._as(ndarray)
        if type(made) is Base:
            made.__class__ = ndarray  # a new object, which nobody else has
        return made
    if type(made) in _SCALARS:
        return array_of(made)
    if isinstance(made, tuple):
        if hasattr(made, "_fields"):
            return rebuilt(made, lambda item: give(item, held))
        return tuple(give(item, held) for item in made)
    if type(made) is list:
        return [give(item, held) for item in made]
    if isinstance(made, tn.HostArray):
        raise ValueError(f"Unsupported dtype {made.dtype}: arrays hold numbers, dates and records of them")
    if isinstance(made, HostObject):
        return made.through(give)
    if isinstance(made, tn.poly1d):
        from ._classes import poly1d

        return poly1d(made)
    return made


def array_of(scalar: Any) -> Any:
    """A number as an array of no axes, where new ones lie."""
    made = placed(lambda: _setup.of_numpy(numpy.asarray(scalar), private=True))
    made.__class__ = ndarray
    return made


def wrapped(
    function: Any, name: str = "", strict: bool | None = None, module: str = "tessera.cupy"
) -> Any:
    """A function of tessera.numeric as CuPy's."""
    name = name or function.__name__
    strict = name not in CONVERTS if strict is None else strict
    answer = ANSWERS.get(name)
    makes = name in DTYPED

    def call(*args: Any, **options: Any) -> Any:
        held: list[Any] = []
        if makes:
            _checked_dtype(name, args, options)
        args = tuple([take(x, held, strict) for x in args])
        if options:
            options = {key: take(x, held, strict) for key, x in options.items()}
        made = placed(lambda: function(*args, **options))
        return array_of(made) if type(made) is answer else give(made, held)

    call.__name__ = call.__qualname__ = name
    call.__doc__, call.__module__ = getattr(function, "__doc__", None), module
    call.__wrapped__ = function  # type: ignore[attr-defined]
    return call


class ufunc:
    """An elementwise function on CuPy's arrays and numbers."""

    __module__ = "tessera.cupy"

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.__name__, self.__doc__ = inner.__name__, inner.__doc__

    def __call__(self, *args: Any, **options: Any) -> Any:
        refuse_all(args)
        if options:
            refuse_all(options.values())
        if any(type(x).__name__ == "poly1d" for x in args):
            args = tuple(x.coeffs if type(x).__name__ == "poly1d" else x for x in args)
        made = placed(lambda: self._inner(*args, **options))
        if type(made) is ndarray:
            return made
        return give(made, [(x, x) for x in (*args, *options.values()) if type(x) is Base])

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_inner"), name)

    def __repr__(self) -> str:
        return f"<ufunc 'cupy_{self.__name__}'>"

    def __reduce__(self) -> Any:
        return self.__name__


def _method(name: str) -> Any:
    def call(self: ufunc, *args: Any, **options: Any) -> Any:
        return wrapped(getattr(self._inner, name), name)(*args, **options)

    call.__name__ = name
    call.__doc__ = getattr(tn.ufunc, name).__doc__
    return call


def _at(self: ufunc, a: Any, indices: Any, b: Any = None, /) -> None:
    """The function at places, for each time that a place occurs; places that arrays name take values of NumPy's."""
    from ._ndarray import at_places

    refuse(a)
    at_places(self._inner, a, indices, b)


for _name in ("accumulate", "outer", "reduce", "reduceat"):
    setattr(ufunc, _name, _method(_name))
ufunc.at = _at  # type: ignore[attr-defined]


class View(types.ModuleType):
    """A module of tessera.numeric's with CuPy's arrays: its functions are wrapped when they are asked for."""

    def __init__(self, name: str, inner: Any, **own: Any) -> None:
        super().__init__(name, inner.__doc__)
        self._inner = inner
        self.__dict__.update(own)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_inner":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        try:
            found = getattr(self._inner, name)
        except AttributeError:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}") from None
        made = of_name(name, found, self.__name__)
        self.__dict__[name] = made
        return made

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *dir(self._inner)})


def view_of(inner: Any, name: str) -> tuple[Any, Any]:
    """``__getattr__`` and ``__dir__`` of a module whose names are those of a module of ours with CuPy's arrays."""
    view = View(name, inner)
    return (lambda attribute: getattr(view, attribute)), (lambda: dir(inner))


class Indexed:
    """What is indexed, not called: ``cupy.r_``, ``cupy.mgrid``."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getitem__(self, key: Any) -> Any:
        held: list[Any] = []
        return give(placed(lambda: self._inner[take(key, held, True)]), held)


def of_name(name: str, found: Any, module: str) -> Any:
    """What a name of a module of tessera.numeric is among CuPy's."""
    if isinstance(found, tn.ufunc):
        return ufunc(found)
    if isinstance(found, types.ModuleType):
        return View(f"{module}.{name}", found)
    if isinstance(found, HostObject):
        return found.through(give)
    if isinstance(found, type) and issubclass(found, (numpy.generic, numpy.dtype, BaseException)):
        return found
    if name in ("r_", "c_", "mgrid", "ogrid"):
        return Indexed(found)
    if isinstance(found, type) or not callable(found) or isinstance(found, numpy.dtype):
        return found
    made = wrapped(found, name, module=module)
    return (
        _by_method(made, FOLDS[name])
        if found is getattr(tn, name, None) and name in FOLDS
        else made
    )


# Reductions whose methods leave a result of no axes where it is.
FOLDS = {name: name.removeprefix("a") if name in ("amax", "amin") else name
         for name in ("sum", "prod", "max", "min", "amax", "amin", "any", "all")}  # fmt: skip


def _by_method(function: Any, method: str) -> Any:
    @functools.wraps(function)
    def call(a: Any, *args: Any, **options: Any) -> Any:
        if type(a) is ndarray and not args and not options:
            return getattr(a, method)()
        return function(a, *args, **options)

    return call


from ._ndarray import ndarray
