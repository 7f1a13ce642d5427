/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls on few elements that NumPy computes: in host memory, NumPy's own function takes less time there than a call
 * of ours that packs operands in Python. Arrays are lent to it where they lie, and what it makes is copied into arrays.
 * Which functions: numeric_lend.def.
 *
 *     arguments   plain arrays of the host, numbers, texts, dtypes, slices, lists and tuples of these; others: not here
 *     lent        NumPy's array in the same memory, read-only unless the row says that the function writes to it, or
 *                 that it reads alone
 *     result      an array that was lent is the array itself; a view of one: not here, for memory may move later
 *     refused     what NumPy refuses goes on to the function of ours, which says why
 *
 * NumPy's arrays are made and read by its documented binary interface (its table of functions, PyArrayObject), which
 * numeric_lend_setup() tries on known elements first. Where it is another one, nothing is lent.
 */
#include "numeric.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Places in NumPy's table of functions, its version of the interface, flags of arrays. */
enum { NUMPY_VERSION_OF = 0, NUMPY_ARRAY_TYPE = 2, NUMPY_FROM = 69, NUMPY_NEW = 94, NUMPY_VERSION = 0x2000000 };
enum { NUMPY_ROWS = 1, NUMPY_COLUMNS = 2, NUMPY_WRITEABLE = 0x400 };

/* The first members of NumPy's PyArrayObject. */
typedef struct lend_array {
    PyObject_HEAD
    char *data;
    int rank;
    Py_intptr_t *shape, *strides;
    PyObject *base, *dtype;
    int flags;
} lend_array;
typedef PyObject *lend_new(PyTypeObject *type, PyObject *dtype, int rank, const Py_intptr_t *shape,
                           const Py_intptr_t *strides, void *data, int flags, PyObject *like);
typedef PyObject *lend_from(PyObject *object, PyObject *dtype, int least, int most, int flags, PyObject *context);

struct numeric_few_row {
    const char *name;
    int most, greatest; /* elements of an array; of an integer that says a size, 0: it says none */
    enum { LEND_COMPUTES, LEND_READS, LEND_MEETS, LEND_APART, LEND_PADS, LEND_SIZED, LEND_MOVES, LEND_WRITES,
           LEND_DRAWS, LEND_SHUFFLES } how;
};
static const numeric_few_row lend_rows[] = {
#define LEND(name, most, greatest, how) {name, most, greatest, LEND_##how},
#include "numeric_lend.def"
};

enum { LEND_ARRAYS = 16, LEND_ARGS = 16, LEND_ITEMS = 1024, LEND_DEPTH = 3, LEND_SIZES = 4096, LEND_COPIED = 1 << 15 };

/* One call: arrays and what stands for them, owned. */
typedef struct lend_call {
    core_state *state;
    const numeric_few_row *row;
    uint32_t n;
    bool is_view; /* the result is a view of one that was lent */
    bool places;  /* elements only move: they may be records, texts, dates, too */
    PyObject *ours[LEND_ARRAYS], *lent[LEND_ARRAYS];
    ts_buffer *buffers[LEND_ARRAYS];
} lend_call;

/* ---- NumPy's arrays ------------------------------------------------------------------------------ */

/* What NumPy's array is to be; all of it borrowed. */
typedef struct lend_form {
    PyObject *dtype;
    int rank, flags;
    const int64_t *shape, *strides;
    void *data;
} lend_form;

static PyObject *lend_make(const numeric_state *n, const lend_form *form)
{
    lend_new *make = (lend_new *)n->numpy_table[NUMPY_NEW];
    Py_INCREF(form->dtype); /* which the function takes */
    return make((PyTypeObject *)n->numpy_array, form->dtype, form->rank, form->shape, form->strides, form->data,
                form->flags, NULL);
}

/* What an array is at one time, for another thread, or what faults call, may give it another header: both are held
 * until they are released. */
typedef struct lend_held {
    ts_nd *array;
    ts_buffer *buffer;
    void *data;
    bool is_late; /* faults are still to be told of */
} lend_held;

static ts_status lend_hold(core_state *state, PyObject *array, lend_held *held, ts_error *err)
{
    *held = (lend_held){0};
    NUMERIC_BEGIN(state);
    ts_nd *a = ND(array);
    ts_status status = ts_nd_memory(a, false, &held->data, &held->buffer, err);
    if (status == TS_OK) {
        ts_nd_retain(held->array = a);
        if (held->buffer)
            ts_buffer_retain(held->buffer);
    }
    held->is_late = numeric_is_late(state, a->graph);
    NUMERIC_END(state);
    return status;
}

static void lend_let_go(core_state *state, lend_held *held, bool keeps_memory)
{
    NUMERIC_BEGIN(state);
    ts_nd_release(held->array);
    if (held->buffer && !keeps_memory)
        ts_buffer_release(held->buffer);
    NUMERIC_END(state);
}

/* NumPy's array in the memory of ours, which it keeps alive; *buffer: the memory, which stays until it is released even
 * where another thread gives the array other one. */
