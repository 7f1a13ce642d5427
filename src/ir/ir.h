/* SPDX-License-Identifier: Apache-2.0
 *
 * The intermediate representation, one structure from tile level (CUDA Tile IR 13.x: same
 * operations, types and meaning) down to thread level (registers, shared memory, barriers).
 *
 * A function is one flat array of 24-byte instructions in program order. A value is the index of its
 * instruction; index 0 is the `none` instruction and means "no value". Regions are structured and
 * lie in the array between their opener and `end`:
 *
 *     5  for  %lb, %ub, %step, %init0, %init1          opener (rule REGION in op.def)
 *     6    arg 0 : i32                                 induction variable (args follow the opener)
 *     7    arg 1 : tile<64xf32>                        first carried value
 *     8    arg 2 : ...
 *     9    ...
 *    12    continue %10, %11                           terminator (TERM): last of its region
 *    13  end
 *    14  res 0 of %5                                   one `res` for each result, after `end`
 *    15  res 1 of %5
 *
 *     if %c        ; then region, `yield` values, `else`, else region, `yield` values, `end`, `res`es
 *     loop %init.. ; args = carried values; leaves by `break %v..`, repeats by `continue %v..`
 *     reduce %x..  ; attr REDUCE; args in pairs per input (element, accumulator); `yield`
 *     scan %x..    ; the same
 *     cold %c, %x..; no args; region; `yield` one value per x; `end`; `res`es: see below
 *
 * `cold` is the seldom needed path of an elementwise computation (huge arguments of sin, subnormal
 * arguments of log). Operands: condition i1 (tile), then n >= 1 values of the condition's shape. The
 * region is pure: only ELEM operations, constants, broadcasts and nested colds, on values of the
 * same shape (captured from outside or made inside); it yields n values of the types of x. Meaning,
 * element by element: res i = select(cond, yield i, x i). Nothing in the region can trap, so a target
 * may compute it always (flatten it to selects) or never where no element of the condition is set:
 *     eval   runs the region, then selects
 *     CPU    inside a fused elementwise loop: a branch on "any lane of this vector's mask"
 *     GPU    distributed like any elementwise operation, without communication: each thread ORs the
 *            conditions of all its elements, ONE branch around the region for all of them together,
 *            select inside. Thread level: cond is the thread's own i1 and cold is a forward branch.
 *
 * `for` is counted: it has no `break` (the front end makes a `loop` where the source breaks out).
 * `break`, `continue` and `return` may also end a region of an `if` nested in the loop they leave.
 * An `if` always has an else region. A region that ends the flow (break, continue, return) yields
 * nothing. Instructions after a TERM in the same region do not exist.
 *
 * Scalars: a tile of rank 0 is the scalar type itself (f32, not tile<f32>), at both levels.
 *
 * Memory order inside a tile block is program order (stronger than Tile IR asks). Tokens are kept so
 * that text and bytecode survive a round trip: a store is its own token (its type is `token`), the
 * token of a load or atomic is `token %load`, an input token is the last operand (TS_F_TOKEN).
 *
 * Layout of operands:
 *     make_tensor_view     base pointer, one i32/i64 per dynamic ("?") extent, then per dynamic stride
 *     load_view_tko        view, index per index-space dimension            [token]
 *     store_view_tko       view, tile, index per dimension                  [token]
 *     atomic_red_view_tko  view, tile, index per dimension                  [token]   MEM mode
 *     load_ptr_tko         pointers, [mask TS_F_MASK], [padding TS_F_PAD]   [token]
 *     store_ptr_tko        pointers, values, [mask]                         [token]
 *     atomic_cas_tko       pointers, compare, value, [mask]                 [token]
 *     atomic_rmw_tko       pointers, value, [mask]                          [token]   MEM mode
 *     assert               condition, [index of its shape, extent i32/i64: the condition is their bounds check]
 *     extract              tile, slice index per dimension        insert    tile, part, index per dim
 *     mmaf, mmai           a [B,]M,K   b [B,]K,N   c [B,]M,N      mmaf_scaled  a b c scale_a scale_b
 *     for                  lower, upper, step, inits..  (signed unless TS_A_UNSIGNED; step > 0)
 *     gather_scatter views: the index operand of the sparse dimension is a 1-D tile of element
 *     indices, the others are element offsets. Partition views count tiles.
 * Thread level:
 *     ld                   pointer, [pred TS_F_MASK], [pad TS_F_PAD]  -> n results (SIMT n)
 *     st                   pointer, v0..v(n-1), [pred]
 *     atom, red            pointer, value, [compare for cas comes before value], [pred]
 *     cp_async             shared pointer, global pointer, [bytes to copy i32; the rest zero-filled]
 *     ptr_add              pointer, byte offset (i32 is sign-extended to the pointer's width)
 *     cvt_pack             low, high f32 -> i32 of two 16-bit floats, or i16 of two fp8; the element type
 *                          is in the attribute: TS_A_ELEM(TS_T_bf16) ...
 *     pack2, unpack2       low, high <-> one value of twice the width (i16/f16/bf16 x2 <-> i32, i32 x2 <-> i64)
 *     mul_wide             i32 x i32 -> i64; signed unless TS_A_UNSIGNED
 *     mbar_init ptr (count in attr)  mbar_expect ptr, bytes i32, [pred]  mbar_arrive ptr, [pred]
 *     mbar_wait            ptr, parity i32: returns when the phase of that parity has completed
 *     st_async             shared pointer, value (32 or 64 bits), barrier pointer in the same block of the cluster, [pred]
 *     tma_load             shared pointer, barrier pointer, coordinates innermost first, [pred]
 *     tma_store, _reduce   shared pointer, coordinates innermost first, [pred]
 *     wgmma                accumulators.., a (descriptor i64, or 4 registers TS_MMA_A_REGS), b desc i64,
 *                          scale-d i1 -> accumulators (in place: the operand dies)
 *     shfl                 value (32 bit), lane or distance i32
 */
