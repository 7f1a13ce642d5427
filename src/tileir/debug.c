/* SPDX-License-Identifier: Apache-2.0
 *
 * The Debug section: where in the source the operations came from. It holds attributes (files, functions, places,
 * chains of calls) and for each function the numbers of its own attribute and those of its operations, in order:
 *
 *     functions, offsets (u32 each), numbers in all, numbers (u64 each), then a table of attributes
 *
 * Attribute 0 is "unknown"; the others are counted from 1. Only places are kept: m->loc, by attribute number.
 */
#include "tileir/cursor.h"

enum { DEBUG_UNIT = 1, DEBUG_FILE, DEBUG_BLOCK, DEBUG_LOC, DEBUG_SUBPROGRAM, DEBUG_CALL };
enum { DEBUG_SCOPES = 64 }; /* of a place, inside each other */

typedef struct debug_table {
    const uint8_t *offsets, *data, *end;
    uint32_t n;
} debug_table;

/* A cursor over attribute `number`, behind its tag; an empty one where there is none. */
static tileir_cursor debug_at(const tileir_cursor *c, const debug_table *table, uint64_t number, uint64_t *tag)
{
    tileir_cursor one = *c, offset = *c;
    one.at = one.end = table->end;
    *tag = 0;
    if (!number || number > table->n)
        return one;
    offset.at = table->offsets + 4 * (number - 1);
    offset.end = table->data;
    uint64_t first = (uint32_t)ts__tileir_fixed(&offset, 4);
    uint64_t size = (uint64_t)(table->end - table->data);
    uint64_t next = number < table->n ? (uint32_t)ts__tileir_fixed(&offset, 4) : size;
    if (first > next || next > size)
        return one;
    one.start = one.at = table->data + first;
    one.end = table->data + next;
    *tag = ts__tileir_varint(&one);
    return one;
}

/* The name of the function that a scope lies in: 1 + string. */
static uint32_t debug_function(const tileir_cursor *c, const debug_table *table, uint64_t scope)
{
    for (int i = 0; i < DEBUG_SCOPES; i++) {
        uint64_t tag;
        tileir_cursor one = debug_at(c, table, scope, &tag);
        if (tag == DEBUG_SUBPROGRAM) {
            ts__tileir_varint(&one); /* file */
            ts__tileir_varint(&one); /* line */
            uint64_t name = ts__tileir_varint(&one);
            return name < c->m->str.n ? (uint32_t)name + 1 : 0;
        }
        if (tag != DEBUG_BLOCK)
            return 0;
        scope = ts__tileir_varint(&one);
    }
    return 0;
}

/* A problem in here is no problem of the file: the place is then unknown. */
static tileir_loc debug_loc(const tileir_cursor *c, const debug_table *table, uint64_t number)
{
    uint64_t tag, callee_tag;
    ts_error ignored;
    tileir_cursor quiet = *c;
    quiet.err = &ignored;
    tileir_cursor one = debug_at(&quiet, table, number, &tag);
    uint32_t caller = 0;
    for (int i = 0; tag == DEBUG_CALL && i < DEBUG_SCOPES; i++) {
        tileir_cursor callee = debug_at(&quiet, table, ts__tileir_varint(&one), &callee_tag);
        uint64_t call = ts__tileir_varint(&one);
        caller = caller ? caller : call <= table->n ? (uint32_t)call : 0;
        one = callee;
        tag = callee_tag;
    }
    if (tag != DEBUG_LOC)
        return (tileir_loc){0};
    tileir_loc loc = {.caller = caller};
    loc.function = debug_function(&quiet, table, ts__tileir_varint(&one));
    uint64_t file = ts__tileir_varint(&one);
    loc.file = file < c->m->str.n ? (uint32_t)file + 1 : 0;
    loc.line = ts__tileir_varint(&one);
    loc.col = ts__tileir_varint(&one);
    loc.caller = loc.caller == number ? 0 : loc.caller;
    return tileir_good(&one) ? loc : (tileir_loc){0};
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
    debug_table table = {.n = ts__tileir_count(c, 4, "places")};
    ts__tileir_skip(c, 4);
    table.offsets = c->at;
    for (uint32_t i = 0; i < table.n && tileir_good(c); i++)
        ts__tileir_fixed(c, 4);
    table.data = c->at;
    table.end = c->end;
    for (uint32_t i = 1; i <= table.n && tileir_good(c); i++)
        if (!TS_PUSH(&c->m->arena, &c->m->loc, debug_loc(c, &table, i)))
            ts__tileir_nomem(c);
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
