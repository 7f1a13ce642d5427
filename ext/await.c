/* SPDX-License-Identifier: Apache-2.0
 *
 * `await stream`, `await event`: what is done already is answered at once; otherwise tessera._await makes a future
 * of the running event loop and gives it to the loop's Inbox. A notice of the library moves the wait to the inbox's
 * list, from any thread and without Python, and writes to its one file descriptor, which the loop watches.
 *
 *     add -> live list -> notice (thread of the driver) -> done list + eventfd -> drain (thread of the loop)
 *
 * The C half of an inbox is counted, so that a notice may come after its loop, or the interpreter, has ended.
 */
#include "core.h"
#include <errno.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef struct await_wait await_wait;

typedef struct await_box {
    _Atomic uint32_t references;    /* the object, and each notice in flight */
    int fd;
    _Atomic(await_wait *) done;     /* newest first; AWAIT_CLOSED: nobody comes for them */
} await_box;
#define AWAIT_CLOSED ((await_wait *)(uintptr_t)1)

struct await_wait {
    ts_notice notice;               /* first */
    await_box *box;
    await_wait *next_done;
    await_wait *next, **link;       /* of the inbox; touched by Python threads only */
    PyObject *future, *owner;       /* owned while linked */
    PyObject *keep;                 /* owned while linked: what the work uses; or NULL */
};

typedef struct inbox_object {
    PyObject_HEAD
    core_state *state;
    await_box *box;
    await_wait *live;
    core_mutex lock; /* live */
} inbox_object;

/* ---- threads of the library -------------------------------------------------------------------------*/

static void await_release(await_box *box)
{
    if (atomic_fetch_sub(&box->references, 1) != 1)
        return;
    close(box->fd);
    free(box);
}

static void await_called(ts_notice *notice)
{
    await_wait *wait = (await_wait *)notice;
    await_box *box = wait->box; /* the wait may be gone as soon as it is in the list */
    await_wait *first = atomic_load(&box->done);
    do {
        wait->next_done = first;
    } while (first != AWAIT_CLOSED && !atomic_compare_exchange_weak(&box->done, &first, wait));
    if (first == AWAIT_CLOSED)
        free(wait);
    else if (!first)
        (void)!write(box->fd, &(uint64_t){1}, sizeof(uint64_t)); /* far from the limit of its count */
    await_release(box);
}

/* ---- waits --------------------------------------------------------------------------------------------*/

static void await_link(inbox_object *self, await_wait *wait)
{
    CORE_LOCK(&self->lock);
    wait->next = self->live;
    wait->link = &self->live;
    if (wait->next)
        wait->next->link = &wait->next;
    self->live = wait;
    CORE_UNLOCK(&self->lock);
}

/* The references go to the caller's variables, so that what their end runs finds a whole list. */
static void await_unlink(inbox_object *self, await_wait *wait, PyObject *held[3])
{
    (void)self;
    CORE_LOCK(&self->lock);
    *wait->link = wait->next;
    if (wait->next)
        wait->next->link = wait->link;
    held[0] = wait->future;
    held[1] = wait->owner;
    held[2] = wait->keep;
    wait->future = wait->owner = wait->keep = NULL;
    CORE_UNLOCK(&self->lock);
}

static void await_drop(PyObject *held[3])
{
    for (int i = 0; i < 3; i++)
        Py_XDECREF(held[i]);
}

/* A stream or an event: one of the two is NULL. */
typedef struct await_what {
    ts_stream room;
    const ts_stream *stream;
    ts_event *event;
} await_what;

/* 0, or -1 with exception: closed. */
static int await_of(core_state *state, PyObject *owner, await_what *out)
{
    bool is_stream = PyObject_TypeCheck(owner, state->stream_type);
    out->stream = is_stream ? core_stream_now(owner, &out->room) : NULL;
    out->event = is_stream ? NULL : core_event_get(owner);
    return out->stream || out->event ? 0 : -1;
}

