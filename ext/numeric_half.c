/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of the module that the Python half of tessera.numeric calls: what dtypes hold, folds, elements at places.
 */
#include "numeric.h"
#include <string.h>

static const char *const half_castings[] = {"no", "equiv", "safe", "same_kind", "unsafe"};

int numeric_casting(PyObject *object, ts_nd_casting *out)
{
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;
    for (int i = 0; text && i < 5; i++)
        if (strcmp(text, half_castings[i]) == 0) {
            *out = (ts_nd_casting)i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got %R)",
                 object);
    return -1;
}

/* ---- questions about dtypes ------------------------------------------------------------------------ */

/* How far a kind of dtype reaches: of floats and integers together, integers are promoted to the floats' dtype each by
 * itself, and not to one another first, as NumPy does. */
static int half_rank(ts_dtype dtype)
{
    char kind = ts_dtype_get(dtype)->kind;
    return kind == 'c' ? 3 : kind == 'f' ? 2 : kind != 'b';
}

/* Promotes the dtypes of that rank into *all; weak numbers are passed over. 0, or -1 with exception. */
static int half_those(core_state *state, PyObject *args, int rank, ts_dtype *all)
{
    ts_dtype one;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        PyObject *item = PyTuple_GET_ITEM(args, i);
        if (PyUnicode_Check(item))
            continue;
        if (numeric_dtype_of(state, item, &one) < 0)
            return -1;
        if (half_rank(one) != rank)
            continue;
        ts_dtype both = *all ? ts_nd_promote(*all, one) : one;
        if (!both) {
            PyErr_Format(PyExc_TypeError, "no dtype holds %s and %s", ts_dtype_name(*all), ts_dtype_name(one));
            return -1;
        }
        *all = both;
    }
    return 0;
}

/* NumPy's dtype: longlong where one that is promoted is that, and nothing else holds all. */
static PyObject *half_shown(const numeric_state *n, PyObject *args, ts_dtype all)
{
    PyObject *other = all == TS_DTYPE_int64 ? n->longlongs[0] : all == TS_DTYPE_uint64 ? n->longlongs[1] : NULL;
    for (Py_ssize_t i = 0; other && i < PyTuple_GET_SIZE(args); i++)
        if (PyTuple_GET_ITEM(args, i) == other)
            return Py_NewRef(other);
    return Py_NewRef(n->dtypes[all]);
}

/* numeric_promote(dtype or None, ..): the dtype that holds all; 'i', 'f', 'c' and 'b' are numbers of Python. */
static PyObject *half_promote(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    ts_dtype all = TS_DTYPE_NONE;
    char weak = 0;
    for (int rank = 3; rank >= 0; rank--)
        if (half_those(state, args, rank, &all) < 0)
            return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        static const char kinds[] = "bifc";
        PyObject *item = PyTuple_GET_ITEM(args, i);
        const char *text = PyUnicode_Check(item) ? PyUnicode_AsUTF8(item) : "";
        if (!text)
            return NULL;
        char kind = *text;
        if (kind)
            weak = !weak || strchr(kinds, kind) > strchr(kinds, weak) ? kind : weak;
    }
    if (weak)
        all = ts_nd_promote_weak(all, weak);
    if (!all) {
        PyErr_SetString(PyExc_ValueError, "at least one array or dtype is required");
        return NULL;
    }
    return half_shown(state->numeric, args, all);
}

static PyObject *half_can_cast(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *from, *to, *how;
    ts_dtype a, b;
    ts_nd_casting casting;
    if (!PyArg_ParseTuple(args, "OOO", &from, &to, &how) || numeric_dtype_of(state, from, &a) < 0 ||
        numeric_dtype_of(state, to, &b) < 0 || numeric_casting(how, &casting) < 0)
        return NULL;
    return PyBool_FromLong(ts_nd_can_cast(a, b, casting));
}

/* numeric_derived(tuple): the object among operands whose class decides what the result is, or None. */
static PyObject *half_derived(PyObject *module, PyObject *operands)
{
    core_state *state = PyModule_GetState(module);
    if (!PyTuple_Check(operands))
        return PyErr_Format(PyExc_TypeError, "numeric_derived() takes a tuple, not a %s", Py_TYPE(operands)->tp_name);
    PyObject *found = numeric_derived(state, &PyTuple_GET_ITEM(operands, 0), PyTuple_GET_SIZE(operands));
    return Py_NewRef(found ? found : Py_None);
}

