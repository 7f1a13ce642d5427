/* SPDX-License-Identifier: Apache-2.0
 *
 * NumericRoutine: a function of tessera.numeric that is written in Python. Arrays that it makes on its way lie on the
 * device of the first array among its arguments, whatever device is current, so the function itself need not think of
 * devices.
 */
#include "numeric.h"
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

typedef struct numeric_routine {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    core_state *state;
    PyObject *function, *module; /* module: its name, where users find the function */
    bool moves;   /* it takes items: it only moves elements, or asks what they are */
    bool is_method;
    bool is_adopted; /* a program of NumPy's, which knows the classes of arrays itself: it is only placed */
    uint8_t asks; /* whether classes of others answer calls of it: ROUTINE_IS_FUNCTION ..; 0: they do not */
    uint8_t depth; /* levels of lists that it looks into for them */
    int shortcut; /* a ts_nd_fold, or one of those below; -1: none */
    const numeric_way *way; /* a shortcut of numeric_view.c, or NULL */
    numeric_few few;
} numeric_routine;

enum { ROUTINE_ASKS_NONE, ROUTINE_IS_FUNCTION, ROUTINE_IS_METHOD, ROUTINE_IS_UFUNC };
enum { ROUTINE_RESHAPE = TS_ND_FOLDS, ROUTINE_RAVEL, ROUTINE_COPY, ROUTINE_ASTYPE, ROUTINE_MEAN, ROUTINE_DOT,
       ROUTINE_MATMUL, ROUTINE_SORT, ROUTINE_ARGSORT, ROUTINE_PARTITION, ROUTINE_ARGPARTITION, ROUTINE_UNIQUE,
       ROUTINE_SEARCHSORTED, ROUTINE_TAKE, ROUTINE_FLATTEN, ROUTINE_ZEROS, ROUTINE_ONES, ROUTINE_EMPTY,
       ROUTINE_ZEROS_LIKE,
       ROUTINE_ONES_LIKE, ROUTINE_EMPTY_LIKE, ROUTINE_ARANGE, ROUTINE_ARRAY, ROUTINE_WAIT, ROUTINE_EINSUM, ROUTINE_VIEW,
       ROUTINE_WALKS /* those of numeric_walk.c */, ROUTINE_SHORTCUTS = ROUTINE_WALKS + NUMERIC_AT + 1 };
static const char *const routine_names[] = {"reshape", "ravel", "copy", "astype", "mean", "dot", "matmul",
                                            "sort", "argsort", "partition", "argpartition", "unique",
                                            "searchsorted", "take", "flatten", "zeros", "ones", "empty",
                                            "zeros_like", "ones_like", "empty_like",
                                            "arange", "array", "wait", "einsum", "view",
                                            "reduce", "accumulate", "reduceat", "at"};
static_assert(sizeof routine_names / sizeof *routine_names == ROUTINE_SHORTCUTS - TS_ND_FOLDS, "a name each");

/* ---- shortcuts: the commonest calls, without Python. NULL without exception: it is none of these calls ---- */

/* axis=None or a number, as bits; 0: another kind, or out of range. */
static uint64_t routine_axes(const ts_nd *a, PyObject *axis)
{
    uint64_t all = a->rank < 64 ? ((uint64_t)1 << a->rank) - 1 : UINT64_MAX;
    if (!axis || axis == Py_None)
        return all;
    if (!PyLong_CheckExact(axis))
        return 0;
    int overflow;
    long d = PyLong_AsLongAndOverflow(axis, &overflow);
    d += d < 0 ? a->rank : 0;
    return overflow || d < 0 || d >= a->rank ? 0 : (uint64_t)1 << d;
}

/* What sums are computed in: at least the platform's integer. */
static ts_dtype routine_sum_dtype(ts_dtype dtype)
{
    char kind = ts_dtype_get(dtype)->kind;
    return kind == 'u' ? TS_DTYPE_uint64 : kind == 'i' || kind == 'b' ? TS_DTYPE_int64 : dtype;
}

/* A sum divided by the number of elements in it; takes the sum. */
static ts_status routine_divide(ts_nd *sum, int64_t n, ts_nd **out, ts_error *err)
{
    ts_nd_call call = {.fn = TS_ND_divide, .in = {{.array = sum}, {.kind = 'i', .i = n}}};
    ts_status status = ts_nd_run(sum->graph, &call, out, err);
    ts_nd_release(sum);
    return status;
}

static int64_t routine_count(const ts_nd *a, uint64_t axes)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < a->rank; d++)
        n *= axes >> d & 1 ? ts_nd_shape(a)[d] : 1;
    return n;
}

static PyObject *routine_ravel(core_state *state, PyObject *array);
static PyObject *routine_fold(core_state *state, int which, PyObject *const *args, Py_ssize_t n, PyObject *names);

static PyObject *routine_fold_flat(core_state *state, int which, PyObject *array)
{
    PyObject *flat = routine_ravel(state, array), *made = flat ? routine_fold(state, which, &flat, 1, NULL) : NULL;
    Py_XDECREF(flat);
    return made;
}

