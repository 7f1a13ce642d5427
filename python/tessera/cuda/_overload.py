# SPDX-License-Identifier: Apache-2.0
"""A kernel compiled for one signature: what ``kernel.overloads`` holds."""

from __future__ import annotations

import dis
import functools
import itertools
from types import CodeType
from typing import TYPE_CHECKING, Any

from .. import _core
from . import types
from ._signature import Signature

if TYPE_CHECKING:
    from ._annotation import CodeLibrary, TypeAnnotation
    from ._dispatcher import Dispatcher

__all__ = ["Overload", "conversion", "reread", "spec_of", "target_of_device"]

_NUMBER = {name: number for number, (name, *_) in enumerate(_core.DTYPES, 1)}


def number_of(type_: types.Type) -> int:
    """The number of a scalar type's dtype; 0: it has none."""
    if isinstance(type_, (types.CPointer, types.RawPointer)):
        return _NUMBER["uint64"]
    return _NUMBER.get(getattr(type_, "__tessera_dtype__", ""), 0)


def type_of_number(number: int) -> types.Type:
    """The scalar type with the number of a dtype; 0: void."""
    return types.SCALARS[_core.DTYPES[number - 1][0].removesuffix("_")] if number else types.void


# ---- what a type promises the compiler -------------------------------------------------------------


def _array_constraint(type_: types.Array) -> Any:
    from ..tile import _dtype as dtypes
    from ..tile.compilation import ArrayConstraint

    index = getattr(dtypes, "int64")  # noqa: B009 - a name that _dtype makes of a table
    dtype = getattr(dtypes, getattr(type_.dtype, "__tessera_dtype__", ""), None)
    if dtype is None:
        raise NotImplementedError(f"arrays of {type_.dtype} are not compiled yet")
    steps: list[int | None] = [None] * type_.ndim
    if type_.ndim and type_.layout in "CF":
        steps[-1 if type_.layout == "C" else 0] = 1
    return ArrayConstraint(
        dtype, type_.ndim, index_dtype=index, stride_lower_bound_incl=None, alias_groups=("arrays",),
        may_alias_internally=True, stride_constant=steps,
    )  # fmt: skip


def _constraint(type_: types.Type) -> Any:
    from ..tile import _dtype as dtypes
    from ..tile.compilation import ConstantConstraint, ScalarConstraint

    if isinstance(type_, types.Array):
        return _array_constraint(type_)
    if type_ == types.none:
        return ConstantConstraint(None)
    pointer = isinstance(type_, (types.CPointer, types.RawPointer))
    dtype = getattr(dtypes, "uint64" if pointer else getattr(type_, "__tessera_dtype__", ""), None)
    if dtype is None:
        raise NotImplementedError(f"arguments of type {type_} are not compiled yet")
    return ScalarConstraint(dtype)


def _record_spec(type_: types.Type, dtype: Any, host: Any) -> bytes:
    """An array of records or texts, or one of them: what its elements are, then an array of bytes."""
    from ..tile import _dtype as dtypes
    from ..tile.compilation import ArrayConstraint
    from ..tile.compilation._signature import record_spec, specs_of

    ndim = getattr(type_, "ndim", 0)
    steps: list[int | None] = [None] * ndim
    if ndim and getattr(type_, "layout", "A") in "CF":
        steps[-1 if getattr(type_, "layout", "A") == "C" else 0] = dtype.itemsize
    elements = ArrayConstraint(
        getattr(dtypes, "uint8"), ndim, index_dtype=getattr(dtypes, "int64"), stride_lower_bound_incl=None,  # noqa: B009
        alias_groups=(), may_alias_internally=True, stride_constant=steps,
    )  # fmt: skip
    align = dtype.alignment if dtype.isalignedstruct else 1
    return record_spec(host.element(dtype), min(align, 16).bit_length() - 1) + bytes(specs_of([elements]))


def _element_of(type_: types.Type) -> Any:
    """The NumPy dtype of records and texts, of one's own types with a struct too; None of others."""
    from ._models import layout_of, record_of

    dtype = getattr(type_, "__tessera_element__", None)
    return layout_of(type_) if dtype is None and record_of(type_) is not None else dtype


