/* SPDX-License-Identifier: Apache-2.0
 *
 * What every pass is given. The passes and their order: pass/pass.h.
 */
#ifndef TS_IR_PASS_H
#define TS_IR_PASS_H

#include "ir/ir.h"
#include "tessera/compile.h"

/* Forms that a function is brought into on its way: X(name, what holds). Columns of pass.def and pipeline.def. */
#define TS_FORMS(X)                                                                                                    \
    X(SOURCE, "each rounding is one that the source asks for")                                                         \
    X(PLAIN, "no math function is left that stands for other operations")                                              \
    X(LEGAL, "nothing is left that the target lacks")

enum {
#define X(name, doc) TS_FORM_INDEX_##name,
    TS_FORMS(X)
#undef X
    TS_FORM_COUNT
};
enum {
#define X(name, doc) TS_FORM_##name = 1 << TS_FORM_INDEX_##name,
    TS_FORMS(X)
#undef X
    TS_FORM_KNOWN = 1 << TS_FORM_COUNT /* the forms are followed; without it nobody asks for any (tests of one pass) */
};

typedef struct ts_pass_env {
    ts_arena *scratch;        /* rewound after each pass */
    ts_target target;
    const ts_hints *hints;
    ts_plan *plan;            /* what the launch must know; passes fill it */
    uint32_t forms;           /* that the function is in: TS_FORM_ bits */
    uint32_t n_steps;         /* that may be left out, so far: what TS_BISECT counts */
    uint32_t block[3], shared_bytes; /* of the launch, CPU alone: threads of a block, dynamic shared memory */
    int64_t most_blocks; /* of the launch of a kernel of threads, along each axis; 0: not known */
    uint32_t lanes; /* not 0: tiles of rank 1 with this many elements are threads of a warp, and stay in registers */
    bool serial;  /* CPU: one thread has the block for itself; its loops are those of a program */
    bool by_rows; /* CPU: the function's one `for` takes a warp each, and they lie across the x of the block */
    ts_text *messages;        /* texts that faults name (pass/faults.h); NULL: nobody wants them */
    int64_t limit_ns, deadline_ns; /* time that compiling may take, and when it is over; 0: no limit */
} ts_pass_env;

/* Which of the TS_PLANS is wanted. */
static inline uint32_t ts__pass_plan(const ts_pass_env *env)
{
    return env->hints ? env->hints->plan : 0;
}

typedef ts_status ts_pass_fn(ts_fn *fn, ts_pass_env *env, ts_error *err);

#endif
