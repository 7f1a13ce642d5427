/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that the Python half uses too, as constants of the module: _core.PARAM_CONSTANT is TS_PARAM_CONSTANT. No
 * number stands in Python a second time.
 */
#include "host.h"
#include "tessera/graph.h"
#include "tessera/lib.h"
#include "tessera/numeric.h"
#include "tessera/tileir.h"

static const struct {
    const char *name;
    long value;
} numbers[] = {
#define NUMBER(name) {#name, (long)TS_##name}
    NUMBER(PARAM_CONSTANT), NUMBER(PARAM_INDEX64), NUMBER(ARRAY_RANK), NUMBER(PARAM_STATIC_STRIDES),
    NUMBER(PARAM_ANY), NUMBER(PARAM_TUPLE), NUMBER(PARAM_TUPLE_OF), NUMBER(PARAM_LIST_OF), NUMBER(PARAM_RECORD),
    NUMBER(PARAM_BITS), NUMBER(PARAM_BOOL), NUMBER(PARAM_INT), NUMBER(PARAM_FLOAT),
    NUMBER(PARAM_REVERSED), NUMBER(FUNCTION_C), NUMBER(FUNCTION_NUMBA),
    NUMBER(SPEC_ARRAY), NUMBER(SPEC_SCALAR), NUMBER(SPEC_INT), NUMBER(SPEC_FLOAT), NUMBER(SPEC_BOOL),
    NUMBER(SPEC_TUPLE), NUMBER(SPEC_LIST), NUMBER(SPEC_NONE), NUMBER(SPEC_RECORD), NUMBER(SPEC_COMPLEX),
    NUMBER(SPEC_STRUCT), NUMBER(SPEC_OBJECT),
    NUMBER(TILEIR_OLDEST), NUMBER(TILEIR_NEWEST),
    NUMBER(STEP_RUN), NUMBER(STEP_SET), NUMBER(STEP_JUMP), NUMBER(STEP_JUMP_IF), NUMBER(STEP_JUMP_UNLESS),
    NUMBER(PIECE_KERNEL), NUMBER(PIECE_COPY), NUMBER(PIECE_FILL), NUMBER(PIECE_HOST), NUMBER(PIECE_RECORD),
    NUMBER(PIECE_WAIT),
    NUMBER(EVENT_BLOCKING), NUMBER(EVENT_UNTIMED), NUMBER(EVENT_SHARED),
    NUMBER(GEMM_TF32), NUMBER(GEMM_PRECISE), NUMBER(GEMM_GELU), NUMBER(GEMM_COPY_ROWS), NUMBER(GEMM_COPY_COLUMNS),
    NUMBER(GEMM_ADD_ROWS), NUMBER(GEMM_ADD_COLUMNS), NUMBER(OPT_LEVEL), NUMBER(CPU_COOPERATIVE_BLOCKS),
    NUMBER(CHECK_RAISES), NUMBER(CHECK_BOUNDS), NUMBER(CHECK_IMPLIED), NUMBER(CHECK_WATCHED), NUMBER(ND_LOOKED_AT),
#undef NUMBER
#define NUMBER(name) {#name, (long)CORE_##name}
    NUMBER(DEVICE_ACCESS), NUMBER(HOST_ACCESS), NUMBER(MANAGED), NUMBER(MAPPED),
#undef NUMBER
    {"DEVICE_CPU", TS_DEVICE_ID(TS_DEVICE_CPU, 0)}, /* the id of device 0 of the kind */
    {"DEVICE_CUDA", TS_DEVICE_ID(TS_DEVICE_CUDA, 0)},
};

/* Names of the hints in the order of ts_hints. */
static PyObject *numbers_hints(void)
{
    static const char *const names[] = {
#define X(name) #name,
        TS_HINTS(X)
#undef X
    };
    Py_ssize_t n = sizeof names / sizeof *names;
    PyObject *tuple = PyTuple_New(n);
    for (Py_ssize_t i = 0; tuple && i < n; i++) {
        PyObject *name = PyUnicode_InternFromString(names[i]);
        if (!name)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, name);
    }
    return tuple;
}

/* {"sm_90": 90, ...}, older GPUs first. */
static PyObject *numbers_targets(void)
{
    static const struct {
        const char *text;
        long number;
    } targets[] = {
#define X(name, number, text) {text, number},
        TS_TARGETS(X)
#undef X
    };
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < sizeof targets / sizeof *targets; i++) {
        PyObject *number = PyLong_FromLong(targets[i].number);
        if (!number || PyDict_SetItemString(dict, targets[i].text, number) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(number);
    }
    return dict;
}

int core_numbers_init(PyObject *module, core_state *state)
{
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (PyModule_AddIntConstant(module, numbers[i].name, numbers[i].value) < 0)
            return -1;
    PyObject *hints = numbers_hints(), *targets = numbers_targets();
    int failed = !hints || !targets || PyModule_AddObjectRef(module, "HINTS", hints) < 0 ||
                 PyModule_AddObjectRef(module, "TARGETS", targets) < 0;
    Py_XDECREF(hints);
    Py_XDECREF(targets);
    return failed ? -1 : 0;
}
