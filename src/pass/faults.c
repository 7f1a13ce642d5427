/* SPDX-License-Identifier: Apache-2.0
 *
 * The pass `faults`: writes what reports the fault of a thread, for a GPU. The launch brings the record
 * (plan.error_param):
 *
 *     thread entry @k(%x: ptr<f32>) {                          thread entry @k(%x: ptr<f32>, %r: ptr<i32>) {
 *       ..                                                       ..
 *       fault "text" %code, %i, %n, %tx, %ty, %tz    ─▶          %old = atom cas %r, 0, %code : i32
 *                                                                %first = cmpi eq %old, 0 : i1
 *                                                                if %first { st line, block, .., into %r }
 *
 * Kernels without faults are not touched. Cost: one copy of the function.
 */
#include "pass/faults.h"

uint32_t ts__fault_message(ts_text *messages, const char *text)
{
    uint32_t n = 1;
    if (!*text)
        return 0;
    if (!messages->n)
        ts__text_putc(messages, 0);
    for (size_t at = 1; at < messages->n; n++) {
        const char *known = ts__text_get(messages) + at;
        if (strcmp(known, text) == 0)
            return n;
        at += strlen(known) + 1;
    }
    ts__text_put(messages, text, strlen(text) + 1);
    return n;
}

static void fault_store(ts_builder *b, ts_val record, size_t offset, ts_val value)
{
    ts_val at = ts_op2(b, TS_OP_ptr_add, record, ts_int(b, TS_T_i64, (int64_t)offset), 0);
    ts_emit(b, TS_OP_st, TS_T_none, 2, (ts_val[]){at, value}, TS_S(TS_CACHE_NONE, 1, 0), 0);
}

static void fault_number(ts_builder *b, ts_val record, size_t offset, uint32_t number)
{
    fault_store(b, record, offset, ts_int(b, TS_T_i32, number));
}

static void fault_place(ts_builder *b, const ts_fault_values *f, ts_text *messages)
{
    const ts_module *m = b->fn->module;
    fault_number(b, f->record, offsetof(ts_fault, line), f->place->line);
    fault_number(b, f->record, offsetof(ts_fault, file), ts__fault_message(messages, ts_str_get(m, f->place->file)));
    fault_number(b, f->record, offsetof(ts_fault, function),
                 ts__fault_message(messages, ts_str_get(m, f->place->function)));
    for (uint32_t i = 0; i < 3; i++)
        fault_store(b, f->record, offsetof(ts_fault, block) + 4 * i,
                    ts_emit(b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_CTAID + i, 0, 0), 0));
    for (uint32_t i = 0; i < 3 && f->thread[0]; i++)
        fault_store(b, f->record, offsetof(ts_fault, thread) + 4 * i, f->thread[i]);
    if (f->thread[0])
        fault_number(b, f->record, offsetof(ts_fault, has_thread), 1);
}

void ts__fault_claim(ts_builder *b, const ts_fault_values *f, ts_text *messages)
{
    uint32_t attr = TS_M_ORDER(TS_RELAXED) | TS_M_SCOPE(TS_SCOPE_DEVICE) | TS_M_MODE(TS_RMW_CAS);
    ts_val zero = ts_int(b, TS_T_i32, 0), opnds[] = {f->record, zero, f->code};
    ts_val old = ts_emit(b, TS_OP_atom, TS_T_i32, 3, opnds, attr, 0);
    ts_val opener = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_EQ, old, zero, 0));
    fault_place(b, f, messages);
    fault_number(b, f->record, offsetof(ts_fault, string), ts__fault_message(messages, f->text));
    if (f->index) {
        fault_store(b, f->record, offsetof(ts_fault, index), f->index);
        fault_store(b, f->record, offsetof(ts_fault, extent), f->extent);
    }
    ts_if_end(b, opener);
}

static void fault_write(ts_builder *b, const ts_fn *fn, ts_val v, const ts_val *map, ts_val record, ts_text *messages)
{
    ts_val x[6];
    for (uint32_t i = 0; i < 6; i++)
        x[i] = map[ts_opnd(fn, v, i)];
    ts_fault_values values = {record, x[0], x[1], x[2], {x[3], x[4], x[5]}, ts__loc_of(fn, v),
                              ts_str_get(fn->module, ts_at(fn, v)->aux)};
    ts__fault_claim(b, &values, messages);
}

typedef struct fault_work {
    ts_text *messages;
    ts_val record;
} fault_work;

static ts_val fault_each(void *user, ts_builder *b, const ts_fn *fn, ts_val v, ts_val *map)
{
    fault_work *work = user;
    if (v == fn->n_params + 1)
        work->record = ts_fn_param(b, ts_type_ptr(fn->module, TS_T_i32, TS_GLOBAL));
    if (ts_at(fn, v)->op != TS_OP_fault)
        return 0;
    fault_write(b, fn, v, map, work->record, work->messages);
    return TS_NO;
}

ts_status ts__pass_faults(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    ts_text unused;
    fault_work work = {.messages = env->messages ? env->messages : &unused};
    if (!ts__has_op(fn, TS_OP_fault))
        return TS_OK;
    ts__text_init(&unused, NULL);
    ts_status status = ts__rewrite(fn, env, "faults", fault_each, &work, err);
    if (status == TS_OK && work.messages->failed)
        status = ts_fail(err, TS_NOMEM, "out of memory in pass faults");
    ts__text_deinit(&unused);
    if (status == TS_OK && env->plan)
        env->plan->error_param = 1;
    return status;
}
