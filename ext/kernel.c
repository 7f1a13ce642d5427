/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels and launch(). Kernel is the base of tessera.tile.kernel: it holds a ts_kernel, made on first
 * use from what the Python side's _prepare() gives: (name, file, pack bytes or IR text, (parameter, ...), ((target or
 * 0, (a number for each of TS_HINTS)), ...), who evaluates its expressions of Python (_host.Host) or None[, id]). With
 * an id (ts_source) the pack may be None: then host.source() gives it. A parameter is a row in the order of ts_param:
 * (name or None, flags, static_shape, static_stride, dtype, static_shape_end, static_stride_end, form, (a row for each
 * item, ...)).
 * launch() is one pass over the arguments into C form (args.c), then ts_launch.
 */
#include "host.h"
#include "tessera/graph.h"
#include <stddef.h>
#include <string.h>
#include <structmember.h>

typedef struct kernel_object {
    PyObject_HEAD
    core_state *state;
    ts_kernel *kernel;
    core_evaluator evaluator; /* filled before `kernel` is, by the thread that makes it */
    core_kernel_facts facts;  /* the same, but for `hooked` and `waits` */
} kernel_object;

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    kernel_object *self = (kernel_object *)type->tp_alloc(type, 0);
    if (self)
        self->state = core_state_of_type(type);
    return (PyObject *)self;
}

static int kernel_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((kernel_object *)self)->evaluator.host);
    return 0;
}

static int kernel_clear(PyObject *self)
{
    Py_CLEAR(((kernel_object *)self)->evaluator.host);
    return 0;
}

static void kernel_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_BEGIN_ALLOW_THREADS; /* unloading waits for the device */
    ts_kernel_release(((kernel_object *)self)->kernel);
    Py_END_ALLOW_THREADS;
    kernel_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static int kernel_params(PyObject *rows, core_prepared *out, const ts_param **first);

static int kernel_param(PyObject *row, core_prepared *out, ts_param *to)
{
    int flags, shape, stride, dtype, shape_end, stride_end, form;
    PyObject *items;
    if (!PyArg_ParseTuple(row, "ziiiiiiiO!", &to->name, &flags, &shape, &stride, &dtype, &shape_end, &stride_end,
                          &form, &PyTuple_Type, &items) ||
        kernel_params(items, out, &to->items) < 0)
        return -1;
    to->flags = (uint16_t)flags;
    to->static_shape = (uint8_t)shape;
    to->static_stride = (uint8_t)stride;
    to->dtype = (uint8_t)dtype;
    to->static_shape_end = (uint8_t)shape_end;
    to->static_stride_end = (uint8_t)stride_end;
    to->form = (uint8_t)form;
    to->n_items = (uint8_t)PyTuple_GET_SIZE(items);
    return 0;
}

/* Rows that stand side by side: parameters, or the items of one. */
static int kernel_params(PyObject *rows, core_prepared *out, const ts_param **first)
{
    size_t n = (size_t)PyTuple_GET_SIZE(rows);
    ts_param *to = out->params + out->n_params;
    if (n > TS_LAUNCH_ARGS || n > CORE_PARAMS - out->n_params) {
        PyErr_Format(PyExc_TypeError,
                     "kernel %s has more than %d parameters, or its annotations name more than %d items",
                     out->desc.name, TS_LAUNCH_ARGS, CORE_PARAMS);
        return -1;
    }
    out->n_params += n;
    *first = to;
    for (size_t i = 0; i < n; i++)
        if (kernel_param(PyTuple_GET_ITEM(rows, (Py_ssize_t)i), out, &to[i]) < 0)
            return -1;
    return 0;
}

