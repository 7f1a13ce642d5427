/* SPDX-License-Identifier: Apache-2.0
 *
 * The pass `complex`: complex numbers become their parts, so that nothing behind it knows them. A number or tile of c64
 * becomes two of f32, one of c128 two of f64: in operands, results, arguments of regions, parameters and results of
 * functions.
 *
 *     %3 = load_view_tko %2 [%i] : tile<64xc64>     %3 = load_view_tko %2 [%i] : tile<64xi64>
 *     %4 = real %3 : tile<64xf32>              ->   %4 = trunci %3 : tile<64xi32>   %5 = bitcast %4 : tile<64xf32>
 *     %5 = imag %3 : tile<64xf32>                   %6 = shri %3, 32 ...
 *
 * Memory of c64 is read and written as i64, one access for both parts. Memory of c128 is two interleaved arrays of f64
 * with doubled strides: pointers become ptr<f64>, a view becomes a view of the real parts and one, a word further, of
 * the imaginary parts; a thread reads both with one access of two neighbours. Next to read:
 * docs/adr/0015-complex-numbers.md, which says why.
 * Cost: one look at each instruction where there is no complex number, else a copy.
 */
#include "math/math.h"

/* What an old value has become; `other` is the second part, 0 where there is one value. */
typedef struct complex_pair {
    ts_val one, other;
} complex_pair;

typedef struct complex_walk {
    ts_builder b;
    const ts_fn *from;
    ts_module *m;
    ts_arena *scratch;
    complex_pair *map;
    ts_val *single; /* map[].one, for ts__copy */
} complex_walk;

/* ---- types ------------------------------------------------------------------------------------- */

/* What memory of complex numbers is read as. */
static ts_type complex_word(ts_type elem)
{
    return elem == TS_T_c64 ? TS_T_i64 : elem == TS_T_c128 ? TS_T_f64 : elem;
}

static bool complex_is_view(const ts_module *m, ts_type type)
{
    ts_kind kind = ts_type_kind(m, type);
    return kind >= TS_KIND_TENSOR_VIEW && kind <= TS_KIND_GATHER_SCATTER_VIEW;
}

/* The element type of a view of any kind. */
static ts_type complex_view_elem(const ts_module *m, ts_type view)
{
    const ts_type_info *info = ts_type_get(m, view);
    return info->kind == TS_KIND_TENSOR_VIEW ? info->elem : ts_type_get(m, info->elem)->elem;
}

/* Complex numbers, and what leads to memory of them. */
static bool complex_concerns(const ts_module *m, ts_type type)
{
    ts_type elem = ts_type_elem(m, type);
    if (complex_is_view(m, type))
        return ts_type_part(complex_view_elem(m, type)) != TS_T_none;
    if (ts_type_kind(m, elem) == TS_KIND_PTR)
        elem = ts_type_get(m, elem)->elem;
    return ts_type_part(elem) != TS_T_none;
}

/* Does a value of the type become two? */
static bool complex_is_pair(const ts_module *m, ts_type type)
{
    return complex_is_view(m, type) ? complex_view_elem(m, type) == TS_T_c128 : ts_type_is_complex(m, type);
}

static ts_type complex_view_type(ts_module *m, ts_type type)
{
    ts_type_info info = *ts_type_get(m, type);
    int64_t strides[TS_MAX_RANK];
    if (info.kind != TS_KIND_TENSOR_VIEW) {
        info.elem = complex_view_type(m, info.elem);
        return ts_type_make(m, &info);
    }
    for (uint32_t d = 0; d < info.rank && info.elem == TS_T_c128; d++) {
        bool known = info.strides[d] != TS_DYNAMIC;
        strides[d] = known ? 2 * TS_MIN(info.strides[d], INT64_MAX / 2) : TS_DYNAMIC;
    }
    if (info.elem == TS_T_c128)
        info.strides = strides;
    info.elem = complex_word(info.elem);
    return ts_type_make(m, &info);
}

/* What the type becomes; of a pair the type of both. */
static ts_type complex_type(ts_module *m, ts_type type)
{
    ts_type elem = ts_type_elem(m, type);
    if (!type || !complex_concerns(m, type))
        return type;
    if (complex_is_view(m, type))
        return complex_view_type(m, type);
    if (ts_type_kind(m, elem) != TS_KIND_PTR)
        return ts_type_with_elem(m, type, ts_type_part(elem));
    ts_type_info info = *ts_type_get(m, elem);
    info.elem = complex_word(info.elem);
    return ts_type_with_elem(m, type, ts_type_make(m, &info));
}

