# SPDX-License-Identifier: Apache-2.0
"""Functions that are IR as text, called by kernels: how programs in C give operators (tests/lib/compute.c says what is
refused)."""

import numpy as np
import pytest
from simt_run import assemble, needs_ptxas, run

from tessera import cuda
from tessera.cuda._linking import _written

FARTHEST = """
both func @size(%a: f32) : f32 {
  %b = absf %a : f32
  return %b
}
both func @farthest(%a: f32, %b: f32) : f32 {
  %x = call @size %a : f32
  %y = call @size %b : f32
  %more = cmpf gt %y, %x : i1
  %c = select %more, %b, %a : f32
  return %c
}
"""


def kernel(x, out):
    total = x[0]
    for i in range(1, x.shape[0]):
        total = _written(FARTHEST, total.dtype, total, x[i])
    out[0] = total


X = np.array([1, -7, 3, 7, 0, -2], np.float32)


def test_calls_of_functions_that_are_text():
    """Of several functions the last; read once, though it is called in two loops."""
    for target in (0, 90):
        out = np.zeros(1, np.float32)
        run(kernel, X, out, grid=(1,), block=(1,), target=target)
        assert out[0] == -7
    cuda.jit(kernel)[1, 1](X, out)
    assert out[0] == -7


@needs_ptxas
@pytest.mark.parametrize("target", (80, 89, 90, 100, 120))
def test_ptxas_takes_them(tmp_path, target):
    assemble(kernel, (X, X), target, tmp_path)


def test_types_must_be_those_of_the_text():
    with pytest.raises(Exception, match=r"@farthest is \(f32, f32\) : f32; it is called with \(f64, f64\) and gives"):
        cuda.jit(kernel)[1, 1](X.astype(np.float64), X.astype(np.float64))
