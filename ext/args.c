/* SPDX-License-Identifier: Apache-2.0
 *
 * Python arguments of a launch to ts_arg. Each Python type is looked at once: how its objects are read
 * (a "taker") is remembered in the module state, so a launch costs one pointer compare per argument
 * before the data is read straight from the object.
 *
 * Order of preference for arrays: Tessera's own, the DLPack C exchange table (no Python object made),
 * the buffer protocol for host memory, __cuda_array_interface__, __dlpack__.
 */
#include "host.h"
#include "tessera/graph.h"
#include <string.h>
#include <structmember.h>

void core_frame_init(core_frame *frame)
{
    frame->n = 0;
    frame->n_dims = frame->n_views = frame->n_objects = 0;
    frame->has_host_views = frame->has_host_memory = frame->has_constants = false;
    frame->kernel = NULL;
}

void core_frame_deinit(core_frame *frame)
{
    for (uint32_t i = 0; i < frame->n_views; i++)
        PyBuffer_Release(&frame->views[i]);
    for (uint32_t i = 0; i < frame->n_objects; i++)
        Py_DECREF(frame->objects[i]);
}

/* Room for an argument that the caller fills as a whole; NULL with exception. */
static inline ts_arg *args_room(core_frame *frame)
{
    if (frame->n < TS_LAUNCH_ARGS)
        return &frame->args[frame->n++];
    PyErr_Format(PyExc_TypeError, "a kernel takes at most %d arguments, and each item of a tuple or list counts as one:"
                 " pass an array of the items", TS_LAUNCH_ARGS);
    return NULL;
}

ts_arg *core_frame_next(core_frame *frame)
{
    ts_arg *arg = args_room(frame);
    if (arg)
        memset(arg, 0, sizeof *arg);
    return arg;
}

int64_t *core_frame_dims(core_frame *frame, size_t n)
{
    if (frame->n_dims + n > CORE_DIMS) {
        PyErr_SetString(PyExc_TypeError, "too many array arguments in one launch");
        return NULL;
    }
    int64_t *dims = frame->dims + frame->n_dims;
    frame->n_dims += (uint32_t)n;
    return dims;
}

/* ---- dtypes --------------------------------------------------------------------------------------*/

/* The dtype whose type string is "<" or "|" and this, as "f4"; not those that NumPy knows as bytes only. */
static ts_dtype args_dtype_typestr(const char *text)
{
    for (ts_dtype d = 1; d < TS_DTYPE_COUNT; d++)
        if (ts_dtype_get(d)->typestr[1] != 'V' && strcmp(ts_dtype_get(d)->typestr + 1, text) == 0)
            return d;
    return TS_DTYPE_NONE;
}

/* The dtype of a kind as in dtype.def and a size, of those that have a format: bfloat16 has none. */
static ts_dtype args_dtype_sized(char kind, Py_ssize_t bytes)
{
    enum { NO_FORMAT = 1 << 16 };
    switch (bytes <= UINT8_MAX ? (kind << 8 | (int)bytes) : 0) {
#define TS_DTYPE(name, scalar, kind, bytes, bits, sign, dlpack, typestr, format, tma) \
    case sizeof format > 1 ? (kind << 8 | bytes) : NO_FORMAT + TS_DTYPE_##name: \
        return TS_DTYPE_##name;
#include "tessera/dtype.def"
    default:
        return TS_DTYPE_NONE;
    }
}

/* Part of every launch with an array of NumPy: a letter is looked up, its size is told beside it, and no text made. */
ts_dtype core_dtype_of_format(const char *format, Py_ssize_t itemsize)
{
    static const char kinds[128] = {
        ['?'] = 'b', ['b'] = 'i', ['h'] = 'i', ['i'] = 'i', ['l'] = 'i', ['q'] = 'i', ['n'] = 'i', ['B'] = 'u',
        ['H'] = 'u', ['I'] = 'u', ['L'] = 'u', ['Q'] = 'u', ['N'] = 'u', ['e'] = 'f', ['f'] = 'f', ['d'] = 'f',
    };
    if (!format)
        return TS_DTYPE_uint8;
    if (*format == '<' || *format == '=' || *format == '@')
        format++;
    unsigned char letter = (unsigned char)format[0];
    if (letter < 128 && kinds[letter] && !format[1])
        return args_dtype_sized(kinds[letter], itemsize);
    for (ts_dtype d = 1; letter && d < TS_DTYPE_COUNT; d++) /* complex: "Zf" */
        if (strcmp(ts_dtype_get(d)->format, format) == 0)
            return d;
    return TS_DTYPE_NONE;
}

