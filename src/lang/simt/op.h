/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the thread language share: typing rules, scalars, memory of arrays, and the lowering functions
 * named in simt_op.def.
 */
#ifndef TS_LANG_SIMT_OP_H
#define TS_LANG_SIMT_OP_H

#include "ir/mma.h"
#include "lang/lower.h"

/* Rows of libdevice.def. */
typedef enum fr_libdevice {
#define TS_LIBDEVICE(name, ...) TS_LIBDEVICE_##name,
#include "lang/simt/libdevice.def"
    TS_LIBDEVICE_COUNT
} fr_libdevice;

#define TS_SIMT_OP(name, signature, function, x, y)                                                                   \
    ts_status fr_simt_##function(fr *f, const fr_call *c, fr_value *out);
#include "lang/simt/simt_op.def"

enum { FR_GROUP_GRID, FR_GROUP_CLUSTER };
enum { FR_BLOCK_COUNT, FR_BLOCK_AND, FR_BLOCK_OR };
enum { FR_VOTE_ALL, FR_VOTE_ANY, FR_VOTE_EQUAL, FR_VOTE_BALLOT };
enum { FR_BITS_POPC, FR_BITS_CLZ, FR_BITS_FFS, FR_BITS_BREV };

/* Reductions; from MIN on they choose an element. NUMBERS: how many are not NaN. */
enum {
    FR_REDUCE_SUM, FR_REDUCE_PROD, FR_REDUCE_ANY, FR_REDUCE_ALL, FR_REDUCE_COUNT, FR_REDUCE_NUMBERS, FR_REDUCE_MEAN,
    FR_REDUCE_VAR, FR_REDUCE_STD, FR_REDUCE_MIN, FR_REDUCE_MAX, FR_REDUCE_ARGMIN, FR_REDUCE_ARGMAX
};

/* ---- typing.c: numba's rules ------------------------------------------------------------------ */
/* The type of a value as numba writes it: "Literal[int](1)", "array(float32, 1d, A)", "class(float32)". */
const char *fr_simt_type_text(fr *f, const fr_value *v);

/* The dtypes that an operator's operands are converted to, and that of the result. */
typedef struct fr_rule {
    ts_dtype x, y, result;
} fr_rule;
/* False where the operator does not take them; y is NONE for an operator of one operand. */
bool fr_simt_rule(ts_operator op, ts_dtype x, ts_dtype y, fr_rule *out);
/* np.promote_types; NONE where there is no common dtype. */
ts_dtype fr_simt_promote(ts_dtype a, ts_dtype b);
ts_dtype fr_simt_counter(uint32_t n, const ts_dtype *dtypes);

/* ---- scalars: arith.c ---------------------------------------------------------------------------- */

/* The dtype of a number, literal or not. */
ts_status fr_simt_dtype(fr *f, const fr_value *v, ts_dtype *out);
/* The number as an IR value of the dtype, converted as an assignment to an array's element is. */
ts_status fr_simt_cast(fr *f, const fr_value *v, ts_dtype dtype, ts_val *out);
ts_status fr_simt_convert(fr *f, const fr_value *v, ts_dtype dtype, fr_value *out);
ts_status fr_simt_unary(fr *f, ts_operator op, const fr_value *x, fr_value *out);
ts_status fr_simt_binary(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_options options,
                         fr_value *out);
ts_status fr_simt_compare(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out);
ts_status fr_simt_minmax(fr *f, bool is_max, const fr_value *x, const fr_value *y, uint32_t attr, fr_value *out);
/* x ** n by squaring for n known only at run time. */
ts_val fr_simt_int_power(fr *f, ts_dtype dtype, ts_val x, ts_val n, ts_dtype n_dtype);
bool fr_simt_is_number(const fr_value *v);

/* A condition of run time or not, as an i1. */
ts_status fr_simt_truth(fr *f, const fr_value *v, ts_val *out);

/* The numbers that argument i is made of, in new memory; an error where it has other parts. In op_parts.c. */
ts_status fr_simt_numbers(fr *f, const fr_call *c, uint32_t i, uint32_t *n, fr_value **out);

/* ---- complex numbers: complex.c -------------------------------------------------------------------------- */

