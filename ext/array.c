/* SPDX-License-Identifier: Apache-2.0
 *
 * tessera.Array: a strided view of device memory (array.h) as a Python object. Creation, views, copies
 * to and from anything with the buffer protocol, DLPack both ways, __cuda_array_interface__, and the
 * buffer protocol itself for host memory.
 */
#include "core.h"
#include <string.h>

#define ARRAY(object) (((core_array *)(object))->array)
#define STATE(object) (((core_array *)(object))->state)

PyObject *core_array_wrap(core_state *state, ts_array *array)
{
    core_array *self = (core_array *)state->array_type->tp_alloc(state->array_type, 0);
    if (!self) {
        ts_array_release(array);
        return NULL;
    }
    self->state = state;
    self->array = array;
    return (PyObject *)self;
}

/* The result of a call that made `array`, or its error. */
static PyObject *array_result(core_state *state, ts_status status, ts_array *const *array, const ts_error *err)
{
    return status == TS_OK ? core_array_wrap(state, *array) : core_raise(state, err);
}

static bool array_on_host(const ts_array *array)
{
    return ts_device_caps_of(array->device) & TS_DEVICE_HOST_MEMORY;
}

/* A GPU's memory goes back through its driver, which may wait. */
static void array_release(ts_array *array)
{
    if (!array || array_on_host(array)) {
        ts_array_release(array);
        return;
    }
    Py_BEGIN_ALLOW_THREADS;
    ts_array_release(array);
    Py_END_ALLOW_THREADS;
}

static void array_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    array_release(ARRAY(self));
    type->tp_free(self);
    Py_DECREF(type);
}

static int array_alive(PyObject *self)
{
    ts_error err;
    if (ts_buffer_check(ARRAY(self)->buffer, &err) == TS_OK)
        return 0;
    core_raise(STATE(self), &err);
    return -1;
}

/* ---- shapes -----------------------------------------------------------------------------------------*/

