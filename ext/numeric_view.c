/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of an array with other axes: squeeze, transpose, swapaxes, moveaxis, expand_dims, atleast_1d .. The same memory
 * with other extents and steps; calls of other kinds, and those with mistakes, are left to the functions in Python.
 */
#include "numeric.h"
#include <string.h>

/* Axes of a view; the array has as many at least, or one more. */
typedef struct view_axes {
    uint32_t rank;
    int64_t shape[TS_ND_RANK], strides[TS_ND_RANK];
} view_axes;

static void view_add(view_axes *v, int64_t extent, int64_t step)
{
    v->shape[v->rank] = extent;
    v->strides[v->rank++] = step;
}

static PyObject *view_made(core_state *state, PyObject *array, const view_axes *v, int64_t offset, uint32_t flags)
{
    const ts_nd *a = ND(array);
    ts_nd *out;
    ts_error err;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_view(a, offset, (ts_dtype)a->dtype, v->rank, v->shape, v->strides, flags, &out, &err);
    NUMERIC_END(state);
    return status == TS_OK ? numeric_wrap_view(state, out, array) : core_raise(state, &err);
}

ts_nd *numeric_whole(core_state *state, PyObject *array)
{
    ts_nd *out;
    ts_error err;
    NUMERIC_BEGIN(state);
    const ts_nd *a = ND(array);
    ts_status status = ts_nd_view(a, 0, (ts_dtype)a->dtype, a->rank, ts_nd_shape(a), ts_nd_strides(a), a->flags, &out,
                                  &err);
    NUMERIC_END(state);
    if (status != TS_OK)
        core_raise(state, &err);
    return status == TS_OK ? out : NULL;
}

PyObject *numeric_viewed(core_state *state, PyObject *const *args, Py_ssize_t n)
{
    PyObject *class = (PyObject *)state->numeric->array_class, *own = (PyObject *)Py_TYPE(args[0]);
    PyObject *type = n == 1 ? own : args[1];
    if (n > 2 || !PyType_IsSubtype((PyTypeObject *)own, (PyTypeObject *)class) || (type != class && type != own))
        return NULL;
    ts_nd *out = numeric_whole(state, args[0]);
    if (!out)
        return NULL;
    return type == class ? numeric_wrap_view(state, out, args[0])
                         : numeric_wrap_like(state, out, numeric_base_of(state, args[0], Py_TYPE(args[0])), args[0]);
}

/* An axis of `rank`; false: it is no int, or out of range. */
static bool view_axis(PyObject *object, uint32_t rank, uint32_t *axis)
{
    int overflow = 0;
    long d = PyLong_CheckExact(object) ? PyLong_AsLongAndOverflow(object, &overflow) : LONG_MIN;
    d += d < 0 ? (long)rank : 0;
    *axis = (uint32_t)d;
    return !overflow && d >= 0 && d < (long)rank;
}

/* The array with its axes in another order; NULL without exception: it is none. */
static PyObject *view_ordered(core_state *state, PyObject *array, const uint32_t *axes)
{
    const ts_nd *a = ND(array);
    view_axes v = {.rank = 0};
    uint64_t seen = 0;
    for (uint32_t d = 0; d < a->rank; d++) {
        if (seen >> axes[d] & 1)
            return NULL;
        seen |= (uint64_t)1 << axes[d];
        view_add(&v, ts_nd_shape(a)[axes[d]], ts_nd_strides(a)[axes[d]]);
    }
    return view_made(state, array, &v, 0, a->flags);
}

/* transpose(a), a.transpose(1, 0), transpose(a, (1, 0)) */
static PyObject *view_transpose(core_state *state, const numeric_way *way, PyObject *const *args, Py_ssize_t n)
{
    uint32_t axes[TS_ND_RANK], rank = ND(args[0])->rank;
    PyObject *const *given = args + 1;
    if (n == 1 || (n == 2 && args[1] == Py_None)) {
        for (uint32_t d = 0; d < rank; d++)
            axes[d] = rank - 1 - d;
        return view_ordered(state, args[0], axes);
    }
    if (n-- == 2 && (PyTuple_CheckExact(args[1]) || PyList_CheckExact(args[1]))) {
        given = PySequence_Fast_ITEMS(args[1]);
        n = PySequence_Fast_GET_SIZE(args[1]);
    } else if (!way->which) { /* the function takes axes as one argument */
        return NULL;
    }
    if (n != (Py_ssize_t)rank)
        return NULL;
    for (uint32_t d = 0; d < rank; d++)
        if (!view_axis(given[d], rank, &axes[d]))
            return NULL;
    return view_ordered(state, args[0], axes);
}

