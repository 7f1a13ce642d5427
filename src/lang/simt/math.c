/* SPDX-License-Identifier: Apache-2.0
 *
 * Builtins of Python and functions of math and NumPy on the scalars of threads. Part of the front end (lower.h).
 */
#include "lang/simt/op.h"

ts_status fr_simt_builtin(fr *f, uint32_t node, const char *name, uint32_t n, const fr_value *args, fr_value *out,
                          bool *done)
{
    (void)f;
    (void)node;
    (void)name;
    (void)n;
    (void)args;
    (void)out;
    *done = false;
    return TS_OK;
}
