# SPDX-License-Identifier: Apache-2.0
"""`tessera.scipy.ndimage` on CuPy's arrays, with CuPy's further arguments."""

from __future__ import annotations

from typing import Any

import numpy

from ...cupy._boundary import refuse, view_of, wrapped
from ...scipy import ndimage as _inner


def label(input: Any, structure: Any = None, output: Any = None) -> Any:
    """Numbers connected regions, as SciPy's; the structure may be NumPy's."""
    refuse(input)
    return _label(input, structure, output)


def _affine(input: Any, matrix: Any, *args: Any, texture_memory: bool = False, **options: Any) -> Any:
    """As SciPy's. ``texture_memory`` is accepted where CuPy accepts it, and changes nothing: no texture is used."""
    if texture_memory:
        _check_texture(input, matrix, *args, **options)
        options["order"] = min(options.get("order") or 1, 1)
    return _inner.affine_transform(input, matrix, *args, **options)


def _check_texture(
    input: Any, matrix: Any, offset: Any = 0.0, output_shape: Any = None, output: Any = None, order: Any = None,
    mode: str = "constant", cval: Any = 0.0, prefilter: bool = True,
) -> None:  # fmt: skip
    n = input.ndim
    filled = getattr(output, "shape", None)
    shape = None if output_shape is None else tuple(numpy.atleast_1d(output_shape))
    checks = (
        (n in (2, 3), "input has two or three axes"),
        (input.dtype == "f4", "input is float32"),
        (matrix.shape in ((n, n + 1), (n + 1, n + 1)), "matrix has the offset as its last column"),
        (_is_single(output), "output is float32"),
        (mode in ("constant", "nearest"), "mode is 'constant' or 'nearest'"),
        (filled is None or shape is None or filled == shape, "output has output_shape"),
        (shape is None or len(shape) == n, "output_shape has as many axes as the input"),
    )
    for holds, what in checks:
        if not holds:
            raise ValueError(f"With texture_memory {what}")


def _is_single(output: Any) -> bool:
    try:
        return output is None or bool(numpy.dtype(getattr(output, "dtype", output)) == "f4")
    except TypeError:
        return False


_label = wrapped(_inner.label, "label", strict=False, module=__name__)
affine_transform = wrapped(_affine, "affine_transform", module=__name__)
__getattr__, __dir__ = view_of(_inner, __name__)
