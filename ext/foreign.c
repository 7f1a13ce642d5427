/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of other libraries in C form. Each protocol is translated here, once: the buffer protocol, the dictionaries
 * __array_interface__ and __cuda_array_interface__, DLPack capsules (CuPy's attributes: cupy.c). A translation refuses
 * what cannot be put into C form and believes nothing else; where the elements lie is checked by ts_layout_check,
 * which a launch does by itself and core_foreign_check for all others.
 */
#include "core.h"
#include <stdlib.h>
#include <string.h>

int core_rank_check(Py_ssize_t rank)
{
    if (rank >= 0 && rank <= TS_ARRAY_RANK)
        return 0;
    PyErr_Format(PyExc_ValueError, "the array has %zd dimensions; the limit is %d", rank, TS_ARRAY_RANK);
    return -1;
}

/* ---- dtypes ------------------------------------------------------------------------------------------ */

/* The error that a dtype is none of ours becomes one about records, where it has fields. */
static void foreign_name_records(PyObject *dtype)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *names = PyObject_GetAttrString(dtype, "names");
    if (!names || !PyTuple_Check(names) || !PyTuple_GET_SIZE(names)) {
        PyErr_Restore(type, value, trace);
        Py_XDECREF(names);
        return;
    }
    PyErr_Format(PyExc_TypeError, "holds records of %R, which only kernels of threads (tessera.cuda) take; pass its "
                 "fields, such as array[%R]", dtype, PyTuple_GET_ITEM(names, 0));
    Py_DECREF(names);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/* The dtype of an object that has a .dtype attribute. */
int core_own_dtype(core_state *state, PyObject *object, ts_dtype *out)
{
    PyObject *dtype = PyObject_GetAttr(object, state->name_dtype);
    if (!dtype) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError))
            PyErr_Format(PyExc_TypeError,
                         "is a %.200s whose elements are of no dtype of Tessera, and it has no .dtype; "
                         "pass an array of numbers",
                         Py_TYPE(object)->tp_name);
        return -1;
    }
    int got = core_dtype_of(state, dtype, out);
    if (got < 0)
        foreign_name_records(dtype);
    Py_DECREF(dtype);
    return got;
}

/* Formats and type strings of NumPy begin with '>' or '!' where the bytes are not in the machine's order. */
static int foreign_byte_order(const char *format, Py_ssize_t itemsize)
{
    if (!format || itemsize <= 1 || (*format != '>' && *format != '!'))
        return 0;
    PyErr_Format(PyExc_ValueError,
                 "the array has the byte order of another machine (format '%.20s'): pass "
                 "array.astype(array.dtype.newbyteorder(\"=\"))",
                 format);
    return -1;
}

/* The dtype of an item of a size that the exporter also says. */
static int foreign_item(ts_dtype dtype, Py_ssize_t itemsize)
{
    if (itemsize == (Py_ssize_t)ts_dtype_bytes(dtype))
        return 0;
    PyErr_Format(PyExc_ValueError, "the array says that its elements are %s and that they have %zd bytes",
                 ts_dtype_name(dtype), itemsize);
    return -1;
}

/* "<f4", "|b1": byte order, kind, bytes. *bytes is 0 where it is not of that form. */
static ts_dtype foreign_typestr(const char *text, Py_ssize_t *bytes)
{
    *bytes = 0;
    if (!text || !strchr("<>|=", text[0]) || strlen(text) < 3 || strlen(text) > 6 ||
        strspn(text + 2, "0123456789") != strlen(text + 2))
        return TS_DTYPE_NONE;
    *bytes = strtol(text + 2, NULL, 10);
    return core_dtype_named(text + 1);
}

/* ---- the buffer protocol ------------------------------------------------------------------------------- */

static int foreign_view_dims(const Py_buffer *view, int64_t *dims)
{
    int rank = view->ndim;
    if (view->suboffsets) {
        for (int d = 0; d < rank; d++)
            if (view->suboffsets[d] >= 0) {
                PyErr_SetString(PyExc_ValueError, "the buffer's elements are reached by pointers; pass a copy");
                return -1;
            }
    }
    if (rank && !view->shape) {
        if (rank > 1) {
            PyErr_Format(PyExc_ValueError, "the buffer says it has %d dimensions but gives no shape", rank);
            return -1;
        }
        dims[0] = view->len / view->itemsize;
    }
    for (int d = 0; d < rank && view->shape; d++)
        dims[d] = view->shape[d];
    for (int d = 0; d < rank && view->strides; d++)
        dims[rank + d] = view->strides[d];
    return 0;
}

