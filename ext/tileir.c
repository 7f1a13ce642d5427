/* SPDX-License-Identifier: Apache-2.0
 *
 * Tile IR bytecode for python -m tessera tileir, export_kernel and tests. A module lives only during a call: what comes
 * in and out are bytes and text.
 */
#include "core.h"
#include "tessera/tileir.h"

/* A text or bytes that the library gave out, as a Python object. */
static PyObject *tileir_take(char *text, size_t n, int as_bytes)
{
    PyObject *result = as_bytes ? PyBytes_FromStringAndSize(text, (Py_ssize_t)n)
                                : PyUnicode_DecodeUTF8(text, (Py_ssize_t)n, "backslashreplace");
    const ts_alloc *alloc = ts_alloc_default();
    alloc->resize(alloc->user, text, n + 1, 0);
    return result;
}

/* The module of the bytes at the front of `args`; NULL with an exception. */
static ts_tileir *tileir_of(PyObject *module, Py_buffer *bytes)
{
    ts_tileir *m = NULL;
    ts_error err;
    ts_status status = ts_tileir_read(bytes->buf, (size_t)bytes->len, NULL, &m, &err);
    PyBuffer_Release(bytes);
    if (status != TS_OK)
        core_raise(PyModule_GetState(module), &err);
    return m;
}

static PyObject *tileir_print(PyObject *module, PyObject *args)
{
    Py_buffer bytes;
    char *text;
    size_t n;
    ts_error err;
    if (!PyArg_ParseTuple(args, "y*:tileir_print", &bytes))
        return NULL;
    ts_tileir *m = tileir_of(module, &bytes);
    if (!m)
        return NULL;
    ts_status status = ts_tileir_print(m, NULL, &text, &n, &err);
    ts_tileir_destroy(m);
    return status == TS_OK ? tileir_take(text, n, 0) : core_raise(PyModule_GetState(module), &err);
}

/* The module in our own IR, as text. */
static PyObject *tileir_to_ir(PyObject *module, PyObject *args)
{
    Py_buffer bytes;
    ts_module *ir;
    char *text;
    size_t n;
    ts_error err;
    const char *kernel = NULL;
    if (!PyArg_ParseTuple(args, "y*|z:tileir_to_ir", &bytes, &kernel))
        return NULL;
    ts_tileir *m = tileir_of(module, &bytes);
    if (!m)
        return NULL;
    ts_status status = ts_tileir_to_ir(m, kernel, NULL, &ir, &err);
    ts_tileir_destroy(m);
    if (status == TS_OK) {
        status = ts_module_print(ir, NULL, &text, &n, &err);
        ts_module_destroy(ir);
    }
    return status == TS_OK ? tileir_take(text, n, 0) : core_raise(PyModule_GetState(module), &err);
}

/* The bytes of a module as a file of a version; ends the module. */
static PyObject *tileir_written(PyObject *module, ts_tileir *m, unsigned version)
{
    char *bytes;
    size_t n;
    ts_error err;
    ts_status status = ts_tileir_write(m, version, NULL, &bytes, &n, &err);
    ts_tileir_destroy(m);
    return status == TS_OK ? tileir_take(bytes, n, 1) : core_raise(PyModule_GetState(module), &err);
}

/* A file of another version. */
static PyObject *tileir_rewrite(PyObject *module, PyObject *args)
{
    Py_buffer bytes;
    unsigned version;
    if (!PyArg_ParseTuple(args, "y*I:tileir_rewrite", &bytes, &version))
        return NULL;
    ts_tileir *m = tileir_of(module, &bytes);
    return m ? tileir_written(module, m, version) : NULL;
}

/* A file of the text of our own IR. */
static PyObject *tileir_of_ir(PyObject *module, PyObject *args)
{
    const char *text, *arch;
    Py_ssize_t n;
    unsigned version;
    ts_module *ir;
    ts_tileir *m = NULL;
    ts_error err;
    if (!PyArg_ParseTuple(args, "s#zI:tileir_of_ir", &text, &n, &arch, &version))
        return NULL;
    ts_status status = ts_module_read(text, (size_t)n, NULL, &ir, &err);
    if (status == TS_OK) {
        status = ts_tileir_of_ir(ir, version, arch, NULL, &m, &err);
        ts_module_destroy(ir);
    }
    return status == TS_OK ? tileir_written(module, m, version) : core_raise(PyModule_GetState(module), &err);
}

/* (version, [kernels]) */
static PyObject *tileir_facts(PyObject *module, PyObject *args)
{
    Py_buffer bytes;
    if (!PyArg_ParseTuple(args, "y*:tileir_facts", &bytes))
        return NULL;
    ts_tileir *m = tileir_of(module, &bytes);
    PyObject *names = m ? PyList_New(0) : NULL;
    const char *name;
    for (uint32_t i = 0; names && (name = ts_tileir_kernel(m, i)); i++) {
        PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
        if (!text || PyList_Append(names, text) < 0)
            Py_CLEAR(names);
        Py_XDECREF(text);
    }
    PyObject *result = names ? Py_BuildValue("IN", ts_tileir_version(m), names) : NULL;
    ts_tileir_destroy(m);
    return result;
}

static PyMethodDef tileir_functions[] = {
    {"tileir_print", tileir_print, METH_VARARGS,
     "tileir_print(bytecode, /)\n--\n\nThe text of Tile IR bytecode."},
    {"tileir_to_ir", tileir_to_ir, METH_VARARGS,
     "tileir_to_ir(bytecode, kernel=None, /)\n--\n\nThe text of our own IR of Tile IR bytecode."},
    {"tileir_rewrite", tileir_rewrite, METH_VARARGS,
     "tileir_rewrite(bytecode, version, /)\n--\n\nThe same module as a file of another version."},
    {"tileir_of_ir", tileir_of_ir, METH_VARARGS,
     "tileir_of_ir(ir, arch, version, /)\n--\n\nTile IR bytecode of the text of our own IR; arch None: any."},
    {"tileir_facts", tileir_facts, METH_VARARGS,
     "tileir_facts(bytecode, /)\n--\n\nIts version (13.3 as 133) and the names of its kernels."},
    {NULL, NULL, 0, NULL},
};

int core_tileir_init(PyObject *module, core_state *state)
{
    (void)state;
    return PyModule_AddFunctions(module, tileir_functions);
}
