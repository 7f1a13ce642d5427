/* SPDX-License-Identifier: Apache-2.0
 *
 * Function: one C function of a table. A call converts the arguments into machine words, calls without the
 * GIL and wraps what came back. The C function is looked up at the first call.
 *
 * All arguments of these interfaces are integers, pointers and floats of at most 8 bytes, and a few structs.
 * In the C calling conventions of x86-64 and AArch64 (System V) integers and pointers go to the first 6 or 8
 * integer registers and then to the stack in 8-byte cells, floats to registers of their own; so one call
 * through a pointer with integer words and two floats serves every function. A struct by value of up to 16
 * bytes is one or two such words. A larger one is copied to the stack (x86-64) or passed as the address of a
 * copy (AArch64).
 */
#include "bindings.h"
#include <stddef.h>
#include <string.h>
#include <structmember.h>

#if defined(__x86_64__)
#define CALL_REGISTERS 6
#define CALL_COPIES false
#elif defined(__aarch64__)
#define CALL_REGISTERS 8
#define CALL_COPIES true
#else
#error "tessera._bindings knows the calling conventions of x86-64 and AArch64"
#endif
enum { CALL_STACK = 16, CALL_WORDS = CALL_REGISTERS + CALL_STACK };

typedef struct bind_param {
    PyObject *name;  /* owned */
    const char *text; /* of the name */
    bind_type *type; /* owned */
    uint8_t mode;
    int8_t word;     /* where its first machine word goes; floats: 0 or 1 */
    int8_t counter;  /* index of the parameter that counts it, or -1 */
    int count;       /* added to the counter's value; alone when there is no counter */
} bind_param;

/* How results are given: (status, ...), raised, or a bare value with a success member before it. */
typedef enum bind_answer { ANSWER_TUPLE, ANSWER_CHECKED, ANSWER_VALUE } bind_answer;

typedef struct bind_function {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    void *address;
    PyObject *name, *doc, *module; /* owned */
    PyObject *resolve;             /* callable() -> int: finds the address; owned until then */
    PyObject *fail;                /* callable(name, status): raises; owned, of checked functions */
    bind_type *result;             /* owned */
    PyObject *success;             /* member for 0; owned */
    PyObject *done;                /* (success,): what a function without outputs answers; owned, made at first use */
    PyObject *type_of;             /* callable(value of an argument) -> Type of the output; owned, or NULL */
    PyObject *types;               /* dict: what it has answered; owned */
    bind_param params[BIND_ARGS];
    const char *text;              /* of the name */
    uint8_t answer, n_params, n_in, n_out, n_stack;
    bool is_quick;                 /* never waits nor takes a lock: the GIL is kept */
    bool is_plain;                 /* single values only: no lists, structs or lengths to look after */
} bind_function;

typedef struct call {
    bind_frame frame;
    uint64_t words[CALL_WORDS];
    float floats[2];
    uint64_t cells[BIND_ARGS];     /* what single values are written to; counts, by parameter */
    PyObject *objects[BIND_ARGS];  /* output objects made before the call; owned; when has_objects */
    bind_type *typed;              /* of the output whose type follows from an argument; borrowed from `types` */
    bool has_objects;
    _Alignas(128) char near[BIND_NEAR];
} call;

/* ---- arguments -------------------------------------------------------------------------------------------------- */

static bool param_is_input(const bind_param *param)
{
    return param->mode != BIND_OUT && param->mode != BIND_OUT_LIST && param->mode != BIND_OUT_BYTES &&
           param->mode != BIND_OUT_TYPED;
}

static bool param_is_output(const bind_param *param)
{
    return param->mode == BIND_INOUT || !param_is_input(param);
}

static int take_record(call *c, const bind_param *param, PyObject *object)
{
    bind_record *record = (bind_record *)object;
    if (param->mode == BIND_IN_RECORD && object == Py_None) {
        c->words[param->word] = 0;
        return 0;
    }
    if (!BIND_IS(c->frame.state, object, record) || record->type != param->type) {
        bind_complain(PyExc_TypeError, c->frame.function, param->text, "must be a %U%s, not %.100s", param->type->name,
                      param->mode == BIND_IN_RECORD ? " or None" : "", Py_TYPE(object)->tp_name);
        return -1;
    }
    if (record->type->n_lists && bind_record_check(record) < 0)
        return -1;
    if (param->mode == BIND_IN_RECORD || (CALL_COPIES && record->type->size > 16))
        c->words[param->word] = (uint64_t)(uintptr_t)record->data;
    else {
        c->words[param->word] = 0;
        memcpy(&c->words[param->word], record->data, record->type->size);
    }
    return 0;
}

