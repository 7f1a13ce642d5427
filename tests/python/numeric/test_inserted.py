# SPDX-License-Identifier: Apache-2.0
"""Elements put in and left out, means by weights of several axes, and what such functions refuse, against NumPy."""

import numpy as np
import pytest
import tessera.numeric as tn


def both(call):
    """What a call gives with NumPy and with ours: values, dtype and order, or the class of an exception."""
    made = []
    for m in (np, tn):
        try:
            x = call(m)
            made.append((np.asarray(x).tolist(), str(x.dtype), x.flags.c_contiguous, x.flags.f_contiguous))
        except Exception as error:
            made.append(type(error))
    return made


PLACES = [0, -1, 3, 4, [1], [0, 2], [1, 1], [], slice(None, None, -2), [[0, 1]], 1.0]


@pytest.mark.parametrize("axis", [None, 0, 1, 2])
@pytest.mark.parametrize("place", range(len(PLACES)))
def test_values_are_inserted_as_numpys(place, axis):
    for values in (9, [7, 8], [[1], [2], [3]], [[1, 2, 3]], [1, 2, 3]):
        for order in "CF":
            wanted, made = both(lambda m: m.insert(m.asarray(np.arange(9.0).reshape(3, 3), order=order), PLACES[place],  # noqa: B023
                                                   values, axis))  # fmt: skip  # noqa: B023
            assert made == wanted, (values, order)


def test_masks_and_empty_arrays_are_places():
    for mask in ([True] * 4, [True, False, True], [[True]], [False] * 3):
        wanted, made = both(lambda m: m.insert([1, 2, 3], m.array(mask), 9))  # noqa: B023
        assert made == wanted, mask
    for call in (lambda m: m.insert([0, 1], m.array([], float), []), lambda m: m.delete([0, 1], m.array([], float))):
        wanted, made = both(call)
        assert made == wanted == IndexError


@pytest.mark.parametrize("place", [0, [1], slice(60, None), slice(None)])
def test_what_is_left_keeps_its_order(place):
    for order in "CF":
        wanted, made = both(lambda m: m.delete(m.asarray(np.arange(12.0).reshape(3, 4), order=order), place, 1))  # noqa: B023
        assert made == wanted


@pytest.mark.parametrize("axis", [(0, 1), (1, 0), (2, 0), 1, (0, 1, 2), None, (0, 0)])
def test_weights_of_several_axes(axis):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((2, 3, 4))
    axes = (0, 1, 2) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    weights = rng.random([x.shape[d] for d in axes])
    for w in (weights, weights[..., :-1]):
        made = []
        for m in (np, tn):
            try:
                made.append(np.asarray(m.average(m.asarray(x), axis=axis, weights=m.asarray(w))))
            except (ValueError, TypeError) as error:
                made.append(type(error))
        np.testing.assert_allclose(made[1], made[0], rtol=1e-13) if isinstance(made[0], np.ndarray) else None
        assert isinstance(made[0], np.ndarray) or made[1] == made[0]


def test_what_is_refused():
    for call in (
        lambda m: m.digitize([1, 2], [1, 2, 3j]),
        lambda m: m.unpackbits(m.zeros(2, "u1"), bitorder=10),
        lambda m: m.packbits(m.zeros(2, "u1"), bitorder="r"),
        lambda m: m.add.outer(m.ones((1,) * 33), m.ones((1,) * 33)),
    ):
        wanted, made = both(call)
        assert made == wanted and isinstance(made, type)
    x = [1, 2]
    assert tn.diff(x, n=0) is x
