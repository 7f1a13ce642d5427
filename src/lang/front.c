/* SPDX-License-Identifier: Apache-2.0 */

/* clang-format off */
/*
 * The entries of the front end: reads the pack, turns the spec into parameters and what is known about them, lowers the
 * kernel's body; or, with types in the place of the spec, a function's. Read next: lower.h (the parts), stmt.c, expr.c.
 *
 *     k(a: float32 array, rank 1, aligned; n: int32)     ─▶    entry k(%0: ptr<f32>, %1: i32, %2: i32, %3: i32)
 *                                                                %4 = assume div_by 16 %0
 *                                                                %5 = assume bounded 0 %1
 *                                                                ..
 *                                                                %7 = make_tensor_view %4, shape [%5], strides [1]
 */
/* clang-format on */
#include "lang/lower.h"

/* ---- parameters ---------------------------------------------------------------------- */

/* First pass over the specs: the function's parameters, in the order of compile.h. Values of the
 * parameters are then consecutive from 1. */
static ts_status front_param_array(fr *f, const ts_spec *s)
{
    if (s->rank > TS_ARRAY_RANK || !s->dtype || s->dtype >= TS_DTYPE_COUNT ||
        (s->index_bits != 32 && s->index_bits != 64))
        return ts_fail(f->err, TS_VALUE,
                       "argument: rank %u, dtype %u, index width %u do not describe an array",
                       s->rank, s->dtype, s->index_bits);
    ts_type elem = s->dtype == TS_DTYPE_bool_ ? TS_T_i8 : fr_ir((ts_dtype)s->dtype);
    ts_fn_param(&f->b, ts_type_ptr(f->module, elem, TS_GLOBAL));
    for (uint32_t i = 0; i < 2u * s->rank; i++)
        ts_fn_param(&f->b, s->index_bits == 64 ? TS_T_i64 : TS_T_i32);
    return TS_OK;
}

static ts_status front_param_scalar(fr *f, const ts_spec *s)
{
    if (!s->dtype || s->dtype >= TS_DTYPE_COUNT || s->dtype == TS_DTYPE_float4_e2m1fn)
        return ts_fail(f->err, TS_VALUE, "argument: dtype %u is none of a scalar", s->dtype);
    ts_fn_param(&f->b, s->dtype == TS_DTYPE_bool_ ? TS_T_i32 : fr_ir((ts_dtype)s->dtype));
    return TS_OK;
}

static void front_note_list(fr *f)
{
    ts_fn *fn = f->b.fn;
    if (f->hints && f->hints->tables && fn->n_lists < TS_FN_LISTS && fn->n_params < UINT8_MAX)
        fn->list[fn->n_lists++] = (uint8_t)fn->n_params;
}

static ts_status front_params(fr *f, const ts_spec *spec, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        switch (spec[i].kind) {
        case TS_SPEC_ARRAY:
            TS_TRY(front_param_array(f, &spec[i]));
            break;
        case TS_SPEC_SCALAR:
            TS_TRY(front_param_scalar(f, &spec[i]));
            break;
        case TS_SPEC_LIST: /* the item that follows describes its arrays and takes no parameters */
            front_note_list(f);
            ts_fn_param(&f->b, ts_type_ptr(f->module, TS_T_i64, TS_GLOBAL));
            ts_fn_param(&f->b, TS_T_i32);
            if (++i >= n || spec[i].kind != TS_SPEC_ARRAY)
                return ts_fail(
                    f->err, TS_VALUE,
                    "argument: a list must be followed by the description of its arrays");
            break;
        default:
            break;
        }
    }
    return TS_OK;
}

/* ---- what is known about them -------------------------------------------------------- */

static ts_val front_div_by(fr *f, ts_val v, uint64_t divisor)
{
    uint32_t words[] = {TS_ASSUME_DIV_BY, (uint32_t)divisor, (uint32_t)(divisor >> 32), 0, 0, 0};
    if (divisor < 2)
        return v;
    return ts_emit(&f->b, TS_OP_assume, ts_type_of(f->b.fn, v), 1, &v,
                   ts_pool_add(&f->b, TS_COUNT(words), words), 0);
}

