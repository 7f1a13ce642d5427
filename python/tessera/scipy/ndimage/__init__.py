# SPDX-License-Identifier: Apache-2.0
"""Images of any number of axes: filters, morphology, labels, moving and scaling, filters of Fourier's transform."""

from .._missing import of_module
from . import _filters, _fourier, _interpolation, _measure, _morphology, _regions
from ._filters import *
from ._fourier import *
from ._interpolation import *
from ._measure import *
from ._morphology import *
from ._regions import *

__all__ = [
    name for part in (_filters, _fourier, _interpolation, _measure, _morphology, _regions) for name in part.__all__
]  # noqa: PLE0605  gathered

__getattr__ = of_module("ndimage")
