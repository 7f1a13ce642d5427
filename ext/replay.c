/* SPDX-License-Identifier: Apache-2.0
 *
 * Replay: the launches of a call of tessera.compute, made again where the arguments are like those that were noted
 * (python/tessera/compute/_replay.py, which says what must be asked). An array is read once, for the question and for
 * all launches.
 *
 *     replay(given)   given: the arguments by name
 *         True        the launches are made
 *         False       something differs; nothing was done
 */
#include "core.h"
#include "host.h"
#include <structmember.h>

enum { REPLAY_ARGS = 16 };

enum replay_question {
    REPLAY_IS,    /* this object */
    REPLAY_INT,   /* an int of this value */
    REPLAY_ARRAY, /* an array of the same class, dtype and length, with one axis */
    REPLAY_ASK,   /* what the function answers; yes for the third of its tuple, which never changes */
    REPLAY_NUMBER, /* a number of NumPy of the same class, bit for bit */
    REPLAY_CODE,  /* a function of this code, which names nothing and has no defaults */
    REPLAY_CONTENT, /* an array of the host as for REPLAY_ARRAY, with these bytes */
    REPLAY_QUESTIONS
};
enum replay_part { REPLAY_CONSTANT, REPLAY_GIVEN, REPLAY_TUPLE }; /* (part, constant or number or parts) */

typedef struct replay_array {
    uint8_t dtype;
    int64_t n; /* of a number: its bits */
    bool has_gaps;
} replay_array;

typedef struct replay_object {
    PyObject_HEAD
    vectorcallfunc call;
    core_state *state;
    PyObject *names, *questions, *apart, *launches; /* tuples: of (question, object); (i, j, how); (launch, parts) */
    PyObject *era, *then;  /* a list whose item must be this one still */
    PyObject *alive, *wait; /* has `ptr` while temporary memory is there; called at the end; or None */
    uint16_t device;
    bool busy;             /* a handler of a signal may call the same in the middle */
    replay_array arrays[REPLAY_ARGS];
} replay_object;

/* A call: values in the order of the names, borrowed; what arrays are as arguments. */
typedef struct replay_call {
    PyObject *values[REPLAY_ARGS];
    size_t first[REPLAY_ARGS], end[REPLAY_ARGS];
    core_frame arrays;
} replay_call;

static Py_ssize_t number_at(PyObject *tuple, Py_ssize_t i)
{
    return PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, i));
}

/* ---- questions ----------------------------------------------------------------------------------------- */

/* Reads argument `i`, an array; false where it is none with one axis. Sets no exception. */
static bool replay_take(const replay_object *self, replay_call *call, Py_ssize_t i)
{
    call->first[i] = call->arrays.n;
    if (core_take_object(self->state, &call->arrays, call->values[i]) < 0) {
        PyErr_Clear(); /* the long way says what is wrong */
        return false;
    }
    call->end[i] = call->arrays.n;
    const ts_arg *arg = &call->arrays.args[call->first[i]];
    return call->end[i] == call->first[i] + 1 && arg->kind == TS_SPEC_ARRAY && arg->rank == 1;
}

/* Reads a number of NumPy; false where it is none. Sets no exception. */
static bool replay_number(const replay_object *self, PyObject *value, replay_array *out)
{
    core_frame frame;
    core_frame_init(&frame);
    bool good = core_take_object(self->state, &frame, value) == 0;
    if (!good)
        PyErr_Clear();
    good = good && frame.n == 1 && frame.args[0].kind == TS_SPEC_SCALAR;
    if (good)
        *out = (replay_array){frame.args[0].dtype, frame.args[0].value.i, false};
    core_frame_deinit(&frame);
    return good;
}

static bool replay_is_number(const replay_object *self, PyObject *value, Py_ssize_t i)
{
    const replay_array *wanted = &self->arrays[i];
    replay_array found;
    return replay_number(self, value, &found) && found.dtype == wanted->dtype && found.n == wanted->n;
}

