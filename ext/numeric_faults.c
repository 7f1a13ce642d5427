/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of calls (division by zero, overflow, what is invalid) told of, as numpy.errstate wants it: those of a call at
 * once, and those that kernels found since.
 */
#include "numeric.h"

/* `late`: of a call before, which wanted warnings. */
static int numeric_report_as(core_state *state, const char *function, uint32_t faults, bool late)
{
    PyObject *done = PyObject_CallFunction(state->numeric->report, "sIO", function, faults, late ? Py_True : Py_False);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

int numeric_report(core_state *state, ts_nd_fn fn, uint32_t faults)
{
    return numeric_report_as(state, ts_nd_get(fn)->name, faults, false);
}

int numeric_report_fold(core_state *state, ts_nd *result, uint32_t faults, bool running)
{
    if (!faults || numeric_report_as(state, running ? "accumulate" : "reduce", faults, false) == 0)
        return 0;
    NUMERIC_BEGIN(state);
    ts_nd_release(result);
    NUMERIC_END(state);
    return -1;
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
