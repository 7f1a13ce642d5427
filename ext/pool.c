/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools: stream-ordered memory of the driver by handle, or of a CPU device. Base of the memory resources of
 * tessera.core that allocate from a pool; the pool's own life (who destroys it) is theirs.
 */
#include "host.h"
#include <structmember.h>

/* _open(device, pool, device_id, access, buffer class) */
static PyObject *pool_open(PyObject *self, PyObject *args)
{
    core_pool *pool = (core_pool *)self;
    PyObject *device, *buffers;
    unsigned long long handle;
    int id;
    unsigned access;
    if (!PyArg_ParseTuple(args, "OKiIO!", &device, &handle, &id, &access, &PyType_Type, &buffers))
        return NULL;
    if (!PyType_IsSubtype((PyTypeObject *)buffers, pool->state->buffer_type)) {
        PyErr_SetString(PyExc_TypeError, "the class of a pool's buffers must derive from Buffer");
        return NULL;
    }
    ts_device *on;
    if (core_device_from(pool->state, device, &on) < 0)
        return NULL;
    pool->pool = (uintptr_t)handle;
    pool->device_id = id;
    pool->access = access | CORE_ACCESS_KNOWN;
    core_part_set(self, (PyObject **)&pool->buffers, Py_NewRef(buffers));
    CORE_SET(pool->device, on); /* last: the others are there */
    Py_RETURN_NONE;
}

static PyObject *pool_shut(PyObject *self, PyObject *unused)
{
    (void)unused;
    CORE_SET(((core_pool *)self)->device, NULL); /* the handle stays, for who has looked at the device before */
    Py_RETURN_NONE;
}

static PyObject *pool_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs;
    core_pool *self = (core_pool *)type->tp_alloc(type, 0);
    if (self) {
        self->state = core_hold(core_state_of_type(type));
        core_live(self->state, CORE_LIVE_POOL, 1);
    }
    return (PyObject *)self;
}

static int pool_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((core_pool *)self)->state->module);
    Py_VISIT(((core_pool *)self)->buffers);
    return 0;
}

static void pool_dealloc(PyObject *self)
{
    core_pool *pool = (core_pool *)self;
    PyObject_GC_UnTrack(self);
    if (pool->weakrefs)
        PyObject_ClearWeakRefs(self);
    Py_XDECREF(pool->buffers);
    core_live(pool->state, CORE_LIVE_POOL, -1);
    core_free(self, pool->state->module);
}

static int pool_check(const ts_device *device)
{
    if (device)
        return 0;
    PyErr_SetString(PyExc_RuntimeError, "the memory resource is closed; make a new one");
    return -1;
}

/* ---- allocation ---------------------------------------------------------------------------------------*/

static int pool_size(const char *method, PyObject *object, uint64_t *out)
{
    if (!object) {
        PyErr_Format(PyExc_TypeError, "%s() needs a size in bytes", method);
        return -1;
    }
    if (!PyIndex_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s() takes its size, a number of bytes, as an int, not as the %.200s %R", method,
                     Py_TYPE(object)->tp_name, object);
        return -1;
    }
    PyObject *index = PyNumber_Index(object);
    int overflow = 0;
    long long bytes = index ? PyLong_AsLongLongAndOverflow(index, &overflow) : -1;
    Py_XDECREF(index);
    *out = (uint64_t)bytes;
    if (overflow > 0)
        PyErr_Format(PyExc_OverflowError, "cannot %s %R bytes; the size must be below 2**63", method, object);
    else if (bytes < 0 && index)
        PyErr_Format(PyExc_ValueError, "cannot %s %R bytes; the size must be 0 or more", method, object);
    return bytes < 0 ? -1 : 0;
}

/* The pool may be closed while the GIL is dropped: what is needed afterwards is read before. */
static int pool_fill(core_pool *pool, ts_device *device, core_buffer *buffer, const ts_stream *stream, uint64_t bytes)
{
    void *memory = NULL;
    ts_error err;
    ts_status status = TS_OK;
    uintptr_t handle = pool->pool;
    if (bytes) {
        CORE_BEGIN_USE(pool->state, stream, NULL); /* growing a pool maps memory, which takes long */
        status = handle ? ts_pool_alloc(device, handle, stream, bytes, &memory, &err)
                        : ts_mem_alloc(device, stream, bytes, &memory, &err);
        CORE_END_USE(pool->state);
    }
    if (status != TS_OK) {
        core_raise(pool->state, &err);
        return -1;
    }
    buffer->device = device;
    buffer->address = (uint64_t)(uintptr_t)memory;
    buffer->bytes = bytes;
    buffer->device_id = pool->device_id;
    buffer->access = pool->access;
    buffer->epoch = ts_device_epoch(device);
    buffer->release = !memory ? CORE_RELEASE_NOTHING : handle ? CORE_RELEASE_POOL : CORE_RELEASE_MEMORY;
    return 0;
}

/* An empty buffer of the pool's class. */
static core_buffer *pool_buffer(core_pool *pool)
{
    PyObject *class = core_part((PyObject *)pool, (PyObject **)&pool->buffers);
    core_buffer *buffer = core_buffer_new(pool->state, (PyTypeObject *)class);
    Py_XDECREF(class);
    return buffer;
}

