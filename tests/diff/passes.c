/* SPDX-License-Identifier: Apache-2.0
 *
 * Every pass of pass.def keeps the meaning of random programs, alone and all together. `fma` rounds less
 * often, so it is checked with a tolerance on programs of its own below; `math` defines its functions. */
#define GEN_FUNCTIONS 3
#include "gen.h"

static const char *const passes_names[] = {
#define TS_PASS(name, ...) #name,
#include "pass/pass.def"
};

static bool passes_has(const char *name)
{
    for (size_t i = 0; i < TS_COUNT(passes_names); i++)
        if (strcmp(passes_names[i], name) == 0)
            return true;
    return false;
}

/* Names of the list that exist, for ts__run_passes. */
static const char *passes_list(const char *list, char out[64])
{
    char copy[64];
    out[0] = 0;
    snprintf(copy, sizeof copy, "%s", list);
    for (char *rest = copy, *name; (name = strtok_r(rest, " ", &rest));)
        if (passes_has(name)) {
            strcat(out, name);
            strcat(out, " ");
        }
    return out;
}

static void each_pass_keeps_the_meaning(void)
{
    static const char *const lists[] = {"inline", "fold", "dce", "licm", "fold dce licm fold dce",
                                        "inline fold dce licm fold dce"};
    diff_way ways[8];
    char text[8][64];
    const char *names[8];
    size_t n = 0;
    for (size_t i = 0; i < TS_COUNT(lists); i++) {
        if (!*passes_list(lists[i], text[n]))
            continue;
        names[n] = text[n];
        ways[n] = (diff_way){DIFF_TILE, TS_TARGET_SM90, text[n], 0, NULL};
        n++;
    }
    gen_run_all(1, 60, NULL, ways, names, n);
    gen_run_all(2000, 30, passes_has("math") ? "math" : NULL, ways, names, n);
}

static void legalize_keeps_the_meaning_for_each_target(void)
{
    static const ts_target targets[] = {TS_TARGET_CPU, TS_TARGET_SM80, TS_TARGET_SM90};
    static const char *const names[] = {"legalize cpu", "legalize sm_80", "legalize sm_90"};
    diff_way ways[3];
    for (size_t i = 0; i < 3; i++)
        ways[i] = (diff_way){DIFF_TILE, targets[i], "legalize", 0, NULL};
    if (passes_has("legalize"))
        gen_run_all(5000, 100, NULL, ways, names, 3);
}

int main(void)
{
    each_pass_keeps_the_meaning();
    legalize_keeps_the_meaning_for_each_target();
    return check_done();
}
