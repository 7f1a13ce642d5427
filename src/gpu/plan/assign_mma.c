/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of tiles (assign.h): which of the three paths each one takes, and the fragments of mma.sync (PTX ISA 9.0,
 * matrix fragments for mma) for each shape of mma.def. assign_fma.c has those of plain fma, wgmma.c those of wgmma.
 */
#include "gpu/plan/assign.h"
#include "ir/note.h"

/* Where the bits of an mma.sync fragment live: letter k, m or n, then the bit; registers, '|', lanes. */
typedef struct mma_fragment {
    const char *c, *a, *b;
} mma_fragment;

static const mma_fragment mma_16bit = {"n0m3|n1n2m0m1m2", "k0m3k3|k1k2m0m1m2", "k0k3|k1k2n0n1n2"};
static const mma_fragment mma_k8 = {"n0m3|n1n2m0m1m2", "m3k2|k0k1m0m1m2", "k2|k0k1n0n1n2"};
static const mma_fragment mma_8bit = {"n0m3|n1n2m0m1m2", "k0k1m3k4|k2k3m0m1m2", "k0k1k4|k2k3n0n1n2"};
static const mma_fragment mma_f64 = {"n0|n1n2m0m1m2", "|k0k1m0m1m2", "|k0k1n0n1n2"};
static const mma_fragment mma_f64_k4 = {"n0m3|n1n2m0m1m2", "m3|k0k1m0m1m2", "|k0k1n0n1n2"};

typedef struct mma_row {
    uint8_t a, c, log_m, log_k;
    const mma_fragment *fragment;
} mma_row;

static const mma_row mma_rows[] = {
    [TS_MMA_m16n8k16_f16] = {TS_T_f16, TS_T_f32, 4, 4, &mma_16bit},
    [TS_MMA_m16n8k16_bf16] = {TS_T_bf16, TS_T_f32, 4, 4, &mma_16bit},
    [TS_MMA_m16n8k8_tf32] = {TS_T_tf32, TS_T_f32, 4, 3, &mma_k8},
    [TS_MMA_m16n8k32_s8] = {TS_T_i8, TS_T_i32, 4, 5, &mma_8bit},
    [TS_MMA_m16n8k8_f64] = {TS_T_f64, TS_T_f64, 4, 3, &mma_k8},
    [TS_MMA_m16n8k4_f64] = {TS_T_f64, TS_T_f64, 4, 2, &mma_f64_k4},
    [TS_MMA_m8n8k4_f64] = {TS_T_f64, TS_T_f64, 3, 2, &mma_f64},
    [TS_MMA_m16n8k32_e4m3] = {TS_T_f8E4M3FN, TS_T_f32, 4, 5, &mma_8bit},
    [TS_MMA_m16n8k32_e5m2] = {TS_T_f8E5M2, TS_T_f32, 4, 5, &mma_8bit},
};

/* Flat bits of a matrix tile: [batch,] rows, columns with log2 extents. */
typedef struct mma_axes {
    char row, column;
    uint32_t log_b, log_row, log_column;
} mma_axes;

/* Column of one letter and bit; 0 when the tile is too small to have it. */
static uint32_t mma_letter(const mma_axes *axes, char letter, uint32_t bit)
{
    if (letter == axes->column)
        return bit < axes->log_column ? 1u << bit : 0;
    return letter == axes->row && bit < axes->log_row ? 1u << (axes->log_column + bit) : 0;
}

/* Fills the registers and lanes of one instruction's fragment. */
static void mma_atom(ts_linear *layout, const char *text, const mma_axes *axes)
{
    bool lanes = false;
    uint32_t n_lane = 0;
    for (; *text; text++) {
        if (*text == '|') {
            lanes = true;
            continue;
        }
        uint32_t column = mma_letter(axes, text[0], (uint32_t)(text[1] - '0'));
        text++;
        if (lanes)
            layout->lane[n_lane++] = column;
        else
            layout->reg[layout->n_reg++] = column;
    }
}

