/* SPDX-License-Identifier: Apache-2.0
 *
 * The public device functions: check what the caller gave, then ask the device's table (device.h). Also
 * the helpers that devices share: waiting, fault texts, the head of a program.
 */
#include "device/background.h"
#include "device/device.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define device_pause() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define device_pause() __asm__ volatile("yield")
#else
#define device_pause() ((void)0)
#endif

/* ---- devices ------------------------------------------------------------------------------------ */

uint16_t ts_device_id(const ts_device *device)
{
    return device->id;
}

uint32_t ts_device_caps_of(const ts_device *device)
{
    return device->ops->caps;
}

const char *ts__device_text(uint16_t id, char *room, size_t n)
{
    static const char *const words[TS_DEVICE_KINDS] = {
#define X(name, number, text, words) [number] = words,
        TS_DEVICES(X)
#undef X
    };
    ts_device_kind kind = TS_DEVICE_ID_KIND(id);
    const char *what = kind < TS_DEVICE_KINDS && words[kind] ? words[kind] : "device";
    if (kind == TS_DEVICE_CPU) /* there is one */
        snprintf(room, n, "%s", what);
    else
        snprintf(room, n, "%s %d", what, TS_DEVICE_ID_ORDINAL(id));
    return room;
}

void ts__device_spread(ts_device *device, ts_spread_fn *work, void *user, int64_t n)
{
    if (device->ops->spread)
        device->ops->spread(device, work, user, n);
    else
        work(user, 0, n);
}

ts_status ts__device_program_wrap(ts_device *device, const ts_code *code, void *entry, const char *name,
                                  const char *file, ts_program **out, ts_error *err)
{
    if (!device->ops->program_wrap)
        return ts_fail(err, TS_UNSUPPORTED, "'%s' is a function of the host, which this device does not run", name);
    return device->ops->program_wrap(device, code, entry, name, file, out, err);
}

ts_target ts_device_target(const ts_device *device)
{
    return device->target;
}

uint32_t ts_device_epoch(const ts_device *device)
{
    return atomic_load_explicit(&device->epoch, memory_order_relaxed);
}

ts_status ts_device_query(ts_device *device, ts_device_info *out, ts_error *err)
{
    TS_NEED(err, device, out);
    memset(out, 0, sizeof *out);
    return device->ops->query(device, out, err);
}

ts_status ts_device_sync(ts_device *device, int64_t limit_ns, ts_error *err)
{
    TS_NEED(err, device);
    return device->ops->sync(device, limit_ns, err);
}

ts_status ts_device_reset(ts_device *device, ts_error *err)
{
    TS_NEED(err, device);
    ts__background_wait(); /* it may load code */
    ts_status status = device->ops->reset(device, err);
    atomic_fetch_add(&device->epoch, 1);
    return status;
}

bool ts_device_cancel(ts_device *device)
{
    if (device->ops->cancel)
        device->ops->cancel(device, NULL);
    return device->ops->cancel != NULL;
}

bool ts_stream_cancel(const ts_stream *stream)
{
    const ts_device_ops *ops = stream->device->ops;
    bool can = ops->cancel && stream->native; /* the default stream runs in its callers' threads */
    if (can)
        ops->cancel(stream->device, stream);
    return can;
}

void ts_device_trim(ts_device *device)
{
    device->ops->trim(device);
}

ts_stream *ts_device_default_stream(ts_device *device)
{
    return device->default_stream;
}

/* ---- memory -------------------------------------------------------------------------------------- */

/* NULL means the default stream; a stream of another device is a mistake worth a sentence. */
static ts_status device_stream(ts_device *device, const ts_stream **stream, ts_error *err)
{
    if (!*stream)
        *stream = device->default_stream;
    if ((*stream)->device == device)
        return TS_OK;
    return ts_fail(err, TS_VALUE, "the stream belongs to another device; use one made for this device");
}

ts_status ts_mem_alloc(ts_device *device, const ts_stream *stream, uint64_t bytes, void **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    TS_TRY(device_stream(device, &stream, err));
    if (bytes == 0)
        return TS_OK;
    if (bytes > (uint64_t)1 << 62)
        return ts_fail(err, TS_NOMEM, "%llu bytes are more than any device has", (unsigned long long)bytes);
    return device->ops->alloc(device, stream, bytes, out, err);
}

