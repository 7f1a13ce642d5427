/* SPDX-License-Identifier: Apache-2.0
 *
 * What the generated kernels of tessera.pycuda are made of: conversions as numpy does them, and the operations for
 * which C has no operator with numpy's meaning.
 */
#ifndef TESSERA_OPS_HPP
#define TESSERA_OPS_HPP
#include <pycuda-complex.hpp>
extern "C++" {
namespace tessera {

/* to<T>(v): v as a T. A complex number loses its imaginary part; as a bool it says whether it is not zero. */
template <class T, class U> struct conversion { static __device__ T of(const U &v) { return T(v); } };
template <class T, class U> struct conversion<T, pycuda::complex<U>> {
    static __device__ T of(const pycuda::complex<U> &v) { return T(v.re); }
};
template <class T, class U> struct conversion<pycuda::complex<T>, pycuda::complex<U>> {
    static __device__ pycuda::complex<T> of(const pycuda::complex<U> &v) { return pycuda::complex<T>(v); }
};
template <class T, class U> struct conversion<pycuda::complex<T>, U> {
    static __device__ pycuda::complex<T> of(const U &v) { return pycuda::complex<T>(T(v)); }
};
template <class U> struct conversion<bool, pycuda::complex<U>> {
    static __device__ bool of(const pycuda::complex<U> &v) { return v.re != 0 || v.im != 0; }
};
template <class U> struct conversion<bool, U> { static __device__ bool of(const U &v) { return v != U(0); } };
template <class T, class U> __device__ inline T to(const U &v) { return conversion<T, U>::of(v); }

template <class T> __device__ inline bool is_nan(const T &v) { return !(v == v); }
template <class T> __device__ inline T maximum(const T &a, const T &b) { return is_nan(a) || a >= b ? a : b; }
template <class T> __device__ inline T minimum(const T &a, const T &b) { return is_nan(a) || a <= b ? a : b; }

/* Division that rounds down; by zero it gives 0 for integers, as numpy does. */
template <class T> __device__ inline T floor_divide(T a, T b)
{
    if (b == 0)
        return 0;
    T q = b == T(-1) ? T(0 - a) : T(a / b);
    return b != T(-1) && q * b != a && (a < 0) != (b < 0) ? T(q - 1) : q;
}
template <class T> __device__ inline T remainder(T a, T b)
{
    if (b == 0 || b == T(-1))
        return 0;
    T r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
}
#define TESSERA_FLOAT(T)                                                                     \
    template <> __device__ inline T remainder(T a, T b)                                      \
    {                                                                                        \
        T r = ::fmod(a, b);                                                                  \
        return r != 0 ? ((r < 0) != (b < 0) ? r + b : r) : ::copysign(T(0), b);              \
    }                                                                                        \
    template <> __device__ inline T floor_divide(T a, T b)                                   \
    {                                                                                        \
        T r = ::fmod(a, b), q = (a - r) / b;                                                 \
        q = r != 0 && (r < 0) != (b < 0) ? q - 1 : q;                                        \
        return b == 0 ? a / b : q != 0 ? ::floor(q + T(0.5)) : ::copysign(T(0), a / b);      \
    }
TESSERA_FLOAT(float)
TESSERA_FLOAT(double)
#undef TESSERA_FLOAT

/* Of integers; a negative exponent gives the whole part of the true value. */
template <class T> __device__ inline T power(T a, T b)
{
    T out = 1;
    if (b < 0)
        return a == T(1) ? T(1) : a == T(-1) ? (b & 1 ? T(-1) : T(1)) : T(0);
    for (; b > 0; b = T(b >> 1), a = T(a * a))
        if (b & 1)
            out = T(out * a);
    return out;
}
template <> __device__ inline float power(float a, float b) { return ::powf(a, b); }
template <> __device__ inline double power(double a, double b) { return ::pow(a, b); }
template <class T> __device__ inline pycuda::complex<T> power(pycuda::complex<T> a, pycuda::complex<T> b)
{ return pycuda::pow(a, b); }

template <class T> __device__ inline T fmod(T a, T b) { return b == 0 || b == T(-1) ? T(0) : T(a % b); }
template <> __device__ inline float fmod(float a, float b) { return ::fmodf(a, b); }
template <> __device__ inline double fmod(double a, double b) { return ::fmod(a, b); }

template <class T> __device__ inline T absolute(T v) { return v < 0 ? T(0 - v) : v; }
template <> __device__ inline float absolute(float v) { return ::fabsf(v); }
template <> __device__ inline double absolute(double v) { return ::fabs(v); }
template <class T> __device__ inline T absolute(const pycuda::complex<T> &v) { return pycuda::abs(v); }
template <class T> __device__ inline T ceil(T v) { return v; }
template <> __device__ inline float ceil(float v) { return ::ceilf(v); }
template <> __device__ inline double ceil(double v) { return ::ceil(v); }
template <class T> __device__ inline T floor(T v) { return v; }
template <> __device__ inline float floor(float v) { return ::floorf(v); }
template <> __device__ inline double floor(double v) { return ::floor(v); }
template <class T> __device__ inline T conjugate(const T &v) { return v; }
template <class T> __device__ inline pycuda::complex<T> conjugate(const pycuda::complex<T> &v)
{ return pycuda::conj(v); }

}
}
#endif