ts_dtype core_dtype_named(const char *name)
{
    if (strcmp(name, "bool") == 0)
        return TS_DTYPE_bool_;
    ts_dtype found = ts_dtype_find(name);
    return found ? found : args_dtype_typestr(name); /* NumPy's "i8", "f4" */
}

/* "torch.float32" and "float32" both name float32. */
static ts_dtype args_dtype_text(PyObject *text)
{
    const char *name = PyUnicode_AsUTF8(text);
    if (!name)
        return TS_DTYPE_NONE;
    const char *dot = strrchr(name, '.');
    return core_dtype_named(dot ? dot + 1 : name);
}

int core_dtype_of(core_state *state, PyObject *object, ts_dtype *out)
{
    PyObject *text = NULL;
    *out = TS_DTYPE_NONE;
    if (object == (PyObject *)&PyFloat_Type)
        *out = TS_DTYPE_float64;
    else if (object == (PyObject *)&PyLong_Type)
        *out = TS_DTYPE_int64;
    else if (object == (PyObject *)&PyBool_Type)
        *out = TS_DTYPE_bool_;
    else if (object == (PyObject *)&PyComplex_Type)
        *out = TS_DTYPE_complex128;
    else if (PyUnicode_Check(object))
        *out = args_dtype_text(object);
    else if ((text = PyObject_GetAttr(object, state->name_name)) && PyUnicode_Check(text))
        *out = args_dtype_text(text);
    PyErr_Clear();
    if (*out == TS_DTYPE_NONE && PyType_Check(object))
        *out = core_dtype_named(
            ((PyTypeObject *)object)->tp_name +
            (strncmp(((PyTypeObject *)object)->tp_name, "numpy.", 6) == 0 ? 6 : 0));
    if (*out == TS_DTYPE_NONE && !text) {
        text = PyObject_Str(object);
        if (text)
            *out = args_dtype_text(text);
    }
    Py_XDECREF(text);
    PyErr_Clear();
    if (*out != TS_DTYPE_NONE)
        return 0;
    PyErr_Format(PyExc_TypeError,
                 "%R is not a dtype of Tessera; it has bool_, int8 to int64, uint8 to uint64, "
                 "float16, bfloat16, float32, float64, complex64, complex128 and narrow floats",
                 object);
    return -1;
}

/* Every dtype as (name, bits, kind, type string), in the order of their numbers: what Python's tables are made of. */
int core_dtypes_init(PyObject *module)
{
    PyObject *rows = PyTuple_New(TS_DTYPE_COUNT - 1);
    for (int d = 1; rows && d < TS_DTYPE_COUNT; d++) {
        const ts_dtype_info *info = ts_dtype_get((ts_dtype)d);
        PyObject *row = Py_BuildValue("(siCs)", info->name, info->bits, info->kind, info->typestr);
        if (row)
            PyTuple_SET_ITEM(rows, d - 1, row);
        else
            Py_CLEAR(rows);
    }
    int got = rows ? PyModule_AddObjectRef(module, "DTYPES", rows) : -1;
    Py_XDECREF(rows);
    return got;
}

PyObject *core_dtype_object(core_state *state, ts_dtype dtype)
{
    PyObject *known = CORE_GET(state->dtypes[dtype]);
    if (known)
        return Py_NewRef(known);
    PyObject *module = PyImport_ImportModule("tessera.tile._dtype");
    PyObject *found = module ? PyObject_GetAttrString(module, ts_dtype_name(dtype)) : NULL;
    Py_XDECREF(module);
    if (!found)
        return NULL;
    CORE_LOCK(&state->lock);
    if (!state->dtypes[dtype])
        CORE_SET(state->dtypes[dtype], Py_NewRef(found));
    CORE_UNLOCK(&state->lock);
    return found;
}

/* ---- takers --------------------------------------------------------------------------------------*/

static int args_take_array(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    (void)state;
    (void)extra;
    ts_arg *arg = args_room(frame);
    if (!arg)
        return -1;
    ts_arg_of_array(((core_array *)object)->array, arg);
    return 0;
}