void ts_mem_free(ts_device *device, const ts_stream *stream, void *memory, uint64_t bytes)
{
    if (!memory)
        return;
    if (device_stream(device, &stream, NULL) != TS_OK)
        stream = device->default_stream;
    device->ops->free(device, stream, memory, bytes);
}

ts_status ts_mem_copy(const ts_stream *stream, void *to, ts_mem_side to_side, const void *from,
                      ts_mem_side from_side, uint64_t bytes, ts_error *err)
{
    TS_NEED(err, stream);
    TS_NEED_N(err, to, bytes);
    TS_NEED_N(err, from, bytes);
    if (bytes == 0)
        return TS_OK;
    return stream->device->ops->copy(stream, to, to_side, from, from_side, bytes, err);
}

ts_status ts_mem_fill(const ts_stream *stream, void *to, uint64_t pattern, uint32_t elem_bytes, uint64_t count,
                      ts_error *err)
{
    TS_NEED(err, stream);
    TS_NEED_N(err, to, count);
    if (elem_bytes != 1 && elem_bytes != 2 && elem_bytes != 4 && elem_bytes != 8)
        return ts_fail(err, TS_VALUE, "elements of %u bytes cannot be filled; use 1, 2, 4 or 8", elem_bytes);
    if (count == 0)
        return TS_OK;
    if ((uintptr_t)to % elem_bytes)
        return ts_fail(err, TS_VALUE, "address %p is not aligned to elements of %u bytes", to, elem_bytes);
    return stream->device->ops->fill(stream, to, pattern, elem_bytes, count, err);
}

ts_status ts_host_alloc(ts_device *device, uint64_t bytes, void **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    return bytes ? device->ops->host_alloc(device, bytes, out, err) : TS_OK;
}

void ts_host_free(ts_device *device, void *memory, uint64_t bytes)
{
    if (memory)
        device->ops->host_free(device, memory, bytes);
}

/* ---- streams and events ----------------------------------------------------------------------------- */

ts_status ts_stream_create(ts_device *device, ts_stream **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    return ts_stream_create_with(device, NULL, out, err);
}

void ts_stream_destroy(ts_stream *stream)
{
    if (stream && stream->impl && stream != stream->device->default_stream)
        stream->device->ops->stream_destroy(stream);
}

ts_status ts_stream_sync(const ts_stream *stream, int64_t limit_ns, ts_error *err)
{
    TS_NEED(err, stream);
    return stream->device->ops->stream_sync(stream, limit_ns, err);
}

ts_status ts_stream_done(const ts_stream *stream, bool *done, ts_error *err)
{
    TS_NEED(err, stream, done);
    *done = false;
    return stream->device->ops->stream_done(stream, done, err);
}

ts_status ts_stream_wait_event(const ts_stream *stream, ts_event *event, ts_error *err)
{
    TS_NEED(err, stream, event);
    if (event->device->ops != stream->device->ops)
        return ts_fail(err, TS_VALUE, "the event belongs to another kind of device; wait for it on the host with "
                                      "sync() instead");
    return stream->device->ops->stream_wait_event(stream, event, err);
}

ts_status ts_stream_call(const ts_stream *stream, void (*function)(void *user), void *user, ts_error *err)
{
    TS_NEED(err, stream, function);
    return stream->device->ops->stream_call(stream, function, user, err);
}

ts_status ts_stream_notify(const ts_stream *stream, ts_notice *notice, ts_error *err)
{
    TS_NEED(err, stream, notice);
    return stream->device->ops->stream_notify(stream, notice, err);
}

ts_status ts_stream_fault(const ts_stream *stream, uint64_t mark, ts_error *err)
{
    TS_NEED(err, stream);
    return stream->device->ops->stream_fault(stream, mark, err);
}

ts_status ts_event_create(ts_device *device, ts_event **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    return ts_event_create_with(device, NULL, 0, out, err);
}

void ts_event_destroy(ts_event *event)
{
    if (event)
        event->device->ops->event_destroy(event);
}

ts_status ts_event_record(ts_event *event, const ts_stream *stream, ts_error *err)
{
    TS_NEED(err, event);
    TS_TRY(device_stream(event->device, &stream, err));
    return event->device->ops->event_record(event, stream, err);
}

