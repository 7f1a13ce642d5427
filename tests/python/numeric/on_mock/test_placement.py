# SPDX-License-Identifier: Apache-2.0
"""Arrays on a GPU: where they are made, how they move, what is refused. The mock launches nothing, so what is looked at
are devices, copies and the number of kernels."""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import threading

import numpy
import pytest
import tessera
import tessera.numeric as np
from tessera import _core


def test_device_says_where_arrays_are_made(mock) -> None:
    with np.device("cuda"):
        a = np.arange(5.0)
        assert a.device == "cuda:0" and np.default_device() == "cuda:0"
        assert np.zeros(3, device="cpu").device == "cpu"
        with np.device("cpu"):
            assert np.ones(3).device == "cpu"
    assert np.ones(3).device == "cpu" and np.ones(3, device="cuda").device == "cuda:0"
    assert a.__dlpack_device__() == (2, 0) and repr(np.device("cuda")) == "device('cuda:0')"


def test_default_device_is_of_all_threads_and_device_of_one(mock) -> None:
    seen = []
    with np.device("cuda"):
        thread = threading.Thread(target=lambda: seen.append(np.default_device()))
        thread.start()
        thread.join()
    assert np.default_device("cuda") == "cuda:0"
    try:
        assert np.asarray([1, 2]).device == "cuda:0"
    finally:
        np.default_device("cpu")
    assert seen == ["cpu"]


def test_arrays_come_and_go_by_copies(mock) -> None:
    x = numpy.arange(12, dtype="i2").reshape(3, 4)
    for host in (x, x.T, x[::-1, ::2], x[:0], numpy.float32(3) + numpy.zeros(())):
        a = np.asarray(host, device="cuda")
        assert a.device == "cuda:0" and a.shape == host.shape and a.dtype == host.dtype
        assert (numpy.asarray(a) == host).all() and (a.get() == host).all() and a.tolist() == host.tolist()
        assert a.to_device("cuda") is a and a.to_device("cpu").device == "cpu"
    a = np.asarray(x, device="cuda")
    got = numpy.asarray(a)
    got[0, 0] = 7
    assert int(a[0, 0]) == 0 and a[1, 2] == 6 and repr(a) == repr(x)
    with pytest.raises(ValueError, match="an array on cuda:0 is copied"):
        numpy.asarray(a, copy=False)


def test_waiting_values_are_launched_once_on_their_device(mock) -> None:
    a = np.asarray(numpy.ones(4096, "f4"), device="cuda")
    mock.n_launches = 0
    b = np.sqrt(a * 2 + [1.0] * 4096 - numpy.float32(1)) + numpy.ones(4096, "f4")
    assert b.device == "cuda:0" and mock.n_launches == 0
    _core.numeric_flush()
    assert mock.n_launches == 1


def test_a_call_is_where_its_arrays_are(mock) -> None:
    a = np.asarray(numpy.arange(24.0).reshape(4, 6), device="cuda")
    made = [
        a.sum(0), a.mean(axis=1), np.cumsum(a, 1), np.concatenate([a, a]), np.where(a > 0, a, 0), a.T.copy(),
        np.tril(a), np.diff(a), np.roll(a, 1), a.imag, np.meshgrid(a[0], a[1])[0], np.full_like(a, 3), a @ a.T,
        np.add.outer(a, a), np.clip(a, 0, 1), a.astype("f2"), np.linspace(a[0], a[1], 3),
    ]  # fmt: skip
    assert {x.device for x in made} == {"cuda:0"}
    assert np.default_device() == "cpu"
    with pytest.raises(TypeError):
        np.concatenate([a, a], axis="no")
    assert np.default_device() == "cpu"


def test_arrays_of_two_devices_are_refused_by_name(mock) -> None:
    a, b = np.ones(3, device="cuda"), np.ones(3)
    for call in (
        lambda: a + b, lambda: np.add(b, 1, out=a), lambda: np.add(a, 1, where=b > 0), lambda: np.where(b > 0, a, 0),
        lambda: a.__setitem__(slice(None), b), lambda: a.sum(where=b > 0),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"lie on different devices, .*(cpu|cuda:0).*to_device"):
            call()


