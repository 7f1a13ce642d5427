/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost report (tessera/report.h): one compilation with notes on and a look in between, then the roof.
 *
 *     front ─▶ first passes ─▶ count.c ─▶ the rest, which writes notes ─▶ plan ─▶ roof
 *
 * The text form is report_text.c.
 */
#include "tessera/report.h"
#include "compile/compile.h"
#include "compile/count.h"
#include "lang/front.h"
#include "ir/note.h"
#include <math.h>

typedef struct report_impl {
    ts_report report; /* first: ts_report_destroy takes its address */
    ts_arena arena;   /* the module, its notes, counts */
    const ts_alloc *alloc;
    ts_count count;
    ts_note_entry *notes; /* with room for REPORT_WARNINGS more */
    uint32_t n_notes;
    const ts_report_request *request; /* only while it is made */
} report_impl;

enum { REPORT_WARNINGS = 2 }; /* at most, from the assembler */

static const char *const report_kinds[] = {
#define X(name, doc) #name,
    TS_NOTES(X)
#undef X
};

const char *ts_note_kind_name(uint32_t kind)
{
    return kind < TS_NOTE_COUNT ? report_kinds[kind] : "?";
}

const char *ts_roof_name(uint32_t roof)
{
    return roof < TS_WORK_COUNT ? ts_work_name(roof) : roof == TS_ROOF_DRAM ? "dram" : "l2";
}

/* ---- the roof -------------------------------------------------------------------------------------------- */

/* Every product runs on ordinary multiply-adds. */
static bool report_on_fma(const ts_report *r)
{
    bool any = false;
    for (uint32_t i = 0; i < r->n_notes; i++) {
        if (r->notes[i].kind != TS_NOTE_product)
            continue;
        if (strcmp(r->notes[i].what, "fma") != 0)
            return false;
        any = true;
    }
    return any;
}

/* What a kind of work runs as where the hardware has no unit for it. */
static uint32_t report_instead(uint32_t work, bool on_fma)
{
    switch (work) {
    case TS_WORK_tensor_f8:
        return on_fma ? TS_WORK_f32 : TS_WORK_tensor_f16;
    case TS_WORK_tensor_f16:
    case TS_WORK_tensor_tf32:
        return TS_WORK_f32;
    case TS_WORK_tensor_i8:
        return TS_WORK_integer;
    case TS_WORK_tensor_f64:
        return TS_WORK_f64;
    default:
        return work;
    }
}

static double report_rate(const ts_report *r, uint32_t work, bool on_fma)
{
    double rate = r->machine.rate[work];
    return rate > 0 && !on_fma ? rate : r->machine.rate[report_instead(work, on_fma)];
}

static void report_limit(ts_report *r, uint32_t blocks, const char *what)
{
    if (r->limit && blocks >= r->resident)
        return;
    r->resident = blocks;
    r->limit = what;
}

/* Blocks of an SM at a time. Registers are dealt out to warps in units of 256; a block's shared memory takes
 * 1 KiB more (CUDA programming guide). */
static void report_residency(ts_report *r)
{
    const ts_machine *m = &r->machine;
    uint32_t threads = TS_MAX(1u, r->code.plan.threads), warps = (threads + 31) / 32;
    uint32_t a_warp = (r->resources.registers * 32 + 255) / 256 * 256;
    r->limit = NULL;
    report_limit(r, m->blocks, "blocks");
    report_limit(r, m->threads / threads, "threads");
    report_limit(r, m->shared_bytes / (r->code.plan.shared_bytes + 1024), "shared memory");
    if (a_warp)
        report_limit(r, m->registers / (a_warp * warps), "registers");
}

static void report_rates(ts_report *r)
{
    const ts_machine *m = &r->machine;
    double clock = m->clock_hz * m->sms, asked = 0;
    bool on_fma = report_on_fma(r);
    for (uint32_t k = TS_WORK_tensor_f16; k < TS_WORK_COUNT; k++)
        r->roof_s[k] = r->total[k] > 0 ? r->total[k] / (report_rate(r, k, on_fma) * clock) : 0;
    for (uint32_t k = TS_WORK_load; k <= TS_WORK_atomic; k++)
        asked += r->total[k];
    r->roof_s[TS_ROOF_DRAM] = r->dram_bytes / m->dram_bytes_s;
    r->roof_s[TS_ROOF_L2] = asked / (m->l2_bytes_clock * clock);
}

/* How much longer work of kind `k` takes because SMs have nothing to do: in the last wave, or, when all blocks run at
 * once, because one has more to do than the others. */
static double report_idle(const ts_report *r, uint32_t k, double blocks)
{
    if (r->waves <= 0)
        return 1;
    double uneven = k < TS_WORK_COUNT && r->total[k] > 0 ? r->busiest[k] * blocks / r->total[k] : 1;
    return ceil(r->waves) / r->waves * (r->waves <= 1 ? TS_MAX(uneven, 1.0) : 1);
}

