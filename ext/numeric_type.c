/* SPDX-License-Identifier: Apache-2.0
 *
 * Dtypes: NumPy's objects and the library's numbers. A dtype that the library does not know is *stored* as one that it
 * does, and the array carries the number of its meaning (ts_nd.meaning): datetime64[D] is int64 that means days. Views
 * and selections of elements need not know; calls go to Python (numeric/_meanings.py). docs/adr/0031-meanings.md.
 */
#include "numeric.h"

enum { MEANING_SHIFT = 8 }; /* numbers: a ts_dtype, and above it a meaning */
static_assert(TS_DTYPE_COUNT < 1 << MEANING_SHIFT, "a dtype fits below the meaning");

/* The next meaning, of a dtype object; 0 with exception. */
static uint16_t meaning_new(core_state *state, PyObject *object)
{
    numeric_state *n = state->numeric;
    NUMERIC_BEGIN(state);
    PyObject **all = n->meanings ? n->meanings : PyMem_RawCalloc(NUMERIC_MEANINGS, sizeof *all);
    uint16_t meaning = all && n->n_meanings + 1 < NUMERIC_MEANINGS ? ++n->n_meanings : 0;
    n->meanings = all;
    if (meaning)
        all[meaning] = Py_NewRef(object);
    NUMERIC_END(state);
    if (!all)
        PyErr_NoMemory();
    else if (!meaning)
        PyErr_Format(PyExc_RuntimeError, "no array of dtype %R: the program has had arrays of %d dtypes that are not "
                     "the library's own, which is the most; use fewer, as one width for many texts", object,
                     NUMERIC_MEANINGS - 1);
    return meaning;
}

/* A number of a dtype object that is none of the library's, kept in `numbers` by what tells it from others; NULL: it
 * has none, or with exception. */
static PyObject *meaning_make(core_state *state, PyObject *object, PyObject *identity)
{
    numeric_state *n = state->numeric;
    PyObject *stored = PyObject_CallOneArg(n->stored_as, object), *number, *kept;
    PyObject *dtype = stored ? PyDict_GetItemWithError(n->numbers, stored) : NULL;
    Py_XDECREF(stored);
    uint16_t meaning = dtype ? meaning_new(state, object) : 0;
    if (!meaning)
        return NULL;
    number = PyLong_FromLong(PyLong_AsLong(dtype) | (long)meaning << MEANING_SHIFT);
    kept = number ? PyDict_SetDefault(n->numbers, identity, number) : NULL; /* another thread's, where that was first */
    if (kept && !PyDict_SetDefault(n->numbers, object, kept)) /* the first of those that compare equal */
        kept = NULL;
    Py_XDECREF(number);
    return kept;
}

/* The other dtypes of 64 bits compare equal to those that the library's are: no table by what is equal tells them. */
static uint16_t type_longlong(const numeric_state *n, PyObject *object)
{
    for (int i = 0; object && i < 2; i++)
        if (object == n->longlongs[i] || object == n->longlong_types[i])
            return NUMERIC_LONGLONG;
    return 0;
}

/* The number of a dtype object. Those that compare equal may differ yet, by the type of their scalars or their unit:
 * the one that was met first is found by the object, all others by their identity. NULL with exception. */
static PyObject *type_number(core_state *state, PyObject *made)
{
    numeric_state *n = state->numeric;
    PyObject *number = PyDict_GetItemWithError(n->numbers, made);
    long meaning = number ? PyLong_AsLong(number) >> MEANING_SHIFT : 0;
    if (PyErr_Occurred() || (number && (!meaning || n->meanings[meaning] == made)))
        return number;
    PyObject *identity = PyObject_CallOneArg(n->identity, made);
    number = identity ? PyDict_GetItemWithError(n->numbers, identity) : NULL;
    if (!number && identity && !PyErr_Occurred())
        number = meaning_make(state, made, identity);
    Py_XDECREF(identity);
    if (!number && !PyErr_Occurred())
        PyErr_Format(state->numeric->host_dtype, "tessera.numeric has no arrays of dtype %R", made);
    return number;
}

/* Whether an object names one dtype, so that its number may be kept by it. */
static bool type_is_name(PyObject *object)
{
    return PyUnicode_CheckExact(object) ||
           (PyType_Check(object) && !PyType_HasFeature((PyTypeObject *)object, Py_TPFLAGS_HEAPTYPE));
}

