/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory on the CPU target against the evaluator: views of every kind, pointers, atomics, products,
 * printing, asserts, globals.
 */
#include "llvm_run.h"
#include "ir/note.h"

enum { MEM_N = 4096 };

typedef struct bank {
    run r;
    ts_val in[3], out[3], zero;
} bank;

static void bank_begin(bank *k, ts_type in, ts_type out)
{
    memset(k, 0, sizeof *k);
    run_begin(&k->r);
    for (int i = 0; i < 3; i++)
        k->in[i] = run_array(&k->r, in, MEM_N);
    for (int i = 0; i < 3; i++)
        k->out[i] = run_array(&k->r, out, MEM_N);
    k->zero = ts_int(&k->r.b, TS_T_i32, 0);
}

static ts_type tile1(bank *k, ts_type elem, int64_t n)
{
    return ts_type_tile(k->r.m, elem, 1, &n);
}
static ts_type tile2(bank *k, ts_type elem, int64_t m, int64_t n)
{
    return ts_type_tile(k->r.m, elem, 2, (int64_t[]){m, n});
}
static ts_type tile3(bank *k, ts_type elem, int64_t a, int64_t m, int64_t n)
{
    return ts_type_tile(k->r.m, elem, 3, (int64_t[]){a, m, n});
}

/* A view of array `base`: tensor with constant extents and strides, then the view described by `part`. */
static ts_val view_of(bank *k, ts_val base, ts_type elem, const int64_t *dims,
                      const int64_t *strides, ts_type_info part)
{
    ts_type_info t = {.kind = TS_KIND_TENSOR_VIEW, .rank = part.rank, .elem = elem, .dims = dims, .strides = strides};
    static const int32_t straight[] = {0, 1, 2, 3};
    ts_op op = part.kind == TS_KIND_PARTITION_VIEW ? TS_OP_make_partition_view
             : part.kind == TS_KIND_STRIDED_VIEW   ? TS_OP_make_strided_view : TS_OP_make_gather_scatter_view;
    part.elem = ts_type_make(k->r.m, &t);
    if (!part.dim_map && part.kind != TS_KIND_GATHER_SCATTER_VIEW)
        part.dim_map = straight;
    ts_val tv = ts_emit(&k->r.b, TS_OP_make_tensor_view, part.elem, 1, &base, 0, 0);
    return ts_emit(&k->r.b, op, ts_type_make(k->r.m, &part), 1, &tv, 0, 0);
}

static ts_val dense(bank *k, ts_val base, ts_type tile)
{
    return run_view(&k->r, base, ts_type_elem(k->r.m, tile), ts_type_rank(k->r.m, tile),
                    ts_type_dims(k->r.m, tile), ts_type_dims(k->r.m, tile));
}
static ts_val load(bank *k, ts_val base, ts_type tile)
{
    ts_val at[] = {k->zero, k->zero, k->zero};
    return run_load(&k->r, dense(k, base, tile), tile, ts_type_rank(k->r.m, tile), at);
}
static void put(bank *k, int i, ts_val x)
{
    ts_val at[] = {k->zero, k->zero, k->zero};
    ts_type tile = ts_type_of(k->r.fn, x);
    run_store(&k->r, dense(k, k->out[i], tile), x, ts_type_rank(k->r.m, tile), at);
}

/* ---- views --------------------------------------------------------------------------------------*/

static void tiles_stick_out_on_every_side(ts_padding padding)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    int64_t dims[] = {45, 50}, strides[] = {50, 1}, part[] = {16, 32};
    ts_type_info p = {.kind = TS_KIND_PARTITION_VIEW, .rank = 2, .dims = part, .padding = (uint8_t)padding};
    ts_val in = view_of(&k, k.in[0], TS_T_f32, dims, strides, p),
           out = view_of(&k, k.out[0], TS_T_f32, dims, strides, p);
    ts_val at[] = {run_id(&k.r, 0), run_id(&k.r, 1)}, far[] = {ts_int(&k.r.b, TS_T_i32, -1), k.zero};
    ts_type tile = tile2(&k, TS_T_f32, 16, 32);
    ts_val x = run_load(&k.r, in, tile, 2, at), y = run_load(&k.r, in, tile, 2, far);
    run_store(&k.r, out, ts_op2(&k.r.b, TS_OP_addf, x, ts_float(&k.r.b, tile, 1), 0), 2, at);
    put(&k, 1, x);
    put(&k, 2, y);
    k.r.grid[0] = 3;
    k.r.grid[1] = 2;
    run_check(&k.r, "tails in two dimensions");
}

