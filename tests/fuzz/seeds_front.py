# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the front end's fuzz target: packs of kernels that take (2-D array, 1-D array, int32,
constant 16), and of a function for the IR (operator). Run it after a change of the pack format:
python tests/fuzz/seeds_front.py
"""

import math
import pathlib

import numpy as np

import tessera.tile as ct
from tessera._pack import pack_function
from tessera.cuda import _device as cuda

OUT = pathlib.Path(__file__).parent / "corpus/front"


def copy(a, b, n, N):
    ct.store(b, ct.bid(0), ct.load(b, ct.bid(0), N) + ct.sum(ct.load(a, (0, 0), (4, N)), 0))


def loops(a, b, n, N):
    acc, best = 0.0, (0.0, 1)
    for i in range(n):
        t = ct.load(b, i, 16)
        if i > 3 and n != 5:
            acc = acc + t
            best = (best[0] + 1.0, i)
        elif i == 2:
            continue
        else:
            break
    while n > 0:
        n = n // 2 if n % 2 == 0 else n - 1
    ct.store(b, 0, acc + best[0] + n)


def helper(x, *rest, scale=2, **named):
    if x > 3:
        return x * scale
    for k in range(x):
        if k == 2:
            return k
    return x + sum(rest) + len(named)


def calls(a, b, n, N):
    f = lambda x, y=1: helper(x, y, scale=3, z=4)
    total = f(n) + helper(*(n, 2))
    for k, v in ct.static_iter(enumerate((1, 2, 3))):
        total += k * v
    ct.store(b, 0, total + sum(tuple(x for x in ct.static_iter(range(4)) if x != 2)))


def shapes(a, b, n, N):
    t = ct.load(a, (0, ct.bid(1)), (N, 8), padding_mode=ct.PaddingMode.ZERO)
    u = ct.cat((t.transpose(), t.transpose()), 1).reshape((8, -1))[None, :, :]
    v = ct.extract(u, (0, 1, 0), (1, 4, 16)).reshape((4, 16)).permute((1, 0))
    ct.store(a, (0, 0), ct.where(v > 0, v, -v) @ ct.ones((4, 4), ct.float32))


def memory(a, b, n, N):
    i = ct.arange(N, dtype=ct.int32, start=n)
    x = ct.gather(a, (i, n), mask=i < n, padding_value=1.5)
    ct.scatter(b, i, x)
    ct.atomic_add(b, 0, ct.max(x))
    view = a.slice(0, 1, n).tiled_view((4, 8), traversal_steps=(2, 8))
    view.store((0, 0), view.load((1, 0)))
    a.get_raw_memory().store_offset(i, x, mask=x > 0)


def folding(a, b, n, N):
    ct.static_assert(N // 3 == 5 and N % 7 == 2 and "x" + "y" == "xy" and (1, 2)[-1] == 2)
    ct.print("n", n, f"{n:3d} {math.pi:.3f} {N}")
    ct.printf("%d %f\n", n, ct.load(b, 0, 4))
    s, i = ct.reduce(
        (ct.load(b, 0, N), ct.arange(N, dtype=ct.int32)),
        0,
        lambda p, i, q, j: (max(p, q), min(i, j)),
        (0.0, 9),
    )
    ct.store(
        b,
        0,
        ct.astype(ct.astype(s, ct.float16), ct.float32) ** 2 + ct.int8(300) + ct.float16(0.5) * i,
    )


def host(a, b, n, N):
    t = ct.load(b, 0, N)
    many = (1, 2.5, "text", None, ct.float32, {1: 2}, 1 << 70, range(N), a, True, 2j)
    u, more = ct.static_eval(answer(t, n, many))
    ct.store(b, 0, u + more[0])


def answer(t, n, many):  # tests/lang/pack.c has a host of its own
    return t + n, many


RECORD = np.dtype([("n", [("u", "i2"), ("v", "f8")]), ("h", "f4", (2, 3)), ("t", "U4"), ("s", "S2")])
TABLE = np.array([((1, 2.5), 3.0, "abc", b"d")], RECORD)


def records(a, b, n, N):
    i = cuda.threadIdx.x
    shared, local = cuda.shared.array(N, RECORD), cuda.local.array(2, RECORD)
    local[1] = TABLE[n]
    local[1].h[1, n] += b[i]
    local[0] = ((n, 1.5), b[0], "efghij", b"k")
    shared[i] = local[1]
    shared[i].n = local[0]["n"]
    shared[i].t = local[0].t
    if shared[i].t == "efgh" and shared[i].s != b"d":
        shared.h[:, 0, 1:] = 7
    a[n, i] = shared[i].h[0, 1] + len(shared[i].t) + shared.n.u[i] + shared[i][0].v


def operator(x, y, scale=2.0):
    if ct.sum(x, 0) > 0:
        return x * scale + y, ct.max(x, 0)
    return y, ct.float32(-1)


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for kernel in (copy, loops, calls, shapes, memory, folding, host, operator, records):
        pack = pack_function(kernel, dialect="thread" if kernel is records else "tile")
        name = __file__.encode()  # a path of this machine has no place in the seeds
        (OUT / f"{kernel.__name__}.pack").write_bytes(
            pack.replace(name, b"kernel.py".ljust(len(name), b"_"))
        )
