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
#define CORE_NAME(member, text) \
    if (!(state->name_##member = PyUnicode_InternFromString(text))) \
        return -1;
    CORE_NAMES(CORE_NAME)
#undef CORE_NAME
#define CORE_TUPLE(member, ...) \
    if (!(state->member = Py_BuildValue(__VA_ARGS__))) \
        return -1;
    CORE_TUPLES(CORE_TUPLE)
#undef CORE_TUPLE
    return 0;
}

static int module_exec(PyObject *module)
{
    core_state *state = PyModule_GetState(module);
    state->module = module;
    if (module_names(state) < 0 || core_errors_init(state) < 0 || core_dtypes_init(module) < 0 ||
        core_array_init(module, state) < 0 || core_stream_init(module, state) < 0 ||
        core_event_init(module, state) < 0 || core_await_init(module, state) < 0 ||
        core_graph_init(module, state) < 0 ||
        core_pool_init(module, state) < 0 || core_buffer_init(module, state) < 0 ||
        core_native_init(module, state) < 0 ||
        core_host_launch_init(module, state) < 0 || core_kernel_init(module, state) < 0 ||
        core_threads_init(module, state) < 0 || core_replay_init(module) < 0 ||
        core_tools_init(module, state) < 0 || core_source_init(module, state) < 0 ||
        core_tileir_init(module, state) < 0 || core_lib_init(module, state) < 0 ||
        core_compute_init(module, state) < 0 ||
        core_xla_init(module, state) < 0 ||
        core_report_init(module, state) < 0 || core_evaluate_init(module, state) < 0 ||
        core_view_init(module, state) < 0 || core_numeric_init(module, state) < 0 ||
        core_fft_init(module, state) < 0 ||
        core_numbers_init(module, state) < 0)
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
    Py_VISIT(state->evaluation_type);
    Py_VISIT(state->piece_type);
    Py_VISIT(state->buffer_type);
    Py_VISIT(state->pool_type);
    Py_VISIT(state->native_type);
    Py_VISIT(state->config_type);
    Py_VISIT(state->thread_launch_type);
    return core_numeric_traverse(state, visit, arg);
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
    Py_CLEAR(state->evaluation_type);
    Py_CLEAR(state->piece_type);
    Py_CLEAR(state->buffer_type);
    Py_CLEAR(state->pool_type);
    Py_CLEAR(state->native_type);
    Py_CLEAR(state->config_type);
    Py_CLEAR(state->thread_launch_type);
    core_numeric_clear(state);
#define CORE_NAME(member, text) Py_CLEAR(state->name_##member);
    CORE_NAMES(CORE_NAME)
#undef CORE_NAME
#define CORE_TUPLE(member, ...) Py_CLEAR(state->member);
    CORE_TUPLES(CORE_TUPLE)
#undef CORE_TUPLE
    return 0;
}

PY_MODULE(core_module, _core, "The C library of Tessera, for Python.", core_state, NULL,
          Py_MOD_GIL_NOT_USED) /* lock.h */
