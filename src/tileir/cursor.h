/* SPDX-License-Identifier: Apache-2.0
 *
 * A place in the bytes of a file. The first problem is kept; everything read after it is 0 or empty, so callers look
 * at `status` once, and in loops.
 */
#ifndef TS_TILEIR_CURSOR_H
#define TS_TILEIR_CURSOR_H

#include "tileir/tileir.h"

typedef struct tileir_cursor {
    ts_tileir *m;
    const uint8_t *file, *start, *at, *end; /* file: for offsets in messages; start: of the section, for alignment */
    ts_status status;
    ts_error *err;
} tileir_cursor;

/* Notes a problem, with the offset in the file. */
void ts__tileir_bad(tileir_cursor *c, const char *format, ...) TS_PRINTF(2, 3);
void ts__tileir_nomem(tileir_cursor *c);
static inline bool tileir_good(const tileir_cursor *c)
{
    return c->status == TS_OK;
}

uint8_t ts__tileir_byte(tileir_cursor *c);
uint64_t ts__tileir_varint(tileir_cursor *c);
int64_t ts__tileir_signed(tileir_cursor *c);
/* A number below `limit`; `what` names it in the message. */
uint32_t ts__tileir_index(tileir_cursor *c, uint64_t limit, const char *what);
/* A count of things of at least `bytes` bytes each, so that a broken count cannot ask for much memory. */
uint32_t ts__tileir_count(tileir_cursor *c, uint32_t bytes, const char *what);
/* Little endian, sign-extended. */
int64_t ts__tileir_fixed(tileir_cursor *c, uint32_t bytes);
/* A count, then so many numbers of `bytes` bytes, in the module's memory. */
tileir_list ts__tileir_list(tileir_cursor *c, uint32_t bytes);
/* To the next multiple of `align` bytes of the section. */
void ts__tileir_skip(tileir_cursor *c, uint64_t align);

/* read_op.c: an attribute of a kind, without tag; one with its tag; the body of a function. */
void ts__tileir_read_attr(tileir_cursor *c, tileir_kind kind, uint32_t depth, tileir_attr *out);
void ts__tileir_read_tagged(tileir_cursor *c, uint32_t depth, tileir_attr *out);
/* `place`: numbers of the places of its operations, n of them. */
typedef struct tileir_places {
    const uint8_t *at; /* 8 bytes each */
    uint64_t n;
} tileir_places;
void ts__tileir_read_body(tileir_cursor *c, tileir_fn *fn, tileir_places places);

/* debug.c: the Debug section; the places of a function's operations, its own first. */
typedef struct tileir_debug {
    const uint8_t *offsets, *indices; /* 4 bytes for each function, 8 for each operation */
    uint64_t n_fns, n_indices;
} tileir_debug;
void ts__tileir_read_debug(tileir_cursor *c, tileir_debug *out);
tileir_places ts__tileir_places(const tileir_debug *debug, uint64_t function);

#endif
