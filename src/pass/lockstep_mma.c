/* SPDX-License-Identifier: Apache-2.0
 *
 * Products by the warp. Lanes and slots of a fragment are bits of a number, and so are rows and columns of its matrix:
 * a fragment becomes its matrix by moving axes, the product is mmaf.
 *
 *     mma_sync m16n8k8_f64 %a0..%a3, ..   %a = the slots, from memory of the worker, seen as (k/4, m/8, 8, 4),
 *                                         permuted to (m/8, 8, k/4, 4), a tile<16x8xf64>
 *                                         %d = mmaf %a, %b, %c, and back
 */
#include "ir/mma.h"
#include "ir/scalar.h"
#include "pass/lockstep.h"

/* A fragment of the tile's warps beside its matrices. The bits of (warp, slot, lane) in groups that stay together: */
typedef struct mma_axes {
    uint32_t n;                       /* groups, from the highest bit of (slot, lane) down */
    int64_t extent[TS_MAX_RANK];      /* of each */
    uint32_t place[TS_MAX_RANK];      /* of its lowest bit in (row, column) */
    uint32_t order[TS_MAX_RANK];      /* of the groups in (row, column), from the highest bit down */
} mma_axes;

static uint32_t mma_log2(uint32_t x)
{
    return x ? (uint32_t)__builtin_ctz(x) : 0;
}

/* Which bit of (row, column) the bit of (slot, lane) moves; the matrix has so many columns. */
static uint32_t mma_bit(ts_mma_operand which, uint32_t bits, uint32_t bit, uint32_t columns)
{
    uint32_t row, col, lane = bit < 5 ? 1u << bit : 0, slot = bit < 5 ? 0 : 1u << (bit - 5);
    ts__mma_place(which, bits, lane, slot, &row, &col);
    return mma_log2(row * columns + col);
}

static mma_axes mma_axes_of(const ts_mma_row *row, ts_mma_operand which)
{
    mma_axes axes = {0};
    uint32_t n = 5 + mma_log2(ts__mma_slots(row, which)), bits = ts__scalar_bits(row->type[which]), last = 0;
    uint32_t columns = which == TS_MMA_A ? row->k : row->n;
    for (uint32_t bit = n; bit-- > 0;) {
        uint32_t place = mma_bit(which, bits, bit, columns);
        if (axes.n && place + 1 == last) {
            axes.extent[axes.n - 1] *= 2;
            axes.place[axes.n - 1] = place;
        } else {
            axes.extent[axes.n] = 2;
            axes.place[axes.n++] = place;
        }
        last = place;
    }
    for (uint32_t i = 0; i < axes.n; i++)
        for (uint32_t k = axes.order[i] = 0; k < axes.n; k++)
            axes.order[i] += axes.place[k] > axes.place[i];
    return axes;
}

/* Moves the groups behind the axis of warps: from (slot, lane) to (row, column), or back. */
static ts_val mma_move(lockstep *c, ts_val x, const mma_axes *axes, bool back)
{
    int64_t dims[TS_MAX_RANK] = {c->width / LOCK_WARP};
    uint32_t to[TS_MAX_RANK] = {0};
    for (uint32_t i = 0; i < axes->n; i++) {
        dims[1 + (back ? axes->order[i] : i)] = axes->extent[i];
        to[1 + (back ? i : axes->order[i])] = 1 + (back ? axes->order[i] : i);
    }
    ts_type elem = ts_type_elem(c->m, ts_type_of(c->b.fn, x));
    x = ts_reshape(&c->b, x, ts_type_tile(c->m, elem, axes->n + 1, dims));
    return ts_permute(&c->b, x, to);
}

static ts_type mma_matrix(lockstep *c, const ts_mma_row *row, ts_mma_operand which)
{
    int64_t dims[] = {c->width / LOCK_WARP, which == TS_MMA_B ? row->k : row->m,
                      which == TS_MMA_A ? row->k : row->n};
    return dims[0] == 1 ? ts_type_tile(c->m, row->type[which], 2, dims + 1)
                        : ts_type_tile(c->m, row->type[which], 3, dims);
}

