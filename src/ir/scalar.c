/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise operations on payloads, one row of scalar_rows each; scalar.h says what they mean. Integer
 * operations work on 64 bits and are wrapped to their type once, in ts__scalar_run. Float operations use
 * float.c, or the host's instruction where that is the same (f32 and f64, round to nearest).
 */
#include "ir/scalar.h"
#include "ir/float.h"
#include <math.h>

/* ---- payloads ------------------------------------------------------------------------------------ */

uint32_t ts__scalar_bits(ts_type scalar)
{
    static const uint8_t bits[TS_T_FIRST_COMPOSITE] = {
#define TS_SCALAR(name, bits, class, tag) [TS_T_##name] = bits,
#include "tessera/type.def"
    };
    return scalar == TS_T_i1 ? 1 : scalar < TS_T_FIRST_COMPOSITE ? bits[scalar] : 0;
}

static uint64_t scalar_sext(uint64_t x, uint32_t bits)
{
    if (bits >= 64 || bits == 0)
        return x;
    uint64_t sign = (uint64_t)1 << (bits - 1), mask = ((uint64_t)1 << bits) - 1;
    return ((x & mask) ^ sign) - sign;
}

static uint64_t scalar_zext(uint64_t x, uint32_t bits)
{
    return bits >= 64 ? x : x & (((uint64_t)1 << bits) - 1);
}

uint64_t ts__scalar_wrap(ts_type scalar, uint64_t x)
{
    uint32_t bits = ts__scalar_bits(scalar);
    return scalar == TS_T_i1 || ts__float_format_of(scalar) ? scalar_zext(x, bits) : scalar_sext(x, bits);
}

bool ts__scalar_same(ts_type scalar, uint64_t a, uint64_t b)
{
    a = ts__scalar_wrap(scalar, a);
    b = ts__scalar_wrap(scalar, b);
    return a == b || (ts__float_format_of(scalar) && ts__float_is_nan(scalar, a) && ts__float_is_nan(scalar, b));
}

uint64_t ts__scalar_read(const void *base, uint32_t bits, int64_t index)
{
    uint64_t value = 0;
    ts_assert(bits == 4 || (bits >= 8 && bits <= 64 && bits % 8 == 0));
    if (bits == 4) {
        uint8_t byte = ((const uint8_t *)base)[index >> 1];
        return index & 1 ? byte >> 4 : byte & 15;
    }
    memcpy(&value, (const uint8_t *)base + index * (int64_t)(bits / 8), bits / 8);
    return value;
}

void ts__scalar_write(void *base, uint32_t bits, int64_t index, uint64_t value)
{
    ts_assert(bits == 4 || (bits >= 8 && bits <= 64 && bits % 8 == 0));
    if (bits == 4) {
        uint8_t *byte = (uint8_t *)base + (index >> 1);
        uint32_t shift = index & 1 ? 4 : 0;
        *byte = (uint8_t)((*byte & ~(15u << shift)) | (value & 15) << shift);
        return;
    }
    memcpy((uint8_t *)base + index * (int64_t)(bits / 8), &value, bits / 8);
}

uint64_t ts__scalar_load(const ts_module *module, ts_type elem, const void *base, int64_t index)
{
    uint64_t value = ts__scalar_read(base, ts_type_bits(module, elem), index);
    if (elem == TS_T_i1)
        return value != 0;
    return ts_type_is_scalar(elem) ? ts__scalar_wrap(elem, value) : value;
}

void ts__scalar_store(const ts_module *module, ts_type elem, void *base, int64_t index, uint64_t value)
{
    ts__scalar_write(base, ts_type_bits(module, elem), index, elem == TS_T_i1 ? value & 1 : value);
}

/* ---- floats --------------------------------------------------------------------------------------- */

#define SCALAR_FN(name)                                                                            \
    static uint64_t scalar_##name(const ts_scalar *s, const uint64_t *x, ts_scalar_fault *fault)
#define SCALAR_NO_FAULT (void)fault

static ts_round scalar_round(const ts_scalar *s)
{
    ts_round r = TS_A_ROUND(s->attr);
    return r == TS_APPROX || r == TS_FULL ? TS_RN : r;
}

static uint64_t scalar_flush(const ts_scalar *s, uint64_t x)
{
    bool flush = (s->attr & TS_A_FTZ) && s->from == TS_T_f32 && ts__float_is_subnormal(TS_T_f32, x);
    return flush ? x & ts__float_sign_mask(TS_T_f32) : x;
}

