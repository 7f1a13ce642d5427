# SPDX-License-Identifier: Apache-2.0
"""Every row of src/table/math.def as a user has it: the evaluator of tiles, the threads of a GPU and the code for this
processor give the same bits. How near they are to the true value: tests/math/ulp.c."""

import math

import gen_language
import numpy as np
import pytest
import tessera.tile as ct
from lower import LowerError, array, lower, run

ROWS = [(row.name, row.kind) for row in gen_language.math_rows()]
PAIRS = [(name, "X") for name, *_ in gen_language.math_pairs()]
SPECIAL = [0.0, -0.0, 1, -1, 0.5, -0.5, 2, 3, 10, 1e-3, 1e-30, 1e30, 1e-40, np.inf, -np.inf, np.nan]
N = 256


def kernel_of(name, kind):
    function = getattr(ct, name)
    if (name, kind) in PAIRS:

        def both(x, y, out):
            first, second = function(ct.load(x, 0, N))
            ct.store(out, 0, first)
            ct.store(y, 0, ct.astype(second, y.dtype))

        return both
    if kind in ("X", "XB", "XI"):

        def one(x, y, out):
            ct.store(out, 0, ct.astype(function(ct.load(x, 0, N)), out.dtype))

        return one

    def two(x, y, out):
        ct.store(out, 0, function(ct.load(x, 0, N), ct.load(y, 0, N)))

    return two