/* a.sum(), a.max(axis), np.any(a, axis=1, keepdims=True), a.mean() .. */
static PyObject *routine_fold(core_state *state, int which, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    const ts_nd *a = ND(args[0]);
    PyObject *axis = n > 1 ? args[1] : NULL, *keeps = Py_False;
    bool is_mean = which == ROUTINE_MEAN;
    ts_nd_fold fold = is_mean ? TS_ND_SUM : (ts_nd_fold)which;
    ts_nd *result;
    ts_error err;
    if (a->meaning || (is_mean && a->dtype != TS_DTYPE_float32 && a->dtype != TS_DTYPE_float64))
        return NULL;
    bool is_sum = fold == TS_ND_SUM || fold == TS_ND_PROD, is_arg = fold == TS_ND_ARGMAX || fold == TS_ND_ARGMIN;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        if (PyUnicode_CompareWithASCIIString(name, "axis") == 0 && n == 1)
            axis = args[n + i];
        else if (PyUnicode_CompareWithASCIIString(name, "keepdims") == 0 && PyBool_Check(args[n + i]))
            keeps = args[n + i];
        else
            return NULL;
    }
    uint64_t axes = n <= 2 && a->rank && a->count ? routine_axes(a, axis) : 0;
    if (!axes || ts_dtype_get((ts_dtype)a->dtype)->kind == 'c')
        return NULL;
    if (is_arg && a->rank > 1 && (!axis || axis == Py_None)) /* of all elements in a row */
        return keeps == Py_True ? NULL : routine_fold_flat(state, which, args[0]);
    ts_nd_reduction reduction = {.fold = fold, .x = ND(args[0]), .axes = axes, .keeps = keeps == Py_True, .looks = true,
                                 .dtype = is_sum ? routine_sum_dtype((ts_dtype)a->dtype) : TS_DTYPE_NONE};
    int wanted = is_sum ? numeric_wanted(state, a) : 0;
    if (wanted < 0)
        return NULL;
    reduction.wanted = (uint32_t)wanted;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_reduce(a->graph, &reduction, &result, &err);
    if (status == TS_OK && is_mean)
        status = routine_divide(result, routine_count(a, axes), &result, &err);
    uint32_t faults = ts_nd_graph_faults(a->graph);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    PyObject *made = numeric_report_fold(state, result, faults, "reduce") == 0 ? numeric_result(state, result) : NULL;
    return is_arg ? made : numeric_as_operands(state, made, a, NULL);
}

/* a.reshape(3, -1), np.reshape(a, (3, 4)), a.ravel(), of arrays that lie row-major. */
static PyObject *routine_reshape(core_state *state, PyObject *const *args, Py_ssize_t n)
{
    const ts_nd *a = ND(args[0]);
    int64_t shape[TS_ND_RANK], strides[TS_ND_RANK], step = a->item, known = 1;
    int unknown = -1;
    ts_nd *out;
    ts_error err;
    PyObject *const *items = args + 1;
    if (n-- == 2 && PyTuple_CheckExact(args[1])) {
        items = &PyTuple_GET_ITEM(args[1], 0);
        n = PyTuple_GET_SIZE(args[1]);
    }
    if (n > TS_ND_RANK || !a->count)
        return NULL;
    for (uint32_t d = a->rank; d-- > 0; step *= ts_nd_shape(a)[d])
        if (ts_nd_shape(a)[d] != 1 && ts_nd_strides(a)[d] != step)
            return NULL;
    for (Py_ssize_t d = 0; d < n; d++) {
        int overflow = 0;
        shape[d] = PyLong_CheckExact(items[d]) ? PyLong_AsLongLongAndOverflow(items[d], &overflow) : -2;
        if (overflow || shape[d] < -1 || (shape[d] == -1 && unknown >= 0))
            return NULL;
        unknown = shape[d] == -1 ? (int)d : unknown;
        if (shape[d] != -1 && __builtin_mul_overflow(known, shape[d], &known))
            return NULL;
    }
    if (!known || a->count % known || (unknown < 0 && known != a->count))
        return NULL;
    if (unknown >= 0)
        shape[unknown] = a->count / known;
    step = a->item;
    for (Py_ssize_t d = n; d-- > 0; step *= shape[d])
        strides[d] = step;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_view(a, 0, (ts_dtype)a->dtype, (uint32_t)n, shape, strides, a->flags, &out, &err);
    NUMERIC_END(state);
    return status == TS_OK ? numeric_wrap_view(state, out, args[0]) : core_raise(state, &err);
}

/* The order in which a new array lies as this one does: 'C'; 0, as it lies; -1, as Python's half says. */
static int routine_order(const ts_nd *a)
{
    int64_t before = INT64_MAX;
    bool falls = true, odd = false;
    for (uint32_t d = 0; d < a->rank; d++) {
        int64_t step = ts_nd_strides(a)[d];
        odd |= step <= 0;
        if (ts_nd_shape(a)[d] == 1)
            continue;
        falls &= llabs(step) <= before;
        before = llabs(step);
    }
    return falls ? 'C' : odd ? -1 : 0;
}

