# SPDX-License-Identifier: Apache-2.0
"""Constants of Python as arguments, defaults of parameters, kernels of texts, pickled kernels."""

import dataclasses
import enum
import os
import pickle
import subprocess
import sys
import typing

import numpy as np
import pytest
import tessera.tile as ct


class Mode(enum.Enum):
    ADD = 1
    MUL = 2


@dataclasses.dataclass(frozen=True)
class Config:
    size: int
    mode: Mode = Mode.ADD
    name: str = "plain"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 4


class Access(enum.IntFlag):
    READ = 1
    WRITE = 4


class Word(str, enum.Enum):  # noqa: UP042
    HIGH = "high"


class Pair(typing.NamedTuple):
    first: object
    second: object


def twice(x):
    return x * 2


@ct.kernel
def show(out, c: ct.Constant):
    ct.scatter(out, 0, 1 if c == "hello" else 0)
    ct.scatter(out, 1, 1 if c == ct.float32 else 0)
    ct.scatter(out, 2, 1 if c == Mode.MUL else 0)


def out_of(kernel, *args):
    out = np.zeros(3, np.int32)
    ct.launch(None, (1,), kernel, (out, *args))
    return out.tolist()


def test_texts_dtypes_and_enums():
    cases = ["hello", "hel" + "lo2", ct.float32, np.float32, np.dtype("float32"), ct.int8, Mode.MUL, Mode.ADD]
    found = [out_of(show, c) for c in cases]
    assert found == [[1, 0, 0], [0] * 3, [0, 1, 0], [0, 1, 0], [0, 1, 0], [0] * 3, [0, 0, 1], [0] * 3]


@pytest.mark.parametrize("cls", [Level, Access, Word])
def test_members_of_numbers_and_texts_stay_members(cls):
    member = list(cls)[-1]

    @ct.kernel
    def kernel(out, c: ct.Constant, pair: ct.Constant, plain):
        ct.scatter(out, 0, (1 if c is member else 0) + (2 if c == member else 0) + (4 if pair[1] is member else 0))
        ct.scatter(out, 1, plain)

    assert out_of(kernel, member, (0, member), Level.HIGH)[:2] == [7, 4]
    assert out_of(kernel, member.value, (0, 1), 3)[:2] == [2, 3]


def test_members_of_numbers_are_sizes_and_indices():
    @ct.kernel
    def kernel(out, n: ct.Constant[int], t: ct.Constant):
        for i in range(n):
            ct.scatter(out, Level.LOW, i + t[Level.LOW] + max(n, 0))
        ct.store(out, 0, ct.full((n, n), n, ct.int32)[Level.LOW, Level.LOW].reshape((1,)))

    assert out_of(kernel, Level.HIGH, (1, Level.LOW)) == [4, 8, 0]


def test_equal_constants_share_a_version():
    @ct.kernel
    def kernel(out, c: ct.Constant):
        ct.scatter(out, 0, c.size * (1 if c.mode is Mode.ADD else 10) + len(c.name))

    for _ in range(2):
        assert out_of(kernel, Config(3))[0] == 8
        assert out_of(kernel, Config(3, Mode.MUL, "ab"))[0] == 32
        assert out_of(kernel, Config(4))[0] == 9
    assert kernel._stats()["specialised"] == 3


def test_functions_are_inlined():
    @ct.kernel
    def kernel(out, f: ct.Constant, n):
        ct.scatter(out, 0, f(n))

    found = [out_of(kernel, f, 5)[0] for f in (twice, lambda x: x + 1, ct.negative, twice)]
    assert found == [10, 6, -5, 10]
    assert kernel._stats()["specialised"] == 3


def test_constants_in_tuples_and_named_tuples():
    @ct.kernel
    def kernel(out, c: ct.Constant):
        ct.scatter(out, 0, c[0] if c[1][0] == "a" else -1)

    assert out_of(kernel, (4, ("a", ct.int8)))[0] == 4
    assert out_of(kernel, (4, ("b", ct.int8)))[0] == -1
    assert out_of(kernel, Pair(6, ("a",)))[0] == 6


def test_static_eval_sees_them_as_they_are():
    seen = []

    @ct.kernel
    def kernel(out, c: ct.Constant, d: ct.Constant):
        ct.static_eval(seen.extend([c, d]))

    out_of(kernel, Config(3), "text")
    assert seen == [Config(3), "text"]


@ct.kernel
def plain(out, x):
    ct.scatter(out, 0, 1)


