/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches of kernels of threads: launch_threads(), and ThreadLaunch, what `kernel[grid, block]` of tessera.cuda gives:
 * a kernel with its launch configuration, called with the arguments. The way of a launch is that of kernel.c: one pass
 * over the arguments into C form (args.c), then ts_launch_config_run; nothing is allocated.
 *
 * Where arguments want Python (host arrays for a GPU, cuda.In, named arguments), the kernel object is asked:
 *
 *     call --> missing or named arguments: kernel._complete(args, names)
 *          --> what C cannot take, or kernel._hooked: kernel._launch(launch, args), which calls launch.run(...)
 *          --> first launch of a specialisation: kernel._specialised(launch, args)
 *
 * While it compiles for a launch, Python may ask for that (threads_now).
 */
#include "host.h"
#include "tessera/graph.h"
#include <stddef.h>
#include <string.h>
#include <structmember.h>

typedef struct threads_launch {
    PyObject_HEAD
    vectorcallfunc call;
    core_state *state;
    PyObject *kernel, *order; /* order: the stream, or None */
    PyObject *callbacks;      /* a list, called with kernel and launch before each launch; NULL: nobody asked for it */
    ts_launch_config config;
} threads_launch;

/* The launch that this thread is about, with its arguments: all borrowed from who sets it. What a compilation asks of
 * the host may ask for it (cuda.launchconfig). */
typedef struct threads_about {
    threads_launch *launch;
    PyObject *const *args;
    Py_ssize_t n;
} threads_about;

static _Thread_local threads_about threads_now;

/* ---- the configuration ------------------------------------------------------------------------------*/

#define THREADS_ORDER "kernel[griddim, blockdim, stream, sharedmem, cluster]"

static int threads_refuse_type(const char *what, PyObject *given)
{
    PyObject *list = PySequence_Check(given) && !PyUnicode_Check(given) ? PySequence_List(given) : NULL;
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, list ? "%s must be a sequence of integers, got %R; the order is " THREADS_ORDER :
                                         "%s must be a sequence of integers, got [%R]; the order is " THREADS_ORDER,
                 what, list ? list : given);
    Py_XDECREF(list);
    return -1;
}

static int threads_refuse_rank(const char *what, PyObject *given)
{
    PyObject *list = PySequence_List(given);
    if (list)
        PyErr_Format(PyExc_ValueError, "%s must be a sequence of 1, 2 or 3 integers, got %R", what, list);
    Py_XDECREF(list);
    return -1;
}

static int threads_axis(const char *what, PyObject *item, PyObject *given, int64_t *out)
{
    int overflow = 0;
    PyObject *index = PyIndex_Check(item) ? PyNumber_Index(item) : NULL;
    if (!index)
        return PyErr_Occurred() ? -1 : threads_refuse_type(what, given);
    *out = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (!overflow && *out >= 0 && *out <= UINT32_MAX)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s has an extent of %R; it must be 0 to %lld", what, item,
                 (long long)TS_GRID_THREADS_X);
    return -1;
}

/* One int, or 1 to 3 of them; missing ones are 1. */
static int threads_dims(const char *what, PyObject *given, int64_t out[3])
{
    out[0] = out[1] = out[2] = 1;
    if (PyLong_Check(given) || (PyIndex_Check(given) && !PySequence_Check(given)))
        return threads_axis(what, given, given, &out[0]);
    if (!PyTuple_Check(given) && !PyList_Check(given))
        return threads_refuse_type(what, given);
    PyObject *axes = PySequence_Tuple(given); /* other threads may change a list */
    Py_ssize_t n = axes ? PyTuple_GET_SIZE(axes) : 0;
    int got = !axes ? -1 : n >= 1 && n <= 3 ? 0 : threads_refuse_rank(what, given);
    for (Py_ssize_t i = 0; i < n && got == 0; i++)
        got = threads_axis(what, PyTuple_GET_ITEM(axes, i), given, &out[i]);
    Py_XDECREF(axes);
    return got;
}

