/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of floats up to each item, by vectors of 64 bytes (AVX-512), put together in the order of a GPU's tiles, as
 * python/tessera/compute/_chunks.py does: with the same bits. scan.c says how.
 */
#ifndef TS_BASE_SCAN_H
#define TS_BASE_SCAN_H

#include "base/base.h"

/* to[i] = initial + from[0] + .. + from[i]; NULL: no initial value. `to` may be `from`. Only where ts__sort_is_there()
 * is true. */
void ts__scan_sums_32(const float *from, float *to, int64_t n, const float *initial);
void ts__scan_sums_64(const double *from, double *to, int64_t n, const double *initial);

#endif
