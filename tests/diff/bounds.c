/* SPDX-License-Identifier: Apache-2.0
 *
 * Indices far outside an array. One kernel for each kind of view, size of tile, width of index and extent; block i
 * loads the tile of index i of a table, writes it to row i of the output and stores it through the same view to
 * another array. What must come out is computed here, from the meaning of a view in numbers that do not wrap:
 *
 *     element (r, c) of the tile of index x is element (x * step + r, c) of the array, or padding outside it
 *
 * The interpreter, the CPU target and the thread-level code of the GPU are held against it. Padding, whose
 * meaning is one function for all of them, is compared for each mode and type.
 */
#include "on_cpu.h"

enum { COLUMNS = 8, MAX_INDICES = 64, ROWS = 40 };
__extension__ typedef __int128 far_int;

typedef enum far_kind { FAR_PARTITION, FAR_STRIDED, FAR_DENSE, FAR_SPARSE, FAR_KINDS } far_kind;

typedef struct far_case {
    far_kind kind;
    int64_t tile, step;       /* rows of a tile; rows from one index to the next */
    uint32_t bits;            /* of an index */
    int64_t extent, stride;   /* of the array's rows; stride 0: all rows are one */
    int64_t index[MAX_INDICES];
    uint32_t n;
} far_case;

/* ---- indices ------------------------------------------------------------------------------------ */

static void far_add(far_case *f, far_int x)
{
    far_int least = f->bits == 64 ? INT64_MIN : INT32_MIN, most = f->bits == 64 ? INT64_MAX : INT32_MAX;
    if (f->n < MAX_INDICES && x >= least && x <= most)
        f->index[f->n++] = (int64_t)x;
}

/* Around 0, around the end, and where index * step crosses a power of two at which some arithmetic may wrap. */
static void far_indices(far_case *f)
{
    static const uint32_t edges[] = {64, 63, 62, 61, 33, 32, 31};
    f->n = 0;
    for (int64_t i = -2; i <= 2; i++) {
        far_add(f, i);
        far_add(f, f->extent / f->step + i);
    }
    for (uint32_t e = 0; e < TS_COUNT(edges); e++)
        for (int64_t i = -1; i <= 1; i++) {
            far_add(f, ((far_int)1 << edges[e]) / f->step + i);
            far_add(f, -((far_int)1 << edges[e]) / f->step + i);
        }
    far_add(f, INT32_MAX);
    far_add(f, INT32_MIN);
    far_add(f, INT64_MAX);
    far_add(f, INT64_MIN);
}

/* ---- the kernel --------------------------------------------------------------------------------- */

static void far_view(const far_case *f, ts_text *t, const char *name, const char *of)
{
    static const char *const kinds[] = {"partition", "strided", "gather_scatter", "gather_scatter"};
    const char *kind = kinds[f->kind];
    long long stride = (long long)f->stride;
    ts__text_printf(t, "  %s = make_%s_view %s : %s_view<[%lld, 8], tensor_view<?x8xi32, strides=[%lld, 1]>", name,
                    kind,
                   of, kind, (long long)f->tile, stride);
    if (f->kind == FAR_STRIDED)
        ts__text_printf(t, ", steps=[%lld, 8]", (long long)f->step);
    if (f->kind >= FAR_DENSE)
        ts__text_printf(t, ", sparse_dim=%d", f->kind == FAR_DENSE);
    ts__text_puts(t, ">\n");
}

/* Operands of the row and the column axis of the view. */
static const char *far_operands(const far_case *f, ts_text *t)
{
    if (f->kind <= FAR_STRIDED)
        return "%13, %14";
    if (f->kind == FAR_DENSE) {
        ts__text_puts(t, "  %50 = iota : tile<8xi32>\n");
        return "%13, %50";
    }
    long long n = (long long)f->tile;
    ts__text_printf(t, "  %%50 = reshape %%13 : tile<1xi%u>\n", f->bits);
    ts__text_printf(t, "  %%51 = broadcast %%50 : tile<%lldxi%u>\n", n, f->bits);
    return "%51, %14";
}

