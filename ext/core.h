/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPython extension tessera._core: translation between Python objects and the C library, nothing
 * else. This header holds the module state and what its files share. Read next: kernel.c.
 */
#ifndef TS_EXT_CORE_H
#define TS_EXT_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "lock.h"
#include "tessera/array.h"
#include "tessera/compile.h"
#include "tessera/device.h"
#include "tessera/launch.h"

/* Kinds of argument objects, found once per Python type and remembered. */
typedef struct core_frame core_frame;
typedef struct core_state core_state;
typedef int core_take(core_state *state, core_frame *frame, PyObject *object, const void *extra);

typedef struct core_taker {
    PyTypeObject *type; /* owned */
    core_take *take;
    const void *extra; /* DLPack exchange table of the type; what cupy.c knows of it, owned; or NULL */
} core_taker;

#define CORE_TAKERS 64
#define CORE_SEEN 16

/* Kinds of objects that _live() counts. */
enum { CORE_LIVE_STREAM, CORE_LIVE_EVENT, CORE_LIVE_BUFFER, CORE_LIVE_POOL, CORE_LIVE_KERNEL, CORE_LIVE_KINDS };

/* Attributes and arguments that are asked for by name: CORE_NAME(member, "text") is core_state.name_<member>. */
#define CORE_NAMES(CORE_NAME)                                \
    CORE_NAME(array_interface, "__array_interface__")        \
    CORE_NAME(cpu_current, "tessera.core: cpu")              \
    CORE_NAME(cuda_array, "__cuda_array_interface__")        \
    CORE_NAME(cuda_stream, "cuda_stream")                    \
    CORE_NAME(cuda_stream_protocol, "__cuda_stream__")       \
    CORE_NAME(dataclass_fields, "__dataclass_fields__")      \
    CORE_NAME(deallocate, "deallocate")                      \
    CORE_NAME(dlpack, "__dlpack__")                          \
    CORE_NAME(dlpack_device, "__dlpack_device__")            \
    CORE_NAME(dtype, "dtype")                                \
    CORE_NAME(event_class, "_event_class")                   \
    CORE_NAME(fields, "_fields")                             \
    CORE_NAME(handle, "handle")                              \
    CORE_NAME(held, "__tessera_argument__")                  \
    CORE_NAME(held_slot, "_argument")                        \
    CORE_NAME(launched, "_launched")                         \
    CORE_NAME(name, "name")                                  \
    CORE_NAME(prepare, "_prepare")                           \
    CORE_NAME(ptr, "ptr")                                    \
    CORE_NAME(stream, "stream")

/* Constant tuples, as Py_BuildValue makes them: names of arguments by keyword, and the newest DLPack we read. */
#define CORE_TUPLES(CORE_TUPLE)                                        \
    CORE_TUPLE(dlpack_names, "(s)", "max_version")                     \
    CORE_TUPLE(dlpack_version, "(ii)", 1, 0)                           \
    CORE_TUPLE(stream_names, "(s)", "stream")                          \
    CORE_TUPLE(stream_version_names, "(ss)", "stream", "max_version")

/* Handles that a thread uses without the GIL: closed meanwhile, one ends when the last such thread is through. Where
 * there is no GIL, a closed one ends with its object instead (core_end). */
typedef struct core_use {
    struct core_use *next, **link; /* of the state's list; touched with the GIL */
    const void *handles[2]; /* NULL: none */
    void (*ends[2])(void *handle); /* NULL: not closed */
} core_use;

struct host_frame;
struct numeric_state;
struct core_state {
    PyObject *module; /* borrowed: whose state this is */
    PyObject *errors[32];  /* exception class of -status; owned */
    PyObject *dtypes[TS_DTYPE_COUNT]; /* tessera dtype objects; owned, filled on first use */
    bool has_seen_cache; /* ts_cache_problem was asked for, and warned of */
    PyTypeObject *array_type, *stream_type, *event_type, *kernel_type, *piece_type, *buffer_type, *pool_type,
        *native_type,
        *config_type, *evaluation_type, *thread_launch_type;
    int64_t live[CORE_LIVE_KINDS]; /* core_live */
    core_use *uses;
#define CORE_NAME(member, text) PyObject *name_##member;
    CORE_NAMES(CORE_NAME)
#undef CORE_NAME
#define CORE_TUPLE(member, ...) PyObject *member;
    CORE_TUPLES(CORE_TUPLE)
#undef CORE_TUPLE
    struct {
        PyObject *object; /* owned: a dtype object of another library */
        ts_dtype dtype;
    } seen[CORE_SEEN];
    int n_seen;
    struct numeric_state *numeric; /* numeric.h; NULL until the module is ready */
    PyObject *builders; /* address of a stream -> weak reference of the builder that records it */
    core_taker takers[CORE_TAKERS];
    int n_takers;
    struct { /* how launch() of tessera.core passes objects of a type */
        PyTypeObject *type; /* owned */
        int (*take)(struct host_frame *frame, PyObject *object);
    } launch_seen[CORE_TAKERS];
    int n_launch_seen;
    core_mutex lock; /* lists of this state that grow */
};

