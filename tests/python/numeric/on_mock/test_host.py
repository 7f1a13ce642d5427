# SPDX-License-Identifier: Apache-2.0
"""What the host computes for arrays of a GPU: copied there and back, and counted."""

from __future__ import annotations

import gc
import sys

import numpy
import pytest
import tessera.numeric as np
from tessera.numeric import _host


def test_transforms_factorizations_and_random_numbers_lie_where_asked(mock) -> None:
    x = numpy.random.default_rng(0).standard_normal((4, 4))
    a = np.asarray(x, device="cuda")
    before = np.host_calls()
    for name, made, wanted in (
        ("fft", np.fft.fft(a), numpy.fft.fft(x)),
        ("linalg.inv", np.linalg.inv(a), numpy.linalg.inv(x)),
    ):
        assert made.device == "cuda:0"
        numpy.testing.assert_allclose(made.get(), wanted, rtol=1e-13, atol=1e-13)
        assert np.host_calls()[name] == before.get(name, 0) + 1
    np.fft.fft(x)
    assert np.host_calls()["fft"] == before.get("fft", 0) + 1
    with np.device("cuda"):
        drawn = np.random.default_rng(1).normal(size=3)
    assert drawn.device == "cuda:0"
    assert (drawn.get() == numpy.random.default_rng(1).normal(size=3)).all()


def test_results_of_no_axes_lie_where_new_arrays_do(mock) -> None:
    with np.device("cuda"):
        made = np.add(numpy.float64(3), 2, out=...)
        assert made.device == "cuda:0"


def test_what_leaves_a_gpu_for_the_host_is_told_of(mock) -> None:
    a = np.asarray(numpy.eye(4), device="cuda")
    with np.fallback("error"):
        for call in (np.linalg.inv, np.fft.fft):
            with pytest.raises(NotImplementedError, match=r"has no kernel \(test_host.py:\d+\): .* 128 bytes leave"):
                call(a)
    with np.doctor() as d, pytest.warns(np.FallbackWarning, match="linalg.inv has no kernel"):
        np.linalg.inv(a)
    names = {(each.kind, each.name) for each in d.findings}
    assert {("fallback", "linalg.inv"), ("to_host", ""), ("to_device", "")} <= names


def test_a_copy_of_a_gpus_array_that_the_host_wrote_to_goes_back(mock) -> None:
    a = np.asarray(numpy.zeros((2, 3)), device="cuda")
    before = mock.n_launches
    with np.fallback("silent"):
        _host.absent("numpy.sum", numpy.sum, (a[:, 1],), {})
        assert mock.n_launches == before + 1  # a dense copy of the column
        _host.absent("numpy.copyto", numpy.copyto, (a[:, 1], 7), {})
        assert mock.n_launches == before + 3  # and the column is written


@pytest.mark.parametrize("offset", [0, 16, 5000])
@pytest.mark.parametrize("order", ["C", "F"])
def test_maps_of_files_on_a_gpu_write_to_the_file(mock, tmp_path, order: str, offset: int) -> None:
    """Casts that are watched run in host memory, so the mock has their results."""
    path, wanted = tmp_path / "a.bin", numpy.arange(12.0).reshape(3, 4)

    def there() -> list[list[float]]:
        return numpy.memmap(path, "f4", "r", offset, (3, 4), order).tolist()

    with np.device("cuda"), numpy.errstate(all="raise"):
        a = np.memmap(path, "f4", "w+", offset, (3, 4), order)
        a[...] = wanted
        a[1:].flush()
        assert a.device == "cuda:0" and there() == wanted.tolist()
        wanted[0] = a[0] = numpy.full(4, 9.0)
        row = a[0]
        del a
        assert there() != wanted.tolist()  # the view has it all
        del row
        assert there() == wanted.tolist()
        read = np.memmap(path, "f4", "r", offset, (3, 4), order)
        assert read.device == "cuda:0" and not read.flags.writeable and read.tolist() == wanted.tolist()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("flush", [False, True])
