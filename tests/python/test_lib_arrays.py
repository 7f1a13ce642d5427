# SPDX-License-Identifier: Apache-2.0
"""Every function of tessera.lib with every pair of its arrays in one piece of memory, and with every dtype: a result
is right, or refused before anything is written."""

from __future__ import annotations

import inspect
import re

import ml_dtypes
import numpy as np
import pytest
from lib_cases import ALL, CASES, FLOATS, FUNCTIONS, INTS, NARROW, TAKES, N, call, oracle, outputs, values
from tessera.lib import _rules


LIMIT = 8 * N * N  # elements of a piece of memory


def test_every_public_function_has_a_case_and_a_rule():
    assert set(FUNCTIONS) == set(CASES) == set(_rules.RULES)
    for name, rule in _rules.RULES.items():
        assert sorted(rule.names) == sorted(CASES[name].shapes), name
        assert sorted(rule.writes) == sorted(outputs(name)), name
        assert set(CASES[name].shapes) <= set(inspect.signature(FUNCTIONS[name]).parameters), name


# ---- memory ----------------------------------------------------------------------------------------------


def same(memory, n):
    return memory[:n]


def shifted(memory, n):
    return memory[1 : n + 1]


def interleaved(memory, n):
    return memory[1 : 2 * n : 2]


