/* SPDX-License-Identifier: Apache-2.0
 *
 * For tools and tests: IR and code as text, what was found on this machine.
 */
#include "core.h"

/* compile_text(ir, target, entry=None): code bytes of IR text; PTX comes as text, objects as bytes. */
static PyObject *tools_compile_text(PyObject *module, PyObject *args)
{
    const char *text, *entry = NULL;
    Py_ssize_t n;
    int target;
    ts_code code;
    ts_error err;
    ts_status status;
    if (!PyArg_ParseTuple(args, "s#i|z:compile_text", &text, &n, &target, &entry))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = ts_compile_text(text, (size_t)n, entry, (ts_target)target, NULL, &code, &err);
    Py_END_ALLOW_THREADS;
    if (status != TS_OK)
        return core_raise(PyModule_GetState(module), &err);
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)code.bytes, (Py_ssize_t)code.n_bytes);
    ts_code_deinit(&code);
    return bytes;
}

/* The arguments as the compiler sees them, then one of the two outputs. */
typedef struct tools_request {
    core_prepared prepared;
    ts_spec spec[TS_LAUNCH_ARGS];
    size_t n_spec;
} tools_request;

_Static_assert(sizeof(ts_spec) == 152, "SPEC of python/tessera/tile/compilation/_signature.py has its layout");

static int tools_specs(PyObject *bytes, tools_request *out)
{
    size_t n = (size_t)PyBytes_GET_SIZE(bytes);
    out->n_spec = n / sizeof(ts_spec);
    if (n % sizeof(ts_spec) || out->n_spec > TS_LAUNCH_ARGS) {
        PyErr_Format(PyExc_ValueError, "%zu bytes are not an array of at most %d specs of %zu bytes", n,
                     TS_LAUNCH_ARGS, sizeof(ts_spec));
        return -1;
    }
    memcpy(out->spec, PyBytes_AS_STRING(bytes), n);
    return 0;
}

/* `args`: a tuple of arguments as launch() takes it, or bytes: an array of ts_spec made in Python. */
static int tools_request_of(core_state *state, PyObject *tuple, PyObject *args, tools_request *out)
{
    ts_kernel *kernel = NULL;
    ts_error err;
    core_frame frame;
    int result = -1;
    if (core_prepared_of(state, tuple, &out->prepared) < 0)
        return -1;
    if (PyBytes_Check(args) && tools_specs(args, out) == 0)
        return 0;
    if (PyErr_Occurred()) {
        core_prepared_end(&out->prepared);
        return -1;
    }
    core_frame_init(&frame);
    out->n_spec = TS_LAUNCH_ARGS;
    if (ts_kernel_create(&out->prepared.desc, &kernel, &err) != TS_OK)
        core_raise(state, &err);
    else if (core_take_args(state, &frame, kernel, args) == 0) {
        result = ts_kernel_spec(kernel, frame.args, frame.n, out->spec, &out->n_spec, &err) == TS_OK ? 0 : -1;
        if (result < 0)
            core_raise(state, &err);
    }
    ts_kernel_release(kernel);
    core_frame_deinit(&frame);
    if (result < 0)
        core_prepared_end(&out->prepared);
    return result;
}

static const ts_hints *tools_hints(const tools_request *request, int target)
{
    const ts_kernel_desc *desc = &request->prepared.desc;
    for (size_t i = 0; i < desc->n_by_target; i++)
        if ((int)desc->by_target[i].target == target)
            return &desc->by_target[i].hints;
    return &desc->hints;
}

/* lower_text(prepared, args, places=False): tile IR as text. */
static PyObject *tools_lower_text(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *prepared, *values;
    tools_request request = {0};
    ts_error err;
    char *text;
    size_t n;
    int places = 0;
    if (!PyArg_ParseTuple(args, "OO|p:lower_text", &prepared, &values, &places) ||
        tools_request_of(state, prepared, values, &request) < 0)
        return NULL;
    ts_status status =
        ts_lower_source(&request.prepared.desc.source, request.spec, request.n_spec, tools_hints(&request, 0),
                        places ? TS_LOWER_PLACES : 0, NULL, &text, &n, &err);
    core_prepared_end(&request.prepared);
    if (status != TS_OK)
        return core_raise(state, &err);
    return core_text(text, n);
}

/* Code for another target than the device at hand. */
static int tools_code(core_state *state, PyObject *args, ts_code *code)
{
    PyObject *prepared, *values;
    int target;
    tools_request request = {0};
    ts_error err;
    ts_status status;
    if (!PyArg_ParseTuple(args, "OOi:compile", &prepared, &values, &target) ||
        tools_request_of(state, prepared, values, &request) < 0)
        return -1;
    Py_BEGIN_ALLOW_THREADS;
    status = ts_compile_source(&request.prepared.desc.source, request.spec, request.n_spec,
                               tools_hints(&request, target), (ts_target)target, NULL, code, &err);
    Py_END_ALLOW_THREADS;
    core_prepared_end(&request.prepared);
    if (status != TS_OK)
        core_raise(state, &err);
    return status == TS_OK ? 0 : -1;
}

