/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver of a compilation, for the cost report: one that looks in on the way.
 */
#ifndef TS_COMPILE_COMPILE_H
#define TS_COMPILE_COMPILE_H

#include "ir/ir.h"
#include "tessera/compile.h"

/* Called with the entry after the first passes: optimised, but its math functions not yet written out. */
typedef struct ts_probe {
    ts_status (*look)(void *user, const ts_fn *fn, ts_error *err);
    void *user;
} ts_probe;

/* The entry of a module: the one named, or the first (NULL); functions are compiled with the kernels that call them.
 * Errors: TS_NOTFOUND, TS_VALUE where the name is a func's; both say what entries there are. */
TS_CHECKED ts_status ts__compile_entry(ts_module *module, const char *entry, ts_fn **out, ts_error *err);
int64_t ts__compile_limit_ns(void); /* of ts_compile_limit; 0: none */
/* The TS_SPEC_BLOCK behind the arguments, which *n_spec counts no more; NULL: there is none. */
/* Gives a text of a report to the caller, or ends it where memory ran out. */
TS_CHECKED ts_status ts__report_hand_over(ts_text *text, char **out, size_t *n, ts_error *err);
const ts_spec *ts__compile_block(const ts_spec *spec, size_t *n_spec);
/* From a module to code; `entry` NULL = the only one; `block` and `probe` may be NULL. */
TS_CHECKED ts_status ts__compile_module(ts_module *module, const char *entry, const ts_hints *hints, ts_target target,
                                       const ts_spec *block, const ts_probe *probe, const ts_alloc *alloc, ts_code *out,
                                       ts_error *err);

/* A packed source to IR, in two steps: for a cache whose key is the IR. `alloc` as of ts_compile. */
TS_CHECKED ts_status ts__compile_lower(ts_arena *arena, const ts_source *source, const ts_spec *spec, size_t n_spec,
                                       const ts_hints *hints, ts_module **out, ts_error *err);
TS_CHECKED ts_status ts__compile_python(const ts_source *source, const ts_spec *spec, size_t n_spec,
                                        const ts_hints *hints, ts_target target, const ts_alloc *alloc, ts_code *out,
                                        ts_error *err);

/* A kernel of threads that the interpreter runs as it is written, thread by thread (eval/simt_watch.c). */
typedef struct ts_watched {
    const ts_source *source; /* of Python */
    const ts_spec *spec;     /* a TS_SPEC_BLOCK behind the arguments is not looked at */
    size_t n_spec;
    const ts_hints *hints;
    const ts_interpret *run; /* target and schedule are not looked at */
    bool (*ends)(void);      /* NULL, or asked now and then: true ends the run, with TS_INTERRUPTED */
    ts_fault *fault;         /* out: the first fault; its texts are indices in `messages` */
    ts_text *messages;       /* out */
} ts_watched;
/* Errors: as ts_interpret_pack; where there is a fault it counts, not the status. */
TS_CHECKED ts_status ts__interpret_watched(const ts_watched *job, ts_error *err);

#endif
