/* SPDX-License-Identifier: Apache-2.0
 *
 * The launch path: from the source of a kernel and a list of arguments to running code. A ts_kernel keeps one
 * compiled specialisation for each key its arguments have had; a launch whose key is known costs no
 * lock, no allocation and no formatting. See docs/design.md section 5; array.h makes arguments of arrays.
 *
 *     ts_kernel *kernel;
 *     ts_kernel_desc desc = {.name = "scale", .source = {.kind = TS_SOURCE_TEXT, .bytes = ir, .n = strlen(ir)}};
 *     ts_kernel_create(&desc, &kernel, &err);
 *     ts_arg args[2];
 *     ts_arg_of_array(x, &args[0]);
 *     args[1] = (ts_arg){.kind = TS_SPEC_FLOAT, .value.f = 2.0};
 *     ts_launch(NULL, (int64_t[]){n / 1024, 1, 1}, kernel, args, 2, 0, &err);
 *
 * Threads: a kernel may be launched from several threads at once. Streams: a launch is enqueued and returns before the
 * device is done, except on the CPU's default stream.
 *
 * An argument list is flat. A tuple is a TS_SPEC_TUPLE whose value is the number of its items, then the
 * items (which may be tuples again); a list of arrays is a TS_SPEC_LIST whose value is its length, then
 * the arrays; a dataclass or named tuple of the host is a TS_SPEC_RECORD, then the tuple of its fields; a complex
 * number a TS_SPEC_COMPLEX, then the tuple of its parts, two floats; an array of what is no number is a TS_SPEC_STRUCT,
 * then an array of uint8 whose strides count bytes.
 */
#ifndef TESSERA_LAUNCH_H
#define TESSERA_LAUNCH_H

#include "tessera/device.h"
#include "tessera/report.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ts_buffer ts_buffer; /* array.h */
typedef struct ts_kernel ts_kernel;

/* The greatest extent of a grid along each axis; the most arguments of a launch, items of tuples and lists counted. */
#define TS_GRID_MAX ((int64_t)(1 << 24) - 1)
/* Of a launch of threads, along x and along y and z: what every GPU takes. */
#define TS_GRID_THREADS_X ((int64_t)INT32_MAX)
#define TS_GRID_THREADS_YZ ((int64_t)65535)
#define TS_LAUNCH_ARGS 128

/* One argument as the caller has it. How it is passed follows from `kind` and the kernel's ts_param:
 *     ARRAY    data, dtype, rank, shape, strides, device, readonly
 *     INT      value.i         a Python int: int32 at run time, another dtype or constant if the ts_param says so;
 *                              with dtype uint64, value.bits is one of 2^63 to 2^64 - 1;
 *                              with dtype float64, value.f is one that 64 bits do not hold: taken where floats are
 *     FLOAT    value.f         a Python float: float32 at run time, or a constant
 *     BOOL     value.i         0 or 1
 *     SCALAR   value.bits      a number with a dtype of its own (numpy.float16(3)): kept
 *     NONE
 *     TUPLE, LIST  value.i     number of items that follow
 *     RECORD   value.i         number of its class in the host's pack; the TUPLE of its fields follows
 *     COMPLEX                  the TUPLE of its two parts follows: FLOATs, or SCALARs of one dtype
 *     OBJECT   value.i         number of a constant in the host's pack; a dtype says which in `dtype`, and is taken
 *                              where other objects need ct.Constant
 *     STRUCT   value.i, item_bytes  number of what its elements are in the host's pack, and their size; the ARRAY of
 *                              uint8 follows: element i of an axis begins i * stride bytes after the first */
typedef struct ts_arg {
    uint8_t kind;             /* ts_spec_kind */
    uint8_t dtype;            /* ARRAY, SCALAR and OBJECT: ts_dtype */
    uint8_t rank;
    uint8_t readonly;         /* ARRAY: 1 = refused where the kernel writes to it */
    uint16_t device;          /* ARRAY: TS_DEVICE_ID; host memory is TS_DEVICE_ID(TS_DEVICE_CPU, 0) */
    uint16_t reserved2;
    union {
        void *data;           /* ARRAY: address of element 0 */
        int64_t i;
        double f;
        uint64_t bits;
    } value;
    union {
        const int64_t *shape; /* ARRAY: borrowed during the call; rank extents */
        const char *fields;   /* RECORD, COMPLEX: names of its fields, as "x,y,z", for messages; borrowed; NULL: none */
        int64_t item_bytes;   /* STRUCT */
    };
    const int64_t *strides;   /* in elements; NULL = row-major without gaps */
    const ts_buffer *buffer;  /* ARRAY: checked for being alive when not NULL; borrowed */
} ts_arg;

