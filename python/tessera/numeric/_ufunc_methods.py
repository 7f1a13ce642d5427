# SPDX-License-Identifier: Apache-2.0
"""What functions of elements do beyond calls: at indices in place, reductions of slices and in order, their loops."""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy

from .. import _core
from . import _functions as f
from ._index import Places, in_dtype
from ._joining import concatenate, stack
from ._meanings import has_meaning
from ._ndarray import ndarray
from ._reduce import (
    axis_number, begun, dtype_into, fitting_mask, given_mask, into, mask_of, named_out, reduced_axes, start_of,
    sum_dtype, tell_of_first, warn_of_out, warn_of_parts
)
from ._setup import (
    ALL_FAULTS, INVALID, NO_VALUE, WEAK_KINDS, named_dtype, on, report, told_as, user_level, warn_of_lost_parts
)
from ._sort import argsort
from ._ufunc import FUNCTIONS, select

# Neutral elements of functions that are no fold of the C library, and functions that may take elements in any order.
IDENTITIES = {
    "bitwise_and": -1,
    "bitwise_or": 0,
    "bitwise_xor": 0,
    "gcd": 0,
    "hypot": 0,
    "logaddexp": -numpy.inf,
    "logaddexp2": -numpy.inf,
    "logical_xor": False,
}
ANY_ORDER = (*IDENTITIES, "fmax", "fmin")
# Functions whose at joins the values of a place first, and kinds of elements: not products of floats, that overflow.
JOINED = {
    **dict.fromkeys(("add", "maximum", "minimum", "fmax", "fmin"), "biufc"),
    **dict.fromkeys(("multiply", "bitwise_and", "bitwise_or", "bitwise_xor", "gcd"), "biu"),
}
_umath: Any = numpy._core.umath
_KINDS = frozenset("?bBhHiIlLqQefdFD")
_LETTERS = {"?": "?", "i": "bBhHiIlLqQ", "f": "efd", "c": "FD"}


def types(loops: str, result: str, nin: int) -> list[str]:
    """The loops of a function as NumPy writes them: ``"ff->f"``."""
    made = []
    of_truth = loops == "?" and result == "bool"  # takes every kind
    for kind in _LETTERS if of_truth else loops:
        for letter in _LETTERS[kind]:
            whole = {"same": letter, "bool": "?"}.get(result)
            part = {"F": "f", "D": "d"}.get(letter, letter)
            made.append(f"{letter * nin}->{whole or part}")
    return made


def types_of_times(name: str) -> list[str]:
    """The loops of a function that take dates or spans of time, which are NumPy's."""
    return [text for text in getattr(numpy, name).types if set(text) & {"m", "M"}]


def _named(function: Any, signature: Any) -> list[Any]:
    """The dtypes that ``signature=`` names, one for each operand and result; None: any."""
    nin, nout, name = function.nin, function.nout, function.__name__
    signature = signature.decode("ascii") if isinstance(signature, bytes) else signature
    if isinstance(signature, str):
        given, arrow, results = signature.replace(" ", "").partition("->")
        if len(given) == 1 and not arrow and nin + nout > 1:
            raise TypeError("Use `dtype` or  fill the tuple with more than one 'None'.")
        if (len(given), len(results)) != (nin, nout):
            raise ValueError(
                f"a type-string for {name}, {nin} typecode(s) before and {nout} after the -> sign"
            )
        signature = (*given, *results)
        for letter in signature:
            if letter not in _CODES:
                raise ValueError(f"signature={given}->{results}: {letter!r} is not the letter of a dtype")
    elif not isinstance(signature, tuple):
        raise TypeError("the signature object to ufunc must be a string or a tuple.")
    if len(signature) == 1:
        raise TypeError("Use `dtype` or  fill the tuple with more than one 'None'.")
    if len(signature) != nin + nout:
        raise ValueError(f"a type-tuple must be of length 1 or {nin + nout} for ufunc '{name}'")
    return [None if t is None else named_dtype(t) for t in signature]


_CODES = frozenset(numpy.typecodes["All"])


def _loops(function: Any) -> Iterator[list[Any]]:
    """The dtypes of operands and results of each loop."""
    for text in function.types:
        given, _, results = text.partition("->")
        yield [numpy.dtype(letter) for letter in given + results]


