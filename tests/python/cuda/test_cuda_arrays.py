# SPDX-License-Identifier: Apache-2.0
"""Kernels on arrays of all sorts, on the CPU device."""

from __future__ import annotations

import ctypes
import sys
import threading
import warnings
from typing import Any

import numpy
import pytest
import tessera
from tessera import cuda
from tessera.cuda._device_array import DeviceNDArray


@cuda.jit
def increase(x: Any, by: Any = 1) -> None:
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] += by


class Foreign:
    """An array that says what it is by __cuda_array_interface__ alone."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def __cuda_array_interface__(self) -> Any:
        return self.array.__cuda_array_interface__


def host() -> Any:
    return numpy.arange(24.0).reshape(4, 6)


@pytest.mark.parametrize("index", [numpy.s_[:, :], numpy.s_[1:3, 2:6], numpy.s_[:, ::2]], ids=str)
@pytest.mark.parametrize(
    "make",
    [
        lambda: host(), lambda: numpy.asfortranarray(host()), lambda: cuda.to_device(host()),
        lambda: cuda.to_device(numpy.asfortranarray(host())), lambda: filled(cuda.mapped_array((4, 6))),
        lambda: filled(cuda.managed_array((4, 6))), lambda: filled(cuda.pinned_array((4, 6))),
        lambda: tessera.array(host()),
    ],
    ids=["numpy", "numpy F", "device", "device F", "mapped", "managed", "pinned", "tessera"],
)  # fmt: skip
def test_kernels_write_the_elements_of_views_and_no_others(make: Any, index: Any) -> None:
    whole, wanted = make(), host()
    increase[(1, 1), (8, 8)](whole[index], 2.0)
    wanted[index] += 2
    numpy.testing.assert_array_equal(numpy.asarray(whole), wanted)


def test_a_launch_reads_arrays_of_the_device_without_python() -> None:
    class Derived(DeviceNDArray):
        pass

    arrays = [cuda.to_device(host()), Derived((4, 6), (48, 8), "f8")]
    arrays[1][:] = host()
    launch, calls = increase[(1, 1), (8, 8)], []
    for array in arrays:
        launch(array, 2.0)
    sys.setprofile(lambda frame, event, arg: calls.append(frame) if event == "call" else None)
    try:
        for array in arrays:
            launch(array, 1.0)
    finally:
        sys.setprofile(None)
    assert not calls
    for array in arrays:
        launch(array[1:3], 1.0)
        wanted = host() + 3
        wanted[1:3] += 1
        numpy.testing.assert_array_equal(array.copy_to_host(), wanted)


def filled(array: Any) -> Any:
    array[:] = host()
    return array


def test_arrays_of_others_on_a_stream() -> None:
    stream = cuda.stream()
    device = cuda.to_device(host(), stream=stream)
    increase[(1, 1), (8, 8), stream](Foreign(device))
    increase[(1, 1), (8, 8), stream](by=2, x=Foreign(device[1:]))
    wanted = host() + 1
    wanted[1:] += 2
    numpy.testing.assert_array_equal(device.copy_to_host(stream=stream), wanted)


def test_copies_of_mapped_arrays_are_plain() -> None:
    copy = filled(cuda.mapped_array((4, 6))) + 1
    increase[(1, 1), (8, 8)](copy)
    numpy.testing.assert_array_equal(copy, host() + 2)


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(host())
    increase[(1, 1), (8, 8)](x)
    numpy.testing.assert_array_equal(x.numpy(), host() + 1)


def test_numbers_keep_their_width() -> None:
    seen = []
    for value in (3, 2.5, True, numpy.float32(1.5), numpy.int8(-3), 1 << 63, None):
        kernel = cuda.jit(ignore)
        kernel[1, 1](value)
        seen.append(str(kernel.signatures[0][0]))
    assert seen == ["int64", "float64", "bool", "float32", "int8", "uint64", "none"]


def ignore(value: Any) -> None:
    pass


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2"])
def test_transposing(dtype: str) -> None:
    from tessera.cuda.kernels.transpose import transpose

    for shape in ((5, 67), (1, 1), (0, 3), (130, 33)):
        a = numpy.arange(shape[0] * shape[1]).reshape(shape).astype(dtype)
        numpy.testing.assert_array_equal(transpose(cuda.to_device(a)).copy_to_host(), a.T)
        numpy.testing.assert_array_equal(transpose(cuda.to_device(numpy.asfortranarray(a))).copy_to_host(), a.T)
    with pytest.raises(ValueError, match="it must be"):
        transpose(cuda.to_device(numpy.zeros((2, 3))), cuda.to_device(numpy.zeros((2, 3))))
    with pytest.raises(ValueError, match="3 dimensions"):
        transpose(cuda.to_device(numpy.zeros((2, 3, 4))))


def test_names_of_the_package() -> None:
    names = dir(cuda)
    assert {"jit", "grid", "to_device", "float32", "kernels", "libdevice"} <= {*names}
    for name in names:
        getattr(cuda, name)
    with pytest.raises(AttributeError, match="no_such_name"):
        cuda.no_such_name  # noqa: B018


def test_ravel_gives_elements_without_gaps() -> None:
    array = cuda.to_device(numpy.arange(6))
    assert array.ravel().shape == (6,) and array[1:4].ravel().copy_to_host().tolist() == [1, 2, 3]
    with pytest.raises(NotImplementedError, match="ravel would require copy"):
        array[::2].ravel()


def test_views_of_memory_count_as_users() -> None:
    memory = cuda.current_context().memalloc(64)
    view = memory.view(8)
    part = view.view(8, 16)
    assert (int(part.handle) - int(memory.handle), part.size, memory.refct) == (16, 8, 3)
    assert part.owner is memory and view.owner is memory
    del part, view
    assert memory.refct == 1 and isinstance(memory.device_ctypes_pointer, ctypes.c_size_t)
    with pytest.raises(RuntimeError, match="size cannot be negative"):
        memory.view(65)


def test_a_manager_may_be_an_object() -> None:
    class Manager(cuda.HostOnlyCUDAMemoryManager):
        interface_version, ready, asked = 1, False, 0

        def initialize(self) -> None:
            self.ready = True

        def memalloc(self, size: int) -> cuda.MemoryPointer:
            self.asked += size
            block = numpy.empty(size, numpy.uint8)
            return cuda.MemoryPointer(self.context, block.ctypes.data, size, block)

    context = cuda.current_context()
    before, mine = context.memory_manager, Manager(context=context)
    context.memory_manager = mine
    try:
        array = cuda.to_device(numpy.arange(4))
        assert mine.ready and mine.asked == 32 and context.memory_manager is mine
        assert array.copy_to_host().tolist() == [0, 1, 2, 3]
    finally:
        context.memory_manager = before
    assert context.memory_manager is before


@pytest.mark.parametrize("steps", [(-1, 1), (1, -1), (-2, -1), (3, -2)])
@pytest.mark.parametrize("dtype", [numpy.float64, numpy.int8])
def test_views_with_negative_strides_are_passed_as_they_are(steps: tuple[int, int], dtype: Any) -> None:
    @cuda.jit
    def add(x: Any, y: Any) -> None:
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            y[i, j] = x[i, j] + x[-1 - i, -1 - j]

    whole = (numpy.arange(40 * 70).reshape(40, 70) % 50).astype(dtype)
    x = whole[:: steps[0], :: steps[1]]
    y = numpy.zeros((70, 40), dtype).T[::-1, ::-1][: x.shape[0], : x.shape[1]]
    add[(3, 3), (16, 32)](x, y)
    numpy.testing.assert_array_equal(y, x + x[::-1, ::-1])
    device = cuda.to_device(whole)[:: steps[0], :: steps[1]]
    numpy.testing.assert_array_equal(device.copy_to_host(), x)
    y[:] = 0
    add[(3, 3), (16, 32)](device, y)
    numpy.testing.assert_array_equal(y, x + x[::-1, ::-1])


def test_a_reversed_view_of_an_output_is_seen_to_overlap() -> None:
    @cuda.jit
    def turn(x: Any, y: Any) -> None:
        i = cuda.grid(1)
        value = x[i]
        cuda.syncthreads()
        y[i] = value

    x = numpy.arange(64.0)
    turn[1, 64](x, x[::-1])
    numpy.testing.assert_array_equal(x, numpy.arange(64.0)[::-1])


def test_an_array_of_a_tuple_by_an_index_of_run_time() -> None:
    @cuda.jit
    def pick(arrays: Any, pairs: Any, y: Any) -> None:
        i = cuda.grid(1)
        number, array = pairs[i % 3]
        y[i] = arrays[-1 - i % 2][i, 0] + number + array[0]

    c, f = numpy.arange(8.0).reshape(4, 2), numpy.asfortranarray(numpy.arange(8.0).reshape(4, 2) * 10)
    one, y = numpy.array([100.0, 200.0]), numpy.zeros(4)
    pick[1, 4]((c, f), ((1, one), (2.5, one[::-1]), (3, one)), y)
    want = [(f, c)[i % 2][i, 0] + (101, 202.5, 103)[i % 3] for i in range(4)]
    numpy.testing.assert_array_equal(y, want)

    @cuda.jit
    def differ(x: Any, y: Any) -> None:
        y[0] = (x, y)[cuda.grid(1)][0]

    with pytest.raises(cuda.errors.TypingError, match="its items are not alike"):
        differ[1, 1](c, y)


@pytest.mark.parametrize("make", [lambda: 0, cuda.stream, cuda.default_stream, cuda.legacy_default_stream,
                                  cuda.per_thread_default_stream])  # fmt: skip
def test_elements_are_written_in_the_order_of_a_stream(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stream, waits = make(), []
    device, wanted = cuda.to_device(host(), stream=stream), host()
    row = cuda.to_device(numpy.arange(6, dtype="i4"))
    increase[(1, 1), (8, 8), stream](device)
    wanted += 1
    kind = type(cuda.stream())
    monkeypatch.setattr(kind, "synchronize", lambda self, old=kind.synchronize: waits.append(old(self)))
    for key, value, same in (
        (0, 5, 5), ((1, 2), 7.5, 7.5), (numpy.s_[:, ::2], numpy.arange(4)[:, None], numpy.arange(4)[:, None]),
        (2, row, numpy.arange(6)), (numpy.s_[::-1, 1], row[:4], numpy.arange(4)),
        (numpy.s_[3, ::2], row[::2], numpy.arange(6)[::2]),
        (numpy.s_[3, :3], row[1:4].reshape(1, 3), numpy.arange(1, 4)),
        (numpy.s_[1:1], 3, 3),
    ):  # fmt: skip
        device[key] = value
        wanted[key] = same
    assert len(waits) == (0 if stream else 7)  # one wait each, where there is no stream
    device.setitem((0, 0), 1, stream=stream)
    wanted[0, 0] = 1
    monkeypatch.undo()
    numpy.testing.assert_array_equal(device.copy_to_host(), wanted)


def test_many_elements_of_one_device() -> None:
    from tessera.cuda._assign import assign

    device, wanted = cuda.to_device(numpy.zeros((3, 2000), "c8")), numpy.zeros((3, 2000), "c8")
    assign(device, numpy.asarray(1 + 2j), 0)
    assign(device._with(device._elements[1, ::3]), cuda.to_device(numpy.arange(667)), 0)
    wanted[...], wanted[1, ::3] = 1 + 2j, numpy.arange(667)
    numpy.testing.assert_array_equal(device.copy_to_host(), wanted)


LAPS = [
    (numpy.s_[1:], numpy.s_[:-1]), (numpy.s_[:-1], numpy.s_[1:]), (numpy.s_[:], numpy.s_[::-1]),
    (numpy.s_[::2], numpy.s_[:2500]), (numpy.s_[:], numpy.s_[7]), (numpy.s_[:], numpy.s_[:]),
]  # fmt: skip


@pytest.mark.parametrize(("to", "given"), LAPS, ids=map(str, range(len(LAPS))))
def test_parts_that_overlap_are_copied_first(to: Any, given: Any) -> None:
    from tessera.cuda._assign import assign

    device, wanted, stream = cuda.to_device(numpy.arange(5000.0)), numpy.arange(5000.0), cuda.stream()
    source = device._with(device._index(given))  # `device[7]` would fetch the element
    for _ in range(3):
        device.setitem(to, source, stream)
        wanted[to] = wanted[given].copy()
    stream.synchronize()
    numpy.testing.assert_array_equal(device.copy_to_host(), wanted)
    assign(device._with(device._elements[to]), source, 0)  # what is done without a stream on a GPU
    wanted[to] = wanted[given].copy()
    numpy.testing.assert_array_equal(device.copy_to_host(), wanted)


def test_host_arrays_may_change_once_they_are_assigned() -> None:
    device, stream, event = cuda.to_device(numpy.zeros(5000)), cuda.stream(), threading.Event()
    stream.add_callback(lambda *_: event.wait(20))
    given = numpy.arange(5000.0)
    device.setitem(slice(None), given, stream)
    given[:] = -1
    event.set()
    stream.synchronize()
    numpy.testing.assert_array_equal(device.copy_to_host(), numpy.arange(5000.0))


def test_integers_of_the_other_sign_are_read_as_the_signature_says() -> None:
    torch = pytest.importorskip("torch")

    @cuda.jit("void(uint32[:, :])")
    def halve(x: Any) -> None:
        i, j = cuda.grid(2)
        x[i, j] //= 2

    for x in (numpy.full((2, 3), -1, "i4"), torch.full((2, 3), -1, dtype=torch.int32)):
        halve[1, (2, 3)](x)
        assert (x == 2**31 - 1).all()
    device = cuda.to_device(numpy.full((2, 3), -2, "i4"))
    halve[1, (2, 3)](device)
    assert (device.copy_to_host() == 2**31 - 1).all()
    with pytest.raises(TypeError, match="No matching definition"):
        halve[1, 1](numpy.zeros((2, 3), "i8"))


def test_host_memory_of_a_context_is_a_buffer() -> None:
    import gc
    import weakref

    memory = cuda.current_context().memhostalloc(32, mapped=True)
    assert isinstance(memory, cuda.MappedMemory) and memory.size == memory.host.size == 32
    elements = numpy.ndarray(8, "i4", buffer=memory)
    elements[:] = 3
    assert bytes(memoryview(memory)[:4]) == numpy.int32(3).tobytes()
    ended = weakref.ref(memory)
    del memory, elements
    gc.collect()
    assert ended() is None


def test_few_blocks_are_warned_of_where_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, other = cuda.jit(nothing), cuda.jit(nothing)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel[1, 1]()
    monkeypatch.setattr(cuda.config, "CUDA_LOW_OCCUPANCY_WARNINGS", 1, raising=False)
    with pytest.warns(cuda.errors.NumbaPerformanceWarning, match="Grid size 1 "):
        other[1, 1]


def nothing() -> None:
    pass
