# SPDX-License-Identifier: Apache-2.0
"""The names of cuda.coop: what its factories make, refuse, and how older programs call them."""

from __future__ import annotations

import operator
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tessera import coop, cuda
from tessera.coop._values import linear
from tessera.cuda import cgutils, types
from tessera.cuda.extending import (
    lower_builtin,
    lower_constant,
    make_attribute_wrapper,
    models,
    register_model,
    type_callable,
    typeof_impl,
)

PACKAGE = str(pathlib.Path(coop.__file__).parents[2])
SHAPES = pytest.mark.parametrize("threads", [32, 96, (4, 16), (2, 4, 5)])


def least(a: Any, b: Any) -> Any:
    return a if a < b else b


@SHAPES
def test_reduce_and_sum(threads: Any) -> None:
    n = int(np.prod(threads))
    one, many = coop.block.make_reduce(np.int32, threads, least), coop.block.make_sum("int32", threads, 3)
    assert one.files == [] and many.temp_storage_alignment == 4 and one.temp_storage_bytes % 4 == 0

    @cuda.jit(link=one.files + many.files)
    def kernel(x, out):
        t = linear(threads)
        storage = cuda.shared.array(one.temp_storage_bytes, np.uint8)
        items = cuda.local.array(3, np.int32)
        for i in range(3):
            items[i] = x[t * 3 + i]
        a, b = one(x[t]), one(storage, x[t])
        c, d, e = one(storage, x[t], n // 2), many(storage, items), many(x[3 * t :])
        if t == 0:
            out[0], out[1], out[2], out[3], out[4] = a, b, c, d, e

    x, out = np.random.default_rng(n).integers(-99, 99, 3 * n).astype("i4"), np.zeros(5, "i8")
    kernel[1, threads](x, out)
    assert out.tolist() == [x[:n].min(), x[:n].min(), x[: n // 2].min(), x.sum(), x.sum()]


class Running:
    """A prefix callback that keeps what has been before."""

    def __init__(self, total: int) -> None:
        self.total = total

    def __call__(state: Any, aggregate: Any) -> Any:
        before = state[0]
        state[0] = before + aggregate
        return before


@pytest.mark.parametrize("items", [1, 2])
@pytest.mark.parametrize("mode", ["exclusive", "inclusive"])
def test_scan_with_a_prefix(mode: str, items: int) -> None:
    threads, tiles = 64, 3
    callback = coop.StatefulFunction(Running, np.int64)
    scan = coop.block.make_scan(np.int32, threads, items, mode=mode, block_prefix_callback_op=callback)

    @cuda.jit
    def kernel(x, out):
        state, mine = cuda.local.array(1, np.int64), cuda.local.array(items, np.int32)
        state[0] = 10
        for tile in range(tiles):
            first = (tile * threads + cuda.threadIdx.x) * items
            for i in range(items):
                mine[i] = x[first + i]
            if items == 1:
                mine[0] = scan(mine[0], state)
            else:
                scan(mine, mine, state)
            for i in range(items):
                out[first + i] = mine[i]

    x = np.random.default_rng(items).integers(-99, 99, tiles * threads * items).astype("i4")
    out = np.zeros_like(x)
    kernel[1, threads](x, out)
    np.testing.assert_array_equal(out, 10 + np.cumsum(x) - (x if mode == "exclusive" else 0))


@pytest.mark.parametrize(("op", "function"), [
    ("+", np.add), ("mul", np.multiply), (np.maximum, np.maximum), ("min", np.minimum), (operator.xor, np.bitwise_xor),
    ("bit_and", np.bitwise_and), ("|", np.bitwise_or), (lambda a, b: a + b, np.add),
])  # fmt: skip
def test_operators_by_name(op: Any, function: Any) -> None:
    inclusive, exclusive = (make(np.uint32, 32, op, 2) for make in (coop.block.make_inclusive_scan,
                                                                     coop.block.make_exclusive_scan))  # fmt: skip

    @cuda.jit
    def kernel(x, out):
        t, mine = cuda.threadIdx.x, cuda.local.array(2, np.uint32)
        for i in range(2):
            mine[i] = x[2 * t + i]
        got = cuda.local.array(2, np.uint32)
        inclusive(mine, got)
        exclusive(mine, mine)
        for i in range(2):
            out[0, 2 * t + i], out[1, 2 * t + i] = got[i], mine[i]

    x, out = np.random.default_rng(3).integers(1, 9, 64).astype("u4"), np.zeros((2, 64), "u4")
    kernel[1, 32](x, out)
    whole = function.accumulate(x, dtype=x.dtype)
    np.testing.assert_array_equal(out, [whole, [0, *whole[:-1]]])


def test_memory_and_sorts() -> None:
    threads, items = 32, 4
    factories = coop.block.make_load, coop.block.make_store
    load, store = (make(np.float32, threads, items, "striped") for make in factories)
    exchange = coop.block.make_exchange(coop.block.BlockExchangeType.StripedToBlocked, np.float32, threads, items)
    back = coop.block.make_exchange(coop.block.BlockExchangeType.BlockedToStriped, np.float32, threads, items)
    by_bits, falling = coop.block.make_radix_sort_keys, coop.block.make_radix_sort_keys_descending
    rising_bits, falling_bits = by_bits(np.float32, threads, items), falling(np.float32, threads, items)
    merge = coop.block.make_merge_sort_keys(np.float32, threads, items, lambda a, b: a < b)
    in_warp = coop.warp.make_merge_sort_keys(np.float32, items, lambda a, b: a > b)

    def kernel_of(sort):
        @cuda.jit
        def kernel(x):
            storage = cuda.shared.array(exchange.temp_storage_bytes, np.uint8)
            mine, other = cuda.local.array(items, np.float32), cuda.local.array(items, np.float32)
            load(storage, x, mine)
            exchange(storage, mine, other)
            sort(other)
            back(storage, other)
            store(x, other)

        return kernel

    x = np.random.default_rng(5).normal(size=threads * items).astype("f4")
    for sort, wanted in ((rising_bits, 1), (falling_bits, -1), (merge, 1), (in_warp, -1)):
        y = x.copy()
        kernel_of(sort)[1, threads](y)
        np.testing.assert_array_equal(y, np.sort(x)[::wanted])


def test_bits_of_a_radix_sort() -> None:
    sort = coop.block.make_radix_sort_keys(np.uint32, 32, 1)

    @cuda.jit
    def kernel(x):
        mine = cuda.local.array(1, np.uint32)
        mine[0] = x[cuda.threadIdx.x]
        sort(mine, np.int32(4), np.int32(6))
        x[cuda.threadIdx.x] = mine[0]

    x = np.random.default_rng(5).integers(0, 256, 32).astype("u4")
    wanted = x[np.argsort(x >> 4 & 3, kind="stable")]
    kernel[1, 32](x)
    np.testing.assert_array_equal(x, wanted)


def test_warps() -> None:
    total, before = coop.warp.make_sum(np.int32), coop.warp.make_exclusive_sum(np.int32)
    highest = coop.warp.make_reduce(np.int32, lambda a, b: max(a, b), threads_in_warp=16)

    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[0, t], out[1, t], out[2, t] = total(x[t]), before(x[t]), highest(x[t])

    x, out = np.random.default_rng(7).integers(-9, 9, 64).astype("i4"), np.zeros((3, 64), "i4")
    kernel[1, 64](x, out)
    rows = x.reshape(2, 32)
    np.testing.assert_array_equal(out[0, ::32], rows.sum(1))
    np.testing.assert_array_equal(out[1], (rows.cumsum(1) - rows).ravel())
    np.testing.assert_array_equal(out[2, ::16], x.reshape(4, 16).max(1))


# ---- classes of the user's -----------------------------------------------------------------------------


class Span:
    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high


class SpanType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Span")


span = SpanType()


@typeof_impl.register(Span)
def _typeof(value: Any, context: Any) -> Any:
    return span


@type_callable(Span)
def _typed(context: Any) -> Any:
    return lambda low, high: span if isinstance(low, types.Integer) else None


@register_model(SpanType)
class SpanModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [("first", types.int16), ("last", types.int64)])


make_attribute_wrapper(SpanType, "first", "low")
make_attribute_wrapper(SpanType, "last", "high")


@lower_builtin(Span, types.Integer, types.Integer)
def _make(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    made = cgutils.create_struct_proxy(sig.return_type)(context, builder)
    made.first, made.last = args
    return made._getvalue()


@lower_constant(SpanType)
def _constant(context: Any, builder: Any, type_: Any, value: Any) -> None: ...


def around(result: Any, a: Any, b: Any) -> None:
    result[0] = Span(min(a[0].low, b[0].low), max(a[0].high, b[0].high))


def test_class_with_a_struct() -> None:
    methods = {"construct": lambda this: None, "assign": lambda this, that: None}
    reduce = coop.block.make_reduce(span, 64, around, methods=methods)
    scan = coop.block.make_inclusive_scan(span, 64, around, 2, initial_value=Span(50, 60), methods=methods)
    assert reduce.temp_storage_bytes == 32 and reduce.temp_storage_alignment == 8
    start = Span(50, 60)

    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        mine, got = cuda.local.array(2, span), cuda.local.array(2, dtype=span)
        for i in range(2):
            mine[i] = Span(x[2 * t + i], x[2 * t + i] + 1)
        scan(mine, got, start)
        total = reduce(mine[0])
        for i in range(2):
            out[2 * t + i, 0], out[2 * t + i, 1] = got[i].low, got[i].high
        if t == 0:
            out[128, 0], out[128, 1] = total.low, total.high

    x, out = np.random.default_rng(9).integers(0, 99, 128), np.zeros((129, 2), "i8")
    kernel[1, 64](x, out)
    low, high = np.minimum.accumulate([50, *x])[1:], np.maximum.accumulate([60, *x + 1])[1:]
    np.testing.assert_array_equal(out[:128], np.stack([low, high], 1))
    assert out[128].tolist() == [x[::2].min(), x[::2].max() + 1]


# ---- mistakes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("call", "text"), [
    (lambda b: b.make_sum(np.int32, 128, 0), "items_per_thread must be an integer, 1 or more, not 0"),
    (lambda b: b.make_sum(np.int32, 128, algorithm="quick"), "'warp_reductions', 'raking'"),
    (lambda b: b.make_sum(np.int32, 2000), "threads_per_block must be an integer, 1 to 1024, not 2000"),
    (lambda b: b.make_sum(np.int32, (4, 4, 4, 4)), "threads_per_block"),
    (lambda b: b.make_sum("int33", 128), "dtype='int33' is no type of kernels"),
    (lambda b: b.make_reduce(np.int32, 128, lambda a: a), "takes 1"),
    (lambda b: b.make_reduce(np.int32, 128, 5), "binary_op must be a function or one of"),
    (lambda b: b.make_scan(np.int32, 128, 1, scan_op="median"), "scan_op must be a function or one of '+', 'add'"),
    (lambda b: b.make_scan(np.int32, 128, 1, mode="both"), "mode must be one of 'exclusive', 'inclusive'"),
    (lambda b: b.make_inclusive_scan(np.int32, 128, "*", 1, 0), "not supported for inclusive scans"),
    (lambda b: b.make_scan(np.int32, 128, 2, 7), "not supported for inclusive and exclusive sums"),
    (lambda b: b.make_inclusive_scan(span, 128, around, 2), "initial_value is required"),
    (lambda b: b.make_exchange("up", np.int32, 128, 2), "a member of BlockExchangeType"),
    (lambda b: b.make_load(np.int32, 128, 2, "sideways"), "'direct', 'striped'"),
    (lambda b: b.make_merge_sort_keys(np.int32, 128, 2, "less"), "compare_op must be a function of two values"),
    (lambda b: b.make_radix_sort_keys(np.complex64, 128, 2), "radix sort takes integers, floats and bools"),
])  # fmt: skip
def test_mistakes_of_factories(call: Any, text: str) -> None:
    with pytest.raises(ValueError) as e:
        call(coop.block)
    assert text in str(e.value)


@pytest.mark.parametrize(("call", "text"), [
    (lambda x: coop.block.sum(x[0], threads=1025), "a block has 1 to 1024 threads"),
    (lambda x: coop.block.sum(x[0], threads=32, algorithm="quick"), "algorithm='quick': reduce() has warp_reductions"),
    (lambda x: coop.block.exclusive_scan(x[0], max, threads=32), "wants initial="),
    (lambda x: coop.block.reduce(x[0], lambda a: a, threads=32), "argument"),
    (lambda x: coop.block.reduce(x[0], lambda a, b: (a, b), threads=32), "1 number, as the first argument has"),
    (lambda x: coop.block.load(x, 0, threads=32), "a thread has one item or more"),
    (lambda x: coop.block.exchange((x[0], x[1]), "up_to_down", threads=32), "striped_to_blocked"),
    (lambda x: coop.block.radix_sort(1j * x[0], threads=32), "merge_sort() takes any"),
    (lambda x: coop.block.merge_sort((x[0],), max, threads=32, values=(x[0], x[1])), "1 keys and 2 values"),
    (lambda x: coop.warp.sum(x[0], width=33), "a warp has 1 to 32 threads"),
    (lambda x: coop.warp.load(x, 2, width=12), "groups of lanes with items"),
    (lambda x: coop.block.histogram(x[0], x, threads=32, algorithm="hash"), "histogram() has atomic, sort"),
])  # fmt: skip
def test_mistakes_in_kernels(call: Any, text: str) -> None:
    @cuda.jit
    def kernel(x):
        call(x)

    with pytest.raises(Exception) as e:
        kernel[1, 32](np.ones(32, "i4"))
    assert text in str(e.value) and "^" in str(e.value), str(e.value)


def test_the_host_cannot_call() -> None:
    with pytest.raises(RuntimeError, match="inside a function decorated"):
        coop.block.make_sum(np.int32, 32)(1)
    with pytest.raises(RuntimeError, match="inside a function decorated"):
        coop.block.sum(1, threads=32)


# ---- names of the peer -----------------------------------------------------------------------------------

PROGRAM = """
import numpy as np
import cuda.coop._experimental as newest, cuda.coop as coop
import cuda.cooperative.experimental as old, cuda.cccl.cooperative.experimental as older
from cuda.cooperative.experimental import block
from numba import cuda
assert newest.block.make_sum is coop.block.make_sum and newest.warp is coop.warp
total = old.block.sum(np.int32, threads_in_block=32)
largest = older.warp.reduce(np.int32, max)
before = block.exclusive_sum(np.int32, 32, 1)

@cuda.jit(link=total.files + largest.files)
def kernel(x):
    t = cuda.threadIdx.x
    a, b, c = total(x[t]), largest(x[t]), before(x[t])
    x[t] = c
    if t == 0:
        x[0] = a + 1000 * b

x = np.arange(32, dtype="i4")
kernel[1, 32](x)
print(x[:4])
"""


def test_older_names(tmp_path: pathlib.Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "tessera", "run", "--strict", "program.py"], cwd=tmp_path, capture_output=True,
        text=True, env={**os.environ, "PYTHONPATH": PACKAGE}, check=False,
    )  # fmt: skip
    assert done.stdout == "[31496     0     1     3]\n", done.stdout + done.stderr