static int threads_dims32(const char *what, PyObject *given, uint32_t out[3])
{
    int64_t wide[3];
    if (threads_dims(what, given, wide) < 0)
        return -1;
    for (int i = 0; i < 3; i++)
        out[i] = (uint32_t)wide[i];
    return 0;
}

static int threads_shared(PyObject *given, uint32_t *out)
{
    int64_t bytes;
    if (threads_axis("sharedmem", given, given, &bytes) < 0)
        return -1;
    *out = (uint32_t)bytes;
    return 0;
}

/* Of (grid, block[, shared bytes[, cluster]]), each NULL where it is left out. */
static int threads_config(PyObject *grid, PyObject *block, PyObject *shared, PyObject *cluster, ts_launch_config *out)
{
    memset(out, 0, sizeof *out);
    if (threads_dims("griddim", grid, out->grid) < 0 || threads_dims32("blockdim", block, out->block) < 0)
        return -1;
    if (shared && threads_shared(shared, &out->shared_bytes) < 0)
        return -1;
    return !cluster || cluster == Py_None ? 0 : threads_dims32("cluster", cluster, out->cluster);
}

/* ---- the launch -------------------------------------------------------------------------------------*/

/* Numbers of Python are 64 bits wide in a kernel of threads: int64 (uint64 from 2^63 on), float64, bool. An int
 * beyond those stands there as a float64, and stays an int that the launch refuses. */
static void threads_widen(ts_arg *arg)
{
    uint8_t dtype = arg->kind == TS_SPEC_INT     ? arg->dtype ? arg->dtype : TS_DTYPE_int64
                    : arg->kind == TS_SPEC_FLOAT ? TS_DTYPE_float64
                    : arg->kind == TS_SPEC_BOOL  ? TS_DTYPE_bool_
                                                 : 0;
    bool is_beyond = arg->kind == TS_SPEC_INT && dtype == TS_DTYPE_float64;
    if (!dtype || is_beyond)
        return;
    arg->kind = TS_SPEC_SCALAR;
    arg->dtype = dtype;
}

/* Where the arrays of a launch are. */
typedef struct threads_places {
    bool host, gpu;
    uint16_t id; /* of the GPU of the first that is on one */
} threads_places;

/* `widens`: the kernel is written in Python. */
static threads_places threads_look(core_frame *frame, bool widens)
{
    threads_places places = {false, false, 0};
    for (size_t i = 0; i < frame->n; i++) {
        ts_arg *arg = &frame->args[i];
        if (arg->kind != TS_SPEC_ARRAY) {
            if (widens)
                threads_widen(arg);
        } else if (TS_DEVICE_ID_KIND(arg->device) == TS_DEVICE_CPU)
            places.host = true;
        else if (TS_DEVICE_ID_KIND(arg->device) == TS_DEVICE_CUDA && !places.gpu)
            places = (threads_places){places.host, true, arg->device};
    }
    return places;
}

/* The device of a launch: of the stream, else of an array of a GPU, else the current one. */
static int threads_device(core_state *state, const threads_places *places, const ts_stream *stream, ts_device **out)
{
    ts_error err;
    *out = stream ? stream->device : NULL;
    if (!*out && places->gpu && ts_device_by_id(places->id, out, &err) != TS_OK) {
        core_raise(state, &err);
        return -1;
    }
    return *out ? 0 : core_current_device(state, out);
}

static ts_status threads_run(const ts_stream *stream, const ts_launch_config *config, ts_kernel *kernel,
                             core_frame *frame, ts_error *err)
{
    ts_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = ts_launch_config_run(stream, config, kernel, frame->args, frame->n, err);
    Py_END_ALLOW_THREADS;
    return status;
}

enum threads_outcome { THREADS_FAILED = -1, THREADS_DONE, THREADS_NEW, THREADS_PYTHON };

/* Whether arguments that want Python are an error, whether host memory that is lent for the call is waited for, and
 * whether it runs at all: its code is made or, the last, only looked for. */
enum threads_way { THREADS_ANY, THREADS_STRICT, THREADS_KEPT, THREADS_PREPARED, THREADS_FOUND };

