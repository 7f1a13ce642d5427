/* SPDX-License-Identifier: Apache-2.0
 *
 * A product from arrays to its launches. Arrays that look alike have one plan, which is found by what they look like
 * without a lock: entries are made once, put in a table of atomic pointers and never changed. Memory for copies and for
 * sums of pieces comes and goes in the order of the stream.
 */
#include "lib/gemm.h"
#include "tessera/array.h"
#include "tessera/device.h"
#include <stdatomic.h>

enum { GEMM_LOOK = 24, GEMM_KEPT = 4096, GEMM_SLOTS = 2 * GEMM_KEPT };

/* All that a plan depends on, in words. */
typedef struct gemm_look {
    uint32_t n;
    uint64_t hash, words[GEMM_LOOK];
} gemm_look;

typedef struct gemm_entry {
    gemm_look look;
    gemm_ready ready;
} gemm_entry;

static struct {
    _Atomic uint32_t n;
    _Atomic(gemm_entry *) slots[GEMM_SLOTS];
} gemm_known;

/* A matrix with extents and strides of its own. */
typedef struct gemm_matrix {
    ts_arg arg;
    int64_t shape[2], strides[2];
} gemm_matrix;

typedef struct gemm_room { /* memory for one call */
    void *at;
    uint64_t bytes;
} gemm_room;

typedef struct gemm_call {
    const ts_stream *stream; /* with its device */
    ts_stream own;
    const gemm_ready *ready;
    ts_arg args[3];          /* a, b, c */
    gemm_matrix copies[2];   /* of a and b, where they are copied */
    gemm_room rooms[3];
    size_t n_rooms;
} gemm_call;

/* ---- plans ----------------------------------------------------------------------------------------- */

static void look_add(gemm_look *look, const ts_arg *array)
{
    uint32_t rank = array->rank;
    look->words[look->n++] = (uint64_t)array->dtype | (uint64_t)rank << 8 |
                             ((uintptr_t)array->value.data & 15) << 16 | (uint64_t)(array->strides != NULL) << 24 |
                             (uint64_t)array->device << 32;
    for (uint32_t d = 0; d < rank; d++)
        look->words[look->n++] = (uint64_t)array->shape[d];
    for (uint32_t d = 0; d < rank && array->strides; d++)
        look->words[look->n++] = (uint64_t)array->strides[d];
}

/* False: not arrays of matrices, which the plan says. */
static bool look_of(gemm_look *look, const ts_gemm_desc *desc)
{
    const ts_arg *const arrays[] = {desc->a, desc->b, desc->c};
    look->n = 0;
    for (int i = 0; i < 3; i++) {
        const ts_arg *array = arrays[i];
        if (!array || array->kind != TS_SPEC_ARRAY || array->rank < 2 || array->rank > 3 || !array->shape)
            return false;
        look_add(look, array);
    }
    look->words[look->n++] = desc->flags;
    ts_assert(look->n <= GEMM_LOOK);
    look->hash = ts__hash(look->words, look->n * sizeof *look->words, 11);
    return true;
}

/* The entry of a look, or NULL. */
static gemm_entry *gemm_find(const gemm_look *look)
{
    for (uint32_t i = (uint32_t)look->hash;; i++) { /* never more than half full */
        gemm_entry *entry = atomic_load_explicit(&gemm_known.slots[i % GEMM_SLOTS], memory_order_acquire);
        if (!entry || (entry->look.hash == look->hash && entry->look.n == look->n &&
                       memcmp(entry->look.words, look->words, look->n * sizeof *look->words) == 0))
            return entry;
    }
}

