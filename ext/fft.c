/* SPDX-License-Identifier: Apache-2.0
 *
 * Fourier transforms of lines (tessera/fft.h) on objects with the buffer protocol; tessera.numeric.fft is on it.
 */
#include "core.h"
#include "tessera/fft.h"
#include <string.h>

static const char fft_capsule[] = "tessera.fft_plan";

static void fft_end(PyObject *capsule)
{
    ts_fft_destroy(PyCapsule_GetPointer(capsule, fft_capsule));
}

static PyObject *fft_plan(PyObject *module, PyObject *args)
{
    long long n;
    int real;
    ts_fft *plan;
    ts_error err;
    if (!PyArg_ParseTuple(args, "Lp:fft_plan", &n, &real))
        return NULL;
    if (ts_fft_create(NULL, n, real, &plan, &err) != TS_OK)
        return core_raise(PyModule_GetState(module), &err);
    PyObject *capsule = PyCapsule_New(plan, fft_capsule, fft_end);
    if (!capsule)
        ts_fft_destroy(plan);
    return capsule;
}

/* Whether a buffer holds such numbers in the machine's byte order: Zf, Zd complex, f, d real. */
static bool fft_holds(const Py_buffer *view, bool is_real, bool single)
{
    const char *format = view->format ? view->format : "";
    format += *format == '@' || *format == '=';
    return strcmp(format, is_real ? single ? "f" : "d" : single ? "Zf" : "Zd") == 0;
}

/* The last axis is that of the lines, as long in the target as the plan makes them; the others are of one shape. */
static bool fft_fits(const ts_fft *plan, bool inverse, const Py_buffer *from, const Py_buffer *to)
{
    bool is_real = ts_fft_is_real(plan), single = from->format && strchr(from->format, 'f');
    bool fits = from->ndim == to->ndim && from->ndim >= 1 && from->ndim <= TS_FFT_RANK;
    for (int d = 0; fits && d + 1 < from->ndim; d++)
        fits = from->shape[d] == to->shape[d];
    return fits && to->shape[to->ndim - 1] == ts_fft_result(plan, inverse) &&
           fft_holds(from, is_real && !inverse, single) && fft_holds(to, is_real && inverse, single);
}

static void fft_lines_of(ts_fft_lines *lines, const Py_buffer *from, const Py_buffer *to)
{
    int last = from->ndim - 1;
    lines->single = strchr(from->format, 'f') != NULL;
    lines->from = from->buf, lines->to = to->buf;
    lines->n_in = from->shape[last];
    lines->from_step = from->strides[last], lines->to_step = to->strides[last];
    lines->rank = last;
    for (int d = 0; d < last; d++) {
        lines->shape[d] = from->shape[d];
        lines->from_strides[d] = from->strides[d], lines->to_strides[d] = to->strides[d];
    }
}

static PyObject *fft_run(PyObject *module, PyObject *args)
{
    PyObject *capsule, *source, *target;
    Py_buffer from, to;
    ts_error err;
    int inverse;
    double factor;
    if (!PyArg_ParseTuple(args, "OOOpd:fft_run", &capsule, &source, &target, &inverse, &factor))
        return NULL;
    ts_fft *plan = PyCapsule_GetPointer(capsule, fft_capsule);
    if (!plan || PyObject_GetBuffer(source, &from, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return NULL;
    if (PyObject_GetBuffer(target, &to, PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE) < 0) {
        PyBuffer_Release(&from);
        return NULL;
    }
    PyObject *result = NULL;
    if (fft_fits(plan, inverse, &from, &to)) {
        ts_fft_lines lines = {.inverse = inverse, .factor = factor};
        ts_status status;
        fft_lines_of(&lines, &from, &to);
        Py_BEGIN_ALLOW_THREADS
        status = ts_fft_run(plan, &lines, &err);
        Py_END_ALLOW_THREADS
        result = status == TS_OK ? Py_NewRef(Py_None) : core_raise(PyModule_GetState(module), &err);
    } else
        PyErr_Format(PyExc_TypeError, "fft_run: two arrays of one precision are wanted, of the numbers (complex or "
                     "real) that the plan transforms, whose shapes differ in the last axis only; the target's is %lld "
                     "long",
                     (long long)ts_fft_result(plan, inverse));
    PyBuffer_Release(&from);
    PyBuffer_Release(&to);
    return result;
}

static PyObject *fft_bytes(PyObject *module, PyObject *capsule)
{
    (void)module;
    ts_fft *plan = PyCapsule_GetPointer(capsule, fft_capsule);
    return plan ? PyLong_FromSize_t(ts_fft_bytes(plan)) : NULL;
}

static PyMethodDef fft_functions[] = {
    {"fft_plan", fft_plan, METH_VARARGS,
     "fft_plan(n, real, /)\n--\n\nA plan of transforms of n numbers (ts_fft_create of tessera/fft.h)."},
    {"fft_bytes", fft_bytes, METH_O, "fft_bytes(plan, /)\n--\n\nThe memory of a plan (ts_fft_bytes of tessera/fft.h)."},
    {"fft_run", fft_run, METH_VARARGS,
     "fft_run(plan, source, target, inverse, factor, /)\n--\n\nTransforms the lines along the last axis of source into "
     "those of target (ts_fft_run of tessera/fft.h)."},
    {NULL, NULL, 0, NULL},
};

int core_fft_init(PyObject *module, core_state *state)
{
    (void)state;
    return PyModule_AddFunctions(module, fft_functions);
}
