# SPDX-License-Identifier: Apache-2.0
"""Transforms: one operator on each item of one or more sequences. Reads each item once and writes each once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._arguments import items_in, stream_of
from ._engine import THREADS, algorithm, kernel_of, on_cpu
from ._overlap import separate
from ._text import written
from .iterators import DiscardIterator, Iterator, iterator_of
from .op import Operator, operator_of

__all__ = ["binary_transform", "for_each", "launch_transform", "transform", "unary_transform"]

ITEMS = 8  # of a thread
RUN = 16384  # items of a thread of a CPU


def _transforming(
    call: Callable[..., Any], store: Callable[..., Any], number: Callable[..., Any]
) -> Callable[..., None]:
    from ..cuda import blockIdx, threadIdx

    def transform(ins: Any, out: Any, count: Any) -> None:
        n = number(count)
        first = blockIdx.x * (THREADS * ITEMS)
        at = first + threadIdx.x
        if first + THREADS * ITEMS <= n:
            for j in range(ITEMS):
                store(out, at + j * THREADS, call(ins, at + j * THREADS))
        else:
            for j in range(ITEMS):
                if at + j * THREADS < n:
                    store(out, at + j * THREADS, call(ins, at + j * THREADS))

    return transform


def _transforming_in_chunks(
    call: Callable[..., Any], store: Callable[..., Any], number: Callable[..., Any]
) -> Callable[..., None]:
    """The same for a CPU: one thread a block, with a run of items."""
    from ..cuda import blockIdx

    def transform(ins: Any, out: Any, count: Any, run: Any) -> None:
        first = blockIdx.x * run
        for i in range(first, min(first + run, number(count))):
            store(out, i, call(ins, i))

    return transform


def called(op: Operator, inputs: list[Iterator], cast: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a kernel that gives ``op`` of the items i of some sequences."""
    space: dict[str, Any] = {"op": op.function, "cast": cast}
    items = []
    for k, it in enumerate(inputs):
        space[f"F{k}"] = it.load()
        items.append(f"F{k}(s[{k}], i)")
    written(f"def call(s, i):\n    return cast(op({', '.join(items)}))\n", space, "transform")
    return space["call"]  # type: ignore[no-any-return]


def _same(v: Any) -> Any:
    return v


@algorithm
def transform(*, d_in: Any, d_out: Any, op: Any, num_items: int, stream: Any = None) -> None:
    """``d_out[i] = op(d_in[0][i], d_in[1][i], ..)`` for each of a number of items.

    Parameters
    ----------
    d_in : list or tuple of arrays and iterators
        As many as the operator has arguments.
    d_out : array or iterator
        May be one of the inputs.
    op : function or OpKind
        Its results are converted to the items of `d_out`.
    num_items : int, or array of a device
        Of an array the first element counts, as it is when the transform runs.
    stream
        Work of it is waited for, and it may be any object with ``__cuda_stream__``.

    Raises
    ------
    ValueError
        For more items than an array has, or a negative number of them.
    TypeError
        For arguments that are no arrays, iterators, operators or streams.
    """
    if not isinstance(d_in, (list, tuple)):
        raise TypeError(f"d_in is a {type(d_in).__name__}; give a list of arrays, or call unary_transform")
    inputs = [iterator_of(it, f"d_in[{k}]") for k, it in enumerate(d_in)]
    launch_transform(
        inputs, d_out, operator_of(op, len(inputs)), num_items, stream, [f"d_in[{k}]" for k in range(len(inputs))]
    )


def launch_transform(
    inputs: list[Iterator], d_out: Any, op: Operator, num_items: Any, stream: Any, names: list[str]
) -> None:
    output, stream = iterator_of(d_out, "d_out"), stream_of(stream)
    n = items_in(num_items, "num_items", *zip(names, inputs), ("d_out", output))
    separate(n.most, dict(zip(names, inputs)), {"d_out": output}, {("d_out", name) for name in names})
    if n.most == 0:
        return
    key = (op.key, output.kind, n.kind, *(it.kind for it in inputs))
    cast = _same if output.value_type is None else output.value_type.cast
    parts = lambda: (called(op, inputs, cast), output.store(), n.load())  # noqa: E731
    if on_cpu():
        kernel = kernel_of(_transforming_in_chunks, key, parts)
        kernel[-(-n.most // RUN), 1, stream](tuple(it.state for it in inputs), output.state, n.state, RUN)
        return
    kernel = kernel_of(_transforming, key, parts)
    blocks = -(-n.most // (THREADS * ITEMS))
    kernel[blocks, THREADS, stream](tuple(it.state for it in inputs), output.state, n.state)


@algorithm
def unary_transform(*, d_in: Any, d_out: Any, op: Any, num_items: int, stream: Any = None) -> None:
    """``d_out[i] = op(d_in[i])``; see `transform`."""
    launch_transform([iterator_of(d_in, "d_in")], d_out, operator_of(op, 1), num_items, stream, ["d_in"])


@algorithm
def binary_transform(*, d_in1: Any, d_in2: Any, d_out: Any, op: Any, num_items: int, stream: Any = None) -> None:
    """``d_out[i] = op(d_in1[i], d_in2[i])``; see `transform`."""
    inputs = [iterator_of(d_in1, "d_in1"), iterator_of(d_in2, "d_in2")]
    launch_transform(inputs, d_out, operator_of(op, 2), num_items, stream, ["d_in1", "d_in2"])


@algorithm
def for_each(*, d_in: Any, op: Any, num_items: int, stream: Any = None) -> None:
    """Calls ``op(d_in[i])`` for each item; what it gives is not kept. See `transform`."""
    op = operator_of(op, 1)
    function = op.function

    def nothing(v: Any) -> Any:
        function(v)
        return 0

    called_ = Operator(nothing, ("for each", op.key), None, (1,))
    launch_transform([iterator_of(d_in, "d_in")], DiscardIterator(), called_, num_items, stream, ["d_in"])
