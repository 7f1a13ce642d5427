/* SPDX-License-Identifier: Apache-2.0
 *
 * What went wrong in a call on few elements in host memory: division by zero, overflow, invalid operations, as NumPy
 * reports them. It is read off operands and results, for flags of the processor also tell of elements that only fill a
 * tile. A result that is finite everywhere costs one look at each element.
 */
#include "base/widths.h"
#include "numeric/numeric.h"
#include <complex.h>
#include <fenv.h>
#include <float.h>
#include <math.h>

enum { CHECK_KEPT = 8192 }; /* bytes of a storage that the call replaces */

/* Bits of a number, of complex ones of a part. */
static int check_bits(ts_dtype dtype)
{
    ts_dtype part = (ts_dtype)ts_dtype_get(dtype)->part;
    return ts_dtype_get(part ? part : dtype)->bits;
}

bool ts__nd_check_is_safe(ts_dtype from, ts_dtype to)
{
    char kind = nd_kind(from), wanted = nd_kind(to);
    bool is_float = wanted == 'f' || wanted == 'c';
    if (from == to || wanted == 'b')
        return true;
    if (kind == 'f' || kind == 'c')
        return is_float && check_bits(from) < check_bits(to) + (kind == 'f' && wanted == 'c');
    return to != TS_DTYPE_float16 || check_bits(from) < (kind == 'u' ? 16 : 32); /* whose largest number is 65504 */
}

bool ts__nd_check_divides(ts_nd_fn fn)
{
    return fn == TS_ND_floor_divide || fn == TS_ND_remainder || fn == TS_ND_fmod || fn == TS_ND_time_divide ||
           fn == TS_ND_time_floor_divide || fn == TS_ND_time_remainder || fn == TS_ND_reciprocal;
}

uint32_t ts__nd_check_beyond(ts_nd_fn fn, ts_dtype loop)
{
    bool takes_floor = fn == TS_ND_floor_divide && loop != TS_DTYPE_float16;
    return takes_floor ? TS_ND_OVERFLOW | TS_ND_INVALID : TS_ND_OVERFLOW;
}

static bool check_is_power(ts_nd_fn fn)
{
    return fn == TS_ND_power || fn == TS_ND_float_power;
}

bool ts__nd_check_orders(ts_nd_fn fn, ts_dtype loop)
{
    return nd_kind(loop) == 'c' && (fn == TS_ND_less || fn == TS_ND_less_equal || fn == TS_ND_greater ||
                                    fn == TS_ND_greater_equal);
}

void ts__nd_check_begin(nd_check *check, const nd_node *node, const ts_nd *out)
{
    uint64_t bytes = out->store->buffer ? ts_buffer_bytes(out->store->buffer) : 0;
    const ts_nd_info *row = ts_nd_get((ts_nd_fn)node->fn);
    char loop = nd_kind((ts_dtype)node->loop);
    bool is_cast = node->fn == TS_ND_copy && !ts__nd_check_is_safe((ts_dtype)node->in[0].dtype, (ts_dtype)node->dtype);
    bool computes = row->result != TS_ND_IS_BOOL && (loop == 'f' || loop == 'c') && node->fn != TS_ND_select &&
                    node->fn != TS_ND_gather && node->fn != TS_ND_copy;
    computes &= node->fn != TS_ND_sign; /* whose NaN of complex infinities is none to tell of */
    computes |= ts__nd_check_orders((ts_nd_fn)node->fn, (ts_dtype)node->loop);
    bool in_host = ts_device_caps_of(out->graph->device) & TS_DEVICE_HOST_MEMORY;
    check->wanted = in_host && (node->count <= TS_ND_LOOKED_AT || out->graph->strict) &&
                    (computes || is_cast || (ts__nd_check_divides((ts_nd_fn)node->fn) && loop != 'b'));
    check->kept = NULL;
    check->underflows = out->graph->underflows && out->graph->strict;
    for (uint32_t i = 0; i < node->n_in + node->has_where && check->wanted; i++) {
        check->wanted = node->in[i].kind != ND_IN_NODE;
        if (node->in[i].kind != ND_IN_LOAD || node->in[i].buffer != out->store->buffer)
            continue;
        check->wanted = bytes <= CHECK_KEPT;
        if (!check->wanted || check->kept)
            continue;
        check->kept = ts_buffer_data(out->store->buffer);
        memcpy(check->copy, check->kept, bytes);
    }
}

