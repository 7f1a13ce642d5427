/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost report: what the compiler knows of one specialisation of a kernel. docs/performance.md tells how
 * to read it.
 */
#ifndef TESSERA_REPORT_H
#define TESSERA_REPORT_H

#include "tessera/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- notes ------------------------------------------------------------------------------------- */

#define TS_NOTES(X) /* name, what a note of this kind tells */                                     \
    X(load, "how a load reads memory")                                                             \
    X(store, "how a store or atomic writes memory")                                                \
    X(product, "what a matrix product runs on")                                                    \
    X(missed, "a better way that was not taken, and why")                                          \
    X(move, "a tile that changes its layout")                                                      \
    X(pipeline, "loads that run ahead of their loop")                                              \
    X(warning, "something that costs much speed")

typedef enum ts_note_kind {
#define X(name, doc) TS_NOTE_##name,
    TS_NOTES(X)
#undef X
    TS_NOTE_COUNT
} ts_note_kind;

/* One decision about one operation of the kernel. Strings are borrowed from the report. */
typedef struct ts_note_entry {
    uint32_t kind;         /* ts_note_kind */
    uint32_t value;        /* the instruction; equal for notes about the same one */
    uint32_t count;        /* how often it was decided */
    uint32_t line, column; /* of the source; line 0 = unknown */
    const char *file;
    const char *what;      /* one word: "tma", "cp.async", "vector", "wgmma", "shared" */
    const char *text;
} ts_note_entry;

#ifdef __cplusplus
}
#endif
#endif
