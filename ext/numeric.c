/* SPDX-License-Identifier: Apache-2.0
 *
 * NumericArray: the array object, its attributes, arrays in memory of others, the type.
 */
#include "numeric.h"
#include <string.h>
#include <structmember.h>

/* ---- words --------------------------------------------------------------------------------------- */

/* The number of the graph of a device, made where it is the first; -1 with exception. */
static int numeric_place(core_state *state, ts_device *device)
{
    numeric_state *n = state->numeric;
    ts_status status = TS_OK;
    ts_error err;
    int i = 0;
    NUMERIC_BEGIN(state);
    while (i < NUMERIC_DEVICES && n->graphs[i] && ts_nd_graph_device(n->graphs[i]) != device)
        i++;
    if (i < NUMERIC_DEVICES && !n->graphs[i]) {
        ts_nd_graph *made = NULL;
        status = ts_nd_graph_create(device, &made, &err);
        if (status == TS_OK && i)
            status = ts_nd_graph_near(made, ts_nd_graph_device(n->graphs[0]), 0, &err);
        if (status == TS_OK)
            numeric_doctor_graph(n, made);
        CORE_SET(n->graphs[i], made);
    }
    NUMERIC_END(state);
    if (status == TS_OK && i < NUMERIC_DEVICES)
        return i;
    if (status == TS_OK)
        PyErr_SetString(PyExc_RuntimeError, "arrays lie on too many devices");
    else
        core_raise(state, &err);
    return -1;
}

ts_nd_graph *numeric_host(core_state *state)
{
    ts_device *device;
    if (!CORE_GET(state->numeric->graphs[0]) &&
        (core_device_of(state, Py_None, &device) < 0 || numeric_place(state, device) < 0))
        return NULL;
    return state->numeric->graphs[0];
}

/* The graph of a number that numeric_place() gave; NULL with exception. */
static ts_nd_graph *numeric_numbered(core_state *state, PyObject *number)
{
    long i = PyLong_AsLong(number);
    if (i == -1 && PyErr_Occurred())
        return NULL;
    ts_nd_graph *graph = i >= 0 && i < NUMERIC_DEVICES ? CORE_GET(state->numeric->graphs[i]) : NULL;
    if (!graph)
        PyErr_Format(PyExc_ValueError, "%R is the number of no device in use", number);
    return graph;
}

ts_nd_graph *numeric_graph(core_state *state)
{
    numeric_state *n = state->numeric;
    PyObject *number;
    ts_nd_graph *host = numeric_host(state);
    if (!host || PyContextVar_Get(n->current, Py_None, &number) < 0)
        return NULL;
    ts_nd_graph *graph = number == Py_None ? CORE_GET(n->graph) : numeric_numbered(state, number);
    bool is_default = number == Py_None;
    Py_DECREF(number);
    return graph || !is_default ? graph : host;
}

PyObject *numeric_move(core_state *state, PyObject *array, ts_nd_graph *graph)
{
    ts_nd *moved;
    ts_error err;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_to(ND(array), graph, &moved, &err);
    NUMERIC_END(state);
    return status == TS_OK ? numeric_wrap(state, moved, NULL) : core_raise(state, &err);
}

/* An extent; NumPy has another error for those that no index reaches. */
static int64_t numeric_extent(PyObject *object)
{
    int64_t extent = PyNumber_AsSsize_t(object, PyExc_OverflowError);
    if (extent == -1 && PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, "Maximum allowed dimension exceeded: %R", object);
    return extent;
}

