# SPDX-License-Identifier: Apache-2.0
"""``vectorize`` and ``guvectorize``: functions of elements, or of small arrays, over whole arrays.

Both are one thing. Every operand has loop dimensions, which broadcast, and core dimensions, named by the layout
``(m,n),(n,p)->(m,p)``; of a vectorized function there are none. A kernel of a few lines is written for the number of
loop dimensions: one thread works on one place of the loop.

    thread i --> place (k0, k1) of the loop --> out[k0, k1] = core(a[k0, k1], b[k0, k1])      vectorize
                                            --> core(a[k0, k1], b[k0, k1], out[k0, k1])       guvectorize
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy

from .. import _core
from ..core._place import CUDA
from . import types
from ._device_array import (
    DeviceNDArray,
    as_device_array,
    is_cuda_array,
    row_major,
)
from ._options import Options, options_of
from ._signature import Signature, normalize
from ._typeof import as_dtype
from ._ufunc_layout import Layout, parsed_layout, source_of
from ._ufunc_operands import cast_to, elements_of, flattened, given_back, like, operand_of, squeezed

__all__ = ["guvectorize", "vectorize"]

THREADS = 256
_TARGETS = ("cuda", "cpu", "parallel")
_NUMBERS = (int, float, complex)


class _Loop(NamedTuple):
    """One signature: the types of operands and the kernels, by the number of loop dimensions."""

    args: tuple[types.Type, ...]
    dtypes: tuple[Any, ...]
    kernels: dict[int, Any]


def _conversion(dtype: Any) -> Any:
    """What a kernel converts an element with: dates and spans have come with their unit."""
    return _itself if dtype.kind in "mM" else dtype.type


def _kept(given: Any, found: Any, wanted: Any) -> bool:
    """Whether a cast to a signature's dtype keeps every value."""
    return bool(numpy.can_cast(found, wanted, "safe"))


def _weak(given: Any, found: Any, wanted: Any) -> bool:
    """The same, but an integer is looked at itself, and a Python number has a kind and no size: 1.5 is a float32 where
    the signature says so."""
    if (type(given) is int or isinstance(given, numpy.integer)) and wanted.kind in "iu":
        return bool(int(numpy.iinfo(wanted).min) <= given <= int(numpy.iinfo(wanted).max))
    return bool(numpy.can_cast(found, wanted, "same_kind" if type(given) in _NUMBERS else "safe"))


def _itself(value: Any) -> Any:
    return value


