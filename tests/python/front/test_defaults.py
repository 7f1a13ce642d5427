# SPDX-License-Identifier: Apache-2.0
"""Arguments that may be left out: the default that a stub of the tile language shows is what the compiler takes. Of
every operation that has some, a call with a default written out gives the same IR as one without."""

import importlib.util
import inspect

import gen_language
import numpy as np
import pytest
import tessera.tile as ct
from lower import array, lower, run

ATOMIC = "ct.{name}(n, i, i"
TILE = "ct.{name}(t"
# What each is called with, where the bracket that closes the call is left out: x is an array of floats, n one of ints,
# t and s are (8, 8) tiles of floats, i is a tile of 8 ints.
CALLS = {
    "load": "ct.load(x, (0,), (8,)",
    "store": "ct.store(x, (0,), ct.sum(t, 0)",
    "num_tiles": "ct.num_tiles(x, 0, (8,)",
    "gather": "ct.gather(n, i",
    "scatter": "ct.scatter(n, i, i",
    "atomic_cas": "ct.atomic_cas(n, i, i, i",
    **{f"atomic_{mode}": ATOMIC for mode in ("xchg", "add", "max", "min", "and", "or", "xor")},
    "load_advanced_indexing": "ct.load_advanced_indexing(y, (i, ct.Slice(0, 8))",
    "store_advanced_indexing": "ct.store_advanced_indexing(y, (i, ct.Slice(0, 8)), t",
    **dict.fromkeys(("add", "sub", "mul", "truediv", "minimum", "maximum"), "ct.{name}(t, s"),
    **dict.fromkeys(("exp", "exp2", "tanh", "sqrt", "rsqrt", "transpose"), TILE),
    **dict.fromkeys(("sum", "prod", "max", "min", "cumsum", "cumprod"), TILE),
    **dict.fromkeys(("argmax", "argmin"), TILE),
    "arange": "ct.arange(8, dtype=ct.int32",
    "astile": "ct.astile((1, 2)",
    "astype": "ct.astype(t, ct.float16",
    "reduce": "ct.reduce(t, 0, lambda a, b: a + b, 0",
    "scan": "ct.scan(t, 0, lambda a, b: a + b, 0",
    "mma": "ct.mma(t, s, t",
    "print": "ct.print(i",
    "assert_": "ct.assert_(t > 0",
    "static_assert": "ct.static_assert(True",
}
HEAD = """    t, s = ct.load(y, (0, 0), (8, 8)), ct.load(y, (1, 0), (8, 8))
    i = ct.load(n, (0,), (8,))
"""


def optional():
    """(operation, parameter) of everything that may be left out."""
    for op in gen_language.tile_ops():
        if not op.method:
            yield from ((op.name, name) for name, _, may in op.parameters() if may)


def test_every_operation_with_defaults_has_a_call():
    assert {op for op, _ in optional()} == set(CALLS)


def kernel_of(path, call, last):
    path.write_text(f"import tessera.tile as ct\n\ndef kernel(x, y, n):\n{HEAD}    r = {call})\n    {last}\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def text_of(path, call):
    return lower(kernel_of(path, call, "ct.print(r)"), array(), array(rank=2), array("int32"))


def value_of(path, call):
    out = np.full(8, -1, np.int32)
    run(kernel_of(path, call, "ct.store(n, (0,), r)"), np.zeros(8, np.float32), np.zeros((16, 8), np.float32), out)
    return out.tolist()


@pytest.mark.parametrize(("name", "parameter"), optional())
def test_the_default_of_the_stub_is_that_of_the_compiler(name, parameter, tmp_path):
    stub = inspect.signature(getattr(ct, name)).parameters[parameter]
    shown = f"ct.{stub.default!r}" if hasattr(type(stub.default), "__members__") else repr(stub.default)
    call = CALLS[name].format(name=name)
    if parameter == "axis1":  # transpose takes both axes or neither
        call += ", axis0=None"
    read = value_of if name == "arange" else text_of  # start and step are computed with where they are written
    written = shown if stub.kind is stub.POSITIONAL_ONLY else f"{parameter}={shown}"
    assert read(tmp_path / "written.py", f"{call}, {written}") == read(tmp_path / "out.py", call)
