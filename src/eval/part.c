/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared pieces of the interpreter, see eval/part.h. Next to read: eval/tile.c.
 */
#include "eval/part.h"
#include "ir/float.h"
#include "ir/format.h"
#include <stdio.h>

/* ---- one run -------------------------------------------------------------------------------------- */

static bool eval_globals(eval_run *run)
{
    const ts_module *m = run->module;
    run->global_at = TS_NEW_N(&run->arena, void *, m->globals.n + 1);
    if (!run->global_at)
        return false;
    for (uint32_t i = 0; i < m->globals.n; i++) {
        const ts_global *g = &m->globals.at[i];
        uint32_t bits = ts_type_bits(m, g->type);
        size_t bytes = ((size_t)ts_type_count(m, g->type) * bits + 7) / 8;
        void *at = run->global_at[i] = eval_own(run, bytes, g->align, 0);
        if (!at)
            return false;
        if (g->data && g->data <= m->dense.n) {
            const ts_dense *dense = &m->dense.at[g->data - 1];
            memcpy(at, dense->bytes, TS_MIN(bytes, dense->n_bytes));
        }
    }
    return true;
}

ts_status eval_run_init(eval_run *run, const ts_fn *fn, ts_eval_env *env, ts_error *err)
{
    *run = (eval_run){.fn = fn, .module = fn->module, .env = env, .err = err};
    ts__arena_init(&run->arena, env->alloc);
    TS_TRY(ts_fn_verify(fn, err));
    env->steps = 0;
    TS_TRY(eval_link(run));
    if (!ts__shape_of(run->fn, &run->arena, &run->shape) || !eval_globals(run))
        return run->arena.failed ? ts_fail(err, TS_NOMEM, "out of memory while evaluating")
                                 : ts_fail(err, TS_VERIFY, "@%s: regions do not nest",
                                           ts_str_get(fn->module, fn->name));
    return TS_OK;
}

void eval_run_deinit(eval_run *run)
{
    ts__arena_deinit(&run->arena);
}

ts_status eval_fail(const eval_run *run, ts_val at, ts_status status, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    eval_linked from = eval_origin(run, at);
    uint32_t line = ts__loc_of(run->fn, at)->line;
    return ts_fail(run->err, status, "@%s, %%%u = %s (line %u), block (%u, %u, %u): %s",
                   ts_str_get(run->module, from.fn->name), at - from.base, ts_info(ts_at(run->fn, at))->name, line,
                   run->block[0], run->block[1], run->block[2], text);
}

ts_status eval_fault(const eval_run *run, ts_val at, ts_fault fault, const char *what)
{
    ts_fault *first = run->env->fault;
    char bounds[512];
    if (!first && fault.code == TS_FAULT_BOUNDS)
        ts__bounds_text(bounds, sizeof bounds, what, fault.index, fault.extent);
    if (!first)
        return eval_fail(run, at, TS_LAUNCH, "%s", fault.code == TS_FAULT_BOUNDS ? bounds : what);
    if (first->code)
        return TS_OK;
    const ts_loc_info *place = ts__loc_of(run->fn, at);
    snprintf(run->env->said, sizeof run->env->said, "%s", what ? what : "");
    run->env->fault_text = run->env->said;
    run->env->fault_place = place;
    fault.line = place->line;
    memcpy(fault.block, run->block, sizeof fault.block);
    *first = fault;
    return TS_OK;
}

ts_status eval_fault_op(const eval_run *run, ts_val at, const uint64_t opnd[6])
{
    ts_fault fault = {.code = (uint32_t)opnd[0], .index = (int64_t)opnd[1], .extent = (int64_t)opnd[2]};
    fault.has_thread = 1;
    for (uint32_t i = 0; i < 3; i++)
        fault.thread[i] = (uint32_t)opnd[3 + i];
    return eval_fault(run, at, fault, ts_str_get(run->module, ts_at(run->fn, at)->aux));
}

ts_val eval_find_res(const ts_fn *fn, ts_val of, ts_val first, uint32_t i)
{
    for (ts_val v = TS_MIN(first + i, fn->inst.n - 1); v >= first; v--) /* the usual place is the first try */
        if (ts_at(fn, v)->op == TS_OP_res && ts_at(fn, v)->opnd[0] == of && ts_at(fn, v)->aux == i)
            return v;
    return 0;
}

