/* SPDX-License-Identifier: Apache-2.0
 *
 * NativeKernel: a kernel of the driver by handle, with its table of parameters, asked for once. Base of
 * tessera.core.Kernel; host_launch.c launches it. Also LaunchConfig's packed half.
 */
#include "host.h"
#include <structmember.h>

enum { NATIVE_UNKNOWN = -1, NATIVE_UNTOLD = -2 };

/* ---- the table of parameters ---------------------------------------------------------------------------*/

/* The driver may load the code now, and wait for the device to do so. */
static ts_status native_ask(core_native *self, ts_device *device, size_t index, size_t *offset, size_t *bytes,
                            ts_error *err)
{
    ts_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = ts_native_param(device, self->code.handle, self->is_function, index, offset, bytes, err);
    Py_END_ALLOW_THREADS;
    return status;
}

static int native_grow(uint32_t **rows, size_t n)
{
    uint32_t *room = PyMem_Realloc(*rows, 2 * n * sizeof *room);
    if (!room) {
        PyMem_Free(*rows);
        PyErr_NoMemory();
        return -1;
    }
    *rows = room;
    return 0;
}

/* 0 where there is none: then the handle serves. */
static uintptr_t native_find_function(const core_native *self, ts_device *device)
{
    uintptr_t function = 0;
    Py_BEGIN_ALLOW_THREADS;
    if (!self->is_function && ts_native_function(device, self->code.handle, &function, NULL) != TS_OK)
        function = 0;
    Py_END_ALLOW_THREADS;
    return function;
}

int core_native_params(core_native *self, ts_device *device)
{
    size_t n = 0, offset, bytes;
    ts_error err;
    ts_status status;
    uint32_t *rows = NULL;
    if (CORE_GET(self->n_params) != NATIVE_UNKNOWN)
        return 0;
    while ((status = native_ask(self, device, n, &offset, &bytes, &err)) == TS_OK) {
        if (n % 16 == 0 && native_grow(&rows, n + 16) < 0)
            return -1;
        rows[2 * n] = (uint32_t)offset;
        rows[2 * n + 1] = (uint32_t)bytes;
        n++;
    }
    if (status != TS_NOTFOUND && status != TS_UNSUPPORTED) {
        PyMem_Free(rows);
        core_raise(self->state, &err);
        return -1;
    }
    uintptr_t function = native_find_function(self, device);
    CORE_LOCK(&self->state->lock);
    bool is_first = CORE_GET(self->n_params) == NATIVE_UNKNOWN; /* else another thread was faster */
    if (is_first) {
        self->offsets = rows;
        self->code.function = function;
        self->code_device = device;
        CORE_SET(self->n_params, status == TS_UNSUPPORTED ? NATIVE_UNTOLD : (int32_t)n); /* the others are there */
    }
    CORE_UNLOCK(&self->state->lock);
    if (!is_first)
        PyMem_Free(rows);
    return 0;
}

int core_native_device(core_native *self, ts_device **out)
{
    *out = self->device;
    return self->device ? 0 : core_current_device(self->state, out);
}

/* [(offset, bytes), ...], or None where the driver cannot tell. */
static PyObject *native_table(PyObject *object, PyObject *unused)
{
    (void)unused;
    core_native *self = (core_native *)object;
    ts_device *device;
    if (core_native_device(self, &device) < 0 || core_native_params(self, device) < 0)
        return NULL;
    if (self->n_params < 0)
        Py_RETURN_NONE;
    PyObject *list = PyList_New(self->n_params);
    for (int32_t i = 0; list && i < self->n_params; i++) {
        PyObject *pair = Py_BuildValue("(II)", self->offsets[2 * i], self->offsets[2 * i + 1]);
        if (!pair)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, pair);
    }
    return list;
}

/* ---- life -------------------------------------------------------------------------------------------*/

/* For subclasses, whose __init__ refuses. */
static PyObject *native_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs;
    core_native *self = (core_native *)type->tp_alloc(type, 0);
    if (self) {
        self->state = core_hold(core_state_of_type(type));
        core_live(self->state, CORE_LIVE_KERNEL, 1);
        self->n_params = NATIVE_UNKNOWN;
        self->code.name = "?";
        self->name = PyUnicode_FromString(self->code.name);
        if (!self->name)
            Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* _create(device or None, handle, is_function, owner, name): borrows the handle; `owner` keeps the code loaded. */
static PyObject *native_create(PyObject *type, PyObject *const *args, Py_ssize_t n)
{
    core_state *state = core_state_of_type((PyTypeObject *)type);
    ts_device *device = NULL;
    if (n != 5) {
        PyErr_SetString(PyExc_TypeError, "_create(device, handle, is_function, owner, name) takes 5 arguments");
        return NULL;
    }
    uint64_t handle;
    if (core_address_of(args[1], &handle) < 0 || (args[0] != Py_None && core_device_from(state, args[0], &device) < 0))
        return NULL;
    core_native *self = (core_native *)native_new((PyTypeObject *)type, NULL, NULL);
    if (!self)
        return NULL;
    self->device = device;
    self->code.handle = (uintptr_t)handle;
    self->is_function = PyObject_IsTrue(args[2]) == 1;
    self->owner = Py_NewRef(args[3]);
    Py_SETREF(self->name, PyObject_Str(args[4]));
    self->code.name = self->name ? PyUnicode_AsUTF8(self->name) : NULL;
    if (!self->code.name)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static int native_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((core_native *)self)->state->module);
    Py_VISIT(((core_native *)self)->owner);
    return 0;
}

