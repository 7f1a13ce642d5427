# SPDX-License-Identifier: Apache-2.0
"""The library's matrix product on the CPU: results of awkward shapes, and the tile picked for them; what a GPU would
be given."""

import functools

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from tessera.lib import _gemm_plan as planning
from tessera.lib import _gpu_array as arrays
from tessera.lib import gemm

SHAPES = [(1, 1, 1), (1, 100, 300), (17, 33, 65), (300, 10, 70), (257, 129, 40), (64, 500, 33)]


def matrix(rows: int, cols: int, dtype: str) -> np.ndarray:
    """Of any extents, without memory: to plan for, not to read."""
    x = np.zeros(1, dtype)
    return np.lib.stride_tricks.as_strided(x, (rows, cols), (cols * x.itemsize, x.itemsize))


def planned(
    m: int, n: int, k: int, dtype: str = "float16", flags: int = 0, machine: tuple[int, int] = (90, 132)
) -> planning.Plan:  # fmt: skip
    """The plan of a product on an H200, or another machine."""
    arrays = matrix(m, k, dtype), matrix(k, n, dtype), matrix(m, n, "float32")
    return planning.make_plan(gemm.KERNELS, *arrays, flags, machine=machine)


def blocks_of(plan: planning.Plan) -> int:
    """Thread blocks that a plan starts."""
    return plan.grid[0] * plan.grid[1] * max(1, plan.kernel._hints.get("num_ctas", 1))


def kernel_of(plan: planning.Plan) -> str:
    return str(plan.kernel.__name__).removesuffix("_kernel")


def random(rows: int, cols: int) -> np.ndarray:
    return np.random.default_rng(rows + cols).uniform(-1, 1, (rows, cols)).astype(np.float32)


@pytest.mark.parametrize("m, n, k", SHAPES)
def test_product_of_any_shape_equals_float64(m: int, n: int, k: int) -> None:
    a, b, found = random(m, k), random(k, n), np.full((m, n), np.nan, np.float32)
    gemm.gemm(a, b, found)
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(found - wanted).max() < 1e-6 * (k + 8)


def test_tiles_give_the_same_bits() -> None:
    a, b = random(100, 90), random(90, 70)
    found = [np.empty((100, 70), np.float32) for _ in range(3)]
    for c, tile in zip(found, [(256, 256, 256), (16, 64, 32), (4, 16, 64)], strict=True):
        gemm.gemm(a, b, c, tile=tile)
    assert all(np.array_equal(c.view(np.int32), found[0].view(np.int32)) for c in found)