/* A tuple of a shape, which other threads do not change. */
static PyObject *array_items(PyObject *object)
{
    PyObject *items = PySequence_Tuple(object);
    if (!items && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_SetString(PyExc_TypeError, "a shape is an int or a sequence of ints");
    return items;
}

static int array_shape(PyObject *object, uint32_t *rank, int64_t *shape)
{
    if (PyLong_Check(object)) {
        *rank = 1;
        shape[0] = PyLong_AsLongLong(object);
        return PyErr_Occurred() ? -1 : 0;
    }
    PyObject *items = array_items(object);
    if (!items)
        return -1;
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    if (n > TS_ARRAY_RANK) {
        Py_DECREF(items);
        PyErr_Format(PyExc_ValueError, "a shape of %zd dimensions; the limit is %d", n, TS_ARRAY_RANK);
        return -1;
    }
    *rank = (uint32_t)n;
    for (Py_ssize_t d = 0; d < n && !PyErr_Occurred(); d++)
        shape[d] = PyLong_AsLongLong(PyTuple_GET_ITEM(items, d));
    Py_DECREF(items);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *array_tuple(const int64_t *values, uint32_t n, int64_t scale)
{
    PyObject *tuple = PyTuple_New(n);
    for (uint32_t d = 0; tuple && d < n; d++) {
        PyObject *item = PyLong_FromLongLong(values[d] * scale);
        if (!item)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, d, item);
    }
    return tuple;
}

/* ---- making -----------------------------------------------------------------------------------------*/

static int array_parse(PyObject *module, PyObject *args, PyObject *kwargs, const char *format, PyObject **value,
                       ts_dtype *dtype, uint32_t *rank, int64_t *shape, ts_device **device)
{
    static char *plain[] = {"shape", "dtype", "device", NULL}, *filled[] = {"shape", "value", "dtype", "device", NULL};
    core_state *state = PyModule_GetState(module);
    PyObject *shape_object, *dtype_object = Py_None, *device_object = Py_None;
    int ok = value ? PyArg_ParseTupleAndKeywords(args, kwargs, format, filled, &shape_object, value,
                                                 &dtype_object, &device_object)
                   : PyArg_ParseTupleAndKeywords(args, kwargs, format, plain, &shape_object,
                                                 &dtype_object, &device_object);
    if (!ok || array_shape(shape_object, rank, shape) < 0)
        return -1;
    *dtype = TS_DTYPE_float32;
    if (dtype_object != Py_None && core_dtype_of(state, dtype_object, dtype) < 0)
        return -1;
    return core_device_of(state, device_object, device);
}

typedef ts_status array_maker(ts_device *, const ts_stream *, ts_dtype, uint32_t, const int64_t *,
                              ts_array **, ts_error *);

static PyObject *array_make(PyObject *module, PyObject *args, PyObject *kwargs, const char *format, array_maker *make)
{
    ts_dtype dtype;
    uint32_t rank;
    int64_t shape[TS_ARRAY_RANK];
    ts_device *device;
    ts_array *array;
    ts_error err;
    if (array_parse(module, args, kwargs, format, NULL, &dtype, &rank, shape, &device) < 0)
        return NULL;
    return array_result(PyModule_GetState(module), make(device, NULL, dtype, rank, shape, &array, &err), &array, &err);
}

static PyObject *array_empty(PyObject *module, PyObject *args, PyObject *kwargs)
{
    return array_make(module, args, kwargs, "O|OO:empty", ts_array_empty);
}

static PyObject *array_zeros(PyObject *module, PyObject *args, PyObject *kwargs)
{
    return array_make(module, args, kwargs, "O|OO:zeros", ts_array_zeros);
}

/* Copies the elements of host memory into a new array. */
static PyObject *array_from_foreign(core_state *state, const core_foreign *foreign, ts_device *device)
{
    const ts_layout *from = &foreign->layout;
    ts_array *array = NULL;
    ts_error err;
    ts_status status;
    if (core_foreign_check(state, foreign) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = ts_array_empty(device, NULL, foreign->dtype, (uint32_t)from->rank, from->shape, &array, &err);
    if (status == TS_OK)
        status = ts_array_from_host(array, NULL, from->data, from->strides, &err);
    Py_END_ALLOW_THREADS;
    if (status != TS_OK && array)
        ts_array_release(array);
    return array_result(state, status, &array, &err);
}

static PyObject *array_of_array(core_state *state, ts_array *source, ts_device *device)
{
    ts_array *copy;
    ts_error err;
    ts_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = ts_array_copy(source, device, NULL, &copy, &err);
    Py_END_ALLOW_THREADS;
    return array_result(state, status, &copy, &err);
}

/* The buffer of an object, or of a view of its bytes: NumPy's bfloat16 and narrow floats have no buffer format. */
static int array_get_buffer(core_state *state, PyObject *object, Py_buffer *view, ts_dtype *dtype)
{
    *dtype = TS_DTYPE_NONE; /* as the buffer says */
    if (PyObject_GetBuffer(object, view, PyBUF_STRIDED_RO | PyBUF_FORMAT) == 0)
        return 0;
    PyErr_Clear();
    if (!PyObject_HasAttr(object, state->name_dtype)) {
        PyErr_Format(PyExc_TypeError, "an array is wanted, found %.200s, which has neither the buffer protocol nor a "
                     "dtype", Py_TYPE(object)->tp_name);
        return -1;
    }
    PyObject *bytes = NULL;
    if (core_own_dtype(state, object, dtype) == 0)
        bytes = PyObject_CallMethod(object, "view", "s", ts_dtype_bytes(*dtype) == 2 ? "u2" : "u1");
    if (!bytes)
        return -1;
    int got = PyObject_GetBuffer(bytes, view, PyBUF_STRIDED_RO);
    Py_DECREF(bytes);
    return got;
}

/* A new array with the elements of what has the buffer protocol. */
static PyObject *array_of_buffer(core_state *state, PyObject *object, ts_device *device)
{
    Py_buffer view;
    ts_dtype dtype;
    core_foreign foreign;
    int64_t dims[2 * TS_ARRAY_RANK];
    if (array_get_buffer(state, object, &view, &dtype) < 0)
        return NULL;
    int got = core_rank_check(view.ndim);
    if (got == 0)
        got = core_foreign_of_view(state, object, &view, dtype, dims, &foreign);
    PyObject *result = got == 0 ? array_from_foreign(state, &foreign, device) : NULL;
    PyBuffer_Release(&view);
    return result;
}

static PyObject *array_import(core_state *state, PyObject *object)
{
    ts_array *array;
    ts_error err;
    PyObject *capsule = core_dlpack(state, object);
    if (!capsule)
        return NULL;
    PyObject *result = NULL;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        ts_dl_managed_versioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (ts_array_from_dlpack_versioned(managed, &array, &err) == TS_OK) {
            PyCapsule_SetName(capsule, "used_dltensor_versioned");
            result = core_array_wrap(state, array);
        } else
            core_raise(state, &err);
    } else {
        ts_dl_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
        if (managed && ts_array_from_dlpack(managed, &array, &err) == TS_OK) {
            PyCapsule_SetName(capsule, "used_dltensor");
            result = core_array_wrap(state, array);
        } else if (managed)
            core_raise(state, &err);
    }
    Py_DECREF(capsule);
    return result;
}

static PyObject *array_from_dlpack(PyObject *module, PyObject *object)
{
    return array_import(PyModule_GetState(module), object);
}

/* copy_of(object, device): a new array with the elements of anything array-like. */
static PyObject *array_copy_of(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *object, *place = Py_None;
    ts_device *device;
    if (!PyArg_ParseTuple(args, "O|O:copy_of", &object, &place))
        return NULL;
    if (PyObject_TypeCheck(object, state->array_type)) {
        device = NULL;
        if (array_alive(object) < 0 || (place != Py_None && core_device_of(state, place, &device) < 0))
            return NULL;
        return array_of_array(state, ARRAY(object), device);
    }
    if (!PyObject_CheckBuffer(object) && PyObject_HasAttr(object, state->name_dlpack)) {
        PyObject *lent = array_import(state, object), *copy = NULL;
        device = NULL;
        if (lent && (place == Py_None || core_device_of(state, place, &device) == 0))
            copy = array_of_array(state, ARRAY(lent), device);
        Py_XDECREF(lent);
        return copy;
    }
    return core_device_of(state, place, &device) < 0 ? NULL : array_of_buffer(state, object, device);
}

/* ---- views ------------------------------------------------------------------------------------------*/

/* Applies one index to axis *axis of *array (owned); advances the axis. */
static int array_index_one(core_state *state, ts_array **array, uint32_t *axis, PyObject *index)
{
    ts_array *next = NULL;
    ts_error err;
    ts_status status;
    if (*axis >= (*array)->rank) {
        PyErr_Format(PyExc_IndexError, "too many indices for an array of %d dimensions", (*array)->rank);
        return -1;
    }
    int64_t extent = (*array)->shape[*axis];
    if (PySlice_Check(index)) {
        Py_ssize_t start, stop, step;
        if (PySlice_Unpack(index, &start, &stop, &step) < 0)
            return -1;
        PySlice_AdjustIndices(extent, &start, &stop, step);
        status = ts_array_slice(*array, *axis, start, stop, step, &next, &err);
        ++*axis;
    } else {
        int64_t i = PyNumber_AsSsize_t(index, PyExc_IndexError);
        if (i == -1 && PyErr_Occurred())
            return -1;
        if (i < -extent || i >= extent) {
            PyErr_Format(PyExc_IndexError, "index %lld is out of range for axis %u of extent %lld",
                         (long long)i, *axis, (long long)extent);
            return -1;
        }
        status = ts_array_pick(*array, *axis, i < 0 ? i + extent : i, &next, &err);
    }
    if (status != TS_OK) {
        core_raise(state, &err);
        return -1;
    }
    ts_array_release(*array);
    *array = next;
    return 0;
}

static PyObject *array_subscript(PyObject *self, PyObject *key)
{
    if (array_alive(self) < 0)
        return NULL;
    PyObject *keys = PyTuple_Check(key) ? Py_NewRef(key) : PyTuple_Pack(1, key);
    if (!keys)
        return NULL;
    ts_array *array = ARRAY(self);
    ts_array_retain(array);
    Py_ssize_t n = PyTuple_GET_SIZE(keys);
    uint32_t axis = 0;
    int ok = 1;
    for (Py_ssize_t i = 0; i < n && ok; i++) {
        PyObject *item = PyTuple_GET_ITEM(keys, i);
        if (item == Py_Ellipsis)
            axis =
                (uint32_t)(array->rank - (n - 1 - i) > (Py_ssize_t)axis ? array->rank - (n - 1 - i)
                                                                        : (Py_ssize_t)axis);
        else
            ok = array_index_one(STATE(self), &array, &axis, item) == 0;
    }
    Py_DECREF(keys);
    if (!ok) {
        ts_array_release(array);
        return NULL;
    }
    return core_array_wrap(STATE(self), array);
}

static PyObject *array_reshape(PyObject *self, PyObject *args)
{
    uint32_t rank;
    int64_t shape[TS_ARRAY_RANK];
    ts_array *out;
    ts_error err;
    PyObject *object = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : args;
    if (array_shape(object, &rank, shape) < 0)
        return NULL;
    return array_result(STATE(self), ts_array_reshape(ARRAY(self), rank, shape, &out, &err), &out, &err);
}

static PyObject *array_transpose(PyObject *self, PyObject *args)
{
    uint32_t n, axes[TS_ARRAY_RANK];
    int64_t values[TS_ARRAY_RANK];
    ts_array *out;
    ts_error err;
    if (PyTuple_GET_SIZE(args) == 0)
        return array_result(STATE(self), ts_array_transpose(ARRAY(self), NULL, &out, &err), &out, &err);
    PyObject *object = PyTuple_GET_SIZE(args) == 1 && !PyLong_Check(PyTuple_GET_ITEM(args, 0))
                           ? PyTuple_GET_ITEM(args, 0)
                           : args;
    if (array_shape(object, &n, values) < 0)
        return NULL;
    if (n != ARRAY(self)->rank) {
        PyErr_Format(PyExc_ValueError, "transpose of %d dimensions takes %d axes, not %u",
                     ARRAY(self)->rank, ARRAY(self)->rank, n);
        return NULL;
    }
    for (uint32_t d = 0; d < n; d++) {
        if (values[d] < -(int64_t)n || values[d] >= (int64_t)n) {
            PyErr_Format(PyExc_ValueError, "axis %lld is out of range for %u dimensions", (long long)values[d], n);
            return NULL;
        }
        axes[d] = (uint32_t)(values[d] < 0 ? values[d] + n : values[d]);
    }
    return array_result(STATE(self), ts_array_transpose(ARRAY(self), axes, &out, &err), &out, &err);
}

static PyObject *array_view(PyObject *self, PyObject *type)
{
    ts_dtype dtype;
    ts_array *out;
    ts_error err;
    if (core_dtype_of(STATE(self), type, &dtype) < 0)
        return NULL;
    return array_result(STATE(self), ts_array_view(ARRAY(self), dtype, &out, &err), &out, &err);
}

static PyObject *array_copy(PyObject *self, PyObject *args)
{
    PyObject *place = Py_None;
    ts_device *device = NULL;
    if (!PyArg_ParseTuple(args, "|O:copy", &place) || array_alive(self) < 0)
        return NULL;
    if (place != Py_None && core_device_of(STATE(self), place, &device) < 0)
        return NULL;
    return array_of_array(STATE(self), ARRAY(self), device);
}

static PyObject *array_free(PyObject *self, PyObject *unused)
{
    ts_status status;
    ts_error err;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS;
    status = ts_buffer_free(ARRAY(self)->buffer, &err);
    Py_END_ALLOW_THREADS;
    return status == TS_OK ? Py_NewRef(Py_None) : core_raise(STATE(self), &err);
}

/* ---- to and from host memory --------------------------------------------------------------------------*/

/* Whether a host array has the shape of ours. */
static bool array_fits(const ts_array *array, const core_foreign *host)
{
    bool same = host->layout.rank == array->rank;
    for (int32_t d = 0; same && d < array->rank; d++)
        same = host->layout.shape[d] == array->shape[d];
    if (!same)
        PyErr_SetString(PyExc_ValueError, "the host array must have the same shape and item size");
    return same;
}

static PyObject *array_move_view(PyObject *self, const core_foreign *host, bool to_host)
{
    ts_array *array = ARRAY(self);
    ts_error err;
    ts_status status;
    void *data = (void *)(uintptr_t)host->layout.data;
    if (core_foreign_check(STATE(self), host) < 0 || !array_fits(array, host))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = to_host ? ts_array_to_host(array, NULL, data, host->layout.strides, &err)
                     : ts_array_from_host(array, NULL, data, host->layout.strides, &err);
    Py_END_ALLOW_THREADS;
    return status == TS_OK ? Py_NewRef(Py_None) : core_raise(STATE(self), &err);
}

static PyObject *array_move(PyObject *self, PyObject *object, bool to_host)
{
    Py_buffer view;
    core_foreign host;
    int64_t dims[2 * TS_ARRAY_RANK];
    if (array_alive(self) < 0 || PyObject_GetBuffer(object, &view, to_host ? PyBUF_STRIDED : PyBUF_STRIDED_RO) < 0)
        return NULL;
    int got = core_rank_check(view.ndim);
    if (got == 0)
        got = core_foreign_of_view(STATE(self), object, &view, (ts_dtype)ARRAY(self)->dtype, dims, &host);
    PyObject *result = got == 0 ? array_move_view(self, &host, to_host) : NULL;
    PyBuffer_Release(&view);
    return result;
}

/* Extents or steps from a tuple of at most TS_ARRAY_RANK ints. */
static int array_ints(PyObject *tuple, uint32_t *n, int64_t *out)
{
    *n = (uint32_t)PyTuple_GET_SIZE(tuple);
    if (core_rank_check(PyTuple_GET_SIZE(tuple)) < 0)
        return -1;
    for (uint32_t d = 0; d < *n; d++) {
        out[d] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, d));
        if (out[d] == -1 && PyErr_Occurred())
            return -1;
    }
    return 0;
}

