/* SPDX-License-Identifier: Apache-2.0
 *
 * A recursion cut into pieces: what the pass `recursion` (recursion.c) writes, and recursion_cut.c finds.
 *
 * A piece is straight-line code: instructions, or whole regions that no recur lies in, and how it ends. A value that
 * one piece makes and another reads has a slot in the frame of its run. What an edge hands over is taken by the piece
 * that it goes to:
 *
 *     recursion %n { if %c { yield %a } else { %x = recur %m; %y = addi %x, %n; yield %y } .. }
 *
 *     0 takes %n        CHOOSE %c -> 1, 2            piece 1 and 2 have one way in, so they stand inside of 0
 *     1                 GIVE %a
 *     2                 CALL %m -> 0, then 3
 *     3 takes %x        addi; GIVE %y                reads the slot of %n
 */
#ifndef TS_PASS_RECURSION_H
#define TS_PASS_RECURSION_H

#include "pass/pass.h"

typedef enum recursion_end {
    RECURSION_GO,      /* to edge 0 */
    RECURSION_CHOOSE,  /* edge 0 where `value` is true, else edge 1 */
    RECURSION_ENTER,   /* the `for` of `value`: edge 0 into its body, or edge 1 behind it */
    RECURSION_NEXT,    /* the same at its end: edge 0 with the next number */
    RECURSION_CALL,    /* a run from edge 0 on; edge 1 takes its results */
    RECURSION_GIVE,    /* the run is over, with the values of edge 0 */
    RECURSION_STOP     /* the thread ends */
} recursion_end;

typedef struct recursion_edge {
    uint32_t to;           /* piece; TS_NO: none */
    uint32_t n;
    const ts_val *values;  /* for what that piece takes, in order */
} recursion_edge;

typedef struct recursion_piece {
    TS_VEC(ts_val) items;  /* instructions, each with its region and results */
    TS_VEC(ts_val) takes;
    recursion_end end;
    ts_val value;
    recursion_edge edge[2];
    uint32_t n_in;         /* edges that go to it, those of calls counted twice; 0: nothing reaches it */
    ts_loc loc;
} recursion_piece;

typedef struct recursion_cut {
    const ts_fn *fn;
    const ts_shape *shape;
    ts_arena *scratch;
    ts_val opener, end;    /* the outermost recursion, and its end */
    uint32_t depth;
    TS_VEC(recursion_piece) pieces;
    uint32_t *entry;       /* of a recursion: its piece + 1; also of loops: the head, ifs: what follows */
    uint32_t *after;       /* of a loop: the piece behind it + 1 */
    bool *split;           /* a region that lies in several pieces */
    uint32_t current;      /* piece that instructions are added to */
} recursion_cut;

/* Pieces of the recursion cut->opener; the first is where its region begins. False where memory is out. */
bool ts__recursion_cut(recursion_cut *cut);

#endif