def _spec(type_: types.Type, host: Any) -> bytes:
    from ..tile.compilation._signature import spec_head, specs_of, tuple_spec

    if isinstance(type_, (types.NumberClass, types.DType)):
        return spec_head(_core.SPEC_OBJECT, host.constant(type_.dtype))
    if isinstance(type_, (types.Tuple, types.UniTuple, types.NamedTuple, types.Dataclass)):
        cls = getattr(type_, "instance_class", None)
        head = tuple_spec(len(type_), 0 if cls is None else host.record_class(cls)[0])
        return head + b"".join(_spec(item, host) for item in type_)
    dtype = _element_of(type_.dtype if isinstance(type_, types.Array) else type_)
    if dtype is not None:
        return _record_spec(type_, dtype, host)
    return bytes(specs_of([_constraint(type_)]))


def spec_of(args: tuple[types.Type, ...], host: Any) -> bytes:
    """Argument types as ``_core.compile`` takes them. Two arrays may share memory."""
    return b"".join(_spec(t, host) for t in args)


# ---- conversions of arguments ----------------------------------------------------------------------

EXACT, PROMOTE, SAFE, UNSAFE, NONE = range(5)
_KINDS = {"b": 0, "u": 1, "i": 2, "f": 3, "c": 4}


def _scalar_conversion(found: Any, wanted: Any) -> int:
    if not number_of(found) or not number_of(wanted):
        return NONE
    if isinstance(wanted, types.Boolean):
        return NONE
    if isinstance(found, types.Complex) and not isinstance(wanted, types.Complex):
        return NONE
    if type(found) is type(wanted):
        signs = getattr(found, "signed", None), getattr(wanted, "signed", None)
        if signs[0] == signs[1]:
            return PROMOTE if found.bitwidth < wanted.bitwidth else UNSAFE
        return SAFE if wanted.signed and found.bitwidth < wanted.bitwidth else UNSAFE
    if isinstance(found, types.Boolean):
        return SAFE
    if isinstance(found, types.Integer) and isinstance(wanted, types.Float):
        return SAFE if wanted.bitwidth == 64 or found.bitwidth < wanted.bitwidth else UNSAFE
    if isinstance(wanted, types.Complex):
        return SAFE if found.bitwidth * 2 <= wanted.bitwidth or wanted.bitwidth == 128 else UNSAFE
    return UNSAFE


def _same_elements(found: types.Type, wanted: types.Type) -> bool:
    """Whether elements lie in memory alike: records for one's own types with a struct."""
    if found == wanted:
        return True
    dtype = getattr(found, "__tessera_element__", None)
    return dtype is not None and dtype == _element_of(wanted)


def _is_reread(found: types.Type, wanted: types.Type) -> bool:
    """Whether the elements are integers of the other sign: their bits are read as the signature says."""
    both = isinstance(found, types.Integer) and isinstance(wanted, types.Integer)
    return both and found.bitwidth == wanted.bitwidth and found != wanted


def _array_conversion(found: types.Array, wanted: types.Array) -> int:
    reread = _is_reread(found.dtype, wanted.dtype)
    if found.ndim != wanted.ndim or (found.readonly and wanted.mutable):
        return NONE
    if not reread and not _same_elements(found.dtype, wanted.dtype):
        return NONE
    fits = wanted.layout == "A" or found.layout == wanted.layout or (found.ndim <= 1 and found.layout in "CF")
    return (EXACT if found == wanted else UNSAFE if reread else SAFE) if fits else NONE


def reread(value: Any, found: types.Type, wanted: types.Type) -> Any:
    """An argument as the signature's integers, where they differ in sign: a view of the same memory."""
    arrays = isinstance(found, types.Array) and isinstance(wanted, types.Array)
    if not arrays or not _is_reread(found.dtype, wanted.dtype):
        return value
    if not isinstance(value, _core.Array) and not hasattr(value, "__array_interface__"):
        from ._device_array import as_device_array, is_cuda_array

        value = as_device_array(value) if is_cuda_array(value) else _core.from_dlpack(value)
    return value.view(wanted.dtype.name)


