# SPDX-License-Identifier: Apache-2.0
"""The generators by name: each makes a program of a seed."""

from __future__ import annotations

from collections.abc import Callable

from . import corpus, kernels, networks, order
from .program import Program

GENERATORS: dict[str, Callable[[int], Program]] = {
    "corpus": corpus.generate,
    "kernels": kernels.generate,
    "order": order.generate,
    "networks": networks.generate,
}
