# SPDX-License-Identifier: Apache-2.0
"""ct.compilation: signatures, names and exported code."""

import io
import random
import shutil
import subprocess

import numpy as np
import pytest

import tessera.tile as ct
from tessera import _core, tileir
from tessera.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    KernelSignature,
    ListConstraint,
    ScalarConstraint,
    TupleConstraint,
    demangle_kernel_name,
    export_kernel,
    mangle_kernel_name,
)
from tessera.tile.compilation._mangle import DTYPES
from tessera.tile.compilation._signature import specs_of

V1, V2 = CallingConvention.cutile_python_v1(), CallingConvention.cutile_python_v2()


@ct.kernel
def add(a, b, c, n: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (n,)) + ct.load(b, (i,), (n,)))


@ct.kernel
def product(a, b, c):
    acc = ct.zeros((64, 64), ct.float32)
    for k in range(ct.num_tiles(a, 1, (64, 64))):
        acc = ct.mma(ct.load(a, (ct.bid(0), k), (64, 64)), ct.load(b, (k, ct.bid(1)), (64, 64)), acc)
    ct.printf("%d\n", ct.bid(0))
    ct.store(c, (ct.bid(0), ct.bid(1)), acc)


@ct.kernel
def asserting(a):
    ct.assert_(ct.bid(0) < 3, "three blocks")


def row(dtype=ct.float32, **more):
    given = {"index_dtype": ct.int32, "stride_lower_bound_incl": 0, "alias_groups": (), "may_alias_internally": False}
    return ArrayConstraint(dtype, 1, **{**given, **more})


def drawn_array(draw):
    ndim = draw.randrange(5)

    def axes(*choices):
        return [draw.choice(choices) for _ in range(ndim)]

    strides, shape = axes(None, 1, 8, 0), axes(None, None, 1, 48)
    return ArrayConstraint(
        getattr(ct, draw.choice([n for n in DTYPES if n != "bool_"])),
        ndim,
        index_dtype=draw.choice([ct.int32, ct.int64]),
        stride_lower_bound_incl=[None if s is not None else v for s, v in zip(strides, axes(None, 0, -3))],
        alias_groups=draw.choice([(), ("x",), ("x", "y")]),
        may_alias_internally=draw.random() < 0.2,
        stride_constant=strides,
        shape_constant=shape,
        stride_divisible_by=[1 if s is not None else v for s, v in zip(strides, axes(1, 4, 16))],
        shape_divisible_by=[1 if s is not None else v for s, v in zip(shape, axes(1, 16))],
        base_addr_divisible_by=draw.choice([1, 16, 256]),
    )


def drawn(draw, depth=0):
    kind = draw.randrange(7 if depth < 3 else 5)
    if kind == 0:
        return ScalarConstraint(getattr(ct, draw.choice(list(DTYPES))))
    if kind == 1:
        return ConstantConstraint(
            draw.choice([True, False, 0, -7, 1 << 40, 0.5, -0.0, float("nan"), float("inf"), None])
        )
    if kind == 2:
        return ListConstraint(drawn_array(draw), alias_groups=(), elements_may_alias=draw.random() < 0.5)
    if kind < 5:
        return drawn_array(draw)
    return TupleConstraint([drawn(draw, depth + 1) for _ in range(draw.randrange(4))])


def renamed(parameters):
    """With the group names that demangling gives: by first mention."""
    numbers = {}

    def one(p):
        if isinstance(p, TupleConstraint):
            return TupleConstraint([one(x) for x in p.items])
        if isinstance(p, ListConstraint):
            element = one(p.element)
            return ListConstraint(element, alias_groups=p.alias_groups, elements_may_alias=p.elements_may_alias)
        if isinstance(p, ArrayConstraint):
            for group in p.alias_groups:
                numbers.setdefault(group, len(numbers))
            groups = tuple(f"group{n}" for n in sorted(numbers[g] for g in p.alias_groups))
            given = {f: getattr(p, f) for f in p.__dataclass_fields__ if f not in ("dtype", "ndim")}
            return ArrayConstraint(p.dtype, p.ndim, **{**given, "alias_groups": groups})
        return p

    return tuple(one(p) for p in parameters)


