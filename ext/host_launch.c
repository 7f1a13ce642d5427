/* SPDX-License-Identifier: Apache-2.0
 *
 * launch(stream, config, kernel, *args) of tessera.core. For kernels of the driver each argument becomes the bytes
 * of one parameter, converted and checked by the kernel's own table; tile kernels go to kernel.c.
 *
 *     args[i] --> place[i] --> bytes in `room`, in the object itself (structs), or in `more` when `room` is full
 *
 * Nothing is allocated for up to LAUNCH_PLACES arguments of LAUNCH_ROOM bytes together.
 */
#include "host.h"
#include <math.h>
#include <string.h>

enum { LAUNCH_PLACES = 64, LAUNCH_ROOM = 1024, LAUNCH_VIEWS = 16, LAUNCH_UNKNOWN = 0 };

typedef struct host_frame {
    core_state *state;
    core_native *kernel;
    ts_device *device;
    const ts_stream *stream;    /* in use until the launch has ended */
    Py_ssize_t at;              /* the argument in work */
    uint32_t used;              /* of room */
    uint32_t n_views;
    void **places;              /* near, or allocated */
    void *near[LAUNCH_PLACES];
    Py_buffer *views;           /* near_views, or allocated: one for each argument */
    Py_buffer near_views[LAUNCH_VIEWS];
    _Alignas(16) char *room;    /* near_room, or allocated: 16 bytes for each argument */
    _Alignas(16) char near_room[LAUNCH_ROOM];
} host_frame;

static int launch_fail(const host_frame *f, PyObject *exception, const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    PyObject *text = PyUnicode_FromFormatV(format, rest);
    va_end(rest);
    if (text)
        PyErr_Format(exception, "kernel '%S', argument %zd: %U", f->kernel->name, f->at, text);
    Py_XDECREF(text);
    return -1;
}

/* 16 bytes of the frame for the value of the argument in work. */
static void *launch_room(host_frame *f)
{
    void *room = f->room + f->used;
    f->used += 16;
    f->places[f->at] = room;
    memset(room, 0, 16);
    return room;
}

/* Bytes of the parameter; LAUNCH_UNKNOWN where the driver cannot tell. */
static uint32_t launch_size(const host_frame *f)
{
    return f->kernel->n_params < 0 ? LAUNCH_UNKNOWN : f->kernel->offsets[2 * f->at + 1];
}

static int launch_mismatch(const host_frame *f, PyObject *arg, size_t bytes)
{
    return launch_fail(f, PyExc_TypeError, "a %.100s of %zu bytes does not fit the parameter of %u bytes",
                       Py_TYPE(arg)->tp_name, bytes, launch_size(f));
}

/* ---- values ---------------------------------------------------------------------------------------------*/

static int launch_address(host_frame *f, PyObject *arg, uint64_t address)
{
    uint32_t size = launch_size(f);
    if (size && size != 8)
        return launch_fail(f, PyExc_TypeError, "a %.100s is passed as an address of 8 bytes, but the parameter has %u",
                           Py_TYPE(arg)->tp_name, size);
    memcpy(launch_room(f), &address, 8);
    return 0;
}

static int launch_buffer(host_frame *f, PyObject *arg)
{
    uint64_t address;
    if (core_buffer_address((core_buffer *)arg, &address) < 0)
        return -1;
    return launch_address(f, arg, address);
}

/* Fits as signed or as unsigned number of `size` bytes. */
static bool launch_int_fits(long long value, uint32_t size)
{
    int bits = 8 * (int)size;
    return bits >= 64 || (value >= -(1LL << (bits - 1)) && value < 1LL << bits);
}

static int launch_int(host_frame *f, PyObject *arg)
{
    uint32_t size = launch_size(f);
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(arg, &overflow); /* of an int: no exception */
    if (overflow > 0) { /* 2^63 and more: addresses, unsigned numbers */
        value = (long long)PyLong_AsUnsignedLongLong(arg);
        if (PyErr_Occurred() || (size && size < 8))
            overflow = -1;
    }
    if (overflow < 0 || (!overflow && size && size < 8 && !launch_int_fits(value, size))) {
        PyErr_Clear();
        return launch_fail(f, PyExc_OverflowError, "%R does not fit the parameter of %u bytes", arg, size ? size : 8);
    }
    if (size != LAUNCH_UNKNOWN && size != 1 && size != 2 && size != 4 && size != 8)
        return launch_fail(f, PyExc_TypeError, "an int does not fit the parameter, a struct of %u bytes", size);
    memcpy(launch_room(f), &value, 8);
    return 0;
}

