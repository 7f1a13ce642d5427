/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans of the library's kernels as tuples.
 */
#include "core.h"
#include "tessera/lib.h"

static PyObject *lib_constants(const ts_gemm_plan *plan)
{
    ts_arg args[TS_GEMM_CONSTANTS];
    Py_ssize_t n = (Py_ssize_t)ts_gemm_constants(plan, args);
    PyObject *tuple = PyTuple_New(n);
    for (Py_ssize_t i = 0; tuple && i < n; i++) {
        bool is_bool = args[i].kind == TS_SPEC_BOOL;
        PyObject *item = is_bool ? PyBool_FromLong((long)args[i].value.i) : PyLong_FromLongLong(args[i].value.i);
        if (item)
            PyTuple_SET_ITEM(tuple, i, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *lib_copy(const ts_gemm_copy *copy)
{
    if (copy->unit < 0)
        return Py_NewRef(Py_None);
    return Py_BuildValue("i(LL)", copy->unit, (long long)copy->shape[0], (long long)copy->shape[1]);
}

static PyObject *lib_plan_tuple(const ts_gemm_plan *plan)
{
    const ts_hints *h = &plan->hints;
    const int64_t *parts = plan->parts;
    PyObject *sums = parts[0] ? Py_BuildValue("(LLL)", (long long)parts[0], (long long)parts[1], (long long)parts[2])
                              : Py_NewRef(Py_None);
    return Py_BuildValue("s(iii)O(LLL)NO(NN)Ns", ts_lib_kernel_name(plan->kernel), h->num_ctas, h->occupancy,
                         h->num_stages, plan->flags & TS_LAUNCH_PDL ? Py_True : Py_False, (long long)plan->grid[0],
                         (long long)plan->grid[1], (long long)plan->grid[2], lib_constants(plan),
                         plan->swapped ? Py_True : Py_False, lib_copy(&plan->copies[0]), lib_copy(&plan->copies[1]),
                         sums, ts_dtype_name((ts_dtype)plan->sums));
}

/* gemm_plan(a, b, c, flags, tile, group, machine). */
static PyObject *lib_gemm_plan(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *arrays[3], *tile, *machine, *result = NULL;
    ts_gemm_plan plan;
    ts_error err;
    long long t[3] = {0}, group, units = 0;
    int target = 0;
    unsigned flags;
    if (!PyArg_ParseTuple(args, "OOOIOLO:gemm_plan", &arrays[0], &arrays[1], &arrays[2], &flags, &tile, &group,
                          &machine) ||
        (tile != Py_None && !PyArg_ParseTuple(tile, "LLL:tile", &t[0], &t[1], &t[2])) ||
        (machine != Py_None && !PyArg_ParseTuple(machine, "iL:machine", &target, &units)))
        return NULL;
    core_frame frame;
    core_frame_init(&frame);
    bool good = true;
    for (int i = 0; i < 3 && good; i++)
        good = core_take_object(state, &frame, arrays[i]) == 0;
    if (good && (frame.n != 3 || frame.has_constants)) {
        PyErr_SetString(PyExc_TypeError, "gemm_plan: a, b and c must be arrays");
        good = false;
    }
    if (good) {
        ts_gemm_desc desc = {.a = &frame.args[0], .b = &frame.args[1], .c = &frame.args[2], .flags = flags,
                             .tile = {t[0], t[1], t[2]}, .group = group, .target = (ts_target)target, .units = units};
        result = ts_gemm_plan_make(&desc, &plan, &err) == TS_OK ? lib_plan_tuple(&plan) : core_raise(state, &err);
    }
    core_frame_deinit(&frame);
    return result;
}

static PyMethodDef lib_functions[] = {
    {"gemm_plan", lib_gemm_plan, METH_VARARGS,
     "gemm_plan(a, b, c, flags, tile, group, machine, /)\n--\n\nThe plan of a product (ts_gemm_plan of tessera/lib.h): "
     "kernel, (num_ctas, occupancy, num_stages),\nwhether it starts early, grid, constants, whether it is transposed, "
     "copies, parts and the dtype of\nsums. machine: (target, units), or None for the device of c."},
    {NULL, NULL, 0, NULL},
};

int core_lib_init(PyObject *module, core_state *state)
{
    (void)state;
    return PyModule_AddFunctions(module, lib_functions);
}