static PyObject *lend_memory(core_state *state, PyObject *array, bool writes, ts_buffer **buffer)
{
    ts_error err;
    lend_held held;
    ts_status status = lend_hold(state, array, &held, &err);
    if (status == TS_OK && held.is_late) {
        lend_let_go(state, &held, false);
        if (!numeric_data(array, false, false) && PyErr_Occurred()) /* tells of faults */
            return NULL;
        status = lend_hold(state, array, &held, &err);
    }
    if (status != TS_OK)
        return core_raise(state, &err);
    const ts_nd *a = held.array;
    bool opens = writes || (!a->count && !(a->flags & TS_ND_READONLY)); /* permutation writes to none in place */
    lend_form form = {numeric_dtype(state, a), a->rank, opens ? NUMPY_WRITEABLE : 0, ts_nd_shape(a), ts_nd_strides(a),
                      held.data ? held.data : state}; /* of no element: any address */
    PyObject *made = lend_make(state->numeric, &form);
    if (made)
        ((lend_array *)made)->base = Py_NewRef(array);
    *buffer = held.buffer;
    lend_let_go(state, &held, true);
    return made;
}

/* The library's dtype of an array of NumPy's; NONE: another one. */
static ts_dtype lend_dtype(const numeric_state *n, const PyObject *dtype)
{
    int d = TS_DTYPE_COUNT - 1;
    while (d && n->dtypes[d] != dtype)
        d--;
    return (ts_dtype)d;
}

static int64_t lend_count(const lend_array *a)
{
    int64_t count = 1;
    for (int d = 0; d < a->rank; d++)
        count *= a->shape[d];
    return count;
}

/* A new array with the elements of NumPy's, which lies in rows or in columns; NULL with exception. */
static PyObject *lend_copy(core_state *state, ts_nd_graph *graph, const lend_array *from, const numeric_form *form)
{
    ts_nd *made = numeric_empty_as(state, graph, form, !(from->flags & NUMPY_ROWS));
    size_t bytes = made ? (size_t)made->count * made->item : 0;
    ts_status status = TS_OK;
    ts_error err;
    void *data;
    if (!made)
        return NULL;
    if (bytes) {
        NUMERIC_BEGIN(state);
        status = ts_nd_memory(made, false, &data, NULL, &err);
        if (status != TS_OK)
            ts_nd_release(made);
        NUMERIC_END(state);
    }
    if (status != TS_OK)
        return core_raise(state, &err);
    if (bytes)
        memcpy(data, from->data, bytes);
    return numeric_wrap(state, made, NULL);
}

/* An array in the memory of NumPy's. */
static PyObject *lend_share(core_state *state, ts_nd_graph *graph, PyObject *owner, const numeric_form *form,
                            uint32_t flags)
{
    const lend_array *from = (const lend_array *)owner;
    int64_t low = 0, high = (int64_t)ts_dtype_bytes(form->dtype);
    for (uint32_t d = 0; d < form->rank; d++) {
        int64_t reach = (form->shape[d] - 1) * form->strides[d];
        low += Py_MIN(reach, 0);
        high += Py_MAX(reach, 0);
    }
    numeric_memory memory = {from->data + low, (uint64_t)(high - low), -low, owner};
    return numeric_in_memory(state, graph, &memory, form, flags | (from->flags & NUMPY_WRITEABLE ? 0 : TS_ND_READONLY));
}

/* NumPy's array as one of ours on the CPU: in its memory, or a copy of few elements where it is `private`, nobody
 * else's. NULL without exception: its class or dtype is another one, or it is empty. */
static PyObject *lend_adopt(core_state *state, PyObject *object, bool private)
{
    const numeric_state *n = state->numeric;
    const lend_array *from = (const lend_array *)object;
    if (!n->numpy_table || (PyObject *)Py_TYPE(object) != n->numpy_array || from->rank > TS_ND_RANK)
        return NULL;
    numeric_form form = {.dtype = lend_dtype(n, from->dtype), .rank = (uint32_t)from->rank};
    ts_nd_graph *graph = form.dtype ? numeric_host(state) : NULL;
    for (uint32_t d = 0; d < form.rank; d++) {
        form.shape[d] = from->shape[d];
        form.strides[d] = from->strides[d];
    }
    int64_t count = lend_count(from);
    if (!graph)
        return NULL;
    if (private && from->flags & (NUMPY_ROWS | NUMPY_COLUMNS) &&
        count <= LEND_COPIED / (int64_t)ts_dtype_bytes(form.dtype))
        return lend_copy(state, graph, from, &form);
    return count ? lend_share(state, graph, object, &form, private ? TS_ND_PRIVATE : 0) : NULL;
}

/* Few items that NumPy has made of an array's; NULL, perhaps without exception: they are numbers, or many. */
static PyObject *lend_given_items(core_state *state, const ts_nd *of, PyObject *object)
{
    const lend_array *from = (const lend_array *)object;
    numeric_form form = {.meaning = of->meaning, .rank = (uint32_t)from->rank};
    if (of->dtype || from->dtype != numeric_dtype(state, of) || from->rank > TS_ND_RANK ||
        !(from->flags & (NUMPY_ROWS | NUMPY_COLUMNS)) || lend_count(from) > LEND_COPIED / (int64_t)of->item)
        return NULL;
    for (uint32_t d = 0; d < form.rank; d++)
        form.shape[d] = from->shape[d];
    return lend_copy(state, of->graph, from, &form);
}

/* The same of what NumPy has made, of which it may keep a part. */
static PyObject *lend_given(core_state *state, PyObject *object)
{
    const lend_array *from = (const lend_array *)object;
    bool is_few = lend_count(from) <= LEND_COPIED / 16;
    PyObject *made = !from->base || is_few ? lend_adopt(state, object, true) : NULL;
    return made || PyErr_Occurred() ? made : PyObject_CallOneArg(state->numeric->give, object);
}

