# SPDX-License-Identifier: Apache-2.0
"""What is kept from call to call: kernels for operators, and temporary memory."""

import linecache
import subprocess
import sys
import types

import numpy as np
import pytest

from tessera import compute
from tessera.compute import _engine, _overlap

X = np.arange(3000) % 7


def scan(op=lambda a, b: a + b):
    out = np.zeros_like(X)
    compute.exclusive_scan(d_in=X, d_out=out, op=op, init_value=np.int64(0), num_items=len(X))
    return out


def sums():
    return np.cumsum(X) - X


def twice(x):
    return 2 * x


def after(x):
    return x + 1


def composed(f, g, h):
    return lambda x: f(g(h(x)))


def test_operators_that_name_a_function_again():
    """Which one is named a second time is part of the key of the kernel."""
    for inner in (twice, after):
        out = np.zeros_like(X)
        op = composed(twice, after, inner)
        compute.unary_transform(d_in=X, d_out=out, op=op, num_items=len(X))
        assert np.array_equal(out, op(X)), inner


def test_values_of_modules_that_operators_name():
    """They count as they are, under whatever module they stand: one that is loaded again is the same."""
    given = types.ModuleType("given")
    given.inner = types.ModuleType("given.inner")
    space = {"given": given}
    exec("op = lambda x: x * given.factor + given.inner.bias", space)  # noqa: S102
    out = np.zeros_like(X)
    for factor, bias in ((2, 5), (3, 5), (3, 7), (2, 5)):
        given.factor, given.inner.bias = factor, bias
        compute.unary_transform(d_in=X, d_out=out, op=space["op"], num_items=len(X))
        assert np.array_equal(out, X * factor + bias)
    before = len(_engine._kernels)
    space["given"] = types.ModuleType("given")
    vars(space["given"]).update(factor=2, inner=given.inner)
    compute.unary_transform(d_in=X, d_out=out, op=space["op"], num_items=len(X))
    assert np.array_equal(out, X * 2 + 5) and len(_engine._kernels) == before


def test_kernels_that_are_kept_are_not_more_and_more(monkeypatch):
    monkeypatch.setattr(_engine, "_MOST_MADE", 4)
    compute.clear_all_caches()
    out = np.zeros_like(X)
    for k in range(7):
        compute.unary_transform(d_in=X, d_out=out, op=lambda x, k=k: x + k, num_items=len(X))
        assert np.array_equal(out, X + k) and len(_engine._kernels) <= 4
    lines = len(linecache.cache)
    for _ in range(3):
        compute.clear_all_caches()
        compute.unary_transform(d_in=X, d_out=out, op=twice, num_items=len(X))
    assert len(linecache.cache) == lines


LOST = """
import numpy as np
from tessera import _core, compute
for turn in range(10):
    out = np.zeros(9000, np.int64)
    compute.inclusive_scan(d_in=np.ones(9000, np.int64), d_out=out, op=compute.OpKind.PLUS, num_items=9000)
    assert np.array_equal(out, np.arange(1, 9001))
    if turn % 4 == 0:  # calls of few turns are made again by the short way (_replay.py)
        _core.reset("cpu")
"""


def test_memory_that_was_lost():
    """In a process of its own: the arrays of other tests would be lost, too."""
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_memory_of_a_kernel_that_failed(monkeypatch):
    """Its counters may not be zero, so the next call takes others."""

    def fails():
        raise RuntimeError("as a launch that fails")

    compute.clear_all_caches()
    scan()
    assert _engine._kept
    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="as a launch"):
        patch.setattr(_engine, "_waiting", lambda stream: fails)
        scan()
    assert not _engine._kept
    assert np.array_equal(scan(), sums())


def test_watched_scans(monkeypatch):
    """Nothing reads what nobody wrote, nor races, where threads are watched."""
    monkeypatch.setenv("TESSERA_CHECKED", "races")
    compute.clear_all_caches()
    try:
        assert np.array_equal(scan(lambda a, b: b + a), sums())
    finally:
        compute.clear_all_caches()