int numeric_dims_of(PyObject *object, uint32_t *rank, int64_t dims[TS_ND_RANK])
{
    PyObject *items = PySequence_Check(object) ? PySequence_Tuple(object) : NULL;
    if (!items) {
        PyErr_Clear();
        dims[0] = numeric_extent(object);
        *rank = 1;
        return PyErr_Occurred() ? -1 : 0;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    if (n > TS_ND_RANK)
        PyErr_Format(PyExc_ValueError, "maximum supported dimension for an ndarray is currently 64, found %zd", n);
    for (Py_ssize_t d = 0; d < n && n <= TS_ND_RANK && !PyErr_Occurred(); d++)
        dims[d] = numeric_extent(PyTuple_GET_ITEM(items, d));
    *rank = (uint32_t)n;
    Py_DECREF(items);
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- objects -------------------------------------------------------------------------------------- */

/* Objects of tessera.numeric.ndarray itself, which has no fields of Python, come and go with each statement, so their
 * memory is kept. */
#ifndef Py_GIL_DISABLED
static numeric_array *numeric_object_new(numeric_state *n, PyTypeObject *type)
{
    if (type != n->array_class || !n->n_spare)
        return (numeric_array *)type->tp_alloc(type, 0);
    return (numeric_array *)PyObject_Init(n->spare[--n->n_spare], type);
}

static void numeric_object_free(numeric_state *n, PyObject *self, PyTypeObject *type)
{
    if (type == n->array_class && n->n_spare < NUMERIC_SPARE)
        n->spare[n->n_spare++] = self;
    else
        type->tp_free(self);
}

/* The class has a collector's header in front of objects, which its own function knows. */
static void numeric_objects_end(numeric_state *n, PyTypeObject *type)
{
    while (n->n_spare)
        type->tp_free(n->spare[--n->n_spare]);
}
#else
static numeric_array *numeric_object_new(numeric_state *n, PyTypeObject *type)
{
    (void)n;
    return (numeric_array *)type->tp_alloc(type, 0);
}

static void numeric_object_free(numeric_state *n, PyObject *self, PyTypeObject *type)
{
    (void)n;
    type->tp_free(self);
}

static void numeric_objects_end(numeric_state *n, PyTypeObject *type)
{
    (void)n, (void)type;
}
#endif

static PyObject *numeric_wrap_as(core_state *state, ts_nd *nd, PyObject *base, PyTypeObject *type)
{
    numeric_array *self = numeric_object_new(state->numeric, type);
    if (!self) {
        ts_nd_release(nd);
        return NULL;
    }
    self->state = state;
    self->nd = nd;
    self->base = Py_XNewRef(base);
    self->formers = NULL;
    self->is_seen = false;
    return (PyObject *)self;
}

PyObject *numeric_wrap_like(core_state *state, ts_nd *nd, PyObject *base, PyObject *like)
{
    PyObject *made = numeric_wrap_as(state, nd, base, Py_TYPE(like));
    if (!made || Py_TYPE(like) == state->numeric->array_class)
        return made;
    PyObject *done = PyObject_CallMethod(made, "__array_finalize__", "O", like);
    if (!done)
        Py_CLEAR(made);
    Py_XDECREF(done);
    return made;
}

PyObject *numeric_wrap(core_state *state, ts_nd *nd, PyObject *base)
{
    return numeric_wrap_as(state, nd, base, state->numeric->array_class);
}

PyObject *numeric_wrap_view(core_state *state, ts_nd *nd, PyObject *array)
{
    return numeric_wrap(state, nd, numeric_base_of(state, array, state->numeric->array_class));
}

typedef struct numeric_former {
    struct numeric_former *next;
    ts_nd *nd;
} numeric_former;

/* Gives the array another header, under the lock, and takes it: 0, or -1. The one before ends with the array where
 * others share its memory, for they keep the array alive (numpy.asarray, memoryview), or where other threads may be
 * reading it without the lock. */
static int numeric_exchange(numeric_array *self, ts_nd *next)
{
    ts_nd *before = self->nd;
#ifndef Py_GIL_DISABLED
    if (!self->is_seen || before->store == next->store) {
        self->nd = next;
        ts_nd_release(before);
        return 0;
    }
#endif
    numeric_former *former = PyMem_RawMalloc(sizeof *former);
    if (!former)
        return -1;
    *former = (numeric_former){self->formers, before};
    self->formers = former;
    self->is_seen = false;
    CORE_SET(self->nd, next);
    return 0;
}

static void numeric_end_formers(numeric_array *self)
{
    for (numeric_former *former = self->formers, *next; former; former = next) {
        next = former->next;
        ts_nd_release(former->nd);
        PyMem_RawFree(former);
    }
}

static void numeric_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    core_state *state = STATE(self);
    if (((numeric_array *)self)->weakrefs)
        PyObject_ClearWeakRefs(self); /* before the lock: what is called then may compute */
    if (ND(self)) {
        numeric_lock(state->numeric); /* of no line */
        ts_nd_release(ND(self));
        numeric_end_formers((numeric_array *)self);
        NUMERIC_END(state);
    }
    Py_XDECREF(((numeric_array *)self)->base);
    if (state && state->numeric)
        numeric_object_free(state->numeric, self, type);
    else
        type->tp_free(self);
    Py_DECREF(type);
}

/* ---- scalars ------------------------------------------------------------------------------------- */

/* A number of Python's; NULL without exception: of a dtype that only NumPy reads. */
static PyObject *numeric_python(const void *data, ts_dtype dtype)
{
    PyObject *value;
    int64_t i = 0;
    uint64_t u = 0;
    double parts[2];
    float halves[2];
    switch (dtype) {
    case TS_DTYPE_bool_: value = PyBool_FromLong(*(const char *)data); break;
    case TS_DTYPE_int8: i = *(const int8_t *)data, value = PyLong_FromLongLong(i); break;
    case TS_DTYPE_int16: i = *(const int16_t *)data, value = PyLong_FromLongLong(i); break;
    case TS_DTYPE_int32: i = *(const int32_t *)data, value = PyLong_FromLongLong(i); break;
    case TS_DTYPE_int64: i = *(const int64_t *)data, value = PyLong_FromLongLong(i); break;
    case TS_DTYPE_uint8: u = *(const uint8_t *)data, value = PyLong_FromUnsignedLongLong(u); break;
    case TS_DTYPE_uint16: u = *(const uint16_t *)data, value = PyLong_FromUnsignedLongLong(u); break;
    case TS_DTYPE_uint32: u = *(const uint32_t *)data, value = PyLong_FromUnsignedLongLong(u); break;
    case TS_DTYPE_uint64: u = *(const uint64_t *)data, value = PyLong_FromUnsignedLongLong(u); break;
    case TS_DTYPE_float32: value = PyFloat_FromDouble(*(const float *)data); break;
    case TS_DTYPE_float64: value = PyFloat_FromDouble(*(const double *)data); break;
    case TS_DTYPE_complex64:
        memcpy(halves, data, sizeof halves);
        value = PyComplex_FromDoubles(halves[0], halves[1]);
        break;
    case TS_DTYPE_complex128:
        memcpy(parts, data, sizeof parts);
        value = PyComplex_FromDoubles(parts[0], parts[1]);
        break;
    default: value = NULL;
    }
    return value;
}

static PyObject *numeric_element(core_state *state, const void *data, ts_dtype dtype)
{
    PyObject *type = state->numeric->scalar_types[dtype], *value = numeric_python(data, dtype);
    if (!value && !PyErr_Occurred()) /* 16-bit floats: their bits, which the dtype reads */
        return PyObject_CallFunction(state->numeric->scalar, "Oy#", state->numeric->dtypes[dtype], data,
                                     (Py_ssize_t)ts_dtype_bytes(dtype));
    PyObject *scalar = value ? PyObject_CallOneArg(type, value) : NULL;
    Py_XDECREF(value);
    return scalar;
}

/* The bytes of an element: 0, or -1 with exception. */
static int numeric_read(core_state *state, ts_nd *nd, int64_t offset, char room[16])
{
    ts_error err;
    NUMERIC_BEGIN(state);
    ts_nd_graph *graph = nd->graph;
    ts_status status = ts_nd_read(nd, offset, room, &err);
    bool late = numeric_is_late(state, graph);
    NUMERIC_END(state);
    if (status != TS_OK) {
        core_raise(state, &err);
        return -1;
    }
    return late ? numeric_late(state, graph, false) : 0;
}

PyObject *numeric_number(core_state *state, ts_nd *nd, int64_t offset)
{
    char room[16];
    return numeric_read(state, nd, offset, room) == 0 ? numeric_python(room, (ts_dtype)nd->dtype) : NULL;
}

PyObject *numeric_scalar(core_state *state, ts_nd *nd, int64_t offset)
{
    char room[16];
    ts_dtype dtype = (ts_dtype)nd->dtype;
    if (!dtype)
        return numeric_items_scalar(state, nd, offset);
    PyTypeObject *type = (PyTypeObject *)state->numeric->scalar_types[dtype];
    if (nd->flags & TS_ND_LONGLONG)
        type = (PyTypeObject *)state->numeric->longlong_types[dtype == TS_DTYPE_uint64];
    if (numeric_read(state, nd, offset, room) < 0)
        return NULL;
    if (nd->meaning)
        return PyObject_CallFunction(state->numeric->scalar, "Oy#", numeric_dtype(state, nd), room,
                                     (Py_ssize_t)ts_dtype_bytes(dtype));
    if (!(state->numeric->plain_scalars >> dtype & 1))
        return numeric_element(state, room, dtype);
    PyObject *scalar = type->tp_alloc(type, 0);
    if (scalar)
        memcpy((char *)scalar + sizeof(PyObject), room, ts_dtype_bytes(dtype));
    return scalar;
}

/* Whether NumPy's scalar of a dtype is an object with the element behind its header, as the structures of NumPy's
 * arrayscalars.h are: one that was made of known bytes says so. */
static bool numeric_is_plain(core_state *state, ts_dtype dtype)
{
    char bytes[16];
    PyTypeObject *type = (PyTypeObject *)state->numeric->scalar_types[dtype];
    Py_ssize_t n = (Py_ssize_t)ts_dtype_bytes(dtype);
    for (int i = 0; i < 16; i++)
        bytes[i] = (char)(0x41 + i); /* a number of every dtype */
    if (ts_dtype_get(dtype)->kind == 'b' || type->tp_itemsize || type->tp_basicsize < (Py_ssize_t)sizeof(PyObject) + n)
        return false;
    PyObject *made = numeric_element(state, bytes, dtype);
    bool plain = made && Py_TYPE(made) == type && memcmp((char *)made + sizeof(PyObject), bytes, (size_t)n) == 0;
    Py_XDECREF(made);
    PyErr_Clear();
    return plain;
}

PyObject *numeric_result(core_state *state, ts_nd *nd)
{
    if (nd->rank)
        return numeric_wrap(state, nd, NULL);
    PyObject *scalar = numeric_scalar(state, nd, 0);
    NUMERIC_BEGIN(state);
    ts_nd_release(nd);
    NUMERIC_END(state);
    return scalar;
}

static PyObject *numeric_item(PyObject *self, PyObject *unused)
{
    (void)unused;
    return numeric_scalar(STATE(self), ND(self), 0);
}

/* ---- attributes ---------------------------------------------------------------------------------- */

static PyObject *get_shape(PyObject *self, void *unused)
{
    (void)unused;
    return core_tuple(ts_nd_shape(ND(self)), ND(self)->rank);
}

/* a.shape = ..: the same elements in another shape, where a view can have it. */
static int set_shape(PyObject *self, PyObject *shape, void *unused)
{
    (void)unused;
    PyObject *made = shape ? PyObject_CallMethod(self, "_reshaped_in_place", "(O)", shape) : NULL;
    if (!made) {
        if (!shape)
            PyErr_SetString(PyExc_AttributeError, "Cannot delete array shape");
        return -1;
    }
    Py_DECREF(made);
    return 0;
}

/* a.dtype = ..: the same memory as another dtype. */
static int set_dtype(PyObject *self, PyObject *dtype, void *unused)
{
    (void)unused;
    if (!dtype) {
        PyErr_SetString(PyExc_AttributeError, "Cannot delete array dtype");
        return -1;
    }
    PyObject *made = PyObject_CallMethod(self, "_retyped_in_place", "(O)", dtype);
    Py_XDECREF(made);
    return made ? 0 : -1;
}

/* _become(other): this object is that array from now on; views of what it was stay. */
static PyObject *numeric_become(PyObject *self, PyObject *other)
{
    core_state *state = STATE(self);
    if (!numeric_is_array(state, other))
        return PyErr_Format(PyExc_TypeError, "_become takes an array");
    NUMERIC_BEGIN(state);
    ts_nd *next = ND(other);
    ts_nd_retain(next);
    int done = numeric_exchange((numeric_array *)self, next);
    if (done < 0)
        ts_nd_release(next);
    NUMERIC_END(state);
    return done == 0 ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

static PyObject *get_strides(PyObject *self, void *unused)
{
    (void)unused;
    return core_tuple(ts_nd_strides(ND(self)), ND(self)->rank);
}

/* a.strides = ..: other elements of the same memory. */
static int set_strides(PyObject *self, PyObject *strides, void *unused)
{
    (void)unused;
    if (!strides) {
        PyErr_SetString(PyExc_AttributeError, "Cannot delete array strides");
        return -1;
    }
    PyObject *made = PyObject_CallMethod(self, "_restrided_in_place", "(O)", strides);
    Py_XDECREF(made);
    return made ? 0 : -1;
}

static PyObject *get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(numeric_dtype(STATE(self), ND(self)));
}

static PyObject *get_is_items(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!ND(self)->dtype);
}