def test_picked_tile_pads_little() -> None:
    for m, n, k in [(300, 300, 300), (16, 1024, 1024), (1024, 100, 1024), (777, 1333, 555)]:
        tile = planned(m, n, k, "float32", machine=(1, 2)).constants[:3]
        # what lies beyond the arrays is left out but for whole blocks of rows, vectors and steps
        steps = [min(t, least) for t, least in zip(tile, (4, 16, 4), strict=True)] if tile[1] > 64 else tile
        padded = np.prod([-(-extent // t) * t for extent, t in zip((m, n, k), steps, strict=True)])
        assert padded <= 1.4 * m * n * k, (m, n, k, tile)


def test_large_products_get_the_large_tile() -> None:
    plan = planned(1 << 16, 1 << 16, 1 << 16, "float32", machine=(1, 2))
    assert plan.constants[:3] == (256, 256, 256) and plan.grid == (1 << 16, 1, 1)


@pytest.mark.parametrize("pieces", [1, 2, 4])
def test_pieces_of_k_add_up(pieces: int) -> None:
    a, b, c = random(70, 200), random(200, 90), np.full((70, 90), np.nan, np.float32)
    parts = np.full((pieces, 96, 96), np.nan, np.float32)
    args = (a, b, parts, 32, 32, 32, pieces, False, False)
    ct.launch(None, (9, pieces, 1), gemm.split_gemm_kernel, args)
    ct.launch(None, (15, 1, 1), gemm.add_pieces_kernel, (parts, c, pieces, 16, 32))
    assert np.abs(c - a.astype(np.float64) @ b).max() < 1e-4


def test_integers_sum_in_int32() -> None:
    a = np.random.default_rng(1).integers(-128, 128, (33, 70), np.int8)
    b = np.random.default_rng(2).integers(-128, 128, (70, 40), np.int8)
    c = np.zeros((33, 40), np.int32)
    gemm.gemm(a, b, c)
    assert np.array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


def test_float64_is_summed_in_float64() -> None:
    rng = np.random.default_rng(3)
    a, b, c = (
        rng.uniform(-1, 1, (40, 300)),
        rng.uniform(-1, 1, (300, 50)),
        np.full((40, 50), np.nan),
    )
    gemm.gemm(a, b, c)
    assert np.abs(c - a @ b).max() < 1e-12


def test_tiles_without_wgmma_leave_no_multiprocessor_idle() -> None:
    assert planned(8192, 8192, 8192, "float32").constants[:3] == (128, 128, 16)
    assert planned(4096, 4096, 4096, "float64").constants[:3] == (128, 64, 16)
    small = planned(1024, 1024, 1024, "float32")
    assert small.constants[:3] == (64, 128, 16) and small.grid == (128, 1, 1)


def test_plans_fill_the_chip_where_they_can() -> None:
    large = planned(8192, 8192, 8192)
    assert large.constants[0] * large.constants[1] >= 1 << 14 and not large.swapped
    for n in (1408, 1536, 3072, 8192):
        assert blocks_of(planned(n, n, n)) >= 100
    assert 128 in planned(8192, 8192, 8192, "int8").constants[2:4]  # bytes of a step
    few = planned(16, 4096, 16384)
    assert few.swapped and few.constants[1] == 16 and blocks_of(few) >= 64


def test_lines_between_multiples_of_128_bytes_are_read_by_teams_or_copied() -> None:
    well, ragged = planned(8192, 8192, 8192), planned(7856, 8808, 3800)
    assert well.copies == (None, None)
    teams = ragged.kernel._hints.get("num_ctas", 0)
    assert kernel_of(ragged) in ("gemm", "wide_gemm") and (teams > 1 or any(ragged.copies))
    assert all(c is None or c[1][1] % 64 == 0 for c in ragged.copies)
    slim = planned(14752, 264, 11552)
    assert slim.kernel._hints.get("num_ctas", 0) > 1 or any(slim.copies)


def test_plans_without_clusters_are_those_of_kernels_without_them() -> None:
    for m, n in ((16, 4096), (128, 11008), (3072, 3072), (8192, 200)):
        assert kernel_of(planned(m, n, 4096, machine=(80, 108))) in ("gemm", "split_gemm")
        one = planned(m, n, 512, flags=planning.GELU)
        assert kernel_of(one) == "gelu_gemm" and one.plain


def test_kernels_start_early_where_their_blocks_find_room_or_data_stays_in_l2() -> None:
    assert planned(1408, 1408, 1408).launch and planned(8192, 8192, 8192).launch
    assert not planned(128, 11008, 4096).launch


@pytest.mark.parametrize("shape", [(512, 512, 16384), (256, 256, 16384), (512, 1024, 8192)])
def test_deep_products_are_cut_until_the_chip_is_busy(shape: tuple[int, int, int]) -> None:
    assert 64 <= blocks_of(planned(*shape)) <= 264
    for dtype, least in (("float32", 200), ("float64", 100)):
        found = planned(*shape, dtype)
        assert found.parts and found.parts[0] == found.grid[1]
        assert least <= found.grid[0] * found.grid[1] <= 1056
        assert shape[2] // found.grid[1] >= 8 * found.constants[2]


def test_products_with_enough_tiles_stay_whole() -> None:
    for dtype in ("float16", "float32", "float64"):
        assert planned(4096, 4096, 16384, dtype).parts is None
    assert planned(100, 100, 100, "float64").parts is None


def test_operands_that_tma_cannot_read_are_copied() -> None:
    a, b = np.zeros((3000, 4001), np.float16), np.zeros((4001, 3008), np.float16)
    c = np.zeros((3000, 3008), np.float16)
    plan = planning.make_plan(gemm.KERNELS, a, b, c, machine=(90, 132))
    assert plan.copies == ((1, (3000, 4032)), None) and not plan.plain
    plan = planning.make_plan(gemm.KERNELS, b.T, a.T, c.T, machine=(90, 132))
    assert plan.copies == (None, (0, (3000, 4032)))
    shifted = np.zeros(4001 * 3008 + 1, np.float16)[1:].reshape(4001, 3008)
    plan = planning.make_plan(gemm.KERNELS, a, shifted, c, machine=(90, 132))
    assert plan.copies[1] == (1, (4001, 3008))
    short = np.zeros((4001, 20), np.float16)
    plan = planning.make_plan(gemm.KERNELS, a, short, c[:, :20], machine=(90, 132))
    assert plan.copies[1] in (None, (1, (4001, 24)))  # lines of less than 512 bytes


def test_planning_refuses_what_is_not_a_product() -> None:
    a, b, c = random(4, 6), random(6, 7), random(4, 7)
    plan = functools.partial(planning.make_plan, gemm.KERNELS)
    with pytest.raises(ValueError, match=r"b has shape \(5, 7\), wanted \(6, 7\)"):
        plan(a, b[:5], c)
    with pytest.raises(TypeError, match="a is of int16"):
        plan(a.astype(np.int16), b.astype(np.int16), c)
    with pytest.raises(TypeError, match="a, b and c must be arrays|b is not an array"):
        plan(a, 3, c)
    with pytest.raises(ValueError, match="units are 0"):
        plan(a, b, c, machine=(90, 0))


def test_copies_pad_with_zeros() -> None:
    x, y = random(5, 77), np.full((5, 80), np.nan, np.float32)
    ct.launch(None, (1, 1, 1), arrays.copy_kernel, (x, y, 64, 128))
    assert np.array_equal(y[:, :77], x) and not y[:, 77:].any()


def test_batches_are_products_of_their_own() -> None:
    a, b = random(3 * 40, 50).reshape(3, 40, 50), random(3 * 50, 33).reshape(3, 50, 33)
    c = np.full((3, 40, 33), np.nan, np.float32)
    gemm.batched_gemm(a, b, c)
    assert np.abs(c - a.astype(np.float64) @ b).max() < 1e-4


def test_gelu_of_product_bias_and_residual() -> None:
    a, b, bias, residual = random(40, 50), random(50, 33), random(1, 33)[0], random(40, 33)
    c = np.full((40, 33), np.nan, np.float32)
    gemm.gelu_gemm(a, b, bias, residual, c)
    z = a.astype(np.float64) @ b + bias
    wanted = 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3))) + residual
    assert np.abs(c - wanted).max() < 2e-3


