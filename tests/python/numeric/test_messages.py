# SPDX-License-Identifier: Apache-2.0
"""Messages of mistakes: NumPy's class, and words that name the thing, what was found and what to give instead."""

from __future__ import annotations

import warnings

import numpy
import pytest
import tessera.numeric as np

SAID = {  # a statement, and what its message must hold
    "np.add(1)": ["from 2 to 3", "1 was given"],
    "np.ones((2, 3), order='Q')": ["order", "'C' or 'F'", "'Q'"],
    "np.ones((2, 3)).copy(order='Q')": ["'C', 'F', 'A' or 'K'", "'Q'"],
    "np.unravel_index(1, (4, 5), order='A')": ["only 'C' or 'F'", "'A'"],
    "np.sum(np.ones((2, 3)), axis=True)": ["integer", "axis", "True"],
    "np.hypot.reduce(np.ones((2, 3)), axis=(True, False))": ["integer", "True"],
    "np.hypot.accumulate(np.ones((2, 3)), axis=np.True_)": ["integer", "True"],
    "np.add.reduceat(np.ones((2, 3)), [0], axis=True)": ["integer", "True"],
    "np.argmax(np.ones((2, 3)), axis=True)": ["integer", "True"],
    "np.cumsum(np.ones((2, 3)), axis=True)": ["integer", "True"],
    "np.sum(np.ones((2, 3)), axis=1.5)": ["float", "integer"],
    "np.unravel_index([3, -1], (4, 5))": ["index -1", "20"],
    "np.unravel_index(1, 4.5)": ["integer", "4.5"],
    "np.unravel_index(1, [2.5, 3])": ["float", "integer"],
    "np.unravel_index(1, None)": ["shape", "None"],
    "np.unravel_index(1, 4, 5)": ["order", "int"],
    "np.unravel_index(1, (4, 5), order='Q')": ["'C' or 'F'", "'Q'"],
    "np.repeat([1, 2], [1, 2, 3])": ["(2,)", "(3,)", "repeats"],
    "np.repeat([1, 2], np.array([[1, 2]]))": ["repeats", "(1, 2)"],
    "np.sum([1, 2], dtype='S3')": ["dtype", "general DType"],
    "np.sum([1, 2], dtype='M8[s]')": ["dtype", "general DType"],
    "np.sum([1, 2], dtype='>i8')": ["dtype", "byte order"],
    "np.prod('a')": ["multiply", "dtype('<U1')"],
    "np.add(1, 2, dtype='S1')": ["general DType"],
    "np.add(1, 2, subok=5)": ["subok", "boolean", "5"],
    "np.add(np.ones(2), 2, None, out=np.ones(2))": ["out", "positional"],
    "np.add(np.ones(2), 2, np.ones(2), out=None)": ["out", "positional"],
    "np.modf(np.ones(2), out=(np.ones(2),))": ["'out' tuple"],
    "np.modf(np.ones(2), out=())": ["'out' tuple"],
    "np.divmod(1, 2, out=(None,) * 3)": ["'out' tuple"],
    "np.clip([1], 2, 'a')": ["dtype('<U1')"],
    "np.max(['1', '2'])": ["maximum", "dtype('<U1')"],
    "~np.ones(3)": ["invert", "float64", "'safe'"],
    "np.ones(3) << 1": ["left_shift", "float64"],
    "np.ones(3).view('i2', 'x')": ["ndarray", "'x'"],
    "np.ones(3).view('i2', list)": ["ndarray", "list"],
    "np.zeros_like([1.0], np.array([1]))": ["dtype", "array"],
    "np.compress([[True]], [1])": ["condition", "1-d"],
    "np.compress(1, [1, 2])": ["condition", "1-d"],
    "np.searchsorted([1, 2], 1, sorter=[0, 7])": ["Sorter", "0 to 1"],
    "np.searchsorted([1, 2], 1, sorter=[0, -1])": ["Sorter", "0 to 1"],
    "np.searchsorted([1, 2], 1, sorter=[[0, 1]])": ["sorter", "(1, 2)"],
    "np.argsort([1], kind=5)": ["kind", "str", "int"],
    "np.sort(5)": ["axis -1", "dimension 0"],
    "np.lexsort(5)": ["sequence of keys"],
    "np.bincount(['a'])": ["'a'"],
    "np.bincount([np.nan])": ["NaN"],
    "np.linalg.norm(np.ones((2, 2)), axis=(0, 1, 2))": ["Improper number of dimensions", "(0, 1, 2)"],
    "np.linalg.norm(np.ones((2, 2, 2)), ord=2)": ["Improper number of dimensions", "3"],
    "np.linalg.matrix_norm(np.ones(2))": ["dimension"],
    "np.linalg.norm(np.ones((2, 2)), axis='a')": ["axis", "'a'"],
    "np.fft.rfft([1j])": ["complex128", "fft"],
    "np.fft.fft([1, 2], out=np.ones(2))": ["complex128", "float64", "same_kind"],
    "np.ones(2).to_device(5)": ["to_device", "5"],
    "np.from_dlpack(np.ones(2), copy='foo')": ["copy", "None"],
    "np.ones(2).__dlpack__(copy='foo')": ["copy", "None"],
    "np.ones(2).__array_ufunc__(1)": ["__array_ufunc__"],
    "np.random.set_bit_generator(5)": ["int", "capsule"],
}


def _raised(statement: str, module: object) -> BaseException:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception) as found:  # noqa: PT011  whatever NumPy raises
            eval(statement, {"np": module, "list": list})
    return found.value


def _public(kind: type) -> type:
    """The class of an exception by which programs know it: NumPy raises some of classes of its own below those."""
    return next(each for each in kind.__mro__ if each.__module__ in ("builtins", "numpy.exceptions", "numpy.linalg"))


@pytest.mark.parametrize("statement", SAID)
def test_a_message_is_of_numpys_class_and_says_what_was_found(statement) -> None:
    wanted = _raised(statement, numpy) if "set_bit_generator" not in statement else AttributeError()
    found = _raised(statement, np)
    assert isinstance(found, _public(type(wanted))), (wanted, found)
    for word in SAID[statement]:
        assert word in str(found), str(found)


def test_bincount_of_floats_in_a_list_warns_and_cuts_them_off() -> None:
    for value in ([1.5, 2], (1.5, 2.0), ["1"], [True, 2]):
        made = []
        for module in (numpy, np):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                made.append((module.bincount(value).tolist(), [each.category for each in seen]))
        assert made[0] == made[1], value
    for module in (numpy, np):
        with pytest.raises(TypeError):
            module.bincount(module.array([1.5]))
