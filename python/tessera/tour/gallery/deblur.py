# SPDX-License-Identifier: Apache-2.0
"""A scene, what a shaken and noisy camera sees of it, and what Wiener's filter makes of that, side by side."""

import tessera.numeric as np

COLORS = "gray"


def scene(size):
    """Rings, bars and a disc."""
    y, x = np.mgrid[0:size, 0:size] / size
    rings = 0.5 + 0.5 * np.cos(90 * np.hypot(x - 0.35, y - 0.35))
    picture = np.where(np.hypot(x - 0.35, y - 0.35) < 0.28, rings, 0.15)
    picture = np.where((x > 0.7) & (x < 0.93) & (y < 0.6), (y * 24) % 1 > x - 0.3, picture)
    return np.where(np.hypot(x - 0.7, y - 0.8) < 0.13, 0.9 - 1.5 * np.hypot(x - 0.66, y - 0.76), picture)


def deblur(size=160, noise=0.004):
    """The three pictures in a row."""
    sharp = scene(size)
    shake = np.zeros((size, size))
    for i in range(size // 12):
        shake[i // 2, i] += 1  # a line of light
    blur = np.fft.rfft2(shake / shake.sum())
    seen = np.fft.irfft2(np.fft.rfft2(sharp) * blur, s=sharp.shape)
    seen += noise * np.random.default_rng(2).standard_normal(seen.shape)
    wiener = np.conj(blur) / (abs(blur) ** 2 + 30 * noise**2)
    mended = np.fft.irfft2(np.fft.rfft2(seen) * wiener, s=sharp.shape)
    return np.clip(np.concatenate([sharp, seen, mended], axis=1), 0, 1)


if __name__ == "__main__":
    from tessera.tour.gallery import main

    main("deblur")