/* The DLPack C exchange table (DLPack 1.3): reads a tensor without making a Python object. */
typedef struct args_exchange {
    struct {
        uint32_t major, minor;
    } version;
    void *previous;
    void *allocate, *from_object, *to_object;
    int (*borrow)(void *object, ts_dl_tensor *out);
    void *current_stream;
} args_exchange;

static int args_take_exchange(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    const args_exchange *table = extra;
    ts_dl_tensor tensor;
    ts_error err;
    ts_arg *arg = args_room(frame);
    if (!arg)
        return -1;
    if (table->borrow(object, &tensor) != 0) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "cannot read %.100s through DLPack", Py_TYPE(object)->tp_name);
        return -1;
    }
    /* the tensor's extents may live only as long as the object is untouched: they are borrowed for the call */
    if (ts_arg_of_dlpack(&tensor, arg, &err) == TS_OK) {
        frame->has_host_memory |= arg->device == TS_DEVICE_ID(TS_DEVICE_CPU, 0);
        return 0;
    }
    core_raise(state, &err);
    return -1;
}

int core_frame_hold(core_frame *frame, PyObject *object)
{
    if (frame->n_objects >= CORE_HOLDS) {
        Py_DECREF(object);
        PyErr_SetString(PyExc_TypeError, "too many array arguments in one launch");
        return -1;
    }
    frame->objects[frame->n_objects++] = object;
    return 0;
}

/* Whether the kernel's language takes arrays of records, and numbers at any bytes. */
static bool args_takes_structs(const core_frame *frame)
{
    const core_evaluator *evaluator = frame->kernel ? ts_kernel_host(frame->kernel)->user : NULL;
    return evaluator && evaluator->takes_structs;
}

/* An array of a GPU comes after the work of the stream that it names. Kernels of threads leave the wait to Python,
 * where users may switch it off (tessera.cuda.config). */
static int args_after_stream(core_state *state, const core_frame *frame, PyObject *dict, uint16_t id)
{
    ts_error err;
    ts_device *device;
    ts_stream stream;
    PyObject *given = PyDict_Check(dict) ? PyDict_GetItemWithError(dict, state->name_stream) : NULL; /* borrowed */
    if (!given || given == Py_None)
        return PyErr_Occurred() ? -1 : 0;
    uintptr_t native = (uintptr_t)PyLong_AsUnsignedLongLong(given);
    if (PyErr_Occurred())
        return -1;
    if (args_takes_structs(frame)) {
        PyErr_SetString(PyExc_TypeError, "the array comes after the work of a stream: pass cuda.as_cuda_array(array)");
        return -1;
    }
    if (ts_device_by_id(id, &device, &err) != TS_OK || ts_stream_find(device, native, &stream, &err) != TS_OK) {
        core_raise(state, &err);
        return -1;
    }
    return ts_record_active(&stream) ? 0 : core_wait_stream(state, &stream);
}

static int args_take_interface(core_state *state, core_frame *frame, PyObject *object, PyObject *name, uint16_t device)
{
    core_foreign foreign;
    int64_t read[2 * TS_ARRAY_RANK], *dims = NULL;
    PyObject *dict = PyObject_GetAttr(object, name);
    if (!dict)
        return -1;
    bool gpu = TS_DEVICE_ID_KIND(device) == TS_DEVICE_CUDA;
    if ((!gpu || args_after_stream(state, frame, dict, device) == 0) &&
        core_foreign_of_interface(state, object, dict, device, read, &foreign) == 0)
        dims = core_frame_dims(frame, 2 * (size_t)foreign.layout.rank);
    ts_arg *arg = dims ? core_frame_next(frame) : NULL;
    if (arg) {
        memcpy(dims, read, 2 * (size_t)foreign.layout.rank * sizeof *dims);
        foreign.layout.shape = dims;
        foreign.layout.strides = foreign.layout.strides ? dims + foreign.layout.rank : NULL;
    }
    if (arg && core_foreign_arg(&foreign, dims, arg) == 0)
        return core_frame_hold(frame, dict);
    Py_DECREF(dict);
    return -1;
}

