# SPDX-License-Identifier: Apache-2.0
"""Narrow floats by name (cuda.fp16, cuda.bf16, cuda.fp8) and vectors in kernels of threads, on the CPU device and as
compiled for a GPU, against ml_dtypes and NumPy."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest
from simt_run import LowerError, run

from tessera import cuda
from tessera.cuda import bf16, fp8, types

ml_dtypes = pytest.importorskip("ml_dtypes")
BF16 = np.dtype(ml_dtypes.bfloat16)
EDGES = [0.0, -0.0, 1.0, 1.5, -2.5, 0.1, 1e-30, 3e38, -100.25, 255.5, 1e10, math.inf, -math.inf, math.nan]


def bits(x: np.ndarray) -> np.ndarray:
    """Bits, all NaN alike."""
    return np.where(np.isnan(x.astype("f4")), 0x7FC0, x.view("u2"))


def both(kernel: object, *args: np.ndarray, n: int) -> None:
    """On the CPU device and as a GPU's code: the same bits."""
    again = [a.copy() for a in args]
    cuda.jit(kernel)[1, n](*args)
    run(kernel, *again, block=(n,), target=90)
    for a, b in zip(args, again, strict=True):
        np.testing.assert_array_equal(a.view(f"u{a.itemsize}"), b.view(f"u{b.itemsize}"))


def arithmetic(x, y, out, truth):
    i = cuda.grid(1)
    a, b = x[i], y[i]
    out[i, 0] = bf16.hadd(a, b)
    out[i, 1] = bf16.hsub(a, b)
    out[i, 2] = a * b
    out[i, 3] = a / b
    out[i, 4] = bf16.hneg(a)
    out[i, 5] = bf16.habs(a)
    out[i, 6] = bf16.hmax(a, b)
    out[i, 7] = bf16.hmin_nan(a, b)
    out[i, 8] = bf16.hadd_sat(a, b)
    out[i, 9] = bf16.hfma_relu(a, b, a)
    truth[i, 0] = bf16.hlt(a, b) + 2 * bf16.heq(a, b) + 4 * bf16.hgeu(a, b) + 8 * bf16.hequ(a, b)
    truth[i, 1] = bf16.hisinf(a) + 10 * bf16.hisnan(a)


def test_bfloat16_arithmetic() -> None:
    pairs = [(a, b) for a in EDGES for b in EDGES]
    x, y = (np.array(column, "f4").astype(BF16) for column in zip(*pairs, strict=True))
    out, truth = np.zeros((x.size, 10), BF16), np.zeros((x.size, 2), "i4")
    both(arithmetic, x, y, out, truth, n=x.size)
    a, b = x.astype("f8"), y.astype("f8")
    with np.errstate(all="ignore"):
        single = [(f(a.astype("f4"), b.astype("f4"))).astype(BF16) for f in (
            operator.add, operator.sub, operator.mul, operator.truediv)]  # fmt: skip
        added = np.where(np.isnan(a + b), 0, np.clip(single[0].astype("f4"), 0, 1)).astype(BF16)
        wanted = [*single, -x, abs(x), np.fmax(a, b).astype(BF16), np.minimum(a, b).astype(BF16), added]
        for column, value in enumerate(wanted):
            found = out[:, column]
            if column in (6, 7, 8):  # a zero of either sign
                found, value = found + BF16.type(0), value + BF16.type(0)
            np.testing.assert_array_equal(bits(found), bits(value), err_msg=str(column))
        fused = (a * b + a).astype("f4").astype(BF16)
        rectified = np.where(np.isnan(fused.astype("f4")), np.nan, np.maximum(fused.astype("f4"), 0))
        np.testing.assert_allclose(out[:, 9].astype("f4"), rectified, rtol=2**-7)
    nan = np.isnan(a) | np.isnan(b)
    np.testing.assert_array_equal(truth[:, 0], (a < b) + 2 * (a == b) + 4 * ((a >= b) | nan) + 8 * ((a == b) | nan))
    np.testing.assert_array_equal(truth[:, 1], np.isposinf(a) * 1 - np.isneginf(a) + 10 * np.isnan(a))