/* ---- numbers in memory ---------------------------------------------------------------------------- */

static ts_val complex_const(complex_walk *w, ts_val like, ts_type elem, int64_t value)
{
    return ts_int(&w->b, ts_type_with_elem(w->m, ts_type_of(w->b.fn, like), elem), value);
}

/* The halves of i64: the real part is the lower one. */
static complex_pair complex_unpack(complex_walk *w, ts_val word)
{
    ts_builder *b = &w->b;
    ts_val high = ts_op2(b, TS_OP_shri, word, complex_const(w, word, TS_T_i64, 32), TS_A_UNSIGNED);
    ts_val one = ts_cast(b, TS_OP_trunci, word, TS_T_i32, 0), other = ts_cast(b, TS_OP_trunci, high, TS_T_i32, 0);
    return (complex_pair){ts_cast(b, TS_OP_bitcast, one, TS_T_f32, 0), ts_cast(b, TS_OP_bitcast, other, TS_T_f32, 0)};
}

static ts_val complex_pack(complex_walk *w, complex_pair x)
{
    ts_builder *b = &w->b;
    ts_val low = ts_cast(b, TS_OP_exti, ts_cast(b, TS_OP_bitcast, x.one, TS_T_i32, 0), TS_T_i64, TS_A_UNSIGNED);
    ts_val high = ts_cast(b, TS_OP_exti, ts_cast(b, TS_OP_bitcast, x.other, TS_T_i32, 0), TS_T_i64, TS_A_UNSIGNED);
    return ts_op2(b, TS_OP_ori, low, ts_op2(b, TS_OP_shli, high, complex_const(w, high, TS_T_i64, 32), 0), 0);
}

/* Pointers to the imaginary parts of c128. */
static ts_val complex_next_word(complex_walk *w, ts_val pointer)
{
    ts_val x[] = {pointer, complex_const(w, pointer, TS_T_i32, 1)};
    return ts_emit(&w->b, TS_OP_offset, ts_type_of(w->b.fn, pointer), 2, x, 0, 0);
}

/* Twice an integer, in 64 bits. */
static ts_val complex_twice(complex_walk *w, ts_val x)
{
    if (ts_type_elem(w->m, ts_type_of(w->b.fn, x)) != TS_T_i64)
        x = ts_cast(&w->b, TS_OP_exti, x, TS_T_i64, 0);
    return ts_op2(&w->b, TS_OP_muli, x, complex_const(w, x, TS_T_i64, 2), 0);
}

/* ---- instructions ----------------------------------------------------------------------------------- */

/* Operands with pairs as one or the other of their parts. */
static ts_val *complex_operands(complex_walk *w, const ts_inst *inst, bool other)
{
    ts_val *x = TS_NEW_N(w->scratch, ts_val, inst->n_opnd + 1u);
    for (uint32_t i = 0; x && i < inst->n_opnd; i++) {
        complex_pair pair = w->map[ts_opnds(w->from, inst)[i]];
        x[i] = other && pair.other ? pair.other : pair.one;
    }
    return x;
}

/* The instruction on the first parts, or on the others; its attribute is copied. */
static ts_val complex_part(complex_walk *w, ts_val v, bool other)
{
    const ts_inst *inst = ts_at(w->from, v);
    for (uint32_t i = 0; i < inst->n_opnd; i++) {
        complex_pair pair = w->map[ts_opnds(w->from, inst)[i]];
        w->single[ts_opnds(w->from, inst)[i]] = other && pair.other ? pair.other : pair.one;
    }
    ts_val made = ts__copy(&w->b, w->from, v, w->single);
    if (made)
        w->b.fn->inst.at[made].type = complex_type(w->m, inst->type);
    return made;
}

