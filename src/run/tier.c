/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiers: a kernel that asks for them (ts_hints.tiers) is launched first as code that is quickly made, and from some
 * launch on as fast code, which is made in the background (docs/adr/0035-tiers.md).
 *
 *     first launch    fast code in the cache?  yes: that                                            one tier
 *                                              no: opt_level 1, assembled at the driver's lowest level
 *     background      fast code, loaded -> the entry's program -> the cache, which so holds only code that the driver
 *                     has assembled and kept
 *
 * Both have the same bits: a kernel that asks for tiers promises that what it does does not depend on is_quick().
 */
#include "device/background.h"
#include "run/launch.h"
#include <stdatomic.h>
#include <stdlib.h>

typedef struct tier_work {
    kernel_wish wish;
    kernel_entry *entry;
    ts_spec spec[]; /* wish.n_spec of them */
} tier_work;

/* What TESSERA_TIERS says: 0: one tier, of fast code; quick: the first tier alone; else both. */
typedef enum tier_mode { TIER_FAST, TIER_QUICK, TIER_BOTH } tier_mode;

static tier_mode tier_asked(void)
{
    const char *given = getenv("TESSERA_TIERS");
    if (!given)
        return TIER_BOTH;
    return strcmp(given, "0") == 0 ? TIER_FAST : strcmp(given, "quick") == 0 ? TIER_QUICK : TIER_BOTH;
}

bool ts__tier_is_wanted(const kernel_wish *wish)
{
    const ts_host *host = &wish->kernel->source.host;
    return wish->hints.tiers && wish->hints.opt_level != 1 && wish->kernel->source.kind == TS_SOURCE_PYTHON &&
           !ts__kernel_is_hosted(wish->kernel, wish->spec, wish->n_spec) && !host->link &&
           tier_asked() != TIER_FAST;
}

static size_t tier_bytes(size_t n_spec)
{
    return sizeof(tier_work) + sizeof(ts_spec) * n_spec;
}

/* The first thing that went wrong; see ts_code_problem. */
static struct {
    _Atomic int step;
    ts_error error;
} tier_problem;

enum { TIER_NOTHING, TIER_WRITES, TIER_WRITTEN, TIER_REPORTED };

static void tier_failed(const ts_kernel *kernel, const ts_error *err)
{
    int step = TIER_NOTHING;
    if (!atomic_compare_exchange_strong(&tier_problem.step, &step, TIER_WRITES))
        return;
    ts_fail(&tier_problem.error, err->status,
            "kernel '%s' goes on with code that was quickly made, since its fast code cannot be made: %s",
            ts_kernel_name(kernel), err->text);
    atomic_store(&tier_problem.step, TIER_WRITTEN);
}

const char *ts_code_problem(void)
{
    int step = TIER_WRITTEN;
    bool is_new = atomic_compare_exchange_strong(&tier_problem.step, &step, TIER_REPORTED);
    return is_new ? tier_problem.error.text : NULL;
}

/* Whether the device can use code: not a GPU that a parent opened before fork(), whose pieces a child has, too. */
static bool tier_is_of_use(const ts_device *device)
{
    return !device->ops->is_forked || !device->ops->is_forked(device);
}

/* What goes wrong leaves the code that was quickly made. */
static void tier_run(void *user)
{
    tier_work *work = user;
    ts_kernel *kernel = work->wish.kernel;
    ts_program *program = NULL;
    ts_error err;
    if (!tier_is_of_use(work->wish.device))
        ; /* and nothing went wrong */
    else if (ts__kernel_program(&work->wish, &program, &err) == TS_OK) {
        work->entry->before = ts__entry_program(work->entry);
        atomic_store_explicit(&work->entry->program, program, memory_order_release);
    } else
        tier_failed(kernel, &err);
    ts__delete(kernel->alloc, work, tier_bytes(work->wish.n_spec));
    ts_kernel_release(kernel);
}

void ts__tier_begin(kernel_entry *entry, const kernel_wish *wish)
{
    ts_kernel *kernel = wish->kernel;
    if (!ts__tier_is_wanted(wish) || ts__entry_program(entry)->plan.opt_level != 1 || tier_asked() == TIER_QUICK)
        return;
    tier_work *work = ts__new(kernel->alloc, tier_bytes(wish->n_spec));
    if (!work)
        return;
    work->wish = *wish;
    work->wish.spec = memcpy(work->spec, wish->spec, sizeof(ts_spec) * wish->n_spec);
    work->wish.kept_loaded = work->wish.never_asks = true;
    work->entry = entry;
    ts_kernel_retain(kernel);
    if (ts__background(tier_run, work))
        return;
    ts_kernel_release(kernel);
    ts__delete(kernel->alloc, work, tier_bytes(wish->n_spec));
}

void ts__tier_resume(const ts_program *program)
{
    if (program->plan.opt_level == 1)
        ts__background_resume();
}

void ts_code_wait(void)
{
    ts__background_wait();
}

void ts_code_end(void)
{
    ts__background_end();
}