static void report_roof(ts_report *r)
{
    double blocks = (double)r->grid[0] * (double)r->grid[1] * (double)r->grid[2], most = 0;
    double cluster = r->code.plan.cluster > 1 ? r->code.plan.cluster : 1;
    report_rates(r);
    r->waves = r->resident ? blocks * cluster / ((double)r->machine.sms * r->resident) : 0;
    r->predicted_s = r->roof_s[TS_ROOF_DRAM];
    for (uint32_t k = 0; k < TS_ROOF_COUNT; k++) {
        if (r->roof_s[k] > most) {
            most = r->roof_s[k];
            r->bound = k;
        }
        if (k != TS_ROOF_DRAM)
            r->predicted_s = TS_MAX(r->predicted_s, r->roof_s[k] * report_idle(r, k, blocks));
    }
}

/* All that follows from counts, plan, machine and resources. */
static void report_conclude(ts_report *r)
{
    if (!r->machine.sms)
        return;
    report_residency(r);
    if (r->evaluated)
        report_roof(r);
}

/* The line of the first product on wgmma; 0 when there is none. */
static uint32_t report_wgmma_line(const ts_report *r)
{
    for (uint32_t i = 0; i < r->n_notes; i++)
        if (r->notes[i].kind == TS_NOTE_product && strcmp(r->notes[i].what, "wgmma") == 0)
            return r->notes[i].line;
    return 0;
}

static void report_warn(report_impl *impl, const char *what, uint32_t line, const char *text)
{
    impl->notes[impl->report.n_notes++] =
        (ts_note_entry){.kind = TS_NOTE_warning, .count = 1, .line = line, .file = "", .what = what, .text = text};
}

void ts_report_assembled(ts_report *report, const ts_resources *resources)
{
    report_impl *impl = report->impl;
    report->resources = *resources;
    report->n_notes = impl->n_notes;
    if (resources->spill_store_bytes + resources->spill_load_bytes)
        report_warn(impl, "spills", report->tile_line,
                    "registers do not suffice; the largest tile is made here: make tiles smaller "
                    "or use more warps");
    if (resources->serialised)
        report_warn(impl, "serialised", report_wgmma_line(report),
                    "the assembler makes each product wait for the one before "
                    "(C75xx): a mistake of the compiler, please report it");
    report_conclude(report);
}

/* ---- making ----------------------------------------------------------------------------------------------- */

static ts_status report_look(void *user, const ts_fn *fn, ts_error *err)
{
    report_impl *impl = user;
    return ts__count_run(fn, impl->request, &impl->arena, &impl->count, err);
}

static ts_status report_module(report_impl *impl, ts_module **out, ts_error *err)
{
    const ts_report_request *q = impl->request;
    if (!q->text)
        return ts__front(&impl->arena, &(ts_source){.bytes = q->pack, .n = q->n_pack, .host = q->host}, q->spec,
                         q->n_spec, q->hints, out, err);
    TS_TRY(ts__module_read(&impl->arena, q->text, q->n_text, out, err));
    return ts_module_verify(*out, err);
}

/* Ways of an access from worse to better; 0 for other words. */
static uint32_t report_rank(const char *what)
{
    static const char *const ways[] = {"vector", "cp.async", "tma"};
    for (uint32_t i = 0; i < TS_COUNT(ways); i++)
        if (strcmp(what, ways[i]) == 0)
            return i + 1;
    return 0;
}

/* Something missed matters no more when the access took that way after all, or a better one. That vectors are
 * narrow stays worth a word when vectors it is. */
static bool report_is_moot(const ts_module *module, const ts_note_entry *note)
{
    uint32_t rank = report_rank(note->what);
    if (note->kind != TS_NOTE_missed || !rank)
        return false;
    for (uint32_t i = 0; i < module->notes.n; i++) {
        const ts_note_entry *other = &module->notes.at[i];
        bool access = other->kind == TS_NOTE_load || other->kind == TS_NOTE_store;
        if (access && other->value == note->value && report_rank(other->what) >= TS_MAX(rank, 2u))
            return true;
    }
    return false;
}

static int report_order(const ts_note_entry *a, const ts_note_entry *b)
{
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (int)a->kind - (int)b->kind;
}

/* Insertion sort: a few dozen notes, most in order already. */
static void report_sort(ts_note_entry *notes, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && report_order(&notes[k - 1], &notes[k]) > 0; k--) {
            ts_note_entry note = notes[k];
            notes[k] = notes[k - 1];
            notes[k - 1] = note;
        }
}

static void report_take_notes(report_impl *impl, const ts_module *module)
{
    ts_note_entry *notes = TS_NEW_N(&impl->arena, ts_note_entry, module->notes.n + REPORT_WARNINGS);
    uint32_t n = 0;
    for (uint32_t i = 0; notes && i < module->notes.n; i++)
        if (!report_is_moot(module, &module->notes.at[i]))
            notes[n++] = module->notes.at[i];
    report_sort(notes, n);
    impl->report.notes = impl->notes = notes;
    impl->report.n_notes = impl->n_notes = n;
}

