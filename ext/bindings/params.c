/* SPDX-License-Identifier: Apache-2.0
 *
 * kernelParams, in the five forms: None or 0; the address of a ready void** array; an object with the buffer
 * protocol that holds that array; a tuple (values, types) of Python values and ctypes classes.
 */
#include "bindings.h"
#include <string.h>

/* The ctypes classes that say how a value is stored. */
static const struct params_row {
    const char *name;
    uint8_t kind;
} params_rows[] = {
    {"c_bool", BIND_U8},       {"c_char", BIND_I8},       {"c_wchar", BIND_I32},  {"c_byte", BIND_I8},
    {"c_ubyte", BIND_U8},      {"c_short", BIND_I16},     {"c_ushort", BIND_U16}, {"c_int", BIND_I32},
    {"c_uint", BIND_U32},      {"c_long", BIND_I64},      {"c_ulong", BIND_U64},  {"c_longlong", BIND_I64},
    {"c_ulonglong", BIND_U64}, {"c_float", BIND_F32},     {"c_double", BIND_F64}, {"c_void_p", BIND_POINTER},
};
enum { PARAMS_BOOL = 0, PARAMS_CHAR = 1, PARAMS_WCHAR = 2 };

/* class -> row of the table above, made when the first launch needs it. */
static PyObject *params_classes(bind_state *state)
{
    if (state->ctypes)
        return state->ctypes;
    PyObject *ctypes = PyImport_ImportModule("ctypes");
    PyObject *classes = ctypes ? PyDict_New() : NULL;
    for (size_t i = 0; classes && i < sizeof params_rows / sizeof *params_rows; i++) {
        PyObject *class = PyObject_GetAttrString(ctypes, params_rows[i].name);
        PyObject *row = PyLong_FromSize_t(i);
        if (!class || !row || PyDict_SetItem(classes, class, row) < 0)
            Py_CLEAR(classes);
        Py_XDECREF(class);
        Py_XDECREF(row);
    }
    Py_XDECREF(ctypes);
    return state->ctypes = classes;
}

/* The address that an object with getPtr() gives; 0 and *found false when it has no such method. */
static int params_get_ptr(bind_state *state, PyObject *value, uint64_t *address, bool *found)
{
    PyObject *method = PyObject_GetAttr(value, state->name_get_ptr);
    *found = method != NULL;
    if (!method) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return -1;
        PyErr_Clear();
        return 0;
    }
    PyObject *result = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    *address = result ? PyLong_AsUnsignedLongLongMask(result) : 0;
    Py_XDECREF(result);
    return PyErr_Occurred() ? -1 : 0;
}

/* A pointer value. The tuple of values keeps a buffer's owner alive, so its view need not stay open. */
static int params_address(bind_frame *frame, PyObject *value, uint64_t *address)
{
    Py_ssize_t bytes;
    int n_views = frame->n_views;
    int result = bind_pointer(frame, value, "kernelParams", address, &bytes);
    while (frame->n_views > n_views)
        PyBuffer_Release(&frame->views[--frame->n_views]);
    return result;
}

/* "By itself": the parameter is the object's own memory. */
static int params_itself(bind_frame *frame, PyObject *value, char *cell, void **parameter)
{
    bool found = false;
    uint64_t address = 0;
    if (BIND_IS(frame->state, value, handle)) {
        *parameter = ((bind_handle *)value)->at;
        return 0;
    }
    if (BIND_IS(frame->state, value, record)) {
        *parameter = ((bind_record *)value)->data;
        return 0;
    }
    if (PyLong_Check(value) && !PyLong_CheckExact(value) && !PyBool_Check(value)) { /* a member of an enum */
        uint64_t word;
        int result = bind_scalar(BIND_I32, value, frame->function, "kernelParams", &word);
        memcpy(cell, &word, sizeof(int32_t));
        return result;
    }
    if (params_get_ptr(frame->state, value, &address, &found) < 0)
        return -1;
    if (!found && PyLong_Check(value)) {
        PyErr_Format(PyExc_TypeError, "kernelParams: the type of %R is None; say its C type, as ctypes.c_int", value);
        return -1;
    }
    if (!found && params_address(frame, value, &address) < 0)
        return -1;
    *parameter = (void *)(uintptr_t)address;
    return 0;
}

/* The value of c_int(3) is 3; other objects are their own value. */
static PyObject *params_unboxed(bind_state *state, PyObject *value)
{
    if (PyLong_Check(value) || PyFloat_Check(value) || PyBytes_Check(value) || PyUnicode_Check(value))
        return Py_NewRef(value);
    PyObject *classes = params_classes(state);
    if (!classes)
        return NULL;
    int is_ctypes = PyDict_Contains(classes, (PyObject *)Py_TYPE(value));
    return is_ctypes > 0 ? PyObject_GetAttr(value, state->name_value) : is_ctypes < 0 ? NULL : Py_NewRef(value);
}

