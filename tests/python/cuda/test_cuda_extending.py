# SPDX-License-Identifier: Apache-2.0
"""Functions, methods and attributes chosen by types, and functions of other compilers in kernels."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from tessera import cuda
from tessera.cuda import _overloads, types
from tessera.cuda.errors import LoweringError, TypingError
from tessera.cuda.extending import (
    as_numba_type,
    core_models,
    intrinsic,
    is_jitted,
    lower_builtin,
    make_attribute_wrapper,
    overload,
    overload_attribute,
    overload_classmethod,
    overload_method,
    register_jitable,
    register_model,
    type_callable,
    typeof_impl,
)


def kind_of(x, y=None):
    """Overloaded below."""


@overload(kind_of)
def kind_of_number(x, y=None):
    if y is not None and not isinstance(y, types.NoneType):
        return lambda x, y=None: 100 + y
    if isinstance(x, types.Boolean):
        return lambda x, y=None: 1
    if isinstance(x, types.Integer):
        return lambda x, y=None: 2
    if isinstance(x, types.Float):
        return lambda x, y=None: 3
    return None


@overload(kind_of)
def kind_of_others(x, y=None):
    if isinstance(x, types.Array):
        rank, size = x.ndim, x.dtype.bitwidth

        def of_array(x, y=None):
            return 1000 * rank + size

        return of_array
    if isinstance(x, types.UniTuple):
        count = len(x)
        return lambda x, y=None: 4 * count
    if isinstance(x, types.UnicodeType):
        return lambda x, y=None: 5
    return None


def test_an_overload_is_chosen_by_types() -> None:
    @cuda.jit
    def kernel(out, a, b, i):
        out[0] = kind_of(True)
        out[1] = kind_of(i)
        out[2] = kind_of(1.5)
        out[3] = kind_of(a)
        out[4] = kind_of(b, None)
        out[5] = kind_of((1, 2, i))
        out[6] = kind_of("text")
        out[7] = kind_of(2, y=i)

    out = np.zeros(8, np.int64)
    kernel[1, 1](out, np.zeros((2, 2), np.float32), np.zeros(3, np.int16), 7)
    assert out.tolist() == [1, 2, 3, 2032, 1016, 12, 5, 107]


def test_an_overload_that_returns_nothing_is_a_statement() -> None:
    def tripled(x):
        """Overloaded."""

    def impl(x):
        x[0] *= 3

    overload(tripled)(lambda x: impl)

    @cuda.jit
    def kernel(x):
        tripled(x)
        tripled(x)

    x = np.ones(1, np.int32)
    kernel[1, 1](x)
    assert x[0] == 9


def test_no_overload_is_an_error_with_the_types() -> None:
    @cuda.jit
    def kernel(out):
        out[0] = kind_of(None)

    with pytest.raises(TypingError, match=r"(?s)No implementation of function Function\(<function kind_of.*none\)"):
        kernel[1, 1](np.zeros(1))


def test_other_arguments_than_it_takes_are_an_error() -> None:
    @cuda.jit
    def kernel(out):
        out[0] = kind_of(1, 2, 3)

    with pytest.raises(TypingError, match="takes from 1 to 2 positional arguments but 3 were given"):
        kernel[1, 1](np.zeros(1))


def test_targets_are_tried_in_order() -> None:
    def which():
        """Overloaded."""

    overload(which, target="generic")(lambda: lambda: 1)
    overload(which, target="cuda")(lambda: lambda: 2)
    overload(which, target="cpu")(lambda: lambda: 3)

    @cuda.jit
    def kernel(out):
        out[0] = which()

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 2
    with pytest.raises(ValueError, match="target must be one of 'cuda', 'gpu', 'generic', not 'gup'"):
        overload(which, target="gup")
    with pytest.raises(TypeError, match="overload\\(\\) has no option 'stict'; did you mean 'strict'"):
        overload(which, stict=True)


def test_known_values_are_literals_where_they_are_preferred() -> None:
    def prefers(x):
        """Overloaded."""

    def does_not(x):
        """Overloaded."""

    def typing(x):
        if isinstance(x, types.IntegerLiteral):
            if x.literal_value != 1:
                raise TypingError("only 1")
            return lambda x: -1
        return lambda x: x * 100

    overload(prefers, prefer_literal=True)(typing)
    overload(does_not)(typing)

    @cuda.jit
    def kernel(out, i):
        out[0], out[1], out[2], out[3] = prefers(1), prefers(2), prefers(i), does_not(1)

    out = np.zeros(4)
    kernel[1, 1](out, 3)
    assert out.tolist() == [-1, 200, 300, 100]


def test_a_builtin_keeps_what_it_does() -> None:
    @overload(math.degrees)
    def typed(x):
        return (lambda x: x[0] * 1.0) if isinstance(x, types.Array) else None

    @cuda.jit
    def kernel(out, a):
        out[0], out[1] = math.degrees(a), math.degrees(0.5)

    out = np.zeros(2)
    kernel[1, 1](out, np.full(2, 7.0))
    assert out[0] == 7 and math.isclose(out[1], math.degrees(0.5))


def test_methods_and_attributes_are_added_to_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_overloads, "_members", {})
    @overload_method(types.Array, "plus")
    def array_plus(arr, i, by=10):
        return lambda arr, i, by=10: arr[i] + by

    @overload_attribute(types.Array, "last")
    def array_last(arr):
        return lambda arr: arr[arr.size - 1]

    @overload_attribute(types.float64, "size")
    def size_of_float(x):
        return lambda x: 8

    @cuda.jit
    def kernel(out, a):
        out[0], out[1], out[2] = a.plus(0), a.plus(1, by=20), a.last
        out[3], out[4] = a.size, out[0].size  # of arrays their own

    out = np.zeros(5)
    kernel[1, 1](out, np.array([1.0, 2, 3, 4]))
    assert out.tolist() == [11, 22, 4, 4, 8]
    with pytest.raises(TypeError, match="a type of cuda.types, or a class of them"):
        overload_method(np.ndarray, "plus")


def test_functions_are_arguments_of_overloads() -> None:
    def apply(function, *args):
        """Overloaded."""

    @overload(apply)
    def typed(function, *args):
        if len(args) == 1:
            return lambda function, *args: function(*args)
        return lambda function, *args: function(function(args[0])) + args[1]

    @cuda.jit
    def kernel(out, i):
        y = 10

        def inner(z):
            return y + z

        out[0], out[1] = apply(inner, i), apply(inner, i, i)

    out = np.zeros(2)
    kernel[1, 1](out, 5)
    assert out.tolist() == [15, 30]


@pytest.mark.parametrize(
    ("typing", "implementation", "text"),
    [
        (lambda a, kw=None: None, lambda a, kw=12: a, 'keyword argument default values.*"kw=None">.*"kw=12"'),
        (lambda a, kw=None: None, lambda a, word=None: a, 'keyword argument names.*"kw=None">.*"word=None"'),
        (lambda a, kw=None: None, lambda z, kw=None: z, "argument names. First difference: 'z'.*\"a\">.*\"z\">"),
        (lambda a, kw=None: None, lambda a, b, kw=None: a, 'argument names.*<Parameter "b">'),
        (lambda a, kw=None: None, lambda a, **kws: a, r"VAR_KEYWORD.*name is '\*\*kws'"),
        (lambda *a: None, lambda a, kw=None: a, r"VAR_POSITIONAL.*is '\*a'"),
    ],
)
def test_two_signatures_must_be_the_same(typing: Any, implementation: Any, text: str) -> None:
    import inspect

    def function(a, kw=None):
        """Overloaded."""

    def typed(*args: Any, **named: Any) -> Any:
        return implementation

    typed.__signature__ = inspect.signature(typing)  # type: ignore[attr-defined]
    overload(function)(typed)

    @cuda.jit
    def kernel(x):
        function(x, 3)

    with pytest.raises(TypingError, match=f"(?s)Typing and implementation arguments differ in.*{text}"):
        kernel[1, 1](1)


def test_what_makes_llvm_ir_is_refused_where_it_is_used() -> None:
    @intrinsic
    def made(typing, a):
        """Its text."""

    def lowered(x):
        """Lowered."""

    type_callable(lowered)(lambda context: None)
    lower_builtin(lowered, types.Float)(lambda *_: None)

    class Model(core_models.StructModel):
        """Without effect."""

    register_model(types.Opaque)(Model)
    make_attribute_wrapper(types.Opaque, "x", "x")
    assert (made.__name__, made.__doc__) == ("made", "Its text.")
    for function, text in ((made, "intrinsic()"), (lowered, "type_callable()")):

        @cuda.jit
        def kernel(x):
            function(1.0)  # noqa: B023 - it is compiled at once

        with pytest.raises((LoweringError, TypingError), match=f"(?s)is made by {text[:-2]}.*LLVM IR.*overload()"):
            kernel[1, 1](1)
    with pytest.raises(NotImplementedError, match="no class methods"):
        overload_classmethod(types.Array, "make")


def test_types_of_values_of_the_host() -> None:
    class Mine:
        """A class of the user's."""

    mine = types.Opaque("mine")
    typeof_impl.register(Mine)(lambda value, context: mine)
    assert cuda.typeof(Mine()) is mine
    assert (as_numba_type(int), as_numba_type(str)) == (types.int64, types.unicode_type)