def conversion(found: types.Type, wanted: types.Type) -> int:
    """How an argument of one type becomes a parameter of another: EXACT, PROMOTE, SAFE, UNSAFE or NONE."""
    if found == wanted:
        return EXACT
    if isinstance(wanted, types.Optional):
        return SAFE if found == types.none else conversion(found, wanted.type)
    if isinstance(wanted, types.CPointer):
        return SAFE if isinstance(found, types.Integer) else NONE
    if isinstance(found, types.Array) and isinstance(wanted, types.Array):
        return _array_conversion(found, wanted)
    if isinstance(found, types.EnumMember):
        return conversion(found.dtype, wanted)
    if hasattr(found, "types") and hasattr(wanted, "types") and len(found.types) == len(wanted.types):
        return max((conversion(f, w) for f, w in zip(found.types, wanted.types)), default=EXACT)
    return _scalar_conversion(found, wanted)


def _gives_value(code: CodeType) -> bool:
    """Whether a function has a return with another value than None."""
    found = list(dis.get_instructions(code))
    return any(
        (last.opname == "RETURN_CONST" and last.argval is not None)
        or (last.opname == "RETURN_VALUE" and not (before.opname == "LOAD_CONST" and before.argval is None))
        for before, last in itertools.pairwise(found)
    )


def _pointing(dispatcher: Dispatcher, args: tuple[types.Type, ...]) -> Dispatcher:
    """A kernel that calls this one with pointers where the signature has them; without any, the kernel itself."""
    if not any(isinstance(arg, types.CPointer) for arg in args):
        return dispatcher
    from ._linking import _pointer

    names = dispatcher.py_func.__code__.co_varnames[: len(args)]
    space: dict[str, Any] = {"__name__": __name__, "function_": dispatcher.py_func, "pointer_": _pointer}
    given = []
    for i, (name, type_) in enumerate(zip(names, args)):
        space[f"type{i}_"] = getattr(type_, "dtype", None)
        given.append(f"pointer_({name}, type{i}_)" if isinstance(type_, types.CPointer) else name)
    name = dispatcher.__name__ if dispatcher.__name__.isidentifier() else "pointing"
    back = "return " if _gives_value(dispatcher.py_func.__code__) else ""
    text = f"def {name}({', '.join(names)}):\n    {back}function_({', '.join(given)})\n"
    exec(compile(text, f"<{name} of {args}>", "exec"), space)
    made = type(dispatcher)(space[name], dispatcher.options, text)
    made._called = dispatcher._called
    return made


# ---- the overload ----------------------------------------------------------------------------------


