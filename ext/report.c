/* SPDX-License-Identifier: Apache-2.0
 *
 * report(): a ts_report as a dictionary of plain Python objects; tessera/_report.py makes it pleasant.
 */
#include "core.h"

/* Sets dict[key] to `value` and drops it; 0, or -1 when something failed. */
static int report_set(PyObject *dict, const char *key, PyObject *value)
{
    int result = value ? PyDict_SetItemString(dict, key, value) : -1;
    Py_XDECREF(value);
    return result;
}

static PyObject *report_work(const double *work)
{
    PyObject *dict = PyDict_New();
    for (uint32_t k = 0; dict && k < TS_WORK_COUNT; k++)
        if (work[k] > 0 && report_set(dict, ts_work_name(k), PyFloat_FromDouble(work[k])) < 0)
            Py_CLEAR(dict);
    return dict;
}

static PyObject *report_note(const ts_report *report, uint32_t i)
{
    const ts_note_entry *note = &report->notes[i];
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:I}", "kind", ts_note_kind_name(note->kind), "what",
                         note->what, "text",
                         note->text, "file", note->file, "line", note->line, "column", note->column, "call_line",
                         note->call_line, "count", note->count);
}

static PyObject *report_nest(const ts_report *report, uint32_t i)
{
    const ts_nest *nest = &report->nests[i];
    return Py_BuildValue("{s:s,s:I,s:I,s:s,s:d,s:N}", "what", nest->what, "line", nest->line, "parent", nest->parent,
                         "trips",
                         nest->trips, "runs", nest->runs, "work", report_work(nest->work));
}

static PyObject *report_array(const ts_report *report, uint32_t i)
{
    const ts_traffic *array = &report->arrays[i];
    return Py_BuildValue("{s:s,s:d,s:d,s:d}", "name", array->name, "bytes", array->bytes, "load", array->load, "store",
                         array->store);
}

static PyObject *report_list(const ts_report *report, uint32_t n, PyObject *(*item)(const ts_report *, uint32_t))
{
    PyObject *list = PyList_New(n);
    for (uint32_t i = 0; list && i < n; i++) {
        PyObject *one = item(report, i);
        if (!one)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, one);
    }
    return list;
}

static PyObject *report_roof(const ts_report *report)
{
    PyObject *dict = PyDict_New();
    for (uint32_t k = 0; dict && k < TS_ROOF_COUNT; k++)
        if (report->roof_s[k] > 0 && report_set(dict, ts_roof_name(k), PyFloat_FromDouble(report->roof_s[k])) < 0)
            Py_CLEAR(dict);
    return dict;
}

static PyObject *report_text(core_state *state, const ts_report *report)
{
    char *text;
    size_t n;
    ts_error err;
    if (ts_report_text(report, NULL, &text, &n, &err) != TS_OK)
        return core_raise(state, &err);
    return core_text(text, n);
}

/* None where no assembler has spoken. */
static PyObject *report_resources(const ts_report *report)
{
    const ts_resources *x = &report->resources;
    if (!x->known)
        return Py_NewRef(Py_None);
    return Py_BuildValue("{s:I,s:I,s:I,s:I,s:O}", "registers", x->registers, "stack_bytes", x->stack_bytes,
                         "spill_store_bytes", x->spill_store_bytes, "spill_load_bytes", x->spill_load_bytes,
                         "serialised",
                         x->serialised ? Py_True : Py_False);
}

