# SPDX-License-Identifier: Apache-2.0
"""What every function of the library does with its arrays: which it reads and writes, of which dtypes, and which
output may be the very array that is read. One row for each function; `accept` holds arrays against it before a launch.

Memory: blocks of a kernel run in any order, so what one of them writes must be nothing that another still reads. An
output lies apart from all other arrays, unless the row allows it to be that array, element for element: each block has
then read what it writes.

Dtypes: results are rounded to a floating-point output of any width. An integer output holds every value of the
results' dtype; nothing wraps, and nothing is cut to an integer.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import tessera.tile as ct
from tessera import _core

from ._gpu_array import dtype_name

INTEGERS = {  # and the bits of their greatest value
    f"{sign}int{bits}": bits - (not sign) for sign in ("", "u") for bits in (8, 16, 32, 64)
}
FLOATS = ("float16", "bfloat16", "float32", "float64")
TO_FLOAT32 = ("float16", "bfloat16", "float32")
NARROW = ("float8_e4m3fn", "float8_e5m2")
NUMBERS = (*INTEGERS, *FLOATS)
ANY = ("bool", *NUMBERS, *NARROW, "float8_e8m0fnu")
ONE = ("float32",)
PRODUCTS = ("int8", *FLOATS, *NARROW)
SUMS = {"int8": "int32"}  # what a product of integers is summed in
PLACES = ("int32", "int64", "uint32", "uint64")
look = _core.look


class Rule(NamedTuple):
    """Names as the function's parameters have them, in the order in which `accept` gets the arrays."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]
    takes: tuple[str, ...]  # dtypes of what is read
    place: tuple[str, ...]  # what is read where the first output may lie
    fixed: Mapping[str, tuple[str, ...]]  # dtypes of single arrays, apart from all others
    alike: bool  # all that is read has the dtype of the first
    sums: bool  # results are sums of products
    copies: bool  # results are elements that were read, and keep their dtype
    pairs: bytes  # for _core.look: output, other array, whether the output may be that one

    @property
    def names(self) -> tuple[str, ...]:
        return self.reads + self.writes


def _rule(
    reads: str, writes: str, takes: tuple[str, ...], *, place: str = "", alike: bool = True,
    sums: bool = False, copies: bool = False, **fixed: tuple[str, ...],
) -> Rule:  # fmt: skip
    inputs, outputs, places = (tuple(names.split()) for names in (reads, writes, place))
    names = inputs + outputs
    pairs = [
        (len(inputs) + o, i, o == 0 and names[i] in places)
        for o in range(len(outputs))
        for i in range(len(inputs) + o + 1)  # the output itself: it can be written
    ]
    flat = bytes(int(n) for pair in pairs for n in pair)
    return Rule(inputs, outputs, takes, places, fixed, alike, sums, copies, flat)


RULES = {
    "vector_add": _rule("a b", "out", NUMBERS, place="a b"),
    "chain": _rule("x y z", "out", FLOATS, place="x y z"),
    "reduce": _rule("x", "out", NUMBERS),
    "arg_reduce": _rule("x", "out", NUMBERS, out=PLACES),
    "scan": _rule("x", "out", NUMBERS, place="x"),
    "softmax": _rule("x", "out", FLOATS, place="x"),
    "layer_norm": _rule("x weight bias", "out", FLOATS, place="x", alike=False),
    "rms_norm": _rule("x weight", "out", FLOATS, place="x", alike=False),
    "gemm": _rule("a b", "c", PRODUCTS, sums=True),
    "batched_gemm": _rule("a b", "c", PRODUCTS, sums=True),
    "gelu_gemm": _rule(
        "a b bias residual", "c", TO_FLOAT32, place="residual", bias=FLOATS, residual=FLOATS
    ),
    "grouped_gemm": _rule("a b offsets", "c", PRODUCTS, sums=True, offsets=("int32",)),
    "attention": _rule("q k v", "out lse", TO_FLOAT32, place="q", lse=ONE),
    "attention_backward": _rule(
        "q k v out dout lse", "dq dk dv delta", TO_FLOAT32, lse=ONE, delta=ONE
    ),
    "permute": _rule("x", "out", ANY, copies=True),
    "transpose": _rule("x", "out", ANY, copies=True),
    "bits": _rule("", "out", (), out=("uint32", "int32")),
    "uniform": _rule("", "out", (), out=ONE),
    "normal": _rule("", "out", (), out=ONE),
    "blur": _rule("image weights", "out scratch", ONE, place="image", out=ONE, scratch=ONE),
    "sobel": _rule("image", "out", ONE, out=ONE),
}


