/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and devices: thin objects over device.h, and the reading of streams of other libraries. Events are in
 * event.c.
 */
#include "host.h"
#include "tessera/graph.h"
#include <string.h>
#include <structmember.h>

#define STREAM_SLICE_NS 50000000 /* between two looks at Ctrl-C */
#define STREAM_GRACE_NS 1000000000 /* for a cancelled kernel to end */

/* ---- interruption ---------------------------------------------------------------------------------*/

/* Called by the library, which a launch of this thread has without the GIL. True: an exception is set. */
static bool stream_interrupted(void)
{
    if (!Py_IsInitialized())
        return false;
    PyGILState_STATE gil = PyGILState_Ensure();
    bool raised = PyErr_CheckSignals() < 0;
    PyGILState_Release(gil);
    return raised;
}

/* Python's buffer goes out before the text of a kernel. */
static void stream_flush(void)
{
    PyObject *type, *value, *traceback;
    if (!Py_IsInitialized())
        return;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *sys = PyImport_ImportModule("sys"), *done = NULL;
    PyObject *out = sys ? PyObject_GetAttrString(sys, "stdout") : NULL;
    if (out && out != Py_None)
        done = PyObject_CallMethod(out, "flush", NULL);
    Py_XDECREF(sys);
    Py_XDECREF(out);
    Py_XDECREF(done);
    PyErr_Clear(); /* what cannot be written is told to who writes next */
    PyErr_Restore(type, value, traceback);
    PyGILState_Release(gil);
}

/* ---- waiting --------------------------------------------------------------------------------------*/

/* Ctrl-C while waiting for the CPU ends what is waited for: a kernel that never ends would hold the device for
 * ever. Its fault is taken here, unless it does not end soon. Other exceptions of handlers (of an alarm) end the
 * wait only. */
static void stream_give_up(ts_device *device, core_waiter *wait, void *what)
{
    ts_error err;
    if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) || !ts_device_cancel(device))
        return;
    Py_BEGIN_ALLOW_THREADS;
    int64_t rest = STREAM_GRACE_NS / STREAM_SLICE_NS;
    while (rest-- > 0 && wait(what, STREAM_SLICE_NS, &err) == TS_INTERRUPTED)
        ;
    Py_END_ALLOW_THREADS;
}

static int stream_wait_slices(core_state *state, ts_device *device, core_waiter *wait, void *what)
{
    ts_error err;
    for (;;) {
        ts_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = wait(what, STREAM_SLICE_NS, &err);
        Py_END_ALLOW_THREADS;
        if (status == TS_OK)
            return 0;
        if (status != TS_INTERRUPTED) {
            core_raise(state, &err);
            return -1;
        }
        if (PyErr_CheckSignals() < 0) {
            stream_give_up(device, wait, what);
            return -1;
        }
    }
}

int core_wait(core_state *state, ts_device *device, core_waiter *wait, void *what)
{
    core_use use;
    core_use_begin(state, &use, what, NULL);
    int result = stream_wait_slices(state, device, wait, what);
    core_use_end(state, &use);
    return result;
}

static ts_status stream_wait_stream(void *what, int64_t limit, ts_error *err)
{
    return ts_stream_sync(what, limit, err);
}

static ts_status stream_wait_device(void *what, int64_t limit, ts_error *err)
{
    return ts_device_sync(what, limit, err);
}

int core_wait_stream(core_state *state, const ts_stream *stream)
{
    return core_wait(state, stream->device, stream_wait_stream, (void *)(uintptr_t)stream);
}

int core_finish_stream(core_state *state, const ts_stream *stream)
{
    ts_error err;
    core_use use;
    core_use_begin(state, &use, stream, NULL);
    int result = core_wait_stream(state, stream);
    if (result < 0) {
        ts_stream_cancel(stream);
        Py_BEGIN_ALLOW_THREADS;
        while (ts_stream_sync(stream, TS_FOREVER, &err) == TS_INTERRUPTED)
            ;
        Py_END_ALLOW_THREADS;
    }
    core_use_end(state, &use);
    return result;
}

int core_wait_device(core_state *state, ts_device *device)
{
    return core_wait(state, device, stream_wait_device, device);
}

/* ---- devices --------------------------------------------------------------------------------------*/

