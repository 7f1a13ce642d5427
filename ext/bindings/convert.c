/* SPDX-License-Identifier: Apache-2.0
 *
 * One value between Python and C, by its bind_type; buffers, texts and lists of values. Everything a call
 * borrows is entered in its frame and given back at the end.
 */
#include "bindings.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct scalar_row {
    uint32_t bytes;
    bool is_signed;
} scalar_rows[] = {
    [BIND_I8] = {1, true},   [BIND_U8] = {1, false},  [BIND_I16] = {2, true}, [BIND_U16] = {2, false},
    [BIND_I32] = {4, true},  [BIND_U32] = {4, false}, [BIND_I64] = {8, true}, [BIND_U64] = {8, false},
    [BIND_F32] = {4, false}, [BIND_F64] = {8, false},
};

uint32_t bind_scalar_size(int kind)
{
    return scalar_rows[kind].bytes;
}

PyObject *bind_complain(PyObject *class, const char *function, const char *what, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyObject *text = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    if (text) {
        PyErr_Format(class, "%s%s%s %U", function ? function : "", function ? ": " : "", what, text);
        Py_DECREF(text);
    }
    return NULL;
}

/* ---- frames ------------------------------------------------------------------------------------------------- */

void bind_frame_release(bind_frame *frame)
{
    while (frame->n_views)
        PyBuffer_Release(&frame->views[--frame->n_views]);
    while (frame->n_blocks) {
        int last = --frame->n_blocks;
        if (frame->blocks[last] != frame->near)
            free(frame->blocks[last]);
        Py_XDECREF(frame->items[last]);
    }
}

void *bind_frame_block(bind_frame *frame, size_t bytes)
{
    if (frame->n_blocks == BIND_BLOCKS) {
        PyErr_Format(PyExc_ValueError, "%s: more than %d lists in one call", frame->function, BIND_BLOCKS);
        return NULL;
    }
    bool is_near = frame->near && !frame->n_blocks && bytes <= BIND_NEAR;
    void *block = is_near ? frame->near : aligned_alloc(128, (bytes + 255) & ~(size_t)127);
    if (!block)
        return PyErr_NoMemory();
    memset(block, 0, bytes);
    frame->items[frame->n_blocks] = NULL;
    return frame->blocks[frame->n_blocks++] = block;
}

/* ---- Python to C ---------------------------------------------------------------------------------------------- */

/* Objects such as handles or NumPy scalars as an int; a new reference. */
static PyObject *convert_index(PyObject *object)
{
    if (PyFloat_Check(object) && PyFloat_AS_DOUBLE(object) == floor(PyFloat_AS_DOUBLE(object)))
        return PyLong_FromDouble(PyFloat_AS_DOUBLE(object)); /* 1e6, n / 2 of an even n */
    PyObject *index = PyNumber_Index(object);
    if (!index && PyErr_ExceptionMatches(PyExc_TypeError) && !PyFloat_Check(object) && !PyUnicode_Check(object) &&
        !PyBytes_Check(object) && Py_TYPE(object)->tp_as_number && Py_TYPE(object)->tp_as_number->nb_int) {
        PyErr_Clear();
        index = PyNumber_Long(object);
    }
    return index;
}

static int convert_integer(int kind, PyObject *object, const char *function, const char *what, uint64_t *word)
{
    const struct scalar_row *row = &scalar_rows[kind];
    PyObject *index = PyLong_Check(object) ? Py_NewRef(object) : convert_index(object);
    if (!index) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            bind_complain(PyExc_TypeError, function, what, "must be an int, not %.100s", Py_TYPE(object)->tp_name);
        return -1;
    }
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
    uint64_t bits = (uint64_t)value;
    int bad = overflow;
    if (overflow > 0 && row->bytes == 8 && !row->is_signed) {
        bits = PyLong_AsUnsignedLongLong(index);
        bad = PyErr_Occurred() != NULL;
        PyErr_Clear();
    } else if (!overflow) {
        int shift = 64 - 8 * (int)row->bytes;
        bad = row->is_signed ? (int64_t)(bits << shift) >> shift != value : value < 0 || bits << shift >> shift != bits;
    }
    if (bad)
        bind_complain(PyExc_OverflowError, function, what, "is %R, out of range for %s%d-bit integer", index,
                      row->is_signed ? "a signed " : "an unsigned ", 8 * (int)row->bytes);
    Py_DECREF(index);
    *word = bits;
    return bad ? -1 : 0;
}