def test_maps_of_files_on_a_gpu_leave_what_others_write(mock, tmp_path, flush: bool, order: str) -> None:
    path, shape = tmp_path / "a.bin", (2, 3)
    numpy.full(shape, -0.0, "f4").tofile(path)
    numpy.save(tmp_path / "a.npy", numpy.full(shape, -0.0, "f4"))
    with np.device("cuda"), numpy.errstate(all="raise"):
        read = np.memmap(path, "f4", shape=shape, order=order)
        first, second = (np.memmap(path, "f4", "r+", 0, shape, order) for _ in range(2))
        loaded = np.load(tmp_path / "a.npy", mmap_mode="r+")
        other, of_loaded = numpy.memmap(path, "f4", "r+", 0, shape, order), numpy.load(tmp_path / "a.npy", "r+")
        other[...] = of_loaded[...] = 7
        other.flush(), of_loaded.flush()
        first[0] = numpy.array([1.0, 0.0, 3.0])
        second[1] = numpy.array([4.0, 5.0, 6.0])
        if flush:
            first[1:].flush(), second[1:].flush(), read.flush(), loaded.flush()
            other[1, 1] = 9
        del first, second, read, loaded
    assert other.tolist() == [[1, 0, 3], [4, 9 if flush else 5, 6]]
    assert (of_loaded == 7).all()


def test_a_map_on_a_gpu_may_be_closed_before_it_ends(mock, tmp_path, monkeypatch) -> None:
    errors: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", errors.append)
    with np.device("cuda"), numpy.errstate(all="raise"):
        a = np.memmap(tmp_path / "a.bin", "f4", "w+", shape=3)
        a[:1] = numpy.array([5.0])
        a._mmap.close()
        del a
    gc.collect()
    assert not errors and numpy.fromfile(tmp_path / "a.bin", "f4").tolist() == [0, 0, 0]


@pytest.mark.parametrize("mode", ["r", "c", "r+"])
def test_maps_that_load_gives_write_as_their_mode_says(mock, tmp_path, mode: str) -> None:
    numpy.save(tmp_path / "a.npy", numpy.zeros(3, "f4"))
    with np.device("cuda"), numpy.errstate(all="raise"):
        a = np.load(tmp_path / "a.npy", mmap_mode=mode)
        assert a.flags.writeable == (mode != "r")
        if mode != "r":
            a[:1] = numpy.array([5.0])
        a.flush()
        del a
    assert numpy.load(tmp_path / "a.npy").tolist() == [5.0 * (mode == "r+"), 0, 0]


def test_functions_of_the_host_write_into_out(mock) -> None:
    texts = numpy.array([b"aE", b"bE"])
    ours, out = np.asarray(texts, device="cuda"), np.asarray(numpy.zeros(2, "S4"), device="cuda")
    with np.fallback("silent"):
        assert _host.call("upper", lambda x, out: numpy.copyto(out, numpy.char.upper(x)) or out, ours, out=out) is out
        made = _host.call("pair", lambda x, out: out, ours, out=(out, None))
    assert made[0] is out and made[1] is None and out.device == "cuda:0"


@pytest.mark.parametrize("dtype", ["S", "U", "V"])
def test_texts_without_a_width_are_sorted(mock, dtype: str) -> None:
    with np.device("cuda"), np.fallback("silent"):
        a = np.ndarray((2, 5), dtype)
        if dtype != "V":
            a.sort()
        a.partition(3)
    assert a.dtype.itemsize == 0 and a.device == "cuda:0"


def test_functions_of_the_host_write_into_out_by_position(mock) -> None:
    texts = np.asarray(numpy.array(["aE", "7"]), device="cuda")
    with np.fallback("silent"):
        for function, args, dtype in (
            (np.strings.isalpha, (texts,), "?"),
            (np.strings.str_len, (texts,), "i8"),
            (np.argmax, (texts.reshape(2, 1), 1), "i8"),
        ):
            out = np.asarray(numpy.full(2, 9, dtype), device="cuda")
            before = mock.n_launches
            assert function(*args, out) is out and out.device == "cuda:0"
            assert mock.n_launches > before  # which write what the host computed
