/* SPDX-License-Identifier: Apache-2.0
 *
 * From a packed Python function to code: what the compiler is told about the arguments of a launch
 * (ts_spec), and what it gives back (ts_code with its launch plan).
 *
 * Both are plain memory without pointers to themselves, so they can be hashed, cached on disk and
 * compared with memcmp. Unused members must be zero.
 */
#ifndef TESSERA_COMPILE_H
#define TESSERA_COMPILE_H

#include "tessera/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- dtypes ------------------------------------------------------------------------------------ */

/* Element types as seen by users: TS_DTYPE_float32 ..., a row of dtype.def each. 0 is none. */
typedef enum ts_dtype {
    TS_DTYPE_NONE,
#define TS_DTYPE(name, ...) TS_DTYPE_##name,
#include "tessera/dtype.def"
    TS_DTYPE_COUNT
} ts_dtype;

/* One row of dtype.def, which tells the members. */
typedef struct ts_dtype_info {
    const char *name;          /* "float32" */
    const char *typestr;       /* "<f4" */
    const char *format;        /* "f"; "" when the buffer protocol has none */
    char kind;                 /* b i u f c r */
    uint8_t bytes, bits;       /* of an element in an array; of its value */
    uint8_t is_signed;
    uint8_t scalar;            /* its type in the IR: TS_T_f32 of ir.h */
    uint8_t part;              /* complex: the dtype of its two parts; else TS_DTYPE_NONE */
    uint8_t dlpack;            /* 255: none */
    int8_t tma;                /* -1: none */
} ts_dtype_info;

/* The facts of a dtype; for TS_DTYPE_NONE and numbers that are no dtype a row of zeros named "none". Never NULL,
 * never freed. */
TS_API const ts_dtype_info *ts_dtype_get(ts_dtype dtype);
/* The dtype of this name ("float32"); TS_DTYPE_NONE when there is none. */
TS_API ts_dtype ts_dtype_find(const char *name);
TS_API const char *ts_dtype_name(ts_dtype dtype); /* "float32" */
TS_API size_t ts_dtype_bytes(ts_dtype dtype);

#define TS_ARRAY_RANK 8 /* greatest rank of an array argument */

/* ---- arguments of a specialisation ------------------------------------------------------------- */

typedef enum ts_spec_kind {
    TS_SPEC_ARRAY = 1,
    TS_SPEC_SCALAR,   /* passed at run time as its dtype */
    TS_SPEC_INT,      /* Constant: value in `value`, any 64-bit integer */
    TS_SPEC_FLOAT,    /* Constant: bits of a double in `value` */
    TS_SPEC_BOOL,     /* Constant: 0 or 1 */
    TS_SPEC_TUPLE,    /* `value` items follow in the spec array (each may be a tuple again) */
    TS_SPEC_LIST,     /* `value` arrays described by the one item that follows */
    TS_SPEC_NONE      /* Python None */
} ts_spec_kind;

/* One argument. For arrays every bit mask has bit d for dimension d. */
typedef struct ts_spec {
    uint8_t kind, dtype, rank;
    uint8_t index_bits;     /* 32 or 64: type of shape and stride parameters */
    uint8_t align16;        /* base pointer is a multiple of 16 bytes */
    uint8_t unit_stride;    /* stride == 1 */
    uint8_t stride_div16;   /* stride * itemsize is a multiple of 16 bytes */
    uint8_t shape_div16;    /* extent is a multiple of 16 */
    uint8_t shape_one;      /* extent == 1 */
    uint8_t static_shape;   /* extent is the compile-time constant dims[d] */
    uint8_t static_stride;  /* stride is the compile-time constant strides[d] */
    uint8_t loose;          /* SCALAR: a Python number whose type was not annotated */
    uint8_t overlap;        /* ARRAY: shares bytes with another array of the launch that is not the same array */
    uint8_t reserved;
    uint16_t same_as;       /* ARRAY: 1 + number of the earlier array (lists not counted) that it is, 0 none: the same
                             * pointer, extents and strides. The kernel sees one array under two names */
    int64_t value;
    int64_t dims[TS_ARRAY_RANK], strides[TS_ARRAY_RANK]; /* only the static ones; others zero */
} ts_spec;

