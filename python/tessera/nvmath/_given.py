# SPDX-License-Identifier: Apache-2.0
"""Arguments of nvmath-python's functions that say where and how its libraries compute, and what to do in place of
those that are not taken."""

from __future__ import annotations

from typing import Any

_ABOUT_RESULT = "call the function with the result; a chain of operations becomes one kernel by itself"
_CHOSEN = "the library chooses the algorithm by shape and dtype"
# The way out, by the argument's name.
_WAYS = {
    "algorithm": _CHOSEN,
    "epilog": _ABOUT_RESULT,
    "epilog_inputs": _ABOUT_RESULT,
    "execution": "a product is computed where its operands lie (x.to_device), a Fourier transform on the CPU",
    "options": "results have the operands' dtype; x.astype converts them",
    "preferences": _CHOSEN,
    "prolog": "call the function with the operand",
    "qualifiers": "give whole matrices: nvmath.tril, nvmath.triu, x.T, x.conj()",
    "quantization_scales": "multiply the operands by them",
    "stream": "arrays order their work by themselves; tessera.numeric.wait(x) waits for it",
}


def refuse(function: str, place: str = "cpu", **given: Any) -> None:
    """Raises for the first argument that asks for what is not there; ``execution`` may name the place, "cpu" or "cuda",
    where the call computes anyway."""
    for name, value in given.items():
        if value is not None and not (name == "execution" and isinstance(value, str) and value == place):
            raise NotImplementedError(f"nvmath.{function}: {name}={value!r} is not taken; {_WAYS[name]}")
