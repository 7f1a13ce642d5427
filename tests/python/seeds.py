# SPDX-License-Identifier: Apache-2.0
"""Random numbers that differ from run to run, of a seed that is shown where a test fails."""

import numpy

__all__ = ["random_numbers"]


def random_numbers(seed=None):
    """A generator of a drawn seed, which is printed: pytest shows it beside a failure. With the seed it repeats."""
    seed = numpy.random.SeedSequence().entropy % (1 << 32) if seed is None else seed
    print(f"random numbers of the seed {seed}")
    return numpy.random.default_rng(seed)
