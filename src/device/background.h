/* SPDX-License-Identifier: Apache-2.0
 *
 * Work that nobody waits for, done beside the program by a few threads, which end when there is none: code that later
 * launches use (run/tier.c). Who takes away what it uses, as the reset of a device does, waits for it first; so does
 * the end of the process, as well as it can: data of libraries that came later may have gone by then. A child of fork
 * does none of what its parent was given, and is made while none of it is under way.
 */
#ifndef TS_DEVICE_BACKGROUND_H
#define TS_DEVICE_BACKGROUND_H

#include "base/base.h"

typedef void ts_background_fn(void *user);

/* Calls run(user) in another thread. Owns: `run` frees `user`; not where the result is false: there is no thread, or
 * the end has come. */
bool ts__background(ts_background_fn *run, void *user);
/* Waits until all work is done; at once in a thread that does some. */
void ts__background_wait(void);
/* And from now on nothing is taken: before libraries end what the work uses. */
void ts__background_end(void);

#endif