#ifndef TS_IR_IR_H
#define TS_IR_IR_H

#include "base/base.h"

typedef uint32_t ts_val;
typedef uint32_t ts_type;
typedef uint32_t ts_str; /* interned string of a module; 0 is "" */

/* ---- operations -------------------------------------------------------------------------------- */

typedef enum ts_op {
#define TS_OP(name, level, operands, results, rule, attr, flags, ptx, llvm) TS_OP_##name,
#include "ir/op.def"
    TS_OP_COUNT
} ts_op;

enum { /* flags of an operation */
    TS_PURE = 1,
    TS_COMM = 2,
    TS_READ = 4,
    TS_WRITE = 8,
    TS_SIDE = 16,
    TS_TERM = 32,
    TS_REGION = 64,
    TS_ELEM = 128,
    TS_SLOW = 256,
    TS_WRITTEN = 512
};
enum { TS_N = -1 }; /* any number of operands or results */
typedef enum ts_level { TS_LEVEL_T = 1, TS_LEVEL_S = 2, TS_LEVEL_B = 3 } ts_level;
typedef enum ts_attr_kind {
    TS_ATTR_NONE,
    TS_ATTR_ARITH,
    TS_ATTR_AXIS,
    TS_ATTR_MEM,
    TS_ATTR_CONST,
    TS_ATTR_INTS,
    TS_ATTR_STR,
    TS_ATTR_REDUCE,
    TS_ATTR_ASSUME,
    TS_ATTR_ALLOCA,
    TS_ATTR_MMA,
    TS_ATTR_SIMT,
    TS_ATTR_FN
} ts_attr_kind;
typedef enum ts_rule {
    TS_RULE_OWN,
    TS_RULE_UNF,
    TS_RULE_UNI,
    TS_RULE_BINF,
    TS_RULE_BINI,
    TS_RULE_TERF,
    TS_RULE_CMPF,
    TS_RULE_CMPI,
    TS_RULE_CASTA,
    TS_RULE_CASTI,
    TS_RULE_SELECT
} ts_rule;

typedef struct ts_op_info {
    const char *name;
    int8_t n_opnd, n_result; /* TS_N = any */
    uint8_t level, rule, attr;
    uint16_t flags;
    const char *ptx, *llvm; /* NULL: the target does not have it natively */
} ts_op_info;
extern const ts_op_info ts__ops[TS_OP_COUNT];
/* TS_OP_COUNT when there is no such operation. */
ts_op ts_op_find(const char *name, size_t n);

/* The math functions that are rows of table/math.def and no operations: `fn` holds one in its attribute. */
typedef enum ts_math_fn {
#define TS_MATH(name, ...) TS_MATH_##name,
#include "table/math.def"
    TS_MATH_COUNT
} ts_math_fn;
/* What a function takes and gives, shapes being equal: X float -> float, XX two floats -> float, XN float and
 * integer -> float, XB float -> i1. */
