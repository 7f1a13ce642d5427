/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of elementwise functions: operands to C form, which faults are watched, results to arrays or NumPy's scalars,
 * and the classes of results.
 */
#include "numeric_call.h"
#include <math.h>
#include <string.h>

/* ---- operands ------------------------------------------------------------------------------------ */

void numeric_call_int(PyObject *object, ts_nd_operand *out)
{
    int overflow = 0;
    out->kind = 'i';
    out->i = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (!overflow)
        return;
    uint64_t big = overflow > 0 ? PyLong_AsUnsignedLongLong(object) : 0;
    out->is_big = overflow > 0 && !PyErr_Occurred();
    out->is_huge = !out->is_big;
    out->i = (int64_t)big;
    PyErr_Clear();
    out->f = PyLong_AsDouble(object);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        out->f = overflow > 0 ? (double)INFINITY : -(double)INFINITY;
    }
}

/* A number of Python itself; NumPy's scalars are arrays of no axes. */
static bool call_number(PyObject *object, ts_nd_operand *out)
{
    if (PyBool_Check(object)) {
        out->kind = 'b';
        out->i = object == Py_True;
    } else if (PyLong_CheckExact(object))
        numeric_call_int(object, out);
    else if (PyFloat_CheckExact(object)) {
        out->kind = 'f';
        out->f = PyFloat_AS_DOUBLE(object);
    } else if (PyComplex_CheckExact(object)) {
        out->kind = 'c';
        out->f = PyComplex_RealAsDouble(object);
        out->im = PyComplex_ImagAsDouble(object);
    } else
        return false;
    return true;
}

/* The same of the commonest scalars, whose element lies behind the object's header. False: it is another object. */
static bool call_plain_scalar(const numeric_state *n, PyObject *object, ts_nd_operand *out)
{
    static const uint8_t common[] = {TS_DTYPE_float64, TS_DTYPE_int64, TS_DTYPE_float32, TS_DTYPE_int32};
    const void *data = (const char *)object + sizeof(PyObject);
    size_t i = 0;
    while (i < sizeof common && (PyObject *)Py_TYPE(object) != n->scalar_types[common[i]])
        i++;
    if (i == sizeof common || !(n->plain_scalars >> common[i] & 1))
        return false;
    out->dtype = (ts_dtype)common[i];
    out->kind = i % 2 ? 'i' : 'f';
    switch (common[i]) {
    case TS_DTYPE_float64: out->f = *(const double *)data; break;
    case TS_DTYPE_float32: out->f = (double)*(const float *)data; break;
    case TS_DTYPE_int64: out->i = *(const int64_t *)data; break;
    default: out->i = *(const int32_t *)data;
    }
    return true;
}

/* NumPy's scalar of a dtype of ours as a number of that dtype: 1; 0: it is none; -1 with exception. */
static int call_scalar(core_state *state, PyObject *object, ts_nd_operand *out)
{
    int dtype = 1;
    while (dtype < TS_DTYPE_COUNT && (PyObject *)Py_TYPE(object) != state->numeric->scalar_types[dtype])
        dtype++;
    if (dtype == TS_DTYPE_COUNT && numeric_is_longlong(state->numeric, object))
        dtype = (PyObject *)Py_TYPE(object) == state->numeric->longlong_types[0] ? TS_DTYPE_int64 : TS_DTYPE_uint64;
    if (dtype == TS_DTYPE_COUNT)
        return 0;
    char kind = ts_dtype_get((ts_dtype)dtype)->kind;
    int truth = kind == 'b' ? PyObject_IsTrue(object) : 0;
    PyObject *number = kind == 'f' ? PyNumber_Float(object) : kind == 'i' || kind == 'u' ? PyNumber_Long(object) : NULL;
    out->kind = kind == 'u' ? 'i' : kind;
    out->dtype = (ts_dtype)dtype;
    out->i = truth;
    if (kind == 'f' && number)
        out->f = PyFloat_AS_DOUBLE(number);
    else if (number)
        numeric_call_int(number, out);
    else if (kind == 'c') {
        Py_complex parts = PyComplex_AsCComplex(object);
        out->f = parts.real;
        out->im = parts.imag;
    }
    Py_XDECREF(number);
    return truth < 0 || PyErr_Occurred() ? -1 : 1;
}

