/* SPDX-License-Identifier: Apache-2.0
 *
 * Moving a tile to another layout (plans of move.c), and the operations that pick parts of tiles at run-time
 * indices: extract, insert, pack, unpack. What goes through shared memory is written once, one barrier,
 * and read with the widest access the layouts allow.
 */
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"
#include "gpu/lower/op.h"

/* ---- through shared memory: a tile at the offsets of a linear map ----------------------------------------- */

typedef struct convert_box {
    ts_val base;     /* pointer to element 0 */
    ts_type elem;    /* in memory */
    uint32_t bytes;  /* of one element */
    uint32_t bits;   /* of flat indices */
    const uint32_t *offset; /* element offset of each flat bit */
    uint32_t at;     /* in shared memory */
} convert_box;

static uint32_t convert_offset(const convert_box *box, uint32_t flat)
{
    return ts_xor_of(box->offset, box->bits, flat) * box->bytes;
}

/* Bytes from the base for this thread's lane and warp, and which bits they may take. */
static ts_val convert_thread(ts_lower *lw, const convert_box *box, const ts_linear *layout, uint32_t *taken)
{
    uint32_t lane[TS_LAYOUT_LANES] = {0}, warp[TS_LAYOUT_WARPS] = {0};
    *taken = 0;
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        *taken |= lane[i] = convert_offset(box, layout->lane[i]);
    for (uint32_t i = 0; i < layout->n_warp; i++)
        *taken |= warp[i] = convert_offset(box, layout->warp[i]);
    return ts__lower_linear(lw, lane, warp);
}

/* Pointer to the element of register r: bits that threads may also set are XORed, the others are added. */
static ts_val convert_address(ts_lower *lw, const convert_box *box, const ts_linear *layout, ts_val thread,
                              uint32_t taken, uint32_t r)
{
    uint32_t fixed = convert_offset(box, ts_lower_fixed(layout, r));
    if (fixed & taken)
        thread = ts_op2(&lw->b, TS_OP_xori, thread, ts__lower_i32(lw, fixed & taken), 0);
    return ts__lower_ptr(lw, box->base, thread, fixed & ~taken);
}

/* Register numbers whose elements follow each other: member[i] is XORed to the first one's. */
static uint32_t convert_vector(const convert_box *box, const ts_linear *layout, uint32_t log_n, uint32_t *member)
{
    uint32_t mask = 0, bit_reg[4] = {0};
    for (uint32_t i = 0; i < log_n; i++)
        for (uint32_t r = 0; r < layout->n_reg; r++)
            if (layout->reg[r] && ts_xor_of(box->offset, box->bits, layout->reg[r]) == 1u << i)
                bit_reg[i] = 1u << r;
    for (uint32_t i = 0; i < log_n; i++)
        mask |= bit_reg[i];
    for (uint32_t k = 0; k < 1u << log_n; k++)
        member[k] = ts_xor_of(bit_reg, log_n, k);
    return mask;
}

/* Columns whose offset has bit `bit`: lanes, warps, registers. */
static uint32_t convert_touching(const convert_box *box, const uint32_t *column, uint32_t n, uint32_t bit)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += ts_xor_of(box->offset, box->bits, column[i]) >> bit & 1;
    return count;
}

/* log2 of the elements that follow each other in each thread's registers, from an aligned one on: an offset
 * bit counts when one register bit alone gives it. */
static uint32_t convert_width(const convert_box *box, const ts_linear *layout)
{
    uint32_t n = 0;
    for (; box->bytes << n < 16; n++) {
        bool found = false;
        for (uint32_t r = 0; r < layout->n_reg; r++)
            found = found || ts_xor_of(box->offset, box->bits, layout->reg[r]) == 1u << n;
        if (!found || convert_touching(box, layout->reg, layout->n_reg, n) != 1 ||
            convert_touching(box, layout->lane, TS_LAYOUT_LANES, n) ||
            convert_touching(box, layout->warp, layout->n_warp, n))
            break;
    }
    return n;
}