/* a.copy(), which is row-major; np.copy(a), a.astype(dtype), which lie as the array does; of our own class. */
static PyObject *routine_copy(core_state *state, PyObject *const *args, Py_ssize_t n, ts_dtype dtype, bool in_rows)
{
    const ts_nd *a = ND(args[0]);
    ts_nd_graph *graph = a->graph; /* the call may change the array's (near.c) */
    ts_nd_call call = {.fn = TS_ND_copy, .in = {{.array = ND(args[0])}}, .casting = TS_ND_UNSAFE};
    ts_nd *result;
    ts_error err;
    if (!a->rank || !a->count || n > 2 || numeric_means(a) || Py_TYPE(args[0]) != state->numeric->array_class)
        return NULL;
    int order = in_rows ? 'C' : routine_order(a);
    if (order < 0)
        return NULL;
    call.order = (char)order;
    call.dtype = dtype == (ts_dtype)a->dtype ? TS_DTYPE_NONE : dtype;
    numeric_watch watch = {0};
    if (!numeric_cast_is_safe(a, dtype) && numeric_watch_cast(state, graph, a, a->count, &watch) < 0)
        return NULL;
    NUMERIC_BEGIN(state);
    numeric_watch_begin(graph, &watch);
    ts_status status = ts_nd_run(graph, &call, &result, &err);
    ts_nd_graph_strict(graph, false);
    uint32_t faults = ts_nd_graph_faults(graph);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    PyObject *made = numeric_wrap(state, result, NULL);
    if (made && faults && numeric_report(state, TS_ND_copy, faults) < 0)
        Py_CLEAR(made);
    return made;
}

/* A dtype of the library that dtype= says; false without exception: another one, or none. */
static bool routine_dtype(core_state *state, PyObject *object, ts_dtype *dtype)
{
    uint16_t meaning;
    int done = numeric_type_of(state, object, dtype, &meaning);
    PyErr_Clear(); /* the long way says it */
    return done == 0 && !meaning;
}

static PyObject *routine_astype(core_state *state, PyObject *const *args, Py_ssize_t n)
{
    ts_dtype dtype, own = (ts_dtype)ND(args[0])->dtype;
    if (n != 2 || !routine_dtype(state, args[1], &dtype))
        return NULL;
    bool loses_part = ts_dtype_get(own)->kind == 'c' && ts_dtype_get(dtype)->kind != 'c';
    return loses_part ? NULL : routine_copy(state, args, n, dtype, false);
}

/* The shape that an int or a tuple of ints says; false: another kind. */
static bool routine_shape(PyObject *object, uint32_t *rank, int64_t *shape)
{
    bool is_tuple = PyTuple_CheckExact(object);
    Py_ssize_t n = is_tuple ? PyTuple_GET_SIZE(object) : 1;
    for (Py_ssize_t d = 0; d < n && n <= TS_ND_RANK; d++) {
        PyObject *item = is_tuple ? PyTuple_GET_ITEM(object, d) : object;
        int overflow = 0;
        shape[d] = PyLong_CheckExact(item) ? PyLong_AsLongLongAndOverflow(item, &overflow) : -1;
        if (overflow || shape[d] < 0)
            return false;
    }
    *rank = (uint32_t)n;
    return n <= TS_ND_RANK;
}

/* A new array: of zeros, of ones, or with undefined contents (`which`). */
static PyObject *routine_made(core_state *state, ts_nd_graph *graph, int which, ts_dtype dtype, uint32_t rank,
                              const int64_t *shape)
{
    enum { SMALL = 1024 }; /* elements whose memory is there at once, so that they are filled the short way */
    bool in_host = ts_device_caps_of(ts_nd_graph_device(graph)) & TS_DEVICE_HOST_MEMORY;
    ts_nd *made, *same;
    ts_error err;
    void *data = NULL;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_empty(graph, dtype, rank, shape, false, &made, &err);
    if (status == TS_OK && which != ROUTINE_EMPTY) {
        ts_nd_call fill = {.fn = TS_ND_copy, .in = {{.kind = 'i', .i = which == ROUTINE_ONES}}, .out = made,
                           .dtype = dtype, .casting = TS_ND_UNSAFE};
        status = made->count <= SMALL ? ts_nd_memory(made, false, &data, NULL, &err) : TS_OK;
        if (data && in_host && which == ROUTINE_ZEROS)
            memset(data, 0, (size_t)made->count * made->item);
        else if (status == TS_OK && (status = ts_nd_run(graph, &fill, &same, &err)) == TS_OK)
            ts_nd_release(same);
        if (status != TS_OK)
            ts_nd_release(made);
    }
    NUMERIC_END(state);
    return status == TS_OK ? numeric_wrap(state, made, NULL) : core_raise(state, &err);
}

/* np.zeros((3, 4)), np.ones(5, "f4"), np.empty(n, dtype=..) */
static PyObject *routine_make(core_state *state, int which, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    PyObject *asked = n == 2 ? args[1] : NULL;
    int64_t shape[TS_ND_RANK];
    uint32_t rank;
    ts_dtype dtype = TS_DTYPE_float64;
    if (names && (n != 1 || PyTuple_GET_SIZE(names) != 1 ||
                  PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "dtype") != 0))
        return NULL;
    asked = names ? args[1] : asked;
    if (n < 1 || n > 2 || !routine_shape(args[0], &rank, shape) ||
        (asked && asked != Py_None && !routine_dtype(state, asked, &dtype)))
        return NULL;
    ts_nd_graph *graph = numeric_graph(state);
    return graph ? routine_made(state, graph, which, dtype, rank, shape) : NULL;
}

