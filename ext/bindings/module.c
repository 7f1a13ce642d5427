/* SPDX-License-Identifier: Apache-2.0
 *
 * The module tessera._bindings: multi-phase init, all state in the module; and hooks, which let the driver
 * call Python functions.
 */
#include "bindings.h"
#include "../pymodule.h"
#include <stdlib.h>
#include <string.h>

extern PyModuleDef bind_module;

bind_state *bind_state_of(PyTypeObject *type)
{
    for (PyTypeObject *t = type; t; t = t->tp_base)
        if (t->tp_flags & Py_TPFLAGS_HEAPTYPE) {
            PyObject *module = ((PyHeapTypeObject *)t)->ht_module;
            if (module && PyModule_Check(module) && PyModule_GetDef(module) == &bind_module)
                return PyModule_GetState(module);
        }
    return NULL;
}

PyObject *bind_add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type && PyModule_AddType(module, (PyTypeObject *)type) < 0)
        Py_CLEAR(type);
    return type;
}

/* ---- hooks ------------------------------------------------------------------------------------------------------ */

/* A Python callable that the driver calls once, with the object given for it. It takes the GIL on the driver's
 * thread; an exception in it is reported as unraisable, for there is nobody to raise it to. The driver and the
 * function that passed it on hold it: a call may fail after its callback has run. */
typedef struct hook {
    PyObject *callable, *user; /* owned */
    int owners;
    bool is_called;
} hook;

static void hook_release(hook *h, int n)
{
    h->owners -= n;
    if (h->owners > 0)
        return;
    Py_DECREF(h->callable);
    Py_DECREF(h->user);
    free(h);
}

static void hook_run(hook *h, PyObject *arguments)
{
    h->is_called = true;
    PyObject *result = arguments ? PyObject_CallObject(h->callable, arguments) : NULL;
    if (!result)
        PyErr_WriteUnraisable(h->callable);
    Py_XDECREF(result);
    Py_XDECREF(arguments);
    hook_release(h, 1);
}

static void hook_host(void *data)
{
    if (!Py_IsInitialized())
        return;
    PyGILState_STATE gil = PyGILState_Ensure();
    hook_run(data, PyTuple_Pack(1, ((hook *)data)->user));
    PyGILState_Release(gil);
}

static void hook_stream(void *stream, int status, void *data)
{
    if (!Py_IsInitialized())
        return;
    PyGILState_STATE gil = PyGILState_Ensure();
    hook_run(data, Py_BuildValue("KiO", (unsigned long long)(uintptr_t)stream, status, ((hook *)data)->user));
    PyGILState_Release(gil);
}

static PyObject *module_hook(PyObject *module, PyObject *args)
{
    (void)module;
    int is_stream;
    PyObject *callable, *user;
    if (!PyArg_ParseTuple(args, "pOO:hook", &is_stream, &callable, &user))
        return NULL;
    if (!PyCallable_Check(callable)) {
        PyErr_Format(PyExc_TypeError, "a callback must be callable, not %.100s", Py_TYPE(callable)->tp_name);
        return NULL;
    }
    hook *h = malloc(sizeof *h);
    if (!h)
        return PyErr_NoMemory();
    *h = (hook){Py_NewRef(callable), Py_NewRef(user), 2, false};
    union {
        void (*host)(void *);
        void (*stream)(void *, int, void *);
        uintptr_t address;
    } entry = {0};
    if (is_stream)
        entry.stream = hook_stream;
    else
        entry.host = hook_host;
    return Py_BuildValue("KK", (unsigned long long)entry.address, (unsigned long long)(uintptr_t)h);
}

static PyObject *module_unhook(PyObject *module, PyObject *args)
{
    (void)module;
    unsigned long long address;
    int is_taken;
    if (!PyArg_ParseTuple(args, "Kp:unhook", &address, &is_taken))
        return NULL;
    hook *h = (hook *)(uintptr_t)address;
    hook_release(h, !is_taken && !h->is_called ? 2 : 1);
    Py_RETURN_NONE;
}

static PyMethodDef module_functions[] = {
    {"hook", module_hook, METH_VARARGS,
     "hook(is_stream, callable, user): (function, userData) addresses for the driver; then unhook."},
    {"unhook", module_unhook, METH_VARARGS, "unhook(userData, is_taken): after the call; was it accepted?"},
    {0},
};

/* ---- the module ------------------------------------------------------------------------------------------------- */

static int module_exec(PyObject *module)
{
    bind_state *state = PyModule_GetState(module);
#define BIND_NAME(member, text) \
    if (!(state->name_##member = PyUnicode_InternFromString(text))) \
        return -1;
    BIND_NAMES(BIND_NAME)
#undef BIND_NAME
    return bind_type_init(module, state) < 0 || bind_handle_init(module, state) < 0 ||
                   bind_record_init(module, state) < 0 || bind_function_init(module, state) < 0
               ? -1
               : 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    bind_state *state = PyModule_GetState(module);
    Py_VISIT(state->type_type);
    Py_VISIT(state->handle_type);
    Py_VISIT(state->record_type);
    Py_VISIT(state->field_type);
    Py_VISIT(state->function_type);
    Py_VISIT(state->ctypes);
    return 0;
}

static int module_clear(PyObject *module)
{
    bind_state *state = PyModule_GetState(module);
    Py_CLEAR(state->type_type);
    Py_CLEAR(state->handle_type);
    Py_CLEAR(state->record_type);
    Py_CLEAR(state->field_type);
    Py_CLEAR(state->function_type);
    Py_CLEAR(state->ctypes);
#define BIND_NAME(member, text) Py_CLEAR(state->name_##member);
    BIND_NAMES(BIND_NAME)
#undef BIND_NAME
    return 0;
}

PY_MODULE(bind_module, _bindings, "The interpreter of the binding tables; used by tessera.bindings.", bind_state,
          module_functions, Py_MOD_GIL_USED) /* records are plain memory that threads share */
