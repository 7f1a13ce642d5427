/* SPDX-License-Identifier: Apache-2.0
 *
 * One call of an elementwise function: its dtypes and shape, then a node, which waits if the result is a storage of its
 * own and large, and is computed at once if it is small, goes to a part of a storage, or to memory that others see.
 */
#include "numeric/numeric.h"

/* ---- dtypes -------------------------------------------------------------------------------------- */

typedef struct call {
    ts_nd_graph *graph;
    const ts_nd_call *call;
    const ts_nd_info *row;
    ts_dtype promoted, loop, result;
    uint32_t rank;
    int64_t shape[TS_ND_RANK];
} call_of;

/* Operands that make the dtype: the condition of `select` and the offsets of `gather` take no part. */
static bool call_takes_part(const call_of *c, uint32_t i)
{
    return !(c->call->fn == TS_ND_select && i == 0) && !(c->call->fn == TS_ND_gather && i == 1);
}

/* Of an operand that does not give way; NONE: it does. */
static ts_dtype call_own_dtype(const ts_nd_operand *in)
{
    if (in->array)
        return (ts_dtype)in->array->dtype;
    return in->dtype ? in->dtype : in->kind == 'b' ? TS_DTYPE_bool_ : TS_DTYPE_NONE;
}

/* The dtype that the arrays among the operands have together, and the greatest kind of number beside them. `each`: each
 * array counts for itself, as the function's loops have it. */
static ts_dtype call_strong(const call_of *c, bool each, const char **weak, bool *is_big)
{
    static const char kinds[] = "bifc";
    ts_dtype dtype = TS_DTYPE_NONE;
    for (uint32_t i = 0; i < c->row->n_in; i++) {
        const ts_nd_operand *in = &c->call->in[i];
        if (!call_takes_part(c, i))
            continue;
        ts_dtype own = call_own_dtype(in);
        if (own) {
            own = each ? ts__nd_operand_dtype(c->call->fn, own) : own;
            dtype = dtype ? ts_nd_promote(dtype, own) : own;
            if (!dtype)
                return TS_DTYPE_NONE;
            continue;
        }
        const char *kind = strchr(kinds, in->kind);
        *is_big |= in->is_big;
        *weak = !*weak || kind > *weak ? kind : *weak;
    }
    return dtype;
}

/* Whether integers from 2^63 on are uint64 where no array says otherwise: where they are compared, and as elements. */
static bool call_holds_big(const call_of *c)
{
    return c->row->result == TS_ND_IS_BOOL || c->call->fn == TS_ND_copy;
}

static ts_status call_promote(call_of *c, ts_error *err)
{
    const char *weak = NULL;
    bool is_big = false;
    ts_dtype dtype = call_strong(c, false, &weak, &is_big);
    if (!dtype && !weak)
        return ts_fail(err, TS_TYPE, "ufunc '%s': no dtype holds its operands", c->row->name);
    if (!weak)
        c->promoted = call_strong(c, true, &weak, &is_big);
    else if (*weak == 'i' && is_big && (!dtype || nd_kind(dtype) == 'b') && call_holds_big(c))
        c->promoted = TS_DTYPE_uint64;
    else
        c->promoted = ts_nd_promote_weak(dtype, *weak);
    return TS_OK;
}

/* Refuses operands that were left out. */
static ts_status call_check_given(const call_of *c, ts_error *err)
{
    for (uint32_t i = 0; i < c->row->n_in; i++) {
        const ts_nd_operand *in = &c->call->in[i];
        if (!in->array && !in->dtype && !(in->kind && strchr("bifc", in->kind)))
            return ts_fail(err, TS_VALUE, "ts_nd_run(): '%s' has %u operands, and in[%u] is neither an array nor a "
                           "number of kind 'b', 'i', 'f' or 'c'", c->row->name, c->row->n_in, i);
    }
    return TS_OK;
}

/* What an operand counts as where it is cast: a number of the host language as a dtype of its kind; under 'equiv' it is
 * the kind's own, as in NumPy. */
static ts_dtype call_cast_from(const call_of *c, const ts_nd_operand *in, ts_nd_casting casting)
{
    ts_dtype own = call_own_dtype(in);
    return own ? own : ts_nd_promote_weak(casting == TS_ND_EQUIV ? TS_DTYPE_NONE : c->loop, in->kind);
}

/* An integer that the dtype of the loop does not hold. */
static ts_status call_fail_number(const ts_nd_operand *in, ts_dtype dtype, ts_error *err)
{
    const char *name = ts__nd_dtype_name(dtype);
    if (in->is_huge)
        return ts_fail(err, TS_OVERFLOW, "Python integer out of bounds for %s", name);
    if (in->is_big)
        return ts_fail(err, TS_OVERFLOW, "Python integer %llu out of bounds for %s", (unsigned long long)in->i, name);
    return ts_fail(err, TS_OVERFLOW, "Python integer %lld out of bounds for %s", (long long)in->i, name);
}

/* A call has another fault, which NumPy finds after numbers of the host language that do not fit. */
static ts_status call_check_numbers(const call_of *c, ts_error *err)
{
    uint64_t bits[2];
    for (uint32_t i = 0; i < c->row->n_in && c->row->result != TS_ND_IS_BOOL; i++) { /* all are compared */
        const ts_nd_operand *in = &c->call->in[i];
        char kind = nd_kind(c->loop);
        if (!in->array && !in->dtype && in->kind == 'i' && (kind == 'i' || kind == 'u') &&
            ts__nd_number(in, c->loop, bits))
            return call_fail_number(in, c->loop, err);
    }
    return TS_OK;
}

static ts_status call_check_inputs(const call_of *c, ts_error *err)
{
    ts_nd_casting casting = nd_casting(c->call);
    for (uint32_t i = 0; i < c->row->n_in; i++) {
        const ts_nd_operand *in = &c->call->in[i];
        if (!call_takes_part(c, i))
            continue;
        bool is_logical = c->row->missing == ND_IS_TRUTH && c->loop == TS_DTYPE_bool_;
        ts_dtype from = call_cast_from(c, in, casting), named = c->call->loop;
        ts_dtype to = is_logical && named ? named : c->loop;
        bool is_truth = is_logical && (!named || (named == TS_DTYPE_bool_ && c->row->n_in == 2));
        if (is_truth || ts_nd_can_cast(from, to, casting))
            continue;
        TS_TRY(call_check_numbers(c, err));
        return ts_fail(err, TS_TYPE, "Cannot cast ufunc '%s' input %u from dtype('%s') to dtype('%s') with casting "
                       "rule '%s'", c->row->name, i, ts__nd_dtype_name(from), ts__nd_dtype_name(to),
                       ts__nd_casting_name(casting));
    }
    return TS_OK;
}