/* np.zeros_like(a) .., of what routine_copy takes */
static PyObject *routine_make_like(core_state *state, int which, PyObject *const *args, Py_ssize_t n)
{
    const ts_nd *a = ND(args[0]);
    bool is_ours = n == 1 && a->dtype && !numeric_means(a) && Py_TYPE(args[0]) == state->numeric->array_class;
    if (!is_ours || routine_order(a) != 'C')
        return NULL;
    return routine_made(state, a->graph, which, (ts_dtype)a->dtype, a->rank, ts_nd_shape(a));
}

/* np.arange(10), np.arange(2, 10), of few numbers in host memory */
static PyObject *routine_arange(core_state *state, PyObject *const *args, Py_ssize_t n)
{
    enum { MOST = 1 << 12 };
    int64_t bound[2] = {0, 0}, shape;
    ts_nd *made;
    ts_error err;
    void *data;
    if (n < 1 || n > 2)
        return NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        int overflow = 0;
        if (!PyLong_CheckExact(args[i]))
            return NULL;
        bound[i + 2 - n] = PyLong_AsLongLongAndOverflow(args[i], &overflow);
        if (overflow)
            return NULL;
    }
    ts_nd_graph *graph = numeric_graph(state);
    if (!graph || !(ts_device_caps_of(ts_nd_graph_device(graph)) & TS_DEVICE_HOST_MEMORY) ||
        __builtin_sub_overflow(bound[1], bound[0], &shape) || shape > MOST)
        return NULL;
    shape = Py_MAX(shape, 0);
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_empty(graph, TS_DTYPE_int64, 1, &shape, false, &made, &err);
    if (status == TS_OK && (status = ts_nd_memory(made, false, &data, NULL, &err)) != TS_OK)
        ts_nd_release(made);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    for (int64_t i = 0; i < shape; i++)
        ((int64_t *)data)[i] = bound[0] + i;
    return numeric_wrap(state, made, NULL);
}

/* Whether arrays can be put behind each other along an axis without Python: of our own class, one dtype and device, and
 * the result lies row-major as one of them. The shape of all together. */
static bool routine_joins(core_state *state, PyObject *const *parts, Py_ssize_t n, uint32_t axis, int64_t *shape)
{
    bool in_rows = false;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (Py_TYPE(parts[i]) != state->numeric->array_class)
            return false;
        const ts_nd *a = ND(parts[i]), *first = ND(parts[0]);
        if (!a->dtype || numeric_means(a) || a->dtype != first->dtype || a->graph != first->graph ||
            a->rank != first->rank || axis >= a->rank)
            return false;
        in_rows |= routine_order(a) == 'C';
        for (uint32_t d = 0; d < a->rank; d++)
            if (!i)
                shape[d] = ts_nd_shape(a)[d];
            else if (d == axis)
                shape[d] += ts_nd_shape(a)[d];
            else if (shape[d] != ts_nd_shape(a)[d])
                return false;
    }
    return in_rows;
}

/* Arrays behind each other along an axis; NULL without exception: they are not as routine_joins wants them. */
static PyObject *routine_joined(core_state *state, PyObject *const *parts, Py_ssize_t n, long axis)
{
    int64_t shape[TS_ND_RANK], at = 0;
    ts_nd *out, *view, *same;
    ts_error err;
    void *data;
    if (!n || Py_TYPE(parts[0]) != state->numeric->array_class)
        return NULL;
    const ts_nd *first = ND(parts[0]);
    axis += axis < 0 ? first->rank : 0;
    if (axis < 0 || axis >= first->rank || !routine_joins(state, parts, n, (uint32_t)axis, shape))
        return NULL;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_empty(first->graph, (ts_dtype)first->dtype, first->rank, shape, false, &out, &err);
    if (status == TS_OK)
        status = ts_nd_memory(out, false, &data, NULL, &err);
    for (Py_ssize_t i = 0; i < n && status == TS_OK; i++) {
        ts_nd *a = ND(parts[i]);
        status = ts_nd_view(out, at * ts_nd_strides(out)[axis], (ts_dtype)a->dtype, a->rank, ts_nd_shape(a),
                            ts_nd_strides(out), 0, &view, &err);
        ts_nd_call copy = {.fn = TS_ND_copy, .in = {{.array = a}}, .out = view};
        if (status == TS_OK && a->count && (status = ts_nd_run(a->graph, &copy, &same, &err)) == TS_OK)
            ts_nd_release(same);
        ts_nd_release(view);
        at += ts_nd_shape(a)[axis];
    }
    if (status != TS_OK)
        ts_nd_release(out);
    NUMERIC_END(state);
    return status == TS_OK ? numeric_wrap(state, out, NULL) : core_raise(state, &err);
}