static int launch_bool(host_frame *f, PyObject *arg)
{
    uint32_t size = launch_size(f);
    if (size > 8)
        return launch_mismatch(f, arg, 1);
    *(char *)launch_room(f) = arg == Py_True;
    return 0;
}

/* A double, or a float where the parameter has 4 bytes. */
static int launch_float(host_frame *f, PyObject *arg)
{
    uint32_t size = launch_size(f);
    double value = PyFloat_AS_DOUBLE(arg);
    float narrow = (float)value;
    if (size == 4 && isinf(narrow) && !isinf(value))
        return launch_fail(f, PyExc_OverflowError, "%R does not fit a float of 4 bytes", arg);
    if (size == 4)
        memcpy(launch_room(f), &narrow, 4);
    else if (size == 8 || size == LAUNCH_UNKNOWN)
        memcpy(launch_room(f), &value, 8);
    else
        return launch_fail(f, PyExc_TypeError, "a float fits a parameter of 8 or 4 bytes, but it has %u; pass a NumPy "
                                               "scalar of the right type", size);
    return 0;
}

static int launch_complex(host_frame *f, PyObject *arg)
{
    uint32_t size = launch_size(f);
    Py_complex value = PyComplex_AsCComplex(arg);
    float narrow[2] = {(float)value.real, (float)value.imag};
    if (size == 8)
        memcpy(launch_room(f), narrow, 8);
    else if (size == 16 || size == LAUNCH_UNKNOWN)
        memcpy(launch_room(f), &value, 16);
    else
        return launch_mismatch(f, arg, 16);
    return 0;
}

/* Objects that are their bytes: NumPy scalars and records, ctypes numbers and structs, tensor maps. */
static int launch_bytes(host_frame *f, PyObject *arg)
{
    Py_buffer *view = &f->views[f->n_views];
    if (PyObject_GetBuffer(arg, view, PyBUF_SIMPLE) < 0)
        return -1;
    f->n_views++;
    uint32_t size = launch_size(f);
    if (size && (size_t)view->len != size)
        return launch_mismatch(f, arg, (size_t)view->len);
    f->places[f->at] = view->buf;
    return 0;
}

/* In place of a TypeError of the reader, whose words are for tile kernels. */
static int launch_unsupported(host_frame *f, PyObject *arg)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError))
        return -1;
    PyErr_Clear();
    return launch_fail(f, PyExc_TypeError, "unsupported type %.200s; a kernel takes buffers, numbers, NumPy and ctypes "
                                           "scalars and structs, and arrays of the GPU", Py_TYPE(arg)->tp_name);
}

/* Arrays of any library, by the address of their first element (args.c reads them). */
static int launch_array(host_frame *f, PyObject *arg)
{
    core_frame *frame = PyMem_Malloc(sizeof *frame);
    int got = -1;
    if (!frame) {
        PyErr_NoMemory();
        return -1;
    }
    core_frame_init(frame);
    if (core_take_object(f->state, frame, arg) < 0 || frame->has_constants)
        got = launch_unsupported(f, arg);
    else if (frame->n != 1 || frame->args[0].kind != TS_SPEC_ARRAY)
        got = launch_fail(f, PyExc_TypeError, "a %.100s is not one value", Py_TYPE(arg)->tp_name);
    else if (TS_DEVICE_ID_KIND(frame->args[0].device) != TS_DEVICE_CUDA)
        got = launch_fail(f, PyExc_TypeError,
                          "the %.100s is memory of the host, which a kernel cannot use; copy it to the "
                                              "device, or pass its address as an int if it is page-locked",
                          Py_TYPE(arg)->tp_name);
    else
        got = launch_address(f, arg, (uint64_t)(uintptr_t)frame->args[0].value.data);
    core_frame_deinit(frame);
    PyMem_Free(frame);
    return got;
}