/* ---- arguments ----------------------------------------------------------------------------------- */

/* Whether kernels' arrays of this kind are NumPy's numbers, and few. */
static bool lend_may(const lend_call *c, PyObject *array)
{
    const numeric_state *n = c->state->numeric;
    const ts_nd *a = ND(array);
    bool is_number = a->dtype && n->dtypes[a->dtype] && *ts_dtype_get((ts_dtype)a->dtype)->format;
    bool is_known = c->places ? is_number || (!a->dtype && a->item) : is_number && !numeric_means(a);
    return Py_TYPE(array) == n->array_class && a->graph == n->graphs[0] && is_known && a->count <= c->row->most &&
           c->n < LEND_ARRAYS;
}

static PyObject *lend_own(lend_call *c, PyObject *array)
{
    bool writes = (c->row->how == LEND_WRITES || c->row->how == LEND_SHUFFLES) && !c->n;
    ts_nd_stats stats = {0};
    bool may_say = c->row->greatest && (c->n || c->row->how == LEND_SIZED || !ND(array)->rank);
    if (!lend_may(c, array) || (may_say && strchr("iu", ts_dtype_get((ts_dtype)ND(array)->dtype)->kind)))
        return NULL; /* an array of integers may say sizes */
    if (writes) /* what waits may read it */
        ts_nd_graph_stats(ND(array)->graph, &stats);
    if (writes && (stats.n_waiting || ND(array)->flags & TS_ND_READONLY))
        return NULL;
    ts_buffer *buffer = NULL;
    bool only_reads = c->row->how == LEND_READS || c->row->how == LEND_MEETS;
    bool is_apart = c->row->how == LEND_WRITES && !(ND(array)->flags & TS_ND_READONLY); /* NumPy looks for overlaps */
    PyObject *made = lend_memory(c->state, array, writes || only_reads || is_apart, &buffer);
    if (!made) {
        ts_buffer_release(buffer);
        return NULL;
    }
    c->buffers[c->n] = buffer;
    c->ours[c->n] = Py_NewRef(array);
    c->lent[c->n++] = Py_NewRef(made);
    return made;
}

/* Whether an array with so many elements before and behind it along each axis has too many. */
static bool lend_is_wide(const lend_call *c, long value)
{
    int64_t most = c->row->most + 2 * (int64_t)c->row->greatest, count = 1;
    for (uint32_t d = 0; c->n && d < ND(c->ours[0])->rank && count <= most; d++)
        count *= ts_nd_shape(ND(c->ours[0]))[d] + 2 * Py_MAX(value, 0);
    return !c->n || count > most;
}

/* Whether an integer says a size that makes a result of many elements. */
static bool lend_is_great(const lend_call *c, PyObject *number)
{
    int overflow;
    long value = PyLong_AsLongAndOverflow(number, &overflow);
    if (!c->row->greatest || overflow || value > c->row->greatest || value < -c->row->greatest)
        return c->row->greatest;
    if (c->row->how == LEND_PADS)
        return lend_is_wide(c, value);
    bool multiplies = value > 0 && c->n && c->row->how != LEND_APART; /* as repeat(x, value) */
    return multiplies && ND(c->ours[0])->count > LEND_COPIED / value;
}

/* Whether integers of a tuple or list, as of a shape, say together a size of more than LEND_SIZES. */
static bool lend_are_great(const lend_call *c, PyObject *list)
{
    long size = 1;
    for (Py_ssize_t i = 0; c->row->greatest && i < PySequence_Fast_GET_SIZE(list); i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(list, i);
        int overflow = 0;
        long value = PyLong_CheckExact(item) ? PyLong_AsLongAndOverflow(item, &overflow) : 1;
        if (overflow || value > LEND_SIZES || (value > 0 && (size *= value) > LEND_SIZES))
            return true;
    }
    return false;
}

static PyObject *lend_value(lend_call *c, PyObject *object, int depth);

/* Puts an item, whose reference it takes, into a new tuple or list; without one the list is given up. */
static void lend_put(PyObject **made, Py_ssize_t i, PyObject *item)
{
    if (!item)
        Py_CLEAR(*made);
    else if (PyTuple_CheckExact(*made))
        PyTuple_SET_ITEM(*made, i, item);
    else
        PyList_SET_ITEM(*made, i, item);
}

static PyObject *lend_items(lend_call *c, PyObject *list, int depth)
{
    Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
    if (!depth || n > LEND_ITEMS || lend_are_great(c, list))
        return NULL;
    PyObject *made = PyTuple_CheckExact(list) ? PyTuple_New(n) : PyList_New(n);
    for (Py_ssize_t i = 0; made && i < n; i++) {
        bool is_there = i < PySequence_Fast_GET_SIZE(list); /* other threads may empty a list while lend_own waits */
        PyObject *given = is_there ? Py_NewRef(PySequence_Fast_GET_ITEM(list, i)) : NULL;
        PyObject *item = given ? lend_value(c, given, depth - 1) : NULL;
        Py_XDECREF(given);
        lend_put(&made, i, item);
    }
    return made;
}

static bool lend_is_bound(PyObject *bound)
{
    return bound == Py_None || PyLong_CheckExact(bound);
}

static bool lend_is_slice(PyObject *object)
{
    const PySliceObject *slice = (const PySliceObject *)object;
    return PySlice_Check(object) && lend_is_bound(slice->start) && lend_is_bound(slice->stop) &&
           lend_is_bound(slice->step);
}