ts_status ts_event_sync(ts_event *event, int64_t limit_ns, ts_error *err)
{
    TS_NEED(err, event);
    return event->device->ops->event_sync(event, limit_ns, err);
}

ts_status ts_event_done(ts_event *event, bool *done, ts_error *err)
{
    TS_NEED(err, event, done);
    *done = false;
    return event->device->ops->event_done(event, done, err);
}

ts_status ts_event_notify(ts_event *event, ts_notice *notice, bool *taken, ts_error *err)
{
    TS_NEED(err, event, notice, taken);
    *taken = false;
    return event->device->ops->event_notify(event, notice, taken, err);
}

ts_status ts_event_elapsed(ts_event *begin, ts_event *end, double *ns, ts_error *err)
{
    TS_NEED(err, begin, end, ns);
    *ns = 0;
    if (begin->device != end->device)
        return ts_fail(err, TS_VALUE, "the two events belong to different devices");
    if ((begin->flags | end->flags) & TS_EVENT_UNTIMED)
        return ts_fail(err, TS_RUNTIME, "Both Events must be created with timing enabled to have a time between them");
    return begin->device->ops->event_elapsed(begin, end, ns, err);
}

/* ---- programs ---------------------------------------------------------------------------------------- */

ts_status ts_program_load(ts_device *device, const ts_code *code, const char *name, const char *file,
                          ts_program **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device, code);
    if (code->plan.target != (uint32_t)device->target)
        return ts_fail(err, TS_VALUE, "code for target %u cannot be loaded on a device of target %u",
                       code->plan.target, (unsigned)device->target);
    return device->ops->program_load(device, code, name, file, out, err);
}

void ts_program_destroy(ts_program *program)
{
    if (program)
        program->device->ops->program_destroy(program);
}

const ts_plan *ts_program_plan(const ts_program *program)
{
    return &program->plan;
}

const char *ts_program_log(const ts_program *program)
{
    return program->log ? program->log : "";
}

bool ts_program_is_serialised(const ts_program *program)
{
    return strstr(ts_program_log(program), "C75") != NULL;
}

uint64_t ts__program_library(const ts_program *program)
{
    const ts_device_ops *ops = program->device->ops;
    return ops->program_library ? ops->program_library(program) : 0;
}

void ts_program_resources(const ts_program *program, ts_resources *out)
{
    ts_resources_parse(ts_program_log(program), out);
    if (!out->known && program->device->ops->program_resources)
        program->device->ops->program_resources(program, out);
}

ts_status ts_program_launch(ts_program *program, const ts_stream *stream, const uint32_t grid[3],
                            const uint64_t *params, uint32_t flags, ts_error *err)
{
    TS_NEED(err, program, stream, grid);
    ts_device *device = program->device;
    if (stream->device != device)
        return ts_fail(err, TS_VALUE, "the stream belongs to another device than the kernel");
    if (program->epoch != atomic_load_explicit(&device->epoch, memory_order_relaxed))
        return ts_fail(err, TS_RUNTIME, "kernel '%s' was loaded before its device was reset; load it again",
                       program->name);
    for (int axis = 0; axis < 3; axis++)
        if (grid[axis] < 1 || grid[axis] >= 1u << 24)
            return ts_fail(err, TS_VALUE, "grid axis %d is %u; it must be 1 to 16777215", axis, grid[axis]);
    if (program->plan.thread_kernel)
        return ts_fail(err, TS_VALUE, "kernel '%s' is written for threads; ts_launch_config_run says how many of them "
                       "to launch", program->name);
    ts_launch_shape shape = {.grid = {grid[0], grid[1], grid[2]}};
    return device->ops->launch(program, stream, &shape, params, flags, err);
}