static ts_status call_check_output(const call_of *c, ts_nd_casting casting, ts_error *err)
{
    ts_dtype to = (ts_dtype)c->call->out->dtype;
    if (ts_nd_can_cast(c->result, to, casting))
        return TS_OK;
    TS_TRY(call_check_numbers(c, err));
    return ts_fail(err, TS_TYPE, "Cannot cast ufunc '%s' output from dtype('%s') to dtype('%s') with casting rule "
                   "'%s'", c->row->name, ts__nd_dtype_name(c->result), ts__nd_dtype_name(to),
                   ts__nd_casting_name(casting));
}

static ts_status call_fail_loop(const call_of *c, ts_error *err)
{
    return ts_fail(err, TS_TYPE, "No loop matching the specified signature and casting was found for ufunc %s",
                   c->row->name);
}

/* The dtype of operands of a function whose results are parts, by the result's: their own where that fits. */
static ts_status call_part_dtype(call_of *c, ts_error *err)
{
    ts_dtype loop, result;
    TS_TRY(ts__nd_loop(c->call->fn, c->promoted, &loop, &result, err));
    if (result == c->call->dtype)
        return TS_OK;
    c->promoted = c->call->dtype;
    return nd_kind(c->promoted) == 'c' ? call_fail_loop(c, err) : TS_OK;
}

/* Integers of the host language that NumPy makes C's long of: beside bools in comparisons, and in logical functions of
 * two. */
static ts_status call_check_long(const call_of *c, ts_error *err)
{
    bool is_logical = c->row->missing == ND_IS_TRUTH;
    bool compares = c->row->result == TS_ND_IS_BOOL && c->row->missing == ND_IS_NO;
    for (uint32_t i = 0; i < 2 && c->row->n_in == 2; i++) {
        const ts_nd_operand *in = &c->call->in[i];
        const ts_nd *other = c->call->in[1 - i].array;
        if (other && !in->array && !in->dtype && (in->is_big || in->is_huge) &&
            (is_logical || (compares && other->dtype == TS_DTYPE_bool_)))
            return ts_fail(err, TS_OVERFLOW, "Python int too large to convert to C long");
    }
    return TS_OK;
}

static ts_status call_find_dtypes(call_of *c, ts_error *err)
{
    TS_TRY(call_check_long(c, err));
    TS_TRY(call_promote(c, err));
    ts_dtype asked = c->call->dtype, loop = c->call->loop;
    if (loop)
        c->promoted = loop;
    else if (asked && c->row->result == TS_ND_IS_PART)
        TS_TRY(call_part_dtype(c, err));
    else if (asked && c->row->result != TS_ND_IS_BOOL)
        c->promoted = asked;
    TS_TRY(ts__nd_loop(c->call->fn, c->promoted, &c->loop, &c->result, err));
    if (asked && ((c->row->result == TS_ND_IS_BOOL && asked != TS_DTYPE_bool_) ||
                  (c->row->result == TS_ND_IS_SAME && c->result != asked)))
        return call_fail_loop(c, err);
    if (asked || loop || (nd_casting(c->call) < TS_ND_SAME_KIND && c->call->fn != TS_ND_copy))
        TS_TRY(call_check_inputs(c, err));
    return TS_OK;
}

static_assert(TS_DTYPE_COUNT <= 32 && TS_ND_COUNT < 1 << 14, "function and dtypes fit in a word");

/* All that the dtypes of a call follow from, where it asks for none: its function, and of each operand the dtype or the
 * kind of its number. 0: more than that. */
static uint32_t call_loop_key(const call_of *c)
{
    const ts_nd_call *call = c->call;
    uint32_t key = (call->fn + 1u) << 18; /* six bits for each of three operands */
    if (call->dtype || call->loop || nd_casting(call) < TS_ND_SAME_KIND)
        return 0;
    for (uint32_t i = 0; i < c->row->n_in; i++) {
        const ts_nd_operand *in = &call->in[i];
        uint32_t own = call_own_dtype(in);
        if (!own && (in->is_big || in->is_huge))
            return 0;
        key |= (own ? own : 32u | ((uint32_t)in->kind & 31)) << 6 * i;
    }
    return key;
}

static ts_status call_dtypes(call_of *c, ts_error *err)
{
    uint32_t key = call_loop_key(c);
    nd_loop *kept = &c->graph->loops[key * 0x9E3779B1u >> (32 - ND_LOOP_BITS)];
    if (key && kept->key == key) {
        c->loop = (ts_dtype)kept->loop;
        c->result = (ts_dtype)kept->result;
    } else {
        TS_TRY(call_find_dtypes(c, err));
        if (key)
            *kept = (nd_loop){key, (uint8_t)c->loop, (uint8_t)c->result};
    }
    return c->call->out ? call_check_output(c, nd_casting(c->call), err) : TS_OK;
}

/* ---- shapes -------------------------------------------------------------------------------------- */

ts_status ts_nd_broadcast(uint32_t *rank, int64_t *shape, uint32_t other_rank, const int64_t *other, ts_error *err)
{
    TS_NEED(err, rank, shape);
    TS_NEED_N(err, other, other_rank);
    uint32_t n = TS_MAX(*rank, other_rank), up = n - *rank;
    for (uint32_t i = *rank; i-- > 0 && up;)
        shape[i + up] = shape[i];
    for (uint32_t i = 0; i < up; i++)
        shape[i] = 1;
    *rank = n;
    for (uint32_t i = 0; i < other_rank; i++) {
        int64_t *mine = &shape[n - other_rank + i];
        if (*mine == 1)
            *mine = other[i];
        else if (other[i] != 1 && other[i] != *mine)
            return ts_fail(err, TS_SHAPE, "operands could not be broadcast together: extents %lld and %lld of axis %d",
                           (long long)*mine, (long long)other[i], (int)i - (int)other_rank);
    }
    return TS_OK;
}

static void call_text(ts_text *text, uint32_t rank, const int64_t *shape)
{
    ts__text_puts(text, " (");
    for (uint32_t d = 0; d < rank; d++)
        ts__text_printf(text, d || rank == 1 ? (d ? ",%lld" : "%lld,") : "%lld", (long long)shape[d]);
    ts__text_putc(text, ')');
}