static PyObject *get_is_longlong(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(ND(self)->flags & TS_ND_LONGLONG);
}

static PyObject *get_ndim(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(ND(self)->rank);
}

static PyObject *get_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(ND(self)->count);
}

static PyObject *get_itemsize(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong((long)ND(self)->item);
}

static PyObject *get_nbytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(ND(self)->count * ND(self)->item);
}

static PyObject *get_base(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *base = ((numeric_array *)self)->base;
    return Py_NewRef(base ? base : Py_None);
}

/* What _view may reach: bytes of the storage before and from the first element on. */
static PyObject *get_room(PyObject *self, void *unused)
{
    (void)unused;
    const ts_nd *a = ND(self);
    return Py_BuildValue("LL", (long long)a->offset, (long long)(ts_nd_store_bytes(a) - a->offset));
}

static PyObject *get_writeable(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!(ND(self)->flags & TS_ND_READONLY));
}

static int set_writeable(PyObject *self, PyObject *value, void *unused)
{
    (void)unused;
    int yes = value ? PyObject_IsTrue(value) : -1;
    if (yes < 0)
        return -1;
    ND(self)->flags = (uint8_t)(yes ? ND(self)->flags & ~TS_ND_READONLY : ND(self)->flags | TS_ND_READONLY);
    return 0;
}