static void convert_store(ts_lower *lw, const convert_box *box, const ts_linear *layout, const ts_val *reg, ts_val pred)
{
    uint32_t member[16], taken, width = convert_width(box, layout);
    ts_assert(box->bits == layout->bits && box->bytes << width <= 16);
    uint32_t vector = convert_vector(box, layout, width, member), repeats = ts__linear_replicas(layout).reg;
    ts_val thread = convert_thread(lw, box, layout, &taken);
    if (!pred) /* warps that hold the same write once; lanes that do are one access anyway */
        pred = ts__lower_is_first(lw, (ts_place){.warp = ts__linear_replicas(layout).warp});
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++) {
        ts_val values[16];
        if (r & (vector | repeats))
            continue;
        for (uint32_t k = 0; k < 1u << width; k++)
            values[k] = reg[r ^ member[k]];
        ts__lower_st(lw, convert_address(lw, box, layout, thread, taken, r), 1u << width, values, TS_CACHE_NONE, pred);
    }
}

/* `extra`: a byte offset at run time, 0 = none. */
static void convert_load(ts_lower *lw, const convert_box *box, const ts_linear *layout, ts_val extra, ts_val *reg)
{
    uint32_t member[16], taken, width = convert_width(box, layout), repeats = ts__lower_repeats(layout);
    ts_assert(box->bits == layout->bits && box->bytes << width <= 16);
    uint32_t vector = convert_vector(box, layout, width, member);
    ts_val thread = convert_thread(lw, box, layout, &taken);
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++) {
        ts_val values[16];
        if (r & repeats)
            reg[r] = reg[r & ~repeats];
        if (r & (vector | repeats))
            continue;
        ts_val at = convert_address(lw, box, layout, thread, taken, r);
        ts__lower_ld(lw, box->elem, extra ? ts__lower_ptr(lw, at, extra, 0) : at, 1u << width, TS_CACHE_NONE, 0, 0,
                    values);
        for (uint32_t k = 0; k < 1u << width; k++)
            reg[r ^ member[k]] = values[k];
    }
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++)
        if (r & repeats)
            reg[r] = reg[r & ~repeats];
}

ts_type ts__lower_memory_type(const ts_lower *lw, ts_type elem)
{
    if (ts_type_is_ptr(lw->module, elem))
        return TS_T_i64;
    return elem == TS_T_i1 || ts_type_bits(lw->module, elem) < 8 ? TS_T_i8 : elem;
}

ts_val ts__lower_to_memory(ts_lower *lw, ts_val x)
{
    ts_type type = ts_type_of(lw->fn, x), memory = ts__lower_memory_type(lw, type);
    if (type == memory)
        return x;
    if (type == TS_T_f4E2M1FN)
        x = ts_cast(&lw->b, TS_OP_bitcast, x, TS_T_i4, 0);
    return ts_cast(&lw->b, memory == TS_T_i64 ? TS_OP_ptr_to_int : TS_OP_exti, x, memory,
                   memory == TS_T_i64 ? 0 : TS_A_UNSIGNED);
}

ts_val ts__lower_from_memory(ts_lower *lw, ts_val x, ts_type elem)
{
    ts_type type = ts_type_of(lw->fn, x);
    if (type == elem)
        return x;
    if (elem == TS_T_f4E2M1FN)
        return ts_cast(&lw->b, TS_OP_bitcast, ts_cast(&lw->b, TS_OP_trunci, x, TS_T_i4, 0), elem, 0);
    return ts_cast(&lw->b, type == TS_T_i64 ? TS_OP_int_to_ptr : TS_OP_trunci, x, elem, 0);
}

static ts_val *convert_to_memory(ts_lower *lw, const ts_linear *layout, const ts_val *reg)
{
    ts_val *out = ts__lower_regs(lw, layout);
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++)
        out[r] = ts__lower_to_memory(lw, reg[r]);
    return out;
}

static ts_val *convert_from_memory(ts_lower *lw, const ts_linear *layout, const ts_val *reg, ts_type elem)
{
    ts_val *out = ts__lower_regs(lw, layout);
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++)
        out[r] = ts__lower_from_memory(lw, reg[r], elem);
    return out;
}

static convert_box convert_box_of(ts_lower *lw, ts_type elem, uint32_t bits, const uint32_t *offset, uint32_t at)
{
    ts_type memory = ts__lower_memory_type(lw, elem);
    uint32_t bytes = TS_MAX(1u, ts_type_bits(lw->module, memory) / 8);
    ts_assert(ts_is_pow2(bytes) && bytes <= 8);
    return (convert_box){ts__shared_pointer(lw, memory, at), memory, bytes, bits, offset, at};
}

static uint32_t convert_bytes(ts_lower *lw, ts_type elem, uint32_t bits)
{
    return TS_MAX(1u, ts_type_bits(lw->module, ts__lower_memory_type(lw, elem)) / 8) << bits;
}

