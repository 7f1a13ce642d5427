# SPDX-License-Identifier: Apache-2.0
"""Views of other libraries' arrays, in host memory."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Any

import numpy as np
import pytest

from tessera.bindings import driver
from tessera.core import Device
from tessera.core._layout import _StridedLayout
from tessera.core._memoryview import _current_device
from tessera.core.utils import StridedMemoryView, args_viewable_as_strided_memory

ARRAYS = {
    "vector": np.arange(5, dtype=np.int16),
    "steps": np.arange(48, dtype=np.float64).reshape(6, 8)[::2, ::-3],
    "columns": np.asfortranarray(np.arange(12, dtype=np.complex64).reshape(3, 4)),
    "scalar": np.array(3, dtype=np.uint8),
    "empty": np.empty((0, 3), np.float16),
    "deep": np.arange(64, dtype=np.int32).reshape(2, 2, 2, 2, 2, 2).transpose(5, 3, 1, 0, 2, 4),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("read", ["from_dlpack", "from_any_interface", "from_array_interface"])
def test_a_view_tells_what_the_array_is(array: np.ndarray[Any, Any], read: str) -> None:
    rest = () if read == "from_array_interface" else (-1,)
    view = getattr(StridedMemoryView, read)(array, *rest)
    assert (view.ptr, view.shape, view.size) == (array.ctypes.data, array.shape, array.size)
    assert view.dtype == array.dtype and view.exporting_obj is array and not view.readonly
    steps = tuple(step // array.itemsize for step in array.strides)
    assert view.strides == steps or (view.strides is None and array.flags.c_contiguous)
    # an array interface is shown with the device of the context that other tests may have left
    device = _current_device() if read == "from_array_interface" else -1
    assert view.device_id == device and not view.is_device_accessible
    assert np.array_equal(np.from_dlpack(view), array)


def test_host_memory_is_given_on_as_the_cpu_whatever_the_context(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tessera.core._memoryview._current_device", lambda: 1)
    view = StridedMemoryView.from_array_interface(np.arange(4))
    part = view.view(view._layout[1:])
    assert view.device_id == part.device_id == 1
    assert view.__dlpack_device__() == part.__dlpack_device__() == (1, 0)


class Ordered:
    """A device array that notes the stream it is asked for; its memory is the host's."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array, self.streams = array, []  # type: tuple[Any, list[Any]]
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 2}

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None) -> Any:
        if type(stream) is not int:
            raise TypeError("stream must be int or none")
        self.streams.append(stream)
        return self.array.__dlpack__(max_version=max_version)


@pytest.mark.parametrize("read", ["from_any_interface", "from_cuda_array_interface"])
def test_a_handle_is_an_address_of_a_stream(read: str) -> None:
    """Also through version 2 of the CUDA array interface, which has no stream: torch's."""
    given = Ordered(np.arange(3))
    for stream, asked in ((driver.CUstream(48), 48), (driver.CUstream(0), 1), (48, 48), (-1, -1)):
        view = getattr(StridedMemoryView, read)(given, stream)
        assert view.ptr == given.array.ctypes.data and given.streams.pop() == asked


def test_a_torch_tensor_is_read_without_a_capsule() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.arange(12, dtype=torch.bfloat16).reshape(3, 4).t()
    view = StridedMemoryView.from_any_interface(tensor, stream_ptr=-1)
    assert (view.ptr, view.shape, view.strides) == (tensor.data_ptr(), (4, 3), (1, 4))
    assert view._keep is None and str(view.dtype) == "bfloat16"
    assert torch.equal(torch.from_dlpack(view), tensor)


def test_a_view_keeps_the_array_and_lets_it_go() -> None:
    array = np.zeros(4)
    before = sys.getrefcount(array)
    view = StridedMemoryView.from_dlpack(array, -1)
    other = np.from_dlpack(view)
    capsule = view.__dlpack__()
    del view
    other[0] = 7
    assert array[0] == 7
    del other, capsule
    gc.collect()
    assert sys.getrefcount(array) == before


