# SPDX-License-Identifier: Apache-2.0
"""raise ct.static_exception(...): compiling ends with what the expression gives, where the compiler comes by."""

import numpy as np
import pytest
import tessera.tile as ct

LIMITS = {"most": 8}


def check(n):
    if n > 8:
        raise ct.static_exception(ValueError(f"{n} is more than {LIMITS['most']}"))
    return n


@ct.kernel
def fill(x, N: ct.Constant[int]):
    ct.store(x, (0,), ct.full((check(N),), 3, x.dtype))


def test_it_is_raised_where_the_compiler_comes_by():
    x = np.zeros(8)
    ct.launch(None, (1,), fill, (x, 8))
    assert (x == 3).all()
    with pytest.raises(ct.StaticException, match=r"compile time \(ValueError: 16 is more than 8\)") as caught:
        ct.launch(None, (1,), fill, (x, 16))
    assert isinstance(caught.value, ct.TileStaticEvalError) and "raise ct.static_exception(" in str(caught.value)


@ct.kernel
def of_a_class(x):
    raise ct.static_exception(KeyError)


@ct.kernel
def of_a_number(x):
    raise ct.static_exception(3)


@ct.kernel
def that_raises(x):
    raise ct.static_exception(ValueError(1 // 0))


@ct.kernel
def without_raise(x):
    ct.static_exception(ValueError("a"))


@ct.kernel
def plain(x):
    raise ValueError("a")


@pytest.mark.parametrize(
    ("kernel", "kind", "text"),
    [
        (of_a_class, ct.StaticException, r"compile time \(KeyError\)"),
        (of_a_number, ct.TileTypeError, "takes an exception, found a int"),
        (that_raises, ct.TileStaticEvalError, "ZeroDivisionError"),
        (without_raise, ct.TileSyntaxError, "outside of raise"),
        (plain, ct.TileSyntaxError, "'raise' is not part of the tile language"),
    ],
)
def test_what_is_raised(kernel, kind, text):
    with pytest.raises(kind, match=text):
        ct.launch(None, (1,), kernel, (np.zeros(1),))
