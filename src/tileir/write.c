/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a module as a file of a version. What came later than the version is an error that names it; tables keep their
 * order, values get the numbers that a reader counts.
 */
#include "ir/ir.h"
#include "tileir/tileir.h"

enum { WRITE_PAD = 0xCB };

typedef struct writer {
    const ts_tileir *m;
    uint32_t version;
    const tileir_fn *fn;
    ts_text *out;     /* what is written at the moment */
    uint32_t *number; /* of each value of the function in the file */
    uint32_t next;
    ts_text places;   /* of all functions and their operations: u64 each */
    ts_text starts;   /* where those of each function begin among them: u32 each */
    ts_error *err;
} writer;

static ts_status write_later(const writer *w, const char *what, uint32_t since)
{
    return ts_fail(w->err, TS_UNSUPPORTED, "Tile IR 13.%u cannot say %s, which needs 13.%u", w->version % 10, what,
                   since % 10);
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static void write_varint(ts_text *out, uint64_t value)
{
    for (; value > 127; value >>= 7)
        ts__text_putc(out, (char)(value | 128));
    ts__text_putc(out, (char)value);
}

static void write_signed(ts_text *out, int64_t value)
{
    write_varint(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void write_fixed(ts_text *out, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        ts__text_putc(out, (char)(value >> 8 * i));
}

static void write_list(ts_text *out, uint32_t n, const int64_t *at, uint32_t bytes)
{
    write_varint(out, n);
    for (uint32_t i = 0; i < n; i++)
        write_fixed(out, (uint64_t)at[i], bytes);
}

static void write_pad(ts_text *out, size_t align)
{
    for (size_t n = -out->n & (align - 1); n; n--) /* the text does not grow where memory is out */
        ts__text_putc(out, (char)WRITE_PAD);
}

/* ---- attributes ----------------------------------------------------------------------------------------- */

static void write_attr(const writer *w, const tileir_attr *a, bool tagged);

static void write_items(const writer *w, const tileir_attr *a)
{
    write_varint(w->out, a->n);
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->names)
            write_varint(w->out, a->names[i]);
        write_attr(w, &a->items[i], true);
    }
}

static void write_assumption(const writer *w, const tileir_attr *a)
{
    bool div = a->kind == TILEIR_KIND_div_by;
    if (div)
        write_varint(w->out, (uint64_t)a->numbers[0]);
    ts__text_putc(w->out, (char)a->has);
    for (uint32_t i = 0; i < 2; i++)
        if (a->has >> i & 1)
            write_signed(w->out, a->numbers[div + i]);
}

static void write_attr(const writer *w, const tileir_attr *a, bool tagged)
{
    bool assumption = a->kind == TILEIR_KIND_div_by || a->kind == TILEIR_KIND_same || a->kind == TILEIR_KIND_bounded;
    if (tagged || assumption)
        write_varint(w->out, a->kind);
    if (tagged && (a->kind == TILEIR_KIND_int || a->kind == TILEIR_KIND_float || a->kind == TILEIR_KIND_dense))
        write_varint(w->out, a->type);
    switch (a->kind) {
    case TILEIR_KIND_int:
    case TILEIR_KIND_str:
    case TILEIR_KIND_dense:
        write_varint(w->out, a->value);
        break;
    case TILEIR_KIND_type:
        write_varint(w->out, a->type);
        break;
    case TILEIR_KIND_float:
        if (ts__tileir_is_byte(w->m, a->type))
            ts__text_putc(w->out, (char)a->value);
        else
            write_signed(w->out, (int64_t)a->value);
        break;
    case TILEIR_KIND_array:
    case TILEIR_KIND_dict:
    case TILEIR_KIND_hints:
        write_items(w, a);
        break;
    case TILEIR_KIND_div_by:
    case TILEIR_KIND_bounded:
        write_assumption(w, a);
        break;
    case TILEIR_KIND_same:
        write_list(w->out, a->n, a->numbers, 8);
        break;
    case TILEIR_KIND_words:
        write_list(w->out, a->n, a->numbers, 4);
        break;
    case TILEIR_KIND_bools:
        write_list(w->out, a->n, a->numbers, 1);
        break;
    default: /* bool and enumerations */
        ts__text_putc(w->out, (char)a->value);
    }
}

/* ---- types ------------------------------------------------------------------------------------------------ */

static ts_status write_memory_type(const writer *w, const tileir_type *t)
{
    if (w->version >= 134)
        write_varint(w->out, t->attr != 0);
    else if (t->attr)
        return write_later(w, "which kind of pointer a pointer is", 134);
    write_varint(w->out, t->elem);
    if (t->tag == TILEIR_TENSOR_VIEW) {
        write_list(w->out, t->dims.n, t->dims.at, 8);
        write_list(w->out, t->strides.n, t->strides.at, 8);
    }
    if (t->attr)
        ts__text_putc(w->out, (char)(t->attr - 1));
    return TS_OK;
}

static ts_status write_view(const writer *w, const tileir_type *t)
{
    bool old = w->version < 133;
    if (!old)
        write_varint(w->out, t->padding != 0);
    write_list(w->out, t->dims.n, t->dims.at, 4);
    if (t->tag == TILEIR_STRIDED_VIEW)
        write_list(w->out, t->strides.n, t->strides.at, 4);
    write_varint(w->out, t->elem);
    if (t->tag == TILEIR_GATHER_SCATTER_VIEW)
        write_varint(w->out, t->sparse_dim);
    else
        write_list(w->out, t->map.n, t->map.at, 4);
    if (old)
        write_varint(w->out, t->padding != 0);
    if (t->padding)
        ts__text_putc(w->out, (char)(t->padding - 1));
    return TS_OK;
}

static ts_status write_type(const writer *w, const tileir_type *t)
{
    if (ts__tileir_type_since(t->tag) > w->version)
        return write_later(w, "a type", ts__tileir_type_since(t->tag));
    write_varint(w->out, t->tag);
    switch (t->tag) {
    case TILEIR_PTR:
    case TILEIR_TENSOR_VIEW:
        return write_memory_type(w, t);
    case TILEIR_TILE:
        write_varint(w->out, t->elem);
        write_list(w->out, t->dims.n, t->dims.at, 8);
        return TS_OK;
    case TILEIR_FUNCTION:
        write_varint(w->out, t->n_params);
        for (uint32_t i = 0; i < t->dims.n; i++) {
            if (i == t->n_params)
                write_varint(w->out, t->dims.n - t->n_params);
            write_varint(w->out, (uint64_t)t->dims.at[i]);
        }
        if (t->dims.n == t->n_params)
            write_varint(w->out, 0);
        return TS_OK;
    case TILEIR_PARTITION_VIEW:
    case TILEIR_STRIDED_VIEW:
    case TILEIR_GATHER_SCATTER_VIEW:
        return write_view(w, t);
    default:
        return TS_OK;
    }
}

/* ---- operations ------------------------------------------------------------------------------------------- */

static ts_status write_region(writer *w, const tileir_region *region);

static bool write_is_default(const tileir_attr *a, uint32_t before)
{
    bool set = a->value != before;
    for (uint32_t i = 0; a->kind == TILEIR_KIND_bools && i < a->n; i++)
        set |= a->numbers[i] != 0;
    return !set;
}

/* Before 13.2 print_tko had no token. */
static bool write_has_results(const writer *w, const tileir_op *op)
{
    return op->code != TILEIR_print_tko || w->version >= 132;
}

static void write_results(const writer *w, const tileir_op *op, const tileir_item *item)
{
    uint32_t n = write_has_results(w, op) ? op->n_results : 0;
    if (item->n == TILEIR_MANY)
        write_varint(w->out, n);
    for (uint32_t i = 0; i < n; i++)
        write_varint(w->out, w->fn->value.at[op->first_result + i]);
}

static ts_status write_operands(const writer *w, const tileir_op *op, const tileir_item *item, const uint32_t *first,
                                uint32_t n)
{
    if (item->n == TILEIR_MANY)
        write_varint(w->out, n);
    for (uint32_t i = 0; i < n; i++) {
        if (w->number[first[i]] == UINT32_MAX)
            return write_later(w, "the token of a print", 132);
        write_varint(w->out, w->number[first[i]]);
    }
    (void)op;
    return TS_OK;
}

/* Values are counted as a reader does: those of a region are free again behind it. */
static void write_count(writer *w, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        w->number[first + i] = w->next++;
}

static ts_status write_item(writer *w, const tileir_op *op, const tileir_item *item, uint32_t *attr, uint32_t *group)
{
    const char *name = ts__tileir_rows[op->code].name;
    bool there = item->since <= w->version;
    if (item->what == '=')
        write_results(w, op, item);
    else if (item->what == '!') {
        if (!there && op->flags)
            return op->code == TILEIR_print_tko ? write_later(w, "the token of a print", 132)
                                                : write_later(w, name, item->since);
        if (there)
            write_varint(w->out, op->flags);
    } else if (item->what == 'a') {
        const tileir_attr *a = &op->attr[(*attr)++];
        if (!there && !write_is_default(a, item->before))
            return write_later(w, name, item->since);
        if (there && a->kind)
            write_attr(w, a, false);
    } else if (item->what == '%') {
        uint32_t first = 0;
        for (uint32_t g = 0; g < *group; g++)
            first += op->group[g];
        uint32_t n = op->group[(*group)++];
        return write_operands(w, op, item, op->opnd + first, n);
    } else {
        write_varint(w->out, op->n_regions);
        for (uint32_t i = 0; i < op->n_regions; i++)
            TS_TRY(write_region(w, &op->region[i]));
    }
    return TS_OK;
}

static ts_status write_op(writer *w, const tileir_op *op)
{
    const tileir_row *row = &ts__tileir_rows[op->code];
    const char *at = row->recipe;
    tileir_item item;
    uint32_t attr = 0, group = 0;
    if (row->since > w->version)
        return write_later(w, row->name, row->since);
    write_fixed(&w->places, op->loc, 8);
    write_varint(w->out, row->opcode);
    while (ts__tileir_next(&at, &item))
        TS_TRY(write_item(w, op, &item, &attr, &group));
    if (write_has_results(w, op))
        write_count(w, op->first_result, op->n_results);
    return TS_OK;
}

static ts_status write_region(writer *w, const tileir_region *region)
{
    uint32_t next = w->next;
    write_varint(w->out, region->n_blocks);
    if (!region->n_blocks)
        return TS_OK;
    write_varint(w->out, region->n_args);
    for (uint32_t i = 0; i < region->n_args; i++)
        write_varint(w->out, w->fn->value.at[region->first_arg + i]);
    write_count(w, region->first_arg, region->n_args);
    write_varint(w->out, region->op.n);
    for (uint32_t i = 0; i < region->op.n; i++)
        TS_TRY(write_op(w, &region->op.at[i]));
    w->next = next;
    return TS_OK;
}

/* ---- functions and sections ---------------------------------------------------------------------------------- */

static ts_status write_body(writer *w, const tileir_fn *fn)
{
    const ts_alloc *alloc = w->m->arena.alloc;
    size_t bytes = sizeof(uint32_t) * (fn->value.n + 1);
    w->fn = fn;
    w->next = 0;
    w->number = alloc->resize(alloc->user, NULL, 0, bytes);
    if (!w->number)
        return ts_fail(w->err, TS_NOMEM, "out of memory while writing Tile IR bytecode");
    memset(w->number, 255, bytes);
    write_count(w, fn->body.first_arg, fn->body.n_args);
    ts_status status = TS_OK;
    for (uint32_t i = 0; i < fn->body.op.n && status == TS_OK; i++)
        status = write_op(w, &fn->body.op.at[i]);
    alloc->resize(alloc->user, w->number, bytes, 0);
    return status;
}

static ts_status write_fn(writer *w, const tileir_fn *fn)
{
    ts_text *out = w->out, body;
    write_varint(out, fn->name);
    write_varint(out, fn->type);
    ts__text_putc(out, (char)((fn->entry ? TILEIR_FN_KERNEL : 0) | (fn->hints.kind ? TILEIR_FN_HINTS : 0)));
    write_fixed(&w->starts, w->places.n / 8, 4);
    write_fixed(&w->places, fn->loc, 8);
    write_varint(out, w->m->debug.n ? w->starts.n / 4 : 0);
    if (fn->hints.kind)
        write_attr(w, &fn->hints, true);
    ts__text_init(&body, w->m->arena.alloc);
    w->out = &body;
    ts_status status = write_body(w, fn);
    w->out = out;
    write_varint(out, body.n);
    ts__text_put(out, body.at, body.n);
    out->failed |= body.failed;
    ts__text_deinit(&body);
    return status;
}

static ts_status write_functions(writer *w)
{
    write_varint(w->out, w->m->fn.n);
    for (uint32_t i = 0; i < w->m->fn.n; i++)
        TS_TRY(write_fn(w, &w->m->fn.at[i]));
    return TS_OK;
}

static ts_status write_globals(writer *w)
{
    write_varint(w->out, w->m->global.n);
    for (uint32_t i = 0; i < w->m->global.n; i++) {
        const tileir_global *g = &w->m->global.at[i];
        write_varint(w->out, g->name);
        write_varint(w->out, g->type);
        write_varint(w->out, g->constant);
        write_varint(w->out, g->align);
        if (w->version >= 133) {
            write_varint(w->out, g->is_private);
            write_varint(w->out, g->is_constant);
        }
    }
    return TS_OK;
}

static ts_status write_producer(writer *w)
{
    write_varint(w->out, w->m->producer - 1);
    return TS_OK;
}

/* A table: its entries are written behind each other into `data`, and their offsets before that. */
static ts_status write_table(writer *w, uint32_t n, uint32_t bytes, ts_status (*entry)(writer *w, uint32_t i))
{
    ts_text *out = w->out, data;
    ts_status status = TS_OK;
    ts__text_init(&data, w->m->arena.alloc);
    write_varint(out, n);
    write_pad(out, bytes);
    w->out = &data;
    for (uint32_t i = 0; i < n && status == TS_OK; i++) {
        write_fixed(out, data.n, bytes);
        status = entry(w, i);
    }
    w->out = out;
    ts__text_put(out, data.at, data.n);
    out->failed |= data.failed;
    ts__text_deinit(&data);
    return status;
}

static ts_status write_one_string(writer *w, uint32_t i)
{
    ts__text_put(w->out, w->m->str.at[i].at, w->m->str.at[i].n);
    return TS_OK;
}

static ts_status write_one_constant(writer *w, uint32_t i)
{
    write_varint(w->out, w->m->constant.at[i].n);
    ts__text_put(w->out, w->m->constant.at[i].at, w->m->constant.at[i].n);
    return TS_OK;
}

static ts_status write_one_type(writer *w, uint32_t i)
{
    return write_type(w, &w->m->type.at[i]);
}

static ts_status write_strings(writer *w)
{
    return write_table(w, w->m->str.n, 4, write_one_string);
}

static ts_status write_constants(writer *w)
{
    return write_table(w, w->m->constant.n, 8, write_one_constant);
}

static ts_status write_types(writer *w)
{
    return write_table(w, w->m->type.n, 4, write_one_type);
}

/* An attribute that could not be read is written as a unit of no file, which says as little. */
static ts_status write_one_debug(writer *w, uint32_t i)
{
    const tileir_debug_attr *a = &w->m->debug.at[i];
    uint32_t tag = a->tag ? a->tag : TILEIR_DEBUG_UNIT;
    write_varint(w->out, tag);
    for (uint32_t k = 0; ts__tileir_debug_fields[tag][k]; k++)
        write_varint(w->out, a->f[k]);
    return TS_OK;
}

/* After the functions, which leave their places. */
static ts_status write_debug(writer *w)
{
    write_varint(w->out, w->starts.n / 4);
    write_pad(w->out, 4);
    ts__text_put(w->out, w->starts.at, w->starts.n);
    write_varint(w->out, w->places.n / 8);
    write_pad(w->out, 8);
    ts__text_put(w->out, w->places.at, w->places.n);
    return write_table(w, w->m->debug.n, 4, write_one_debug);
}

static ts_status write_section(writer *w, uint32_t id, uint32_t align, ts_status (*contents)(writer *))
{
    ts_text *out = w->out, data;
    ts__text_init(&data, w->m->arena.alloc);
    w->out = &data;
    ts_status status = contents(w);
    w->out = out;
    ts__text_putc(out, (char)(id | (align > 1 ? 128 : 0)));
    write_varint(out, data.n);
    if (align > 1) {
        write_varint(out, align);
        write_pad(out, align);
    }
    ts__text_put(out, data.at, data.n);
    out->failed |= data.failed;
    ts__text_deinit(&data);
    return status;
}

static ts_status write_file(writer *w)
{
    ts__text_put(w->out, TILEIR_MAGIC, sizeof TILEIR_MAGIC);
    write_fixed(w->out, w->version / 10, 1);
    write_fixed(w->out, w->version % 10, 3);
    TS_TRY(write_section(w, TILEIR_SECTION_FUNC, 8, write_functions));
    if (w->m->global.n)
        TS_TRY(write_section(w, TILEIR_SECTION_GLOBAL, 1, write_globals));
    if (w->m->producer && w->version >= 133)
        TS_TRY(write_section(w, TILEIR_SECTION_PRODUCER, 1, write_producer));
    TS_TRY(write_section(w, TILEIR_SECTION_CONSTANT, 8, write_constants));
    if (w->m->debug.n)
        TS_TRY(write_section(w, TILEIR_SECTION_DEBUG, 8, write_debug));
    TS_TRY(write_section(w, TILEIR_SECTION_TYPE, 4, write_types));
    TS_TRY(write_section(w, TILEIR_SECTION_STRING, 4, write_strings));
    ts__text_putc(w->out, TILEIR_SECTION_END);
    return TS_OK;
}

ts_status ts_tileir_write(const ts_tileir *module, uint32_t version, const ts_alloc *alloc, char **out, size_t *n,
                          ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, module, n);
    const ts_tileir *m = module;
    ts_text file;
    if (version < TS_TILEIR_OLDEST || version > TS_TILEIR_NEWEST)
        return ts_fail(err, TS_VALUE, "Tile IR %u.%u is not known; 13.1 to 13.4 are", version / 10, version % 10);
    ts__text_init(&file, alloc ? alloc : ts_alloc_default());
    writer w = {.m = m, .version = version, .out = &file, .err = err};
    ts__text_init(&w.places, m->arena.alloc);
    ts__text_init(&w.starts, m->arena.alloc);
    ts_status status = write_file(&w);
    file.failed |= w.places.failed | w.starts.failed;
    ts__text_deinit(&w.places);
    ts__text_deinit(&w.starts);
    if (status == TS_OK)
        return ts__text_take(&file, out, n, err);
    ts__text_deinit(&file);
    return status;
}