/* ---- which kind is it --------------------------------------------------------------------------------------*/

static bool launch_is_named(PyTypeObject *type, const char *name)
{
    for (PyTypeObject *t = type; t; t = t->tp_base)
        if (strcmp(t->tp_name, name) == 0)
            return true;
    return false;
}

/* By value: it says so, is a NumPy scalar, of ctypes (_ctypes._SimpleCData, Structure, Union, Array), or a struct
 * of the bindings. */
static bool launch_is_value(PyTypeObject *type)
{
    return launch_is_named(type, "numpy.generic") || launch_is_named(type, "_ctypes._SimpleCData") ||
           launch_is_named(type, "_ctypes.Structure") || launch_is_named(type, "_ctypes.Union") ||
           launch_is_named(type, "_ctypes.Array") || launch_is_named(type, "tessera._bindings.Record") ||
           PyObject_HasAttrString((PyObject *)type, "_kernel_argument_bytes");
}

typedef int launch_take(host_frame *f, PyObject *arg);

/* Integers that are not int: handles of the bindings, other enums. */
static int launch_index(host_frame *f, PyObject *arg)
{
    PyObject *index = PyNumber_Index(arg);
    int got = index ? launch_int(f, index) : -1;
    Py_XDECREF(index);
    return got;
}

static launch_take *launch_find(core_state *state, PyTypeObject *type)
{
    if (PyType_IsSubtype(type, state->buffer_type))
        return launch_buffer;
    if (PyType_IsSubtype(type, &PyLong_Type))
        return launch_int;
    if (launch_is_value(type)) /* before float: numpy.float64 is one */
        return launch_bytes;
    if (PyType_IsSubtype(type, &PyFloat_Type))
        return launch_float;
    if (PyType_IsSubtype(type, &PyComplex_Type))
        return launch_complex;
    return type->tp_as_number && type->tp_as_number->nb_index && !PyType_IsSubtype(type, state->array_type) &&
                   !PyObject_HasAttr((PyObject *)type, state->name_dlpack)
               ? launch_index
               : launch_array;
}

static launch_take *launch_kind(core_state *state, PyTypeObject *type)
{
    for (int i = 0, n = CORE_GET(state->n_launch_seen); i < n; i++)
        if (state->launch_seen[i].type == type)
            return state->launch_seen[i].take;
    launch_take *take = launch_find(state, type);
    CORE_LOCK(&state->lock);
    int n = state->n_launch_seen;
    if (n < CORE_TAKERS) { /* two threads may enter the same type: the second entry is never looked at */
        state->launch_seen[n].type = (PyTypeObject *)Py_NewRef(type);
        state->launch_seen[n].take = take;
        CORE_SET(state->n_launch_seen, n + 1);
    }
    CORE_UNLOCK(&state->lock);
    return take;
}

static int launch_one(host_frame *f, PyObject *arg)
{
    PyTypeObject *type = Py_TYPE(arg);
    if (type == &PyLong_Type)
        return launch_int(f, arg);
    if (type == &PyFloat_Type)
        return launch_float(f, arg);
    if (type == &PyBool_Type)
        return launch_bool(f, arg);
    launch_take *take = launch_kind(f->state, type);
    return take(f, arg);
}

/* ---- a launch ---------------------------------------------------------------------------------------------*/

static int launch_begin(host_frame *f, Py_ssize_t n)
{
    f->used = f->n_views = 0;
    f->places = f->near;
    f->views = f->near_views;
    f->room = f->near_room;
    if (n <= LAUNCH_VIEWS)
        return 0;
    char *more = n <= LAUNCH_PLACES ? NULL : PyMem_Malloc((size_t)n * (16 + sizeof(void *)));
    f->views = PyMem_Malloc((size_t)n * sizeof *f->views);
    if (!f->views || (n > LAUNCH_PLACES && !more)) {
        PyMem_Free(more);
        PyMem_Free(f->views);
        PyErr_NoMemory();
        return -1;
    }
    if (more) {
        f->room = more;
        f->places = (void **)(void *)(more + 16 * n);
    }
    return 0;
}