class GUFunc:
    """What ``vectorize`` and ``guvectorize`` make.

    Attributes
    ----------
    nin, nout : int
    types : list of str
        The signatures.
    max_blocksize : int
        The most threads of a block.
    """

    def __init__(self, function: Any, layout: Layout, elementwise: bool, options: Options, target: str) -> None:
        self.py_func = getattr(function, "py_func", function)
        self.__name__, self.__doc__ = self.py_func.__name__, self.py_func.__doc__
        self.__qualname__, self.__module__ = self.py_func.__qualname__, self.py_func.__module__
        self.layout, self.elementwise, self.target = layout, elementwise, target
        self.nin, self.nout, self.max_blocksize = len(layout.inputs), len(layout.outputs), 1 << 30
        self._options, self._loops = options, list[_Loop]()

    @property
    def types(self) -> list[str]:
        return [str(self._signature(loop)) for loop in self._loops]

    signature = property(lambda self: self.layout)

    def add(self, sig: Any) -> None:
        """Adds a signature."""
        found = normalize(sig)
        args = self._operands(found)
        if len(args) != len(self.layout.operands):
            raise TypeError(f"{self.__name__} has {len(self.layout.operands)} operands, but the signature is {found}")
        dtypes = tuple(as_dtype(t.dtype if isinstance(t, types.Array) else t) for t in args)
        self._loops.append(_Loop(args, dtypes, {}))

    def _operands(self, found: Signature) -> tuple[Any, ...]:
        if self.elementwise:
            result = found.return_type
            if result is None:
                from ._annotation import result_of

                result = result_of(self.py_func, found.args)
            if result == types.none:
                raise TypeError(f"vectorized functions return a value: write float32(float32), not {found}")
            return (*found.args, result)
        if found.return_type not in (None, types.none):
            raise TypeError(
                f"guvectorized functions cannot return values: signature {found} specifies {found.return_type} return "
                "type"
            )
        return found.args

    def _kernel(self, loop: _Loop, n_loop: int) -> Any:
        if n_loop not in loop.kernels:
            from ._device import grid
            from ._dispatcher import kernel_around

            scalars = [not isinstance(t, types.Array) for t in loop.args]
            source = source_of(self.layout, n_loop, self.elementwise, scalars)
            space: dict[str, Any] = {"__name__": __name__, "grid": grid, "core": self.py_func}
            space.update({f"type{i}": _conversion(dtype) for i, dtype in enumerate(loop.dtypes)})
            exec(compile(source, f"<{self.__name__} over {n_loop} dimensions>", "exec"), space)  # noqa: S102
            loop.kernels[n_loop] = kernel_around(space["kernel"], self._options, source)
        return loop.kernels[n_loop]

    # ---- a call

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0, **named: Any) -> Any:
        """Applies the function.

        Parameters
        ----------
        args : array-like
            Inputs; outputs may follow.
        out : array or tuple of arrays, optional
            Where results go.
        stream : Stream, optional
        """
        if named:
            raise TypeError(f"{self.__name__}() has no argument {next(iter(named))!r}; it has out and stream")
        inputs, outputs = self._sorted(args, out)
        outputs = [as_device_array(o) if is_cuda_array(o) and not hasattr(o, "shape") else o for o in outputs]
        host = not any(is_cuda_array(a) for a in (*inputs, *(o for o in outputs if o is not None)))
        number = CUDA - 1 if self.target != "cuda" else _core._current_device()
        arrays = [operand_of(a, number, stream) for a in inputs]
        loop = self._resolved(inputs, [a.dtype for a in arrays])
        arrays = [cast_to(a, dtype, self.elementwise) for a, dtype in zip(arrays, loop.dtypes)]
        shape, sizes = self._shapes(arrays)
        results, back = self._results(outputs, shape, sizes, loop, host, number, stream)
        self._run(loop, [*self._broadcast(arrays, shape), *results], shape, stream, host)
        found = [given_back(result, to, host, stream) for result, to in zip(results, back)]
        return found[0] if self.nout == 1 else tuple(found)

    def _sorted(self, args: tuple[Any, ...], out: Any) -> tuple[list[Any], list[Any]]:
        if len(args) not in (self.nin, self.nin + self.nout):
            s = "s" if len(args) != 1 else ""
            raise TypeError(
                f"{self.__name__}(): gufunc accepts {self.nin} positional arguments (when no output is given), or "
                f"{self.nin + self.nout} positional arguments (with all outputs). Got {len(args)} positional "
                f"argument{s}."
            )
        given = list(args[self.nin :])
        if given and out is not None:
            raise ValueError("cannot specify argument 'out' as both positional and keyword")
        if out is not None:
            given = list(out) if isinstance(out, tuple) else [out]
        if given and len(given) != self.nout:
            raise ValueError(f"{self.__name__}() has {self.nout} outputs, but out has {len(given)}")
        return list(args[: self.nin]), given or [None] * self.nout

    def _resolved(self, inputs: list[Any], found: list[Any]) -> _Loop:
        """The signature for these dtypes: the same, else the first to which inputs are cast without loss."""
        for loop in self._loops:
            if all(f == w for f, w in zip(found, loop.dtypes)):
                return loop
        alone = all(type(x) in _NUMBERS for x in inputs)  # Python numbers among themselves have their dtypes
        for fits in (_kept, _weak) if alone else (_weak,):
            for loop in self._loops:
                if all(map(fits, inputs, found, loop.dtypes)):
                    return loop
        raise TypeError(
            f"no matching signature of {self.__name__}() for ({', '.join(map(str, found))}); it has "
            f"{'; '.join(self.types)}. Inputs are cast where every value is kept: convert them with astype, or add a "
            "signature"
        )

    def _writable(self, i: int, given: Any, dtype: Any) -> None:
        if not numpy.can_cast(dtype, given.dtype, "same_kind"):
            raise TypeError(
                f"{self.__name__}(): output {i} has dtype {given.dtype}, to which {dtype} is not cast (same_kind); "
                "give an array of another dtype"
            )

    def _shapes(self, arrays: list[Any]) -> tuple[tuple[int, ...], dict[str, int]]:
        """The loop's shape and the extents of core dimensions."""
        sizes: dict[str, int] = {}
        loops = []
        for i, (array, dims) in enumerate(zip(arrays, self.layout.inputs)):
            if array.ndim < len(dims):
                raise ValueError(
                    f"{self.__name__}(): operand {i} has {array.ndim} dimensions, but its core has {len(dims)}"
                )
            split = array.ndim - len(dims)
            for name, extent in zip(dims, array.shape[split:]):
                if sizes.setdefault(name, int(name) if name.isdigit() else extent) != extent:
                    raise ValueError(
                        f"{self.__name__}(): operand {i} has a mismatch in its core dimension {name!r}: {extent}, "
                        f"where others have {sizes[name]}"
                    )
            loops.append(array.shape[:split])
        try:
            return numpy.broadcast_shapes(*loops), sizes
        except ValueError:
            raise ValueError(f"{self.__name__}(): loop dimensions {loops} do not broadcast") from None

    def _results(
        self, outputs: list[Any], shape: Any, sizes: dict[str, int], loop: _Loop, host: bool, number: int, stream: Any
    ) -> tuple[list[Any], list[Any]]:
        """Arrays that the kernel writes, and for each where its elements go (None: it is the result)."""
        results: list[Any] = []
        back: list[Any] = []
        for dims, given, dtype in zip(self.layout.outputs, outputs, loop.dtypes[self.nin :]):
            wanted = (*shape, *(sizes[d] if d in sizes else int(d) for d in dims))
            if given is not None and not self.elementwise and squeezed(given.shape) == squeezed(wanted):
                given = given.reshape(wanted)  # numba takes out=(4,) where the loop makes it (1, 4)
            if given is not None and tuple(given.shape) != wanted:
                raise ValueError(f"{self.__name__}(): out has shape {given.shape}; it must be {wanted}")
            if given is not None:
                self._writable(len(results), given, dtype)
            made = self._result(given, wanted, dtype, host, number, stream)
            results.append(made)
            back.append(given)
        return results, back

    def _result(self, given: Any, shape: Any, dtype: Any, host: bool, number: int, stream: Any) -> Any:
        if given is not None and numpy.dtype(given.dtype) == dtype:
            if is_cuda_array(given):
                return as_device_array(given)
            if number < CUDA:
                return given
        if number < CUDA and host:
            return numpy.empty(shape, dtype)
        return DeviceNDArray(shape, row_major(shape, dtype.itemsize), dtype, stream)

    def _broadcast(self, arrays: list[Any], shape: tuple[int, ...]) -> list[Any]:
        made = []
        for array, dims in zip(arrays, self.layout.inputs):
            core = array.shape[array.ndim - len(dims) :]
            view = numpy.broadcast_to(elements_of(array), (*shape, *core))
            made.append(like(array, view))
        return made

    def _run(self, loop: _Loop, operands: list[Any], shape: tuple[int, ...], stream: Any, host: bool) -> None:
        count = 1
        for extent in shape:
            count *= extent
        if count == 0:
            return
        flat = [flattened(a, len(dims), count) for a, dims in zip(operands, self.layout.operands)]
        n_loop = len(shape)
        if n_loop != 1 and all(a is not None for a in flat):
            operands, n_loop = flat, 1
        threads = min(THREADS, self.max_blocksize)
        order = stream
        if self.target != "cuda":
            from ..core import Device

            order = Device("cpu").default_stream
        kernel = self._kernel(loop, n_loop)
        kernel[-(-count // threads), threads, order](count, *operands)
        if host:
            kernel._wait_for(order)

    def reduce(self, arg: Any, stream: Any = 0) -> Any:
        """The elements of a one-dimensional array, put together by a function of two arguments."""
        if self.nin != 2 or self.nout != 1 or not self.elementwise:
            raise TypeError("must be a binary ufunc")
        if arg.ndim != 1:
            raise TypeError("must use 1d array")
        from ._reduction import Reduce

        return Reduce(self.py_func)(arg, stream=stream)

    def __reduce__(self) -> Any:
        sigs = [self._signature(loop) for loop in self._loops]
        from ._pickle import dumped, found_as

        found = found_as(self)
        if found is self:
            return self.__qualname__
        function = self.py_func if found is self.py_func else dumped(self.py_func)
        return _again, (function, self.layout, self.elementwise, self._options, self.target, sigs)

    def _signature(self, loop: _Loop) -> Signature:
        if self.elementwise:
            return Signature(loop.args[-1], loop.args[:-1])
        return Signature(types.none, loop.args)

    def __repr__(self) -> str:
        return f"<{'ufunc' if self.elementwise else 'gufunc'} {self.__name__} {self.types}>"


def _again(function: Any, layout: Any, elementwise: bool, options: Any, target: str, sigs: list[Any]) -> GUFunc:
    import pickle

    if isinstance(function, bytes):
        function = pickle.loads(function)
    made = GUFunc(function, layout, elementwise, options, target)
    for sig in sigs:
        made.add(sig)
    return made


# ---- the decorators --------------------------------------------------------------------------------


class _UnrecognizedOption(TypeError, KeyError):
    """An option that the decorators have not; a KeyError for numba's users."""

    __str__ = TypeError.__str__


def _options(target: str, named: dict[str, Any], elementwise: bool) -> Options:
    if target not in _TARGETS:
        raise ValueError(f"target is {target!r}; it must be one of {', '.join(_TARGETS)}")
    if "nopython" in named:
        if named.pop("nopython") is not True:
            raise TypeError("nopython flag must be True")
        if target == "cuda" and elementwise:
            warnings.warn("nopython kwarg for cuda target is redundant", RuntimeWarning, stacklevel=3)
    for name in ("identity", "cache", "writable_args"):
        named.pop(name, None)
    known = {"fastmath", "debug", "opt", "inline", "lineinfo"}
    unknown = [name for name in named if name not in known]
    if unknown:
        names = ", ".join(map(repr, unknown))
        if elementwise:
            raise _UnrecognizedOption(f"Unrecognized options: {names}; there are {', '.join(sorted(known))}")
        raise TypeError(f"The following target options are not supported: {names}")
    return options_of(named, depth=2)


def _listed(sigs: Any) -> list[Any]:
    return list(sigs) if isinstance(sigs, (list, set, frozenset)) else [sigs]


def vectorize(ftylist_or_function: Any = (), *, target: str = "cuda", **named: Any) -> Any:
    """Makes a function of numbers one of arrays: ``@vectorize(["float32(float32, float32)"])``.

    Parameters
    ----------
    ftylist_or_function : str, Signature or list of them
        The types of arguments and result; the first that the arguments can be cast to safely is taken. Without a
        result (``(int32, int32)``), its type is that of what the function returns.
    target : str
        ``"cuda"``: the current device. ``"cpu"``, ``"parallel"``: the CPU device.

    Returns
    -------
    decorator
        Of a function that broadcasts, takes ``out=`` and ``stream=``, and has ``reduce``.
    """
    options = _options(target, named, True)
    if callable(ftylist_or_function) and not isinstance(ftylist_or_function, (types.Type, Signature)):
        raise TypeError("vectorize() needs signatures here: @vectorize(['float32(float32)'])")

    def decorate(function: Any) -> GUFunc:
        code = getattr(function, "py_func", function).__code__
        layout = Layout(((),) * code.co_argcount, ((),))
        made = GUFunc(function, layout, True, options, target)
        for sig in _listed(ftylist_or_function):
            made.add(sig)
        return made

    return decorate


def guvectorize(ftylist: Any, signature: str, *, target: str = "cuda", **named: Any) -> Any:
    """Makes a function of small arrays one of large ones: ``@guvectorize(["void(f4[:], f4[:])"], "(n)->(n)")``.

    Parameters
    ----------
    ftylist : str, Signature or list of them
        The types of all operands: inputs, then outputs.
    signature : str
        Their core dimensions, ``"(m,n),(n,p)->(m,p)"``; an output ``()`` is an array of one element.
    target : str
        As of ``vectorize``.
    """
    options = _options(target, named, False)
    layout = parsed_layout(signature)

    def decorate(function: Any) -> GUFunc:
        made = GUFunc(function, layout, False, options, target)
        for sig in _listed(ftylist):
            made.add(sig)
        return made

    return decorate
