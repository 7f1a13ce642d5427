/* SPDX-License-Identifier: Apache-2.0
 *
 * tessera.numeric's arrays as Python objects: what the files ext/numeric*.c share. The class that users see is
 * tessera.numeric.ndarray, which derives from NumericArray here and adds what is written in Python.
 */
#ifndef TS_EXT_NUMERIC_H
#define TS_EXT_NUMERIC_H

#include "core.h"
#include "tessera/numeric.h"

enum { NUMERIC_DEVICES = 64, NUMERIC_MEANINGS = (1 << 16) - 1, NUMERIC_SPARE = 16,
       NUMERIC_LONGLONG = NUMERIC_MEANINGS /* in the place of a meaning: TS_ND_LONGLONG */ };
typedef struct numeric_doctor numeric_doctor;
typedef struct numeric_few_row numeric_few_row;

/* Names of attributes of classes: the protocols that are asked, and what says who is not asked (numeric_protocol.c). */
typedef enum numeric_protocol { PROTOCOL_FUNCTION, PROTOCOL_UFUNC, PROTOCOLS, PROTOCOL_PRIORITY = PROTOCOLS,
                                PROTOCOL_LEFT, PROTOCOL_CUDA, PROTOCOL_INTERFACE, PROTOCOL_ARRAY,
                                PROTOCOL_WRAP, PROTOCOL_NAMES } numeric_protocol;

