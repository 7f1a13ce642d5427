/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that look like one before: the same function of arrays of the same dtypes, which lie in the
 * same way, and of numbers of the same kinds. Their dtypes, kernel and code are known; what changes are addresses,
 * extents, strides and the numbers. So such a call is an array, a few words of arguments and a launch, and takes a
 * third of the time of one that goes through call.c.
 *
 *     looked at   shape, places and axes, as group.c finds them: extents of 1 left out, axes joined
 *     key         function, what each operand is, where the result goes, along which axes places step, and how
 *     noted       after a call that went the long way: its program, if the arguments of its launch are those expected
 *
 * Whatever is not exactly that goes the long way, and so do calls whose results are not all finite, which may have
 * faults to tell of (check.c). A result that goes into an operand is put back first.
 *
 * Large calls, which could wait, go this way where waiting has gained nothing: values of calls that look like it were
 * computed alone, ND_LONE times (ts__nd_quick_computed). Where such a value is an operand of a call before the
 * program reads anything, waiting would have joined both: then calls like it wait again, and are tried anew after
 * QUICK_LOST more that were computed alone. Of their faults they tell as those that wait do (tell.c).
 */
#include "numeric/group.h"
#include "run/launch.h"
#include <stdlib.h>

static_assert(TS_DTYPE_COUNT <= 32, "a dtype has five bits of the key");
static_assert(TS_ND_COUNT <= 256, "a function has eight");

enum {
    QUICK_MOST = 1 << 12, QUICK_TILE = ND_TILE, QUICK_FEW = 128, /* elements; of a tile; of a narrow one */
    QUICK_LARGE = 1 << 21, /* elements of large calls: longer rows are stored past the caches (loop.c) */
    QUICK_LOST = 20,
    QUICK_KEPT = 1 << 14   /* bytes that are put back */
};

/* ---- looking ------------------------------------------------------------------------------------- */

/* Whether the array's memory is there and nothing is waited for. */
static bool quick_is_there(const ts_nd_graph *graph, const ts_nd *a)
{
    const ts_nd_store *store = a->store;
    return a->graph == graph && a->dtype && !store->value && store->buffer && ts__buffer_is_there(store->buffer) &&
           a->rank <= ND_QUICK_SHAPE;
}

/* Whether what waits may read what `out` holds. */
static bool quick_is_read(const ts_nd_graph *graph, const ts_nd *out)
{
    const ts_buffer *buffer = out->store->buffer;
    return graph->first &&
           (out->store->lasting || atomic_load_explicit(&buffer->references, memory_order_relaxed) != 1);
}

/* The shape that an operand's and the one so far broadcast to; false: none. `fixed`: it is that of the result. */
static bool quick_broadcast(nd_quick_call *q, const ts_nd *a, bool fixed)
{
    const int64_t *shape = ts_nd_shape(a);
    uint32_t up = q->n_dims - a->rank;
    if (a->rank > q->n_dims)
        return false;
    for (uint32_t d = 0; d < a->rank; d++) {
        int64_t *mine = &q->shape[up + d];
        if (*mine == shape[d] || shape[d] == 1)
            continue;
        if (*mine != 1 || fixed)
            return false;
        *mine = shape[d];
    }
    return true;
}

static bool quick_shape(nd_quick_call *q)
{
    const ts_nd_call *call = q->call;
    const ts_nd *widest = call->out;
    uint32_t n_in = ts_nd_get(call->fn)->n_in;
    for (uint32_t i = 0; i < n_in && !call->out; i++) {
        const ts_nd *a = call->in[i].array;
        widest = a && (!widest || a->rank > widest->rank) ? a : widest;
    }
    q->n_dims = widest ? widest->rank : 0;
    for (uint32_t d = 0; d < q->n_dims; d++)
        q->shape[d] = ts_nd_shape(widest)[d];
    for (uint32_t i = 0; i < n_in; i++)
        if (call->in[i].array && call->in[i].array != widest && !quick_broadcast(q, call->in[i].array, call->out))
            return false;
    q->count = 1;
    for (uint32_t d = 0; d < q->n_dims; d++)
        q->count *= q->shape[d];
    return true;
}

