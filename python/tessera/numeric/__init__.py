# SPDX-License-Identifier: Apache-2.0
"""NumPy programs, one import changed: arrays whose operations are fused by themselves.

``import tessera.numeric as np``. Operations on large arrays wait until an element is wanted, then become one kernel for
each shape; those on small arrays run at once. What is missing the host computes, with a warning (:class:`fallback`).
"""

from __future__ import annotations

import functools as _functools
import importlib as _importlib
import sys as _sys
import types as _types
from typing import Any

import numpy as _numpy

from .. import _core
from .._errors import did_you_mean as _did_you_mean
from . import (
    _derived,
    _einsum,
    _flat,
    _functions,
    _host,
    _index,
    _io,
    _joining,
    _linear,
    _methods,
    _more,
    _namespace,
    _nditer,
    _numpys,
    _operators,
    _parts,
    _quantiles,
    _protocols,
    _reduce,
    _setup,
    _sort,
    _ufunc,
)
from ._fallback import FallbackWarning as FallbackWarning
from ._fallback import default_fallback as default_fallback
from ._fallback import fallback as fallback
from ._fallback import fallback_report as fallback_report
from ._host import HostArray as HostArray
from ._host import by_numpy as _by_numpy
from ._host import host_calls as host_calls
from ._ndarray import ndarray

# dtypes, scalars and what describes them are NumPy's own
_NUMPYS = """
    bool_ byte complex64 complex128 complexfloating double dtype e errstate euler_gamma
    finfo float16 float32 float64 floating generic half iinfo index_exp inexact inf int8 int16 int32 int64
    intc integer intp isdtype issubdtype long longlong nan newaxis number pi printoptions s_
    set_printoptions short signedinteger single ubyte uint uint8 uint16 uint32 uint64 uintc uintp
    ulong ulonglong unsignedinteger ushort
    False_ ScalarType True_ base_repr binary_repr busdaycalendar bytes_ character clongdouble datetime64 datetime_data
    flexible format_float_positional format_float_scientific get_printoptions geterr geterrcall int_ little_endian
    longdouble object_ sctypeDict seterr seterrcall str_ timedelta64 typecodes void
"""
_LONG = "complex192 complex256 float96 float128"  # those of this machine
globals().update({_name: getattr(_numpy, _name) for _name in _NUMPYS.split()})
globals().update({_name: getattr(_numpy, _name) for _name in _LONG.split() if hasattr(_numpy, _name)})
bool = _numpy.bool
cdouble, csingle = _numpy.complex128, _numpy.complex64
__array_api_version__ = "2025.12"
__array_namespace_info__ = _namespace.__array_namespace_info__

_setup.setup(
    ndarray,
    by_numpy=_by_numpy,
    derived=_derived.derived,
    function_answered=_protocols.function_answered,
    ufunc_answered=_protocols.ufunc_answered,
    give=_host.give,
    host_calls=_host.CALLS,
    mask_of=_reduce.mask_of,
    get_item=_index.get_item,
    set_item=_index.set_item,
    matmul=_linear.matmul_operator,
    power=_operators.power_operator,
)
_MODULES = (_functions, _joining, _reduce, _index, _operators, _sort, _linear, _einsum, _more, _parts,
            _quantiles)
for _module in _MODULES:
    globals().update(
        {
            _name: (
                _core.NumericBuiltin
                if isinstance(getattr(_numpy, _name), _types.BuiltinFunctionType)
                else _core.NumericRoutine
            )(_thing, __name__, _module.__name__ in _setup.MOVE, _protocols.kind_of(_name))
            for _name, _thing in vars(_module).items()
            if callable(_thing)
            and getattr(_thing, "__module__", "") == _module.__name__
            and not _name.startswith("_")
            and _name not in getattr(_module, "INNER", ())
            and hasattr(_numpy, _name)
        }
    )
