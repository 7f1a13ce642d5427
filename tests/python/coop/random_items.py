# SPDX-License-Identifier: Apache-2.0
"""Random collectives that move, sort, count and compare the items of a block or warp, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from random_collectives import DTYPES, Case, random_threads, random_values, size_of

from tessera import coop
from tessera.coop._values import linear
from tessera.cuda import _device as cuda

ARRANGEMENTS = ("blocked", "striped", "warp_striped")


def arranged(n: int, items: int, arrangement: str, width: int = 32) -> Any:
    """The places in the block of each thread's items, (threads, items)."""
    t, i = np.arange(n)[:, None], np.arange(items)[None, :]
    if arrangement == "blocked":
        return t * items + i
    if arrangement == "striped":
        return t + i * n
    first = t - t % width
    return first * items + t % width + i * np.minimum(n - first, width)


def load_store(rng: Any) -> Case:
    threads, dtype, items = random_threads(rng), str(rng.choice(DTYPES)), int(rng.integers(1, 6))
    source, target = (str(rng.choice(list(coop._memory.ALGORITHMS))) for _ in range(2))
    n = size_of(threads)
    valid = int(rng.integers(0, n * items + 1)) if rng.integers(2) else None
    fill = 3 if rng.integers(2) else None
    x = random_values(rng, n * items, dtype)

    def kernel(x, seen, out):
        mine = coop.block.load(x, items, threads=threads, algorithm=source, num_valid=valid, fill=fill)
        for i in range(items):
            seen[linear(threads), i] = mine[i]
        if (source == "striped") == (target == "striped"):
            coop.block.store(out, mine, threads=threads, algorithm=target, num_valid=valid)
        else:
            how = "striped_to_blocked" if source == "striped" else "blocked_to_striped"
            mine = coop.block.exchange(mine, how, threads=threads) if items > 1 else mine
            coop.block.store(out, mine, threads=threads, algorithm=target, num_valid=valid)

    expected = x.copy()
    expected[n * items if valid is None else valid :] = 0
    says = f"load {source} store {target} {dtype} {threads} {items=} {valid=} {fill=}"
    return Case(kernel, (x, np.zeros((n, items), dtype), np.zeros(n * items, dtype)), expected, threads, says)


def exchange(rng: Any) -> Case:
    threads, dtype, items = random_threads(rng), str(rng.choice(DTYPES)), int(rng.integers(1, 6))
    source, target = (str(a) for a in rng.permutation(ARRANGEMENTS)[:2])
    n, how, as_array = size_of(threads), f"{source}_to_{target}", bool(rng.integers(2))
    x = random_values(rng, n * items, dtype)
    given, wanted = x[arranged(n, items, source)], x[arranged(n, items, target)]

    def kernel(x, out):
        t = linear(threads)
        mine = cuda.local.array(items, x.dtype)
        for i in range(items):
            mine[i] = x[t, i]
        if as_array:
            coop.block.exchange(mine, how, threads=threads)
        else:
            mine = coop.block.exchange(tuple(mine[i] for i in range(items)), how, threads=threads)
        for i in range(items):
            out[t, i] = mine[i]

    return Case(kernel, (given, np.zeros((n, items), dtype)), wanted, threads, f"{how} {dtype} {threads} {items=}")


def scatter(rng: Any) -> Case:
    threads, dtype, items = random_threads(rng), str(rng.choice(DTYPES)), int(rng.integers(1, 6))
    to = str(rng.choice(ARRANGEMENTS))
    n = size_of(threads)
    x = random_values(rng, n * items, dtype).reshape(n, items)
    ranks = rng.permutation(n * items).astype("int32").reshape(n, items)
    whole = np.zeros(n * items, dtype)
    whole[ranks.ravel()] = x.ravel()

    def kernel(x, ranks, out):
        t = linear(threads)
        mine, at = tuple(x[t, i] for i in range(items)), tuple(ranks[t, i] for i in range(items))
        got = coop.block.scatter(mine, at, threads=threads, to=to)
        for i in range(items):
            out[t, i] = got[i]

    wanted = whole[arranged(n, items, to)]
    says = f"scatter to {to} {dtype} {threads} {items=}"
    return Case(kernel, (x, ranks, np.zeros((n, items), dtype)), wanted, threads, says)