typedef enum ts_math_kind { TS_MATH_X, TS_MATH_XX, TS_MATH_XN, TS_MATH_XB } ts_math_kind;
typedef struct ts_math_info {
    const char *name;
    uint8_t kind, n_opnd;
    bool own; /* computed in the type itself; else f16 and bf16 in f32 */
} ts_math_info;
extern const ts_math_info ts__math_fns[TS_MATH_COUNT];

/* One instruction. Up to three operands are inline; more: opnd[0] is the pool index of all of them.
 * A splat `constant` keeps its 64-bit payload in opnd[0] (low) and opnd[1] (high). */
typedef struct ts_inst {
    uint32_t op : 10, n_opnd : 14, flags : 8; /* flags: TS_F_* */
    ts_type type;                             /* 0: no result (void) or `res` results */
    uint32_t opnd[3];
    uint32_t aux; /* attribute word or pool index, as the op's attr column says */
} ts_inst;
_Static_assert(sizeof(ts_inst) == 24, "instructions are 24 bytes");

enum { TS_F_TOKEN = 1, TS_F_MASK = 2, TS_F_PAD = 4, TS_F_SRC = 8 /* cp_async has a size operand */ };

/* ---- attributes -------------------------------------------------------------------------------- */

/* ARITH bits. Zero is: round to nearest even, no flush, NaN ignored by max/min, signed, ordered. */
typedef enum ts_round {
    TS_RN, TS_RZ, TS_RM, TS_RP, TS_APPROX, TS_FULL, TS_RZI, TS_RA
} ts_round;
typedef enum ts_pred { TS_EQ, TS_NE, TS_LT, TS_LE, TS_GT, TS_GE } ts_pred;
enum {
    TS_A_ROUND_MASK = 7,       /* ts_round; divi: RZ trunc (also RN = 0), RM floor, RP ceil */
    TS_A_FTZ = 1 << 3,         /* flush f32 subnormals to zero */
    TS_A_NAN = 1 << 4,         /* max/min propagate NaN */
    TS_A_UNSIGNED = 1 << 5,    /* integer op, cast source or `for` bound is unsigned; mma: A unsigned */
    TS_A_UNSIGNED_B = 1 << 6,  /* mmai: B unsigned */
    TS_A_NSW = 1 << 7,
    TS_A_NUW = 1 << 8,
    TS_A_PRED_SHIFT = 9,       /* ts_pred, 3 bits */
    TS_A_UNORDERED = 1 << 12,  /* cmpf true on NaN */
    TS_A_FAST_ACC = 1 << 13,
    TS_A_SAT = 1 << 14,        /* ftoi saturates, NaN gives 0 */
    TS_A_ELEM_SHIFT = 16       /* cvt_pack: element type of the result */
};
#define TS_A_ELEM(scalar) ((uint32_t)(scalar) << TS_A_ELEM_SHIFT)
#define TS_A_GET_ELEM(a) ((ts_type)((a) >> TS_A_ELEM_SHIFT & 255))
#define TS_A_ROUND(a) ((ts_round)((a) & TS_A_ROUND_MASK))
#define TS_A_PRED(p) ((uint32_t)(p) << TS_A_PRED_SHIFT)
#define TS_A_GET_PRED(a) ((ts_pred)((a) >> TS_A_PRED_SHIFT & 7))

/* MEM bits. */
typedef enum ts_order { TS_WEAK, TS_RELAXED, TS_ACQUIRE, TS_RELEASE, TS_ACQ_REL } ts_order;
typedef enum ts_scope { TS_SCOPE_NONE, TS_SCOPE_BLOCK, TS_SCOPE_DEVICE, TS_SCOPE_SYS } ts_scope;
typedef enum ts_rmw {
    TS_RMW_AND, TS_RMW_OR, TS_RMW_XOR, TS_RMW_ADD, TS_RMW_ADDF, TS_RMW_MAX, TS_RMW_MIN,
    TS_RMW_UMAX, TS_RMW_UMIN, TS_RMW_XCHG, TS_RMW_CAS /* thread level only */
} ts_rmw;
typedef enum ts_tma_hint { TS_TMA_FREE, TS_TMA_ALLOWED, TS_TMA_FORBIDDEN } ts_tma_hint;
#define TS_M_ORDER(o) ((uint32_t)(o))                     /* bits 0-2 */
#define TS_M_SCOPE(s) ((uint32_t)(s) << 3)                /* bits 3-4 */
#define TS_M_MODE(m) ((uint32_t)(m) << 5)                 /* bits 5-8 */
#define TS_M_LATENCY(l) ((uint32_t)(l) << 9)              /* bits 9-12; 0 = no hint */
#define TS_M_TMA(t) ((uint32_t)(t) << 13)                 /* bits 13-14: ts_tma_hint */
#define TS_M_INBOUNDS(mask) ((uint32_t)(mask) << 16)      /* bit per dimension: promised in bounds */
#define TS_M_GET_ORDER(a) ((ts_order)((a) & 7))
#define TS_M_GET_SCOPE(a) ((ts_scope)((a) >> 3 & 3))
#define TS_M_GET_MODE(a) ((ts_rmw)((a) >> 5 & 15))
#define TS_M_GET_LATENCY(a) ((a) >> 9 & 15)
#define TS_M_GET_TMA(a) ((a) >> 13 & 3)
#define TS_M_GET_INBOUNDS(a) ((a) >> 16 & 255)
#define TS_M_WITHOUT_INBOUNDS(a) ((a) & 65535)

