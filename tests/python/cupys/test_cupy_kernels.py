# SPDX-License-Identifier: Apache-2.0
"""CuPy's kernels of C expressions, against NumPy."""

import numpy as np
import pytest
import tessera.numeric as tn
from cupy_expressions import expression
from long_form import LONG, unless_short
from tessera import cupy as cp
from tessera.cupyx import jit

X = np.linspace(-3, 4, 24, dtype="f4")


@pytest.fixture
def x():
    return cp.array(X)


# Statements, what NumPy makes of it; x is float32, z its output.
ARRAY = "int a[] = {4, 2}, b[][2] = {{1}, {3, 5}}; z = a[1] + b[0][1] * x + b[1][1]"
STATEMENTS = {
    ARRAY: lambda x: np.full_like(x, 7),
    "z = x * 2 + 1": lambda x: x * np.float32(2) + np.float32(1),
    "z = x > 0 ? x : -x;": np.abs,
    "if (x > 1) { z = 1; } else if (x > 0) z = 2; else z = 3;": lambda x: np.where(
        x > 1, 1, np.where(x > 0, 2, 3)
    ),
    "float s = 0; for (int j = 0; j < 4; ++j) { if (j == 2) continue; s += j; } z = s * x;": lambda x: (
        4 * x
    ),
    "int k = 0; while (true) { if (++k > 5) break; } z = k;": lambda x: np.full_like(x, 6),
    "int k = 3; do { k--; } while (k > 0); z = k + x;": lambda x: x,
    "z = (int)x / 2": lambda x: np.trunc(np.trunc(x) / 2),
    "z = (int)x % 2": lambda x: np.fmod(np.trunc(x), 2),
    "unsigned int u = -1; z = (u >> 28) + 0 * x": lambda x: np.full_like(x, 15),
    "z = 5 / 2 + 0 * x": lambda x: np.full_like(x, 2),
    "char c = 200; z = c + 0 * x": lambda x: np.full_like(x, -56),
    "long long big = 1LL << 40; z = big >> 38; z += 0 * x": lambda x: np.full_like(x, 4),
    "z = sinf(x) + sin((double)x) - sin(x)": np.sin,
    "z = max(x, 1.0f) + min((int)x, 0)": lambda x: np.maximum(x, 1) + np.minimum(np.trunc(x), 0),
    "z = isnan(x) || !(x == x) ? 0 : pow(x, 2.0f)": lambda x: x * x,
    "float a[3] = {1, 2}; a[2] = x; z = a[0] + a[1] + a[2]": lambda x: x + 3,
    "z = -1; for (int j = 0; j < 9; j++) { if (j > x) { z = j; return; } } z = 9;": lambda x: (
        np.maximum(np.floor(x) + 1, 0)
    ),
    "T t = x; { T t = 5; t += 1; } z = t;": lambda x: x,
    "z = i + n * 0": lambda x: np.arange(x.size),
    "int q = 0; int r = q++ + ++q; z = r + x * 0": lambda x: np.full_like(x, 2),
    "z = SQ(SQ(x)) - SQ(x) * SQ(x)": lambda x: 0 * x,
    "int q = 1; { int q = 2; int q_1 = 30; z = q + q_1 + x * 0; }": lambda x: np.full_like(x, 32),
    "unsigned long long u = 5; u -= 10; z = u / 3 == 6148914691236517203ULL && u % 7 == 4;": lambda x: (
        np.ones_like(x)
    ),
    "T step = x, done = 1; for (int j = 0; j < 3; j++) { if (j > 1) { z = step + done; return; } } z = 0;": (
        lambda x: x + 1
    ),
    "z = norm(complex<float>(1, 1)) == 2.0f && norm(x) == x * x": np.ones_like,
    "z = signbit((int)x)": lambda x: np.trunc(x) < 0,
    "z = kind(1) + 10 * kind(1.0f) + 100 * kind((short)1) + 1000 * kind(1.0) + x * 0": lambda x: (
        np.full_like(x, 3321)
    ),
    "z = SQ(x) + half_of(x) + twice(x)": lambda x: x * x + x / 2 + 2 * x,
    "z = (x > 0 && x < 2) ^ 1": lambda x: ~((x > 0) & (x < 2)),
    "z = 0x10 + 010 + 1e1f + x * 0": lambda x: np.full_like(x, 34),
    "z = __popc(7u) + __clz(1) + x * 0": lambda x: np.full_like(x, 34),
    "z = M_PI * (x != x) + FLT_EPSILON * 0 + static_cast<int>(2.9)": lambda x: np.full_like(x, 2),
}
PREAMBLE = """
#define SQ(v) ((v) * (v))
typedef float real;
__device__ int kind(float v) { return 2; } __device__ int kind(int v) { return 1; }
template <typename S> __device__ int kind(S v) { return 3; }
template <typename S> __device__ S twice(const S& v) { return v * 2; }
__device__ __forceinline__ real half_of(real v) { if (v > 100) return 0; return v / 2; }
"""