def test_plans_spare_copies_that_take_longer() -> None:
    assert planned(300, 40, 33).copies == (None, None)
    for shape in ((4096, 4096, 4097), (250, 680, 11873)):
        assert planned(*shape).copies[0] is not None


def test_results_with_columns_side_by_side_compile_for_hopper() -> None:
    a, b = np.zeros((256, 64), np.float16), np.zeros((64, 32), np.float16)
    c = np.zeros((32, 256), np.float16).T
    args = (a, b, c, 128, 32, 64, 8, False, False, 1)
    code = tessera._core.compile(gemm.gemm_kernel._prepare(), args, 90)
    assert b"wgmma" in code


def hopper(kernel: ct.kernel, *args: object) -> bytes:
    return bytes(tessera._core.compile(kernel._prepare(), args, 90))


def test_both_sides_of_the_pipeline_wait_for_the_kernel_before() -> None:
    a, b, c = (np.zeros((128, 128), np.float16) for _ in range(3))
    code = hopper(gemm.gemm_kernel, a, b, c, 128, 128, 64, 8, False, False, 1)
    assert b"wgmma" in code and code.count(b"griddepcontrol.wait") == 2
    producer = code.index(b"setmaxnreg.dec")
    assert producer < code.index(b"griddepcontrol.wait") < code.index(b"cp.async.bulk.tensor")


def test_rings_have_as_many_stages_as_fit() -> None:
    a, b, c = (np.zeros((128, 128), np.float16) for _ in range(3))
    code = hopper(gemm.slender_gemm_kernel, a, b, c, 128, 128, 64, 8, False, False)
    assert code.count(b"mbarrier.init") == 2 * 6  # of 32 KiB each


