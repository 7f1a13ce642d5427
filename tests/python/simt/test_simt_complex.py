# SPDX-License-Identifier: Apache-2.0
"""Complex numbers in kernels of threads: operators, functions, memory, arguments, by the reference interpreter, as
compiled for a GPU, and on the CPU device; against NumPy, and functions against Python's cmath and NumPy's longer
floats."""

from __future__ import annotations

import cmath
import contextlib
import itertools
import math

import numpy as np
import pytest
from simt_run import LowerError, cuda, run

from tessera import cuda as device

TARGETS = pytest.mark.parametrize("target", [0, 90])
DTYPES = pytest.mark.parametrize("dtype", ["complex64", "complex128"])


def numbers(dtype: str, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    size = np.exp(rng.uniform(-8, 8, n))
    return (size * np.exp(1j * rng.uniform(-math.pi, math.pi, n))).astype(dtype)


def errors(found: np.ndarray, wanted: np.ndarray) -> float:
    """The greatest error in ulps of the size of the result."""
    spacing = np.spacing(np.abs(wanted).astype(found.real.dtype)).astype("f8")
    return float((np.abs(found.astype(np.clongdouble) - wanted) / spacing).max())


# ---- operators ---------------------------------------------------------------------------------------


def operators(x, y, out, sizes):
    i = cuda.grid(1)
    a, b = x[i], y[i]
    out[i, 0] = a + b
    out[i, 1] = a - b
    out[i, 2] = a * b
    out[i, 3] = a / b
    out[i, 4] = -a
    out[i, 5] = a.conjugate()
    out[i, 6] = a**3
    out[i, 7] = b**-2
    out[i, 8] = complex(b.imag, a.real)
    sizes[i] = abs(a)


@TARGETS
@DTYPES
def test_operators(dtype: str, target: int) -> None:
    x, y = numbers(dtype, 64, 1), numbers(dtype, 64, 2)
    out, sizes = np.zeros((64, 9), dtype), np.zeros(64, x.real.dtype)
    run(operators, x, y, out, sizes, block=(64,), target=target)
    a, b = x.astype(np.clongdouble), y.astype(np.clongdouble)
    wanted = [a + b, a - b, a * b, a / b, -a, a.conj(), a * a * a, 1 / (b * b), b.imag + 1j * a.real]
    for column, (value, bound) in enumerate(zip(wanted, (1, 1, 4, 8, 0, 0, 8, 16, 0), strict=True)):
        assert errors(out[:, column], value) <= bound, column
    assert errors(sizes.astype(dtype), np.abs(a)) <= 2


def test_mixed_operands() -> None:
    def kernel(z, n, out):
        out[0] = z[0] * 2 + n[0]
        out[1] = 3j - z[0]
        out[2] = (n[0] == 4) + (z[0] == 1 + 2j) * 2 + (z[0] != n[0]) * 4
        out[3] = z[0].real + 1j * z[0].imag
        out[4] = bool(z[0]) + (0j == 0)
        if z[0] - z[0]:
            out[4] = 100

    out = np.zeros(5, "c16")
    run(kernel, np.array([1 + 2j], "c8"), np.array([4], "i4"), out)
    np.testing.assert_array_equal(out, [6 + 4j, -1 + 1j, 7, 1 + 2j, 2])


def mandelbrot(c, out):
    i = cuda.grid(1)
    z = 0
    for n in range(50):
        z = z * z + c[i]
        if abs(z) > 2:
            break
        out[i] = n


@TARGETS
@DTYPES
def test_a_loop_carries_a_complex_number(dtype: str, target: int) -> None:
    c = np.array([-0.5, 0.3 + 0.5j, 1 + 1j, -1.3, 2, 1j], dtype)
    out, wanted = np.full(6, -1), []
    run(mandelbrot, c, out, block=(6,), target=target)
    for value in c:
        z, last = 0, -1
        for n in range(50):
            z = z * z + value
            if abs(z) > 2:
                break
            last = n
        wanted.append(last)
    np.testing.assert_array_equal(out, wanted)


# ---- functions -------------------------------------------------------------------------------------------

FUNCTIONS = {  # bounds in ulps of the size of the result, measured with 4,000 numbers: at most half of them
    "exp": 6, "log": 4, "log10": 6, "sqrt": 6, "sin": 8, "cos": 8, "tan": 12, "sinh": 8, "cosh": 8, "tanh": 12,
    "asin": 12, "acos": 12, "atan": 12, "asinh": 12, "acosh": 12, "atanh": 12,
}  # fmt: skip


def kernel_of(function: object) -> object:
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = function(x[i])

    return kernel


def longer(name: str, x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        wanted = getattr(np, name.replace("a", "arc", 1) if name[0] == "a" else name)(x.astype(np.clongdouble))
    return wanted


def sample(dtype: str, name: str) -> np.ndarray:
    x = numbers(dtype, 400, 3)
    if name in ("exp", "sin", "cos", "sinh", "cosh"):
        x = x[np.abs(x) < 60]
    return x


@TARGETS
@DTYPES
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, dtype: str, target: int) -> None:
    x = sample(dtype, name)
    if target:
        x = x[:32]
    out = np.zeros_like(x)
    run(kernel_of(getattr(cmath, name)), x, out, grid=(x.size,), target=target)
    assert errors(out, longer(name, x)) <= FUNCTIONS[name]


EDGES = [0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan]
SPECIAL = [complex(a, b) for a, b in itertools.product(EDGES, EDGES)]


def alike(found: float, wanted: float, other: float) -> bool:
    """Beside a NaN the sign of an infinity says nothing."""
    if math.isnan(wanted) or math.isnan(found):
        return math.isnan(wanted) and math.isnan(found)
    if math.isnan(other):
        found, wanted = abs(found), abs(wanted)
    if math.isinf(wanted) or wanted == 0:
        return found == wanted
    return abs(found - wanted) <= 1e-14 * abs(wanted)


# The part that C17 gives (DR 471 and Annex G of 2018) where Python's cmath has two NaN.
OF_C17 = {}
for strange in (math.inf, -math.inf, math.nan):
    for zero in (0.0, -0.0):
        OF_C17["tanh", repr(complex(zero, strange))] = OF_C17["tan", repr(complex(strange, zero))] = 0.0
        OF_C17["acosh", repr(complex(zero, math.nan))] = math.pi / 2


@pytest.mark.parametrize("name", FUNCTIONS)
def test_infinities_and_nans(name: str) -> None:
    x, wanted = [], []
    for z in SPECIAL:
        with contextlib.suppress(ValueError, OverflowError):
            wanted.append(getattr(cmath, name)(z))
            x.append(z)
    out = np.zeros(len(x), "c16")
    run(kernel_of(getattr(cmath, name)), np.array(x), out, grid=(len(x),))
    for z, found, value in zip(x, out, wanted, strict=True):
        if (name, repr(z)) in OF_C17:
            assert found.real == OF_C17[name, repr(z)] or found.imag == OF_C17[name, repr(z)], (z, found)
            continue
        assert alike(found.real, value.real, value.imag), (z, found, value)
        assert alike(found.imag, value.imag, value.real), (z, found, value)


def powers(x, y, out):
    i = cuda.grid(1)
    out[i] = x[i] ** y[i]


@TARGETS
@DTYPES
def test_powers(dtype: str, target: int) -> None:
    rng = np.random.default_rng(5)
    x, y = (rng.uniform(-3, 3, 40) + 1j * rng.uniform(-3, 3, 40) for _ in range(2))
    x, y = x.astype(dtype), y.astype(dtype)
    x[:3], y[:3] = [0, 0, 2j], [0, 2, 0]
    out = np.zeros_like(x)
    run(powers, x, y, out, grid=(40,), target=target)
    a, b = x.astype(np.clongdouble), y.astype(np.clongdouble)
    with np.errstate(all="ignore"):
        wanted = np.exp(b * np.log(a))
    wanted[:3] = [1, 0, 1]
    assert errors(out, wanted) <= 60  # the angle has the size of |b log a|


def by_name(x, out, truth):
    z = x[0]
    r, phi = cmath.polar(z)
    out[0] = cmath.rect(r, phi)
    out[1] = cmath.phase(z)
    out[2] = cmath.log(z, 10)
    out[3] = np.sqrt(z) + np.exp2(z) + np.log2(z)
    out[4] = np.expm1(z) + np.log1p(z)
    out[5] = np.square(z) + np.reciprocal(z) + np.conj(z)
    out[6] = np.real(z) + np.imag(z) + np.angle(z)
    out[7] = np.multiply(z, np.add(z, 1)) + np.abs(z)
    out[8] = pow(z, 2) + complex(1) + complex(2, 3) + np.complex64(z.real)
    truth[0] = cmath.isnan(z) + 2 * cmath.isinf(z) + 4 * cmath.isfinite(z) + 8 * np.logical_not(z)
    truth[1] = isinstance(z, complex)


@TARGETS
def test_functions_by_name(target: int) -> None:
    z, out, truth = 0.7 - 1.2j, np.zeros(9, "c16"), np.zeros(2, "i8")
    run(by_name, np.array([z]), out, truth, target=target)
    wanted = [
        z, cmath.phase(z), cmath.log(z, 10), cmath.sqrt(z) + 2**z + cmath.log(z, 2),
        cmath.exp(z) - 1 + cmath.log(1 + z), z * z + 1 / z + z.conjugate(), z.real + z.imag + cmath.phase(z),
        z * (z + 1) + abs(z), z**2 + 3.7 + 3j,
    ]  # fmt: skip
    np.testing.assert_allclose(out, wanted, rtol=1e-7)
    assert truth[0] == 4


# ---- memory -------------------------------------------------------------------------------------------------

TABLE = np.array([1 + 2j, 3 - 1j, 0.5j, 4])


def through_shared(x, out):
    tile = cuda.shared.array(32, np.complex128)
    own = cuda.local.array(2, np.complex64)
    i = cuda.threadIdx.x
    tile[i] = x[i] * 2
    own[i % 2] = x[i]
    own[1 - i % 2] = 1j
    cuda.syncthreads()
    out[i] = tile[31 - i] + own[i % 2] + TABLE[i % 4]


@TARGETS
def test_shared_local_and_constant_arrays(target: int) -> None:
    x, out = np.arange(32) * (1 + 0.5j), np.zeros(32, "c16")
    run(through_shared, x, out, block=(32,), target=target)
    np.testing.assert_array_equal(out, 2 * x[::-1] + x + np.resize(TABLE, 32))


def parts(z, out):
    i = cuda.grid(1)
    out[i] = z.real[i] - z.imag[i]
    cuda.atomic.add(z.imag, i % 2, 1)
    z[2:].real[i % 2] = 7


@TARGETS
@DTYPES
def test_parts_of_arrays_are_views(dtype: str, target: int) -> None:
    z, out = (np.arange(4) + 2j).astype(dtype), np.zeros(4)
    run(parts, z, out, block=(4,), target=target)
    np.testing.assert_array_equal(out, [-2, -1, 0, 1])
    np.testing.assert_array_equal(z, np.array([4j, 1 + 4j, 7 + 2j, 7 + 2j]))


def reductions(x, out):
    out[0] = x.sum()
    out[1] = np.prod(x)
    out[2] = x.mean()
    out[3] = x.any() + 2 * x.all()


def test_reductions() -> None:
    x, out = np.array([1 + 1j, 2 - 1j, 0.5j, 3]), np.zeros(4, "c16")
    run(reductions, x, out)
    np.testing.assert_allclose(out, [x.sum(), x.prod(), x.mean(), 3], rtol=1e-15)


def test_printing() -> None:
    def kernel(x):
        print(x[0], 1.5 - 2j, (x[0], 1))

    assert run(kernel, np.array([0.25 - 1j])) == "(0.250000-1.000000j) (1.500000-2.000000j) ((0.250000-1.000000j), 1)\n"


def doubled(x):
    x[cuda.grid(1)] *= 2


def test_a_number_of_128_bits_is_one_access_of_a_gpu() -> None:
    text, _ = device.compile_ptx(doubled, "void(complex128[::1])", cc=(9, 0))
    assert "ld.global.v2.f64" in text and "st.global.v2.f64" in text


# ---- mistakes -------------------------------------------------------------------------------------------------



def test_mistakes() -> None:
    def stores(z, x):
        x[0] = z[0]

    def orders(z, x):
        x[0] = z[0] < 1

    def floors(z, x):
        x[0] = z[0] // 2

    def converts(z, x):
        x[0] = float(z[0])

    def sine(z, x):
        x[0] = math.sin(z[0])

    def least(z, x):
        x[0] = min(z[0], 1)

    for kernel, text in {
        stores: "takes no complex number", orders: "'<'", floors: "'//'", converts: "z.real", sine: "cmath",
        least: "not defined for complex numbers",
    }.items():  # fmt: skip
        with pytest.raises(LowerError, match=text):
            run(kernel, np.ones(1, "c16"), np.ones(1))


# ---- the CPU device ----------------------------------------------------------------------------------------------


@device.jit
def on_the_device(a, z, x, out):
    i = device.grid(1)
    if i < x.size:
        if x[i].real > 0:
            out[i] = a * cmath.exp(x[i]) + z
        else:
            out[i] = x[i] ** 2 / z


@pytest.mark.parametrize("a", [2, 0.5, 1 - 1j, np.complex64(2j), np.complex128(3)])
@DTYPES
def test_a_launch_takes_complex_numbers(dtype: str, a: complex) -> None:
    x, z, out = numbers(dtype, 100, 7) / 100, np.complex64(1 + 2j), np.zeros(100, dtype)
    on_the_device[4, 32](a, z, x, out)
    wanted = np.where(x.real > 0, a * np.exp(x.astype("c16")) + z, x.astype("c16") ** 2 / z)
    np.testing.assert_allclose(out, wanted, rtol=1e-6 if dtype == "complex64" else 1e-14)
    again = np.zeros(100, dtype)
    given = np.complex128(a) if type(a) is complex else a
    run(on_the_device.py_func, given, z, x, again, grid=(4,), block=(32,), target=90)
    np.testing.assert_array_equal(out, again)  # the same bits as of a GPU's code


def test_signatures_convert_real_numbers() -> None:
    @device.jit("void(complex128[:], complex64)")
    def kernel(out, z):
        out[0] = z

    out = np.zeros(1, "c16")
    for given in (2, 1.5, 1j, np.float32(3), np.complex128(1 + 1j)):
        kernel[1, 1](out, given)
        assert out[0] == given


def test_ufuncs_and_reduce() -> None:
    @device.vectorize(["complex64(complex64, float32)", "complex128(complex128, float64)"])
    def scaled(z, by):
        return z.conjugate() * by

    z = numbers("complex64", 50, 9)
    assert scaled(z, np.float32(2)).dtype == np.complex64
    np.testing.assert_array_equal(scaled(z, np.float32(2)), z.conj() * 2)
    total = device.reduce(lambda a, b: a + b)
    np.testing.assert_allclose(total(z.astype("c16")), z.astype("c16").sum(), rtol=1e-12)


# ---- NumPy's order ---------------------------------------------------------------------------------------


def ordered(x, y, order, extreme):
    i = cuda.grid(1)
    a, b = x[i], y[i]
    order[i, 0] = np.less(a, b)
    order[i, 1] = np.less_equal(a, b)
    order[i, 2] = np.greater(a, b)
    order[i, 3] = np.greater_equal(a, b)
    extreme[i, 0] = np.maximum(a, b)
    extreme[i, 1] = np.minimum(a, b)
    extreme[i, 2] = np.fmax(a, b)
    extreme[i, 3] = np.fmin(a, b)


@pytest.mark.parametrize("target", [0, 90])
@pytest.mark.parametrize("dtypes", [("c8", "c8"), ("c16", "c8"), ("f8", "c16")])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_numpy_orders_complex_numbers(target, dtypes):
    parts = [-1.0, -0.0, 0.0, 2.0, np.nan, np.inf]
    all_of_them = [complex(a, b) for a in parts for b in parts]
    pairs = [(x, y) for x in all_of_them for y in all_of_them]
    x, y = (np.array(v) for v in zip(*pairs))
    x = (x.real if dtypes[0][0] == "f" else x).astype(dtypes[0])
    y = y.astype(dtypes[1])
    order, extreme = np.zeros((len(x), 4), bool), np.zeros((len(x), 4), np.promote_types(x.dtype, y.dtype))
    run(ordered, x, y, order, extreme, grid=(len(x) // 16,), block=(16,), target=target)
    for i, function in enumerate((np.less, np.less_equal, np.greater, np.greater_equal)):
        np.testing.assert_array_equal(order[:, i], function(x, y))
    for i, function in enumerate((np.maximum, np.minimum, np.fmax, np.fmin)):
        np.testing.assert_array_equal(extreme[:, i], function(x, y))


def first_in_a_branch(x, out):
    for i in range(len(x)):
        if x[i].real > 0:
            total = x[i]
            out[i] = total


@pytest.mark.parametrize("target", [0, 90])
@DTYPES
def test_a_branch_in_a_loop_makes_a_complex_number(dtype, target):
    x = np.array([1 + 2j, -1, 3j + 4], dtype)
    out = np.zeros_like(x)
    run(first_in_a_branch, x, out, target=target)
    assert out.tolist() == [1 + 2j, 0, 4 + 3j]


@pytest.mark.parametrize("name", ["exp", "sinh", "cosh"])
def test_parts_stay_finite_where_the_size_overflows(name: str) -> None:
    """e^x is beyond the format, e^x sin y is not: of e^829 sin 3e-158 the digits are those of e^(829 + log 3e-158)."""
    x = np.array([829 + 3e-158j, 1440 + 5e-320j, 800 + 0j, 1e300 + 0j])
    out = np.zeros_like(x)
    run(kernel_of(getattr(cmath, name)), x, out, grid=(len(x),))
    factor = 1 if name == "exp" else 0.5
    assert np.isposinf(out.real).all() and (out.imag[2:] == 0).all()
    np.testing.assert_allclose(out.imag[0], factor * 3.21548696e202, rtol=1e-8)
    np.testing.assert_allclose(out.imag[1], factor * 1.2106514e306, rtol=1e-5)