ts_status ts__program_init(ts_program *program, ts_device *device, const ts_code *code, const char *name,
                           const char *file, ts_error *err)
{
    const ts_alloc *alloc = device->alloc;
    program->device = device;
    program->plan = code->plan;
    program->plan.name[sizeof program->plan.name - 1] = 0;
    program->epoch = ts_device_epoch(device);
    program->name = ts__string(alloc, name ? name : program->plan.name);
    program->file = ts__string(alloc, file);
    program->messages = ts__new(alloc, code->n_messages + 1);
    program->n_messages = (uint32_t)code->n_messages;
    if (program->plan.n_params > TS_PLAN_PARAMS || program->plan.n_tmaps > TS_PLAN_TMAPS)
        return ts_fail(err, TS_INTERNAL, "the plan of '%s' has %u parameters and %u tensor maps; at most %d and %d",
                       program->name ? program->name : "?", program->plan.n_params, program->plan.n_tmaps,
                       TS_PLAN_PARAMS, TS_PLAN_TMAPS);
    if (!program->name || !program->file || !program->messages)
        return ts_fail(err, TS_NOMEM, "out of memory while loading a kernel");
    if (code->n_messages)
        memcpy(program->messages, code->messages, code->n_messages);
    return TS_OK;
}

void ts__program_deinit(ts_program *program)
{
    const ts_alloc *alloc = program->device->alloc;
    ts__string_delete(alloc, program->name);
    ts__string_delete(alloc, program->file);
    ts__string_delete(alloc, program->log);
    ts__delete(alloc, program->messages, (size_t)program->n_messages + 1);
}

/* ---- text of kernels ------------------------------------------------------------------------------ */

