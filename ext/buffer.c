/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffer: memory with an address, a size and somebody who frees it. The base of tessera.core.Buffer, which adds
 * what is asked rarely. Memory that is lent (memoryview, DLPack) outlives close() until the last lender ends.
 */
#include "host.h"
#include "tessera/array.h"
#include <string.h>
#include <structmember.h>

/* ---- life -------------------------------------------------------------------------------------------*/

core_buffer *core_buffer_new(core_state *state, PyTypeObject *type)
{
    core_buffer *self = (core_buffer *)type->tp_alloc(type, 0);
    if (self) {
        self->state = core_hold(state);
        core_live(state, CORE_LIVE_BUFFER, 1);
    }
    return self;
}

static bool buffer_is_closed(const core_buffer *buffer)
{
    return CORE_GET(buffer->lent) & CORE_BUFFER_CLOSED;
}

int core_buffer_address(const core_buffer *buffer, uint64_t *out)
{
    *out = CORE_GET(buffer->address);
    if (buffer_is_closed(buffer))
        PyErr_SetString(PyExc_RuntimeError, "the buffer is closed: its memory was given back");
    else if (buffer->device && buffer->release != CORE_RELEASE_NOTHING &&
             buffer->epoch != ts_device_epoch(buffer->device))
        PyErr_SetString(PyExc_RuntimeError, "the buffer was lost when its device was reset");
    else
        return 0;
    return -1;
}

/* What fails while memory is given back is a warning: the caller may be a destructor. */
static void buffer_warn(core_buffer *self)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *module = PyImport_ImportModule("tessera.core._errors");
    PyObject *warning = module ? PyObject_GetAttrString(module, "CUDAWarning") : NULL;
    if (!warning)
        PyErr_Clear();
    if (PyErr_WarnFormat(warning ? warning : PyExc_RuntimeWarning, 1, "a buffer of %llu bytes at %p was not given "
                         "back: %S", (unsigned long long)self->bytes, (void *)(uintptr_t)self->address,
                         value ? value : Py_None) < 0)
        core_unraisable((PyObject *)self);
    Py_XDECREF(module);
    Py_XDECREF(warning);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

static void buffer_release_native(core_buffer *self)
{
    ts_device *device = self->device;
    ts_stream room;
    const ts_stream *stream = NULL;
    ts_error err;
    ts_status status = TS_OK;
    bool ending = !self->state->stream_type; /* the interpreter has taken the module down */
    PyObject *order = core_part((PyObject *)self, &self->stream);
    if (!ending && core_stream_for(self->state, order ? order : Py_None, &device, &room, &stream) < 0) {
        PyErr_Clear(); /* closed in the meantime: after all that it was given, by the default stream */
        stream = NULL;
    }
    void *memory = (void *)(uintptr_t)self->address;
    if (self->release == CORE_RELEASE_MEMORY)
        ts_mem_free(self->device, stream, memory, self->bytes);
    else {
        CORE_BEGIN_USE(self->state, stream, NULL);
        status = ts_pool_free(self->device, stream, memory, &err);
        CORE_END_USE(self->state);
    }
    Py_XDECREF(order);
    if (status != TS_OK) {
        core_raise(self->state, &err);
        buffer_warn(self);
    }
}

/* resource.deallocate(address, size, stream=stream or None) */
static void buffer_release_python(core_buffer *self)
{
    if (!self->state->name_deallocate)
        return; /* the interpreter has taken the module down */
    PyObject *args[4] = {core_part((PyObject *)self, &self->resource), PyLong_FromUnsignedLongLong(self->address),
                         PyLong_FromUnsignedLongLong(self->bytes), NULL};
    PyObject *stream = core_part((PyObject *)self, &self->stream);
    if (!stream)
        stream = PyObject_CallMethod((PyObject *)self, "_default_stream", NULL);
    args[3] = stream;
    PyObject *done = NULL;
    if (args[0] && args[1] && args[2] && stream)
        done = PyObject_VectorcallMethod(self->state->name_deallocate, args, 3, self->state->stream_names);
    if (!done)
        buffer_warn(self);
    Py_XDECREF(done);
    for (int i = 0; i < 4; i++)
        Py_XDECREF(args[i]);
}

