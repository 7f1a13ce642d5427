/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls on few elements that look like one before: the same function of arrays of the same dtypes and one shape, whole
 * or of one axis with any stride, and of numbers of the same kinds. Their dtypes, kernel and code are known; what
 * changes are addresses, strides, the number of elements and the numbers. So such a call is an array, a few words of
 * arguments and a launch, and takes a third of the time of one that goes through call.c.
 *
 *     key      function, what each operand is, where the result goes, whether there are few or very few elements
 *     noted    after a call that went the long way: its program, if the arguments of its launch are those expected here
 *
 * Whatever is not exactly that goes the long way, and so do calls whose results are not all finite, which may have
 * faults to tell of (check.c). A result that goes into an operand is put back first.
 */
#include "numeric/group.h"
#include "run/launch.h"
#include <stdlib.h>

static_assert(TS_DTYPE_COUNT <= 32, "a dtype has five bits of the key");

enum {
    QUICK_MOST = ND_TILE, QUICK_FEW = 128, /* elements of one tile; of a narrow one (ts__nd_kernel_tiles) */
    QUICK_KEPT = 4096                      /* bytes that are put back */
};

/* ---- the key ------------------------------------------------------------------------------------- */

/* Bytes from one element to the next: of one axis any, else those of an element. */
static int64_t quick_step(const ts_nd *a)
{
    return a->rank == 1 ? *ts_nd_strides(a) : (int64_t)ts_dtype_bytes((ts_dtype)a->dtype);
}

static bool quick_is_strided(const ts_nd *a)
{
    return quick_step(a) != (int64_t)ts_dtype_bytes((ts_dtype)a->dtype);
}

/* Whether the array's memory is there, nothing is waited for, and its elements lie in row-major order without gaps, or
 * along one axis at equal distances. */
static bool quick_is_plain(const ts_nd_graph *graph, const ts_nd *a)
{
    const int64_t *shape = ts_nd_shape(a), *strides = ts_nd_strides(a);
    int64_t step = (int64_t)ts_dtype_bytes((ts_dtype)a->dtype);
    const ts_nd_store *store = a->store;
    if (a->graph != graph || !a->dtype || store->value || !store->buffer || !ts__buffer_is_there(store->buffer))
        return false;
    if (a->rank == 1) {
        int64_t reach = strides[0] / step;
        return reach && strides[0] % step == 0 && reach < INT32_MAX / QUICK_MOST && reach > -INT32_MAX / QUICK_MOST;
    }
    for (uint32_t d = a->rank; d-- > 0; step *= shape[d])
        if (strides[d] != step && shape[d] != 1)
            return false;
    return true;
}

static char *quick_data(const ts_nd *a)
{
    return (char *)ts_buffer_data(a->store->buffer) + a->offset;
}

static int64_t quick_size(const ts_nd *a)
{
    return a->count * (int64_t)ts_dtype_bytes((ts_dtype)a->dtype);
}

static bool quick_is_at(const ts_nd *a, const ts_nd *b)
{
    return a->dtype == b->dtype && quick_data(a) == quick_data(b) && quick_step(a) == quick_step(b);
}

/* Whether no bytes are in both: they lie one behind the other, or in turn as columns of a matrix. */
static bool quick_is_apart(const ts_nd *a, const ts_nd *b)
{
    int64_t step = quick_step(a), item = quick_size(a) / a->count, other = quick_size(b) / b->count;
    int64_t back = step < 0 ? step * (a->count - 1) : 0;
    const char *from = quick_data(a) + back, *end = quick_data(a) + step * (a->count - 1) - back + item;
    int64_t at = quick_step(b) < 0 ? quick_step(b) * (b->count - 1) : 0;
    const char *to = quick_data(b) + at, *stop = quick_data(b) + quick_step(b) * (b->count - 1) - at + other;
    int64_t turn = step ? (quick_data(b) - quick_data(a)) % step : 0;
    turn += turn < 0 ? llabs(step) : 0;
    return end <= to || stop <= from ||
           (step == quick_step(b) && turn >= item && turn <= llabs(step) - other);
}

