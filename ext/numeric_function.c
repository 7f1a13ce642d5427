/* SPDX-License-Identifier: Apache-2.0
 *
 * NumericFunction: an elementwise function as an object, its keywords to C form; tessera.numeric.ufunc derives from it.
 */
#include "numeric_call.h"
#include <string.h>
#include <structmember.h>

typedef struct call_function {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    core_state *state;
    ts_nd_fn fn;
} call_function;

ts_nd_fn numeric_fn_of(const core_state *state, PyObject *function)
{
    return core_is(function, state->numeric->function_type) ? ((call_function *)function)->fn : TS_ND_COUNT;
}

/* out=: an array, or a tuple of one; it stays NULL for None and for an ellipsis. */
static int call_out(core_state *state, PyObject *object, call_options *options)
{
    if (options->says_out) {
        PyErr_SetString(PyExc_TypeError, "cannot specify 'out' as both a positional and keyword argument");
        return -1;
    }
    if (PyTuple_Check(object)) {
        if (PyTuple_GET_SIZE(object) != 1) {
            PyErr_SetString(PyExc_ValueError, "The 'out' tuple must have exactly one entry per ufunc output");
            return -1;
        }
        object = PyTuple_GET_ITEM(object, 0);
        if (object == Py_Ellipsis) {
            PyErr_SetString(PyExc_TypeError, "must use `...` as `out=...` and not per-operand/in a tuple");
            return -1;
        }
    }
    options->as_array = object == Py_Ellipsis;
    options->says_out = true;
    if (object == Py_None || object == Py_Ellipsis)
        return 0;
    options->is_theirs = !numeric_is_array(state, object);
    options->out = object;
    if (options->is_theirs || !(ND(object)->flags & TS_ND_READONLY))
        return 0;
    PyErr_SetString(PyExc_ValueError, "output array is read-only"); /* before all that is wrong with operands */
    return -1;
}

/* The same call with out= in the memory of another library (_ufunc_methods.py). */
static PyObject *call_into_theirs(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    Py_ssize_t all = n + (names ? PyTuple_GET_SIZE(names) : 0);
    PyObject *module = PyImport_ImportModule("tessera.numeric._ufunc_methods");
    PyObject *helper = module ? PyObject_GetAttrString(module, "into_theirs") : NULL, *made = NULL;
    PyObject **given = helper ? PyMem_Malloc((size_t)(all + 1) * sizeof *given) : NULL;
    if (given) {
        given[0] = self;
        memcpy(given + 1, args, (size_t)all * sizeof *args);
        made = PyObject_Vectorcall(helper, given, (size_t)n + 1, names);
    } else if (helper) {
        PyErr_NoMemory();
    }
    PyMem_Free(given);
    Py_XDECREF(helper);
    Py_XDECREF(module);
    return made;
}

/* What is no array of ours as a mask: NumPy's arrays must be of bools, other things are cast (_reduce.py). */
static PyObject *call_mask(core_state *state, PyObject *object)
{
    PyObject *checked = PyObject_CallOneArg(state->numeric->mask_of, object), *mask = NULL;
    if (checked && numeric_is_array(state, checked))
        mask = Py_NewRef(checked);
    else if (checked)
        mask = PyObject_CallFunction(state->numeric->convert, "OO", checked, state->numeric->dtypes[TS_DTYPE_bool_]);
    Py_XDECREF(checked);
    return mask;
}

static int call_where(core_state *state, PyObject *object, call_options *options)
{
    if (object == Py_True)
        return 0;
    PyObject *array = options->mask = numeric_is_array(state, object) ? object : NULL;
    if (!array)
        options->where = array = call_mask(state, object);
    if (!array)
        return -1;
    if (ND(array)->dtype == TS_DTYPE_bool_ && !ND(array)->meaning)
        return 0;
    PyErr_Format(PyExc_TypeError, "Cannot cast array data from %R to dtype('bool') according to the rule 'safe'",
                 numeric_dtype(state, ND(array)));
    return -1;
}

