/* SPDX-License-Identifier: Apache-2.0
 *
 * Basic indexing: integers, slices, ... and None give views, all integers an element. Every other index goes to
 * loops here, on few elements to NumPy (numeric_lend.c), else to the Python half (tessera/numeric/_index.py).
 */
#include "numeric.h"
#include <string.h>

typedef struct index_view {
    const ts_nd *a;
    uint32_t axis, rank; /* next axis of the array; axes so far */
    int64_t offset, shape[TS_ND_RANK], strides[TS_ND_RANK];
} index_view;

/* An int of Python or NumPy: no bool, no array. */
static bool index_is_int(core_state *state, PyObject *item)
{
    if (PyLong_Check(item))
        return !PyBool_Check(item);
    return PyObject_TypeCheck(item, (PyTypeObject *)state->numeric->integer_type);
}

static bool index_is_basic(core_state *state, PyObject *item)
{
    return item == Py_None || item == Py_Ellipsis || PySlice_Check(item) || index_is_int(state, item);
}

static int index_int(index_view *v, PyObject *item)
{
    int64_t extent = ts_nd_shape(v->a)[v->axis], i = PyNumber_AsSsize_t(item, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred())
        return -1;
    if (i < -extent || i >= extent) {
        PyErr_Format(PyExc_IndexError, "index %lld is out of bounds for axis %u with size %lld", (long long)i, v->axis,
                     (long long)extent);
        return -1;
    }
    v->offset += (i < 0 ? i + extent : i) * ts_nd_strides(v->a)[v->axis++];
    return 0;
}

/* A bound that is an int of Python itself, or None for `none`; false: another kind, or beyond int64. */
static bool index_bound(PyObject *item, Py_ssize_t none, Py_ssize_t *out)
{
    int overflow = 0;
    *out = none;
    if (item == Py_None)
        return true;
    if (!PyLong_CheckExact(item))
        return false;
    *out = (Py_ssize_t)PyLong_AsLongLongAndOverflow(item, &overflow);
    return !overflow;
}

/* What start:stop names of so many elements; false: it is for Python to read. */
static bool index_range(PyObject *item, int64_t extent, Py_ssize_t *start, int64_t *n)
{
    const PySliceObject *slice = (PySliceObject *)item;
    Py_ssize_t stop;
    if (slice->step != Py_None || !index_bound(slice->start, 0, start) || !index_bound(slice->stop, extent, &stop))
        return false;
    *start += *start < 0 ? extent : 0;
    stop += stop < 0 ? extent : 0;
    *start = Py_MIN(Py_MAX(*start, 0), extent);
    *n = Py_MAX(Py_MIN(stop, extent) - *start, 0);
    return true;
}

static int index_slice(index_view *v, PyObject *item)
{
    Py_ssize_t start, stop, step = 1;
    int64_t extent = ts_nd_shape(v->a)[v->axis], stride = ts_nd_strides(v->a)[v->axis], n;
    if (!index_range(item, extent, &start, &n)) {
        if (PySlice_Unpack(item, &start, &stop, &step) < 0)
            return -1;
        n = PySlice_AdjustIndices(extent, &start, &stop, step);
    }
    v->offset += n ? start * stride : 0;
    v->shape[v->rank] = n;
    v->strides[v->rank++] = stride * step;
    v->axis++;
    return 0;
}

static void index_whole(index_view *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, v->axis++) {
        v->shape[v->rank] = ts_nd_shape(v->a)[v->axis];
        v->strides[v->rank++] = ts_nd_strides(v->a)[v->axis];
    }
}

static int index_item(index_view *v, PyObject *item, uint32_t skip)
{
    if (item == Py_None) {
        v->shape[v->rank] = 1;
        v->strides[v->rank++] = 0;
        return 0;
    }
    if (item == Py_Ellipsis) {
        index_whole(v, skip);
        return 0;
    }
    return PySlice_Check(item) ? index_slice(v, item) : index_int(v, item);
}

/* Whether the key is basic and fits: 1 with the view; 0: it is another kind; -1 with exception. *picks: no slices, ...
 * or None, so that the result is an element. */
