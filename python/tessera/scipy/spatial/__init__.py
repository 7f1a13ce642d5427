# SPDX-License-Identifier: Apache-2.0
"""Distances."""

from .._missing import of_module
from . import distance
from .distance import distance_matrix

__all__ = ["distance", "distance_matrix"]

__getattr__ = of_module("spatial")
