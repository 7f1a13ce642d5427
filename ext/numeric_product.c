/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of matrices and vectors, and what went wrong in them: x @ y, dot and matmul of arrays of one dtype, and the
 * sums of products of those that _linear.py computes.
 */
#include "numeric.h"
#include <string.h>

/* Multiplications of matrices up to which they need no Python; on a GPU the library's kernel, which takes the host
 * 20 us to launch, is not faster until then. */
enum { PRODUCT_SMALL = (1 << 15) - 1, PRODUCT_FOLD = 1 << 20 };

/* Tells of faults of the product x[2] of x[0] and x[1]: 0, or -1 with exception. */
static int product_tell(core_state *state, ts_nd *const x[3], bool has_rows, bool has_columns, const char *name)
{
    uint32_t faults = 0;
    ts_error err;
    if (x[2]->graph != state->numeric->graphs[0])
        return 0;
    numeric_watch watch = {0};
    if (ts_nd_waits(x[2]) && numeric_watch_ask(state, x[2]->graph, &watch) < 0)
        return -1;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_product_faults(x, has_rows, has_columns, watch.at_once, &faults, &err);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err) ? 0 : -1;
    return faults ? numeric_report_named(state, name, faults) : 0;
}

/* x @ y of matrices, computed without the interpreter's lock where that takes long. */
static ts_status product_of_matrices(core_state *state, ts_nd *a, ts_nd *b, ts_nd **result, ts_error *err)
{
    enum { LONG = 1 << 22 }; /* multiplications */
    bool is_long = (double)a->count * (double)ts_nd_shape(b)[1] > LONG;
    ts_nd_matrices job;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_matrices_begin(a, b, &job, err);
    NUMERIC_END(state);
    if (status != TS_OK)
        return status;
    PyThreadState *thread = is_long ? PyEval_SaveThread() : NULL;
    status = ts_nd_matrices_run(&job, err);
    if (thread)
        PyEval_RestoreThread(thread);
    NUMERIC_BEGIN(state);
    ts_nd_matrices_end(&job, status == TS_OK ? result : NULL);
    NUMERIC_END(state);
    return status;
}

/* The array with one more axis, of one element, at a place. */
static ts_status product_spread(const ts_nd *a, uint32_t place, ts_nd **view, ts_error *err)
{
    int64_t shape[TS_ND_RANK], strides[TS_ND_RANK];
    for (uint32_t d = 0; d <= a->rank; d++) {
        shape[d] = d == place ? 1 : ts_nd_shape(a)[d - (d > place)];
        strides[d] = d == place ? a->item : ts_nd_strides(a)[d - (d > place)];
    }
    return ts_nd_view(a, 0, (ts_dtype)a->dtype, a->rank + 1u, shape, strides, a->flags, view, err);
}

/* Whether these are stacks of small matrices in host memory, which lie along the same axes. */
static bool product_are_stacks(const ts_nd *a, const ts_nd *b)
{
    if (a->graph != b->graph || a->rank < 3 || a->rank != b->rank || a->rank == TS_ND_RANK || !a->dtype ||
        a->dtype != b->dtype || a->dtype == TS_DTYPE_bool_ || a->meaning || b->meaning || !a->count || !b->count)
        return false;
    const int64_t *x = ts_nd_shape(a), *y = ts_nd_shape(b), last = a->rank - 1;
    return memcmp(x, y, (size_t)(last - 1) * sizeof *x) == 0 && x[last] == y[last - 1] &&
           a->count * y[last] <= PRODUCT_SMALL &&
           ts_device_caps_of(ts_nd_graph_device(a->graph)) & TS_DEVICE_HOST_MEMORY;
}

/* a (.., M, K) @ b (.., K, N) of such stacks, as sums along K of (.., M, K, 1) and (.., 1, K, N). */
static ts_status product_of_stacks(ts_nd *a, ts_nd *b, ts_nd **result, ts_error *err)
{
    ts_nd *x = NULL, *y = NULL;
    ts_status status = product_spread(a, a->rank, &x, err);
    if (status == TS_OK)
        status = product_spread(b, b->rank - 2u, &y, err);
    if (status == TS_OK)
        status = ts_nd_sum_products(x, y, a->rank - 1u, result, err);
    if (status == TS_OK)
        (void)ts_nd_graph_faults(a->graph);
    ts_nd_release(x);
    ts_nd_release(y);
    return status;
}