/* Gives the memory back; the object stays closed. An exception that is set on entry is kept. Called once: by who closes
 * a buffer that is not lent, or by the last lender of a closed one. */
static void buffer_release(core_buffer *self)
{
    PyObject *type, *value, *trace;
    core_release how = self->release;
    PyErr_Fetch(&type, &value, &trace);
    bool lost = self->device && self->epoch != ts_device_epoch(self->device);
    if (how == CORE_RELEASE_PYTHON)
        buffer_release_python(self);
    else if (how != CORE_RELEASE_NOTHING && !lost)
        buffer_release_native(self);
    self->release = CORE_RELEASE_NOTHING;
    CORE_SET(self->address, 0);
    core_part_set((PyObject *)self, &self->resource, NULL);
    core_part_set((PyObject *)self, &self->owner, NULL);
    core_part_set((PyObject *)self, &self->stream, NULL);
    PyErr_Restore(type, value, trace);
}

/* The memory stays until buffer_unlend; 0, or -1 with exception: it was given back, or was lost. */
static int buffer_lend(core_buffer *self)
{
    uint64_t address;
    uint32_t lent = CORE_GET(self->lent);
    do
        if (core_buffer_address(self, &address) < 0)
            return -1;
    while (!__atomic_compare_exchange_n(&self->lent, &lent, lent + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return 0;
}

static void buffer_unlend(core_buffer *self)
{
    if (__atomic_sub_fetch(&self->lent, 1, __ATOMIC_ACQ_REL) == CORE_BUFFER_CLOSED)
        buffer_release(self);
}

static void buffer_shut(core_buffer *self)
{
    if (__atomic_fetch_or(&self->lent, CORE_BUFFER_CLOSED, __ATOMIC_ACQ_REL) == 0)
        buffer_release(self);
}

/* Python code that frees runs while the object is whole; native memory needs no such care. */
static void buffer_finalize(PyObject *self)
{
    core_buffer *buffer = (core_buffer *)self;
    if (buffer->release == CORE_RELEASE_PYTHON && !buffer_is_closed(buffer))
        buffer_shut(buffer);
}

static int buffer_traverse(PyObject *self, visitproc visit, void *arg)
{
    core_buffer *buffer = (core_buffer *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((core_buffer *)self)->state->module);
    Py_VISIT(buffer->resource);
    Py_VISIT(buffer->owner);
    Py_VISIT(buffer->stream);
    return 0;
}

static int buffer_clear(PyObject *self)
{
    buffer_shut((core_buffer *)self);
    return 0;
}

static void buffer_dealloc(PyObject *self)
{
    core_buffer *buffer = (core_buffer *)self;
    if (buffer->release == CORE_RELEASE_PYTHON && PyObject_CallFinalizerFromDealloc(self) < 0)
        return;
    PyObject_GC_UnTrack(self);
    if (buffer->weakrefs)
        PyObject_ClearWeakRefs(self);
    buffer_release(buffer);
    core_live(buffer->state, CORE_LIVE_BUFFER, -1);
    core_free(self, buffer->state->module);
}

/* _wrap(device or None, address, size, resource, owner): memory that somebody else has made; a resource is asked
 * to free it. What the memory can do is found out when it is asked for. */
static PyObject *buffer_wrap(PyObject *type, PyObject *const *args, Py_ssize_t n)
{
    core_state *state = core_state_of_type((PyTypeObject *)type);
    ts_device *device = NULL;
    if (n != 5) {
        PyErr_SetString(PyExc_TypeError, "_wrap(device, address, size, resource, owner) takes 5 arguments");
        return NULL;
    }
    uint64_t address;
    long long bytes = core_address_of(args[1], &address) < 0 ? 0 : PyLong_AsLongLong(args[2]);
    if (!PyErr_Occurred() && bytes < 0)
        PyErr_Format(PyExc_ValueError, "a buffer cannot have %R bytes; the size must be 0 or more", args[2]);
    if (PyErr_Occurred() || (args[0] != Py_None && core_device_from(state, args[0], &device) < 0))
        return NULL;
    core_buffer *self = core_buffer_new(state, (PyTypeObject *)type);
    if (!self)
        return NULL;
    self->device = device;
    self->epoch = device ? ts_device_epoch(device) : 0;
    self->device_id = -1;
    self->address = address;
    self->bytes = (uint64_t)bytes;
    self->release = args[3] != Py_None ? CORE_RELEASE_PYTHON : CORE_RELEASE_NOTHING;
    self->resource = args[3] == Py_None ? NULL : Py_NewRef(args[3]);
    self->owner = args[4] == Py_None ? NULL : Py_NewRef(args[4]);
    return (PyObject *)self;
}

/* _set_place(device or None, device_id, access): what was found out. */
static PyObject *buffer_set_place(PyObject *self, PyObject *args)
{
    core_buffer *buffer = (core_buffer *)self;
    PyObject *object;
    ts_device *device = NULL;
    int id;
    unsigned access;
    if (!PyArg_ParseTuple(args, "OiI", &object, &id, &access) ||
        (object != Py_None && core_device_from(buffer->state, object, &device) < 0))
        return NULL;
    CORE_SET(buffer->epoch, device ? ts_device_epoch(device) : 0);
    CORE_SET(buffer->device, device);
    CORE_SET(buffer->device_id, id);
    CORE_SET(buffer->access, access | CORE_ACCESS_KNOWN); /* last: the others are there */
    Py_RETURN_NONE;
}

/* _set_order(stream): the order in which the memory is given back. */
static PyObject *buffer_set_order(PyObject *self, PyObject *stream)
{
    core_buffer *buffer = (core_buffer *)self;
    core_part_set(self, &buffer->stream, stream == Py_None ? NULL : Py_NewRef(stream));
    Py_RETURN_NONE;
}

/* _set_memory(address, size): a resource has moved or grown the memory. */
static PyObject *buffer_set_memory(PyObject *self, PyObject *args)
{
    core_buffer *buffer = (core_buffer *)self;
    unsigned long long address, bytes;
    uint64_t now;
    if (!PyArg_ParseTuple(args, "KK", &address, &bytes) || core_buffer_address(buffer, &now) < 0)
        return NULL;
    if (CORE_GET(buffer->lent)) {
        PyErr_SetString(PyExc_BufferError, "the buffer is lent (memoryview or DLPack) and cannot move");
        return NULL;
    }
    CORE_SET(buffer->address, address);
    CORE_SET(buffer->bytes, bytes);
    Py_RETURN_NONE;
}

static PyObject *buffer_close(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static const char *const known[] = {"stream"};
    core_buffer *buffer = (core_buffer *)self;
    PyObject *stream = NULL;
    ts_device *device = buffer->device;
    ts_stream room;
    const ts_stream *order;
    if (core_named_args("close", known, 1, args, n, names, &stream) < 0)
        return NULL;
    if (buffer_is_closed(buffer))
        Py_RETURN_NONE;
    if (stream && stream != Py_None) {
        if (core_stream_for(buffer->state, stream, &device, &room, &order) < 0)
            return NULL;
        PyObject *order_of = core_order_of(buffer->state, stream);
        if (!order_of)
            return NULL;
        core_part_set(self, &buffer->stream, order_of);
    }
    buffer_shut(buffer); /* nothing where another thread was faster: the stream may have run Python */
    Py_RETURN_NONE;
}

static PyObject *buffer_exit(PyObject *self, PyObject *unused)
{
    (void)unused;
    return buffer_close(self, NULL, 0, NULL);
}

/* ---- what it is --------------------------------------------------------------------------------------*/

/* Asks _classify() once for memory whose access is not known. */
static int buffer_place(core_buffer *self)
{
    if (CORE_GET(self->access) & CORE_ACCESS_KNOWN)
        return 0;
    PyObject *done = PyObject_CallMethod((PyObject *)self, "_classify", NULL);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static PyObject *buffer_get_access(PyObject *self, void *bit)
{
    core_buffer *buffer = (core_buffer *)self;
    return buffer_place(buffer) < 0 ? NULL : PyBool_FromLong(buffer->access & (uint32_t)(uintptr_t)bit);
}

static PyObject *buffer_get_device_id(PyObject *self, void *unused)
{
    (void)unused;
    core_buffer *buffer = (core_buffer *)self;
    return buffer_place(buffer) < 0 ? NULL : PyLong_FromLong(buffer->device_id);
}

static PyObject *buffer_get_device(PyObject *self, void *unused)
{
    (void)unused;
    core_buffer *buffer = (core_buffer *)self;
    if (buffer_place(buffer) < 0)
        return NULL;
    return buffer->device ? core_device_number(buffer->device) : Py_NewRef(Py_None);
}

static PyObject *buffer_get_handle(PyObject *self, void *unused)
{
    (void)unused;
    core_buffer *buffer = (core_buffer *)self;
    return PyLong_FromUnsignedLongLong(buffer_is_closed(buffer) ? 0 : CORE_GET(buffer->address));
}

static PyObject *buffer_get_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((core_buffer *)self)->bytes);
}

static PyObject *buffer_get_object(PyObject *self, void *offset)
{
    core_buffer *buffer = (core_buffer *)self;
    PyObject *object = core_part(self, (PyObject **)((char *)self + (uintptr_t)offset));
    if (object && buffer_is_closed(buffer))
        Py_CLEAR(object);
    return object ? object : Py_NewRef(Py_None);
}

static PyObject *buffer_get_closed(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(buffer_is_closed((core_buffer *)self));
}

static Py_ssize_t buffer_length(PyObject *self)
{
    return (Py_ssize_t)((core_buffer *)self)->bytes;
}

/* The address of a buffer whose place is known. Finding the place runs Python, which may close the buffer. */
static int buffer_ready(core_buffer *self, uint64_t *address)
{
    return core_buffer_address(self, address) < 0 || buffer_place(self) < 0 ? -1 : core_buffer_address(self, address);
}

/* ---- copying and filling -------------------------------------------------------------------------------*/

/* The stream for work on this buffer; also its device where the buffer has none (host memory). */
static int buffer_stream(core_buffer *self, PyObject *object, ts_stream *room, const ts_stream **out)
{
    bool chosen = object && object != Py_None;
    ts_error err;
    if (buffer_place(self) < 0)
        return -1;
    ts_device *device = chosen ? NULL : self->device;
    bool unreachable = !device && !(self->access & CORE_DEVICE_ACCESS); /* for GPUs: the CPU does the work */
    if (!chosen && unreachable && ts_device_get(TS_DEVICE_CPU, 0, &device, &err) != TS_OK) {
        core_raise(self->state, &err);
        return -1;
    }
    return core_stream_for(self->state, object ? object : Py_None, &device, room, out);
}

static int buffer_copy(core_buffer *to, core_buffer *from, PyObject *order)
{
    uint64_t target, source;
    ts_stream room;
    const ts_stream *stream;
    ts_status status;
    ts_error err;
    if (buffer_ready(to, &target) < 0 || buffer_ready(from, &source) < 0)
        return -1;
    core_buffer *leader = to->device && !(ts_device_caps_of(to->device) & TS_DEVICE_HOST_MEMORY) ? to : from;
    if (to->bytes != from->bytes) {
        PyErr_Format(PyExc_ValueError, "buffer sizes mismatch: the source has %llu bytes, the destination %llu",
                     (unsigned long long)from->bytes, (unsigned long long)to->bytes);
        return -1;
    }
    if (buffer_stream(leader, order, &room, &stream) < 0 || core_buffer_address(to, &target) < 0 ||
        core_buffer_address(from, &source) < 0) /* again: a stream of another library runs Python too */
        return -1;
    uintptr_t native = stream->native;
    if (buffer_lend(to) < 0) /* close() of another thread then gives the memory back behind this */
        return -1;
    if (buffer_lend(from) < 0) {
        buffer_unlend(to);
        return -1;
    }
    CORE_BEGIN_USE(to->state, stream, NULL); /* one address space: the driver knows which side is the host */
    status = ts_mem_copy(stream, (void *)(uintptr_t)target, TS_MEM_DEVICE, (void *)(uintptr_t)source, TS_MEM_DEVICE,
                         from->bytes, &err);
    CORE_END_USE(to->state);
    buffer_unlend(to);
    buffer_unlend(from);
    if (status == TS_OK)
        return core_note_uses(to->state, native, (PyObject *[]){(PyObject *)to, (PyObject *)from}, 2);
    core_raise(to->state, &err);
    return -1;
}

static core_buffer *buffer_check(core_buffer *self, PyObject *other, const char *method)
{
    if (PyObject_TypeCheck(other, self->state->buffer_type))
        return (core_buffer *)other;
    PyErr_Format(PyExc_TypeError, "%s() takes a Buffer, not a %.200s", method, Py_TYPE(other)->tp_name);
    return NULL;
}

/* A new buffer as large as this one, of its own resource. */
static PyObject *buffer_twin(core_buffer *self, PyObject *stream)
{
    uint64_t address;
    if (core_buffer_address(self, &address) < 0)
        return NULL;
    PyObject *resource = core_part((PyObject *)self, &self->resource);
    if (!resource) {
        PyErr_SetString(PyExc_ValueError,
                        "copy_to() needs a destination: this buffer has no memory resource of its own");
        return NULL;
    }
    PyObject *method = PyObject_GetAttrString(resource, "allocate");
    Py_DECREF(resource);
    PyObject *size = PyLong_FromUnsignedLongLong(self->bytes), *made = NULL;
    PyObject *args[2] = {size, stream ? stream : Py_None};
    if (method && size)
        made = PyObject_Vectorcall(method, args, 1, self->state->stream_names);
    Py_XDECREF(method);
    Py_XDECREF(size);
    return made;
}

static PyObject *buffer_copy_to(PyObject *object, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static const char *const known[] = {"dst", "stream"};
    core_buffer *self = (core_buffer *)object;
    PyObject *given[2] = {NULL, NULL};
    if (core_named_args("copy_to", known, 2, args, n, names, given) < 0)
        return NULL;
    PyObject *target = given[0] && given[0] != Py_None ? Py_NewRef(given[0]) : buffer_twin(self, given[1]);
    core_buffer *to = target ? buffer_check(self, target, "copy_to") : NULL;
    if (to && buffer_copy(to, self, given[1]) == 0)
        return target;
    Py_XDECREF(target);
    return NULL;
}

static PyObject *buffer_copy_from(PyObject *object, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static const char *const known[] = {"src", "stream"};
    core_buffer *self = (core_buffer *)object;
    PyObject *given[2] = {NULL, NULL};
    if (core_named_args("copy_from", known, 2, args, n, names, given) < 0)
        return NULL;
    core_buffer *from = buffer_check(self, given[0] ? given[0] : Py_None, "copy_from");
    return from && buffer_copy(self, from, given[1]) == 0 ? Py_NewRef(Py_None) : NULL;
}

/* An int of 0 to 255 is a byte; otherwise 1, 2 or 4 bytes of an object that lends them (bytes, NumPy scalar). */
static int buffer_pattern(PyObject *value, uint64_t *pattern, uint32_t *width)
{
    Py_buffer view;
    *pattern = 0;
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "fill() needs a value: an int of 0 to 255, or 1, 2 or 4 bytes");
        return -1;
    }
    if (PyLong_Check(value)) {
        long number = PyLong_AsLong(value);
        *width = 1;
        *pattern = (uint64_t)number;
        if (!PyErr_Occurred() && (number < 0 || number > 255))
            PyErr_Format(PyExc_OverflowError,
                         "fill() takes an int of 0 to 255, not %R; pass bytes or a NumPy scalar for "
                                              "wider patterns", value);
        return PyErr_Occurred() ? -1 : 0;
    }
    if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) < 0) {
        PyErr_Format(PyExc_TypeError, "fill() takes an int or 1, 2 or 4 bytes, not a %.200s", Py_TYPE(value)->tp_name);
        return -1;
    }
    *width = (uint32_t)view.len;
    bool fits = view.len == 1 || view.len == 2 || view.len == 4;
    if (fits)
        memcpy(pattern, view.buf, (size_t)view.len);
    else
        PyErr_Format(PyExc_ValueError, "fill() takes a pattern of 1, 2 or 4 bytes, not the %zd of a %.200s; "
                                       "pass a NumPy scalar, or use copy_from_host()", view.len,
                                           Py_TYPE(value)->tp_name);
    PyBuffer_Release(&view);
    return fits ? 0 : -1;
}

