/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows in order by vectors (base/sort.h). Numbers become signed integers of 32 bits, their own bits the leading ones,
 * or of 64 bits; where places are wanted, words of 64 bits:
 *
 *     values    key                                     -0 is 0 and every NaN is the greatest; where the row has such
 *     places    key | place                             elements they are put back as they were, in their order
 *               key - least, its 32 leading bits | place          of 64 bits; runs that are alike by whole keys
 *
 * Short rows are the columns of a block, 16 or 8 of them side by side: a row turns into a column by vectors, and rows
 * along another axis than the last one lie so already. Longer ones are sorted one by one; where they lie beside each
 * other they are copied from 16 columns and back.
 */
#include "base/sort.h"
#include "numeric/order.h"

enum {
    ORDER_LANES = ORDER_BESIDE,
    ORDER_FEW_ROWS = 5 /* rows that are worth a block */
};

#if defined(__x86_64__)
#define ORDER_WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define ORDER_WIDE
#endif
#define ORDER_INLINE ORDER_WIDE __attribute__((always_inline)) static inline

/* How numbers of a dtype become keys: moved to the leading bits, then as floats, or with these bits flipped. */
typedef struct order_kind {
    size_t item;
    int bits, shift;       /* of a key; of a number in it */
    bool is_float;
    uint64_t flip, infinity, descending;
} order_kind;

static order_kind order_kind_of(const order_row *row)
{
    const ts_dtype_info *info = ts_dtype_get(row->dtype);
    order_kind k = {.item = ts_dtype_bytes(row->dtype), .is_float = info->kind == 'f'};
    k.bits = k.item == 8 ? 64 : 32;
    k.shift = k.bits - 8 * (int)k.item;
    uint64_t infinity = row->dtype == TS_DTYPE_bfloat16 ? 0x7F80 : k.item == 2 ? 0x7C00 : 0x7F800000;
    k.infinity = k.item == 8 ? 0x7FF0000000000000 : infinity << k.shift;
    k.flip = info->kind == 'i' ? 0 : (uint64_t)1 << (k.bits - 1);
    k.descending = row->descending ? UINT64_MAX : 0;
    return k;
}

/* ---- keys ---------------------------------------------------------------------------------------- */

/* Bits to keys; `to` may be `from`. A float of which more is to be known than its key makes *odd other
 * than 0. */
#define ORDER_KEYS(bits, word, signed_word, most)                                                                   \
    ORDER_INLINE uint64_t order_floats_of_##bits(const word *from, word *to, int64_t n, word infinity, word flip)   \
    {                                                                                                               \
        word odd = 0;                                                                                               \
        for (int64_t i = 0; i < n; i++) {                                                                           \
            word x = from[i], magnitude = x & (word)most;                                                           \
            word key = x ^ (word)((signed_word)x >> (bits - 1) & most);                                             \
            word is_nan = magnitude > infinity ? (word)-1 : 0, is_zero = key == (word)-1 ? (word)-1 : 0;            \
            odd |= is_nan | is_zero;                                                                                \
            to[i] = ((key | is_nan) & (word)~(is_zero | (is_nan & (word)~most))) ^ flip;                            \
        }                                                                                                           \
        return odd;                                                                                                 \
    }                                                                                                               \
    ORDER_WIDE static uint64_t order_floats_##bits(const word *from, word *to, int64_t n, word infinity, word flip) \
    {                                                                                                               \
        return from == to ? order_floats_of_##bits(to, to, n, infinity, flip)                                       \
                          : order_floats_of_##bits(from, to, n, infinity, flip);                                    \
    }
ORDER_KEYS(32, uint32_t, int32_t, INT32_MAX)
ORDER_KEYS(64, uint64_t, int64_t, INT64_MAX)

/* Whether elements are not told by their keys alone. `from` may be `to`. */
static bool order_to_keys(const order_kind *k, const void *from, void *to, int64_t n)
{
    if (k->is_float)
        return k->bits == 32 ? order_floats_32(from, to, n, (uint32_t)k->infinity, (uint32_t)k->descending)
                             : order_floats_64(from, to, n, k->infinity, k->descending);
    if (from != to)
        memcpy(to, from, (size_t)(n * k->bits / 8));
    if (k->bits == 32)
        ts__sort_flip_32(to, n, (uint32_t)(k->flip ^ k->descending));
    else
        ts__sort_flip_64(to, n, k->flip ^ k->descending);
    return false;
}