static ts_status call_fail_shapes(const call_of *c, ts_error *err)
{
    ts_text text;
    ts__text_init(&text, NULL);
    for (uint32_t i = 0; i < c->row->n_in; i++) {
        const ts_nd *a = c->call->in[i].array;
        call_text(&text, a ? a->rank : 0, a ? ts_nd_shape(a) : NULL);
    }
    if (c->call->out)
        call_text(&text, c->call->out->rank, ts_nd_shape(c->call->out));
    ts_status status = ts_fail(err, TS_SHAPE, "operands could not be broadcast together with shapes%s ",
                               ts__text_get(&text));
    ts__text_deinit(&text);
    return status;
}

/* What is written does not fit where it is written to. */
static ts_status call_fail_out(const call_of *c, ts_error *err)
{
    bool is_copy = c->call->fn == TS_ND_copy;
    ts_text text;
    ts__text_init(&text, NULL);
    ts__text_puts(&text, is_copy ? "an input of shape" : "a result of shape");
    call_text(&text, c->rank, c->shape);
    ts__text_puts(&text, is_copy ? " cannot be broadcast to shape" : " cannot be broadcast to `out` of shape");
    call_text(&text, c->call->out->rank, ts_nd_shape(c->call->out));
    ts_status status = ts_fail(err, TS_SHAPE, "%s", ts__text_get(&text));
    ts__text_deinit(&text);
    return status;
}

static bool call_has_shape(const call_of *c, const ts_nd *a)
{
    return a->rank == c->rank && nd_same(a->rank, ts_nd_shape(a), c->shape);
}

static ts_status call_shape_of(call_of *c, ts_error *err)
{
    const ts_nd *out = c->call->out, *where = c->call->where;
    for (uint32_t i = 0; i < c->row->n_in; i++) {
        const ts_nd *a = c->call->in[i].array;
        if (a && !call_has_shape(c, a) &&
            ts_nd_broadcast(&c->rank, c->shape, a->rank, ts_nd_shape(a), NULL) != TS_OK)
            return call_fail_shapes(c, err);
    }
    if (where)
        TS_TRY(ts_nd_broadcast(&c->rank, c->shape, where->rank, ts_nd_shape(where), err));
    if (!out)
        return TS_OK;
    bool fits = out->rank >= c->rank;
    for (uint32_t d = 0; d < c->rank && fits; d++) {
        int64_t extent = ts_nd_shape(out)[out->rank - c->rank + d];
        fits = extent == c->shape[d] || c->shape[d] == 1;
    }
    if (!fits)
        return call_fail_out(c, err);
    c->rank = out->rank;
    memcpy(c->shape, ts_nd_shape(out), out->rank * sizeof *c->shape);
    return TS_OK;
}

static ts_status call_shape(call_of *c, ts_error *err)
{
    ts_status status = call_shape_of(c, err);
    if (status != TS_OK && c->row->result != TS_ND_IS_BOOL) /* comparisons take every integer */
        TS_TRY(call_check_numbers(c, err));
    return status;
}

/* ---- operands ------------------------------------------------------------------------------------ */

/* Steps of an operand along an axis of the result, without sign; 0 where it stands still. */
static int64_t call_step(const ts_nd *a, uint32_t rank, uint32_t d)
{
    uint32_t up = rank - a->rank;
    int64_t step = d < up || ts_nd_shape(a)[d - up] == 1 ? 0 : ts_nd_strides(a)[d - up];
    return step < 0 ? -step : step;
}

/* Whether operands step further along `inner` than along `outer`: 1, or 0; -1: none steps along both. Where they
 * differ, row-major order wins. */
static int call_is_turned(const ts_nd_call *call, uint32_t rank, uint32_t outer, uint32_t inner)
{
    int turned = -1;
    for (uint32_t i = 0; i < ts_nd_get(call->fn)->n_in && turned; i++) {
        const ts_nd *a = call->in[i].array;
        int64_t far = a ? call_step(a, rank, outer) : 0, near = a ? call_step(a, rank, inner) : 0;
        if (far && near)
            turned = near > far;
    }
    return turned;
}

/* A stable insertion from the last axis on, as NumPy's iterators order theirs. */
void ts__nd_order_of(const ts_nd_call *call, uint32_t rank, uint8_t *order)
{
    for (uint32_t d = 0; d < rank; d++)
        order[d] = (uint8_t)(call->order == 'F' ? rank - 1 - d : d);
    for (uint32_t d = rank; d-- > 0 && !call->order;) {
        uint32_t place = d;
        for (uint32_t k = d + 1; k < rank; k++) {
            int turned = call_is_turned(call, rank, d, order[k]);
            if (turned == 0)
                break;
            place = turned > 0 ? k : place;
        }
        if (place == d)
            continue;
        memmove(order + d, order + d + 1, place - d);
        order[place] = (uint8_t)d;
    }
}

/* How the axes of a call lie among those of a node with more: a call on narrow values has the shape that they have for
 * the user, its node theirs. */
typedef struct call_lift {
    uint32_t rank;            /* of the call */
    uint8_t axis[TS_ND_RANK]; /* of the node, for each axis of more than one element */
} call_lift;

/* Strides of an operand along the node's axes. */
static void call_strides(const ts_nd *a, const nd_node *node, const call_lift *lift, int64_t *strides)
{
    uint32_t rank = lift ? lift->rank : node->rank, up = rank - a->rank;
    const int64_t *shape = ts_nd_shape(a), *steps = ts_nd_strides(a);
    for (uint32_t d = 0; d < node->rank; d++)
        strides[d] = lift || d < up || shape[d - up] == 1 ? 0 : steps[d - up];
    for (uint32_t d = up; d < rank && lift; d++)
        if (shape[d - up] != 1)
            strides[lift->axis[d]] = steps[d - up];
}

/* Whether the value that an array waits for is, element for element, an operand of the node; `strides` as above. */
static bool call_is_value(const ts_nd *a, const nd_node *node, const int64_t *strides)
{
    const nd_node *value = a->store->value;
    uint32_t rank = node->rank;
    if (!value || value->rank != rank || value->dtype != a->dtype || a->offset ||
        !nd_same(rank, value->shape, node->shape) || (node->rows && value->rows && node->rows != value->rows))
        return false;
    if (!value->is_narrow)
        return a->rank == rank && nd_same(rank, ts_nd_shape(a), node->shape) &&
               nd_same(rank, ts_nd_strides(a), value->order) && (node->is_now || nd_same_order(node, value));
    for (uint32_t d = 0; d < rank; d++)
        if (node->shape[d] > 1 && strides[d] != value->order[d])
            return false;
    return true;
}

