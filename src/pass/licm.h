/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the files of licm.
 */
#ifndef TS_PASS_LICM_H
#define TS_PASS_LICM_H

#include "ir/ir.h"

/* Sets sure[v] of what the loop around v comes to in its first trip, whenever there is one. `sure` is zero before. */
void ts__first_trip(const ts_fn *fn, const ts_shape *shape, bool *sure);

#endif
