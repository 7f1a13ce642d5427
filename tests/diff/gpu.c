/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU lowering without a GPU: every kernel of the corpus at tile level against its thread-level form,
 * with races checked and warps in several orders. */
#include "gen.h"
#include "../target/kernels.h"

/* Buffers have the element of their pointer parameter; the corpus says how many 4-byte words. */
static bool gpu_case(const kernel_case *kernel, ts_arena *arena, diff_case *c)
{
    ts_error err;
    ts_module *m = NULL;
    *c = (diff_case){.name = kernel->name,
                     .n_buffers = kernel->n_buffers,
                     .n_ints = kernel->n_ints,
                     .tolerance = kernel->tolerance};
    CHECK_OK(ts__module_read(arena, kernel->text, strlen(kernel->text), &m, &err));
    if (!m)
        return false;
    c->fn = m->fns.at[0];
    memcpy(c->grid, kernel->grid, sizeof c->grid);
    for (uint32_t i = 0; i < kernel->n_buffers; i++) {
        ts_type elem = ts_type_get(m, ts_type_of(c->fn, i + 1))->elem;
        size_t n = (size_t)kernel->words * 32 / ts_type_bits(m, elem);
        c->buffer[i] = (diff_buffer){elem, n, kernel->fill[i] == 'z' ? 0 : i + 5, false, i == 0};
    }
    for (uint32_t i = 0; i < kernel->n_ints; i++)
        c->ints[i] = kernel->ints[i];
    return true;
}

static void the_corpus_means_the_same_at_thread_level(void)
{
    static const ts_target targets[] = {TS_TARGET_SM80, TS_TARGET_SM90, TS_TARGET_SM120};
    for (size_t i = 0; i < TS_COUNT(kernel_cases); i += check_step(3)) {
        ts_arena arena;
        diff_case c;
        ts__arena_init(&arena, NULL);
        for (size_t t = 0; t < 2 * TS_COUNT(targets) && gpu_case(&kernel_cases[i], &arena, &c); t++) {
            const char *passes = kernel_cases[i].needs_passes ? "math legalize" : "";
            diff_way way = {DIFF_SIMT, targets[t / 2], passes, t % 2 ? 7 : 1, NULL};
            char what[32];
            snprintf(what, sizeof what, "sm_%d", (int)targets[t / 2]);
            diff_check(&c, &way, what);
        }
        ts__arena_deinit(&arena);
    }
}

/* base + 0 .. n - 1, as the pointers of `n` elements. */
static ts_val gpu_pointers(ts_builder *b, ts_val base, ts_type index)
{
    ts_module *m = b->fn->module;
    ts_type pointer = ts_type_of(b->fn, base);
    ts_val i = ts_emit(b, TS_OP_iota, index, 0, NULL, 0, 0);
    ts_val all = ts_reshape(b, base, ts_type_tile(m, pointer, 1, (int64_t[]){1}));
    all = ts_broadcast(b, all, ts_type_with_elem(m, index, pointer));
    return ts_emit(b, TS_OP_offset, ts_type_of(b->fn, all), 2, (ts_val[]){all, i}, 0, 0);
}

/* A reduction or scan of pairs of integers that must go in order: the composition of y = a x + b. */
typedef struct gpu_order {
    ts_op op;
    uint32_t rank, axis, warps;
    int64_t dims[3];
    bool reverse;
    uint8_t ctas;
} gpu_order;

static ts_val gpu_compose(ts_builder *b, const gpu_order *o, const ts_val *inputs)
{
    ts_val v = ts_reduce_begin(b, o->op, o->axis, o->reverse, 2, inputs, (uint64_t[]){1, 0});
    ts_val a = ts_region_arg(b->fn, v, 0), a_acc = ts_region_arg(b->fn, v, 1), c = ts_region_arg(b->fn, v, 2),
        c_acc = ts_region_arg(b->fn, v, 3);
    ts_val product = ts_op2(b, TS_OP_muli, a_acc, a, 0);
    ts_val sum = ts_op2(b, TS_OP_addi, ts_op2(b, TS_OP_muli, c_acc, a, 0), c, 0);
    ts_term(b, TS_OP_yield, 2, (ts_val[]){product, sum});
    ts_end_like(b, v);
    return b->fn->inst.n - 1;
}

