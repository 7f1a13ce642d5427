/* SPDX-License-Identifier: Apache-2.0
 *
 * The base of tessera.core.utils.StridedMemoryView: what another library's array is, read through DLPack without
 * copying, and given on through DLPack (capsules and the C exchange table). The Python half
 * (tessera/core/_memoryview.py) adds dtypes, layouts and the other protocols.
 */
#include "core.h"
#include <string.h>

enum { DL_CPU = 1, DL_CUDA = 2, DL_PINNED = 3, DL_MANAGED = 13, VIEW_RANK = 64 /* most axes */ };
#define VIEW_ROOM 8 /* extents and strides without an allocation: rank 4 */

typedef struct core_view {
    PyObject_HEAD
    void *data;
    ts_dl_device device;
    ts_dl_dtype dtype; /* bits == 0: not one of DLPack's; the Python half knows it */
    int32_t ndim;
    bool readonly, is_dense; /* is_dense: no strides were told, row-major ones are filled in */
    int64_t *dims;           /* extents, then strides in elements; `room` or allocated */
    int64_t room[VIEW_ROOM];
    PyObject *exporter, *keep, *dtype_object, *layout; /* owned, may be NULL */
} core_view;

#define VIEW(object) ((core_view *)(object))

static int view_traverse(PyObject *object, visitproc visit, void *arg)
{
    core_view *self = VIEW(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->exporter);
    Py_VISIT(self->keep);
    Py_VISIT(self->dtype_object);
    Py_VISIT(self->layout);
    return 0;
}

static int view_clear(PyObject *object)
{
    core_view *self = VIEW(object);
    Py_CLEAR(self->exporter);
    Py_CLEAR(self->keep);
    Py_CLEAR(self->dtype_object);
    Py_CLEAR(self->layout);
    return 0;
}

static void view_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    view_clear(object);
    if (VIEW(object)->dims != VIEW(object)->room)
        PyMem_Free(VIEW(object)->dims);
    type->tp_free(object);
    Py_DECREF(type);
}

/* ---- filling ---------------------------------------------------------------------------------------------- */

static int view_dims(core_view *self, int32_t ndim)
{
    self->ndim = ndim;
    self->dims = 2 * ndim <= VIEW_ROOM ? self->room : PyMem_Malloc(2 * (size_t)ndim * sizeof(int64_t));
    if (self->dims)
        return 0;
    PyErr_NoMemory();
    return -1;
}

/* Wraps only where there are no elements. */
static void view_row_major(core_view *self)
{
    uint64_t step = 1;
    for (int32_t d = self->ndim - 1; d >= 0; d--) {
        self->dims[self->ndim + d] = (int64_t)step;
        step *= (uint64_t)self->dims[d];
    }
}