/* What the module knows of the Python half (tessera/numeric/_setup.py); all of it owned. */
typedef struct numeric_state {
    ts_nd_graph *graphs[NUMERIC_DEVICES]; /* of the devices in use; the first is the CPU's */
    ts_nd_graph *graph;                   /* of the default device */
    PyTypeObject *array_type, *function_type;
    PyObject *current;                    /* ContextVar: the number of a graph, where `device` says one */
    PyTypeObject *array_class;            /* tessera.numeric.ndarray */
    PyObject *dtypes[TS_DTYPE_COUNT];     /* NumPy's dtype objects; NULL: NumPy has none */
    PyObject *scalar_types[TS_DTYPE_COUNT];
    PyObject *longlongs[2], *longlong_types[2]; /* NumPy's other dtypes of 64 bits, signed and not, and their scalars */
    PyObject *numbers;                    /* dtype object, identity -> a ts_dtype, and above it its meaning */
    PyObject *identity;                   /* function: dtype object -> what tells it from those that compare equal */
    PyObject *convert;                    /* function: what is no array and no number -> ndarray, or NotImplemented */
    PyObject *dtype_of;                   /* function: what dtype= takes -> dtype object */
    PyObject *report;                     /* function: name and faults of a call -> warnings, exceptions */
    PyObject *stored_as;                  /* function: dtype object -> the dtype that it is stored as; None: none */
    PyObject *meant_call;                 /* function: a call whose operands have meanings -> its result */
    PyObject *meant_cast;                 /* function: value, dtype object -> an array of it */
    PyObject *errors, *errors_seen;       /* NumPy's variable of numpy.errstate, or None; the value seen last */
    PyObject *errors_default;             /* its value where the program has said nothing */
    PyObject *watches;                    /* function: what it wants, as call_watches has it */
    PyObject *warnings, *filters_key;     /* dict of Python's module; "filters" */
    PyObject *filters_seen;               /* the list of filters at the last question */
    PyObject *filter_first, *filter_last; /* the first and the last of them then */
    PyObject *host_dtype;                 /* exception: a dtype that no kernel computes */
    PyObject *by_numpy;                   /* function: a callable of ours, arguments, keywords -> what NumPy's gives */
    PyObject *derived;                    /* function: a callable of ours, arguments, keywords -> what arrays of derived
                                           * classes among them make of the call; Ellipsis: nothing */
    PyObject *function_answered;          /* function: a routine, arguments, keywords -> what a class of others gives by
                                           * __array_function__; Ellipsis: nothing */
    PyObject *ufunc_answered;             /* function: function of elements, name of its method, arguments, keywords ->
                                           * the same by __array_ufunc__ */
    PyObject *protocol_names[PROTOCOL_NAMES];
    PyObject *protocol_ours[PROTOCOLS], *protocol_numpys[PROTOCOLS]; /* what our class and NumPy's have */
    PyObject *integer_type;               /* numpy.integer */
    PyObject *numpy_array;                /* numpy.ndarray */
    PyObject *libraries;                  /* tuple: how the files of Tessera and NumPy begin, which no user wrote */
    PyObject *names;                      /* dict: names of events that were told of from Python */
    PyObject *items_scalar;               /* function: array of items without axes -> scalar */
    PyObject *items_call;                 /* function: arguments, function, keywords -> result, where some are items */
    PyObject *items_runs;                 /* function: dtype -> (place, length) of bytes of fields; None: all are */
    PyObject *items_lend;                 /* function: array of items -> NumPy's, in the same memory */
    PyObject *items_argument;             /* function: dtype, first bytes on a device -> argument of a kernel */
    PyObject *items_buffer;               /* function: the same for the buffer protocol */
    PyObject *items_descr;                /* function: dtype, exact -> descr of __array_interface__, or None */
    PyObject *ours;                       /* dict: a function of NumPy's -> ours, of those that met arrays of ours */
    PyObject *numpy, *numpy_generic, *numpy_dtype; /* the module, its classes of scalars and dtypes */
    PyObject *mask_of;                   /* function: what where= is given -> an array of bools */
    PyObject *give;                       /* function: NumPy's array -> ours */
    PyObject *host_calls;                 /* dict: how often the host computed a function, by its name */
    PyObject *scalar, *get_item, *set_item, *matmul, *power; /* power is the last */
    void **numpy_table; /* NumPy's functions (numeric_lend.c); NULL: not those known */
    bool lends_none;    /* no call on few elements is NumPy's */
    PyObject **meanings;    /* dtype objects by ts_nd.meaning, from 1 on; owned */
    uint16_t n_meanings;
    uint16_t own_meanings[TS_DTYPE_COUNT]; /* of items that are numbers; 0: none yet */
    numeric_doctor *doctor, *doctor_kept; /* numeric_doctor.c; the first NULL: nobody is told of events */
    Py_ssize_t filters_count; /* of filters then */
    int errors_watch;  /* the answer for errors_seen, where it is known */
    bool errors_known;
    bool late_kept; /* there are late_faults: of the host's graph, by function, which numeric_late has kept */
    uint8_t late_faults[TS_ND_COUNT];
    uint64_t n_missed; /* how often kernels told of indices without a place (numeric_told) */
#ifndef Py_GIL_DISABLED
    PyObject *spare[NUMERIC_SPARE]; /* memory of arrays' objects that ended, for new ones; no objects any more */
    uint32_t n_spare;
#endif
    uint64_t plain_scalars; /* bits of dtypes: scalars whose element lies behind the object's header */
    core_mutex lock;
    bool busy;               /* a thread computes without the interpreter's lock (numeric_loop_begin) .. */
    PyThread_type_lock idle; /* .. and holds this, which others wait for */
} numeric_state;

typedef struct numeric_array {
    PyObject_HEAD
    core_state *state;
    ts_nd *nd;
    PyObject *base; /* whose memory this is, as NumPy's; NULL: its own */
    struct numeric_former *formers; /* headers that it had and that others may still use (numeric_become) */
    PyObject *weakrefs;             /* to the array; the object's memory is kept with none */
    bool is_seen;                   /* the memory of its header was handed out (numeric_data) */
} numeric_array;
#define ND(object) (((numeric_array *)(object))->nd)
#define STATE(object) (((numeric_array *)(object))->state)

/* numeric_loop.c */
/* Waits until no thread computes without the interpreter's lock, which is dropped meanwhile. */
void numeric_await_idle(numeric_state *n);
/* Between: a loop of this thread over elements of `a`, without the interpreter's lock where they are many. Inside of
 * NUMERIC_BEGIN, for loops that launch no kernel: `a` and `b`, which may be NULL, are computed first. */
PyThreadState *numeric_loop_begin(core_state *state, ts_nd *a, ts_nd *b);
void numeric_loop_end(core_state *state, PyThreadState *thread);
int numeric_loop_init(PyObject *module, core_state *state);

