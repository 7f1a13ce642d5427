/* SPDX-License-Identifier: Apache-2.0
 *
 * The intermediate representation, built from C: what every front end of Tessera hands to the compiler. One structure
 * serves two levels: tiles (CUDA Tile IR 13.x: same operations, types and meaning) and threads (registers, shared
 * memory, barriers). Its text form is docs/guide/ir.md; a walk through this file is docs/guide/c.md.
 *
 *     ts_module_create ─▶ ts_fn_create ─▶ ts_builder_create ─▶ ts_fn_param, ts_op2, ... ─▶ ts_builder_status
 *                                                                                       ─▶ ts_module_verify
 *     then: ts_source{TS_SOURCE_MODULE} for ts_kernel_create (launch.h), or ts_compile_source (compile.h)
 *
 * Owns      A module owns its functions, types, strings and data; it is ended by ts_module_destroy, and all that was
 *           made from it ends then. A builder is ended by ts_builder_destroy, before its module. Texts and arrays given
 *           to these functions are borrowed during the call and copied where they are kept.
 * Errors    Builders do not fail one by one. When memory runs out they return 0 and go on harmlessly;
 *           ts_builder_status says so at the end. Wrong types, shapes and operands are found by ts_module_verify, which
 *           names the function, shows the instruction and says which rule it breaks. A value, type or function of
 *           another module, and a number that no call returned, are mistakes that nobody looks for.
 * Threads   One module and its builders belong to one thread at a time; different modules are independent.
 * Versions  Numbers of operations and types are those of the headers that a program was compiled with. A program that
 *           links a newer library asks by name: ts_op_find("addf", 4), ts_scalar_find("f32", 3).
 *
 * A function is a list of instructions in program order. A value is the number of its instruction; 0 means "no value".
 * Regions are structured and lie in the list between their opener and `end`:
 *
 *     5  for  %lb, %ub, %step, %init0, %init1          opener
 *     6    arg 0 : i32                                 induction variable (args follow the opener)
 *     7    arg 1 : tile<64xf32>                        first carried value
 *     8    arg 2 : ...
 *     9    ...
 *    12    continue %10, %11                           terminator: last of its region
 *    13  end
 *    14  res 0 of %5                                   one `res` for each result, after `end`
 *    15  res 1 of %5
 *
 *     if %c        ; then region, `yield` values, `else`, else region, `yield` values, `end`, `res`es
 *     loop %init.. ; args = carried values; leaves by `break %v..`, repeats by `continue %v..`
 *     recursion %init..; args = values of a run; `yield`; `recur %v..` inside runs the region anew (thread level)
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
 * Functions: a module holds kernels (`entry`, started by a launch) and functions (`func`, started by
 * `call`). A kernel returns nothing, takes numbers and pointers, may return anywhere, and is not called.
 * A function takes and gives values of any type, and has one `return`, at its end, with one operand for
 * each result: what leaves early yields its values through the ifs and loops around it. No function calls
 * itself, not through others either. A function whose level is TS_LEVEL_B holds what both levels have, so
 * that kernels of both may call it.
 *
 *     7  call @axpy %a, %x, %y       callee by name (attribute SYMBOL); operands = parameters
 *     8  res 0 of %7                 one for each result
 *
 * Pass `inline` puts the bodies in the place of the calls before anything else happens, so no other pass
 * and no target needs to know functions. docs/adr/0013-functions.md says why.
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
 *     make_complex         real part, imaginary part           real, imag   complex number (or tile of them)
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
 *     st_async             shared pointer, value (32 or 64 bits), barrier pointer in the same block of the cluster,
 *                          [pred]
 *     tma_load             shared pointer, barrier pointer, coordinates innermost first, [pred]; a mask of blocks of
 *                          the cluster: to the same place of each of them, whose own barrier counts the bytes
 *     tma_store, _reduce   shared pointer, coordinates innermost first, [pred]
 *     wgmma                accumulators.., a (descriptor i64, or 4 registers TS_MMA_A_REGS), b desc i64,
 *                          scale-d i1 -> accumulators (in place: the operand dies)
 *     shfl                 value (16, 32 or 64 bits), lane or distance i32
 */