/* Host memory that is lent for this call only is waited for, unless the caller keeps it. 1: no code was found. */
static int threads_launch_frame(threads_launch *self, const ts_stream *stream, ts_device *device, ts_kernel *kernel,
                                core_frame *frame, enum threads_way way)
{
    core_state *state = self->state;
    ts_error err;
    core_use use;
    ts_stream room;
    if (!stream)
        stream = ts_device_default_stream(device);
    else if (!stream->device) {
        if (ts_stream_find(device, stream->native, &room, &err) != TS_OK) {
            core_raise(state, &err);
            return -1;
        }
        stream = &room;
    }
    bool runs = way < THREADS_PREPARED, lent = frame->has_host_memory && way != THREADS_KEPT && stream->impl;
    bool waits = runs && (lent || core_kernel_view(self->kernel)->waits) && !ts_record_active(stream);
    ts_launch_config config = self->config;
    config.flags |= runs ? 0 : way == THREADS_FOUND ? TS_LAUNCH_KEPT : TS_LAUNCH_PREPARE;
    core_use_begin(state, &use, stream, NULL);
    ts_status status = threads_run(stream, &config, kernel, frame, &err);
    bool waited = status != TS_OK || !waits || core_finish_stream(state, stream) == 0;
    core_use_end(state, &use);
    if (way == THREADS_FOUND && status == TS_NOTFOUND)
        return 1;
    if (status != TS_OK)
        core_raise(state, &err);
    return status == TS_OK && waited ? 0 : -1;
}

/* Reads the arguments; false: not all of them. `*outcome` says why: with an exception, or Python has to read them. */
static bool threads_take(threads_launch *self, ts_kernel *kernel, core_frame *frame, PyObject *const *args,
                         Py_ssize_t n, enum threads_outcome *outcome)
{
    core_state *state = self->state;
    frame->kernel = kernel;
    *outcome = THREADS_PYTHON;
    for (Py_ssize_t i = 0; i < n; i++) {
        size_t from = frame->n;
        if (core_take_object(state, frame, args[i]) < 0 ||
            (frame->has_constants && core_take_constants(state, frame, from, kernel, (size_t)i) < 0)) {
            bool other = PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError);
            if (other)
                PyErr_Clear();
            else
                *outcome = THREADS_FAILED;
            return false; /* Python tells what is wrong, with the argument's name */
        }
        if (PyList_Check(args[i]))
            return false;
    }
    return true;
}

/* Runs the kernel with arguments that were read from these objects; THREADS_NEW: with code that was not there before;
 * THREADS_PYTHON: not, the arguments want Python, or no code was found. */
static enum threads_outcome threads_run_taken(threads_launch *self, ts_kernel *kernel, core_frame *frame,
                                              PyObject *const *args, Py_ssize_t n, enum threads_way way)
{
    core_state *state = self->state;
    ts_stream room;
    const ts_stream *stream;
    ts_device *device;
    ts_kernel_stats before, after;
    threads_places places = threads_look(frame, core_kernel_view(self->kernel)->packed);
    if (places.gpu && ts_device_count(TS_DEVICE_CUDA) == 0)
        return THREADS_PYTHON; /* memory that calls itself a GPU's where there is none: the CPU device's, behind another
                                * object */
    if (core_stream_of(state, self->order, &room, &stream) < 0 || threads_device(state, &places, stream, &device) < 0)
        return THREADS_FAILED;
    if (places.host && TS_DEVICE_ID_KIND(ts_device_id(device)) == TS_DEVICE_CUDA)
        return THREADS_PYTHON;
    ts_kernel_get_stats(kernel, &before);
    uintptr_t native = stream ? stream->native : 0;
    int launched = threads_launch_frame(self, stream, device, kernel, frame, way);
    if (launched > 0)
        return THREADS_PYTHON;
    if (launched < 0 || core_note_uses(state, native, &self->kernel, 1) < 0 ||
        core_note_uses(state, native, args, (size_t)n) < 0)
        return THREADS_FAILED;
    ts_kernel_get_stats(kernel, &after);
    return before.n_specialised == after.n_specialised ? THREADS_DONE : THREADS_NEW;
}