/* One thread at a time in a graph (lock.h). */
static inline void numeric_lock(numeric_state *n)
{
#ifdef Py_GIL_DISABLED
    CORE_LOCK(&n->lock);
#else
    if (n->busy)
        numeric_await_idle(n);
#endif
}

/* The same as NUMERIC_BEGIN, and the user's line is noted. */
void numeric_begin_watched(core_state *state, numeric_doctor *doctor);

static inline void numeric_begin(core_state *state)
{
    numeric_doctor *doctor = CORE_GET(state->numeric->doctor);
    if (doctor)
        numeric_begin_watched(state, doctor);
    else
        numeric_lock(state->numeric);
}
#define NUMERIC_BEGIN(state) numeric_begin(state)
#define NUMERIC_END(state) CORE_UNLOCK(&(state)->numeric->lock)

static inline bool numeric_is_array(core_state *state, PyObject *object)
{
    return core_is(object, state->numeric->array_type);
}

/* numeric_type.c */
int numeric_dtype_of(core_state *state, PyObject *object, ts_dtype *out); /* dtype, type or name; 0, or -1 */
/* The same, also of dtypes that are stored as another one with a meaning; 0: it has none. */
int numeric_type_of(core_state *state, PyObject *object, ts_dtype *out, uint16_t *meaning);
/* Gives elements that nobody has seen a meaning, NUMERIC_LONGLONG or none. */
void numeric_mark(ts_nd *nd, uint16_t meaning);
/* A result of a call, an array or a scalar, as one of NumPy's longlong; where an operand is one, of which `b` may be
 * NULL. Taken, and NULL with exception. */
PyObject *numeric_as_longlong(core_state *state, PyObject *result);
PyObject *numeric_as_operands(core_state *state, PyObject *result, const ts_nd *a, const ts_nd *b);
/* Whether an object is one of its scalars. */
static inline bool numeric_is_longlong(const numeric_state *n, PyObject *object)
{
    return (PyObject *)Py_TYPE(object) == n->longlong_types[0] || (PyObject *)Py_TYPE(object) == n->longlong_types[1];
}
/* Whether an array's dtype is another one than the library's. */
static inline bool numeric_means(const ts_nd *a)
{
    return a->meaning || a->flags & TS_ND_LONGLONG;
}
PyObject *numeric_dtype(core_state *state, const ts_nd *nd); /* NumPy's dtype of an array, borrowed */
PyObject *numeric_typestr(core_state *state, const ts_nd *nd); /* of __array_interface__ */
/* Whether NumPy has a dtype for the elements, of another package, that no typestr names. */
bool numeric_is_unnamed(core_state *state, const ts_nd *a);
/* Adds to an interface what says which records these are, `exact`: as NumPy reads them; 0, or -1 with exception. */
int numeric_describe(core_state *state, const ts_nd *a, PyObject *interface, bool exact);

/* What an array is to be. */
typedef struct numeric_form {
    ts_dtype dtype; /* NONE: items, of which `meaning` says what they are */
    uint16_t meaning;
    uint32_t rank;
    int64_t shape[TS_ND_RANK], strides[TS_ND_RANK]; /* strides: of views */
} numeric_form;
/* A new array, a view; of items where the dtype is one of items, or where numbers lie where no kernel reads them. NULL
 * with exception. */
ts_nd *numeric_empty_as(core_state *state, ts_nd_graph *graph, const numeric_form *form, bool columns);
ts_nd *numeric_view_as(core_state *state, const ts_nd *a, int64_t offset, const numeric_form *form);
/* Memory of `owner`: its bytes from `low` on; the first element lies at `offset` in it. */
typedef struct numeric_memory {
    void *low;
    uint64_t bytes;
    int64_t offset;
    PyObject *owner; /* borrowed */
} numeric_memory;
/* An array in it; NULL with exception. (numeric.c) */
PyObject *numeric_in_memory(core_state *state, ts_nd_graph *graph, const numeric_memory *memory,
                            const numeric_form *form, uint32_t flags);
