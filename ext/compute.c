/* SPDX-License-Identifier: Apache-2.0
 *
 * What tessera.compute asks of the library beside launches: kernels that lie packed in it, memory that becomes zero,
 * sorts and sums of arrays.
 */
#include "core.h"
#include "tessera/compute.h"
#include "tessera/device.h"
#include "tessera/graph.h"
#include "tessera/native.h"

static PyObject *compute_names(const ts_kernel_desc *desc)
{
    PyObject *names = PyTuple_New((Py_ssize_t)desc->n_params);
    for (size_t i = 0; names && i < desc->n_params; i++) {
        PyObject *name = PyUnicode_FromString(desc->params[i].name);
        if (name)
            PyTuple_SET_ITEM(names, (Py_ssize_t)i, name);
        else
            Py_CLEAR(names);
    }
    return names;
}

/* (name, file, names of parameters); reads no source. */
static PyObject *compute_about(PyObject *module, PyObject *text)
{
    const char *choices = PyUnicode_AsUTF8(text);
    ts_kernel_desc desc;
    ts_error err;
    if (!choices)
        return NULL;
    ts_status status = ts_compute_about(choices, &desc, &err);
    if (status == TS_VALUE)
        Py_RETURN_NONE;
    if (status != TS_OK)
        return core_raise(PyModule_GetState(module), &err);
    return Py_BuildValue("ssN", desc.name, desc.file, compute_names(&desc));
}

static PyObject *compute_pack(PyObject *module, PyObject *text)
{
    core_state *state = PyModule_GetState(module);
    const char *choices = PyUnicode_AsUTF8(text);
    ts_kernel_desc desc;
    ts_error err;
    if (!choices)
        return NULL;
    ts_status status = ts_compute_desc(choices, &desc, &err);
    if (status == TS_VALUE)
        Py_RETURN_NONE;
    if (status != TS_OK)
        return core_raise(state, &err);
    PyObject *made = PyBytes_FromStringAndSize((const char *)desc.source.bytes, (Py_ssize_t)desc.source.n);
    ts_compute_desc_deinit(&desc);
    return made;
}

/* The stream that the memory of an array is in order on. 0, or -1 with exception. */
static int clear_stream(core_state *state, PyObject *order, uint16_t id, ts_stream *room, const ts_stream **out)
{
    const ts_stream *given;
    ts_device *device;
    ts_error err;
    if (core_stream_of(state, order, room, &given) < 0)
        return -1;
    if (ts_device_by_id(id, &device, &err) != TS_OK)
        goto failed;
    *out = given && (!given->device || given->device == device) ? given : ts_device_default_stream(device);
    if ((*out)->device)
        return 0;
    if (ts_stream_find(device, given->native, room, &err) == TS_OK) {
        *out = room;
        return 0;
    }
failed:
    core_raise(state, &err);
    return -1;
}

static bool clear_is_dense(const ts_arg *arg)
{
    int64_t step = 1;
    for (uint32_t d = arg->rank; arg->strides && d-- > 0; step *= arg->shape[d])
        if (arg->strides[d] != step && arg->shape[d] > 1)
            return false;
    return true;
}

/* The end of a call on a stream: host memory that is lent for it is waited for. 0, or -1 with exception. */
static int clear_end(core_state *state, const core_frame *frame, const ts_stream *stream, ts_status status,
                     const ts_error *err)
{
    if (status != TS_OK) {
        core_raise(state, err);
        return -1;
    }
    return frame->has_host_memory && stream->impl && !ts_record_active(stream) ? core_finish_stream(state, stream) : 0;
}

static int clear_frame(core_state *state, PyObject *order, const core_frame *frame)
{
    const ts_arg *arg = &frame->args[0];
    uint64_t bytes = ts_dtype_bytes((ts_dtype)arg->dtype);
    const ts_stream *stream;
    ts_stream room;
    ts_status status;
    ts_error err;
    for (uint32_t d = 0; d < arg->rank; d++)
        bytes *= (uint64_t)arg->shape[d];
    if (clear_stream(state, order, arg->device, &room, &stream) < 0)
        return -1;
    uint32_t width = bytes % 4 ? 1 : 4;
    CORE_BEGIN_USE(state, stream, NULL);
    status = ts_mem_fill(stream, arg->value.data, 0, width, bytes / width, &err);
    CORE_END_USE(state);
    return clear_end(state, frame, stream, status, &err);
}

/* What was launched: the graph that its stream may record keeps what it uses. */
static int compute_used(core_state *state, PyObject *order, PyObject *const *objects, Py_ssize_t n)
{
    ts_stream room;
    const ts_stream *stream;
    if (core_stream_of(state, order, &room, &stream) < 0)
        return -1;
    return stream ? core_note_uses(state, stream->native, objects, (size_t)n) : 0;
}

