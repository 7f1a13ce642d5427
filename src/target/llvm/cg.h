/* SPDX-License-Identifier: Apache-2.0
 *
 * The code generator of the CPU target: what its files share. Private to src/target/llvm.
 *
 *     emit.c   the entry: function around the loop over tile blocks, then LLVM
 *     plan.c   decides before any text is written which tiles live in memory
 *     walk.c   instructions in program order: scalars, structured control flow, roots
 *     group.c  roots of one iteration space become one loop nest (reductions, scans, stores)
 *     order.c  keeps loads and stores of arrays in program order
 *     expr.c   the value of a tile at given coordinates, made where it is used
 *     affine.c integers and pointers that rise evenly along the lanes      lookup.c  tables of bytes
 *     elem.c   elementwise operations on vectors       narrow.c  16-, 8- and 4-bit floats
 *     view.c   array views: bounds, staging            mma.c     matrix products
 *     edge.c   staging of short rows
 *     swap.c   transposition in blocks of registers
 *     atomic.c atomics                                    tally.c  counts, added up by each worker for itself
 *     text.c   SSA names, literals, memo, index arithmetic
 *
 * Design. A tile is not stored unless it must be: it is an expression that is computed again at every
 * use, a vector at a time. Roots ask for values: stores, reductions, products, loop-carried tiles, and
 * what plan.c found too dear to compute twice. Adjacent roots with equal iteration spaces share one loop
 * nest (softmax's exp and its row sum), and a value used by several of them is made once per vector.
 *
 * Coordinates. A vector of 2^bits lanes covers elements whose coordinate along each axis is base + the
 * sum of lane[b] over the set bits b of the lane number. Tile extents are powers of two, so broadcast,
 * permute, reshape, extract and cat are maps of such coordinates.
 *
 * Held tiles. In code of threads in lock step (pass/lockstep.c) the tiles of one warp are no expressions: each
 * operation is done where it stands, on one vector of all elements, and loads, stores, phis are of such vectors. LLVM
 * then sees plain code in SSA form, as of scalars.
 *
 * Arrays that are wholly inside at a tile are read and written in place; where a tile sticks out of its
 * array, or the innermost stride is not 1, it goes through a dense copy in scratch (ts__rt_view_in, _out),
 * so every loop is written once and without masks.
 */
#ifndef TS_TARGET_LLVM_CG_H
#define TS_TARGET_LLVM_CG_H

#include "pass/alias.h"
#include "pass/facts.h"
#include "target/llvm/llvm.h"
#include "runtime/entry.h"

/* An SSA name, or a literal when the top bit is set. 0 = none. */
typedef uint32_t cg_ref;
#define CG_LITERAL 0x80000000u
enum { CG_LANE_BITS = 6, CG_MAX_LOOPS = 9 };
enum { CG_ROOTS = 30 }; /* tiles that are surely written in one nest; a nest takes twice as many roots */
/* Slots whose accesses tell LLVM that they meet no other slot; each names all others, so their number is bounded. */
#define CG_SCOPES 64u

/* Register types of LLVM. */
typedef enum cg_reg { CG_I1, CG_I8, CG_I16, CG_I32, CG_I64, CG_F32, CG_F64, CG_PTR, CG_REGS } cg_reg;

typedef struct cg_literal {
    const char *text;
    int64_t value;
    bool is_int;
} cg_literal;

typedef struct cg_axis {
    cg_ref base;
    int64_t lane[CG_LANE_BITS];
} cg_axis;
typedef struct cg_index {
    uint32_t rank, bits;
    cg_axis axis[TS_MAX_RANK];
} cg_index;
typedef uint32_t cg_ix; /* an interned cg_index */

/* What of a tile lies in its array: i of an axis where start + i < extent, unsigned. */
typedef struct cg_bounds {
    cg_ref start[TS_MAX_RANK], extent[TS_MAX_RANK];
    cg_ref straight; /* i1: all of it */
    uint64_t pad;    /* stands for the rest */
} cg_bounds;

/* A tile in memory: element (i..) at ptr + sum of i * stride elements. */
typedef struct cg_mem {
    cg_ref ptr;
    ts_type elem;
    uint32_t rank;
    cg_ref stride[TS_MAX_RANK];
    uint32_t slot; /* 1 + scratch slot when it is only that; for alias facts */
    uint32_t turn; /* of the slot when it was taken: a later one means that it was given to another tile */
    const cg_bounds *bounds; /* of an array, read under masks; NULL: all is there */
} cg_mem;

