/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes that lie two, three or four elements apart, as where each thread has that many neighbours: the stretch is
 * loaded in whole vectors, and each lane's element is taken out of them. Gathers of a few lanes cost as much as those
 * loads together. The last vector ends with the last lane's element, so that nothing behind it is read:
 *
 *     four lanes, step 2     v = x[0 .. 3], w = x[3 .. 6]     shufflevector v, w: v[0], v[2], w[1], w[3]
 */
#include "target/llvm/cg.h"

enum { STRIDE_MOST = 4 };

uint32_t cg_stride(const cg_axis *a, uint32_t bits, uint32_t bytes)
{
    int64_t step = bits ? a->lane[0] / (int64_t)bytes : 0;
    if (step < 1 || step > STRIDE_MOST || (step > 1 && bits < 2))
        return 0;
    for (uint32_t b = 0; b < bits; b++)
        if (a->lane[b] != step * (int64_t)bytes << b)
            return 0;
    return (uint32_t)step;
}

/* Vector j of the stretch begins at this element. */
static int64_t stride_first(uint32_t j, uint32_t step, int64_t lanes)
{
    return j == step - 1 ? (lanes - 1) * (step - 1) : j * lanes;
}

cg_ref cg_stride_load(cg *e, cg_reg reg, uint32_t bits, cg_ref first, uint32_t step, uint32_t bytes)
{
    int64_t lanes = (int64_t)1 << bits, pick[1 << CG_LANE_BITS];
    const char *type = cg_type(e, reg, bits), *mask = cg_type(e, CG_I32, bits);
    cg_ref all = 0;
    for (uint32_t j = 0; j < step; j++) {
        int64_t at = stride_first(j, step, lanes);
        cg_ref p = at ? cg_new(e, "getelementptr i8, ptr %r, i64 %d", first, at * bytes) : first;
        cg_ref x = cg_new(e, "load %s, ptr %r, align %d", type, p, (int64_t)bytes);
        for (int64_t i = 0; i < lanes; i++) { /* of the vectors before: in place, from the second one on */
            int64_t element = i * step, of = element / lanes;
            bool here = of >= j && j > 0;
            pick[i] = here ? lanes + (element - at) % lanes : j == 1 ? element % lanes : i;
        }
        all = all ? cg_new(e, "shufflevector %s %r, %s %r, %s %r", type, all, type, x, mask,
                           cg_lanes(e, CG_I32, bits, pick)) : x;
    }
    return all;
}
