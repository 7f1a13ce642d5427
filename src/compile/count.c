/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting (count.h), in two steps. First every region becomes a nest with the work of one run through it. Then
 * the scalar part of the kernel is run, block after block, with the launch's arguments: that tells how
 * often each nest runs.
 *
 *     nest 0  block        store 32 KiB                           runs: 4096
 *     nest 1  for, line 9  load 48 KiB, 8.4 M tensor flops        runs: 4096 x 128
 *
 * What a scalar's value depends on is known unless it comes out of memory or a tile; an `if` on such a value counts
 * both sides and a loop on such a value counts one trip, and the count is no longer exact. As long as no
 * loop or condition depends on the block's number, one block stands for all; else at most COUNT_BLOCKS
 * of them, evenly spread, are run. A loop without regions inside whose results are not read is not run but multiplied.
 */
#include "compile/count.h"
#include "ir/scalar.h"

enum { COUNT_BLOCKS = 2048, COUNT_DEPTH = 256 };
#define COUNT_STEPS 20000000u /* instructions run for all blocks together */

typedef struct count_value {
    uint64_t bits;
    uint8_t known, by_block;
} count_value;

typedef enum count_flow { FLOW_ON, FLOW_NEXT, FLOW_CONTINUE, FLOW_BREAK, FLOW_RETURN } count_flow;

typedef struct count_work {
    const ts_fn *fn;
    const ts_module *module;
    const ts_report_request *request;
    ts_arena *arena;
    ts_count *out;
    ts_shape shape;
    uint32_t *nest;      /* [opener or else] its nest */
    uint32_t *inside;    /* [instruction] the nest it is in */
    int32_t *root;       /* [pointer or view] entry of out->arrays, or -1 */
    uint8_t *has_region; /* [opener] it holds loops or ifs */
    count_value *value;
    double *runs, *seen; /* [nest], of the blocks run so far; before the last one */
    int64_t block[3];
    uint64_t steps;
    bool by_block, guessed, failed;
} count_work;

/* ---- the table of work ---------------------------------------------------------------------------------- */

static const struct {
    const char *name, *unit;
} count_names[] = {
#define X(name, unit) {#name, unit},
    TS_WORK(X)
#undef X
};

const char *ts_work_name(uint32_t work)
{
    return work < TS_WORK_COUNT ? count_names[work].name : "?";
}

const char *ts_work_unit(uint32_t work)
{
    return work < TS_WORK_COUNT ? count_names[work].unit : "?";
}

/* ---- one instruction --------------------------------------------------------------------------------------- */

/* Flops or integer operations of an elementwise operation, and which kind. */
static double count_elementwise(const ts_inst *inst, ts_type elem, ts_work *kind)
{
    const ts_op_info *info = ts_info(inst);
    if (info->flags & TS_SLOW) {
        *kind = TS_WORK_special;
        return 1;
    }
    *kind = elem == TS_T_f64 ? TS_WORK_f64 : elem == TS_T_f16 || elem == TS_T_bf16 ? TS_WORK_f16 : TS_WORK_f32;
    switch (info->rule) {
    case TS_RULE_TERF:
        return 2;
    case TS_RULE_UNF: case TS_RULE_BINF: case TS_RULE_CMPF:
        return 1;
    case TS_RULE_UNI: case TS_RULE_BINI: case TS_RULE_CMPI:
        *kind = TS_WORK_integer;
        return 1;
    default:
        return 0;
    }
}

static ts_work count_product_kind(ts_type a)
{
    switch (a) {
    case TS_T_f16: case TS_T_bf16:
        return TS_WORK_tensor_f16;
    case TS_T_tf32:
        return TS_WORK_tensor_tf32;
    case TS_T_i8:
        return TS_WORK_tensor_i8;
    case TS_T_f64:
        return TS_WORK_tensor_f64;
    case TS_T_f32:
        return TS_WORK_f32;
    default:
        return TS_WORK_tensor_f8;
    }
}