/* Kernel parameters (the ABI of both targets), in argument order: an array is its pointer, then
 * `rank` extents, then `rank` strides in elements, each of index_bits; a scalar is one value of its
 * dtype (bool as i32); a list is a device pointer to 64-bit words (pointer, extents, strides of each
 * array in turn) and an i32 length; tuples are their items; constants take no parameter. */

/* ---- what comes out ------------------------------------------------------------------------------ */

#define TS_PLAN_PARAMS 248
#define TS_PLAN_TMAPS 12

/* One number of a tensor map: a constant, or a kernel parameter. */
typedef struct ts_plan_num {
    int64_t value;   /* the constant; ignored when param >= 0 */
    int32_t param;   /* parameter index, or -1 */
} ts_plan_num;

/* A TMA tensor map that the launch encodes from the parameters. Dimension 0 is the contiguous one. */
typedef struct ts_plan_tmap {
    int32_t base;             /* parameter index of the base pointer */
    uint8_t dtype;            /* CUtensorMapDataType value */
    uint8_t rank, swizzle;    /* swizzle: 0 none, 1 32B, 2 64B, 3 128B */
    uint8_t nan_fill;         /* out of bounds reads give NaN instead of 0 */
    uint8_t clip;             /* dimension whose box is cut to the array's extent, at least 1; 0 = none */
    uint8_t slice;            /* dimension along which the kernel reads slices (below); 0 = none; rank is at most 3 then */
    uint32_t elem_bytes;
    uint32_t box[5], step[5]; /* elements per copy; traversal step, 1 = dense */
    ts_plan_num dim[5];       /* extents in elements */
    ts_plan_num stride[5];    /* in elements; [0] is 1 */
} ts_plan_tmap;
/* A copy is clipped where a dimension ends, so a slice of n rows from row `first` must end where one does, whatever n
 * is. Its dimension has TS_SLICE_ROWS rows, of which the slice is the last n: its row i is row TS_SLICE_ROWS - n + i. Two
 * more dimensions lead back to where it lies, modulo 2^64:
 *     dimension  stride in bytes     coordinate       adds
 *     slice      row                 2^30 - n + i     (2^30 - n + i) row
 *     rank       row                 first + n        (first + n) row
 *     rank + 1   2^34 - row          2^30             -2^30 row */
#define TS_SLICE_ROWS ((int64_t)1 << 30)
#define TS_SLICE_EXTENT 0x7fff0000 /* of the two more dimensions */
#define TS_SLICE_BYTES ((int64_t)1 << 34)

/* What is compiled for. A GPU's number is that of the oldest generation that runs the code, as its compute capability
 * without the dot; older ones come first. */
#define TS_TARGETS(X) /* name, number, as users write it */ \
    X(CPU, 1, "cpu")                                        \
    X(SM80, 80, "sm_80")                                    \
    X(SM86, 86, "sm_86")                                    \
    X(SM89, 89, "sm_89")                                    \
    X(SM90, 90, "sm_90")                                    \
    X(SM100, 100, "sm_100")                                 \
    X(SM120, 120, "sm_120")

typedef enum ts_target {
#define X(name, number, text) TS_TARGET_##name = number,
    TS_TARGETS(X)
#undef X
} ts_target;

typedef struct ts_plan {
    uint32_t target;
    uint32_t n_params;
    uint8_t param_bytes[TS_PLAN_PARAMS]; /* 1, 2, 4 or 8; GPU parameters follow the tensor maps */
    uint8_t writes[(TS_PLAN_PARAMS + 7) / 8]; /* bit p: memory reached through parameter p may be written */
    uint8_t reads[(TS_PLAN_PARAMS + 7) / 8];  /* bit p: it may be read */
    char name[128];          /* symbol of the entry */
    /* GPU */
    uint32_t threads;        /* per block, in x */
    uint32_t shared_bytes;   /* shared memory that the code needs */
    uint32_t cluster;        /* CTAs that work on one tile block: the launch has grid.x * cluster CTAs; 0 or 1 = none */
    uint32_t n_tmaps;
    ts_plan_tmap tmap[TS_PLAN_TMAPS];
    /* After the tensor maps and the n_params parameters the launch adds: if persistent, the grid as three i32 (it then
     * starts min(tile blocks, SMs * resident) blocks in x); if error_param, a pointer to a ts_fault record. */
    uint8_t persistent;
    uint8_t error_param;
    uint8_t uses_print;
    /* A kernel of threads: the launch says how many (of at most `threads` when that is not 0), how many bytes of
     * dynamic shared memory follow the shared_bytes of the kernel's own, and the cluster. */
    uint8_t thread_kernel;
    /* CPU */
    uint64_t scratch_bytes;  /* per worker */
} ts_plan;

