/* SPDX-License-Identifier: Apache-2.0
 *
 * Type, and Handle: the base of the classes for opaque handles (CUstream) and integers with a name
 * (CUdeviceptr). A handle owns nothing; it is a number that has an address.
 */
#include "bindings.h"
#include <stdio.h>
#include <string.h>

/* ---- Type ------------------------------------------------------------------------------------------------------- */

static int type_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *words[] = {"name", "kind", "base", "size", "align", "accepts", NULL};
    bind_type *type = (bind_type *)self;
    PyObject *name, *accepts = NULL;
    int kind, base;
    unsigned size = 0, align = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Uii|IIO!:Type", words, &name, &kind, &base, &size, &align,
                                     &PyTuple_Type, &accepts))
        return -1;
    if (kind < 0 || kind > BIND_BOOL || base < 0 || base > BIND_F64 || type->name) {
        PyErr_SetString(PyExc_ValueError, "no such kind of type");
        return -1;
    }
    type->name = Py_NewRef(name);
    type->accepts = Py_XNewRef(accepts);
    type->kind = (uint8_t)kind;
    type->base = (uint8_t)base;
    bool is_pointer = kind == BIND_POINTER || kind == BIND_TEXT;
    type->size = kind == BIND_RECORD ? size : is_pointer ? 8 : bind_scalar_size(kind <= BIND_F64 ? kind : base);
    type->align = kind == BIND_RECORD ? align : type->size;
    return 0;
}

/* bind(class, members=None): the Python class that wraps values of this type. */
static PyObject *type_bind(PyObject *self, PyObject *args)
{
    bind_type *type = (bind_type *)self;
    PyObject *class, *members = NULL;
    if (!PyArg_ParseTuple(args, "O!|O!:bind", &PyType_Type, &class, &PyDict_Type, &members))
        return NULL;
    if (!type->class)
        Py_INCREF(self); /* never freed: handles point at it without a reference of their own */
    Py_XSETREF(type->class, Py_NewRef(class));
    Py_XSETREF(type->members, Py_XNewRef(members));
    Py_RETURN_NONE;
}

static int type_traverse(PyObject *self, visitproc visit, void *arg)
{
    bind_type *type = (bind_type *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(type->class);
    Py_VISIT(type->members);
    return 0;
}

static int type_clear(PyObject *self)
{
    bind_type *type = (bind_type *)self;
    Py_CLEAR(type->class);
    Py_CLEAR(type->members);
    return 0;
}

static void type_dealloc(PyObject *self)
{
    PyTypeObject *class = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    type_clear(self);
    Py_XDECREF(((bind_type *)self)->name);
    Py_XDECREF(((bind_type *)self)->accepts);
    class->tp_free(self);
    Py_DECREF(class);
}

static PyObject *type_get_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(((bind_type *)self)->size);
}

static PyObject *type_get_class(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *class = ((bind_type *)self)->class;
    return Py_NewRef(class ? class : Py_None);
}

static PyMethodDef type_methods[] = {
    {"bind", type_bind, METH_VARARGS, "bind(class, members=None): the class of this type's values."},
    {0},
};
static PyGetSetDef type_getset[] = {{"size", type_get_size, NULL, "Bytes in C.", NULL},
                                    {"cls", type_get_class, NULL, "The class that wraps it.", NULL},
                                    {0}};
static PyType_Slot type_slots[] = {
    {Py_tp_doc, "Type(name, kind, base, size=0, align=0, accepts=()): what a name of a table means."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, type_init},
    {Py_tp_methods, type_methods},
    {Py_tp_getset, type_getset},
    {Py_tp_traverse, type_traverse},
    {Py_tp_clear, type_clear},
    {Py_tp_dealloc, type_dealloc},
    {0, NULL},
};
static PyType_Spec type_spec = {
    .name = "tessera._bindings.Type",
    .basicsize = sizeof(bind_type),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = type_slots,
};

int bind_type_init(PyObject *module, bind_state *state)
{
    state->type_type = (PyTypeObject *)bind_add_type(module, &type_spec);
    return state->type_type ? 0 : -1;
}

/* ---- Handle ----------------------------------------------------------------------------------------------------- */

PyObject *bind_handle_new(bind_type *type, uint64_t value)
{
    if (!type->class)
        return PyLong_FromUnsignedLongLong(value);
    PyTypeObject *class = (PyTypeObject *)type->class;
    bind_handle *handle = (bind_handle *)class->tp_alloc(class, 0);
    if (handle) {
        handle->value = value;
        handle->at = &handle->value;
        handle->type = type;
    }
    return (PyObject *)handle;
}

