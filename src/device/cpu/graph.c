/* SPDX-License-Identifier: Apache-2.0
 *
 * Scripts of recorded work. Recording itself is in stream.c: it puts tasks in a list instead of the queue. A launch
 * is one task, which runs the steps in the executor's thread; on the default stream, its caller does.
 */
#include "device/cpu/cpu.h"

struct ts_script {
    ts_cpu *cpu;
    _Atomic uint32_t references;
    void (*end)(void *user);
    void *user;
    size_t n;
    ts_step steps[];
};

typedef struct script_task {
    cpu_task base;
    ts_script *script; /* one reference */
} script_task;

/* ---- recorded work ---------------------------------------------------------------------------------- */

static ts_status graph_check(const ts_stream *stream, ts_error *err)
{
    if (ts_device_target(stream->device) == TS_TARGET_CPU)
        return TS_OK;
    return ts_fail(err, TS_UNSUPPORTED, "work of a GPU is recorded by the driver's graphs");
}

ts_status ts_record_begin(const ts_stream *stream, ts_error *err)
{
    TS_TRY(graph_check(stream, err));
    return cpu_record_begin(stream, err);
}

ts_status ts_record_end(const ts_stream *stream, ts_piece **out, ts_error *err)
{
    *out = NULL;
    TS_TRY(graph_check(stream, err));
    return cpu_record_end(stream, out, err);
}

bool ts_record_active(const ts_stream *stream)
{
    return ts_device_target(stream->device) == TS_TARGET_CPU && cpu_stream_recorder(stream) != 0;
}

ts_piece *ts_piece_next(const ts_piece *work)
{
    return work->next;
}

ts_piece_kind ts_piece_kind_of(const ts_piece *work)
{
    return work->kind;
}

void ts_piece_release(ts_piece *work)
{
    if (work && atomic_fetch_sub(&work->references, 1) == 1)
        cpu_task_end(work);
}

/* ---- scripts ------------------------------------------------------------------------------------------ */

ts_status ts_script_create(ts_device *device, const ts_step *steps, size_t n, void (*end)(void *user), void *user,
                           ts_script **out, ts_error *err)
{
    ts_script *script = ts__new(device->alloc, sizeof *script + n * sizeof *steps);
    *out = NULL;
    if (!script)
        return ts_fail(err, TS_NOMEM, "out of memory for a graph of %zu steps", n);
    script->cpu = cpu_of(device);
    script->references = 1;
    script->end = end;
    script->user = user;
    script->n = n;
    for (size_t i = 0; i < n; i++) {
        script->steps[i] = steps[i];
        if (steps[i].work)
            atomic_fetch_add(&steps[i].work->references, 1);
    }
    *out = script;
    return TS_OK;
}

void ts_script_release(ts_script *script)
{
    if (!script || atomic_fetch_sub(&script->references, 1) != 1)
        return;
    for (size_t i = 0; i < script->n; i++)
        ts_piece_release(script->steps[i].work);
    if (script->end)
        script->end(script->user);
    ts__delete(script->cpu->base.alloc, script, sizeof *script + script->n * sizeof *script->steps);
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
            step->work->stop = stop;
            TS_TRY(step->work->run(step->work, err));
        } else if (step->op == TS_STEP_SET)
            __atomic_store_n(step->condition, step->value, __ATOMIC_RELEASE);
        else if (script_jumps(step))
            at = step->target;
        if (stop && atomic_load_explicit(stop, memory_order_relaxed))
            return ts_fail(err, TS_LAUNCH, "the graph was cancelled");
    }
    return TS_OK;
}

static ts_status script_run_task(cpu_task *task, ts_error *err)
{
    return script_run(((script_task *)task)->script, task->stop, err);
}

static void script_end_task(cpu_task *task)
{
    ts_script_release(((script_task *)task)->script);
}

ts_status ts_script_launch(ts_script *script, const ts_stream *stream, ts_error *err)
{
    if (stream->device != &script->cpu->base)
        return ts_fail(err, TS_VALUE,
                       "the graph is of the CPU and the stream is not; launch it on a stream of the CPU");
    if (cpu_stream_is_inline(stream))
        return script_run(script, NULL, err);
    script_task *task = cpu_task_new(script->cpu, sizeof *task, script_run_task, TS_PIECE_OTHER);
    if (!task)
        return ts_fail(err, TS_NOMEM, "out of memory for the launch of a graph");
    task->base.end = script_end_task;
    task->script = script;
    atomic_fetch_add(&script->references, 1);
    ts_status status = cpu_stream_submit(stream, &task->base, err);
    if (status != TS_OK)
        ts_script_release(script);
    return status;
}