@pytest.mark.parametrize("text", unless_short([*STATEMENTS][::3], [*STATEMENTS][1::3] + [*STATEMENTS][2::3]))
def test_statements_of_c(x, text):
    kernel = cp.ElementwiseKernel("T x", "T z", text, preamble=PREAMBLE)
    np.testing.assert_allclose(kernel(x).get(), STATEMENTS[text](X).astype("f4"), rtol=2e-6)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("float *p = &x; z = *p", "a pointer"), ("z = foo(x)", "no function 'foo'"), ("struct A { int b; };",
        "a struct"),
        ("goto end;", "goto"), ("z = y", "the name 'y'"), ("asm(\"\");", "inline assembly"), ("z = (x, 1)", "comma"),
        ("z = x > 0 ? ++x : 0", "some paths only"), ("break;", "break outside"), ("z = x % 2", "% takes integers"),
        ("z = 1 +", "line 1"), ("switch (1) {}", "switch"), ("__shared__ float s[3];", "shared memory"),
        ("z = x.real()", "real"),
        ("string s;", "';' expected"), ("int a[2] = {1, 2, 3}; z = a[0]", "3 values in braces for 2 elements"),
        ("z = sqr(x)", "no function 'sqr'; did you mean 'sqrt'"),
        ("float sum = x; z = sun", "no name 'sun'; did you mean 'sum'"),
        ("int a[]; z = 1", r"a\[\] needs values in braces"), ("int a[2] = 5; z = 1", "not in braces"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_named(x, text, what):
    with pytest.raises(ValueError, match=what):
        cp.ElementwiseKernel("T x", "T z", text)(x)


def test_operands_are_broadcast_where_they_lie(x):
    product = cp.ElementwiseKernel("T x, T y", "T z", "z = x * y", "product")
    a, b = x.reshape(4, 6), x[:4].reshape(4, 1)
    want = X.reshape(4, 6) * X[:4].reshape(4, 1)
    assert np.array_equal(product(a, b).get(), want) and np.array_equal(
        product(a.T, b.T).get(), want.T
    )
    out = cp.zeros((6, 4), "f4").T
    assert product(a, b, out) is out and np.array_equal(out.get(), want)
    assert np.array_equal(product(a, 2).get(), X.reshape(4, 6) * 2)
    assert product(cp.zeros((0, 3)), 1).shape == (0, 3) and product(2.0, 3).shape == ()


def test_rows_of_many_elements(x):
    product = cp.ElementwiseKernel(
        "T x, T y", "T z, int64 place", "if (x > 9) continue; z = x * y; place = i"
    )
    host = np.arange(2 * 3 * 40.0).reshape(2, 3, 40)
    a = cp.array(host)
    for one, other in (
        (a, a[0]),
        (a[:, :1], a[0]),
        (a.transpose(1, 0, 2), a[0, :, None]),
        (a[..., ::-1], a),
        (a[:, :, :35], a[:, :, 5:]),
    ):
        shape = np.broadcast_shapes(one.shape, other.shape)
        z, place = cp.zeros(shape), cp.full(shape, -1)
        product(one, other, z, place)
        product(one, other, z, place)  # looks like the call before
        wide = np.broadcast_to(one.get(), shape)
        want = np.where(wide > 9, 0, wide * other.get())
        assert np.array_equal(z.get(), want)
        assert np.array_equal(
            place.get(), np.where(wide > 9, -1, np.arange(wide.size).reshape(shape))
        )


def test_raw_arguments_are_indexed_by_hand(x):
    turned = cp.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]")
    assert np.array_equal(turned(x, x).get(), X + X[::-1])
    counted = cp.ElementwiseKernel(
        "raw T x, int32 shift", "raw int32 h", "atomicAdd(&h[(int)x[i] + shift], 1)"
    )
    bins = cp.zeros(8, "i4")
    counted(x, 3, bins, size=x.size)
    assert bins.get().sum() == 24
    stepped = cp.ElementwiseKernel(
        "raw T x", "raw T y", "y[i] = x[i]; y[i] += x.size() + x.shape()[0]"
    )
    apart = cp.zeros(12, "f4")[::2]
    stepped(x[::4], apart, size=6)
    assert np.array_equal(apart.get(), X[::4] + 12)


