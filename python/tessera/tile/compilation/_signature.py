# SPDX-License-Identifier: Apache-2.0
"""What is known of the arguments of a kernel that is compiled before it is launched."""

from __future__ import annotations

import collections
import dataclasses
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from ... import _core
from ..._core import DTYPES
from .. import _dtype as _dtype_module
from .._dtype import DType

dtypes: Any = _dtype_module
int32, int64, uint32 = dtypes.int32, dtypes.int64, dtypes.uint32
ConstantValue = Union[bool, int, float]


class CallingConvention:
    """How the arguments of an exported kernel become parameters of the function.

    Both give an array as its address, extents and strides, a number as itself, a list as the address of a table and a
    length, and constants not at all. ``cutile_python_v2()`` knows tuples and compiled-in extents as well.

    Attributes
    ----------
    name, code : str
        ``"cutile_python_v2"`` and ``"t2"``, its short form in mangled names.
    version : int
    """

    __slots__ = ("code", "name", "version")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str, code: str) -> None:
        self.name, self.code, self.version = name, code, int(code[1:])

    @staticmethod
    def cutile_python_v1() -> CallingConvention:
        """The first convention."""
        return CallingConvention("cutile_python_v1", "t1")

    @staticmethod
    def cutile_python_v2() -> CallingConvention:
        """With tuples and static extents."""
        return CallingConvention("cutile_python_v2", "t2")

    @staticmethod
    def from_code(code: str) -> CallingConvention:
        """The convention of a code such as ``"t1"``; ValueError for others."""
        if code not in ("t1", "t2"):
            raise ValueError(f"Unknown calling convention code {code!r}; there are 't1' and 't2'")
        return CallingConvention(f"cutile_python_v{code[1:]}", code)

    def __eq__(self, other: object) -> bool:
        return self.code == other.code if isinstance(other, CallingConvention) else NotImplemented

    def __repr__(self) -> str:
        return f"CallingConvention({self.name!r}, {self.code!r})"


# ---- checks ----------------------------------------------------------------------------------------


def _check_dtype(dtype: Any) -> DType:
    if not isinstance(dtype, DType):
        raise TypeError(f"`dtype` must be a dtype such as ct.float32, not {dtype!r}")
    return dtype


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _per_axis(name: str, given: Any, ndim: int, default: Any, check: Callable[[Any], str]) -> tuple[Any, ...]:
    """One value for each axis; `check` says what is wrong with one, or nothing."""
    values = (default,) * ndim if given is None else (given,) * ndim if isinstance(given, int) else tuple(given)
    if len(values) != ndim:
        raise ValueError(f"Length of `{name}` {values} doesn't match ndim={ndim}")
    for i, value in enumerate(values):
        problem = check(value)
        if problem:
            kind = ValueError if _is_int(value) and value < 0 else TypeError
            raise kind(f"Element #{i} of `{name}` must be {problem}, got {value}")
    return values


def _int_or_none(value: Any) -> str:
    return "" if value is None or _is_int(value) else "None or int"


def _extent_or_none(value: Any) -> str:
    return _int_or_none(value) or ("non-negative" if value is not None and value < 0 else "")


def _factor(value: Any) -> str:
    return "" if _is_int(value) and value > 0 else "a strictly positive int"


def _without_implied(
    name: str, constants: tuple[Any, ...], values: tuple[Any, ...], default: Any, good: Callable[[int, Any], str]
) -> tuple[Any, ...]:
    """Values of axes that are not constant; those of constant axes must fit the constant and say nothing new."""
    for i, (constant, value) in enumerate(zip(constants, values)):
        problem = "" if constant is None or value is None else good(constant, value)
        if problem:
            raise ValueError(f"{name}[{i}] is set to {constant}, which is {problem} {value}")
    return tuple(v if c is None else default for c, v in zip(constants, values))


def _divides(constant: int, factor: int) -> str:
    return "not divisible by" if constant % factor else ""


def _reaches(constant: int, least: int) -> str:
    return "less than the lower bound" if constant < least else ""


def _groups(given: Any) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TypeError(f"`alias_groups` cannot be a string; write ({given!r},) for one group")
    groups = tuple(given)
    for i, group in enumerate(groups):
        if not isinstance(group, str):
            raise TypeError(f"Element #{i} of `alias_groups` has non-string type {type(group)}")
    return groups


def _set(self: Any, **fields: Any) -> None:
    for name, value in fields.items():
        object.__setattr__(self, name, value)


