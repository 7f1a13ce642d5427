# SPDX-License-Identifier: Apache-2.0
"""``TESSERA_CHECKED``, and the option ``checked`` of kernels: what they are to report."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["OFF", "ON", "RACES", "level_of", "wished"]

OFF, ON, RACES = 0, 1, 2
_LEVELS: dict[Any, int] = {False: OFF, None: OFF, True: ON, "races": RACES}
_WISHES = {"": OFF, "0": OFF, "1": ON, "races": RACES}


def level_of(given: Any, what: str) -> int:
    """The level that an option asks for; ValueError names what may be given."""
    level = _LEVELS.get(given) if isinstance(given, (bool, str)) or given is None else None
    if level is None:
        raise ValueError(f"{what}: checked is True, False or \"races\"")
    return level


def wished() -> int:
    """The level that the environment asks for, of every kernel."""
    wish = os.environ.get("TESSERA_CHECKED", "0")
    if wish not in _WISHES:
        raise ValueError(
            f"TESSERA_CHECKED={wish}: it takes 1 (every kernel), races (kernels of threads are watched, too) or 0"
        )
    return _WISHES[wish]