static core_view *view_new(PyObject *type)
{
    core_view *self = (core_view *)((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, 0);
    if (self)
        self->dims = self->room;
    return self;
}

/* Takes a tensor over, if its elements lie where they may: the one way to fill a view. */
static int view_fill(core_state *state, core_view *self, const ts_dl_tensor *tensor)
{
    ts_error err;
    if (ts_dl_check(tensor, VIEW_RANK, &err) != TS_OK) {
        core_raise(state, &err);
        return -1;
    }
    if (view_dims(self, tensor->ndim) < 0)
        return -1;
    size_t bytes = (size_t)tensor->ndim * sizeof(int64_t);
    if (bytes)
        memcpy(self->dims, tensor->shape, bytes);
    self->is_dense = !tensor->strides;
    if (self->is_dense)
        view_row_major(self);
    else if (bytes)
        memcpy(self->dims + tensor->ndim, tensor->strides, bytes);
    self->data = tensor->data ? (void *)((uintptr_t)tensor->data + tensor->byte_offset) : NULL;
    self->device = tensor->device;
    self->dtype = tensor->dtype;
    return 0;
}

/* ---- reading DLPack --------------------------------------------------------------------------------------- */

static bool view_knows_device(long type)
{
    return type == DL_CPU || type == DL_CUDA || type == DL_PINNED || type == DL_MANAGED;
}

/* The device type of an object, asked for before its capsule; -1 with exception. */
static long view_device_of(core_state *state, PyObject *object)
{
    PyObject *pair = PyObject_CallMethodNoArgs(object, state->name_dlpack_device);
    long type = -1;
    if (pair && PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2)
        type = PyLong_AsLong(PyTuple_GET_ITEM(pair, 0)); /* 2^32 + 1 is not 1 */
    Py_XDECREF(pair);
    if (PyErr_Occurred())
        return -1;
    if (view_knows_device(type))
        return type;
    PyErr_Format(PyExc_BufferError, "device not supported: DLPack device type %ld is neither CPU nor CUDA", type);
    return -1;
}

/* A capsule ordered after the producer's work by `stream` (an int; 0 is the legacy default stream, 1 in DLPack). */
static PyObject *view_capsule_of(core_state *state, PyObject *object, bool on_host, PyObject *stream)
{
    if (on_host)
        return core_dlpack(state, object);
    PyObject *one = PyObject_IsTrue(stream) ? Py_NewRef(stream) : PyLong_FromLong(1);
    PyObject *args[] = {object, one, state->dlpack_version};
    PyObject *capsule = PyObject_VectorcallMethod(state->name_dlpack, args, 1, state->stream_version_names);
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear(); /* from before max_version */
        capsule = PyObject_VectorcallMethod(state->name_dlpack, args, 1, state->stream_names);
    }
    Py_XDECREF(one);
    return capsule;
}

static int view_take_capsule(core_state *state, core_view *self, PyObject *capsule)
{
    bool readonly;
    const ts_dl_tensor *tensor = core_capsule(capsule, &readonly);
    if (!tensor)
        return -1;
    self->readonly = readonly;
    self->keep = Py_NewRef(capsule);
    return view_fill(state, self, tensor);
}

/* What the address of a stream was given as (an int, a handle of the driver's) as an int; None stays None. */
static PyObject *view_stream(PyObject *stream)
{
    return stream == Py_None ? Py_NewRef(stream) : PyNumber_Long(stream);
}

static int view_read(core_state *state, core_view *self, PyObject *object, PyObject *stream)
{
    ts_dl_tensor tensor;
    bool is_unordered = PyLong_Check(stream) && PyLong_AsLong(stream) == -1;
    if (PyErr_Occurred())
        PyErr_Clear(); /* an address beyond a long is a stream */
    int borrowed = is_unordered ? core_borrow(state, object, &tensor) : 0;
    if (borrowed)
        return borrowed < 0 ? -1 : view_fill(state, self, &tensor);
    long type = view_device_of(state, object);
    if (type < 0)
        return -1;
    if (stream == Py_None) {
        PyErr_SetString(PyExc_BufferError, "stream=None is ambiguous: pass a stream's address, or -1 for no ordering");
        return -1;
    }
    PyObject *capsule = view_capsule_of(state, object, type == DL_CPU, stream);
    int got = capsule ? view_take_capsule(state, self, capsule) : -1;
    Py_XDECREF(capsule);
    return got;
}

