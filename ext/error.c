/* SPDX-License-Identifier: Apache-2.0
 *
 * Status codes to Python exceptions, by the table in tessera/base.h: a name with a dot is a class of
 * tessera._errors, others are builtins. And what the core gives as objects of Python: extents, texts.
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

/* Keywords are ASCII and a few letters long. */
static bool error_is_name(PyObject *name, const char *known)
{
    return PyUnicode_IS_COMPACT_ASCII(name) && strcmp((const char *)PyUnicode_1BYTE_DATA(name), known) == 0;
}

int core_named_args(const char *method, const char *const *known, Py_ssize_t n_known, PyObject *const *args,
                    Py_ssize_t n, PyObject *names, PyObject **out)
{
    if (n > n_known) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %zd arguments, not %zd", method, n_known, n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        out[i] = args[i];
    for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); k++) {
        PyObject *name = PyTuple_GET_ITEM(names, k);
        Py_ssize_t at = 0;
        while (at < n_known && !error_is_name(name, known[at]))
            at++;
        if (at == n_known || out[at]) {
            PyErr_Format(PyExc_TypeError, at == n_known ? "%s() has no argument named %R" : "%s() got %R twice", method,
                         name);
            return -1;
        }
        out[at] = args[n + k];
    }
    return 0;
}

int core_address_of(PyObject *object, uint64_t *out)
{
    PyObject *index = PyNumber_Index(object);
    *out = index ? PyLong_AsUnsignedLongLong(index) : 0;
    Py_XDECREF(index);
    return PyErr_Occurred() ? -1 : 0;
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

/* A driver's error is a CUDAError too, made where the bindings have theirs. 0: an exception is set. */
static int error_of_driver(PyObject *class, const ts_error *err)
{
    PyObject *module = PyImport_ImportModule("tessera.bindings._errors");
    PyObject *made = module ? PyObject_CallMethod(module, "of_driver", "Ois", class, err->driver_code, err->text)
                            : NULL;
    if (made)
        PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    else
        PyErr_Clear();
    Py_XDECREF(module);
    Py_XDECREF(made);
    return made ? 0 : -1;
}

/* What KernelError tells of itself, as tessera._errors.Failure; a new reference. */
static PyObject *error_failure(const ts_error *err)
{
    static const char *const codes[] = {[TS_FAULT_NONE] = "", [TS_FAULT_BOUNDS] = "bounds",
                                        [TS_FAULT_ASSERT] = "assert", [TS_FAULT_DIV_ZERO] = "division",
                                        [TS_FAULT_RAISE] = "raise", [TS_FAULT_RACE] = "race",
                                        [TS_FAULT_BARRIER] = "barrier", [TS_FAULT_UNWRITTEN] = "unwritten"};
    const ts_failure *f = &err->failure;
    const char *code = f->code < sizeof codes / sizeof *codes ? codes[f->code] : "";
    PyObject *module = PyImport_ImportModule("tessera._errors"), *thread = Py_NewRef(Py_None), *made = NULL;
    if (f->has_thread)
        Py_SETREF(thread, Py_BuildValue("(III)", f->thread[0], f->thread[1], f->thread[2]));
    if (module && thread)
        made = PyObject_CallMethod(module, "Failure", "sIsssI(III)O", code, f->object, err->text + f->message,
                                   err->text + f->file, err->text + f->function, f->line, f->block[0], f->block[1],
                                   f->block[2], thread);
    Py_XDECREF(module);
    Py_XDECREF(thread);
    return made;
}

PyObject *core_raise(core_state *state, const ts_error *err)
{
    int at = -(int)err->status;
    if (PyErr_Occurred())
        return NULL;
    PyObject *class = at > 0 && at < 32 && state->errors[at] ? state->errors[at] : PyExc_RuntimeError;
    if (err->status == TS_INTERRUPTED && PyErr_CheckSignals())
        return NULL;
    if (err->driver_code && error_of_driver(class, err) == 0)
        return NULL;
    PyObject *text = PyUnicode_DecodeUTF8(err->text, (Py_ssize_t)strlen(err->text), "replace");
    PyObject *made = text ? PyObject_CallOneArg(class, text) : NULL, *failure = NULL;
    if (made && err->failure.code && (failure = error_failure(err)) &&
        PyObject_SetAttrString(made, "failure", failure) < 0)
        Py_CLEAR(made);
    if (made && !PyErr_Occurred())
        PyErr_SetObject(class, made);
    Py_XDECREF(text);
    Py_XDECREF(made);
    Py_XDECREF(failure);
    return NULL;
}

PyObject *core_tuple(const int64_t *values, Py_ssize_t n)
{
    PyObject *tuple = PyTuple_New(n);
    for (Py_ssize_t d = 0; tuple && d < n; d++) {
        PyObject *item = PyLong_FromLongLong(values[d]);
        if (!item)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, d, item);
    }
    return tuple;
}

PyObject *core_text(char *text, size_t n)
{
    PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)n, "replace");
    const ts_alloc *alloc = ts_alloc_default();
    alloc->resize(alloc->user, text, n + 1, 0);
    return result;
}
