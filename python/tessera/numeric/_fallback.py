# SPDX-License-Identifier: Apache-2.0
"""What the host computes in place of a kernel, and what the program wants of that: `fallback`.

A call is one of these where its arrays have to leave a GPU for it, or where NumPy or SciPy has the function and this
package has not. The host's libraries on host memory, such as LAPACK on arrays of the CPU, are none: there is nothing to
move.
"""

from __future__ import annotations

import contextvars
import os
import time
import warnings
from typing import Any, NamedTuple

from .. import _core
from .._errors import did_you_mean
from ._ndarray import ndarray

MODES = ("warn", "error", "silent")
VARIABLE = "TESSERA_NUMERIC_FALLBACK"


class FallbackWarning(UserWarning):
    """The host computes a call in place of a kernel: told once for each line (`fallback`)."""


class Site(NamedTuple):
    """A line that calls a function which the host computes: how often, for how many bytes and seconds."""

    function: str
    file: str
    line: int
    calls: int
    bytes: int
    seconds: float


def _checked(mode: Any, of: str = "") -> str:
    if mode not in MODES:
        hint = did_you_mean(mode, MODES) if isinstance(mode, str) else ""
        raise ValueError(f"{of}{mode!r} is not a mode of fallback: use 'warn', 'error' or 'silent'{hint}")
    return str(mode)


_current: contextvars.ContextVar[str | None] = contextvars.ContextVar("numeric_fallback", default=None)
_default = _checked(os.environ.get(VARIABLE) or "warn", f"{VARIABLE}=")
_sites: dict[tuple[str, str, int], list[float]] = {}
_told: dict[tuple[str, str, int], str] = {}


class fallback:
    """What calls do that the host computes in place of a kernel: ``with numeric.fallback("error"): ...``.

    Such a call has arrays on a GPU, which are copied to the host and back, or is of a function that NumPy has and
    `tessera.numeric` has not, or SciPy and `tessera.scipy`. Functions of the host's libraries on arrays of the CPU are
    none: nothing is copied.

    Parameters
    ----------
    mode : {"warn", "error", "silent"}
        Run, and say once for each line what it costs (`FallbackWarning`); NotImplementedError; run. All are counted:
        `fallback_report`. Of this thread and of tasks begun inside.

    Raises
    ------
    ValueError
        Another mode.

    Notes
    -----
    Outside of it `default_fallback` holds: "warn", or what ``TESSERA_NUMERIC_FALLBACK`` says.
    """

    def __init__(self, mode: str) -> None:
        self._mode = _checked(mode)
        self._tokens: list[Any] = []

    def __enter__(self) -> fallback:  # noqa: PYI034  no Self in Python 3.10
        self._tokens.append(_current.set(self._mode))
        return self

    def __exit__(self, *exception: object) -> None:
        _current.reset(self._tokens.pop())

    def __repr__(self) -> str:
        return f"fallback({self._mode!r})"


def default_fallback(mode: str | None = None) -> str:
    """The mode where no `fallback` says one; with a mode it is that one from now on, in all threads."""
    global _default
    if mode is not None:
        _default = _checked(mode)
    return _default


def fallback_report() -> list[Site]:
    """The lines that called what the host computes in place of a kernel, the dearest first: (function, file, line,
    calls, bytes that were copied, seconds)."""
    made = [Site(*key, int(n), int(size), seconds) for key, (n, size, seconds) in list(_sites.items())]
    return sorted(made, key=lambda site: -site.seconds)


_device: Any = _core.NumericArray.device  # what derived classes call so may be an object, as CuPy's


def is_away(x: ndarray) -> bool:
    """Whether an array lies on a GPU."""
    return bool(_device.__get__(x) != "cpu")


def away(x: Any) -> int:
    """Bytes of arrays that lie on a GPU, also in lists, tuples and dicts."""
    if isinstance(x, ndarray):
        return int(x.nbytes) if is_away(x) else 0
    if type(x) is dict:
        return sum(map(away, x.values()))
    return sum(map(away, x)) if type(x) in (list, tuple) else 0


class by_host:
    """A call that the host computes in place of a kernel: refused or told of before it runs, counted when it has."""

    def __init__(self, function: str, size: int, missing: bool = False) -> None:
        frame = _core.numeric_user()
        self.size, self.begun = size, 0.0
        self.site = (function, frame.f_code.co_filename, frame.f_lineno) if frame else (function, "", 0)
        mode = _current.get() or _default
        if mode == "error":
            raise NotImplementedError(
                f"{self._text(missing)}; tessera.numeric.fallback('warn') or 'silent' allows it"
            )
        if mode == "warn":
            self._warn(frame, missing)

    def _text(self, missing: bool, may: str = "would run") -> str:
        function, file, line = self.site
        where = f" ({os.path.basename(file)}:{line})" if file else ""
        if missing:
            size = f", on copies of {self.size:,} bytes" if self.size else ""
            ours = "tessera.scipy" if function.startswith("scipy.") else "tessera.numeric"
            return f"{function} has no counterpart in {ours}{where}: it {may} on the host{size}"
        return f"{function} has no kernel{where}: it {may} on the host, for which {self.size:,} bytes leave a GPU"

    def _warn(self, frame: Any, missing: bool) -> None:
        """By Python's rules for warnings: once for each line, unless the program asks for more."""
        text = _told.setdefault(self.site, self._text(missing, "runs"))
        names = frame.f_globals if frame else {}
        warnings.warn_explicit(
            text,
            FallbackWarning,
            self.site[1],
            self.site[2],
            names.get("__name__"),
            names.setdefault("__warningregistry__", {}),
        )

    def __enter__(self) -> by_host:  # noqa: PYI034
        self.begun = time.perf_counter()
        return self

    def __exit__(self, *exception: object) -> None:
        seconds = time.perf_counter() - self.begun
        row = _sites.setdefault(self.site, [0, 0, 0.0])
        for i, more in enumerate((1, self.size, seconds)):
            row[i] += more
        _core.numeric_event("fallback", self.site[0], self.size, int(seconds * 1e9))