static int take_value(bind_function *self, call *c, bind_param *param, PyObject *object, uint64_t *cell)
{
    bind_type *type = param->type;
    Py_ssize_t bytes;
    int result;
    switch (type->kind) {
    case BIND_RECORD:
        return take_record(c, param, object);
    case BIND_POINTER:
        result = bind_pointer(&c->frame, object, param->text, cell, &bytes);
        /* Host memory of a copy: its length is compared once the count is known. */
        if (bytes >= 0 && param->counter >= 0)
            c->objects[param - self->params] = PyLong_FromSsize_t(bytes);
        break;
    case BIND_TEXT:
        result = bind_text(&c->frame, object, param->text, cell);
        break;
    default:
        if (self->type_of && type->kind == BIND_ENUM && PyLong_CheckExact(object)) {
            PyErr_Format(PyExc_TypeError, "%s: an attribute must be a member of its enum, %U, not %R",
                         c->frame.function,
                         type->name, object);
            return -1;
        }
        result = bind_word(type, object, c->frame.function, param->text, cell);
    }
    if (type->kind == BIND_F32)
        memcpy(&c->floats[param->word], cell, sizeof(float));
    else
        c->words[param->word] = *cell;
    return result;
}

static int take_list(bind_function *self, call *c, bind_param *param, PyObject *object)
{
    Py_ssize_t n;
    if (bind_list(&c->frame, param->type, object, param->text, &c->words[param->word], &n) < 0)
        return -1;
    if (object != Py_None && !(c->objects[param - self->params] = PyLong_FromSsize_t(n)))
        return -1;
    return 0;
}

/* An output: the address of a cell, of a new struct, or of room made when the counts are known. */
static int take_output(bind_function *self, call *c, bind_param *param)
{
    ptrdiff_t i = param - self->params;
    if (param->mode != BIND_OUT)
        return 0;
    c->cells[i] = 0;
    c->words[param->word] = (uint64_t)(uintptr_t)&c->cells[i];
    if (param->type->kind != BIND_RECORD)
        return 0;
    bind_record *record = bind_record_new(param->type);
    c->objects[i] = (PyObject *)record;
    if (record)
        c->words[param->word] = (uint64_t)(uintptr_t)record->data;
    return record ? 0 : -1;
}

/* The form of C, cuMemAlloc(dptr, n): the caller's own handle or struct is written to, and given back. */
static int take_given(bind_function *self, call *c, bind_param *param, PyObject *object)
{
    bool is_handle = BIND_IS(c->frame.state, object, handle) && ((bind_handle *)object)->type == param->type;
    bool is_record = BIND_IS(c->frame.state, object, record) && ((bind_record *)object)->type == param->type;
    if (param->mode != BIND_OUT || (!is_handle && !is_record)) {
        bind_complain(PyExc_TypeError, c->frame.function, param->text, "must be a %U to write to, not %.100s",
                      param->type->name, Py_TYPE(object)->tp_name);
        return -1;
    }
    void *at = is_handle ? ((bind_handle *)object)->at : (void *)((bind_record *)object)->data;
    c->words[param->word] = (uint64_t)(uintptr_t)at;
    c->objects[param - self->params] = Py_NewRef(object);
    return 0;
}

/* Memory that C writes text to. A number is the size that was meant to be room for, more often than an address. */
static int take_buffer(bind_function *self, call *c, bind_param *param, PyObject *object, uint64_t *cell)
{
    if (object == Py_None || (PyObject_CheckBuffer(object) && !PyLong_Check(object)))
        return take_value(self, c, param, object, cell);
    bind_complain(PyExc_TypeError, c->frame.function, param->text,
                  "must be a buffer to write to, as bytearray(size), not %.100s", Py_TYPE(object)->tp_name);
    return -1;
}