/* Axes of one element, axes that continue each other, both at once; block 0 lies inside, the last beyond the end
 * of `dims`, index -1 before the beginning. */
static void rows_of_any_shape_stick_out(const int64_t *dims, const int64_t *strides, const int64_t *part, ts_type elem)
{
    bank k;
    bank_begin(&k, elem, elem);
    ts_type_info p = {.kind = TS_KIND_PARTITION_VIEW, .rank = 3, .dims = part, .padding = TS_PAD_NEG_ZERO};
    ts_val in = view_of(&k, k.in[0], elem, dims, strides, p), out = view_of(&k, k.out[0], elem, dims, strides, p);
    ts_val at[] = {run_id(&k.r, 0), run_id(&k.r, 1), run_id(&k.r, 2)},
        far[] = {ts_int(&k.r.b, TS_T_i32, -1), k.zero, k.zero};
    ts_type tile = tile3(&k, elem, part[0], part[1], part[2]);
    ts_val x = run_load(&k.r, in, tile, 3, at);
    run_store(&k.r, out, ts_op2(&k.r.b, TS_OP_addf, x, x, 0), 3, at);
    run_store(&k.r, out, x, 3, far);
    put(&k, 1, x);
    put(&k, 2, run_load(&k.r, in, tile, 3, far));
    for (int i = 0; i < 3; i++)
        k.r.grid[i] = (uint32_t)(dims[i] / part[i] + 2);
    run_check(&k.r, "rows of any shape");
}

static void odd_strides_and_orders_work(int64_t s0, int64_t s1, bool swap)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    int64_t dims[] = {30, 40}, strides[] = {s0, s1}, part[] = {16, 16};
    static const int32_t other[] = {1, 0};
    ts_type_info p = {.kind = TS_KIND_PARTITION_VIEW,
                      .rank = 2,
                      .dims = part,
                      .padding = TS_PAD_ZERO,
                      .dim_map = swap ? other : NULL};
    ts_val in = view_of(&k, k.in[0], TS_T_f32, dims, strides, p),
           out = view_of(&k, k.out[0], TS_T_f32, dims, strides, p);
    ts_val at[] = {run_id(&k.r, 0), run_id(&k.r, 1)};
    ts_val x = run_load(&k.r, in, tile2(&k, TS_T_f32, 16, 16), 2, at);
    run_store(&k.r, out, ts_op2(&k.r.b, TS_OP_mulf, x, x, 0), 2, at);
    k.r.grid[0] = k.r.grid[1] = 3;
    run_check(&k.r, "strides and orders");
}

static void strided_views_overlap(void)
{
    bank k;
    bank_begin(&k, TS_T_i32, TS_T_i32);
    int64_t dims[] = {300}, strides[] = {1}, part[] = {64}, steps[] = {24};
    ts_type_info p = {.kind = TS_KIND_STRIDED_VIEW, .rank = 1, .dims = part, .strides = steps, .padding = TS_PAD_ZERO};
    ts_val id = run_id(&k.r, 0), view = view_of(&k, k.in[0], TS_T_i32, dims, strides, p);
    ts_val x = run_load(&k.r, view, tile1(&k, TS_T_i32, 64), 1, &id);
    int64_t n = MEM_N, t = 64;
    run_store(&k.r, run_view(&k.r, k.out[0], TS_T_i32, 1, &n, &t), x, 1, &id);
    ts_val count = ts_emit(&k.r.b, TS_OP_get_index_space_shape, TS_T_i32, 1, &view, 0, 0);
    put(&k, 1, ts_broadcast(&k.r.b, count, tile1(&k, TS_T_i32, 4)));
    k.r.grid[0] = 13;
    run_check(&k.r, "strided view");
}

static void gather_scatter_views_follow_a_list(ts_type elem, uint8_t sparse)
{
    bank k;
    bank_begin(&k, elem, elem);
    int64_t dims[] = {40, 64}, strides[] = {64, 1}, part[] = {16, 32};
    if (sparse)
        part[0] = 8;
    ts_type_info p = {.kind = TS_KIND_GATHER_SCATTER_VIEW,
                      .rank = 2,
                      .dims = part,
                      .sparse_dim = sparse,
                      .padding = TS_PAD_ZERO};
    ts_val in = view_of(&k, k.in[0], elem, dims, strides, p), out = view_of(&k, k.out[0], elem, dims, strides, p);
    ts_type list = tile1(&k, TS_T_i32, part[sparse]);
    ts_val i = ts_emit(&k.r.b, TS_OP_iota, list, 0, NULL, 0, 0);
    i = ts_op2(&k.r.b, TS_OP_subi, ts_int(&k.r.b, list, 36),
               ts_op2(&k.r.b, TS_OP_muli, i, ts_int(&k.r.b, list, 3), 0), 0);
    ts_val at[] = {sparse ? ts_int(&k.r.b, TS_T_i32, 5) : i, sparse ? i : ts_int(&k.r.b, TS_T_i32, 5)};
    ts_val x = run_load(&k.r, in, tile2(&k, elem, part[0], part[1]), 2, at);
    run_store(&k.r, out, x, 2, at);
    put(&k, 1, x);
    run_check(&k.r, "gather_scatter view");
}

