/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU target: tile IR to an object file. Writes the function that runs a range of tile blocks
 *
 *     entry:   parameters, grid, constants
 *     blocks:  for id = begin .. end: x, y, z from id; the body (walk.c); next
 *
 * Where the body is one loop over the warps of a block of threads, and these lie across x, warps of neighbours stand in
 * one row of the arrays, and a block's own in others. Then a run of blocks along x goes through the loop together:
 *
 *     runs:    for id = begin .. end by run: for warp: for x of the run: the body for one warp
 *
 * and hands the text to LLVM. Read next: cg.h, which explains the generator.
 */
#include "base/widths.h"
#include "target/llvm/cg.h"
#include "target/llvm/emit.h"

#include <stdio.h>
#include <stdlib.h>

/* LLVM's instruction selection and register allocation take more than linear time: 4 s for a megabyte of text, 40 s for
 * 2.6. Its simple ones are linear, 0.2 s a megabyte, and make slower code. */
enum { EMIT_LEVEL = 2, EMIT_LONG_BYTES = 1 << 20 };

enum { EMIT_RUN = 256 /* blocks of a run: a row of it, and those beside it, fit into the inner caches */ };

/* A body that is a `for` of more than one warp, before it only what may be done again for each. */
static ts_val emit_rows_of(const cg *e)
{
    enum { EMIT_ONCE = TS_READ | TS_WRITE | TS_SIDE | TS_TERM | TS_REGION };
    const ts_fn *fn = e->fn;
    ts_val rows = 0;
    for (ts_val v = 1 + fn->n_params; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        if (inst->op == TS_OP_for && !rows && inst->n_opnd == 3) {
            rows = v;
            v = e->shape.end[v];
        } else if (rows ? inst->op != TS_OP_return : ts_info(inst)->flags & EMIT_ONCE)
            return 0;
    }
    return rows;
}

/* Before it stands what e->pid[0] says, behind it the next block: the body, for the warps of a run of blocks. */
static void emit_run(cg *e, cg_ref n_run)
{
    cg_frame frame = {.opener = e->rows, .skip = 3};
    uint32_t by_warp = cg_label(e), by_block = cg_label(e), next_warp = cg_label(e), from = e->block, done = e->latch;
    const ts_inst *inst = ts_at(e->fn, e->rows);
    cg_ref bound[3], first = e->pid[0], after_warp = cg_name(e), after_block = cg_name(e);
    for (uint32_t i = 0; i < 3; i++)
        bound[i] = cg_scalar(e, ts_opnds(e->fn, inst)[i]);
    cg_ref end = cg_bin(e, "add", CG_I64, 0, first, n_run);
    cg_br(e, by_warp);
    cg_block(e, by_warp);
    cg_ref warp = cg_new(e, "phi i32 [ %r, %b ], [ %r, %b ]", bound[0], from, after_warp, next_warp);
    cg_look(e);
    from = e->block;
    cg_br(e, by_block);
    cg_block(e, by_block);
    e->latch = frame.next = frame.exit = cg_label(e);
    e->pid[0] = cg_new(e, "phi i64 [ %r, %b ], [ %r, %b ]", first, from, after_block, e->latch);
    cg_scope_open(e);
    cg_walk(e, 1 + e->fn->n_params, e->rows);
    e->val[e->rows + 1] = (cg_val){.form = CG_SCALAR, .ref = warp};
    e->frame = &frame;
    cg_walk(e, e->rows + 1, e->shape.end[e->rows]);
    e->frame = NULL;
    cg_scope_close(e);
    cg_block(e, e->latch);
    cg_define(e, after_block, "add nsw i64 %r, 1", e->pid[0]);
    cg_line(e, "br i1 %r, label %b, label %b", cg_cmp(e, "icmp slt", CG_I64, 0, after_block, end), by_block, next_warp);
    cg_block(e, next_warp);
    cg_define(e, after_warp, "add nsw i32 %r, %r", warp, bound[2]);
    cg_line(e, "br i1 %r, label %b, label %b", cg_cmp(e, "icmp slt", CG_I32, 0, after_warp, bound[1]), by_warp, done);
    e->latch = done;
    e->pid[0] = first;
}

