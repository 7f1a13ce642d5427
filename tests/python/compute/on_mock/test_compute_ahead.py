# SPDX-License-Identifier: Apache-2.0
"""A call that makes kernels for a GPU compiles them ahead of its launches, all at once; launches are what they were."""

from __future__ import annotations

import numpy as np
import pytest

from tessera import compute, cuda
from tessera.compute import _engine, _store

N = 50_000


def test_a_launch_is_prepared_without_running(mock):
    @cuda.jit
    def scale(x, by):
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i] *= by

    x = cuda.device_array(N, np.float32)
    launch = scale[-(-N // 256), 256]
    loads, launches = mock.n_load, mock.n_launches
    launch._prepare(x, 2.5)
    assert (mock.n_load, mock.n_launches) == (loads + 1, launches)
    launch(x, 2.5)
    assert (mock.n_load, mock.n_launches) == (loads + 1, launches + 1)


def sort(dtype):
    x, out, values = (cuda.device_array(N, kind) for kind in (dtype, dtype, np.uint16))
    compute.radix_sort(d_in_keys=x, d_out_keys=out, d_in_values=values, d_out_values=values, num_items=N)


def loads_and_launches(mock, call):
    loads, launches = mock.n_load, mock.n_launches
    call()
    return mock.n_load - loads, mock.n_launches - launches


def test_kernels_of_a_call_are_compiled_once_each(mock, monkeypatch):
    compute.clear_all_caches()
    later = []
    run_all = _engine.run_all
    monkeypatch.setattr(_engine, "run_all", lambda all_: (later.append(len(all_)), run_all(all_)))
    loads, launches = loads_and_launches(mock, lambda: sort(np.float32))
    assert loads >= 2 and launches == later[0]
    assert loads_and_launches(mock, lambda: sort(np.float32)) == (0, launches)
    assert len(later) == 1


def test_what_cannot_be_compiled_is_said_by_its_launch(mock):
    x, out = cuda.device_array(N, np.float32), cuda.device_array(N, np.float32)
    with pytest.raises(Exception, match="no_such_name"):
        compute.inclusive_scan(d_in=x, d_out=out, op=lambda a, b: no_such_name(a, b), num_items=N)  # noqa: F821
    loads, launches = loads_and_launches(
        mock, lambda: compute.inclusive_scan(d_in=x, d_out=out, op=lambda a, b: a + b * a, num_items=N)
    )
    assert loads >= 1 and launches >= 1


def test_a_kernel_that_was_kept_is_made_again_as_it_was(monkeypatch, tmp_path):
    """A launch of records asks for the kernel itself, and a launch that is put off asks after the call went on."""
    library = _store._library()
    monkeypatch.setattr(_engine, "_keeps", True)
    monkeypatch.setattr(_store, "_library", lambda: f"{library} {tmp_path}")
    monkeypatch.setenv("TESSERA_CACHE_DIR", str(tmp_path))
    keys, values = cuda.device_array(N, np.int64), cuda.device_array(N, np.float32)
    for n in (2000, 3000):  # tiles are of 1,024 pairs: one pass over them, and two
        for _ in range(2):
            compute.clear_all_caches()
            compute.merge_sort(
                d_in_keys=keys, d_in_values=values, d_out_keys=keys, d_out_values=values, num_items=n,
                op=lambda a, b: a < b,
            )  # fmt: skip
