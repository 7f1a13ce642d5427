/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of host memory in order (src/numeric/order.c): sort, argsort, unique, searchsorted without Python.
 */
#include "numeric.h"

/* An axis as a number; false: it is another kind, or out of range. */
static bool order_axis(const ts_nd *a, PyObject *given, uint32_t *axis)
{
    int overflow = 0;
    long d = !given ? -1 : PyLong_CheckExact(given) ? PyLong_AsLongAndOverflow(given, &overflow) : LONG_MAX;
    d += d < 0 ? a->rank : 0;
    *axis = (uint32_t)d;
    return !overflow && d >= 0 && d < a->rank;
}

/* A new array of the class, or NULL, without exception where there is none. */
static PyObject *order_made(core_state *state, ts_status status, ts_nd *made, const ts_error *err)
{
    if (status != TS_OK)
        return core_raise(state, err);
    return made ? numeric_result(state, made) : NULL;
}

/* The array sorted, or the places its elements came from. `axis` NULL: the last. */
static PyObject *order_sorted(core_state *state, PyObject *array, PyObject *given, bool places)
{
    ts_nd *made = NULL;
    ts_error err;
    uint32_t axis;
    if (Py_TYPE(array) != state->numeric->array_class || !ND(array)->dtype || !order_axis(ND(array), given, &axis))
        return NULL;
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, ND(array), NULL);
    ts_status status = ts_nd_order(ND(array), axis, false, places ? NULL : &made, places ? &made : NULL, &err);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    return order_made(state, status, made, &err);
}

PyObject *numeric_sorted(core_state *state, PyObject *const *args, Py_ssize_t n, PyObject *names, bool places)
{
    bool is_named = names && n == 1 && PyTuple_GET_SIZE(names) == 1 &&
                    PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "axis") == 0;
    if (n > 2 || (names && !is_named))
        return NULL;
    return order_sorted(state, args[0], n > 1 || is_named ? args[1] : NULL, places);
}

PyObject *numeric_partitioned(core_state *state, PyObject *const *args, Py_ssize_t n, bool places)
{
    const ts_nd *a = ND(args[0]);
    int overflow;
    if (n != 2 || !a->rank || !PyLong_CheckExact(args[1]))
        return NULL;
    long long k = PyLong_AsLongLongAndOverflow(args[1], &overflow), extent = ts_nd_shape(a)[a->rank - 1];
    return overflow || k < -extent || k >= extent ? NULL : order_sorted(state, args[0], NULL, places);
}

PyObject *numeric_different(core_state *state, PyObject *array)
{
    ts_nd *made;
    ts_error err;
    if (Py_TYPE(array) != state->numeric->array_class || !ND(array)->dtype)
        return NULL;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_different(ND(array), &made, &err);
    NUMERIC_END(state);
    return order_made(state, status, made, &err);
}

PyObject *numeric_searched(core_state *state, PyObject *const *args, Py_ssize_t n)
{
    PyTypeObject *class = state->numeric->array_class;
    ts_nd *made;
    ts_error err;
    bool right = n > 2 && PyUnicode_Check(args[2]) && PyUnicode_CompareWithASCIIString(args[2], "right") == 0;
    bool left = n > 2 && PyUnicode_Check(args[2]) && PyUnicode_CompareWithASCIIString(args[2], "left") == 0;
    if (n < 2 || n > 3 || (n == 3 && !left && !right) || Py_TYPE(args[0]) != class || Py_TYPE(args[1]) != class ||
        !ND(args[0])->dtype)
        return NULL;
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, ND(args[1]), ND(args[0]));
    ts_status status = ts_nd_search(ND(args[0]), ND(args[1]), right, &made, &err);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    return order_made(state, status, made, &err);
}

/* numeric_order(rows, places, descending): (sorted, where elements came from or None), along the last axis; None where
 * they are too many, or none of host memory. */
static PyObject *order_rows(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *array;
    int places, descending;
    ts_nd *values, *found = NULL;
    ts_error err;
    if (!PyArg_ParseTuple(args, "O!pp:numeric_order", state->numeric->array_type, &array, &places, &descending))
        return NULL;
    if (!ND(array)->rank || !ND(array)->dtype)
        Py_RETURN_NONE;
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, ND(array), NULL);
    ts_status status = ts_nd_order(ND(array), ND(array)->rank - 1u, descending, &values, places ? &found : NULL, &err);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    if (!values)
        Py_RETURN_NONE;
    PyObject *made = numeric_wrap(state, values, NULL);
    PyObject *from = places ? numeric_wrap(state, found, NULL) : Py_NewRef(Py_None);
    if (made && from)
        return Py_BuildValue("NN", made, from);
    Py_XDECREF(made);
    Py_XDECREF(from);
    return NULL;
}

/* numeric_different(array): its different values, sorted; None as above. */
static PyObject *order_different(PyObject *module, PyObject *array)
{
    core_state *state = PyModule_GetState(module);
    PyObject *made = numeric_different(state, array);
    return made || PyErr_Occurred() ? made : Py_NewRef(Py_None);
}

static PyMethodDef order_functions[] = {
    {"numeric_different", order_different, METH_O, "numeric_different(array, /)\n--\n\nIts different values."},
    {"numeric_order", order_rows, METH_VARARGS, "numeric_order(rows, places, descending, /)\n--\n\nRows in order."},
    {NULL, NULL, 0, NULL},
};

int numeric_order_init(PyObject *module)
{
    return PyModule_AddFunctions(module, order_functions);
}