static void order_of_keys(const order_kind *k, void *x, int64_t n)
{
    if (!k->is_float)
        (void)order_to_keys(k, x, x, n);
    else if (k->bits == 32) {
        ts__sort_flip_32(x, n, (uint32_t)k->descending);
        ts__sort_keys_32(x, n);
    } else {
        ts__sort_flip_64(x, n, k->descending);
        ts__sort_keys_64(x, n);
    }
}

/* The place of the first key of sorted values that is not below this one. */
static int64_t order_first(const order_row *row, int64_t item, uint64_t key)
{
    uint64_t flip = row->descending ? UINT64_MAX : 0;
    int64_t low = 0, high = row->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if ((order_key(row->values + middle * row->out_step * item, row->dtype) ^ flip) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Zeros of either sign and what is no number, among sorted values, as they were in the row. */
static void order_put_back(const order_row *row, int64_t item)
{
    static const char zero[8], no_number[8] = {-1, -1, -1, -1, -1, -1, -1, 127};
    uint64_t flip = row->descending ? UINT64_MAX : 0, keys[2];
    int64_t at[2];
    bool some = false;
    keys[0] = order_key(zero, row->dtype) ^ flip;
    keys[1] = order_key(no_number + 8 - item, row->dtype) ^ flip;
    for (int i = 0; i < 2; i++) {
        at[i] = order_first(row, item, keys[i]);
        some |= at[i] < row->n && (order_key(row->values + at[i] * row->out_step * item, row->dtype) ^ flip) == keys[i];
    }
    for (int64_t i = 0; some && i < row->n; i++) {
        const char *from = row->from + i * row->step;
        uint64_t key = order_key(from, row->dtype) ^ flip;
        if (key == keys[0] || key == keys[1])
            memcpy(row->values + at[key == keys[1]]++ * row->out_step * item, from, (size_t)item);
    }
}

/* ---- one row ------------------------------------------------------------------------------------- */

/* Numbers to words whose leading bits they are, and back; steps in bytes. */
static inline __attribute__((always_inline)) void order_widen(const char *from, int64_t step, uint32_t *to, int64_t n,
                                                              size_t item)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (uint32_t)order_load(from + i * step, item) << (32 - 8 * item);
}

static inline __attribute__((always_inline)) void order_narrow(const uint32_t *from, char *to, int64_t step, int64_t n,
                                                               size_t item)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t x = from[i] >> (32 - 8 * item);
        memcpy(to + i * step, &x, item);
    }
}

static void order_read(const order_kind *k, const char *from, int64_t step, void *to, int64_t n)
{
    if (step == (int64_t)k->item && k->item >= 4)
        memcpy(to, from, (size_t)n * k->item);
    else if (k->item == 8)
        for (int64_t i = 0; i < n; i++)
            ((uint64_t *)to)[i] = order_load(from + i * step, 8);
    else if (k->item == 4)
        order_widen(from, step, to, n, 4);
    else if (k->item == 2)
        order_widen(from, step, to, n, 2);
    else
        order_widen(from, step, to, n, 1);
}

static void order_write(const order_kind *k, const void *from, char *to, int64_t step, int64_t n)
{
    if (step == (int64_t)k->item && k->item >= 4)
        memcpy(to, from, (size_t)n * k->item);
    else if (k->item == 8)
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * step, (const uint64_t *)from + i, 8);
    else if (k->item == 4)
        order_narrow(from, to, step, n, 4);
    else if (k->item == 2)
        order_narrow(from, to, step, n, 2);
    else
        order_narrow(from, to, step, n, 1);
}

/* Keys of 8 or 16 bits, the leading ones of words, in order by how many there are of each. */
static bool order_counted(const order_kind *k, uint32_t *keys, int64_t n, uint32_t *counts)
{
    int bits = 8 * (int)k->item;
    if (bits == 32 || (bits == 16 && n < ORDER_COUNTED))
        return false;
    uint32_t top = 1u << (bits - 1);
    memset(counts, 0, sizeof *counts << bits);
    for (int64_t i = 0; i < n; i++)
        counts[(keys[i] >> k->shift) ^ top]++;
    for (uint32_t v = 0; v < 1u << bits; v++) {
        uint32_t key = (v ^ top) << k->shift;
        for (uint32_t *end = keys + counts[v]; keys < end; keys++)
            *keys = key;
    }
    return true;
}

