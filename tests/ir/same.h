/* SPDX-License-Identifier: Apache-2.0
 * Equality of functions of different modules, for tests of the text form. */
#ifndef TS_TESTS_IR_SAME_H
#define TS_TESTS_IR_SAME_H

#include "ir/text.h"

/* Equal up to where pool words lie and how strings and data are numbered. */
static inline bool same_fn(const ts_fn *a, const ts_fn *b)
{
    if (a->inst.n != b->inst.n || a->n_params != b->n_params || a->level != b->level ||
        a->entry != b->entry || a->n_results != b->n_results)
        return false;
    for (ts_val v = 1; v < a->inst.n; v++) {
        const ts_inst *x = ts_at(a, v), *y = ts_at(b, v);
        uint32_t words = ts__attr_words(a, x), attr = ts__ops[x->op].attr;
        bool constant = x->op == TS_OP_constant;
        if (x->op != y->op || x->n_opnd != y->n_opnd || x->flags != y->flags ||
            words != ts__attr_words(b, y))
            return false;
        if (memcmp(ts_opnds(a, x), ts_opnds(b, y), (constant ? 2 : x->n_opnd) * sizeof *x->opnd) !=
            0)
            return false;
        if (words ? memcmp(ts_pool(a, x), ts_pool(b, y), words * sizeof *x->opnd) != 0
                  : attr != TS_ATTR_STR && attr != TS_ATTR_SYMBOL && !constant && x->aux != y->aux)
            return false;
    }
    return true;
}

#endif
