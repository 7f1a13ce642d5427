/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over the arguments of a launch: checks each, notes what its code may depend on (key words) and
 * what the kernel is given (parameter slots). See launch.h for the words. Messages are made only when
 * something is wrong.
 */
#include "run/launch.h"
#include "array/array.h"
#include "array/layout.h"
#include "table/dtype.h"
#include <stdio.h>
#include <stdlib.h>
#include <tessera/array.h>

__extension__ typedef __int128 args_wide; /* int64 and uint64 */

/* For what few launches have: kept out of the way of those that have it not. */
#if defined(__GNUC__)
#define ARGS_RARE __attribute__((noinline, cold))
#else
#define ARGS_RARE
#endif

typedef struct args_walk {
    launch_frame *frame;
    ts_error *err;
    size_t next;                /* argument to read; messages are about the one before */
    size_t param;               /* top-level parameter it belongs to */
    const kernel_param *rule;
    int64_t item;               /* bytes of an element of the array to read, where its dtype does not say it; else 0 */
} args_walk;

/* ---- messages ------------------------------------------------------------------------------------ */

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4), cold))
#endif
static ts_status args_fail(const args_walk *walk, ts_status status, const char *format, ...)
{
    char label[TS_ARG_LABEL], text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const ts_kernel *kernel = walk->frame->kernel;
    ts_arg_label(kernel, walk->frame->args, walk->next - 1, label);
    return ts_fail(walk->err, status, "kernel '%s', %s: %s", kernel->name, label, text);
}

/* What the annotation of a number says. */
static const char *args_wanted_text(const kernel_param *rule)
{
    return rule->dtype                      ? ts_dtype_name((ts_dtype)rule->dtype)
           : rule->flags & TS_PARAM_BOOL    ? "bool"
           : rule->flags & TS_PARAM_INT     ? "int"
                                            : "float";
}

/* ---- output -------------------------------------------------------------------------------------- */

static ts_status args_word(args_walk *walk, uint64_t word)
{
    if (walk->frame->n_words >= LAUNCH_WORDS - TS_LAUNCH_ARGS) /* room for the words of shared memory */
        return args_fail(walk, TS_VALUE, "the arguments are more than a launch can take; pass fewer");
    walk->frame->words[walk->frame->n_words++] = word;
    return TS_OK;
}

static ts_status args_too_many(const args_walk *walk)
{
    return args_fail(walk, TS_VALUE, "the kernel would need more than %d parameters; pass fewer arguments or a list "
                                     "of arrays", TS_PLAN_PARAMS);
}

static ts_status args_slot(args_walk *walk, uint64_t value)
{
    if (walk->frame->n_params >= TS_PLAN_PARAMS)
        return args_too_many(walk);
    walk->frame->params[walk->frame->n_params++] = value;
    return TS_OK;
}

/* ---- arrays --------------------------------------------------------------------------------------- */

/* What is left of an array after checking. */
typedef struct args_array {
    uint64_t word, bytes; /* bytes: from the lowest element to the end of the highest; 0 when there is none */
    uint64_t below;       /* bytes from the lowest element to the first: of negative strides */
    int64_t *strides;     /* those of extents 1 made regular; the caller's, room for TS_ARRAY_RANK */
} args_array;

/* True if no two elements of `item` (in units of strides) share an address as far as sorted strides can tell. */
static bool args_is_apart(const int64_t *shape, const int64_t *strides, uint32_t rank, int64_t item)
{
    uint8_t order[TS_ARRAY_RANK];
    uint32_t n = 0;
    for (uint32_t d = 0; d < rank; d++) {
        if (shape[d] <= 1)
            continue;
        uint32_t at = n++;
        for (; at > 0 && strides[order[at - 1]] > strides[d]; at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)d;
    }
    int64_t reach = item - 1; /* greatest offset of the dimensions so far */
    for (uint32_t i = 0; i < n; i++) {
        if (strides[order[i]] <= reach)
            return false;
        reach += (shape[order[i]] - 1) * strides[order[i]];
    }
    return true;
}

static ARGS_RARE ts_status args_check_layout(const args_walk *walk, const ts_layout *layout)
{
    char text[700];
    layout_span span;
    layout_flaw flaw = ts__layout_flaw(layout, TS_ARRAY_RANK, &span);
    if (flaw == LAYOUT_GOOD)
        return TS_OK;
    ts__layout_text(flaw, layout, TS_ARRAY_RANK, text, sizeof text);
    return args_fail(walk, flaw == LAYOUT_EXTENT || flaw == LAYOUT_COUNT ? TS_SHAPE : TS_VALUE, "%s", text);
}

static ts_status args_bad_stride(const args_walk *walk, const ts_arg *arg, uint32_t axis)
{
    return args_fail(walk, TS_VALUE, "axis %u has a negative stride (%lld elements); pass a copy with positive strides",
                     axis, (long long)arg->strides[axis]);
}

/* Notes that the kernel must not write to the array whose slot comes next (its own, or its list's). */
static void args_protect(args_walk *walk, bool overlaps)
{
    launch_frame *frame = walk->frame;
    frame->readonly[frame->n_readonly++] = (launch_readonly){frame->n_params, (uint32_t)walk->param, overlaps};
}

/* The strides without their signs, *reach and *below anew where there are negative ones. */
static ts_status args_unsign(const args_walk *walk, const ts_arg *arg, const int64_t *strides, int64_t *sizes,
                             uint64_t *reach, uint64_t *below)
{
    uint64_t all = (uint64_t)TS_MAX(walk->item, 1) - 1;
    *below = 0;
    for (uint32_t i = 0; i < arg->rank; i++) {
        bool negative = arg->shape[i] > 1 && strides[i] < 0;
        if (negative && !(walk->rule->flags & TS_PARAM_REVERSED))
            return args_bad_stride(walk, arg, i);
        sizes[i] = negative ? -strides[i] : strides[i];
        uint64_t moved = ((uint64_t)arg->shape[i] - 1) * (uint64_t)sizes[i];
        all += moved;
        *below += negative ? moved : 0;
    }
    *reach = all;
    return TS_OK;
}

/* Elements that share memory, as no strides of ours do, or strides that are negative. */
static ARGS_RARE ts_status args_check_apart(args_walk *walk, const ts_arg *arg, const int64_t *strides, int64_t item,
                                            uint64_t *reach, uint64_t *below)
{
    int64_t sizes[TS_ARRAY_RANK];
    TS_TRY(args_unsign(walk, arg, strides, sizes, reach, below));
    if (!args_is_apart(arg->shape, sizes, arg->rank, item) && !arg->readonly)
        args_protect(walk, true);
    return TS_OK;
}

