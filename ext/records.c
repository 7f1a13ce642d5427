/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments that are objects of Python, after args.c has noted them as they are: where the parameter is a Constant,
 * they become numbers of objects of the kernel's pack; elsewhere dataclasses and named tuples are taken apart.
 *
 *     Pair(x, 3)   ─▶   RECORD (its class), TUPLE 2, ARRAY x, INT 3
 *     records      ─▶   STRUCT (its dtype), ARRAY of bytes
 */
#include "core.h"
#include <string.h>

typedef struct record_walk {
    core_state *state;
    core_frame *frame;
    const ts_kernel *kernel;
    size_t param, at;               /* at: the argument to look at */
    size_t depth, path[TS_PARAM_DEPTH]; /* which items of which items of the parameter it is in */
} record_walk;

static int record_blame(const record_walk *walk, size_t at)
{
    core_blame(walk->frame, walk->kernel, at);
    return -1;
}

static PyObject *record_host(const record_walk *walk)
{
    const core_evaluator *evaluator = ts_kernel_host(walk->kernel)->user;
    return evaluator ? evaluator->host : NULL;
}

static int record_refuse(const record_walk *walk, PyObject *object)
{
    const core_evaluator *evaluator = ts_kernel_host(walk->kernel)->user;
    PyObject *host = PyImport_ImportModule("tessera._host"), *takes = NULL;
    if (host)
        takes = PyObject_GetAttrString(host, evaluator && evaluator->takes_structs ? "TAKES_THREADS" : "TAKES");
    const char *name = Py_TYPE(object)->tp_name;
    if (takes)
        PyErr_Format(PyExc_TypeError, "is a%s %.200s; %U", strchr("aeiouAEIOU", name[0]) ? "n" : "", name, takes);
    Py_XDECREF(takes);
    Py_XDECREF(host);
    return record_blame(walk, walk->at);
}

/* The number of a constant in the kernel's pack takes the place of the object. */
static int record_constant(const record_walk *walk, PyObject *object)
{
    PyObject *number = PyObject_CallMethod(record_host(walk), "constant", "(O)", object);
    walk->frame->args[walk->at].value.i = number ? PyLong_AsLongLong(number) : -1;
    Py_XDECREF(number);
    return PyErr_Occurred() ? record_blame(walk, walk->at) : 0;
}

/* What the host knows of a class, borrowed: (number, tuple of the fields' names, the same as "x,y"). */
static PyObject *record_class(const record_walk *walk, PyTypeObject *type)
{
    PyObject *classes = PyObject_GetAttrString(record_host(walk), "classes"), *row = NULL;
    if (classes && PyDict_Check(classes))
        row = PyDict_GetItemWithError(classes, (PyObject *)type);
    if (classes && !row && !PyErr_Occurred()) { /* the host keeps what it returns */
        row = PyObject_CallMethod(record_host(walk), "record_class", "(O)", type);
        Py_XDECREF(row);
    }
    Py_XDECREF(classes);
    return row;
}

/* Writes one field behind what the frame has. */
static int record_field(const record_walk *walk, PyObject *object, PyObject *name)
{
    size_t at = walk->frame->n;
    PyObject *value = PyObject_GetAttr(object, name);
    if (value && core_frame_hold(walk->frame, value) == 0 && core_take_object(walk->state, walk->frame, value) == 0)
        return 0;
    return record_blame(walk, at);
}

static int record_fields(const record_walk *walk, PyObject *object, PyObject *row)
{
    unsigned int number;
    PyObject *names;
    const char *text;
    if (!PyArg_ParseTuple(row, "IO!s", &number, &PyTuple_Type, &names, &text))
        return -1;
    ts_arg *record = core_frame_next(walk->frame), *tuple = record ? core_frame_next(walk->frame) : NULL;
    if (!tuple)
        return record_blame(walk, walk->at);
    record->kind = TS_SPEC_RECORD;
    record->value.i = number;
    record->fields = text;
    tuple->kind = TS_SPEC_TUPLE;
    tuple->value.i = PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++)
        if (record_field(walk, object, PyTuple_GET_ITEM(names, i)) < 0)
            return -1;
    return 0;
}

