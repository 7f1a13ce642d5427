/* SPDX-License-Identifier: Apache-2.0
 *
 * What every part of the core uses: arena, growing arrays, text buffer, hash, assertions.
 *
 * Memory follows three lifetimes (process, compilation, pass scratch); each is an arena, so passes
 * never free. An arena that could not get memory returns NULL; growing arrays then keep a sticky
 * failure that the caller turns into TS_NOMEM once, at the end of its work.
 */
#ifndef TS_BASE_BASE_H
#define TS_BASE_BASE_H

#include "tessera/base.h"
#include <assert.h>
#include <stdarg.h>
#include <string.h>

/* Internal invariants; active unless NDEBUG. User mistakes are ts_fail, never this. */
#define ts_assert(condition) assert(condition)
#define TS_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TS_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TS_MAX(a, b) ((a) > (b) ? (a) : (b))

/* ---- arguments of public functions ---------------------------------------------------------------- */

/* TS_VALUE, "ts_launch(): kernel is NULL". */
ts_status ts__fail_null(ts_error *err, const char *function, const char *argument);

/* At the head of a public function: returns where one of up to four pointers is NULL. */
#define TS_NEED(err, ...) TS__NEED_PICK(__VA_ARGS__, TS__NEED4, TS__NEED3, TS__NEED2, TS__NEED1, )(err, __VA_ARGS__)
#define TS__NEED_PICK(a, b, c, d, macro, ...) macro
#define TS__NEED1(err, a) TS_NEED_N(err, a, 1)
#define TS__NEED2(err, a, b) TS__NEED1(err, a); TS__NEED1(err, b)
#define TS__NEED3(err, a, ...) TS__NEED1(err, a); TS__NEED2(err, __VA_ARGS__)
#define TS__NEED4(err, a, ...) TS__NEED1(err, a); TS__NEED3(err, __VA_ARGS__)
/* The same for an array of n, which may be NULL where it has nothing. */
#define TS_NEED_N(err, array, n)                                                                   \
    do {                                                                                           \
        if (!(array) && (n))                                                                       \
            return ts__fail_null(err, __func__, #array);                                           \
    } while (0)

/* ---- arena ---------------------------------------------------------------------------------- */

typedef struct ts_arena_block ts_arena_block;
typedef struct ts_arena {
    const ts_alloc *alloc;
    ts_arena_block *last;
    size_t bytes; /* of all blocks */
    bool failed; /* an allocation did not succeed; sticky */
} ts_arena;

typedef struct ts_arena_mark {
    ts_arena_block *block;
    size_t used;
} ts_arena_mark;

void ts__arena_init(ts_arena *arena, const ts_alloc *alloc);
void ts__arena_deinit(ts_arena *arena);
/* Zeroed, 16-byte aligned memory that lives until rewind or deinit; NULL when memory is out. */
void *ts__arena_get(ts_arena *arena, size_t bytes);
/* Grows a block made by this arena (in place when it is the newest); contents are kept. */
void *ts__arena_grow(ts_arena *arena, void *block, size_t old_bytes, size_t new_bytes);
ts_arena_mark ts__arena_at(const ts_arena *arena);
void ts__arena_rewind(ts_arena *arena, ts_arena_mark mark);
char *ts__arena_text(ts_arena *arena, const char *text, size_t n);
#define TS_NEW(arena, T) ((T *)ts__arena_get((arena), sizeof(T)))
#define TS_NEW_N(arena, T, n) ((T *)ts__arena_get((arena), sizeof(T) * (size_t)(n)))

/* Growing array in an arena: TS_VEC(T) v = {0}; TS_PUSH(arena, &v, x) is false when memory is out. */
#define TS_VEC(T)                                                                                  \
    struct {                                                                                       \
        T *at;                                                                                     \
        uint32_t n, cap;                                                                           \
    }
bool ts__vec_reserve_(ts_arena *arena, void **at, uint32_t *cap, uint32_t need, size_t size);
#define TS_RESERVE(arena, v, need)                                                                 \
    ((need) <= (v)->cap ||                                                                         \
     ts__vec_reserve_((arena), (void **)&(v)->at, &(v)->cap, (uint32_t)(need), sizeof *(v)->at))
#define TS_PUSH(arena, v, x) (TS_RESERVE(arena, v, (v)->n + 1) && ((v)->at[(v)->n++] = (x), true))

/* ---- text ----------------------------------------------------------------------------------- */

/* A growing, always terminated string. Failure is sticky in `failed`. */
typedef struct ts_text {
    const ts_alloc *alloc;
    char *at;
    size_t n, cap;
    bool failed;
} ts_text;

void ts__text_init(ts_text *text, const ts_alloc *alloc);
void ts__text_deinit(ts_text *text);
void ts__text_put(ts_text *text, const char *bytes, size_t n);
void ts__text_puts(ts_text *text, const char *string);
void ts__text_putc(ts_text *text, char c);
void ts__text_printf(ts_text *text, const char *format, ...) TS_PRINTF(2, 3);
void ts__text_int(ts_text *text, int64_t value); /* decimal; much faster than printf */
/* "" when empty or failed; borrowed until the next change. */
const char *ts__text_get(const ts_text *text);

/* What an index that is out of bounds says: `what` has a | where index and extent are to stand, in this order, or
 * neither, and then ": index 9 is out of bounds for size 8" follows it. */
void ts__bounds_text(char *out, size_t n, const char *what, int64_t index, int64_t extent);

/* ---- hash ----------------------------------------------------------------------------------- */

uint64_t ts__hash(const void *bytes, size_t n, uint64_t seed); /* fast, 64 bit, not cryptographic */
static inline uint64_t ts_hash_mix(uint64_t a, uint64_t b)
{
    a ^= b + 0x9E3779B97F4A7C15u + (a << 6) + (a >> 2);
    a *= 0xBF58476D1CE4E5B9u;
    return a ^ (a >> 31);
}
/* 128-bit content hash for cache keys. */
typedef struct ts_digest {
    uint64_t lo, hi;
} ts_digest;
ts_digest ts__digest_of(const void *bytes, size_t n);
/* The build of the loaded library or program that holds `address` (loaded.c); zero: none does. */
ts_digest ts__loaded_id(const void *address);

void ts__vfail(ts_error *err, ts_status status, const char *format, va_list args);

/* ---- small numeric helpers ------------------------------------------------------------------- */

static inline bool ts_is_pow2(int64_t x)
{
    return x > 0 && (x & (x - 1)) == 0;
}
static inline int ts_log2(uint64_t x) /* floor; x > 0 */
{
    int n = 0;
    while (x >>= 1)
        n++;
    return n;
}
static inline uint32_t ts_popcount(uint32_t x)
{
    uint32_t n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
}
static inline uint32_t ts_round_up(uint32_t x, uint32_t step) /* to a multiple of a power of two */
{
    return (x + step - 1) & ~(step - 1);
}
/* The nearest of names(user, 0), names(user, 1) .. NULL to a mistyped one, "" left out; NULL where none is near. */
const char *ts__nearest(const char *name, const char *(*names)(const void *user, uint32_t i), const void *user);

int64_t ts__now_ns(void); /* monotonic */

/* Narrow floats as bit patterns; conversions round to nearest even. */
uint16_t ts__f16_from_f64(double x);
double ts__f16_to_f64(uint16_t bits);
uint16_t ts__bf16_from_f64(double x);
double ts__bf16_to_f64(uint16_t bits);

#endif
