/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods of functions of two elements that go through elements of host memory in order (src/numeric/walk.c): reduce,
 * accumulate, reduceat and at, without Python.
 */
#include "numeric.h"

/* Whether the library has a reduction of its own for it, which kernels and threads compute. */
static bool walk_is_fold(ts_nd_fn fn)
{
    return fn == TS_ND_add || fn == TS_ND_multiply || fn == TS_ND_maximum || fn == TS_ND_minimum ||
           fn == TS_ND_logical_and || fn == TS_ND_logical_or;
}

/* Whether NumPy computes in the array's dtype: sums and products of narrow integers are wider. */
static bool walk_is_own_loop(ts_nd_fn fn, const ts_nd *a)
{
    char kind = ts_dtype_get((ts_dtype)a->dtype)->kind;
    return (fn != TS_ND_add && fn != TS_ND_multiply) || kind == 'f' || kind == 'c' || (kind != 'b' && a->item == 8);
}

/* An axis as a number, 0 where none is given; false: it is another kind, or out of range. */
static bool walk_axis(const ts_nd *a, PyObject *given, uint32_t *axis)
{
    int overflow = 0;
    long d = !given ? 0 : PyLong_CheckExact(given) ? PyLong_AsLongAndOverflow(given, &overflow) : LONG_MAX;
    d += d < 0 ? a->rank : 0;
    *axis = (uint32_t)d;
    return !overflow && d >= 0 && d < a->rank;
}

/* The result, NULL where there is none; -1 with exception. */
static int walk_run(core_state *state, ts_nd *a, ts_nd_fn fn, uint32_t axis, ts_nd *begins, ts_nd **made)
{
    static const char *const methods[] = {"accumulate", "reduceat"};
    ts_error err;
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, a, begins);
    ts_status status = ts_nd_walk(a, fn, axis, begins, made, &err);
    uint32_t faults = ts_nd_graph_faults(a->graph);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    if (status == TS_OK)
        return *made ? numeric_report_fold(state, *made, faults, methods[begins != NULL]) : 0;
    core_raise(state, &err);
    return -1;
}

/* One segment, all of the axis, which the result lacks. */
static PyObject *walk_reduced(core_state *state, ts_nd *a, ts_nd_fn fn, uint32_t axis)
{
    ts_nd *begin = NULL, *made = NULL, *view = NULL;
    int64_t one = 1, shape[TS_ND_RANK], strides[TS_ND_RANK];
    void *data;
    ts_error err;
    uint32_t faults = 0;
    if (!(ts_device_caps_of(ts_nd_graph_device(a->graph)) & TS_DEVICE_HOST_MEMORY))
        return NULL;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_empty(a->graph, TS_DTYPE_int64, 1, &one, false, &begin, &err);
    if (status == TS_OK && (status = ts_nd_memory(begin, false, &data, NULL, &err)) == TS_OK) {
        memset(data, 0, sizeof one);
        status = ts_nd_walk(a, fn, axis, begin, &made, &err);
        faults = ts_nd_graph_faults(a->graph);
    }
    for (uint32_t d = 0, to = 0; made && d < a->rank; d++)
        if (d != axis) {
            shape[to] = ts_nd_shape(made)[d];
            strides[to++] = ts_nd_strides(made)[d];
        }
    if (made)
        status = ts_nd_view(made, 0, (ts_dtype)made->dtype, made->rank - 1u, shape, strides, 0, &view, &err);
    ts_nd_release(made);
    ts_nd_release(begin);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    if (!view || numeric_report_fold(state, view, faults, "reduce") < 0)
        return NULL;
    return numeric_as_operands(state, numeric_result(state, view), a, NULL);
}

/* The function that loops go by; TS_ND_COUNT without exception: it has none. *is_other: of one element it may give
 * another one, as gcd does of a negative one. */
static ts_nd_fn walk_fn(core_state *state, PyObject *function, bool *is_other)
{
    ts_nd_fn fn = numeric_fn_of(state, function);
    *is_other = fn == TS_ND_COUNT;
    PyObject *walker = *is_other ? PyObject_GetAttrString(function, "_walker") : NULL;
    if (walker)
        fn = numeric_fn_of(state, walker);
    Py_XDECREF(walker);
    PyErr_Clear();
    return fn;
}

