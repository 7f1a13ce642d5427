/* SPDX-License-Identifier: Apache-2.0
 *
 * What the functions of this folder share: the two formats, Horner, sums and products without error.
 */
#include "math/math.h"

static const ts_math_fmt words_formats[] = {
    {23, 127, 0x00800000, 0x7F800000, 0x1.8p23, TS_T_f32, TS_T_i32},
    {52, 1023, 0x0010000000000000, 0x7FF0000000000000, 0x1.8p52, TS_T_f64, TS_T_i64},
    {10, 15, 0x0400, 0x7C00, 0x1.8p10, TS_T_f16, TS_T_i16},
    {7, 127, 0x0080, 0x7F80, 0x1.8p7, TS_T_bf16, TS_T_i16},
};

void ts__math_init(ts_math *m, ts_builder *b, ts_val x, bool cold)
{
    ts_module *module = b->fn->module;
    ts_type type = ts_type_of(b->fn, x);
    ts_type elem = ts_type_elem(module, type);
    const ts_math_fmt *fmt = words_formats;
    for (size_t i = 1; i < TS_COUNT(words_formats); i++)
        if (words_formats[i].elem == elem)
            fmt = &words_formats[i];
    *m = (ts_math){b, fmt, type, ts_type_with_elem(module, type, fmt->int_elem), elem == TS_T_f64, cold};
}

ts_val ts__math_poly(ts_math *m, ts_val x, const double *c, int n)
{
    ts_val y = m_c(m, c[n - 1]);
    for (int i = n - 2; i >= 0; i--)
        y = m_fma(m, y, x, m_c(m, c[i]));
    return y;
}

void ts__math_two_sum(ts_math *m, ts_val x, ts_val y, ts_val *head, ts_val *tail)
{
    ts_val s = m_add(m, x, y), part = m_sub(m, s, x);
    *tail = m_add(m, m_sub(m, x, m_sub(m, s, part)), m_sub(m, y, part));
    *head = s;
}

ts_math_pair ts__math_product(ts_math *m, ts_val x, ts_val y)
{
    ts_val p = m_mul(m, x, y);
    return (ts_math_pair){p, m_fma(m, x, y, m_neg(m, p))};
}

ts_math_pair ts__math_fast_sum(ts_math *m, ts_val x, ts_val y)
{
    ts_val s = m_add(m, x, y);
    return (ts_math_pair){s, m_add(m, m_sub(m, x, s), y)};
}

ts_math_pair ts__math_times(ts_math *m, ts_math_pair x, ts_math_pair y)
{
    ts_math_pair p = ts__math_product(m, x.head, y.head);
    return (ts_math_pair){p.head, m_add(m, p.tail, m_fma(m, x.head, y.tail, m_mul(m, x.tail, y.head)))};
}