static void four_bit_arrays_are_packed(void)
{
    bank k;
    bank_begin(&k, TS_T_f4E2M1FN, TS_T_f4E2M1FN);
    ts_type tile = tile2(&k, TS_T_f4E2M1FN, 8, 16);
    ts_val x = ts_cast(&k.r.b, TS_OP_ftof, load(&k, k.in[0], tile), TS_T_f32, 0);
    put(&k, 0, ts_cast(&k.r.b, TS_OP_ftof, ts_op2(&k.r.b, TS_OP_addf, x, x, 0), TS_T_f4E2M1FN, 0));
    run_check(&k.r, "f4 arrays");
}

static void stores_then_loads_see_the_new_values(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    ts_builder *b = &k.r.b;
    ts_type tile = tile1(&k, TS_T_f32, 64);
    ts_val x = load(&k, k.out[0], tile), y = ts_op2(b, TS_OP_addf, x, ts_float(b, tile, 1), 0);
    put(&k, 0, y);                        /* over x itself */
    ts_val z = load(&k, k.out[0], tile);  /* the new one */
    put(&k, 1, ts_op2(b, TS_OP_mulf, z, x, 0)); /* x is the old one */
    put(&k, 2, ts_op2(b, TS_OP_subf, load(&k, k.out[1], tile), z, 0));
    run_check(&k.r, "memory order");
}

/* ---- pointers -----------------------------------------------------------------------------------*/

static ts_val pointers(bank *k, ts_val base, ts_type shape, ts_val index)
{
    ts_type at = ts_type_with_elem(k->r.m, shape, ts_type_of(k->r.fn, base));
    return ts_op2(&k->r.b, TS_OP_offset, ts_broadcast(&k->r.b, base, at), index, 0);
}

/* scale 1 is a run of elements, 3 a gather. */
static void pointers_load_and_store(ts_type elem, int64_t scale, bool masked)
{
    bank k;
    bank_begin(&k, elem, elem);
    ts_builder *b = &k.r.b;
    ts_type list = tile1(&k, TS_T_i32, 128), tile = tile1(&k, elem, 128);
    ts_val i = ts_emit(b, TS_OP_iota, list, 0, NULL, 0, 0), id = run_id(&k.r, 0);
    ts_val x = ts_op2(b, TS_OP_muli, i, ts_int(b, list, scale), 0);
    x = ts_op2(b, TS_OP_addi, x, ts_broadcast(b, ts_op2(b, TS_OP_muli, id, ts_int(b, TS_T_i32, 400), 0), list), 0);
    ts_val mask = ts_cmp(b, TS_OP_cmpi, TS_NE, ts_op2(b, TS_OP_andi, i, ts_int(b, list, 5), 0), ts_int(b, list, 4), 0);
    ts_val pad = ts_type_is_float(k.r.m, elem) ? ts_float(b, tile, 7) : ts_int(b, tile, 7);
    ts_val l[] = {pointers(&k, k.in[0], tile, x), mask, pad};
    ts_val v = ts_emit(b, TS_OP_load_ptr_tko, tile, masked ? 3 : 1, l, 0, masked ? TS_F_MASK | TS_F_PAD : 0);
    ts_val s[] = {pointers(&k, k.out[0], tile, x), v, mask};
    ts_emit(b, TS_OP_store_ptr_tko, TS_T_token, masked ? 3 : 2, s, 0, masked ? TS_F_MASK : 0);
    put(&k, 1, v);
    k.r.grid[0] = 3;
    run_check(&k.r, "pointers");
}

static bool is_noted(const bank *k, ts_note_kind kind, const char *what)
{
    for (uint32_t i = 0; i < k->r.m->notes.n; i++)
        if (k->r.m->notes.at[i].kind == kind && strcmp(k->r.m->notes.at[i].what, what) == 0)
            return true;
    return false;
}