/* _part(offset in bytes from the first element, dtype, shape, strides in elements): any array in the same memory. */
static PyObject *array_part(PyObject *self, PyObject *args)
{
    unsigned long long offset;
    PyObject *dtype_object, *shape_object, *strides_object;
    ts_dtype dtype;
    uint32_t rank, n_strides;
    int64_t shape[TS_ARRAY_RANK], strides[TS_ARRAY_RANK];
    ts_array *part;
    ts_error err;
    if (!PyArg_ParseTuple(args, "KOO!O!:_part", &offset, &dtype_object, &PyTuple_Type, &shape_object, &PyTuple_Type,
                          &strides_object) ||
        core_dtype_of(STATE(self), dtype_object, &dtype) < 0 || array_ints(shape_object, &rank, shape) < 0 ||
        array_ints(strides_object, &n_strides, strides) < 0)
        return NULL;
    if (n_strides != rank)
        return PyErr_Format(PyExc_ValueError, "%u strides for %u axes", n_strides, rank);
    offset += (uintptr_t)ARRAY(self)->data - (uintptr_t)ts_buffer_data(ARRAY(self)->buffer);
    ts_status status = ts_array_of(ARRAY(self)->buffer, offset, dtype, rank, shape, strides, &part, &err);
    return array_result(STATE(self), status, &part, &err);
}

