# SPDX-License-Identifier: Apache-2.0
"""Checked mode on the CPU device: an index outside is told with place, block, axis, index and size."""

import re

import numpy as np
import pytest
import tessera
import tessera.tile as ct


@ct.kernel(checked=True)
def gather_kernel(x, index, out, SHIFT: ct.Constant[int]):
    i = ct.load(index, ct.bid(0), 16) + SHIFT
    ct.store(out, ct.bid(0), ct.gather(x, i))  # gather here


@ct.kernel(checked=True)
def corner_kernel(x, row, column):
    ct.scatter(x, (row, column), 1.0)


@ct.kernel(checked=True)
def masked_kernel(x, index, out):
    i = ct.load(index, 0, 16)
    ct.store(out, 0, ct.gather(x, i, mask=i < x.shape[0]))


@ct.kernel(checked=True)
def unchecked_gather_kernel(x, index, out):
    ct.store(out, 0, ct.gather(x, ct.load(index, 0, 16), check_bounds=False))


def line_of(text):
    return 1 + [text in line for line in open(__file__)].index(True)


def refused(kernel, arguments, text, grid=(1,)):
    with pytest.raises(tessera.KernelError, match=re.escape(text)) as caught:
        ct.launch(None, grid, kernel, arguments)
    return str(caught.value)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
@pytest.mark.parametrize("index", [-1, 100, 120])
def test_a_gather_outside_names_everything(dtype, index):
    x, indices, out = np.ones(100, np.float32), np.zeros(64, dtype), np.zeros(64, np.float32)
    indices[37] = index
    text = f"block (2, 0, 0): gather(), axis 0: index {index} is out of bounds for size 100"
    told = refused(gather_kernel, (x, indices, out, 0), text, (4,))
    assert f"kernel 'gather_kernel' ({__file__}, line {line_of('# gather here')})" in told


def test_indices_inside_are_read():
    x, out = np.arange(100, dtype=np.float32), np.zeros(64, np.float32)
    ct.launch(None, (4,), gather_kernel, (x, np.arange(64, dtype=np.int32), out, 36))
    np.testing.assert_array_equal(out, x[36:])


@pytest.mark.parametrize(
    "row,column,text",
    [
        (4, 0, "scatter(), axis 0: index 4 is out of bounds for size 4"),
        (3, -9, "scatter(), axis 1: index -9 is out of bounds for size 5"),
    ],
)
def test_each_axis_is_checked(row, column, text):
    x = np.zeros((4, 5), np.float32)
    refused(corner_kernel, (x, row, column), text)
    assert not x.any()


def test_a_masked_index_may_be_outside():
    x, index, out = np.ones(10, np.float32), np.arange(16, dtype=np.int32), np.zeros(16, np.float32)
    ct.launch(None, (1,), masked_kernel, (x, index, out))
    np.testing.assert_array_equal(out, [1] * 10 + [0] * 6)
    index[3] = -5
    refused(masked_kernel, (x, index, out), "axis 0: index -5 is out of bounds for size 10")


def test_check_bounds_false_is_not_checked():
    x, index, out = np.ones(16, np.float32), np.arange(16, dtype=np.int32), np.zeros(16, np.float32)
    ct.launch(None, (1,), unchecked_gather_kernel, (x, index, out))
    assert out.all()


def test_the_device_goes_on_after_a_fault():
    x, index, out = np.ones(16, np.float32), np.full(16, 99, np.int32), np.zeros(16, np.float32)
    refused(gather_kernel, (x, index, out, 0), "index 99")
    ct.launch(None, (1,), gather_kernel, (x, index, out, -90))
    assert out.all()


@ct.kernel
def asserting(x, text: ct.Constant[bool]):
    if text:
        ct.assert_(x.shape[0] > 100, "x is long")
    else:
        ct.assert_(x.shape[0] > 100)


def test_an_assertion_says_its_text_once():
    x = np.ones(16, np.float32)
    assert refused(asserting, (x, False), "block (0, 0, 0): assertion failed").endswith("assertion failed")
    refused(asserting, (x, True), "assertion failed: x is long")
