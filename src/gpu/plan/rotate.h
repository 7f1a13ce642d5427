/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops of two chained products on wgmma, rotated so that both run at once (rotate.c, ADR 0007).
 */
#ifndef TS_GPU_PLAN_ROTATE_H
#define TS_GPU_PLAN_ROTATE_H

#include "gpu/plan/tma.h"

enum { TS_ROTATE_PRODUCTS = 4 }; /* of SECOND */

/* Which part of a rotated trip a value of the loop's body belongs to. */
typedef enum ts_phase { TS_PHASE_MIDDLE, TS_PHASE_FIRST, TS_PHASE_SECOND } ts_phase;

/* Finds the loops and fills tma->phase and tma->rotated; products in them neither wait a step later nor are deferred.
 * `uses` counts the uses of each value without tokens. */
void ts__rotate_plan(const ts_fn *fn, const ts_shape *shape, const uint32_t *uses, ts_arena *arena, ts_tma *tma);
bool ts__rotated(const ts_tma *tma, ts_val loop);

#endif