void ts__nd_check_read(const void *data, ts_dtype dtype, double x[2])
{
    x[1] = 0;
    switch (dtype) {
    case TS_DTYPE_float16: x[0] = ts__f16_to_f64(*(const uint16_t *)data); break;
    case TS_DTYPE_bfloat16: x[0] = ts__bf16_to_f64(*(const uint16_t *)data); break;
    case TS_DTYPE_float32: x[0] = *(const float *)data; break;
    case TS_DTYPE_float64: x[0] = *(const double *)data; break;
    case TS_DTYPE_complex64: x[0] = ((const float *)data)[0], x[1] = ((const float *)data)[1]; break;
    case TS_DTYPE_complex128: x[0] = ((const double *)data)[0], x[1] = ((const double *)data)[1]; break;
    case TS_DTYPE_int8: x[0] = *(const int8_t *)data; break;
    case TS_DTYPE_int16: x[0] = *(const int16_t *)data; break;
    case TS_DTYPE_int32: x[0] = *(const int32_t *)data; break;
    case TS_DTYPE_int64: x[0] = (double)*(const int64_t *)data; break;
    case TS_DTYPE_uint16: x[0] = *(const uint16_t *)data; break;
    case TS_DTYPE_uint32: x[0] = *(const uint32_t *)data; break;
    case TS_DTYPE_uint64: x[0] = (double)*(const uint64_t *)data; break;
    default: x[0] = *(const uint8_t *)data; break;
    }
}

/* The dtype in which an operand's bytes are read: of integers that a narrower loop, or one of other signs, wraps. */
static ts_dtype check_wrapped(ts_dtype from, ts_dtype loop)
{
    bool whole = strchr("iu", nd_kind(from)) && strchr("iu", nd_kind(loop));
    return whole && check_bits(loop) <= check_bits(from) ? loop : from; /* its low bytes lie first */
}

/* Operand `i` at the element with these offsets along the axes. */
static void check_operand(const nd_check *check, const nd_node *node, uint32_t i, const int64_t *at, double x[2])
{
    const nd_in *in = &node->in[i];
    ts_dtype part = (ts_dtype)ts_dtype_get((ts_dtype)in->dtype)->part;
    if (in->kind == ND_IN_NUMBER) {
        double other[2];
        ts__nd_check_read(&in->bits[0], check_wrapped(part ? part : (ts_dtype)in->dtype, (ts_dtype)node->loop), x);
        if (part) {
            ts__nd_check_read(&in->bits[1], part, other);
            x[1] = other[0];
        }
        return;
    }
    const char *data = in->data;
    if (check->kept && (char *)ts_buffer_data(in->buffer) == check->kept)
        data = check->copy + (in->data - check->kept);
    for (uint32_t d = 0; d < node->rank; d++)
        data += at[d] * node->strides[i][d];
    ts__nd_check_read(data, check_wrapped((ts_dtype)in->dtype, (ts_dtype)node->loop), x);
    if (strchr("iu", nd_kind((ts_dtype)node->loop)))
        x[0] = trunc(x[0]);
}

/* Where a function has a pole, whose value is infinite exactly. */
static bool check_is_pole(ts_nd_fn fn, const double x[2], const double y[2])
{
    switch (fn) {
    case TS_ND_divide:
    case TS_ND_floor_divide: return y[0] == 0 && y[1] == 0;
    case TS_ND_power:
    case TS_ND_float_power: return x[0] == 0 && x[1] == 0 && y[0] < 0;
    case TS_ND_reciprocal:
    case TS_ND_log:
    case TS_ND_log2:
    case TS_ND_log10: return x[0] == 0 && x[1] == 0;
    case TS_ND_log1p: return x[0] == -1;
    case TS_ND_arctanh: return fabs(x[0]) == 1;
    case TS_ND_arctan: return fabs(x[1]) == 1; /* of complex numbers */
    default: return false;
    }
}

/* Integers: quotients by zero, and the one quotient that does not fit. */
static uint32_t check_integers(const nd_node *node, const double x[2], const double y[2])
{
    const ts_dtype_info *info = ts_dtype_get((ts_dtype)node->loop);
    const double none = -ldexp(1, 63); /* NaT */
    if (node->fn == TS_ND_time_floor_divide && (x[0] == none || y[0] == none))
        return TS_ND_INVALID;
    if (node->fn == TS_ND_reciprocal) /* NumPy converts what 1.0 / 0 is */
        return x[0] == 0 ? TS_ND_DIVIDE | TS_ND_INVALID : 0;
    if (y[0] == 0)
        return TS_ND_DIVIDE;
    bool least = info->kind == 'i' && x[0] == -ldexp(1, info->bits - 1) && y[0] == -1;
    return least && node->fn == TS_ND_floor_divide ? TS_ND_OVERFLOW : 0;
}

