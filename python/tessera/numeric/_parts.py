# SPDX-License-Identifier: Apache-2.0
"""Functions of elements that are made of others: parts of floats, common divisors, bits; some with two results."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .. import _core
from . import _functions as f
from . import _host, _ufunc_methods
from ._ndarray import ndarray
from ._reduce import any as _any_of
from ._reduce import mask_of, scalar_of
from ._setup import METHOD, NO_VALUE, told_as, user_level
from ._ufunc import FUNCTIONS, Made, select, ufunc

_abs, _copysign, _trunc = FUNCTIONS["absolute"], FUNCTIONS["copysign"], FUNCTIONS["trunc"]
_fraction, _exponent, _bits, _common = map(ufunc, ("part_fraction", "part_exponent", "part_bits", "part_divisor"))
_FLOATS = {1: "f2", 2: "f4"}  # what integers of so many bytes become


def _chosen(where: Any, operands: list[Any]) -> list[Any]:
    """Elements of operands where a mask is true; numbers stay what they are."""
    arrays = [f.asarray(where), *(x for x in operands if isinstance(x, (ndarray, numpy.ndarray)))]
    shape = numpy.broadcast_shapes(*(x.shape for x in arrays))
    mask = f.broadcast_to(arrays[0], shape)
    return [f.broadcast_to(x, shape)[mask] if isinstance(x, (ndarray, numpy.ndarray)) else x for x in operands]


class Composed(Made):
    """A function of elements as NumPy's ufuncs, made of other functions: ``f(x, out=None, *, where=True, ...)``."""

    __module__ = Made.__module__

    _result = "composed"

    def __init__(
        self,
        function: Callable[..., Any],
        nout: int,
        identity: Any = None,
        takes_numbers: bool = False,
        tells: int = 0,
        walker: Any = None,
    ) -> None:
        self.__name__ = self.__qualname__ = function.__name__.strip("_")
        self.__doc__ = function.__doc__
        self._function, self.nout, self.identity = function, nout, identity
        self.nin = len(inspect.signature(function).parameters)
        self.nargs, self.signature, self._takes_numbers = self.nin + nout, None, takes_numbers
        self._tells = tells  # faults of the functions that it is made of which are its own
        self._walker = walker  # a function that gives the same of elements in order, for which there are loops

    @property
    def types(self) -> list[str]:
        """Its loops, as ``"ff->f"`` by letters of dtypes."""
        return loops_of(self.__name__)

    @property
    def ntypes(self) -> int:
        """How many loops it has."""
        return len(self.types)

    @property
    def __signature__(self) -> inspect.Signature:
        made = _ufunc_methods.signature(self.nin)
        if self.nout == 1:
            return made
        given = [
            p.replace(default=(None,) * self.nout) if p.name == "out" else p for p in made.parameters.values()
        ]
        return made.replace(parameters=given)

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    def __call__(self, *given: Any, out: Any = NO_VALUE, where: Any = True, casting: str = "same_kind",
                 order: str = "K", dtype: Any = None, subok: bool = True, signature: Any = None) -> Any:  # fmt: skip
        if not self.nin <= len(given) <= self.nargs:
            raise TypeError(
                f"{self.__name__}() takes from {self.nin} to {self.nargs} positional arguments but {len(given)} were "
                "given"
            )
        as_array = out is ...
        if where is not True and out is NO_VALUE and all(x is None for x in given[self.nin :]):
            warnings.warn("'where' used without 'out', expect unitialized memory in output. If this is intentional, "
                          "use out=None.", UserWarning, stacklevel=user_level())  # fmt: skip
        out = None if out is NO_VALUE else out
        if out is not None and len(given) > self.nin:
            raise TypeError("cannot specify 'out' as both a positional and keyword argument")
        if self.nout > 1 and out is not None and not as_array and not isinstance(out, tuple):
            raise TypeError("'out' must be a tuple of arrays")
        named = out if isinstance(out, tuple) else ()
        if isinstance(out, tuple) and len(out) != self.nout:
            raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
        if any(x is ... for x in (*given[self.nin :], *named)):
            raise TypeError(
                "out=... is only allowed as a keyword argument."
                if len(given) > self.nin
                else "must use `...` as `out=...` and not per-operand/in a tuple"
            )
        out = None if as_array else out
        outs = list(given[self.nin :]) or (list(out) if isinstance(out, tuple) else [out])
        outs += [None] * (self.nout - len(outs))
        operands: list[Any] = [*given[: self.nin]]
        if not self._takes_numbers:
            operands = _beside(operands)
        try:
            where = where if where is True else mask_of(where)
            kept = self._results(operands, outs, where, casting, dtype, signature, as_array)
        except (TypeError, ValueError):
            _ufunc_methods.fail_first(self.__name__, given[: self.nin], outs, dtype, signature, casting, where)
            raise
        if order != "K":
            kept = self._ordered(kept, outs, given[: self.nin], f.check_order(order))
        return tuple(kept) if self.nout > 1 else kept[0]

    def _ordered(self, kept: list[Any], outs: list[Any], operands: tuple[Any, ...], order: str) -> list[Any]:
        """New results with their axes in an order; A: columns first if all arrays among operands lie so."""
        by_columns = all(x.flags.f_contiguous for x in operands if isinstance(x, ndarray))
        order = ("F" if by_columns else "C") if order == "A" else order
        return [x.copy(order) if to is None and numpy.ndim(x) > 1 else x for x, to in zip(kept, outs, strict=True)]

    def _results(self, operands: list[Any], outs: list[Any], where: Any, casting: str, dtype: Any, signature: Any,
                 as_array: bool) -> list[Any]:  # fmt: skip
        kinds = {*map(type, operands)}
        as_they_are = casting in ("no", "equiv") and float not in kinds and kinds != {int}
        if dtype is not None or signature is not None or as_they_are:
            operands = _ufunc_methods.as_loop(self, operands, dtype, signature, casting)
        made = told_as(self.__name__, self._tells if where is True else 0, self._function, *operands)
        if where is not True and self._tells:  # of the faults of those elements alone
            told_as(self.__name__, self._tells, self._function, *_chosen(where, operands))
        return [
            f.copy_of(x, to, where=where, casting=casting)
            if to is not None
            else (f.asarray(x) if as_array else scalar_of(f.asarray(x)))
            for x, to in zip(made if self.nout > 1 else (made,), outs, strict=True)
        ]

    def outer(self, A: Any, B: Any, /, **options: Any) -> Any:
        """The function of every element of A with every element of B."""
        a, b = _ufunc_methods.outer_operands(A, B)
        return self(a[(...,) + (None,) * b.ndim], b, **options)

    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
               initial: Any = NO_VALUE, where: Any = True) -> Any:  # fmt: skip
        """The function of all elements along axes."""
        if (self.nin, self.nout) != (2, 1):
            raise ValueError("reduce only supported for binary functions")
        return _ufunc_methods.reduce(self, array, axis, dtype, out, keepdims, initial, where)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """The reduction of the first elements, for each number of them."""
        if (self.nin, self.nout) != (2, 1):
            raise ValueError("accumulate only supported for binary functions")
        return _ufunc_methods.accumulate(self, array, axis, dtype, out)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Reductions of the slices that indices begin; of one element where the next index is not greater."""
        if (self.nin, self.nout) != (2, 1):
            raise ValueError("reduceat only supported for binary functions")
        return _ufunc_methods.reduceat(self, array, indices, axis, dtype, out)

    def resolve_dtypes(self, dtypes: Any, *, signature: Any = None, casting: Any = None,
                       reduction: bool = False) -> Any:  # fmt: skip
        """The dtypes that operands and results of a call have, one for each; None for a result: any."""
        given = {"signature": signature, "casting": casting}
        named = {key: value for key, value in given.items() if value is not None}
        return getattr(numpy, self.__name__).resolve_dtypes(dtypes, reduction=reduction, **named)

    def at(self, a: Any, indices: Any, *b: Any) -> None:
        """``a[indices] = f(a[indices], b)``, once for each time that an index occurs, in order."""
        if self.nout > 1:
            raise ValueError("Only single output ufuncs supported at this time")
        _ufunc_methods.at(self, a, indices, *b)


for _name in ("__call__", "outer", "reduce", "accumulate", "reduceat", "resolve_dtypes", "at"):
    setattr(Composed, _name, _core.NumericRoutine(getattr(Composed, _name), Made.__module__, False, METHOD))


def loops_of(name: str) -> list[str]:
    """The loops that NumPy's function of this name has for dtypes of ours."""
    return [text for text in getattr(numpy, name).types if set(text) <= set("?bBhHiIlLqQefdFD->")]


