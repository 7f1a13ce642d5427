# SPDX-License-Identifier: Apache-2.0
"""Windows: a row of a table each, a formula of the place between -1 and 1 (or of its cosines)."""

from __future__ import annotations

import math
from typing import Any

from ... import numeric as tn

__all__ = [
    "barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "cosine", "exponential", "flattop",
    "gaussian", "general_cosine", "general_gaussian", "general_hamming", "get_window", "hamming", "hann", "kaiser",
    "lanczos", "nuttall", "parzen", "triang", "tukey",
]  # fmt: skip

_COSINES = {
    "boxcar": (1.0,),
    "hann": (0.5, 0.5),
    "hamming": (0.54, 0.46),
    "blackman": (0.42, 0.50, 0.08),
    "nuttall": (0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "blackmanharris": (0.35875, 0.48829, 0.14128, 0.01168),
    "flattop": (0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
}


def _made(M: int, sym: bool, formula: Any) -> Any:
    """``formula(n, m)``: of the places 0 to m - 1; without ``sym`` of one more, which is left out."""
    if int(M) != M or M < 0:
        raise ValueError("Window length M must be a non-negative integer")
    M = int(M)
    if M <= 1:
        return tn.ones(M)
    m = M if sym else M + 1
    return formula(tn.arange(m, dtype="f8"), m)[:M].copy()


def general_cosine(M: int, a: Any, sym: bool = True) -> Any:
    """A sum of cosines with weights."""
    weights = [float(w) for w in a]
    return _made(
        M, sym,
        lambda n, m: sum(
            (w * tn.cos(k * (2 * math.pi * n / (m - 1) - math.pi)) for k, w in enumerate(weights[1:], 1)),
            weights[0] + 0 * n,
        ),
    )  # fmt: skip


def general_hamming(M: int, alpha: float, sym: bool = True) -> Any:
    """``alpha - (1 - alpha) cos``."""
    return general_cosine(M, [alpha, 1 - alpha], sym)


def _cosine_window(name: str) -> Any:
    def window(M: int, sym: bool = True) -> Any:
        return general_cosine(M, _COSINES[name], sym)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = f"A sum of cosines with the weights {_COSINES[name]}."
    return window


for _name in _COSINES:
    globals()[_name] = _cosine_window(_name)


def triang(M: int, sym: bool = True) -> Any:
    """A triangle whose ends are not 0."""

    def formula(n: Any, m: int) -> Any:
        side = m + 1 if m % 2 else m
        return 1 - tn.abs(2 * n - (m - 1)) / side

    return _made(M, sym, formula)


def bartlett(M: int, sym: bool = True) -> Any:
    """A triangle whose ends are 0."""
    return _made(M, sym, lambda n, m: 1 - tn.abs(2 * n / (m - 1) - 1))


def barthann(M: int, sym: bool = True) -> Any:
    """Bartlett's and Hann's window together."""

    def formula(n: Any, m: int) -> Any:
        away = tn.abs(n / (m - 1) - 0.5)
        return 0.62 - 0.48 * away + 0.38 * tn.cos(2 * math.pi * away)

    return _made(M, sym, formula)


def bohman(M: int, sym: bool = True) -> Any:
    """Bohman's window."""

    def formula(n: Any, m: int) -> Any:
        away = tn.abs(2 * n / (m - 1) - 1)
        inner = (1 - away) * tn.cos(math.pi * away) + tn.sin(math.pi * away) / math.pi
        return tn.where((n == 0) | (n == m - 1), 0, inner)

    return _made(M, sym, formula)


def parzen(M: int, sym: bool = True) -> Any:
    """Parzen's window."""

    def formula(n: Any, m: int) -> Any:
        away = tn.abs(n - (m - 1) / 2)
        part = away / (m / 2)
        inner = 1 - 6 * part**2 + 6 * part**3
        return tn.where(away <= (m - 1) / 4, inner, 2 * (1 - part) ** 3)

    return _made(M, sym, formula)


def cosine(M: int, sym: bool = True) -> Any:
    """Half a wave."""
    return _made(M, sym, lambda n, m: tn.sin(math.pi / m * (n + 0.5)))


def gaussian(M: int, std: float, sym: bool = True) -> Any:
    """The bell curve of a width."""
    return _made(M, sym, lambda n, m: tn.exp(-((n - (m - 1) / 2) ** 2) / (2 * std * std)))


def general_gaussian(M: int, p: float, sig: float, sym: bool = True) -> Any:
    """The bell curve whose exponent is a power."""
    return _made(M, sym, lambda n, m: tn.exp(-0.5 * tn.abs((n - (m - 1) / 2) / sig) ** (2 * p)))


def exponential(M: int, center: float | None = None, tau: float = 1.0, sym: bool = True) -> Any:
    """e to the power of minus the distance."""
    if sym and center is not None:
        raise ValueError("If sym==True, center must be None.")
    return _made(
        M, sym, lambda n, m: tn.exp(-tn.abs(n - ((m - 1) / 2 if center is None else center)) / tau)
    )


def tukey(M: int, alpha: float = 0.5, sym: bool = True) -> Any:
    """Flat, with halves of Hann's window at its ends."""
    if alpha <= 0:
        return _made(M, sym, lambda n, m: tn.ones(m))
    if alpha >= 1:
        return _cosine_window("hann")(M, sym)

    def formula(n: Any, m: int) -> Any:
        width = math.floor(alpha * (m - 1) / 2)
        near = tn.minimum(n, m - 1 - n)
        return tn.where(near > width, 1, 0.5 * (1 - tn.cos(2 * math.pi * near / (alpha * (m - 1)))))

    return _made(M, sym, formula)


def lanczos(M: int, *, sym: bool = True) -> Any:
    """The middle of sin(x) / x."""
    return _made(M, sym, lambda n, m: tn.sinc(2 * n / (m - 1) - 1))


def kaiser(M: int, beta: float, sym: bool = True) -> Any:
    """Kaiser's window."""

    def formula(n: Any, m: int) -> Any:
        inside = tn.maximum(1 - (2 * n / (m - 1) - 1) ** 2, 0)
        return tn.i0(beta * tn.sqrt(inside)) / tn.i0(tn.asarray(float(beta)))

    return _made(M, sym, formula)


_SHORT = {
    "box": "boxcar", "ones": "boxcar", "rect": "boxcar", "rectangular": "boxcar", "hanning": "hann", "han": "hann",
    "hamm": "hamming", "ham": "hamming", "black": "blackman", "blk": "blackman", "blackharr": "blackmanharris",
    "bkh": "blackmanharris", "flat": "flattop", "flt": "flattop", "nutt": "nuttall", "nut": "nuttall", "tri": "triang",
    "bart": "bartlett", "brt": "bartlett", "brthan": "barthann", "bth": "barthann", "bohm": "bohman", "bmn": "bohman",
    "parz": "parzen", "par": "parzen", "halfcosine": "cosine", "gauss": "gaussian", "gss": "gaussian",
    "ksr": "kaiser", "expo": "exponential", "poisson": "exponential", "tuk": "tukey", "sinc": "lanczos",
    "general gaussian": "general_gaussian", "general hamming": "general_hamming", "general cosine": "general_cosine",
}  # fmt: skip
_WANTS = {"gaussian", "general_gaussian", "general_cosine", "general_hamming", "kaiser"}


def get_window(window: Any, Nx: int, fftbins: bool = True) -> Any:
    """A window by its name, by a tuple of name and parameters, or Kaiser's by a number.

    ``fftbins``: one that goes on periodically.
    """
    sym = not fftbins
    if isinstance(window, (int, float)):
        return kaiser(Nx, float(window), sym)
    name, *args = window if isinstance(window, tuple) else (window,)
    name = _SHORT.get(name, name)
    if not isinstance(name, str) or name not in __all__ or name == "get_window":
        names = ", ".join(n for n in __all__ if n != "get_window")
        raise ValueError(f"Unknown window type: {name!r}; there are {names}")
    if name in _WANTS and not args:
        raise ValueError(f"The {name!r} window needs one or more parameters: ({name!r}, value)")
    return globals()[name](Nx, *args, sym=sym)