/* Operands become the complex dtype. */
ts_status fr_simt_complex_binary(fr *f, ts_operator op, const fr_value *x, const fr_value *y, ts_dtype dtype,
                                 fr_value *out);
ts_status fr_simt_complex_compare(fr *f, ts_operator op, const fr_value *x, const fr_value *y, ts_dtype dtype,
                                  fr_value *out);
ts_status fr_simt_number_attribute(fr *f, const fr_value *of, const char *name, fr_value *out, bool *found);
/* Functions of cmath, and those of others where an argument is complex; *done stays false for the rest. */
ts_status fr_simt_complex_call(fr *f, uint32_t node, const char *name, uint32_t n, const fr_value *args, fr_value *out,
                               bool *done);
/* One or two truths by an operation of bits; one alone is paired with true. */
ts_status fr_simt_logical(fr *f, ts_op op, uint32_t n, const fr_value *args, fr_value *out);

/* ---- arrays: array.c ------------------------------------------------------------------------------- */

/* How many bits hold the value, which is not negative; 64: unknown, or it may be negative. */
uint32_t fr_simt_width(const fr *f, ts_val v, uint32_t depth);
/* A step above zero, and a stop that leaves room for it. */
fr_counts fr_simt_counts_up(const fr *f, ts_val start, ts_val stop, ts_val step);
/* The address of one element; the index has one number for each axis. FR_CHECKED: where kernels are compiled so. */
typedef enum fr_checks { FR_UNCHECKED, FR_CHECKED } fr_checks;
ts_status fr_simt_address(fr *f, uint32_t node, const fr_value *array, const fr_value *index, fr_checks checks,
                          ts_val *out);
ts_type fr_simt_storage(ts_dtype dtype);
fr_value fr_simt_loaded(fr *f, ts_dtype dtype, ts_val v); /* of what is in memory */
fr_value fr_simt_load(fr *f, ts_dtype dtype, ts_val address, uint32_t cache);
ts_status fr_simt_store(fr *f, ts_dtype dtype, ts_val address, const fr_value *value, uint32_t cache);
ts_status fr_simt_get_item(fr *f, uint32_t node, const fr_value *of, const fr_value *index, fr_value *out);
ts_status fr_simt_set_item(fr *f, uint32_t node, const fr_value *of, const fr_value *index, const fr_value *value);
ts_status fr_simt_array_attribute(fr *f, const fr_value *of, const char *name, fr_value *out, bool *found);
/* What a store writes for the value: of the type in memory. */
ts_status fr_simt_stored(fr *f, ts_dtype dtype, const fr_value *value, ts_val *out);
/* a[...] = value for all elements; an array is broadcast. */
ts_status fr_simt_fill(fr *f, const fr_array *a, const fr_value *value);
/* The same with what `make` gives for the items of n arrays, which are broadcast, and numbers; NULL: the first item. */
enum { FR_EACH_MOST = 3 };
typedef ts_status fr_each(fr *f, void *user, uint32_t n, const fr_value *items, fr_value *out);
ts_status fr_simt_each(fr *f, const fr_array *a, uint32_t n, const fr_value *from, fr_each *make, void *user);
/* A row-major array at the pointer. */
ts_status fr_simt_new_array(fr *f, ts_dtype dtype, ts_val base, uint32_t rank, const fr_value *shape, fr_value *out);

/* ---- elements of any array, fields of records, texts: struct.c ----------------------------------------------- */