/* From 0 to most; 0: no bound above. */
static ts_val front_not_negative(fr *f, ts_val v, uint32_t most)
{
    uint32_t words[] = {TS_ASSUME_BOUNDED, 1, 0, 0, most != 0, most, 0};
    return ts_emit(&f->b, TS_OP_assume, ts_type_of(f->b.fn, v), 1, &v,
                   ts_pool_add(&f->b, TS_COUNT(words), words), 0);
}

/* What an extent is at most: only integers of 64 bits, which tile kernels have few of, are narrower by it. */
static uint32_t front_most(const fr *f, ts_dtype index)
{
    return index == TS_DTYPE_int32 && f->dialect->level == TS_LEVEL_S ? (uint32_t)TS_INDEX32_MAX : 0;
}

ts_val fr_known_base(fr *f, const ts_spec *s, ts_val base)
{
    return front_div_by(f, base, s->align16 ? 16 : 0);
}

fr_value fr_known_extent(fr *f, const ts_spec *s, uint32_t d, ts_val param, ts_dtype index)
{
    if (s->static_shape >> d & 1)
        return fr_strict(index, s->dims[d]);
    if (s->shape_one >> d & 1)
        return fr_strict(index, 1);
    ts_val extent = front_not_negative(f, param, front_most(f, index));
    return fr_tile(index, front_div_by(f, extent, s->shape_div16 >> d & 1 ? 16 : 0));
}

fr_value fr_known_stride(fr *f, const ts_spec *s, uint32_t d, ts_val param, ts_dtype index)
{
    uint64_t bytes = TS_MAX(ts_dtype_bytes((ts_dtype)s->dtype), 1);
    if (s->static_stride >> d & 1)
        return fr_strict(index, s->strides[d]);
    if (s->unit_stride >> d & 1)
        return fr_strict(index, 1);
    ts_val stride = s->loose ? param : front_not_negative(f, param, 0);
    return fr_tile(index, front_div_by(f, stride, s->stride_div16 >> d & 1 ? 16 / bytes : 0));
}

static ts_status front_array(fr *f, const ts_spec *s, ts_val *next, fr_value *out)
{
    fr_array *a = TS_NEW(f->arena, fr_array);
    if (!a)
        return fr_oom(f);
    ts_dtype index = s->index_bits == 64 ? TS_DTYPE_int64 : TS_DTYPE_int32;
    f->b.fn->overlap |= s->overlap != 0;
    if (s->same_as) { /* one array, so that its accesses are seen to be of one place */
        if (s->same_as > f->arrays.n)
            return ts_fail(f->err, TS_VALUE, "argument: an array is said to be number %u of %u", s->same_as,
                           f->arrays.n);
        *next += 1 + 2u * s->rank;
        a = f->arrays.at[s->same_as - 1];
        *out = (fr_value){.kind = FR_ARRAY, .as.array = a};
        return TS_PUSH(f->arena, &f->arrays, a) ? TS_OK : fr_oom(f);
    }
    *a = (fr_array){.dtype = s->dtype, .rank = s->rank, .index_dtype = (uint8_t)index};
    a->base = fr_known_base(f, s, (*next)++);
    for (uint32_t d = 0; d < s->rank; d++)
        a->extent[d] = a->shape[d] = fr_known_extent(f, s, d, (*next)++, index);
    for (uint32_t d = 0; d < s->rank; d++)
        a->stride[d] = fr_known_stride(f, s, d, (*next)++, index);
    *out = (fr_value){.kind = FR_ARRAY, .as.array = a};
    if (!TS_PUSH(f->arena, &f->arrays, a))
        return fr_oom(f);
    return f->dialect->array ? f->dialect->array(f, a) : TS_OK;
}

