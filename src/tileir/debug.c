/* SPDX-License-Identifier: Apache-2.0
 *
 * The Debug section: where in the source the operations came from. It holds attributes (files, functions, places,
 * chains of calls) and for each function the numbers of its own attribute and those of its operations, in order:
 *
 *     functions, offsets (u32 each), numbers in all, numbers (u64 each), then a table of attributes
 *
 * Attribute 0 is "unknown"; the others are counted from 1, as m->debug has them. m->loc says which place each is.
 */
#include "tileir/cursor.h"

const char *const ts__tileir_debug_fields[TILEIR_DEBUG_TAGS] = {
    [TILEIR_DEBUG_NONE] = "",
    [TILEIR_DEBUG_UNIT] = "a",            /* file */
    [TILEIR_DEBUG_FILE] = "ss",           /* name, directory */
    [TILEIR_DEBUG_BLOCK] = "aann",        /* scope, file, line, column */
    [TILEIR_DEBUG_LOC] = "asnn",          /* scope, name of the file, line, column */
    [TILEIR_DEBUG_SUBPROGRAM] = "anssan", /* file, line, name, symbol, unit, line of the body */
    [TILEIR_DEBUG_CALL] = "aa",           /* place in the function that is called; place of the call */
};
enum { DEBUG_SCOPES = 64 }; /* of a place, inside each other */

/* ---- places ---------------------------------------------------------------------------------------- */

/* NULL: there is none of this number and tag. */
static const tileir_debug_attr *debug_find(const ts_tileir *m, uint64_t number, uint32_t tag)
{
    const tileir_debug_attr *a = number && number <= m->debug.n ? &m->debug.at[number - 1] : NULL;
    return a && a->tag == tag ? a : NULL;
}

/* The name of the function that a scope lies in: 1 + string. */
static uint32_t debug_function(const ts_tileir *m, uint64_t scope)
{
    const tileir_debug_attr *block;
    for (int i = 0; i < DEBUG_SCOPES && (block = debug_find(m, scope, TILEIR_DEBUG_BLOCK)); i++)
        scope = block->f[0];
    const tileir_debug_attr *function = debug_find(m, scope, TILEIR_DEBUG_SUBPROGRAM);
    return function ? (uint32_t)function->f[2] + 1 : 0;
}

static tileir_loc debug_loc(const ts_tileir *m, uint64_t number)
{
    const tileir_debug_attr *call;
    uint64_t caller = 0, at = number;
    for (int i = 0; i < DEBUG_SCOPES && (call = debug_find(m, at, TILEIR_DEBUG_CALL)); i++) {
        caller = caller ? caller : call->f[1];
        at = call->f[0];
    }
    const tileir_debug_attr *loc = debug_find(m, at, TILEIR_DEBUG_LOC);
    if (!loc)
        return (tileir_loc){0};
    return (tileir_loc){.file = (uint32_t)loc->f[1] + 1, .function = debug_function(m, loc->f[0]), .line = loc->f[2],
                        .col = loc->f[3], .caller = caller == number ? 0 : (uint32_t)caller};
}

bool ts__tileir_find_places(ts_tileir *m)
{
    bool room = TS_PUSH(&m->arena, &m->loc, (tileir_loc){0});
    for (uint32_t i = 1; i <= m->debug.n && room; i++)
        room = TS_PUSH(&m->arena, &m->loc, debug_loc(m, i));
    return room;
}

uint32_t ts__tileir_add_debug(ts_tileir *m, const tileir_debug_attr *attr)
{
    for (uint32_t i = m->debug.n; i; i--)
        if (memcmp(&m->debug.at[i - 1], attr, sizeof *attr) == 0)
            return i;
    return TS_PUSH(&m->arena, &m->debug, *attr) ? m->debug.n : 0;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

/* A problem in here is no problem of the file: the attribute then says nothing. `n`: attributes of the section. */
static tileir_debug_attr debug_read(const tileir_cursor *c, uint32_t n, const uint8_t *at, const uint8_t *end)
{
    ts_error ignored;
    tileir_cursor one = *c;
    one.err = &ignored;
    one.at = one.start = at;
    one.end = end;
    tileir_debug_attr made = {.tag = ts__tileir_index(&one, TILEIR_DEBUG_TAGS, "attribute")};
    const char *fields = ts__tileir_debug_fields[made.tag];
    for (int i = 0; fields[i]; i++)
        made.f[i] = fields[i] == 'n'   ? ts__tileir_varint(&one)
                    : fields[i] == 's' ? ts__tileir_index(&one, c->m->str.n, "string")
                                       : ts__tileir_index(&one, (uint64_t)n + 1, "attribute");
    return tileir_good(&one) ? made : (tileir_debug_attr){0};
}

static void debug_read_table(tileir_cursor *c)
{
    uint32_t n = ts__tileir_count(c, 4, "places");
    ts__tileir_skip(c, 4);
    tileir_cursor offset = *c;
    for (uint32_t i = 0; i < n && tileir_good(c); i++)
        ts__tileir_fixed(c, 4);
    const uint8_t *data = c->at;
    uint64_t size = tileir_good(c) ? (uint64_t)(c->end - data) : 0;
    uint64_t next = n && tileir_good(c) ? (uint32_t)ts__tileir_fixed(&offset, 4) : 0;
    for (uint32_t i = 0; i < n && tileir_good(c); i++) {
        uint64_t first = next;
        next = i + 1 < n ? (uint32_t)ts__tileir_fixed(&offset, 4) : size;
        bool there = first <= next && next <= size;
        tileir_debug_attr made = there ? debug_read(c, n, data + first, data + next) : (tileir_debug_attr){0};
        if (!TS_PUSH(&c->m->arena, &c->m->debug, made))
            ts__tileir_nomem(c);
    }
}

void ts__tileir_read_debug(tileir_cursor *c, tileir_debug *out)
{
    tileir_debug found = {0};
    found.n_fns = ts__tileir_count(c, 4, "functions with places");
    ts__tileir_skip(c, 4);
    found.offsets = c->at;
    for (uint64_t i = 0; i < found.n_fns && tileir_good(c); i++)
        ts__tileir_fixed(c, 4);
    found.n_indices = ts__tileir_count(c, 8, "places");
    ts__tileir_skip(c, 8);
    found.indices = c->at;
    for (uint64_t i = 0; i < found.n_indices && tileir_good(c); i++)
        ts__tileir_fixed(c, 8);
    debug_read_table(c);
    if (tileir_good(c))
        *out = found;
}

tileir_places ts__tileir_places(const tileir_debug *debug, uint64_t function)
{
    if (!function || function > debug->n_fns)
        return (tileir_places){0};
    const uint8_t *at = debug->offsets + 4 * (function - 1);
    uint64_t first = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    if (first >= debug->n_indices)
        return (tileir_places){0};
    return (tileir_places){debug->indices + 8 * first, debug->n_indices - first};
}