/* numeric_join(arrays, axis): None where it is not that kind of call. */
static PyObject *routine_join(PyObject *module, PyObject *args)
{
    PyObject *arrays;
    long axis;
    if (!PyArg_ParseTuple(args, "Ol:numeric_join", &arrays, &axis)) {
        PyErr_Clear(); /* an axis of any size is out of range, which the long way says */
        Py_RETURN_NONE;
    }
    if (!PyTuple_CheckExact(arrays) && !PyList_CheckExact(arrays))
        Py_RETURN_NONE;
    PyObject *parts = PySequence_Tuple(arrays);
    PyObject *made = parts ? routine_joined(PyModule_GetState(module), &PyTuple_GET_ITEM(parts, 0),
                                            PyTuple_GET_SIZE(parts), axis) : NULL;
    Py_XDECREF(parts);
    return made || PyErr_Occurred() ? made : Py_NewRef(Py_None);
}

/* a.ravel() of an array that lies row-major */
static PyObject *routine_ravel(core_state *state, PyObject *array)
{
    PyObject *minus_one = PyLong_FromLong(-1), *both[2] = {array, minus_one};
    PyObject *made = minus_one ? routine_reshape(state, both, 2) : NULL;
    Py_XDECREF(minus_one);
    return made;
}

/* numeric_reshape(array, shape): None where Python's half does it. */
static PyObject *routine_reshape_python(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    core_state *state = PyModule_GetState(module);
    if (n != 2)
        return PyErr_Format(PyExc_TypeError, "numeric_reshape takes an array and a shape, found %zd arguments", n);
    PyObject *made = numeric_is_array(state, args[0]) ? routine_reshape(state, args, n) : NULL;
    return made || PyErr_Occurred() ? made : Py_NewRef(Py_None);
}

/* a.flatten() */
static PyObject *routine_flatten(core_state *state, PyObject *array)
{
    PyObject *flat = Py_TYPE(array) == state->numeric->array_class ? routine_ravel(state, array) : NULL;
    PyObject *made = flat ? routine_copy(state, &flat, 1, TS_DTYPE_NONE, true) : NULL;
    Py_XDECREF(flat);
    return made;
}

static PyObject *routine_short(const numeric_routine *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    if (self->shortcut == ROUTINE_ARANGE)
        return names ? NULL : routine_arange(self->state, args, n);
    if (self->shortcut >= ROUTINE_ZEROS && self->shortcut <= ROUTINE_EMPTY)
        return routine_make(self->state, self->shortcut, args, n, names);
    if (!n) /* only a wait has a shortcut without arguments */
        return names ? NULL : numeric_wait(self->state, NULL);
    if (self->shortcut == ROUTINE_EINSUM)
        return names ? NULL : numeric_einsum(self->state, args, n);
    if (self->shortcut >= ROUTINE_WALKS)
        return names ? NULL : numeric_walked(self->state, self->shortcut - ROUTINE_WALKS, args, n);
    if (!numeric_is_array(self->state, args[0]))
        return NULL;
    if (self->way)
        return names || Py_TYPE(args[0]) != self->state->numeric->array_class
                   ? NULL : self->way->call(self->state, self->way, args, n);
    if (self->shortcut >= ROUTINE_ZEROS_LIKE && self->shortcut <= ROUTINE_EMPTY_LIKE)
        return names ? NULL : routine_make_like(self->state, self->shortcut - ROUTINE_ZEROS_LIKE + ROUTINE_ZEROS, args,
                                                n);
    if (self->shortcut < TS_ND_FOLDS || self->shortcut == ROUTINE_MEAN)
        return routine_fold(self->state, self->shortcut, args, n, names);
    if (self->shortcut == ROUTINE_SORT || self->shortcut == ROUTINE_ARGSORT)
        return numeric_sorted(self->state, args, n, names, self->shortcut == ROUTINE_ARGSORT);
    if (names)
        return NULL;
    if (self->shortcut == ROUTINE_DOT || self->shortcut == ROUTINE_MATMUL)
        return n == 2 ? numeric_product(self->state, args[0], args[1],
                                        self->shortcut == ROUTINE_DOT ? "dot" : "matmul") : NULL;
    if (self->shortcut == ROUTINE_PARTITION || self->shortcut == ROUTINE_ARGPARTITION)
        return numeric_partitioned(self->state, args, n, self->shortcut == ROUTINE_ARGPARTITION);
    if (self->shortcut == ROUTINE_UNIQUE)
        return n == 1 ? numeric_different(self->state, args[0]) : NULL;
    if (self->shortcut == ROUTINE_SEARCHSORTED)
        return numeric_searched(self->state, args, n);
    if (self->shortcut == ROUTINE_TAKE) /* of one axis */
        return n == 2 && ND(args[0])->rank == 1 ? numeric_taken(self->state, args[0], args[1]) : NULL;
    if (self->shortcut == ROUTINE_FLATTEN)
        return n == 1 ? routine_flatten(self->state, args[0]) : NULL;
    if (self->shortcut == ROUTINE_COPY || self->shortcut == ROUTINE_ARRAY)
        return n == 1 ? routine_copy(self->state, args, n, TS_DTYPE_NONE, self->is_method) : NULL;
    if (self->shortcut == ROUTINE_WAIT)
        return n == 1 ? numeric_wait(self->state, args[0]) : NULL;
    if (self->shortcut == ROUTINE_ASTYPE)
        return routine_astype(self->state, args, n);
    if (self->shortcut == ROUTINE_RESHAPE)
        return n > 1 ? routine_reshape(self->state, args, n) : NULL;
    return n > 1 ? NULL : routine_ravel(self->state, args[0]);
}