int core_device_of(core_state *state, PyObject *object, ts_device **out)
{
    ts_error err;
    ts_device_kind kind = TS_DEVICE_CPU;
    long ordinal = 0;
    if (object && object != Py_None) {
        const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;
        if (text && strncmp(text, "cuda", 4) == 0 && (!text[4] || text[4] == ':'))
            kind = TS_DEVICE_CUDA;
        else if (!text || (strcmp(text, "cpu") != 0 && strcmp(text, "cpu:0") != 0)) {
            PyErr_Format(PyExc_ValueError, "%R is not a device; use 'cpu', 'cuda' or 'cuda:N'", object);
            return -1;
        }
        if (kind == TS_DEVICE_CUDA && text[4]) {
            char *end;
            ordinal = strtol(text + 5, &end, 10);
            if (*end || end == text + 5 || ordinal < 0 || ordinal > 255) {
                PyErr_Format(PyExc_ValueError, "%R is not a device; use 'cpu', 'cuda' or 'cuda:N'", object);
                return -1;
            }
        }
    }
    ts_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = ts_device_get(kind, (int)ordinal, out, &err);
    Py_END_ALLOW_THREADS;
    if (status == TS_OK)
        return 0;
    core_raise(state, &err);
    return -1;
}

static PyObject *stream_device_count(PyObject *module, PyObject *name)
{
    (void)module;
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : "";
    if (!text)
        return NULL;
    return PyLong_FromLong(ts_device_count(strcmp(text, "cuda") == 0 ? TS_DEVICE_CUDA : TS_DEVICE_CPU));
}

static PyObject *stream_device_info(PyObject *module, PyObject *name)
{
    core_state *state = PyModule_GetState(module);
    ts_device *device;
    ts_device_info info;
    ts_status status;
    ts_error err;
    if (core_device_of(state, name, &device) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = ts_device_query(device, &info, &err);
    Py_END_ALLOW_THREADS;
    if (status != TS_OK)
        return core_raise(state, &err);
    return Py_BuildValue("{s:s,s:i,s:i,s:(ii),s:i,s:i,s:i,s:K,s:K,s:K,s:K,s:K,s:K}", "name", info.name, "ordinal",
                         info.ordinal, "target", (int)info.target, "compute_capability", info.cc_major, info.cc_minor,
                         "driver_version", info.driver_version, "units", info.units, "clock_khz", info.clock_khz,
                         "memory_bytes", (unsigned long long)info.memory_bytes, "free_bytes",
                         (unsigned long long)info.free_bytes, "l2_bytes", (unsigned long long)info.l2_bytes,
                         "shared_bytes_per_block", (unsigned long long)info.shared_bytes_per_block, "pool_used_bytes",
                         (unsigned long long)info.pool_used_bytes, "pool_kept_bytes",
                         (unsigned long long)info.pool_kept_bytes);
}

/* synchronize(device=None): None waits for every device in use. */
static PyObject *stream_synchronize(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    core_state *state = PyModule_GetState(module);
    ts_device *device;
    ts_error err;
    if (n > 1) {
        PyErr_SetString(PyExc_TypeError, "synchronize(device=None) takes at most one argument");
        return NULL;
    }
    if (n == 1 && args[0] != Py_None) {
        if (core_device_of(state, args[0], &device) < 0 || core_wait_device(state, device) < 0)
            return NULL;
        Py_RETURN_NONE;
    }
    if (core_device_of(state, NULL, &device) < 0 || core_wait_device(state, device) < 0)
        return NULL;
    int n_cuda = ts_device_count(TS_DEVICE_CUDA);
    for (int i = 0; i < n_cuda; i++)
        if (ts_device_get(TS_DEVICE_CUDA, i, &device, &err) == TS_OK && core_wait_device(state, device) < 0)
            return NULL;
    Py_RETURN_NONE;
}

static PyObject *stream_reset(PyObject *module, PyObject *name)
{
    core_state *state = PyModule_GetState(module);
    ts_device *device;
    ts_status status;
    ts_error err;
    if (core_device_of(state, name, &device) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS; /* the driver waits for what runs */
    status = ts_device_reset(device, &err);
    Py_END_ALLOW_THREADS;
    return status == TS_OK ? Py_NewRef(Py_None) : core_raise(state, &err);
}

/* What the object is; NULL with exception where it is closed. */
static const ts_stream *stream_get(const core_stream *self)
{
    const ts_stream *stream = CORE_GET(self->stream);
    if (!stream)
        PyErr_SetString(PyExc_RuntimeError, "the stream is closed; make a new one");
    return stream;
}

/* ---- streams of any library -------------------------------------------------------------------------*/

/* A handle from an attribute that is an integer; 1 found, 0 not there, -1 error. */
static int stream_attribute(PyObject *object, PyObject *name, uintptr_t *handle)
{
    PyObject *value = PyObject_GetAttr(object, name);
    if (!value) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return -1;
        PyErr_Clear();
        return 0;
    }
    PyObject *number = PyLong_Check(value) ? Py_NewRef(value) : PyObject_GetAttrString(value, "value");
    if (number && number != Py_None && !PyLong_Check(number))
        Py_CLEAR(number);
    if (!number && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_AttributeError)))
        PyErr_Format(PyExc_TypeError, "%.200s is not a stream: its attribute '%U' is %R, not a handle",
                     Py_TYPE(object)->tp_name, name, value);
    Py_DECREF(value);
    if (!number)
        return -1;
    *handle = number == Py_None ? 0 : (uintptr_t)PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    return PyErr_Occurred() ? -1 : 1;
}

