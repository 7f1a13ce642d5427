# SPDX-License-Identifier: Apache-2.0
"""Waves of a form."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ... import numeric as tn

__all__ = ["argrelextrema", "argrelmax", "argrelmin", "chirp", "gausspulse", "sawtooth", "square", "unit_impulse"]


def sawtooth(t: Any, width: Any = 1.0) -> Any:
    """From -1 to 1 in a part of each period of 2 pi, and back."""
    t, w = tn.asarray(t), tn.asarray(width)
    at = tn.remainder(t, 2 * math.pi)
    w, rises = w.astype("f8"), at < w * 2 * math.pi
    made = tn.where(rises, at / (math.pi * w) - 1, (math.pi * (w + 1) - at) / (math.pi * (1 - w)))
    return tn.where((w > 1) | (w < 0), math.nan, made)


def square(t: Any, duty: Any = 0.5) -> Any:
    """1 in a part of each period of 2 pi, then -1."""
    t, w = tn.asarray(t), tn.asarray(duty)
    made = tn.where(tn.remainder(t, 2 * math.pi) < w * 2 * math.pi, 1.0, -1.0)
    return tn.where((w > 1) | (w < 0), math.nan, made)


def chirp(
    t: Any, f0: float, t1: float, f1: float, method: str = "linear", phi: float = 0, vertex_zero: bool = True
) -> Any:
    """A wave whose frequency goes from ``f0`` to ``f1`` at ``t1``."""
    t = tn.asarray(t)
    if method in ("linear", "lin", "li"):
        phase = f0 * t + 0.5 * (f1 - f0) / t1 * t * t
    elif method in ("quadratic", "quad", "q"):
        beta = (f1 - f0) / t1**2
        phase = f0 * t + beta * t**3 / 3 if vertex_zero else f1 * t + beta * ((t1 - t) ** 3 - t1**3) / 3
    elif method in ("logarithmic", "log", "lo"):
        if f0 * f1 <= 0:
            raise ValueError("For a logarithmic chirp, f0 and f1 must be nonzero and have the same sign.")
        rate = t1 / math.log(f1 / f0) if f0 != f1 else 0
        phase = f0 * t if f0 == f1 else rate * f0 * ((f1 / f0) ** (t / t1) - 1.0)
    elif method in ("hyperbolic", "hyp"):
        if f0 == 0 or f1 == 0:
            raise ValueError("For a hyperbolic chirp, f0 and f1 must be nonzero.")
        end = -f1 * t1 / (f0 - f1) if f0 != f1 else 0
        phase = f0 * t if f0 == f1 else -end * f0 * tn.log(tn.abs(1 - t / end))
    else:
        raise ValueError(f"method must be 'linear', 'quadratic', 'logarithmic', or 'hyperbolic', found {method!r}")
    return tn.cos(2 * math.pi * phase + math.radians(phi))


def gausspulse(
    t: Any, fc: float = 1000, bw: float = 0.5, bwr: float = -6, tpr: float = -60, retquad: bool = False,
    retenv: bool = False,
) -> Any:  # fmt: skip
    """A wave under a bell curve: the wave, with ``retquad`` its quadrature, with ``retenv`` the curve."""
    if fc < 0 or bw <= 0 or bwr >= 0:
        raise ValueError(f"gausspulse: fc >= 0, bw > 0 and bwr < 0 are wanted, found {fc}, {bw} and {bwr}")
    a = -numpy.float64((math.pi * fc * bw) ** 2) / (4.0 * math.log(10.0 ** (bwr / 20.0)))  # so that results are float64
    if isinstance(t, str):
        if t != "cutoff":
            raise ValueError("If `t` is a string, it must be 'cutoff'")
        if tpr >= 0:
            raise ValueError("Reference level for time cutoff must be < 0 dB")
        return math.sqrt(-math.log(10.0 ** (tpr / 20.0)) / a)
    t = tn.asarray(t)
    curve = tn.exp(-a * t * t)
    made = [curve * tn.cos(2 * math.pi * fc * t)]
    made += [curve * tn.sin(2 * math.pi * fc * t)] * retquad + [curve] * retenv
    return made[0] if len(made) == 1 else tuple(made)


def unit_impulse(shape: Any, idx: Any = None, dtype: Any = float) -> Any:
    """Zeros, and a one at the first place, in the "mid"dle, or at a place."""
    made = tn.zeros(shape, dtype)
    if idx is None:
        at: Any = (0,) * made.ndim
    elif isinstance(idx, str):
        at = tuple(n // 2 for n in made.shape)
    else:
        at = idx if hasattr(idx, "__len__") else (idx,) * made.ndim
    made[tuple(at)] = 1
    return made


def argrelextrema(data: Any, comparator: Any, axis: int = 0, order: int = 1, mode: str = "clip") -> Any:
    """Where elements compare with each of so many on both sides; ``mode``: "clip", or "wrap" at the ends."""
    if int(order) != order or order < 1:
        raise ValueError("Order must be an int >= 1")
    if mode not in ("clip", "wrap"):
        raise ValueError(f"mode must be 'clip' or 'wrap', found {mode!r}")
    x = tn.asarray(data)
    places = tn.arange(x.shape[axis])
    found: Any = True
    for step in range(1, int(order) + 1):
        for moved in (places + step, places - step):
            at = tn.clip(moved, 0, x.shape[axis] - 1) if mode == "clip" else moved % x.shape[axis]
            found = comparator(x, tn.take(x, at, axis=axis)) & found
    return tn.nonzero(found)


def argrelmax(data: Any, axis: int = 0, order: int = 1, mode: str = "clip") -> Any:
    """Where elements are greater than so many on both sides."""
    return argrelextrema(data, tn.greater, axis, order, mode)


def argrelmin(data: Any, axis: int = 0, order: int = 1, mode: str = "clip") -> Any:
    """Where elements are less than so many on both sides."""
    return argrelextrema(data, tn.less, axis, order, mode)