class General(Made):
    """A function of vectors or matrices as NumPy's generalised ufuncs; it is called as one of ours."""

    __module__ = Made.__module__

    identity = None

    def __init__(self, routine: Any) -> None:
        self.__name__ = self.__qualname__ = routine.__name__
        self.__doc__, self._routine = routine.__doc__, routine
        self.__signature__ = inspect.signature(getattr(numpy, self.__name__))
        theirs = getattr(numpy, self.__name__)
        self.nin, self.nout, self.nargs, self.signature = theirs.nin, theirs.nout, theirs.nargs, theirs.signature
        self.types = loops_of(self.__name__)
        self.ntypes = len(self.types)

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    def __call__(self, *args: Any, **options: Any) -> Any:
        signature = options.pop("signature", options.pop("sig", None))
        if signature is not None:
            loop = _ufunc_methods.loop_of(self, signature)
            options["dtype"] = options.get("dtype") if loop is None else loop
        made = self._routine(*args, **options)
        like = None if made is options.get("out") or made is args[-1] else _core.numeric_derived(args)
        return made if like is None else like.__array_wrap__(f.asarray(made), (self, args, 0), not numpy.ndim(made))

    _result = "same"

    def _refused(self, *args: Any, **options: Any) -> Any:
        """Raises RuntimeError: such functions have no reductions."""
        raise RuntimeError("Reduction not defined on ufunc with signature")

    reduce = accumulate = reduceat = _refused

    def outer(self, *args: Any, **options: Any) -> Any:
        """Raises TypeError: such functions have none."""
        raise TypeError("method outer is not allowed in ufunc with non-trivial signature")

    def at(self, *args: Any, **options: Any) -> None:
        """Raises TypeError: such functions have none."""
        raise TypeError("Only unary and binary ufuncs supported at this time")