int numeric_plain_operand(core_state *state, PyObject *object, ts_nd_operand *out)
{
    *out = (ts_nd_operand){0};
    if (numeric_is_array(state, object)) {
        out->array = ND(object);
        return 1;
    }
    return call_number(object, out) || call_plain_scalar(state->numeric, object, out) ? 1
                                                                                      : call_scalar(state, object, out);
}

int numeric_call_converted(PyObject *array, ts_nd_operand *out, PyObject **held)
{
    if (!array || array == Py_NotImplemented) {
        Py_XDECREF(array);
        return array ? 0 : -1;
    }
    out->array = ND(array);
    *held = array;
    return 1;
}

int numeric_operand(core_state *state, PyObject *object, ts_nd_operand *out, PyObject **held)
{
    int got = numeric_plain_operand(state, object, out);
    *held = NULL;
    return got ? got : numeric_call_converted(PyObject_CallOneArg(state->numeric->convert, object), out, held);
}

/* An operand of a function of elements. NumPy's arrays without axes count as the scalars that they hold there; it makes
 * such arrays of scalars on the left of its comparisons. */
static int call_operand(core_state *state, PyObject *object, ts_nd_operand *out, PyObject **held)
{
    PyObject *rank = NULL, *nothing = NULL, *scalar = NULL;
    *held = NULL;
    if (Py_TYPE(object) != (PyTypeObject *)state->numeric->numpy_array)
        return numeric_operand(state, object, out, held);
    rank = PyObject_GetAttrString(object, "ndim");
    if (rank && PyLong_CheckExact(rank) && PyLong_AsLong(rank) == 0 && (nothing = PyTuple_New(0)))
        scalar = PyObject_GetItem(object, nothing);
    int got = PyErr_Occurred() ? -1 : scalar ? numeric_plain_operand(state, scalar, out) : 0;
    Py_XDECREF(rank);
    Py_XDECREF(nothing);
    Py_XDECREF(scalar);
    return got ? got : numeric_operand(state, object, out, held);
}

enum { CALL_STRICT = 16, CALL_AT_ONCE = 32, CALL_UNDERFLOW = 64 };

/* What decides which faults are watched, held: NumPy's variable of errstate, the list of Python's filters of warnings,
 * the first and the last of them, one of which, or their number, is another after each change that programs make. */
enum { WATCH_ERRORS, WATCH_FILTERS, WATCH_FIRST, WATCH_LAST, WATCH_PARTS };

static int watch_ask(numeric_state *n, PyObject *parts[WATCH_PARTS], Py_ssize_t *count)
{
    PyObject *filters = PyDict_GetItemWithError(n->warnings, n->filters_key);
    if (PyContextVar_Get(n->errors, NULL, &parts[WATCH_ERRORS]) < 0)
        return -1;
    parts[WATCH_FILTERS] = Py_XNewRef(filters);
    *count = filters && PyList_Check(filters) ? PyList_GET_SIZE(filters) : 0;
#ifndef Py_GIL_DISABLED
    if (*count) {
        parts[WATCH_FIRST] = Py_NewRef(PyList_GET_ITEM(filters, 0));
        parts[WATCH_LAST] = Py_NewRef(PyList_GET_ITEM(filters, *count - 1));
    }
#else
    if (*count) {
        parts[WATCH_FIRST] = PySequence_GetItem(filters, 0);
        parts[WATCH_LAST] = PySequence_GetItem(filters, *count - 1);
    }
#endif
    return PyErr_Occurred() ? -1 : 0;
}

/* What numpy.errstate and the filters want: the faults (bits) that are warned of; with CALL_AT_ONCE by the call itself;
 * or CALL_STRICT where others are told of otherwise, with CALL_UNDERFLOW of that too: then calls are watched. The
 * answer to the last question is kept.
 * *is_said: the program has said it to NumPy, or else NumPy's default stands. -1 with exception. */