static int index_read(core_state *state, const ts_nd *a, PyObject *key, index_view *v, bool *picks)
{
    PyObject *const *items = PyTuple_Check(key) ? &PyTuple_GET_ITEM(key, 0) : &key;
    Py_ssize_t n = PyTuple_Check(key) ? PyTuple_GET_SIZE(key) : 1;
    uint32_t used = 0, dots = 0, news = 0;
    v->a = a; /* shape and strides are filled as far as there are axes */
    v->axis = v->rank = 0;
    v->offset = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!index_is_basic(state, items[i]))
            return 0;
        dots += items[i] == Py_Ellipsis;
        news += items[i] == Py_None;
    }
    used = (uint32_t)n - dots - news;
    if (dots > 1 || used > a->rank || a->rank + news > TS_ND_RANK) {
        if (dots > 1)
            PyErr_SetString(PyExc_IndexError, "an index can only have a single ellipsis ('...')");
        else
            PyErr_Format(PyExc_IndexError, "too many indices for array: array is %d-dimensional, but %u were indexed",
                         a->rank, used);
        return -1;
    }
    *picks = used == a->rank && !dots && !news;
    for (Py_ssize_t i = 0; i < n; i++) {
        *picks = *picks && !PySlice_Check(items[i]);
        if (index_item(v, items[i], a->rank - used) < 0)
            return -1;
    }
    index_whole(v, a->rank - v->axis);
    return 1;
}

static ts_nd *index_make(core_state *state, const index_view *v)
{
    ts_nd *out;
    ts_error err;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_view(v->a, v->offset, (ts_dtype)v->a->dtype, v->rank, v->shape, v->strides, v->a->flags,
                                  &out, &err);
    NUMERIC_END(state);
    if (status == TS_OK)
        return out;
    core_raise(state, &err);
    return NULL;
}

/* The header of an array, held: an index may run code of Python, which gives the array another (numeric_become). */
static ts_nd *index_hold(core_state *state, PyObject *array)
{
    NUMERIC_BEGIN(state);
    ts_nd *nd = ND(array);
    ts_nd_retain(nd);
    NUMERIC_END(state);
    return nd;
}

static void index_drop(core_state *state, ts_nd *nd)
{
    NUMERIC_BEGIN(state);
    ts_nd_release(nd);
    NUMERIC_END(state);
}

/* Whether an array went to the part that a key named, without a view of it: 1; 0; -1 with exception. */
static int index_fill(core_state *state, ts_nd *a, const index_view *v, PyObject *value)
{
    ts_nd_part part = {v->offset, v->rank, v->shape, v->strides};
    bool done;
    ts_error err;
    if (!value || !numeric_is_array(state, value))
        return 0;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_fill(a, &part, ND(value), &done, &err);
    NUMERIC_END(state);
    if (status == TS_OK)
        return done;
    core_raise(state, &err);
    return -1;
}

/* The view that a key names, a new reference; *got as index_read, and -1 where the view fails. With a value (not NULL)
 * the view may be none, and *got 2: the value has gone to its elements. */
static ts_nd *index_view_of(core_state *state, PyObject *self, PyObject *key, PyObject *value, int *got, bool *picks)
{
    index_view v;
    ts_nd *a = index_hold(state, self), *view = NULL;
    *got = index_read(state, a, key, &v, picks);
    int filled = *got > 0 && !*picks ? index_fill(state, a, &v, value) : 0;
    if (filled)
        *got = filled < 0 ? -1 : 2;
    else if (*got > 0 && !(view = index_make(state, &v)))
        *got = -1;
    index_drop(state, a);
    return view;
}

/* Whether the key is a mask for all elements. */
static bool index_is_mask(core_state *state, const ts_nd *a, PyObject *key)
{
    return numeric_is_array(state, key) && ND(key)->dtype == TS_DTYPE_bool_ && a->dtype && a->rank &&
           ND(key)->rank == a->rank &&
           memcmp(ts_nd_shape(a), ts_nd_shape(ND(key)), a->rank * sizeof(int64_t)) == 0;
}

static PyObject *index_masked(core_state *state, PyObject *self, ts_nd *mask)
{
    ts_nd *result;
    ts_error err;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_compress(ND(self), mask, &result, &err);
    NUMERIC_END(state);
    return status == TS_OK ? numeric_wrap_like(state, result, NULL, self) : core_raise(state, &err);
}

