/* SPDX-License-Identifier: Apache-2.0
 *
 * Assignments to arrays, `a[key] = value` and kin: the value is cast as NumPy's assignment does.
 */
#include "numeric_call.h"

/* The same as numeric_operand of what is written to `out`: NumPy reads lists by the dtype of the elements, which their
 * integers must fit. */
static int assign_read(core_state *state, const ts_nd *out, PyObject *value, ts_nd_operand *in, PyObject **held)
{
    PyObject *dtype = out->dtype && !out->meaning ? state->numeric->dtypes[out->dtype] : Py_None;
    int got = numeric_plain_operand(state, value, in);
    if (got)
        return got;
    return numeric_call_converted(PyObject_CallFunction(state->numeric->convert, "OOO", value, dtype, Py_True), in,
                             held);
}

/* A value that is written to `out`, as an operand that means what `out` does. */
static int assign_operand(core_state *state, ts_nd *out, PyObject *value, ts_nd_operand *in, PyObject **held)
{
    int got = 1;
    *held = NULL;
    if (!out->meaning || numeric_is_array(state, value))
        got = assign_read(state, out, value, in, held);
    bool is_alike = (in->array ? in->array->meaning : 0) == out->meaning &&
                    (!in->array || !in->array->dtype == !out->dtype);
    if (got <= 0 || is_alike)
        return got;
    PyObject *made = numeric_meant(state, value, out);
    Py_XSETREF(*held, made);
    if (!made)
        return -1;
    in->array = ND(made);
    return 1;
}

static int assign_parts(const ts_nd *out, const ts_nd_operand *in)
{
    return out->dtype ? numeric_call_lost_parts(numeric_call_kind(in), ts_dtype_get((ts_dtype)out->dtype)->kind) : 0;
}

/* A number that is written to integers as NumPy does: Python's is int(value), NumPy's too where they have a sign; both
 * must be a number and fit. 0, or -1 with exception. */
static int assign_whole(const ts_nd *out, ts_nd_operand *in)
{
    char kind = ts_dtype_get((ts_dtype)out->dtype)->kind;
    if (!in->array && in->kind == 'c' && !in->dtype && strchr("iuf", kind)) {
        PyErr_Format(PyExc_TypeError, kind == 'f' ? "float() argument must be a string or a real number, not 'complex'"
                     : "int() argument must be a string, a bytes-like object or a real number, not 'complex'");
        return -1;
    }
    if (!in->array && in->kind == 'i' && kind == 'i' && !out->meaning)
        in->dtype = TS_DTYPE_NONE;
    if (in->array || in->kind != 'f' || out->meaning || !(kind == 'i' || (kind == 'u' && !in->dtype)))
        return 0;
    PyObject *whole = PyLong_FromDouble(in->f);
    if (!whole)
        return -1;
    *in = (ts_nd_operand){0};
    numeric_call_int(whole, in);
    Py_DECREF(whole);
    return 0;
}

/* Whether only the caller's expression knows the object. */
static bool assign_is_temporary(PyObject *value)
{
#if PY_VERSION_HEX >= 0x030E0000
    return PyUnstable_Object_IsUniqueReferencedTemporary(value);
#else
    return Py_REFCNT(value) == 1;
#endif
}

/* The value as the operand that is written, which `held` owns where it had to be converted: 0, or -1 with exception. */
static int assign_value(core_state *state, ts_nd *out, PyObject *value, ts_nd_operand *in, PyObject **held)
{
    int got = assign_operand(state, out, value, in, held);
    if (got < 0 && PyErr_ExceptionMatches(state->numeric->host_dtype)) { /* NumPy casts it */
        PyErr_Clear();
        *held = PyObject_CallFunctionObjArgs(state->numeric->convert, value, numeric_dtype(state, out), NULL);
        in->array = *held ? ND(*held) : NULL;
        got = *held ? 1 : -1;
    }
    if (got == 0)
        PyErr_Format(PyExc_TypeError, "an array is wanted, found %.200s", Py_TYPE(value)->tp_name);
    return got > 0 && (!out->dtype || assign_whole(out, in) == 0) ? 0 : -1;
}

/* Whether a value that is written may not be what the array holds, so that the cast is watched. */
static bool assign_may_fault(const ts_nd *out, const ts_nd_operand *in)
{
    if (in->array)
        return !numeric_cast_is_safe(in->array, (ts_dtype)out->dtype);
    return out->dtype && !out->meaning && numeric_outgrows(in, (ts_dtype)out->dtype);
}

/* Writes the operand; an array of more axes is taken if the leading ones are 1. With the lock held. The call may carry
 * the storage (near.c) and thus change the arrays' graph, so its own is asked for what it met. */
static ts_status assign_run(ts_nd_call *call, PyObject *runs, const numeric_watch *watch, uint32_t *faults,
                            ts_error *err)
{
    ts_nd_graph *graph = call->out->graph;
    ts_nd *out = call->out, *from = call->in[0].array, *view = NULL, *result;
    ts_status status = TS_OK;
    uint32_t extra = 0;
    while (from && from->rank - extra > out->rank && ts_nd_shape(from)[extra] == 1)
        extra++;
    if (extra) {
        status = ts_nd_view(from, 0, (ts_dtype)from->dtype, from->rank - extra, ts_nd_shape(from) + extra,
                            ts_nd_strides(from) + extra, 0, &view, err);
        call->in[0].array = view;
    }
    if (!from && !call->in[0].dtype) /* an integer must fit; others are converted */
        call->dtype = (ts_dtype)out->dtype;
    if (!out->dtype && status == TS_OK) {
        status = numeric_copy_items(call->in[0].array, out, runs, err);
    } else if (status == TS_OK) {
        numeric_watch_begin(graph, watch);
        status = ts_nd_run(graph, call, &result, err);
        ts_nd_graph_strict(graph, false);
        if (status == TS_OK)
            ts_nd_release(result);
    }
    *faults = ts_nd_graph_faults(graph);
    ts_nd_release(view);
    return status;
}

int numeric_assign(core_state *state, ts_nd *out, PyObject *value)
{
    ts_nd_call call = {.fn = TS_ND_copy, .out = out, .casting = TS_ND_UNSAFE};
    PyObject *held = NULL;
    ts_error err;
    int got = assign_value(state, out, value, &call.in[0], &held);
    numeric_watch watch = {0};
    if (got == 0 && assign_may_fault(out, &call.in[0]) &&
        numeric_watch_cast(state, out->graph, call.in[0].array, out->count, &watch) < 0)
        got = -1;
    PyObject *runs = got == 0 && assign_parts(out, &call.in[0]) == 0 ? numeric_runs(state, out) : NULL;
    if (!runs || numeric_call_place(state, out->graph, &held, &call.in[0].array) < 0) {
        Py_XDECREF(runs);
        Py_XDECREF(held);
        return -1;
    }
    call.in[0].is_last = call.in[0].array && !held && assign_is_temporary(value);
    NUMERIC_BEGIN(state);
    uint32_t faults;
    ts_status status = assign_run(&call, runs, &watch, &faults, &err);
    NUMERIC_END(state);
    Py_DECREF(runs);
    Py_XDECREF(held);
    if (status == TS_OK)
        return faults ? numeric_report(state, call.fn, faults) : 0;
    if (status == TS_SHAPE)
        PyErr_SetString(PyExc_ValueError, err.text);
    else
        core_raise(state, &err);
    return -1;
}