/* The runs of bytes of items that a write to them changes, those of their fields: a tuple of (place, length), or None,
 * all; a new reference, or NULL with exception. */
PyObject *numeric_runs(core_state *state, const ts_nd *to);
ts_status numeric_copy_items(ts_nd *from, ts_nd *to, PyObject *runs, ts_error *err);
/* numeric_scalar() of items. */
PyObject *numeric_items_scalar(core_state *state, ts_nd *nd, int64_t offset);
/* A value as an array of the dtype of `like`; a new reference, or NULL with exception. */
PyObject *numeric_meant(core_state *state, PyObject *value, const ts_nd *like);

PyObject *numeric_as_meant(PyObject *self, PyObject *const *args, Py_ssize_t n); /* a method */
/* x == y (with `differ` x != y) where the comparison has set TypeError: nothing is equal where no comparison exists. */
PyObject *numeric_unequal(PyObject *x, PyObject *y, bool differ);

/* numeric.c */
PyObject *numeric_wrap(core_state *state, ts_nd *nd, PyObject *base); /* takes the reference; borrows base */
PyObject *numeric_wrap_view(core_state *state, ts_nd *nd, PyObject *array); /* the same of a view of another array */
/* The same, of the class of another array, which it is made from: __array_finalize__. */
PyObject *numeric_wrap_like(core_state *state, ts_nd *nd, PyObject *base, PyObject *like);
/* The element `offset` bytes behind the first one, as NumPy's scalar. */
PyObject *numeric_scalar(core_state *state, ts_nd *nd, int64_t offset);
/* The same as a number of Python's, of elements that are numbers. */
PyObject *numeric_number(core_state *state, ts_nd *nd, int64_t offset);
/* What a call gives: an array, or the scalar of a result without axes. Takes the reference. */
PyObject *numeric_result(core_state *state, ts_nd *nd);
int numeric_dims_of(PyObject *object, uint32_t *rank, int64_t dims[TS_ND_RANK]);
/* Where new arrays lie, and where those of host memory do; NULL with exception. */
ts_nd_graph *numeric_graph(core_state *state);
ts_nd_graph *numeric_host(core_state *state);
/* A copy of an array in another graph. */
PyObject *numeric_move(core_state *state, PyObject *array, ts_nd_graph *graph);
PyObject *numeric_device_name(const ts_nd_graph *graph); /* "cpu", "cuda:0" */

/* numeric_memory.c */
/* The base of a view of an array that is of class `class`, borrowed: as NumPy's, the last of the bases that are of that
 * class; or of CuPy's, whose views go through arrays of our own. */
PyObject *numeric_base_of(core_state *state, PyObject *array, const PyTypeObject *class);
/* Whom what is told of the memory is for: for one look, after which it may move; for Numba's interface; NULL: all. */
enum { NUMERIC_IS_BRIEF = 1, NUMERIC_IS_CUDA };
#define NUMERIC_BRIEF ((void *)(uintptr_t)NUMERIC_IS_BRIEF)
#define NUMERIC_CUDA ((void *)(uintptr_t)NUMERIC_IS_CUDA)
PyObject *numeric_get_interface(PyObject *self, void *how);
PyObject *numeric_sizeof(PyObject *self, PyObject *unused);
PyObject *numeric_get_argument(PyObject *self, void *how);
/* Computes what is needed and gives the address of the first element; NULL with exception, or where there is no
 * element. `asks_again`: who asks may drop the exception and ask in another way. */
void *numeric_data(PyObject *self, bool lasting, bool asks_again);
PyObject *numeric_address(PyObject *self, PyObject *unused);
PyObject *numeric_shares(PyObject *self, PyObject *args);
int numeric_getbuffer(PyObject *self, Py_buffer *view, int flags);
void numeric_releasebuffer(PyObject *self, Py_buffer *view);