def loop_of(function: Any, signature: Any) -> Any:
    """The dtype of the operands of the loop that ``signature=`` names; None: it names none."""
    wanted = _named(function, signature)
    named = wanted if function._result == "same" else wanted[: function.nin]
    is_open = all(t is None for t in named)
    if all(t is None for t in wanted):
        return None
    for loop in _loops(function):
        if all(t is None or (t == have and t.num == have.num) for t, have in zip(wanted, loop, strict=True)):
            return None if is_open else loop[0]  # longlong, too, which is equal to int64
    raise TypeError(f"No loop matching the specified signature and casting was found for ufunc {function.__name__}")


def as_named(function: Any, signature: Any, operands: tuple[Any, ...]) -> list[Any]:
    """Operands as ``signature=`` has them: numbers of Python's beside others are written as elements of the dtype that
    is named for them, whatever ``casting=`` says; the truth of arrays is that of what they are in theirs."""
    is_logical = function.__name__.startswith("logical")
    made = []
    for x, dtype in zip(operands, _named(function, signature), strict=False):
        if dtype is None or dtype.kind not in "biufc":
            pass
        elif function.nin > 1 and type(x) in (int, float, complex):
            x = numpy.array(x, dtype)[()]
        elif is_logical and dtype.kind != "b":
            x = f.asarray(x)
            x = x.astype(dtype) if x.dtype != dtype and f.can_cast(x.dtype, dtype, "same_kind") else x
        made.append(x)
    return made


def as_loop(function: Any, operands: list[Any], dtype: Any, signature: Any, casting: str) -> list[Any]:
    """Operands in the dtypes of the first loop that ``dtype=`` or ``signature=`` names and that takes them."""
    if dtype is not None and signature is not None:
        raise TypeError("cannot specify both 'signature' and 'dtype'")
    if signature is None:
        named = [None] * function.nin + [None if dtype is None else named_dtype(dtype)] * function.nout
    else:
        named = _named(function, signature)
    given, operands = operands, [*map(f.asarray, operands)]
    every = [next(t for t in named if t is not None)] * len(named) if any(t is not None for t in named) else named
    for wanted in (named, every):  # a dtype of results alone is that of operands, too, where no loop fits as it is
        for loop in _loops(function):
            if _fits_loop(given, operands, wanted, loop, casting):
                return [
                    f.asarray(number, have) if type(number) is int else x.astype(have, copy=False)  # which must fit
                    for number, x, have in zip(given, operands, loop, strict=False)
                ]
    raise TypeError(f"No loop matching the specified signature and casting was found for ufunc {function.__name__}")


def fail_first(name: str, operands: Any, outs: Any, dtype: Any = None, signature: Any = None,
               casting: str = "same_kind", where: Any = True) -> None:  # fmt: skip
    """Raises, of what is wrong in a call, that which NumPy finds first: arrays that nobody may write to, masks, loops,
    casts, numbers that do not fit; shapes come later."""
    if any(isinstance(out, ndarray) and not out.flags.writeable for out in outs):
        raise ValueError("output array is read-only")
    if where is not True:
        mask_of(where)
    theirs = getattr(_umath, name)
    given = [type(x) if type(x) in (int, float, complex) else f.asarray(x).dtype for x in operands]
    if dtype is not None:
        signature = (None,) * theirs.nin + (named_dtype(dtype),) * theirs.nout
    named = {} if signature is None else {"signature": signature}
    made = [None if out is None else out.dtype for out in outs]
    try:
        loop = theirs.resolve_dtypes((*given, *made), casting=casting, **named)
    except TypeError as error:  # of a cast: its loop is known, so numbers are looked at before
        kind = getattr(error, "to" if hasattr(error, "in_i") else "from_", None)
        if kind is None:
            raise
        _check_numbers(operands, [kind, numpy.dtype("i") if name == "ldexp" else kind])
        raise
    _check_numbers(operands, loop)


def _check_numbers(operands: Any, loop: Any) -> None:
    """An error where an integer of Python's is none of the loop's dtype."""
    for x, wanted in zip(operands, loop, strict=False):
        if type(x) is int and wanted.kind in "iu":
            numpy.array(x, wanted)


