# SPDX-License-Identifier: Apache-2.0
"""The classes of values inside kernels: their methods are the rows of the tile language, with documentation."""

import inspect

import gen_language
import numpy as np
import pytest
import tessera.tile as ct

CLASSES = {"array": ct.Array, "view": ct.TiledView, "raw": ct.RawArrayMemory, "tile": ct.Tile}
ROWS = [tuple(row[:3]) for row in gen_language.rows_of(gen_language.TILE_OPS, "TS_TILE_OP_OF")]
METHODS = [name for (name,) in gen_language.rows_of(gen_language.TILE_OPS, "TS_TILE_METHOD")]


@pytest.mark.parametrize(("type_", "name", "signature"), ROWS)
def test_every_method_of_the_language_is_a_method_of_its_class(type_, name, signature):
    stub = inspect.getattr_static(CLASSES[type_], name)
    stub = getattr(stub, "__func__", stub)  # of a static method
    assert stub.__tessera_op__ == f"{type_}_{name}" and stub.__doc__
    op = gen_language.TileOp(f"{type_}_{name}", signature, "", True)
    found = [(p.name, p.kind, p.default is not p.empty) for p in inspect.signature(stub).parameters.values()]
    assert found == op.parameters()


@pytest.mark.parametrize("name", METHODS)
def test_operations_that_are_methods_too(name):
    assert getattr(ct.Tile, name) is getattr(ct, name)


def test_there_are_no_other_methods():
    known = {(t, n) for t, n, _ in ROWS} | {("tile", n) for n in METHODS}
    for type_, cls in CLASSES.items():
        for name, value in vars(cls).items():
            value = getattr(value, "__func__", value)
            assert not hasattr(value, "__tessera_op__") or (type_, name) in known
            assert name.startswith("_") or value.__doc__


def test_methods_raise_on_the_host():
    with pytest.raises(RuntimeError, match=r"ct.TiledView.load\(\) is part of the tile language"):
        ct.TiledView.load(1, 2)


@ct.kernel
def by_class(x, out):
    rows = ct.Array.slice(x, axis=0, start=1, stop=3)
    view = ct.Array.tiled_view(rows, (1, 4))
    ct.store(out, (0,), ct.Tile.reshape(ct.TiledView.load(view, (1, 0)), (4,)))


def test_methods_are_called_by_their_class():
    out = np.zeros(4)
    ct.launch(None, (1,), by_class, (np.arange(16.0).reshape(4, 4), out))
    assert out.tolist() == [8, 9, 10, 11]


@ct.kernel
def transposed(x, out):
    pointer = x.foreign_pointer
    t = ct.Array.from_foreign(pointer, (x.shape[1], x.shape[0]), (x.strides[1], x.strides[0]))
    ct.static_assert(t.dtype == x.dtype and t.ndim == 2)
    ct.store(out, (0, 0), ct.load(t, (0, 0), (8, 4)))


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_])
def test_an_array_of_a_pointer(dtype):
    x = (np.arange(64) % 5).reshape(4, 16).astype(dtype)[:, ::2]
    out = np.zeros((8, 4), dtype)
    ct.launch(None, (1,), transposed, (x, out))
    assert np.array_equal(out, x.T)


def flat(x, pointer, shape, strides):
    return ct.Array.from_foreign(x.foreign_pointer if pointer is None else pointer, shape, strides)


@ct.kernel
def two_strides(x):
    flat(x, None, (4,), (1, 1))


@ct.kernel
def negative(x):
    flat(x, None, (4,), (-1,))


@ct.kernel
def no_pointer(x):
    flat(x, 3, (4,), (1,))


@ct.kernel
def real_extent(x):
    flat(x, None, (4.0,), (1,))


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (two_strides, "1 extents and 2 strides"),
        (negative, "'strides' is -1"),
        (no_pointer, "must be the foreign_pointer of an array"),
        (real_extent, "'shape' must be a signed integer scalar"),
    ],
)
def test_pointers_that_make_no_array(kernel, text):
    with pytest.raises(ct.TileTypeError, match=text):
        ct.launch(None, (1,), kernel, (np.zeros(4),))


def test_dtypes_of_pointers():
    assert ct.foreign_pointer_dtype(ct.float32) is ct.foreign_pointer_dtype(ct.float32)
    assert ct.foreign_pointer_dtype(ct.float32) != ct.foreign_pointer_dtype(ct.int32)
    for bad in (ct.foreign_pointer_dtype(ct.int8), np.float32, "float32"):
        with pytest.raises(TypeError):
            ct.foreign_pointer_dtype(bad)


def test_dtypes_name_themselves():
    assert str(ct.float32) == ct.float32.__name__ == f"{ct.float32}" == "float32"
    assert repr(ct.float32) == "tessera.float32"


def test_generic_classes():
    assert ct.ByTarget[int](default=2).default == 2
    assert ct.tune.TuningResult[dict] and ct.tune.Measurement[int]
    assert repr(ct.ByTarget(default=1, sm_90=2)) == "ByTarget(default=1, sm_90=2)"