/* numeric_protocol.c */
/* Whether an object is one of the commonest, whose class no protocol is asked for. */
static inline bool numeric_is_common(const core_state *state, PyObject *x)
{
    const numeric_state *n = state->numeric;
    PyTypeObject *type = Py_TYPE(x);
    return type == n->array_class || type == &PyFloat_Type || type == &PyLong_Type || x == Py_None ||
           (PyObject *)type == n->scalar_types[TS_DTYPE_float64] || (PyObject *)type == n->scalar_types[TS_DTYPE_int64];
}
/* Whether a class of others answers a call with these among its arguments, or in lists of so many levels. */
bool numeric_is_answered(core_state *state, numeric_protocol which, PyObject *const *x, Py_ssize_t n, int depth);
static inline bool numeric_answered(core_state *state, numeric_protocol which, PyObject *const *x, Py_ssize_t n,
                                    int depth)
{
    Py_ssize_t i = 0;
    while (i < n && (numeric_is_common(state, x[i]) ||
                     (!depth && (PyTuple_CheckExact(x[i]) || PyBool_Check(x[i]) || PyList_CheckExact(x[i])))))
        i++;
    return i < n && numeric_is_answered(state, which, x + i, n - i, depth);
}
/* Whether the operator of x, ours, with y is left to y. */
bool numeric_defers(core_state *state, PyObject *x, PyObject *y, bool in_place);
/* Whether the class of an object says by __array_wrap__ what becomes of results, and in another way than ours. */
bool numeric_wraps(core_state *state, PyObject *x);
/* The arguments of a vector call as a tuple and a dict, new references. 0, or -1 with exception. */
int numeric_pack_call(PyObject *const *args, Py_ssize_t n, PyObject *names, PyObject **given, PyObject **named);
/* What they answer to a function of elements, or to a method of it; Ellipsis: nothing. */
PyObject *numeric_ask_ufunc(core_state *state, PyObject *function, const char *method, PyObject *const *args,
                            Py_ssize_t n, PyObject *names);
int numeric_protocol_setup(numeric_state *n); /* -1 with exception */

/* numeric_operator.c */
extern const PyType_Slot numeric_operators[]; /* up to one of slot 0 */

/* numeric_product.c */
/* x @ y of vectors, or small matrices, of one dtype of numbers; NULL without exception: they are none. `name`: of the
 * function in what is told of faults; NULL: nothing is. */
PyObject *numeric_product(core_state *state, PyObject *x, PyObject *y, const char *name);
/* einsum of two arrays where it is one of the commonest products; NULL without exception: it is another call. */
PyObject *numeric_einsum(core_state *state, PyObject *const *args, Py_ssize_t n);
int numeric_product_init(PyObject *module);

/* numeric_call.c */
/* An operand of a call; what had to be converted is kept in *held. 1; 0: it is none of ours; -1 with exception. */
int numeric_operand(core_state *state, PyObject *object, ts_nd_operand *out, PyObject **held);
/* The same of an array or number that needs no conversion; others are 0. */
int numeric_plain_operand(core_state *state, PyObject *object, ts_nd_operand *out);
/* The row of a function of elements; TS_ND_COUNT: it is none. */
ts_nd_fn numeric_fn_of(const core_state *state, PyObject *function);
/* fn(x, y), or the in-place form where `out` is an array. */
PyObject *numeric_call(core_state *state, ts_nd_fn fn, PyObject *const *x, PyObject *out);
enum { NUMERIC_PRIORITY = 1000 }; /* what classes inherit that name none (_ndarray.py) */
/* The rank of an object's class, __array_priority__: 0 of classes of ours that name none, as NumPy's. */
double numeric_priority(PyObject *object);
/* Of n objects the first with the highest __array_priority__ of those whose class derives from ndarray; NULL: none, or
 * one below 0 beside an array of no such class. */
PyObject *numeric_derived(core_state *state, PyObject *const *x, Py_ssize_t n);
/* What an operator gives that a class of others answers, or that is left to it (NotImplemented), by the name of its
 * function; NULL without exception: none does. */
PyObject *numeric_operator_answer(core_state *state, const char *name, PyObject *const *x, int n_in, PyObject *out);
int numeric_assign(core_state *state, ts_nd *out, PyObject *value); /* casts as NumPy's assignment does */
int numeric_call_init(PyObject *module, core_state *state);