static void the_order_is_kept(const gpu_order *o)
{
    ts_arena arena;
    ts_builder b;
    ts__arena_init(&arena, NULL);
    ts_module *m = ts__module_create(&arena);
    ts_fn *fn = ts_fn_create(m, "order", TS_LEVEL_T);
    fn->entry = true;
    fn->num_warps = (uint8_t)o->warps;
    ts__builder_init(&b, fn);
    ts_val to = ts_fn_param(&b, ts_type_ptr(m, TS_T_i32, TS_GLOBAL)), from = ts_fn_param(&b, ts_type_of(fn, to));
    int64_t n = 1;
    for (uint32_t d = 0; d < o->rank; d++)
        n *= o->dims[d];
    ts_val at = gpu_pointers(&b, from, ts_type_tile(m, TS_T_i32, 1, &n));
    ts_val x = ts_emit(&b, TS_OP_load_ptr_tko, ts_type_tile(m, TS_T_i32, 1, &n), 1, &at, 0, 0);
    x = ts_reshape(&b, x, ts_type_tile(m, TS_T_i32, o->rank, o->dims));
    ts_val y = gpu_compose(&b, o, (ts_val[]){ts_op2(&b, TS_OP_ori, x, ts_int(&b, ts_type_of(fn, x), 1), 0), x});
    int64_t left = ts_type_count(m, ts_type_of(fn, y));
    ts_type flat = ts_type_tile(m, TS_T_i32, 1, &left);
    ts_emit(&b, TS_OP_store_ptr_tko, TS_T_token, 2,
            (ts_val[]){gpu_pointers(&b, to, flat), ts_reshape(&b, y, flat)}, 0, 0);
    ts_term(&b, TS_OP_return, 0, NULL);
    diff_case c = {.name = "order", .fn = fn, .n_buffers = 2, .grid = {1, 1, 1}};
    c.buffer[0] = (diff_buffer){.elem = TS_T_i32, .n = (size_t)left, .output = true};
    c.buffer[1] = (diff_buffer){.elem = TS_T_i32, .n = (size_t)n, .seed = 9};
    diff_way way = {DIFF_SIMT, TS_TARGET_SM90, "", 7, "dce licm", .ctas = o->ctas};
    char what[80];
    snprintf(what, sizeof what, "axis %u, %u warps, %u blocks", o->axis, o->warps, o->ctas);
    diff_check(&c, &way, what);
    ts__arena_deinit(&arena);
}

static void functions_that_do_not_commute_keep_the_order(void)
{
    static const int64_t shapes[][3] = {{8, 1, 1},   {64, 1, 1}, {1024, 1, 1}, {2048, 1, 1}, {8, 32, 1},   {32, 8, 1},
                                        {2, 512, 1}, {64, 64, 1}, {256, 2, 1}, {4, 8, 32},   {16, 2, 4}, {1, 16, 16}};
    static const uint32_t warps[] = {0, 1, 2, 8};
    for (size_t i = 0; i < TS_COUNT(shapes); i++)
        for (uint32_t j = 0; j < 4 * TS_COUNT(warps); j += (uint32_t)check_step(5)) {
            gpu_order o = {j % 3 ? TS_OP_reduce : TS_OP_scan, 3, 0, warps[j / 4], {0}, j % 2, j % 4 == 3 ? 4 : 1};
            memcpy(o.dims, shapes[i], sizeof o.dims);
            o.reverse = o.op == TS_OP_scan && j % 2;
            for (o.axis = 0; o.axis < 3; o.axis++)
                if (o.dims[o.axis] > 1)
                    the_order_is_kept(&o);
        }
}

/* Every float to every integer: out[i] = (to)in[i], on numbers that the two may treat apart. */
static void conversion_means_the_same(ts_type from, ts_type to, uint32_t attr)
{
    enum { N = 256 };
    static const diff_way ways[] = {{DIFF_SIMT, TS_TARGET_SM80, "legalize", 1, NULL},
                                    {DIFF_SIMT, TS_TARGET_SM100, "fold legalize fold", 0, NULL}};
    ts_arena arena;
    ts_builder b;
    ts__arena_init(&arena, NULL);
    ts_module *m = ts__module_create(&arena);
    ts_fn *fn = ts_fn_create(m, "conversion", TS_LEVEL_T);
    fn->entry = true;
    ts__builder_init(&b, fn);
    ts_val base[2] = {ts_fn_param(&b, ts_type_ptr(m, to, TS_GLOBAL)), ts_fn_param(&b, ts_type_ptr(m, from, TS_GLOBAL))};
    ts_type index = ts_type_tile(m, TS_T_i32, 1, (int64_t[]){N});
    ts_val at = gpu_pointers(&b, base[1], index);
    ts_val x = ts_emit(&b, TS_OP_load_ptr_tko, ts_type_with_elem(m, index, from), 1, &at, 0, 0);
    ts_val y = ts_cast(&b, TS_OP_ftoi, x, to, attr);
    ts_emit(&b, TS_OP_store_ptr_tko, TS_T_token, 2, (ts_val[]){gpu_pointers(&b, base[0], index), y}, 0, 0);
    ts_term(&b, TS_OP_return, 0, NULL);
    diff_case c = {.name = "conversion", .fn = fn, .n_buffers = 2, .grid = {1, 1, 1}};
    c.buffer[0] = (diff_buffer){.elem = to, .n = N, .output = true};
    c.buffer[1] = (diff_buffer){.elem = from, .n = N, .seed = 3, .special = true};
    for (size_t w = 0; w < TS_COUNT(ways); w++)
        diff_check(&c, &ways[w], ts_scalar_name(from));
    ts__arena_deinit(&arena);
}