/* Whether an extent alone is beyond 32 bits. */
static bool args_is_long(const ts_arg *arg)
{
    bool is = false;
    for (uint32_t i = 0; i < arg->rank; i++)
        is |= arg->shape[i] > TS_INDEX32_MAX;
    return is;
}

/* Masks and checks of one array, last dimension first, in one pass: what it computes of a layout that is then refused
 * is not used. */
static inline ts_status args_read_array(args_walk *walk, const ts_arg *arg, uint32_t bytes, args_array *out)
{
    uint32_t rank = arg->rank, flags = walk->rule->flags;
    const int64_t *shape = arg->shape, *given = arg->strides, item = TS_MAX(walk->item, 1); /* in units of strides */
    uint64_t all = 0, marks = 0, dense = (uint64_t)item, reach = dense - 1, below = 0;
    bool regular = true, empty = false, wide = false;
    for (uint32_t i = shape ? rank : 0; i-- > 0;) {
        uint64_t extent = (uint64_t)shape[i], stride = given ? (uint64_t)given[i] : 0;
        all |= extent | stride;
        if (!given || extent == 1)
            stride = dense; /* never used where 1; so that equal layouts have equal keys */
        uint64_t steps = extent - (extent != 0); /* sums wrap only in arrays without elements */
        regular &= extent <= 1 || (int64_t)stride > (int64_t)reach;
        empty |= extent == 0;
        reach += steps * stride;
        dense = (steps + 1) * stride;
        out->strides[i] = (int64_t)stride;
        marks |= ((uint64_t)(stride == 1) << WORD_UNIT | (uint64_t)((stride * bytes & 15) == 0) << WORD_STRIDE16 |
                  (uint64_t)((extent & 15) == 0) << WORD_SHAPE16 | (uint64_t)(extent == 1) << WORD_ONE) << i;
    }
    if (!arg->value.data || !shape || !ts__layout_is_plain(arg->value.data, rank, all)) {
        TS_TRY(args_check_layout(walk, &(ts_layout){arg->value.data, (int32_t)rank, (uint32_t)item * bytes, bytes,
                                                    shape, given}));
        wide = args_is_long(arg);
    }
    if (!regular && !empty)
        TS_TRY(args_check_apart(walk, arg, out->strides, item, &reach, &below));
    wide |= (!empty && (int64_t)reach > TS_INDEX32_MAX) || flags & TS_PARAM_INDEX64;
    if (flags & TS_PARAM_STATIC_STRIDES)
        marks &= ~((uint64_t)UINT8_MAX << WORD_UNIT);
    out->bytes = empty ? 0 : (reach + 1) * bytes;
    out->below = below * bytes;
    out->word = marks | (uint64_t)TS_SPEC_ARRAY | (uint64_t)arg->dtype << WORD_DTYPE | (uint64_t)rank << WORD_RANK |
                (uint64_t)(((uintptr_t)arg->value.data & 15) == 0) << WORD_ALIGN16 | (uint64_t)wide << WORD_INDEX64 |
                (uint64_t)(below > 0) << WORD_LOOSE;
    return TS_OK;
}

static ARGS_RARE ts_status args_refuse_array(const args_walk *walk)
{
    if (walk->rule->flags & TS_PARAM_CONSTANT)
        return args_fail(walk, TS_TYPE, "is annotated Constant but is an array; pass a number, or drop the annotation");
    return args_fail(walk, TS_TYPE, "is annotated %s but is an array; pass a number, or drop the annotation",
                     args_wanted_text(walk->rule));
}

/* The first array says on which device all are. */
static ARGS_RARE ts_status args_other_device(const args_walk *walk, const ts_arg *arg)
{
    launch_frame *frame = walk->frame;
    char one[64], two[64], other[128];
    if (frame->has_device)
        return args_fail(walk, TS_VALUE, "the array is on %s, but %s is on %s; copy one of them",
                         ts__device_text(arg->device, one, sizeof one),
                         ts__param_label(frame->kernel, frame->device_arg, other, sizeof other),
                         ts__device_text(frame->device, two, sizeof two));
    frame->has_device = true;
    frame->device = arg->device;
    frame->device_arg = (uint32_t)walk->param;
    return TS_OK;
}

static ARGS_RARE ts_status args_lost_memory(const args_walk *walk)
{
    return args_fail(walk, TS_BUFFER, "the memory of the array was freed, or lost when its device was reset");
}

/* *bytes: of an element. */
static inline ts_status args_check_array(args_walk *walk, const ts_arg *arg, uint32_t *bytes)
{
    launch_frame *frame = walk->frame;
    *bytes = 0;
    if (walk->rule->asks & PARAM_ASKS_NUMBER)
        return args_refuse_array(walk);
    if (arg->dtype == TS_DTYPE_NONE || arg->dtype >= TS_DTYPE_COUNT)
        return args_fail(walk, TS_TYPE, "the array has a dtype that kernels do not know");
    if (arg->rank > TS_ARRAY_RANK)
        return args_fail(walk, TS_SHAPE, "the array has %u axes; kernels take at most %d", arg->rank, TS_ARRAY_RANK);
    *bytes = ts__dtype_bytes[arg->dtype];
    if ((uintptr_t)arg->value.data & (*bytes - 1))
        return args_fail(walk, TS_VALUE, "the array at %p is not aligned to its %s elements; pass a copy",
                         arg->value.data, ts_dtype_name((ts_dtype)arg->dtype));
    if (arg->buffer) {
        if (!ts__buffer_is_there(arg->buffer))
            return args_lost_memory(walk);
        frame->has_buffers = true;
    }
    if (arg->readonly)
        args_protect(walk, false);
    return frame->has_device && frame->device == arg->device ? TS_OK : args_other_device(walk, arg);
}

/* Axes of an array of this rank that an annotation names, from the front and from the end; each once. */
static ts_status args_axes(const args_walk *walk, const char *what, uint32_t front, uint32_t end, uint32_t rank,
                           uint32_t *out)
{
    *out = front;
    if ((front | end) >> rank) {
        uint32_t bad = front >> rank ? front >> rank << rank : end >> rank << rank, axis = 0;
        while (!(bad >> axis & 1))
            axis++;
        return args_fail(walk, TS_VALUE, "is annotated with %s=(%d,), but the array has %u axes", what,
                         front >> rank ? (int)axis : -1 - (int)axis, rank);
    }
    for (uint32_t d = 0; d < rank; d++)
        if (end >> d & 1 && *out >> (rank - 1 - d) & 1)
            return args_fail(walk, TS_VALUE, "is annotated with axis %u twice in %s (as %d too); the array has %u axes",
                             rank - 1 - d, what, -1 - (int)d, rank);
        else
            *out |= (end >> d & 1) << (rank - 1 - d);
    return TS_OK;
}