/* SIMT bits: a kind (8 bits), a count or number (16 bits), small flags (8 bits). */
#define TS_S(kind, number, extra) ((uint32_t)(kind) | (uint32_t)(number) << 8 | (uint32_t)(extra) << 24)
#define TS_S_KIND(a) ((a) & 255)
#define TS_S_NUMBER(a) ((a) >> 8 & 65535)
#define TS_S_EXTRA(a) ((a) >> 24)
typedef enum ts_sreg { /* sreg kinds; x, y, z follow each other */
    TS_SREG_TID, TS_SREG_TID_Y, TS_SREG_TID_Z, TS_SREG_CTAID, TS_SREG_CTAID_Y, TS_SREG_CTAID_Z,
    TS_SREG_NCTAID, TS_SREG_NCTAID_Y, TS_SREG_NCTAID_Z, TS_SREG_NTID, TS_SREG_NTID_Y, TS_SREG_NTID_Z,
    TS_SREG_LANEID, TS_SREG_WARPID, /* WARPID: tid.x / 32, made uniform */
    TS_SREG_SMID, TS_SREG_CLUSTER_RANK, TS_SREG_CLUSTER_ID, TS_SREG_NCLUSTER, TS_SREG_CLOCK64,
    TS_SREG_LANEMASK_LT
} ts_sreg;
/* shared: a pointer into dynamic shared memory; aux is the plain byte offset (not TS_S packed).
 * ld, st: kind = ts_cache_use, number = elements (1, 2, 4, 8, 16); ld extra bit 0 = masked-off elements may
 * be anything (else they are the pad, or zero). */
typedef enum ts_cache_use { TS_CACHE_NONE, TS_CACHE_NC /* read-only */, TS_CACHE_STREAM, TS_CACHE_VOLATILE,
    TS_CACHE_RELAXED, TS_CACHE_ACQUIRE, TS_CACHE_RELEASE } ts_cache_use;
/* shfl kinds; number = clamp/segment word, 31 for idx/bfly/down and 0 for up */
typedef enum ts_shfl { TS_SHFL_IDX, TS_SHFL_UP, TS_SHFL_DOWN, TS_SHFL_BFLY } ts_shfl;
/* vote: i1 -> i1 (any, all) or i32 (ballot).  redux kinds: ts_rmw. */
typedef enum ts_vote { TS_VOTE_ANY, TS_VOTE_ALL, TS_VOTE_BALLOT } ts_vote;
/* cluster_arrive: bit 0 = relaxed: orders no memory.
 * bar_sync, bar_arrive: kind = barrier id, number = threads (0 = all). An operand, the same in a warp, is
 * the id instead. */
typedef enum ts_fence { TS_FENCE_CTA, TS_FENCE_GPU, TS_FENCE_SYS, TS_FENCE_PROXY_ASYNC, TS_FENCE_MBAR_INIT } ts_fence;
/* cp_async: number = bytes (4, 8, 16).  cp_async_wait, wgmma_wait: number = pending groups allowed.
 * mbar_init: number = arrivals.  mbar_expect: arrives once and expects the bytes of its operand.
 * bulk_wait: number = pending groups, extra bit 0 = .read.
 * tma_*: kind = index in the launch plan's tensor maps, number = rank; tma_reduce extra = ts_rmw.
 * ldmatrix, stmatrix: number = matrices (1, 2, 4), extra bit 0 = transposed; registers are i32.
 * prmt: number = selector.  setmaxnreg: number = registers, extra bit 0 = increase. */

