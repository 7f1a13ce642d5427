/* SPDX-License-Identifier: Apache-2.0
 *
 * Record: the base of struct and union classes, and Field, the descriptor of one member. A record has its own
 * zeroed memory, or looks into that of another (nested members), or into foreign memory. What its pointers
 * point into is kept alive in a dict by field name.
 */
#include "bindings.h"
#include <stdlib.h>
#include <string.h>

typedef struct bind_field {
    PyObject_HEAD
    PyObject *name;    /* owned */
    PyObject *where;   /* "CUlaunchConfig.attrs", for messages; owned */
    bind_type *type;   /* of one element; owned */
    bind_type *owner;  /* of the records it is a member of; borrowed: a type with a class is never freed */
    uint8_t mode;      /* BIND_FIELD... */
    uint32_t offset, count;
    int counter;       /* offset of the field that counts a list, or -1 */
} bind_field;

/* ---- records ---------------------------------------------------------------------------------------------------- */

static bind_record *record_alloc(bind_type *type, char *data, PyObject *owner)
{
    PyTypeObject *class = (PyTypeObject *)type->class;
    bind_record *record = class ? (bind_record *)class->tp_alloc(class, 0) : NULL;
    if (!record) {
        if (!class)
            PyErr_Format(PyExc_SystemError, "%U has no class", type->name);
        return NULL;
    }
    record->type = (bind_type *)Py_NewRef((PyObject *)type);
    record->data = data;
    record->owner = Py_XNewRef(owner);
    return record;
}

bind_record *bind_record_new(bind_type *type)
{
    bind_record *record = record_alloc(type, NULL, NULL);
    if (!record)
        return NULL;
    size_t align = type->align < 16 ? 16 : type->align;
    size_t bytes = (type->size + align - 1) / align * align;
    record->data = aligned_alloc(align, bytes ? bytes : align);
    record->owned = true;
    if (!record->data) {
        Py_DECREF(record);
        return (bind_record *)PyErr_NoMemory();
    }
    memset(record->data, 0, bytes);
    return record;
}

bind_record *bind_record_view(bind_type *type, void *data, PyObject *owner)
{
    return record_alloc(type, data, owner);
}

/* The record at the end of the chain of owners keeps what all its nested members point to. */
int bind_record_keep(bind_record *record, PyObject *name, PyObject *object)
{
    PyObject *key = Py_NewRef(name);
    bind_state *state = bind_state_of(Py_TYPE(record));
    while (record->owner && BIND_IS(state, record->owner, record)) {
        Py_SETREF(key, PyUnicode_FromFormat("%U.%p", name, (void *)record->data));
        if (!key)
            return -1;
        record = (bind_record *)record->owner;
    }
    if (!record->kept)
        record->kept = PyDict_New();
    int result = !record->kept ? -1 : PyDict_SetItem(record->kept, key, object);
    Py_DECREF(key);
    return result;
}

/* Entries of the list that a field was given, when it was; -1: it was given none. Key as in bind_record_keep. */
static Py_ssize_t record_list_length(bind_record *record, PyObject *name)
{
    PyObject *kept = record->kept ? PyDict_GetItemWithError(record->kept, name) : NULL;
    return kept && PyTuple_Check(kept) ? PyLong_AsSsize_t(PyTuple_GET_ITEM(kept, 2)) : -1;
}

int bind_record_check(bind_record *record)
{
    for (int i = 0; i < record->type->n_lists; i++) {
        Py_ssize_t have = record_list_length(record, record->type->lists[i].name);
        uint32_t want;
        memcpy(&want, record->data + record->type->lists[i].counter, sizeof want);
        if (have >= 0 && (Py_ssize_t)want > have) {
            PyErr_Format(PyExc_ValueError, "%U.%U has %zd entries, but its count is %u", record->type->name,
                         record->type->lists[i].name, have, want);
            return -1;
        }
    }
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *record_create(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    bind_type *type = bind_class_type(class);
    PyObject *address = NULL;
    if (!type || !PyArg_ParseTuple(args, "|O", &address))
        return NULL;
    if (!address && kwargs)
        address = PyDict_GetItemString(kwargs, "_ptr");
    if (!address)
        return (PyObject *)bind_record_new(type);
    void *data = PyLong_AsVoidPtr(address);
    if (!data && PyErr_Occurred())
        return NULL;
    return data ? (PyObject *)bind_record_view(type, data, NULL) : (PyObject *)bind_record_new(type);
}

/* Keywords set fields: CUmemLocation(id=1). */
static int record_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)args;
    Py_ssize_t at = 0;
    PyObject *name, *value;
    while (kwargs && PyDict_Next(kwargs, &at, &name, &value))
        if (PyUnicode_CompareWithASCIIString(name, "_ptr") != 0 && PyObject_SetAttr(self, name, value) < 0)
            return -1;
    return 0;
}

