/* SPDX-License-Identifier: Apache-2.0
 *
 * What a packed function leaves to the program that packed it: expressions of the host language, which are evaluated
 * while a kernel is compiled (`ct.static_eval(choose(n))`). Python is such a host; a client that only launches packs
 * needs nothing of this, and a pack that asks for a host where none is given is refused with a message.
 *
 *     ts_status evaluate(void *user, ts_host_call *call, uint32_t site, size_t n, const ts_host_value *values,
 *                        ts_host_value *out, ts_error *err)
 *     {
 *         if (n != 1 || values[0].kind != TS_HOST_INT)
 *             return ts_fail(err, TS_STATICEVAL, "wanted an integer");
 *         *out = (ts_host_value){.kind = TS_HOST_INT, .as.i = factorial(values[0].as.i)};
 *         return TS_OK;
 *     }
 *     ts_source source = {.bytes = pack, .n = n_pack, .host = {evaluate, self}};
 *
 * Values go both ways in one form. What is known at compile time goes as what it is; what exists only while the kernel
 * runs (tiles, arrays, ...) goes as a proxy: a number that stands for it, which may come back as it is, be asked for
 * attributes, and be computed with.
 *
 * Threads   A host is called by the thread that compiles, inside that call and without a lock held: it may launch
 *           kernels, this one too. Several threads may compile at once.
 * Streams   None.
 * Owns      What a host is given lives until it returns. What it gives back lies in memory of ts_host_room.
 * Errors    A host fails with TS_STATICEVAL, TS_STATICASSERT, TS_TILETYPE, ... and a sentence; the compiler adds the
 *           place.
 */
#ifndef TESSERA_HOST_H
#define TESSERA_HOST_H

#include "tessera/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a value is, and which of its members hold it. */
typedef enum ts_host_kind {
    TS_HOST_NONE,
    TS_HOST_ELLIPSIS,
    TS_HOST_BOOL,     /* as.i */
    TS_HOST_INT,      /* as.i */
    TS_HOST_BIGINT,   /* as.text: "-0x1f..", beyond 64 bits */
    TS_HOST_FLOAT,    /* as.f[0] */
    TS_HOST_COMPLEX,  /* as.f: real and imaginary part */
    TS_HOST_STR,      /* as.text: UTF-8 */
    TS_HOST_TUPLE,    /* n, as.items */
    TS_HOST_DICT,     /* n pairs; as.items: key, value, key, .. */
    TS_HOST_RECORD,   /* n, as.items: values of the fields; cls: number of the class, an object of the pack */
    TS_HOST_RANGE,    /* as.items: start, stop, step */
    TS_HOST_SLICE,    /* the same */
    TS_HOST_DTYPE,    /* n: a ts_dtype */
    TS_HOST_OBJECT,   /* n: number of an object of the pack */
    TS_HOST_FUNCTION, /* n: number of a function of the pack */
    TS_HOST_OP,       /* as.text: name of an operation of the language */
    TS_HOST_BUILTIN,  /* as.text: "range", "math.sqrt" */
    TS_HOST_PROXY     /* n: its number; as.text: what it stands for: "tile", "array", "function", .. */
} ts_host_kind;

/* One value; `n` and the member of `as` by its kind. */
typedef struct ts_host_value {
    ts_host_kind kind;
    uint32_t n;
    uint32_t cls; /* TS_HOST_RECORD alone */
    union {
        int64_t i;
        double f[2];
        const char *text;
        const struct ts_host_value *items;
    } as;
} ts_host_value;

/* A compilation that waits for its host. Valid until the host returns. */
typedef struct ts_host_call ts_host_call;

/* Evaluates expression number `site` of the pack with the values of the n local variables that it reads, in the order
 * of the pack. A variable without a value on some path comes as a proxy of "nothing". */
typedef ts_status ts_host_fn(void *user, ts_host_call *call, uint32_t site, size_t n, const ts_host_value *values,
                             ts_host_value *out, ts_error *err);

/* Goes on with the pack as it is now, by ts_host_grow: an argument is an object that the compilation does not know. */
typedef ts_status ts_host_later_fn(void *user, ts_host_call *call, ts_error *err);

/* Links the PTX of a kernel, a text with a final NUL, with the other code that it calls (`foreign` of op.def). *image
 * is what the driver loads, a cubin or PTX, of *n bytes, the last of them a NUL: made with malloc(), freed by the
 * caller. */
typedef ts_status ts_host_link_fn(void *user, const char *ptx, void **image, size_t *n, ts_error *err);

/* The driver has loaded what link() gave: its library (CUlibrary), 0 where the driver is too old to have one. Called
 * before the first launch; with an error the kernel is not launched. */
typedef ts_status ts_host_loaded_fn(void *user, uint64_t library, ts_error *err);

/* Gives the pack of a kernel that was made without one: *pack, of *n bytes, made with malloc(), freed by the caller. */
typedef ts_status ts_host_source_fn(void *user, void **pack, size_t *n, ts_error *err);

/* Who evaluates; all zero: nobody. `user` lives as long as what it is given to. */
typedef struct ts_host {
    ts_host_fn *evaluate;
    ts_host_later_fn *later; /* NULL: no argument is an object */
    void *user;
    ts_host_link_fn *link;   /* NULL: the pack calls no other code */
    ts_host_loaded_fn *loaded; /* NULL: nobody asks */
    uint8_t asks;            /* 1: the pack has expressions of the host, so it is lowered before the cache is asked */
    ts_host_source_fn *source; /* NULL: the pack is there. Called where no code is kept for a launch */
} ts_host;

/* Memory for what the host gives back; it ends with the compilation. NULL: there is none left. */
TS_API void *ts_host_room(ts_host_call *call, size_t bytes);

/* What an attribute of a proxy is: tile.shape, array.dtype. Errors: TS_TILETYPE where it has none of that name. */
TS_API TS_CHECKED ts_status ts_host_attribute(ts_host_call *call, const ts_host_value *of, const char *name,
                                              ts_host_value *out, ts_error *err);

/* What an operation of the language gives for n values, the last n_named of them passed by name: code is added to the
 * kernel where a proxy is among them. Errors: TS_STATICEVAL for operations that do more than compute a value, and those
 * of the operation. */
TS_API TS_CHECKED ts_status ts_host_apply(ts_host_call *call, const char *op, size_t n, const ts_host_value *values,
                                          size_t n_named, const char *const *names, ts_host_value *out, ts_error *err);

/* How many objects the compilation knows. One that a host gives back with a greater number is in a later pack. */
TS_API uint32_t ts_host_known(const ts_host_call *call);

/* Goes on with a later pack: the same with more strings, nodes, lists, objects and functions behind those it had.
 * Copied. Errors: TS_PARSE where it is not. */
TS_API TS_CHECKED ts_status ts_host_grow(ts_host_call *call, const void *pack, size_t n, ts_error *err);

#ifdef __cplusplus
}
#endif
#endif
