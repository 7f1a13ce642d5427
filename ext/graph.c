/* SPDX-License-Identifier: Apache-2.0
 *
 * What graphs of the driver hold of Python: the payload of a user object, which ends when the driver's last copy
 * of the graph does, and the C function that a host node runs. The driver ends user objects in threads of its own,
 * where nothing of Python can be done: payloads go to a list, and a pending call of the main thread ends them.
 *
 * For graphs of the CPU (tessera.core.graph._cpu): recorded pieces of work, and scripts of them.
 */
#include "core.h"
#include "tessera/graph.h"
#include <stdatomic.h>
#include <string.h>

typedef struct piece_object {
    PyObject_HEAD
    ts_piece *piece; /* one reference */
} piece_object;

typedef struct script_object {
    PyObject_HEAD
    core_state *state;
    ts_script *script;
} script_object;

/* ---- user objects ------------------------------------------------------------------------------------*/

typedef struct graph_payload {
    struct graph_payload *next;
    PyObject *object; /* owned */
} graph_payload;

/* One list for the process, as pending calls are: the driver's destructor has no other place to look. */
static _Atomic(graph_payload *) graph_ended;

static int graph_drain(void *unused)
{
    (void)unused;
    for (graph_payload *at = atomic_exchange(&graph_ended, NULL), *next; at; at = next) {
        next = at->next;
        Py_DECREF(at->object);
        PyMem_RawFree(at);
    }
    return 0;
}

/* A CUhostFn. A full queue of pending calls is tried again by the next destructor or graph_sweep(). */
static void graph_end(void *user)
{
    graph_payload *payload = user, *first = atomic_load(&graph_ended);
    do {
        payload->next = first;
    } while (!atomic_compare_exchange_weak(&graph_ended, &first, payload));
    if (Py_IsInitialized())
        (void)Py_AddPendingCall(graph_drain, NULL);
}

static graph_payload *graph_payload_of(PyObject *object)
{
    graph_payload *payload = PyMem_RawMalloc(sizeof *payload);
    if (payload)
        payload->object = Py_NewRef(object);
    else
        PyErr_NoMemory();
    return payload;
}

static PyObject *graph_keep(PyObject *module, PyObject *object)
{
    (void)module;
    graph_payload *payload = graph_payload_of(object);
    if (!payload)
        return NULL;
    return Py_BuildValue("(KK)", (unsigned long long)(uintptr_t)payload, (unsigned long long)(uintptr_t)graph_end);
}

/* For a payload that the driver did not take. */
static PyObject *graph_unkeep(PyObject *module, PyObject *address)
{
    (void)module;
    graph_payload *payload = PyLong_AsVoidPtr(address);
    if (!payload)
        return NULL;
    Py_DECREF(payload->object);
    PyMem_RawFree(payload);
    Py_RETURN_NONE;
}

static PyObject *graph_sweep(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (atomic_load(&graph_ended))
        (void)Py_AddPendingCall(graph_drain, NULL);
    Py_RETURN_NONE;
}

