/* SPDX-License-Identifier: Apache-2.0
 *
 * Long loops over elements, as of a sort, without the interpreter's lock. Graphs are one thread's at a time: with that
 * lock it keeps others out, so while one computes without it a flag does (numeric_lock). Other threads run their
 * Python; those that want arrays wait. On builds without the interpreter's lock the graphs' own lock is held meanwhile.
 */
#include "numeric.h"

enum { LOOP_LONG = 1 << 14 }; /* elements from which a loop takes long: a tenth of a millisecond and more */

void numeric_await_idle(numeric_state *n)
{
    while (n->busy) {
        Py_BEGIN_ALLOW_THREADS;
        PyThread_acquire_lock(n->idle, WAIT_LOCK);
        PyThread_release_lock(n->idle);
        Py_END_ALLOW_THREADS;
    }
}

PyThreadState *numeric_loop_begin(core_state *state, ts_nd *a, ts_nd *b)
{
    numeric_state *n = state->numeric;
    void *data;
    if (a->count < LOOP_LONG || ts_nd_memory(a, false, &data, NULL, NULL) != TS_OK || /* kernels ask for Ctrl-C */
        (b && ts_nd_memory(b, false, &data, NULL, NULL) != TS_OK))
        return NULL;
    PyThread_acquire_lock(n->idle, WAIT_LOCK);
    n->busy = true;
    return PyEval_SaveThread();
}

void numeric_loop_end(core_state *state, PyThreadState *thread)
{
    numeric_state *n = state->numeric;
    if (!thread)
        return;
    PyEval_RestoreThread(thread);
    n->busy = false;
    PyThread_release_lock(n->idle);
}

/* numeric_forked(): in the child of a fork no other thread computes any more. The lock may be held by a thread that is
 * not there, also where none was busy: a waiting one takes it for a moment. */
static PyObject *loop_forked(PyObject *module, PyObject *unused)
{
    numeric_state *n = ((core_state *)PyModule_GetState(module))->numeric;
    PyThread_type_lock idle = PyThread_allocate_lock();
    (void)unused;
    if (!idle)
        return PyErr_NoMemory();
    n->idle = idle;
    n->busy = false;
    Py_RETURN_NONE;
}

static PyMethodDef loop_functions[] = {
    {"numeric_forked", loop_forked, METH_NOARGS, "numeric_forked()\n--\n\nIn the child of a fork."},
    {NULL, NULL, 0, NULL},
};

int numeric_loop_init(PyObject *module, core_state *state)
{
    state->numeric->idle = PyThread_allocate_lock();
    if (!state->numeric->idle) {
        PyErr_NoMemory();
        return -1;
    }
    return PyModule_AddFunctions(module, loop_functions);
}
