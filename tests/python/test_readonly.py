# SPDX-License-Identifier: Apache-2.0
"""Read-only arrays: taken as inputs, refused as outputs before anything runs; foreign byte order is refused."""

import numpy as np
import pytest
import tessera.tile as ct


@ct.kernel
def copy_kernel(x, out):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.load(x, index=(i,), shape=(16,)))


@ct.kernel
def tail_kernel(SCALE: ct.Constant[int], x, factor, out):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.load(x, index=(i,), shape=(16,)) * factor * SCALE)


@ct.kernel
def scatter_kernel(x, index, out):
    at = ct.gather(index, (ct.arange(16, dtype=ct.int32),))
    ct.scatter(out, (at,), ct.gather(x, (at,)))


@ct.kernel
def add_kernel(x, out):
    at = ct.arange(16, dtype=ct.int32)
    ct.atomic_add(out, (at,), ct.gather(x, (at,)))


@ct.kernel
def either_kernel(x, out, n: int):
    for i in range(n):
        if i > 0:
            ct.store(out, index=(i,), tile=ct.load(x, index=(i,), shape=(16,)))


@ct.kernel
def list_kernel(xs, outs):
    for i in range(len(xs)):
        ct.store(outs[i], index=(0,), tile=ct.load(xs[i], index=(0,), shape=(16,)))


def frozen(array):
    array.flags.writeable = False
    return array


def zeros(n=16):
    return np.zeros(n, np.float32)


def refuses(kernel, args, at, name):
    text = rf"argument {at} \('{name}'\) of kernel '{kernel.__name__}' is read-only and the kernel writes to it"
    with pytest.raises(ValueError, match=text):
        ct.launch(None, (1, 1, 1), kernel, args)


def copy(x, out):
    ct.launch(None, (ct.cdiv(x.shape[0], 16), 1, 1), copy_kernel, (x, out))


def ones(n=16):
    return np.ones(n, np.float32)


def test_read_only_output_is_refused_untouched():
    out = frozen(zeros())
    refuses(copy_kernel, (ones(), out), 1, "out")
    assert not out.any()


def test_output_over_bytes_is_refused_untouched():
    data = bytes(64)
    refuses(copy_kernel, (ones(), np.frombuffer(data, np.float32)), 1, "out")
    assert data == bytes(64)


def test_output_in_a_read_only_file_is_refused(tmp_path):
    path = tmp_path / "data"
    zeros().tofile(path)
    refuses(copy_kernel, (ones(), np.memmap(path, np.float32, "r")), 1, "out")


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_read_only_input_is_taken(dtype):
    x, out = frozen(np.arange(100).astype(dtype)), np.zeros(100, dtype)
    copy(x, out)
    np.testing.assert_array_equal(out, x)


def test_input_in_a_read_only_file_is_taken(tmp_path):
    path, out = tmp_path / "data", zeros()
    ones().tofile(path)
    copy(np.memmap(path, np.float32, "r"), out)
    np.testing.assert_array_equal(out, 1)


def test_writable_output_is_taken_after_a_refusal_and_refused_after_that():
    out = zeros()
    refuses(copy_kernel, (ones(), frozen(zeros())), 1, "out")
    copy(ones(), out)
    np.testing.assert_array_equal(out, 1)
    refuses(copy_kernel, (ones(), frozen(zeros())), 1, "out")


def test_parameters_before_the_array_are_counted():
    out = zeros()
    ct.launch(None, (1, 1, 1), tail_kernel, (3, frozen(ones()), 2.0, out))
    np.testing.assert_array_equal(out, 6)
    refuses(tail_kernel, (3, ones(), 2.0, frozen(zeros())), 3, "out")


def test_scatter_writes_its_array_only():
    out, index = zeros(), np.arange(16, dtype=np.int32)
    ct.launch(None, (1, 1, 1), scatter_kernel, (frozen(ones()), frozen(index), out))
    np.testing.assert_array_equal(out, 1)
    refuses(scatter_kernel, (ones(), index, frozen(zeros())), 2, "out")


def test_atomic_writes_its_array_only():
    out = ones()
    ct.launch(None, (1, 1, 1), add_kernel, (frozen(ones()), out))
    np.testing.assert_array_equal(out, 2)
    refuses(add_kernel, (ones(), frozen(ones())), 1, "out")


def test_store_inside_a_loop_and_a_branch_counts():
    out = zeros(32)
    ct.launch(None, (1, 1, 1), either_kernel, (frozen(ones(32)), out, 2))
    np.testing.assert_array_equal(out[16:], 1)
    refuses(either_kernel, (ones(32), frozen(zeros(32)), 2), 1, "out")


def test_one_read_only_array_in_a_list_of_outputs_is_refused():
    outs = [zeros(), zeros()]
    ct.launch(None, (1, 1, 1), list_kernel, ([frozen(ones()), ones()], outs))
    np.testing.assert_array_equal(outs, 1)
    refuses(list_kernel, ([ones(), ones()], [zeros(), frozen(zeros())]), 1, "outs")


def test_array_without_a_buffer_format_is_refused_too():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x, out = frozen(np.ones(16, ml_dtypes.bfloat16)), np.zeros(16, ml_dtypes.bfloat16)
    copy(x, out)
    assert (out == x).all()
    refuses(copy_kernel, (out, x), 1, "out")


@pytest.mark.parametrize("dtype", [">f4", ">i2", ">u8"])
def test_foreign_byte_order_is_refused(dtype):
    x = np.ones(16, dtype)
    with pytest.raises(
        ValueError, match=r"kernel 'copy_kernel', argument 'x': .*newbyteorder\(\"=\"\)"
    ):
        copy(x, np.zeros(16, dtype[1:]))


def test_converted_byte_order_is_taken():
    x, out = np.ones(16, ">f4"), zeros()
    copy(x.astype(x.dtype.newbyteorder("=")), out)
    np.testing.assert_array_equal(out, 1)


class Exporter:
    """Only __dlpack__, no buffer."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **kwargs):
        return self.x.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy before 2.1 lends nothing read-only"
)
def test_read_only_dlpack_exporter_is_read_and_not_written():
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    x.flags.writeable = False
    ct.launch(None, (1,), copy_kernel, (Exporter(x), Exporter(out)))
    np.testing.assert_array_equal(out, np.arange(16))
    with pytest.raises(ValueError, match="read-only"):
        ct.launch(None, (1,), copy_kernel, (Exporter(out), Exporter(x)))
