/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of the IR: the structures behind the handles of tessera/ir.h, which tells what a function is, what its
 * operations take and how it is built; read that first. Here: what an instruction looks like in memory, and what
 * passes and targets ask of it.
 *
 * A function is one flat array of 24-byte instructions in program order. A value is the index of its instruction;
 * index 0 is the `none` instruction. No instruction holds a pointer: a copy is memcpy, a key is the bytes.
 */
#ifndef TS_IR_IR_H
#define TS_IR_IR_H

#include "base/base.h"
#include "tessera/ir.h"

/* ---- operations -------------------------------------------------------------------------------- */

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
    TS_WRITTEN = 512,
    TS_MOVES = 1024
};
enum { TS_N = -1 }; /* any number of operands or results */
typedef enum ts_attr_kind {
    TS_ATTR_NONE,
    TS_ATTR_ARITH,
    TS_ATTR_AXIS,
    TS_ATTR_MEM,
    TS_ATTR_CONST,
    TS_ATTR_INTS,
    TS_ATTR_STR,
    TS_ATTR_SYMBOL,
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
    const char *ptx; /* NULL: a GPU does not have it natively */
} ts_op_info;
extern const ts_op_info ts__ops[TS_OP_COUNT];

/* The math functions that are rows of table/math.def and no operations: `fn` holds one in its attribute. */
typedef enum ts_math_fn {
#define TS_MATH(name, ...) TS_MATH_##name,
#include "table/math.def"
    TS_MATH_COUNT
} ts_math_fn;
/* What a function takes and gives, shapes being equal: X float -> float, XX two floats -> float, XN float and
 * integer -> float, XB float -> i1, XI float -> i32. */
typedef enum ts_math_kind { TS_MATH_X, TS_MATH_XX, TS_MATH_XN, TS_MATH_XB, TS_MATH_XI } ts_math_kind;
typedef struct ts_math_info {
    const char *name;
    uint8_t kind, n_opnd;
    bool own; /* computed in the type itself; else f16 and bf16 in f32 */
} ts_math_info;
extern const ts_math_info ts__math_fns[TS_MATH_COUNT];
/* Element type of the result of a function of elements of type `elem`. */
ts_type ts__math_result(uint32_t fn, ts_type elem);

/* One instruction. Up to three operands are inline; more: opnd[0] is the pool index of all of them.
 * A splat `constant` keeps its 64-bit payload in opnd[0] (low) and opnd[1] (high). */
typedef struct ts_inst {
    uint32_t op : 10, n_opnd : 14, flags : 8; /* flags: TS_F_* */
    ts_type type;                             /* 0: no result (void) or `res` results */
    uint32_t opnd[3];
    uint32_t aux; /* attribute word or pool index, as the op's attr column says */
} ts_inst;
_Static_assert(sizeof(ts_inst) == 24, "instructions are 24 bytes");

/* ---- types ------------------------------------------------------------------------------------- */

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

enum { TS_FN_LISTS = 8 };

struct ts_fn {
    ts_module *module;
    ts_str name;
    bool entry; /* a kernel; else a function, for `call` */
    uint8_t level; /* ts_level: what it may contain */
    TS_VEC(ts_inst) inst;  /* inst.at[0] is `none`; `param`s come first, in order */
    TS_VEC(ts_loc) loc;    /* parallel to inst */
    TS_VEC(uint32_t) pool; /* long operand lists and attributes */
    /* For messages: where each instruction's line begins in the module's text; empty where it was built or changed. */
    TS_VEC(uint32_t) text_at;
    uint32_t n_params;
    uint32_t n_results;
    const ts_type *result; /* types of what it returns; none for a kernel. In the module's arena */
    /* hints of the kernel, 0 = not given */
    uint8_t num_ctas, occupancy, num_warps, opt_level, max_registers, carveout, lines;
    uint8_t result_dtype; /* ts_dtype of what a function for other code gives; 0: nothing, or it is none */
    bool checked; /* report out-of-bounds gathers and scatters */
    bool overlap; /* the memory of different parameters may be the same */
    uint8_t n_lists, list[TS_FN_LISTS]; /* parameters that are tables of lists, where the hint `tables` is given */
    uint32_t line; /* of the text it was read from; 0: it was built. For messages */
};

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
    ts_arena *arena; /* borrowed; of a module of ts_module_create or ts_module_read its own */
    ts_str name;
    const char *text; /* that it was read from, for messages; NULL: it was built */
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
    ts_arena_mark start; /* of the arena, before the module */
};

/* NULL when memory is out. Owns: nothing; the arena does. */
ts_module *ts__module_create(ts_arena *arena);
/* The function of that name, or NULL. */
ts_fn *ts__fn_find(const ts_module *module, ts_str name);
/* A fresh, empty function with name, level and hints of `like`, not yet in module->fns: what a pass
 * builds into. ts__fn_replace then puts it in the place of `old`. */
ts_fn *ts__fn_create_like(const ts_fn *like);
void ts__fn_replace(ts_fn *old, ts_fn *with);
bool ts__module_failed(const ts_module *module); /* memory ran out somewhere in the arena */

/* The place of an instruction; all zero when it is unknown. Never NULL. */
const ts_loc_info *ts__loc_of(const ts_fn *fn, ts_val v);

