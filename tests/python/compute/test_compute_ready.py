# SPDX-License-Identifier: Apache-2.0
"""Known operators on plain arrays run kernels that lie packed in the library: no source is read. Others are packed."""

from __future__ import annotations

import numpy as np
import pytest

from tessera import _core, _pack, compute, cuda
from tessera.compute import OpKind, _engine

N = 20_000


@pytest.fixture(autouse=True)
def packed(monkeypatch):
    """The kernels that Python packs."""
    names = []
    pack = _pack.pack_kernel
    monkeypatch.setattr(_engine, "_keeps", True)
    monkeypatch.setattr(_engine, "name_of", lambda *_: None)  # what processes before have packed
    monkeypatch.setattr(_pack, "pack_kernel", lambda fn, *rest: (names.append(fn.__name__), pack(fn, *rest))[1])
    compute.clear_all_caches()
    yield names
    compute.clear_all_caches()


def items(dtype):
    return (np.random.default_rng(7).random(N) * 100).astype(dtype)


@pytest.mark.parametrize("dtype", [np.int16, np.uint64, np.float32])
def test_known_operators_pack_nothing(packed, dtype):
    x, n = items(dtype), {"num_items": N}
    out, one, count, places = np.zeros_like(x), np.zeros(1, dtype), np.zeros(1, np.int64), np.zeros(N, np.uintp)
    compute.reduce_into(d_in=x, d_out=one, op=OpKind.MAXIMUM, h_init=dtype(3), **n)
    assert one[0] == x.max()
    compute.reduce_into(d_in=x, d_out=one, op=min, **n)
    assert one[0] == x.min()
    compute.inclusive_scan(d_in=x, d_out=out, op=lambda a, b: a + b, **n)
    np.testing.assert_allclose(out, np.cumsum(x, dtype=dtype), rtol=1e-5)
    compute.exclusive_scan(d_in=x, d_out=out, op=OpKind.MINIMUM, init_value=dtype(50), **n)
    assert (out == np.minimum(50, np.minimum.accumulate(np.r_[dtype(50), x[:-1]]))).all()
    compute.radix_sort(d_in_keys=x, d_out_keys=out, order=compute.SortOrder.DESCENDING, **n)
    assert (out == np.sort(x)[::-1]).all()
    values, moved = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)
    compute.radix_sort(d_in_keys=x, d_out_keys=out, d_in_values=values, d_out_values=moved, **n)
    assert (moved == np.argsort(x, kind="stable")).all()
    flags = x > 50
    compute.select_flagged(d_in=x, d_flags=flags, d_out=out, d_num_selected_out=count, **n)
    assert (out[: count[0]] == x[flags]).all() and count[0] == flags.sum()
    ordered = np.sort(x)
    compute.unique(d_in=ordered, d_out=out, d_num_selected_out=count, op=OpKind.EQUAL_TO, **n)
    assert (out[: count[0]] == np.unique(x)).all()
    compute.upper_bound(d_data=ordered, d_values=x, num_values=N, d_out=places, **n)
    assert (places == np.searchsorted(ordered, x, "right")).all()
    assert packed == []


def test_what_is_not_plain_is_packed(packed):
    x, one, wide = items(np.float32), np.zeros(1, np.float32), np.zeros(1)
    compute.reduce_into(d_in=x, d_out=one, num_items=N, op=lambda a, b: a + b + 0 * b, h_init=np.float32(0))
    compute.reduce_into(d_in=x, d_out=wide, num_items=N, op=OpKind.PLUS, h_init=np.float32(0))
    assert len(packed) == 2 and wide[0] == np.float32(wide[0])
    counted = compute.CountingIterator(np.float32(0))
    compute.reduce_into(d_in=counted, d_out=one, num_items=10, op=OpKind.PLUS, h_init=np.float32(0))
    assert len(packed) == 3 and one[0] == 45