/* Everything one launch borrows while it runs: arguments in C form and what must be given back. */
#define CORE_DIMS 512
#define CORE_HOLDS 128
struct core_frame {
    size_t n;
    uint32_t n_dims, n_views, n_objects;
    bool has_constants;  /* some argument is a TS_SPEC_OBJECT, borrowed in `data` until core_take_constants */
    bool has_host_views; /* some argument is host memory lent through the buffer protocol */
    bool has_host_memory; /* some argument is host memory of another library: lent for the launch, which waits */
    const ts_kernel *kernel; /* whose arguments these are: core_take_constants follows; or NULL */
    ts_arg args[TS_LAUNCH_ARGS];
    int64_t dims[CORE_DIMS];
    Py_buffer views[CORE_HOLDS];
    PyObject *objects[CORE_HOLDS];
};

/* use.c. Py_BEGIN_ALLOW_THREADS for work on streams and events, of this module or any other. */
void core_use_begin(core_state *state, core_use *use, const void *one, const void *other);
void core_use_end(core_state *state, core_use *use);
/* Ends a handle that close() has taken from its object: now, or when it is not used any more, or (no GIL) when
 * core_end_kept is called with the same *kept by the end of the object. */
void core_end(core_state *state, void *handle, void (*end)(void *handle), void **kept);
void core_end_kept(void *kept, void (*end)(void *handle)); /* NULL: nothing */
static inline void core_live(core_state *state, int kind, int by)
{
#ifdef Py_GIL_DISABLED
    __atomic_fetch_add(&state->live[kind], by, __ATOMIC_RELAXED);
#else
    state->live[kind] += by;
#endif
}
#define CORE_BEGIN_USE(state, one, other) \
    { \
        core_use used; \
        core_use_begin(state, &used, one, other); \
        Py_BEGIN_ALLOW_THREADS
#define CORE_END_USE(state) \
        Py_END_ALLOW_THREADS \
        core_use_end(state, &used); \
    }

/* error.c: sets the Python exception of `err` and returns NULL. */
PyObject *core_raise(core_state *state, const ts_error *err);
PyObject *core_tuple(const int64_t *values, Py_ssize_t n); /* of ints; NULL with exception */
/* The text as a string of Python; frees it, which the default allocation gave. */
PyObject *core_text(char *text, size_t n);
int core_errors_init(core_state *state);

/* Arguments of a METH_FASTCALL | METH_KEYWORDS method by name; out[i] stays NULL where nothing is given. */
int core_named_args(const char *method, const char *const *known, Py_ssize_t n_known, PyObject *const *args,
                    Py_ssize_t n, PyObject *names, PyObject **out);

/* An address or handle: an int, or what has __index__. 0, or -1 with exception. */
int core_address_of(PyObject *object, uint64_t *out);

/* args.c */
void core_frame_init(core_frame *frame);
void core_frame_deinit(core_frame *frame);
ts_arg *core_frame_next(core_frame *frame);            /* zeroed; NULL with exception: too many */
int64_t *core_frame_dims(core_frame *frame, size_t n); /* room for shapes and strides */
/* Puts "kernel 'k', argument 'pair.x': " before the text of the exception that is set, where it is one of ours; `at` is
 * the place of the argument in the frame. */
void core_blame(const core_frame *frame, const ts_kernel *kernel, size_t at);
int core_frame_hold(core_frame *frame, PyObject *object); /* takes the reference; 0, or -1 with exception */
void core_taker_drop(core_taker *taker);
int core_read_number(ts_arg *arg, PyObject *object); /* an int or float; 0, or -1 with exception */
bool core_is_record(core_state *state, PyTypeObject *type); /* a dataclass or named tuple */
int core_take_object(core_state *state, core_frame *frame, PyObject *object); /* 0, or -1 with exception */
/* A tuple or list of arguments; `kernel` is named by messages. 0, or -1 with exception. */
int core_take_args(core_state *state, core_frame *frame, const ts_kernel *kernel, PyObject *args);
int core_take_vector(core_state *state, core_frame *frame, const ts_kernel *kernel, PyObject *const *args,
                     Py_ssize_t n);