static void count_product(count_work *w, const ts_inst *inst, double *work)
{
    ts_type a = ts_type_of(w->fn, ts_opnds(w->fn, inst)[0]);
    double k = (double)ts_type_dims(w->module, a)[ts_type_rank(w->module, a) - 1];
    work[count_product_kind(ts_type_elem(w->module, a))] += 2 * k * (double)ts_type_count(w->module, inst->type);
}

/* Bytes of one load, store or atomic. */
static double count_bytes(const count_work *w, ts_val v)
{
    bool write = ts_info(ts_at(w->fn, v))->flags & TS_WRITE;
    ts_type type = ts_type_of(w->fn, write ? ts_opnd(w->fn, v, 1) : v);
    return (double)ts_type_count(w->module, type) * ts_type_bits(w->module, ts_type_elem(w->module, type)) / 8;
}

static ts_work count_access_kind(uint32_t flags)
{
    return flags & TS_READ && flags & TS_WRITE ? TS_WORK_atomic : flags & TS_WRITE ? TS_WORK_store : TS_WORK_load;
}

/* Region bodies of reduce and scan run once for each step: their scalar operations, `times` each. */
static void count_body(count_work *w, ts_val opener, double times, double *work)
{
    for (ts_val v = opener + 1; v < w->shape.end[opener]; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        ts_work kind;
        if (ts_info(inst)->flags & TS_ELEM) {
            ts_type of = inst->n_opnd ? ts_type_of(w->fn, ts_opnds(w->fn, inst)[inst->op == TS_OP_select]) : inst->type;
            double each = count_elementwise(inst, of, &kind);
            work[kind] += each * times;
        }
    }
}

static void count_reduction(count_work *w, ts_val v, double *work)
{
    ts_type type = ts_type_of(w->fn, ts_opnd(w->fn, v, 0));
    double n = (double)ts_type_count(w->module, type);
    double along = (double)ts_type_dims(w->module, type)[ts_pool(w->fn, ts_at(w->fn, v))[0]];
    count_body(w, v, n / along * (along - 1), work);
}

static void count_largest(count_work *w, ts_val v, ts_type type)
{
    double bytes = (double)ts_type_count(w->module, type) * ts_type_bits(w->module, ts_type_elem(w->module, type)) / 8;
    if (ts_type_kind(w->module, type) != TS_KIND_TILE || bytes <= w->out->tile_bytes || !ts__loc_of(w->fn, v)->line)
        return;
    w->out->tile_bytes = bytes;
    w->out->tile_line = ts__loc_of(w->fn, v)->line;
}

static void count_inst(count_work *w, ts_val v, uint32_t nest)
{
    const ts_inst *inst = ts_at(w->fn, v);
    double *work = w->out->nests.at[nest].work;
    ts_work kind;
    if (ts_info(inst)->flags & (TS_READ | TS_WRITE)) {
        work[count_access_kind(ts_info(inst)->flags)] += count_bytes(w, v);
    } else if (inst->op == TS_OP_mmaf || inst->op == TS_OP_mmai || inst->op == TS_OP_mmaf_scaled) {
        count_product(w, inst, work);
    } else if (inst->op == TS_OP_reduce || inst->op == TS_OP_scan) {
        count_reduction(w, v, work);
    } else if (ts_info(inst)->flags & TS_ELEM && ts_type_kind(w->module, inst->type) == TS_KIND_TILE) {
        ts_type of = ts_type_elem(w->module, ts_type_of(w->fn, ts_opnds(w->fn, inst)[0]));
        double each = count_elementwise(inst, of, &kind);
        work[kind] += each * (double)ts_type_count(w->module, inst->type);
    }
    count_largest(w, v, inst->type);
}

/* ---- nests ---------------------------------------------------------------------------------------------------- */

