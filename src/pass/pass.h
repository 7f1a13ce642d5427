/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes. Each is one file and one function; it reads `*fn` and leaves the function changed in place
 * (usually by building a new one and ts__fn_replace). pass.def lists them with level, needs and keeps;
 * compile/pipeline.def has their order. The runner refuses a pass whose needs are not met and, in debug
 * builds, verifies the function and the forms it claims to be in after each. From the environment:
 *
 *     TS_DUMP=name,name   prints the function before and after these passes; "all" for all
 *     TS_STOP=name        leaves out the rest of a group of passes after this one
 *     TS_BISECT=n         runs only the first n of the steps that may be left out, and prints which is the n-th
 *
 * The last two change the code: run/cache_key.c has them in the key.
 */
#ifndef TS_PASS_PASS_H
#define TS_PASS_PASS_H

#include "ir/pass.h"

#define TS_PASS(name, ...) TS_CHECKED ts_status ts__pass_##name(ts_fn *fn, ts_pass_env *env, ts_error *err);
#include "pass/pass.def"

/* Runs the named passes in order ("fold dce licm"; a '|' ends the list too). */
TS_CHECKED ts_status ts__run_passes(ts_fn *fn, const char *names, ts_pass_env *env, ts_error *err);

/* TS_TIMEOUT once the time is over that compiling may take; `who` comes next. */
TS_CHECKED ts_status ts__pass_in_time(const ts_fn *fn, const ts_pass_env *env, const char *who, ts_error *err);

/* Is a function that is in `forms` fit for what needs `needs`? `who` is a pass or a step. */
TS_CHECKED ts_status ts__pass_needs(const ts_fn *fn, const ts_pass_env *env, uint32_t needs, const char *who,
                                    ts_error *err);

/* Writes the function anew: `each` gives what stands for an instruction (TS_NO: nothing), or 0 for a copy of it. `map`
 * has what stands for those before. */
typedef ts_val ts_rewrite_fn(void *user, ts_builder *b, const ts_fn *fn, ts_val v, ts_val *map);
TS_CHECKED ts_status ts__rewrite(ts_fn *fn, ts_pass_env *env, const char *pass, ts_rewrite_fn *each, void *user,
                                 ts_error *err);

#endif
