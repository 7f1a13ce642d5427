# SPDX-License-Identifier: Apache-2.0
"""Lines of Python run with NumPy's arrays and with ours, and what differs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import tessera.numeric as tn


def run(module: Any, line: str) -> Any:
    """What the last part of a line gives, comparable; ``z`` if it is a statement. Or the class of an exception."""
    *before, last = (part.strip() for part in line.split(";"))
    names = {"m": module, "np": np}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            for part in before:
                exec(part, names)  # noqa: S102
            found = comparable(eval(last, names))  # noqa: S307
        except Exception as error:  # noqa: BLE001
            return type(error).__name__
    return found, sorted({f"{each.category.__name__}: {each.message}" for each in told})


def comparable(made: Any) -> Any:
    """Elements, dtype, shape, and whether it is an array."""
    if isinstance(made, (tuple, list)):
        return [comparable(each) for each in made]
    array = np.asarray(made)
    is_array = hasattr(made, "shape") and not isinstance(made, np.generic)
    return str(array.dtype), array.shape, repr(array.tolist()), is_array


def differing(lines: list[str]) -> list[tuple[str, Any, Any]]:
    """The lines that give another thing than NumPy, with both."""
    found = ((line.strip(), run(np, line), run(tn, line)) for line in lines if line.strip())
    return [each for each in found if each[1] != each[2]]
