# SPDX-License-Identifier: Apache-2.0
"""Conway's game of life on a torus, with the trace of cells that have died."""

import tessera.numeric as np

COLORS = "magma"


def life(size=200, steps=300):
    """Cells that live are 1; those that have died fade."""
    alive = np.random.default_rng(3).random((size, size)) < 0.3
    trace = np.zeros((size, size), "f4")
    for _ in range(steps):
        cells = alive.astype("i1")
        rows = cells + np.roll(cells, 1, 0) + np.roll(cells, -1, 0)
        around = rows + np.roll(rows, 1, 1) + np.roll(rows, -1, 1)
        alive = (around == 3) | (alive & (around == 4))  # the cell itself is counted
        trace = np.where(alive, np.float32(1), trace * np.float32(0.93))
    return trace


if __name__ == "__main__":
    from tessera.tour.gallery import main

    main("life")