static inline bool ts_type_is_scalar(ts_type t)
{
    return t > TS_T_none && t < TS_T_token;
}

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
/* Reads a clock: each time another number, though nothing but time changed. */
static inline bool ts__is_clock(const ts_inst *inst)
{
    return inst->op == TS_OP_sreg && TS_S_KIND(inst->aux) == TS_SREG_CLOCK64;
}
static inline const uint32_t *ts_pool(const ts_fn *fn, const ts_inst *inst) /* INTS, REDUCE, ... */
{
    return fn->pool.at + inst->aux;
}
/* Of memory that nobody writes while the kernel runs, whatever a condition says. */
static inline bool ts__is_readonly_load(const ts_inst *inst)
{
    return inst->op == TS_OP_ld && TS_S_KIND(inst->aux) == TS_CACHE_NC && inst->n_opnd == 1;
}
/* Operand roles of memory operations: TS_NO when absent. */
#define TS_NO UINT32_MAX
uint32_t ts__opnd_mask(const ts_inst *inst);  /* operand position of the mask / predicate */
uint32_t ts__opnd_pad(const ts_inst *inst);
uint32_t ts__opnd_token(const ts_inst *inst);
/* Payload of a splat constant. False for dense ones and other ops. Integers come sign-extended,
 * narrow floats as their bit pattern, i1 as 0 or 1. */
bool ts__const_bits(const ts_fn *fn, ts_val v, uint64_t *bits);
bool ts__const_as_int(const ts_fn *fn, ts_val v, int64_t *value);     /* integer element types */
bool ts__const_as_float(const ts_fn *fn, ts_val v, double *value);    /* f16 bf16 f32 tf32 f64 */

/* Structure of a function, computed once per pass: for every opener the index of its `else` and
 * `end`, for every instruction its innermost opener (0 = body). In the given arena. */
typedef struct ts_shape {
    uint32_t *end;    /* opener or else -> its end */
    uint32_t *other;  /* if -> its else */
    uint32_t *parent; /* instruction -> innermost opener containing it; an opener's is the outer one */
    uint32_t *uses;   /* number of operand uses of each value */
} ts_shape;
bool ts__shape_of(const ts_fn *fn, ts_arena *scratch, ts_shape *shape);
bool ts__is_loop(uint32_t op);
bool ts__has_op(const ts_fn *fn, ts_op op);
/* What a run too deep is reported as, with its depth. */
#define TS_RECURSION_TEXT "RecursionError: more than %u calls of a function inside each other"
/* The recursion that the recur `v` runs anew; 0: there is none around it. `parent` as in ts_shape. */
ts_val ts__recursion_of(const ts_fn *fn, const uint32_t *parent, ts_val v);
/* How many results follow the instruction: those of a region follow its `end`. */
uint32_t ts__n_res(const ts_fn *fn, ts_val v);
/* The opener that a terminator's operands go to: its own for yield, its loop for a jump; 0 for return. */
ts_val ts__term_target(const ts_fn *fn, const ts_shape *shape, ts_val term);

/* ---- building ------------------------------------------------------------------------------------ */

/* Appends to one function, of a module whose arena is `fn->module->arena`. Failure (memory) is sticky. */
struct ts_builder {
    ts_fn *fn;
    ts_loc loc;
    bool fold;
    bool too_many; /* an operation was given more than TS_MAX_OPNDS operands */
    struct ts_numbering *numbering; /* private */
    const ts_alloc *alloc; /* of the builder itself, when ts_builder_create made it */
};

void ts__builder_init(ts_builder *b, ts_fn *fn);

/* Copies instruction `v` of `from` into the builder's function (same module) with operands mapped
 * through `map` (indexed by value, grows as results appear: map[v] is set). Openers, else, end, arg,
 * res and terminators copy like any other: walking 1..n of a function and copying each gives an
 * equal function. Attributes and pool data are copied. Returns the new value. */
ts_val ts__copy(ts_builder *b, const ts_fn *from, ts_val v, ts_val *map);

/* ---- text: print.c read.c module.c ------------------------------------------------------------------ */

void ts__module_print(const ts_module *module, ts_text *out); /* the form is told in print.c */
void ts__fn_print(const ts_fn *fn, ts_text *out);
/* The axis of `from` that becomes `axis` of `to` by a reshape that drops or adds extents of 1; TS_NO: by another. */
uint32_t ts__type_axis_before(const ts_module *module, ts_type to, ts_type from, uint32_t axis);
void ts__type_print(const ts_module *module, ts_type type, ts_text *out);
/* As ts_module_read, into an arena of the caller, who must not destroy the module. */
TS_CHECKED ts_status ts__module_read(ts_arena *arena, const char *text, size_t n, ts_module **out, ts_error *err);
/* Reads more functions and globals into a module. Errors: as ts_module_read; the module may have some of them then. */
TS_CHECKED ts_status ts__module_add(ts_module *module, const char *text, size_t n, ts_error *err);
/* Hands a text over to a caller who frees it by alloc->resize(user, *out, *n + 1, 0). Errors: TS_NOMEM. */
TS_CHECKED ts_status ts__text_take(ts_text *text, char **out, size_t *n, ts_error *err);
/* Appends the contents of a module, byte for byte: equal bytes mean the same code, built by the same calls. For keys
 * within one build of the library; source places are left out unless some instruction has one. */
void ts__module_key(const ts_module *module, ts_text *key);

#endif
