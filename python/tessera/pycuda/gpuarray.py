# SPDX-License-Identifier: Apache-2.0
"""Arrays in device memory with numpy's manners: ``gpuarray.to_gpu(a) * 2 + b``.

Any strides, shapes and dtypes go together as in numpy, with its broadcasting and its dtypes of
results. Work goes to the default stream unless a function is given another.
"""

from __future__ import annotations

from . import _array, _functions
from ._array import *  # noqa: F403
from ._dtypes import vec
from ._functions import *  # noqa: F403

_INNER = ("apply", "common_form")
__all__ = ["vec", *(n for n in _array.__all__ if n not in _INNER), *_functions.__all__]