/* Notes a tile that passes through shared memory for another reason than a change of layout. */
static void convert_note(const ts_lower *lw, ts_val v, uint32_t bytes)
{
    ts__note(lw->tile, v, TS_NOTE_move, "shared", "%u bytes", bytes);
}

/* Takes scratch memory and writes a tile to it, by the threads of `only` (0 = all). */
static convert_box convert_put(ts_lower *lw, ts_val why, ts_type elem, const ts_linear *from, const ts_val *reg,
                               const uint32_t *offset, ts_val only)
{
    uint32_t at = ts__shared_take(lw, convert_bytes(lw, elem, from->bits), why);
    convert_box box = convert_box_of(lw, elem, from->bits, offset, at);
    convert_store(lw, &box, from, convert_to_memory(lw, from, reg), only);
    return box;
}

/* Reads a tile of `elem` back and gives the memory of `box` free: all of it has been written before the barrier. */
static ts_val *convert_take(ts_lower *lw, const convert_box *box, uint32_t bytes, ts_type elem, const ts_linear *to)
{
    ts_val *out = ts__lower_regs(lw, to);
    ts__lower_barrier(lw);
    convert_load(lw, box, to, 0, out);
    ts__shared_done(lw, box->at, bytes);
    return convert_from_memory(lw, to, out, elem);
}

static ts_val *convert_shared(ts_lower *lw, ts_val why, ts_type elem, const ts_linear *from, const ts_val *reg,
                              const ts_linear *to, const ts_move *move)
{
    convert_box box = convert_put(lw, why, elem, from, reg, move->offset, 0);
    return convert_take(lw, &box, convert_bytes(lw, elem, from->bits), elem, to);
}

uint32_t ts__lower_to_shared(ts_lower *lw, ts_val why, ts_type elem, const ts_linear *from, const ts_val *reg,
                            const uint32_t *offset)
{
    convert_note(lw, why, convert_bytes(lw, elem, from->bits));
    return convert_put(lw, why, elem, from, reg, offset, 0).at;
}

void ts__lower_store_shared(ts_lower *lw, ts_type elem, const ts_linear *from, const ts_val *reg,
                            const uint32_t *offset, uint32_t at)
{
    convert_box box = convert_box_of(lw, elem, from->bits, offset, at);
    convert_store(lw, &box, from, convert_to_memory(lw, from, reg), 0);
}

void ts__lower_load_shared(ts_lower *lw, ts_type elem, const ts_linear *layout, const uint32_t *offset, ts_val base,
                          ts_val *reg)
{
    uint32_t bytes = convert_bytes(lw, elem, 0);
    convert_box box = {base, ts__lower_memory_type(lw, elem), bytes, layout->bits, offset};
    convert_load(lw, &box, layout, 0, reg);
}

ts_val *ts__lower_share(ts_lower *lw, ts_val why, ts_type elem, const ts_linear *layout, const ts_val *reg, ts_val only)
{
    uint32_t flat[TS_LAYOUT_BITS], bytes = convert_bytes(lw, elem, layout->bits);
    ts_layout_identity(flat);
    convert_note(lw, why, bytes);
    convert_box box = convert_put(lw, why, elem, layout, reg, flat, only);
    return convert_take(lw, &box, bytes, elem, layout);
}

/* ---- within the warp ------------------------------------------------------------------------------------------ */

/* One of 2^n registers by run-time bits: a tree of selects. `columns[i]` is what bit i of `bits` adds. */
static ts_val convert_choose(ts_lower *lw, const ts_val *reg, uint32_t r, uint32_t n, const uint32_t *columns,
                             const uint32_t *tid_bit)
{
    if (n == 0)
        return reg[r];
    ts_val without = convert_choose(lw, reg, r, n - 1, columns, tid_bit);
    ts_val with = convert_choose(lw, reg, r ^ columns[n - 1], n - 1, columns, tid_bit);
    if (with == without)
        return with;
    ts_val bit = ts_op2(&lw->b, TS_OP_andi, lw->tid, ts__lower_i32(lw, 1u << tid_bit[n - 1]), 0);
    ts_val set = ts_cmp(&lw->b, TS_OP_cmpi, TS_NE, bit, ts__lower_i32(lw, 0), 0);
    return ts_select(&lw->b, set, with, without);
}