/* Keeps a copy where there is room; two threads may keep one look twice. */
static void gemm_keep(const gemm_entry *entry)
{
    const ts_alloc *alloc = ts_alloc_default();
    if (atomic_fetch_add(&gemm_known.n, 1) >= GEMM_KEPT) {
        atomic_fetch_sub(&gemm_known.n, 1);
        return;
    }
    gemm_entry *kept = alloc->resize(alloc->user, NULL, 0, sizeof *kept);
    if (!kept) {
        atomic_fetch_sub(&gemm_known.n, 1);
        return;
    }
    *kept = *entry;
    for (uint32_t i = (uint32_t)entry->look.hash;; i++) {
        gemm_entry *none = NULL;
        if (atomic_compare_exchange_strong(&gemm_known.slots[i % GEMM_SLOTS], &none, kept))
            return;
    }
}

ts_status ts__gemm_make_ready(const ts_gemm_desc *desc, gemm_ready *out, ts_error *err)
{
    TS_TRY(ts_gemm_plan_make(desc, &out->plan, err));
    TS_TRY(ts_lib_kernel_get(out->plan.kernel, &out->plan.hints, &out->kernel, err));
    out->n_constants = ts_gemm_constants(&out->plan, out->constants);
    return TS_OK;
}

/* ---- checks ---------------------------------------------------------------------------------------- */

static ts_status gemm_check(const ts_gemm_desc *desc, ts_error *err)
{
    const ts_arg *c = desc->c;
    const ts_arg *const inputs[] = {desc->a, desc->b};
    if (desc->flags & TS_GEMM_GELU)
        return ts_fail(err, TS_VALUE, "gemm: GELU takes a bias and a residual; plan it with ts_gemm_plan_make and "
                                      "launch its kernel");
    if (desc->a->rank != desc->b->rank)
        return ts_fail(err, TS_SHAPE, "gemm: groups of rows take their offsets; plan them with ts_gemm_plan_make and "
                                      "launch grouped_gemm");
    for (int i = 0; i < 2; i++)
        if (inputs[i]->device != c->device)
            return ts_fail(err, TS_VALUE, "gemm: %s and c are on different devices; copy one to the other's",
                           i ? "b" : "a");
    return TS_OK;
}

/* What may differ between arrays that look alike. */
static ts_status gemm_check_memory(const ts_gemm_desc *desc, ts_error *err)
{
    const ts_arg *c = desc->c;
    if (c->readonly)
        return ts_fail(err, TS_VALUE, "gemm: c is read-only; pass an array that can be written");
    for (uint32_t d = 0; d < c->rank; d++)
        if (c->strides && c->shape[d] > 1 && c->strides[d] == 0)
            return ts_fail(err, TS_VALUE, "gemm: elements of c along axis %u share memory; pass an array with memory "
                                          "for each element", d);
    if (ts_arg_overlap(c, desc->a) != TS_OVERLAP_NONE || ts_arg_overlap(c, desc->b) != TS_OVERLAP_NONE)
        return ts_fail(err, TS_VALUE, "gemm: c shares memory with %s; pass an array of its own, or a copy of %s",
                       ts_arg_overlap(c, desc->a) != TS_OVERLAP_NONE ? "a" : "b",
                       ts_arg_overlap(c, desc->a) != TS_OVERLAP_NONE ? "a" : "b");
    return TS_OK;
}

/* ---- launches -------------------------------------------------------------------------------------- */

static ts_arg gemm_int(int64_t value)
{
    return (ts_arg){.kind = TS_SPEC_INT, .value.i = value};
}

/* A matrix with its axes exchanged. */
static void matrix_turn(const ts_arg *from, gemm_matrix *out)
{
    int64_t rows = from->strides ? from->strides[0] : from->shape[1], cols = from->strides ? from->strides[1] : 1;
    *out = (gemm_matrix){*from, {from->shape[1], from->shape[0]}, {cols, rows}};
    out->arg.shape = out->shape, out->arg.strides = out->strides;
}

/* Memory in the order of the stream. */
static ts_status room_get(gemm_call *call, uint64_t bytes, void **out, ts_error *err)
{
    ts_assert(call->n_rooms < TS_COUNT(call->rooms));
    TS_TRY(ts_mem_alloc(call->stream->device, call->stream, bytes, out, err));
    call->rooms[call->n_rooms++] = (gemm_room){*out, bytes};
    return TS_OK;
}

