/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver of one compilation: packed Python function -> tile IR -> the row of pipeline.def for its level and
 * target -> code.
 *
 * Everything of a compilation lives in one arena that is dropped at the end; only the code's bytes leave it. Nothing
 * is shared between calls. Read next: compile/pipeline.def, lang/front.h, pass/pass.def.
 */
#include "compile/compile.h"
#include "ir/text.h"
#include "lang/front.h"
#include "pass/alias.h"
#include "pass/pass.h"
#include "gpu/gpu.h"
#include "target/llvm/emit.h"
#include "target/ptx/ptx.h"
#include <stdatomic.h>

/* One compilation on its way. */
typedef struct compile_run {
    ts_fn *fn;
    ts_pass_env env;
    const ts_probe *probe; /* may be NULL */
    ts_code *out;
} compile_run;

/* ---- the launch plan ------------------------------------------------------------------------------------------- */

/* The parameter table of the plan follows from the entry's `param`s. */
static ts_status compile_params(const ts_fn *fn, ts_plan *plan, ts_error *err)
{
    if (fn->n_params > TS_PLAN_PARAMS)
        return ts_fail(err, TS_UNSUPPORTED,
                       "kernel '%s' takes %u parameters after its arrays are spread into pointer, extents and "
                       "strides; the limit is %d: pass fewer arrays",
                       ts_str_get(fn->module, fn->name), fn->n_params, TS_PLAN_PARAMS);
    plan->n_params = 0;
    for (ts_val v = 1; v < fn->inst.n && ts_at(fn, v)->op == TS_OP_param; v++)
        plan->param_bytes[plan->n_params++] = (uint8_t)(ts_type_bits(fn->module, ts_type_of(fn, v)) / 8);
    return TS_OK;
}

enum { COMPILE_READ = 1, COMPILE_WRITTEN = 2 };

/* Memory reached through parameter p is read or written. */
static void compile_accessed(ts_plan *plan, uint32_t p, uint8_t how)
{
    uint8_t bit = (uint8_t)(1u << p % 8);
    plan->reads[p / 8] |= how & COMPILE_READ ? bit : 0;
    plan->writes[p / 8] |= how & COMPILE_WRITTEN ? bit : 0;
}

/* The plan's `reads` and `writes`: one walk from the last instruction to the first, so that an address is met after
 * all its uses. What cannot be followed (an address carried by a loop) counts as any parameter. */
static ts_status compile_accesses(const ts_fn *fn, ts_arena *scratch, ts_plan *plan, ts_error *err)
{
    uint8_t *how = TS_NEW_N(scratch, uint8_t, fn->inst.n);
    if (!how)
        return ts_fail(err, TS_NOMEM, "out of memory while compiling");
    for (ts_val v = fn->inst.n; v-- > 1;) {
        const ts_inst *inst = ts_at(fn, v);
        uint32_t first = 0, flags = ts_info(inst)->flags;
        int n = inst->op == TS_OP_param ? 0 : ts__alias_sources(inst, &first);
        if (flags & (TS_READ | TS_WRITE))
            how[ts_opnd(fn, v, 0)] |= (flags & TS_READ ? COMPILE_READ : 0) | (flags & TS_WRITE ? COMPILE_WRITTEN : 0);
        if (inst->op == TS_OP_cp_async || inst->op == TS_OP_bulk_load)
            how[ts_opnd(fn, v, inst->op == TS_OP_cp_async ? 1 : 2)] |= COMPILE_READ;
        for (uint32_t i = 0; i < inst->n_opnd && (inst->op == TS_OP_asm || inst->op == TS_OP_foreign); i++)
            if (ts_type_of(fn, ts_opnd(fn, v, i)) == TS_T_i64) /* an address */
                how[ts_opnd(fn, v, i)] |= COMPILE_READ | COMPILE_WRITTEN;
        if (!how[v])
            continue;
        if (inst->op == TS_OP_param && v <= plan->n_params) /* others are the launch's */
            compile_accessed(plan, v - 1, how[v]);
        for (uint32_t p = 0; n < 0 && p < plan->n_params; p++)
            compile_accessed(plan, p, how[v]);
        for (int i = 0; i < n; i++)
            how[ts_opnd(fn, v, first + (uint32_t)i)] |= how[v];
    }
    return TS_OK;
}

/* ---- the steps of pipeline.def ---------------------------------------------------------------------------------- */

static ts_status compile_step_probe(compile_run *run, ts_error *err)
{
    return run->probe ? run->probe->look(run->probe->user, run->fn, err) : TS_OK;
}