static PyObject *array_to_host(PyObject *self, PyObject *host)
{
    return array_move(self, host, true);
}

static PyObject *array_from_host(PyObject *self, PyObject *host)
{
    return array_move(self, host, false);
}

/* Of the buffer protocol; NULL when it has none. */
static const char *array_format(ts_dtype dtype)
{
    const char *format = ts_dtype_get(dtype)->format;
    return *format ? format : NULL;
}

/* Whether the elements lie as the consumer asks; without strides it takes them to be row-major. */
static bool array_lies_as_asked(const Py_buffer *view, int flags)
{
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS)
        return PyBuffer_IsContiguous(view, 'C');
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS)
        return PyBuffer_IsContiguous(view, 'F');
    return (flags & PyBUF_ANY_CONTIGUOUS) != PyBUF_ANY_CONTIGUOUS || PyBuffer_IsContiguous(view, 'A');
}

/* The whole view, lent; what was not asked for is taken out by the caller. */
static int array_lend_view(PyObject *self, Py_buffer *view, const char *format)
{
    const ts_array *array = ARRAY(self);
    Py_ssize_t item = (Py_ssize_t)ts_dtype_bytes(array->dtype);
    Py_ssize_t *dims = PyMem_Malloc((2 * (size_t)array->rank + 1) * sizeof *dims);
    ts_error err;
    if (!dims) {
        PyErr_NoMemory();
        return -1;
    }
    if (ts_buffer_lend(array->buffer, &err) != TS_OK) {
        PyMem_Free(dims);
        core_raise(STATE(self), &err);
        return -1;
    }
    for (int d = 0; d < array->rank; d++) {
        dims[d] = array->shape[d];
        dims[array->rank + d] = array->strides[d] * item;
    }
    *view = (Py_buffer){.buf = array->data,
                        .obj = Py_NewRef(self),
                        .len = ts_array_count(array) * item,
                        .itemsize = item,
                        .readonly = array->flags & TS_ARRAY_READONLY,
                        .ndim = array->rank,
                        .internal = dims,
                        .format = (char *)(uintptr_t)format,
                        .shape = dims,
                        .strides = dims + array->rank};
    return 0;
}

