/* SPDX-License-Identifier: Apache-2.0
 *
 * From the source of a kernel (packed Python, IR) to code: what the compiler is told about the arguments of a launch
 * (ts_spec), and what it gives back (ts_code with its launch plan). Most programs need launch.h instead, which calls
 * this by itself and keeps what it compiled; this header is for those who want the code.
 *
 *     ts_code code;
 *     ts_compile_text(ir, strlen(ir), NULL, TS_TARGET_SM90, NULL, &code, &err);
 *     fwrite(code.bytes, 1, code.n_bytes, file);                      PTX text
 *     printf("%u threads, %u bytes\n", code.plan.threads, code.plan.shared_bytes);
 *     ts_code_deinit(&code);
 *
 * ts_spec and ts_plan are plain memory without pointers, so they can be hashed, cached on disk and compared with
 * memcmp. Unused members must be zero.
 *
 * Threads   Every function here may be called from several threads at once; nothing is shared between calls.
 * Streams   None: compiling touches no device.
 * Owns      What is given is borrowed during the call. ts_code owns its bytes; ts_code_deinit frees them.
 * Errors    Mistakes in a kernel are TS_SYNTAX, TS_TILETYPE, TS_TILEVALUE, TS_RECURSION, TS_UNSUPPORTED, TS_STATICEVAL,
 *           TS_STATICASSERT, with file, line and caret in err->text; mistakes in IR TS_PARSE and TS_VERIFY;
 *           TS_NOMEM; TS_NODEVICE when LLVM is missing for the CPU target. On failure *out is empty.
 */
#ifndef TESSERA_COMPILE_H
#define TESSERA_COMPILE_H

#include "tessera/base.h"
#include "tessera/host.h"

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

/* One row of dtype.def, where the columns are explained: names for Python's and NumPy's protocols, sizes, the type that
 * an element has in the IR, and the numbers by which DLPack and TMA know it. */
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

/* The facts of a dtype: one lookup in a table of constants; for TS_DTYPE_NONE and numbers that are no dtype a row of
 * zeros named "none". Never NULL,
 * never freed. */
TS_API const ts_dtype_info *ts_dtype_get(ts_dtype dtype);
/* The dtype of this name ("float32"); TS_DTYPE_NONE when there is none. */
TS_API ts_dtype ts_dtype_find(const char *name);
/* The name ("float32", "none") and the bytes of an element in an array (0 for no dtype). */
TS_API const char *ts_dtype_name(ts_dtype dtype);
TS_API size_t ts_dtype_bytes(ts_dtype dtype);

/* In a grid of at most these blocks along its axis a thread's place fits 32 bits, and so does a step of the grid. */
#define TS_FEW_BLOCKS ((1 << 21) - 1)

/* The greatest rank of an array argument. */
#define TS_ARRAY_RANK 8

/* ---- arguments of a specialisation ------------------------------------------------------------- */

/* What an argument is. Constants are part of the specialisation: each value is compiled for itself. */
typedef enum ts_spec_kind {
    TS_SPEC_ARRAY = 1,
    TS_SPEC_SCALAR,   /* passed at run time as its dtype */
    TS_SPEC_INT,      /* Constant: value in `value`, any 64-bit integer */
    TS_SPEC_FLOAT,    /* Constant: bits of a double in `value` */
    TS_SPEC_BOOL,     /* Constant: 0 or 1 */
    TS_SPEC_TUPLE,    /* `value` items follow in the spec array (each may be a tuple again) */
    TS_SPEC_LIST,     /* `value` arrays described by the one item that follows */
    TS_SPEC_NONE,     /* Python None */
    TS_SPEC_OBJECT,   /* Constant of the host (text, dtype, function, ..): number in `value` of an object of its pack */
    TS_SPEC_RECORD,   /* the TUPLE that follows holds the fields of a dataclass or named tuple, whose class is object
                       * `value` of the host's pack */
    TS_SPEC_BLOCK,    /* Not an argument, behind all of them: on the CPU code of a kernel of threads is made for
                       * blocks of dims[0], dims[1], dims[2] threads with `value` bytes of dynamic shared memory (on a
                       * GPU: zeros); index_bits is 32 where no axis of the grid has more than TS_FEW_BLOCKS */
    TS_SPEC_COMPLEX,  /* the TUPLE of two that follows holds the real and the imaginary part of a complex number */
    TS_SPEC_STRUCT    /* the ARRAY that follows, of uint8 with strides in bytes, has elements that object `value` of the
                       * host's pack describes: records, texts, or numbers that lie at any bytes */
} ts_spec_kind;