static void native_dealloc(PyObject *self)
{
    core_native *native = (core_native *)self;
    PyObject_GC_UnTrack(self);
    if (native->weakrefs)
        PyObject_ClearWeakRefs(self);
    PyMem_Free(native->offsets);
    Py_XDECREF(native->owner);
    Py_XDECREF(native->name);
    core_live(native->state, CORE_LIVE_KERNEL, -1);
    core_free(self, native->state->module);
}

static PyObject *native_get_address(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((core_native *)self)->code.handle);
}

static PyObject *native_get_device(PyObject *self, void *unused)
{
    (void)unused;
    ts_device *device;
    return core_native_device((core_native *)self, &device) < 0 ? NULL : core_device_number(device);
}

static PyMethodDef native_methods[] = {
    {"_create", (PyCFunction)(void (*)(void))native_create, METH_FASTCALL | METH_CLASS, NULL},
    {"_parameters", native_table, METH_NOARGS,
     "[(offset, bytes), ...] of the parameters, or None where the driver cannot tell."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef native_getset[] = {
    {"_address", native_get_address, NULL, "The CUkernel or CUfunction as an int.", NULL},
    {"_device", native_get_device, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef native_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(core_native, weakrefs), READONLY, NULL},
    {"_owner", T_OBJECT, offsetof(core_native, owner), READONLY, "What keeps the code loaded."},
    {"_name", T_OBJECT, offsetof(core_native, name), READONLY, "What messages call the kernel."},
    {"_is_function", T_BOOL, offsetof(core_native, is_function), READONLY, "A CUfunction, not a CUkernel."},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot native_slots[] = {
    {Py_tp_doc, "A kernel of the driver by handle; base of tessera.core.Kernel."},
    {Py_tp_new, native_new},
    {Py_tp_dealloc, native_dealloc},
    {Py_tp_traverse, native_traverse},
    {Py_tp_methods, native_methods},
    {Py_tp_getset, native_getset},
    {Py_tp_members, native_members},
    {0, NULL},
};
static PyType_Spec native_spec = {"tessera._core.NativeKernel", sizeof(core_native), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, native_slots};

/* ---- LaunchConfig ---------------------------------------------------------------------------------------*/

/* _pack(grid, block, shared bytes, attributes as bytes, cooperative) */
static PyObject *config_pack(PyObject *object, PyObject *args)
{
    core_config *self = (core_config *)object;
    ts_native_config made = {0};
    PyObject *attrs, *before;
    int cooperative;
    if (!PyArg_ParseTuple(args, "(III)(III)IO!p", &made.grid[0], &made.grid[1], &made.grid[2], &made.block[0],
                          &made.block[1], &made.block[2], &made.shared_bytes, &PyBytes_Type, &attrs, &cooperative))
        return NULL;
    made.n_attrs = (uint32_t)(PyBytes_GET_SIZE(attrs) / CORE_ATTR_BYTES);
    made.attrs = made.n_attrs ? PyBytes_AS_STRING(attrs) : NULL;
    CORE_ALONE(object); /* a launch of another thread takes all of the old or all of the new one */
    before = self->attrs;
    self->attrs = Py_NewRef(attrs);
    self->native = made;
    self->cooperative = cooperative;
    CORE_NOT_ALONE();
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

PyObject *core_config_get(core_config *config, ts_native_config *out, bool *cooperative)
{
    PyObject *attrs;
    CORE_ALONE(config);
    *out = config->native;
    *cooperative = config->cooperative;
    attrs = Py_XNewRef(config->attrs);
    CORE_NOT_ALONE();
    return attrs;
}

static void config_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((core_config *)self)->attrs);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef config_methods[] = {
    {"_pack", config_pack, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot config_slots[] = {
    {Py_tp_doc, "What the driver is told of a launch; base of tessera.core.LaunchConfig."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, config_dealloc},
    {Py_tp_methods, config_methods},
    {0, NULL},
};
static PyType_Spec config_spec = {"tessera._core.LaunchConfig", sizeof(core_config), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, config_slots};

int core_native_init(PyObject *module, core_state *state)
{
    state->native_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &native_spec, NULL);
    state->config_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &config_spec, NULL);
    return state->native_type && state->config_type && PyModule_AddType(module, state->native_type) == 0
               ? PyModule_AddType(module, state->config_type)
               : -1;
}
