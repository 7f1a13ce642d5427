# SPDX-License-Identifier: Apache-2.0
"""Views of all kinds as inputs and outputs: steps, backwards, several axes, repeated elements, fields, no order."""

import numpy as np
import pytest

import tessera
from tessera import compute, cuda, numeric

RNG = np.random.default_rng(0)
WHOLE = RNG.integers(-99, 99, (60, 8, 50))
FIELDS = np.zeros(5000, [("a", np.int8), ("b", np.int64), ("c", np.int16)])
FIELDS["b"] = RNG.integers(-99, 99, 5000)
VIEWS = {
    "steps": WHOLE.ravel()[1::3],
    "backwards": WHOLE.ravel()[::-1],
    "columns": WHOLE[:, 3],
    "a box": WHOLE[5:40:2, ::-1, 7:31],
    "axes changed": WHOLE.transpose(1, 2, 0),
    "a diagonal": WHOLE[:50, :, :].diagonal(axis1=0, axis2=2),
    "repeated": np.broadcast_to(WHOLE[0, 0], (90, 50)),
    "one element": np.broadcast_to(WHOLE[0, 0, :1], (4321,)),
    "Fortran": np.asfortranarray(WHOLE),
}
ADD = compute.OpKind.PLUS


def items_of(view):
    """The items in the order in which they are taken: of memory without gaps as they lie there, else by index."""
    return view.ravel(order="F" if view.flags.f_contiguous else "C")


def into(view, like):
    """A view of the same kind on memory of its own, and its items."""
    whole = np.zeros_like(WHOLE)
    offset = view.__array_interface__["data"][0] - WHOLE.__array_interface__["data"][0]
    base = whole.reshape(-1).view(np.uint8)[offset:].view(np.int64)
    out = np.lib.stride_tricks.as_strided(base, view.shape, view.strides)
    out[...] = like
    return out


@pytest.mark.parametrize("name", VIEWS)
def test_reads(name):
    view = VIEWS[name]
    x, n, out = items_of(view), view.size, np.zeros(view.size, np.int64)
    compute.reduce_into(d_in=view, d_out=out, num_items=n, op=ADD, h_init=np.int64(0))
    assert out[0] == x.sum()
    compute.inclusive_scan(d_in=view, d_out=out, num_items=n, op=ADD)
    assert np.array_equal(out, np.cumsum(x))
    compute.radix_sort(d_in_keys=view, d_out_keys=out, num_items=n)
    assert np.array_equal(out, np.sort(x))
    compute.copy(d_in=compute.ReverseIterator(view), d_out=out, num_items=n)
    assert np.array_equal(out, x[::-1])
    compute.copy(d_in=compute.CacheModifiedInputIterator(view) + 3, d_out=out, num_items=n - 3)
    assert np.array_equal(out[: n - 3], x[3:])


@pytest.mark.parametrize("name", ("steps", "columns", "a box", "axes changed"))
def test_writes(name):
    x = items_of(VIEWS[name])
    out = into(VIEWS[name], -7)
    compute.inclusive_scan(d_in=x, d_out=out, num_items=x.size - 2, op=ADD)
    assert np.array_equal(items_of(out), np.append(np.cumsum(x[:-2]), [-7, -7]))
    compute.radix_sort(d_in_keys=x, d_out_keys=out, num_items=x.size)
    assert np.array_equal(items_of(out), np.sort(x))
    compute.merge_sort(d_in_keys=out, d_out_keys=out, num_items=x.size, op=lambda a, b: a > b)
    assert np.array_equal(items_of(out), np.sort(x)[::-1])


def test_backwards_in_place():
    x = RNG.integers(0, 99, 5000)
    out = x.copy()
    compute.inclusive_scan(d_in=out[::-1], d_out=out[::-1], num_items=5000, op=ADD)
    assert np.array_equal(out[::-1], np.cumsum(x[::-1]))


def test_fields_of_records():
    out = FIELDS.copy()
    compute.radix_sort(d_in_keys=FIELDS["b"], d_out_keys=out["b"], num_items=5000)
    assert np.array_equal(out["b"], np.sort(FIELDS["b"]))