def test_a_part_is_a_view() -> None:
    array = np.arange(30, dtype=np.int32).reshape(5, 6)
    view = StridedMemoryView.from_dlpack(array, -1)
    part = view.view(view._layout[1:4, ::-2])
    assert part.ptr == array[1:4, ::-2].ctypes.data
    assert np.array_equal(np.from_dlpack(part), array[1:4, ::-2])
    deeper = part.view(part._layout[1])
    assert np.array_equal(np.from_dlpack(deeper), array[2, ::-2])
    assert view.view() is view and view.view(dtype="float32").dtype == np.float32
    with pytest.raises(ValueError, match="has 8 bytes"):
        view.view(dtype="float64")


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_elements_are_copied_whatever_the_strides(array: np.ndarray[Any, Any]) -> None:
    target = np.zeros_like(array)[..., ::-1] if array.ndim else np.zeros_like(array)
    source, view = (StridedMemoryView.from_dlpack(a, -1) for a in (array, target))
    source.copy_to(view, None)
    assert np.array_equal(target, array)


def test_rectangles_cover_a_copy_between_devices() -> None:
    """What is asked of the driver, carried out here: the plan, rows and outer axes."""
    from tessera.core._copy import _axes, _offsets, _plan

    for array in ARRAYS.values():
        source, target = array, np.zeros(array.shape, array.dtype)
        views = [StridedMemoryView.from_dlpack(a, -1) for a in (source, target)]
        plan = _plan(_axes(*views), array.itemsize)
        for a, b in _offsets(plan.outer) if array.size else ():
            for row in range(plan.rows.n):
                _move(views[1].ptr + b + row * plan.rows.target,
                      views[0].ptr + a + row * plan.rows.source, plan.width)  # fmt: skip
        assert np.array_equal(target, source)


def test_no_pitch_is_more_than_the_driver_takes() -> None:
    from tessera.core._copy import _Axis, _plan

    far = _plan([_Axis(3, 2**31, 2**20), _Axis(1024, 4, 4)], 4)
    assert far.rows.n == 1 and far.outer == [_Axis(3, 2**31, 2**20)]
    near = _plan([_Axis(3, 2**31 - 4, 2**20), _Axis(1024, 4, 4)], 4)
    assert near.rows.n == 3 and not near.outer
    dense = _plan([_Axis(2**30, 4, 4)], 4)
    assert (dense.width, dense.rows.n) == (2**32, 1)


@pytest.mark.parametrize("lost", ["version", "data", "shape", "typestr"])
def test_an_array_interface_without_an_entry_is_named(lost: str) -> None:
    class Partial:
        entries = {"version": 3, "data": (0, False), "shape": (0,), "typestr": "<f4"}
        __array_interface__ = {k: v for k, v in entries.items() if k != lost}
        __cuda_array_interface__ = __array_interface__

    for read in (
        StridedMemoryView.from_array_interface,
        lambda obj: StridedMemoryView.from_cuda_array_interface(obj, -1),
    ):
        with pytest.raises(BufferError, match=f"malformed array interface: it has no {lost}"):
            read(Partial())


def _move(target: int, source: int, n: int) -> None:
    import ctypes

    ctypes.memmove(target, source, n)


def test_wrong_copies_are_refused() -> None:
    view = StridedMemoryView.from_dlpack(np.zeros(3), -1)
    with pytest.raises(ValueError, match=r"shape \(3,\) to shape \(4,\)"):
        view.copy_to(StridedMemoryView.from_dlpack(np.zeros(4), -1), None)
    with pytest.raises(ValueError, match="read-only"):
        view.copy_to(StridedMemoryView.from_dlpack(np.frombuffer(bytes(24)), -1), None)