/* What NumPy is given for an argument, a new reference; NULL, perhaps without exception: it is none of these. */
static PyObject *lend_value(lend_call *c, PyObject *object, int depth)
{
    const numeric_state *n = c->state->numeric;
    if (numeric_is_array(c->state, object))
        return lend_own(c, object);
    if (PyLong_CheckExact(object))
        return lend_is_great(c, object) ? NULL : Py_NewRef(object);
    if (PyFloat_CheckExact(object) && c->row->how == LEND_SIZED)
        return NULL;
    if (object == Py_None || PyFloat_CheckExact(object) || PyUnicode_CheckExact(object) || PyBool_Check(object) ||
        PyComplex_CheckExact(object) || PyType_Check(object) || object == Py_Ellipsis || lend_is_slice(object))
        return Py_NewRef(object);
    if (PyTuple_CheckExact(object) || PyList_CheckExact(object))
        return lend_items(c, object, depth);
    if (PyObject_TypeCheck(object, (PyTypeObject *)n->numpy_generic) && !c->row->greatest)
        return Py_NewRef(object);
    return PyObject_TypeCheck(object, (PyTypeObject *)n->numpy_dtype) ? Py_NewRef(object) : NULL;
}

/* An element function of ours as NumPy's, the first argument of its methods. */
static PyObject *lend_function(core_state *state, PyObject *function)
{
    bool is_ours = PyObject_TypeCheck(function, state->numeric->function_type) ||
                   strcmp(Py_TYPE(function)->tp_name, "Composed") == 0; /* _parts.py */
    PyObject *name = is_ours ? PyObject_GetAttrString(function, "__name__") : NULL;
    PyObject *theirs = name ? PyObject_GetAttr(state->numeric->numpy, name) : NULL;
    Py_XDECREF(name);
    return theirs;
}

/* ---- results ------------------------------------------------------------------------------------- */

static PyObject *lend_result(lend_call *c, PyObject *made);

/* Where a list has item i before, an array; i: nowhere. */
static Py_ssize_t lend_before(const lend_call *c, PyObject *list, Py_ssize_t i)
{
    PyObject *const *items = PySequence_Fast_ITEMS(list);
    Py_ssize_t k = (PyObject *)Py_TYPE(items[i]) == c->state->numeric->numpy_array ? 0 : i;
    while (k < i && items[k] != items[i])
        k++;
    return k;
}

static PyObject *lend_results(lend_call *c, PyObject *list)
{
    bool is_tuple = PyTuple_Check(list);
    PyObject *made = is_tuple ? PyTuple_New(Py_SIZE(list)) : PyList_New(Py_SIZE(list));
    for (Py_ssize_t i = 0; made && i < Py_SIZE(made); i++) {
        Py_ssize_t k = lend_before(c, list, i);
        PyObject *item = k < i ? Py_NewRef(PySequence_Fast_GET_ITEM(made, k))
                               : lend_result(c, PySequence_Fast_GET_ITEM(list, i));
        lend_put(&made, i, item);
    }
    if (made && is_tuple && !PyTuple_CheckExact(list)) /* one with names */
        Py_SETREF(made, PyObject_CallObject((PyObject *)Py_TYPE(list), made));
    return made;
}

/* Arrays for NumPy's, a new reference; NULL, perhaps without exception, where one is a view of what was lent. */
static PyObject *lend_result(lend_call *c, PyObject *made)
{
    const PyObject *numpy_array = c->state->numeric->numpy_array;
    for (uint32_t i = 0; i < c->n; i++)
        if (made == c->lent[i])
            return Py_NewRef(c->ours[i]);
    if (PyTuple_Check(made) || PyList_CheckExact(made))
        return lend_results(c, made);
    if ((PyObject *)Py_TYPE(made) != numpy_array)
        return Py_NewRef(made);
    for (const PyObject *base = made; base && (PyObject *)Py_TYPE(base) == numpy_array;
         base = ((const lend_array *)base)->base)
        for (uint32_t i = 0; i < c->n; i++)
            c->is_view |= base == c->lent[i];
    if (c->is_view && c->row->how < LEND_DRAWS)
        return NULL;
    PyObject *items = c->places ? lend_given_items(c->state, ND(c->ours[0]), made) : NULL;
    return items || PyErr_Occurred() ? items : lend_given(c->state, made);
}

/* ---- calls --------------------------------------------------------------------------------------- */

/* One more call of a name, for host_calls(). */
static int lend_counted(core_state *state, PyObject *name)
{
    PyObject *calls = state->numeric->host_calls, *before = PyDict_GetItemWithError(calls, name);
    long long n = before ? PyLong_AsLongLong(before) : 0;
    PyObject *now = PyErr_Occurred() ? NULL : PyLong_FromLongLong(n + 1);
    int done = now ? PyDict_SetItem(calls, name, now) : -1;
    Py_XDECREF(now);
    return done;
}

/* Whether the exception is a fault or a warning, which the program wanted as one. */
static bool lend_is_wanted(void)
{
    return PyErr_ExceptionMatches(PyExc_Warning) || PyErr_ExceptionMatches(PyExc_FloatingPointError);
}

/* Whether a call is not made once more where it failed: it may have written, or drawn. */
static bool lend_stays(const lend_call *c)
{
    return c->row->how >= LEND_WRITES || lend_is_wanted();
}

/* Extents of the labels of an einsum's text, of which "ij,jk->ik" has three; false: it has others than letters, or does
 * not fit the operands. */