static PyObject *buffer_fill(PyObject *object, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static const char *const known[] = {"value", "stream"};
    core_buffer *self = (core_buffer *)object;
    PyObject *given[2] = {NULL, NULL};
    uint64_t pattern, address;
    uint32_t width;
    ts_stream room;
    const ts_stream *stream;
    ts_status status;
    ts_error err;
    if (core_named_args("fill", known, 2, args, n, names, given) < 0 ||
        buffer_pattern(given[0], &pattern, &width) < 0 ||
        buffer_ready(self, &address) < 0 || buffer_stream(self, given[1], &room, &stream) < 0 ||
        core_buffer_address(self, &address) < 0)
        return NULL;
    if (self->bytes % width) {
        PyErr_Format(PyExc_ValueError, "a buffer of %llu bytes cannot be filled with elements of %u bytes",
                     (unsigned long long)self->bytes, width);
        return NULL;
    }
    uintptr_t native = stream->native;
    if (buffer_lend(self) < 0)
        return NULL;
    CORE_BEGIN_USE(self->state, stream, NULL);
    status = ts_mem_fill(stream, (void *)(uintptr_t)address, pattern, width, self->bytes / width, &err);
    CORE_END_USE(self->state);
    buffer_unlend(self);
    if (status != TS_OK)
        return core_raise(self->state, &err);
    return core_note_uses(self->state, native, &object, 1) < 0 ? NULL : Py_NewRef(Py_None);
}