static PyObject *view_make(PyObject *type, PyObject *object, PyObject *stream)
{
    core_view *self = view_new(type);
    if (!self)
        return NULL;
    self->exporter = Py_NewRef(object);
    PyObject *number = view_stream(stream);
    int got = number ? view_read(core_state_of_type((PyTypeObject *)type), self, object, number) : -1;
    Py_XDECREF(number);
    if (got == 0)
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

/* (object, stream_ptr=None), by position or keyword. */
static int view_parse(PyObject *const *args, Py_ssize_t n, PyObject *names, PyObject *out[2])
{
    Py_ssize_t n_names = names ? PyTuple_GET_SIZE(names) : 0;
    out[0] = n > 0 ? args[0] : NULL;
    out[1] = n > 1 ? args[1] : NULL;
    for (Py_ssize_t i = 0; i < n_names; i++) {
        const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
        int at = !name ? -1 : strcmp(name, "obj") == 0 ? 0 : strcmp(name, "stream_ptr") == 0 ? 1 : -1;
        if (at < 0 || out[at])
            n = 3;
        else
            out[at] = args[n + i];
    }
    if (n > 2 || !out[0]) {
        PyErr_SetString(PyExc_TypeError, "a view takes (obj, stream_ptr): an array and the address of a stream, or -1");
        return -1;
    }
    out[1] = out[1] ? out[1] : Py_None;
    return 0;
}

static PyObject *view_from_dlpack(PyObject *type, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    PyObject *given[2];
    return view_parse(args, n, names, given) < 0 ? NULL : view_make(type, given[0], given[1]);
}

static PyObject *view_from_any(PyObject *type, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    PyObject *given[2];
    if (view_parse(args, n, names, given) < 0)
        return NULL;
    core_state *state = core_state_of_type((PyTypeObject *)type);
    if (PyObject_HasAttr((PyObject *)Py_TYPE(given[0]), state->name_dlpack))
        return view_make(type, given[0], given[1]);
    return PyObject_CallMethod(type, "_from_interface", "OO", given[0], given[1]);
}

/* ---- made by Python ----------------------------------------------------------------------------------------- */

static int view_numbers(PyObject *tuple, int64_t *out)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++)
        out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
    return PyErr_Occurred() ? -1 : 0;
}

/* _make(ptr, shape, strides | None, (code, bits, lanes), (device type, id), readonly, exporter, keep, dtype) */
static PyObject *view_of_parts(PyObject *type, PyObject *args)
{
    PyObject *shape, *strides, *exporter, *keep, *dtype;
    unsigned long long pointer;
    int code, bits, lanes, device, id, readonly;
    if (!PyArg_ParseTuple(args, "KO!O(iii)(ii)pOOO:_make", &pointer, &PyTuple_Type, &shape, &strides, &code, &bits,
                          &lanes, &device, &id, &readonly, &exporter, &keep, &dtype))
        return NULL;
    core_state *state = core_state_of_type((PyTypeObject *)type);
    int64_t dims[2 * VIEW_RANK];
    Py_ssize_t ndim = PyTuple_GET_SIZE(shape);
    bool is_dense = strides == Py_None;
    if (ndim > VIEW_RANK)
        return PyErr_Format(PyExc_ValueError, "the array has %zd dimensions; the limit is %d", ndim, VIEW_RANK);
    if (!is_dense && (!PyTuple_Check(strides) || PyTuple_GET_SIZE(strides) != ndim))
        return PyErr_Format(PyExc_ValueError, "strides must be a tuple of %zd numbers, or None", ndim);
    if (view_numbers(shape, dims) < 0 || (!is_dense && view_numbers(strides, dims + ndim) < 0))
        return NULL;
    ts_dl_tensor tensor = {.data = (void *)(uintptr_t)pointer, .device = {device, id}, .ndim = (int32_t)ndim,
                           .dtype = {(uint8_t)code, (uint8_t)bits, (uint16_t)lanes}, .shape = dims,
                           .strides = is_dense ? NULL : dims + ndim};
    core_view *self = view_new(type);
    if (!self)
        return NULL;
    self->readonly = readonly;
    self->exporter = Py_NewRef(exporter);
    self->keep = Py_NewRef(keep);
    self->dtype_object = Py_NewRef(dtype);
    if (view_fill(state, self, &tensor) == 0)
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

/* ---- giving on ------------------------------------------------------------------------------------------------ */

typedef struct view_export {
    union {
        ts_dl_managed plain;
        ts_dl_managed_versioned versioned;
    } managed;
    PyObject *view; /* owned */
} view_export;

static void view_export_end(void *context)
{
    view_export *export = context;
    if (!Py_IsInitialized())
        return; /* the consumer outlives the interpreter: the view cannot be let go any more */
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF(export->view);
    PyMem_RawFree(export);
    PyGILState_Release(gil);
}
static void view_delete(ts_dl_managed *self)
{
    view_export_end(self->context);
}
static void view_delete_versioned(ts_dl_managed_versioned *self)
{
    view_export_end(self->context);
}

/* DLPack knows one CPU: 0. The ordinal here is only shown (view_get_device_id). */
static ts_dl_device view_device(const core_view *self)
{
    return (ts_dl_device){self->device.type, self->device.type == DL_CPU ? 0 : self->device.id};
}

static ts_dl_tensor view_tensor(const core_view *self)
{
    return (ts_dl_tensor){.data = self->data, .device = view_device(self), .ndim = self->ndim, .dtype = self->dtype,
                          .shape = self->dims, .strides = self->dims + self->ndim};
}

/* The Python half says why a dtype cannot be given on. */
static int view_check_dtype(PyObject *self)
{
    if (VIEW(self)->dtype.bits)
        return 0;
    Py_XDECREF(PyObject_CallMethod(self, "_refuse_export", NULL));
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_BufferError, "this view has no dtype that DLPack knows");
    return -1;
}