#ifndef TESSERA_IR_H
#define TESSERA_IR_H

#include "tessera/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A value: the number of an instruction of its function. 0: none. */
typedef uint32_t ts_val;
/* A type: a scalar of type.def (TS_T_f32 ..), or one that ts_type_* made; equal types have equal numbers. */
typedef uint32_t ts_type;
/* A text kept by a module: a name, a format, a message. 0 is "". */
typedef uint32_t ts_str;
/* A source place kept by a module. 0: unknown. */
typedef uint32_t ts_loc;

typedef struct ts_module ts_module;   /* types, texts, data and functions of one compilation */
typedef struct ts_fn ts_fn;           /* one function of a module, which owns it */
typedef struct ts_builder ts_builder; /* appends to one function */

/* ---- operations -------------------------------------------------------------------------------- */

/* TS_OP_addf, TS_OP_load_view_tko ..: one for each row of op.def, which says number of operands and results, what they
 * must be, what the attribute word holds, and what it does: docs/reference/ir.md is made of it. */
typedef enum ts_op {
#define TS_OP(name, level, operands, results, rule, attr, flags, ptx, takes, doc) TS_OP_##name,
#include "tessera/op.def"
    TS_OP_COUNT
} ts_op;

/* The operation of this name ("addf", n = 4); TS_OP_COUNT when there is none. */
TS_API ts_op ts_op_find(const char *name, size_t n);
/* "addf"; NULL for a number that is no operation. */
TS_API const char *ts_op_name(ts_op op);

/* What a function may contain: operations of tiles, of threads, or only those that both have. */
typedef enum ts_level { TS_LEVEL_T = 1, TS_LEVEL_S = 2, TS_LEVEL_B = 3 } ts_level;

/* Flags of an instruction (ts_emit): which optional operands it has. They come last, in the order mask, padding or
 * source size, token. */
enum { TS_F_TOKEN = 1, TS_F_MASK = 2, TS_F_PAD = 4, TS_F_SRC = 8 /* cp_async has a size operand */ };
/* Greatest number of operands of one instruction. */
#define TS_MAX_OPNDS 0x3FFF

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
    TS_A_EXACT = 1 << 15,      /* addf, subf, mulf: rounded by itself, never joined with another one to an fma */
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
    TS_SREG_LANEMASK_LT,
    TS_SREG_SHARED_BYTES, /* dynamic shared memory of the launch, without the static one of the kernel */
    TS_SREG_CLUSTER_SIZE  /* blocks of a cluster */
} ts_sreg;
/* shared: a pointer into dynamic shared memory; aux is the plain byte offset (not TS_S packed). shared_alloc (ALLOCA):
 * memory of the block of its own.
 * ld, st: kind = ts_cache_use, number = elements (1, 2, 4, 8, 16); ld extra bit 0 = masked-off elements may
 * be anything (else they are the pad, or zero). */
typedef enum ts_cache_use { TS_CACHE_NONE, TS_CACHE_NC /* read-only */, TS_CACHE_L2 /* alone */, TS_CACHE_STREAM,
    TS_CACHE_VOLATILE, TS_CACHE_RELAXED, TS_CACHE_ACQUIRE, TS_CACHE_RELEASE } ts_cache_use;
/* shfl kinds; number = clamp/segment word, 31 for idx/bfly/down and 0 for up */
typedef enum ts_shfl { TS_SHFL_IDX, TS_SHFL_UP, TS_SHFL_DOWN, TS_SHFL_BFLY } ts_shfl;
/* vote: i1 -> i1 (any, all) or i32 (ballot; active: the lanes that are here; waits for none).  redux kinds: ts_rmw. */
typedef enum ts_vote { TS_VOTE_ANY, TS_VOTE_ALL, TS_VOTE_BALLOT, TS_VOTE_ACTIVE } ts_vote;
/* cluster_arrive: bit 0 = relaxed: orders no memory.  grid_sync: bit 0 = asks: only for such a launch.
 * bar_sync, bar_arrive: kind = barrier id, number = threads (bar_sync: 0 = all). An operand, the same in a warp,
 * is the id instead. */