/* Nodes below `node` that bear no mark of this count yet, and what they load; at most about `most`. */
static uint32_t call_below(nd_node *node, uint32_t mark, uint32_t most)
{
    uint32_t n = 1;
    if (node->mark == mark || node->done)
        return 0;
    node->mark = mark;
    for (int i = 0; i < ND_INPUTS && n < most; i++)
        n += node->in[i].kind == ND_IN_NODE ? call_below(node->in[i].node, mark, most - n)
                                            : node->in[i].kind == ND_IN_LOAD;
    return n;
}

/* What the node weighs with one more operand: the sum, or, where that is too much, each value below counted once. */
static uint32_t call_weight(ts_nd_graph *graph, nd_node *node, nd_node *value)
{
    uint32_t sum = (uint32_t)node->weight + value->weight, mark;
    if (sum < ND_WEIGHT)
        return sum;
    mark = ++graph->mark;
    sum = call_below(node, mark, ND_WEIGHT);
    return sum < ND_WEIGHT ? sum + call_below(value, mark, ND_WEIGHT) : sum;
}

static ts_status call_take_array(nd_node *node, int i, ts_nd *a, const call_lift *lift, ts_error *err)
{
    nd_in *in = &node->in[i];
    nd_node *value = a->store->value;
    call_strides(a, node, lift, node->strides[i]);
    bool is_value = call_is_value(a, node, node->strides[i]);
    uint32_t weight = is_value ? call_weight(a->graph, node, value) : ND_WEIGHT;
    if (weight < ND_WEIGHT) {
        *in = (nd_in){.kind = ND_IN_NODE, .dtype = a->dtype, .node = value};
        value->references++;
        node->weight = (uint8_t)weight;
        node->rows |= value->rows;
        return TS_OK;
    }
    void *data;
    ts_buffer *buffer;
    TS_TRY(ts__nd_memory(a, is_value ? TS_ND_CAUSE_chain : TS_ND_CAUSE_shape, false, &data, &buffer, err));
    *in = (nd_in){.kind = ND_IN_LOAD, .dtype = a->dtype, .buffer = buffer, .data = data};
    ts_buffer_retain(buffer);
    node->weight++;
    return TS_OK;
}

ts_status ts__nd_take_array(nd_node *node, int i, ts_nd *a, ts_error *err)
{
    return call_take_array(node, i, a, NULL, err);
}

/* Whether a call's shape is that of the narrow value that an operand waits for, and how their axes match. */
static bool call_lift_to(const call_of *c, const ts_nd *a, call_lift *lift)
{
    const nd_node *value = a->store->value;
    uint32_t e = 0, up = c->rank - a->rank;
    if (!value || !value->is_narrow || value->dtype != a->dtype || a->offset)
        return false;
    for (uint32_t d = 0; d < c->rank; d++) {
        if (c->shape[d] == 1)
            continue;
        while (e < value->rank && (value->rows >> e & 1 || value->shape[e] == 1))
            e++;
        if (e == value->rank || d < up || value->shape[e] != ts_nd_shape(a)[d - up] || c->shape[d] != value->shape[e] ||
            value->order[e] != ts_nd_strides(a)[d - up])
            return false;
        lift->axis[d] = (uint8_t)e++;
    }
    while (e < value->rank && (value->rows >> e & 1 || value->shape[e] == 1))
        e++;
    lift->rank = c->rank;
    return e == value->rank;
}

/* The narrow value whose shape the call's node takes; NULL: it takes that of the call. */
static const nd_node *call_narrow(const call_of *c, call_lift *lift)
{
    if (c->call->where || c->call->fn == TS_ND_gather)
        return NULL;
    for (uint32_t i = 0; i < c->row->n_in; i++)
        if (c->call->in[i].array && call_lift_to(c, c->call->in[i].array, lift))
            return c->call->in[i].array->store->value;
    return NULL;
}

/* Comparisons with an integer that the loop's dtype does not hold have one answer: the number becomes the nearest one,
 * and the operation what gives that answer. */
static ts_status call_take_number(const call_of *c, nd_node *node, int i, ts_error *err)
{
    const ts_nd_operand *in = &c->call->in[i];
    ts_dtype dtype = c->call->fn == TS_ND_select && i == 0 ? TS_DTYPE_bool_ : c->loop;
    nd_in *to = &node->in[i];
    dtype = in->dtype ? in->dtype : dtype;
    *to = (nd_in){.kind = ND_IN_NUMBER, .dtype = (uint8_t)dtype};
    int side = ts__nd_number(in, dtype, to->bits);
    if (side == ND_NUMBER_NONE)
        return ts_fail(err, TS_OVERFLOW, "int too large to convert to float");
    c->graph->faults |= side == ND_NUMBER_GROWS ? TS_ND_GROWS : 0;
    if (!side || side == ND_NUMBER_GROWS)
        return TS_OK;
    if (c->row->result == TS_ND_IS_BOOL && c->row->n_in == 2 && c->row->missing == ND_IS_NO) {
        node->fn = (uint16_t)ts__nd_compare_far((ts_nd_fn)node->fn, i == 0 ? -side : side);
        return TS_OK;
    }
    return call_fail_number(in, dtype, err);
}

ts_status ts__nd_value_node(ts_nd *x, ts_dtype dtype, const ts_nd *like, nd_node **out, ts_error *err)
{
    *out = NULL;
    if (x->store->value && x->store->value->rows)
        TS_TRY(ts__nd_compute(x, TS_ND_CAUSE_shape, err));
    nd_node *node = ts__nd_node_new(x->graph, TS_ND_copy, like->rank, ts_nd_shape(like));
    *out = node;
    if (!node)
        return ts_fail(err, TS_NOMEM, "out of memory for an array");
    node->loop = x->dtype;
    node->dtype = (uint8_t)dtype;
    node->n_in = node->weight = 1;
    memcpy(node->order, ts_nd_strides(like), like->rank * sizeof *node->order);
    return ts__nd_take_array(node, 0, x, err);
}

static ts_status call_take(const call_of *c, nd_node *node, const call_lift *lift, ts_error *err)
{
    ts_nd *out = c->call->out;
    for (uint32_t i = 0; i < c->row->n_in; i++) {
        ts_nd *a = c->call->in[i].array;
        ts_assert(!a || a->graph == c->graph);
        TS_TRY(a ? call_take_array(node, (int)i, a, lift, err) : call_take_number(c, node, (int)i, err));
    }
    if (!c->call->where)
        return TS_OK;
    node->has_where = true;
    TS_TRY(ts__nd_take_array(node, (int)c->row->n_in, c->call->where, err));
    if (out)
        return ts__nd_take_array(node, (int)c->row->n_in + 1, out, err);
    node->in[c->row->n_in + 1] = (nd_in){.kind = ND_IN_NUMBER, .dtype = node->dtype};
    return TS_OK;
}