static int stream_protocol(core_state *state, PyObject *object, uintptr_t *handle)
{
    PyObject *pair = PyObject_CallMethodNoArgs(object, state->name_cuda_stream_protocol);
    int version;
    unsigned long long value;
    if (!pair)
        return -1;
    int ok = PyArg_ParseTuple(pair, "iK", &version, &value);
    Py_DECREF(pair);
    *handle = (uintptr_t)value;
    return ok ? 1 : -1;
}

static bool stream_is_builder(core_state *state, PyObject *object)
{
    return !core_is(object, state->stream_type) &&
           PyObject_HasAttr((PyObject *)Py_TYPE(object), state->name_launched);
}

PyObject *core_order_of(core_state *state, PyObject *object)
{
    return stream_is_builder(state, object) ? PyObject_GetAttr(object, state->name_stream) : Py_NewRef(object);
}

/* Outside of a recording, its stream would run at once what is meant for the graph. */
static int stream_check_builder(PyObject *builder)
{
    PyObject *building = PyObject_GetAttrString(builder, "is_building");
    int yes = building ? PyObject_IsTrue(building) : -1;
    Py_XDECREF(building);
    if (yes == 0)
        PyErr_SetString(PyExc_RuntimeError, "Graph builder must be building before it can be given work: between "
                                            "begin_building() and end_building().");
    return yes == 1 ? 0 : -1;
}

/* The stream that a graph builder records, which it keeps. */
static int stream_of_builder(core_state *state, PyObject *builder, ts_stream *room, const ts_stream **out)
{
    PyObject *stream = PyObject_GetAttr(builder, state->name_stream);
    if (!stream)
        return -1;
    int result = -1;
    if (stream == Py_None)
        PyErr_SetString(PyExc_RuntimeError, "Graph builder has been closed.");
    else if (stream_check_builder(builder) == 0)
        result = core_stream_of(state, stream, room, out);
    Py_DECREF(stream);
    return result;
}

int core_stream_of(core_state *state, PyObject *object, ts_stream *room, const ts_stream **out)
{
    *out = NULL;
    if (object == Py_None)
        return 0;
    if (core_is(object, state->stream_type)) {
        const ts_stream *own = stream_get((core_stream *)object);
        if (own && !own->device) /* its device is that of the arguments */
            *room = *own;
        *out = own && !own->device ? room : own;
        return own ? 0 : -1;
    }
    bool is_handle = PyLong_Check(object); /* asked first: that a builder's attribute is missing costs 0.2 us */
    if (!is_handle && stream_is_builder(state, object))
        return stream_of_builder(state, object, room, out);
    uintptr_t handle = 0;
    int found;
    if (is_handle) {
        handle = (uintptr_t)PyLong_AsUnsignedLongLong(object);
        found = PyErr_Occurred() ? -1 : 1;
    } else {
        found = stream_attribute(object, state->name_cuda_stream, &handle);
        if (found == 0)
            found = stream_attribute(object, state->name_ptr, &handle);
        if (found == 0 && PyObject_HasAttr(object, state->name_cuda_stream_protocol))
            found = stream_protocol(state, object, &handle);
        if (found == 0)
            found = stream_attribute(object, state->name_handle, &handle);
    }
    if (found == 0)
        PyErr_Format(PyExc_TypeError, "%.200s is not a stream; use None, a tessera, torch, CuPy or numba stream, or a "
                                      "raw handle", Py_TYPE(object)->tp_name);
    if (found <= 0)
        return -1;
    *room = (ts_stream){NULL, handle, NULL};
    *out = handle ? room : NULL;
    return 0;
}

/* ---- the device that work goes to -------------------------------------------------------------------*/

