/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of arrays (ts_nd_watch) by lines of the user's program, for tessera.numeric.doctor. The line is looked up once
 * for each call, before the lock is taken: the nearest frame whose file is not of Tessera or NumPy. Events come in the
 * midst of calls, where no object of Python may be made, so they are added up in plain memory.
 */
#include "numeric.h"
#include <string.h>

enum { DOCTOR_HEADS = 1 << 10 };

typedef struct doctor_place {
    PyCodeObject *code;
    int line;
    uint32_t next;
} doctor_place;

typedef struct doctor_row {
    ts_nd_event_kind kind;
    const char *name;
    uint32_t place, next;
    uint64_t count, ns, bytes;
} doctor_row;

/* Lists with chains from the head of a hash; numbers are from 1 on, 0 ends a chain. */
struct numeric_doctor {
    ts_nd_watch watch;
    uint32_t n_users, n_places, n_rows, lost;
    doctor_place *places;
    doctor_row *rows;
    uint32_t place_heads[DOCTOR_HEADS], row_heads[DOCTOR_HEADS];
};

static uint32_t doctor_head(const void *pointer, uint64_t more)
{
    uint64_t hash = ((uintptr_t)pointer >> 3) * 0x9E3779B97F4A7C15u + more * 0xC2B2AE3D27D4EB4Fu;
    return (uint32_t)(hash >> 40) % DOCTOR_HEADS;
}

/* Room for one more item of a list whose room is doubled at powers of two; false: there is none. */
static bool doctor_room(void **list, uint32_t n, size_t item)
{
    if (n & (n - 1) || n == 1)
        return true;
    void *grown = PyMem_RawRealloc(*list, item * (n ? 2 * (size_t)n : 2));
    if (grown)
        *list = grown;
    return grown != NULL;
}

/* ---- lines --------------------------------------------------------------------------------------- */

static bool doctor_is_library(const numeric_state *n, const PyCodeObject *code)
{
    for (Py_ssize_t i = 0; n->libraries && i < PyTuple_GET_SIZE(n->libraries); i++)
        if (PyUnicode_Tailmatch(code->co_filename, PyTuple_GET_ITEM(n->libraries, i), 0, PY_SSIZE_T_MAX, -1) == 1)
            return true;
    return false;
}

/* The nearest frame of the user's, a new reference; NULL without exception: there is none. */
static PyFrameObject *doctor_frame(const numeric_state *n, PyCodeObject **code)
{
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame) {
        *code = PyFrame_GetCode(frame);
        if (!doctor_is_library(n, *code))
            break;
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF(*code);
        Py_DECREF(frame);
        frame = back;
    }
    return frame;
}

/* The number of a line; takes the reference of its code. */
static uint32_t doctor_number(numeric_doctor *doctor, PyCodeObject *code, int line)
{
    uint32_t *head = &doctor->place_heads[doctor_head(code, (uint64_t)line)], i = *head;
    while (i && (doctor->places[i - 1].code != code || doctor->places[i - 1].line != line))
        i = doctor->places[i - 1].next;
    if (!i && doctor_room((void **)&doctor->places, doctor->n_places, sizeof *doctor->places)) {
        doctor->places[doctor->n_places] = (doctor_place){code, line, *head};
        return *head = ++doctor->n_places;
    }
    Py_DECREF(code); /* not its last one: the list, or the frame that runs, has another */
    return i;
}

void numeric_begin_watched(core_state *state, numeric_doctor *doctor)
{
    PyCodeObject *code = NULL;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyFrameObject *frame = doctor_frame(state->numeric, &code);
    int line = frame ? PyFrame_GetLineNumber(frame) : 0;
    Py_XDECREF(frame);
    PyErr_Restore(type, value, trace);
    numeric_lock(state->numeric);
    if (CORE_GET(state->numeric->doctor) == doctor)
        doctor->watch.place = frame ? doctor_number(doctor, code, line) : 0;
    else
        Py_XDECREF(code); /* switched off meanwhile; the frame that runs has another */
}

/* numeric_user(): the frame that asks, as the user sees it. */
static PyObject *doctor_user(PyObject *module, PyObject *unused)
{
    (void)unused;
    core_state *state = PyModule_GetState(module);
    PyCodeObject *code = NULL;
    PyFrameObject *frame = doctor_frame(state->numeric, &code);
    if (!frame)
        Py_RETURN_NONE;
    Py_DECREF(code);
    return (PyObject *)frame;
}

/* ---- events -------------------------------------------------------------------------------------- */

