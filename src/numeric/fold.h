/* SPDX-License-Identifier: Apache-2.0
 *
 * A reduction as a kernel: fold.c chooses pieces and launches, fold_build.c writes what is launched.
 */
#ifndef TS_NUMERIC_FOLD_H
#define TS_NUMERIC_FOLD_H

#include "numeric/group.h"

/* What a launch does: all, parts of it, the rest of that, or parts and, in the last block of each tile, the rest. */
typedef enum fold_phase { FOLD_WHOLE, FOLD_PARTS, FOLD_JOIN, FOLD_BOTH } fold_phase;

typedef struct fold_of {
    group_kernel k;
    ts_nd_fold fold;
    bool is_scan;
    ts_dtype loop, walk, result; /* walk: of what a block's tiles are added up in */
    nd_node *value, *mask; /* of the group; mask NULL: none */
    uint32_t out;          /* the place of the result */
    int64_t pieces, per_piece, piece_count; /* tiles of the outermost folded axis; elements of a piece's results */
    uint32_t piece_axis;
    uint32_t whole; /* kept axes (bits) that tiles fill, each of them */
    fold_phase phase;
    uint32_t part, counter; /* places: of parts, behind it of their indices, if they have any; of counters */
    int64_t chunk;          /* pieces that are joined at a time */
} fold_of;

nd_build ts__nd_fold_write; /* of a fold_of: a reduction, or a phase of one */
nd_build ts__nd_scan_write; /* of a fold_of: a running reduction */
/* Of what the parts of a result are: a mean and squares lie as a complex number does. */
ts_dtype ts__nd_fold_parts_dtype(const fold_of *f);

#endif
