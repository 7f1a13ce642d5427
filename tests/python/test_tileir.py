# SPDX-License-Identifier: Apache-2.0
"""Tile IR bytecode: read, checked, printed, converted and run."""

import random
import re
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


def changed(data, at, byte):
    return data[:at] + bytes([byte]) + data[at + 1 :]


@pytest.mark.parametrize(
    "data, text",
    [
        (b"", "byte 0"),
        (b"\x7fELF", "this is no Tile IR bytecode"),
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
            assert str(module)
            read += 1
            assert module.ir()
        except Exception as error:
            assert type(error).__module__.startswith(("builtins", "tessera")), error
    assert read > 50


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
    code, _, problem = command(str(tmp_path / "none"))
    assert code == 2 and "there is no file" in problem
    file.write_bytes(b"nothing")
    code, _, problem = command(str(file))
    assert code == 1 and "this is no Tile IR bytecode" in problem
