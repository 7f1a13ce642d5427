/* SPDX-License-Identifier: Apache-2.0
 *
 * What the algorithms ask of one array, or of two: dtypes, room, memory of their own.
 */
#include "lib/compute.h"
#include "tessera/array.h"

bool ts__compute_is_number(uint8_t dtype)
{
    compute_key key = {.number = COMPUTE_reduce_cpu, .at[COMPUTE_dtype] = dtype};
    return dtype == TS_DTYPE_bool_ || ts__compute_choice(&key, COMPUTE_dtype);
}

/* Integers that hold a number up to n. */
ts_status ts__compute_check_holds(const compute_call *call, const char *name, const compute_array *array, int64_t n,
                                  ts_error *err)
{
    const ts_dtype_info *info = ts_dtype_get((ts_dtype)array->arg.dtype);
    uint32_t bits = info->bits - info->is_signed;
    if (!ts__compute_is_integer(array->arg.dtype))
        return ts_fail(err, TS_TYPE, "%s: %s is of %s; it takes integers", call->name, name, info->name);
    if (bits < 63 && n >> bits)
        return ts_fail(err, TS_VALUE, "%s: %s is of %s, which does not hold %lld; pass a wider one", call->name, name,
                       info->name, (long long)n);
    return TS_OK;
}

/* Two arrays of one dtype of numbers. */
ts_status ts__compute_check_alike(const compute_call *call, const char *name, const compute_array *a, const char *other,
                                  const compute_array *b, ts_error *err)
{
    if (a->arg.dtype == b->arg.dtype && ts__compute_is_number(a->arg.dtype))
        return TS_OK;
    return ts_fail(err, TS_TYPE, "%s: %s is of %s, %s of %s; both are of bool, an integer or a float of one dtype",
                   call->name, name, ts_dtype_name((ts_dtype)a->arg.dtype), other,
                   ts_dtype_name((ts_dtype)b->arg.dtype));
}

ts_status ts__compute_check_items(const compute_call *call, const char *name, const compute_array *array, int64_t n,
                                  ts_error *err)
{
    if (array->n >= n)
        return TS_OK;
    return ts_fail(err, TS_SHAPE, "%s: %s has %lld items; it needs %lld", call->name, name, (long long)array->n,
                   (long long)n);
}

ts_status ts__compute_check_apart(const compute_call *call, const compute_array *out, const compute_array *other,
                                  ts_error *err)
{
    if (ts_arg_overlap(&out->arg, &other->arg) == TS_OVERLAP_NONE)
        return TS_OK;
    return ts_fail(err, TS_VALUE, "%s: a result shares memory with another array; pass memory of its own", call->name);
}

ts_status ts__compute_check_place(const compute_call *call, const compute_array *in, const compute_array *out,
                                  ts_error *err)
{
    bool same_steps = in->arg.dtype == out->arg.dtype && in->stride == out->stride;
    bool in_place = same_steps && in->arg.value.data == out->arg.value.data;
    if (!in_place && ts_arg_overlap(&in->arg, &out->arg) != TS_OVERLAP_NONE)
        return ts_fail(err, TS_VALUE, "%s: out shares memory with an input and is not in its place; pass the input "
                                      "itself, or another array", call->name);
    return TS_OK;
}

ts_status ts__compute_check_number(const compute_call *call, const char *name, const compute_array *array,
                                   ts_error *err)
{
    if (ts__compute_is_number(array->arg.dtype))
        return TS_OK;
    return ts_fail(err, TS_TYPE, "%s: %s is of %s; it takes numbers and bools", call->name, name,
                   ts_dtype_name((ts_dtype)array->arg.dtype));
}