/* ---- results ------------------------------------------------------------------------------------- */

static ts_status call_run(ts_nd_graph *graph, const ts_nd_call *call, nd_quick_call *quick, ts_nd **result,
                          ts_error *err);

/* A dense copy of what an operand reads, in its place. */
static ts_status call_copy(nd_node *node, int i, ts_nd *view, ts_error *err)
{
    nd_in *in = &node->in[i];
    ts_nd_graph *graph = view->graph;
    int64_t small = ts_nd_graph_small(graph, INT64_MAX);
    ts_nd_call call = {.fn = TS_ND_copy, .in = {{.array = view}}, .order = 'C'};
    ts_nd *copy;
    nd_event event = nd_event_begin(graph);
    ts_status status = call_run(graph, &call, NULL, &copy, err);
    (void)ts_nd_graph_small(graph, small);
    nd_event_end(graph, &event, TS_ND_EVENT_copy, ts_nd_get(node->fn)->name, nd_size_of(view));
    if (status != TS_OK)
        return status;
    ts_buffer_release(in->buffer);
    in->buffer = copy->store->buffer;
    in->data = ts_buffer_data(in->buffer);
    ts_buffer_retain(in->buffer);
    memcpy(node->strides[i], ts_nd_strides(copy), node->rank * sizeof(int64_t));
    ts_nd_release(copy);
    return TS_OK;
}

/* Whether strides are those of the result, but for axes of one element. */
static bool call_steps_alike(const nd_node *node, const int64_t *strides)
{
    for (uint32_t d = 0; d < node->rank; d++)
        if (node->shape[d] > 1 && strides[d] != node->order[d])
            return false;
    return true;
}

/* An operand that the result overlaps in another way than element for element is read from a copy; so is each that it
 * overlaps, if its own elements overlap. */
static ts_status call_part_from(nd_node *node, const ts_nd *out, char *data, ts_error *err)
{
    int64_t room[2 * TS_ARRAY_RANK], other[2 * TS_ARRAY_RANK];
    ts_arg to, from;
    bool known = ts__nd_arg(out, data, room, &to), overlaps = ts__nd_overlaps(out);
    for (int i = 0; i < ND_INPUTS; i++) {
        nd_in *in = &node->in[i];
        if (in->kind != ND_IN_LOAD ||
            (!overlaps && in->data == data && in->dtype == out->dtype && call_steps_alike(node, node->strides[i])))
            continue;
        bool apart = known && ts__nd_arg_at(node->rank, node->shape, node->strides[i], (ts_dtype)in->dtype, in->data,
                                            other, &from) && ts_arg_overlap(&to, &from) == TS_OVERLAP_NONE;
        if (apart)
            continue;
        ts_nd *view;
        TS_TRY(ts_nd_wrap(out->graph, in->buffer, in->data - (char *)ts_buffer_data(in->buffer), (ts_dtype)in->dtype,
                          node->rank, node->shape, node->strides[i], 0, &view, err));
        ts_status status = call_copy(node, i, view, err);
        ts_nd_release(view);
        TS_TRY(status);
    }
    return TS_OK;
}

/* Whether a node's result may be infinite or NaN where its operands are not. */
static bool call_may_fault(const nd_node *node)
{
    char loop = nd_kind((ts_dtype)node->loop);
    bool moves = node->fn == TS_ND_select || node->fn == TS_ND_gather || node->fn == TS_ND_copy ||
                 node->fn == TS_ND_sign; /* whose NaN of complex infinities is none to tell of */
    return !moves && (loop == 'f' || loop == 'c') && ts_nd_get((ts_nd_fn)node->fn)->result != TS_ND_IS_BOOL;
}

/* Lets the node's kernel tell of faults that are wanted: of the functions that meet them often, or all of them where
 * each call is looked at. Without memory for flags nothing is told, which is an error of indices alone. */
static ts_status call_tell(ts_nd_graph *graph, nd_node *node, ts_error *err)
{
    uint8_t wants = node->fn == TS_ND_part_place ? TS_ND_INVALID : graph->wants;
    if (!wants || !(ts__nd_tells((ts_nd_fn)node->fn, (ts_dtype)node->loop, (ts_dtype)node->dtype) ||
                    (graph->strict && call_may_fault(node))))
        return TS_OK;
    if (ts__nd_tell_begin(graph))
        node->told = wants;
    else if (node->fn == TS_ND_part_place)
        return ts_fail(err, TS_NOMEM, "out of memory for an array");
    return TS_OK;
}

/* Computes a node now, into memory that is there. */
static ts_status call_now(ts_nd_graph *graph, nd_node *node, ts_nd *out, bool is_new, ts_error *err)
{
    nd_group group;
    nd_node *kept[ND_WAITING];
    ts_buffer *targets[ND_WAITING];
    TS_TRY(ts__nd_store_fill(out->store, err));
    char *data = (char *)ts_buffer_data(out->store->buffer) + out->offset;
    if (!node->count)
        return TS_OK;
    if (!is_new)
        TS_TRY(call_part_from(node, out, data, err));
    nd_check check; /* large, and filled as far as it is used */
    ts__nd_check_begin(&check, node, out);
    if (!check.wanted)
        TS_TRY(call_tell(graph, node, err));
    ts__nd_group_begin(&group, graph, node);
    group.is_apart = node->is_apart;
    if (!ts__nd_group_add(&group, node) || !ts__nd_group_store(&group, node, data, out->store->buffer, node->order))
        return ts_fail(err, TS_INTERNAL, "a value of arrays is too large for a kernel");
    uint32_t n = ts__nd_group_keep(&group, node->is_now ? node->in[0].node : NULL, kept, targets);
    ts_status status = ts__nd_group_run(&group, err);
    ts__nd_group_kept(&group, status, kept, targets, n);
    TS_TRY(status);
    graph->faults |= ts__nd_check_end(&check, node, data);
    return TS_OK;
}

/* Whether a value is written to a place and goes: it is computed there, and has no memory of its own. */
static bool call_is_last(const ts_nd_call *call)
{
    const ts_nd_operand *in = &call->in[0];
    return call->out && call->fn == TS_ND_copy && in->array && in->is_last && in->array->store->references == 1;
}

