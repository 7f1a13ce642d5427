/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost report: what the compiler knows of one specialisation of a kernel. Work is counted from the tile
 * IR, symbolically in the loops and evaluated for the arguments of one launch; decisions come as notes of
 * the code that took them; a table of peak rates turns both into a roof. docs/performance.md tells how to read it.
 *
 * A report compiles the kernel anew (milliseconds) and runs nothing.
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
TS_API const char *ts_note_kind_name(uint32_t kind);

/* One decision about one operation of the kernel. Strings are borrowed from the report. */
typedef struct ts_note_entry {
    uint32_t kind;         /* ts_note_kind */
    uint32_t value;        /* the instruction; equal for notes about the same one */
    uint32_t count;        /* how often it was decided */
    uint32_t line, column; /* of the source; line 0 = unknown */
    uint32_t call_line;    /* in a helper: the line that calls it; else 0 */
    const char *file;
    const char *what;      /* one word: "tma", "cp.async", "vector", "wgmma", "shared" */
    const char *text;
} ts_note_entry;

/* ---- work ---------------------------------------------------------------------------------------- */

/* What is counted, element by element of whole tiles (parts of tiles outside an array count too):
 *   bytes     of loads, stores and atomics, as asked for: what several blocks load counts several times
 *   tensor_*  2 M N K of a matrix product, by the type of its operands; products of f32 count as f32
 *   f16 ..    additions, multiplications, comparisons, maxima: 1; fused multiply-add: 2
 *   integer   operations on tiles of integers; scalars are free
 *   special   division, square root, exponential, logarithm, trigonometry: 1, however they are computed */
#define TS_WORK(X) /* name, unit */                                                                \
    X(load, "B")                                                                                   \
    X(store, "B")                                                                                  \
    X(atomic, "B")                                                                                 \
    X(tensor_f16, "flop")                                                                          \
    X(tensor_tf32, "flop")                                                                         \
    X(tensor_f8, "flop")                                                                           \
    X(tensor_i8, "op")                                                                             \
    X(tensor_f64, "flop")                                                                          \
    X(f16, "flop")                                                                                 \
    X(f32, "flop")                                                                                 \
    X(f64, "flop")                                                                                 \
    X(integer, "op")                                                                               \
    X(special, "op")

typedef enum ts_work {
#define X(name, unit) TS_WORK_##name,
    TS_WORK(X)
#undef X
    TS_WORK_COUNT
} ts_work;
TS_API const char *ts_work_name(uint32_t work); /* "tensor_f16" */
TS_API const char *ts_work_unit(uint32_t work);

/* A region of the kernel with the work of one run through it, without the regions inside. Nest 0 is the body. */
typedef struct ts_nest {
    uint32_t line, parent;
    const char *what;      /* "block", "for", "loop", "if", "else" */
    const char *trips;     /* of a `for`: how often it runs, as text: "cdiv(a.shape[1], 64)"; "" for others */
    double runs;           /* in the whole launch; 0 when not evaluated */
    double work[TS_WORK_COUNT];
} ts_nest;

/* An array argument: its size, and what the launch asks of it. */
typedef struct ts_traffic {
    char name[64];
    uint32_t param;        /* of its pointer */
    double bytes;          /* of the array; 0 = unknown */
    double load, store;    /* whole launch */
} ts_traffic;

/* ---- the machine ------------------------------------------------------------------------------------ */

/* Peak rates. Rates of work are per SM and clock; those of memory are in the two members below. */
typedef struct ts_machine {
    char name[64];
    uint32_t target, sms;
    uint32_t registers, threads, blocks, shared_bytes; /* limits of an SM */
    double clock_hz, dram_bytes_s, l2_bytes_clock;     /* l2: from L2 to one SM, each clock */
    double rate[TS_WORK_COUNT];
    uint8_t assumed;       /* from the table alone, no device was asked */
} ts_machine;