static ts_status front_scalar(fr *f, const ts_spec *s, ts_val *next, fr_value *out)
{
    *out = fr_tile((ts_dtype)s->dtype, (*next)++);
    if (s->dtype == TS_DTYPE_bool_)
        out->as.v = ts_cmp(&f->b, TS_OP_cmpi, TS_NE, out->as.v, ts_int(&f->b, TS_T_i32, 0), 0);
    return TS_OK;
}

static ts_status front_list(fr *f, const ts_spec *element, ts_val *next, fr_value *out)
{
    fr_list *list = TS_NEW(f->arena, fr_list);
    if (!list)
        return fr_oom(f);
    list->base = front_div_by(f, (*next)++, 8);
    list->length = front_not_negative(f, (*next)++, 0);
    list->element = *element;
    *out = (fr_value){.kind = FR_LIST, .as.list = list};
    return TS_OK;
}

static ts_status front_value(fr *f, const ts_spec *spec, size_t n, size_t *at, ts_val *next,
                             uint32_t depth, fr_value *out);

static ts_status front_tuple(fr *f, const ts_spec *spec, size_t n, size_t *at, ts_val *next,
                             uint32_t depth, fr_value *out)
{
    uint64_t count = (uint64_t)spec[*at - 1].value;
    if (count > n - *at || depth > 64)
        return ts_fail(
            f->err, TS_VALUE,
            "argument: a tuple of %llu items has only %zu after it, or nests deeper than 64",
            (unsigned long long)count, n - *at);
    fr_value *items = TS_NEW_N(f->arena, fr_value, count + 1);
    if (!items)
        return fr_oom(f);
    for (uint64_t i = 0; i < count; i++)
        TS_TRY(front_value(f, spec, n, at, next, depth + 1, &items[i]));
    return fr_container(f, FR_TUPLE, (uint32_t)count, items, out);
}

/* The two floats that follow are the parts. */
static ts_status front_complex(fr *f, const ts_spec *spec, size_t n, size_t *at, ts_val *next, uint32_t depth,
                               fr_value *out)
{
    fr_value pair;
    TS_TRY(front_value(f, spec, n, at, next, depth + 1, &pair));
    const fr_value *part = pair.as.items;
    bool fits = pair.kind == FR_TUPLE && pair.n == 2 && part[0].kind == FR_TILE && part[1].kind == FR_TILE &&
                part[0].dtype == part[1].dtype;
    ts_dtype dtype = fits && part->dtype == TS_DTYPE_float64   ? TS_DTYPE_complex128
                     : fits && part->dtype == TS_DTYPE_float32 ? TS_DTYPE_complex64
                                                               : TS_DTYPE_NONE;
    if (!dtype)
        return ts_fail(f->err, TS_VALUE, "argument: a complex number is followed by two numbers of float32 or float64");
    *out = fr_complex_join(f, dtype, part[0].as.v, part[1].as.v);
    return TS_OK;
}

/* The tuple of fields that follows becomes an instance of the class. */
static ts_status front_record(fr *f, int64_t cls, const ts_spec *spec, size_t n, size_t *at, ts_val *next,
                              uint32_t depth, fr_value *out)
{
    TS_TRY(fr_host_object(f, cls, out));
    bool known = f->pack.objects[cls].kind == TS_OBJ_RECORD && *at < n && spec[*at].kind == TS_SPEC_TUPLE;
    if (known)
        TS_TRY(front_value(f, spec, n, at, next, depth, out));
    return known && fr_record_of_items(f, (uint32_t)cls, out)
               ? TS_OK
               : ts_fail(f->err, TS_VALUE, "argument: object %lld is not the class of the fields that follow",
                         (long long)cls);
}

