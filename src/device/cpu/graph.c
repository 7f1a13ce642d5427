/* SPDX-License-Identifier: Apache-2.0
 *
 * Scripts of recorded work. Recording itself is in stream.c: it puts tasks in a list instead of the queue. A launch
 * is one task, which runs the steps in the executor's thread; on the default stream, its caller does.
 */
#include "device/cpu/cpu.h"

typedef struct script_task {
    cpu_task base;
    ts_script *script; /* one reference */
} script_task;

bool cpu_record_active(const ts_stream *stream)
{
    return cpu_stream_recorder(stream) != 0;
}

void cpu_piece_destroy(ts_piece *piece)
{
    cpu_task_end((cpu_task *)piece);
}

static bool script_jumps(const ts_step *step)
{
    bool equal = step->condition && __atomic_load_n(step->condition, __ATOMIC_ACQUIRE) == step->value;
    return step->op == TS_STEP_JUMP || (step->op == TS_STEP_JUMP_IF && equal) ||
           (step->op == TS_STEP_JUMP_UNLESS && !equal);
}

/* `stop` ends loops whose condition never changes. */
static ts_status script_run(const ts_script *script, _Atomic uint32_t *stop, ts_error *err)
{
    for (size_t at = 0; at < script->n;) {
        const ts_step *step = &script->steps[at++];
        if (step->op == TS_STEP_RUN) {
            cpu_task *task = (cpu_task *)step->work;
            TS_TRY(task->run(task, stop, err));
        } else if (step->op == TS_STEP_SET)
            __atomic_store_n(step->condition, step->value, __ATOMIC_RELEASE);
        else if (script_jumps(step))
            at = step->target;
        if (atomic_load_explicit(stop, memory_order_relaxed))
            return ts_fail(err, TS_LAUNCH, "the graph was cancelled");
    }
    return TS_OK;
}

static ts_status script_run_task(cpu_task *task, _Atomic uint32_t *stop, ts_error *err)
{
    return script_run(((script_task *)task)->script, stop, err);
}

static void script_end_task(cpu_task *task)
{
    ts_script_release(((script_task *)task)->script);
}

ts_status cpu_script_launch(ts_script *script, const ts_stream *stream, ts_error *err)
{
    if (cpu_stream_is_inline(stream)) {
        TS_TRY(cpu_streams_join(stream, TS_FOREVER, err));
        _Atomic uint32_t never = 0;
        return script_run(script, &never, err);
    }
    script_task *task = cpu_task_new(cpu_of(script->device), sizeof *task, script_run_task, TS_PIECE_OTHER);
    if (!task)
        return ts_fail(err, TS_NOMEM, "out of memory for the launch of a graph");
    task->base.end = script_end_task;
    task->script = script;
    ts__script_retain(script);
    ts_status status = cpu_stream_submit(stream, &task->base, err);
    if (status != TS_OK)
        ts_script_release(script);
    return status;
}
