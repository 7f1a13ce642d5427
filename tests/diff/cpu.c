/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs on the CPU target against the interpreter. Skipped (and counted) where there is no LLVM. */
#include "on_cpu.h"
#include "gen.h"

static bool cpu_has_llvm(void)
{
    gen g;
    diff_case c;
    gen_program(&g, 1, false, &c);
    bool has = diff_has_cpu(&c);
    gen_end(&g);
    return has;
}

int main(void)
{
    static const diff_way ways[] = {{DIFF_CPU, TS_TARGET_CPU, "legalize", 0, NULL},
                                    {DIFF_CPU, TS_TARGET_CPU, "fold dce licm legalize fold dce licm", 0, NULL}};
    static const char *const names[] = {"cpu", "cpu after passes"};
    if (cpu_has_llvm()) {
        gen_run_all(1, 30, NULL, ways, names, TS_COUNT(ways));
        gen_run_all(2000, 10, "math", ways, names, TS_COUNT(ways));
    } else {
        fprintf(stderr, "LLVM is not installed: nothing runs on the CPU target\n");
        check_skipped += 80;
    }
    return check_done();
}