def test_memory_of_a_gpu_is_handed_out_as_such(mock) -> None:
    a = np.ones((3, 4), "f4", device="cuda")
    interface = a.__cuda_array_interface__
    assert interface["stream"] == 1  # graphs compute on the legacy default stream
    assert interface["typestr"] == "<f4" and interface["shape"] == (3, 4) and interface["strides"] is None
    assert not hasattr(a, "__array_interface__") and not hasattr(np.ones(3), "__cuda_array_interface__")
    with pytest.raises(BufferError, match="lies on a GPU"):
        memoryview(a)
    x = np.asarray(numpy.arange(6).reshape(2, 3), device="cuda")
    assert hashlib.md5(x).digest() == hashlib.md5(numpy.arange(6)).digest()  # who reads at once gets a copy
    for gaps in (x[:, ::2], x[::-1], x.T):
        with pytest.raises(BufferError, match="not contiguous"):
            hashlib.md5(gaps)
    hashlib.md5(x[::2])  # of one row
    with pytest.raises(BufferError, match="lies on a GPU"):
        memoryview(x)
    for device in ((10, 0), (2, 7)):
        with pytest.raises(BufferError, match="dl_device"):
            a.__dlpack__(dl_device=device)
    with pytest.raises(BufferError, match="DLPack has no dtype"):
        np.asarray(numpy.arange(3).astype(">i4"), device="cuda").__dlpack__()
    days = np.asarray(numpy.arange(3).astype("M8[D]"), device="cuda")
    for lend in (lambda: np.from_dlpack(days), lambda: np.from_dlpack(days.reshape(3, *[1] * 9))):
        with pytest.raises(BufferError, match="DLPack has no dtype"):
            lend()
    many = x.reshape(2, *[1] * 30, 3)
    assert np.from_dlpack(many).shape == many.shape and np.shares_memory(np.from_dlpack(many), x)
    with pytest.raises(BufferError, match="up to 8 axes"):
        many.__dlpack__()
    low, high = np.lib.array_utils.byte_bounds(a[1:, ::-2])
    assert (low - interface["data"][0], high - low) == (16 + 4, 28)
    assert a.__dlpack__() is not None and a.__dlpack__(dl_device=(1, 0)) is not None
    with pytest.raises(BufferError, match="copy=False"):
        a.__dlpack__(dl_device=(1, 0), copy=False)


@pytest.mark.parametrize("name", ["tpu", "cuda:x", 3, "cuda:77"])
def test_devices_that_there_are_not(mock, name) -> None:
    with pytest.raises((ValueError, RuntimeError), match=r"device|GPU"):
        np.device(name)
    assert np.default_device() == "cpu"


def test_wait_computes_what_waits(mock) -> None:
    a = np.ones(5000, device="cuda") * 2
    assert _core.numeric_stats()["waiting"] == 0
    with np.device("cuda"):
        assert _core.numeric_stats()["waiting"] == 1
        np.wait(a)
        assert _core.numeric_stats()["waiting"] == 0


def test_more_tiles_than_an_axis_of_the_grid_has(mock) -> None:
    with np.device("cuda"):
        a, row = np.empty((70_000, 1100), "f4"), np.ones(1100, "f4")
        for made in (a + row, a / a.sum(axis=1, keepdims=True), np.empty((70_000, 3, 600), "f4").sum(axis=1)):
            np.wait(made)
            assert mock.grid[0] >= 70_000 and tuple(mock.grid[1:]) == (1, 1)
            del made


def test_dates_stay_on_their_device(mock) -> None:
    days = np.asarray(numpy.arange(3000).view("M8[D]"), device="cuda")
    mock.n_launches = 0
    made = (days + numpy.timedelta64(1, "D")).astype("M8[M]") - numpy.datetime64("1970-01", "M")
    chosen = np.where(days < numpy.datetime64("1971-01-01"), days, numpy.datetime64("NaT"))
    assert made.device == chosen.device == "cuda:0" and mock.n_launches == 0
    assert (made.dtype, chosen.dtype) == (numpy.dtype("m8[M]"), days.dtype)
    days[5:7] = "1980-01-01"
    days[days == days] = numpy.datetime64("1999-01-01T05", "h")
    days += numpy.timedelta64(48, "h")
    for result in (np.maximum(days, days[3]), np.sort(days), days - days, days == days[0]):
        assert result.device == "cuda:0"
    assert days.max().dtype == days.dtype


def test_records_come_and_go_by_copies(mock) -> None:
    from tessera._structs import Structured

    dtype = numpy.dtype([("tag", "i1"), ("x", "f4"), ("n", "i8")])
    host = numpy.zeros(6, dtype)
    host["n"] = range(6)
    for x in (host, host[:0], host.reshape(2, 3).T, host.astype(">i4,>f8,>i2"), numpy.array(["a", "bc"])):
        a = np.asarray(x, device="cuda")
        assert (a.device, a.dtype, a.shape) == ("cuda:0", x.dtype, x.shape)
        assert a.tolist() == x.tolist() and numpy.asarray(a).tolist() == x.tolist()
    a = np.asarray(host, device="cuda")
    assert a[2]["n"] == 2 and a[1:]["n"].device == "cuda:0" and a["x"].strides == (13,)
    interface = a.__cuda_array_interface__
    assert (interface["typestr"], interface["descr"], interface["strides"]) == ("|V13", dtype.descr, None)
    given = a.__tessera_argument__
    assert isinstance(given, Structured) and given.dtype == dtype and given.array.shape == (6,)
    mock.n_launches = 0
    b = a[::2].copy()
    assert b.device == "cuda:0" and b.dtype == dtype and mock.n_launches == 1
    a[1:3] = (1, 2, 3)
    a[["tag", "n"]][:2] = host[["tag", "n"]][:2]
    a["n"] += 1  # to where kernels read it, the sum, and back
    assert mock.n_launches >= 2