/* An int of Python itself, or NumPy's int64; false: another kind, or beyond that. */
static bool index_number(const numeric_state *n, PyObject *item, int64_t *out)
{
    int overflow = 0;
    if (PyLong_CheckExact(item)) {
        *out = PyLong_AsLongLongAndOverflow(item, &overflow);
        return !overflow;
    }
    if ((PyObject *)Py_TYPE(item) != n->scalar_types[TS_DTYPE_int64] || !(n->plain_scalars >> TS_DTYPE_int64 & 1))
        return false;
    memcpy(out, (const char *)item + sizeof(PyObject), sizeof *out);
    return true;
}

/* Where the element lies that such ints name, bytes; false: it is another kind of key, or out of range. */
static bool index_picks(const numeric_state *state, const ts_nd *a, PyObject *key, int64_t *offset)
{
    PyObject *const *items = PyTuple_CheckExact(key) ? &PyTuple_GET_ITEM(key, 0) : &key;
    Py_ssize_t n = PyTuple_CheckExact(key) ? PyTuple_GET_SIZE(key) : 1;
    *offset = 0;
    for (Py_ssize_t d = 0; d < n && n == a->rank; d++) {
        int64_t extent = ts_nd_shape(a)[d], i;
        if (!index_number(state, items[d], &i) || i < -extent || i >= extent)
            return false;
        *offset += (i < 0 ? i + extent : i) * ts_nd_strides(a)[d];
    }
    return n == a->rank;
}

/* Whether the key is places along the first axis. */
static bool index_is_places(core_state *state, PyObject *key)
{
    return numeric_is_array(state, key) && ND(key)->dtype == TS_DTYPE_int64;
}

enum { INDEX_LISTED = 64 };

/* A short list of ints of Python itself as places beside an array of host memory, owned; NULL, without exception: it is
 * another kind of key. */
static ts_nd *index_listed(core_state *state, const ts_nd *a, PyObject *key)
{
    int64_t places[INDEX_LISTED], n = PyList_CheckExact(key) ? PyList_GET_SIZE(key) : 0;
    int overflow = 0;
    ts_nd *made = NULL;
    void *data;
    if (!n || n > INDEX_LISTED || !(ts_device_caps_of(ts_nd_graph_device(a->graph)) & TS_DEVICE_HOST_MEMORY))
        return NULL;
    for (int64_t i = 0; i < n; i++) {
        PyObject *item = PyList_GET_ITEM(key, i);
        if (!PyLong_CheckExact(item))
            return NULL;
        places[i] = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (overflow)
            return NULL;
    }
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_empty(a->graph, TS_DTYPE_int64, 1, &n, false, &made, NULL);
    if (status == TS_OK && (status = ts_nd_memory(made, false, &data, NULL, NULL)) != TS_OK)
        ts_nd_release(made);
    NUMERIC_END(state);
    if (status != TS_OK)
        return NULL;
    memcpy(data, places, (size_t)n * sizeof *places);
    return made;
}

PyObject *numeric_taken(core_state *state, PyObject *self, PyObject *key)
{
    ts_nd *result, *listed = NULL;
    ts_error err;
    if (!index_is_places(state, key) && !(listed = index_listed(state, ND(self), key)))
        return NULL;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_take(ND(self), listed ? listed : ND(key), &result, &err);
    ts_nd_release(listed);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    return result ? numeric_wrap_like(state, result, NULL, self) : NULL;
}

/* ---- several arrays of places --------------------------------------------------------------------- */

enum { INDEX_ARRAYS = 4 };
typedef struct index_pick {
    index_view v;
    uint32_t n, axes[INDEX_ARRAYS];
    ts_nd *indices[INDEX_ARRAYS]; /* held, as v.a is */
    bool front;
    ts_nd *self; /* v.a */
} index_pick;

/* The next item of a key of arrays of places, slices and one ...: false: it is another kind of key. *ended: an array
 * stood before an item of another kind, and a later one is apart from it. */
static bool index_pick_item(core_state *state, index_pick *p, PyObject *item, uint32_t skip, bool *ended)
{
    index_view *v = &p->v;
    if (index_is_places(state, item) && ND(item)->rank && p->n < INDEX_ARRAYS && v->axis < v->a->rank) {
        p->front |= *ended;
        p->axes[p->n] = v->rank;
        p->indices[p->n++] = index_hold(state, item);
        index_whole(v, 1);
        return true;
    }
    *ended |= p->n > 0;
    if (item == Py_Ellipsis)
        index_whole(v, skip);
    else if (!PySlice_Check(item) || v->axis >= v->a->rank || index_slice(v, item) < 0)
        return false;
    return true;
}