/* MMA bits: row of mma.def, N (wgmma), flags. */
typedef enum ts_mma {
#define TS_MMA(name, m, n, k, a, b, c, ra, rb, rc, sm) TS_MMA_##name,
#include "ir/mma.def"
    TS_MMA_COUNT
} ts_mma;
enum { TS_MMA_A_REGS = 1, TS_MMA_TRANS_A = 2, TS_MMA_TRANS_B = 4, TS_MMA_U_A = 8, TS_MMA_U_B = 16 };
#define TS_MMA_ATTR(row, n, flags) ((uint32_t)(row) | (uint32_t)(n) << 8 | (uint32_t)(flags) << 24)
#define TS_MMA_ROW(a) ((ts_mma)((a) & 255))
#define TS_MMA_N(a) ((a) >> 8 & 65535)
#define TS_MMA_FLAGS(a) ((a) >> 24)

/* ASSUME: pool[aux..] = kind, then as below. */
typedef enum ts_assume { TS_ASSUME_DIV_BY, TS_ASSUME_SAME, TS_ASSUME_BOUNDED } ts_assume;
/*  DIV_BY : divisor lo, hi, has_every, every, along       (pointers: bytes)
 *  SAME   : n, group sizes..
 *  BOUNDED: has_lower, lower lo, hi, has_upper, upper lo, hi
 * REDUCE : pool[aux..] = axis, reverse, n, then n pairs (lo, hi) of identity payloads.
 * INTS   : pool[aux..] = n, values..          ALLOCA : pool[aux..] = bytes, alignment, global flag
 * STR    : aux = ts_str (assert message, print format, global name)
 * FN     : aux = ts_math_fn
 * CONST  : aux = 0: splat payload in opnd[0..1]; else 1 + index in the module's dense data */

/* ---- types ------------------------------------------------------------------------------------- */

enum {
    TS_T_none, /* no value */
#define TS_SCALAR(name, bits, class, tag) TS_T_##name,
#include "ir/type.def"
    TS_T_token,
    TS_T_FIRST_COMPOSITE
};
typedef enum ts_kind {
    TS_KIND_NONE,
    TS_KIND_SCALAR,
    TS_KIND_TOKEN,
    TS_KIND_TILE,
    TS_KIND_PTR,
    TS_KIND_TENSOR_VIEW,
    TS_KIND_PARTITION_VIEW,
    TS_KIND_STRIDED_VIEW,
    TS_KIND_GATHER_SCATTER_VIEW,
    TS_KIND_FUNC
} ts_kind;
typedef enum ts_space { TS_GLOBAL, TS_SHARED, TS_LOCAL } ts_space; /* shared pointers are 32 bit */
typedef enum ts_padding { /* what a load gives outside the array; UNDEF = any value */
    TS_PAD_UNDEF /* see ts__pad_bits */, TS_PAD_ZERO, TS_PAD_NEG_ZERO, TS_PAD_NAN, TS_PAD_POS_INF, TS_PAD_NEG_INF
} ts_padding;
#define TS_DYNAMIC INT64_MIN
#define TS_MAX_RANK 8

/* The contents of a composite type. Unused members are zero. `dims` and friends have `rank` entries. */
typedef struct ts_type_info {
    uint8_t kind, rank, space, padding;
    uint8_t sparse_dim;
    uint16_t n_params, n_results;  /* FUNC: types follow in `sub` */
    ts_type elem;                  /* tile, tensor view: element; pointer: pointee; other views: tensor view */
    const int64_t *dims;           /* tile and view-tile extents; tensor view: shape (TS_DYNAMIC = ?) */
    const int64_t *strides;        /* tensor view: strides in elements; strided view: traversal steps */
    const int32_t *dim_map;        /* partition, strided view: tile axis -> tensor axis */
    const ts_type *sub;            /* FUNC: parameters then results */
} ts_type_info;

/* How many elements along its axis one index of a tiled view moves. */
static inline int64_t ts_view_step(const ts_type_info *view, uint32_t axis)
{
    return view->kind == TS_KIND_PARTITION_VIEW ? view->dims[axis]
           : view->kind == TS_KIND_STRIDED_VIEW ? view->strides[axis]
                                                : 1;
}

/* Where the tile of an index begins. Indices are as large as their type allows and their product with the step means
 * what it says: one too large for 64 bits stops at a place so far out that nothing added to it comes round into an
 * array. Those of 32 bits (steps have 31) never get there. */
#define TS_VIEW_FAR ((int64_t)1 << 61)
static inline int64_t ts_view_start(int64_t index, int64_t step)
{
    int64_t most = TS_VIEW_FAR / step;
    return (index > most ? most : index < -most ? -most : index) * step;
}

/* ---- functions and modules ---------------------------------------------------------------------- */

