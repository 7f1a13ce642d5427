# SPDX-License-Identifier: Apache-2.0
"""Tile IR bytecode: read, checked, printed, converted and run."""

import random
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tileir_maker

import tessera.tile as ct
from tessera import _core, tileir

VERSIONS = [131, 132, 133, 134]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_made_by_hand_runs(version):
    module = tileir.read(tileir_maker.scale(version))
    assert module.kernels == ["scale"] and module.version == f"13.{version % 10}"
    x, out = np.arange(20, dtype=np.float32), np.zeros(20, np.float32)
    ct.launch(None, (3,), module.kernel(), (x, out))
    assert np.array_equal(out, 2 * x + np.arange(20))
    again = np.zeros_like(out)
    module.kernel()[(3,)](x, again)
    assert np.array_equal(out, again)


def test_the_text_says_what_the_file_says():
    text = str(tileir.read(tileir_maker.scale(133)))
    assert text.startswith("tileir 13.3\n") and 'kernel @"scale"(%0: tile<ptr<f32>>, %1: tile<i32>' in text
    assert re.search(r"%13, %14 = load_view_tko order=weak %8, %10 : tile<8xf32>, token", text)
    assert "partition_view<[8], tensor_view<?xf32, strides=[1]>, dim_map=[0], padding=zero>" in text
    assert "itof sign=signed round=rn" in text and text.rstrip().endswith("return\n}")


def test_the_ir_compiles_for_every_target():
    ir = tileir.read(tileir_maker.scale()).ir("scale")
    for target in (1, 80, 90, 100):
        assert _core.compile_text(ir, target)


# ---- written --------------------------------------------------------------------------------------