typedef enum cg_form {
    CG_NONE,
    CG_SCALAR, /* ref: one element, also for tiles of one element */
    CG_LAZY,   /* made where it is used */
    CG_BUF,    /* mem */
    CG_VIEW,   /* view */
    CG_HELD    /* ref: all elements of a tile, as one vector of LLVM; see cg_held */
} cg_form;

typedef struct cg_view {
    ts_type type;      /* partition, strided, gather_scatter or tensor view */
    ts_type elem;
    uint32_t rank;     /* of the tensor */
    cg_ref base;
    cg_ref dim[TS_MAX_RANK], stride[TS_MAX_RANK];
} cg_view;

typedef struct cg_val {
    uint8_t form;
    bool making;      /* BUF: the open group will write it and may still compute it in place */
    uint32_t group;   /* serial of the group that will make it, while that is open */
    cg_ref ref;
    uint32_t slot;    /* SCALAR that alloca gives: its slot of scratch */
    cg_mem *mem;      /* BUF */
    cg_mem *source;   /* load_view: where the tile is read from */
    cg_view *view;
} cg_val;

/* What plan.c found. */
typedef struct cg_plan {
    uint8_t *store; /* value is materialised where it is defined */
    uint32_t *last; /* index of the last instruction that needs it */
    uint32_t *loop; /* innermost for or loop around the instruction */
    uint32_t *cost; /* vector instructions to make one vector, saturating */
    uint8_t *again; /* a load that several nests read */
} cg_plan;

typedef enum cg_root_kind { CG_STORE, CG_SCATTER, CG_REDUCE, CG_SCAN } cg_root_kind;
typedef struct cg_root {
    uint8_t kind;      /* cg_root_kind */
    ts_val inst, val;  /* val: what is stored */
    uint32_t rank;
    int64_t dims[TS_MAX_RANK];
    cg_mem mem;        /* STORE: where to; also the results of reductions, see n */
    uint32_t n;        /* REDUCE, SCAN: inputs */
    cg_mem *out;       /* n of them; ptr 0 = a scalar result */
    uint32_t axis;     /* REDUCE, SCAN: axis of `dims` */
    bool make;         /* STORE: val becomes a buffer by this root */
    bool writes;       /* to an array, not to scratch: `inst` is a store */
    bool ordered;      /* REDUCE: the function may not commute, elements are combined in ascending order */
    cg_ref stream;     /* STORE: i1, write around the caches; 0 never */
    struct cg_out *after; /* copy out to an array when the group is done */
} cg_root;

typedef struct cg_rows { /* a tile of an array row by row, see edge.c */
    ts_type elem;
    uint32_t rank;
    int inner; /* axis of the rows */
    int64_t dims[TS_MAX_RANK];
    cg_ref where[3 * TS_MAX_RANK]; /* start, extent, stride of each axis */
    cg_ref array;
    uint64_t pad;
} cg_rows;

typedef struct cg_out { /* a store through a dense copy */
    struct cg_out *next;
    cg_ref staged, array;
    cg_mem tile;
    cg_ref what, where[3 * TS_MAX_RANK], sparse;
    uint32_t rank;
    const cg_rows *rows; /* NULL: by the runtime */
} cg_out;

typedef struct cg_read { /* of memory, by an expression */
    ts_val load;   /* from an array; 0: from scratch */
    uint32_t slot; /* from scratch: which */
    bool same; /* element by element at the coordinates of the root that reads it */
} cg_read;
typedef TS_VEC(cg_read) cg_reads;

typedef struct cg_group {
    bool open;
    uint32_t serial, rank; /* iteration space without unit extents */
    int64_t dims[TS_MAX_RANK];
    uint32_t axis;         /* of the reductions; TS_MAX_RANK none */
    TS_VEC(cg_root) root;
    cg_reads read;         /* what the roots read */
    bool writes, scan;
} cg_group;

typedef struct cg_edge { /* a way into a join: block and the scalars it brings */
    uint32_t block;
    cg_ref *value;
} cg_edge;
typedef TS_VEC(cg_edge) cg_edges;