static int take_param(bind_function *self, call *c, bind_param *param, PyObject *object)
{
    uint64_t *cell = &c->cells[param - self->params];
    switch (param->mode) {
    case BIND_IN:
        return take_value(self, c, param, object, cell);
    case BIND_IN_BUFFER:
        return take_buffer(self, c, param, object, cell);
    case BIND_IN_RECORD:
        return take_record(c, param, object);
    case BIND_IN_LIST:
        return take_list(self, c, param, object);
    case BIND_IN_PARAMS:
        return bind_params(&c->frame, object, &c->words[param->word]);
    default: /* BIND_IN_CELL, BIND_INOUT: by address */
        c->words[param->word] = (uint64_t)(uintptr_t)cell;
        return bind_word(param->type, object, c->frame.function, param->text, cell);
    }
}

/* ---- counts ----------------------------------------------------------------------------------------------------- */

static int64_t param_count(const call *c, const bind_param *param)
{
    return param->counter < 0 ? param->count : (int64_t)c->cells[param->counter] + param->count;
}

static int count_output(bind_function *self, call *c, bind_param *param, int64_t count)
{
    enum { MOST = 1 << 24, MOST_BYTES = 1 << 28 };
    PyObject **object = &c->objects[param - self->params];
    if (count < 0 || count > MOST || count * param->type->size > MOST_BYTES) {
        bind_complain(PyExc_ValueError, c->frame.function, param->text, "cannot have %lld entries", (long long)count);
        return -1;
    }
    if (param->mode == BIND_OUT_BYTES) {
        *object = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count);
        if (!*object)
            return -1;
        memset(PyBytes_AS_STRING(*object), 0, (size_t)count);
        c->words[param->word] = (uint64_t)(uintptr_t)PyBytes_AS_STRING(*object);
        return 0;
    }
    void *block = bind_frame_block(&c->frame, (size_t)(count ? count : 1) * param->type->size);
    c->words[param->word] = (uint64_t)(uintptr_t)block;
    return block ? 0 : -1;
}

/* The type of an output by the value of the argument that decides it; borrowed, NULL with exception. */
static bind_type *output_type(bind_function *self, uint64_t word)
{
    bind_state *state = PyType_GetModuleState(Py_TYPE(self));
    PyObject *key = PyLong_FromUnsignedLongLong(word);
    PyObject *type = key ? PyDict_GetItemWithError(self->types, key) : NULL;
    if (key && !type && !PyErr_Occurred()) {
        type = PyObject_CallOneArg(self->type_of, key);
        if (type && !Py_IS_TYPE(type, state->type_type)) {
            PyErr_Format(PyExc_TypeError, "%U: %R is no Type", self->name, type);
            Py_CLEAR(type);
        }
        if (type && PyDict_SetItem(self->types, key, type) < 0)
            Py_CLEAR(type);
        Py_XDECREF(type); /* the dict has it */
    }
    Py_XDECREF(key);
    return (bind_type *)type;
}

static int typed_output(bind_function *self, call *c, bind_param *param)
{
    ptrdiff_t i = param - self->params;
    c->typed = output_type(self, c->words[self->params[param->counter].word]);
    if (!c->typed)
        return -1;
    c->cells[i] = 0;
    c->words[param->word] = (uint64_t)(uintptr_t)&c->cells[i];
    if (c->typed->kind != BIND_RECORD)
        return 0;
    bind_record *record = bind_record_new(c->typed);
    c->objects[i] = (PyObject *)record;
    if (record)
        c->words[param->word] = (uint64_t)(uintptr_t)record->data;
    return record ? 0 : -1;
}

/* A list or buffer must be as long as the call will read. */
static int count_input(call *c, const bind_param *param, PyObject *length)
{
    int64_t have = PyLong_AsLongLong(length), want = param_count(c, param);
    if (want <= have)
        return 0;
    bind_complain(PyExc_ValueError, c->frame.function, param->text,
                  param->mode == BIND_IN_LIST ? "has %lld entries, but %lld are asked for"
                                              : "has %lld bytes, but %lld are to be copied",
                  (long long)have, (long long)want);
    return -1;
}

