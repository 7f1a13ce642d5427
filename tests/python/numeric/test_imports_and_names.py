# SPDX-License-Identifier: Apache-2.0
"""Modules that programs import beside the package."""

from __future__ import annotations

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


def test_long_doubles_have_their_names():
    for name in ("complex192", "complex256", "float96", "float128"):
        assert getattr(tn, name, None) is getattr(numpy, name, None)
