/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU target against the evaluator: loads, stores, elementwise chains, tails.
 */
#include "llvm_run.h"

static void vector_add(int64_t n, int64_t tile)
{
    run r;
    run_begin(&r);
    ts_val a = run_array(&r, TS_T_f32, n), b = run_array(&r, TS_T_f32, n), c = run_array(&r, TS_T_f32, n);
    ts_type type = run_tile(&r, TS_T_f32, 1, &tile);
    ts_val id = run_id(&r, 0);
    ts_val x = run_load(&r, run_view(&r, a, TS_T_f32, 1, &n, &tile), type, 1, &id);
    ts_val y = run_load(&r, run_view(&r, b, TS_T_f32, 1, &n, &tile), type, 1, &id);
    run_store(&r, run_view(&r, c, TS_T_f32, 1, &n, &tile), ts_op2(&r.b, TS_OP_addf, x, y, 0), 1, &id);
    r.grid[0] = (uint32_t)((n + tile - 1) / tile);
    run_check(&r, "vector add");
}

int main(void)
{
    vector_add(1024, 256);
    vector_add(1000, 256);
    vector_add(5, 16);
    vector_add(100, 1);
    vector_add(77, 8);
    return check_done();
}