/* numeric_fold(name, x, axes, dtype or None, keepdims, where or None, running): the reduction, an array. */
static PyObject *half_fold(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    const char *name;
    PyObject *x, *axes, *dtype, *where;
    int keeps, running = 0;
    int64_t dims[TS_ND_RANK];
    uint32_t n;
    ts_nd_reduction reduction = {.fold = TS_ND_FOLDS};
    ts_nd *result;
    ts_error err;
    uint16_t meaning = 0;
    PyTypeObject *type = state->numeric->array_type;
    if (!PyArg_ParseTuple(args, "sO!OOpO|p:numeric_fold", &name, type, &x, &axes, &dtype, &keeps, &where,
                          &running) ||
        numeric_dims_of(axes, &n, dims) < 0 ||
        (dtype != Py_None && numeric_type_of(state, dtype, &reduction.dtype, &meaning) < 0))
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        reduction.axes |= (uint64_t)1 << (dims[i] & 63);
    for (int fold = 0; fold < TS_ND_FOLDS; fold++)
        if (strcmp(ts_nd_fold_name((ts_nd_fold)fold), name) == 0)
            reduction.fold = (ts_nd_fold)fold;
    if (reduction.fold == TS_ND_FOLDS)
        return PyErr_Format(PyExc_ValueError, "there is no reduction named %s", name);
    reduction.x = ND(x);
    if (reduction.x->meaning)
        return PyErr_Format(PyExc_TypeError, "%s() is not defined for elements of dtype %R", name,
                            numeric_dtype(state, reduction.x));
    reduction.where = where == Py_None ? NULL : ND(where);
    reduction.keeps = keeps;
    reduction.looks = true;
    int wanted = numeric_wanted(state, reduction.x);
    if (wanted < 0)
        return NULL;
    reduction.wanted = (uint32_t)wanted;
    NUMERIC_BEGIN(state);
    ts_status status = (running ? ts_nd_accumulate : ts_nd_reduce)(reduction.x->graph, &reduction, &result, &err);
    uint32_t faults = ts_nd_graph_faults(reduction.x->graph);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    int told = numeric_report_fold(state, result, faults, running ? "accumulate" : "reduce");
    PyObject *made = told == 0 ? numeric_wrap(state, result, NULL) : NULL;
    bool is_arg = reduction.fold == TS_ND_ARGMAX || reduction.fold == TS_ND_ARGMIN;
    if (dtype != Py_None)
        return meaning == NUMERIC_LONGLONG ? numeric_as_longlong(state, made) : made;
    return is_arg ? made : numeric_as_operands(state, made, reduction.x, NULL);
}

/* numeric_gather(from, offsets): elements behind the first one of `from`. */
static PyObject *half_gather(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyTypeObject *type = state->numeric->array_type;
    PyObject *from, *offsets;
    ts_nd *result;
    ts_error err;
    if (!PyArg_ParseTuple(args, "O!O!:numeric_gather", type, &from, type, &offsets))
        return NULL;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_gather(ND(from), ND(offsets), &result, &err);
    NUMERIC_END(state);
    return status == TS_OK ? numeric_wrap(state, result, NULL) : core_raise(state, &err);
}

/* numeric_missed(): how often kernels were found to have met indices without a place. */
static PyObject *half_missed(PyObject *module, PyObject *unused)
{
    (void)unused;
    core_state *state = PyModule_GetState(module);
    NUMERIC_BEGIN(state);
    uint64_t n = state->numeric->n_missed;
    NUMERIC_END(state);
    return PyLong_FromUnsignedLongLong(n);
}