static int array_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    const ts_array *array = ARRAY(self);
    const char *format = array_format(array->dtype), *problem = NULL;
    view->obj = NULL;
    if (array_alive(self) < 0)
        return -1;
    if (!array_on_host(array) || !format) {
        PyErr_SetString(PyExc_BufferError,
                        format ? "an array in GPU memory has no buffer; use .numpy()"
                               : "this dtype has no buffer format; use .view('uint8')");
        return -1;
    }
    if (array_lend_view(self, view, format) < 0)
        return -1;
    if ((flags & PyBUF_WRITABLE) && view->readonly)
        problem = "the array is read-only";
    else if (!array_lies_as_asked(view, flags))
        problem = "the array is not contiguous; copy it first";
    if (problem) {
        PyBuffer_Release(view);
        PyErr_SetString(PyExc_BufferError, problem);
        return -1;
    }
    if (!(flags & PyBUF_FORMAT))
        view->format = NULL;
    if (!(flags & PyBUF_ND))
        view->shape = NULL;
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES)
        view->strides = NULL;
    return 0;
}

static void array_releasebuffer(PyObject *self, Py_buffer *view)
{
    PyMem_Free(view->internal);
    ts_buffer_unlend(ARRAY(self)->buffer);
}

/* ---- interchange --------------------------------------------------------------------------------------*/