static void mma_reg(ts_linear *layout, uint32_t column)
{
    if (column && layout->n_reg < TS_LAYOUT_REGS)
        layout->reg[layout->n_reg++] = column;
}

ts_linear ts__mma_layout_c(ts_mma row, const int64_t *dims, uint32_t rank, uint32_t n_warp, bool rows_first)
{
    const mma_row *info = &mma_rows[row];
    mma_axes axes = {'m', 'n', rank == 3 ? (uint32_t)ts_log2((uint64_t)dims[0]) : 0,
                        (uint32_t)ts_log2((uint64_t)dims[rank - 2]), (uint32_t)ts_log2((uint64_t)dims[rank - 1])};
    uint32_t m = axes.log_row, n = axes.log_column, b = axes.log_b;
    ts_linear layout = {.bits = (uint8_t)(m + n + b), .n_warp = (uint8_t)n_warp};
    mma_atom(&layout, info->fragment->c, &axes);
    uint32_t m_left = m, n_left = n, b_left = b;
    for (uint32_t i = 0; i < n_warp; i++) {
        bool can_m = m_left > info->log_m, can_n = n_left > 3;
        if (can_m && (rows_first || !can_n || m_left >= n_left))
            layout.warp[i] = 1u << (n + --m_left);
        else if (b_left)
            layout.warp[i] = 1u << (n + m + --b_left);
        else if (can_n)
            layout.warp[i] = 1u << --n_left;
    }
    for (uint32_t i = 3; i < n_left; i++)
        mma_reg(&layout, 1u << i);
    for (uint32_t i = info->log_m; i < m_left; i++)
        mma_reg(&layout, 1u << (n + i));
    for (uint32_t i = 0; i < b_left; i++)
        mma_reg(&layout, 1u << (n + m + i));
    return layout;
}

/* Adds the registers and warps of an operand: axis bits of C beyond the fragment, and all of k. */
static void mma_operand(ts_linear *layout, const ts_linear *c, uint32_t c_first, uint32_t c_n, uint32_t first,
                           uint32_t k_first, uint32_t k_from, uint32_t k_n, uint32_t c_batch, uint32_t batch,
                           uint32_t log_b)
{
    uint32_t in_atom = 0;
    for (uint32_t i = 0; i < layout->n_reg; i++)
        in_atom |= layout->reg[i];
    for (uint32_t i = 0; i < c->n_reg; i++)
        for (uint32_t bit = 0; bit < c_n; bit++)
            if (c->reg[i] == 1u << (c_first + bit) && !(in_atom >> (first + bit) & 1) && bit >= 3)
                mma_reg(layout, 1u << (first + bit));
    for (uint32_t i = 0; i < c->n_reg; i++)
        for (uint32_t bit = 0; bit < log_b; bit++)
            if (c->reg[i] == 1u << (c_batch + bit))
                mma_reg(layout, 1u << (batch + bit));
    for (uint32_t i = k_from; i < k_n; i++)
        mma_reg(layout, 1u << (k_first + i));
    for (uint32_t i = 0; i < c->n_warp; i++) {
        uint32_t axis = c->warp[i] >> c_first & ((1u << c_n) - 1), b = c->warp[i] >> c_batch & ((1u << log_b) - 1);
        layout->warp[i] = axis << first | b << batch;
    }
}

ts_linear ts__mma_layout_a(ts_mma row, const ts_linear *c, uint32_t log_b, uint32_t log_m, uint32_t log_n,
                          uint32_t log_k)
{
    mma_axes axes = {'m', 'k', log_b, log_m, log_k};
    ts_linear layout = {.bits = (uint8_t)(log_b + log_m + log_k), .n_warp = c->n_warp};
    mma_atom(&layout, mma_rows[row].fragment->a, &axes);
    mma_operand(&layout, c, log_n, log_m, log_k, 0, mma_rows[row].log_k, log_k, log_n + log_m, log_m + log_k,
                   log_b);
    return layout;
}