static int call_dtype(core_state *state, PyObject *object, call_options *options)
{
    uint16_t meaning = 0;
    int done = object == Py_None ? 0 : numeric_type_of(state, object, &options->call.dtype, &meaning);
    options->says_dtype = object != Py_None;
    options->is_longlong = meaning == NUMERIC_LONGLONG;
    options->is_meant |= meaning && !options->is_longlong;
    if (done < 0 || !meaning || options->is_longlong || options->call.fn == TS_ND_copy)
        return done;
    PyObject *module = PyImport_ImportModule("tessera.numeric._ufunc_methods"); /* refuses byte orders and units */
    PyObject *dtype = module ? PyObject_CallMethod(module, "named_dtype", "(O)", object) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(dtype);
    return dtype ? 0 : -1;
}

static int call_order(PyObject *object, call_options *options)
{
    const char *text = object == Py_None ? "K" : PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;
    if (text && strlen(text) == 1 && strchr("KACFkacf", *text)) {
        options->as_they_lie = strchr("Aa", *text) != NULL;
        options->call.order = strchr("CcAa", *text) ? 'C' : strchr("Ff", *text) ? 'F' : 0;
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "order must be one of 'C', 'F', 'A', or 'K' (got %R)", object);
    return -1;
}

/* signature=: the dtype of the loop that it names (_ufunc_methods.py). */
static int call_signature(core_state *state, PyObject *self, PyObject *value, call_options *options)
{
    uint16_t meaning = 0;
    if (options->signature) {
        PyErr_SetString(PyExc_TypeError, "cannot specify both 'sig' and 'signature'");
        return -1;
    }
    options->signature = value;
    PyObject *module = PyImport_ImportModule("tessera.numeric._ufunc_methods");
    PyObject *dtype = module ? PyObject_CallMethod(module, "loop_of", "OO", self, value) : NULL;
    int done = !dtype ? -1 : dtype == Py_None ? 0 : numeric_type_of(state, dtype, &options->call.loop, &meaning);
    options->is_meant |= meaning && meaning != NUMERIC_LONGLONG;
    options->says_dtype |= options->call.loop != TS_DTYPE_NONE;
    options->is_longlong |= meaning == NUMERIC_LONGLONG;
    Py_XDECREF(module);
    Py_XDECREF(dtype);
    return done;
}

static int call_keyword(core_state *state, PyObject *self, PyObject *name, PyObject *value, call_options *options,
                        PyObject **where)
{
    const char *text = PyUnicode_AsUTF8(name);
    if (!text)
        return -1;
    if (strcmp(text, "out") == 0)
        return call_out(state, value, options);
    if (strcmp(text, "where") == 0) {
        *where = value;
        return 0;
    }
    if (strcmp(text, "dtype") == 0)
        return call_dtype(state, value, options);
    options->call.says_casting |= strcmp(text, "casting") == 0;
    if (strcmp(text, "casting") == 0)
        return numeric_casting(value, &options->call.casting);
    if (strcmp(text, "order") == 0)
        return call_order(value, options);
    if (strcmp(text, "subok") == 0) {
        if (!PyBool_Check(value)) {
            PyErr_Format(PyExc_TypeError, "'subok' must be a boolean, found %R", value);
            return -1;
        }
        options->loses_class = value == Py_False;
        return 0;
    }
    if (strcmp(text, "signature") == 0 || strcmp(text, "sig") == 0)
        return call_signature(state, self, value, options);
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
                 ts_nd_get(((call_function *)self)->fn)->name, name);
    return -1;
}