/* The array of bytes that follows holds elements of the object. */
static ts_status front_struct(fr *f, const ts_spec *s, const ts_spec *spec, size_t n, size_t *at, ts_val *next,
                              uint32_t depth, fr_value *out)
{
    fr_value bytes;
    if (*at >= n || spec[*at].kind != TS_SPEC_ARRAY || spec[*at].dtype != TS_DTYPE_uint8 || s->align > 4)
        return ts_fail(f->err, TS_VALUE, "argument: elements of object %lld, aligned to 2^%u bytes, are followed by no "
                       "array of bytes", (long long)s->value, s->align);
    TS_TRY(fr_host_object(f, s->value, out));
    TS_TRY(front_value(f, spec, n, at, next, depth, &bytes));
    return fr_struct_array(f, (uint32_t)s->value, 1u << s->align, &bytes, out);
}

static ts_status front_value(fr *f, const ts_spec *spec, size_t n, size_t *at, ts_val *next,
                             uint32_t depth, fr_value *out)
{
    if (*at >= n)
        return ts_fail(f->err, TS_VALUE, "argument: the description ends early");
    const ts_spec *s = &spec[(*at)++];
    double real;
    memcpy(&real, &s->value, sizeof real);
    *out = fr_none();
    switch (s->kind) {
    case TS_SPEC_ARRAY:
        return front_array(f, s, next, out);
    case TS_SPEC_SCALAR:
        return front_scalar(f, s, next, out);
    case TS_SPEC_INT:
        *out = fr_number(s->dtype == TS_DTYPE_uint64 ? (fr_int)(uint64_t)s->value : s->value);
        return s->dtype ? fr_round(f, out, (ts_dtype)s->dtype, out) : TS_OK;
    case TS_SPEC_FLOAT:
        *out = fr_real(real);
        return s->dtype ? fr_round(f, out, (ts_dtype)s->dtype, out) : TS_OK;
    case TS_SPEC_BOOL:
        *out = fr_bool(s->value != 0);
        return s->dtype ? fr_round(f, out, (ts_dtype)s->dtype, out) : TS_OK;
    case TS_SPEC_TUPLE:
        return front_tuple(f, spec, n, at, next, depth, out);
    case TS_SPEC_LIST:
        return front_list(f, &spec[(*at)++], next, out);
    case TS_SPEC_NONE:
        return TS_OK;
    case TS_SPEC_OBJECT:
        return fr_host_object(f, s->value, out);
    case TS_SPEC_COMPLEX:
        return front_complex(f, spec, n, at, next, depth, out);
    case TS_SPEC_RECORD:
        return front_record(f, s->value, spec, n, at, next, depth, out);
    case TS_SPEC_STRUCT:
        return front_struct(f, s, spec, n, at, next, depth, out);
    default:
        return ts_fail(f->err, TS_VALUE, "argument: unknown kind %u", s->kind);
    }
}

/* ---- the kernel ---------------------------------------------------------------------- */

/* The arrays that the kernel names, in order of their numbers. */
static ts_status front_captured(fr *f, const ts_spec *spec, size_t n, size_t *at, uint32_t *next)
{
    for (uint32_t i = 0; i < f->pack.n_objects; i++) {
        fr_value v;
        if (f->pack.objects[i].kind != TS_OBJ_CAPTURED || f->pack.objects[i].x != f->captured.n)
            continue;
        if (*at >= n)
            return fr_error(f, f->frame->scope->root, TS_TILETYPE, "kernel '%s' names an array of a device, which the "
                            "launch has to add to its arguments", f->frame->name);
        TS_TRY(front_value(f, spec, n, at, next, 0, &v));
        if (!TS_PUSH(f->arena, &f->captured, v))
            return fr_oom(f);
    }
    return TS_OK;
}


