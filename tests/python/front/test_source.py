# SPDX-License-Identifier: Apache-2.0
"""What was imported is what runs: files that change between import and first launch, and code without a file."""

import importlib
import os
import subprocess
import sys
import textwrap
import zipfile

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from tessera import _source
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


@pytest.fixture
def read(monkeypatch):
    """The names of functions whose source is read, from now on."""
    found, source_of = [], _source.source_of

    def reads(fn, snapshot=None):
        found.append(fn.__name__)
        return source_of(fn, snapshot)

    monkeypatch.setattr(_source, "source_of", reads)
    return found


def test_a_code_is_read_once_whatever_it_captures(read):
    def kernel_of(n):
        twice = lambda x: x * n

        def k(out):
            ct.scatter(out, 0, twice(3) + ct.static_eval(n % 7 + len("ab")))

        return ct.kernel(k)

    assert [result(kernel_of(n)) for n in (2, 5, 9)] == [10, 22, 31]
    assert sorted(read) == ["<lambda>", "k"]


def test_an_expression_of_the_host_has_its_line_each_time():
    def kernel_of(n):
        def k(out):
            ct.scatter(out, 0, ct.static_eval(1 // n))  # here

        return ct.kernel(k)

    with open(__file__, encoding="utf-8") as file:
        line = next(i for i, text in enumerate(file, 1) if text.endswith("# here\n"))
    for _ in range(2):
        with pytest.raises(tessera.TileStaticEvalError, match=f"test_source.py:{line}:"):
            result(kernel_of(0))


def test_a_lambda_is_found_among_the_lines_of_its_function(monkeypatch):
    texts, compiled = [], _source.compiled
    monkeypatch.setattr(_source, "compiled", lambda text, *given: [compiled(text, *given), texts.append(text)][0])

    def lambdas(n):
        return (lambda x: x + n), (lambda x: x * n)

    plus, times = lambdas(3)
    node, shift, text = _source.source_of(times)
    assert (node.lineno, shift) == (times.__code__.co_firstlineno, 0) and "return (lambda" in text
    assert node.col_offset > _source.source_of(plus)[0].col_offset
    assert all("def test_" not in text for text in texts)


@pytest.mark.parametrize("text", ["at the margin", " a little further right"])
def test_a_lambda_behind_a_text_at_the_margin_is_found(tmp_path, text):
    path = tmp_path / "margin.py"
    path.write_text(f'class C:\n    def f(self):\n        """\n{text}\n"""\n        return lambda x: x * 7\n')
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    assert _source.source_of(space["C"]().f())[0].lineno == 6


def test_files_of_this_package_that_are_older_than_the_process_are_not_compared(monkeypatch):
    compared = []
    monkeypatch.setattr(_source, "_is_code_of", lambda node, fn: [compared.append(fn)] == [None])
    monkeypatch.setattr(tessera, "_started", os.stat(_source.__file__).st_ctime_ns + 11 * 10**9)
    _source.source_of(_source.source_of)
    assert compared == []
    monkeypatch.setattr(tessera, "_started", os.stat(_source.__file__).st_ctime_ns)  # written in the meantime, perhaps
    _source.source_of(_source.source_of)
    _source.source_of(textwrap.dedent)  # not ours
    assert [fn.__name__ for fn in compared] == ["source_of", "dedent"]


def test_a_zipped_module_has_its_source(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "zipped.zip", "w") as archive:
        archive.writestr(
            "zipped_kernels.py", KERNEL.format(other="math").replace("other.factor(10)", "10")
        )
    monkeypatch.syspath_prepend(tmp_path / "zipped.zip")
    import zipped_kernels

    assert result(zipped_kernels.k) == 30


ODD = {
    "exec": ("exec('@ct.kernel\\ndef k(x):\\n    pass\\n')", "", ""),
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


# ---- texts without a file ------------------------------------------------------------------------------

GENERATED = "def k(out):\n    ct.scatter(out, 0, part(3) + {n})\n\ndef part(x):\n    return x * {m}\n"


def made_of(text, name="k", file="<string>", mode="exec", **flags):
    space = {"ct": ct}
    exec(compile(text, file, mode, **flags), space)
    return space[name]


@pytest.mark.parametrize("file", ["<string>", "no such file.py", "<ipython-input-1>"])
def test_functions_of_exec_are_compiled_from_their_own_text(file):
    """Many texts under one name, with functions of the same names at the same lines, and used later."""
    made = [made_of(GENERATED.format(n=n, m=m), file=file) for n in range(3) for m in range(3)]
    made += [made_of("\n\n" + GENERATED.format(n=0, m=9), file=file)]
    assert [result(ct.kernel(k)) for k in made] == [3 * m + n for n in range(3) for m in range(3)] + [27]


def test_a_kernel_and_a_helper_of_two_texts():
    space = {"ct": ct}
    exec("def part(x):\n    return x * 5\n", space)
    exec("@ct.kernel\ndef k(out):\n    ct.scatter(out, 0, part(3))\n", space)
    assert result(space["k"]) == 15


def test_nested_functions_and_lambdas_of_a_text():
    text = """
def outer(n):
    class Holder:
        def k(out):
            ct.scatter(out, 0, twice(n))
        __k = k
    return Holder.k
twice = lambda x: x * 2; thrice = lambda x: x * 3
"""
    space = {"ct": ct}
    exec(text, space)
    assert result(ct.kernel(space["outer"](4))) == 8
    space["twice"] = eval("lambda x: x * 7")
    assert result(ct.kernel(space["outer"](4))) == 28


def test_future_flags_are_those_of_the_code():
    import __future__

    text = "def k(out: Unknown):\n    ct.scatter(out, 0, 6)\n"
    flags = __future__.annotations.compiler_flag
    assert result(ct.kernel(made_of(text, flags=flags))) == 6
    assert result(ct.kernel(made_of("from __future__ import annotations\n" + text, dont_inherit=True))) == 6


@pytest.mark.parametrize("name", ["größe", "ﬁ"])  # the second one is normalised by Python
def test_names_beyond_ascii_and_coded_texts(name):
    made = made_of(f"def {name}(out):\n    ct.scatter(out, 0, 5)\n".encode(), name="größe" if name == "größe" else "fi")
    assert result(ct.kernel(made)) == 5
    text = "# coding: latin-1\ndef k(out):\n    ct.scatter(out, 0, {'ü': 1, 'u': 2}['ü'])\n"
    assert result(ct.kernel(made_of(text.encode("latin-1")))) == 1


def test_a_form_feed_ends_no_line(tmp_path, monkeypatch):
    text = "import tessera.tile as ct\n\x0c\n@ct.kernel\ndef k(out):\n    ct.scatter(out, 0, 4)\n"
    (tmp_path / "fed.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert result(importlib.import_module("fed").k) == 4


def test_code_that_no_text_gives_says_so():
    code = made_of(GENERATED.format(n=1, m=1)).__code__
    changed = code.replace(co_consts=tuple(77 if c == 1 else c for c in code.co_consts))
    with pytest.raises(tessera.TileSyntaxError, match="'<string>' cannot be read\n  help: put the function in a file"):
        pack_function(type(result)(changed, {"ct": ct}))


def test_only_the_newest_texts_are_kept():
    from tessera._core import kept_sources

    made = made_of(GENERATED.format(n=1, m=4), file="<bounded>")
    kernel = ct.kernel(made)  # has its text from now on
    for i in range(5000):
        compile(f"x = {i}", "<bounded>", "exec")
    kept = kept_sources("<bounded>", "")
    assert len(kept) <= 4096 and kept[0] == b"x = 4999" and len(set(kept)) == len(kept)
    assert kept_sources("<bounded>", "x = 4999") == kept[:1]
    assert result(kernel) == 13
    compile("#" + "y" * (12 << 20), "<big>", "exec")
    compile("#" + "z" * (12 << 20), "<big>", "exec")
    compile("#" + "z" * (17 << 20), "<big>", "exec")
    assert [text[:2] for text in kept_sources("<big>", "")] == [b"#z"]
    compile("# small", "<small>", "exec")
    assert kept_sources("<small>", "small") == [b"# small"]


def test_texts_of_files_are_not_kept(tmp_path):
    from tessera._core import kept_sources

    path = tmp_path / "there.py"
    path.write_text("x = 1")
    compile("x = 1", str(path), "exec")
    compile("x = 1", str(path) + "c", "exec")
    assert (kept_sources(str(path), ""), kept_sources(str(path) + "c", "")) == ([], [b"x = 1"])


CHILD = """
import os, sys, threading
import numpy as np
{imported}
import tessera
space = {{"ct": tessera.tile, "cuda": tessera.cuda, "np": np}}
text = "def part(x):\\n    return x * {{}}\\n@cuda.jit\\ndef k(out):\\n    out[cuda.threadIdx.x] = part(5)\\n"

def value(n):
    own = dict(space)
    exec(text.format(n), own)
    out = np.zeros(4, np.int32)
    own["k"][1, 4](out)
    return out.tolist() == [5 * n] * 4

found = []
threads = [threading.Thread(target=lambda n=n: found.append(value(n))) for n in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
child = os.fork()
if not child:
    os._exit(0 if value(100) else 1)
assert all(found) and len(found) == 8 and os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize("how", ["file", "-c", "-"])
def test_threads_and_children(tmp_path, how):
    path = tmp_path / "child.py"
    path.write_text(CHILD.format(imported="import tessera.cuda, tessera.tile"))
    command = {"file": [str(path)], "-c": ["-c", path.read_text()], "-": ["-"]}[how]
    given = path.read_text() if how == "-" else None
    done = subprocess.run([sys.executable, *command], input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
