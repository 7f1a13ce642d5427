# SPDX-License-Identifier: Apache-2.0
"""Expressions of Python in kernels: static_eval, static_assert, static_iter."""

import dataclasses
import enum
import gc
import operator
import os
import subprocess
import sys
import threading
import typing
import weakref

import numpy as np
import pytest
import tessera.tile as ct


class Kind(enum.Enum):
    SUM = 1
    PRODUCT = 2


TABLE = {Kind.SUM: ct.add, Kind.PRODUCT: ct.mul, "minus": lambda a, b: a - b}


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def out_of(kernel, *args, n=4, dtype=np.int32):
    """What a kernel writes into an array of zeros."""
    out = np.zeros(n, dtype)
    ct.launch(None, (1,), kernel, (out, *args))
    return out.tolist()


# ---- what expressions give ---------------------------------------------------------------------------------


def test_an_operation_is_chosen_by_an_enum_made_of_a_constant():
    @ct.kernel
    def kernel(out, n: ct.Constant[int]):
        f = ct.static_eval(TABLE[Kind(n)])
        ct.scatter(out, 0, f(ct.bid(0) + 5, 3))

    assert [out_of(kernel, n)[0] for n in (1, 2)] == [8, 15]


def test_a_function_that_the_kernel_does_not_name_is_inlined():
    @ct.kernel
    def kernel(out):
        f = ct.static_eval(TABLE["min" + "us"])
        ct.scatter(out, 0, f(ct.bid(0) + 5, 3))

    assert out_of(kernel)[0] == 2


def test_functions_lists_and_comprehensions_run():
    @ct.kernel
    def kernel(out, n: ct.Constant[int]):
        t = (1, 2, 3)
        ct.scatter(out, 0, ct.static_eval(sum([i * i for i in t])))
        ct.scatter(out, 1, ct.static_eval(factorial(n)))
        ct.scatter(out, 2, ct.static_eval({"a": 7}["a"]))
        ct.scatter(out, 3, ct.static_eval((lambda t: t[-1])(t)))

    assert out_of(kernel, 5) == [14, 120, 7, 3]


def test_values_keep_their_kinds():
    seen = []

    def see(*values):
        seen.extend(values)
        return values

    @ct.kernel
    def kernel(out, n: ct.Constant):
        numbers = None, True, 3, 2**70, -(2**70), 1.5, 1j
        values = (*numbers, "é", (1, (2,)), ct.float16, Kind.SUM, factorial, range(1, 9, 2), ...)
        again = ct.static_eval(see(*values))
        more = ct.static_eval(see(*again))
        ct.scatter(out, 0, more[2])

    assert out_of(kernel, 1)[0] == 3
    wanted = [None, True, 3, 2**70, -(2**70), 1.5, 1j, "é", (1, (2,)), ct.float16, Kind.SUM, factorial]
    wanted += [range(1, 9, 2), ...]
    assert seen == wanted * 2
    assert [type(v) for v in seen[:14]] == [type(v) for v in wanted]


def test_tiles_and_arrays_are_proxies():
    seen = []

    @ct.kernel
    def kernel(out):
        t = ct.load(out, (0,), (4,))
        ct.static_eval(seen.extend([repr(t), repr(out), t.shape, t.dtype, out.ndim]))
        same = ct.static_eval([out, t][1])
        ct.store(out, (0,), same + 1)

    assert out_of(kernel) == [1, 1, 1, 1]
    assert seen == ["<tile[int32, (4,)]>", "<array[int32, (?)]>", (4,), ct.int32, 1]


OPERATORS = "add sub mul truediv floordiv mod lshift rshift and_ or_ xor eq ne lt le gt ge"


@pytest.mark.parametrize("name", OPERATORS.split())
def test_operators_of_tiles_add_code(name):
    function = getattr(operator, name)

    @ct.kernel
    def kernel(out):
        a = ct.bid(0) + 13
        ct.scatter(out, 0, ct.static_eval(function(a, 3)))
        ct.scatter(out, 1, ct.static_eval(function(29, a)))

    assert out_of(kernel, dtype=np.float64)[:2] == [np.float32(function(13, 3)), np.float32(function(29, 13))]


def test_operations_take_arguments_by_name():
    @ct.kernel
    def kernel(out):
        a = ct.astype(ct.bid(0), ct.float32) + 13
        ct.scatter(out, 0, ct.static_eval(ct.add(a, 3.0, rounding_mode=ct.RoundingMode.RZ)))

    assert out_of(kernel, dtype=np.float32)[0] == 16


def test_static_iter_runs_over_any_iterable():
    @ct.kernel
    def kernel(out, n: ct.Constant[int]):
        for i, f in ct.static_iter(enumerate([TABLE[k] for k in (Kind.SUM, Kind.PRODUCT)], 1)):
            ct.scatter(out, i, f(ct.bid(0) + n, 3))

    assert out_of(kernel, 4) == [0, 7, 12, 0]