/* The ordinal of the GPU that an array says it is on; 0 where it does not. -1 with exception: not one. */
static int args_gpu_of(PyObject *object)
{
    PyObject *place = PyObject_GetAttrString(object, "device"),
             *id = place ? PyObject_GetAttrString(place, "id") : NULL;
    PyErr_Clear();
    long ordinal = id && PyLong_Check(id) ? PyLong_AsLong(id) : 0;
    Py_XDECREF(place);
    Py_XDECREF(id);
    if (ordinal >= 0 && ordinal <= 255)
        return (int)ordinal;
    PyErr_Clear();
    PyErr_SetString(PyExc_ValueError, "the array's device.id is not the number of a GPU (0 to 255)");
    return -1;
}

static int args_take_cuda(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    (void)extra;
    int ordinal = args_gpu_of(object);
    return ordinal < 0 ? -1
                       : args_take_interface(state, frame, object, state->name_cuda_array,
                                             (uint16_t)TS_DEVICE_ID(TS_DEVICE_CUDA, ordinal));
}

/* Left as it is for core_take_constants, which knows the parameter. */
static int args_take_later(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    (void)state, (void)extra;
    ts_arg *arg = core_frame_next(frame);
    if (!arg)
        return -1;
    arg->kind = TS_SPEC_OBJECT;
    arg->value.data = object;
    frame->has_constants = true;
    return 0;
}

/* Elements that are no numbers, or not at multiples of their size. */
static bool args_is_struct(const Py_buffer *view)
{
    Py_ssize_t item = view->itemsize, odd = 0;
    ts_dtype dtype = core_dtype_of_format(view->format, item);
    for (int d = 0; dtype && item && view->strides && d < view->ndim; d++)
        odd |= view->strides[d] % item;
    size_t last = view->format && *view->format ? strlen(view->format) - 1 : 0;
    bool text = last && strchr("sw", view->format[last]);
    return dtype ? odd || (item && (uintptr_t)view->buf % (size_t)item) : text || (last && view->format[0] == 'T');
}

static int args_take_buffer(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    (void)extra;
    core_foreign foreign;
    if (frame->n_views >= CORE_HOLDS) {
        PyErr_SetString(PyExc_TypeError, "too many array arguments in one launch");
        return -1;
    }
    Py_buffer *view = &frame->views[frame->n_views];
    if (PyObject_GetBuffer(object, view, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0) {
        /* NumPy cannot describe bfloat16 and its like this way; it can as a dictionary */
        if (!PyObject_HasAttr(object, state->name_array_interface))
            return -1;
        PyErr_Clear();
        ts_dtype dtype;
        if (args_takes_structs(frame) && core_own_dtype(state, object, &dtype) < 0) {
            PyErr_Clear(); /* records with fields in any order */
            return args_take_later(state, frame, object, NULL);
        }
        frame->has_host_views = frame->has_host_memory = true;
        return args_take_interface(state, frame, object, state->name_array_interface, TS_DEVICE_ID(TS_DEVICE_CPU, 0));
    }
    if (args_takes_structs(frame) && args_is_struct(view)) {
        PyBuffer_Release(view);
        return args_take_later(state, frame, object, NULL);
    }
    frame->n_views++;
    frame->has_host_views = frame->has_host_memory = true;
    int64_t *dims = core_rank_check(view->ndim) == 0 ? core_frame_dims(frame, 2 * (size_t)view->ndim) : NULL;
    ts_arg *arg = dims ? args_room(frame) : NULL;
    if (!arg || core_foreign_of_view(state, object, view, TS_DTYPE_NONE, dims, &foreign) < 0)
        return -1;
    return core_foreign_arg(&foreign, dims, arg);
}

/* Objects that hold what is to be passed, as device arrays of tessera.cuda do. `extra` is where they keep it once it
 * was asked for, None before; 0: nowhere. */
static int args_take_held(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    PyObject *kept = extra ? *(PyObject **)((char *)object + (uintptr_t)extra) : NULL;
    PyObject *held = kept && kept != Py_None ? Py_NewRef(kept) : PyObject_GetAttr(object, state->name_held);
    int got = held ? core_take_object(state, frame, held) : -1;
    if (got == 0)
        return core_frame_hold(frame, held);
    Py_XDECREF(held);
    return -1;
}

static int args_take_dlpack(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    (void)extra;
    bool readonly;
    ts_error err;
    PyObject *capsule = core_dlpack(state, object);
    const ts_dl_tensor *tensor = capsule ? core_capsule(capsule, &readonly) : NULL;
    ts_arg *arg = tensor ? core_frame_next(frame) : NULL;
    if (arg && ts_arg_of_dlpack(tensor, arg, &err) == TS_OK) {
        arg->readonly = readonly;
        frame->has_host_memory |= arg->device == TS_DEVICE_ID(TS_DEVICE_CPU, 0);
        return core_frame_hold(frame, capsule);
    }
    if (arg)
        core_raise(state, &err);
    Py_XDECREF(capsule);
    return -1;
}

static int args_read_int(ts_arg *arg, PyObject *object)
{
    int overflow;
    arg->kind = TS_SPEC_INT;
    arg->value.i = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow > 0) { /* one that fits uint64 says so */
        arg->dtype = TS_DTYPE_uint64;
        arg->value.bits = PyLong_AsUnsignedLongLong(object);
    }
    if (overflow < 0 || (overflow && PyErr_Occurred())) { /* wider ones become floats, where a float is wanted */
        PyErr_Clear();
        arg->dtype = TS_DTYPE_float64;
        arg->value.f = PyLong_AsDouble(object);
    }
    if (overflow && PyErr_Occurred())
        PyErr_SetString(PyExc_OverflowError, "the int does not fit 64 bits, nor a float64");
    return PyErr_Occurred() ? -1 : 0;
}