enum { EVAL_ASK = 1 << 14 }; /* steps between two questions whether to go on */

ts_status eval_step(const eval_run *run, ts_val at)
{
    if (run->env->steps % EVAL_ASK == EVAL_ASK - 1 && run->env->ends && run->env->ends())
        return eval_fail(run, at, TS_INTERRUPTED, "interrupted");
    if (++run->env->steps > run->env->max_steps && run->env->max_steps)
        return eval_fail(run, at, TS_LAUNCH, "ran more than %llu steps; raise max_steps if the loop is meant to end",
                         (unsigned long long)run->env->max_steps);
    return TS_OK;
}

/* ---- memory ---------------------------------------------------------------------------------------- */

static bool eval_inside(const ts_eval_range *range, uint64_t address, uint64_t bytes)
{
    uint64_t from = (uint64_t)(uintptr_t)range->at;
    return address >= from && bytes <= range->bytes && address - from <= range->bytes - bytes;
}

ts_status eval_check(const eval_run *run, ts_val at, uint64_t address, uint64_t bytes)
{
    if (run->env->n_ranges == 0)
        return TS_OK;
    for (uint32_t i = 0; i < run->own.n; i++)
        if (eval_inside(&run->own.at[i], address, bytes))
            return TS_OK;
    for (size_t i = 0; i < run->env->n_ranges; i++)
        if (eval_inside(&run->env->ranges[i], address, bytes))
            return TS_OK;
    return eval_fail(run, at, TS_INDEX, "%llu bytes at address 0x%llx lie outside all %zu arrays given",
                     (unsigned long long)bytes, (unsigned long long)address, run->env->n_ranges);
}

/* Address and bytes that element `index` occupies. */
static uint64_t eval_place(const eval_run *run, ts_type elem, uint64_t address, int64_t index, uint64_t *bytes)
{
    uint32_t bits = ts_type_bits(run->module, elem);
    *bytes = bits < 8 ? 1 : bits / 8;
    return address + (bits < 8 ? (uint64_t)(index >> 1) : (uint64_t)index * *bytes);
}

ts_status eval_load(const eval_run *run, ts_val at, ts_type elem, uint64_t address, int64_t index, uint64_t *value)
{
    uint64_t bytes, place = eval_place(run, elem, address, index, &bytes);
    TS_TRY(eval_check(run, at, place, bytes));
    *value = ts__scalar_load(run->module, elem, (const void *)(uintptr_t)place,
                            index & (ts_type_bits(run->module, elem) < 8));
    return TS_OK;
}

ts_status eval_store(const eval_run *run, ts_val at, ts_type elem, uint64_t address, int64_t index, uint64_t value)
{
    uint64_t bytes, place = eval_place(run, elem, address, index, &bytes);
    TS_TRY(eval_check(run, at, place, bytes));
    ts__scalar_store(run->module, elem, (void *)(uintptr_t)place, index & (ts_type_bits(run->module, elem) < 8), value);
    return TS_OK;
}

void *eval_own(eval_run *run, size_t bytes, size_t align, int fill)
{
    if (!ts_is_pow2((int64_t)align) || align < 16)
        align = 16;
    if (bytes > SIZE_MAX / 4 || align > (size_t)1 << 20)
        return NULL;
    char *at = ts__arena_get(&run->arena, bytes + align);
    if (!at)
        return NULL;
    at += (align - (uintptr_t)at % align) % align;
    memset(at, fill, bytes);
    return TS_PUSH(&run->arena, &run->own, ((ts_eval_range){at, bytes})) ? at : NULL;
}

uint64_t eval_global(const eval_run *run, ts_str name)
{
    for (uint32_t i = 0; i < run->module->globals.n; i++)
        if (run->module->globals.at[i].name == name)
            return (uint64_t)(uintptr_t)run->global_at[i];
    return 0;
}

ts_status eval_param(const eval_run *run, ts_val at, uint64_t *value)
{
    const ts_inst *inst = ts_at(run->fn, at);
    if (inst->aux >= run->n_params)
        return eval_fail(run, at, TS_VALUE, "parameter %u of %zu given", inst->aux, run->n_params);
    *value = run->params[inst->aux];
    if (ts_type_is_scalar(inst->type))
        *value = ts__scalar_wrap(inst->type, *value);
    return TS_OK;
}