static const char *count_trips(count_work *w, ts_val loop)
{
    const uint32_t *opnds = ts_opnds(w->fn, ts_at(w->fn, loop));
    int64_t lower, step;
    bool plain = ts__const_as_int(w->fn, opnds[0], &lower) && lower == 0;
    bool unit = ts__const_as_int(w->fn, opnds[2], &step) && step == 1;
    ts_text text;
    ts__text_init(&text, w->arena->alloc);
    ts__text_puts(&text, unit ? "" : "cdiv(");
    ts__count_expr(w->fn, w->request, opnds[1], 0, &text);
    if (!plain) {
        ts__text_puts(&text, " - ");
        ts__count_expr(w->fn, w->request, opnds[0], 0, &text);
    }
    if (!unit) {
        ts__text_puts(&text, ", ");
        ts__count_expr(w->fn, w->request, opnds[2], 0, &text);
        ts__text_putc(&text, ')');
    }
    const char *copy = text.failed ? NULL : ts__arena_text(w->arena, ts__text_get(&text), text.n);
    ts__text_deinit(&text);
    return copy ? copy : "";
}

static uint32_t count_nest(count_work *w, ts_val opener, const char *what, uint32_t parent)
{
    ts_nest nest = {.line = ts__loc_of(w->fn, opener)->line, .parent = parent, .what = what, .trips = ""};
    if (ts_at(w->fn, opener)->op == TS_OP_for)
        nest.trips = count_trips(w, opener);
    (void)TS_PUSH(w->arena, &w->out->nests, nest);
    return w->out->nests.n ? w->out->nests.n - 1 : 0;
}

/* The nest that an opener or `else` starts; TS_NO for other instructions. */
static uint32_t count_opens(count_work *w, ts_val v, uint32_t inside, uint32_t around)
{
    switch ((int)ts_at(w->fn, v)->op) {
    case TS_OP_for:
        return count_nest(w, v, "for", inside);
    case TS_OP_loop:
        return count_nest(w, v, "loop", inside);
    case TS_OP_if:
        return count_nest(w, v, "if", inside);
    case TS_OP_else:
        return count_nest(w, v, "else", around);
    default:
        return TS_NO;
    }
}

/* First step: work by nest. */
static void count_static(count_work *w)
{
    uint32_t open[COUNT_DEPTH], depth = 0;
    open[0] = count_nest(w, 0, "block", 0);
    for (ts_val v = 1; v < w->fn->inst.n && !w->arena->failed; v++) {
        ts_op op = (ts_op)ts_at(w->fn, v)->op;
        uint32_t fresh = count_opens(w, v, open[depth], depth ? open[depth - 1] : 0);
        if (fresh != TS_NO) {
            w->nest[v] = fresh;
            w->has_region[w->shape.parent[v]] = 1;
            depth += op != TS_OP_else && depth + 1 < COUNT_DEPTH;
            open[depth] = fresh;
            continue;
        }
        w->inside[v] = open[depth];
        count_inst(w, v, open[depth]);
        if (op == TS_OP_reduce || op == TS_OP_scan || op == TS_OP_cold)
            v = w->shape.end[v];
        else if (op == TS_OP_end && depth)
            depth--;
    }
}

/* ---- arrays ------------------------------------------------------------------------------------------------- */

static double count_param_int(const count_work *w, uint32_t param)
{
    ts_type type = ts_type_of(w->fn, param + 1);
    return (double)(int64_t)ts__scalar_wrap(type, w->request->params[param]);
}

/* Bytes of the array whose pointer is parameter `param`: its extents follow. 0 when unknown. */
static double count_array_bytes(const count_work *w, uint32_t param, uint32_t rank, ts_type elem)
{
    double bytes = ts_type_bits(w->module, elem) / 8.0;
    if (!w->request->params || param + rank >= w->request->n_params || param + rank >= w->fn->n_params)
        return 0;
    for (uint32_t i = 1; i <= rank; i++)
        bytes *= ts_type_is_scalar(ts_type_of(w->fn, param + i + 1)) ? count_param_int(w, param + i) : 0;
    return bytes;
}

/* Rank of the tensor views made of a pointer; TS_NO when there is none. */
static uint32_t count_rank(const count_work *w, ts_val pointer)
{
    for (ts_val v = pointer + 1; v < w->fn->inst.n; v++)
        if (ts_at(w->fn, v)->op == TS_OP_make_tensor_view && w->root[ts_opnd(w->fn, v, 0)] == w->root[pointer])
            return ts_type_get(w->module, ts_type_of(w->fn, v))->rank;
    return TS_NO;
}