/* The extents and strides that the annotation of an array makes constants. */
typedef struct args_static {
    uint32_t shape, stride;
} args_static;

static ts_status args_find_statics(const args_walk *walk, uint32_t rank, args_static *out)
{
    const kernel_param *rule = walk->rule;
    TS_TRY(args_axes(walk, "static_shape_dims", rule->static_shape, rule->static_shape_end, rank, &out->shape));
    return args_axes(walk, "static_stride_dims", rule->static_stride, rule->static_stride_end, rank, &out->stride);
}

static ts_status args_static_words(args_walk *walk, const ts_arg *arg, const int64_t *strides, args_static named)
{
    for (uint32_t d = 0; d < arg->rank; d++)
        if (named.shape >> d & 1)
            TS_TRY(args_word(walk, (uint64_t)arg->shape[d]));
    for (uint32_t d = 0; d < arg->rank; d++)
        if (named.stride >> d & 1)
            TS_TRY(args_word(walk, (uint64_t)strides[d]));
    return TS_OK;
}

/* Of an array whose word was written. */
static ARGS_RARE ts_status args_statics(args_walk *walk, const ts_arg *arg, const int64_t *strides, uint32_t word)
{
    uint32_t last = arg->rank - 1u;
    args_static named;
    TS_TRY(args_find_statics(walk, arg->rank, &named));
    if (walk->item && arg->rank && strides[last] == walk->item)
        named.stride |= 1u << last; /* as a stride of 1 is of numbers */
    walk->frame->words[word] |=
        (uint64_t)named.shape << WORD_STATIC_SHAPE | (uint64_t)named.stride << WORD_STATIC_STRIDE;
    return args_static_words(walk, arg, strides, named);
}

static ts_status args_check_dense(const args_walk *walk, const ts_arg *arg, const args_array *array)
{
    int64_t dense = 1;
    for (uint32_t d = arg->rank; d-- > 0 && array->bytes; dense *= arg->shape[d])
        if (array->strides[d] != dense)
            return args_fail(walk, TS_VALUE, "the array must be row-major without gaps, but axis %u has stride %lld, "
                             "not %lld; pass a copy", d, (long long)array->strides[d], (long long)dense);
    return TS_OK;
}

/* Keeps the memory of the array, and whether it may meet that of one before: only then pairs are looked at. */
static inline void args_span(launch_frame *frame, const ts_arg *arg, const args_array *array, uint32_t word,
                             uint32_t param)
{
    uintptr_t first = (uintptr_t)arg->value.data - array->below, end = first + array->bytes;
    frame->spans[frame->n_spans++] = (launch_span){first, end, arg, word, param};
    if (first >= frame->high) {
        frame->low = TS_MIN(frame->low, first);
        frame->high = end;
    } else if (end <= frame->low)
        frame->low = first;
    else
        frame->may_share = true;
}

static ts_status args_array_param(args_walk *walk, const ts_arg *arg)
{
    launch_frame *frame = walk->frame;
    uint32_t first_word = frame->n_words, n = frame->n_params, rank = arg->rank, bytes;
    TS_TRY(args_check_array(walk, arg, &bytes));
    if (n + 1 + 2 * rank > TS_PLAN_PARAMS)
        return args_too_many(walk);
    uint64_t *slots = frame->params + n;
    args_array array = {.strides = (int64_t *)slots + 1 + rank};
    TS_TRY(args_read_array(walk, arg, bytes, &array));
    if (walk->rule->flags & TS_PARAM_DENSE)
        TS_TRY(args_check_dense(walk, arg, &array));
    TS_TRY(args_word(walk, array.word & frame->kernel->array_mask));
    if (walk->rule->asks & PARAM_ASKS_STATICS || walk->item)
        TS_TRY(args_statics(walk, arg, array.strides, first_word));
    slots[0] = (uintptr_t)arg->value.data;
    for (uint32_t d = 0; d < rank; d++)
        slots[1 + d] = (uint64_t)arg->shape[d];
    args_span(frame, arg, &array, first_word, n);
    frame->n_params = n + 1 + 2 * rank;
    return TS_OK;
}

/* ---- arrays that share memory ------------------------------------------------------------------------- */

/* Words of an array: its own, and the extents and strides that are constants. */
static size_t args_span_words(const launch_frame *frame, const launch_span *span)
{
    return 1 + (size_t)__builtin_popcountll(frame->words[span->word] >> WORD_STATIC_SHAPE);
}

static bool args_is_same(const launch_frame *frame, const launch_span *a, const launch_span *b)
{
    size_t n_words = args_span_words(frame, a), numbers = 1 + 2 * (size_t)a->arg->rank;
    return a->first == b->first && n_words == args_span_words(frame, b) && a->arg->readonly == b->arg->readonly &&
           memcmp(frame->words + a->word, frame->words + b->word, n_words * sizeof *frame->words) == 0 &&
           memcmp(frame->params + a->param, frame->params + b->param, numbers * sizeof *frame->params) == 0;
}

static bool args_has(const uint8_t *bits, const launch_span *span)
{
    return bits[span->param / 8] >> span->param % 8 & 1;
}

static bool args_meet(const launch_span *a, const launch_span *b)
{
    return a->first < b->end && b->first < a->end;
}

/* Notes the arrays that share bytes with array i, which the kernel writes, and are accessed themselves. */
static bool args_conflicts(const launch_frame *frame, const ts_plan *plan, uint32_t i, bool *conflict)
{
    const launch_span *written = &frame->spans[i];
    bool any = false;
    for (uint32_t k = 0; k < frame->n_spans; k++) {
        const launch_span *other = &frame->spans[k];
        if (k == i || !args_meet(written, other) || !(args_has(plan->reads, other) || args_has(plan->writes, other)))
            continue;
        conflict[i] = conflict[k] = any = true;
    }
    return any;
}

/* What code must know of span i beside the earlier ones of those in conflict: it is one of them, or shares bytes. An
 * array that is read under two names and written under a third is one array under all three. */
static uint64_t args_shared_word(const launch_frame *frame, const bool *conflict, uint32_t i)
{
    static_assert(TS_LAUNCH_ARGS < 256, "numbers of arrays have 8 bits in a word");
    const launch_span *span = &frame->spans[i];
    uint64_t same = 0, overlap = 0;
    for (uint32_t k = 0; k < i; k++) {
        if (!conflict[k] || !args_meet(span, &frame->spans[k]))
            continue;
        if (!args_is_same(frame, span, &frame->spans[k]))
            overlap = 1;
        else if (!same)
            same = k + 1;
    }
    return same || overlap ? WORD_SHARED | (uint64_t)i << 8 | same << 16 | overlap << 24 : 0;
}

