# SPDX-License-Identifier: Apache-2.0
"""Ordinary mistakes: each is named, with what was found and the way out, and nothing is written."""

import math
import operator
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from tessera import compute, cuda

X, OUT, M = np.arange(10, dtype=np.int32), np.zeros(10, np.int32), np.zeros(2, np.int64)
INIT = np.int32(0)


def reduce(**given):
    compute.reduce_into(**{"d_in": X, "d_out": OUT, "num_items": 10, "op": max, "h_init": INIT, **given})


def select(**given):
    compute.select(**{"d_in": X, "d_out": OUT, "d_num_selected_out": M, "cond": bool, "num_items": 10, **given})


class Stream:
    def __init__(self, given):
        self.given = given

    def __cuda_stream__(self):
        return self.given


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: reduce(num_items=11), ValueError, "num_items is 11, d_in has 10 elements"),
        (lambda: reduce(num_items=-1), ValueError, "cannot be less than 0"),
        (lambda: reduce(num_items=2.5), TypeError, "num_items is a float: 2.5; give a whole number"),
        (lambda: reduce(op=3), TypeError, "op is a int: 3; give a function of Python"),
        (lambda: reduce(op=lambda a: a), TypeError, "op is called with 2 arguments, '<lambda>' takes 1"),
        (lambda: reduce(op=sum), TypeError, "op is `sum`, .* a function of two values: give operator.add or OpKind.PL"),
        (lambda: reduce(op=np.max), TypeError, "op is `max`, which takes many values at once; .*OpKind.MAXIMUM"),
        (lambda: reduce(op=np.add.reduce), TypeError, "op is `add.reduce`, .*give operator.add or OpKind.PLUS"),
        (lambda: reduce(op=np.hypot.reduce), TypeError, "op is `hypot.reduce`, .*give numpy.hypot"),
        (lambda: reduce(op=compute.OpKind.NEGATE), TypeError, "op is called with 2 arguments, 'NEGATE' takes 1"),
        (lambda: reduce(op=compute.OpKind.STATEFUL), ValueError, "give a function"),
        (lambda: reduce(op=compute.RawOp(ltoir=b"", name="f")), NotImplementedError, "give a function of Python"),
        (lambda: reduce(d_in=[1, 2]), TypeError, "d_in is a list: .*; give an array"),
        (lambda: reduce(d_in=None), TypeError, "d_in is a NoneType"),
        (lambda: reduce(d_in=np.array(["a"])), TypeError, "d_in: items of <U1 are not handled"),
        (lambda: reduce(h_init=np.zeros(2)), ValueError, "h_init has 2 elements; give one"),
        (lambda: reduce(stream=5), TypeError, "does not implement the '__cuda_stream__' protocol"),
        (lambda: reduce(stream=Stream((1, 5))), TypeError, "unsupported __cuda_stream__ version 1"),
        (lambda: reduce(stream=Stream((0, "a"))), TypeError, "invalid stream handle 'a'"),
        (lambda: reduce(temp_storage=np.zeros(1, np.int8)), ValueError, "temp_storage has 1 bytes, 512 are needed"),
        (lambda: reduce(d_out=compute.CountingIterator(INIT)), ValueError, "does not support output operations"),
        (lambda: select(d_in=compute.TransformOutputIterator(OUT, abs, np.int32)), ValueError, "input operations"),
        (lambda: compute.TransformOutputIterator(OUT, lambda v: v), ValueError, "annotate the parameter"),
        (lambda: compute.CountingIterator("a"), TypeError, "start is a str: 'a'; give a number of NumPy"),
        (lambda: compute.ZipIterator(), ValueError, "at least one"),
        (lambda: compute.ShuffleIterator(0), ValueError, "num_items must be > 0"),
        (lambda: compute.CacheModifiedInputIterator(X, "often"), ValueError, "'stream', 'global' or 'volatile'"),
        (lambda: compute.PermutationIterator(X, np.zeros(3)), TypeError, "indices are float64"),
        (lambda: compute.gpu_struct({"a b": np.int32}), ValueError, "'a b' cannot be a field"),
        (lambda: compute.gpu_struct({"a": np.dtype("U3")}), TypeError, "field 'a'"),
        (lambda: compute.radix_sort(d_in_keys=X, num_items=10), ValueError, "d_out_keys is missing"),
        (
            lambda: compute.radix_sort(d_in_keys=X, d_out_keys=OUT, num_items=10, begin_bit=3, end_bit=40),
            ValueError,
            "bits 3 to 40 are not among the 32",
        ),
        (
            lambda: compute.radix_sort(d_in_keys=X, d_out_keys=OUT, d_in_values=X, num_items=10),
            ValueError,
            "d_in_values is given and d_out_values is not",
        ),
        (
            lambda: compute.histogram_even(
                d_samples=X, d_histogram=OUT, num_output_levels=3, lower_level=5, upper_level=2, num_samples=10
            ),
            ValueError,
            "lower_level 5 must be less than upper_level 2",
        ),
        (lambda: compute.deserialize(b"abc"), ValueError, "not what serialize"),
        (lambda: compute.serialize(3), TypeError, "nothing that make_.. gives"),
    ],
)
def test_mistakes_are_named(call, kind, words):
    before = OUT.copy()
    with pytest.raises(kind, match=words):
        call()
    cuda.synchronize()
    assert np.array_equal(OUT, before)