/* What a value that waits reads of the buffer that its result is written to. */
typedef struct call_reads {
    const ts_buffer *buffer;
    ts_arg to;
    uint32_t mark, n; /* n: references to the buffer */
    bool apart;       /* nothing at the places that are written */
} call_reads;

static void call_look(call_reads *reads, nd_node *node)
{
    int64_t room[2 * TS_ARRAY_RANK];
    ts_arg from;
    if (node->mark == reads->mark)
        return;
    node->mark = reads->mark;
    reads->apart &= !node->done;
    for (int i = 0; i < ND_INPUTS && reads->apart; i++) {
        const nd_in *in = &node->in[i];
        if (in->kind == ND_IN_NODE)
            call_look(reads, in->node);
        if (in->kind != ND_IN_LOAD || in->buffer != reads->buffer)
            continue;
        reads->n++;
        reads->apart &= ts__nd_arg_at(node->rank, node->shape, node->strides[i], (ts_dtype)in->dtype, in->data, room,
                                      &from) && ts_arg_overlap(&reads->to, &from) == TS_OVERLAP_NONE;
    }
}

/* Whether all that waits and reads this storage is the value that is written to a part of it, which reads other parts
 * alone. */
static bool call_reads_apart(const ts_nd_call *call, const ts_buffer *buffer)
{
    int64_t room[2 * TS_ARRAY_RANK];
    ts_nd_graph *graph = call->out->graph;
    call_reads reads = {.buffer = buffer, .mark = ++graph->mark, .apart = true};
    if (!call_is_last(call) || !call->in[0].array->store->value ||
        !ts__nd_arg(call->out, (char *)ts_buffer_data(buffer) + call->out->offset, room, &reads.to))
        return false;
    call_look(&reads, call->in[0].array->store->value);
    return reads.apart && reads.n + 1 == atomic_load_explicit(&buffer->references, memory_order_relaxed);
}

/* Before a call writes to a part: computes what waits and may read there. *apart: that is what the call's operand waits
 * for, which reads other places alone. */
static ts_status call_settle(const ts_nd_call *call, bool *apart, ts_error *err)
{
    const ts_nd_store *store = call->out->store;
    const ts_buffer *buffer = store->buffer;
    bool is_held = buffer && atomic_load_explicit(&buffer->references, memory_order_relaxed) > 1;
    *apart = is_held && call->out->graph->first && !store->lasting && !store->value && call_reads_apart(call, buffer);
    return *apart ? TS_OK : ts__nd_settle(call->out, TS_ND_CAUSE_part, err);
}

/* Integers have no negative powers; finding out whether there are some computes the exponents. */
static ts_status call_check_power(const call_of *c, ts_error *err)
{
    const ts_nd_operand *y = &c->call->in[1];
    const ts_nd *x = c->call->in[0].array;
    bool is_empty = (x && !x->count) || (y->array && !y->array->count);
    bool negative = !is_empty && !y->array && y->kind == 'i' && !y->is_big && (y->is_huge ? y->f < 0 : y->i < 0);
    if (y->array && !is_empty && nd_kind((ts_dtype)y->array->dtype) == 'i') {
        ts_nd_reduction least = {.fold = TS_ND_MIN, .x = y->array, .axes = UINT64_MAX};
        ts_nd *found;
        int8_t bytes[16] = {0}; /* little endian: the last one has the sign */
        TS_TRY(ts_nd_reduce(c->graph, &least, &found, err));
        ts_status status = ts__nd_read(found, 0, TS_ND_EVENT_read, "power", bytes, err);
        negative = bytes[ts_dtype_bytes((ts_dtype)found->dtype) - 1] < 0;
        ts_nd_release(found);
        TS_TRY(status);
    }
    if (negative)
        TS_TRY(call_check_numbers(c, err));
    return negative ? ts_fail(err, TS_VALUE, "Integers to negative integer powers are not allowed.") : TS_OK;
}

static ts_status call_finish(const call_of *c, nd_node *node, ts_nd *out, bool waits, ts_error *err)
{
    if (!waits)
        return call_now(c->graph, node, out, !c->call->out, err);
    TS_TRY(call_tell(c->graph, node, err));
    node->references++;
    ts__nd_store_set(out->store, node);
    return ts__nd_flush_full(c->graph, err);
}

static ts_status call_result(const call_of *c, ts_nd **result, ts_error *err)
{
    uint8_t order[TS_ND_RANK];
    ts__nd_order_of(c->call, c->rank, order);
    return ts__nd_empty_along(c->graph, c->result, c->rank, c->shape, order, result, err);
}

/* Whether an operand lies in memory that others may change before the call would run. */
static bool call_is_seen(const call_of *c)
{
    if (c->graph->may_wait)
        return false;
    bool seen = c->call->where && c->call->where->store->lasting;
    for (uint32_t i = 0; i < c->row->n_in; i++)
        seen |= c->call->in[i].array && c->call->in[i].array->store->lasting;
    return seen;
}

static ts_status call_check_array(const call_of *c, const ts_nd *a, ts_error *err)
{
    if (!a || (a->dtype && a->graph == c->graph))
        return TS_OK;
    TS_TRY(ts__nd_numbers(a, c->row->name, err));
    return ts__nd_same_device(c->graph, a, c->row->name, err);
}

static ts_status call_check_arrays(const call_of *c, ts_error *err)
{
    for (uint32_t i = 0; i < c->row->n_in; i++)
        TS_TRY(call_check_array(c, c->call->in[i].array, err));
    TS_TRY(call_check_array(c, c->call->where, err));
    return call_check_array(c, c->call->out, err);
}

/* The node of a call whose shape is known, without its operands; lift NULL: of the call's shape. */
static nd_node *call_node(const call_of *c, const ts_nd *out, const nd_node *narrow, const call_lift *lift)
{
    nd_node *node = ts__nd_node_new(c->graph, c->call->fn, lift ? narrow->rank : c->rank,
                                    lift ? narrow->shape : c->shape);
    if (!node)
        return NULL;
    node->loop = (uint8_t)c->loop;
    node->dtype = out->dtype;
    node->n_in = c->row->n_in;
    node->weight = 1;
    if (!lift) {
        memcpy(node->order, ts_nd_strides(out), c->rank * sizeof *node->order);
        return node;
    }
    node->is_narrow = true;
    node->rows = narrow->rows;
    call_strides(out, node, lift, node->order);
    return node;
}