def test_temporary_arrays_lie_in_one_block(monkeypatch):
    """Side by side; what is written to one does not reach another."""
    monkeypatch.setattr(_engine, "_kept", {})
    monkeypatch.setattr(_engine._calls, "taken", [])
    needs = (np.int64, 3), (np.uint8, 257), (np.dtype([("a", "i4"), ("b", "f8")]), 5), (np.int32, 0)
    arrays = _engine.Memory(_engine.POOL, 0).take(*needs)
    assert [(array.dtype, array.shape) for array in arrays] == [(dtype, (max(1, n),)) for dtype, n in needs]
    assert len({id(array._memory) for array in arrays}) == 1
    assert [array._offset for array in arrays] == [0, 256, 768, 1024]
    for i, array in enumerate(arrays):
        array._elements.view(np.uint8)[:] = i
    assert all((array._elements.view(np.uint8) == i).all() for i, array in enumerate(arrays))


def test_no_more_than_so_many_bytes_are_kept(monkeypatch):
    monkeypatch.setattr(_engine, "_ALL_KEPT", 300_000)
    _engine.clear_all_caches()
    for n in (30_000, 31_000, 32_000, 33_000):
        x = np.arange(n, dtype=np.uint16)[::-1].copy()  # the library sorts wider ones
        compute.radix_sort(d_in_keys=x, d_out_keys=x, num_items=n)
        assert x[0] == 0 and x[-1] == n - 1
    kept = sum(array.nbytes for arrays in _engine._kept.values() for array in arrays)
    assert 0 < kept <= 300_000


class _Idle:
    """A kernel that does nothing."""

    def __getitem__(self, launch):
        return lambda *args: None


def test_memory_of_the_caller_is_all_that_is_taken(monkeypatch):
    """Also by the algorithms that an algorithm stands on."""
    n, add, zero = 3000, compute.OpKind.PLUS, np.int64(0)
    x, out, one = np.sort(np.random.default_rng(0).integers(0, 99, n)), np.zeros(2 * n, np.int64), np.zeros(2, np.int64)
    parts = {"num_segments": 2, "start_offsets_in": np.array([0, 7]), "end_offsets_in": np.array([7, n])}
    array = {"d_in": x, "d_out": out, "num_items": n}
    keys = {"d_in_keys": x, "d_out_keys": out, "num_items": n}
    sets = {"d_in1": x, "num_items1": n, "d_in2": x, "num_items2": 9, "d_out": out, "d_num_out": one}
    calls = [
        (compute.argmin, array), (compute.adjacent_difference, array), (compute.inclusive_scan, {**array, "op": add}),
        (compute.nth_element, {**array, "n": 9}), (compute.top_k, {**keys, "k": 9}), (compute.radix_sort, keys),
        (compute.merge_sort, {**keys, "op": lambda a, b: a < b}), (compute.segmented_sort, {**keys, **parts}),
        (compute.segmented_top_k, {**keys, **parts, "k": 2}), (compute.set_union, sets),
        (compute.segmented_reduce, {"d_in": x, "d_out": out, "op": add, "h_init": zero, **parts}),
        (compute.segmented_inclusive_scan, {**array, **parts, "op": add}), (compute.set_symmetric_difference, sets),
        (compute.remove_if, {**array, "d_num_selected_out": one, "cond": lambda v: v > 3}),
    ]  # fmt: skip

    def pooled(*given):
        raise AssertionError("memory of the pool")

    monkeypatch.setattr(_engine.Memory, "_pooled", pooled)
    monkeypatch.setattr(_engine, "_kernels", {})
    monkeypatch.setattr(_engine, "_jitted", lambda function, bounds, source=None: _Idle())
    for function, given in calls:
        storage = np.zeros(function(**given, temp_storage=None), np.uint8)
        function(**given, temp_storage=storage)


def test_arrays_with_dtypes_of_their_own_have_a_range():
    """Those of torch are no dtypes of NumPy."""
    interface = {"shape": (4, 3), "typestr": "<f4", "data": (1024, False), "strides": (-16, 4), "version": 3}
    array = types.SimpleNamespace(__cuda_array_interface__=interface, dtype="torch.float32")
    assert _overlap.range_of(array) == (1024 - 48, 1024 + 8 + 4)
