# SPDX-License-Identifier: Apache-2.0
"""Objects, classes and results of SciPy's that the host computes: their special methods, copies, extra fields."""

import copy
import pickle
import types

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import cupy as cp
from tessera import cupyx
from tessera.numeric import fallback
from tessera.scipy import interpolate, spatial, special, stats

scipy = pytest.importorskip("scipy.special") and pytest.importorskip("scipy")
theirs = pytest.importorskip("scipy.stats")
A, B = np.random.default_rng(5).normal(size=(2, 30))


@pytest.fixture(autouse=True)
def silent():
    with fallback("silent"):
        yield


@pytest.mark.parametrize("name", ["ttest_ind", "linregress", "pearsonr", "ks_2samp", "spearmanr"])
def test_results_with_extra_fields_are_scipys_tuples(name):
    made, wanted = getattr(stats, name)(tn.asarray(A), tn.asarray(B)), getattr(theirs, name)(A, B)
    assert type(made) is type(wanted) and made == wanted and len(made) == len(wanted)
    for field in vars(wanted):
        if not field.startswith("_"):
            assert getattr(made, field) == getattr(wanted, field)
    if hasattr(wanted, "confidence_interval"):
        assert made.confidence_interval(0.9) == wanted.confidence_interval(0.9)
    assert float(getattr(cupyx.scipy.stats, name)(cp.asarray(A), cp.asarray(B))[1]) == wanted[1]


def test_results_along_axes_hold_arrays():
    x = np.stack([A, B])
    made = stats.ttest_1samp(tn.asarray(x), 0.0, axis=1)
    wanted = theirs.ttest_1samp(x, 0.0, axis=1)
    assert type(made.pvalue) is tn.ndarray
    np.testing.assert_array_equal(np.asarray(made.pvalue), wanted.pvalue)
    np.testing.assert_array_equal(np.asarray(made.df), wanted.df)


def test_distributions_are_objects():
    made = stats.norm.cdf(tn.asarray(A))
    assert type(made) is tn.ndarray
    np.testing.assert_array_equal(np.asarray(made), theirs.norm.cdf(A))
    assert stats.norm(loc=2.0).mean() == 2 and stats.gamma(2.0).dist.name == "gamma"
    assert type(cupyx.scipy.stats.norm.cdf(cp.asarray(A))) is cp.ndarray


def test_classes_have_their_attributes_and_instances():
    curve = interpolate.CubicSpline(tn.arange(5.0), tn.arange(5.0) ** 3)
    assert isinstance(curve, interpolate.CubicSpline) and isinstance(curve, interpolate.PPoly)
    assert not isinstance(curve, interpolate.BSpline) and not isinstance(3, interpolate.PPoly)
    knots = interpolate.splrep(tn.arange(5.0), tn.arange(5.0) ** 3)
    made = interpolate.PPoly.from_spline(knots)(tn.asarray([2.0]))
    assert type(made) is tn.ndarray and made[0] == pytest.approx(8)
    with pytest.raises(TypeError, match="derive from SciPy's class"):
        types.new_class("Own", (interpolate.PPoly,))


def test_special_methods_of_objects():
    before = scipy.special.geterr()["singular"]
    with special.errstate(singular="raise"):
        assert scipy.special.geterr()["singular"] == "raise"
    assert scipy.special.geterr()["singular"] == before
    box = spatial.Rectangle([1.0], [0.0])
    assert not callable(box) and not hasattr(box, "__len__")


@pytest.mark.skipif(not hasattr(theirs, "Normal"), reason="SciPy is older than 1.15")
def test_operators_of_objects():
    made = 2 * stats.Normal(mu=1.0) + 1
    assert made.mean() == 3 and isinstance(stats.Normal(mu=1.0), stats.Normal)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_objects_are_copied_and_pickled(again):
    curve = again(interpolate.CubicSpline(tn.arange(5.0), tn.arange(5.0) ** 3))
    assert isinstance(curve, interpolate.CubicSpline) and float(curve(2.0)) == pytest.approx(8)
    ours = again(cupyx.scipy.interpolate.CubicSpline(cp.arange(5.0), cp.arange(5.0) ** 3))
    assert type(ours(cp.asarray([2.0]))) is cp.ndarray