static enum threads_outcome threads_try(threads_launch *self, ts_kernel *kernel, core_frame *frame,
                                        PyObject *const *args, Py_ssize_t n, enum threads_way way)
{
    enum threads_outcome outcome;
    return threads_take(self, kernel, frame, args, n, &outcome)
               ? threads_run_taken(self, kernel, frame, args, n, way)
               : outcome;
}

static PyObject *threads_tell(threads_launch *self, const char *method, PyObject *const *args, Py_ssize_t n)
{
    PyObject *tuple = PyTuple_New(n);
    for (Py_ssize_t i = 0; tuple && i < n; i++)
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
    PyObject *result = tuple ? PyObject_CallMethod(self->kernel, method, "OO", self, tuple) : NULL;
    Py_XDECREF(tuple);
    return result;
}

/* What is raised, as the kernel says it: kernel._failed(exception) gives another one. Always NULL. */
static PyObject *threads_fail(PyObject *kernel)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (!PyObject_HasAttrString((PyObject *)Py_TYPE(kernel), "_failed")) {
        PyErr_Restore(type, value, trace);
        return NULL;
    }
    PyObject *other = PyObject_CallMethod(kernel, "_failed", "O", value);
    if (other && other != value) {
        PyErr_SetObject((PyObject *)Py_TYPE(other), other);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    } else if (other)
        PyErr_Restore(type, value, trace);
    Py_XDECREF(other);
    return NULL;
}

static PyObject *threads_run_all(threads_launch *self, PyObject *const *args, Py_ssize_t n, enum threads_way way)
{
    core_frame frame;
    threads_about before = threads_now;
    ts_kernel *kernel = core_kernel_of(self->state, self->kernel);
    if (!kernel)
        return threads_fail(self->kernel);
    core_frame_init(&frame);
    threads_now = (threads_about){self, args, n};
    enum threads_outcome outcome = threads_try(self, kernel, &frame, args, n, way);
    threads_now = before;
    core_frame_deinit(&frame);
    if (outcome == THREADS_DONE)
        return Py_NewRef(Py_None);
    if (outcome == THREADS_FAILED)
        return threads_fail(self->kernel);
    if (outcome == THREADS_NEW)
        return PyObject_HasAttrString(self->kernel, "_specialised") ? threads_tell(self, "_specialised", args, n)
                                                                    : Py_NewRef(Py_None);
    if (way == THREADS_ANY)
        return threads_tell(self, "_launch", args, n);
    if (way == THREADS_PREPARED || way == THREADS_FOUND)
        return Py_NewRef(way == THREADS_FOUND ? Py_False : Py_None);
    core_frame_init(&frame); /* once more, for the message */
    if (core_take_vector(self->state, &frame, kernel, args, n) == 0)
        PyErr_Format(PyExc_TypeError, "kernel '%s': arrays of the host cannot be passed to a GPU as they are",
                     ts_kernel_name(kernel));
    core_frame_deinit(&frame);
    return NULL;
}

bool core_threads_is_plain(core_state *state, PyObject *object)
{
    threads_launch *self = (threads_launch *)object;
    if (!Py_IS_TYPE(object, state->thread_launch_type) || CORE_GET(self->callbacks))
        return false;
    bool knows = core_kernel_of(state, self->kernel) != NULL; /* prepared */
    if (!knows)
        PyErr_Clear(); /* who calls it hears of it */
    return knows && !core_kernel_view(self->kernel)->hooked && !core_kernel_view(self->kernel)->adds;
}

enum core_launched core_threads_launch(PyObject *object, core_frame *frame)
{
    threads_launch *self = (threads_launch *)object;
    ts_kernel *kernel = core_kernel_of(self->state, self->kernel);
    threads_about before = threads_now;
    threads_now = (threads_about){self, NULL, 0};
    enum threads_outcome outcome = threads_run_taken(self, kernel, frame, NULL, 0, THREADS_ANY);
    threads_now = before;
    if (outcome == THREADS_FAILED)
        threads_fail(self->kernel);
    return outcome == THREADS_FAILED   ? CORE_LAUNCH_FAILED
           : outcome == THREADS_PYTHON ? CORE_LAUNCH_OTHER
                                       : CORE_LAUNCH_DONE;
}