/* notes_of(prepared, specs, target, x, y, z): what the compiler notes; blocks of so many threads, for the CPU. */
static PyObject *tools_notes(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *prepared, *values;
    int target;
    ts_spec block = {.kind = TS_SPEC_BLOCK};
    tools_request request = {0};
    ts_error err;
    char *text;
    size_t n;
    if (!PyArg_ParseTuple(args, "OOiLLL:notes_of", &prepared, &values, &target, &block.dims[0], &block.dims[1],
                          &block.dims[2]) || tools_request_of(state, prepared, values, &request) < 0)
        return NULL;
    const ts_source *source = &request.prepared.desc.source;
    if (request.n_spec < TS_LAUNCH_ARGS)
        request.spec[request.n_spec++] = block;
    ts_report_request wanted = {.pack = source->bytes, .n_pack = source->n, .host = source->host,
                                .spec = request.spec, .n_spec = request.n_spec,
                                .hints = tools_hints(&request, target), .target = (ts_target)target};
    ts_status status = ts_report_notes(&wanted, &text, &n, &err);
    core_prepared_end(&request.prepared);
    if (status != TS_OK)
        return core_raise(state, &err);
    return core_text(text, n);
}

static PyObject *tools_compile(PyObject *module, PyObject *args)
{
    ts_code code;
    if (tools_code(PyModule_GetState(module), args, &code) < 0)
        return NULL;
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)code.bytes, (Py_ssize_t)code.n_bytes);
    ts_code_deinit(&code);
    return bytes;
}

static PyObject *tools_compile_plan(PyObject *module, PyObject *args)
{
    ts_code code;
    if (tools_code(PyModule_GetState(module), args, &code) < 0)
        return NULL;
    const ts_plan *plan = &code.plan;
    PyObject *result = Py_BuildValue(
        "y#{s:s,s:I,s:I,s:I,s:I,s:i,s:i,s:i,s:i}", (const char *)code.bytes, (Py_ssize_t)code.n_bytes, "name",
        plan->name, "threads", plan->threads, "shared_bytes", plan->shared_bytes, "cluster", plan->cluster, "n_tmaps",
        plan->n_tmaps, "persistent", plan->persistent, "error_param", plan->error_param, "cooperative",
        plan->cooperative, "result", plan->result);
    ts_code_deinit(&code);
    return result;
}

/* specs_of(prepared, args): what a launch with these arguments is compiled for, an array of ts_spec. */
static PyObject *tools_specs_of(PyObject *module, PyObject *args)
{
    PyObject *prepared, *values;
    tools_request request = {0};
    if (!PyArg_ParseTuple(args, "OO!:specs_of", &prepared, &PyTuple_Type, &values) ||
        tools_request_of(PyModule_GetState(module), prepared, values, &request) < 0)
        return NULL;
    core_prepared_end(&request.prepared);
    return PyBytes_FromStringAndSize((const char *)request.spec, (Py_ssize_t)(request.n_spec * sizeof(ts_spec)));
}

/* llvm_info(): version and path, or the error that says what is missing. */
static PyObject *tools_llvm_info(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    ts_llvm_info info = {0};
    ts_error err = {0};
    if (ts_llvm_find(&info, &err) != TS_OK)
        return Py_BuildValue("{s:s,s:s,s:s}", "version", "", "path", "", "error", err.text);
    char version[32];
    PyOS_snprintf(version, sizeof version, "%u.%u", info.major, info.minor);
    return Py_BuildValue("{s:s,s:s,s:s}", "version", version, "path", info.path, "error", "");
}

static PyObject *tools_cache_problem(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    const char *problem = ts_cache_problem();
    return problem ? PyUnicode_DecodeFSDefault(problem) : Py_NewRef(Py_None);
}

static PyObject *tools_compile_limit(PyObject *module, PyObject *object)
{
    (void)module;
    double seconds = PyFloat_AsDouble(object);
    return seconds == -1.0 && PyErr_Occurred() ? NULL : PyFloat_FromDouble(ts_compile_limit(seconds));
}

static PyObject *tools_cache_entry(PyObject *module, PyObject *object)
{
    ts_error err;
    ts_cached entry;
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    ts_status status = ts_cache_read_entry(view.buf, (size_t)view.len, &entry, &err);
    PyBuffer_Release(&view);
    if (status != TS_OK)
        return core_raise(PyModule_GetState(module), &err);
    return Py_BuildValue("(sIK)", entry.name, entry.target, (unsigned long long)entry.n_code);
}