ts_status eval_constant(const eval_run *run, ts_val at, uint64_t *out, int64_t n)
{
    const ts_inst *inst = ts_at(run->fn, at);
    ts_type elem = ts_type_elem(run->module, inst->type);
    if (inst->aux == 0) {
        uint64_t payload = inst->opnd[0] | (uint64_t)inst->opnd[1] << 32;
        payload = ts_type_is_scalar(elem) ? ts__scalar_wrap(elem, payload) : payload;
        for (int64_t i = 0; i < n; i++)
            out[i] = payload;
        return TS_OK;
    }
    if (inst->aux > run->module->dense.n)
        return eval_fail(run, at, TS_VERIFY, "no dense data of number %u", inst->aux - 1);
    const ts_dense *dense = &run->module->dense.at[inst->aux - 1];
    if (((uint64_t)n * ts_type_bits(run->module, elem) + 7) / 8 > dense->n_bytes)
        return eval_fail(run, at, TS_VERIFY, "%zu bytes of data are too few for %lld elements",
                         dense->n_bytes, (long long)n);
    for (int64_t i = 0; i < n; i++)
        out[i] = ts__scalar_load(run->module, elem, dense->bytes, i);
    return TS_OK;
}

/* ---- atomics --------------------------------------------------------------------------------------- */

uint64_t eval_rmw(const ts_module *module, ts_rmw mode, ts_type elem, uint64_t old, uint64_t value, uint64_t cmp)
{
    static const struct {
        ts_op op;
        uint32_t attr;
    } as_op[] = {
        [TS_RMW_AND] = {TS_OP_andi, 0},  [TS_RMW_OR] = {TS_OP_ori, 0},
        [TS_RMW_XOR] = {TS_OP_xori, 0},  [TS_RMW_ADD] = {TS_OP_addi, 0},
        [TS_RMW_ADDF] = {TS_OP_addf, 0}, [TS_RMW_MAX] = {TS_OP_maxi, 0},
        [TS_RMW_MIN] = {TS_OP_mini, 0},  [TS_RMW_UMAX] = {TS_OP_maxi, TS_A_UNSIGNED},
        [TS_RMW_UMIN] = {TS_OP_mini, TS_A_UNSIGNED},
    };
    if (mode == TS_RMW_XCHG)
        return value;
    if (mode == TS_RMW_CAS)
        return old == cmp ? value : old;
    uint64_t x[] = {old, value}, out = old;
    bool known = mode < TS_COUNT(as_op) &&
                 ts__scalar_eval(module, as_op[mode].op, as_op[mode].attr, elem, elem, x, &out);
    return known ? out : old;
}

/* ---- printing --------------------------------------------------------------------------------------- */

static uint64_t eval_printed(const void *user, int64_t i)
{
    return ((const uint64_t *)user)[i];
}

ts_status eval_print(const eval_run *run, ts_val at, ts_str format, const eval_arg *args, size_t n)
{
    ts_text out;
    ts__text_init(&out, run->env->alloc);
    size_t used = 0;
    const char *p = ts_str_get(run->module, format);
    while (*p) {
        ts__conversion c;
        if (*p != '%') {
            ts__text_putc(&out, *p++);
        } else if (p[1] == '%') {
            ts__text_putc(&out, '%');
            p += 2;
        } else if (ts__conversion_at(p, &c) && used + c.pair < n) {
            const eval_arg *arg = &args[used], *imag = arg + c.pair;
            ts_type elem = ts_type_elem(run->module, arg->type);
            ts__printed tile = {ts_type_is_scalar(elem) ? elem : TS_T_i64, ts_type_rank(run->module, arg->type),
                                ts_type_dims(run->module, arg->type), eval_printed, arg->value, imag->value};
            ts__print_tile(&out, &c, &tile);
            used += c.pair ? 2 : 1;
            p += c.n;
        } else {
            ts__text_deinit(&out);
            return eval_fail(run, at, TS_VERIFY, "format \"%s\" does not fit its %zu values",
                             ts_str_get(run->module, format), n);
        }
    }
    bool failed = out.failed;
    if (run->env->print && !failed)
        run->env->print(run->env->print_user, ts__text_get(&out), out.n);
    ts__text_deinit(&out);
    return failed ? ts_fail(run->err, TS_NOMEM, "out of memory while printing") : TS_OK;
}