static int threads_announce(threads_launch *self)
{
    PyObject *all = PySequence_Tuple(CORE_GET(self->callbacks));
    int got = all ? 0 : -1;
    for (Py_ssize_t i = 0; all && got == 0 && i < PyTuple_GET_SIZE(all); i++) {
        PyObject *done = PyObject_CallFunctionObjArgs(PyTuple_GET_ITEM(all, i), self->kernel, self, NULL);
        got = done ? 0 : -1;
        Py_XDECREF(done);
    }
    Py_XDECREF(all);
    return got;
}

static PyObject *threads_go(threads_launch *self, PyObject *const *args, Py_ssize_t n)
{
    if (CORE_GET(self->callbacks) && threads_announce(self) < 0)
        return NULL;
    return core_kernel_view(self->kernel)->hooked ? threads_tell(self, "_launch", args, n)
                                                  : threads_run_all(self, args, n, THREADS_ANY);
}

/* Named arguments, or fewer than there are parameters: the kernel puts them in order. */
static PyObject *threads_bind(threads_launch *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    PyObject *given = PyTuple_New(n), *named = PyDict_New(), *bound = NULL;
    for (Py_ssize_t i = 0; given && i < n; i++)
        PyTuple_SET_ITEM(given, i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; named && names && i < PyTuple_GET_SIZE(names); i++)
        if (PyDict_SetItem(named, PyTuple_GET_ITEM(names, i), args[n + i]) < 0)
            Py_CLEAR(named);
    if (given && named)
        bound = core_complete(self->kernel, given, named);
    Py_XDECREF(given);
    Py_XDECREF(named);
    if (bound && !PyTuple_Check(bound)) {
        PyErr_SetString(PyExc_TypeError, "_complete() must give a tuple");
        Py_CLEAR(bound);
    }
    PyObject *result = bound ? threads_go(self, PySequence_Fast_ITEMS(bound), PyTuple_GET_SIZE(bound)) : NULL;
    Py_XDECREF(bound);
    return result;
}

static PyObject *threads_call(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    threads_launch *self = (threads_launch *)object;
    Py_ssize_t n = PyVectorcall_NARGS(flags);
    if (!core_kernel_of(self->state, self->kernel)) /* prepared: it knows its parameters then */
        return threads_fail(self->kernel);
    const core_kernel_facts *facts = core_kernel_view(self->kernel);
    if ((names && PyTuple_GET_SIZE(names)) || n < facts->n_whole || facts->adds)
        return threads_bind(self, args, n, names);
    return threads_go(self, args, n);
}

/* ---- the object -------------------------------------------------------------------------------------*/

static PyObject *threads_make(core_state *state, PyTypeObject *type, PyObject *kernel, PyObject *order)
{
    threads_launch *self = (threads_launch *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->call = threads_call;
    self->state = state;
    self->kernel = Py_NewRef(kernel);
    self->order = Py_NewRef(order ? order : Py_None);
    return (PyObject *)self;
}

/* ThreadLaunch(kernel, grid, block, stream=None, shared_bytes=0, cluster=None) */
static PyObject *threads_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    core_state *state = core_state_of_type(type);
    PyObject *kernel, *grid, *block, *order = NULL, *shared = NULL, *cluster = NULL;
    if (kwargs && PyDict_GET_SIZE(kwargs)) {
        PyErr_SetString(PyExc_TypeError, "ThreadLaunch() takes no named arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O!OO|OOO:ThreadLaunch", state->kernel_type, &kernel, &grid, &block, &order, &shared,
                          &cluster))
        return NULL;
    threads_launch *self = (threads_launch *)threads_make(state, type, kernel, order);
    if (self && threads_config(grid, block, shared, cluster, &self->config) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static int threads_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((threads_launch *)self)->kernel);
    Py_VISIT(((threads_launch *)self)->order);
    Py_VISIT(((threads_launch *)self)->callbacks);
    return 0;
}

