# SPDX-License-Identifier: Apache-2.0
"""str(), repr(), f-strings and what print shows of tuples, enums and dataclasses: as Python writes them."""

import dataclasses
import enum
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


def width(n=5):
    print(f"{ct.bid(0):{n}}")


@pytest.mark.parametrize(("body", "status", "text"), [
    (formatted, "TILETYPE", "has a __format__ of its own"), (no_text, "TILETYPE", r"__str__\(\) of .* gives no text"),
    (spec_of_tuple, "TILETYPE", "is for numbers and tiles"), (text_and_number, "TILETYPE", "cannot add"),
    (width, "SYNTAX", "must be written out")])  # fmt: skip
def test_what_has_no_text(body, status, text):
    def kernel(out):
        body()

    with pytest.raises(LowerError, match=text) as caught:
        printed(kernel)
    assert caught.value.status == status
