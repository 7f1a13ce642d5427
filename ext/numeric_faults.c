/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of calls (division by zero, overflow, what is invalid) told of, as numpy.errstate wants it: those of a call at
 * once, and those that kernels found since.
 */
#include "numeric.h"
#include <math.h>

/* Faults of a thread's calls, for one report of the function that makes them; `begun` false: each call's are reported.
 * A thread ends what it begins, within one call, so a child of a fork takes over that of its only thread. */
typedef struct faults_kept {
    bool begun;
    uint32_t faults;
} faults_kept;
static _Thread_local faults_kept faults_mine;

int numeric_watch_cast(core_state *state, ts_nd_graph *graph, const ts_nd *x, int64_t count, numeric_watch *out)
{
    if (numeric_watch_ask(state, graph, out) < 0)
        return -1;
    if (graph == state->numeric->graphs[0] || count > TS_ND_LOOKED_AT || !out->warns)
        return 0;
    bool is_there = !x || !ts_nd_waits(x); /* what waits goes on with it in one kernel */
    out->wants |= is_there ? out->warns : 0;
    out->at_once |= is_there;
    return 0;
}

bool numeric_outgrows(const ts_nd_operand *in, ts_dtype dtype)
{
    const ts_dtype_info *info = ts_dtype_get(dtype);
    bool is_float = in->kind == 'f' || in->kind == 'c';
    double x = is_float ? fmax(fabs(in->f), fabs(in->im)) : fabs((double)in->i);
    if (info->kind == 'i' || info->kind == 'u') {
        if (!is_float)
            return false;
        double least = info->kind == 'u' ? 0 : -ldexp(1, info->bits - 1);
        return !(in->f > least - 1 && in->f < ldexp(1, info->bits - (info->kind == 'i')));
    }
    ts_dtype part = info->part ? (ts_dtype)info->part : dtype;
    double most = part == TS_DTYPE_float16   ? 65520
                  : part == TS_DTYPE_float32 ? ldexp(2 - ldexp(1, -24), 127)
                                             : HUGE_VAL;
    return in->is_huge || (isfinite(x) && x >= most);
}

/* `late`: of a call before, which wanted warnings. */
static int numeric_report_as(core_state *state, const char *function, uint32_t faults, bool late)
{
    PyObject *done = PyObject_CallFunction(state->numeric->report, "sIO", function, faults, late ? Py_True : Py_False);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

int numeric_report_named(core_state *state, const char *function, uint32_t faults)
{
    if (faults_mine.begun) {
        faults_mine.faults |= faults;
        return 0;
    }
    return numeric_report_as(state, function, faults, false);
}

int numeric_report(core_state *state, ts_nd_fn fn, uint32_t faults)
{
    return numeric_report_named(state, ts_nd_get(fn)->name, faults);
}

int numeric_report_fold(core_state *state, ts_nd *result, uint32_t faults, const char *method)
{
    if (!faults || numeric_report_named(state, method, faults) == 0)
        return 0;
    NUMERIC_BEGIN(state);
    ts_nd_release(result);
    NUMERIC_END(state);
    return -1;
}

void numeric_told(numeric_state *n, uint8_t faults[TS_ND_COUNT])
{
    n->n_missed += faults[TS_ND_part_place] != 0;
    faults[TS_ND_part_place] = 0;
}

/* Keeps faults of the host's graph for the next call of numeric_late. */
static void late_keep(core_state *state, ts_nd_fn fn, uint8_t faults)
{
    NUMERIC_BEGIN(state);
    state->numeric->late_faults[fn] |= faults;
    state->numeric->late_kept = true;
    NUMERIC_END(state);
}

int numeric_late(core_state *state, ts_nd_graph *graph, bool keeps)
{
    numeric_state *n = state->numeric;
    uint8_t faults[TS_ND_COUNT];
    ts_error err;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_graph_late(graph, faults, &err);
    if (status == TS_OK)
        numeric_told(n, faults);
    bool kept = status == TS_OK && n->late_kept && graph == n->graphs[0];
    for (int fn = 0; fn < TS_ND_COUNT && kept; fn++) {
        faults[fn] |= n->late_faults[fn];
        n->late_faults[fn] = 0;
    }
    n->late_kept &= !kept;
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err) ? 0 : -1;
    PyObject *type = NULL, *value = NULL, *trace = NULL;
    for (int fn = 0; fn < TS_ND_COUNT; fn++) { /* they are told of once: all, also where the first is an error */
        if (!faults[fn] || numeric_report_as(state, ts_nd_get((ts_nd_fn)fn)->name, faults[fn], true) == 0)
            continue;
        if (keeps)
            late_keep(state, (ts_nd_fn)fn, faults[fn]);
        if (type)
            PyErr_Clear();
        else
            PyErr_Fetch(&type, &value, &trace);
    }
    if (!type)
        return 0;
    PyErr_Restore(type, value, trace);
    return -1;
}

bool numeric_collects(void)
{
    return faults_mine.begun;
}

bool numeric_collect(void)
{
    if (faults_mine.begun)
        return false;
    faults_mine = (faults_kept){.begun = true};
    return true;
}

int numeric_collected(core_state *state, const char *function, uint32_t faults)
{
    faults_mine.begun = false;
    faults &= faults_mine.faults;
    return faults ? numeric_report_named(state, function, faults) : 0;
}

/* numeric_collect(): as in C. */
static PyObject *faults_collect(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(numeric_collect());
}

/* numeric_collected(function, faults) */
static PyObject *faults_collected(PyObject *module, PyObject *args)
{
    const char *function;
    unsigned faults;
    if (!PyArg_ParseTuple(args, "sI:numeric_collected", &function, &faults) ||
        numeric_collected(PyModule_GetState(module), function, faults) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef faults_functions[] = {
    {"numeric_collect", faults_collect, METH_NOARGS, "numeric_collect()\n--\n\n"},
    {"numeric_collected", faults_collected, METH_VARARGS, "numeric_collected(function, faults, /)\n--\n\n"},
    {NULL, NULL, 0, NULL},
};

int numeric_faults_init(PyObject *module)
{
    return PyModule_AddFunctions(module, faults_functions);
}
