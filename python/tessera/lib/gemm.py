# SPDX-License-Identifier: Apache-2.0
"""Matrix product. Blocks walk the output in groups of rows, so that a group's operands stay in L2. Which kernel takes
which product: _gemm_plan.py."""

from __future__ import annotations

from typing import Any

import tessera.tile as ct
from tessera import _core

from . import _check as check
from . import _gpu_array as arrays
from ._gemm_plan import EARLY, GELU, PRECISE, TF32, Plan, known_plan, make_plan, remember
from ._rules import RULES, accept

ADDED = _core.GEMM_ADD_ROWS, _core.GEMM_ADD_COLUMNS  # tile of the kernel that adds pieces
look, launch = _core.look, _core.launch
GEMM_RULE, BATCHED_RULE, GELU_RULE = (
    RULES[name].pairs for name in ("gemm", "batched_gemm", "gelu_gemm")
)


@ct.function
def accumulator(dtype):
    """What products of this dtype are summed in."""
    return ct.int32 if dtype == ct.int8 else ct.float64 if dtype == ct.float64 else ct.float32


@ct.function
def multiply(x, y, acc, tf32, fast):
    if tf32:
        return ct.mma(ct.astype(x, ct.tfloat32), ct.astype(y, ct.tfloat32), acc)
    return ct.mma(x, y, acc, use_fast_acc=fast)


@ct.function
def begin():
    """Of every kernel here: it may start while the kernel before it ends, and lets the next one do so."""
    ct.grid_dependency_control_wait()
    ct.grid_dependency_control_launch_dependents()


@ct.function
def place(tile, rows, cols, GROUP):
    """Row and column of a tile: GROUP rows at a time, column by column. There is a tile, so no divisor is below 1."""
    group = tile // max(GROUP * cols, 1)
    first = group * GROUP
    height = max(min(rows - first, GROUP), 1)
    rest = tile - group * GROUP * cols
    return first + rest % height, rest // height


@ct.function
def whole_waves(tiles, PARTS):
    """Of a launch's tiles those that all blocks make equally many of; the rest are made in PARTS parts each."""
    return tiles if PARTS == 1 else tiles - tiles % ct.num_blocks(0)