def apart(memory, n):
    return memory[LIMIT // 2 : LIMIT // 2 + n]


WAYS = {  # where the other array lies, where the output does, whether that is turned
    "same": (same, same, False),
    "shifted": (same, shifted, False),
    "transposed": (same, same, True),
    "interleaved": (lambda memory, n: memory[: 2 * n : 2], interleaved, False),
    "disjoint": (same, apart, False),
}


def pairs():
    for name in CASES:
        for i, output in enumerate(outputs(name)):
            for other in [a for a in CASES[name].shapes if a not in outputs(name)[i:]]:
                yield name, output, other


def placed(part, memory, shape, dtype, turned=False):
    flat = part(memory.view(dtype), int(np.prod(shape)))
    return flat.reshape(shape[::-1]).T if turned else flat.reshape(shape)


def arrays_of(name, output, other, way):
    """All arrays of a call, two of them in one piece of memory; inputs are filled after outputs."""
    case, memory = CASES[name], np.zeros(LIMIT, np.float32)
    dtype = {array: np.dtype(case.dtypes.get(array, "float32")) for array in case.shapes}
    arrays = {array: np.zeros(shape, dtype[array]) for array, shape in case.shapes.items()}
    first, second, turned = WAYS[way]
    arrays[other] = placed(first, memory, case.shapes[other], dtype[other])
    arrays[output] = placed(second, memory, case.shapes[output], dtype[output], turned)
    for array in arrays:
        if array not in outputs(name):
            arrays[array][...] = values(array, case.shapes[array], dtype[array])
    return arrays, memory


def is_same(a, b):
    places = [(x.ctypes.data, x.shape, x.strides) for x in (a, b)]
    return places[0] == places[1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name, output, other", [*pairs()])
def test_outputs_in_the_memory_of_other_arrays(name, output, other, way):
    arrays, memory = arrays_of(name, output, other, way)
    before, wanted = memory.copy(), oracle(name, arrays)
    share, same_place = (f(arrays[output], arrays[other]) for f in (np.shares_memory, is_same))
    rule = _rules.RULES[name]
    in_place = same_place and output == rule.writes[0] and other in rule.place
    if share and not in_place:
        with pytest.raises(ValueError, match=f"{name}: ({output} shares memory with {other}|"
                                             f"{other} shares memory with {output}); pass "):
            call(name, arrays)
        np.testing.assert_array_equal(memory, before)
        return
    try:
        call(name, arrays)
    except ValueError as error:
        assert "not contiguous" in str(error) and way == "interleaved"
        return
    for array, values_ in wanted.items():
        np.testing.assert_allclose(arrays[array], values_, rtol=1e-4, atol=1e-4, err_msg=array)


# ---- dtypes ----------------------------------------------------------------------------------------------

FEW = ("float32", "int8", "uint16")  # inputs that are tried with outputs of every dtype
GIVES = {  # dtypes of outputs, where the inputs do not decide
    "arg_reduce": ["int32", "int64", "uint32", "uint64"], "bits": ["int32", "uint32"], "uniform": ["float32"],
    "normal": ["float32"], "blur": ["float32"], "sobel": ["float32"],
}  # fmt: skip


def dtype(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def result_of(name, given):
    return "int32" if given == "int8" and "gemm" in name else given


def fits(name, given, taken):
    """Whether a function of inputs of one dtype may write outputs of another."""
    if given not in TAKES.get(name, ALL):
        return False
    if name in GIVES:
        return taken in GIVES[name]
    if name in ("permute", "transpose"):
        return taken == given
    if taken in FLOATS + NARROW:
        return True
    result = result_of(name, given)
    return result in INTS and taken in INTS and np.can_cast(result, taken, "safe")


def error_of(given, taken):
    """How far results may be off, in part of the greatest."""
    eps = [float(ml_dtypes.finfo(dtype(n)).eps) if n in FLOATS + NARROW else 0.0 for n in (given, taken)]
    return 8 * eps[0] + 2 * eps[1] + 1e-5


@pytest.mark.parametrize("name", CASES)
def test_outputs_of_every_dtype(name):
    pairs = {(d, result_of(name, d)) for d in ALL} | {(d, o) for d in FEW for o in ALL}
    for given, taken in sorted(pairs):
        case, writes = CASES[name], outputs(name)
        kinds = {a: case.dtypes.get(a, given) for a in case.shapes if a not in writes}
        fixed = {a for a in writes if a in case.dtypes and a != "out"}
        kinds |= {a: case.dtypes[a] if a in fixed else taken for a in writes}
        arrays = {
            a: values(a, s, dtype(kinds[a])) if a not in writes else np.ones(s, dtype(kinds[a]))
            for a, s in case.shapes.items()
        }
        said = f"{name}: {given} to {taken}"
        if not fits(name, given, taken):
            with pytest.raises(TypeError, match=f"{name}: [a-z]+ is of [a-z0-9_]+, "):
                print(said)
                call(name, arrays)
            assert all((arrays[a] == 1).all() for a in writes), said
            continue
        print(said)
        call(name, arrays)
        for array, wanted in oracle(name, arrays).items():
            found = arrays[array].astype(np.float64)
            bound = error_of(given, kinds[array]) * max(1.0, np.abs(wanted).max())
            assert np.abs(found - wanted).max() <= bound, (said, array)


# ---- what users pass --------------------------------------------------------------------------------------


def read_only(x):
    x = x.copy()
    x.setflags(write=False)
    return x


def unaligned(x):
    return np.frombuffer(bytearray(b"." + x.tobytes()), np.uint8)[1:].view(x.dtype).reshape(x.shape)


HOSTILE = {
    "negative stride": lambda x: np.ascontiguousarray(x[::-1])[::-1], "unaligned": unaligned,
    "broadcast": lambda x: np.broadcast_to(x[-1:], x.shape), "read-only": read_only,
    "byte order": lambda x: x.astype(x.dtype.newbyteorder()), "scalar": lambda x: x.dtype.type(1),
    "0-d": lambda x: np.array(1, x.dtype), "flat": np.ravel, "an axis more": lambda x: x[None],
    "longer": lambda x: np.concatenate([x, x]), "empty": lambda x: x[:0], "list": lambda x: x.tolist(),
    "None": lambda x: None, "number": lambda x: 1.0, "complex": lambda x: x.astype(complex),
    "objects": lambda x: x.astype(object), "long double": lambda x: x.astype(np.longdouble), "bool": lambda x: x > 0.5,
    "matrix": lambda x: np.asmatrix(x) if x.ndim == 2 else x, "memoryview": memoryview,
    "not a number": lambda x: np.where(np.arange(x.size).reshape(x.shape) == 5, np.nan, x).astype(x.dtype),
}  # fmt: skip


NAMED = {name: name for name in CASES} | {"transpose": "(transpose|permute)"}  # in messages


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("name", CASES)
def test_hostile_arrays_are_right_or_refused(name, kind):
    case = CASES[name]
    for hostile in case.shapes:
        kinds = {array: np.dtype(case.dtypes.get(array, "float32")) for array in case.shapes}
        arrays = {array: values(array, shape, kinds[array]) for array, shape in case.shapes.items()}
        arrays[hostile] = HOSTILE[kind](arrays[hostile])
        try:
            call(name, arrays)
        except (ValueError, TypeError) as error:
            assert re.match(f"{NAMED[name]}: ", str(error)), error
            continue
        for array, wanted in oracle(name, arrays).items():
            if arrays[array] is not None:
                found = np.asarray(arrays[array], np.float64).reshape(wanted.shape)
                np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4, err_msg=f"{hostile}: {array}")


OPTIONS = [
    ("vector_add", {"tile": 0}, "tile is 0, wanted a power of two"),
    ("chain", {"tile": 2.0}, "tile is 2.0, wanted a power of two"),
    ("gemm", {"tile": (16, 16)}, r"tile is \(16, 16\), wanted 3 powers of two"),
    ("gemm", {"tile": [3, 5, 7]}, r"tile is .3, 5, 7., wanted 3 powers of two"),
    ("gemm", {"tile": 16}, "tile is 16, wanted 3 powers of two"),
    ("gemm", {"tile": {"M": 16}}, "wanted 3 powers of two"),
    ("gemm", {"tile": (True, 16, 16)}, "wanted 3 powers of two"),
    ("gemm", {"tile": ([16], 16, 16)}, "wanted 3 powers of two"),
    ("gemm", {"tile": (1 << 20, 64, 16)}, "tiles of 67108864 elements; the limit is 16777216"),
    ("gemm", {"tile": (16, 16, 16), "group": 0}, "group is 0, wanted 1 to"),
    ("gemm", {"group": 1.5}, "group is 1.5, wanted an int"),
    ("attention", {"tile": (0, 0)}, "wanted 2 powers of two"),
    ("attention", {"tile": (16, 4)}, "wanted at least 8 keys"),
    ("attention", {"scale": float("inf")}, "scale must be positive and finite, not inf"),
    ("attention_backward", {"scale": 0}, "scale must be positive and finite, not 0"),
    ("attention_backward", {"tiles": (64, 64)}, "tiles is 64, wanted 2 powers of two"),
    ("attention_backward", {"tiles": ((64, 64),)}, "wanted two pairs of powers of two"),
    ("transpose", {"tile": (64,)}, "wanted 2 powers of two"),
    ("permute", {"axes": (1, 5)}, "an axis is 5, wanted -2 to 1"),
    ("sobel", {"tile": (3, 5)}, "wanted 2 powers of two"),
    ("blur", {"tile": 5}, "tile is 5, wanted 2 powers of two"),
    ("bits", {"seed": 1.5}, "seed is 1.5, wanted an int"),
    ("normal", {"offset": 2**64}, "offset is 18446744073709551616, wanted 0 to"),
    ("permute", {"axes": 1}, "permute: axes is 1, wanted the 2 axes of x"),
    ("reduce", {"axis": 1.0}, "reduce: axis is 1.0, wanted an int"),
    ("scan", {"axis": 2}, "scan: axis 2 is out of range"),
    ("scan", {"axis": "x"}, "scan: axis is 'x', wanted an int"),
    ("layer_norm", {"eps": "x"}, "layer_norm: eps is 'x', wanted a number"),
    ("rms_norm", {"eps": float("nan")}, "rms_norm: eps is nan, wanted a finite number"),
    ("attention", {"scale": "x"}, "attention: scale is 'x', wanted a number"),
]


@pytest.mark.parametrize("name, options, message", OPTIONS)
def test_options_that_mean_nothing_are_refused(name, options, message):
    case = CASES[name]
    arrays = {a: np.ones(s, case.dtypes.get(a, "float32")) for a, s in case.shapes.items()}
    with pytest.raises((ValueError, TypeError), match=message):
        FUNCTIONS[name](**arrays, **(case.options | options))
    assert all((arrays[a] == 1).all() for a in outputs(name))


def test_extents_of_tiles_may_be_numpy_integers():
    a, c = np.ones((16, 16), np.float32), np.zeros((16, 16), np.float32)
    FUNCTIONS["gemm"](a, a, c, tile=(np.int64(16), 16, np.uint8(16)))
    assert (c == 16).all()


@pytest.mark.parametrize("name", [n for n in CASES if any(not s for s in CASES[n].shapes.values())] or ["reduce"])
def test_a_number_in_place_of_an_array_is_refused(name):
    case = CASES[name]
    arrays = {a: np.ones(s, case.dtypes.get(a, "float32")) for a, s in case.shapes.items()}
    arrays[outputs(name)[0]] = np.float32(0)
    options = case.options | ({"axis": None} if name == "reduce" else {})
    with pytest.raises(TypeError, match=r"is a numpy.float32, a number; pass an array, such as numpy.zeros\(\(\)"):
        FUNCTIONS[name](**arrays, **options)


class Lent:
    """An array of a library that tells its address by DLPack alone; it copies where it must, as NumPy does."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def reshape(self, shape):
        return Lent(self.array.reshape(shape))


def test_an_array_that_reshaping_copies_is_noticed_in_every_library():
    x, out = np.ones((4, 6), np.float32), np.zeros((4, 12), np.float32)
    FUNCTIONS["scan"]("cumsum", Lent(x), Lent(out[:, :6].copy()))
    with pytest.raises(ValueError, match="scan: out, of shape .* pass a contiguous array"):
        FUNCTIONS["scan"]("cumsum", Lent(np.ones((4, 2, 6), np.float32)), Lent(out.reshape(2, 4, 6).transpose(1, 0, 2)))


WIDE = np.arange(16 * 24, dtype=np.float32).reshape(16, 24) % 7
STRIDED = {"rows": WIDE[::2, :6], "columns": WIDE[:8, 1:13:2], "both": WIDE[::2, ::4], "turned": WIDE[:6, :8].T}


@pytest.mark.parametrize("kind", STRIDED)
def test_matrices_of_any_strides_are_taken_as_the_docs_say(kind):
    x = STRIDED[kind]
    for axis in (0, 1):
        room, sums = np.zeros((16, 12), np.float32)[::2, ::2], np.zeros(x.shape[1 - axis] * 2, np.float32)[::2]
        FUNCTIONS["reduce"]("sum", x, sums, axis)
        np.testing.assert_array_equal(sums, x.sum(axis))
        FUNCTIONS["scan"]("cumsum", x, room, axis)
        np.testing.assert_array_equal(room, x.cumsum(axis))
    for name, more in (("transpose", ()), ("permute", ((1, 0),))):
        turned = np.zeros((12, 16), np.float32)[::2, ::2]
        FUNCTIONS[name](x, turned, *more)
        np.testing.assert_array_equal(turned, x.T)
    with pytest.raises(ValueError, match="reduce: x, of shape .* no view of shape .* pass a contiguous array"):
        FUNCTIONS["reduce"]("sum", x, np.zeros(1, np.float32))