PyObject *numeric_walked(core_state *state, int which, PyObject *const *args, Py_ssize_t n)
{
    bool is_other;
    ts_nd_fn fn = walk_fn(state, args[0], &is_other);
    ts_nd *made = NULL;
    uint32_t axis;
    Py_ssize_t most = which == NUMERIC_REDUCEAT ? 4 : 3;
    PyTypeObject *class = state->numeric->array_class;
    if (fn == TS_ND_COUNT || ts_nd_get(fn)->n_in != 2 || n < 2 || Py_TYPE(args[1]) != class || !ND(args[1])->dtype)
        return NULL;
    if (which == NUMERIC_AT && is_other) /* the walker takes operands of other dtypes than it does */
        return NULL;
    if (which == NUMERIC_AT) {
        int done = n == 4 ? numeric_join_at(state, args[1], args[2], args[3], fn) : 0;
        return done > 0 ? Py_NewRef(Py_None) : NULL;
    }
    ts_nd *a = ND(args[1]), *begins = NULL;
    if (n > most || !walk_is_own_loop(fn, a) || (which != NUMERIC_REDUCEAT && walk_is_fold(fn)) ||
        !walk_axis(a, n == most ? args[most - 1] : NULL, &axis))
        return NULL;
    if (which == NUMERIC_REDUCE)
        return ts_nd_shape(a)[axis] > is_other ? walk_reduced(state, a, fn, axis) : NULL;
    if (which == NUMERIC_REDUCEAT) {
        if (n < 3 || Py_TYPE(args[2]) != class || ND(args[2])->dtype != TS_DTYPE_int64)
            return NULL;
        begins = ND(args[2]);
    }
    if (walk_run(state, a, fn, axis, begins, &made) < 0 || !made)
        return NULL;
    return numeric_as_operands(state, numeric_wrap(state, made, NULL), a, NULL);
}

/* numeric_walk(function, array, axis, begins or None): what reduceat gives, or accumulate, in the array's dtype; None
 * where there is no loop for it. */
static PyObject *walk_python(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *function, *array, *begins, *given;
    PyTypeObject *type = state->numeric->array_type;
    ts_nd *made = NULL;
    uint32_t axis;
    if (!PyArg_ParseTuple(args, "OO!OO:numeric_walk", &function, type, &array, &given, &begins))
        return NULL;
    if (begins != Py_None && !numeric_is_array(state, begins))
        return PyErr_Format(PyExc_TypeError, "segments begin where an array says, found %s", Py_TYPE(begins)->tp_name);
    ts_nd_fn fn = numeric_fn_of(state, function);
    if (fn == TS_ND_COUNT || !ND(array)->dtype || !walk_axis(ND(array), given, &axis))
        Py_RETURN_NONE;
    if (walk_run(state, ND(array), fn, axis, begins == Py_None ? NULL : ND(begins),
                 &made) < 0)
        return NULL;
    return made ? numeric_as_operands(state, numeric_wrap(state, made, NULL), ND(array), NULL) : Py_NewRef(Py_None);
}

/* numeric_join_at(function, array, key, value): whether loops did it. */
static PyObject *walk_join_at(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *function, *array, *key, *value;
    if (!PyArg_ParseTuple(args, "OO!OO:numeric_join_at", &function, state->numeric->array_type, &array, &key, &value))
        return NULL;
    ts_nd_fn fn = numeric_fn_of(state, function);
    int done = fn != TS_ND_COUNT && ND(array)->dtype ? numeric_join_at(state, array, key, value, fn) : 0;
    return done < 0 ? NULL : PyBool_FromLong(done);
}

static PyMethodDef walk_functions[] = {
    {"numeric_walk", walk_python, METH_VARARGS,
     "numeric_walk(function, array, axis, begins, /)\n--\n\nWhat reduceat gives, or accumulate."},
    {"numeric_join_at", walk_join_at, METH_VARARGS,
     "numeric_join_at(function, array, key, value, /)\n--\n\nWhat at does; whether it is done."},
    {NULL, NULL, 0, NULL},
};

int numeric_walk_init(PyObject *module)
{
    return PyModule_AddFunctions(module, walk_functions);
}