/* The table's machine of a target: a well-known GPU of that architecture. False when there is none (CPU). */
TS_API bool ts_machine_of_target(ts_target target, ts_machine *out);

/* What the assembler says. */
typedef struct ts_resources {
    uint8_t known;         /* registers and spills below are from an assembler */
    uint8_t serialised;    /* it warned that products on wgmma wait for each other (C75xx) */
    uint32_t registers, stack_bytes, spill_store_bytes, spill_load_bytes;
} ts_resources;

/* Reads the log of ptxas -v or of the driver; *out is zero when it says nothing. */
TS_API void ts_resources_parse(const char *log, ts_resources *out);

/* What is known of a loaded program: from the log of its assembly, or else from the device. */
typedef struct ts_program ts_program;
TS_API void ts_program_resources(const ts_program *program, ts_resources *out);

/* ---- the report --------------------------------------------------------------------------------------- */

enum { TS_ROOF_DRAM = TS_WORK_COUNT, TS_ROOF_L2, TS_ROOF_COUNT }; /* after the kinds of work */
TS_API const char *ts_roof_name(uint32_t roof);

typedef struct ts_report_request {
    const void *pack;
    size_t n_pack;
    const ts_spec *spec;
    size_t n_spec;
    const ts_hints *hints;       /* may be NULL */
    const char *text;            /* instead of a pack: IR text */
    size_t n_text;
    ts_target target;
    const char *const *names;    /* of the top-level arguments, for texts; may be NULL */
    size_t n_names;
    const uint64_t *params;      /* values of the kernel's parameters, ABI order; NULL: symbolic only */
    size_t n_params;
    int64_t grid[3];             /* zeros: symbolic only */
    const ts_machine *machine;   /* NULL: the table's */
    const ts_alloc *alloc;       /* NULL = default */
} ts_report_request;

typedef struct ts_report {
    ts_code code;                /* what was compiled: plan and PTX or object */
    int64_t grid[3];
    const ts_note_entry *notes;
    uint32_t n_notes;
    const ts_nest *nests;
    uint32_t n_nests;
    const ts_traffic *arrays;
    uint32_t n_arrays;
    uint8_t evaluated;           /* runs and totals are filled in */
    uint8_t exact;               /* no loop or condition depends on data, and every block was looked at */
    double total[TS_WORK_COUNT];   /* whole launch */
    double busiest[TS_WORK_COUNT]; /* of each kind, the block that has most */
    double dram_bytes;           /* each array once, or less when less is asked for */
    uint32_t tile_line;          /* where the largest tile is made */
    double tile_bytes;
    ts_machine machine;
    ts_resources resources;
    uint32_t resident;           /* blocks on an SM at a time */
    const char *limit;           /* what limits that: "registers", "shared memory", "threads", "blocks" */
    double waves;                /* blocks of the grid / blocks the machine runs at a time */
    double roof_s[TS_ROOF_COUNT];/* least time each resource needs */
    uint32_t bound;              /* the one that needs most */
    double predicted_s;          /* that time, with SMs idle in the last wave, or beside busier blocks */
    void *impl;                  /* private */
} ts_report;

/* Owns: *out, ended by ts_report_destroy. Errors: those of ts_compile. Threads: safe. */
TS_API TS_CHECKED ts_status ts_report_make(const ts_report_request *request, ts_report **out, ts_error *err);
TS_API void ts_report_destroy(ts_report *report); /* NULL is fine */
/* Takes the assembler's word: registers, spills, warnings; residency and prediction follow. */
TS_API void ts_report_assembled(ts_report *report, const ts_resources *resources);
/* The report to be read by people. `*out` is freed by alloc->resize(user, *out, *n + 1, 0). */
TS_API TS_CHECKED ts_status ts_report_text(const ts_report *report, const ts_alloc *alloc, char **out, size_t *n,
                                           ts_error *err);

#ifdef __cplusplus
}
#endif
#endif