/* A source place with the chain of calls that inlined it. 0 = unknown. */
typedef uint32_t ts_loc;
typedef struct ts_loc_info {
    ts_str file;
    uint32_t line, col, end_line, end_col;
    ts_str function;
    ts_loc caller; /* where the helper was called from */
} ts_loc_info;

typedef struct ts_module ts_module;

typedef struct ts_fn {
    ts_module *module;
    ts_str name;
    bool entry;
    uint8_t level; /* ts_level: what it may contain */
    TS_VEC(ts_inst) inst;  /* inst.at[0] is `none`; `param`s come first, in order */
    TS_VEC(ts_loc) loc;    /* parallel to inst */
    TS_VEC(uint32_t) pool; /* long operand lists and attributes */
    uint32_t n_params;
    /* hints of the kernel, 0 = not given */
    uint8_t num_ctas, occupancy, num_warps, opt_level;
    bool checked; /* report out-of-bounds gathers and scatters */
    bool overlap; /* the memory of different parameters may be the same */
} ts_fn;

typedef struct ts_global { /* module-level constant or variable */
    ts_str name;
    ts_type type; /* 1-D tile */
    uint32_t data; /* 1 + dense index; 0 = zeros */
    uint32_t align;
    bool constant;
} ts_global;

typedef struct ts_dense { /* elements as in memory: little endian, i1 one byte each, 4-bit packed */
    const void *bytes;
    size_t n_bytes;
} ts_dense;

/* Everything of one compilation lives in the module's arena. Threads: one at a time. */
struct ts_module {
    ts_arena *arena; /* borrowed */
    ts_str name;
    TS_VEC(ts_type_info) type; /* [id - TS_T_FIRST_COMPOSITE] */
    TS_VEC(const char *) str;
    TS_VEC(ts_loc_info) locs;
    TS_VEC(ts_dense) dense;
    TS_VEC(ts_fn *) fns;
    TS_VEC(ts_global) globals;
    TS_VEC(struct ts_note_entry) notes; /* note.h; only when noting */
    bool noting;
    uint32_t *type_hash, *str_hash; /* open addressing, index + 1 */
    uint32_t type_hash_cap, str_hash_cap;
};

/* NULL when memory is out. Owns: nothing; the arena does. */
ts_module *ts_module_create(ts_arena *arena);
ts_fn *ts_fn_create(ts_module *module, const char *name, ts_level level);
/* A fresh, empty function with name, level and hints of `like`, not yet in module->fns: what a pass
 * builds into. ts_fn_replace then puts it in the place of `old`. */
ts_fn *ts_fn_create_like(const ts_fn *like);
void ts_fn_replace(ts_fn *old, ts_fn *with);
bool ts_module_failed(const ts_module *module); /* memory ran out somewhere in the arena */

ts_str ts_intern(ts_module *module, const char *text, size_t n);
const char *ts_str_get(const ts_module *module, ts_str string);
ts_loc ts_loc_add(ts_module *module, const ts_loc_info *info);
/* The place of an instruction; all zero when it is unknown. Never NULL. */
const ts_loc_info *ts_loc_of(const ts_fn *fn, ts_val v);

/* Type constructors; equal contents give equal ids. 0 when memory is out. */
ts_type ts_type_tile(ts_module *module, ts_type elem, uint32_t rank, const int64_t *dims);
ts_type ts_type_ptr(ts_module *module, ts_type pointee, ts_space space);
ts_type ts_type_make(ts_module *module, const ts_type_info *info); /* views and functions */
/* The same shape with another element; and the same element, other shape. */
ts_type ts_type_with_elem(ts_module *module, ts_type type, ts_type elem);
static inline bool ts_type_is_scalar(ts_type t)
{
    return t > TS_T_none && t < TS_T_token;
}
ts_kind ts_type_kind(const ts_module *module, ts_type type);
const ts_type_info *ts_type_get(const ts_module *module, ts_type type); /* composite types only */
ts_type ts_type_elem(const ts_module *module, ts_type type);  /* tile: element; others: itself */
uint32_t ts_type_rank(const ts_module *module, ts_type type); /* 0 for scalars and pointers */
const int64_t *ts_type_dims(const ts_module *module, ts_type type);
int64_t ts_type_count(const ts_module *module, ts_type type); /* elements; 1 for scalars */
uint32_t ts_type_bits(const ts_module *module, ts_type elem);   /* scalar or pointer, in memory */
bool ts_type_is_float(const ts_module *module, ts_type type);   /* class F or R, by element */
bool ts_type_is_int(const ts_module *module, ts_type type);     /* class I, by element */
bool ts_type_is_restricted(const ts_module *module, ts_type type);
bool ts_type_is_ptr(const ts_module *module, ts_type type);     /* by element */
const char *ts_scalar_name(ts_type scalar);
ts_type ts_scalar_find(const char *name, size_t n); /* 0 if none */

