/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of host memory in order (src/numeric/order.c): sort, argsort, unique, searchsorted without Python; bools as
 * bits (src/numeric/bits.c), parts several times in turn (src/numeric/times.c).
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

/* The array sorted, or the places its elements came from; `kth` from 0 on: that place at least. `axis` NULL: the last
 * one. */
static PyObject *order_sorted(core_state *state, PyObject *array, PyObject *given, int64_t kth, bool places)
{
    ts_nd *made = NULL;
    ts_error err;
    uint32_t axis;
    if (Py_TYPE(array) != state->numeric->array_class || !ND(array)->dtype || !order_axis(ND(array), given, &axis))
        return NULL;
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, ND(array), NULL);
    ts_status status = ts_nd_order(ND(array), axis, false, kth, places ? NULL : &made, places ? &made : NULL, &err);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    PyObject *result = order_made(state, status, made, &err);
    return places ? result : numeric_as_operands(state, result, ND(array), NULL);
}

PyObject *numeric_sorted(core_state *state, PyObject *const *args, Py_ssize_t n, PyObject *names, bool places)
{
    bool is_named = names && n == 1 && PyTuple_GET_SIZE(names) == 1 &&
                    PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "axis") == 0;
    if (n > 2 || (names && !is_named))
        return NULL;
    return order_sorted(state, args[0], n > 1 || is_named ? args[1] : NULL, -1, places);
}

PyObject *numeric_partitioned(core_state *state, PyObject *const *args, Py_ssize_t n, bool places)
{
    const ts_nd *a = ND(args[0]);
    int overflow;
    if (n != 2 || !a->rank || !PyLong_CheckExact(args[1]))
        return NULL;
    long long k = PyLong_AsLongLongAndOverflow(args[1], &overflow), extent = ts_nd_shape(a)[a->rank - 1];
    if (overflow || k < -extent || k >= extent)
        return NULL;
    return order_sorted(state, args[0], NULL, k + (k < 0 ? extent : 0), places);
}

/* Results of ts_nd_unique(); results[0] NULL without exception: there are none. */
static int order_unique(core_state *state, ts_nd *a, uint32_t wants, bool equal_nan, ts_nd *results[4])
{
    ts_error err;
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, a, NULL);
    ts_status status = ts_nd_unique(a, wants, equal_nan, results, &err);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    return status == TS_OK ? 0 : (core_raise(state, &err), -1);
}

PyObject *numeric_different(core_state *state, PyObject *array)
{
    ts_nd *results[4];
    if (Py_TYPE(array) != state->numeric->array_class || !ND(array)->dtype ||
        order_unique(state, ND(array), 0, true, results) < 0 || !results[0])
        return NULL;
    return numeric_as_operands(state, numeric_result(state, results[0]), ND(array), NULL);
}

/* A key that is a number of Python's as an array, where it is of the elements' kind and width; NULL without exception:
 * another kind. Inside of NUMERIC_BEGIN. */
static ts_nd *order_key_of(core_state *state, const ts_nd *a, PyObject *number)
{
    ts_nd_operand operand;
    ts_nd *key = NULL;
    bool done = false;
    if (!(PyFloat_CheckExact(number) && a->dtype == TS_DTYPE_float64) &&
        !(PyLong_CheckExact(number) && a->dtype == TS_DTYPE_int64))
        return NULL;
    if (numeric_plain_operand(state, number, &operand) > 0 &&
        ts_nd_empty(a->graph, (ts_dtype)a->dtype, 0, NULL, false, &key, NULL) == TS_OK &&
        (ts_nd_set(key, 0, &operand, &done, NULL) != TS_OK || !done)) {
        ts_nd_release(key);
        key = NULL;
    }
    return key;
}