def _or(names: tuple[str, ...]) -> str:
    return " or ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]


def holds(out: str, result: str) -> bool:
    """Whether results of one dtype may be written to an output of another."""
    if out == result or out in (*FLOATS, *NARROW):
        return True
    if out not in INTEGERS or result not in INTEGERS:
        return False
    negative = out.startswith("u") and not result.startswith("u")
    return not negative and INTEGERS[out] >= INTEGERS[result]


@functools.lru_cache(maxsize=1024)
def _dtype_error(function: str, dtypes: tuple[str | None, ...]) -> str | None:
    """What is wrong with the dtypes of a function's arrays."""
    rule = RULES[function]
    found = dict(zip(rule.names, dtypes, strict=True))
    free = [name for name in rule.reads if name not in rule.fixed]
    for name, dtype in found.items():
        wanted = rule.fixed.get(name, rule.takes if name in free else None)
        if wanted is not None and dtype is not None and dtype not in wanted:
            return f"{name} is of {dtype}, wanted {_or(wanted)}"
    first = free[0] if free else ""
    for name in free[1:]:
        if rule.alike and found[name] != found[first]:
            return f"{name} is of {found[name]}, wanted {found[first]}, the dtype of {first}"
    for name in rule.writes:
        if name in rule.fixed:
            continue
        dtype, result = str(found[name]), str(found[first])
        result = SUMS.get(result, result) if rule.sums else result
        if rule.copies and dtype != result:
            return f"{name} is of {dtype}, wanted {result}, the dtype of {first}"
        if not holds(dtype, result):
            able = tuple(n for n in NUMBERS if holds(n, result))
            return (
                f"{name} is of {dtype}, which does not hold results of {result}; wanted {_or(able)}"
            )
    return None


def _raise_overlap(function: str, written: str, other: str, may_be: bool) -> None:
    if written == other:
        why = "is read-only, or has elements that share memory (as numpy.broadcast_to makes them)"
        raise ValueError(f"{function}: {written} {why}; pass an array that can be written")
    way = f"pass an array of its own, or a copy of {other}"
    if may_be:
        way = f"pass {other} itself, or an array of its own"
    raise ValueError(f"{function}: {written} shares memory with {other}; {way}")


def _check_array(function: str, name: str, array: Any) -> None:
    """Raises for a number in place of an array, and what a launch says of arrays that no kernel takes, such as those
    with negative strides."""
    kind = type(array)
    if kind.__module__ == "numpy" and not hasattr(kind, "__setitem__"):
        raise TypeError(
            f"{function}: {name} is a numpy.{kind.__name__}, a number; pass an array, such as "
            f"numpy.zeros((), numpy.{kind.__name__}) for one element"
        )
    try:
        ct.launch(None, (0,), _look_kernel, (array,))
    except (TypeError, ValueError) as error:
        text = str(error).partition("argument 'array': ")[2] or str(error)
        text = f" {text}" if text.startswith("is ") else f": {text}"
        raise type(error)(f"{function}: {name}{text}") from None


@ct.kernel
def _look_kernel(array: Any) -> None:
    """Does nothing."""


_accepted: set[Any] = set()


def is_accepted(function: str, *arrays: Any) -> bool:
    """Whether arrays that look like these have passed `accept`, and these lie in memory as the rule says."""
    return (function, look(RULES[function].pairs, *arrays)) in _accepted


def accept(function: str, *arrays: Any) -> None:
    """Raises unless dtypes and memory of the arrays are as the function's rule says; None for one that is not given.

    Raises
    ------
    TypeError
        For a dtype that the function does not take, or an output that cannot hold the results.
    ValueError
        For an output that shares memory with another array.
    """
    rule = RULES[function]
    key = function, look(rule.pairs, *arrays)
    if key in _accepted:
        return
    error = _dtype_error(function, tuple(None if a is None else dtype_name(a) for a in arrays))
    if error:
        raise TypeError(f"{function}: {error}")
    for name, array in zip(rule.names, arrays, strict=True):
        _check_array(function, name, array)
    found = _core.conflict(rule.pairs, *arrays)
    if found:
        written, other = (rule.names[i] for i in found)
        may_be = written == rule.writes[0] and other in rule.place
        _raise_overlap(function, written, other, may_be)
    if key[1] is not None:
        if len(_accepted) > 4096:
            _accepted.clear()
        _accepted.add(key)