/* Products of complex numbers whose parts are neighbours, the last of them at the end of the array. */
static void neighbours_of_a_step_of_two_are_vectors(ts_type elem, bool masked, bool in_place)
{
    bank k;
    bank_begin(&k, elem, elem);
    ts_builder *b = &k.r.b;
    ts_type list = tile1(&k, TS_T_i32, 128), tile = tile1(&k, elem, 128);
    ts_val i = ts_emit(b, TS_OP_iota, list, 0, NULL, 0, 0), from = in_place ? k.out[0] : k.in[0];
    ts_val two = ts_op2(b, TS_OP_muli, i, ts_int(b, list, 2), 0), one = ts_int(b, list, 1);
    ts_val end = ts_int(b, TS_T_i32, MEM_N - 256);
    ts_val mask = ts_cmp(b, TS_OP_cmpi, TS_LT, i, ts_int(b, list, 77), 0), x[2], to[2];
    for (int j = 0; j < 2; j++) {
        ts_val base = ts_op2(b, TS_OP_offset, j ? k.out[0] : from, end, 0);
        to[0] = pointers(&k, base, tile, two);
        to[1] = ts_op2(b, TS_OP_offset, to[0], one, 0);
        for (int part = 0; part < 2 && !j; part++) {
            ts_val l[] = {to[part], mask};
            x[part] = ts_emit(b, TS_OP_load_ptr_tko, tile, masked ? 2 : 1, l, 0, masked ? TS_F_MASK : 0);
        }
    }
    ts_op add = ts_type_is_float(k.r.m, elem) ? TS_OP_addf : TS_OP_addi;
    ts_op sub = ts_type_is_float(k.r.m, elem) ? TS_OP_subf : TS_OP_subi;
    ts_val y[] = {ts_op2(b, sub, x[0], x[1], 0), ts_op2(b, add, x[0], x[1], 0)};
    for (int part = 0; part < 2; part++) {
        ts_val s[] = {to[part], y[part], mask};
        ts_emit(b, TS_OP_store_ptr_tko, TS_T_token, masked ? 3 : 2, s, 0, masked ? TS_F_MASK : 0);
    }
    k.r.m->noting = true;
    ts_term(b, TS_OP_return, 0, NULL);
    CHECK(run_eval(&k.r) && run_cpu(&k.r) && run_same(&k.r, "neighbours"));
    bool wide = elem != TS_T_i1 && run_vector_bytes / run_bytes(elem, 1) > 2; /* more than two lanes */
    CHECK_INT(is_noted(&k, TS_NOTE_store, "strided"), wide);
    CHECK_INT(is_noted(&k, TS_NOTE_store, "scatter"), !wide);
    run_end(&k.r);
}

static void scalars_go_through_pointers(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    ts_builder *b = &k.r.b;
    ts_val id = run_id(&k.r, 0), p = ts_op2(b, TS_OP_offset, k.in[0], id, 0),
           q = ts_op2(b, TS_OP_offset, k.out[0], id, 0);
    ts_val some = ts_cmp(b, TS_OP_cmpi, TS_LT, id, ts_int(b, TS_T_i32, 2), 0);
    ts_val x = ts_emit(b, TS_OP_load_ptr_tko, TS_T_f32, 3,
                       (ts_val[]){p, some, ts_float(b, TS_T_f32, 9)}, 0, TS_F_MASK | TS_F_PAD);
    ts_emit(b, TS_OP_store_ptr_tko, TS_T_token, 2, (ts_val[]){q, ts_op2(b, TS_OP_addf, x, x, 0)}, 0, 0);
    k.r.grid[0] = 4;
    run_check(&k.r, "scalar pointers");
}

static void atomics_return_the_old_value(ts_rmw mode, ts_type elem, bool masked)
{
    bank k;
    char what[64];
    bank_begin(&k, elem, elem);
    ts_builder *b = &k.r.b;
    ts_type list = tile1(&k, TS_T_i32, 64), tile = tile1(&k, elem, 64);
    ts_val i = ts_emit(b, TS_OP_iota, list, 0, NULL, 0, 0);
    ts_val mask = ts_cmp(b, TS_OP_cmpi, TS_NE, ts_op2(b, TS_OP_andi, i, ts_int(b, list, 3), 0), ts_int(b, list, 2), 0);
    ts_val at = pointers(&k, k.out[0], tile, ts_op2(b, TS_OP_andi, i, ts_int(b, list, 15), 0));
    ts_val x[] = {at, load(&k, k.in[0], tile), mask};
    uint32_t attr = TS_M_ORDER(TS_ACQ_REL) | TS_M_SCOPE(TS_SCOPE_DEVICE) | TS_M_MODE(mode);
    ts_val old = ts_emit(b, TS_OP_atomic_rmw_tko, tile, masked ? 3 : 2, x, attr, masked ? TS_F_MASK : 0);
    put(&k, 1, old);
    snprintf(what, sizeof what, "atomic %d on %s", mode, ts_scalar_name(elem));
    run_check(&k.r, what);
}