def test_two_blocks_of_twelve_warps_share_the_registers() -> None:
    a, b, c = (np.zeros((128, 128), np.float16) for _ in range(3))
    kernel = gemm.slender_gemm_kernel.replace_hints(occupancy=2)
    code = hopper(kernel, a, b, c, 128, 64, 64, 8, False, False)
    taken = int(code.split(b"setmaxnreg.inc.sync.aligned.u32 ")[1].split(b";")[0])
    given = int(code.split(b"setmaxnreg.dec.sync.aligned.u32 ")[1].split(b";")[0])
    assert 2 * 128 * (2 * taken + given) <= 65536


@ct.kernel
def waits_sometimes(a, b, c):
    if ct.bid(0) > 0:
        ct.grid_dependency_control_wait()
    x, y = ct.load(a, index=(0, 0), shape=(64, 64)), ct.load(b, index=(0, 0), shape=(64, 64))
    ct.store(c, index=(0, 0), tile=ct.astype(x @ y, c.dtype))


def test_waiting_inside_control_flow_keeps_loads_with_the_consumers() -> None:
    code = hopper(waits_sometimes, *(np.zeros((64, 64), np.float16) for _ in range(3)))
    assert b"cp.async.bulk.tensor" not in code and code.count(b"griddepcontrol.wait") == 1


@pytest.mark.parametrize("blocks, parts", [(1, 2), (3, 2), (4, 4), (5, 1), (7, 4)])
def test_tiles_left_over_are_made_in_parts(blocks: int, parts: int) -> None:
    a, b, c = random(70, 50), random(50, 90), np.full((70, 90), np.nan, np.float32)
    ct.launch(None, (blocks, 1, 1), gemm.gemm_kernel, (a, b, c, 16, 32, 16, 2, False, False, parts))
    assert np.abs(c - a.astype(np.float64) @ b).max() < 1e-4
    many = [np.stack([x, 2 * x]) for x in (a, b, c)]
    args = (*many, 16, 32, 16, 2, False, False, parts)
    ct.launch(None, (blocks, 1, 1), gemm.batched_gemm_kernel, args)
    assert np.abs(many[2] - many[0].astype(np.float64) @ many[1]).max() < 1e-3


def test_loops_over_whole_tiles_and_parts_share_their_pipeline() -> None:
    a, b, c = (np.zeros((256, 256), np.float16) for _ in range(3))
    code = hopper(gemm.gemm_kernel, a, b, c, 128, 128, 64, 8, False, False, 2)
    assert code.count(b"mbarrier.init") == 12 and code.count(b"\nbar.arrive") == 2