/* Inputs first: room for a wrong count may be large. */
static int call_counts(bind_function *self, call *c)
{
    for (int i = 0; i < self->n_params; i++) {
        const bind_param *param = &self->params[i];
        if ((param->counter >= 0 || param->count) && c->objects[i] && param_is_input(param) &&
            count_input(c, param, c->objects[i]) < 0)
            return -1;
    }
    for (int i = 0; i < self->n_params; i++) {
        bind_param *param = &self->params[i];
        bool is_counted = param->mode == BIND_OUT_LIST || param->mode == BIND_OUT_BYTES;
        if (is_counted && count_output(self, c, param, param_count(c, param)) < 0)
            return -1;
        if (param->mode == BIND_OUT_TYPED && typed_output(self, c, param) < 0)
            return -1;
    }
    return 0;
}

/* ---- the call --------------------------------------------------------------------------------------------------- */

typedef uint64_t word;
#if CALL_REGISTERS == 6
#define REGISTERS word, word, word, word, word, word, float, float
#define PASS w[0], w[1], w[2], w[3], w[4], w[5], f[0], f[1]
#else
#define REGISTERS word, word, word, word, word, word, word, word, float, float
#define PASS w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], f[0], f[1]
#endif
typedef word call_registers(REGISTERS);
typedef word call_stack6(REGISTERS, word, word, word, word, word, word);
typedef word call_stack16(REGISTERS, word, word, word, word, word, word, word, word, word, word, word, word, word, word,
                          word, word);

static word call_words(void *address, int n_stack, const word *w, const float *f)
{
    const word *s = w + CALL_REGISTERS;
    union {
        void *address;
        call_registers *registers;
        call_stack6 *stack6;
        call_stack16 *stack16;
    } to = {address};
    if (n_stack == 0)
        return to.registers(PASS);
    if (n_stack <= 6)
        return to.stack6(PASS, s[0], s[1], s[2], s[3], s[4], s[5]);
    return to.stack16(PASS, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11], s[12], s[13],
                      s[14],
                      s[15]);
}

static int function_resolve(bind_function *self)
{
    PyObject *address = PyObject_CallNoArgs(self->resolve);
    void *found = address ? PyLong_AsVoidPtr(address) : NULL;
    Py_XDECREF(address);
    if (!found && !PyErr_Occurred())
        PyErr_Format(PyExc_RuntimeError, "function %U is not found", self->name);
    self->address = found;
    return found ? 0 : -1;
}

/* ---- results ---------------------------------------------------------------------------------------------------- */

static PyObject *output_list(const call *c, const bind_param *param)
{
    const char *items = (const char *)(uintptr_t)c->words[param->word];
    Py_ssize_t n = (Py_ssize_t)param_count(c, param);
    PyObject *list = PyList_New(n);
    for (Py_ssize_t i = 0; list && i < n; i++) {
        PyObject *item = bind_load(param->type, items + (size_t)i * param->type->size);
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, item);
    }
    return list;
}

static PyObject *output_object(bind_function *self, call *c, int i)
{
    bind_param *param = &self->params[i];
    if (param->mode == BIND_OUT_LIST)
        return output_list(c, param);
    if (c->has_objects && c->objects[i]) {
        PyObject *object = c->objects[i];
        c->objects[i] = NULL;
        return object;
    }
    return bind_load(param->mode == BIND_OUT_TYPED ? c->typed : param->type, &c->cells[i]);
}

static PyObject *status_object(bind_function *self, int32_t status)
{
    if (status == 0 && self->success)
        return Py_NewRef(self->success);
    return bind_load(self->result, &status);
}

/* The same tuple each time, as nothing can change it. */
static PyObject *answer_done(bind_function *self)
{
    if (!self->done)
        self->done = PyTuple_Pack(1, self->success);
    return Py_XNewRef(self->done);
}

/* (status, outputs...): None for each output when the call failed. */
static PyObject *answer_tuple(bind_function *self, call *c, int32_t status)
{
    if (!status && !self->n_out && self->success)
        return answer_done(self);
    PyObject *tuple = PyTuple_New(1 + self->n_out);
    PyObject *first = tuple ? status_object(self, status) : NULL;
    if (!first) {
        Py_XDECREF(tuple);
        return NULL;
    }
    PyTuple_SET_ITEM(tuple, 0, first);
    for (int i = 0, at = 1; at <= self->n_out; i++) {
        if (!param_is_output(&self->params[i]))
            continue;
        PyObject *object = status ? Py_NewRef(Py_None) : output_object(self, c, i);
        if (!object) {
            Py_DECREF(tuple);
            return NULL;
        }
        PyTuple_SET_ITEM(tuple, at++, object);
    }
    return tuple;
}

