# SPDX-License-Identifier: Apache-2.0
"""Constants of Python in kernels: enums, dicts, texts, operator's functions, lists and arrays that a kernel names."""

import enum
import operator

import numpy as np
import pytest
import tessera.tile as ct

from lower import LowerError, run


class Color(enum.Enum):
    RED = 1
    GREEN = "g"


class Priority(enum.IntEnum):
    LOW = 1
    HIGH = 5


class Mode(enum.StrEnum):
    FAST = "aa"
    EXACT = "bb"


class Word(str, enum.Enum):  # noqa: UP042
    YES = "yes"


BY_PRIORITY = {Priority.LOW: 3, 5: 4, Mode.FAST: 6}
LIST = [3, [4, 5]]
DICT = {"a": 6, Color.RED: (7, 8)}
ARRAY = np.array([[1, 2], [3, 4]], np.int16)


def ints(kernel, *args, n=8):
    """What a kernel writes into an array of int32 zeros."""
    out = np.zeros(n, np.int32)
    run(kernel, out, *args)
    return out.tolist()


def check(condition):
    ct.static_assert(condition)


def test_lists_dicts_and_arrays_that_a_kernel_names():
    def kernel(out):
        values = (LIST[0], LIST[1][1], DICT["a"], DICT[Color.RED][1], ARRAY[1][0], len(LIST))
        for i, v in enumerate(values):
            ct.scatter(out, i, v)
        check(ARRAY[0][0].dtype == ct.int16)

    assert ints(kernel) == [3, 5, 6, 8, 3, 2, 0, 0]


def test_dict_displays_and_their_methods():
    def kernel(out):
        d = {"a": 1, 2: ct.bid(0) + 5, "a": 3}  # noqa: F601
        for i, v in enumerate((d["a"], d[2], d.get("b", 4), len(d))):
            ct.scatter(out, i, v)
        check(d.get("b") is None)
        check(d.keys() == ("a", 2))
        for i, (k, v) in enumerate(d.items(), 4):
            ct.scatter(out, i, v)
        ct.scatter(out, 6, d.values()[0])

    assert ints(kernel) == [3, 5, 4, 2, 3, 5, 3, 0]


def test_for_runs_over_tuples():
    def kernel(out):
        total = ct.bid(0)
        for i, x in enumerate((5, 6), start=2):
            total += i * x
        for a, b in zip((1, 2), reversed((3, 4))):
            total += 100 * a * b
        for x in (1, 2, 3) * 2:
            total += x
        ct.scatter(out, 0, total)

    assert ints(kernel)[0] == 2 * 5 + 3 * 6 + 100 * (4 + 6) + 12


def test_tuples_repeat():
    def kernel(out):
        check((1, 2) * 2 == (1, 2, 1, 2))
        check(2 * (1,) == (1, 1))
        check((1,) * 0 == () and (1,) * -1 == ())

    ints(kernel)


def test_members_of_an_int_enum_are_numbers():
    def kernel(out):
        check(Priority.LOW < Priority.HIGH and Priority.HIGH > 4 and Priority.LOW == 1)
        check(Priority(5) is Priority.HIGH)
        check(-Priority.HIGH == -5)
        ct.scatter(out, 0, Priority.HIGH * 2 + ct.bid(0))

    assert ints(kernel)[0] == 10


@pytest.mark.parametrize("n", [1, 5, 7])
@pytest.mark.parametrize("annotation", [int, ct.Constant[int]])
def test_numbers_match_members(n, annotation):
    def kernel(out, n: annotation):
        v = 0
        match n:
            case Priority.LOW:
                v = 1
            case Priority.HIGH:
                v = 2
            case _:
                v = 3
        ct.scatter(out, 0, v)
        ct.scatter(out, 1, ct.astype(n in (Priority.LOW, Priority.HIGH), ct.int32))
        ct.scatter(out, 2, ct.astype((n, 1) == (Priority.HIGH, Priority.LOW), ct.int32))

    assert ints(kernel, n)[:3] == [{1: 1, 5: 2}.get(n, 3), n in (1, 5), n == 5]


