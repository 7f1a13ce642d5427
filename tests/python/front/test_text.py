# SPDX-License-Identifier: Apache-2.0
"""str(), repr(), f-strings and what print shows of tuples, enums and dataclasses: as Python writes them."""

import dataclasses
import enum
import runpy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
import tessera.tile as ct
from lower import LowerError, run


def printed(kernel, *args):
    return run(kernel, np.zeros(4, np.int32), *args).splitlines()


class Color(enum.Enum):
    RED = 1
    GREEN = "g"


class Pair(NamedTuple):
    a: Any
    b: Any = "x"


@dataclass(frozen=True)
class Item:
    name: Any
    hidden: Any = dataclasses.field(default=0, repr=False)
    pair: Any = None


@dataclass(frozen=True)
class Named:
    x: Any

    def __str__(self):
        return "named " + f"{self.x}"


@dataclass(frozen=True)
class Shown(Named):
    def __repr__(self):
        return f"<{self.x}|{self.x:03d}>"


@dataclass(frozen=True, repr=False)
class Quiet:
    x: int


class Level(enum.IntEnum):
    LOW = 1


class Access(enum.IntFlag):
    READ = 1
    WRITE = 2


class Word(str, enum.Enum):  # noqa: UP042
    YES = "yes"


class Own(enum.Enum):
    A = 3

    def __str__(self):
        return f"own {self.value}"


MEMBERS = (Level.LOW, Access.READ, Access.READ | Access.WRITE, Word.YES, Own.A, Color.RED)


CONSTANTS = (
    (), (1,), (1, "a", 2.5, None, True), "it's", ('say "it"', "it's", "it's \"so\"", "a\\b\n\t\x01"), Color.GREEN,
    (Color.GREEN, Color.RED), Pair(1), (Pair(1, (2,)),), Item("n", pair=Pair(3)), (Item(1),), Named(2), (Named(2),),
    Shown(4), (Shown(4),),
)  # fmt: skip


def test_constants_read_as_in_python():
    assert len(CONSTANTS) == 15

    def kernel(out):
        for i in ct.static_iter(range(15)):
            v = CONSTANTS[i]
            print(v)
            print(f"{v}" + "!")
            print(repr(v))
            print(str(v))

    wanted = "\n".join(text for v in CONSTANTS for text in (f"{v}", f"{v}!", repr(v), f"{v}"))
    assert printed(kernel) == wanted.splitlines()


def test_values_of_run_time_stand_in_the_same_text():
    def kernel(out, n):
        t = ct.arange(2, dtype=ct.int32) + n
        text = f"n={n}" + " and " + f"{t}"
        print(text)
        print((text, n, (f'"{n}',), f"it's {n}"))
        print(Item(t, pair=Pair(n)))
        print(Named(n), (Named(n),), Shown(n), (Shown(n),), str(n), repr(t))
        print(Quiet(n), (Color.RED, n))

    assert printed(kernel, 5) == [
        "n=5 and [5, 6]",
        "('n=5 and [5, 6]', 5, ('\"5',), \"it's 5\")",
        "Item(name=[5, 6], pair=Pair(a=5, b='x'))",
        "named 5 (Named(x=5),) named 5 (<5|005>,) 5 [5, 6]",
        "<Quiet object> (<Color.RED: 1>, 5)",
    ]


@dataclass(frozen=True)
class Formatted:
    x: int

    def __format__(self, spec):
        return "?"


@dataclass(frozen=True)
class NoText:
    x: int

    def __str__(self):
        return self.x


def formatted():
    print(f"{Formatted(1)}")


def no_text():
    print(NoText(1))


def spec_of_tuple():
    print(f"{(1, 2):5}")


def text_and_number():
    print("a" + 1)


def width():
    print(f"{ct.bid(0):{ct.bid(1)}}")


@pytest.mark.parametrize(("body", "status", "text"), [
    (formatted, "TILETYPE", "has a __format__ of its own"), (no_text, "TILETYPE", r"__str__\(\) of .* gives no text"),
    (spec_of_tuple, "TILETYPE", "is for numbers and tiles"), (text_and_number, "TILETYPE", "cannot add"),
    (width, "SYNTAX", "must be known at compile time")])  # fmt: skip
def test_what_has_no_text(body, status, text):
    def kernel(out):
        body()

    with pytest.raises(LowerError, match=text) as caught:
        printed(kernel)
    assert caught.value.status == status


@pytest.mark.parametrize("member", MEMBERS, ids=repr)
def test_members_are_written_as_in_this_python(member):
    def kernel(out):
        print(member, str(member), repr(member), f"{member}", f"{member!r:>20}", (member,))

    want = f"{member} {member!s} {member!r} {member} {member!r:>20} {(member,)}"
    assert printed(kernel) == [want]


SPECS = ("", ">6", "<6", "^7", "*^9", "=+8", "06", "+", " ", "#x", "#10b", "o", "X", ",", "_", ".3", ".3f", "8.2f",
         ".0e", "%", ".1%", "g", "012.3f", "<08", "s", ".1",
         "\u00e9>5")  # fmt: skip