def test_arrays_of_a_device():
    whole, out = cuda.to_device(WHOLE), cuda.device_array((60, 2, 50), np.int64, order="F")
    wanted = np.cumsum(WHOLE[:, 3].ravel())
    compute.inclusive_scan(d_in=whole[:, 3], d_out=out[:, 1], num_items=3000, op=ADD)
    assert np.array_equal(out.copy_to_host()[:, 1].ravel(), wanted)
    compute.inclusive_scan(d_in=whole[:, 3], d_out=out, num_items=3000, op=ADD)
    assert np.array_equal(out.copy_to_host().ravel(order="F")[:3000], wanted)


def test_outputs_that_share_memory_with_a_view():
    x, count = np.zeros((40, 40), np.int64), np.zeros(1, np.int64)
    with pytest.raises(ValueError, match="d_out shares memory with d_in"):
        compute.select(d_in=x[:, 3], d_out=x[5], d_num_selected_out=count, cond=bool, num_items=40)
    with pytest.raises(TypeError, match="d_out must be an array of numpy.int64"):
        compute.find_if(d_in=x[0], d_out=x[::2, ::2], cond=bool, num_items=40)


class Foreign:
    """An array of a library whose dtypes are its own, as torch's are; without gaps, so without strides."""

    dtype = "its own"

    def __init__(self, array):
        self.array, self.shape = array, array.shape
        self.__cuda_array_interface__ = dict(array.__cuda_array_interface__, strides=None)


def test_arrays_whose_dtype_is_of_their_library():
    x, count = cuda.to_device(WHOLE[0]), cuda.device_array(1, np.int64)
    out = cuda.device_array(WHOLE[0].shape, np.int64)
    call = {"d_num_selected_out": count, "cond": lambda v: v > 0, "num_items": WHOLE[0].size}
    compute.select(d_in=Foreign(x), d_out=Foreign(out), **call)
    wanted = WHOLE[0][WHOLE[0] > 0]
    assert count.copy_to_host()[0] == len(wanted)
    assert np.array_equal(out.copy_to_host().ravel()[: len(wanted)], wanted)
    with pytest.raises(ValueError, match="d_out shares memory with d_in"):
        compute.select(d_in=Foreign(x), d_out=Foreign(x.ravel()[200:].reshape(4, -1)), **call)


@pytest.mark.parametrize("make", (tessera.array, numeric.asarray, lambda x: numeric.asarray(x) * 1))
def test_arrays_of_others_in_host_memory(make):
    """They are read and written in place, also within iterators, as counts, as temporary memory, call after call."""
    x = WHOLE.ravel()[:5000]
    for _ in range(4):
        d, out, count, total = make(x), make(np.zeros_like(x)), make(np.zeros(1, np.int64)), make(np.zeros(1, np.int64))
        compute.select(d_in=d, d_out=out, d_num_selected_out=count, cond=lambda v: v > 0, num_items=x.size)
        assert np.array_equal(np.asarray(out)[: np.asarray(count)[0]], x[x > 0])
        compute.reduce_into(d_in=out, d_out=total, num_items=count, op=ADD, h_init=np.int64(0))
        assert np.asarray(total)[0] == x[x > 0].sum()
    compute.copy(d_in=compute.ZipIterator(d, d), d_out=compute.ZipIterator(out, compute.DiscardIterator()), num_items=9)
    assert np.array_equal(np.asarray(out)[:9], x[:9])
    given = {"d_in": d, "d_out": out, "op": ADD, "num_items": x.size}
    scratch = make(np.zeros(compute.inclusive_scan(**given, temp_storage=None), np.uint8))
    compute.inclusive_scan(**given, temp_storage=scratch)
    assert np.array_equal(np.asarray(out), np.cumsum(x))
    with pytest.raises(ValueError, match="d_out shares memory with d_in"):
        compute.select(d_in=d, d_out=d, d_num_selected_out=count, cond=bool, num_items=x.size)