/* What a kernel in checked mode, or an assert, leaves for the host. */
typedef enum ts_fault_code { TS_FAULT_NONE, TS_FAULT_BOUNDS, TS_FAULT_ASSERT, TS_FAULT_DIV_ZERO } ts_fault_code;
typedef struct ts_fault {
    uint32_t code;           /* ts_fault_code */
    uint32_t line;           /* of the kernel's source, 0 unknown */
    uint32_t block[3];
    uint32_t string;         /* index in the plan's messages (operation and axis, assert text), 0 none */
    int64_t index, extent;   /* out of bounds: the index and the size it broke */
    uint32_t reserved, column;
} ts_fault;

/* Code for one target. Owns: bytes (ts_code_deinit frees). */
typedef struct ts_code {
    ts_plan plan;
    const ts_alloc *alloc;
    uint8_t *bytes;          /* CPU: relocatable object; GPU: PTX text with a final NUL */
    size_t n_bytes;
    char *messages;          /* NUL-separated assert texts and source file names */
    size_t n_messages;
} ts_code;
TS_API void ts_code_deinit(ts_code *code);

/* Hints given with @kernel, 0 = not given. */
#define TS_HINTS(X) \
    X(num_ctas)         /* thread blocks of a GPU that work on one tile block: 1, 2, 4, 8 or 16 */ \
    X(occupancy)        /* tile blocks to keep on one multiprocessor, 1 to 32 */                    \
    X(opt_level)        /* 0 to 3 */                                                                \
    X(num_worker_warps) /* 4, 8, 16 or 32 */                                                        \
    X(checked)          /* 1: indices out of bounds are reported */                                 \
    X(fastmath)         /* 1: approximate instructions are allowed */                               \
    X(num_stages)       /* depth of load pipelines, 1 to 8 */                                       \
    X(reserved)         /* 0 */
typedef struct ts_hints {
#define X(name) uint8_t name;
    TS_HINTS(X)
#undef X
} ts_hints;

/* Compiles the packed function for the arguments and target. The one way from Python to code.
 * Threads: safe, nothing is shared. Errors: TS_SYNTAX, TS_TILETYPE, TS_TILEVALUE, ... with file, line
 * and caret in err->text; TS_NOMEM; TS_NODEVICE when LLVM is missing for the CPU target. */
TS_API TS_CHECKED ts_status ts_compile(const void *pack, size_t n_pack, const ts_spec *spec, size_t n_spec,
                                       const ts_hints *hints, ts_target target, const ts_alloc *alloc,
                                       ts_code *out, ts_error *err);

/* ---- sources ------------------------------------------------------------------------------------- */

/* What a kernel is made of. Python and IR are compiled by ts_compile_source; a custom source brings its compiler. */
typedef enum ts_source_kind {
    TS_SOURCE_PYTHON, /* bytes: a packed Python function, as ts_compile takes it */
    TS_SOURCE_TEXT,   /* bytes: IR text (docs/guide/ir.md); its first function is the kernel */
    TS_SOURCE_MODULE, /* module: IR that was built (ir.h); its first function is the kernel */
    TS_SOURCE_CUSTOM  /* compile: makes the code from bytes and user */
} ts_source_kind;

typedef struct ts_module ts_module; /* ir.h */
typedef struct ts_source ts_source;

/* Makes code from a source of the caller's own, for the arguments and the target, in memory of `alloc`. It may be
 * called from several threads at once. Errors: any; *out is then not looked at. */
typedef ts_status ts_compile_fn(const ts_source *source, const ts_spec *spec, size_t n_spec, const ts_hints *hints,
                                ts_target target, const ts_alloc *alloc, ts_code *out, ts_error *err);

/* All zero but `bytes` and `n`: a packed Python function. Borrowed during a call; a kernel keeps a copy of everything
 * but `user`. */