static bool replay_has_no_gaps(const ts_arg *arg)
{
    return !arg->strides || arg->strides[0] == 1 || arg->shape[0] < 2;
}

/* Whether argument i is an array like the one that was noted. What is not aligned the long way reads; so it does what
 * has gaps where that one had none: functions of the library take no such arrays. */
static bool replay_is_array(const replay_object *self, replay_call *call, Py_ssize_t i, PyObject *class)
{
    const replay_array *wanted = &self->arrays[i];
    if ((PyObject *)Py_TYPE(call->values[i]) != class || !replay_take(self, call, i))
        return false;
    const ts_arg *arg = &call->arrays.args[call->first[i]];
    return arg->dtype == wanted->dtype && arg->shape[0] == wanted->n &&
           !((uintptr_t)arg->value.data & (ts_dtype_bytes((ts_dtype)arg->dtype) - 1)) &&
           (wanted->has_gaps || replay_has_no_gaps(arg));
}

static bool replay_has_content(const replay_call *call, Py_ssize_t i, PyObject *bytes)
{
    const ts_arg *arg = &call->arrays.args[call->first[i]];
    return replay_has_no_gaps(arg) && TS_DEVICE_ID_KIND(arg->device) == TS_DEVICE_CPU &&
           memcmp(arg->value.data, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes)) == 0;
}

static bool replay_has_code(PyObject *value, PyObject *code)
{
    return PyFunction_Check(value) && PyFunction_GET_CODE(value) == code && !PyFunction_GET_DEFAULTS(value) &&
           !PyFunction_GET_KW_DEFAULTS(value);
}

/* 1: yes; 0: no; -1 with exception. */
static int replay_ask(const replay_object *self, replay_call *call, Py_ssize_t i)
{
    PyObject *question = PyTuple_GET_ITEM(self->questions, i), *value = call->values[i];
    PyObject *wanted = PyTuple_GET_ITEM(question, 1);
    switch (number_at(question, 0)) {
    case REPLAY_IS: return value == wanted;
    case REPLAY_INT: return PyLong_CheckExact(value) && PyObject_RichCompareBool(value, wanted, Py_EQ);
    case REPLAY_NUMBER: return (PyObject *)Py_TYPE(value) == wanted && replay_is_number(self, value, i);
    case REPLAY_CODE: return replay_has_code(value, wanted);
    case REPLAY_CONTENT:
        return replay_is_array(self, call, i, wanted) && replay_has_content(call, i, PyTuple_GET_ITEM(question, 2));
    case REPLAY_ARRAY: return replay_is_array(self, call, i, wanted);
    default: {
        if (PyTuple_GET_SIZE(question) > 2 && value == PyTuple_GET_ITEM(question, 2))
            return 1;
        PyObject *answer = PyObject_CallOneArg(wanted, value);
        int yes = answer ? PyObject_IsTrue(answer) : -1;
        Py_XDECREF(answer);
        return yes;
    }
    }
}

/* Whether two arrays lie to each other as those that were noted: in one place (True), without memory that they share
 * (False), or, both without gaps, this many bytes apart. */
static bool replay_lies_alike(const replay_call *call, PyObject *pair)
{
    Py_ssize_t i = number_at(pair, 0), j = number_at(pair, 1);
    PyObject *how = PyTuple_GET_ITEM(pair, 2);
    if (call->values[i] == call->values[j])
        return how == Py_True;
    const ts_arg *a = &call->arrays.args[call->first[i]], *b = &call->arrays.args[call->first[j]];
    if (!PyBool_Check(how))
        return replay_has_no_gaps(a) && replay_has_no_gaps(b) &&
               (intptr_t)b->value.data - (intptr_t)a->value.data == PyLong_AsSsize_t(how);
    return ts_arg_overlap(a, b) == (how == Py_True ? TS_OVERLAP_SAME : TS_OVERLAP_NONE);
}