# ---- constraints -----------------------------------------------------------------------------------


@dataclass(frozen=True, init=False)
class ScalarConstraint:
    """A number that is passed at run time as `dtype`."""

    dtype: DType

    def __init__(self, dtype: DType) -> None:
        _set(self, dtype=_check_dtype(dtype))


@dataclass(frozen=True, init=False)
class ArrayConstraint:
    """An array, and what is promised of every array that the kernel will be launched with.

    Parameters
    ----------
    dtype : dtype
    ndim : int
    index_dtype : dtype
        ``ct.int32`` or ``ct.int64``: type of extents, strides and indices.
    stride_lower_bound_incl : sequence of (int or None), int or None
        The least stride of each axis; an int holds for all of them.
    alias_groups : sequence of str
        Two arrays may share memory if they have a group in common; ``()``: with no other.
    may_alias_internally : bool
        Whether two indices may lie at one address, as where a stride is 0.
    stride_constant, shape_constant : sequence of (int or None), optional
        Strides and extents that are compiled in; extents need ``cutile_python_v2()``.
    stride_divisible_by, shape_divisible_by : sequence of int or int
        In elements; 1 promises nothing.
    base_addr_divisible_by : int
        In bytes.
    """

    dtype: DType
    ndim: int
    index_dtype: DType
    stride_lower_bound_incl: tuple[int | None, ...]
    alias_groups: tuple[str, ...]
    may_alias_internally: bool
    stride_constant: tuple[int | None, ...]
    shape_constant: tuple[int | None, ...]
    stride_divisible_by: tuple[int, ...]
    shape_divisible_by: tuple[int, ...]
    base_addr_divisible_by: int

    def __init__(
        self,
        dtype: DType,
        ndim: int,
        *,
        index_dtype: DType,
        stride_lower_bound_incl: Sequence[int | None] | int | None,
        alias_groups: Sequence[str],
        may_alias_internally: bool,
        stride_constant: Sequence[int | None] | None = None,
        shape_constant: Sequence[int | None] | None = None,
        stride_divisible_by: Sequence[int] | int = 1,
        shape_divisible_by: Sequence[int] | int = 1,
        base_addr_divisible_by: int = 1,
    ) -> None:
        if not _is_int(ndim):
            raise TypeError(f"`ndim` must be an int, not {ndim!r}")
        if ndim < 0:
            raise ValueError("`ndim` cannot be negative")
        if index_dtype not in (int32, uint32, int64):
            raise ValueError(f"`index_dtype` must be int32 or int64, got {index_dtype}")
        if not _is_int(base_addr_divisible_by):
            raise TypeError(f"`base_addr_divisible_by` must be an int, got {base_addr_divisible_by!r}")
        if base_addr_divisible_by <= 0:
            raise ValueError(f"`base_addr_divisible_by` must be strictly positive, got {base_addr_divisible_by}")
        strides = _per_axis("stride_constant", stride_constant, ndim, None, _int_or_none)
        shape = _per_axis("shape_constant", shape_constant, ndim, None, _extent_or_none)
        least = _per_axis("stride_lower_bound_incl", stride_lower_bound_incl, ndim, None, _int_or_none)
        stride_by = _per_axis("stride_divisible_by", stride_divisible_by, ndim, 1, _factor)
        shape_by = _per_axis("shape_divisible_by", shape_divisible_by, ndim, 1, _factor)
        _set(
            self,
            dtype=_check_dtype(dtype),
            ndim=ndim,
            index_dtype=index_dtype,
            stride_lower_bound_incl=_without_implied("stride_constant", strides, least, None, _reaches),
            alias_groups=_groups(alias_groups),
            may_alias_internally=bool(may_alias_internally),
            stride_constant=strides,
            shape_constant=shape,
            stride_divisible_by=_without_implied("stride_constant", strides, stride_by, 1, _divides),
            shape_divisible_by=_without_implied("shape_constant", shape, shape_by, 1, _divides),
            base_addr_divisible_by=base_addr_divisible_by,
        )


@dataclass(frozen=True, init=False)
class ListConstraint:
    """A list of arrays of one kind.

    Parameters
    ----------
    element : ArrayConstraint
    alias_groups : sequence of str
        What the list's own table may share memory with.
    elements_may_alias : bool
        Whether two of its arrays may share memory.
    """

    element: ArrayConstraint
    alias_groups: tuple[str, ...]
    elements_may_alias: bool

    def __init__(self, element: ArrayConstraint, *, alias_groups: Sequence[str], elements_may_alias: bool) -> None:
        if not isinstance(element, ArrayConstraint):
            raise TypeError(f"`element` of a ListConstraint must be an ArrayConstraint, not {element!r}")
        _set(self, element=element, alias_groups=_groups(alias_groups), elements_may_alias=bool(elements_may_alias))