static ts_status front_bind(fr *f, const ts_spec *spec, size_t n)
{
    const fr_scope *scope = f->frame->scope;
    size_t at = 0;
    ts_val next = 1;
    TS_TRY(front_params(f, spec, n));
    for (uint32_t i = 0; i < scope->n_args; i++) {
        const ts_node *param = ts_pack_node(&f->pack, scope->args[i]);
        if (param->f[1] == TS_PARAMETER_REST || param->f[1] == TS_PARAMETER_KEYWORDS)
            return fr_error(f, scope->args[i], TS_SYNTAX,
                            "a kernel cannot take *args or **kwargs\n  help: pass a tuple");
        if (at >= n)
            return fr_error(f, scope->root, TS_TILETYPE, "kernel '%s' takes %u arguments, got %u",
                            f->frame->name, scope->n_args, i);
        TS_TRY(front_value(f, spec, n, &at, &next, 0,
                           &f->frame->slots[fr_slot_of(scope, param->f[0]) - 1]));
    }
    TS_TRY(front_captured(f, spec, n, &at, &next));
    if (at != n)
        return fr_error(f, scope->root, TS_TILETYPE, "kernel '%s' takes %u arguments, got more",
                        f->frame->name, scope->n_args);
    return TS_OK;
}

/* A symbol of letters, digits and _ for names such as <lambda>. */
static const char *front_symbol(fr *f, const char *name)
{
    char *symbol = ts__arena_text(f->arena, name, strlen(name));
    for (char *c = symbol; c && *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
              (*c >= '0' && *c <= '9')))
            *c = '_';
    return symbol ? symbol : "kernel";
}

/* The number that a function for other code returns, or nothing. */
static ts_status front_result(fr *f, const fr_value *value)
{
    ts_fn *fn = f->b.fn;
    ts_dtype dtype = TS_DTYPE_NONE;
    fr_value tile;
    if (value->kind == FR_NONE) {
        ts_term(&f->b, TS_OP_return, 0, NULL);
        ts_fn_set_results(fn, 0, NULL);
        return TS_OK;
    }
    if (value->kind == FR_NUMBER)
        TS_TRY(fr_default_dtype(f, value, &dtype));
    else if (value->kind == FR_TILE)
        dtype = (ts_dtype)value->dtype;
    if (!dtype || fr_is_complex(value))
        return fr_error(f, f->frame->scope->root, TS_TILETYPE,
                        "a function that other code calls returns a real number or nothing, found %s\n"
                        "  help: store it where a pointer points that the caller gives", fr_say(f, value));
    TS_TRY(f->dialect->cast(f, value, dtype, &tile));
    TS_TRY(fr_as_tile(f, &tile, &tile));
    ts_type type = ts_type_of(fn, tile.as.v);
    ts_term(&f->b, TS_OP_return, 1, &tile.as.v);
    ts_fn_set_results(fn, 1, &type);
    fn->result_dtype = (uint8_t)dtype;
    return TS_OK;
}

/* A function for other code: what it returns is its result, and one `return` ends it. */
static ts_status front_function_of_threads(fr *f, const ts_spec *spec, size_t n)
{
    fr_value value;
    f->frame->is_kernel = false;
    f->b.fn->entry = false;
    TS_TRY(front_bind(f, spec, n));
    TS_TRY(fr_call_body(f, f->frame->scope, &value));
    fr_at(f, f->frame->scope->root);
    TS_TRY(front_result(f, &value));
    return ts_builder_status(&f->b, f->err);
}

static ts_status front_body(fr *f, const ts_spec *spec, size_t n)
{
    fr_flow flow;
    const fr_scope *scope = f->frame->scope;
    fr_at(f, scope->root);
    TS_TRY(front_bind(f, spec, n));
    if (ts_pack_node(&f->pack, scope->root)->kind == TS_AST_Lambda)
        return fr_error(f, scope->root, TS_SYNTAX,
                        "a kernel is a function made with def, not a lambda");
    TS_TRY(fr_block_lower(f, &(fr_block){scope->body, scope->n_body, NULL}, &flow));
    fr_at(f, scope->root);
    if (flow != FR_ENDS)
        ts_term(&f->b, TS_OP_return, 0, NULL);
    return ts_builder_status(&f->b, f->err);
}