class Called(Made):
    """A function of Python's as NumPy's ufuncs: it is called on the host, and counted."""

    __module__ = Made.__module__

    def __init__(self, func: Any, nin: int, nout: int, **options: Any) -> None:
        self._theirs = numpy.frompyfunc(func, nin, nout, **options)
        self.__name__, self.__doc__ = self._theirs.__name__, self._theirs.__doc__

    def __getattr__(self, name: str) -> Any:
        theirs = getattr(self._theirs, name)
        if not callable(theirs):
            return theirs
        return lambda *args, **options: _host.called(theirs, "frompyfunc", args, options)

    def __repr__(self) -> str:
        return repr(self._theirs)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return _host.called(self._theirs, "frompyfunc", args, options)


def frompyfunc(func: Any, /, nin: int, nout: int, **kwargs: Any) -> Any:
    """A function of Python's on the elements of arrays, whose results are arrays of objects; the host computes it."""
    return Called(func, nin, nout, **kwargs)


def _beside(operands: Sequence[Any], kept: type | None = None) -> list[Any]:
    """Operands as arrays, lists and others' arrays on the device of ours; those of the type ``kept`` as they are."""
    device = next((x.device for x in operands if isinstance(x, ndarray)), None)
    return [
        x if type(x) is kept else f.asarray(x) if isinstance(x, ndarray) else f.asarray(x, device=device)
        for x in operands
    ]


def _floats(name: str, x: Any) -> Any:
    if x.dtype.kind not in "biuf":
        raise TypeError(f"ufunc '{name}' not supported for the input types")
    return x if x.dtype.kind == "f" else x.astype(_FLOATS.get(x.itemsize, "f8"))


def _frexp(x: Any) -> tuple[Any, Any]:
    """Fractions of 0.5 to 1 and exponents of two that make the numbers."""
    x = f.asarray(_floats("frexp", x))
    return _fraction(x), f.asarray(_exponent(x)).astype("i4")


def _power_of_two(n: Any) -> Any:
    return f.asarray((n + 1023) << 52).copy().view("f8")


def _ldexp(x1: Any, x2: Any) -> Any:
    """x1 * 2**x2."""
    if type(x1) is int and isinstance(x2, (ndarray, numpy.ndarray)) and x2.dtype.kind in "iu":
        x1 = numpy.asarray(x1).astype("f2")  # the least float: integers of Python's give way
    if type(x2) is int and isinstance(x1, (ndarray, numpy.ndarray)):
        if x1.dtype.kind == "c":
            raise TypeError("ufunc 'ldexp' not supported for the input types")
        x2 = numpy.asarray(x2, "i4")  # which must fit
    x1, x2 = _beside((x1, x2))
    x1 = f.asarray(_floats("ldexp", x1))
    if x2.dtype.kind not in "biu":
        raise TypeError("ufunc 'ldexp' not supported for the input types")
    if x2.dtype.kind == "u" and x2.itemsize == 8:
        raise TypeError("ufunc 'ldexp' not supported for the input types")
    made, n = x1.astype("f8"), x2.astype("i8")
    for _ in range(2):  # steps down leave more than 53 to go, so that none but the last factor rounds what is kept
        step = f.asarray(select(n > 1023, 1023, select(n < -1022, -969, 0)))
        made, n = made * _power_of_two(step), n - step
    made = made * _power_of_two(FUNCTIONS["maximum"](FUNCTIONS["minimum"](n, 1023), -1022))
    return f.asarray(made).astype(x1.dtype)