bool ts__order_values(const order_row *row)
{
    order_kind k = order_kind_of(row);
    if (!ts__sort_is_there())
        return false;
    int64_t out_step = row->out_step * (int64_t)k.item;
    bool in_place = row->out_step == 1 && k.item >= 4;
    char *keys = in_place ? row->values : row->scratch;
    bool is_whole = row->step == (int64_t)k.item && k.item >= 4 && (uintptr_t)row->from % k.item == 0;
    if (!is_whole)
        order_read(&k, row->from, row->step, keys, row->n);
    bool odd = order_to_keys(&k, is_whole ? row->from : keys, keys, row->n);
    int64_t kth = odd ? -1 : row->kth; /* what is put back is looked up */
    if (k.bits == 64 && ts__sort_falls(SORT_INT_64, keys, row->n))
        ts__sort(SORT_INT_64, keys, row->n, kth);
    else if (k.bits == 32 && ts__sort_falls(SORT_INT_32, keys, row->n) &&
             !order_counted(&k, (uint32_t *)keys, row->n, (uint32_t *)(row->scratch + 4 * row->n)))
        ts__sort(SORT_INT_32, keys, row->n, kth);
    order_of_keys(&k, keys, row->n);
    if (!in_place)
        order_write(&k, keys, row->values, out_step, row->n);
    if (odd)
        order_put_back(row, (int64_t)k.item);
    return true;
}

/* ---- blocks of short rows ------------------------------------------------------------------------ */

/* Rows that are sorted together: where they come from and go to. What lies side by side is read and written by rows of
 * the block; what lies along the rows is turned. */
typedef struct order_block {
    order_row row;
    order_kind kind;
    int lanes, n_rows; /* of the block; of these some may be missing */
    bool beside_in, beside_out;
    char *from[ORDER_LANES], *values[ORDER_LANES], *places[ORDER_LANES];
} order_block;

static void order_lines_in(int bits, char *const lines[], int64_t at, int64_t n, char *rows)
{
    if (bits == 32)
        ts__sort_lines_in_32(lines, at, n, (int32_t *)(void *)rows);
    else
        ts__sort_lines_in_64(lines, at, n, (int64_t *)(void *)rows);
}

static void order_lines_out(int bits, const char *rows, char *const lines[], int n_lines, int64_t at, int64_t n)
{
    if (bits == 32)
        ts__sort_lines_out_32((const int32_t *)(const void *)rows, lines, n_lines, at, n);
    else
        ts__sort_lines_out_64((const int64_t *)(const void *)rows, lines, n_lines, at, n);
}

/* A square of the block's rows, each of which is as long as there are rows. */
typedef struct order_square {
    _Alignas(SORT_VECTOR) char bytes[ORDER_LANES][SORT_VECTOR];
    char *lines[ORDER_LANES];
} order_square;

static void order_square_begin(order_square *s)
{
    for (int l = 0; l < ORDER_LANES; l++)
        s->lines[l] = s->bytes[l];
}

/* Rows of the block as columns. */
static void order_block_read(const order_block *b, char *columns)
{
    const order_kind *k = &b->kind;
    int64_t n = b->row.n, item = (int64_t)k->item, wide = b->lanes, i = 0;
    order_square square;
    if (b->beside_in && item >= 4) {
        if (b->n_rows * item == SORT_VECTOR)
            for (; i < n; i++)
                memcpy(columns + i * SORT_VECTOR, b->from[0] + i * b->row.step, SORT_VECTOR);
        for (; i < n; i++)
            memcpy(columns + i * SORT_VECTOR, b->from[0] + i * b->row.step, (size_t)(b->n_rows * item));
        return;
    }
    if (b->row.step == item && item >= 4)
        for (; i < n; i += wide)
            order_lines_in(k->bits, b->from, i * item, TS_MIN(wide, n - i), columns + i * SORT_VECTOR);
    order_square_begin(&square);
    for (; i < n; i += wide) {
        for (int l = 0; l < wide; l++)
            order_read(k, b->from[l] + i * b->row.step, b->row.step, square.lines[l], TS_MIN(wide, n - i));
        order_lines_in(k->bits, square.lines, 0, wide, columns + i * SORT_VECTOR);
    }
}

