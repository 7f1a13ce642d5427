/* SPDX-License-Identifier: Apache-2.0
 *
 * What generated code calls in the process that runs it: copies between arrays and dense tiles where
 * bounds or strides are in the way, atomics, printing, faults. These names are the only ones besides
 * memcpy and a few of libm that an object may ask the loader for.
 */
#ifndef TS_RUNTIME_RUNTIME_H
#define TS_RUNTIME_RUNTIME_H

#include "base/base.h"
#include "runtime/entry.h"

#define TS_RUNTIMES                                                                                \
    TS_RUNTIME(view_in)                                                                            \
    TS_RUNTIME(view_out)                                                                           \
    TS_RUNTIME(view_red)                                                                           \
    TS_RUNTIME(atomic)                                                                             \
    TS_RUNTIME(tally_begin)                                                                        \
    TS_RUNTIME(tally_end)                                                                          \
    TS_RUNTIME(print)                                                                              \
    TS_RUNTIME(fault)                                                                              \
    TS_RUNTIME(look)                                                                               \
    TS_RUNTIME(meet)

/* The constant part of an access to a view: words of a constant array in the object. */
enum {
    TS_RT_RANK,
    TS_RT_TYPE,       /* ts_type of the element, a scalar */
    TS_RT_PAD,        /* payload outside the array */
    TS_RT_MODE,       /* ts_rmw of view_red */
    TS_RT_SPARSE,     /* 1 + axis addressed by a list of indices, 0 none */
    TS_RT_SPARSE_BYTES,
    
    TS_RT_DIMS        /* extents of the tile follow */
};

/* where: for each tile axis its start (elements), the array's extent, the stride (elements). A dense
 * tile holds 4-bit elements and i1 in one byte each. `sparse` lists the indices along TS_RT_SPARSE. */
void ts__rt_view_in(const int64_t *what, const int64_t *where, const void *array, void *tile, const void *sparse);
void ts__rt_view_out(const int64_t *what, const int64_t *where, void *array, const void *tile, const void *sparse);
void ts__rt_view_red(const int64_t *what, const int64_t *where, void *array, const void *tile, const void *sparse);

/* n atomic operations on *at[i], what: element type, ts_rmw, n. `with`, `compare`, `mask` (bytes) and
 * `old` are dense tiles; compare, mask and old may be NULL. Sequentially consistent, in element order. */
void ts__rt_atomic(const int64_t *what, void *const *at, const void *with, const void *compare, const uint8_t *mask,
                   void *old);

/* A worker's table of additions, of 4- or 8-byte integers: empties it; adds it atomically to the array at `address`. */
void ts__rt_tally_begin(void *table, int64_t bytes);
void ts__rt_tally_end(int64_t address, const void *table, int64_t n, int64_t each);

/* One value to print: its type (scalar or TS_RT_POINTER), rank, extents, then the address of the dense tile. */
void ts__rt_print(const ts_cpu_env *env, const char *format, const int64_t *types, const void *const *tiles);
/* The first fault wins. where: line, block x, y, z, messages (text, file, function), index, extent, whether a thread is
 * known, thread x, y, z. */
enum { TS_RT_FAULT_WORDS = 13 };
void ts__rt_fault(const ts_cpu_env *env, int64_t code, const int64_t *where);
/* Not 0: the kernel is to end now. */
int32_t ts__rt_look(const ts_cpu_env *env);
/* Waits until all blocks of the launch are here. */
void ts__rt_meet(const ts_cpu_env *env);

#endif
