# SPDX-License-Identifier: Apache-2.0
"""The reader of PTX that the random programs use (tests/fuzz/tiles/ptx), on texts written by hand."""

import fractions
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fuzz"))

from tiles import ptx  # noqa: E402
from tiles.ptx import compute  # noqa: E402

HEAD = """
.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(
    .param .b64 p0)
.reqntid {threads}, 1, 1
{{
.reg .pred %p<4>;
.reg .b16 %h<4>;
.reg .b32 %r<10>;
.reg .b64 %rd<4>;
.reg .f32 %f<4>;
ld.param.b64 %rd1, [p0];
mov.u32 %r1, %tid.x;
mad.lo.s64 %rd3, %rd2, 1, %rd1;
mul.wide.s32 %rd2, %r1, 4;
add.s64 %rd1, %rd1, %rd2;
"""


def ran(body, threads=64, n=64, grid=(1, 1, 1), schedule=0):
    """An array after each thread ran the lines; %rd1 is the address of its element, %r1 its number."""
    memory = ptx.Memory(ptx.Memory.room([n * 4]))
    a = memory.place(np.arange(n, dtype=np.int32))
    entry = ptx.parsed(HEAD.format(threads=threads) + body + "\nret;\n}\n")
    ptx.run(entry, ptx.Launch(grid, {"p0": a.ctypes.data}, 1024, schedule), memory)
    return a


def test_threads_that_part_meet_again():
    body = """and.b32 %r2, %r1, 3;
mov.b32 %r3, 0;
L1:
add.s32 %r3, %r3, 10;
sub.s32 %r2, %r2, 1;
setp.ge.s32 %p1, %r2, 0;
@%p1 bra L1;
shfl.sync.bfly.b32 %r4, %r3, 1, 31, 0xffffffff;
st.global.b32 [%rd1+0], %r4;"""
    lane = np.arange(64) ^ 1
    assert (ran(body) == 10 * (lane % 4 + 1)).all()


def test_lop3_reads_its_table_by_the_bits_of_three_operands():
    tables = {"0xF0": lambda a, b: a, "0x0C": lambda a, b: ~a & b, "0x3F": lambda a, b: ~(a & b), "0xC3": lambda a,
        b: ~(a ^ b)}
    a = np.arange(64, dtype=np.int32)
    for table, wanted in tables.items():
        got = ran(f"lop3.b32 %r2, %r1, 21, 0, {table};\nst.global.b32 [%rd1+0], %r2;")
        assert (got == wanted(a, 21)).all(), table
    got = ran("lop3.b32 %r2, %r1, 21, 6, 0xE8;\nst.global.b32 [%rd1+0], %r2;")
    assert (got == (a & 21 | a & 6 | 21 & 6)).all()


def test_the_second_result_of_a_comparison_is_the_opposite():
    body = """cvt.rn.f32.s32 %f1, %r1;
sub.rn.f32 %f2, %f1, 0f40400000;
setp.eq.s32 %p2, %r1, 7;
selp.f32 %f1, 0f7FC00000, %f2, %p2;
setp.ltu.f32 _|%p1, %f1, 0f00000000;
selp.b32 %r2, 1, 0, %p1;
st.global.b32 [%rd1+0], %r2;"""
    at = np.arange(64)
    assert (ran(body) == ((at >= 3) & (at != 7))).all()


EXCHANGE = """shl.b32 %r2, %r1, 2;
mov.u32 %r3, smem+16;
add.s32 %r3, %r3, %r2;
st.shared.b32 [%r3+0], %r1;
bar.sync 0;
xor.b32 %r2, %r2, 128;
mov.u32 %r3, smem+16;
add.s32 %r3, %r3, %r2;
ld.shared.b32 %r4, [%r3+0];
st.global.b32 [%rd1+0], %r4;"""


@pytest.mark.parametrize("schedule", [0, 1, 2, 3])
def test_a_barrier_orders_shared_memory(schedule):
    assert (ran(EXCHANGE, schedule=schedule) == (np.arange(64) ^ 32)).all()
    free = ran(EXCHANGE.replace("bar.sync 0;\n", ""), schedule=schedule)
    assert (free == (np.arange(64) ^ 32)).all() == (schedule == 0)


def test_each_block_has_its_own_shared_memory():
    body = """mov.u32 %r5, %ctaid.x;
st.shared.b32 [smem+0], %r5;
bar.sync 0;
ld.shared.b32 %r6, [smem+0];
atom.relaxed.gpu.global.add.u32 %r7, [%rd1+0], %r6;"""
    assert (ran(body, threads=32, n=32, grid=(3, 2, 1)) == np.arange(32) + 2 * (0 + 1 + 2)).all()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("st.global.b32 [%rd1+256], %r1;", "no aligned part of an array, thread 0"),
        ("st.global.b32 [%rd1+2], %r1;", "no aligned part of an array"),
        ("st.shared.b32 [smem+1024], %r1;", "no aligned part of an array"),
        ("setp.lt.s32 %p1, %r1, 32;\n@%p1 bra E1;\nbar.sync 0;\nE1:", "no thread can go on"),
        ("L1:\nbra L1;", "more than 400000 instructions"),
        ("add.s32 %r2, %h1, 1;", "a register of uint16 where int32 is wanted"),
        ("add.s32 %r20, %r1, 1;", "register %r20 is not declared"),
        ("trap;", "a trap is met"),
    ],
)
def test_what_no_kernel_may_do_is_found(body, said):
    with pytest.raises(ptx.Fault, match=said):
        ran(body)


@pytest.mark.parametrize("line", ["wgmma.fence.sync.aligned;", "add.sat.s32 %r2, %r1, 1;"])
def test_an_unknown_instruction_is_named(line):
    with pytest.raises(ptx.Unread, match=line.split(";")[0].split()[0]):
        ran(line)


def nearest(exact, dtype):
    """The one of three neighbours that is nearest to a fraction, the even one of two."""
    guess = np.array(float(exact)).astype(dtype)
    near = [np.nextafter(guess, dtype(-np.inf)), guess, np.nextafter(guess, dtype(np.inf))]
    word = np.dtype(f"u{guess.itemsize}")
    return min(near, key=lambda x: (abs(fractions.Fraction(float(x)) - exact), x.view(word) & 1))


@pytest.mark.parametrize("name", ["f16", "f32", "bf16"])
def test_products_with_a_sum_round_once(name):
    dtype, rng = compute.TYPES[name].type, np.random.default_rng(7)
    scale = 2.0 ** rng.integers(-6, 7, (3, 500))
    a, b, c = ((rng.standard_normal((3, 500)) + 1) * scale).astype(dtype)
    c[:200] = -(a[:200].astype(np.float64) * b[:200].astype(np.float64)).astype(dtype)
    got = compute.rule(("fma", "rn", name)).fn(a, b, c)
    for x, y, z, r in zip(a, b, c, got, strict=True):
        exact = fractions.Fraction(float(x)) * fractions.Fraction(float(y))
        assert r == nearest(exact + fractions.Fraction(float(z)), dtype)
