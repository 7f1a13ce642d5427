# SPDX-License-Identifier: Apache-2.0
"""Functions of texts by their older names, and `chararray`: NumPy's module, a Python program, on arrays of ours."""

from ._numpys import home

__getattr__, __dir__ = home(globals(), "numpy._core.defchararray")