static void report_take_counts(report_impl *impl)
{
    ts_report *r = &impl->report;
    const ts_count *c = &impl->count;
    r->nests = c->nests.at;
    r->n_nests = c->nests.n;
    r->arrays = c->arrays.at;
    r->n_arrays = c->arrays.n;
    r->evaluated = c->evaluated;
    r->exact = c->exact;
    memcpy(r->total, c->total, sizeof r->total);
    memcpy(r->busiest, c->busiest, sizeof r->busiest);
    r->dram_bytes = c->dram_bytes;
    r->tile_line = c->tile_line;
    r->tile_bytes = c->tile_bytes;
}

static ts_status report_fill(report_impl *impl, ts_error *err)
{
    const ts_report_request *q = impl->request;
    ts_module *module = NULL;
    ts_probe probe = {report_look, impl};
    TS_TRY(report_module(impl, &module, err));
    module->noting = true;
    TS_TRY(ts__compile_module(module, q->entry, q->hints, q->target, NULL, &probe, impl->alloc, &impl->report.code,
                              err));
    const ts_plan *plan = &impl->report.code.plan;
    if (plan->thread_kernel) /* its work and how many blocks an SM holds depend on the block of each launch */
        return ts_fail(err, TS_UNSUPPORTED, "kernel '%s' is written for threads; cost reports are made of kernels of "
                       "tiles only, profile its launches instead", plan->name);
    memcpy(impl->report.grid, q->grid, sizeof q->grid);
    report_take_counts(impl);
    report_take_notes(impl, module);
    if (q->machine)
        impl->report.machine = *q->machine;
    else
        (void)ts_machine_of_target(q->target, &impl->report.machine);
    report_conclude(&impl->report);
    return impl->arena.failed ? ts_fail(err, TS_NOMEM, "out of memory while making a report") : TS_OK;
}

ts_status ts_report_make(const ts_report_request *request, ts_report **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, request);
    const ts_alloc *alloc = request->alloc ? request->alloc : ts_alloc_default();
    report_impl *impl = alloc->resize(alloc->user, NULL, 0, sizeof *impl);
    if (!impl)
        return ts_fail(err, TS_NOMEM, "out of memory while making a report");
    memset(impl, 0, sizeof *impl);
    impl->alloc = impl->report.code.alloc = alloc;
    impl->request = request;
    impl->report.impl = impl;
    ts__arena_init(&impl->arena, alloc);
    ts_status status = report_fill(impl, err);
    impl->request = NULL;
    if (status != TS_OK)
        ts_report_destroy(&impl->report);
    else
        *out = &impl->report;
    return status;
}

static void report_put_note(ts_text *text, const ts_note_entry *note)
{
    const char *file = strrchr(note->file, '/');
    if (note->line)
        ts__text_printf(text, "%s:%u:%u: ", file ? file + 1 : note->file, note->line, note->column + 1);
    ts__text_printf(text, "%s %s%s: %s\n", report_kinds[note->kind], note->kind == TS_NOTE_missed ? "not " : "",
                    note->what, note->text);
}

/* Copies of code are noted alike. */
static bool report_is_told(const report_impl *impl, uint32_t i)
{
    const ts_note_entry *a = &impl->notes[i], *b = impl->notes;
    for (; b < a; b++)
        if (a->kind == b->kind && a->line == b->line && a->column == b->column && strcmp(a->what, b->what) == 0 &&
            strcmp(a->text, b->text) == 0 && strcmp(a->file, b->file) == 0)
            return true;
    return false;
}

static ts_status report_notes(report_impl *impl, char **out, size_t *n, ts_error *err)
{
    ts_report_request request = *impl->request;
    ts_module *module = NULL;
    const ts_spec *block = ts__compile_block(request.spec, &request.n_spec);
    impl->request = &request;
    TS_TRY(report_module(impl, &module, err));
    module->noting = true;
    TS_TRY(ts__compile_module(module, request.entry, request.hints, request.target, block, NULL, impl->alloc,
                              &impl->report.code, err));
    report_take_notes(impl, module);
    ts_text text;
    ts__text_init(&text, impl->alloc);
    for (uint32_t i = 0; i < impl->n_notes; i++)
        if (!report_is_told(impl, i))
            report_put_note(&text, &impl->notes[i]);
    text.failed |= impl->arena.failed;
    return ts__report_hand_over(&text, out, n, err);
}

ts_status ts_report_notes(const ts_report_request *request, char **out, size_t *n, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, request, n);
    report_impl impl = {.alloc = request->alloc ? request->alloc : ts_alloc_default(), .request = request};
    *n = 0;
    impl.report.code.alloc = impl.alloc;
    ts__arena_init(&impl.arena, impl.alloc);
    ts_status status = report_notes(&impl, out, n, err);
    ts_code_deinit(&impl.report.code);
    ts__arena_deinit(&impl.arena);
    return status;
}

void ts_report_destroy(ts_report *report)
{
    if (!report)
        return;
    report_impl *impl = report->impl;
    const ts_alloc *alloc = impl->alloc;
    ts_code_deinit(&report->code);
    ts__arena_deinit(&impl->arena);
    alloc->resize(alloc->user, impl, sizeof *impl, 0);
}