/* The least number of full precision; 0: of other dtypes, which have no fractions. */
static double check_tiny(ts_dtype dtype)
{
    switch (dtype) {
    case TS_DTYPE_float16: return ldexp(1, -14);
    case TS_DTYPE_bfloat16: case TS_DTYPE_float32: case TS_DTYPE_complex64: return FLT_MIN;
    case TS_DTYPE_float64: case TS_DTYPE_complex128: return DBL_MIN;
    default: return 0;
    }
}

/* Whether r is x * y, whose digits are twice as many: of numbers around 1, so that what is left does not underflow. */
static bool check_is_product(double x, double y, double r)
{
    int a, b;
    if (x == 0 || y == 0 || r == 0)
        return (x == 0 || y == 0) == (r == 0);
    double m = frexp(x, &a), n = frexp(y, &b);
    return fma(m, n, -ldexp(r, -(a + b))) == 0;
}

/* Whether a result that is tiny is not the exact one, for which the processor would tell of underflow. `least`: the
 * exponent of the least number of the dtype. */
static bool check_is_inexact(ts_nd_fn fn, double x, double y, double r, int least)
{
    switch (fn) {
    case TS_ND_copy: return x != r;
    case TS_ND_square: return !check_is_product(x, x, r);
    case TS_ND_multiply: return !check_is_product(x, y, r);
    case TS_ND_divide: return !check_is_product(r, y, x);
    case TS_ND_reciprocal: return !check_is_product(r, x, 1);
    case TS_ND_power: case TS_ND_float_power: return x != 0 && (x != 2 || y < least);
    case TS_ND_exp2: return x < least;
    case TS_ND_exp: return true;
    case TS_ND_nextafter: return x != y && least < -24; /* C's; that of float16 tells of nothing */
    default: return false;
    }
}

/* Of real numbers: complex ones are not looked at for it. */
static uint32_t check_underflow(const nd_check *check, const nd_node *node, const double x[3][2], const double r[2])
{
    double tiny = check_tiny((ts_dtype)node->dtype);
    bool is_finite = isfinite(x[0][0]) && (isfinite(x[1][0]) || node->fn == TS_ND_nextafter);
    if (!check->underflows || r[1] != 0 || !(fabs(r[0]) < tiny) || !is_finite)
        return 0;
    int digits = node->dtype == TS_DTYPE_float16 ? 10 : node->dtype == TS_DTYPE_bfloat16 ? 7 : tiny > DBL_MIN ? 23 : 52;
    return check_is_inexact((ts_nd_fn)node->fn, x[0][0], x[1][0], r[0], ilogb(tiny) - digits) ? TS_ND_UNDERFLOW : 0;
}

/* What fits in an integer dtype, or in 32 bits: processors convert to these at least, and the rest wraps. */
static void check_limits(ts_dtype to, double *least, double *most)
{
    const ts_dtype_info *info = ts_dtype_get(to);
    int bits = TS_MAX(info->bits, 32);
    *least = -ldexp(1, bits - 1);
    *most = info->kind == 'u' && info->bits >= 32 ? ldexp(1, bits) : -*least;
}

static uint32_t check_cast(const nd_node *node, const double x[2], const double r[2])
{
    const ts_dtype_info *info = ts_dtype_get((ts_dtype)node->dtype);
    if (info->kind == 'f' || info->kind == 'c')
        return (isfinite(x[0]) && isinf(r[0])) || (isfinite(x[1]) && isinf(r[1])) ? TS_ND_OVERFLOW : 0;
    double least, most;
    check_limits((ts_dtype)node->dtype, &least, &most);
    return trunc(x[0]) >= least && x[0] < most ? 0 : TS_ND_INVALID;
}

/* Complex numbers, whose imaginary parts are looked at where the real ones are equal. */
static uint32_t check_order(const double x[2], const double y[2])
{
    int d = x[0] == y[0]; /* the parts that decide */
    return isnan(x[d]) || isnan(y[d]) ? TS_ND_INVALID : 0;
}

