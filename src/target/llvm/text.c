/* SPDX-License-Identifier: Apache-2.0
 *
 * Text of the CPU code generator: SSA names, literals, blocks, the memo of what is already computed, and
 * index arithmetic that folds constants as it is written. See cg.h.
 */
#include "target/llvm/cg.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const text_regs[CG_REGS] = {"i1", "i8", "i16", "i32", "i64", "float", "double", "ptr"};
static const char *const text_short[CG_REGS] = {"i1", "i8", "i16", "i32", "i64", "f32", "f64", "p0"};

ts_status cg_fail(cg *e, ts_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (e->status == TS_OK) {
        e->status = status;
        ts__vfail(e->err, status, format, args);
    }
    va_end(args);
    return e->status;
}

/* ---- lines --------------------------------------------------------------------------------------*/

static void text_ref(cg *e, ts_text *out, cg_ref r)
{
    if (r & CG_LITERAL) {
        ts__text_puts(out, e->literal.at[r & ~CG_LITERAL].text);
        return;
    }
    ts__text_puts(out, "%v");
    ts__text_int(out, r);
}

static void text_format(cg *e, ts_text *out, const char *format, va_list args)
{
    for (const char *p = format; *p; p++) {
        const char *q = p;
        while (*q && *q != '%')
            q++;
        if (q > p)
            ts__text_put(out, p, (size_t)(q - p));
        if (!*q)
            return;
        p = q + 1;
        if (*p == 'r')
            text_ref(e, out, va_arg(args, cg_ref));
        else if (*p == 's')
            ts__text_puts(out, va_arg(args, const char *));
        else if (*p == 'd')
            ts__text_int(out, va_arg(args, int64_t));
        else if (*p == 'b') {
            ts__text_puts(out, "%b");
            ts__text_int(out, va_arg(args, uint32_t));
        } else
            ts__text_putc(out, *p); /* %% */
    }
}

void cg_line(cg *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ts__text_puts(&e->text, "  ");
    text_format(e, &e->text, format, args);
    ts__text_putc(&e->text, '\n');
    va_end(args);
}

cg_ref cg_name(cg *e)
{
    return ++e->n_ssa;
}

static void text_define(cg *e, ts_text *out, cg_ref name, const char *format, va_list args)
{
    ts__text_puts(out, "  ");
    text_ref(e, out, name);
    ts__text_puts(out, " = ");
    text_format(e, out, format, args);
    ts__text_putc(out, '\n');
}

void cg_define(cg *e, cg_ref name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_define(e, &e->text, name, format, args);
    va_end(args);
}

cg_ref cg_new(cg *e, const char *format, ...)
{
    va_list args;
    cg_ref name = cg_name(e);
    va_start(args, format);
    text_define(e, &e->text, name, format, args);
    va_end(args);
    return name;
}

/* A constant that dominates everything. */
static cg_ref text_entry(cg *e, const char *format, ...)
{
    va_list args;
    cg_ref name = cg_name(e);
    va_start(args, format);
    text_define(e, &e->entry, name, format, args);
    va_end(args);
    return name;
}

uint32_t cg_label(cg *e)
{
    return ++e->n_label;
}

void cg_block(cg *e, uint32_t label)
{
    ts__text_putc(&e->text, 'b');
    ts__text_int(&e->text, label);
    ts__text_puts(&e->text, ":\n");
    e->block = label;
}

void cg_br(cg *e, uint32_t label)
{
    cg_line(e, "br label %b", label);
}

void cg_declare(cg *e, const char *line)
{
    for (uint32_t i = 0; i < e->declared.n; i++)
        if (strcmp(e->declared.at[i], line) == 0)
            return;
    const char *copy = ts__arena_text(e->arena, line, strlen(line));
    if (!copy || !TS_PUSH(e->arena, &e->declared, copy))
        return;
    ts__text_puts(&e->decl, copy);
    ts__text_putc(&e->decl, '\n');
}

/* ---- maps ---------------------------------------------------------------------------------------*/

static uint32_t *text_bucket(const cg_map *map, uint64_t a, uint64_t b)
{
    return &map->bucket[ts_hash_mix(a, b) & (map->n_buckets - 1)];
}

static cg_ref text_find(const cg_map *map, uint64_t a, uint64_t b)
{
    if (!map->n_buckets)
        return 0;
    for (uint32_t i = *text_bucket(map, a, b); i; i = map->at.at[i - 1].next)
        if (map->at.at[i - 1].key[0] == a && map->at.at[i - 1].key[1] == b)
            return map->at.at[i - 1].value;
    return 0;
}