static PyObject *report_dict(core_state *state, const ts_report *r)
{
    const ts_plan *plan = &r->code.plan;
    PyObject *dict = Py_BuildValue(
        "{s:s,s:I,s:(LLL),s:I,s:I,s:I,s:I,s:d,s:d,s:s,s:d,s:I,s:s,s:O,s:O,s:O}", "name", plan->name, "target",
        plan->target,
        "grid", (long long)r->grid[0], (long long)r->grid[1], (long long)r->grid[2], "threads", plan->threads,
        "shared_bytes",
        plan->shared_bytes, "cluster", plan->cluster > 1 ? plan->cluster : 1, "resident", r->resident, "waves",
        r->waves,
        "dram_bytes", r->dram_bytes, "machine", r->machine.name, "predicted_s", r->predicted_s, "sms", r->machine.sms,
        "bound",
        r->machine.sms && r->evaluated ? ts_roof_name(r->bound) : "", "evaluated", r->evaluated ? Py_True : Py_False,
        "exact",
        r->exact ? Py_True : Py_False, "assumed", r->machine.assumed ? Py_True : Py_False);
    if (!dict || report_set(dict, "limit", PyUnicode_FromString(r->limit ? r->limit : "")) < 0 ||
        report_set(dict, "total", report_work(r->total)) < 0 || report_set(dict, "roof_s", report_roof(r)) < 0 ||
        report_set(dict, "regions", report_list(r, r->n_nests, report_nest)) < 0 ||
        report_set(dict, "arrays", report_list(r, r->n_arrays, report_array)) < 0 ||
        report_set(dict, "notes", report_list(r, r->n_notes, report_note)) < 0 ||
        report_set(dict, "resources", report_resources(r)) < 0 || report_set(dict, "text", report_text(state, r)) < 0)
        Py_CLEAR(dict);
    return dict;
}

/* Asks the caller's assembler: assemble(code, target) gives its log, or None. */
static int report_assemble(PyObject *assemble, ts_report *report)
{
    const ts_code *code = &report->code;
    if (assemble == Py_None || report->resources.known || code->plan.target == TS_TARGET_CPU)
        return 0;
    PyObject *log = PyObject_CallFunction(assemble, "y#I", (const char *)code->bytes, (Py_ssize_t)code->n_bytes - 1,
                                          code->plan.target);
    if (log && PyUnicode_Check(log)) {
        ts_resources resources;
        const char *text = PyUnicode_AsUTF8(log);
        if (text) {
            ts_resources_parse(text, &resources);
            ts_report_assembled(report, &resources);
        }
    }
    Py_XDECREF(log);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *report_make(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    core_state *state = PyModule_GetState(module);
    ts_stream room;
    const ts_stream *stream;
    int64_t grid[3] = {0, 0, 0};
    core_frame frame;
    ts_report *report = NULL;
    ts_error err;
    if (n != 6 && n != 7) {
        PyErr_SetString(PyExc_TypeError, "report(stream, grid, kernel, args, target, assemble, kwargs) takes 6 or 7 "
                                         "positional arguments");
        return NULL;
    }
    long target = PyLong_AsLong(args[4]);
    ts_kernel *kernel = PyErr_Occurred() ? NULL : core_kernel_of(state, args[2]);
    if (!kernel || (args[1] != Py_None && core_grid_of(kernel, args[1], grid) < 0))
        return NULL;
    core_frame_init(&frame);
    PyObject *result = NULL, *given = core_complete(args[2], args[3], n == 7 ? args[6] : NULL);
    if (given && core_take_args(state, &frame, kernel, given) == 0 &&
        core_stream_of(state, args[0], &room, &stream) == 0) {
        ts_status status;
        CORE_BEGIN_USE(state, stream, NULL);
        status = ts_kernel_report(stream, kernel, frame.args, frame.n, grid, (ts_target)target, &report, &err);
        CORE_END_USE(state);
        if (status != TS_OK)
            core_raise(state, &err);
        else if (report_assemble(args[5], report) == 0)
            result = report_dict(state, report);
    }
    ts_report_destroy(report);
    core_frame_deinit(&frame);
    Py_XDECREF(given);
    return result;
}

static PyMethodDef report_functions[] = {
    {"report", (PyCFunction)(void (*)(void))report_make, METH_FASTCALL,
     "report(stream, grid, kernel, args, target, assemble, kwargs=None, /)\n--\n\n"
     "The cost report of a launch, as a dictionary."},
    {NULL, NULL, 0, NULL},
};

int core_report_init(PyObject *module, core_state *state)
{
    (void)state;
    return PyModule_AddFunctions(module, report_functions);
}
