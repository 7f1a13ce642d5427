/* SPDX-License-Identifier: Apache-2.0
 *
 * Work that nobody waits for, done beside the program by a few threads, which end when there is none: code that later
 * launches use (run/tier.c). Who takes away what it uses, as the reset of a device does, waits for it first; so does
 * the end of the process, as well as it can: data of libraries that came later may have gone by then. A child of fork
 * is made while no work is under way, and has what was waiting for a thread: it goes on with that when it is asked to.
 */
#ifndef TS_DEVICE_BACKGROUND_H
#define TS_DEVICE_BACKGROUND_H

#include "base/base.h"

typedef void ts_background_fn(void *user);

/* Calls run(user) in another thread. Owns: `run` frees `user`; not where the result is false: there is no thread, or
 * the end has come. */
bool ts__background(ts_background_fn *run, void *user);
/* In a child of fork: goes on with what its parent had left; a later call tries again where there is no thread. Cheap
 * where nothing is left. */
void ts__background_resume(void);
/* Waits until all work is done, or no thread can be had for what a parent had left; at once in a thread that does
 * some. */
void ts__background_wait(void);
/* And from now on nothing is taken: before libraries end what the work uses. */
void ts__background_end(void);

#endif
