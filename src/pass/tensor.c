/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of boxes of arrays in kernels of threads, as the target has them. A GPU copies by a tensor map, which the
 * launch encodes from its arguments; a CPU copies rows, whole ones at once where they lie inside of the array:
 *
 *     tensor_load [32, 8] %to, %bar, %x, %n, %m, %stride, %i, %k
 *     GPU   tma_load map=0 rank=2 %to, %bar, %i, %k          plan.tmap[0]: x, extents (n, m), box (32, 8)
 *     CPU   for row in 0 .. 8 { if inside { bulk_load 32 elements } else { ld each that is inside, 0 for others; st } }
 *
 * Cost: a copy of the function where it has such copies.
 */
#include "pass/pass.h"

enum { TENSOR_RANK = 5 };

typedef struct tensor_ctx {
    const ts_fn *fn;
    ts_pass_env *env;
    ts_error *err;
    ts_status status;
} tensor_ctx;

/* One copy: its operands by what they are, innermost axis first. */
typedef struct tensor_copy {
    bool load;
    uint32_t rank, bytes; /* bytes of an element */
    const uint32_t *box;
    ts_type elem;
    ts_val shared, bar, global;
    const ts_val *extent, *stride, *at; /* stride[d - 1] is that of axis d */
} tensor_copy;

static tensor_copy tensor_of(const ts_fn *fn, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    const ts_val *x = ts_opnds(fn, inst);
    bool load = inst->op == TS_OP_tensor_load;
    const uint32_t *words = ts_pool(fn, inst);
    uint32_t rank = words[0], first = load ? 3 : 2;
    tensor_copy copy = {.load = load, .rank = rank, .box = words + 1, .shared = x[!load], .bar = load ? x[1] : 0,
                        .global = load ? x[2] : x[0], .extent = x + first, .stride = x + first + rank,
                        .at = x + first + 2 * rank - 1};
    copy.elem = ts_type_get(fn->module, ts_type_of(fn, copy.global))->elem;
    copy.bytes = (ts_type_bits(fn->module, copy.elem) + 7) / 8;
    return copy;
}

/* ---- GPU: tensor maps ---------------------------------------------------------------------------------- */

/* What a value is but for what is known of it, and for its width. */
static ts_val tensor_through(const ts_fn *fn, ts_val v)
{
    uint32_t op = ts_at(fn, v)->op;
    while (op == TS_OP_assume || op == TS_OP_ptr_to_ptr || op == TS_OP_exti || op == TS_OP_trunci) {
        v = ts_opnd(fn, v, 0);
        op = ts_at(fn, v)->op;
    }
    return v;
}

static bool tensor_number(const ts_fn *fn, ts_val v, ts_plan_num *out)
{
    ts_val root = tensor_through(fn, v);
    *out = (ts_plan_num){0, -1};
    if (ts__const_as_int(fn, root, &out->value))
        return true;
    out->param = (int32_t)root - 1;
    return ts_at(fn, root)->op == TS_OP_param;
}

static uint8_t tensor_dtype(ts_type elem)
{
    ts_dtype found = TS_DTYPE_uint8;
    for (ts_dtype d = 1; d < TS_DTYPE_COUNT; d++)
        if (ts_dtype_get(d)->scalar == elem && ts_dtype_get(d)->tma >= 0)
            return (uint8_t)ts_dtype_get(d)->tma;
    return (uint8_t)ts_dtype_get(found)->tma;
}

static bool tensor_map(const ts_fn *fn, const tensor_copy *copy, ts_plan_tmap *map)
{
    ts_val base = tensor_through(fn, copy->global);
    *map = (ts_plan_tmap){.base = (int32_t)base - 1, .rank = (uint8_t)copy->rank, .elem_bytes = copy->bytes,
                          .dtype = tensor_dtype(copy->elem), .stride = {{1, -1}}};
    bool fine = ts_at(fn, base)->op == TS_OP_param;
    for (uint32_t d = 0; d < copy->rank && fine; d++) {
        map->box[d] = copy->box[d];
        map->step[d] = 1;
        fine = tensor_number(fn, copy->extent[d], &map->dim[d]) &&
               (!d || tensor_number(fn, copy->stride[d - 1], &map->stride[d]));
    }
    return fine;
}