ts_status fr_simt_get(fr *f, const fr_array *a, ts_val address, uint32_t cache, fr_value *out);
ts_status fr_simt_put(fr *f, const fr_array *a, ts_val address, const fr_value *value, uint32_t cache);
/* Of an array of numbers: do they lie at multiples of their size? And the address as a pointer to them. */
bool fr_simt_is_aligned(const fr_array *a);
ts_val fr_simt_pointer(fr *f, const fr_array *a, ts_val address);
uint32_t fr_simt_item_bytes(const fr_array *a);
/* Of an array with strides in bytes: all elements begin so much later. */
void fr_simt_move_bytes(fr *f, fr_array *a, int64_t bytes);
/* Of an array of records an array, of a record what the field holds. */
ts_status fr_simt_field(fr *f, uint32_t node, const fr_value *of, const fr_field *field, fr_value *out);
ts_status fr_simt_set_field(fr *f, uint32_t node, const fr_value *of, const fr_field *field, const fr_value *value);
ts_status fr_simt_find_field(fr *f, uint32_t node, const fr_value *of, const char *name, const fr_field **out);
ts_status fr_simt_index_field(fr *f, uint32_t node, const fr_value *of, const fr_value *index, const fr_field **out);
ts_status fr_simt_set_attribute(fr *f, uint32_t node, const fr_value *of, const char *name, const fr_value *value);
ts_status fr_simt_compare_array(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out, bool *done);
void fr_simt_text_length(fr *f, const fr_value *text, fr_value *out);
/* A row-major array of records or texts at a pointer to bytes, which is aligned to 16. */
ts_status fr_simt_new_struct_array(fr *f, const fr_element *element, ts_val base, uint32_t rank, const fr_value *shape,
                                   fr_value *out);
ts_status fr_simt_constant_elements(fr *f, uint32_t object, fr_value *out);

/* ---- constant arrays: constant.c ------------------------------------------------------------------------ */

/* A tuple of numbers, in rows of equal lengths, as an array in constant memory. False of anything else. */
ts_status fr_simt_constant_array(fr *f, const fr_value *v, fr_value *out, bool *found);
ts_status fr_simt_index_tuple(fr *f, uint32_t node, const fr_value *tuple, const fr_value *index, fr_value *out);
/* Constant memory of the module with these bytes. */
ts_val fr_simt_constant_bytes(fr *f, const void *bytes, size_t n, ts_status *status);

/* ---- neighbours: op_memory.c ------------------------------------------------------------------------------ */

ts_space fr_simt_space(const fr *f, const fr_array *a);
/* The address of element arg[i + 1] of the array arg[i], whose elements lie side by side from there on. */
ts_status fr_simt_neighbours(fr *f, const fr_call *c, uint32_t i, ts_dtype *dtype, ts_val *out);
/* Where indices are checked: `count` elements from that address on are in the array, and it is a multiple of `align`.
 * */
ts_status fr_simt_check_neighbours(fr *f, const fr_call *c, uint32_t i, const fr_value *count, uint32_t align,
                                   ts_val address);
/* Element arg[i + 1] of the array of barriers arg[i]. In op_async.c. */
ts_status fr_simt_mbar_at(fr *f, const fr_call *c, uint32_t i, ts_val *out);
/* Numbers as registers of 32 bits for the tensor cores, `per` of them each, the first one lowest; and back. In
 * op_mma.c. */
ts_val fr_simt_pack(fr *f, const ts_val *x, uint32_t per);
void fr_simt_unpack(fr *f, ts_val word, ts_type elem, uint32_t per, ts_val *out);

/* ---- exceptions: raise.c ---------------------------------------------------------------------------------- */

bool fr_simt_reports(const fr *f, uint32_t what); /* TS_CHECK_ bits */

typedef struct fr_fault {
    int code;                /* ts_fault_code */
    const char *text;
    ts_val index, extent;    /* i64; 0 none */
} fr_fault;
/* Where `fine`, an i1, is false the fault is reported, if any are, and the thread ends. */
void fr_simt_check(fr *f, ts_val fine, const fr_fault *fault);
/* The fault is reported always, and the thread goes on. */
void fr_simt_tell(fr *f, ts_val fine, const fr_fault *fault);
/* The same for a divisor, where exceptions are reported. */
void fr_simt_check_zero(fr *f, ts_val y);
void fr_simt_check_step(fr *f, ts_val fine);
/* The same for an index, from -extent on; both are i64. */
void fr_simt_check_index(fr *f, ts_val index, ts_val extent, const fr_fault *fault);
ts_status fr_simt_raise(fr *f, uint32_t node, fr_flow *flow);
ts_status fr_simt_assert(fr *f, uint32_t node);

/* ---- math.c ------------------------------------------------------------------------------------------ */

ts_status fr_simt_builtin(fr *f, uint32_t node, const char *name, uint32_t n, const fr_value *args, fr_value *out,
                          bool *done);

#endif