/* Steps of an array along the call's shape, in elements; false: they are none. */
static bool quick_place(nd_quick_call *q, const ts_nd *a, nd_quick_place *p)
{
    const int64_t *shape = ts_nd_shape(a), *strides = ts_nd_strides(a);
    uint32_t up = q->n_dims - a->rank, shift = (uint32_t)__builtin_ctz(a->item);
    int64_t mask = a->item - 1, odd = 0;
    *p = (nd_quick_place){.data = (char *)ts_buffer_data(a->store->buffer) + a->offset, .dtype = a->dtype, .array = a};
    for (uint32_t d = 0; d < a->rank; d++) {
        p->step[up + d] = shape[d] == 1 ? 0 : strides[d] >> shift;
        odd |= strides[d] & mask;
    }
    return !odd;
}

static bool quick_is_same(const nd_quick_call *q, const nd_quick_place *a, const nd_quick_place *b)
{
    return a->data == b->data && a->dtype == b->dtype && memcmp(a->step, b->step, q->n_dims * sizeof *a->step) == 0;
}

/* The first and the last byte behind a place's elements. */
static void quick_reach(const nd_quick_call *q, const nd_quick_place *p, int64_t reach[2])
{
    int64_t item = (int64_t)ts_dtype_bytes((ts_dtype)p->dtype);
    reach[0] = 0;
    reach[1] = item;
    for (uint32_t d = 0; d < q->n_dims; d++)
        reach[p->step[d] > 0] += p->step[d] * (q->shape[d] - 1) * item;
}

/* Whether no bytes are in both: they lie one behind the other, or in turn as columns of a matrix. */
static bool quick_is_apart(const nd_quick_call *q, const nd_quick_place *a, const nd_quick_place *b)
{
    int64_t one[2], two[2], item = (int64_t)ts_dtype_bytes((ts_dtype)a->dtype), step = item;
    int64_t other = (int64_t)ts_dtype_bytes((ts_dtype)b->dtype);
    uint32_t moving = 0;
    quick_reach(q, a, one);
    quick_reach(q, b, two);
    if (a->data + one[1] <= b->data + two[0] || b->data + two[1] <= a->data + one[0])
        return true;
    for (uint32_t d = 0; d < q->n_dims; d++)
        if (q->shape[d] != 1) {
            step = llabs(a->step[d] * item);
            moving += a->step[d] * item == b->step[d] * other ? 1 : 2;
        }
    int64_t turn = step ? (b->data - a->data) % step : 0;
    turn += turn < 0 ? step : 0;
    return moving == 1 && step && turn >= item && turn <= step - other;
}

/* Operands as places, each once, and behind them the result's. */
static bool quick_places(const ts_nd_graph *graph, nd_quick_call *q)
{
    const ts_nd_call *call = q->call;
    const ts_nd *out = call->out;
    nd_quick_place to = {0};
    if (out && !quick_place(q, out, &to))
        return false;
    for (uint32_t i = 0; i < ts_nd_get(call->fn)->n_in; i++) {
        const ts_nd *a = call->in[i].array;
        nd_quick_place *p = &q->place[q->n_places];
        if (!a)
            continue;
        if (!quick_is_there(graph, a) || !quick_place(q, a, p))
            return false;
        uint32_t k = 0;
        while (k < q->n_places && !quick_is_same(q, &q->place[k], p))
            k++;
        q->of[i] = (uint8_t)k;
        p->into = out && quick_is_same(q, p, &to);
        if (out && !p->into && q->count && !quick_is_apart(q, p, &to))
            return false;
        q->n_places += k == q->n_places;
    }
    q->place[q->n_places++] = to;
    return true;
}

