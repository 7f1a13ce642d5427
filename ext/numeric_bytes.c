/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of host memory with their bytes in the other order.
 */
#include "numeric.h"
#include <string.h>

/* Axes of what is read and of where it goes, the innermost last: `part` bytes are turned at a time. */
typedef struct bytes_turn {
    uint32_t rank, part;
    int64_t shape[TS_ND_RANK + 1], from[TS_ND_RANK + 1], to[TS_ND_RANK + 1];
} bytes_turn;

/* Parts of one width along an axis; the loop of known steps is one of vectors. */
#define BYTES_LOOP(type, turned, to_step, from_step)                                                                   \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
        type x;                                                                                                        \
        memcpy(&x, from + i * (from_step), sizeof x);                                                                  \
        x = turned(x);                                                                                                 \
        memcpy(to + i * (to_step), &x, sizeof x);                                                                      \
    }
#define BYTES_LINE(type, turned)                                                                                       \
    static void bytes_line_##type(char *restrict to, const char *restrict from, int64_t n, int64_t to_step,            \
                                  int64_t from_step)                                                                   \
    {                                                                                                                  \
        enum { DENSE = sizeof(type) };                                                                                 \
        if (to_step == DENSE && from_step == DENSE)                                                                    \
            BYTES_LOOP(type, turned, DENSE, DENSE)                                                                     \
        else                                                                                                           \
            BYTES_LOOP(type, turned, to_step, from_step)                                                               \
    }
BYTES_LINE(uint16_t, __builtin_bswap16)
BYTES_LINE(uint32_t, __builtin_bswap32)
BYTES_LINE(uint64_t, __builtin_bswap64)

/* All elements from axis d on. */
static void bytes_walk(const bytes_turn *t, uint32_t d, char *to, const char *from)
{
    int64_t n = t->shape[d];
    if (d + 1 < t->rank)
        for (int64_t i = 0; i < n; i++)
            bytes_walk(t, d + 1, to + i * t->to[d], from + i * t->from[d]);
    else if (t->part == 2)
        bytes_line_uint16_t(to, from, n, t->to[d], t->from[d]);
    else if (t->part == 4)
        bytes_line_uint32_t(to, from, n, t->to[d], t->from[d]);
    else
        bytes_line_uint64_t(to, from, n, t->to[d], t->from[d]);
}

/* An axis inside of those before; one with that before it where nothing lies between in either array. */
static void bytes_add(bytes_turn *t, int64_t extent, int64_t to, int64_t from)
{
    uint32_t last = t->rank - 1;
    if (extent == 1 && t->rank)
        return;
    bool joins = t->rank && t->from[last] == extent * from && t->to[last] == extent * to;
    last += !joins;
    t->shape[last] = joins ? t->shape[last] * extent : extent;
    t->to[last] = to;
    t->from[last] = from;
    t->rank = last + 1;
}

/* The axes in the order in which the result lies, by rows or by columns, and the parts of an element. */
static void bytes_axes(bytes_turn *t, const ts_nd *a, const ts_nd *to)
{
    const int64_t *steps = ts_nd_strides(to);
    bool by_columns = to->rank > 1 && steps[0] < steps[to->rank - 1];
    for (uint32_t i = 0; i < a->rank; i++) {
        uint32_t d = by_columns ? a->rank - 1 - i : i;
        bytes_add(t, ts_nd_shape(a)[d], steps[d], ts_nd_strides(a)[d]);
    }
    bytes_add(t, a->item / t->part, t->part, t->part);
}

/* numeric_turn(array, out, part): the elements go to a new array of the same shape, each `part` bytes of them in the
 * other order; false: not of host memory, or parts of another width. */
static PyObject *bytes_python(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyTypeObject *type = state->numeric->array_type;
    PyObject *array, *out;
    bytes_turn t = {.rank = 0};
    if (!PyArg_ParseTuple(args, "O!O!I:numeric_turn", type, &array, type, &out, &t.part))
        return NULL;
    ts_nd *a = ND(array), *to = ND(out);
    if (a->graph != to->graph || a->rank != to->rank || a->item != to->item ||
        memcmp(ts_nd_shape(a), ts_nd_shape(to), a->rank * sizeof(int64_t)) != 0)
        return PyErr_Format(PyExc_ValueError, "numeric_turn: the arrays differ in shape or place");
    if (!(ts_device_caps_of(ts_nd_graph_device(a->graph)) & TS_DEVICE_HOST_MEMORY) ||
        (t.part != 2 && t.part != 4 && t.part != 8) || a->item % t.part)
        Py_RETURN_FALSE;
    if (!a->count)
        Py_RETURN_TRUE;
    bytes_axes(&t, a, to);
    void *from, *data;
    ts_error err;
    NUMERIC_BEGIN(state);
    PyThreadState *thread = numeric_loop_begin(state, a, to);
    ts_status status = ts_nd_memory(a, false, &from, NULL, &err);
    if (status == TS_OK && (status = ts_nd_memory(to, false, &data, NULL, &err)) == TS_OK)
        bytes_walk(&t, 0, data, from);
    numeric_loop_end(state, thread);
    NUMERIC_END(state);
    return status == TS_OK ? Py_NewRef(Py_True) : core_raise(state, &err);
}

static PyMethodDef bytes_functions[] = {
    {"numeric_turn", bytes_python, METH_VARARGS,
     "numeric_turn(array, out, part, /)\n--\n\nElements with their bytes in the other order; whether it is done."},
    {NULL, NULL, 0, NULL},
};

int numeric_bytes_init(PyObject *module)
{
    return PyModule_AddFunctions(module, bytes_functions);
}