/* Sums, products and quotients of parts, and whether one of them was invalid: NaN of what are none. */
static double check_step(double made, double x, double y, bool *invalid)
{
    *invalid |= isnan(made) && !isnan(x) && !isnan(y);
    return made;
}
#define STEP(x, sign, y) check_step((x) sign (y), x, y, invalid)

static void check_quotient(const double x[2], const double y[2], bool *invalid)
{
    int more = fabs(y[0]) >= fabs(y[1]) ? 0 : 1; /* the greater part of the divisor */
    double ratio = STEP(y[!more], /, y[more]), size = STEP(y[more], +, STEP(y[!more], *, ratio));
    double scale = STEP(1, /, size);
    double re = more ? STEP(STEP(x[0], *, ratio), +, x[1]) : STEP(x[0], +, STEP(x[1], *, ratio));
    double im = more ? STEP(STEP(x[1], *, ratio), -, x[0]) : STEP(x[1], -, STEP(x[0], *, ratio));
    (void)STEP(re, *, scale);
    (void)STEP(im, *, scale);
    *invalid |= isnan(y[0]) || isnan(y[1]); /* its parts are compared */
}

/* x * y + z in one step, which on x86 is not invalid where z is NaN. */
static void check_fused(double x, double y, double z, bool *invalid)
{
    if (!isnan(z))
        (void)STEP(STEP(x, *, y), +, z);
}

/* A product of complex numbers as NumPy's powers have it, rounded as the loop's parts are; takes place of x. */
static void check_times(ts_dtype loop, double x[2], const double y[2])
{
    volatile double re = x[0] * y[0], re2 = x[1] * y[1], im = x[0] * y[1], im2 = x[1] * y[0];
    x[0] = loop == TS_DTYPE_complex64 ? (float)((float)re - (float)re2) : re - re2;
    x[1] = loop == TS_DTYPE_complex64 ? (float)((float)im + (float)im2) : im + im2;
}

/* What the processor has told of since its flags were cleared. */
static uint32_t check_flags(void)
{
    int flags = fetestexcept(FE_INVALID | FE_OVERFLOW);
    return (flags & FE_INVALID ? TS_ND_INVALID : 0u) | (flags & FE_OVERFLOW ? TS_ND_OVERFLOW : 0u);
}

/* The faults of products on the way to a whole power; from 4 on the first is by 1. */
static uint32_t check_whole_power(ts_dtype loop, const double x[2], int n)
{
    double made[2] = {1, 0}, by[2] = {x[0], x[1]};
    feclearexcept(FE_ALL_EXCEPT);
    if (n == 2 || n == 3) {
        check_times(loop, by, x);
        if (n == 3)
            check_times(loop, by, x);
    }
    for (int mask = 1; n > 3; mask <<= 1) {
        if (n & mask)
            check_times(loop, made, by);
        if (n < mask << 1)
            break;
        check_times(loop, by, (const double[]){by[0], by[1]});
    }
    return check_flags();
}

/* The faults of NumPy's power of complex numbers: C's function tells of them by the processor's flags, whole powers
 * below 100 are products, and those of 0 that are neither 0 nor 1 are NaN. */
static uint32_t check_power(ts_dtype loop, const double x[2], const double y[2])
{
    if (x[0] == 0 && x[1] == 0)
        return !(y[0] > 0) && !(y[0] == 0 && y[1] == 0) ? TS_ND_INVALID : 0;
    if (y[1] == 0 && isnan(y[0]))
        return TS_ND_INVALID; /* which is compared */
    if (y[1] == 0 && trunc(y[0]) == y[0] && fabs(y[0]) < 100)
        return (y[0] < 0 && (isnan(x[0]) || isnan(x[1])) ? TS_ND_INVALID : 0) |
               check_whole_power(loop, x, (int)fabs(y[0]));
    double _Complex base = CMPLX(x[0], x[1]), power = CMPLX(y[0], y[1]);
    feclearexcept(FE_ALL_EXCEPT);
    volatile double _Complex made = loop == TS_DTYPE_complex64 ? cpowf((float _Complex)base, (float _Complex)power)
                                                               : cpow(base, power);
    (void)made;
    return check_flags();
}