typedef struct cg_frame { /* an open for or loop */
    struct cg_frame *outer;
    ts_val opener;
    uint32_t n, skip;      /* carried values; operands before them */
    uint32_t next, exit;   /* blocks */
    cg_mem **home;         /* of carried tiles, NULL for scalars */
    cg_mem **out;          /* of the results; those of a `loop` are what break gives, not its carried values */
    cg_edges continues, breaks;
} cg_frame;

typedef struct cg_slot {
    uint64_t offset, bytes;
    bool used;
    uint32_t turn; /* counts the tiles it was given to */
    cg_ref ptr;
    ts_val owner; /* freed after plan.last[owner]; 0 = kept */
} cg_slot;

typedef struct cg_memo {
    uint64_t key[2];
    cg_ref value;
    uint32_t next; /* 1 + the older entry of the same bucket */
} cg_memo;
typedef struct cg_map { /* from two words to one; the newest of equal keys counts */
    TS_VEC(cg_memo) at;
    uint32_t *bucket, n_buckets;
} cg_map;

typedef struct cg_tally { /* additions to one array, see tally.c; root 0: there are none */
    ts_val root;
    ts_type elem;
    cg_ref table, slot, value, address, mask;
} cg_tally;

typedef struct cg {
    const ts_fn *fn;
    ts_module *m;
    ts_arena *arena;
    const ts_llvm_host *host;
    ts_code *code;
    ts_status status;
    ts_error *err;
    uint32_t lanes; /* log2 of the elements of tiles that are held in registers; 0 none */
    bool serial;    /* of ts_pass_env: plain loops for LLVM's own optimisers */
    ts_val rows;    /* the `for` over a block's warps that goes around a run of blocks, see emit.c; 0 none */
    ts_shape shape;
    cg_plan plan;
    cg_val *val;
    cg_ref *body;           /* values of a reduce or scan body while it is inlined */
    bool in_body;

    ts_text entry, text, decl, data;
    uint32_t n_ssa, n_label, n_data, n_nests, block;
    TS_VEC(cg_literal) literal;
    TS_VEC(cg_index) index;
    cg_map ints, indexes, constants; /* literals by value, coordinates by hash, vectors in the entry block */
    TS_VEC(cg_slot) slot;
    uint64_t scratch_bytes;
    cg_map memo; /* what was computed in the open scopes */
    TS_VEC(cg_axis) affine; /* found by cg_affine; the memo says where */
    bool wraps;             /* cg_affine_wrapped is asking */
    TS_VEC(uint32_t) scope;
    TS_VEC(const char *) declared;
    ts_text messages;

    cg_group group;
    cg_frame *frame;
    uint32_t at;            /* instruction being walked */
    uint32_t *mark, n_mark; /* visits of cg_reach: two for each value */
    ts_alias alias;
    ts_facts facts; /* of code of threads in lock step; else empty */
    TS_VEC(ts_val) live;    /* loads that are read from their array where they are used */
    cg_ref env, attention, scratch, where, pid[3], grid[3], params;
    struct cg_ahead { /* loads whose tile of the next block is fetched while this block computes */
        ts_val v;
        cg_ref delta; /* bytes from a tile to the next block's */
        uint32_t n_reads; /* nests so far that read it */
        bool fetched;
    } ahead[4];
    uint32_t n_ahead;
    cg_ref n_blocks;
    cg_tally tally;
    bool streams;   /* something is written around the caches */
    bool prints;    /* the launch must gather text */
    uint32_t latch; /* block that goes to the next tile block */
    uint32_t leave; /* block that ends the kernel */
} cg;

/* ---- text.c -------------------------------------------------------------------------------------*/

ts_status cg_fail(cg *e, ts_status status, const char *format, ...) TS_PRINTF(3, 4);
bool cg_text_begin(cg *e);
/* %r ref  %d int64_t  %s string  %b block label */
void cg_line(cg *e, const char *format, ...);
cg_ref cg_new(cg *e, const char *format, ...); /* a line with a fresh name in front; pure or load */
cg_ref cg_name(cg *e);                         /* a fresh name for later */
void cg_define(cg *e, cg_ref name, const char *format, ...);
uint32_t cg_label(cg *e);
void cg_block(cg *e, uint32_t label); /* starts a block */
void cg_br(cg *e, uint32_t label);
void cg_declare(cg *e, const char *line); /* once per line */

