# SPDX-License-Identifier: Apache-2.0
"""Calls that NumPy takes are taken and give the same; what it refuses is refused, by an error of the same kind."""

from __future__ import annotations

import numpy
import pytest
import tessera.numeric as tn

_KINDS = (TypeError, ValueError, OverflowError, IndexError)


def outcome(module, source):
    """What the last expression of a source gives, or which kind of error ends it."""
    *before, last = source.split("; ")
    names = {"np": module}
    try:
        exec("; ".join(before), names)
        made = eval(last, names)
    except _KINDS as error:
        return next(kind for kind in _KINDS if isinstance(error, kind))
    parts = made if isinstance(made, tuple) else (made,)
    return [(numpy.asarray(x).dtype, numpy.asarray(x).tolist()) for x in parts]


def alike(source):
    theirs = outcome(numpy, source)
    assert outcome(tn, source) == theirs


DAYS = "a = np.array(['2001', '2002'], 'M8[D]')"
SPANS = "a = np.array([1, 2], 'm8[D]')"


@pytest.mark.parametrize("key", ["slice(None)", "...", "0", "slice(1, None)", "[0, 0]", "slice(0, 0)"])
@pytest.mark.parametrize("call", [
    f"{DAYS}; np.add.at(a, KEY, 1); a",
    f"{DAYS}; np.add.at(a, KEY, np.array([3])); a",
    f"{DAYS}; np.subtract.at(a, KEY, np.timedelta64(2, 'D')); a",
    f"{DAYS}; np.multiply.at(a, KEY, 2); a",
    f"{SPANS}; np.multiply.at(a, KEY, 2.5); a",
    f"{SPANS}; np.floor_divide.at(a, KEY, 2); a",
    f"{SPANS}; np.negative.at(a, KEY); a",
])  # fmt: skip
def test_dates_at_slices_and_places(call, key):
    alike(call.replace("KEY", key))


@pytest.mark.parametrize("out", ["(2, 2, 2), 'f4'", "(2, 2, 2), 'D'", "(2, 2, 2), 'i4'", "(2, 2)", "(3, 2, 2, 2)"])
@pytest.mark.parametrize("operands", ["np.ones((2, 2, 2)), np.array(2.)", "2., np.ones((2, 2, 2))"])
def test_a_number_times_many_axes_by_dot(operands, out):
    alike(f"o = np.zeros({out}); np.dot({operands}, out=o); o")


OUTS = ["o", "(o,)", "()", "[o]", "(o, o)", "(None,)", "None"]


@pytest.mark.parametrize("out", [*OUTS, "...", "(...,)"])
@pytest.mark.parametrize("name", ["add", "maximum", "logical_or", "subtract", "hypot"])
def test_methods_of_ufuncs_take_out_in_a_tuple(name, out):
    alike(f"o = np.zeros(2); np.{name}.accumulate(np.ones(2), out={out})")
    alike(f"o = np.zeros(()); np.{name}.reduce(np.ones(2), out={out})")
    alike(f"o = np.zeros(2); np.{name}.reduceat(np.ones(2), [0, 1], out={out})")


@pytest.mark.parametrize("out", OUTS)
@pytest.mark.parametrize(
    "name", ["sum", "prod", "any", "all", "max", "min", "mean", "var", "std", "ptp", "argmax", "nansum", "nanmax"]
)
def test_reductions_take_no_out_in_a_tuple(name, out):
    alike(f"o = np.zeros((), 'i8' if {name!r} == 'argmax' else 'f8'); np.{name}(np.ones(2), out={out})")


@pytest.mark.parametrize("out", OUTS)
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cumulative_sum", "cumulative_prod"])
def test_running_sums_take_no_out_in_a_tuple(name, out):
    alike(f"o = np.zeros(2); np.{name}(np.ones(2), out={out})")


@pytest.mark.parametrize("axis", ["[0]", "[0, 1]", "[]", "(0, 1)", "range(2)", "np.array(0)", "np.array([0, 1])"])
@pytest.mark.parametrize("name", [
    "sum", "prod", "max", "any", "mean", "var", "std", "ptp", "nansum", "nanmean", "nanmax", "nanvar",
    "count_nonzero", "add.reduce", "hypot.reduce", "maximum.reduce",
])  # fmt: skip
def test_axes_stand_in_tuples(name, axis):
    alike(f"np.{name}(np.ones((2, 2)), axis={axis})")


@pytest.mark.parametrize("dtype", [">f8", "<f8", ">i4", "m8[D]"])
@pytest.mark.parametrize("call", [
    "mean(a", "var(a", "std(a", "nanmean(a", "cumulative_sum(a", "cumulative_prod(a", "sum(a", "add.reduce(a",
    "add.accumulate(a", "maximum.accumulate(a", "subtract.accumulate(a", "hypot.reduce(a", "maximum.reduce(a",
    "subtract.reduceat(a, [0]", "matmul(a, a", "vecdot(a, a", "matvec(a, a[0]", "vecmat(a[0], a",
])  # fmt: skip
def test_dtypes_of_reductions_and_products_have_no_byte_order(call, dtype):
    alike(f"a = np.ones((1, 1)); np.{call.replace('cumulative_sum(a', 'cumulative_sum(a[0]')}, dtype='{dtype}')")


@pytest.mark.parametrize("array", ["['1', '2']", "[b'1', b'2']", "np.array(['2001', '2002'], 'M8[D]')",
                                   "np.array([1, 2], 'm8[D]')", "np.array(['1', '2'])"])  # fmt: skip
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn", "rfftn"])
def test_texts_and_dates_are_not_transformed(name, array):
    alike(f"np.fft.{name}({array})")


@pytest.mark.parametrize("call", [
    "np.ones(2).view(type=None)", "np.ones(2).view(None, None)", "np.ones(2).view(None)", "np.ones(2).view('i8')",
    "np.ones(2).view(type=np.ndarray)", "np.ones(2).to_device(None)", "np.ones(2).to_device('cpu')",
    "np.unravel_index(5, iter([3, 4]))", "np.unravel_index(5, {3, 4})", "np.unravel_index(5, range(3, 5))",
    "np.ones((2, 3)).transpose(iter([1, 0]))", "np.ones((2, 3)).transpose([1, 0])",
    "import numpy; np.ones(2).__array_ufunc__(numpy.add, '__call__')",
    "import numpy; np.ones(2).__array_ufunc__(numpy.add, '__call__', np.ones(2))",
    "np.subtract.accumulate(np.ones(2, 'D'), out=np.ones(3))",
])  # fmt: skip
def test_what_methods_refuse(call):
    alike(call)


@pytest.mark.filterwarnings("error")
def test_shapes_are_looked_at_before_parts_are_lost():
    for module in (numpy, tn):
        with pytest.raises(ValueError, match="shape"):
            module.subtract.accumulate(module.ones(2, "D"), out=module.ones(3))
