/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and sizes of dtypes (TS_DTYPES in tessera/compile.h).
 */
#include "tessera/compile.h"

static const struct {
    const char *name;
    size_t bytes;
} dtype_rows[TS_DTYPE_COUNT] = {
    {"none", 0},
#define X(name, ir, bytes, sign, dlpack, kind) {#name, bytes},
    TS_DTYPES(X)
#undef X
};

const char *ts_dtype_name(ts_dtype dtype)
{
    return (unsigned)dtype < TS_DTYPE_COUNT ? dtype_rows[dtype].name : "?";
}

size_t ts_dtype_bytes(ts_dtype dtype)
{
    return (unsigned)dtype < TS_DTYPE_COUNT ? dtype_rows[dtype].bytes : 0;
}