static int convert_float(int kind, PyObject *object, const char *function, const char *what, uint64_t *word)
{
    double value = PyFloat_AsDouble(object);
    if (value == -1.0 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            bind_complain(PyExc_TypeError, function, what, "must be a float, not %.100s", Py_TYPE(object)->tp_name);
        return -1;
    }
    float narrow = (float)value;
    *word = 0;
    memcpy(word, kind == BIND_F32 ? (void *)&narrow : (void *)&value, scalar_rows[kind].bytes);
    return 0;
}

static int convert_enum(bind_type *type, PyObject *object, const char *function, const char *what, uint64_t *word)
{
    if (object == Py_None || !PyIndex_Check(object)) {
        bind_complain(PyExc_TypeError, function, what, "must be a member of %U, not %.100s", type->name,
                      object == Py_None ? "None" : Py_TYPE(object)->tp_name);
        return -1;
    }
    if (convert_integer(BIND_I64, object, function, what, word) < 0)
        return -1;
    int64_t value = (int64_t)*word;
    if (value >= INT32_MIN && value <= (int64_t)UINT32_MAX) /* C leaves open whether an enum has a sign */
        return 0;
    bind_complain(PyExc_OverflowError, function, what, "is %R, out of range for %U, an enum of 32 bits", object,
                  type->name);
    return -1;
}

/* Whether a handle of one class may stand for `type`: the same class, or one of its relatives. */
static bool handle_fits(bind_type *type, PyObject *object)
{
    bind_handle *handle = (bind_handle *)object;
    if (handle->type->kind != BIND_HANDLE || type->kind != BIND_HANDLE || handle->type == type)
        return true;
    if (type->class && PyObject_TypeCheck(object, (PyTypeObject *)type->class))
        return true;
    for (Py_ssize_t i = 0; type->accepts && i < PyTuple_GET_SIZE(type->accepts); i++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(type->accepts, i), handle->type->name) == 0)
            return true;
    return false;
}

static uint64_t handle_value(const bind_handle *handle)
{
    uint64_t value = 0;
    if (handle->type->size == 8)
        memcpy(&value, handle->at, 8);
    else
        memcpy(&value, handle->at, 4);
    return value;
}

/* The value as C passes it, which extends the sign. */
static uint64_t handle_word(const bind_handle *handle)
{
    uint64_t value = handle_value(handle);
    return handle->type->base == BIND_I32 ? (uint64_t)(int64_t)(int32_t)value : value;
}

static int convert_handle(bind_type *type, PyObject *object, const char *function, const char *what, uint64_t *word)
{
    if (Py_TYPE(object) == (PyTypeObject *)type->class) { /* the common case */
        *word = handle_word((bind_handle *)object);
        return 0;
    }
    bind_state *state = PyType_GetModuleState(Py_TYPE(type));
    if (BIND_IS(state, object, handle)) {
        if (!handle_fits(type, object)) {
            bind_complain(PyExc_TypeError, function, what, "must be a %U, not a %.100s", type->name,
                          Py_TYPE(object)->tp_name);
            return -1;
        }
        *word = handle_word((bind_handle *)object);
        return 0;
    }
    if (object == Py_None) {
        *word = 0;
        return 0;
    }
    if (PyUnicode_Check(object) || PyFloat_Check(object) || PyBytes_Check(object)) {
        bind_complain(PyExc_TypeError, function, what, "must be a %U, an int or None, not %.100s", type->name,
                      Py_TYPE(object)->tp_name);
        return -1;
    }
    return convert_integer(type->base, object, function, what, word);
}

int bind_scalar(int kind, PyObject *object, const char *function, const char *what, uint64_t *word)
{
    return kind == BIND_F32 || kind == BIND_F64 ? convert_float(kind, object, function, what, word)
                                                : convert_integer(kind, object, function, what, word);
}