static int params_pointer(bind_frame *frame, PyObject *value, char *cell)
{
    uint64_t address = 0;
    bool found = false;
    if (value != Py_None && !PyLong_Check(value) && params_get_ptr(frame->state, value, &address, &found) < 0)
        return -1;
    if (!found && params_address(frame, value, &address) < 0)
        return -1;
    memcpy(cell, &address, sizeof address);
    return 0;
}

static int params_character(PyObject *value, char *cell)
{
    int32_t wide = 0;
    if (PyBytes_Check(value) && PyBytes_GET_SIZE(value) == 1)
        wide = (unsigned char)PyBytes_AS_STRING(value)[0];
    else if (PyUnicode_Check(value) && PyUnicode_GetLength(value) == 1)
        wide = (int32_t)PyUnicode_ReadChar(value, 0);
    else
        return 1;
    memcpy(cell, &wide, sizeof wide);
    return 0;
}

/* One value by its ctypes class, stored in an 8-byte cell. */
static int params_value(bind_frame *frame, size_t row, PyObject *boxed, char *cell)
{
    PyObject *value = params_unboxed(frame->state, boxed);
    if (!value)
        return -1;
    int result = 1;
    if (row == PARAMS_CHAR || row == PARAMS_WCHAR)
        result = params_character(value, cell);
    if (row == PARAMS_BOOL) {
        int truth = PyObject_IsTrue(value);
        *cell = (char)(truth > 0);
        result = truth < 0 ? -1 : 0;
    }
    if (result == 1 && params_rows[row].kind == BIND_POINTER)
        result = params_pointer(frame, value, cell);
    if (result == 1) {
        uint64_t word = 0;
        result = bind_scalar(params_rows[row].kind, value, frame->function, "kernelParams", &word);
        memcpy(cell, &word, sizeof word);
    }
    Py_DECREF(value);
    return result;
}

static int params_one(bind_frame *frame, PyObject *value, PyObject *type, char *cell, void **parameter)
{
    *parameter = cell;
    if (type == Py_None)
        return params_itself(frame, value, cell, parameter);
    PyObject *classes = params_classes(frame->state);
    PyObject *row = classes ? PyDict_GetItemWithError(classes, type) : NULL;
    if (row)
        return params_value(frame, PyLong_AsSize_t(row), value, cell);
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError,
                     "kernelParams: %R is no type of a parameter; a ctypes class of a number, c_void_p or None is",
                     type);
    return -1;
}

/* An array of pointers, then a cell for each value; without types each value is the parameter by itself. The frame
 * keeps the values. */
static int params_values(bind_frame *frame, PyObject *values, PyObject *types, uint64_t *word)
{
    Py_ssize_t n = PyTuple_GET_SIZE(values);
    void **parameters = bind_frame_block(frame, (size_t)(n ? n : 1) * 16);
    if (!parameters)
        return -1;
    frame->items[frame->n_blocks - 1] = Py_NewRef(values);
    char *cells = (char *)(parameters + n);
    int result = 0;
    for (Py_ssize_t i = 0; result == 0 && i < n; i++)
        result = params_one(frame, PyTuple_GET_ITEM(values, i), types ? PyTuple_GET_ITEM(types, i) : Py_None,
                            cells + 8 * i, &parameters[i]);
    *word = (uint64_t)(uintptr_t)parameters;
    return result;
}

static int params_pair(bind_frame *frame, PyObject *pair, uint64_t *word)
{
    PyObject *values = PySequence_Check(PyTuple_GET_ITEM(pair, 0)) ? PySequence_Tuple(PyTuple_GET_ITEM(pair, 0)) : NULL;
    PyObject *types = PySequence_Check(PyTuple_GET_ITEM(pair, 1)) ? PySequence_Tuple(PyTuple_GET_ITEM(pair, 1)) : NULL;
    int result = -1;
    if (values && types && PyTuple_GET_SIZE(values) == PyTuple_GET_SIZE(types))
        result = params_values(frame, values, types, word);
    else if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "kernelParams: (values, types) are two tuples of one length, not of %zd and %zd",
                     values ? PyTuple_GET_SIZE(values) : -1, types ? PyTuple_GET_SIZE(types) : -1);
    Py_XDECREF(values);
    Py_XDECREF(types);
    return result;
}

int bind_params(bind_frame *frame, PyObject *object, uint64_t *word)
{
    Py_ssize_t bytes;
    if (PyTuple_Check(object) && PyTuple_GET_SIZE(object) == 2)
        return params_pair(frame, object, word);
    if (PyTuple_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "kernelParams: a tuple must be (values, types): two tuples of one length; a "
                                         "list holds handles, structures and NumPy's scalars, which need no types");
        return -1;
    }
    if (!PyList_Check(object))
        return bind_pointer(frame, object, "kernelParams", word, &bytes);
    PyObject *values = PyList_AsTuple(object); /* a list that others change */
    int result = values ? params_values(frame, values, NULL, word) : -1;
    Py_XDECREF(values);
    return result;
}