/* Whether the steps of all operands fall, so that the result lies row-major. */
static bool quick_falls(const nd_quick_call *q)
{
    for (uint32_t i = 0; i < ts_nd_get(q->call->fn)->n_in && q->n_dims > 1; i++) {
        const ts_nd *a = q->call->in[i].array;
        int64_t before = INT64_MAX;
        for (uint32_t d = 0; a && d < a->rank; d++) {
            int64_t step = ts_nd_shape(a)[d] == 1 ? 0 : llabs(ts_nd_strides(a)[d]);
            if (step > before)
                return false;
            before = step ? step : before;
        }
    }
    return true;
}

/* Whether a new result lies row-major, but for axes of one element. Its steps then. */
static bool quick_is_in_rows(nd_quick_call *q)
{
    nd_quick_place *to = &q->place[q->n_places - 1];
    uint8_t order[TS_ND_RANK];
    int64_t step = 1;
    if (q->call->order || !quick_falls(q)) {
        ts__nd_order_of(q->call, q->n_dims, order);
        for (uint32_t d = 0, least = 0; d < q->n_dims; d++)
            if (q->shape[order[d]] != 1 && order[d] < least)
                return false;
            else if (q->shape[order[d]] != 1)
                least = order[d];
    }
    for (uint32_t d = q->n_dims; d-- > 0; step *= q->shape[d])
        to->step[d] = q->shape[d] == 1 ? 0 : step;
    return true;
}

/* Axes as ts__nd_axes_of gives them; false: there are too many, or they would be in another order. */
static bool quick_axes(nd_quick_call *q)
{
    const nd_quick_place *to = &q->place[q->n_places - 1];
    int64_t before = INT64_MAX;
    uint32_t r = 0;
    for (uint32_t d = 0; d < q->n_dims; d++) {
        if (q->shape[d] == 1)
            continue;
        bool joins = r > 0;
        if (!to->step[d] || llabs(to->step[d]) >= before)
            return false;
        before = llabs(to->step[d]);
        for (uint32_t p = 0; p < q->n_places && joins; p++)
            joins = q->stride[p][r - 1] == q->place[p].step[d] * q->shape[d];
        if (!joins && r == ND_QUICK_AXES)
            return false;
        q->extent[joins ? r - 1 : r] = joins ? q->extent[r - 1] * q->shape[d] : q->shape[d];
        r += !joins;
        for (uint32_t p = 0; p < q->n_places; p++)
            q->stride[p][r - 1] = q->place[p].step[d];
    }
    q->rank = r ? r : 1;
    for (uint32_t p = 0; p < q->n_places && !r; p++)
        q->stride[p][0] = p == q->n_places - 1;
    q->extent[0] = r ? q->extent[0] : 1;
    return true;
}

/* Whether elements of the result may have memory in common; steps fall. */
static bool quick_overlaps(const nd_quick_call *q)
{
    const int64_t *step = q->stride[q->n_places - 1];
    int64_t end = 1;
    for (uint32_t d = q->rank; d-- > 0; end += llabs(step[d]) * (q->extent[d] - 1))
        if (llabs(step[d]) < end)
            return true;
    return false;
}

/* Whether an array has the call's shape and lies row-major without gaps. */
static bool quick_is_flat(const nd_quick_call *q, const ts_nd *a)
{
    return a->rank == q->n_dims && memcmp(ts_nd_shape(a), q->shape, q->n_dims * sizeof *q->shape) == 0 &&
           nd_is_dense(a, 0);
}

/* The commonest calls, of arrays of one shape that lie row-major without gaps, and numbers: places and the one axis,
 * along which all step by 1, as the functions above find them. False: it is another call. */
