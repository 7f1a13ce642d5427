/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs on the CPU target against the interpreter. Skipped (and counted) where there is no LLVM. */
#define DIFF_WITH_CPU
#include "gen.h"

static ts_status diff_run_cpu(const diff_case *c, ts_fn *fn, ts_pass_env *env, diff_memory *m, ts_error *err)
{
    ts_code code = {.alloc = ts_alloc_default()};
    ts_cpu_env cpu = {.fault = &m->fault, .attention = &(_Atomic uint32_t){0}};
    ts_cpu_entry *entry = NULL;
    void *image = NULL;
    size_t n = 0;
    ts_status status = ts_target_llvm(fn, env, &code, err);
    if (!status)
        status = ts_object_load(code.bytes, code.n_bytes, env->plan->name, &image, &n, &entry, err);
    if (!status) {
        uint64_t scratch_bytes = (env->plan->scratch_bytes + 127) / 64 * 64;
        void *scratch = aligned_alloc(64, scratch_bytes);
        memset(scratch, 0xCD, scratch_bytes);
        entry(m->params, c->grid, 0, (int64_t)c->grid[0] * c->grid[1] * c->grid[2], scratch, &cpu);
        free(scratch);
        ts_object_unload(image, n);
    }
    free(code.bytes);
    free(code.messages);
    return status;
}

static bool cpu_has_llvm(void)
{
    gen g;
    diff_case c;
    diff_memory m;
    ts_error err = {0};
    diff_way way = {DIFF_CPU, TS_TARGET_CPU, "legalize", 0, NULL};
    gen_program(&g, 1, false, &c);
    diff_fill(&c, &m);
    ts_status status = diff_run_way(&c, diff_clone(c.fn), &way, &m, &err);
    diff_free(&m);
    gen_end(&g);
    return status != TS_NODEVICE;
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
