/* SPDX-License-Identifier: Apache-2.0
 *
 * Scoped value numbering: see number.h. A hash table whose entries are undone when the region in
 * which they were made closes, so what is found always dominates (Briggs, Cooper and Simpson,
 * 1997).
 */
#include "pass/number.h"
#include "ir/text.h"

enum { NUMBER_BUCKETS = 2048 };

bool ts__numbers_init(ts__numbers *n, ts_fn *fn, ts_arena *scratch)
{
    *n = (ts__numbers){.fn = fn, .scratch = scratch};
    n->bucket = TS_NEW_N(scratch, uint32_t, NUMBER_BUCKETS);
    n->n_buckets = NUMBER_BUCKETS;
    return n->bucket != NULL;
}

/* Four times the buckets, filled in the order of the entries: closing a scope undoes them from the newest on. */
static void number_grow(ts__numbers *n)
{
    uint32_t *bucket = TS_NEW_N(n->scratch, uint32_t, (size_t)n->n_buckets * 4);
    if (!bucket)
        return; /* slower, and right */
    n->bucket = bucket;
    n->n_buckets *= 4;
    for (uint32_t i = 0; i < n->entry.n; i++) {
        uint32_t *head = &bucket[n->entry.at[i].hash % n->n_buckets];
        n->entry.at[i].next = *head;
        *head = i + 1;
    }
}

void ts__numbers_open(ts__numbers *n)
{
    if (!TS_PUSH(n->scratch, &n->scope, n->entry.n))
        n->failed = true;
}

void ts__numbers_close(ts__numbers *n)
{
    if (!n->scope.n)
        return;
    uint32_t keep = n->scope.at[--n->scope.n];
    while (n->entry.n > keep) {
        ts__number_entry *e = &n->entry.at[--n->entry.n];
        n->bucket[e->hash % n->n_buckets] = e->next;
    }
}

/* Each local array, shared array and clock reading is distinct; never merge two. */
static bool number_is_distinct(const ts_inst *inst)
{
    return inst->op == TS_OP_local || inst->op == TS_OP_shared_alloc || ts__is_clock(inst);
}

bool ts__can_number(const ts_inst *inst)
{
    const ts_op_info *info = ts_info(inst);
    if (info->n_result != 1 || info->flags & TS_REGION)
        return false;
    if (inst->op == TS_OP_load_view_tko || inst->op == TS_OP_load_ptr_tko)
        return TS_M_GET_ORDER(inst->aux) == TS_WEAK;
    return info->flags & TS_PURE && inst->op != TS_OP_param && inst->op != TS_OP_arg &&
           inst->op != TS_OP_res && inst->op != TS_OP_token && !number_is_distinct(inst);
}

/* Everything of the instruction but where its words lie. */
static uint64_t number_hash(const ts_fn *fn, const ts_inst *inst)
{
    uint32_t words = ts__attr_words(fn, inst);
    uint64_t head[] = {inst->op, inst->flags, inst->type, inst->n_opnd, words ? 0 : inst->aux};
    uint64_t h = ts__hash(head, sizeof head, 7);
    if (inst->op == TS_OP_constant)
        return ts__hash(inst->opnd, 2 * sizeof *inst->opnd, h);
    h = ts__hash(ts_opnds(fn, inst), inst->n_opnd * sizeof *inst->opnd, h);
    return words ? ts__hash(ts_pool(fn, inst), words * sizeof *inst->opnd, h) : h;
}

static bool number_same(const ts_fn *fn, const ts_inst *a, const ts_inst *b)
{
    uint32_t words = ts__attr_words(fn, a), n = a->op == TS_OP_constant ? 2 : a->n_opnd;
    if (a->op != b->op || a->flags != b->flags || a->type != b->type || a->n_opnd != b->n_opnd ||
        words != ts__attr_words(fn, b))
        return false;
    if (memcmp(ts_opnds(fn, a), ts_opnds(fn, b), n * sizeof *a->opnd) != 0)
        return false;
    return words ? memcmp(ts_pool(fn, a), ts_pool(fn, b), words * sizeof *a->opnd) == 0
                 : a->aux == b->aux;
}

ts_val ts__number(ts__numbers *n, uint32_t pool_n)
{
    ts_fn *fn = n->fn;
    ts_val v = fn->inst.n - 1;
    const ts_inst *inst = ts_at(fn, v);
    uint64_t hash = number_hash(fn, inst);
    uint64_t epoch = ts_info(inst)->flags & TS_READ ? n->epoch : n->domain;
    uint32_t *bucket = &n->bucket[hash % n->n_buckets];
    for (uint32_t i = *bucket; i; i = n->entry.at[i - 1].next) {
        const ts__number_entry *e = &n->entry.at[i - 1];
        if (e->hash != hash || e->epoch != epoch || !number_same(fn, ts_at(fn, e->value), inst))
            continue;
        fn->inst.n = fn->loc.n = v;
        fn->pool.n = pool_n;
        return e->value;
    }
    if (!TS_PUSH(n->scratch, &n->entry, ((ts__number_entry){hash, epoch, v, *bucket})))
        n->failed = true;
    else
        *bucket = n->entry.n;
    if (n->entry.n > 2 * n->n_buckets)
        number_grow(n);
    return v;
}