static bool lend_labels(core_state *state, PyObject *const *args, Py_ssize_t n, int64_t extents['z' + 1])
{
    Py_ssize_t size, i = 1;
    const char *text = PyUnicode_Check(args[0]) ? PyUnicode_AsUTF8AndSize(args[0], &size) : NULL;
    uint32_t d = 0;
    if (!text)
        PyErr_Clear(); /* it has halves of characters; NumPy says what is wrong */
    for (; text && *text && *text != '-'; text++) {
        if (*text == ' ') /* which NumPy passes over */
            continue;
        if (*text == ',') {
            i++;
            d = 0;
            continue;
        }
        bool is_letter = (unsigned)((*text | 32) - 'a') < 26;
        if (!is_letter || i >= n || !numeric_is_array(state, args[i]) || d >= ND(args[i])->rank)
            return false;
        int64_t extent = ts_nd_shape(ND(args[i]))[d++];
        if (extent > extents[(int)*text])
            extents[(int)*text] = extent;
    }
    return text && i + 1 == n;
}

/* Whether the products of a call's elements are few, but some: of one for each combination of the labels of einsum; of
 * elements that all meet all others. NumPy's einsum reads arrays of no element by their strides. */
static bool lend_meet_few(const lend_call *c, PyObject *const *args, Py_ssize_t n)
{
    int64_t extents['z' + 1];
    double products = 1;
    for (size_t i = 0; i <= 'z'; i++)
        extents[i] = 1;
    if (lend_labels(c->state, args, n, extents))
        for (size_t i = 0; i <= 'z'; i++)
            products *= (double)extents[i];
    else
        for (Py_ssize_t i = 0; i < n; i++)
            products *= numeric_is_array(c->state, args[i]) ? (double)ND(args[i])->count : 1;
    for (Py_ssize_t i = 0; i < n; i++)
        products *= !numeric_is_array(c->state, args[i]) || ND(args[i])->count;
    return products && products <= c->row->most;
}

/* Calls NumPy's function with what stands for the arguments. */
static PyObject *lend_run(lend_call *c, const numeric_few *few, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    Py_ssize_t all = n + (names ? PyTuple_GET_SIZE(names) : 0), i = 0;
    PyObject *given[LEND_ARGS], *result = NULL;
    if (c->row->how == LEND_MEETS && !lend_meet_few(c, args, n))
        return NULL;
    for (; i < all; i++) {
        given[i] = !i && few->of_functions ? lend_function(c->state, args[0]) : lend_value(c, args[i], LEND_DEPTH);
        if (!given[i])
            break;
    }
    bool in_host = i == all && (c->n || numeric_graph(c->state) == c->state->numeric->graphs[0]);
    PyObject *made = in_host && !PyErr_Occurred() ? PyObject_Vectorcall(few->theirs, given, (size_t)n, names) : NULL;
    if (made)
        result = lend_result(c, made);
    if (result && c->row->how != LEND_MOVES && lend_counted(c->state, few->name) < 0)
        Py_CLEAR(result);
    Py_XDECREF(made);
    while (i-- > 0)
        Py_DECREF(given[i]);
    if (!result && !(in_host && lend_stays(c)) && PyErr_ExceptionMatches(PyExc_Exception))
        PyErr_Clear(); /* ours says it */
    return result;
}

static void lend_end(lend_call *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        Py_DECREF(c->lent[i]);
    NUMERIC_BEGIN(c->state);
    for (uint32_t i = 0; i < c->n; i++)
        ts_buffer_release(c->buffers[i]);
    NUMERIC_END(c->state);
    for (uint32_t i = 0; i < c->n; i++)
        Py_DECREF(c->ours[i]);
}

/* numeric_draw(function, name, shuffles, ..): a method of a stream of NumPy's, with the other arguments; it gives
 * NotImplemented, and was not called, where these are none that are lent. */
static PyObject *lend_draw(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static const numeric_few_row rows[] = {{"draw", INT_MAX, 0, LEND_DRAWS}, {"shuffle", INT_MAX, 0, LEND_SHUFFLES}};
    core_state *state = PyModule_GetState(module);
    Py_ssize_t all = n + (names ? PyTuple_GET_SIZE(names) : 0);
    if (n < 3 || !PyUnicode_Check(args[1]))
        return PyErr_Format(PyExc_TypeError, "numeric_draw takes a function, a name and a truth");
    if (!state->numeric->numpy_table || state->numeric->lends_none || CORE_GET(state->numeric->doctor) ||
        all - 3 > LEND_ARGS)
        Py_RETURN_NOTIMPLEMENTED;
    lend_call c = {.state = state, .row = &rows[args[2] == Py_True]};
    numeric_few few = {.theirs = args[0], .name = args[1]};
    PyObject *made = lend_run(&c, &few, args + 3, n - 3, names);
    lend_end(&c);
    return made || PyErr_Occurred() ? made : Py_NewRef(Py_NotImplemented);
}

/* The row and NumPy's function of a routine: "name", "linalg.name", "ndarray.name" of methods, "ufunc.name". */
static const numeric_few_row *lend_find(const char *name)
{
    for (size_t i = 0; i < sizeof lend_rows / sizeof *lend_rows; i++)
        if (strcmp(lend_rows[i].name, name) == 0)
            return &lend_rows[i];
    return NULL;
}