static bool quick_flat(const ts_nd_graph *graph, nd_quick_call *q)
{
    const ts_nd_call *call = q->call;
    const ts_nd *out = call->out;
    int64_t bytes = out ? q->count * out->item : 0;
    if (q->count < 2 || (out && !quick_is_flat(q, out)))
        return false;
    char *to = out ? (char *)ts_buffer_data(out->store->buffer) + out->offset : NULL;
    for (uint32_t i = 0; i < ts_nd_get(call->fn)->n_in; i++) {
        const ts_nd *a = call->in[i].array;
        uint32_t k = 0;
        if (!a)
            continue;
        if (!quick_is_there(graph, a) || !quick_is_flat(q, a))
            return false;
        char *data = (char *)ts_buffer_data(a->store->buffer) + a->offset;
        bool into = out && data == to && a->dtype == out->dtype;
        if (out && !into && data < to + bytes && to < data + q->count * a->item)
            return false;
        while (k < q->n_places && (q->place[k].data != data || q->place[k].dtype != a->dtype))
            k++;
        q->of[i] = (uint8_t)k;
        if (k == q->n_places)
            q->place[q->n_places++] = (nd_quick_place){.data = data, .array = a, .dtype = a->dtype, .into = into};
    }
    q->place[q->n_places++] = (nd_quick_place){.data = to, .array = out, .dtype = out ? out->dtype : 0};
    q->rank = 1;
    q->extent[0] = q->count;
    for (uint32_t p = 0; p < q->n_places; p++)
        q->stride[p][0] = 1; /* of unit and lacks it is the axis 0 */
    return true;
}

/* Along which axes places step, and where by 1; false: steps are large, or places lie transposed to each other, where
 * group.c has kernels of another kind. */
static bool quick_steps(nd_quick_call *q)
{
    uint32_t inner = q->rank - 1;
    for (uint32_t p = 0; p < q->n_places; p++) {
        nd_quick_place *place = &q->place[p];
        int64_t reach = 0;
        place->unit = (uint8_t)q->rank;
        place->lacks = 0;
        for (uint32_t d = 0; d < q->rank; d++) {
            int64_t step = q->stride[p][d];
            place->lacks |= (uint8_t)((step == 0) << d);
            place->unit = step == 1 ? (uint8_t)d : place->unit;
            reach += llabs(step) * q->extent[d];
            if (step == 1 && d < inner && q->stride[p][inner] > 1 && q->extent[d] >= ND_SQUARE / 4 &&
                q->extent[inner] >= ND_SQUARE / 4)
                return false;
        }
        if (reach > INT32_MAX)
            return false;
    }
    return true;
}

/* The same of all other calls. */
static bool quick_by_axes(const ts_nd_graph *graph, nd_quick_call *q)
{
    const ts_nd *out = q->call->out;
    q->n_places = 0;
    return quick_places(graph, q) && (out || quick_is_in_rows(q)) && quick_axes(q) && !(out && quick_overlaps(q)) &&
           quick_steps(q);
}

/* On a GPU kernels know which places begin at a multiple of a line (group.c); memory of a new result does. */
static void quick_key(nd_quick_call *q, uint64_t told, bool on_host)
{
    const ts_nd_call *call = q->call;
    const ts_nd *out = call->out;
    uint64_t look = (uint64_t)call->fn << 20 | (out ? 32u | out->dtype : 0) | (uint64_t)call->dtype << 6 |
                    (uint64_t)nd_casting(call) << 11 | (uint64_t)q->rank << 14 |
                    (uint64_t)(q->count <= QUICK_FEW) << 18 | (uint64_t)1 << 19 | (uint64_t)q->is_large << 28 |
                    (uint64_t)q->is_checked << 29;
    uint64_t lies = told << 3 | q->n_places;
    for (uint32_t i = 0; i < ts_nd_get(call->fn)->n_in; i++) {
        const ts_nd_operand *in = &call->in[i];
        uint64_t one = in->dtype ? 256u | (uint64_t)in->dtype : 512u | (uint64_t)(in->kind & 31);
        if (in->array)
            one = in->array->dtype | (uint64_t)q->of[i] << 5 | (uint64_t)q->place[q->of[i]].into << 7 | 1024u;
        look = look << 11 | one;
    }
    for (uint32_t p = 0; p < q->n_places; p++) {
        bool fresh = !out && p + 1 == q->n_places;
        bool aligned = !on_host && (fresh || (uintptr_t)q->place[p].data % ND_LINE == 0);
        lies = lies << 8 | q->place[p].lacks | (uint64_t)q->place[p].unit << 4 | (uint64_t)aligned << 7;
    }
    q->key[0] = look;
    q->key[1] = lies;
}

