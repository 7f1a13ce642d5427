# SPDX-License-Identifier: Apache-2.0
"""The array standard to the letter: its names alone, on arrays of :mod:`tessera.numeric` that follow it.

``xp = x.__array_namespace__()``, or ``from tessera.numeric import array_api as xp``. Functions and memory are those of
`tessera.numeric`, whose meaning is NumPy's; where the standard wants another one (infinities in ``//``, elements and
sums without axes that are arrays, `finfo`, `eig`), it is here (ADR 0034).
"""

from ._standard import names as _names

globals().update(_names())
__all__ = sorted(_name for _name in globals() if not _name.startswith("_"))  # noqa: PLE0605


def __dir__() -> list[str]:
    return __all__