/* Writes everything or gives up at the first error that is not an interruption. */
void ts__stdout_write(const char *text, size_t n)
{
    while (n) {
        ssize_t written = write(STDOUT_FILENO, text, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return;
        text += written;
        n -= (size_t)written;
    }
}

/* Entry `index` of the NUL-separated messages; "" when there is none. */
static const char *device_message(const ts_program *program, uint32_t index)
{
    const char *at = program->messages, *end = at + program->n_messages;
    for (; index && at < end; index--)
        at += strlen(at) + 1;
    return at < end ? at : "";
}

bool ts__fault_is_printed(const ts_program *program, const ts_fault *fault)
{
    return fault->code == TS_FAULT_ASSERT && !fault->has_thread && *device_message(program, fault->string);
}

void ts__fault_print(const ts_error *said)
{
    ts__stdout_write(said->text, strlen(said->text));
    ts__stdout_write("\n", 1);
}

/* What happened, as the end of the sentence. */
static void device_fault_text(const ts_program *program, const ts_fault *fault, char *out, size_t n)
{
    const char *message = device_message(program, fault->string);
    if (fault->code == TS_FAULT_BOUNDS)
        ts__bounds_text(out, n, message, fault->index, fault->extent);
    else if (fault->code == TS_FAULT_ASSERT)
        snprintf(out, n, "assertion failed%s%.1900s", *message ? ": " : "", message);
    else if (fault->code == TS_FAULT_DIV_ZERO)
        snprintf(out, n, "%s", *message ? message : "integer division by zero");
    else if (fault->code >= TS_FAULT_RAISE && fault->code <= TS_FAULT_UNWRITTEN)
        snprintf(out, n, "%.1900s", message);
    else
        snprintf(out, n, "fault %u", fault->code);
}

/* Puts a name behind the end of the error's text, and gives its place. */
static uint32_t device_fault_name(ts_error *err, size_t *at, const char *name)
{
    size_t room = sizeof err->text - *at, here = *at;
    *at += (size_t)snprintf(err->text + here, room, "%s", name) + 1;
    *at = TS_MIN(*at, sizeof err->text - 1);
    return (uint32_t)here;
}

static void device_failure(const ts_program *program, const ts_fault *fault, uint32_t message, ts_error *err)
{
    ts_failure *f = &err->failure;
    const char *file = device_message(program, fault->file), *function = device_message(program, fault->function);
    size_t at = strlen(err->text) + 1;
    *f = (ts_failure){.code = fault->code, .line = fault->line, .message = message,
                      .has_thread = fault->has_thread != 0};
    f->object = fault->code == TS_FAULT_RAISE ? (uint32_t)fault->index : 0;
    memcpy(f->block, fault->block, sizeof f->block);
    memcpy(f->thread, fault->thread, sizeof f->thread);
    f->file = device_fault_name(err, &at, *file ? file : program->file);
    f->function = device_fault_name(err, &at, *function ? function : program->name);
}

ts_status ts__fault_report(const ts_program *program, const ts_fault *fault, ts_error *err)
{
    char place[512] = "", what[2048], where[160];
    const char *file = device_message(program, fault->file);
    file = *file ? file : program->file;
    if (fault->line && *file)
        snprintf(place, sizeof place, " (%s, line %u)", file, fault->line);
    else if (fault->line)
        snprintf(place, sizeof place, " (line %u)", fault->line);
    device_fault_text(program, fault, what, sizeof what);
    const uint32_t *b = fault->block, *t = fault->thread;
    int n = snprintf(where, sizeof where, "block (%u, %u, %u)", b[0], b[1], b[2]);
    if (fault->has_thread)
        snprintf(where + n, sizeof where - (size_t)n, ", thread (%u, %u, %u)", t[0], t[1], t[2]);
    ts_status status = ts_fail(err, TS_LAUNCH, "kernel '%s'%s, %s: %s", program->name, place, where, what);
    if (err)
        device_failure(program, fault, (uint32_t)(strlen(err->text) - strlen(what)), err);
    return status;
}

/* ---- memory of the host -------------------------------------------------------------------------------- */

void *ts__new(const ts_alloc *alloc, size_t bytes)
{
    void *block = alloc->resize(alloc->user, NULL, 0, bytes);
    if (block)
        memset(block, 0, bytes);
    return block;
}

void ts__delete(const ts_alloc *alloc, void *block, size_t bytes)
{
    if (block)
        alloc->resize(alloc->user, block, bytes, 0);
}

char *ts__string(const ts_alloc *alloc, const char *text)
{
    size_t n = text ? strlen(text) : 0;
    char *copy = ts__new(alloc, n + 1);
    if (copy && n)
        memcpy(copy, text, n);
    return copy;
}

void ts__string_delete(const ts_alloc *alloc, char *text)
{
    if (text)
        ts__delete(alloc, text, strlen(text) + 1);
}

/* ---- waiting -------------------------------------------------------------------------------------------- */

void ts__signal_raise(ts_signal *signal)
{
    atomic_fetch_add(&signal->value, 1);
    if (atomic_load(&signal->sleepers))
        syscall(SYS_futex, &signal->value, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Sleeps until woken, a signal, or the deadline; the kernel rechecks `value == seen` under its lock. */
static ts_waited signal_sleep(ts_signal *signal, uint32_t seen, int64_t deadline_ns)
{
    struct timespec limit, *at = NULL;
    if (deadline_ns != TS_FOREVER) {
        int64_t rest = deadline_ns - ts__now_ns();
        if (rest <= 0)
            return TS_WAIT_TIMEOUT;
        limit = (struct timespec){rest / 1000000000, rest % 1000000000};
        at = &limit;
    }
    atomic_fetch_add(&signal->sleepers, 1);
    long result = syscall(SYS_futex, &signal->value, FUTEX_WAIT_PRIVATE, seen, at, NULL, 0);
    int cause = errno;
    atomic_fetch_sub(&signal->sleepers, 1);
    return result == -1 && cause == EINTR ? TS_WAIT_SIGNAL : TS_WAIT_CHANGED;
}

/* PAUSE costs 10 to 100 ns depending on the core, so the spin is bounded by the clock, not by a count. */
static bool signal_spin(ts_signal *signal, uint32_t seen, int64_t spin_ns)
{
    if (atomic_load_explicit(&signal->value, memory_order_acquire) != seen)
        return true;
    for (int64_t until = ts__now_ns() + spin_ns; spin_ns > 0;) {
        for (int i = 0; i < 16; i++) {
            device_pause();
            if (atomic_load_explicit(&signal->value, memory_order_acquire) != seen)
                return true;
        }
        if (ts__now_ns() >= until)
            break;
    }
    return false;
}

ts_waited ts__signal_wait(ts_signal *signal, uint32_t seen, int64_t spin_ns, int64_t deadline_ns)
{
    if (signal_spin(signal, seen, spin_ns))
        return TS_WAIT_CHANGED;
    while (atomic_load_explicit(&signal->value, memory_order_acquire) == seen) {
        ts_waited waited = signal_sleep(signal, seen, deadline_ns);
        if (waited != TS_WAIT_CHANGED)
            return waited;
    }
    return TS_WAIT_CHANGED;
}