static int args_take_int(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    (void)state;
    (void)extra;
    ts_arg *arg = core_frame_next(frame);
    return arg ? args_read_int(arg, object) : -1;
}

int core_read_number(ts_arg *arg, PyObject *object)
{
    if (PyLong_Check(object))
        return args_read_int(arg, object);
    arg->kind = TS_SPEC_FLOAT;
    arg->value.f = PyFloat_AsDouble(object);
    return 0;
}

static int args_take_bool(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    (void)state;
    (void)extra;
    ts_arg *arg = core_frame_next(frame);
    if (!arg)
        return -1;
    arg->kind = TS_SPEC_BOOL;
    arg->value.i = object == Py_True;
    return 0;
}

static int args_take_float(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    (void)state;
    (void)extra;
    ts_arg *arg = core_frame_next(frame);
    if (!arg)
        return -1;
    arg->kind = TS_SPEC_FLOAT;
    arg->value.f = PyFloat_AS_DOUBLE(object);
    return 0;
}

static int args_take_none(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    (void)state;
    (void)object;
    (void)extra;
    ts_arg *arg = core_frame_next(frame);
    if (!arg)
        return -1;
    arg->kind = TS_SPEC_NONE;
    return 0;
}

/* Four arguments: a slot of a launch has 8 bytes, and code takes complex numbers apart anyway. The parts, which come
 * last, are left to be filled. */
static ts_arg *args_complex(core_frame *frame)
{
    ts_arg *whole = core_frame_next(frame), *tuple = whole ? core_frame_next(frame) : NULL;
    ts_arg *re = tuple ? core_frame_next(frame) : NULL, *im = re ? core_frame_next(frame) : NULL;
    if (!im)
        return NULL;
    whole->kind = TS_SPEC_COMPLEX;
    whole->fields = "real,imag";
    tuple->kind = TS_SPEC_TUPLE;
    tuple->value.i = 2;
    return re;
}

static int args_take_complex(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    (void)state, (void)extra;
    Py_complex value = PyComplex_AsCComplex(object);
    ts_arg *part = args_complex(frame);
    for (int i = 0; part && i < 2; i++) {
        part[i].kind = TS_SPEC_FLOAT;
        part[i].value.f = i ? value.imag : value.real;
    }
    return part ? 0 : -1;
}

/* The bytes of a NumPy scalar of a dtype. */
static int args_scalar(core_frame *frame, ts_dtype dtype, const Py_buffer *view)
{
    bool is_complex = ts_dtype_get(dtype)->kind == 'c';
    ts_arg *arg = is_complex ? args_complex(frame) : core_frame_next(frame);
    size_t bytes = (size_t)view->len / (is_complex ? 2 : 1);
    for (size_t i = 0; arg && i < (is_complex ? 2 : 1) && bytes <= 8; i++) {
        arg[i].kind = TS_SPEC_SCALAR;
        arg[i].dtype = is_complex ? ts_dtype_get(dtype)->part : (uint8_t)dtype;
        memcpy(&arg[i].value.bits, (const char *)view->buf + i * bytes, bytes);
    }
    return arg ? 0 : -1;
}

/* The dtype of a scalar of NumPy that its class says, as a word that is remembered with the class: the name of
 * object.dtype is computed by Python each time, which costs more than the launch. None of classes that are made by
 * Python, whose names may be anything. */
