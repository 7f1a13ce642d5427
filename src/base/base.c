/* SPDX-License-Identifier: Apache-2.0
 *
 * Arena, text buffer, hash, errors: see base.h for what each promises.
 */
#include "base/base.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- status ----------------------------------------------------------------------------------*/

typedef struct status_row {
    ts_status status;
    const char *name, *exception, *sentence;
} status_row;

static const status_row *status_of(ts_status status)
{
    static const status_row unknown = {TS_OK, "TS_?", "RuntimeError", "unknown status"};
    static const status_row rows[] = {
#define X(name, value, exception, sentence) {TS_##name, "TS_" #name, exception, sentence},
        TS_STATUSES(X)
#undef X
    };
    for (size_t i = 0; i < TS_COUNT(rows); i++)
        if (rows[i].status == status)
            return &rows[i];
    return &unknown;
}

const char *ts_status_name(ts_status status)
{
    return status_of(status)->name;
}

const char *ts_status_sentence(ts_status status)
{
    return status_of(status)->sentence;
}

const char *ts_status_exception(ts_status status)
{
    return status_of(status)->exception;
}

void ts__vfail(ts_error *err, ts_status status, const char *format, va_list args)
{
    static const char more[] = "[...]";
    if (!err)
        return;
    err->status = status;
    err->driver_code = 0; /* callers leave `err` unset; who has a driver's code sets it afterwards */
    err->failure = (ts_failure){0};
    int n = vsnprintf(err->text, sizeof err->text, format, args);
    if (n >= (int)sizeof err->text)
        memcpy(err->text + sizeof err->text - sizeof more, more, sizeof more);
}

ts_status ts_fail(ts_error *err, ts_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ts__vfail(err, status, format, args);
    va_end(args);
    return status;
}

ts_status ts__fail_null(ts_error *err, const char *function, const char *argument)
{
    return ts_fail(err, TS_VALUE, "%s(): %s is NULL", function, argument);
}

/* ---- allocation ------------------------------------------------------------------------------*/

static void *base_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    (void)user;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_bytes);
}

const ts_alloc *ts_alloc_default(void)
{
    static const ts_alloc plain = {base_resize, NULL};
    return &plain;
}

/* Blocks form a list from newest to oldest; memory is handed out upwards inside the newest. */
struct ts_arena_block {
    ts_arena_block *previous;
    size_t used, bytes; /* of the data that follows this header */
};
#define ARENA_HEADER ((sizeof(ts_arena_block) + 15) & ~(size_t)15)
#define ARENA_MIN ((size_t)32 * 1024)

void ts__arena_init(ts_arena *arena, const ts_alloc *alloc)
{
    *arena = (ts_arena){.alloc = alloc ? alloc : ts_alloc_default()};
}

void ts__arena_deinit(ts_arena *arena)
{
    ts__arena_rewind(arena, (ts_arena_mark){NULL, 0});
}

static char *arena_data(ts_arena_block *block)
{
    return (char *)block + ARENA_HEADER;
}

static ts_arena_block *arena_add(ts_arena *arena, size_t bytes)
{
    size_t size = arena->last ? arena->last->bytes * 2 : ARENA_MIN;
    if (size > ((size_t)4 << 20))
        size = (size_t)4 << 20;
    if (size < bytes)
        size = bytes;
    if (size > SIZE_MAX - ARENA_HEADER)
        return NULL;
    ts_arena_block *block = arena->alloc->resize(arena->alloc->user, NULL, 0, ARENA_HEADER + size);
    if (!block)
        return NULL;
    *block = (ts_arena_block){arena->last, 0, size};
    arena->bytes += size;
    return arena->last = block;
}

void *ts__arena_get(ts_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) {
        arena->failed = true;
        return NULL;
    }
    size_t need = (bytes + 15) & ~(size_t)15;
    ts_arena_block *block = arena->last;
    if (!block || block->bytes - block->used < need)
        block = arena_add(arena, need);
    if (!block) {
        arena->failed = true;
        return NULL;
    }
    char *at = arena_data(block) + block->used;
    block->used += need;
    memset(at, 0, need);
    return at;
}

void *ts__arena_grow(ts_arena *arena, void *old, size_t old_bytes, size_t new_bytes)
{
    size_t old_need = (old_bytes + 15) & ~(size_t)15, need = (new_bytes + 15) & ~(size_t)15;
    ts_arena_block *block = arena->last;
    if (old && block && (char *)old + old_need == arena_data(block) + block->used &&
        need >= old_need && block->bytes - block->used >= need - old_need) {
        memset((char *)old + old_need, 0, need - old_need);
        block->used += need - old_need;
        return old;
    }
    void *fresh = ts__arena_get(arena, new_bytes);
    if (fresh && old)
        memcpy(fresh, old, old_bytes);
    return fresh;
}