/* numeric_half.c */
/* What casting= says: 0, or -1 with exception. */
int numeric_casting(PyObject *object, ts_nd_casting *out);
int numeric_half_init(PyObject *module);

/* numeric_faults.c */

/* Which faults of calls on a graph numpy.errstate and the filters of warnings want told of. */
typedef struct numeric_watch {
    uint32_t wants; /* TS_ND_DIVIDE .. */
    uint32_t warns; /* the same of casts of few elements, which are looked at on a GPU, too */
    bool is_strict; /* otherwise than by warnings */
    bool at_once;   /* by the call itself, which then does not wait */
} numeric_watch;
int numeric_watch_ask(core_state *state, ts_nd_graph *graph, numeric_watch *out); /* 0, or -1 with exception */
/* The same of a cast of so many elements of an array, or of a number (NULL). On a GPU few that are computed come to
 * host memory for it (near.c). */
int numeric_watch_cast(core_state *state, ts_nd_graph *graph, const ts_nd *x, int64_t count, numeric_watch *out);
/* Whether a finite number is beyond what a float dtype holds, or any beyond an integer's. */
bool numeric_outgrows(const ts_nd_operand *in, ts_dtype dtype);
/* The faults of a reduction of x that errstate wants told of otherwise than by warnings, or the filters of these at the
 * call, as bits; else 0; -1 with exception. */
int numeric_wanted(core_state *state, const ts_nd *x);
/* Calls from now on are watched so, until ts_nd_graph_strict(graph, false). */
void numeric_watch_begin(ts_nd_graph *graph, const numeric_watch *watch);
/* Tells of faults as numpy.errstate wants it: 0, or -1 with exception. */
int numeric_report(core_state *state, ts_nd_fn fn, uint32_t faults);
int numeric_report_named(core_state *state, const char *function, uint32_t faults);
/* Whether a dtype holds what elements of x become, so that a cast has no faults. */
static inline bool numeric_cast_is_safe(const ts_nd *x, ts_dtype dtype)
{
    return x->dtype == dtype || x->meaning || !x->dtype || !dtype ||
           (dtype != TS_DTYPE_float16 && !strchr("fc", ts_dtype_get((ts_dtype)x->dtype)->kind));
}
/* The same of a method of functions of elements, as reduce; where it fails the result is released. */
int numeric_report_fold(core_state *state, ts_nd *result, uint32_t faults, const char *method);
/* Tells of faults that kernels of a graph have found since: 0, or -1 with exception. `keeps`: of an array in host
 * memory, for one who may drop the exception, so those that are errors are told of again. */
int numeric_late(core_state *state, ts_nd_graph *graph, bool keeps);
/* Takes out of what kernels have told, inside of NUMERIC_BEGIN, that indices had no place: whoever reads finds it, so
 * it is counted alone, and threads that wait for such kernels look at their own indices where the count has moved. */
void numeric_told(numeric_state *n, uint8_t faults[TS_ND_COUNT]);
/* Whether faults of this thread's calls are kept for the function that makes them. */
bool numeric_collects(void);
/* From now on they are; false: they are already. */
bool numeric_collect(void);
/* Ends that, and tells of those of `faults` as of one call's: 0, or -1 with exception. */
int numeric_collected(core_state *state, const char *function, uint32_t faults);
int numeric_faults_init(PyObject *module);
/* Whether there may be some. */
static inline bool numeric_is_late(const core_state *state, const ts_nd_graph *graph)
{
    return ts_nd_graph_is_late(graph) || (state->numeric->late_kept && graph == state->numeric->graphs[0]);
}

/* numeric.c: computes all that waits and waits for the array's device; NULL: the current one. None, or NULL with
 * exception. */
PyObject *numeric_wait(core_state *state, PyObject *array);

/* numeric_routine.c */
/* What NumPy's function gives in place of one of ours that failed for a dtype of the host alone (_host.py); the
 * exception stays where it failed for another reason or NumPy has no such function. `by_operator`: as Python's. */
PyObject *numeric_by_numpy(core_state *state, PyObject *callable, PyObject *const *args, Py_ssize_t n, PyObject *names,
                           bool by_operator);
