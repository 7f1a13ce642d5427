/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of CuPy as launch arguments. CuPy offers no C table and takes a microsecond for its dictionary; its
 * attributes are quicker, and quickest through the C getters of its compiled classes, which are found once per
 * type. What is no such getter (another version, a stand-in) is read as an attribute.
 *
 *     array.data.ptr   array.dtype   array._shape (a list; or .shape)   array._c_contiguous, else array.strides
 */
#include "core.h"
#include <string.h>

typedef struct cupy_attribute {
    PyObject *name;  /* owned */
    PyObject *owner; /* owned: the descriptor the getter is of; NULL: no getter */
    getter get;
    void *closure;
} cupy_attribute;

typedef struct cupy_type {
    cupy_attribute dtype, data, shape, strides, dense, ptr, device;
    PyTypeObject *memory; /* owned: what `ptr` and `device` were looked up in */
    bool has_dense, one_gpu;
} cupy_type;

/* 1 found, 0 not in the type (still to be asked of the object), -1 error. */
static int cupy_find(PyTypeObject *type, const char *name, cupy_attribute *out)
{
    out->name = PyUnicode_InternFromString(name);
    PyObject *found = out->name ? PyObject_GetAttr((PyObject *)type, out->name) : NULL;
    if (found && Py_IS_TYPE(found, &PyGetSetDescr_Type)) {
        const PyGetSetDef *def = ((PyGetSetDescrObject *)found)->d_getset;
        out->owner = Py_NewRef(found);
        out->get = def->get;
        out->closure = def->closure;
    }
    Py_XDECREF(found);
    return out->name ? found != NULL : -1;
}

static void cupy_forget(cupy_attribute *attribute)
{
    Py_CLEAR(attribute->name);
    Py_CLEAR(attribute->owner);
    attribute->get = NULL;
}

static PyObject *cupy_get(const cupy_attribute *attribute, PyObject *object)
{
    if (attribute->get)
        return attribute->get(object, attribute->closure);
    return attribute->name ? PyObject_GetAttr(object, attribute->name) : PyErr_NoMemory();
}

void core_cupy_delete(void *extra)
{
    cupy_type *type = extra;
    cupy_attribute *const all[] = {&type->dtype, &type->data, &type->shape, &type->strides, &type->dense,
                                   &type->ptr, &type->device};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cupy_forget(all[i]);
    Py_XDECREF(type->memory);
    PyMem_Free(type);
}

void *core_cupy_new(PyTypeObject *type)
{
    cupy_type *self = PyMem_Calloc(1, sizeof *self);
    if (!self)
        return NULL;
    bool ok = cupy_find(type, "dtype", &self->dtype) >= 0 && cupy_find(type, "data", &self->data) >= 0 &&
              cupy_find(type, "strides", &self->strides) >= 0;
    int dense = cupy_find(type, "_c_contiguous", &self->dense), shape = cupy_find(type, "_shape", &self->shape);
    self->has_dense = dense > 0;
    if (shape == 0) {
        cupy_forget(&self->shape);
        shape = cupy_find(type, "shape", &self->shape);
    }
    self->one_gpu = ts_device_count(TS_DEVICE_CUDA) == 1;
    PyErr_Clear(); /* what is missing is missed when it is read */
    if (ok && dense >= 0 && shape >= 0)
        return self;
    core_cupy_delete(self);
    return NULL;
}

/* The integers of a tuple or list; their number, or -1. */
static int cupy_numbers(const cupy_attribute *attribute, PyObject *object, int64_t *out)
{
    PyObject *items = cupy_get(attribute, object);
    Py_ssize_t n = items && (PyTuple_Check(items) || PyList_Check(items)) ? PySequence_Fast_GET_SIZE(items) : -1;
    if (n > TS_ARRAY_RANK)
        n = -1;
    for (Py_ssize_t d = 0; d < n; d++)
        out[d] = PyLong_AsLongLong(PySequence_Fast_GET_ITEM(items, d));
    Py_XDECREF(items);
    return PyErr_Occurred() ? -1 : (int)n;
}