/* One row: (target, (small integers in the order of TS_HINTS)); target 0 holds everywhere else. */
static int kernel_hint_row(PyObject *row, ts_kernel_desc *desc, ts_target_hints *room)
{
    int target;
    PyObject *values;
    ts_hints hints = {0};
    uint8_t *bytes = (uint8_t *)&hints;
    if (!PyArg_ParseTuple(row, "iO!", &target, &PyTuple_Type, &values))
        return -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(values) && i < (Py_ssize_t)sizeof hints; i++) {
        long hint = PyLong_AsLong(PyTuple_GET_ITEM(values, i));
        if (hint < 0 || hint > UINT8_MAX) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_ValueError, "_prepare(): hint %zd is %ld, which is not 0 to 255", i, hint);
            return -1;
        }
        bytes[i] = (uint8_t)hint;
    }
    if (!target)
        desc->hints = hints;
    else if (desc->n_by_target < TS_LAUNCH_TARGETS)
        room[desc->n_by_target++] = (ts_target_hints){(ts_target)target, hints};
    else {
        PyErr_Format(PyExc_ValueError, "hints name more than %d targets; leave out those you do not run on",
                     TS_LAUNCH_TARGETS);
        return -1;
    }
    return 0;
}

static int kernel_rows(PyObject *rows, PyObject *hints, core_prepared *out)
{
    ts_kernel_desc *desc = &out->desc;
    desc->n_params = (size_t)PyTuple_GET_SIZE(rows);
    if (kernel_params(rows, out, &desc->params) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(hints); i++)
        if (kernel_hint_row(PyTuple_GET_ITEM(hints, i), desc, out->by_target) < 0)
            return -1;
    return 0;
}

void core_prepared_end(core_prepared *prepared)
{
    if (prepared->pack.obj)
        PyBuffer_Release(&prepared->pack);
    if (prepared->id.obj)
        PyBuffer_Release(&prepared->id);
}

int core_prepared_of(core_state *state, PyObject *tuple, core_prepared *out)
{
    PyObject *rows, *hints, *host;
    memset(out, 0, sizeof *out);
    ts_kernel_desc *desc = &out->desc;
    if (!PyArg_ParseTuple(tuple, "szz*O!O!O|z*", &desc->name, &desc->file, &out->pack, &PyTuple_Type,
                          &rows, &PyTuple_Type, &hints, &host, &out->id))
        return -1;
    bool packed = !out->pack.buf || (out->pack.len >= 4 && memcmp(out->pack.buf, "TSPK", 4) == 0); /* else IR's text */
    out->evaluator = (core_evaluator){state, host};
    desc->source = (ts_source){.kind = packed ? TS_SOURCE_PYTHON : TS_SOURCE_TEXT, .bytes = out->pack.buf,
                               .n = (size_t)out->pack.len, .host = core_host_of(&out->evaluator), .id = out->id.buf,
                               .n_id = (size_t)out->id.len};
    desc->by_target = out->by_target;
    if (kernel_rows(rows, hints, out) < 0) {
        core_prepared_end(out);
        return -1;
    }
    if (!packed)
        desc->params = NULL; /* IR says itself what it takes */
    return 0;
}

/* Warns once where the directory of compiled code is not safe to use. */
static int kernel_see_cache(core_state *state)
{
    if (CORE_TAKE(state->has_seen_cache, true))
        return 0;
    const char *problem = ts_cache_problem();
    return problem ? PyErr_WarnEx(PyExc_RuntimeWarning, problem, 1) : 0;
}

/* The host that the kernel object owns, which lives as long as its launches. All that threads prepare at once are
 * alike: the first stays. */
static void kernel_set_host(kernel_object *self, core_prepared *prepared)
{
    PyObject *host = Py_NewRef(prepared->evaluator.host);
    CORE_LOCK(&self->state->lock);
    if (!self->evaluator.host) {
        self->evaluator = (core_evaluator){self->state, host};
        host = NULL;
    }
    CORE_UNLOCK(&self->state->lock);
    Py_XDECREF(host);
    prepared->desc.source.host = core_host_of(&self->evaluator);
}

/* Kernels of IR do not say. */
static bool kernel_has_keyword_only(kernel_object *self)
{
    PyObject *answer = PyObject_CallMethod((PyObject *)self, "_has_keyword_only", NULL);
    bool has = answer == Py_True;
    Py_XDECREF(answer);
    PyErr_Clear();
    return has;
}