static void doctor_event(void *user, const ts_nd_event *event)
{
    numeric_doctor *doctor = user;
    uint32_t *head = &doctor->row_heads[doctor_head(event->name, (uint64_t)event->place << 8 | event->kind)], i = *head;
    while (i && (doctor->rows[i - 1].kind != event->kind || doctor->rows[i - 1].name != event->name ||
                 doctor->rows[i - 1].place != event->place))
        i = doctor->rows[i - 1].next;
    if (!i) {
        if (!doctor_room((void **)&doctor->rows, doctor->n_rows, sizeof *doctor->rows)) {
            doctor->lost++;
            return;
        }
        doctor->rows[doctor->n_rows] = (doctor_row){.kind = event->kind, .name = event->name, .place = event->place,
                                                    .next = *head};
        i = *head = ++doctor->n_rows;
    }
    doctor->rows[i - 1].count++;
    doctor->rows[i - 1].ns += event->ns;
    doctor->rows[i - 1].bytes += event->bytes;
}

/* Forgets all of it; the lists are freed without the lock, which a destructor might want. */
static void doctor_forget(core_state *state)
{
    numeric_doctor *doctor = state->numeric->doctor_kept;
    numeric_lock(state->numeric);
    doctor_place *places = doctor->places;
    uint32_t n = doctor->n_places;
    PyMem_RawFree(doctor->rows);
    doctor->places = NULL;
    doctor->rows = NULL;
    doctor->n_places = doctor->n_rows = doctor->lost = doctor->watch.place = 0;
    memset(doctor->place_heads, 0, sizeof doctor->place_heads);
    memset(doctor->row_heads, 0, sizeof doctor->row_heads);
    CORE_UNLOCK(&state->numeric->lock);
    for (uint32_t i = 0; i < n; i++)
        Py_DECREF(places[i].code);
    PyMem_RawFree(places);
}

/* Graphs tell this one, or nobody. */
static void doctor_watch(numeric_state *n, numeric_doctor *doctor)
{
    for (int i = 0; i < NUMERIC_DEVICES && n->graphs[i]; i++)
        ts_nd_graph_watch(n->graphs[i], doctor ? &doctor->watch : NULL);
    CORE_SET(n->doctor, doctor);
}

/* numeric_doctor(on): events are kept from now on, or no more; as many times off as on. */
static PyObject *doctor_switch(PyObject *module, PyObject *value)
{
    core_state *state = PyModule_GetState(module);
    numeric_state *n = state->numeric;
    int on = PyObject_IsTrue(value);
    if (on < 0 || !numeric_host(state))
        return NULL;
    numeric_lock(n);
    numeric_doctor *doctor = n->doctor_kept;
    if (!doctor && (doctor = PyMem_RawCalloc(1, sizeof *doctor)))
        doctor->watch = (ts_nd_watch){doctor_event, doctor, 0};
    n->doctor_kept = doctor;
    if (doctor)
        doctor->n_users += on ? 1u : doctor->n_users ? UINT32_MAX : 0;
    bool is_on = doctor && doctor->n_users;
    doctor_watch(n, is_on ? doctor : NULL);
    CORE_UNLOCK(&n->lock);
    if (!doctor)
        return PyErr_NoMemory();
    if (!is_on)
        doctor_forget(state);
    Py_RETURN_NONE;
}

void numeric_doctor_graph(const numeric_state *n, ts_nd_graph *graph)
{
    if (n->doctor)
        ts_nd_graph_watch(graph, (ts_nd_watch *)n->doctor);
}

void numeric_doctor_end(core_state *state)
{
    if (!state->numeric->doctor_kept)
        return;
    doctor_watch(state->numeric, NULL);
    doctor_forget(state);
    PyMem_RawFree(state->numeric->doctor_kept);
    state->numeric->doctor_kept = NULL;
}