static ts_dtype cupy_dtype(core_state *state, const cupy_type *type, PyObject *object)
{
    PyObject *dtype = cupy_get(&type->dtype, object);
    ts_dtype found = TS_DTYPE_NONE;
    if (!dtype)
        return found;
    for (int i = 0; i < state->n_seen && !found; i++)
        if (state->seen[i].object == dtype)
            found = state->seen[i].dtype;
    if (!found && core_dtype_of(state, dtype, &found) == 0 && state->n_seen < CORE_SEEN) {
        state->seen[state->n_seen].object = Py_NewRef(dtype);
        state->seen[state->n_seen++].dtype = found;
    }
    Py_DECREF(dtype);
    return found;
}

static void cupy_pointer(cupy_type *type, PyObject *object, core_foreign *out)
{
    PyObject *memory = cupy_get(&type->data, object);
    if (memory && Py_TYPE(memory) != type->memory) {
        cupy_forget(&type->ptr);
        cupy_forget(&type->device);
        Py_XSETREF(type->memory, (PyTypeObject *)Py_NewRef(Py_TYPE(memory)));
        (void)cupy_find(type->memory, "ptr", &type->ptr);
        (void)cupy_find(type->memory, "device_id", &type->device);
        PyErr_Clear(); /* what is missing is missed when it is read */
    }
    PyObject *number = memory ? cupy_get(&type->ptr, memory) : NULL;
    PyObject *id = number && !type->one_gpu ? cupy_get(&type->device, memory) : NULL;
    if (number)
        out->layout.data = PyLong_AsVoidPtr(number);
    long ordinal = id ? PyLong_AsLong(id) : 0;
    if (ordinal < 0 || ordinal > 255) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "the array's device_id %ld is not the number of a GPU (0 to 255)", ordinal);
    } else
        out->device = (uint16_t)TS_DEVICE_ID(TS_DEVICE_CUDA, ordinal);
    Py_XDECREF(id);
    Py_XDECREF(number);
    Py_XDECREF(memory);
}

/* In bytes; *out NULL: row-major. */
static int cupy_strides(const cupy_type *type, PyObject *object, int rank, int64_t *room, const int64_t **out)
{
    PyObject *dense = type->has_dense ? cupy_get(&type->dense, object) : NULL;
    Py_XDECREF(dense);
    *out = dense == Py_True ? NULL : room;
    if (!*out)
        return 0;
    if (!PyErr_Occurred() && cupy_numbers(&type->strides, object, room) == rank)
        return 0;
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "the array has %d dimensions, but its strides do not", rank);
    return -1;
}

int core_take_cupy(core_state *state, core_frame *frame, PyObject *object, const void *extra)
{
    cupy_type *type = (cupy_type *)(uintptr_t)extra; /* its memory type is filled in here */
    int64_t *dims = core_frame_dims(frame, 2 * TS_ARRAY_RANK);
    ts_arg *arg = dims ? core_frame_next(frame) : NULL;
    core_foreign foreign = {.device = TS_DEVICE_ID(TS_DEVICE_CUDA, 0)};
    if (!arg)
        return -1;
    foreign.dtype = cupy_dtype(state, type, object);
    if (foreign.dtype)
        cupy_pointer(type, object, &foreign);
    int rank = PyErr_Occurred() ? -1 : cupy_numbers(&type->shape, object, dims);
    if (rank < 0) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "the array has more than %d dimensions", TS_ARRAY_RANK);
        return -1;
    }
    ts_layout *layout = &foreign.layout;
    *layout = (ts_layout){layout->data, rank, (uint32_t)ts_dtype_bytes(foreign.dtype), 1, dims, NULL};
    return cupy_strides(type, object, rank, dims + rank, &layout->strides) < 0 ? -1
                                                                              : core_foreign_arg(&foreign, dims, arg);
}