def test_members_are_equal_to_their_values():
    def kernel(out):
        check(5 in (Priority.LOW, Priority.HIGH) and Priority.HIGH in (4, 5) and 4 not in (Priority.LOW,))
        check((5,) == (Priority.HIGH,) and (5, 1) != (Priority.HIGH, Priority.HIGH))
        check(Mode.FAST == "aa" and "aa" in (Mode.EXACT, Mode.FAST) and Mode.FAST != "bb")
        check(Word.YES == "yes" and ("yes",) == (Word.YES,) and Mode.FAST + Word.YES == "aayes")
        check(1 not in (Color.RED,))
        check(Priority.HIGH is not 5 and Priority.HIGH is Priority(5) and Priority(Priority.LOW) == 1)  # noqa: F632
        match Mode.FAST:
            case "aa":
                ct.scatter(out, 0, 1)
        match "yes":
            case Mode.FAST:
                ct.scatter(out, 1, 1)
            case Word.YES:
                ct.scatter(out, 1, 2)

    assert ints(kernel)[:2] == [1, 2]


def test_dicts_find_members_by_value_and_values_by_member():
    def kernel(out):
        check(BY_PRIORITY[1] == 3 and BY_PRIORITY[Priority.HIGH] == 4 and BY_PRIORITY["aa"] == 6)
        check(BY_PRIORITY.get(Priority.HIGH) == 4 and BY_PRIORITY[1.0] == 3 and 1 in BY_PRIORITY)
        d = {Priority.LOW: 1, 1: 2, (1, Priority.HIGH): 3}
        check(len(d) == 2 and d[True] == 2 and d[(1, 5)] == 3)

    ints(kernel)


def test_members_by_value_though_the_kernel_names_none():
    def kernel(out):
        check(Color("g").name == "GREEN" and Color(1).value == 1)

    ints(kernel)


def test_identity_of_constants():
    def kernel(out):
        check((True is True) and (1 is not True) and (ct.float32 is ct.float32))  # noqa: F632
        check((Color.RED is Color.RED) and (Color.RED is not Color.GREEN) and (None is None))

    ints(kernel)


def test_numbers_of_texts_and_of_nothing():
    def kernel(out):
        check(float("2.5") == 2.5 and float(" -inf ") < 0 and int(" -12 ") == -12)
        check(ct.float16("0.1").dtype == ct.float16 and ct.int8("300") == 44)
        check(ct.int32() == 0 and np.float32() == 0.0 and not ct.bool_())
        check("abc" < "abd" and "b" >= "a")

    ints(kernel)


NAMES = "add sub mul truediv floordiv mod pow lshift rshift and_ or_ xor lt le eq ne gt ge"


@pytest.mark.parametrize("name", NAMES.split())
def test_functions_of_operator_are_the_operators(name):
    function = getattr(operator, name)

    def kernel(out):
        ct.scatter(out, 0, function(ct.bid(0) + 13, 3))
        ct.scatter(out, 1, function(13, 3))

    out = np.zeros(2, np.float64)
    run(kernel, out)
    np.testing.assert_array_equal(out.astype(np.float32), np.float32(function(13, 3)))


def test_functions_of_operator_reduce_and_scan():
    def kernel(x, out):
        t = ct.load(x, 0, 8)
        ct.store(out, 0, ct.scan(t, 0, operator.mul, 1))
        ct.scatter(out, 7, ct.reduce(t, 0, operator.add, 0))

    x, out = np.arange(1, 9, dtype=np.int32), np.zeros(8, np.int32)
    run(kernel, x, out)
    assert out.tolist() == [1, 2, 6, 24, 120, 720, 5040, 36]


def unknown_member(out):
    Color(99)


def member_of_a_tile(out):
    Color(ct.bid(0))


def no_number(out):
    float("2x")


def tile_as_key(out):
    {ct.bid(0): 1}


def break_of_a_tuple(out):
    for _ in (1, 2):
        break


def missing_key(out):
    {1: 2}[3]


def other_operator(out):
    operator.countOf((1,), 1)


def too_many(out):
    (1,) * 10**6


WRONG = [
    (unknown_member, "TILEVALUE", "constant 99 is no value of the enumeration 'Color'"),
    (member_of_a_tile, "TILETYPE", "'Color' takes a value known at compile time"),
    (no_number, "TILETYPE", "cannot read string"),
    (tile_as_key, "TILETYPE", "keys of a dict are known at compile time"),
    (break_of_a_tuple, "SYNTAX", "break"),
    (missing_key, "TILETYPE", "the dict has no key constant 3"),
    (other_operator, "TILETYPE", r"operator.countOf\(\) is not part"),
    (too_many, "TILEVALUE", "more than 65535 items"),
]


@pytest.mark.parametrize(("function", "status", "pattern"), WRONG, ids=[w[0].__name__ for w in WRONG])
def test_what_is_refused(function, status, pattern):
    with pytest.raises(LowerError, match=pattern) as caught:
        ints(function)
    assert caught.value.status == status