static void compare_and_swap_swaps_equals(ts_type elem)
{
    bank k;
    bank_begin(&k, elem, elem);
    ts_type tile = tile1(&k, elem, 32);
    ts_val i = ts_emit(&k.r.b, TS_OP_iota, tile1(&k, TS_T_i32, 32), 0, NULL, 0, 0),
           at = pointers(&k, k.out[0], tile, i);
    ts_val want = load(&k, k.out[0], tile), other = load(&k, k.in[1], tile);
    want = ts_select(
        &k.r.b,
        ts_cmp(&k.r.b, TS_OP_cmpi, TS_LT, i, ts_int(&k.r.b, tile1(&k, TS_T_i32, 32), 20), 0), want,
        other);
    ts_val old = ts_emit(&k.r.b, TS_OP_atomic_cas_tko, tile, 3, (ts_val[]){at, want, other},
                         TS_M_ORDER(TS_ACQ_REL) | TS_M_SCOPE(TS_SCOPE_SYS), 0);
    put(&k, 1, old);
    run_check(&k.r, "cas");
}

static void views_are_reduced_into(void)
{
    bank k;
    bank_begin(&k, TS_T_i32, TS_T_i32);
    int64_t dims[] = {20, 24}, strides[] = {24, 1}, part[] = {8, 16};
    ts_type_info p = {.kind = TS_KIND_PARTITION_VIEW, .rank = 2, .dims = part};
    ts_val view = view_of(&k, k.out[0], TS_T_i32, dims, strides, p), x = load(&k, k.in[0], tile2(&k, TS_T_i32, 8, 16));
    ts_val at[] = {view, x, run_id(&k.r, 0), run_id(&k.r, 1)};
    ts_emit(&k.r.b, TS_OP_atomic_red_view_tko, TS_T_token, 4, at,
            TS_M_ORDER(TS_RELAXED) | TS_M_SCOPE(TS_SCOPE_DEVICE) | TS_M_MODE(TS_RMW_ADD), 0);
    k.r.grid[0] = 3;
    k.r.grid[1] = 2;
    run_check(&k.r, "atomic_red_view");
}

/* ---- products -----------------------------------------------------------------------------------*/

static void products_have_the_same_bits(ts_type in, ts_type acc, int64_t m, int64_t n, int64_t c)
{
    bank k;
    char what[96];
    bank_begin(&k, in, acc);
    ts_val a = load(&k, k.in[0], tile2(&k, in, m, c)), b = load(&k, k.in[1], tile2(&k, in, c, n));
    ts_val z = load(&k, k.out[1], tile2(&k, acc, m, n));
    put(&k, 0,
        ts_emit(&k.r.b, ts_type_is_float(NULL, acc) ? TS_OP_mmaf : TS_OP_mmai, tile2(&k, acc, m, n),
                3, (ts_val[]){a, b, z}, acc == TS_T_i32 ? TS_A_UNSIGNED_B : 0, 0));
    snprintf(what, sizeof what, "mma %s %s %lldx%lldx%lld", ts_scalar_name(in), ts_scalar_name(acc),
             (long long)m, (long long)n, (long long)c);
    run_check(&k.r, what);
}

static ts_val product(bank *k, ts_op op, ts_type type, uint32_t n, const ts_val *x)
{
    return ts_emit(&k->r.b, op, type, n, x, 0, 0);
}

static void batches_multiply(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    ts_val x[] = {load(&k, k.in[0], tile3(&k, TS_T_f32, 4, 8, 16)), load(&k, k.in[1], tile3(&k, TS_T_f32, 4, 16, 32)),
                  ts_float(&k.r.b, tile3(&k, TS_T_f32, 4, 8, 32), 0.5)};
    put(&k, 0, product(&k, TS_OP_mmaf, tile3(&k, TS_T_f32, 4, 8, 32), 3, x));
    run_check(&k.r, "batched mma");
}