static void far_kernel(const far_case *f, ts_text *t)
{
    long long n = (long long)f->tile, stride = (long long)f->stride;
    ts__text_puts(t, "entry @far(%1: ptr<i32>, %2: ptr<i32>, %3: ptr<i32>, ");
    ts__text_printf(t, "%%4: ptr<i%u>, %%5: i32, %%6: i32) {\n", f->bits);
    ts__text_puts(t, "  %10 = get_tile_block_id axis=0 : i32\n");
    ts__text_printf(t, "  %%12 = offset %%4, %%10 : ptr<i%u>\n  %%13 = load_ptr_tko %%12 : i%u\n", f->bits, f->bits);
    ts__text_puts(t, "  %14 = constant 0 : i32\n");
    ts__text_printf(t, "  %%15 = assume bounded(0, ?) %%5 : i32\n  %%16 = assume bounded(0, ?) %%6 : i32\n");
    ts__text_printf(t, "  %%20 = make_tensor_view %%2, %%15 : tensor_view<?x8xi32, strides=[%lld, 1]>\n", stride);
    ts__text_printf(t, "  %%21 = make_tensor_view %%3, %%16 : tensor_view<?x8xi32, strides=[%lld, 1]>\n", stride);
    far_view(f, t, "%22", "%20");
    far_view(f, t, "%23", "%21");
    ts__text_printf(t, "  %%24 = make_tensor_view %%1 : tensor_view<%lldx8xi32, strides=[8, 1]>\n", n * MAX_INDICES);
    ts__text_printf(t, "  %%25 = make_partition_view %%24 : partition_view<[%lld, 8], ", n);
    ts__text_printf(t, "tensor_view<%lldx8xi32, strides=[8, 1]>>\n", n * MAX_INDICES);
    const char *at = far_operands(f, t);
    ts__text_printf(t, "  %%30 = load_view_tko %%22, %s : tile<%lldx8xi32>\n", at, n);
    ts__text_puts(t, "  %31 = store_view_tko %25, %30, %10, %14 : token\n");
    ts__text_printf(t, "  %%32 = store_view_tko %%23, %%30, %s : token\n  return\n}\n", at);
}

/* ---- what it means -------------------------------------------------------------------------------- */

static void far_meaning(const far_case *f, const diff_memory *m)
{
    int32_t *out = m->at[0], *to = m->at[2];
    const int32_t *from = m->at[1];
    for (uint32_t i = 0; i < f->n; i++)
        for (int64_t r = 0; r < f->tile; r++) {
            far_int row = f->kind == FAR_SPARSE ? (far_int)f->index[i] : (far_int)f->index[i] * f->step + r;
            for (int64_t c = 0; c < COLUMNS; c++) {
                bool inside = row >= 0 && row < f->extent;
                int64_t at = inside ? (int64_t)row * f->stride + c : 0;
                int32_t x = out[(i * f->tile + r) * COLUMNS + c] = inside ? from[at] : 0;
                if (inside && f->stride)
                    to[at] = x;
            }
        }
}

static void far_check(const far_case *f)
{
    static const char all[] = "fold dce licm legalize fold dce licm";
    static const diff_way ways[] = {{DIFF_CPU, TS_TARGET_CPU, all, 0, NULL},
                                    {DIFF_SIMT, TS_TARGET_SM80, "", 1, NULL},
                                    {DIFF_SIMT, TS_TARGET_SM90, all, 7, "fold dce licm"}};
    static const char *const names[] = {"cpu", "sm_80", "sm_90 after passes"};
    ts_arena arena;
    ts_text text;
    ts_module *module = NULL;
    ts_error err = {0};
    diff_memory found, wanted;
    char name[128];
    snprintf(name, sizeof name, "kind %d, tile %lld, step %lld, i%u, extent %lld", (int)f->kind, (long long)f->tile,
             (long long)f->step, f->bits, (long long)f->extent);
    ts__arena_init(&arena, NULL);
    ts__text_init(&text, NULL);
    far_kernel(f, &text);
    CHECK_OK(ts__module_read(&arena, ts__text_get(&text), text.n, &module, &err));
    CHECK_OK(ts_module_verify(module, &err));
    size_t n = ROWS * COLUMNS;
    diff_case c = {.name = name, .fn = module->fns.at[0], .n_buffers = 4, .n_ints = 2, .grid = {f->n, 1, 1},
                   .buffer = {{TS_T_i32, (size_t)f->tile * COLUMNS * MAX_INDICES, 0, .output = true},
                              {TS_T_i32, n, 7, false, false, NULL}, {TS_T_i32, n, 0, .output = true},
                              {f->bits == 64 ? TS_T_i64 : TS_T_i32, f->n, 0, .values = f->index}}};
    c.ints[0] = f->extent;
    c.ints[1] = f->stride ? f->extent : 0; /* rows that are one would be written by many blocks */
    diff_fill(&c, &found);
    diff_fill(&c, &wanted);
    far_meaning(f, &wanted);
    ts_eval_env env = diff_env(&c, &found, NULL);
    CHECK_OK(ts__eval_grid(c.fn, found.params, 6, c.grid, &env, &err));
    CHECK_INT(diff_compare(&c, &wanted, &found, "meaning"), 0);
    bool cpu = diff_has_cpu(&c);
    check_skipped += !cpu;
    for (uint32_t w = !cpu; w < TS_COUNT(ways); w++)
        diff_check(&c, &ways[w], names[w]);
    diff_free(&found);
    diff_free(&wanted);
    ts__text_deinit(&text);
    ts__arena_deinit(&arena);
}

