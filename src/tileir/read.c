/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a file: head, sections, tables, functions. Operations are read in read_op.c, their places in debug.c. What
 * comes out refers to nothing outside of itself and is checked by verify.c.
 */
#include "tileir/cursor.h"

static const char read_magic[] = TILEIR_MAGIC;

typedef struct read_file {
    tileir_cursor section[TILEIR_SECTIONS]; /* all zero where there is none */
    tileir_debug debug;
} read_file;

bool ts_tileir_is(const void *bytes, size_t n)
{
    return n >= sizeof read_magic && memcmp(bytes, read_magic, sizeof read_magic) == 0;
}

/* ---- head and sections ----------------------------------------------------------------------------- */

static void read_head(tileir_cursor *c)
{
    for (size_t i = 0; i < sizeof read_magic; i++)
        if (ts__tileir_byte(c) != (uint8_t)read_magic[i]) {
            ts__tileir_bad(c, "Tile IR bytecode begins with 7f 'TileIR' 00, this file does not");
            return;
        }
    uint32_t major = ts__tileir_byte(c), minor = ts__tileir_byte(c);
    int64_t tag = ts__tileir_fixed(c, 2);
    c->m->version = major * 10 + minor;
    if (tileir_good(c) && (minor > 9 || tag || c->m->version < TS_TILEIR_OLDEST || c->m->version > TS_TILEIR_NEWEST))
        ts__tileir_bad(c, "version %u.%u.%lld is not known; 13.1 to 13.4 are", major, minor, (long long)tag);
}

static void read_section(tileir_cursor *c, read_file *file, uint32_t id, bool aligned)
{
    uint64_t n = ts__tileir_varint(c), align = aligned ? ts__tileir_varint(c) : 1;
    if (tileir_good(c) && (align > 4096 || !ts_is_pow2((int64_t)align)))
        ts__tileir_bad(c, "section %u is aligned to %llu; wanted a power of two up to 4096", id,
                       (unsigned long long)align);
    ts__tileir_skip(c, align);
    if (tileir_good(c) && n > (uint64_t)(c->end - c->at))
        ts__tileir_bad(c, "section %u has %llu bytes, but only %zu are left", id, (unsigned long long)n,
                       (size_t)(c->end - c->at));
    if (tileir_good(c) && (id >= TILEIR_SECTIONS || file->section[id].at))
        ts__tileir_bad(c, id < TILEIR_SECTIONS ? "section %u is there twice" : "there is no section %u", id);
    if (!tileir_good(c))
        return;
    file->section[id] = *c;
    file->section[id].start = c->at;
    file->section[id].end = c->at + n;
    c->at += n;
}

static void read_sections(tileir_cursor *c, read_file *file)
{
    while (tileir_good(c)) {
        uint8_t id = ts__tileir_byte(c);
        if ((id & 127) == TILEIR_SECTION_END) {
            if (tileir_good(c) && c->at != c->end)
                ts__tileir_bad(c, "%zu bytes follow the end", (size_t)(c->end - c->at));
            return;
        }
        read_section(c, file, id & 127, id >> 7);
    }
}

/* ---- tables ---------------------------------------------------------------------------------------- */

/* Calls `entry` with a cursor over each entry of a table; offsets have `bytes` bytes. */
static void read_table(tileir_cursor *c, uint32_t bytes, const char *what, void (*entry)(tileir_cursor *))
{
    uint32_t n = ts__tileir_count(c, bytes, what);
    ts__tileir_skip(c, bytes);
    tileir_cursor offsets = *c;
    if (tileir_good(c) && (uint64_t)n * bytes > (uint64_t)(c->end - c->at))
        ts__tileir_bad(c, "the offsets of %u %s do not fit", n, what);
    if (!tileir_good(c))
        return;
    const uint8_t *data = c->at + (uint64_t)n * bytes;
    uint64_t size = (uint64_t)(c->end - data);
    uint64_t next = n ? (uint64_t)ts__tileir_fixed(&offsets, bytes) : 0;
    for (uint32_t i = 0; i < n && tileir_good(c); i++) {
        uint64_t first = next;
        next = i + 1 < n ? (uint64_t)ts__tileir_fixed(&offsets, bytes) : size;
        if (first > next || next > size) {
            ts__tileir_bad(c, "offsets of entry %u of %s are out of order", i, what);
            return;
        }
        tileir_cursor one = *c;
        one.start = one.at = data + first;
        one.end = data + next;
        entry(&one);
        c->status = one.status;
    }
}

static tileir_bytes read_rest(tileir_cursor *c)
{
    tileir_bytes bytes = {ts__arena_text(&c->m->arena, (const char *)c->at, (size_t)(c->end - c->at)),
                          (uint32_t)(c->end - c->at)};
    if (!bytes.at) {
        ts__tileir_nomem(c);
        return (tileir_bytes){"", 0};
    }
    return bytes;
}

static void read_string(tileir_cursor *c)
{
    tileir_bytes bytes = read_rest(c);
    if (tileir_good(c) && !TS_PUSH(&c->m->arena, &c->m->str, bytes))
        ts__tileir_nomem(c);
}