/* Raises, or gives None, the one output, or the tuple of outputs. */
static PyObject *answer_checked(bind_function *self, call *c, int32_t status)
{
    if (status) {
        PyObject *member = status_object(self, status);
        PyObject *done = member ? PyObject_CallFunctionObjArgs(self->fail, self->name, member, NULL) : NULL;
        Py_XDECREF(member);
        Py_XDECREF(done);
        return NULL;
    }
    if (!self->n_out)
        return Py_NewRef(Py_None);
    for (int i = 0; self->n_out == 1; i++)
        if (param_is_output(&self->params[i]))
            return output_object(self, c, i);
    PyObject *tuple = answer_tuple(self, c, 0);
    PyObject *answer = tuple ? PyTuple_GetSlice(tuple, 1, 1 + self->n_out) : NULL;
    Py_XDECREF(tuple);
    return answer;
}

static PyObject *call_answer(bind_function *self, call *c, word result)
{
    if (self->answer == ANSWER_VALUE) {
        PyObject *value = bind_load(self->result, &result);
        PyObject *pair = value && self->success ? PyTuple_Pack(2, self->success, value) : Py_XNewRef(value);
        Py_XDECREF(value);
        return pair;
    }
    int32_t status = (int32_t)result;
    return self->answer == ANSWER_CHECKED ? answer_checked(self, c, status) : answer_tuple(self, c, status);
}

/* ---- vectorcall ------------------------------------------------------------------------------------------------- */

static int input_index(bind_function *self, PyObject *name)
{
    for (int i = 0, at = 0; i < self->n_params; i++)
        if (param_is_input(&self->params[i])) {
            if (PyUnicode_Compare(self->params[i].name, name) == 0)
                return at;
            at++;
        }
    return -1;
}

/* Positional and keyword arguments in the order of the inputs; 0, or -1 with exception. */
static int call_inputs(bind_function *self, PyObject *const *args, Py_ssize_t n, PyObject *names, PyObject **inputs)
{
    Py_ssize_t n_names = names ? PyTuple_GET_SIZE(names) : 0;
    if (n + n_names != self->n_in) {
        PyErr_Format(PyExc_TypeError, "%U() takes %d arguments, not %zd: %U", self->name, self->n_in, n + n_names,
                     self->doc);
        return -1;
    }
    memset(inputs, 0, sizeof *inputs * BIND_ARGS);
    memcpy(inputs, args, sizeof *inputs * (size_t)n);
    for (Py_ssize_t i = 0; i < n_names; i++) {
        int at = input_index(self, PyTuple_GET_ITEM(names, i));
        if (at < 0 || inputs[at]) {
            PyErr_Format(PyExc_TypeError, "%U(): %s argument %R", self->name, at < 0 ? "there is no" : "twice the",
                         PyTuple_GET_ITEM(names, i));
            return -1;
        }
        inputs[at] = args[n + i];
    }
    return 0;
}

/* `has_outputs`: the arguments are those of C, outputs among them. */
static int call_take(bind_function *self, call *c, PyObject *const *inputs, bool has_outputs)
{
    for (int i = 0; i < self->n_params; i++) {
        bind_param *param = &self->params[i];
        int result = param_is_input(param) ? take_param(self, c, param, *inputs++)
                     : has_outputs         ? take_given(self, c, param, *inputs++)
                                           : take_output(self, c, param);
        if (result < 0)
            return -1;
    }
    return self->is_plain ? 0 : call_counts(self, c);
}

/* Whether the arguments are all those of C, with objects to write to where C has its outputs. */
static bool call_has_outputs(bind_function *self, PyObject *const *args, Py_ssize_t n)
{
    bind_state *state = PyType_GetModuleState(Py_TYPE(self));
    if (n != self->n_params || self->n_in == n)
        return false;
    for (int i = 0; i < n; i++)
        if (!param_is_input(&self->params[i]) && !BIND_IS(state, args[i], handle) && !BIND_IS(state, args[i], record))
            return false;
    return true;
}

