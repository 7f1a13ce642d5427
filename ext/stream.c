/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams, events, devices: thin objects over device.h, and the reading of streams of other libraries.
 */
#include "core.h"
#include <string.h>

#define STREAM_SLICE_NS 50000000 /* between two looks at Ctrl-C */
#define STREAM_GRACE_NS 1000000000 /* for a cancelled kernel to end */

typedef struct stream_object {
    PyObject_HEAD
    core_state *state;
    ts_stream *stream;
    bool owned;
} stream_object;

typedef struct event_object {
    PyObject_HEAD
    core_state *state;
    ts_device *device;
    ts_event *event;
} event_object;

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
    PyObject *out = PySys_GetObject("stdout"), *done = NULL; /* borrowed */
    if (out && out != Py_None)
        done = PyObject_CallMethod(out, "flush", NULL);
    Py_XDECREF(done);
    PyErr_Clear(); /* what cannot be written is told to who writes next */
    PyErr_Restore(type, value, traceback);
    PyGILState_Release(gil);
}

/* ---- waiting --------------------------------------------------------------------------------------*/

typedef ts_status stream_waiter(void *what, int64_t limit_ns, ts_error *err);

/* Ctrl-C while waiting for the CPU ends what is waited for: a kernel that never ends would hold the device for
 * ever. Its fault is taken here, unless it does not end soon. Other exceptions of handlers (of an alarm) end the
 * wait only. */
static void stream_give_up(ts_device *device, stream_waiter *wait, void *what)
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

static int stream_wait(core_state *state, ts_device *device, stream_waiter *wait, void *what)
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

static ts_status stream_wait_stream(void *what, int64_t limit, ts_error *err)
{
    return ts_stream_sync(what, limit, err);
}

static ts_status stream_wait_device(void *what, int64_t limit, ts_error *err)
{
    return ts_device_sync(what, limit, err);
}

static ts_status stream_wait_event(void *what, int64_t limit, ts_error *err)
{
    return ts_event_sync(what, limit, err);
}

int core_wait_stream(core_state *state, const ts_stream *stream)
{
    return stream_wait(state, stream->device, stream_wait_stream, (void *)(uintptr_t)stream);
}

int core_finish_stream(core_state *state, const ts_stream *stream)
{
    ts_error err;
    if (core_wait_stream(state, stream) == 0)
        return 0;
    ts_device_cancel(stream->device);
    Py_BEGIN_ALLOW_THREADS;
    while (ts_stream_sync(stream, TS_FOREVER, &err) == TS_INTERRUPTED)
        ;
    Py_END_ALLOW_THREADS;
    return -1;
}

