# SPDX-License-Identifier: Apache-2.0
"""vectorize, guvectorize and reduce on the CPU device, beside NumPy."""

from __future__ import annotations

import itertools
import operator
import pickle
from typing import Any

import numpy
import pytest
from tessera import cuda
from tessera.cuda import float32, float64, int32, void
from tessera.cuda.errors import TypingError


@cuda.vectorize([int32(int32, int32), float32(float32, float32), float64(float64, float64)])
def add(a: Any, b: Any) -> Any:
    """Adds."""
    return a + b


@cuda.guvectorize(["void(f4[:, :], f4[:, :], f4[:, :])", "void(f8[:, :], f8[:, :], f8[:, :])"], "(m,n),(n,p)->(m,p)")
def matmul(A: Any, B: Any, C: Any) -> None:
    m, n = A.shape
    n, p = B.shape
    for i in range(m):
        for j in range(p):
            C[i, j] = 0
            for k in range(n):
                C[i, j] += A[i, k] * B[k, j]


@cuda.guvectorize([(float64[:], float64[:], float64[:])], "(n),(n)->()")
def dot(x: Any, y: Any, r: Any) -> None:
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    r[0] = total


def operands(dtype: str) -> list[Any]:
    base = (numpy.arange(60) % 7).astype(dtype).reshape(3, 4, 5)
    return [base, base[:, ::2, :1], numpy.asfortranarray(base), base[1, 1], base[..., :1], base[0, 0, 0], base[:0],
            base[::-1], numpy.broadcast_to(base[0], (3, 4, 5))]  # fmt: skip


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8"])
def test_elements_broadcast_as_in_numpy(dtype: str) -> None:
    for a, b in itertools.product(operands(dtype), repeat=2):
        try:
            wanted = numpy.add(a, b)
        except ValueError:
            with pytest.raises(ValueError, match="broadcast"):
                add(a, b)
            continue
        found = add(a, b)
        numpy.testing.assert_array_equal(found, wanted)
        assert found.dtype == dtype and found.shape == wanted.shape


@pytest.mark.parametrize("dims", range(1, 8))
def test_many_dimensions(dims: int) -> None:
    a = numpy.random.default_rng(0).random((2,) * dims)
    numpy.testing.assert_array_equal(add(a, numpy.array(a.T, order="F")), a + a.T)


def test_the_signature_is_the_first_that_is_safe() -> None:
    assert add(numpy.int8(1), numpy.int16(2)).dtype == "i4"
    assert add(1, 2).dtype == "f8" and add(1.5, 2) == 3.5
    assert add(numpy.float32(1), numpy.int8(1)).dtype == "f4"
    with pytest.raises(TypeError, match="no matching signature"):
        add(1j, 2)


def test_inputs_are_cast_without_loss_and_outputs_within_their_kind() -> None:
    single = cuda.vectorize(["float32(float32, float32)"])(lambda a, b: a * b)
    x = numpy.array([1.5, 2.5], "f4")
    assert single(x, numpy.int16(2)).tolist() == [3, 5] and single(x, 2).dtype == single(x, 0.1).dtype == "f4"
    for lossy in (x.astype("f8"), numpy.float64(2), numpy.arange(2), [1.5, 2.5], 1j):
        with pytest.raises(TypeError, match="no matching signature.*convert them with astype"):
            single(x, lossy)
    out = numpy.empty(2, "f2")
    assert single(x, x, out=out) is out and out.tolist() == [2.25, 6.25]
    for mistaken in (numpy.empty(2, "i4"), cuda.device_array(2, "i4")):
        with pytest.raises(TypeError, match="output 0 has dtype int32, to which float32 is not cast"):
            single(x, x, out=mistaken)
    rows = cuda.guvectorize(["void(f4[:], f4[:])"], "(n)->()")(lambda row, total: None)
    with pytest.raises(TypeError, match="no matching signature"):
        rows(numpy.ones((2, 3)))


def test_no_elements_along_a_core_dimension() -> None:
    x, y = numpy.ones((7, 3, 4)), numpy.ones((4, 5))
    for a, b in ((x[:, :0], y), (x, y[:, :0]), (x[:, :, :0], y[:0])):
        assert numpy.array_equal(matmul(a, b), a @ b)


