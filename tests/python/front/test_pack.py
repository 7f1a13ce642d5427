# SPDX-License-Identifier: Apache-2.0
"""The hand-over: operations and stubs agree, sources that cannot be had."""

import ast
import inspect
import subprocess
import sys
import textwrap

import gen_language
import pytest
import tessera
import tessera.tile as ct
from lower import LowerError, array, lower, lower_pack
from tessera._pack import pack_function


@pytest.mark.parametrize("op", [op for op in gen_language.tile_ops() if not op.method], ids=lambda op: op.name)
def test_stub_has_the_signature_of_the_row(op):
    if op.name in gen_language.CLASSES:
        return
    stub = inspect.signature(getattr(ct, op.name)).parameters.values()
    assert [(p.name, p.kind, p.default is not p.empty) for p in stub] == op.parameters()


def test_every_stub_has_a_row():
    stubs = {n for n in dir(ct) if getattr(getattr(ct, n), "__tessera_op__", None) == n}
    assert stubs == {op.name for op in gen_language.tile_ops() if not op.method}
    assert len(stubs) >= 100 and stubs <= set(ct.__all__)


def test_enumerations_have_the_members_of_the_table():
    classes = {}
    for name, member, _ in gen_language.rows_of(gen_language.TILE_OPS, "TS_TILE_ENUM"):
        classes.setdefault(name, []).append(member)
    assert classes == {name: list(getattr(ct, name).__members__) for name in classes} and len(classes) == 4


def test_packing_imports_nothing_heavy(tmp_path):
    (tmp_path / "kernels.py").write_text(
        "import tessera.tile as ct\ndef k(x):\n    ct.store(x, 0, 1.0)\n"
    )
    code = """
        import sys, kernels
        before = set(sys.modules)
        from tessera._pack import pack_function
        pack_function(kernels.k)
        print(sorted(set(sys.modules) - before))
    """
    paths = f"{tmp_path}:{':'.join(p for p in sys.path if p)}"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={"PYTHONPATH": paths},
        text=True,
        capture_output=True,
        check=True,
    )
    loaded = set(eval(done.stdout)) - {"tessera._pack", "tessera._ast_table"}
    assert not loaded & {
        "ast",
        "inspect",
        "tokenize",
        "linecache",
        "numpy",
        "difflib",
        "re",
        "enum",
        "dataclasses",
    }, loaded


def test_source_that_cannot_be_had():
    space: dict = {"ct": ct}
    exec(compile(ast.parse("def k(x):\n    ct.store(x, 0, 1.0)\n", "<tree>"), "<string>", "exec"), space)
    with pytest.raises(
        tessera.TileSyntaxError,
        match=r"source of 'k' is not available because '<string>' cannot be read[^$]*put the function in a file",
    ):
        pack_function(space["k"])


def test_source_that_changed(tmp_path, monkeypatch):
    path = tmp_path / "changing.py"
    path.write_text("import tessera.tile as ct\ndef k(x):\n    ct.store(x, 0, 1.0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    import changing

    path.write_text("# nothing is left\nx = 1\ny = 2\n")
    with pytest.raises(tessera.TileSyntaxError, match="holds something else now"):
        pack_function(changing.k)


def make(scale):
    @ct.function
    def helper(x, *, by=2):
        return x * scale * by

    def kernel(x, MODE=1):
        t = ct.load(x, (0,), (16,))
        ct.store(x, (0,), (
            helper(t)
        ))  # fmt: skip

    return kernel


def test_nested_functions_closures_and_odd_layout():
    text = lower(make(3.0), array(), 1)
    assert text.count("mulf") == 2 and "store_view_tko" in text


def test_lambdas_on_one_line_are_told_apart():
    pair = (lambda x: x + 1.0, lambda x: x * 2.0)

    def kernel(x):
        ct.store(x, 0, pair[1](ct.load(x, 0, 16)))

    text = lower(kernel, array())
    assert "mulf" in text and "addf" not in text


def test_damaged_packs_are_refused():
    pack = pack_function(make(1.0))
    for cut in (0, 4, 31, 32, len(pack) // 2, len(pack) - 1):
        with pytest.raises(LowerError, match="packed function"):
            lower_pack(pack[:cut], array(), 1)
    with pytest.raises(LowerError, match="version 99"):
        lower_pack(pack[:4] + b"\x63\0\0\0" + pack[8:], array(), 1)