def test_looks_tell_apart_what_plans_depend_on() -> None:
    look, x = functools.partial(tessera._core.look, b""), np.zeros((4, 6), np.float32)
    memory = np.zeros(100, np.float32)
    first = -(memory.ctypes.data // 4) % 4
    at = lambda i: memory[first + i : first + i + 24].reshape(4, 6)
    assert look(at(0), x) == look(at(0) + 1, x) or x.ctypes.data % 16
    assert look(at(0)) == look(at(4)) != look(at(1))
    assert len({look(y) for y in (at(0), at(0)[:, :5], at(0)[:3], at(0).view(np.int32))}) == 4
    assert look(x) != look(np.zeros((6, 4), np.float32).T)
    assert look(x, [1]) is None and look(3) is None and look(object()) is None


def test_shapes_are_refused_however_often_they_come() -> None:
    a, b, c = random(4, 6), random(5, 7), random(4, 7)
    for _ in range(2):
        with pytest.raises(ValueError, match="gemm: b has shape"):
            gemm.gemm(a, b, c)
        with pytest.raises(ValueError, match="gelu_gemm: b has shape"):
            gemm.gelu_gemm(a, b, c[0], c, c)
    with pytest.raises(TypeError, match="gemm: a is a int"):
        gemm.gemm(3, b, c)


def test_slender_products_read_the_large_operand_once() -> None:
    for m, n, k in ((17, 4096, 11008), (100, 8192, 8192), (8192, 64, 8192), (60, 11008, 4096)):
        plan = planned(m, n, k)
        rows, cols, more = plan.constants[:3]
        few = rows if (m < n) != plan.swapped else cols + more * (kernel_of(plan) == "wide_gemm")
        assert few >= min(m, n), (m, n, k, plan)


@pytest.mark.parametrize("shape", [(70, 90, 50), (17, 48, 33), (100, 200, 20), (5, 7, 9)])
def test_tiles_of_other_widths_are_those_of_float64(shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    a, b, c = random(m, k), random(k, n), np.full((m, n), np.nan, np.float32)
    ct.launch(None, (3, 1, 1), gemm.wide_gemm_kernel, (a, b, c, 16, 32, 16, 16, 2, False, False))
    assert np.abs(c - a.astype(np.float64) @ b).max() < 1e-4


def test_tiles_of_other_widths_are_one_product_of_one_loop() -> None:
    a, b, c = (np.zeros((256, 384), np.float16) for _ in range(3))
    code = hopper(gemm.wide_gemm_kernel, a, b, c, 128, 128, 64, 64, 8, False, False)
    assert code.count(b"wgmma.mma_async") == 4 and code.count(b"mbarrier.init") == 2 * 4


@pytest.mark.parametrize("m", [1, 17, 100])
def test_slender_products_are_those_of_float64(m: int) -> None:
    a, b, c = random(m, 200), random(200, 90), np.full((m, 90), np.nan, np.float32)
    args = (a, b, c, 64, 32, 32, 8, False, False)
    kernel = gemm.slender_gemm_kernel.replace_hints(num_ctas=2)
    ct.launch(None, (ct.cdiv(m, 64) * 3, 1, 1), kernel, args)
    assert np.abs(c - a.astype(np.float64) @ b).max() < 1e-4


@pytest.mark.parametrize("tile", [(256, 256), (256, 128), (128, 128), (256, 128, 64), (128, 128, 64)])
def test_blocks_of_a_pair_bring_each_other_what_both_read(tile: tuple[int, ...]) -> None:
    a, b, c = (np.zeros((512, 512), np.float16) for _ in range(3))
    wide = len(tile) == 3
    paired = (gemm.wide_gemm_kernel if wide else gemm.gemm_kernel).replace_hints(num_ctas=2)
    code = hopper(paired, a, b.T, c, *tile, 64, 8, False, False, *(() if wide else (1,)))
    assert b".reqnctapercluster 2, 1, 1" in code and b"%clusterid.x" in code
    assert code.count(b".multicast::cluster") == (2 if wide and tile[0] == 256 else 1)
    assert code.count(b"mapa") == code.count(b"mbarrier.arrive.shared::cluster") == 2


@pytest.mark.parametrize("tile", [(512, 128), (128, 256), (512, 256, 32), (256, 64, 32)])
def test_four_blocks_bring_a_quarter_each(tile: tuple[int, ...]) -> None:
    a, b, c = (np.zeros((512, 512), np.float16) for _ in range(3))
    wide = len(tile) == 3
    kernel = (gemm.wide_gemm_kernel if wide else gemm.gemm_kernel).replace_hints(num_ctas=4)
    code = hopper(kernel, a, b.T, c, *tile, 64, 8, False, False, *(() if wide else (1,)))
    assert b".reqnctapercluster 4, 1, 1" in code
    assert code.count(b".multicast::cluster") == (2 if wide else 1)
    assert code.count(b"mapa") == 2  # one ring for all operands of a step


def test_pairs_need_arrays_that_tma_reads_and_halves_that_wgmma_takes() -> None:
    a, b, c = (np.zeros((333, 333), np.float16) for _ in range(3))
    paired = gemm.gemm_kernel.replace_hints(num_ctas=2)
    code = hopper(paired, a, b, c, 256, 128, 64, 8, False, False, 1)  # without TMA: halves, nothing shared
    assert b".reqnctapercluster 2, 1, 1" in code and b"multicast" not in code
    a, b, c = (np.zeros((512, 512), np.float16) for _ in range(3))
    code = hopper(paired, a, b, c, 64, 32, 64, 8, False, False, 1)
    assert b"reqnctapercluster" not in code


def test_one_row_travels_by_tma_and_a_cluster_shares_the_steps() -> None:
    a, b, c = np.zeros((1, 512), np.float16), np.zeros((512, 64), np.float16), np.zeros((1, 64))
    c = c.astype(np.float16)
    kernel = gemm.slender_gemm_kernel.replace_hints(num_ctas=2)
    code = hopper(kernel, b.T, a.T, c.T, 64, 16, 64, 8, False, False)
    assert b"wgmma" in code and b".reqnctapercluster 2, 1, 1" in code
    assert b"ld.shared::cluster" in code and code.count(b"cp.async.bulk.tensor.2d.shared") == 2
