/* SPDX-License-Identifier: Apache-2.0
 *
 * The tile language as a dialect of the front end: its table (lang/lower.h), with the rows of tile_op.def.
 */
#include "lang/lower.h"
#include "lang/tile/op.h"

static const fr_op tile_ops[] = {
#define REAL false
#define COMPLEX true
#define TS_TILE_OP(name, signature, function, x, y, numbers) {#name, signature, fr_op_##function, x, y, numbers},
#include "lang/tile/tile_op.def"
#undef REAL
#undef COMPLEX
};

static const fr_method tile_methods[] = {
#define METHOD_KIND_tile FR_TILE
#define METHOD_KIND_array FR_ARRAY
#define METHOD_KIND_view FR_VIEW
#define METHOD_KIND_raw FR_RAW
#define TS_TILE_OP(...)
#define TS_TILE_OP_OF(type, name, ...) {METHOD_KIND_##type, #name, #type "_" #name},
#define TS_TILE_METHOD(name) {FR_TILE, #name, #name},
#include "lang/tile/tile_op.def"
};

static const char *const tile_numpy[][2] = {
#define TS_TILE_NUMPY(name, op) {#name, #op},
#include "lang/tile/tile_op.def"
    {NULL, NULL},
};

/* ---- arrays ---------------------------------------------------------------------------- */

static ts_status tile_array_attribute(fr *f, const fr_value *of, const char *name, fr_value *out, bool *found)
{
    const fr_array *a = of->as.array;
    *found = true;
    if (strcmp(name, "dtype") == 0)
        *out = fr_dtype_value((ts_dtype)a->dtype);
    else if (strcmp(name, "ndim") == 0)
        *out = fr_number(a->rank);
    else if (strcmp(name, "shape") == 0)
        return fr_tuple(f, a->rank, a->shape, out);
    else if (strcmp(name, "strides") == 0)
        return fr_tuple(f, a->rank, a->stride, out);
    else if (strcmp(name, "foreign_pointer") == 0)
        *out = (fr_value){.kind = FR_RAW, .as.array = of->as.array};
    else
        *found = false;
    return TS_OK;
}

static ts_status tile_get_item(fr *f, uint32_t node, const fr_value *of, const fr_value *index, fr_value *out)
{
    (void)of;
    (void)index;
    (void)out;
    return fr_error(f, node, TS_TILETYPE,
                    "arrays are not indexed with []\n  help: ct.load(array, index, shape) reads a tile by tile index, "
                    "ct.gather(array, indices) by element");
}

static ts_status tile_set_item(fr *f, uint32_t node, const fr_value *of, const fr_value *index, const fr_value *value)
{
    (void)of;
    (void)index;
    (void)value;
    return fr_error(f, node, TS_TILETYPE,
                    "tiles and arrays have no item assignment\n  help: tiles are values, ct.where makes changed ones; "
                    "ct.store and ct.scatter write to arrays");
}

static const char *const tile_members[] = {"shape", "dtype", "ndim", "strides", NULL};

const fr_dialect fr_dialect_tile = {
    .language = "tile language",
    .operation = "tile operation",
    .callables = "tile operations and plain Python functions",
    .elements = "arrays are in memory; read a tile of one with ct.load or ct.gather",
    .tuples = "ct.astile(x) makes a tile of a tuple of numbers, which lists and NumPy arrays of the host are here",
    .members = tile_members,
    .module = "ct",
    .level = TS_LEVEL_T,
    .ints = {TS_DTYPE_int32, TS_DTYPE_int64, TS_DTYPE_uint64},
    .real = TS_DTYPE_float32,
    .complex = TS_DTYPE_complex64,
    .ops = tile_ops,
    .n_ops = TS_COUNT(tile_ops),
    .methods = tile_methods,
    .n_methods = TS_COUNT(tile_methods),
    .numpy = tile_numpy,
    .unary = fr_tiles_unary,
    .binary = fr_tiles_binary,
    .compare = fr_tiles_compare,
    .minmax = fr_tiles_minmax,
    .cast = fr_tiles_cast,
    .array = fr_tensor_view,
    .array_attribute = tile_array_attribute,
    .get_item = tile_get_item,
    .set_item = tile_set_item,
};