def operands(kind, dtype):
    rng = np.random.default_rng(5)
    with np.errstate(over="ignore"):
        x = np.concatenate([rng.uniform(-4, 4, N // 2), np.array(SPECIAL * (N // 32))]).astype(
            dtype
        )
        y = rng.permutation(x)
    return x, rng.integers(-50, 50, N).astype(np.int32) if kind == "XN" else y


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(("name", "kind"), ROWS + PAIRS)
def test_evaluator_gpu_threads_and_cpu_give_the_same_bits(name, kind, dtype):
    kernel = kernel_of(name, kind)
    x, y = operands(kind, dtype)
    out = [np.zeros(N, dtype) for _ in range(3)]
    second = [y.copy() for _ in range(3)]  # where a function with two results puts the other
    run(kernel, x, second[0], out[0])
    run(kernel, x, second[1], out[1], target=90)
    ct.launch(None, (1,), ct.kernel(kernel), (x, second[2], out[2]))
    out = [np.concatenate([one, two.astype(dtype)]) for one, two in zip(out, second, strict=True)]
    out = out[name == "sincos" :]  # the evaluator of tiles asks libm for sin and cos
    for other in out[1:]:
        np.testing.assert_array_equal(np.isnan(out[0]), np.isnan(other))
        whole = ~np.isnan(other)
        np.testing.assert_array_equal(
            out[0][whole].view(f"i{other.itemsize}"), other[whole].view(f"i{other.itemsize}")
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_two_results_are_those_of_numpy(dtype):
    def kernel(x, part, exponent, rest, whole, sine, cosine):
        tile = ct.load(x, 0, N)
        fraction, power = ct.frexp(tile)
        ct.store(part, 0, fraction)
        ct.store(exponent, 0, power)
        ct.store(rest, 0, math.modf(tile)[0])
        ct.store(whole, 0, ct.modf(tile)[1])
        ct.store(sine, 0, ct.sincos(tile)[0] - ct.sin(tile))
        ct.store(cosine, 0, ct.sincos(tile)[1] - ct.cos(tile))

    x, _ = operands("X", dtype)
    out = [np.zeros(N, np.int32 if i == 1 else dtype) for i in range(6)]
    run(kernel, x, *out)
    for got, wanted in zip(out, [*np.frexp(x), *np.modf(x)], strict=False):
        np.testing.assert_array_equal(got, wanted)
        assert (np.signbit(got) == np.signbit(wanted))[~np.isnan(wanted)].all()
    assert not out[4][np.isfinite(x)].any() and not out[5][np.isfinite(x)].any()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_sine_beside_cosine_has_the_bits_of_each_alone(dtype):
    def both(x, sine, cosine):
        tile = ct.load(x, 0, N)
        ct.store(cosine, 0, ct.cos(tile))
        ct.store(sine, 0, ct.sin(tile))

    def one(x, out):
        ct.store(out, 0, ct.sin(ct.load(x, 0, N)))

    def other(x, out):
        ct.store(out, 0, ct.cos(ct.load(x, 0, N)))

    x, _ = operands("X", dtype)
    x[::5] *= np.asarray(1e3, dtype)
    out = [[np.zeros(N, dtype) for _ in range(4)] for _ in range(2)]
    run(both, x, *out[0][:2], target=90)
    run(one, x, out[0][2], target=90)
    run(other, x, out[0][3], target=90)
    ct.launch(None, (1,), ct.kernel(both), (x, *out[1][:2]))
    ct.launch(None, (1,), ct.kernel(one), (x, out[1][2]))
    ct.launch(None, (1,), ct.kernel(other), (x, out[1][3]))
    bits = [[np.nan_to_num(z, nan=7).tobytes() for z in row] for row in out]
    assert bits[0] == bits[1] and bits[0][:2] == bits[0][2:]


@pytest.mark.parametrize(("dtype", "most"), [("float32", 13), ("float64", 23)])
def test_gamma_of_integers_is_the_factorial(dtype, most):
    def kernel(x, gamma, log):
        tile = ct.load(x, 0, 32)
        ct.store(gamma, 0, ct.tgamma(tile))
        ct.store(log, 0, ct.lgamma(tile))

    x, gamma, log = np.arange(32, dtype=dtype), np.zeros(32, dtype), np.zeros(32, dtype)
    run(kernel, x, gamma, log)
    np.testing.assert_array_equal(gamma[1:most], [float(math.factorial(n - 1)) for n in range(1, most)])
    assert gamma[0] == np.inf and (log[[1, 2]] == 0).all()


# ---- functions of Python's module math ---------------------------------------------------------------

OTHER_NAMES = {"fabs": "abs", "gamma": "tgamma"}
OTHER_MEANING = {  # of tiles, and what the message says
    "ceil": "use ct.ceil",
    "floor": "use ct.floor",
    "trunc": "use ct.trunc",
    "pow": "use x ** y",
    "prod": "use ct.prod",
    "degrees": "180 / math.pi",
    "comb": "math.comb.. is not part of the tile language",
}


SHARED = set(vars(math)) & {op.name for op in gen_language.tile_ops()}


@pytest.mark.parametrize("name", sorted(SHARED | set(OTHER_NAMES)))
def test_math_of_a_tile_is_the_operation_of_that_name(name):
    if name in OTHER_MEANING:
        return
    theirs, ours = getattr(math, name), getattr(ct, OTHER_NAMES.get(name, name))
    two = name in ("atan2", "copysign", "fmod", "hypot", "ldexp", "nextafter", "remainder")
    pair = name in ("frexp", "modf")

    def kernel(x, y, out):
        a, b = ct.load(x, 0, 32), ct.load(y, 0, 32)
        if two:
            ct.store(out, 0, theirs(a, b) if host else ours(a, b))
        elif pair:
            ct.store(out, 0, theirs(a)[0] if host else ours(a)[0])
        else:
            ct.store(out, 0, ct.astype(theirs(a) if host else ours(a), ct.float32))

    texts = []
    for host in (True, False):
        texts.append(lower(kernel, array(), array("int32" if name == "ldexp" else "float32"), array()))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", OTHER_MEANING)
def test_math_that_means_something_else_of_a_tile_says_what_to_write(name):
    theirs = getattr(math, name)

    def kernel(x, out):
        ct.store(out, 0, theirs(ct.load(x, 0, 32)))

    with pytest.raises(LowerError, match=OTHER_MEANING[name].replace("*", r"\*")):
        lower(kernel, array(), array())


def test_math_of_constants_is_that_of_python():
    one, two = 0.625, -1.75

    def kernel(out):
        ct.store(out, 0, ct.full((1,), math.log1p(one), ct.float64))
        ct.store(out, 1, ct.full((1,), math.erf(one), ct.float64))
        ct.store(out, 2, ct.full((1,), math.gamma(one), ct.float64))
        ct.store(out, 3, ct.full((1,), math.hypot(one, two), ct.float64))

    out = np.zeros(4)
    run(kernel, out)
    wanted = [math.log1p(one), math.erf(one), math.gamma(one), math.hypot(one, two)]
    np.testing.assert_allclose(out, wanted, rtol=4e-16)  # Python's gamma is its own


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint32", "uint64"])
def test_exponents_of_any_width_are_not_cut_off(dtype):
    def kernel(n, out):
        ct.store(out, 0, ct.ldexp(1.0, ct.load(n, 0, 4)))

    info = np.iinfo(dtype)
    n, out = np.array([info.min, 0, 3, info.max], dtype), np.ones(4, np.float32)
    run(kernel, n, out)
    with np.errstate(over="ignore"):
        wanted = np.ldexp(np.float32(1), np.clip(n.astype(float), -500, 500).astype(int))
    np.testing.assert_array_equal(out, wanted)


def test_integers_become_float32_and_exponents_must_be_integers():
    def kernel(x, out):
        tile = ct.load(x, 0, 16)
        ct.store(out, 0, ct.copysign(ct.ldexp(tile, 3), -1))

    x, out = np.arange(16, dtype=np.int32), np.zeros(16, np.float32)
    run(kernel, x, out)
    np.testing.assert_array_equal(out, -8.0 * x)

    def wrong(x, out):
        ct.store(out, 0, ct.ldexp(ct.load(x, 0, 16), 0.5))

    with pytest.raises(Exception, match="an integer or a tile of integers"):
        run(wrong, out, out)


def test_measuring_again_replaces_the_lines_of_a_function():
    line = "{:<11} {:<5} bound {:.3f}  measured  {:.3f} at 1  (4 values, 20 instructions)".format
    old = "\n".join([line("sin", "f32", 2, 1.9), line("sin", "f64", 2, 1.5), line("cos", "f32", 2, 1.6), ""])
    new = "\n".join([line("sin", "f32", 2, 1.2), line("sin", "f32", 2, 1.3), "2 passed, 0 failed", ""])
    found = gen_language.measured_again(old, new)
    assert found.splitlines() == [old.splitlines()[1], old.splitlines()[2], *new.splitlines()[:2]]
    with pytest.raises(SystemExit, match="no line of it"):
        gen_language.measured_again(old, "0 passed, 1 failed\n")