static ts_status await_request(const await_what *what, ts_notice *notice, bool *taken, ts_error *err)
{
    *taken = true;
    return what->stream ? ts_stream_notify(what->stream, notice, err)
                        : ts_event_notify(what->event, notice, taken, err);
}

/* What the work came to; 0, or -1 with the exception. A stream or event that was closed meanwhile is done. */
static int await_result(core_state *state, PyObject *owner, uint64_t mark)
{
    await_what what;
    ts_error err;
    bool done;
    if (await_of(state, owner, &what) < 0) {
        PyErr_Clear();
        return 0;
    }
    ts_status status;
    CORE_BEGIN_USE(state, what.stream, what.event);
    status = what.stream ? ts_stream_fault(what.stream, mark, &err) : ts_event_done(what.event, &done, &err);
    CORE_END_USE(state);
    if (status == TS_OK)
        return 0;
    core_raise(state, &err);
    return -1;
}

/* 1 or 0, or -1 with exception. */
static int await_is_done(core_state *state, PyObject *owner)
{
    await_what what;
    ts_error err;
    bool done;
    if (await_of(state, owner, &what) < 0)
        return -1;
    ts_status status;
    CORE_BEGIN_USE(state, what.stream, what.event); /* see stream_is_done */
    status = what.stream ? ts_stream_done(what.stream, &done, &err) : ts_event_done(what.event, &done, &err);
    CORE_END_USE(state);
    if (status == TS_OK)
        return done;
    core_raise(state, &err);
    return -1;
}

/* ---- the inbox ----------------------------------------------------------------------------------------*/

static PyObject *inbox_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    if (!PyArg_ParseTuple(args, ":Inbox") || (kwargs && PyDict_GET_SIZE(kwargs)))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "Inbox() takes no arguments");
    inbox_object *self = (inbox_object *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->state = core_state_of_type(type);
    self->box = calloc(1, sizeof *self->box);
    if (self->box)
        self->box->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (self->box && self->box->fd >= 0) {
        atomic_store(&self->box->references, 1);
        return (PyObject *)self;
    }
    PyErr_SetFromErrno(PyExc_OSError);
    free(self->box);
    self->box = NULL;
    Py_DECREF(self);
    return NULL;
}

static int inbox_traverse(PyObject *object, visitproc visit, void *arg)
{
    for (await_wait *wait = ((inbox_object *)object)->live; wait; wait = wait->next) {
        Py_VISIT(wait->future);
        Py_VISIT(wait->owner);
        Py_VISIT(wait->keep);
    }
    Py_VISIT(Py_TYPE(object));
    return 0;
}

static void inbox_free_list(await_wait *first)
{
    for (await_wait *next; first; first = next) {
        next = first->next_done;
        free(first);
    }
}

/* The list in the order of its notices. */
static await_wait *inbox_take(await_box *box)
{
    uint64_t count;
    await_wait *oldest = NULL;
    while (read(box->fd, &count, sizeof count) < 0 && errno == EINTR)
        ;
    if (atomic_load(&box->done) == AWAIT_CLOSED)
        return NULL;
    for (await_wait *at = atomic_exchange(&box->done, NULL), *next; at; at = next) {
        next = at->next_done;
        at->next_done = oldest;
        oldest = at;
    }
    return oldest;
}

static void inbox_forget(inbox_object *self, await_wait *wait, bool is_done)
{
    PyObject *held[3];
    await_unlink(self, wait, held);
    if (!is_done)
        held[2] = NULL;
    await_drop(held);
}

/* Waits in flight lose their futures, and their memory ends with their notices. What the work uses is never given
 * back before the work has ended: of a loop that ended first it stays until the process does. The list is closed
 * last: a notice that finds it closed frees its wait at once. */