PyObject *numeric_searched(core_state *state, PyObject *const *args, Py_ssize_t n)
{
    PyTypeObject *class = state->numeric->array_class;
    ts_nd *made;
    ts_error err;
    bool right = n > 2 && PyUnicode_Check(args[2]) && PyUnicode_CompareWithASCIIString(args[2], "right") == 0;
    bool left = n > 2 && PyUnicode_Check(args[2]) && PyUnicode_CompareWithASCIIString(args[2], "left") == 0;
    if (n < 2 || n > 3 || (n == 3 && !left && !right) || Py_TYPE(args[0]) != class || !ND(args[0])->dtype)
        return NULL;
    NUMERIC_BEGIN(state);
    bool is_array = Py_TYPE(args[1]) == class;
    ts_nd *keys = is_array ? ND(args[1]) : order_key_of(state, ND(args[0]), args[1]);
    if (!keys) {
        NUMERIC_END(state);
        return NULL;
    }
    PyThreadState *thread = numeric_loop_begin(state, keys, ND(args[0]));
    ts_status status = ts_nd_search(ND(args[0]), keys, right, &made, &err);
    numeric_loop_end(state, thread);
    if (!is_array)
        ts_nd_release(keys);
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
    ts_status status = ts_nd_order(ND(array), ND(array)->rank - 1u, descending, -1, &values, places ? &found : NULL,
                                   &err);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    if (!values)
        Py_RETURN_NONE;
    PyObject *made = numeric_as_operands(state, numeric_wrap(state, values, NULL), ND(array), NULL);
    PyObject *from = places ? numeric_wrap(state, found, NULL) : Py_NewRef(Py_None);
    if (made && from)
        return Py_BuildValue("NN", made, from);
    Py_XDECREF(made);
    Py_XDECREF(from);
    return NULL;
}

/* numeric_unique(array, equal_nan, first, inverse, counts): a tuple of the different elements and, each if it is
 * wanted, their first places, which one each element is, how often they occur; None as above. */
static PyObject *order_different(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *array;
    int equal_nan, first, inverse, counts;
    ts_nd *results[4];
    if (!PyArg_ParseTuple(args, "O!pppp:numeric_unique", state->numeric->array_type, &array, &equal_nan, &first,
                          &inverse, &counts))
        return NULL;
    uint32_t wants = (first ? TS_ND_FIRST : 0u) | (inverse ? TS_ND_INVERSE : 0u) | (counts ? TS_ND_COUNTS : 0u);
    if (!ND(array)->dtype)
        Py_RETURN_NONE;
    if (order_unique(state, ND(array), wants, equal_nan, results) < 0)
        return NULL;
    if (!results[0])
        Py_RETURN_NONE;
    PyObject *made = PyTuple_New(1 + first + inverse + counts);
    for (Py_ssize_t i = 0, to = 0; i < 4; i++) {
        PyObject *each = results[i] ? numeric_wrap(state, results[i], NULL) : NULL;
        each = i ? each : numeric_as_operands(state, each, ND(array), NULL);
        if (results[i] && made && each)
            PyTuple_SET_ITEM(made, to++, each);
        else if (results[i]) {
            Py_XDECREF(each);
            Py_CLEAR(made);
        }
    }
    return made;
}

/* numeric_search(sorted, keys, right): where keys would be put; None as above. */
static PyObject *order_search(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *array, *keys;
    PyTypeObject *type = state->numeric->array_type;
    int right;
    ts_nd *made = NULL;
    ts_error err;
    if (!PyArg_ParseTuple(args, "O!O!p:numeric_search", type, &array, type, &keys, &right))
        return NULL;
    if (!ND(array)->dtype || !ND(keys)->dtype)
        Py_RETURN_NONE;
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, ND(keys), ND(array));
    ts_status status = ts_nd_search(ND(array), ND(keys), right, &made, &err);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    PyObject *found = order_made(state, status, made, &err);
    return found || PyErr_Occurred() ? found : Py_NewRef(Py_None);
}