static bool text_grow(cg *e, cg_map *map)
{
    uint32_t n = map->n_buckets ? 4 * map->n_buckets : 256, *bucket = TS_NEW_N(e->arena, uint32_t, n);
    if (!bucket)
        return false;
    map->bucket = bucket;
    map->n_buckets = n;
    for (uint32_t i = 0; i < map->at.n; i++) {
        uint32_t *head = text_bucket(map, map->at.at[i].key[0], map->at.at[i].key[1]);
        map->at.at[i].next = *head;
        *head = i + 1;
    }
    return true;
}

/* Newer entries hide older ones of the same key; they may be taken away again in reverse order. */
static void text_put(cg *e, cg_map *map, uint64_t a, uint64_t b, cg_ref value)
{
    if (map->at.n >= map->n_buckets && !text_grow(e, map))
        return;
    uint32_t *head = text_bucket(map, a, b);
    if (TS_PUSH(e->arena, &map->at, ((cg_memo){{a, b}, value, *head})))
        *head = map->at.n;
}

/* ---- types and literals -------------------------------------------------------------------------*/

/* The name of one element; of 2^bits of them by the format, which takes their number and that name. */
TS_PRINTF(2, 0)
static const char *text_vector(cg *e, const char *format, uint32_t bits, const char *one)
{
    char text[32];
    if (!bits)
        return one;
    int n = snprintf(text, sizeof text, format, 1u << bits, one);
    const char *copy = ts__arena_text(e->arena, text, (size_t)n);
    return copy ? copy : "";
}

const char *cg_type(cg *e, cg_reg reg, uint32_t bits)
{
    return text_vector(e, "<%u x %s>", bits, text_regs[reg]);
}

const char *cg_suffix(cg *e, cg_reg reg, uint32_t bits)
{
    return text_vector(e, "v%u%s", bits, text_short[reg]);
}

cg_reg cg_reg_of(const cg *e, ts_type type)
{
    static const uint8_t regs[TS_T_token] = {
        [TS_T_i1] = CG_I1,        [TS_T_i8] = CG_I8,        [TS_T_i16] = CG_I16,  [TS_T_i32] = CG_I32,
        [TS_T_i64] = CG_I64,      [TS_T_f16] = CG_I16,      [TS_T_bf16] = CG_I16, [TS_T_f32] = CG_F32,
        [TS_T_tf32] = CG_F32,     [TS_T_f64] = CG_F64,      [TS_T_f8E4M3FN] = CG_I8, [TS_T_f8E5M2] = CG_I8,
        [TS_T_f8E8M0FNU] = CG_I8, [TS_T_f4E2M1FN] = CG_I8,  [TS_T_i4] = CG_I8,    [TS_T_f8E5M3FNU] = CG_I8,
    };
    ts_type elem = ts_type_elem(e->m, type);
    return elem < TS_T_token ? (cg_reg)regs[elem] : CG_I64;
}

uint32_t cg_elem_bytes(const cg *e, ts_type type)
{
    uint32_t bits = ts_type_bits(e->m, type);
    return bits < 8 ? 1 : bits / 8;
}

static cg_ref text_literal(cg *e, const char *text, size_t n, int64_t value, bool is_int)
{
    const char *copy = ts__arena_text(e->arena, text, n);
    if (!copy || !TS_PUSH(e->arena, &e->literal, ((cg_literal){copy, value, is_int}))) {
        cg_fail(e, TS_NOMEM, "out of memory while generating code");
        return CG_LITERAL;
    }
    return CG_LITERAL | (e->literal.n - 1);
}

cg_ref cg_text(cg *e, const char *text)
{
    return text_literal(e, text, strlen(text), 0, false);
}

/* Equal integers are one literal, so that equal coordinates are equal memory. */
cg_ref cg_int(cg *e, int64_t value)
{
    char text[24];
    cg_ref known = text_find(&e->ints, (uint64_t)value, 0);
    if (known)
        return known;
    int n = snprintf(text, sizeof text, "%lld", (long long)value);
    known = text_literal(e, text, (size_t)n, value, true);
    text_put(e, &e->ints, (uint64_t)value, 0, known);
    return known;
}

bool cg_is_int(const cg *e, cg_ref r, int64_t *value)
{
    if (!(r & CG_LITERAL) || !e->literal.at[r & ~CG_LITERAL].is_int)
        return false;
    *value = e->literal.at[r & ~CG_LITERAL].value;
    return true;
}

