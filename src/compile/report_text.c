/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost report for people: what bounds the kernel first, then regions with their work, then decisions by
 * source line, the assembler's warnings last. docs/performance.md reads one line by line.
 */
#include "tessera/report.h"
#include "compile/compile.h"
#include "base/base.h"

/* 1.10 T, 65.5 k, 12: three digits and a prefix. */
static void text_si(ts_text *t, double x, const char *unit)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T", "P"};
    uint32_t i = 0;
    while (x >= 999.5 && i + 1 < TS_COUNT(prefix)) {
        x /= 1000;
        i++;
    }
    ts__text_printf(t, i ? "%.3g %s%s" : "%.4g %s%s", x, prefix[i], unit);
}

static void text_time(ts_text *t, double seconds)
{
    if (seconds >= 1e-3)
        ts__text_printf(t, "%.3g ms", seconds * 1e3);
    else
        ts__text_printf(t, "%.3g us", seconds * 1e6);
}

/* "load 49.2 kB, tensor_f16 4.19 Mflop"; false when there is none. */
static bool text_work(ts_text *t, const double *work)
{
    bool any = false;
    for (uint32_t k = 0; k < TS_WORK_COUNT; k++) {
        if (work[k] <= 0)
            continue;
        ts__text_printf(t, "%s%s ", any ? ", " : "", ts_work_name(k));
        text_si(t, work[k], ts_work_unit(k));
        any = true;
    }
    return any;
}

static const char *text_target(uint32_t target)
{
    static const struct {
        uint32_t target;
        const char *name;
    } names[] = {
#define TS_SM(number, name, ptx, still, dynamic, regs) {number, #name},
#include "table/sm.def"
    };
    for (size_t i = 0; i < TS_COUNT(names); i++)
        if (names[i].target == target)
            return names[i].name;
    return "the CPU";
}

static void text_head(ts_text *t, const ts_report *r)
{
    const ts_plan *plan = &r->code.plan;
    ts__text_printf(t, "%s for %s", plan->name, text_target(plan->target));
    if (r->grid[0])
        ts__text_printf(t, ", grid (%lld, %lld, %lld)", (long long)r->grid[0], (long long)r->grid[1],
                        (long long)r->grid[2]);
    if (plan->threads)
        ts__text_printf(t, ", %u threads a block", plan->threads);
    if (plan->cluster > 1)
        ts__text_printf(t, ", clusters of %u", plan->cluster);
    ts__text_puts(t, plan->persistent ? ", persistent\n" : "\n");
}

static void text_resources(ts_text *t, const ts_report *r)
{
    const ts_resources *x = &r->resources;
    if (!r->machine.sms)
        return;
    ts__text_puts(t, "  resources  ");
    if (x->known)
        ts__text_printf(t, "%u registers, %u bytes spilled, ", x->registers,
                        x->spill_store_bytes + x->spill_load_bytes);
    else
        ts__text_puts(t, "registers unknown (no assembler), ");
    ts__text_printf(t, "%u bytes of shared memory: %u block%s an SM (limit: %s)", r->code.plan.shared_bytes,
                    r->resident,
                   r->resident == 1 ? "" : "s", r->limit ? r->limit : "none");
    if (r->waves > 0)
        ts__text_printf(t, ", %.2f waves", r->waves);
    ts__text_putc(t, '\n');
}

static void text_total(ts_text *t, const ts_report *r)
{
    if (!r->evaluated)
        return;
    ts__text_puts(t, "  launch     ");
    if (!text_work(t, r->total))
        ts__text_puts(t, "no work");
    ts__text_puts(t, r->exact ? "\n" : " (about: depends on data, or blocks were sampled)\n");
    ts__text_puts(t, "  memory     at least ");
    text_si(t, r->dram_bytes, "B");
    for (uint32_t i = 0; i < r->n_arrays; i++) {
        const ts_traffic *a = &r->arrays[i];
        if (a->load + a->store <= 0)
            continue;
        ts__text_printf(t, "; %s", a->name);
        if (a->bytes > 0) {
            ts__text_puts(t, " of ");
            text_si(t, a->bytes, "B");
        }
        if (a->load > 0) {
            ts__text_puts(t, " loads ");
            text_si(t, a->load, "B");
        }
        if (a->store > 0) {
            ts__text_puts(t, " stores ");
            text_si(t, a->store, "B");
        }
    }
    ts__text_putc(t, '\n');
}