static int call_watches(core_state *state, bool *is_said)
{
    numeric_state *n = state->numeric;
    PyObject *parts[WATCH_PARTS] = {NULL};
    PyObject **seen[WATCH_PARTS] = {&n->errors_seen, &n->filters_seen, &n->filter_first, &n->filter_last};
    Py_ssize_t count = 0;
    *is_said = false;
    if (n->errors == Py_None)
        return 0;
    int found = watch_ask(n, parts, &count);
    NUMERIC_BEGIN(state);
    *is_said = parts[WATCH_ERRORS] != n->errors_default;
    bool is_known = n->errors_known && n->filters_count == count;
    for (int i = 0; i < WATCH_PARTS; i++)
        is_known &= parts[i] == *seen[i];
    found = found == 0 && is_known ? n->errors_watch : found;
    NUMERIC_END(state);
    if (found == 0 && !is_known) {
        PyObject *answer = PyObject_CallNoArgs(n->watches);
        found = answer ? (int)PyLong_AsLong(answer) : -1;
        Py_XDECREF(answer);
        NUMERIC_BEGIN(state);
        for (int i = 0; i < WATCH_PARTS; i++) {
            PyObject *before = *seen[i];
            *seen[i] = parts[i];
            parts[i] = before; /* released below */
        }
        n->filters_count = count;
        n->errors_watch = found;
        n->errors_known = found >= 0;
        NUMERIC_END(state);
    }
    for (int i = 0; i < WATCH_PARTS; i++)
        Py_XDECREF(parts[i]);
    return found;
}

int numeric_watch_ask(core_state *state, ts_nd_graph *graph, numeric_watch *out)
{
    bool is_said;
    int watches = call_watches(state, &is_said);
    if (watches < 0)
        return -1;
    bool on_gpu = graph != state->numeric->graphs[0];
    uint32_t all = TS_ND_DIVIDE | TS_ND_OVERFLOW | TS_ND_INVALID, wanted = (uint32_t)watches & (CALL_STRICT - 1);
    out->is_strict = watches & CALL_STRICT;
    out->at_once = out->is_strict || (!on_gpu && watches & CALL_AT_ONCE);
    out->warns = wanted;
    /* By default kernels of a GPU do not look: it would cost up to a sixth of them (docs/guide/numeric.md). */
    out->wants = out->is_strict ? all : on_gpu && !is_said ? 0 : wanted;
    out->wants |= watches & CALL_UNDERFLOW ? TS_ND_UNDERFLOW : 0;
    return 0;
}

/* Whether the program has said nothing to NumPy about faults; -1 with exception. */
static int watch_is_default(core_state *state)
{
    PyObject *errors;
    if (state->numeric->errors == Py_None)
        return 1;
    if (PyContextVar_Get(state->numeric->errors, NULL, &errors) < 0)
        return -1;
    bool is_default = errors == state->numeric->errors_default;
    Py_XDECREF(errors);
    return is_default;
}

int numeric_wanted(core_state *state, const ts_nd *x)
{
    enum { LOOKED_AT = 1024 }; /* so many elements of the host do not wait and are looked at anyway */
    numeric_watch watch;
    int is_default = watch_is_default(state);
    bool on_gpu = x->graph != state->numeric->graphs[0];
    if (is_default < 0 || (is_default && (on_gpu || x->count <= LOOKED_AT)))
        return is_default < 0 ? -1 : 0;
    if (numeric_watch_ask(state, x->graph, &watch) < 0)
        return -1;
    return watch.at_once ? (int)((watch.wants & (on_gpu ? UINT32_MAX : TS_ND_UNDERFLOW)) | TS_ND_OVERFLOW) : 0;
}

void numeric_watch_begin(ts_nd_graph *graph, const numeric_watch *watch)
{
    ts_nd_graph_strict(graph, watch->at_once);
    ts_nd_graph_wants(graph, watch->wants);
}