static void read_constant(tileir_cursor *c)
{
    uint32_t n = ts__tileir_count(c, 1, "bytes of a constant");
    if (tileir_good(c) && n != (uint64_t)(c->end - c->at))
        ts__tileir_bad(c, "a constant says that it has %u bytes and has %zu", n, (size_t)(c->end - c->at));
    tileir_bytes bytes = read_rest(c);
    if (tileir_good(c) && !TS_PUSH(&c->m->arena, &c->m->constant, bytes))
        ts__tileir_nomem(c);
}

/* ---- types ----------------------------------------------------------------------------------------- */

/* 1 + an enumeration. */
static uint8_t read_after(tileir_cursor *c)
{
    uint32_t value = ts__tileir_byte(c);
    return (uint8_t)(value < 255 ? value + 1 : value);
}

/* Types refer to earlier and later ones alike; verify.c sees to it that they fit. */
static void read_views(tileir_cursor *c, tileir_type *t)
{
    uint32_t flags = c->m->version >= 133 || t->tag != TILEIR_PARTITION_VIEW ? (uint32_t)ts__tileir_varint(c) : 0;
    t->dims = ts__tileir_list(c, 4);
    if (t->tag == TILEIR_STRIDED_VIEW)
        t->strides = ts__tileir_list(c, 4);
    t->elem = (uint32_t)ts__tileir_varint(c);
    if (t->tag == TILEIR_GATHER_SCATTER_VIEW)
        t->sparse_dim = (uint32_t)ts__tileir_varint(c);
    else
        t->map = ts__tileir_list(c, 4);
    if (c->m->version < 133 && t->tag == TILEIR_PARTITION_VIEW)
        flags = (uint32_t)ts__tileir_varint(c);
    if (flags & 1)
        t->padding = read_after(c);
}

/* Pointers and tensor views say from 13.4 on what kind of pointer theirs is. */
static void read_memory_type(tileir_cursor *c, tileir_type *t)
{
    uint64_t flags = c->m->version >= 134 ? ts__tileir_varint(c) : 0;
    t->elem = (uint32_t)ts__tileir_varint(c);
    if (t->tag == TILEIR_TENSOR_VIEW) {
        t->dims = ts__tileir_list(c, 8);
        t->strides = ts__tileir_list(c, 8);
    }
    if (flags & 1)
        t->attr = read_after(c);
}

static void read_function_type(tileir_cursor *c, tileir_type *t)
{
    TS_VEC(int64_t) all = {0};
    for (int side = 0; side < 2; side++) {
        uint32_t n = ts__tileir_count(c, 1, "types");
        for (uint32_t i = 0; i < n && tileir_good(c); i++)
            if (!TS_PUSH(&c->m->arena, &all, (int64_t)ts__tileir_varint(c)))
                ts__tileir_nomem(c);
        t->n_params = side ? t->n_params : n;
    }
    t->dims = (tileir_list){all.n, all.at};
}

static void read_type(tileir_cursor *c)
{
    tileir_type t = {.tag = (uint32_t)ts__tileir_varint(c)};
    if (ts__tileir_type_since(t.tag) > c->m->version)
        ts__tileir_bad(c, "type %u is newer than version 13.%u", t.tag, c->m->version % 10);
    switch (t.tag) {
    case TILEIR_PTR:
    case TILEIR_TENSOR_VIEW:
        read_memory_type(c, &t);
        break;
    case TILEIR_TILE:
        t.elem = (uint32_t)ts__tileir_varint(c);
        t.dims = ts__tileir_list(c, 8);
        break;
    case TILEIR_FUNCTION:
        read_function_type(c, &t);
        break;
    case TILEIR_PARTITION_VIEW:
    case TILEIR_STRIDED_VIEW:
    case TILEIR_GATHER_SCATTER_VIEW:
        read_views(c, &t);
        break;
    default:
        if (t.tag != TILEIR_TOKEN && !ts__tileir_scalar(t.tag))
            ts__tileir_bad(c, "there is no type of tag %u", t.tag);
    }
    if (tileir_good(c) && c->at != c->end)
        ts__tileir_bad(c, "type %u is followed by %zu bytes that belong to nothing", c->m->type.n,
                       (size_t)(c->end - c->at));
    if (tileir_good(c) && !TS_PUSH(&c->m->arena, &c->m->type, t))
        ts__tileir_nomem(c);
}

/* ---- globals and functions ------------------------------------------------------------------------------ */

static void read_globals(tileir_cursor *c, read_file *file)
{
    (void)file;
    uint32_t n = ts__tileir_count(c, 4, "globals");
    for (uint32_t i = 0; i < n && tileir_good(c); i++) {
        tileir_global g = {
            .name = ts__tileir_index(c, c->m->str.n, "string"),
            .type = ts__tileir_index(c, c->m->type.n, "type"),
            .constant = ts__tileir_index(c, c->m->constant.n, "constant"),
            .align = ts__tileir_index(c, (uint64_t)1 << 31, "alignment"),
        };
        if (c->m->version >= 133) {
            g.is_private = ts__tileir_varint(c) != 0;
            g.is_constant = ts__tileir_varint(c) != 0;
        }
        if (tileir_good(c) && !TS_PUSH(&c->m->arena, &c->m->global, g))
            ts__tileir_nomem(c);
    }
}