/* The host's f32 result as a payload: NaN made canonical. */
static uint64_t scalar_from_f32(float x)
{
    return x != x ? ts__float_nan(TS_T_f32) : ts_bits_of_f32(x);
}

static uint64_t scalar_from_f64(double x)
{
    return x != x ? ts__float_nan(TS_T_f64) : ts_bits_of_f64(x);
}

/* Is the host's own instruction this operation? */
static bool scalar_is_host(const ts_scalar *s, ts_type type)
{
    return s->from == type && scalar_round(s) == TS_RN;
}

SCALAR_FN(absf)
{
    SCALAR_NO_FAULT;
    return x[0] & ~ts__float_sign_mask(s->from);
}

SCALAR_FN(negf)
{
    SCALAR_NO_FAULT;
    return x[0] ^ ts__float_sign_mask(s->from);
}

/* ceil, floor, sin, exp, ...: `host` on the double value, rounded. */
SCALAR_FN(host)
{
    SCALAR_NO_FAULT;
    double y = s->host(ts__float_to_f64(s->from, scalar_flush(s, x[0])));
    return scalar_flush(s, ts__float_from_f64(s->from, y, TS_RN));
}

static double scalar_rsqrt(double x)
{
    return 1 / sqrt(x);
}

SCALAR_FN(sqrt)
{
    SCALAR_NO_FAULT;
    uint64_t a = scalar_flush(s, x[0]);
    if (scalar_is_host(s, TS_T_f32))
        return scalar_from_f32(sqrtf(ts_f32_of_bits(a)));
    return ts__float_sqrt(s->from, a, scalar_round(s));
}

SCALAR_FN(addf)
{
    SCALAR_NO_FAULT;
    uint64_t a = scalar_flush(s, x[0]), b = scalar_flush(s, x[1]);
    if (scalar_is_host(s, TS_T_f32))
        return scalar_flush(s, scalar_from_f32(ts_f32_of_bits(a) + ts_f32_of_bits(b)));
    if (scalar_is_host(s, TS_T_f64))
        return scalar_from_f64(ts_f64_of_bits(a) + ts_f64_of_bits(b));
    return scalar_flush(s, ts__float_add(s->from, a, b, scalar_round(s)));
}

SCALAR_FN(subf)
{
    uint64_t y[2] = {x[0], x[1] ^ ts__float_sign_mask(s->from)};
    return scalar_addf(s, y, fault);
}

SCALAR_FN(mulf)
{
    SCALAR_NO_FAULT;
    uint64_t a = scalar_flush(s, x[0]), b = scalar_flush(s, x[1]);
    if (scalar_is_host(s, TS_T_f32))
        return scalar_flush(s, scalar_from_f32(ts_f32_of_bits(a) * ts_f32_of_bits(b)));
    if (scalar_is_host(s, TS_T_f64))
        return scalar_from_f64(ts_f64_of_bits(a) * ts_f64_of_bits(b));
    return scalar_flush(s, ts__float_mul(s->from, a, b, scalar_round(s)));
}

SCALAR_FN(divf)
{
    SCALAR_NO_FAULT;
    uint64_t a = scalar_flush(s, x[0]), b = scalar_flush(s, x[1]);
    if (scalar_is_host(s, TS_T_f32))
        return scalar_flush(s, scalar_from_f32(ts_f32_of_bits(a) / ts_f32_of_bits(b)));
    if (scalar_is_host(s, TS_T_f64))
        return scalar_from_f64(ts_f64_of_bits(a) / ts_f64_of_bits(b));
    return scalar_flush(s, ts__float_div(s->from, a, b, scalar_round(s)));
}

SCALAR_FN(fma)
{
    SCALAR_NO_FAULT;
    uint64_t a = scalar_flush(s, x[0]), b = scalar_flush(s, x[1]), c = scalar_flush(s, x[2]);
    if (scalar_is_host(s, TS_T_f32))
        return scalar_flush(s, scalar_from_f32(fmaf(ts_f32_of_bits(a), ts_f32_of_bits(b), ts_f32_of_bits(c))));
    if (scalar_is_host(s, TS_T_f64))
        return scalar_from_f64(fma(ts_f64_of_bits(a), ts_f64_of_bits(b), ts_f64_of_bits(c)));
    return scalar_flush(s, ts__float_fma(s->from, a, b, c, scalar_round(s)));
}