def _fits_loop(given: list[Any], operands: list[Any], named: list[Any], loop: list[Any], casting: str) -> bool:
    """Whether a loop has the dtypes that are named, and operands may be cast to it: safely where theirs is not."""
    rules = [casting if t is not None or casting in ("no", "equiv") else "safe" for t in named]
    return all(t is None or t == have for t, have in zip(named, loop, strict=True)) and all(
        have.kind in WEAK_KINDS.get(type(number), "") or f.can_cast(x.dtype, have, rule)
        for number, x, have, rule in zip(given, operands, loop, rules, strict=False)
    )


def signature(nin: int) -> inspect.Signature:
    """How a function of so many operands is called."""
    kinds = inspect.Parameter
    names = ["x"] if nin == 1 else [f"x{i + 1}" for i in range(nin)]
    options = {
        "where": True,
        "casting": "same_kind",
        "order": "K",
        "dtype": None,
        "subok": True,
        "signature": None,
    }
    return inspect.Signature(
        [kinds(name, kinds.POSITIONAL_ONLY) for name in names]
        + [kinds("out", kinds.POSITIONAL_OR_KEYWORD, default=None)]
        + [kinds(name, kinds.KEYWORD_ONLY, default=value) for name, value in options.items()]
    )


def outer_operands(a: Any, b: Any) -> tuple[ndarray, ndarray]:
    """The operands of an outer product."""
    a, b = f.asarray(a), f.asarray(b)
    if a.ndim + b.ndim > _AXES:
        raise ValueError(f"maximum supported dimension for an ndarray is {_AXES}, found {a.ndim + b.ndim}")
    return a, b


_AXES = 64


# -- at ------------------------------------------------------------------------------------------------


def _turns(places: ndarray) -> ndarray | None:
    """How many equal places stand before each of sorted ones; None: none are equal."""
    first = concatenate([f.ones(1, bool), places[1:] != places[:-1]])
    if bool(first.all()):
        return None
    along = f.arange(places.size)
    return along - _core.numeric_fold("max", f.asarray(select(first, along, 0)), (0,), None, True, None, True)


def _rounds(places: ndarray) -> Iterator[ndarray | None]:
    """Which elements go in turn, so that none of a round are at the same place; None: all at once."""
    order = argsort(places, kind="stable")
    turn = _turns(places[order])
    if turn is None:
        yield None
        return
    order, begin = order[argsort(turn, kind="stable")], 0
    for n in numpy.bincount(numpy.asarray(turn)).tolist():
        yield order[begin : begin + n]
        begin += n


def _joined(function: Any, places: ndarray, values: ndarray) -> tuple[ndarray, ndarray]:
    """Each place once, and all of its values by an associative function: pairs of neighbours, again and again."""
    order = argsort(places, kind="stable")
    places, values = places[order], values[order]
    while (turn := _turns(places)) is not None:
        second = f.asarray(turn % 2 == 1)
        stays = f.asarray(turn % 2 == 0)
        pairs = concatenate([second[1:], f.zeros(1, bool)])[stays]
        made, places = values[stays], places[stays]
        made[pairs] = function(made[pairs], values[second])
        values = made
    return places, values


_WRAPPING = ("add", "subtract", "multiply")  # whose integers may be taken in any width
# Those of floats that give the same in a wider dtype, rounded once more.
_ROUNDING = {
    "f": frozenset(("add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin")),
    "c": frozenset(("add", "subtract")),
}


def _at_values(function: Any, a: ndarray, given: Any) -> Any:
    """The second operand of ``at``, in the dtype of the array where that changes nothing. Numbers of Python's do not
    give way here."""
    if type(given) not in (int, float, complex) or a.dtype.kind not in "iufc":
        return f.asarray(given)
    if type(given) is float and a.dtype == numpy.float64:
        return given
    exact = numpy.asarray(given)
    both = numpy.result_type(a.dtype, exact.dtype)
    if both == a.dtype:
        return exact.astype(both)[()]
    are_integers = exact.dtype.kind in "iu" and both.kind in "iu"
    if not are_integers and (both.kind != a.dtype.kind or function.__name__ not in _ROUNDING[both.kind]):
        return f.asarray(exact)  # as of uint64 and int64, for which NumPy takes float64
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = exact.astype(a.dtype.newbyteorder("="))
    return made[()] if made == exact or (are_integers and function.__name__ in _WRAPPING) else f.asarray(exact)