def _modf(x: Any) -> tuple[Any, Any]:
    """What stands behind the point, and before it."""
    x = f.asarray(_floats("modf", x))
    whole = _trunc(x)
    endless = FUNCTIONS["isinf"](x)
    zero = x.dtype.type(0)
    return _copysign(select(endless, zero, x) - select(endless, zero, whole), x), whole


def _spacing(x: Any) -> Any:
    """Distances to the next number away from 0."""
    x = f.asarray(_floats("spacing", x))
    finite = FUNCTIONS["isfinite"](x)
    if x.dtype == numpy.float16:  # whose loop takes the next greater number, and finds NaN invalid, too
        x = select(finite, x, numpy.float16(numpy.inf))
        return FUNCTIONS["nextafter"](x, numpy.float16(numpy.inf)) - x
    distance = f.asarray(select(finite, _abs(x), x.dtype.type(numpy.nan)))
    gap = FUNCTIONS["nextafter"](distance, numpy.inf) - distance
    return select(x < 0, -gap, gap)


def _integers(name: str, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Distances from 0 without signs, and the dtype of the result."""
    a, b = _beside((a, b), int)  # Python's take the dtype beside them
    dtype = f.result_type(a, b)
    if dtype.kind not in "iu":
        raise TypeError(f"ufunc '{name}' not supported for the input types")
    a, b = (f.asarray(x, dtype) if type(x) is int else f.asarray(x).astype(dtype) for x in (a, b))  # must fit
    shape = numpy.broadcast_shapes(a.shape, b.shape)
    a, b = (f.asarray(_abs(f.broadcast_to(x, shape))).astype(f"u{dtype.itemsize}") for x in (a, b))
    return a, b, dtype


def _divisor(a: Any, b: Any) -> Any:
    if a.device == "cpu":
        return _common(a, b)
    while bool(_any_of(b != 0)):
        some = f.asarray(b != 0)
        rest = a % f.asarray(select(some, b, b.dtype.type(1)))
        a, b = f.asarray(select(some, b, a)), f.asarray(select(some, rest, b))
    return a


def _gcd(x1: Any, x2: Any) -> Any:
    """Greatest common divisors."""
    a, b, dtype = _integers("gcd", x1, x2)
    return _divisor(a, b).astype(dtype)


def _lcm(x1: Any, x2: Any) -> Any:
    """Least common multiples."""
    a, b, dtype = _integers("lcm", x1, x2)
    divisor = f.asarray(_divisor(a, b))
    return f.asarray(a // f.asarray(select(divisor == 0, divisor.dtype.type(1), divisor)) * b).astype(dtype)


def _bitwise_count(x: Any) -> Any:
    """How many bits of the distance from 0 are set."""
    if x.dtype.kind not in "biu":
        raise TypeError("ufunc 'bitwise_count' not supported for the input types")
    return f.asarray(_bits(x if x.dtype.kind != "b" else x.astype("u1"))).astype("u1")


def _divmod(x1: Any, x2: Any) -> tuple[Any, Any]:
    """Quotients rounded down and what they leave."""
    return FUNCTIONS["floor_divide"](x1, x2), FUNCTIONS["remainder"](x1, x2)


FUNCTIONS_OF_PARTS = {
    made.__name__: made
    for made in (
        Composed(_divmod, 2, takes_numbers=True, tells=0xFF),
        Composed(_frexp, 2),
        Composed(_ldexp, 1, takes_numbers=True, tells=18),
        Composed(_modf, 2),
        Composed(_spacing, 1, tells=6),
        Composed(_gcd, 1, 0, takes_numbers=True, walker=_common),
        Composed(_lcm, 1, takes_numbers=True),
        Composed(_bitwise_count, 1),
    )
}


INNER = ("Composed",)
METHODS: dict[str, Any] = {}


def lexsort(keys: Any, axis: Any = -1) -> Any:
    """Places that sort by several keys, the last one first."""
    from ._sort import argsort

    if not isinstance(keys, (list, tuple)):
        keys = f.asarray(keys)
    if not (keys if isinstance(keys, (list, tuple)) else keys.ndim and len(keys)):
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    keys = [f.asarray(key) for key in keys]
    if len({key.shape for key in keys}) > 1:
        raise ValueError("all keys need to be the same shape")
    if not keys[0].ndim:
        f.normalize(axis, int(axis in (0, -1)))
        return numpy.int64(0)
    if any(key.dtype.kind in "SU" for key in keys):
        return _host.call("lexsort", numpy.lexsort, keys, axis)
    axis = f.normalize(axis, keys[0].ndim)
    from ._index import take_along_axis

    places = argsort(keys[0], axis, "stable")
    for key in keys[1:]:
        places = take_along_axis(places, argsort(take_along_axis(key, places, axis), axis, "stable"), axis)
    return places