int bind_word(bind_type *type, PyObject *object, const char *function, const char *what, uint64_t *word)
{
    switch (type->kind) {
    case BIND_ENUM:
        return convert_enum(type, object, function, what, word);
    case BIND_HANDLE:
    case BIND_INTEGER:
        return convert_handle(type, object, function, what, word);
    default:
        if (type->kind < sizeof scalar_rows / sizeof *scalar_rows)
            return bind_scalar(type->kind, object, function, what, word);
        PyErr_Format(PyExc_SystemError, "%U is not a plain value", type->name);
        return -1;
    }
}

int bind_pointer(bind_frame *frame, PyObject *object, const char *what, uint64_t *word, Py_ssize_t *bytes)
{
    *bytes = -1;
    if (object == Py_None) {
        *word = 0;
        return 0;
    }
    if (BIND_IS(frame->state, object, handle)) {
        *word = handle_value((bind_handle *)object);
        return 0;
    }
    if (BIND_IS(frame->state, object, record)) {
        *word = (uint64_t)(uintptr_t)((bind_record *)object)->data;
        *bytes = (Py_ssize_t)((bind_record *)object)->type->size;
        return 0;
    }
    if (PyLong_Check(object))
        return convert_integer(BIND_U64, object, frame->function, what, word);
    if (PyObject_CheckBuffer(object)) {
        if (frame->n_views == BIND_VIEWS) {
            PyErr_Format(PyExc_ValueError, "%s: more than %d buffers in one call", frame->function, BIND_VIEWS);
            return -1;
        }
        Py_buffer *view = &frame->views[frame->n_views];
        if (PyObject_GetBuffer(object, view, PyBUF_SIMPLE) < 0)
            return -1;
        frame->n_views++;
        *word = (uint64_t)(uintptr_t)view->buf;
        *bytes = view->len;
        return 0;
    }
    if (PyUnicode_Check(object) || PyFloat_Check(object) || !Py_TYPE(object)->tp_as_number) {
        bind_complain(PyExc_TypeError, frame->function, what,
                      "must be an address (int), None or an object with the buffer protocol, not %.100s",
                      Py_TYPE(object)->tp_name);
        return -1;
    }
    return convert_integer(BIND_U64, object, frame->function, what, word);
}

int bind_text(bind_frame *frame, PyObject *object, const char *what, uint64_t *word)
{
    Py_ssize_t bytes = 0;
    const char *text = NULL;
    if (object == Py_None) {
        *word = 0;
        return 0;
    }
    if (PyBytes_Check(object)) {
        text = PyBytes_AS_STRING(object);
        bytes = PyBytes_GET_SIZE(object);
    } else if (PyUnicode_Check(object)) {
        text = PyUnicode_AsUTF8AndSize(object, &bytes);
        if (!text)
            return -1;
    } else {
        bind_complain(PyExc_TypeError, frame->function, what, "must be bytes, str or None, not %.100s",
                      Py_TYPE(object)->tp_name);
        return -1;
    }
    size_t length = strlen(text);
    /* One closing NUL of the caller's own is common and harmless; a NUL inside would cut the text. */
    if (length < (size_t)bytes && length + 1 != (size_t)bytes) {
        bind_complain(PyExc_ValueError, frame->function, what, "has a NUL byte at %zu", length);
        return -1;
    }
    *word = (uint64_t)(uintptr_t)text;
    return 0;
}

int bind_store(bind_type *type, void *at, PyObject *object, const char *function, const char *what)
{
    bind_state *state = PyType_GetModuleState(Py_TYPE(type));
    uint64_t word = 0;
    if (type->kind == BIND_RECORD) {
        if (!BIND_IS(state, object, record) || ((bind_record *)object)->type != type) {
            bind_complain(PyExc_TypeError, function, what, "must be a %U, not %.100s", type->name,
                          Py_TYPE(object)->tp_name);
            return -1;
        }
        memmove(at, ((bind_record *)object)->data, type->size);
        return 0;
    }
    if (bind_word(type, object, function, what, &word) < 0)
        return -1;
    memcpy(at, &word, type->size);
    return 0;
}

