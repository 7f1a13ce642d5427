# SPDX-License-Identifier: Apache-2.0
"""Making arrays, and the way from and to NumPy, which is imported only here and only when asked for."""

from __future__ import annotations

from typing import Any

from . import _core

__all__ = ["array", "asarray", "full"]


def array(obj: Any, dtype: Any = None, device: str | None = None) -> _core.Array:
    """A new array with the elements of ``obj``.

    Parameters
    ----------
    obj : array-like
        A NumPy, torch, CuPy or Tessera array, any buffer or DLPack object, or (with NumPy installed)
        nested lists of numbers.
    dtype : dtype, optional
        Element type; needs NumPy when it differs from that of ``obj``.
    device : str, optional
        ``"cpu"`` (default for host data), ``"cuda"`` or ``"cuda:N"``.

    Returns
    -------
    Array
        Row-major, on ``device``.
    """
    if isinstance(obj, (int, float, complex, bool, list, tuple)) or dtype is not None:
        import numpy

        if isinstance(obj, _core.Array):
            obj = to_numpy(obj)
        if dtype is None:
            obj = numpy.asarray(obj)
        else:
            obj = numpy.asarray(obj).astype(numpy_dtype(dtype))
    return _core.copy_of(obj, device)


def asarray(obj: Any, device: str | None = None) -> _core.Array:
    """``obj`` itself if it is an Array on ``device`` already, otherwise ``array(obj, device=device)``."""
    if isinstance(obj, _core.Array) and (device is None or obj.device == device):
        return obj
    return array(obj, device=device)


def full(shape: Any, value: Any, dtype: Any = "float32", device: str | None = None) -> _core.Array:
    """A new array with every element ``value``."""
    import numpy

    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return _core.copy_of(numpy.full(shape, value, numpy_dtype(dtype)), device)


def numpy_dtype(dtype: Any) -> Any:
    """The NumPy dtype of the same name; bfloat16 and narrow floats come from ml_dtypes."""
    import numpy

    name = getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]
    if name in ("bool_", "bool"):
        return numpy.dtype(bool)
    try:
        return numpy.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(
            f"NumPy has no dtype {name}; install ml_dtypes, or use .view('uint16')"
        ) from None
    return numpy.dtype(getattr(ml_dtypes, name))


def to_numpy(source: _core.Array) -> Any:
    """A new NumPy array with the elements of ``source``; waits for its device."""
    import numpy

    dtype = numpy_dtype(source.dtype)
    result = numpy.empty(source.shape, dtype)
    plain = dtype.kind in "biufc"
    source._to_host(result if plain else result.view(f"u{dtype.itemsize}"))
    return result


def as_numpy(source: _core.Array, dtype: Any = None, copy: bool | None = None) -> Any:
    """NumPy's ``__array__``: shares host memory, copies GPU memory."""
    import numpy

    shared = source.device == "cpu" and not copy and numpy_dtype(source.dtype).kind in "biufc"
    result = numpy.asarray(memoryview(source)) if shared else to_numpy(source)
    return result if dtype is None else result.astype(dtype, copy=False)


def to_list(source: _core.Array) -> Any:
    """Nested lists of Python numbers."""
    return to_numpy(source).tolist()