/* Columns to rows `out` of the block, whose elements are of the kind. */
static void order_block_write(const order_block *b, const order_kind *k, const char *columns, char *const out[],
                              int n_rows)
{
    int64_t n = b->row.n, item = (int64_t)k->item, wide = SORT_VECTOR * 8 / k->bits, step = b->row.out_step * item;
    int64_t i = 0;
    order_square square;
    if (b->beside_out && item >= 4) {
        if (n_rows * item == SORT_VECTOR)
            for (; i < n; i++)
                memcpy(out[0] + i * step, columns + i * SORT_VECTOR, SORT_VECTOR);
        for (; i < n; i++)
            memcpy(out[0] + i * step, columns + i * SORT_VECTOR, (size_t)(n_rows * item));
        return;
    }
    if (step == item && item >= 4)
        for (; i < n; i += wide)
            order_lines_out(k->bits, columns + i * SORT_VECTOR, out, n_rows, i * item, TS_MIN(wide, n - i));
    order_square_begin(&square);
    for (; i < n; i += wide) {
        order_lines_out(k->bits, columns + i * SORT_VECTOR, square.lines, (int)wide, 0, wide);
        for (int l = 0; l < n_rows; l++)
            order_write(k, square.lines[l], out[l] + i * step, step, TS_MIN(wide, n - i));
    }
}

/* Rows beyond the n that are there are greater than all. */
static int64_t order_pad(char *columns, int64_t n, int bits)
{
    int64_t end = (n + SORT_TURNED - 1) / SORT_TURNED * SORT_TURNED;
    for (int64_t i = n * SORT_VECTOR / 8; i < end * SORT_VECTOR / 8; i++)
        ((uint64_t *)(void *)columns)[i] = bits == 64 ? INT64_MAX : 0x7FFFFFFF7FFFFFFF;
    return end;
}

static order_row order_lane(const order_block *b, int l)
{
    order_row row = b->row;
    row.from = b->from[l];
    row.values = b->values[l];
    row.places = (int64_t *)(void *)b->places[l];
    return row;
}

static void order_block_values(const order_block *b, char *columns, bool odd)
{
    int64_t n = b->row.n, padded = order_pad(columns, n, b->kind.bits);
    if (b->kind.bits == 32)
        ts__sort_columns_32((int32_t *)(void *)columns, padded);
    else
        ts__sort_columns_64((int64_t *)(void *)columns, padded);
    order_of_keys(&b->kind, columns, n * b->lanes);
    order_block_write(b, &b->kind, columns, b->values, b->n_rows);
    for (int l = 0; odd && l < b->n_rows; l++) {
        order_row row = order_lane(b, l);
        order_put_back(&row, (int64_t)b->kind.item);
    }
}

/* Words of 8 rows from their keys of 32 bits, which are every 16th. */
ORDER_WIDE static void order_words_32(const int32_t *keys, int64_t n, int64_t *words)
{
    for (int64_t i = 0; i < n; i++)
        for (int l = 0; l < 8; l++)
            words[i * 8 + l] = (int64_t)((uint64_t)(uint32_t)keys[i * 16 + l] << 32 | (uint64_t)i);
}

static int order_bits(uint64_t x)
{
    return x ? 64 - __builtin_clzll(x) : 0;
}

/* The same from 8 keys of 64 bits each, in place; whether some bits are lost. */
ORDER_WIDE static bool order_words_64(int64_t *keys, int64_t n)
{
    int64_t least[8], most[8];
    uint64_t cut[8], all = 0;
    for (int l = 0; l < 8; l++)
        least[l] = INT64_MAX, most[l] = INT64_MIN;
    for (int64_t i = 0; i < n; i++)
        for (int l = 0; l < 8; l++) {
            least[l] = TS_MIN(least[l], keys[i * 8 + l]);
            most[l] = TS_MAX(most[l], keys[i * 8 + l]);
        }
    for (int l = 0; l < 8; l++) {
        cut[l] = (uint64_t)TS_MAX(order_bits((uint64_t)most[l] - (uint64_t)least[l]) - 32, 0);
        all |= cut[l];
    }
    for (int64_t i = 0; i < n; i++)
        for (int l = 0; l < 8; l++) {
            uint64_t word = ((uint64_t)keys[i * 8 + l] - (uint64_t)least[l]) >> cut[l] << 32 | (uint64_t)i;
            keys[i * 8 + l] = (int64_t)(word ^ (uint64_t)1 << 63);
        }
    return all != 0;
}

