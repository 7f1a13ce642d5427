/* SPDX-License-Identifier: Apache-2.0
 *
 * Status codes to Python exceptions, by the table in tessera/base.h: a name with a dot is a class of
 * tessera._errors, others are builtins.
 */
#include "core.h"
#include <string.h>

static PyObject *error_class(const char *name)
{
    static const char own[] = "tessera.";
    int is_own = strncmp(name, own, sizeof own - 1) == 0;
    PyObject *module = PyImport_ImportModule(is_own ? "tessera._errors" : "builtins");
    if (!module)
        return NULL;
    PyObject *class = PyObject_GetAttrString(module, is_own ? name + sizeof own - 1 : name);
    Py_DECREF(module);
    return class;
}

int core_errors_init(core_state *state)
{
#define X(name, value, exception, sentence)                                                        \
    if (value != 0 && !(state->errors[-(value)] = error_class(exception)))                         \
        return -1;
    TS_STATUSES(X)
#undef X
    return 0;
}

PyObject *core_raise(core_state *state, const ts_error *err)
{
    int at = -(int)err->status;
    if (PyErr_Occurred())
        return NULL;
    PyObject *class = at > 0 && at < 32 && state->errors[at] ? state->errors[at] : PyExc_RuntimeError;
    if (err->status == TS_INTERRUPTED && PyErr_CheckSignals())
        return NULL;
    PyObject *text = PyUnicode_DecodeUTF8(err->text, (Py_ssize_t)strlen(err->text), "replace");
    if (text) {
        PyErr_SetObject(class, text);
        Py_DECREF(text);
    }
    return NULL;
}