/* The Type that a class of handles or records carries; borrowed from the class. */
bind_type *bind_class_type(PyTypeObject *class)
{
    bind_state *state = bind_state_of(class);
    PyObject *type = PyObject_GetAttr((PyObject *)class, state->name_type);
    if (!type || !Py_IS_TYPE(type, state->type_type)) {
        if (type || PyErr_ExceptionMatches(PyExc_AttributeError))
            PyErr_Format(PyExc_TypeError, "%.100s cannot be made directly", class->tp_name);
        Py_XDECREF(type);
        return NULL;
    }
    Py_DECREF(type);
    return (bind_type *)type;
}

static PyObject *handle_create(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *words[] = {"init_value", "_ptr", NULL};
    PyObject *init = NULL;
    unsigned long long address = 0;
    uint64_t value = 0;
    bind_type *type = bind_class_type(class);
    if (!type || !PyArg_ParseTupleAndKeywords(args, kwargs, "|OK", words, &init, &address))
        return NULL;
    if (init && (PyUnicode_Check(init) || PyBytes_Check(init) || PyFloat_Check(init))) {
        PyErr_Format(PyExc_TypeError, "%U is made of an int, not of %.100s", type->name, Py_TYPE(init)->tp_name);
        return NULL;
    }
    /* Any object that is a number will do here, handles of other classes too: the caller says what it is. */
    PyObject *number = init && init != Py_None ? PyNumber_Long(init) : NULL;
    if (init && init != Py_None && (!number || bind_word(type, number, class->tp_name, "value", &value) < 0)) {
        Py_XDECREF(number);
        return NULL;
    }
    Py_XDECREF(number);
    bind_handle *handle = (bind_handle *)bind_handle_new(type, value);
    if (handle && address)
        handle->at = (void *)(uintptr_t)address;
    return (PyObject *)handle;
}

static void handle_dealloc(PyObject *self)
{
    PyTypeObject *class = Py_TYPE(self);
    class->tp_free(self);
    Py_DECREF(class);
}

static uint64_t handle_bits(PyObject *self)
{
    bind_handle *handle = (bind_handle *)self;
    uint64_t value = 0;
    memcpy(&value, handle->at, handle->type->size);
    return handle->type->base == BIND_I32 ? (uint64_t)(int64_t)(int32_t)value : value;
}

static PyObject *handle_int(PyObject *self)
{
    uint64_t value = handle_bits(self);
    return ((bind_handle *)self)->type->base == BIND_I32 ? PyLong_FromLongLong((int64_t)value)
                                                         : PyLong_FromUnsignedLongLong(value);
}

static int handle_bool(PyObject *self)
{
    return handle_bits(self) != 0;
}

static PyObject *handle_get_ptr(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(((bind_handle *)self)->at);
}

static PyObject *handle_repr(PyObject *self)
{
    bind_type *type = ((bind_handle *)self)->type;
    char digits[24];
    if (type->kind == BIND_HANDLE)
        snprintf(digits, sizeof digits, "0x%llx", (unsigned long long)handle_bits(self));
    else if (type->base == BIND_I32)
        snprintf(digits, sizeof digits, "%lld", (long long)handle_bits(self));
    else
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)handle_bits(self));
    return PyUnicode_FromFormat("<%U %s>", type->name, digits);
}

static PyObject *handle_compare(PyObject *self, PyObject *other, int op)
{
    bind_state *state = bind_state_of(Py_TYPE(self));
    if ((op != Py_EQ && op != Py_NE) || !BIND_IS(state, other, handle))
        Py_RETURN_NOTIMPLEMENTED;
    bool equal = ((bind_handle *)self)->type == ((bind_handle *)other)->type && handle_bits(self) == handle_bits(other);
    return PyBool_FromLong(equal == (op == Py_EQ));
}

static Py_hash_t handle_hash(PyObject *self)
{
    Py_hash_t hash = (Py_hash_t)(handle_bits(self) % (uint64_t)PY_SSIZE_T_MAX);
    return hash == -1 ? -2 : hash;
}

static PyMethodDef handle_methods[] = {
    {"getPtr", handle_get_ptr, METH_NOARGS, "getPtr(): address of the variable that holds the value."},
    {0},
};
static PyType_Slot handle_slots[] = {
    {Py_tp_doc, "Handle(init_value=0, _ptr=0): a value of a driver's type; owns nothing."},
    {Py_tp_new, handle_create},
    {Py_tp_dealloc, handle_dealloc},
    {Py_tp_repr, handle_repr},
    {Py_tp_richcompare, handle_compare},
    {Py_tp_hash, handle_hash},
    {Py_tp_methods, handle_methods},
    {Py_nb_int, handle_int},
    {Py_nb_index, handle_int},
    {Py_nb_bool, handle_bool},
    {0, NULL},
};
static PyType_Spec handle_spec = {
    .name = "tessera._bindings.Handle",
    .basicsize = sizeof(bind_handle),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = handle_slots,
};

int bind_handle_init(PyObject *module, bind_state *state)
{
    state->handle_type = (PyTypeObject *)bind_add_type(module, &handle_spec);
    return state->handle_type ? 0 : -1;
}
