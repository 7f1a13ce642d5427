/* SPDX-License-Identifier: Apache-2.0
 *
 * How XLA, the compiler of JAX, runs a tile kernel of its program: by a function of its foreign function interface,
 * which gets the buffers and the stream. What the call is stands in its attribute "call"; tessera.tile.jax reads it and
 * launches. The structures are those of that interface (xla/ffi/api/c_api.h of jaxlib, version 0.x), which only grow at
 * their ends.
 */
#include "core.h"
#include <stddef.h>
#include <string.h>

/* ---- the interface ---------------------------------------------------------------------------------------------- */

typedef struct xla_error xla_error;
typedef struct xla_context xla_context;

typedef struct xla_extension {
    size_t struct_size;
    int type;
    struct xla_extension *next;
} xla_extension;
enum { XLA_METADATA = 1, XLA_EXECUTE = 3, XLA_BUFFER = 1, XLA_STRING = 4, XLA_INTERNAL = 13 };

typedef struct xla_version {
    size_t struct_size;
    xla_extension *extension;
    int major, minor;
} xla_version;

typedef struct xla_metadata {
    size_t struct_size;
    xla_version version; /* of the interface that the function was written for */
    uint32_t traits;
} xla_metadata;

typedef struct xla_metadata_extension {
    xla_extension base;
    xla_metadata *metadata;
} xla_metadata_extension;

typedef struct xla_error_args {
    size_t struct_size;
    xla_extension *extension;
    const char *message;
    int code;
} xla_error_args;

typedef struct xla_error_end_args {
    size_t struct_size;
    xla_extension *extension;
    xla_error *error;
} xla_error_end_args;

typedef struct xla_stream_args {
    size_t struct_size;
    xla_extension *extension;
    xla_context *context;
    void *stream;
} xla_stream_args;

typedef struct xla_ordinal_args {
    size_t struct_size;
    xla_extension *extension;
    xla_context *context;
    int32_t ordinal;
} xla_ordinal_args;

typedef struct xla_api {
    size_t struct_size;
    xla_extension *extension;
    xla_version version;
    const void *internal;
    xla_error *(*error_create)(xla_error_args *args);
    void *error_message;
    void (*error_destroy)(xla_error_end_args *args);
    void *handler_register;
    xla_error *(*stream_get)(xla_stream_args *args);
    void *others[12]; /* types, contexts, states, memory, threads, futures, runs */
    xla_error *(*ordinal_get)(xla_ordinal_args *args);
} xla_api;

typedef struct xla_span {
    const char *at;
    size_t n;
} xla_span;

typedef struct xla_buffer {
    size_t struct_size;
    xla_extension *extension;
    int dtype;
    void *data;
    int64_t rank, *dims;
} xla_buffer;

typedef struct xla_list { /* arguments, results */
    size_t struct_size;
    xla_extension *extension;
    int64_t n;
    int *types;
    void **items;
} xla_list;

typedef struct xla_attributes {
    size_t struct_size;
    xla_extension *extension;
    int64_t n;
    int *types;
    xla_span **names;
    void **items;
} xla_attributes;

typedef struct xla_frame {
    size_t struct_size;
    xla_extension *extension;
    const xla_api *api;
    xla_context *context;
    int stage;
    xla_list args, results;
    xla_attributes attributes;
} xla_frame;

/* ---- what the frame holds --------------------------------------------------------------------------------------- */

static xla_error *xla_fail(const xla_frame *frame, const char *text)
{
    xla_error_args args = {sizeof args, NULL, text, XLA_INTERNAL};
    return frame->api->error_create(&args);
}

static void xla_drop(const xla_frame *frame, xla_error *error)
{
    xla_error_end_args args = {sizeof args, NULL, error};
    if (error)
        frame->api->error_destroy(&args);
}

/* True where XLA asks about the function instead of calling it. */
static bool xla_described(const xla_frame *frame)
{
    for (xla_extension *e = frame->extension; e; e = e->next)
        if (e->type == XLA_METADATA) {
            xla_version *version = &((xla_metadata_extension *)e)->metadata->version;
            version->major = frame->api ? frame->api->version.major : 0;
            version->minor = frame->api ? frame->api->version.minor : 1;
            return true;
        }
    return false;
}

static xla_span xla_string(const xla_frame *frame, const char *name)
{
    for (int64_t i = 0; i < frame->attributes.n; i++) {
        const xla_span *found = frame->attributes.names[i];
        if (frame->attributes.types[i] == XLA_STRING && found->n == strlen(name) &&
            memcmp(found->at, name, found->n) == 0)
            return *(xla_span *)frame->attributes.items[i];
    }
    return (xla_span){"", 0};
}

/* The address of each buffer of a list. */
static PyObject *xla_addresses(const xla_list *list)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)list->n);
    for (int64_t i = 0; tuple && i < list->n; i++) {
        const xla_buffer *buffer = list->items[i];
        PyObject *address = list->types[i] == XLA_BUFFER ? PyLong_FromVoidPtr(buffer->data)
                                                         : PyErr_Format(PyExc_TypeError, "operand %lld of a call by "
                                                                        "XLA is not an array", (long long)i);
        if (address)
            PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, address);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* Stream and number of the GPU; both 0 where the interface is too old to say the latter. */