/* ---- lending -------------------------------------------------------------------------------------------*/

static int buffer_get_view(PyObject *object, Py_buffer *view, int flags)
{
    core_buffer *self = (core_buffer *)object;
    uint64_t address;
    view->obj = NULL;
    if (buffer_ready(self, &address) < 0)
        return -1;
    if (!(self->access & CORE_HOST_ACCESS)) {
        PyErr_SetString(PyExc_BufferError, "the buffer is device memory, which the host cannot read; copy it to a "
                                           "host-accessible buffer first");
        return -1;
    }
    if (buffer_lend(self) < 0)
        return -1;
    if (PyBuffer_FillInfo(view, object, (void *)(uintptr_t)address, (Py_ssize_t)self->bytes, 0, flags) == 0)
        return 0;
    buffer_unlend(self);
    return -1;
}

static void buffer_end_view(PyObject *object, Py_buffer *view)
{
    (void)view;
    buffer_unlend((core_buffer *)object);
}

static PyObject *buffer_cuda_array(PyObject *object, void *unused)
{
    (void)unused;
    core_buffer *self = (core_buffer *)object;
    uint64_t address;
    if (buffer_ready(self, &address) < 0)
        return NULL;
    if (!(self->access & CORE_DEVICE_ACCESS) || !self->device ||
        ts_device_caps_of(self->device) & TS_DEVICE_HOST_MEMORY) {
        PyErr_SetString(PyExc_AttributeError, "the buffer is not memory of a GPU: it has no __cuda_array_interface__");
        return NULL;
    }
    return Py_BuildValue("{s:(K),s:s,s:(KO),s:i,s:O,s:O}", "shape", (unsigned long long)self->bytes, "typestr", "|u1",
                         "data", (unsigned long long)address, Py_False, "version", 3, "strides", Py_None, "stream",
                         Py_None);
}

