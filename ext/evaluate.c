/* SPDX-License-Identifier: Apache-2.0
 *
 * Python as the host of a compilation (tessera/host.h): values to Python objects and back, and the object that
 * tessera._host asks about proxies. What a number, function or proxy is in Python, and what Python code may do with it,
 * is said there.
 */
#include "core.h"
#include <stdlib.h>
#include <string.h>

/* A compilation that waits: what proxies hold. */
typedef struct evaluate_object {
    PyObject_HEAD
    core_state *state;
    ts_host_call *call; /* NULL once the host has returned */
    PyObject *host;
} evaluate_object;

static PyObject *evaluate_give(evaluate_object *self, const ts_host_value *v);
static int evaluate_take(evaluate_object *self, PyObject *object, ts_host_value *out);

/* ---- to Python ---------------------------------------------------------------------------------------- */

static PyObject *evaluate_give_tuple(evaluate_object *self, const ts_host_value *items, uint32_t n)
{
    PyObject *tuple = PyTuple_New(n);
    for (uint32_t i = 0; tuple && i < n; i++) {
        PyObject *item = evaluate_give(self, &items[i]);
        if (item)
            PyTuple_SET_ITEM(tuple, i, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *evaluate_give_dict(evaluate_object *self, const ts_host_value *v)
{
    PyObject *dict = PyDict_New();
    for (uint32_t i = 0; dict && i < v->n; i++) {
        PyObject *key = evaluate_give(self, &v->as.items[2 * i]),
                 *value = key ? evaluate_give(self, &v->as.items[2 * i + 1]) : NULL;
        if (!value || PyDict_SetItem(dict, key, value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *evaluate_give_called(evaluate_object *self, PyTypeObject *type, const ts_host_value *v)
{
    PyObject *parts = evaluate_give_tuple(self, v->as.items, 3);
    PyObject *made = parts ? PyObject_CallObject((PyObject *)type, parts) : NULL;
    Py_XDECREF(parts);
    return made;
}

static PyObject *evaluate_give_record(evaluate_object *self, const ts_host_value *v)
{
    PyObject *items = evaluate_give_tuple(self, v->as.items, v->n);
    PyObject *made = items ? PyObject_CallMethod(self->host, "record", "IO", v->cls, items) : NULL;
    Py_XDECREF(items);
    return made;
}

static PyObject *evaluate_give(evaluate_object *self, const ts_host_value *v)
{
    switch (v->kind) {
    case TS_HOST_NONE:
        return Py_NewRef(Py_None);
    case TS_HOST_ELLIPSIS:
        return Py_NewRef(Py_Ellipsis);
    case TS_HOST_BOOL:
        return PyBool_FromLong(v->as.i != 0);
    case TS_HOST_INT:
        return PyLong_FromLongLong(v->as.i);
    case TS_HOST_BIGINT:
        return PyLong_FromString(v->as.text, NULL, 16);
    case TS_HOST_FLOAT:
        return PyFloat_FromDouble(v->as.f[0]);
    case TS_HOST_COMPLEX:
        return PyComplex_FromDoubles(v->as.f[0], v->as.f[1]);
    case TS_HOST_STR:
        return PyUnicode_DecodeUTF8(v->as.text, (Py_ssize_t)strlen(v->as.text), "surrogateescape");
    case TS_HOST_TUPLE:
        return evaluate_give_tuple(self, v->as.items, v->n);
    case TS_HOST_DICT:
        return evaluate_give_dict(self, v);
    case TS_HOST_RANGE:
        return evaluate_give_called(self, &PyRange_Type, v);
    case TS_HOST_SLICE:
        return evaluate_give_called(self, &PySlice_Type, v);
    case TS_HOST_RECORD:
        return evaluate_give_record(self, v);
    case TS_HOST_DTYPE:
        return core_dtype_object(self->state, (ts_dtype)v->n);
    case TS_HOST_OBJECT:
        return PyObject_CallMethod(self->host, "object", "I", v->n);
    case TS_HOST_FUNCTION:
        return PyObject_CallMethod(self->host, "function", "I", v->n);
    case TS_HOST_OP:
        return PyObject_CallMethod(self->host, "operation", "s", v->as.text);
    case TS_HOST_BUILTIN:
        return PyObject_CallMethod(self->host, "builtin", "s", v->as.text);
    default:
        return PyObject_CallMethod(self->host, "proxy", "OIs", self, v->n, v->as.text);
    }
}

/* ---- from Python -------------------------------------------------------------------------------------- */

static void *evaluate_room(evaluate_object *self, size_t bytes)
{
    void *room = ts_host_room(self->call, bytes);
    if (!room)
        PyErr_NoMemory();
    return room;
}

static int evaluate_take_text(evaluate_object *self, PyObject *text, ts_host_kind kind, ts_host_value *out)
{
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
    if (!bytes)
        return -1;
    size_t n = (size_t)PyBytes_GET_SIZE(bytes);
    char *copy = evaluate_room(self, n + 1);
    if (copy)
        memcpy(copy, PyBytes_AS_STRING(bytes), n + 1);
    Py_DECREF(bytes);
    *out = (ts_host_value){.kind = kind, .as.text = copy};
    return copy ? 0 : -1;
}

static int evaluate_take_int(evaluate_object *self, PyObject *object, ts_host_value *out)
{
    int overflow;
    *out = (ts_host_value){.kind = TS_HOST_INT, .as.i = PyLong_AsLongLongAndOverflow(object, &overflow)};
    if (!overflow)
        return out->as.i == -1 && PyErr_Occurred() ? -1 : 0;
    PyObject *text = PyNumber_ToBase(object, 16);
    int result = text ? evaluate_take_text(self, text, TS_HOST_BIGINT, out) : -1;
    Py_XDECREF(text);
    return result;
}

static int evaluate_take_tuple(evaluate_object *self, PyObject *tuple, ts_host_value *out)
{
    Py_ssize_t n = PyTuple_GET_SIZE(tuple);
    ts_host_value *items = evaluate_room(self, sizeof *items * (size_t)(n + 1));
    for (Py_ssize_t i = 0; items && i < n; i++)
        if (evaluate_take(self, PyTuple_GET_ITEM(tuple, i), &items[i]) < 0)
            return -1;
    *out = (ts_host_value){.kind = TS_HOST_TUPLE, .n = (uint32_t)n, .as.items = items};
    return items ? 0 : -1;
}

static int evaluate_take_dict(evaluate_object *self, PyObject *dict, ts_host_value *out)
{
    PyObject *pairs = PyDict_Items(dict);
    Py_ssize_t n = pairs ? PyList_GET_SIZE(pairs) : 0;
    ts_host_value *items = pairs ? evaluate_room(self, sizeof *items * (size_t)(2 * n + 1)) : NULL;
    int result = items ? 0 : -1;
    for (Py_ssize_t i = 0; result == 0 && i < 2 * n; i++)
        result = evaluate_take(self, PyTuple_GET_ITEM(PyList_GET_ITEM(pairs, i / 2), i % 2), &items[i]);
    Py_XDECREF(pairs);
    *out = (ts_host_value){.kind = TS_HOST_DICT, .n = (uint32_t)n, .as.items = items};
    return result;
}

/* A range or a slice. */
static int evaluate_take_parts(evaluate_object *self, PyObject *object, ts_host_kind kind, ts_host_value *out)
{
    static const char *const names[] = {"start", "stop", "step"};
    ts_host_value *items = evaluate_room(self, sizeof *items * 3);
    int result = items ? 0 : -1;
    for (int i = 0; i < 3 && result == 0; i++) {
        PyObject *part = PyObject_GetAttrString(object, names[i]);
        result = part ? evaluate_take(self, part, &items[i]) : -1;
        Py_XDECREF(part);
    }
    *out = (ts_host_value){.kind = kind, .n = 3, .as.items = items};
    return result;
}

static int evaluate_grow(evaluate_object *self)
{
    ts_error err;
    PyObject *pack = PyObject_CallMethod(self->host, "pack", NULL);
    ts_status status = TS_INTERNAL;
    if (pack && PyBytes_Check(pack)) {
        status = ts_host_grow(self->call, PyBytes_AS_STRING(pack), (size_t)PyBytes_GET_SIZE(pack), &err);
        if (status != TS_OK)
            core_raise(self->state, &err);
    } else if (pack)
        PyErr_Format(PyExc_TypeError, "the host's pack() gave a %.200s, wanted bytes", Py_TYPE(pack)->tp_name);
    Py_XDECREF(pack);
    return status == TS_OK ? 0 : -1;
}

/* An object of the pack, which may be new. */
static int evaluate_take_known(evaluate_object *self, PyObject *number, uint32_t *out)
{
    *out = (uint32_t)PyLong_AsUnsignedLong(number);
    if (PyErr_Occurred())
        return -1;
    return *out >= ts_host_known(self->call) ? evaluate_grow(self) : 0;
}

/* Everything else has a number: of a proxy, as -1 - number, or of an object of the pack; an instance of a dataclass or
 * named tuple is (number of its class, tuple of its fields). */
static int evaluate_take_other(evaluate_object *self, PyObject *object, ts_host_value *out)
{
    PyObject *answer = PyObject_CallMethod(self->host, "number", "OO", self, object), *items;
    int result = -1;
    unsigned int number;
    if (!answer)
        return -1;
    if (PyTuple_Check(answer) && PyArg_ParseTuple(answer, "IO!", &number, &PyTuple_Type, &items)) {
        result = evaluate_take_tuple(self, items, out);
        out->kind = TS_HOST_RECORD;
        if (result == 0)
            result = evaluate_take_known(self, PyTuple_GET_ITEM(answer, 0), &out->cls);
    } else if (!PyErr_Occurred() && PyLong_AsLongLong(answer) < 0) {
        *out = (ts_host_value){.kind = TS_HOST_PROXY, .n = (uint32_t)(-1 - PyLong_AsLongLong(answer))};
        result = PyErr_Occurred() ? -1 : 0;
    } else if (!PyErr_Occurred()) {
        *out = (ts_host_value){.kind = TS_HOST_OBJECT};
        result = evaluate_take_known(self, answer, &out->n);
    }
    Py_DECREF(answer);
    return result;
}

static int evaluate_take_plain(evaluate_object *self, PyObject *object, ts_host_value *out)
{
    PyTypeObject *type = Py_TYPE(object);
    *out = (ts_host_value){.kind = TS_HOST_NONE};
    if (object == Py_None)
        return 0;
    if (object == Py_Ellipsis)
        out->kind = TS_HOST_ELLIPSIS;
    else if (type == &PyBool_Type)
        *out = (ts_host_value){.kind = TS_HOST_BOOL, .as.i = object == Py_True};
    else if (type == &PyLong_Type)
        return evaluate_take_int(self, object, out);
    else if (type == &PyFloat_Type)
        *out = (ts_host_value){.kind = TS_HOST_FLOAT, .as.f = {PyFloat_AS_DOUBLE(object), 0}};
    else if (type == &PyTuple_Type)
        return evaluate_take_tuple(self, object, out);
    else if (type == &PyDict_Type)
        return evaluate_take_dict(self, object, out);
    else if (type == &PyRange_Type || type == &PySlice_Type)
        return evaluate_take_parts(self, object, type == &PyRange_Type ? TS_HOST_RANGE : TS_HOST_SLICE, out);
    else if (type == &PyUnicode_Type && PyUnicode_FindChar(object, 0, 0, PyUnicode_GET_LENGTH(object), 1) == -1)
        return evaluate_take_text(self, object, TS_HOST_STR, out);
    else
        return evaluate_take_other(self, object, out);
    return 0;
}

static int evaluate_take(evaluate_object *self, PyObject *object, ts_host_value *out)
{
    if (Py_EnterRecursiveCall(" while a value is handed to the compiler"))
        return -1;
    int result = evaluate_take_plain(self, object, out);
    Py_LeaveRecursiveCall();
    return result;
}

/* ---- the object that proxies hold ------------------------------------------------------------------------ */

static bool evaluate_is_open(const evaluate_object *self)
{
    if (!self->call)
        PyErr_SetString(PyExc_RuntimeError, "a value of a kernel was used after its compilation had gone on; use it "
                                            "inside of the expression that it was given to");
    return self->call != NULL;
}

static PyObject *evaluate_result(evaluate_object *self, ts_status status, const ts_host_value *out, const ts_error *err)
{
    return status == TS_OK ? evaluate_give(self, out) : core_raise(self->state, err);
}

/* attribute(proxy, name) */
static PyObject *evaluate_attribute(PyObject *object, PyObject *const *args, Py_ssize_t n)
{
    evaluate_object *self = (evaluate_object *)object;
    ts_host_value of, out;
    ts_error err;
    const char *name = n == 2 ? PyUnicode_AsUTF8(args[1]) : NULL;
    if (!name || !evaluate_is_open(self) || evaluate_take(self, args[0], &of) < 0)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "attribute(proxy, name)");
    ts_status status = ts_host_attribute(self->call, &of, name, &out, &err);
    return evaluate_result(self, status, &out, &err);
}

enum { EVALUATE_ARGS = 16 };

/* apply(operation, args, names): the last arguments have names. */
static PyObject *evaluate_apply(PyObject *object, PyObject *const *args, Py_ssize_t n)
{
    evaluate_object *self = (evaluate_object *)object;
    ts_host_value values[EVALUATE_ARGS], out;
    const char *names[EVALUATE_ARGS];
    ts_error err;
    const char *op = n == 3 && PyTuple_Check(args[1]) && PyTuple_Check(args[2]) ? PyUnicode_AsUTF8(args[0]) : NULL;
    if (!op || !evaluate_is_open(self))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "apply(operation, args, names)");
    Py_ssize_t count = PyTuple_GET_SIZE(args[1]), n_named = PyTuple_GET_SIZE(args[2]);
    if (count > EVALUATE_ARGS || n_named > count)
        return PyErr_Format(PyExc_TypeError, "%s() got %zd arguments", op, count);
    for (Py_ssize_t i = 0; i < count; i++)
        if (evaluate_take(self, PyTuple_GET_ITEM(args[1], i), &values[i]) < 0)
            return NULL;
    for (Py_ssize_t i = 0; i < n_named; i++)
        if (!(names[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(args[2], i))))
            return NULL;
    ts_status status =
        ts_host_apply(self->call, op, (size_t)count, values, (size_t)n_named, names, &out, &err);
    return evaluate_result(self, status, &out, &err);
}

static int evaluate_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((evaluate_object *)object)->host);
    return 0;
}

static int evaluate_clear(PyObject *object)
{
    Py_CLEAR(((evaluate_object *)object)->host);
    return 0;
}

static void evaluate_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    evaluate_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMethodDef evaluate_methods[] = {
    {"attribute", (PyCFunction)(void (*)(void))evaluate_attribute, METH_FASTCALL,
     "attribute(proxy, name, /)\n--\n\nAn attribute of a value that stands for one of the kernel."},
    {"apply", (PyCFunction)(void (*)(void))evaluate_apply, METH_FASTCALL,
     "apply(operation, args, names, /)\n--\n\nWhat an operation gives; the last arguments are those of the names."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot evaluate_slots[] = {
    {Py_tp_doc, "A compilation that waits for an expression of Python."},
    {Py_tp_dealloc, evaluate_dealloc},
    {Py_tp_traverse, evaluate_traverse},
    {Py_tp_clear, evaluate_clear},
    {Py_tp_methods, evaluate_methods},
    {0, NULL},
};

static PyType_Spec evaluate_spec = {"tessera._core.Evaluation", sizeof(evaluate_object), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                    evaluate_slots};

/* ---- the host -------------------------------------------------------------------------------------------- */

static bool evaluate_is_of_kernels(const PyTypeObject *type)
{
    return strncmp(type->tp_name, "Tile", 4) == 0 || strcmp(type->tp_name, "StaticException") == 0;
}

/* The status of the exception that is set, with its text; what is not an Exception (Ctrl-C) stays set for the launch
 * to raise. */
static ts_status evaluate_failed(core_state *state, ts_error *err)
{
    PyObject *type, *value, *trace;
    if (!PyErr_Occurred())
        return ts_fail(err, TS_INTERNAL, "an expression of Python gave no value and no exception");
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return ts_fail(err, TS_INTERRUPTED, "interrupted while an expression of Python was evaluated");
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    int status = type == PyExc_MemoryError ? TS_NOMEM : TS_STATICEVAL;
    for (int i = 1; i < 32; i++)
        if (state->errors[i] && state->errors[i] == type && evaluate_is_of_kernels((PyTypeObject *)type))
            status = -i;
    ts_fail(err, (ts_status)status, "%s", utf8 ? utf8 : "an exception without a text");
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return (ts_status)status;
}

static int evaluate_call(evaluate_object *self, uint32_t site, size_t n, const ts_host_value *values,
                         ts_host_value *out)
{
    PyObject *given = evaluate_give_tuple(self, values, (uint32_t)n);
    PyObject *answer = given ? PyObject_CallMethod(self->host, "evaluate", "OIO", self, site, given) : NULL;
    Py_XDECREF(given);
    int result = answer ? evaluate_take(self, answer, out) : -1;
    Py_XDECREF(answer);
    return result;
}

static ts_status evaluate_site(void *user, ts_host_call *call, uint32_t site, size_t n, const ts_host_value *values,
                               ts_host_value *out, ts_error *err)
{
    core_evaluator *evaluator = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    core_state *state = evaluator->state;
    evaluate_object *self = (evaluate_object *)state->evaluation_type->tp_alloc(state->evaluation_type, 0);
    ts_status status = TS_OK;
    if (self) {
        self->state = state;
        self->call = call;
        self->host = Py_NewRef(evaluator->host);
    }
    if (!self || evaluate_call(self, site, n, values, out) < 0)
        status = evaluate_failed(state, err);
    if (self)
        self->call = NULL;
    Py_XDECREF(self);
    PyGILState_Release(gil);
    return status;
}

static ts_status evaluate_later(void *user, ts_host_call *call, ts_error *err)
{
    core_evaluator *evaluator = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    evaluate_object self = {.state = evaluator->state, .call = call, .host = evaluator->host};
    ts_status status = evaluate_grow(&self) == 0 ? TS_OK : evaluate_failed(evaluator->state, err);
    PyGILState_Release(gil);
    return status;
}

/* host.link(ptx) gives the bytes that the driver loads. */
static ts_status evaluate_link(void *user, const char *ptx, void **image, size_t *n_image, ts_error *err)
{
    core_evaluator *evaluator = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *bytes = PyObject_CallMethod(evaluator->host, "link", "y", ptx);
    Py_ssize_t n = bytes && PyBytes_Check(bytes) ? PyBytes_GET_SIZE(bytes) : 0;
    *n_image = (size_t)n + 1; /* bytes objects have a NUL behind them */
    *image = n ? malloc(*n_image) : NULL;
    if (*image)
        memcpy(*image, PyBytes_AS_STRING(bytes), *n_image);
    else if (bytes && !n)
        PyErr_SetString(PyExc_TypeError, "link() must give bytes");
    else if (bytes)
        PyErr_NoMemory();
    ts_status status = *image ? TS_OK : evaluate_failed(evaluator->state, err);
    Py_XDECREF(bytes);
    PyGILState_Release(gil);
    return status;
}

/* host.source() gives the pack. */
static ts_status evaluate_source(void *user, void **pack, size_t *n, ts_error *err)
{
    core_evaluator *evaluator = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *bytes = PyObject_CallMethod(evaluator->host, "source", NULL);
    *n = bytes && PyBytes_Check(bytes) ? (size_t)PyBytes_GET_SIZE(bytes) : 0;
    *pack = *n ? malloc(*n) : NULL;
    if (*pack)
        memcpy(*pack, PyBytes_AS_STRING(bytes), *n);
    else if (bytes && !*n)
        PyErr_SetString(PyExc_TypeError, "source() must give bytes");
    else if (bytes)
        PyErr_NoMemory();
    ts_status status = *pack ? TS_OK : evaluate_failed(evaluator->state, err);
    Py_XDECREF(bytes);
    PyGILState_Release(gil);
    return status;
}

/* host.loaded(library): what link() gave is loaded. */
static ts_status evaluate_loaded(void *user, uint64_t library, ts_error *err)
{
    core_evaluator *evaluator = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *done = PyObject_CallMethod(evaluator->host, "loaded", "K", (unsigned long long)library);
    ts_status status = done ? TS_OK : evaluate_failed(evaluator->state, err);
    Py_XDECREF(done);
    PyGILState_Release(gil);
    return status;
}

ts_host core_host_of(core_evaluator *evaluator)
{
    if (!evaluator->host || evaluator->host == Py_None)
        return (ts_host){0};
    PyObject *asks = PyObject_GetAttrString(evaluator->host, "asks"),
             *structs = PyObject_GetAttrString(evaluator->host, "takes_structs");
    evaluator->takes_structs = structs == Py_True;
    /* What cannot be asked is taken to ask: then its code is lowered before the cache is looked at. */
    PyObject *links = PyObject_GetAttrString(evaluator->host, "links");
    bool has_links = links && PyObject_IsTrue(links) > 0;
    ts_host host = {.evaluate = evaluate_site, .later = evaluate_later, .user = evaluator, .asks = asks != Py_False,
                    .source = evaluate_source,
                    .link = has_links ? evaluate_link : NULL, .loaded = has_links ? evaluate_loaded : NULL};
    Py_XDECREF(asks);
    Py_XDECREF(structs);
    Py_XDECREF(links);
    PyErr_Clear();
    return host;
}

int core_evaluate_init(PyObject *module, core_state *state)
{
    state->evaluation_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &evaluate_spec, NULL);
    return state->evaluation_type ? 0 : -1;
}