bool ts__frame_note_shared(launch_frame *frame, const ts_plan *plan)
{
    bool conflict[TS_LAUNCH_ARGS] = {false}, any = false;
    for (uint32_t i = 0; i < frame->n_spans; i++)
        if (args_has(plan->writes, &frame->spans[i]))
            any |= args_conflicts(frame, plan, i, conflict);
    for (uint32_t i = 1; i < frame->n_spans && any && frame->n_words < LAUNCH_WORDS; i++) {
        uint64_t word = conflict[i] ? args_shared_word(frame, conflict, i) : 0;
        if (word)
            frame->words[frame->n_words++] = word;
    }
    return any;
}

void ts__frame_note_block(launch_frame *frame, const ts_launch_config *config, const int64_t grid[3], bool is_cpu)
{
    uint64_t word = TS_SPEC_BLOCK | (uint64_t)1 << WORD_FEW;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t threads = TS_MIN(config->block[i], (uint32_t)TS_BLOCK_THREADS + 1);
        if (grid[i] > TS_FEW_BLOCKS)
            word &= ~((uint64_t)1 << WORD_FEW);
        if (is_cpu)
            word |= threads << (4 + 12 * i);
    }
    if (frame->n_words + 2 > LAUNCH_WORDS)
        return; /* the compiler then says that it needs a block */
    frame->words[frame->n_words++] = word;
    frame->words[frame->n_words++] = is_cpu ? config->shared_bytes : 0;
}

/* ---- numbers ----------------------------------------------------------------------------------------- */

static double args_float_of_bits(uint8_t dtype, uint64_t bits)
{
    float single;
    double value;
    switch (dtype) {
    case TS_DTYPE_float16:
        return ts__f16_to_f64((uint16_t)bits);
    case TS_DTYPE_bfloat16:
        return ts__bf16_to_f64((uint16_t)bits);
    case TS_DTYPE_float64:
        memcpy(&value, &bits, sizeof value);
        return value;
    default:
        memcpy(&single, &bits, sizeof single);
        return single;
    }
}

/* Sign- or zero-extends the low bytes. */
static int64_t args_int_of_bits(uint8_t dtype, uint64_t bits)
{
    uint32_t unused = 64 - 8 * (uint32_t)ts_dtype_bytes((ts_dtype)dtype);
    bool is_signed = ts_dtype_get((ts_dtype)dtype)->is_signed;
    return is_signed ? (int64_t)(bits << unused) >> unused : (int64_t)(bits << unused >> unused);
}

/* bool < int < float; real numbers stand in f, and ints that do not fit 64 bits too; the others in i. */
typedef struct args_value {
    uint32_t category; /* TS_PARAM_BOOL, _INT or _FLOAT */
    uint8_t dtype;     /* 0: a Python number */
    bool wide;         /* an int that stands in f */
    double f;
    args_wide i;
} args_value;

static uint32_t args_category(uint8_t dtype)
{
    switch (ts_dtype_get((ts_dtype)dtype)->kind) {
    case 'b':
        return TS_PARAM_BOOL;
    case 'i':
    case 'u':
        return TS_PARAM_INT;
    default:
        return TS_PARAM_FLOAT;
    }
}

/* Storage types are passed as they are; 0 is a Python number, or no annotation. */
static bool args_is_converted(uint8_t dtype)
{
    return ts_dtype_get((ts_dtype)dtype)->kind != 'r';
}

/* A Python int beyond 64 bits, rounded to float64. */
static bool args_is_wide(const ts_arg *arg)
{
    return arg->kind == TS_SPEC_INT && arg->dtype == TS_DTYPE_float64;
}

static args_value args_value_of(const ts_arg *arg)
{
    args_value v = {.category = arg->kind == TS_SPEC_BOOL  ? TS_PARAM_BOOL
                                : arg->kind == TS_SPEC_INT ? TS_PARAM_INT
                                                           : TS_PARAM_FLOAT};
    if (arg->kind == TS_SPEC_SCALAR) {
        v.dtype = arg->dtype;
        v.category = args_category(arg->dtype);
    }
    v.wide = args_is_wide(arg);
    if (v.wide)
        v.f = arg->value.f;
    else if (v.category != TS_PARAM_FLOAT) {
        int64_t value = arg->kind == TS_SPEC_SCALAR ? args_int_of_bits(arg->dtype, arg->value.bits) : arg->value.i;
        v.i = arg->dtype == TS_DTYPE_uint64 ? (args_wide)(uint64_t)value : value;
    } else {
        v.f = v.dtype ? args_float_of_bits(v.dtype, arg->value.bits) : arg->value.f;
    }
    return v;
}

static const char *args_value_text(const args_value *v, char *room, size_t n)
{
    if (v->category == TS_PARAM_FLOAT) {
        int used = snprintf(room, n, "the float %.15g", v->f);
        const char *digits = room + strlen("the float ");
        if (strtod(digits, NULL) != v->f)
            snprintf(room, n, "the float %.17g", v->f);
        else if (!strpbrk(digits, ".en")) /* 2.0; not 1e+30, nan, inf */
            snprintf(room + used, n - (size_t)used, ".0");
    } else if (v->category == TS_PARAM_BOOL)
        snprintf(room, n, "%s", v->i ? "True" : "False");
    else
        snprintf(room, n, v->i < 0 ? "the int %lld" : "the int %llu", (long long)v->i);
    return room;
}

static uint32_t args_wanted(const kernel_param *rule)
{
    return rule->dtype ? args_category(rule->dtype) : rule->flags & TS_PARAM_NUMBER;
}

/* A number whose category is above the annotation's: what would have to be cut off is refused. Ints stand for bools. */
static ts_status args_check_category(args_walk *walk, const args_value *v)
{
    const kernel_param *rule = walk->rule;
    char room[64];
    uint32_t wanted = args_wanted(rule);
    if (v->category <= wanted || (rule->flags & TS_PARAM_BOOL && v->category == TS_PARAM_INT))
        return TS_OK;
    const char *text = args_value_text(v, room, sizeof room);
    if (rule->flags & TS_PARAM_BITS)
        return args_fail(walk, TS_TYPE, "is %s but the signature has %s; pass a number of that kind, or change the "
                         "signature", text, args_wanted_text(rule));
    return args_fail(walk, TS_TYPE, "is annotated %s but is %s; pass a number of that kind, or change the annotation",
                     args_wanted_text(rule), text);
}

static double args_real(const args_value *v)
{
    return v->category == TS_PARAM_FLOAT || v->wide ? v->f : (double)v->i;
}