static PyObject *get_transposed(PyObject *self, void *unused)
{
    (void)unused;
    ts_nd *a = ND(self), *out;
    int64_t shape[TS_ND_RANK], strides[TS_ND_RANK];
    ts_error err;
    for (uint32_t d = 0; d < a->rank; d++) {
        shape[d] = ts_nd_shape(a)[a->rank - 1 - d];
        strides[d] = ts_nd_strides(a)[a->rank - 1 - d];
    }
    NUMERIC_BEGIN(STATE(self));
    ts_status status = ts_nd_view(a, 0, (ts_dtype)a->dtype, a->rank, shape, strides, a->flags, &out, &err);
    NUMERIC_END(STATE(self));
    if (status != TS_OK)
        return core_raise(STATE(self), &err);
    return numeric_wrap_like(STATE(self), out, numeric_base_of(STATE(self), self, Py_TYPE(self)), self);
}

/* _view(offset, dtype, shape, strides, owns): bytes behind the first element; the caller has checked the bounds.
 * owns: the view counts as an array of its own, since the other one goes. */
static PyObject *numeric_view(PyObject *self, PyObject *args)
{
    core_state *state = STATE(self);
    long long offset;
    int owns = 0;
    PyObject *dtype_object, *shape_object, *strides_object;
    numeric_form form;
    uint32_t other;
    if (!PyArg_ParseTuple(args, "LOOO|p:_view", &offset, &dtype_object, &shape_object, &strides_object,
                          &owns) ||
        numeric_type_of(state, dtype_object, &form.dtype, &form.meaning) < 0 ||
        numeric_dims_of(shape_object, &form.rank, form.shape) < 0 ||
        numeric_dims_of(strides_object, &other, form.strides) < 0)
        return NULL;
    ts_nd *out = numeric_view_as(state, ND(self), offset, &form);
    if (!out)
        return NULL;
    return owns ? numeric_wrap(state, out, NULL) : numeric_wrap_view(state, out, self);
}

/* _words(most): the elements as words of at most so many bytes along one more axis. */
static PyObject *numeric_words(PyObject *self, PyObject *most)
{
    core_state *state = STATE(self);
    long bytes = PyLong_AsLong(most);
    ts_nd *out;
    ts_error err;
    if (bytes == -1 && PyErr_Occurred())
        return NULL;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_words(ND(self), (uint32_t)bytes, &out, &err);
    NUMERIC_END(state);
    return status == TS_OK ? numeric_wrap_view(state, out, self) : core_raise(state, &err);
}

/* _as(type, of=self): a view as an object of a class that derives from ndarray, which has not been initialised. of: the
 * array that it is a view of; None: the array is one that nobody else has, and its base is the object's. */
static PyObject *numeric_as(PyObject *self, PyObject *args)
{
    core_state *state = STATE(self);
    PyObject *object;
    PyObject *of = self;
    if (!PyArg_ParseTuple(args, "O|O:_as", &object, &of))
        return NULL;
    PyTypeObject *type = (PyTypeObject *)object;
    if (!PyType_Check(object) || !PyType_IsSubtype(type, state->numeric->array_class))
        return PyErr_Format(PyExc_TypeError, "%R is not a class that derives from tessera.numeric.ndarray", object);
    ts_nd *out = numeric_whole(state, self);
    if (!out)
        return NULL;
    bool is_view = numeric_is_array(state, of);
    PyObject *base = is_view ? numeric_base_of(state, of, type) : ((numeric_array *)self)->base;
    return numeric_wrap_as(state, out, base, type);
}

/* "cpu", "cuda:0" */
PyObject *numeric_device_name(const ts_nd_graph *graph)
{
    uint16_t id = ts_device_id(ts_nd_graph_device(ts_nd_graph_home((ts_nd_graph *)(uintptr_t)graph)));
    if (TS_DEVICE_ID_KIND(id) == TS_DEVICE_CPU)
        return PyUnicode_FromString("cpu");
    return PyUnicode_FromFormat("cuda:%d", (int)TS_DEVICE_ID_ORDINAL(id));
}

static PyObject *get_device(PyObject *self, void *unused)
{
    (void)unused;
    return numeric_device_name(ND(self)->graph);
}

/* _to(device or None): a copy on another device; None: where new arrays lie. */
static PyObject *numeric_to(PyObject *self, PyObject *name)
{
    core_state *state = STATE(self);
    ts_device *device;
    int place = -1;
    if (name == Py_None) {
        ts_nd_graph *graph = numeric_graph(state);
        return graph ? numeric_move(state, self, graph) : NULL;
    }
    if (core_device_of(state, name, &device) == 0)
        place = numeric_place(state, device);
    return place < 0 ? NULL : numeric_move(state, self, state->numeric->graphs[place]);
}

