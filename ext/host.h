/* SPDX-License-Identifier: Apache-2.0
 *
 * The host objects in C: what stream.c, event.c, pool.c, buffer.c, native.c and host_launch.c share. Their
 * Python half is tessera.core. All of them: made by factories that skip __init__; `closed` is said by a NULL or
 * zero handle, and every call on a closed object raises RuntimeError.
 */
#ifndef TS_EXT_HOST_H
#define TS_EXT_HOST_H

#include "core.h"
#include "tessera/native.h"

typedef struct core_stream {
    PyObject_HEAD
    core_state *state;
    ts_stream *stream;  /* NULL: closed */
    bool owned;         /* destroyed with the object; else `borrowed` is it */
    ts_stream borrowed; /* device NULL: the default stream of whatever device is current */
    void *ended;        /* a closed stream that ends with the object; see core_end */
    PyObject *owner;    /* what keeps a borrowed handle alive, or NULL */
    PyObject *weakrefs;
} core_stream;

typedef struct core_event {
    PyObject_HEAD
    core_state *state;
    ts_device *device;
    ts_event *event;    /* NULL: closed */
    void *ended;        /* a closed event that ends with the object; see core_end */
    PyObject *owner;    /* the context object of the stream that it was made for, or NULL */
    PyObject *weakrefs;
} core_event;

typedef enum core_access {
    CORE_DEVICE_ACCESS = 1,
    CORE_HOST_ACCESS = 2,
    CORE_MANAGED = 4,
    CORE_MAPPED = 8,       /* another process owns it */
    CORE_ACCESS_KNOWN = 16 /* unset: ask the driver about the address */
} core_access;

/* A stream-ordered pool: of the driver, or (pool 0) the memory of a CPU device. */
typedef struct core_pool {
    PyObject_HEAD
    core_state *state;
    ts_device *device;     /* NULL: closed */
    uintptr_t pool;
    int32_t device_id;     /* of its buffers; -1: the host */
    uint32_t access;       /* of its buffers */
    PyTypeObject *buffers; /* class of its buffers; owned */
    PyObject *weakrefs;
} core_pool;

typedef enum core_release {
    CORE_RELEASE_NOTHING, /* an owner, or nobody, keeps the memory */
    CORE_RELEASE_POOL,    /* ts_pool_free */
    CORE_RELEASE_MEMORY,  /* ts_mem_free */
    CORE_RELEASE_PYTHON   /* resource.deallocate(address, size, stream=stream) */
} core_release;

#define CORE_BUFFER_CLOSED 0x80000000u
typedef struct core_buffer {
    PyObject_HEAD
    core_state *state;
    ts_device *device;     /* NULL: host memory, or not known yet */
    uint64_t address, bytes;
    int32_t device_id;
    uint32_t access, epoch;
    uint8_t release;       /* core_release */
    uint32_t lent;         /* how often, through __buffer__ and __dlpack__; with CORE_BUFFER_CLOSED once closed. The
                            * memory outlives close() until the last lender ends */
    PyObject *resource, *owner, *stream; /* each may be NULL; stream: whose order freeing follows. core_part */
    PyObject *weakrefs;
} core_buffer;

/* A kernel of the driver: CUkernel or CUfunction. Base of tessera.core.Kernel. */
typedef struct core_native {
    PyObject_HEAD
    core_state *state;
    ts_device *device;     /* NULL: whatever device it is launched on */
    ts_native_kernel code; /* the CUfunction is of `code_device` */
    ts_device *code_device;
    bool is_function;
    int32_t n_params;      /* -1: not asked yet, -2: the driver cannot tell */
    uint32_t *offsets;     /* n_params pairs of (offset, bytes) */
    PyObject *owner, *name; /* what keeps the code loaded; name for messages, a str */
    PyObject *weakrefs;
} core_native;

enum { CORE_ATTR_BYTES = 72 }; /* of a CUlaunchAttribute */

/* The packed half of tessera.core.LaunchConfig. */
typedef struct core_config {
    PyObject_HEAD
    ts_native_config native;
    PyObject *attrs;       /* bytes behind native.attrs, or NULL */
    bool cooperative;      /* ask self._check(kernel, device) before a launch */
} core_config;

/* Host objects keep the module, whose state they use while they end: at exit the interpreter takes modules down
 * before objects that thread-locals or cycles keep alive. */
static inline core_state *core_hold(core_state *state)
{
    Py_INCREF(state->module);
    return state;
}

/* Reports an exception that cannot be raised, also from a tp_dealloc: an object without references would be given a
 * new one, and be deallocated a second time when that ends. */
static inline void core_unraisable(PyObject *self)
{
    PyErr_WriteUnraisable(Py_REFCNT(self) > 0 ? self : (PyObject *)Py_TYPE(self));
}

/* The end of a tp_dealloc. */
static inline void core_free(PyObject *self, PyObject *module)
{
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
    Py_DECREF(module);
}

/* stream.c */
/* The stream of an object for work on `device` (NULL: any; then *device becomes the stream's). The default-stream
 * tokens, foreign streams and None get their device here. *out points at `room` or into the object. */
int core_stream_for(core_state *state, PyObject *object, ts_device **device, ts_stream *room, const ts_stream **out);
int core_current_device(core_state *state, ts_device **out);
int core_device_from(core_state *state, PyObject *object, ts_device **out); /* also an integer id or a Device */
PyObject *core_device_number(const ts_device *device); /* (kind << 8 | ordinal) as an int */
typedef ts_status core_waiter(void *what, int64_t limit_ns, ts_error *err);
int core_wait(core_state *state, ts_device *device, core_waiter *wait, void *what); /* GIL dropped; signals seen */

/* event.c */
/* Of `stream`'s context where one is given, and `recorded` on it. */
PyObject *core_event_new(core_state *state, PyTypeObject *type, ts_device *device, const ts_stream *stream,
                         uint32_t flags, bool recorded);
int core_event_wait(core_state *state, ts_device *device, ts_event *event);
int core_event_init(PyObject *module, core_state *state);

/* buffer.c */
core_buffer *core_buffer_new(core_state *state, PyTypeObject *type); /* empty; fields are the caller's to fill */
/* The address, or -1 with exception: closed, lost in a reset, not readable there. */
int core_buffer_address(const core_buffer *buffer, uint64_t *out);
int core_buffer_init(PyObject *module, core_state *state);
int core_pool_init(PyObject *module, core_state *state);
int core_native_params(core_native *kernel, ts_device *device); /* reads the table once; 0, or -1 with exception */
int core_native_device(core_native *kernel, ts_device **out); /* its own, or the current one */
/* The config as it is now, and a new reference of what its attributes lie in, or NULL. */
PyObject *core_config_get(core_config *config, ts_native_config *out, bool *cooperative);
int core_native_init(PyObject *module, core_state *state);
int core_host_launch_init(PyObject *module, core_state *state);

/* kernel.c */
enum { CORE_LAUNCH_KEPT = 1 << 16 }; /* beside the flags of ts_launch: the caller keeps host memory until the end */
PyObject *core_launch_tile(core_state *state, PyObject *order, const int64_t grid[3], PyObject *kernel,
                           PyObject *const *args, Py_ssize_t n);

#endif
