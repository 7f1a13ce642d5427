/* SPDX-License-Identifier: Apache-2.0
 * tests/golden/ir/every_op.tsir holds every operation of op.def, and its text is stable: what is
 * printed reads back to the same instructions. */
#include "ir/text.h"
#include "check.h"
#include "ir/same.h"

static ts_error err;

static char *every_load(size_t *n)
{
    FILE *file = fopen("tests/golden/ir/every_op.tsir", "rb");
    char *text = calloc(1, 1 << 20);
    *n = file && text ? fread(text, 1, (1 << 20) - 1, file) : 0;
    if (file)
        fclose(file);
    return text;
}

static void every_count(const ts_fn *fn, int *seen)
{
    for (ts_val v = 0; v < fn->inst.n; v++)
        seen[ts_at(fn, v)->op]++;
}

static void every_operation_is_there_and_round_trips(void)
{
    ts_arena arena;
    ts_module *m, *again;
    ts_text first, second;
    int seen[TS_OP_COUNT] = {0};
    size_t n;
    char *text = every_load(&n);
    ts__arena_init(&arena, NULL);
    ts__text_init(&first, NULL);
    ts__text_init(&second, NULL);
    CHECK_OK(ts__module_read(&arena, text, n, &m, &err));
    CHECK_OK(ts_module_verify(m, &err));
    for (uint32_t i = 0; i < m->fns.n; i++)
        every_count(m->fns.at[i], seen);
    for (int op = 0; op < TS_OP_COUNT; op++) {
        CHECK(seen[op] > 0);
        if (!seen[op])
            fprintf(stderr, "  no %s in every_op.tsir\n", ts__ops[op].name);
    }
    ts__module_print(m, &first);
    CHECK_OK(ts__module_read(&arena, ts__text_get(&first), first.n, &again, &err));
    ts__module_print(again, &second);
    CHECK_STR(ts__text_get(&second), ts__text_get(&first));
    CHECK(m->fns.n == again->fns.n && strstr(ts__text_get(&first), " raw ") == NULL);
    for (uint32_t i = 0; i < m->fns.n; i++)
        CHECK(same_fn(m->fns.at[i], again->fns.at[i]));
    ts__text_deinit(&first);
    ts__text_deinit(&second);
    ts__arena_deinit(&arena);
    free(text);
}

int main(void)
{
    every_operation_is_there_and_round_trips();
    return check_done();
}