static PyObject *array_capsule(PyObject *self, ts_array *array, int major)
{
    ts_error err;
    ts_dl_managed *plain;
    ts_dl_managed_versioned *versioned;
    ts_status status = major >= 1 ? ts_array_to_dlpack_versioned(array, &versioned, &err)
                                  : ts_array_to_dlpack(array, &plain, &err);
    if (status != TS_OK)
        return core_raise(STATE(self), &err);
    return major >= 1 ? core_capsule_new(versioned, true) : core_capsule_new(plain, false);
}

/* The consumer's stream waits for ours by waiting for everything: the pool's order is per device. */
static PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    long major = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &version, &device, &copy))
        return NULL;
    if (PyTuple_Check(version) && PyTuple_GET_SIZE(version) == 2)
        major = PyLong_AsLong(PyTuple_GET_ITEM(version, 0));
    if (PyErr_Occurred() || array_alive(self) < 0)
        return NULL;
    bool none_wanted = PyLong_Check(stream) && PyLong_AsLong(stream) == -1;
    if (!array_on_host(ARRAY(self)) && !none_wanted && core_wait_device(STATE(self), ARRAY(self)->device) < 0)
        return NULL;
    if (copy != Py_True)
        return array_capsule(self, ARRAY(self), (int)major);
    PyObject *fresh = array_of_array(STATE(self), ARRAY(self), NULL);
    PyObject *capsule = fresh ? array_capsule(self, ARRAY(fresh), (int)major) : NULL;
    Py_XDECREF(fresh);
    return capsule;
}

static PyObject *array_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)unused;
    uint16_t id = ts_device_id(ARRAY(self)->device);
    return Py_BuildValue("(ii)", array_on_host(ARRAY(self)) ? 1 : 2, TS_DEVICE_ID_ORDINAL(id));
}

static PyObject *array_get_cuda_interface(PyObject *self, void *unused)
{
    (void)unused;
    const ts_array *array = ARRAY(self);
    if (array_on_host(array) || !array_format(array->dtype)) {
        PyErr_SetString(PyExc_AttributeError, "__cuda_array_interface__");
        return NULL;
    }
    if (array_alive(self) < 0)
        return NULL;
    PyObject *shape = array_tuple(array->shape, array->rank, 1);
    PyObject *strides = array_tuple(array->strides, array->rank, (int64_t)ts_dtype_bytes(array->dtype));
    if (!shape || !strides)
        return NULL;
    return Py_BuildValue("{s:i,s:s,s:(KO),s:N,s:N}", "version", 3, "typestr",
                         ts_dtype_get(array->dtype)->typestr, "data",
                         (unsigned long long)(uintptr_t)array->data,
                         array->flags & TS_ARRAY_READONLY ? Py_True : Py_False, "shape", shape,
                         "strides", strides);
}