class _Shown:
    """Memory of a GPU as another library shows it."""

    def __init__(self, array, **changed) -> None:
        self._array, self._changed = array, changed

    @property
    def __cuda_array_interface__(self):
        return self._array.__cuda_array_interface__ | self._changed

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __array__(self, dtype=None, copy=None):
        raise TypeError("implicit conversions are refused")


@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128", "bool", "float16"])
def test_memory_of_a_gpu_is_taken_as_it_is(mock, dtype) -> None:
    theirs = tessera.array(numpy.arange(24).reshape(4, 6).astype(dtype), device="cuda")
    for lent in (theirs, theirs[1:, ::2], theirs.T, theirs[:0]):
        for ours in (np.from_dlpack(lent), np.asarray(_Shown(lent))):
            assert ours.device == "cuda:0" and ours.dtype == dtype and ours.shape == lent.shape
            assert not ours.size or (ours.strides == lent.strides and ours._address() == lent.ptr)
    for copied in (np.from_dlpack(theirs, copy=True), np.array(_Shown(theirs))):
        assert copied._address() != theirs.ptr and copied.device == "cuda:0"
    for copy in (None, True):
        assert np.from_dlpack(theirs, device="cpu", copy=copy).device == "cpu"
    with pytest.raises(ValueError, match="lies on cuda:0: device='cpu' needs a copy"):
        np.from_dlpack(theirs, device="cpu", copy=False)
    assert np.from_dlpack(theirs, device="cuda", copy=False)._address() == theirs.ptr
    assert np.asarray(_Shown(theirs, strides=None)).strides == theirs.strides


def test_memory_of_a_gpu_that_cannot_be_taken_is_told_of(mock) -> None:
    theirs = tessera.array(numpy.arange(4.0), device="cuda")
    read_only = np.asarray(_Shown(theirs, data=(theirs.ptr, True)))
    with pytest.raises(ValueError, match="read-only"):
        read_only[0] = 1
    with pytest.raises(ValueError, match="mask"):
        np.asarray(_Shown(theirs, mask=theirs))
    with pytest.raises(TypeError, match="no arrays of dtype"):
        np.asarray(_Shown(theirs, typestr="<O8"))


def test_kernels_look_for_faults_where_the_program_says_so(mock) -> None:
    def launches() -> int:
        x = np.ones(1 << 16, device="cuda")
        before = mock.n_load
        np.wait(1 / x)
        return int(mock.n_load - before)

    assert launches() > 0 and launches() == 0
    with numpy.errstate(divide="warn"):
        assert launches() > 0 and launches() == 0  # another kernel, which looks
    assert launches() == 0


@pytest.mark.parametrize("dtype", ["i1", "f2", "u1"])
def test_short_calls_know_which_memory_begins_at_a_line(mock, dtype: str) -> None:
    """A kernel that reads 16 bytes at once is not for views that begin in between."""
    a, b, out = (np.zeros(4096, dtype, device="cuda") for _ in range(3))

    def loads(call) -> int:
        before = mock.n_load
        np.wait(call())
        return int(mock.n_load - before)

    assert loads(lambda: np.maximum(a[:500], b[:500])) > 0
    assert loads(lambda: np.maximum(a[16:516], b[32:532])) == 0
    assert loads(lambda: np.maximum(a[1:501], b[1:501])) > 0
    assert loads(lambda: np.maximum(a[3:503], b[7:507])) == 0
    assert loads(lambda: np.maximum(a[:500], b[:500], out=out[1:501])) > 0
    assert loads(lambda: np.maximum(a[:500], b[:500], out=out[16:516])) == 0


def test_host_arrays_of_no_axes_take_part_anywhere(mock) -> None:
    a, b, yes = np.asarray(numpy.arange(3.0), device="cuda"), np.array(2.5), np.array(True)
    assert b.device == "cpu" == yes.device
    made = [a + b, b + a, np.where(yes, a, b), np.where(yes, b, a), np.add(a, b, where=yes, out=np.empty_like(a))]
    assert {x.device for x in made} == {"cuda:0"}
    a += b
    with pytest.raises(ValueError, match="lie on different devices"):
        np.add(np.empty((), device="cuda"), np.ones(3))