/* Whether C's function of a complex number that is not finite is invalid, by the processor's flags: NumPy calls it. */
static bool check_elementary(ts_nd_fn fn, const double x[2])
{
    double _Complex (*of)(double _Complex) = NULL;
    switch (fn) {
    case TS_ND_exp: case TS_ND_exp2: of = cexp; break;
    case TS_ND_expm1: return isinf(x[1]); /* by the sine of half of it */
    case TS_ND_sin: of = csin; break;
    case TS_ND_cos: of = ccos; break;
    case TS_ND_tan: of = ctan; break;
    case TS_ND_sinh: of = csinh; break;
    case TS_ND_cosh: of = ccosh; break;
    case TS_ND_tanh: of = ctanh; break;
    default: return false;
    }
    feclearexcept(FE_ALL_EXCEPT);
    volatile double _Complex made = of(CMPLX(x[0], x[1]));
    (void)made;
    return fetestexcept(FE_INVALID) != 0;
}

/* What complex arithmetic has found on the way to a result: one part may be invalid where the other one was before. */
static uint32_t check_complex(ts_nd_fn fn, ts_dtype loop, const double x[2], const double y[2])
{
    bool found = false, *invalid = &found;
    const double *by = fn == TS_ND_square ? x : y;
    if (fn == TS_ND_add || fn == TS_ND_subtract) {
        double sign = fn == TS_ND_add ? 1 : -1;
        (void)STEP(x[0], +, sign * y[0]);
        (void)STEP(x[1], +, sign * y[1]);
    } else if (fn == TS_ND_multiply || fn == TS_ND_square) {
        check_fused(x[0], by[0], -STEP(x[1], *, by[1]), invalid);
        check_fused(x[0], by[1], STEP(x[1], *, by[0]), invalid);
    } else if (fn == TS_ND_divide && (y[0] != 0 || y[1] != 0)) {
        check_quotient(x, y, invalid);
    } else if (fn == TS_ND_divide) {
        (void)STEP(x[0], /, y[0]);
        (void)STEP(x[1], /, y[0]);
    } else if (fn == TS_ND_reciprocal) {
        found = isnan(x[0]) || isnan(x[1]);
    } else if (check_is_power(fn)) {
        return check_power(loop, x, y);
    } else if (!isfinite(x[0]) || !isfinite(x[1])) {
        found = check_elementary(fn, x);
    }
    return found ? TS_ND_INVALID : 0;
}

/* Whether a function compares operands, of which NaN is invalid. */
static bool check_compares(ts_nd_fn fn)
{
    return fn == TS_ND_logaddexp || fn == TS_ND_logaddexp2;
}

static uint32_t check_element(const nd_check *check, const nd_node *node, const int64_t *at, const double r[2])
{
    double x[3][2] = {{0}};
    bool finite = true, nan = false;
    if (node->has_where) {
        check_operand(check, node, node->n_in, at, x[0]);
        if (x[0][0] == 0)
            return 0;
    }
    for (uint32_t i = 0; i < node->n_in; i++) {
        check_operand(check, node, i, at, x[i]);
        finite &= isfinite(x[i][0]) && isfinite(x[i][1]);
        nan |= isnan(x[i][0]) || isnan(x[i][1]);
    }
    uint32_t faults = check_underflow(check, node, (const double(*)[2])x, r);
    if (node->fn == TS_ND_copy)
        return faults | check_cast(node, x[0], r);
    if (node->fn == TS_ND_nextafter) /* whose second operand only says where to */
        finite = isfinite(x[0][0]);
    char loop = nd_kind((ts_dtype)node->loop);
    if (loop == 'i' || loop == 'u')
        return check_integers(node, x[0], x[1]);
    if (ts__nd_check_orders((ts_nd_fn)node->fn, (ts_dtype)node->loop))
        return check_order(x[0], x[1]);
    if ((isnan(r[0]) || isnan(r[1])) && (!nan || check_compares((ts_nd_fn)node->fn)))
        faults |= TS_ND_INVALID;
    if (loop == 'c')
        faults |= check_complex((ts_nd_fn)node->fn, (ts_dtype)node->loop, x[0], x[1]);
    if (loop == 'c' && node->fn == TS_ND_divide && x[1][0] == 0 && x[1][1] == 0 &&
        ((isfinite(x[0][0]) && x[0][0] != 0) || (isfinite(x[0][1]) && x[0][1] != 0)))
        faults |= TS_ND_DIVIDE; /* of a part that is a number, whatever the other is */
    bool is_pole = loop == 'f' && node->fn == TS_ND_power && isinf(r[0]) && x[0][0] == 0 && x[1][0] == -INFINITY;
    if (is_pole && node->loop != TS_DTYPE_float16)
        faults |= TS_ND_DIVIDE;
    if ((isinf(r[0]) || isinf(r[1])) && finite)
        faults |= check_is_pole((ts_nd_fn)node->fn, x[0], x[1])
                      ? TS_ND_DIVIDE : ts__nd_check_beyond((ts_nd_fn)node->fn, (ts_dtype)node->loop);
    return faults;
}