def sorted_by(keys: Any, descending: bool) -> Any:
    """The stable order."""
    if descending:
        return len(keys) - 1 - np.argsort(keys[::-1], kind="stable")[::-1]
    return np.argsort(keys, kind="stable")


def merge_sort(rng: Any) -> Case:
    threads, items = random_threads(rng, 100), int(rng.integers(1, 5))
    dtype, descending = str(rng.choice(DTYPES[:-1])), bool(rng.integers(2))
    n, has_values = size_of(threads), bool(rng.integers(2))
    total = n * items
    valid = int(rng.integers(0, total + 1)) if rng.integers(2) else None
    x = random_values(rng, total, dtype)

    def kernel(x, out):
        mine = coop.block.load(x, items, threads=threads)
        t = linear(threads)
        places = tuple(t * items + i for i in range(items))
        compare = (lambda a, b: a > b) if descending else (lambda a, b: a < b)
        if has_values:
            mine, places = coop.block.merge_sort(mine, compare, threads=threads, values=places, num_valid=valid)
        else:
            mine = coop.block.merge_sort(mine, compare, threads=threads, num_valid=valid)
        for i in range(items):
            if valid is None or t * items + i < valid:
                out[0, t * items + i] = mine[i]
                out[1, t * items + i] = places[i]

    order = sorted_by(x[:valid], descending)
    expected = np.zeros((2, total))
    expected[0, : len(order)] = x[order]
    expected[1, : len(order)] = order if has_values else np.arange(len(order))
    says = f"merge_sort {dtype} {threads} {items=} {descending=} {valid=} values={has_values}"
    return Case(kernel, (x, np.zeros((2, total))), expected, threads, says)


def radix_sort(rng: Any) -> Case:
    threads, items = random_threads(rng, 100), int(rng.integers(1, 5))
    dtype, descending = str(rng.choice((*DTYPES[:-1], "bool"))), bool(rng.integers(2))
    n, to = size_of(threads), str(rng.choice(["blocked", "striped"]))
    total = n * items
    x = random_values(rng, total, dtype)
    bits = {"u": (0, 2), "b": (0, 1)}.get(x.dtype.kind, (0, None)) if rng.integers(2) else (0, None)
    begin, end = bits

    def kernel(x, out):
        mine, t = coop.block.load(x, items, threads=threads), linear(threads)
        places = tuple(t * items + i for i in range(items))
        mine, places = coop.block.radix_sort(
            mine, threads=threads, values=places, begin_bit=begin, end_bit=end, descending=descending, to=to
        )
        for i in range(items):
            out[t, i, 0], out[t, i, 1] = mine[i], places[i]

    order = sorted_by(x, descending)[arranged(n, items, to)]
    expected = np.stack([x[order], order], 2).astype("f8")
    says = f"radix_sort {dtype} {threads} {items=} {descending=} {to} {bits=}"
    return Case(kernel, (x, np.zeros((n, items, 2))), expected, threads, says)


def ranks(rng: Any) -> Case:
    threads, items, bits = random_threads(rng, 100), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    begin, k = int(rng.integers(0, 4)), int(rng.integers(1, 10))
    n = size_of(threads)
    x = rng.integers(0, 256, n * items).astype("uint8")

    def kernel(x, out):
        mine, t = coop.block.load(x, items, threads=threads), linear(threads)
        got = coop.block.radix_rank(mine, threads=threads, begin_bit=begin, bits=bits)
        best = coop.block.top_k(mine, k, threads=threads)
        for i in range(items):
            out[t, i, 0] = got[i]
            out[t, i, 1] = best[i] if t * items + i < k else 0

    order = np.argsort(x >> begin & ((1 << bits) - 1), kind="stable")
    rank = np.empty(n * items)
    rank[order] = np.arange(n * items)
    best = np.where(np.arange(n * items) < k, np.sort(x)[::-1], 0)
    expected = np.stack([rank, best], 1).reshape(n, items, 2)
    says = f"rank {threads} {items=} {bits=} {begin=} {k=}"
    return Case(kernel, (x, np.zeros((n, items, 2))), expected, threads, says)


