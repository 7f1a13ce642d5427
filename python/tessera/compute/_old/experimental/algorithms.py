# SPDX-License-Identifier: Apache-2.0
"""Algorithms as objects, as the first releases had them: ``r = reduce_into(d_in, d_out, op, h_init)``, then
``r(temp_storage, d_in, d_out, num_items, h_init)``, which gives bytes for ``temp_storage=None``."""

from __future__ import annotations

from typing import Any

from ... import __dict__ as _all
from . import RENAMED

# What an object is made of, and what it is called with after the memory.
_ROWS = {
    "binary_transform": ("d_in1 d_in2 d_out op", "d_in1 d_in2 d_out num_items"),
    "exclusive_scan": ("d_in d_out op init_value", "d_in d_out num_items init_value"),
    "inclusive_scan": ("d_in d_out op init_value", "d_in d_out num_items init_value"),
    "merge_sort": (
        "d_in_keys d_in_values d_out_keys d_out_values op",
        "d_in_keys d_in_values d_out_keys d_out_values num_items",
    ),
    "radix_sort": (
        "d_in_keys d_out_keys d_in_values d_out_values order",
        "d_in_keys d_out_keys d_in_values d_out_values num_items begin_bit end_bit",
    ),
    "reduce_into": ("d_in d_out op h_init", "d_in d_out num_items h_init"),
    "segmented_reduce": (
        "d_in d_out start_offsets_in end_offsets_in op h_init",
        "d_in d_out num_segments start_offsets_in end_offsets_in h_init",
    ),
    "unary_transform": ("d_in d_out op", "d_in d_out num_items"),
    "unique_by_key": (
        "d_in_keys d_in_items d_out_keys d_out_items d_out_num_selected op",
        "d_in_keys d_in_items d_out_keys d_out_items d_out_num_selected num_items",
    ),
}
_KEPT = ("op", "order")


class _Object:
    """An algorithm with its operator."""

    def __init__(self, name: str, given: dict[str, Any]) -> None:
        self._name, self._kept = name, {word: given[word] for word in _KEPT if word in given}

    def __call__(self, temp_storage: Any, *args: Any, **given: Any) -> Any:
        called = {**self._kept, **_named(self._name, 1, args, given)}
        if called.get("num_items", 0) is None:
            called["num_items"] = called.get("d_in", called.get("d_in_keys")).shape[0]
        if self._name.endswith("transform"):
            return 1 if temp_storage is None else _all[self._name](**called)
        return _all[self._name](temp_storage=temp_storage, **called)


def _named(name: str, which: int, args: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    order, renamed = _ROWS[name][which].split(), RENAMED.get(name, {})
    if len(args) > len(order) + which:  # a stream stands last
        raise TypeError(f"{name}: {len(order)} arguments by place, found {len(args)}: {', '.join(order)}")
    found = dict(zip([*order, "stream"], args))
    return {**found, **{renamed.get(word, word): value for word, value in given.items()}}


def _maker(name: str) -> Any:
    def make(*args: Any, **given: Any) -> _Object:
        return _Object(name, _named(name, 0, args, given))

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"An object for `{name}`, made of {_ROWS[name][0].replace(' ', ', ')}."
    return make


globals().update({name: _maker(name) for name in _ROWS})
scan = globals()["exclusive_scan"]