@dataclass(frozen=True, init=False)
class TupleConstraint:
    """A tuple: a constraint, or a constant, for each item."""

    items: tuple[Any, ...]

    def __init__(self, items: Sequence[Any]) -> None:
        _set(self, items=tuple(constraint_of(x) for x in items))


@dataclass(frozen=True, eq=False)
class ConstantConstraint:
    """A value that is compiled in: a bool, an int, a float or None."""

    value: Any

    def __post_init__(self) -> None:
        if self.value is not None and type(self.value) not in (bool, int, float):
            raise TypeError(
                f"Unexpected constant value type {type(self.value)}; a constant is a bool, int, float or None"
            )

    def _key(self) -> tuple[Any, ...]:
        """Equal for equal code: 1, True and 1.0 differ, and a NaN is itself."""
        value = struct.pack("=d", self.value) if isinstance(self.value, float) else self.value
        return type(self.value), value

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, ConstantConstraint) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())


ParameterConstraint = Union[ScalarConstraint, ArrayConstraint, ListConstraint, TupleConstraint, ConstantConstraint]
CONSTRAINTS = (ScalarConstraint, ArrayConstraint, ListConstraint, TupleConstraint, ConstantConstraint)


def constraint_of(given: Any) -> Any:
    """A constraint as it is; a number or tuple as the constraint that it abbreviates."""
    if isinstance(given, CONSTRAINTS):
        return given
    if isinstance(given, tuple):
        return TupleConstraint(given)
    if given is None or type(given) in (bool, int, float):
        return ConstantConstraint(given)
    raise TypeError(
        f"Can't interpret {given!r} as a parameter constraint; use a constraint of ct.compilation, a number or a tuple"
    )


# ---- signatures ------------------------------------------------------------------------------------


def walk(parameters: Sequence[Any]) -> Iterator[Any]:
    """All constraints, parents before their items."""
    for p in parameters:
        yield p
        if isinstance(p, ListConstraint):
            yield from walk((p.element,))
        elif isinstance(p, TupleConstraint):
            yield from walk(p.items)


def _check_groups(parameters: Sequence[Any]) -> None:
    users: dict[str, list[Any]] = collections.defaultdict(list)
    for constraint in walk(parameters):
        groups = getattr(constraint, "alias_groups", ())
        for group in groups:
            if groups.count(group) > 1:
                raise ValueError(f"Alias group `{group}` occurs more than once in the group list {list(groups)}")
            users[group].append(constraint)
    for group, found in users.items():
        kinds = {type(c).__name__ for c in found}
        if len(kinds) > 1:
            raise ValueError(f"Alias group `{group}` is used in two constraints of different types "
                             f"{' and '.join(sorted(kinds))}; the table of a list cannot alias an array")  # fmt: skip
        if len(found) == 1:
            raise ValueError(f"Alias group `{group}` is mentioned only once, and is therefore redundant; "
                             "an array that shares memory with no other has alias_groups=()")  # fmt: skip


def _check_convention(parameters: Sequence[Any], convention: CallingConvention) -> None:
    for constraint in walk(parameters):
        what = ""
        if isinstance(constraint, ArrayConstraint) and any(x is not None for x in constraint.shape_constant):
            what = "Static array shapes"
        if isinstance(constraint, TupleConstraint):
            what = "Tuple parameters"
        if what and convention.version < 2:
            raise ValueError(
                f"{what} are not supported by calling convention {convention.name}; version >= 2 is required"
            )


