/* SPDX-License-Identifier: Apache-2.0
 *
 * A group as a kernel: its axes, its key, its parameters and values. group.c makes elementwise kernels of it, fold.c
 * reductions; group_build.c writes what both read and compute.
 */
#ifndef TS_NUMERIC_GROUP_H
#define TS_NUMERIC_GROUP_H

#include "numeric/numeric.h"

/* Axes of a kernel: those of a shape, in the order of their strides, and joined where all places allow it. */
typedef struct nd_axes {
    uint32_t rank;
    bool folded[TS_ND_RANK];
    int64_t extent[TS_ND_RANK], stride[ND_GROUP_MEMORY][TS_ND_RANK]; /* elements */
} nd_axes;

enum { ND_LINE = 16 }; /* bytes that a thread of a GPU may read at once */

typedef struct group_kernel {
    const nd_group *group;
    nd_axes axes;
    ts_type index; /* i32, or i64 for what is large */
    int64_t tile[TS_MAX_RANK], n_tiles[TS_MAX_RANK];
    uint8_t lacks[ND_GROUP_MEMORY]; /* bit d: the place makes no step along axis d */
    uint8_t unit[ND_GROUP_MEMORY];  /* the axis along which it makes steps of 1; the rank: none */
    bool aligned[ND_GROUP_MEMORY];  /* its address and other steps are multiples of 16 bytes, and it matters */
    bool lines; /* whether addresses are lines matters, whatever the places hold: a thread holds neighbours */
    uint8_t warps; /* of a block; 0: as the compiler finds best */
    bool tells_first; /* faults are told of before results are stored, which may replace operands */
    uint8_t whole; /* of rows: axes (bits) that tiles fill, each of them */
    uint8_t own; /* so many of the last axes that are not folded have an axis of the grid; the others share the next */
} group_kernel;

/* What building a kernel needs: parameters, the block's place along the axes, values so far. */
typedef struct group_build {
    const group_kernel *k;
    nd_emit e, narrow; /* narrow: tiles are 1 wide along folded axes (nd_node) */
    ts_val flags, hint; /* where faults are told of, 0: they are not; elements that may have some, 0: none has */
    bool tells;         /* this time: hints say that there are some */
    bool in_loop;       /* of a kernel of loops: elements that there are are `lanes`, 0: all */
    ts_val lanes;
    uint32_t whole; /* axes (bits) whose tiles are all inside here */
    bool still[ND_GROUP_MEMORY], has_numbers; /* what was made before loops that do not change it */
    ts_val pointer[ND_GROUP_MEMORY], extent[TS_MAX_RANK], stride[ND_GROUP_MEMORY][TS_MAX_RANK], at[TS_MAX_RANK];
    nd_val number[ND_GROUP_NODES * 2], place[ND_GROUP_MEMORY], node[ND_GROUP_NODES]; /* as whole tiles */
    nd_val narrow_number[ND_GROUP_NODES * 2], narrow_place[ND_GROUP_MEMORY], narrow_node[ND_GROUP_NODES];
} group_build;

/* Axes of the group's shape, at least one; those of `folded` (bits) are not joined with others. False: too many are
 * left, or strides are no multiples of elements. */
bool ts__nd_axes_of(const nd_group *group, uint64_t folded, nd_axes *axes);
void ts__nd_kernel_tiles(group_kernel *k);
/* Tiles of a kernel that walks folded axes: narrow along the kept ones where the last axis is kept, so that there are
 * many blocks. */
void ts__nd_kernel_walk_tiles(group_kernel *k, int64_t width);
/* Which places lack which axes, and the width of indices; after the tiles are chosen. */
void ts__nd_kernel_places(group_kernel *k);
bool ts__nd_kernel_is_wide(const group_kernel *k, uint32_t more); /* too many arguments for a launch, with `more` */
void ts__nd_kernel_key(const group_kernel *k, nd_launch *launch);
bool ts__nd_kernel_has_stride(const group_kernel *k, uint32_t p, uint32_t d); /* a place's step is an argument */
void ts__nd_kernel_args(const group_kernel *k, nd_launch *launch);
/* A block for each tile of the axes that are not folded; `own` (group_kernel) at most 2. It is part of the key. */
void ts__nd_kernel_grid(group_kernel *k, uint32_t own, int64_t grid[3]);
/* Begins the function `name` of a kernel and its parameters; freed by its writer. NULL without memory, which the
 * verifier then finds, as the function has no end. */