/* numeric_settle(a): computes what an array waits for, and reports what kernels have found. */
static PyObject *half_settle(PyObject *module, PyObject *a)
{
    core_state *state = PyModule_GetState(module);
    if (!numeric_is_array(state, a))
        return PyErr_Format(PyExc_TypeError, "numeric_settle takes an array, found %s", Py_TYPE(a)->tp_name);
    (void)numeric_data(a, false, false);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* numeric_iota(n): where new arrays lie. */
static PyObject *half_iota(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    ts_nd *result;
    ts_error err;
    long long n;
    if (!PyArg_ParseTuple(args, "L:numeric_iota", &n))
        return NULL;
    ts_nd_graph *graph = numeric_graph(state);
    if (!graph)
        return NULL;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_iota(graph, 0, n, &result, &err);
    NUMERIC_END(state);
    return status == TS_OK ? numeric_wrap(state, result, NULL) : core_raise(state, &err);
}

/* numeric_scatter(to, offsets, values, flags): 1 of unique places, 2 by all blocks */
static PyObject *half_scatter(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyTypeObject *type = state->numeric->array_type;
    PyObject *to, *offsets, *values;
    unsigned flags;
    ts_error err;
    if (!PyArg_ParseTuple(args, "O!O!O!I:numeric_scatter", type, &to, type, &offsets, type, &values, &flags))
        return NULL;
    values = ND(to)->meaning == ND(values)->meaning ? Py_NewRef(values) : numeric_meant(state, values, ND(to));
    if (!values)
        return NULL;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_scatter(ND(to), ND(offsets), ND(values), flags, &err);
    NUMERIC_END(state);
    Py_DECREF(values);
    if (status != TS_OK)
        return core_raise(state, &err);
    Py_RETURN_NONE;
}

/* numeric_compress(from or None, mask): elements, or places, where the mask is true. */
static PyObject *half_compress(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    core_state *state = PyModule_GetState(module);
    ts_nd *result;
    ts_error err;
    if (n != 2 || (args[0] != Py_None && !numeric_is_array(state, args[0])) || !numeric_is_array(state, args[1])) {
        PyErr_SetString(PyExc_TypeError, "numeric_compress takes an array or None, and an array");
        return NULL;
    }
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_compress(args[0] == Py_None ? NULL : ND(args[0]), ND(args[1]), &result, &err);
    NUMERIC_END(state);
    return status == TS_OK ? numeric_wrap(state, result, NULL) : core_raise(state, &err);
}

/* An array, or None where the loops of host memory are not for these operands. */
static PyObject *half_made(core_state *state, ts_status status, ts_nd *result, const ts_error *err)
{
    if (status != TS_OK)
        return core_raise(state, err);
    return result ? numeric_wrap(state, result, NULL) : Py_NewRef(Py_None);
}

/* numeric_count(x, weights or None, least) */
static PyObject *half_count(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *x, *weights;
    long long least;
    ts_nd *result;
    ts_error err;
    if (!PyArg_ParseTuple(args, "O!OL:numeric_count", state->numeric->array_type, &x, &weights, &least))
        return NULL;
    ts_nd *weighs = numeric_is_array(state, weights) ? ND(weights) : NULL;
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, ND(x), weighs);
    ts_status status = ts_nd_count(ND(x), weighs, least, &result, &err);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    return half_made(state, status, result, &err);
}

/* numeric_bins(x, edges, width) */
static PyObject *half_bins(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyTypeObject *type = state->numeric->array_type;
    PyObject *x, *edges;
    ts_nd *result;
    double width;
    ts_error err;
    if (!PyArg_ParseTuple(args, "O!O!d:numeric_bins", type, &x, type, &edges, &width))
        return NULL;
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, ND(x), ND(edges));
    ts_status status = ts_nd_bins(ND(x), ND(edges), width, &result, &err);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    return half_made(state, status, result, &err);
}

/* How many elements are not 0, or None where the loops of host memory are not for this array. */
static PyObject *half_count_nonzero(PyObject *module, PyObject *x)
{
    core_state *state = PyModule_GetState(module);
    int64_t n;
    ts_error err;
    if (!numeric_is_array(state, x)) {
        PyErr_SetString(PyExc_TypeError, "numeric_count_nonzero takes an array");
        return NULL;
    }
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, ND(x), NULL);
    ts_status status = ts_nd_count_nonzero(ND(x), &n, &err);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    return n < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(n);
}

static PyMethodDef half_functions[] = {
    {"numeric_compress", (PyCFunction)(void (*)(void))half_compress, METH_FASTCALL,
     "numeric_compress(from, mask, /)\n--\n\n"},
    {"numeric_count", half_count, METH_VARARGS, "numeric_count(x, weights, least, /)\n--\n\n"},
    {"numeric_count_nonzero", half_count_nonzero, METH_O, "numeric_count_nonzero(x, /)\n--\n\n"},
    {"numeric_bins", half_bins, METH_VARARGS, "numeric_bins(x, edges, width, /)\n--\n\n"},
    {"numeric_missed", half_missed, METH_NOARGS, "numeric_missed()\n--\n\n"},
    {"numeric_settle", half_settle, METH_O, "numeric_settle(a, /)\n--\n\n"},
    {"numeric_gather", half_gather, METH_VARARGS, "numeric_gather(from, offsets, /)\n--\n\n"},
    {"numeric_iota", half_iota, METH_VARARGS, "numeric_iota(n, /)\n--\n\n0, 1, .. n - 1, on the current device."},
    {"numeric_scatter", half_scatter, METH_VARARGS, "numeric_scatter(to, offsets, values, flags, /)\n--\n\n"},
    {"numeric_derived", half_derived, METH_O,
     "numeric_derived(operands, /)\n--\n\nThe one whose derived class decides, or None."},
    {"numeric_fold", half_fold, METH_VARARGS, "numeric_fold(name, x, axes, dtype, keepdims, where, running=False, /)"
     "\n--\n\n"},
    {"numeric_promote", half_promote, METH_VARARGS, "The dtype that holds all of them."},
    {"numeric_can_cast", half_can_cast, METH_VARARGS, "numeric_can_cast(from, to, casting, /)\n--\n\n"},
    {NULL, NULL, 0, NULL},
};

int numeric_half_init(PyObject *module)
{
    return PyModule_AddFunctions(module, half_functions);
}