static ts_val *convert_regs(ts_lower *lw, const ts_val *reg, const ts_linear *to, const ts_move *move)
{
    uint32_t columns[TS_LAYOUT_LANES + TS_LAYOUT_WARPS], bits[TS_LAYOUT_LANES + TS_LAYOUT_WARPS], n = 0;
    ts_val *out = ts__lower_regs(lw, to);
    for (uint32_t i = 0; i < (uint32_t)TS_LAYOUT_LANES + to->n_warp; i++) {
        uint32_t word = i < TS_LAYOUT_LANES ? move->lane_reg[i] : move->warp_reg[i - TS_LAYOUT_LANES];
        if (word) {
            columns[n] = word;
            bits[n++] = i;
        }
    }
    for (uint32_t r = 0; r < 1u << to->n_reg; r++)
        out[r] = convert_choose(lw, reg, ts_xor_of(move->reg_reg, to->n_reg, r), n, columns, bits);
    return out;
}

/* One 32-bit shuffle; wider values take two, narrower ones travel in 32 bits. */
static ts_val convert_shuffle_word(ts_lower *lw, ts_val x, ts_val lane, ts_shfl kind)
{
    ts_val opnds[] = {x, lane};
    ts_assert(ts_type_of(lw->fn, x) == TS_T_i32 && ts_type_of(lw->fn, lane) == TS_T_i32);
    return ts_emit(&lw->b, TS_OP_shfl, TS_T_i32, 2, opnds, TS_S(kind, kind == TS_SHFL_UP ? 0 : 31, 0), 0);
}

ts_val ts__lower_shuffle(ts_lower *lw, ts_val x, ts_val lane, ts_shfl kind)
{
    ts_builder *b = &lw->b;
    ts_type type = ts_type_of(lw->fn, x);
    uint32_t bits = ts_type_bits(lw->module, type);
    if (type == TS_T_f4E2M1FN) {
        x = ts__lower_shuffle(lw, ts_cast(b, TS_OP_bitcast, x, TS_T_i4, 0), lane, kind);
        return ts_cast(b, TS_OP_bitcast, x, type, 0);
    }
    if (type == TS_T_i1 || type == TS_T_i4) {
        x = convert_shuffle_word(lw, ts_cast(b, TS_OP_exti, x, TS_T_i32, TS_A_UNSIGNED), lane, kind);
        return ts_cast(b, TS_OP_trunci, x, type, 0);
    }
    if (bits == 64) {
        ts_type half[] = {TS_T_i32, TS_T_i32};
        ts_val word = ts_type_is_ptr(lw->module, type) ? ts_cast(b, TS_OP_ptr_to_int, x, TS_T_i64, 0)
                      : type == TS_T_i64 ? x : ts_cast(b, TS_OP_bitcast, x, TS_T_i64, 0);
        ts_val parts = ts_emit_multi(b, TS_OP_unpack2, 1, &word, 0, 0, 2, half);
        ts_val lo = convert_shuffle_word(lw, parts + 1, lane, kind),
               hi = convert_shuffle_word(lw, parts + 2, lane, kind);
        word = ts_emit(b, TS_OP_pack2, TS_T_i64, 2, (ts_val[]){lo, hi}, 0, 0);
        if (ts_type_is_ptr(lw->module, type))
            return ts_cast(b, TS_OP_int_to_ptr, word, type, 0);
        return type == TS_T_i64 ? word : ts_cast(b, TS_OP_bitcast, word, type, 0);
    }
    ts_type same = bits == 32 ? TS_T_i32 : bits == 16 ? TS_T_i16 : TS_T_i8;
    ts_val word = type == same ? x : ts_cast(b, TS_OP_bitcast, x, same, 0);
    word = same == TS_T_i32 ? word : ts_cast(b, TS_OP_exti, word, TS_T_i32, TS_A_UNSIGNED);
    word = convert_shuffle_word(lw, word, lane, kind);
    word = same == TS_T_i32 ? word : ts_cast(b, TS_OP_trunci, word, same, 0);
    return type == same ? word : ts_cast(b, TS_OP_bitcast, word, type, 0);
}

static ts_val *convert_shuffle(ts_lower *lw, const ts_val *reg, const ts_linear *to, const ts_move *move)
{
    static const uint32_t no_warp[TS_LAYOUT_WARPS];
    ts_val *out = ts__lower_regs(lw, to), lanes = ts__lower_linear(lw, move->lane_lane, no_warp);
    uint32_t repeats = ts__lower_repeats(to);
    for (uint32_t r = 0; r < 1u << to->n_reg; r++) {
        uint32_t fixed = ts_xor_of(move->reg_lane, to->n_reg, r);
        ts_val lane = ts_op2(&lw->b, TS_OP_xori, lanes, ts__lower_i32(lw, fixed), 0);
        out[r] = r & repeats ? out[r & ~repeats]
                             : ts__lower_shuffle(lw, reg[ts_xor_of(move->reg_reg, to->n_reg, r)], lane, TS_SHFL_IDX);
    }
    return out;
}

