/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts that were compiled and stand in no file: of exec(), eval(), compile(), of cells and consoles. Python forgets
 * them, kernels need them (python/tessera/_source.py reads them).
 *
 * CPython raises the audit event "compile" with text and file name for each; a hook keeps the newest. The hook belongs
 * to the process and cannot be taken away again, so what it keeps is plain memory that belongs to no interpreter.
 */
#include "core.h"
#include <pthread.h>
#include <unistd.h>

#define SOURCE_TEXTS 4096
#define SOURCE_BYTES ((size_t)16 << 20) /* of all texts together */
#define SOURCE_OURS "<kernel>"          /* what _source.py compiles itself */

typedef struct source_text {
    uint64_t hash, age; /* age: greater is newer */
    size_t n_file, n_text;
    char *bytes; /* file name, then text; owned; NULL: no text here */
} source_text;

/* Guards what follows. Held for copies of bytes alone; fork waits for it. */
static pthread_mutex_t source_lock = PTHREAD_MUTEX_INITIALIZER;
static source_text source_texts[SOURCE_TEXTS];
static size_t source_n, source_bytes; /* entries ever used; bytes of all */
static uint64_t source_newest;
static bool source_has_hook, source_has_fork;

typedef struct source_span {
    const char *chars;
    size_t n;
} source_span;

static uint64_t source_hash(source_span file, source_span text)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    for (size_t i = 0; i < file.n; i++)
        hash = (hash ^ (unsigned char)file.chars[i]) * 0x100000001b3;
    for (size_t i = 0; i < text.n; i++)
        hash = (hash ^ (unsigned char)text.chars[i]) * 0x100000001b3;
    return hash;
}

static bool source_is_of(const source_text *entry, source_span file)
{
    return entry->bytes && entry->n_file == file.n && memcmp(entry->bytes, file.chars, file.n) == 0;
}

static source_text *source_find(uint64_t hash, source_span file, source_span text)
{
    for (size_t i = 0; i < source_n; i++) {
        source_text *entry = &source_texts[i];
        if (entry->hash == hash && source_is_of(entry, file) && entry->n_text == text.n &&
            memcmp(entry->bytes + file.n, text.chars, text.n) == 0)
            return entry;
    }
    return NULL;
}

/* Frees the oldest text, and gives its entry. */
static source_text *source_drop_oldest(void)
{
    source_text *oldest = NULL;
    for (size_t i = 0; i < source_n; i++)
        if (source_texts[i].bytes && (!oldest || source_texts[i].age < oldest->age))
            oldest = &source_texts[i];
    if (oldest) {
        source_bytes -= oldest->n_file + oldest->n_text;
        PyMem_RawFree(oldest->bytes);
        *oldest = (source_text){0};
    }
    return oldest;
}

/* An empty entry for a text of n bytes: the oldest ones make room. */
static source_text *source_room(size_t n)
{
    source_text *free = NULL;
    while (source_bytes + n > SOURCE_BYTES && (free = source_drop_oldest()))
        continue;
    for (size_t i = 0; i < source_n && !free; i++)
        free = source_texts[i].bytes ? NULL : &source_texts[i];
    if (free)
        return free;
    return source_n < SOURCE_TEXTS ? &source_texts[source_n++] : source_drop_oldest();
}

static source_text *source_add(uint64_t hash, source_span file, source_span text)
{
    source_text *entry = source_room(file.n + text.n);
    char *bytes = entry ? PyMem_RawMalloc(file.n + text.n + 1) : NULL;
    if (!bytes)
        return NULL;
    memcpy(bytes, file.chars, file.n);
    memcpy(bytes + file.n, text.chars, text.n);
    *entry = (source_text){.hash = hash, .n_file = file.n, .n_text = text.n, .bytes = bytes};
    source_bytes += file.n + text.n;
    return entry;
}

static void source_keep(source_span file, source_span text)
{
    if (file.n + text.n > SOURCE_BYTES)
        return;
    uint64_t hash = source_hash(file, text);
    pthread_mutex_lock(&source_lock);
    source_text *entry = source_find(hash, file, text);
    if (!entry)
        entry = source_add(hash, file, text);
    if (entry)
        entry->age = ++source_newest;
    pthread_mutex_unlock(&source_lock);
}

static void source_forget(void)
{
    pthread_mutex_lock(&source_lock);
    while (source_drop_oldest())
        continue;
    source_n = 0;
    source_has_hook = false;
    pthread_mutex_unlock(&source_lock);
}