/* Waits for what was launched and adds the faults that it tells of: with `fn` those of this function alone, and others
 * are kept for the next read. */
static ts_status call_await_faults(numeric_state *n, ts_nd_graph *graph, const ts_nd_fn *fn, uint32_t *faults,
                                   ts_error *err)
{
    uint8_t told[TS_ND_COUNT];
    if (!ts_nd_graph_is_late(graph))
        return TS_OK;
    TS_TRY(ts_nd_graph_late(graph, told, err));
    numeric_told(n, told);
    for (int i = 0; i < TS_ND_COUNT; i++) {
        if (!fn || i == (int)*fn)
            *faults |= told[i];
        else if (told[i]) {
            n->late_faults[i] |= told[i];
            n->late_kept = true;
        }
    }
    return TS_OK;
}

/* A call that is like one before and has nothing to tell of, for which nobody needs to be asked about faults: its
 * result, or NULL, with exception or without. */
static PyObject *call_known(core_state *state, ts_nd_graph *graph, ts_nd_call *call, PyObject *out)
{
    ts_nd *result;
    ts_error err;
    NUMERIC_BEGIN(state);
    call->pace = TS_ND_KNOWN;
    ts_status status = ts_nd_run(graph, call, &result, &err);
    call->pace = TS_ND_LONG;
    if (result && out)
        ts_nd_release(result);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    return !result ? NULL : out ? Py_NewRef(out) : numeric_result(state, result);
}

/* Not: calls of large arrays, whose kernels tell of the faults that are wanted. */
static bool call_is_small(ts_nd_graph *graph, const ts_nd_call *call)
{
    int64_t small = ts_nd_graph_small(graph, -1);
    bool is_small = true;
    for (uint32_t i = 0; i < ts_nd_get(call->fn)->n_in; i++)
        is_small &= !call->in[i].array || call->in[i].array->count <= small;
    return is_small;
}

/* numeric_watch_ask(), or that of casts. */
static int call_watch(core_state *state, ts_nd_graph *graph, const ts_nd_call *call, numeric_watch *out)
{
    const ts_nd *cast = call->fn == TS_ND_copy ? call->in[0].array : NULL;
    ts_dtype to = call->dtype || !call->out ? call->dtype : (ts_dtype)call->out->dtype;
    return cast && !numeric_cast_is_safe(cast, to) ? numeric_watch_cast(state, graph, cast, cast->count, out)
                                                   : numeric_watch_ask(state, graph, out);
}

static PyObject *call_run(core_state *state, ts_nd_graph *graph, ts_nd_call *call, PyObject *out)
{
    ts_nd *result;
    ts_error err;
    numeric_watch watch = {0};
    bool in_host = ts_device_caps_of(ts_nd_graph_device(graph)) & TS_DEVICE_HOST_MEMORY;
    bool is_small = in_host && call_is_small(graph, call);
    int is_default = is_small ? watch_is_default(state) : 0; /* then a known call asks for nothing else */
    if (is_default < 0 || (!is_default && call_watch(state, graph, call, &watch) < 0))
        return NULL;
    if (watch.wants & TS_ND_UNDERFLOW) /* which a short look does not see */
        call->pace = TS_ND_LONG;
    else if (is_small) {
        PyObject *made = call_known(state, graph, call, out);
        if (made || PyErr_Occurred())
            return made;
    }
    if (is_default && call_watch(state, graph, call, &watch) < 0)
        return NULL;
    if (numeric_collects()) /* a quotient and what it leaves: kernels tell of each fault once */
        watch.wants &= call->fn == TS_ND_remainder ? TS_ND_INVALID : ~(uint32_t)TS_ND_INVALID;
    NUMERIC_BEGIN(state);
    numeric_watch_begin(graph, &watch);
    ts_status status = ts_nd_run(graph, call, &result, &err);
    ts_nd_graph_strict(graph, false);
    uint32_t faults = ts_nd_graph_faults(graph);
    if (status == TS_OK && (watch.is_strict || (in_host && watch.at_once))) {
        /* of what was not looked at here, kernels tell */
        status = call_await_faults(state->numeric, graph, watch.is_strict ? NULL : &call->fn, &faults, &err);
        if (status != TS_OK && !out)
            ts_nd_release(result);
    }
    if (result && out)
        ts_nd_release(result);
    NUMERIC_END(state);
    if (status != TS_OK)
        return core_raise(state, &err);
    if (faults && numeric_report(state, call->fn, faults) < 0) {
        if (!out) {
            NUMERIC_BEGIN(state);
            ts_nd_release(result);
            NUMERIC_END(state);
        }
        return NULL;
    }
    if (out)
        return Py_NewRef(out);
    return numeric_result(state, result);
}

