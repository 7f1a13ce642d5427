/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions to the table of dtypes (tessera/dtype.def).
 */
#include "table/dtype.h"
#include "tessera/ir.h"
#include <string.h>

static const ts_dtype_info dtype_rows[TS_DTYPE_COUNT] = {
    {.name = "none", .typestr = "", .format = ""},
#define DTYPE_ROW(name, scalar, kind, bytes, bits, sign, dlpack, typestr, format, tma, part)                         \
    {#name, typestr, format, kind, bytes, bits, sign, TS_T_##scalar, part, dlpack, tma},
#define TS_DTYPE(...) DTYPE_ROW(__VA_ARGS__, TS_DTYPE_NONE)
#define TS_COMPLEX(name, scalar, kind, bytes, bits, sign, dlpack, typestr, format, tma, part)                        \
    DTYPE_ROW(name, scalar, kind, bytes, bits, sign, dlpack, typestr, format, tma, TS_DTYPE_##part)
#include "tessera/dtype.def"
};

const uint8_t ts__dtype_bytes[TS_DTYPE_COUNT] = {
#define TS_DTYPE(name, scalar, kind, bytes, ...) [TS_DTYPE_##name] = bytes,
#include "tessera/dtype.def"
};

const ts_dtype_info *ts_dtype_get(ts_dtype dtype)
{
    return &dtype_rows[(unsigned)dtype < TS_DTYPE_COUNT ? dtype : TS_DTYPE_NONE];
}

ts_dtype ts_dtype_find(const char *name)
{
    for (int dtype = 1; dtype < TS_DTYPE_COUNT; dtype++)
        if (strcmp(dtype_rows[dtype].name, name) == 0)
            return (ts_dtype)dtype;
    return TS_DTYPE_NONE;
}

const char *ts_dtype_name(ts_dtype dtype)
{
    return ts_dtype_get(dtype)->name;
}

size_t ts_dtype_bytes(ts_dtype dtype)
{
    return ts_dtype_get(dtype)->bytes;
}
