# SPDX-License-Identifier: Apache-2.0
"""Random collectives beside NumPy: each `Case` is a kernel of one block, its arguments, and what its last argument is
to hold. Values are small whole numbers, so that sums of floats are exact in any order."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tessera import coop
from tessera.coop._values import linear
from tessera.cuda import _device as cuda

DTYPES = (*(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float16", "float32", "float64",
          "complex64")  # fmt: skip


@dataclass(frozen=True)
class Map:
    """x -> a x + b, modulo 7; to do one after the other is associative and does not commute."""

    a: Any
    b: Any


def after(f: Any, g: Any) -> Map:
    return Map(f.a * g.a % 7, (f.b * g.a + g.b) % 7)


def lesser(a: Any, b: Any) -> Any:
    return b if b < a else a


OPERATORS = {"+": operator.add, "max": max, "lesser": lesser, "last": lambda a, b: b, "&": operator.and_}


@dataclass
class Case:
    kernel: Callable[..., None]
    arguments: tuple[Any, ...]
    expected: Any
    threads: Any
    says: str

    def check(self, run: Callable[..., Any]) -> None:
        run(self.kernel, self.arguments, self.threads)
        np.testing.assert_array_equal(self.arguments[-1], self.expected, err_msg=self.says)


def random_threads(rng: Any, most: int = 130) -> Any:
    """A shape of a block: odd numbers, whole warps, two and three axes."""
    which = rng.integers(5)
    if which == 0:
        return int(rng.integers(1, most))
    if which == 1:
        return int(32 * rng.integers(1, most // 32 + 1))
    if which == 2:
        return (int(rng.integers(1, 9)), int(rng.integers(1, most // 8)))
    if which == 3:
        return (int(rng.integers(1, 5)), int(rng.integers(1, 5)), int(rng.integers(1, most // 16)))
    return int(rng.choice([1, 31, 32, 33, 64, 96, 127, 128]))


def size_of(threads: Any) -> int:
    return int(np.prod(threads))


def random_values(rng: Any, n: int, dtype: str) -> Any:
    x = rng.integers(0, 4, n)
    if np.dtype(dtype).kind not in "ub":
        x = x - 2
    return (x + 1j * rng.integers(0, 3, n)).astype(dtype) if dtype.startswith("complex") else x.astype(dtype)


def random_operator(rng: Any, dtype: str) -> tuple[str, Any]:
    kind = np.dtype(dtype).kind
    names = ["+", "last"] + ["max", "lesser"] * (kind != "c") + ["&"] * (kind in "iu")
    name = str(rng.choice(names))
    return name, OPERATORS[name]


def folded(op: Any, values: Any, dtype: Any) -> Any:
    """The inclusive scan, of the dtype after each step."""
    with np.errstate(all="ignore"):
        return np.array(list(itertools.accumulate(values, lambda a, b: np.asarray(op(a, b)).astype(dtype)[()])), dtype)


def reduction(rng: Any) -> Case:
    threads, dtype, items = random_threads(rng), str(rng.choice(DTYPES)), int(rng.integers(1, 5))
    name, op = random_operator(rng, dtype)
    n = size_of(threads)
    valid = int(rng.integers(1, n * items + 1)) if rng.integers(2) else None
    x = random_values(rng, n * items, dtype)
    broadcast = bool(rng.integers(2))

    def kernel(x, out):
        t = linear(threads)
        mine = tuple(x[t * items + i] for i in range(items))
        if items == 1:
            mine = x[t]
        if valid is None:
            total = coop.block.reduce(mine, op, threads=threads, broadcast=broadcast)
        else:
            total = coop.block.reduce(mine, op, threads=threads, num_valid=valid, broadcast=broadcast)
        if broadcast or t == 0:
            out[t] = total

    out = np.zeros(n, dtype)
    expected = out.copy()
    expected[: n if broadcast else 1] = folded(op, x[:valid], x.dtype)[-1]
    return Case(kernel, (x, out), expected, threads, f"reduce {name} {dtype} {threads} {items=} {valid=} {broadcast=}")


def block_scan(rng: Any) -> Case:
    threads, dtype, items = random_threads(rng), str(rng.choice(DTYPES)), int(rng.integers(1, 5))
    name, op = random_operator(rng, dtype)
    n, inclusive, start = size_of(threads), bool(rng.integers(2)), int(rng.integers(0, 3))
    has_start, has_prefix, as_array = bool(rng.integers(2)), bool(rng.integers(3) == 0), bool(rng.integers(2))
    mode = "inclusive" if inclusive else "exclusive"
    initial = start if has_start or (not inclusive and not has_prefix) else None
    x = random_values(rng, n * items, dtype)

    def kernel(x, totals, out):
        t = linear(threads)
        mine = tuple(x[t * items + i] for i in range(items))
        if as_array:
            mine = local_array(mine)
        prefix = (lambda total: op(total, total)) if has_prefix else None
        got, total = coop.block.scan(
            mine, op, threads=threads, mode=mode, initial=initial, prefix=prefix, aggregate=True
        )
        totals[t] = total
        for i in range(items):
            out[t * items + i] = got[i]

    inner = folded(op, x, x.dtype)
    with np.errstate(all="ignore"):
        first = np.asarray(op(inner[-1], inner[-1])).astype(dtype)[()] if has_prefix else initial
    if first is not None:
        whole = folded(op, [np.asarray(first).astype(dtype)[()], *x], x.dtype)
        expected = whole[1:] if inclusive else whole[:-1]
    else:
        expected = inner
    arguments = (x, np.zeros(n, dtype), np.zeros(n * items, dtype))
    says = f"scan {mode} {name} {dtype} {threads} {items=} {initial=} prefix={has_prefix} array={as_array}"
    return Case(kernel, arguments, expected, threads, says)


def local_array(items: Any) -> Any:
    array = cuda.local.array(len(items), items[0].dtype)
    for i in range(len(items)):
        array[i] = items[i]
    return array


def records(rng: Any) -> Case:
    """Values of several numbers, by an operator that does not commute."""
    threads = random_threads(rng)
    n = size_of(threads)
    x = rng.integers(0, 7, (n, 2)).astype("int32")

    def kernel(x, out):
        t = linear(threads)
        mine = Map(x[t, 0], x[t, 1])
        total = coop.block.reduce(mine, after, threads=threads, broadcast=True)
        before = coop.block.exclusive_scan(mine, after, Map(1, 0), threads=threads)
        out[t, 0], out[t, 1] = total.a, total.b
        out[t, 2], out[t, 3] = before.a, before.b

    steps = list(itertools.accumulate((Map(int(a), int(b)) for a, b in x), after, initial=Map(1, 0)))
    total = functools.reduce(after, (Map(int(a), int(b)) for a, b in x))
    expected = np.array([(total.a, total.b, s.a, s.b) for s in steps[:-1]], "int32")
    return Case(kernel, (x, np.zeros((n, 4), "int32")), expected, threads, f"records {threads}")


def warp_scan(rng: Any) -> Case:
    dtype, width = str(rng.choice(DTYPES)), int(rng.choice([1, 2, 4, 8, 16, 32]))
    name, op = random_operator(rng, dtype)
    warps = int(rng.integers(1, 4))
    n = 32 * warps
    x = random_values(rng, n, dtype)
    valid = int(rng.integers(1, width + 1))

    def kernel(x, out):
        t = linear(n)
        out[t, 0] = coop.warp.reduce(x[t], op, width=width, broadcast=True)
        out[t, 1] = coop.warp.reduce(x[t], op, width=width, num_valid=valid, broadcast=True)
        out[t, 2], total = coop.warp.inclusive_scan(x[t], op, width=width, aggregate=True)
        out[t, 3] = coop.warp.exclusive_scan(x[t], op, 1, width=width)
        out[t, 4] = total

    rows = []
    for group in x.reshape(-1, width):
        inner = folded(op, group, x.dtype)
        before = folded(op, [x.dtype.type(1), *group], x.dtype)[:-1]
        last = np.full(width, inner[-1])
        rows.append(np.stack([last, np.full(width, inner[valid - 1]), inner, before, last], 1))
    return Case(kernel, (x, np.zeros((n, 5), dtype)), np.concatenate(rows), n, f"warp {name} {dtype} {width=} {valid=}")


KINDS = (reduction, block_scan, records, warp_scan)
