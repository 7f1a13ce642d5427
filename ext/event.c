/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: points of a stream to wait for or to time. Read stream.c first.
 */
#include "host.h"
#include <structmember.h>

static ts_status event_wait(void *what, int64_t limit, ts_error *err)
{
    return ts_event_sync(what, limit, err);
}

int core_event_wait(core_state *state, ts_device *device, ts_event *event)
{
    return core_wait(state, device, event_wait, event);
}

ts_event *core_event_get(PyObject *object)
{
    ts_event *event = CORE_GET(((core_event *)object)->event);
    if (!event)
        PyErr_SetString(PyExc_RuntimeError, "the event is closed; make a new one");
    return event;
}

/* ---- life -------------------------------------------------------------------------------------------*/

static core_event *event_alloc(core_state *state, PyTypeObject *type, ts_device *device)
{
    core_event *self = (core_event *)type->tp_alloc(type, 0);
    if (self) {
        self->state = core_hold(state);
        self->device = device;
        core_live(state, CORE_LIVE_EVENT, 1);
    }
    return self;
}

PyObject *core_event_new(core_state *state, PyTypeObject *type, ts_device *device, const ts_stream *stream,
                         uint32_t flags, bool recorded)
{
    ts_error err;
    ts_status status;
    core_event *self = event_alloc(state, type, device);
    if (!self)
        return NULL;
    CORE_BEGIN_USE(state, stream, NULL); /* the driver waits while its queue is full */
    status = ts_event_create_with(device, stream, flags, &self->event, &err);
    if (status == TS_OK && recorded)
        status = ts_event_record(self->event, stream, &err);
    CORE_END_USE(state);
    if (status == TS_OK)
        return (PyObject *)self;
    Py_DECREF(self);
    return core_raise(state, &err);
}

static PyObject *event_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"device", NULL};
    PyObject *name = Py_None;
    ts_device *device;
    core_state *state = core_state_of_type(type);
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Event", names, &name) ||
        core_device_of(state, name, &device) < 0)
        return NULL;
    return core_event_new(state, type, device, NULL, 0, false);
}

/* _create(device, flags) */
static PyObject *event_create(PyObject *type, PyObject *const *args, Py_ssize_t n)
{
    ts_device *device;
    core_state *state = core_state_of_type((PyTypeObject *)type);
    if (n != 2) {
        PyErr_SetString(PyExc_TypeError, "_create(device, flags) takes 2 arguments");
        return NULL;
    }
    unsigned long flags = PyLong_AsUnsignedLong(args[1]);
    if (PyErr_Occurred() || core_device_from(state, args[0], &device) < 0)
        return NULL;
    return core_event_new(state, (PyTypeObject *)type, device, NULL, (uint32_t)flags, false);
}

/* _adopt(device, handle, flags): takes an event that the driver has made. */
static PyObject *event_adopt(PyObject *type, PyObject *const *args, Py_ssize_t n)
{
    ts_device *device;
    ts_error err;
    core_state *state = core_state_of_type((PyTypeObject *)type);
    if (n != 3) {
        PyErr_SetString(PyExc_TypeError, "_adopt(device, handle, flags) takes 3 arguments");
        return NULL;
    }
    unsigned long long handle = PyLong_AsUnsignedLongLong(args[1]);
    unsigned long flags = PyErr_Occurred() ? 0 : PyLong_AsUnsignedLong(args[2]);
    if (PyErr_Occurred() || core_device_from(state, args[0], &device) < 0)
        return NULL;
    core_event *self = event_alloc(state, (PyTypeObject *)type, device);
    if (!self || ts_event_adopt(device, (uintptr_t)handle, (uint32_t)flags, &self->event, &err) == TS_OK)
        return (PyObject *)self;
    Py_DECREF(self);
    return core_raise(state, &err);
}

static void event_destroy(void *event)
{
    ts_event_destroy(event);
}

static void event_end(core_event *event)
{
    ts_event *raw = CORE_TAKE(event->event, NULL);
    if (raw)
        core_end(event->state, raw, event_destroy, &event->ended);
}

static int event_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((core_event *)self)->state->module);
    Py_VISIT(((core_event *)self)->owner);
    return 0;
}

static void event_dealloc(PyObject *self)
{
    core_event *event = (core_event *)self;
    PyObject_GC_UnTrack(self);
    if (event->weakrefs)
        PyObject_ClearWeakRefs(self);
    event_end(event);
    core_end_kept(event->ended, event_destroy);
    Py_XDECREF(event->owner);
    core_live(event->state, CORE_LIVE_EVENT, -1);
    core_free(self, event->state->module);
}

static PyObject *event_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    event_end((core_event *)self);
    Py_RETURN_NONE;
}

/* ---- methods ----------------------------------------------------------------------------------------*/

static PyObject *event_record(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    core_event *event = (core_event *)self;
    ts_stream room;
    const ts_stream *stream = NULL;
    ts_status status;
    ts_error err;
    if (n > 1) {
        PyErr_SetString(PyExc_TypeError, "record(stream=None) takes at most one argument");
        return NULL;
    }
    if (n == 1 && core_stream_of(event->state, args[0], &room, &stream) < 0)
        return NULL;
    ts_event *raw = core_event_get(self); /* last: a stream of another library runs Python, which may close */
    if (!raw)
        return NULL;
    if (stream == &room && ts_stream_find(event->device, room.native, &room, &err) != TS_OK)
        return core_raise(event->state, &err); /* another library's: of the event's device */
    CORE_BEGIN_USE(event->state, raw, stream); /* the driver waits while the stream's queue is full */
    status = ts_event_record(raw, stream, &err);
    CORE_END_USE(event->state);
    return status == TS_OK ? Py_NewRef(Py_None) : core_raise(event->state, &err);
}