static void launch_end(host_frame *f)
{
    for (uint32_t i = 0; i < f->n_views; i++)
        PyBuffer_Release(&f->views[i]);
    if (f->room != f->near_room)
        PyMem_Free(f->room);
    if (f->views != f->near_views)
        PyMem_Free(f->views);
}

static int launch_count(const core_native *kernel, Py_ssize_t n)
{
    if (kernel->n_params < 0 || kernel->n_params == n)
        return 0;
    PyErr_Format(PyExc_TypeError, "kernel '%S' takes %d arguments, not %zd", kernel->name, (int)kernel->n_params, n);
    return -1;
}

static int launch_take_all(host_frame *f, PyObject *const *args, Py_ssize_t n)
{
    for (f->at = 0; f->at < n; f->at++) {
        f->places[f->at] = NULL;
        if (launch_one(f, args[f->at]) < 0)
            return -1;
    }
    return 0;
}

/* A cooperative grid that cannot be resident is refused by the Python half. */
static int launch_cooperative(PyObject *config, PyObject *kernel)
{
    PyObject *done = PyObject_CallMethod(config, "_check", "O", kernel);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* On the stream of the frame. */
static PyObject *launch_with(host_frame *f, PyObject *config, const ts_native_config *native, bool cooperative,
                             PyObject *const *args, Py_ssize_t n)
{
    core_native *kernel = f->kernel;
    ts_status status;
    ts_error err;
    if (core_native_params(kernel, f->device) < 0 || launch_count(kernel, n) < 0 ||
        (cooperative && launch_cooperative(config, (PyObject *)kernel) < 0) ||
        launch_begin(f, n) < 0)
        return NULL;
    PyObject *result = NULL;
    if (launch_take_all(f, args, n) == 0) {
        ts_native_kernel code = {kernel->code.handle, kernel->code_device == f->device ? kernel->code.function : 0,
                                 kernel->code.name};
        Py_BEGIN_ALLOW_THREADS; /* the driver waits while the stream's queue is full */
        status = ts_native_launch(f->device, f->stream, native, &code, f->places, &err);
        Py_END_ALLOW_THREADS;
        result = status == TS_OK ? Py_NewRef(Py_None) : core_raise(f->state, &err);
    }
    launch_end(f);
    return result;
}

static PyObject *launch_on(host_frame *f, PyObject *config, PyObject *const *args, Py_ssize_t n)
{
    ts_native_config native;
    bool cooperative;
    PyObject *attrs = core_config_get((core_config *)config, &native, &cooperative);
    PyObject *result = launch_with(f, config, &native, cooperative, args, n);
    Py_XDECREF(attrs);
    return result;
}

static PyObject *launch_native(core_state *state, PyObject *order, PyObject *config, PyObject *kernel,
                               PyObject *const *args, Py_ssize_t n)
{
    host_frame frame;
    ts_stream room;
    core_use use;
    frame.state = state;
    frame.kernel = (core_native *)kernel;
    frame.device = NULL;
    if ((order == Py_None && core_native_device(frame.kernel, &frame.device) < 0) ||
        core_stream_for(state, order, &frame.device, &room, &frame.stream) < 0)
        return NULL;
    core_use_begin(state, &use, frame.stream, NULL); /* arguments run Python, which may close the stream */
    PyObject *result = launch_on(&frame, config, args, n);
    core_use_end(state, &use);
    return result;
}

static PyObject *launch_tile(core_state *state, PyObject *order, core_config *config, PyObject *kernel,
                             PyObject *const *args, Py_ssize_t n)
{
    ts_native_config native;
    bool cooperative;
    Py_XDECREF(core_config_get(config, &native, &cooperative));
    int64_t blocks[3] = {native.grid[0], native.grid[1], native.grid[2]};
    return core_launch_tile(state, order, blocks, kernel, args, n);
}

/* The graph builder that records the launch: the one given, or that of the stream given. NULL: none, or exception. */
static PyObject *launch_builder(core_state *state, PyObject *order)
{
    if (order == Py_None)
        return NULL;
    if (!core_is(order, state->stream_type))
        return PyObject_HasAttr((PyObject *)Py_TYPE(order), state->name_launched) ? Py_NewRef(order) : NULL;
    const ts_stream *stream = CORE_GET(((core_stream *)order)->stream);
    return stream ? core_recorder_of(state, stream->native) : NULL;
}

/* A builder of graphs keeps what the launch that it has just recorded will use. */
static PyObject *launch_note(core_state *state, PyObject *result, PyObject *const *args, Py_ssize_t n)
{
    PyObject *builder = result ? launch_builder(state, args[0]) : NULL;
    if (!builder && !PyErr_Occurred())
        return result;
    Py_XDECREF(result);
    if (!builder)
        return NULL;
    PyObject *rest = PyTuple_New(n - 3);
    for (Py_ssize_t i = 0; rest && i < n - 3; i++)
        PyTuple_SET_ITEM(rest, i, Py_NewRef(args[3 + i]));
    result = rest ? PyObject_CallMethodObjArgs(builder, state->name_launched, args[1], args[2], rest, NULL) : NULL;
    Py_XDECREF(rest);
    Py_DECREF(builder);
    return result;
}

static PyObject *launch_call(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    core_state *state = PyModule_GetState(module);
    if (names && PyTuple_GET_SIZE(names)) {
        PyErr_Format(PyExc_TypeError, "launch() takes no argument by name: pass %R by position, as in launch(stream, "
                                      "config, kernel, *args)", PyTuple_GET_ITEM(names, 0));
        return NULL;
    }
    if (n < 3) {
        PyErr_Format(PyExc_TypeError, "launch(stream, config, kernel, *args) takes at least 3 arguments, not %zd", n);
        return NULL;
    }
    if (!core_is(args[1], state->config_type)) {
        PyErr_Format(PyExc_TypeError, "the second argument of launch() is a LaunchConfig, not a %.200s",
                     Py_TYPE(args[1])->tp_name);
        return NULL;
    }
    if (core_is(args[2], state->native_type))
        return launch_note(state, launch_native(state, args[0], args[1], args[2], args + 3, n - 3), args, n);
    if (core_is(args[2], state->kernel_type))
        return launch_note(state, launch_tile(state, args[0], (core_config *)args[1], args[2], args + 3, n - 3), args,
                           n);
    PyErr_Format(PyExc_TypeError,
                 "the third argument of launch() is a Kernel or a function decorated with @kernel, not a "
                                  "%.200s", Py_TYPE(args[2])->tp_name);
    return NULL;
}

static PyObject *launch_live(PyObject *module, PyObject *unused)
{
    (void)unused;
    const int64_t *live = ((core_state *)PyModule_GetState(module))->live;
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L}", "streams", (long long)live[CORE_LIVE_STREAM], "events",
                         (long long)live[CORE_LIVE_EVENT], "buffers", (long long)live[CORE_LIVE_BUFFER], "pools",
                         (long long)live[CORE_LIVE_POOL], "kernels", (long long)live[CORE_LIVE_KERNEL]);
}