def test_jitable_functions_are_functions() -> None:
    @register_jitable
    def double(x):
        return 2 * x

    @register_jitable(inline="always")
    def triple(x):
        return 3 * x

    @cuda.jit
    def kernel(out):
        out[0] = double(triple(7))

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 42 == double(triple(7))
    assert is_jitted(kernel) and not is_jitted(double)


def test_what_another_compiler_made_of_a_function_is_called() -> None:
    numba = pytest.importorskip("numba")

    @numba.njit
    def square(x):
        return x * x

    @cuda.jit
    def kernel(out):
        out[0] = square(3)

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 9


def test_without_numba_its_functions_are_plain_ones() -> None:
    from tessera.cuda import _numba

    @_numba.njit(cache=True)
    def square(x):
        """Text."""
        return x * x

    @cuda.jit
    def kernel(out):
        out[0] = square(3)

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 9 == square(3) and square.__doc__ == "Text."


def test_literal_types() -> None:
    three, yes, text = types.literal(3), types.literal(True), types.literal("a")
    assert isinstance(three, types.Integer) and isinstance(three, types.Literal) and three.literal_value == 3
    assert isinstance(yes, types.Boolean) and isinstance(text, types.StringLiteral)
    assert three == types.IntegerLiteral(3) != types.literal(4) and three != types.int64
    assert types.unliteral(three) == types.int64 and types.unliteral(text) == types.unicode_type
    assert types.literal(1 << 63).literal_type == types.uint64
    assert pickle.loads(pickle.dumps(three)) == three and str(three) == "Literal[int](3)"
    with pytest.raises(TypingError, match="float cannot be a literal"):
        types.literal(1.0)


def test_types_that_are_only_named() -> None:
    assert types.range_iter32_type == types.RangeType(types.int32).iterator_type
    assert types.Omitted(None).value is None and types.Omitted(3) == types.Omitted(3) != types.Omitted(3.0)
    assert str(types.List(types.int32)) == "list(int32)" and types.Set(types.int8).dtype == types.int8
    assert isinstance(types.none, types.NoneType) and isinstance(types.int8, types.Number)
    assert types.slice2_type.members == 2 and types.slice3_type.has_step


PAIR = np.dtype([("a", "i4"), ("b", "f8")], align=True)


def size_of(x):
    raise NotImplementedError


@overload(size_of)
def size_of_dtype(x):
    return lambda x: 7


def test_dtypes_of_records_are_arguments_of_overloads() -> None:
    @cuda.jit
    def kernel(out):
        out[0] = size_of(PAIR)

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 7
