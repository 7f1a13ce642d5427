# SPDX-License-Identifier: Apache-2.0
"""The refusals that the language states. Any other refusal of a generated program is a failure."""

from __future__ import annotations

import re

# name of the rule, and what its message looks like
RULES = [
    ("negative stride", r"axis \d+ has a negative stride"),
]


def stated(text: str) -> str | None:
    """The name of the rule that a refusal follows."""
    return next((name for name, pattern in RULES if re.search(pattern, text)), None)
