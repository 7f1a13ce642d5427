/* SPDX-License-Identifier: Apache-2.0
 *
 * Sources of kernels: Python goes to the driver of compilations (compile.c), IR is read, verified and checked against
 * the arguments that it will be launched with, and a custom source brings its own compiler.
 */
#include "compile/compile.h"
#include <stdio.h>

static ts_type source_elem(uint8_t dtype)
{
    return ts_dtype_get((ts_dtype)dtype)->scalar;
}

/* What a number is passed as. */
static ts_type source_number(uint8_t dtype)
{
    return dtype == TS_DTYPE_bool_ ? TS_T_i32 : source_elem(dtype);
}

static ts_status source_param_bad(const ts_fn *fn, ts_val v, size_t argument, const char *wanted, ts_error *err)
{
    ts_text found;
    ts__text_init(&found, NULL);
    if (v <= fn->n_params)
        ts__type_print(fn->module, ts_type_of(fn, v), &found);
    ts_status status = ts_fail(err, TS_TYPE, "kernel '%s': parameter %u is %s, but argument %zu passes %s there",
                               ts_str_get(fn->module, fn->name), v - 1,
                               v <= fn->n_params ? ts__text_get(&found) : "missing",
                               argument, wanted);
    ts__text_deinit(&found);
    return status;
}

static bool source_is_index(const ts_fn *fn, ts_val v)
{
    ts_type type = v <= fn->n_params ? ts_type_of(fn, v) : TS_T_none;
    return type == TS_T_i32 || type == TS_T_i64;
}

/* Integers that the arguments after one pass before anything else. */
static uint32_t source_integers_after(const ts_spec *spec, size_t n_spec, size_t argument)
{
    uint32_t n = 0;
    for (size_t i = argument + 1; i < n_spec; i++) {
        ts_type number = spec[i].kind == TS_SPEC_SCALAR ? source_number(spec[i].dtype) : TS_T_none;
        if (number == TS_T_i32 || number == TS_T_i64)
            n++;
        else if (spec[i].kind == TS_SPEC_SCALAR || spec[i].kind == TS_SPEC_ARRAY || spec[i].kind == TS_SPEC_LIST)
            break;
    }
    return n;
}

/* Of an array whose pointer is parameter v: as many integers must follow as its extents and strides, and the integer
 * arguments behind it, are. */
static ts_status source_check_rank(const ts_fn *fn, ts_val v, const ts_spec *spec, size_t n_spec, size_t argument,
                                   ts_error *err)
{
    uint32_t n = 0, rank = spec[argument].rank, after = source_integers_after(spec, n_spec, argument);
    char fits[64] = "";
    while (source_is_index(fn, v + 1 + n))
        n++;
    if (n == 2 * rank + after)
        return TS_OK;
    if (n >= after && (n - after) % 2 == 0)
        snprintf(fits, sizeof fits, ": an array of rank %u fits", (n - after) / 2);
    return ts_fail(err, TS_TYPE, "kernel '%s': argument %zu is an array of rank %u, which passes a pointer, %u extents "
                   "and %u strides, but %u integers follow that pointer (parameter %u), %u of them for the arguments "
                   "after it%s", ts_str_get(fn->module, fn->name), argument, rank, rank, rank, n, v - 1,
                   TS_MIN(n, after), fits);
}

/* The parameters of one array: pointer, extents, strides. Numbers may be wider than needed: a slot has 64
 * bits. */
static ts_status source_check_array(const ts_fn *fn, ts_val *v, const ts_spec *spec, size_t n_spec, size_t argument,
                                    ts_error *err)
{
    const ts_spec *s = &spec[argument];
    ts_type elem = s->dtype == TS_DTYPE_bool_ ? TS_T_i8 : source_elem(s->dtype);
    bool is_ptr = *v <= fn->n_params && ts_type_kind(fn->module, ts_type_of(fn, *v)) == TS_KIND_PTR;
    char wanted[96];
    snprintf(wanted, sizeof wanted, "a pointer to %s", ts_scalar_name(elem));
    if (!is_ptr || ts_type_get(fn->module, ts_type_of(fn, *v))->elem != elem)
        return source_param_bad(fn, *v, argument, wanted, err);
    TS_TRY(source_check_rank(fn, *v, spec, n_spec, argument, err));
    ++*v;
    snprintf(wanted, sizeof wanted, "an extent or stride of %u bits", s->index_bits);
    for (uint32_t i = 0; i < 2u * s->rank; i++, ++*v) {
        ts_type type = *v <= fn->n_params ? ts_type_of(fn, *v) : TS_T_none;
        if (type != TS_T_i64 && (type != TS_T_i32 || s->index_bits > 32))
            return source_param_bad(fn, *v, argument, wanted, err);
    }
    return TS_OK;
}

