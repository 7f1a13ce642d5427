/* SPDX-License-Identifier: Apache-2.0
 *
 * References of the Bessel functions of order 0 and 1 in long double, since <math.h> has none that is right to the
 * last places beside their zeros: power series below 1, sums over the orders of one argument from there (backward
 * recurrence, Neumann's series), Hankel's expansion from 40 on, and Taylor's series around each zero below 8.
 */
#ifndef TS_TESTS_MATH_BESSEL_H
#define TS_TESTS_MATH_BESSEL_H

#include <math.h>
#include <stdbool.h>

typedef struct bessel_ref {
    long double j[2], y[2]; /* by order */
} bessel_ref;

static const long double bessel_2_pi = 0.636619772367581343075535053490057448L;
static const long double bessel_gamma = 0.577215664901532860606512090082402431L;

static inline bessel_ref bessel_small(long double x)
{
    long double q = -x * x / 4, term = 1, sum = 0, rest[2] = {0}; /* term: q^k / k!^2 */
    bessel_ref r = {{0}, {0}};
    for (int k = 0; k < 20; k++) {
        r.j[0] += term;
        r.j[1] += term / (k + 1);
        rest[0] -= term * sum;
        rest[1] -= term / (k + 1) * (2 * sum + 1 / (long double)(k + 1));
        sum += 1 / (long double)(k + 1);
        term *= q / ((long double)(k + 1) * (k + 1));
    }
    r.j[1] *= x / 2;
    long double log = bessel_2_pi * (logl(x / 2) + bessel_gamma);
    r.y[0] = log * r.j[0] + bessel_2_pi * rest[0];
    r.y[1] = log * r.j[1] - bessel_2_pi / x + bessel_2_pi * rest[1] * x / 4;
    return r;
}

static inline bessel_ref bessel_middle(long double x)
{
    enum { N = 130 };
    long double j[N + 2], all = 0, even = 0, odd = 0;
    j[N + 1] = 0;
    j[N] = 1e-300L;
    for (int k = N; k > 0; k--)
        j[k - 1] = 2 * k / x * j[k] - j[k + 1];
    for (int k = N; k > 0; k -= 2)
        all += 2 * j[k];
    all += j[0];
    for (int k = N / 2; k > 0; k--) {
        even += (k & 1 ? -1 : 1) * j[2 * k] / k;
        odd += (k & 1 ? -1 : 1) * (j[2 * k - 1] - j[2 * k + 1]) / (2 * k);
    }
    bessel_ref r = {{j[0] / all, j[1] / all}, {0}};
    long double log = bessel_2_pi * (logl(x / 2) + bessel_gamma);
    r.y[0] = log * r.j[0] - 2 * bessel_2_pi * even / all;
    r.y[1] = log * r.j[1] - bessel_2_pi / x * r.j[0] + 2 * bessel_2_pi * odd / all;
    return r;
}

static inline bessel_ref bessel_large(long double x)
{
    bessel_ref r;
    long double s = sinl(x), c = cosl(x), scale = sqrtl(bessel_2_pi / 2 / x);
    for (int n = 0; n < 2; n++) {
        long double term = 1, p = 0, q = 0;
        for (int k = 0; k < 30; k++) { /* 1, i, -1, -i in turn */
            *(k & 1 ? &q : &p) += k & 2 ? -term : term;
            term *= (4 * n - (2 * k + 1) * (2 * k + 1)) / (8 * x * (k + 1));
        }
        long double cosine = n ? s - c : c + s, sine = n ? -(s + c) : s - c;
        r.j[n] = scale * (p * cosine - q * sine);
        r.y[n] = scale * (p * sine + q * cosine);
    }
    return r;
}

/* The zeros below 8: which function, order, the zero as a double and the rest, the slope there. */
static const struct bessel_zero {
    int second, order;
    double zero;
    long double rest, slope;
} bessel_zeros[] = {
    {0, 0, 0x1.33d152e971b40p+1, -1.176691651530894122087e-16L, -0.519147497289466788140203L},
    {0, 0, 0x1.6148f5b2c2e45p+2, 8.088597146146722309154e-17L, 0.340264806558368148564912L},
    {0, 1, 0x1.ea75575af6f09p+1, -1.526918409008806746755e-16L, -0.402759395702552972096002L},
    {0, 1, 0x1.c0ff5f3b47250p+2, -9.414165653410389098243e-17L, 0.30011575252613256320662L},
    {1, 0, 0x1.c982eb8d417eap-1, 2.659623153972038464392e-17L, 0.879420802497194771054834L},
    {1, 0, 0x1.fa9534d98569cp+1, -1.076434069756270578231e-16L, -0.402542671775024235721961L},
    {1, 0, 0x1.c581dc4e72103p+2, -8.835285723085408112001e-17L, 0.300097614910475186225287L},
    {1, 1, 0x1.193bed4dff243p+1, -4.825983587645496576192e-17L, 0.520786412402267511107151L},
    {1, 1, 0x1.5b7fe4e87b02ep+2, 4.162514026670376973882e-16L, -0.340318045523440558225936L},
};

/* Taylor's series from Bessel's equation at a zero of the function */
static inline long double bessel_beside(const struct bessel_zero *zero, long double x)
{
    long double z = zero->zero, t = (x - z) - zero->rest, c[4] = {0, 0, 0, zero->slope}, power = t, y = c[3] * t;
    for (int k = 0; k < 40; k++) { /* c: coefficients of t^(k - 2) to t^(k + 1) */
        long double next = (k + 1) * (2 * k + 1) * z * c[3] + (k * k + z * z - zero->order) * c[2];
        next = (next + 2 * z * c[1] + c[0]) / (-z * z * (k + 1) * (k + 2));
        c[0] = c[1], c[1] = c[2], c[2] = c[3], c[3] = next;
        y += next * (power *= t);
    }
    return y;
}

static inline long double ref_bessel(int second, int order, long double x)
{
    long double a = fabsl(x), sign = order && signbit(x) ? -1 : 1;
    if (isnan(x) || (second && x < 0))
        return NAN;
    if (a == 0 || isinf(a))
        return second && a == 0 ? -INFINITY : sign * (isinf(a) || order ? 0 : 1);
    for (size_t i = 0; i < sizeof bessel_zeros / sizeof *bessel_zeros; i++) {
        const struct bessel_zero *z = &bessel_zeros[i];
        if (z->second == second && z->order == order && fabsl(a - z->zero) < 0.25L)
            return sign * bessel_beside(z, a);
    }
    bessel_ref r = a < 1 ? bessel_small(a) : a < 40 ? bessel_middle(a) : bessel_large(a);
    return sign * (second ? r.y : r.j)[order];
}

#endif