static void record_dealloc(PyObject *self)
{
    bind_record *record = (bind_record *)self;
    PyTypeObject *class = Py_TYPE(self);
    if (record->owned)
        free(record->data);
    Py_XDECREF(record->owner);
    Py_XDECREF(record->kept);
    Py_XDECREF(record->type);
    class->tp_free(self);
    Py_DECREF(class);
}

static PyObject *record_get_ptr(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(((bind_record *)self)->data);
}

static int record_buffer(PyObject *self, Py_buffer *view, int flags)
{
    bind_record *record = (bind_record *)self;
    return PyBuffer_FillInfo(view, self, record->data, (Py_ssize_t)record->type->size, 0, flags);
}

static PyMethodDef record_methods[] = {
    {"getPtr", record_get_ptr, METH_NOARGS, "getPtr(): address of the struct."},
    {0},
};
static PyType_Slot record_slots[] = {
    {Py_tp_doc, "Record(_ptr=0, **fields): a struct of the driver's; zeroed, or a view of the memory at _ptr."},
    {Py_tp_new, record_create},
    {Py_tp_init, record_init},
    {Py_tp_dealloc, record_dealloc},
    {Py_tp_methods, record_methods},
    {Py_bf_getbuffer, record_buffer},
    {0, NULL},
};
static PyType_Spec record_spec = {
    .name = "tessera._bindings.Record",
    .basicsize = sizeof(bind_record),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = record_slots,
};

/* ---- fields: reading -------------------------------------------------------------------------------------------- */

static PyObject *field_element(bind_field *field, bind_record *record, char *at)
{
    if (field->type->kind == BIND_RECORD)
        return (PyObject *)bind_record_view(field->type, at, (PyObject *)record);
    return bind_load(field->type, at);
}

static PyObject *field_get_array(bind_field *field, bind_record *record, char *at)
{
    if (field->type->kind == BIND_U8 || field->type->kind == BIND_I8)
        return PyBytes_FromStringAndSize(at, (Py_ssize_t)field->count);
    PyObject *list = PyList_New((Py_ssize_t)field->count);
    for (uint32_t i = 0; list && i < field->count; i++) {
        PyObject *item = field_element(field, record, at + i * field->type->size);
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, item);
    }
    return list;
}

static PyObject *field_get_pointer(bind_field *field, bind_record *record, const char *at)
{
    void *address;
    memcpy(&address, at, sizeof address);
    if (field->type->kind != BIND_RECORD)
        return PyLong_FromVoidPtr(address);
    return address ? (PyObject *)bind_record_view(field->type, address, (PyObject *)record) : Py_NewRef(Py_None);
}

/* A copy of the list: to change it, assign a new one. */
static PyObject *field_get_list(bind_field *field, bind_record *record, const char *at)
{
    char *items;
    uint32_t n = 0;
    Py_ssize_t assigned = record_list_length(record, field->name);
    memcpy(&items, at, sizeof items);
    memcpy(&n, record->data + field->counter, sizeof n);
    n = assigned >= 0 ? (uint32_t)assigned : n;
    PyObject *list = PyList_New(0);
    /* Handles that the driver has yet to write are shown as the zeros they are. */
    bool is_pending = !items && field->type->kind == BIND_HANDLE;
    for (uint32_t i = 0; list && (items || is_pending) && i < n; i++) {
        PyObject *item = is_pending ? bind_handle_new(field->type, 0)
                                    : bind_load(field->type, items + i * field->type->size);
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* A field can be taken from its class and asked of anything. */
static int field_check(const bind_field *field, PyObject *instance)
{
    bind_state *state = PyType_GetModuleState(Py_TYPE(field));
    if (BIND_IS(state, instance, record) && ((bind_record *)instance)->type == field->owner)
        return 0;
    PyErr_Format(PyExc_TypeError, "%U is no field of a %.100s", field->where, Py_TYPE(instance)->tp_name);
    return -1;
}

static PyObject *field_get(PyObject *self, PyObject *instance, PyObject *class)
{
    bind_field *field = (bind_field *)self;
    bind_record *record = (bind_record *)instance;
    (void)class;
    if (!instance)
        return Py_NewRef(self);
    if (field_check(field, instance) < 0)
        return NULL;
    char *at = record->data + field->offset;
    switch (field->mode) {
    case BIND_FIELD_ARRAY:
        return field_get_array(field, record, at);
    case BIND_FIELD_LIST:
        return field_get_list(field, record, at);
    case BIND_FIELD_POINTER:
    case BIND_FIELD_PARAMS:
        return field_get_pointer(field, record, at);
    default:
        return field_element(field, record, at);
    }
}

/* ---- fields: writing -------------------------------------------------------------------------------------------- */

static int field_set_bytes(bind_field *field, char *at, PyObject *value, const char *where)
{
    Py_buffer view;
    if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) < 0) {
        PyErr_Clear();
        bind_complain(PyExc_TypeError, NULL, where, "must be bytes, not %.100s", Py_TYPE(value)->tp_name);
        return -1;
    }
    bool fits = view.len == (Py_ssize_t)field->count;
    if (fits) {
        memcpy(at, view.buf, (size_t)view.len);
    } else
        bind_complain(PyExc_ValueError, NULL, where, "has room for %u bytes, not %zd", field->count, view.len);
    PyBuffer_Release(&view);
    return fits ? 0 : -1;
}