/* The first operand that is the same array, or i. */
static uint32_t quick_same(const ts_nd_call *call, uint32_t i)
{
    const ts_nd *a = call->in[i].array;
    for (uint32_t k = 0; k < i; k++) {
        const ts_nd *b = call->in[k].array;
        if (b && quick_is_at(a, b))
            return k;
    }
    return i;
}

/* An operand in the key: the number's kind or dtype, or the array's dtype, which operand it repeats, and whether the
 * result goes there. 0: the call goes the long way. */
static uint64_t quick_operand(const ts_nd_graph *graph, const ts_nd_call *call, uint32_t i, const ts_nd **like)
{
    const ts_nd_operand *in = &call->in[i];
    const ts_nd *a = in->array, *out = call->out;
    if (!a && (in->is_big || in->is_huge))
        return 0;
    if (!a)
        return in->dtype ? 256u | (uint64_t)in->dtype : 512u | (uint64_t)(in->kind & 31);
    if (!quick_is_plain(graph, a) ||
        (*like && (a->rank != (*like)->rank ||
                   memcmp(ts_nd_shape(a), ts_nd_shape(*like), a->rank * sizeof(int64_t)) != 0)))
        return 0;
    *like = a;
    bool into = out && quick_is_at(a, out);
    if (out && !into && a->count && !quick_is_apart(a, out))
        return 0;
    return a->dtype | (uint64_t)quick_same(call, i) << 5 | (uint64_t)into << 7 | 1024u |
           (uint64_t)quick_is_strided(a) << 11;
}

uint64_t ts__nd_quick_key(const ts_nd_graph *graph, const ts_nd_call *call, const ts_nd **like)
{
    const ts_nd *out = *like = call->out;
    uint64_t key = (uint64_t)call->fn + 1;
    if (call->where || call->loop || call->order == 'F' || call->fn == TS_ND_gather)
        return 0;
    if (out && (graph->first || out->flags & TS_ND_READONLY || !quick_is_plain(graph, out)))
        return 0;
    key = key << 15 | (out ? 32u | out->dtype : 0) | (uint64_t)call->dtype << 6 | (uint64_t)call->casting << 11 |
          (uint64_t)(out && quick_is_strided(out)) << 14;
    for (uint32_t i = 0; i < ts_nd_get(call->fn)->n_in; i++) {
        uint64_t one = quick_operand(graph, call, i, like);
        if (!one)
            return 0;
        key = key << 12 | one;
    }
    if (!*like || (*like)->count < 2 || (*like)->count > TS_MIN(graph->small, QUICK_MOST))
        return 0;
    uint64_t told = ts_device_caps_of(graph->device) & TS_DEVICE_HOST_MEMORY ? 0 : graph->wants;
    return key << 4 | told << 1 | ((*like)->count <= QUICK_FEW);
}

/* ---- arguments ----------------------------------------------------------------------------------- */

static void quick_stride(const ts_nd *a, nd_note *note)
{
    if (quick_is_strided(a))
        note->words[note->n++] = (uint64_t)(quick_step(a) / (int64_t)ts_dtype_bytes((ts_dtype)a->dtype));
}

/* The words of the call's launch, as group.c orders them: places that are read, the result, where faults are told of,
 * elements, the strides of these places that are not 1, numbers. False: a number is not of its dtype. */
static bool quick_words(const nd_quick *quick, const ts_nd_call *call, const ts_nd *out, nd_note *note)
{
    ts_dtype loop = (ts_dtype)quick->loop;
    uint32_t n_in = ts_nd_get(call->fn)->n_in;
    note->n = 0;
    for (uint32_t i = 0; i < n_in; i++)
        if (call->in[i].array && quick_same(call, i) == i)
            note->words[note->n++] = (uintptr_t)quick_data(call->in[i].array);
    note->words[note->n++] = (uintptr_t)quick_data(out);
    if (quick->tells)
        note->words[note->n++] = (uintptr_t)ts_buffer_data(out->graph->flags->buffer);
    note->words[note->n++] = (uint64_t)out->count;
    for (uint32_t i = 0; i < n_in; i++)
        if (call->in[i].array && quick_same(call, i) == i)
            quick_stride(call->in[i].array, note);
    quick_stride(out, note);
    for (uint32_t i = 0; i < n_in; i++) {
        const ts_nd_operand *in = &call->in[i];
        ts_dtype dtype = in->dtype ? in->dtype : call->fn == TS_ND_select && i == 0 ? TS_DTYPE_bool_ : loop;
        if (in->array)
            continue;
        if (ts__nd_number(in, dtype, &note->words[note->n]) != 0)
            return false;
        note->n += ts_dtype_get(dtype)->part ? 2 : 1;
    }
    return true;
}