_FEW = 64  # places that Python looks through


def _lies_apart(view: ndarray) -> bool:
    """Whether a view surely names each element once."""
    reach = view.itemsize
    for step, n in sorted((abs(s), n) for s, n in zip(view.strides, view.shape, strict=True) if n != 1):
        if step < reach:
            return not view.size
        reach += step * (n - 1)
    return True


def _names_once(a: ndarray, indices: Any) -> bool:
    """Whether a key names each element once: an element, slices, or few places along the first axis that differ."""
    if type(indices) is ndarray:
        if not a.ndim or indices.ndim != 1 or indices.size > _FEW or indices.dtype != numpy.int64:
            return False
        return len({i % max(a.shape[0], 1) for i in indices.tolist()}) == indices.size
    keys = indices if type(indices) is tuple else (indices,)
    if all(type(i) is int for i in keys):
        return True
    return all(type(i) is slice or type(i) is int or i is ... for i in keys) and _lies_apart(a)


def _at_once(function: Any, a: ndarray, indices: Any, given: tuple[Any, ...]) -> bool:
    """Whether it is done by one call, for no element is named twice."""
    if a._is_items or has_meaning(a) or not all(type(x) in (int, float, complex, ndarray) for x in given):
        return False
    if not _names_once(a, indices):
        return False
    given = tuple(_at_values(function, a, x) for x in given)
    before = a[indices]
    if before.dtype != a.dtype or any(f.result_type(a, x) != a.dtype for x in given):
        return False
    made = function(before, *given)
    if made.dtype != a.dtype or made.shape != before.shape:
        return False
    a[indices] = made
    if a.device == "cpu":
        _core.numeric_flush(a)  # which reports what kernels have found
    return True


def _at_in_order(function: Any, a: ndarray, indices: Any, given: tuple[Any, ...]) -> bool:
    """Whether it is done by a loop in host memory: at places that arrays or lists of integers say, beside slices."""
    if len(given) != 1 or not _is_walked(a):
        return False
    keys = []
    for key in indices if type(indices) is tuple else (indices,):
        if isinstance(key, (list, ndarray, numpy.ndarray)):
            key = f.asarray(key, device="cpu")
            if key.dtype.kind not in "iu" or key._is_items or has_meaning(key):
                return False
            key = key.astype(numpy.int64, copy=False)
        elif not isinstance(key, slice) and key is not Ellipsis:
            return False
        keys.append(key)
    arrays = [key for key in keys if isinstance(key, ndarray)]
    if any(key.shape != arrays[0].shape for key in arrays):
        return False
    values = _at_values(function, a, given[0])
    if f.result_type(a, values) != a.dtype:
        return False
    return bool(_core.numeric_join_at(function, a, tuple(keys), f.asarray(values, a.dtype)))


# Functions that NumPy has loops of indices for, whose faults of one axis are told of by the function's name.
_INDEXED = frozenset(("add", "subtract", "multiply", "divide", "floor_divide", "maximum", "minimum", "fmax", "fmin"))
# Those whose loops of indices find comparisons with NaN invalid: where there is one, what they give is NaN.
_COMPARING = frozenset(("maximum", "minimum"))
# Those whose loops forget faults, so those of all casts but the last.
_CLEARING = frozenset(("maximum", "minimum", "fmax", "fmin"))


def _at_name(function: Any, a: ndarray, indices: Any, given: tuple[Any, ...]) -> str:
    """The name under which NumPy tells of faults."""
    if isinstance(indices, tuple) and len(indices) == 1:
        indices = indices[0]
    keys = indices if isinstance(indices, tuple) else (indices,)
    is_one = not isinstance(indices, tuple)
    if all(isinstance(key, slice) or key is ... or key is None for key in keys):  # a view, of one element
        is_one = a.ndim == 1 and a[indices].size == 1
    if function.__name__ not in _INDEXED or not is_one or a.ndim != 1 or a._is_items or has_meaning(a):
        return "at"
    other = given[0] if isinstance(given[0], (ndarray, numpy.ndarray)) else numpy.asarray(given[0])
    return function.__name__ if other.dtype == a.dtype and other.ndim < 2 else "at"


