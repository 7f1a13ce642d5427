/* SPDX-License-Identifier: Apache-2.0
 *
 * What the two levels of the interpreter share: one run's state, checked memory, atomics, faults,
 * module globals, printing. Private to the files of src/eval.
 */
#ifndef TS_EVAL_PART_H
#define TS_EVAL_PART_H

#include "eval/eval.h"
#include "ir/scalar.h"

/* A function in a program: its instruction i is instruction base + i. */
typedef struct eval_linked {
    const ts_fn *fn;
    ts_val base;
} eval_linked;

typedef struct eval_run {
    const ts_fn *fn; /* what runs: the kernel, or the program that eval/link.c made of it */
    const ts_module *module;
    ts_eval_env *env;
    ts_error *err;
    const uint64_t *params;
    size_t n_params;
    uint32_t grid[3], block[3];
    ts_arena arena; /* the run's memory */
    ts_shape shape;
    void **global_at; /* by index in module->globals */
    TS_VEC(ts_eval_range) own; /* globals, allocas: may be touched too */
    TS_VEC(eval_linked) linked; /* functions of the program, the kernel first; none without calls */
} eval_run;

TS_CHECKED ts_status eval_run_init(eval_run *run, const ts_fn *fn, ts_eval_env *env, ts_error *err);
void eval_run_deinit(eval_run *run);

/* Makes run->fn a program when it calls functions: eval/link.c. */
TS_CHECKED ts_status eval_link(eval_run *run);
/* The function that instruction `at` of the program was written in. */
eval_linked eval_origin(const eval_run *run, ts_val at);
/* What the call `v` of the program calls. */
static inline eval_linked eval_callee(const eval_run *run, ts_val v)
{
    ts_assert(ts_at(run->fn, v)->op == TS_OP_call && ts_at(run->fn, v)->aux < run->linked.n);
    return run->linked.at[ts_at(run->fn, v)->aux];
}
/* What follows instruction v with its regions: its `res`es, if it has any. */
static inline ts_val eval_after(const eval_run *run, ts_val v)
{
    return (run->shape.end[v] ? run->shape.end[v] : v) + 1;
}

/* Fails with function, instruction, line and block in front of the message. */
ts_status eval_fail(const eval_run *run, ts_val at, ts_status status, const char *format, ...) TS_PRINTF(4, 5);
/* Notes a fault with code, index and extent of `fault`, or fails when nobody asked for faults. */
TS_CHECKED ts_status eval_fault(const eval_run *run, ts_val at, ts_fault fault, const char *what);
/* The operation `fault`, with the values of its operands. */
TS_CHECKED ts_status eval_fault_op(const eval_run *run, ts_val at, const uint64_t opnd[6]);
/* `res` i of an opener or a multi-result instruction: they stand together from `first` on, in order, but
 * unused ones may have been removed. 0 when it is gone. */
ts_val eval_find_res(const ts_fn *fn, ts_val of, ts_val first, uint32_t i);
/* Counts a step; fails past the limit. */
TS_CHECKED ts_status eval_step(const eval_run *run, ts_val at);

/* May [address, address + bytes) be touched? */
TS_CHECKED ts_status eval_check(const eval_run *run, ts_val at, uint64_t address, uint64_t bytes);
/* Element `index` of `elem` type from `address`, checked. */
TS_CHECKED ts_status eval_load(const eval_run *run, ts_val at, ts_type elem, uint64_t address, int64_t index,
                               uint64_t *value);
TS_CHECKED ts_status eval_store(const eval_run *run, ts_val at, ts_type elem, uint64_t address, int64_t index,
                                uint64_t value);
/* Memory of the run that the function may touch. NULL when memory is out. */
void *eval_own(eval_run *run, size_t bytes, size_t align, int fill);

/* What an atomic leaves in memory. `cmp` is used by TS_RMW_CAS only. */
uint64_t eval_rmw(const ts_module *module, ts_rmw mode, ts_type elem, uint64_t old, uint64_t value, uint64_t cmp);

/* Address of a module global by name; 0 when there is none. */
uint64_t eval_global(const eval_run *run, ts_str name);
/* Payload of parameter i in canonical form. */
TS_CHECKED ts_status eval_param(const eval_run *run, ts_val at, uint64_t *value);
/* Elements of a dense constant into `out`. */
TS_CHECKED ts_status eval_constant(const eval_run *run, ts_val at, uint64_t *out, int64_t n);

/* Prints by a C format: each conversion takes the next argument; a tile prints as nested brackets. */
typedef struct eval_arg {
    ts_type type; /* tile or scalar */
    const uint64_t *value;
} eval_arg;
TS_CHECKED ts_status eval_print(const eval_run *run, ts_val at, ts_str format, const eval_arg *args, size_t n);

#endif