static PyObject *view_swapaxes(core_state *state, const numeric_way *way, PyObject *const *args, Py_ssize_t n)
{
    uint32_t axes[TS_ND_RANK], rank = ND(args[0])->rank, one, other;
    (void)way;
    if (n != 3 || !view_axis(args[1], rank, &one) || !view_axis(args[2], rank, &other))
        return NULL;
    for (uint32_t d = 0; d < rank; d++)
        axes[d] = d == one ? other : d == other ? one : d;
    return view_ordered(state, args[0], axes);
}

/* Axis `from` at place `to`, the others in their order. */
static PyObject *view_moved(core_state *state, PyObject *array, uint32_t from, uint32_t to)
{
    uint32_t axes[TS_ND_RANK], next = 0;
    for (uint32_t d = 0; d < ND(array)->rank; d++) {
        next += next == from;
        axes[d] = d == to ? from : next++;
    }
    return view_ordered(state, array, axes);
}

static PyObject *view_moveaxis(core_state *state, const numeric_way *way, PyObject *const *args, Py_ssize_t n)
{
    uint32_t rank = ND(args[0])->rank, from, to;
    (void)way;
    if (n != 3 || !view_axis(args[1], rank, &from) || !view_axis(args[2], rank, &to))
        return NULL;
    return view_moved(state, args[0], from, to);
}

/* rollaxis(a, axis, start=0): an axis before another one, or behind the last */
static PyObject *view_rollaxis(core_state *state, const numeric_way *way, PyObject *const *args, Py_ssize_t n)
{
    uint32_t rank = ND(args[0])->rank, axis, start = 0;
    (void)way;
    if (n < 2 || n > 3 || !view_axis(args[1], rank, &axis) || (n == 3 && !view_axis(args[2], rank, &start)))
        return NULL;
    return view_moved(state, args[0], axis, start - (axis < start));
}

/* squeeze(a), squeeze(a, axis) */
static PyObject *view_squeeze(core_state *state, const numeric_way *way, PyObject *const *args, Py_ssize_t n)
{
    const ts_nd *a = ND(args[0]);
    view_axes v = {.rank = 0};
    uint32_t gone = UINT32_MAX;
    (void)way;
    if (n > 2 || (n == 2 && args[1] != Py_None && (!view_axis(args[1], a->rank, &gone) || ts_nd_shape(a)[gone] != 1)))
        return NULL;
    for (uint32_t d = 0; d < a->rank; d++)
        if (gone == UINT32_MAX ? ts_nd_shape(a)[d] != 1 : d != gone)
            view_add(&v, ts_nd_shape(a)[d], ts_nd_strides(a)[d]);
    return v.rank == a->rank ? Py_NewRef(args[0]) : view_made(state, args[0], &v, 0, a->flags);
}

static PyObject *view_expand_dims(core_state *state, const numeric_way *way, PyObject *const *args, Py_ssize_t n)
{
    const ts_nd *a = ND(args[0]);
    view_axes v = {.rank = 0};
    uint32_t at;
    (void)way;
    if (n != 2 || a->rank == TS_ND_RANK || !view_axis(args[1], a->rank + 1u, &at))
        return NULL;
    for (uint32_t d = 0; d <= a->rank; d++)
        if (d == at)
            view_add(&v, 1, 0);
        else
            view_add(&v, ts_nd_shape(a)[d - (d > at)], ts_nd_strides(a)[d - (d > at)]);
    return view_made(state, args[0], &v, 0, a->flags);
}

/* atleast_1d(a), atleast_2d(a) of one array, which has `which` axes at least */
static PyObject *view_atleast(core_state *state, const numeric_way *way, PyObject *const *args, Py_ssize_t n)
{
    const ts_nd *a = ND(args[0]);
    (void)state;
    return n == 1 && (int)a->rank >= way->which ? Py_NewRef(args[0]) : NULL;
}

/* asarray(a), asanyarray(a) */
static PyObject *view_same(core_state *state, const numeric_way *way, PyObject *const *args, Py_ssize_t n)
{
    (void)state;
    (void)way;
    return n == 1 ? Py_NewRef(args[0]) : NULL;
}

/* a.item(), a.item(i): of a vector, or of an array of one element */
static PyObject *view_item(core_state *state, const numeric_way *way, PyObject *const *args, Py_ssize_t n)
{
    const ts_nd *a = ND(args[0]);
    uint32_t at = 0;
    (void)way;
    bool is_one = n == 1 && a->count == 1, is_at = n == 2 && a->rank == 1 && a->count <= INT32_MAX;
    if (!a->dtype || a->meaning || !(is_one || (is_at && view_axis(args[1], (uint32_t)a->count, &at))))
        return NULL;
    return numeric_number(state, ND(args[0]), is_at ? at * ts_nd_strides(a)[0] : 0);
}