/* ---- reading instructions ----------------------------------------------------------------------- */

static inline const ts_inst *ts_at(const ts_fn *fn, ts_val v)
{
    return &fn->inst.at[v];
}
static inline const uint32_t *ts_opnds(const ts_fn *fn, const ts_inst *inst)
{
    return inst->n_opnd <= 3 ? inst->opnd : fn->pool.at + inst->opnd[0];
}
static inline ts_val ts_opnd(const ts_fn *fn, ts_val v, uint32_t i)
{
    return ts_opnds(fn, ts_at(fn, v))[i];
}
static inline ts_type ts_type_of(const ts_fn *fn, ts_val v)
{
    return fn->inst.at[v].type;
}
static inline const ts_op_info *ts_info(const ts_inst *inst)
{
    return &ts__ops[inst->op];
}
static inline const uint32_t *ts_pool(const ts_fn *fn, const ts_inst *inst) /* INTS, REDUCE, ... */
{
    return fn->pool.at + inst->aux;
}
/* Operand roles of memory operations: TS_NO when absent. */
#define TS_NO UINT32_MAX
uint32_t ts_opnd_mask(const ts_inst *inst);  /* operand position of the mask / predicate */
uint32_t ts_opnd_pad(const ts_inst *inst);
uint32_t ts_opnd_token(const ts_inst *inst);
/* Payload of a splat constant. False for dense ones and other ops. Integers come sign-extended,
 * narrow floats as their bit pattern, i1 as 0 or 1. */
bool ts_const_bits(const ts_fn *fn, ts_val v, uint64_t *bits);
bool ts_const_as_int(const ts_fn *fn, ts_val v, int64_t *value);     /* integer element types */
bool ts_const_as_float(const ts_fn *fn, ts_val v, double *value);    /* f16 bf16 f32 tf32 f64 */

/* Structure of a function, computed once per pass: for every opener the index of its `else` and
 * `end`, for every instruction its innermost opener (0 = body). In the given arena. */
typedef struct ts_shape {
    uint32_t *end;    /* opener or else -> its end */
    uint32_t *other;  /* if -> its else */
    uint32_t *parent; /* instruction -> innermost opener containing it; an opener's is the outer one */
    uint32_t *uses;   /* number of operand uses of each value */
} ts_shape;
bool ts_shape_of(const ts_fn *fn, ts_arena *scratch, ts_shape *shape);

/* ---- building ------------------------------------------------------------------------------------ */

/* Appends to one function. Failure (memory) is sticky: builders then return 0 and go on harmlessly;
 * ts_builder_status tells at the end. `loc` is given to every instruction made. With `fold` on, the
 * builder folds constants and reuses equal pure instructions that dominate (see build.c). */
typedef struct ts_builder {
    ts_fn *fn;
    ts_loc loc;
    bool fold;
    bool too_many; /* an operation was given more than TS_MAX_OPNDS operands */
    struct ts_numbering *numbering; /* private */
} ts_builder;
#define TS_MAX_OPNDS 0x3FFF

void ts_builder_init(ts_builder *b, ts_fn *fn);
ts_status ts_builder_status(const ts_builder *b, ts_error *err);

ts_val ts_emit(ts_builder *b, ts_op op, ts_type type, uint32_t n, const ts_val *opnds, uint32_t aux,
               uint32_t flags);
uint32_t ts_pool_add(ts_builder *b, uint32_t n, const uint32_t *words); /* index for aux */

/* Elementwise operations, at any shape; the result type follows from the op's rule. */
ts_val ts_op1(ts_builder *b, ts_op op, ts_val x, uint32_t attr);
ts_val ts_op2(ts_builder *b, ts_op op, ts_val x, ts_val y, uint32_t attr);
ts_val ts_op3(ts_builder *b, ts_op op, ts_val x, ts_val y, ts_val z, uint32_t attr);
ts_val ts_cast(ts_builder *b, ts_op op, ts_val x, ts_type elem, uint32_t attr); /* CAST ops: new element */
/* A function of table/math.def; y is 0 where it takes one operand. */
ts_val ts_math_call(ts_builder *b, ts_math_fn fn, ts_val x, ts_val y);
ts_val ts_cmp(ts_builder *b, ts_op op, ts_pred pred, ts_val x, ts_val y, uint32_t attr);
ts_val ts_select(ts_builder *b, ts_val c, ts_val x, ts_val y);

