/* SPDX-License-Identifier: Apache-2.0
 *
 * How many thread blocks a multiprocessor holds at once. The hint `occupancy` asks for a number; it is met as far as
 * registers and shared memory reach without spills, since a share that is too small costs more than a second block
 * brings, and a product whose accumulators do not fit it does not even assemble.
 */
#ifndef TS_GPU_PLAN_RESIDENT_H
#define TS_GPU_PLAN_RESIDENT_H

#include "gpu/plan/tma_plan.h"

/* Registers of a producer's thread. */
enum { TS_PRODUCER_REGISTERS = 24 };

/* Registers of a thread when `blocks` of `threads` each are resident, in eights as they are given. */
uint32_t ts__resident_registers(uint32_t blocks, uint32_t threads);
/* Bytes of shared memory that each of `blocks` can have. */
uint32_t ts__resident_shared(ts_target target, uint32_t blocks);
/* The same of a consumer, once it has its part of what the producers give up. */
uint32_t ts__resident_consumer(const ts_tma *tma, uint32_t blocks);
/* Blocks for a function whose products run on wgmma: what is asked for, as far as accumulators and operands leave
 * registers for the rest. */
uint32_t ts__resident_products(const ts_tma_work *w);
/* Blocks for thread code: of `wanted` those that its values leave registers for, and `shared` bytes room. */
uint32_t ts__resident_code(const ts_fn *fn, ts_target target, uint32_t wanted, uint32_t threads, uint32_t shared,
                           ts_arena *scratch);
/* Blocks for a tile function without products and hints whose loops load middling tiles; 0 = any number. Without a
 * bound ptxas (13.0) aims at 32 registers a thread and puts each load behind the use of the one before, so that one
 * load is on its way where several could be. */
uint32_t ts__resident_default(const ts_fn *tile, uint32_t threads, ts_arena *scratch);
/* 1 where the values of thread code that are alive at once take all registers of a block, else 0. Where it must spill
 * without a bound, ptxas (13.0) does with 32 or 64 registers of 128. */
uint32_t ts__resident_full(const ts_fn *fn, uint32_t threads, ts_arena *scratch);
/* Says that fewer blocks are resident than were asked for; `v` is an instruction of the tile function. */
void ts__resident_note(const ts_fn *fn, ts_val v, uint32_t wanted, uint32_t blocks);

#endif
