# SPDX-License-Identifier: Apache-2.0
"""Functions for kernels that are written out: how many inputs or fields they have is known when they are made only."""

from __future__ import annotations

import hashlib
import linecache
from typing import Any

__all__ = ["written"]

def written(text: str, space: dict[str, Any], what: str) -> dict[str, Any]:
    """Runs the text in a namespace, which then has its functions; compilers and debuggers find their source.

    Parameters
    ----------
    text : str
    space : dict
        What the text names.
    what : str
        What messages call the place.
    """
    file = f"<{what} {hashlib.sha256(text.encode()).hexdigest()[:12]}>"  # one for each text
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space.setdefault("__name__", __name__)
    exec(compile(text, file, "exec"), space)  # noqa: S102
    return space