/* What DLPack lends: freed with the tensor, and one of the buffer's exports. */
typedef struct buffer_loan {
    union {
        ts_dl_managed plain;
        ts_dl_managed_versioned versioned;
    } tensor;
    int64_t shape, stride;
    core_buffer *buffer;
} buffer_loan;

static void buffer_end_loan(buffer_loan *loan)
{
    if (Py_IsInitialized()) {
        PyGILState_STATE gil = PyGILState_Ensure();
        buffer_unlend(loan->buffer);
        Py_DECREF(loan->buffer);
        PyGILState_Release(gil);
    }
    free(loan);
}

static void buffer_end_plain(ts_dl_managed *managed)
{
    buffer_end_loan(managed->context);
}

static void buffer_end_versioned(ts_dl_managed_versioned *managed)
{
    buffer_end_loan(managed->context);
}

/* _dlpack(device type, device id, versioned): a tensor of int8. */
static PyObject *buffer_dlpack(PyObject *object, PyObject *args)
{
    core_buffer *self = (core_buffer *)object;
    int type, id, versioned;
    uint64_t address;
    if (!PyArg_ParseTuple(args, "iip", &type, &id, &versioned) || core_buffer_address(self, &address) < 0 ||
        buffer_lend(self) < 0)
        return NULL;
    buffer_loan *loan = calloc(1, sizeof *loan);
    if (!loan) {
        buffer_unlend(self);
        return PyErr_NoMemory();
    }
    *loan = (buffer_loan){.shape = (int64_t)self->bytes, .stride = 1, .buffer = self};
    ts_dl_tensor *tensor = versioned ? &loan->tensor.versioned.tensor : &loan->tensor.plain.tensor;
    *tensor = (ts_dl_tensor){.data = (void *)(uintptr_t)address, .device = {type, id}, .ndim = 1,
                             .dtype = {0, 8, 1}, .shape = &loan->shape, .strides = &loan->stride};
    if (versioned) {
        loan->tensor.versioned.major = 1;
        loan->tensor.versioned.context = loan;
        loan->tensor.versioned.deleter = buffer_end_versioned;
    } else {
        loan->tensor.plain.context = loan;
        loan->tensor.plain.deleter = buffer_end_plain;
    }
    Py_INCREF(self);
    return core_capsule_new(&loan->tensor, versioned);
}

