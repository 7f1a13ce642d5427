# SPDX-License-Identifier: Apache-2.0
"""The format of .npy files: NumPy's functions; they read NumPy's arrays, tessera.numeric.load gives ours."""

from numpy.lib.format import *
