# SPDX-License-Identifier: Apache-2.0
"""Signals: convolution, filters, windows, spectra, waves."""

from .._missing import of_module
from . import _convolve, _filter, _rates, _spectral, _waves, windows
from ._convolve import *
from ._filter import *
from ._rates import *
from ._spectral import *
from ._waves import *
from .windows import get_window

__all__ = [
    *(name for part in (_convolve, _filter, _rates, _spectral, _waves) for name in part.__all__),
    "get_window", "windows",
]  # noqa: PLE0604  # fmt: skip

__getattr__ = of_module("signal")