static int kernel_create(kernel_object *self, PyObject *tuple)
{
    core_prepared prepared;
    ts_error err;
    if (kernel_see_cache(self->state) < 0 || core_prepared_of(self->state, tuple, &prepared) < 0)
        return -1;
    ts_kernel *made, *none = NULL;
    kernel_set_host(self, &prepared);
    self->facts.n_whole = kernel_has_keyword_only(self) ? PY_SSIZE_T_MAX : (Py_ssize_t)prepared.desc.n_params;
    self->facts.packed = prepared.desc.source.kind == TS_SOURCE_PYTHON;
    ts_status status = ts_kernel_create(&prepared.desc, &made, &err);
    core_prepared_end(&prepared);
    if (status == TS_OK &&
        !__atomic_compare_exchange_n(&self->kernel, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        ts_kernel_release(made); /* another thread was faster */
    if (status == TS_OK)
        return 0;
    core_raise(self->state, &err);
    return -1;
}

/* The C kernel of a Kernel object, prepared on first use. */
ts_kernel *core_kernel_of(core_state *state, PyObject *object)
{
    if (!PyObject_TypeCheck(object, state->kernel_type)) {
        PyErr_Format(PyExc_TypeError,
                     "launch() takes a function decorated with @kernel, not a %.200s%s",
                     Py_TYPE(object)->tp_name,
                     PyCallable_Check(object) && !PyFunction_Check(object) ? "; call it with its arguments" : "");
        return NULL;
    }
    kernel_object *self = (kernel_object *)object;
    ts_kernel *kernel = CORE_GET(self->kernel);
    if (kernel)
        return kernel;
    PyObject *prepared = PyObject_CallMethodNoArgs(object, state->name_prepare);
    if (!prepared)
        return NULL;
    if (!CORE_GET(self->kernel)) /* another thread may have been faster */
        kernel_create(self, prepared);
    Py_DECREF(prepared);
    return CORE_GET(self->kernel);
}

core_kernel_facts *core_kernel_view(PyObject *kernel)
{
    return &((kernel_object *)kernel)->facts;
}

static int kernel_axis(const ts_kernel *kernel, PyObject *item, Py_ssize_t axis, int64_t *out)
{
    int overflow = 0;
    PyObject *index = PyLong_CheckExact(item) ? Py_NewRef(item) : PyNumber_Index(item);
    if (!index) {
        PyErr_Format(
            PyExc_TypeError,
            "kernel '%s': axis %zd of the grid is %R, not an integer; %s", ts_kernel_name(kernel), axis, item,
            item == Py_None || PyObject_HasAttrString(item, "__cuda_stream__") ||
                    PyObject_HasAttrString(item, "cuda_stream")
                ? "k[grid] takes no stream: ct.launch(stream, grid, k, arguments) does"
                : "ct.cdiv and // give integers");
        return -1;
    }
    *out = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (!overflow)
        return 0;
    PyErr_Format(PyExc_ValueError, "kernel '%s': axis %zd of the grid is %R; it must be 0 to %lld",
                 ts_kernel_name(kernel), axis, item, (long long)TS_GRID_MAX);
    return -1;
}

int core_grid_of(const ts_kernel *kernel, PyObject *object, int64_t grid[3])
{
    grid[0] = grid[1] = grid[2] = 1;
    if (!PyTuple_Check(object) && PyIndex_Check(object) && !PySequence_Check(object))
        return kernel_axis(kernel, object, 0, &grid[0]);
    if (!PyTuple_Check(object) && !PyList_Check(object)) {
        PyErr_Format(PyExc_TypeError,
                     "kernel '%s': the grid is an int or a tuple of up to 3, as grid=(8,), not a %.200s",
                     ts_kernel_name(kernel), Py_TYPE(object)->tp_name);
        return -1;
    }
    PyObject *copy = PyTuple_Check(object) ? NULL : PyList_AsTuple(object); /* other threads may change a list */
    PyObject *axes = copy ? copy : object;
    if (!PyTuple_Check(axes))
        return -1;
    Py_ssize_t n = PyTuple_GET_SIZE(axes);
    int result = n > 3 ? -1 : 0; /* of no axes: one block */
    if (result < 0)
        PyErr_Format(PyExc_ValueError, "kernel '%s': the grid has at most 3 axes, not %zd", ts_kernel_name(kernel), n);
    for (Py_ssize_t i = 0; i < n && result == 0; i++)
        result = kernel_axis(kernel, PyTuple_GET_ITEM(axes, i), i, &grid[i]);
    Py_XDECREF(copy);
    return result;
}

/* Compiling and the grids of a CPU take long. A GPU's driver waits while its queue is full, perhaps for a host
 * function in Python, which needs the GIL. */
static ts_status kernel_run(const ts_stream *stream, const int64_t grid[3], ts_kernel *kernel, core_frame *frame,
                            uint32_t flags, ts_error *err)
{
    ts_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = ts_launch(stream, grid, kernel, frame->args, frame->n, flags, err);
    Py_END_ALLOW_THREADS;
    return status;
}

/* Runs a kernel with the arguments that the frame holds already. */
static PyObject *kernel_launch_frame(core_state *state, const ts_stream *stream, const int64_t grid[3],
                                     ts_kernel *kernel, core_frame *frame, uint32_t flags)
{
    ts_error err;
    core_use use; /* over the launch and the wait: another thread may close the stream */
    bool lent = frame->has_host_memory && stream && stream->impl && /* for this call only */
                !(flags & CORE_LAUNCH_KEPT) && !ts_record_active(stream);
    core_use_begin(state, &use, stream, NULL);
    ts_status status = kernel_run(stream, grid, kernel, frame, flags & ~(uint32_t)CORE_LAUNCH_KEPT, &err);
    bool waited = status != TS_OK || !lent || core_finish_stream(state, stream) == 0;
    core_use_end(state, &use);
    if (status != TS_OK)
        return core_raise(state, &err);
    return waited ? Py_NewRef(Py_None) : NULL;
}

PyObject *core_complete(PyObject *kernel, PyObject *args, PyObject *named)
{
    bool is_named = named && named != Py_None && !(PyDict_CheckExact(named) && PyDict_GET_SIZE(named) == 0);
    bool is_plain = PyTuple_Check(args) || PyList_Check(args);
    const core_kernel_facts *facts = &((kernel_object *)kernel)->facts;
    if (!is_named && !facts->adds && (!is_plain || PySequence_Fast_GET_SIZE(args) >= facts->n_whole))
        return Py_NewRef(args);
    if (is_plain)
        return PyObject_CallMethod(kernel, "_complete", "(OO)", args, is_named ? named : Py_None);
    PyErr_Format(PyExc_TypeError, "%R takes its arguments as a tuple, not as a %.200s", kernel,
                 Py_TYPE(args)->tp_name);
    return NULL;
}

/* The same of arguments that are no tuple yet. */
static PyObject *kernel_whole(PyObject *kernel, PyObject *const *args, Py_ssize_t n)
{
    PyObject *tuple = PyTuple_New(n);
    for (Py_ssize_t i = 0; tuple && i < n; i++)
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
    PyObject *whole = tuple ? core_complete(kernel, tuple, NULL) : NULL;
    Py_XDECREF(tuple);
    return whole;
}

PyObject *core_launch_tile(core_state *state, PyObject *order, const int64_t grid[3], PyObject *object,
                           PyObject *const *args, Py_ssize_t n)
{
    ts_stream room;
    const ts_stream *stream;
    core_frame frame;
    PyObject *result = NULL, *whole = NULL;
    ts_kernel *kernel = core_kernel_of(state, object);
    if (!kernel || (n < ((kernel_object *)object)->facts.n_whole && !(whole = kernel_whole(object, args, n))))
        return NULL;
    core_frame_init(&frame);
    int taken = whole ? core_take_args(state, &frame, kernel, whole) : core_take_vector(state, &frame, kernel, args, n);
    if (taken == 0 && core_stream_of(state, order, &room, &stream) == 0)
        result = kernel_launch_frame(state, stream, grid, kernel, &frame, 0);
    core_frame_deinit(&frame);
    Py_XDECREF(whole);
    return result;
}

/* The stream is read last, here and below: arguments run Python, which may close it. */
static PyObject *kernel_launch_args(core_state *state, PyObject *const *args, PyObject *named, uint32_t flags)
{
    int64_t grid[3];
    ts_stream room;
    const ts_stream *stream;
    core_frame frame;
    ts_kernel *kernel = core_kernel_of(state, args[2]);
    if (!kernel || core_grid_of(kernel, args[1], grid) < 0)
        return NULL;
    core_frame_init(&frame);
    PyObject *result = NULL, *given = core_complete(args[2], args[3], named);
    if (given && core_take_args(state, &frame, kernel, given) == 0 &&
        core_stream_of(state, args[0], &room, &stream) == 0) {
        uintptr_t native = stream ? stream->native : 0;
        result = kernel_launch_frame(state, stream, grid, kernel, &frame, flags);
        if (result && core_note_uses(state, native, (PyObject *const[]){args[2], given}, 2) < 0)
            Py_CLEAR(result);
    }
    core_frame_deinit(&frame);
    Py_XDECREF(given);
    return result;
}

/* One of launch()'s own arguments by name. */
static int kernel_launch_option(PyObject *name, PyObject *value, PyObject **named, uint32_t *flags)
{
    if (PyUnicode_CompareWithASCIIString(name, "programmatic_dependent_launch") == 0) {
        int truth = PyObject_IsTrue(value);
        *flags |= truth > 0 ? TS_LAUNCH_PDL : 0;
        return truth < 0 ? -1 : 0;
    }
    bool is_kwargs = PyUnicode_CompareWithASCIIString(name, "kwargs") == 0;
    if (is_kwargs && !*named) {
        *named = value;
        return 0;
    }
    PyErr_Format(PyExc_TypeError, is_kwargs ? "launch() got %R twice, by position and by keyword"
                                            : "launch() has no argument named %R; give arguments of the kernel by name "
                                              "as launch(stream, grid, kernel, args, {'name': value})", name);
    return -1;
}

static PyObject *kernel_launch(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    uint32_t flags = 0;
    PyObject *named = n == 5 ? args[4] : NULL;
    if (n != 4 && n != 5) {
        PyErr_Format(PyExc_TypeError,
                     "launch(stream, grid, kernel, args, kwargs) takes 4 or 5 positional arguments, not %zd", n);
        return NULL;
    }
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++)
        if (kernel_launch_option(PyTuple_GET_ITEM(names, i), args[n + i], &named, &flags) < 0)
            return NULL;
    return kernel_launch_args(PyModule_GetState(module), args, named, flags);
}

static PyObject *kernel_launch_kept(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    if (n == 4)
        return kernel_launch_args(PyModule_GetState(module), args, NULL, CORE_LAUNCH_KEPT);
    PyErr_SetString(PyExc_TypeError, "launch_kept(stream, grid, kernel, args) takes 4 arguments");
    return NULL;
}

/* What a plan may depend on of one array, in words: kind of memory, whether it may be written, address mod 16,
 * extents, strides. */
static size_t kernel_look_words(const ts_arg *arg, uint64_t *out)
{
    size_t rank = arg->rank, n = 1 + rank;
    if (arg->kind != TS_SPEC_ARRAY) { /* None: no array has as many axes */
        out[0] = UINT64_MAX;
        return 1;
    }
    out[0] = (uint64_t)arg->dtype | (uint64_t)rank << 8 | ((uintptr_t)arg->value.data & 15) << 16 |
             (uint64_t)(arg->strides != NULL) << 24 | (uint64_t)(arg->readonly != 0) << 25 |
             (uint64_t)arg->device << 32;
    memcpy(out + 1, arg->shape, rank * sizeof *out);
    if (!arg->strides)
        return n;
    memcpy(out + n, arg->strides, rank * sizeof *out);
    return n + rank;
}

enum { KERNEL_LOOKS = 16 };

static bool kernel_take_one(core_state *state, core_frame *frame, PyObject *object)
{
    size_t at = frame->n;
    frame->has_host_views = false;
    if (core_take_object(state, frame, object) < 0 || frame->n != at + 1)
        return false;
    if (frame->has_host_views && !PyObject_HasAttr((PyObject *)Py_TYPE(object), state->name_dtype))
        return false; /* bytes that kernels can use, such as a memoryview, but no array with shape and dtype */
    return frame->args[at].kind == TS_SPEC_ARRAY || frame->args[at].kind == TS_SPEC_NONE;
}

/* Takes arrays and Nones for as long as the frame lives; false where one is neither, with no exception set: the
 * launch tells what is wrong, with the names of kernel and argument. */
static bool kernel_take_arrays(core_state *state, core_frame *frame, PyObject *const *arrays, Py_ssize_t n)
{
    bool good = n <= KERNEL_LOOKS;
    for (Py_ssize_t i = 0; i < n && good; i++)
        good = kernel_take_one(state, frame, arrays[i]);
    PyErr_Clear();
    return good;
}

/* Whether no kernel may write to an array: it is read-only, or elements along an axis are one and the same. */
static bool kernel_is_fixed(const ts_arg *arg)
{
    bool fixed = arg->readonly != 0;
    for (uint32_t d = 0; d < arg->rank; d++)
        fixed |= arg->strides && arg->shape[d] > 1 && arg->strides[d] == 0;
    return fixed;
}

/* The first row of a rule whose arrays overlap otherwise than it allows, or which is of one array, written, that cannot
 * be; NULL where there is none. */
static const uint8_t *kernel_conflict_row(const core_frame *frame, const uint8_t *rows, Py_ssize_t n)
{
    for (const uint8_t *row = rows; row + 3 <= rows + n; row += 3) {
        if (row[0] >= frame->n || row[1] >= frame->n)
            continue;
        const ts_arg *written = &frame->args[row[0]], *other = &frame->args[row[1]];
        if (written->kind != TS_SPEC_ARRAY || other->kind != TS_SPEC_ARRAY)
            continue;
        if (written == other && kernel_is_fixed(written))
            return row;
        if (written == other)
            continue;
        ts_overlap met = ts_arg_overlap(written, other);
        if (met == TS_OVERLAP_SOME || (met == TS_OVERLAP_SAME && !row[2]))
            return row;
    }
    return NULL;
}

static int kernel_check_rule(PyObject *rule)
{
    if (PyBytes_Check(rule) && PyBytes_GET_SIZE(rule) % 3 == 0)
        return 0;
    PyErr_SetString(PyExc_TypeError,
                    "a rule is bytes, three for each pair of arrays: a written one, another one (or the "
                                     "same: it can be written), whether both may be the same");
    return -1;
}

static PyObject *kernel_look(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    uint64_t words[KERNEL_LOOKS * (1 + 2 * TS_ARRAY_RANK)];
    core_frame frame;
    size_t used = 0;
    if (n < 1 || kernel_check_rule(args[0]) < 0)
        return n < 1 ? PyErr_Format(PyExc_TypeError, "look() takes a rule and arrays") : NULL;
    core_frame_init(&frame);
    bool good = kernel_take_arrays(PyModule_GetState(module), &frame, args + 1, n - 1) &&
                !kernel_conflict_row(&frame, (const uint8_t *)PyBytes_AS_STRING(args[0]), PyBytes_GET_SIZE(args[0]));
    for (Py_ssize_t i = 0; i < n - 1 && good; i++)
        used += kernel_look_words(&frame.args[i], words + used);
    core_frame_deinit(&frame);
    if (!good)
        return Py_NewRef(Py_None);
    return PyBytes_FromStringAndSize((const char *)words, (Py_ssize_t)(used * sizeof *words));
}

static PyObject *kernel_conflict(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    core_frame frame;
    const uint8_t *row = NULL;
    if (n < 1 || kernel_check_rule(args[0]) < 0)
        return n < 1 ? PyErr_Format(PyExc_TypeError, "conflict() takes a rule and arrays") : NULL;
    core_frame_init(&frame);
    if (kernel_take_arrays(PyModule_GetState(module), &frame, args + 1, n - 1))
        row = kernel_conflict_row(&frame, (const uint8_t *)PyBytes_AS_STRING(args[0]), PyBytes_GET_SIZE(args[0]));
    PyObject *result = row ? Py_BuildValue("ii", row[0], row[1]) : Py_NewRef(Py_None);
    core_frame_deinit(&frame);
    return result;
}

/* Parameters that an argument takes, by its spec (compile.h). */
static uint32_t kernel_params_of(const ts_spec *spec)
{
    switch (spec->kind) {
    case TS_SPEC_ARRAY:
        return 1 + 2u * spec->rank;
    case TS_SPEC_SCALAR:
        return 1;
    default:
        return spec->kind == TS_SPEC_LIST ? 2 : 0;
    }
}

/* For each array or list of arrays among the arguments, in order, whether the kernel may write to it. */
static PyObject *kernel_written(const ts_plan *plan, const ts_spec *spec, size_t n)
{
    PyObject *list = PyList_New(0);
    uint32_t slot = 0;
    for (size_t i = 0; list && i < n; i++) {
        bool arrays = spec[i].kind == TS_SPEC_ARRAY || spec[i].kind == TS_SPEC_LIST;
        PyObject *truth = arrays && plan->writes[slot / 8] >> slot % 8 & 1 ? Py_True : Py_False;
        if (arrays && PyList_Append(list, truth) < 0)
            Py_CLEAR(list);
        slot += kernel_params_of(&spec[i]);
        i += spec[i].kind == TS_SPEC_LIST; /* the item that describes the arrays of a list */
    }
    return list;
}

/* prepare(stream, kernel, args, kwargs) compiles without running; gives facts of the plan as a dictionary. */
static PyObject *kernel_prepare(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    core_state *state = PyModule_GetState(module);
    ts_stream room;
    const ts_stream *stream;
    core_frame frame;
    ts_error err;
    const ts_plan *plan;
    ts_spec spec[TS_LAUNCH_ARGS];
    size_t n_spec = 0;
    if (n != 3 && n != 4) {
        PyErr_SetString(PyExc_TypeError, "prepare(stream, kernel, args, kwargs) takes 3 or 4 positional arguments");
        return NULL;
    }
    ts_kernel *kernel = core_kernel_of(state, args[1]);
    if (!kernel)
        return NULL;
    core_frame_init(&frame);
    PyObject *result = NULL, *given = core_complete(args[1], args[2], n == 4 ? args[3] : NULL);
    if (given && core_take_args(state, &frame, kernel, given) == 0 &&
        core_stream_of(state, args[0], &room, &stream) == 0) {
        ts_status status;
        CORE_BEGIN_USE(state, stream, NULL);
        status = ts_kernel_prepare(stream, kernel, frame.args, frame.n, &plan, &err);
        if (status == TS_OK)
            status = ts_kernel_spec(kernel, frame.args, frame.n, spec, &n_spec, &err);
        CORE_END_USE(state);
        if (status == TS_OK)
            result = Py_BuildValue("{s:s,s:I,s:I,s:I,s:I,s:K,s:N}", "name", plan->name, "target",
                                   plan->target, "threads", plan->threads, "shared_bytes",
                                   plan->shared_bytes, "tensor_maps", plan->n_tmaps,
                                   "scratch_bytes", (unsigned long long)plan->scratch_bytes,
                                   "written", kernel_written(plan, spec, n_spec));
        else
            core_raise(state, &err);
    }
    core_frame_deinit(&frame);
    Py_XDECREF(given);
    return result;
}

static PyObject *kernel_stats(PyObject *self, PyObject *unused)
{
    (void)unused;
    ts_kernel_stats stats = {0};
    const ts_kernel *kernel = CORE_GET(((kernel_object *)self)->kernel);
    if (kernel)
        ts_kernel_get_stats(kernel, &stats);
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:K}", "specialised", (unsigned long long)stats.n_specialised,
        "compiled", (unsigned long long)stats.n_compiled, "from_memory",
        (unsigned long long)stats.n_from_memory, "from_disk", (unsigned long long)stats.n_from_disk,
        "compile_ns", (unsigned long long)stats.compile_ns, "load_ns",
        (unsigned long long)stats.load_ns);
}