/* Constants; a tile type gives a splat. Integers wrap to the type, floats round to it. */
ts_val ts_int(ts_builder *b, ts_type type, int64_t value);
ts_val ts_float(ts_builder *b, ts_type type, double value);
ts_val ts_bits(ts_builder *b, ts_type type, uint64_t payload);
ts_val ts_dense_const(ts_builder *b, ts_type type, const void *bytes, size_t n_bytes);

ts_val ts_fn_param(ts_builder *b, ts_type type);
ts_val ts_broadcast(ts_builder *b, ts_val x, ts_type type); /* scalar or equal rank with 1s -> type; no-op if equal */
ts_val ts_reshape(ts_builder *b, ts_val x, ts_type type);
ts_val ts_permute(ts_builder *b, ts_val x, const uint32_t *axes);

/* Regions. begin emits the opener and its args (ts_arg gives them); ts_yield & co. emit the TERM;
 * ts_end closes and emits the `res`es (ts_res gives them). Types of results come from inits, or
 * for `if` from `types`. */
ts_val ts_if_begin(ts_builder *b, ts_val cond);
void ts_else(ts_builder *b);
void ts_if_end(ts_builder *b, ts_val opener); /* yield; else yield; end: an `if` without `else` and results */
ts_val ts_for_begin(ts_builder *b, ts_val lower, ts_val upper, ts_val step, uint32_t n,
                    const ts_val *inits, uint32_t attr);
ts_val ts_loop_begin(ts_builder *b, uint32_t n, const ts_val *inits);
/* The seldom path of an elementwise computation; emit its values, ts_term(yield), ts_end_like. */
ts_val ts_cold_begin(ts_builder *b, ts_val cond, uint32_t n, const ts_val *values);
/* identities: n payloads of the element types, neutral in the body: a target may combine them any number
 * of times or never. Neutral is -0 for addf and NaN for a maxf that ignores NaN. scan when `op` is TS_OP_scan. */
ts_val ts_reduce_begin(ts_builder *b, ts_op op, uint32_t axis, bool reverse, uint32_t n,
                       const ts_val *inputs, const uint64_t *identities);
void ts_term(ts_builder *b, ts_op op, uint32_t n, const ts_val *values); /* yield continue break return */
/* Closes the region of `opener`; n results of the given types. */
void ts_end(ts_builder *b, ts_val opener, uint32_t n, const ts_type *types);
/* Result types that follow from inits or inputs (for, loop, cold, reduce, scan). */
void ts_end_like(ts_builder *b, ts_val opener);
ts_val ts_region_arg(const ts_fn *fn, ts_val opener, uint32_t i);
ts_val ts_res(ts_builder *b, ts_val opener, uint32_t i); /* valid right after ts_end */
/* Multi-result instructions without a region (ld, mma_sync, wgmma, ldmatrix, unpack2): emits it and
 * its `res`es; the value of result i is the returned value + 1 + i. */
ts_val ts_emit_multi(ts_builder *b, ts_op op, uint32_t n, const ts_val *opnds, uint32_t aux,
                     uint32_t flags, uint32_t n_results, const ts_type *types);

/* Copies instruction `v` of `from` into the builder's function (same module) with operands mapped
 * through `map` (indexed by value, grows as results appear: map[v] is set). Openers, else, end, arg,
 * res and terminators copy like any other: walking 1..n of a function and copying each gives an
 * equal function. Attributes and pool data are copied. Returns the new value. */
ts_val ts_copy(ts_builder *b, const ts_fn *from, ts_val v, ts_val *map);

/* ---- text, verification, evaluation: print.c read.c verify.c eval.c -------------------------------- */

void ts_module_print(const ts_module *module, ts_text *out); /* the form is told in print.c */
void ts_fn_print(const ts_fn *fn, ts_text *out);
void ts_type_print(const ts_module *module, ts_type type, ts_text *out);
/* Errors name line and column of the text. */
TS_CHECKED ts_status ts_module_read(ts_arena *arena, const char *text, size_t n, ts_module **out, ts_error *err);
/* The first broken rule, with the instruction printed. */
TS_CHECKED ts_status ts_fn_verify(const ts_fn *fn, ts_error *err);
TS_CHECKED ts_status ts_module_verify(const ts_module *module, ts_error *err);

#endif