static nd_quick *quick_slot(ts_nd_graph *graph, uint64_t key)
{
    return &graph->quick[key * 0x9E3779B97F4A7C15u >> (64 - ND_QUICK_BITS)];
}

/* ---- noting -------------------------------------------------------------------------------------- */

void ts__nd_quick_launched(ts_nd_graph *graph, const ts_kernel *kernel, const nd_launch *launch)
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
}

/* Not: functions whose operands are looked at, by values that a kernel does not see or that a check wants all of. */
static bool quick_may(const ts_nd_call *call, ts_dtype loop, ts_dtype result, bool *checks)
{
    ts_nd_fn fn = call->fn;
    const ts_nd *from = call->in[0].array;
    bool is_float = nd_kind(loop) == 'f' || nd_kind(loop) == 'c', is_whole = ts_dtype_get(result)->bits >= 32;
    *checks = false;
    if (fn == TS_ND_copy)
        return from ? ts__nd_check_is_safe((ts_dtype)from->dtype, result) : !call->in[0].dtype;
    *checks = is_float && ts_nd_get(fn)->result != TS_ND_IS_BOOL && fn != TS_ND_select;
    return fn != TS_ND_power && fn != TS_ND_float_power && (is_float || !ts__nd_check_divides(fn)) &&
           (!*checks || is_whole);
}

void ts__nd_quick_note(ts_nd_graph *graph, const ts_nd_call *call, uint64_t key, ts_dtype loop, const ts_nd *out)
{
    nd_note expected = {0}, *note = &graph->note;
    nd_quick quick = {.key = key, .loop = (uint8_t)loop, .result = out->dtype, .program = note->program};
    bool in_host = ts_device_caps_of(graph->device) & TS_DEVICE_HOST_MEMORY;
    note->wanted = false;
    quick.tells = !in_host && graph->wants && graph->flags && ts__nd_tells(call->fn, loop);
    if (!note->program || !quick_may(call, loop, (ts_dtype)out->dtype, &quick.checks) ||
        !quick_is_plain(graph, out) || !quick_words(&quick, call, out, &expected))
        return;
    quick.checks = quick.checks && in_host;
    if (expected.n == note->n && memcmp(expected.words, note->words, note->n * sizeof *note->words) == 0)
        *quick_slot(graph, key) = quick;
}

void ts__nd_quick_forget(ts_nd_graph *graph)
{
    memset(graph->quick, 0, sizeof graph->quick);
}

/* ---- running ------------------------------------------------------------------------------------- */

/* That the call reads and writes. */
static uint64_t quick_bytes(const ts_nd_call *call, const ts_nd *out)
{
    uint64_t each = ts_dtype_bytes((ts_dtype)out->dtype);
    for (uint32_t i = 0; i < ts_nd_get(call->fn)->n_in; i++)
        if (call->in[i].array && quick_same(call, i) == i)
            each += ts_dtype_bytes((ts_dtype)call->in[i].array->dtype);
    return each * (uint64_t)out->count;
}