/* Memory of the worker for the slots of a fragment, one behind the other, each an element for every thread. */
static ts_val mma_slot(lockstep *c, ts_val memory, uint32_t i)
{
    ts_val number = ts_emit(&c->b, TS_OP_iota, lock_tile(c, TS_T_i32), 0, NULL, 0, 0);
    ts_val before = ts_int(&c->b, lock_tile(c, TS_T_i32), i * c->width);
    number = ts_op2(&c->b, TS_OP_addi, number, before, TS_A_NSW | TS_A_NUW);
    return lock_offset(c, memory, number);
}

/* Pointers to all of that memory, a tile of (slots, threads). */
static ts_val mma_whole(lockstep *c, ts_val memory, uint32_t n_slots)
{
    int64_t ones[] = {1, 1}, dims[] = {n_slots, c->width}, all = dims[0] * dims[1];
    ts_type pointer = ts_type_of(c->b.fn, memory);
    ts_val x = ts_reshape(&c->b, memory, ts_type_tile(c->m, pointer, 2, ones));
    x = ts_broadcast(&c->b, x, ts_type_tile(c->m, pointer, 2, dims));
    ts_val number = ts_emit(&c->b, TS_OP_iota, ts_type_tile(c->m, TS_T_i32, 1, &all), 0, NULL, 0, 0);
    number = ts_reshape(&c->b, number, ts_type_tile(c->m, TS_T_i32, 2, dims));
    return ts_emit(&c->b, TS_OP_offset, ts_type_of(c->b.fn, x), 2, (ts_val[]){x, number}, 0, 0);
}

/* The elements of a register, a tile each. */
static void mma_slots(lockstep *c, ts_val reg, ts_type elem, uint32_t per, ts_val *out)
{
    ts_type from = ts_type_elem(c->m, ts_type_of(c->b.fn, reg));
    uint32_t bits = ts__scalar_bits(elem);
    for (uint32_t i = 0; i < per; i++) {
        ts_val x = reg;
        if (i)
            x = ts_op2(&c->b, TS_OP_shri, x, ts_int(&c->b, ts_type_of(c->b.fn, x), i * bits), TS_A_UNSIGNED);
        if (per > 1)
            x = ts_cast(&c->b, TS_OP_trunci, x, bits == 8 ? TS_T_i8 : TS_T_i16, 0);
        if (elem == TS_T_tf32 && from == TS_T_f32)
            x = ts_cast(&c->b, TS_OP_ftof, x, elem, 0);
        else if (ts_type_elem(c->m, ts_type_of(c->b.fn, x)) != elem)
            x = ts_cast(&c->b, TS_OP_bitcast, x, elem, 0);
        out[i] = x;
    }
}

/* The matrix of an operand in these registers. */
static ts_val mma_of(lockstep *c, const ts_mma_row *row, ts_mma_operand which, const ts_val *registers)
{
    ts_val slots[16];
    uint32_t per = ts__mma_per_register(row, which), n = ts__mma_slots(row, which);
    mma_axes axes = mma_axes_of(row, which);
    ts_val memory = lock_memory_of(c, row->type[which], n * (uint32_t)c->width);
    for (uint32_t i = 0; i < row->regs[which]; i++)
        mma_slots(c, registers[i], row->type[which], per, slots + i * per);
    for (uint32_t i = 0; i < n; i++)
        lock_store(c, mma_slot(c, memory, i), slots[i], 0, 0);
    ts_val x = lock_load(c, mma_whole(c, memory, n), 0, 0, 0);
    if (c->width > LOCK_WARP) { /* (slot, warp, lane) -> (warp, slot, lane) */
        int64_t dims[] = {n, c->width / LOCK_WARP, LOCK_WARP};
        x = ts_permute(&c->b, ts_reshape(&c->b, x, ts_type_tile(c->m, row->type[which], 3, dims)),
                       (uint32_t[]){1, 0, 2});
    }
    return ts_reshape(&c->b, mma_move(c, x, &axes, false), mma_matrix(c, row, which));
}

