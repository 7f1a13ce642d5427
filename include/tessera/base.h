/* SPDX-License-Identifier: Apache-2.0
 *
 * Tessera's ground: status codes, errors, the allocation hook, export markers.
 * Every other public header includes this one. Needs neither Python nor CUDA.
 *
 *     ts_error err;
 *     ts_array *x;
 *     ts_status status = ts_array_zeros(device, NULL, TS_DTYPE_float32, 2, (int64_t[]){4, 5}, &x, &err);
 *     if (status != TS_OK)
 *         fprintf(stderr, "%s: %s\n", ts_status_name(status), err.text);
 *
 * What holds for every function of every header, unless its own comment says otherwise:
 *
 * Errors    A function that can fail returns a ts_status, 0 for success, and is marked TS_CHECKED: an unused result
 *           is a warning. Its last parameter is a ts_error of the caller, or NULL. The library keeps no "last error"
 *           and never ends the process. On failure out-parameters are NULL or zero and inputs are as they were.
 * Owns      Arguments are borrowed for the time of the call. What a comment calls "a new reference" is the caller's to
 *           end, by the function named there; functions named create go with destroy, retain with release.
 * Threads   A function may be called from any thread. Two threads may use one object at once where its header says so;
 *           else one at a time.
 * Units     The name says them: _bytes, _ns, n_ for counts. Times are nanoseconds and sizes bytes where nothing is
 *           said; strides of arrays count elements.
 * Structs   A structure that the caller fills begins as zeros (`= {0}`): members he does not use must be zero.
 */
#ifndef TESSERA_BASE_H
#define TESSERA_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* TS_API: part of the library's interface. TS_CHECKED: the caller must look at the result. TS_PRINTF(f, a): parameter
 * f is a format as printf's, the values begin at parameter a. */
#if defined(__GNUC__)
#define TS_API __attribute__((visibility("default")))
#define TS_CHECKED __attribute__((warn_unused_result))
#define TS_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define TS_API
#define TS_CHECKED
#define TS_PRINTF(f, a)
#endif

/* Status codes: X(NAME, value, Python exception, sentence). The enum, ts_status_name, the
 * documentation table and the extension's status-to-exception function all come from these rows.
 * A name with a dot is an exception class of the tessera package. Values are part of the ABI: they are never used again
 * for another meaning. Which of them mean what to a caller:
 *
 *     NOMEM, IO, NODEVICE, DEVICE, INTERRUPTED       the machine: freeing memory, waiting or trying again may help
 *     TYPE, VALUE, SHAPE, INDEX, OVERFLOW, BUFFER    an argument of this call is wrong; the text says which and why
 *     SYNTAX, TILETYPE, TILEVALUE, RECURSION, UNSUPPORTED, STATICEVAL, STATICASSERT
 *                                                    the kernel is wrong; the text shows its file, line and column
 *     PARSE, VERIFY                                  IR text or IR that was built breaks a rule; the text shows where
 *     LAUNCH                                         a kernel that was launched earlier has failed meanwhile
 *     RUNTIME, NOTFOUND                              the call does not fit the state of the object
 *     INTERNAL                                       a mistake of this library; please report it */
#define TS_STATUSES(X)                                                                             \
    X(OK, 0, "", "success")                                                                        \
    X(NOMEM, -1, "MemoryError", "out of host memory")                                              \
    X(TYPE, -2, "TypeError", "a value has the wrong type")                                         \
    X(VALUE, -3, "ValueError", "a value is out of its range")                                      \
    X(SHAPE, -4, "ValueError", "shapes do not fit")                                                \
    X(INDEX, -5, "IndexError", "an index is out of range")                                         \
    X(OVERFLOW, -6, "OverflowError", "a number does not fit its type")                             \
    X(SYNTAX, -7, "tessera.TileSyntaxError", "a Python construct is not part of the language")     \
    X(TILETYPE, -8, "tessera.TileTypeError", "a kernel does not type-check")                       \
    X(TILEVALUE, -9, "tessera.TileValueError", "a kernel constant is out of its range")            \
    X(RECURSION, -10, "tessera.TileRecursionError", "a kernel helper recurses without end")        \
    X(UNSUPPORTED, -11, "tessera.TileUnsupportedFeatureError", "not supported on this target")     \
    X(STATICEVAL, -12, "tessera.TileStaticEvalError", "static_eval failed")                        \
    X(STATICASSERT, -13, "tessera.TileStaticAssertionError", "static_assert failed")               \
    X(PARSE, -14, "ValueError", "text or bytes are malformed")                                     \
    X(VERIFY, -15, "tessera.TileInternalError", "IR breaks a rule of the language")                \
    X(INTERNAL, -16, "tessera.TileInternalError", "an invariant of the compiler broke")            \
    X(DEVICE, -17, "tessera.DeviceError", "a device reported an error")                            \
    X(NODEVICE, -18, "tessera.DeviceNotFoundError", "no such device on this machine")              \
    X(LAUNCH, -19, "tessera.KernelError", "a kernel failed while it ran")                          \
    X(NOTFOUND, -20, "LookupError", "nothing of that name")                                        \
    X(IO, -21, "OSError", "a file could not be read or written")                                   \
    X(BUFFER, -22, "BufferError", "a buffer cannot be used this way")                              \
    X(INTERRUPTED, -23, "KeyboardInterrupt", "interrupted")                                        \
    X(RUNTIME, -24, "RuntimeError", "the operation is not possible in this state")                 \
    X(TIMEOUT, -25, "tessera.TileCompilerTimeoutError", "compiling took longer than it may")         \
    X(STATICEXCEPTION, -26, "tessera.StaticException", "a kernel raised while it was compiled")

