# SPDX-License-Identifier: Apache-2.0
"""Making, joining and splitting arrays against NumPy, and signatures that are NumPy's."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import tessera.numeric as tn

A, B, C = np.arange(6), np.arange(12).reshape(3, 4), np.arange(24.0).reshape(2, 3, 4)
CALLS = [
    ("concatenate", ([B, B + 1],)),
    ("concatenate", ([B, B.T.copy().T], 1)),
    ("concatenate", ([A, A * 1.5], None)),
    ("stack", ([B, B], 1)),
    ("stack", ([B, B], -1)),
    ("vstack", ([A, A],)),
    ("hstack", ([A, A],)),
    ("hstack", ([B, B],)),
    ("dstack", ([B, B],)),
    ("column_stack", ([A, A],)),
    ("split", (A, 3)),
    ("split", (B, [1, 2], 1)),
    ("array_split", (A, 4)),
    ("hsplit", (B, 2)),
    ("vsplit", (B, 3)),
    ("dsplit", (C, 2)),
    ("tile", (B, (2, 1, 3))),
    ("tile", (A, 2)),
    ("roll", (B, 3)),
    ("roll", (B, (1, -1), (0, 1))),
    ("append", (A, [7, 8])),
    ("moveaxis", (C, 0, -1)),
    ("moveaxis", (C, (0, 1), (-1, -2))),
    ("rollaxis", (C, 2)),
    ("expand_dims", (B, (0, 2))),
    ("squeeze", (C[:1], 0)),
    ("rot90", (B, 3)),
    ("fliplr", (B,)),
    ("flipud", (B,)),
    ("broadcast_to", (A, (3, 6))),
    ("broadcast_arrays", (A[:4], B)),
    ("atleast_2d", (A,)),
    ("atleast_3d", (B,)),
    ("diagonal", (C, 1, 1, 2)),
    ("transpose", (C, (1, 2, 0))),
    ("reshape", (C.T, (6, 4))),
    ("reshape", (C, (-1, 2), "F")),
    ("ravel", (C.T, "K")),
    ("ravel", (C, "F")),
    ("eye", (3, 4, 1)),
    ("identity", (3,)),
    ("linspace", (0, 1, 7)),
    ("linspace", (0, 10, 5, False)),
    ("linspace", ([0, 1], [5, 9], 4)),
    ("arange", (3, 9, 2)),
    ("full", ((2, 2), 7)),
    ("zeros_like", (B.T,)),
    ("full_like", (B, 2.5)),
    ("ones", (3, "i2")),
    ("unstack", (B,)),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_results_are_numpys(number):
    name, args = CALLS[number]
    wanted, got = getattr(np, name)(*args), getattr(tn, name)(*args)
    pairs = zip(got, wanted, strict=True) if isinstance(wanted, (list, tuple)) else [(got, wanted)]
    for one, other in pairs:
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_array_equal(np.asarray(one), other)


@pytest.mark.parametrize(
    "name, args",
    [
        ("concatenate", ([],)),
        ("concatenate", ([A, B],)),
        ("concatenate", ([B, B[:, :2]],)),
        ("stack", ([A, B],)),
        ("split", (A, 4)),
        ("reshape", (A, (4, 2))),
        ("reshape", (A, (-1, -1))),
        ("transpose", (B, (0, 0))),
        ("squeeze", (B, 0)),
        ("broadcast_to", (A, (3, 5))),
        ("expand_dims", (B, 9)),
        ("zeros", (-1,)),
        ("moveaxis", (B, 0, 5)),
    ],
)
def test_mistakes_are_numpys(name, args):
    with pytest.raises(Exception) as theirs:
        getattr(np, name)(*args)
    with pytest.raises(type(theirs.value)):
        getattr(tn, name)(*args)


def functions():
    for name in dir(tn):
        ours = getattr(tn, name)
        if inspect.isfunction(ours) and getattr(ours, "__module__", "").startswith(
            "tessera.numeric"
        ):
            yield name


@pytest.mark.parametrize("name", [*functions()])
def test_signatures_are_numpys(name):
    """Names and kinds of parameters; what NumPy has in C without a signature is left out."""
    if not hasattr(np, name) or name in ("diagonal",):
        pytest.skip("no function of NumPy, or one with more parameters")
    try:
        theirs = inspect.signature(getattr(np, name))
    except ValueError:
        pytest.skip("NumPy does not tell its signature")
    if any(p.kind is p.VAR_POSITIONAL for p in theirs.parameters.values()):
        pytest.skip("NumPy's own says nothing")
    ours = inspect.signature(getattr(tn, name))
    wanted = [(p.name, p.kind) for p in theirs.parameters.values() if p.name != "like"]
    assert [(p.name, p.kind) for p in ours.parameters.values() if p.name != "like"] == wanted