@dataclass(frozen=True, init=False)
class KernelSignature:
    """What a kernel is compiled for.

    Parameters
    ----------
    parameters : sequence
        A constraint for each parameter of the Python function; those that are left out at the end are exported with
        their defaults compiled in. A number stands for a ``ConstantConstraint``, a tuple
        for a ``TupleConstraint``.
    calling_convention : CallingConvention
    symbol : str, optional
        Name of the exported function; None: made by ``mangle_kernel_name``.
    """

    parameters: tuple[Any, ...]
    calling_convention: CallingConvention
    symbol: str | None

    def __init__(
        self, parameters: Sequence[Any], calling_convention: CallingConvention, symbol: str | None = None
    ) -> None:
        if symbol is not None and not isinstance(symbol, str):
            raise TypeError(f"`symbol` must be a string, got {type(symbol)}")
        if not isinstance(calling_convention, CallingConvention):
            raise TypeError(f"Unsupported calling convention {calling_convention!r}")
        found = tuple(constraint_of(p) for p in parameters)
        _check_groups(found)
        _check_convention(found, calling_convention)
        _set(self, parameters=found, calling_convention=calling_convention, symbol=symbol)

    def with_mangled_symbol(self, function_name: str) -> KernelSignature:
        """A copy whose symbol is made of the function's name and the parameters."""
        from ._mangle import mangle_kernel_name

        return self.with_symbol(mangle_kernel_name(function_name, self))

    def with_symbol(self, symbol: str | None) -> KernelSignature:
        """A copy with another symbol."""
        return dataclasses.replace(self, symbol=symbol)

    @staticmethod
    def from_kernel_args(
        kernel: Any,
        kernel_args: Sequence[Any],
        calling_convention: CallingConvention,
        *,
        symbol: str | None = None,
        kernel_kwargs: Mapping[str, Any] | None = None,
    ) -> KernelSignature:
        """The signature that a launch with these arguments, by position and by name, is compiled for.

        It promises all that is true of these arguments, such as addresses that are multiples of 16: write signatures
        of kernels for others by hand.
        """
        args = kernel._complete(tuple(kernel_args), kernel_kwargs or {})
        specs = _core.specs_of(kernel._prepare(), args)
        signature = KernelSignature(constraints_of_specs(specs, calling_convention), calling_convention, symbol)
        return signature if symbol else signature.with_mangled_symbol(kernel.__name__)


# ---- as the compiler takes them ----------------------------------------------------------------------

RANK = 8
SPEC = struct.Struct(f"=14BHq{RANK}q{RANK}q")  # ts_spec of include/tessera/compile.h; ext/tools.c checks its size
DTYPE = {name: number for number, (name, *_) in enumerate(DTYPES, 1)}


def _dtype_of(number: int) -> DType:
    found: DType = getattr(dtypes, DTYPES[number - 1][0])
    return found


def _bits(flags: Iterator[bool]) -> int:
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def spec_head(kind: int, value: int = 0, dtype: int = 0) -> bytes:
    """One ts_spec that is no array."""
    return SPEC.pack(kind, dtype, *[0] * 13, value, *[0] * (2 * RANK))


def _array_spec(a: ArrayConstraint, overlaps: bool) -> bytes:
    if a.ndim > RANK:
        raise ValueError(f"an array has {a.ndim} axes; kernels take at most {RANK}")
    if a.index_dtype is uint32:
        raise ValueError("index_dtype uint32 is not supported; use int32 or int64")
    size = a.dtype.itemsize
    room = (None,) * (RANK - a.ndim)
    shape, strides = a.shape_constant + room, a.stride_constant + room
    static_shape = _bits(n is not None and n != 1 for n in shape)
    static_stride = _bits(n is not None and n != 1 for n in strides)
    return SPEC.pack(
        _core.SPEC_ARRAY,
        DTYPE[a.dtype.name],
        a.ndim,
        64 if a.index_dtype is int64 else 32,
        a.base_addr_divisible_by % 16 == 0,
        _bits(n == 1 for n in strides),
        _bits((by if n is None else n) * size % 16 == 0 for by, n in zip(a.stride_divisible_by, strides)),
        _bits((by if n is None else n) % 16 == 0 for by, n in zip(a.shape_divisible_by, shape)),
        _bits(n == 1 for n in shape),
        static_shape,
        static_stride,
        0,
        overlaps,
        0,
        0,
        0,
        *(n if static_shape >> i & 1 else 0 for i, n in enumerate(shape)),
        *(n if static_stride >> i & 1 else 0 for i, n in enumerate(strides)),
    )


def _constant_spec(value: Any) -> bytes:
    if value is None:
        return spec_head(_core.SPEC_NONE)
    if isinstance(value, bool):
        return spec_head(_core.SPEC_BOOL, value)
    if isinstance(value, float):
        return spec_head(_core.SPEC_FLOAT, struct.unpack("=q", struct.pack("=d", value))[0])
    if not -(1 << 63) <= value < 1 << 63:
        raise OverflowError(f"the constant {value} does not fit 64 bits")
    return spec_head(_core.SPEC_INT, value)