def test_masked_arrays_lie_on_a_gpu(mock) -> None:
    with np.device("cuda"):
        x = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
        made = x + np.ma.masked
    assert {y.device for y in (x.data, x.mask, made.data, made.mask)} == {"cuda:0"}


def test_constants_of_polynomials_lie_where_new_arrays_do(mock) -> None:
    kind = np.polynomial.Chebyshev
    assert kind.domain.device == "cpu" == kind([1, 2]).domain.device
    with np.device("cuda"):
        assert kind.domain.device == "cuda:0" == kind([1, 2]).domain.device
        assert (kind.domain + np.ones(2)).device == "cuda:0"


def test_what_functions_make_for_themselves_lies_beside_their_arrays(mock) -> None:
    """Where new arrays lie on the CPU."""
    a = np.asarray([3.0, 1.0, 2.0], device="cuda")
    a.flat[:] = np.asarray([1.0, 2.0], device="cuda")
    for made in (
        np.convolve(a, a), np.correlate(a, a), np.full_like(a, [1, 2, 3]), np.ldexp(a, [1, 2, 3]),
        np.nextafter([1, 1, 1], a),
    ):  # fmt: skip
        assert made.device == "cuda:0"


def test_shared_memory_is_looked_for_within_a_limit(mock) -> None:
    x, y = np.zeros((4, 5, 6), numpy.int8, device="cuda"), numpy.zeros((4, 5, 6), numpy.int8)
    assert np.shares_memory(x[:, :2], x) and not np.shares_memory(x[:, :2], x[:, 2:])

    def answer(xp, a, name, one, other, work):
        try:
            return getattr(xp, name)(a[one], a[other], max_work=work)
        except Exception as error:  # noqa: BLE001  its class is the answer
            return type(error)

    places = [numpy.s_[:, :2], numpy.s_[:, 2:], numpy.s_[:, ::2], numpy.s_[::3, 1:], numpy.s_[...], numpy.s_[:0]]
    for one, other, work in itertools.product(places, places, (0, 1, 100, -2, 10**100)):
        for name in ("shares_memory", "may_share_memory"):
            assert answer(np, x, name, one, other, work) == answer(numpy, y, name, one, other, work)


def test_arrays_of_no_axes_are_joined_where_the_others_lie(mock) -> None:
    x, one = np.arange(5.0, device="cuda"), np.full((), 3.0, device="cpu")
    for join in (np.hstack, np.vstack, np.dstack, np.ma.hstack):
        for parts in ((one, x), (x, one)):
            if join in (np.hstack, np.ma.hstack):
                assert join(parts).device == "cuda:0"
            else:
                with pytest.raises(ValueError, match="must match exactly"):
                    join(parts)
    with np.device("cuda"):
        assert np.ma.ediff1d(x, to_begin=np.ma.masked, to_end=[1, 2]).shape == (7,)


def test_no_loop_of_host_memory_writes_to_a_gpus(mock) -> None:
    x = numpy.arange(1.0, 6.0)
    a = np.asarray(x, device="cuda")
    before = [np.full(1, 7, "i8", device="cpu").to_device("cuda") for _ in range(8)]
    places = {each._address() for each in before}
    del before  # its memory is there for the next arrays of that size
    for name in ("fmax", "fmin", "subtract", "divide", "bitwise_or", "logical_xor"):
        getattr(np, name).reduce(a.astype("i8") if name == "bitwise_or" else a)
    np.nanmax(a), np.nanmin(a)
    after = [np.empty(1, "i8", device="cuda") for _ in range(8)]
    kept = [ctypes.c_int64.from_address(each._address()).value for each in after if each._address() in places]
    assert kept and 0 not in kept


def test_an_array_in_the_memory_of_another_shares_it(mock) -> None:
    x = numpy.arange(12.0)
    a = np.asarray(x, device="cuda")
    for shape, dtype, offset, strides in (((3,), "f8", 16, None), ((2, 3), "i4", 8, (16, -4)), ((), "u1", 5, None)):
        made = np.ndarray(shape, dtype, a, offset, strides)
        wanted = numpy.ndarray(shape, dtype, x, offset, strides)
        assert made.device == "cuda:0" and np.shares_memory(made, a) and made.strides == wanted.strides
        address, begin = (each.__cuda_array_interface__["data"][0] for each in (made, a))
        assert address - begin == offset and made.dtype == wanted.dtype
        assert made.flags.writeable
        made[...] = 6
    shown = a[:]
    shown.flags.writeable = False
    assert not np.ndarray((3,), "f8", shown).flags.writeable
    with pytest.raises(ValueError, match="contiguous"):
        np.ndarray((3,), "f8", a[::2])
    with pytest.raises(TypeError, match="too small"):
        np.ndarray((13,), "f8", a)
