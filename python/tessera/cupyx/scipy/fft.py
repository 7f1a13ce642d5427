# SPDX-License-Identifier: Apache-2.0
"""`tessera.scipy.fft` on CuPy's arrays; also a backend of SciPy's: ``scipy.fft.set_backend(cupyx.scipy.fft)``."""

from __future__ import annotations

from typing import Any

from ...cupy._boundary import view_of
from ...scipy import fft as _inner
from .fftpack import get_fft_plan as get_fft_plan

__ua_domain__ = "numpy.scipy.fft"


def __ua_function__(method: Any, args: Any, kwargs: Any) -> Any:
    """What SciPy's function of that name does on CuPy's arrays; NotImplemented of those that are not here."""
    name = method.__name__
    return __getattr__(name)(*args, **kwargs) if name in _inner.__all__ else NotImplemented


def next_fast_len(target: int, real: bool = False) -> int:
    """The least length from ``target`` on whose prime factors are 2, 3, 5 and 7: cuFFT is fastest with those."""
    return _inner.smooth(max(int(target), 0), (2, 3, 5, 7))


__getattr__, _names = view_of(_inner, __name__)


def __dir__() -> list[str]:
    return sorted(["get_fft_plan", *_names()])
