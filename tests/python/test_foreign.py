# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries that describe themselves wrongly are refused, whatever the protocol; a
random form of the same takes every entry. All addresses are good, so nothing may crash."""

import array
import ctypes
import mmap
import random

import numpy as np
import pytest

import tessera
import tessera.tile as ct
from tessera import core

ROOM = (ctypes.c_char * (1 << 16))()
BASE = (ctypes.addressof(ROOM) + 4096 + 63) // 64 * 64
py = ctypes.pythonapi
py.PyCapsule_New.restype = ctypes.py_object
py.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("ordinal", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
        ("offset", ctypes.c_uint64),
    ]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [("t", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("t", Tensor),
    ]  # fmt: skip


class Exporter:
    """An object with __dlpack__ whose tensor has these fields."""

    def __init__(self, shape=(4,), strides=None, versioned=False, **fields):
        count = max(len(shape or ()), len(strides or ()), 1)
        self.shape = (ctypes.c_int64 * count)(*(shape or ()))
        self.strides = (ctypes.c_int64 * count)(*(strides or ()))
        self.managed = Versioned(major=1) if versioned else Managed()
        tensor = self.managed.t
        usual = {
            "data": BASE,
            "device": 1,
            "ndim": len(shape or strides or ()),
            "code": 2,
            "bits": 32,
        }
        for name, value in (usual | {"lanes": 1} | fields).items():
            setattr(tensor, name, value)
        tensor.shape = None if shape is None else ctypes.addressof(self.shape)
        tensor.strides = None if strides is None else ctypes.addressof(self.strides)
        self.name = b"dltensor_versioned" if versioned else b"dltensor"

    def __dlpack__(self, **_):
        return py.PyCapsule_New(ctypes.addressof(self.managed), self.name, None)

    def __dlpack_device__(self):
        return self.managed.t.device, self.managed.t.ordinal


class Interface:
    """An object with __cuda_array_interface__ that has these entries."""

    def __init__(self, **entries):
        usual = {
            "shape": (4,),
            "typestr": "<f4",
            "data": (BASE, False),
            "version": 3,
            "strides": None,
        }
        self.entries = usual | entries

    @property
    def __cuda_array_interface__(self):
        return self.entries


@ct.kernel
def copy(a, b):
    if a.ndim == 1:
        tile = ct.load(a, (0,), (4,), padding_mode=ct.PaddingMode.ZERO)
    elif a.ndim == 2:
        tile = ct.load(a, (0, 0), (4, 4), padding_mode=ct.PaddingMode.ZERO)
    else:
        tile = ct.load(a, (0, 0, 0), (4, 4, 4), padding_mode=ct.PaddingMode.ZERO)
    ct.store(b, (0,), ct.astype(ct.sum(tile), ct.float32))


def launched(x):
    ct.launch(None, (1,), copy, (x, np.zeros(8, np.float32)))


def viewed(x):
    return core.utils.StridedMemoryView.from_any_interface(x, stream_ptr=-1)


ENTRIES = {
    "launch": launched,
    "from_dlpack": tessera.from_dlpack,
    "array": tessera.array,
    "view": viewed,
}
BAD_TENSORS = {
    "no shape": {"shape": None, "strides": (1,)},
    "negative rank": {"ndim": -1},
    "least rank": {"ndim": -(2**31)},
    "greatest rank": {"ndim": 2**31 - 1},
    "negative extent": {"shape": (-1,)},
    "least extent": {"shape": (-(2**63),)},
    "too many elements": {"shape": (2**62, 2**62), "strides": (0, 0)},
    "no data": {"data": None},
    "no data with an offset": {"data": None, "offset": 64},
    "huge offset": {"offset": 2**64 - 64},
    "huge stride": {"strides": (2**62,)},
    "least stride": {"strides": (-(2**63),)},
    "stride beyond any machine": {"strides": (2**58,)},
}


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("what", BAD_TENSORS)
def test_a_tensor_that_lies_is_refused(entry, what, versioned):
    with pytest.raises((ValueError, BufferError, TypeError)):
        ENTRIES[entry](Exporter(versioned=versioned, **BAD_TENSORS[what]))


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e != "view"])
@pytest.mark.parametrize(
    "fields",
    [
        {"lanes": 4},
        {"lanes": 0},
        {"code": 5},
        {"code": 255},
        {"bits": 33},
        {"bits": 0},
        {"device": 99},
    ],
)
def test_a_tensor_of_another_kind_is_refused(entry, fields):
    with pytest.raises((ValueError, BufferError, TypeError)):
        ENTRIES[entry](Exporter(**fields))


def test_a_tensor_without_elements_needs_no_memory():
    assert tessera.from_dlpack(Exporter(shape=(0,), data=None, offset=64)).shape == (0,)
    assert viewed(Exporter(shape=(0, 2**60), strides=(2**62, 2**62), data=None)).size == 0


@pytest.mark.parametrize(
    "kind", [ctypes.c_int * 4, ctypes.c_float * 4, (ctypes.c_double * 3) * 2, ctypes.c_uint8 * 5]
)
def test_ctypes_arrays_are_arrays(kind):
    x = kind()
    flat = np.frombuffer(x, np.ctypeslib.as_array(x).dtype)
    flat[:] = np.arange(flat.size)
    wanted = np.ctypeslib.as_array(x)
    assert (tessera.asarray(x).numpy() == wanted).all()
    out = np.zeros(8, np.float32)
    ct.launch(None, (1,), copy, (x, out))
    assert out[0] == wanted[tuple(slice(4) for _ in wanted.shape)].sum()


def test_ctypes_structures_are_not_arrays():
    with pytest.raises(TypeError):
        launched((Tensor * 2)())
    with pytest.raises(TypeError):
        tessera.asarray((Tensor * 2)())


@pytest.mark.parametrize(
    "entries, says",
    [
        ({"shape": None}, "shape"), ({"shape": [4]}, "shape"), ({"shape": (1.5,)}, "integer"),
        ({"shape": (-1,)}, "negative extent"), ({"shape": (2**62, 2**62)}, "2\\^62 bytes"),
        ({"shape": (4,) * 40}, "40 dimensions"), ({"typestr": ">f4"}, "byte order"), ({"typestr": "<c32"}, "dtype"),
        ({"typestr": 4}, "dtype"), ({"data": (BASE,)}, "data"), ({"data": BASE}, "data"), ({"data": None}, "data"),
        ({"data": (None, False)}, "address 0"), ({"data": (0, True)}, "address 0"), ({"data": (2**70, True)}, "too"),
        ({"strides": (2**63,)}, "int too"), ({"strides": (4, 4)}, "strides"), ({"strides": "x"}, "strides"),
        ({"strides": (2**60,)}, "address space"), ({"strides": (1,)}, "multiple of the item size"),
        ({"mask": 5}, "mask"),
    ],
)  # fmt: skip
def test_an_interface_that_lies_is_refused(entries, says):
    with pytest.raises((TypeError, ValueError, OverflowError), match=says):
        launched(Interface(**entries))


def test_an_interface_of_another_size_than_its_dtype_is_refused():
    x = Interface(typestr="<V2")
    x.dtype = np.dtype(np.float32)
    with pytest.raises(ValueError, match="elements are float32 and that they have 2 bytes"):
        launched(x)


def test_repeated_elements_are_read_and_not_written():
    x = np.broadcast_to(np.float32(3), (4, 4))
    out = np.zeros(8, np.float32)
    ct.launch(None, (1,), copy, (x, out))
    assert out[0] == 48
    x = np.lib.stride_tricks.as_strided(np.arange(8, dtype=np.float32), (4, 4), (4, 4))
    ct.launch(None, (1,), copy, (x, out))
    assert out[0] == x.sum()
    overlaps = r"argument 1 \('b'\) .* elements that overlap in memory.*memory for each element"
    with pytest.raises(ValueError, match=overlaps):
        ct.launch(None, (1,), copy, (out, np.lib.stride_tricks.as_strided(out, (4,), (0,))))


# ---- at random


def random_tensor(r):
    rank = r.choice([0, 1, 1, 2, 3, 8, 9])
    odd = [-1, 2**62, -(2**63)] if r.random() < 0.2 else []
    shape = [r.choice([1, 2, 3, 4, 0, 1, *odd]) for _ in range(rank)]
    strides = [
        r.choice([1, 2, 4, 8] + ([0, -1, 2**61] if r.random() < 0.3 else [])) for _ in range(rank)
    ]
    code, bits, lanes = r.choice(
        [(2, 32, 1)] * 6
        + [(0, 32, 1), (1, 8, 1), (2, 64, 1), (4, 16, 1), (6, 8, 1), (2, 32, 4), (17, 4, 2)]
    )
    return Exporter(
        shape if r.random() < 0.95 else None, strides if r.random() < 0.6 else None, r.random() < 0.4,
        data=BASE if r.random() < 0.9 else None, device=r.choice([1] * 8 + [3, 99, -1]),
        ordinal=r.choice([0] * 8 + [7]), ndim=rank if r.random() < 0.9 else r.choice([-1, 2**31 - 1]),
        code=code, bits=bits, lanes=lanes, offset=r.choice([0, 0, 0, 4, 1, 64, 2**63, 2**64 - 4]),
    )  # fmt: skip


def random_interface(r):
    odd = {
        "shape": [(), (-1,), (2**62, 2**62), None, (4,) * 40], "typestr": [">f4", "|O", "<f400", "", "|b1"],
        "data": [(None, False), (BASE,), (-1, False), ("x", 0), (0, True)],
        "strides": [(0,), (-4,), (2**63,), "x", (1,)],
    }  # fmt: skip
    return Interface(**{name: r.choice(values) for name, values in odd.items() if r.random() < 0.2})


def random_buffer(r):
    big = np.arange(64, dtype=np.float32)
    return r.choice([
        lambda: memoryview(bytearray(32)).cast("f")[::-1], lambda: (ctypes.c_int * 4)(), lambda: (Tensor * 2)(),
        lambda: memoryview(b"abcd" * 8).cast("i", (2, 4)), lambda: np.zeros(8, ">f4"),
        lambda: np.zeros((1,) * 20, np.float32),
        lambda: np.zeros(4, [("a", "f4"), ("b", "i8")])["a"], lambda: np.broadcast_to(np.float32(1), (8, 8)),
        lambda: np.frombuffer(bytearray(65), np.uint8)[1:].view(np.float32), lambda: np.zeros((2**40, 0), np.float32),
        lambda: np.lib.stride_tricks.as_strided(big, (5, 5), (4, 8)), lambda: np.zeros((), np.float32),
        lambda: big[::3],
    ])()  # fmt: skip


REFUSALS = (
    TypeError, ValueError, BufferError, OverflowError, RuntimeError, NotImplementedError, LookupError, AttributeError,
    MemoryError, tessera.TileError,
)  # fmt: skip


def use(r, x):
    k = r.randrange(6)
    if k < 2:
        other = r.choice([np.zeros(8, np.float32), x, tessera.zeros(8)])
        ct.launch(None, (1,), copy, (x, other) if r.random() < 0.5 else (other, x))
    elif k == 2:
        y = tessera.from_dlpack(x)
        y.numpy(), y.free()
    elif k == 3:
        y = tessera.asarray(x)
        y.reshape(-1), y.T, y.tolist(), y[::-1], repr(y), y.strides, y[:1:3].strides
    elif k == 4:
        tessera.array(x, device="cpu").numpy()
    else:
        y = viewed(x)
        repr(y), y.shape, y.strides, y.size


@pytest.mark.parametrize("block", range(4))
def test_nothing_that_others_say_crashes(block):
    for seed in range(block * 150, block * 150 + 150):
        r = random.Random(seed)
        x = r.choice([random_tensor, random_tensor, random_interface, random_buffer])(r)
        try:
            use(r, x)
        except REFUSALS:
            pass


def in_mmap():
    room = mmap.mmap(-1, 4)
    room[:] = bytes([1, 2, 3, 4])
    return room


HOST_KINDS = {  # those of the table in docs/guide/arrays.md
    "ctypes": lambda: (ctypes.c_float * 4)(1, 2, 3, 4),
    "ctypes of rank 2": lambda: ((ctypes.c_int * 2) * 2)((1, 2), (3, 4)),
    "array.array": lambda: array.array("d", [1, 2, 3, 4]),
    "memoryview": lambda: memoryview(np.arange(1, 5, dtype=np.int16)),
    "cast": lambda: memoryview(bytearray(np.arange(1, 5, dtype=np.float32))).cast("f"),
    "bytearray": lambda: bytearray([1, 2, 3, 4]), "mmap": in_mmap,
    "ml_dtypes": lambda: np.arange(1, 5).astype("bfloat16"),
    "masked": lambda: np.ma.array([1.0, 2.0, 3.0, 4.0], mask=[0, 1, 0, 0]), "bool": lambda: np.ones(10, bool)[::1],
}  # fmt: skip


@pytest.mark.parametrize("kind", HOST_KINDS)
def test_every_kind_of_the_guide_is_an_argument(kind):
    pytest.importorskip("ml_dtypes")
    out = np.zeros(8, np.float32)
    x = HOST_KINDS[kind]()
    ct.launch(None, (1,), copy, (x, out))
    assert out[0] == (4 if kind == "bool" else 10)


@pytest.mark.parametrize(
    "x", [b"1234", array.array("u", "abcd"), np.zeros(4, np.clongdouble), np.zeros(4, object), np.zeros(4, ">f4")],
    ids=["bytes", "text", "complex", "object", "byte order"],
)  # fmt: skip
def test_other_kinds_are_refused(x):
    with pytest.raises((TypeError, ValueError), match="argument 'a': "):
        ct.launch(None, (1,), copy, (x, np.zeros(8, np.float32)))