ts_val *ts__lower_convert(ts_lower *lw, ts_val why, ts_type elem, const ts_linear *from, const ts_val *reg,
                         const ts_linear *to)
{
    ts_move move;
    ts_assert(from->bits == to->bits && from->n_warp == to->n_warp); /* the same tile, the same threads */
    ts__move_plan(from, to, TS_MIN(8u, TS_MAX(1u, ts_type_bits(lw->module, elem) / 8)), &move);
    switch (move.kind) {
    case TS_MOVE_NONE: {
        ts_val *out = ts__lower_regs(lw, to);
        memcpy(out, reg, sizeof *out << to->n_reg);
        return out;
    }
    case TS_MOVE_REGS:
        return convert_regs(lw, reg, to, &move);
    case TS_MOVE_SHUFFLE:
        ts__note(lw->tile, why, TS_NOTE_move, "shuffle", "%u registers of a thread", 1u << to->n_reg);
        return convert_shuffle(lw, reg, to, &move);
    default:
        ts__note(lw->tile, why, TS_NOTE_move, "shared",
                "%u bytes, vectors of %u and %u elements, %u bank conflicts a warp",
                convert_bytes(lw, elem, from->bits), 1u << move.vec_store, 1u << move.vec_load,
                move.conflicts_store + move.conflicts_load);
        return convert_shared(lw, why, elem, from, reg, to, &move);
    }
}

/* ---- parts of tiles ---------------------------------------------------------------------------------------------- */

/* offset[i] of a tile of `type` that lies inside a tile of type `whole` at its origin: row-major there. */
static void convert_embed(const ts_module *module, ts_type type, ts_type whole, uint32_t *offset)
{
    for (uint32_t axis = 0; axis < ts_type_rank(module, type); axis++) {
        ts_axis_bits part = ts__axis_of(module, type, axis), of = ts__axis_of(module, whole, axis);
        ts_assert(part.n <= of.n);
        for (uint32_t i = 0; i < part.n; i++)
            offset[part.first + i] = 1u << (of.first + i);
    }
}

/* Byte offset of the slice at the run-time indices that follow operand `first`, in units of whole slices. An index
 * outside wraps, as on the CPU, so that it stays in this tile's memory. */
static ts_val convert_slice(ts_lower *lw, ts_val v, uint32_t first, ts_type part, ts_type whole, uint32_t bytes)
{
    ts_val sum = ts__lower_i32(lw, 0);
    for (uint32_t axis = 0; axis < ts_type_rank(lw->module, whole); axis++) {
        ts_axis_bits small = {0, 0}, of = ts__axis_of(lw->module, whole, axis);
        if (ts_type_rank(lw->module, part)) /* else one element */
            small = ts__axis_of(lw->module, part, axis);
        ts_val index = lw->values.scalar[ts_opnd(lw->tile, v, first + axis)];
        if (ts_type_of(lw->fn, index) == TS_T_i64)
            index = ts_cast(&lw->b, TS_OP_trunci, index, TS_T_i32, 0);
        else if (ts_type_of(lw->fn, index) != TS_T_i32)
            index = ts_cast(&lw->b, TS_OP_exti, index, TS_T_i32, TS_A_UNSIGNED);
        index = ts_op2(&lw->b, TS_OP_andi, index, ts__lower_i32(lw, (1 << (of.n - small.n)) - 1), 0);
        ts_val at = ts_op2(&lw->b, TS_OP_muli, index, ts__lower_i32(lw, (int64_t)bytes << (of.first + small.n)), 0);
        sum = ts_op2(&lw->b, TS_OP_addi, sum, at, 0);
    }
    return sum;
}