static ts_status compile_step_access(compile_run *run, ts_error *err)
{
    return compile_accesses(run->fn, run->env.scratch, run->env.plan, err);
}

static ts_status compile_step_lower(compile_run *run, ts_error *err)
{
    return ts__gpu_lower(run->fn, &run->env, err);
}

/* Room for tables of lists among the parameters, of which a launch has 4 KiB. */
static void compile_tables(const ts_fn *fn, ts_plan *plan)
{
    _Static_assert((int)TS_FN_LISTS == (int)TS_PLAN_LISTS, "as many lists");
    enum { PARAMETERS = 4096, OWN = 64 }; /* bytes; those that a launch adds, at most */
    uint32_t used = 128 * plan->n_tmaps + 8 * plan->n_params + OWN;
    plan->n_lists = fn->n_lists;
    memcpy(plan->list, fn->list, sizeof plan->list);
    plan->table_bytes = fn->n_lists && used + TS_PLAN_TABLE <= PARAMETERS ? TS_PLAN_TABLE : 0;
}

static ts_status compile_step_ptx(compile_run *run, ts_error *err)
{
    compile_tables(run->fn, run->env.plan);
    return ts__target_ptx(run->fn, run->env.plan, run->out, err);
}

static ts_status compile_step_llvm(compile_run *run, ts_error *err)
{
    return ts__target_llvm(run->fn, &run->env, run->out, err);
}

typedef struct compile_step {
    const char *name;
    uint32_t needs; /* TS_FORM_ bits */
    ts_status (*run)(compile_run *run, ts_error *err);
} compile_step;

enum { LEGAL = TS_FORM_LEGAL };

static const compile_step compile_steps[] = {
#define TS_STEP(name, needs, doc) {#name, needs, compile_step_##name},
#include "compile/pipeline.def"
};

/* ---- walking a row ---------------------------------------------------------------------------------------------- */

typedef struct compile_row {
    ts_level level;
    bool is_gpu;
    const char *groups;
} compile_row;

static const compile_row compile_rows[] = {
#define TS_PIPELINE(level, target, groups) {COMPILE_##level, COMPILE_##target, groups},
#define COMPILE_TILE TS_LEVEL_T
#define COMPILE_THREAD TS_LEVEL_S
#define COMPILE_CPU false
#define COMPILE_GPU true
#include "compile/pipeline.def"
};

static const compile_step *compile_find_step(const char *name, size_t n)
{
    for (size_t i = 0; i < TS_COUNT(compile_steps); i++)
        if (strlen(compile_steps[i].name) == n && memcmp(compile_steps[i].name, name, n) == 0)
            return &compile_steps[i];
    return NULL;
}

/* One group of a row: a step, or passes. */
static ts_status compile_group(compile_run *run, const char *group, ts_error *err)
{
    const compile_step *step = compile_find_step(group, strcspn(group, " |"));
    if (!step)
        return ts__run_passes(run->fn, group, &run->env, err);
    TS_TRY(ts__pass_in_time(run->fn, &run->env, step->name, err));
    TS_TRY(ts__pass_needs(run->fn, &run->env, step->needs, step->name, err));
    return step->run(run, err);
}

static ts_status compile_row_run(compile_run *run, const char *groups, ts_error *err)
{
    run->env.forms = TS_FORM_KNOWN | TS_FORM_SOURCE;
    for (const char *at = groups; *at;) {
        at += strspn(at, " ");
        TS_TRY(compile_group(run, at, err));
        at += strcspn(at, "|");
        at += *at == '|';
    }
    return TS_OK;
}

/* The texts that faults name, as bytes of the code; the CPU's target has written its own. */
static ts_status compile_messages(const ts_text *messages, ts_code *code, ts_error *err)
{
    if (messages->failed)
        return ts_fail(err, TS_NOMEM, "out of memory while compiling");
    if (!messages->n)
        return TS_OK;
    code->messages = code->alloc->resize(code->alloc->user, NULL, 0, messages->n);
    if (!code->messages)
        return ts_fail(err, TS_NOMEM, "out of memory while compiling");
    memcpy(code->messages, ts__text_get(messages), messages->n);
    code->n_messages = messages->n;
    return TS_OK;
}