static void index_pick_begin(core_state *state, PyObject *self, index_pick *p)
{
    p->v.a = p->self = index_hold(state, self);
    p->v.axis = p->v.rank = p->n = 0;
    p->v.offset = 0;
    p->front = false;
}

static void index_pick_end(core_state *state, index_pick *p)
{
    NUMERIC_BEGIN(state);
    for (uint32_t i = 0; i < p->n; i++)
        ts_nd_release(p->indices[i]);
    ts_nd_release(p->self);
    NUMERIC_END(state);
}

/* Whether a key is arrays of places with slices or ... beside them. Nothing of it runs code of Python but bounds of
 * slices, which are ints here. */
static bool index_picks_places(core_state *state, PyObject *key, index_pick *p)
{
    const ts_nd *a = p->v.a;
    PyObject *const *items = PyTuple_CheckExact(key) ? &PyTuple_GET_ITEM(key, 0) : &key;
    Py_ssize_t n = PyTuple_CheckExact(key) ? PyTuple_GET_SIZE(key) : 1, dots = 0, arrays = 0;
    bool ended = false;
    for (Py_ssize_t i = 0; i < n; i++) {
        const PySliceObject *slice = (PySliceObject *)items[i];
        dots += items[i] == Py_Ellipsis;
        arrays += index_is_places(state, items[i]);
        if (PySlice_Check(items[i]) && (PyIndex_Check(slice->start) > PyLong_CheckExact(slice->start) ||
                                        PyIndex_Check(slice->stop) > PyLong_CheckExact(slice->stop) ||
                                        PyIndex_Check(slice->step) > PyLong_CheckExact(slice->step)))
            return false;
    }
    if (!arrays || !a->dtype || dots > 1 || n - dots > a->rank)
        return false;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!index_pick_item(state, p, items[i], a->rank - (uint32_t)(n - dots), &ended)) {
            PyErr_Clear(); /* the long way says it */
            return false;
        }
    index_whole(&p->v, a->rank - p->v.axis);
    return true;
}

static ts_nd_pick index_pick_of(const index_pick *p)
{
    return (ts_nd_pick){.part = {p->v.offset, p->v.rank, p->v.shape, p->v.strides}, .n = p->n,
                        .indices = p->indices, .axes = p->axes, .front = p->front};
}

/* The elements; NULL without exception: it is another kind of key, or they are many. */
static PyObject *index_pick_from(core_state *state, PyObject *self, PyObject *key)
{
    index_pick p; /* filled as far as there are axes */
    ts_nd *result = NULL;
    ts_error err;
    ts_status status = TS_OK;
    index_pick_begin(state, self, &p);
    if (index_picks_places(state, key, &p)) {
        ts_nd_pick pick = index_pick_of(&p);
        NUMERIC_BEGIN(state);
        status = ts_nd_pick_from(p.self, &pick, &result, &err);
        NUMERIC_END(state);
    }
    index_pick_end(state, &p);
    if (status != TS_OK)
        return core_raise(state, &err);
    return result ? numeric_wrap_like(state, result, NULL, self) : NULL;
}

/* Values to the elements, or joined to them by a function (not TS_ND_COUNT): 1 if that is done; 0; -1 with
 * exception. */
static int index_pick_to(core_state *state, PyObject *self, PyObject *key, PyObject *value, ts_nd_fn fn)
{
    index_pick p; /* filled as far as there are axes */
    ts_nd_operand operand;
    bool done = false;
    uint32_t faults = 0;
    ts_error err;
    ts_status status = TS_OK;
    index_pick_begin(state, self, &p);
    int got = index_picks_places(state, key, &p) ? numeric_plain_operand(state, value, &operand) : 0;
    if (got > 0) {
        ts_nd_pick pick = index_pick_of(&p);
        NUMERIC_BEGIN(state);
        operand.array = operand.array ? ND(value) : NULL; /* as it is now */
        if (fn == TS_ND_COUNT)
            status = ts_nd_pick_to(p.self, &pick, &operand, &done, &err);
        else {
            status = ts_nd_pick_with(p.self, fn, &pick, &operand, &done, &err);
            faults = ts_nd_graph_faults(p.self->graph);
        }
        NUMERIC_END(state);
    }
    index_pick_end(state, &p);
    if (status != TS_OK) {
        core_raise(state, &err);
        return -1;
    }
    return faults && numeric_report(state, fn, faults) < 0 ? -1 : got > 0 ? done : got;
}