/* The text of one scalar constant. */
static int text_scalar(cg_reg reg, uint64_t payload, char *out, size_t n)
{
    uint64_t bits = payload;
    if (reg == CG_I1)
        return snprintf(out, n, "%s", payload & 1 ? "true" : "false");
    if (reg == CG_F32) { /* LLVM writes floats as the double of equal value; NaN keeps its payload bits */
        uint32_t low = (uint32_t)payload;
        float f;
        memcpy(&f, &low, 4);
        double d = (double)f;
        memcpy(&bits, &d, 8);
        if (f != f)
            bits = (uint64_t)(low >> 31) << 63 | 0x7FF0000000000000u | (uint64_t)(low & 0x7FFFFF) << 29;
    }
    if (reg == CG_F32 || reg == CG_F64)
        return snprintf(out, n, "0x%016llX", (unsigned long long)bits);
    static const uint8_t width[] = {1, 8, 16, 32, 64};
    uint32_t drop = 64u - width[reg];
    return snprintf(out, n, "%lld", (long long)((int64_t)(payload << drop) >> drop));
}

cg_ref cg_splat(cg *e, cg_reg reg, uint32_t bits, cg_ref scalar)
{
    if (!bits)
        return scalar;
    cg_ref known = cg_known(e, CG_KEY(1, scalar, bits), reg);
    if (known)
        return known;
    const char *vector = cg_type(e, reg, bits);
    cg_ref one = cg_new(e, "insertelement %s poison, %s %r, i64 0", vector, text_regs[reg], scalar);
    cg_ref all = cg_new(e, "shufflevector %s %r, %s poison, <%d x i32> zeroinitializer", vector, one, vector,
                        (int64_t)1 << bits);
    cg_remember(e, CG_KEY(1, scalar, bits), reg, all);
    return all;
}

/* Constants have a memo of their own without scopes: they sit in the entry block. */
cg_ref cg_const(cg *e, cg_reg reg, uint32_t bits, uint64_t payload)
{
    char text[32];
    int n = text_scalar(reg, payload, text, sizeof text);
    if (bits && !payload)
        return cg_text(e, "zeroinitializer");
    if (!bits && reg <= CG_I64 && reg != CG_I1)
        return cg_int(e, strtoll(text, NULL, 10));
    if (!bits)
        return text_literal(e, text, (size_t)n, 0, false);
    uint64_t key = (uint64_t)reg << 8 | bits;
    cg_ref known = text_find(&e->constants, key, payload);
    if (known)
        return known;
    const char *vector = cg_type(e, reg, bits);
    cg_ref one = text_entry(e, "insertelement %s poison, %s %s, i64 0", vector, text_regs[reg], text);
    cg_ref all = text_entry(e, "shufflevector %s %r, %s poison, <%d x i32> zeroinitializer", vector, one, vector,
                            (int64_t)1 << bits);
    text_put(e, &e->constants, key, payload, all);
    return all;
}

cg_ref cg_lanes(cg *e, cg_reg reg, uint32_t bits, const int64_t *value)
{
    char text[2400];
    size_t n = 0;
    if (!bits)
        return cg_const(e, reg, 0, (uint64_t)value[0]);
    text[n++] = '<';
    for (uint32_t i = 0; i < 1u << bits; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s ", i ? ", " : "", text_regs[reg]);
        n += (size_t)text_scalar(reg, (uint64_t)value[i], text + n, sizeof text - n);
    }
    text[n++] = '>';
    return text_literal(e, text, n, 0, false);
}

cg_ref cg_pick(cg *e, cg_reg reg, uint32_t bits, cg_ref x, uint32_t to_bits, const int32_t *lane)
{
    const char *vector = cg_type(e, reg, bits);
    if (!to_bits)
        return cg_new(e, "extractelement %s %r, i64 %d", vector, x, (int64_t)lane[0]);
    if (!bits)
        return cg_splat(e, reg, to_bits, x);
    int64_t wide[1 << CG_LANE_BITS];
    for (uint32_t i = 0; i < 1u << to_bits; i++)
        wide[i] = lane[i];
    cg_ref mask = cg_lanes(e, CG_I32, to_bits, wide);
    return cg_new(e, "shufflevector %s %r, %s poison, %s %r", vector, x, vector, cg_type(e, CG_I32, to_bits), mask);
}

cg_ref cg_join(cg *e, cg_reg reg, uint32_t bits, cg_ref low, cg_ref high)
{
    const char *vector = cg_type(e, reg, bits), *pair = cg_type(e, reg, 1);
    if (!bits) {
        cg_ref one = cg_new(e, "insertelement %s poison, %s %r, i64 0", pair, vector, low);
        return cg_new(e, "insertelement %s %r, %s %r, i64 1", pair, one, vector, high);
    }
    int64_t lane[1 << CG_LANE_BITS];
    for (int64_t i = 0; i < 2 << bits; i++)
        lane[i] = i;
    cg_ref mask = cg_lanes(e, CG_I32, bits + 1, lane);
    return cg_new(e, "shufflevector %s %r, %s %r, %s %r", vector, low, vector, high,
                  cg_type(e, CG_I32, bits + 1), mask);
}

