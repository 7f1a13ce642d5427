# SPDX-License-Identifier: Apache-2.0
"""Programs adopted from NumPy, of arrays on the device that is not the default one: what they make on their way lies
beside their operands. On the mock driver: what is looked at are devices."""

import numpy
import pytest
import tessera.numeric as np

CALLS = {
    "ma.add": lambda a: np.ma.add(a, [1, 2, 3, 4]),
    "ma.multiply": lambda a: np.ma.multiply.outer(a, a),
    "ma.where": lambda a: np.ma.where(np.ma.masked_less(a, 3), 0, a),
    "ma.masked_where": lambda a: np.ma.masked_where(a > 2, a),
    "ma.std": lambda a: np.ma.std(np.ma.masked_less(a.reshape(2, 2), 2), 1),
    "ma.union1d": lambda a: np.ma.union1d(a.view("i8"), [1, 2]),  # floats that nothing computed may be NaN
    "masked minimum": lambda a: np.ma.minimum(np.ma.masked_less(a, 2), [1, 2, 3, 4]),
    "polyadd": lambda a: np.polynomial.polynomial.polyadd(a, 2),
    "polyint": lambda a: np.polynomial.polynomial.polyint(a),
    "polyval": lambda a: np.polynomial.polynomial.polyval(a, [1, 2, 3]),
    "polydiv": lambda a: np.polynomial.polynomial.polydiv(a, [1, 2])[0],
    "legval": lambda a: np.polynomial.legendre.legval(a, [1, 2, 3]),
    "number first": lambda a: np.lcm(2, a.astype(int)),
}


# A division asks whether the divisor's last number is 0, which on the mock is what lay in that memory before.
CASES = [(call, here) for call in CALLS for here in ("cpu", "cuda") if (call, here) != ("polydiv", "cuda")]


@pytest.mark.parametrize(("call", "here"), CASES)
def test_helpers_lie_beside_operands(mock, call, here) -> None:
    a = np.asarray(numpy.array([1.0, 2.0, 3.0, 4.0]), device=here)
    with np.device({"cpu": "cuda", "cuda": "cpu"}[here]), np.fallback("silent"):
        made = CALLS[call](a)
    assert made.device == a.device
