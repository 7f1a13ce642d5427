# SPDX-License-Identifier: Apache-2.0
"""Bit generators: NumPy's, which take and give arrays of ours as seeds, states and raw numbers."""

from __future__ import annotations

import contextlib
import functools
import threading
from typing import Any

import numpy

from .._host import call, give, take

_twice: Any = type(threading.RLock())
_shared = threading.RLock()


def lock_of(stream: Any) -> contextlib.AbstractContextManager[Any]:
    """The lock of a bit generator, or of what draws from one: whoever draws or sets a state holds it.

    It is NumPy's own, which its functions take again; where they cannot (a NumPy whose lock is not reentrant), all
    streams have one lock of ours.
    """
    own: Any = getattr(stream, "_bit_generator", stream).lock
    return own if isinstance(own, _twice) else _shared


class SeedSequence(numpy.random.SeedSequence):
    """Entropy mixed into states of any size, and split into independent streams."""

    def __init__(self, entropy: Any = None, **options: Any) -> None:
        super().__init__(take(entropy), **take(options))


def _locked(theirs: Any) -> Any:
    """A method of NumPy's that looks at a stream's state, or changes it."""

    @functools.wraps(theirs)
    def method(self: Any, *args: Any, **options: Any) -> Any:
        with lock_of(self):
            return theirs(self, *take(args), **take(options))

    return method


def _made(name: str, doc: str) -> Any:
    theirs: Any = getattr(numpy.random, name)

    def __init__(self: Any, seed: Any = None, *args: Any, **options: Any) -> None:
        if not (args or options) and not hasattr(seed, "generate_state"):
            seed = SeedSequence(seed)
        theirs.__init__(self, seed, *take(args), **take(options))

    def random_raw(self: Any, size: Any = None, output: bool = True) -> Any:
        """The next numbers of 64 bits of the stream (32 for MT19937)."""
        with lock_of(self):
            return call("random.random_raw", theirs.random_raw, self, size, output)

    def get_state(self: Any) -> Any:
        with lock_of(self):
            return give(theirs.state.__get__(self))

    def set_state(self: Any, value: Any) -> None:
        with lock_of(self):
            theirs.state.__set__(self, take(value))

    state = property(
        get_state,
        set_state,
        None,
        "Where the stream is, as a dict.",
    )
    members: dict[str, Any] = {"__doc__": doc, "__module__": __name__.rpartition(".")[0]}
    members.update(__init__=__init__, random_raw=random_raw, state=state)
    for each in ("advance", "jumped", "spawn", "_legacy_seeding"):
        if hasattr(theirs, each):
            members[each] = _locked(getattr(theirs, each))
    return type(name, (theirs,), members)


PCG64 = _made(
    "PCG64", "A congruential generator of 128 bits whose output is permuted: the default."
)
PCG64DXSM = _made("PCG64DXSM", "PCG64 with another permutation of the output.")
Philox = _made(
    "Philox",
    "A counter that is encrypted: 4 numbers of 64 bits for each of its values, in 10 rounds.",
)
MT19937 = _made("MT19937", "The Mersenne twister.")
SFC64 = _made("SFC64", "Small, fast and chaotic, of 256 bits.")


def of_pickle(bits: Any) -> Any:
    """The bit generator of a pickle: itself, or a new one of this name."""
    return globals()[bits]() if isinstance(bits, str) else bits