static int list_entry(bind_frame *frame, bind_type *type, PyObject *item, const char *what, char *at)
{
    Py_ssize_t bytes;
    uint64_t word;
    if (type->kind != BIND_TEXT && type->kind != BIND_POINTER)
        return bind_store(type, at, item, frame->function, what);
    if (type->kind == BIND_TEXT ? bind_text(frame, item, what, &word) : bind_pointer(frame, item, what, &word, &bytes))
        return -1;
    memcpy(at, &word, sizeof word);
    return 0;
}

int bind_list(bind_frame *frame, bind_type *type, PyObject *object, const char *what, uint64_t *word, Py_ssize_t *n)
{
    *n = 0;
    *word = 0;
    if (object == Py_None)
        return 0;
    if (PyUnicode_Check(object) || PyBytes_Check(object) || !PySequence_Check(object)) {
        bind_complain(PyExc_TypeError, frame->function, what, "must be a list or tuple of %U, not %.100s", type->name,
                      Py_TYPE(object)->tp_name);
        return -1;
    }
    PyObject *items = PySequence_Tuple(object);
    if (!items)
        return -1;
    int result = 0;
    *n = PyTuple_GET_SIZE(items);
    char *block = *n ? bind_frame_block(frame, (size_t)*n * type->size) : NULL;
    if (*n && !block)
        result = -1;
    for (Py_ssize_t i = 0; result == 0 && i < *n; i++)
        result = list_entry(frame, type, PyTuple_GET_ITEM(items, i), what, block + i * type->size);
    if (block) /* texts and structs are pointed at: a list may change, and others make their items anew */
        frame->items[frame->n_blocks - 1] = items;
    else
        Py_DECREF(items);
    *word = (uint64_t)(uintptr_t)block;
    return result;
}

/* ---- C to Python ---------------------------------------------------------------------------------------------- */

static PyObject *load_enum(bind_type *type, int32_t value)
{
    PyObject *number = PyLong_FromLong(value);
    PyObject *member = number ? PyDict_GetItemWithError(type->members, number) : NULL;
    if (number && !member && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "%d is not a valid %U", value, type->name);
    Py_XDECREF(number);
    return Py_XNewRef(member);
}

static PyObject *load_scalar(int kind, const void *at)
{
    uint64_t word = 0;
    float narrow;
    double wide;
    memcpy(&word, at, scalar_rows[kind].bytes);
    switch (kind) {
    case BIND_F32:
        memcpy(&narrow, at, sizeof narrow);
        return PyFloat_FromDouble((double)narrow);
    case BIND_F64:
        memcpy(&wide, at, sizeof wide);
        return PyFloat_FromDouble(wide);
    default:
        if (!scalar_rows[kind].is_signed)
            return PyLong_FromUnsignedLongLong(word);
        int shift = 64 - 8 * (int)scalar_rows[kind].bytes;
        return PyLong_FromLongLong((int64_t)(word << shift) >> shift);
    }
}

PyObject *bind_load(bind_type *type, const void *at)
{
    uint64_t word = 0;
    int32_t value;
    const char *text;
    switch (type->kind) {
    case BIND_ENUM:
        memcpy(&value, at, sizeof value);
        return load_enum(type, value);
    case BIND_HANDLE:
    case BIND_INTEGER:
        if (type->size == 8)
            memcpy(&word, at, 8);
        else
            memcpy(&word, at, 4);
        return bind_handle_new(type, word);
    case BIND_RECORD: {
        bind_record *record = bind_record_new(type);
        if (record)
            memcpy(record->data, at, type->size);
        return (PyObject *)record;
    }
    case BIND_POINTER:
        memcpy(&word, at, sizeof word);
        return PyLong_FromUnsignedLongLong(word);
    case BIND_BOOL:
        memcpy(&value, at, sizeof value);
        return PyBool_FromLong(value);
    case BIND_TEXT:
        memcpy(&text, at, sizeof text);
        return text ? PyBytes_FromString(text) : Py_NewRef(Py_None);
    default:
        return load_scalar(type->kind, at);
    }
}