/* Two operands through a double function; exact for fmod, an oracle for pow and atan2. */
static uint64_t scalar_host2(const ts_scalar *s, const uint64_t *x, double (*f)(double, double))
{
    double a = ts__float_to_f64(s->from, scalar_flush(s, x[0])), b = ts__float_to_f64(s->from, scalar_flush(s, x[1]));
    return scalar_flush(s, ts__float_from_f64(s->from, f(a, b), TS_RN));
}

SCALAR_FN(remf)
{
    SCALAR_NO_FAULT;
    return scalar_host2(s, x, fmod);
}

SCALAR_FN(pow)
{
    SCALAR_NO_FAULT;
    return scalar_host2(s, x, pow);
}

SCALAR_FN(atan2)
{
    SCALAR_NO_FAULT;
    return scalar_host2(s, x, atan2);
}

SCALAR_FN(fpowi)
{
    SCALAR_NO_FAULT;
    double a = ts__float_to_f64(s->from, scalar_flush(s, x[0]));
    return scalar_flush(s, ts__float_from_f64(s->from, pow(a, (double)(int64_t)x[1]), TS_RN));
}

static uint64_t scalar_maxmin(const ts_scalar *s, const uint64_t *x, bool want_max)
{
    uint64_t a = scalar_flush(s, x[0]), b = scalar_flush(s, x[1]);
    bool a_nan = ts__float_is_nan(s->from, a), b_nan = ts__float_is_nan(s->from, b);
    if (a_nan || b_nan) {
        bool nan = (a_nan && b_nan) || (s->attr & TS_A_NAN);
        return nan ? ts__float_nan(s->from) : a_nan ? b : a;
    }
    double da = ts__float_to_f64(s->from, a), db = ts__float_to_f64(s->from, b);
    if (da == db) /* only zeros differ in bits: take the one whose sign is wanted */
        return signbit(da) != want_max ? a : b;
    return (da > db) == want_max ? a : b;
}

SCALAR_FN(maxf)
{
    SCALAR_NO_FAULT;
    return scalar_maxmin(s, x, true);
}

SCALAR_FN(minf)
{
    SCALAR_NO_FAULT;
    return scalar_maxmin(s, x, false);
}

/* below, equal, above as -1, 0, 1: does the predicate hold? */
static uint64_t scalar_holds(ts_pred pred, int order)
{
    static const uint8_t when[] = {
        /* bit 0 below, bit 1 equal, bit 2 above */
        [TS_EQ] = 2, [TS_NE] = 5, [TS_LT] = 1, [TS_LE] = 3, [TS_GT] = 4, [TS_GE] = 6};
    return pred < TS_COUNT(when) && when[pred] >> (order + 1) & 1 ? ~(uint64_t)0 : 0;
}

SCALAR_FN(cmpf)
{
    SCALAR_NO_FAULT;
    double a = ts__float_to_f64(s->from, scalar_flush(s, x[0])), b = ts__float_to_f64(s->from, scalar_flush(s, x[1]));
    if (isnan(a) || isnan(b))
        return s->attr & TS_A_UNORDERED ? ~(uint64_t)0 : 0;
    return scalar_holds(TS_A_GET_PRED(s->attr), (a > b) - (a < b));
}

/* ---- integers -------------------------------------------------------------------------------------- */

SCALAR_FN(absi)
{
    SCALAR_NO_FAULT;
    uint64_t a = ts__scalar_wrap(s->from, x[0]);
    return (int64_t)a < 0 ? 0 - a : a;
}

SCALAR_FN(negi)
{
    SCALAR_NO_FAULT;
    (void)s;
    return 0 - x[0];
}

#define SCALAR_INT2(name, expression)                                                              \
    SCALAR_FN(name)                                                                                \
    {                                                                                              \
        SCALAR_NO_FAULT;                                                                           \
        (void)s;                                                                                   \
        return expression;                                                                         \
    }
SCALAR_INT2(addi, x[0] + x[1])
SCALAR_INT2(subi, x[0] - x[1])
SCALAR_INT2(muli, x[0] * x[1])
SCALAR_INT2(andi, x[0] & x[1])
SCALAR_INT2(ori, x[0] | x[1])
SCALAR_INT2(xori, x[0] ^ x[1])

/* The operand as the operation's signedness reads it. */
static uint64_t scalar_int(const ts_scalar *s, uint64_t x)
{
    uint32_t bits = ts__scalar_bits(s->from);
    return s->attr & TS_A_UNSIGNED ? scalar_zext(x, bits) : scalar_sext(x, bits);
}

/* -1, 0, 1 by the operation's signedness. */
static int scalar_order(const ts_scalar *s, const uint64_t *x)
{
    uint64_t a = scalar_int(s, x[0]), b = scalar_int(s, x[1]);
    if (s->attr & TS_A_UNSIGNED)
        return (a > b) - (a < b);
    return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
}