static view_export *view_export_new(PyObject *self, bool is_versioned)
{
    view_export *export = view_check_dtype(self) < 0 ? NULL : PyMem_RawCalloc(1, sizeof *export);
    if (!export) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return NULL;
    }
    export->view = Py_NewRef(self);
    if (is_versioned)
        export->managed.versioned = (ts_dl_managed_versioned){.major = 1, .context = export,
                                                              .deleter = view_delete_versioned,
                                                              .flags = VIEW(self)->readonly ? TS_DL_READONLY : 0,
                                                              .tensor = view_tensor(VIEW(self))};
    else
        export->managed.plain = (ts_dl_managed){view_tensor(VIEW(self)), export, view_delete};
    return export;
}

static PyObject *view_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)unused;
    ts_dl_device device = view_device(VIEW(self));
    return Py_BuildValue("(ii)", device.type, device.id);
}

/* BufferError for a wish to have the memory elsewhere. */
static int view_stays(PyObject *self, PyObject *wanted)
{
    if (wanted == Py_None)
        return 0;
    PyObject *own = view_dlpack_device(self, NULL);
    int same = own ? PyObject_RichCompareBool(own, wanted, Py_EQ) : -1;
    Py_XDECREF(own);
    if (same == 0)
        PyErr_Format(PyExc_BufferError,
                     "a view does not move: dl_device other than None or its own is not supported, got %R", wanted);
    return same == 1 ? 0 : -1;
}

static PyObject *view_dlpack(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &version, &device, &copy))
        return NULL;
    bool has_version = PyTuple_Check(version) && PyTuple_GET_SIZE(version) == 2;
    if (version != Py_None && !has_version)
        return PyErr_Format(PyExc_BufferError, "Expected max_version (major, minor) or None, got %R", version);
    if (view_stays(self, device) < 0)
        return NULL;
    bool is_versioned = has_version && PyLong_AsLong(PyTuple_GET_ITEM(version, 0)) >= 1;
    if (!PyErr_Occurred() && copy == Py_True)
        PyErr_SetString(PyExc_BufferError, "a view makes no copies: copy=True is not supported");
    if (!PyErr_Occurred() && VIEW(self)->readonly && !is_versioned)
        PyErr_SetString(PyExc_BufferError, "a read-only view needs DLPack 1.0: pass max_version=(1, 0)");
    view_export *export = PyErr_Occurred() ? NULL : view_export_new(self, is_versioned);
    return export ? core_capsule_new(export, is_versioned) : NULL;
}

/* ---- the C exchange table (DLPack 1.3) ------------------------------------------------------------------------- */

