# SPDX-License-Identifier: Apache-2.0
"""The namespace of the array standard: where it is not NumPy's meaning, and that all it gives are its arrays."""

import copy
import inspect
import math
import pickle

import numpy as np
import pytest

import tessera.numeric as tn
from tessera.numeric import array_api as xp

INF, NAN = math.inf, math.nan
# The standard's table of `//`: x1, x2, the result.
QUOTIENTS = [
    (INF, 2.0, INF), (INF, -2.0, -INF), (-INF, 2.0, -INF), (-INF, -2.0, INF), (3.0, INF, 0.0), (3.0, -INF, -0.0),
    (-3.0, INF, -0.0), (-3.0, -INF, 0.0), (INF, INF, NAN), (-INF, INF, NAN), (NAN, 1.0, NAN), (INF, NAN, NAN),
    (0.0, -2.0, -0.0), (-0.0, -2.0, 0.0), (3.0, 0.0, INF), (3.0, -0.0, -INF), (0.0, 0.0, NAN), (7.0, -2.0, -4.0),
    (INF, 0.0, INF), (-INF, -0.0, INF), (0.0, -INF, -0.0),
]  # fmt: skip


def same(a, b):
    return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)


@pytest.mark.parametrize("repeat", [1, 600], ids=["at once", "waiting"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_quotients_of_infinities(dtype, repeat):
    x1, x2, wanted = (xp.asarray([list(column)] * repeat, dtype=getattr(xp, dtype)) for column in zip(*QUOTIENTS))
    third = xp.asarray(x1, copy=True)
    third //= x2
    with np.errstate(all="raise"):
        for got in (x1 // x2, xp.floor_divide(x1, x2), tn.asarray(x1) // x2, third):
            assert type(got) is xp.Array and got.dtype == dtype
            for column, value in enumerate(np.asarray(wanted)[0]):
                assert same(float(got[-1, column]), float(value)), QUOTIENTS[column]


def test_quotients_beside_numbers_and_integers():
    x = xp.asarray([INF, -INF, 5.0], dtype=xp.float32)
    assert (x // 2).dtype == xp.float32 and np.asarray(x // 2).tolist() == [INF, -INF, 2.0]
    assert np.asarray(2 // x).tolist() == [0.0, -0.0, 0.0]
    whole = xp.asarray([7, -7])
    assert np.asarray(whole // 2).tolist() == [3, -4]
    whole //= 2
    assert np.asarray(whole).tolist() == [3, -4]
    with pytest.raises(TypeError):
        whole //= 2.5
    with pytest.raises(TypeError):
        x // "2"
    plain = tn.asarray([INF])  # NumPy's meaning stays that of tessera.numeric's arrays
    with np.errstate(all="ignore"):
        assert type(plain // 2) is tn.ndarray and np.isnan(np.asarray(plain // 2)).all()


def test_complex_special_values():
    x = xp.asarray([complex(INF, 1e154), complex(-INF, 1e154), complex(INF, -2), complex(-INF, -2), 0.5 + 1j])
    got = [complex(v) for v in np.asarray(xp.tanh(x))]
    assert [(v.real, math.copysign(1, v.imag)) for v in got[:4]] == [(1, 1), (-1, 1), (1, -1), (-1, -1)]
    assert all(v.imag == 0 for v in got[:4]) and np.allclose(got[4], np.tanh(0.5 + 1j))
    assert np.asarray(xp.tanh(xp.asarray([0.5]))) == np.asarray(tn.tanh(tn.asarray([0.5])))
    for zero in (0j, complex(-0.0, 0.0), complex(0.0, -0.0)):
        got = complex(xp.expm1(xp.asarray(zero)))
        assert same(got.real, 0.0) and same(got.imag, zero.imag)
    for x, wanted in ((complex(INF, 0), complex(INF, 0)), (complex(-INF, INF), -1 + 0j), (complex(-INF, NAN), -1 + 0j)):
        assert complex(xp.expm1(xp.asarray(x))) == complex(xp.expm1(xp.asarray([x]))[0]) == wanted
    got = complex(xp.expm1(xp.asarray(complex(NAN, 0))))
    assert math.isnan(got.real) and same(got.imag, 0.0)


def test_results_without_axes_are_arrays():
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    results = [
        x[0, 0], xp.sum(x), x.sum(), xp.max(x), xp.linalg.det(x), xp.vecdot(x[0], x[1]), x[0] @ x[1], xp.asarray(1) + 1,
        -x[0, 0], x[0, 0] == 1, xp.all(x), *xp.asarray([1, 2]),
        *xp.linalg.slogdet(x), xp.argmax(x), xp.asarray(2.0) ** 2,
        *xp.unique_all(x), *xp.broadcast_arrays(x, 1.0), *xp.unstack(x), x.T, x.mT, xp.fft.fft(x), *xp.nonzero(x), +x,
        np.sin(x), x + np.ones(2), tn.ones(2) + x, x.to_device("cpu"), xp.from_dlpack(np.ones(2)), x[x > 1], abs(x),
        copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x[xp.asarray([0]), :], x @ x, x**2, 2**x,
    ]  # fmt: skip
    assert {type(r) for r in results} == {xp.Array}
    assert {r.device for r in results} == {"cpu"} and isinstance(x, tn.ndarray)


def test_operators_in_place():
    x = whole = xp.asarray([1.0, 2.0])
    x += 1
    x *= 2
    x **= 2
    x[0] = xp.asarray(5.0)
    assert x is whole and type(x) is xp.Array and np.asarray(x).tolist() == [5.0, 36.0]
    square = same_square = xp.eye(2)
    square @= xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert square is same_square and np.asarray(square).tolist() == [[1, 2], [3, 4]]


def test_memory_is_shared_and_classes_stay():
    plain = tn.ones(3)
    shared = xp.asarray(plain)
    shared[0] = 7
    assert plain[0] == 7 and type(plain) is tn.ndarray and type(shared) is xp.Array
    assert type(tn.asarray(shared)) is tn.ndarray


@pytest.mark.parametrize("version", ["2021.12", "2022.12", "2023.12", "2024.12", "2025.12"])
def test_versions(version):
    made = tn.ones(1).__array_namespace__(api_version=version)
    assert made.__array_api_version__ == version and made is xp.ones(1).__array_namespace__(api_version=version)
    kind = tuple if version == "2025.12" else list
    assert type(made.meshgrid(xp.ones(2), xp.ones(3))) is type(made.broadcast_arrays(xp.ones(2))) is kind
    assert type(made.__array_namespace_info__().devices()) is kind
    assert tn.ones(1).__array_namespace__() is xp


def test_unknown_version():
    with pytest.raises(ValueError, match=r"2020\.12 of the array API standard is not supported: 2021\.12, "):
        xp.ones(1).__array_namespace__(api_version="2020.12")


def test_facts():
    facts = xp.finfo(xp.complex64)
    assert facts == xp.finfo(xp.asarray(1, dtype=xp.complex64)) and facts.dtype == xp.float32 and facts.bits == 32
    assert {type(x) for x in facts[1:5]} == {float} and facts.eps == 2**-23
    assert xp.iinfo(xp.asarray(1, dtype=xp.int8)).max == 127 and xp.iinfo(xp.uint8).bits == 8


def test_eigenvalues_are_complex():
    values, vectors = xp.linalg.eig(xp.asarray([[2.0, 0.0], [0.0, 3.0]], dtype=xp.float32))
    assert values.dtype == vectors.dtype == xp.linalg.eigvals(xp.eye(2, dtype=xp.float32)).dtype == xp.complex64
    assert type(values) is xp.Array


def test_names():
    assert "nanmax" not in dir(xp) and not hasattr(xp, "nanmax") and not hasattr(xp, "float16")
    assert list(inspect.signature(xp.clip).parameters) == ["x", "min", "max"]
    assert np.asarray(xp.clip(xp.asarray([1, 5]), max=3)).tolist() == [1, 3]
    assert xp.sort.__name__ == "sort" and xp.sort.__module__ == "tessera.numeric.array_api" and xp.sort.__doc__


def test_quotients_by_integers_of_any_size() -> None:
    x = xp.asarray([1.0, -2.0])
    assert (np.asarray(x // 10**30) == [0, -1]).all() and (np.asarray(2**70 // x) == [2.0**70, -(2.0**69)]).all()