static PyObject *compute_clear(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    core_state *state = PyModule_GetState(module);
    core_frame frame;
    if (n != 2) {
        PyErr_SetString(PyExc_TypeError, "compute_clear(stream, array)");
        return NULL;
    }
    core_frame_init(&frame);
    int got = core_take_object(state, &frame, args[1]);
    if (got == 0 && (frame.n != 1 || frame.args[0].kind != TS_SPEC_ARRAY || !clear_is_dense(&frame.args[0]))) {
        PyErr_SetString(PyExc_TypeError, "compute_clear: the second argument must be an array without gaps");
        got = -1;
    } else if (got == 0 && frame.args[0].readonly) {
        PyErr_SetString(PyExc_TypeError, "compute_clear: the array is read-only");
        got = -1;
    }
    if (got == 0)
        got = clear_frame(state, args[0], &frame);
    if (got == 0)
        got = compute_used(state, args[0], args + 1, 1);
    core_frame_deinit(&frame);
    return got < 0 ? NULL : Py_NewRef(Py_None);
}

/* Sorts the first n items of two arrays of a frame, or four; with n_parts >= 0 its last two say where parts are. */
static int sort_frame(core_state *state, PyObject *order, core_frame *frame, const int64_t *n, const int64_t *n_parts,
                      uint32_t flags)
{
    ts_arg *args = frame->args;
    const ts_compute_options options = {.flags = flags};
    const size_t n_items = frame->n - (*n_parts < 0 ? 0 : 2);
    const ts_stream *stream;
    ts_stream room;
    ts_status status;
    ts_error err;
    for (size_t i = 0; i < frame->n; i++) {
        args[i].shape = i < n_items ? n : n_parts;
        args[i].strides = NULL;
    }
    if (clear_stream(state, order, args[0].device, &room, &stream) < 0)
        return -1;
    const ts_arg *values = n_items == 4 ? args + 2 : NULL;
    CORE_BEGIN_USE(state, stream, NULL);
    status = *n_parts < 0 ? ts_sort(stream, args, values, &options, &err)
                          : ts_segmented_sort(stream, args, values, args + n_items, &options, &err);
    CORE_END_USE(state);
    return clear_end(state, frame, stream, status, &err);
}

/* Takes an array of one axis, without gaps and with at least n items, for a function. 0, or -1 with exception. */
static int sort_take(core_state *state, core_frame *frame, PyObject *array, int64_t n, const char *function)
{
    const size_t before = frame->n;
    if (core_take_object(state, frame, array) < 0)
        return -1;
    const ts_arg *arg = &frame->args[before];
    if (frame->n == before + 1 && arg->kind == TS_SPEC_ARRAY && arg->rank == 1 && clear_is_dense(arg) &&
        arg->shape[0] >= n)
        return 0;
    PyErr_Format(PyExc_TypeError, "%s: pass arrays of one axis, without gaps, with as many items", function);
    return -1;
}

static PyObject *compute_sort(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
    enum { FIRST = 4 }; /* array */
    core_state *state = PyModule_GetState(module);
    core_frame frame;
    if (n_args != FIRST + 2 && n_args != FIRST + 4 && n_args != FIRST + 6) {
        PyErr_SetString(PyExc_TypeError, "compute_sort(stream, n, n_parts, descending, keys, out[, values, out_values]"
                                         "[, starts, ends])");
        return NULL;
    }
    const int64_t n = PyLong_AsLongLong(args[1]), n_parts = PyErr_Occurred() ? -1 : PyLong_AsLongLong(args[2]);
    const int descending = PyErr_Occurred() ? -1 : PyObject_IsTrue(args[3]);
    if (descending < 0)
        return NULL;
    const Py_ssize_t bounds = n_parts < 0 ? n_args : n_args - 2;
    if (bounds == FIRST + 6) {
        PyErr_SetString(PyExc_TypeError, "compute_sort: there are starts and ends, and no parts");
        return NULL;
    }
    core_frame_init(&frame);
    int got = 0;
    for (Py_ssize_t i = FIRST; i < n_args && got == 0; i++)
        got = sort_take(state, &frame, args[i], i < bounds ? n : n_parts, "compute_sort");
    if (got == 0 && (bounds < FIRST + 2 || n < 0)) {
        PyErr_SetString(PyExc_TypeError, "compute_sort: there are no keys");
        got = -1;
    }
    if (got == 0)
        got = sort_frame(state, args[0], &frame, &n, &n_parts, descending ? TS_COMPUTE_DESCENDING : 0);
    if (got == 0)
        got = compute_used(state, args[0], args + FIRST, n_args - FIRST);
    core_frame_deinit(&frame);
    return got < 0 ? NULL : Py_NewRef(Py_None);
}

