# SPDX-License-Identifier: Apache-2.0
"""CuPy's names: arrays that nothing converts by itself, results of no axes as arrays, devices, streams, memory."""

import concurrent.futures
import copy
import pickle
import threading
import warnings

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import cupy as cp
from tessera import cupyx


@pytest.fixture
def a():
    return cp.arange(6, dtype="f4")


def test_results_of_no_axes_are_arrays(a):
    for made in (
        a.sum(),
        a[2],
        a.mean(),
        cp.sqrt(2.0),
        cp.linalg.norm(a),
        cp.allclose(a, a),
        a.max(),
        cp.dot(a, a),
        cp.linalg.matrix_rank(a),
        cp.random.rand(),
    ):
        assert type(made) is cp.ndarray and made.shape == ()
    assert float(a.sum()) == 15 and bool(cp.allclose(a, a)) and int(a.argmax()) == 5


def test_an_element_is_a_view(a):
    place = a[2]
    place[...] = 7
    assert a.get().tolist() == [0, 1, 7, 3, 4, 5]


@pytest.mark.parametrize(
    "use",
    [
        lambda a, x: a + x, lambda a, x: x * a, lambda a, x: cp.add(a, x), lambda a, x: cp.concatenate([a, x]),
        lambda a, x: np.add(a, x), lambda a, x: np.asarray(a), lambda a, x: cp.sum(x), lambda a, x: a.__setitem__(0, x),
        lambda a, x: a.dot(x), lambda a, x: a**x, lambda a, x: a < x,
    ],
)  # fmt: skip
def test_numpys_arrays_are_no_operands(a, use):
    with pytest.raises(TypeError):
        use(a, np.arange(6, dtype="f4"))


def test_subscripts_may_be_numpys_arrays(a):
    assert float(cp.einsum(a, np.array([0]), a, [0], np.array([], int))) == 55
    with pytest.raises(TypeError):
        cp.einsum(np.arange(6), [0])


def test_methods_of_numpys_functions_take_them(a):
    np.add.at(a, cp.array([0, 0, 3]), cp.array([1, 2, 3], "f4"))
    np.add.at(a, cp.array([1]), 7)
    assert a.tolist() == [3, 8, 2, 6, 4, 5]
    made = np.add.reduceat(a.reshape(2, 3), cp.array([0, 2]), axis=1), np.maximum.reduce(a), np.add.outer(a[:1], a[:2])
    assert [m.tolist() for m in made] == [[[11, 2], [10, 5]], 8, [[6, 11]]]
    assert {type(m) for m in made} == {cp.ndarray}


def test_strides_of_new_memory_lie_in_it():
    assert cp.ndarray((2, 3), "f4", strides=(4, 8)).strides == (4, 8)
    with pytest.raises(ValueError, match="memptr"):
        cp.ndarray((2, 3), "f4", strides=(20, 4))


def test_no_library_reads_the_memory(a):
    with pytest.raises(BufferError, match="get"):
        memoryview(a)
    assert not hasattr(a, "__array_interface__")


def test_numpys_functions_give_cupys_arrays(a):
    assert type(np.sin(a)) is cp.ndarray
    assert type(np.sum(a)) is cp.ndarray
    assert type(np.linalg.norm(a)) is cp.ndarray


def test_host_and_back(a):
    assert isinstance(a.get(), np.ndarray) and cp.asnumpy([1, 2]).tolist() == [1, 2]
    host = np.arange(4.0)
    made = cp.asarray(host)
    made += 1
    assert host[0] == 0 and cp.asarray(made) is made
    a.set(np.full(6, 2, "f4"))
    out = np.empty(6, "f4")
    assert a.get(out=out) is out and out.tolist() == [2] * 6
    with pytest.raises(TypeError, match="set"):
        a.set(np.zeros(6))
    with pytest.raises(ValueError, match="Shape"):
        a.set(np.zeros(5, "f4"))
    assert cp.array([a[0], a[1]]).shape == (2,)
    assert cp.asnumpy(cp.arange(6).reshape(2, 3).T, order="F").flags.f_contiguous


def test_views_and_in_place(a):
    b = a.reshape(2, 3)
    assert b.base is a and a.base is None and a.flags.owndata
    b[0] = 9
    b += 1
    b **= 2
    assert a.get().tolist() == [100, 100, 100, 16, 25, 36]
    c = b.T
    assert type(c) is cp.ndarray and type(c.real) is cp.ndarray and c.shape == (3, 2)
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


def test_module_of_an_array(a):
    assert cp.get_array_module(a, 1) is cp and cp.get_array_module(np.zeros(1)) is np