static void rooms_end(gemm_call *call)
{
    for (size_t i = 0; i < call->n_rooms; i++)
        ts_mem_free(call->stream->device, call->stream, call->rooms[i].at, call->rooms[i].bytes);
}

static int64_t gemm_tiles(const int64_t *shape, int64_t rows, int64_t cols)
{
    return gemm_cdiv(shape[0], rows) * gemm_cdiv(shape[1], cols);
}

/* Takes operand `i` from a copy with longer lines; the launch's arguments get source and copy. */
static ts_status gemm_copy_operand(gemm_call *call, int i, ts_arg *args, gemm_matrix room[2], ts_error *err)
{
    const ts_gemm_copy *wanted = &call->ready->plan.copies[i];
    ts_arg *array = &call->args[i];
    uint64_t bytes = ts_dtype_bytes((ts_dtype)array->dtype);
    void *memory;
    TS_TRY(room_get(call, (uint64_t)wanted->shape[0] * (uint64_t)wanted->shape[1] * bytes, &memory, err));
    gemm_matrix *lines = &room[1];
    *lines = (gemm_matrix){{.kind = TS_SPEC_ARRAY, .dtype = array->dtype, .rank = 2, .device = array->device,
                            .value.data = memory}, {wanted->shape[0], array->shape[wanted->unit]},
                           {wanted->shape[1], 1}};
    lines->arg.shape = lines->shape, lines->arg.strides = lines->strides;
    args[0] = *array, args[1] = lines->arg;
    call->copies[i] = *lines;
    call->copies[i].arg.shape = call->copies[i].shape, call->copies[i].arg.strides = call->copies[i].strides;
    if (wanted->unit == 0) {
        matrix_turn(array, &room[0]);
        args[0] = room[0].arg;
        matrix_turn(&lines->arg, &call->copies[i]);
    }
    *array = call->copies[i].arg;
    return TS_OK;
}

/* Copies of the operands that need one, in one launch. */
static ts_status gemm_copy(gemm_call *call, ts_error *err)
{
    ts_arg args[6];
    gemm_matrix room[2][2];
    size_t n = 0;
    int64_t blocks = 0;
    for (int i = 0; i < 2; i++) {
        const ts_gemm_copy *wanted = &call->ready->plan.copies[i];
        if (wanted->unit < 0)
            continue;
        TS_TRY(gemm_copy_operand(call, i, args + n, room[i], err));
        blocks += gemm_tiles(args[n + 1].shape, TS_GEMM_COPY_ROWS, TS_GEMM_COPY_COLUMNS);
        n += 2;
    }
    if (!n)
        return TS_OK;
    ts_kernel *kernel;
    int64_t grid[3] = {blocks, 1, 1};
    TS_TRY(ts_lib_kernel_get(n == 2 ? TS_LIB_copy : TS_LIB_copy_both, NULL, &kernel, err));
    args[n++] = gemm_int(TS_GEMM_COPY_ROWS);
    args[n++] = gemm_int(TS_GEMM_COPY_COLUMNS);
    return ts_launch(call->stream, grid, kernel, args, n, 0, err);
}

/* The plan's kernel on its arrays. */
static ts_status gemm_multiply(const gemm_call *call, const ts_arg *result, ts_error *err)
{
    const gemm_ready *ready = call->ready;
    const ts_gemm_plan *plan = &ready->plan;
    ts_arg args[3 + TS_GEMM_CONSTANTS] = {call->args[0], call->args[1], *result};
    memcpy(args + 3, ready->constants, ready->n_constants * sizeof *args);
    return ts_launch(call->stream, plan->grid, ready->kernel, args, 3 + ready->n_constants, plan->flags, err);
}