/* TS_OK, TS_NOMEM, ...: one for each row. Compare with TS_OK; test for others only to handle them in another way. */
typedef enum ts_status {
#define X(name, value, exception, sentence) TS_##name = value,
    TS_STATUSES(X)
#undef X
} ts_status;

/* A place in a source file, as diagnostics of kernels show it. Lines count from 1, columns from 0; line 0 means
 * unknown. The end is exclusive. */
typedef struct ts_span {
    const char *file; /* borrowed; lives as long as the module or error it sits in */
    uint32_t line, col, end_line, end_col;
} ts_span;

/* What a failing call reports. The caller owns it, usually on the stack, and may pass NULL instead. It is written only
 * on failure, so it needs no initialisation, and must not be read after success.
 *
 *     status       what the call returned
 *     driver_code  the number of the CUDA driver's or the system's own error, 0 if there was none
 *     failure      where and how a kernel failed while it ran
 *     text         what was found, what was wanted, what to do; UTF-8, may have several lines, always terminated. A
 *                  message that would not fit ends in "[...]" and is never cut silently */
#define TS_ERROR_TEXT 6000 /* bytes, the NUL included */
typedef struct ts_failure {
    uint32_t code;    /* ts_fault_code of compile.h; 0: the error is another one, and nothing else here is set */
    uint32_t object;  /* TS_FAULT_RAISE: the number of what was raised among the objects of the kernel's pack; 0: it is
                       * a builtin exception, whose name the message begins with */
    uint32_t line;    /* 0 unknown */
    uint32_t message; /* where in the text what happened begins */
    uint32_t file, function; /* where in `text`, behind its end, the names of the source's file and function stand */
    uint32_t block[3], thread[3];
    bool has_thread;  /* false in kernels of tiles: it was the block */
} ts_failure;
typedef struct ts_error {
    ts_status status;
    int driver_code; /* native code of the driver, 0 if none */
    char text[TS_ERROR_TEXT];
    ts_failure failure;
} ts_error;

/* Sets *err (if not NULL) and returns `status`, so that `return ts_fail(...)` reads as one step. For clients that hand
 * errors of their own on in the same form, such as compilers of custom sources (compile.h). Allocates nothing. */
TS_API ts_status ts_fail(ts_error *err, ts_status status, const char *format, ...) TS_PRINTF(3, 4);

/* The row of a status: its name ("TS_SHAPE"), its sentence ("shapes do not fit") and the Python exception that it
 * becomes ("ValueError"; "" for success). For any number: an unknown one is named "TS_?". Strings are constants of the
 * library, never NULL, never freed. Threads: safe. */
TS_API const char *ts_status_name(ts_status status);
TS_API const char *ts_status_sentence(ts_status status);
TS_API const char *ts_status_exception(ts_status status);

/* The one door to host memory: a function of the caller's for everything that the library allocates on his behalf.
 *
 *     resize(user, NULL, 0, n)        allocates n bytes, aligned as malloc's; NULL: out of memory
 *     resize(user, block, old, n)     as realloc; NULL leaves `block` as it was
 *     resize(user, block, old, 0)     frees; returns NULL
 *
 * `old_bytes` is always what the block was last given, so that a simple allocator needs no headers. The structure must
 * live as long as anything made with it. Threads: called from whatever thread calls the library, and for objects that
 * are shared also from the library's own threads. Where a function takes a `const ts_alloc *`, NULL means
 * ts_alloc_default(). Every call reports TS_NOMEM when it returns NULL, and leaks nothing. */
typedef struct ts_alloc {
    void *(*resize)(void *user, void *block, size_t old_bytes, size_t new_bytes);
    void *user;
} ts_alloc;

/* realloc and free of the C library. Threads: safe. Never NULL; lives for good. */
TS_API const ts_alloc *ts_alloc_default(void);

/* Returns from the function that it stands in when `expression`, a ts_status, is not TS_OK. For functions with nothing
 * to undo; the error has been written by whoever failed. */
#define TS_TRY(expression)                                                                         \
    do {                                                                                           \
        ts_status ts_try_ = (expression);                                                          \
        if (ts_try_ != TS_OK)                                                                      \
            return ts_try_;                                                                        \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