int numeric_call_place(core_state *state, ts_nd_graph *graph, PyObject **held, ts_nd **array)
{
    if (!*held || (*array)->graph == graph)
        return 0;
    PyObject *moved = numeric_move(state, *held, graph);
    if (!moved)
        return -1;
    Py_SETREF(*held, moved);
    *array = ND(moved);
    return 0;
}

enum { CALL_WHERE = 3, CALL_HELD }; /* operands, then the mask */

/* Where the operands of a call that are arrays of ours lie: the first with axes or on a GPU says it, since others take
 * part in calls on any device; NULL: there are none. */
static ts_nd_graph *call_place_of(core_state *state, const ts_nd_call *call, PyObject *const *held)
{
    ts_nd_graph *graph = NULL, *host = state->numeric->graphs[0];
    for (int i = 0; i <= CALL_WHERE; i++) {
        const ts_nd *a = i < CALL_WHERE ? call->in[i].array : call->where;
        if (!a || held[i])
            continue;
        if (a->rank || a->graph != host)
            return a->graph;
        graph = a->graph;
    }
    return graph;
}

/* Where a call computes: where its arrays lie; of what was converted, where new arrays do; of numbers alone, here. */
static ts_nd_graph *call_graph(core_state *state, ts_nd_call *call, PyObject **held)
{
    ts_nd_graph *graph = call->out ? call->out->graph : call_place_of(state, call, held);
    bool any = false;
    for (int i = 0; i < CALL_WHERE && !graph; i++)
        any |= held[i] != NULL;
    if (!graph)
        graph = any || call->where ? numeric_graph(state) : numeric_host(state);
    for (int i = 0; i < CALL_WHERE && graph; i++)
        if (numeric_call_place(state, graph, &held[i], &call->in[i].array) < 0)
            return NULL;
    return graph && numeric_call_place(state, graph, &held[CALL_WHERE], &call->where) == 0 ? graph : NULL;
}

/* The arrays of a call as they are now. Conversions run code of Python, which may give an array another header
 * (numeric_become), so this comes behind the last of them. */
static void call_arrays(core_state *state, ts_nd_call *call, PyObject *const *x, uint32_t n, PyObject *out,
                        PyObject *mask)
{
    for (uint32_t i = 0; i < n; i++)
        if (numeric_is_array(state, x[i]))
            call->in[i].array = ND(x[i]);
    call->out = out ? ND(out) : NULL;
    call->where = mask ? ND(mask) : NULL;
}

/* Whether a call is about more than numbers: an array among its operands, or `out`, has a meaning. */
static bool call_is_meant(const call_options *options, uint32_t n)
{
    bool meant = options->is_meant || (options->call.out && options->call.out->meaning);
    for (uint32_t i = 0; i < n; i++)
        meant |= options->call.in[i].array && options->call.in[i].array->meaning;
    return meant;
}

/* Whether a result of 64-bit integers is NumPy's longlong: where dtype= says so, else by the operands. NumPy takes the
 * first loop that fits, of int64, for functions in its order of all loops, and for those named here promotes. */