/* How an array of another library describes itself; nothing of it is believed. */
typedef struct ts_layout {
    const void *data;         /* address of element [0, ...] */
    int32_t rank;
    uint32_t item_bytes;
    int64_t stride_bytes;     /* what strides count: 1, or item_bytes for elements */
    const int64_t *shape, *strides; /* strides NULL = row-major without gaps */
} ts_layout;
/* Whether every element lies at an address that shape and strides can reach without overflow. All arrays of others pass
 * this: launches and what imports or copies check it themselves. Errors: TS_VALUE (dimensions, missing shape or
 * address, reach), TS_SHAPE (negative extent, more than 2^62 bytes). */
TS_API TS_CHECKED ts_status ts_layout_check(const ts_layout *layout, int32_t most_axes, ts_error *err);

/* What the annotation of one parameter says. All zero: decided by the argument. */
typedef enum ts_param_flags {
    TS_PARAM_CONSTANT = 1,  /* ct.Constant: numbers and tuples of them become constants */
    TS_PARAM_DENSE = 2,     /* an array that is not row-major without gaps is refused: an IR kernel may then write its
                             * last stride as 1 instead of reading the parameter */
    TS_PARAM_INDEX64 = 4,   /* array extents and strides are int64 */
    TS_PARAM_STATIC_STRIDES = 8, /* some stride is static: a stride of 1 elsewhere is not noticed */
    /* bool, int, float: the greatest category of number that is taken. A number of a lower one, and a Python number,
     * is passed as the default of the category (bool_, int32, float32); typed numbers of it keep their dtype. */
    TS_PARAM_BOOL = 16,
    TS_PARAM_INT = 32,
    TS_PARAM_FLOAT = 64,
    TS_PARAM_NUMBER = TS_PARAM_BOOL | TS_PARAM_INT | TS_PARAM_FLOAT,
    TS_PARAM_BITS = 128,    /* with an integer dtype: an int of as many bits is taken as these, 0xFFFFFFFF as -1 */
    TS_PARAM_REVERSED = 256 /* an array may have negative strides: kernels of threads take them */
} ts_param_flags;

/* What an annotation says of the items of a tuple or list. */
typedef enum ts_param_form {
    TS_PARAM_ANY,      /* nothing: what holds for the parameter holds for each item */
    TS_PARAM_TUPLE,    /* the argument is a tuple of n_items items, which follow items[0], items[1], ... */
    TS_PARAM_TUPLE_OF, /* the argument is a tuple of any length; each item follows items[0] */
    TS_PARAM_LIST_OF,  /* the argument is a list; each array follows items[0] */
    TS_PARAM_RECORD    /* the argument is a RECORD of n_items fields, which follow items[0], items[1], ... */
} ts_param_form;

/* One top-level parameter, or an item of one. All zero: no name, and decided by the argument. */
typedef struct ts_param {
    const char *name;           /* for messages; copied; NULL = "argument N"; of an item: not used */
    uint16_t flags;             /* ts_param_flags */
    uint8_t static_shape;       /* bit d: extent d is part of the specialisation */
    uint8_t static_stride;      /* the same for strides */
    uint8_t dtype;              /* ts_dtype (bool_ to float64) that a number is passed as; 0 = its own */
    uint8_t static_shape_end;   /* as static_shape, counted from the last axis: bit 0 is axis -1 */
    uint8_t static_stride_end;
    uint8_t form;               /* ts_param_form */
    uint8_t n_items;            /* 1 for TUPLE_OF and LIST_OF */
    const struct ts_param *items; /* copied; at most TS_PARAM_DEPTH deep */
} ts_param;
#define TS_PARAM_DEPTH 64

/* Hints for one architecture, in place of the kernel's others. */
typedef struct ts_target_hints {
    ts_target target;
    ts_hints hints;
} ts_target_hints;
#define TS_LAUNCH_TARGETS 8

/* What a kernel is made of. Zero members are defaults; only `source` is needed. */
typedef struct ts_kernel_desc {
    const char *name;        /* copied; for messages */
    const char *file;        /* source file of the kernel, for messages; copied; may be NULL */
    ts_source source;        /* copied; a module as its text */
    const ts_param *params;  /* one per top-level argument; NULL = no annotations, any number */
    size_t n_params;
    ts_hints hints;
    const ts_target_hints *by_target; /* copied; at most TS_LAUNCH_TARGETS */
    size_t n_by_target;
    const ts_alloc *alloc;   /* NULL = default */
} ts_kernel_desc;

