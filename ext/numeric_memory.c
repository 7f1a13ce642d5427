/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of a NumericArray for others: addresses, interfaces, buffers, arguments of kernels.
 */
#include "numeric.h"

enum { INTERFACE_STREAM = 1 }; /* the legacy default stream in the interface's words: graphs compute on it */

void *numeric_data(PyObject *self, bool lasting, bool asks_again)
{
    void *data = NULL;
    ts_error err;
    NUMERIC_BEGIN(STATE(self));
    ts_status status = ts_nd_home(ND(self), &err);
    ts_nd_graph *graph = ND(self)->graph;
    if (status == TS_OK)
        status = ts_nd_memory(ND(self), lasting, &data, NULL, &err);
    ((numeric_array *)self)->is_seen |= lasting;
    bool late = numeric_is_late(STATE(self), graph);
    NUMERIC_END(STATE(self));
    if (status != TS_OK)
        return core_raise(STATE(self), &err);
    return late && numeric_late(STATE(self), graph, asks_again) < 0 ? NULL : data;
}

static bool numeric_is_host(PyObject *self)
{
    return ts_device_caps_of(ts_nd_graph_device(ts_nd_graph_home(ND(self)->graph))) & TS_DEVICE_HOST_MEMORY;
}

/* sys.getsizeof(a): with the elements where they are its own, in host memory. */
PyObject *numeric_sizeof(PyObject *self, PyObject *unused)
{
    (void)unused;
    bool has_elements = !((numeric_array *)self)->base && numeric_is_host(self);
    int64_t elements = has_elements ? ND(self)->count * ND(self)->item : 0;
    return PyLong_FromLongLong((long long)Py_TYPE(self)->tp_basicsize + elements);
}

/* Whether the class of an array says `_has_buffer = False`: cupy.ndarray, which no library may read by itself. */
static bool numeric_is_closed(PyObject *self)
{
    if (Py_TYPE(self) == STATE(self)->numeric->array_class)
        return false;
    PyObject *has = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "_has_buffer");
    bool is_closed = has == Py_False;
    Py_XDECREF(has);
    PyErr_Clear();
    return is_closed;
}

PyObject *numeric_base_of(core_state *state, PyObject *array, const PyTypeObject *class)
{
    PyObject *base;
    while ((base = ((numeric_array *)array)->base) &&
           (Py_TYPE(base) == class || (numeric_is_array(state, base) && numeric_is_closed(base))))
        array = base;
    return array;
}

/* _address(): of the first element, for as long as the array lives. */
PyObject *numeric_address(PyObject *self, PyObject *unused)
{
    (void)unused;
    void *data = numeric_data(self, true, false);
    return data || !PyErr_Occurred() ? PyLong_FromVoidPtr(data) : NULL;
}

/* __tessera_argument__: what a kernel is given for the array: a view of its memory, which stays where it is. */
PyObject *numeric_get_argument(PyObject *self, void *how)
{
    bool briefly = how == NUMERIC_BRIEF;
    core_state *state = STATE(self);
    ts_nd *a = ND(self);
    void *data;
    ts_buffer *buffer;
    ts_array *array;
    ts_error err;
    int64_t strides[TS_ND_RANK], item = a->dtype ? a->item : 1;
    ts_dtype dtype = a->dtype ? (ts_dtype)a->dtype : TS_DTYPE_uint8; /* of items the first bytes */
    if (numeric_is_host(self) && (!a->dtype || (!briefly && a->meaning)))
        return PyObject_CallOneArg(state->numeric->items_lend, self);
    if (!briefly && numeric_is_host(self) && *ts_dtype_get(dtype)->format && !numeric_is_closed(self))
        return PyMemoryView_FromObject(self);
    for (uint32_t d = 0; d < a->rank; d++)
        strides[d] = ts_nd_strides(a)[d] / item;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_home(a, &err);
    if (status == TS_OK)
        status = ts_nd_memory(a, !briefly, &data, &buffer, &err);
    uint64_t offset = status == TS_OK ? (uint64_t)((char *)data - (char *)ts_buffer_data(buffer)) : 0;
    if (status == TS_OK)
        status = ts_array_of(buffer, offset, dtype, a->rank, ts_nd_shape(a), strides, &array, &err);
    if (status == TS_OK && a->flags & TS_ND_READONLY)
        array->flags |= TS_ARRAY_READONLY;
    NUMERIC_END(state);
    PyObject *made = status == TS_OK ? core_array_wrap(state, array) : core_raise(state, &err);
    if (made && !a->dtype)
        Py_SETREF(made, PyObject_CallFunctionObjArgs(state->numeric->items_argument, numeric_dtype(state, a), made,
                                                     NULL));
    return made;
}