/* ---- calls ---------------------------------------------------------------------------------------- */

/* The graph of the first array among arguments and first elements of lists; NULL: none of them is an array of ours. */
static ts_nd_graph *routine_graph(core_state *state, PyObject *const *args, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *first = args[i];
        if (PyTuple_CheckExact(first))
            first = PyTuple_GET_SIZE(first) ? PyTuple_GET_ITEM(first, 0) : NULL;
        else if (PyList_CheckExact(first))
            first = PyList_GET_SIZE(first) ? PyList_GET_ITEM(first, 0) : NULL;
        if (first && numeric_is_array(state, first))
            return ts_nd_graph_home(ND(first)->graph);
    }
    return NULL;
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
    if (PyContextVar_Reset(n->current, token) == 0)
        PyErr_Restore(type, value, trace);
    else {
        Py_CLEAR(result);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    }
    Py_DECREF(token);
    return result;
}

/* Whether one of n arguments is an array of items. */
static bool routine_has_items(core_state *state, PyObject *const *args, Py_ssize_t n)
{
    bool has = false;
    for (Py_ssize_t i = 0; i < n; i++)
        has |= numeric_is_array(state, args[i]) && !ND(args[i])->dtype;
    return has;
}

/* hook(callable, arguments as a tuple, keywords as a dict, flag) */
static PyObject *routine_ask(PyObject *hook, PyObject *callable, PyObject *const *args, Py_ssize_t n, PyObject *names,
                             bool flag)
{
    PyObject *given, *named, *made = NULL;
    if (numeric_pack_call(args, n, names, &given, &named) == 0) {
        made = PyObject_CallFunction(hook, "OOOO", callable, given, named, flag ? Py_True : Py_False);
        Py_DECREF(given);
        Py_DECREF(named);
    }
    return made;
}

/* A function that computes, of items: the Python half says what becomes of them (_items.py). */
static PyObject *routine_of_items(numeric_routine *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    PyObject *given, *options, *made = NULL;
    if (numeric_pack_call(args, n, names, &given, &options) == 0) {
        made = PyObject_CallFunctionObjArgs(self->state->numeric->items_call, given, self->function, options, NULL);
        Py_DECREF(given);
        Py_DECREF(options);
    }
    return made;
}

PyObject *numeric_by_numpy(core_state *state, PyObject *callable, PyObject *const *args, Py_ssize_t n, PyObject *names,
                           bool by_operator)
{
    PyObject *type, *value, *trace;
    if (!PyErr_ExceptionMatches(state->numeric->host_dtype))
        return NULL;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *made = routine_ask(state->numeric->by_numpy, callable, args, n, names, by_operator);
    if (made == Py_Ellipsis) { /* NumPy has no such function */
        Py_DECREF(made);
        PyErr_Restore(type, value, trace);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return made;
}

/* The function itself, where its first array lies. */
static PyObject *routine_placed(numeric_routine *self, PyObject *const *args, size_t flags, PyObject *names)
{
    ts_nd_graph *graph = routine_graph(self->state, args, PyVectorcall_NARGS(flags));
    bool is_here = !graph || graph == numeric_graph(self->state);
    return is_here ? PyObject_Vectorcall(self->function, args, flags, names)
                   : routine_elsewhere(self, graph, args, flags, names);
}

/* A call whose classes of others were asked. */
static inline PyObject *routine_run(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    numeric_routine *self = (numeric_routine *)object;
    Py_ssize_t n = PyVectorcall_NARGS(flags);
    if (self->is_adopted)
        return routine_placed(self, args, flags, names);
    if (self->shortcut == ROUTINE_VIEW) { /* which gives classes by itself */
        PyObject *made = self->is_method && n && !names ? numeric_viewed(self->state, args, n) : NULL;
        if (made || PyErr_Occurred())
            return made;
    }
    if (numeric_derived(self->state, args, n)) {
        PyObject *made = routine_ask(self->state->numeric->derived, object, args, n, names, false);
        if (made != Py_Ellipsis)
            return made;
        Py_DECREF(made);
    }
    if (!self->moves && routine_has_items(self->state, args, n + (names ? PyTuple_GET_SIZE(names) : 0)))
        return routine_of_items(self, args, n, names);
    if (((self->shortcut >= 0 && self->shortcut != ROUTINE_VIEW) || self->way) &&
        (n || self->shortcut == ROUTINE_WAIT)) {
        PyObject *made = routine_short(self, args, n, names);
        if (made || PyErr_Occurred())
            return made;
    }
    PyObject *made = numeric_few_call(self->state, &self->few, args, n, names);
    if (made || PyErr_Occurred())
        return made;
    PyObject *result = routine_placed(self, args, flags, names);
    return result ? result : numeric_by_numpy(self->state, object, args, n, names, false);
}

/* Whether like= is among the keywords. */
static bool routine_has_like(PyObject *names)
{
    bool has = false;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        has |= PyUnicode_GET_LENGTH(name) == 4 && PyUnicode_CompareWithASCIIString(name, "like") == 0;
    }
    return has;
}