/* What Device.set_current() chose in this thread; a GPU's choice is the driver's current context. */
int core_current_device(core_state *state, ts_device **out)
{
    ts_error err;
    PyObject *own = PyThreadState_GetDict(); /* borrowed */
    bool cpu = own && PyDict_GetItem(own, state->name_cpu_current);
    int ordinal = cpu ? -1 : ts_native_current();
    if (!cpu && ordinal < 0 && ts_device_count(TS_DEVICE_CUDA) > 0)
        ordinal = 0;
    uint16_t id = ordinal < 0 ? TS_DEVICE_ID(TS_DEVICE_CPU, 0) : TS_DEVICE_ID(TS_DEVICE_CUDA, ordinal);
    if (ts_device_by_id(id, out, &err) == TS_OK)
        return 0;
    core_raise(state, &err);
    return -1;
}

PyObject *core_device_number(const ts_device *device)
{
    return PyLong_FromLong(ts_device_id(device));
}

static PyObject *stream_current_device(PyObject *module, PyObject *unused)
{
    (void)unused;
    ts_device *device;
    return core_current_device(PyModule_GetState(module), &device) < 0 ? NULL : core_device_number(device);
}

/* set_cpu_current(flag): whether the CPU is this thread's current device. */
static PyObject *stream_set_cpu(PyObject *module, PyObject *flag)
{
    PyObject *own = PyThreadState_GetDict(), *key = ((core_state *)PyModule_GetState(module))->name_cpu_current;
    if (!own)
        return PyErr_NoMemory();
    if (flag == Py_True) {
        if (PyDict_SetItem(own, key, Py_True) < 0)
            return NULL;
    } else if (PyDict_DelItem(own, key) < 0)
        PyErr_Clear();
    Py_RETURN_NONE;
}

int core_device_from(core_state *state, PyObject *object, ts_device **out)
{
    ts_error err;
    if (!PyLong_Check(object))
        return core_device_of(state, object, out);
    long id = PyLong_AsLong(object);
    if (id == -1 && PyErr_Occurred())
        return -1;
    if (id < 0 || id > UINT16_MAX) {
        PyErr_Format(PyExc_ValueError, "%R is not the number of a device (kind << 8 | ordinal)", object);
        return -1;
    }
    if (ts_device_by_id((uint16_t)id, out, &err) == TS_OK)
        return 0;
    core_raise(state, &err);
    return -1;
}

/* The stream with the number that room->native is. */
static int stream_of_number(core_state *state, ts_device *device, ts_stream *room)
{
    ts_error err;
    if (ts_stream_find(device, room->native, room, &err) == TS_OK)
        return 0;
    core_raise(state, &err);
    return -1;
}

int core_stream_for(core_state *state, PyObject *object, ts_device **device, ts_stream *room, const ts_stream **out)
{
    if (core_stream_of(state, object, room, out) < 0)
        return -1;
    if (*out && (*out)->device) {
        if (*device && (*out)->device != *device) {
            PyErr_SetString(PyExc_ValueError, "the stream belongs to another device; use one made for this device");
            return -1;
        }
        *device = (*out)->device;
        return 0;
    }
    if (!*device && core_current_device(state, device) < 0)
        return -1;
    if (*out)
        return stream_of_number(state, *device, room);
    *out = ts_device_default_stream(*device);
    return 0;
}

/* The stream of a Stream object for a call that needs its device now. */
static const ts_stream *stream_ready(core_stream *self, ts_stream *room)
{
    ts_device *device = NULL;
    const ts_stream *out = CORE_GET(self->stream);
    if (out && out->device)
        return out;
    return core_stream_for(self->state, (PyObject *)self, &device, room, &out) < 0 ? NULL : out;
}

/* ---- Stream ----------------------------------------------------------------------------------------*/

static core_stream *stream_alloc(PyTypeObject *type)
{
    core_stream *self = (core_stream *)type->tp_alloc(type, 0);
    if (self) {
        self->state = core_hold(core_state_of_type(type));
        core_live(self->state, CORE_LIVE_STREAM, 1);
    }
    return self;
}

static PyObject *stream_make(PyTypeObject *type, ts_device *device, const ts_stream_options *options)
{
    ts_error err;
    ts_status status;
    core_stream *self = stream_alloc(type);
    if (!self)
        return NULL;
    Py_BEGIN_ALLOW_THREADS; /* the driver waits while its queue is full */
    status = ts_stream_create_with(device, options, &self->stream, &err);
    Py_END_ALLOW_THREADS;
    if (status != TS_OK) {
        core_state *state = self->state;
        Py_DECREF(self);
        return core_raise(state, &err);
    }
    self->owned = true;
    return (PyObject *)self;
}