/* Strides for other libraries: None where elements lie row-major, without gaps. */
static PyObject *get_told_strides(PyObject *self)
{
    const ts_nd *a = ND(self);
    int64_t step = a->item;
    bool dense = true;
    for (uint32_t d = a->rank; d-- > 0; step *= ts_nd_shape(a)[d])
        dense &= ts_nd_strides(a)[d] == step;
    return dense ? Py_NewRef(Py_None) : core_tuple(ts_nd_strides(a), a->rank);
}

/* __array_interface__, so that NumPy shares the memory: data that others see stays where it is. */
PyObject *numeric_get_interface(PyObject *self, void *how)
{
    bool briefly = how == NUMERIC_BRIEF, on_gpu = how == NUMERIC_CUDA;
    if (!briefly && on_gpu == numeric_is_host(self)) {
        PyObject *device = numeric_device_name(ND(self)->graph);
        if (device)
            PyErr_Format(PyExc_AttributeError, "the array lies on %U", device);
        Py_XDECREF(device);
        return NULL;
    }
    if (!briefly && !on_gpu && numeric_is_unnamed(STATE(self), ND(self))) {
        PyErr_Format(PyExc_AttributeError, "__array_interface__ cannot describe %S; numpy.asarray(a) shares the memory",
                     numeric_dtype(STATE(self), ND(self)));
        return NULL;
    }
    void *data = numeric_data(self, !briefly, false);
    PyObject *shape = data ? core_tuple(ts_nd_shape(ND(self)), ND(self)->rank) : NULL;
    PyObject *strides = shape ? get_told_strides(self) : NULL;
    PyObject *typestr = strides ? numeric_typestr(STATE(self), ND(self)) : NULL;
    if (!typestr) {
        Py_XDECREF(shape);
        Py_XDECREF(strides);
        return NULL;
    }
    PyObject *made = Py_BuildValue("{s:i,s:N,s:(KO),s:N,s:N}", "version", 3, "typestr", typestr, "data",
                                   (unsigned long long)(uintptr_t)data,
                                   ND(self)->flags & TS_ND_READONLY ? Py_True : Py_False, "shape", shape, "strides",
                                   strides);
    if (made && !briefly && !ND(self)->dtype && numeric_describe(STATE(self), ND(self), made, !on_gpu) < 0)
        Py_CLEAR(made);
    PyObject *stream = made && on_gpu ? PyLong_FromLong(INTERFACE_STREAM) : NULL;
    if (made && on_gpu && (!stream || PyDict_SetItemString(made, "stream", stream) < 0))
        Py_CLEAR(made);
    Py_XDECREF(stream);
    return made;
}

/* _shares(other, exact) */
PyObject *numeric_shares(PyObject *self, PyObject *args)
{
    PyObject *other;
    int exact;
    if (!PyArg_ParseTuple(args, "O!p:_shares", STATE(self)->numeric->array_type, &other, &exact))
        return NULL;
    return PyBool_FromLong(ts_nd_shares(ND(self), ND(other), exact));
}

/* ---- buffers ------------------------------------------------------------------------------------- */

