/* SPDX-License-Identifier: Apache-2.0
 *
 * NumericRoutine: a function of tessera.numeric that is written in Python. Arrays that it makes on its way lie on the
 * device of its first argument, whatever device is current, so the function itself need not think of devices.
 */
#include "numeric.h"
#include <string.h>
#include <structmember.h>

typedef struct numeric_routine {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    core_state *state;
    PyObject *function;
} numeric_routine;

/* The graph of the first argument, or of the first element of a list; NULL: it is no array of ours. */
static ts_nd_graph *routine_graph(core_state *state, PyObject *const *args, Py_ssize_t n)
{
    PyObject *first = n ? args[0] : NULL;
    if (first && PyTuple_CheckExact(first))
        first = PyTuple_GET_SIZE(first) ? PyTuple_GET_ITEM(first, 0) : NULL;
    else if (first && PyList_CheckExact(first))
        first = PyList_GET_SIZE(first) ? PyList_GET_ITEM(first, 0) : NULL;
    return first && numeric_is_array(state, first) ? ND(first)->graph : NULL;
}

static PyObject *routine_elsewhere(numeric_routine *self, ts_nd_graph *graph, PyObject *const *args, size_t flags,
                                   PyObject *names)
{
    numeric_state *n = self->state->numeric;
    long place = 0;
    while (place < NUMERIC_DEVICES - 1 && n->graphs[place] != graph)
        place++;
    PyObject *number = PyLong_FromLong(place);
    PyObject *token = number ? PyContextVar_Set(n->current, number) : NULL;
    Py_XDECREF(number);
    if (!token)
        return NULL;
    PyObject *result = PyObject_Vectorcall(self->function, args, flags, names);
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (PyContextVar_Reset(n->current, token) < 0)
        Py_CLEAR(result);
    else
        PyErr_Restore(type, value, trace);
    Py_DECREF(token);
    return result;
}

static PyObject *routine_call(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    numeric_routine *self = (numeric_routine *)object;
    ts_nd_graph *graph = routine_graph(self->state, args, PyVectorcall_NARGS(flags));
    if (!graph || graph == numeric_graph(self->state))
        return PyObject_Vectorcall(self->function, args, flags, names);
    return routine_elsewhere(self, graph, args, flags, names);
}

static PyObject *routine_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *function;
    if (!PyArg_ParseTuple(args, "O:NumericRoutine", &function) || (kwargs && PyDict_GET_SIZE(kwargs)))
        return NULL;
    numeric_routine *self = (numeric_routine *)type->tp_alloc(type, 0);
    if (self) {
        self->vectorcall = routine_call;
        self->state = core_state_of_type(type);
        self->function = Py_NewRef(function);
    }
    return (PyObject *)self;
}

static int routine_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((numeric_routine *)self)->function);
    return 0;
}

static int routine_clear(PyObject *self)
{
    Py_CLEAR(((numeric_routine *)self)->function);
    return 0;
}

static void routine_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    (void)routine_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *routine_bind(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    return object ? PyMethod_New(self, object) : Py_NewRef(self);
}

/* Name, signature and documentation are the function's; users find it in tessera.numeric. */
static PyObject *routine_attribute(PyObject *self, PyObject *name)
{
    if (PyUnicode_CompareWithASCIIString(name, "__module__") == 0)
        return PyUnicode_FromString("tessera.numeric");
    PyObject *own = PyObject_GenericGetAttr(self, name);
    PyObject *function = ((numeric_routine *)self)->function;
    if (own || !function || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return own;
    PyErr_Clear();
    return PyObject_GetAttr(function, name);
}

static PyObject *routine_repr(PyObject *self)
{
    PyObject *name = PyObject_GetAttrString(((numeric_routine *)self)->function, "__qualname__");
    PyObject *text = name ? PyUnicode_FromFormat("<function tessera.numeric.%U>", name) : NULL;
    Py_XDECREF(name);
    return text;
}

/* Pickled by its name. */
static PyObject *routine_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyObject_GetAttrString(((numeric_routine *)self)->function, "__name__");
}

static PyObject *routine_doc(PyObject *self, void *unused)
{
    (void)unused;
    return PyObject_GetAttrString(((numeric_routine *)self)->function, "__doc__");
}

static PyMethodDef routine_methods[] = {
    {"__reduce__", routine_reduce, METH_NOARGS, "Pickled by its name."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef routine_getset[] = {
    {"__doc__", routine_doc, NULL, "The function's.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef routine_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(numeric_routine, vectorcall), READONLY, NULL},
    {"__wrapped__", T_OBJECT, offsetof(numeric_routine, function), READONLY, "The function as it is written."},
    {NULL, 0, 0, 0, NULL},
};
/* The first slot is what NumericBuiltin lacks: in a class it does not become a method, as NumPy's functions in C. */
static PyType_Slot routine_slots[] = {
    {Py_tp_descr_get, routine_bind},
    {Py_tp_new, routine_new},
    {Py_tp_traverse, routine_traverse},
    {Py_tp_clear, routine_clear},
    {Py_tp_dealloc, routine_dealloc},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_getattro, routine_attribute},
    {Py_tp_repr, routine_repr},
    {Py_tp_methods, routine_methods},
    {Py_tp_getset, routine_getset},
    {Py_tp_members, routine_members},
    {0, NULL},
};
#define ROUTINE_FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL)
static PyType_Spec routine_specs[] = {
    {"tessera._core.NumericRoutine", sizeof(numeric_routine), 0, ROUTINE_FLAGS | Py_TPFLAGS_METHOD_DESCRIPTOR,
     routine_slots},
    {"tessera._core.NumericBuiltin", sizeof(numeric_routine), 0, ROUTINE_FLAGS, routine_slots + 1},
};

int numeric_routine_init(PyObject *module)
{
    int done = 0;
    for (size_t i = 0; i < sizeof routine_specs / sizeof *routine_specs && done == 0; i++) {
        PyObject *type = PyType_FromModuleAndSpec(module, &routine_specs[i], NULL);
        done = type ? PyModule_AddObjectRef(module, strrchr(routine_specs[i].name, '.') + 1, type) : -1;
        Py_XDECREF(type);
    }
    return done;
}