static bool replay_names_fit(const replay_object *self, PyObject *given, replay_call *call)
{
    Py_ssize_t at = 0, n = 0;
    PyObject *name, *value;
    if (PyDict_GET_SIZE(given) != PyTuple_GET_SIZE(self->names))
        return false;
    while (PyDict_Next(given, &at, &name, &value)) {
        if (name != PyTuple_GET_ITEM(self->names, n) &&
            PyUnicode_Compare(name, PyTuple_GET_ITEM(self->names, n)) != 0)
            return false;
        call->values[n++] = value;
    }
    return true;
}

static int replay_fits(const replay_object *self, replay_call *call)
{
    ts_device *device;
    int fits = PyObject_RichCompareBool(PyList_GET_ITEM(self->era, 0), self->then, Py_EQ);
    for (Py_ssize_t i = 0; fits > 0 && i < PyTuple_GET_SIZE(self->questions); i++)
        fits = replay_ask(self, call, i);
    for (Py_ssize_t i = 0; fits > 0 && i < PyTuple_GET_SIZE(self->apart); i++)
        fits = replay_lies_alike(call, PyTuple_GET_ITEM(self->apart, i));
    if (fits <= 0)
        return fits;
    if (core_current_device(self->state, &device) < 0)
        return -1;
    if (ts_device_id(device) != self->device)
        return 0;
    PyObject *there = self->alive == Py_None ? Py_NewRef(Py_None)
                                             : PyObject_GetAttr(self->alive, self->state->name_ptr);
    Py_XDECREF(there);
    return there ? 1 : -1; /* BufferError: the memory has ended with its device */
}

/* ---- launches ------------------------------------------------------------------------------------------ */

/* An argument of a launch as it is handed over. */
static int replay_put(const replay_object *self, const replay_call *call, PyObject *part, core_frame *frame)
{
    PyObject *what = PyTuple_GET_ITEM(part, 1);
    Py_ssize_t kind = number_at(part, 0);
    ts_arg *arg;
    if (kind == REPLAY_CONSTANT)
        return core_take_object(self->state, frame, what);
    arg = core_frame_next(frame);
    if (!arg)
        return -1;
    if (kind == REPLAY_GIVEN) {
        *arg = call->arrays.args[call->first[PyLong_AsSsize_t(what)]];
        return 0;
    }
    arg->kind = TS_SPEC_TUPLE;
    arg->value.i = PyTuple_GET_SIZE(what);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(what); i++)
        if (replay_put(self, call, PyTuple_GET_ITEM(what, i), frame) < 0)
            return -1;
    return 0;
}

static PyObject *replay_objects(const replay_call *call, PyObject *parts);

/* The same as an object. Owns: the result. */
static PyObject *replay_object_of(const replay_call *call, PyObject *part)
{
    PyObject *what = PyTuple_GET_ITEM(part, 1);
    Py_ssize_t kind = number_at(part, 0);
    if (kind == REPLAY_TUPLE)
        return replay_objects(call, what);
    return Py_NewRef(kind == REPLAY_CONSTANT ? what : call->values[PyLong_AsSsize_t(what)]);
}

static PyObject *replay_objects(const replay_call *call, PyObject *parts)
{
    PyObject *made = PyTuple_New(PyTuple_GET_SIZE(parts));
    for (Py_ssize_t i = 0; made && i < PyTuple_GET_SIZE(parts); i++) {
        PyObject *item = replay_object_of(call, PyTuple_GET_ITEM(parts, i));
        if (item)
            PyTuple_SET_ITEM(made, i, item);
        else
            Py_CLEAR(made);
    }
    return made;
}