SCALAR_INT2(maxi, scalar_order(s, x) >= 0 ? x[0] : x[1])
SCALAR_INT2(mini, scalar_order(s, x) <= 0 ? x[0] : x[1])
SCALAR_INT2(cmpi, scalar_holds(TS_A_GET_PRED(s->attr), scalar_order(s, x)))

__extension__ typedef unsigned __int128 scalar_u128;

SCALAR_FN(mulhii)
{
    SCALAR_NO_FAULT;
    uint32_t bits = ts__scalar_bits(s->from);
    return (uint64_t)((scalar_u128)scalar_zext(x[0], bits) * scalar_zext(x[1], bits) >> bits);
}

static uint64_t scalar_quotient_unsigned(uint64_t a, uint64_t b, ts_round round)
{
    return a / b + (round == TS_RP && a % b != 0);
}

static uint64_t scalar_quotient_signed(int64_t a, int64_t b, ts_round round)
{
    if (b == -1)
        return 0 - (uint64_t)a;
    int64_t q = a / b, r = a % b;
    if (r && round == TS_RM && (r < 0) != (b < 0))
        q--;
    if (r && round == TS_RP && (r < 0) == (b < 0))
        q++;
    return (uint64_t)q;
}

SCALAR_FN(divi)
{
    uint64_t a = scalar_int(s, x[0]), b = scalar_int(s, x[1]);
    if (b == 0) {
        *fault = TS_SCALAR_DIV_ZERO;
        return 0;
    }
    ts_round round = TS_A_ROUND(s->attr);
    return s->attr & TS_A_UNSIGNED ? scalar_quotient_unsigned(a, b, round)
                                   : scalar_quotient_signed((int64_t)a, (int64_t)b, round);
}

SCALAR_FN(remi)
{
    ts_scalar_fault divided = TS_SCALAR_OK;
    uint64_t q = scalar_divi(s, x, &divided);
    if (divided)
        *fault = divided;
    return divided ? 0 : scalar_int(s, x[0]) - q * scalar_int(s, x[1]);
}

SCALAR_FN(shli)
{
    SCALAR_NO_FAULT;
    uint32_t bits = ts__scalar_bits(s->from);
    uint64_t count = scalar_zext(x[1], bits);
    return count >= bits ? 0 : x[0] << count;
}

SCALAR_FN(shri)
{
    SCALAR_NO_FAULT;
    uint32_t bits = ts__scalar_bits(s->from);
    uint64_t count = scalar_zext(x[1], bits), a = scalar_int(s, x[0]);
    if (s->attr & TS_A_UNSIGNED)
        return count >= bits ? 0 : a >> count;
    return (uint64_t)((int64_t)a >> (count >= bits ? 63 : count));
}

/* ---- conversions ------------------------------------------------------------------------------------ */

SCALAR_INT2(copy, x[0])
SCALAR_INT2(exti, scalar_int(s, x[0]))

SCALAR_FN(itof)
{
    SCALAR_NO_FAULT;
    uint64_t a = scalar_int(s, x[0]);
    bool negative = !(s->attr & TS_A_UNSIGNED) && (int64_t)a < 0;
    return ts__float_from_int(s->to, negative, negative ? 0 - a : a, scalar_round(s));
}

SCALAR_FN(ftof)
{
    SCALAR_NO_FAULT;
    double value = ts__float_to_f64(s->from, scalar_flush(s, x[0]));
    uint64_t y = ts__float_from_f64(s->to, value, scalar_round(s));
    bool flush = (s->attr & TS_A_FTZ) && s->to == TS_T_f32 && ts__float_is_subnormal(TS_T_f32, y);
    return flush ? y & ts__float_sign_mask(TS_T_f32) : y;
}

SCALAR_FN(ftoi)
{
    SCALAR_NO_FAULT;
    double a = trunc(ts__float_to_f64(s->from, x[0]));
    uint32_t bits = ts__scalar_bits(s->to);
    bool is_unsigned = s->attr & TS_A_UNSIGNED;
    double above = ldexp(1, (int)bits - !is_unsigned); /* the first value that does not fit */
    uint64_t greatest = scalar_zext(~(uint64_t)0, bits - !is_unsigned);
    if (isnan(a))
        return 0;
    if (a >= above)
        return greatest;
    if (is_unsigned)
        return a <= 0 ? 0 : (uint64_t)a;
    return a < -above ? ~greatest : (uint64_t)(int64_t)a;
}

