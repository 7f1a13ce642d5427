/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers out of bytes; see cursor.h.
 */
#include "tileir/cursor.h"
#include <stdio.h>

void ts__tileir_bad(tileir_cursor *c, const char *format, ...)
{
    char text[400];
    va_list list;
    if (!tileir_good(c))
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    c->status = ts_fail(c->err, TS_PARSE, "Tile IR bytecode, byte %zu: %s", (size_t)(c->at - c->file), text);
    c->at = c->end;
}

void ts__tileir_nomem(tileir_cursor *c)
{
    if (tileir_good(c))
        c->status = ts_fail(c->err, TS_NOMEM, "out of memory while reading Tile IR bytecode");
    c->at = c->end;
}

uint8_t ts__tileir_byte(tileir_cursor *c)
{
    if (c->at < c->end)
        return *c->at++;
    ts__tileir_bad(c, "the file ends in the middle of something");
    return 0;
}

uint64_t ts__tileir_varint(tileir_cursor *c)
{
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        uint8_t byte = ts__tileir_byte(c);
        value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128))
            return tileir_good(c) ? value : 0;
    }
    ts__tileir_bad(c, "a number is longer than 64 bits");
    return 0;
}

int64_t ts__tileir_signed(tileir_cursor *c)
{
    uint64_t value = ts__tileir_varint(c);
    return (int64_t)(value >> 1 ^ (~(value & 1) + 1));
}

uint32_t ts__tileir_index(tileir_cursor *c, uint64_t limit, const char *what)
{
    uint64_t value = ts__tileir_varint(c);
    if (tileir_good(c) && value >= limit)
        ts__tileir_bad(c, "%s %llu does not exist, there are %llu", what, (unsigned long long)value,
                       (unsigned long long)limit);
    return tileir_good(c) ? (uint32_t)value : 0;
}

uint32_t ts__tileir_count(tileir_cursor *c, uint32_t bytes, const char *what)
{
    uint64_t value = ts__tileir_varint(c);
    if (tileir_good(c) && value > (uint64_t)(c->end - c->at) / bytes)
        ts__tileir_bad(c, "%llu %s do not fit the %zu bytes that are left", (unsigned long long)value, what,
                       (size_t)(c->end - c->at));
    return tileir_good(c) ? (uint32_t)value : 0;
}

int64_t ts__tileir_fixed(tileir_cursor *c, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)ts__tileir_byte(c) << 8 * i;
    uint32_t unused = 64 - 8 * bytes;
    return (int64_t)(value << unused) >> unused;
}

tileir_list ts__tileir_list(tileir_cursor *c, uint32_t bytes)
{
    tileir_list list = {ts__tileir_count(c, bytes, "numbers"), NULL};
    list.at = TS_NEW_N(&c->m->arena, int64_t, list.n);
    if (list.n && !list.at) {
        ts__tileir_nomem(c);
        return (tileir_list){0};
    }
    for (uint32_t i = 0; i < list.n; i++)
        list.at[i] = ts__tileir_fixed(c, bytes);
    return list;
}

void ts__tileir_skip(tileir_cursor *c, uint64_t align)
{
    uint64_t rest = align ? (uint64_t)(c->at - c->start) % align : 0;
    for (uint64_t i = rest; i && i < align && tileir_good(c); i++)
        ts__tileir_byte(c);
}