/* Whether neighbours in sorted rows are alike in their leading bits. */
ORDER_WIDE static bool order_alike(const uint64_t *words, int64_t n)
{
    uint64_t alike = 0;
    for (int64_t i = 8; i < n * 8; i++)
        alike |= (words[i] ^ words[i - 8]) >> 32 ? 0 : 1;
    return alike;
}

ORDER_WIDE static void order_places(uint64_t *words, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        words[i] = (uint32_t)words[i];
}

/* Rows from `first` on of the block, from their words. `room`: of 40 n bytes. */
static void order_block_places(const order_block *b, int first, char *words, bool cut, char *room)
{
    static const order_kind kind = {.item = 8, .bits = 64};
    int64_t n = b->row.n, padded = order_pad(words, n, 64);
    int n_rows = TS_MIN(b->n_rows - first, 8);
    uint64_t *w = (uint64_t *)(void *)words, *line = (uint64_t *)(void *)room;
    ts__sort_columns_64((int64_t *)(void *)words, padded);
    bool alike = cut && order_alike(w, n);
    for (int l = 0; alike && l < n_rows; l++) {
        order_row row = order_lane(b, first + l);
        for (int64_t i = 0; i < n; i++)
            line[i] = w[i * 8 + l];
        ts__order_runs(&row, line, line + n);
        for (int64_t i = 0; i < n; i++)
            w[i * 8 + l] = line[i];
    }
    order_places(w, n * 8);
    order_block_write(b, &kind, words, b->places + first, n_rows);
}

/* Values from where places say that they come from. */
static void order_block_move(const order_block *b)
{
    size_t item = b->kind.item;
    for (int l = 0; l < b->n_rows; l++) {
        order_row row = order_lane(b, l);
        for (int64_t i = 0; i < row.n; i++)
            memcpy(row.values + i * row.out_step * (int64_t)item,
                   row.from + row.places[i * row.out_step] * row.step, item);
    }
}

/* Asks for the memory of rows that are `apart` bytes from these and turned: no processor sees 16 of them come. */
static void order_ask(char *const rows[], int n_rows, int64_t apart, int64_t bytes, bool writes)
{
    for (int l = 0; l < n_rows; l++)
        for (int64_t i = 0; i < bytes; i += SORT_VECTOR) {
            const char *at = (const char *)((uintptr_t)rows[l] + (uintptr_t)(apart + i));
            if (writes)
                __builtin_prefetch(at, 1);
            else
                __builtin_prefetch(at, 0);
        }
}

static void order_block_run(const order_block *b)
{
    int64_t n = b->row.n, bytes = (n + SORT_TURNED) * SORT_VECTOR, item = (int64_t)b->kind.item;
    char *columns = b->row.scratch, *words = columns + bytes, *room = words + bytes;
    order_block_read(b, columns);
    if (b->row.step == item && n * item < 4096)
        order_ask(b->from, b->n_rows, b->n_rows * (b->from[1] - b->from[0]), n * item, false);
    if (b->row.out_step == 1 && b->values[0] && n * item < 4096)
        order_ask(b->values, b->n_rows, 0, n * item, true);
    bool odd = order_to_keys(&b->kind, columns, columns, n * b->lanes);
    if (!b->row.places) {
        order_block_values(b, columns, odd);
        return;
    }
    if (b->kind.bits == 64)
        order_block_places(b, 0, columns, order_words_64((int64_t *)(void *)columns, n), room);
    for (int first = 0; b->kind.bits == 32 && first < b->n_rows; first += 8) {
        order_words_32((int32_t *)(void *)columns + first, n, (int64_t *)(void *)words);
        order_block_places(b, first, words, false, room);
    }
    if (b->row.values)
        order_block_move(b);
}

/* ---- longer rows that lie beside each other ------------------------------------------------------ */

/* Elements of rows that lie beside each other to lines, and back; `at`: of element 0 of the first row, `step` between
 * elements of a row. */