/* What is without gaps has as many bytes as its elements. */
static int foreign_view_size(const Py_buffer *view, const int64_t *shape)
{
    int64_t bytes = view->itemsize;
    bool odd = false;
    for (int d = 0; d < view->ndim; d++)
        odd |= __builtin_mul_overflow(bytes, shape[d], &bytes);
    if (!odd && bytes == view->len)
        return 0;
    PyErr_Format(PyExc_ValueError, "the buffer says that it has %zd bytes, which its shape does not", view->len);
    return -1;
}

int core_foreign_of_view(core_state *state, PyObject *object, const Py_buffer *view, ts_dtype dtype, int64_t *dims,
                         core_foreign *out)
{
    if (dtype == TS_DTYPE_NONE)
        dtype = core_dtype_of_format(view->format, view->itemsize);
    if (core_rank_check(view->ndim) < 0 || foreign_byte_order(view->format, view->itemsize) < 0 ||
        (dtype == TS_DTYPE_NONE && core_own_dtype(state, object, &dtype) < 0) ||
        foreign_item(dtype, view->itemsize) < 0 || foreign_view_dims(view, dims) < 0 ||
        (!view->strides && foreign_view_size(view, dims) < 0))
        return -1;
    *out = (core_foreign){.layout = {view->buf, view->ndim, (uint32_t)view->itemsize, 1, dims,
                                     view->strides ? dims + view->ndim : NULL},
                          .dtype = dtype, .device = TS_DEVICE_ID(TS_DEVICE_CPU, 0), .readonly = view->readonly != 0};
    return 0;
}

/* ---- dictionaries ---------------------------------------------------------------------------------------- */

/* What a dictionary holds, kept while it is read: numbers of a hostile kind run Python, which may change it. */
typedef struct foreign_parts {
    PyObject *shape, *strides, *data; /* owned; NULL: not there, or None */
} foreign_parts;

static PyObject *foreign_part(PyObject *dict, const char *name)
{
    PyObject *key = PyUnicode_FromString(name), *found = key ? core_dict_get(dict, key) : NULL;
    Py_XDECREF(key);
    if (found == Py_None)
        Py_CLEAR(found);
    PyErr_Clear();
    return found;
}

static void foreign_parts_end(foreign_parts *parts)
{
    Py_XDECREF(parts->shape);
    Py_XDECREF(parts->strides);
    Py_XDECREF(parts->data);
}

static int foreign_interface_dtype(core_state *state, PyObject *object, PyObject *dict, ts_dtype *dtype)
{
    PyObject *type = foreign_part(dict, "typestr");
    const char *text = type && PyUnicode_Check(type) ? PyUnicode_AsUTF8(type) : NULL;
    Py_ssize_t bytes;
    PyErr_Clear();
    *dtype = foreign_typestr(text, &bytes);
    int order = foreign_byte_order(text, bytes);
    Py_XDECREF(type);
    if (order < 0)
        return -1;
    if (*dtype != TS_DTYPE_NONE)
        return 0;
    if (core_own_dtype(state, object, dtype) < 0) /* bfloat16 and its like are "<V2" */
        return -1;
    return bytes ? foreign_item(*dtype, bytes) : 0;
}

static int foreign_numbers(const char *what, PyObject *tuple, Py_ssize_t n, int64_t *out)
{
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != n) {
        PyErr_Format(PyExc_TypeError, "malformed array interface: '%s' is %R, not a tuple of %zd integers", what,
                     tuple, n);
        return -1;
    }
    for (Py_ssize_t d = 0; d < n && !PyErr_Occurred(); d++)
        out[d] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, d));
    return PyErr_Occurred() ? -1 : 0;
}

static int foreign_data(PyObject *data, core_foreign *out)
{
    if (!data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2) {
        PyErr_SetString(PyExc_TypeError, "malformed array interface: 'data' must be a tuple (address, read-only)");
        return -1;
    }
    PyObject *address = PyTuple_GET_ITEM(data, 0);
    out->layout.data = address == Py_None ? NULL : PyLong_AsVoidPtr(address);
    out->readonly = !PyErr_Occurred() && PyObject_IsTrue(PyTuple_GET_ITEM(data, 1)) != 0;
    return PyErr_Occurred() ? -1 : 0;
}

/* `dims` gets extents, then strides, where they are told. */
static int foreign_of_parts(const foreign_parts *parts, int64_t *dims, core_foreign *out)
{
    if (!parts->shape || !PyTuple_Check(parts->shape)) {
        PyErr_SetString(PyExc_TypeError, "malformed array interface: it needs a tuple 'shape'");
        return -1;
    }
    Py_ssize_t rank = PyTuple_GET_SIZE(parts->shape);
    if (core_rank_check(rank) < 0 || foreign_numbers("shape", parts->shape, rank, dims) < 0 ||
        (parts->strides && foreign_numbers("strides", parts->strides, rank, dims + rank) < 0) ||
        foreign_data(parts->data, out) < 0)
        return -1;
    out->layout.rank = (int32_t)rank;
    out->layout.item_bytes = (uint32_t)ts_dtype_bytes(out->dtype);
    out->layout.stride_bytes = 1;
    out->layout.shape = dims;
    out->layout.strides = parts->strides ? dims + rank : NULL;
    return 0;
}