/* What an array of records holds, and the array as one of bytes: row is (number, bytes of an element, array). */
static int record_struct(const record_walk *walk, PyObject *object, PyObject *row)
{
    unsigned int number;
    long long bytes;
    PyObject *array;
    (void)object;
    if (!PyArg_ParseTuple(row, "ILO", &number, &bytes, &array))
        return -1;
    ts_arg *arg = core_frame_next(walk->frame);
    if (!arg || core_frame_hold(walk->frame, Py_NewRef(array)) < 0)
        return record_blame(walk, walk->at);
    arg->kind = TS_SPEC_STRUCT;
    arg->value.i = number;
    arg->item_bytes = bytes;
    return core_take_object(walk->state, walk->frame, array) == 0 ? 0 : record_blame(walk, walk->at);
}

/* `write` puts arguments into the place of one: what stands behind it moves. */
static int record_expand(const record_walk *walk, PyObject *object, PyObject *row,
                         int (*write)(const record_walk *walk, PyObject *object, PyObject *row))
{
    ts_arg tail[TS_LAUNCH_ARGS];
    core_frame *frame = walk->frame;
    size_t n_tail = frame->n - walk->at - 1;
    if (!row)
        return record_blame(walk, walk->at);
    memcpy(tail, frame->args + walk->at + 1, n_tail * sizeof *tail);
    frame->n = walk->at;
    if (write(walk, object, row) < 0)
        return -1;
    for (size_t i = 0; i < n_tail; i++) {
        ts_arg *arg = core_frame_next(frame);
        if (!arg)
            return record_blame(walk, walk->at);
        *arg = tail[i];
    }
    return 0;
}

static int record_object(const record_walk *walk)
{
    PyObject *object = walk->frame->args[walk->at].value.data;
    size_t depth = walk->depth < TS_PARAM_DEPTH ? walk->depth : TS_PARAM_DEPTH;
    bool has_host = record_host(walk) != NULL;
    if (has_host && ts_kernel_takes_constant(walk->kernel, walk->param, walk->path, depth))
        return record_constant(walk, object);
    if (PyLong_Check(object) || PyFloat_Check(object)) { /* a member of an enumeration of numbers */
        ts_arg *arg = &walk->frame->args[walk->at];
        *arg = (ts_arg){0};
        return core_read_number(arg, object) == 0 ? 0 : record_blame(walk, walk->at);
    }
    if (!has_host)
        return record_refuse(walk, object);
    if (core_is_record(walk->state, Py_TYPE(object)))
        return record_expand(walk, object, record_class(walk, Py_TYPE(object)), record_fields);
    const core_evaluator *evaluator = ts_kernel_host(walk->kernel)->user;
    if (!evaluator->takes_structs)
        return record_refuse(walk, object);
    PyObject *row = PyObject_CallMethod(record_host(walk), "structured", "(O)", object);
    bool is_dtype = row && PyLong_Check(row);
    if (is_dtype)
        walk->frame->args[walk->at].dtype = (uint8_t)PyLong_AsLong(row);
    int got = row == Py_None ? record_refuse(walk, object)
              : is_dtype     ? record_constant(walk, object)
                             : record_expand(walk, object, row, record_struct);
    Py_XDECREF(row);
    return got;
}

static int record_item(record_walk *walk)
{
    if (walk->frame->args[walk->at].kind == TS_SPEC_OBJECT && record_object(walk) < 0)
        return -1;
    uint8_t kind = walk->frame->args[walk->at].kind;
    walk->at += kind == TS_SPEC_RECORD || kind == TS_SPEC_COMPLEX || kind == TS_SPEC_STRUCT; /* to what follows */
    const ts_arg *arg = &walk->frame->args[walk->at++];
    if (arg->kind != TS_SPEC_TUPLE && arg->kind != TS_SPEC_LIST)
        return 0;
    walk->depth++;
    for (int64_t i = 0, n = arg->value.i; i < n; i++) {
        if (walk->depth <= TS_PARAM_DEPTH)
            walk->path[walk->depth - 1] = (size_t)i;
        if (record_item(walk) < 0)
            return -1;
    }
    walk->depth--;
    return 0;
}

int core_take_constants(core_state *state, core_frame *frame, size_t from, const ts_kernel *kernel, size_t param)
{
    record_walk walk = {.state = state, .frame = frame, .kernel = kernel, .param = param, .at = from};
    frame->has_constants = false; /* of the parameters that come */
    return record_item(&walk);
}