/* Blocks that a run may have: of one row of the grid, and not too many. */
static cg_ref emit_run_length(cg *e, cg_ref id)
{
    cg_ref left = cg_new(e, "sub i64 %%end, %r", id);
    cg_ref n[] = {cg_bin(e, "sub", CG_I64, 0, e->grid[0], e->pid[0]), cg_int(e, EMIT_RUN)};
    for (uint32_t i = 0; i < TS_COUNT(n); i++)
        left = cg_sel(e, CG_I64, 0, cg_cmp(e, "icmp slt", CG_I64, 0, left, n[i]), left, n[i]);
    return left;
}

static void emit_blocks(cg *e, uint32_t head)
{
    cg_ref next = cg_name(e), id, first[3], after[3], n_run = cg_int(e, 1);
    uint32_t body = cg_label(e);
    e->latch = cg_label(e);
    e->leave = cg_label(e);
    cg_ref begin = cg_text(e, "%begin"), rest = cg_new(e, "udiv i64 %r, %r", begin, e->grid[0]);
    first[0] = cg_new(e, "urem i64 %r, %r", begin, e->grid[0]);
    first[1] = cg_new(e, "urem i64 %r, %r", rest, e->grid[1]);
    first[2] = cg_new(e, "udiv i64 %r, %r", rest, e->grid[1]);
    cg_br(e, head);
    cg_block(e, head);
    id = cg_new(e, "phi i64 [ %%begin, %%entry ], [ %r, %b ]", next, e->latch);
    for (uint32_t i = 0; i < 3; i++) {
        after[i] = cg_name(e);
        e->pid[i] = cg_new(e, "phi i64 [ %r, %%entry ], [ %r, %b ]", first[i], after[i], e->latch);
    }
    cg_ref more = cg_new(e, "icmp slt i64 %r, %%end", id);
    cg_line(e, "br i1 %r, label %b, label %b", more, body, e->leave);
    cg_block(e, body);
    cg_scope_open(e);
    if (e->rows)
        emit_run(e, n_run = emit_run_length(e, id));
    else
        cg_walk(e, 1 + e->fn->n_params, e->fn->inst.n);
    cg_scope_close(e);
    cg_block(e, e->latch);
    cg_define(e, next, "add nsw i64 %r, %r", id, n_run);
    cg_ref carry = n_run;
    for (uint32_t i = 0; i < 3; i++) { /* x first; where it has come to its end, it is 0 and y one more */
        cg_ref up = cg_new(e, "add nsw i64 %r, %r", e->pid[i], carry);
        cg_ref ends = cg_new(e, "icmp eq i64 %r, %r", up, e->grid[i]);
        cg_define(e, after[i], "select i1 %r, i64 0, i64 %r", ends, up);
        carry = cg_new(e, "zext i1 %r to i64", ends);
    }
    cg_br(e, head);
    cg_block(e, e->leave);
    cg_tally_end(e);
    if (e->streams) { /* stores around the caches are seen by others only after a fence */
        cg_declare(e, "declare void @llvm.x86.sse.sfence()");
        cg_line(e, "call void @llvm.x86.sse.sfence()");
    }
    cg_line(e, "ret void");
}

static_assert(offsetof(ts_cpu_env, attention) == 24, "emit_entry reads it there");

static void emit_entry(cg *e)
{
    e->params = cg_text(e, "%params");
    e->scratch = cg_text(e, "%scratch");
    e->env = cg_text(e, "%env");
    e->where = cg_text(e, "%where");
    ts__text_puts(&e->entry, "entry:\n  %where = alloca [32 x i64], align 64\n");
    e->attention = cg_new(e, "load ptr, ptr %r, align 8, !invariant.load !0",
                          cg_new(e, "getelementptr inbounds i8, ptr %%env, i64 24"));
    for (uint32_t i = 0; i < 3; i++) {
        cg_ref p = cg_new(e, "getelementptr inbounds i32, ptr %%grid, i64 %d", (int64_t)i);
        cg_ref x = cg_new(e, "load i32, ptr %r, align 4, !invariant.load !0", p);
        e->grid[i] = cg_new(e, "zext i32 %r to i64", x);
    }
    e->n_blocks = cg_mul(e, e->grid[0], cg_mul(e, e->grid[1], e->grid[2]));
    for (ts_val v = 1; v <= e->fn->n_params; v++)
        cg_walk(e, v, v + 1);
    emit_blocks(e, cg_label(e));
}

/* ---- module -------------------------------------------------------------------------------------*/