typedef enum ts_fence { TS_FENCE_CTA, TS_FENCE_GPU, TS_FENCE_SYS, TS_FENCE_PROXY_ASYNC, TS_FENCE_MBAR_INIT } ts_fence;
/* cp_async: number = bytes (4, 8, 16).  cp_async_wait, wgmma_wait: number = pending groups allowed.
 * mbar_init: number = arrivals.  mbar_expect: arrives once and expects the bytes of its operand.
 * bulk_wait: number = pending groups, extra bit 0 = .read.
 * tma_*: kind = index in the launch plan's tensor maps, number = rank; tma_reduce extra = ts_rmw; tma_load extra =
 * mask of the first eight blocks of the cluster that get the tile, 0 = this one alone.
 * ldmatrix, stmatrix: number = matrices (1, 2, 4), extra bit 0 = transposed; registers are i32.
 * prmt: number = selector.  setmaxnreg: number = registers, extra bit 0 = increase. */

/* MMA bits: row of mma.def, N (wgmma), flags. */
typedef enum ts_mma {
#define TS_MMA(name, m, n, k, a, b, c, ra, rb, rc, sm) TS_MMA_##name,
#include "tessera/mma.def"
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
 * SYMBOL : aux = ts_str: the name of a function of the module
 * FN     : aux = what ts_math_find gives
 * CONST  : aux = 0: splat payload in opnd[0..1]; else 1 + index in the module's dense data */

/* ---- types ------------------------------------------------------------------------------------- */

/* TS_T_f32, TS_T_i64 ..: a row of type.def each. A tile of rank 0 is the scalar type itself, at both levels. Integers
 * have no sign; the operation says how they are read. */
enum {
    TS_T_none, /* no value */
#define TS_SCALAR(name, bits, class, tag) TS_T_##name,
#include "tessera/type.def"
    TS_T_token, /* orders memory operations; see TS_F_TOKEN */
    TS_T_FIRST_COMPOSITE
};
/* What ts_type_info describes. */
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
/* Where a pointer points. Shared pointers are 32 bit, others 64. */
typedef enum ts_space { TS_GLOBAL, TS_SHARED, TS_LOCAL } ts_space;
/* What a load gives outside the array; UNDEF: any value. */
typedef enum ts_padding {
    TS_PAD_UNDEF, TS_PAD_ZERO, TS_PAD_NEG_ZERO, TS_PAD_NAN, TS_PAD_POS_INF, TS_PAD_NEG_INF
} ts_padding;
/* An extent or stride that is an operand of make_tensor_view. */
#define TS_DYNAMIC INT64_MIN
/* Greatest rank of a tile or view. */
#define TS_MAX_RANK 8

/* The contents of a composite type. Unused members are zero. `dims` and friends have `rank` entries. */
typedef struct ts_type_info {
    uint8_t kind, rank, space, padding; /* ts_kind, up to TS_MAX_RANK, ts_space, ts_padding */
    uint8_t sparse_dim;            /* gather_scatter view: the axis whose indices are a tile */
    uint16_t n_params, n_results;  /* FUNC: types follow in `sub` */
    ts_type elem;                  /* tile, tensor view: element; pointer: pointee; other views: tensor view */
    const int64_t *dims;           /* tile and view-tile extents; tensor view: shape (TS_DYNAMIC = ?) */
    const int64_t *strides;        /* tensor view: strides in elements; strided view: traversal steps */
    const int32_t *dim_map;        /* partition, strided view: tile axis -> tensor axis */
    const ts_type *sub;            /* FUNC: parameters then results */
} ts_type_info;

/* The tile of `rank` extents, powers of two each; rank 0 gives `elem` itself. 0 when memory is out, as all of these. */
TS_API ts_type ts_type_tile(ts_module *module, ts_type elem, uint32_t rank, const int64_t *dims);
/* The pointer to elements of a scalar type. A tile of pointers is ts_type_tile of it. */
TS_API ts_type ts_type_ptr(ts_module *module, ts_type pointee, ts_space space);
/* Any composite type: views and functions. Arrays of *info are copied. */
TS_API ts_type ts_type_make(ts_module *module, const ts_type_info *info);
/* The same shape with another element. */
TS_API ts_type ts_type_with_elem(ts_module *module, ts_type type, ts_type elem);

/* What a type is; every number below TS_T_FIRST_COMPOSITE is a scalar, none or token. */
TS_API ts_kind ts_type_kind(const ts_module *module, ts_type type);
/* The contents of a composite type; borrowed until the module makes its next type. */
TS_API const ts_type_info *ts_type_get(const ts_module *module, ts_type type);
/* Tile: its element; others: the type itself. */
TS_API ts_type ts_type_elem(const ts_module *module, ts_type type);
/* Tile: its rank and extents (borrowed as above); others: 0 and NULL. */
TS_API uint32_t ts_type_rank(const ts_module *module, ts_type type);
TS_API const int64_t *ts_type_dims(const ts_module *module, ts_type type);
/* Number of elements; 1 for scalars and pointers. */
TS_API int64_t ts_type_count(const ts_module *module, ts_type type);
/* Bits of one element in memory. */
TS_API uint32_t ts_type_bits(const ts_module *module, ts_type type);
/* By element: a float of any format; an integer; a float that is only loaded, stored, converted and multiplied; a
 * complex number; a pointer. */
TS_API bool ts_type_is_float(const ts_module *module, ts_type type);
TS_API bool ts_type_is_int(const ts_module *module, ts_type type);
TS_API bool ts_type_is_restricted(const ts_module *module, ts_type type);
TS_API bool ts_type_is_complex(const ts_module *module, ts_type type);
TS_API bool ts_type_is_ptr(const ts_module *module, ts_type type);
/* The type of the two parts of a complex scalar: c64 f32, c128 f64; TS_T_none for others. */
TS_API ts_type ts_type_part(ts_type scalar);
/* "f32"; "?" for a type that is no scalar. */
TS_API const char *ts_scalar_name(ts_type scalar);
/* The scalar type of this name ("bf16", n = 4); 0 when there is none. */
TS_API ts_type ts_scalar_find(const char *name, size_t n);

/* ---- modules ----------------------------------------------------------------------------------- */

/* An empty module. `alloc` NULL: malloc; it must live as long as the module.
 * Owns: *out, ended by ts_module_destroy. Errors: TS_NOMEM; then *out is NULL. */
TS_API TS_CHECKED ts_status ts_module_create(const ts_alloc *alloc, ts_module **out, ts_error *err);
TS_API void ts_module_destroy(ts_module *module); /* NULL is fine */
/* Empties a module but keeps its memory, so that building the next one allocates nothing: for clients that build IR at
 * every call. Functions, types, texts and places made before are gone; builders are set up again by ts_builder_reset.
 * Errors: TS_NOMEM. */
TS_API TS_CHECKED ts_status ts_module_clear(ts_module *module, ts_error *err);

/* Reads the text form (docs/guide/ir.md); n bytes, no final NUL needed. Nothing is verified beyond syntax.
 * Owns: *out, ended by ts_module_destroy. Errors: TS_PARSE with line and column of the text, TS_NOMEM. */
TS_API TS_CHECKED ts_status ts_module_read(const char *text, size_t n, const ts_alloc *alloc, ts_module **out,
                                           ts_error *err);
/* Writes the text form; reading it gives the same instructions.
 * Owns: *out, *n bytes and a NUL; freed by alloc->resize(user, *out, *n + 1, 0). Errors: TS_NOMEM. */
TS_API TS_CHECKED ts_status ts_module_print(const ts_module *module, const ts_alloc *alloc, char **out, size_t *n,
                                            ts_error *err);
/* Checks everything: types, operands, regions, attributes. Errors: TS_VERIFY for the first broken rule, with the
 * instruction printed; TS_NOMEM, also when memory ran out while the module was built. */
TS_API TS_CHECKED ts_status ts_module_verify(const ts_module *module, ts_error *err);
TS_API TS_CHECKED ts_status ts_fn_verify(const ts_fn *fn, ts_error *err); /* the same for one function */

/* The number of a text in the module; equal texts, equal numbers. For attributes of kind STR: messages of assert,
 * formats of print. */
TS_API ts_str ts_intern(ts_module *module, const char *text, size_t n);
/* Its text, borrowed for the module's life; "" for a number that is none. */
TS_API const char *ts_str_get(const ts_module *module, ts_str string);

/* A source place, with the chain of calls that led there. Lines count from 1, columns from 0. Faults, asserts and
 * reports name it. */
typedef struct ts_loc_info {
    ts_str file;
    uint32_t line, col, end_line, end_col;
    ts_str function;
    ts_loc caller; /* where the helper was called from; 0: not in a helper */
} ts_loc_info;
/* The number of a place; 0 when memory is out. Give it to ts_builder_at. */
TS_API ts_loc ts_loc_add(ts_module *module, const ts_loc_info *info);

/* ---- functions --------------------------------------------------------------------------------- */

/* An empty kernel in the module, borrowed from it; the name is copied and becomes the symbol of the code (at most 127
 * characters). NULL when memory is out, which ts_builder_create takes and reports. */
TS_API ts_fn *ts_fn_create(ts_module *module, const char *name, ts_level level);
/* Makes a function, for ts_call, of what ts_fn_create gave: it returns values of these types, n may be 0. Before it is
 * called; its body and its TS_OP_return may come before or after. */
TS_API void ts_fn_set_results(ts_fn *fn, uint32_t n, const ts_type *types);
/* Promises that a kernel of threads is launched with blocks of at most 32 * warps threads (1 to 32 warps), so that
 * each may use more registers; a launch with more is refused. */
TS_API void ts_fn_set_warps(ts_fn *fn, uint32_t warps);
/* The type of a value of the function. */
TS_API ts_type ts_val_type(const ts_fn *fn, ts_val v);

/* ---- building ---------------------------------------------------------------------------------- */

/* A builder that appends to `fn`. Owns: *out, ended by ts_builder_destroy; its memory is the module's allocator's.
 * Errors: TS_NOMEM, also for fn NULL. */
TS_API TS_CHECKED ts_status ts_builder_create(ts_fn *fn, ts_builder **out, ts_error *err);
TS_API void ts_builder_destroy(ts_builder *b); /* NULL is fine */
/* The same builder for another function, of any module; it forgets everything before. */
TS_API void ts_builder_reset(ts_builder *b, ts_fn *fn);
/* Whether everything could be built. Errors: TS_NOMEM; TS_TILEVALUE for an operation of more than TS_MAX_OPNDS
 * values. */
TS_API TS_CHECKED ts_status ts_builder_status(const ts_builder *b, ts_error *err);
/* The place of every instruction from now on; 0 = unknown. */
TS_API void ts_builder_at(ts_builder *b, ts_loc loc);
/* With `fold` on, constants are folded as they are built and a pure instruction equal to one in scope is used again.
 * Off at first; the compiler does both anyway. Set it before the first instruction. */
TS_API void ts_builder_fold(ts_builder *b, bool fold);

/* Any instruction: `type` of its one result (TS_T_none: it has none), n operands in the order that the table above
 * says, attribute word, TS_F_ flags. Returns the value. The functions below are shorter ways to the usual ones. */
TS_API ts_val ts_emit(ts_builder *b, ts_op op, ts_type type, uint32_t n, const ts_val *opnds, uint32_t aux,
                      uint32_t flags);
/* Keeps words for an attribute that is longer than one (INTS, REDUCE, ASSUME, ALLOCA); returns what `aux` is to be. */
TS_API uint32_t ts_pool_add(ts_builder *b, uint32_t n, const uint32_t *words);
/* An instruction of several results without a region (ld, mma_sync, wgmma, ldmatrix, unpack2): it and its `res`es.
 * Result i is the returned value + 1 + i. */
TS_API ts_val ts_emit_multi(ts_builder *b, ts_op op, uint32_t n, const ts_val *opnds, uint32_t aux, uint32_t flags,
                            uint32_t n_results, const ts_type *types);

/* Calls a function of the same module with one argument for each of its parameters. Result i is the returned value +
 * 1 + i. */
TS_API ts_val ts_call(ts_builder *b, const ts_fn *callee, const ts_val *args);

/* Elementwise operations of one, two and three operands, at any shape that all of them share; the result's type follows
 * from the operation's row. `attr`: TS_A_ bits, 0 for the usual meaning. */
TS_API ts_val ts_op1(ts_builder *b, ts_op op, ts_val x, uint32_t attr);
TS_API ts_val ts_op2(ts_builder *b, ts_op op, ts_val x, ts_val y, uint32_t attr);
TS_API ts_val ts_op3(ts_builder *b, ts_op op, ts_val x, ts_val y, ts_val z, uint32_t attr);
/* Conversions (ftof, itof, ftoi, exti, trunci, bitcast ..): the same shape with element `elem`. */
TS_API ts_val ts_cast(ts_builder *b, ts_op op, ts_val x, ts_type elem, uint32_t attr);
/* A math function that is no operation of its own, by its name (docs/reference/math.md): its number, or UINT32_MAX. */
TS_API uint32_t ts_math_find(const char *name, size_t n);
/* That function of x, and of y where it takes two (else 0). */
TS_API ts_val ts_math_call(ts_builder *b, uint32_t fn, ts_val x, ts_val y);
/* cmpf or cmpi: i1 of the operands' shape. */
TS_API ts_val ts_cmp(ts_builder *b, ts_op op, ts_pred pred, ts_val x, ts_val y, uint32_t attr);
/* x where c is set, else y; c is i1 of their shape. */
TS_API ts_val ts_select(ts_builder *b, ts_val c, ts_val x, ts_val y);

/* Constants; a tile type gives the same value everywhere. Integers wrap to the type, floats round to it; ts_bits takes
 * the element's bits in memory. */
TS_API ts_val ts_int(ts_builder *b, ts_type type, int64_t value);
TS_API ts_val ts_float(ts_builder *b, ts_type type, double value);
TS_API ts_val ts_bits(ts_builder *b, ts_type type, uint64_t payload);
/* A tile with a value for each element: row-major, little endian, i1 one byte each, 4-bit types two per byte. */
TS_API ts_val ts_dense_const(ts_builder *b, ts_type type, const void *bytes, size_t n_bytes);

/* The next parameter; all of them come before any other instruction. */
TS_API ts_val ts_fn_param(ts_builder *b, ts_type type);
/* The parameters of one array argument of a launch: pointer to `elem`, then `rank` extents, then `rank` strides in
 * elements, each of the integer type `index` (TS_T_i32; TS_T_i64 for arrays of 2^31 elements and more).
 * out: 1 + 2 rank values, in this order. */
TS_API void ts_fn_param_array(ts_builder *b, ts_type elem, uint32_t rank, ts_type index, ts_val *out);

/* A scalar, or a tile of equal rank whose extents are 1 or those of `type`, spread over `type`; x itself if equal. */
TS_API ts_val ts_broadcast(ts_builder *b, ts_val x, ts_type type);
/* The same elements in row-major order, another shape. */
TS_API ts_val ts_reshape(ts_builder *b, ts_val x, ts_type type);
/* Axis i of the result is axis axes[i] of x. */
TS_API ts_val ts_permute(ts_builder *b, ts_val x, const uint32_t *axes);

/* ---- memory of tiles --------------------------------------------------------------------------- */

/* Number of this block along axis 0, 1 or 2 of the grid, and of all blocks there: i32. At both levels. */
TS_API ts_val ts_block_id(ts_builder *b, uint32_t axis);
TS_API ts_val ts_num_blocks(ts_builder *b, uint32_t axis);
/* An array in memory: `base` points to element 0; extents and strides in elements, TS_DYNAMIC for those that `dynamic`
 * gives, extents first (n_dynamic values of i32 or i64). */
TS_API ts_val ts_tensor_view(ts_builder *b, ts_val base, uint32_t rank, const int64_t *dims, const int64_t *strides,
                             uint32_t n_dynamic, const ts_val *dynamic);
/* The array cut into tiles of `tile` extents (rank of the array, powers of two); `padding` is what loads give
 * outside. */
TS_API ts_val ts_partition_view(ts_builder *b, ts_val tensor_view, const int64_t *tile, ts_padding padding);
/* The tile of a view at `index` (one i32 or i64 per axis of the view, all of one type; a partition view counts tiles).
 * `mem`: TS_M_ bits, 0 for the usual meaning. A store leaves out what lies outside the array. */
TS_API ts_val ts_load_view(ts_builder *b, ts_val view, const ts_val *index, uint32_t mem);
TS_API void ts_store_view(ts_builder *b, ts_val view, ts_val tile, const ts_val *index, uint32_t mem);

/* ---- threads ----------------------------------------------------------------------------------- */

/* What follows belongs in functions of level TS_LEVEL_S. Each thread of a block of up to 1024 threads runs the
 * function; ts_launch_config (launch.h) says how many there are, along x, y and z, counted x fastest; 32 neighbours
 * are a warp. */

/* Number of this thread along axis 0, 1 or 2 of its block, and of all threads there; its number in its warp (0 to 31),
 * and that of its warp in the block: i32. */
TS_API ts_val ts_thread_id(ts_builder *b, uint32_t axis);
TS_API ts_val ts_num_threads(ts_builder *b, uint32_t axis);
TS_API ts_val ts_lane_id(ts_builder *b);
TS_API ts_val ts_warp_id(ts_builder *b);

/* Memory that the threads of a block share: `count` elements, aligned to `align` bytes (a power of two up to 1024; 0:
 * to one element). It holds anything at first. Each call is memory of its own; that of a function which is called
 * twice may be one or two. A pointer to element 0. */
TS_API ts_val ts_shared_array(ts_builder *b, ts_type elem, uint32_t count, uint32_t align);
/* A pointer `offset` bytes into the dynamic shared memory of the launch (ts_launch_config.shared_bytes), which begins
 * at a multiple of 16 bytes. */
TS_API ts_val ts_shared_dynamic(ts_builder *b, ts_type elem, uint32_t offset);
/* How many bytes of dynamic shared memory the launch has: i32. */
TS_API ts_val ts_shared_dynamic_bytes(ts_builder *b);
/* `count` elements for each thread alone. */
TS_API ts_val ts_local_array(ts_builder *b, ts_type elem, uint32_t count);

/* The pointer `index` elements further (an integer of any width, signed). */
TS_API ts_val ts_element(ts_builder *b, ts_val pointer, ts_val index);
/* The number that a pointer points to; where `cond` (i1) is not set, memory is not touched and `other` is given.
 * `cache`: ts_cache_use, 0 for the usual access. */
TS_API ts_val ts_load(ts_builder *b, ts_val pointer, uint32_t cache);
TS_API ts_val ts_load_if(ts_builder *b, ts_val pointer, ts_val cond, ts_val other, uint32_t cache);
TS_API void ts_store(ts_builder *b, ts_val pointer, ts_val value, uint32_t cache);
TS_API void ts_store_if(ts_builder *b, ts_val pointer, ts_val value, ts_val cond, uint32_t cache);

/* Changes global or shared memory in one step and gives what was there. TS_RMW_ADDF: f16, bf16, f32, f64. The others:
 * i32 and i64; TS_RMW_XCHG f32 and f64, too. `mem`: TS_M_ORDER and TS_M_SCOPE, 0 = relaxed, among the threads of the
 * GPU. */
TS_API ts_val ts_atomic(ts_builder *b, ts_rmw mode, ts_val pointer, ts_val value, uint32_t mem);
/* Writes `value` where `compare` was found; any number of 8 to 64 bits. */
TS_API ts_val ts_atomic_cas(ts_builder *b, ts_val pointer, ts_val compare, ts_val value, uint32_t mem);

/* Waits for all threads of the block; what they wrote before is seen by all of them behind it. All or none of them run
 * it. */
TS_API void ts_barrier(ts_builder *b);
/* The same for the threads of a warp. */
TS_API void ts_warp_sync(ts_builder *b);
/* What this thread wrote before is seen by the others of the block, GPU or system before what it writes behind. */
TS_API void ts_memory_fence(ts_builder *b, ts_fence scope);
/* The value (a number of 16, 32 or 64 bits) of another lane of the warp: number `lane` (TS_SHFL_IDX), `lane` below or
 * above (UP, DOWN), or number own ^ lane (BFLY); one's own where that lies outside of the warp. All lanes run it. */
TS_API ts_val ts_warp_shuffle(ts_builder *b, ts_shfl kind, ts_val value, ts_val lane);
/* Whether `cond` is set in any lane, in all lanes (i1); or bit i for lane i (TS_VOTE_BALLOT: i32). All lanes run it. */
TS_API ts_val ts_warp_vote(ts_builder *b, ts_vote kind, ts_val cond);

/* ---- regions ----------------------------------------------------------------------------------- */

/* A begin makes the opener and its args (ts_region_arg gives them) and returns the opener; instructions made then lie
 * inside; ts_term ends the region; ts_end closes it and makes the results (ts_res gives them). */
TS_API ts_val ts_if_begin(ts_builder *b, ts_val cond); /* cond: i1 scalar */
TS_API void ts_else(ts_builder *b);
/* yield; else yield; end: of an `if` without `else` and results. */
TS_API void ts_if_end(ts_builder *b, ts_val opener);
/* Counts from lower, by step > 0, below upper: scalars of one integer type, signed unless attr has TS_A_UNSIGNED. n
 * carried values begin as `inits`. Args: the counter, then the carried ones; the body ends in `continue` with the
 * next. */
TS_API ts_val ts_for_begin(ts_builder *b, ts_val lower, ts_val upper, ts_val step, uint32_t n,
                           const ts_val *inits, uint32_t attr);
/* Repeats until `break`, with n carried values as args. */
TS_API ts_val ts_loop_begin(ts_builder *b, uint32_t n, const ts_val *inits);
/* At thread level: a region that runs once, with n values as args, and again, inside of itself, for each TS_OP_recur in
 * it, up to `depth` runs inside each other (1 to TS_RECURSION_MOST). It ends in `yield` with the results. */
#define TS_RECURSION_MOST 4096
TS_API ts_val ts_recursion_begin(ts_builder *b, uint32_t depth, uint32_t n, const ts_val *inits);
/* The seldom path of an elementwise computation (see above); emit its n values (at most 7), then yield, ts_end_like. */
TS_API ts_val ts_cold_begin(ts_builder *b, ts_val cond, uint32_t n, const ts_val *values);
/* TS_OP_reduce or TS_OP_scan along `axis` of n tiles of one shape. Args 2 i and 2 i + 1 are an element and the
 * accumulator of input i, scalars; the body yields n new accumulators and must be associative. `identities`: n payloads
 * of the element types, neutral in the body: a target may combine them any number of times or never. Neutral is -0 for
 * addf, and NaN for a maxf that ignores NaN. */
TS_API ts_val ts_reduce_begin(ts_builder *b, ts_op op, uint32_t axis, bool reverse, uint32_t n,
                              const ts_val *inputs, const uint64_t *identities);
/* TS_OP_yield, continue, break, return: the last instruction of a region, or of the function (return). */
TS_API void ts_term(ts_builder *b, ts_op op, uint32_t n, const ts_val *values);
/* Closes the region of `opener`; n results of the given types. */
TS_API void ts_end(ts_builder *b, ts_val opener, uint32_t n, const ts_type *types);
/* The same with types that follow from inits or inputs (for, loop, cold, reduce, scan). */
TS_API void ts_end_like(ts_builder *b, ts_val opener);
/* Argument i of the region of `opener`; result i of it, right after ts_end. 0 when there is none. */
TS_API ts_val ts_region_arg(const ts_fn *fn, ts_val opener, uint32_t i);
TS_API ts_val ts_res(ts_builder *b, ts_val opener, uint32_t i);

#ifdef __cplusplus
}
#endif
#endif