/* Whether an operand may be one of a call that is known: it waits for nothing, and is no number beyond int64. */
static bool quick_takes(const ts_nd_operand *in)
{
    return in->array ? in->array->rank <= ND_QUICK_SHAPE && !in->array->store->value : !in->is_big && !in->is_huge;
}

bool ts__nd_quick_begin(const ts_nd_graph *graph, const ts_nd_call *call, nd_quick_call *q)
{
    bool on_host = ts_device_caps_of(graph->device) & TS_DEVICE_HOST_MEMORY;
    int64_t few = TS_MIN(ts__nd_small(graph, call->fn), on_host ? QUICK_MOST : QUICK_TILE);
    int64_t most = on_host && !graph->strict && call->fn != TS_ND_copy ? QUICK_LARGE : few;
    const ts_nd *out = call->out;
    if (call->where || call->loop || call->order == 'F' || call->fn == TS_ND_gather || call->fn == TS_ND_iota ||
        call->fn == TS_ND_part_place)
        return false;
    if (graph->strict && graph->underflows) /* which each element is looked at for */
        return false;
    if (out && (out->flags & TS_ND_READONLY || !quick_is_there(graph, out) || quick_is_read(graph, out)))
        return false;
    q->call = call;
    q->n_places = 0;
    for (uint32_t i = 0; i < ts_nd_get(call->fn)->n_in; i++)
        if (!quick_takes(&call->in[i]))
            return false;
    if (!quick_shape(q) || q->count < 1 || q->count > most)
        return false;
    q->is_large = q->count > few;
    q->at_once = !q->is_large;
    q->is_checked = on_host && q->count <= TS_ND_LOOKED_AT;
    if ((!quick_flat(graph, q) && !quick_by_axes(graph, q)) ||
        (!on_host && q->rank > 1)) /* kernels of tiles depend on extents */
        return false;
    quick_key(q, q->is_checked ? 0 : graph->wants, on_host);
    return true;
}

/* ---- arguments ----------------------------------------------------------------------------------- */

/* The words of the call's launch, as group.c orders them: places that are read, the result, where faults are told of,
 * extents, strides, numbers. False: a number is not of its dtype. */
static bool quick_words(const nd_quick *quick, const nd_quick_call *q, nd_note *note)
{
    const ts_nd_call *call = q->call;
    ts_dtype loop = (ts_dtype)quick->loop;
    uint32_t n = 0;
    for (uint32_t p = 0; p < q->n_places; p++)
        note->words[n++] = (uintptr_t)q->place[p].data;
    if (quick->tells)
        note->words[n++] = (uintptr_t)ts_buffer_data(q->place[q->n_places - 1].array->graph->flags->buffer);
    for (uint32_t d = 0; d < q->rank; d++)
        note->words[n++] = (uint64_t)q->extent[d];
    for (uint32_t p = 0; p < q->n_places; p++)
        for (uint32_t d = 0; d < q->rank; d++)
            if (q->stride[p][d] && d != q->place[p].unit)
                note->words[n++] = (uint64_t)q->stride[p][d];
    for (uint32_t i = 0; i < ts_nd_get(call->fn)->n_in; i++) {
        const ts_nd_operand *in = &call->in[i];
        ts_dtype dtype = in->dtype ? in->dtype : call->fn == TS_ND_select && i == 0 ? TS_DTYPE_bool_ : loop;
        if (in->array)
            continue;
        if (ts__nd_number(in, dtype, &note->words[n]) != 0)
            return false;
        n += ts_dtype_get(dtype)->part ? 2 : 1;
    }
    note->n = n;
    return true;
}

static nd_quick *quick_slot(ts_nd_graph *graph, const uint64_t key[2])
{
    uint64_t mixed = (key[0] ^ key[1] * 0xC2B2AE3D27D4EB4Fu) * 0x9E3779B97F4A7C15u;
    return &graph->quick[mixed >> (64 - ND_QUICK_BITS)];
}

static bool quick_is(const nd_quick *slot, const uint64_t key[2])
{
    return slot->key[0] == key[0] && slot->key[1] == key[1];
}

