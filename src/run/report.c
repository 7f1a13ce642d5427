/* SPDX-License-Identifier: Apache-2.0
 *
 * Cost reports of kernels with arguments: a request for the compiler (compile/report.c) from a launch frame, with
 * the machine that is really there and the registers that its assembler gave.
 */
#include "run/launch.h"
#include <stdio.h>

/* The table's machine with this device's own numbers. Peaks go with the clock the device has. */
static bool report_machine(ts_device *device, ts_machine *out)
{
    ts_device_info info;
    if (!ts_machine_of_target(device->target, out) || ts_device_query(device, &info, NULL) != TS_OK)
        return false;
    snprintf(out->name, sizeof out->name, "%.63s", info.name);
    out->assumed = 0;
    if (info.units > 0)
        out->sms = (uint32_t)info.units;
    if (info.clock_khz > 0)
        out->clock_hz = info.clock_khz * 1e3;
    if (info.memory_clock_khz > 0 && info.memory_bus_bits > 0)
        out->dram_bytes_s = info.memory_clock_khz * 1e3 * 2 * info.memory_bus_bits / 8; /* two transfers a clock */
    return true;
}

static ts_status report_make(const launch_frame *frame, const ts_report_request *base, ts_report **out, ts_error *err)
{
    const ts_kernel *kernel = frame->kernel;
    ts_report_request request = *base;
    const char *names[TS_LAUNCH_ARGS];
    size_t bytes = sizeof(ts_spec) * TS_LAUNCH_ARGS;
    ts_spec *spec = ts__new(kernel->alloc, bytes);
    if (!spec)
        return ts_fail(err, TS_NOMEM, "out of memory while making a report of kernel '%s'", kernel->name);
    for (size_t i = 0; i < kernel->n_params; i++)
        names[i] = kernel->params[i].name;
    if (kernel->source.kind == TS_SOURCE_TEXT) {
        request.text = kernel->source.bytes;
        request.n_text = kernel->source.n;
        request.entry = kernel->source.entry;
    } else {
        request.pack = kernel->source.bytes;
        request.n_pack = kernel->source.n;
        request.host = kernel->source.host;
    }
    request.spec = spec;
    request.n_spec = ts__frame_spec(frame, spec);
    request.hints = ts__kernel_hints(kernel, base->target);
    request.names = names;
    request.n_names = kernel->n_params;
    request.params = frame->params;
    request.n_params = frame->n_params;
    request.alloc = kernel->alloc;
    ts_status status = ts_report_make(&request, out, err);
    ts__delete(kernel->alloc, spec, bytes);
    return status;
}

/* Of the code that a launch with these arguments runs: arrays that share memory may need another. */
static ts_status report_of_launch(launch_frame *frame, const ts_report_request *request, ts_report **out, ts_error *err)
{
    TS_TRY(report_make(frame, request, out, err));
    if (frame->n_spans < 2 || !ts__frame_note_shared(frame, &(*out)->code.plan))
        return TS_OK;
    ts_report_destroy(*out);
    *out = NULL;
    return report_make(frame, request, out, err);
}

/* Assembles on the device for the registers. */
static ts_status report_assemble(const launch_frame *frame, ts_kernel *kernel, ts_device *device, ts_report *report,
                                 ts_error *err)
{
    uint64_t hash = ts__frame_hash(frame, device->id);
    const kernel_entry *entry = ts__kernel_find(kernel, frame, device, hash);
    ts_resources resources;
    if (!entry)
        TS_TRY(ts__kernel_specialise(kernel, frame, device, hash, false, &entry, err));
    ts_program_resources(ts__entry_program(entry), &resources);
    if (resources.known)
        ts_report_assembled(report, &resources);
    return TS_OK;
}

ts_status ts_kernel_report(const ts_stream *given, ts_kernel *kernel, const ts_arg *args, size_t n,
                           const int64_t grid[3], ts_target target, ts_report **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, kernel, grid);
    TS_NEED_N(err, args, n);
    launch_frame frame;
    ts_stream room;
    const ts_stream *stream;
    ts_machine machine;
    if (kernel->source.kind == TS_SOURCE_CUSTOM)
        return ts_fail(err, TS_UNSUPPORTED, "kernel '%s' was compiled by a compiler of its own, of which no report is "
                       "known; give its source as Python or IR", kernel->name);
    TS_TRY(ts__frame_fill(&frame, kernel, args, n, err));
    TS_TRY(ts__launch_device(&frame, given, &room, &stream, err));
    TS_TRY(ts__kernel_read(kernel, err));
    ts_device *device = stream->device;
    bool here = !target || target == device->target;
    ts_report_request request = {.target = target ? target : device->target, .grid = {grid[0], grid[1], grid[2]}};
    if (here && report_machine(device, &machine))
        request.machine = &machine;
    TS_TRY(report_of_launch(&frame, &request, out, err));
    if (!target && device->ops->program_resources) {
        ts_status status = report_assemble(&frame, kernel, device, *out, err);
        if (status != TS_OK) {
            ts_report_destroy(*out);
            *out = NULL;
            return status;
        }
    }
    return TS_OK;
}