def test_types_of_arguments(x):
    same = cp.ElementwiseKernel("T x, T y", "T z", "z = x + y")
    with pytest.raises(TypeError, match="mismatched"):
        same(x, cp.zeros(24))
    with pytest.raises(TypeError, match="Wrong number"):
        same(x)
    with pytest.raises(TypeError, match="Unsupported type"):
        same(x, X)
    with pytest.raises(ValueError, match="mismatch"):
        same(x, x, cp.zeros(3, "f4"))
    with pytest.raises(ValueError, match="parameter name"):
        cp.ElementwiseKernel("T i", "T z", "z = i")
    for dtype in "?bBhHiIlLefdFD" if LONG else "?eD":
        ones = cp.ones(3, dtype)
        assert same(ones, ones).dtype == dtype
    assert cp.ElementwiseKernel("uint8 x", "uint8 y", "y = x + 250")(
        cp.array([10], "u1")
    ).get() == [4]
    made = cp.ElementwiseKernel("complex64 x", "float32 r", "r = abs(x) + x.real() * x.imag()")(
        cp.array([3 + 4j], "F")
    )
    assert made.get() == [17]


def test_calls_that_look_alike(x):
    product = cp.ElementwiseKernel("T x, T y", "T z", "z = x * y")
    norm = cp.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0")
    others = (x.reshape(4, 6), x[::2], x.astype("f8"), tn.asarray(x.get())) if LONG else ()
    for a in (x, x.reshape(4, 6).T, x[:0], *others):
        host = np.asarray(a if type(a) is tn.ndarray else a.get())
        for k in (2, 3, 2.5, True, np.float32(4)):
            if a.dtype == "f4" or not isinstance(k, np.generic):
                for _ in range(2):
                    made = product(a, k)
                    assert (
                        type(made) is cp.ndarray
                        and made.base is None
                        and np.array_equal(made.get(), host * k)
                    )
                    assert np.allclose(
                        norm(a, k, axis=-1).get(), (host * k).sum(axis=-1), rtol=1e-5
                    )
        out = cp.empty(host.shape, host.dtype)
        assert (
            product(a, a, out) is out
            and product(a, a, out) is out
            and np.array_equal(out.get(), host * host)
        )


def test_several_outputs(x):
    made = cp.ElementwiseKernel("T x", "T lo, int32 place", "lo = x < 0 ? x : 0; place = i")(x)
    assert np.array_equal(made[0].get(), np.minimum(X, 0)) and np.array_equal(
        made[1].get(), np.arange(24)
    )