/* The name of a routine in the table; functions of elements that are made of others are as those that are not. */
static PyObject *lend_name(const core_state *state, const numeric_few *few)
{
    static const char package[] = "tessera.numeric.", composed[] = "Composed.";
    PyObject *name = PyObject_GetAttrString(few->function, "__name__"), *full = NULL;
    PyObject *method = name ? PyObject_GetAttr((PyObject *)state->numeric->array_class, name) : NULL;
    PyErr_Clear();
    const char *text = PyUnicode_AsUTF8(few->module);
    if (name && method == few->routine)
        full = PyUnicode_FromFormat("ndarray.%U", name);
    else if (name && text && strncmp(text, package, sizeof package - 1) == 0)
        full = PyUnicode_FromFormat("%s.%U", text + sizeof package - 1, name);
    else if (name && (full = PyObject_GetAttrString(few->function, "__qualname__")) && PyUnicode_Check(full) &&
             strncmp(PyUnicode_AsUTF8(full), composed, sizeof composed - 1) == 0)
        Py_SETREF(full, PyUnicode_FromFormat("ufunc.%U", name));
    Py_XDECREF(name);
    Py_XDECREF(method);
    return full;
}

/* NumPy's function of a name with points: where it asks the classes of arrays first, what it calls then. */
static PyObject *lend_theirs(const core_state *state, PyObject *name)
{
    PyObject *theirs = Py_NewRef(state->numeric->numpy), *parts = PyObject_CallMethod(name, "split", "s", ".");
    for (Py_ssize_t i = 0; parts && theirs && i < PyList_GET_SIZE(parts); i++)
        Py_SETREF(theirs, PyObject_GetAttr(theirs, PyList_GET_ITEM(parts, i)));
    Py_XDECREF(parts);
    PyObject *inner = theirs ? PyObject_GetAttrString(theirs, "_implementation") : NULL;
    if (inner)
        Py_SETREF(theirs, inner);
    return theirs;
}

static void lend_look(core_state *state, numeric_few *few)
{
    few->name = lend_name(state, few);
    const char *text = few->name ? PyUnicode_AsUTF8(few->name) : NULL;
    const numeric_few_row *row = text ? lend_find(text) : NULL;
    few->theirs = row ? lend_theirs(state, few->name) : NULL;
    few->of_functions = text && strncmp(text, "ufunc.", 6) == 0;
    few->row = few->theirs ? row : NULL;
    few->is_known = true;
    PyErr_Clear();
}

PyObject *numeric_few_call(core_state *state, numeric_few *few, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static const char *const left[] = {"out", "device", "like"};
    const numeric_state *all = state->numeric;
    if (!all->numpy_table || all->lends_none || CORE_GET(all->doctor) || !n)
        return NULL;
    if (!few->is_known && few->function)
        lend_look(state, few);
    if (!few->row || n + (names ? PyTuple_GET_SIZE(names) : 0) > LEND_ARGS)
        return NULL;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        for (size_t k = 0; k < sizeof left / sizeof *left; k++)
            if (PyUnicode_CompareWithASCIIString(name, left[k]) == 0)
                return NULL;
    }
    lend_call c = {.state = state, .row = few->row};
    PyObject *result = lend_run(&c, few, args, n, names);
    lend_end(&c);
    return result;
}

/* ---- indices ------------------------------------------------------------------------------------- */

/* What a key may name: more places take more time of NumPy's than of ours. */
enum { LEND_PLACES = 1 << 12, LEND_NAMED = 1 << 16 };

/* NumPy's array, or NULL: another object. */
static const lend_array *lend_is(const lend_call *c, PyObject *object)
{
    return (PyObject *)Py_TYPE(object) == c->state->numeric->numpy_array ? (const lend_array *)object : NULL;
}

/* NumPy's array of integers or truths, which is taken, if it is one; an empty list is its own array of places. */
static PyObject *lend_places(const lend_call *c, PyObject *made, PyObject *list)
{
    const lend_array *a = made ? lend_is(c, made) : NULL;
    ts_dtype dtype = a ? lend_dtype(c->state->numeric, a->dtype) : TS_DTYPE_NONE;
    if (a && list && !lend_count(a))
        Py_SETREF(made, Py_NewRef(list));
    else if (!dtype || !strchr("iub", ts_dtype_get(dtype)->kind) || a->rank > TS_ND_RANK ||
             lend_count(a) > LEND_PLACES)
        Py_CLEAR(made);
    return made;
}

/* An item of a key for NumPy, a new reference; NULL, perhaps with exception: it is another kind. */
static PyObject *lend_item(lend_call *c, PyObject *item)
{
    const numeric_state *n = c->state->numeric;
    if (numeric_is_array(c->state, item))
        return lend_places(c, lend_own(c, item), NULL);
    if (lend_is(c, item))
        return lend_places(c, Py_NewRef(item), NULL);
    if (PyList_CheckExact(item) || PyTuple_CheckExact(item))
        return lend_places(c, ((lend_from *)n->numpy_table[NUMPY_FROM])(item, NULL, 0, 0, 0, NULL), item);
    bool is_kept = lend_is_slice(item) || item == Py_None || item == Py_Ellipsis || PyLong_CheckExact(item) ||
                   PyBool_Check(item) || PyObject_TypeCheck(item, (PyTypeObject *)n->integer_type);
    return is_kept ? Py_NewRef(item) : NULL;
}

/* What a key names: at most so many elements at each place, and the shape of its arrays, whose last axis is [0]. */
typedef struct lend_named {
    uint32_t axis;
    double count;
    int64_t shape[TS_ND_RANK];
} lend_named;