static ts_status quick_launch(ts_nd_graph *graph, const nd_quick *quick, const ts_nd_call *call, const nd_note *note,
                              const ts_nd *out, ts_error *err)
{
    static const ts_launch_shape shape = {.grid = {1, 1, 1}};
    const ts_stream *stream = graph->device->default_stream;
    for (uint32_t i = 0; i < ts_nd_get(call->fn)->n_in; i++)
        if (call->in[i].array)
            ts__buffer_note_stream(call->in[i].array->store->buffer, stream);
    if (quick->tells) {
        ts__buffer_note_stream(graph->flags->buffer, stream);
        graph->is_late = true;
    }
    graph->stats.n_launched++;
    graph->stats.n_nodes++;
    graph->stats.bytes += quick_bytes(call, out);
    nd_event event = nd_event_begin(graph);
    ts_status status = graph->device->ops->launch(quick->program, stream, &shape, note->words, 0, err);
    nd_event_end(graph, &event, TS_ND_EVENT_kernel, NULL, 0);
    return status;
}

/* What the call is about to write over, while an operand lies there. */
typedef struct quick_kept {
    int64_t n; /* bytes; 0: nothing is kept */
    char bytes[QUICK_KEPT];
} quick_kept;

/* An array's elements into a buffer, or back. */
static void quick_move(const ts_nd *a, char *buffer, bool back)
{
    size_t item = ts_dtype_bytes((ts_dtype)a->dtype), n = quick_is_strided(a) ? (size_t)a->count : 1;
    size_t size = n == 1 ? (size_t)quick_size(a) : item;
    char *data = quick_data(a);
    for (size_t i = 0; i < n; i++, data += quick_step(a), buffer += size)
        memcpy(back ? data : buffer, back ? buffer : data, size);
}

static bool quick_is_finite(const ts_nd *out)
{
    char room[QUICK_KEPT];
    if (!quick_is_strided(out))
        return ts__nd_check_finite((ts_dtype)out->dtype, out->count, quick_data(out));
    quick_move(out, room, false);
    return ts__nd_check_finite((ts_dtype)out->dtype, out->count, room);
}

/* False: it is too much. */
static bool quick_keep(const nd_quick *quick, const ts_nd_call *call, quick_kept *kept)
{
    kept->n = 0;
    for (uint32_t i = 0; i < ts_nd_get(call->fn)->n_in && call->out && quick->checks; i++)
        if (call->in[i].array && quick_data(call->in[i].array) == quick_data(call->out))
            kept->n = quick_size(call->out);
    bool gathers = kept->n || (call->out && quick->checks && quick_is_strided(call->out));
    if (gathers && quick_size(call->out) > QUICK_KEPT)
        return false;
    if (kept->n)
        quick_move(call->out, kept->bytes, false);
    return true;
}

static ts_status quick_into(ts_nd_graph *graph, const nd_quick *quick, const ts_nd_call *call, ts_nd *out,
                            ts_nd **result, ts_error *err)
{
    nd_note note;
    quick_kept kept; /* large, and filled as far as it is used */
    if (!quick_words(quick, call, out, &note) || !quick_keep(quick, call, &kept))
        return TS_OK;
    TS_TRY(quick_launch(graph, quick, call, &note, out, err));
    if (!quick->checks || quick_is_finite(out))
        *result = out;
    else if (kept.n)
        quick_move(out, kept.bytes, true);
    return TS_OK;
}

ts_status ts__nd_quick_run(ts_nd_graph *graph, const ts_nd_call *call, uint64_t key, const ts_nd *like, ts_nd **result,
                           ts_error *err)
{
    const nd_quick *quick = quick_slot(graph, key);
    const ts_device *device = graph->device;
    ts_nd *out = call->out;
    graph->note.program = NULL; /* an earlier call's, whose words may be the same: that of other arrays, now freed */
    if (quick->key != key || quick->program->epoch != atomic_load_explicit(&device->epoch, memory_order_relaxed)) {
        graph->note.wanted = true;
        return TS_OK;
    }
    if (out)
        ts_nd_retain(out);
    else
        TS_TRY(ts_nd_empty(graph, (ts_dtype)quick->result, like->rank, ts_nd_shape(like), false, &out, err));
    ts_status status = ts__nd_store_fill(out->store, err);
    if (status == TS_OK)
        status = quick_into(graph, quick, call, out, result, err);
    if (!*result)
        ts_nd_release(out);
    return status;
}