/* _complex_part(which): the real part, or the imaginary one (1); None: numeric_part() leaves it. */
static PyObject *numeric_part_of(PyObject *self, PyObject *which)
{
    PyObject *made = numeric_part(STATE(self), self, PyObject_IsTrue(which) == 1);
    return made || PyErr_Occurred() ? made : Py_NewRef(Py_None);
}

static Py_ssize_t numeric_length(PyObject *self)
{
    if (ND(self)->rank)
        return ts_nd_shape(ND(self))[0];
    PyErr_SetString(PyExc_TypeError, "len() of unsized object");
    return -1;
}

static int numeric_true(PyObject *self)
{
    if (ND(self)->count != 1) {
        PyErr_SetString(PyExc_ValueError, ND(self)->count ? "The truth value of an array with more than one element is "
                                          "ambiguous. Use a.any() or a.all()"
                                          : "The truth value of an empty array is ambiguous. Use `array.size > 0` to "
                                          "check that an array is not empty.");
        return -1;
    }
    PyObject *scalar = numeric_scalar(STATE(self), ND(self), 0);
    int truth = scalar ? PyObject_IsTrue(scalar) : -1;
    Py_XDECREF(scalar);
    return truth;
}

/* ---- buffers ------------------------------------------------------------------------------------- */

static void numeric_drop(void *user)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF((PyObject *)user);
    PyGILState_Release(gil);
}

PyObject *numeric_in_memory(core_state *state, ts_nd_graph *graph, const numeric_memory *memory,
                            const numeric_form *form, uint32_t flags)
{
    ts_buffer *buffer;
    ts_nd *whole = NULL;
    ts_error err;
    NUMERIC_BEGIN(state);
    ts_status status = ts_buffer_wrap(ts_nd_graph_device(graph), memory->low, memory->bytes, numeric_drop,
                                      memory->owner, &buffer, &err);
    if (status == TS_OK) {
        Py_INCREF(memory->owner);
        status = ts_nd_wrap(graph, buffer, 0, TS_DTYPE_uint8, 0, NULL, NULL, flags, &whole, &err);
        ts_buffer_release(buffer);
    }
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    ts_nd *out = numeric_view_as(state, whole, memory->offset, form);
    NUMERIC_BEGIN(state);
    ts_nd_release(whole);
    NUMERIC_END(state);
    return out ? numeric_wrap(state, out, flags & TS_ND_PRIVATE ? NULL : memory->owner) : NULL;
}

/* numeric_wrap(address, bytes, owner, offset, dtype, shape, strides, flags, place): an array in memory of `owner`.
 * flags: 1: read-only, 2: nobody else knows the memory. place: the number of the device's graph; the host's without. */
static PyObject *numeric_of_memory(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    unsigned long long address;
    long long bytes, offset;
    PyObject *owner, *dtype_object, *shape_object, *strides_object, *place = NULL;
    int flags;
    numeric_form form;
    uint32_t other;
    ts_nd_graph *graph = numeric_host(state);
    if (!graph || !PyArg_ParseTuple(args, "KLOLOOOi|O", &address, &bytes, &owner, &offset, &dtype_object, &shape_object,
                          &strides_object, &flags, &place) ||
        (place && !(graph = numeric_numbered(state, place))) ||
        numeric_type_of(state, dtype_object, &form.dtype, &form.meaning) < 0 ||
        numeric_dims_of(shape_object, &form.rank, form.shape) < 0 ||
        numeric_dims_of(strides_object, &other, form.strides) < 0)
        return NULL;
    numeric_memory memory = {(void *)(uintptr_t)address, (uint64_t)bytes, offset, owner};
    return numeric_in_memory(state, graph, &memory, &form, (uint32_t)flags);
}

/* numeric_empty(shape, dtype, columns) */
static PyObject *numeric_empty(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *shape_object, *dtype_object;
    int columns = 0;
    numeric_form form;
    ts_nd_graph *graph = numeric_graph(state);
    if (!graph || !PyArg_ParseTuple(args, "OO|p:numeric_empty", &shape_object, &dtype_object, &columns) ||
        numeric_dims_of(shape_object, &form.rank, form.shape) < 0 ||
        numeric_type_of(state, dtype_object, &form.dtype, &form.meaning) < 0)
        return NULL;
    ts_nd *out = numeric_empty_as(state, graph, &form, columns);
    return out ? numeric_wrap(state, out, NULL) : NULL;
}

/* ---- setup --------------------------------------------------------------------------------------- */

/* Dtypes by their number, their scalars' classes, longlong and what items are stored as; -1 with exception. */
static int setup_dtypes(numeric_state *n, PyObject *dtypes, PyObject *hooks)
{
    Py_XSETREF(n->numbers, PyDict_New());
    for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(dtypes) && d < TS_DTYPE_COUNT; d++) {
        PyObject *dtype = PyTuple_GET_ITEM(dtypes, d), *number = PyLong_FromSsize_t(d);
        if (number && dtype != Py_None) {
            Py_XSETREF(n->dtypes[d], Py_NewRef(dtype));
            Py_XSETREF(n->scalar_types[d], PyObject_GetAttrString(dtype, "type"));
            if (PyDict_SetItem(n->numbers, dtype, number) < 0)
                Py_CLEAR(number);
        }
        if (!number)
            return -1;
        Py_DECREF(number);
    }
    PyObject *longlongs = PyDict_GetItemString(hooks, "longlongs");
    for (Py_ssize_t i = 0; i < 2 && longlongs; i++) {
        Py_XSETREF(n->longlongs[i], PySequence_GetItem(longlongs, i));
        if (!n->longlongs[i])
            return -1;
        Py_XSETREF(n->longlong_types[i], PyObject_GetAttrString(n->longlongs[i], "type"));
    }
    PyObject *items = PyDict_GetItemString(hooks, "items"), *none = PyLong_FromLong(TS_DTYPE_NONE);
    int known = items && none ? PyDict_SetItem(n->numbers, items, none) : -1; /* what items are stored as */
    Py_XDECREF(none);
    return known;
}