static const void *args_scalar_dtype(PyTypeObject *type)
{
    bool own = !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) && strncmp(type->tp_name, "numpy.", 6) == 0;
    return (const void *)(uintptr_t)(own ? core_dtype_named(type->tp_name + 6) : TS_DTYPE_NONE);
}

/* NumPy scalars: their bytes are the element. */
static int args_take_scalar(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    ts_dtype dtype = (ts_dtype)(uintptr_t)extra;
    Py_buffer view;
    if (dtype == TS_DTYPE_NONE && core_own_dtype(state, object, &dtype) < 0)
        return -1;
    if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) < 0)
        return -1;
    int got = args_scalar(frame, dtype, &view);
    PyBuffer_Release(&view);
    return got;
}

/* A record of NumPy. */
static int args_take_void(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    return args_takes_structs(frame) ? args_take_later(state, frame, object, extra)
                                     : args_take_scalar(state, frame, object, NULL);
}

/* Items by a tuple that the frame keeps alive: another thread may change a list while the kernel runs.
 * Borrowed; NULL with exception. */
static PyObject *args_items(core_frame *frame, PyObject *sequence)
{
    if (PyTuple_Check(sequence))
        return sequence;
    PyObject *tuple = PyList_AsTuple(sequence);
    return tuple && core_frame_hold(frame, tuple) == 0 ? tuple : NULL;
}

static int args_take_items(core_state *state, core_frame *frame, PyObject *items)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++)
        if (core_take_object(state, frame, PyTuple_GET_ITEM(items, i)) < 0)
            return -1;
    return 0;
}

static int args_take_sequence(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    ts_arg *arg = core_frame_next(frame);
    PyObject *items = arg ? args_items(frame, object) : NULL;
    if (!items || Py_EnterRecursiveCall(" in kernel arguments"))
        return -1;
    arg->kind = extra ? TS_SPEC_LIST : TS_SPEC_TUPLE;
    arg->value.i = PyTuple_GET_SIZE(items);
    int got = args_take_items(state, frame, items);
    Py_LeaveRecursiveCall();
    return got;
}

/* A member of an IntEnum, IntFlag or another class of numbers with members: a constant of Python where the parameter is
 * one, else its number. */
static int args_take_member(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    if (frame->kernel)
        return args_take_later(state, frame, object, extra);
    ts_arg *arg = core_frame_next(frame);
    return arg ? core_read_number(arg, object) : -1;
}

/* Buffers have no dtype; launches of the driver's kernels pass them as addresses (host_launch.c). */
static int args_refuse_bytes(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    (void)state, (void)frame, (void)extra;
    uint64_t address;
    if (core_buffer_address((core_buffer *)object, &address) == 0)
        PyErr_SetString(PyExc_TypeError,
                        "is a Buffer (bytes without a dtype); pass buffer.view('float32'), or the dtype "
                                         "that is meant");
    return -1;
}

/* ---- finding the taker of a type ------------------------------------------------------------------*/

static const void *args_exchange_of(PyTypeObject *type)
{
    static const char *const names[] = {"__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"};
    for (int i = 0; i < 2; i++) {
        PyObject *found = PyObject_GetAttrString((PyObject *)type, names[i]);
        const args_exchange *table = NULL;
        if (found && PyCapsule_CheckExact(found))
            table = PyCapsule_GetPointer(found, PyCapsule_GetName(found));
        else if (found && PyLong_Check(found))
            table = PyLong_AsVoidPtr(found);
        Py_XDECREF(found);
        PyErr_Clear();
        if (table && table->version.major == 1 && table->borrow)
            return table;
    }
    return NULL;
}

/* Where Python has no lock, what cupy.c remembers of the class would need one: such arrays are read as others are. */
static bool args_is_cupy(PyTypeObject *type)
{
#ifdef Py_GIL_DISABLED
    (void)type;
    return false;
#else
    PyObject *module = PyObject_GetAttrString((PyObject *)type, "__module__");
    const char *name = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    const char *dot = strrchr(type->tp_name, '.');
    bool is = name && strncmp(name, "cupy", 4) == 0 && (name[4] == 0 || name[4] == '.') &&
              strcmp(dot ? dot + 1 : type->tp_name, "ndarray") == 0;
    Py_XDECREF(module);
    PyErr_Clear();
    return is;
#endif
}

