/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of elementwise functions, as far as the files behind them share it: numeric_call.c runs them,
 * numeric_function.c has them as objects with keywords, numeric_assign.c as assignments.
 */
#ifndef TS_EXT_NUMERIC_CALL_H
#define TS_EXT_NUMERIC_CALL_H

#include "numeric.h"

typedef struct call_options {
    ts_nd_call call;
    PyObject *out, *mask; /* arrays, borrowed */
    PyObject *where;      /* a converted mask, owned */
    bool says_out; /* out= is given, if only None */
    PyObject *signature; /* signature=, borrowed; NULL: it is not given */
    bool as_they_lie; /* order="A": columns first if all arrays lie so */
    bool as_array; /* out=...: an array also where the result has no axes */
    bool is_meant; /* dtype= or signature= name a dtype that has a meaning */
    bool says_dtype, is_longlong; /* dtype= is given, and it is NumPy's longlong */
    PyObject *const *values, *names; /* keywords, borrowed; NULL: none */
    bool is_theirs; /* out= is none of our arrays: NumPy's perhaps */
    bool loses_class; /* subok=False: results are arrays of our own class */
} call_options;

void numeric_call_int(PyObject *object, ts_nd_operand *out); /* an int of Python, of any size */
/* What `convert` gave, as an operand that is held: 1; 0: it is none of ours; -1 with exception. */
int numeric_call_converted(PyObject *array, ts_nd_operand *out, PyObject **held);
char numeric_call_kind(const ts_nd_operand *in); /* of its dtype, or of the number that it is */
/* Complex numbers in real elements: their imaginary parts are lost with a warning. 0, or -1 with exception. */
int numeric_call_lost_parts(char from, char to);
/* What was converted, in host memory, becomes an array of the graph: 0, or -1 with exception. */
int numeric_call_place(core_state *state, ts_nd_graph *graph, PyObject **held, ts_nd **array);
/* Operands of a call in place; a converted mask is taken. NULL with exception, NotImplemented where one operand is none
 * of ours. */
PyObject *numeric_call_with(core_state *state, call_options *options, PyObject *const *x);
/* A result of no axes, NumPy's scalar, as an array where new ones lie; takes the scalar. */
PyObject *numeric_call_array(core_state *state, PyObject *scalar);
/* A result as the class that decides has it, that of `out` where one is written to; takes the result. */
PyObject *numeric_call_wrapped(core_state *state, PyObject *function, const ts_nd_info *info, PyObject *const *x,
                               PyObject *out, PyObject *result, bool as_array);

#endif