def test_an_integer_of_numpy_is_cast_where_it_fits() -> None:
    whole, y = cuda.vectorize(["int32(int32, int32)"])(lambda a, b: a * b), numpy.arange(3, dtype="i4")
    assert whole(y, numpy.int64(2)).tolist() == [0, 2, 4] and whole(y, numpy.uint64(7)).dtype == "i4"
    for lossy in (numpy.int64(2**40), numpy.array(2), numpy.float64(2)):
        with pytest.raises(TypeError, match="no matching signature"):
            whole(y, lossy)


def test_a_python_int_has_no_size() -> None:
    small = cuda.vectorize(["int8(int8, int8)", "int64(int64, int64)"])(lambda a, b: a + b)
    x = numpy.ones(3, "i1")
    assert small(x, 100).dtype == "i1" and small(x, 300).dtype == "i8"
    assert add(numpy.float32([1]), 2).dtype == (numpy.float32([1]) + 2).dtype


def test_results_are_where_the_inputs_are() -> None:
    x = numpy.arange(10, dtype="f4")
    d = cuda.to_device(x)
    assert isinstance(add(x, x), numpy.ndarray)
    assert add(x, d).copy_to_host().tolist() == (x + x).tolist()
    out = numpy.empty_like(x)
    assert add(x, x, out=out) is out and (out == 2 * x).all()
    wide = numpy.empty(10)
    add(x, x, out=wide)
    assert (wide == 2 * x).all()
    stream = cuda.stream()
    assert add(d, d, out=d, stream=stream) is d
    assert d.copy_to_host(stream=stream).tolist() == (2 * x).tolist()
    with pytest.raises(ValueError, match="it must be"):
        add(x, x, out=numpy.empty(3, "f4"))
    with pytest.raises(ValueError, match="both positional and keyword"):
        add(x, x, out, out=out)
    with pytest.raises(TypeError, match="no argument 'axis'"):
        add(x, x, axis=0)


def test_tuples_and_lists_of_arrays() -> None:
    d = cuda.to_device(numpy.arange(3.0))
    numpy.testing.assert_array_equal(add((1.0, 2.0), (3.0, 4.0)), [4, 6])
    numpy.testing.assert_array_equal(add((d, d), (d, d)), [[0, 2, 4]] * 2)


def test_reduction_by_a_vectorized_function() -> None:
    x = numpy.arange(1025, dtype="i4")
    assert add.reduce(x) == x.sum() and add.reduce(x).dtype == "i4" and add.reduce(cuda.to_device(x)) == x.sum()
    with pytest.raises(TypeError, match="1d"):
        add.reduce(numpy.zeros((2, 2)))


