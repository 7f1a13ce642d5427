# SPDX-License-Identifier: Apache-2.0
"""What was imported is what runs: files that change between import and first launch, and code without a file."""

import importlib
import subprocess
import sys
import textwrap
import zipfile

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from tessera._pack import pack_function

KERNEL = """
import tessera.tile as ct
import {other} as other

def local(x):
    return x + 1

@ct.kernel
def k(out):
    ct.scatter(out, 0, local(2) * other.factor(10))

def plain(out):
    ct.scatter(out, 0, local(2) * other.factor(10))
"""
OTHER = "LINES = 3\n\ndef factor(x):\n    return x * 3\n"


@pytest.fixture
def made(tmp_path, monkeypatch, request):
    """Two fresh modules: one with kernels, one with a helper of theirs; imported."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names = [f"{kind}_{abs(hash(request.node.name))}" for kind in ("kernels", "helpers")]
    (tmp_path / f"{names[1]}.py").write_text(OTHER)
    (tmp_path / f"{names[0]}.py").write_text(KERNEL.format(other=names[1]))
    importlib.invalidate_caches()
    module = importlib.import_module(names[0])
    yield module, tmp_path / f"{names[0]}.py", tmp_path / f"{names[1]}.py"
    for name in names:
        del sys.modules[name]


def result(kernel):
    out = np.zeros(1, np.int32)
    ct.launch(None, (1,), kernel, (out,))
    return out[0]


def test_an_edited_file_runs_as_it_was_imported(made):
    module, path, _ = made
    path.write_text(path.read_text().replace("x + 1", "x + 100").replace("local(2)", "local(7)"))
    assert result(module.k) == 90


def test_lines_added_above_change_nothing(made):
    module, path, _ = made
    path.write_text("# a comment\n# another\n" + path.read_text())
    assert result(module.k) == 90
    with pytest.raises(
        tessera.TileSyntaxError,
        match="changed since it was imported[^$]*restart the program or reload the module, or undo the change",
    ):
        pack_function(module.plain)


def test_a_reloaded_module_runs_as_it_is_now(made):
    module, path, _ = made
    path.write_text(path.read_text().replace("x + 1", "x + 100"))
    assert result(importlib.reload(module).k) == (2 + 100) * 30


@pytest.mark.parametrize(
    "edit", [("x * 3", "x * 4"), ("x * 3", "x + 3"), ("\n\n", "\n"), ("def factor", "factor = 3 #")]
)
def test_an_edited_helper_of_another_file_is_refused(made, edit):
    module, _, other = made
    other.write_text(other.read_text().replace(*edit))
    with pytest.raises(
        tessera.TileSyntaxError,
        match="source of 'factor' is not available because .*(changed since|shorter than)[^$]*reload the module",
    ):
        result(module.k)


def test_what_compiles_to_the_same_code_is_the_same(made):
    module, _, other = made
    other.write_text(
        other.read_text()
        .replace("LINES = 3", "LINES = 5")
        .replace("return x * 3", "return (x  *  3)  # three")
    )
    assert result(module.k) == 90


def test_an_edited_operator_is_seen(made):
    module, path, _ = made
    path.write_text(path.read_text().replace("local(2) * other", "local(2) + other"))
    with pytest.raises(tessera.TileSyntaxError, match="'plain' in line 12 is another now"):
        pack_function(module.plain)


def test_a_zipped_module_has_its_source(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "zipped.zip", "w") as archive:
        archive.writestr(
            "zipped_kernels.py", KERNEL.format(other="math").replace("other.factor(10)", "10")
        )
    monkeypatch.syspath_prepend(tmp_path / "zipped.zip")
    import zipped_kernels

    assert result(zipped_kernels.k) == 30


ODD = {
    "exec": (
        "exec('@ct.kernel\\ndef k(x):\\n    pass\\n')",
        "'<string>' cannot be read",
        "put the function in a file",
    ),
    "lambda": (
        "k = ct.kernel(lambda x: None)",
        "a kernel is a function made with def, not a lambda",
        "",
    ),
    "wrapped": (
        "def other(f):\n    @functools.wraps(f)\n    def inner(*args):\n        return f(*args)\n    return inner\n"
        "@ct.kernel\n@other\ndef k(x):\n    pass",
        "cannot take *args or **kwargs",
        "put @ct.kernel next to the def, below the others",
    ),
    "outside": (
        "def other(f):\n    return f\n@other\n@ct.kernel\n@other\ndef k(x):\n    ct.scatter(x, 0, 1)",
        "",
        "",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_kernels_made_in_odd_ways_run_or_say_why_not(tmp_path, name):
    text, *wanted = ODD[name]
    path = tmp_path / "odd.py"
    path.write_text(
        "import functools\nimport numpy as np\nimport tessera.tile as ct\n" + text
        + "\nct.launch(None, (1,), k, (np.zeros(4, np.int32),))\n"
    )  # fmt: skip
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == any(wanted), done.stderr
    assert all(part in done.stderr for part in wanted)


def test_code_of_stdin_says_that_it_has_no_source():
    code = """
        import numpy as np, tessera.tile as ct
        @ct.kernel
        def k(x):
            pass
        ct.launch(None, (1,), k, (np.zeros(4),))
    """
    done = subprocess.run(
        [sys.executable], input=textwrap.dedent(code), capture_output=True, text=True, check=False
    )
    assert (
        "TileSyntaxError: source of 'k' is not available because '<stdin>' cannot be read"
        in done.stderr
    )


def test_a_cell_is_read_where_linecache_knows_it():
    import linecache

    text = "import tessera.tile as ct\n@ct.kernel\ndef k(out):\n    ct.scatter(out, 0, 7)\n"
    linecache.cache["<cell 1>"] = len(text), None, text.splitlines(keepends=True), "<cell 1>"
    space: dict = {}
    exec(compile(text, "<cell 1>", "exec"), space)
    assert result(space["k"]) == 7