/* The same of registers that begin at operand `first`. */
static ts_val mma_take(lockstep *c, ts_val v, const ts_mma_row *row, ts_mma_operand which, uint32_t first)
{
    ts_val registers[8];
    for (uint32_t i = 0; i < row->regs[which]; i++)
        registers[i] = lock_opnd_tile(c, v, first + i);
    return mma_of(c, row, which, registers);
}

/* Four accumulators of a wgmma from operand `first` on, or zeros where they do not count. */
static ts_val mma_gathered(lockstep *c, ts_val v, const ts_mma_row *row, uint32_t first, ts_val counts)
{
    ts_val registers[4], zero = lock_spread(c, lock_zero(c, row->type[TS_MMA_C]));
    int64_t known;
    bool all = ts__const_as_int(c->b.fn, counts, &known) && known;
    for (uint32_t i = 0; i < 4; i++) {
        registers[i] = lock_opnd_tile(c, v, first + i);
        if (!all)
            registers[i] = ts_select(&c->b, lock_spread(c, counts), registers[i], zero);
    }
    return mma_of(c, row, TS_MMA_C, registers);
}

/* A scalar in every element of a tile of one axis; pointers, moved by such a tile. */
static ts_val mma_spread(lockstep *c, ts_val x, ts_type like)
{
    int64_t one = 1;
    ts_type elem = ts_type_of(c->b.fn, x);
    return ts_broadcast(&c->b, ts_reshape(&c->b, x, ts_type_tile(c->m, elem, 1, &one)),
                        ts_type_with_elem(c->m, like, elem));
}

static ts_val mma_pointers(lockstep *c, ts_val memory, ts_val by)
{
    ts_val p = mma_spread(c, memory, ts_type_of(c->b.fn, by));
    return ts_emit(&c->b, TS_OP_offset, ts_type_of(c->b.fn, p), 2, (ts_val[]){p, by}, 0, 0);
}

/* Slots of C, a register each. */
static void mma_dealt(lockstep *c, const ts_mma_row *row, ts_val matrix, ts_val *values)
{
    mma_axes axes = mma_axes_of(row, TS_MMA_C);
    int64_t warps = c->width / LOCK_WARP, n = row->regs[TS_MMA_C], dims[] = {n, c->width};
    ts_type elem = row->type[TS_MMA_C];
    ts_val memory = lock_memory_of(c, elem, (uint32_t)(n * c->width)), x = mma_move(c, matrix, &axes, true);
    if (warps > 1) /* (warp, slot, lane) -> (slot, warp, lane) */
        x = ts_permute(&c->b, ts_reshape(&c->b, x, ts_type_tile(c->m, elem, 3, (int64_t[]){warps, n, LOCK_WARP})),
                       (uint32_t[]){1, 0, 2});
    x = ts_reshape(&c->b, x, ts_type_tile(c->m, elem, 2, dims));
    lock_store(c, mma_whole(c, memory, row->regs[TS_MMA_C]), x, 0, 0);
    for (uint32_t i = 0; i < n; i++)
        values[i] = lock_load(c, mma_slot(c, memory, i), 0, 0, 0);
}

/* ---- matrices of 8 x 8 elements of 16 bits in shared memory ---------------------------------------------------------
 * */