/* Whether classes of others answer a call. */
static bool routine_is_answered(const numeric_routine *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    Py_ssize_t all = n + (names ? PyTuple_GET_SIZE(names) : 0), first = self->asks == ROUTINE_IS_METHOD;
    if (self->asks == ROUTINE_IS_FUNCTION)
        return routine_has_like(names) || numeric_answered(self->state, PROTOCOL_FUNCTION, args, all, self->depth);
    return n >= first && numeric_answered(self->state, PROTOCOL_UFUNC, args + first, all - first, 1);
}

/* What they answer; Ellipsis: nothing. */
static PyObject *routine_answer(numeric_routine *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    if (self->asks == ROUTINE_IS_FUNCTION)
        return routine_ask(self->state->numeric->function_answered, (PyObject *)self, args, n, names, false);
    if (self->asks == ROUTINE_IS_UFUNC)
        return numeric_ask_ufunc(self->state, (PyObject *)self, "__call__", args, n, names);
    PyObject *name = PyObject_GetAttrString(self->function, "__name__");
    const char *text = name ? PyUnicode_AsUTF8(name) : NULL;
    PyObject *made = text ? numeric_ask_ufunc(self->state, args[0], text, args + 1, n - 1, names) : NULL;
    Py_XDECREF(name);
    return made;
}

static PyObject *routine_call(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    numeric_routine *self = (numeric_routine *)object;
    Py_ssize_t n = PyVectorcall_NARGS(flags);
    if (self->asks && routine_is_answered(self, args, n, names)) {
        PyObject *made = routine_answer(self, args, n, names);
        if (made != Py_Ellipsis)
            return made;
        Py_DECREF(made);
    }
    return routine_run(object, args, flags, names);
}

/* The function where no class of others is asked: what such a class calls. */
static PyObject *routine_implementation(PyObject *object, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    return routine_run(object, args, (size_t)n, names);
}

/* How many levels of lists NumPy looks into for objects that answer a function. */
static uint8_t routine_depth(PyObject *name)
{
    static const char *const looking[] = {"block", "choose", "column_stack", "concat", "concatenate", "dstack",
                                          "histogram2d", "histogramdd", "hstack", "lexsort", "multi_dot",
                                          "piecewise", "poly", "ravel_multi_index", "roots", "select", "stack",
                                          "vstack"};
    enum { BLOCKS = 8 };
    for (size_t i = 0; i < sizeof looking / sizeof *looking; i++)
        if (PyUnicode_CompareWithASCIIString(name, looking[i]) == 0)
            return i ? 1 : BLOCKS;
    return 0;
}

static bool routine_is_method(PyObject *function)
{
    static const char *const homes[] = {"tessera.numeric._methods", "tessera.numeric._ndarray"};
    PyObject *home = PyObject_GetAttrString(function, "__module__");
    bool is_method = false;
    for (int i = 0; home && PyUnicode_Check(home) && i < 2; i++)
        is_method |= PyUnicode_CompareWithASCIIString(home, homes[i]) == 0;
    Py_XDECREF(home);
    PyErr_Clear();
    return is_method;
}

/* The shortcut of a function of the package itself, or of a method; NULL: it has none. */
static const numeric_way *routine_way(PyObject *name, PyObject *module, bool is_method)
{
    const char *text = PyUnicode_AsUTF8(name);
    bool is_ours = text && PyUnicode_CompareWithASCIIString(module, "tessera.numeric") == 0;
    PyErr_Clear();
    return is_ours ? numeric_way_of(text, is_method) : NULL;
}

static PyObject *routine_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *function, *module;
    int moves = 0, asks = ROUTINE_ASKS_NONE;
    if (!PyArg_ParseTuple(args, "OU|pi:NumericRoutine", &function, &module, &moves, &asks) ||
        (kwargs && PyDict_GET_SIZE(kwargs)))
        return NULL;
    PyObject *name = PyObject_GetAttrString(function, "__name__");
    if (!name)
        return NULL;
    int shortcut = ROUTINE_SHORTCUTS;
    while (--shortcut >= 0 &&
           PyUnicode_CompareWithASCIIString(name, shortcut < TS_ND_FOLDS ? ts_nd_fold_name((ts_nd_fold)shortcut)
                                                                         : routine_names[shortcut - TS_ND_FOLDS]) != 0)
        continue;
    bool is_method = routine_is_method(function);
    const numeric_way *way = routine_way(name, module, is_method);
    uint8_t depth = routine_depth(name);
    Py_DECREF(name);
    if (PyObject_HasAttrString(function, "is_in_place")) /* a method that is no function of its name */
        shortcut = -1;
    numeric_routine *self = (numeric_routine *)type->tp_alloc(type, 0);
    if (self) {
        self->vectorcall = routine_call;
        self->state = core_state_of_type(type);
        self->function = Py_NewRef(function);
        self->module = Py_NewRef(module);
        self->shortcut = shortcut;
        self->way = way;
        self->few = (numeric_few){(PyObject *)self, self->function, self->module};
        self->moves = moves;
        self->is_method = is_method;
        self->is_adopted = PyObject_HasAttrString(function, "is_adopted");
        self->asks = (uint8_t)asks;
        self->depth = depth;
    }
    return (PyObject *)self;
}

