/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of pipeline.def: every name is a pass or a step, every pass works on the level that it meets, what a pass
 * or step needs has been brought about before it. The runner says the same of a compilation; here it is said of rows
 * that no test compiles.
 */
#include "check.h"
#include "ir/pass.h"
#include <stdlib.h>

enum { B = TS_LEVEL_B, T = TS_LEVEL_T, S = TS_LEVEL_S, TILE = TS_LEVEL_T, THREAD = TS_LEVEL_S, CPU = 0, GPU = 1 };
enum { MAY, MUST, SOURCE = TS_FORM_SOURCE, PLAIN = TS_FORM_PLAIN, LEGAL = TS_FORM_LEGAL };

typedef struct row {
    const char *name;
    int level;
    uint32_t needs, makes, keeps;
} row;

static const row rows[] = {
#define TS_PASS(name, level, kind, needs, makes, keeps, doc) {#name, level, needs, makes, keeps},
#include "pass/pass.def"
#define TS_STEP(name, needs, doc) {#name, 0, needs, 0, SOURCE | PLAIN | LEGAL},
#include "compile/pipeline.def"
};

static const struct {
    int level, target;
    const char *groups;
} pipelines[] = {
#define TS_PIPELINE(level, target, groups) {level, target, groups},
#include "compile/pipeline.def"
};

static const row *row_of(const char *name)
{
    for (size_t i = 0; i < TS_COUNT(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static void check_group(char *group, int *level, uint32_t *forms)
{
    bool step = false;
    uint32_t n = 0;
    for (char *rest = group, *name; (name = strtok_r(rest, " ", &rest)); n++) {
        const row *r = row_of(name);
        CHECK(r != NULL);
        if (!r) {
            fprintf(stderr, "'%s' is neither a pass nor a step\n", name);
            return;
        }
        CHECK(!(r->needs & ~*forms));
        CHECK(!r->level || r->level & *level);
        *forms = (*forms & r->keeps) | r->makes;
        *level = strcmp(name, "lower") == 0 ? THREAD : *level;
        step = step || !r->level;
    }
    CHECK(n > 0);
    CHECK(!step || n == 1);
}

static void names_levels_and_needs_of_each_row_fit(void)
{
    for (size_t i = 0; i < TS_COUNT(pipelines); i++) {
        char *copy = strdup(pipelines[i].groups);
        int level = pipelines[i].level;
        uint32_t forms = SOURCE;
        for (char *rest = copy, *group; (group = strtok_r(rest, "|", &rest));)
            check_group(group, &level, &forms);
        free(copy);
    }
}

static void each_level_and_target_has_one_row(void)
{
    for (size_t i = 0; i < TS_COUNT(pipelines); i++)
        for (size_t k = 0; k < i; k++)
            CHECK(pipelines[i].level != pipelines[k].level || pipelines[i].target != pipelines[k].target);
}

static void each_row_ends_with_code(void)
{
    static const char *const last[] = {[CPU] = "| llvm", [GPU] = "| ptx"};
    for (size_t i = 0; i < TS_COUNT(pipelines); i++) {
        const char *want = last[pipelines[i].target], *groups = pipelines[i].groups;
        size_t n = strlen(groups), n_want = strlen(want);
        CHECK(n > n_want && strcmp(groups + n - n_want, want) == 0);
    }
}

int main(void)
{
    names_levels_and_needs_of_each_row_fit();
    each_level_and_target_has_one_row();
    each_row_ends_with_code();
    return check_done();
}