/* Where thread l has one half of its register of matrix i, in memory: lane 8 i + row says where the row begins. */
static ts_val mma_half(lockstep *c, ts_val rows, uint32_t i, uint32_t half, bool trans)
{
    ts_val lane = lock_lane(c), group, pair, one;
    ts_type i32 = ts_type_of(c->b.fn, lane);
    one = ts_int(&c->b, i32, 1);
    group = ts_op2(&c->b, TS_OP_shri, lane, ts_int(&c->b, i32, 2), TS_A_UNSIGNED);
    pair = ts_op2(&c->b, TS_OP_shli, ts_op2(&c->b, TS_OP_andi, lane, ts_int(&c->b, i32, 3), 0), one, 0);
    pair = ts_op2(&c->b, TS_OP_addi, pair, ts_int(&c->b, i32, half), 0);
    ts_val row = ts_op2(&c->b, TS_OP_addi, trans ? pair : group, ts_int(&c->b, i32, 8 * i), 0);
    ts_val begin = ts_cast(&c->b, TS_OP_int_to_ptr, lock_of_lane(c, rows, row), ts_type_ptr(c->m, TS_T_i16, TS_GLOBAL),
                           0);
    return lock_offset(c, begin, trans ? group : pair);
}

static void mma_matrices(lockstep *c, ts_val v, bool load)
{
    uint32_t aux = ts_at(c->fn, v)->aux, n = TS_S_NUMBER(aux);
    bool trans = TS_S_EXTRA(aux) & 1;
    ts_val rows = ts_cast(&c->b, TS_OP_ptr_to_int, lock_opnd_tile(c, v, 0), TS_T_i64, 0), out[4], part[2], at[2];
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t half = 0; half < 2; half++)
            at[half] = mma_half(c, rows, i, half, trans);
        if (load) {
            for (uint32_t half = 0; half < 2; half++)
                part[half] = lock_load(c, at[half], c->mask, 0, 0);
            out[i] = lock_join(c, part[0], part[1], TS_T_i32);
        } else {
            mma_slots(c, lock_opnd_tile(c, v, 1 + i), TS_T_i16, 2, part);
            for (uint32_t half = 0; half < 2; half++)
                lock_store(c, at[half], part[half], c->mask, 0);
        }
    }
    if (load)
        lock_set_results(c, v, n, out);
}

/* ---- products by four warps -------------------------------------------------------------------------------------- */

/* One number of each of `n` elements that stand one behind the other: number / below % size. */
static ts_val mma_digit(lockstep *c, ts_val number, int64_t below, int64_t size)
{
    ts_type type = ts_type_of(c->b.fn, number);
    ts_val x = ts_op2(&c->b, TS_OP_divi, number, ts_int(&c->b, type, below), TS_A_UNSIGNED);
    return ts_op2(&c->b, TS_OP_remi, x, ts_int(&c->b, type, size), TS_A_UNSIGNED);
}

static ts_val mma_bits(lockstep *c, ts_val x, int64_t shift, int64_t mask, int64_t by)
{
    ts_type type = ts_type_of(c->b.fn, x);
    x = ts_op2(&c->b, TS_OP_shri, x, ts_int(&c->b, type, shift), TS_A_UNSIGNED);
    return ts_op2(&c->b, TS_OP_muli, ts_op2(&c->b, TS_OP_andi, x, ts_int(&c->b, type, mask), 0),
                  ts_int(&c->b, type, by), 0);
}

/* The descriptor of each element's warp: `warp` is its number in the tile. */
static ts_val mma_descriptors(lockstep *c, ts_val descriptor, ts_val warp)
{
    if (!lock_is_tile(c, descriptor))
        return mma_spread(c, descriptor, ts_type_of(c->b.fn, warp));
    ts_val memory = lock_memory_of(c, TS_T_i64, (uint32_t)c->width);
    ts_val number = ts_emit(&c->b, TS_OP_iota, lock_tile(c, TS_T_i32), 0, NULL, 0, 0);
    lock_store(c, lock_offset(c, memory, number), descriptor, 0, 0);
    ts_val at = ts_op2(&c->b, TS_OP_muli, warp, ts_int(&c->b, ts_type_of(c->b.fn, warp), LOCK_WARP), 0);
    return lock_load(c, mma_pointers(c, memory, at), 0, 0, 0);
}

/* The matrix that a descriptor says, 8 rows of 16 bytes side by side, of `rows` rows from `first` on in each warp; of b
 * its columns are those rows. */