static PyObject *function_vectorcall(PyObject *object, PyObject *const *args, size_t nargsf, PyObject *names)
{
    bind_function *self = (bind_function *)object;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    PyObject *room[BIND_ARGS], *answer = NULL;
    call c;
    bool has_outputs = n != self->n_in && !names && call_has_outputs(self, args, n);
    if ((n != self->n_in && !has_outputs) || names) {
        if (call_inputs(self, args, n, names, room) < 0)
            return NULL;
        args = room;
    }
    c.frame.state = PyType_GetModuleState(Py_TYPE(self));
    c.frame.function = self->text;
    c.frame.n_views = c.frame.n_blocks = 0;
    c.frame.near = c.near;
    c.has_objects = !self->is_plain || has_outputs;
    if (c.has_objects)
        memset(c.objects, 0, sizeof c.objects);
    if (call_take(self, &c, args, has_outputs) == 0 && (self->address || function_resolve(self) == 0)) {
        PyThreadState *thread = self->is_quick ? NULL : PyEval_SaveThread();
        word result = call_words(self->address, self->n_stack, c.words, c.floats);
        if (thread)
            PyEval_RestoreThread(thread);
        answer = call_answer(self, &c, result);
    }
    for (int i = 0; c.has_objects && i < self->n_params; i++)
        Py_XDECREF(c.objects[i]);
    if (c.frame.n_views + c.frame.n_blocks)
        bind_frame_release(&c.frame);
    return answer;
}

/* ---- the type --------------------------------------------------------------------------------------------------- */

/* Gives every parameter its machine words. */
static int function_place(bind_function *self)
{
    int n_registers = 0, n_stack = 0, n_floats = 0;
    for (int i = 0; i < self->n_params; i++) {
        bind_param *param = &self->params[i];
        bool by_value = param->mode == BIND_IN;
        uint32_t size = by_value && param->type->kind == BIND_RECORD ? param->type->size : 8;
        int words = CALL_COPIES && size > 16 ? 1 : (int)(size + 7) / 8;
        if (by_value && param->type->kind == BIND_F32) {
            param->word = (int8_t)n_floats++;
            continue;
        }
        bool in_registers = words <= 2 && n_registers + words <= CALL_REGISTERS;
        param->word = (int8_t)(in_registers ? n_registers : CALL_REGISTERS + n_stack);
        *(in_registers ? &n_registers : &n_stack) += words;
    }
    self->n_stack = (uint8_t)n_stack;
    if (n_floats <= 2 && n_stack <= CALL_STACK)
        return 0;
    PyErr_Format(PyExc_ValueError, "%U has more arguments than a call can pass", self->name);
    return -1;
}

static int function_params(bind_state *state, bind_function *self, PyObject *rows)
{
    Py_ssize_t n = PyTuple_GET_SIZE(rows);
    if (n > BIND_ARGS) {
        PyErr_Format(PyExc_ValueError, "%U has %zd parameters, more than %d", self->name, n, BIND_ARGS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        bind_param *param = &self->params[i];
        PyObject *name, *type;
        int mode, counter, count;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(rows, i), "UO!iii", &name, state->type_type, &type, &mode, &counter,
                              &count))
            return -1;
        bool is_single = (mode == BIND_IN || mode == BIND_OUT || mode == BIND_IN_CELL || mode == BIND_INOUT) &&
                         counter < 0 && ((bind_type *)type)->kind != BIND_RECORD;
        self->is_plain = self->is_plain && is_single;
        *param = (bind_param){Py_NewRef(name), PyUnicode_AsUTF8(name), (bind_type *)Py_NewRef(type), (uint8_t)mode, 0,
                              (int8_t)counter, count};
        self->n_params++;
        self->n_in = (uint8_t)(self->n_in + param_is_input(param));
        self->n_out = (uint8_t)(self->n_out + (!param_is_input(param) || mode == BIND_INOUT));
    }
    return function_place(self);
}