static PyObject *stream_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"device", NULL};
    PyObject *name = Py_None;
    ts_device *device;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Stream", names, &name) ||
        core_device_of(core_state_of_type(type), name, &device) < 0)
        return NULL;
    return stream_make(type, device, NULL);
}

/* _create(device, nonblocking, priority or None), for the factories of tessera.core. */
static PyObject *stream_create(PyObject *type, PyObject *const *args, Py_ssize_t n)
{
    ts_device *device;
    ts_stream_options options = {0};
    if (n != 3) {
        PyErr_SetString(PyExc_TypeError, "_create(device, nonblocking, priority) takes 3 arguments");
        return NULL;
    }
    options.blocking = !PyObject_IsTrue(args[1]);
    options.has_priority = args[2] != Py_None;
    options.priority = options.has_priority ? (int32_t)PyLong_AsLong(args[2]) : 0;
    if (PyErr_Occurred() || core_device_from(core_state_of_type((PyTypeObject *)type), args[0], &device) < 0)
        return NULL;
    return stream_make((PyTypeObject *)type, device, &options);
}

/* _wrap(device or None, handle, owner, owned): a stream that somebody else has made. */
static PyObject *stream_wrap(PyObject *type, PyObject *const *args, Py_ssize_t n)
{
    ts_device *device = NULL;
    ts_error err;
    core_state *state = core_state_of_type((PyTypeObject *)type);
    if (n != 4) {
        PyErr_SetString(PyExc_TypeError, "_wrap(device, handle, owner, owned) takes 4 arguments");
        return NULL;
    }
    unsigned long long handle = PyLong_AsUnsignedLongLong(args[1]);
    if (PyErr_Occurred() || (args[0] != Py_None && core_device_from(state, args[0], &device) < 0))
        return NULL;
    core_stream *self = stream_alloc((PyTypeObject *)type);
    if (!self)
        return NULL;
    self->borrowed = (ts_stream){device, (uintptr_t)handle, NULL};
    self->stream = &self->borrowed;
    self->owner = args[2] == Py_None ? NULL : Py_NewRef(args[2]);
    if (!PyObject_IsTrue(args[3]))
        return (PyObject *)self;
    if (ts_stream_adopt(device, (uintptr_t)handle, &self->stream, &err) != TS_OK) {
        Py_DECREF(self);
        return core_raise(state, &err);
    }
    self->owned = true;
    return (PyObject *)self;
}

static void stream_destroy(void *stream)
{
    ts_stream_destroy(stream);
}

static void stream_end(core_stream *self)
{
    ts_stream *stream = CORE_TAKE(self->stream, NULL);
    if (self->owned && stream)
        core_end(self->state, stream, stream_destroy, &self->ended);
    core_part_set((PyObject *)self, &self->owner, NULL);
}

static int stream_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((core_stream *)self)->state->module);
    Py_VISIT(((core_stream *)self)->owner);
    return 0;
}

static int stream_clear(PyObject *self)
{
    Py_CLEAR(((core_stream *)self)->owner);
    return 0;
}

static void stream_dealloc(PyObject *self)
{
    core_stream *stream = (core_stream *)self;
    PyObject_GC_UnTrack(self);
    if (stream->weakrefs)
        PyObject_ClearWeakRefs(self);
    stream_end(stream);
    core_end_kept(stream->ended, stream_destroy);
    core_live(stream->state, CORE_LIVE_STREAM, -1);
    core_free(self, stream->state->module);
}

static PyObject *stream_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    stream_end((core_stream *)self);
    Py_RETURN_NONE;
}

static PyObject *stream_sync(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_stream *stream = (core_stream *)self;
    ts_stream room;
    const ts_stream *ready = stream_ready(stream, &room);
    if (!ready || core_wait_stream(stream->state, ready) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* True: what the stream runs and holds is ended, and its next wait says so. */
static PyObject *stream_cancel(PyObject *self, PyObject *unused)
{
    (void)unused;
    ts_stream room;
    const ts_stream *ready = stream_ready((core_stream *)self, &room);
    return ready ? PyBool_FromLong(ts_stream_cancel(ready)) : NULL;
}

static PyObject *stream_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return stream_get((core_stream *)self) ? Py_NewRef(self) : NULL;
}

/* The work is waited for. A fault beside an exception of the body is printed, for it would replace that. */
static PyObject *stream_exit(PyObject *self, PyObject *args)
{
    PyObject *type, *value, *trace;
    if (!PyArg_ParseTuple(args, "OOO:__exit__", &type, &value, &trace))
        return NULL;
    if (!CORE_GET(((core_stream *)self)->stream)) /* closed in the body */
        Py_RETURN_FALSE;
    PyObject *done = stream_sync(self, NULL);
    if (!done && (type == Py_None || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)))
        return NULL;
    if (!done)
        PyErr_WriteUnraisable(self);
    Py_XDECREF(done);
    Py_RETURN_FALSE;
}