static void an_index_too_far_out_is_outside(void)
{
    static const int64_t tiles[] = {1, 4, 64}, extents[] = {5, ROWS, INT32_MAX}, steps[] = {1, 3, 64};
    for (int kind = 0; kind < FAR_KINDS; kind++)
        for (uint32_t i = 0; i < 9 * 2; i++) {
            far_case f = {.kind = (far_kind)kind, .tile = tiles[i % 3], .extent = extents[i / 3 % 3]};
            f.bits = i / 9 ? 64 : 32;
            f.step = kind == FAR_PARTITION ? f.tile : kind == FAR_STRIDED ? steps[i % 3] : 1;
            f.stride = f.extent == INT32_MAX ? 0 : COLUMNS;
            far_indices(&f);
            far_check(&f);
        }
}

/* ---- padding ------------------------------------------------------------------------------------ */

/* 5 of 8 elements of a tile lie in the array. */
static void padding_is_the_same_everywhere(ts_type elem, const char *padding, bool checked)
{
    static const diff_way ways[] = {{DIFF_SIMT, TS_TARGET_SM80, "", 1, NULL}, {DIFF_SIMT, TS_TARGET_SM90, "", 1, NULL},
                                    {DIFF_CPU, TS_TARGET_CPU, "legalize", 0, NULL}};
    static const char *const names[] = {"sm_80", "sm_90", "cpu"};
    const char *type = ts_scalar_name(elem), *is_checked = checked ? " checked" : "";
    ts_arena arena;
    ts_text text;
    ts_module *module = NULL;
    ts_error err = {0};
    char name[96];
    snprintf(name, sizeof name, "%s%s%s", type, padding, is_checked);
    ts__arena_init(&arena, NULL);
    ts__text_init(&text, NULL);
    ts__text_printf(&text, "entry @pad(%%1: ptr<%s>, %%2: ptr<%s>, %%3: i32)%s {\n", type, type, is_checked);
    ts__text_puts(&text, "  %4 = assume bounded(0, ?) %3 : i32\n");
    ts__text_printf(&text, "  %%5 = make_tensor_view %%2, %%4 : tensor_view<?x%s, strides=[1]>\n", type);
    ts__text_printf(&text, "  %%6 = make_partition_view %%5 : partition_view<[8], tensor_view<?x%s, strides=[1]>%s>\n",
                   type, padding);
    ts__text_printf(&text, "  %%7 = make_tensor_view %%1 : tensor_view<8x%s, strides=[1]>\n", type);
    ts__text_printf(&text, "  %%8 = make_partition_view %%7 : partition_view<[8], tensor_view<8x%s, strides=[1]>>\n",
                   type);
    ts__text_printf(&text, "  %%9 = constant 0 : i32\n  %%10 = load_view_tko %%6, %%9 : tile<8x%s>\n", type);
    ts__text_printf(&text, "  %%11 = store_view_tko %%8, %%10, %%9 : token\n  return\n}\n");
    CHECK_OK(ts__module_read(&arena, ts__text_get(&text), text.n, &module, &err));
    CHECK_OK(ts_module_verify(module, &err));
    diff_case c = {.name = name, .fn = module->fns.at[0], .n_buffers = 2, .n_ints = 1, .grid = {1, 1, 1},
                   .buffer = {{elem, 8, 0, .output = true}, {elem, 8, 3, false, false, NULL}}};
    c.ints[0] = 5;
    for (uint32_t w = 0; w < TS_COUNT(ways) - !diff_has_cpu(&c); w++)
        diff_check(&c, &ways[w], names[w]);
    ts__text_deinit(&text);
    ts__arena_deinit(&arena);
}

static void every_padding_is_the_same_everywhere(void)
{
    static const char *const modes[] = {"", ", padding=zero", ", padding=neg_zero", ", padding=nan",
                                        ", padding=pos_inf", ", padding=neg_inf"};
    static const ts_type elems[] = {TS_T_i8, TS_T_i32, TS_T_i64, TS_T_f16, TS_T_bf16, TS_T_f32, TS_T_f64, TS_T_f8E4M3FN,
                                    TS_T_f8E5M2, TS_T_f8E8M0FNU, TS_T_f4E2M1FN};
    for (uint32_t e = 0; e < TS_COUNT(elems); e++)
        for (uint32_t m = 0; m < (ts__float_format_of(elems[e]) ? TS_COUNT(modes) : 2); m++)
            for (int checked = 0; checked < (m == 0) + 1; checked++)
                padding_is_the_same_everywhere(elems[e], modes[m], checked);
}

int main(void)
{
    every_padding_is_the_same_everywhere();
    an_index_too_far_out_is_outside();
    return check_done();
}
