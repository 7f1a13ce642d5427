# SPDX-License-Identifier: Apache-2.0
"""Large kernels: what compiling them takes grows with them, and limits say so."""

import linecache
import types

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from lower import LowerError, array, lower, run, scalar
from tessera._pack import pack_function


def kernel_of(body, **names):
    """A function of (x, n) with the given body, in a cell of its own."""
    text = f"def kernel(x, n):\n    {body}\n"
    name = f"<large {abs(hash(text))}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    space = {"ct": ct, **names}
    exec(compile(text, name, "exec"), space)  # noqa: S102
    return space["kernel"]


class Counting(types.ModuleType):
    """A module that holds itself and counts how often it is asked."""

    asked = 0

    @property
    def m(self):
        Counting.asked += 1
        return self


def test_each_link_of_a_chain_of_attributes_is_looked_up_once():
    Counting.asked = 0
    pack_function(kernel_of("y = m" + ".m" * 200, m=Counting("m")))
    assert Counting.asked < 10 * 200


@pytest.mark.parametrize("body", ["y = n" + " + n" * 500, "y = " + "not " * 500 + "n", "y = n" + ".shape" * 500])
def test_what_nests_too_deeply_is_named(body):
    function = kernel_of(body)
    with pytest.raises(tessera.TileRecursionError, match=r"'kernel' \(<large .* nests expressions"):
        pack_function(function)


def test_an_operation_of_too_many_values_is_named():
    with pytest.raises(LowerError, match="more than 16383 values") as caught:
        lower(kernel_of("ct.print(f'" + "{n}" * 20000 + "')"), array("int32"), scalar("int32"))
    assert caught.value.status == "TILEVALUE"
    assert "print_tko" in lower(kernel_of("ct.print(f'" + "{n}" * 10000 + "')"), array("int32"), scalar("int32"))


@ct.kernel
def sums(x, n, ROUNDS: ct.Constant[int]):
    s = n
    for i in ct.static_iter(range(ROUNDS)):
        for j in ct.static_iter(range(ROUNDS)):
            s = s + (n ^ (i * ROUNDS + j))
        if i == ROUNDS // 2:
            if n > 1:  # values of this region are not those of the code behind it
                for j in ct.static_iter(range(3 * ROUNDS)):
                    s = s + (n ^ (ROUNDS * ROUNDS + j))
    for j in ct.static_iter(range(3 * ROUNDS)):
        s = s + (n ^ (ROUNDS * ROUNDS + j))
    ct.scatter(x, 0, s)


@pytest.mark.parametrize("n", [1, 5])
def test_many_distinct_values_stay_apart(n):
    rounds, ran = 42, np.zeros(1, np.int32)
    wanted = n + sum(n ^ k for k in range(rounds**2))
    wanted += (1 + (n > 1)) * sum(n ^ (rounds**2 + j) for j in range(3 * rounds))
    ct.launch(None, (1,), sums, (ran, n, rounds))
    assert ran[0] == wanted


def test_long_strings_are_kept_whole():
    body = "s = f'" + "{1}" * 3000 + "' + '" + "a" * 3000 + "'\n    ct.static_assert(len(s) == 6000)\n    ct.print(s)"
    assert run(kernel_of(body), np.zeros(1, np.int32), 1) == "1" * 3000 + "a" * 3000 + "\n"


def test_a_string_with_nul_is_refused_and_a_lone_surrogate_is_escaped():
    with pytest.raises(LowerError, match=r"str with a NUL character"):
        lower(kernel_of("ct.print('a\\0b' + 'c')"), array("int32"), scalar("int32"))
    assert run(kernel_of("ct.print('\\ud800')"), np.zeros(1, np.int32), 1) == "\\ud800\n"
