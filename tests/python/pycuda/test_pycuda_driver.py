# SPDX-License-Identifier: Apache-2.0
"""tessera.pycuda.driver and tools on the mock driver, whose device memory is the host's."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tessera.pycuda import _module, gpuarray, tools
from tessera.pycuda import driver as drv


@pytest.fixture
def context(mock: Any) -> Iterator[Any]:
    made = drv.Device(0).retain_primary_context()
    made.push()
    yield made
    made.detach()


@pytest.fixture
def kernel(context: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(_module, "_parameter_sizes", lambda handle: [-1])  # an older driver
    return drv.module_from_buffer(b"code").get_function("k")


def test_memory_comes_back(context: Any, mock: Any) -> None:
    source = np.random.default_rng(1).random((5, 7)).astype(np.float32)
    freed = mock.n_free
    memory = drv.to_device(source)
    assert (drv.from_device_like(memory, source) == source).all()
    assert (drv.from_device(memory, 35, np.float32) == source.ravel()).all()
    memory.free()
    assert mock.n_free == freed + 1
    with pytest.raises(drv.LogicError, match="freed"):
        int(memory)


def test_memory_goes_with_its_object(context: Any, mock: Any) -> None:
    freed = mock.n_free
    memory = drv.mem_alloc(64)
    del memory
    gc.collect()
    assert mock.n_free == freed + 1


def test_short_memory_is_tried_again(context: Any, mock: Any) -> None:
    mock.alloc_failures = 1
    assert int(drv.mem_alloc(64))
    mock.alloc_failures = 2
    with pytest.raises(drv.MemoryError, match="cuMemAlloc failed: .*OUT_OF_MEMORY") as caught:
        drv.mem_alloc(64)
    assert isinstance(caught.value, MemoryError) and caught.value.code.value == 2


@pytest.mark.parametrize("order", ["C", "F"])
def test_copies_take_any_order_of_axes(context: Any, order: str) -> None:
    source = np.asarray(np.arange(12.0).reshape(3, 4), order=order)
    memory, target = drv.mem_alloc(source.nbytes), np.empty_like(source)
    drv.memcpy_htod(memory, source)
    drv.memcpy_dtoh(target, memory)
    assert (target == source).all()
    with pytest.raises(ValueError, match="not contiguous"):
        drv.memcpy_htod(memory, source[::2, ::2])
    target.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        drv.memcpy_dtoh(target, memory)


def test_fills(context: Any) -> None:
    memory, target = drv.mem_alloc(8), np.zeros(8, np.uint8)
    drv.memset_d8(memory, 7, 8)
    drv.memcpy_dtoh(target, memory)
    assert (target == 7).all()
    with pytest.raises(TypeError, match=r"memset_d8\(dest, data, count\)"):
        drv.memset_d8(memory, 7)
    drv.memset_d8(memory, -1, 8)  # a bit pattern
    with pytest.raises(OverflowError, match="N is -8"):
        drv.memset_d8(memory, 7, -8)


def test_contexts_are_a_stack(context: Any) -> None:
    assert drv.Context.get_current() is context
    other = drv.Device(0).make_context()
    other.push()  # the mock makes it current in place of the one before, the driver on top of it
    assert drv.Context.get_current() is other
    memory = drv.mem_alloc(8)
    other.detach()
    memory.free()  # it ended with its context
    context.push()
    assert drv.Context.get_current() is context


def test_no_context_is_an_error_that_says_what_to_do(context: Any, mock: Any) -> None:
    drv.cu.cuCtxPushCurrent(0)
    with pytest.raises(drv.LogicError, match="autoinit"):
        drv.Context.get_current()
    drv.Context.pop()
    assert drv.Context.get_current() is context


def test_attributes_by_name(context: Any) -> None:
    device = drv.Device(0)
    attribute = drv.device_attribute.MULTIPROCESSOR_COUNT
    assert device.multiprocessor_count == device.get_attribute(attribute)
    assert "WARP_SIZE" in dir(drv.device_attribute)
    with pytest.raises(AttributeError, match="NO_SUCH"):
        device.no_such  # noqa: B018
    assert drv.host_alloc_flags.PORTABLE == 1 and drv.jit_input_type.CUBIN.value == 0


@pytest.mark.parametrize("make", [drv.pagelocked_zeros, drv.aligned_zeros])
def test_host_memory_is_an_array(context: Any, make: Any) -> None:
    array = make((3, 4), np.complex64, "F")
    assert array.flags.f_contiguous and not array.any()
    assert isinstance(array.base, drv.HostAllocation)
    array[1, 2] = 1j
    assert array[1, 2] == 1j and make(5, gpuarray.vec.float2).dtype == gpuarray.vec.float2


def test_host_memory_of_a_form(context: Any) -> None:
    like = np.asfortranarray(np.ones((2, 3), np.int16))
    assert drv.pagelocked_empty_like(like).strides == like.strides
    assert drv.aligned_empty_like(like, alignment=64).__array_interface__["data"][0] % 64 == 0
    with pytest.raises(TypeError, match="mem_flags"):
        drv.pagelocked_empty(3, np.int8, alignment=64)


def test_events_have_times(context: Any) -> None:
    first, second = drv.Event().record(), drv.Event().record(drv.Stream())
    assert second.time_since(first) == 1.5 == first.time_till(second) and second.query()


# ---- launches


def test_arguments_reach_the_kernel(kernel: Any, mock: Any) -> None:
    mock.n_values = 3
    memory = drv.mem_alloc(8)
    kernel(memory, np.int64(-2), np.uintp(77), block=(32, 2, 1), grid=(5, 6), shared=16)
    assert list(mock.values)[:3] == [int(memory), 2**64 - 2, 77]
    assert (list(mock.block), list(mock.grid), mock.shared_bytes) == ([32, 2, 1], [5, 6, 1], 16)
    mock.n_values = 0


def test_prepared_calls(kernel: Any, mock: Any) -> None:
    mock.n_values, stream = 3, drv.Stream()
    memory = drv.mem_alloc(8)
    kernel.prepare(["P", np.float64, "q"])
    kernel.prepared_async_call((7,), (64, 1, 1), stream, memory, 2, 9, shared_size=8)
    values = np.array(list(mock.values)[:3], np.uint64)
    assert (values[0], values[1:2].view(np.float64)[0], values[2]) == (int(memory), 2.0, 9)
    assert mock.stream == int(stream) and mock.grid[0] == 7
    with pytest.raises(drv.LogicError, match="3 arguments"):
        kernel.prepared_call((1,), (1,), memory)
    mock.n_values = 0


def test_structs_and_vectors_are_passed_by_value(kernel: Any, mock: Any) -> None:
    mock.n_values = 1
    kernel(gpuarray.vec.make_float2(1, 2), block=(1, 1, 1))
    assert np.array([mock.values[0]], np.uint64).view(np.float32).tolist() == [1, 2]
    kernel(np.complex64(3 + 4j), block=(1, 1, 1))
    assert np.array([mock.values[0]], np.uint64).view(np.float32).tolist() == [3, 4]
    mock.n_values = 0


def test_arrays_are_copied_round_a_launch(kernel: Any, mock: Any) -> None:
    mock.n_values = 2
    source, target = np.arange(4.0), np.full(4, 9.0)
    kernel(drv.In(source), drv.InOut(target), block=(1, 1, 1))
    assert (target == 9).all() and mock.values[0] != mock.values[1]
    mock.n_values = 0


@pytest.mark.parametrize("value", [3, 2.5, "x", None, [1, 2]])
def test_other_values_are_refused(kernel: Any, mock: Any, value: Any) -> None:
    before = mock.n_launches
    with pytest.raises(TypeError, match=r"parameter #1 \(0-based\): .*numpy.int32"):
        kernel(np.int32(1), value, block=(1, 1, 1))
    assert mock.n_launches == before


def test_sizes_are_checked_where_the_driver_tells_them(
    kernel: Any, mock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_module, "_parameter_sizes", lambda handle: [8, 4])
    kernel(drv.mem_alloc(8), np.int32(1), block=(1, 1, 1))
    with pytest.raises(drv.LogicError, match="takes 2 arguments, not 1"):
        kernel(np.int32(1), block=(1, 1, 1))
    with pytest.raises(drv.LogicError, match=r"parameter #1 .* has 4 bytes, the argument has 8"):
        kernel(drv.mem_alloc(8), np.int64(1), block=(1, 1, 1))


def test_a_block_is_wanted(kernel: Any) -> None:
    with pytest.raises(ValueError, match="block="):
        kernel()
    with pytest.raises(ValueError, match="1 to 3 numbers"):
        kernel(block=(1, 1, 1), grid=(1, 1, 1, 1))


def test_objects_with_a_pointer_are_arguments(kernel: Any, mock: Any) -> None:
    class Holder(drv.PointerHolderBase):
        def get_pointer(self) -> int:
            return 4096

    class Foreign:
        __cuda_array_interface__ = {"data": (8192, False), "shape": (1,), "typestr": "<f4"}

    mock.n_values = 2
    kernel(Holder(), Foreign(), block=(1, 1, 1))
    assert list(mock.values)[:2] == [4096, 8192]
    mock.n_values = 0


def test_code_that_does_not_load_says_why(context: Any, mock: Any) -> None:
    mock.load_result, mock.error_log = 200, b"line 3: syntax error"
    said = []
    with pytest.raises(drv.CompileError, match="line 3") as caught:
        drv.module_from_buffer(b"code", message_handler=lambda *words: said.append(words))
    assert said == [(False, "", "line 3: syntax error")] and "syntax" in caught.value.stderr
    mock.load_result, mock.error_log = 0, None


# ---- pools


def test_a_pool_keeps_what_is_freed(context: Any, mock: Any) -> None:
    pool = tools.DeviceMemoryPool()
    first = pool.allocate(1000)
    address = int(first)
    assert (pool.active_blocks, pool.held_blocks, pool.active_bytes) == (1, 0, 1000)
    first.free()
    assert (pool.active_blocks, pool.held_blocks) == (0, 1)
    allocated = mock.n_alloc
    assert int(pool.allocate(990)) == address and mock.n_alloc == allocated
    gc.collect()
    pool.stop_holding()
    assert pool.held_blocks == 0 and pool.managed_bytes == 0
    pool.allocate(10).free()
    assert pool.held_blocks == 0


def test_a_pool_gives_back_when_memory_is_short(context: Any, mock: Any) -> None:
    pool = tools.DeviceMemoryPool()
    pool.allocate(1 << 12).free()
    mock.alloc_failures = 2
    assert int(pool.allocate(1 << 20)) and pool.held_blocks == 0


def test_arrays_of_a_page_locked_pool(context: Any) -> None:
    pool = tools.PageLockedMemoryPool()
    array = pool.allocate((4, 4), np.float32)
    array[...] = 3
    assert pool.active_blocks == 1 and (array == 3).all()
    del array
    gc.collect()
    assert (pool.active_blocks, pool.held_blocks) == (0, 1)


# ---- arrays, as far as no kernel runs


def test_an_array_keeps_its_form(context: Any) -> None:
    for host in (np.arange(12.0).reshape(3, 4), np.arange(24).reshape(2, 3, 4).transpose(1, 2, 0)):
        array = gpuarray.to_gpu(host)
        back = array.get()
        assert (back == host).all() and array.strides == host.strides == back.strides
        assert (array.copy().get() == host).all()
        assert (array.get(np.empty(host.shape, host.dtype)) == host).all()


@pytest.mark.parametrize(
    "index",
    [0, -1, np.s_[1:], np.s_[:, 2], np.s_[..., None], np.s_[::-1], np.s_[1, 2, 3], np.s_[None, 1:3, ::2]],
)
def test_views_are_where_numpys_are(context: Any, index: Any) -> None:
    host = np.zeros((4, 5, 6), np.int16)
    array = gpuarray.to_gpu(host)
    words = index if isinstance(index, tuple) else (index,)
    view = array[index]
    wanted = host[words if Ellipsis in words else (*words, Ellipsis)]  # never a scalar
    start = host.__array_interface__["data"][0]
    assert (view.shape, view.strides) == (wanted.shape, wanted.strides)
    assert view.ptr - array.ptr == wanted.__array_interface__["data"][0] - start


@pytest.mark.parametrize("index", [[1, 2], np.array([1]), 1.5, "a", np.s_[:, :, :, 0], 9])
def test_bad_indices(context: Any, index: Any) -> None:
    with pytest.raises((TypeError, IndexError)):
        gpuarray.zeros((4, 5), np.float32)[index]


def test_shapes_change_as_numpys(context: Any) -> None:
    array = gpuarray.zeros((8, 16), np.float32)
    assert array.reshape(-1, 32).shape == (4, 32) and array.ravel().shape == (128,)
    assert array.view(np.complex64).shape == (8, 8) and array.view(np.int16).shape == (8, 32)
    assert array[:1].squeeze().shape == (16,) and array.T.strides == (4, 64)
    for shape in [(3, 3), (-1, -1), (-1, 7)]:
        with pytest.raises(ValueError):
            array.reshape(shape)


def test_interfaces_of_arrays(context: Any) -> None:
    array = gpuarray.zeros((2, 3), np.float32)
    interface = array.__cuda_array_interface__
    assert interface["shape"] == (2, 3) and interface["data"] == (array.ptr, False)
    assert len(array) == 2 and array.nbytes == 24 and bool(gpuarray.zeros((), "i4")) is False
    with pytest.raises(ValueError, match="any\\(\\) or all"):
        bool(array)
    with pytest.raises(TypeError, match="cannot be put into"):
        array.astype(np.float32).view(np.int32).__iadd__(1.5)


def test_names_of_arguments_that_do_not_exist(context: Any) -> None:
    array = gpuarray.zeros(3, np.float32)
    with pytest.raises(TypeError, match=r"get\(\) has no argument named streem"):
        array.get(streem=None)
    with pytest.raises(TypeError, match=r"set\(\) has no argument named pagelocked"):
        array.set(np.ones(3, np.float32), pagelocked=True)
    array.set(np.ones(3, np.float32), **{"async": True})


def test_sizes_that_do_not_fit(context: Any) -> None:
    array = gpuarray.zeros((2, 3), np.float32)
    with pytest.raises(ValueError, match="does not fit"):
        array.set(np.zeros((3, 2), np.float32))
    with pytest.raises(TypeError, match="an array of numpy is needed, not a list"):
        array.set([1, 2])
    with pytest.raises(ValueError, match="broadcast"):
        array + gpuarray.zeros((2, 4), np.float32)
    with pytest.raises(TypeError):
        array + "x"


def test_dlpack_keeps_what_it_lends(context: Any) -> None:
    array = gpuarray.to_gpu(np.arange(24, dtype=np.float32).reshape(4, 6))
    assert array.__dlpack_device__() == (2, 0)
    part = array[1:, ::2]
    address, lent = part.ptr, weakref.ref(part)
    shared = gpuarray.from_dlpack(part)
    del part
    gc.collect()
    assert (shared.ptr, shared.strides, shared.dtype) == (address, (24, 8), np.float32) and lent() is not None
    del shared
    gc.collect()
    assert lent() is None
    owners = sys.getrefcount(array)
    capsule = array.__dlpack__(max_version=(1, 0))
    assert "dltensor_versioned" in repr(capsule) and sys.getrefcount(array) > owners
    del capsule  # nobody takes it
    gc.collect()
    assert sys.getrefcount(array) == owners
    with pytest.raises(BufferError, match="no elements"):
        gpuarray.GPUArray(3, gpuarray.vec.float2).__dlpack__()
    with pytest.raises(BufferError, match="no GPU"):
        gpuarray.from_dlpack(np.zeros(3))
