/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the PTX emitter: the state of one emission and what its files share.
 *
 *     emit.c        text out, header and entry, control flow; read it first
 *     emit_reg.c    which values need a register, which of them share one, parallel moves
 *     emit_alu.c    arithmetic, comparison, selection        emit_cvt.c   conversions
 *     emit_mem.c    loads, stores, addresses, asynchronous copies      emit_atom.c  atomics
 *     emit_warp.c   shuffles, barriers, tensor cores
 *     emit_asm.c    PTX of the user's      emit_lines.c  lines of the source
 *     emit.def      one row per operation: handler, immediates, least architecture and PTX version
 */
#ifndef TS_TARGET_PTX_EMIT_H
#define TS_TARGET_PTX_EMIT_H

#include "table/sm.h"
#include "target/ptx/ptx.h"

/* A virtual register: class in the top four bits, number below. 0 is no register. */
typedef uint32_t ts_reg;
typedef enum ts_reg_class {
    TS_RC_NONE, TS_RC_P, TS_RC_H, TS_RC_R, TS_RC_RD, TS_RC_F, TS_RC_D, TS_RC_COUNT
} ts_reg_class;
#define TS_REG(class, number) ((ts_reg)(class) << 28 | (number))
#define TS_REG_CLASS(reg) ((ts_reg_class)((reg) >> 28))
#define TS_REG_NUMBER(reg) ((reg) & 0xFFFFFFFu)

/* How a class is spelled: its registers, their type in declarations and moves, and that of operations on bits. */
typedef struct ts_reg_names {
    const char *prefix, *type, *bits;
} ts_reg_names;
extern const ts_reg_names ts__ptx_class_names[TS_RC_COUNT];

/* How a scalar type is spelled: register class; type of bit moves, signed and unsigned integer and
 * float instructions (NULL: no such form); bits in memory. */
typedef struct ts_ptx_type {
    uint8_t class, bits;
    const char *b, *s, *u, *f;
} ts_ptx_type;

typedef struct ts_ptx {
    const ts_fn *fn;
    const ts_plan *plan;
    const ts_sm *sm;
    ts_arena arena;    /* everything of one emission */
    ts_text text;      /* body, without the register declarations that precede it */
    ts_text globals;   /* module-level lines found while emitting: strings, local arrays aside */
    ts_text locals;    /* .local arrays */
    ts_error *err;
    ts_status status;  /* first failure; emission goes on harmlessly */
    ts_shape shape;
    uint32_t *opener;  /* `end` -> its opener */
    uint32_t *alias;   /* value -> the value whose register it is (assume, pointer casts) */
    uint8_t *need;     /* value must be emitted (and has a register if it has a class) */
    ts_reg *reg;       /* register of each needed value */
    uint32_t n_reg[TS_RC_COUNT];
    uint32_t version;  /* lowest .version so far, as 10 * major + minor */
    uint32_t n_labels, n_strings;
    ts_reg tmap[TS_PLAN_TMAPS]; /* address of each tensor map, 0 = not used */
    ts_reg tables;     /* address of the tables of lists among the parameters, 0 = not used */
    ts_reg guard;      /* of the instruction at hand when its predicate is constant and false */
    TS_VEC(ts_str) files; /* of the source, where lines are asked for */
    ts_loc_info line;     /* the last one written */
    bool uses_shared, uses_printf, uses_setmaxnreg;
} ts_ptx;

/* Writes a .loc line where instruction v is of another line of the source than what is above; the .file lines of all
 * files; debugging information. */
void ts__ptx_line(ts_ptx *e, ts_val v);
void ts__ptx_files(ts_ptx *e, ts_text *out);
void ts__ptx_dwarf(ts_ptx *e, ts_text *out);

/* A handler emits instruction `v`. */
typedef void ts_ptx_handler(ts_ptx *e, ts_val v, const ts_inst *inst);
typedef struct ts_ptx_row {
    ts_ptx_handler *emit;
    uint32_t imm;         /* bit i: operand i (29: and all later ones) may be an immediate */
    uint32_t address;     /* bit i: operand i is an address, offsets fold into it */
    uint16_t sm, version; /* least architecture and PTX version */
} ts_ptx_row;
extern const ts_ptx_row ts__ptx_rows[TS_OP_COUNT];

enum { /* sets of operands that may be immediates, see emit.def */
    TS_IMM_HALF = 1 << 30, /* types of 16 bits and predicates too */
    TS_IMM_ALL = 0x3FFFFFFF,
    TS_IMM_BITS = TS_IMM_ALL | TS_IMM_HALF,
    TS_IMM_SEL = 6 | TS_IMM_HALF,
    TS_IMM_PAD = TS_IMM_BITS,
    TS_IMM_TMA = 0
};

