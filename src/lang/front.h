/* SPDX-License-Identifier: Apache-2.0
 *
 * The front end: a packed Python function (ast.def, written by python/tessera/_pack.py) and a
 * description of its arguments become tile IR.
 */
#ifndef TS_LANG_FRONT_H
#define TS_LANG_FRONT_H

#include "ir/ir.h"
#include "tessera/compile.h"

/* Lowers function 0 of the pack to an entry of a new module in `arena`. Parameters follow the ABI in
 * compile.h; what the spec promises (alignment, divisibility, bounds) becomes `assume` and constants.
 * Errors carry file, line, caret, found, wanted, remedy in err->text. */
TS_CHECKED ts_status ts__front(ts_arena *arena, const void *pack, size_t n_pack, const ts_spec *spec,
                              size_t n_spec, const ts_hints *hints, ts_module **out, ts_error *err);

#endif