static void read_function(tileir_cursor *c, const read_file *file)
{
    tileir_fn fn = {.name = ts__tileir_index(c, c->m->str.n, "string"),
                    .type = ts__tileir_index(c, c->m->type.n, "type")};
    uint8_t flags = ts__tileir_byte(c);
    uint64_t place = ts__tileir_varint(c);
    fn.entry = flags & TILEIR_FN_KERNEL;
    if (fn.entry && flags & TILEIR_FN_HINTS)
        ts__tileir_read_tagged(c, 0, &fn.hints);
    uint64_t n = ts__tileir_varint(c);
    if (tileir_good(c) && n > (uint64_t)(c->end - c->at))
        ts__tileir_bad(c, "a function of %llu bytes does not fit", (unsigned long long)n);
    if (!tileir_good(c))
        return;
    tileir_places places = ts__tileir_places(&file->debug, place);
    tileir_cursor body = *c;
    body.end = c->at + n;
    ts__tileir_read_body(&body, &fn, places);
    c->at += n;
    c->status = body.status;
    if (tileir_good(c) && !TS_PUSH(&c->m->arena, &c->m->fn, fn))
        ts__tileir_nomem(c);
}

static void read_functions(tileir_cursor *c, read_file *file)
{
    uint32_t n = ts__tileir_count(c, 5, "functions");
    for (uint32_t i = 0; i < n && tileir_good(c); i++)
        read_function(c, file);
}

/* ---- the file ---------------------------------------------------------------------------------------- */

typedef void read_fn(tileir_cursor *c, read_file *file);

static void read_strings(tileir_cursor *c, read_file *file)
{
    (void)file;
    read_table(c, 4, "strings", read_string);
}

static void read_producer(tileir_cursor *c, read_file *file)
{
    (void)file;
    c->m->producer = 1 + ts__tileir_index(c, c->m->str.n, "string");
}

static void read_types(tileir_cursor *c, read_file *file)
{
    (void)file;
    read_table(c, 4, "types", read_type);
}

static void read_constants(tileir_cursor *c, read_file *file)
{
    (void)file;
    read_table(c, 8, "constants", read_constant);
}

static void read_debug(tileir_cursor *c, read_file *file)
{
    ts__tileir_read_debug(c, &file->debug);
    if (tileir_good(c) && !ts__tileir_find_places(c->m))
        ts__tileir_nomem(c);
}

/* Sections in the order in which they refer to each other; none has to be there. */
static ts_status read_all(tileir_cursor *c)
{
    static const struct {
        uint32_t id;
        read_fn *read;
    } order[] = {{TILEIR_SECTION_STRING, read_strings}, {TILEIR_SECTION_PRODUCER, read_producer},
                 {TILEIR_SECTION_TYPE, read_types}, {TILEIR_SECTION_CONSTANT, read_constants},
                 {TILEIR_SECTION_GLOBAL, read_globals}, {TILEIR_SECTION_DEBUG, read_debug},
                 {TILEIR_SECTION_FUNC, read_functions}};
    read_file file = {0};
    read_head(c);
    read_sections(c, &file);
    for (size_t i = 0; i < TS_COUNT(order) && tileir_good(c); i++) {
        tileir_cursor *section = &file.section[order[i].id];
        if (section->at == section->end)
            continue;
        order[i].read(section, &file);
        c->status = section->status;
    }
    return c->status;
}

ts_status ts_tileir_read(const void *bytes, size_t n, const ts_alloc *alloc, ts_tileir **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED_N(err, bytes, n);
    const ts_alloc *from = alloc ? alloc : ts_alloc_default();
    ts_tileir *m = from->resize(from->user, NULL, 0, sizeof *m);
    if (!m)
        return ts_fail(err, TS_NOMEM, "out of memory for a module of Tile IR");
    *m = (ts_tileir){0};
    ts__arena_init(&m->arena, from);
    const uint8_t *file = bytes;
    tileir_cursor c = {m, file, file, file, file + n, TS_OK, err};
    ts_status status = read_all(&c);
    if (status == TS_OK)
        status = m->arena.failed ? ts_fail(err, TS_NOMEM, "out of memory while reading Tile IR bytecode")
                                 : ts__tileir_verify(m, err);
    if (status == TS_OK)
        *out = m;
    else
        ts_tileir_destroy(m);
    return status;
}

void ts_tileir_destroy(ts_tileir *m)
{
    if (!m)
        return;
    ts_arena arena = m->arena;
    const ts_alloc *alloc = arena.alloc;
    ts__arena_deinit(&arena);
    alloc->resize(alloc->user, m, sizeof *m, 0);
}

uint32_t ts_tileir_version(const ts_tileir *m)
{
    return m->version;
}

const char *ts_tileir_kernel(const ts_tileir *m, uint32_t i)
{
    return i < m->fn.n ? ts__tileir_str(m, m->fn.at[i].name) : NULL;
}