static int inbox_clear(PyObject *object)
{
    inbox_object *self = (inbox_object *)object;
    if (!self->box || atomic_load(&self->box->done) == AWAIT_CLOSED)
        return 0;
    await_wait *done = inbox_take(self->box);
    for (await_wait *at = done; at; at = at->next_done)
        inbox_forget(self, at, true);
    inbox_free_list(done);
    while (self->live)
        inbox_forget(self, self->live, false);
    inbox_free_list(atomic_exchange(&self->box->done, AWAIT_CLOSED));
    return 0;
}

static void inbox_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    inbox_object *self = (inbox_object *)object;
    PyObject_GC_UnTrack(object);
    inbox_clear(object);
    if (self->box)
        await_release(self->box);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *inbox_fileno(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLong(((inbox_object *)self)->box->fd);
}

static int inbox_check(core_state *state, PyObject *what)
{
    if (PyObject_TypeCheck(what, state->stream_type) || PyObject_TypeCheck(what, state->event_type))
        return 0;
    PyErr_Format(PyExc_TypeError, "a Stream or an Event can be waited for, not a %.200s", Py_TYPE(what)->tp_name);
    return -1;
}

static PyObject *inbox_add(PyObject *object, PyObject *const *args, Py_ssize_t n)
{
    inbox_object *self = (inbox_object *)object;
    ts_error err;
    bool taken;
    PyObject *held[3];
    await_what what;
    if (n != 3) {
        PyErr_SetString(PyExc_TypeError, "add(what, future, keep) takes 3 arguments");
        return NULL;
    }
    if (inbox_check(self->state, args[0]) < 0 || await_of(self->state, args[0], &what) < 0)
        return NULL;
    await_wait *wait = calloc(1, sizeof *wait);
    if (!wait)
        return PyErr_NoMemory();
    *wait = (await_wait){{await_called}, .box = self->box, .future = Py_NewRef(args[1]), .owner = Py_NewRef(args[0]),
                         .keep = args[2] == Py_None ? NULL : Py_NewRef(args[2])};
    await_link(self, wait);
    atomic_fetch_add(&self->box->references, 1);
    ts_status status;
    /* a full queue of a GPU may hold us up behind a host call that needs the GIL */
    CORE_BEGIN_USE(self->state, what.stream, what.event);
    status = await_request(&what, &wait->notice, &taken, &err);
    CORE_END_USE(self->state);
    if (status == TS_OK && taken)
        Py_RETURN_TRUE;
    await_release(self->box);
    await_unlink(self, wait, held);
    await_drop(held);
    free(wait);
    if (status == TS_OK)
        Py_RETURN_FALSE;
    return core_raise(self->state, &err);
}

/* Sets the future's result or its exception; what goes wrong there is the loop's. */
static void inbox_settle(inbox_object *self, PyObject *future, PyObject *owner, uint64_t mark)
{
    PyObject *done = PyObject_CallMethod(future, "done", NULL), *answer = NULL;
    int is_done = done ? PyObject_IsTrue(done) : -1;
    Py_XDECREF(done);
    if (is_done > 0) /* cancelled: a fault stays for who waits next */
        return;
    if (is_done == 0 && await_result(self->state, owner, mark) == 0)
        answer = PyObject_CallMethod(future, "set_result", "O", Py_None);
    else if (is_done == 0) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        PyErr_NormalizeException(&type, &value, &traceback);
        answer = PyObject_CallMethod(future, "set_exception", "O", value);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
    }
    if (!answer)
        PyErr_WriteUnraisable(future);
    Py_XDECREF(answer);
}

static PyObject *inbox_drain(PyObject *object, PyObject *unused)
{
    (void)unused;
    inbox_object *self = (inbox_object *)object;
    await_wait *first = inbox_take(self->box);
    for (await_wait *next; first; first = next) {
        PyObject *held[3];
        uint64_t mark = first->notice.mark;
        next = first->next_done;
        await_unlink(self, first, held);
        free(first);
        inbox_settle(self, held[0], held[1], mark);
        await_drop(held);
    }
    Py_RETURN_NONE;
}