/* Literal 0 and coordinates 0 always exist: what failed allocations give. */
bool cg_text_begin(cg *e)
{
    cg_index none;
    memset(&none, 0, sizeof none);
    (void)cg_int(e, 0);
    return e->literal.n == 1 && cg_intern(e, &none) == 0 && e->index.n == 1;
}

/* ---- memo ---------------------------------------------------------------------------------------*/

/* Entries made in a scope are forgotten when it closes: a scope is what one block dominates. */
void cg_scope_open(cg *e)
{
    (void)TS_PUSH(e->arena, &e->scope, e->memo.at.n);
}

void cg_scope_close(cg *e)
{
    uint32_t keep = e->scope.n ? e->scope.at[--e->scope.n] : 0;
    while (e->memo.at.n > keep) {
        const cg_memo *last = &e->memo.at.at[--e->memo.at.n];
        *text_bucket(&e->memo, last->key[0], last->key[1]) = last->next;
    }
}

cg_ref cg_known(const cg *e, uint64_t a, uint64_t b)
{
    return text_find(&e->memo, a, b);
}

void cg_remember(cg *e, uint64_t a, uint64_t b, cg_ref value)
{
    text_put(e, &e->memo, a, b, value);
}

/* ---- index arithmetic, i64 ----------------------------------------------------------------------*/

static cg_ref text_index_op(cg *e, uint32_t kind, const char *op, cg_ref a, cg_ref b)
{
    cg_ref known = cg_known(e, CG_KEY(kind, a, 0), b);
    if (known)
        return known;
    cg_ref r = cg_new(e, "%s i64 %r, %r", op, a, b);
    cg_remember(e, CG_KEY(kind, a, 0), b, r);
    return r;
}

cg_ref cg_add(cg *e, cg_ref a, cg_ref b)
{
    int64_t x, y;
    bool lit_a = cg_is_int(e, a, &x), lit_b = cg_is_int(e, b, &y);
    if (lit_a && lit_b)
        return cg_int(e, (int64_t)((uint64_t)x + (uint64_t)y));
    if (lit_a && x == 0)
        return b;
    if (lit_b && y == 0)
        return a;
    return text_index_op(e, 2, "add", a, b);
}

cg_ref cg_mul(cg *e, cg_ref a, cg_ref b)
{
    int64_t x, y;
    bool lit_a = cg_is_int(e, a, &x), lit_b = cg_is_int(e, b, &y);
    if (lit_a && lit_b)
        return cg_int(e, (int64_t)((uint64_t)x * (uint64_t)y));
    if (lit_a && (x == 0 || x == 1))
        return x ? b : a;
    if (lit_b && (y == 0 || y == 1))
        return y ? a : b;
    return text_index_op(e, 3, "mul", a, b);
}

cg_ref cg_shr(cg *e, cg_ref a, uint32_t n)
{
    int64_t x;
    if (!n)
        return a;
    if (cg_is_int(e, a, &x))
        return cg_int(e, x >> n);
    return text_index_op(e, 4, "lshr", a, cg_int(e, n));
}

cg_ref cg_and(cg *e, cg_ref a, int64_t mask)
{
    int64_t x;
    if (cg_is_int(e, a, &x))
        return cg_int(e, x & mask);
    return mask ? text_index_op(e, 5, "and", a, cg_int(e, mask)) : cg_int(e, 0);
}

/* ---- coordinates --------------------------------------------------------------------------------*/

/* Equal coordinates are one number: what was made at them is found again, however long ago that was. */
cg_ix cg_intern(cg *e, const cg_index *index)
{
    size_t used = offsetof(cg_index, axis) + index->rank * sizeof(cg_axis);
    uint64_t hash = ts__hash(index, used, 0);
    for (uint64_t probe = 0;; probe++) { /* equal hashes of other coordinates */
        cg_ref known = text_find(&e->indexes, hash, probe);
        if (!known)
            break;
        if (memcmp(&e->index.at[known - 1], index, used) == 0)
            return known - 1;
    }
    if (!TS_PUSH(e->arena, &e->index, *index)) {
        cg_fail(e, TS_NOMEM, "out of memory while generating code");
        return 0;
    }
    for (uint64_t probe = 0;; probe++)
        if (!text_find(&e->indexes, hash, probe)) {
            text_put(e, &e->indexes, hash, probe, e->index.n);
            break;
        }
    return e->index.n - 1;
}

const cg_index *cg_index_of(const cg *e, cg_ix ix)
{
    return &e->index.at[ix];
}
