/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that classes of others answer: __array_function__ and __array_ufunc__ (NumPy's NEP 18 and 13). Whether a call
 * meets an object of such a class is found here; what becomes of it the Python half says (_protocols.py). Calls on
 * arrays of our own class, numbers, texts and None end at the first comparisons.
 */
#include "numeric.h"

/* An attribute of a class, a new reference; NULL: it has none, or with exception. */
static PyObject *protocol_of(PyTypeObject *type, PyObject *name)
{
    PyObject *found = NULL;
#if PY_VERSION_HEX >= 0x030D0000
    (void)PyObject_GetOptionalAttr((PyObject *)type, name, &found);
#else
    (void)_PyObject_LookupAttr((PyObject *)type, name, &found);
#endif
    return found;
}

/* Objects that no protocol is asked for: arrays of our class and NumPy's, numbers, texts, types, dtypes, scalars. */
static bool protocol_is_plain(core_state *state, PyObject *x)
{
    const numeric_state *n = state->numeric;
    PyTypeObject *type = Py_TYPE(x);
    return numeric_is_common(state, x) || type == &PyBool_Type || type == &PyUnicode_Type || type == &PyTuple_Type ||
           type == &PyList_Type || type == &PyComplex_Type || type == &PySlice_Type || type == &PyDict_Type ||
           type == (PyTypeObject *)n->numpy_array || PyType_Check(x) || x == Py_Ellipsis ||
           PyObject_TypeCheck(x, (PyTypeObject *)n->numpy_generic) ||
           PyObject_TypeCheck(x, (PyTypeObject *)n->numpy_dtype);
}

/* Whether the class of an object has the protocol, in a way of its own. */
static bool protocol_answers(core_state *state, numeric_protocol which, PyObject *x)
{
    const numeric_state *n = state->numeric;
    PyTypeObject *type = Py_TYPE(x);
    PyObject *method = protocol_of(type, n->protocol_names[which]), *left = NULL;
    bool answers = method && method != n->protocol_ours[which] && method != n->protocol_numpys[which];
    if (answers) {
        left = protocol_of(type, n->protocol_names[PROTOCOL_LEFT]);
        if (!left && !PyErr_Occurred() && !numeric_is_array(state, x))
            left = protocol_of(type, n->protocol_names[PROTOCOL_CUDA]);
    }
    answers = answers && !left;
    Py_XDECREF(method);
    Py_XDECREF(left);
    PyErr_Clear();
    return answers;
}

/* The same of x, or with `depth` of what a tuple or a list has. Attributes of classes may run Python, which may change
 * the list: its length is asked for anew, and what is looked at is held. */
static bool protocol_is_met(core_state *state, numeric_protocol which, PyObject *x, int depth)
{
    if (!protocol_is_plain(state, x))
        return protocol_answers(state, which, x);
    bool met = false, has_more = PyTuple_CheckExact(x) || (which == PROTOCOL_FUNCTION && PyList_CheckExact(x));
    for (Py_ssize_t i = 0; depth && has_more && !met && i < PySequence_Fast_GET_SIZE(x); i++) {
        PyObject *each = Py_NewRef(PySequence_Fast_GET_ITEM(x, i));
        met = protocol_is_met(state, which, each, depth - 1);
        Py_DECREF(each);
    }
    return met;
}

bool numeric_is_answered(core_state *state, numeric_protocol which, PyObject *const *x, Py_ssize_t n, int depth)
{
    for (Py_ssize_t i = 0; i < n; i++)
        if (protocol_is_met(state, which, x[i], depth))
            return true;
    return false;
}

/* Whether an object that takes no part in functions of elements says so, or ranks above our arrays: NumPy's rule for
 * operators. What can be read as an array ranks above them only where it says more than they. */
bool numeric_defers(core_state *state, PyObject *x, PyObject *y, bool in_place)
{
    const numeric_state *n = state->numeric;
    if (!numeric_is_array(state, x) || protocol_is_plain(state, y) || numeric_is_array(state, y))
        return false;
    PyObject *method = protocol_of(Py_TYPE(y), n->protocol_names[PROTOCOL_UFUNC]), *priority = NULL;
    bool defers = method == Py_None && !in_place;
    if (!method && !PyErr_Occurred() && (priority = protocol_of(Py_TYPE(y), n->protocol_names[PROTOCOL_PRIORITY]))) {
        bool is_read = false;
        for (int k = PROTOCOL_CUDA; k <= PROTOCOL_ARRAY && !is_read; k++) {
            PyObject *shown = protocol_of(Py_TYPE(y), n->protocol_names[k]);
            is_read = shown != NULL;
            Py_XDECREF(shown);
        }
        double own = numeric_priority(x), other = PyFloat_AsDouble(priority);
        defers = !PyErr_Occurred() && other > (is_read && own == 0 ? NUMERIC_PRIORITY : own);
        Py_DECREF(priority);
    }
    Py_XDECREF(method);
    PyErr_Clear();
    return defers;
}

bool numeric_wraps(core_state *state, PyObject *x)
{
    const numeric_state *n = state->numeric;
    if (protocol_is_plain(state, x) || PyObject_TypeCheck(x, (PyTypeObject *)n->numpy_array))
        return false;
    PyObject *wrap = protocol_of(Py_TYPE(x), n->protocol_names[PROTOCOL_WRAP]);
    bool wraps = wrap != NULL;
    if (wraps && numeric_is_array(state, x)) { /* a result of its class, which another method than ours may change */
        PyObject *ours = protocol_of(n->array_class, n->protocol_names[PROTOCOL_WRAP]);
        wraps = wrap != ours;
        Py_XDECREF(ours);
    } else if (wraps) {
        PyObject *shown = protocol_of(Py_TYPE(x), n->protocol_names[PROTOCOL_CUDA]);
        wraps = !shown;
        Py_XDECREF(shown);
    }
    Py_XDECREF(wrap);
    PyErr_Clear();
    return wraps;
}

int numeric_pack_call(PyObject *const *args, Py_ssize_t n, PyObject *names, PyObject **given, PyObject **named)
{
    *given = PyTuple_New(n);
    *named = PyDict_New();
    for (Py_ssize_t i = 0; *given && i < n; i++)
        PyTuple_SET_ITEM(*given, i, Py_NewRef(args[i]));
    int done = *given && *named ? 0 : -1;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names) && done == 0; i++)
        done = PyDict_SetItem(*named, PyTuple_GET_ITEM(names, i), args[n + i]);
    if (done < 0) {
        Py_CLEAR(*given);
        Py_CLEAR(*named);
    }
    return done;
}