cg_ref cg_int(cg *e, int64_t value);
cg_ref cg_text(cg *e, const char *text); /* literal text; copied */
bool cg_is_int(const cg *e, cg_ref r, int64_t *value);
const char *cg_type(cg *e, cg_reg reg, uint32_t bits); /* "<16 x float>" */
const char *cg_suffix(cg *e, cg_reg reg, uint32_t bits); /* "v16f32" */
cg_reg cg_reg_of(const cg *e, ts_type type);
uint32_t cg_elem_bytes(const cg *e, ts_type type); /* in scratch */
cg_ref cg_splat(cg *e, cg_reg reg, uint32_t bits, cg_ref scalar);
cg_ref cg_const(cg *e, cg_reg reg, uint32_t bits, uint64_t payload);
cg_ref cg_lanes(cg *e, cg_reg reg, uint32_t bits, const int64_t *value); /* one constant a lane */
cg_ref cg_pick(cg *e, cg_reg reg, uint32_t bits, cg_ref x, uint32_t to_bits, const int32_t *lane); /* shuffle */
/* stride.c: how many elements of `bytes` the lanes lie apart, 1 to 4, else 0; and a load of all of them. */
uint32_t cg_stride(const cg_axis *a, uint32_t bits, uint32_t bytes);
cg_ref cg_stride_load(cg *e, cg_reg reg, uint32_t bits, cg_ref first, uint32_t step, uint32_t bytes);
/* The pointers of the first one of two loads of neighbours, which read every second element each, if v is one of them;
 * else 0. And v's lanes out of the vectors of both. */
ts_val cg_stride_pair(cg *e, ts_val v, cg_ix ix, bool *is_second);
cg_ref cg_stride_load_pair(cg *e, cg_reg reg, uint32_t bits, cg_ref first, bool is_second, uint32_t bytes);
/* Stores v and w, if one is of the elements between those of the other. */
bool cg_stride_store(cg *e, ts_val v, ts_val w, cg_ix ix);
cg_ref cg_join(cg *e, cg_reg reg, uint32_t bits, cg_ref low, cg_ref high); /* concatenation */

cg_ref cg_add(cg *e, cg_ref a, cg_ref b);
cg_ref cg_mul(cg *e, cg_ref a, cg_ref b);
cg_ref cg_shr(cg *e, cg_ref a, uint32_t n);
cg_ref cg_and(cg *e, cg_ref a, int64_t mask);

void cg_scope_open(cg *e);
void cg_scope_close(cg *e);
cg_ref cg_known(const cg *e, uint64_t a, uint64_t b); /* 0 = not known here */
void cg_remember(cg *e, uint64_t a, uint64_t b, cg_ref value);
#define CG_KEY(kind, x, y) ((uint64_t)(kind) << 58 | (uint64_t)(x) << 26 | (uint64_t)(y))

cg_ix cg_intern(cg *e, const cg_index *index);
const cg_index *cg_index_of(const cg *e, cg_ix ix);

/* ---- elem.c -------------------------------------------------------------------------------------*/

/* One elementwise instruction on vectors of 2^bits lanes. `from` is the element of operand 0. */
cg_ref cg_elem(cg *e, ts_val v, uint32_t bits, const cg_ref *x);
bool cg_elem_has(ts_op op);
cg_ref cg_call1(cg *e, const char *name, cg_reg reg, uint32_t bits, cg_ref x);
cg_ref cg_call2(cg *e, const char *name, cg_reg reg, uint32_t bits, cg_ref x, cg_ref y);
cg_ref cg_fma(cg *e, cg_reg reg, uint32_t bits, cg_ref x, cg_ref y, cg_ref z);
cg_ref cg_bin(cg *e, const char *op, cg_reg reg, uint32_t bits, cg_ref x, cg_ref y);
cg_ref cg_cmp(cg *e, const char *op, cg_reg reg, uint32_t bits, cg_ref x, cg_ref y); /* "fcmp olt" */
cg_ref cg_sel(cg *e, cg_reg reg, uint32_t bits, cg_ref c, cg_ref x, cg_ref y);
cg_ref cg_conv(cg *e, const char *op, cg_reg from, cg_reg to, uint32_t bits, cg_ref x);

/* ---- narrow.c -----------------------------------------------------------------------------------*/

cg_ref cg_widen(cg *e, ts_type from, uint32_t bits, cg_ref x);                        /* to f32 */
cg_ref cg_narrow(cg *e, ts_type to, ts_round round, uint32_t bits, cg_ref x);         /* from f32 */
cg_ref cg_odd(cg *e, uint32_t bits, cg_ref x); /* f64 -> f32 so that one more rounding is right */