def test_what_cannot_be_read_says_why() -> None:
    with pytest.raises(BufferError, match="stream=None is ambiguous"):
        StridedMemoryView.from_dlpack(np.zeros(1))
    with pytest.raises(BufferError, match="does not support any data exchange protocol"):
        StridedMemoryView.from_any_interface(object(), -1)
    with pytest.raises(TypeError, match="a view takes"):
        StridedMemoryView.from_dlpack(np.zeros(1), -1, 3)
    pair = np.zeros(2, [("a", "i4"), ("b", "f8")])
    with pytest.raises(ValueError, match="divisible by itemsize"):
        StridedMemoryView.from_array_interface(pair["b"])
    view = StridedMemoryView.from_array_interface(pair)
    with pytest.raises(BufferError, match="Unsupported dtype"):
        view.__dlpack__()


def test_arguments_are_views() -> None:
    @args_viewable_as_strided_memory((1,))
    def shape(scale: int, array: Any) -> Any:
        return tuple(scale * extent for extent in array.view(-1).shape)

    assert shape(2, np.zeros((3, 4))) == (6, 8)


def test_layouts_are_values() -> None:
    layout = _StridedLayout.dense((4, 5), 2, "F")
    assert layout.strides == (1, 4) and layout.strides_in_bytes == (2, 8) and layout.is_dense
    assert layout == _StridedLayout((4, 5), (2, 8), 2, divide_strides=True)
    assert layout.permuted((1, 0)).is_contiguous_c
    part = layout[1:, 2]
    assert (part.shape, part.slice_offset, part.required_size_in_bytes()) == ((3,), 9, 24)
    with pytest.raises(ValueError, match="before the memory"):
        _StridedLayout((5,), (-1,), 1).required_size_in_bytes()


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"dl_device": ()}, "dl_device other than None"),
        ({"copy": True}, "copy=True"),
        ({"max_version": (9, 8, 7)}, "Expected max_version"),
    ],
)
def test_views_refuse_what_they_cannot_give(wish: dict[str, Any], words: str) -> None:
    view = StridedMemoryView.from_dlpack(np.zeros(3), -1)
    with pytest.raises(BufferError, match=words):
        view.__dlpack__(**wish)
    view.__dlpack__(dl_device=view.__dlpack_device__())


def test_a_view_of_a_buffer_holds_its_memory() -> None:
    cpu = Device("cpu")
    buffer = cpu.allocate(64)
    buffer.fill(5)
    view = StridedMemoryView.from_buffer(buffer, (4,), dtype=np.uint8)
    part = view.view(view._layout[1:])
    del view
    with pytest.raises(BufferError, match="the buffer is lent"):
        buffer._set_memory(0, 0)
    buffer.close()
    others = [cpu.allocate(64) for _ in range(8)]
    for other in others:
        other.fill(9)
    assert part.ptr not in [other.handle + 1 for other in others]
    assert np.from_dlpack(part).tolist() == [5, 5, 5]


def test_a_view_is_of_an_open_buffer() -> None:
    buffer = Device("cpu").allocate(8)
    buffer.close()
    with pytest.raises(RuntimeError, match="the buffer is closed"):
        StridedMemoryView.from_buffer(buffer, (2,), dtype=np.uint8)
    with pytest.raises(TypeError, match="views a Buffer, not a ndarray; use from_dlpack"):
        StridedMemoryView.from_buffer(np.ones(2), (2,), dtype=np.uint8)


def test_messages_of_views_name_what_is_wanted() -> None:
    view = StridedMemoryView.from_dlpack(np.ones(4, np.uint8), stream_ptr=-1)
    with pytest.raises(TypeError, match="a ndarray becomes one by StridedMemoryView.from_any"):
        view.copy_from(np.ones(4, np.uint8), stream=None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"layout must be a _StridedLayout.*\(12,\)"):
        view.view((12,))
    with pytest.warns(DeprecationWarning), pytest.raises(BufferError, match="list does not"):
        StridedMemoryView([1], stream_ptr=-1)


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_may_lose_its_name(version: tuple[int, int] | None) -> None:
    """Who takes the name away has the tensor: what is left of the capsule frees nothing."""
    capsule = StridedMemoryView.from_any_interface(np.zeros(3), stream_ptr=-1).__dlpack__(max_version=version)
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    assert rename(capsule, None) == 0
    del capsule