static ts_val mma_described(lockstep *c, ts_val descriptor, const ts_mma_row *row, ts_mma_operand which, uint32_t first)
{
    bool left = which == TS_MMA_A;
    ts_type elem = row->type[which] == TS_T_tf32 ? TS_T_f32 : row->type[which];
    int64_t rows = left ? row->m : row->n, k = row->k, bytes = ts__scalar_bits(elem) / 8, warps = c->width / LOCK_WARP;
    int64_t all = warps * rows * k;
    ts_val number = ts_emit(&c->b, TS_OP_iota, ts_type_tile(c->m, TS_T_i32, 1, &all), 0, NULL, 0, 0);
    ts_type i64 = ts_type_tile(c->m, TS_T_i64, 1, &all);
    ts_val in_k = mma_digit(c, number, left ? 1 : rows, k), in_rows = mma_digit(c, number, left ? k : 1, rows);
    ts_val warp = mma_digit(c, number, rows * k, warps), d = mma_descriptors(c, descriptor, warp), at, by;
    if (left) { /* four warps share 64 rows */
        ts_val of = c->by_warp ? mma_spread(c, lock_warp_number(c), ts_type_of(c->b.fn, number)) : warp;
        of = ts_op2(&c->b, TS_OP_andi, of, ts_int(&c->b, ts_type_of(c->b.fn, of), 3), 0);
        of = ts_op2(&c->b, TS_OP_muli, of, ts_int(&c->b, ts_type_of(c->b.fn, of), row->m), 0);
        in_rows = ts_op2(&c->b, TS_OP_addi, in_rows, of, 0);
    }
    in_rows = ts_op2(&c->b, TS_OP_addi, in_rows, ts_int(&c->b, ts_type_of(c->b.fn, in_rows), first), 0);
    in_k = ts_op2(&c->b, TS_OP_muli, in_k, ts_int(&c->b, ts_type_of(c->b.fn, in_k), bytes), 0);
    ts_val wide_k = ts_cast(&c->b, TS_OP_exti, in_k, TS_T_i64, TS_A_UNSIGNED);
    ts_val wide_rows = ts_cast(&c->b, TS_OP_exti, in_rows, TS_T_i64, TS_A_UNSIGNED);
    at = mma_bits(c, d, 0, 0x3FFF, 16);
    by = ts_op2(&c->b, TS_OP_muli, mma_bits(c, d, 32, 0x3FFF, 16), mma_bits(c, wide_rows, 3, INT64_MAX, 1), 0);
    at = ts_op2(&c->b, TS_OP_addi, at, by, 0);
    by = ts_op2(&c->b, TS_OP_muli, mma_bits(c, d, 16, 0x3FFF, 16), mma_bits(c, wide_k, 4, INT64_MAX, 1), 0);
    at = ts_op2(&c->b, TS_OP_addi, at, by, 0);
    at = ts_op2(&c->b, TS_OP_addi, at, mma_bits(c, wide_rows, 0, 7, 16), 0);
    at = ts_op2(&c->b, TS_OP_addi, at, ts_op2(&c->b, TS_OP_andi, wide_k, ts_int(&c->b, i64, 15), 0), 0);
    ts_val p = ts_cast(&c->b, TS_OP_ptr_to_ptr, mma_pointers(c, c->shared, at), ts_type_ptr(c->m, elem, TS_GLOBAL), 0);
    ts_val x = lock_load(c, p, 0, 0, 0);
    if (row->type[which] == TS_T_tf32)
        x = ts_cast(&c->b, TS_OP_ftof, x, TS_T_tf32, 0);
    return ts_reshape(&c->b, x, mma_matrix(c, row, which));
}

/* Made by the language: pack2 of an address and constant strides, without a swizzle. */
static bool mma_is_plain(const lockstep *c, ts_val descriptor)
{
    const ts_inst *inst = ts_at(c->fn, descriptor);
    int64_t high;
    return c->shared && inst->op == TS_OP_pack2 && ts__const_as_int(c->fn, inst->opnd[1], &high) && !(high >> 16);
}