/* Whether a cast that the call makes of its own may lose numbers, of which someone wants to know. */
static bool call_loses(const call_of *c, ts_dtype from, ts_dtype to)
{
    bool moves = c->call->fn == TS_ND_copy || c->call->fn == TS_ND_select || c->call->fn == TS_ND_gather;
    return c->graph->wants && !moves && nd_kind(to) != 'b' && !ts__nd_check_is_safe(from, to);
}

/* The call with operands in the dtype of its loop, by copies, which tell of what they lose: references in *lone*. */
static ts_status call_operands(const call_of *c, ts_nd_call *moved, ts_nd *lone[3], ts_error *err)
{
    bool asks = c->call->dtype || c->call->loop;
    for (uint32_t i = 0; i < c->row->n_in && asks && c->row->missing != ND_IS_TRUTH; i++) {
        ts_nd *a = c->call->in[i].array;
        if (!a || !call_loses(c, (ts_dtype)a->dtype, c->loop))
            continue;
        ts_nd_call copy = {.fn = TS_ND_copy, .in = {{.array = a}}, .dtype = c->loop, .casting = TS_ND_UNSAFE};
        TS_TRY(ts_nd_run(c->graph, &copy, &lone[i], err));
        moved->in[i] = (ts_nd_operand){.array = lone[i]};
    }
    return TS_OK;
}

/* The call, and then a copy of its result to `out`; what the mask leaves out is in neither. */
static ts_status call_result_cast(const call_of *c, ts_nd_call *moved, ts_nd **result, ts_error *err)
{
    ts_nd *made = NULL;
    ts_nd_call copy = {.fn = TS_ND_copy, .out = moved->out, .where = moved->where, .casting = TS_ND_UNSAFE};
    moved->out = NULL;
    TS_TRY(ts_nd_run(c->graph, moved, &made, err));
    copy.in[0].array = made;
    ts_status status = ts_nd_run(c->graph, &copy, result, err);
    ts_nd_release(made);
    return status;
}

/* A call whose operands or result lose numbers when they are cast: casts are copies beside it. *result stays NULL where
 * none does. */
static ts_status call_with_casts(const call_of *c, ts_nd **result, ts_error *err)
{
    ts_nd *lone[3] = {NULL};
    ts_nd_call moved = *c->call;
    const ts_nd *out = c->call->out;
    ts_status status = call_operands(c, &moved, lone, err);
    bool any = lone[0] || lone[1] || lone[2];
    if (status == TS_OK && out && call_loses(c, c->result, (ts_dtype)out->dtype))
        status = call_result_cast(c, &moved, result, err);
    else if (status == TS_OK && any)
        status = ts_nd_run(c->graph, &moved, result, err);
    for (uint32_t i = 0; i < 3; i++)
        ts_nd_release(lone[i]);
    return status;
}

static int64_t call_count(const call_of *c)
{
    int64_t count = 1;
    for (uint32_t d = 0; d < c->rank; d++)
        count *= c->shape[d];
    return count;
}

static ts_status call_run(ts_nd_graph *graph, const ts_nd_call *call, nd_quick_call *quick, ts_nd **result,
                          ts_error *err)
{
    call_of c; /* without its shape, which is filled as far as it has axes */
    call_lift lift;
    c.graph = graph;
    c.call = call;
    c.row = ts_nd_get(call->fn);
    c.rank = 0;
    *result = NULL;
    ts_nd *out = call->out;
    if (out && out->flags & TS_ND_READONLY)
        return ts_fail(err, TS_VALUE, "output array is read-only");
    TS_TRY(call_check_given(&c, err));
    TS_TRY(call_check_arrays(&c, err));
    TS_TRY(call_dtypes(&c, err));
    TS_TRY(call_shape(&c, err));
    if (call->fn == TS_ND_power && nd_kind(c.loop) == 'i')
        TS_TRY(call_check_power(&c, err));
    if (nd_casting(call) == TS_ND_UNSAFE || call->dtype || call->loop || out)
        TS_TRY(call_with_casts(&c, result, err));
    if (*result)
        return TS_OK;
    if (graph->strict && ts_nd_flush(graph, err) == TS_INTERRUPTED) /* who reads a value that failed is told */
        return TS_INTERRUPTED;
    bool may_wait = !graph->strict && (!out || (!out->store->lasting && ts__nd_is_whole(out))) && !call_is_seen(&c);
    const nd_node *narrow = may_wait ? call_narrow(&c, &lift) : NULL;
    bool at_once = quick && quick->at_once;
    bool waits = may_wait && (narrow || (call_count(&c) > ts__nd_small(graph, call->fn) && !at_once));
    bool apart = false;
    if (!waits && out)
        TS_TRY(call_settle(call, &apart, err));
    if (out)
        ts_nd_retain(out);
    else
        TS_TRY(call_result(&c, &out, err));
    nd_node *node = call_node(&c, out, narrow, narrow ? &lift : NULL);
    ts_status status = node ? TS_OK : ts_fail(err, TS_NOMEM, "out of memory for an array");
    if (node) {
        node->is_now = !waits && call_is_last(call);
        node->is_apart = apart;
        if (waits && quick)
            memcpy(node->quick, quick->key, sizeof node->quick);
        status = call_take(&c, node, narrow ? &lift : NULL, err);
        if (status == TS_OK)
            status = call_finish(&c, node, out, waits, err);
        ts__nd_node_release(graph, node);
    }
    if (status == TS_OK && quick && !waits)
        ts__nd_quick_note(graph, quick, c.loop, out);
    if (status == TS_OK)
        *result = out;
    else
        ts_nd_release(out);
    return status;
}

static_assert(TS_ND_greater_equal - TS_ND_equal == 5 && TS_ND_mixed_greater_equal - TS_ND_mixed_equal == 5,
              "comparisons stand in one order");

/* A comparison of signed integers with uint64 as one that is exact; else as it is. */
static const ts_nd_call *call_unmixed(const ts_nd_call *call, ts_nd_call *mixed)
{
    static const uint16_t turned[] = {TS_ND_mixed_equal, TS_ND_mixed_not_equal, TS_ND_mixed_greater,
                                      TS_ND_mixed_greater_equal, TS_ND_mixed_less, TS_ND_mixed_less_equal};
    if (call->fn < TS_ND_equal || call->fn > TS_ND_greater_equal || call->loop)
        return call;
    ts_dtype x = call_own_dtype(&call->in[0]), y = call_own_dtype(&call->in[1]);
    bool first = y == TS_DTYPE_uint64 && x && nd_kind(x) == 'i';
    bool second = x == TS_DTYPE_uint64 && y && nd_kind(y) == 'i';
    bool keeps = nd_casting(call) >= TS_ND_SAFE || (first ? x : y) == TS_DTYPE_int64;
    if ((!first && !second) || !keeps) /* NumPy casts the signed one to int64 */
        return call;
    *mixed = *call;
    mixed->loop = TS_DTYPE_uint64;
    mixed->casting = TS_ND_UNSAFE; /* of the operands; bools fit in anything */
    mixed->fn = first ? TS_ND_mixed_equal + (call->fn - TS_ND_equal) : turned[call->fn - TS_ND_equal];
    if (second) {
        mixed->in[0] = call->in[1];
        mixed->in[1] = call->in[0];
    }
    return mixed;
}