/* The product, or NULL without exception: it is one for _linear.py. `name` as for numeric_product. */
static PyObject *product_of(core_state *state, PyObject *x, PyObject *y, const char *name)
{
    ts_nd *a = ND(x), *b = ND(y), *result;
    ts_error err;
    ts_status status;
    if (a->graph != state->numeric->graphs[0] || b->graph != a->graph) {
        NUMERIC_BEGIN(state);
        status = ts_nd_product_meet(a, b, &err);
        NUMERIC_END(state);
        if (status != TS_OK)
            return core_raise(state, &err);
    }
    bool in_host = ts_device_caps_of(ts_nd_graph_device(a->graph)) & TS_DEVICE_HOST_MEMORY;
    int64_t small = in_host ? PRODUCT_SMALL : PRODUCT_FOLD;
    bool is_large = a->rank == 2 && b->rank == 2 && a->count * ts_nd_shape(b)[1] > small;
    if (ts_nd_matrices_are(a, b)) {
        status = product_of_matrices(state, a, b, &result, &err);
    } else if (name && strcmp(name, "matmul") == 0 && product_are_stacks(a, b)) {
        NUMERIC_BEGIN(state);
        status = product_of_stacks(a, b, &result, &err);
        NUMERIC_END(state);
    } else {
        bool fits = a->graph == b->graph && a->rank && a->rank <= 2 && b->rank && b->rank <= 2 &&
                    a->dtype == b->dtype && a->count && b->count && a->dtype != TS_DTYPE_bool_ && !a->meaning &&
                    !b->meaning && ts_nd_shape(a)[a->rank - 1] == ts_nd_shape(b)[0] &&
                    (!is_large || ts_nd_product_is_direct(a, b));
        if (!fits)
            return NULL;
        NUMERIC_BEGIN(state);
        status = ts_nd_product(a, b, &result, &err);
        NUMERIC_END(state);
    }
    if (status != TS_OK)
        return core_raise(state, &err);
    if (name && product_tell(state, (ts_nd *const[]){a, b, result}, a->rank > 1, b->rank > 1, name) < 0) {
        NUMERIC_BEGIN(state);
        ts_nd_release(result);
        NUMERIC_END(state);
        return NULL;
    }
    return numeric_as_operands(state, numeric_result(state, result), a, b);
}

PyObject *numeric_product(core_state *state, PyObject *x, PyObject *y, const char *name)
{
    PyTypeObject *class = state->numeric->array_class;
    return Py_TYPE(x) == class && Py_TYPE(y) == class ? product_of(state, x, y, name) : NULL;
}

static PyObject *product_summed(core_state *state, PyObject *x, PyObject *y, uint32_t axis)
{
    ts_nd *result;
    ts_error err;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_sum_products(ND(x), ND(y), axis, &result, &err);
    (void)ts_nd_graph_faults(ND(x)->graph);
    NUMERIC_END(state);
    return status == TS_OK ? numeric_as_operands(state, numeric_wrap(state, result, NULL), ND(x), ND(y))
                           : core_raise(state, &err);
}

/* The commonest products of two arrays that einsum() is asked for, and of how many axes these are. */
static const struct product_text {
    const char *text;
    uint32_t ranks[2];
    enum { PRODUCT_PLAIN, PRODUCT_TURNED, PRODUCT_ROWS } how; /* x @ y, x @ y.T, sums along rows of x * y */
} product_texts[] = {
    {"i,i", {1, 1}, PRODUCT_PLAIN},        {"i,i->", {1, 1}, PRODUCT_PLAIN},
    {"ij,j", {2, 1}, PRODUCT_PLAIN},       {"ij,j->i", {2, 1}, PRODUCT_PLAIN},
    {"ij,jk", {2, 2}, PRODUCT_PLAIN},      {"ij,jk->ik", {2, 2}, PRODUCT_PLAIN},
    {"ij,kj->ik", {2, 2}, PRODUCT_TURNED}, {"ij,ij->i", {2, 2}, PRODUCT_ROWS},
};

/* Whether a text is another one, but for spaces, which NumPy passes over everywhere but within "->". */
static bool product_is_text(PyObject *text, const char *wanted)
{
    Py_ssize_t n = PyUnicode_GET_LENGTH(text), i = 0;
    const Py_UCS1 *at = PyUnicode_IS_COMPACT_ASCII(text) ? PyUnicode_1BYTE_DATA(text) : NULL;
    for (; at && i < n; i++)
        if (*wanted && at[i] == *wanted)
            wanted++;
        else if (at[i] != ' ' || *wanted == '>')
            return false;
    return at && !*wanted;
}