def test_objects_are_for_their_kinds():
    made = compute.make_reduce_into(d_in=X, d_out=OUT, op=max, h_init=INIT)
    with pytest.raises(TypeError, match="d_in is of another kind than make_reduce_into was called with"):
        made(temp_storage=None, d_in=X.astype(np.int64), d_out=OUT, num_items=10, op=max, h_init=INIT)
    again = compute.deserialize(compute.serialize(made))
    out = np.zeros(1, np.int32)
    given = {"d_in": X, "d_out": out, "num_items": 10, "op": max, "h_init": INIT}
    memory = np.zeros(again(temp_storage=None, **given), np.uint8)
    again(temp_storage=memory, **given)
    cuda.synchronize()
    assert out[0] == 9
    with pytest.raises(ValueError, match="version"):
        compute.deserialize(compute.serialize(made).replace(b'"version": 1', b'"version": 9'))


def test_an_operator_that_reads_an_array_of_another_call():
    table = cuda.to_device(np.array([10, 20, 30]))
    out = np.zeros(3, np.int64)
    compute.unary_transform(d_in=np.array([2, 0, 1]), d_out=out, op=lambda i: table[i], num_items=3)
    cuda.synchronize()
    assert out.tolist() == [30, 10, 20]
    table = cuda.to_device(np.array([1, 2, 3]))
    compute.unary_transform(d_in=np.array([2, 0, 1]), d_out=out, op=lambda i: table[i], num_items=3)
    cuda.synchronize()
    assert out.tolist() == [3, 1, 2]


def test_a_call_with_an_array_of_numpy_returns_when_it_is_done():
    x = np.ones(3_000_000, np.int32)
    for _ in range(3):
        out = np.zeros(1, np.int32)
        compute.reduce_into(d_in=compute.TransformIterator(x, abs), d_out=out, num_items=x.size, op=max, h_init=INIT)
        assert out[0] == 1
        compute.fill(d_out=compute.TransformOutputIterator(x, abs, np.int32), value=np.int32(1), num_items=x.size)
        assert x[-1] == 1
        x[-1] = 0


def raising(v):
    assert v != 3, "three"
    return v % 2


def test_an_operator_that_raises():
    with pytest.raises(AssertionError, match="three"):
        compute.unary_transform(d_in=X, d_out=np.zeros(10), op=raising, num_items=10)
    with pytest.raises(AssertionError, match="three"):
        compute.reduce_into(d_in=X, d_out=np.zeros(1), op=lambda a, b: a + raising(b), num_items=10)
    with pytest.raises(AssertionError, match="three"):
        select(cond=raising, d_out=np.zeros(10, np.int32))


@pytest.mark.parametrize("at", (3, 4095, 9_000, 19_999))
def test_operators_of_scans_that_raise(at):
    """No tile waits for one that ended; where none ends, the bits are those of other operators."""
    x, out = np.random.default_rng(at).random(20_000).astype(np.float32), np.zeros(20_000, np.float32)
    wanted, count = np.zeros_like(x), np.zeros(1, np.int64)
    compute.inclusive_scan(d_in=x, d_out=wanted, op=lambda a, b: a + b, num_items=x.size)

    def checked(a, b):
        assert b >= 0, "negative"
        return a + b

    compute.inclusive_scan(d_in=x, d_out=out, op=checked, num_items=x.size)
    assert out.tobytes() == wanted.tobytes()
    x[at] = -1
    with pytest.raises(AssertionError, match="negative"):
        compute.inclusive_scan(d_in=x, d_out=out, op=checked, num_items=x.size)
    with pytest.raises(AssertionError, match="negative"):
        compute.select(
            d_in=x, d_out=out, d_num_selected_out=count, cond=lambda v: checked(v, v) > 1, num_items=x.size
        )


def test_what_lies_behind_iterators_and_results_is_measured():
    at, one = np.array([3, 1]), np.zeros(1, np.int64)
    for source in (
        compute.PermutationIterator(X, at),
        compute.ZipIterator(X[:2], X),
        compute.TransformIterator(X[:2], abs),
        compute.ReverseIterator(X[:2]),
        compute.ShuffleIterator(2),
    ):
        with pytest.raises(ValueError, match="num_items is 3, d_in has 2 elements"):
            compute.for_each(d_in=source, op=abs, num_items=3)
    with pytest.raises(ValueError, match="num_items is 11, d_in has 10"):
        compute.count_if(d_in=X, d_out=one, cond=bool, num_items=11)
    with pytest.raises(ValueError, match="d_out has 0 elements"):
        reduce(d_out=OUT[:0])
    with pytest.raises(ValueError, match="d_out has 0 elements"):
        compute.minmax(d_in=X, d_out=OUT[:1], num_items=10)
    with pytest.raises(ValueError, match="d_out shares memory with d_in"):
        select(d_in=OUT, d_out=OUT[1:], num_items=9)