static ts_status args_bits_of(args_walk *walk, const args_value *v, uint8_t dtype, uint64_t *out)
{
    double real = args_real(v);
    float single = (float)real;
    char room[64];
    uint32_t bits = 8 * (uint32_t)ts_dtype_bytes((ts_dtype)dtype);
    bool is_signed = ts_dtype_get((ts_dtype)dtype)->is_signed;
    args_wide one = 1, low = is_signed ? -(one << (bits - 1)) : 0, high = (one << (bits - is_signed)) - 1;
    *out = (uint64_t)v->i;
    if (dtype == TS_DTYPE_float16 || dtype == TS_DTYPE_bfloat16)
        *out = dtype == TS_DTYPE_float16 ? ts__f16_from_f64(real) : ts__bf16_from_f64(real);
    else if (dtype == TS_DTYPE_float32)
        memcpy(out, &single, sizeof single), *out &= UINT32_MAX;
    else if (dtype == TS_DTYPE_float64)
        memcpy(out, &real, sizeof real);
    else if (walk->rule->flags & TS_PARAM_BITS && v->i >= -(one << (bits - 1)) && v->i < one << bits)
        *out &= bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
    else if (v->i < low || v->i > high)
        return args_fail(walk, TS_OVERFLOW, "%s does not fit %s, which the %s; %s a %s dtype",
                         args_value_text(v, room, sizeof room), ts_dtype_name((ts_dtype)dtype),
                         walk->rule->flags & TS_PARAM_BITS ? "signature has" : "annotation names",
                         walk->rule->flags & TS_PARAM_BITS ? "write" : "annotate",
                         v->i < 0 && !is_signed ? "signed" : "wider");
    return TS_OK;
}

/* The number as the annotation of its parameter wants it. */
static ts_status args_annotated(args_walk *walk, const ts_arg *arg, ts_arg *out)
{
    const kernel_param *rule = walk->rule;
    args_value v = args_value_of(arg);
    *out = *arg;
    if (!args_is_converted(v.dtype) || !args_is_converted(rule->dtype))
        return args_fail(walk, TS_TYPE, "is a %s number annotated %s; storage types are not converted, pass a Python "
                         "number or drop the annotation", v.dtype ? ts_dtype_name((ts_dtype)v.dtype) : "Python",
                         args_wanted_text(rule));
    TS_TRY(args_check_category(walk, &v));
    if (rule->dtype) {
        out->kind = TS_SPEC_SCALAR;
        out->dtype = rule->dtype;
        return args_bits_of(walk, &v, rule->dtype, &out->value.bits);
    }
    if (v.category == (rule->flags & TS_PARAM_NUMBER))
        return TS_OK;
    out->dtype = 0;
    if (rule->flags & TS_PARAM_INT) {
        out->kind = TS_SPEC_INT;
        out->value.i = (int64_t)v.i;
    } else {
        out->kind = TS_SPEC_FLOAT;
        out->value.f = args_real(&v);
    }
    return TS_OK;
}

/* Constant: kind, the dtype of a typed number, and its value. */
static ts_status args_constant(args_walk *walk, const ts_arg *arg)
{
    uint64_t kind = args_is_wide(arg) ? TS_SPEC_FLOAT : arg->kind, value = arg->value.bits;
    uint64_t dtype = kind == TS_SPEC_INT ? arg->dtype : 0;
    if (walk->rule->flags & TS_PARAM_NUMBER) {
        args_value v = args_value_of(arg);
        TS_TRY(args_check_category(walk, &v));
    }
    if (arg->kind == TS_SPEC_SCALAR) {
        if (arg->dtype == TS_DTYPE_NONE || !args_is_converted(arg->dtype))
            return args_fail(walk, TS_TYPE, "a %s number cannot be a Constant; pass a Python number",
                             ts_dtype_name((ts_dtype)arg->dtype));
        dtype = arg->dtype;
        bool is_float = args_category(arg->dtype) == TS_PARAM_FLOAT;
        double number = is_float ? args_float_of_bits(arg->dtype, value) : 0;
        kind = is_float ? TS_SPEC_FLOAT : arg->dtype == TS_DTYPE_bool_ ? TS_SPEC_BOOL : TS_SPEC_INT;
        if (is_float)
            memcpy(&value, &number, sizeof value);
        else
            value = (uint64_t)args_int_of_bits(arg->dtype, value);
    }
    TS_TRY(args_word(walk, kind | dtype << WORD_DTYPE));
    return args_word(walk, value);
}

static ts_status args_int(args_walk *walk, const ts_arg *arg)
{
    char room[64];
    if (arg->value.i != (int32_t)arg->value.i || arg->dtype) {
        args_value v = args_value_of(arg);
        return args_fail(walk, TS_OVERFLOW, "%s does not fit int32; annotate the parameter ScalarInt64, or pass a "
                                            "typed number such as numpy.int64(...)",
                         args_value_text(&v, room, sizeof room) + strlen("the int "));
    }
    TS_TRY(args_word(walk, TS_SPEC_SCALAR | (uint64_t)TS_DTYPE_int32 << WORD_DTYPE | (uint64_t)1 << WORD_LOOSE));
    return args_slot(walk, arg->value.bits);
}

static ts_status args_number(args_walk *walk, const ts_arg *arg)
{
    ts_arg made;
    if (args_is_wide(arg) && args_wanted(walk->rule) != TS_PARAM_FLOAT)
        return args_fail(walk, TS_OVERFLOW,
                         "the int %.6g does not fit 64 bits; pass a float, or annotate the parameter "
                                            "float", arg->value.f);
    if (walk->rule->flags & TS_PARAM_CONSTANT)
        return args_constant(walk, arg);
    if (walk->rule->dtype || walk->rule->flags & TS_PARAM_NUMBER) {
        TS_TRY(args_annotated(walk, arg, &made));
        arg = &made;
    }
    if (arg->kind == TS_SPEC_INT)
        return args_int(walk, arg);
    uint64_t dtype = arg->dtype, value = arg->value.bits, loose = 0;
    if (arg->kind == TS_SPEC_FLOAT) {
        float narrow = (float)arg->value.f;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        dtype = TS_DTYPE_float32, value = bits, loose = 1;
    } else if (arg->kind == TS_SPEC_BOOL)
        dtype = TS_DTYPE_bool_, value = arg->value.i != 0, loose = 1;
    else if (dtype == TS_DTYPE_NONE || dtype >= TS_DTYPE_COUNT)
        return args_fail(walk, TS_TYPE, "the number has a dtype that kernels do not know");
    TS_TRY(args_word(walk, TS_SPEC_SCALAR | dtype << WORD_DTYPE | loose << WORD_LOOSE));
    return args_slot(walk, value);
}

/* ---- lists and tuples --------------------------------------------------------------------------------- */