/* ---- plan.c, expr.c -----------------------------------------------------------------------------*/

bool cg_plan_make(cg *e);
bool cg_is_tile(const cg *e, ts_val v); /* more than one element */
bool cg_swaps(const cg *e, ts_val v);   /* transposes the last two axes */
bool cg_same_space(const cg *e, ts_type a, ts_type b); /* the same extents when those of 1 are left out */
bool cg_is_lazy(const cg *e, ts_val v); /* its instruction makes no text where it stands */
/* log2 of the elements if tiles of the type are held; else 0. */
uint32_t cg_held(const cg *e, ts_type type);
cg_ix cg_ix_held(cg *e); /* their coordinates */
cg_ref cg_gen(cg *e, ts_val v, cg_ix ix);
cg_ref cg_make(cg *e, ts_val v, cg_ix ix); /* the same for a value that is just becoming a buffer */
cg_ref cg_scalar(cg *e, ts_val v); /* a value of one element */
cg_ref cg_scalar_i64(cg *e, ts_val v);
/* walk.c: reports a fault at the place of `v`; numbers are i64, 0 none. */
typedef struct cg_faults {
    ts_val v;
    const char *text;
    cg_ref code, index, extent, thread[3];
} cg_faults;
void cg_fault(cg *e, const cg_faults *fault);
/* `at`, an address of pointer value `v`, for LLVM. */
cg_ref cg_pointer(cg *e, ts_val v, cg_ref at);
cg_ref cg_load(cg *e, const cg_mem *mem, cg_ix ix);
void cg_store(cg *e, const cg_mem *mem, cg_ix ix, cg_ref value);
/* The same around the caches; false (and nothing written) when the vector is not one dense line. */
void cg_fetch(cg *e, const cg_mem *mem, cg_ix ix, cg_ref delta); /* the line that lies delta bytes further */
bool cg_store_stream(cg *e, const cg_mem *mem, cg_ix ix, cg_ref value);
void cg_scatter(cg *e, ts_val inst, cg_ix ix);
cg_ref cg_masked_load(cg *e, ts_type elem, uint32_t bits, cg_ref p, cg_ref mask, cg_ref pad);
void cg_masked_store(cg *e, ts_type elem, uint32_t bits, cg_ref p, cg_ref mask, cg_ref value);
/* Inlines the body of a reduce or scan: args in pairs (element, accumulator). */
void cg_body(cg *e, ts_val opener, uint32_t bits, const cg_ref *element, const cg_ref *acc, cg_ref *out);
cg_ix cg_ix_scalar(cg *e, uint32_t rank); /* all coordinates 0, one lane */

cg_ix cg_mapped(cg *e, ts_val v, cg_ix ix); /* coordinates of operand 0 of a shape operation */

/* ---- lookup.c -----------------------------------------------------------------------------------*/

/* The scalar that tile v has in every element, as it was before assumptions; 0: it is not made so. */
ts_val cg_one_for_all(const cg *e, ts_val v);
typedef struct cg_lookup { /* bytes of memory from `base` on, chosen by bytes */
    ts_val base, index;
} cg_lookup;
/* Are elements at these addresses chosen so, and can the processor do it in registers? */
bool cg_lookup_of(const cg *e, ts_val ptrs, ts_type elem, uint32_t bits, cg_lookup *look);
cg_ref cg_lookup_fits(cg *e, const cg_lookup *look); /* i1: all 256 bytes are there if one is */
cg_ref cg_lookup_make(cg *e, const cg_lookup *look, cg_ix ix);

/* ---- affine.c -----------------------------------------------------------------------------------*/

/* Is v at these coordinates a base plus a constant for each lane bit? The low bits of its type, where sums wrap. */
bool cg_affine(cg *e, ts_val v, cg_ix ix, cg_axis *out);
/* The same where indices that count from the end if they are negative are not: *negative is the mask of those that are.
 * False also where there are none. */
bool cg_affine_wrapped(cg *e, ts_val v, cg_ix ix, cg_axis *out, cg_ref *negative);
/* The mask of a comparison of numbers that rise by 1 from thread to thread with one for all: the first threads, or the
 * others. 0: not such a comparison. */
cg_ref cg_compare_rising(cg *e, ts_val v, cg_ix ix);

/* ---- group.c ------------------------------------------------------------------------------------*/