def test_pickle_and_copy(a):
    for made in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a), a.copy()):
        assert type(made) is cp.ndarray and made is not a and cp.array_equal(made, a)
    assert pickle.loads(pickle.dumps(cp.add)) is cp.add


def test_arrays_of_numeric_stay_apart():
    x = tn.arange(3)
    y = cp.asarray(x)
    assert type(x) is tn.ndarray and type(y) is cp.ndarray and type(x + 1) is tn.ndarray


def test_scatter(a):
    cupyx.scatter_add(a, [0, 0, 1], 1)
    assert a.get()[:2].tolist() == [2, 2]
    cupyx.scatter_max(a, cp.array([3, 3]), cp.array([7, 5], "f4"))
    assert float(a[3]) == 7


def test_memory_by_address():
    room = cp.cuda.alloc(64)
    made = cp.ndarray((2, 4), "f4", room + 16)
    made[...] = 3
    assert made.data.ptr == room.ptr + 16
    raw = np.empty(8, "f4")
    (room + 16).copy_to_host(raw.ctypes.data, 32)
    assert raw.tolist() == [3] * 8
    for outside in (lambda: room.memset(0, 1 << 20), lambda: (room - 16).memset(0, 16), lambda: room.memset(0, -1),
                    lambda: (made.data - 32).memset(0, 4), lambda: made.data.memset(0, 1 << 20),
                    lambda: cp.ndarray(999, "f4", room), lambda: cp.cuda.alloc(-1024),
                    lambda: cp.ndarray(2, "f4", room, strides=(-4,))):  # fmt: skip
        with pytest.raises(ValueError):
            outside()
    (made.data - 16).memset(0, 16)
    assert cp.ndarray((0, 999), "f4", room).shape == (0, 999)
    assert cp.cuda.alloc(np.int64(1024)).mem.size == 1024
    pool = cp.cuda.MemoryPool()
    held = pool.malloc(1000)
    assert pool.used_bytes() == 1024 and held.ptr
    pool.set_limit(size=2048)
    with pytest.raises(MemoryError, match="limit set to"):
        pool.malloc(2000)


def test_memory_of_an_array(a):
    turned = cp.ndarray((3, 2), "f4", a.data + 4, strides=(8, -4))
    assert turned.get().tolist() == [[1, 0], [3, 2], [5, 4]] and turned.data.ptr == a.data.ptr + 4
    (a.data + 8).copy_from_host(np.full(2, 9, "f4").ctypes.data, 8)
    assert a.get().tolist() == [0, 1, 9, 9, 4, 5] and a[2:].data.mem.size == 24


def test_unowned_memory_is_shared():
    owner = np.arange(4.0)
    if cp.is_available():
        pytest.skip("the address is one of the host")
    memory = cp.cuda.UnownedMemory(owner.ctypes.data, owner.nbytes, owner)
    made = cp.ndarray(4, "f8", cp.cuda.MemoryPointer(memory, 0))
    made += 1
    assert cp.asnumpy(made).tolist() == [1, 2, 3, 4] and owner.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("shared", [cp.cuda.Stream, lambda: cp.cuda.Device(0)])
def test_two_threads_enter_one_object(shared):
    shared, entered, left = shared(), threading.Event(), threading.Event()

    def other():
        with shared:
            entered.set()
            left.wait(20)

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with shared:
            waits = pool.submit(other)
            assert entered.wait(20)
        left.set()
        waits.result()
    assert cp.cuda.get_current_stream() == cp.cuda.Stream.null


def test_streams_and_events(a):
    with cp.cuda.Stream(non_blocking=True) as stream:
        assert cp.cuda.get_current_stream() == stream
        begin = stream.record()
        b = a * 2
        end = cp.cuda.Event()
        end.record()
        end.synchronize()
    assert end.done and cp.cuda.get_elapsed_time(begin, end) >= 0 and float(b[5]) == 10
    assert cp.cuda.get_current_stream() == cp.cuda.Stream.null
    cp.cuda.Device().synchronize()
    with pytest.raises(ValueError, match="no device 77"):
        cp.cuda.Device(77)


def test_drawn_numbers_are_numpys_of_the_seed():
    cp.random.seed(3)
    got = cp.random.rand(4, dtype="f4")
    assert got.dtype == "f4" and np.allclose(got.get(), np.random.RandomState(3).rand(4))
    assert type(cp.random.default_rng(1).integers(10)) is cp.ndarray


