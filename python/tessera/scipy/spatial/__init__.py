# SPDX-License-Identifier: Apache-2.0
"""Distances."""

from . import distance
from .distance import distance_matrix

__all__ = ["distance", "distance_matrix"]
