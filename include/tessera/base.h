/* SPDX-License-Identifier: Apache-2.0
 *
 * Tessera's ground: status codes, errors, the allocation hook, export markers.
 * Every other public header includes this one. Needs neither Python nor CUDA.
 */
#ifndef TESSERA_BASE_H
#define TESSERA_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

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
 * A name with a dot is an exception class of the tessera package. */
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
    X(RUNTIME, -24, "RuntimeError", "the operation is not possible in this state")

typedef enum ts_status {
#define X(name, value, exception, sentence) TS_##name = value,
    TS_STATUSES(X)
#undef X
} ts_status;

/* A place in a source file. Lines count from 1, columns from 0; line 0 means unknown. */
typedef struct ts_span {
    const char *file; /* borrowed; lives as long as the module or error it sits in */
    uint32_t line, col, end_line, end_col;
} ts_span;

/* Where a failing call leaves its story. The caller owns it and may pass NULL instead. `text` is
 * always terminated; a message that would not fit ends in "[...]" and is never cut silently. */
#define TS_ERROR_TEXT 6000
typedef struct ts_error {
    ts_status status;
    int driver_code; /* native code of the driver, 0 if none */
    char text[TS_ERROR_TEXT];
} ts_error;

/* Sets *err (if not NULL) and returns `status`, so that `return ts_fail(...)` reads as one step. */
TS_API ts_status ts_fail(ts_error *err, ts_status status, const char *format, ...) TS_PRINTF(3, 4);

/* "TS_SHAPE" and its sentence, for any value; unknown values give "TS_?" . */
TS_API const char *ts_status_name(ts_status status);
TS_API const char *ts_status_sentence(ts_status status);
TS_API const char *ts_status_exception(ts_status status);

/* The one door to host memory. resize(user, block, old, new): new == 0 frees, block == NULL
 * allocates, otherwise as realloc; NULL means failure and leaves `block` as it was. */
typedef struct ts_alloc {
    void *(*resize)(void *user, void *block, size_t old_bytes, size_t new_bytes);
    void *user;
} ts_alloc;

/* malloc and free. Threads: safe. */
TS_API const ts_alloc *ts_alloc_default(void);

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