globals().update(_ufunc.FUNCTIONS)
globals().update(_parts.FUNCTIONS_OF_PARTS)
globals().update({_name: _parts.General(globals()[_name]) for _name in ("matmul", "matvec", "vecdot", "vecmat")})
globals().update(
    {_name: _core.NumericRoutine(_thing, __name__, True, _setup.FUNCTION) for _name, _thing in _io.FUNCTIONS.items()}
)
for _module in (_methods, _io, *_MODULES[2:]):
    _methods.install(_module.METHODS)
_methods.install_own()
_ALIASES = {
    "amax": "max",
    "amin": "min",
    "around": "round",
    "concat": "concatenate",
    "permute_dims": "transpose",
}
globals().update({_alias: globals()[_name] for _alias, _name in _ALIASES.items()})
asnumpy, nditer, ufunc = _functions.asnumpy, _nditer.nditer, _ufunc.ufunc
flatiter, broadcast = _flat.flatiter, _flat.broadcast
default_device, device = _setup.default_device, _setup.device
wait = _core.NumericBuiltin(_setup.wait, __name__, True)
__version__ = _numpy.__version__  # the NumPy whose names and meaning these are


# Modules that are imported when they are asked for.
_LAZY = {_name: _name for _name in (
    "array_api", "char", "dtypes", "exceptions", "fft", "lib", "linalg", "ma", "matlib", "polynomial", "random", "rec",
    "strings", "testing", "typing", "version",
)}  # fmt: skip
_LAZY["emath"] = "lib.scimath"
# Names that NumPy had, of whose end it says nothing: what to use in their place.
_REMOVED = {"bool8": "bool_", "in1d": "isin", "int0": "intp", "uint0": "uintp"}
_HOSTED = ("busday_count", "busday_offset", "datetime_as_string", "is_busday")  # NumPy's C code computes them


def __dir__() -> list[str]:
    return sorted({name for name in globals() if not name.startswith("_")} - _numpys.FOUND | {*_LAZY, "doctor"})


def _star() -> list[str]:
    """What ``from tessera.numeric import *`` names, whatever was asked for before: NumPy's list, and what is ours."""
    here = _sys.modules[__name__]
    ours = {name for name in __dir__() if not hasattr(_numpy, name)} - {*_LAZY, "Any", "annotations", "doctor"}
    return sorted(ours | {name for name in _numpy.__all__ if hasattr(here, name)})


@_functools.lru_cache(256)  # programs that ask whether names are there ask often
def _unknown(name: str) -> str:
    """What a program that asks for a name that is not there is told: NumPy's advice, where the name was NumPy's."""
    said = f"module 'tessera.numeric' has no attribute {name!r}"
    former: str = getattr(_numpy, "__former_attrs__", {}).get(name, "")
    expired: dict[str, str] = getattr(_numpy, "__expired_attributes__", {})
    if former:  # the first line says what is said above, of NumPy
        return f"{said}.\n{former.partition(chr(10))[2]}"
    if name in expired:
        return f"`np.{name}` was removed in the NumPy 2.0 release. {expired[name]}"
    if name in _REMOVED:
        return f"{said}, nor has NumPy; use `np.{_REMOVED[name]}` instead"
    return said + _did_you_mean(name, __dir__())


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return _star()
    if name == "doctor":  # which reads files and writes JSON, as few programs do
        return _importlib.import_module(f"{__name__}._doctor").doctor
    if name in _LAZY:
        return _importlib.import_module(f"{__name__}.{_LAZY[name]}")
    if name in _HOSTED:
        return _importlib.import_module(f"{__name__}._dates").HOSTED[name]
    theirs = None if name.startswith("_") else getattr(_numpy, name, None)
    adopted = None if theirs is None else _numpys.find(name)
    if adopted is not None:
        _numpys.FOUND.add(name)
        return globals().setdefault(name, adopted)  # asked for once
    if theirs is None or isinstance(theirs, type) or not callable(theirs):
        raise AttributeError(_unknown(name), name=None)  # the message says what there is; Python adds nothing

    def missing(*args: Any, **options: Any) -> Any:
        return _host.absent(f"numpy.{name}", theirs, args, options)

    missing.__name__ = missing.__qualname__ = name
    missing.__doc__ = f"NumPy's {name}, which is not there yet: the host runs it, as `fallback` says."
    return missing
