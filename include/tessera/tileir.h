/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA Tile IR bytecode, versions 13.1 to 13.4: the files that other front ends of tile kernels write (cuTile Python,
 * cuTile.jl, cutile-rs) and that NVIDIA's assembler takes.
 *
 *     bytes ──ts_tileir_read──▶ ts_tileir ──ts_tileir_to_ir──▶ ts_module ──▶ ts_compile_source
 *           ◀─ts_tileir_write──     │     ◀─ts_tileir_of_ir──
 *                                   └──ts_tileir_print──▶ text
 *
 * Owns      ts_tileir_destroy ends what read and of_ir give; texts and bytes given out are freed by
 *           alloc->resize(user, block, n + 1, 0).
 * Errors    TS_PARSE: the bytes are not such a file, with the offset; TS_VERIFY: an operation breaks a rule;
 *           TS_UNSUPPORTED: what the other side cannot say; TS_NOMEM. Any bytes may be given.
 * Threads   A ts_tileir belongs to one thread at a time.
 */
#ifndef TESSERA_TILEIR_H
#define TESSERA_TILEIR_H

#include "tessera/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ts_tileir ts_tileir; /* a module of Tile IR as its file has it */

/* The versions that are known; 13.3 is written as 133. */
enum { TS_TILEIR_OLDEST = 131, TS_TILEIR_NEWEST = 134 };

/* Whether the bytes begin as such a file does. */
TS_API bool ts_tileir_is(const void *bytes, size_t n);
/* Reads a file and checks its structure. Owns: *out. The bytes are not needed afterwards. */
TS_API TS_CHECKED ts_status ts_tileir_read(const void *bytes, size_t n, const ts_alloc *alloc, ts_tileir **out,
                                           ts_error *err);
TS_API void ts_tileir_destroy(ts_tileir *module); /* NULL is fine */
/* The version of the file, as 133. */
TS_API uint32_t ts_tileir_version(const ts_tileir *module);
/* The names of its kernels, in order; NULL behind the last one. Borrowed. */
TS_API const char *ts_tileir_kernel(const ts_tileir *module, uint32_t i);
/* Text for people: docs/guide/ir.md explains it. Owns: *out, *n bytes and a NUL. */
TS_API TS_CHECKED ts_status ts_tileir_print(const ts_tileir *module, const ts_alloc *alloc, char **out, size_t *n,
                                            ts_error *err);
/* The bytes of a file of this version, with the places of the source. Owns: *out, *n bytes and a NUL.
 * Errors: TS_UNSUPPORTED for what came with a later version. */
TS_API TS_CHECKED ts_status ts_tileir_write(const ts_tileir *module, uint32_t version, const ts_alloc *alloc,
                                            char **out, size_t *n, ts_error *err);
/* The kernels of a module of our own IR, before any pass of the compiler, for files of `version` (0: the newest) and
 * later. `arch` ("sm_90"; NULL: any) is what hints are for. Owns: *out. Errors: TS_UNSUPPORTED for operations that
 * Tile IR does not have. */
TS_API TS_CHECKED ts_status ts_tileir_of_ir(const ts_module *ir, uint32_t version, const char *arch,
                                            const ts_alloc *alloc, ts_tileir **out, ts_error *err);
/* The module in our own IR, verified; with a name only that kernel. Owns: *out, ended by ts_module_destroy.
 * Errors: TS_NOTFOUND for a kernel that is not there. */
TS_API TS_CHECKED ts_status ts_tileir_to_ir(const ts_tileir *module, const char *kernel, const ts_alloc *alloc,
                                            ts_module **out, ts_error *err);

#ifdef __cplusplus
}
#endif
#endif