def test_names_say_everything():
    """Random signatures come back from their names."""
    draw = random.Random(12)
    kept = 0
    for _ in range(600):
        parameters = [drawn(draw) for _ in range(draw.randrange(6))]
        try:
            signature = KernelSignature(parameters, V2)
        except ValueError as error:
            assert "Alias group" in str(error)
            continue
        name = mangle_kernel_name("my_kernel", signature)
        function, found = demangle_kernel_name(name)
        assert function == "my_kernel" and found.symbol == name
        assert found.parameters == renamed(signature.parameters)
        assert mangle_kernel_name("my_kernel", found) == name
        kept += 1
    assert kept > 200


def test_names_are_those_of_cutile():
    array = ArrayConstraint(
        ct.float32, 3, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(), may_alias_internally=False,
        stride_constant=[None, None, 1], stride_divisible_by=[8, 1, 1], shape_divisible_by=[16, 16, 1],
        base_addr_divisible_by=16,
    )  # fmt: skip
    signature = KernelSignature([array, ScalarConstraint(ct.bfloat16), -7, True, 3.14], V1)
    assert mangle_kernel_name("k", signature) == "k_Kt1_A3f32_1v8_3i16l0_4t1_p16_Sbf16_I_7_B1_F40091eb851eb851f"


def test_broken_names_are_refused():
    draw = random.Random(3)
    good = mangle_kernel_name("k", KernelSignature([row(stride_constant=(1,)), (1, 2.5), row()], V2))
    assert demangle_kernel_name(good)
    refused = 0
    for _ in range(2000):
        at = draw.randrange(len(good))
        broken = good[:at] + draw.choice(["", "_", "g0", "A", "9", "T4", "z", "t1"]) + good[at + draw.randrange(3) :]
        try:
            name, signature = demangle_kernel_name(broken)
        except ValueError:
            refused += 1
            continue
        again = mangle_kernel_name(name, signature)  # numbers may be written otherwise, as -0
        assert mangle_kernel_name(*demangle_kernel_name(again)) == again
    assert 1000 < refused < 2000


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: KernelSignature([row(shape_constant=(8,))], V1), "Static array shapes .* version >= 2"),
        (lambda: KernelSignature([(1,)], V1), "Tuple parameters .* version >= 2"),
        (
            lambda: row(stride_constant=(1,), stride_divisible_by=4),
            r"stride_constant\[0\] is set to 1.*not divisible by 4",
        ),
        (lambda: row(stride_constant=(-1,)), "less than the lower bound 0"),
        (lambda: row(shape_constant=(-8,)), "non-negative"),
        (lambda: row(shape_constant=(8, 8)), "doesn't match ndim=1"),
        (lambda: KernelSignature([row(alias_groups=("a",))], V2), "mentioned only once"),
        (lambda: CallingConvention.from_code("t3"), "Unknown calling convention code 't3'"),
        (lambda: demangle_kernel_name("add"), "not a mangled kernel name"),
    ],
)
def test_contradictions_are_errors(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_signature_of_arguments_compiles_the_same_code():
    a = np.zeros((64, 256), np.float16)
    c = np.zeros((64, 64), np.float32)
    wide = np.zeros((64, 512), np.float16)[:, 3:259]
    for values in ((a, a.T, c), (wide, a.T, c)):
        signature = KernelSignature.from_kernel_args(product, values, V2)
        specs = specs_of(signature.parameters)
        prepared = product._prepare()
        assert _core.lower_text(prepared, specs) == _core.lower_text(prepared, values)
        assert _core.compile(prepared, specs, 90) == _core.compile(prepared, values, 90)


def test_static_extents_come_with_their_convention():
    x = np.zeros((8, 1), np.float32)
    assert KernelSignature.from_kernel_args(asserting, (x,), V1).parameters[0].shape_constant == (None, None)
    assert KernelSignature.from_kernel_args(asserting, (x,), V2).parameters[0].shape_constant == (None, 1)


def exported(kernel, signatures, **options):
    out = io.BytesIO()
    made = export_kernel(kernel, signatures, out, **{"gpu_code": "sm_90", "output_format": "ptx", **options})
    return out.getvalue(), made


def test_two_signatures_are_two_functions(tmp_path):
    a, c = np.zeros((256, 256), np.float16), np.zeros((256, 256), np.float32)
    one = KernelSignature.from_kernel_args(product, (a, a, c), V1)
    two = KernelSignature.from_kernel_args(product, (a.T, a, c), V1, symbol="transposed")
    text, made = exported(product, [one, two])
    assert [m.symbol for m in made] == [mangle_kernel_name("product", one), "transposed"]
    assert all(f".entry {m.symbol}(".encode() in text and m.threads >= 32 for m in made)
    assert b".param .b64 p0" in text and b"tensormap" not in text
    if shutil.which("ptxas"):
        (tmp_path / "x.ptx").write_bytes(text)
        subprocess.run(["ptxas", "-arch=sm_90a", "-o", tmp_path / "x.cubin", tmp_path / "x.ptx"], check=True)


@pytest.mark.skipif(not shutil.which("ptxas"), reason="needs ptxas")
@pytest.mark.parametrize("gpu", ["sm_80", "sm_87", "sm_90", "sm_100", "sm_103"])
def test_cubins_are_elf_with_the_symbol(gpu, tmp_path):
    signature = KernelSignature([row(stride_constant=(1,)), row(), row(), 128], V2)
    export_kernel(add, [signature], tmp_path / "add.cubin", gpu_code=gpu, output_format="cubin")
    code = (tmp_path / "add.cubin").read_bytes()
    assert code.startswith(b"\x7fELF") and mangle_kernel_name("add", signature).encode() in code


def test_bytecode_holds_a_kernel_for_each_signature():
    one = KernelSignature([row(stride_constant=(1,)), row(), row(), 128], V2)
    two = KernelSignature([row(), row(), row(), 8], V2, symbol="small")
    code, made = exported(add, [one, two], gpu_code=None, output_format="tileir_bytecode")
    assert f'loc("{__file__}":' in str(tileir.read(code))
    module = tileir.read(code)
    assert module.kernels == [m.symbol for m in made] == [mangle_kernel_name("add", one), "small"]
    a, b, c = np.arange(20, dtype=np.float32), np.ones(20, np.float32), np.zeros(20, np.float32)
    ct.launch(None, (3,), module.kernel("small"), (a, b, c))
    assert np.array_equal(c, a + 1)


@pytest.mark.parametrize(
    "options, kind, text",
    [
        ({"gpu_code": None, "output_format": "cubin"}, ValueError, "gpu_code is required"),
        ({"output_format": "elf"}, ValueError, "Unknown output format 'elf'"),
        ({"gpu_code": "sm_9"}, ValueError, "'sm_9' is not a GPU"),
        ({"gpu_code": "sm_91"}, ValueError, "'sm_91' is not a GPU that kernels are made for: sm_80, .*sm_90, "),
        ({"gpu_code": "sm_999", "output_format": "cubin"}, ValueError, "'sm_999' is not a GPU"),
        ({"gpu_code": "sm_60", "output_format": "tileir_bytecode"}, ValueError, "'sm_60' is not a GPU"),
        (
            {"kernel": asserting, "signatures": [KernelSignature([row()], V2)]},
            ct.TileUnsupportedFeatureError,
            "asserts",
        ),
        ({"signatures": [KernelSignature([row()], V2)]}, TypeError, "has 4 parameters"),
        (
            {"signatures": [KernelSignature([row()] * 3 + [ScalarConstraint(ct.int32)], V2)]},
            TypeError,
            "annotated Constant",
        ),
        ({"signatures": []}, ValueError, "at least one"),
        ({"output_format": "tileir_bytecode", "bytecode_version": "14.0"}, ValueError, "not one of 13.1, 13.2"),
        (
            {"output_format": "tileir_bytecode", "bytecode_version": "13.1", "gpu_code": None},
            ct.TileUnsupportedFeatureError,
            "13.3 or later",
        ),
    ],
)
def test_exports_that_cannot_be_are_errors(options, kind, text):
    signature = KernelSignature([row(), row(), row(), 64], V2)
    with pytest.raises(kind, match=text):
        exported(**{"kernel": add, "signatures": [signature], **options})