/* An exponent of ones carries into the sign, which has been cleared. */
#define CHECK_WIDTH(name)                                                                        \
    static bool name(uint32_t bits, int64_t n, const void *data)                                 \
    {                                                                                            \
        const uint32_t *words = data;                                                            \
        const uint64_t *longs = data;                                                            \
        uint32_t bad = 0;                                                                        \
        uint64_t worse = 0;                                                                      \
        for (int64_t i = 0; i < n && bits == 32; i++)                                            \
            bad |= (words[i] & 0x7f800000) + 0x00800000;                                         \
        for (int64_t i = 0; i < n && bits == 64; i++)                                            \
            worse |= (longs[i] & 0x7ff0000000000000) + 0x0010000000000000;                       \
        return !(bad >> 31) && !(worse >> 63);                                                   \
    }
CHECK_WIDTH(check_plain)
#if defined(__x86_64__)
__attribute__((target("avx2"))) CHECK_WIDTH(check_avx2)
__attribute__((target("avx512f"))) CHECK_WIDTH(check_avx512)
static bool check_run(uint32_t bits, int64_t n, const void *data)
{
    if (ts__vector_bytes() == 64)
        return check_avx512(bits, n, data);
    return ts__vector_bytes() == 32 ? check_avx2(bits, n, data) : check_plain(bits, n, data);
}
#else
static bool check_run(uint32_t bits, int64_t n, const void *data)
{
    return check_plain(bits, n, data);
}
#endif

bool ts__nd_check_finite(ts_dtype dtype, int64_t n, const char *data)
{
    switch (dtype) {
    case TS_DTYPE_complex64: return check_run(32, 2 * n, data);
    case TS_DTYPE_float32: return check_run(32, n, data);
    case TS_DTYPE_complex128: return check_run(64, 2 * n, data);
    case TS_DTYPE_float64: return check_run(64, n, data);
    default: return false;
    }
}

/* Loops without comparisons, which compilers turn into vectors: the highest bit says it. Of divisors, 0 and all ones
 * become 0 or 1 by adding 1, and the highest bit of half of that less 1 is set. */
#define CHECK_DIVISORS(type)                                                                     \
    static bool check_divisors_##type(int64_t n, const char *data, int64_t step)                 \
    {                                                                                            \
        type bad = 0;                                                                            \
        for (int64_t i = 0; i < n && step == (int64_t)sizeof(type); i++)                         \
            bad |= (type)(((type)(((const type *)data)[i] + 1) >> 1) - 1);                       \
        for (int64_t i = 0; i < n && step != (int64_t)sizeof(type); i++, data += step)           \
            bad |= (type)(((type)(*(const type *)data + 1) >> 1) - 1);                           \
        return !(bad >> (8 * sizeof(type) - 1));                                                 \
    }
CHECK_DIVISORS(uint8_t)
CHECK_DIVISORS(uint16_t)
CHECK_DIVISORS(uint32_t)
CHECK_DIVISORS(uint64_t)

bool ts__nd_check_divisors(ts_dtype from, ts_dtype loop, int64_t n, const char *data, int64_t step)
{
    if (nd_kind(from) == 'f') /* whose fractions are no divisors */
        return false;
    switch (ts_dtype_bytes(check_wrapped(from, loop))) {
    case 1: return check_divisors_uint8_t(n, data, step);
    case 2: return check_divisors_uint16_t(n, data, step);
    case 4: return check_divisors_uint32_t(n, data, step);
    case 8: return check_divisors_uint64_t(n, data, step);
    default: return false;
    }
}

/* Whether the bits of floats, of which `kept` count, are less than those of a bound; with the sign kept they must not
 * have one, and NaN is beyond all. */