@pytest.mark.filterwarnings("error")
def test_bounds_of_drawn_integers():
    state, theirs = cp.random.RandomState(np.bool_(0)), np.random.RandomState(0)
    assert state.randint(5, size=9, dtype="i4").get().tolist() == theirs.randint(5, size=9).tolist()
    assert set(state.random_integers(2, size=99).tolist()) == {1, 2}
    assert state.randint(-0.9, 1.1, size=3).tolist() == [0, 0, 0]
    for low, high in ((3, 3), (-0.2, 0.3), (0, None)):
        with pytest.raises(ValueError, match="low >= high"):
            state.randint(low, high, size=0)


def test_fused_functions_are_called():
    @cp.fuse(kernel_name="f")
    def f(x, y):
        return cp.sqrt(x * y) + 1

    assert f(cp.ones(3), 4).get().tolist() == [3, 3, 3]
    with pytest.raises(TypeError, match="unexpected"):
        cp.fuse(fast=True)


def test_times_of_calls(a):
    from tessera.cupyx.profiler import benchmark

    made = benchmark(lambda: a + 1, n_repeat=3, n_warmup=1, name="add")
    assert made.cpu_times.shape == (3,) and made.gpu_times.shape == (1, 3) and "add" in str(made)
    with pytest.raises(ValueError, match="callable"):
        benchmark(3)


def test_missing_names_are_attribute_errors():
    for module in (cp, cp.linalg, cp.fft, cp.random, cupyx, cp.cuda, cp.cuda.runtime):
        with pytest.raises(AttributeError, match="no_such_name"):
            module.no_such_name  # noqa: B018


def test_what_get_gives_of_one_element_is_compared():
    a = cp.arange(3)
    assert a[1] == a[1].get() and not a[1] < a[1].get() and (a == a[2].get()).tolist() == [False, False, True]
    with pytest.raises(TypeError, match="Unsupported type"):
        a == a.get()  # noqa: B015
    with pytest.raises(TypeError, match="Unsupported type"):
        a + a[1].get()
    like = cp.zeros_like(np.ones((2, 3), "f4"))
    assert type(like) is cp.ndarray and like.shape == (2, 3) and like.dtype == "f4"


def test_algorithms_read_and_write_them():
    from tessera import compute

    squares, total = compute.TransformIterator(cp.arange(10, dtype="i4"), lambda x: x * x), cp.zeros(1, "i4")
    compute.reduce_into(d_in=squares, d_out=total, num_items=10, op=compute.OpKind.PLUS, h_init=np.zeros(1, "i4"))
    assert total[0] == 285


def test_places_take_values_of_numpys(a):
    a[[0, 1]] = np.array([5.0, 6])
    a.scatter_add([1, 1], np.array([1.0, 2]))
    cp.maximum.at(a, np.array([3]), np.array([7.0]))
    cp.negative.at(a, [5])
    assert a.get().tolist() == [5, 9, 2, 7, 4, -5] and bytes(a[:1]) == np.float32(5).tobytes()
    assert float(cp.average(np.arange(4))) == 1.5 and cp.min_scalar_type(cp.array(-1.0)) == "f8"
    with pytest.warns(DeprecationWarning, match="vstack"):
        assert cp.row_stack([a, a]).shape == (2, 6)
    for refused in (lambda: a.__setitem__(slice(2), np.ones(2)), lambda: a.scatter_add(slice(2), np.ones(2))):
        with pytest.raises(TypeError, match="cupy.asarray"):
            refused()
    assert cp.polynomial.polynomial.polycompanion(cp.array([1.0, 2, 3])).shape == (2, 2)


