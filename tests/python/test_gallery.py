# SPDX-License-Identifier: Apache-2.0
"""The programs of the gallery are short and compute what NumPy does; their pictures are small and on the page."""

import importlib.util
import pathlib

import numpy
import pytest
from tessera.tour import gallery

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SMALL = {
    "heat": {"size": 40, "steps": 12}, "mandelbrot": {"size": 40, "steps": 12}, "life": {"size": 40, "steps": 12},
    "galaxy": {"stars": 20, "steps": 5, "size": 24}, "deblur": {"size": 48}, "reaction": {"size": 40, "steps": 12},
}  # fmt: skip


@pytest.mark.parametrize("name", gallery.PROGRAMS)
def test_a_program_is_numpys(name, where="cpu"):
    found, wanted = gallery.run(name, where, **SMALL[name]), gallery.by_numpy(name, **SMALL[name])
    assert found.shape == wanted.shape and 0 <= found.min() < found.max() <= 1
    numpy.testing.assert_allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize("name", gallery.PROGRAMS)
def test_a_program_is_short_and_its_picture_is_on_the_page(name):
    page = (ROOT / "docs/guide/gallery.md").read_text()
    source = pathlib.Path(str(importlib.util.find_spec(f"tessera.tour.gallery.{name}").origin))
    picture = ROOT / f"docs/gallery/{name}.png"
    assert len(source.read_text().splitlines()) <= 60
    assert picture.stat().st_size < 60_000 and f"../gallery/{picture.name}" in page and f"{name}.py" in page


def test_pictures_are_written_in_few_colours(tmp_path):
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("matplotlib")
    gallery.write("heat", numpy.linspace(-1, 2, 600, dtype="f4").reshape(20, 30), tmp_path / "heat.png")
    with image.open(tmp_path / "heat.png") as made:
        assert made.size == (30, 20) and made.mode == "P"