def to_integers(x, small, wide):
    i = cuda.grid(1)
    small[i, 0] = bf16.bfloat16_to_int16_rn(x[i])
    small[i, 1] = bf16.bfloat16_to_int16_rz(x[i])
    small[i, 2] = bf16.bfloat16_to_int16_rd(x[i])
    small[i, 3] = bf16.bfloat16_to_int16_ru(x[i])
    wide[i, 0] = bf16.bfloat16_to_uint64_rn(x[i])
    wide[i, 1] = bf16.bfloat16_to_uint64_ru(x[i])


def test_bfloat16_to_integers() -> None:
    x = np.array([0, 0.5, 1.5, -1.5, 2.5, -0.25, 1e6, -1e6, 127.5], "f4").astype(BF16)
    small, wide = np.zeros((x.size, 4), "i2"), np.zeros((x.size, 2), "u8")
    both(to_integers, x, small, wide, n=x.size)
    for i, value in enumerate(x.astype("f8")):
        rounded = [np.rint(value), np.trunc(value), np.floor(value), np.ceil(value)]
        assert list(small[i]) == [min(max(int(r), -(2**15)), 2**15 - 1) for r in rounded], value
        assert list(wide[i]) == [max(int(np.rint(value)), 0), max(int(np.ceil(value)), 0)], value


def of_numbers(n, x, out):
    i = cuda.grid(1)
    out[i, 0] = bf16.int64_to_bfloat16_rn(n[i])
    out[i, 1] = bf16.int64_to_bfloat16_rz(n[i])
    out[i, 2] = bf16.int64_to_bfloat16_rd(n[i])
    out[i, 3] = bf16.int64_to_bfloat16_ru(n[i])
    out[i, 4] = bf16.float32_to_bfloat16_rd(x[i])
    out[i, 5] = bf16.float32_to_bfloat16_ru(x[i])
    out[i, 6] = bf16.int16_as_bfloat16(bf16.bfloat16_as_int16(bf16.float64_to_bfloat16(x[i])))


def test_bfloat16_of_numbers_is_the_nearest_on_the_side_that_is_asked_for() -> None:
    n = np.array([0, 1, 255, 257, -257, 789, 2**62 + 1, -(2**63), 2**24 + 1, -(2**40 + 3)])
    x = n.astype("f4") * np.float32(1.001)
    out = np.zeros((n.size, 7), BF16)
    both(of_numbers, n, x, out, n=n.size)
    for i, exact in enumerate(map(int, n)):
        near, cut, down, up = (int(v) for v in out[i, :4].astype("f8"))
        assert down <= exact <= up and cut == (down if exact >= 0 else up)
        assert near in (down, up) and abs(near - exact) == min(exact - down, up - exact)
        steps = abs(int(out[i, 3].view("i2")) - int(out[i, 2].view("i2")))
        assert steps <= 1
        assert out[i, 4].astype("f4") <= x[i] <= out[i, 5].astype("f4")
    np.testing.assert_array_equal(out[:, 6], x.astype("f8").astype(BF16))


def of_float8(x, a, b, e, back, raw):
    i = cuda.grid(1)
    a[i] = fp8.fp8_e4m3(x[i])
    b[i] = fp8.fp8_e5m2(x[i])
    e[i] = fp8.fp8_e8m0(abs(x[i]))
    back[i] = cuda.float32(a[i]) + cuda.float64(b[i])
    raw[i, 0] = fp8.cvt_float_to_fp8(x[i], fp8.saturation_t.NOSAT, fp8.fp8_interpretation_t.E5M2)
    raw[i, 1] = fp8.cvt_float_to_fp8(x[i], fp8.saturation_t.NOSAT, fp8.fp8_interpretation_t.E4M3)
    raw[i, 2] = fp8.cvt_float_to_e8m0(x[i], fp8.saturation_t.SATFINITE, 0)