def test_faults_of_arithmetic_are_not_told(a):
    zeros, many = cp.zeros(3), cp.zeros(5000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (zeros, many):
            made = [x / x, 1 / x, x // x, x % x, cp.log(x - 1), x**-1, np.sqrt(x - 1), cp.power(x, -1), (x - 1) ** 0.5]
            x /= x
            assert all(np.isfinite(m.get()).sum() == 0 for m in (*made, x))
        with pytest.raises(RuntimeWarning):
            np.zeros(3) / np.zeros(3)


def test_dtypes_that_arrays_have_not():
    for refused in (
        lambda: cp.empty(3, "3i"), lambda: cp.zeros(3, "V"), lambda: cp.array([None]), lambda: cp.empty(3, object)
    ):  # fmt: skip
        with pytest.raises(ValueError, match="Unsupported dtype"):
            refused()
    for refused in (lambda: cp.empty(3, ">i4"), lambda: cp.ndarray(3, ">i4")):
        with pytest.raises(ValueError, match="byte-order of dtype >i4"):
            refused()
    swapped = np.arange(3, dtype=">i4")
    assert cp.array(swapped).dtype == "<i4" and cp.asarray([swapped, swapped]).get().tolist() == [[0, 1, 2]] * 2
    with pytest.raises(TypeError, match="takes no subok="):
        cp.ones_like(cp.ones(3), subok=True)
    with pytest.raises(ValueError, match=r"ndarray\(\) with strides \(-8,\)"):
        cp.ndarray((3,), strides=(-8,))


def test_lists_of_columns_become_rows():
    columns = cp.asfortranarray(cp.ones((2, 3)))
    assert cp.array([columns, columns]).strides == (48, 24, 8) and cp.asfortranarray(cp.ones(())).shape == (1,)


def test_places_of_extremes_have_a_dtype(a):
    made, wide = a.argmax(dtype="i4"), cp.argmin(a.reshape(2, 3), 1, "f4", keepdims=True)
    assert made.dtype == "i4" and int(made) == 5 and wide.dtype == "f4" and wide.get().tolist() == [[0], [0]]
    out = cp.empty(2, "i4")
    assert cp.argmax(a.reshape(2, 3), axis=1, out=out) is out and out.get().tolist() == [2, 2]
    with pytest.raises(ValueError, match="does not match the result of argmax"):
        cp.argmax(a, out=out)


def test_polynomials_are_operands_by_their_coefficients(a):
    p = cp.poly1d([1, 2])
    assert type(cp.arange(2) + p) is cp.ndarray and (cp.arange(2) + p).get().tolist() == [1, 3]
    assert cp.poly1d(np.poly1d([1, 2], variable="z")).variable == "z"


def test_numpys_scalars_are_compared(a):
    assert (np.int16(3) < a).get().tolist() == [False] * 4 + [True] * 2 and (np.float64(3) == a)[3]


class Named(cp.ndarray):
    def __array_finalize__(self, obj):
        self.name = getattr(obj, "name", None)


def test_functions_of_elements_keep_classes():
    a = cp.arange(3.0).view(Named)
    a.name = "a"
    for made in (cp.sin(a), cp.add(a, a), cp.add(cp.ones(3), a), a + 1, cp.ones(3) + a):
        assert type(made) is Named and made.name == "a"


def test_objects_are_compared():
    for made in (cp.arange(3) == None, cp.arange(3) != "x"):  # noqa: E711
        assert type(made) is cp.ndarray and made.dtype == bool and made.shape == (3,)


def test_integers_to_the_power_of_minus_one(a):
    assert (cp.array([1, -2, 1]) ** -1).get().tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="negative integer powers"):
        cp.array([1, 2]) ** -2


def test_dtypes_of_numbers_and_lists(a):
    assert cp.min_scalar_type([a, a]) == "f4" and cp.min_scalar_type(3) == "u1" and cp.min_scalar_type(a[0]) == "f4"
    assert cp.make_aligned_dtype("?,c8").itemsize == 16 and cp.make_aligned_dtype("?,(3,)c8").itemsize == 32
    inner = np.dtype([("a", "?"), ("b", "c8,?")])
    assert cp.make_aligned_dtype(inner).itemsize == 24 and cp.make_aligned_dtype("?,(4,)V3").itemsize == 13
    assert cp.make_aligned_dtype("f8,c16").isalignedstruct
    assert cp.make_aligned_dtype("?,i4", alignment=16).itemsize == 16
    with pytest.raises(ValueError, match="only supports structured dtypes"):
        cp.make_aligned_dtype("c16")


def test_parts_of_numbers_are_arrays():
    for made, wanted in ((cp.real(2), 2), (cp.imag(2.5j), 2.5), (cp.real(True), True), (cp.real([1j, 2])[1], 2)):
        assert type(made) is cp.ndarray and made.get() == wanted


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i8", "f4", "f8"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all"])
def test_reductions_of_all_elements_stay_arrays(name: str, dtype: str) -> None:
    host = np.arange(1, 7).reshape(2, 3).astype(dtype)
    made, wanted = getattr(cp.asarray(host), name)(), getattr(host, name)()
    assert isinstance(made, cp.ndarray) and made.shape == () and made.dtype == wanted.dtype and made.get() == wanted


def test_arrays_of_the_cpu_leave_no_gpu():
    a = cp.ones(3)
    if str(a.device) != "<CPU Device 0>" and tn.default_device() != "cpu":
        pytest.skip("arrays lie on a GPU")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not (a == None).any() and (a != None).all()  # noqa: E711  elements are compared
