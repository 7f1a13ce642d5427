# SPDX-License-Identifier: Apache-2.0
"""The format of .npy files: NumPy's functions, which write arrays of ours and give such."""

import types

import numpy

from .._io import file_function

globals().update(
    {
        name: file_function(thing, f"NumPy's {name}.") if isinstance(thing, types.FunctionType) else thing
        for name, thing in vars(numpy.lib.format).items()
        if not name.startswith("_")
    }
)
