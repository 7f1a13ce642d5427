# SPDX-License-Identifier: Apache-2.0
"""Bit generators: NumPy's, which take and give arrays of ours as seeds, states and raw numbers."""

from __future__ import annotations

from typing import Any

import numpy

from .._host import give, take


class SeedSequence(numpy.random.SeedSequence):
    """Entropy mixed into states of any size, and split into independent streams."""

    def __init__(self, entropy: Any = None, **options: Any) -> None:
        super().__init__(take(entropy), **take(options))


def _made(name: str, doc: str) -> Any:
    theirs: Any = getattr(numpy.random, name)

    def __init__(self: Any, seed: Any = None, *args: Any, **options: Any) -> None:
        if not (args or options) and not hasattr(seed, "generate_state"):
            seed = SeedSequence(seed)
        theirs.__init__(self, seed, *take(args), **take(options))

    def random_raw(self: Any, size: Any = None, output: bool = True) -> Any:
        """The next numbers of 64 bits of the stream (32 for MT19937)."""
        return give(theirs.random_raw(self, size, output))

    def set_state(self: Any, value: Any) -> None:
        theirs.state.__set__(self, take(value))

    state = property(
        lambda self: give(theirs.state.__get__(self)),
        set_state,
        None,
        "Where the stream is, as a dict.",
    )
    members: dict[str, Any] = {"__doc__": doc, "__module__": __name__.rpartition(".")[0]}
    members.update(__init__=__init__, random_raw=random_raw, state=state)
    if name == "MT19937":
        members["_legacy_seeding"] = lambda self, seed: theirs._legacy_seeding(self, take(seed))
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