static PyObject *stream_cuda_stream(PyObject *self, PyObject *unused)
{
    (void)unused;
    const ts_stream *stream = stream_get((core_stream *)self);
    return stream ? Py_BuildValue("(iK)", 0, (unsigned long long)stream->native) : NULL;
}

static int stream_wait_one(core_stream *self, const ts_stream *ready, ts_event *event)
{
    ts_status status;
    ts_error err;
    CORE_BEGIN_USE(self->state, ready, event); /* the driver waits while the stream's queue is full */
    status = ts_stream_wait_event(ready, event, &err);
    CORE_END_USE(self->state);
    if (status == TS_OK)
        return 0;
    core_raise(self->state, &err);
    return -1;
}

/* A record would become part of the graph; on a GPU the driver makes the waiting stream part of the capture. */
static int stream_check_ahead(const ts_stream *ahead)
{
    if (!ts_record_active(ahead))
        return 0;
    PyErr_SetString(PyExc_RuntimeError,
                    "a stream of the CPU cannot wait for a stream that is recording a graph; branches "
                                        "of a graph are made by split() and end by join() of its GraphBuilder");
    return -1;
}

/* A stream: all of what it has been given so far, by an event that lives only for this. */
static int stream_wait_other(core_stream *self, PyObject *other)
{
    ts_device *device = NULL;
    ts_stream room, own;
    const ts_stream *ahead, *ready;
    ts_event *event;
    ts_error err;
    ts_status status;
    if (core_stream_for(self->state, other, &device, &room, &ahead) < 0 || !(ready = stream_ready(self, &own)) ||
        stream_check_ahead(ahead) < 0)
        return -1;
    CORE_BEGIN_USE(self->state, ready, ahead);
    status = ts_event_create_with(device, ahead, TS_EVENT_UNTIMED, &event, &err);
    if (status == TS_OK)
        status = ts_event_record(event, ahead, &err);
    if (status == TS_OK)
        status = ts_stream_wait_event(ready, event, &err);
    ts_event_destroy(event);
    CORE_END_USE(self->state);
    if (status == TS_OK)
        return 0;
    core_raise(self->state, &err);
    return -1;
}

static PyObject *stream_wait_for(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static const char *const known[] = {"event_or_stream"};
    core_stream *stream = (core_stream *)self;
    ts_stream room;
    PyObject *what = NULL;
    if (core_named_args("wait", known, 1, args, n, names, &what) < 0)
        return NULL;
    const ts_stream *ready = stream_ready(stream, &room);
    int got;
    if (!ready)
        return NULL;
    if (core_is(what, stream->state->event_type)) {
        ts_event *event = core_event_get(what);
        got = event ? stream_wait_one(stream, ready, event) : -1;
    } else if (!what || what == Py_None || PyLong_Check(what)) {
        PyErr_Format(PyExc_TypeError, "wait() takes an Event or a stream, not %R", what ? what : Py_None);
        return NULL;
    } else if (PyUnicode_Check(what)) { /* as the peer has it */
        PyErr_Format(PyExc_ValueError, "wait() takes an Event or a stream, not %R", what);
        return NULL;
    } else
        got = stream_wait_other(stream, what);
    return got < 0 ? NULL : Py_NewRef(Py_None);
}