PyObject *numeric_einsum(core_state *state, PyObject *const *args, Py_ssize_t n)
{
    PyTypeObject *class = state->numeric->array_class;
    if (n != 3 || !PyUnicode_Check(args[0]) || Py_TYPE(args[1]) != class || Py_TYPE(args[2]) != class)
        return NULL;
    const struct product_text *row = product_texts, *end = row + sizeof product_texts / sizeof *product_texts;
    while (row < end && !product_is_text(args[0], row->text))
        row++;
    const ts_nd *a = ND(args[1]), *b = ND(args[2]);
    bool is_float = a->dtype == TS_DTYPE_float32 || a->dtype == TS_DTYPE_float64;
    if (row == end || a->rank != row->ranks[0] || b->rank != row->ranks[1] || !is_float || a->dtype != b->dtype ||
        a->meaning || b->meaning || !a->count || !b->count || ts_nd_graph_home(a->graph) != ts_nd_graph_home(b->graph))
        return NULL;
    if (row->how == PRODUCT_ROWS) {
        bool are_alike = memcmp(ts_nd_shape(a), ts_nd_shape(b), 2 * sizeof(int64_t)) == 0;
        return are_alike ? product_summed(state, args[1], args[2], 1) : NULL;
    }
    PyObject *y = row->how == PRODUCT_TURNED ? PyObject_GetAttrString(args[2], "T") : Py_NewRef(args[2]);
    bool meets = y && ts_nd_shape(a)[a->rank - 1] == ts_nd_shape(ND(y))[0];
    PyObject *made = meets ? product_of(state, args[1], y, NULL) : NULL;
    Py_XDECREF(y);
    return made;
}

/* ---- for _linear.py ------------------------------------------------------------------------------- */

/* numeric_product(x, y): the product, of which nothing is told, or None. */
static PyObject *product_silent(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    core_state *state = PyModule_GetState(module);
    if (n != 2 || !numeric_is_array(state, args[0]) || !numeric_is_array(state, args[1])) {
        PyErr_SetString(PyExc_TypeError, "numeric_product takes two arrays");
        return NULL;
    }
    PyObject *made = numeric_product(state, args[0], args[1], NULL);
    return made || PyErr_Occurred() ? made : Py_NewRef(Py_None);
}

/* numeric_sum_products(x, y, axis): sums along an axis of products, which broadcast. */
static PyObject *product_sum(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyTypeObject *type = state->numeric->array_type;
    PyObject *x, *y;
    int axis;
    if (!PyArg_ParseTuple(args, "O!O!i:numeric_sum_products", type, &x, type, &y, &axis))
        return NULL;
    axis += axis >= 0 ? 0 : (int)(ND(x)->rank > ND(y)->rank ? ND(x)->rank : ND(y)->rank);
    return product_summed(state, x, y, (uint32_t)axis);
}

/* numeric_tell_product(name, x, y, made, has_rows, has_columns): what went wrong in it. */
static PyObject *product_told(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyTypeObject *type = state->numeric->array_type;
    const char *name;
    PyObject *x, *y, *made;
    int has_rows, has_columns;
    if (!PyArg_ParseTuple(args, "sO!O!O!pp:numeric_tell_product", &name, type, &x, type, &y, type, &made, &has_rows,
                          &has_columns))
        return NULL;
    ts_nd *const all[3] = {ND(x), ND(y), ND(made)};
    return product_tell(state, all, has_rows, has_columns, name) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef product_functions[] = {
    {"numeric_product", (PyCFunction)(void (*)(void))product_silent, METH_FASTCALL,
     "numeric_product(x, y, /)\n--\n\nThe product of two arrays, of which no faults are told, or None."},
    {"numeric_sum_products", product_sum, METH_VARARGS, "numeric_sum_products(x, y, axis, /)\n--\n\n"},
    {"numeric_tell_product", product_told, METH_VARARGS,
     "numeric_tell_product(name, x, y, made, has_rows, has_columns, /)\n--\n\n"},
    {NULL, NULL, 0, NULL},
};

int numeric_product_init(PyObject *module)
{
    return PyModule_AddFunctions(module, product_functions);
}
