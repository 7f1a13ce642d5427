/* SPDX-License-Identifier: Apache-2.0
 *
 * Work of a tile function, counted region by region, and how often each region runs (tessera/report.h).
 */
#ifndef TS_COMPILE_COUNT_H
#define TS_COMPILE_COUNT_H

#include "ir/ir.h"
#include "tessera/report.h"

typedef struct ts_count {
    TS_VEC(ts_nest) nests;
    TS_VEC(ts_traffic) arrays;
    bool evaluated, exact;
    double total[TS_WORK_COUNT], busiest[TS_WORK_COUNT]; /* of the launch; of the block that has most */
    double dram_bytes;
    uint32_t tile_line;
    double tile_bytes;
} ts_count;

/* `fn` is the entry after the first passes, its math functions not yet written out. Everything lives in `arena`. */
TS_CHECKED ts_status ts__count_run(const ts_fn *fn, const ts_report_request *request, ts_arena *arena, ts_count *out,
                                  ts_error *err);

/* Parameter `param` as the user would write it: "a", "a.shape[0]", "n". */
void ts__count_label(const ts_report_request *request, uint32_t param, char *out, size_t n);
/* Scalar `v` as an expression of such names; "?" for what depends on data. */
void ts__count_expr(const ts_fn *fn, const ts_report_request *request, ts_val v, uint32_t depth, ts_text *out);
/* Extent `dim` of a tensor view: an operand of `make`, or 0 with its constant in *value. */
ts_val ts__count_extent(const ts_fn *fn, ts_val make, uint32_t dim, int64_t *value);

#endif
