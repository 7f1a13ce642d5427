# SPDX-License-Identifier: Apache-2.0
"""The tile IR of kernels, as text, beside golden/NAME.tsir. TESSERA_BLESS=1 rewrites the files; read the
difference before it goes in.
"""

import math
import os
import pathlib

import pytest
from lower import array, array_list, lower, scalar

import tessera.tile as ct
from tessera.lib import (
    attention,
    elementwise,
    gemm,
    image,
    norm,
    random,
    reduce,
    scan,
    softmax,
    transpose,
)

GOLDEN = pathlib.Path(__file__).parent / "golden"
A, A2, A3 = array(), array(rank=2), array(rank=3)
I32 = scalar("int32")


def copy_padded(x, y):
    ct.store(
        y,
        (ct.bid(0), ct.bid(1)),
        ct.load(x, (ct.bid(0), ct.bid(1)), (8, 16), padding_mode=ct.PaddingMode.ZERO),
    )


def load_hints(x, y):
    t = ct.load(x, 0, 16, check_bounds=False, latency=3, allow_tma=False)
    ct.store(y, 0, t, latency=2, allow_tma=True)


def load_ordered(x, y):
    t = ct.load(x, 0, 16, memory_order=ct.MemoryOrder.ACQUIRE, memory_scope=ct.MemoryScope.DEVICE)
    ct.store(y, 0, t, memory_order=ct.MemoryOrder.RELEASE, memory_scope=ct.MemoryScope.SYS)


def load_order(x, y):
    ct.store(y, (0, 0), ct.load(x, (ct.bid(0), 0), (4, 8), order="F"))


def scalar_access(x, y):
    ct.store(y, ct.bid(0), ct.load(x, (ct.bid(0), 1), ()))


def bools(x, y):
    ct.store(y, 0, ct.load(x, 0, 16) & True)


def gather_masked(x, y, n):
    i = ct.bid(0) * 16 + ct.arange(16, dtype=ct.int32)
    ct.scatter(y, i, ct.gather(x, (i, 0), mask=i < n, padding_value=-1.0), mask=i < n)


def gather_unchecked(x, y):
    ct.store(y, 0, ct.gather(x, ct.arange(16, dtype=ct.int32), check_bounds=False))


def atomics(x, y):
    old = ct.atomic_add(x, ct.bid(0), 1)
    ct.atomic_cas(x, 0, old, 5, memory_order=ct.MemoryOrder.RELAXED)
    ct.atomic_max(x, ct.arange(4, dtype=ct.int32), old)


def raw_memory(x, y):
    y.get_raw_memory().store_offset(ct.bid(0), x.get_raw_memory().load_offset(ct.bid(0) + 1))


def slices(x, y, n):
    ct.store(y, (0, 0), ct.load(x.slice(0, n, n + 4).slice(1, 2, 10), (0, 0), (4, 8)))


def views(x, y):
    ct.store(
        y, 0, ct.reshape(x.tiled_view((2, 8), traversal_steps=(1, 8)).load((ct.bid(0), 0)), (16,))
    )


def advanced(x, rows, y):
    r = ct.load(rows, 0, 8)
    ct.store(y, (0, 0), ct.load_advanced_indexing(x, (r, ct.Slice(ct.bid(0), 16))))


def lists(xs, y):
    total = ct.zeros((8,), ct.float32)
    for i in range(len(xs)):
        total += ct.load(xs[i], 0, 8)
    ct.store(y, 0, total)