def at(function: Any, a: Any, indices: Any, *given: Any) -> None:
    """``a[indices] = function(a[indices], b)``, once for each time that an index occurs, in order."""
    if not isinstance(a, ndarray):
        raise TypeError("first operand must be array")
    if function.nin > 2:
        raise ValueError("Only unary and binary ufuncs supported at this time")
    if function.nin == 2 and not given:
        raise ValueError("second operand needed for ufunc")
    if function.nin == 1 and given:
        raise ValueError("second operand provided when ufunc is unary")
    if not a.flags.writeable:
        Places(a, indices)  # errors of indices come first
        raise ValueError("assignment destination is read-only")
    name = _at_name(function, a, indices, given)
    compares = function.__name__ in _COMPARING and a.dtype.kind == "f"  # as no cast to floats is invalid
    told_as(name, ALL_FAULTS & ~INVALID if compares else ALL_FAULTS, _at, function, a, indices, given)
    if compares and name != "at" and a.itemsize > 2 and _looks_for_nan(a):
        if numpy.isnan(numpy.asarray(a[indices])).any():
            report(name, INVALID)


def _looks_for_nan(a: ndarray) -> bool:
    """Whether comparisons with NaN are told of; on a GPU, where that waits and reads back, only if errstate asks for
    more than the warnings that are everywhere."""
    wanted = numpy.geterr()["invalid"]
    return wanted != "ignore" and (a.device == "cpu" or wanted != "warn")


def has_dtype(x: Any) -> bool:
    """Whether an operand is an array of numbers."""
    return isinstance(x, (ndarray, numpy.ndarray)) and x.dtype.kind in "biufc"


_NUMBERS = (bool, int, float, complex)  # of Python, which are arrays of their own dtypes here


@functools.cache
def _check_at(function: Any, *dtypes: Any) -> None:
    """An error where a function takes no elements of these dtypes, before indices and shapes are looked at."""
    on("cpu", lambda: function(*(f.empty(0, dtype) for dtype in dtypes)))


def _at(function: Any, a: ndarray, indices: Any, given: tuple[Any, ...]) -> None:
    """The same, of what has been looked at."""
    dtypes = [numpy.asarray(x).dtype if type(x) in _NUMBERS else getattr(x, "dtype", None) for x in given]
    is_number = all(isinstance(t, numpy.dtype) and t.kind in "biufc" for t in dtypes)
    if is_number and not a._is_items and not has_meaning(a):
        _check_at(function, a.dtype, *dtypes)
    if function.__name__ == "ldexp" and type(given[0]) in _NUMBERS:
        given = (f.asarray(given[0]),)  # which need not fit as an exponent does
    if function.__name__ == "negative" and a.dtype.kind in "if" and not has_meaning(a):
        function, given = FUNCTIONS["multiply"], (-1,)  # which has a loop in order
    if _at_once(function, a, indices, given) or _at_in_order(function, a, indices, given):
        return
    places = Places(a, indices)
    flat = f.ravel(places.offsets)
    values: Any = None
    if given:
        values = _at_values(function, a, given[0])
        loses = getattr(values, "dtype", a.dtype).kind == "c" and a.dtype.kind in "iuf" and function._result != "bool"
        if function.__name__ == "subtract" and a.dtype.kind in "iufc" and f.result_type(a, values) == a.dtype:
            function, values = FUNCTIONS["add"], FUNCTIONS["negative"](f.asarray(values, a.dtype))
        if type(values) not in (int, float, complex):
            values = f.ravel(f.broadcast_to(f.asarray(values), places.offsets.shape))
            values = values.copy() if f.may_share_memory(values, a) else values
        if loses:  # what does not fit is an error alone
            warn_of_lost_parts(user_level())
        if a.dtype.kind in JOINED.get(function.__name__, "") and f.result_type(a, values) == a.dtype and flat.size:
            flat, values = _joined(function, flat, f.broadcast_to(f.asarray(values, a.dtype), flat.shape))
    for chosen in _rounds(flat) if flat.size else (None,) * has_meaning(a):  # of none, too: for its errors
        here = flat if chosen is None else flat[chosen]
        other = values[chosen] if chosen is not None and isinstance(values, ndarray) else values
        made = f.asarray(
            function(_core.numeric_gather(places.view, here), *(() if values is None else (other,)))
        )
        if function.__name__ in _CLEARING:
            in_dtype(made[-1:], a.dtype)
        else:
            made = in_dtype(made, a.dtype)
        _core.numeric_scatter(places.view, here, made, True)  # any cast, as NumPy's
    if a.device == "cpu":
        _core.numeric_flush(a)  # which reports what kernels have found