group_build *ts__nd_build_begin(const group_kernel *k, const char *name, ts_module *module, ts_builder *b);
void ts__nd_build_place_in_grid(group_build *g, ts_builder *b); /* g->at of such a grid; 0 along folded axes */
ts_val ts__nd_build_tiles(const group_build *g, ts_builder *b, uint32_t d); /* how many there are along an axis */
/* Everything that the group reads and computes, at the place that g->at says. */
void ts__nd_build_values(group_build *g, ts_builder *b);
/* Numbers, and places that make no step along any of these axes: once for all tiles along them. */
void ts__nd_build_still(group_build *g, ts_builder *b, uint32_t axes);
void ts__nd_build_nodes(group_build *g, ts_builder *b); /* what it computes of g->place */
void ts__nd_build_store(group_build *g, ts_builder *b, uint32_t p); /* the value of a place that is written */
uint32_t ts__nd_group_index(const nd_group *group, const nd_node *node); /* of a node of the group */
/* Where operand i comes from, as a byte: a node, behind those a place, behind those a number of the group. */
uint32_t ts__nd_group_source(const nd_group *group, const nd_node *node, int i);
/* The view of a place along the axes that it has: its tiles, and which one `at` is; how many axes these are. */
uint32_t ts__nd_build_view(group_build *g, ts_builder *b, uint32_t p, ts_val *view, ts_val *at);
/* Numbers of elements along an axis, in this block's tile; where they lie inside of all of these axes (0: all do). */
ts_val ts__nd_build_numbers(const group_build *g, ts_builder *b, uint32_t d);
ts_val ts__nd_build_inside(const group_build *g, ts_builder *b, uint32_t axes);
/* Writes a node's value to the places behind place p that the node `offsets` says. */
/* What is written, at which places and where; as nodes of a group. `is_greatest`: what is there and is greater
 * stays. */
typedef struct nd_scatter {
    uint32_t value, offsets, mask;
    bool is_masked, is_greatest;
} nd_scatter;
void ts__nd_build_scatter(group_build *g, ts_builder *b, uint32_t p, const nd_scatter *s);
/* loop.c: whether a kernel can be loops, its grid, and the kernel of a group_kernel. */
bool ts__nd_loop_fits(const group_kernel *k);
void ts__nd_loop_grid(group_kernel *k, int64_t grid[3]);
void ts__nd_loop_blocks(uint32_t rank, const int64_t *shape, int64_t grid[3]); /* the same, of axes */
nd_build ts__nd_loop_write;
/* Tells of faults (tell.c) of the values that ts__nd_build_values made last; anywhere behind it at the same place. */
void ts__nd_build_told(const group_build *g, ts_builder *b);
/* Elements of a node that may have faults, by one look at its results; what faults they have, as tiles of i32; and what
 * stores them, as many as the group's tiles have. */
ts_val ts__nd_tell_hint(const nd_emit *e, const nd_node *node, const nd_val *x, nd_val y);
ts_val ts__nd_tell_code(const nd_emit *e, const nd_node *node, const nd_val *x, nd_val y);
void ts__nd_tell(const nd_emit *e, const nd_node *node, ts_val flags, ts_val code);
void ts__nd_tell_each(const nd_emit *e, ts_nd_fn fn, ts_val flags, ts_val found); /* elements that are found invalid */
/* Whether an element of a tile is true, as a tile of one; as i1, known when the loop over the tile has ended. */
ts_val ts__nd_tell_joined(const nd_emit *e, ts_val c);
ts_val ts__nd_tell_any(const nd_emit *e, ts_val c);
/* fold_rows.c: what a reduction is computed in, and those along rows that tiles hold whole. */
bool ts__nd_fold_is_arg(ts_nd_fold fold);
bool ts__nd_fold_has_index(ts_nd_fold fold); /* its accumulators hold a place or a count, too */
ts_dtype ts__nd_fold_loop(const ts_nd_reduction *r, bool is_scan);
bool ts__nd_fold_fits_word(const ts_nd_graph *graph, ts_nd_fold fold, uint32_t from, ts_dtype loop, int64_t n);
bool ts__nd_fold_is_row(const ts_nd_reduction *r);
ts_status ts__nd_fold_row(const ts_nd_reduction *r, ts_nd *out, ts_error *err); /* now, or as a value that waits */
bool ts__nd_group_is_apart(const nd_group *group); /* nd_launch */
/* After a launch: values that are computed once more tell of no faults again. Gives `status`. */
ts_status ts__nd_group_done(const nd_group *group, ts_status status);
uint64_t ts__nd_group_bytes(const group_kernel *k); /* that it reads and writes */

#endif
