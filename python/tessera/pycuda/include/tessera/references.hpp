/* SPDX-License-Identifier: Apache-2.0
 *
 * texture<...> and surface<...> as they were before CUDA 12, over texture objects. A variable of these types holds
 * the number of an object, which tessera.pycuda stores there before a launch; `flags` tells it how the values are
 * read. Included by the compiler in front of sources that name these types.
 */
#ifndef TESSERA_REFERENCES_HPP
#define TESSERA_REFERENCES_HPP
extern "C++" {

/* The types' own numbers; the toolkit's names for them are not there in every program. */
enum { TESSERA_READ_ELEMENT = 0, TESSERA_READ_AS_INTEGER = 1 };

template <class T, int form = 1, int mode = 0> struct texture {
    unsigned long long object;
    unsigned flags;
    constexpr texture() : object(0), flags(mode == TESSERA_READ_ELEMENT ? TESSERA_READ_AS_INTEGER : 0) {}
};
template <class T, int form = 1> struct surface {
    unsigned long long object;
    constexpr surface() : object(0) {}
};

/* What a read gives: the element, or a float of it where values are normalised. */
template <class T> struct tessera_floats { typedef float type; };
#define TESSERA_FLOATS(base)                                                      \
    template <> struct tessera_floats<base##1> { typedef float1 type; };          \
    template <> struct tessera_floats<base##2> { typedef float2 type; };          \
    template <> struct tessera_floats<base##4> { typedef float4 type; };
TESSERA_FLOATS(char)
TESSERA_FLOATS(uchar)
TESSERA_FLOATS(short)
TESSERA_FLOATS(ushort)
#undef TESSERA_FLOATS
template <class T, int mode> struct tessera_read { typedef typename tessera_floats<T>::type type; };
template <class T> struct tessera_read<T, TESSERA_READ_ELEMENT> { typedef T type; };

#define TESSERA_TEXTURE(name, form, params, ...)                                                          \
    template <class T, int mode>                                                                          \
    __device__ inline typename tessera_read<T, mode>::type name(const texture<T, form, mode> &t, params)  \
    { return ::name<typename tessera_read<T, mode>::type>(t.object, __VA_ARGS__); }
#define TESSERA_ARGS(...) __VA_ARGS__
TESSERA_TEXTURE(tex1Dfetch, 1, int x, x)
TESSERA_TEXTURE(tex1D, 1, float x, x)
TESSERA_TEXTURE(tex2D, 2, TESSERA_ARGS(float x, float y), x, y)
TESSERA_TEXTURE(tex3D, 3, TESSERA_ARGS(float x, float y, float z), x, y, z)
TESSERA_TEXTURE(tex1DLayered, 0xF1, TESSERA_ARGS(float x, int layer), x, layer)
TESSERA_TEXTURE(tex2DLayered, 0xF2, TESSERA_ARGS(float x, float y, int layer), x, y, layer)
#undef TESSERA_TEXTURE

#define TESSERA_SURFACE(name, params, ...)                                                                \
    template <class T, class S, int form>                                                                 \
    __device__ inline void name##read(T *value, const surface<S, form> &s, params,                       \
                                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                \
    { ::name##read(value, s.object, __VA_ARGS__, mode); }                                                 \
    template <class T, class S, int form>                                                                 \
    __device__ inline void name##write(T value, const surface<S, form> &s, params,                       \
                                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)               \
    { ::name##write(value, s.object, __VA_ARGS__, mode); }
TESSERA_SURFACE(surf1D, int x, x)
TESSERA_SURFACE(surf2D, TESSERA_ARGS(int x, int y), x, y)
TESSERA_SURFACE(surf3D, TESSERA_ARGS(int x, int y, int z), x, y, z)
TESSERA_SURFACE(surf1DLayered, TESSERA_ARGS(int x, int layer), x, layer)
TESSERA_SURFACE(surf2DLayered, TESSERA_ARGS(int x, int y, int layer), x, y, layer)
#undef TESSERA_SURFACE
#undef TESSERA_ARGS

}
#endif