@ct.function
def product(a, b, m, n, TM, TN, TK, TF32, FAST):
    """Tile (m, n) of a @ b."""
    acc = ct.zeros((TM, TN), dtype=accumulator(a.dtype))
    for k in range(ct.cdiv(a.shape[1], TK)):
        x = ct.load(a, index=(m, k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(k, n), shape=(TK, TN), padding_mode=ct.PaddingMode.ZERO)
        acc = multiply(x, y, acc, TF32, FAST)
    return acc


@ct.kernel
def gemm_kernel(
    a, b, c,
    TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int], GROUP: ct.Constant[int],
    TF32: ct.Constant[bool], FAST: ct.Constant[bool], PARTS: ct.Constant[int],
):  # fmt: skip
    """Each block makes every num_blocks-th tile, so that one tile's store runs beside the next one's loads; then what
    is left over, in parts of TN / PARTS columns."""
    begin()
    rows, cols = ct.cdiv(c.shape[0], TM), ct.cdiv(c.shape[1], TN)
    whole = whole_waves(rows * cols, PARTS)
    parts = (rows * cols - whole) * PARTS
    for tile in range(ct.bid(0), whole, ct.num_blocks(0)):
        m, n = place(tile, rows, cols, GROUP)
        acc = product(a, b, m, n, TM, TN, TK, TF32, FAST)
        ct.store(c, index=(m, n), tile=ct.astype(acc, c.dtype))
    if PARTS > 1:
        for part in range(ct.bid(0), parts, ct.num_blocks(0)):
            m, n = place(whole + part // PARTS, rows, cols, GROUP)
            n = n * PARTS + part % PARTS
            acc = product(a, b, m, n, TM, TN // PARTS, TK, TF32, FAST)
            ct.store(c, index=(m, n), tile=ct.astype(acc, c.dtype))


@ct.kernel
def slender_gemm_kernel(
    a, b, c,
    TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int], GROUP: ct.Constant[int],
    TF32: ct.Constant[bool], FAST: ct.Constant[bool],
):  # fmt: skip
    """One tile for each block; with num_ctas the blocks of a cluster share its steps along K."""
    m, n = place(ct.bid(0), ct.cdiv(c.shape[0], TM), ct.cdiv(c.shape[1], TN), GROUP)
    begin()
    acc = ct.zeros((TM, TN), dtype=accumulator(a.dtype))
    for k in range(ct.cdiv(a.shape[1], TK)):
        x = ct.load(a, index=(m, k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(k, n), shape=(TK, TN), padding_mode=ct.PaddingMode.ZERO)
        acc = multiply(x, y, acc, TF32, FAST)
    ct.store(c, index=(m, n), tile=ct.astype(acc, c.dtype))


@ct.function
def further(MORE):
    """The two powers of two that add up to MORE, the greater one first; of a power of two itself, twice."""
    last = MORE & -MORE
    return MORE - last if MORE > last else MORE, last


@ct.function
def side_by_side(a, b, m, n, next, last, first_step, end, TM, TN, MORE, TK, TF32, FAST):
    """Tiles (m, n), (m, next) and (m, last) of a @ b, of TN columns and those of further(MORE), over the given steps
    of K: two or three products that share what they read of a."""
    NEXT, LAST = further(MORE)
    acc = ct.zeros((TM, TN), dtype=accumulator(a.dtype))
    more = ct.zeros((TM, NEXT), dtype=accumulator(a.dtype))
    rest = ct.zeros((TM, LAST), dtype=accumulator(a.dtype))
    for k in range(first_step, end):
        x = ct.load(a, index=(m, k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(k, n), shape=(TK, TN), padding_mode=ct.PaddingMode.ZERO)
        z = ct.load(b, index=(k, next), shape=(TK, NEXT), padding_mode=ct.PaddingMode.ZERO)
        acc = multiply(x, y, acc, TF32, FAST)
        more = multiply(x, z, more, TF32, FAST)
        if MORE > LAST:
            w = ct.load(b, index=(k, last), shape=(TK, LAST), padding_mode=ct.PaddingMode.ZERO)
            rest = multiply(x, w, rest, TF32, FAST)
    return acc, more, rest


@ct.kernel
def wide_gemm_kernel(
    a, b, c,
    TM: ct.Constant[int], TN: ct.Constant[int], MORE: ct.Constant[int], TK: ct.Constant[int],
    GROUP: ct.Constant[int], TF32: ct.Constant[bool], FAST: ct.Constant[bool],
):  # fmt: skip
    """gemm_kernel for tiles of TN + MORE columns, two products that share what they read of a: the first columns of c
    in tiles of TN, the others in as many of MORE. Three, where MORE is the sum of two powers of two: the last columns
    in tiles of the lesser one."""
    begin()
    NEXT, LAST = further(MORE)
    rows, cols = ct.cdiv(c.shape[0], TM), ct.cdiv(c.shape[1], TN + MORE)
    steps = ct.cdiv(a.shape[1], TK)
    for tile in range(ct.bid(0), rows * cols, ct.num_blocks(0)):
        m, n = place(tile, rows, cols, GROUP)
        next, last = n + cols * (TN // NEXT), n + cols * ((TN + NEXT) // LAST)
        acc, more, rest = side_by_side(a, b, m, n, next, last, 0, steps, TM, TN, MORE, TK, TF32, FAST)
        ct.store(c, index=(m, n), tile=ct.astype(acc, c.dtype))
        ct.store(c, index=(m, next), tile=ct.astype(more, c.dtype))
        if MORE > LAST:
            ct.store(c, index=(m, last), tile=ct.astype(rest, c.dtype))


@ct.kernel
def column_gemm_kernel(
    a, b, c,
    TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int], GROUP: ct.Constant[int],
    TF32: ct.Constant[bool], FAST: ct.Constant[bool],
):  # fmt: skip
    """For the CPU, c of one column: TM rows of a, each times b."""
    begin()
    acc = ct.zeros((TM,), dtype=accumulator(a.dtype))
    for k in range(ct.cdiv(a.shape[1], TK)):
        x = ct.load(a, index=(ct.bid(0), k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(k, 0), shape=(TK, 1), padding_mode=ct.PaddingMode.ZERO)
        y = ct.reshape(ct.astype(y, acc.dtype), (1, TK))
        acc = acc + ct.sum(ct.astype(x, acc.dtype) * y, axis=1)
    ct.store(c, index=(ct.bid(0), 0), tile=ct.reshape(ct.astype(acc, c.dtype), (TM, 1)))


@ct.function
def piece_of(a, b, parts, TM, TN, TK, PIECES, TF32, FAST):
    """Makes a block's tile of the sums over one piece of K."""
    m, n = place(ct.bid(0), ct.cdiv(a.shape[0], TM), ct.cdiv(b.shape[1], TN), 4)
    piece = ct.bid(1)
    steps = ct.cdiv(a.shape[1], TK)
    each = ct.cdiv(steps, PIECES)
    acc = ct.zeros((TM, TN), dtype=accumulator(a.dtype))
    for k in range(piece * each, min(steps, (piece + 1) * each)):
        x = ct.load(a, index=(m, k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(k, n), shape=(TK, TN), padding_mode=ct.PaddingMode.ZERO)
        acc = multiply(x, y, acc, TF32, FAST)
    ct.store(parts, index=(piece, m, n), tile=ct.reshape(acc, (1, TM, TN)))


@ct.kernel
def split_gemm_kernel(
    a, b, parts,
    TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int], PIECES: ct.Constant[int],
    TF32: ct.Constant[bool], FAST: ct.Constant[bool],
):  # fmt: skip
    """Each block makes a tile of the sums over one piece of K. Blocks side by side make squares of tiles: what they
    read at a time comes from L2 once for all of them."""
    begin()
    piece_of(a, b, parts, TM, TN, TK, PIECES, TF32, FAST)


@ct.kernel
def wide_split_gemm_kernel(
    a, b, parts,
    TM: ct.Constant[int], TN: ct.Constant[int], MORE: ct.Constant[int], TK: ct.Constant[int],
    PIECES: ct.Constant[int], TF32: ct.Constant[bool], FAST: ct.Constant[bool],
):  # fmt: skip
    """split_gemm_kernel for the tiles of wide_gemm_kernel."""
    begin()
    NEXT, LAST = further(MORE)
    cols = ct.cdiv(b.shape[1], TN + MORE)
    m, n = place(ct.bid(0), ct.cdiv(a.shape[0], TM), cols, 4)
    next, last = n + cols * (TN // NEXT), n + cols * ((TN + NEXT) // LAST)
    piece = ct.bid(1)
    steps = ct.cdiv(a.shape[1], TK)
    each = ct.cdiv(steps, PIECES)
    from_, to = piece * each, min(steps, (piece + 1) * each)
    acc, more, rest = side_by_side(a, b, m, n, next, last, from_, to, TM, TN, MORE, TK, TF32, FAST)
    ct.store(parts, index=(piece, m, n), tile=ct.reshape(acc, (1, TM, TN)))
    ct.store(parts, index=(piece, m, next), tile=ct.reshape(more, (1, TM, NEXT)))
    if MORE > LAST:
        ct.store(parts, index=(piece, m, last), tile=ct.reshape(rest, (1, TM, LAST)))


@ct.kernel
def raw_gemm_kernel(
    a, b, c,
    TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int], GROUP: ct.Constant[int],
    A_STEP: ct.Constant[int], B_STEP: ct.Constant[int],
):  # fmt: skip
    """One tile for each block, of operands whose lines are no multiples of 16 bytes, but of A_STEP and B_STEP elements
    long: they are read as they lie, so many at a time."""
    begin()
    a, b = ct.assume_divisible_by(a, A_STEP), ct.assume_divisible_by(b, B_STEP)
    m, n = place(ct.bid(0), ct.cdiv(c.shape[0], TM), ct.cdiv(c.shape[1], TN), GROUP)
    acc = product(a, b, m, n, TM, TN, TK, False, False)
    ct.store(c, index=(m, n), tile=ct.astype(acc, c.dtype))


@ct.kernel
def raw_split_gemm_kernel(
    a, b, parts,
    TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int], PIECES: ct.Constant[int],
    A_STEP: ct.Constant[int], B_STEP: ct.Constant[int],
):  # fmt: skip
    """split_gemm_kernel of such operands."""
    begin()
    a, b = ct.assume_divisible_by(a, A_STEP), ct.assume_divisible_by(b, B_STEP)
    piece_of(a, b, parts, TM, TN, TK, PIECES, False, False)


@ct.function
def part_of(parts, piece, m, n, TM, TN):
    return ct.reshape(ct.load(parts, index=(piece, m, n), shape=(1, TM, TN)), (TM, TN))


@ct.kernel
def add_pieces_kernel(
    parts, c, PIECES: ct.Constant[int], TM: ct.Constant[int], TN: ct.Constant[int]
):
    """c = the sums over all pieces of K, added in their order."""
    begin()
    cols = ct.cdiv(c.shape[1], TN)
    m, n = ct.bid(0) // cols, ct.bid(0) % cols
    total = part_of(parts, 0, m, n, TM, TN)
    for piece in ct.static_iter(range(1, PIECES)):
        total = total + part_of(parts, piece, m, n, TM, TN)
    ct.store(c, index=(m, n), tile=ct.astype(total, c.dtype))


@ct.function
def batched_tile(a, b, c, i, m, n, TM, TN, TK, TF32, FAST):
    """Makes tile (i, m, n) of c."""
    acc = ct.zeros((TM, TN), dtype=accumulator(a.dtype))
    for k in range(ct.cdiv(a.shape[2], TK)):
        x = ct.load(a, index=(i, m, k), shape=(1, TM, TK), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(i, k, n), shape=(1, TK, TN), padding_mode=ct.PaddingMode.ZERO)
        x, y = ct.reshape(x, (TM, TK)), ct.reshape(y, (TK, TN))
        acc = multiply(x, y, acc, TF32, FAST)
    ct.store(c, index=(i, m, n), tile=ct.reshape(ct.astype(acc, c.dtype), (1, TM, TN)))


@ct.kernel
def batched_gemm_kernel(
    a, b, c,
    TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int], GROUP: ct.Constant[int],
    TF32: ct.Constant[bool], FAST: ct.Constant[bool], PARTS: ct.Constant[int],
):  # fmt: skip
    """gemm_kernel for three-dimensional arrays, one product after the other."""
    begin()
    rows, cols = ct.cdiv(c.shape[1], TM), ct.cdiv(c.shape[2], TN)
    tiles = c.shape[0] * rows * cols
    whole = whole_waves(tiles, PARTS)
    parts = (tiles - whole) * PARTS
    for tile in range(ct.bid(0), whole, ct.num_blocks(0)):
        i = tile // max(rows * cols, 1)
        m, n = place(tile - i * rows * cols, rows, cols, GROUP)
        batched_tile(a, b, c, i, m, n, TM, TN, TK, TF32, FAST)
    if PARTS > 1:
        for part in range(ct.bid(0), parts, ct.num_blocks(0)):
            tile = whole + part // PARTS
            i = tile // max(rows * cols, 1)
            m, n = place(tile - i * rows * cols, rows, cols, GROUP)
            batched_tile(a, b, c, i, m, n * PARTS + part % PARTS, TM, TN // PARTS, TK, TF32, FAST)


@ct.function
def gelu_tile(a, b, bias, residual, c, m, n, TM, TN, TK):
    """Makes tile (m, n) of c: what follows the product is done on its sums, while they are in registers."""
    z = product(a, b, m, n, TM, TN, TK, False, False)
    row = ct.load(bias, index=(n,), shape=(TN,), padding_mode=ct.PaddingMode.ZERO)
    z = z + ct.astype(ct.expand_dims(row, 0), ct.float32)
    u = z * (0.7978845608028654 + 0.035677408136300125 * z * z)
    z = 0.5 * z * (1.0 + ct.tanh(u, rounding_mode=ct.RoundingMode.APPROX))
    r = ct.load(residual, index=(m, n), shape=(TM, TN), padding_mode=ct.PaddingMode.ZERO)
    ct.store(c, index=(m, n), tile=ct.astype(z + ct.astype(r, ct.float32), c.dtype))


@ct.kernel
def gelu_gemm_kernel(
    a, b, bias, residual, c,
    TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int], GROUP: ct.Constant[int],
    PARTS: ct.Constant[int],
):  # fmt: skip
    """gemm_kernel with bias, GELU and residual."""
    begin()
    rows, cols = ct.cdiv(c.shape[0], TM), ct.cdiv(c.shape[1], TN)
    whole = whole_waves(rows * cols, PARTS)
    parts = (rows * cols - whole) * PARTS
    for tile in range(ct.bid(0), whole, ct.num_blocks(0)):
        m, n = place(tile, rows, cols, GROUP)
        gelu_tile(a, b, bias, residual, c, m, n, TM, TN, TK)
    if PARTS > 1:
        for part in range(ct.bid(0), parts, ct.num_blocks(0)):
            m, n = place(whole + part // PARTS, rows, cols, GROUP)
            gelu_tile(a, b, bias, residual, c, m, n * PARTS + part % PARTS, TM, TN // PARTS, TK)


KERNELS = {
    "gemm": gemm_kernel,
    "slender_gemm": slender_gemm_kernel,
    "wide_gemm": wide_gemm_kernel,
    "column_gemm": column_gemm_kernel,
    "split_gemm": split_gemm_kernel,
    "wide_split_gemm": wide_split_gemm_kernel,
    "raw_gemm": raw_gemm_kernel,
    "raw_split_gemm": raw_split_gemm_kernel,
    "batched_gemm": batched_gemm_kernel,
    "gelu_gemm": gelu_gemm_kernel,
}


def gemm(
    a: Any, b: Any, c: Any,
    stream: Any = None, tile: tuple[int, int, int] | None = None, group: int = 8,
    *, tf32: bool = False, fast: bool = True,
) -> None:  # fmt: skip
    """``c = a @ b`` for a (M, K), b (K, N), c (M, N), each of any strides (``x.T`` costs nothing).

    Parameters
    ----------
    a, b, c : array
        ``a`` and ``b`` of one dtype: int8, float8 or a wider float. Sums are float32 (float64 of float64, int32 of
        int8); ``c`` holds them, rounded if it is of floats. On a GPU 8-bit operands and tf32 run fastest when K has
        unit stride in both.
    stream : stream, optional
    tile : (int, int, int), optional
        Rows, columns and depth of a tile; picked by shape when not given.
    group : int
        Rows of tiles whose operands shall stay in L2, with ``tile``.
    tf32 : bool
        Round float32 operands to tf32, for the tensor cores.
    fast : bool
        Sum float8 products on a GPU as its tensor cores do: 14 bits next to the largest.

    Raises
    ------
    ValueError
        When shapes do not fit, or ``c`` shares memory with ``a`` or ``b``.
    TypeError
        For other dtypes; for a ``c`` that does not hold the sums, such as int8 for those of int8.

    Notes
    -----
    On a GPU operands whose rows are not aligned to 16 bytes are copied first, where reading them as they lie takes
    longer, and others whose rows do not begin at multiples of 128 bytes where that pays; a product with few tiles is
    cut along K. The result does not depend on the order in which blocks run.
    """
    if tile is not None:
        tile = check.tile("gemm", "tile", tile, 3)
    key = look(GEMM_RULE, a, b, c), tile, group, tf32, fast
    plan = known_plan(key)
    if plan is None:  # arrays that look like those of an earlier call have been checked
        check.product("gemm", 2, a, b, c)
        check.integer("gemm", "group", group, 1, 1 << 20)
        accept("gemm", a, b, c)
        flags = TF32 * bool(tf32) | PRECISE * (not fast)
        plan = make_plan(KERNELS, a, b, c, flags, tile, group)
        remember(key, plan)
    if plan.plain:
        launch(stream, plan.grid, plan.kernel, (a, b, c, *plan.constants), **plan.launch)
    else:
        _run(plan, a, b, c, stream)


def _run(plan: Plan, a: Any, b: Any, c: Any, stream: Any) -> None:
    if any(plan.copies):
        a, b = arrays.copied([a, b], plan.copies, stream)
    if plan.swapped:
        a, b, c = b.T, a.T, c.T
    if plan.parts is None:
        launch(stream, plan.grid, plan.kernel, (a, b, c, *plan.constants), **plan.launch)
        return
    parts = arrays.room(plan.parts, plan.sums, arrays.device_of(c), stream)
    launch(stream, plan.grid, plan.kernel, (a, b, parts, *plan.constants), **plan.launch)
    blocks = ct.cdiv(c.shape[0], ADDED[0]) * ct.cdiv(c.shape[1], ADDED[1])
    args = parts, c, plan.parts[0], *ADDED
    launch(stream, (blocks, 1, 1), add_pieces_kernel, args, **EARLY)


def batched_gemm(a: Any, b: Any, c: Any, stream: Any = None, *, fast: bool = True) -> None:
    """``c[i] = a[i] @ b[i]`` for each product of a batch.

    Parameters
    ----------
    a, b, c : array (B, M, K), (B, K, N), (B, M, N)
        Dtypes and sums as for ``gemm``.
    stream : stream, optional
    fast : bool
        As for ``gemm``.

    Raises
    ------
    ValueError, TypeError
        As ``gemm`` does.
    """
    key = look(BATCHED_RULE, a, b, c), fast
    plan = known_plan(key)
    if plan is None:
        check.product("batched_gemm", 3, a, b, c)
        accept("batched_gemm", a, b, c)
        plan = make_plan(KERNELS, a, b, c, PRECISE * (not fast))
        remember(key, plan)
    launch(stream, plan.grid, plan.kernel, (a, b, c, *plan.constants), **plan.launch)


def gelu_gemm(a: Any, b: Any, bias: Any, residual: Any, c: Any, stream: Any = None) -> None:
    """``c = gelu(a @ b + bias) + residual`` in one launch.

    Parameters
    ----------
    a, b : array (M, K), (K, N)
        Of one dtype: float16, bfloat16 or float32.
    bias : array (N,)
    residual, c : array (M, N)
        Of floats, as ``bias``. ``c`` may be ``residual``.
    stream : stream, optional

    Raises
    ------
    ValueError
        When shapes do not fit, or ``c`` shares memory with another array without being ``residual``.
    TypeError
        For other dtypes.

    Notes
    -----
    GELU by its tanh form (Hendrycks & Gimpel, 2016), whose tanh is the GPU's approximation
    (absolute error about 5e-4, less than half a unit of bfloat16 near 1); sums in float32.
    """
    key = look(GELU_RULE, a, b, bias, residual, c)
    plan = known_plan(key)
    if plan is None:
        check.product("gelu_gemm", 2, a, b, c)
        check.shape("gelu_gemm", "bias", bias, tuple(c.shape[1:]))
        check.same_shape("gelu_gemm", c=c, residual=residual)
        accept("gelu_gemm", a, b, bias, residual, c)
        plan = make_plan(KERNELS, a, b, c, GELU)
        remember(key, plan)
    args = a, b, bias, residual, c, *plan.constants
    launch(stream, plan.grid, plan.kernel, args, **plan.launch)
