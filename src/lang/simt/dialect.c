/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread language, numba.cuda's, as a dialect of the front end: its table (lang/lower.h), with the rows of
 * simt_op.def.
 */
#include "lang/simt/op.h"

static const fr_op simt_ops[] = {
#define TS_SIMT_OP(name, signature, function, x, y) {#name, signature, fr_simt_##function, x, y, true},
#include "lang/simt/simt_op.def"
};

static const fr_method simt_methods[] = {
#define TS_SIMT_METHOD(kind, name, op) {FR_##kind, #name, #op},
#include "lang/simt/simt_op.def"
};

static const char *const simt_members[] = {"dtype", "itemsize", "nbytes", "ndim", "shape", "size", "strides", "T",
                                           "real",  "imag",     NULL};

const fr_dialect fr_dialect_thread = {
    .language = "thread language",
    .operation = "thread operation",
    .callables = "functions of tessera.cuda and of this program, and those of math and NumPy for numbers,",
    .elements = "arrays are in memory; read and write their elements, x[i]",
    .tuples = "take the items of the tuple: i, j = cuda.grid(2)",
    .members = simt_members,
    .module = "cuda",
    .level = TS_LEVEL_S,
    .ints = {TS_DTYPE_int64, TS_DTYPE_int64, TS_DTYPE_uint64},
    .real = TS_DTYPE_float64,
    .complex = TS_DTYPE_complex128,
    .counts_down = true,
    .iterates_arrays = true,
    .numbers_are = true,
    .has_zeros = true,
    .has_structs = true,
    .ops = simt_ops,
    .n_ops = TS_COUNT(simt_ops),
    .methods = simt_methods,
    .n_methods = TS_COUNT(simt_methods),
    .unary = fr_simt_unary,
    .binary = fr_simt_binary,
    .compare = fr_simt_compare,
    .minmax = fr_simt_minmax,
    .cast = fr_simt_convert,
    .join = fr_simt_promote,
    .counter = fr_simt_counter,
    .counts_up = fr_simt_counts_up,
    .array_attribute = fr_simt_array_attribute,
    .number_attribute = fr_simt_number_attribute,
    .get_item = fr_simt_get_item,
    .set_item = fr_simt_set_item,
    .set_attribute = fr_simt_set_attribute,
    .compare_array = fr_simt_compare_array,
    .constant_array = fr_simt_constant_elements,
    .array_of = fr_simt_constant_array,
    .index_tuple = fr_simt_index_tuple,
    .builtin = fr_simt_builtin,
    .raise = fr_simt_raise,
    .assertion = fr_simt_assert,
    .check_step = fr_simt_check_step,
};