/* numeric_among(array, others): whether elements are among others; None as above. */
static PyObject *order_among(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *array, *others;
    PyTypeObject *type = state->numeric->array_type;
    ts_nd *made = NULL;
    ts_error err;
    if (!PyArg_ParseTuple(args, "O!O!:numeric_among", type, &array, type, &others))
        return NULL;
    if (!ND(array)->dtype || !ND(others)->dtype)
        Py_RETURN_NONE;
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, ND(array), ND(others));
    ts_status status = ts_nd_among(ND(array), ND(others), &made, &err);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    return made ? numeric_wrap(state, made, NULL) : Py_NewRef(Py_None);
}

/* numeric_bits(array, packs, little): bools of the last axis as bits, or bits of bytes; None as above. */
static PyObject *order_bits(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *array;
    int packs, little;
    ts_nd *made = NULL;
    ts_error err;
    if (!PyArg_ParseTuple(args, "O!pp:numeric_bits", state->numeric->array_type, &array, &packs, &little))
        return NULL;
    if (!ND(array)->dtype)
        Py_RETURN_NONE;
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, ND(array), NULL);
    ts_status status = ts_nd_bits(ND(array), packs, little, &made, &err);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    return made ? numeric_wrap(state, made, NULL) : Py_NewRef(Py_None);
}

/* numeric_repeat(array, counts, axis): parts along an axis as often as counts say; None as above. */
static PyObject *order_repeat(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *array, *counts;
    PyTypeObject *type = state->numeric->array_type;
    unsigned axis;
    ts_nd *made = NULL;
    ts_error err;
    if (!PyArg_ParseTuple(args, "O!O!I:numeric_repeat", type, &array, type, &counts, &axis))
        return NULL;
    if (!ND(array)->dtype || !ND(counts)->dtype)
        Py_RETURN_NONE;
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, ND(array), ND(counts));
    ts_status status = ts_nd_repeat(ND(array), ND(counts), axis, &made, &err);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    return made ? numeric_wrap(state, made, NULL) : Py_NewRef(Py_None);
}

/* numeric_slide(a, v, begin, count): sums of products of v with stretches of a; None as above. */
static PyObject *order_slide(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *a, *v;
    PyTypeObject *type = state->numeric->array_type;
    long long begin, count;
    ts_nd *made = NULL;
    ts_error err;
    if (!PyArg_ParseTuple(args, "O!O!LL:numeric_slide", type, &a, type, &v, &begin, &count))
        return NULL;
    if (!ND(a)->dtype || !ND(v)->dtype)
        Py_RETURN_NONE;
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, ND(a), ND(v));
    ts_status status = ts_nd_slide(ND(a), ND(v), begin, count, &made, &err);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    if (!made)
        Py_RETURN_NONE;
    return numeric_as_operands(state, numeric_wrap(state, made, NULL), ND(a), ND(v));
}

static PyMethodDef order_functions[] = {
    {"numeric_unique", order_different, METH_VARARGS,
     "numeric_unique(array, equal_nan, first, inverse, counts, /)\n--\n\nIts different elements."},
    {"numeric_among", order_among, METH_VARARGS,
     "numeric_among(array, others, /)\n--\n\nWhether elements are among others."},
    {"numeric_repeat", order_repeat, METH_VARARGS,
     "numeric_repeat(array, counts, axis, /)\n--\n\nParts along an axis, as often as counts say."},
    {"numeric_bits", order_bits, METH_VARARGS,
     "numeric_bits(array, packs, little, /)\n--\n\nBools as bits of bytes, or bits as bytes."},
    {"numeric_slide", order_slide, METH_VARARGS,
     "numeric_slide(a, v, begin, count, /)\n--\n\nSums of products of v with stretches of a."},
    {"numeric_search", order_search, METH_VARARGS, "numeric_search(sorted, keys, right, /)\n--\n\nPlaces of keys."},
    {"numeric_order", order_rows, METH_VARARGS, "numeric_order(rows, places, descending, /)\n--\n\nRows in order."},
    {NULL, NULL, 0, NULL},
};

int numeric_order_init(PyObject *module)
{
    return PyModule_AddFunctions(module, order_functions);
}