/* C leaves open whether a char has a sign: 200 and -56 are the same one. */
static int field_set_element(bind_field *field, char *at, PyObject *value, const char *where)
{
    int overflow;
    long number = field->type->kind == BIND_I8 && PyLong_Check(value) ? PyLong_AsLongAndOverflow(value, &overflow) : 0;
    if (number < 128 || number > 255)
        return bind_store(field->type, at, value, NULL, where);
    *at = (char)number;
    return 0;
}

static int field_set_array(bind_field *field, char *at, PyObject *value, const char *where)
{
    bool is_bytes = field->type->kind == BIND_U8 || field->type->kind == BIND_I8;
    if (is_bytes && !PyList_Check(value) && !PyTuple_Check(value))
        return field_set_bytes(field, at, value, where);
    PyObject *items = PySequence_Check(value) && !PyUnicode_Check(value) ? PySequence_Tuple(value) : NULL;
    int result = 0;
    if (!items || PyTuple_GET_SIZE(items) != (Py_ssize_t)field->count) {
        if (!PyErr_Occurred())
            bind_complain(items ? PyExc_ValueError : PyExc_TypeError, NULL, where, "must be a list of %u values",
                          field->count);
        Py_XDECREF(items);
        return -1;
    }
    for (uint32_t i = 0; result == 0 && i < field->count; i++)
        result = field_set_element(field, at + i * field->type->size, PyTuple_GET_ITEM(items, (Py_ssize_t)i), where);
    Py_DECREF(items);
    return result;
}

/* The blocks of a frame move into a capsule, which then owns them, and the views too. */
static void frame_capsule_free(PyObject *capsule)
{
    bind_frame *frame = PyCapsule_GetPointer(capsule, NULL);
    bind_frame_release(frame);
    free(frame);
}

/* What of `frame`, which it ends, a pointer stored in `record` needs stays with the record; n: entries of a list. */
static int field_keep(bind_field *field, bind_record *record, bind_frame *frame, PyObject *value, Py_ssize_t n)
{
    bind_frame *copy = malloc(sizeof *copy);
    PyObject *capsule = copy ? PyCapsule_New(copy, NULL, frame_capsule_free) : PyErr_NoMemory();
    if (!capsule) {
        free(copy);
        bind_frame_release(frame);
        return -1;
    }
    *copy = *frame;
    PyObject *kept = Py_BuildValue("(NOn)", capsule, value, n);
    int result = kept ? bind_record_keep(record, field->name, kept) : -1;
    Py_XDECREF(kept);
    return result;
}

/* An array of addresses: what they point into stays with the record. */
static int field_set_pointers(bind_field *field, bind_record *record, char *at, PyObject *value, const char *where)
{
    bind_frame frame = {.state = bind_state_of(Py_TYPE(record)), .function = NULL};
    uint64_t words[BIND_VIEWS] = {0};
    Py_ssize_t n = -1, bytes;
    PyObject *items = PySequence_Check(value) && !PyUnicode_Check(value) ? PySequence_Tuple(value) : NULL;
    if (items && PyTuple_GET_SIZE(items) == (Py_ssize_t)field->count && field->count <= BIND_VIEWS)
        n = PyTuple_GET_SIZE(items);
    else if (!PyErr_Occurred())
        bind_complain(items ? PyExc_ValueError : PyExc_TypeError, NULL, where, "must be a list of %u values",
                      field->count);
    int result = n < 0 ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < n; i++)
        result = bind_pointer(&frame, PyTuple_GET_ITEM(items, i), where, &words[i], &bytes);
    if (result == 0)
        result = field_keep(field, record, &frame, items, -1);
    else
        bind_frame_release(&frame);
    if (result == 0)
        memcpy(at, words, (size_t)n * sizeof *words);
    Py_XDECREF(items);
    return result;
}