static PyObject *inbox_in_flight(PyObject *object, void *unused)
{
    (void)unused;
    inbox_object *self = (inbox_object *)object;
    long n = 0;
    CORE_LOCK(&self->lock);
    for (await_wait *wait = self->live; wait; wait = wait->next)
        n++;
    CORE_UNLOCK(&self->lock);
    return PyLong_FromLong(n);
}

static PyObject *inbox_is_done(PyObject *object, PyObject *what)
{
    core_state *state = ((inbox_object *)object)->state;
    if (inbox_check(state, what) < 0)
        return NULL;
    int done = await_is_done(state, what);
    return done < 0 ? NULL : PyBool_FromLong(done);
}

static PyMethodDef inbox_methods[] = {
    {"fileno", inbox_fileno, METH_NOARGS, "The file descriptor to watch for reading."},
    {"add", (PyCFunction)(void (*)(void))inbox_add, METH_FASTCALL,
     "add(what, future, keep, /)\n--\n\nSettles the future, by a later drain(), when the stream or the event's last "
     "record is done.\n"
     "`keep` lives until then. False: too many events are waited for; ask from time to time."},
    {"is_done", inbox_is_done, METH_O, "Whether a stream or event is done; never waits."},
    {"drain", inbox_drain, METH_NOARGS, "Settles the futures of everything that is done."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef inbox_getset[] = {
    {"in_flight", inbox_in_flight, NULL, "Waits that are not settled yet.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot inbox_slots[] = {
    {Py_tp_doc, "Inbox()\n--\n\nWhat one event loop awaits; for tessera._await."},
    {Py_tp_new, inbox_new},
    {Py_tp_dealloc, inbox_dealloc},
    {Py_tp_traverse, inbox_traverse},
    {Py_tp_clear, inbox_clear},
    {Py_tp_methods, inbox_methods},
    {Py_tp_getset, inbox_getset},
    {0, NULL},
};
static PyType_Spec inbox_spec = {"tessera._core.Inbox", sizeof(inbox_object), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, inbox_slots};

/* ---- __await__, __aenter__, __aexit__ --------------------------------------------------------------------*/

/* A call of tessera._await, which is imported when first needed. */
static PyObject *await_python(const char *name, PyObject *self)
{
    PyObject *module = PyImport_ImportModule("tessera._await");
    PyObject *result = module ? PyObject_CallMethod(module, name, "O", self) : NULL;
    Py_XDECREF(module);
    return result;
}

/* An iterator that is at its end: the await goes on at once. */
static PyObject *await_nothing(void)
{
    PyObject *empty = PyTuple_New(0), *iterator = empty ? PyObject_GetIter(empty) : NULL;
    Py_XDECREF(empty);
    return iterator;
}

PyObject *core_await(PyObject *self)
{
    core_state *state = core_state_of_type(Py_TYPE(self));
    int done = await_is_done(state, self);
    if (done <= 0)
        return done < 0 ? NULL : await_python("wait", self);
    return await_result(state, self, UINT64_MAX) < 0 ? NULL : await_nothing();
}

PyObject *core_async_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return await_python("enter", self);
}

PyObject *core_async_exit(PyObject *self, PyObject *raised)
{
    PyObject *module = PyImport_ImportModule("tessera._await");
    PyObject *result = module ? PyObject_CallMethod(module, "leave", "OO", self, raised) : NULL;
    Py_XDECREF(module);
    return result;
}

int core_await_init(PyObject *module, core_state *state)
{
    (void)state;
    PyObject *type = PyType_FromModuleAndSpec(module, &inbox_spec, NULL);
    int result = type ? PyModule_AddType(module, (PyTypeObject *)type) : -1;
    Py_XDECREF(type);
    return result;
}
