# SPDX-License-Identifier: Apache-2.0
"""Numbers as kernel arguments: which are taken for each annotation, and what the kernel gets."""

import ml_dtypes
import numpy as np
import pytest
import tessera.tile as ct

BIG = 2**63 + 5
BF16 = ml_dtypes.bfloat16

PARAMETERS = {
    "plain": None, "int": int, "float": float, "int64": ct.ScalarInt64, "float64": ct.ScalarFloat64,
    "float16": ct.float16, "uint64": np.uint64, "int8": ct.int8, "constant": ct.Constant[int],
}  # fmt: skip


NAMES = "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64".split()
DTYPES = tuple(getattr(ct, name) for name in NAMES)


def place_of(dtype):
    found = -1
    for i, other in ct.static_iter(enumerate(DTYPES)):
        found = i if dtype == other else found
    return found


def with_annotation(note):
    """A kernel that writes the place of its number's dtype in NAMES, and its value."""

    def number(place, real, whole, n):
        ct.scatter(place, 0, place_of(n.dtype))
        ct.scatter(real, 0, ct.astype(n, ct.float64))
        ct.scatter(whole, 0, ct.astype(n, ct.uint64))

    if note is not None:
        number.__annotations__["n"] = note
    return ct.kernel(number)


KERNELS = {name: with_annotation(note) for name, note in PARAMETERS.items()}

T, O = TypeError, OverflowError
# value: dtype in the kernel, or the exception, for each parameter in order
TABLE = [
    # value               plain      int        float      int64    float64    float16    uint64    int8      constant
    (True,             ["bool_",   "int32",   "float32", "int64", "float64", "float16", "uint64", "int8",   "bool_"]),
    (5,                ["int32",   "int32",   "float32",  "int64", "float64", "float16", "uint64", "int8",   "int32"]),
    (-5,               ["int32",   "int32",   "float32",  "int64", "float64", "float16", O,        "int8",   "int32"]),
    (300,              ["int32",   "int32",   "float32",  "int64", "float64", "float16", "uint64", O,        "int32"]),
    (2**40,            [O,  O,         "float32",       "int64", "float64", "float16", "uint64", O,        "int64"]),
    (BIG,              [O,  O,         "float32",       O,       "float64", "float16", "uint64", O,        "uint64"]),
    (2**64,            [O,  O,         "float32",       O,       "float64", "float16", O,        O,        O]),
    (-(2**63) - 1,     [O,  O,         "float32",       O,       "float64", "float16", O,        O,        O]),
    (2**1024,          [O] * 9),
    (2.5,              ["float32", T,  "float32",       T,       "float64", "float16", T,        T,        T]),
    (np.bool_(True),   ["bool_",   "int32",   "float32", "int64", "float64", "float16", "uint64", "int8",   "bool_"]),
    (np.int8(-5),      ["int8",    "int8",    "float32",  "int64", "float64", "float16", O,        "int8",   "int8"]),
    (np.int16(5),      ["int16",   "int16",   "float32",  "int64", "float64", "float16", "uint64", "int8",   "int16"]),
    (np.int32(300),    ["int32",   "int32",   "float32",  "int64", "float64", "float16", "uint64", O,        "int32"]),
    (np.int64(2**40),  ["int64",   "int64",   "float32",  "int64", "float64", "float16", "uint64", O,        "int64"]),
    (np.uint8(200),    ["uint8",   "uint8",   "float32",  "int64", "float64", "float16", "uint64", O,        "uint8"]),
    (np.uint16(5),     ["uint16",  "uint16",  "float32",  "int64", "float64", "float16", "uint64", "int8",   "uint16"]),
    (np.uint32(5),     ["uint32",  "uint32",  "float32",  "int64", "float64", "float16", "uint64", "int8",   "uint32"]),
    (np.uint64(BIG),   ["uint64",  "uint64",  "float32",  O,       "float64", "float16", "uint64", O,        "uint64"]),
    (np.float16(2.5),  ["float16", T,  "float16",       T,       "float64", "float16", T,        T,        T]),
    (np.float32(0.1),  ["float32", T,  "float32",       T,       "float64", "float16", T,        T,        T]),
    (np.float64(0.1),  ["float64", T,  "float64",       T,       "float64", "float16", T,        T,        T]),
    (BF16(2.5),        ["bfloat16", T,  "bfloat16",      T,       "float64", "float16", T,        T,        T]),
]  # fmt: skip

CASES = [
    pytest.param(value, name, wanted, id=f"{type(value).__name__}-{value}-{name}")
    for value, row in TABLE
    for name, wanted in zip(PARAMETERS, row, strict=True)
]


