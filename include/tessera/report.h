/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost report: what the compiler knows of one specialisation of a kernel. Work is counted from the tile
 * IR, symbolically in the loops and evaluated for the arguments of one launch; decisions come as notes of
 * the code that took them; a table of peak rates turns both into a roof. docs/performance.md tells how to read it.
 *
 * A report compiles the kernel anew (milliseconds) and runs nothing.
 *
 *     ts_report *report;
 *     char *text;
 *     size_t n;
 *     ts_kernel_report(NULL, kernel, args, n_args, grid, TS_TARGET_SM90, &report, &err);       launch.h
 *     ts_report_text(report, NULL, &text, &n, &err);
 *     puts(text);
 *     ts_report_destroy(report);
 *
 * The prediction is a roofline (Williams, Waterman, Patterson: "Roofline: an insightful visual performance model for
 * multicore architectures", CACM 52(4), 2009): a resource needs at least its work divided by its peak rate, and the
 * kernel at least the longest of these times, longer where the last wave of blocks leaves multiprocessors idle. It is a
 * lower bound of a cold start from DRAM, not a simulation: what is measured beyond it is latency, conflicts or waiting.
 *
 * Units: bytes, operations, seconds, hertz; rates are per second where the name says _s, else per clock. Numbers are
 * doubles because a launch may ask for more than 2^64 of something. Threads: a report is one thread's at a time;
 * different reports are independent. Nothing here touches a stream.
 */
#ifndef TESSERA_REPORT_H
#define TESSERA_REPORT_H

#include "tessera/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- notes ------------------------------------------------------------------------------------- */

/* The kinds of notes: name, what a note of this kind tells. Notes are for people and for tests; their words may change
 * from version to version, the kinds are kept. */
#define TS_NOTES(X)                                                                                \
    X(load, "how a load reads memory")                                                             \
    X(store, "how a store or atomic writes memory")                                                \
    X(product, "what a matrix product runs on")                                                    \
    X(missed, "a better way that was not taken, and why")                                          \
    X(move, "a tile that changes its layout")                                                      \
    X(pipeline, "loads that run ahead of their loop")                                              \
    X(threads, "how a CPU runs the threads of a block")                                            \
    X(warning, "something that costs much speed")

typedef enum ts_note_kind {
#define X(name, doc) TS_NOTE_##name,
    TS_NOTES(X)
#undef X
    TS_NOTE_COUNT
} ts_note_kind;

/* The name of a kind of note: "load"; "?" for a number that is no kind. A constant of the library. */
TS_API const char *ts_note_kind_name(uint32_t kind);

/* One decision about one operation of the kernel. Strings are borrowed from the report.
 *
 *     line 12: load "tma" 128-byte rows, swizzled            kind, what, text of one entry
 *
 * Notes of one instruction have the same `value`. In a helper that the kernel calls, `line` is the helper's and
 * `call_line` the line of the call; else call_line is 0. */
typedef struct ts_note_entry {
    uint32_t kind;         /* ts_note_kind */
    uint32_t value;        /* the instruction; equal for notes about the same one */
    uint32_t count;        /* how often it was decided */
    uint32_t line, column; /* of the source; line 0 = unknown */
    uint32_t call_line;
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
/* The name ("tensor_f16") and unit ("flop") of a kind of work; constants of the library. */
TS_API const char *ts_work_name(uint32_t work);
TS_API const char *ts_work_unit(uint32_t work);

/* A region of the kernel with the work of one run through it, without the regions inside. Nest 0 is the body; `parent`
 * is the number of the nest around this one. `trips` says how often a `for` runs, in the words of the source; it is ""
 * for other regions. `runs` counts over the whole launch and is 0 when the report was not evaluated. */
typedef struct ts_nest {
    uint32_t line, parent;
    const char *what;      /* "block", "for", "loop", "if", "else" */
    const char *trips;     /* "cdiv(a.shape[1], 64)" */
    double runs;
    double work[TS_WORK_COUNT];
} ts_nest;

/* An array argument: its size, and what the launch asks of it. `load` and `store` in bytes, as the blocks ask for them:
 * a byte that ten blocks read counts ten times. `load` above `bytes` is what caches are for. */
typedef struct ts_traffic {
    char name[64];
    uint32_t param;        /* of its pointer */
    double bytes;          /* of the array; 0 = unknown */
    double load, store;
} ts_traffic;

/* ---- the machine ------------------------------------------------------------------------------------ */

/* Peak rates of a GPU and limits of one of its multiprocessors (SM): what the roof of a report is made of. Rates of
 * work are per SM and clock; those of memory are in
 * bytes a second for DRAM, and in bytes a clock from L2 to one SM. The numbers of a well-known GPU of each architecture
 * are in table/machine.def with their sources; for a device that is there, its own numbers are used. */
typedef struct ts_machine {
    char name[64];
    uint32_t target, sms;
    uint32_t registers, threads, blocks, shared_bytes;
    double clock_hz, dram_bytes_s, l2_bytes_clock;
    double rate[TS_WORK_COUNT];
    /* From the table alone, no device was asked. */
    uint8_t assumed;
} ts_machine;

/* The table's machine of a target: a well-known GPU of that architecture, with `assumed` set. False when there is none
 * (CPU). */
TS_API bool ts_machine_of_target(ts_target target, ts_machine *out);

/* What the assembler says of the code: registers of a thread; bytes of local memory of a thread, and how many of them
 * are written and read because registers ran out. */
typedef struct ts_resources {
    /* Whether an assembler said anything; whether it warned that products on wgmma wait for each other (C75xx), which
     * is a mistake of this compiler. */
    uint8_t known;
    uint8_t serialised;
    uint32_t registers, stack_bytes, spill_store_bytes, spill_load_bytes;
} ts_resources;

/* Reads the log of ptxas -v or of the driver; *out is zero when it says nothing. Any text is taken: what is not
 * understood is passed over. */
TS_API void ts_resources_parse(const char *log, ts_resources *out);

/* What is known of a loaded program: from the log of its assembly, or else from the device. Never fails: `known` is 0
 * when neither says anything. */
typedef struct ts_program ts_program;
TS_API void ts_program_resources(const ts_program *program, ts_resources *out);

/* ---- the report --------------------------------------------------------------------------------------- */

/* The resources that can bound a kernel: the kinds of work, then DRAM and L2. */
enum { TS_ROOF_DRAM = TS_WORK_COUNT, TS_ROOF_L2, TS_ROOF_COUNT };
/* The name of a resource: "tensor_f16", "dram", "l2"; a constant of the library. */
TS_API const char *ts_roof_name(uint32_t roof);

/* What to report on: a packed Python function or IR text, for which arguments and target. Zero members leave out what
 * they stand for; without params and grid the work stays symbolic. Everything is borrowed during the call.
 *
 *     ts_report_request request = {.text = ir, .n_text = strlen(ir), .target = TS_TARGET_SM90, .params = slots,
 *                                  .n_params = n_slots, .grid = {64, 1, 1}};
 *     ts_report_make(&request, &report, &err); */
typedef struct ts_report_request {
    const void *pack;
    size_t n_pack;
    ts_host host;                /* of the pack; zeros: nobody */
    const ts_spec *spec;
    size_t n_spec;
    const ts_hints *hints;       /* may be NULL */
    /* Instead of a pack: IR text. */
    const char *text;
    size_t n_text;
    const char *entry; /* of the text: as of a ts_source */
    ts_target target;
    const char *const *names;    /* of the top-level arguments, for texts; may be NULL */
    size_t n_names;
    const uint64_t *params;      /* values of the kernel's parameters, ABI order; NULL: symbolic only */
    size_t n_params;
    /* Tile blocks of the launch; zeros: symbolic only. */
    int64_t grid[3];
    /* Whose peak rates make the roof; NULL: the table's machine of the target. */
    const ts_machine *machine;
    const ts_alloc *alloc;       /* NULL = default */
} ts_report_request;

/* The report. Read freely; everything in it belongs to it and ends with it.
 *
 *     notes    what the compiler decided
 *     nests    the kernel as nested regions, with the work of each; nest 0 is the body
 *     arrays   what each array argument is asked for
 *     total, busiest, roof_s, predicted_s    the numbers of this launch, when `evaluated` */
typedef struct ts_report {
    /* What was compiled: plan and PTX or object. */
    ts_code code;
    /* As the request gave it. */
    int64_t grid[3];
    const ts_note_entry *notes;
    uint32_t n_notes;
    const ts_nest *nests;
    uint32_t n_nests;
    const ts_traffic *arrays;
    uint32_t n_arrays;
    /* Whether runs and totals are filled in; whether they are exact: no loop or condition depends on data, and every
     * block was looked at. */
    uint8_t evaluated;
    uint8_t exact;
    /* Work of the whole launch; of each kind, the work of the block that has most. */
    double total[TS_WORK_COUNT];
    double busiest[TS_WORK_COUNT];
    /* What must come from and go to DRAM: each array once, or less when less is asked for. */
    double dram_bytes;
    /* The line that makes the largest tile, and its size. */
    uint32_t tile_line;
    double tile_bytes;
    /* Whose rates were used, and what the assembler said: known is 0 until ts_report_assembled. */
    ts_machine machine;
    ts_resources resources;
    /* Blocks on an SM at a time; what limits that ("registers", "shared memory", "threads", "blocks"); blocks of the
     * grid / blocks that the machine runs at a time. */
    uint32_t resident;
    const char *limit;
    double waves;
    /* The roof: the least time that each resource needs, the one that needs most, and the time of that one with SMs
     * idle in the last wave, or beside busier blocks. */
    double roof_s[TS_ROOF_COUNT];
    uint32_t bound;
    double predicted_s;
    void *impl; /* private */
} ts_report;

/* Compiles what the request names and counts its work; ts_kernel_report (launch.h) does so for a launch. Costs what a
 * compilation costs, and a walk over the grid where blocks differ. Owns: *out, ended by ts_report_destroy. Errors:
 * those of ts_compile; TS_UNSUPPORTED for a kernel of threads, whose work depends on the block of each launch.
 * Threads: safe. */
TS_API TS_CHECKED ts_status ts_report_make(const ts_report_request *request, ts_report **out, ts_error *err);
/* What the compiler notes while it makes the request's code, by line: "k.py:12:5: load gather: ..". For kernels of
 * threads too; for the CPU the last of `spec` is then their block (TS_SPEC_BLOCK). Owns: *out, *n bytes and a NUL,
 * freed by alloc->resize(user, *out, *n + 1, 0). Errors: those of ts_compile. Threads: safe. */
TS_API TS_CHECKED ts_status ts_report_notes(const ts_report_request *request, char **out, size_t *n, ts_error *err);
/* NULL is fine. */
TS_API void ts_report_destroy(ts_report *report);
/* Takes the assembler's word on the code: registers, spills, warnings. Residency, waves and prediction are computed
 * again from them. For clients that assemble the PTX themselves (ptxas -v and ts_resources_parse). */
TS_API void ts_report_assembled(ts_report *report, const ts_resources *resources);
/* The report to be read by people: several lines, UTF-8, as docs/performance.md explains them. Owns: *out, *n bytes and
 * a final NUL, freed by alloc->resize(user, *out, *n + 1, 0). Errors: TS_NOMEM. */
TS_API TS_CHECKED ts_status ts_report_text(const ts_report *report, const ts_alloc *alloc, char **out, size_t *n,
                                           ts_error *err);

#ifdef __cplusplus
}
#endif
#endif