int core_foreign_of_interface(core_state *state, PyObject *object, PyObject *dict, uint16_t device,
                              int64_t dims[2 * TS_ARRAY_RANK], core_foreign *out)
{
    *out = (core_foreign){.device = device};
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "malformed array interface: not a dictionary");
        return -1;
    }
    PyObject *mask = foreign_part(dict, "mask");
    Py_XDECREF(mask);
    if (mask) {
        PyErr_SetString(PyExc_TypeError, "an array with a mask cannot be passed; pass its data and its mask");
        return -1;
    }
    if (foreign_interface_dtype(state, object, dict, &out->dtype) < 0)
        return -1;
    foreign_parts parts = {foreign_part(dict, "shape"), foreign_part(dict, "strides"), foreign_part(dict, "data")};
    int got = foreign_of_parts(&parts, dims, out);
    foreign_parts_end(&parts);
    return got;
}

/* ---- what is done with them --------------------------------------------------------------------------------- */

int core_foreign_arg(const core_foreign *foreign, int64_t *dims, ts_arg *out)
{
    const ts_layout *layout = &foreign->layout;
    int64_t *strides = dims + layout->rank, item = layout->item_bytes;
    int shift = __builtin_ctzll((unsigned long long)item); /* items are 1, 2, 4 or 8 bytes */
    for (int32_t d = 0; layout->strides && d < layout->rank; d++) {
        if (strides[d] & (item - 1)) {
            PyErr_Format(PyExc_ValueError,
                         "stride %lld of axis %d is not a multiple of the item size %lld: copy the array first",
                         (long long)strides[d], (int)d, (long long)item);
            return -1;
        }
        strides[d] >>= shift;
    }
    *out = (ts_arg){.kind = TS_SPEC_ARRAY, .dtype = (uint8_t)foreign->dtype, .rank = (uint8_t)layout->rank,
                    .device = foreign->device, .readonly = foreign->readonly, .shape = layout->shape,
                    .strides = layout->strides, .value.data = (void *)(uintptr_t)layout->data};
    return 0;
}

int core_foreign_check(core_state *state, const core_foreign *foreign)
{
    ts_error err;
    if (ts_layout_check(&foreign->layout, TS_ARRAY_RANK, &err) == TS_OK)
        return 0;
    core_raise(state, &err);
    return -1;
}

/* ---- DLPack --------------------------------------------------------------------------------------------------- */

PyObject *core_dlpack(core_state *state, PyObject *object)
{
    PyObject *args[] = {object, state->dlpack_version};
    PyObject *capsule = PyObject_VectorcallMethod(state->name_dlpack, args, 1, state->dlpack_names);
    if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError))
        return capsule;
    PyErr_Clear(); /* from before max_version */
    return PyObject_CallMethodNoArgs(object, state->name_dlpack);
}

static void capsule_delete(void *managed, bool is_versioned)
{
    ts_dl_managed_versioned *versioned = managed;
    ts_dl_managed *plain = managed;
    if (is_versioned && versioned->deleter)
        versioned->deleter(versioned);
    else if (!is_versioned && plain->deleter)
        plain->deleter(plain);
}

static void capsule_free(PyObject *capsule)
{
    const char *name = PyCapsule_GetName(capsule);
    const bool is_versioned = name && strcmp(name, "dltensor_versioned") == 0;
    if (is_versioned || (name && strcmp(name, "dltensor") == 0)) /* and not "used_…", whose tensor another deletes */
        capsule_delete(PyCapsule_GetPointer(capsule, name), is_versioned);
}

PyObject *core_capsule_new(void *managed, bool is_versioned)
{
    PyObject *capsule = PyCapsule_New(managed, is_versioned ? "dltensor_versioned" : "dltensor", capsule_free);
    if (!capsule)
        capsule_delete(managed, is_versioned);
    return capsule;
}

const ts_dl_tensor *core_capsule(PyObject *capsule, bool *readonly)
{
    *readonly = false;
    if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        ts_dl_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
        return managed ? &managed->tensor : NULL;
    }
    ts_dl_managed_versioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    *readonly = managed->flags & TS_DL_READONLY;
    if (managed->major == 1)
        return &managed->tensor;
    PyErr_Format(PyExc_BufferError, "a tensor of DLPack version %u.%u cannot be taken; version 1 was asked for",
                 (unsigned)managed->major, (unsigned)managed->minor);
    return NULL;
}
