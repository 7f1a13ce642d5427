/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the elements of a `reduce` or `scan` may be combined in any order. The language asks its function to be
 * associative and no more: unless this says yes, elements are combined in ascending order along the axis.
 */
#ifndef TS_IR_COMMUTE_H
#define TS_IR_COMMUTE_H

#include "ir/ir.h"

/* True when the body of `opener` certainly gives the same with the elements and the accumulators exchanged, as far
 * as its results are used (bits of NaN aside). Read from its structure; a body that it cannot follow does not
 * commute. No memory is taken. */
bool ts__body_commutes(const ts_fn *fn, ts_val opener);

#endif
