# SPDX-License-Identifier: Apache-2.0
"""Quantiles of lines with NaN are NumPy's, also where all lines are sorted at once."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import tessera.numeric as tn


def lines(shape, dtype, seed):
    """Random numbers, some NaN, infinite or equal; a line with nothing else where there are five."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.random(shape), 2).astype(dtype)
    x[rng.random(shape) < 0.2] = np.nan
    x[rng.random(shape) < 0.05] = np.inf
    if shape[0] == 5:
        x[3] = np.nan
    return x


def told(call, x, q, **options):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        made = np.asarray(call(x, q, **options))  # what waits is computed here, and tells of faults
    return made, {(each.category, str(each.message) if "NaN" in str(each.message) else "") for each in seen}


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "f2"])
@pytest.mark.parametrize(("shape", "axis"), [((5, 7), 1), ((4, 9), 0), ((6, 1), 1), ((3, 4, 6), 1), ((3, 4, 6), -3),
                                             ((2, 300), -1), ((4, 7), None), ((3, 2, 4), (0, 2))])  # fmt: skip
def test_quantiles_without_nan_are_numpys(shape, axis, dtype):
    x = lines(shape, "f8", 3)
    x = np.nan_to_num(x, posinf=7).astype(dtype) if dtype == "i8" else x.astype(dtype)
    for q in (0, 1, 0.0, 0.3, 0.5, 0.75, 1.0, 0.999, [0.1, 0.5], [1, 0.2, 0.0], [], np.float64(0.4)):
        for name, part in (("nanquantile", q), ("nanpercentile", [k * 100 for k in q] if type(q) is list else q * 100)):
            wanted, words = told(getattr(np, name), x, part, axis=axis)
            made, said = told(getattr(tn, name), tn.array(x), part, axis=axis)
            assert np.asarray(made).dtype == np.asarray(wanted).dtype and said == words, (q, name)
            np.testing.assert_array_equal(np.asarray(made), wanted)


def test_quantiles_beside_infinities_warn_as_numpys():
    rng = np.random.default_rng(0)
    for i in range(300):
        x = rng.integers(0, 9, (2, int(rng.integers(2, 6)))).astype("f4" if i % 2 else "f8")
        x[rng.random(x.shape) < 0.3] = np.inf
        x[rng.random(x.shape) < 0.2] = np.nan
        x = np.array([[4, np.inf], [3, 5]]) if not i else x
        if np.isnan(x).all(1).any():
            continue
        for q in (0.1, 0.25, 0.5, 0.75, 0.9, [0.25, 0.6], [0.75]):
            wanted, said = told(np.nanquantile, x, q, axis=1)
            made, heard = told(tn.nanquantile, tn.array(x), q, axis=1)
            assert heard == said, (x, q)
            np.testing.assert_array_equal(np.asarray(made), wanted)


@pytest.mark.parametrize("options", [{"method": "lower"}, {"keepdims": True}, {"out": True}, {"overwrite_input": True}])
def test_other_quantiles_are_numpys_program(options):
    x = lines((4, 9), "f8", 5)
    ours = dict(options, out=tn.zeros(4)) if "out" in options else options
    theirs = dict(options, out=np.zeros(4)) if "out" in options else options
    made, wanted = tn.nanquantile(tn.array(x), 0.3, 1, **ours), np.nanquantile(x.copy(), 0.3, 1, **theirs)
    np.testing.assert_array_equal(np.asarray(made), wanted)


@pytest.mark.parametrize("q", [-0.1, 1.1, 101, "a", None])
def test_quantiles_out_of_range_are_refused(q):
    x = lines((4, 9), "f8", 6)
    for name in ("nanquantile", "nanpercentile"):
        found = []
        for m, a in ((np, x), (tn, tn.array(x))):
            try:
                getattr(m, name)(a, q, 1)
                found.append(None)
            except Exception as error:
                found.append(type(error))
        assert found[0] is found[1], name
