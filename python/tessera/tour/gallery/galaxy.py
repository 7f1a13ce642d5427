# SPDX-License-Identifier: Apache-2.0
"""Two discs of stars that fall past each other: every body pulls every other one."""

import tessera.numeric as np

COLORS = "cubehelix"


def disc(stars, centre, drift, turn, rng):
    """Places and velocities of a heavy body and of light ones that circle it."""
    radius, angle = 0.9 * np.sqrt(rng.random(stars)) + 0.2, rng.random(stars) * 2 * np.pi
    radius[0] = 0
    place = np.stack([np.cos(angle), np.sin(angle)], 1) * radius[:, None]
    speed = turn * radius / (radius * radius + 0.02) ** 0.75
    return place + np.asarray(centre), np.stack([-np.sin(angle), np.cos(angle)], 1) * speed[:, None] + np.asarray(drift)


def galaxy(stars=400, steps=300, size=240):
    """Where the bodies have been, the last steps brightest."""
    rng = np.random.default_rng(1)
    first, second = disc(stars, [-1.5, -0.6], [0.5, 0.05], 1, rng), disc(stars, [1.5, 0.6], [-0.5, -0.05], 1, rng)
    x, v = np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1]])
    mass = np.full(2 * stars, 0.05 / stars)
    mass[::stars] = 1
    light = np.zeros(size * size)
    for _ in range(steps):
        apart = x - x[:, None]
        cube = ((apart * apart).sum(2) + 0.02) ** 1.5
        v += 0.015 * (apart * (mass / cube)[:, :, None]).sum(1)
        x += 0.015 * v
        place = np.clip((x + 3) * (size / 6), 0, size - 1).astype(np.int64)
        light = 0.95 * light + np.bincount(place[:, 1] * size + place[:, 0], minlength=size * size)
    return np.minimum(1, np.log1p(light).reshape(size, size) / 2.2)


if __name__ == "__main__":
    from tessera.tour.gallery import main

    main("galaxy")
