# SPDX-License-Identifier: Apache-2.0
"""Kernels that hold whole rows, as a GPU gets them: run thread by thread by the reference interpreter on the mock's
memory."""

from __future__ import annotations

import numpy
import pytest
import tessera.numeric as np

from .test_folds import run_as_gpu, text_of


def softmax(module, x):
    e = module.exp(x - module.max(x, 1)[:, None])
    return e / module.sum(e, 1)[:, None]


def kernel_of(mock, capfd, call):
    """The kernel's text; its launch once more with what it made."""
    capfd.readouterr()  # what the interpreter compiled
    made = call()
    np.wait(made)
    text = text_of(capfd.readouterr().err)
    mock.n_values = text[: text.index("{")].count("%")
    made = call()
    np.wait(made)
    return text, made


@pytest.mark.parametrize(("rows", "width", "dtype", "fills"), [
    (35, 256, "f4", True), (35, 250, "f4", False), (70, 128, "f4", True), (9, 1024, "f2", True), (9, 1000, "f2", False),
    (2, 4096, "f4", True),
])  # fmt: skip
def test_rows_that_fill_their_tiles_ask_for_no_ends(mock, capfd, monkeypatch, rows, width, dtype, fills) -> None:
    x = (numpy.random.default_rng(width).standard_normal((rows, width)) * 4).astype(dtype)
    a = np.asarray(x, device="cuda")
    monkeypatch.setenv("TS_DUMP", "fold")
    text, made = kernel_of(mock, capfd, lambda: softmax(np, a))
    run_as_gpu(mock.values, mock.n_values, mock.grid, text, 90)
    mock.n_values = 0
    numpy.testing.assert_allclose(made.get(), softmax(numpy, x), rtol=3e-6 if dtype == "f4" else 3e-3)
    assert ("iota" not in text) == fills


@pytest.mark.parametrize(("rows", "width", "dtype"), [(6, 1024, "f4"), (3, 8192, "f2"), (5, 1000, "f2")])
def test_what_all_rows_share_is_read_behind_their_folds(mock, capfd, monkeypatch, rows, width, dtype) -> None:
    rng = numpy.random.default_rng(width)
    x, weight, bias = (rng.standard_normal(shape).astype(dtype) for shape in ((rows, width), width, (1, width)))

    def norm(module, x, weight, bias):
        d = x - module.mean(x, 1)[:, None]
        return d / module.sqrt(module.mean(d * d, 1)[:, None] + 1e-5) * weight + bias

    given = [np.asarray(each, device="cuda") for each in (x, weight, bias)]
    monkeypatch.setenv("TS_DUMP", "fold")
    text, made = kernel_of(mock, capfd, lambda: norm(np, *given))
    first, *_, second = text.split("reduce")
    assert (first.count("load_view_tko"), second.count("load_view_tko")) == (1, 2)
    run_as_gpu(mock.values, mock.n_values, mock.grid, text, 90)
    mock.n_values = 0
    wanted = norm(numpy, *(each.astype("f8") for each in (x, weight, bias)))
    numpy.testing.assert_allclose(made.get(), wanted, rtol=0, atol=1e-5 if dtype == "f4" else 2e-2)