static ts_status compile_fn(compile_run *run, ts_error *err)
{
    ts_plan *plan = run->env.plan;
    ts_target target = run->env.target;
    plan->target = target;
    plan->thread_kernel = run->fn->level == TS_LEVEL_S;
    if (plan->thread_kernel)
        plan->threads = 32u * run->fn->num_warps;
    plan->carveout = run->fn->carveout;
    plan->opt_level = run->fn->opt_level;
    plan->function = run->env.hints->function;
    plan->result = run->fn->result_dtype;
    const char *name = ts_str_get(run->fn->module, run->fn->name);
    size_t n = strlen(name);
    if (n >= sizeof plan->name)
        return ts_fail(err, TS_VALUE, "kernel name of %zu characters is longer than %zu", n, sizeof plan->name - 1);
    memcpy(plan->name, name, n + 1);
    TS_TRY(compile_params(run->fn, plan, err));
    for (size_t i = 0; i < TS_COUNT(compile_rows); i++)
        if (compile_rows[i].level & run->fn->level && compile_rows[i].is_gpu == (target != TS_TARGET_CPU))
            return compile_row_run(run, compile_rows[i].groups, err);
    return ts_fail(err, TS_INTERNAL, "kernel '%s': compile/pipeline.def has no row for its level and target", name);
}

/* "; its entries are @a, @b". */
static ts_status compile_no_entry(const ts_module *module, const char *entry, bool is_func, ts_error *err)
{
    ts_text names;
    ts__text_init(&names, NULL);
    for (uint32_t i = 0; i < module->fns.n && names.n < 300; i++)
        if (module->fns.at[i]->entry)
            ts__text_printf(&names, "%s@%s", names.n ? ", " : "", ts_str_get(module, module->fns.at[i]->name));
    const char *among = names.n >= 300 ? ", among others" : "";
    ts_status status;
    if (!names.n)
        status = ts_fail(err, TS_NOTFOUND, "the module has no entry%s%.200s%s: none of its %u functions is a kernel; "
                         "begin "
                         "one with 'entry @name(...)' in place of 'func'", entry ? " named '" : "", entry ? entry : "",
                         entry ? "'" : "", module->fns.n);
    else if (is_func)
        status = ts_fail(err, TS_VALUE, "@%.200s is a func, which kernels call; the entries of the module are %s%s",
                         entry,
                         ts__text_get(&names), among);
    else
        status = ts_fail(err, TS_NOTFOUND, "the module has no entry named '%.200s'; its entries are %s%s", entry,
                         ts__text_get(&names), among);
    ts__text_deinit(&names);
    return status;
}

ts_status ts__compile_entry(ts_module *module, const char *entry, ts_fn **out, ts_error *err)
{
    bool is_func = false;
    *out = NULL;
    for (uint32_t i = 0; i < module->fns.n && !*out; i++) {
        ts_fn *fn = module->fns.at[i];
        bool is_named = !entry || strcmp(ts_str_get(module, fn->name), entry) == 0;
        if (is_named && fn->entry)
            *out = fn;
        is_func |= entry && is_named && !fn->entry;
    }
    return *out ? TS_OK : compile_no_entry(module, entry, is_func, err);
}

static _Atomic int64_t compile_limit_ns; /* 0: none */

double ts_compile_limit(double seconds)
{
    int64_t limit = seconds > 0 && seconds < 1e9 ? (int64_t)(seconds * 1e9) + 1 : 0;
    return (double)atomic_exchange(&compile_limit_ns, limit) * 1e-9;
}

int64_t ts__compile_limit_ns(void)
{
    return atomic_load_explicit(&compile_limit_ns, memory_order_relaxed);
}

const ts_spec *ts__compile_block(const ts_spec *spec, size_t *n_spec)
{
    if (!*n_spec || spec[*n_spec - 1].kind != TS_SPEC_BLOCK)
        return NULL;
    return &spec[--*n_spec];
}

/* The block that code for the CPU is made for. */
static void compile_note_block(const ts_spec *block, ts_pass_env *env)
{
    for (uint32_t i = 0; i < 3 && block; i++)
        env->block[i] = (uint32_t)block->dims[i];
    env->shared_bytes = block ? (uint32_t)block->value : 0;
    env->most_blocks = !block ? 0 : block->index_bits == 32 ? TS_FEW_BLOCKS : INT32_MAX;
}

