# SPDX-License-Identifier: Apache-2.0
"""Complex numbers in kernels against NumPy: on the CPU device, in the interpreter of tiles and in that of threads."""

import os
import subprocess

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from lower import LowerError, run
from tessera import _core

DTYPES = (np.complex64, np.complex128)
WHERE = ("cpu", 0, 80, 90)  # 0: tiles are interpreted; 80, 90: threads
N = 64
SPECIAL = [
    complex(a, b) for a in (0.0, -0.0, 1.5, -np.inf, np.nan) for b in (0.0, 2.0, np.inf, np.nan)
]
W = 2 - 1j
ULPS = {"mul": 4, "div": 8, "abs": 2, "sum": 64, "power": 12, "mixed": 16}


def launch(kernel, args, where, grid=1):
    if where == "cpu":
        ct.launch(None, (grid,), ct.kernel(kernel), args)
    else:
        run(kernel, *args, grid=(grid, 1, 1), target=where)


def alike(got, want, ulps, dtype):
    """Equal up to a distance in ulps of the size of the number; parts that are NaN or infinite are so in both."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype
    if got.dtype == bool:
        assert np.array_equal(got, want)
        return
    real = np.finfo(dtype).dtype
    parts = np.ravel(got).view(real), np.ravel(want).view(real)
    size = np.repeat(np.abs(np.ravel(want)), parts[1].size // want.size)
    with np.errstate(all="ignore"):
        near = np.abs(parts[0] - parts[1]) <= ulps * np.finfo(real).eps * size
    same = (parts[0] == parts[1]) | (np.isnan(parts[0]) & np.isnan(parts[1]))
    assert np.all(near & np.isfinite(size) | same), np.stack([*parts, size])[:, ~(near | same)]


def numbers(dtype, seed, n=N):
    r = np.random.default_rng(seed)
    scale = 10.0 ** r.uniform(-8, 8, n)
    return ((r.normal(size=n) + 1j * r.normal(size=n)) * scale).astype(dtype)


def arithmetic(x, y, add, sub, mul, div, minus, conj, size, same, other):
    u, v = ct.load(x, 0, (N,)), ct.load(y, 0, (N,))
    ct.store(add, 0, u + v)
    ct.store(sub, 0, u - v)
    ct.store(mul, 0, u * v)
    ct.store(div, 0, u / v)
    ct.store(minus, 0, -u)
    ct.store(conj, 0, ct.conj(u))
    ct.store(size, 0, ct.abs(u))
    ct.store(same, 0, u == v)
    ct.store(other, 0, u != v)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("special", (False, True))
def test_arithmetic_is_numpys(dtype, where, special):
    x, y = numbers(dtype, 1), numbers(dtype, 2)
    if special:
        r = np.random.default_rng(3)
        x, y = (r.choice(np.array(SPECIAL, dtype), N) for _ in range(2))
    y[:9] = x[:9]
    real = np.finfo(dtype).dtype
    got = [np.zeros(N, t) for t in (*[dtype] * 6, real, bool, bool)]
    launch(arithmetic, (x, y, *got), where)
    with np.errstate(all="ignore"):
        want = (x + y, x - y, x * y, x / y, -x, np.conj(x), np.abs(x), x == y, x != y)
    for g, w, ulps in zip(
        got, want, (0, 0, ULPS["mul"], ULPS["div"], 0, 0, ULPS["abs"], 0, 0), strict=True
    ):
        alike(g, w, ulps, dtype)


def test_division_and_size_do_not_overflow():
    big = np.full(N, 1e38 + 1e38j, np.complex64)
    got = [np.zeros(N, t) for t in (*[np.complex64] * 6, np.float32, bool, bool)]
    launch(arithmetic, (big, big * np.complex64(1e-4), *got), "cpu")
    alike(got[3], np.full(N, 1e4 + 0j, np.complex64), ULPS["div"], np.complex64)
    alike(got[6], np.hypot(big.real, big.imag), ULPS["abs"], np.complex64)


def turned(z, by=3j):
    return z * by + W


def moving(x, out, carried, total, part, n):
    u = ct.load(x, (0, 0), (8, 16), padding_mode=ct.PaddingMode.ZERO)
    acc = ct.zeros((8, 16), ct.complex64)
    for i in range(n):
        if i % 2 == 0:
            acc = acc + u.astype(ct.complex64)
        else:
            acc = acc * 1j
    t = ct.permute(ct.where(ct.real(u) > 0, u, turned(u)), (1, 0))
    t = ct.reshape(t, (4, 32)) + ct.broadcast_to(ct.full((1, 32), 2, x.dtype), (4, 32))
    half = ct.cat((ct.extract(t, (0, 1), (4, 16)), ct.extract(t, (0, 0), (4, 16))), 1)
    ct.store(out, (0, 0), ct.insert(half, (1, 0), ct.full((2, 32), 1j, x.dtype)))
    ct.store(carried, (0, 0), acc)
    ct.store(total, (0,), ct.sum(u, 1))
    ct.store(part, (0, 0), ct.complex(ct.imag(u), 1))


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("dtype", DTYPES)
def test_complex_tiles_move_like_others(dtype, where):
    x = numbers(dtype, 5, 7 * 13).reshape(7, 13)
    real = np.finfo(dtype).dtype
    got = [
        np.zeros(s, t)
        for s, t in (((4, 32), dtype), ((8, 16), np.complex64), (8, dtype), ((8, 16), dtype))
    ]
    launch(moving, (x, *got, 5), where)
    u = np.zeros((8, 16), dtype)
    u[:7, :13] = x
    t = np.where(u.real > 0, u, u * dtype(3j) + dtype(W)).T.reshape(4, 32) + dtype(2)
    t = np.concatenate((t[:, 16:], t[:, :16]), 1)
    t[2:] = 1j
    acc = np.zeros((8, 16), np.complex64)
    for i in range(5):
        acc = acc + u.astype(np.complex64) if i % 2 == 0 else acc * np.complex64(1j)
    alike(got[0], t, ULPS["mixed"], dtype)
    alike(got[1], acc, ULPS["mixed"], np.complex64)
    bound = 16 * np.finfo(real).eps * np.abs(u).sum(1)
    assert np.all(np.abs(got[2] - u.sum(1)) <= bound)
    alike(got[3], u.imag + dtype(1j) * dtype(1), 0, dtype)


def by_elements(x, y, out):
    i = ct.arange(32, dtype=ct.int32)
    ct.scatter(out, (i,), ct.gather(x, (31 - i, i), mask=i < 20, padding_value=7 + 1j), mask=i != 3)
    memory = y.get_raw_memory()
    memory.store_offset(5, memory.load_offset(2) * memory.load_offset(1))
    view = y.tiled_view((4,))
    view.store(2, view.load(4) + view.load(0))


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("dtype", DTYPES)
def test_complex_elements_are_gathered_and_scattered(dtype, where):
    x, y = numbers(dtype, 6, 32 * 40).reshape(32, 40), numbers(dtype, 7, 20)
    out, want, kept = np.zeros(32, dtype), np.zeros(32, dtype), y.copy()
    launch(by_elements, (x, y, out), where)
    i = np.arange(20)
    want[:20], want[20:], want[3] = x[31 - i, i], 7 + 1j, 0
    kept[5] = kept[2] * kept[1]
    kept[8:12] = kept[16:20] + kept[:4]
    alike(out, want, 0, dtype)
    alike(y, kept, ULPS["mul"], dtype)


def strided(x, y):
    ct.store(
        y, (ct.bid(0), 0), ct.load(x, (ct.bid(0), 0), (4, 8), padding_mode=ct.PaddingMode.ZERO) * 2
    )


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("dtype", DTYPES)
def test_any_layout_is_read_and_written(dtype, where):
    room = numbers(dtype, 8, 30 * 22).reshape(30, 22)
    x, y = room[1:24:2, 3::3], np.zeros((7, 12), dtype).T
    launch(strided, (x, y), where, 3)
    alike(y, np.ascontiguousarray(x * dtype(2)), 0, dtype)


PROMOTED = [
    ("complex64", "float32", "complex64"), ("complex64", "float64", "complex128"), ("complex64", "int32", "complex64"),
    ("complex128", "float32", "complex128"), ("complex64", "complex128", "complex128"),
    ("complex64", "float16", "complex64"), ("complex64", "bool", "complex64"),
]  # fmt: skip


def place_of_sum(a, b, place):
    s = ct.load(a, 0, (1,)) + ct.load(b, 0, (1,))
    ct.scatter(place, 0, 1 if s.dtype == ct.complex64 else 2 if s.dtype == ct.complex128 else 0)


@pytest.mark.parametrize("a, b, wanted", PROMOTED)
def test_promotion(a, b, wanted):
    for pair in ((a, b), (b, a)):
        place = np.zeros(1, np.int32)
        launch(place_of_sum, (*(np.ones(1, t) for t in pair), place), "cpu")
        assert place[0] == 1 + (wanted == "complex128")


def constants(x, d, out, wide):
    u, v = ct.load(x, 0, (4,)), ct.load(d, 0, (4,))
    folded = (1 + 2j) * (3 - 1j) / (2 + 1j) - 1j
    ct.static_assert(abs(folded - (3 - 0j)) < 1e-12)
    ct.static_assert(
        3 + 4j != 3 and abs(3 + 4j) == 5 and (1j) ** 2 == -1 and complex(1, 2) == 1 + 2j
    )
    ct.store(out, 0, (u + 1j) * folded)
    ct.store(wide, 0, v * 1j)


def test_constants_are_pythons():
    x, d = np.arange(4, dtype=np.float32), np.arange(4, dtype=np.float64)
    out, wide = np.zeros(4, np.complex64), np.zeros(4, np.complex128)
    launch(constants, (x, d, out, wide), "cpu")
    assert np.allclose(out, (x + 1j) * 3) and np.array_equal(wide, d * 1j)


REFUSED = {
    "<": lambda u, v: u < u,
    "maximum": lambda u, v: ct.maximum(u, u),
    "max": lambda u, v: ct.max(u),
    "float": lambda u, v: float(ct.sum(u)),
    "astype": lambda u, v: ct.astype(u, ct.float32),
    "exp": lambda u, v: ct.exp(u),
    "%": lambda u, v: u % u,
    "**": lambda u, v: u**2.5,
    "@": lambda u, v: ct.reshape(u, (2, 2)) @ ct.reshape(u, (2, 2)),
    "bitcast": lambda u, v: ct.bitcast(u, ct.int64),
    "cumsum": lambda u, v: ct.cumsum(u),
    "isnan": lambda u, v: ct.isnan(u),
    "where": lambda u, v: ct.where(u, u, u),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused(name):
    refused = REFUSED[name]

    def kernel(x, y):
        refused(ct.load(x, 0, (4,)), ct.load(y, 0, (4,)))

    with pytest.raises(ct.TileTypeError) as caught:
        ct.launch(
            None, (1,), ct.kernel(kernel), (np.zeros(4, np.complex64), np.zeros(4, np.float32))
        )
    assert "complex" in str(caught.value)


def test_printing(capfd):
    def show(x):
        ct.print(ct.sum(ct.load(x, 0, (2,))), 1 - 2j)

    ct.launch(None, (1,), ct.kernel(show), (np.array([1 + 2j, 0.5], np.complex64),))
    tessera.synchronize()
    assert capfd.readouterr().out == "(1.500000+2.000000j) (1-2j)\n"


X = np.array([1 + 2j, -0.5 - 0j, 3e4j, complex(np.nan, -np.inf)], np.complex64)
CONSTANTS = (1 - 2j, 2j, -0.0 + 1j, 1.5e-7 - 3e20j, complex("nan-infj"))


def test_printed_as_numpy_does():
    """Elements of tiles as NumPy writes them with as many digits, numbers known at compile time as Python."""

    def show(x):
        t = ct.load(x, 0, (4,))
        ct.print(t)
        print(f"{t:.2f} {ct.reshape(t, (2, 2)):+.1e}", f"{ct.sum(ct.real(t[0:2])):.1f} {t[0]:.3f}", (t[0], 1))
        ct.printf("%5.1f|%g %d\n", t, t[0], 7)

    def row(spec):
        return "[" + ", ".join(f"{z:{spec}}" for z in X) + "]"

    rows = row(".6f"), row(".2f"), row("+.1e").split(", ")
    square = f"{', '.join(rows[2][:2])}], [{', '.join(rows[2][2:])}"
    want = f"{rows[0]}\n{rows[1]} [{square}] 0.5 1.000+2.000j ((1.000000+2.000000j), 1)\n"
    want += "[" + ", ".join(f"{z.real:5.1f}{z.imag:+5.1f}j" for z in X) + "]|1+2j 7\n"
    for target in (0, 80, 90):
        assert run(show, X, target=target) == want


def test_constants_print_as_in_python():
    def show(x):
        for z in CONSTANTS:
            ct.print(z, f"{z} {z:.2f} {z:>12} {z:12.3e}|", str(z))

    want = "".join(f"{z} {z} {z:.2f} {z:>12} {z:12.3e}| {z}\n" for z in CONSTANTS)
    assert run(show, X) == want


def test_printing_refused():
    for call in (lambda x: ct.printf("%d", ct.load(x, 0, (4,))), lambda x: ct.print(f"{ct.load(x, 0, (4,)):d}"),
                 lambda x: ct.print(f"{1j:05.1f}")):  # fmt: skip
        with pytest.raises(LowerError, match="complex|does not fit"):
            run(call, X)


def code_for(target, dtype):
    x, found = np.zeros(4096, dtype), []
    args = (x, x.copy(), x.copy())
    _core.report(None, (64,), ct.kernel(product), args, target, lambda code, _: found.append(code))
    return found[0]


def product(x, y, z):
    ct.store(z, ct.bid(0), ct.load(x, ct.bid(0), (256,)) * ct.load(y, ct.bid(0), (256,)))


def test_numbers_of_8_bytes_are_accessed_in_pairs():
    """complex64: 16 bytes an access, where the array is aligned; complex128: its two words."""
    text = code_for(90, np.complex64).decode()
    assert "ld.global.v2.b64" in text and "st.global.v2.b64" in text
    assert "ld.global.f64" in code_for(90, np.complex128).decode()


@pytest.mark.parametrize("target", (80, 90, 100))
@pytest.mark.parametrize("dtype", DTYPES)
def test_ptxas_takes_it(target, dtype):
    arch = f"sm_{target}" + ("a" if target >= 90 else "")
    command = ["ptxas", f"-arch={arch}", "-o", os.devnull, "-"]
    try:
        done = subprocess.run(
            command, input=code_for(target, dtype), capture_output=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("ptxas is not installed")
    assert done.returncode == 0, done.stderr.decode()


def test_the_interpreter_refuses_what_the_compiler_does():
    def ordered(x):
        ct.print(ct.load(x, 0, (4,)) < 1j)

    with pytest.raises(LowerError, match="no meaning"):
        run(ordered, np.zeros(4, np.complex64), grid=(1, 1, 1), target=0)