/* Owns: *out, a counted reference. Compiles nothing yet. Errors: TS_NOMEM, TS_VALUE. */
TS_API TS_CHECKED ts_status ts_kernel_create(const ts_kernel_desc *desc, ts_kernel **out, ts_error *err);
/* The kernel of these contents: made at the first call of the process, found by the others, for clients that build IR
 * at every call. Everything that the desc says is compared, and a module byte for byte as it was built; `alloc` and
 * `user` are not. The library keeps the first 4096 for good. Owns: *out, a counted reference. Errors: as above. */
TS_API TS_CHECKED ts_status ts_kernel_find(const ts_kernel_desc *desc, ts_kernel **out, ts_error *err);
/* One more reference, one less; the kernel ends with the last. NULL is fine for release. Threads: safe. */
TS_API void ts_kernel_retain(ts_kernel *kernel);
TS_API void ts_kernel_release(ts_kernel *kernel);

/* For messages; borrowed. The name of a top-level parameter is NULL where none was given. */
TS_API const char *ts_kernel_name(const ts_kernel *kernel);
TS_API const char *ts_kernel_param_name(const ts_kernel *kernel, size_t param);
/* Whether a top-level parameter is annotated Constant, or the item of it that a path of `depth` steps leads to. */
TS_API bool ts_kernel_takes_constant(const ts_kernel *kernel, size_t param, const size_t *path, size_t depth);
/* What messages call the argument at position `at` of a flat list: "argument 'pair[1].x'", "argument 2". */
#define TS_ARG_LABEL 256
TS_API void ts_arg_label(const ts_kernel *kernel, const ts_arg *args, size_t at, char out[TS_ARG_LABEL]);
/* The host of its source, borrowed. */
TS_API const ts_host *ts_kernel_host(const ts_kernel *kernel);

/* Runs a kernel of tiles over `grid` blocks; arguments are borrowed and may be freed or changed when their
 * stream order allows. Nothing is enqueued unless everything is right.
 * Stream   NULL, or device NULL: the device of the arguments (the CPU when there is no array);
 *          NULL uses its default stream.
 * Grid     each axis 0 to 2^24-1; a zero axis launches nothing (arguments are still checked).
 * Errors   TS_VALUE: grid, negative strides, arrays of different devices, a constant that is not, an array that is
 *          read-only or overlaps itself (a stride of 0) and that the kernel writes to; as ts_layout_check;
 *          TS_TYPE: wrong kind or number of arguments, or of items of an annotated tuple;
 *          TS_OVERFLOW: an int that does not fit;
 *          TS_BUFFER: freed or lost memory; compile errors; TS_LAUNCH, TS_DEVICE.
 * Threads  safe, also on one kernel. */
TS_API TS_CHECKED ts_status ts_launch(const ts_stream *stream, const int64_t grid[3], ts_kernel *kernel,
                                      const ts_arg *args, size_t n, uint32_t flags, ts_error *err);

/* How a kernel is launched, whole. Zero members are as the code was compiled.
 * Tiles    The compiler chooses the threads of a tile kernel, its shared memory and its cluster (along x); other
 *          numbers are refused. `grid` counts tile blocks. ts_launch says all there is to say.
 * Threads  A kernel of threads (TS_LEVEL_S of ir.h) needs `block`; ts_launch cannot launch it. `grid` counts blocks,
 *          those of clusters, too.
 * Errors   as ts_launch; TS_VALUE for a block, shared memory or cluster that the code was not compiled for, or that
 *          the GPU does not have: more than 1024 threads in a block (64 along z), more than the kernel promised
 *          (ts_fn_set_warps) or its registers allow, more shared memory than a block has, a cluster of more than 16
 *          blocks or one that does not divide the grid. */
typedef struct ts_launch_config {
    int64_t grid[3];       /* blocks, each axis 0 to 2^24-1; of threads on a GPU as many as it takes, 2^31-1 along x */
    uint32_t block[3];     /* threads of a block along x, y, z */
    uint32_t shared_bytes; /* dynamic shared memory of a block, beside what the kernel has of its own */
    uint32_t cluster[3];   /* blocks of a cluster along x, y, z; from sm_90 on */
    uint32_t flags;        /* ts_launch_flags */
} ts_launch_config;
TS_API TS_CHECKED ts_status ts_launch_config_run(const ts_stream *stream, const ts_launch_config *config,
                                                 ts_kernel *kernel, const ts_arg *args, size_t n, ts_error *err);