/* numeric_setup(class, dtypes, hooks): dtypes by their numbers (None: NumPy has none); hooks by name. */
static PyObject *numeric_setup(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    numeric_state *n = state->numeric;
    PyObject *class, *dtypes, *hooks;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyType_Type, &class, &PyTuple_Type, &dtypes, &PyDict_Type, &hooks))
        return NULL;
    Py_XSETREF(n->array_class, (PyTypeObject *)Py_NewRef(class));
    if (!n->array_class->tp_dictoffset && !PyType_HasFeature(n->array_class, Py_TPFLAGS_HAVE_GC))
        n->array_class->tp_dealloc = numeric_dealloc; /* a class of Python without fields ends as its base does */
    if (setup_dtypes(n, dtypes, hooks) < 0)
        return NULL;
    struct {
        const char *name;
        PyObject **field;
    } fields[] = {{"convert", &n->convert}, {"dtype_of", &n->dtype_of}, {"integer_type", &n->integer_type},
                  {"numpy_array", &n->numpy_array},
                  {"libraries", &n->libraries}, {"report", &n->report}, {"stored_as", &n->stored_as},
                  {"identity", &n->identity},
                  {"meant_call", &n->meant_call}, {"meant_cast", &n->meant_cast}, {"items_scalar", &n->items_scalar},
                  {"items_call", &n->items_call}, {"items_lend", &n->items_lend}, {"items_runs", &n->items_runs},
                  {"items_buffer", &n->items_buffer}, {"items_descr", &n->items_descr},
                  {"items_argument", &n->items_argument},
                  {"host_dtype", &n->host_dtype}, {"by_numpy", &n->by_numpy}, {"derived", &n->derived},
                  {"function_answered", &n->function_answered}, {"ufunc_answered", &n->ufunc_answered},
                  {"errors", &n->errors}, {"errors_default", &n->errors_default}, {"watches", &n->watches},
                  {"warnings", &n->warnings}, {"filters_key", &n->filters_key},
                  {"get_item", &n->get_item}, {"set_item", &n->set_item}, {"matmul", &n->matmul},
                  {"power", &n->power},
                  {"numpy", &n->numpy}, {"numpy_generic", &n->numpy_generic}, {"numpy_dtype", &n->numpy_dtype},
                  {"give", &n->give}, {"mask_of", &n->mask_of}, {"host_calls", &n->host_calls}, {"scalar", &n->scalar}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        PyObject *hook = PyDict_GetItemString(hooks, fields[i].name);
        Py_XSETREF(*fields[i].field, Py_XNewRef(hook));
    }
    for (int d = 1; d < TS_DTYPE_COUNT; d++)
        if (n->scalar_types[d] && PyType_Check(n->scalar_types[d]) && numeric_is_plain(state, (ts_dtype)d))
            n->plain_scalars |= (uint64_t)1 << d;
    if (numeric_protocol_setup(n) < 0 || numeric_lend_setup(state) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* numeric_small(elements): calls on so many run at once; gives the number before. */
static PyObject *numeric_small(PyObject *module, PyObject *value)
{
    ts_nd_graph *graph = numeric_graph(PyModule_GetState(module));
    long long small = PyLong_AsLongLong(value);
    if (!graph || PyErr_Occurred())
        return NULL;
    return PyLong_FromLongLong(ts_nd_graph_small(graph, small));
}

static PyObject *numeric_stats(PyObject *module, PyObject *unused)
{
    (void)unused;
    ts_nd_graph *graph = numeric_graph(PyModule_GetState(module));
    ts_nd_stats stats;
    if (!graph)
        return NULL;
    ts_nd_graph_stats(graph, &stats);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K}", "launched", stats.n_launched, "kernels", stats.n_kernels, "nodes",
                         stats.n_nodes, "waiting", stats.n_waiting, "bytes", stats.bytes, "carried", stats.n_carried);
}

/* Computes all that waits. That some of it cannot be computed is an error where no arrays are given, or one of them
 * waits for it. */