static int routine_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((numeric_routine *)self)->function);
    Py_VISIT(((numeric_routine *)self)->few.theirs);
    return 0;
}

static int routine_clear(PyObject *self)
{
    Py_CLEAR(((numeric_routine *)self)->function);
    Py_CLEAR(((numeric_routine *)self)->few.theirs);
    ((numeric_routine *)self)->few.function = NULL;
    return 0;
}

static void routine_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    (void)routine_clear(self);
    Py_XDECREF(((numeric_routine *)self)->module);
    Py_XDECREF(((numeric_routine *)self)->few.name);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *routine_bind(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    return object ? PyMethod_New(self, object) : Py_NewRef(self);
}

/* A method's signature is NumPy's (_methods.py); a function's is what is written. */
static PyObject *routine_signature(numeric_routine *self, PyObject *name)
{
    PyErr_Clear();
    PyObject *type = (PyObject *)self->state->numeric->array_class, *own_name = NULL, *methods = NULL, *made = NULL;
    own_name = PyObject_GetAttrString(self->function, "__name__");
    PyObject *known = type && own_name ? PyObject_GetAttr(type, own_name) : NULL;
    PyErr_Clear();
    if (known == (PyObject *)self && (methods = PyImport_ImportModule("tessera.numeric._methods")))
        made = PyObject_CallMethod(methods, "signature_of", "O", own_name);
    Py_XDECREF(known);
    Py_XDECREF(own_name);
    Py_XDECREF(methods);
    if (made && made != Py_None)
        return made;
    Py_XDECREF(made);
    return PyErr_Occurred() ? NULL : PyObject_GetAttr(self->function, name);
}

/* Name, signature and documentation are the function's. */
static PyObject *routine_attribute(PyObject *self, PyObject *name)
{
    if (PyUnicode_CompareWithASCIIString(name, "__module__") == 0)
        return Py_NewRef(((numeric_routine *)self)->module);
    PyObject *own = PyObject_GenericGetAttr(self, name);
    PyObject *function = ((numeric_routine *)self)->function;
    if (!own && PyUnicode_CompareWithASCIIString(name, "__signature__") == 0)
        return routine_signature((numeric_routine *)self, name);
    if (own || !function || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return own;
    PyErr_Clear();
    return PyObject_GetAttr(function, name);
}

static PyObject *routine_repr(PyObject *self)
{
    const numeric_routine *routine = (numeric_routine *)self;
    PyObject *name = PyObject_GetAttrString(routine->function, "__qualname__");
    PyObject *text = name ? PyUnicode_FromFormat("<function %U.%U>", routine->module, name) : NULL;
    Py_XDECREF(name);
    return text;
}

/* Pickled by its name, which pickle looks up in its module. */
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
    {"_implementation", (PyCFunction)(void (*)(void))routine_implementation, METH_FASTCALL | METH_KEYWORDS,
     "The function, without asking classes of others."},
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

/* array.__array_ufunc__(function, method, *inputs, **options): what NumPy asks where one of its functions meets arrays
 * of ours, commonly behind a scalar of its own. */
PyObject *numeric_ufunc_of_numpy(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    const core_state *state = ((numeric_array *)self)->state;
    Py_ssize_t n_names = names ? PyTuple_GET_SIZE(names) : 0;
    bool is_call = n > 2 && !n_names && PyUnicode_Check(args[1]) &&
                   PyUnicode_CompareWithASCIIString(args[1], "__call__") == 0;
    if (n > 2 && numeric_answered(STATE(self), PROTOCOL_UFUNC, args + 2, n - 2 + n_names, 1))
        Py_RETURN_NOTIMPLEMENTED;
    if (is_call && Py_TYPE(args[n - 1]) == state->numeric->array_class) {
        PyObject *ours = PyDict_GetItemWithError(state->numeric->ours, args[0]);
        if (ours || PyErr_Occurred())
            return ours ? PyObject_Vectorcall(ours, args + 2, (size_t)n - 2, NULL) : NULL;
    }
    PyObject *python = PyObject_GetAttrString(self, "_ufunc_of_numpy");
    PyObject *made = python ? PyObject_Vectorcall(python, args, (size_t)n, names) : NULL;
    Py_XDECREF(python);
    return made;
}

static PyMethodDef routine_functions[] = {
    {"numeric_join", routine_join, METH_VARARGS,
     "numeric_join(arrays, axis, /)\n--\n\nThey behind each other, or None."},
    {"numeric_reshape", (PyCFunction)(void (*)(void))routine_reshape_python, METH_FASTCALL,
     "numeric_reshape(array, shape, /)\n--\n\nA view of an array that lies row-major, or None."},
    {NULL, NULL, 0, NULL},
};

int numeric_routine_init(PyObject *module)
{
    int done = PyModule_AddFunctions(module, routine_functions);
    for (size_t i = 0; i < sizeof routine_specs / sizeof *routine_specs && done == 0; i++) {
        PyObject *type = PyType_FromModuleAndSpec(module, &routine_specs[i], NULL);
        done = type ? PyModule_AddObjectRef(module, strrchr(routine_specs[i].name, '.') + 1, type) : -1;
        Py_XDECREF(type);
    }
    return done;
}