static int field_set_pointer(bind_field *field, bind_record *record, char *at, PyObject *value, const char *where)
{
    bind_frame frame = {.state = bind_state_of(Py_TYPE(record)), .function = NULL};
    uint64_t word = 0;
    Py_ssize_t n = 0;
    int result;
    if (field->mode == BIND_FIELD_PARAMS)
        result = bind_params(&frame, value, &word);
    else if (field->mode == BIND_FIELD_LIST)
        result = bind_list(&frame, field->type, value, where, &word, &n);
    else if (field->type->kind == BIND_RECORD && BIND_IS(frame.state, value, record) &&
             ((bind_record *)value)->type != field->type) {
        bind_complain(PyExc_TypeError, NULL, where, "must be a %U or None, not %.100s", field->type->name,
                      Py_TYPE(value)->tp_name);
        result = -1;
    } else
        result = bind_pointer(&frame, value, where, &word, &n);
    bool is_plain = value == Py_None || PyLong_Check(value);
    if (result == 0 && !(is_plain && frame.n_blocks == 0))
        result = field_keep(field, record, &frame, value, n);
    else
        bind_frame_release(&frame);
    if (result == 0)
        memcpy(at, &word, sizeof word);
    return result;
}

static int field_set(PyObject *self, PyObject *instance, PyObject *value)
{
    bind_field *field = (bind_field *)self;
    bind_record *record = (bind_record *)instance;
    const char *where = PyUnicode_AsUTF8(field->where);
    if (!where || field_check(field, instance) < 0)
        return -1;
    if (!value) {
        PyErr_Format(PyExc_AttributeError, "%s cannot be deleted", where);
        return -1;
    }
    char *at = record->data + field->offset;
    switch (field->mode) {
    case BIND_FIELD_ARRAY:
        return field->type->kind == BIND_POINTER ? field_set_pointers(field, record, at, value, where)
                                                 : field_set_array(field, at, value, where);
    case BIND_FIELD_POINTER:
    case BIND_FIELD_LIST:
    case BIND_FIELD_PARAMS:
        return field_set_pointer(field, record, at, value, where);
    default:
        if (bind_store(field->type, at, value, NULL, where) < 0)
            return -1;
        /* A struct that is copied brings along what its own pointers need. */
        return field->type->kind == BIND_RECORD ? bind_record_keep(record, field->name, value) : 0;
    }
}

/* ---- fields: the type ------------------------------------------------------------------------------------------- */

static PyObject *field_create(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    PyObject *name, *owned_by, *type;
    int mode, counter;
    unsigned offset, count;
    bind_state *state = bind_state_of(class);
    if (!PyArg_ParseTuple(args, "O!UO!iIIi:Field", state->type_type, &owned_by, &name, state->type_type, &type, &mode,
                          &offset, &count, &counter))
        return NULL;
    bind_type *owner = (bind_type *)owned_by;
    bind_field *field = (bind_field *)class->tp_alloc(class, 0);
    if (!field)
        return NULL;
    field->name = Py_NewRef(name);
    field->type = (bind_type *)Py_NewRef(type);
    field->owner = owner;
    field->mode = (uint8_t)mode;
    field->offset = offset;
    field->count = count;
    field->counter = counter;
    field->where = PyUnicode_FromFormat("%U.%U", owner->name, name);
    if (!field->where)
        Py_CLEAR(field);
    else if (mode == BIND_FIELD_LIST && owner->n_lists < 2) {
        owner->lists[owner->n_lists].counter = (uint32_t)counter;
        owner->lists[owner->n_lists++].name = name;
    }
    return (PyObject *)field;
}

static int field_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((bind_field *)self)->type);
    return 0;
}

static int field_clear(PyObject *self)
{
    Py_CLEAR(((bind_field *)self)->type);
    return 0;
}

static void field_dealloc(PyObject *self)
{
    PyTypeObject *class = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    field_clear(self);
    Py_XDECREF(((bind_field *)self)->name);
    Py_XDECREF(((bind_field *)self)->where);
    class->tp_free(self);
    Py_DECREF(class);
}

static PyType_Slot field_slots[] = {
    {Py_tp_doc, "Field(owner, name, type, mode, offset, count, counter): a member of a Record class."},
    {Py_tp_new, field_create},
    {Py_tp_traverse, field_traverse},
    {Py_tp_clear, field_clear},
    {Py_tp_dealloc, field_dealloc},
    {Py_tp_descr_get, field_get},
    {Py_tp_descr_set, field_set},
    {0, NULL},
};
static PyType_Spec field_spec = {
    .name = "tessera._bindings.Field",
    .basicsize = sizeof(bind_field),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = field_slots,
};

int bind_record_init(PyObject *module, bind_state *state)
{
    state->record_type = (PyTypeObject *)bind_add_type(module, &record_spec);
    state->field_type = (PyTypeObject *)bind_add_type(module, &field_spec);
    return state->record_type && state->field_type ? 0 : -1;
}
