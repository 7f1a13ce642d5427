/* SPDX-License-Identifier: Apache-2.0
 *
 * The lowering of each tile operation: the rows of the table in lower.c. A new operation is a row there, a function
 * here, and its code in the file of its family.
 */
#ifndef TS_GPU_LOWER_OP_H
#define TS_GPU_LOWER_OP_H

#include "gpu/lower/lower.h"

/* Writes the code of tile instruction `v` and gives its results their registers. */
typedef void ts_lower_fn(ts_lower *lw, ts_val v);

/* elem.c */
ts_lower_fn ts__lower_elementwise, ts__lower_cold, ts__lower_cat;
ts_lower_fn ts__lower_shape; /* reshape, permute, assume of placed values */
/* One register of elementwise `v`, from those of its operands. */
ts_val ts__lower_one(ts_lower *lw, ts_val v, const ts_val *opnds);
/* convert.c, nibble.c */
ts_lower_fn ts__lower_extract, ts__lower_insert, ts__lower_pack;
ts_lower_fn ts__lower_nibbles; /* pack, unpack of 4-bit elements */
/* view_access.c, ptr.c */
ts_lower_fn ts__lower_load_view, ts__lower_store_view, ts__lower_atomic_view, ts__lower_view_query;
ts_lower_fn ts__lower_load_ptr, ts__lower_store_ptr, ts__lower_atomic;
/* reduce.c, scan.c, mma.c */
ts_lower_fn ts__lower_reduce, ts__lower_scan, ts__lower_mma;
/* misc.c */
ts_lower_fn ts__lower_assert, ts__lower_fault, ts__lower_print, ts__lower_alloca, ts__lower_gdc;

#endif
