/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch of a kernel of threads that is watched (TS_CHECK_WATCHED; docs/adr/0026-watched-threads.md): in place of
 * compiled code the reference interpreter runs it, thread by thread on the CPU device's memory, and reports what the
 * threads do to each other. Everything else of the launch is as always (launch.c). Slow: some thousand times.
 */
#include "run/launch.h"
#include "compile/compile.h"

static void watched_print(void *user, const char *text, size_t n)
{
    (void)user;
    ts_print_fn *before = ts__print_get();
    if (before)
        before();
    ts__stdout_write(text, n);
}

/* The fault as the device would tell it. */
static ts_status watched_fault(const ts_kernel *kernel, const ts_fault *fault, ts_text *messages, ts_error *err)
{
    ts_program program = {.name = kernel->name, .file = kernel->file, .n_messages = (uint32_t)messages->n,
                          .messages = (char *)(uintptr_t)ts__text_get(messages)};
    return messages->failed ? ts_fail(err, TS_NOMEM, "out of memory for the fault of kernel '%s'", kernel->name)
                            : ts__fault_report(&program, fault, err);
}

static ts_status watched_run(const ts_kernel *kernel, const ts_watched *job, ts_error *err)
{
    ts_status status = ts__interpret_watched(job, err);
    return job->fault->code ? watched_fault(kernel, job->fault, job->messages, err) : status;
}

ts_status ts__launch_watched(const launch_frame *frame, const ts_stream *stream, const ts_launch_shape *shape,
                             ts_error *err)
{
    const ts_kernel *kernel = frame->kernel;
    size_t bytes = sizeof(ts_spec) * (TS_LAUNCH_ARGS + 1);
    if (stream->device->target != TS_TARGET_CPU)
        return ts_fail(err, TS_UNSUPPORTED, "kernel '%s': threads are watched on the CPU device alone; launch it "
                       "there, or leave out checked=\"races\" (TESSERA_CHECKED=races)", kernel->name);
    if (ts_record_active(stream))
        return ts_fail(err, TS_UNSUPPORTED, "kernel '%s': a launch whose threads are watched cannot be recorded; leave "
                       "out checked=\"races\" (TESSERA_CHECKED=races)", kernel->name);
    TS_TRY(ts_stream_sync(stream, TS_FOREVER, err));
    ts_spec *spec = ts__new(kernel->alloc, bytes);
    if (!spec)
        return ts_fail(err, TS_NOMEM, "out of memory while kernel '%s' is watched", kernel->name);
    ts_text messages;
    ts_fault fault = {0};
    ts_interpret run = {.params = frame->params, .n_params = frame->n_params, .print = watched_print,
                        .shared_bytes = shape->shared_bytes};
    memcpy(run.grid, shape->grid, sizeof run.grid);
    memcpy(run.block, shape->block, sizeof run.block);
    ts__text_init(&messages, kernel->alloc);
    ts_watched job = {&kernel->source, spec, ts__frame_spec(frame, spec), ts__kernel_hints(kernel, TS_TARGET_CPU), &run,
                      ts__interrupt_get(), &fault, &messages};
    ts_status status = watched_run(kernel, &job, err);
    ts__text_deinit(&messages);
    ts__delete(kernel->alloc, spec, bytes);
    return status;
}
