/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the strategies of a lowering (strategy.h), one after the other.
 */
#include "gpu/lower/strategy.h"

bool ts__strategies_open(ts_lower *lw, const ts_strategies *strategies)
{
    lw->strategies = strategies;
    lw->state = TS_NEW_N(lw->arena, void *, strategies->n);
    for (uint32_t i = 0; lw->state && i < strategies->n; i++) {
        size_t bytes = strategies->at[i]->state;
        lw->state[i] = bytes ? TS_NEW_N(lw->arena, uint8_t, bytes) : NULL;
        if (bytes && !lw->state[i])
            return false;
    }
    return lw->state != NULL;
}

/* Runs the statement for every strategy `s` that has the hook. */
#define HOOK_EACH(hook, statement) \
    for (uint32_t hook_i = 0; hook_i < lw->strategies->n; hook_i++) { \
        const ts_strategy *s = lw->strategies->at[hook_i]; \
        if (s->hook) \
            statement; \
    }

/* ---- all are asked -------------------------------------------------------------------------------------------- */

void ts__hook_begin(ts_lower *lw)
{
    HOOK_EACH(begin, s->begin(lw));
    HOOK_EACH(split_warps, s->split_warps(lw));
    HOOK_EACH(consumers, s->consumers(lw));
}

void ts__hook_plan(ts_lower *lw)
{
    HOOK_EACH(plan, s->plan(lw));
}

void ts__hook_leave(ts_lower *lw)
{
    HOOK_EACH(leave, s->leave(lw));
}

void ts__hook_loop_values(ts_lower *lw, ts_val loop, ts_vals *values)
{
    HOOK_EACH(loop_values, s->loop_values(lw, loop, values));
}

void ts__hook_loop_range(ts_lower *lw, ts_val loop, ts_val range[3])
{
    HOOK_EACH(loop_range, s->loop_range(lw, loop, range));
}

void ts__hook_loop_open(ts_lower *lw, ts_val loop)
{
    HOOK_EACH(loop_open, s->loop_open(lw, loop));
}

void ts__hook_loop_next(ts_lower *lw, ts_val loop, ts_vals *values)
{
    HOOK_EACH(loop_next, s->loop_next(lw, loop, values));
}

void ts__hook_loop_types(ts_lower *lw, ts_val loop, ts_vals *types)
{
    HOOK_EACH(loop_types, s->loop_types(lw, loop, types));
}

void ts__hook_loop_end(ts_lower *lw, ts_val loop)
{
    HOOK_EACH(loop_end, s->loop_end(lw, loop));
}

void ts__hook_recalls(ts_lower *lw, ts_val v)
{
    HOOK_EACH(recalls, s->recalls(lw, v));
}

void ts__hook_region(ts_lower *lw, ts_val opener)
{
    HOOK_EACH(region, s->region(lw, opener));
}

void ts__hook_read(ts_lower *lw, ts_val v)
{
    HOOK_EACH(read, s->read(lw, v));
}

void ts__hook_advance(ts_lower *lw, ts_val product)
{
    HOOK_EACH(advance, s->advance(lw, product));
}

ts_val ts__hook_loop_enter(ts_lower *lw, ts_val loop, ts_val next)
{
    HOOK_EACH(loop_enter, next = s->loop_enter(lw, loop, next));
    return next;
}

ts_val ts__hook_loop_results(ts_lower *lw, ts_val loop, ts_val next)
{
    HOOK_EACH(loop_results, next = s->loop_results(lw, loop, next));
    return next;
}

ts_val ts__hook_skip_steps(ts_lower *lw, ts_val loop, ts_val count)
{
    HOOK_EACH(skip_steps, count = s->skip_steps(lw, loop, count));
    return count;
}

/* ---- the first answer counts ------------------------------------------------------------------------------------ */

bool ts__hook_skips(ts_lower *lw, ts_val v)
{
    bool answer = false;
    HOOK_EACH(skips, if ((answer = s->skips(lw, v))) return answer);
    return answer;
}

bool ts__hook_defers(ts_lower *lw, ts_val v)
{
    bool answer = false;
    HOOK_EACH(defers, if ((answer = s->defers(lw, v))) return answer);
    return answer;
}

bool ts__hook_load(ts_lower *lw, ts_val v)
{
    bool answer = false;
    HOOK_EACH(load, if ((answer = s->load(lw, v))) return answer);
    return answer;
}

bool ts__hook_product(ts_lower *lw, ts_val v)
{
    bool answer = false;
    HOOK_EACH(product, if ((answer = s->product(lw, v))) return answer);
    return answer;
}

bool ts__hook_store(ts_lower *lw, ts_val v)
{
    bool answer = false;
    HOOK_EACH(store, if ((answer = s->store(lw, v))) return answer);
    return answer;
}

ts_val ts__hook_loop(ts_lower *lw, ts_val loop)
{
    ts_val answer = 0;
    HOOK_EACH(loop, if ((answer = s->loop(lw, loop))) return answer);
    return answer;
}

ts_val ts__hook_first_step(ts_lower *lw, ts_val loop)
{
    ts_val answer = 0;
    HOOK_EACH(first_step, if ((answer = s->first_step(lw, loop))) return answer);
    return answer;
}

ts_val ts__hook_operand(ts_lower *lw, ts_val x)
{
    ts_val answer = 0;
    HOOK_EACH(operand, if ((answer = s->operand(lw, x))) return answer);
    return answer;
}

ts_val ts__hook_rounds(ts_lower *lw, ts_val x)
{
    ts_val answer = 0;
    HOOK_EACH(rounds, if ((answer = s->rounds(lw, x))) return answer);
    return answer;
}

ts_prefetch *ts__hook_prefetch(ts_lower *lw, ts_val product)
{
    ts_prefetch *answer = NULL;
    HOOK_EACH(prefetch, if ((answer = s->prefetch(lw, product))) return answer);
    return answer;
}

bool ts__hook_barrier(ts_lower *lw)
{
    HOOK_EACH(barrier, if (s->barrier(lw)) return true);
    return false;
}