static PyObject *function_create(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *words[] = {"name", "module", "doc", "params", "result", "success", "answer", "resolve", "fail",
                            "type_of", "is_quick", NULL};
    bind_state *state = bind_state_of(class);
    PyObject *name, *module, *doc, *rows, *result, *success, *resolve, *fail, *type_of = NULL;
    int answer, is_quick = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "UUUO!O!OiOO|Op:Function", words, &name, &module, &doc,
                                     &PyTuple_Type,
                                     &rows, state->type_type, &result, &success, &answer, &resolve, &fail, &type_of,
                                     &is_quick))
        return NULL;
    bind_function *self = (bind_function *)class->tp_alloc(class, 0);
    if (!self)
        return NULL;
    self->vectorcall = function_vectorcall;
    self->name = Py_NewRef(name);
    self->module = Py_NewRef(module);
    self->doc = Py_NewRef(doc);
    self->result = (bind_type *)Py_NewRef(result);
    self->success = success == Py_None ? NULL : Py_NewRef(success);
    self->resolve = Py_NewRef(resolve);
    self->fail = Py_NewRef(fail);
    self->answer = (uint8_t)answer;
    self->text = PyUnicode_AsUTF8(name);
    self->is_plain = true;
    self->is_quick = is_quick;
    self->type_of = type_of == Py_None ? NULL : Py_XNewRef(type_of);
    self->types = PyDict_New();
    if (!self->types || function_params(state, self, rows) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static int function_traverse(PyObject *object, visitproc visit, void *arg)
{
    bind_function *self = (bind_function *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->resolve);
    Py_VISIT(self->fail);
    Py_VISIT(self->type_of);
    Py_VISIT(self->types);
    Py_VISIT(self->result);
    Py_VISIT(self->success);
    for (int i = 0; i < self->n_params; i++)
        Py_VISIT(self->params[i].type);
    return 0;
}

static int function_clear(PyObject *object)
{
    bind_function *self = (bind_function *)object;
    Py_CLEAR(self->resolve);
    Py_CLEAR(self->fail);
    Py_CLEAR(self->type_of);
    Py_CLEAR(self->types);
    return 0;
}

static void function_dealloc(PyObject *object)
{
    bind_function *self = (bind_function *)object;
    PyTypeObject *class = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    function_clear(object);
    for (int i = 0; i < self->n_params; i++) {
        Py_DECREF(self->params[i].name);
        Py_DECREF(self->params[i].type);
    }
    Py_XDECREF(self->result);
    Py_XDECREF(self->success);
    Py_XDECREF(self->done);
    Py_XDECREF(self->name);
    Py_XDECREF(self->module);
    Py_XDECREF(self->doc);
    class->tp_free(object);
    Py_DECREF(class);
}

static PyObject *function_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<function %U of %U>", ((bind_function *)self)->name, ((bind_function *)self)->module);
}

/* inspect.signature(function): made in Python, for few ask. */
static PyObject *function_signature(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *module = PyImport_ImportModule("tessera.bindings._api");
    PyObject *signature = module ? PyObject_CallMethod(module, "signature", "O", ((bind_function *)self)->doc) : NULL;
    Py_XDECREF(module);
    return signature;
}

static PyGetSetDef function_getset[] = {{"__signature__", function_signature, NULL, NULL, NULL}, {0}};
static PyMemberDef function_members[] = {
    {"__name__", T_OBJECT, offsetof(bind_function, name), READONLY, NULL},
    {"__qualname__", T_OBJECT, offsetof(bind_function, name), READONLY, NULL},
    {"__module__", T_OBJECT, offsetof(bind_function, module), READONLY, NULL},
    {"__doc__", T_OBJECT, offsetof(bind_function, doc), READONLY, NULL},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(bind_function, vectorcall), READONLY, NULL},
    {0},
};
static PyType_Slot function_slots[] = {
    {Py_tp_new, function_create},
    {Py_tp_traverse, function_traverse},
    {Py_tp_clear, function_clear},
    {Py_tp_dealloc, function_dealloc},
    {Py_tp_repr, function_repr},
    {Py_tp_members, function_members},
    {Py_tp_getset, function_getset},
    {Py_tp_call, PyVectorcall_Call},
    {0, NULL},
};
static PyType_Spec function_spec = {
    .name = "tessera._bindings.Function",
    .basicsize = sizeof(bind_function),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = function_slots,
};

int bind_function_init(PyObject *module, bind_state *state)
{
    state->function_type = (PyTypeObject *)bind_add_type(module, &function_spec);
    return state->function_type ? 0 : -1;
}