static void a_k_loop_accumulates_in_place(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    ts_builder *b = &k.r.b;
    int64_t da[] = {40, 50}, db[] = {50, 36}, ta[] = {16, 16}, tb[] = {16, 32}, dc[] = {40, 36}, tc[] = {16, 32};
    ts_val va = run_view(&k.r, k.in[0], TS_T_f32, 2, da, ta), vb = run_view(&k.r, k.in[1], TS_T_f32, 2, db, tb);
    ts_val vc = run_view(&k.r, k.out[0], TS_T_f32, 2, dc, tc), id[] = {run_id(&k.r, 0), run_id(&k.r, 1)};
    ts_type type = tile2(&k, TS_T_f32, 16, 32);
    ts_val zero = ts_float(b, type, 0);
    ts_val o = ts_for_begin(b, k.zero, ts_int(b, TS_T_i32, 4), ts_int(b, TS_T_i32, 1), 1, &zero, 0),
           iv = ts_region_arg(k.r.fn, o, 0);
    ts_val x[] = {run_load(&k.r, va, tile2(&k, TS_T_f32, 16, 16), 2, (ts_val[]){id[0], iv}),
                  run_load(&k.r, vb, type, 2, (ts_val[]){iv, id[1]}), ts_region_arg(k.r.fn, o, 1)};
    ts_val next = product(&k, TS_OP_mmaf, type, 3, x);
    ts_term(b, TS_OP_continue, 1, &next);
    ts_end_like(b, o);
    run_store(&k.r, vc, ts_res(b, o, 0), 2, id);
    k.r.grid[0] = 3;
    k.r.grid[1] = 2;
    run_check(&k.r, "k loop");
}

static void transposed_operands_multiply(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    uint32_t swap[] = {1, 0};
    ts_val a = ts_permute(&k.r.b, load(&k, k.in[0], tile2(&k, TS_T_f32, 16, 8)), swap);
    ts_val b = ts_permute(&k.r.b, load(&k, k.in[1], tile2(&k, TS_T_f32, 32, 16)), swap);
    ts_val x[] = {a, b, ts_float(&k.r.b, tile2(&k, TS_T_f32, 8, 32), 0)};
    put(&k, 0, product(&k, TS_OP_mmaf, tile2(&k, TS_T_f32, 8, 32), 3, x));
    run_check(&k.r, "transposed mma");
}

static void scaled_products_scale_by_block(void)
{
    bank k;
    bank_begin(&k, TS_T_f8E4M3FN, TS_T_f32);
    ts_builder *b = &k.r.b;
    ts_val sa = ts_bits(b, tile2(&k, TS_T_f8E8M0FNU, 16, 2), 128);
    ts_val raw = ts_cast(b, TS_OP_bitcast, load(&k, k.in[2], tile2(&k, TS_T_f8E4M3FN, 2, 32)), TS_T_i8, 0);
    ts_type bytes = tile2(&k, TS_T_i8, 2, 32);
    raw = ts_op2(b, TS_OP_addi, ts_op2(b, TS_OP_andi, raw, ts_int(b, bytes, 7), 0), ts_int(b, bytes, 120), 0);
    ts_val x[] = {load(&k, k.in[0], tile2(&k, TS_T_f8E4M3FN, 16, 64)),
                  load(&k, k.in[1], tile2(&k, TS_T_f8E4M3FN, 64, 32)),
                  ts_float(b, tile2(&k, TS_T_f32, 16, 32), 0), sa,
                  ts_cast(b, TS_OP_bitcast, raw, TS_T_f8E8M0FNU, 0)};
    put(&k, 0, product(&k, TS_OP_mmaf_scaled, tile2(&k, TS_T_f32, 16, 32), 5, x));
    run_check(&k.r, "scaled mma");
}

/* ---- the rest -----------------------------------------------------------------------------------*/

static void prints_look_the_same(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    ts_builder *b = &k.r.b;
    ts_val x[] = {load(&k, k.in[0], tile2(&k, TS_T_f32, 2, 4)), run_id(&k.r, 0),
                  ts_emit(b, TS_OP_iota, tile1(&k, TS_T_i8, 4), 0, NULL, 0, 0)};
    const char *format = "x = %6.2f, id %d: 100%% %x\n";
    ts_emit(b, TS_OP_print_tko, TS_T_token, 3, x, ts_intern(k.r.m, format, strlen(format)), 0);
    k.r.grid[0] = 2;
    run_check(&k.r, "print");
}

static void complex_numbers_print_the_same(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    ts_builder *b = &k.r.b;
    ts_val re = load(&k, k.in[0], tile2(&k, TS_T_f32, 2, 4)), one = ts_float(b, TS_T_f64, 1.5);
    ts_val x[] = {re, ts_op1(b, TS_OP_negf, re, 0), run_id(&k.r, 0), one, one};
    const char *format = "x = %6.2jf, id %d: %jg\n";
    ts_emit(b, TS_OP_print_tko, TS_T_token, 5, x, ts_intern(k.r.m, format, strlen(format)), 0);
    run_check(&k.r, "print of complex numbers");
}

