/* SPDX-License-Identifier: Apache-2.0
 *
 * The module tessera._core: multi-phase init, all state in the module.
 */
#include "host.h"
#include "pymodule.h"

extern PyModuleDef core_module;

/* The state of the module that defined `type` or one of its bases. */
core_state *core_state_of_type(PyTypeObject *type)
{
    for (PyTypeObject *t = type; t; t = t->tp_base)
        if (t->tp_flags & Py_TPFLAGS_HEAPTYPE) {
            PyObject *module = ((PyHeapTypeObject *)t)->ht_module;
            if (module && PyModule_Check(module) && PyModule_GetDef(module) == &core_module)
                return PyModule_GetState(module);
        }
    return NULL;
}

static int module_names(core_state *state)
{
    const struct {
        PyObject **at;
        const char *text;
    } names[] = {
        {&state->name_prepare, "_prepare"},       {&state->name_dlpack, "__dlpack__"},
        {&state->name_cuda_stream, "cuda_stream"}, {&state->name_cuda_stream_protocol, "__cuda_stream__"},
        {&state->name_ptr, "ptr"},                {&state->name_handle, "handle"},
        {&state->name_cuda_array, "__cuda_array_interface__"},
        {&state->name_array_interface, "__array_interface__"},
        {&state->name_dtype, "dtype"},            {&state->name_name, "name"},
        {&state->name_deallocate, "deallocate"},  {&state->name_stream, "stream"},
        {&state->name_launched, "_launched"},     {&state->name_event_class, "_event_class"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!(*names[i].at = PyUnicode_InternFromString(names[i].text)))
            return -1;
    state->dlpack_names = Py_BuildValue("(s)", "max_version");
    state->dlpack_version = Py_BuildValue("(ii)", 1, 0);
    state->stream_names = Py_BuildValue("(s)", "stream");
    return state->dlpack_names && state->dlpack_version && state->stream_names ? 0 : -1;
}

static int module_exec(PyObject *module)
{
    core_state *state = PyModule_GetState(module);
    state->module = module;
    if (module_names(state) < 0 || core_errors_init(state) < 0 ||
        core_array_init(module, state) < 0 || core_stream_init(module, state) < 0 ||
        core_event_init(module, state) < 0 || core_await_init(module, state) < 0 ||
        core_graph_init(module, state) < 0 ||
        core_pool_init(module, state) < 0 || core_buffer_init(module, state) < 0 ||
        core_native_init(module, state) < 0 ||
        core_host_launch_init(module, state) < 0 || core_kernel_init(module, state) < 0 ||
        core_tools_init(module, state) < 0 ||
        core_report_init(module, state) < 0 || core_view_init(module, state) < 0)
        return -1;
    return 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    core_state *state = PyModule_GetState(module);
    for (size_t i = 0; i < sizeof state->errors / sizeof *state->errors; i++)
        Py_VISIT(state->errors[i]);
    for (int i = 0; i < TS_DTYPE_COUNT; i++)
        Py_VISIT(state->dtypes[i]);
    for (int i = 0; i < state->n_takers; i++)
        Py_VISIT(state->takers[i].type);
    for (int i = 0; i < state->n_seen; i++)
        Py_VISIT(state->seen[i].object);
    for (int i = 0; i < state->n_launch_seen; i++)
        Py_VISIT(state->launch_seen[i].type);
    Py_VISIT(state->builders);
    Py_VISIT(state->array_type);
    Py_VISIT(state->stream_type);
    Py_VISIT(state->event_type);
    Py_VISIT(state->kernel_type);
    Py_VISIT(state->piece_type);
    Py_VISIT(state->buffer_type);
    Py_VISIT(state->pool_type);
    Py_VISIT(state->native_type);
    Py_VISIT(state->config_type);
    return 0;
}

static int module_clear(PyObject *module)
{
    core_state *state = PyModule_GetState(module);
    for (size_t i = 0; i < sizeof state->errors / sizeof *state->errors; i++)
        Py_CLEAR(state->errors[i]);
    for (int i = 0; i < TS_DTYPE_COUNT; i++)
        Py_CLEAR(state->dtypes[i]);
    for (int i = 0; i < state->n_takers; i++) {
        core_taker_drop(&state->takers[i]);
        Py_CLEAR(state->takers[i].type);
    }
    state->n_takers = 0;
    for (int i = 0; i < state->n_seen; i++)
        Py_CLEAR(state->seen[i].object);
    state->n_seen = 0;
    for (int i = 0; i < state->n_launch_seen; i++)
        Py_CLEAR(state->launch_seen[i].type);
    state->n_launch_seen = 0;
    Py_CLEAR(state->builders);
    Py_CLEAR(state->array_type);
    Py_CLEAR(state->stream_type);
    Py_CLEAR(state->event_type);
    Py_CLEAR(state->kernel_type);
    Py_CLEAR(state->piece_type);
    Py_CLEAR(state->buffer_type);
    Py_CLEAR(state->pool_type);
    Py_CLEAR(state->native_type);
    Py_CLEAR(state->config_type);
    PyObject **names[] = {&state->name_prepare, &state->name_dlpack, &state->name_cuda_stream,
                          &state->name_cuda_stream_protocol, &state->name_ptr, &state->name_handle,
                          &state->name_cuda_array, &state->name_array_interface, &state->name_dtype, &state->name_name,
                          &state->name_event_class,
                          &state->dlpack_names, &state->dlpack_version, &state->name_deallocate, &state->name_stream,
                          &state->name_launched,
                          &state->stream_names, &state->name_dlpack_device, &state->view_names, &state->view_name};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        Py_CLEAR(*names[i]);
    return 0;
}

PY_MODULE(core_module, _core, "The C library of Tessera, for Python.", core_state, NULL)