class Overload(_core.ThreadKernel):  # type: ignore[misc]
    """A kernel for one signature. Numbers are converted to the types of its parameters."""

    def __new__(cls, dispatcher: Dispatcher, args: tuple[types.Type, ...]) -> Overload:
        made: Overload = super().__new__(cls)
        return made

    def __init__(self, dispatcher: Dispatcher, args: tuple[types.Type, ...]) -> None:
        self.dispatcher, self.argtypes = dispatcher, args
        self._written = _pointing(dispatcher, args)  # what is compiled
        self.signature = Signature(types.none, args)
        self.entry_name = self.__name__ = dispatcher.__name__
        self.launch_config_sensitive = False
        self._waits = dispatcher._waits  # a launch with an explicit signature raises what its threads raise, too
        self._code: dict[int, tuple[bytes, dict[str, Any]]] = {}

    def mark_launch_config_sensitive(self) -> None:
        """As the kernel's."""
        self.dispatcher.mark_launch_config_sensitive()

    @property
    def py_func(self) -> Any:
        return self.dispatcher.py_func

    @property
    def argument_types(self) -> tuple[types.Type, ...]:
        return self.argtypes

    @property
    def device(self) -> bool:
        return self.dispatcher.options.device

    debug = property(lambda self: self.dispatcher.options.debug)
    extensions = property(lambda self: self.dispatcher.extensions)

    @property
    def cooperative(self) -> bool:
        """Whether blocks wait for each other (``cuda.cg.this_grid()``), so that a launch runs all of them at once."""
        return not self.device and bool(self.code(target_of_device())[1]["cooperative"])

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """The most blocks of ``blockdim`` threads (int, or tuple of up to 3) that the current device runs at once."""
        from ._facts import resident_blocks

        return resident_blocks(self, blockdim, dynsmemsize)

    def _prepare(self) -> Any:
        name, file, pack, rows, hints, host = self._written._packed()
        rule = ((number_of(t), row) for row, t in zip(rows, self.argtypes))
        typed = tuple((row[0], _core.PARAM_BITS if n else row[1], *row[2:4], n, *row[5:]) for n, row in rule)
        return name, file, pack, (*typed, *rows[len(typed) :]), hints, host

    def _specs(self, host: Any) -> bytes:
        from ._typeof import typeof

        return spec_of((*self.argtypes, *map(typeof, host.captured)), host)

    def _failed(self, error: BaseException) -> BaseException:
        return self._written._failed(error)

    def _links(self) -> tuple[Any, ...]:
        """Code of others that is linked to the kernel."""
        *_, host = self._prepare()
        return tuple(host.links)

    def bind(self) -> None:
        """Compiles the kernel: mistakes in it, and in CUDA C++ that is linked to it, are raised here."""
        try:
            self._lowered()
            links = self._links()
            if links and _core._current_device() >= _core.DEVICE_CUDA:
                from ._linking import compile_early

                compile_early(self.code(target_of_device())[0], links)
        except Exception as error:
            raise self._failed(error) from None

    def _lowered(self) -> str:
        prepared = self._prepare()
        return str(_core.lower_text(prepared, self._specs(prepared[-1])))

    def code(self, target: int) -> tuple[bytes, dict[str, Any]]:
        """The code for a target, and what a launch must know of it."""
        if target not in self._code:
            try:
                prepared = self._prepare()
                spec = self._specs(prepared[-1])
                self._code[target] = _core.compile_plan(prepared, spec, target)
            except Exception as error:
                raise self._failed(error) from None
        return self._code[target]

    @functools.cached_property
    def _type_annotation(self) -> TypeAnnotation:
        """The types of the kernel's variables."""
        from ._annotation import TypeAnnotation

        try:
            return TypeAnnotation(self)
        except Exception as error:
            raise self._failed(error) from None

    @property
    def _codelibrary(self) -> CodeLibrary:
        """The kernel's code, and what is linked to it."""
        from ._annotation import CodeLibrary

        return CodeLibrary(self)

    @property
    def ptx(self) -> str:
        """PTX for the current GPU, or for sm_80 where there is none."""
        return self.code(target_of_device())[0].rstrip(b"\0").decode()

    def inspect_llvm(self) -> str:
        """Raises NotImplementedError: see ``inspect_ir``."""
        raise NotImplementedError("kernels are not compiled through LLVM IR; inspect_ir() gives Tessera's IR")

    def inspect_ir(self) -> str:
        """The kernel in Tessera's IR (docs/guide/ir.md)."""
        return self._lowered()

    def inspect_asm(self) -> str:
        """As ``ptx``."""
        return self.ptx

    def inspect_cpu(self, blockdim: Any = 256) -> str:
        """What the CPU device makes of the kernel, line by line: how the threads of a block of ``blockdim`` (int, or
        tuple of up to 3) run, and how memory is read and written."""
        from ._facts import block_of

        block = block_of(blockdim)
        try:
            prepared = self._prepare()
            return str(_core.notes_of(prepared, self._specs(prepared[-1]), _core.TARGETS["cpu"], *block))
        except Exception as error:
            raise self._failed(error) from None

    def __reduce__(self) -> Any:
        raise RuntimeError(f"Cannot pickle unfinalized kernel {self.entry_name}: pickle the function it was made of")

    def __repr__(self) -> str:
        return f"<kernel {self.entry_name}{self.argtypes}>"


def target_of_device() -> int:
    """The number of the current GPU's target, or sm_80 where there is none."""
    from ..core import Device

    device = Device()
    if device.device_id < 0:
        return 80
    wanted = int(device.arch)
    return max((t for t in _core.TARGETS.values() if 80 <= t <= wanted), default=80)