static bool view_is(PyObject *object)
{
    for (PyTypeObject *type = Py_TYPE(object); type; type = type->tp_base)
        if (type->tp_dealloc == view_dealloc)
            return true;
    PyErr_Format(PyExc_TypeError, "must be a StridedMemoryView, not %.100s", Py_TYPE(object)->tp_name);
    return false;
}

static int exchange_allocate(void *prototype, void **out, void *context, void *set_error)
{
    (void)prototype, (void)context, (void)set_error;
    *out = NULL;
    PyErr_SetString(PyExc_NotImplementedError, "allocation is not supported: a view owns no memory");
    return -1;
}

static int exchange_from_object(void *object, void **out)
{
    *out = view_is(object) ? view_export_new(object, true) : NULL;
    return *out ? 0 : -1;
}

static int exchange_to_object(void *tensor, void **out)
{
    *out = NULL;
    if (!tensor) {
        PyErr_SetString(PyExc_RuntimeError, "tensor cannot be NULL");
        return -1;
    }
    PyObject *module = PyImport_ImportModule("tessera.core._memoryview");
    PyObject *type = module ? PyObject_GetAttrString(module, "StridedMemoryView") : NULL;
    PyObject *capsule = type ? core_capsule_new(tensor, true) : NULL;
    core_view *self = capsule ? view_new(type) : NULL;
    if (self && view_take_capsule(core_state_of_type((PyTypeObject *)type), self, capsule) < 0)
        Py_CLEAR(self);
    if (self)
        self->exporter = Py_NewRef(capsule);
    Py_XDECREF(capsule);
    Py_XDECREF(type);
    Py_XDECREF(module);
    *out = self;
    return self ? 0 : -1;
}

static int exchange_borrow(void *object, ts_dl_tensor *out)
{
    if (!view_is(object) || view_check_dtype(object) < 0)
        return -1;
    *out = view_tensor(VIEW(object));
    return 0;
}

static int exchange_stream(int32_t type, int32_t id, void **out)
{
    (void)type, (void)id;
    *out = NULL;
    return 0;
}

static const struct {
    uint32_t major, minor;
    const void *previous;
    int (*allocate)(void *, void **, void *, void *);
    int (*from_object)(void *, void **);
    int (*to_object)(void *, void **);
    int (*borrow)(void *, ts_dl_tensor *);
    int (*current_stream)(int32_t, int32_t, void **);
} view_exchange = {1, 3, NULL, exchange_allocate, exchange_from_object, exchange_to_object, exchange_borrow,
                   exchange_stream};

/* ---- attributes --------------------------------------------------------------------------------------------- */

static PyObject *view_get_ptr(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(VIEW(self)->data);
}
static PyObject *view_get_shape(PyObject *self, void *unused)
{
    (void)unused;
    return core_tuple(VIEW(self)->dims, VIEW(self)->ndim);
}
static PyObject *view_get_strides(PyObject *self, void *unused)
{
    (void)unused;
    return VIEW(self)->is_dense ? Py_NewRef(Py_None)
                                : core_tuple(VIEW(self)->dims + VIEW(self)->ndim, VIEW(self)->ndim);
}
static PyObject *view_get_size(PyObject *self, void *unused)
{
    (void)unused;
    uint64_t size = 1; /* wraps only beside an extent of 0 */
    for (int32_t d = 0; d < VIEW(self)->ndim; d++)
        size *= (uint64_t)VIEW(self)->dims[d];
    return PyLong_FromUnsignedLongLong(size);
}
static PyObject *view_get_device_id(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(VIEW(self)->device.type == DL_CPU ? VIEW(self)->device.id - 1 : VIEW(self)->device.id);
}
static PyObject *view_get_accessible(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(VIEW(self)->device.type != DL_CPU);
}
static PyObject *view_get_readonly(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(VIEW(self)->readonly);
}
static PyObject *view_get_dl_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return Py_BuildValue("(iii)", VIEW(self)->dtype.code, VIEW(self)->dtype.bits, VIEW(self)->dtype.lanes);
}