int numeric_type_of(core_state *state, PyObject *object, ts_dtype *out, uint16_t *meaning)
{
    numeric_state *n = state->numeric;
    PyObject *number = PyObject_Hash(object) == -1 ? NULL : PyDict_GetItemWithError(n->numbers, object);
    PyErr_Clear();
    long known = number ? PyLong_AsLong(number) : 0;
    uint16_t longlong = type_longlong(n, object);
    bool is_exact = number && (known >> MEANING_SHIFT == 0 || n->meanings[known >> MEANING_SHIFT] == object ||
                               type_is_name(object));
    PyObject *made = is_exact ? NULL : PyObject_CallOneArg(n->dtype_of, object);
    if (made)
        number = type_number(state, made);
    if (!number || (!is_exact && !made)) {
        Py_XDECREF(made);
        return -1;
    }
    known = PyLong_AsLong(number);
    *out = (ts_dtype)(known & ((1 << MEANING_SHIFT) - 1));
    longlong |= type_longlong(n, made);
    *meaning = longlong ? longlong : (uint16_t)(known >> MEANING_SHIFT);
    bool is_kept = made && !longlong && type_is_name(object); /* the same next time */
    if (is_kept && PyDict_SetItem(n->numbers, object, number) < 0)
        PyErr_Clear();
    Py_XDECREF(made);
    return 0;
}

int numeric_dtype_of(core_state *state, PyObject *object, ts_dtype *out)
{
    uint16_t meaning;
    if (numeric_type_of(state, object, out, &meaning) < 0)
        return -1;
    if (!meaning || meaning == NUMERIC_LONGLONG)
        return 0;
    PyErr_Format(PyExc_TypeError, "an array of dtype %R has no numbers", state->numeric->meanings[meaning]);
    return -1;
}

PyObject *numeric_dtype(core_state *state, const ts_nd *nd)
{
    if (nd->flags & TS_ND_LONGLONG)
        return state->numeric->longlongs[nd->dtype == TS_DTYPE_uint64];
    return nd->meaning ? state->numeric->meanings[nd->meaning] : state->numeric->dtypes[nd->dtype];
}

void numeric_mark(ts_nd *nd, uint16_t meaning)
{
    bool is_longlong = meaning == NUMERIC_LONGLONG;
    nd->flags = (uint8_t)((nd->flags & ~TS_ND_LONGLONG) | (is_longlong ? TS_ND_LONGLONG : 0));
    nd->meaning = is_longlong ? 0 : meaning;
}

PyObject *numeric_as_longlong(core_state *state, PyObject *result)
{
    numeric_state *n = state->numeric;
    if (result && numeric_is_array(state, result)) {
        if (ND(result)->dtype == TS_DTYPE_int64 || ND(result)->dtype == TS_DTYPE_uint64)
            numeric_mark(ND(result), NUMERIC_LONGLONG);
        return result;
    }
    for (int i = 0; result && i < 2; i++)
        if ((PyObject *)Py_TYPE(result) == n->scalar_types[i ? TS_DTYPE_uint64 : TS_DTYPE_int64])
            Py_SETREF(result, PyObject_CallOneArg(n->longlong_types[i], result));
    return result;
}

PyObject *numeric_meant(core_state *state, PyObject *value, const ts_nd *like)
{
    PyObject *made = PyObject_CallFunctionObjArgs(state->numeric->meant_cast, value, numeric_dtype(state, like), NULL);
    if (made && !numeric_is_array(state, made)) {
        PyErr_Format(PyExc_TypeError, "an array is wanted, found %.200s", Py_TYPE(made)->tp_name);
        Py_CLEAR(made);
    }
    return made;
}

PyObject *numeric_typestr(core_state *state, const ts_nd *nd)
{
    if (nd->meaning)
        return PyObject_GetAttrString(numeric_dtype(state, nd), "str");
    return PyUnicode_FromString(ts_dtype_get((ts_dtype)nd->dtype)->typestr);
}

bool numeric_is_unnamed(core_state *state, const ts_nd *a)
{
    return a->dtype && !a->meaning && state->numeric->dtypes[a->dtype] != Py_None &&
           strchr(ts_dtype_get((ts_dtype)a->dtype)->typestr, 'V');
}

int numeric_describe(core_state *state, const ts_nd *a, PyObject *interface, bool exact)
{
    PyObject *descr = PyObject_CallFunctionObjArgs(state->numeric->items_descr, numeric_dtype(state, a),
                                                   exact ? Py_True : Py_False, NULL);
    int done = !descr ? -1 : descr == Py_None ? 0 : PyDict_SetItemString(interface, "descr", descr);
    Py_XDECREF(descr);
    return done;
}

