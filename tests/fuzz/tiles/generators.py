# SPDX-License-Identifier: Apache-2.0
"""The generators by name: each makes a case of a seed. `MIXED` are the shares of a mixed run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from . import complex_kernels, constants, corpus, hardware, irtext, kernels, networks, order, threads
from .program import Outcome


class Case(Protocol):
    """What a generator makes."""

    def run(self, device: str) -> Outcome: ...
    def describe(self) -> str: ...


GENERATORS: dict[str, Callable[[int], Case]] = {
    "corpus": corpus.generate,
    "kernels": kernels.generate,
    "functions": kernels.generate_functions,
    "order": order.generate,
    "networks": networks.generate,
    "complex": complex_kernels.generate,
    "irtext": irtext.generate,
    "threads": threads.generate,
    "hardware": hardware.generate,
    "constants": constants.generate,
}
MIXED = ["kernels", "order"] * 9 + ["networks", "complex", "functions"]