/* ---- attributes -----------------------------------------------------------------------------------------*/

static PyObject *array_get_shape(PyObject *self, void *unused)
{
    (void)unused;
    return array_tuple(ARRAY(self)->shape, ARRAY(self)->rank, 1);
}

static PyObject *array_get_strides(PyObject *self, void *unused)
{
    (void)unused;
    return array_tuple(ARRAY(self)->strides, ARRAY(self)->rank, (int64_t)ts_dtype_bytes(ARRAY(self)->dtype));
}

static PyObject *array_get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return core_dtype_object(STATE(self), ARRAY(self)->dtype);
}

static PyObject *array_get_ndim(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(ARRAY(self)->rank);
}

static PyObject *array_get_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(ts_array_count(ARRAY(self)));
}

static PyObject *array_get_nbytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(ts_array_count(ARRAY(self)) * (int64_t)ts_dtype_bytes(ARRAY(self)->dtype));
}

static PyObject *array_get_pointer(PyObject *self, void *unused)
{
    (void)unused;
    return array_alive(self) < 0 ? NULL : PyLong_FromVoidPtr(ARRAY(self)->data);
}

static PyObject *array_get_device(PyObject *self, void *unused)
{
    (void)unused;
    uint16_t id = ts_device_id(ARRAY(self)->device);
    return array_on_host(ARRAY(self)) ? PyUnicode_FromString("cpu")
                                      : PyUnicode_FromFormat("cuda:%d", TS_DEVICE_ID_ORDINAL(id));
}

static PyObject *array_get_transposed(PyObject *self, void *unused)
{
    (void)unused;
    ts_array *out;
    ts_error err;
    return array_result(STATE(self), ts_array_transpose(ARRAY(self), NULL, &out, &err), &out, &err);
}

static Py_ssize_t array_length(PyObject *self)
{
    if (ARRAY(self)->rank)
        return ARRAY(self)->shape[0];
    PyErr_SetString(PyExc_TypeError, "an array of no dimensions has no length");
    return -1;
}

static PyObject *array_repr(PyObject *self)
{
    PyObject *shape = array_get_shape(self, NULL), *device = array_get_device(self, NULL), *text = NULL;
    ts_error err;
    if (shape && device)
        text = PyUnicode_FromFormat(
            "tessera.Array(shape=%R, dtype=%s, device=%U%s)", shape,
            ts_dtype_name(ARRAY(self)->dtype), device,
            ts_buffer_check(ARRAY(self)->buffer, &err) == TS_OK ? "" : ", freed");
    Py_XDECREF(shape);
    Py_XDECREF(device);
    return text;
}

/* NumPy is asked for only when a NumPy array is wanted: the Python side does it. */
static PyObject *array_python(PyObject *self, const char *function, PyObject *args)
{
    PyObject *module = PyImport_ImportModule("tessera._array");
    PyObject *callable = module ? PyObject_GetAttrString(module, function) : NULL;
    PyObject *all = callable ? PyTuple_Pack(1, self) : NULL;
    PyObject *joined = all ? PySequence_Concat(all, args) : NULL;
    PyObject *result = joined ? PyObject_Call(callable, joined, NULL) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(callable);
    Py_XDECREF(all);
    Py_XDECREF(joined);
    return result;
}

static PyObject *array_numpy(PyObject *self, PyObject *args)
{
    return array_python(self, "to_numpy", args);
}

static PyObject *array_as_numpy(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)kwargs; /* copy: always one for GPU memory */
    return array_python(self, "as_numpy", args);
}

static PyObject *array_tolist(PyObject *self, PyObject *args)
{
    return array_python(self, "to_list", args);
}