ts_linear ts__mma_layout_b(ts_mma row, const ts_linear *c, uint32_t log_b, uint32_t log_m, uint32_t log_n,
                          uint32_t log_k)
{
    mma_axes axes = {'k', 'n', log_b, log_k, log_n};
    ts_linear layout = {.bits = (uint8_t)(log_b + log_n + log_k), .n_warp = c->n_warp};
    mma_atom(&layout, mma_rows[row].fragment->b, &axes);
    mma_operand(&layout, c, 0, log_n, 0, log_n, mma_rows[row].log_k, log_k, log_n + log_m, log_n + log_k, log_b);
    return layout;
}

/* The row of mma.def for these types on this target; TS_MMA_COUNT when there is none. */
static uint32_t mma_find_row(ts_target target, ts_type a, ts_type b, ts_type c, const int64_t *dims_a, uint32_t rank)
{
    static const uint8_t least[] = {
#define TS_MMA(name, m, n, k, ta, tb, tc, ra, rb, rc, sm) [TS_MMA_##name] = sm,
#include "tessera/mma.def"
    };
    for (uint32_t row = 0; row < TS_COUNT(mma_rows); row++) {
        const mma_row *info = &mma_rows[row];
        if (info->a == a && a == b && (info->c == c || (info->c == TS_T_f32 && c == TS_T_f16)) &&
            (uint32_t)target >= least[row] && dims_a[rank - 1] >= (int64_t)1 << info->log_k)
            return row;
    }
    return TS_MMA_COUNT;
}

const ts_linear *ts__assign_product(ts_assign *out, const ts_fn *fn, ts_val v)
{
    ts_type type = ts_type_of(fn, v);
    uint32_t rank = ts_type_rank(fn->module, type);
    const int64_t *dims = ts_type_dims(fn->module, type);
    ts_linear layout;
    if (out->mma_path[v] == TS_MMA_PATH_WGMMA)
        layout = ts__wgmma_layout_of(fn->module, type, out->n_warp);
    else if (out->mma_path[v] == TS_MMA_PATH_SYNC)
        layout = ts__mma_layout_c((ts_mma)out->row[v], dims, rank, out->n_warp, out->reduces);
    else
        layout = ts__fma_layout_c(dims, rank, out->n_warp, out->reduces);
    bool fits = out->mma_path[v] != TS_MMA_PATH_FMA || ts__linear_covers(&layout);
    return fits ? ts__assign_intern(out, &layout) : NULL;
}

void ts__assign_mma_paths(ts_assign *out, const ts_fn *fn, ts_target target)
{
    static const char *const names[] = {
        [TS_MMA_PATH_FMA] = "fma", [TS_MMA_PATH_SYNC] = "mma.sync", [TS_MMA_PATH_WGMMA] = "wgmma"};
    const ts_module *module = fn->module;
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        if (inst->op != TS_OP_mmaf && inst->op != TS_OP_mmai)
            continue;
        ts_type a = ts_type_of(fn, inst->opnd[0]), b = ts_type_of(fn, inst->opnd[1]), c = inst->type;
        uint32_t row = mma_find_row(target, ts_type_elem(module, a), ts_type_elem(module, b), ts_type_elem(module, c),
                                    ts_type_dims(module, a), ts_type_rank(module, a));
        out->mma_path[v] = ts__wgmma_of(&out->tma, v) ? TS_MMA_PATH_WGMMA
                      : row < TS_MMA_COUNT      ? TS_MMA_PATH_SYNC
                                                : TS_MMA_PATH_FMA;
        out->row[v] = (uint8_t)row;
        ts__note(fn, v, TS_NOTE_product, names[out->mma_path[v]], "%u warps", 1u << out->n_warp);
    }
}