/* ---- noting -------------------------------------------------------------------------------------- */

void ts__nd_quick_launched(ts_nd_graph *graph, const ts_kernel *kernel, const nd_launch *launch,
                           const int64_t grid[3])
{
    launch_frame frame; /* large, and filled as far as it is used */
    nd_note *note = &graph->note;
    note->wanted = false;
    note->program = NULL;
    if (launch->n > ND_NOTE_WORDS)
        return;
    note->program = ts__nd_launch_program(graph->device, kernel, launch, false, &frame);
    note->n = note->program ? frame.n_params : 0;
    memcpy(note->words, frame.params, note->n * sizeof *note->words);
    memcpy(note->grid, grid, sizeof note->grid);
}

/* Blocks of the kernel: one of a small call, else those of loops. */
static void quick_grid(const nd_quick_call *q, int64_t grid[3])
{
    grid[0] = grid[1] = grid[2] = 1;
    if (q->is_large)
        ts__nd_loop_blocks(q->rank, q->extent, grid);
}

/* Whether a kernel that tells of faults is that of arrays which lie apart (group.c), as it was when it was noted. */
static bool quick_tells_alike(const nd_quick_call *q)
{
    const ts_buffer *to = q->place[q->n_places - 1].array->store->buffer;
    bool alike = !to->release;
    for (uint32_t p = 0; p + 1 < q->n_places; p++) {
        const ts_buffer *from = q->place[p].array->store->buffer;
        alike &= from != to && !from->release;
    }
    return alike;
}

/* What is looked at of such a call; LOOK_ALL: of its operands and results together, so it goes the long way. A large
 * call's kernel tells by itself. */
static nd_look quick_look(const nd_quick_call *q, ts_dtype loop, ts_dtype result)
{
    const ts_nd_operand *from = &q->call->in[0];
    if (q->call->fn == TS_ND_copy && !from->array)
        return from->dtype ? ND_LOOK_ALL : ND_LOOK_NOWHERE;
    return ts__nd_check_look(q->call->fn, from->array ? (ts_dtype)from->array->dtype : loop, loop, result);
}

/* Where the result of a call without `out` lies. */
static void quick_into_new(nd_quick_call *q, const ts_nd *out)
{
    nd_quick_place *to = &q->place[q->n_places - 1];
    if (q->call->out)
        return;
    to->data = (char *)ts_buffer_data(out->store->buffer) + out->offset;
    to->dtype = out->dtype;
    to->array = out;
}

/* What the last launch tells of calls like this one; false: they go the long way. */
static bool quick_learn(const ts_nd_graph *graph, nd_quick_call *q, ts_dtype loop, const ts_nd *out, nd_quick *quick)
{
    nd_note expected = {0};
    const nd_note *note = &graph->note;
    *quick = (nd_quick){.key = {q->key[0], q->key[1]}, .loop = (uint8_t)loop, .result = out->dtype,
                        .program = note->program, .lone = ND_LONE};
    quick->tells = !q->is_checked && graph->wants && graph->flags &&
                   ts__nd_tells(q->call->fn, loop, (ts_dtype)out->dtype);
    nd_look look = quick_look(q, loop, (ts_dtype)out->dtype);
    bool tells = q->is_large && quick->tells;
    if (!note->program || (look == ND_LOOK_ALL && !tells) || out->store->value || !out->store->buffer)
        return false;
    quick_into_new(q, out);
    if (!quick_words(quick, q, &expected) || (tells && !quick_tells_alike(q)))
        return false;
    quick_grid(q, expected.grid);
    quick->look = q->is_checked ? (uint8_t)look : ND_LOOK_NOWHERE;
    return expected.n == note->n && memcmp(expected.grid, note->grid, sizeof note->grid) == 0 &&
           memcmp(expected.words, note->words, note->n * sizeof *note->words) == 0;
}

