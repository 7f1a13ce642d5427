/* SPDX-License-Identifier: Apache-2.0
 *
 * a.flat: the elements in row-major order, one by one. Each is read when it is asked for, so a walk sees what is
 * written meanwhile; the class in Python (tessera/numeric/_flat.py) has what names more than one element.
 */
#include "numeric.h"
#include <structmember.h>

typedef struct flat_object {
    PyObject_HEAD
    core_state *state;
    PyObject *array;
    Py_ssize_t next;
} flat_object;

/* The element at a place in row-major order. */
static PyObject *flat_element(const flat_object *self, int64_t place)
{
    ts_nd *a = ND(self->array);
    int64_t offset = 0;
    for (uint32_t d = a->rank; d--;) {
        int64_t extent = ts_nd_shape(a)[d];
        offset += place % extent * ts_nd_strides(a)[d];
        place /= extent;
    }
    return numeric_scalar(self->state, a, offset);
}

static PyObject *flat_next(PyObject *object)
{
    flat_object *self = (flat_object *)object;
    Py_ssize_t place = self->next;
    if (place >= ND(self->array)->count)
        return NULL;
    self->next = place + 1;
    return flat_element(self, place);
}

static Py_ssize_t flat_length(PyObject *self)
{
    return (Py_ssize_t)ND(((flat_object *)self)->array)->count;
}

/* Whether a key is the place of an element, an int of Python. */
static bool flat_is_place(PyObject *self, PyObject *key, int64_t *place)
{
    int overflow = 0;
    int64_t count = flat_length(self);
    if (!PyLong_CheckExact(key))
        return false;
    *place = PyLong_AsLongLongAndOverflow(key, &overflow);
    *place += *place < 0 ? count : 0;
    return !overflow && *place >= 0 && *place < count;
}

static PyObject *flat_subscript(PyObject *self, PyObject *key)
{
    int64_t place;
    return flat_is_place(self, key, &place) ? flat_element((flat_object *)self, place)
                                            : PyObject_CallMethod(self, "_taken", "(O)", key);
}

/* The indices of a place; behind the last element the first of them goes on. */
static PyObject *flat_indices(PyObject *self, int64_t place)
{
    const ts_nd *a = ND(((flat_object *)self)->array);
    PyObject *made = PyTuple_New(a->rank);
    for (uint32_t d = a->rank; made && d--;) {
        int64_t extent = ts_nd_shape(a)[d];
        PyObject *index = PyLong_FromLongLong(!d ? place : extent ? place % extent : 0);
        place /= Py_MAX(extent, 1);
        if (index)
            PyTuple_SET_ITEM(made, d, index);
        else
            Py_CLEAR(made);
    }
    return made;
}

/* Numbers of Python go to one element; mistakes and all else are told of, or done, by Python. */
static int flat_ass_subscript(PyObject *self, PyObject *key, PyObject *value)
{
    int64_t place;
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "Cannot delete iterator elements");
        return -1;
    }
    if ((PyFloat_CheckExact(value) || PyLong_CheckExact(value)) && flat_is_place(self, key, &place)) {
        PyObject *indices = flat_indices(self, place);
        int done = indices ? numeric_ass_subscript(((flat_object *)self)->array, indices, value) : -1;
        Py_XDECREF(indices);
        if (done == 0 || !PyErr_ExceptionMatches(PyExc_Exception))
            return done;
        PyErr_Clear();
    }
    PyObject *done = PyObject_CallMethod(self, "_written", "OO", key, value);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static PyObject *flat_coords(PyObject *self, void *unused)
{
    (void)unused;
    return flat_indices(self, ((flat_object *)self)->next);
}

static PyObject *flat_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    core_state *state = core_state_of_type(type);
    PyObject *array;
    if (!PyArg_ParseTuple(args, "O!:flatiter", state->numeric->array_type, &array) ||
        (kwargs && PyDict_GET_SIZE(kwargs)))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "flatiter() takes no keyword arguments");
    flat_object *self = (flat_object *)type->tp_alloc(type, 0);
    if (self) {
        self->state = state;
        self->array = Py_NewRef(array);
    }
    return (PyObject *)self;
}

static void flat_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((flat_object *)self)->array);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef flat_members[] = {
    {"_array", T_OBJECT, offsetof(flat_object, array), READONLY, "The array."},
    {"base", T_OBJECT, offsetof(flat_object, array), READONLY, "The array."},
    {"index", T_PYSSIZET, offsetof(flat_object, next), READONLY, "The place of the next element."},
    {NULL, 0, 0, 0, NULL},
};
static PyGetSetDef flat_getset[] = {
    {"coords", flat_coords, NULL, "The indices of the next element.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot flat_slots[] = {
    {Py_tp_doc, "The elements of an array in row-major order."},
    {Py_tp_new, flat_new},
    {Py_tp_dealloc, flat_dealloc},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, flat_next},
    {Py_mp_length, flat_length},
    {Py_mp_subscript, flat_subscript},
    {Py_mp_ass_subscript, flat_ass_subscript},
    {Py_tp_members, flat_members},
    {Py_tp_getset, flat_getset},
    {0, NULL},
};
static PyType_Spec flat_spec = {"tessera._core.NumericFlat", sizeof(flat_object), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, flat_slots};

int numeric_flat_init(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &flat_spec, NULL);
    int done = type ? PyModule_AddObjectRef(module, "NumericFlat", type) : -1;
    Py_XDECREF(type);
    return done;
}