/* What options ask of an event: 0, or -1 with exception. None: not timed. */
static int stream_event_flags(PyObject *type, PyObject *options, uint32_t *flags)
{
    *flags = TS_EVENT_UNTIMED;
    if (!options || options == Py_None)
        return 0;
    PyObject *number = PyObject_CallMethod(type, "_flags_of", "O", options);
    *flags = number ? (uint32_t)PyLong_AsUnsignedLong(number) : 0;
    Py_XDECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

/* A new event of this stream's class for events, recorded. The options may run Python, so the stream is read last. */
static PyObject *stream_record_new(core_stream *self, PyObject *options)
{
    uint32_t flags;
    ts_stream room;
    const ts_stream *ready;
    PyObject *event = NULL, *type = PyObject_GetAttr((PyObject *)self, self->state->name_event_class);
    if (type && !(PyType_Check(type) && PyType_IsSubtype((PyTypeObject *)type, self->state->event_type)))
        PyErr_Format(PyExc_TypeError, "_event_class must be a class that derives from Event, not %R", type);
    else if (type && stream_event_flags(type, options, &flags) == 0 && (ready = stream_ready(self, &room)))
        event = core_event_new(self->state, (PyTypeObject *)type, ready->device, ready, flags, true);
    if (event && self->owned) /* streams of a green context have it as their owner */
        ((core_event *)event)->owner = Py_XNewRef(self->owner);
    Py_XDECREF(type);
    return event;
}

static PyObject *stream_record_in(core_stream *self, const ts_stream *ready, PyObject *event)
{
    ts_error err;
    ts_status status;
    ts_event *raw = core_event_get(event);
    if (raw && ts_event_flags_of(raw) & TS_EVENT_SHARED) /* others may wait for what was recorded first */
        PyErr_SetString(PyExc_TypeError, "IPC-enabled events should not be re-recorded, instead create a new event by "
                                         "supplying options.");
    if (!raw || PyErr_Occurred())
        return NULL;
    CORE_BEGIN_USE(self->state, raw, ready); /* the driver waits while the stream's queue is full */
    status = ts_event_record(raw, ready, &err);
    CORE_END_USE(self->state);
    return status == TS_OK ? Py_NewRef(event) : core_raise(self->state, &err);
}

static PyObject *stream_record(PyObject *object, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static const char *const known[] = {"event", "options"};
    core_stream *self = (core_stream *)object;
    PyObject *given[2] = {NULL, NULL};
    ts_stream room;
    if (core_named_args("record", known, 2, args, n, names, given) < 0)
        return NULL;
    PyObject *event = given[0];
    if (!event || event == Py_None)
        return stream_record_new(self, given[1]);
    if (!core_is(event, self->state->event_type))
        return PyErr_Format(PyExc_TypeError, "record() takes an Event, not a %.200s", Py_TYPE(event)->tp_name);
    const ts_stream *ready = stream_ready(self, &room);
    return ready ? stream_record_in(self, ready, event) : NULL;
}

static PyObject *stream_get_handle(PyObject *self, void *unused)
{
    (void)unused;
    const ts_stream *stream = CORE_GET(((core_stream *)self)->stream);
    return PyLong_FromUnsignedLongLong(stream ? stream->native : 0);
}

static PyObject *stream_is_done(PyObject *self, void *unused)
{
    (void)unused;
    core_stream *stream = (core_stream *)self;
    ts_stream room;
    bool done;
    ts_error err;
    const ts_stream *ready = stream_ready(stream, &room);
    if (!ready)
        return NULL;
    ts_status status;
    CORE_BEGIN_USE(stream->state, ready, NULL); /* the driver waits while another thread's call waits in the queue */
    status = ts_stream_done(ready, &done, &err);
    CORE_END_USE(stream->state);
    return status == TS_OK ? PyBool_FromLong(done) : core_raise(stream->state, &err);
}

const ts_stream *core_stream_now(PyObject *stream, ts_stream *room)
{
    return stream_ready((core_stream *)stream, room);
}

static PyObject *stream_get_device(PyObject *self, void *unused)
{
    (void)unused;
    ts_stream room;
    const ts_stream *ready = stream_ready((core_stream *)self, &room);
    return ready ? core_device_number(ready->device) : NULL;
}

static PyObject *stream_get_closed(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!CORE_GET(((core_stream *)self)->stream));
}

static PyObject *stream_get_owned(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((core_stream *)self)->owned);
}

static PyObject *stream_get_owner(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *owner = core_part(self, &((core_stream *)self)->owner);
    return owner ? owner : Py_NewRef(Py_None);
}