static PyMethodDef kernel_methods[] = {
    {"_stats", kernel_stats, METH_NOARGS, "Counts and times of this kernel's specialisations, as a dictionary."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef kernel_members[] = {
    {"_hooked", T_BOOL, offsetof(kernel_object, facts) + offsetof(core_kernel_facts, hooked), 0, NULL},
    {"_adds", T_BOOL, offsetof(kernel_object, facts) + offsetof(core_kernel_facts, adds), 0, NULL},
    {"_waits", T_BOOL, offsetof(kernel_object, facts) + offsetof(core_kernel_facts, waits), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot kernel_slots[] = {
    {Py_tp_doc, "Base of tessera.tile.kernel; holds the compiled specialisations."},
    {Py_tp_new, kernel_new},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_traverse, kernel_traverse},
    {Py_tp_clear, kernel_clear},
    {Py_tp_methods, kernel_methods},
    {Py_tp_members, kernel_members},
    {0, NULL},
};

static PyType_Spec kernel_spec = {"tessera._core.Kernel", sizeof(kernel_object), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                  kernel_slots};

static PyMethodDef kernel_functions[] = {
    {"launch", (PyCFunction)(void (*)(void))kernel_launch, METH_FASTCALL | METH_KEYWORDS,
     "launch(stream, grid, kernel, args, /, kwargs=None, *, programmatic_dependent_launch=False)\n--\n\n"
     "Runs a kernel over a grid of tile blocks.\n\n"
     "Parameters\n----------\n"
     "stream : None, Stream, torch or CuPy stream, or int\n"
     "    None is the default stream of the arguments' device.\n"
     "grid : tuple of up to 3 ints\n"
     "    Blocks along each axis, 0 to 2**24-1; 0 runs nothing, () one block.\n"
     "kernel : kernel\n"
     "args : tuple\n"
     "    The kernel's arguments: arrays of one device, numbers, tuples, frozen dataclasses and named tuples of\n"
     "    such, lists of arrays.\n"
     "kwargs : dict, optional\n"
     "    Arguments by the names of their parameters; parameters that are left out take their defaults.\n\n"
     "Raises\n------\n"
     "TypeError, ValueError, OverflowError\n    Before anything is enqueued, for arguments that do "
     "not fit.\n"
     "TileError\n    The kernel does not compile.\n"
     "KernelError\n    The kernel failed while it ran (CPU default stream; else at the next "
     "wait).\n\n"
     "Notes\n-----\n"
     "On host memory of other libraries (NumPy, torch) the call returns when it is written; on a GPU it\n"
     "enqueues.\n"
     "On the CPU Ctrl-C ends a launch, or what a stream runs while the main thread waits for it, "
     "between\n"
     "blocks and in each round of a loop. What "
     "was written\n"
     "stays; everything can be used again."},
    {"launch_kept", (PyCFunction)(void (*)(void))kernel_launch_kept, METH_FASTCALL,
     "launch_kept(stream, grid, kernel, args, /)\n--\n\nlaunch() that never waits: the caller keeps host memory among "
     "the arguments until the kernel has ended."},
    {"look", (PyCFunction)(void (*)(void))kernel_look, METH_FASTCALL,
     "look(rule, /, *arrays)\n--\n\nBytes that are equal for arrays of the same dtypes, devices, extents, strides and "
     "alignment to 16\nbytes; None where an argument is neither None nor an array that kernels take, or where "
     "conflict() finds\nsomething. For caches of launch plans."},
    {"conflict", (PyCFunction)(void (*)(void))kernel_conflict, METH_FASTCALL,
     "conflict(rule, /, *arrays)\n--\n\nThe numbers of the first two arrays that overlap in memory against the rule, "
     "or "
     "None. A rule is bytes,\nthree for each pair: the number of a written array, that of another one, and whether "
     "both may be the\nvery same memory."},
    {"prepare", (PyCFunction)(void (*)(void))kernel_prepare, METH_FASTCALL,
     "prepare(stream, kernel, args, kwargs=None, /)\n--\n\nCompiles for these arguments without running; "
     "returns facts of the plan."},
    {NULL, NULL, 0, NULL},
};

int core_kernel_init(PyObject *module, core_state *state)
{
    state->kernel_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &kernel_spec, NULL);
    if (!state->kernel_type || PyModule_AddType(module, state->kernel_type) < 0)
        return -1;
    return PyModule_AddFunctions(module, kernel_functions);
}