/* Compiles and loads as a launch would, without running, so that a later launch finds the code. Waits for the compiler
 * and the driver, not for the device. `*plan` is borrowed from the kernel. Errors: as ts_launch, but for the grid. */
TS_API TS_CHECKED ts_status ts_kernel_prepare(const ts_stream *stream, ts_kernel *kernel, const ts_arg *args,
                                              size_t n, const ts_plan **plan, ts_error *err);

/* The specialisation of these arguments as ts_compile takes it, for tools: *n_spec entries of `spec`, which has room
 * for TS_LAUNCH_ARGS. Compiles nothing. Errors: as ts_launch, but for the grid. */
TS_API TS_CHECKED ts_status ts_kernel_spec(const ts_kernel *kernel, const ts_arg *args, size_t n, ts_spec *spec,
                                           size_t *n_spec, ts_error *err);

/* The cost report of a launch that is not run. `target` 0: of the device, which then assembles the code too, so
 * that registers are known; another target needs no device. Owns: *out, ended by ts_report_destroy. Errors: as
 * ts_kernel_prepare; TS_UNSUPPORTED for a custom source and for a kernel of threads. */
TS_API TS_CHECKED ts_status ts_kernel_report(const ts_stream *stream, ts_kernel *kernel, const ts_arg *args, size_t n,
                                             const int64_t grid[3], ts_target target, ts_report **out, ts_error *err);

/* Counts since the kernel was made, over all devices; read without a lock, so they may be a launch apart. */
typedef struct ts_kernel_stats {
    uint64_t n_specialised;             /* specialisations loaded */
    uint64_t n_compiled, n_from_memory, n_from_disk; /* where their code came from */
    uint64_t compile_ns, load_ns;       /* total; load is the driver's assembly on a GPU */
    uint64_t n_serialised;              /* loads where ts_program_is_serialised */
} ts_kernel_stats;
TS_API void ts_kernel_get_stats(const ts_kernel *kernel, ts_kernel_stats *out);

/* Kernels with the hint `tiers`, as those of Python's algorithms, are launched first as code that is quickly made, with
 * the same bits, while fast code is made in the background, for later launches and for the cache. This waits until all
 * of that is done: before times are measured, or a launch is recorded to be repeated. The environment variable
 * TESSERA_TIERS=0 has fast code made for the first launch. */
TS_API void ts_code_wait(void);
/* For the end of a program: waits, and has nothing made in the background from now on. A program in C that gives the
 * hint calls this before it ends: later, libraries may have ended what makes code. */
TS_API void ts_code_end(void);
/* What went wrong first while code was made in the background, reported once, or NULL: the kernel goes on with the code
 * that was quickly made. Borrowed for good. */
TS_API const char *ts_code_problem(void);

/* Why no compiled code is kept on disk although there is a directory for it: it is another user's, or others may
 * write to it, and what is read from it would be run. NULL: it is kept, or none is wanted. Borrowed for good. */
TS_API const char *ts_cache_problem(void);

/* Bytes of a client's own, kept beside compiled code under a key of its own: what costs more to make than to read, such
 * as the syntax tree of a function. They count and age as code does. Trouble with files is never an error. `name` is
 * what tools list. */
TS_API void ts_cache_keep(const char *name, const void *key, size_t n_key, const void *bytes, size_t n);
/* Gives what was kept under the key, in this process or one before. Owns: *out, by ts_code_deinit; its `bytes` are NULL
 * where there is nothing. */
TS_API void ts_cache_kept(const void *key, size_t n_key, ts_code *out);
/* For keys of what is made of files: adds to a digest, which begins with zeros, the names, sizes and times of the files
 * of a folder whose names end with one of n endings. False: the folder cannot be read. */
TS_API bool ts_cache_files(const char *folder, const char *const *endings, size_t n, uint64_t digest[2]);

/* What a file of the cache of compiled code holds, for tools that list it. */
typedef struct ts_cached {
    char name[128];    /* symbol of the entry */
    uint32_t target;   /* ts_target */
    uint64_t n_code;   /* bytes of the code */
} ts_cached;
/* Errors: TS_VALUE: the bytes are not a whole entry that this build of the library has written. */
TS_API TS_CHECKED ts_status ts_cache_read_entry(const void *bytes, size_t n, ts_cached *out, ts_error *err);

#ifdef __cplusplus
}
#endif
#endif
