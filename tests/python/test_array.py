# SPDX-License-Identifier: Apache-2.0
"""Arrays as NumPy sees them: views, round trips, DLPack, the buffer protocol, and giving memory back."""

import ctypes
import gc

import numpy as np
import pytest

import tessera

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float16", "float32", "float64"]
PYBUF = {"SIMPLE": 0, "WRITABLE": 1, "ND": 0x8, "STRIDES": 0x18, "C": 0x38, "F": 0x58, "ANY": 0x98}


def numbers(*shape, dtype=np.float32):
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


def get_buffer(obj, flags):
    """Asks for the buffer and gives it back at once; raises what the exporter raised."""
    view = ctypes.create_string_buffer(256)  # more than a Py_buffer takes
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(obj), view, flags)
    ctypes.pythonapi.PyBuffer_Release(view)


# ---- making ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_round_trip(dtype):
    source = numbers(3, 5, dtype=dtype)
    found = tessera.array(source).numpy()
    assert found.dtype == source.dtype
    np.testing.assert_array_equal(found, source)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3), (1, 2, 3, 4, 1, 1, 1, 2)])
def test_shapes_are_kept(shape):
    source = numbers(*shape)
    array = tessera.array(source)
    assert (array.shape, array.ndim, array.size) == (source.shape, source.ndim, source.size)
    assert array.nbytes == source.nbytes
    np.testing.assert_array_equal(array.numpy(), source)


def test_array_copies_strided_sources():
    source = numbers(6, 8)[::-2, 1::3]
    array = tessera.array(source)
    source[:] = -1
    np.testing.assert_array_equal(array.numpy(), numbers(6, 8)[::-2, 1::3])


