# SPDX-License-Identifier: Apache-2.0
"""How long points of the plane stay near the origin under z * z + c, all of them at once."""

import tessera.numeric as np

COLORS = "twilight_shifted"


def mandelbrot(size=240, steps=120):
    """The logarithm of the step at which each point has left, from 0 to 1; 0 where it stays."""
    x, y = np.linspace(-2.05, 0.6, size), np.linspace(-1.25, 1.25, size)
    c = x + 1j * y[:, None]
    z = np.zeros_like(c)
    left = np.zeros(c.shape)
    for step in range(1, steps):
        z = np.where(left == 0, z * z + c, z)
        left = np.where((left == 0) & (z.real**2 + z.imag**2 > 16), step, left)
    return np.log1p(left) / np.log(steps)


if __name__ == "__main__":
    from tessera.tour.gallery import main

    main("mandelbrot")