/* An instruction whose operands follow each other: what goes into regions, out of them, and into functions. */
static ts_val complex_flow(complex_walk *w, const ts_inst *inst)
{
    ts_val *x = TS_NEW_N(w->scratch, ts_val, 2u * inst->n_opnd + 1u);
    uint32_t n = 0;
    for (uint32_t i = 0; x && i < inst->n_opnd; i++) {
        complex_pair pair = w->map[ts_opnds(w->from, inst)[i]];
        x[n++] = pair.one;
        if (pair.other)
            x[n++] = pair.other;
    }
    return x ? ts_emit(&w->b, (ts_op)inst->op, TS_T_none, n, x, inst->aux, inst->flags) : 0;
}

/* param, arg and res: one or two, with numbers that count both parts. */
static complex_pair complex_numbered(complex_walk *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->from, v);
    bool is_first = inst->aux == 0, is_res = inst->op == TS_OP_res;
    ts_type type = complex_type(w->m, inst->type);
    ts_val owner = is_res ? w->map[inst->opnd[0]].one : 0;
    uint32_t number = is_first ? 0 : ts_at(w->b.fn, w->b.fn->inst.n - 1)->aux + 1; /* theirs stand before */
    complex_pair made = {0};
    if (inst->op == TS_OP_param) {
        made.one = ts_fn_param(&w->b, type);
        made.other = complex_is_pair(w->m, inst->type) ? ts_fn_param(&w->b, type) : 0;
        return made;
    }
    made.one = ts_emit(&w->b, (ts_op)inst->op, type, is_res, &owner, number, 0);
    if (complex_is_pair(w->m, inst->type))
        made.other = ts_emit(&w->b, (ts_op)inst->op, type, is_res, &owner, number + 1, 0);
    return made;
}

/* base, dynamic extents, dynamic strides: the strides of c128 are those of its words. */
static complex_pair complex_tensor_view(complex_walk *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->from, v);
    const ts_type_info *info = ts_type_get(w->m, inst->type);
    ts_val *x = complex_operands(w, inst, false);
    uint32_t at = 1;
    complex_pair made = {0};
    if (!x)
        return made;
    for (uint32_t d = 0; d < info->rank; d++)
        at += info->dims[d] == TS_DYNAMIC;
    bool wide = info->elem == TS_T_c128;
    for (; wide && at < inst->n_opnd; at++)
        x[at] = complex_twice(w, x[at]);
    ts_type type = complex_type(w->m, inst->type);
    made.one = ts_emit(&w->b, TS_OP_make_tensor_view, type, inst->n_opnd, x, 0, inst->flags);
    if (wide) {
        x[0] = complex_next_word(w, x[0]);
        made.other = ts_emit(&w->b, TS_OP_make_tensor_view, type, inst->n_opnd, x, 0, inst->flags);
    }
    return made;
}

/* Through a view, or through pointers, of c64 (by words) or c128 (by parts). */
static complex_pair complex_load(complex_walk *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->from, v);
    bool wide = ts_type_elem(w->m, inst->type) == TS_T_c128, by_view = inst->op == TS_OP_load_view_tko;
    ts_type type = ts_type_with_elem(w->m, inst->type, complex_word(ts_type_elem(w->m, inst->type)));
    ts_val *x = complex_operands(w, inst, false);
    uint32_t pad = ts__opnd_pad(inst);
    complex_pair padding = pad == TS_NO || !x ? (complex_pair){0} : w->map[ts_opnds(w->from, inst)[pad]], made = {0};
    if (!x)
        return made;
    if (padding.one)
        x[pad] = wide ? padding.one : complex_pack(w, padding);
    made.one = ts_emit(&w->b, (ts_op)inst->op, type, inst->n_opnd, x, inst->aux, inst->flags);
    if (!wide)
        return complex_unpack(w, made.one);
    x[0] = by_view ? w->map[ts_opnds(w->from, inst)[0]].other : complex_next_word(w, x[0]);
    if (padding.other)
        x[pad] = padding.other;
    made.other = ts_emit(&w->b, (ts_op)inst->op, type, inst->n_opnd, x, inst->aux, inst->flags);
    return made;
}