#define CHECK_RANGE(type)                                                                        \
    static bool check_range_##type(int64_t n, const char *data, int64_t step, type kept, type bound) \
    {                                                                                            \
        type good = (type)-1, x;                                                                 \
        for (int64_t i = 0; i < n && step == (int64_t)sizeof(type); i++) {                       \
            x = ((const type *)data)[i] & kept;                                                  \
            good &= ~x & (x - bound);                                                            \
        }                                                                                        \
        for (int64_t i = 0; i < n && step != (int64_t)sizeof(type); i++, data += step) {         \
            x = *(const type *)data & kept;                                                      \
            good &= ~x & (x - bound);                                                            \
        }                                                                                        \
        return good >> (8 * sizeof(type) - 1);                                                   \
    }
CHECK_RANGE(uint32_t)
CHECK_RANGE(uint64_t)

bool ts__nd_check_range(ts_dtype from, ts_dtype to, int64_t n, const char *data, int64_t step)
{
    double least, most;
    check_limits(to, &least, &most);
    uint64_t power = (uint64_t)ilogb(most), sign = most != -least;
    switch (from) {
    case TS_DTYPE_float32:
        return check_range_uint32_t(n, data, step, sign ? UINT32_MAX : UINT32_MAX >> 1, (uint32_t)(127 + power) << 23);
    case TS_DTYPE_float64:
        return check_range_uint64_t(n, data, step, sign ? UINT64_MAX : UINT64_MAX >> 1, (1023 + power) << 52);
    default: return false;
    }
}

nd_look ts__nd_check_look(ts_nd_fn fn, ts_dtype from, ts_dtype loop, ts_dtype result)
{
    char kind = nd_kind(from), wanted = nd_kind(result), computes = nd_kind(loop);
    bool is_float = wanted == 'f' || wanted == 'c', is_whole = ts_dtype_get(result)->bits >= 32;
    if (fn == TS_ND_copy && ts__nd_check_is_safe(from, result))
        return ND_LOOK_NOWHERE;
    if (fn == TS_ND_copy && is_float)
        return is_whole && (kind != 'c' || wanted == 'c') ? ND_LOOK_RESULT : ND_LOOK_ALL;
    if (fn == TS_ND_copy)
        return kind == 'f' && ts_dtype_get(from)->bits >= 32 ? ND_LOOK_RANGE : ND_LOOK_ALL;
    if (ts__nd_check_orders(fn, loop) || (check_is_power(fn) && computes == 'c')) /* may be invalid and finite */
        return ND_LOOK_ALL;
    if (computes == 'f' || computes == 'c')
        return ts_nd_get(fn)->result == TS_ND_IS_BOOL || fn == TS_ND_select ? ND_LOOK_NOWHERE
               : is_whole                                                   ? ND_LOOK_RESULT
                                                                            : ND_LOOK_ALL;
    if (fn == TS_ND_floor_divide || fn == TS_ND_remainder || fn == TS_ND_fmod)
        return ND_LOOK_DIVISORS;
    return fn == TS_ND_power || ts__nd_check_divides(fn) ? ND_LOOK_ALL : ND_LOOK_NOWHERE;
}

/* Whether all elements of an operand, along the node's axes, are such that nothing goes wrong. */
static bool check_is_good(const nd_check *check, const nd_node *node, uint32_t i, bool divides)
{
    const nd_in *in = &node->in[i];
    ts_dtype from = (ts_dtype)in->dtype, to = (ts_dtype)node->dtype;
    int64_t at[TS_ND_RANK] = {0}, inner = node->rank ? node->shape[node->rank - 1] : 1;
    if (in->kind == ND_IN_NUMBER)
        return divides ? ts__nd_check_divisors(from, (ts_dtype)node->loop, 1, (const char *)in->bits, 0)
                       : ts__nd_check_range(from, to, 1, (const char *)in->bits, 0);
    if (in->kind != ND_IN_LOAD || (check->kept && (char *)ts_buffer_data(in->buffer) == check->kept))
        return false;
    int64_t step = node->rank ? node->strides[i][node->rank - 1] : 0;
    bool good = true;
    for (int64_t n = 0; n < node->count && good; n += inner) {
        const char *data = in->data;
        for (uint32_t d = 0; d + 1 < node->rank; d++)
            data += at[d] * node->strides[i][d];
        good = divides ? ts__nd_check_divisors(from, (ts_dtype)node->loop, inner, data, step)
                       : ts__nd_check_range(from, to, inner, data, step);
        for (uint32_t d = node->rank; d-- > 1 && ++at[d - 1] == node->shape[d - 1];)
            at[d - 1] = 0;
    }
    return good;
}