static bool call_is_longlong(const core_state *state, const call_options *options, PyObject *const *x, uint32_t n)
{
    const ts_nd_call *call = &options->call;
    uint32_t n_longlong = 0;
    for (uint32_t i = 0; i < n; i++)
        n_longlong += call->in[i].array ? (call->in[i].array->flags & TS_ND_LONGLONG) != 0
                                        : numeric_is_longlong(state->numeric, x[i]);
    if (options->says_dtype || !n_longlong || n_longlong == n)
        return options->says_dtype ? options->is_longlong : n_longlong;
    switch (call->fn) {
    case TS_ND_add: case TS_ND_subtract: case TS_ND_multiply: case TS_ND_maximum: case TS_ND_minimum:
    case TS_ND_fmax: case TS_ND_fmin: case TS_ND_select:
        return true;
    default: return false;
    }
}

/* Such a call, by Python: name, operands, `out`, keywords. */
static PyObject *call_meant(core_state *state, const call_options *options, PyObject *const *x, PyObject *const *held)
{
    const ts_nd_info *info = ts_nd_get(options->call.fn);
    PyObject *operands = PyTuple_New(info->n_in), *named = PyDict_New(), *result = NULL;
    bool made = operands && named;
    for (uint32_t i = 0; operands && i < info->n_in; i++)
        PyTuple_SET_ITEM(operands, i, Py_NewRef(held[i] ? held[i] : x[i]));
    for (Py_ssize_t i = 0; made && options->names && i < PyTuple_GET_SIZE(options->names); i++)
        made = PyDict_SetItem(named, PyTuple_GET_ITEM(options->names, i), options->values[i]) == 0;
    if (made)
        result = PyObject_CallFunction(state->numeric->meant_call, "sOOO", info->name, operands,
                                       options->out ? options->out : Py_None, named);
    Py_XDECREF(operands);
    Py_XDECREF(named);
    return result;
}

/* Two integers of Python, one beyond int64: no dtype holds both, so Python compares them, and their order to 0 stands
 * for them. */
static void call_far(ts_nd_call *call, PyObject *const *x)
{
    bool compares = call->fn == TS_ND_equal || call->fn == TS_ND_not_equal || call->fn == TS_ND_less ||
                    call->fn == TS_ND_less_equal || call->fn == TS_ND_greater || call->fn == TS_ND_greater_equal;
    ts_nd_operand *in = call->in;
    if (!compares || !PyLong_CheckExact(x[0]) || !PyLong_CheckExact(x[1]) ||
        !(in[0].is_big || in[0].is_huge || in[1].is_big || in[1].is_huge))
        return;
    int above = PyObject_RichCompareBool(x[0], x[1], Py_GT), below = PyObject_RichCompareBool(x[0], x[1], Py_LT);
    in[0] = (ts_nd_operand){.kind = 'i', .i = above - below};
    in[1] = (ts_nd_operand){.kind = 'i'};
}

