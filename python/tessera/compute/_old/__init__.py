# SPDX-License-Identifier: Apache-2.0
"""What programs for older releases import, as ``cuda.cccl.parallel`` and ``cuda.parallel``."""

from __future__ import annotations

from typing import Any

__all__ = ["reduce"]


def reduce(data: Any, init: Any, op: Any, stream: Any = None) -> Any:
    """``init op data[0] op data[1] ..``, as a number.

    Parameters
    ----------
    data : array
    init : number
        Converted to the dtype of the array, unless it is one of NumPy.
    op : function or OpKind
    stream
        None, or any object with ``__cuda_stream__``.

    Returns
    -------
    numpy.generic
    """
    import numpy

    from ... import cuda
    from .._reduce import reduce_into
    from ..iterators import dtype_of

    if not isinstance(init, (numpy.generic, numpy.ndarray)) and not hasattr(type(init), "__tessera_type__"):
        init = numpy.asarray(init, dtype_of(data))[()]
    out = cuda.device_array(1, getattr(init, "dtype", None))
    size = int(numpy.prod(data.shape))
    reduce_into(d_in=data, d_out=out, num_items=size, op=op, h_init=init, stream=stream)
    return out.copy_to_host()[0]