ts_arena_mark ts__arena_at(const ts_arena *arena)
{
    return (ts_arena_mark){arena->last, arena->last ? arena->last->used : 0};
}

void ts__arena_rewind(ts_arena *arena, ts_arena_mark mark)
{
    while (arena->last && arena->last != mark.block) {
        ts_arena_block *block = arena->last;
        arena->last = block->previous;
        arena->bytes -= block->bytes;
        arena->alloc->resize(arena->alloc->user, block, ARENA_HEADER + block->bytes, 0);
    }
    if (arena->last)
        arena->last->used = mark.used;
}

char *ts__arena_text(ts_arena *arena, const char *text, size_t n)
{
    char *copy = ts__arena_get(arena, n + 1);
    if (copy && n)
        memcpy(copy, text, n);
    return copy;
}

bool ts__vec_reserve_(ts_arena *arena, void **at, uint32_t *cap, uint32_t need, size_t size)
{
    uint32_t grown = *cap ? *cap : 16;
    while (grown < need) {
        if (grown > UINT32_MAX / 2)
            return false;
        grown *= 2;
    }
    void *fresh = ts__arena_grow(arena, *at, *cap * size, grown * size);
    if (!fresh)
        return false;
    *at = fresh;
    *cap = grown;
    return true;
}

/* ---- text ------------------------------------------------------------------------------------*/

void ts__text_init(ts_text *text, const ts_alloc *alloc)
{
    *text = (ts_text){alloc ? alloc : ts_alloc_default(), NULL, 0, 0, false};
}

void ts__text_deinit(ts_text *text)
{
    if (text->at)
        text->alloc->resize(text->alloc->user, text->at, text->cap, 0);
    ts__text_init(text, text->alloc);
}

static bool text_room(ts_text *text, size_t more)
{
    if (text->failed)
        return false;
    if (text->cap - text->n > more)
        return true;
    size_t cap = text->cap ? text->cap : 512;
    while (cap - text->n <= more) {
        if (cap > SIZE_MAX / 2) {
            text->failed = true;
            return false;
        }
        cap *= 2;
    }
    char *at = text->alloc->resize(text->alloc->user, text->at, text->cap, cap);
    if (!at) {
        text->failed = true;
        return false;
    }
    text->at = at;
    text->cap = cap;
    return true;
}

void ts__text_put(ts_text *text, const char *bytes, size_t n)
{
    if (!n || !text_room(text, n))
        return;
    memcpy(text->at + text->n, bytes, n);
    text->n += n;
    text->at[text->n] = 0;
}

void ts__text_puts(ts_text *text, const char *string)
{
    ts__text_put(text, string, strlen(string));
}

void ts__text_putc(ts_text *text, char c)
{
    ts__text_put(text, &c, 1);
}

void ts__text_printf(ts_text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n > 0 && text_room(text, (size_t)n + 1)) {
        vsnprintf(text->at + text->n, (size_t)n + 1, format, again);
        text->n += (size_t)n;
    }
    va_end(again);
}

void ts__text_int(ts_text *text, int64_t value)
{
    char digits[24];
    size_t i = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--i] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0)
        digits[--i] = '-';
    ts__text_put(text, digits + i, sizeof digits - i);
}

const char *ts__text_get(const ts_text *text)
{
    return text->at && !text->failed ? text->at : "";
}

void ts__bounds_text(char *out, size_t n, const char *what, int64_t index, int64_t extent)
{
    const char *one = strchr(what, '|'), *two = one ? strchr(one + 1, '|') : NULL;
    if (two)
        snprintf(out, n, "%.*s%lld%.*s%lld%s", (int)(one - what), what, (long long)index, (int)(two - one - 1), one + 1,
                 (long long)extent, two + 1);
    else
        snprintf(out, n, "%s%sindex %lld is out of bounds for size %lld", what, *what ? ": " : "", (long long)index,
                 (long long)extent);
}

/* ---- hash ------------------------------------------------------------------------------------*/

static inline uint64_t hash_round(uint64_t h, const unsigned char *p)
{
    uint64_t w;
    memcpy(&w, p, 8);
    h = (h ^ w) * 0xFF51AFD7ED558CCDu;
    return h ^ h >> 32;
}

/* One multiply-xor round per 8 bytes, in four chains that do not wait for each other where there is much to do; quality
 * is checked by tests/base/base.c. */
