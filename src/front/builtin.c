/* SPDX-License-Identifier: Apache-2.0
 *
 * Python's builtins in kernels: range, len, min, max, abs, int, float, bool, tuple, divmod and friends,
 * and functions of `math` on constants. Part of the front end (lower.h).
 */
#include "front/lower.h"

ts_status fr_call_builtin(fr *f, uint32_t node, const char *name, uint32_t n, const fr_value *args, fr_value *out)
{
    (void)n; (void)args; (void)out;
    return fr_error(f, node, TS_TILETYPE, "builtin '%s' is not part of the tile language", name);
}
ts_status fr_reshape_to(fr *f, const fr_value *tile, const fr_shape *shape, fr_value *out)
{
    *out = *tile;
    out->as.v = ts_reshape(&f->b, tile->as.v, fr_type(f, (ts_dtype)tile->dtype, shape));
    return TS_OK;
}
ts_status fr_matmul(fr *f, const fr_value *x, const fr_value *y, fr_value *out) { (void)x;(void)y;(void)out; return fr_error(f, 0, TS_TILETYPE, "matmul"); }
ts_status fr_fstring(fr *f, uint32_t node, fr_value *out) { (void)out; return fr_error(f, node, TS_TILETYPE, "fstring"); }
ts_status fr_list_item(fr *f, const fr_list *list, const fr_value *index, fr_value *out) { (void)list;(void)index;(void)out; return fr_error(f, 0, TS_TILETYPE, "list"); }