FORMATTED = (0, -5, 123456789, 2**70, 0.0, -0.0, 2.5, 100.0, 1e16, 1e-5, 123456.789, float("nan"), float("-inf"),
             5e-324, True, "", "it's", "\u00e4\u00f6", Level.LOW, Word.YES)  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
def test_constants_are_formatted_as_in_python(spec):
    wanted, refused = [], []
    for value in FORMATTED:
        try:
            format(value, spec)
            wanted.append(value)
        except (ValueError, TypeError):
            refused.append(value)

    def kernel(out, N: ct.Constant):
        for v in wanted:
            print(f"{v:{spec}}|{v!s}|{v!r}")

    assert printed(kernel, 0) == [f"{v:{spec}}|{v!s}|{v!r}" for v in wanted]
    for value in refused:

        def wrong(out):
            print(f"{value:{spec}}")  # noqa: B023

        with pytest.raises(LowerError, match="does not fit"):
            printed(wrong)


def test_f_strings_name_what_they_write():
    x = 2.5

    def kernel(out, n):
        print(f"{x=} {x=:.2f} {n=} {n!r} {n:>4}|{n:<4}| {x!s:>5}")

    assert printed(kernel, 7) == ["x=2.5 x=2.50 n=7 7    7|7   |   2.5"]


def test_an_assertion_tells_values_of_run_time():
    def kernel(out, n):
        assert n > 3, f"n is {n}, wanted more than {3}"

    assert printed(kernel, 4) == []
    with pytest.raises(LowerError, match=r"block \(0, 0, 0\): n is \.\.\., wanted more than 3"):
        printed(kernel, 2)


TEXTS = ("", "abc", " Ab\tcab ", "éé b", "a.b..c", "  ")


def test_methods_of_texts_are_pythons():
    def show(x):
        for t in TEXTS:
            print(repr((t.strip(), t.lstrip(), t.rstrip(), t.replace("ab", "-"), t.replace("b", ""), t.split("."))))
            print(repr((t.startswith("a"), t.endswith(("c", " ")), t.startswith(()), t.count("b"), t.endswith(""))))
            print(repr(("/".join((t, "x", t)), "".join(()), t.startswith("abcd"))))
        print("aBz[`{0".upper() + "AbZ[`{9".lower())

    want = []
    for t in TEXTS:
        split = tuple(t.split("."))
        want += [repr((t.strip(), t.lstrip(), t.rstrip(), t.replace("ab", "-"), t.replace("b", ""), split))]
        want += [repr((t.startswith("a"), t.endswith(("c", " ")), False, t.count("b"), True))]
        want += [repr(("/".join((t, "x", t)), "", t.startswith("abcd")))]
    assert printed(show) == [*want, "aBz[`{0".upper() + "AbZ[`{9".lower()]


SPACES = "".join(chr(i) for i in range(1, 0x110000) if chr(i).isspace())
WIDE = (
    *(f"{c}{c}é {c}" for c in SPACES), SPACES, SPACES + "aé" + SPACES, "\u200b a\ufeff", "\x1ba\x1b", "\xa0\x85é",
)  # fmt: skip


def test_spaces_are_unicodes():
    assert len(SPACES) == 29

    def show(x):
        for t in WIDE:
            print(t.strip() + "|" + t.lstrip().replace("\n", "n") + "|")
            print("|" + t.rstrip().replace("\n", "n"))

    want = [(t.strip() + "|" + t.lstrip().replace("\n", "n") + "|", "|" + t.rstrip().replace("\n", "n")) for t in WIDE]
    assert run(show, np.zeros(4, np.int32)).split("\n")[:-1] == [line for pair in want for line in pair]


def test_an_empty_text_stands_between_all_characters():
    def show(x):
        print("abc".count(""), "".count(""), "é€𝄞".count(""), "aaaa".count("aa"))

    assert printed(show) == ["4 1 4 2"]


REFUSED = [
    ('"é".upper()', "letters beyond ASCII"), ('"a".split("")', "split() by an empty string"),
    ('"a".startswith(1)', "takes a string or a tuple of strings"), ('"a".join((1,))', "join() takes strings"),
    ('"a".count(2)', "count() takes strings"), ('"a".title()', "has no attribute 'title'"),
    ('"a".replace("", "b")', "replace() of an empty string"),
    ("round(1.5, -1)", "digits must be 0 to 300, found constant -1"),
    ("round(ct.bid(0) * 0.5, 1)", "digits are for numbers known"), ('round("a")', "round() of string"),
    ("any(ct.load(x, 0, 4) > 1)", "ct.any(tile) reduces a tile"), ("{**(1, 2)}", "** takes a dict, found"),
    ("len({1, 1})", "a set display"),
]  # fmt: skip


@pytest.mark.parametrize("call, text", REFUSED)
def test_calls_that_are_refused(tmp_path, call, text):
    (tmp_path / "k.py").write_text(f"import tessera.tile as ct\ndef k(x):\n    {call}\n")
    names = runpy.run_path(str(tmp_path / "k.py"))
    with pytest.raises(LowerError) as caught:
        run(names["k"], np.zeros(4, np.int32))
    assert text in str(caught.value)