def test_a_nested_function_reads_the_locals_around_it():
    @ct.kernel
    def kernel(out, n: ct.Constant[int]):
        m = 10

        def inner(k):
            return ct.static_eval(factorial(n) + m + k)

        ct.scatter(out, 0, inner(100))

    assert out_of(kernel, 3)[0] == 116


@dataclasses.dataclass(frozen=True)
class Pair:
    first: object
    second: object

    def both(self):
        return self.first + self.second


class Named(typing.NamedTuple):
    first: object
    second: object


def test_dataclasses_and_named_tuples_go_both_ways():
    seen = []

    def swapped(pair):
        seen.append(type(pair))
        return type(pair)(pair.second, pair.first)

    @ct.kernel
    def kernel(out):
        t = ct.bid(0) + 7
        a = ct.static_eval(swapped(Pair(t, 3)))
        b = ct.static_eval(swapped(Named(t, 5)))
        c = ct.static_eval(swapped(a))
        ct.scatter(out, 0, a.first * 10 + a.second)
        ct.scatter(out, 1, b.first * 10 + b[1])
        ct.scatter(out, 2, c.both())

    assert out_of(kernel) == [37, 57, 10, 0]
    assert seen == [Pair, Named, Pair]


# ---- mistakes ------------------------------------------------------------------------------------------------


def raises(error, pattern, kernel, *args):
    with pytest.raises(error, match=pattern) as caught:
        out_of(kernel, *args)
    return str(caught.value)


def test_an_exception_names_its_place_in_both_sources():
    def helper(n):
        return 1 // n

    @ct.kernel
    def kernel(out, n: ct.Constant[int]):
        ct.scatter(out, 0, ct.static_eval(helper(n)))

    text = raises(ct.TileStaticEvalError, r"static_eval\(\) raised ZeroDivisionError: .*, in helper\(\) \(", kernel, 0)
    line = kernel._function.__code__.co_firstlineno + 2
    assert text.startswith(f"{__file__}:{line}:")
    assert "static_eval(helper(n))" in text


def test_a_wrong_operator_of_a_tile_is_placed_once():
    @ct.kernel
    def kernel(out):
        t = ct.load(out, (0,), (4,))
        u = ct.full((8,), 1, ct.int32)
        ct.static_eval(operator.add(t, u))

    text = raises(ct.TileTypeError, "do not broadcast", kernel)
    assert text.count(__file__) == 1


def effects(out):
    ct.static_eval(ct.scatter(out, 0, 1))


def method(out):
    ct.static_eval([out.slice][0](0, 1, 2))


def closure(out):
    def f(n):
        return n

    ct.static_eval(f(3))


def nested(out):
    ct.static_eval(ct.static_eval(3))


def truth(out):
    ct.static_eval(3 if [ct.bid(0)][0] else 4)


def kept(out):
    ct.static_eval(KEPT.append(ct.bid(0) if False else out))
    x = ct.static_eval(KEPT[0])  # noqa: F841
    y = ct.static_eval(KEPT.clear())  # noqa: F841


def missing(out):
    ct.static_eval(no_such_name())  # noqa: F821


def unbound(out):
    if ct.bid(0) == 0:
        z = 1
    ct.static_eval(abs([z for _ in (1,)][0]))


KEPT = []
WRONG = [
    (effects, ct.TileStaticEvalError, r"scatter\(\) cannot be called"),
    (method, ct.TileStaticEvalError, "a method of the kernel cannot be called inside static_eval"),
    (closure, ct.TileStaticEvalError, "a function of the kernel cannot be called inside static_eval"),
    (nested, ct.TileStaticEvalError, r"static_eval\(\) cannot be used inside static_eval\(\)"),
    (truth, ct.TileStaticEvalError, "bid"),
    (kept, ct.TileStaticEvalError, "kept from an earlier expression"),
    (missing, ct.TileStaticEvalError, "NameError: name 'no_such_name' is not defined"),
    (unbound, ct.TileTypeError, "variable 'z' has no value here|'z'"),
]


@pytest.mark.parametrize(("function", "error", "pattern"), WRONG, ids=[w[0].__name__ for w in WRONG])
def test_what_expressions_may_not_do(function, error, pattern):
    KEPT.clear()
    raises(error, pattern, ct.kernel(function))


def test_values_that_kernels_cannot_hold():
    @ct.kernel
    def kernel(out, n: ct.Constant[int]):
        ct.static_eval([[1, 2], {1}, object(), np.zeros(3)][n])

    for n in range(4):
        raises(ct.TileTypeError, "which kernels cannot hold", kernel, n)


def test_assignments_are_refused():
    @ct.kernel
    def kernel(out):
        ct.static_eval([y := 3])  # noqa: F841

    raises(ct.TileSyntaxError, "inside static_eval", kernel)


