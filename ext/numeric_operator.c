/* SPDX-License-Identifier: Apache-2.0
 *
 * Python's operators of a NumericArray.
 */
#include "numeric.h"
#include <string.h>

static core_state *operator_state(PyObject *x, PyObject *y)
{
    core_state *state = core_state_of_type(Py_TYPE(x));
    return state ? state : core_state_of_type(Py_TYPE(y));
}

static PyObject *operator_binary(ts_nd_fn fn, PyObject *x, PyObject *y)
{
    PyObject *both[2] = {x, y};
    return numeric_call(operator_state(x, y), fn, both, NULL);
}

static PyObject *operator_inplace(ts_nd_fn fn, PyObject *x, PyObject *y)
{
    PyObject *both[2] = {x, y};
    return numeric_call(STATE(x), fn, both, x);
}

static PyObject *operator_unary(ts_nd_fn fn, PyObject *x)
{
    return numeric_call(STATE(x), fn, &x, NULL);
}

#define BINARY(name, fn)                                               \
    static PyObject *binary_##name(PyObject *x, PyObject *y)           \
    {                                                                  \
        return operator_binary(TS_ND_##fn, x, y);                      \
    }                                                                  \
    static PyObject *inplace_##name(PyObject *x, PyObject *y)          \
    {                                                                  \
        return operator_inplace(TS_ND_##fn, x, y);                     \
    }
#define UNARY(name, fn)                                                \
    static PyObject *unary_##name(PyObject *x)                         \
    {                                                                  \
        return operator_unary(TS_ND_##fn, x);                          \
    }
BINARY(add, add)
BINARY(subtract, subtract)
BINARY(multiply, multiply)
BINARY(true_divide, divide)
BINARY(floor_divide, floor_divide)
BINARY(remainder, remainder)
BINARY(lshift, left_shift)
BINARY(rshift, right_shift)
BINARY(and, bitwise_and)
BINARY(or, bitwise_or)
BINARY(xor, bitwise_xor)
UNARY(negative, negative)
UNARY(positive, positive)
UNARY(absolute, absolute)
UNARY(invert, invert)

static PyObject *operator_hook(PyObject *hook, PyObject *x, PyObject *y, PyObject *out)
{
    return PyObject_CallFunctionObjArgs(hook, x, y, out, NULL);
}

/* The function that NumPy computes x ** y by, of floats and complex numbers. */
static ts_nd_fn power_as(PyObject *y, double value)
{
    bool inverts = value == -1 && PyLong_CheckExact(y);
    return value == 2 ? TS_ND_square : value == 0.5 ? TS_ND_sqrt : inverts ? TS_ND_reciprocal : TS_ND_power;
}

/* x ** y of floats and complex numbers, as _operators.power_operator has it; NULL without exception: of others. */
static PyObject *power_short(PyObject *x, PyObject *y)
{
    core_state *state = operator_state(x, y);
    if (!numeric_is_array(state, x) || !(PyFloat_CheckExact(y) || PyLong_CheckExact(y)) ||
        ND(x)->meaning || !strchr("fc", ts_dtype_get((ts_dtype)ND(x)->dtype)->kind))
        return NULL;
    PyObject *both[] = {x, y};
    double value = PyFloat_CheckExact(y) ? PyFloat_AS_DOUBLE(y) : PyLong_AsDouble(y);
    if (PyErr_Occurred())
        return PyErr_Clear(), NULL;
    return numeric_call(state, power_as(y, value), both, NULL);
}

static PyObject *binary_power(PyObject *x, PyObject *y, PyObject *modulus)
{
    if (modulus != Py_None)
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *made = power_short(x, y);
    if (made || PyErr_Occurred())
        return made;
    core_state *state = operator_state(x, y);
    PyObject *both[] = {x, y};
    made = numeric_operator_answer(state, "power", both, 2, NULL);
    return made || PyErr_Occurred() ? made : operator_hook(state->numeric->power, x, y, NULL);
}

static PyObject *inplace_power(PyObject *x, PyObject *y, PyObject *modulus)
{
    (void)modulus;
    return operator_hook(STATE(x)->numeric->power, x, y, x);
}

static PyObject *binary_matmul(PyObject *x, PyObject *y)
{
    core_state *state = operator_state(x, y);
    PyObject *both[] = {x, y}, *made = numeric_product(state, x, y, "matmul");
    if (made || PyErr_Occurred())
        return made;
    made = numeric_operator_answer(state, "matmul", both, 2, NULL);
    return made || PyErr_Occurred() ? made : operator_hook(state->numeric->matmul, x, y, NULL);
}

static PyObject *divmod_both(PyObject *x, PyObject *y)
{
    PyObject *quotient = operator_binary(TS_ND_floor_divide, x, y);
    if (!quotient || quotient == Py_NotImplemented)
        return quotient;
    PyObject *rest = operator_binary(TS_ND_remainder, x, y);
    return rest ? Py_BuildValue("(NN)", quotient, rest) : (Py_DECREF(quotient), NULL);
}

/* The quotient and what it leaves, of whose faults each is told of once; classes of others are asked once. */
static PyObject *binary_divmod(PyObject *x, PyObject *y)
{
    core_state *state = operator_state(x, y);
    PyObject *both[] = {x, y}, *made = numeric_operator_answer(state, "divmod", both, 2, NULL);
    if (made || PyErr_Occurred())
        return made;
    bool collects = numeric_collect();
    made = divmod_both(x, y);
    if (collects && numeric_collected(state, "divmod", made ? UINT32_MAX : 0) < 0)
        Py_CLEAR(made);
    return made;
}

static PyObject *numeric_compare(PyObject *x, PyObject *y, int how)
{
    static const ts_nd_fn fns[] = {[Py_LT] = TS_ND_less, [Py_LE] = TS_ND_less_equal, [Py_EQ] = TS_ND_equal,
                                   [Py_NE] = TS_ND_not_equal, [Py_GT] = TS_ND_greater, [Py_GE] = TS_ND_greater_equal};
    PyObject *made = operator_binary(fns[how], x, y);
    if (made || (how != Py_EQ && how != Py_NE) || !PyErr_ExceptionMatches(PyExc_TypeError))
        return made;
    return numeric_unequal(x, y, how == Py_NE);
}

#define SLOT(name, function) {Py_nb_##name, function}
#define BOTH(name) {Py_nb_##name, binary_##name}, {Py_nb_inplace_##name, inplace_##name}
const PyType_Slot numeric_operators[] = {
    {Py_tp_richcompare, numeric_compare},
    SLOT(negative, unary_negative), SLOT(positive, unary_positive), SLOT(absolute, unary_absolute),
    SLOT(invert, unary_invert), SLOT(power, binary_power), SLOT(inplace_power, inplace_power),
    SLOT(matrix_multiply, binary_matmul), SLOT(divmod, binary_divmod),
    BOTH(add), BOTH(subtract), BOTH(multiply), BOTH(true_divide), BOTH(floor_divide), BOTH(remainder), BOTH(lshift),
    BOTH(rshift), BOTH(and), BOTH(or), BOTH(xor),
    {0, NULL},
};