/* Arrays of a list share one description: what is constant in one is the same in all. */
static ts_status args_check_statics(const args_walk *walk, const ts_arg *items, uint32_t i, const int64_t *first,
                                    const int64_t *strides, args_static named)
{
    for (uint32_t d = 0; d < items->rank; d++) {
        if (named.shape >> d & 1 && items[i].shape[d] != items[0].shape[d])
            return args_fail(walk, TS_VALUE, "arrays of the list vary in static shape at axis %u: item 0 has extent "
                             "%lld, item %u %lld; make them equal, or drop the axis from static_shape_dims", d,
                             (long long)items[0].shape[d], i, (long long)items[i].shape[d]);
        if (named.stride >> d & 1 && strides[d] != first[d])
            return args_fail(walk, TS_VALUE, "arrays of the list vary in static stride at axis %u: item 0 has stride "
                             "%lld, item %u %lld; make them equal, or drop the axis from static_stride_dims", d,
                             (long long)first[d], i, (long long)strides[d]);
    }
    return TS_OK;
}

/* The word that all arrays of the list agree on, which is what holds for each, and what follows it. */
static ts_status args_list_words(args_walk *walk, const ts_arg *items, uint32_t n)
{
    uint64_t word = 0;
    uint32_t bytes;
    int64_t strides[2][TS_ARRAY_RANK]; /* of the first, and of another one */
    args_static named = {0, 0};
    const uint64_t all = ~(uint64_t)0 << WORD_UNIT | (uint64_t)1 << WORD_ALIGN16, wide = (uint64_t)1 << WORD_INDEX64;
    for (uint32_t i = 0; i < n; i++) {
        args_array array = {.strides = strides[i > 0]};
        if (items[i].kind != TS_SPEC_ARRAY)
            return args_fail(walk, TS_TYPE, "item %u of the list is not an array; lists hold arrays only%s", i,
                             walk->rule->flags & TS_PARAM_CONSTANT ? ", pass a constant as a tuple" : "");
        TS_TRY(args_check_array(walk, &items[i], &bytes));
        TS_TRY(args_read_array(walk, &items[i], bytes, &array));
        if (i == 0) {
            word = array.word;
            TS_TRY(args_find_statics(walk, items->rank, &named));
        }
        if (items[i].dtype != items[0].dtype || items[i].rank != items[0].rank)
            return args_fail(walk, TS_TYPE, "item %u of the list is %s of %u axes, item 0 is %s of %u axes; they must "
                                            "be alike", i, ts_dtype_name((ts_dtype)items[i].dtype), items[i].rank,
                             ts_dtype_name((ts_dtype)items[0].dtype), items[0].rank);
        word = (word & ~all) | (word & array.word & all) | (array.word & wide);
        TS_TRY(args_check_statics(walk, items, i, strides[0], array.strides, named));
    }
    TS_TRY(args_word(walk, word | (uint64_t)named.shape << WORD_STATIC_SHAPE |
                               (uint64_t)named.stride << WORD_STATIC_STRIDE));
    return args_static_words(walk, items, strides[0], named);
}

void ts__frame_list_item(const ts_arg *array, uint64_t *words)
{
    uint64_t dense = 1;
    words[0] = (uintptr_t)array->value.data;
    for (uint32_t d = array->rank; d-- > 0;) {
        words[1 + d] = (uint64_t)array->shape[d];
        words[1 + array->rank + d] = array->strides ? (uint64_t)array->strides[d] : dense;
        dense *= (uint64_t)array->shape[d]; /* wraps only beside an extent of 0, where no stride is used */
    }
}

static ARGS_RARE ts_status args_list(args_walk *walk, const ts_arg *arg)
{
    launch_frame *frame = walk->frame;
    int64_t n = arg->value.i;
    const kernel_param *rule = walk->rule;
    if (n < 1 || n > (int64_t)(frame->n_args - walk->next))
        return args_fail(walk, TS_VALUE,
                         "a list of %lld arrays cannot be passed; it must hold 1 or more",
                         (long long)n);
    if (frame->n_lists >= LAUNCH_LISTS)
        return args_fail(walk, TS_VALUE, "more than %d lists in one launch; pass fewer", LAUNCH_LISTS);
    const ts_arg *items = frame->args + walk->next;
    TS_TRY(args_word(walk, TS_SPEC_LIST));
    walk->rule = rule->form == TS_PARAM_LIST_OF ? rule->items : rule;
    TS_TRY(args_list_words(walk, items, (uint32_t)n));
    walk->rule = rule;
    frame->lists[frame->n_lists++] = (launch_list){frame->n_params, (uint32_t)walk->next, (uint32_t)n, items->rank};
    walk->next += (size_t)n;
    TS_TRY(args_slot(walk, 0));
    return args_slot(walk, (uint64_t)n);
}

static ts_status args_one(args_walk *walk, uint32_t depth);

/* Whether the items have an annotation each. */
static bool args_has_each(const kernel_param *rule)
{
    return rule->form == TS_PARAM_TUPLE || rule->form == TS_PARAM_RECORD;
}

static ARGS_RARE ts_status args_tuple(args_walk *walk, const ts_arg *arg, uint32_t depth)
{
    int64_t n = arg->value.i;
    const kernel_param *rule = walk->rule;
    if (n < 0 || n > (int64_t)(walk->frame->n_args - walk->next))
        return args_fail(walk, TS_VALUE, "the tuple says it has %lld items, more than were given", (long long)n);
    if (depth >= TS_PARAM_DEPTH)
        return args_fail(walk, TS_VALUE, "tuples are nested more than %d deep", TS_PARAM_DEPTH);
    if (args_has_each(rule) && n != rule->n_items)
        return args_fail(walk, TS_TYPE, "is a tuple of length %lld, but is annotated as a tuple of length %u",
                         (long long)n, rule->n_items);
    TS_TRY(args_word(walk, TS_SPEC_TUPLE));
    TS_TRY(args_word(walk, (uint64_t)n));
    for (int64_t i = 0; i < n; i++) {
        walk->rule = rule->form == TS_PARAM_ANY ? rule : &rule->items[args_has_each(rule) ? i : 0];
        TS_TRY(args_one(walk, depth + 1));
    }
    walk->rule = rule;
    return TS_OK;
}

/* A dataclass or named tuple: its class, then a tuple of its fields. */
static ARGS_RARE ts_status args_record(args_walk *walk, const ts_arg *arg, uint32_t depth)
{
    const launch_frame *frame = walk->frame;
    const ts_arg *fields = walk->next < frame->n_args ? &frame->args[walk->next] : NULL;
    if (!fields || fields->kind != TS_SPEC_TUPLE)
        return args_fail(walk, TS_VALUE, "a record is followed by the tuple of its fields");
    TS_TRY(args_word(walk, TS_SPEC_RECORD));
    TS_TRY(args_word(walk, arg->value.bits));
    walk->next++;
    return args_tuple(walk, fields, depth);
}

/* A real or complex number where a complex one is wanted, or a complex one: the tuple of its parts, converted to those
 * of the annotation. */