static complex_pair complex_store(complex_walk *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->from, v);
    complex_pair value = w->map[ts_opnds(w->from, inst)[1]];
    bool wide = ts_type_elem(w->m, ts_type_of(w->b.fn, value.one)) == TS_T_f64;
    bool by_view = inst->op == TS_OP_store_view_tko;
    ts_val *x = complex_operands(w, inst, false);
    if (!x)
        return (complex_pair){0};
    x[1] = wide ? value.one : complex_pack(w, value);
    ts_val made = ts_emit(&w->b, (ts_op)inst->op, TS_T_token, inst->n_opnd, x, inst->aux, inst->flags);
    if (wide) {
        x[0] = by_view ? w->map[ts_opnds(w->from, inst)[0]].other : complex_next_word(w, x[0]);
        x[1] = value.other;
        made = ts_emit(&w->b, (ts_op)inst->op, TS_T_token, inst->n_opnd, x, inst->aux, inst->flags);
    }
    return (complex_pair){made, 0};
}

/* One access of a thread: n words of c64, or 2 n of c128. The results stand behind it, in order. */
static complex_pair complex_ld(complex_walk *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->from, v);
    uint32_t n = TS_S_NUMBER(inst->aux);
    bool wide = ts_type_of(w->from, v + 1) == TS_T_c128;
    ts_type types[32], type = complex_word(ts_type_of(w->from, v + 1));
    ts_val *x = complex_operands(w, inst, false);
    uint32_t n_words = wide ? 2 * n : n, aux = TS_S(TS_S_KIND(inst->aux), n_words, TS_S_EXTRA(inst->aux));
    ts_assert(n_words <= TS_COUNT(types));
    for (uint32_t i = 0; i < n_words; i++)
        types[i] = type;
    if (!x)
        return (complex_pair){0};
    ts_val made = ts_emit_multi(&w->b, TS_OP_ld, inst->n_opnd, x, aux, inst->flags, n_words, types);
    for (uint32_t i = 0; i < n; i++)
        w->map[v + 1 + i] = wide ? (complex_pair){made + 1 + 2 * i, made + 2 + 2 * i} : complex_unpack(w, made + 1 + i);
    return (complex_pair){made, 0};
}

static complex_pair complex_st(complex_walk *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->from, v);
    const uint32_t *old = ts_opnds(w->from, inst);
    uint32_t n = TS_S_NUMBER(inst->aux), n_new = 1;
    bool wide = ts_type_of(w->from, old[1]) == TS_T_c128;
    ts_val *x = TS_NEW_N(w->scratch, ts_val, 2u * inst->n_opnd);
    if (!x)
        return (complex_pair){0};
    x[0] = w->map[old[0]].one;
    for (uint32_t i = 1; i < inst->n_opnd; i++) {
        complex_pair value = w->map[old[i]];
        bool packs = i <= n && !wide;
        x[n_new++] = packs ? complex_pack(w, value) : value.one; /* behind the numbers stands the predicate */
        if (i <= n && wide)
            x[n_new++] = value.other;
    }
    uint32_t aux = TS_S(TS_S_KIND(inst->aux), wide ? 2 * n : n, TS_S_EXTRA(inst->aux));
    return (complex_pair){ts_emit(&w->b, TS_OP_st, TS_T_none, n_new, x, aux, inst->flags), 0};
}

/* offset counts elements, of which c128 has two words. */
static complex_pair complex_offset(complex_walk *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->from, v);
    ts_type pointee = ts_type_get(w->m, ts_type_elem(w->m, inst->type))->elem;
    ts_val *x = complex_operands(w, inst, false);
    if (!x)
        return (complex_pair){0};
    if (pointee == TS_T_c128)
        x[1] = complex_twice(w, x[1]);
    return (complex_pair){ts_emit(&w->b, TS_OP_offset, complex_type(w->m, inst->type), 2, x, 0, 0), 0};
}

/* The word of a loaded or stored number whose token is asked for. */
static complex_pair complex_token(complex_walk *w, ts_val v)
{
    ts_val load = w->map[ts_opnd(w->from, v, 0)].one;
    while (ts_at(w->b.fn, load)->op == TS_OP_bitcast || ts_at(w->b.fn, load)->op == TS_OP_trunci)
        load = ts_opnd(w->b.fn, load, 0);
    return (complex_pair){ts_emit(&w->b, TS_OP_token, TS_T_token, 1, &load, 0, 0), 0};
}

