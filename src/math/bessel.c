/* SPDX-License-Identifier: Apache-2.0
 *
 * j0, j1, y0, y1: the Bessel functions of order 0 and 1.
 *
 * Near, |x| < 8, in w = x^2 kept in two parts:
 *   j  (w - z1^2) (w - z2^2) (w - z3^2) R(w), z the first three zeros and R a polynomial that has no zero there; times
 *      x for order 1. Each factor is right to the last places beside its zero. Below 1: terms of the power series.
 *   y  2/pi log(x / z) j + (w - z^2) G(w) / x^order with the zero z nearest to x: both summands are small beside it and
 *      have the same sign. G has no singularity (that of y is in the logarithm); a polynomial for each interval.
 * Far: sqrt(2 / (pi x)) M sin(x + c + P / x), modulus M and phase P polynomials in (8 / x)^2 (J. Harrison, Fast and
 * accurate Bessel function computation, 2009); the angle is summed before it is rounded (trig.c).
 */
#include "math/math.h"
#include <math.h>

/* y between two ends: the zero there and its square, w to [-1, 1] by w scale - shift, G */
typedef struct bessel_interval {
    double end, zero[2], square[2], scale, shift, rest[15];
} bessel_interval;

typedef struct bessel_table {
    int n_series, n_near, n_far, n_y[2];
    double square[2][3][2]; /* of the zeros of j0, j1 */
    double near[2][16], modulus[2][13], phase[2][13];
    bessel_interval y[2][3];
} bessel_table;

