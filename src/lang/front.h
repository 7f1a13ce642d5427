/* SPDX-License-Identifier: Apache-2.0
 *
 * The front end: a packed Python function (ast.def, written by python/tessera/_pack.py) and a
 * description of its arguments become tile IR: a kernel, or a function that kernels of the IR call.
 */
#ifndef TS_LANG_FRONT_H
#define TS_LANG_FRONT_H

#include "ir/ir.h"
#include "tessera/compile.h"

/* Lowers function 0 of a packed source to an entry of a new module in `arena`. Parameters follow the ABI in
 * compile.h; what the spec promises (alignment, divisibility, bounds) becomes `assume` and constants. A TS_SPEC_BLOCK
 * may follow the arguments.
 * Errors carry file, line, caret, found, wanted, remedy in err->text. */
TS_CHECKED ts_status ts__front(ts_arena *arena, const ts_source *source, const ts_spec *spec, size_t n_spec,
                              const ts_hints *hints, ts_module **out, ts_error *err);

/* A value of a function's signature: a tile of that shape, rank 0 a scalar. */
typedef struct ts_front_type {
    uint8_t dtype, rank; /* ts_dtype */
    int64_t dims[TS_MAX_RANK];
} ts_front_type;

typedef struct ts_front_fn {
    ts_fn *fn;
    uint32_t n_results;           /* a returned tuple gives one for each item, None gives none */
    const ts_front_type *result;  /* in the module's arena */
} ts_front_fn;

/* Lowers function 0 of the pack, called with arguments of these types, to the function @name of `module`,
 * which ts_call then calls: an operator written in Python becomes IR once and serves any number of kernels.
 * Its arguments are values; defaults hold. On failure the module has no function more than before.
 * Errors: as above; TS_VALUE for a type that no tile has or a name that is taken. */
TS_CHECKED ts_status ts__front_function(ts_module *module, const char *name, const void *pack, size_t n_pack,
                                        const ts_front_type *params, uint32_t n_params, ts_front_fn *out,
                                        ts_error *err);

#endif