static PyMethodDef buffer_methods[] = {
    {"copy_to", (PyCFunction)(void (*)(void))buffer_copy_to, METH_FASTCALL | METH_KEYWORDS,
     "copy_to(dst=None, *, stream=None)\n--\n\nCopies to another buffer of the same size, or to a new one of the same "
     "resource; returns it."},
    {"copy_from", (PyCFunction)(void (*)(void))buffer_copy_from, METH_FASTCALL | METH_KEYWORDS,
     "copy_from(src, *, stream=None)\n--\n\nCopies from another buffer of the same size."},
    {"fill", (PyCFunction)(void (*)(void))buffer_fill, METH_FASTCALL | METH_KEYWORDS,
     "fill(value, *, stream=None)\n--\n\nFills with a byte (int of 0 to 255) or a pattern of 1, 2 or 4 bytes."},
    {"close", (PyCFunction)(void (*)(void))buffer_close, METH_FASTCALL | METH_KEYWORDS,
     "close(stream=None)\n--\n\nGives the memory back, in the order of the stream (None: the one it was allocated "
     "on)."},
    {"__exit__", buffer_exit, METH_VARARGS, NULL},
    {"_dlpack", buffer_dlpack, METH_VARARGS, NULL},
    {"_set_place", buffer_set_place, METH_VARARGS, NULL},
    {"_set_order", buffer_set_order, METH_O, NULL},
    {"_set_memory", buffer_set_memory, METH_VARARGS, NULL},
    {"_wrap", (PyCFunction)(void (*)(void))buffer_wrap, METH_FASTCALL | METH_CLASS, NULL},
    {NULL, NULL, 0, NULL},
};

