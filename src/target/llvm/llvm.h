/* SPDX-License-Identifier: Apache-2.0
 *
 * The boundary to LLVM: IR text in, object bytes out. Nothing else of Tessera knows that LLVM exists;
 * a bundled LLVM or another code generator would take the place of llvm.c.
 */
#ifndef TS_TARGET_LLVM_LLVM_H
#define TS_TARGET_LLVM_LLVM_H

#include "base/base.h"
#include "tessera/compile.h"

/* The processor that code is made for. Vector widths in bytes. */
typedef struct ts_llvm_host {
    char cpu[32];       /* LLVM's name of the processor model */
    char features[512]; /* explicit "+avx2,-avx512f,..." from cpuid and xgetbv */
    const char *triple;
    uint32_t vector_bytes;  /* 64 AVX-512, 32 AVX2, 16 SSE and NEON */
    uint32_t vector_regs;   /* 16 or 32 */
    bool f16c, fma, vbmi;
} ts_llvm_host;
void ts__host_detect(ts_llvm_host *host);
/* Makes it a lesser one of the same kind: 32 = AVX2, 16 = plain SSE2. */
void ts__host_limit(ts_llvm_host *host, uint32_t vector_bytes);

/* The LLVM that is in use, for keys of compiled code. */
typedef struct ts_llvm_build {
    ts_digest id;     /* ts__loaded_id */
    const char *file; /* as the system's loader has it */
} ts_llvm_build;
/* NULL until something was compiled or ts_llvm_find was called: loads nothing. Threads: safe. */
const ts_llvm_build *ts__llvm_loaded(void);

/* The usual few: the code is written as it should be. Of threads in lock step addresses are made where they may not be
 * needed (expr_ways of expr.c); blocks of one thread are programs as compilers know them. */
#define TS_LLVM_PASSES "function(early-cse,instsimplify,loop-mssa(licm))"
#define TS_LLVM_PASSES_LANES "function(early-cse,instsimplify,loop-mssa(licm),sink)"
#define TS_LLVM_PASSES_SERIAL "default<O2>"

/* Bytes of stack that a function may use: threads have 8 MiB as a rule, and the caller's is in use. */
enum { TS_LLVM_STACK = 4 << 20 };

typedef struct ts_llvm_options {
    const char *passes; /* NULL: TS_LLVM_PASSES */
    int level;          /* code generation level 0-3 */
    bool verify;        /* run LLVM's verifier on the text first */
    size_t room;        /* memory that there must be before it begins; 0: as measured. For tests */
} ts_llvm_options;

/* Text of one module -> relocatable object. Owns: *bytes, freed by alloc->resize(.., *n, 0).
 * Threads: safe. Errors: TS_NODEVICE without LLVM, TS_NOMEM, TS_INTERNAL when LLVM refuses the text,
 * TS_UNSUPPORTED: more stack than TS_LLVM_STACK in a function with the attribute "warn-stack-size" of that number. */
TS_CHECKED ts_status ts__llvm_compile(const char *text, size_t n_text, const ts_llvm_host *host,
                                     const ts_llvm_options *options, const ts_alloc *alloc,
                                     uint8_t **bytes, size_t *n, ts_error *err);

#endif