static void lend_whole(lend_named *named, const ts_nd *a, uint32_t n)
{
    while (n--)
        named->count *= (double)ts_nd_shape(a)[named->axis++];
}

/* Axes of an array that an item of a key stands for. */
static uint32_t lend_axes(const lend_call *c, PyObject *item)
{
    const lend_array *a = lend_is(c, item);
    bool is_mask = a && a->dtype == c->state->numeric->dtypes[TS_DTYPE_bool_];
    return is_mask ? (uint32_t)a->rank : item != Py_None && item != Py_Ellipsis && !PyBool_Check(item);
}

static void lend_name_places(const lend_call *c, lend_named *named, const lend_array *a)
{
    bool is_mask = a->dtype == c->state->numeric->dtypes[TS_DTYPE_bool_];
    for (int d = 0; d < a->rank && !is_mask; d++)
        named->shape[d] = Py_MAX(named->shape[d], a->shape[a->rank - 1 - d]);
    if (is_mask)
        named->shape[0] = Py_MAX(named->shape[0], lend_count(a));
}

/* Whether a key of such items fits an array and names few places and elements. */
static bool lend_is_few(const lend_call *c, const ts_nd *a, PyObject *const *items, Py_ssize_t n)
{
    lend_named named = {.count = 1};
    uint32_t used = 0, dots = 0;
    Py_ssize_t start, stop, step;
    for (uint32_t d = 0; d < TS_ND_RANK; d++)
        named.shape[d] = 1;
    for (Py_ssize_t i = 0; i < n; i++) {
        used += lend_axes(c, items[i]);
        dots += items[i] == Py_Ellipsis;
    }
    if (used > a->rank || dots > 1)
        return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        const lend_array *places = lend_is(c, items[i]);
        if (places)
            lend_name_places(c, &named, places);
        else if (items[i] == Py_Ellipsis)
            lend_whole(&named, a, a->rank - used);
        else if (PySlice_Check(items[i]) && PySlice_Unpack(items[i], &start, &stop, &step) == 0)
            named.count *= (double)PySlice_AdjustIndices(ts_nd_shape(a)[named.axis], &start, &stop, step);
        named.axis += lend_axes(c, items[i]);
    }
    lend_whole(&named, a, a->rank - named.axis);
    double places = 1;
    for (uint32_t d = 0; d < TS_ND_RANK; d++)
        places *= (double)named.shape[d];
    return places <= LEND_PLACES && places * named.count <= LEND_NAMED;
}