def test_random_expressions_are_numpys():
    values = {name: np.arange(-8, 8, dtype="i4") * k for name, k in (("a", 1), ("b", 3), ("c", -2))}
    arrays = [cp.array(v) for v in values.values()]
    for seed in range(40 if LONG else 2):
        text, want = expression(np.random.RandomState(seed), values)
        got = cp.ElementwiseKernel("int32 a, int32 b, int32 c", "int32 z", f"z = {text}")(*arrays)
        assert np.array_equal(got.get(), want), text


# -- reductions ------------------------------------------------------------------------------------------


NORM = ("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")


@pytest.mark.parametrize("shape", unless_short([(5, 7), (3, 20000)], [(3, 300), (40, 20000), (5000, 40)]))
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reductions_along_axes(shape, axis):
    host = np.random.RandomState(1).rand(*shape)
    norm, x = cp.ReductionKernel(*NORM), cp.array(host)
    for _ in range(2):  # the second call looks like the first
        np.testing.assert_allclose(norm(x, axis=axis).get(), np.sqrt((host * host).sum(axis=axis)))


def test_reductions_of_other_kinds(x):
    dot = cp.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot")
    assert np.isclose(float(dot(x, x)), (X * X).sum()) and float(dot(cp.zeros(0), cp.zeros(0))) == 0
    ends = cp.ReductionKernel(
        "T x", "T lo, T hi", "x", "min(a, b)", "lo = a; hi = -a", None, "ends"
    )
    assert [float(v) for v in ends(x)] == [-3, 3]
    with pytest.raises(ValueError, match="no identity"):
        ends(cp.zeros(0))
    count = cp.ReductionKernel("T x", "int64 n", "x > 0 ? 1 : 0", "a + b", "n = a", "0", "count")
    assert (
        count(x.reshape(4, 6), axis=1, keepdims=True).shape == (4, 1)
        and int(count(x)) == (X > 0).sum()
    )
    out = cp.zeros(6, "i8")
    assert count(x.reshape(4, 6), axis=0, out=out) is out and int(out.sum()) == (X > 0).sum()
    with pytest.raises(ValueError, match="out has shape"):
        count(x, out=out)
    wide = cp.ReductionKernel(
        "float16 x", "float16 y", "x", "a + b", "y = a", "0", "wide", "double"
    )
    assert float(wide(cp.ones(3000, "e"))) == 3000
    with pytest.raises(ValueError, match="expression was expected"):
        cp.ReductionKernel("T x", "T y", "x; x", "a + b", "y = a", "0")(x)
    with pytest.raises(ValueError, match="'zero' is not understood"):
        cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "zero")(x)


# -- kernels of threads and of CUDA C -----------------------------------------------------------------------


@jit.rawkernel(device=True)
def doubled(value):
    return value * 2


@jit.rawkernel()
def turn(source, target):
    s = jit.shared_memory(np.float32, 24)
    t = jit.threadIdx.x
    s[t] = doubled(source[t])
    jit.syncthreads()
    target[t] = s[23 - t]
    jit.atomic_add(target, 0, 1.0)


def test_kernels_of_threads(x):
    for launch in (lambda y: turn((1,), (24,), (x, y)), lambda y: turn[1, 24](x, y)):
        y = cp.zeros(24, "f4")
        with cp.cuda.Stream():
            launch(y)
        assert np.allclose(y.get()[1:], 2 * X[::-1][1:])
    with pytest.raises(TypeError, match="Unsupported type"):
        turn[1, 24](X, y)


@jit.rawkernel()
def counted(target, n):
    for j in jit.range(1, 10, 2, unroll=4):
        target[0] += j
    for _ in jit.range(n, unroll=True):
        target[0] += 100


def test_loops_take_the_hint_to_unroll():
    y = cp.zeros(1)
    counted((1,), (1,), (y, 2))
    assert float(y[0]) == 225


