# SPDX-License-Identifier: Apache-2.0
"""What the host computes in place of a kernel: refused, told of or counted, as the program wants it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import warnings

import numpy
import pytest
import tessera.numeric as np

ONE, AXES = [numpy.ones((1, 1))], [[0], [1]]  # of nested_iters, which is missing


def there(function: str, file: str = __file__) -> list:
    return [site for site in np.fallback_report() if (site.function, site.file) == (function, file)]


def test_each_line_is_told_of_once() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(3):
            assert len(np.nested_iters(ONE, AXES)) == 2
        np.nested_iters(ONE, AXES)
    first, second = told
    assert first.category is np.FallbackWarning and first.filename == __file__ and second.lineno == first.lineno + 1
    assert str(first.message).startswith("numpy.nested_iters has no counterpart in tessera.numeric (test_fallback.py:")
    calls = {site.line: site.calls for site in there("numpy.nested_iters")}
    assert calls[first.lineno] == 3 and calls[second.lineno] == 1


def test_a_mode_is_of_a_block_a_thread_and_a_task() -> None:
    seen: list = []
    with np.fallback("error"):
        with pytest.raises(NotImplementedError, match=r"\(test_fallback.py:\d+\): it would run .*fallback\('warn'\)"):
            np.nested_iters(ONE, AXES)
        with np.fallback("silent"), warnings.catch_warnings():
            warnings.simplefilter("error")
            assert len(np.nested_iters(ONE, AXES)) == 2
        thread = threading.Thread(target=lambda: seen.append(np.default_fallback()))
        thread.start()
        thread.join()

        async def task() -> None:
            with pytest.raises(NotImplementedError):
                np.nested_iters(ONE, AXES)

        asyncio.run(task())
    assert seen == ["warn"] and repr(np.fallback("warn")) == "fallback('warn')"


def test_default_holds_in_all_threads() -> None:
    seen: list = []

    def ask() -> None:
        try:
            np.nested_iters(ONE, AXES)
        except NotImplementedError:
            seen.append(True)

    assert np.default_fallback("error") == "error"
    try:
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    finally:
        np.default_fallback("warn")
    assert seen == [True]


@pytest.mark.parametrize("mode", ["eror", None, 3])
def test_other_modes_are_refused(mode) -> None:
    with pytest.raises(ValueError, match=r"is not a mode of fallback: use 'warn', 'error' or 'silent'"):
        np.fallback(mode)
    if mode:
        with pytest.raises(ValueError):
            np.default_fallback(mode)


@pytest.mark.parametrize("value, text", [("error", "NotImplementedError"), ("erorr", "did you mean 'error'")])
def test_a_variable_says_the_default(value, text) -> None:
    script = "import tessera.numeric as np; np.nested_iters([[1.0]], [[0], [1]])"
    env = {**os.environ, "TESSERA_NUMERIC_FALLBACK": value}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and text in done.stderr
    assert ("TESSERA_NUMERIC_FALLBACK='erorr'" in done.stderr) == (value != "error")


def test_ufuncs_of_others_run_on_copies_and_what_they_write_comes_back() -> None:
    plus = numpy.frompyfunc(lambda x, y: x + y, 2, 1)
    a, out = np.arange(4.0), np.zeros(4)
    with np.fallback("silent"):
        made = plus(a, 1)
        assert made.dtype == object and made.tolist() == [1, 2, 3, 4]  # no dtype of ours: NumPy's
    special = pytest.importorskip("scipy.special")
    with np.fallback("silent"):
        assert isinstance(special.expit(a), np.ndarray)
        assert special.expit(a, out=out[::-1]).base is out
    assert (numpy.asarray(out) == special.expit(numpy.arange(4.0))[::-1]).all()
    with np.fallback("error"), pytest.raises(NotImplementedError, match=r"the ufunc expit has no counterpart"):
        special.expit(a)


def test_libraries_of_the_host_on_memory_of_the_host_are_none() -> None:
    with np.fallback("error"):
        np.linalg.inv(np.eye(3))
        np.random.default_rng(0).normal(size=3)
        np.fft.fft(np.ones(8))
