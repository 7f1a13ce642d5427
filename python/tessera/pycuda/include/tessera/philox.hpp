/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers by counter: Philox 4x32-10 (Salmon et al., SC 2011). Element i of call c of a generator with key k
 * reads the stream with key k and counter (i, c): no state, any order, any number of threads. Normal values by
 * Box and Muller; Poisson values by multiplication below a mean of 10, else by transformed rejection (Hoermann,
 * 1993, algorithm PTRS).
 */
#ifndef TESSERA_PHILOX_HPP
#define TESSERA_PHILOX_HPP
extern "C++" {
namespace tessera {

struct philox {
    unsigned key[2], counter[4], out[4];
    int n_left;
    __device__ philox(unsigned long long k, unsigned long long i, unsigned long long offset) : n_left(0)
    {
        key[0] = (unsigned)k, key[1] = (unsigned)(k >> 32);
        counter[0] = 0, counter[1] = (unsigned)offset; /* counter[0]: blocks of one element */
        counter[2] = (unsigned)i, counter[3] = (unsigned)(i >> 32) ^ ((unsigned)(offset >> 32) << 8);
    }
    __device__ unsigned next()
    {
        if (n_left == 0) {
            unsigned k0 = key[0], k1 = key[1], c[4] = {counter[0], counter[1], counter[2], counter[3]};
            for (int round = 0; round < 10; round++) {
                unsigned long long a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
                unsigned t1 = c[1], t3 = c[3];
                c[0] = (unsigned)(b >> 32) ^ t1 ^ k0, c[1] = (unsigned)b;
                c[2] = (unsigned)(a >> 32) ^ t3 ^ k1, c[3] = (unsigned)a;
                k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
            }
            for (int j = 0; j < 4; j++)
                out[j] = c[j];
            counter[0]++;
            n_left = 4;
        }
        return out[--n_left];
    }
    __device__ unsigned long long next64() { unsigned long long high = next(); return high << 32 | next(); }
};

/* Whole numbers of every bit; floats in (0, 1], or [0, 1) where `open_end`. */
template <class T> struct draw { static __device__ T uniform(philox &g, bool) { return (T)g.next64(); } };
template <> struct draw<float> {
    static __device__ float uniform(philox &g, bool open_end)
    { return ((g.next() >> 8) + (open_end ? 0u : 1u)) * 5.9604644775390625e-8f; }
};
template <> struct draw<double> {
    static __device__ double uniform(philox &g, bool open_end)
    { return ((g.next64() >> 11) + (open_end ? 0ull : 1ull)) * 1.1102230246251565404e-16; }
};

template <class T> __device__ inline T normal(philox &g)
{
    T u = draw<T>::uniform(g, false), v = draw<T>::uniform(g, false);
    return ::sqrt(T(-2) * ::log(u)) * ::cospi(T(2) * v);
}

__device__ inline double poisson(philox &g, double mean)
{
    if (!(mean > 0))
        return 0;
    if (mean < 10) {
        double left = ::exp(-mean), product = draw<double>::uniform(g, false);
        int n = 0;
        for (; product > left; n++)
            product *= draw<double>::uniform(g, false);
        return n;
    }
    double root = ::sqrt(mean), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    double inverse = 1.1239 + 1.1328 / (b - 3.4), edge = 0.9277 - 3.6224 / (b - 2), log_mean = ::log(mean);
    for (;;) {
        double u = draw<double>::uniform(g, true) - 0.5, v = draw<double>::uniform(g, false);
        double s = 0.5 - ::fabs(u), k = ::floor((2 * a / s + b) * u + mean + 0.43);
        if (s >= 0.07 && v <= edge)
            return k;
        if (k < 0 || (s < 0.013 && v > s))
            continue;
        if (::log(v) + ::log(inverse) - ::log(a / (s * s) + b) <= k * log_mean - mean - ::lgamma(k + 1))
            return k;
    }
}

}
}
#endif
