# SPDX-License-Identifier: Apache-2.0
"""What a compiled kernel tells of itself: types of its variables, what is linked to it. Arrays of one's own types."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from tessera import cuda
from tessera.cuda import cgutils, cudaimpl, float64, int32, types, void
from tessera.cuda.errors import TypingError
from tessera.cuda.extending import core_models, make_attribute_wrapper, overload, register_model, type_callable


class Pair:
    """A class of the user's."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


class PairType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Pair")


pair = PairType()
LAYOUT = np.dtype([("x", "i4"), ("y", "f8")], align=True)


@register_model(PairType)
class PairModel(core_models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [("first", int32), ("second", float64)])


make_attribute_wrapper(PairType, "first", "x")
make_attribute_wrapper(PairType, "second", "y")


@type_callable(Pair)
def type_of_pair(context: Any) -> Any:
    return lambda x, y: pair


@cudaimpl.lower(Pair, types.Integer, types.Number)
def make_pair(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    made = cgutils.create_struct_proxy(pair)(context, builder)
    made.first, made.second = args
    return made._getvalue()


def kind(x):
    raise NotImplementedError


@overload(kind)
def kind_typed(x):
    if isinstance(x, PairType):
        return lambda x: 1
    return lambda x: 2


def test_types_of_variables() -> None:
    factor = 2.5

    @cuda.jit(void(int32[::1], types.float32))
    def kernel(x, c):
        own = cuda.local.array(10, dtype="int32")
        grid = cuda.shared.array((10, 2), dtype=np.float64)
        own[0], total = x[0], c * factor
        for i in range(3):
            y = i * c
            while x[0] < 5:
                last, flag = y, True
                x[0] += 1
        both: Any = (own[0], 1.5)
        grid[0, 0] = total + last + both[1] + flag
        x[0] = own[0]

    found = next(iter(kernel.overloads.values()))._type_annotation
    words = {name: str(type_) for name, type_ in found.typemap.items()}
    assert words == {
        "x": "array(int32, 1d, C)", "c": "float32", "own": "array(int32, 1d, C)", "grid": "array(float64, 2d, C)",
        "total": "float64", "i": "int64", "y": "float64", "last": "float64", "flag": "bool",
        "both": "Tuple(int32, float64)",
    }  # fmt: skip
    assert found.typemap["own"].dtype == int32
    shown = io.StringIO()
    kernel.inspect_types(file=shown)
    assert "# total : float64\n" in shown.getvalue()


def test_what_is_linked_to_a_kernel(tmp_path: Any) -> None:
    (tmp_path / "f.ptx").write_text("")
    f = cuda.declare_device("f", "int32(int32)", link=str(tmp_path / "f.ptx"))

    @cuda.jit(void(int32[::1]))
    def plain(x):
        x[0] = 1

    @cuda.jit(void(int32[::1]))
    def linked(x):
        x[0] = f(x[0])

    of_plain, of_linked = (next(iter(k.overloads.values()))._codelibrary for k in (plain, linked))
    assert of_plain._linking_files == set() and of_plain.name == "plain"
    assert [name.rpartition("/")[2] for name in of_linked._linking_files] == ["f.ptx"]
    assert ".target sm_90" in of_plain.get_asm_str((9, 0))
    with pytest.raises(NotImplementedError, match="inspect_ir"):
        of_plain.get_llvm_str()


def test_arrays_of_own_types() -> None:
    @cuda.jit(void(pair[::1]))
    def kernel(x):
        i = cuda.grid(1)
        own = cuda.local.array(2, dtype=pair)
        own[1] = x[i]
        own[0] = Pair(own[1].x + 1, own[1].y * 2)
        made = own[0]
        x[i] = Pair(made.x * 10 + kind(made), made.y)

    x = np.zeros(4, LAYOUT)
    x["x"], x["y"] = np.arange(4), np.arange(4) + 0.5
    kernel[1, 4](x)
    assert x["x"].tolist() == [11, 21, 31, 41] and x["y"].tolist() == [1, 3, 5, 7]
    typemap = next(iter(kernel.overloads.values()))._type_annotation.typemap
    assert typemap["own"].dtype == pair == typemap["made"] and typemap["x"].dtype == pair
    with pytest.raises(TypeError, match="No matching definition"):
        kernel[1, 1](np.zeros(4, [("x", "i4"), ("y", "f4")]))


def test_fields_of_records_into_places_and_back() -> None:
    @cuda.jit
    def kernel(x):
        own = cuda.shared.array(1, dtype=pair)
        own[0] = x[0]
        x[1] = own[0]

    x = np.array([(3, 4.5), (0, 0)], LAYOUT)
    kernel[1, 1](x)
    assert x[1].tolist() == (3, 4.5)

    @cuda.jit
    def wrong(x):
        x[0] = Pair(1, 2.0)

    with pytest.raises(TypingError, match=r"(?s)2 items cannot be stored in .*give as many items"):
        wrong[1, 1](np.zeros(1, [("a", "i4"), ("b", "i4"), ("c", "i4")]))


def test_shapes_that_are_not_known() -> None:
    def of_element(x):
        cuda.shared.array(shape=x[0], dtype=np.float32)

    def of_row(x):
        cuda.local.array(shape=(1, x[0]), dtype=np.int8)

    for function, sig, words in (
        (of_element, "void(float32[:])", "<function shared.array>) found for signature:\n \n >>> array(shape=float32, "
         "dtype=class(float32))"),
        (of_row, "void(int32[:])", "<function local.array>) found for signature:\n \n >>> array(shape=Tuple("
         "Literal[int](1), int32), dtype=class(int8))"),
        (of_row, "void(float64[:, :])", ">>> array(shape=Tuple(Literal[int](1), array(float64, 1d, A)), dtype=class"),
    ):  # fmt: skip
        with pytest.raises(TypingError) as raised:
            cuda.jit(sig)(function)
        assert words in str(raised.value) and "known at compile time" in str(raised.value)


@pytest.mark.parametrize(
    ("index", "rank", "words"),
    [("1.0", 1, "float64 is not a valid index"), ("(1, 2)", 1, "Expected 1 indices, got 2"),
     ("1", 2, "Expected 2 indices, got a scalar"), ("(1,)", 2, "Expected 2 indices, got 1")],
)  # fmt: skip
def test_indices_of_loads_with_hints(index: str, rank: int, words: str) -> None:
    space: dict[str, Any] = {"cuda": cuda}
    exec(f"def load(x):\n    cuda.ldcs(x, {index})\n", space)
    with pytest.raises(TypingError, match=words):
        cuda.compile_ptx(space["load"], (types.Array(types.float32, rank, "C"),))
    exec(f"def store(x):\n    cuda.stwt(x, {index}, 1)\n", space)
    with pytest.raises(TypingError, match=words):
        cuda.compile_ptx(space["store"], (types.Array(types.float32, rank, "C"),))


FIELDS = [("a", "i4"), ("b", "f8")]


def test_dtypes_that_numpy_makes() -> None:
    @cuda.jit
    def kernel(x):
        records = cuda.local.array(4, dtype=np.dtype(FIELDS))
        words = cuda.shared.array(4, np.dtype("int16"))
        words[0] = 70000
        records[0].b = 1.5
        x[0], x[1] = records[0].b, words[0]

    x = np.zeros(2)
    kernel[1, 1](x)
    assert x.tolist() == [1.5, 4464]

    @cuda.jit
    def wrong(x):
        cuda.shared.array(4, np.dtype("O"))

    with pytest.raises(TypingError, match=r"(?s)ObjectDType, which kernels cannot hold.*np.dtype"):
        wrong[1, 1](x)