static void asserts_leave_a_fault(void)
{
    bank k;
    bank_begin(&k, TS_T_i32, TS_T_i32);
    ts_builder *b = &k.r.b;
    ts_type tile = tile1(&k, TS_T_i32, 32);
    ts_val x = load(&k, k.in[0], tile), ok = ts_cmp(b, TS_OP_cmpi, TS_LT, x, ts_int(b, tile, 50), 0);
    ts_emit(b, TS_OP_assert, TS_T_none, 1, &ok, ts_intern(k.r.m, "too big", 7), 0);
    put(&k, 0, x);
    run_check(&k.r, "assert");
}

static void bounds_leave_the_first_index_outside(void)
{
    bank k;
    bank_begin(&k, TS_T_i32, TS_T_i32);
    ts_builder *b = &k.r.b;
    ts_type tile = tile1(&k, TS_T_i32, 32), wide = tile1(&k, TS_T_i64, 32);
    ts_val x = load(&k, k.in[0], tile), y = ts_cast(b, TS_OP_exti, ts_op1(b, TS_OP_negi, x, 0), TS_T_i64, 0);
    ts_val in = ts_cmp(b, TS_OP_cmpi, TS_LT, x, ts_int(b, tile, 50), TS_A_UNSIGNED);
    ts_val out = ts_cmp(b, TS_OP_cmpi, TS_LT, y, ts_int(b, wide, -1000), 0), one = ts_int(b, TS_T_i32, 7);
    ts_val scalar = ts_cmp(b, TS_OP_cmpi, TS_GT, run_id(&k.r, 0), one, 0);
    ts_val opnds[][3] = {{in, x, ts_int(b, TS_T_i32, 50)}, {out, y, ts_int(b, TS_T_i64, -1000)}, {scalar, one, one}};
    for (int i = 0; i < 3; i++)
        ts_emit(b, TS_OP_assert, TS_T_none, 3, opnds[i], ts_intern(k.r.m, "gather(), axis 1", 16), 0);
    put(&k, 0, x);
    run_check(&k.r, "bounds");
    CHECK_INT(k.r.fault[0].code, TS_FAULT_BOUNDS);
}