static bool graph_is_ending(void)
{
#if PY_VERSION_HEX >= 0x030D0000
    return !Py_IsInitialized() || Py_IsFinalizing();
#else
    return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

/* A CUhostFn: user is the callable, which the graph's user object keeps. */
static void graph_call(void *user)
{
    if (graph_is_ending())
        return;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *result = PyObject_CallNoArgs(user);
    if (!result)
        PyErr_WriteUnraisable(user);
    Py_XDECREF(result);
    PyGILState_Release(gil);
}

static PyObject *graph_call_address(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromUnsignedLongLong((unsigned long long)(uintptr_t)graph_call);
}

/* ---- what recorded work uses ---------------------------------------------------------------------------*/

static inline bool graph_records_none(const core_state *state, uintptr_t native)
{
    return !native || !state->builders || PyDict_GET_SIZE(state->builders) == 0;
}

PyObject *core_recorder_of(core_state *state, uintptr_t native)
{
    if (graph_records_none(state, native))
        return NULL;
    PyObject *key = PyLong_FromUnsignedLongLong(native);
    PyObject *weak = key ? core_dict_get(state->builders, key) : NULL;
    Py_XDECREF(key);
    PyObject *builder = weak ? PyObject_CallNoArgs(weak) : NULL;
    Py_XDECREF(weak);
    if (builder == Py_None)
        Py_CLEAR(builder);
    return builder;
}

int core_note_uses(core_state *state, uintptr_t native, PyObject *const *objects, size_t n)
{
    if (graph_records_none(state, native))
        return 0;
    PyObject *builder = core_recorder_of(state, native), *all = NULL, *done = NULL;
    if (!builder)
        return PyErr_Occurred() ? -1 : 0;
    all = PyTuple_New((Py_ssize_t)n);
    for (size_t i = 0; all && i < n; i++)
        PyTuple_SET_ITEM(all, (Py_ssize_t)i, Py_NewRef(objects[i]));
    if (all)
        done = PyObject_CallMethod(builder, "_uses", "(O)", all);
    Py_XDECREF(all);
    Py_XDECREF(done);
    Py_DECREF(builder);
    return done ? 0 : -1;
}

/* ---- recording on the CPU ------------------------------------------------------------------------------*/

static const ts_stream *graph_stream(core_state *state, PyObject *object, ts_stream *room)
{
    if (PyObject_TypeCheck(object, state->stream_type))
        return core_stream_now(object, room);
    PyErr_Format(PyExc_TypeError, "a Stream is expected, not a %.200s", Py_TYPE(object)->tp_name);
    return NULL;
}

static PyObject *graph_record_begin(PyObject *module, PyObject *object)
{
    core_state *state = PyModule_GetState(module);
    ts_stream room;
    ts_error err;
    const ts_stream *stream = graph_stream(state, object, &room);
    if (!stream)
        return NULL;
    if (ts_record_begin(stream, &err) != TS_OK)
        return core_raise(state, &err);
    Py_RETURN_NONE;
}

static void piece_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    ts_piece_release(((piece_object *)self)->piece);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *piece_get_kind(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(ts_piece_kind_of(((piece_object *)self)->piece));
}

static PyGetSetDef piece_getset[] = {
    {"kind", piece_get_kind, NULL, "A number of ts_piece_kind.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot piece_slots[] = {
    {Py_tp_doc, "A piece of recorded work of the CPU; made by record_end()."},
    {Py_tp_dealloc, piece_dealloc},
    {Py_tp_getset, piece_getset},
    {0, NULL},
};
static PyType_Spec piece_spec = {"tessera._core.Piece", sizeof(piece_object), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, piece_slots};

/* Appends an object for each piece of the list, which it takes. */
static int graph_take_pieces(core_state *state, PyObject *list, ts_piece *first)
{
    int result = 0;
    for (ts_piece *next; first; first = next) {
        next = ts_piece_next(first);
        piece_object *object = PyObject_New(piece_object, state->piece_type);
        if (object)
            object->piece = first;
        else
            ts_piece_release(first);
        if (!object || PyList_Append(list, (PyObject *)object) < 0)
            result = -1;
        Py_XDECREF(object);
    }
    return result;
}

static PyObject *graph_record_end(PyObject *module, PyObject *object)
{
    core_state *state = PyModule_GetState(module);
    ts_stream room;
    ts_error err;
    ts_piece *first;
    const ts_stream *stream = graph_stream(state, object, &room);
    if (!stream)
        return NULL;
    if (ts_record_end(stream, &first, &err) != TS_OK)
        return core_raise(state, &err);
    PyObject *list = PyList_New(0);
    if (list && graph_take_pieces(state, list, first) == 0)
        return list;
    Py_XDECREF(list);
    return NULL;
}

/* stream_copy(stream, to, from, bytes), stream_fill(stream, to, pattern, element, count), stream_call(stream, function,
 * data): by address, for nodes that are not made of a call of the user. */
static PyObject *graph_submit(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    core_state *state = PyModule_GetState(module);
    unsigned long long v[4] = {0};
    ts_stream room;
    ts_error err;
    if (n < 3 || n > 5) {
        PyErr_SetString(PyExc_TypeError, "graph_submit() takes 3 to 5 arguments");
        return NULL;
    }
    const ts_stream *stream = graph_stream(state, args[0], &room);
    for (Py_ssize_t i = 1; stream && i < n; i++)
        v[i - 1] = PyLong_AsUnsignedLongLong(args[i]);
    if (!stream || PyErr_Occurred())
        return NULL;
    void *at = (void *)(uintptr_t)v[0];
    void (*function)(void *);
    memcpy(&function, &at, sizeof function);
    ts_status status = n == 3   ? ts_stream_call(stream, function, (void *)(uintptr_t)v[1], &err)
                       : n == 4
                       ? ts_mem_copy(stream, at, TS_MEM_DEVICE, (void *)(uintptr_t)v[1], TS_MEM_DEVICE, v[2], &err)
                                : ts_mem_fill(stream, at, v[1], (uint32_t)v[2], v[3], &err);
    if (status != TS_OK)
        return core_raise(state, &err);
    Py_RETURN_NONE;
}

/* ---- scripts --------------------------------------------------------------------------------------------*/

static int script_step(core_state *state, PyObject *row, ts_step *out)
{
    int op;
    unsigned target, value;
    unsigned long long condition;
    PyObject *piece;
    if (!PyArg_ParseTuple(row, "iIIKO", &op, &target, &value, &condition, &piece))
        return -1;
    bool is_piece = PyObject_TypeCheck(piece, state->piece_type);
    if (op < TS_STEP_RUN || op > TS_STEP_JUMP_UNLESS || (op == TS_STEP_RUN) != is_piece ||
        (!condition && op != TS_STEP_RUN && op != TS_STEP_JUMP)) {
        PyErr_SetString(PyExc_ValueError, "Script(): a step is wrong");
        return -1;
    }
    *out = (ts_step){(ts_step_op)op, target, value, (uint32_t *)(uintptr_t)condition,
                     is_piece ? ((piece_object *)piece)->piece : NULL};
    return 0;
}

static ts_step *script_steps(core_state *state, PyObject *rows)
{
    Py_ssize_t n = PyTuple_GET_SIZE(rows);
    ts_step *steps = PyMem_Calloc((size_t)n + 1, sizeof *steps);
    if (!steps)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; steps && i < n; i++)
        if (script_step(state, PyTuple_GET_ITEM(rows, i), &steps[i]) < 0) {
            PyMem_Free(steps);
            return NULL;
        }
    return steps;
}

/* Script(steps, keep): each step is (op, target, value, address of the condition, Piece or None). */
static PyObject *script_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *rows, *keep;
    ts_device *device;
    ts_error err;
    core_state *state = core_state_of_type(type);
    if (!PyArg_ParseTuple(args, "O!O:Script", &PyList_Type, &rows, &keep) || (kwargs && PyDict_GET_SIZE(kwargs)) ||
        core_device_of(state, NULL, &device) < 0)
        return NULL;
    rows = PyList_AsTuple(rows);
    ts_step *steps = rows ? script_steps(state, rows) : NULL;
    script_object *self = steps ? (script_object *)type->tp_alloc(type, 0) : NULL;
    graph_payload *payload = self ? graph_payload_of(keep) : NULL;
    if (payload) {
        self->state = state;
        if (ts_script_create(device, steps, (size_t)PyTuple_GET_SIZE(rows), graph_end, payload, &self->script,
                             &err) != TS_OK) {
            graph_end(payload);
            core_raise(state, &err);
            Py_CLEAR(self);
        }
    } else
        Py_CLEAR(self);
    PyMem_Free(steps);
    Py_XDECREF(rows);
    return (PyObject *)self;
}