@pytest.mark.parametrize("value", ["a", ct.int8, Mode.ADD, twice, Config(3)])
def test_other_parameters_refuse_them(value):
    text = r"kernel 'plain', argument 'x(\.mode)?': is a .*; a kernel takes .* annotated ct.Constant"
    with pytest.raises(TypeError, match=text):
        out_of(plain, value)


@pytest.mark.parametrize("value", [object(), b"bytes"])
def test_what_kernels_cannot_hold_is_refused(value):
    with pytest.raises(TypeError, match="argument 'c': .* a kernel takes arrays"):
        out_of(show, value)


SCRIPT = """
import numpy as np, tessera.tile as ct
@ct.kernel
def kernel(out, c: ct.Constant):
    ct.scatter(out, 0, 3 if c == "three" else 4)
out = np.zeros(1, np.int32)
for c in {names}:
    ct.launch(None, (1,), kernel, (out, c))
    print(out[0], end=" ")
print(kernel._stats()["from_disk"])
"""


def test_code_on_disk_is_found_by_what_the_constants_are(tmp_path):
    script, found = tmp_path / "script.py", []
    env = {**os.environ, "TESSERA_CACHE_DIR": str(tmp_path / "cache")}
    for names in (("three",), ("four", "three"), ("three", "four")):
        script.write_text(SCRIPT.format(names=names))
        command = [sys.executable, script]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.split())
    assert found == [["3", "0"], ["4", "3", "1"], ["3", "4", "2"]]


# ---- defaults, texts, pickles ----------------------------------------------------------------------------


def test_missing_arguments_take_the_defaults_of_their_parameters():
    @ct.kernel
    def kernel(out, n: ct.Constant[int] = 5, x=2.0, mode: ct.Constant = Mode.ADD):
        ct.scatter(out, 0, n + (100 if mode is Mode.ADD else 200))
        ct.scatter(out, 1, ct.astype(x, ct.int32))

    assert [out_of(kernel, *args)[:2] for args in ((), (6,), (6, 3.0), (6, 3.0, Mode.MUL))] == [
        [105, 2], [106, 2], [106, 3], [206, 3]]  # fmt: skip
    with pytest.raises((TypeError, ct.TileTypeError), match="takes 2 arguments .* 'c' is missing"):
        ct.launch(None, (1,), show, (np.zeros(3, np.int32),))


TEXT = """
import tessera.tile as ct

def helper(x):
    return x + 1

def f(out):
    ct.scatter(out, 0, helper(6))
"""


def test_a_function_of_exec_is_compiled_from_its_text():
    space = {}
    exec(TEXT, space)
    assert out_of(ct.kernel(source=TEXT)(space["f"]))[0] == 7
    assert out_of(ct.kernel(space["f"]))[0] == 7
    other = TEXT.replace("helper(6)", "helper(7)")  # what was compiled is known, and counts
    assert out_of(ct.kernel(space["f"], source=other))[0] == 7


def test_a_program_of_python_c():
    program = TEXT + """
import numpy as np
out = np.zeros(1, np.int32)
ct.launch(None, (1,), ct.kernel(f), (out,))
print(out[0])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "7\n", done.stderr


def test_kernels_of_a_module_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(show)) is show
    other = pickle.loads(pickle.dumps(show.replace_hints(occupancy=2)))
    assert other._function is show._function
    assert other._hints["occupancy"] == 2

    @ct.kernel
    def inner(out):
        pass

    with pytest.raises(pickle.PicklingError, match="define it at the top level of a module"):
        pickle.dumps(inner)


# ---- what is refused --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Holder:
    items: list


@pytest.mark.parametrize("value", [{"a": 1}, {1}, Holder([1]), ({"a": 1},)], ids=repr)
def test_constants_that_may_change_are_refused(value):
    @ct.kernel
    def kernel(out, c: ct.Constant):
        ct.scatter(out, 0, ct.static_eval(len(str(c))))

    text = r"'c(\[0\])?': is or holds a (dict|list|set), .* pass a tuple, or a frozen dataclass"
    with pytest.raises(TypeError, match=text):
        out_of(kernel, value)


PICK = lambda v: v if v > 1 else 0
NESTED = lambda v: 1 if v > 9 else 2 if v > 7 else 3


def test_lambdas_that_end_in_a_conditional():
    @ct.kernel
    def kernel(out, f: ct.Constant):
        ct.scatter(out, 0, f(5))
        ct.scatter(out, 1, PICK(8))
        ct.scatter(out, 2, NESTED(8))

    assert out_of(kernel, PICK) == [5, 8, 2]
    assert out_of(kernel, NESTED) == [3, 8, 2]