/* Coefficients: tools/minimax.py, tables j0_*, j1_*, modulus*, phase*, y0_*, y1_*. */
static const bessel_table bessel_tables[2] = {
    {5, 10, 5, {8, 9},
     {{{0x1.721fb8p+2, 0x1.18aeeep-28},
       {0x1.e78a4ap+4, 0x1.88775cp-22},
       {0x1.2b8c4cp+6, -0x1.f7aa26p-20}},
      {{0x1.d5d2b4p+3, 0x1.89822cp-25},
       {0x1.89bf66p+5, 0x1.ca90c8p-25},
       {0x1.9dff70p+6, 0x1.af0bc6p-19}}},
     {{-2.66629413e-05, 2.95329573e-05, -1.44237056e-05, 4.19665548e-06, -8.27153769e-07, 1.18826534e-07,
       -1.32961295e-08, 1.31410993e-09, 2.61177781e-11, -8.50069459e-11},
      {-2.72714487e-06, 2.55223813e-06, -1.07593223e-06, 2.74831478e-07, -4.82171387e-08, 6.23435881e-09,
       -6.26087571e-10, 5.64075869e-11, -2.15552034e-12, -2.78623847e-12}},
     {{1, -0.00097655959, 2.52420487e-05, -1.96966903e-06, 2.0334295e-07},
      {1, 0.00292968377, -4.71681451e-05, 2.94323877e-06, -2.77734188e-07}},
     {{-0.125, 0.00101723988, -5.10309328e-05, 5.79584821e-06, -7.27346674e-07},
      {0.375, -0.00256346026, 9.03810869e-05, -8.46512557e-06, 9.82438223e-07}},
     {{{2.2, {0x1.c982ecp-1, -0x1.cafa06p-27}, {0x1.98d258p-1, -0x1.b2fed6p-31},
        0.413223147, 1,
        {0.144775674, -0.0343481749, 0.00289088464, -0.000126051134, 3.48916114e-06, -1.6966375e-07, -8.23446626e-08,
         7.79439517e-08}},
       {5.5, {0x1.fa9534p+1, 0x1.b30ad4p-24}, {0x1.f53916p+3, -0x1.d8c7bap-26},
        0.0787091702, 1.38095238,
        {-0.040343307, 0.0165404528, 0.00232258881, -0.00210616621, 0.000464027398, -5.68722535e-05, 4.69385986e-06,
         -2.86871312e-07}},
       {8, {0x1.c581dcp+2, 0x1.39c840p-24}, {0x1.91b26cp+5, -0x1.ca6eb4p-22},
        0.0592592582, 2.79259259,
        {0.0197351594, -0.00189100928, -0.00352127105, 0.000999381067, -6.16031975e-05, -1.37651086e-05,
         3.47301921e-06, -3.90977618e-07}}},
      {{3.8, {0x1.193beep+1, -0x1.6401b8p-24}, {0x1.34f49cp+2, 0x1.f8f016p-23},
        0.138504162, 1,
        {0.186007947, 0.00507613225, -0.0379042588, 0.00986830425, -0.00119297893, 8.68676725e-05, -3.29939212e-06,
         1.25585913e-07, -4.74715392e-07}},
       {7, {0x1.5b7fe4p+2, 0x1.d0f606p-23}, {0x1.d7b3f6p+4, 0x1.cca34cp-22},
        0.0578703694, 1.83564815,
        {-0.149576515, 0.00879479945, 0.0435439385, -0.0109133031, -0.000653966505, 0.000644377142, -0.000128267537,
         1.46771072e-05, -5.84322549e-07}},
       {8, {0x1.13127ap+3, 0x1.cc2d36p-22}, {0x1.2790b6p+6, -0x1.405026p-19},
        0.13333334, 7.53333333,
        {0.105745427, 0.0170628875, -0.0035644006, -0.00012686105, 4.15397517e-05, -2.24636642e-06, 5.34630999e-07,
         1.90505727e-08, -2.550847e-07}}}}},
    {9, 16, 13, {15, 15},
     {{{0x1.721fb80462bbbp+2, 0x1.db60c816c15d3p-52},
       {0x1.e78a4a621dd6fp+4, -0x1.10d7c5048826bp-52},
       {0x1.2b8c4b8215768p+6, 0x1.ecdd94e0187e2p-50}},
      {{0x1.d5d2b4189822cp+3, -0x1.c6a0d245172bap-54},
       {0x1.89bf66072a432p+5, 0x1.25355661cb79cp-51},
       {0x1.9dff70d785e2cp+6, -0x1.41014eaf35cf6p-49}}},
     {{-0x1.bf5476c0ed835p-16, 0x1.ef7b16178a92ep-16, -0x1.e3fa7b13ac181p-17, 0x1.19a1b2886de0bp-18,
       -0x1.bc248dfa3da86p-21, 0x1.feca5d1cae277p-24, -0x1.c1a745430f54dp-27, 0x1.39ad2e93b75b4p-30,
       -0x1.6403fff8af4e3p-34, 0x1.4f8d101d4a0b3p-38, -0x1.0b215edd81aacp-42, 0x1.6e152562fc442p-47,
       -0x1.789554056204ap-52, -0x1.20a9cc77393b9p-55, -0x1.f7c4ef82fec0cp-57, 0x1.cb855ee1d64d7p-57},
      {-0x1.6e07fc146ce70p-19, 0x1.568e3cbb4ee85p-19, -0x1.20d17aa0a16dap-20, 0x1.2718c188038d1p-22,
       -0x1.9e31ea49b14dcp-25, 0x1.acc0923e2a537p-28, -0x1.56eb394c74085p-31, 0x1.b6231e98dffc7p-35,
       -0x1.ca79c62bb3900p-39, 0x1.90bf161cc5099p-43, -0x1.28fa334146d1dp-47, 0x1.72e5a113622cep-52,
       -0x1.423ab8e43f99dp-56, 0x1.a1b66fe1c394fp-58, 0x1.00a7fc551e15ep-59, -0x1.c196f4e2f1bc9p-60}},
     {{1, -0x1.fffffffffe5b6p-11, 0x1.a7fffff0ebbf8p-16, -0x1.15eff3daff0e9p-19, 0x1.764c213c9f687p-22,
       -0x1.aaf0e7dbf0319p-24, 0x1.6ccbb75eb7eb0p-25, -0x1.9a6c8fb9fe6c0p-26, 0x1.fecf8d9e571fbp-27,
       -0x1.22f7dc01af078p-27, 0x1.ffeaa8e274a83p-29, -0x1.23567dbfc0564p-30, 0x1.38990775ac36cp-33},
      {1, 0x1.7fffffffff89ep-9, -0x1.8bfffff788c57p-15, 0x1.9c4ff25eead8dp-19, -0x1.ef55d6cfa3536p-22,
       0x1.092f1cd253d54p-23, -0x1.b3f2cb9539b66p-25, 0x1.ded04e22c42fbp-26, -0x1.25ce19e9f877ap-26,
       0x1.4c1c7d1f18186p-27, -0x1.22dfa679a8966p-28, 0x1.4a38e79ce5baep-30, -0x1.61bd784ae37e9p-33}},
     {{-0x1.ffffffffffffep-4, 0x1.0aaaaaaa9f923p-10, -0x1.ad3332e091e66p-15, 0x1.a3580bc65b55cp-18,
       -0x1.778e170ef19c7p-20, 0x1.0b1a16de3217ap-21, -0x1.0f68b4679e015p-22, 0x1.5a395d8fe8d23p-23,
       -0x1.d25a25fbaf911p-24, 0x1.15bc01115bb7bp-24, -0x1.f478f188a6b47p-26, 0x1.207dfb9af3e04p-27,
       -0x1.37aa0f1b217a1p-30},
      {0x1.7ffffffffffffp-2, -0x1.4ffffffff64bcp-9, 0x1.7bcccc8cc38eap-14, -0x1.2f484220819c9p-17,
       0x1.e9ebef6ad6744p-20, -0x1.48aeff20d3b17p-21, 0x1.41b248c831a35p-22, -0x1.8f3c7b50be55cp-23,
       0x1.06df7a0a06212p-23, -0x1.331600617feffp-24, 0x1.1018e59dd74a9p-25, -0x1.354157c4b4f02p-27,
       0x1.4a155e7669b0ep-30}},
     {{{2.2, {0x1.c982eb8d417eap-1, 0x1.ea9d270347f83p-56}, {0x1.98d257f93404ap-1, 0x1.b7acb8a94e405p-55},
        0x1.a723f789854a1p-2, 1,
        {0x1.288025c890a00p-3, -0x1.196156921639cp-5, 0x1.7aeb31b6ad4c5p-9, -0x1.086e05cfb692bp-13,
         0x1.c56b6616ed4afp-19, -0x1.0788b85bdd35cp-24, 0x1.bb1bc9fe4c7c8p-31, -0x1.186c1c3259c95p-37,
         0x1.44d3a7972e5e9p-42, -0x1.dc9b0636d049ep-44, -0x1.414daaa58472cp-42, 0x1.c304e7bf3039cp-44,
         0x1.8a5f2f42b98c0p-43, -0x1.3e95591f42a54p-45, -0x1.727c07e8fa765p-45}},
       {5.5, {0x1.fa9534d98569cp+1, -0x1.f06ae7804384ep-54}, {0x1.f53915f139c23p+3, -0x1.cb4dd48f76192p-57},
        0x1.42648bd67def4p-4, 0x1.6186186186186p+0,
        {-0x1.4a7e0b4850582p-5, 0x1.0effafd4839a0p-6, 0x1.306c533ec6f6cp-9, -0x1.140ef8190b959p-9,
         0x1.e6a4639fa81f0p-12, -0x1.dd3fe10d6c562p-15, 0x1.36ef022aaf80cp-18, -0x1.2501fd3b4b5d0p-22,
         0x1.a4c5f99946fbfp-27, -0x1.dd658b107e9bfp-32, 0x1.b951d22d0b0bfp-37, -0x1.57c3432c8d214p-42,
         -0x1.ca1610c299d74p-46, 0x1.4c16f2c005d05p-49, 0x1.2a9eaeafe1885p-47}},
       {8, {0x1.c581dc4e72103p+2, -0x1.9774a495f56cfp-54}, {0x1.91b26bc6b2299p+5, 0x1.2891c0163fd1bp-50},
        0x1.e573ac901e574p-5, 0x1.6573ac901e574p+1,
        {0x1.4357421c6f89ap-6, -0x1.efb77bc84fe89p-10, -0x1.cd8a77df9f238p-9, 0x1.05fb5b13e1e4bp-10,
         -0x1.023c2822d9e79p-14, -0x1.cdf477f73095ep-17, 0x1.ca66beece8f6ep-19, -0x1.a028d3176da1dp-22,
         0x1.f2fb44580d79fp-26, -0x1.b92b78aabfe5dp-30, 0x1.300a5c5d44072p-34, -0x1.52dba10f32510p-39,
         0x1.a4d0b130894d1p-44, -0x1.fa8585573ba73p-50, -0x1.e469c0e5216e7p-48}}},
      {{3.8, {0x1.193bed4dff243p+1, -0x1.bd1e50d219bfdp-55}, {0x1.34f49cfc780a9p+2, -0x1.65d88128c73dfp-52},
        0x1.1ba81104f6c80p-3, 1,
        {0x1.7cf1bcaa9fbc0p-3, 0x1.4cab5a4555badp-8, -0x1.36834971e736ap-5, 0x1.435d7400176e5p-7,
         -0x1.388fb4c4b417bp-10, 0x1.6c2ea668e1618p-14, -0x1.1f89377661c00p-18, 0x1.49de6e868f672p-23,
         -0x1.203524b4c12f7p-28, 0x1.8cfc9820ac298p-34, -0x1.f5f2378fa8d16p-40, 0x1.021f4a79025c3p-45,
         0x1.4d075ac6dfdc2p-43, -0x1.1cd1e9dcb5aa6p-49, -0x1.7240f1e9abab4p-45}},
       {7, {0x1.5b7fe4e87b02ep+2, 0x1.dfe7bac228e8cp-52}, {0x1.d7b3f67328d2ep+4, -0x1.537e751d20839p-50},
        0x1.da12f684bda13p-5, 0x1.d5ed097b425edp+0,
        {-0x1.32552ccd7956bp-3, 0x1.2030219f764e2p-7, 0x1.64b69c36ea8dep-5, -0x1.659b9d0165a36p-7,
         -0x1.5746b1efad0e9p-11, 0x1.51e4052b7ee6cp-11, -0x1.0a834162cffa9p-13, 0x1.e7a875647ab0dp-17,
         -0x1.34ae779150e0bp-20, 0x1.2459f1d6ba1adp-24, -0x1.b1ee13c053f5ap-29, 0x1.046d6ef7cdbddp-33,
         -0x1.fe6c6aba87535p-39, 0x1.b1c508624ba3bp-44, -0x1.26f07f4f9547fp-46}},
       {8, {0x1.13127ae6169b4p+3, 0x1.479cc068d9046p-52}, {0x1.2790b55fd7ecep+6, -0x1.3494797f66680p-48},
        0x1.1111111111111p-3, 0x1.e222222222222p+2,
        {0x1.b1221eaa5ff14p-4, 0x1.178ef0699323ep-6, -0x1.d333df889438fp-9, -0x1.0a0f2d8e0a283p-13,
         0x1.5f5b227572afap-15, -0x1.2b09e6f0ececap-19, 0x1.6252e84fd986bp-28, 0x1.482c3ef668d8bp-28,
         -0x1.38822a8d132a6p-32, 0x1.5420340d6b223p-37, -0x1.40c5d3a9db1d4p-42, 0x1.58b211da0b584p-48,
         0x1.4d6ab8c7b68a9p-45, -0x1.202807959e961p-53, -0x1.776bef87c7da3p-47}}}}},
};