static void emit_globals(cg *e, ts_text *out)
{
    for (uint32_t i = 0; i < e->m->globals.n; i++) {
        const ts_global *g = &e->m->globals.at[i];
        uint64_t n = (uint64_t)ts_type_count(e->m, g->type) * ts_type_bits(e->m, g->type) / 8;
        const ts_dense *d = g->data ? &e->m->dense.at[g->data - 1] : NULL;
        ts__text_printf(out, "@g%u = private %s [%llu x i8] ", i, g->constant ? "constant" : "global",
                       (unsigned long long)TS_MAX(n, 1u));
        if (!d)
            ts__text_puts(out, "zeroinitializer");
        else {
            ts__text_puts(out, "c\"");
            for (uint64_t k = 0; k < TS_MAX(n, 1u); k++)
                ts__text_printf(out, "\\%02X", k < d->n_bytes ? ((const uint8_t *)d->bytes)[k] : 0);
            ts__text_putc(out, '"');
        }
        ts__text_printf(out, ", align %u\n", TS_MAX(g->align, 64u));
    }
}

static void emit_scopes(const cg *e, uint32_t without, ts_text *out)
{
    bool first = true;
    for (uint32_t s = 1; s <= TS_MIN(e->slot.n, CG_SCOPES); s++)
        if (s != without) {
            ts__text_printf(out, "%s!%u", first ? "" : ", ", 10 * s + 3);
            first = false;
        }
    ts__text_puts(out, "}\n");
}

/* Slot s: its scope is !10s+3, the list of it !10s+1, the list of all others !10s+2. !5: the list of all. */
static void emit_metadata(cg *e, ts_text *out)
{
    ts__text_puts(out, "!0 = !{}\n!1 = !{!\"branch_weights\", i32 1, i32 2000}\n"
                      "!2 = !{!\"branch_weights\", i32 2000, i32 1}\n!3 = distinct !{!3}\n!4 = !{i32 1}\n");
    ts__text_puts(out, "!5 = !{");
    emit_scopes(e, 0, out);
    for (uint32_t s = 1; s <= TS_MIN(e->slot.n, CG_SCOPES); s++) {
        ts__text_printf(out, "!%u = distinct !{!%u, !3}\n!%u = !{!%u}\n!%u = !{", 10 * s + 3, 10 * s + 3, 10 * s + 1,
                       10 * s + 3, 10 * s + 2);
        emit_scopes(e, s, out);
    }
}

static void emit_module(cg *e, ts_text *out)
{
    emit_globals(e, out);
    ts__text_puts(out, ts__text_get(&e->data));
    ts__text_printf(out,
                   "define void @\"%s\"(ptr noalias nocapture readonly %%params, ptr noalias "
                   "nocapture readonly %%grid, "
                   "i64 %%begin, i64 %%end, ptr noalias align 64 ",
                   ts_str_get(e->m, e->fn->name));
    if (e->scratch_bytes) /* tiles are kept in registers round a loop that may end before it reads them */
        ts__text_printf(out, "dereferenceable(%llu) ", (unsigned long long)e->scratch_bytes);
    ts__text_puts(out, "%scratch, ptr %env) #0 {\n");
    ts__text_puts(out, ts__text_get(&e->entry));
    ts__text_puts(out, ts__text_get(&e->text));
    ts__text_puts(out, "}\n");
    ts__text_puts(out, ts__text_get(&e->decl));
    ts__text_printf(out, "attributes #0 = { nounwind \"prefer-vector-width\"=\"512\" \"no-builtins\" "
                    "\"warn-stack-size\"=\"%d\" }\n", TS_LLVM_STACK);
    emit_metadata(e, out);
}

static ts_status emit_text(cg *e, bool by_rows, ts_text *out, ts_error *err)
{
    if (!ts__shape_of(e->fn, e->arena, &e->shape) || !ts__alias_of(e->fn, e->arena, &e->alias) ||
        (e->lanes && !ts__facts_of(e->fn, e->arena, &e->facts)) || !cg_plan_make(e))
        return ts_fail(err, TS_NOMEM, "out of memory while generating code");
    e->rows = by_rows ? emit_rows_of(e) : 0;
    emit_entry(e);
    if (e->status != TS_OK)
        return e->status;
    emit_module(e, out);
    if (out->failed || e->arena->failed || e->text.failed || e->entry.failed || e->decl.failed || e->data.failed)
        return ts_fail(err, TS_NOMEM, "out of memory while generating code");
    return TS_OK;
}

