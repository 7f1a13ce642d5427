/* SPDX-License-Identifier: Apache-2.0
 *
 * Words, numbers, names and types of the text form: see lex.h. The grammar of types is that of
 * ts_print_type; instructions are read.c's.
 */
#include "ir/lex.h"
#include "ir/scalar.h"
#include <stdio.h>

/* ---- characters ------------------------------------------------------------------------------ */

ts_status ts__lex_fail(const ts__lex *l, const char *format, ...)
{
    char message[512];
    uint32_t line = 1, col = 1;
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    for (const char *p = l->text; p < l->at; p++) {
        col = *p == '\n' ? 1 : col + 1;
        line += *p == '\n';
    }
    if (ts__module_failed(l->m))
        return ts_fail(l->err, TS_NOMEM, "out of memory while reading line %u", line);
    return ts_fail(l->err, TS_PARSE, "%u:%u: %s", line, col, message);
}

static bool lex_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool lex_is_letter(char c)
{
    return c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static int lex_hex(char c)
{
    if (lex_is_digit(c))
        return c - '0';
    return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

char ts__lex_peek(ts__lex *l)
{
    while (l->at < l->end) {
        char c = *l->at;
        if (c == '/' && l->end - l->at > 1 && l->at[1] == '/') {
            while (l->at < l->end && *l->at != '\n')
                l->at++;
        } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
            l->at++;
        else
            return c;
    }
    return 0;
}

bool ts__lex_value_follows(const ts__lex *l)
{
    const char *p = l->at;
    while (p < l->end && (*p == ' ' || *p == '\t'))
        p++;
    return p < l->end && *p == '%';
}

bool ts__lex_is(ts__lex *l, const char *punctuation)
{
    size_t n = strlen(punctuation);
    if (ts__lex_peek(l) != *punctuation || (size_t)(l->end - l->at) < n ||
        memcmp(l->at, punctuation, n) != 0)
        return false;
    l->at += n;
    return true;
}

ts_status ts__lex_fail_wanted(ts__lex *l, const char *wanted)
{
    if (!ts__lex_peek(l))
        return ts__lex_fail(l, "the text ends where %s is wanted", wanted);
    const char *end = l->at;
    while (end < l->end && end - l->at < 20 && *end != ' ' && *end != '\n')
        end++;
    return ts__lex_fail(l, "%s is wanted here, found '%.*s'", wanted, (int)(end - l->at), l->at);
}

ts_status ts__lex_want(ts__lex *l, const char *punctuation)
{
    if (ts__lex_is(l, punctuation))
        return TS_OK;
    char wanted[24];
    snprintf(wanted, sizeof wanted, "'%s'", punctuation);
    return ts__lex_fail_wanted(l, wanted);
}

ts__piece ts__lex_word(ts__lex *l)
{
    ts__piece word = {l->at, 0};
    if (!lex_is_letter(ts__lex_peek(l)))
        return word;
    word.at = l->at;
    while (l->at < l->end && (lex_is_letter(*l->at) || lex_is_digit(*l->at) || *l->at == '.'))
        l->at++;
    word.n = (uint32_t)TS_MIN(l->at - word.at, 4096);
    return word;
}

bool ts__piece_is(ts__piece piece, const char *word)
{
    return strlen(word) == piece.n && memcmp(piece.at, word, piece.n) == 0;
}

bool ts__lex_is_word(ts__lex *l, const char *word)
{
    const char *start = l->at;
    if (ts__piece_is(ts__lex_word(l), word))
        return true;
    l->at = start;
    return false;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Digits to 64 bits; false on overflow or when there are none. */
static bool lex_digits(ts__lex *l, uint32_t base, uint64_t *value)
{
    const char *start = l->at;
    uint64_t x = 0;
    for (; l->at < l->end; l->at++) {
        int digit = base == 16 ? lex_hex(*l->at) : lex_is_digit(*l->at) ? *l->at - '0' : -1;
        if (digit < 0)
            break;
        if (x > (UINT64_MAX - (uint32_t)digit) / base)
            return false;
        x = x * base + (uint32_t)digit;
    }
    *value = x;
    return l->at > start;
}

static bool lex_is_hex(const ts__lex *l)
{
    return l->end - l->at > 2 && l->at[0] == '0' && l->at[1] == 'x';
}

/* Sign and magnitude; hexadecimal after 0x. */
static ts_status lex_magnitude(ts__lex *l, bool *negative, uint64_t *x)
{
    ts__lex_peek(l);
    *negative = ts__lex_is(l, "-");
    bool hex = lex_is_hex(l);
    l->at += hex ? 2 : 0;
    if (!lex_digits(l, hex ? 16 : 10, x))
        return ts__lex_fail(l, "a number of at most 64 bits is wanted here");
    return TS_OK;
}

ts_status ts__lex_int(ts__lex *l, int64_t *value)
{
    bool negative = false;
    uint64_t x = 0;
    TS_TRY(lex_magnitude(l, &negative, &x));
    if (x > (uint64_t)INT64_MAX + negative)
        return ts__lex_fail(l, "the number does not fit 64 bits");
    *value = (int64_t)(negative ? 0 - x : x);
    return TS_OK;
}

ts_status ts__lex_u32(ts__lex *l, uint32_t *value)
{
    int64_t x = 0;
    TS_TRY(ts__lex_int(l, &x));
    if (x < 0 || x > UINT32_MAX)
        return ts__lex_fail(l, "%lld is not a number from 0 to 2^32 - 1", (long long)x);
    *value = (uint32_t)x;
    return TS_OK;
}

/* An integer payload: anything from the least signed to the greatest unsigned value of the type. */
static ts_status lex_int_payload(ts__lex *l, ts_type elem, uint64_t *payload)
{
    bool negative = false;
    uint64_t x = 0;
    TS_TRY(lex_magnitude(l, &negative, &x));
    uint32_t bits = ts__scalar_bits(elem);
    uint64_t top = bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1,
             least = (uint64_t)1 << (bits - 1);
    if (negative ? x > least : x > top)
        return ts__lex_fail(l, "the number does not fit %s", ts_scalar_name(elem));
    *payload = ts__scalar_wrap(elem, negative ? 0 - x : x);
    return TS_OK;
}

/* digits [. digits] [e exponent] to mantissa and power of ten */
static ts_status lex_decimal(ts__lex *l, int64_t *mantissa, int *exponent)
{
    uint64_t x = 0;
    int places = 0;
    bool point = false;
    const char *start = l->at;
    for (; l->at < l->end && (lex_is_digit(*l->at) || (*l->at == '.' && !point)); l->at++) {
        point |= *l->at == '.';
        if (*l->at == '.')
            continue;
        places += point;
        x = x * 10 + (uint64_t)(*l->at - '0');
        if (x >= (uint64_t)1 << 53)
            return ts__lex_fail(l, "the number has too many digits: write its bits as 0x...");
    }
    if (l->at == start)
        return ts__lex_fail(l, "a number is wanted here");
    int64_t power = 0;
    if (l->at < l->end && (*l->at == 'e' || *l->at == 'E')) {
        l->at++;
        TS_TRY(ts__lex_int(l, &power));
    }
    if (power < -1000 || power > 1000 || power - places < -22 || power - places > 22)
        return ts__lex_fail(l, "the exponent is too large: write the number's bits as 0x...");
    *mantissa = (int64_t)x;
    *exponent = (int)power - places;
    return TS_OK;
}

static ts_status lex_float_payload(ts__lex *l, ts_type elem, uint64_t *payload)
{
    int64_t mantissa = 0;
    int exponent = 0;
    bool negative = ts__lex_is(l, "-");
    double value;
    if (ts__lex_is_word(l, "inf"))
        value = (double)__builtin_inf();
    else if (ts__lex_is_word(l, "nan"))
        value = (double)__builtin_nan("");
    else {
        TS_TRY(lex_decimal(l, &mantissa, &exponent));
        value = ts__decimal(mantissa, exponent);
    }
    *payload = ts__float_payload(elem, negative ? -value : value);
    return TS_OK;
}

/* Pointers are 64 bits wide, shared ones 32; other scalars have their own width. */
static ts_status lex_bits_payload(ts__lex *l, ts_type elem, uint64_t *payload)
{
    bool negative = false;
    uint64_t x = 0;
    TS_TRY(lex_magnitude(l, &negative, &x));
    uint32_t bits = ts_type_bits(l->m, elem);
    if (negative || (bits < 64 && x >> bits))
        return ts__lex_fail(l, "these bits do not fit the type");
    *payload = x;
    return TS_OK;
}

ts_status ts__lex_payload(ts__lex *l, ts_type elem, uint64_t *payload)
{
    char c = ts__lex_peek(l);
    if (ts_type_is_scalar(elem) && ts_type_is_int(l->m, elem)) {
        if (ts__lex_is_word(l, "true") || ts__lex_is_word(l, "false")) {
            *payload = c == 't';
            return TS_OK;
        }
        return lex_int_payload(l, elem, payload);
    }
    if (ts__has_decimal(elem) && !lex_is_hex(l))
        return lex_float_payload(l, elem, payload);
    return lex_bits_payload(l, elem, payload);
}

/* ---- strings and data ------------------------------------------------------------------------ */

/* One character after a backslash; -1 when malformed. */
static int lex_escape(ts__lex *l)
{
    if (l->at == l->end)
        return -1;
    char c = *l->at++;
    if (c == 'n')
        return '\n';
    if (c != 'x')
        return c == '"' || c == '\\' ? c : -1;
    if (l->end - l->at < 2 || lex_hex(l->at[0]) < 0 || lex_hex(l->at[1]) < 0)
        return -1;
    int value = lex_hex(l->at[0]) << 4 | lex_hex(l->at[1]);
    l->at += 2;
    return value ? value : -1;
}

ts_status ts__lex_string(ts__lex *l, ts_str *string)
{
    ts_text text;
    TS_TRY(ts__lex_want(l, "\""));
    ts__text_init(&text, l->m->arena->alloc);
    ts_status status = TS_OK;
    while (status == TS_OK && l->at < l->end && *l->at != '"') {
        int c = (unsigned char)*l->at++;
        if (c == '\\')
            c = lex_escape(l);
        if (c <= 0)
            status = ts__lex_fail(
                l, "a string escapes with \\n, \\\\, \\\" or \\xHH, and holds no zero byte");
        else
            ts__text_putc(&text, (char)c);
    }
    if (status == TS_OK && l->at == l->end)
        status = ts__lex_fail(l, "the string never ends");
    l->at += status == TS_OK;
    if (status == TS_OK)
        *string = ts_intern(l->m, ts__text_get(&text), text.n);
    if (text.failed)
        l->m->arena->failed = true;
    ts__text_deinit(&text);
    return ts__module_failed(l->m) ? ts__lex_fail(l, "out of memory") : status;
}

ts_status ts__lex_symbol(ts__lex *l, ts_str *string)
{
    TS_TRY(ts__lex_want(l, "@"));
    if (l->at < l->end && *l->at == '"')
        return ts__lex_string(l, string);
    const char *start = l->at;
    while (l->at < l->end &&
           (lex_is_letter(*l->at) || lex_is_digit(*l->at) || *l->at == '.' || *l->at == '$'))
        l->at++;
    if (l->at == start)
        return ts__lex_fail(l, "a name is wanted after '@'");
    *string = ts_intern(l->m, start, (size_t)(l->at - start));
    return ts__module_failed(l->m) ? ts__lex_fail(l, "out of memory") : TS_OK;
}

ts_status ts__lex_dense(ts__lex *l, uint32_t *index)
{
    TS_TRY(ts__lex_want(l, "\""));
    const char *start = l->at;
    while (l->at < l->end && lex_hex(*l->at) >= 0)
        l->at++;
    size_t n = (size_t)(l->at - start);
    if (l->at == l->end || *l->at != '"' || n % 2)
        return ts__lex_fail(l, "data is pairs of hexadecimal digits in quotes");
    l->at++;
    uint8_t *bytes = ts__arena_get(l->m->arena, n / 2 + 1);
    for (size_t i = 0; bytes && i < n / 2; i++)
        bytes[i] = (uint8_t)(lex_hex(start[2 * i]) << 4 | lex_hex(start[2 * i + 1]));
    if (!bytes || !TS_PUSH(l->m->arena, &l->m->dense, ((ts_dense){bytes, n / 2})))
        return ts__lex_fail(l, "out of memory");
    *index = l->m->dense.n - 1;
    return TS_OK;
}

/* ---- names of values ------------------------------------------------------------------------- */

static uint64_t lex_hash(ts__piece name)
{
    return ts__hash(name.at, name.n, 5);
}

static bool lex_same(ts__piece a, ts__piece b)
{
    return a.n == b.n && memcmp(a.at, b.at, a.n) == 0;
}

void ts__lex_forget_names(ts__lex *l)
{
    l->names.n = 0;
    if (l->table)
        memset(l->table, 0, l->table_cap * sizeof *l->table);
}

/* The table's slot where `name` is or would be. Needs a table with a free slot. */
static uint32_t lex_slot(const ts__lex *l, ts__piece name)
{
    uint32_t at = (uint32_t)lex_hash(name) & (l->table_cap - 1);
    while (l->table[at] && !lex_same(l->names.at[l->table[at] - 1].text, name))
        at = (at + 1) & (l->table_cap - 1);
    return at;
}

static bool lex_grow(ts__lex *l)
{
    if (l->names.n < l->table_cap / 2)
        return true;
    uint32_t cap = l->table_cap ? l->table_cap * 2 : 64;
    uint32_t *table = TS_NEW_N(l->m->arena, uint32_t, cap);
    if (!table)
        return false;
    l->table = table;
    l->table_cap = cap;
    for (uint32_t i = 0; i < l->names.n; i++)
        table[lex_slot(l, l->names.at[i].text)] = i + 1;
    return true;
}

ts_status ts__lex_new_name(ts__lex *l, ts__piece *name)
{
    TS_TRY(ts__lex_want(l, "%"));
    name->at = l->at;
    while (l->at < l->end && (lex_is_letter(*l->at) || lex_is_digit(*l->at) || *l->at == '.'))
        l->at++;
    if (l->at == name->at || l->at - name->at > 4096)
        return ts__lex_fail(l, "a value's name is wanted after '%%'");
    name->n = (uint32_t)(l->at - name->at);
    return TS_OK;
}

ts_status ts__lex_value(ts__lex *l, ts_val *value)
{
    ts__piece name;
    TS_TRY(ts__lex_new_name(l, &name));
    uint32_t entry = l->table ? l->table[lex_slot(l, name)] : 0;
    if (!entry) {
        l->at = name.at - 1;
        return ts__lex_fail(l, "%%%.*s is not defined before its use", (int)name.n, name.at);
    }
    *value = l->names.at[entry - 1].value;
    return TS_OK;
}

ts_status ts__lex_define(ts__lex *l, ts__piece name, ts_val value)
{
    if (!lex_grow(l))
        return ts__lex_fail(l, "out of memory");
    uint32_t at = lex_slot(l, name);
    if (l->table[at])
        return ts__lex_fail(l, "%%%.*s is defined twice", (int)name.n, name.at);
    if (!TS_PUSH(l->m->arena, &l->names, ((ts__name){name, value})))
        return ts__lex_fail(l, "out of memory");
    l->table[at] = l->names.n;
    return TS_OK;
}

/* ---- types ----------------------------------------------------------------------------------- */

static ts_status lex_type_at(ts__lex *l, uint32_t depth, ts_type *type);

static ts_status lex_make(ts__lex *l, const ts_type_info *info, ts_type *type)
{
    *type = ts_type_make(l->m, info);
    return ts__module_failed(l->m) ? ts__lex_fail(l, "out of memory") : TS_OK;
}

static ts_status lex_dim(ts__lex *l, int64_t *dim)
{
    if (ts__lex_is(l, "?")) {
        *dim = TS_DYNAMIC;
        return TS_OK;
    }
    return ts__lex_int(l, dim);
}

/* 64x?x then an element type */
static ts_status lex_shape(ts__lex *l, int64_t *dims, uint8_t *rank)
{
    while (ts__lex_peek(l) == '?' || ts__lex_peek(l) == '-' || lex_is_digit(ts__lex_peek(l))) {
        uint64_t x;
        if (*rank == TS_MAX_RANK)
            return ts__lex_fail(l, "a type has at most %d axes", TS_MAX_RANK);
        dims[*rank] = TS_DYNAMIC;
        if (!ts__lex_is(l, "?")) {
            bool negative = ts__lex_is(l, "-");
            if (!lex_digits(l, 10, &x) || x > INT64_MAX)
                return ts__lex_fail(l, "an extent is a number of at most 63 bits");
            dims[*rank] = negative ? -(int64_t)x : (int64_t)x;
        }
        ++*rank;
        TS_TRY(ts__lex_want(l, "x"));
    }
    return TS_OK;
}

/* Numbers up to ']'; `n` is how many there may be, or TS_NO: any number, told in *rank. */
static ts_status lex_list(ts__lex *l, int64_t *at, uint32_t n, uint8_t *rank)
{
    uint32_t found = 0;
    TS_TRY(ts__lex_want(l, "["));
    while (!ts__lex_is(l, "]")) {
        if (found)
            TS_TRY(ts__lex_want(l, ","));
        if (found == TS_MIN(n, (uint32_t)TS_MAX_RANK))
            return ts__lex_fail(l, "the list is longer than the type has axes");
        TS_TRY(lex_dim(l, &at[found++]));
    }
    if (n != TS_NO && found != n)
        return ts__lex_fail(l, "the list has %u numbers, the type %u axes", found, n);
    if (rank)
        *rank = (uint8_t)found;
    return TS_OK;
}

static ts_status lex_enum(ts__lex *l, const char *const *names, uint32_t n, uint8_t *value)
{
    ts__piece word = ts__lex_word(l);
    for (uint32_t i = 0; i < n; i++)
        if (ts__piece_is(word, names[i])) {
            *value = (uint8_t)i;
            return TS_OK;
        }
    return ts__lex_fail(l, "'%.*s' is not one of %s, %s, ...", (int)word.n, word.at, names[0],
                        names[1]);
}

static ts_status lex_tile(ts__lex *l, uint32_t depth, ts_type *type)
{
    int64_t dims[TS_MAX_RANK];
    ts_type_info info = {.kind = TS_KIND_TILE, .dims = dims};
    TS_TRY(lex_shape(l, dims, &info.rank));
    TS_TRY(lex_type_at(l, depth + 1, &info.elem));
    TS_TRY(ts__lex_want(l, ">"));
    return lex_make(l, &info, type);
}

static ts_status lex_ptr(ts__lex *l, uint32_t depth, ts_type *type)
{
    ts_type_info info = {.kind = TS_KIND_PTR};
    TS_TRY(lex_type_at(l, depth + 1, &info.elem));
    if (ts__lex_is(l, ","))
        TS_TRY(lex_enum(l, ts__spaces, TS_COUNT(ts__spaces), &info.space));
    TS_TRY(ts__lex_want(l, ">"));
    return lex_make(l, &info, type);
}

static ts_status lex_tensor_view(ts__lex *l, uint32_t depth, ts_type *type)
{
    int64_t dims[TS_MAX_RANK], strides[TS_MAX_RANK];
    ts_type_info info = {.kind = TS_KIND_TENSOR_VIEW, .dims = dims, .strides = strides};
    TS_TRY(lex_shape(l, dims, &info.rank));
    TS_TRY(lex_type_at(l, depth + 1, &info.elem));
    TS_TRY(ts__lex_want(l, ","));
    TS_TRY(ts__lex_want(l, "strides="));
    TS_TRY(lex_list(l, strides, info.rank, NULL));
    TS_TRY(ts__lex_want(l, ">"));
    return lex_make(l, &info, type);
}

/* What may follow tile and tensor of a view, in the order the printer has. */
static ts_status lex_view_options(ts__lex *l, ts_type_info *info, int64_t *steps, int32_t *map)
{
    while (ts__lex_is(l, ",")) {
        int64_t list[TS_MAX_RANK];
        uint32_t axis = 0;
        if (ts__lex_is(l, "steps=")) {
            TS_TRY(lex_list(l, steps, info->rank, NULL));
            info->strides = steps;
        } else if (ts__lex_is(l, "dim_map=")) {
            TS_TRY(lex_list(l, list, info->rank, NULL));
            for (uint32_t i = 0; i < info->rank; i++)
                map[i] = (int32_t)TS_MAX(TS_MIN(list[i], INT32_MAX), INT32_MIN);
        } else if (ts__lex_is(l, "sparse_dim=")) {
            TS_TRY(ts__lex_u32(l, &axis));
            info->sparse_dim = (uint8_t)TS_MIN(axis, 255u);
        } else {
            TS_TRY(ts__lex_want(l, "padding="));
            TS_TRY(lex_enum(l, ts__paddings, TS_COUNT(ts__paddings), &info->padding));
        }
    }
    return TS_OK;
}

static ts_status lex_view(ts__lex *l, ts_kind kind, uint32_t depth, ts_type *type)
{
    int64_t dims[TS_MAX_RANK], steps[TS_MAX_RANK];
    int32_t map[TS_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    ts_type_info info = {.kind = (uint8_t)kind, .dims = dims};
    TS_TRY(lex_list(l, dims, TS_NO, &info.rank));
    TS_TRY(ts__lex_want(l, ","));
    TS_TRY(lex_type_at(l, depth + 1, &info.elem));
    if (kind != TS_KIND_GATHER_SCATTER_VIEW)
        info.dim_map = map;
    TS_TRY(lex_view_options(l, &info, steps, map));
    TS_TRY(ts__lex_want(l, ">"));
    return lex_make(l, &info, type);
}

static ts_status lex_no_type(ts__lex *l, ts__piece word)
{
    return ts__lex_fail(l, "there is no type '%.*s'; types are numbers as i32 and f32, token, tile<4x8xf32>, ptr<f32>, "
                        "tensor_view<..> and its views", (int)TS_MIN(word.n, 60u), word.at);
}

static ts_status lex_types(ts__lex *l, uint32_t depth, ts_type *sub, uint32_t *n)
{
    TS_TRY(ts__lex_want(l, "("));
    for (uint32_t first = *n; !ts__lex_is(l, ")"); ++*n) {
        if (*n > first)
            TS_TRY(ts__lex_want(l, ","));
        if (*n == 64)
            return ts__lex_fail(l, "a function type has at most 64 parts");
        TS_TRY(lex_type_at(l, depth + 1, &sub[*n]));
    }
    return TS_OK;
}

static ts_status lex_func(ts__lex *l, uint32_t depth, ts_type *type)
{
    ts_type sub[64];
    uint32_t n = 0;
    ts_type_info info = {.kind = TS_KIND_FUNC, .sub = sub};
    TS_TRY(lex_types(l, depth, sub, &n));
    info.n_params = (uint16_t)n;
    TS_TRY(ts__lex_want(l, "->"));
    TS_TRY(lex_types(l, depth, sub, &n));
    info.n_results = (uint16_t)(n - info.n_params);
    TS_TRY(ts__lex_want(l, ">"));
    return lex_make(l, &info, type);
}

static ts_status lex_composite(ts__lex *l, ts__piece word, uint32_t depth, ts_type *type)
{
    static const char *const views[] = {"partition_view", "strided_view", "gather_scatter_view"};
    static const struct {
        const char *name;
        ts_status (*read)(ts__lex *, uint32_t, ts_type *);
    } kinds[] = {
        {"tile", lex_tile}, {"ptr", lex_ptr}, {"tensor_view", lex_tensor_view}, {"func", lex_func}};
    TS_TRY(ts__lex_want(l, "<"));
    for (size_t i = 0; i < TS_COUNT(kinds); i++)
        if (ts__piece_is(word, kinds[i].name))
            return kinds[i].read(l, depth, type);
    for (size_t i = 0; i < TS_COUNT(views); i++)
        if (ts__piece_is(word, views[i]))
            return lex_view(l, (ts_kind)(TS_KIND_PARTITION_VIEW + i), depth, type);
    l->at = word.at;
    return lex_no_type(l, word);
}

static ts_status lex_type_at(ts__lex *l, uint32_t depth, ts_type *type)
{
    if (depth > TS__MAX_TYPE_NEST)
        return ts__lex_fail(l, "types are nested deeper than %d", TS__MAX_TYPE_NEST);
    ts__piece word = ts__lex_word(l);
    if (!word.n)
        return ts__lex_fail_wanted(l, "a type");
    for (ts_type t = 0; t < TS_T_FIRST_COMPOSITE; t++)
        if (ts__piece_is(word, ts_scalar_name(t))) {
            *type = t;
            return TS_OK;
        }
    if (ts__lex_peek(l) != '<') {
        l->at = word.at;
        return lex_no_type(l, word);
    }
    return lex_composite(l, word, depth, type);
}

ts_status ts__lex_type(ts__lex *l, ts_type *type)
{
    return lex_type_at(l, 0, type);
}
