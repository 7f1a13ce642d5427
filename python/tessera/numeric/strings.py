# SPDX-License-Identifier: Apache-2.0
"""Functions of texts: NumPy's module, a Python program, on arrays of ours; what it asks of C the host computes."""

from ._numpys import home

__getattr__, __dir__ = home(globals(), "numpy._core.strings")