def test_zeros_full_empty_and_lists():
    np.testing.assert_array_equal(tessera.zeros((2, 3), "int16").numpy(), np.zeros((2, 3), "int16"))
    np.testing.assert_array_equal(tessera.full((2, 2), 7, "int32").numpy(), np.full((2, 2), 7))
    assert tessera.empty(4).shape == (4,)
    assert tessera.array([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert tessera.array([1.5, 2.5], dtype="float16").numpy().dtype == np.float16


def test_impossible_shapes_are_refused():
    with pytest.raises(ValueError):
        tessera.zeros((2, -1))
    with pytest.raises(ValueError):
        tessera.zeros((1,) * 9)
    with pytest.raises(ValueError):
        tessera.zeros((1 << 40, 1 << 40))


# ---- views ----------------------------------------------------------------------------------------

INDICES = [
    np.s_[1], np.s_[-1], np.s_[1:3], np.s_[::-1], np.s_[::-2], np.s_[5:0:-2], np.s_[::-1, ::-1],
    np.s_[..., 2], np.s_[2, ...], np.s_[1:, ::3], np.s_[3:1], np.s_[-100:100], np.s_[4, -7:-1:2],
    np.s_[..., ::-3], np.s_[10:0:-1, 1],
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indexing_matches_numpy(index):
    source = numbers(6, 8)
    view, wanted = tessera.array(source)[index], source[index]
    assert view.shape == wanted.shape
    np.testing.assert_array_equal(view.numpy(), wanted)


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_views_share_memory(index):
    array, wanted = tessera.array(numbers(6, 8)), numbers(6, 8)
    np.asarray(array[index])[...] = -5
    wanted[index] = -5
    np.testing.assert_array_equal(array.numpy(), wanted)


def test_indices_out_of_range_are_refused():
    array = tessera.array(numbers(6, 8))
    for index in (6, -7, (0, 8), (0, 0, 0)):
        with pytest.raises(IndexError):
            array[index]
    with pytest.raises(ValueError):
        array[::0]


def test_reshape_matches_numpy():
    source = numbers(4, 6)
    array = tessera.array(source)
    for shape in ((24,), (2, 12), (-1, 3), (2, 2, 6), (4, 6, 1)):
        np.testing.assert_array_equal(array.reshape(shape).numpy(), source.reshape(shape))
        np.testing.assert_array_equal(array.reshape(*shape).numpy(), source.reshape(shape))
    with pytest.raises(ValueError):
        array.reshape(5, 5)
    with pytest.raises(ValueError):
        array.reshape(-1, -1)


def test_reshape_never_copies():
    array = tessera.array(numbers(4, 6))
    np.asarray(array.reshape(24))[7] = -1
    assert array.numpy()[1, 1] == -1
    with pytest.raises(BufferError, match="copy"):
        array.T.reshape(24)


def test_transpose_matches_numpy():
    source = numbers(2, 3, 4)
    array = tessera.array(source)
    np.testing.assert_array_equal(array.T.numpy(), source.T)
    np.testing.assert_array_equal(array.transpose().numpy(), source.T)
    np.testing.assert_array_equal(array.transpose(2, 0, 1).numpy(), source.transpose(2, 0, 1))
    np.testing.assert_array_equal(array.transpose((1, -1, 0)).numpy(), source.transpose(1, 2, 0))
    np.testing.assert_array_equal(array.T[::-1].copy().numpy(), source.T[::-1])
    for axes in ((0, 1), (0, 0, 1), (0, 1, 3)):
        with pytest.raises(ValueError):
            array.transpose(*axes)


def test_view_as_another_dtype():
    source = numbers(3, 4)
    np.testing.assert_array_equal(tessera.array(source).view("uint8").numpy(), source.view("uint8"))
    np.testing.assert_array_equal(tessera.array(source).view("int32").numpy(), source.view("int32"))


# ---- DLPack ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_takes_arrays_by_dlpack(dtype):
    array = tessera.array(numbers(4, 5, dtype=dtype))
    shared = np.from_dlpack(array[::2, 1:].T)
    np.testing.assert_array_equal(shared, numbers(4, 5, dtype=dtype)[::2, 1:].T)
    assert shared.__array_interface__["data"][0] == array[::2, 1:].ptr


def test_arrays_take_numpy_by_dlpack():
    source = numbers(4, 5)
    array = tessera.from_dlpack(source[::-1, ::2])
    source[3, 4] = 100
    np.testing.assert_array_equal(array.numpy(), source[::-1, ::2])
    np.asarray(array)[0, 0] = -8
    assert source[3, 0] == -8


def test_taken_memory_outlives_its_names():
    array = tessera.from_dlpack(numbers(1000))
    shared = np.from_dlpack(tessera.array(numbers(1000)))
    gc.collect()
    others = [tessera.zeros(1000) for _ in range(4)]
    np.testing.assert_array_equal(array.numpy(), numbers(1000))
    np.testing.assert_array_equal(shared, numbers(1000))
    assert len(others) == 4


def test_dlpack_copy_is_not_shared():
    array = tessera.array(numbers(8))
    capsule = array.__dlpack__(copy=True)
    array.free()
    del capsule


# ---- free -----------------------------------------------------------------------------------------

EXPORTS = {
    "from_dlpack": np.from_dlpack,
    "asarray": np.asarray,
    "memoryview": memoryview,
    "capsule": lambda array: array.__dlpack__(),
    "versioned capsule": lambda array: array.__dlpack__(max_version=(1, 0)),
    "frombuffer": np.frombuffer,
    "array": tessera.from_dlpack,
    "of a view": lambda array: np.asarray(array[3:9:2]),
    "of a view of NumPy": lambda array: np.from_dlpack(array)[::2],
}


@pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS)
def test_free_waits_for_exports(export):
    array = tessera.array(numbers(16))
    lent = export(array)
    with pytest.raises(
        BufferError, match=r"lent to another library \(1 export\); drop those first"
    ):
        array.free()
    other = tessera.full(16, -7.0)
    np.testing.assert_array_equal(array.numpy(), numbers(16))
    del lent
    array.free()
    assert "freed" in repr(array) and other.shape == (16,)


def test_free_counts_exports_of_all_views():
    array = tessera.array(numbers(16))
    view = array[::-2]
    lent = [np.asarray(array), np.from_dlpack(view), memoryview(view)]
    for n in (3, 2, 1):
        with pytest.raises(BufferError, match=rf"\({n} export"):
            view.free()
        lent.pop()
    view.free()
    assert "freed" in repr(array)


def test_copies_do_not_hold_up_free():
    array = tessera.array(numbers(16))
    copies = [array.numpy(), array.copy(), tessera.array(array), np.array(array), bytes(array)]
    array.free()
    np.testing.assert_array_equal(copies[0], numbers(16))
    np.testing.assert_array_equal(copies[1].numpy(), numbers(16))


def test_views_go_with_the_memory():
    array = tessera.array(numbers(16))
    view = array[2:5]
    view.free()
    array.free()
    for freed in (array, view):
        with pytest.raises(BufferError, match="freed"):
            freed.numpy()


USES = {
    "numpy": lambda array: array.numpy(),
    "asarray": np.asarray,
    "memoryview": memoryview,
    "from_dlpack": np.from_dlpack,
    "copy": lambda array: array.copy(),
    "array": tessera.array,
    "index": lambda array: array[0],
    "ptr": lambda array: array.ptr,
    "reshape": lambda array: array.reshape(4, 4).numpy(),
    "transpose": lambda array: array.T.numpy(),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_freed_arrays_are_refused(use):
    array = tessera.array(numbers(16))
    array.free()
    with pytest.raises(BufferError, match="freed"):
        use(array)
    array.free()


def test_freeing_an_import_lets_the_owner_go():
    source = tessera.array(numbers(16))
    array = tessera.from_dlpack(source)
    with pytest.raises(BufferError):
        source.free()
    array.free()
    source.free()


# ---- the buffer protocol --------------------------------------------------------------------------


def test_buffer_of_a_strided_array():
    source = numbers(6, 8)
    view = memoryview(tessera.array(source)[::-2, 1::3])
    assert (view.shape, view.strides, view.format) == ((3, 3), (-64, 12), "f")
    assert not view.contiguous and view.tolist() == source[::-2, 1::3].tolist()
    assert bytes(view) == source[::-2, 1::3].tobytes()


@pytest.mark.parametrize(
    "make, allowed",
    [
        (lambda array: array, {"SIMPLE", "WRITABLE", "ND", "STRIDES", "C", "ANY"}),
        (lambda array: array.T, {"STRIDES", "F", "ANY"}),
        (lambda array: array[:, ::2], {"STRIDES"}),
        (lambda array: array[::-1], {"STRIDES"}),
        (lambda array: array[1], set(PYBUF)),
    ],
    ids=["row-major", "transposed", "gaps", "reversed", "row"],
)
def test_buffers_are_laid_out_as_asked(make, allowed):
    array = make(tessera.array(numbers(6, 8)))
    for name, flags in PYBUF.items():
        if name in allowed:
            get_buffer(array, flags)
        else:
            with pytest.raises(BufferError, match="not contiguous"):
                get_buffer(array, flags)
    array.free()  # refused requests lend nothing


class Versioned:
    """Hands out an array of NumPy in the versioned form, which may be read-only."""

    def __init__(self, source):
        self.source = source

    def __dlpack__(self, **kwargs):
        return self.source.__dlpack__(max_version=(1, 0))


lends_read_only = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy before 2.1 lends nothing read-only"
)


@lends_read_only
def test_read_only_memory_stays_so():
    source = numbers(8)
    source.flags.writeable = False
    array = tessera.from_dlpack(Versioned(source))
    assert memoryview(array).readonly and not np.asarray(array).flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        get_buffer(array, PYBUF["WRITABLE"])
    array.free()


@lends_read_only
def test_read_only_arrays_are_taken_and_stay_read_only():
    source = numbers(10)
    source.flags.writeable = False
    array = tessera.from_dlpack(source)
    assert np.asarray(array).ctypes.data == source.ctypes.data
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(array)[0] = 1


class Old:
    """An exporter from before max_version."""

    def __init__(self, source):
        self.source = source

    def __dlpack__(self, stream=None):
        return self.source.__dlpack__()

    def __dlpack_device__(self):
        return self.source.__dlpack_device__()


def test_exporters_without_versions_are_taken():
    source = numbers(10)
    array = tessera.from_dlpack(Old(source))
    np.asarray(array)[3] = 7
    assert source[3] == 7


def test_an_exporters_own_type_error_is_told():
    class Broken:
        def __dlpack__(self, **kwargs):
            raise TypeError("cannot lend a hat")

    with pytest.raises(TypeError, match="cannot lend a hat"):
        tessera.from_dlpack(Broken())


@pytest.mark.parametrize("dtype", DTYPES)
def test_item_size_is_numpys(dtype):
    assert tessera.zeros(3, dtype).dtype.itemsize == np.dtype(dtype).itemsize