static void order_columns_in(const order_block *b, int bits, const char *at, int64_t step, char *const lines[])
{
    int64_t n = b->row.n, item = bits / 8, wide = SORT_VECTOR / item;
    order_square square;
    for (int64_t i = 0; i < n; i += wide) {
        int64_t here = TS_MIN(wide, n - i);
        for (int64_t k = 0; k < here; k++, at += step) {
            __builtin_prefetch((const char *)((uintptr_t)at + (uintptr_t)(2 * wide * step)));
            memcpy(square.bytes[k], at, (size_t)(b->n_rows * item));
        }
        order_lines_out(bits, square.bytes[0], lines, b->n_rows, i * item, here);
    }
}

static void order_columns_out(const order_block *b, int bits, char *const lines[], char *at, int64_t step)
{
    int64_t n = b->row.n, item = bits / 8, wide = SORT_VECTOR / item;
    order_square square;
    for (int64_t i = 0; i < n; i += wide) {
        int64_t here = TS_MIN(wide, n - i);
        order_lines_in(bits, lines, i * item, here, square.bytes[0]);
        for (int64_t k = 0; k < here; k++, at += step) {
            __builtin_prefetch((const char *)((uintptr_t)at + (uintptr_t)(2 * wide * step)), 1);
            memcpy(at, square.bytes[k], (size_t)(b->n_rows * item));
        }
    }
}

/* Rows that are columns of memory are copied, sorted one by one, and copied to columns. */
static void order_columns_run(const order_block *b)
{
    int64_t n = b->row.n, item = (int64_t)b->kind.item, line = (n + 8) * 8;
    char *from[ORDER_LANES], *values[ORDER_LANES], *places[ORDER_LANES];
    for (int l = 0; l < ORDER_LANES; l++) {
        from[l] = b->row.scratch + l * line;
        values[l] = from[l] + ORDER_LANES * line;
        places[l] = values[l] + ORDER_LANES * line;
    }
    order_columns_in(b, 8 * (int)item, b->from[0], b->row.step, from);
    for (int l = 0; l < b->n_rows; l++) {
        order_row row = order_lane(b, l);
        row.from = from[l];
        row.step = item;
        row.out_step = 1;
        row.values = row.values ? values[l] : NULL;
        row.places = row.places ? (int64_t *)(void *)places[l] : NULL;
        row.scratch = places[0] + ORDER_LANES * line;
        ts__order_one(&row);
    }
    if (b->values[0])
        order_columns_out(b, 8 * (int)item, values, b->values[0], b->row.out_step * item);
    for (int l = 0; b->places[0] && l < b->n_rows; l += 8) {
        order_block some = *b;
        some.n_rows = TS_MIN(b->n_rows - l, 8);
        order_columns_out(&some, 64, places + l, b->places[l], b->row.out_step * 8);
    }
}

/* ---- many rows ----------------------------------------------------------------------------------- */

/* How many rows lie beside each other, at most `most`. */
static int order_run_of(const int64_t *at, int64_t step, int most)
{
    int n = 1;
    while (n < most && at[n] == at[n - 1] + step)
        n++;
    return n;
}

int64_t ts__order_beside(const order_row *all, const int64_t *from, const int64_t *to, int64_t rows)
{
    order_block b = {.row = *all, .kind = order_kind_of(all)};
    int64_t item = (int64_t)b.kind.item;
    if (!ts__sort_is_there())
        return 0;
    bool is_short = all->n <= SORT_COLUMN_MOST;
    b.lanes = SORT_VECTOR * 8 / b.kind.bits;
    int most = (int)TS_MIN(rows, b.lanes);
    int in = order_run_of(from, item, most), out = order_run_of(to, 1, most);
    b.n_rows = all->out_step == 1 || out < ORDER_FEW_ROWS ? most : out;
    b.beside_in = in >= b.n_rows;
    b.beside_out = all->out_step != 1 && out >= b.n_rows;
    if (b.n_rows < TS_MIN(ORDER_FEW_ROWS, b.lanes / 2) || (!is_short && !(b.beside_in && b.beside_out && item >= 4)))
        return 0;
    for (int l = 0; l < b.lanes; l++) {
        int row = l < b.n_rows ? l : 0;
        b.from[l] = (char *)(uintptr_t)(all->from + from[row]);
        b.values[l] = all->values ? all->values + to[row] * item : NULL;
        b.places[l] = all->places ? (char *)(all->places + to[row]) : NULL;
    }
    if (is_short)
        order_block_run(&b);
    else
        order_columns_run(&b);
    return b.n_rows;
}
