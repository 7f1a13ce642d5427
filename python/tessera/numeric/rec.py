# SPDX-License-Identifier: Apache-2.0
"""Record arrays, whose fields are attributes: NumPy's module, a Python program, on arrays of ours."""

from typing import Any

import numpy

from ._numpys import home


def _mend(names: dict[str, Any]) -> None:
    names["record"] = numpy.record  # one record is NumPy's, so that pickles find its class


__getattr__, __dir__ = home(globals(), "numpy._core.records", _mend)