static PyMethodDef stream_methods[] = {
    {"__enter__", stream_enter, METH_NOARGS, "``with stream``: gives the stream."},
    {"__exit__", stream_exit, METH_VARARGS, "Waits for what the stream was given."},
    {"__aenter__", core_async_enter, METH_NOARGS, "``async with stream``: gives the stream."},
    {"__aexit__", core_async_exit, METH_VARARGS, "Awaits what the stream was given."},
    {"synchronize", stream_sync, METH_NOARGS,
     "Waits until everything given to the stream is done. Raises KernelError for a kernel that failed."},
    {"sync", stream_sync, METH_NOARGS, "The same as synchronize()."},
    {"wait", (PyCFunction)(void (*)(void))stream_wait_for, METH_FASTCALL | METH_KEYWORDS,
     "wait(event_or_stream)\n--\n\nLater work of the stream waits for the event's last record, or for what another "
     "stream was given so far."},
    {"record", (PyCFunction)(void (*)(void))stream_record, METH_FASTCALL | METH_KEYWORDS,
     "record(event=None, options=None)\n--\n\nMarks this point of the stream in an event, or in a new one; returns "
     "it."},
    {"close", stream_close, METH_NOARGS,
     "Ends the stream; work given to it still runs. A borrowed one is only let go."},
    {"_cancel", stream_cancel, METH_NOARGS, NULL},
    {"_create", (PyCFunction)(void (*)(void))stream_create, METH_FASTCALL | METH_CLASS, NULL},
    {"_wrap", (PyCFunction)(void (*)(void))stream_wrap, METH_FASTCALL | METH_CLASS, NULL},
    {"__cuda_stream__", stream_cuda_stream, METH_NOARGS, "(version, handle), the protocol other libraries read."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef stream_getset[] = {
    {"handle", stream_get_handle, NULL, "The driver's handle; 0 for the default stream; on the CPU an address.", NULL},
    {"_address", stream_get_handle, NULL, "The same for all subclasses.", NULL},
    {"done", stream_is_done, NULL, "Whether nothing is left to do; never waits.", NULL},
    {"_device", stream_get_device, NULL, "kind << 8 | ordinal of the device.", NULL},
    {"_closed", stream_get_closed, NULL, NULL, NULL},
    {"_owner", stream_get_owner, NULL, NULL, NULL},
    {"_owned", stream_get_owned, NULL, "Whether it ends with this object.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef stream_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(core_stream, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot stream_slots[] = {
    {Py_tp_doc, "Stream(device=None)\n--\n\nA queue of work on a device; its work runs in the order given."},
    {Py_tp_new, stream_new},
    {Py_tp_dealloc, stream_dealloc},
    {Py_tp_traverse, stream_traverse},
    {Py_tp_clear, stream_clear},
    {Py_tp_methods, stream_methods},
    {Py_tp_getset, stream_getset},
    {Py_am_await, core_await},
    {Py_tp_members, stream_members},
    {0, NULL},
};
static PyType_Spec stream_spec = {"tessera._core.Stream", sizeof(core_stream), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, stream_slots};

/* Without Python, which may have ended. */
static void stream_tell(const ts_error *fault)
{
    fprintf(stderr, "tessera: a kernel failed, and nothing waited for it: %s\n", fault->text);
}

static PyObject *stream_tell_faults(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromSize_t(ts_faults_tell(stream_tell));
}

static PyMethodDef stream_functions[] = {
    {"device_count", stream_device_count, METH_O,
     "device_count(kind, /)\n--\n\nDevices of kind 'cpu' or 'cuda' on this machine."},
    {"device_info", stream_device_info, METH_O,
     "device_info(device, /)\n--\n\nName, sizes and versions of a device, as a dictionary."},
    {"synchronize", (PyCFunction)(void (*)(void))stream_synchronize, METH_FASTCALL,
     "synchronize(device=None, /)\n--\n\nWaits for all work of a device (None: of all). Raises KernelError for a "
     "kernel that failed."},
    {"_current_device", stream_current_device, METH_NOARGS, "kind << 8 | ordinal of this thread's current device."},
    {"_set_cpu_current", stream_set_cpu, METH_O, NULL},
    {"_tell_faults", stream_tell_faults, METH_NOARGS,
     "Writes what failed on any device, and what no wait has raised, to stderr; gives how many these are. Waits for "
     "nothing."},
    {"reset", stream_reset, METH_O,
     "reset(device, /)\n--\n\nEnds everything on the device and begins afresh; its arrays are lost."},
    {NULL, NULL, 0, NULL},
};

int core_stream_init(PyObject *module, core_state *state)
{
    if (PyInterpreterState_Get() == PyInterpreterState_Main())
        ts_interrupt_set(stream_interrupted);
    ts_print_set(stream_flush);
    ts_fault_set(stream_tell);
    state->stream_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &stream_spec, NULL);
    if (!state->stream_type || PyModule_AddType(module, state->stream_type) < 0)
        return -1;
    return PyModule_AddFunctions(module, stream_functions);
}
