# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F821  names of the adopted program
"""The masked array and its functions."""

import functools
from typing import Any

import numpy

from .._functions import copyto
from .._numpys import home
from .._setup import NO_VALUE, to_numpy


def _theirs(self: Any) -> Any:
    """NumPy's masked array in the same memory: for what needs arrays of objects, which ours are not."""
    mask = self._mask
    mask = mask if mask is nomask else to_numpy(mask.view(ndarray), True)
    return numpy.ma.MaskedArray(to_numpy(self._data, True), mask)


def _insert_masked_print(self: Any) -> Any:
    """What is printed."""
    return _theirs(self)._insert_masked_print()


def tolist(self: Any, fill_value: Any = None) -> Any:
    """Nested lists of Python's numbers, None or fill_value where they are masked."""
    return _theirs(self).tolist(fill_value)


def var(
    self: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = NO_VALUE,
    mean: Any = NO_VALUE,
) -> Any:
    """The variance along axes of what is not masked."""
    keeps = {} if keepdims is NO_VALUE else {"keepdims": keepdims}
    if self._mask is nomask and out is None:
        made = ndarray.var(self, axis, dtype, None, ddof, keepdims, mean=mean)[()]
        if not self.ndim or not self.size or ddof < self.size // made.size:
            return made
        if not made.ndim:
            return masked
        made[...] = 1  # as NumPy's: what it divides by
        made.__setmask__(True)
        return made
    if self._mask is nomask:  # what is written to has no mask for slices without a degree of freedom
        made = np.asarray(ndarray.var(self.view(ndarray), axis, dtype, None, ddof, keepdims, mean=mean))
        is_short = isinstance(out, MaskedArray) and made.size and ddof >= self.size // made.size
        out[...] = np.where(np.isinf(made), 1, made) if is_short else made
        if is_short or getmask(out) is not nomask:
            out.__setmask__(False)
        return out
    rest = self.count(axis=axis, **keeps) - ddof
    middle = self.mean(axis, dtype, keepdims=True) if mean is NO_VALUE else mean
    away = self - middle
    if away.dtype.kind == "c":
        away = away.real**2 + away.imag**2
    else:
        away *= away  # in its own dtype: a power is computed in one that holds integers, too
    total = away.sum(axis, **keeps)
    if numpy.ndim(rest):
        made = divide(total, rest)
        made._mask = mask_or(getmaskarray(self).all(axis, **keeps), rest <= 0)  # NaN is not masked
    else:
        made = masked if rest <= 0 else divide(total, rest)
    if out is None:
        return made
    if made is masked and isinstance(out, MaskedArray):
        out.flat = 0
        out.__setmask__(True)
        return out
    _lost(out, made is masked)
    out[...] = numpy.nan if made is masked else filled(made, 0)
    if isinstance(out, MaskedArray):
        out.__setmask__(getmask(made))
    return out


def _lost(out: Any, is_gone: bool) -> None:
    """Raises MaskError where a result is masked, and has neither a mask nor NaN to say so."""
    if is_gone and out.dtype.kind in "biu" and not isinstance(out, MaskedArray):
        raise MaskError("Masked data information would be lost in one or more location.")


def _reduction(name: str, doc: str, start: Any, is_logical: bool = False) -> Any:
    """A reduction of what is not masked; start: what is put in place of the rest."""

    def method(
        self: Any,
        axis: Any = None,
        out: Any = None,
        fill_value: Any = None,
        keepdims: Any = NO_VALUE,
    ) -> Any:
        keeps = {} if keepdims is NO_VALUE else {"keepdims": keepdims}
        gone = _check_mask_axis(self._mask, axis, **keeps)
        filled_in = self.filled(start(self) if fill_value is None else fill_value)
        made = getattr(filled_in, name)(axis=axis, **keeps)
        if out is not None:
            out[...] = made
            if isinstance(out, MaskedArray):
                out.__setmask__(gone)
            elif not is_logical:
                _lost(out, True)
                copyto(out, numpy.nan, where=gone)
            return out
        if not isinstance(made, ndarray) or (not made.ndim and gone is not nomask):
            return masked if gone else made
        made = made.view(type(self))
        made.__setmask__(gone)
        if numpy.ndim(gone) and not is_logical:
            copyto(made, made.fill_value, where=gone)
        return made

    method.__name__ = method.__qualname__ = name
    method.__doc__ = doc
    return method