/* (j0 - 1) / w and (j1 / x - 1/2) / w */
static const double bessel_series[2][9] = {
    {-1.0 / 4, 1.0 / 64, -1.0 / 2304, 1.0 / 147456, -1.0 / 14745600, 1.0 / 2123366400, -1.0 / 416179814400,
     1.0 / 106542032486400, -1.0 / 34519618525593600},
    {-1.0 / 16, 1.0 / 384, -1.0 / 18432, 1.0 / 1474560, -1.0 / 176947200, 1.0 / 29727129600, -1.0 / 6658877030400,
     1.0 / 1917756584755200, -1.0 / 690392370511872000},
};

/* w - square */
static ts_val bessel_beside(ts_math *m, ts_math_pair w, ts_val square, ts_val square_rest)
{
    return m_add(m, m_sub(m, w.head, square), m_sub(m, w.tail, square_rest));
}

/* j of x in [0, 8] */
static ts_val bessel_near_j(ts_math *m, ts_val x, int order)
{
    const bessel_table *t = &bessel_tables[m->wide];
    ts_math_pair w = ts__math_product(m, x, x);
    ts_val y = ts__math_poly(m, m_fma(m, w.head, m_c(m, 1.0 / 32), m_c(m, -1)), t->near[order], t->n_near);
    for (int i = 0; i < 3; i++)
        y = m_mul(m, y, bessel_beside(m, w, m_c(m, t->square[order][i][0]), m_c(m, t->square[order][i][1])));
    ts_val series = ts__math_poly(m, w.head, bessel_series[order], t->n_series);
    series = m_fma(m, w.head, series, m_c(m, order ? 0.5 : 1));
    y = m_sel(m, m_cmp(m, TS_LT, w.head, m_c(m, 1)), series, y);
    return order ? m_mul(m, y, x) : y;
}