static void script_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    ts_script_release(((script_object *)self)->script);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *script_launch(PyObject *object, PyObject *target)
{
    script_object *self = (script_object *)object;
    ts_stream room;
    ts_error err;
    ts_status status;
    const ts_stream *stream = graph_stream(self->state, target, &room);
    if (!stream)
        return NULL;
    CORE_BEGIN_USE(self->state, stream, NULL); /* the default stream runs it here */
    status = ts_script_launch(self->script, stream, &err);
    CORE_END_USE(self->state);
    if (status != TS_OK)
        return core_raise(self->state, &err);
    Py_RETURN_NONE;
}

static PyMethodDef script_methods[] = {
    {"launch", script_launch, METH_O, "launch(stream, /)\n--\n\nRuns the steps in the order of a stream of the CPU."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot script_slots[] = {
    {Py_tp_doc,
     "Script(steps, keep, /)\n--\n\nA list of steps over recorded pieces; keep lives as long as a launch needs it."},
    {Py_tp_new, script_new},
    {Py_tp_dealloc, script_dealloc},
    {Py_tp_methods, script_methods},
    {0, NULL},
};
static PyType_Spec script_spec = {"tessera._core.Script", sizeof(script_object), 0, Py_TPFLAGS_DEFAULT, script_slots};

static PyMethodDef graph_functions[] = {
    {"graph_keep", graph_keep, METH_O,
     "graph_keep(object, /)\n--\n\nPayload and destructor of a user object that holds it."},
    {"graph_unkeep", graph_unkeep, METH_O, "graph_unkeep(payload, /)\n--\n\nEnds a payload that no user object took."},
    {"graph_sweep", graph_sweep, METH_NOARGS, "Lets go, soon, what ended graphs have held."},
    {"graph_call_address", graph_call_address, METH_NOARGS,
     "The CUhostFn that calls the Python callable at its argument."},
    {"record_begin", graph_record_begin, METH_O,
     "record_begin(stream, /)\n--\n\nWork given to the CPU stream is recorded from now on."},
    {"record_end", graph_record_end, METH_O,
     "record_end(stream, /)\n--\n\nThe recorded Pieces in order; the stream runs its work again."},
    {"graph_submit", (PyCFunction)(void (*)(void))graph_submit, METH_FASTCALL,
     "graph_submit(stream, ...)\n--\n\nBy address: a call (function, data), a copy (to, from, bytes) or a fill (to, "
     "pattern, element, count)."},
    {NULL, NULL, 0, NULL},
};

int core_graph_init(PyObject *module, core_state *state)
{
    state->piece_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &piece_spec, NULL);
    PyObject *script = PyType_FromModuleAndSpec(module, &script_spec, NULL);
    int result = state->piece_type && script && PyModule_AddType(module, state->piece_type) == 0
                     ? PyModule_AddType(module, (PyTypeObject *)script)
                     : -1;
    Py_XDECREF(script);
    state->builders = result < 0 ? NULL : PyDict_New();
    if (!state->builders || PyObject_SetAttrString(module, "builders", state->builders) < 0)
        result = -1;
    return result < 0 ? -1 : PyModule_AddFunctions(module, graph_functions);
}