int core_wait_device(core_state *state, ts_device *device)
{
    return stream_wait(state, device, stream_wait_device, device);
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
    ts_error err;
    if (core_device_of(state, name, &device) < 0)
        return NULL;
    if (ts_device_query(device, &info, &err) != TS_OK)
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
    ts_error err;
    if (core_device_of(state, name, &device) < 0)
        return NULL;
    if (ts_device_reset(device, &err) != TS_OK)
        return core_raise(state, &err);
    Py_RETURN_NONE;
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

int core_stream_of(core_state *state, PyObject *object, ts_stream *room, const ts_stream **out)
{
    *out = NULL;
    if (object == Py_None)
        return 0;
    if (PyObject_TypeCheck(object, state->stream_type)) {
        *out = ((stream_object *)object)->stream;
        return 0;
    }
    uintptr_t handle = 0;
    int found;
    if (PyLong_Check(object)) {
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
        PyErr_Format(PyExc_TypeError, "%.200s is not a stream; use None, a tessera, torch, CuPy or numba stream, or a raw handle", Py_TYPE(object)->tp_name);
    if (found <= 0)
        return -1;
    *room = (ts_stream){NULL, handle, NULL};
    *out = handle ? room : NULL;
    return 0;
}

/* ---- Stream ----------------------------------------------------------------------------------------*/

static PyObject *stream_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"device", NULL};
    PyObject *name = Py_None;
    ts_device *device;
    ts_error err;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Stream", names, &name))
        return NULL;
    core_state *state = core_state_of_type(type);
    if (core_device_of(state, name, &device) < 0)
        return NULL;
    stream_object *self = (stream_object *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->state = state;
    if (ts_stream_create(device, &self->stream, &err) != TS_OK) {
        Py_DECREF(self);
        return core_raise(state, &err);
    }
    self->owned = true;
    return (PyObject *)self;
}

/* Destroying a stream of the CPU drains it, which Ctrl-C must be able to end; faults stay for the device's next
 * wait. A destructor cannot raise, so Ctrl-C is raised again behind it. */
static void stream_drain(stream_object *self)
{
    ts_device *device = self->stream->device;
    ts_event *event;
    PyObject *type, *value, *traceback;
    if (ts_device_target(device) != TS_TARGET_CPU || ts_event_create(device, &event, NULL) != TS_OK)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    if (ts_event_record(event, self->stream, NULL) == TS_OK && stream_wait(self->state, device, stream_wait_event, event) < 0) {
        if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
            PyErr_SetInterrupt();
        else
            PyErr_WriteUnraisable((PyObject *)self);
        PyErr_Clear();
    }
    PyErr_Restore(type, value, traceback);
    ts_event_destroy(event);
}

static void stream_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    stream_object *stream = (stream_object *)self;
    if (stream->owned) {
        stream_drain(stream);
        Py_BEGIN_ALLOW_THREADS;
        ts_stream_destroy(stream->stream);
        Py_END_ALLOW_THREADS;
    }
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *stream_sync(PyObject *self, PyObject *unused)
{
    (void)unused;
    stream_object *stream = (stream_object *)self;
    if (core_wait_stream(stream->state, stream->stream) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *stream_get_handle(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((stream_object *)self)->stream->native);
}

static PyObject *stream_cuda_stream(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("(iK)", 0, (unsigned long long)((stream_object *)self)->stream->native);
}

static PyObject *stream_wait_for(PyObject *self, PyObject *event)
{
    stream_object *stream = (stream_object *)self;
    ts_error err;
    if (!PyObject_TypeCheck(event, stream->state->event_type)) {
        PyErr_Format(PyExc_TypeError, "wait() takes an Event, not a %.200s", Py_TYPE(event)->tp_name);
        return NULL;
    }
    if (ts_stream_wait_event(stream->stream, ((event_object *)event)->event, &err) != TS_OK)
        return core_raise(stream->state, &err);
    Py_RETURN_NONE;
}

static PyObject *stream_is_done(PyObject *self, void *unused)
{
    (void)unused;
    stream_object *stream = (stream_object *)self;
    bool done;
    ts_error err;
    if (ts_stream_done(stream->stream, &done, &err) != TS_OK)
        return core_raise(stream->state, &err);
    return PyBool_FromLong(done);
}

const ts_stream *core_stream_now(PyObject *stream, ts_stream *room)
{
    (void)room;
    return ((stream_object *)stream)->stream;
}

ts_event *core_event_get(PyObject *event)
{
    return ((event_object *)event)->event;
}

static PyMethodDef stream_methods[] = {
    {"__aenter__", core_async_enter, METH_NOARGS, "``async with stream``: gives the stream."},
    {"__aexit__", core_async_exit, METH_VARARGS, "Awaits what the stream was given."},
    {"synchronize", stream_sync, METH_NOARGS, "Waits until everything given to the stream is done. Raises KernelError for a kernel that failed."},
    {"wait", stream_wait_for, METH_O, "wait(event, /)\n--\n\nLater work of the stream waits for the event's last record."},
    {"__cuda_stream__", stream_cuda_stream, METH_NOARGS, "(version, handle), the protocol other libraries read."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef stream_getset[] = {
    {"handle", stream_get_handle, NULL, "The driver's handle; 0 for the default stream and for CPU streams.", NULL},
    {"done", stream_is_done, NULL, "Whether nothing is left to do; never waits.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot stream_slots[] = {
    {Py_tp_doc, "Stream(device=None)\n--\n\nA queue of work on a device; its work runs in the order given."},
    {Py_tp_new, stream_new},
    {Py_tp_dealloc, stream_dealloc},
    {Py_tp_methods, stream_methods},
    {Py_tp_getset, stream_getset},
    {Py_am_await, core_await},
    {0, NULL},
};
static PyType_Spec stream_spec = {"tessera._core.Stream", sizeof(stream_object), 0, Py_TPFLAGS_DEFAULT, stream_slots};

/* ---- Event -----------------------------------------------------------------------------------------*/

static PyObject *event_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"device", NULL};
    PyObject *name = Py_None;
    ts_device *device;
    ts_error err;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Event", names, &name))
        return NULL;
    core_state *state = core_state_of_type(type);
    if (core_device_of(state, name, &device) < 0)
        return NULL;
    event_object *self = (event_object *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->state = state;
    self->device = device;
    if (ts_event_create(device, &self->event, &err) != TS_OK) {
        Py_DECREF(self);
        return core_raise(state, &err);
    }
    return (PyObject *)self;
}

static void event_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    ts_event_destroy(((event_object *)self)->event);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *event_record(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    event_object *event = (event_object *)self;
    ts_stream room;
    const ts_stream *stream = NULL;
    ts_error err;
    if (n > 1) {
        PyErr_SetString(PyExc_TypeError, "record(stream=None) takes at most one argument");
        return NULL;
    }
    if (n == 1 && core_stream_of(event->state, args[0], &room, &stream) < 0)
        return NULL;
    if (stream == &room) /* another library's: of the event's device */
        room.device = event->device;
    if (ts_event_record(event->event, stream, &err) != TS_OK)
        return core_raise(event->state, &err);
    Py_RETURN_NONE;
}

static PyObject *event_sync(PyObject *self, PyObject *unused)
{
    (void)unused;
    event_object *event = (event_object *)self;
    if (stream_wait(event->state, event->device, stream_wait_event, event->event) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *event_elapsed(PyObject *self, PyObject *end)
{
    event_object *event = (event_object *)self;
    double ns;
    ts_error err;
    if (!PyObject_TypeCheck(end, event->state->event_type)) {
        PyErr_Format(PyExc_TypeError, "elapsed_ms() takes an Event, not a %.200s", Py_TYPE(end)->tp_name);
        return NULL;
    }
    if (ts_event_elapsed(event->event, ((event_object *)end)->event, &ns, &err) != TS_OK)
        return core_raise(event->state, &err);
    return PyFloat_FromDouble(ns * 1e-6);
}

static PyMethodDef event_methods[] = {
    {"record", (PyCFunction)(void (*)(void))event_record, METH_FASTCALL, "record(stream=None, /)\n--\n\nMarks this point of the stream."},
    {"synchronize", event_sync, METH_NOARGS, "Waits for the last record."},
    {"elapsed_ms", event_elapsed, METH_O, "elapsed_ms(end, /)\n--\n\nDevice time in milliseconds from this event to a later one; both must be done."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot event_slots[] = {
    {Py_tp_doc, "Event(device=None)\n--\n\nA point in a stream to wait for or to time."},
    {Py_tp_new, event_new},
    {Py_tp_dealloc, event_dealloc},
    {Py_tp_methods, event_methods},
    {Py_am_await, core_await},
    {0, NULL},
};
static PyType_Spec event_spec = {"tessera._core.Event", sizeof(event_object), 0, Py_TPFLAGS_DEFAULT, event_slots};

static PyMethodDef stream_functions[] = {
    {"device_count", stream_device_count, METH_O, "device_count(kind, /)\n--\n\nDevices of kind 'cpu' or 'cuda' on this machine."},
    {"device_info", stream_device_info, METH_O, "device_info(device, /)\n--\n\nName, sizes and versions of a device, as a dictionary."},
    {"synchronize", (PyCFunction)(void (*)(void))stream_synchronize, METH_FASTCALL,
     "synchronize(device=None, /)\n--\n\nWaits for all work of a device (None: of all). Raises KernelError for a kernel that failed."},
    {"reset", stream_reset, METH_O, "reset(device, /)\n--\n\nEnds everything on the device and begins afresh; its arrays are lost."},
    {NULL, NULL, 0, NULL},
};

int core_stream_init(PyObject *module, core_state *state)
{
    if (PyInterpreterState_Get() == PyInterpreterState_Main())
        ts_interrupt_set(stream_interrupted);
    ts_print_set(stream_flush);
    state->stream_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &stream_spec, NULL);
    state->event_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &event_spec, NULL);
    if (!state->stream_type || !state->event_type || PyModule_AddType(module, state->stream_type) < 0 ||
        PyModule_AddType(module, state->event_type) < 0)
        return -1;
    return PyModule_AddFunctions(module, stream_functions);
}