static PyObject *event_sync(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_event *event = (core_event *)self;
    ts_event *raw = core_event_get(self);
    if (!raw || core_event_wait(event->state, event->device, raw) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *event_between(PyObject *begin, PyObject *end)
{
    core_event *event = (core_event *)begin;
    ts_event *from = core_event_get(begin), *to = from ? core_event_get(end) : NULL;
    double ns;
    ts_error err;
    if (!to)
        return NULL;
    ts_status status;
    CORE_BEGIN_USE(event->state, from, to);
    status = ts_event_elapsed(from, to, &ns, &err);
    CORE_END_USE(event->state);
    return status == TS_OK ? PyFloat_FromDouble(ns * 1e-6) : core_raise(event->state, &err);
}

static PyObject *event_elapsed(PyObject *self, PyObject *end)
{
    if (core_is(end, ((core_event *)self)->state->event_type))
        return event_between(self, end);
    PyErr_Format(PyExc_TypeError, "elapsed_ms() takes an Event, not a %.200s", Py_TYPE(end)->tp_name);
    return NULL;
}

static bool event_is(PyObject *object)
{
    core_state *state = core_state_of_type(Py_TYPE(object));
    return state && core_is(object, state->event_type);
}

/* end - begin: milliseconds */
static PyObject *event_subtract(PyObject *end, PyObject *begin)
{
    if (!event_is(end) || !event_is(begin))
        Py_RETURN_NOTIMPLEMENTED;
    return event_between(begin, end);
}

static PyObject *event_get_done(PyObject *self, void *unused)
{
    (void)unused;
    ts_event *raw = core_event_get(self);
    core_state *state = ((core_event *)self)->state;
    bool done;
    ts_status status;
    ts_error err;
    if (!raw)
        return NULL;
    CORE_BEGIN_USE(state, raw, NULL);
    status = ts_event_done(raw, &done, &err);
    CORE_END_USE(state);
    return status == TS_OK ? PyBool_FromLong(done) : core_raise(state, &err);
}

static PyObject *event_get_handle(PyObject *self, void *unused)
{
    (void)unused;
    const ts_event *event = CORE_GET(((core_event *)self)->event);
    return PyLong_FromUnsignedLongLong(event ? ts_event_native(event) : 0);
}

static PyObject *event_get_flags(PyObject *self, void *unused)
{
    (void)unused;
    const ts_event *event = core_event_get(self);
    return event ? PyLong_FromUnsignedLong(ts_event_flags_of(event)) : NULL;
}

static PyObject *event_get_device(PyObject *self, void *unused)
{
    (void)unused;
    return core_device_number(((core_event *)self)->device);
}

static PyObject *event_get_owner(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *owner = ((core_event *)self)->owner;
    return Py_NewRef(owner ? owner : Py_None);
}

static PyMethodDef event_methods[] = {
    {"record", (PyCFunction)(void (*)(void))event_record, METH_FASTCALL,
     "record(stream=None, /)\n--\n\nMarks this point of the stream."},
    {"synchronize", event_sync, METH_NOARGS, "Waits for the last record."},
    {"sync", event_sync, METH_NOARGS, "Waits for the last record."},
    {"elapsed_ms", event_elapsed, METH_O,
     "elapsed_ms(end, /)\n--\n\nDevice time in milliseconds from this event to a later one; both must be done."},
    {"close", event_close, METH_NOARGS, "Ends the event; pending records still happen."},
    {"_create", (PyCFunction)(void (*)(void))event_create, METH_FASTCALL | METH_CLASS, NULL},
    {"_adopt", (PyCFunction)(void (*)(void))event_adopt, METH_FASTCALL | METH_CLASS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef event_getset[] = {
    {"done", event_get_done, NULL, "Whether the last record has happened; never waits.", NULL},
    {"is_done", event_get_done, NULL, "Whether the last record has happened; never waits.", NULL},
    {"handle", event_get_handle, NULL, "The driver's handle; on the CPU an address; 0 when closed.", NULL},
    {"_address", event_get_handle, NULL, "The same for all subclasses.", NULL},
    {"_flags", event_get_flags, NULL, "1 sleeps while waiting, 2 not timed, 4 for other processes.", NULL},
    {"_context", event_get_owner, NULL, NULL, NULL},
    {"_device", event_get_device, NULL, "kind << 8 | ordinal of the device.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef event_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(core_event, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot event_slots[] = {
    {Py_tp_doc, "Event(device=None)\n--\n\nA point in a stream to wait for or to time."},
    {Py_tp_new, event_new},
    {Py_tp_dealloc, event_dealloc},
    {Py_tp_traverse, event_traverse},
    {Py_tp_methods, event_methods},
    {Py_tp_getset, event_getset},
    {Py_tp_members, event_members},
    {Py_nb_subtract, event_subtract},
    {Py_am_await, core_await},
    {0, NULL},
};
static PyType_Spec event_spec = {"tessera._core.Event", sizeof(core_event), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, event_slots};

int core_event_init(PyObject *module, core_state *state)
{
    state->event_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &event_spec, NULL);
    if (!state->event_type || PyModule_AddType(module, state->event_type) < 0)
        return -1;
    /* the class of the events that Stream.record() makes; subclasses have their own */
    return PyObject_SetAttrString((PyObject *)state->stream_type, "_event_class", (PyObject *)state->event_type);
}