static void globals_and_allocas_hold_data(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    ts_builder *b = &k.r.b;
    static const float data[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    ts_type tile = tile1(&k, TS_T_f32, 16), list = tile1(&k, TS_T_i32, 16);
    CHECK(TS_PUSH(k.r.m->arena, &k.r.m->dense, ((ts_dense){data, sizeof data})));
    ts_global g = {ts_intern(k.r.m, "tab", 3), tile, k.r.m->dense.n, 64, true};
    CHECK(TS_PUSH(k.r.m->arena, &k.r.m->globals, g));
    ts_val i = ts_emit(b, TS_OP_iota, list, 0, NULL, 0, 0);
    ts_val at = ts_emit(b, TS_OP_get_global, ts_type_ptr(k.r.m, TS_T_f32, TS_GLOBAL), 0, NULL, g.name, 0);
    ts_val p = pointers(&k, at, tile, i), x = ts_emit(b, TS_OP_load_ptr_tko, tile, 1, &p, 0, 0);
    uint32_t words[] = {64, 16, 0};
    ts_val own = ts_emit(b, TS_OP_alloca, ts_type_ptr(k.r.m, TS_T_f32, TS_GLOBAL), 0, NULL,
                         ts_pool_add(b, 3, words), 0);
    ts_val q = pointers(&k, own, tile, i);
    ts_emit(b, TS_OP_store_ptr_tko, TS_T_token, 2, (ts_val[]){q, ts_op2(b, TS_OP_addf, x, x, 0)}, 0, 0);
    ts_val r = pointers(&k, own, tile, ts_op2(b, TS_OP_xori, i, ts_int(b, list, 15), 0));
    put(&k, 0, ts_emit(b, TS_OP_load_ptr_tko, tile, 1, &r, 0, 0));
    run_check(&k.r, "globals and allocas");
}

static void memory(void)
{
    for (uint32_t p = TS_PAD_UNDEF; p <= TS_PAD_NEG_INF; p++)
        tiles_stick_out_on_every_side((ts_padding)p);
    odd_strides_and_orders_work(1, 30, false);
    odd_strides_and_orders_work(1, 30, true);
    odd_strides_and_orders_work(40, 1, true);
    odd_strides_and_orders_work(80, 2, false);
    static const int64_t rows[][3][3] = {/* extents, strides, tile */
                                         {{3, 50, 1}, {50, 1, 1}, {1, 16, 1}},  {{3, 20, 4}, {80, 4, 1}, {2, 16, 4}},
                                         {{3, 20, 3}, {60, 3, 1}, {2, 16, 4}},  {{9, 16, 8}, {128, 8, 1}, {8, 16, 8}},
                                         {{2, 30, 40}, {1200, 1, 30}, {1, 16, 16}},
                                         {{3, 1, 40}, {40, 40, 1}, {2, 1, 16}},
                                         {{2, 2, 2}, {4, 2, 1}, {1, 1, 1}},     {{5, 6, 40}, {0, 0, 1}, {2, 4, 16}}};
    for (size_t i = 0; i < TS_COUNT(rows); i++) {
        rows_of_any_shape_stick_out(rows[i][0], rows[i][1], rows[i][2], TS_T_f32);
        rows_of_any_shape_stick_out(rows[i][0], rows[i][1], rows[i][2], TS_T_f16);
    }
    strided_views_overlap();
    gather_scatter_views_follow_a_list(TS_T_f32, 0);
    gather_scatter_views_follow_a_list(TS_T_f16, 1);
    four_bit_arrays_are_packed();
    stores_then_loads_see_the_new_values();
    static const ts_type elems[] = {TS_T_f32, TS_T_i64, TS_T_i8, TS_T_f16, TS_T_i1};
    for (size_t i = 0; i < TS_COUNT(elems); i++)
        for (int m = 0; m < 2; m++) {
            pointers_load_and_store(elems[i], 1, m);
            pointers_load_and_store(elems[i], 3, m);
            neighbours_of_a_step_of_two_are_vectors(elems[i], m, false);
            neighbours_of_a_step_of_two_are_vectors(elems[i], m, true);
        }
    scalars_go_through_pointers();
}

static void atomics(void)
{
    for (uint32_t mode = TS_RMW_AND; mode <= TS_RMW_XCHG; mode++) {
        if (mode == TS_RMW_ADDF)
            continue;
        atomics_return_the_old_value((ts_rmw)mode, TS_T_i32, mode & 1);
        atomics_return_the_old_value((ts_rmw)mode, TS_T_i64, !(mode & 1));
    }
    atomics_return_the_old_value(TS_RMW_ADDF, TS_T_f32, true);
    atomics_return_the_old_value(TS_RMW_ADDF, TS_T_f64, false);
    atomics_return_the_old_value(TS_RMW_ADDF, TS_T_f16, false);
    atomics_return_the_old_value(TS_RMW_ADDF, TS_T_bf16, true);
    compare_and_swap_swaps_equals(TS_T_i32);
    compare_and_swap_swaps_equals(TS_T_f64);
    views_are_reduced_into();
}

static void products(void)
{
    products_have_the_same_bits(TS_T_f32, TS_T_f32, 32, 64, 64);
    products_have_the_same_bits(TS_T_f32, TS_T_f32, 2, 4, 8);
    products_have_the_same_bits(TS_T_f32, TS_T_f32, 1, 16, 1);
    products_have_the_same_bits(TS_T_f64, TS_T_f64, 16, 32, 32);
    products_have_the_same_bits(TS_T_f16, TS_T_f32, 16, 32, 32);
    products_have_the_same_bits(TS_T_f16, TS_T_f16, 16, 32, 32);
    products_have_the_same_bits(TS_T_bf16, TS_T_f32, 16, 64, 16);
    products_have_the_same_bits(TS_T_tf32, TS_T_f32, 16, 16, 16);
    products_have_the_same_bits(TS_T_f8E4M3FN, TS_T_f32, 16, 16, 32);
    products_have_the_same_bits(TS_T_f8E5M2, TS_T_f16, 16, 16, 32);
    products_have_the_same_bits(TS_T_i8, TS_T_i32, 16, 32, 64);
    batches_multiply();
    a_k_loop_accumulates_in_place();
    transposed_operands_multiply();
    scaled_products_scale_by_block();
}

int main(void)
{
    static const uint32_t widths[] = {64, 32, 16};
    for (size_t i = 0; i < TS_COUNT(widths); i++) {
        run_vector_bytes = widths[i];
        memory();
        products();
    }
    atomics();
    prints_look_the_same();
    complex_numbers_print_the_same();
    asserts_leave_a_fault();
    bounds_leave_the_first_index_outside();
    globals_and_allocas_hold_data();
    return check_done();
}
