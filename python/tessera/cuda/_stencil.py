# SPDX-License-Identifier: Apache-2.0
"""``cuda.stencil``: a function of an element's neighbours over whole arrays, as ``numba.stencil``.

    thread --> place (k0, k1) --> out[k0, k1] = function(a[k0 + 0, k1 - 1], a[k0 + 0, k1 + 1])
                              --> cval, where a neighbour is outside of the array
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from .. import _core
from ..core._place import CUDA
from . import types
from ._device_array import DeviceNDArray, as_device_array, is_cuda_array, row_major
from ._errors import NumbaValueError, TypingError
from ._options import options_of
from ._stencil_source import Body, Indices, Neighborhood, body_of, kernel_text
from ._typeof import as_dtype, typeof
from ._ufunc_operands import given_back, operand_of

__all__ = ["StencilFunc", "stencil"]

_BLOCKS = {1: (256,), 2: (32, 8), 3: (32, 4, 2)}  # threads, by how many axes they have
_NO_NUMBER = "returns a real number or nothing, found "  # of what cuda.compile says
_OPTIONS = ("neighborhood", "cval", "standard_indexing", "target")


class _Made(NamedTuple):
    """A stencil for arrays of some number of axes."""

    kernel: Any
    core: Any
    reach: Neighborhood


class StencilFunc:
    """What ``stencil`` makes.

    Attributes
    ----------
    neighborhood : list of [int, int]
        For each axis the least and the greatest relative index: as given, or as found by the first call; None before.
    """

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self.py_func = getattr(function, "py_func", function)
        self.__name__, self.__doc__ = self.py_func.__name__, self.py_func.__doc__
        self.__qualname__, self.__module__ = self.py_func.__qualname__, self.py_func.__module__
        self.__wrapped__ = self.py_func
        self._given = options
        self._body: Body | None = None
        self._made: dict[Any, _Made] = {}
        self._results: dict[Any, Any] = {}
        self._standard = frozenset(options.get("standard_indexing") or ())
        self._neighborhood = _pairs(options.get("neighborhood"))
        self._check()

    def _check(self) -> None:
        code = self.py_func.__code__
        names = code.co_varnames[: code.co_argcount]
        if not self._standard <= set(names):
            raise NumbaValueError(
                f"Standard indexing requested for an array name not present in the stencil kernel definition: "
                f"{', '.join(sorted(self._standard - set(names)))}; '{self.__name__}' has {', '.join(names)}"
            )
        if names and names[0] in self._standard:
            raise NumbaValueError(
                "The first argument to a stencil kernel must use relative indexing, not standard indexing."
            )

    @property
    def neighborhood(self) -> list[list[int]] | None:
        found = self._neighborhood or next((made.reach for made in self._made.values()), None)
        return None if found is None else [list(pair) for pair in found]

    # ---- a call

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any:
        """Applies the stencil.

        Parameters
        ----------
        args : arrays and numbers
            As the function takes them; the first one is the array that is gone over.
        out : array, optional
            Where results go. It keeps what it has where neighbours are missing, unless the stencil has a ``cval``.
        stream : Stream, optional

        Returns
        -------
        array
            ``out``, or a new one of the shape of the first argument: on the host if all arguments are.
        """
        self._check_arguments(args)
        host = not any(is_cuda_array(a) for a in (*args, out))
        number = CUDA - 1 if self._given.get("target", "cuda") == "cpu" else _core._current_device()
        values = [operand_of(a, number, stream) if _is_array(a) else a for a in args]
        self._check_shapes(values, out)
        made = self._for(values, out is None or "cval" in self._given)
        dtype = numpy.dtype(out.dtype) if out is not None else self._result_type(made, values)
        result = self._room(out, values[0].shape, dtype, host, number, stream)
        self._run(made, result, self._fill(dtype), values, host, stream)
        return given_back(result, out, host, stream)

    def _check_arguments(self, args: tuple[Any, ...]) -> None:
        code = self.py_func.__code__
        if len(args) != code.co_argcount:
            names = ", ".join(code.co_varnames[: code.co_argcount])
            found = f"{code.co_argcount} arguments ({names}), found {len(args)}"
            raise TypeError(f"stencil '{self.__name__}' takes {found}")
        if not _is_array(args[0]) or not args[0].shape:
            raise TypeError(
                f"The first argument to a stencil kernel must be the primary input array: '{self.__name__}' was given "
                f"a {type(args[0]).__name__}; pass numpy.asarray(x), of one dimension or more"
            )

    def _relative(self, values: Any) -> frozenset[str]:
        names = self.py_func.__code__.co_varnames
        return frozenset(n for n, v in zip(names, values) if _is_array(v) and n not in self._standard)

    def _check_shapes(self, values: list[Any], out: Any) -> None:
        relative, first = self._relative(values), values[0]
        for name, value in zip(self.py_func.__code__.co_varnames, values):
            if name not in relative:
                continue
            if value.ndim != first.ndim:
                raise ValueError(
                    f"Secondary stencil array does not have same number of dimensions as the first stencil input: "
                    f"'{name}' has {value.ndim}, the first one {first.ndim}; add it to standard_indexing"
                )
            if any(n < m for n, m in zip(value.shape, first.shape)):
                raise ValueError(
                    f"Secondary stencil array has some dimension smaller the same dimension in the first stencil "
                    f"input: '{name}' has shape {value.shape}, the first one {first.shape}"
                )
        if out is not None and (len(out.shape) != first.ndim or any(n < m for n, m in zip(out.shape, first.shape))):
            raise ValueError(f"out has shape {tuple(out.shape)}; it must hold {tuple(first.shape)}")

    # ---- its kernel

    def _for(self, values: list[Any], fills: bool) -> _Made:
        relative = self._relative(values)
        key = values[0].ndim, relative, fills
        if key not in self._made:
            self._made[key] = self._make(relative, values[0].ndim, fills)
        return self._made[key]

    def _make(self, relative: frozenset[str], ndim: int, fills: bool) -> _Made:
        from ._device import grid
        from ._dispatcher import kernel_around

        if self._neighborhood and len(self._neighborhood) != ndim:
            raise NumbaValueError(
                f"{len(self._neighborhood)} dimensional neighborhood specified for {ndim} dimensional input array"
            )
        body = self._body = self._body or body_of(self.py_func)
        space = _names_of(self.py_func)
        indices = Indices(body, relative, ndim, space)
        reach = indices.reach(self._neighborhood)
        text = kernel_text(indices, reach, fills)
        file = f"<stencil of {self.py_func.__code__.co_filename}>"
        space |= {"__name__": self.__module__ or "", "grid_": grid}
        exec(compile(text, file, "exec"), space)  # noqa: S102
        kernel = kernel_around(space["kernel_"], options_of({}), text, own_grid=True)
        return _Made(kernel, space[body.name], reach)

    def _result_type(self, made: _Made, values: list[Any]) -> Any:
        from ._compile import compile as compiled

        given = tuple(_loose(typeof(v)) for v in values)
        key = given, made.core
        if key not in self._results:
            places = (types.int64,) * values[0].ndim
            try:
                _, found = compiled(made.core, (*places, *given), device=True, abi="c")
            except TypingError as error:
                if _NO_NUMBER not in str(error):
                    raise
                raise NumbaValueError(
                    f"Stencil kernel must return a scalar and not a numpy array: '{self.__name__}' returns "
                    f"{str(error).splitlines()[0].partition(_NO_NUMBER)[2]}; for complex numbers give out="
                ) from None
            self._results[key] = as_dtype(found)
        return self._results[key]

    def _fill(self, dtype: Any) -> Any:
        given = self._given.get("cval", 0)
        made = numpy.asarray(given).astype(dtype)[()]
        if not numpy.array_equal(made, given, equal_nan=True) and dtype.kind in "biu":
            raise NumbaValueError(
                f"cval type does not match stencil return type: {given!r} is no {dtype}, which '{self.__name__}' "
                "returns"
            )
        return made

    def _room(self, out: Any, shape: Any, dtype: Any, host: bool, number: int, stream: Any) -> Any:
        """The array that the kernel writes."""
        if out is not None:
            return as_device_array(out) if is_cuda_array(out) else operand_of(out, number, stream)
        if number < CUDA and host:
            return numpy.empty(shape, dtype)
        return DeviceNDArray(shape, row_major(shape, dtype.itemsize), dtype, stream)

    def _run(self, made: _Made, result: Any, fill: Any, values: list[Any], host: bool, stream: Any) -> None:
        extents = values[0].shape[-1:-4:-1]
        if 0 in values[0].shape:
            return
        block = _BLOCKS[len(extents)]
        order = stream
        if self._given.get("target") == "cpu":
            from ..core import Device

            order = Device("cpu").default_stream
        grid = tuple(-(-n // m) for n, m in zip(extents, block))
        made.kernel[grid, block, order](result, fill, *values)
        if host:
            made.kernel._wait_for(order)

    def __repr__(self) -> str:
        return f"<stencil {self.__name__}>"


def _is_array(value: Any) -> bool:
    return isinstance(value, numpy.ndarray) or is_cuda_array(value)


def _loose(type_: types.Type) -> types.Type:
    """Without the layout: results hang on dtypes alone."""
    return type_.copy(layout="A") if isinstance(type_, types.Array) else type_


def _names_of(function: Any) -> dict[str, Any]:
    """What the names of a function mean: its globals, and the variables around it."""
    space = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        space[name] = cell.cell_contents
    return space


def _pairs(given: Any) -> Neighborhood | None:
    if given is None:
        return None
    try:
        found = tuple((int(lo), int(hi)) for lo, hi in given)
    except (TypeError, ValueError):
        found = ()
    if not found or any(lo > hi for lo, hi in found):
        raise NumbaValueError(
            f"neighborhood is {given!r}; give the least and the greatest relative index of each axis: ((-1, 1), (0, 2))"
        )
    return found


def stencil(func_or_mode: Any = "constant", **options: Any) -> Any:
    """Makes a function of an element's neighbours one of arrays: ``@stencil def blur(a): return a[-1] + a[1]``.

    Indices of arrays are relative to the element that is computed. What has not all its neighbours is ``cval``.

    Parameters
    ----------
    func_or_mode : function or str
        The function, or ``"constant"``.
    neighborhood : tuple of (int, int), optional
        For each axis the least and the greatest relative index; needed where indices are not constants.
    cval : number, optional
        What elements are that have not all their neighbours; 0.
    standard_indexing : tuple of str, optional
        Names of arrays whose indices are those of the array, not relative.
    target : str
        ``"cuda"``: the current device. ``"cpu"``: the CPU device.

    Returns
    -------
    StencilFunc
        Called with arrays, on the host or a device; ``out=`` and ``stream=``.

    Raises
    ------
    NumbaValueError
        An option that there is not, or names of no parameter.
    """
    if isinstance(func_or_mode, str) and func_or_mode != "constant":
        raise NumbaValueError(f"Unsupported mode style {func_or_mode}: there is 'constant'")
    for name in options:
        if name not in _OPTIONS:
            raise NumbaValueError(f"Unknown stencil option {name}: there are {', '.join(_OPTIONS)}")
    if options.get("target", "cuda") not in ("cuda", "cpu"):
        raise NumbaValueError(f"target is {options['target']!r}; it must be 'cuda' or 'cpu'")
    if isinstance(options.get("standard_indexing"), str):
        options["standard_indexing"] = (options["standard_indexing"],)
    if callable(func_or_mode):
        return StencilFunc(func_or_mode, options)
    return lambda function: StencilFunc(function, options)