def histogram(rng: Any) -> Case:
    threads, items, bins = random_threads(rng), int(rng.integers(1, 5)), int(rng.integers(1, 200))
    n, rounds = size_of(threads), int(rng.integers(1, 3))
    x = rng.integers(-2, bins + 3, rounds * n * items).astype("int32")

    def kernel(x, out):
        t, counts = linear(threads), cuda.shared.array(bins, np.int32)
        for turn in tuple(range(rounds)):
            mine = coop.block.load(x[turn * n * items :], items, threads=threads)
            coop.block.histogram(mine, counts, threads=threads, clear=turn == 0)
        for i in range(t, bins, n):
            out[i] = counts[i]

    expected = np.bincount(x[(x >= 0) & (x < bins)], minlength=bins)
    return Case(kernel, (x, np.zeros(bins, "int32")), expected, threads, f"histogram {threads} {items=} {bins=}")


def runs(rng: Any) -> Case:
    threads, of_each, items = random_threads(rng), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    n, dtype = size_of(threads), str(rng.choice(DTYPES))
    values = random_values(rng, n * of_each, dtype)
    lengths = rng.integers(0, 4, n * of_each).astype("int32") * rng.integers(0, 2, n * of_each).astype("int32")
    total = int(lengths.sum())

    def kernel(values, lengths, out, where):
        runs = coop.block.run_length_decoder(
            coop.block.load(values, of_each, threads=threads),
            coop.block.load(lengths, of_each, threads=threads), threads=threads,
        )  # fmt: skip
        first = 0
        while first < runs.total:
            got, places = runs.decode(first, items)
            coop.block.store(out[first:], got, threads=threads, num_valid=runs.total - first)
            coop.block.store(where[first:], places, threads=threads, num_valid=runs.total - first)
            first += items * n

    where = np.concatenate([np.arange(k) for k in lengths])
    arguments = (values, lengths, np.zeros(total, dtype), np.zeros(total, "int32"))

    class Both(Case):
        def check(self, run: Any) -> None:
            super().check(run)
            np.testing.assert_array_equal(self.arguments[2], np.repeat(values, lengths), err_msg=self.says)

    return Both(kernel, arguments, where, threads, f"runs {dtype} {threads} {of_each=} {items=}")


def flags(rng: Any) -> Case:
    threads, items, dtype = random_threads(rng), int(rng.integers(1, 5)), str(rng.choice(DTYPES))
    n, before, behind = size_of(threads), (2 if rng.integers(2) else None), (1 if rng.integers(2) else None)
    x = random_values(rng, n * items, dtype)

    def kernel(x, out):
        mine, t = coop.block.load(x, items, threads=threads), linear(threads)
        if items == 1:
            mine = mine[0]
        heads = coop.block.flag_heads(mine, lambda a, b: a != b, threads=threads, predecessor=before)
        tails = coop.block.flag_tails(mine, lambda a, b: a != b, threads=threads, successor=behind)
        for i in range(items):
            out[t * items + i, 0] = heads if items == 1 else heads[i]
            out[t * items + i, 1] = tails if items == 1 else tails[i]

    changes = x[1:] != x[:-1]
    first = True if before is None else before != x[0]
    last = True if behind is None else x[-1] != behind
    expected = np.stack([[first, *changes], [*changes, last]], 1)
    says = f"flags {dtype} {threads} {items=} {before=} {behind=}"
    return Case(kernel, (x, np.zeros((n * items, 2), "u1")), expected, threads, says)