static ts_status front_kernel(fr *f, const ts_spec *spec, size_t n)
{
    const fr_scope *scope;
    fr_frame like = {.is_kernel = true, .name = fr_string(f, f->pack.functions[0].name)};
    ts_fn *fn = ts_fn_create(f->module, front_symbol(f, like.name), f->dialect->level);
    if (!fn)
        return fr_oom(f);
    ts__builder_init(&f->b, fn);
    if (f->hints) {
        fn->num_ctas = f->hints->num_ctas;
        fn->occupancy = f->hints->occupancy;
        fn->num_warps = f->hints->num_worker_warps;
        fn->opt_level = f->hints->opt_level;
        fn->max_registers = f->hints->max_registers;
        fn->carveout = f->hints->carveout;
        fn->lines = f->hints->lines;
        fn->checked = f->hints->checked != 0;
    }
    TS_TRY(fr_scope_of(f, f->pack.functions[0].root, &scope));
    TS_TRY(fr_frame_open(f, &like, scope, &f->frame));
    bool function = f->hints && f->hints->function && f->dialect->level == TS_LEVEL_S;
    ts_status status = function ? front_function_of_threads(f, spec, n) : front_body(f, spec, n);
    f->frame = NULL;
    return status;
}

static const fr_dialect *const front_dialects[TS_DIALECT_COUNT] = {[TS_DIALECT_TILE] = &fr_dialect_tile,
                                                                   [TS_DIALECT_THREAD] = &fr_dialect_thread};

ts_status ts__front(ts_arena *arena, const ts_source *source, const ts_spec *spec, size_t n_spec,
                   const ts_hints *hints, ts_module **out, ts_error *err)
{
    char bottom;
    fr f = {.arena = arena, .hints = hints, .host = source->host, .err = err, .stack = &bottom};
    const ts_spec *block = n_spec && spec[n_spec - 1].kind == TS_SPEC_BLOCK ? &spec[--n_spec] : NULL;
    f.alone = block && block->dims[0] == 1 && block->dims[1] == 1 && block->dims[2] == 1;
    *out = NULL;
    TS_TRY(ts__pack_read(arena, source->bytes, source->n, &f.pack, err));
    f.dialect = front_dialects[f.pack.functions[0].dialect];
    f.module = ts__module_create(arena);
    if (!f.module)
        return fr_oom(&f);
    TS_TRY(front_kernel(&f, spec, n_spec));
    if (arena->failed)
        return fr_oom(&f);
    *out = f.module;
    return TS_OK;
}

/* ---- a function ---------------------------------------------------------------------- */

static ts_status front_check_type(fr *f, const ts_front_type *t, uint32_t i)
{
    bool known = t->dtype && t->dtype < TS_DTYPE_COUNT && t->rank <= TS_MAX_RANK;
    if (!known || (!t->rank && fr_dtype_bits((ts_dtype)t->dtype) < 8 && t->dtype != TS_DTYPE_bool_))
        return ts_fail(f->err, TS_VALUE, "parameter %u: dtype %u and rank %u describe no value", i, t->dtype, t->rank);
    for (uint32_t d = 0; d < t->rank; d++)
        if (!ts_is_pow2(t->dims[d]) || t->dims[d] > 1 << 24)
            return ts_fail(f->err, TS_VALUE, "parameter %u: extent %lld of axis %u is not a power of two up to 2^24", i,
                           (long long)t->dims[d], d);
    return TS_OK;
}

static ts_status front_function_params(fr *f, const ts_front_type *params, uint32_t n, fr_value *out)
{
    for (uint32_t i = 0; i < n; i++) {
        TS_TRY(front_check_type(f, &params[i], i));
        fr_shape shape = {.rank = params[i].rank};
        memcpy(shape.dims, params[i].dims, sizeof shape.dims);
        out[i] = fr_tile((ts_dtype)params[i].dtype, ts_fn_param(&f->b, fr_type(f, (ts_dtype)params[i].dtype, &shape)));
    }
    return TS_OK;
}

typedef TS_VEC(ts_val) front_vals;
typedef TS_VEC(ts_front_type) front_types;

