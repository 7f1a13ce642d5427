# SPDX-License-Identifier: Apache-2.0
"""Modules that programs import beside the package, and what they are told about names and values that are not there."""

from __future__ import annotations

import datetime
import importlib
import subprocess
import sys
import warnings

import numpy
import numpy.dtypes
import numpy.exceptions
import numpy.typing
import numpy.version
import pytest
import tessera.numeric as tn

with warnings.catch_warnings():
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    import numpy.matlib


@pytest.mark.parametrize("module", ["dtypes", "exceptions", "typing", "version"])
def test_modules_of_numpy_are_imported_by_name(module):
    ours, theirs = importlib.import_module(f"tessera.numeric.{module}"), importlib.import_module(f"numpy.{module}")
    assert getattr(tn, module) is ours
    for name in getattr(theirs, "__all__", ["version", "full_version", "release"]):
        assert name == "NDArray" or getattr(ours, name) is getattr(theirs, name)
        assert name in dir(ours)
    with pytest.raises(AttributeError):
        ours.no_such_name  # noqa: B018


def test_modules_are_there_before_anything_asked_for_them():
    program = (
        "from tessera.numeric.exceptions import AxisError; from tessera.numeric.dtypes import Float64DType\n"
        "from tessera.numeric.version import version; from tessera.numeric.typing import ArrayLike, NDArray\n"
        "import tessera.numeric as tn\n"
        "try: tn.ones(2).sum(axis=3)\n"
        "except AxisError: print(version == tn.__version__, isinstance(tn.dtype(float), Float64DType))\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert said.stdout == "True True\n", said.stderr


def test_annotations_are_of_our_arrays():
    named = tn.typing.NDArray[tn.float32]
    assert named.__origin__ is tn.ndarray and named.__args__[1] == numpy.dtype[numpy.float32]


MATRICES = {
    "ones": lambda m: m.ones(3),
    "zeros": lambda m: m.zeros((2, 3), int, "F"),
    "empty": lambda m: m.empty((2, 0)),
    "identity": lambda m: m.identity(2, "i2"),
    "eye": lambda m: m.eye(3, 4, 1),
    "repeated": lambda m: m.repmat([[1, 2], [3, 4]], 2, 3),
    "repeated vector": lambda m: m.repmat([1, 2], 2, 3),
    "repeated number": lambda m: m.repmat(7, 2, 0),
    "repeated matrix": lambda m: m.repmat(m.ones((2, 2)), 2, 1),
    "function of the package": lambda m: m.add(m.matrix([[1]]), 2),
    "random": lambda m: (m.random.seed(1), m.rand((2, 3)), m.randn(2), m.rand(3, 1)),
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("name", MATRICES)
def test_matlib_makes_matrices(name):
    ours, theirs = MATRICES[name](tn.matlib), MATRICES[name](numpy.matlib)
    pairs = zip(ours, theirs, strict=True) if isinstance(ours, tuple) else [(ours, theirs)]
    for a, x in pairs:
        assert repr(a) == repr(x) and getattr(a, "dtype", None) == getattr(x, "dtype", None)
        assert type(a).__name__ == type(x).__name__
        assert a is None or (isinstance(a, tn.ndarray) and a.flags.f_contiguous == x.flags.f_contiguous)


def refused(module, call):
    with warnings.catch_warnings(), pytest.raises(Exception) as caught:  # noqa: PT011
        warnings.simplefilter("ignore")
        call(module)
    return caught.value


@pytest.mark.parametrize("name", ["int", "float", "complex", "str", "object", "float_", "unicode_", "NaN", "alltrue"])
def test_names_that_numpy_had_say_what_to_use(name):
    ours, theirs = refused(tn, lambda m: getattr(m, name)), refused(numpy, lambda m: getattr(m, name))
    assert type(ours) is type(theirs) is AttributeError and f"np.{name}" in str(ours)
    assert str(ours).replace("tessera.numeric", "numpy") == str(theirs)


@pytest.mark.parametrize(("name", "wanted"), [("bool8", "`np.bool_`"), ("int0", "`np.intp`"), ("zerps", "'zeros'")])
def test_other_names_that_are_not_there_say_what_is(name, wanted):
    assert wanted in str(refused(tn, lambda m: getattr(m, name)))
    assert not hasattr(tn, name)


def test_names_without_a_near_one_get_no_advice():
    assert str(refused(tn, lambda m: m.xqzwvk)) == "module 'tessera.numeric' has no attribute 'xqzwvk'"


def test_long_doubles_have_their_names():
    for name in ("complex192", "complex256", "float96", "float128"):
        assert getattr(tn, name, None) is getattr(numpy, name, None)


@pytest.mark.parametrize("call", [
    lambda m: m.swapaxes(m.ones((2, 2)), 0, 5),
    lambda m: m.swapaxes(m.ones((2, 2)), -3, 0),
    lambda m: m.ones((2, 2)).swapaxes(0, 2),
    lambda m: m.diagonal(m.ones((2, 2)), 0, 0, 5),
    lambda m: m.trace(m.ones((2, 2)), 0, 4, 5),
])  # fmt: skip
def test_messages_name_the_axis_as_numpys_do(call):
    ours, theirs = refused(tn, call), refused(numpy, call)
    assert type(ours) is type(theirs) and str(ours) == str(theirs) and str(ours).startswith("axis")


def test_functions_that_take_no_long_doubles_say_so():
    error = refused(tn, lambda m: m.linalg.norm(m.ones(3, "g")))
    assert isinstance(error, TypeError) and "which this function does not take" in str(error)
    assert str(numpy.dtype("g")) in str(error) and "has no arrays" not in str(error)
    assert tn.linalg.norm(tn.ones(4, "g").astype(float)) == 2


@pytest.mark.skipif(sys.version_info < (3, 11), reason="errors take notes from Python 3.11 on")
@pytest.mark.parametrize("call", [
    lambda m: m.array(["2020-01-01"], "M8[D]") + datetime.timedelta(1),
    lambda m: datetime.date(2020, 1, 1) - m.array(["2020-01-01"], "M8[D]"),
    lambda m: m.add(m.array([1], "m8[D]"), datetime.timedelta(1)),
])  # fmt: skip
def test_dates_of_python_beside_arrays_are_told_the_way_out(call):
    ours, theirs = refused(tn, call), refused(numpy, call)
    assert type(ours) is type(theirs) and str(ours) == str(theirs)
    assert "np.timedelta64(x)" in ours.__notes__[0]


@pytest.mark.parametrize("path", ["char", "rec", "strings", "emath", "polynomial.polynomial", "polynomial", "ma.core",
                                  "lib.recfunctions", "lib.scimath"])  # fmt: skip
def test_modules_without_a_name_are_asked_for_it(path):
    module = tn
    for name in path.split("."):
        module = getattr(module, name)
    assert not hasattr(module, "xqzwvk") and getattr(module, "xqzwvk", 3) == 3
    assert "has no attribute 'xqzwvk'" in str(refused(tn, lambda m: module.xqzwvk))


def test_the_star_names_the_same_whatever_was_asked_for():
    program = (
        "import numpy, tessera.numeric as np\n"
        "first, second = {}, {}\n"
        "exec('from tessera.numeric import *', first)\n"
        "np.interp, np.select, np.doctor\n"
        "import tessera.numeric.matlib, tessera.numeric.array_api\n"
        "exec('from tessera.numeric import *', second)\n"
        "assert set(first) == set(second)\n"
        "assert {*numpy.__all__} - {*first} <= {'core', 'ctypeslib', 'f2py', 'test'}\n"
        "assert first['asnumpy'] is np.asnumpy and 'Any' not in first"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
