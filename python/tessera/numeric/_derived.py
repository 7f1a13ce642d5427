# SPDX-License-Identifier: Apache-2.0
"""Classes derived from ndarray: what calls that meet objects of them give.

A function that NumPy has written in Python is then NumPy's program (`_numpys.py`), which uses the methods and the
indexing of such classes; a method of ndarray gives an object of the class. Views and operators do so in ext/numeric*.c.
"""

from __future__ import annotations

from typing import Any

from .. import _core
from . import _numpys
from ._functions import as_class, priority
from ._functions import asarray as as_array
from ._ndarray import is_derived, ndarray
from ._protocols import answers
from ._setup import CLIP, MOVE, on
from ._ufunc import FUNCTIONS, Made, ufunc

# Methods whose result of no axes is an object of the class, too; those that give ndarray; those that decide themselves.
_REDUCED = frozenset(["all", "any", "max", "mean", "min", "prod", "std", "sum", "var"])
# Methods that are a reduction by a function of elements, and the names of their arguments.
_FOLDS = {
    "all": ("logical_and", ("axis", "out", "keepdims")),
    "any": ("logical_or", ("axis", "out", "keepdims")),
    "max": ("maximum", ("axis", "out", "keepdims", "initial", "where")),
    "min": ("minimum", ("axis", "out", "keepdims", "initial", "where")),
    "prod": ("multiply", ("axis", "dtype", "out", "keepdims", "initial", "where")),
    "sum": ("add", ("axis", "dtype", "out", "keepdims", "initial", "where")),
}
_PLACES = frozenset(["argmax", "argmin"])
_PLAIN = frozenset(["nonzero", "searchsorted"])
_device: Any = vars(_core.NumericArray)["device"]  # a class may have its own
_HOME = f"{__package__}._ndarray"  # its methods know items
_OWN = frozenset(["__array_wrap__", "view"])
# Functions of NumPy's C code whose result is of the class of one of so many operands: of the first of the highest rank.
_OF_OPERANDS = {"correlate": 2, "dot": 2, "inner": 2, "packbits": 1, "unpackbits": 1}
_SUBOK = frozenset(["broadcast_arrays", "broadcast_to"])  # functions with subok=, which keep the class themselves


def derived(routine: Any, args: tuple[Any, ...], options: dict[str, Any], _: bool) -> Any:
    """What a call is whose arguments are of derived classes; Ellipsis: what it is for all arrays."""
    name = routine.__name__
    if vars(ndarray).get(name) is routine or name == "get_item":
        if not is_derived(args[0]) or name in _OWN:
            return ...
        if name in _FOLDS and answers(type(args[0]), "__array_ufunc__"):
            function, names = _FOLDS[name]
            given = {"axis": None} | dict(zip(names, args[1:], strict=False)) | options
            return FUNCTIONS[function].reduce(args[0], **given)
        if name == "clip" and options.get("out") is None and len(args) < 4:
            made = on(_device.__get__(args[0]), routine.__wrapped__, *args, **options)
            limits = [x for x in (*args[1:], *map(options.get, ("min", "max"))) if x is not None]
            return args[0].__array_wrap__(as_array(made), (CLIP, (args[0], *limits), 0), not isinstance(made, ndarray))
        if args[0]._is_items and routine.__wrapped__.__module__ not in (*MOVE, _HOME):
            made = routine(as_class(args[0], None), *args[1:], **options)
        else:
            made = on(_device.__get__(args[0]), routine.__wrapped__, *args, **options)
        return made if name in _PLAIN else _of_class(name, made, args, options)
    if vars(ufunc).get(name) is routine:
        if name == "outer" and len(args) > 2 and is_derived(args[1]):
            _check_outer(args[0].__name__, args[1], as_array(args[2]).ndim)
        if name == "outer" and (like := _core.numeric_derived(args[1:3])) is not None and options.get("out") is None:
            return like.__array_wrap__(as_array(routine.__wrapped__(*args, **options)), None, False)
        if len(args) < 2 or not is_derived(args[1]) or name not in ("reduce", "accumulate", "reduceat"):
            return ...
        return _of_class("sum" if name == "reduce" else name, routine.__wrapped__(*args, **options), args[1:], options)
    if name == "__call__" and isinstance(args[0], Made):
        return _composed(routine, args[0], args[1:], options)
    is_ours = routine.__module__ == "tessera.numeric" and name not in _SUBOK
    if is_ours and name in _OF_OPERANDS and options.get("out") is None:
        made = routine(*(as_class(x, None) if is_derived(x) else x for x in args), **options)
        return as_class(made, max(args[: _OF_OPERANDS[name]], key=priority)) if isinstance(made, ndarray) else made
    program = _numpys.program_of(name) if is_ours else None
    return ... if program is None else program(*args, **options)


def _check_outer(name: str, a: Any, rank: int) -> None:
    """An error where a class gives the first operand of an outer product another shape than it gets for it."""
    wanted = as_array(a)[(..., *(None,) * rank)]
    if as_class(wanted, a).shape != wanted.shape:
        raise TypeError(
            f"{name}.outer() called with ndarray-subclass of type '{type(a)}' which modified its shape after a "
            "reshape. outer() relies on reshaping the inputs and is for example not supported for the 'np.matrix' "
            "subclass (the usage of matrix is generally discouraged). To work around this issue, please convert the "
            "inputs to numpy arrays."
        )


def _composed(routine: Any, function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A function that is made of others: each result as the class has it that decides, that of out= where one is."""
    made = routine.__wrapped__(function, *args, **options)
    operands, outs = args[: function.nin], args[function.nin :] or options.get("out") or ()
    first = _core.numeric_derived(operands)
    if options.get("subok") is False or outs is ...:
        return made
    results = made if isinstance(made, tuple) else (made,)
    outs = outs if isinstance(outs, tuple) else (outs,)
    outs = (*outs, *(None,) * (len(results) - len(outs)))
    context = (*operands, *outs) if any(x is not None for x in outs) else operands
    wrapped = tuple(
        x if like is None else like.__array_wrap__(as_array(x) if out is None else x, (function, context, i),
                                                   out is None and not isinstance(x, ndarray))
        for i, (x, out) in enumerate(zip(results, outs, strict=True))
        for like in [first if out is None else out if is_derived(out) else None]
    )  # fmt: skip
    return wrapped if isinstance(made, tuple) else wrapped[0]


def _of_class(name: str, made: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A method's result as an object of the class of the array; what was taken by out= is what it was."""
    self = args[0]
    if options.get("subok") is False:
        return made
    if type(made) is ndarray and not any(made is x for x in (*args, *options.values())):
        return self.__array_wrap__(made, None, False) if name in _REDUCED else as_class(made, self)
    if name in _PLACES and not isinstance(made, ndarray):  # whose __array_finalize__ may give it axes
        placed = as_class(as_array(made), self)
        return placed if placed.ndim else made
    if name in _REDUCED and not isinstance(made, ndarray):
        return self.__array_wrap__(as_array(made), None, True)
    return made