/* Those of a list: its table of 64-bit words and its length. */
static ts_status source_check_list(const ts_fn *fn, ts_val *v, size_t argument, ts_error *err)
{
    ts_type table = *v <= fn->n_params ? ts_type_of(fn, *v) : TS_T_none;
    if (ts_type_kind(fn->module, table) != TS_KIND_PTR || ts_type_get(fn->module, table)->elem != TS_T_i64)
        return source_param_bad(fn, *v, argument, "a pointer to i64, the table of a list,", err);
    ++*v;
    if (*v > fn->n_params || ts_type_of(fn, *v) != TS_T_i32)
        return source_param_bad(fn, *v, argument, "i32, the length of a list,", err);
    ++*v;
    return TS_OK;
}

/* Whether the function takes what a launch with these arguments passes. */
static ts_status source_check_params(const ts_fn *fn, const ts_spec *spec, size_t n_spec, ts_error *err)
{
    const char *name = ts_str_get(fn->module, fn->name);
    ts_val v = 1;
    for (size_t i = 0; i < n_spec; i++) {
        if (spec[i].kind == TS_SPEC_ARRAY)
            TS_TRY(source_check_array(fn, &v, spec, n_spec, i, err));
        else if (spec[i].kind == TS_SPEC_SCALAR) {
            ts_type number = source_number(spec[i].dtype);
            if (v > fn->n_params || ts_type_of(fn, v) != number)
                return source_param_bad(fn, v, i, ts_scalar_name(number), err);
            v++;
        } else if (spec[i].kind == TS_SPEC_LIST)
            TS_TRY(source_check_list(fn, &v, i++, err));
        else if (spec[i].kind != TS_SPEC_TUPLE && spec[i].kind != TS_SPEC_NONE && spec[i].kind != TS_SPEC_COMPLEX)
            return ts_fail(err, TS_TYPE, "kernel '%s' is IR, which takes arrays, lists of them and numbers, but "
                           "argument %zu is a constant", name, i);
    }
    if (v - 1 != fn->n_params)
        return ts_fail(err, TS_TYPE, "kernel '%s' has %u parameters, its arguments pass %u; an array passes its "
                       "pointer, extents and strides", name, fn->n_params, v - 1);
    return TS_OK;
}

static ts_status source_ir(const ts_source *source, const ts_spec *spec, size_t n_spec, ts_arena *arena,
                            ts_module **module, ts_error *err)
{
    TS_TRY(ts__module_read(arena, source->bytes, source->n, module, err));
    TS_TRY(ts_module_verify(*module, err));
    ts_fn *fn;
    TS_TRY(ts__compile_entry(*module, source->entry, &fn, err));
    TS_TRY(source_check_params(fn, spec, n_spec, err));
    for (size_t i = 0; i < n_spec; i++)
        if (spec[i].overlap || spec[i].same_as)
            fn->overlap = true;
    return TS_OK;
}

ts_status ts_compile_source(const ts_source *source, const ts_spec *spec, size_t n_spec, const ts_hints *hints,
                            ts_target target, const ts_alloc *alloc, ts_code *out, ts_error *err)
{
    TS_NEED(err, source, out);
    TS_NEED_N(err, spec, n_spec);
    memset(out, 0, sizeof *out);
    if (source->kind == TS_SOURCE_CUSTOM)
        return source->compile(source, spec, n_spec, hints, target, alloc, out, err);
    if (source->kind == TS_SOURCE_PYTHON)
        return ts__compile_python(source, spec, n_spec, hints, target, alloc, out, err);
    ts_source text = *source;
    char *printed = NULL;
    if (source->kind == TS_SOURCE_MODULE) {
        TS_TRY(ts_module_print(source->module, alloc, &printed, &text.n, err));
        text.bytes = printed;
    }
    ts_arena arena;
    ts__arena_init(&arena, alloc);
    ts_module *module = NULL;
    const ts_spec *block = ts__compile_block(spec, &n_spec);
    ts_status status = source_ir(&text, spec, n_spec, &arena, &module, err);
    if (status == TS_OK)
        status = ts__compile_module(module, source->entry, hints, target, block, NULL, alloc, out, err);
    if (printed)
        arena.alloc->resize(arena.alloc->user, printed, text.n + 1, 0);
    ts__arena_deinit(&arena);
    return status;
}