/* An owned object by the offset of its member. */
static PyObject *view_get_object(PyObject *self, void *offset)
{
    PyObject *object = core_part(self, (PyObject **)((char *)self + (uintptr_t)offset));
    return object ? object : Py_NewRef(Py_None);
}
static int view_set_object(PyObject *self, PyObject *value, void *offset)
{
    core_part_set(self, (PyObject **)((char *)self + (uintptr_t)offset), Py_XNewRef(value));
    return 0;
}
#define OBJECT(member) (void *)offsetof(core_view, member)

static PyGetSetDef view_getset[] = {
    {"ptr", view_get_ptr, NULL, "Address of the first element.", NULL},
    {"shape", view_get_shape, NULL, "Extents.", NULL},
    {"strides", view_get_strides, NULL, "Steps in elements; None where the array is row-major and said so.", NULL},
    {"size", view_get_size, NULL, "Number of elements.", NULL},
    {"device_id", view_get_device_id, NULL, "Ordinal of the GPU; -1 for host memory.", NULL},
    {"is_device_accessible", view_get_accessible, NULL, "Whether kernels can read it.", NULL},
    {"readonly", view_get_readonly, NULL, "Whether it must not be written.", NULL},
    {"exporting_obj", view_get_object, NULL, "The array that is viewed.", OBJECT(exporter)},
    {"_keep", view_get_object, NULL, "What keeps the memory alive besides.", OBJECT(keep)},
    {"_dtype", view_get_object, view_set_object, "The NumPy dtype, once it was asked for.", OBJECT(dtype_object)},
    {"_layout_", view_get_object, view_set_object, "The layout, once it was asked for.", OBJECT(layout)},
    {"_dl_dtype", view_get_dl_dtype, NULL, "(code, bits, lanes) of DLPack; bits is 0 where it has none.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define FAST(function) (PyCFunction)(void (*)(void))(function)
static PyMethodDef view_methods[] = {
    {"from_dlpack", FAST(view_from_dlpack), METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
     "from_dlpack(obj, stream_ptr=None)\n--\n\nA view of an object with __dlpack__, ordered by the stream of that "
     "address; -1: not ordered."},
    {"from_any_interface", FAST(view_from_any), METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
     "from_any_interface(obj, stream_ptr=None)\n--\n\nA view through DLPack, else through "
     "__cuda_array_interface__."},
    {"_make", view_of_parts, METH_VARARGS | METH_CLASS, "A view of its parts."},
    {"__dlpack__", FAST(view_dlpack), METH_VARARGS | METH_KEYWORDS,
     "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nA DLPack capsule of the same "
     "memory."},
    {"__dlpack_device__", view_dlpack_device, METH_NOARGS, "(device type, ordinal) in DLPack's numbers."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot view_slots[] = {
    {Py_tp_doc, "A strided view of memory; see tessera.core.utils.StridedMemoryView."},
    {Py_tp_dealloc, view_dealloc},
    {Py_tp_traverse, view_traverse},
    {Py_tp_clear, view_clear},
    {Py_tp_methods, view_methods},
    {Py_tp_getset, view_getset},
    {0, NULL},
};
static PyType_Spec view_spec = {"tessera._core.MemoryView", sizeof(core_view), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                                    Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                view_slots};

int core_view_init(PyObject *module, core_state *state)
{
    (void)state;
    PyObject *type = PyType_FromModuleAndSpec(module, &view_spec, NULL);
    PyObject *table = PyCapsule_New((void *)(uintptr_t)&view_exchange, "dlpack_exchange_api", NULL);
    int failed = !type || !table ||
                 PyModule_AddObjectRef(module, "MemoryView", type) < 0 ||
                 PyModule_AddObjectRef(module, "view_exchange", table) < 0;
    Py_XDECREF(type);
    Py_XDECREF(table);
    return failed ? -1 : 0;
}
