# SPDX-License-Identifier: Apache-2.0
"""What cupyx has for the host: page-locked arrays, times of calls, ranges."""

import sys
from unittest import mock

import numpy as np
import pytest
from tessera import cupy, cupyx


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("shape", [None, 4, (4, 2), (4, 3, 2)])
def test_pinned_arrays_are_laid_out_as_numpys(order, shape):
    a = np.arange(24.0).reshape(2, 3, 4)[:, ::2].swapaxes(0, 1)
    wanted = np.empty_like(a, order=order, shape=shape)
    for given in (a, cupy.asarray(a)):
        made = cupyx.zeros_like_pinned(given, order=order, shape=shape)
        assert made.shape == wanted.shape and made.strides == wanted.strides and not made.any()
        assert isinstance(made.base, cupy.cuda.PinnedMemoryPointer) and made.base.ptr == made.ctypes.data


def test_pinned_arrays_of_records_and_of_nothing():
    made = cupyx.zeros_pinned((2, 3), [("a", "i4"), ("b", "f8")], order="F")
    assert made.flags.f_contiguous and made["b"].sum() == 0 and made.dtype.names == ("a", "b")
    assert cupyx.empty_pinned((1, 0, 2)).shape == (1, 0, 2) and cupyx.empty_pinned(()).shape == ()
    with pytest.raises(TypeError, match="subok"):
        cupyx.empty_like_pinned(made, subok=True)
    with pytest.raises(ValueError):
        cupyx.empty_like_pinned(made, order="Q")


def test_ranges_tell_profilers_their_names_and_colours():
    with mock.patch("tessera.cupy.cuda.nvtx.RangePush") as push, mock.patch("tessera.cupy.cuda.nvtx.RangePop") as pop:
        calls = cupyx.profiler.time_range(color_id=3)(lambda: 5)
        assert calls() == 5
        push.assert_called_once_with("<lambda>", 3)
        pop.assert_called_once_with()
    with mock.patch("tessera.cupy.cuda.nvtx.RangePushC") as push, cupyx.profiler.time_range("x", argb_color=7):
        push.assert_called_once_with("x", 7)
    with pytest.raises(ValueError, match="message"), cupyx.profiler.time_range():
        pass
    with mock.patch("tessera.cupy.cuda.nvtx.available", False), pytest.raises(RuntimeError, match="nvtx"):
        cupyx.profiler.time_range("x")


def test_benchmark_ends_after_its_longest_time():
    clock = mock.patch("time.perf_counter", mock.Mock(side_effect=[1.0, 2.0, 2.0] * 6))
    with clock, pytest.warns(UserWarning, match=r"cupyx\.profiler\.benchmark"):
        made = cupyx.time.repeat(lambda: None, n_warmup=1, max_duration=2.5)
    assert made.cpu_times.tolist() == [1, 1, 1]


def test_pinned_arrays_of_padded_records_and_no_objects():
    dtype = np.dtype("i1,f8", align=True)
    made = cupyx.zeros_pinned(2, dtype)
    assert made.dtype == dtype and made.tolist() == [(0, 0.0)] * 2
    made["f1"] = 1.5
    assert made[1]["f1"] == 1.5 and cupyx.empty_like_pinned(made).dtype == dtype
    for wanted in (object, [("a", object)]):
        with pytest.raises(ValueError, match="no objects"):
            cupyx.empty_pinned(3, wanted)


def test_fast_lengths_are_those_of_cufft():
    assert [cupyx.scipy.fft.next_fast_len(n) for n in (0, 7, 11, 13)] == [0, 7, 12, 14]


def test_page_locked_memory_is_a_buffer():
    place = cupy.cuda.alloc_pinned_memory(8)
    assert place.__buffer__(0).nbytes == place.size() >= 8
    if sys.version_info >= (3, 12):
        assert np.frombuffer(place, "u1", 8).ctypes.data == place.ptr