@ct.kernel
def many(a, b, idx, out, counts, n):
    """Uses much of the language: loops, branches, reductions, gathers, products, atomics, printing."""
    x = ct.load(a, (0, 0), (16, 16), padding_mode=ct.PaddingMode.ZERO, latency=3)
    acc = ct.zeros((16, 16), ct.float32)
    for k in range(n):
        acc = ct.mma(x, ct.load(b, (k, 0), (16, 16)), acc)
        if k > 1:
            acc = acc * 0.5
        else:
            acc = acc + 1.0
    i = ct.load(idx, (0,), (16,))
    picked = ct.gather(idx, i, padding_value=-7)
    row = ct.sum(acc, 1) + ct.max(acc, 1) + ct.astype(ct.argmin(acc, 0), ct.float32)
    step = 0
    while step < 5:
        row = row + ct.where(picked > 3, 1.0, ct.exp(-row)) + ct.tanh(row) + ct.floor(row / 3.0)
        step += 1
        if step == 3:
            break
    ct.atomic_add(counts, i, picked // 2 + picked % 3)
    ct.store(out, (0, 0), ct.cumsum(acc, 1) + ct.expand_dims(row, 1) + ct.permute(acc, (1, 0)))


def test_a_complex_number_is_printed_as_its_parts():
    """The dialect has no conversion for one."""
    ir = 'entry @show(%1: f32) {\n  %2 = print_tko "100%% %5.1jf %d\\n" %1, %1, %1 : token\n  return\n}\n'
    assert '"100%% %5.1f%+5.1fj %d' in str(tileir.read(_core.tileir_of_ir(ir, "sm_90", 133)))


def arguments():
    rng = np.random.default_rng(5)
    a, b = rng.random((16, 16), np.float32), rng.random((48, 16), np.float32)
    idx = rng.permutation(16).astype(np.int32)
    return a, b, idx, np.zeros((16, 16), np.float32), np.zeros(16, np.int32), np.int32(3)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_kernel_written_and_read_computes_the_same(version):
    wanted, found = arguments(), arguments()
    ct.launch(None, (1,), many, wanted)
    data = _core.tileir_of_ir(_core.lower_text(many._prepare(), found), "sm_90", version)
    ct.launch(None, (1,), tileir.read(data).kernel("many"), found)
    assert np.array_equal(wanted[3], found[3]) and np.array_equal(wanted[4], found[4])
    assert wanted[4].any() and np.isfinite(wanted[3]).all()


ALLOCA = """entry @room(%1: ptr<f32>) {
  %2 = alloca bytes=64 align=16 : ptr<f32>
  %3 = load_ptr_tko %1 : f32
  %4 = store_ptr_tko %2, %3 : token
  return
}
"""


def test_memory_of_a_kernel_keeps_its_size():
    text = tileir.read(_core.tileir_of_ir(ALLOCA, None, 133)).ir()
    assert "alloca bytes=64 align=16 : ptr<f32>" in text
    with pytest.raises(Exception, match="alloca, which needs 13.3"):
        _core.tileir_of_ir(ALLOCA, None, 132)


@ct.kernel
def of_lists(arrays, flags, out):
    total = ct.zeros((8,), ct.float32)
    for i in range(len(arrays)):
        total += ct.load(arrays[i], (0,), (8,))
    ct.store(out, (0,), ct.where(ct.load(flags, (0,), (8,)), total, -1.0))


def test_lists_and_bools_are_passed_to_a_kernel_of_bytecode():
    rng = np.random.default_rng(1)
    arrays = [rng.random(8, np.float32) for _ in range(3)]
    flags, out = rng.random(8) < 0.5, np.zeros(8, np.float32)
    ir = _core.lower_text(of_lists._prepare(), (arrays, flags, out))
    kernel = tileir.read(_core.tileir_of_ir(ir, None, 134)).kernel()
    ct.launch(None, (1,), kernel, (arrays, flags, out))
    assert np.allclose(out, np.where(flags, sum(arrays), -1))
    with pytest.raises(TypeError, match="parameter 2 is ptr<i8>|the table of a list|a pointer to"):
        ct.launch(None, (1,), kernel, (flags, arrays, out))


@pytest.mark.parametrize("version", VERSIONS)
def test_writing_what_was_read_changes_nothing(version):
    data = tileir_maker.scale(version)
    again = _core.tileir_rewrite(data, version)
    assert str(tileir.read(again)) == str(tileir.read(data))
    assert _core.tileir_rewrite(again, version) == again
    for other in VERSIONS:
        text = str(tileir.read(_core.tileir_rewrite(data, other))).replace(" inbounds=[0]", "")
        assert text.partition("\n")[2] == str(tileir.read(data)).replace(" inbounds=[0]", "").partition("\n")[2]


def test_older_versions_refuse_what_is_newer():
    @ct.kernel
    def k(a):
        ct.store(a, (0,), ct.atan2(ct.load(a, (0,), (8,)), 1.0))

    ir = _core.lower_text(k._prepare(), (np.zeros(8, np.float32),))
    assert _core.tileir_of_ir(ir, None, 132)
    with pytest.raises(Exception, match="Tile IR 13.1 cannot say atan2, which needs 13.2"):
        _core.tileir_of_ir(ir, None, 131)


@pytest.mark.parametrize("version", VERSIONS)
def test_older_versions_have_integer_powers_as_powers_of_floats(version):
    @ct.kernel
    def k(a, n):
        ct.store(a, (0,), ct.load(a, (0,), (8,)) ** ct.load(n, (0,), (8,)))

    a, n = np.linspace(-2, 2, 8, dtype=np.float32), np.arange(-3, 5, dtype=np.int32)
    module = tileir.read(_core.tileir_of_ir(_core.lower_text(k._prepare(), (a, n)), None, version))
    assert ("fpowi" in str(module)) == (version == 134)
    wanted = a.astype(np.float64) ** n
    ct.launch(None, (1,), module.kernel(), (a, n))
    np.testing.assert_allclose(a, wanted, rtol=2e-7)


def test_what_tile_ir_lacks_is_named():
    @ct.kernel
    def k(a):
        ct.store(a, (0,), ct.erf(ct.load(a, (0,), (8,))))

    with pytest.raises(Exception, match="kernel 'k' cannot be written as Tile IR: erf"):
        _core.tileir_of_ir(_core.lower_text(k._prepare(), (np.zeros(8, np.float32),)), None, 133)


PLACES = """entry @k(%1: ptr<f32>) {
  %2 = load_ptr_tko %1 : f32 loc("/made/f.py":3:4-3:9 "helper" <- "/made/g.py":70:0-70:9 "k")
  %3 = addf %2, %2 : f32
  %4 = store_ptr_tko %1, %3 : token loc("/made/g.py":71:2-71:5 "k")
  return
}
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_places_of_the_source_are_written_and_read(version):
    data = _core.tileir_of_ir(PLACES, None, version)
    lines = str(tileir.read(data)).splitlines()
    assert [line.partition(" loc(")[2] for line in lines[2:-1]] == [
        '"/made/f.py":3:4)', "", '"/made/g.py":71:2)', ""
    ]  # fmt: skip
    assert _core.tileir_rewrite(data, version) == data


def test_broken_places_are_unknown_places():
    data = _core.tileir_of_ir(PLACES, None, 133)
    texts = set()
    for at in range(len(data)):
        try:
            file = tileir.read(changed(data, at, 127))
            _core.tileir_rewrite(_core.tileir_rewrite(changed(data, at, 127), 134), 133)
        except Exception:
            continue
        texts.add(str(file).count("loc("))
    assert 2 in texts and min(texts) < 2


@pytest.mark.skipif(not shutil.which("tileiras"), reason="needs NVIDIA's tileiras")
@pytest.mark.parametrize("version", VERSIONS)
def test_nvidias_assembler_takes_it(version, tmp_path):
    (tmp_path / "k.bc").write_bytes(_core.tileir_of_ir(_core.lower_text(many._prepare(), arguments()), None, version))
    command = ["tileiras", "--gpu-name", "sm_100", "-o", tmp_path / "k.cubin", tmp_path / "k.bc"]
    subprocess.run(command, check=True)
    assert (tmp_path / "k.cubin").read_bytes().startswith(b"\x7fELF")


# ---- broken ---------------------------------------------------------------------------------------


def changed(data, at, byte):
    return data[:at] + bytes([byte]) + data[at + 1 :]


@pytest.mark.parametrize(
    "data, text",
    [
        (b"", "byte 0"),
        (b"\x7fELF", "Tile IR bytecode begins with"),
        (changed(tileir_maker.scale(), 9, 9), "version 13.9.0 is not known"),
        (changed(tileir_maker.scale(), 8, 12), "version 12.1.0 is not known"),
        (tileir_maker.scale()[:60], "section 2 has"),
    ],
)
def test_what_is_no_file_is_an_error(data, text):
    with pytest.raises(ValueError, match=text):
        tileir.read(data)


def test_newer_operations_need_newer_versions():
    m = tileir_maker.Maker(131)
    tile = m.tile("f32")
    m.values = 1
    m.op(110, tile, 0, 0, results=1)
    m.op(92, 0, 0)
    with pytest.raises(ValueError, match="operation atan2 is newer than version 13.1"):
        tileir.read(m.file("k", [tile]))


def test_rules_name_the_operation():
    m = tileir_maker.Maker()
    tile = m.tile("f32")
    m.values = 1
    m.op(92, 0, 0)
    m.op(92, 0, 0)
    with pytest.raises(Exception, match="something follows the end of a region\n  return"):
        tileir.read(m.file("k", [tile]))


def test_a_type_that_does_not_fit_is_found_when_it_is_converted():
    m = tileir_maker.Maker()
    tile = m.tile("f32")
    m.values = 1
    m.op(3, tile, 0, 0, 0, results=1)  # addi of floats
    m.op(92, 0, 0)
    module = tileir.read(m.file("k", [tile]))
    with pytest.raises(Exception, match="addi"):
        module.ir()


def test_its_kernels_are_exported_by_the_command():
    with pytest.raises(TypeError, match="made with @ct.kernel, not <Tile IR kernel scale>; .* tileir FILE --to sm_90"):
        ct.compilation.export_kernel(
            tileir.read(tileir_maker.scale(131)).kernel(), [], "x", gpu_code="sm_90", output_format="ptx"
        )


def test_unknown_kernels_are_named():
    with pytest.raises(ValueError, match="no kernel 'scole'; did you mean 'scale'"):
        tileir.read(tileir_maker.scale()).ir("scole")


def mutants(data, n, seed):
    draw = random.Random(seed)
    for _ in range(n):
        broken = bytearray(data)
        for _ in range(draw.choice([1, 1, 2, 4])):
            at = draw.randrange(8, len(broken))
            kind = draw.randrange(4)
            if kind == 0:
                broken[at] = draw.randrange(256)
            elif kind == 1:
                broken[at] ^= 1 << draw.randrange(8)
            elif kind == 2:
                del broken[at : at + draw.randrange(1, 9)]
            else:
                broken[at:at] = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 5)))
        yield bytes(broken)


@pytest.mark.parametrize("version", VERSIONS)
def test_broken_files_are_errors_and_nothing_else(version):
    read = 0
    for data in mutants(tileir_maker.scale(version), 1500, version):
        try:
            module = tileir.read(data)
        except (ValueError, TypeError, ct.TileError):
            continue
        read += 1
        assert str(module)
        for use in (lambda: tileir.read(_core.tileir_rewrite(data, version)).kernels == module.kernels, module.ir):
            try:
                found = use()
            except (ValueError, TypeError, NotImplementedError, ct.TileError):
                continue
            assert found is not False  # a module without kernels is an empty text
    assert 50 < read < 1500


def test_the_command_prints_converts_and_runs(tmp_path):
    file = tmp_path / "scale.tileirbc"
    file.write_bytes(tileir_maker.scale(133))
    x = tmp_path / "x.npy"
    np.save(x, np.arange(16, dtype=np.float32))

    def command(*words):
        done = subprocess.run(
            [sys.executable, "-m", "tessera", "tileir", *words], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout, done.stderr

    assert command(str(file)) == (0, str(tileir.read(file)), "")
    assert command(str(file), "--to", "ir")[1].startswith("entry @scale(")
    assert ".entry scale(" in command(str(file), "--to", "sm_80")[1]
    out = tmp_path / "out.npy"
    code, _, problem = command(str(file), "--run", f"{x}", f"f32[16]={out}", "--grid", "2")
    assert (code, problem) == (0, "")
    assert np.array_equal(np.load(out), 3 * np.arange(16))
    assert command(str(file), "--to", "13.1", "--output", str(tmp_path / "old")) == (0, "", "")
    assert tileir.read(tmp_path / "old").version == "13.1"
    code, _, problem = command(str(tmp_path / "none"))
    assert code == 2 and "there is no file" in problem
    file.write_bytes(b"nothing")
    code, _, problem = command(str(file))
    assert code == 1 and "Tile IR bytecode begins with" in problem