/* Eight columns after the other, each warp its 16 rows. */
static void mma_wgmma(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    uint32_t flags = TS_MMA_FLAGS(inst->aux), n_acc = TS_MMA_N(inst->aux) / 2, at = n_acc;
    ts_mma_row row = ts__mma_rows[TS_MMA_ROW(inst->aux)];
    bool in_registers = flags & TS_MMA_A_REGS, whole = row.type[TS_MMA_C] == TS_T_i32;
    ts_val b = ts_opnd(c->fn, v, n_acc + (in_registers ? 4 : 1)), values[128];
    row.m = 16, row.n = 8, row.regs[TS_MMA_C] = 4;
    if (row.type[TS_MMA_C] == TS_T_f16 || flags & (TS_MMA_TRANS_A | TS_MMA_TRANS_B) || !mma_is_plain(c, b) ||
        (!in_registers && !mma_is_plain(c, ts_opnd(c->fn, v, n_acc)))) {
        lock_fail(c, v, TS_UNSUPPORTED, "'wgmma' of operands that are swizzled or transposed, or of f16 sums, is not "
                  "compiled for the CPU; launch the kernel on a GPU");
        return;
    }
    ts_val left = in_registers ? mma_take(c, v, &row, TS_MMA_A, n_acc)
                               : mma_described(c, lock_opnd(c, v, at), &row, TS_MMA_A, 0);
    ts_val counts = lock_opnd(c, v, inst->n_opnd - 1u);
    uint32_t attr = (flags & TS_MMA_U_A ? TS_A_UNSIGNED : 0) | (flags & TS_MMA_U_B ? TS_A_UNSIGNED_B : 0);
    for (uint32_t i = 0; i < n_acc; i += 4) {
        ts_val right = mma_described(c, lock_value(c, b, false), &row, TS_MMA_B, 2 * i), sum;
        sum = mma_gathered(c, v, &row, i, counts);
        ts_val x[] = {left, right, sum};
        mma_dealt(c, &row, ts_emit(&c->b, whole ? TS_OP_mmai : TS_OP_mmaf, ts_type_of(c->b.fn, sum), 3, x, attr, 0),
                  values + i);
    }
    lock_set_results(c, v, n_acc, values);
}

bool lock_mma(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    if (inst->op == TS_OP_ldmatrix || inst->op == TS_OP_stmatrix)
        mma_matrices(c, v, inst->op == TS_OP_ldmatrix);
    if (inst->op == TS_OP_wgmma)
        mma_wgmma(c, v);
    if (inst->op != TS_OP_mma_sync)
        return inst->op == TS_OP_ldmatrix || inst->op == TS_OP_stmatrix || inst->op == TS_OP_wgmma;
    const ts_mma_row *row = &ts__mma_rows[TS_MMA_ROW(inst->aux)];
    uint32_t flags = TS_MMA_FLAGS(inst->aux), n_a = row->regs[TS_MMA_A], n_b = row->regs[TS_MMA_B];
    uint32_t attr = (flags & TS_MMA_U_A ? TS_A_UNSIGNED : 0) | (flags & TS_MMA_U_B ? TS_A_UNSIGNED_B : 0);
    ts_val x[] = {mma_take(c, v, row, TS_MMA_A, 0), mma_take(c, v, row, TS_MMA_B, n_a),
                  mma_take(c, v, row, TS_MMA_C, n_a + n_b)};
    ts_op op = row->type[TS_MMA_C] == TS_T_i32 ? TS_OP_mmai : TS_OP_mmaf;
    ts_val values[4];
    mma_dealt(c, row, ts_emit(&c->b, op, ts_type_of(c->b.fn, x[2]), 3, x, attr, 0), values);
    lock_set_results(c, v, row->regs[TS_MMA_C], values);
    return true;
}