@pytest.mark.parametrize("loop", [(), (7,), (4, 5), (2, 1, 3)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_cores_of_two_dimensions(loop: tuple[int, ...], dtype: str) -> None:
    random = numpy.random.default_rng(1)
    a, b = random.random((*loop, 2, 4)).astype(dtype), random.random((4, 5)).astype(dtype)
    numpy.testing.assert_allclose(matmul(a, b), a @ b, rtol=1e-5)
    device = matmul(cuda.to_device(a), b)
    numpy.testing.assert_allclose(device.copy_to_host(), a @ b, rtol=1e-5)


def test_outputs_of_no_dimensions() -> None:
    x = numpy.arange(12.0).reshape(3, 4)
    numpy.testing.assert_array_equal(dot(x, x), (x * x).sum(1))
    assert dot(x[0], x[0]) == (x[0] * x[0]).sum()


def test_several_outputs() -> None:
    @cuda.guvectorize([void(int32[:], int32[:], float64[:])], "(x)->(x),(x)")
    def both(A: Any, B: Any, C: Any) -> None:
        for i in range(B.size):
            B[i] = A[i]
            C[i] = A[i] * 1.5

    a = numpy.arange(10, dtype="i4")
    b, c = both(a)
    assert (b == a).all() and (c == a * 1.5).all() and c.dtype == "f8"
    with pytest.raises(TypeError, match=r"Got 2 positional arguments\."):
        both(a, a)


@pytest.mark.parametrize(
    ("layout", "text"), [("(n)(n)->()", "written as"), ("(n)->(m)", "'m'"), ("n->n", "written as"), ("(n)", "written")]
)
def test_layouts_that_are_refused(layout: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        cuda.guvectorize(["void(f4[:], f4[:])"], layout)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="core dimension 'n'"):
        matmul(numpy.zeros((2, 3)), numpy.zeros((4, 5)))
    with pytest.raises(ValueError, match="0 has 1 dimensions"):
        matmul(numpy.zeros(3), numpy.zeros((4, 5)))
    with pytest.raises(TypeError, match="specifies int32 return type"):
        cuda.guvectorize([int32(int32[:], int32[:])], "(m)->(m)")(lambda x, y: None)
    with pytest.raises(TypeError, match="nopython flag must be True"):
        cuda.guvectorize([], "(n)->(n)", nopython=False)
    with pytest.raises(TypeError, match="Unrecognized options: 'what'"):
        cuda.vectorize(["f4(f4)"], what=1)
    with pytest.raises(ValueError, match="target is 'gpu'"):
        cuda.vectorize(["f4(f4)"], target="gpu")
    with pytest.raises(TypeError, match="needs signatures"):
        cuda.vectorize(lambda x: x)


def test_attributes_and_pickles() -> None:
    assert (add.__name__, add.__doc__, add.nin, add.nout, len(add.types)) == ("add", "Adds.", 2, 1, 3)
    again = pickle.loads(pickle.dumps(operator.attrgetter("layout")(add)))
    assert again == add.layout


@pytest.mark.parametrize("n", [0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 65537, 1_000_003])
@pytest.mark.parametrize("dtype", ["i8", "f4"])
def test_reductions(n: int, dtype: str) -> None:
    total = cuda.reduce(lambda_sum)
    x = (numpy.arange(n) % 1000).astype(dtype)
    wanted = x.astype("f8").sum()
    assert abs(float(total(x)) - wanted) <= 1e-4 * max(1.0, wanted)
    assert total(x, init=5) - total(x) in (5, 4, 6) or dtype == "f4"
    result = cuda.to_device(numpy.zeros(1, dtype))
    assert total(cuda.to_device(x), res=result, init=2) is None
    assert abs(float(result[0]) - wanted - 2) <= 1e-4 * max(1.0, wanted)


def lambda_sum(a: Any, b: Any) -> Any:
    return a + b


def test_reductions_of_a_part_and_of_the_wrong_shape() -> None:
    total = cuda.Reduce(lambda_sum)
    assert total(numpy.arange(10), size=4) == 6
    with pytest.raises(ValueError, match="the array has 10"):
        total(numpy.arange(10), size=11)
    with pytest.raises(TypeError, match="only support 1D array"):
        total(numpy.zeros((2, 2)))


def test_an_output_may_lack_axes_of_one_element() -> None:
    @cuda.guvectorize(["void(int32[:], int32[:], int32[:])"], "(n),()->(n)")
    def add(x, y, out):
        for i in range(x.shape[0]):
            out[i] = x[i] + y[0]

    out = numpy.zeros(4, numpy.int32)
    add(numpy.arange(4, dtype="i4"), numpy.array([2], "i4"), out=out)
    assert out.tolist() == [2, 3, 4, 5]


def test_nopython_is_redundant() -> None:
    with pytest.warns(RuntimeWarning, match="nopython kwarg for cuda target is redundant"):
        cuda.vectorize(["f4(f4)"], nopython=True)(lambda x: x)


def test_arrays_of_others_are_taken_by_their_interface() -> None:
    class Foreign:
        def __init__(self, array: Any) -> None:
            self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__

    @cuda.vectorize(["f8(f8, f8)"])
    def add(x, y):
        return x + y

    x, out = cuda.to_device(numpy.arange(3.0)), cuda.device_array(3)
    assert add(Foreign(x), 6).copy_to_host().tolist() == [6, 7, 8]
    add(numpy.arange(3.0), 6, out=Foreign(out))
    assert out.copy_to_host().tolist() == [6, 7, 8]


def test_the_type_of_the_result_is_found() -> None:
    days = cuda.from_dtype(numpy.dtype("M8[D]"))

    @cuda.vectorize([(days, days), (int32, float32)])
    def between(a: Any, b: Any) -> Any:
        return b - a

    first = numpy.arange("2005-02", "2005-04", dtype="M8[D]")
    second = first + numpy.arange(first.size) ** 2
    found = between(first, second)
    assert found.dtype == "m8[D]" and (found == second - first).all()
    assert between.types[1] == "(int32, float32) -> float64"
    with pytest.raises(TypingError, match="returns nothing where a value is wanted"):

        @cuda.vectorize([(int32,)])
        def nothing(a: Any) -> None:
            pass