def arithmetic(x, y):
    t = ct.load(x, 0, 16)
    i = ct.astype(t, ct.int32)
    ct.store(y, 0, (t * 2 + 1) / 3 - t**2 + i // 3 + i % 4 - i % 3 + (i << 2) + ct.cdiv(i, 4))


def float_ops(x, y):
    t = ct.load(x, 0, 16)
    ct.store(
        y,
        0,
        ct.truediv(t, 3.0, rounding_mode=ct.RoundingMode.APPROX)
        + ct.exp2(t, flush_to_zero=True)
        + t % 2.0
        + t // 2.0
        + abs(-t),
    )


def unsigned(x, y):
    t = ct.load(x, 0, 16)
    ct.store(y, 0, ct.where(t > 3, t // 2 + t % 3, t >> 1))


def promotion(x, y):
    t = ct.load(x, 0, 16)
    ct.store(y, 0, t + ct.float16(0.1) + (t > 0) + 1)


def comparisons(x, y):
    t = ct.load(x, 0, 16)
    ct.store(y, 0, ct.where((t != t) | (t <= 1), 0.0, t))


def shapes(x, y):
    t = ct.load(x, (0, 0), (4, 8))
    u = ct.cat((ct.transpose(t), ct.transpose(t)), 1)
    ct.store(
        y,
        (0, 0),
        ct.broadcast_to(ct.expand_dims(ct.extract(u, (1, 0), (4, 1)).reshape(4), 1), (4, 8)),
    )


def reductions(x, y):
    t = ct.load(x, (0, 0), (4, 8))
    ct.store(
        y, 0, ct.sum(t, 1) + ct.max(t, 1) + ct.prod(t) + ct.astype(ct.argmax(t, 1), ct.float32)
    )


def user_reduction(x, y):
    a, b = ct.reduce(
        (ct.load(x, 0, 16), ct.arange(16, dtype=ct.int32)),
        0,
        lambda p, i, q, j: (max(p, q), min(i, j)),
        (0.0, 99),
    )
    ct.store(y, 0, a + b)


def scans(x, y):
    t = ct.load(x, 0, 16)
    ct.store(y, 0, ct.cumsum(t, 0, reverse=True) + ct.scan(t, 0, lambda a, b: a * b, 1.0))


def products(x, y):
    t = ct.load(x, (0, 0), (16, 16))
    ct.store(y, (0, 0), ct.mma(t, t, ct.zeros((16, 16), ct.float32)) + ct.astype(t @ t, ct.float32))


def loop_carried(x, y, n):
    acc = 0.0
    best = ct.load(x, 0, 16)
    for i in range(n):
        t = ct.load(x, i, 16)
        acc = acc + t
        best = ct.maximum(best, t)
    ct.store(y, 0, acc + best)


def loop_break(x, y, n):
    k = 0
    for i in range(n):
        if i * i > n:
            break
        k = i
    ct.store(y, 0, k)


def loop_while(x, y, n):
    k = n
    while k > 3 and k != 7:
        if k % 2 == 0:
            k = k // 2
            continue
        k -= 1
    ct.store(y, 0, k)


def branches(x, y, n):
    t = ct.load(x, 0, 16)
    if n > 4:
        t = t * 2
        s = 1
    elif n > 2:
        s = n
    else:
        s = 3
        t = -t
    ct.store(y, 0, t + s)


def early_return(x, y, n):
    if ct.bid(0) >= n:
        return
    ct.store(y, ct.bid(0), 1.0)


def conditional(x, y, n):
    ct.store(y, 0, (n if n > 3 else 3) + (ct.load(x, 0, ()) if n > 2 else 0.0))


def sign(v):
    if v < 0:
        return -1
    if v > 0:
        return 1
    return 0


def helper_returns(x, y, n):
    ct.store(y, 0, sign(n) + sign(n - 1))


def return_in_loop(x, y, n):
    for i in range(n):
        if i == 5:
            ct.store(y, i, 1.0)
            return
    ct.store(y, 0, 2.0)


def static_loop(x, y):
    t = ct.load(x, 0, 16)
    for k in ct.static_iter(range(3)):
        t = t * k + 1
    ct.store(y, 0, t)


def printing(x, y, n):
    ct.print("n =", n, f"{n:4d} {1.5}")
    ct.printf("%.2f %d%%\n", ct.load(x, 0, 4), n)
    ct.assert_(n > 0, "n must be positive")


def hints(x, y, n):
    n = ct.assume_divisible_by(n, 16)
    ct.store(y, n // 16, 1.0)


CASES = [
    (copy_padded, A2, A2), (load_hints, A, A), (load_ordered, A, A), (load_order, A2, A2), (scalar_access, A2, A),
    (bools, array("bool_"), array("bool_")), (gather_masked, A2, A, I32), (gather_unchecked, A, A),
    (atomics, array("int32"), A), (raw_memory, A, A), (slices, A2, A2, I32), (views, A2, A),
    (advanced, A2, array("int32"), A2), (lists, array_list(), A), (arithmetic, A, A), (float_ops, A, A),
    (unsigned, array("uint16"), array("uint16")), (promotion, array("int8"), array("float16")), (comparisons, A, A),
    (shapes, A2, A2), (reductions, A2, A), (user_reduction, A, A), (scans, A, A), (products, array("float16", 2), A2),
    (loop_carried, A, A, I32), (loop_break, A, A, I32), (loop_while, A, A, I32), (branches, A, A, I32),
    (early_return, A, A, I32), (conditional, A, A, I32), (helper_returns, A, A, I32), (return_in_loop, A, A, I32),
    (static_loop, A, A), (printing, A, A, I32), (hints, A, A, I32),
    (elementwise.chain_kernel, A, A, A, A, 1024),
    (softmax.softmax_kernel, array("bfloat16", 2), array("bfloat16", 2), 1, 64, True),
    (norm.layer_norm_kernel, A2, A, A, A2, scalar("float32"), 1, 64, False),
    (norm.rms_norm_kernel, A2, A, A2, scalar("float32"), 4, 64),
    (transpose.permute_kernel, array(rank=3), array(rank=3), (2, 0, 1), (1, 2, 0), (32, 1, 64), (2, 1, 0), (2, 1, 0)),
    (reduce.reduce_kernel, array(rank=3), array(rank=3), reduce.MAX, -math.inf, False, 1, 64, 1),
    (reduce.arg_kernel, array(rank=3), array(rank=3), array("int32", 3), True, -math.inf, False, 1, 64, 1),
    (scan.scan_kernel, A, A, array("uint64", 2), scan.SUM, 0, 0, 0, 256, True),
    (random.uniform_kernel, A, *[scalar("int32")] * 4, True),
    (gemm.gemm_kernel, A2, A2, A2, 32, 64, 16, 8, False, False, 1), (image.blur_kernel, A2, A, A2, 2, 1, 8, 32),
    (attention.attention_kernel, *[array("float16", 3)] * 4, A2, scalar("float32"), True, 1, 16, 16, 32, 4, True,
        True, False),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_lowers_to_the_golden_text(case):
    kernel, *args = case
    text = lower(getattr(kernel, "_function", kernel), *args)
    path = GOLDEN / f"{kernel.__name__}.tsir"
    if os.environ.get("TESSERA_BLESS"):
        path.write_text(text)
    assert text == path.read_text()


def test_static_extents_and_strides_are_literals():
    spec = array(rank=2, static_shape=1, static_stride=1, shape_one=2)
    spec[0].dims[0], spec[0].strides[0] = 100, 64
    text = lower(copy_padded, spec, A2)
    assert "tensor_view<100x1xf32, strides=[64, 1]>" in text