PyObject *numeric_unequal(PyObject *x, PyObject *y, bool differ)
{
    PyObject *type, *error, *trace, *made = NULL;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyObject *module = PyImport_ImportModule("tessera.numeric._meanings");
    if (module)
        made = PyObject_CallMethod(module, "unequal", "OOOO", error, x, y, differ ? Py_True : Py_False);
    Py_XDECREF(module);
    if (made != Py_None) {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(trace);
        return made;
    }
    Py_DECREF(made);
    PyErr_Restore(type, error, trace);
    return NULL;
}

PyObject *numeric_as_operands(core_state *state, PyObject *result, const ts_nd *a, const ts_nd *b)
{
    bool is_longlong = a->flags & TS_ND_LONGLONG || (b && b->flags & TS_ND_LONGLONG);
    return is_longlong ? numeric_as_longlong(state, result) : result;
}

/* _meant(dtype, is_new=False): a view of the elements as another dtype of the same size; with is_new the array itself,
 * which nobody else has seen. */
PyObject *numeric_as_meant(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    core_state *state = ((numeric_array *)self)->state;
    ts_nd *a = ND(self), *out;
    ts_dtype dtype;
    uint16_t meaning;
    ts_error err;
    if (n < 1 || n > 2)
        return PyErr_Format(PyExc_TypeError, "_meant() takes 1 or 2 arguments, found %zd", n);
    if (numeric_type_of(state, args[0], &dtype, &meaning) < 0)
        return NULL;
    if (!dtype || ts_dtype_bytes(dtype) != ts_dtype_bytes((ts_dtype)a->dtype))
        return PyErr_Format(PyExc_ValueError, "elements of %R have another size", args[0]);
    if (n == 2 && args[1] == Py_True && dtype == (ts_dtype)a->dtype) {
        numeric_mark(a, meaning);
        return Py_NewRef(self);
    }
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_view(a, 0, dtype, a->rank, ts_nd_shape(a), ts_nd_strides(a), a->flags, &out, &err);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    numeric_mark(out, meaning);
    return numeric_wrap_view(state, out, self);
}

/* ---- items ---------------------------------------------------------------------------------------- */

/* Bytes of an element of a dtype that has a meaning; -1 with exception. */
static int64_t items_bytes(core_state *state, uint16_t meaning)
{
    PyObject *size = PyObject_GetAttrString(state->numeric->meanings[meaning], "itemsize");
    int64_t bytes = size ? PyLong_AsLongLong(size) : -1;
    Py_XDECREF(size);
    if (bytes > UINT32_MAX) {
        PyErr_Format(PyExc_ValueError, "elements of %lld bytes are too large", (long long)bytes);
        return -1;
    }
    return bytes;
}

/* Of texts without a width those of one character, as NumPy makes new arrays; others as they are. 0 with exception. */
static uint16_t items_widened(core_state *state, uint16_t meaning)
{
    ts_dtype dtype;
    PyObject *name = PyObject_GetAttrString(state->numeric->meanings[meaning], "str");
    const char *text = name ? PyUnicode_AsUTF8(name) : NULL; /* "<U0" */
    if (text && text[0] && (text[1] == 'S' || text[1] == 'U')) {
        PyObject *wide = PyUnicode_FromFormat("%c1", text[1]);
        if (!wide || numeric_type_of(state, wide, &dtype, &meaning) < 0)
            meaning = 0;
        Py_XDECREF(wide);
    }
    Py_XDECREF(name);
    return text ? meaning : 0;
}

ts_nd *numeric_empty_as(core_state *state, ts_nd_graph *graph, const numeric_form *form, bool columns)
{
    ts_nd *out = NULL;
    ts_error err;
    uint16_t meaning = form->meaning;
    int64_t bytes = form->dtype ? 0 : items_bytes(state, meaning);
    if (!form->dtype && !bytes)
        bytes = (meaning = items_widened(state, meaning)) ? items_bytes(state, meaning) : -1;
    if (bytes < 0)
        return NULL;
    NUMERIC_BEGIN(state);
    ts_status status = form->dtype ? ts_nd_empty(graph, form->dtype, form->rank, form->shape, columns, &out, &err)
                                   : ts_nd_empty_items(graph, (uint32_t)bytes, form->rank, form->shape, columns, &out,
                                                       &err);
    NUMERIC_END(state);
    if (status == TS_OK)
        numeric_mark(out, meaning);
    else
        core_raise(state, &err);
    return out;
}