/* The tiles of a returned value, in order; a number gets its default dtype. */
static ts_status front_results(fr *f, const fr_value *v, front_vals *vals, front_types *types)
{
    fr_value tile;
    for (uint32_t i = 0; v->kind == FR_TUPLE && i < v->n; i++)
        TS_TRY(front_results(f, &v->as.items[i], vals, types));
    if (v->kind == FR_TUPLE)
        return TS_OK;
    TS_TRY(fr_as_tile(f, v, &tile));
    fr_shape shape = fr_shape_of(f, &tile);
    ts_front_type type = {.dtype = tile.dtype, .rank = (uint8_t)shape.rank};
    memcpy(type.dims, shape.dims, sizeof type.dims);
    return TS_PUSH(f->arena, vals, tile.as.v) && TS_PUSH(f->arena, types, type) ? TS_OK : fr_oom(f);
}

/* Nothing in it belongs to tiles alone: kernels of threads may call it, too. */
static bool front_fits_threads(const ts_fn *fn)
{
    bool fits = true;
    for (ts_val v = 1; v < fn->inst.n; v++)
        fits &= ts_info(ts_at(fn, v))->level == TS_LEVEL_B &&
                ts_type_kind(fn->module, ts_type_of(fn, v)) != TS_KIND_TILE;
    return fits;
}

static ts_status front_function_body(fr *f, const ts_front_type *params, uint32_t n, ts_front_fn *out)
{
    const ts_pack_function *packed = &f->pack.functions[0];
    fr_function fn = {.root = packed->root, .name = fr_string(f, packed->name)};
    fr_value *args = TS_NEW_N(f->arena, fr_value, n + 1), value;
    front_vals vals = {0};
    front_types types = {0};
    if (!args)
        return fr_oom(f);
    TS_TRY(front_function_params(f, params, n, args));
    TS_TRY(fr_call_root(f, &fn, n, args, &value));
    fr_at(f, packed->root);
    if (value.kind != FR_NONE)
        TS_TRY(front_results(f, &value, &vals, &types));
    ts_type *result = TS_NEW_N(f->arena, ts_type, vals.n + 1);
    for (uint32_t i = 0; result && i < vals.n; i++)
        result[i] = ts_type_of(out->fn, vals.at[i]);
    ts_term(&f->b, TS_OP_return, vals.n, vals.at);
    TS_TRY(ts_builder_status(&f->b, f->err));
    ts_fn_set_results(out->fn, vals.n, result);
    out->fn->level = front_fits_threads(out->fn) ? TS_LEVEL_B : TS_LEVEL_T;
    out->n_results = vals.n;
    out->result = types.at;
    return TS_OK;
}

ts_status ts__front_function(ts_module *module, const char *name, const void *pack, size_t n_pack,
                             const ts_front_type *params, uint32_t n_params, ts_front_fn *out, ts_error *err)
{
    char bottom;
    fr f = {.dialect = &fr_dialect_tile, .arena = module->arena, .module = module, .err = err, .stack = &bottom};
    uint32_t n_fns = module->fns.n;
    ts_assert(name && *name);
    *out = (ts_front_fn){0};
    if (ts__fn_find(module, ts_intern(module, name, strlen(name))))
        return ts_fail(err, TS_VALUE, "the module has a function @%s already; choose another name", name);
    TS_TRY(ts__pack_read(f.arena, pack, n_pack, &f.pack, err));
    ts_front_fn made = {.fn = ts_fn_create(module, name, TS_LEVEL_T)};
    if (!made.fn)
        return fr_oom(&f);
    made.fn->entry = false;
    ts__builder_init(&f.b, made.fn);
    ts_status status = front_function_body(&f, params, n_params, &made);
    if (status == TS_OK && f.arena->failed)
        status = fr_oom(&f);
    if (status == TS_OK)
        *out = made;
    else
        module->fns.n = n_fns;
    return status;
}