static PyObject *tools_cache_keep(PyObject *module, PyObject *args)
{
    (void)module;
    const char *name;
    Py_buffer key, bytes;
    if (!PyArg_ParseTuple(args, "sy*y*", &name, &key, &bytes))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    ts_cache_keep(name, key.buf, (size_t)key.len, bytes.buf, (size_t)bytes.len);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&key);
    PyBuffer_Release(&bytes);
    Py_RETURN_NONE;
}

static PyObject *tools_cache_kept(PyObject *module, PyObject *object)
{
    (void)module;
    ts_code found;
    Py_buffer key;
    if (PyObject_GetBuffer(object, &key, PyBUF_SIMPLE) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    ts_cache_kept(key.buf, (size_t)key.len, &found);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&key);
    PyObject *bytes = found.bytes ? PyBytes_FromStringAndSize((const char *)found.bytes, (Py_ssize_t)found.n_bytes)
                                  : Py_NewRef(Py_None);
    ts_code_deinit(&found);
    return bytes;
}

/* cache_files(folders, endings): what the files are (ts_cache_files). */
static PyObject *tools_cache_files(PyObject *module, PyObject *args)
{
    (void)module;
    enum { ENDINGS = 4 };
    PyObject *folders, *given;
    const char *endings[ENDINGS];
    uint64_t digest[2] = {0, 0};
    bool ok = true;
    if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &folders, &PyTuple_Type, &given))
        return NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(given) < ENDINGS ? PyTuple_GET_SIZE(given) : ENDINGS;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(endings[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(given, i))))
            return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(folders) && ok; i++) {
        const char *folder = PyUnicode_AsUTF8(PyTuple_GET_ITEM(folders, i));
        if (!folder)
            return NULL;
        ok = ts_cache_files(folder, endings, (size_t)n, digest);
    }
    return ok ? PyBytes_FromStringAndSize((const char *)digest, sizeof digest) : Py_NewRef(Py_None);
}

static PyMethodDef tools_functions[] = {
    {"cache_files", tools_cache_files, METH_VARARGS,
     "cache_files(folders, endings, /)\n--\n\nA digest of names, sizes and times of the files of folders whose names "
     "end so; None where one cannot\nbe read."},
    {"cache_keep", tools_cache_keep, METH_VARARGS,
     "cache_keep(name, key, bytes, /)\n--\n\nKeeps bytes beside compiled code."},
    {"cache_kept", tools_cache_kept, METH_O,
     "cache_kept(key, /)\n--\n\nThe bytes that were kept under a key, or None."},
    {"compile_limit", tools_compile_limit, METH_O,
     "compile_limit(seconds, /)\n--\n\nHow long compilations may take from now on, 0: any time; gives the limit "
     "before."},
    {"cache_entry", tools_cache_entry, METH_O,
     "cache_entry(bytes, /)\n--\n\nName, number of the target and bytes of code of a file of the cache of compiled "
     "code."},
    {"cache_problem", tools_cache_problem, METH_NOARGS,
     "Why no compiled code is kept on disk although there is a directory for it, or None."},
    {"llvm_info", tools_llvm_info, METH_NOARGS,
     "The LLVM of the CPU target: version and path, or the error."},
    {"compile_text", tools_compile_text, METH_VARARGS,
     "compile_text(ir, target, entry=None, /)\n--\n\nCode of IR text for a target number (1 CPU, "
     "80, 86, 89, 90, 100, 120)."},
    {"lower_text", tools_lower_text, METH_VARARGS,
     "lower_text(prepared, args, places=False, /)\n--\n\nTile IR of a prepared kernel for these arguments, as "
     "text; with the places of the source."},
    {"compile", tools_compile, METH_VARARGS,
     "compile(prepared, args, target, /)\n--\n\nCode of a prepared kernel for a target number."},
    {"compile_plan", tools_compile_plan, METH_VARARGS,
     "compile_plan(prepared, args, target, /)\n--\n\nThe same with what a launch must know, as a dictionary."},
    {"notes_of", tools_notes, METH_VARARGS,
     "notes_of(prepared, specs, target, x, y, z, /)\n--\n\nWhat the compiler notes while it makes code for blocks of "
     "so many threads, as text."},
    {"specs_of", tools_specs_of, METH_VARARGS,
     "specs_of(prepared, args, /)\n--\n\nWhat a launch with these arguments is compiled for, as bytes that the "
     "others here take for arguments."},
    {NULL, NULL, 0, NULL},
};

int core_tools_init(PyObject *module, core_state *state)
{
    (void)state;
    return PyModule_AddFunctions(module, tools_functions);
}
