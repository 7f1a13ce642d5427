# SPDX-License-Identifier: Apache-2.0
"""Kernels, launches and ufuncs as pickles, also of functions that no module has, without cloudpickle."""

from __future__ import annotations

import math
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from tessera import cuda


@cuda.jit
def of_module(x):
    x[cuda.grid(1)] += 1


@cuda.vectorize(["f8(f8)"])
def square(x):
    return x * x


@pytest.fixture(autouse=True)
def without_cloudpickle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)


def again(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def test_a_kernel_of_a_module_is_pickled_by_its_name() -> None:
    assert again(of_module) is of_module and again(square) is square


def test_a_kernel_of_a_function_travels_with_what_it_names() -> None:
    offset, table = 3, (10, 20)

    def helper(v, by=2):
        return math.floor(v) * by + offset

    @cuda.jit("void(float64[::1])")
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = helper(x[i]) + table[1]

    made = again(kernel)
    assert made is not kernel and made.signatures == kernel.signatures
    x = np.array([1.5, 2.5])
    made[1, 32](x)
    assert x.tolist() == [25, 27]


def test_a_function_that_calls_itself_travels() -> None:
    from tessera.cuda._pickle import dumped

    def count(n):
        return 0 if n == 0 else 1 + count(n - 1)

    assert pickle.loads(dumped(count))(5) == 5


def test_a_ufunc_of_a_function_travels() -> None:
    def make(by):
        @cuda.vectorize(["f8(f8)"])
        def scaled(x):
            return x * by

        return scaled

    assert again(make(4))(np.ones(3)).tolist() == [4, 4, 4]


def test_a_launch_travels_unless_somebody_listens() -> None:
    launch = of_module[2, (16, 2)]
    made = again(launch)
    assert (made.griddim, made.blockdim, made.dispatcher) == ((2, 1, 1), (16, 2, 1), of_module)
    launch.pre_launch_callbacks.append(print)
    with pytest.raises(pickle.PicklingError, match="Cannot pickle configured launches with pre-launch callbacks"):
        pickle.dumps(launch)
    with pytest.raises(pickle.PicklingError, match="with a stream"):
        pickle.dumps(of_module[1, 1, cuda.stream()])


def test_callbacks_are_called_before_each_launch() -> None:
    seen: list[Any] = []
    launch = of_module[1, 4]
    launch.pre_launch_callbacks.append(lambda kernel, config: seen.append((kernel, config.blockdim)))
    x = np.zeros(4)
    launch(x)
    launch(x)
    assert seen == [(of_module, (4, 1, 1))] * 2 and (x == 2).all()

    def fails(kernel: Any, config: Any) -> None:
        raise ValueError("not now")

    launch.pre_launch_callbacks.append(fails)
    with pytest.raises(ValueError, match="not now"):
        launch(x)
    assert (x == 2).all()