static PyMethodDef array_methods[] = {
    {"numpy", array_numpy, METH_VARARGS,
     "numpy()\n--\n\nA new NumPy array with the elements; waits for the device."},
    {"__array__", (PyCFunction)(void (*)(void))array_as_numpy, METH_VARARGS | METH_KEYWORDS,
     "The NumPy protocol; shares host memory, copies GPU memory."},
    {"tolist", array_tolist, METH_VARARGS,
     "tolist()\n--\n\nThe elements as nested lists of Python numbers (a number for no "
     "dimensions)."},
    {"reshape", array_reshape, METH_VARARGS,
     "reshape(*shape)\n--\n\nA view with another shape; one extent may be -1. Raises BufferError "
     "where only a copy could do it."},
    {"transpose", array_transpose, METH_VARARGS,
     "transpose(*axes)\n--\n\nA view with permuted axes; reversed when none are given."},
    {"view", array_view, METH_O, "view(dtype, /)\n--\n\nThe same bytes as another dtype."},
    {"copy", array_copy, METH_VARARGS,
     "copy(device=None, /)\n--\n\nA new row-major array with the same elements, on the same or "
     "another device."},
    {"free", array_free, METH_NOARGS,
     "free()\n--\n\nGives the memory back now; using the array or its views afterwards raises "
     "BufferError.\n"
     "Raises BufferError itself while another library shares the memory (NumPy, DLPack, a "
     "memoryview)."},
    {"_part", array_part, METH_VARARGS,
     "_part(offset, dtype, shape, strides, /)\n--\n\nAn array in the same memory; offset in bytes from the first "
     "element, strides in elements."},
    {"_to_host", array_to_host, METH_O, "Copies into a writable host buffer of the same shape."},
    {"_from_host", array_from_host, METH_O, "Copies from a host buffer of the same shape."},
    {"__dlpack__", (PyCFunction)(void (*)(void))array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nA DLPack "
     "capsule of this array."},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS,
     "(device type, ordinal) in DLPack's numbers."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef array_getset[] = {
    {"shape", array_get_shape, NULL, "Extents, a tuple of ints.", NULL},
    {"strides", array_get_strides, NULL, "Steps in bytes along each axis.", NULL},
    {"dtype", array_get_dtype, NULL, "Element type, a tessera dtype.", NULL},
    {"ndim", array_get_ndim, NULL, "Number of axes.", NULL},
    {"size", array_get_size, NULL, "Number of elements.", NULL},
    {"nbytes", array_get_nbytes, NULL, "Bytes of the elements.", NULL},
    {"ptr", array_get_pointer, NULL, "Address of the first element.", NULL},
    {"device", array_get_device, NULL, "'cpu' or 'cuda:N'.", NULL},
    {"T", array_get_transposed, NULL, "A view with the axes reversed.", NULL},
    {"__cuda_array_interface__", array_get_cuda_interface, NULL, "Version 3; GPU arrays only.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot array_slots[] = {
    {Py_tp_doc, "An array on a device. Made by tessera.array, empty, zeros, full, from_dlpack; indexing gives views."},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_methods, array_methods},
    {Py_tp_getset, array_getset},
    {Py_tp_repr, array_repr},
    {Py_mp_subscript, array_subscript},
    {Py_mp_length, array_length},
    {Py_bf_getbuffer, array_getbuffer},
    {Py_bf_releasebuffer, array_releasebuffer},
    {0, NULL},
};
static PyType_Spec array_spec = {"tessera._core.ArrayBase", sizeof(core_array), 0, Py_TPFLAGS_DEFAULT, array_slots};

static PyMethodDef array_functions[] = {
    {"empty", (PyCFunction)(void (*)(void))array_empty, METH_VARARGS | METH_KEYWORDS,
     "empty(shape, dtype=float32, device=None)\n--\n\nA new array with undefined contents on 'cpu' "
     "(None) or 'cuda:N'."},
    {"zeros", (PyCFunction)(void (*)(void))array_zeros, METH_VARARGS | METH_KEYWORDS,
     "zeros(shape, dtype=float32, device=None)\n--\n\nA new array of zeros."},
    {"copy_of", array_copy_of, METH_VARARGS,
     "copy_of(object, device=None, /)\n--\n\nA new array with the elements of a buffer, DLPack "
     "object or Array."},
    {"from_dlpack", array_from_dlpack, METH_O,
     "from_dlpack(object, /)\n--\n\nAn array that shares the memory of an object with __dlpack__."},
    {NULL, NULL, 0, NULL},
};

int core_array_init(PyObject *module, core_state *state)
{
    state->array_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &array_spec, NULL);
    if (!state->array_type || PyModule_AddObjectRef(module, "Array", (PyObject *)state->array_type) < 0)
        return -1;
    return PyModule_AddFunctions(module, array_functions);
}