static complex_pair complex_one(complex_walk *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->from, v);
    const uint32_t *x = ts_opnds(w->from, inst);
    bool moves = inst->n_opnd > 1 && ts_type_is_complex(w->m, ts_type_of(w->from, x[1]));
    switch ((int)inst->op) {
    case TS_OP_make_complex:
        return (complex_pair){w->map[x[0]].one, w->map[x[1]].one};
    case TS_OP_real:
        return (complex_pair){w->map[x[0]].one, 0};
    case TS_OP_imag:
        return (complex_pair){w->map[x[0]].other, 0};
    case TS_OP_res:
        return w->map[v].one ? w->map[v] : complex_numbered(w, v);
    case TS_OP_param: case TS_OP_arg:
        return complex_numbered(w, v);
    case TS_OP_ld:
        if (ts_type_is_complex(w->m, ts_type_of(w->from, v + 1)))
            return complex_ld(w, v);
        break;
    case TS_OP_st:
        if (moves)
            return complex_st(w, v);
        break;
    case TS_OP_for: case TS_OP_loop: case TS_OP_yield: case TS_OP_continue: case TS_OP_break: case TS_OP_return:
    case TS_OP_recursion: case TS_OP_recur:
    case TS_OP_call:
        return (complex_pair){complex_flow(w, inst), 0};
    case TS_OP_make_tensor_view:
        return complex_tensor_view(w, v);
    case TS_OP_load_view_tko: case TS_OP_load_ptr_tko:
        if (ts_type_is_complex(w->m, inst->type))
            return complex_load(w, v);
        break;
    case TS_OP_store_view_tko: case TS_OP_store_ptr_tko:
        if (moves)
            return complex_store(w, v);
        break;
    case TS_OP_offset:
        return complex_offset(w, v);
    case TS_OP_token:
        if (ts_type_is_complex(w->m, ts_type_of(w->from, x[0])))
            return complex_token(w, v);
        break;
    default:
        break;
    }
    complex_pair made = {complex_part(w, v, false), 0};
    if (inst->type && complex_is_pair(w->m, inst->type))
        made.other = complex_part(w, v, true);
    return made;
}

/* ---- functions ----------------------------------------------------------------------------------------- */

static bool complex_needed(const ts_fn *fn)
{
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (complex_concerns(fn->module, ts_type_of(fn, v)))
            return true;
    return false;
}

static bool complex_results(complex_walk *w)
{
    const ts_fn *fn = w->from;
    ts_type *types = TS_NEW_N(w->scratch, ts_type, 2 * (size_t)fn->n_results + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; types && i < fn->n_results; i++)
        for (int part = 0; part <= complex_is_pair(w->m, fn->result[i]); part++)
            types[n++] = complex_type(w->m, fn->result[i]);
    w->b.fn->n_results = 0;
    if (types && n)
        ts_fn_set_results(w->b.fn, n, types);
    return types != NULL;
}

/* The function without complex numbers; NULL when memory is out. */
static ts_fn *complex_all(const ts_fn *fn, ts_arena *scratch)
{
    complex_walk w = {.from = fn, .m = fn->module, .scratch = scratch};
    ts_fn *to = ts__fn_create_like(fn);
    w.map = TS_NEW_N(scratch, complex_pair, fn->inst.n);
    w.single = TS_NEW_N(scratch, ts_val, fn->inst.n);
    if (!to || !w.map || !w.single)
        return NULL;
    ts__builder_init(&w.b, to);
    if (!complex_results(&w))
        return NULL;
    for (ts_val v = 1; v < fn->inst.n; v++) {
        w.b.loc = fn->loc.at[v];
        w.map[v] = complex_one(&w, v);
        if (ts__module_failed(w.m) || scratch->failed)
            return NULL;
    }
    return ts_builder_status(&w.b, NULL) == TS_OK ? to : NULL;
}

ts_status ts__complex_expand(const ts_fn *fn, ts_arena *scratch, const ts_fn **out, ts_error *err)
{
    *out = complex_needed(fn) ? complex_all(fn, scratch) : fn;
    return *out ? TS_OK : ts_fail(err, TS_NOMEM, "out of memory while writing complex numbers as their parts");
}

ts_status ts__pass_complex(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    const ts_fn *to;
    TS_TRY(ts__complex_expand(fn, env->scratch, &to, err));
    if (to != fn)
        ts__fn_replace(fn, (ts_fn *)(uintptr_t)to);
    return TS_OK;
}