int numeric_join_at(core_state *state, PyObject *self, PyObject *key, PyObject *value, ts_nd_fn fn)
{
    return index_pick_to(state, self, key, value, fn);
}

PyObject *numeric_subscript(PyObject *self, PyObject *key)
{
    core_state *state = ((numeric_array *)self)->state;
    bool picks;
    int got;
    int64_t offset;
    PyObject *taken = NULL;
    if (index_picks(state->numeric, ND(self), key, &offset))
        return numeric_scalar(state, ND(self), offset);
    if (!PyTuple_CheckExact(key) && !PySlice_Check(key)) { /* not the commonest keys */
        if (index_is_mask(state, ND(self), key))
            return index_masked(state, self, ND(key));
        taken = numeric_taken(state, self, key);
        if (taken || PyErr_Occurred())
            return taken;
    }
    ts_nd *view = index_view_of(state, self, key, NULL, &got, &picks);
    if (!view && got == 0 && ((taken = index_pick_from(state, self, key)) || PyErr_Occurred() ||
                              (taken = numeric_few_indexed(state, self, key, NULL)) || PyErr_Occurred()))
        return taken;
    if (!view)
        return got < 0 ? NULL : PyObject_CallFunctionObjArgs(state->numeric->get_item, self, key, NULL);
    if (!picks)
        return numeric_wrap_like(state, view, numeric_base_of(state, self, Py_TYPE(self)), self);
    PyObject *scalar = numeric_scalar(state, view, 0);
    index_drop(state, view);
    return scalar;
}

/* Whether a value of an element has axes, or is a sequence. */
static bool index_has_axes(core_state *state, PyObject *value)
{
    bool has_axes = PyList_Check(value) || PyTuple_Check(value);
    if (numeric_is_array(state, value))
        has_axes = ND(value)->rank > 0;
    else if (!has_axes && !PyLong_Check(value) && !PyFloat_Check(value) && !PyComplex_Check(value)) {
        PyObject *rank = PyObject_GetAttrString(value, "ndim");
        has_axes = rank && PyObject_IsTrue(rank) == 1;
        Py_XDECREF(rank);
        PyErr_Clear();
    }
    return has_axes;
}

/* The kind of number or text that an element is; 0: neither. */
static char index_kind(core_state *state, const ts_nd *view)
{
    if (view->dtype && !view->meaning)
        return ts_dtype_get((ts_dtype)view->dtype)->kind;
    PyObject *kind = PyObject_GetAttrString(numeric_dtype(state, view), "kind");
    const char *text = kind ? PyUnicode_AsUTF8(kind) : NULL;
    char letter = text && strchr("biufcmMSU", *text) ? *text : 0;
    Py_XDECREF(kind);
    PyErr_Clear();
    return letter;
}

/* What is written to one element: the value, a borrowed reference; a sequence is one for bools, by its truth. NULL with
 * exception, which NumPy's conversion of one number chooses. */
static PyObject *index_single(core_state *state, const ts_nd *view, PyObject *value)
{
    if (!index_has_axes(state, value))
        return value;
    char kind = index_kind(state, view);
    bool is_list = PyList_Check(value) || PyTuple_Check(value);
    int truth = kind == 'b' ? PyObject_IsTrue(value) : 0;
    if (!kind || truth < 0)
        return kind ? NULL : value;
    if (kind == 'b')
        return truth ? Py_True : Py_False;
    if (kind == 'c')
        PyErr_Format(PyExc_TypeError, is_list ? "must be real number, not %.200s" : "only 0-dimensional arrays can be "
                     "converted to Python scalars", Py_TYPE(value)->tp_name);
    else if (is_list && (kind == 'i' || kind == 'u'))
        PyErr_Format(PyExc_TypeError, "int() argument must be a string, a bytes-like object or a real number, not "
                     "'%.200s'", Py_TYPE(value)->tp_name);
    else
        PyErr_SetString(PyExc_ValueError, "setting an array element with a sequence.");
    return NULL;
}