/* The number of the map, which may be there; TS_NO: it cannot be one, and c->status says why. */
static uint32_t tensor_map_of(tensor_ctx *c, ts_val v, const tensor_copy *copy)
{
    ts_plan *plan = c->env->plan;
    ts_plan_tmap map;
    const ts_loc_info *place = ts__loc_of(c->fn, v);
    if (!tensor_map(c->fn, copy, &map)) {
        c->status = ts_fail(c->err, TS_UNSUPPORTED, "line %u: cuda.tma copies boxes of arrays that are arguments of "
                            "the kernel, as they came\n  help: give the array itself, and say by the index where the "
                            "box is", place->line);
        return TS_NO;
    }
    for (uint32_t i = 0; i < plan->n_tmaps; i++)
        if (memcmp(&plan->tmap[i], &map, sizeof map) == 0)
            return i;
    if (plan->n_tmaps == TS_PLAN_TMAPS) {
        c->status = ts_fail(c->err, TS_UNSUPPORTED, "line %u: a kernel has at most %d arrays and shapes of boxes that "
                            "cuda.tma copies", place->line, TS_PLAN_TMAPS);
        return TS_NO;
    }
    plan->tmap[plan->n_tmaps] = map;
    return plan->n_tmaps++;
}

static ts_val tensor_by_map(tensor_ctx *c, ts_builder *b, ts_val v, const ts_val *map)
{
    tensor_copy copy = tensor_of(c->fn, v);
    uint32_t number = tensor_map_of(c, v, &copy), n = 0;
    ts_val x[2 + TENSOR_RANK];
    if (number == TS_NO)
        return TS_NO;
    x[n++] = map[copy.shared];
    if (copy.load)
        x[n++] = map[copy.bar];
    for (uint32_t d = 0; d < copy.rank; d++)
        x[n++] = map[copy.at[d]];
    ts_emit(b, copy.load ? TS_OP_tma_load : TS_OP_tma_store, TS_T_none, n, x, TS_S(number, copy.rank, 0), 0);
    return TS_NO;
}

/* ---- CPU: rows ------------------------------------------------------------------------------------------- */

typedef struct tensor_rows {
    ts_builder *b;
    tensor_copy copy;
    const ts_val *map;
    ts_val inside;  /* i1: the row lies in the array but for its own axis */
    ts_val offset;  /* i64: elements from the array's first to the row's place 0 */
    ts_val row;     /* i32: its number in the box */
} tensor_rows;

static ts_val tensor_and(ts_builder *b, ts_val x, ts_val y)
{
    return ts_op2(b, TS_OP_andi, x, y, 0);
}

/* Is 0 <= at < extent? Both i64. */
static ts_val tensor_in(ts_builder *b, ts_val at, ts_val extent)
{
    return ts_cmp(b, TS_OP_cmpi, TS_LT, at, extent, TS_A_UNSIGNED);
}

static ts_val tensor_wide(ts_builder *b, ts_val x)
{
    return ts_cast(b, TS_OP_exti, x, TS_T_i64, 0);
}

/* Element by element; those outside are zeros, or not written. */
static void tensor_elements(const tensor_rows *r, ts_val to, ts_val first)
{
    ts_builder *b = r->b;
    const tensor_copy *copy = &r->copy;
    ts_val zero = ts_int(b, TS_T_i32, 0), one = ts_int(b, TS_T_i32, 1), n = ts_int(b, TS_T_i32, copy->box[0]);
    ts_val opener = ts_for_begin(b, zero, n, one, 0, NULL, 0), i = ts_region_arg(b->fn, opener, 0);
    ts_val at = ts_op2(b, TS_OP_addi, first, tensor_wide(b, i), 0);
    ts_val fine = tensor_and(b, r->inside, tensor_in(b, at, r->map[copy->extent[0]]));
    ts_val global = ts_element(b, r->map[copy->global], ts_op2(b, TS_OP_addi, r->offset, at, 0));
    ts_val shared = ts_element(b, to, i);
    if (copy->load)
        ts_store(b, shared, ts_load_if(b, global, fine, ts_bits(b, copy->elem, 0), TS_CACHE_NONE), TS_CACHE_NONE);
    else
        ts_store_if(b, global, ts_load(b, shared, TS_CACHE_NONE), fine, TS_CACHE_NONE);
    ts_term(b, TS_OP_continue, 0, NULL);
    ts_end(b, opener, 0, NULL);
}