/* Sums of pieces, and their sum. */
static ts_status gemm_multiply_pieces(gemm_call *call, ts_error *err)
{
    const ts_gemm_plan *plan = &call->ready->plan;
    const int64_t *shape = plan->parts;
    uint64_t bytes = (uint64_t)(shape[0] * shape[1] * shape[2]) * ts_dtype_bytes((ts_dtype)plan->sums);
    ts_kernel *add;
    void *memory;
    TS_TRY(ts_lib_kernel_get(TS_LIB_add_pieces, NULL, &add, err));
    TS_TRY(room_get(call, bytes, &memory, err));
    ts_arg parts = {.kind = TS_SPEC_ARRAY, .dtype = plan->sums, .rank = 3, .device = call->args[2].device,
                    .value.data = memory, .shape = shape};
    TS_TRY(gemm_multiply(call, &parts, err));
    ts_arg args[] = {parts, call->args[2], gemm_int(shape[0]), gemm_int(TS_GEMM_ADD_ROWS),
                     gemm_int(TS_GEMM_ADD_COLUMNS)};
    int64_t grid[3] = {gemm_tiles(call->args[2].shape, TS_GEMM_ADD_ROWS, TS_GEMM_ADD_COLUMNS), 1, 1};
    return ts_launch(call->stream, grid, add, args, TS_COUNT(args), TS_LAUNCH_PDL, err);
}

/* With copies, transposed, or in pieces. */
static ts_status gemm_run_whole(gemm_call *call, ts_error *err)
{
    TS_TRY(gemm_copy(call, err));
    gemm_matrix turned[3];
    for (int i = 0; i < 3 && call->ready->plan.swapped; i++)
        matrix_turn(&call->args[i == 2 ? 2 : 1 - i], &turned[i]); /* b.T, a.T, c.T */
    for (int i = 0; i < 3 && call->ready->plan.swapped; i++)
        call->args[i] = turned[i].arg;
    return call->ready->plan.parts[0] ? gemm_multiply_pieces(call, err) : gemm_multiply(call, &call->args[2], err);
}

/* The stream with its device; ts_launch checks that it is that of the arrays. */
static ts_status gemm_stream(gemm_call *call, const ts_stream *given, ts_error *err)
{
    ts_device *device;
    call->stream = given;
    if (given && given->device)
        return TS_OK;
    TS_TRY(ts_device_by_id(call->args[2].device, &device, err));
    call->own = given ? (ts_stream){device, given->native, given->impl} : *ts_device_default_stream(device);
    call->stream = &call->own;
    return TS_OK;
}

ts_status ts__gemm_run(const ts_stream *stream, const gemm_ready *ready, const ts_arg arrays[3], ts_error *err)
{
    const ts_gemm_plan *plan = &ready->plan;
    gemm_call call;
    call.stream = stream, call.ready = ready, call.n_rooms = 0;
    memcpy(call.args, arrays, sizeof call.args);
    bool is_plain = plan->copies[0].unit < 0 && plan->copies[1].unit < 0 && !plan->swapped && !plan->parts[0];
    if (is_plain || !plan->grid[0])
        return gemm_multiply(&call, &arrays[2], err);
    TS_TRY(gemm_stream(&call, stream, err));
    ts_status status = gemm_run_whole(&call, err);
    rooms_end(&call);
    return status;
}

ts_status ts_gemm(const ts_stream *stream, const ts_arg *a, const ts_arg *b, const ts_arg *c, uint32_t flags,
                  ts_error *err)
{
    ts_gemm_desc desc = {.a = a, .b = b, .c = c, .flags = flags};
    gemm_entry made;
    const gemm_entry *entry = look_of(&made.look, &desc) ? gemm_find(&made.look) : NULL;
    if (!entry) {
        TS_TRY(ts__gemm_make_ready(&desc, &made.ready, err));
        TS_TRY(gemm_check(&desc, err));
        gemm_keep(&made);
        entry = &made;
    }
    TS_TRY(gemm_check_memory(&desc, err));
    const ts_arg arrays[] = {*a, *b, *c};
    return ts__gemm_run(stream, &entry->ready, arrays, err);
}