enum { CALL_LONE = 4 /* operands and the mask */, CALL_FEW = 64 /* elements that numbers are written to */ };

/* Arrays of no axes in host memory take part in calls on any device, as numbers with a dtype would: their copies in
 * *lone*, of which the call in *moved* is; else the call as it is. */
static ts_status call_bring(ts_nd_graph *graph, const ts_nd_call **call, ts_nd_call *moved, ts_nd *lone[CALL_LONE],
                            ts_error *err)
{
    for (uint32_t i = 0, n = ts_nd_get((*call)->fn)->n_in; i <= n; i++) {
        ts_nd *a = i < n ? (*call)->in[i].array : (*call)->where;
        if (!a || a->graph == graph || a->rank || !ts__nd_is_host(a->graph))
            continue;
        TS_TRY(ts_nd_to(a, graph, &lone[i], err));
        if (*call != moved)
            *moved = **call;
        *call = moved;
        *(i < n ? &moved->in[i].array : &moved->where) = lone[i];
    }
    return TS_OK;
}

/* Whether a call may be a copy that ts__nd_turn makes. */
static bool call_turns(const ts_nd_graph *graph, const ts_nd_call *call)
{
    const ts_nd *a = call->in[0].array;
    return call->fn == TS_ND_copy && call->order == 'C' && a && a->rank > 1 && a->graph == graph && !call->out &&
           !call->where && (!call->loop || call->loop == (ts_dtype)a->dtype) &&
           (!call->dtype || call->dtype == (ts_dtype)a->dtype);
}

static ts_status call_here(ts_nd_graph *graph, const ts_nd_call *call, ts_nd **result, ts_error *err)
{
    nd_quick_call quick; /* filled as far as it is used */
    ts_nd_call mixed, moved;
    ts_nd *lone[CALL_LONE] = {0};
    bool repeats = call->out && !(call->out->flags & TS_ND_READONLY) && /* call_run says what is read-only */
                   (ts__nd_repeats(call->out) || (call->where && ts__nd_overlaps(call->out)));
    if (call->pace == TS_ND_KNOWN && (graph->watch || repeats))
        return TS_OK; /* not known: pieces of a call in order are calls of their own */
    if (repeats) {
        bool done;
        TS_TRY(ts__nd_run_last(graph, call, &done, err));
        if (done) {
            ts_nd_retain(call->out);
            *result = call->out;
            return TS_OK;
        }
    }
    if (call_turns(graph, call)) {
        TS_TRY(ts__nd_turn(call->in[0].array, result, err));
        if (*result)
            return TS_OK;
    }
    call = call_unmixed(call, &mixed);
    for (uint32_t i = 0, n = ts_nd_get(call->fn)->n_in; i < n; i++)
        nd_quick_operand(call->in[i].array);
    bool is_quick = ts__nd_quick_begin(graph, call, &quick);
    nd_event event = nd_event_begin(graph);
    ts_status status = is_quick ? ts__nd_quick_run(graph, &quick, result, err) : TS_OK;
    bool is_long = status == TS_OK && !*result && call->pace != TS_ND_KNOWN;
    if (is_long)
        status = call_bring(graph, &call, &moved, lone, err);
    if (is_long && status == TS_OK)
        status = call_run(graph, call, is_quick ? &quick : NULL, result, err);
    graph->note.wanted = false;
    if (graph->watch)
        ts__nd_event_call(graph, &event, call, *result);
    for (uint32_t i = 0; i < CALL_LONE; i++)
        ts_nd_release(lone[i]);
    return status;
}

/* Elements of the result, at most. */
static int64_t call_elements(ts_nd *const *arrays, uint32_t n)
{
    int64_t count = 1;
    for (uint32_t back = 1; back <= TS_ND_RANK; back++) {
        int64_t extent = 0;
        for (uint32_t i = 0; i < n; i++)
            if (arrays[i]->rank >= back)
                extent = TS_MAX(extent, ts_nd_shape(arrays[i])[arrays[i]->rank - back]);
        if (!extent || __builtin_mul_overflow(count, extent, &count))
            return extent ? INT64_MAX : count;
    }
    return count;
}

/* A call on a graph whose storages may lie near by (near.c): in the one where its arrays meet. */
static ts_status call_meet(ts_nd_graph *graph, const ts_nd_call *call, ts_nd **result, ts_error *err)
{
    ts_nd *arrays[CALL_LONE + 1];
    uint32_t n = 0;
    for (uint32_t i = 0; i < ts_nd_get(call->fn)->n_in; i++)
        if (call->in[i].array)
            arrays[n++] = call->in[i].array;
    if (call->where)
        arrays[n++] = call->where;
    if (call->out)
        arrays[n++] = call->out;
    nd_meeting meeting = {.graph = graph, .count = call_elements(arrays, n), .costs = ND_COSTS_LAUNCH,
                          .looks = graph->strict};
    if (n == 1 && call->out && meeting.count > CALL_FEW) /* numbers, which go to a part of many elements */
        meeting.costs = 0;
    TS_TRY(ts__nd_meet(&meeting, arrays, n, err));
    nd_inside_begin(graph);
    ts_status status = call_here(meeting.graph, call, result, err);
    nd_inside_end(graph);
    if (meeting.graph != graph) {
        meeting.graph->strict = false;
        graph->faults |= ts_nd_graph_faults(meeting.graph);
    }
    return status;
}

ts_status ts_nd_run(ts_nd_graph *graph, const ts_nd_call *call, ts_nd **result, ts_error *err)
{
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, graph, call);
    if ((uint32_t)call->fn >= TS_ND_COUNT)
        return ts_fail(err, TS_VALUE, "ts_nd_run(): fn is %u, which is no function; ts_nd_find() gives %u for a name "
                       "that is not there", (uint32_t)call->fn, TS_ND_COUNT);
    return nd_may_meet(graph) ? call_meet(graph, call, result, err) : call_here(graph, call, result, err);
}
