# SPDX-License-Identifier: Apache-2.0
"""NumPy's ``lib``: views by strides, helpers for axes, files of arrays."""

from numpy.lib import NumpyVersion as NumpyVersion
from numpy.lib import add_docstring as add_docstring
from numpy.lib import introspect as introspect

from . import array_utils as array_utils
from . import format as format
from . import mixins as mixins
from . import npyio as npyio
from . import recfunctions as recfunctions
from . import scimath as scimath
from . import stride_tricks as stride_tricks


def __getattr__(name: str) -> object:
    """Arrayterator; private modules, for NumPy's programs that reach into them."""
    from .._numpys import View, adopt

    if name == "Arrayterator":
        return adopt("numpy.lib._arrayterator_impl")[name]
    if not name.startswith("_") or name.startswith("__"):
        raise AttributeError(f"module 'tessera.numeric.lib' has no attribute {name!r}")
    return View(f"numpy.lib.{name}")