int numeric_routine_init(PyObject *module);
PyObject *numeric_ufunc_of_numpy(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);

/* numeric_doctor.c */
int numeric_doctor_init(PyObject *module);
void numeric_doctor_graph(const numeric_state *n, ts_nd_graph *graph); /* a new graph is watched as others are */
void numeric_doctor_end(core_state *state);

/* numeric_order.c: NULL without exception where the call is none for the loops of host memory */
PyObject *numeric_sorted(core_state *state, PyObject *const *args, Py_ssize_t n, PyObject *names,
                         bool places); /* array, axis */
PyObject *numeric_partitioned(core_state *state, PyObject *const *args, Py_ssize_t n, bool places); /* array, kth */
PyObject *numeric_different(core_state *state, PyObject *array);
PyObject *numeric_searched(core_state *state, PyObject *const *args, Py_ssize_t n); /* sorted, keys, side */
int numeric_order_init(PyObject *module);

/* numeric_walk.c: NULL without exception where the call is none for the loops of host memory. `which`: of the methods
 * of functions of elements; the first argument is the function. */
enum { NUMERIC_REDUCE, NUMERIC_ACCUMULATE, NUMERIC_REDUCEAT, NUMERIC_AT };
PyObject *numeric_walked(core_state *state, int which, PyObject *const *args, Py_ssize_t n);
int numeric_walk_init(PyObject *module);

/* numeric_flat.c */
int numeric_flat_init(PyObject *module);

/* numeric_bytes.c */
int numeric_bytes_init(PyObject *module);

/* numeric_view.c */
/* A function or method whose common calls, without keywords, need no Python: NULL without exception where a call is
 * another. `which`: of functions that share one. */
typedef struct numeric_way {
    const char *name; /* with a point: of a method */
    PyObject *(*call)(core_state *state, const struct numeric_way *way, PyObject *const *args, Py_ssize_t n);
    int which;
} numeric_way;
const numeric_way *numeric_way_of(const char *name, bool is_method);
/* A view of all of an array; NULL with exception. */
ts_nd *numeric_whole(core_state *state, PyObject *array);
/* a.view(), a.view(its class), a.view(ndarray); NULL without exception: another call. */
PyObject *numeric_viewed(core_state *state, PyObject *const *args, Py_ssize_t n);
/* a.real, a.imag (`which` 1): of complex numbers the part, of others a.real is a; NULL without exception: left to
 * Python. */
PyObject *numeric_part(core_state *state, PyObject *array, int which);

/* numeric_lend.c */
/* What calls on few elements of one routine are. */
typedef struct numeric_few {
    PyObject *routine, *function, *module; /* whose they are; borrowed from it */
    const numeric_few_row *row; /* NULL: never NumPy's */
    PyObject *theirs, *name;    /* NumPy's function, and its name for host_calls(); owned */
    bool is_known, of_functions; /* the first argument is a function of elements */
} numeric_few;
/* The call as NumPy computes it; NULL without exception: it is none of these. */
PyObject *numeric_few_call(core_state *state, numeric_few *few, PyObject *const *args, Py_ssize_t n, PyObject *names);
/* array[key], or array[key] = value (not NULL), which gives None, as NumPy does it, where the key names few elements;
 * NULL without exception: it is none of these. */
PyObject *numeric_few_indexed(core_state *state, PyObject *array, PyObject *key, PyObject *value);
int numeric_lend_setup(core_state *state); /* -1 with exception */
int numeric_lend_init(PyObject *module);

/* numeric_index.c */
/* a[key] = fn(a[key], value), in order, of arrays of places: 1 if that is done; 0: the key is another one, or there is
 * no loop for it; -1 with exception. */
int numeric_join_at(core_state *state, PyObject *self, PyObject *key, PyObject *value, ts_nd_fn fn);
/* a[places] of few rows, `places` of int64; NULL without exception: it is another kind of key. */
PyObject *numeric_taken(core_state *state, PyObject *self, PyObject *key);
PyObject *numeric_subscript(PyObject *self, PyObject *key);
int numeric_ass_subscript(PyObject *self, PyObject *key, PyObject *value);

#endif