/* numeric_event(kind, name, bytes, ns): an event of what is written in Python, at the user's line. */
static PyObject *doctor_tell(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    const char *word;
    PyObject *name;
    unsigned long long bytes, ns;
    if (!PyArg_ParseTuple(args, "sUKK:numeric_event", &word, &name, &bytes, &ns))
        return NULL;
    int kind = TS_ND_EVENT_COUNT;
    while (--kind > 0 && strcmp(ts_nd_event_get((ts_nd_event_kind)kind)->name, word) != 0)
        continue;
    if (!kind)
        return PyErr_Format(PyExc_ValueError, "unknown kind of event: %s", word);
    PyObject *kept = CORE_GET(state->numeric->doctor) ? PyDict_SetDefault(state->numeric->names, name, name) : NULL;
    const char *text = kept ? PyUnicode_AsUTF8(kept) : NULL; /* stays with the object */
    if (text) {
        NUMERIC_BEGIN(state);
        numeric_doctor *doctor = state->numeric->doctor;
        ts_nd_event event = {(ts_nd_event_kind)kind, text, doctor ? doctor->watch.place : 0, bytes, ns};
        if (doctor)
            doctor_event(doctor, &event);
        NUMERIC_END(state);
    }
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *doctor_tuple(const doctor_row *row, const doctor_place *place)
{
    PyObject *none = Py_None;
    return Py_BuildValue("(szOOiKKK)", ts_nd_event_get(row->kind)->name, row->name,
                         place ? place->code->co_filename : none, place ? place->code->co_name : none,
                         place ? place->line : 0, (unsigned long long)row->count, (unsigned long long)row->ns,
                         (unsigned long long)row->bytes);
}

/* numeric_events(): (kind, name, file, function, line, count, ns, bytes) of each, since it was switched on. */
static PyObject *doctor_events(PyObject *module, PyObject *unused)
{
    (void)unused;
    core_state *state = PyModule_GetState(module);
    NUMERIC_BEGIN(state);
    numeric_doctor *doctor = state->numeric->doctor;
    uint32_t n = doctor ? doctor->n_rows : 0, n_places = doctor ? doctor->n_places : 0;
    doctor_row *rows = PyMem_RawMalloc((n + (size_t)1) * sizeof *rows);
    doctor_place *places = PyMem_RawMalloc((n_places + (size_t)1) * sizeof *places);
    if (rows && n)
        memcpy(rows, doctor->rows, n * sizeof *rows);
    for (uint32_t i = 0; places && i < n_places; i++) {
        places[i] = doctor->places[i];
        Py_INCREF(places[i].code);
    }
    NUMERIC_END(state);
    PyObject *list = rows && places ? PyList_New(n) : PyErr_NoMemory();
    for (uint32_t i = 0; list && i < n; i++) {
        PyObject *row = doctor_tuple(&rows[i], rows[i].place ? &places[rows[i].place - 1] : NULL);
        if (row)
            PyList_SET_ITEM(list, i, row);
        else
            Py_CLEAR(list);
    }
    for (uint32_t i = 0; places && i < n_places; i++)
        Py_DECREF(places[i].code);
    PyMem_RawFree(places);
    PyMem_RawFree(rows);
    return list;
}

static int doctor_words(PyObject *all, const ts_nd_event_info *info)
{
    PyObject *words = Py_BuildValue("(ssI)", info->title, info->advice, info->from);
    int done = words ? PyDict_SetItemString(all, info->name, words) : -1;
    Py_XDECREF(words);
    return done;
}

/* numeric_kinds(): titles and advices of kinds of events, and of causes of `cut`, by name. */
static PyObject *doctor_kinds(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *kinds = PyDict_New(), *causes = PyDict_New();
    int done = kinds && causes ? 0 : -1;
    for (int i = 1; i < TS_ND_EVENT_COUNT && done == 0; i++)
        done = doctor_words(kinds, ts_nd_event_get((ts_nd_event_kind)i));
    for (int i = 0; i < TS_ND_CAUSE_COUNT && done == 0; i++)
        done = doctor_words(causes, ts_nd_cause_get((ts_nd_cause)i));
    PyObject *both = done == 0 ? PyTuple_Pack(2, kinds, causes) : NULL;
    Py_XDECREF(kinds);
    Py_XDECREF(causes);
    return both;
}

static PyMethodDef doctor_functions[] = {
    {"numeric_doctor", doctor_switch, METH_O, "numeric_doctor(on, /)\n--\n\nEvents are kept from now on, or no more."},
    {"numeric_event", doctor_tell, METH_VARARGS, "numeric_event(kind, name, bytes, ns, /)\n--\n\nTells of an event."},
    {"numeric_events", doctor_events, METH_NOARGS,
     "numeric_events()\n--\n\n(kind, name, file, function, line, count, ns, bytes) of each line's events."},
    {"numeric_kinds", doctor_kinds, METH_NOARGS,
     "numeric_kinds()\n--\n\nOf kinds of events, and of causes, by name: title, advice, from how many on."},
    {"numeric_user", doctor_user, METH_NOARGS, "numeric_user()\n--\n\nThe nearest frame of the user's program."},
    {NULL, NULL, 0, NULL},
};

int numeric_doctor_init(PyObject *module)
{
    return PyModule_AddFunctions(module, doctor_functions);
}
