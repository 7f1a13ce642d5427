/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared libraries looked for at run time, by a table of their functions (library.c).
 */
#ifndef TS_BASE_LIBRARY_H
#define TS_BASE_LIBRARY_H

#include "base/base.h"

/* One function of a library. */
typedef struct ts_library_row {
    const char *symbol;
    size_t offset; /* of its pointer in the struct of the table */
    int version;   /* for a `find`; 0: the library has one form of it */
    bool need;     /* false: a NULL that callers test */
} ts_library_row;
typedef void *ts_library_find(const void *user, const ts_library_row *row); /* NULL: it is not there */

void *ts__library_open(const char *name); /* a path, or what the loader looks for; NULL: it cannot be loaded */
const char *ts__library_problem(void);    /* why the last open of this thread failed; until the next call */
void ts__library_close(void *library);    /* NULL is fine */
/* One function's pointer into *out, NULL where it is not there. */
void ts__library_symbol(void *library, const char *symbol, void *out);
/* The file of the library that holds an address, borrowed while it is loaded; "": none does. */
const char *ts__library_file(const void *address);
/* Puts the pointers of all rows into the struct `out`; `find` NULL: by symbol. The symbol of the first needed function
 * that is missing, where it stops, or NULL. */
const char *ts__library_fill(void *library, const ts_library_row *rows, size_t n, ts_library_find *find,
                             const void *user, void *out);

#endif