static ts_status emit_begin(cg *e, const ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    memset(e, 0, sizeof *e);
    e->fn = fn;
    e->m = fn->module;
    e->serial = env->serial;
    e->lanes = env->lanes ? (uint32_t)ts_log2(env->lanes) : 0;
    e->arena = env->scratch;
    e->err = err;
    e->val = TS_NEW_N(e->arena, cg_val, fn->inst.n);
    e->body = TS_NEW_N(e->arena, cg_ref, fn->inst.n);
    e->mark = TS_NEW_N(e->arena, uint32_t, 2 * (size_t)fn->inst.n);
    if (!e->val || !e->body || !e->mark || !cg_text_begin(e))
        return ts_fail(err, TS_NOMEM, "out of memory while generating code");
    return TS_OK;
}

ts_status ts__llvm_text(const ts_fn *fn, ts_pass_env *env, const ts_llvm_host *host, ts_text *out, ts_text *messages,
                        ts_error *err)
{
    cg *e = TS_NEW(env->scratch, cg);
    const ts_alloc *alloc = env->scratch->alloc;
    if (!e)
        return ts_fail(err, TS_NOMEM, "out of memory while generating code");
    TS_TRY(emit_begin(e, fn, env, err));
    e->host = host;
    ts_text *const texts[] = {&e->entry, &e->text, &e->decl, &e->data, &e->messages};
    for (size_t i = 0; i < TS_COUNT(texts); i++)
        ts__text_init(texts[i], alloc);
    ts_status status = emit_text(e, env->by_rows, out, err);
    if (env->plan) {
        env->plan->scratch_bytes = (e->scratch_bytes + 63) / 64 * 64;
        env->plan->uses_print = e->prints;
    }
    if (status == TS_OK && messages)
        ts__text_put(messages, ts__text_get(&e->messages), e->messages.n);
    for (size_t i = 0; i < TS_COUNT(texts); i++)
        ts__text_deinit(texts[i]);
    return status;
}

bool ts__llvm_has_op(ts_op op)
{
    return cg_elem_has(op) || cg_walk_has(op);
}

/* ---- the target ---------------------------------------------------------------------------------*/

static ts_status emit_messages(const ts_text *messages, ts_code *code, ts_error *err)
{
    if (!messages->n)
        return TS_OK;
    code->messages = code->alloc->resize(code->alloc->user, NULL, 0, messages->n);
    if (!code->messages)
        return ts_fail(err, TS_NOMEM, "out of memory while generating code");
    memcpy(code->messages, ts__text_get(messages), messages->n);
    code->n_messages = messages->n;
    return TS_OK;
}

ts_status ts__llvm_target(ts_fn *fn, ts_pass_env *env, const ts_llvm_host *host,
                          const ts_llvm_options *options, ts_code *code, ts_error *err)
{
    ts_text text, messages;
    if (!code->alloc)
        code->alloc = ts_alloc_default();
    ts__text_init(&text, code->alloc);
    ts__text_init(&messages, code->alloc);
    ts_status status = ts__llvm_text(fn, env, host, &text, &messages, err);
    if (status == TS_OK && getenv("TESSERA_DUMP_LLVM"))
        fputs(ts__text_get(&text), stderr);
    ts_llvm_options chosen = *options;
    bool is_quick = text.n > EMIT_LONG_BYTES || fn->opt_level == 1; /* 0: not said */
    chosen.level = is_quick ? 0 : chosen.level;
    if (!chosen.passes && !is_quick)
        chosen.passes = env->serial ? TS_LLVM_PASSES_SERIAL : env->lanes ? TS_LLVM_PASSES_LANES : TS_LLVM_PASSES;
    if (status == TS_OK)
        status = ts__llvm_compile(ts__text_get(&text), text.n, host, &chosen, code->alloc,
                                 &code->bytes, &code->n_bytes, err);
    if (status == TS_OK)
        status = emit_messages(&messages, code, err);
    ts__text_deinit(&text);
    ts__text_deinit(&messages);
    return status;
}

ts_status ts__target_llvm(ts_fn *fn, ts_pass_env *env, ts_code *code, ts_error *err)
{
    ts_llvm_host host;
    ts_llvm_options options = {.level = EMIT_LEVEL};
#ifndef NDEBUG
    options.verify = true;
#endif
    ts__host_detect(&host);
    ts__host_limit(&host, ts__vector_bytes());
    return ts__llvm_target(fn, env, &host, &options, code, err);
}
