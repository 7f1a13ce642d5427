# SPDX-License-Identifier: Apache-2.0
"""Messages that a new user meets: words of other libraries, lists as constants, streams in a grid, try in a `with`."""

import contextlib

import numpy as np
import pytest
import tessera.tile as ct
from tessera import _tileir
from tessera.tile import compilation


@contextlib.contextmanager
def guarded():
    try:
        yield 1
    finally:
        pass


@ct.kernel
def words(out, which: ct.Constant[int]):
    if which == 0:
        ct.dot(1, 2)
    if which == 1:
        ct.program_id(0)
    if which == 2:
        with guarded():
            pass


@pytest.mark.parametrize(
    ("which", "text"), [(0, "a @ b or ct.matmul"), (1, "ct.bid"), (2, "leave `try` and `finally` out")]
)
def test_words_that_the_language_lacks_name_its_own(which, text):
    with pytest.raises(ct.TileError, match=text):
        ct.launch(None, (1,), words, (np.zeros(1), which))


@ct.kernel
def constant(out, c: ct.Constant):
    pass


@pytest.mark.parametrize(("value", "text"), [([1, 2], "pass a constant as a tuple"), ("a\0b", "NUL character")])
def test_constants_that_kernels_do_not_take(value, text):
    with pytest.raises(TypeError, match=text):
        ct.launch(None, (1,), constant, (np.zeros(1), value))


def test_a_stream_in_a_grid_is_named():
    with pytest.raises(TypeError, match=r"ct.launch\(stream, grid, k, arguments\)"):
        constant[1, None](np.zeros(1), 1)


@pytest.mark.parametrize("signatures", [None, 5])
def test_signatures_are_a_sequence(signatures):
    with pytest.raises(TypeError, match="takes a sequence of signatures, not a"):
        compilation.export_kernel(constant, signatures, "unused", gpu_code="sm_90", output_format="ptx")


@pytest.mark.parametrize(("word", "text"), [("2.0", "is not a file"), ("i32:2.0", "'2.0' is not an integer for i32")])
def test_arguments_of_the_command_are_explained(word, text):
    with pytest.raises(ValueError, match=text):
        _tileir._argument(word)