static void text_roof(ts_text *t, const ts_report *r)
{
    if (!r->machine.sms || !r->evaluated || r->roof_s[r->bound] <= 0)
        return;
    ts__text_puts(t, "  roof       ");
    text_time(t, r->roof_s[r->bound]);
    ts__text_printf(t, " by %s on %s%s;", ts_roof_name(r->bound), r->machine.name,
                    r->machine.assumed ? " (assumed)" : "");
    for (uint32_t k = 0; k < TS_ROOF_COUNT; k++) {
        if (k == r->bound || r->roof_s[k] < 0.01 * r->roof_s[r->bound])
            continue;
        ts__text_printf(t, " %s ", ts_roof_name(k));
        text_time(t, r->roof_s[k]);
        ts__text_putc(t, ',');
    }
    ts__text_puts(t, " with idle SMs ");
    text_time(t, r->predicted_s);
    ts__text_putc(t, '\n');
}

static void text_nests(ts_text *t, const ts_report *r)
{
    ts__text_puts(t, "  region     line       runs  work of one run\n");
    for (uint32_t i = 0; i < r->n_nests; i++) {
        const ts_nest *nest = &r->nests[i];
        ts__text_printf(t, "  %-9s %5u %10.6g  ", nest->what, nest->line, nest->runs);
        if (!text_work(t, nest->work))
            ts__text_puts(t, "-");
        if (nest->trips[0])
            ts__text_printf(t, "    x %s", nest->trips);
        ts__text_putc(t, '\n');
    }
}

static void text_notes(ts_text *t, const ts_report *r)
{
    uint32_t line = 0;
    if (r->n_notes)
        ts__text_puts(t, "  decision   line\n");
    for (uint32_t i = 0; i < r->n_notes; i++) {
        const ts_note_entry *note = &r->notes[i];
        ts__text_printf(t, "  %-9s ", ts_note_kind_name(note->kind));
        if (note->line != line || i == 0)
            ts__text_printf(t, "%5u", note->line);
        else
            ts__text_puts(t, "     ");
        line = note->line;
        ts__text_printf(t, "  %s%s: %s", note->kind == TS_NOTE_missed ? "not " : "", note->what, note->text);
        if (note->call_line)
            ts__text_printf(t, " (called on line %u)", note->call_line);
        if (note->count > 1 && note->kind == TS_NOTE_move)
            ts__text_printf(t, " (%u times)", note->count);
        ts__text_putc(t, '\n');
    }
}

ts_status ts__report_hand_over(ts_text *text, char **out, size_t *n, ts_error *err)
{
    if (!text->failed)
        *out = text->alloc->resize(text->alloc->user, text->at, text->cap, text->n + 1);
    if (*out) {
        *n = text->n;
        return TS_OK;
    }
    ts__text_deinit(text);
    return ts_fail(err, TS_NOMEM, "out of memory while printing a report");
}

ts_status ts_report_text(const ts_report *report, const ts_alloc *alloc, char **out, size_t *n, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, report, n);
    ts_text text;
    *n = 0;
    ts__text_init(&text, alloc ? alloc : ts_alloc_default());
    text_head(&text, report);
    text_resources(&text, report);
    text_total(&text, report);
    text_roof(&text, report);
    text_nests(&text, report);
    text_notes(&text, report);
    return ts__report_hand_over(&text, out, n, err);
}