static int32_t count_root(const count_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    bool derived = ts_info(inst)->flags & TS_PURE && inst->n_opnd && inst->op != TS_OP_constant &&
                   inst->op != TS_OP_res;
    return derived ? w->root[ts_opnds(w->fn, inst)[0]] : -1;
}

/* Every pointer parameter is an array; views and pointers made from it belong to it. */
static void count_arrays(count_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        w->root[v] = count_root(w, v);
        if (ts_at(w->fn, v)->op != TS_OP_param || !ts_type_is_ptr(w->module, ts_type_of(w->fn, v)))
            continue;
        ts_traffic array = {.param = ts_at(w->fn, v)->aux};
        ts__count_label(w->request, array.param, array.name, sizeof array.name);
        w->root[v] = (int32_t)w->out->arrays.n;
        (void)TS_PUSH(w->arena, &w->out->arrays, array);
    }
    for (uint32_t i = 0; i < w->out->arrays.n; i++) {
        ts_traffic *array = &w->out->arrays.at[i];
        ts_val pointer = array->param + 1;
        uint32_t rank = count_rank(w, pointer);
        if (rank != TS_NO)
            array->bytes = count_array_bytes(
                w, array->param, rank, ts_type_get(w->module, ts_type_of(w->fn, pointer))->elem);
    }
}

/* ---- running the scalars -------------------------------------------------------------------------------------- */

static void count_set(count_work *w, ts_val v, uint64_t bits, bool by_block)
{
    w->value[v] = (count_value){ts__scalar_wrap(ts_type_of(w->fn, v), bits), 1, by_block};
}

static count_flow count_region(count_work *w, ts_val from, ts_val end, ts_val *at);

static void count_elem(count_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    const uint32_t *opnds = ts_opnds(w->fn, inst);
    uint64_t x[3] = {0}, bits;
    bool by_block = false;
    w->value[v].known = 0;
    for (uint32_t i = 0; i < inst->n_opnd && i < 3; i++) {
        if (!w->value[opnds[i]].known)
            return;
        x[i] = w->value[opnds[i]].bits;
        by_block |= w->value[opnds[i]].by_block;
    }
    ts_type from = ts_type_of(w->fn, opnds[inst->op == TS_OP_select]);
    if (ts_type_is_scalar(from) && ts__scalar_eval(w->module, (ts_op)inst->op, inst->aux, from, inst->type, x, &bits))
        count_set(w, v, bits, by_block);
}

static void count_shape_query(count_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    ts_val view = inst->opnd[0];
    const ts_type_info *info = ts_type_get(w->module, ts_type_of(w->fn, view));
    uint32_t axis = inst->aux, dim = info->dim_map ? (uint32_t)info->dim_map[axis] : axis;
    bool tiles = inst->op == TS_OP_get_index_space_shape;
    ts_val make = info->kind == TS_KIND_TENSOR_VIEW ? view : ts_opnd(w->fn, view, 0);
    int64_t extent, step = !tiles ? 1 : info->kind == TS_KIND_STRIDED_VIEW ? info->strides[axis] : info->dims[axis];
    w->value[v].known = 0;
    if (ts_at(w->fn, make)->op != TS_OP_make_tensor_view)
        return;
    ts_val of = ts__count_extent(w->fn, make, tiles ? dim : axis, &extent);
    if (of && !w->value[of].known)
        return;
    extent = of ? (int64_t)w->value[of].bits : extent;
    count_set(w, v, (uint64_t)((extent + step - 1) / step), of && w->value[of].by_block);
}

/* A scalar that is not inside any region's structure. */
static void count_scalar(count_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    uint64_t bits;
    if (!ts_type_is_scalar(inst->type))
        return;
    switch ((int)inst->op) {
    case TS_OP_param:
        if (inst->aux < w->request->n_params)
            count_set(w, v, w->request->params[inst->aux], false);
        break;
    case TS_OP_constant:
        if (ts__const_bits(w->fn, v, &bits))
            count_set(w, v, bits, false);
        break;
    case TS_OP_assume:
        w->value[v] = w->value[inst->opnd[0]];
        break;
    case TS_OP_get_tile_block_id:
        count_set(w, v, (uint64_t)w->block[inst->aux % 3], true);
        break;
    case TS_OP_get_num_tile_blocks:
        count_set(w, v, (uint64_t)w->request->grid[inst->aux % 3], false);
        break;
    case TS_OP_get_tensor_shape:
    case TS_OP_get_index_space_shape:
        count_shape_query(w, v);
        break;
    default:
        w->value[v].known = 0;
        if (ts_info(inst)->flags & TS_ELEM)
            count_elem(w, v);
    }
}