#define BIT(flag) ((void *)(uintptr_t)(flag))
static PyGetSetDef buffer_getset[] = {
    {"handle", buffer_get_handle, NULL, "The address; 0 when closed.", NULL},
    {"size", buffer_get_size, NULL, "Bytes.", NULL},
    {"device_id", buffer_get_device_id, NULL, "Ordinal of the GPU; -1 for memory of the host.", NULL},
    {"is_device_accessible", buffer_get_access, NULL, "Whether kernels can use it.", BIT(CORE_DEVICE_ACCESS)},
    {"is_host_accessible", buffer_get_access, NULL, "Whether Python can read it.", BIT(CORE_HOST_ACCESS)},
    {"is_managed", buffer_get_access, NULL, "Whether it migrates by itself.", BIT(CORE_MANAGED)},
    {"is_mapped", buffer_get_access, NULL, "Whether another process allocated it.", BIT(CORE_MAPPED)},
    {"memory_resource", buffer_get_object, NULL, "Who frees it; None for memory with an owner.",
     BIT(offsetof(core_buffer, resource))},
    {"owner", buffer_get_object, NULL, "The object that keeps the memory alive, or None.",
     BIT(offsetof(core_buffer, owner))},
    {"_stream", buffer_get_object, NULL, NULL, BIT(offsetof(core_buffer, stream))},
    {"_device", buffer_get_device, NULL, NULL, NULL},
    {"_closed", buffer_get_closed, NULL, NULL, NULL},
    {"__cuda_array_interface__", buffer_cuda_array, NULL,
     "The memory as uint8, for libraries that read this protocol.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef buffer_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(core_buffer, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot buffer_slots[] = {
    {Py_tp_doc, "Memory with an address and a size; base of tessera.core.Buffer."},
    {Py_tp_dealloc, buffer_dealloc},
    {Py_tp_finalize, buffer_finalize},
    {Py_tp_traverse, buffer_traverse},
    {Py_tp_clear, buffer_clear},
    {Py_tp_methods, buffer_methods},
    {Py_tp_getset, buffer_getset},
    {Py_tp_members, buffer_members},
    {Py_bf_getbuffer, buffer_get_view},
    {Py_bf_releasebuffer, buffer_end_view},
    {Py_sq_length, buffer_length},
    {0, NULL},
};
static PyType_Spec buffer_spec = {"tessera._core.Buffer", sizeof(core_buffer), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                                      Py_TPFLAGS_DISALLOW_INSTANTIATION, buffer_slots};

int core_buffer_init(PyObject *module, core_state *state)
{
    state->buffer_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &buffer_spec, NULL);
    return state->buffer_type ? PyModule_AddType(module, state->buffer_type) : -1;
}