def test_float8() -> None:
    x = np.array([0, 1, 1.0625, -1.1875, 0.3, 17, 448, -464, 465, 1e5, 61439, 61440, -1e6, 2.0**-9, 2.0**-20], "f4")
    a, b = np.zeros(x.size, ml_dtypes.float8_e4m3fn), np.zeros(x.size, ml_dtypes.float8_e5m2)
    e, back, raw = np.zeros(x.size, ml_dtypes.float8_e8m0fnu), np.zeros(x.size), np.zeros((x.size, 3), "u1")
    both(of_float8, x, a, b, e, back, raw, n=x.size)
    np.testing.assert_array_equal(a.astype("f4"), np.clip(x, -448, 448).astype(a.dtype).astype("f4"))
    np.testing.assert_array_equal(b.astype("f4"), np.clip(x, -57344, 57344).astype(b.dtype).astype("f4"))
    np.testing.assert_array_equal(back, a.astype("f8") + b.astype("f8"))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(raw[:, 0], x.astype(b.dtype).view("u1"))
        np.testing.assert_array_equal(raw[:, 1], x.astype(a.dtype).view("u1"))
    powers = x[1:]
    np.testing.assert_array_equal(e[1:].astype("f4"), 2.0 ** np.ceil(np.log2(np.abs(powers))))
    np.testing.assert_array_equal(raw[1:, 2], np.floor(np.log2(np.abs(powers))) + 127)


def test_float8_has_no_operators() -> None:
    def kernel(x):
        x[0] = x[0] + x[0]

    with pytest.raises(LowerError, match="float8_e5m2"):
        run(kernel, np.zeros(1, ml_dtypes.float8_e5m2))


def test_a_type_is_a_class_of_numbers() -> None:
    def kernel(x, out):
        out[0] = isinstance(x[0], bf16.bfloat16) + 2 * isinstance(x[0], cuda.float32) + 4 * isinstance(x[0], float)

    out = np.zeros(1, "i8")
    run(kernel, np.zeros(1, BF16), out)
    assert out[0] == 5


def test_scalars_are_arguments() -> None:
    @cuda.jit
    def kernel(x, h, out):
        out[0] = x + h

    out = np.zeros(1, "f4")
    kernel[1, 1](BF16.type(1.5), np.float16(2), out)
    assert out[0] == 3.5 and types.bfloat16 in kernel.signatures[0]


# ---- vectors ---------------------------------------------------------------------------------------------


def vectors(x, out):
    i = cuda.grid(1)
    a = cuda.float2(x[i], 2)
    b = cuda.float32x4(a, cuda.float1(3.5), i)
    c = cuda.int4(b)
    d = cuda.uchar3(c.y, cuda.short2(300, -1))
    out[i, 0] = b.x + b.y + b.z + b.w
    out[i, 1] = c.z
    out[i, 2] = d.x * 1000000 + d.y * 1000 + d.z


def test_vectors() -> None:
    x, out = np.arange(8.0) / 2, np.zeros((8, 3))
    both(vectors, x, out, n=8)
    np.testing.assert_array_equal(out[:, 0], x + 5.5 + np.arange(8))
    np.testing.assert_array_equal(out[:, 1:], [[3, 2044255]] * 8)


def test_names_of_vectors() -> None:
    assert cuda.float4 is cuda.float32x4 and cuda.longlong1 is cuda.long1 is cuda.int64x1
    assert cuda.double3.base_type == cuda.float64 and cuda.double3.num_elements == 3
    with pytest.raises(AttributeError):
        cuda.float5  # noqa: B018


def test_vectors_have_as_many_members_as_they_are_given() -> None:
    def kernel(x):
        x[0] = cuda.float4(1, 2, cuda.float1(3)).x

    with pytest.raises(LowerError, match="float32x4"):
        run(kernel, np.zeros(1))