/* By the object, as if Python called it. */
static int replay_call_launch(const replay_call *call, PyObject *launch, PyObject *parts)
{
    PyObject *args = replay_objects(call, parts), *done = args ? PyObject_Call(launch, args, NULL) : NULL;
    Py_XDECREF(args);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static int replay_launch(const replay_object *self, const replay_call *call, PyObject *item)
{
    PyObject *launch = PyTuple_GET_ITEM(item, 0), *parts = PyTuple_GET_ITEM(item, 1);
    core_frame frame;
    if (!core_threads_is_plain(self->state, launch))
        return replay_call_launch(call, launch, parts);
    core_frame_init(&frame);
    frame.has_host_memory = call->arrays.has_host_memory;
    frame.has_host_views = call->arrays.has_host_views;
    int got = 0;
    for (Py_ssize_t i = 0; got == 0 && i < PyTuple_GET_SIZE(parts); i++)
        got = replay_put(self, call, PyTuple_GET_ITEM(parts, i), &frame);
    bool is_other = got < 0 && (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError));
    if (is_other)
        PyErr_Clear();
    is_other |= frame.has_constants; /* as the class of an array of structs is: of the kernel's */
    enum core_launched how = is_other  ? CORE_LAUNCH_OTHER
                             : got < 0 ? CORE_LAUNCH_FAILED
                                       : core_threads_launch(launch, &frame);
    core_frame_deinit(&frame);
    if (how == CORE_LAUNCH_OTHER)
        return replay_call_launch(call, launch, parts);
    return how == CORE_LAUNCH_FAILED ? -1 : 0;
}

static int replay_launches(replay_object *self, const replay_call *call)
{
    int got = 0;
    self->busy = true;
    for (Py_ssize_t i = 0; got == 0 && i < PyTuple_GET_SIZE(self->launches); i++)
        got = replay_launch(self, call, PyTuple_GET_ITEM(self->launches, i));
    if (got == 0 && self->wait != Py_None) {
        PyObject *done = PyObject_CallNoArgs(self->wait);
        got = done ? 0 : -1;
        Py_XDECREF(done);
    }
    self->busy = false;
    return got;
}

static PyObject *replay_run(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    replay_object *self = (replay_object *)object;
    replay_call call;
    if (PyVectorcall_NARGS(flags) != 1 || names || !PyDict_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "a Replay takes the arguments of a call, as one dict");
        return NULL;
    }
    if (self->busy || !replay_names_fit(self, args[0], &call))
        Py_RETURN_FALSE;
    core_frame_init(&call.arrays);
    int fits = replay_fits(self, &call);
    if (fits > 0 && replay_launches(self, &call) < 0)
        fits = -1;
    core_frame_deinit(&call.arrays);
    return fits < 0 ? NULL : PyBool_FromLong(fits);
}

/* ---- the object ------------------------------------------------------------------------------------------ */

/* A question as it is kept: of a value that was read, its class. Owns: the result. */
static PyObject *replay_kept(PyObject *question, bool of_class)
{
    PyObject *what = PyTuple_GET_ITEM(question, 0), *value = PyTuple_GET_ITEM(question, 1);
    if (!of_class)
        return Py_NewRef(question);
    return PyTuple_GET_SIZE(question) > 2
               ? Py_BuildValue("OOO", what, Py_TYPE(value), PyTuple_GET_ITEM(question, 2))
               : Py_BuildValue("OO", what, Py_TYPE(value));
}

static void replay_note(const ts_arg *arg, replay_array *out)
{
    *out = (replay_array){arg->dtype, arg->shape[0], !replay_has_no_gaps(arg)};
}