static int threads_clear(PyObject *self)
{
    Py_CLEAR(((threads_launch *)self)->kernel);
    Py_CLEAR(((threads_launch *)self)->order);
    Py_CLEAR(((threads_launch *)self)->callbacks);
    return 0;
}

static void threads_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    threads_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *threads_run_method(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    return threads_run_all((threads_launch *)self, args, n, THREADS_STRICT);
}

static PyObject *threads_run_kept(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    return threads_run_all((threads_launch *)self, args, n, THREADS_KEPT);
}

static PyObject *threads_prepare(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    return threads_run_all((threads_launch *)self, args, n, THREADS_PREPARED);
}

/* Whether there is code, which is loaded then. */
static PyObject *threads_find(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    PyObject *found = threads_run_all((threads_launch *)self, args, n, THREADS_FOUND);
    if (!found || found == Py_False)
        return found;
    Py_DECREF(found);
    return Py_NewRef(Py_True);
}

/* _within(function, args): calls it, and this thread is about the launch meanwhile. */
static PyObject *threads_within(PyObject *self, PyObject *args)
{
    PyObject *function, *given;
    if (!PyArg_ParseTuple(args, "OO!:_within", &function, &PyTuple_Type, &given))
        return NULL;
    threads_about before = threads_now;
    threads_now = (threads_about){(threads_launch *)self, PySequence_Fast_ITEMS(given), PyTuple_GET_SIZE(given)};
    PyObject *result = PyObject_Call(function, given, NULL);
    threads_now = before;
    return result;
}

static PyObject *threads_async_call(PyObject *self, PyObject *args, PyObject *named)
{
    PyObject *nothing = named ? NULL : PyDict_New();
    PyObject *kernel = ((threads_launch *)self)->kernel, *result = NULL;
    if (named || nothing)
        result = PyObject_CallMethod(kernel, "_async_call", "OOO", self, args, named ? named : nothing);
    Py_XDECREF(nothing);
    return result;
}

static PyObject *threads_get_grid(PyObject *self, void *unused)
{
    (void)unused;
    const int64_t *g = ((threads_launch *)self)->config.grid;
    return Py_BuildValue("LLL", (long long)g[0], (long long)g[1], (long long)g[2]);
}

static PyObject *threads_triple(const uint32_t v[3])
{
    return Py_BuildValue("III", v[0], v[1], v[2]);
}

static PyObject *threads_get_block(PyObject *self, void *unused)
{
    (void)unused;
    return threads_triple(((threads_launch *)self)->config.block);
}

static PyObject *threads_get_cluster(PyObject *self, void *unused)
{
    (void)unused;
    const uint32_t *c = ((threads_launch *)self)->config.cluster;
    return c[0] ? threads_triple(c) : Py_NewRef(Py_None);
}

static PyObject *threads_get_shared(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(((threads_launch *)self)->config.shared_bytes);
}

static PyObject *threads_get_kernel(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((threads_launch *)self)->kernel);
}

static PyObject *threads_get_stream(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((threads_launch *)self)->order);
}

static PyObject *threads_get_callbacks(PyObject *self, void *unused)
{
    (void)unused;
    threads_launch *launch = (threads_launch *)self;
    PyObject *fresh = CORE_GET(launch->callbacks) ? NULL : PyList_New(0);
    if (fresh && !CORE_FIRST(launch->callbacks, fresh))
        Py_DECREF(fresh);
    PyObject *callbacks = CORE_GET(launch->callbacks);
    return callbacks ? Py_NewRef(callbacks) : NULL;
}

static PyObject *threads_get_args(PyObject *self, void *unused)
{
    (void)unused;
    if ((PyObject *)threads_now.launch != self)
        return Py_NewRef(Py_None);
    PyObject *args = PyTuple_New(threads_now.n);
    for (Py_ssize_t i = 0; args && i < threads_now.n; i++)
        PyTuple_SET_ITEM(args, i, Py_NewRef(threads_now.args[i]));
    return args;
}