static ARGS_RARE ts_status args_complex(args_walk *walk, const ts_arg *arg)
{
    launch_frame *frame = walk->frame;
    const kernel_param *rule = walk->rule;
    const ts_arg zero = {.kind = TS_SPEC_FLOAT}, *parts[2] = {arg, &zero};
    kernel_param part = {.dtype = ts_dtype_get((ts_dtype)rule->dtype)->part};
    bool whole = arg->kind == TS_SPEC_COMPLEX;
    if (whole && (walk->next + 3 > frame->n_args || frame->args[walk->next].kind != TS_SPEC_TUPLE ||
                  frame->args[walk->next].value.i != 2))
        return args_fail(walk, TS_VALUE, "a complex number is followed by the tuple of its two parts");
    if (rule->flags & (TS_PARAM_CONSTANT | TS_PARAM_NUMBER) || (rule->dtype && !part.dtype))
        return args_fail(walk, TS_TYPE, "is annotated %s but is a complex number; change the annotation, or pass a "
                         "part", rule->flags & TS_PARAM_CONSTANT ? "Constant" : args_wanted_text(rule));
    for (uint32_t i = 0; whole && i < 2; i++)
        parts[i] = &frame->args[walk->next + 1 + i];
    TS_TRY(args_word(walk, TS_SPEC_COMPLEX));
    TS_TRY(args_word(walk, TS_SPEC_TUPLE));
    TS_TRY(args_word(walk, 2));
    walk->rule = &part;
    for (uint32_t i = 0; i < 2; i++)
        TS_TRY(args_number(walk, parts[i]));
    walk->rule = rule;
    walk->next += whole ? 3 : 0;
    return TS_OK;
}

/* log2 of what the addresses of all elements are multiples of, up to 16 bytes. */
static uint32_t args_align(const ts_arg *array)
{
    uint64_t bits = (uintptr_t)array->value.data | 16;
    for (uint32_t d = 0; d < array->rank && array->strides; d++)
        bits |= array->shape[d] > 1 ? (uint64_t)array->strides[d] : 0;
    return (uint32_t)__builtin_ctzll(bits);
}

/* An array of what an object of the host describes: the object, then an array of bytes. */
static ARGS_RARE ts_status args_struct(args_walk *walk, const ts_arg *arg)
{
    const launch_frame *frame = walk->frame;
    const ts_arg *array = walk->next < frame->n_args ? &frame->args[walk->next] : NULL;
    if (!array || array->kind != TS_SPEC_ARRAY || array->dtype != TS_DTYPE_uint8 || array->rank > TS_ARRAY_RANK ||
        arg->item_bytes < 1 || arg->item_bytes > INT32_MAX)
        return args_fail(walk, TS_VALUE, "an array of records is followed by an array of uint8, and its elements have "
                         "up to 2 GiB");
    TS_TRY(args_word(walk, TS_SPEC_STRUCT | (uint64_t)args_align(array) << WORD_DTYPE));
    TS_TRY(args_word(walk, arg->value.bits));
    walk->next++;
    walk->item = arg->item_bytes;
    ts_status status = args_array_param(walk, array);
    walk->item = 0;
    return status;
}

/* What is annotated as a bool, a tuple, a list or a class of records is one. */
static ARGS_RARE ts_status args_check_kind(const args_walk *walk, const ts_arg *arg)
{
    const kernel_param *rule = walk->rule;
    bool record = arg->kind == TS_SPEC_RECORD, tuple = arg->kind == TS_SPEC_TUPLE, list = arg->kind == TS_SPEC_LIST;
    const char *is = arg->kind == TS_SPEC_NONE    ? "None"
                     : record                     ? "a dataclass or named tuple"
                     : tuple                      ? "a tuple"
                     : list                       ? "a list"
                     : arg->kind == TS_SPEC_COMPLEX ? "a complex number"
                     : arg->kind == TS_SPEC_ARRAY ? "an array"
                                                  : "a number";
    if ((rule->form == TS_PARAM_TUPLE || rule->form == TS_PARAM_TUPLE_OF) && !tuple && !record)
        return args_fail(walk, TS_TYPE, "is annotated as a tuple but is %s; pass a tuple, or change the annotation",
                         is);
    if (rule->form == TS_PARAM_LIST_OF && !list)
        return args_fail(walk, TS_TYPE,
                         "is annotated as a list but is %s; pass a list of arrays, or change the annotation", is);
    if (rule->form == TS_PARAM_RECORD && !record)
        return args_fail(walk, TS_TYPE, "is annotated with a dataclass or named tuple but is %s; pass an instance of "
                         "that class, or change the annotation", is);
    if (rule->flags & TS_PARAM_BOOL && (arg->kind == TS_SPEC_NONE || tuple || record || list))
        return args_fail(walk, TS_TYPE, "is annotated bool but is %s; pass True or False, or change the annotation",
                         is);
    return TS_OK;
}

static ts_status args_object(args_walk *walk, const ts_arg *arg)
{
    if (!(walk->rule->flags & TS_PARAM_CONSTANT) && !arg->dtype)
        return args_fail(walk, TS_TYPE, "is a text, dtype, enum member, function or other constant of Python; annotate "
                         "the parameter ct.Constant");
    TS_TRY(args_word(walk, TS_SPEC_OBJECT));
    return args_word(walk, arg->value.bits);
}

static ts_status args_one(args_walk *walk, uint32_t depth)
{
    const ts_arg *arg = &walk->frame->args[walk->next++];
    if (walk->next > walk->frame->n_args)
        return args_fail(walk, TS_VALUE, "a tuple says it has more items than were given");
    if (walk->rule->asks & PARAM_ASKS_KIND)
        TS_TRY(args_check_kind(walk, arg));
    switch ((ts_spec_kind)arg->kind) {
    case TS_SPEC_ARRAY:
        return args_array_param(walk, arg);
    case TS_SPEC_SCALAR:
    case TS_SPEC_INT:
    case TS_SPEC_FLOAT:
    case TS_SPEC_BOOL:
        return walk->rule->asks & PARAM_ASKS_COMPLEX ? args_complex(walk, arg) : args_number(walk, arg);
    case TS_SPEC_COMPLEX:
        return args_complex(walk, arg);
    case TS_SPEC_NONE:
        return args_word(walk, TS_SPEC_NONE);
    case TS_SPEC_OBJECT:
        return args_object(walk, arg);
    case TS_SPEC_TUPLE:
        return args_tuple(walk, arg, depth);
    case TS_SPEC_RECORD:
        return args_record(walk, arg, depth);
    case TS_SPEC_LIST:
        return args_list(walk, arg);
    case TS_SPEC_STRUCT:
        return args_struct(walk, arg);
    case TS_SPEC_BLOCK: /* no argument */
        break;
    }
    return args_fail(walk, TS_TYPE, "kernels do not take an argument of kind %u", arg->kind);
}