/* Bytes of a str or bytes object, borrowed; .chars is NULL, without exception, where it has none. */
static source_span source_span_of(PyObject *object)
{
    Py_ssize_t n = 0;
    const char *chars = NULL;
    if (PyBytes_Check(object)) {
        chars = PyBytes_AS_STRING(object);
        n = PyBytes_GET_SIZE(object);
    } else if (PyUnicode_Check(object) && !(chars = PyUnicode_AsUTF8AndSize(object, &n)))
        PyErr_Clear();
    return (source_span){chars, (size_t)n};
}

static void source_compiled(PyObject *args)
{
    if (!PyTuple_Check(args) || PyTuple_GET_SIZE(args) < 2)
        return;
    source_span text = source_span_of(PyTuple_GET_ITEM(args, 0)), file = source_span_of(PyTuple_GET_ITEM(args, 1));
    if (!text.chars || !file.chars || strcmp(file.chars, SOURCE_OURS) == 0)
        return;
    if (file.chars[0] == '<' || access(file.chars, R_OK) != 0)
        source_keep(file, text);
}

static int source_hook(const char *event, PyObject *args, void *unused)
{
    (void)unused;
    if (event[0] != 'c') /* nearly all */
        return 0;
    if (strcmp(event, "compile") == 0)
        source_compiled(args);
    else if (strcmp(event, "cpython._PySys_ClearAuditHooks") == 0)
        source_forget();
    return 0;
}

static void source_fork_begin(void)
{
    pthread_mutex_lock(&source_lock);
}

static void source_fork_end(void)
{
    pthread_mutex_unlock(&source_lock);
}

/* keep_sources(): texts that are compiled from now on are kept. */
static PyObject *source_keep_from_now(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    pthread_mutex_lock(&source_lock);
    bool wants_hook = !source_has_hook;
    bool wants_fork = !source_has_fork;
    source_has_hook = source_has_fork = true;
    pthread_mutex_unlock(&source_lock);
    if (wants_fork)
        pthread_atfork(source_fork_begin, source_fork_end, source_fork_end);
    if (wants_hook && PySys_AddAuditHook(source_hook, NULL) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static int source_is_newer(const void *a, const void *b)
{
    const source_text *x = a, *y = b;
    return x->age < y->age ? 1 : x->age > y->age ? -1 : 0;
}

/* Copies of what was kept under this file name and has the word in it, the newest first. Owns: `out` and its bytes. */
static size_t source_matching(source_span file, source_span word, source_text *out)
{
    size_t n = 0;
    pthread_mutex_lock(&source_lock);
    for (size_t i = 0; i < source_n; i++) {
        const source_text *entry = &source_texts[i];
        if (!source_is_of(entry, file) || !memmem(entry->bytes + file.n, entry->n_text, word.chars, word.n))
            continue;
        out[n] = *entry;
        if ((out[n].bytes = PyMem_RawMalloc(entry->n_text + 1)))
            memcpy(out[n++].bytes, entry->bytes + file.n, entry->n_text);
    }
    pthread_mutex_unlock(&source_lock);
    qsort(out, n, sizeof *out, source_is_newer);
    return n;
}

/* kept_sources(file, word): a list of bytes. */
static PyObject *source_kept(PyObject *module, PyObject *args)
{
    const char *file, *word;
    Py_ssize_t n_file, n_word;
    (void)module;
    if (!PyArg_ParseTuple(args, "s#s#:kept_sources", &file, &n_file, &word, &n_word))
        return NULL;
    source_text *found = PyMem_RawMalloc(sizeof source_texts);
    if (!found)
        return PyErr_NoMemory();
    size_t n = source_matching((source_span){file, (size_t)n_file}, (source_span){word, (size_t)n_word}, found);
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; i < n; i++) {
        PyObject *text = list ? PyBytes_FromStringAndSize(found[i].bytes, (Py_ssize_t)found[i].n_text) : NULL;
        if (text)
            PyList_SET_ITEM(list, (Py_ssize_t)i, text);
        else
            Py_CLEAR(list);
        PyMem_RawFree(found[i].bytes);
    }
    PyMem_RawFree(found);
    return list;
}

static PyMethodDef source_functions[] = {
    {"keep_sources", source_keep_from_now, METH_NOARGS, "Keeps the texts of exec() and its like from now on."},
    {"kept_sources", source_kept, METH_VARARGS, "Texts that were compiled under a file name and have a word in them."},
    {NULL},
};

int core_source_init(PyObject *module, core_state *state)
{
    (void)state;
    return PyModule_AddFunctions(module, source_functions);
}