/* Whether the node's values lie without gaps and are all finite; false also where that is not seen at once. */
static bool check_is_finite(const nd_node *node, const char *data)
{
    int64_t step = (int64_t)ts_dtype_bytes((ts_dtype)node->dtype);
    for (uint32_t d = node->rank; d-- > 0; step *= node->shape[d])
        if (node->shape[d] > 1 && node->order[d] != step)
            return false;
    return ts__nd_check_finite((ts_dtype)node->dtype, node->count, data);
}

/* Whether one look says that nothing went wrong. */
static bool check_is_fine(const nd_check *check, const nd_node *node, const char *data)
{
    ts_dtype loop = (ts_dtype)node->loop;
    if (check->underflows || node->has_where)
        return false;
    switch (ts__nd_check_look((ts_nd_fn)node->fn, (ts_dtype)node->in[0].dtype, loop, (ts_dtype)node->dtype)) {
    case ND_LOOK_RESULT: return check_is_finite(node, data);
    case ND_LOOK_DIVISORS: return check_is_good(check, node, 1, true);
    case ND_LOOK_RANGE: return check_is_good(check, node, 0, false);
    default: return false;
    }
}

/* How many elements of a cast from float to uint32 lie in a row without gaps, in the order of memory, along `axes` (a
 * bit each), as NumPy goes through them; 0: another node. */
static int64_t check_row(const nd_node *node, uint64_t *axes)
{
    const nd_in *in = &node->in[0];
    int64_t row = 1, size = (int64_t)ts_dtype_bytes((ts_dtype)in->dtype);
    char kind = nd_kind((ts_dtype)in->dtype);
    *axes = 0;
    if (node->fn != TS_ND_copy || node->dtype != TS_DTYPE_uint32 || (kind != 'f' && kind != 'c') || node->has_where)
        return 0;
    for (uint32_t d = 0; d < node->rank && in->kind == ND_IN_LOAD;) {
        bool is_next = node->shape[d] > 1 && node->strides[0][d] == row * size && node->order[d] == row * 4;
        row *= is_next ? node->shape[d] : 1;
        *axes |= (uint64_t)is_next << d;
        d = is_next ? 0 : d + 1;
    }
    return row;
}

/* What does not fit in uint32: NumPy on x86 converts four of a row at once, as kernels do, and those that are left one
 * at a time, to 64 bits, of which it takes the lower half. */
static void check_word(const nd_node *node, int64_t row, uint64_t axes, const int64_t *at, double x, char *place)
{
    const double most = ldexp(1, 63);
    const uint32_t word = x >= -most && x < most ? (uint32_t)(int64_t)x : 0;
    int64_t bytes = 0;
    for (uint32_t d = 0; d < node->rank; d++)
        bytes += axes >> d & 1 ? at[d] * node->order[d] : 0;
    if (bytes / 4 >= row - row % 4)
        memcpy(place, &word, sizeof word);
}

uint32_t ts__nd_check_end(const nd_check *check, const nd_node *node, char *data)
{
    int64_t at[TS_ND_RANK] = {0};
    char kind = nd_kind((ts_dtype)node->dtype), loop = nd_kind((ts_dtype)node->loop);
    bool every = node->fn == TS_ND_copy || loop == 'i' || loop == 'u' || check->underflows ||
                 (check_is_power((ts_nd_fn)node->fn) && loop == 'c') ||
                 ts__nd_check_orders((ts_nd_fn)node->fn, (ts_dtype)node->loop);
    bool is_float = kind == 'f' || kind == 'c';
    uint32_t faults = 0;
    if (!check->wanted || check_is_fine(check, node, data))
        return 0;
    uint64_t axes;
    const int64_t row = check_row(node, &axes);
    for (int64_t n = 0; n < node->count; n++) {
        char *place = data;
        double r[2];
        for (uint32_t d = 0; d < node->rank; d++)
            place += at[d] * node->order[d];
        ts__nd_check_read(place, (ts_dtype)node->dtype, r);
        if (every || !is_float || !isfinite(r[0]) || !isfinite(r[1]))
            faults |= check_element(check, node, at, r);
        if (row) {
            check_operand(check, node, 0, at, r);
            check_word(node, row, axes, at, r[0], place);
        }
        for (uint32_t d = node->rank; d-- > 0 && ++at[d] == node->shape[d];)
            at[d] = 0;
    }
    return faults;
}
