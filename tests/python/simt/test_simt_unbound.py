# SPDX-License-Identifier: Apache-2.0
"""Names that some path leaves without a value: what Python raises there, kernels with ``debug=True`` raise, and nothing
else. Random programs are run by Python itself."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from simt_run import LowerError, run
from tessera import cuda

DEBUG = cuda.jit(debug=True, opt=False)


def one_branch(x: Any, n: Any) -> None:
    if n > 0:
        v = 7
    x[0] = v


def loop(x: Any, n: Any) -> None:
    for i in range(n):
        v = i
    x[0] = v + i


def change(x: Any, n: Any) -> None:
    if n > 0:
        v = 1
    v += 2
    x[0] = v


def only_where_it_is_read(x: Any, n: Any) -> None:
    if n > 1:
        v = 3
    x[0] = v if n > 1 else 4
    if n > 1 and v == 3:
        x[0] += 1


def left_early(x: Any, n: Any) -> None:
    while True:
        if n > 0:
            v = 5
            break
        if n < 0:
            return
        n += 1
    x[0] = v


def helper(n: Any) -> Any:
    if n > 0:
        inner = 2
    return inner


def called(x: Any, n: Any) -> None:
    x[0] = helper(n)


def named(error: UnboundLocalError) -> str:
    return str(error).split("local variable '")[1].partition("'")[0]


def python(function: Any, n: int) -> Any:
    x = np.zeros(1)
    try:
        function(x, n)
    except UnboundLocalError as error:
        return named(error)
    return x[0]


@pytest.mark.parametrize("target", [0, 90])
def test_as_written_and_as_compiled_for_a_gpu(target: int) -> None:
    for n in (0, 1):
        wanted, x = python(loop, n), np.zeros(1)
        if n:
            run(loop, x, n, target=target, checked=5)
            assert x[0] == wanted
        else:
            with pytest.raises(LowerError, match="local variable 'v' has no value here"):
                run(loop, x, n, target=target, checked=5)


@pytest.mark.parametrize("n", [-1, 0, 1, 2])
@pytest.mark.parametrize("function", [one_branch, loop, change, only_where_it_is_read, left_early, called])
def test_a_name_without_a_value(function: Any, n: int) -> None:
    x = np.zeros(1)
    wanted: Any = python(function, n)
    try:
        DEBUG(function)[1, 1](x, n)
    except UnboundLocalError as error:
        assert f"local variable '{wanted}' has no value here" in str(error)
        where = error.__cause__.failure  # type: ignore[union-attr]
        assert where.function == (helper if function is called else function).__name__
    else:
        assert x[0] == wanted


def test_without_debug_it_is_zero() -> None:
    x = np.ones(1)
    cuda.jit(one_branch)[1, 1](x, 0)
    assert x[0] == 0


class Program:
    """Statements over the names a, b, c: assignments, reads, branches, loops."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = ["def function(x, n):"]
        for name in "abc":
            self.lines += [f"    if n > {self.random.randrange(-2, 2)}:", f"        {name} = 1"]
        self.body(4, 1, False)
        self.lines += ["    x[1] += 100", *(f"    {name} = 0" for name in "abc")]  # they are local

    def body(self, count: int, depth: int, in_loop: bool) -> None:
        for _ in range(count):
            self.statement(depth, in_loop)

    def statement(self, depth: int, in_loop: bool) -> None:
        pad, name, other = "    " * depth, self.random.choice("abc"), self.random.choice("abc")
        test = f"n {self.random.choice('<>')} {self.random.randrange(-1, 3)}"
        kind = self.random.randrange(9 if depth < 4 else 4)
        if kind < 2:
            self.lines.append(f"{pad}{name} = {self.random.randrange(9)}")
        elif kind == 2:
            self.lines.append(f"{pad}x[0] += {other}" if self.random.random() < 0.6 else f"{pad}{name} += 1")
        elif kind == 3:
            self.lines.append(f"{pad}x[0] += {name} if {test} else 1")
        elif kind < 7:
            self.lines.append(f"{pad}if {test}:")
            self.body(self.random.randrange(1, 3), depth + 1, in_loop)
            if in_loop and self.random.random() < 0.3:
                self.lines.append(f"{pad}    {self.random.choice(['break', 'continue'])}")
            if self.random.random() < 0.4:
                self.lines.append(f"{pad}else:")
                self.body(self.random.randrange(1, 3), depth + 1, in_loop)
        else:
            self.lines.append(f"{pad}for {name} in range({self.random.choice(['n', '2', '0'])}):")
            self.body(self.random.randrange(1, 3), depth + 1, True)


def ran(seed: int) -> bool:
    """Whether the program could be compiled; its results are those of Python."""
    text = "\n".join(Program(seed).lines)
    space: dict[str, Any] = {}
    exec(compile(text, f"<unbound {seed}>", "exec"), space)
    kernel = DEBUG(space["function"])
    for n in (-1, 0, 1, 2):
        wanted, found = np.zeros(2), np.zeros(2)
        said = raised = ""
        try:
            space["function"](wanted, n)
        except UnboundLocalError as error:
            said = named(error)
        try:
            kernel[1, 1](found, n)
        except UnboundLocalError as error:
            raised = named(error)
        except cuda.errors.NumbaError as error:
            assert "has no value here" in str(error), text
            return False
        assert (raised, found.tolist()) == (said, wanted.tolist()), f"n={n}\n{text}"
    return True


def test_random_programs_raise_what_python_raises() -> None:
    assert sum(map(ran, range(40))) > 30


def last_great(x: Any, out: Any) -> None:
    found = np.int64(-1)
    for i in range(x.size):
        if x[i] > 0:
            if x[i] > 1:
                pair = (i, x[i])
                kept = pair[0]
                found = kept
        else:
            out[1] += 1
    out[0] = found


def test_a_pair_of_one_path_leaves_other_names_alone() -> None:
    """It has no value on one path, nor on the other: what meets after it is not moved."""
    out = np.zeros(2, np.int64)
    run(last_great, np.array([0, 1, 2, 5, 1, 0]), out)
    assert out.tolist() == [3, 2]