/* Whether the first axis of each operand that is an array is the contiguous one. */
static bool call_lies_by_columns(core_state *state, PyObject *const *x, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        const ts_nd *a = numeric_is_array(state, x[i]) ? ND(x[i]) : NULL;
        int64_t step = a ? (int64_t)ts_dtype_bytes((ts_dtype)a->dtype) : 0;
        for (uint32_t d = 0; a && a->count && d < a->rank; step *= ts_nd_shape(a)[d++])
            if (ts_nd_shape(a)[d] != 1 && ts_nd_strides(a)[d] != step)
                return false;
    }
    return true;
}

/* The call with operands as signature= names them (_ufunc_methods.py). */
static PyObject *call_in_loop(PyObject *self, call_options *options, PyObject *const *args, Py_ssize_t n)
{
    core_state *state = ((call_function *)self)->state;
    PyObject *module = PyImport_ImportModule("tessera.numeric._ufunc_methods"), *named = NULL, *made = NULL;
    PyObject *operands = module ? PyTuple_New(n) : NULL;
    for (Py_ssize_t i = 0; operands && i < n; i++)
        PyTuple_SET_ITEM(operands, i, Py_NewRef(args[i]));
    if (operands)
        named = PyObject_CallMethod(module, "as_named", "OOO", self, options->signature, operands);
    if (named)
        made = numeric_call_with(state, options, PySequence_Fast_ITEMS(named));
    else
        Py_XDECREF(options->where);
    Py_XDECREF(named);
    Py_XDECREF(operands);
    Py_XDECREF(module);
    return made;
}

static PyObject *call_vector(PyObject *self, PyObject *const *args, size_t flags, PyObject *names)
{
    call_function *f = (call_function *)self;
    core_state *state = f->state;
    const ts_nd_info *info = ts_nd_get(f->fn);
    Py_ssize_t n = PyVectorcall_NARGS(flags), n_names = names ? PyTuple_GET_SIZE(names) : 0;
    call_options options = {.call = {.fn = f->fn}, .values = args + n, .names = names};
    if (numeric_answered(state, PROTOCOL_UFUNC, args, n + n_names, 1)) {
        PyObject *made = numeric_ask_ufunc(state, self, "__call__", args, n, names);
        if (made != Py_Ellipsis)
            return made;
        Py_DECREF(made);
    }
    if (n < info->n_in || n > info->n_in + 1)
        return PyErr_Format(PyExc_TypeError, "%s() takes from %d to %d positional arguments but %zd %s given",
                            info->name, info->n_in, info->n_in + 1, n, n == 1 ? "was" : "were");
    if (n > info->n_in && args[info->n_in] == Py_Ellipsis) {
        PyErr_SetString(PyExc_TypeError, "out=... is only allowed as a keyword argument.");
        return NULL;
    }
    if (n > info->n_in && call_out(state, args[info->n_in], &options) < 0)
        return NULL;
    options.says_out &= n == info->n_in || args[info->n_in] != Py_None; /* as NumPy counts */
    PyObject *where = Py_True;
    int ok = 0;
    for (Py_ssize_t i = 0; i < n_names && ok == 0; i++) {
        options.says_out |= n > info->n_in && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "out") == 0;
        ok = call_keyword(state, self, PyTuple_GET_ITEM(names, i), args[n + i], &options, &where);
    }
    PyObject *result = NULL;
    if (ok == 0 && where != Py_True && !options.says_out)
        ok = PyErr_WarnEx(PyExc_UserWarning, "'where' used without 'out', expect unitialized memory in output. If this "
                          "is intentional, use out=None.", 1);
    if (ok == 0)
        ok = call_where(state, where, &options);
    if (options.as_they_lie && call_lies_by_columns(state, args, n < info->n_in ? n : info->n_in))
        options.call.order = 'F';
    if (ok == 0 && !options.is_theirs)
        result = options.signature && options.call.casting != TS_ND_EQUIV
                     ? call_in_loop(self, &options, args, info->n_in)
                     : numeric_call_with(state, &options, args);
    else
        Py_XDECREF(options.where);
    if (ok == 0 && options.is_theirs)
        return call_into_theirs(self, args, n, names);
    if (!result)
        return numeric_by_numpy(state, self, args, n, names, false);
    if (result == Py_NotImplemented) {
        Py_DECREF(result);
        return PyErr_Format(PyExc_TypeError, "ufunc '%s' not supported for the input types", info->name);
    }
    bool moves = f->fn == TS_ND_copy || f->fn == TS_ND_select; /* no functions of NumPy: what is written stays */
    if (result && !options.loses_class && !(moves && options.out))
        result = numeric_call_wrapped(state, self, info, args, options.out, result, options.as_array);
    if (result && options.as_array && !numeric_is_array(state, result))
        result = numeric_call_array(state, result);
    return result;
}

static PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    const char *name;
    if (!PyArg_ParseTuple(args, "s:NumericFunction", &name) || (kwargs && PyDict_GET_SIZE(kwargs)))
        return NULL;
    ts_nd_fn fn = ts_nd_find(name);
    if (fn == TS_ND_COUNT)
        return PyErr_Format(PyExc_ValueError, "there is no elementwise function named %s", name);
#if PY_VERSION_HEX < 0x030C0000
    if (type->tp_call == PyVectorcall_Call) /* classes of Python inherit it from 3.12 on */
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
#endif
    call_function *self = (call_function *)type->tp_alloc(type, 0);
    if (self) {
        self->vectorcall = call_vector;
        self->state = core_state_of_type(type);
        self->fn = fn;
    }
    return (PyObject *)self;
}

static void function_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *function_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(ts_nd_get(((call_function *)self)->fn)->name);
}

static PyObject *function_doc(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(ts_nd_get(((call_function *)self)->fn)->doc);
}

static PyObject *function_nin(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(ts_nd_get(((call_function *)self)->fn)->n_in);
}

static PyObject *function_loops(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(ts_nd_get(((call_function *)self)->fn)->loops);
}

static PyObject *function_result(PyObject *self, void *unused)
{
    (void)unused;
    static const char *const names[] = {[TS_ND_IS_SAME] = "same", [TS_ND_IS_BOOL] = "bool", [TS_ND_IS_PART] = "part"};
    return PyUnicode_FromString(names[ts_nd_get(((call_function *)self)->fn)->result]);
}

static PyGetSetDef function_getset[] = {
    {"_loops", function_loops, NULL, "Kinds of numbers that it computes in (numeric.def).", NULL},
    {"_result", function_result, NULL, "'same', 'bool' or 'part' (numeric.def).", NULL},
    {"__name__", function_name, NULL, "NumPy's name.", NULL},
    {"__qualname__", function_name, NULL, "NumPy's name.", NULL},
    {"_doc", function_doc, NULL, "One sentence.", NULL},
    {"nin", function_nin, NULL, "Number of operands.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef function_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(call_function, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot function_slots[] = {
    {Py_tp_doc, "An elementwise function of tessera.numeric."},
    {Py_tp_new, function_new},
    {Py_tp_dealloc, function_dealloc},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_getset, function_getset},
    {Py_tp_members, function_members},
    {0, NULL},
};
static PyType_Spec function_spec = {"tessera._core.NumericFunction", sizeof(call_function), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
                                    function_slots};

int numeric_call_init(PyObject *module, core_state *state)
{
    PyObject *names = PyTuple_New(TS_ND_COUNT);
    for (int fn = 0; names && fn < TS_ND_COUNT; fn++)
        PyTuple_SET_ITEM(names, fn, PyUnicode_FromString(ts_nd_get((ts_nd_fn)fn)->name));
    if (!names || PyModule_AddObjectRef(module, "NUMERIC_FUNCTIONS", names) < 0)
        return -1;
    Py_DECREF(names);
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &function_spec, NULL);
    state->numeric->function_type = type;
    return type ? PyModule_AddObjectRef(module, "NumericFunction", (PyObject *)type) : -1;
}