static void tensor_row(const tensor_rows *r)
{
    ts_builder *b = r->b;
    const tensor_copy *copy = &r->copy;
    ts_val first = tensor_wide(b, r->map[copy->at[0]]), n = ts_int(b, TS_T_i64, copy->box[0]);
    ts_val last = ts_op2(b, TS_OP_addi, first, ts_op2(b, TS_OP_subi, n, ts_int(b, TS_T_i64, 1), 0), 0);
    ts_val whole = tensor_and(b, r->inside, tensor_in(b, first, r->map[copy->extent[0]]));
    whole = tensor_and(b, whole, tensor_in(b, last, r->map[copy->extent[0]]));
    ts_val to = ts_element(b, r->map[copy->shared],
                           ts_op2(b, TS_OP_muli, r->row, ts_int(b, TS_T_i32, copy->box[0]), 0));
    ts_val opener = ts_if_begin(b, whole), bytes = ts_int(b, TS_T_i32, (int64_t)copy->box[0] * copy->bytes);
    ts_val from = ts_element(b, r->map[copy->global], ts_op2(b, TS_OP_addi, r->offset, first, 0));
    if (copy->load)
        ts_emit(b, TS_OP_bulk_load, TS_T_none, 4, (ts_val[]){to, r->map[copy->bar], from, bytes}, 0, 0);
    else
        ts_emit(b, TS_OP_bulk_store, TS_T_none, 3, (ts_val[]){from, to, bytes}, 0, 0);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_else(b);
    tensor_elements(r, to, first);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, opener, 0, NULL);
}

/* The rows of axes d and below, d > 0; of axis 0 the row itself. */
static void tensor_axis(const tensor_rows *r, uint32_t d)
{
    ts_builder *b = r->b;
    if (d == 0) {
        tensor_row(r);
        return;
    }
    ts_val zero = ts_int(b, TS_T_i32, 0), one = ts_int(b, TS_T_i32, 1), n = ts_int(b, TS_T_i32, r->copy.box[d]);
    ts_val opener = ts_for_begin(b, zero, n, one, 0, NULL, 0), i = ts_region_arg(b->fn, opener, 0);
    ts_val at = tensor_wide(b, ts_op2(b, TS_OP_addi, r->map[r->copy.at[d]], i, 0));
    tensor_rows inner = *r;
    inner.row = ts_op2(b, TS_OP_addi, ts_op2(b, TS_OP_muli, r->row, n, 0), i, 0);
    inner.inside = tensor_and(b, r->inside, tensor_in(b, at, r->map[r->copy.extent[d]]));
    inner.offset = ts_op2(b, TS_OP_addi, r->offset, ts_op2(b, TS_OP_muli, at, r->map[r->copy.stride[d - 1]], 0), 0);
    tensor_axis(&inner, d - 1);
    ts_term(b, TS_OP_continue, 0, NULL);
    ts_end(b, opener, 0, NULL);
}

static ts_val tensor_by_rows(const tensor_ctx *c, ts_builder *b, ts_val v, const ts_val *map)
{
    tensor_rows r = {.b = b, .copy = tensor_of(c->fn, v), .map = map, .inside = ts_int(b, TS_T_i1, 1),
                     .offset = ts_int(b, TS_T_i64, 0), .row = ts_int(b, TS_T_i32, 0)};
    tensor_axis(&r, r.copy.rank - 1);
    return TS_NO;
}

/* ---- the pass ---------------------------------------------------------------------------------------------- */

static ts_val tensor_each(void *user, ts_builder *b, const ts_fn *fn, ts_val v, ts_val *map)
{
    tensor_ctx *c = user;
    uint32_t op = ts_at(fn, v)->op;
    if (op != TS_OP_tensor_load && op != TS_OP_tensor_store)
        return 0;
    c->fn = fn;
    return c->env->target == TS_TARGET_CPU ? tensor_by_rows(c, b, v, map) : tensor_by_map(c, b, v, map);
}

ts_status ts__pass_tensor(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    tensor_ctx c = {.env = env, .err = err};
    if (!ts__has_op(fn, TS_OP_tensor_load) && !ts__has_op(fn, TS_OP_tensor_store))
        return TS_OK;
    TS_TRY(ts__rewrite(fn, env, "tensor", tensor_each, &c, err));
    return c.status;
}
