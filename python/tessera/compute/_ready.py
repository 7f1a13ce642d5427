# SPDX-License-Identifier: Apache-2.0
"""Kernels that lie packed in the library, for programs in C: what the first call of a known operator runs, without that
Python reads and packs any source.

    reduce_into of float32 by + --> "reduce_gpu dtype=float32 combine=add initial=1 counted=0"
                                --> _core.compute_about   the kernel that `_packed.py` describes; None: there is none
                                --> _core.compute_pack    its pack, where no code is kept

Only arrays of one axis and known operators have one; all else is packed as ever.
"""

from __future__ import annotations

from typing import Any

from .iterators import Iterator, ZipIterator
from .op import OpKind, Operator

__all__ = ["are_arrays", "combine_choices", "words_of", "words_of_sort"]

_COMBINES = {
    OpKind.PLUS: "add", OpKind.MULTIPLIES: "multiply", OpKind.MINIMUM: "min", OpKind.MAXIMUM: "max",
    OpKind.BIT_AND: "and", OpKind.BIT_OR: "or", OpKind.BIT_XOR: "xor",
}  # fmt: skip
_OF_WHOLE = ("and", "or", "xor")


def are_arrays(*sequences: Any) -> bool:
    """Whether all are arrays of numbers with one axis, from their first element on; also by what `kind` says."""
    kinds = (it.kind if isinstance(it, Iterator) else it for it in sequences)
    return all(kind[0] == "array" and kind[2:] == (False, 1) and _is_number(kind[1]) for kind in kinds)


def _is_number(dtype: Any) -> bool:
    """Numbers that a launch of Python hands over as what they are; bfloat16 comes as a record, whose meaning only a
    pack that Python has made tells."""
    return dtype.kind in "iufb"


def words_of(kernel: str, n: Any, *sequences: Any, **choices: Any) -> str | None:
    """The words for a kernel that works on n items; None where a sequence, or the number, is no plain array."""
    if not are_arrays(*sequences) or (n.kind is not None and not are_arrays(n.kind)):
        return None
    words = {**choices, "counted": int(n.kind is not None)}
    return " ".join((kernel, *(f"{axis}={choice}" for axis, choice in words.items())))


def combine_choices(op: Operator, kind: Any) -> dict[str, Any] | None:
    """The choices of an operator on values of a type; None where the library has none."""
    name, dtype = _COMBINES.get(op.known), kind.dtype  # type: ignore[arg-type]
    if name is None or not _is_number(dtype) or (name in _OF_WHOLE and dtype.kind not in "iu"):
        return None
    return {"dtype": dtype.name, "combine": name}


def words_of_sort(name: str, digits: Any, n: Any, source: Any, output: Any, end: str, **more: Any) -> str | None:
    """The words for a kernel of a sort of keys, or of keys and values, by all of their bits."""
    pairs = isinstance(source, ZipIterator)
    fields = [*source.children, *output.children] if pairs else [source, output]
    key = digits.key[0] if pairs else digits.key
    by_first = not pairs or digits.key[1] == 0  # parts are sorted by the field behind their numbers
    if not by_first or key[:1] != ("bits",) or len(fields) != 2 + 2 * pairs or not are_arrays(*fields):
        return None
    dtype = key[1]
    if key[2:4] != (0, 8 * dtype.itemsize):
        return None
    if not pairs:
        return words_of(f"{name}_{end}", n, dtype=dtype.name, descending=key[4], **more)
    values = fields[1].value_type.dtype
    if fields[3].value_type.dtype != values or values.kind not in "iu":  # they are moved as numbers without a sign
        return None
    return words_of(f"{name}_pairs_{end}", n, pair=f"{dtype.name}/{values.itemsize}", descending=key[4], **more)