/* Hands the operands of terminator `term` from number `skip` on to `n` values from `to`. */
static void count_hand(count_work *w, ts_val term, uint32_t skip, ts_val to, uint32_t n)
{
    const ts_inst *inst = ts_at(w->fn, term);
    ts_arena_mark mark = ts__arena_at(w->arena);
    count_value *room = TS_NEW_N(w->arena, count_value, n + 1);
    for (uint32_t i = 0; room && i < n; i++)
        room[i] = term && skip + i < inst->n_opnd ? w->value[ts_opnds(w->fn, inst)[skip + i]] : (count_value){0};
    for (uint32_t i = 0; room && i < n; i++)
        w->value[to + i] = room[i];
    ts__arena_rewind(w->arena, mark);
}

static uint32_t count_results(const count_work *w, ts_val opener)
{
    uint32_t n = 0;
    for (ts_val v = w->shape.end[opener] + 1; v < w->fn->inst.n && ts_at(w->fn, v)->op == TS_OP_res; v++)
        n += ts_at(w->fn, v)->opnd[0] == opener;
    return n;
}

static bool count_results_matter(const count_work *w, ts_val opener)
{
    for (ts_val v = w->shape.end[opener] + 1; v < w->fn->inst.n && ts_at(w->fn, v)->op == TS_OP_res; v++)
        if (ts_at(w->fn, v)->opnd[0] == opener && w->shape.uses[v] && ts_type_is_scalar(ts_type_of(w->fn, v)))
            return true;
    return false;
}

/* A decision of the control flow: false when it depends on data. */
static bool count_decides(count_work *w, ts_val v)
{
    w->by_block |= w->value[v].by_block;
    w->guessed |= !w->value[v].known;
    return w->value[v].known;
}

/* How often a `for` runs, or -1. */
static int64_t count_for_trips(count_work *w, ts_val loop)
{
    const ts_inst *inst = ts_at(w->fn, loop);
    const uint32_t *opnds = ts_opnds(w->fn, inst);
    bool known = true;
    for (uint32_t i = 0; i < 3; i++)
        known = count_decides(w, opnds[i]) && known;
    int64_t lower = (int64_t)w->value[opnds[0]].bits, upper = (int64_t)w->value[opnds[1]].bits;
    int64_t step = (int64_t)w->value[opnds[2]].bits;
    if (!known || step <= 0)
        return -1;
    return upper > lower ? (upper - lower - 1) / step + 1 : 0;
}

static count_flow count_for(count_work *w, ts_val loop)
{
    const ts_inst *inst = ts_at(w->fn, loop);
    uint32_t n = inst->n_opnd - 3, nest = w->nest[loop];
    ts_val end = w->shape.end[loop], term = 0;
    int64_t trips = count_for_trips(w, loop);
    const uint32_t *opnds = ts_opnds(w->fn, inst);
    count_value lower = w->value[opnds[0]], step = w->value[opnds[2]];
    count_hand(w, loop, 3, loop + 2, n);
    if (trips >= 0 && !w->has_region[loop] && !count_results_matter(w, loop)) {
        w->runs[nest] += (double)trips;
        trips = 0;
    }
    for (int64_t i = 0; i < (trips < 0 ? 1 : trips); i++) {
        w->value[loop + 1] = (count_value){lower.bits + (uint64_t)i * step.bits, trips >= 0,
                                           lower.by_block | step.by_block};
        w->runs[nest]++;
        count_flow flow = count_region(w, loop + 2 + n, end, &term);
        if (flow == FLOW_RETURN || w->failed)
            return flow;
        if (flow == FLOW_BREAK)
            break;
        count_hand(w, term, 0, loop + 2, n);
    }
    for (uint32_t i = 0; i < n; i++)
        w->value[end + 1 + i] = w->value[loop + 2 + i];
    return FLOW_ON;
}