/* What arrays are to be like; questions about arrays come with one of them, of which the class is kept. */
static int replay_note_arrays(replay_object *self, PyObject *questions)
{
    replay_call call;
    int got = 0;
    Py_ssize_t n = PyTuple_GET_SIZE(questions);
    core_frame_init(&call.arrays);
    self->questions = PyTuple_New(n);
    for (Py_ssize_t i = 0; self->questions && got == 0 && i < n; i++) {
        PyObject *question = PyTuple_GET_ITEM(questions, i), *kept;
        call.values[i] = PyTuple_GET_ITEM(question, 1);
        Py_ssize_t what = number_at(question, 0);
        bool is_array = what == REPLAY_ARRAY || what == REPLAY_CONTENT, is_number = what == REPLAY_NUMBER;
        if (is_array && !replay_take(self, &call, i)) {
            PyErr_SetString(PyExc_TypeError, "a replay keeps only arrays of one axis");
            got = -1;
        } else if (is_array)
            replay_note(&call.arrays.args[call.first[i]], &self->arrays[i]);
        if (is_number && !replay_number(self, call.values[i], &self->arrays[i])) {
            PyErr_SetString(PyExc_TypeError, "a replay keeps only numbers of NumPy that kernels take");
            got = -1;
        }
        kept = replay_kept(question, is_array || is_number);
        if (kept)
            PyTuple_SET_ITEM(self->questions, i, kept);
        got = kept ? got : -1;
    }
    core_frame_deinit(&call.arrays);
    return self->questions ? got : -1;
}

static PyObject *replay_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"names", "questions", "apart", "launches", "era", "then", "alive", "wait", NULL};
    PyObject *given[8];
    ts_device *device;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!O!O!O!OOO:Replay", names, &PyTuple_Type, &given[0],
                                     &PyTuple_Type, &given[1], &PyTuple_Type, &given[2], &PyTuple_Type, &given[3],
                                     &PyList_Type, &given[4], &given[5], &given[6], &given[7]))
        return NULL;
    if (PyTuple_GET_SIZE(given[0]) > REPLAY_ARGS || PyTuple_GET_SIZE(given[0]) != PyTuple_GET_SIZE(given[1])) {
        PyErr_Format(PyExc_TypeError, "a Replay has a question for each of at most %d names", REPLAY_ARGS);
        return NULL;
    }
    replay_object *self = (replay_object *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->call = replay_run;
    self->state = core_state_of_type(type);
    self->names = Py_NewRef(given[0]), self->apart = Py_NewRef(given[2]), self->launches = Py_NewRef(given[3]);
    self->era = Py_NewRef(given[4]), self->then = Py_NewRef(given[5]);
    self->alive = Py_NewRef(given[6]), self->wait = Py_NewRef(given[7]);
    if (replay_note_arrays(self, given[1]) < 0 || core_current_device(self->state, &device) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    self->device = ts_device_id(device);
    return (PyObject *)self;
}

static int replay_traverse(PyObject *object, visitproc visit, void *arg)
{
    replay_object *self = (replay_object *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->names);
    Py_VISIT(self->questions);
    Py_VISIT(self->apart);
    Py_VISIT(self->launches);
    Py_VISIT(self->era);
    Py_VISIT(self->then);
    Py_VISIT(self->alive);
    Py_VISIT(self->wait);
    return 0;
}

static int replay_clear(PyObject *object)
{
    replay_object *self = (replay_object *)object;
    Py_CLEAR(self->names);
    Py_CLEAR(self->questions);
    Py_CLEAR(self->apart);
    Py_CLEAR(self->launches);
    Py_CLEAR(self->era);
    Py_CLEAR(self->then);
    Py_CLEAR(self->alive);
    Py_CLEAR(self->wait);
    return 0;
}

static void replay_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    replay_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMemberDef replay_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(replay_object, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot replay_slots[] = {
    {Py_tp_doc, "The launches of a call, made again for arguments that are like those that were noted."},
    {Py_tp_new, replay_new},
    {Py_tp_dealloc, replay_dealloc},
    {Py_tp_traverse, replay_traverse},
    {Py_tp_clear, replay_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, replay_members},
    {0, NULL},
};

static PyType_Spec replay_spec = {"tessera._core.Replay", sizeof(replay_object), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC |
                                      Py_TPFLAGS_HAVE_VECTORCALL,
                                  replay_slots};

int core_replay_init(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &replay_spec, NULL);
    int got = type ? PyModule_AddType(module, (PyTypeObject *)type) : -1;
    Py_XDECREF(type);
    return got;
}
