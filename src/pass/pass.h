/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes. Each is one file and one function; it reads `*fn` and leaves the function changed in place
 * (usually by building a new one and ts_fn_replace). pass.def lists them with level and order.
 * In debug builds the runner verifies after each; TS_DUMP=name,name prints before and after ("all" for
 * all), TS_STOP=name stops after it.
 */
#ifndef TS_PASS_PASS_H
#define TS_PASS_PASS_H

#include "ir/pass.h"

#define TS_PASS(name, level, doc) TS_CHECKED ts_status ts__pass_##name(ts_fn *fn, ts_pass_env *env, ts_error *err);
#include "pass/pass.def"

/* Runs the named passes in order ("fold dce licm"), verifying and dumping as above. */
TS_CHECKED ts_status ts__run_passes(ts_fn *fn, const char *names, ts_pass_env *env, ts_error *err);

#endif