static PyObject *pool_allocate(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static const char *const known[] = {"size", "stream"};
    core_pool *pool = (core_pool *)self;
    PyObject *given[2] = {NULL, NULL};
    uint64_t bytes;
    ts_device *device = CORE_GET(pool->device), *own = device;
    ts_stream room;
    const ts_stream *stream;
    if (core_named_args("allocate", known, 2, args, n, names, given) < 0 || pool_check(own) < 0 ||
        pool_size("allocate", given[0], &bytes) < 0 ||
        core_stream_for(pool->state, given[1] ? given[1] : Py_None, &device, &room, &stream) < 0 ||
        pool_check(CORE_GET(pool->device)) < 0) /* again: size and stream may have run Python */
        return NULL;
    if (pool->access & CORE_MAPPED) {
        PyErr_SetString(PyExc_TypeError, "Cannot allocate from a mapped IPC-enabled memory resource");
        return NULL;
    }
    core_buffer *buffer = pool_buffer(pool);
    if (!buffer)
        return NULL;
    if (pool_fill(pool, own, buffer, stream, bytes) < 0) {
        Py_DECREF(buffer);
        return NULL;
    }
    buffer->resource = Py_NewRef(self);
    buffer->stream = given[1] ? core_order_of(pool->state, given[1]) : NULL;
    if (!PyErr_Occurred())
        return (PyObject *)buffer;
    Py_DECREF(buffer);
    return NULL;
}

/* _adopt(address, size, owner): memory of this pool that another process allocated; None frees it with the buffer. */
static PyObject *pool_adopt(PyObject *self, PyObject *args)
{
    core_pool *pool = (core_pool *)self;
    unsigned long long address, bytes;
    PyObject *owner;
    ts_device *device = CORE_GET(pool->device);
    if (!PyArg_ParseTuple(args, "KKO", &address, &bytes, &owner) || pool_check(device) < 0)
        return NULL;
    core_buffer *buffer = pool_buffer(pool);
    if (!buffer)
        return NULL;
    buffer->device = device;
    buffer->address = address;
    buffer->bytes = bytes;
    buffer->device_id = pool->device_id;
    buffer->access = pool->access | CORE_MAPPED;
    buffer->epoch = ts_device_epoch(device);
    buffer->release = owner == Py_None ? CORE_RELEASE_POOL : CORE_RELEASE_NOTHING;
    buffer->owner = owner == Py_None ? NULL : Py_NewRef(owner);
    buffer->resource = Py_NewRef(self);
    return (PyObject *)buffer;
}

/* deallocate(address, size, *, stream=None): what allocate() gave, by address. */
static PyObject *pool_deallocate(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static const char *const known[] = {"ptr", "size", "stream"};
    core_pool *pool = (core_pool *)self;
    PyObject *given[3] = {NULL, NULL, NULL};
    uint64_t bytes;
    ts_device *device = CORE_GET(pool->device);
    ts_stream room;
    const ts_stream *stream;
    ts_error err;
    if (core_named_args("deallocate", known, 3, args, n, names, given) < 0 || pool_check(device) < 0 ||
        pool_size("deallocate", given[1], &bytes) < 0)
        return NULL;
    if (!given[0])
        return PyErr_Format(PyExc_TypeError, "deallocate() needs the address that allocate() gave, as ptr");
    uint64_t address;
    if (core_address_of(given[0], &address) < 0 ||
        core_stream_for(pool->state, given[2] ? given[2] : Py_None, &device, &room, &stream) < 0)
        return NULL;
    void *memory = (void *)(uintptr_t)address;
    ts_status status = TS_OK;
    CORE_BEGIN_USE(pool->state, stream, NULL);
    if (!pool->pool)
        ts_mem_free(device, stream, memory, bytes);
    else if (memory)
        status = ts_pool_free(device, stream, memory, &err);
    CORE_END_USE(pool->state);
    return status == TS_OK ? Py_NewRef(Py_None) : core_raise(pool->state, &err);
}

static PyObject *pool_get_handle(PyObject *self, void *unused)
{
    (void)unused;
    const core_pool *pool = (core_pool *)self;
    return PyLong_FromUnsignedLongLong(CORE_GET(pool->device) ? pool->pool : 0);
}

static PyObject *pool_get_device(PyObject *self, void *unused)
{
    (void)unused;
    core_pool *pool = (core_pool *)self;
    const ts_device *device = CORE_GET(pool->device);
    return device ? core_device_number(device) : Py_NewRef(Py_None);
}

static PyMethodDef pool_methods[] = {
    {"_open", pool_open, METH_VARARGS, NULL},
    {"_shut", pool_shut, METH_NOARGS, NULL},
    {"_adopt", pool_adopt, METH_VARARGS, NULL},
    {"allocate", (PyCFunction)(void (*)(void))pool_allocate, METH_FASTCALL | METH_KEYWORDS,
     "allocate(size, *, stream=None)\n--\n\nMemory in the order of the stream (None: the device's default stream), as "
     "a Buffer."},
    {"deallocate", (PyCFunction)(void (*)(void))pool_deallocate, METH_FASTCALL | METH_KEYWORDS,
     "deallocate(ptr, size, *, stream=None)\n--\n\nGives memory back in the order of the stream. Buffers do this by "
     "themselves."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef pool_getset[] = {
    {"_handle", pool_get_handle, NULL, NULL, NULL},
    {"_device", pool_get_device, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef pool_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(core_pool, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot pool_slots[] = {
    {Py_tp_doc, "Stream-ordered memory; base of the pools of tessera.core."},
    {Py_tp_new, pool_new},
    {Py_tp_dealloc, pool_dealloc},
    {Py_tp_traverse, pool_traverse},
    {Py_tp_methods, pool_methods},
    {Py_tp_getset, pool_getset},
    {Py_tp_members, pool_members},
    {0, NULL},
};
static PyType_Spec pool_spec = {"tessera._core.Pool", sizeof(core_pool), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, pool_slots};

int core_pool_init(PyObject *module, core_state *state)
{
    state->pool_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &pool_spec, NULL);
    return state->pool_type ? PyModule_AddType(module, state->pool_type) : -1;
}