ts_dtype core_dtype_named(const char *name); /* "float32", "f4" */
ts_dtype core_dtype_of_format(const char *format, Py_ssize_t itemsize);
int core_dtype_of(core_state *state, PyObject *object, ts_dtype *out); /* dtype object or name */
int core_dtypes_init(PyObject *module);
PyObject *core_dtype_object(core_state *state, ts_dtype dtype);        /* new reference */

/* cupy.c */
core_take core_take_cupy;
void *core_cupy_new(PyTypeObject *type); /* what reading arrays of this type needs; NULL: no memory */
void core_cupy_delete(void *extra);

/* foreign.c: an array of another library as it describes itself. `layout` points into `dims` of the caller, extents
 * and then strides; where the elements lie is not checked yet. */
typedef struct core_foreign {
    ts_layout layout; /* strides in bytes */
    ts_dtype dtype;
    uint16_t device;
    bool readonly;
} core_foreign;
int core_rank_check(Py_ssize_t rank);
int core_own_dtype(core_state *state, PyObject *object, ts_dtype *out); /* of its .dtype */
/* `dims` has room for twice view->ndim, which core_rank_check let through. dtype NONE: as format or object say. */
int core_foreign_of_view(core_state *state, PyObject *object, const Py_buffer *view, ts_dtype dtype, int64_t *dims,
                         core_foreign *out);
/* Of __array_interface__ or __cuda_array_interface__. */
int core_foreign_of_interface(core_state *state, PyObject *object, PyObject *dict, uint16_t device,
                              int64_t dims[2 * TS_ARRAY_RANK], core_foreign *out);
int core_foreign_arg(const core_foreign *foreign, int64_t *dims, ts_arg *out); /* strides become elements, in place */
int core_foreign_check(core_state *state, const core_foreign *foreign);        /* ts_layout_check */
/* What object.__dlpack__() gives: a versioned capsule, which alone can be read-only, where the exporter has one. */
PyObject *core_dlpack(core_state *state, PyObject *object);
/* A capsule that deletes a tensor nobody took, ts_dl_managed or ts_dl_managed_versioned; without a capsule it is
 * deleted at once. NULL with exception. */
PyObject *core_capsule_new(void *managed, bool is_versioned);

/* await.c: slots and methods of streams and events */
PyObject *core_await(PyObject *self);                             /* am_await of both */
PyObject *core_async_enter(PyObject *self, PyObject *unused);     /* METH_NOARGS, of streams */
PyObject *core_async_exit(PyObject *self, PyObject *raised);      /* METH_VARARGS */
int core_await_init(PyObject *module, core_state *state);
int core_graph_init(PyObject *module, core_state *state); /* graph.c */
/* stream.c, for await.c: the stream of a Stream object on the device where its work goes now, and the event of an
 * Event. NULL with exception: closed. */
const ts_stream *core_stream_now(PyObject *stream, ts_stream *room);
ts_event *core_event_get(PyObject *event);

/* The tensor of a capsule, borrowed; NULL with exception. */
const ts_dl_tensor *core_capsule(PyObject *capsule, bool *readonly);
/* 1: read through the C exchange table of the object's type, borrowed; 0: it has none; -1 with exception. */
int core_borrow(core_state *state, PyObject *object, ts_dl_tensor *out);

/* array.c, stream.c, kernel.c, tools.c: types and functions */
typedef struct core_array {
    PyObject_HEAD
    core_state *state;
    ts_array *array;
} core_array;
PyObject *core_array_wrap(core_state *state, ts_array *array); /* takes the reference */
int core_array_init(PyObject *module, core_state *state);
int core_stream_init(PyObject *module, core_state *state);
int core_kernel_init(PyObject *module, core_state *state);
int core_tools_init(PyObject *module, core_state *state);
int core_source_init(PyObject *module, core_state *state); /* source.c */
int core_tileir_init(PyObject *module, core_state *state);
int core_lib_init(PyObject *module, core_state *state); /* lib.c */
int core_compute_init(PyObject *module, core_state *state); /* compute.c */
int core_xla_init(PyObject *module, core_state *state); /* xla.c */
int core_report_init(PyObject *module, core_state *state);
int core_numbers_init(PyObject *module, core_state *state); /* numbers.c */
int core_view_init(PyObject *module, core_state *state);
enum { CORE_PARAMS = 2 * TS_LAUNCH_ARGS };
/* evaluate.c: a tessera._host.Host as the host of compilations. NULL or None: the kernel needs none. */
typedef struct core_evaluator {
    core_state *state;
    PyObject *host;
    bool takes_structs; /* its language has records of NumPy: such arrays are noted for core_take_constants */
} core_evaluator;
ts_host core_host_of(core_evaluator *evaluator); /* borrows */
int core_evaluate_init(PyObject *module, core_state *state);
/* records.c. Among the arguments from number `from` on, of one parameter, constants of Python get their numbers in the
 * kernel's pack, dataclasses and named tuples become their fields, arrays of records say what they hold. 0, or -1 with
 * exception. */
