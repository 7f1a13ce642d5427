# SPDX-License-Identifier: Apache-2.0
"""Elements at places that arrays say, and products of few terms, as a GPU gets them: one kernel each, run thread by
thread by the reference interpreter on the mock's memory."""

from __future__ import annotations

import threading

import numpy
import pytest
import tessera.numeric as np
from tessera import _core
from tessera.numeric import _index

from .test_folds import run_as_gpu, text_of


def made_by_one_kernel(mock, capfd, monkeypatch, call, text=""):
    """What a call gives by the interpreter, the bytes that its kernel reads and writes, and its text, if that is not
    known before."""
    monkeypatch.setenv("TS_DUMP", "fold")
    if not text:
        call()
        text = text_of(capfd.readouterr().err)
    with np.device("cuda"):
        mock.n_values, before = text[: text.index("{")].count("%"), _core.numeric_stats()
        made = call()
        after = _core.numeric_stats()
    assert after["launched"] == before["launched"] + 1
    run_as_gpu(mock.values, mock.n_values, mock.grid, text, 90)
    mock.n_values = 0
    return made, after["bytes"] - before["bytes"], text


@pytest.mark.parametrize(("dtype", "low"), [("i8", -300), ("i4", -300), ("u2", 0)])
def test_indices_are_looked_at_where_elements_are_read(mock, capfd, monkeypatch, dtype, low) -> None:
    rng = numpy.random.default_rng(300 - low)
    x, i = rng.random(300, numpy.float32), rng.integers(low, 300, 5000).astype(dtype)
    a, places = np.asarray(x, device="cuda"), np.asarray(i, device="cuda")
    made, n_bytes, _ = made_by_one_kernel(mock, capfd, monkeypatch, lambda: a[places])
    numpy.testing.assert_array_equal(made.get(), x[i])
    assert n_bytes < 5000 * (4 + i.itemsize) + 100  # each index once, and no offsets


def ends_by_host(a):
    """The least and the greatest of places, which no kernel of the mock finds."""
    x = numpy.asarray(a.get())
    return x.min(), x.max()


def test_an_index_out_of_bounds_is_an_error(mock, capfd, monkeypatch) -> None:
    monkeypatch.setattr(_index, "_ends", ends_by_host)
    a, text = np.asarray(numpy.zeros(300), device="cuda"), ""
    for bad in (300, -301, 2**40, -(2**63)):
        i = numpy.arange(5000) % 300
        i[4321] = bad
        places = np.asarray(i, device="cuda")
        with numpy.errstate(all="ignore"):
            made, _, text = made_by_one_kernel(mock, capfd, monkeypatch, lambda i=places: a[i], text)
        assert made.get()[4321] == 0
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 300"):
            a[places]  # which asks what kernels told, for the first time since this one ran
        a[places]


@pytest.mark.parametrize(("errors", "dtype"), [({}, "i8"), ({"all": "raise"}, "i4")])
def test_a_bad_index_is_an_error_where_it_is_used(mock, capfd, monkeypatch, errors, dtype) -> None:
    """A thread's kernel has met a bad index, and another thread is the first to read what kernels told."""
    monkeypatch.setattr(_index, "_ends", ends_by_host)
    a, i = np.asarray(numpy.arange(1, 301, dtype=dtype), device="cuda"), numpy.arange(5000) % 300
    good = np.asarray(i, device="cuda")
    i[7] = 300
    bad, heard = np.asarray(i, device="cuda"), []
    _, _, text = made_by_one_kernel(mock, capfd, monkeypatch, lambda: a[good])
    settle, has_gathered, may_settle = _core.numeric_settle, threading.Event(), threading.Event()

    def settle_late(made):
        if threading.current_thread() is thread:
            has_gathered.set()
            assert may_settle.wait(60)
        return settle(made)

    def use_bad() -> None:
        try:
            with np.device("cuda"):
                a[bad]
        except IndexError as error:
            heard.append(str(error))

    thread = threading.Thread(target=use_bad)
    monkeypatch.setattr(_core, "numeric_settle", settle_late)
    mock.n_values = text[: text.index("{")].count("%")
    thread.start()
    assert has_gathered.wait(60)
    np.wait()  # launches the thread's kernel
    run_as_gpu(mock.values, mock.n_values, mock.grid, text, 90)
    mock.n_values = 0
    with numpy.errstate(**errors):
        assert a[good].shape == i.shape
        a / a  # which may read them, too
    may_settle.set()
    thread.join()
    assert heard == ["index 300 is out of bounds for axis 0 with size 300"]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4", "?"])
@pytest.mark.parametrize(("m", "k", "n"), [(4, 4, 5000), (3, 1, 20000), (2500, 8, 7)])
def test_products_of_few_terms_are_written_out(mock, capfd, monkeypatch, dtype, m, k, n) -> None:
    rng = numpy.random.default_rng(m)
    x, y = (rng.integers(-3, 4, shape).astype(dtype) for shape in ((m, k), (k, n)))
    a, b = np.asarray(x, device="cuda"), np.asarray(y, device="cuda")

    def call():
        made = a @ b
        np.wait(made)
        return made

    made, n_bytes, _ = made_by_one_kernel(mock, capfd, monkeypatch, call)
    numpy.testing.assert_array_equal(made.get(), x @ y)
    assert n_bytes == x.nbytes + y.nbytes + m * n * x.itemsize


def test_a_histogram_reads_both_ends_at_once(mock) -> None:
    x, mock.n_values = np.asarray(numpy.linspace(0, 1, 1 << 20, dtype="f4"), device="cuda"), 0
    with np.device("cuda"), numpy.errstate(all="ignore"):
        before = _core.numeric_stats()["bytes"]
        np.histogram(x, 20)
        read = _core.numeric_stats()["bytes"] - before
    assert 2 * x.nbytes <= read < 2.51 * x.nbytes  # once for both ends, once for the bins, which take two bytes each


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_covariances_wait_for_nothing(mock, dtype) -> None:
    x = np.asarray(numpy.ones((7, 30000), dtype), device="cuda")
    with np.device("cuda"):
        np.wait(np.cov(x))
        before = mock.n_syncs
        made = [np.cov(x), np.cov(x.T, rowvar=False), np.cov(x, ddof=0), np.cov(x, bias=True)]
        assert mock.n_syncs == before
    assert all(each.shape == (7, 7) and each.dtype == float for each in made)


def test_values_that_do_not_fit_one_element_are_told_of():
    with np.device("cuda"):
        for x, value, error in ((np.array(3, "i1"), -(2**63), OverflowError), (np.array(3.0), 1j, TypeError)):
            with pytest.raises(error):
                np.putmask(x, True, value)