static PyMethodDef launch_functions[] = {
    {"host_launch", (PyCFunction)(void (*)(void))launch_call, METH_FASTCALL | METH_KEYWORDS,
     "launch(stream, config, kernel, /, *args)\n--\n\n"
     "Runs a kernel over a grid, in the order of a stream.\n\n"
     "Parameters\n----------\n"
     "stream : None, Stream, GraphBuilder, or a stream of another library\n"
     "    None is the default stream of the kernel's device.\n"
     "config : LaunchConfig\n"
     "kernel : Kernel, or a function decorated with @kernel (then only config.grid counts)\n"
     "args\n"
     "    Buffers and arrays of any library (passed as addresses), numbers, NumPy and ctypes scalars and structs.\n"
     "    int, float and complex take the size of the parameter, checked for range; a driver that does not tell the\n"
     "    parameters (before CUDA 12.4) gets 8, 8 and 16 bytes.\n\n"
     "Raises\n------\n"
     "TypeError, ValueError, OverflowError\n    Before anything is enqueued, naming kernel and argument.\n"
     "CUDAError\n    The driver refused."},
    {"_live", launch_live, METH_NOARGS, "How many streams, events, buffers, pools and kernels exist, as a dictionary."},
    {NULL, NULL, 0, NULL},
};

int core_host_launch_init(PyObject *module, core_state *state)
{
    (void)state;
    return PyModule_AddFunctions(module, launch_functions);
}