# -- reductions in order -------------------------------------------------------------------------------


@functools.cache
def _result_of(function: Any, dtype: Any, number: int) -> Any:
    """The dtype of a function of two elements of a dtype; its number, as 'l' and 'q' are equal and hash alike."""

    def asked() -> Any:
        empty = f.empty(0, dtype)
        return f.asarray(function(empty, empty)).dtype

    return on("cpu", asked)


def _loop(function: Any, a: ndarray, dtype: Any = None) -> tuple[ndarray, Any]:
    """The array as the function's loop of one dtype takes it, and that dtype."""
    if dtype is not None:
        wanted = f.dtype_of(dtype)
        a = in_dtype(a, wanted).astype(dtype, copy=False)
        a = a if a.dtype.num == wanted.num else a._meant(wanted)  # longlong, or what is equal to it
    if function.__name__ == "logical_xor" and dtype is None:
        a = a.astype(bool)
    kind = _result_of(function, a.dtype, a.dtype.num)
    if kind == bool and a.dtype != bool:
        raise TypeError(
            f"no loop of {function.__name__} takes and gives one dtype for elements of {a.dtype}: it gives bool"
        )
    return a, a.dtype if kind == a.dtype else kind


def _walker(function: Any) -> Any:
    """The row that loops go by."""
    return getattr(function, "_walker", None) or function


def _is_walked(a: ndarray) -> bool:
    """Whether loops in C may go through the elements in order: in host memory, of numbers."""
    return a.device == "cpu" and not a._is_items and not has_meaning(a)


def _one_by_one(function: Any, rows: ndarray, mask: ndarray | None, start: Any, kind: Any) -> ndarray:
    """The function of a start (None: the first) and slices along axis 0 in order, less what a mask leaves out."""
    begin = 0 if start is not None else 1
    acc = f.full(rows.shape[1:], start, kind) if start is not None else rows[0].astype(kind)
    for i in range(begin, rows.shape[0]):
        acc = f.asarray(function(acc, rows[i], out=acc, where=mask[i]) if mask is not None else function(acc, rows[i]))
    return acc


def _pair_by_pair(function: Any, rows: ndarray) -> ndarray:
    """The function of slices along axis 0 in any order."""
    while rows.shape[0] > 1:
        half = rows.shape[0] // 2
        made = f.asarray(function(rows[:half], rows[half : 2 * half]))
        rows = concatenate([made, rows[2 * half :]]) if rows.shape[0] % 2 else made
    return rows[0]