/* log(x / zero): beside the zero of the quotient and what it lacks, below half of it of the significand of x */
static ts_val bessel_log(ts_math *m, ts_val x, ts_val zero, ts_val zero_rest)
{
    ts_val e, s = ts__math_significand(m, x, &e);
    ts_val small = m_cmp(m, TS_LT, x, m_mul(m, zero, m_c(m, 0.5)));
    s = m_sel(m, small, s, x);
    e = m->wide ? ts_cast(m->b, TS_OP_trunci, e, TS_T_i32, 0) : e;
    e = m_sel(m, small, ts_cast(m->b, TS_OP_itof, e, m->fmt->elem, 0), m_c(m, 0));
    ts_val u = m_div(m, s, zero), minus = m_neg(m, u);
    ts_val rest = m_fma(m, minus, zero_rest, m_fma(m, minus, zero, s));
    return ts__math_log1p_both(m, m_sub(m, u, m_c(m, 1)), m_div(m, rest, zero), e);
}

/* Which of the intervals x is in; the end of one is the beginning of the next. */
typedef struct bessel_choice {
    const bessel_interval *t;
    ts_val below[2]; /* x is below the end of the first, of the second */
} bessel_choice;

/* The constant at `offset` into the interval of x. */
static ts_val bessel_pick(ts_math *m, const bessel_choice *c, size_t offset)
{
    ts_val y[3];
    for (int i = 0; i < 3; i++)
        y[i] = m_c(m, *(const double *)((const char *)&c->t[i] + offset));
    return m_sel(m, c->below[0], y[0], m_sel(m, c->below[1], y[1], y[2]));
}