def _logical(name: str, doc: str, neutral: bool) -> Any:
    """all or any: a reduction without fill_value=."""
    inner = _reduction(name, doc, lambda _: neutral, True)

    def method(self: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Any:
        return inner(self, axis, out, None, keepdims)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = doc
    return method


def take(self: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """Elements at places along an axis; those at masked places are masked."""
    self = self if isinstance(self, MaskedArray) else masked_array(self)
    at, gone = filled(indices, 0), getmask(indices)
    if self._mask is not nomask:
        gone = ndarray.take(self._mask, at, axis, mode=mode) | gone
    made = ndarray.take(self._data, at, axis, mode=mode)
    if not isinstance(made, ndarray):
        made = masked if gone else made
    else:
        made = made.view(type(self))
        made.__setmask__(gone)
    if out is None:
        return made
    out[...] = made
    return out


def _flat_item(self: Any, indx: Any) -> Any:
    """Elements of a masked array by their places among all."""
    made = self.dataiter[indx]
    made = made.view(type(self.ma)) if isinstance(made, ndarray) else made
    if self.maskiter is None:
        return made
    gone = self.maskiter[indx]
    if isinstance(gone, numpy.void):
        return mvoid(made, mask=gone, hardmask=self.ma._hardmask)
    if not isinstance(gone, ndarray):
        return masked if gone else made
    gone.shape = made.shape  # of matrices
    made._mask = gone
    return made


def _inner(a: Any, b: Any) -> Any:
    """Sums of products over the last axes of both, zeros in the place of what is masked."""
    x, y = (np.atleast_1d(filled(each, 0)) for each in (a, b))
    return _as_masked(np.inner(x, y))


def _as_masked(made: Any) -> Any:
    """An array as a masked one; numbers, whose `view` knows NumPy's classes alone, as they are."""
    return made.view(MaskedArray) if isinstance(made, ndarray) else made


def _clip(theirs: Any) -> Any:
    """The program's clip, which makes a view of what it gives, and says what is filled in."""

    @functools.wraps(theirs)
    def clip(*args: Any, fill_value: Any = NO_VALUE, hardmask: Any = NO_VALUE, **options: Any) -> Any:
        made = _as_masked(np.clip(*args, **options))
        if fill_value is not NO_VALUE:
            made.fill_value = fill_value
        if hardmask is not NO_VALUE:
            made._hardmask = bool(hardmask)
        return made

    return clip


def _round(inner: Any) -> Any:
    """The program's round, which makes a view of numbers, too."""

    @functools.wraps(inner)
    def round(self: Any, decimals: Any = 0, out: Any = None) -> Any:
        if self.ndim or out is not None:
            return inner(self, decimals, out)
        made = self._data.round(decimals)
        return masked if self._mask else made

    return round


def _mean(inner: Any) -> Any:
    """The program's mean; of float16 it calls the dtype's type, which makes NumPy's arrays of ours."""

    def mean(self: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Any:
        narrow = dtype is None and out is None and self.dtype == numpy.float16 and self._mask is not nomask
        made = inner(self, axis, numpy.float32 if narrow else dtype, out, keepdims)
        if not narrow or made is masked:
            return made
        return made.astype(numpy.float16) if isinstance(made, ndarray) else numpy.float16(made)

    mean.__doc__ = inner.__doc__
    return mean


_METHODS = (take, var, _insert_masked_print, tolist)


def _mend(names: dict[str, Any]) -> None:
    """Methods that the adopted program has otherwise; some are functions of the module, too."""
    kind = names["MaskedArray"]
    finish = kind.__array_finalize__  # which compares places in memory, on a GPU too
    told = ("_interface" if n == "__array_interface__" else n for n in finish.__code__.co_names)
    finish.__code__ = finish.__code__.replace(co_names=tuple(told))
    reductions = (
        _reduction("min", "The minimum along axes of what is not masked.", names["minimum_fill_value"]),
        _reduction("max", "The maximum along axes of what is not masked.", names["maximum_fill_value"]),
        _logical("all", "Whether all elements are true that are not masked.", True),
        _logical("any", "Whether an element is true that is not masked.", False),
    )
    for method in (*_METHODS, *reductions, _mean(kind.mean), _round(kind.round)):
        setattr(kind, method.__name__, method)
    names.update((method.__name__, method) for method in _METHODS)
    names["MaskedIterator"].__getitem__ = _flat_item
    names["inner"] = names["innerproduct"] = functools.wraps(names["inner"])(_inner)
    names["clip"] = _clip(names["clip"])


__getattr__, __dir__ = home(globals(), "numpy.ma.core", _mend)