void ts__nd_quick_note(ts_nd_graph *graph, nd_quick_call *q, ts_dtype loop, const ts_nd *out)
{
    nd_quick quick, *slot = quick_slot(graph, q->key);
    bool wanted = q->at_once && quick_is(slot, q->key) && !slot->program;
    graph->note.wanted = false;
    if (quick_learn(graph, q, loop, out, &quick))
        *slot = quick;
    else if (q->is_large && wanted)
        slot->lone = INT8_MIN; /* waiting is as good */
}

/* ---- values that would wait alone ---------------------------------------------------------------- */

void ts__nd_quick_computed(ts_nd_graph *graph, const nd_node *node, bool alone)
{
    nd_quick *slot = quick_slot(graph, node->quick);
    bool is_known = quick_is(slot, node->quick);
    if (!is_known && alone)
        *slot = (nd_quick){.key = {node->quick[0], node->quick[1]}, .lone = 1};
    else if (is_known && slot->lone < ND_LONE)
        slot->lone = (int8_t)(alone ? slot->lone + 1 : TS_MIN(slot->lone, 0));
}

void ts__nd_quick_joins(ts_nd_graph *graph, ts_nd_store *store)
{
    if (store->early == graph->round)
        graph->quick[store->slot].lone = -QUICK_LOST;
    store->early = 0;
}

static void quick_came_early(const ts_nd_graph *graph, const nd_quick *slot, ts_nd_store *store)
{
    store->early = graph->round;
    store->slot = (uint8_t)(slot - graph->quick);
}

void ts__nd_quick_forget(ts_nd_graph *graph)
{
    memset(graph->quick, 0, sizeof graph->quick);
}

/* ---- running ------------------------------------------------------------------------------------- */

/* That the call reads and writes. */
static uint64_t quick_bytes(const nd_quick_call *q)
{
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < q->n_places; p++) {
        uint64_t n = ts_dtype_bytes((ts_dtype)q->place[p].dtype);
        for (uint32_t d = 0; d < q->rank; d++)
            n *= q->stride[p][d] ? (uint64_t)q->extent[d] : 1;
        bytes += n;
    }
    return bytes;
}

static ts_status quick_launch(ts_nd_graph *graph, const nd_quick *quick, const nd_quick_call *q, const nd_note *note,
                              ts_error *err)
{
    int64_t grid[3];
    quick_grid(q, grid);
    ts_launch_shape shape = {.grid = {(uint32_t)grid[0], (uint32_t)grid[1], (uint32_t)grid[2]}};
    const ts_stream *stream = graph->device->default_stream;
    for (uint32_t p = 0; p < q->n_places; p++)
        ts__buffer_note_stream(q->place[p].array->store->buffer, stream);
    if (quick->tells) {
        ts__buffer_note_stream(graph->flags->buffer, stream);
        graph->is_late = true;
    }
    graph->stats.n_launched++;
    graph->stats.n_nodes++;
    graph->stats.bytes += quick_bytes(q);
    nd_event event = nd_event_begin(graph);
    ts_status status = graph->device->ops->launch(quick->program, stream, &shape, note->words, TS_LAUNCH_BRIEF, err);
    nd_event_end(graph, &event, TS_ND_EVENT_kernel, NULL, 0);
    return status;
}

/* The result's elements to a buffer, or `back`. */
static void quick_move(const nd_quick_call *q, char *buffer, bool back)
{
    const nd_quick_place *to = &q->place[q->n_places - 1];
    nd_move m = {.rank = q->rank, .item = ts_dtype_bytes((ts_dtype)to->dtype)};
    int64_t dense = (int64_t)m.item;
    for (uint32_t d = q->rank; d-- > 0; dense *= q->extent[d]) {
        int64_t step = q->stride[q->n_places - 1][d] * (int64_t)m.item;
        m.shape[d] = q->extent[d];
        m.to[d] = back ? step : dense;
        m.from[d] = back ? dense : step;
    }
    ts__nd_move(&m, back ? to->data : buffer, back ? buffer : to->data);
}