uint64_t ts__hash(const void *bytes, size_t n, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t h = seed ^ (n * 0x9E3779B97F4A7C15u);
    if (n >= 64) {
        uint64_t lanes[3] = {~h, h * 0xC4CEB9FE1A85EC53u, h * 0xBF58476D1CE4E5B9u};
        for (; n >= 32; n -= 32, p += 32) {
            h = hash_round(h, p);
            lanes[0] = hash_round(lanes[0], p + 8);
            lanes[1] = hash_round(lanes[1], p + 16);
            lanes[2] = hash_round(lanes[2], p + 24);
        }
        for (int i = 0; i < 3; i++)
            h = hash_round(h, (const unsigned char *)&lanes[i]);
    }
    for (; n >= 8; n -= 8, p += 8)
        h = hash_round(h, p);
    uint64_t tail = 0;
    if (n)
        memcpy(&tail, p, n);
    h = (h ^ tail) * 0xC4CEB9FE1A85EC53u;
    h ^= h >> 29;
    h *= 0xBF58476D1CE4E5B9u;
    return h ^ (h >> 32);
}

ts_digest ts__digest_of(const void *bytes, size_t n)
{
    return (ts_digest){ts__hash(bytes, n, 0x243F6A8885A308D3u), ts__hash(bytes, n, 0x13198A2E03707344u)};
}

/* ---- narrow floats ---------------------------------------------------------------------------*/

/* Rounds x to a float with `mant` explicit mantissa bits, `bias` and `top` = all-ones exponent;
 * IEEE rules with subnormals, infinities and one quiet NaN. */
static uint16_t narrow_from(double x, int mant, int bias, int top)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    uint16_t sign = (uint16_t)((bits >> 63) << 15);
    if (isnan(x))
        return (uint16_t)(sign | top << mant | 1 << (mant - 1));
    double a = fabs(x);
    if (isinf(x))
        return (uint16_t)(sign | top << mant);
    if (a == 0)
        return sign;
    int e;
    frexp(a, &e);          /* a = f * 2^e, 0.5 <= f < 1 */
    int exponent = e - 1;  /* a = 1.f * 2^exponent */
    int lowest = 1 - bias; /* exponent of the smallest normal number */
    if (exponent < lowest)
        exponent = lowest;
    double scaled = ldexp(a, mant - exponent);
    double whole = floor(scaled), rest = scaled - whole;
    uint32_t m = (uint32_t)whole;
    if (rest > 0.5 || (rest == 0.5 && (m & 1)))
        m++;
    /* m counts units of 2^(exponent-mant); adding it to the biased exponent carries by itself */
    uint32_t out = ((uint32_t)(exponent + bias - 1) << mant) + m;
    if (out >= (uint32_t)top << mant)
        out = (uint32_t)top << mant;
    return (uint16_t)(sign | out);
}

static double narrow_to(uint16_t bits, int mant, int bias, int top)
{
    int e = (bits >> mant) & top, m = bits & ((1 << mant) - 1);
    double sign = bits & 0x8000 ? -1.0 : 1.0;
    if (e == top)
        return m ? (double)NAN : sign * (double)INFINITY;
    if (e == 0)
        return sign * ldexp(m, 1 - bias - mant);
    return sign * ldexp((1 << mant) + m, e - bias - mant);
}

uint16_t ts__f16_from_f64(double x)
{
    return narrow_from(x, 10, 15, 31);
}
double ts__f16_to_f64(uint16_t bits)
{
    return narrow_to(bits, 10, 15, 31);
}
uint16_t ts__bf16_from_f64(double x)
{
    return narrow_from(x, 7, 127, 255);
}
double ts__bf16_to_f64(uint16_t bits)
{
    return narrow_to(bits, 7, 127, 255);
}

/* ---- nearest name -------------------------------------------------------------------- */

/* Edit distance, cut off at 3. */
static uint32_t base_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    uint32_t row[40];
    if (n > 38 || m > 38 || (n > m ? n - m : m - n) > 2)
        return 3;
    for (uint32_t j = 0; j <= m; j++)
        row[j] = j;
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= m; j++) {
            uint32_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = TS_MIN(best, TS_MIN(row[j], row[j - 1]) + 1);
        }
    }
    return row[m];
}

const char *ts__nearest(const char *name, const char *(*names)(const void *user, uint32_t i), const void *user)
{
    const char *best = NULL, *other;
    size_t length = strlen(name);
    uint32_t nearest = length > 3 ? 3 : length > 1 ? 2 : 1; /* all names of one letter are near to one another */
    for (uint32_t i = 0; (other = names(user, i)) != NULL; i++) {
        uint32_t d = base_distance(name, other);
        if (d && d < nearest && *other) {
            nearest = d;
            best = other;
        }
    }
    return best;
}

int64_t ts__now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