/* Below this, an extent rounded up to a tile and the position of any element still fit in 31 bits. */
#define TS_INDEX32_MAX (((int64_t)1 << 31) - ((int64_t)1 << 25))

/* One argument. For arrays every bit mask has bit d for dimension d. What is promised here (alignment, divisibility,
 * extents of 1) is compiled into the code and not checked by it: the launch makes the specs from the arguments
 * themselves, and a client that writes them by hand must keep to them.
 *
 *     float32, shape (n, 64), row-major, at an address that is a multiple of 16 bytes:
 *         {.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_float32, .rank = 2, .index_bits = 32, .align16 = 1,
 *          .unit_stride = 2, .stride_div16 = 1, .shape_div16 = 2}
 *     an int32 passed at run time:   {.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_int32}
 *     the constant 128:              {.kind = TS_SPEC_INT, .value = 128} */
typedef struct ts_spec {
    uint8_t kind, dtype, rank;
    uint8_t index_bits;     /* 32 or 64: type of shape and stride parameters; 32 where no extent is above TS_INDEX32_MAX
                             * and no element lies farther from the first one */
    uint8_t align16;        /* base pointer is a multiple of 16 bytes */
    uint8_t unit_stride;    /* stride == 1 */
    uint8_t stride_div16;   /* stride * itemsize is a multiple of 16 bytes */
    uint8_t shape_div16;    /* extent is a multiple of 16 */
    uint8_t shape_one;      /* extent == 1 */
    uint8_t static_shape;   /* extent is the compile-time constant dims[d] */
    uint8_t static_stride;  /* stride is the compile-time constant strides[d] */
    uint8_t loose;          /* SCALAR: a Python number whose type was not annotated. ARRAY: strides may be negative */
    uint8_t overlap;        /* ARRAY: shares bytes with another array of the launch that is not the same array */
    uint8_t align;          /* STRUCT: the addresses of all elements are multiples of 2^align bytes, at most 2^4 */
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

/* The most kernel parameters, and tensor maps, that a plan describes. */
#define TS_PLAN_PARAMS 248
#define TS_PLAN_TMAPS 12

/* Lists of a plan; bytes of the tables of all of them that come among the parameters. Addresses below TS_PLAN_NEAR are
 * places in that room. */
enum { TS_PLAN_LISTS = 8, TS_PLAN_TABLE = 1024, TS_PLAN_NEAR = 4096 };

/* One number of a tensor map: kernel parameter `param`, or where that is -1 the constant `value`. */
typedef struct ts_plan_num {
    int64_t value;
    int32_t param;
} ts_plan_num;

/* A TMA tensor map that the launch encodes from the parameters: what cuTensorMapEncodeTiled is given. Dimension 0 is
 * the contiguous one. It is encoded anew at every launch (0.05 us each), so no map outlives the array that it
 * describes. */
typedef struct ts_plan_tmap {
    int32_t base;             /* parameter index of the base pointer */
    uint8_t dtype;            /* CUtensorMapDataType value */
    uint8_t rank, swizzle;    /* swizzle: 0 none, 1 32B, 2 64B, 3 128B */
    uint8_t nan_fill;         /* out of bounds reads give NaN instead of 0 */
    uint8_t clip;             /* dimension whose box is cut to the array's extent, at least 1; 0 = none */
    uint8_t slice;            /* dimension along which the kernel reads slices (below), rank at most 3; 0 = none */
    uint32_t elem_bytes;
    uint32_t box[5], step[5]; /* elements per copy; traversal step, 1 = dense */
    ts_plan_num dim[5];       /* extents in elements */
    ts_plan_num stride[5];    /* in elements; [0] is 1 */
} ts_plan_tmap;
/* A copy is clipped where a dimension ends, so a slice of n rows from row `first` must end where one does, whatever n
 * is. Its dimension has TS_SLICE_ROWS rows, of which the slice is the last n: its row i is row TS_SLICE_ROWS - n + i.
 * Two more dimensions lead back to where it lies, modulo 2^64:
 *     dimension  stride in bytes     coordinate       adds
 *     slice      row                 2^30 - n + i     (2^30 - n + i) row
 *     rank       row                 first + n        (first + n) row
 *     rank + 1   2^34 - row          2^30             -2^30 row */
#define TS_SLICE_ROWS ((int64_t)1 << 30)
#define TS_SLICE_EXTENT 0x7fff0000 /* of the two more dimensions */
#define TS_SLICE_BYTES ((int64_t)1 << 34)

/* Limits of every GPU (CUDA programming guide, technical specifications): threads of a block in all (and along x or y),
 * and along z; blocks of a cluster. */
enum { TS_BLOCK_THREADS = 1024, TS_BLOCK_THREADS_Z = 64, TS_CLUSTER_BLOCKS = 16 };

/* What is compiled for. A GPU's number is that of the oldest generation that runs the code, as its compute capability
 * without the dot; numbers ascend (load.c of the CUDA device asserts it). */
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

/* How compiled code is launched: what the code expects, decided by the compiler. The launch reads it and nothing else.
 *
 *     GPU   parameters in this order: n_tmaps tensor maps of 128 bytes, the n_params parameters, the grid if
 *           persistent, the zeros if cooperative, the fault record if error_param, table_bytes of tables
 *     CPU   parameters in slots of 8 bytes */
typedef struct ts_plan {
    uint32_t target;
    uint32_t n_params;
    uint8_t param_bytes[TS_PLAN_PARAMS]; /* 1, 2, 4 or 8; GPU parameters follow the tensor maps */
    uint8_t writes[(TS_PLAN_PARAMS + 7) / 8]; /* bit p: memory reached through parameter p may be written */
    uint8_t reads[(TS_PLAN_PARAMS + 7) / 8];  /* bit p: it may be read */
    char name[128];          /* symbol of the entry */
    /* GPU. Threads of a block, in x; bytes of shared memory that the code needs. */
    uint32_t threads;
    uint32_t shared_bytes;
    /* Thread blocks that work on one tile block: the launch has grid.x * cluster of them; 0 or 1 = none. */
    uint32_t cluster;
    uint32_t n_tmaps;
    ts_plan_tmap tmap[TS_PLAN_TMAPS];
    /* Parameters that are tables of lists. Where table_bytes is not 0, so many bytes behind all parameters have room
     * for tables, and a table's parameter is its address, or, below TS_PLAN_NEAR, its place in that room. */
    uint8_t n_lists, list[TS_PLAN_LISTS];
    uint16_t table_bytes;
    /* After the tensor maps and the n_params parameters the launch adds: if persistent, the grid as three i32 (it then
     * starts min(tile blocks, SMs * resident) blocks in x); if error_param, a pointer to a ts_fault record. */
    uint8_t persistent;
    uint8_t error_param;
    uint8_t uses_print;
    /* A kernel of threads: the launch says how many (of at most `threads` when that is not 0), how many bytes of
     * dynamic shared memory follow the shared_bytes of the kernel's own, and the cluster. */
    uint8_t thread_kernel;
    uint8_t carveout, opt_level; /* as in ts_hints */
    uint8_t dynamic_shared; /* a kernel of threads that uses dynamic shared memory: the launch must give some */
    uint8_t together;       /* of a kernel of threads: its blocks must have a multiple of so many; 0: any number */
    uint8_t function, result; /* a function for other code: a ts_function; ts_dtype of what it gives, 0: nothing */
    /* Blocks wait for each other: all of a launch run at once. On a GPU the launch adds a pointer to 8 bytes that
     * are zero. */
    uint8_t cooperative;
    /* CPU */
    uint64_t scratch_bytes;  /* per worker */
} ts_plan;

/* The most blocks of a cooperative launch on the CPU device: each is a thread of the system. */
enum { TS_CPU_COOPERATIVE_BLOCKS = 1024 };

/* What a kernel in checked mode, or an assert, leaves for the host: the first fault of a launch. ts_stream_sync and the
 * other waits (device.h) turn it into an error that names kernel, line and block. */
/* What went wrong: an index outside its array, a failed assert, a division by zero, an exception of a thread; where
 * threads are watched a race, a barrier that not all threads reach, shared memory that nobody has written. */
typedef enum ts_fault_code {
    TS_FAULT_NONE,
    TS_FAULT_BOUNDS,
    TS_FAULT_ASSERT,
    TS_FAULT_DIV_ZERO,
    TS_FAULT_RAISE,
    TS_FAULT_RACE,
    TS_FAULT_BARRIER,
    TS_FAULT_UNWRITTEN
} ts_fault_code;
typedef struct ts_fault {
    uint32_t code;           /* ts_fault_code */
    uint32_t line;           /* of the source, 0 unknown */
    uint32_t block[3];
    uint32_t string;         /* index in the plan's messages (operation and axis, assert text), 0 none */
    int64_t index, extent;   /* out of bounds: the index and the size it broke; raised: index is the object's number */
    uint32_t file, function; /* indices in the plan's messages, 0: those of the kernel */
    uint32_t has_thread, thread[3];
} ts_fault;

/* Code for one target. Owns: bytes and messages, of `alloc`; ts_code_deinit frees them and leaves zeros. It may be
 * moved by assignment, and not copied. */
typedef struct ts_code {
    ts_plan plan;
    const ts_alloc *alloc;
    uint8_t *bytes;          /* CPU: relocatable object; GPU: PTX text with a final NUL */
    size_t n_bytes;
    char *messages;          /* NUL-separated assert texts and source file names */
    size_t n_messages;
} ts_code;
TS_API void ts_code_deinit(ts_code *code);

/* Hints given with @kernel, 0 = not given: name, what it asks for. */
#define TS_HINTS(X) \
    X(num_ctas)         /* thread blocks of a GPU that work on one tile block: 1, 2, 4, 8 or 16 */ \
    X(occupancy)        /* tile blocks to keep on one multiprocessor, 1 to 32; fewer where they do not fit */ \
    X(opt_level)        /* 0 to 3; 1: code that is quickly made */                                  \
    X(num_worker_warps) /* 4, 8, 16 or 32 */                                                        \
    X(checked)          /* 1: indices out of bounds are reported; of kernels of threads TS_CHECK_ bits */ \
    X(fastmath)         /* 1: approximate instructions are allowed */                               \
    X(num_stages)       /* depth of load pipelines, 1 to 8 */                                       \
    X(plan)             /* of a GPU's code: 0 the fastest, 1 and 2 more modest ones (TS_PLANS) */  \
    X(max_registers)    /* of a thread, at most; for kernels of threads */                          \
    X(carveout)         /* percent of the L1 cache that shared memory should get, plus 2; 1: the driver's choice */ \
    X(lines)            /* of the source in a GPU's code: 1 for profilers, 2 for debuggers too */    \
    X(tables)           /* 1: tables of lists may come among a GPU's parameters (ts_plan.table_bytes) */     \
    X(function)         /* no kernel of threads, a function for a GPU's other code; a ts_function */ \
    X(tiers)            /* 1: the first launch may take code that is quickly made, later ones fast code (run/tier.c) */
typedef struct ts_hints {
#define X(name) uint8_t name;
    TS_HINTS(X)
#undef X
} ts_hints;
/* Bits of `checked` of a kernel of threads, what is reported: what the program raises; indices out of bounds; what
 * Python raises by itself (divisions by zero, names without a value, shapes that do not fit). WATCHED: the interpreter
 * runs launches on the CPU device, and reports what threads do to each other (docs/adr/0026-watched-threads.md). */
enum { TS_CHECK_RAISES = 1, TS_CHECK_BOUNDS = 2, TS_CHECK_IMPLIED = 4, TS_CHECK_ALL = 7, TS_CHECK_WATCHED = 8 };
/* How other code calls a function: as C does; or as numba does, which says where the result goes and gets a status. */
typedef enum ts_function { TS_FUNCTION_NONE, TS_FUNCTION_C, TS_FUNCTION_NUMBA } ts_function;
enum { TS_OPT_LEVEL = 3 }; /* opt_level of a kernel that does not say */
/* Plans of a kernel of tiles, from fast to modest: 1 overlaps less and asks for no number of blocks, 2 does without
 * wgmma. A launch takes the next one where the driver cannot assemble the code, or has to run its products one after
 * the other. */
enum { TS_PLANS = 3 };

/* Compiles the packed function for the arguments and target: the only path from Python to code. `hints` and `alloc` may
 * be NULL. Takes milliseconds: a small kernel 1 to 10, a large one 100. Errors: see the head of this file. */
TS_API TS_CHECKED ts_status ts_compile(const void *pack, size_t n_pack, const ts_spec *spec, size_t n_spec,
                                       const ts_hints *hints, ts_target target, const ts_alloc *alloc,
                                       ts_code *out, ts_error *err);

/* How long compilations that begin from now on may take, in all threads of the process; 0: as long as they want. The
 * clock is read between passes: the driver's assembly for a GPU is not ended, nor LLVM's work. Beyond it TS_TIMEOUT.
 * Returns the limit before, 0 for none. */
TS_API double ts_compile_limit(double seconds);

/* ---- sources ------------------------------------------------------------------------------------- */

/* What a kernel is made of. Python and IR are compiled by ts_compile_source; a custom source brings its compiler, whose
 * code is then cached, loaded and launched like any other. */
typedef enum ts_source_kind {
    TS_SOURCE_PYTHON, /* bytes: a packed Python function, as ts_compile takes it */
    TS_SOURCE_TEXT,   /* bytes: IR text (docs/guide/ir.md); `entry` is the kernel */
    TS_SOURCE_MODULE, /* module: IR that was built (ir.h); `entry` is the kernel */
    TS_SOURCE_CUSTOM  /* compile: makes the code from bytes and user */
} ts_source_kind;

typedef struct ts_module ts_module; /* ir.h */
typedef struct ts_source ts_source;

/* A compiler of the caller's. Makes code from a source of the caller's own, for the arguments and the target, in
 * memory of `alloc`. It may be called from several threads at once, for one kernel by one at a time; it must not wait
 * for a thread that launches this kernel. Errors: any; *out is then not looked at. */
typedef ts_status ts_compile_fn(const ts_source *source, const ts_spec *spec, size_t n_spec, const ts_hints *hints,
                                ts_target target, const ts_alloc *alloc, ts_code *out, ts_error *err);

/* A source; which members count depends on `kind`:
 *
 *     {.kind = TS_SOURCE_TEXT, .bytes = ir, .n = strlen(ir)}        {.kind = TS_SOURCE_MODULE, .module = module}
 *     {.kind = TS_SOURCE_CUSTOM, .bytes = key, .n = n_key, .compile = compile, .user = self, .compiler = "mine 1.2"}
 *
 * All zero but `bytes` and `n`: a packed Python function. Borrowed during a call; a kernel keeps a copy of everything
 * but `user`. */
struct ts_source {
    ts_source_kind kind;
    const void *bytes;       /* PYTHON, TEXT, CUSTOM; CUSTOM: everything of the source that the code depends on */
    size_t n;
    const ts_module *module; /* MODULE: not changed */
    ts_compile_fn *compile;  /* CUSTOM */
    void *user;              /* CUSTOM: for `compile`; the code must not depend on it */
    const char *compiler;    /* CUSTOM: name and version of the compiler, part of the cache's key; NULL: no cache */
    ts_host host;            /* PYTHON: who evaluates its expressions of the host language; zeros: nobody */
    const char *entry;       /* TEXT, MODULE: the kernel by its name, without "@"; NULL: the first entry */
    const void *id;          /* PYTHON: what stands for the pack where kept code is looked for; equal for equal packs
                              * alone. NULL: the pack itself. With one, `bytes` may be NULL and host.source give them */
    size_t n_id;
};

/* Compiles a source of any kind. The parameters of an IR kernel must be those that a launch with these arguments passes
 * (see above: "Kernel parameters"): pointer, extents and strides of each array, each number.
 * Errors: as ts_compile; TS_PARSE and TS_VERIFY for wrong IR; TS_TYPE for parameters that do not fit the arguments;
 * TS_NOTFOUND and TS_VALUE as ts_compile_text for an `entry`. */
TS_API TS_CHECKED ts_status ts_compile_source(const ts_source *source, const ts_spec *spec, size_t n_spec,
                                              const ts_hints *hints, ts_target target, const ts_alloc *alloc,
                                              ts_code *out, ts_error *err);

/* The same from IR text without arguments to check against, for tests and tools. A module may hold several kernels and
 * functions; `entry` names the kernel to compile, without "@" and NUL-terminated, and NULL means the first kernel.
 * Other kernels of the module are left out of the code; functions that the kernel calls are inlined.
 * Errors: as ts_compile_source; TS_NOTFOUND for an entry that the module does not have, TS_VALUE for a function. */
TS_API TS_CHECKED ts_status ts_compile_text(const char *text, size_t n, const char *entry, ts_target target,
                                            const ts_alloc *alloc, ts_code *out, ts_error *err);

/* The LLVM that the CPU target would use: its version, and the name that dlopen took. */
typedef struct ts_llvm_info {
    uint32_t major, minor;
    char path[256];
} ts_llvm_info;

/* For diagnostics. Loads LLVM at the first call (10-30 ms) and says what it is; nothing
 * else of the library needs it until a kernel is
 * compiled for the CPU. The environment variable TESSERA_LLVM
 * names a library file to use instead of the search. Threads: safe. Errors: TS_NODEVICE, TS_NOMEM. */
TS_API TS_CHECKED ts_status ts_llvm_find(ts_llvm_info *info, ts_error *err);

/* The tile IR of a packed function as text (for tools and tests), before any pass; ts_compile_text takes it. The source
 * is of kind TS_SOURCE_PYTHON. `flags`: TS_LOWER_PLACES. Owns:
 * *out, *n bytes and a final NUL, freed by alloc->resize(user, *out, *n + 1, 0). Errors: as ts_compile. */
enum { TS_LOWER_PLACES = 1 }; /* with the place in the source behind each instruction: loc("file":line:..) */
TS_API TS_CHECKED ts_status ts_lower_source(const ts_source *source, const ts_spec *spec, size_t n_spec,
                                            const ts_hints *hints, uint32_t flags, const ts_alloc *alloc, char **out,
                                            size_t *n, ts_error *err);
/* The same without a host and flags. */
TS_API TS_CHECKED ts_status ts_lower_text(const void *pack, size_t n_pack, const ts_spec *spec, size_t n_spec,
                                          const ts_hints *hints, const ts_alloc *alloc, char **out, size_t *n,
                                          ts_error *err);

/* Memory that an interpreted kernel may touch. */
typedef struct ts_interpret_range {
    const void *at;
    size_t bytes;
} ts_interpret_range;

/* How the reference interpreter runs a kernel. Parameters are 8-byte slots in ABI order (above), addresses are of host
 * memory. All of it is borrowed during the call. */
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
/* Runs a packed function by the reference interpreter, block after block: what it means, slowly, on host memory. With a
 * GPU target, what becomes of it there: compiled, and its threads run one by one, with races on shared memory and
 * missing waits reported. Returns when all blocks are done. Errors: as ts_lower_text, and those of the run: TS_LAUNCH
 * for a failed assert, broken promise, race or too many steps, TS_INDEX for an address outside the ranges. */
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