/* ---- the frame ------------------------------------------------------------------------------------------ */

/* Arguments as the caller counts them: items of tuples and lists belong to theirs. */
static size_t args_top_level(const ts_arg *args, size_t n)
{
    size_t found = 0;
    int64_t items = 0; /* still to come of tuples and lists already counted */
    for (size_t i = 0; i < n; i++) {
        found += items == 0;
        items -= items > 0;
        if (args[i].kind == TS_SPEC_TUPLE || args[i].kind == TS_SPEC_LIST)
            items += args[i].value.i;
        items += args[i].kind == TS_SPEC_RECORD || args[i].kind == TS_SPEC_COMPLEX || args[i].kind == TS_SPEC_STRUCT;
    }
    return found;
}

static ts_status args_wrong_count(const ts_kernel *kernel, const ts_arg *args, size_t n, ts_error *err)
{
    char names[512] = "";
    size_t at = 0, found = args_top_level(args, n);
    for (size_t i = 0; i < kernel->n_params && at + 1 < sizeof names; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "",
                               kernel->params[i].name ? kernel->params[i].name : "?");
    return ts_fail(err, TS_TYPE, "kernel '%s' takes %zu argument%s (%s), got %zu", kernel->name, kernel->n_params,
                   kernel->n_params == 1 ? "" : "s", names, found);
}

ts_status ts__frame_fill(launch_frame *frame, const ts_kernel *kernel, const ts_arg *args, size_t n, ts_error *err)
{
    frame->kernel = kernel;
    frame->args = args;
    frame->n_args = n;
    frame->n_words = frame->n_params = frame->n_lists = frame->n_readonly = frame->n_spans = 0;
    frame->has_device = frame->has_buffers = frame->may_share = false;
    frame->low = UINTPTR_MAX;
    frame->high = 0;
    static const kernel_param no_rule;
    const kernel_param *rule = kernel->params ? kernel->params : &no_rule;
    size_t n_rules = kernel->params ? kernel->n_params : SIZE_MAX, step = kernel->params != NULL;
    args_walk walk = {.frame = frame, .err = err};
    if (n > TS_LAUNCH_ARGS)
        return ts_fail(err, TS_VALUE, "kernel '%s' was given %zu arguments (items of tuples and lists counted); the "
                                      "most is %d", kernel->name, n, TS_LAUNCH_ARGS);
    for (; walk.next < n; walk.param++, rule += step) {
        if (walk.param >= n_rules)
            return args_wrong_count(kernel, args, n, err);
        walk.rule = rule;
        TS_TRY(args_one(&walk, 0));
    }
    return kernel->params && walk.param != kernel->n_params ? args_wrong_count(kernel, args, n, err) : TS_OK;
}

/* ---- key words to specs ----------------------------------------------------------------------------------- */

static ts_spec args_spec_of_word(uint64_t word)
{
    return (ts_spec){
        .kind = (uint8_t)(word & 15),
        .dtype = (uint8_t)(word >> WORD_DTYPE & 31),
        .rank = (uint8_t)(word >> WORD_RANK & 15),
        .index_bits = (word & 15) != TS_SPEC_ARRAY ? 0 : word >> WORD_INDEX64 & 1 ? 64 : 32,
        .align16 = (uint8_t)(word >> WORD_ALIGN16 & 1),
        .unit_stride = (uint8_t)(word >> WORD_UNIT),
        .stride_div16 = (uint8_t)(word >> WORD_STRIDE16),
        .shape_div16 = (uint8_t)(word >> WORD_SHAPE16),
        .shape_one = (uint8_t)(word >> WORD_ONE),
        .static_shape = (uint8_t)(word >> WORD_STATIC_SHAPE),
        .static_stride = (uint8_t)(word >> WORD_STATIC_STRIDE),
        .loose = (uint8_t)(word >> WORD_LOOSE & 1),
    };
}

/* A WORD_SHARED: its array is found by counting those outside lists. */
static void args_spec_shared(uint64_t word, ts_spec *spec, size_t n)
{
    uint32_t left = (uint32_t)(word >> 8 & 255);
    for (size_t i = 0; i < n; i++) {
        if (spec[i].kind == TS_SPEC_LIST)
            i++;
        else if (spec[i].kind == TS_SPEC_ARRAY && left-- == 0) {
            spec[i].same_as = (uint16_t)(word >> 16 & 255);
            spec[i].overlap = (uint8_t)(word >> 24 & 1);
            return;
        }
    }
}

/* The item of one word and of those that follow it. */
static uint32_t args_spec_item(const launch_frame *frame, uint32_t i, ts_spec *s)
{
    *s = args_spec_of_word(frame->words[i++]);
    for (uint32_t d = 0; d < s->rank; d++)
        if (s->static_shape >> d & 1)
            s->dims[d] = (int64_t)frame->words[i++];
    for (uint32_t d = 0; d < s->rank; d++)
        if (s->static_stride >> d & 1)
            s->strides[d] = (int64_t)frame->words[i++];
    if (s->kind == TS_SPEC_LIST)
        s->value = 0; /* any length: it is a run-time parameter */
    else if ((s->kind >= TS_SPEC_INT && s->kind <= TS_SPEC_TUPLE) || s->kind == TS_SPEC_OBJECT ||
             s->kind == TS_SPEC_RECORD || s->kind == TS_SPEC_STRUCT)
        s->value = (int64_t)frame->words[i++];
    if (s->kind == TS_SPEC_STRUCT) {
        s->align = s->dtype;
        s->dtype = 0;
    }
    return i;
}

static void args_spec_block(const uint64_t *words, ts_spec *s)
{
    *s = (ts_spec){.kind = TS_SPEC_BLOCK, .value = (int64_t)words[1],
                   .index_bits = words[0] >> WORD_FEW & 1 ? 32 : 64};
    for (uint32_t i = 0; i < 3; i++)
        s->dims[i] = (int64_t)(words[0] >> (4 + 12 * i) & 4095);
}

size_t ts__frame_spec(const launch_frame *frame, ts_spec *spec)
{
    size_t n = 0;
    for (uint32_t i = 0; i < frame->n_words;)
        if ((frame->words[i] & 15) == WORD_SHARED)
            args_spec_shared(frame->words[i++], spec, n);
        else if ((frame->words[i] & 15) == TS_SPEC_BLOCK) {
            args_spec_block(frame->words + i, &spec[n++]);
            i += 2;
        }
        else if (n < TS_LAUNCH_ARGS)
            i = args_spec_item(frame, i, &spec[n++]);
        else
            break;
    return n;
}