def reduce(function: Any, a: Any, axis: Any, dtype: Any, out: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    """The reduction of a function that is no fold of the C library; initial=None: without its neutral element."""
    a, where = f.asarray(a), given_mask(where)
    name, axes = function.__name__, reduced_axes(a, axis)
    free = name in ANY_ORDER
    begins = initial is None or (initial is NO_VALUE and name not in IDENTITIES)
    warn_of_parts(a, dtype, 2 if begins else 1)
    forgets = begins and dtype is not None and tell_of_first(a, axes, f.dtype_of(dtype)) and name in _CLEARING
    a, kind = told_as("reduce" if a.ndim or begins else "cast", 0 if forgets else ALL_FAULTS, _loop, function, a, dtype)
    warn_of_out(kind, out)
    if len(axes) > 1 and not free:
        raise ValueError(f"reduction operation '{name}' is not reorderable, so at most one axis may be specified")
    mask = fitting_mask(a, True if where is None else where)
    neutral = None if initial is None else IDENTITIES.get(name)
    neutral = None if neutral is None else f.asarray(neutral).astype(kind)
    start = neutral if initial is None or initial is NO_VALUE else start_of(initial, kind)
    if mask is not None and start is None:
        raise ValueError(
            f"reduction operation '{name}' does not have an identity, so to use a where mask one has to specify "
            "'initial'"
        )
    kept = tuple(1 if d in axes else n for d, n in enumerate(a.shape))
    rest = tuple(n for d, n in enumerate(a.shape) if d not in axes)
    n = math.prod(a.shape[d] for d in axes)
    left_out = mask
    if free:
        a = a.astype(kind, copy=False)
        if mask is not None:  # a start is neutral where it is taken more than once: fmax, fmin
            a, mask = f.asarray(select(mask, a, start if neutral is None else neutral)), None

    def rows_of(x: ndarray) -> ndarray:
        return f.moveaxis(x, axes, tuple(range(len(axes)))).reshape(n, *rest)

    if not n and start is None:
        raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
    walked = None
    if n > (name == "gcd") and mask is None and (start is None or start is neutral) and _is_walked(a):
        begin = f.zeros(1, numpy.int64, device="cpu")
        walked = _core.numeric_walk(_walker(function), rows_of(a.astype(kind, copy=False)), 0, begin)
    if walked is not None:
        made = walked.reshape(rest)
    elif free and n:
        made = _pair_by_pair(function, rows_of(a))
        if start is not None and (start is not neutral or n == 1):  # of one, too, hypot and gcd are not negative
            is_left = left_out is not None and start is not neutral
            made = begun(function, start, made, a, axes, left_out, False) if is_left else function(start, made)
        elif n == 1:
            made = made.copy()  # of the array itself
    else:
        mask = None if mask is None else rows_of(f.broadcast_to(mask, a.shape))
        made = _one_by_one(function, rows_of(a), mask, start, kind)
    made = f.asarray(made)
    return into(made.reshape(kept) if keepdims is True else made, out, "unsafe")


def check_loop(function: Any, dtype: Any) -> None:
    """An error where a function has no loop of one dtype, which ``dtype=`` of its reductions names."""
    letter = None if dtype is None else named_dtype(dtype).char
    if letter in _KINDS and f"{letter}{letter}->{letter}" not in function.types:
        raise TypeError(f"No loop matching the specified signature and casting was found for ufunc {function.__name__}")


def one_axis(a: ndarray, axis: Any, method: str) -> int:
    """The axis, from 0, which may stand in a tuple; None: the only one."""
    if isinstance(axis, tuple):
        axes = [f.normalize(axis_number(d), a.ndim) for d in axis]
    elif axis is None or (not a.ndim and axis_number(axis) in (0, -1)):
        axes = [*range(a.ndim)]
    else:
        axes = [f.normalize(axis_number(axis), a.ndim)]
    if not a.ndim:
        raise TypeError(f"cannot {method} on a scalar")
    if len(axes) != 1:
        raise ValueError(f"{method} does not allow multiple axes")
    return axes[0]


def accumulate(function: Any, a: Any, axis: Any, dtype: Any, out: Any) -> Any:
    """The reduction of the first elements, for each number of them."""
    a = f.asarray(a)
    axis, out = one_axis(a, axis, "accumulate"), _one_out(out)
    dtype = _walk_dtype(function, a, dtype, out)
    warn_of_parts(a, dtype)
    a, kind = _loop(function, a, dtype)
    walked = _core.numeric_walk(_walker(function), a.astype(kind, copy=False), axis, None) if _is_walked(a) else None
    if walked is not None:
        return walked if out is None else _put_into(out, walked)
    rows = f.moveaxis(a, axis, 0)
    made = f.empty(rows.shape, kind)
    if rows.shape[0]:
        made[0] = rows[0]
    for i in range(1, rows.shape[0]):
        made[i] = function(made[i - 1], rows[i])
    made = f.moveaxis(made, 0, axis)
    return made.copy() if out is None else _put_into(out, made)


def _one_out(out: Any) -> Any:
    """What ``out=`` names, which must be writeable."""
    out = named_out(None if out is ... else out)
    if isinstance(out, ndarray) and not out.flags.writeable:
        raise ValueError("output array is read-only")
    return out


def _put_into(out: ndarray, made: ndarray) -> Any:
    """What accumulate or reduceat gives, in the array that is named for it, which has as many axes."""
    if out.ndim != made.ndim or any(m not in (1, n) for m, n in zip(made.shape, out.shape, strict=True)):
        raise ValueError(f"non-broadcastable output operand with shape {out.shape} doesn't match {made.shape}")
    warn_of_parts(made, out.dtype)
    return f.copy_of(made, out, casting="unsafe")


def _walk_dtype(function: Any, a: ndarray, dtype: Any, out: Any) -> Any:
    """The dtype that accumulate and reduceat compute in: that which is named, which the function must have a loop of;
    or with ``out=`` that which holds both its elements and the array's. None: that of the elements."""
    if function.__name__ == "ldexp":
        raise TypeError("ldexp has no accumulate and no reduceat: its loops take a float and an integer")
    if dtype is not None:
        check_loop(function, dtype)
        return dtype
    return None if function.__name__.startswith("logical") else dtype_into(a, out)


def _as_taken(function: Any, a: ndarray, dtype: Any) -> ndarray:
    """The elements in the dtype that reductions of a function compute them in."""
    name = function.__name__
    if name.startswith("logical"):
        dtype = bool
    elif dtype is None and name in ("add", "multiply"):
        dtype = sum_dtype(a.dtype)
    return a if dtype is None else a.astype(dtype, copy=False)


def _in_segments(function: Any, a: ndarray, indices: Any, axis: int, dtype: Any) -> ndarray | None:
    """What reduceat gives, by loops in host memory; None: there are none for it."""
    begins = f.asarray(indices, device=a.device)
    if not _is_walked(a) or begins.ndim != 1 or begins.dtype.kind not in "iu":
        return None
    begins = begins.astype(numpy.int64, copy=False)
    made: ndarray | None = _core.numeric_walk(_walker(function), _as_taken(function, a, dtype), axis, begins)
    return made


def _check_begins(function: Any, a: ndarray, indices: Any, axis: int) -> list[int]:
    """Where slices begin; an error where that is outside the array."""
    places, n = [int(i) for i in numpy.asarray(indices)], a.shape[axis]
    for i in places:
        if not 0 <= i < n:
            raise IndexError(f"index {i} out-of-bounds in {function.__name__}.reduceat [0, {n})")
    return places


def reduceat(function: Any, a: Any, indices: Any, axis: Any, dtype: Any, out: Any) -> Any:
    """Reductions of the slices that indices begin; of one element where the next index is not greater."""
    a = f.asarray(a)
    axis, out = one_axis(a, axis, "reduceat"), _one_out(out)
    try:
        dtype = _walk_dtype(function, a, dtype, out)
    except TypeError:
        _check_begins(function, a, indices, axis)  # whose errors come first
        raise
    made = _in_segments(function, a, indices, axis, dtype)
    if made is not None:
        return made if out is None else _put_into(out, made)
    rows, places, n = f.moveaxis(a, axis, 0), _check_begins(function, a, indices, axis), a.shape[axis]
    ends = [*places[1:], n][: len(places)]
    parts = [
        f.asarray(function.reduce(rows[i : j if j > i else i + 1], 0, dtype, initial=None))
        for i, j in zip(places, ends, strict=True)
    ]
    kind = f.asarray(function.reduce(f.zeros(1, a.dtype), 0, dtype, initial=None)).dtype
    made = stack(parts, axis) if parts else f.empty((*a.shape[:axis], 0, *a.shape[axis + 1 :]), kind)
    return made if out is None else _put_into(out, made)


def into_theirs(function: Any, *args: Any, **options: Any) -> Any:
    """A call whose ``out`` is NumPy's array: computed into one of ours, and copied; called by ext/numeric_call.c."""
    out = options.pop("out", None)
    if out is None:
        *args, out = args  # type: ignore[assignment]
    out = out[0] if isinstance(out, tuple) else out
    if not isinstance(out, numpy.ndarray):
        raise TypeError("return arrays must be of ArrayType")
    like = next((x for x in (*args, *options.values()) if isinstance(x, ndarray)), None)
    room = f.array(out) if like is None else f.asarray(out, device=like.device, copy=True)
    function(*args, out=room, **options)
    numpy.copyto(out, room.__array__())
    return out