/* The place of the slot `_argument` in objects of a class whose __slots__ name it; NULL: it has none. Where Python has
 * no lock, a slot cannot be read while others may write to it. */
static const void *args_held_place(core_state *state, PyTypeObject *type)
{
    Py_ssize_t place = 0;
#ifdef Py_GIL_DISABLED
    (void)state, (void)type;
#else
    PyObject *slot = PyObject_GetAttr((PyObject *)type, state->name_held_slot);
    if (slot && Py_IS_TYPE(slot, &PyMemberDescr_Type) && ((PyMemberDescrObject *)slot)->d_member->type == T_OBJECT_EX)
        place = ((PyMemberDescrObject *)slot)->d_member->offset;
    Py_XDECREF(slot);
    PyErr_Clear();
#endif
    return (const void *)place;
}

static bool args_is_of(PyTypeObject *type, const char *base)
{
    while (type && strcmp(type->tp_name, base) != 0)
        type = type->tp_base;
    return type != NULL;
}

bool core_is_record(core_state *state, PyTypeObject *type)
{
    bool tuple = PyType_IsSubtype(type, &PyTuple_Type);
    return type != &PyTuple_Type &&
           PyObject_HasAttr((PyObject *)type, tuple ? state->name_fields : state->name_dataclass_fields);
}

static bool args_is_number(PyTypeObject *type)
{
    return PyType_IsSubtype(type, &PyLong_Type) || PyType_IsSubtype(type, &PyFloat_Type);
}

static core_taker args_find(core_state *state, PyTypeObject *type)
{
    PyObject *as_object = (PyObject *)type;
    const void *exchange;
    if (PyType_IsSubtype(type, state->array_type))
        return (core_taker){type, args_take_array, NULL};
    if (PyType_IsSubtype(type, state->buffer_type))
        return (core_taker){type, args_refuse_bytes, NULL};
    if (PyObject_HasAttr(as_object, state->name_held))
        return (core_taker){type, args_take_held, args_held_place(state, type)};
    if (type == &PyBool_Type)
        return (core_taker){type, args_take_bool, NULL};
    if (args_is_of(type, "numpy.void"))
        return (core_taker){type, args_take_void, NULL};
    if (args_is_of(type, "numpy.generic"))
        return (core_taker){type, args_take_scalar, args_scalar_dtype(type)};
    if (type != &PyLong_Type && type != &PyFloat_Type && args_is_number(type) &&
        PyObject_HasAttrString(as_object, "__members__"))
        return (core_taker){type, args_take_member, NULL};
    if (PyType_IsSubtype(type, &PyLong_Type))
        return (core_taker){type, args_take_int, NULL};
    if (PyType_IsSubtype(type, &PyComplex_Type))
        return (core_taker){type, args_take_complex, NULL};
    if (PyType_IsSubtype(type, &PyFloat_Type))
        return (core_taker){type, args_take_float, NULL};
    if (type == Py_TYPE(Py_None))
        return (core_taker){type, args_take_none, NULL};
    if (PyType_IsSubtype(type, &PyTuple_Type))
        return (core_taker){type, core_is_record(state, type) ? args_take_later : args_take_sequence, NULL};
    if (PyType_IsSubtype(type, &PyList_Type))
        return (core_taker){type, args_take_sequence, type};
    if ((exchange = args_exchange_of(type)))
        return (core_taker){type, args_take_exchange, exchange};
    if (args_is_cupy(type) && (exchange = core_cupy_new(type)))
        return (core_taker){type, core_take_cupy, exchange};
    if (PyObject_HasAttr(as_object, state->name_cuda_array) &&
        !PyObject_HasAttr(as_object, state->name_array_interface))
        return (core_taker){type, args_take_cuda, NULL};
    if (type->tp_as_buffer && type->tp_as_buffer->bf_getbuffer && type != &PyBytes_Type)
        return (core_taker){type, args_take_buffer, NULL};
    if (PyObject_HasAttr(as_object, state->name_dlpack))
        return (core_taker){type, args_take_dlpack, NULL};
    if (core_is_record(state, type))
        return (core_taker){type, args_take_later, NULL};
    return (core_taker){0};
}