SCALAR_INT2(select, x[0] & 1 ? x[1] : x[2])

SCALAR_FN(offset)
{
    SCALAR_NO_FAULT;
    uint64_t bits = s->pointee_bits;
    return bits % 8 ? x[0] + (uint64_t)((int64_t)(x[1] * bits) >> 3) : x[0] + x[1] * (bits / 8);
}

/* ---- the table --------------------------------------------------------------------------------------- */

typedef uint64_t scalar_run_fn(const ts_scalar *, const uint64_t *, ts_scalar_fault *);
static const struct scalar_row {
    scalar_run_fn *run;
    double (*host)(double);
} scalar_rows[TS_OP_COUNT] = {
#define ROW(name) [TS_OP_##name] = {scalar_##name, NULL}
#define HOST(name, function) [TS_OP_##name] = {scalar_host, function}
#define COPY(name) [TS_OP_##name] = {scalar_copy, NULL}
    ROW(absf),           ROW(negf),          HOST(ceil, ceil),   HOST(floor, floor), HOST(cos, cos),
    HOST(cosh, cosh),    HOST(sin, sin),     HOST(sinh, sinh),   HOST(tan, tan),     HOST(tanh, tanh),
    HOST(log, log),      HOST(log2, log2),   HOST(exp, exp),     HOST(exp2, exp2),   HOST(rsqrt, scalar_rsqrt),
    ROW(sqrt),           ROW(addf),          ROW(subf),          ROW(mulf),          ROW(divf),
    ROW(remf),           ROW(maxf),          ROW(minf),          ROW(pow),           ROW(atan2),
    ROW(fpowi),          ROW(fma),           ROW(cmpf),          ROW(absi),          ROW(negi),
    ROW(addi),           ROW(subi),          ROW(muli),          ROW(mulhii),        ROW(divi),
    ROW(remi),           ROW(maxi),          ROW(mini),          ROW(andi),          ROW(ori),
    ROW(xori),           ROW(shli),          ROW(shri),          ROW(cmpi),          COPY(bitcast),
    ROW(exti),           COPY(trunci),       ROW(itof),          ROW(ftof),          ROW(ftoi),
    COPY(int_to_ptr),    COPY(ptr_to_int),   COPY(ptr_to_ptr),   ROW(select),        ROW(offset),
#undef ROW
#undef HOST
#undef COPY
};

/* Pointers are integers of their width. */
static ts_type scalar_plain(const ts_module *module, ts_type type)
{
    if (type < TS_T_FIRST_COMPOSITE || ts_type_kind(module, type) != TS_KIND_PTR)
        return type;
    return ts_type_get(module, type)->space == TS_SHARED ? TS_T_i32 : TS_T_i64;
}

bool ts__scalar_prepare(ts_scalar *out, const ts_module *module, ts_op op, uint32_t attr, ts_type from, ts_type to)
{
    if (op >= TS_OP_COUNT || !scalar_rows[op].run)
        return false;
    *out = (ts_scalar){.run = scalar_rows[op].run, .host = scalar_rows[op].host, .attr = attr};
    /* an operation without the attribute has another use of the word */
    if (ts__ops[op].attr != TS_ATTR_ARITH)
        out->attr = 0;
    out->from = scalar_plain(module, from);
    out->to = scalar_plain(module, to);
    out->to_shared = out->to != to && out->to == TS_T_i32;
    if (op == TS_OP_offset && from >= TS_T_FIRST_COMPOSITE)
        out->pointee_bits = ts_type_bits(module, ts_type_get(module, from)->elem);
    return ts_type_is_scalar(out->from) && ts_type_is_scalar(out->to);
}

uint64_t ts__scalar_run(const ts_scalar *op, const uint64_t *x, ts_scalar_fault *fault)
{
    ts_scalar_fault ignored = TS_SCALAR_OK;
    uint64_t y = op->run(op, x, fault ? fault : &ignored);
    return op->to_shared ? scalar_zext(y, 32) : ts__scalar_wrap(op->to, y);
}

bool ts__scalar_eval(const ts_module *module, ts_op op, uint32_t attr, ts_type from, ts_type to, const uint64_t *x,
                    uint64_t *out)
{
    ts_scalar prepared;
    ts_scalar_fault fault = TS_SCALAR_OK;
    if (!ts__scalar_prepare(&prepared, module, op, attr, from, to))
        return false;
    *out = ts__scalar_run(&prepared, x, &fault);
    return fault == TS_SCALAR_OK;
}