static PyObject *threads_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *module = PyImport_ImportModule("tessera.cuda._pickle"), *result = NULL;
    if (module)
        result = PyObject_CallMethod(module, "reduced_launch", "O", self);
    Py_XDECREF(module);
    return result;
}

static PyGetSetDef threads_getset[] = {
    {"pre_launch_callbacks", threads_get_callbacks, NULL,
     "A list of functions that are called with the kernel and this before each launch.", NULL},
    {"griddim", threads_get_grid, NULL, "Blocks along x, y, z.", NULL},
    {"blockdim", threads_get_block, NULL, "Threads of a block along x, y, z.", NULL},
    {"sharedmem", threads_get_shared, NULL, "Bytes of dynamic shared memory.", NULL},
    {"cluster", threads_get_cluster, NULL, "Blocks of a cluster along x, y, z, or None.", NULL},
    {"stream", threads_get_stream, NULL, "The stream, or None.", NULL},
    {"dispatcher", threads_get_kernel, NULL, "The kernel.", NULL},
    {"args", threads_get_args, NULL, "The arguments while it is under way in this thread, or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef threads_methods[] = {
    {"run", (PyCFunction)(void (*)(void))threads_run_method, METH_FASTCALL,
     "run(*args)\n--\n\nLaunches with arguments that C can take as they are."},
    {"run_kept", (PyCFunction)(void (*)(void))threads_run_kept, METH_FASTCALL,
     "run_kept(*args)\n--\n\nrun() that never waits: the caller keeps host memory among the arguments until the kernel "
     "has ended."},
    {"_find", (PyCFunction)(void (*)(void))threads_find, METH_FASTCALL,
     "_find(*args)\n--\n\nLoads what a launch with these arguments runs, if its code is kept; whether it is."},
    {"_prepare", (PyCFunction)(void (*)(void))threads_prepare, METH_FASTCALL,
     "_prepare(*args)\n--\n\nCompiles and loads what a launch with these arguments runs; other threads go on. "
     "Arguments that want Python are left to the launch."},
    {"_within", threads_within, METH_VARARGS, NULL},
    {"__reduce__", threads_reduce, METH_NOARGS, NULL},
    {"async_call", (PyCFunction)(void (*)(void))threads_async_call, METH_VARARGS | METH_KEYWORDS,
     "async_call(*args, **named)\n--\n\n``await kernel[blocks, threads].async_call(x)``: launches, and waits in "
     "asyncio or trio."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef threads_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(threads_launch, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot threads_slots[] = {
    {Py_tp_doc, "A kernel of threads with its launch configuration; call it with the arguments."},
    {Py_tp_new, threads_new},
    {Py_tp_dealloc, threads_dealloc},
    {Py_tp_traverse, threads_traverse},
    {Py_tp_clear, threads_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_methods, threads_methods},
    {Py_tp_members, threads_members},
    {Py_tp_getset, threads_getset},
    {0, NULL},
};

static PyType_Spec threads_spec = {"tessera._core.ThreadLaunch", sizeof(threads_launch), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                                       Py_TPFLAGS_HAVE_VECTORCALL,
                                   threads_slots};

/* ---- kernel[...] --------------------------------------------------------------------------------------*/

/* Few blocks leave most of a GPU idle: kernel._small_grid(blocks) says so, once for each kernel. */
static int threads_see_grid(const threads_launch *self)
{
    enum { ENOUGH = 128 };
    const int64_t *grid = self->config.grid;
    core_kernel_facts *facts = core_kernel_view(self->kernel);
    if (grid[0] * grid[1] * grid[2] >= ENOUGH || CORE_GET(facts->has_warned) ||
        !PyObject_HasAttrString((PyObject *)Py_TYPE(self->kernel), "_small_grid"))
        return 0;
    CORE_SET(facts->has_warned, true);
    PyObject *result = PyObject_CallMethod(self->kernel, "_small_grid", "L", (long long)(grid[0] * grid[1] * grid[2]));
    Py_XDECREF(result);
    return result ? 0 : -1;
}

/* kernel[grid, block[, stream[, shared bytes[, cluster]]]]; stream 0 is the default one. */
static PyObject *threads_subscript(PyObject *kernel, PyObject *given)
{
    core_state *state = core_state_of_type(Py_TYPE(kernel));
    Py_ssize_t n = PyTuple_Check(given) ? PyTuple_GET_SIZE(given) : 0;
    bool has_both = n >= 2 && n <= 5 && PyTuple_GET_ITEM(given, 0) != Py_None && PyTuple_GET_ITEM(given, 1) != Py_None;
    if (!has_both) {
        PyErr_Format(PyExc_ValueError, "must specify at %s of kernel %R, as " THREADS_ORDER "; got %R",
                     n > 5 ? "most the griddim, blockdim, stream, sharedmem and cluster"
                           : "least the griddim and blockdim", kernel, given);
        return NULL;
    }
    PyObject *item[5] = {NULL, NULL, NULL, NULL, NULL};
    for (Py_ssize_t i = 0; i < n; i++)
        item[i] = PyTuple_GET_ITEM(given, i);
    threads_launch *self = (threads_launch *)threads_make(state, state->thread_launch_type, kernel, item[2]);
    if (self && (threads_config(item[0], item[1], item[3], item[4], &self->config) < 0 || threads_see_grid(self) < 0))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyType_Slot kernel_slots[] = {
    {Py_tp_doc, "Base of kernels of threads: kernel[grid, block] is a ThreadLaunch."},
    {Py_mp_subscript, threads_subscript},
    {0, NULL},
};
static PyType_Spec kernel_spec = {"tessera._core.ThreadKernel", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                  kernel_slots};

/* launch_threads(stream, grid, block, shared_bytes, cluster, kernel, args) */
static PyObject *threads_launch_function(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    core_state *state = PyModule_GetState(module);
    if (n != 7 || !PyTuple_Check(args[6])) {
        PyErr_SetString(PyExc_TypeError, "launch_threads(stream, grid, block, shared_bytes, cluster, kernel, args) "
                                         "takes 7 arguments, the last of them a tuple");
        return NULL;
    }
    if (!core_kernel_of(state, args[5]))
        return NULL;
    PyObject *result = NULL;
    threads_launch *self = (threads_launch *)threads_make(state, state->thread_launch_type, args[5], args[0]);
    if (self && threads_config(args[1], args[2], args[3], args[4], &self->config) == 0)
        result = threads_run_all(self, PySequence_Fast_ITEMS(args[6]), PyTuple_GET_SIZE(args[6]), THREADS_STRICT);
    Py_XDECREF(self);
    return result;
}

static PyObject *threads_current(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return Py_NewRef(threads_now.launch ? (PyObject *)threads_now.launch : Py_None);
}

static PyMethodDef threads_functions[] = {
    {"_current_launch", threads_current, METH_NOARGS, "The launch of threads under way in this thread, or None."},
    {"launch_threads", (PyCFunction)(void (*)(void))threads_launch_function, METH_FASTCALL,
     "launch_threads(stream, grid, block, shared_bytes, cluster, kernel, args, /)\n--\n\n"
     "Runs a kernel of threads over a grid of blocks; cluster may be None."},
    {NULL, NULL, 0, NULL},
};

int core_threads_init(PyObject *module, core_state *state)
{
    state->thread_launch_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &threads_spec, NULL);
    PyObject *base = (PyObject *)PyType_FromModuleAndSpec(module, &kernel_spec, (PyObject *)state->kernel_type);
    int got = base && state->thread_launch_type && PyModule_AddType(module, (PyTypeObject *)base) == 0 &&
                      PyModule_AddType(module, state->thread_launch_type) == 0
                  ? PyModule_AddFunctions(module, threads_functions)
                  : -1;
    Py_XDECREF(base);
    return got;
}
