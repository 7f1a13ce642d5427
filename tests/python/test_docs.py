# SPDX-License-Identifier: Apache-2.0
"""The programs in README and the guide run, and the reference names everything."""

import pathlib
import re
import subprocess
import sys

import drivers
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = [
    "README.md", "docs/guide/tiles.md", "docs/guide/arrays.md", "docs/performance.md", "docs/guide/from-cuda-python.md",
    "docs/guide/host-objects.md", "docs/guide/asyncio-and-graphs.md", "docs/guide/from-cutile.md",
    "docs/guide/from-triton.md", "docs/guide/from-numba.md", "docs/reference/python.md", "docs/guide/coop.md",
    "docs/guide/hardware.md", "docs/guide/numeric.md", "docs/guide/from-cupynumeric.md", "docs/guide/from-jax.md",
    "docs/guide/from-nvmath.md",
]
# What the pages whose programs go on from one to the next leave out; those of COMPLETE are run as they are.
COMPLETE = ("docs/guide/host-objects.md", "docs/guide/asyncio-and-graphs.md", "docs/guide/from-cutile.md",
            "docs/guide/from-triton.md", "docs/reference/python.md", "docs/guide/coop.md",
            "docs/guide/hardware.md")  # fmt: skip
# Pages whose complete programs are run one after the other, in one process.
JOINED = ("docs/guide/numeric.md", "docs/guide/from-cupynumeric.md", "docs/guide/from-jax.md",
          "docs/guide/from-nvmath.md")  # fmt: skip
HEAD = "import numpy as np\nimport tessera.tile as ct\n"


def programs():
    for page in PAGES:
        codes = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
        for i, code in enumerate(["\n".join(codes)] if page in JOINED else codes):
            yield pytest.param(("" if page in COMPLETE + JOINED else HEAD) + code, id=f"{pathlib.Path(page).stem}-{i}")


@pytest.mark.parametrize("where", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("code", [*programs()])
def test_a_program_of_the_docs_runs(code, where, tmp_path):
    script, environment = tmp_path / "program.py", drivers.of_machine() if where == "gpu" else None
    script.write_text(code)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


def test_every_name_of_the_tile_language_is_on_a_page():
    import tessera.tile as ct

    page, math = ((ROOT / f"docs/reference/{name}.md").read_text() for name in ("tile", "math"))
    told = {*re.findall(r"^## (\w+)$", page, re.M), *re.findall(r"^- `(\w+)` \(a", page, re.M)}
    told |= {*re.findall(r"^\| `(\w+)` \|", page, re.M), *re.findall(r"^\| `(\w+)\(", math, re.M)}
    missing = {*ct.__all__} - told - {"DType", "compilation", "tune"}
    assert not missing
    for cls in (ct.Array, ct.Tile, ct.TiledView, ct.RawArrayMemory):
        assert f"\n### {next(w for w, t in vars(cls).items() if hasattr(t, '__tessera_op__'))}\n" in page


def test_every_name_of_the_arrays_is_on_a_page():
    import tessera.numeric as tn

    text = (ROOT / "docs/reference/numeric.md").read_text()
    told = {*re.findall(r"^## (\w+)$", text, re.M), *re.findall(r"^\| `(\w+)", text, re.M)}
    ours = {name for name in dir(tn) if name[0] != "_" and callable(getattr(tn, name))
            and getattr(tn, name) is not getattr(np, name, None)}  # fmt: skip
    assert len(ours) > 280 and not ours - told - {"Any"}
    assert not {name for name in dir(tn.ndarray) if name[0] != "_"} - told
    assert {"doctor", "fallback", "host_calls", "svd", "irfft2", "default_rng"} <= told


def test_what_the_tuner_offers_is_on_a_page():
    text = (ROOT / "docs/reference/tune.md").read_text()
    for name in ("Choices", "search", "exhaustive_search", "Tuned", "TuningResult"):
        assert f"\n## {name}\n" in text
    assert "`tune`: " in text and "reference/tune.md" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("page", sorted(ROOT.glob("changes/0010-*.md")), ids=lambda page: page.stem)
def test_an_entry_of_the_changes_begins_with_what_was_done_and_to_what(page):
    lines = page.read_text().splitlines()
    assert max(map(len, lines)) <= 160
    for entry in [line for line in lines if re.match("- |Added|Changed|Fixed", line)]:
        assert re.match("(- )?(Added|Changed|Fixed) `", entry), entry


def test_what_the_map_names_is_there():
    named = re.findall(r"`([\w.]+/[\w./*]*)`", (ROOT / "docs/map.md").read_text())
    missing = [path for path in named if "NAME" not in path and not [*ROOT.glob(path.rstrip("/"))]]
    assert len(named) > 60 and not missing