static xla_error *xla_where(const xla_frame *frame, void **stream, int32_t *ordinal)
{
    xla_stream_args args = {sizeof args, NULL, frame->context, NULL};
    xla_ordinal_args place = {sizeof place, NULL, frame->context, 0};
    xla_error *error = frame->api->stream_get(&args);
    if (!error && frame->api->struct_size >= sizeof *frame->api && frame->api->ordinal_get)
        xla_drop(frame, frame->api->ordinal_get(&place));
    *stream = args.stream;
    *ordinal = place.ordinal;
    return error;
}

/* ---- the functions ---------------------------------------------------------------------------------------------- */

/* The text of the exception that is set. */
static xla_error *xla_raised(const xla_frame *frame)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *text = value ? PyUnicode_FromFormat("%s: %S", Py_TYPE(value)->tp_name, value) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    xla_error *error = xla_fail(frame, utf8 ? utf8 : "a tile kernel could not be launched");
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return error;
}

static xla_error *xla_launch(const xla_frame *frame, PyObject *device, void *stream)
{
    xla_span call = xla_string(frame, "call");
    PyObject *module = PyImport_ImportModule("tessera.tile.jax");
    PyObject *inputs = module ? xla_addresses(&frame->args) : NULL;
    PyObject *outputs = inputs ? xla_addresses(&frame->results) : NULL;
    PyObject *done = outputs ? PyObject_CallMethod(module, "_run", "s#OKOO", call.at, (Py_ssize_t)call.n, device,
                                                   (unsigned long long)(uintptr_t)stream, inputs, outputs)
                             : NULL;
    xla_error *error = done ? NULL : xla_raised(frame);
    Py_XDECREF(module);
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    Py_XDECREF(done);
    return error;
}

static xla_error *xla_on_cpu(xla_frame *frame)
{
    if (xla_described(frame) || frame->stage != XLA_EXECUTE)
        return NULL;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *device = PyUnicode_FromString("cpu");
    xla_error *error = device ? xla_launch(frame, device, NULL) : xla_raised(frame);
    Py_XDECREF(device);
    PyGILState_Release(gil);
    return error;
}

static xla_error *xla_on_cuda(xla_frame *frame)
{
    void *stream;
    int32_t ordinal;
    if (xla_described(frame) || frame->stage != XLA_EXECUTE)
        return NULL;
    xla_error *error = xla_where(frame, &stream, &ordinal);
    if (error)
        return error;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *device = PyUnicode_FromFormat("cuda:%d", (int)ordinal);
    error = device ? xla_launch(frame, device, stream) : xla_raised(frame);
    Py_XDECREF(device);
    PyGILState_Release(gil);
    return error;
}

/* xla_handlers(): the functions for JAX's platforms "cpu" and "CUDA", as jax.ffi.register_ffi_target takes them. */
static PyObject *xla_handlers(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    xla_error *(*const cpu)(xla_frame *) = xla_on_cpu, *(*const cuda)(xla_frame *) = xla_on_cuda;
    void *at[2];
    memcpy(&at[0], &cpu, sizeof at[0]);
    memcpy(&at[1], &cuda, sizeof at[1]);
    return Py_BuildValue("NN", PyCapsule_New(at[0], NULL, NULL), PyCapsule_New(at[1], NULL, NULL));
}

/* array_at(address, shape, dtype, device): a row-major array over memory of another, which must live as long. */
static PyObject *xla_array_at(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *shape, *dtype_object, *place;
    unsigned long long address;
    ts_device *device;
    ts_dtype dtype;
    ts_buffer *buffer;
    ts_array *array;
    ts_error err;
    int64_t dims[TS_ARRAY_RANK], count = 1;
    if (!PyArg_ParseTuple(args, "KO!OO", &address, &PyTuple_Type, &shape, &dtype_object, &place) ||
        core_device_of(state, place, &device) < 0 || core_dtype_of(state, dtype_object, &dtype) < 0)
        return NULL;
    if (PyTuple_GET_SIZE(shape) > TS_ARRAY_RANK)
        return PyErr_Format(PyExc_ValueError, "arrays have at most %d axes, not %zd", TS_ARRAY_RANK,
                            PyTuple_GET_SIZE(shape));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape); i++) {
        dims[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, i));
        count *= dims[i];
    }
    if (PyErr_Occurred())
        return NULL;
    uint64_t bytes = (uint64_t)count * ts_dtype_bytes(dtype);
    if (ts_buffer_wrap(device, (void *)(uintptr_t)address, bytes, NULL, NULL, &buffer, &err) != TS_OK)
        return core_raise(state, &err);
    ts_status status =
        ts_array_of(buffer, 0, dtype, (uint32_t)PyTuple_GET_SIZE(shape), dims, NULL, &array, &err);
    ts_buffer_release(buffer);
    return status == TS_OK ? core_array_wrap(state, array) : core_raise(state, &err);
}

static PyMethodDef xla_methods[] = {
    {"xla_handlers", xla_handlers, METH_NOARGS,
     "xla_handlers()\n--\n\nThe functions by which XLA runs tile kernels: for its platforms cpu and CUDA."},
    {"array_at", xla_array_at, METH_VARARGS,
     "array_at(address, shape, dtype, device, /)\n--\n\nA row-major array over memory that another owns."},
    {NULL, NULL, 0, NULL},
};

int core_xla_init(PyObject *module, core_state *state)
{
    (void)state;
    return PyModule_AddFunctions(module, xla_methods);
}