static PyObject *numeric_flush_all(core_state *state, PyObject *const *arrays, Py_ssize_t n)
{
    ts_status status = TS_OK;
    ts_error err, own;
    bool counts = n == 0;
    NUMERIC_BEGIN(state);
    for (int i = 0; i < NUMERIC_DEVICES && state->numeric->graphs[i] && status != TS_INTERRUPTED; i++) {
        ts_status one = ts_nd_flush(state->numeric->graphs[i], &own);
        if (one != TS_OK)
            err = own, status = one;
    }
    for (Py_ssize_t i = 0; i < n && status != TS_OK; i++)
        counts |= numeric_is_array(state, arrays[i]) && ts_nd_waits(ND(arrays[i]));
    NUMERIC_END(state);
    if (status == TS_INTERRUPTED || (counts && status != TS_OK))
        return core_raise(state, &err);
    for (int i = 0; i < NUMERIC_DEVICES && state->numeric->graphs[i]; i++) {
        ts_nd_graph *graph = state->numeric->graphs[i];
        if (numeric_is_late(state, graph) && numeric_late(state, graph, false) < 0)
            return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *numeric_flush(PyObject *module, PyObject *const *arrays, Py_ssize_t n)
{
    return numeric_flush_all(PyModule_GetState(module), arrays, n);
}

/* Waits until the device of a graph is done: 0, or -1 with exception. */
static int wait_graph(core_state *state, const ts_nd_graph *graph)
{
    ts_device *device = ts_nd_graph_device(graph);
    bool on_host = ts_device_caps_of(device) & TS_DEVICE_HOST_MEMORY;
    ts_error err;
    ts_status status = on_host ? ts_device_sync(device, 0, &err) : TS_INTERRUPTED;
    if (status == TS_OK) /* a processor is done as a rule, and nobody else needs the lock */
        return 0;
    if (status == TS_INTERRUPTED)
        return core_wait_device(state, device);
    (void)core_raise(state, &err);
    return -1;
}

PyObject *numeric_wait(core_state *state, PyObject *array)
{
    PyObject *flushed = numeric_flush_all(state, &array, array != NULL);
    int done = flushed ? 0 : -1;
    if (array && done == 0)
        done = wait_graph(state, ts_nd_graph_home(ND(array)->graph));
    for (int i = 0; i < NUMERIC_DEVICES && !array && done == 0 && state->numeric->graphs[i]; i++)
        done = wait_graph(state, state->numeric->graphs[i]);
    if (done < 0)
        Py_CLEAR(flushed);
    return flushed;
}

/* numeric_place(device or None): the number of its graph, for `numeric_current`; None: where new arrays lie. */
static PyObject *numeric_place_of(PyObject *module, PyObject *name)
{
    core_state *state = PyModule_GetState(module);
    ts_nd_graph *graph = numeric_graph(state);
    ts_device *device = graph ? ts_nd_graph_device(graph) : NULL;
    if (!graph || (name != Py_None && core_device_of(state, name, &device) < 0))
        return NULL;
    int place = numeric_place(state, device);
    return place < 0 ? NULL : PyLong_FromLong(place);
}

/* numeric_device_name(number): "cpu", "cuda:0" */
static PyObject *numeric_name_of(PyObject *module, PyObject *number)
{
    core_state *state = PyModule_GetState(module);
    ts_nd_graph *graph = numeric_numbered(state, number);
    return graph ? numeric_device_name(graph) : NULL;
}

/* numeric_near(number, reads): after so many reads of elements storages of a graph come near; 0: as it pays. */
static PyObject *numeric_near(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *number;
    unsigned reads;
    ts_error err;
    if (!PyArg_ParseTuple(args, "OI:numeric_near", &number, &reads))
        return NULL;
    ts_nd_graph *graph = numeric_numbered(state, number), *host = graph ? numeric_host(state) : NULL;
    if (!host)
        return NULL;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_graph_near(graph, ts_nd_graph_device(host), reads, &err);
    NUMERIC_END(state);
    return status == TS_OK ? Py_NewRef(Py_None) : core_raise(state, &err);
}

/* numeric_default(number): where new arrays lie that no `device` says. */
static PyObject *numeric_default(PyObject *module, PyObject *number)
{
    core_state *state = PyModule_GetState(module);
    ts_nd_graph *graph = numeric_numbered(state, number);
    if (!graph)
        return NULL;
    CORE_SET(state->numeric->graph, graph);
    Py_RETURN_NONE;
}

/* ---- the type ------------------------------------------------------------------------------------ */

static PyMethodDef numeric_methods[] = {
    {"_as", numeric_as, METH_VARARGS, "_as(type, of=self, /)\n--\n\nA view as an object of a class that derives from "
     "ndarray."},
    {"_view", numeric_view, METH_VARARGS, "_view(offset, dtype, shape, strides, owns=False, /)\n--\n\n"
     "Another view of the memory."},
    {"_meant", (PyCFunction)(void (*)(void))numeric_as_meant, METH_FASTCALL,
     "_meant(dtype, is_new=False, /)\n--\n\nThe elements as another dtype."},
    {"_words", numeric_words, METH_O, "_words(most, /)\n--\n\nThe bytes of elements along one more axis, as words."},
    {"_complex_part", numeric_part_of, METH_O,
     "_complex_part(which, /)\n--\n\nReal or imaginary parts of plain arrays, or None."},
    {"_scalar", numeric_item, METH_NOARGS, "The first element, as NumPy's scalar."},
    {"__sizeof__", numeric_sizeof, METH_NOARGS, "Bytes of the object, and of its elements where they are its own."},
    {"_to", numeric_to, METH_O, "_to(device, /)\n--\n\nA copy on a device; None: where new arrays lie."},
    {"_become", numeric_become, METH_O, "_become(other, /)\n--\n\nThis object is another array from now on."},
    {"_address", numeric_address, METH_NOARGS, "Address of the first element."},
    {"__array_ufunc__", (PyCFunction)(void (*)(void))numeric_ufunc_of_numpy, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_shares", numeric_shares, METH_VARARGS, "_shares(other, exact, /)\n--\n\nWhether memory is shared."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef numeric_getset[] = {
    {"shape", get_shape, set_shape, "Extents, a tuple of ints.", NULL},
    {"strides", get_strides, set_strides, "Steps in bytes along each axis.", NULL},
    {"dtype", get_dtype, set_dtype, "NumPy's dtype of the elements.", NULL},
    {"_is_items", get_is_items, NULL, "Whether the elements are bytes to the library.", NULL},
    {"_is_longlong", get_is_longlong, NULL, "Whether NumPy's longlong or ulonglong shows the elements.", NULL},
    {"ndim", get_ndim, NULL, "Number of axes.", NULL},
    {"size", get_size, NULL, "Number of elements.", NULL},
    {"itemsize", get_itemsize, NULL, "Bytes of an element.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all elements.", NULL},
    {"base", get_base, NULL, "Whose memory this is; None: its own.", NULL},
    {"T", get_transposed, NULL, "A view with the axes reversed.", NULL},
    {"_room", get_room, NULL, "Bytes of the memory before the first element, and from it on.", NULL},
    {"_writeable", get_writeable, set_writeable, "Whether it may be written to.", NULL},
    {"__array_interface__", numeric_get_interface, NULL, "NumPy's description of the memory.", NULL},
    {"_interface", numeric_get_interface, NULL, "The same of memory anywhere, for one look: the next call may move it.",
     NUMERIC_BRIEF},
    {"__cuda_array_interface__", numeric_get_interface, NULL, "Numba's description of memory on a GPU.", NUMERIC_CUDA},
    {"__tessera_argument__", numeric_get_argument, NULL, "What a kernel is given for the array.", NULL},
    {"_brief_argument", numeric_get_argument, NULL, "The same, for one call: the memory may move with the next.",
     NUMERIC_BRIEF},
    {"device", get_device, NULL, "Where the array lies: 'cpu', 'cuda:0'.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef numeric_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(numeric_array, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static const PyType_Slot numeric_slots[] = {
    {Py_tp_doc, "The part of tessera.numeric.ndarray that is written in C."},
    {Py_tp_dealloc, numeric_dealloc},
    {Py_tp_methods, numeric_methods},
    {Py_tp_getset, numeric_getset},
    {Py_tp_members, numeric_members},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_mp_subscript, numeric_subscript},
    {Py_mp_ass_subscript, numeric_ass_subscript},
    {Py_mp_length, numeric_length},
    {Py_bf_getbuffer, numeric_getbuffer},
    {Py_bf_releasebuffer, numeric_releasebuffer},
    {Py_nb_bool, numeric_true},
    {0, NULL},
};

/* The type: the slots above and those of operators. */
static PyTypeObject *numeric_type_new(PyObject *module)
{
    PyType_Slot slots[64];
    PyType_Spec spec = {"tessera._core.NumericArray", sizeof(numeric_array), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    const PyType_Slot *const parts[] = {numeric_slots, numeric_operators};
    size_t n = 0;
    for (int part = 0; part < 2; part++)
        for (const PyType_Slot *s = parts[part]; s->slot && n < sizeof slots / sizeof *slots - 1; s++)
            slots[n++] = *s;
    slots[n] = (PyType_Slot){0, NULL};
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}

static PyMethodDef numeric_functions[] = {
    {"numeric_setup", numeric_setup, METH_VARARGS, "What the Python half of tessera.numeric gives."},
    {"numeric_wrap", numeric_of_memory, METH_VARARGS,
     "numeric_wrap(address, bytes, owner, offset, dtype, shape, strides, flags, place=None, /)\n--\n\nAn array in "
     "memory of `owner`."},
    {"numeric_empty", numeric_empty, METH_VARARGS, "numeric_empty(shape, dtype, columns=False, /)\n--\n\nA new array."},
    {"numeric_small", numeric_small, METH_O, "numeric_small(elements, /)\n--\n\nCalls on so many run at once."},
    {"numeric_stats", numeric_stats, METH_NOARGS, "What the graph has done, a dict."},
    {"numeric_flush", (PyCFunction)(void (*)(void))numeric_flush, METH_FASTCALL,
     "Computes all that waits; what cannot be is an error if no arrays are given, or one of them waits for it."},
    {"numeric_place", numeric_place_of, METH_O, "numeric_place(device, /)\n--\n\nThe number of a device's graph."},
    {"numeric_near", numeric_near, METH_VARARGS, "numeric_near(number, reads, /)\n--\n\n"
     "Lets storages of a graph come near after so many reads; 0: as it pays, 2**32 - 1: never."},
    {"numeric_device_name", numeric_name_of, METH_O, "numeric_device_name(number, /)\n--\n\nThe device of a graph."},
    {"numeric_default", numeric_default, METH_O, "numeric_default(number, /)\n--\n\nWhere new arrays lie."},
    {NULL, NULL, 0, NULL},
};

int core_numeric_init(PyObject *module, core_state *state)
{
    state->numeric = PyMem_Calloc(1, sizeof *state->numeric);
    if (!state->numeric) {
        PyErr_NoMemory();
        return -1;
    }
    PyTypeObject *type = numeric_type_new(module);
    state->numeric->array_type = type;
    state->numeric->current = PyContextVar_New("numeric_current", NULL);
    state->numeric->names = PyDict_New();
    state->numeric->ours = PyDict_New();
    if (!type || !state->numeric->names || !state->numeric->ours || !state->numeric->current ||
        PyModule_AddObjectRef(module, "numeric_ours", state->numeric->ours) < 0 ||
        PyModule_AddObjectRef(module, "numeric_current", state->numeric->current) < 0 ||
        PyModule_AddObjectRef(module, "NumericArray", (PyObject *)type) < 0 || numeric_call_init(module, state) < 0 ||
        numeric_faults_init(module) < 0 || numeric_half_init(module) < 0 || numeric_product_init(module) < 0 ||
        numeric_routine_init(module) < 0 || numeric_order_init(module) < 0 || numeric_walk_init(module) < 0 ||
        numeric_flat_init(module) < 0 || numeric_bytes_init(module) < 0 || numeric_lend_init(module) < 0 ||
        numeric_loop_init(module, state) < 0 || numeric_doctor_init(module) < 0)
        return -1;
    return PyModule_AddFunctions(module, numeric_functions);
}

/* The fields that hold objects: from array_type to power, the last. */
static PyObject **numeric_fields(numeric_state *n, size_t *count)
{
    PyObject **first = (PyObject **)&n->array_type;
    *count = (size_t)(&n->power - first) + 1;
    return first;
}

int core_numeric_traverse(core_state *state, visitproc visit, void *arg)
{
    size_t count;
    PyObject **fields = state->numeric ? numeric_fields(state->numeric, &count) : NULL;
    for (size_t i = 0; fields && i < count; i++)
        Py_VISIT(fields[i]);
    return 0;
}

void core_numeric_clear(core_state *state)
{
    size_t count;
    PyObject **fields = state->numeric ? numeric_fields(state->numeric, &count) : NULL;
    PyTypeObject *class = fields ? state->numeric->array_class : NULL;
    Py_XINCREF(class);
    for (size_t i = 0; fields && i < count; i++)
        Py_CLEAR(fields[i]);
    for (int i = 1; fields && i <= state->numeric->n_meanings; i++)
        Py_CLEAR(state->numeric->meanings[i]);
    if (fields) {
        numeric_objects_end(state->numeric, class);
        PyMem_RawFree(state->numeric->meanings);
        state->numeric->meanings = NULL;
        state->numeric->n_meanings = 0;
        numeric_doctor_end(state);
    }
    Py_XDECREF(class);
}