int core_take_constants(core_state *state, core_frame *frame, size_t from, const ts_kernel *kernel, size_t param);

/* What _prepare() of a Python kernel gives, in C form; borrows from that tuple. */
typedef struct core_prepared {
    ts_kernel_desc desc;
    core_evaluator evaluator;
    Py_buffer pack, id; /* empty where there is none */
    ts_param params[CORE_PARAMS]; /* the kernel's, then items of annotated tuples and lists */
    size_t n_params;
    ts_target_hints by_target[TS_LAUNCH_TARGETS];
} core_prepared;
int core_prepared_of(core_state *state, PyObject *tuple, core_prepared *out); /* 0, or -1 with exception */
void core_prepared_end(core_prepared *prepared);
ts_kernel *core_kernel_of(core_state *state, PyObject *object); /* prepared on first use; NULL with exception */
/* An argument for each parameter of a kernel that is prepared, from those by position and those by name (a mapping,
 * None or NULL): a new reference, `args` itself where none is missing. NULL with exception. */
PyObject *core_complete(PyObject *kernel, PyObject *args, PyObject *named);
/* What is known of a prepared Kernel object. */
typedef struct core_kernel_facts {
    Py_ssize_t n_whole;  /* with so many arguments or more, none is missing; 0 where IR says what it takes */
    bool packed;         /* written in Python, not IR */
    char hooked;         /* launches of kernel[grid, block] go to kernel._launch (threads.c) */
    char adds;           /* the kernel's _complete adds arguments: arrays that it names */
    char waits;          /* launches wait for the end of the kernel, whose exceptions they raise (threads.c) */
    bool has_warned;     /* of a grid too small for a GPU (threads.c) */
} core_kernel_facts;
core_kernel_facts *core_kernel_view(PyObject *kernel);
int core_threads_init(PyObject *module, core_state *state); /* threads.c */
/* Launches for replay.c. Plain: a ThreadLaunch that nobody listens to, of a kernel without hooks. */
enum core_launched { CORE_LAUNCH_FAILED = -1, CORE_LAUNCH_DONE, CORE_LAUNCH_OTHER };
bool core_threads_is_plain(core_state *state, PyObject *launch);
/* A plain launch with arguments that were read, while no graph is recorded. CORE_LAUNCH_OTHER: not made, its object
 * has to be called. Sets the exception of what fails. */
enum core_launched core_threads_launch(PyObject *launch, core_frame *frame);
int core_replay_init(PyObject *module); /* replay.c */
int core_fft_init(PyObject *module, core_state *state); /* fft.c */
int core_numeric_init(PyObject *module, core_state *state); /* numeric.c, with what follows */
int core_numeric_traverse(core_state *state, visitproc visit, void *arg);
void core_numeric_clear(core_state *state);
/* 0, or -1 with exception; `kernel` is named by messages. */
int core_grid_of(const ts_kernel *kernel, PyObject *object, int64_t grid[3]);
/* A stream from None, a tessera Stream, a foreign stream object or a raw handle. *out points at `room`
 * or at a Stream's own; NULL for None. */
int core_stream_of(core_state *state, PyObject *object, ts_stream *room, const ts_stream **out);
/* What memory remembers of a stream given by a user: of a graph builder, which may hold the memory, its stream. */
PyObject *core_order_of(core_state *state, PyObject *object);
/* The graph builder that records the stream of a handle; NULL without exception: none. Owns: the result. */
PyObject *core_recorder_of(core_state *state, uintptr_t native);
/* The stream of a handle was given work that uses n objects: if it is recorded, the graph keeps them. */
int core_note_uses(core_state *state, uintptr_t native, PyObject *const *objects, size_t n);
int core_device_of(core_state *state, PyObject *object, ts_device **out); /* "cpu", "cuda:1", None */
/* Waits with the GIL dropped, looking at signals; 0, or -1 with exception. */
int core_wait_stream(core_state *state, const ts_stream *stream);
/* The same to the end whatever happens: what an exception interrupts is cancelled and waited for. */
int core_finish_stream(core_state *state, const ts_stream *stream);
int core_wait_device(core_state *state, ts_device *device);

core_state *core_state_of_type(PyTypeObject *type);

/* PyObject_TypeCheck, but a class and what derives from it directly cost a comparison: the hot paths ask five times. */
static inline bool core_is(PyObject *object, PyTypeObject *type)
{
    PyTypeObject *own = Py_TYPE(object);
    return own == type || own->tp_base == type || PyType_IsSubtype(own, type);
}

#endif