/* ---- text: emit.c --------------------------------------------------------------------------------
 * Writes `format`, with
 *     $v  a value: its register or the constant itself       (ts_val)
 *     $r  a register                                         (ts_reg)
 *     $a  an address: [register+offset]                      (ts_val)
 *     $s  a string                                           (const char *)
 *     $i  an int        $x  a hexadecimal word (uint32_t)    $L  a label (uint32_t)
 *     $g  a guard: "@%p1 " or nothing for value 0            (ts_val)
 * A line is whole before the next begins: what an operand needs first (ts__ptx_in_reg) is written before it. */
void ts__ptx_put(ts_ptx *e, const char *format, ...);
#define PUT(...) ts__ptx_put(e, __VA_ARGS__)
void ts__ptx_fail(ts_ptx *e, ts_status status, const char *format, ...) TS_PRINTF(3, 4);
/* States that the text needs this PTX version, or this architecture too. */
void ts__ptx_need(ts_ptx *e, uint32_t version);
bool ts__ptx_need_sm(ts_ptx *e, uint32_t sm, const char *what);
/* How C passes a number of the type (emit_call.c): 32 bits or 64. A parameter, and the result, of a function. */
const char *ts__ptx_param_type(const ts_ptx *e, ts_type type);
void ts__ptx_take_param(ts_ptx *e, ts_val v);
void ts__ptx_put_result(ts_ptx *e, ts_val v); /* 0: nothing */

ts_reg ts__ptx_temp(ts_ptx *e, ts_reg_class class);
/* {%r1, %r2} */
void ts__ptx_list(ts_ptx *e, const ts_reg *regs, uint32_t n);
/* A string of the module in global memory; gives its number (symbol "tsN"). */
uint32_t ts__ptx_string(ts_ptx *e, const char *bytes, size_t n);

/* ---- values: emit_reg.c ---------------------------------------------------------------------------- */

const ts_ptx_type *ts__ptx_type(const ts_ptx *e, ts_type type);
ts_reg_class ts__ptx_class(const ts_ptx *e, ts_type type);
static inline ts_val ts__ptx_root(const ts_ptx *e, ts_val v)
{
    return e->alias[v];
}
static inline ts_val ts__ptx_opnd(const ts_ptx *e, ts_val v, uint32_t i)
{
    return e->alias[ts_opnd(e->fn, v, i)];
}
static inline ts_type ts__ptx_type_of(const ts_ptx *e, ts_val v)
{
    return e->fn->inst.at[v].type;
}
/* Constant of any scalar type as bits of its width. False when `v` is none. */
bool ts__ptx_const(const ts_ptx *e, ts_val v, uint64_t *bits);
/* A register that holds `v` for certain: a constant without one is moved to a temporary. */
ts_reg ts__ptx_in_reg(ts_ptx *e, ts_val v);
/* Base value and byte offset of an address after looking through additions of constants. */
ts_val ts__ptx_base(const ts_ptx *e, ts_val pointer, int64_t *offset);
/* x where `v` is ~x, that is x ^ -1, in 32 bits; otherwise 0. */
ts_val ts__ptx_not(const ts_ptx *e, ts_val v);
/* What `user` reads for operand i. It is x itself where the operand is ~x (see ts__emit_logic) or -x (see
 * ts__emit_signedi) and `user` writes the NOT or the negation; then it is not the operand. */
ts_val ts__ptx_read(const ts_ptx *e, ts_val user, uint32_t i);
/* ".global", ".shared" (".shared::cluster" behind a mapa), ".local" */
const char *ts__ptx_space(const ts_ptx *e, ts_val pointer);
/* Fills alias, need, reg. */
bool ts__ptx_assign(ts_ptx *e);
/* dst[i] := src[i] for all i at once; sources may be immediates or registers. */
void ts__ptx_moves(ts_ptx *e, uint32_t n, const ts_val *dst, const ts_val *src);
void ts__ptx_move(ts_ptx *e, ts_reg dst, ts_val src);
/* Result i of a multi-result instruction. */
static inline ts_val ts__ptx_res(const ts_ptx *e, ts_val opener, uint32_t i)
{
    uint32_t at = ts_info(ts_at(e->fn, opener))->flags & TS_REGION ? e->shape.end[opener] : opener;
    return at + 1 + i;
}
uint32_t ts__ptx_n_res(const ts_ptx *e, ts_val opener);

/* ---- floats: emit_alu.c ------------------------------------------------------------------------------ */

/* ".rn" and so on by ts_round, for instructions that round at all: approximations round to nearest. */
extern const char *const ts__ptx_round[];
/* An f16 or bf16 as f32, which is exact. */
ts_reg ts__ptx_widen(ts_ptx *e, ts_val v, ts_type type);

#define TS_PTX(op, handler, imm, address, sm, version) ts_ptx_handler ts__emit_##handler;
#include "target/ptx/emit.def"

#endif