@pytest.mark.parametrize("value, name, wanted", CASES)
def test_a_number_gets_the_dtype_that_its_annotation_says(value, name, wanted):
    place, real, whole = np.zeros(1, np.int32), np.zeros(1), np.zeros(1, np.uint64)
    arguments = (place, real, whole, value)
    if not isinstance(wanted, str):
        with pytest.raises(wanted, match="kernel 'number', argument 'n': .*(is annotated|does not fit|Constant)"):
            ct.launch(None, (1,), KERNELS[name], arguments)
        return
    ct.launch(None, (1,), KERNELS[name], arguments)
    assert NAMES[place[0]] == wanted
    if "float" in wanted:
        assert real[0] == float(np.array(value).astype(BF16 if wanted == "bfloat16" else wanted))
    else:
        assert whole[0] == int(value) % 2**64


@ct.kernel
def scale_kernel(x, out, factor):
    ct.store(out, 0, ct.load(x, 0, 4) * factor)


def test_a_python_float_takes_part_as_float32_and_a_numpy_one_as_its_dtype():
    x, out, wide = np.full(4, 3.0, np.float32), np.zeros(4, np.float32), np.zeros(4)
    ct.launch(None, (1,), scale_kernel, (x, out, 0.1))
    assert (out == x * np.float32(0.1)).all()
    ct.launch(None, (1,), scale_kernel, (x, wide, np.float64(0.1)))
    assert (wide == x * np.float64(0.1)).all()
    with pytest.raises(ct.TileTypeError, match="float64 does not convert to float32 implicitly"):
        ct.launch(None, (1,), scale_kernel, (x, out, np.float64(0.1)))


def test_a_class_of_the_users_own_does_not_say_its_dtype_by_its_name():
    place, real, whole = np.zeros(1, np.int32), np.zeros(1), np.zeros(1, np.uint64)
    for name in ("int8", "numpy.int8"):
        value = type(name, (np.float64,), {"__module__": "numpy"})(2.5)
        ct.launch(None, (1,), KERNELS["plain"], (place, real, whole, value))
        assert NAMES[place[0]] == "float64" and real[0] == 2.5


@pytest.mark.parametrize("value", [True, 5, 0, np.bool_(True)])
def test_a_bool_may_be_an_int(value):
    place, real, whole = np.zeros(1, np.int32), np.zeros(1), np.zeros(1, np.uint64)
    ct.launch(None, (1,), with_annotation(bool), (place, real, whole, value))
    assert whole[0] == int(value)


@ct.kernel
def a_bool_constant(out, flag: ct.Constant[bool]):
    ct.scatter(out, 0, 1 if flag else 2)


@pytest.mark.parametrize("value", [True, False, 0, 1, 5, np.bool_(True), np.int8(0)])
def test_a_bool_constant_may_be_an_int(value):
    out = np.zeros(1, np.int32)
    ct.launch(None, (1,), a_bool_constant, (out, value))
    assert out[0] == (1 if value else 2)


WRONG_BOOLS = [(2.0, "the float 2.0"), (np.float32(0.5), "the float 0.5"), (None, "None"), ((1, 2), "a tuple"),
               ([], "a list")]


@pytest.mark.parametrize("value, found", WRONG_BOOLS)
def test_a_bool_constant_is_refused_for_what_is_no_bool(value, found):
    with pytest.raises(TypeError, match=f"argument 'flag': is annotated bool but is {found}; pass"):
        ct.launch(None, (1,), a_bool_constant, (np.zeros(1, np.int32), value))


def test_a_float_constant_may_be_any_int():
    @ct.kernel
    def fill(out, x: ct.Constant[float]):
        ct.scatter(out, 0, x)

    out = np.zeros(1, np.float32)
    ct.launch(None, (1,), fill, (out, 2**70))
    assert out[0] == 2.0**70


@pytest.mark.parametrize("value, text", [(2.0, "2.0"), (2.7, "2.7"), (1e300, r"1e\+300"), (float("inf"), "inf")])
def test_a_float_in_a_message_looks_like_one(value, text):
    with pytest.raises(TypeError, match=f"is annotated int but is the float {text};"):
        ct.launch(None, (1,), KERNELS["int"], (np.zeros(1, np.int32), np.zeros(1), np.zeros(1, np.uint64), value))


def test_an_array_for_a_number_is_refused():
    with pytest.raises(TypeError, match="argument 'n': is annotated int but is an array"):
        ct.launch(None, (1,), KERNELS["int"], (np.zeros(1, np.int32), np.zeros(1), np.zeros(1, np.uint64), np.zeros(4)))


def test_a_storage_type_as_annotation_is_refused():
    kernel = with_annotation(ct.float8_e4m3fn)
    with pytest.raises(TypeError, match="parameter 'n' is annotated float8_e4m3fn, which is a storage type"):
        ct.launch(None, (1,), kernel, (np.zeros(1, np.int32), np.zeros(1), np.zeros(1, np.uint64), 1.0))


def test_the_order_of_dtypes_is_that_of_the_launch():
    from tessera.tile._annotation import NUMERIC

    assert list(NUMERIC) == NAMES