/* y of x in (0, 8] */
static ts_val bessel_near_y(ts_math *m, ts_val x, int order)
{
    const bessel_table *t = &bessel_tables[m->wide];
    const bessel_interval *interval = t->y[order];
    bessel_choice c = {.t = interval};
    const size_t at = offsetof(bessel_interval, rest);
    ts_math_pair w = ts__math_product(m, x, x);
    for (int i = 0; i < 2; i++)
        c.below[i] = m_cmp(m, TS_LT, x, m_c(m, interval[i].end));
#define BESSEL_OF(member) bessel_pick(m, &c, offsetof(bessel_interval, member))
    ts_val u = m_sub(m, m_mul(m, w.head, BESSEL_OF(scale)), BESSEL_OF(shift));
    ts_val g = bessel_pick(m, &c, at + (size_t)(t->n_y[order] - 1) * sizeof(double));
    for (int i = t->n_y[order] - 2; i >= 0; i--)
        g = m_fma(m, g, u, bessel_pick(m, &c, at + (size_t)i * sizeof(double)));
    g = m_mul(m, g, bessel_beside(m, w, BESSEL_OF(square[0]), BESSEL_OF(square[1])));
    ts_val log = bessel_log(m, x, BESSEL_OF(zero[0]), BESSEL_OF(zero[1]));
    log = m_mul(m, log, m_c(m, 0.63661977236758134308));
#undef BESSEL_OF
    return m_fma(m, log, bessel_near_j(m, x, order), order ? m_div(m, g, x) : g);
}

