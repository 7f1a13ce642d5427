# SPDX-License-Identifier: Apache-2.0
"""Records of NumPy, texts and numbers at any bytes in kernels of threads: on the CPU device, by the reference
interpreter as made for a GPU, and what is refused."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest
import simt_run

from tessera import cuda
from tessera import tile as ct
from tessera.cuda import errors, from_dtype, types

INNER = [("u", "i2"), ("v", "f4")]
FIELDS: list[Any] = [("a", "i1"), ("b", "f8"), ("n", INNER), ("h", "f4", (3, 2)), ("t", "U5"), ("s", "S3")]
ALIGNED, PACKED = np.dtype(FIELDS, align=True), np.dtype(FIELDS)
SMALL = np.dtype([("x", "i4"), ("y", "f8")], align=True)
ODD = np.dtype([("p", "u1"), ("v", "f8")])
TABLE = np.array([(1, 2.5), (3, 4.5), (5, 6.5)], SMALL)
NAMES = np.array(["ab", "cde", ""])


def every(kernel: Any, *args: Any, block: int = 32, check: Any) -> None:
    """Runs a kernel on the CPU device, by the interpreter, and as made for a GPU; `check` gets copies."""
    for target in ("cpu", 0, 90):
        given = [a.copy() if hasattr(a, "copy") else a for a in args]
        if target == "cpu":
            cuda.jit(kernel)[1, block](*given)
        else:
            simt_run.run(kernel, *given, block=(block,), target=target)
        check(*given)


def fields(x, out):
    i = cuda.grid(1)
    if i < x.size:
        x[i].a += 1
        x[i]["b"] = x[i].a * 2.5
        r = x[i]
        r.n.v = 3
        r["n"]["u"] = i
        r.h[1, 0] = 7
        for j in range(2):
            r.h[-1, j] = j + i
        r.t = "heß"
        r.s = b"abcd"
        out[i] = r.h[2, 1] + len(r.t) + (r.t == "heß") + (r.s == b"abc") * 100


@pytest.mark.parametrize("dtype", [ALIGNED, PACKED])
def test_fields_are_read_and_written(dtype: Any) -> None:
    def check(x: Any, out: Any) -> None:
        i = np.arange(20)
        np.testing.assert_array_equal(x["a"], i + 1)
        np.testing.assert_array_equal(x["b"], 2.5 * (i + 1))
        np.testing.assert_array_equal(x["n"]["u"], i)
        np.testing.assert_array_equal(x["h"][:, 2], np.stack([i, i + 1], 1))
        assert (x["n"]["v"] == 3).all() and (x["h"][:, 1, 0] == 7).all() and (x["h"][:, 0] == 0).all()
        assert (x["t"] == "heß").all() and (x["s"] == b"abc").all()
        np.testing.assert_array_equal(out, i + 1 + 3 + 1 + 100)

    x = np.zeros(20, dtype)
    x["a"] = np.arange(20)
    every(fields, x, np.zeros(20), check=check)


def test_arrays_with_steps_and_record_arrays() -> None:
    x, out = np.zeros(40, PACKED)[::2], np.zeros(20)
    cuda.jit(fields)[1, 32](x, out)
    assert (x["t"] == "heß").all() and (x.base["t"][1::2] == "").all()
    y = np.recarray(20, ALIGNED)
    y.fill(np.zeros((), ALIGNED))
    cuda.jit(fields)[1, 32](y, out)
    assert (y.h[:, 1, 0] == 7).all()


def whole(x, y, z):
    i = cuda.grid(1)
    shared = cuda.shared.array(32, ALIGNED)
    local = cuda.local.array(2, dtype=ALIGNED)
    if i < x.size:
        shared[i] = x[i]
        local[1] = x[i]
        local[0].a = 4
    cuda.syncthreads()
    if i < x.size:
        y[i] = shared[x.size - 1 - i]
        z[i] = local[1]
        z[i].n = y[i].n


def test_whole_records_and_arrays_of_them() -> None:
    x = np.zeros(20, ALIGNED)
    x["b"], x["n"]["u"], x["t"] = np.arange(20), np.arange(20), "kiln"

    def check(x: Any, y: Any, z: Any) -> None:
        assert (y == x[::-1]).all()
        assert (z["b"] == x["b"]).all() and (z["n"] == x["n"][::-1]).all()

    every(whole, x, np.zeros(20, ALIGNED), np.zeros(20, ALIGNED), check=check)


def views(x, out):
    for r in x:
        r.y += 1
    x[0].y *= 2
    x.y[2] = 9
    x["x"][:] = 5
    x[1:3].y[:] = x[::2].y
    out[0] = x.y.sum()
    out[1] = x.shape[0] * 100 + x.strides[0] + x.x.strides[0] + x.itemsize
    x[3] = (7, 8.5)
    out[2] = x[3][1] + x[3][0]
    out[3] = len(x)


def test_views_of_fields() -> None:
    x = np.array([(0, 1.0), (1, 2.0), (2, 3.0), (3, 4.0)], SMALL)

    def check(x: Any, out: Any) -> None:
        np.testing.assert_array_equal(x["y"], [4, 4, 9, 8.5])
        np.testing.assert_array_equal(x["x"], [5, 5, 5, 7])
        np.testing.assert_array_equal(out, [4 + 4 + 9 + 5, 448, 15.5, 4])

    every(views, x, np.zeros(4), block=1, check=check)


NAMED = np.dtype([("size", "f8"), ("T", "i4"), ("h", "f4", (2, 3))], align=True)


def shaped(x, out):
    r = x[1]
    out[0] = r.size + r.T
    out[1] = x.size + x["size"].size
    flat = r.h.ravel()
    out[2] = flat[4] + r.h.reshape(3, 2)[2, 1]
    out[3] = r.h.reshape(2, -1)[1, 0]
    c = r.h.copy()
    r.h.fill(0.0)
    out[4] = c[1, 2] + r.h.sum()
    out[5] = x["T"].view(np.uint32)[1]


def test_attributes_and_forms_of_fields() -> None:
    x = np.zeros(2, NAMED)
    x["size"], x["T"], x["h"] = 2.5, -1, np.arange(12).reshape(2, 2, 3)

    def check(x: Any, out: Any) -> None:
        np.testing.assert_array_equal(out, [1.5, 4, 10 + 11, 9, 11, 4294967295])

    every(shaped, x, np.zeros(6), block=1, check=check)
    assert "view() takes numbers" in refused(viewed, x.copy(), np.zeros(1))


def viewed(x, out):
    out[0] = x.view(np.uint8)[0]


def of_record(r, out):
    r.y = r.x + 0.5
    out[0] = r["y"]


def test_records_as_arguments() -> None:
    for record in (TABLE.copy()[1], TABLE[1].copy(), np.rec.array(TABLE.copy())[1], np.array(TABLE[1]).copy()):
        out = np.zeros(1)
        cuda.jit(of_record)[1, 1](record, out)
        assert record["y"] == out[0] == 3.5
    device = cuda.to_device(TABLE.copy()[1])
    cuda.jit(of_record)[1, 1](device, out)
    assert device.copy_to_host()["y"] == 3.5
    held = cuda.to_device(TABLE)
    cuda.jit(of_record)[1, 1](held[2], out)
    assert held.copy_to_host()["y"].tolist() == [2.5, 4.5, 5.5]


def odd(v, w):
    i = cuda.grid(1)
    if i < v.size:
        v[i] = v[i] + i * 1.5
        w[i] = i


def test_numbers_at_any_bytes() -> None:
    x, y = np.zeros(5, ODD), np.zeros(21, "u1")[1:].view("f4")
    cuda.jit(odd)[1, 32](x["v"], y)
    np.testing.assert_array_equal(x["v"], np.arange(5) * 1.5)
    np.testing.assert_array_equal(y, np.arange(5))
    assert (x["p"] == 0).all()


def constants(out, text):
    i = cuda.grid(1)
    if i < 3:
        c = cuda.const.array_like(TABLE)
        out[i] = TABLE[i].y + c[2 - i].x
        text[i] = NAMES[i]


def test_records_of_the_host_are_constants() -> None:
    def check(out: Any, text: Any) -> None:
        np.testing.assert_array_equal(out, TABLE["y"] + TABLE["x"][::-1])
        np.testing.assert_array_equal(text, np.array(["ab", "cd", ""]))

    every(constants, np.zeros(3), np.array(["zz"] * 3), check=check)


def texts(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = (x[i] < "b") + 10 * (x[i] >= x[0]) + 100 * (x[i] != "b") + 1000 * len(x[i])


def test_texts_are_compared() -> None:
    words = np.array(["b", "a", "ba", "Ω", ""])

    def check(x: Any, out: Any) -> None:
        wanted = [(w < "b") + 10 * (w >= "b") + 100 * (w != "b") + 1000 * len(w) for w in words]
        np.testing.assert_array_equal(out, wanted)

    every(texts, words, np.zeros(5), check=check)


class Pair(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass(frozen=True)
class Scaled:
    table: Any
    by: float

    def at(self, i):
        return self.table[i].y * self.by


def holders(p, q, out):
    i = cuda.grid(1)
    if i < p.x.size:
        out[i] = p.x[i].y + p.y + q.at(i)


def test_named_tuples_and_dataclasses_hold_records() -> None:
    out = np.zeros(3)
    kernel = cuda.jit(holders)
    kernel[1, 32](Pair(TABLE.copy(), 2), Scaled(TABLE.copy(), 10.0), out)
    np.testing.assert_array_equal(out, TABLE["y"] * 11 + 2)
    assert "Scaled" in str(list(kernel.overloads)[0])


@dataclasses.dataclass(frozen=True)
class Masked:
    value: Any
    valid: Any

    def __add__(self, other):
        return Masked(self.value + other.value, self.valid and other.valid)

    def __gt__(self, other):
        return Masked(self.value > other, self.valid)

    def __bool__(self):
        return self.valid and self.value


def masked(a, has_a, b, has_b, out, valid):
    i = cuda.grid(1)
    if i < a.size:
        x, y = Masked(a[i], has_a[i]), Masked(b[i], has_b[i])
        r = x + y if x > 2.0 else x
        out[i] = r.value + 100 * bool(y > 0.5)
        valid[i] = r.valid


def test_dataclasses_with_operators() -> None:
    rng = np.random.default_rng(1)
    a, b, has_a, has_b = rng.random(50) * 4, rng.random(50), rng.random(50) > 0.3, rng.random(50) > 0.3
    adds = has_a & (a > 2)

    def check(a: Any, _: Any, b: Any, __: Any, out: Any, valid: Any) -> None:
        np.testing.assert_array_equal(out, np.where(adds, a + b, a) + 100 * (has_b & (b > 0.5)))
        np.testing.assert_array_equal(valid, np.where(adds, has_a & has_b, has_a))

    every(masked, a, has_a, b, has_b, np.zeros(50), np.zeros(50, bool), block=64, check=check)


def test_signatures_name_records() -> None:
    record = from_dtype(SMALL)

    @cuda.jit((record[:], types.int64, record))
    def kernel(a: Any, n: Any, r: Any) -> None:
        i = cuda.grid(1)
        a[i].x = a[i].y + n + r.x

    x = TABLE.copy()
    kernel[1, 3](x, 3, TABLE[1])
    np.testing.assert_array_equal(x["x"], [8, 10, 12])
    ptx, _ = cuda.compile_ptx(kernel.py_func, (record[::1], types.int64, record))
    assert "ld.global.f64" in ptx and "ld.global.b8" not in ptx
    assert types.Record.make_c_struct([("x", types.int32), ("y", types.float64)]) == record


def test_hints_say_whether_records_are_copied() -> None:
    def three(r: Any) -> None:
        r[0]["x"] = 3

    kernel = cuda.jit(three)
    for hint, wanted in ((cuda.In, 0), (cuda.InOut, 3), (cuda.Out, 3), (lambda r: r, 3)):
        x, plain = np.zeros(1, SMALL), np.zeros(1)
        kernel[1, 1](hint(x))
        assert x["x"][0] == wanted
        store[1, 1](hint(plain))
        assert plain[0] == wanted


def test_extensions_may_come_after_the_kernel() -> None:
    class Kept:
        def prepare_args(self, ty: Any, value: Any, stream: Any, retr: Any) -> Any:
            return ty, cuda.In(value)

    kernel, x = cuda.jit(store.py_func), np.zeros(1)
    kernel[1, 1](x)
    kernel.extensions.append(Kept())
    x[0] = 0
    kernel[1, 1](x)
    assert x[0] == 0


@cuda.jit
def store(a):
    a[0] = 3


def refused(function: Any, *args: Any) -> str:
    with pytest.raises((errors.TypingError, TypeError, ValueError)) as raised:
        cuda.jit(function)[1, 1](*args)
    return str(raised.value)


def unknown(a):
    a[0].yy = 3


def in_number(a):
    a[0].y = a[0]


def number(a):
    a[0] = 1


def of_array(a):
    a["z"][0] = 1


def atomic(a):
    cuda.atomic.add(a.v, 0, 1)


def of_number(a):
    a[0].x.y = 1


def other_text(a):
    a[0] = b"x"


def many(a):
    a[0] = (1, 2, 3)


def behind(a):
    a[0] = a[0][2]


@pytest.mark.parametrize(
    ("function", "array", "text"),
    [
        (unknown, TABLE, "record (x: int32, y: float64) has no field 'yy'\n"),
        (unknown, TABLE, "did you mean 'y'"),
        (in_number, TABLE, "an element of float64 takes a number"),
        (number, TABLE, "constant 1 cannot be stored in an element that is record"),
        (of_array, TABLE, "has no field 'z'"),
        (atomic, np.zeros(2, ODD), "make the record's dtype with align=True"),
        (of_number, TABLE, "attributes of int32 scalar cannot be assigned"),
        (other_text, np.array(["ab"]), "cannot be stored in an element that is text of 2 characters"),
        (many, TABLE, "a tuple of 3 items cannot be stored in record"),
        (behind, TABLE, "index 2 is out of range for record"),
        (number, TABLE.astype(SMALL.newbyteorder(">")), "byte order of another machine"),
        (number, np.array([None]), "is not a dtype of Tessera"),
    ],
)
def test_mistakes_are_named(function: Any, array: Any, text: str) -> None:
    assert text in refused(function, array.copy())


def converted(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]


def test_records_of_another_layout_are_stored_field_by_field() -> None:
    x = np.zeros(7, PACKED)
    x["b"], x["n"]["u"], x["h"], x["t"] = np.arange(7), np.arange(7), 2.5, "tessera"
    other = np.dtype([("q", "f4"), ("b", "i2"), ("n", INNER, ()), ("h", "f8", (3, 2)), ("t", "U3"), ("s", "S8")])

    def check(x: Any, y: Any) -> None:
        for name in ("b", "n", "h", "s"):
            np.testing.assert_array_equal(y[name], x[name])
        assert (y["t"] == "tes").all()

    every(converted, x, np.zeros(7, other), check=check)
    assert "a record of 2 items cannot be stored in record" in refused(converted, TABLE.copy(), x.copy())


def test_a_record_that_is_read_only_is_not_written() -> None:
    x = TABLE.copy()
    x.flags.writeable = False
    assert "is read-only and the kernel writes to it" in refused(views, x, np.zeros(4))


def test_tile_kernels_take_no_records() -> None:
    @ct.kernel
    def kernel(a: Any) -> None:
        pass

    with pytest.raises(TypeError, match="records.*pass its fields"):
        kernel[1](TABLE)


def test_compiled_code_is_found_again() -> None:
    kernel, out = cuda.jit(of_record), np.zeros(1)
    for n in range(3):
        x = np.zeros(4 + n, np.dtype([("x", "i4"), ("y", "f8")], align=True))
        kernel[1, 1](x[n], out)
    assert len(kernel.overloads) == 1