ts_status ts__compile_module(ts_module *module, const char *entry, const ts_hints *hints, ts_target target,
                            const ts_spec *block, const ts_probe *probe, const ts_alloc *alloc, ts_code *out,
                            ts_error *err)
{
    static const ts_hints none = {0};
    ts_fn *fn;
    if (hints && hints->function && module->fns.n)
        fn = module->fns.at[0];
    else
        TS_TRY(ts__compile_entry(module, entry, &fn, err));
    ts_arena scratch;
    ts__arena_init(&scratch, alloc);
    memset(out, 0, sizeof *out);
    out->alloc = alloc ? alloc : ts_alloc_default();
    ts_text messages;
    ts__text_init(&messages, out->alloc);
    compile_run run = {fn, {&scratch, target, hints ? hints : &none, &out->plan}, probe, out};
    run.env.messages = &messages;
    compile_note_block(block, &run.env);
    run.env.limit_ns = ts__compile_limit_ns();
    run.env.deadline_ns = run.env.limit_ns ? ts__now_ns() + run.env.limit_ns : 0;
    ts_status status = compile_fn(&run, err);
    if (status == TS_OK)
        status = compile_messages(&messages, out, err);
    if (status != TS_OK)
        ts_code_deinit(out);
    ts__text_deinit(&messages);
    ts__arena_deinit(&scratch);
    return status;
}

ts_status ts__compile_lower(ts_arena *arena, const ts_source *source, const ts_spec *spec, size_t n_spec,
                            const ts_hints *hints, ts_module **out, ts_error *err)
{
    return ts__front(arena, source, spec, n_spec, hints, out, err);
}

ts_status ts__compile_python(const ts_source *source, const ts_spec *spec, size_t n_spec, const ts_hints *hints,
                             ts_target target, const ts_alloc *alloc, ts_code *out, ts_error *err)
{
    ts_arena arena;
    ts__arena_init(&arena, alloc);
    ts_module *module = NULL;
    memset(out, 0, sizeof *out);
    ts_status status = ts__front(&arena, source, spec, n_spec, hints, &module, err);
    const ts_spec *block = ts__compile_block(spec, &n_spec);
    if (status == TS_OK)
        status = ts__compile_module(module, NULL, hints, target, block, NULL, alloc, out, err);
    ts__arena_deinit(&arena);
    return status;
}

ts_status ts_compile(const void *pack, size_t n_pack, const ts_spec *spec, size_t n_spec, const ts_hints *hints,
                     ts_target target, const ts_alloc *alloc, ts_code *out, ts_error *err)
{
    TS_NEED(err, out);
    TS_NEED_N(err, pack, n_pack);
    TS_NEED_N(err, spec, n_spec);
    return ts__compile_python(&(ts_source){.bytes = pack, .n = n_pack}, spec, n_spec, hints, target, alloc, out, err);
}

ts_status ts_compile_text(const char *text, size_t n, const char *entry, ts_target target, const ts_alloc *alloc,
                          ts_code *out, ts_error *err)
{
    TS_NEED(err, out);
    TS_NEED_N(err, text, n);
    ts_arena arena;
    ts__arena_init(&arena, alloc);
    ts_module *module = NULL;
    memset(out, 0, sizeof *out);
    ts_status status = ts__module_read(&arena, text, n, &module, err);
    if (status == TS_OK)
        status = ts_module_verify(module, err);
    if (status == TS_OK)
        status = ts__compile_module(module, entry, NULL, target, NULL, NULL, alloc, out, err);
    ts__arena_deinit(&arena);
    return status;
}

ts_status ts_lower_source(const ts_source *source, const ts_spec *spec, size_t n_spec, const ts_hints *hints,
                          uint32_t flags, const ts_alloc *alloc, char **out, size_t *n, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, source, n);
    TS_NEED_N(err, spec, n_spec);
    ts_arena arena;
    ts_text text;
    ts_module *module = NULL;
    *n = 0;
    ts__arena_init(&arena, alloc);
    ts__text_init(&text, alloc);
    ts_status status = ts__front(&arena, source, spec, n_spec, hints, &module, err);
    if (status == TS_OK) {
        ts__print_module(module, flags & TS_LOWER_PLACES ? TS_PRINT_LOC : 0, &text);
        status = ts__text_take(&text, out, n, err);
    } else {
        ts__text_deinit(&text);
    }
    ts__arena_deinit(&arena);
    return status;
}

ts_status ts_lower_text(const void *pack, size_t n_pack, const ts_spec *spec, size_t n_spec, const ts_hints *hints,
                        const ts_alloc *alloc, char **out, size_t *n, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, n);
    TS_NEED_N(err, pack, n_pack);
    TS_NEED_N(err, spec, n_spec);
    return ts_lower_source(&(ts_source){.bytes = pack, .n = n_pack}, spec, n_spec, hints, 0, alloc, out, n, err);
}