static count_flow count_loop(count_work *w, ts_val loop)
{
    uint32_t n = ts_at(w->fn, loop)->n_opnd;
    ts_val term = 0;
    count_hand(w, loop, 0, loop + 1, n);
    for (;;) {
        bool guessed = w->guessed;
        w->guessed = false;
        w->runs[w->nest[loop]]++;
        count_flow flow = count_region(w, loop + 1 + n, w->shape.end[loop], &term);
        bool blind = w->guessed;
        w->guessed |= guessed;
        if (flow == FLOW_RETURN || w->failed)
            return flow;
        if (flow == FLOW_BREAK || blind) {
            count_hand(w, flow == FLOW_BREAK ? term : 0, 0, w->shape.end[loop] + 1, count_results(w, loop));
            return FLOW_ON;
        }
        count_hand(w, term, 0, loop + 1, n);
    }
}

/* Both sides, when the condition is not known: then nothing is known of the results. */
static count_flow count_if(count_work *w, ts_val v, ts_val *at)
{
    ts_val other = w->shape.other[v], end = w->shape.end[v], cond = ts_opnd(w->fn, v, 0), term = 0;
    uint32_t n = count_results(w, v);
    bool known = count_decides(w, cond), yes = known && w->value[cond].bits;
    count_flow flow = FLOW_NEXT;
    if (yes || !known) {
        w->runs[w->nest[v]]++;
        flow = count_region(w, v + 1, other, &term);
    }
    if (!yes) {
        w->runs[w->nest[other]]++;
        count_flow second = count_region(w, other + 1, end, &term);
        flow = known ? second : FLOW_NEXT;
    }
    count_hand(w, known && flow == FLOW_NEXT ? term : 0, 0, end + 1, n);
    *at = term;
    return flow == FLOW_NEXT ? FLOW_ON : flow;
}

static count_flow count_term(ts_op op)
{
    return op == TS_OP_continue ? FLOW_CONTINUE
           : op == TS_OP_break  ? FLOW_BREAK
           : op == TS_OP_return ? FLOW_RETURN
                                : FLOW_NEXT;
}

/* Runs instructions from..end-1; *at: the terminator met. */
static count_flow count_region(count_work *w, ts_val from, ts_val end, ts_val *at)
{
    for (ts_val v = from; v < end && !w->failed; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        count_flow flow = FLOW_ON;
        w->failed = ++w->steps > COUNT_STEPS || w->arena->failed;
        *at = v;
        if (ts_info(inst)->flags & TS_TERM)
            return count_term((ts_op)inst->op);
        if (inst->op == TS_OP_for)
            flow = count_for(w, v);
        else if (inst->op == TS_OP_loop)
            flow = count_loop(w, v);
        else if (inst->op == TS_OP_if)
            flow = count_if(w, v, at);
        else if (inst->op != TS_OP_res)
            count_scalar(w, v);
        if (flow != FLOW_ON)
            return flow;
        if (ts_info(inst)->flags & TS_REGION)
            v = w->shape.end[v];
    }
    return FLOW_NEXT;
}

/* ---- all blocks -------------------------------------------------------------------------------------------------- */

/* Takes the work of the block that has just run for the busiest one's. */
static void count_busiest(count_work *w)
{
    double work[TS_WORK_COUNT] = {0};
    for (uint32_t i = 0; i < w->out->nests.n; i++)
        for (uint32_t k = 0; k < TS_WORK_COUNT; k++)
            work[k] += (w->runs[i] - w->seen[i]) * w->out->nests.at[i].work[k];
    for (uint32_t k = 0; k < TS_WORK_COUNT; k++)
        w->out->busiest[k] = TS_MAX(w->out->busiest[k], work[k]);
}

