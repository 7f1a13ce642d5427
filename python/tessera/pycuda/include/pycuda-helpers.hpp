/* SPDX-License-Identifier: Apache-2.0
 *
 * Textures and surfaces of elements wider than a channel: double, complex and 64-bit integers travel as vectors of
 * 32-bit ones. fp_tex2D(t, x, y) gives the value; fp_surf2Dread(&v, s, x, y) counts x in elements, not bytes.
 */
#ifndef TESSERA_PYCUDA_HELPERS_HPP
#define TESSERA_PYCUDA_HELPERS_HPP
#include <pycuda-complex.hpp>
extern "C++" {

typedef float fp_tex_float;
typedef int2 fp_tex_double;
typedef float2 fp_tex_cfloat;
typedef int4 fp_tex_cdouble;

__device__ inline double fp_value(int2 v) { return __hiloint2double(v.y, v.x); }
__device__ inline pycuda::complex<float> fp_value(float2 v) { return pycuda::complex<float>(v.x, v.y); }
__device__ inline pycuda::complex<double> fp_value(int4 v)
{ return pycuda::complex<double>(__hiloint2double(v.y, v.x), __hiloint2double(v.w, v.z)); }
template <class T> __device__ inline T fp_value(T v) { return v; }

template <class T> struct fp_words { typedef T type; };
template <> struct fp_words<double> { typedef int2 type; };
template <> struct fp_words<pycuda::complex<float>> { typedef float2 type; };
template <> struct fp_words<pycuda::complex<double>> { typedef int4 type; };
template <class T> __device__ inline typename fp_words<T>::type fp_pack(T v)
{
    typename fp_words<T>::type w;
    memcpy(&w, &v, sizeof w);
    return w;
}

#ifdef TESSERA_REFERENCES_HPP
#define FP_TEXTURE(name, form, params, ...)                                                             \
    template <class T, int mode> __device__ inline auto fp_##name(const texture<T, form, mode> &t, params) \
    { return fp_value(name(t, __VA_ARGS__)); }
#define FP_ARGS(...) __VA_ARGS__
FP_TEXTURE(tex1Dfetch, 1, int x, x)
FP_TEXTURE(tex1D, 1, float x, x)
FP_TEXTURE(tex2D, 2, FP_ARGS(float x, float y), x, y)
FP_TEXTURE(tex3D, 3, FP_ARGS(float x, float y, float z), x, y, z)
FP_TEXTURE(tex1DLayered, 0xF1, FP_ARGS(float x, int layer), x, layer)
FP_TEXTURE(tex2DLayered, 0xF2, FP_ARGS(float x, float y, int layer), x, y, layer)

#define FP_SURFACE(name, params, ...)                                                                   \
    template <class T, class S, int form>                                                               \
    __device__ inline void fp_##name##read(T *v, const surface<S, form> &s, int x, params,              \
                                           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)         \
    {                                                                                                   \
        typename fp_words<T>::type w;                                                                   \
        name##read(&w, s, x * (int)sizeof(T), __VA_ARGS__, mode);                                       \
        memcpy(v, &w, sizeof w);                                                              \
    }                                                                                                   \
    template <class T, class S, int form>                                                               \
    __device__ inline void fp_##name##write(T v, const surface<S, form> &s, int x, params,              \
                                            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)        \
    { name##write(fp_pack(v), s, x * (int)sizeof(T), __VA_ARGS__, mode); }
FP_SURFACE(surf2D, int y, y)
FP_SURFACE(surf3D, FP_ARGS(int y, int z), y, z)
FP_SURFACE(surf1DLayered, int layer, layer)
FP_SURFACE(surf2DLayered, FP_ARGS(int y, int layer), y, layer)
#undef FP_TEXTURE
#undef FP_SURFACE
#undef FP_ARGS
#endif

}
#endif
