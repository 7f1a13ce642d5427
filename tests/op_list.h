/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise operations by what their rows of op.def say, for tests that go through all of a sort: a new row is
 * tested without a change here or there.
 */
#ifndef TS_TESTS_OP_LIST_H
#define TS_TESTS_OP_LIST_H

#include "ir/ir.h"

typedef struct op_list {
    ts_op at[TS_OP_COUNT];
    uint32_t n;
} op_list;

#define OP_FLOATS (1u << TS_RULE_UNF | 1u << TS_RULE_BINF | 1u << TS_RULE_TERF)
#define OP_INTS (1u << TS_RULE_UNI | 1u << TS_RULE_BINI)

/* Those with one of the typing rules (bits 1 << TS_RULE_x) that the pass math writes in others, or leaves. */
static inline op_list op_list_of(uint32_t rules, bool written)
{
    op_list list = {.n = 0};
    for (uint32_t op = 0; op < TS_OP_COUNT; op++) {
        const ts_op_info *info = &ts__ops[op];
        if (info->flags & TS_ELEM && (rules >> info->rule & 1) && written == ((info->flags & TS_WRITTEN) != 0) &&
            op != TS_OP_fn) /* one operation for all rows of math.def */
            list.at[list.n++] = (ts_op)op;
    }
    return list;
}

#endif