/* An object whose type says nothing may still say it of itself: wrappers set the dictionary of what they wrap. */
static int args_take_instance(core_state *state, core_frame *frame, PyObject *object)
{
    if (PyObject_HasAttr(object, state->name_cuda_array))
        return args_take_cuda(state, frame, object, NULL);
    if (PyObject_HasAttr(object, state->name_dlpack))
        return args_take_dlpack(state, frame, object, NULL);
    return args_take_later(state, frame, object, NULL); /* a constant, if the kernel has one there */
}

/* Looks at a type for the first time. */
#if defined(__GNUC__)
__attribute__((noinline))
#endif
static const core_taker *args_taker_new(core_state *state, PyTypeObject *type)
{
    if (CORE_GET(state->n_takers) == CORE_TAKERS)
        return NULL;
    core_taker taker = args_find(state, type), *place = NULL;
    if (!taker.take)
        return NULL;
    CORE_LOCK(&state->lock);
    int n = state->n_takers;
    if (n < CORE_TAKERS) { /* two threads may enter the same type: the second entry serves its finder only */
        Py_INCREF(type);
        place = &state->takers[n];
        *place = taker;
        CORE_SET(state->n_takers, n + 1);
    }
    CORE_UNLOCK(&state->lock);
    if (!place)
        core_taker_drop(&taker);
    return place;
}

/* How objects of a type are read, remembered; NULL where they are no arguments or there is no room. */
static inline const core_taker *args_taker(core_state *state, PyTypeObject *type)
{
    for (int i = 0, n = CORE_GET(state->n_takers); i < n; i++)
        if (state->takers[i].type == type)
            return &state->takers[i];
    return args_taker_new(state, type);
}

int core_borrow(core_state *state, PyObject *object, ts_dl_tensor *out)
{
    const core_taker *taker = args_taker(state, Py_TYPE(object));
    if (!taker || taker->take != args_take_exchange)
        return 0;
    const args_exchange *table = taker->extra;
    if (table->borrow(object, out) == 0)
        return 1;
    PyErr_Clear(); /* what the table cannot do, the capsule can or explains */
    return 0;
}

int core_take_object(core_state *state, core_frame *frame, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    const core_taker *known = args_taker(state, type);
    if (known)
        return known->take(state, frame, object, known->extra);
    core_taker taker = args_find(state, type);
    if (!taker.take)
        return args_take_instance(state, frame, object);
    int got = taker.take(state, frame, object, taker.extra);
    core_taker_drop(&taker);
    return got;
}

void core_taker_drop(core_taker *taker)
{
    if (taker->take == core_take_cupy)
        core_cupy_delete((void *)(uintptr_t)taker->extra);
}

void core_blame(const core_frame *frame, const ts_kernel *kernel, size_t at)
{
    PyObject *type, *value, *trace;
    char label[TS_ARG_LABEL];
    PyErr_Fetch(&type, &value, &trace);
    if (type != PyExc_TypeError && type != PyExc_ValueError && type != PyExc_OverflowError) {
        PyErr_Restore(type, value, trace);
        return;
    }
    ts_arg_label(kernel, frame->args, at, label);
    PyErr_Format(type, "kernel '%s', %s: %S", ts_kernel_name(kernel), label, value);
    Py_DECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

int core_take_vector(core_state *state, core_frame *frame, const ts_kernel *kernel, PyObject *const *args, Py_ssize_t n)
{
    frame->kernel = kernel;
    for (Py_ssize_t i = 0; i < n; i++) {
        size_t from = frame->n;
        const core_taker *taker = args_taker(state, Py_TYPE(args[i]));
        int got = taker ? taker->take(state, frame, args[i], taker->extra) : core_take_object(state, frame, args[i]);
        if (got < 0) {
            core_blame(frame, kernel, from);
            return -1;
        }
        if (frame->has_constants && core_take_constants(state, frame, from, kernel, (size_t)i) < 0)
            return -1;
    }
    return 0;
}

int core_take_args(core_state *state, core_frame *frame, const ts_kernel *kernel, PyObject *args)
{
    if (!PyTuple_Check(args) && !PyList_Check(args)) {
        PyErr_Format(PyExc_TypeError, "kernel '%s' takes its arguments as a tuple, not as a %.200s",
                     ts_kernel_name(kernel), Py_TYPE(args)->tp_name);
        return -1;
    }
    PyObject *items = args_items(frame, args);
    return items ? core_take_vector(state, frame, kernel, PySequence_Fast_ITEMS(items), PyTuple_GET_SIZE(items)) : -1;
}