int numeric_call_lost_parts(char from, char to)
{
    if (from != 'c' || to == 'c' || to == 'b')
        return 0;
    PyObject *module = PyImport_ImportModule("tessera.numeric._setup");
    PyObject *done = module ? PyObject_CallMethod(module, "warn_of_lost_parts", "i", 2) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

char numeric_call_kind(const ts_nd_operand *in)
{
    ts_dtype dtype = in->array ? (ts_dtype)in->array->dtype : in->dtype;
    return dtype ? ts_dtype_get(dtype)->kind : in->kind;
}

/* The same of operands and of a result that casting='unsafe' casts. */
static int call_parts(const ts_nd_call *call)
{
    const ts_nd_info *info = ts_nd_get(call->fn);
    bool is_complex = false, moves = call->fn == TS_ND_copy || call->fn == TS_ND_select;
    if (call->casting != TS_ND_UNSAFE || info->result != TS_ND_IS_SAME || moves)
        return 0;
    for (uint32_t i = 0; i < info->n_in; i++) {
        char kind = numeric_call_kind(&call->in[i]);
        is_complex |= kind == 'c';
        if (call->dtype && numeric_call_lost_parts(kind, ts_dtype_get(call->dtype)->kind) < 0)
            return -1;
    }
    char loop = call->dtype ? ts_dtype_get(call->dtype)->kind : is_complex ? 'c' : 'f';
    return call->out ? numeric_call_lost_parts(loop, ts_dtype_get((ts_dtype)call->out->dtype)->kind) : 0;
}

PyObject *numeric_call_with(core_state *state, call_options *options, PyObject *const *x)
{
    ts_nd_call *call = &options->call;
    uint32_t n = ts_nd_get(call->fn)->n_in;
    PyObject *held[CALL_HELD] = {[CALL_WHERE] = options->where}, *result = NULL;
    ts_nd_graph *graph = NULL;
    int got = 1;
    for (uint32_t i = 0; i < n && got > 0; i++)
        got = call_operand(state, x[i], &call->in[i], &held[i]);
    if (got > 0 && n == 2)
        call_far(call, x);
    call_arrays(state, call, x, n, options->out, options->mask ? options->mask : options->where);
    got = got > 0 && call_parts(call) < 0 ? -1 : got;
    if (got == 0)
        result = Py_NewRef(Py_NotImplemented);
    else if (got > 0)
        graph = call_graph(state, call, held);
    if (graph && call_is_meant(options, n))
        result = call_meant(state, options, x, held);
    else if (graph)
        result = call_run(state, graph, call, options->out);
    if (result && !options->out && call_is_longlong(state, options, x, n))
        result = numeric_as_longlong(state, result);
    for (uint32_t i = 0; i < CALL_HELD; i++)
        Py_XDECREF(held[i]);
    return result;
}

PyObject *numeric_call_array(core_state *state, PyObject *scalar)
{
    PyObject *made = PyObject_CallOneArg(state->numeric->convert, scalar);
    Py_DECREF(scalar);
    if (made && numeric_is_array(state, made) && ND(made)->graph != numeric_graph(state))
        Py_SETREF(made, PyObject_CallMethod(made, "_to", "O", Py_None));
    return made;
}

/* ---- derived classes ----------------------------------------------------------------------------- */

double numeric_priority(PyObject *object)
{
    PyObject *priority = PyObject_GetAttrString(object, "__array_priority__");
    double value = priority ? PyFloat_AsDouble(priority) : 0;
    Py_XDECREF(priority);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return value == NUMERIC_PRIORITY ? 0 : value;
}

PyObject *numeric_derived(core_state *state, PyObject *const *x, Py_ssize_t n)
{
    PyObject *found = NULL;
    bool has_plain = false;
    for (Py_ssize_t i = 0; i < n; i++) {
        bool is_plain = x[i] && Py_TYPE(x[i]) == state->numeric->array_class;
        has_plain |= is_plain;
        if (!x[i] || is_plain || !numeric_is_array(state, x[i]))
            continue;
        if (!found || (Py_TYPE(x[i]) != Py_TYPE(found) && numeric_priority(x[i]) > numeric_priority(found)))
            found = x[i];
    }
    return found && has_plain && numeric_priority(found) < 0 ? NULL : found;
}

/* What an operand of a derived class makes of a result, by its __array_wrap__; takes the result. */
static PyObject *derived_wrap(core_state *state, PyObject *operand, PyObject *function, PyObject *const *x, int n,
                              PyObject *result, bool as_array)
{
    bool is_scalar = !numeric_is_array(state, result);
    if (is_scalar)
        result = numeric_call_array(state, result);
    PyObject *args = result ? PyTuple_New(n) : NULL, *made = NULL;
    for (Py_ssize_t i = 0; args && i < n; i++)
        PyTuple_SET_ITEM(args, i, Py_NewRef(x[i]));
    if (args)
        made = PyObject_CallMethod(operand, "__array_wrap__", "O(OOi)O", result, function, args, 0,
                                   is_scalar && !as_array ? Py_True : Py_False);
    Py_XDECREF(args);
    Py_XDECREF(result);
    return made;
}

/* The function of tessera.numeric of this name. */
static PyObject *call_named(const char *name)
{
    PyObject *package = PyImport_ImportModule("tessera.numeric");
    PyObject *function = package ? PyObject_GetAttrString(package, name) : NULL;
    Py_XDECREF(package);
    return function;
}

/* What an operator that failed gives where it failed for a dtype of the host alone. */
static PyObject *call_by_numpy(core_state *state, const ts_nd_info *info, PyObject *const *x, PyObject *out)
{
    PyObject *given[CALL_WHERE + 1] = {NULL}, *made = NULL;
    if (!PyErr_ExceptionMatches(state->numeric->host_dtype))
        return NULL;
    for (uint32_t i = 0; i < info->n_in; i++)
        given[i] = x[i];
    given[info->n_in] = out;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *function = call_named(info->name);
    if (function) {
        PyErr_Restore(type, value, trace);
        made = numeric_by_numpy(state, function, given, info->n_in + (out != NULL), NULL, true);
        Py_DECREF(function);
        return made;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return NULL;
}

PyObject *numeric_operator_answer(core_state *state, const char *name, PyObject *const *x, int n_in, PyObject *out)
{
    if (n_in == 2 && numeric_defers(state, x[0], x[1], out != NULL))
        Py_RETURN_NOTIMPLEMENTED;
    if (!numeric_answered(state, PROTOCOL_UFUNC, x, n_in, 0))
        return NULL;
    PyObject *function = call_named(name), *given[] = {x[0], n_in == 2 ? x[1] : out, out};
    PyObject *made = NULL;
    if (function)
        made = numeric_ask_ufunc(state, function, "__call__", given, n_in + (out != NULL), NULL);
    Py_XDECREF(function);
    if (made == Py_Ellipsis)
        Py_CLEAR(made);
    return made;
}

/* The operand whose class decides what becomes of a result: a derived one, or another's with __array_wrap__. */
static PyObject *call_wrapper(core_state *state, PyObject *const *x, Py_ssize_t n)
{
    PyObject *found = numeric_derived(state, x, n);
    for (Py_ssize_t i = 0; i < n; i++)
        if (!numeric_is_array(state, x[i]) && numeric_wraps(state, x[i]) &&
            (!found || numeric_priority(x[i]) > numeric_priority(found)))
            found = x[i];
    return found;
}

PyObject *numeric_call_wrapped(core_state *state, PyObject *function, const ts_nd_info *info, PyObject *const *x,
                               PyObject *out, PyObject *result, bool as_array)
{
    PyObject *all[CALL_WHERE + 1] = {NULL};
    int n = (int)info->n_in, known = 0;
    while (!out && known < n && numeric_is_common(state, x[known]))
        known++;
    if (known == n)
        return result;
    PyObject *wrapper = out ? numeric_wraps(state, out) ? out : NULL : call_wrapper(state, x, n);
    if (!wrapper)
        return result;
    memcpy(all, x, (size_t)n * sizeof *all);
    all[n] = out;
    return derived_wrap(state, wrapper, function, all, n + (out != NULL), result, as_array);
}

PyObject *numeric_call(core_state *state, ts_nd_fn fn, PyObject *const *x, PyObject *out)
{
    const ts_nd_info *info = ts_nd_get(fn);
    bool is_ours = numeric_is_common(state, x[0]) && (info->n_in == 1 || numeric_is_common(state, x[1])) &&
                   (!out || numeric_is_common(state, out));
    if (!is_ours) {
        PyObject *made = numeric_operator_answer(state, info->name, x, (int)info->n_in, out);
        if (made || PyErr_Occurred())
            return made;
    }
    call_options options = {.call = {.fn = fn}, .out = out};
    PyObject *result = numeric_call_with(state, &options, x);
    if (!result)
        return call_by_numpy(state, info, x, out);
    bool wraps = !is_ours && result != Py_NotImplemented &&
                 (out ? numeric_wraps(state, out) : call_wrapper(state, x, info->n_in) != NULL);
    if (!wraps)
        return result;
    PyObject *function = call_named(info->name);
    if (function)
        result = numeric_call_wrapped(state, function, info, x, out, result, false);
    else
        Py_CLEAR(result);
    Py_XDECREF(function);
    return result;
}