static void count_block(count_work *w, int64_t index)
{
    const int64_t *grid = w->request->grid;
    ts_val at;
    memcpy(w->seen, w->runs, sizeof *w->seen * w->out->nests.n);
    w->block[0] = index % grid[0];
    w->block[1] = index / grid[0] % grid[1];
    w->block[2] = index / grid[0] / grid[1];
    w->runs[0]++;
    count_region(w, 1, w->fn->inst.n, &at);
    count_busiest(w);
}

static void count_totals(count_work *w, double scale)
{
    for (uint32_t i = 0; i < w->out->nests.n; i++) {
        ts_nest *nest = &w->out->nests.at[i];
        nest->runs = w->runs[i] * scale;
        for (uint32_t k = 0; k < TS_WORK_COUNT; k++)
            w->out->total[k] += nest->runs * nest->work[k];
    }
}

static void count_share(count_work *w, ts_val v)
{
    int32_t array = w->root[ts_opnd(w->fn, v, 0)];
    double bytes = count_bytes(w, v) * w->out->nests.at[w->inside[v]].runs;
    if (array < 0)
        w->out->dram_bytes += bytes;
    else if (ts_info(ts_at(w->fn, v))->flags & TS_WRITE)
        w->out->arrays.at[array].store += bytes;
    else
        w->out->arrays.at[array].load += bytes;
}

/* Each access' share of its array; then what must at least go to memory. */
static void count_traffic(count_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++)
        if (ts_info(ts_at(w->fn, v))->flags & (TS_READ | TS_WRITE))
            count_share(w, v);
    for (uint32_t i = 0; i < w->out->arrays.n; i++) {
        const ts_traffic *a = &w->out->arrays.at[i];
        w->out->dram_bytes += a->bytes > 0 ? TS_MIN(a->load, a->bytes) + TS_MIN(a->store, a->bytes)
                                           : a->load + a->store;
    }
}

/* Second step: how often each nest runs in the whole grid. */
static void count_dynamic(count_work *w)
{
    const int64_t *grid = w->request->grid;
    int64_t all = grid[0] * grid[1] * grid[2], n = 1;
    count_block(w, 0);
    if (w->by_block && !w->failed) {
        n = TS_MIN(all, (int64_t)COUNT_BLOCKS);
        memset(w->runs, 0, sizeof *w->runs * w->out->nests.n);
        int64_t done = 0;
        while (done < n && !w->failed) {
            count_block(w, (int64_t)((double)all * (double)done / (double)n));
            done++;
        }
        n = done;
    }
    w->out->evaluated = true;
    w->out->exact = !w->guessed && !w->failed && (!w->by_block || n == all);
    count_totals(w, (double)all / (double)n);
    count_traffic(w);
}

static bool count_prepare(count_work *w)
{
    size_t n = w->fn->inst.n;
    w->nest = TS_NEW_N(w->arena, uint32_t, n);
    w->inside = TS_NEW_N(w->arena, uint32_t, n);
    w->root = TS_NEW_N(w->arena, int32_t, n);
    w->has_region = TS_NEW_N(w->arena, uint8_t, n);
    w->value = TS_NEW_N(w->arena, count_value, n);
    return w->nest && w->inside && w->root && w->has_region && w->value && ts__shape_of(w->fn, w->arena, &w->shape);
}

ts_status ts__count_run(const ts_fn *fn, const ts_report_request *request, ts_arena *arena, ts_count *out,
                        ts_error *err)
{
    count_work w = {.fn = fn, .module = fn->module, .request = request, .arena = arena, .out = out};
    *out = (ts_count){.evaluated = false};
    if (count_prepare(&w)) {
        count_arrays(&w);
        count_static(&w);
        w.runs = TS_NEW_N(arena, double, out->nests.n + 1);
        w.seen = TS_NEW_N(arena, double, out->nests.n + 1);
    }
    if (arena->failed || !w.runs || !w.seen)
        return ts_fail(err, TS_NOMEM, "out of memory while counting");
    if (request->params && request->grid[0] > 0 && request->grid[1] > 0 && request->grid[2] > 0)
        count_dynamic(&w);
    return arena->failed ? ts_fail(err, TS_NOMEM, "out of memory while counting") : TS_OK;
}