/* Whether the result's elements are finite; `room` for them. */
static bool quick_is_finite(const nd_quick_call *q, char *room)
{
    const nd_quick_place *to = &q->place[q->n_places - 1];
    bool dense = !q->call->out || (q->rank == 1 && q->stride[q->n_places - 1][0] == 1);
    if (!dense)
        quick_move(q, room, false);
    return ts__nd_check_finite((ts_dtype)to->dtype, q->count, dense ? to->data : room);
}

/* Whether an operand is such that nothing goes wrong; of one axis alone, so that others are looked at by call.c. */
static bool quick_is_good(const nd_quick *quick, const nd_quick_call *q)
{
    uint32_t i = quick->look == ND_LOOK_DIVISORS, p = q->of[i];
    const ts_nd_operand *in = &q->call->in[i];
    uint64_t bits[2];
    if (!in->array)
        return i && ts__nd_number(in, (ts_dtype)quick->loop, bits) == 0 &&
               ts__nd_check_divisors((ts_dtype)quick->loop, (ts_dtype)quick->loop, 1, (const char *)bits, 0);
    if (q->rank != 1)
        return false;
    const nd_quick_place *from = &q->place[p];
    ts_dtype dtype = (ts_dtype)from->dtype;
    int64_t step = q->stride[p][0] * (int64_t)ts_dtype_bytes(dtype);
    return i ? ts__nd_check_divisors(dtype, (ts_dtype)quick->loop, q->count, from->data, step)
             : ts__nd_check_range(dtype, (ts_dtype)quick->result, q->count, from->data, step);
}

/* Whether an operand lies where the result goes and may be asked for again. */
static bool quick_keeps(const nd_quick_call *q)
{
    bool into = false;
    for (uint32_t p = 0; p + 1 < q->n_places; p++)
        into |= q->place[p].into;
    return into;
}

static ts_status quick_into(ts_nd_graph *graph, const nd_quick *quick, nd_quick_call *q, ts_nd *out, ts_nd **result,
                            ts_error *err)
{
    nd_note note;
    char kept[QUICK_KEPT], room[QUICK_KEPT]; /* large, and filled as far as they are used */
    bool finite = quick->look == ND_LOOK_RESULT, keeps = finite && quick_keeps(q);
    quick_into_new(q, out);
    if (!quick_words(quick, q, &note) || (finite && q->call->out && q->count * out->item > QUICK_KEPT) ||
        (quick->look && !finite && !quick_is_good(quick, q)) ||
        (q->is_large && quick->tells && !quick_tells_alike(q)))
        return TS_OK;
    if (keeps)
        quick_move(q, kept, false);
    TS_TRY(quick_launch(graph, quick, q, &note, err));
    if (!finite || quick_is_finite(q, room))
        *result = out;
    else if (keeps)
        quick_move(q, kept, true);
    return TS_OK;
}

ts_status ts__nd_quick_run(ts_nd_graph *graph, nd_quick_call *q, ts_nd **result, ts_error *err)
{
    const nd_quick *quick = quick_slot(graph, q->key);
    const ts_device *device = graph->device;
    ts_nd *out = q->call->out;
    graph->note.program = NULL; /* an earlier call's, whose words may be the same: that of other arrays, now freed */
    bool is_met = quick_is(quick, q->key);
    q->at_once |= is_met && quick->lone >= ND_LONE;
    bool is_known = is_met && q->at_once && quick->program &&
                    quick->program->epoch == atomic_load_explicit(&device->epoch, memory_order_relaxed);
    if (!is_known || q->call->pace == TS_ND_LONG) {
        graph->note.wanted = q->at_once && !is_known && q->call->pace != TS_ND_KNOWN;
        return TS_OK;
    }
    if (out)
        ts_nd_retain(out);
    else
        TS_TRY(ts_nd_empty(graph, (ts_dtype)quick->result, q->n_dims, q->shape, false, &out, err));
    ts_status status = ts__nd_store_fill(out->store, err);
    if (status == TS_OK)
        status = quick_into(graph, quick, q, out, result, err);
    if (!*result)
        ts_nd_release(out);
    else if (q->is_large && !out->store->lasting)
        quick_came_early(graph, quick, out->store);
    return status;
}