/* Whether the elements lie in a row in one of the orders asked for; false with exception. */
static bool memory_is_in_order(const Py_buffer *view, bool rows, bool columns)
{
    if ((!rows || PyBuffer_IsContiguous(view, 'C')) && (!columns || PyBuffer_IsContiguous(view, 'F')))
        return true;
    PyErr_SetString(PyExc_BufferError, "the array is not contiguous; copy it first");
    return false;
}

/* The bytes of an array of a GPU for who reads them at once (hashes, files): of a copy. */
static int memory_copied(PyObject *self, Py_buffer *view)
{
    ts_nd *a = ND(self);
    Py_buffer there = {.len = a->count * a->item, .itemsize = a->item, .ndim = a->rank,
                       .shape = (Py_ssize_t *)a->dims, .strides = (Py_ssize_t *)a->dims + a->rank};
    if (!memory_is_in_order(&there, true, false))
        return -1;
    PyObject *copy = PyObject_CallMethod(self, "_to", "s", "cpu");
    int got = copy ? PyObject_GetBuffer(copy, view, PyBUF_SIMPLE) : -1;
    if (got == 0)
        view->readonly = 1;
    Py_XDECREF(copy);
    return got;
}

int numeric_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    ts_nd *a = ND(self);
    const char *format = ts_dtype_get((ts_dtype)a->dtype)->format;
    format = a->flags & TS_ND_LONGLONG ? a->dtype == TS_DTYPE_uint64 ? "Q" : "q" : format;
    view->obj = NULL;
    if (numeric_is_closed(self)) {
        PyErr_SetString(PyExc_BufferError, "the array's class converts to no buffer; use a.get()");
        return -1;
    }
    if (!numeric_is_host(self) && flags == PyBUF_SIMPLE)
        return memory_copied(self, view);
    if (!numeric_is_host(self)) {
        PyErr_SetString(PyExc_BufferError, "the array lies on a GPU; numpy.asarray(a) copies it");
        return -1;
    }
    if (!a->dtype) {
        PyObject *lent = PyObject_CallOneArg(STATE(self)->numeric->items_buffer, self);
        int got = lent ? PyObject_GetBuffer(lent, view, flags) : -1;
        Py_XDECREF(lent);
        return got;
    }
    if (a->meaning) {
        PyErr_Format(PyExc_ValueError, "cannot include dtype %R in a buffer", numeric_dtype(STATE(self), a));
        return -1;
    }
    if (!*format || ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && a->flags & TS_ND_READONLY)) {
        PyErr_SetString(PyExc_BufferError, *format ? "the array is read-only" : "this dtype has no buffer format");
        return -1;
    }
    void *data = numeric_data(self, true, true); /* NumPy asks for the interface then */
    if (!data)
        return -1;
    int64_t *dims = PyMem_Malloc((2 * (size_t)a->rank + 1) * sizeof *dims);
    if (!dims) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(dims, a->dims, 2 * (size_t)a->rank * sizeof *dims);
    Py_ssize_t item = a->item;
    *view = (Py_buffer){.buf = data, .obj = Py_NewRef(self), .len = a->count * item, .itemsize = item,
                        .readonly = a->flags & TS_ND_READONLY, .ndim = a->rank, .internal = dims,
                        .format = (char *)(uintptr_t)format, .shape = (Py_ssize_t *)dims,
                        .strides = (Py_ssize_t *)dims + a->rank};
    bool rows = (flags & PyBUF_STRIDES) != PyBUF_STRIDES || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS;
    bool columns = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS;
    if (!memory_is_in_order(view, rows, columns)) {
        PyBuffer_Release(view);
        return -1;
    }
    view->format = flags & PyBUF_FORMAT ? view->format : NULL;
    if (!(flags & PyBUF_ND)) { /* bytes in a row, as memoryview and NumPy give them */
        view->shape = NULL;
        view->ndim = 1;
    }
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? view->strides : NULL;
    return 0;
}

void numeric_releasebuffer(PyObject *self, Py_buffer *view)
{
    (void)self;
    PyMem_Free(view->internal);
}
