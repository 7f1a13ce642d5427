# SPDX-License-Identifier: Apache-2.0
"""Loops that repeat a graph with other shapes, layouts and operands: what is kept of a call or of a node from one round
for the next (dtypes of calls, memory of nodes, numbers in a group) changes no value, dtype, warning or error."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
import tessera.numeric as tn

DTYPES = "?bBhHiIqQefdFD"
NUMBERS = [True, 3, -3, 300, 2.5, 1j, 2**63]
BINARY = ["add", "subtract", "multiply", "divide", "floor_divide", "maximum", "less", "equal", "arctan2", "left_shift",
          "bitwise_and", "hypot", "copysign"]  # fmt: skip
UNARY = ["negative", "sqrt", "absolute", "isfinite", "logical_not", "exp", "sign", "conjugate", "floor", "invert"]
MANY = 1025  # so that results wait, and are never computed


def of_call(module, name, operands):
    """The dtype of a call's result, or the class of its error."""
    arrays = [module.ones(MANY, x) if isinstance(x, str) else x for x in operands]
    try:
        return getattr(module, name)(*arrays).dtype
    except (TypeError, ValueError, OverflowError) as error:  # NumPy's own classes are below these
        return next(each for each in (TypeError, ValueError, OverflowError) if isinstance(error, each))


@pytest.mark.parametrize("seed", range(3))
def test_dtypes_of_calls_in_any_order_are_numpys(seed):
    source = random.Random(seed)
    some = source.sample(DTYPES, 5)
    for _ in range(400):
        name = source.choice(BINARY + UNARY)
        operands = [source.choice(some)]
        if name in BINARY:
            operands.insert(source.randrange(2), source.choice(some if source.random() < 0.6 else NUMBERS))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = of_call(np, name, operands)
            got = of_call(tn, name, operands)
        assert got == wanted, (name, operands)


def test_known_dtypes_are_asked_for_casting_and_out():
    x, y = np.ones(MANY, "f4"), np.ones(MANY, "i8")
    for module in (np, tn):
        a, b = module.array(x), module.array(y)
        for _ in range(2):
            assert module.add(a, b).dtype == np.float64
            with pytest.raises(TypeError):
                module.add(a, b, casting="no")
            with pytest.raises(TypeError):
                module.add(a, b, out=module.empty(MANY, "f4"), casting="safe")
            with pytest.raises(TypeError):
                module.add(a, b, out=module.empty(MANY, "i8"))
            assert module.add(a, b, dtype="c16").dtype == np.complex128


# ---- random graphs ----------------------------------------------------------------------------------

VIEWS = ["{}", "{}", "{}", "{}[..., ::-1]", "{}[..., :1]", "m.swapaxes({}, 0, -1)", "{}.max(-1, keepdims=True)"]
STEPS = ["{} + {}", "{} - {}", "{} * {}", "m.maximum({}, {})", "m.where({} > 0, {}, 1)", "abs({}) + {}", "-{} * {}",
         "{} / abs({})", "{} * 0.5 + {}", "m.add({}, {}, dtype='f8')", "({} / 3 > {}) * 2.0"]  # fmt: skip
WRITES = ["v[{i}] += {x}", "v[{i}] *= 0.25", "v[{i}][..., 1:] = {x}[..., :-1]", "v[{i}][...] = {x}", "v[{i}] = v[{k}]",
          "m.subtract(v[{i}], {x}, out=v[{i}])"]  # fmt: skip
SHAPES = [(2000,), (33, 40), (40, 40), (1, 1500), (7, 9, 30), (3, 2, 5, 2, 4, 9), (5,), (0, 4), (1200, 1)]


def graph(source):
    """Statements on a list `v` of six arrays of one shape."""

    def value():
        return source.choice(VIEWS).format(f"v[{source.randrange(6)}]")

    lines = []
    for _ in range(source.randrange(3, 12)):
        names = {"i": source.randrange(6), "k": source.randrange(6), "x": f"v[{source.randrange(6)}]"}
        if source.random() < 0.3:
            lines.append(source.choice(WRITES).format(**names))
        else:
            step = source.choice(STEPS).format(value(), value())
            lines.append(f"v[{names['i']}] = {step} + v[{names['k']}] * 0")
    return lines


def of_graph(module, lines, arrays):
    """Arrays after the statements, the class of the error that ended them, and what was warned of."""
    v, error = [module.array(x) for x in arrays], None
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            for line in lines:
                exec(line, {"m": module, "v": v})
        except (ValueError, TypeError) as found:
            error = type(found)
        made = [np.asarray(x) for x in v]  # what waits is computed, and tells of faults
    return made, error, {str(each.message).split(" encountered")[0] for each in heard}


@pytest.mark.parametrize("seed", range(8))
def test_repeated_graphs_compute_what_numpy_does(seed):
    source = random.Random(seed)
    lines = graph(source)
    for _ in range(6):
        shape, dtype = source.choice(SHAPES), source.choice(["f4", "f8", "f8"])
        values = np.random.default_rng(source.randrange(2**32))
        arrays = [np.round(values.normal(size=shape) * 8).astype(dtype) / 4 for _ in range(6)]
        with np.errstate(all=source.choice(["ignore", "warn"])):
            wanted, error, said = of_graph(np, lines, arrays)
            got, ours, heard = of_graph(tn, lines, arrays)
        assert (ours, heard) == (error, said), (lines, shape)
        for i, (x, y) in enumerate(zip(wanted, got, strict=True)):
            assert x.dtype == y.dtype and x.shape == y.shape, (lines, shape, i)
            np.testing.assert_array_equal(y, x, err_msg=f"v[{i}] of {shape} after {lines}")


def test_more_nodes_than_are_kept_give_what_numpy_does():
    x = tn.arange(2000.0)
    for _ in range(3):
        values = [x + i for i in range(20)]
        for _ in range(3):
            values = [a * 2 - b for a, b in zip(values, values[1:] + values[:1], strict=True)]
        values = values[:2]
        np.testing.assert_array_equal(np.asarray(values[0]), np.arange(2000.0) - 3)
