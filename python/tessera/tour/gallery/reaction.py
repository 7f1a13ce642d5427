# SPDX-License-Identifier: Apache-2.0
"""Gray and Scott's two substances: one feeds, the other eats and spreads in spots and stripes."""

import tessera.numeric as np

COLORS = "viridis"


def spread(a):
    """How much flows into each cell from its eight neighbours, on a torus."""
    sides = np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1)
    rows = np.roll(a, 1, 0) + np.roll(a, -1, 0)
    corners = np.roll(rows, 1, 1) + np.roll(rows, -1, 1)
    return 0.2 * sides + 0.05 * corners - a


def reaction(size=200, steps=4000, feed=0.037, kill=0.06):
    """How much there is of the one that eats."""
    u, v = np.ones((size, size)), np.zeros((size, size))
    for x, y in np.random.default_rng(5).integers(0, size - 12, (size // 10, 2)).tolist():
        u[y : y + 12, x : x + 12], v[y : y + 12, x : x + 12] = 0.5, 0.25
    for _ in range(steps):
        eaten = u * v * v
        u = u + spread(u) - eaten + feed * (1 - u)
        v = v + 0.5 * spread(v) + eaten - (feed + kill) * v
    return np.clip(v * 2.6, 0, 1)


if __name__ == "__main__":
    from tessera.tour.gallery import main

    main("reaction")