struct ts_source {
    ts_source_kind kind;
    const void *bytes;       /* PYTHON, TEXT, CUSTOM; CUSTOM: everything of the source that the code depends on */
    size_t n;
    const ts_module *module; /* MODULE: not changed */
    ts_compile_fn *compile;  /* CUSTOM */
    void *user;              /* CUSTOM: for `compile`; the code must not depend on it */
    const char *compiler;    /* CUSTOM: name and version of the compiler, part of the cache's key; NULL: no cache */
};

/* Compiles a source of any kind. The parameters of an IR kernel must be those that a launch with these arguments passes
 * (see above: "Kernel parameters"): pointer, extents and strides of each array, each number.
 * Errors: as ts_compile; TS_PARSE and TS_VERIFY for wrong IR; TS_TYPE for parameters that do not fit the arguments. */
TS_API TS_CHECKED ts_status ts_compile_source(const ts_source *source, const ts_spec *spec, size_t n_spec,
                                              const ts_hints *hints, ts_target target, const ts_alloc *alloc,
                                              ts_code *out, ts_error *err);

/* The same from IR text without arguments to check against, for tests and tools. `entry` NULL: the first function. */
TS_API TS_CHECKED ts_status ts_compile_text(const char *text, size_t n, const char *entry, ts_target target,
                                            const ts_alloc *alloc, ts_code *out, ts_error *err);

/* The LLVM that the CPU target would use; `path` is the name that dlopen took. */
typedef struct ts_llvm_info {
    uint32_t major, minor;
    char path[256];
} ts_llvm_info;

/* Loads LLVM at the first call (10-30 ms) and says what it is. The environment variable TESSERA_LLVM
 * names a library file to use instead of the search. Threads: safe. Errors: TS_NODEVICE, TS_NOMEM. */
TS_API TS_CHECKED ts_status ts_llvm_find(ts_llvm_info *info, ts_error *err);

/* The tile IR of a packed function as text (for tools and tests). `*out` is freed by
 * alloc->resize(user, *out, *n + 1, 0). */
TS_API TS_CHECKED ts_status ts_lower_text(const void *pack, size_t n_pack, const ts_spec *spec, size_t n_spec,
                                          const ts_hints *hints, const ts_alloc *alloc, char **out, size_t *n,
                                          ts_error *err);

/* Runs a packed function by the reference interpreter, block after block: what it means, slowly, on
 * host memory. With a GPU target, what becomes of it there: compiled, and its threads run one by one, with
 * races on shared memory and missing waits reported. Parameters are 8-byte slots in ABI order. Errors as
 * ts_lower_text, and those of the run: TS_LAUNCH for a failed assert, broken promise or race, TS_INDEX. */
typedef struct ts_interpret_range { /* memory that the kernel may touch */
    const void *at;
    size_t bytes;
} ts_interpret_range;

typedef struct ts_interpret {
    const uint64_t *params;
    size_t n_params;
    uint32_t grid[3];
    void (*print)(void *user, const char *text, size_t n); /* may be NULL */
    void *print_user;
    uint64_t max_steps; /* instructions; 0 = no limit */
    uint32_t target;    /* ts_target of a GPU; 0 = tile level */
    uint32_t schedule;  /* of warps: 0 in turn, 1 the last one first, others a reproducible shuffle */
    const ts_interpret_range *ranges; /* any other address is TS_INDEX; none: addresses are taken as they are */
    size_t n_ranges;
    uint32_t block[3];     /* kernels of threads: threads of a block; all zero: as compiled */
    uint32_t cluster[3];   /* blocks of a cluster; all zero: none, or as compiled */
    uint32_t shared_bytes; /* kernels of threads: dynamic shared memory */
} ts_interpret;
TS_API TS_CHECKED ts_status ts_interpret_pack(const void *pack, size_t n_pack, const ts_spec *spec, size_t n_spec,
                                              const ts_hints *hints, const ts_interpret *run, ts_error *err);
/* The same for IR text, of either level; `entry` NULL: the first kernel. With target 0 it runs as it is written,
 * functions called where they are; a kernel of threads with the checks for races, too. Errors: also TS_PARSE,
 * TS_VERIFY. */
TS_API TS_CHECKED ts_status ts_interpret_text(const char *text, size_t n, const char *entry, const ts_interpret *run,
                                              ts_error *err);

#ifdef __cplusplus
}
#endif
#endif
