/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments of operations: each function takes the i-th one as a certain kind, or says what was
 * found and what is wanted, with the caret under that argument. Part of the front end (lower.h).
 */
#include "lang/lower.h"

ts_status fr_arg_error(fr *f, const fr_call *c, uint32_t i, const char *wanted)
{
    return fr_error(f, c->at[i], TS_TILETYPE, "%s(): '%s' must be %s\n  found: %s", fr_op_name(c),
                    fr_arg_name(f, c, i), wanted, fr_say(f, &c->arg[i]));
}

static ts_status arg_not_constant(fr *f, const fr_call *c, uint32_t i, const char *wanted)
{
    const fr_value *v = &c->arg[i];
    if (v->kind == FR_TILE)
        return fr_error(
            f, c->at[i], TS_TILETYPE,
            "%s(): '%s' must be %s known at compile time\n  found: %s, computed while the kernel "
            "runs\n"
            "  help: annotate the kernel's parameter with ct.Constant[int], or use a literal",
            fr_op_name(c), fr_arg_name(f, c, i), wanted, fr_say(f, v));
    return fr_arg_error(f, c, i, wanted);
}

ts_status fr_arg_int(fr *f, const fr_call *c, uint32_t i, int64_t *out)
{
    return fr_is_int(&c->arg[i], out) ? TS_OK : arg_not_constant(f, c, i, "an integer");
}

ts_status fr_arg_flag(fr *f, const fr_call *c, uint32_t i, bool standard, bool *out)
{
    *out = standard;
    if (!fr_given(c, i))
        return TS_OK;
    if (c->arg[i].kind != FR_NUMBER || c->arg[i].cat != FR_BOOL)
        return arg_not_constant(f, c, i, "True or False");
    *out = c->arg[i].as.i != 0;
    return TS_OK;
}

ts_status fr_arg_dtype(fr *f, const fr_call *c, uint32_t i, ts_dtype *out)
{
    const fr_value *v = &c->arg[i];
    *out = (ts_dtype)v->dtype;
    if (v->kind == FR_DTYPE)
        return TS_OK;
    if (v->kind == FR_BUILTIN) { /* int, float, bool as dtypes */
        *out = strcmp(v->as.text, "int") == 0     ? TS_DTYPE_int32
               : strcmp(v->as.text, "float") == 0 ? TS_DTYPE_float32
               : strcmp(v->as.text, "bool") == 0  ? TS_DTYPE_bool_
               : strcmp(v->as.text, "complex") == 0 ? TS_DTYPE_complex64
                                                  : TS_DTYPE_NONE;
        if (*out)
            return TS_OK;
    }
    return fr_arg_error(f, c, i, "a dtype, such as ct.float32");
}

static const struct {
    const char *cls, *member;
    uint32_t value;
} arg_enums[] = {
#define TS_TILE_ENUM(cls, member, value) {#cls, #member, value},
#include "lang/tile/tile_op.def"
};

const char *fr_enum_member(const char *cls, uint32_t value)
{
    uint32_t i = 0;
    while (i < TS_COUNT(arg_enums) && (arg_enums[i].value != value || strcmp(arg_enums[i].cls, cls) != 0))
        i++;
    return i < TS_COUNT(arg_enums) ? arg_enums[i].member : "?";
}

ts_status fr_arg_enum(fr *f, const fr_call *c, uint32_t i, const char *cls, uint32_t *out)
{
    *out = 0;
    if (!fr_given(c, i))
        return TS_OK;
    const ts_object *o = c->arg[i].kind == FR_ENUM ? &f->pack.objects[c->arg[i].as.object] : NULL;
    if (!o || strcmp(fr_string(f, o->x), cls) != 0)
        return fr_arg_error(f, c, i, fr_textf(f, "a member of ct.%s", cls));
    const char *member = fr_string(f, ts_pack_member(&f->pack, c->arg[i].as.object, TS_ENUM_NAME));
    for (uint32_t m = 0; m < TS_COUNT(arg_enums); m++)
        if (strcmp(arg_enums[m].cls, cls) == 0 && strcmp(arg_enums[m].member, member) == 0) {
            *out = arg_enums[m].value;
            return TS_OK;
        }
    return fr_error(f, c->at[i], TS_TILETYPE, "%s() does not take %s.%s", fr_op_name(c), cls, member);
}