def test_values_that_are_no_whole_numbers_are_sorted_as_they_are(packed):
    x, values = items(np.uint32), items(np.float32)
    out, moved = np.zeros_like(x), np.zeros_like(values)
    given = {"d_in_keys": x, "d_out_keys": out, "d_in_values": values, "d_out_values": moved, "num_items": N}
    memory = np.empty(compute.radix_sort(**given, temp_storage=None), np.uint8)
    compute.radix_sort(**given, temp_storage=memory)  # without it the library sorts, where the processor has vectors
    assert (moved == values[np.argsort(x, kind="stable")]).all() and packed


def test_packs_are_found_by_their_choices():
    words = "reduce_gpu dtype=float32 combine=max initial=1 counted=0"
    name, file, parameters = _core.compute_about(words)
    assert (name, file, parameters[0]) == ("reduce", "tessera/compute/_reduce.py", "src")
    assert len(_core.compute_pack(words)) > 10_000
    assert _core.compute_pack(words.replace("max", "add")) != _core.compute_pack(words)
    assert _core.compute_about("reduce_gpu combine=own")[0] == "reduce" and _core.compute_about("nothing") is None
    for none in ("nothing", "reduce_gpu dtype=complex64", "reduce_gpu combine=own", "select_gpu bytes=3", "merge x=1",
                 "sort_count_pairs_gpu pair=int32/16", "sort_count_pairs_gpu pair=", "reduce_gpu initial=2"):  # fmt: skip
        assert _core.compute_pack(none) is None, none


def test_memory_becomes_zero():
    for dtype in (np.int64, np.int8):
        x = np.ones(7, dtype)
        _core.compute_clear(None, x)
        assert not x.any()
    with pytest.raises(TypeError, match="without gaps"):
        _core.compute_clear(None, np.ones(8)[::2])
    with pytest.raises(TypeError, match="without gaps"):
        _core.compute_clear(None, 3)
    still = np.ones(8)
    still.flags.writeable = False
    with pytest.raises(TypeError, match="read-only"):
        _core.compute_clear(None, still)
    out = np.empty_like(x)
    with pytest.raises(TypeError, match="compute_sums: pass arrays of one axis"):
        _core.compute_sums(None, x.size + 1, x, out)
    with pytest.raises(ValueError, match="n is -1; it cannot be less than 0"):
        _core.compute_sums(None, -1, x, out)
    with pytest.raises(TypeError, match="pass one number as the initial value"):
        _core.compute_sums(None, x.size, x, out, [1])
    assert still.all()


def test_parts_of_whole_numbers_are_sorted_by_their_keys(packed):
    x, out, bounds = items(np.int64), np.zeros(N, np.int64), np.arange(0, N + 1, N // 4)
    compute.segmented_sort(
        d_in_keys=x, d_out_keys=out, num_items=N, num_segments=4, start_offsets_in=bounds[:-1],
        end_offsets_in=bounds[1:],
    )
    assert (out == np.sort(x.reshape(4, -1)).reshape(-1)).all()


@pytest.mark.parametrize("where", [np.asarray, cuda.to_device])
@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_short_floats_are_found_or_packed(where, name):
    dtype = np.dtype(getattr(pytest.importorskip("ml_dtypes"), name, name))
    x = np.arange(60, dtype=np.float32).astype(dtype)[::-1].copy()
    given, out, one = where(x), where(np.zeros_like(x)), where(np.zeros(1, dtype))

    def values(a):
        return np.asarray(a.copy_to_host() if hasattr(a, "copy_to_host") else a).astype(np.float32)

    compute.reduce_into(d_in=given, d_out=one, op=OpKind.MAXIMUM, h_init=None, num_items=60)
    assert values(one)[0] == 59
    compute.radix_sort(d_in_keys=given, d_out_keys=out, num_items=60)
    assert (values(out) == np.arange(60)).all()
    compute.inclusive_scan(d_in=given, d_out=out, op=OpKind.MINIMUM, init_value=None, num_items=60)
    assert (values(out) == values(given)).all()