/* A key for NumPy, a new reference; NULL, perhaps with exception: it is another kind, or it names many elements. */
static PyObject *lend_key(lend_call *c, const ts_nd *a, PyObject *key)
{
    if (!PyTuple_CheckExact(key)) {
        PyObject *item = lend_item(c, key);
        if (item && !lend_is_few(c, a, &item, 1))
            Py_CLEAR(item);
        return item;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(key);
    PyObject *made = PyTuple_New(n);
    for (Py_ssize_t i = 0; made && i < n; i++)
        lend_put(&made, i, lend_item(c, PyTuple_GET_ITEM(key, i)));
    if (made && !lend_is_few(c, a, &PyTuple_GET_ITEM(made, 0), n))
        Py_CLEAR(made);
    return made;
}

/* What is written to elements, for NumPy; NULL, perhaps with exception: it is another kind, or many elements. */
static PyObject *lend_written(lend_call *c, PyObject *value)
{
    const lend_array *a = lend_is(c, value);
    ts_dtype dtype;
    uint16_t meaning;
    if (!a)
        return lend_value(c, value, LEND_DEPTH);
    bool is_held = lend_count(a) <= LEND_NAMED &&
                   (lend_dtype(c->state->numeric, a->dtype) ||
                    numeric_type_of(c->state, a->dtype, &dtype, &meaning) == 0);
    return is_held ? Py_NewRef(value) : NULL;
}

/* Whether NumPy may have the memory of an array of any size: it is there, or computed for few elements. */
static bool lend_is_there(core_state *state, PyObject *array)
{
    if (Py_TYPE(array) != state->numeric->array_class)
        return false;
    NUMERIC_BEGIN(state);
    bool is_there = ND(array)->count <= LEND_NAMED || !ts_nd_waits(ND(array));
    NUMERIC_END(state);
    return is_there;
}

/* The element or array, or None where a value is written; NULL: it is none of these, or with exception. *called:
 * NumPy was asked. */
static PyObject *lend_indexed(lend_call *c, PyObject *array, PyObject *key, PyObject *value, bool *called)
{
    static const numeric_few_row few[] = {{"__getitem__", LEND_NAMED, 0, LEND_COMPUTES},
                                          {"__setitem__", LEND_NAMED, 0, LEND_WRITES}};
    PyObject *result = NULL, *made = NULL, *lent = lend_own(c, array);
    c->row = &few[!!value];
    PyObject *place = lent ? lend_key(c, ND(array), key) : NULL;
    PyObject *given = place && value ? lend_written(c, value) : NULL;
    *called = place && (given || !value) && !PyErr_Occurred();
    if (*called && value)
        result = PyObject_SetItem(lent, place, given) < 0 ? NULL : Py_NewRef(Py_None);
    else if (*called && (made = PyObject_GetItem(lent, place)) && (ND(array)->dtype || lend_is(c, made)))
        result = lend_result(c, made); /* NumPy's single records are views */
    Py_XDECREF(made);
    Py_XDECREF(given);
    Py_XDECREF(place);
    Py_XDECREF(lent);
    return result;
}

PyObject *numeric_few_indexed(core_state *state, PyObject *array, PyObject *key, PyObject *value)
{
    static const numeric_few_row all[] = {{"__getitem__", INT_MAX, 0, LEND_COMPUTES},
                                          {"__setitem__", INT_MAX, 0, LEND_WRITES}};
    const numeric_state *n = state->numeric;
    if (!n->numpy_table || n->lends_none || CORE_GET(n->doctor) || !lend_is_there(state, array))
        return NULL;
    lend_call c = {.state = state, .row = &all[!!value], .places = true};
    bool called;
    PyObject *result = lend_indexed(&c, array, key, value, &called);
    PyObject *name = result ? PyUnicode_InternFromString(value ? "ndarray.__setitem__" : "ndarray.__getitem__") : NULL;
    if (result && (!name || lend_counted(state, name) < 0))
        Py_CLEAR(result);
    else if (!result && !(called ? lend_stays(&c) : lend_is_wanted()) && PyErr_ExceptionMatches(PyExc_Exception))
        PyErr_Clear(); /* ours says it */
    Py_XDECREF(name);
    lend_end(&c);
    return result;
}

/* ---- setup --------------------------------------------------------------------------------------- */

/* Whether an array that is made of known elements is what the interface says. */
static bool lend_tries(const numeric_state *n)
{
    static const int64_t shape[] = {2, 3}, strides[] = {24, 8};
    double data[6] = {1, 2, 3, 4, 5, 6};
    lend_form form = {n->dtypes[TS_DTYPE_float64], 2, 0, shape, strides, data};
    PyObject *made = lend_make(n, &form);
    const lend_array *a = (const lend_array *)made;
    bool is_read = made && (PyObject *)Py_TYPE(made) == n->numpy_array && a->data == (char *)data && a->rank == 2 &&
                   memcmp(a->shape, shape, sizeof shape) == 0 && memcmp(a->strides, strides, sizeof strides) == 0 &&
                   !a->base && a->dtype == n->dtypes[TS_DTYPE_float64] && a->flags & NUMPY_ROWS &&
                   !(a->flags & (NUMPY_COLUMNS | NUMPY_WRITEABLE));
    PyErr_Clear();
    Py_XDECREF(made);
    return is_read;
}

/* TESSERA_LEND; -1 with exception. */
static int lend_wish(numeric_state *n)
{
    const char *wish = getenv("TESSERA_LEND");
    n->lends_none = wish && strcmp(wish, "0") == 0;
    if (!wish || !*wish || n->lends_none || strcmp(wish, "1") == 0)
        return 0;
    PyErr_Format(PyExc_ValueError, "TESSERA_LEND=%.100s: it takes 1 (calls on few elements may be NumPy's) or 0", wish);
    return -1;
}

int numeric_lend_setup(core_state *state)
{
    numeric_state *n = state->numeric;
    PyObject *module = n->numpy ? PyImport_ImportModule("numpy._core._multiarray_umath") : NULL;
    PyObject *capsule = module ? PyObject_GetAttrString(module, "_ARRAY_API") : NULL;
    void **table = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    n->numpy_table = table;
    if (!table || ((unsigned (*)(void))table[NUMPY_VERSION_OF])() >> 24 != NUMPY_VERSION >> 24 ||
        table[NUMPY_ARRAY_TYPE] != n->numpy_array || !n->numpy_generic || !n->numpy_dtype || !n->host_calls ||
        !n->give || !lend_tries(n))
        n->numpy_table = NULL;
    PyErr_Clear();
    Py_XDECREF(capsule);
    Py_XDECREF(module);
    return lend_wish(n);
}

/* numeric_lends(whether): whether NumPy computes calls on few elements; gives what was before. */
static PyObject *lend_switch(PyObject *module, PyObject *value)
{
    numeric_state *n = ((core_state *)PyModule_GetState(module))->numeric;
    bool before = !n->lends_none;
    int now = PyObject_IsTrue(value);
    if (now < 0)
        return NULL;
    n->lends_none = !now;
    return PyBool_FromLong(before);
}

/* numeric_of_numpy(array, private): an array on the CPU, or None (lend_adopt). */
static PyObject *lend_of_numpy(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n != 2)
        return PyErr_Format(PyExc_TypeError, "numeric_of_numpy takes 2 arguments, not %zd", n);
    int private = PyObject_IsTrue(args[1]);
    PyObject *made = private < 0 ? NULL : lend_adopt(PyModule_GetState(module), args[0], private);
    return made || PyErr_Occurred() ? made : Py_NewRef(Py_None);
}

static PyMethodDef lend_functions[] = {
    {"numeric_lends", lend_switch, METH_O,
     "numeric_lends(whether, /)\n--\n\nWhether NumPy computes calls on few elements."},
    {"numeric_draw", (PyCFunction)(void (*)(void))lend_draw, METH_FASTCALL | METH_KEYWORDS,
     "numeric_draw(function, name, shuffles, /, *args, **options)\n--\n\nNumbers of a stream of NumPy's."},
    {"numeric_of_numpy", (PyCFunction)(void (*)(void))lend_of_numpy, METH_FASTCALL,
     "numeric_of_numpy(array, private, /)\n--\n\nNumPy's array as ours, or None."},
    {NULL, NULL, 0, NULL},
};

int numeric_lend_init(PyObject *module)
{
    return PyModule_AddFunctions(module, lend_functions);
}