ts_status fr_arg_shape(fr *f, const fr_call *c, uint32_t i, fr_shape *out)
{
    const fr_value *v = &c->arg[i], *items = v;
    uint32_t n = 1;
    int64_t total = 1;
    if (v->kind == FR_TUPLE) {
        items = v->as.items;
        n = v->n;
    } else if (v->kind != FR_NUMBER && v->kind != FR_TILE) {
        return fr_arg_error(f, c, i, "a tuple of integers");
    }
    if (n > TS_MAX_RANK)
        return fr_error(f, c->at[i], TS_TILETYPE, "%s(): a shape of %u dimensions; the limit is %d",
                        fr_op_name(c), n, TS_MAX_RANK);
    *out = (fr_shape){.rank = n};
    for (uint32_t d = 0; d < n; d++) {
        if (!fr_is_int(&items[d], &out->dims[d])) {
            fr_call one = *c;
            one.arg[i] = items[d];
            return arg_not_constant(f, &one, i, fr_textf(f, "a tuple of integers (item %u)", d));
        }
        if (!ts_is_pow2(out->dims[d]))
            return fr_error(f, c->at[i], TS_TILETYPE,
                            "%s(): dimension %u of '%s' is %lld, which is not a power of two\n"
                            "  help: %s",
                            fr_op_name(c), d, fr_arg_name(f, c, i), (long long)out->dims[d],
                            c->arg[0].kind == FR_ARRAY
                                ? "use the next power of two; loads pad and stores drop what lies outside the array"
                                : "all dimensions of tiles are powers of two; use the next one, and ct.where for what "
                                  "is too much");
        total *= TS_MIN(out->dims[d], (int64_t)1 << 30);
        if (total > 1 << 24)
            return fr_error(f, c->at[i], TS_TILETYPE,
                            "%s(): a tile of shape %s has more than 16777216 elements\n  help: "
                            "split the work into smaller tiles: more blocks, or a loop", fr_op_name(c),
                            fr_say_shape(f, out));
    }
    return TS_OK;
}

ts_status fr_arg_axis(fr *f, const fr_call *c, uint32_t i, uint32_t rank, uint32_t *out)
{
    int64_t axis;
    TS_TRY(fr_arg_int(f, c, i, &axis));
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return fr_error(f, c->at[i], TS_TILETYPE, "%s(): axis %lld is out of range for rank %u%s",
                        fr_op_name(c), (long long)axis, rank,
                        rank ? fr_textf(f, "\n  help: axes are from %d to %u", -(int)rank, rank - 1) : "");
    *out = (uint32_t)(axis < 0 ? axis + rank : axis);
    return TS_OK;
}

ts_status fr_arg_tile(fr *f, const fr_call *c, uint32_t i, fr_value *out)
{
    if (c->arg[i].kind == FR_ARRAY)
        return fr_error(f, c->at[i], TS_TILETYPE,
                        "%s(): '%s' must be a tile\n  found: %s\n  help: arrays are in memory; "
                        "read a tile of one "
                        "with ct.load or ct.gather",
                        fr_op_name(c), fr_arg_name(f, c, i), fr_say(f, &c->arg[i]));
    if (c->arg[i].kind != FR_TILE && c->arg[i].kind != FR_NUMBER)
        return fr_arg_error(f, c, i, "a tile or a number");
    return fr_as_tile(f, &c->arg[i], out);
}

ts_status fr_arg_array(fr *f, const fr_call *c, uint32_t i, fr_array **out)
{
    if (c->arg[i].kind != FR_ARRAY)
        return fr_arg_error(f, c, i, "an array");
    *out = c->arg[i].as.array;
    return TS_OK;
}

/* rounding_mode and flush_to_zero as ARITH bits. `allowed` has bit (1 << ts_round) for each mode;
 * APPROX, FULL and flushing are for float32 only. TS_NO: the operation lacks that argument. */
ts_status fr_arg_attr(fr *f, const fr_call *c, uint32_t round, uint32_t ftz, uint32_t allowed,
                      ts_dtype dtype, uint32_t *out)
{
    uint32_t mode = TS_RN;
    bool flush = false;
    if (round != TS_NO)
        TS_TRY(fr_arg_enum(f, c, round, "RoundingMode", &mode));
    if (ftz != TS_NO)
        TS_TRY(fr_arg_flag(f, c, ftz, false, &flush));
    if (round != TS_NO && fr_given(c, round)) {
        if (!(allowed >> mode & 1))
            return fr_error(f, c->at[round], TS_TILETYPE, "%s() does not take RoundingMode.%s",
                            fr_op_name(c), fr_enum_member("RoundingMode", mode));
        if (!fr_dtype_is_float(dtype))
            return fr_error(f, c->at[round], TS_TILETYPE,
                            "%s(): rounding_mode is for floats, found %s", fr_op_name(c),
                            ts_dtype_name(dtype));
        if ((mode == TS_APPROX || mode == TS_FULL) && dtype != TS_DTYPE_float32)
            return fr_error(f, c->at[round], TS_TILETYPE,
                            "%s(): RoundingMode.%s is for float32, found %s", fr_op_name(c),
                            fr_enum_member("RoundingMode", mode), ts_dtype_name(dtype));
    }
    if (flush && dtype != TS_DTYPE_float32)
        return fr_error(f, c->at[ftz], TS_TILETYPE, "%s(): flush_to_zero is for float32, found %s",
                        fr_op_name(c), ts_dtype_name(dtype));
    *out = mode | (flush ? TS_A_FTZ : 0);
    return TS_OK;
}