static void floats_become_the_same_integers_at_thread_level(void)
{
    static const ts_type floats[] = {TS_T_f16, TS_T_bf16, TS_T_f32, TS_T_f64, TS_T_tf32, TS_T_f8E4M3FN, TS_T_f8E5M2};
    static const ts_type ints[] = {TS_T_i1, TS_T_i8, TS_T_i16, TS_T_i32, TS_T_i64};
    for (size_t f = 0; f < TS_COUNT(floats); f++)
        for (size_t i = 0; i < TS_COUNT(ints); i++)
            for (uint32_t sign = 0; sign <= TS_A_UNSIGNED; sign += TS_A_UNSIGNED)
                conversion_means_the_same(floats[f], ints[i], TS_RZI | sign);
}

/* Stores over stores of an array that is never loaded: the last one in program order stays. */
static void later_stores_stay(void)
{
    static const char *const texts[] = {
        /* two scatters, the second backwards */
        "entry @k(%1: ptr<i32>) {\n  %2 = iota : tile<256xi32>\n  %3 = constant 255 : tile<256xi32>\n"
        "  %4 = subi %3, %2 : tile<256xi32>\n  %5 = reshape %1 : tile<1xptr<i32>>\n"
        "  %6 = broadcast %5 : tile<256xptr<i32>>\n  %7 = offset %6, %2 : tile<256xptr<i32>>\n"
        "  %8 = offset %6, %4 : tile<256xptr<i32>>\n  %9 = store_ptr_tko %7, %2 : token\n"
        "  %10 = muli %2, %3 : tile<256xi32>\n  %11 = store_ptr_tko %8, %10 : token\n  return\n}\n",
        /* tiles that overlap, trip after trip */
        "entry @k(%1: ptr<i32>) {\n  %2 = iota : tile<256xi32>\n"
        "  %3 = make_tensor_view %1 : tensor_view<512xi32, strides=[1]>\n"
        "  %4 = make_strided_view %3 : strided_view<[256], tensor_view<512xi32, strides=[1]>, steps=[3]>\n"
        "  %5 = constant 0 : i32\n  %6 = constant 5 : i32\n  %7 = constant 1 : i32\n  for %8 in (%5, %6, %7) {\n"
        "    %9 = store_view_tko %4, %2, %8 : token\n    continue\n  }\n  return\n}\n",
        /* one array through two shapes of tile */
        "entry @k(%1: ptr<i32>) {\n  %2 = iota : tile<512xi32>\n  %3 = reshape %2 : tile<32x16xi32>\n"
        "  %4 = make_tensor_view %1 : tensor_view<512xi32, strides=[1]>\n"
        "  %5 = make_tensor_view %1 : tensor_view<16x32xi32, strides=[1, 16]>\n"
        "  %6 = make_partition_view %4 : partition_view<[512], tensor_view<512xi32, strides=[1]>>\n"
        "  %7 = make_partition_view %5 : partition_view<[16, 32], tensor_view<16x32xi32, strides=[1, 16]>>\n"
        "  %8 = constant 0 : i32\n  %9 = permute [1, 0] %3 : tile<16x32xi32>\n  %10 = addi %9, %9 : tile<16x32xi32>\n"
        "  %11 = store_view_tko %6, %2, %8 : token\n  %12 = store_view_tko %7, %10, %8, %8 : token\n  return\n}\n"};
    static const ts_target targets[] = {TS_TARGET_SM80, TS_TARGET_SM90};
    for (size_t i = 0; i < TS_COUNT(texts) * TS_COUNT(targets); i++) {
        ts_error err;
        ts_arena arena;
        ts_module *m = NULL;
        const char *text = texts[i / TS_COUNT(targets)];
        ts__arena_init(&arena, NULL);
        CHECK_OK(ts__module_read(&arena, text, strlen(text), &m, &err));
        diff_case c = {.name = "later stores", .n_buffers = 1, .grid = {1, 1, 1}};
        c.fn = m ? m->fns.at[0] : NULL;
        c.buffer[0] = (diff_buffer){.elem = TS_T_i32, .n = 512, .output = true};
        diff_way way = {DIFF_SIMT, targets[i % TS_COUNT(targets)], "", 1, "dce licm"};
        if (m)
            diff_check(&c, &way, "one over the other");
        ts__arena_deinit(&arena);
    }
}

