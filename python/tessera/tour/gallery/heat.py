# SPDX-License-Identifier: Apache-2.0
"""Heat in a plate whose edges are kept cold, with two hot plates and a cold rod inside, by explicit steps."""

import tessera.numeric as np

COLORS = "inferno"


def heat(size=240, steps=1500):
    """The temperature after so many steps."""
    y, x = np.mgrid[0:size, 0:size] / size
    hot = (abs(x - 0.3) < 0.06) & (abs(y - 0.35) < 0.2) | (abs(x - 0.7) < 0.15) & (abs(y - 0.7) < 0.04)
    cold = (x - 0.62) ** 2 + (y - 0.35) ** 2 < 0.003
    u = np.zeros((size, size))
    for _ in range(steps):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] += 0.24 * (around - 4 * u[1:-1, 1:-1])
        u = np.where(hot, 1.0, np.where(cold, 0.0, u))
    return u


if __name__ == "__main__":
    from tessera.tour.gallery import main

    main("heat")