/* a.fill(number) */
static PyObject *view_fill(core_state *state, const numeric_way *way, PyObject *const *args, Py_ssize_t n)
{
    ts_nd_operand number;
    (void)way;
    int got = n == 2 && !numeric_is_array(state, args[1]) ? numeric_plain_operand(state, args[1], &number) : 0;
    if (got <= 0 || numeric_ass_subscript(args[0], Py_Ellipsis, args[1]) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* a.view() */
static PyObject *view_view(core_state *state, const numeric_way *way, PyObject *const *args, Py_ssize_t n)
{
    const ts_nd *a = ND(args[0]);
    view_axes v = {.rank = 0};
    (void)way;
    for (uint32_t d = 0; d < a->rank; d++)
        view_add(&v, ts_nd_shape(a)[d], ts_nd_strides(a)[d]);
    return n == 1 ? view_made(state, args[0], &v, 0, a->flags) : NULL;
}

/* diagonal(a), diag(a) of a matrix, read-only */
static PyObject *view_diagonal(core_state *state, const numeric_way *way, PyObject *const *args, Py_ssize_t n)
{
    const ts_nd *a = ND(args[0]);
    view_axes v = {.rank = 0};
    (void)way;
    if (n != 1 || a->rank != 2)
        return NULL;
    view_add(&v, Py_MIN(ts_nd_shape(a)[0], ts_nd_shape(a)[1]), ts_nd_strides(a)[0] + ts_nd_strides(a)[1]);
    return view_made(state, args[0], &v, 0, a->flags | TS_ND_READONLY);
}

/* The array with the axes `which` (bits) the other way round. */
static PyObject *view_flip(core_state *state, const numeric_way *way, PyObject *const *args, Py_ssize_t n)
{
    const ts_nd *a = ND(args[0]);
    view_axes v = {.rank = 0};
    int64_t offset = 0;
    if (n != 1 || !a->count || a->rank > 30 || !(1 << a->rank > way->which))
        return NULL;
    for (uint32_t d = 0; d < a->rank; d++) {
        bool turns = way->which >> d & 1;
        offset += turns ? (ts_nd_shape(a)[d] - 1) * ts_nd_strides(a)[d] : 0;
        view_add(&v, ts_nd_shape(a)[d], turns ? -ts_nd_strides(a)[d] : ts_nd_strides(a)[d]);
    }
    return view_made(state, args[0], &v, offset, a->flags);
}

PyObject *numeric_part(core_state *state, PyObject *array, int which)
{
    const ts_nd *a = ND(array);
    ts_dtype part = a->dtype ? ts_dtype_get((ts_dtype)a->dtype)->part : TS_DTYPE_NONE;
    ts_nd *out;
    ts_error err;
    if (Py_TYPE(array) != state->numeric->array_class || !a->dtype || a->meaning)
        return NULL;
    if (!part)
        return which ? NULL : Py_NewRef(array);
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_view(a, which ? a->item / 2 : 0, part, a->rank, ts_nd_shape(a), ts_nd_strides(a), a->flags,
                                  &out, &err);
    NUMERIC_END(state);
    return status == TS_OK ? numeric_wrap_view(state, out, array) : core_raise(state, &err);
}

static PyObject *view_part(core_state *state, const numeric_way *way, PyObject *const *args, Py_ssize_t n)
{
    return n == 1 ? numeric_part(state, args[0], way->which) : NULL;
}

static const numeric_way view_ways[] = {
    {".transpose", view_transpose, 1}, {"transpose", view_transpose, 0}, {"swapaxes", view_swapaxes, 0},
    {"moveaxis", view_moveaxis, 0}, {"rollaxis", view_rollaxis, 0}, {"squeeze", view_squeeze, 0},
    {"expand_dims", view_expand_dims, 0}, {"atleast_1d", view_atleast, 1}, {"atleast_2d", view_atleast, 2},
    {"asarray", view_same, 0}, {"asanyarray", view_same, 0}, {".item", view_item, 0},
    {".fill", view_fill, 0}, {".view", view_view, 0}, {"diagonal", view_diagonal, 0},
    {"diag", view_diagonal, 0}, {"flipud", view_flip, 1},
    {"fliplr", view_flip, 2}, {"real", view_part, 0}, {"imag", view_part, 1}, {NULL, NULL, 0},
};

const numeric_way *numeric_way_of(const char *name, bool is_method)
{
    for (const numeric_way *way = view_ways; way->name; way++)
        if ((*way->name != '.' && strcmp(way->name, name) == 0) ||
            (*way->name == '.' && is_method && strcmp(way->name + 1, name) == 0))
            return way;
    return NULL;
}