/* b[i] = i; c = a; with a and b the same memory, which the function says or not. */
static ts_status gpu_overlap(bool says, ts_target target, int32_t *memory, ts_error *err)
{
    static const char text[] =
        "entry @k(%1: ptr<i32>, %2: ptr<i32>, %3: ptr<i32>) {\n  %4 = iota : tile<256xi32>\n"
        "  %5 = constant 255 : tile<256xi32>\n  %6 = subi %5, %4 : tile<256xi32>\n"
        "  %7 = reshape %1 : tile<1xptr<i32>>\n  %8 = broadcast %7 : tile<256xptr<i32>>\n"
        "  %9 = offset %8, %6 : tile<256xptr<i32>>\n  %10 = reshape %2 : tile<1xptr<i32>>\n"
        "  %11 = broadcast %10 : tile<256xptr<i32>>\n  %12 = offset %11, %4 : tile<256xptr<i32>>\n"
        "  %13 = reshape %3 : tile<1xptr<i32>>\n  %14 = broadcast %13 : tile<256xptr<i32>>\n"
        "  %15 = offset %14, %4 : tile<256xptr<i32>>\n  %16 = store_ptr_tko %12, %4 : token\n"
        "  %17 = load_ptr_tko %9 : tile<256xi32>\n  %18 = store_ptr_tko %15, %17 : token\n  return\n}\n";
    uint64_t params[] = {(uintptr_t)memory, (uintptr_t)memory, (uintptr_t)(memory + 256)};
    uint32_t grid[] = {1, 1, 1};
    ts_arena arena, scratch;
    ts_module *m = NULL;
    ts_text messages;
    ts_plan plan = {.target = (uint32_t)target};
    ts_hints hints = {0};
    ts_pass_env pass = {&scratch, target, &hints, &plan};
    ts_eval_env env = {.check_races = true, .schedule = 1};
    ts__arena_init(&arena, NULL);
    ts__arena_init(&scratch, NULL);
    ts__text_init(&messages, NULL);
    ts_status status = ts__module_read(&arena, text, strlen(text), &m, err);
    if (status == TS_OK) {
        m->fns.at[0]->overlap = says;
        status = ts__lower_run(m->fns.at[0], &pass, &messages, err);
    }
    if (status == TS_OK)
        status = ts__eval_simt(m->fns.at[0], &plan, params, 3, grid, &env, err);
    ts__text_deinit(&messages);
    ts__arena_deinit(&scratch);
    ts__arena_deinit(&arena);
    return status;
}

static void arrays_that_overlap_keep_the_order(void)
{
    static const ts_target targets[] = {TS_TARGET_SM80, TS_TARGET_SM90};
    for (size_t i = 0; i < TS_COUNT(targets); i++) {
        ts_error err;
        int32_t good[512] = {0}, bad[512] = {0};
        CHECK_OK(gpu_overlap(true, targets[i], good, &err));
        CHECK(good[256] == 255 && good[511] == 0);
        CHECK_INT(gpu_overlap(false, targets[i], bad, &err), TS_LAUNCH); /* a race */
    }
}

static void random_programs_mean_the_same_at_thread_level(void)
{
    static const char all[] = "fold dce licm legalize fold dce licm";
    static const diff_way ways[] = {{DIFF_SIMT, TS_TARGET_SM80, "", 1, NULL},
                                     {DIFF_SIMT, TS_TARGET_SM90, all, 7, "fold dce licm"},
                                     {DIFF_SIMT, TS_TARGET_SM90, all, 7, "fold dce licm", .ctas = 4}};
    static const char *const names[] = {"sm_80", "sm_90 after passes", "sm_90, clusters of 4"};
    gen_run_all(1, 60, NULL, ways, names, TS_COUNT(ways));
    gen_run_all(2000, 10, "math", ways, names, TS_COUNT(ways));
}

int main(void)
{
    later_stores_stay();
    arrays_that_overlap_keep_the_order();
    functions_that_do_not_commute_keep_the_order();
    floats_become_the_same_integers_at_thread_level();
    random_programs_mean_the_same_at_thread_level();
    the_corpus_means_the_same_at_thread_level();
    return check_done();
}