/* j or y of x from 8 on */
static ts_val bessel_far(ts_math *m, ts_val x, int order, bool second)
{
    const bessel_table *t = &bessel_tables[m->wide];
    ts_val r = m_div(m, m_c(m, 8), x), s = m_mul(m, r, r), unit = m_c(m, 0.63661977236758134308);
    ts_val modulus = ts__math_poly(m, s, t->modulus[order], t->n_far);
    ts_val phase = m_mul(m, ts__math_poly(m, s, t->phase[order], t->n_far), m_mul(m, r, m_c(m, 0.125)));
    ts_val wave = ts__math_sin_beside(m, x, (order != 0) == second ? 1 : -1, phase);
    ts_val scale = ts_op1(m->b, TS_OP_sqrt, m_div(m, unit, x), 0), y = m_mul(m, m_mul(m, modulus, scale), wave);
    y = order && second ? m_neg(m, y) : y;
    return m_sel(m, m_cmp(m, TS_EQ, x, m_c(m, INFINITY)), m_c(m, 0), y);
}

static ts_val bessel_any(ts_math *m, ts_val x, int order, bool second)
{
    ts_val a = m_abs(m, x), y = second ? bessel_near_y(m, a, order) : bessel_near_j(m, a, order);
    ts_val opener = ts_cold_begin(m->b, m_cmp(m, TS_GE, a, m_c(m, 8)), 1, &y);
    y = bessel_far(m, a, order, second);
    ts_term(m->b, TS_OP_yield, 1, &y);
    ts_end_like(m->b, opener);
    return ts_res(m->b, opener, 0);
}

ts_val ts__math_j0(ts_math *m, ts_val x)
{
    return bessel_any(m, x, 0, false);
}

ts_val ts__math_j1(ts_math *m, ts_val x)
{
    ts_val y = bessel_any(m, x, 1, false), minus = m_icmp(m, TS_LT, m_bits(m, x), m_i(m, 0));
    return m_sel(m, minus, m_neg(m, y), y);
}

static ts_val bessel_y(ts_math *m, ts_val x, int order)
{
    ts_val zero = m_c(m, 0), y = bessel_any(m, x, order, true);
    y = m_sel(m, m_cmp(m, TS_EQ, x, zero), m_c(m, -INFINITY), y);
    return m_sel(m, m_unless(m, TS_GE, x, zero), m_c(m, NAN), y);
}

ts_val ts__math_y0(ts_math *m, ts_val x)
{
    return bessel_y(m, x, 0);
}

ts_val ts__math_y1(ts_math *m, ts_val x)
{
    return bessel_y(m, x, 1);
}
