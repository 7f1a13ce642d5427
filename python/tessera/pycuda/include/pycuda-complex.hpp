/* SPDX-License-Identifier: Apache-2.0
 *
 * Complex numbers for kernels: pycuda::complex<float> and <double>, with the operators and functions that the
 * arrays of tessera.pycuda use. Mixed operands take the wider type. Formulas: Abramowitz and Stegun, chapter 4;
 * division scales by the larger part (Smith, CACM 5, 1962).
 */
#ifndef TESSERA_PYCUDA_COMPLEX_HPP
#define TESSERA_PYCUDA_COMPLEX_HPP
extern "C++" {
namespace pycuda {

template <class T> struct complex {
    typedef T value_type;
    T re, im;
    __host__ __device__ complex() {}
    __host__ __device__ constexpr complex(T r, T i = T(0)) : re(r), im(i) {}
    template <class U> __host__ __device__ constexpr complex(const complex<U> &z) : re(T(z.re)), im(T(z.im)) {}
    __host__ __device__ constexpr T real() const { return re; }
    __host__ __device__ constexpr T imag() const { return im; }
    template <class U> __host__ __device__ complex &operator+=(const U &z) { return *this = *this + z; }
    template <class U> __host__ __device__ complex &operator-=(const U &z) { return *this = *this - z; }
    template <class U> __host__ __device__ complex &operator*=(const U &z) { return *this = *this * z; }
    template <class U> __host__ __device__ complex &operator/=(const U &z) { return *this = *this / z; }
};

/* The type of a mixed operation. A real operand of any width takes the complex operand's type. */
template <class A, class B> struct wider { typedef A type; };
template <> struct wider<float, double> { typedef double type; };
#define TESSERA_BOTH template <class A, class B> __device__ inline
#define TESSERA_WIDE complex<typename wider<A, B>::type>
#define TESSERA_MIXED(op)                                                                                   \
    template <class T> __device__ inline complex<T> operator op(const complex<T> &a, T b)                   \
    { return a op complex<T>(b); }                                                                          \
    template <class T> __device__ inline complex<T> operator op(T a, const complex<T> &b)                   \
    { return complex<T>(a) op b; }                                                                          \
    template <class T> __device__ inline complex<T> operator op(const complex<T> &a, int b)                 \
    { return a op complex<T>(T(b)); }                                                                       \
    template <class T> __device__ inline complex<T> operator op(int a, const complex<T> &b)                 \
    { return complex<T>(T(a)) op b; }

TESSERA_BOTH TESSERA_WIDE operator+(const complex<A> &a, const complex<B> &b)
{ return TESSERA_WIDE(a.re + b.re, a.im + b.im); }
TESSERA_BOTH TESSERA_WIDE operator-(const complex<A> &a, const complex<B> &b)
{ return TESSERA_WIDE(a.re - b.re, a.im - b.im); }
TESSERA_BOTH TESSERA_WIDE operator*(const complex<A> &a, const complex<B> &b)
{ return TESSERA_WIDE(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }
TESSERA_BOTH TESSERA_WIDE operator/(const complex<A> &a, const complex<B> &b)
{
    typedef typename wider<A, B>::type T;
    T c = b.re, d = b.im;
    if (c == 0 && d == 0) /* infinities and NaN by part, as numpy has them */
        return complex<T>(a.re / ::fabs(c), a.im / ::fabs(c));
    if ((c < 0 ? -c : c) >= (d < 0 ? -d : d)) {
        T r = d / c, n = c + d * r;
        return complex<T>((a.re + a.im * r) / n, (a.im - a.re * r) / n);
    }
    T r = c / d, n = c * r + d;
    return complex<T>((a.re * r + a.im) / n, (a.im * r - a.re) / n);
}
TESSERA_MIXED(+)
TESSERA_MIXED(-)
TESSERA_MIXED(*)
TESSERA_MIXED(/)

#define TESSERA_OF template <class T> __device__ inline
TESSERA_BOTH bool operator==(const complex<A> &a, const complex<B> &b) { return a.re == b.re && a.im == b.im; }
TESSERA_BOTH bool operator!=(const complex<A> &a, const complex<B> &b) { return !(a == b); }
TESSERA_OF bool operator==(const complex<T> &a, T b) { return a.re == b && a.im == 0; }
TESSERA_OF bool operator!=(const complex<T> &a, T b) { return !(a == b); }
TESSERA_OF bool operator==(const complex<T> &a, int b) { return a.re == b && a.im == 0; }
TESSERA_OF bool operator!=(const complex<T> &a, int b) { return !(a == b); }
/* By real, then by imaginary part, as numpy orders them. */
TESSERA_BOTH bool operator<(const complex<A> &a, const complex<B> &b)
{ return a.re < b.re || (a.re == b.re && a.im < b.im); }
TESSERA_BOTH bool operator>(const complex<A> &a, const complex<B> &b) { return b < a; }
TESSERA_BOTH bool operator<=(const complex<A> &a, const complex<B> &b) { return a < b || a == b; }
TESSERA_BOTH bool operator>=(const complex<A> &a, const complex<B> &b) { return b <= a; }

TESSERA_OF complex<T> operator-(const complex<T> &z) { return complex<T>(-z.re, -z.im); }
TESSERA_OF complex<T> operator+(const complex<T> &z) { return z; }
TESSERA_OF T real(const complex<T> &z) { return z.re; }
TESSERA_OF T imag(const complex<T> &z) { return z.im; }
TESSERA_OF complex<T> conj(const complex<T> &z) { return complex<T>(z.re, -z.im); }
TESSERA_OF T norm(const complex<T> &z) { return z.re * z.re + z.im * z.im; }
TESSERA_OF T abs(const complex<T> &z) { return ::hypot(z.re, z.im); }
TESSERA_OF T fabs(const complex<T> &z) { return abs(z); }
TESSERA_OF T arg(const complex<T> &z) { return ::atan2(z.im, z.re); }
TESSERA_OF complex<T> polar(T r, T phi) { return complex<T>(r * ::cos(phi), r * ::sin(phi)); }
TESSERA_OF complex<T> exp(const complex<T> &z) { return polar(::exp(z.re), z.im); }
TESSERA_OF complex<T> log(const complex<T> &z) { return complex<T>(::log(abs(z)), arg(z)); }
TESSERA_OF complex<T> log10(const complex<T> &z) { return log(z) * T(0.43429448190325182765); }
TESSERA_OF complex<T> sqrt(const complex<T> &z)
{
    if (z.re == 0 && z.im == 0)
        return complex<T>(0, z.im);
    T r = ::sqrt((::fabs(z.re) + abs(z)) / 2), half = z.im / (2 * r);
    return z.re >= 0 ? complex<T>(r, half) : complex<T>(::fabs(half), ::copysign(r, z.im));
}
TESSERA_OF complex<T> pow(const complex<T> &z, int n)
{
    complex<T> out(1), factor = n < 0 ? complex<T>(1) / z : z;
    for (unsigned left = n < 0 ? 0u - (unsigned)n : (unsigned)n; left; left >>= 1, factor = factor * factor)
        if (left & 1)
            out = out * factor;
    return out;
}
TESSERA_OF complex<T> pow(const complex<T> &a, const complex<T> &b)
{
    if (b.im == 0 && b.re == (T)(int)b.re && ::fabs(b.re) <= 64)
        return pow(a, (int)b.re);
    return a.re == 0 && a.im == 0 ? complex<T>(0) : exp(b * log(a));
}
TESSERA_OF complex<T> pow(const complex<T> &a, T b) { return pow(a, complex<T>(b)); }
TESSERA_OF complex<T> pow(T a, const complex<T> &b) { return pow(complex<T>(a), b); }
TESSERA_OF complex<T> sin(const complex<T> &z)
{ return complex<T>(::sin(z.re) * ::cosh(z.im), ::cos(z.re) * ::sinh(z.im)); }
TESSERA_OF complex<T> cos(const complex<T> &z)
{ return complex<T>(::cos(z.re) * ::cosh(z.im), -(::sin(z.re) * ::sinh(z.im))); }
TESSERA_OF complex<T> sinh(const complex<T> &z)
{ return complex<T>(::sinh(z.re) * ::cos(z.im), ::cosh(z.re) * ::sin(z.im)); }
TESSERA_OF complex<T> cosh(const complex<T> &z)
{ return complex<T>(::cosh(z.re) * ::cos(z.im), ::sinh(z.re) * ::sin(z.im)); }
TESSERA_OF complex<T> tan(const complex<T> &z)
{
    T t = ::tan(z.re), h = ::tanh(z.im), n = 1 + t * t * h * h;
    return complex<T>(t * (1 - h * h) / n, h * (1 + t * t) / n);
}
TESSERA_OF complex<T> tanh(const complex<T> &z)
{
    complex<T> w = tan(complex<T>(-z.im, z.re)); /* tanh z = -i tan(i z) */
    return complex<T>(w.im, -w.re);
}
TESSERA_OF complex<T> asin(const complex<T> &z) /* -i log(i z + sqrt(1 - z^2)) */
{
    complex<T> w = log(complex<T>(-z.im, z.re) + sqrt(complex<T>(1) - z * z));
    return complex<T>(w.im, -w.re);
}
TESSERA_OF complex<T> acos(const complex<T> &z)
{
    complex<T> w = asin(z);
    return complex<T>(T(1.57079632679489661923) - w.re, -w.im);
}
TESSERA_OF complex<T> atan(const complex<T> &z) /* i/2 (log(1 - i z) - log(1 + i z)) */
{
    complex<T> w = log(complex<T>(1 + z.im, -z.re)) - log(complex<T>(1 - z.im, z.re));
    return complex<T>(-w.im / 2, w.re / 2);
}

#undef TESSERA_OF
#undef TESSERA_BOTH
#undef TESSERA_WIDE
#undef TESSERA_MIXED

}
}
#endif