void cg_root_init(cg *e, cg_root *root, cg_root_kind kind, ts_val inst, ts_type space);
void cg_add_root(cg *e, const cg_root *root);
void cg_store_root(cg *e, ts_val v, const cg_mem *to); /* tile v to memory, as a root of its own shape */
void cg_flush(cg *e);
/* Calls fn for every value that is looked at when v is evaluated, v first; `same`: it is wanted at the coordinates
 * that v is wanted at by a root. True as soon as a call gives true. */
typedef bool cg_reach_fn(cg *e, ts_val v, bool same, void *user);
bool cg_reach(cg *e, ts_val v, bool same, cg_reach_fn *fn, void *user);
/* Flushes if operand v of an instruction outside the group is pending. */
void cg_settle(cg *e, ts_val v);
/* Puts tile v in memory and gives it: dense, of its own elements. */
cg_mem *cg_dense(cg *e, ts_val v);
cg_mem *cg_alloc(cg *e, ts_type type, ts_val owner);
/* A new slot of scratch, counted from 1, as `slot` of cg_mem; owner as in cg_slot. 0 when memory is out from the first
 * on. */
uint32_t cg_slot_of(cg *e, uint64_t bytes, uint64_t align, ts_val owner);
/* A counted loop: begin gives the variable; end closes. */
typedef struct cg_loop {
    uint32_t head, from, latch;
    cg_ref var, next;
    int64_t trip, step;
    cg_ref limit; /* may be set after begin: i64, ends the loop sooner, but not before its first round; 0 none */
} cg_loop;
void cg_loop_begin(cg *e, cg_loop *l, int64_t extent, int64_t step);
void cg_loop_end(cg *e, cg_loop *l);

/* ---- order.c ------------------------------------------------------------------------------------*/

/* Before store or atomic w: whatever it may overwrite and is wanted later is read first. joins: w becomes a root, and
 * its operands are evaluated in its nest; otherwise it is written where it stands, and the open group before it. */
void cg_order(cg *e, ts_val w, bool joins);
/* The same before a region: its stores come by on some ways only, or again and again. */
void cg_order_region(cg *e, ts_val opener);
void cg_order_reads(cg *e, const cg_root *root, cg_reads *out);
/* Before a root that writes a tile in scratch: has the open group to read the old one first, in another order? */
bool cg_order_scratch(const cg *e, const cg_root *root);
void cg_order_load(cg *e, ts_val v); /* v is read where it is used */
/* Puts lazy tile v in memory, as a root of the open group or a new one. */
void cg_keep(cg *e, ts_val v);

/* ---- edge.c -------------------------------------------------------------------------------------*/

bool cg_rows_fit(const cg *e, const cg_rows *a);
void cg_rows_copy(cg *e, const cg_rows *a, const cg_mem *tile, bool in); /* from the array, or to it */
bool cg_bounds_fit(const cg *e, ts_type elem);
cg_ref cg_load_bounded(cg *e, const cg_mem *mem, cg_ix ix);

/* ---- view.c, walk.c, mma.c, atomic.c, tally.c ----------------------------------------------------------------*/

void cg_make_view(cg *e, ts_val v);
void cg_load_view(cg *e, ts_val v);
void cg_store_view(cg *e, ts_val v);
void cg_red_view(cg *e, ts_val v);
void cg_copy_out(cg *e, const cg_out *out);
void cg_space(cg *e, ts_val v); /* get_tensor_shape, get_index_space_shape */
void cg_walk(cg *e, uint32_t from, uint32_t to);
void cg_look(cg *e); /* ends the kernel here if its caller wants that */
bool cg_walk_has(ts_op op);
void cg_mma(cg *e, ts_val v);
bool cg_mma_packs(cg *e, ts_val v, bool is_b); /* Does product v copy this operand before it multiplies? */
cg_ref cg_words(cg *e, const int64_t *word, uint32_t n); /* constant data */
void cg_atomic(cg *e, ts_val v);
/* Does the worker's table take atomic v? add: the code where it stands; end: behind the last block. */
bool cg_tally_takes(cg *e, ts_val v);
void cg_tally_add(cg *e, ts_val v);
void cg_tally_end(cg *e);
void cg_swap(cg *e, ts_val v, const cg_mem *to); /* permute v, see cg_swaps, to memory */
uint32_t cg_vector_bits(const cg *e, uint32_t elem_bytes); /* log2 of the lanes of a native vector */

#endif