def specs_of(parameters: Sequence[Any]) -> bytes:
    """The array of ts_spec that the compiler takes."""
    parts = []
    for p in parameters:
        if isinstance(p, ArrayConstraint):
            parts.append(_array_spec(p, bool(p.alias_groups)))
        elif isinstance(p, ListConstraint):
            parts += [spec_head(_core.SPEC_LIST), _array_spec(p.element, bool(p.element.alias_groups))]
        elif isinstance(p, TupleConstraint):
            parts += [tuple_spec(len(p.items)), specs_of(p.items)]
        elif isinstance(p, ScalarConstraint) and p.dtype.name.startswith("complex"):
            part = spec_head(_core.SPEC_SCALAR, 0, DTYPE["float64" if p.dtype.name == "complex128" else "float32"])
            parts += [spec_head(_core.SPEC_COMPLEX), tuple_spec(2), part, part]
        elif isinstance(p, ScalarConstraint):
            parts.append(spec_head(_core.SPEC_SCALAR, 0, DTYPE[p.dtype.name]))
        else:
            parts.append(_constant_spec(p.value))
    return b"".join(parts)


def tuple_spec(n: int, cls: int = 0) -> bytes:
    """The head of a tuple of n items, which follow; with the object of a class of named tuples or dataclasses."""
    return (spec_head(_core.SPEC_RECORD, cls) if cls else b"") + spec_head(_core.SPEC_TUPLE, n)


def record_spec(element: int, align: int) -> bytes:
    """The head of an array of records, whose array of bytes follows: what object of the pack says of its elements, and
    log2 of what their addresses are multiples of."""
    return SPEC.pack(_core.SPEC_STRUCT, *[0] * 12, align, 0, element, *[0] * (2 * RANK))


def _array_of_spec(row: tuple[int, ...], convention: CallingConvention) -> ArrayConstraint:
    _, dtype, rank, index_bits, align, unit, stride16, shape16, one, fixed_shape, fixed_stride = row[:11]
    dims, strides = row[16 : 16 + rank], row[16 + RANK : 16 + RANK + rank]
    element = _dtype_of(dtype)
    ones = one if convention.version >= 2 and not fixed_shape else 0
    keep = fixed_shape if convention.version >= 2 else 0
    shape = [dims[i] if keep >> i & 1 else 1 if ones >> i & 1 else None for i in range(rank)]
    steps = [strides[i] if fixed_stride >> i & 1 else 1 if unit >> i & 1 else None for i in range(rank)]
    per16 = max(1, 16 // element.itemsize)
    return ArrayConstraint(
        element,
        rank,
        index_dtype=int64 if index_bits == 64 else int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=steps,
        shape_constant=shape,
        stride_divisible_by=[per16 if stride16 >> i & 1 and steps[i] is None else 1 for i in range(rank)],
        shape_divisible_by=[16 if shape16 >> i & 1 and shape[i] is None else 1 for i in range(rank)],
        base_addr_divisible_by=16 if align else 1,
    )


def constraints_of_specs(specs: bytes, convention: CallingConvention) -> list[Any]:
    """The constraints of an array of ts_spec."""
    rows = collections.deque(SPEC.iter_unpack(specs))

    def one() -> Any:
        row = rows.popleft()
        kind, value = row[0], row[15]
        if kind == _core.SPEC_ARRAY:
            return _array_of_spec(row, convention)
        if kind == _core.SPEC_LIST:
            return ListConstraint(one(), alias_groups=(), elements_may_alias=False)
        if kind == _core.SPEC_TUPLE:
            return TupleConstraint([one() for _ in range(value)])
        if kind == _core.SPEC_COMPLEX:
            real = one().items[0]
            return ScalarConstraint(dtypes.complex128 if real.dtype.bitwidth == 64 else dtypes.complex64)
        if kind in (_core.SPEC_RECORD, _core.SPEC_STRUCT):
            raise TypeError(
                "a signature cannot describe dataclasses, named tuples and records; export a kernel that takes their "
                "fields"
            )
        if kind == _core.SPEC_SCALAR:
            return ScalarConstraint(_dtype_of(row[1]))
        if kind == _core.SPEC_FLOAT:
            return ConstantConstraint(struct.unpack("=d", struct.pack("=q", value))[0])
        return ConstantConstraint(
            None if kind == _core.SPEC_NONE else bool(value) if kind == _core.SPEC_BOOL else value
        )

    found = []
    while rows:
        found.append(one())
    return found
