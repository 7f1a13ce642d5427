# SPDX-License-Identifier: Apache-2.0
"""Linear algebra: `tessera.numeric.linalg`, and nvmath-python's ``matmul`` with its factors and its addend."""

from __future__ import annotations

import importlib as _importlib
from typing import Any

import numpy as _numpy

from ... import numeric as _numeric
from ...numeric import linalg as _linalg
from .._given import refuse as _refuse

_INSTEAD = {
    "DirectSolver": "nvmath.linalg.solve(a, b)",
    "Matmul": "nvmath.linalg.matmul(a, b)",
    "direct_solver": "nvmath.linalg.solve(a, b)",
}


def matmul(
    a: Any,
    b: Any,
    /,
    c: Any = None,
    *,
    alpha: Any = None,
    beta: Any = None,
    qualifiers: Any = None,
    options: Any = None,
    execution: Any = None,
    stream: Any = None,
) -> Any:
    """alpha a @ b + beta c; a factor of None is 1, and beta needs c, as c needs beta."""
    devices = [x.device for x in (a, b) if isinstance(x, _numeric.ndarray)]
    place = str((devices or [_numeric.default_device()])[0]).partition(":")[0]
    _refuse("linalg.matmul", place, qualifiers=qualifiers, options=options, execution=execution, stream=stream)
    return _scaled("linalg.matmul", a, b, c, alpha, beta)


def _scaled(function: str, a: Any, b: Any, c: Any, alpha: Any, beta: Any) -> Any:
    if (c is None) != (beta is None):
        given, wanted = ("beta", "c") if c is None else ("c", "beta")
        raise ValueError(f"nvmath.{function}: {given} is given without {wanted}; the result is alpha a @ b + beta c")
    made = _numeric.matmul(a, b)
    if alpha is not None:
        made = made * alpha
    if c is None:
        return made
    added = c if isinstance(c, _numeric.ndarray) else _numpy.asarray(c)
    if added.ndim != made.ndim:
        raise ValueError(
            f"nvmath.{function}: c of shape {added.shape} needs as many axes as the product of shape {made.shape}; "
            "c[:, None] is added to its columns, c[None] to its rows"
        )
    return made + added * beta


def __dir__() -> list[str]:
    return sorted({*_linalg.__all__, "advanced", "matmul"})


def __getattr__(name: str) -> Any:
    if name == "advanced":
        return _importlib.import_module(f"{__name__}.advanced")
    if name in _linalg.__all__:
        return getattr(_linalg, name)
    from ..._errors import did_you_mean

    way = f": use {_INSTEAD[name]}" if name in _INSTEAD else did_you_mean(name, __dir__())
    raise AttributeError(f"module 'nvmath.linalg' has no attribute {name!r}{way}")