def test_memory_is_not_shared_with_the_algorithm_below():
    x, out = np.random.default_rng(0).permutation(5000).astype(np.uint64), np.zeros(1, np.uint64)
    compute.nth_element(d_in=x, d_out=out, n=3000, num_items=5000)
    assert out[0] == 3000


def test_structs_are_not_joined_as_tuples():
    pair = compute.gpu_struct({"a": np.int32, "b": np.float32}, "P")
    with pytest.raises(Exception, match="what the operator gave has not"):
        compute.reduce_into(
            d_in=np.ones(3, pair.dtype), d_out=np.zeros(1, pair.dtype), op=operator.add, h_init=pair(0, 0), num_items=3
        )


def test_quotients_of_whole_numbers_are_those_of_c():
    a, b = np.array([-7, 7, -7, 7, 6]), np.array([2, -2, -2, 2, 3])
    out = np.zeros(5, np.int64)
    compute.binary_transform(d_in1=a, d_in2=b, d_out=out, op=compute.OpKind.DIVIDES, num_items=5)
    assert out.tolist() == [-3, -3, 3, 3, 2]
    compute.binary_transform(d_in1=a, d_in2=b, d_out=out, op=compute.OpKind.MODULUS, num_items=5)
    assert out.tolist() == [-1, 1, -1, 1, 0]


def test_maxima_of_numpy_keep_nan():
    out = np.zeros(1)
    compute.reduce_into(d_in=np.array([1, np.nan, 2]), d_out=out, op=np.maximum, num_items=3)
    assert np.isnan(out[0])


def test_builtins_are_operators():
    x, out, n = np.array([-4.0, 0.0, 9.0]), np.zeros(3), np.zeros(1, np.int64)
    compute.unary_transform(d_in=x, d_out=out, op=abs, num_items=3)
    compute.unary_transform(d_in=out, d_out=out, op=math.sqrt, num_items=3)
    compute.binary_transform(d_in1=out, d_in2=out, d_out=out, op=np.hypot, num_items=3)
    cuda.synchronize()
    assert np.allclose(out, np.sqrt(2 * np.abs(x)))
    compute.select(d_in=x, d_out=out, d_num_selected_out=n, cond=bool, num_items=3)
    cuda.synchronize()
    assert n[0] == 2 and out[:2].tolist() == [-4, 9]


OLD = """
import numpy as np
from cuda.cccl.parallel import reduce
import cuda.cccl.parallel.experimental as parallel
import cuda.parallel.experimental.algorithms as algorithms
from cuda.parallel.experimental.iterators import CountingIterator
import cuda.compute
x, o, zero = np.arange(100, dtype=np.int32), np.zeros(1, np.int32), np.array([0], np.int32)
assert reduce(x, 0, lambda a, b: a + b) == 4950
parallel.reduce_into(x, o, lambda a, b: a + b, 100, zero)
from tessera import cuda as c
c.synchronize()
assert o[0] == 4950
r = algorithms.reduce_into(x, o, lambda a, b: max(a, b), zero)
r(np.zeros(r(None, x, o, 100, zero), np.uint8), x, o, None, zero)
c.synchronize()
assert o[0] == 99
print("ok")
"""


def test_older_names(tmp_path: pathlib.Path):
    script = tmp_path / "old.py"
    script.write_text(OLD)
    done = subprocess.run([sys.executable, "-m", "tessera", "run", script], capture_output=True, text=True, check=False)
    assert done.stdout == "ok\n", done.stderr


def nothing(a, b):
    a + b


def now_and_then(a, b):
    if a > b:
        return a + b


@pytest.mark.parametrize("op", [nothing, now_and_then])
def test_an_operator_that_forgets_to_return(op):
    line = op.__code__.co_firstlineno
    with pytest.raises(cuda.errors.TypingError, match="end .* with 'return'") as caught:
        compute.inclusive_scan(d_in=X, d_out=OUT, op=op, num_items=10)
    assert str(caught.value).startswith(f"{__file__}:{line}:1: '{op.__name__}' returns ")
    with pytest.raises(cuda.errors.TypingError, match=f"^{re.escape(__file__)}:{line}:1"):
        cuda.reduce(op)(X)
    with pytest.raises(cuda.errors.TypingError, match=f"^{re.escape(__file__)}:{line}:1"):
        cuda.vectorize(["float64(float64, float64)"])(op)(X, X)


def test_a_call_for_its_effects_may_return_on_some_paths():
    def core(x, y):
        now_and_then(x[0], y[0])
        y[0] = x[0]

    made = cuda.guvectorize(["(float64[:], float64[:])"], "(n)->(n)")(core)
    assert made(np.ones(3))[0] == 1.0