/* Registers of a part that threads have: those of the whole without the dropped bits. */
static bool convert_pick(ts_lower *lw, ts_val v, const ts_linear *from, const ts_linear *to)
{
    ts_linear same;
    ts_part part;
    if (!lw->assign.home[ts_opnd(lw->tile, v, 0)] || !ts__extract_registers(lw->tile, v, from, &same, &part) ||
        !ts__linear_equal(&same, to))
        return false;
    const ts_val *reg = ts__lower_get(lw, ts_opnd(lw->tile, v, 0), from);
    ts_val *out = ts__lower_regs(lw, to);
    for (uint32_t r = 0, n = 0; r < 1u << from->n_reg; r++)
        if ((r & part.dropped) == part.set)
            out[n++] = reg[r];
    ts__lower_set(lw, v, to, out);
    return true;
}

void ts__lower_extract(ts_lower *lw, ts_val v)
{
    ts_val x = ts_opnd(lw->tile, v, 0);
    ts_type whole = ts_type_of(lw->tile, x), part = ts_type_of(lw->tile, v), elem = ts__lower_elem(lw, v);
    const ts_linear *from = ts__lower_home(lw, x), *to = ts__lower_home(lw, v);
    if (convert_pick(lw, v, from, to))
        return;
    const ts_val *reg = ts__lower_get(lw, x, from);
    uint32_t flat[TS_LAYOUT_BITS], embed[TS_LAYOUT_BITS] = {0}, bytes = convert_bytes(lw, elem, from->bits);
    convert_note(lw, v, bytes);
    ts_layout_identity(flat);
    convert_box box = convert_put(lw, v, elem, from, reg, flat, 0);
    ts__lower_barrier(lw);
    ts_val *out = ts__lower_regs(lw, to);
    convert_embed(lw->module, part, whole, embed);
    box.bits = to->bits;
    box.offset = embed;
    convert_load(lw, &box, to, convert_slice(lw, v, 1, part, whole, box.bytes), out);
    ts__shared_done(lw, box.at, bytes);
    ts__lower_set(lw, v, to, convert_from_memory(lw, to, out, elem));
}

/* insert: part, whole, indices. The whole is written, then the part over it, then all is read. */
void ts__lower_insert(ts_lower *lw, ts_val v)
{
    ts_val whole = ts_opnd(lw->tile, v, 0), part = ts_opnd(lw->tile, v, 1);
    ts_type type = ts_type_of(lw->tile, v), elem = ts__lower_elem(lw, v);
    const ts_linear *home = ts__lower_home(lw, v), *from = ts__lower_home(lw, part);
    const ts_val *reg = ts__lower_get(lw, whole, home), *over = ts__lower_get(lw, part, from);
    uint32_t flat[TS_LAYOUT_BITS], embed[TS_LAYOUT_BITS] = {0}, bytes = convert_bytes(lw, elem, home->bits);
    convert_note(lw, v, bytes);
    ts_layout_identity(flat);
    convert_box box = convert_put(lw, v, elem, home, reg, flat, 0), small = box;
    ts__lower_barrier(lw);
    convert_embed(lw->module, ts_type_of(lw->tile, part), type, embed);
    small.offset = embed;
    small.bits = from->bits;
    small.base = ts__lower_ptr(lw, box.base, convert_slice(lw, v, 2, ts_type_of(lw->tile, part), type, box.bytes), 0);
    convert_store(lw, &small, from, convert_to_memory(lw, from, over), 0);
    ts__lower_set(lw, v, home, convert_take(lw, &box, bytes, elem, home));
}

/* ---- pack, unpack: the bytes of a tile, in memory order ------------------------------------------------------- */

/* Writes the wider side, reads the narrower one (or the reverse) at byte offsets of the same memory. */
void ts__lower_pack(ts_lower *lw, ts_val v)
{
    ts_val x = ts_opnd(lw->tile, v, 0);
    ts_type from_elem = ts__lower_elem(lw, x), to_elem = ts__lower_elem(lw, v);
    const ts_linear *from = ts__lower_home(lw, x), *to = ts__lower_home(lw, v);
    uint32_t flat[TS_LAYOUT_BITS];
    if (ts_type_bits(lw->module, from_elem) < 8 || ts_type_bits(lw->module, to_elem) < 8) {
        ts__lower_nibbles(lw, v);
        return;
    }
    const ts_val *reg = ts__lower_get(lw, x, from);
    uint32_t bytes = convert_bytes(lw, from_elem, from->bits);
    convert_note(lw, v, bytes);
    ts_layout_identity(flat);
    convert_box box = convert_put(lw, v, from_elem, from, reg, flat, 0);
    box = convert_box_of(lw, to_elem, to->bits, flat, box.at);
    ts__lower_set(lw, v, to, convert_take(lw, &box, bytes, to_elem, to));
}