/* An element, few rows at places, elements of a mask: 1 if that is done; 0: another kind; -1 with exception. */
static int index_put(core_state *state, PyObject *self, PyObject *key, PyObject *value)
{
    int64_t offset;
    bool picks = index_picks(state->numeric, ND(self), key, &offset), done;
    ts_nd_operand operand;
    ts_nd *listed = NULL;
    ts_error err;
    if (!picks && !index_is_places(state, key) && !index_is_mask(state, ND(self), key) && !PyList_CheckExact(key))
        return 0;
    int got = numeric_plain_operand(state, value, &operand);
    if (got <= 0)
        return got;
    if (PyList_CheckExact(key) && !(listed = index_listed(state, ND(self), key)))
        return 0;
    NUMERIC_BEGIN(state);
    ts_status status = picks ? ts_nd_set(ND(self), offset, &operand, &done, &err)
                             : ts_nd_put(ND(self), listed ? listed : ND(key), &operand, &done, &err);
    ts_nd_release(listed);
    NUMERIC_END(state);
    if (status == TS_OK)
        return done;
    core_raise(state, &err);
    return -1;
}

/* Writes to what an array of a derived class gives for a key that names a view: its class may give it another shape, as
 * matrices have two axes. 0, or -1 with exception. */
static int index_set_derived(core_state *state, PyObject *self, PyObject *key, PyObject *value)
{
    PyObject *view = PyObject_GetItem(self, key);
    int done = -1;
    if (view && numeric_is_array(state, view))
        done = numeric_assign(state, ND(view), value);
    else if (view)
        PyErr_SetString(PyExc_RuntimeError, "Getitem not returning array");
    Py_XDECREF(view);
    return done;
}

/* An array of a derived class without axes that is written to one number: by its __int__ or __float__, as NumPy reads
 * it, which tessera.numeric.ma.masked refuses. NULL: another kind of write, or with exception. An integer is only asked
 * for: NumPy casts it, so the array is what is written. */
static PyObject *index_derived_number(core_state *state, const ts_nd *a, PyObject *key, PyObject *value)
{
    int64_t offset;
    bool is_one = value && numeric_is_array(state, value) && Py_TYPE(value) != state->numeric->array_class &&
                  !ND(value)->rank && ND(value)->graph == state->numeric->graphs[0] && a->dtype && !a->meaning &&
                  index_picks(state->numeric, a, key, &offset);
    char kind = is_one ? ts_dtype_get((ts_dtype)a->dtype)->kind : 0;
    if (kind == 'f')
        return PyNumber_Float(value);
    PyObject *integer = kind == 'i' || kind == 'u' ? PyNumber_Long(value) : NULL;
    Py_XDECREF(integer);
    return NULL;
}

int numeric_ass_subscript(PyObject *self, PyObject *key, PyObject *value)
{
    core_state *state = ((numeric_array *)self)->state;
    bool picks;
    int got;
    PyObject *number = index_derived_number(state, ND(self), key, value);
    if (number || PyErr_Occurred()) {
        got = number ? numeric_ass_subscript(self, key, number) : -1;
        Py_XDECREF(number);
        return got;
    }
    if (!value) {
        PyErr_SetString(PyExc_ValueError, "cannot delete array elements");
        return -1;
    }
    if (ND(self)->flags & TS_ND_READONLY) {
        PyErr_SetString(PyExc_ValueError, "assignment destination is read-only");
        return -1;
    }
    got = index_put(state, self, key, value);
    if (got)
        return got < 0 ? -1 : 0;
    bool is_derived = Py_TYPE(self) != state->numeric->array_class;
    ts_nd *view = index_view_of(state, self, key, is_derived ? NULL : value, &got, &picks);
    if (got < 0 || got == 2)
        return got < 0 ? -1 : 0;
    if (!view && (got = index_pick_to(state, self, key, value, TS_ND_COUNT)))
        return got < 0 ? -1 : 0;
    if (!view) {
        PyObject *done = numeric_few_indexed(state, self, key, value);
        if (!done && !PyErr_Occurred())
            done = PyObject_CallFunctionObjArgs(state->numeric->set_item, self, key, value, NULL);
        Py_XDECREF(done);
        return done ? 0 : -1;
    }
    if (!picks && is_derived) {
        index_drop(state, view);
        return index_set_derived(state, self, key, value);
    }
    value = picks ? index_single(state, view, value) : value;
    got = value ? numeric_assign(state, view, value) : -1;
    index_drop(state, view);
    return got;
}