@pytest.mark.parametrize(
    "launch", [lambda k, x: k((1,), (1,), x, 2), lambda k, x: k(1, 1), lambda k, x: k[4](x, 2), lambda k, x: k[4, 4, 4]]
)
def test_a_wrong_launch_says_how_it_is_written(launch, x):
    with pytest.raises(TypeError, match=r"counted\(\(blocks,\), \(threads,\), \(x, y\)\).*counted\[blocks, threads\]"):
        launch(counted, x)


def test_checked_kernels_name_the_line_of_the_text(monkeypatch):
    monkeypatch.setenv("TESSERA_CHECKED", "1")
    far = cp.ElementwiseKernel("raw T x, int64 y", "T z", "T t = 0;\nif (y > 2)\n  t = x[y + 1];\nz = t;", "far")
    with pytest.raises(IndexError, match=r"In line 3 of the kernel of 'far', tid=\[1, 0, 0\].*index 1001 is out of"):
        far(cp.zeros(4), cp.array([2, 1000]))
    helped = cp.ElementwiseKernel("raw T x, int64 y", "T z", "z = f(y)", "helped", preamble="""
        long long f(long long n) {
            int a[2] = {1, 2};
            return a[n];
        }""")  # fmt: skip
    with pytest.raises(IndexError, match="In line 4 of the preamble of 'helped'"):
        helped(cp.zeros(4), cp.array([0, 2]))


@pytest.mark.parametrize("word", ["int", "float", "f4", "double", "nothing"])
def test_types_of_parameters_are_names_of_dtypes(word):
    with pytest.raises(ValueError, match=f"Wrong type {word}|no dtype '{word}'"):
        cp.ElementwiseKernel(f"{word} x", "float32 z", "z = x", "named")


def test_vectorized_functions_keep_floats_of_some_elements():
    x = cp.array([-3, 1, 4], "i4")
    assert cp.vectorize(lambda v: v if v > 0 else v / 2)(x).get().tolist() == [-1.5, 1, 4]
    assert cp.vectorize(lambda v: v * 2)(x).dtype == "i4" and cp.vectorize(lambda v: v > 1)(x).dtype == "?"
    assert cp.vectorize(lambda v: v * 2)(x.astype("c8")).dtype == "c8"


def test_cuda_c_needs_a_gpu():
    kernel = cp.RawKernel('extern "C" __global__ void k(float *x) { x[0] = 1; }', "k")
    if cp.is_available():
        pytest.skip("here is one")
    with pytest.raises(RuntimeError, match="this machine has none; cupy.ElementwiseKernel"):
        kernel((1,), (1,), (cp.zeros(1, "f4"),))
    with pytest.raises(TypeError, match="Exactly one"):
        cp.RawModule()


def both(x, y):
    return x + y, x / y


def added(x, y):
    return cp.add(x, y)


def converted(x):
    kind = np.dtype("f").type
    return kind(x)


def test_vectorized_functions_of_several_results_and_of_cupys_functions():
    x, y = cp.arange(4), cp.arange(1, 5)
    total, quotient = cp.vectorize(both)(x, y)
    assert total.get().tolist() == [1, 3, 5, 7] and quotient.get().tolist() == [0, 1 / 2, 2 / 3, 3 / 4]
    assert cp.vectorize(added)(x, y).get().tolist() == [1, 3, 5, 7]
    assert cp.vectorize(converted)(x).dtype == "f4"
    assert cp.vectorize(lambda x, y: max(x, y))(x.astype("i4"), y).dtype == "i8"


def test_vectorized_functions_that_kernels_do_not_take():
    z = cp.ones(3, "c16")
    with pytest.raises(TypeError, match="cannot compare complex128"):
        cp.vectorize(lambda x, y: x < y)(z, z)


def test_names_of_dtypes_that_are_mistyped(x):
    with pytest.raises(ValueError, match="no dtype 'flot32'; did you mean 'float32'"):
        cp.ElementwiseKernel("flot32 x", "T z", "z = x")(x)