PyObject *numeric_ask_ufunc(core_state *state, PyObject *function, const char *method, PyObject *const *args,
                            Py_ssize_t n, PyObject *names)
{
    PyObject *given, *named, *made = NULL;
    if (numeric_pack_call(args, n, names, &given, &named) == 0) {
        made = PyObject_CallFunction(state->numeric->ufunc_answered, "OsOO", function, method, given, named);
        Py_DECREF(given);
        Py_DECREF(named);
    }
    return made;
}

int numeric_protocol_setup(numeric_state *n)
{
    static const char *const names[] = {"__array_function__", "__array_ufunc__", "__array_priority__",
                                        "_answers_numpy_alone", "__cuda_array_interface__", "__array_interface__",
                                        "__array__", "__array_wrap__"};
    static_assert(sizeof names / sizeof *names == PROTOCOL_NAMES, "a name each");
    for (int k = 0; k < PROTOCOL_NAMES; k++) {
        Py_XSETREF(n->protocol_names[k], PyUnicode_InternFromString(names[k]));
        if (!n->protocol_names[k])
            return -1;
    }
    for (int k = 0; k < PROTOCOLS; k++) {
        Py_XSETREF(n->protocol_ours[k], PyObject_GetAttr((PyObject *)n->array_class, n->protocol_names[k]));
        Py_XSETREF(n->protocol_numpys[k], PyObject_GetAttr(n->numpy_array, n->protocol_names[k]));
    }
    PyErr_Clear(); /* a class that has none answers by none */
    return 0;
}