def differences(rng: Any) -> Case:
    threads, items = random_threads(rng), int(rng.integers(1, 5))
    dtype = str(rng.choice(["int32", "int64", "float32", "complex64", "int8"]))
    n, before, behind = size_of(threads), (2 if rng.integers(2) else None), (1 if rng.integers(2) else None)
    valid = int(rng.integers(1, n * items + 1)) if rng.integers(2) else None
    x = random_values(rng, n * items, dtype)

    def kernel(x, out):
        mine, t = coop.block.load(x, items, threads=threads), linear(threads)
        left = coop.block.subtract_left(
            mine, lambda a, b: a - b, threads=threads, predecessor=before, num_valid=valid
        )
        right = coop.block.subtract_right(mine, lambda a, b: a - b, threads=threads, successor=behind, num_valid=valid)
        for i in range(items):
            out[t * items + i, 0], out[t * items + i, 1] = left[i], right[i]

    end = n * items if valid is None else valid
    left, right = x.copy(), x.copy()
    left[1:end] = x[1:end] - x[: end - 1]
    right[: end - 1] = x[: end - 1] - x[1:end]
    if before is not None:
        left[0] = x[0] - x.dtype.type(before)
    if behind is not None:
        right[end - 1] = x[end - 1] - x.dtype.type(behind)
    says = f"differences {dtype} {threads} {items=} {before=} {behind=} {valid=}"
    return Case(kernel, (x, np.zeros((n * items, 2), dtype)), np.stack([left, right], 1), threads, says)


def shifts(rng: Any) -> Case:
    threads, items, dtype = random_threads(rng), int(rng.integers(1, 5)), str(rng.choice(DTYPES))
    n, by = size_of(threads), int(rng.integers(-5, 6))
    edge = 3 if rng.integers(2) else None
    x = random_values(rng, n * items, dtype)

    def kernel(x, out):
        mine, t = coop.block.load(x, items, threads=threads), linear(threads)
        up = coop.block.up(mine, threads=threads, first=edge)
        down = coop.block.down(mine, threads=threads, last=edge)
        for i in range(items):
            out[t * items + i, 0], out[t * items + i, 1] = up[i], down[i]
        out[t * items, 2] = coop.block.offset(mine[0], by, threads=threads)
        out[t * items, 3] = coop.block.rotate(mine[0], by, threads=threads)

    of = x[::items]
    expected = np.zeros((n * items, 4), dtype)
    expected[:, 0] = [x[0] if edge is None else edge, *x[:-1]]
    expected[:, 1] = [*x[1:], x[-1] if edge is None else edge]
    expected[::items, 2] = [of[t + by] if 0 <= t + by < n else of[t] for t in range(n)]
    expected[::items, 3] = np.roll(of, -by)
    says = f"shifts {dtype} {threads} {items=} {by=} {edge=}"
    return Case(kernel, (x, np.zeros((n * items, 4), dtype)), expected, threads, says)


def warp_items(rng: Any) -> Case:
    width, items, dtype = int(rng.choice([4, 8, 16, 32])), int(rng.integers(1, 5)), str(rng.choice(DTYPES[:-1]))
    warps, algorithm = int(rng.integers(1, 3)), str(rng.choice(["direct", "transpose"]))
    n = 32 * warps
    valid = int(rng.integers(1, width * items + 1)) if rng.integers(2) else None
    x = random_values(rng, n * items, dtype)

    def kernel(x, out):
        first = cuda.threadIdx.x // width * width * items
        mine = coop.warp.load(x[first:], items, width=width, algorithm=algorithm, num_valid=valid, fill=1)
        lane = cuda.threadIdx.x % width
        places = tuple(lane * items + i for i in range(items))
        mine, places = coop.warp.merge_sort(mine, lambda a, b: a < b, width=width, values=places)
        coop.warp.store(out[0, first:], mine, width=width, algorithm=algorithm)
        coop.warp.store(out[1, first:], places, width=width)

    groups = x.reshape(-1, width * items).copy()
    if valid is not None:
        groups[:, valid:] = 1
    order = np.argsort(groups, 1, kind="stable")
    expected = np.stack([np.take_along_axis(groups, order, 1).ravel(), order.ravel()])
    says = f"warp items {dtype} {width=} {items=} {algorithm} {valid=}"
    return Case(kernel, (x, np.zeros((2, n * items))), expected, n, says)


KINDS = (load_store, exchange, scatter, merge_sort, radix_sort, ranks, histogram, runs, flags, differences, shifts,
         warp_items)  # fmt: skip
