/* SPDX-License-Identifier: Apache-2.0
 *
 * Roots and reciprocals of f32 as a GPU makes them: an approximate instruction and one step of Newton's method give the
 * correctly rounded result of all but rare arguments, of which a word tells. ptxas writes sqrt.rn and rcp.rn so, with a
 * branch for each; who writes them here asks once for several.
 */
#ifndef TS_PASS_QUICK_H
#define TS_PASS_QUICK_H

#include "ir/ir.h"

/* The words of arguments whose result is right are below these, without sign. */
enum { TS_QUICK_ROOT = 0x72800000 };    /* of numbers from 2^-101 on up to infinity */
#define TS_QUICK_INVERSE 0xFC000000u    /* of magnitudes from 2^-126 on up to 2^126 */

ts_val ts__quick_root(ts_builder *b, ts_val x);
ts_val ts__quick_root_word(ts_builder *b, ts_val x);
ts_val ts__quick_inverse(ts_builder *b, ts_val x);
ts_val ts__quick_inverse_word(ts_builder *b, ts_val x);

#endif