/* The meaning of items that are numbers of one of the library's dtypes; 0 with exception. */
static uint16_t items_own(core_state *state, ts_dtype dtype)
{
    uint16_t *own = &state->numeric->own_meanings[dtype];
    if (!*own)
        *own = meaning_new(state, state->numeric->dtypes[dtype]);
    return *own;
}

ts_nd *numeric_view_as(core_state *state, const ts_nd *a, int64_t offset, const numeric_form *form)
{
    ts_nd *out = NULL, *items = NULL;
    ts_error err;
    int64_t bytes = form->dtype ? 0 : items_bytes(state, form->meaning);
    if (bytes < 0)
        return NULL;
    NUMERIC_BEGIN(state);
    ts_status status = form->dtype ? ts_nd_view(a, offset, form->dtype, form->rank, form->shape, form->strides,
                                                a->flags, &out, &err)
                                   : ts_nd_view_items(a, offset, (uint32_t)bytes, form->rank, form->shape,
                                                      form->strides, a->flags, &out, &err);
    NUMERIC_END(state);
    if (status != TS_OK) {
        core_raise(state, &err);
        return NULL;
    }
    numeric_mark(out, form->meaning);
    if (ts_nd_is_aligned(out))
        return out;
    uint16_t meaning = out->meaning ? out->meaning : items_own(state, form->dtype);
    NUMERIC_BEGIN(state);
    if (meaning)
        status = ts_nd_view(out, 0, TS_DTYPE_NONE, form->rank, form->shape, form->strides, a->flags, &items, &err);
    ts_nd_release(out);
    NUMERIC_END(state);
    if (items)
        items->meaning = meaning;
    else if (meaning)
        core_raise(state, &err);
    return items;
}

/* An element in memory of another device, by its bytes. */
static PyObject *items_far(core_state *state, ts_nd *nd, int64_t offset)
{
    ts_error err;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, nd->item);
    if (!bytes)
        return NULL;
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_read(nd, offset, PyBytes_AS_STRING(bytes), &err);
    NUMERIC_END(state);
    PyObject *scalar = status != TS_OK ? core_raise(state, &err)
                                       : PyObject_CallFunctionObjArgs(state->numeric->scalar, numeric_dtype(state, nd),
                                                                      bytes, NULL);
    Py_DECREF(bytes);
    return scalar;
}

PyObject *numeric_items_scalar(core_state *state, ts_nd *nd, int64_t offset)
{
    ts_nd *view;
    ts_error err;
    if (nd->item && !(ts_device_caps_of(ts_nd_graph_device(nd->graph)) & TS_DEVICE_HOST_MEMORY))
        return items_far(state, nd, offset);
    NUMERIC_BEGIN(state);
    ts_status status = ts_nd_view(nd, offset, TS_DTYPE_NONE, 0, NULL, NULL, nd->flags, &view, &err);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    PyObject *array = numeric_wrap(state, view, NULL);
    PyObject *scalar = array ? PyObject_CallOneArg(state->numeric->items_scalar, array) : NULL;
    Py_XDECREF(array);
    return scalar;
}

PyObject *numeric_runs(core_state *state, const ts_nd *to)
{
    if (to->dtype)
        return Py_NewRef(Py_None);
    return PyObject_CallOneArg(state->numeric->items_runs, numeric_dtype(state, to));
}

static ts_status items_copy_run(ts_nd *from, ts_nd *to, PyObject *run, ts_error *err)
{
    ts_nd *source, *target;
    int64_t place = PyLong_AsLongLong(PyTuple_GET_ITEM(run, 0));
    uint32_t bytes = (uint32_t)PyLong_AsLongLong(PyTuple_GET_ITEM(run, 1));
    ts_status status = ts_nd_view_items(from, place, bytes, from->rank, ts_nd_shape(from), ts_nd_strides(from), 0,
                                        &source, err);
    if (status != TS_OK)
        return status;
    status = ts_nd_view_items(to, place, bytes, to->rank, ts_nd_shape(to), ts_nd_strides(to), to->flags, &target, err);
    if (status == TS_OK)
        status = ts_nd_copy_items(source, target, err);
    ts_nd_release(source), ts_nd_release(target);
    return status;
}

ts_status numeric_copy_items(ts_nd *from, ts_nd *to, PyObject *runs, ts_error *err)
{
    ts_status status = TS_OK;
    if (!PyTuple_Check(runs))
        return ts_nd_copy_items(from, to, err);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(runs) && status == TS_OK; i++)
        status = items_copy_run(from, to, PyTuple_GET_ITEM(runs, i), err);
    return status;
}