def test_static_iter_ends():
    def forever():
        while True:
            yield 1

    @ct.kernel
    def endless(out):
        for i in ct.static_iter(forever()):
            ct.scatter(out, 0, i)

    @ct.kernel
    def number(out):
        for i in ct.static_iter(42):
            ct.scatter(out, 0, i)

    raises(ct.TileStaticEvalError, "more than 1000", endless)
    raises(ct.TileTypeError, "not iterable", number)


def test_the_message_of_an_assertion_is_evaluated_when_it_is_needed():
    seen = []

    @ct.kernel
    def kernel(out, n: ct.Constant[int]):
        ct.static_assert(factorial(n) < 100, f"{seen.append(n)} {n}! = {factorial(n)}, {out}")
        ct.scatter(out, 0, n)

    assert out_of(kernel, 4)[0] == 4
    assert seen == []
    raises(ct.TileStaticAssertionError, r"7! = 5040, <array\[int32, \(\?\)\]>", kernel, 7)


def test_a_condition_must_be_a_bool():
    @ct.kernel
    def kernel(out, n: ct.Constant[int]):
        ct.static_assert(factorial(n))

    raises(ct.TileTypeError, "must be a bool", kernel, 3)


# ---- names, versions, cache ------------------------------------------------------------------------------------


def test_expressions_run_once_for_each_version():
    seen = []

    @ct.kernel
    def kernel(out, n: ct.Constant[int]):
        ct.scatter(out, 0, ct.static_eval((seen.append(n), n)[1]))

    for n in (1, 2, 1, 2):
        assert out_of(kernel, n)[0] == n
    assert seen == [1, 2]


def test_names_are_bound_at_the_first_launch_and_objects_read_when_compiled(tmp_path):
    space = {"ct": ct, "table": [10], "value": 1}
    path = tmp_path / "kernel.py"
    path.write_text("def kernel(out):\n    ct.scatter(out, 0, ct.static_eval(sum(table) + [value][0]))\n")
    exec(compile(path.read_text(), path, "exec"), space)
    kernel = ct.kernel(space["kernel"])
    assert out_of(kernel)[0] == 11
    space["value"] = 2
    space["table"][0] = 20
    assert out_of(kernel)[0] == 11  # this version is compiled
    assert out_of(kernel, dtype=np.int64)[0] == 21  # another one reads the list again


SCRIPT = """
import os, sys
import numpy as np, tessera.tile as ct
SCALE = int(os.environ["SCALE"])
def scale():
    return SCALE
@ct.kernel
def kernel(out):
    ct.scatter(out, 0, ct.static_eval(scale()))
out = np.zeros(1, np.int32)
ct.launch(None, (1,), kernel, (out,))
print(out[0], kernel._stats()["from_disk"])
"""


def test_code_on_disk_is_found_by_what_the_expressions_gave(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    found = []
    for scale in ("3", "4", "3"):
        env = {**os.environ, "SCALE": scale, "TESSERA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, script]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        found.append(tuple(map(int, done.stdout.split())))
    assert found == [(3, 0), (4, 0), (3, 1)]


def test_threads_compile_at_once():
    @ct.kernel
    def kernel(out, n: ct.Constant[int]):
        f = ct.static_eval([lambda a, k=k: a + k for k in range(9)][n])
        ct.scatter(out, 0, f(ct.bid(0)))

    found = [0] * 8

    def work(n):
        found[n] = out_of(kernel, n)[0]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == list(range(8))


def test_an_expression_may_launch_another_kernel():
    @ct.kernel
    def inner(out):
        ct.scatter(out, 0, 5)

    @ct.kernel
    def outer(out):
        ct.scatter(out, 0, ct.static_eval(out_of(inner)[0] + 1))

    assert out_of(outer)[0] == 6


def test_a_kernel_that_launches_itself_while_it_is_compiled_is_refused():
    @ct.kernel
    def kernel(out):
        ct.scatter(out, 0, ct.static_eval(out_of(kernel)[0]))

    raises(ct.TileStaticEvalError, "launches kernels that are compiled in it", kernel)


def test_ctrl_c_in_an_expression_ends_the_launch():
    def stop():
        raise KeyboardInterrupt

    @ct.kernel
    def kernel(out):
        ct.static_eval(stop())

    with pytest.raises(KeyboardInterrupt):
        out_of(kernel)


def test_nothing_is_kept_of_a_kernel_that_has_gone():
    class Thing:
        value = 3

    def make():
        thing = Thing()

        @ct.kernel
        def kernel(out):
            ct.scatter(out, 0, ct.static_eval(thing.value + abs(kernel is None)))

        assert out_of(kernel)[0] == 3
        return weakref.ref(thing)

    gone = make()
    gc.collect()
    assert gone() is None