/* Sums up to each of the first n items, after the third argument if there is one. */
static int scan_frame(core_state *state, PyObject *order, core_frame *frame, const int64_t *n)
{
    ts_arg *args = frame->args;
    const ts_compute_options options = {.initial = frame->n > 2 ? &args[2] : NULL};
    const ts_stream *stream;
    ts_stream room;
    ts_status status;
    ts_error err;
    for (size_t i = 0; i < 2; i++) {
        args[i].shape = n;
        args[i].strides = NULL;
    }
    if (clear_stream(state, order, args[0].device, &room, &stream) < 0)
        return -1;
    CORE_BEGIN_USE(state, stream, NULL);
    status = ts_scan(stream, &args[0], &args[1], TS_COMBINE_add, &options, &err);
    CORE_END_USE(state);
    return clear_end(state, frame, stream, status, &err);
}

static PyObject *compute_sums(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
    enum { FIRST = 2 }; /* array */
    core_state *state = PyModule_GetState(module);
    core_frame frame;
    if (n_args != FIRST + 2 && n_args != FIRST + 3) {
        PyErr_SetString(PyExc_TypeError, "compute_sums(stream, n, array, out[, initial])");
        return NULL;
    }
    const int64_t n = PyLong_AsLongLong(args[1]);
    if (n == -1 && PyErr_Occurred())
        return NULL;
    core_frame_init(&frame);
    int got = n < 0 ? -1 : 0;
    if (got < 0)
        PyErr_Format(PyExc_ValueError, "compute_sums: n is %lld; it cannot be less than 0", (long long)n);
    for (Py_ssize_t i = FIRST; i < FIRST + 2 && got == 0; i++)
        got = sort_take(state, &frame, args[i], n, "compute_sums");
    if (got == 0 && n_args > FIRST + 2)
        got = core_take_object(state, &frame, args[FIRST + 2]);
    if (got == 0 && frame.n != (size_t)(n_args - FIRST)) {
        PyErr_SetString(PyExc_TypeError, "compute_sums: pass one number as the initial value");
        got = -1;
    }
    if (got == 0)
        got = scan_frame(state, args[0], &frame, &n);
    if (got == 0)
        got = compute_used(state, args[0], args + FIRST, n_args - FIRST);
    core_frame_deinit(&frame);
    return got < 0 ? NULL : Py_NewRef(Py_None);
}

/* Warns of what went wrong in the background, once. */
static PyObject *code_warned(void)
{
    const char *problem = ts_code_problem();
    return problem && PyErr_WarnEx(PyExc_RuntimeWarning, problem, 1) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *code_wait(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS
    ts_code_wait();
    Py_END_ALLOW_THREADS
    return code_warned();
}

static PyObject *code_end(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS
    ts_code_end();
    Py_END_ALLOW_THREADS
    return code_warned();
}

static PyMethodDef compute_functions[] = {
    {"compute_about", compute_about, METH_O,
     "compute_about(choices, /)\n--\n\nA kernel of an algorithm that lies in the library, by its choices "
     "(ts_compute_desc of tessera/compute.h):\nname, file, names of parameters; None where there is none."},
    {"compute_pack", compute_pack, METH_O,
     "compute_pack(choices, /)\n--\n\nThe pack of the kernel that compute_about tells of; None where there is none."},
    {"compute_clear", (PyCFunction)(void (*)(void))compute_clear, METH_FASTCALL,
     "compute_clear(stream, array, /)\n--\n\nMakes the memory of an array without gaps zero, in the order of a "
     "stream."},
    {"compute_sort", (PyCFunction)(void (*)(void))compute_sort, METH_FASTCALL,
     "compute_sort(stream, n, n_parts, descending, /, *arrays)\n--\n\nts_sort (tessera/compute.h) of the first n "
     "items: keys, result, values and their result if\nthere are some. With n_parts >= 0 ts_segmented_sort, of parts "
     "whose begins and ends are the last arrays."},
    {"compute_sums", (PyCFunction)(void (*)(void))compute_sums, METH_FASTCALL,
     "compute_sums(stream, n, array, out, initial=None, /)\n--\n\nts_scan (tessera/compute.h) by addition of the first "
     "n items of an array, after an initial\nvalue if one is given."},
    {"code_wait", code_wait, METH_NOARGS,
     "code_wait()\n--\n\nWaits until all code that is made in the background is there (ts_code_wait of "
     "tessera/launch.h). Warns\nonce where some could not be made."},
    {"code_end", code_end, METH_NOARGS,
     "code_end()\n--\n\nThe same, and nothing is made in the background from now on (ts_code_end)."},
    {NULL, NULL, 0, NULL},
};

int core_compute_init(PyObject *module, core_state *state)
{
    (void)state;
    return PyModule_AddFunctions(module, compute_functions);
}
