/* SPDX-License-Identifier: Apache-2.0
 *
 * Tile IR modules as their files have them: the structure between bytes and everything else.
 *
 * A file is a head (magic, version), then sections, each an id, a length, perhaps an alignment, and its contents:
 *
 *     String 1    count, offsets (u32), bytes          Type 5       count, offsets (u32), encoded types
 *     Func 2      count, functions                     Global 6     count, globals
 *     Debug 3     places of the operations             Producer 7   a string
 *     Constant 4  count, offsets (u64), each a length and elements as in memory
 *
 * Numbers are varints, 7 bits a byte, low ones first. Operations refer to values by number: parameters, then results in
 * order; numbers given inside a region are free again behind it. Here each value of a function has a number of its own.
 * What an operation looks like: tileir.def.
 */
#ifndef TS_TILEIR_TILEIR_H
#define TS_TILEIR_TILEIR_H

#include "base/base.h"
#include "tessera/tileir.h"

enum { TILEIR_DEPTH = 100 /* of nested regions, and of nested attributes */, TILEIR_MANY = 255 };

typedef enum tileir_code {
#define TILEIR_OP(name, opcode, since, recipe) TILEIR_##name,
#include "tileir/tileir.def"
    TILEIR_CODES
} tileir_code;

typedef struct tileir_row {
    const char *name, *recipe;
    uint16_t opcode, since;
} tileir_row;
extern const tileir_row ts__tileir_rows[TILEIR_CODES];
/* The row of an opcode; NULL: there is none. */
const tileir_row *ts__tileir_row(uint64_t opcode);

/* Kinds of attributes. The first twelve are the tags of attributes that say what they are. */
#define TILEIR_KINDS(X)                                                                                               \
    X(int, 1) X(float, 2) X(bool, 3) X(type, 4) X(str, 5) X(array, 6) X(dense, 7) X(div_by, 8) X(same, 9) X(dict, 10) \
    X(hints, 11) X(bounded, 12)                                                                                       \
    X(assume, 13)  /* one of div_by, same, bounded, with its tag */                                                   \
    X(words, 14)   /* a list of i32 */                                                                                \
    X(bools, 15)   /* a list of bytes 0 and 1 */                                                                      \
    X(round, 16) X(sign, 17) X(overflow, 18) X(order, 19) X(scope, 20) X(pred, 21) X(ordering, 22) X(rmw, 23)
typedef enum tileir_kind {
    TILEIR_ABSENT,
#define X(name, number) TILEIR_KIND_##name = number,
    TILEIR_KINDS(X)
#undef X
    TILEIR_KIND_COUNT
} tileir_kind;
/* The sections of a file; the head of this file draws them. */
typedef enum tileir_section {
    TILEIR_SECTION_END,
    TILEIR_SECTION_STRING,
    TILEIR_SECTION_FUNC,
    TILEIR_SECTION_DEBUG,
    TILEIR_SECTION_CONSTANT,
    TILEIR_SECTION_TYPE,
    TILEIR_SECTION_GLOBAL,
    TILEIR_SECTION_PRODUCER,
    TILEIR_SECTIONS
} tileir_section;
#define TILEIR_MAGIC "\x7FTileIR" /* with its NUL */

/* Bits of a function's byte; private functions are read as others. */
enum { TILEIR_FN_PRIVATE = 1, TILEIR_FN_KERNEL = 2, TILEIR_FN_HINTS = 4 };

/* Names in hints: the first two of accesses, the others of kernels. */
typedef enum tileir_hint {
    TILEIR_HINT_TMA,
    TILEIR_HINT_LATENCY,
    TILEIR_HINT_CTAS,
    TILEIR_HINT_OCCUPANCY,
    TILEIR_HINT_WARPS,
    TILEIR_HINTS /* any other name */
} tileir_hint;
extern const char *const ts__tileir_hints[TILEIR_HINTS];
tileir_hint ts__tileir_hint(const char *name);

/* The words of an enumeration, for printing; NULL behind the last, and for other kinds. */
const char *ts__tileir_word(tileir_kind kind, uint64_t value);

/* One item of a recipe. */
typedef struct tileir_item {
    char what;      /* = ! a % { ; 0 = the end */
    uint8_t kind;   /* of an attribute */
    uint8_t n;      /* results, regions; operands: 1, or TILEIR_MANY */
    bool optional;
    uint8_t before; /* the value in versions before `since` */
    uint16_t since; /* 0: always */
    uint8_t n_name;
    const char *name; /* flags: the text behind the bracket */
} tileir_item;
/* The item at *at, which moves on; false at the end. */
bool ts__tileir_next(const char **at, tileir_item *out);
/* The bit of a flag of this name in a recipe; -1: it has none. */
int ts__tileir_flag(const char *recipe, const char *name, size_t n);
/* Flags that are bits of our ARITH word have the names of its fields: the bit of field i and its name; 0 for a field
 * that is not one bit; *name NULL behind the last. */
uint32_t ts__tileir_arith_bit(uint32_t i, const char **name);
/* The TS_F_ flag that says that an optional operand is there; 0: it has none. */
uint8_t ts__tileir_role(const tileir_item *item);
/* In which order our own IR has the operand groups of an access. */
const uint8_t *ts__tileir_order(tileir_code code);

typedef struct tileir_bytes {
    const char *at; /* a NUL follows */
    uint32_t n;
} tileir_bytes;

typedef struct tileir_attr {
    uint8_t kind;   /* tileir_kind; TILEIR_ABSENT: an optional one is not there */
    uint8_t has;    /* div_by: bit 0 every, bit 1 along; bounded: bit 0 lower, bit 1 upper */
    uint32_t n;     /* items, numbers */
    uint32_t type;  /* int, float, type, dense */
    uint64_t value; /* number, bits, bool, string, constant, enumeration */
    struct tileir_attr *items; /* array, dict, hints */
    uint32_t *names;           /* dict, hints: strings */
    int64_t *numbers;          /* same, words, bools; div_by: divisor, every, along; bounded: lower, upper */
} tileir_attr;

typedef enum tileir_tag { /* of types; the others are scalar types with the tags of type.def */
    TILEIR_PTR = 12,
    TILEIR_TILE = 13,
    TILEIR_TENSOR_VIEW = 14,
    TILEIR_PARTITION_VIEW = 15,
    TILEIR_FUNCTION = 16,
    TILEIR_TOKEN = 17,
    TILEIR_GATHER_SCATTER_VIEW = 20,
    TILEIR_STRIDED_VIEW = 21
} tileir_tag;

typedef struct tileir_list {
    uint32_t n;
    int64_t *at;
} tileir_list;

typedef struct tileir_type {
    uint32_t tag;     /* tileir_tag, or a scalar's */
    uint32_t elem;    /* pointee, element, tensor view: a type */
    uint8_t padding;  /* 1 + value; 0: none */
    uint8_t attr;     /* pointer, tensor view: 1 + kind of pointer; 0: none */
    uint32_t sparse_dim;
    uint32_t n_params; /* function: of `dims`, the first are parameters, the others results */
    tileir_list dims;  /* extents; the type numbers of a function */
    tileir_list strides; /* of a tensor view; traversal steps of a strided view */
    tileir_list map;
} tileir_type;

typedef struct tileir_region tileir_region;
typedef struct tileir_op {
    uint16_t code;   /* tileir_code */
    uint8_t n_attrs, n_groups, n_regions;
    uint32_t flags;
    uint32_t loc;
    uint32_t first_result, n_results;
    uint32_t n_opnds;
    uint32_t *opnd;     /* values, groups one after the other */
    uint32_t group[6];  /* operands of each operand item */
    tileir_attr *attr;  /* one for each attribute item */
    tileir_region *region;
} tileir_op;

struct tileir_region {
    uint32_t n_blocks; /* 0: an `if` without else; 1 */
    uint32_t first_arg, n_args;
    TS_VEC(tileir_op) op;
};

typedef struct tileir_fn {
    uint32_t name, type;
    bool entry;
    uint32_t loc;
    tileir_attr hints; /* or TILEIR_ABSENT */
    TS_VEC(uint32_t) value; /* the type of each value */
    tileir_region body;     /* its args are the parameters */
} tileir_fn;

typedef struct tileir_global {
    uint32_t name, type, constant, align;
    bool is_private, is_constant;
} tileir_global;

typedef struct tileir_loc { /* of an operation; its file and function are strings + 1, 0 = unknown */
    uint32_t file, function;
    uint64_t line, col;
    uint32_t caller;
} tileir_loc;

/* An attribute of the Debug section. What its fields are: ts__tileir_debug_fields, by tag; s string, n number, a
 * attribute or 0. */
typedef enum tileir_debug_tag {
    TILEIR_DEBUG_NONE, /* one that could not be read */
    TILEIR_DEBUG_UNIT,
    TILEIR_DEBUG_FILE,
    TILEIR_DEBUG_BLOCK,
    TILEIR_DEBUG_LOC,
    TILEIR_DEBUG_SUBPROGRAM,
    TILEIR_DEBUG_CALL,
    TILEIR_DEBUG_TAGS
} tileir_debug_tag;
extern const char *const ts__tileir_debug_fields[TILEIR_DEBUG_TAGS];
typedef struct tileir_debug_attr {
    uint32_t tag;
    uint64_t f[6];
} tileir_debug_attr;

struct ts_tileir {
    ts_arena arena;
    uint32_t version;
    uint32_t producer; /* 1 + string */
    TS_VEC(tileir_bytes) str;
    TS_VEC(tileir_bytes) constant;
    TS_VEC(tileir_type) type;
    TS_VEC(tileir_global) global;
    TS_VEC(tileir_fn) fn;
    TS_VEC(tileir_debug_attr) debug; /* attribute 1 is the first */
    TS_VEC(tileir_loc) loc; /* of each attribute, which says a place or nothing; 0 is the unknown one */
};

/* The scalar type of a tag; TS_T_none: the tag is another's, or none. */
ts_type ts__tileir_scalar(uint32_t tag);
/* The version that brought a type. */
uint32_t ts__tileir_type_since(uint32_t tag);
/* Whether numbers of a type have at most 8 bits: a float attribute of them is a byte. */
bool ts__tileir_is_byte(const ts_tileir *m, uint32_t type);
/* "" for numbers that are none. */
const char *ts__tileir_str(const ts_tileir *m, uint32_t string);
/* NULL for numbers that are none. */
const tileir_type *ts__tileir_type(const ts_tileir *m, uint32_t type);
/* A tile's element or the type itself. */
const tileir_type *ts__tileir_elem(const ts_tileir *m, uint32_t type);
/* Keeps an attribute of the Debug section: its number; 0: memory is out, which the arena remembers. */
uint32_t ts__tileir_add_debug(ts_tileir *m, const tileir_debug_attr *attr);
/* Fills m->loc from m->debug. */
bool ts__tileir_find_places(ts_tileir *m);
/* An attribute of an operation by name; one of kind TILEIR_ABSENT where it has none. */
const tileir_attr *ts__tileir_attr(const tileir_op *op, const char *name);
/* Operand i of the group of that name; UINT32_MAX where it is not there. */
uint32_t ts__tileir_opnd(const tileir_op *op, const char *group, uint32_t i);
bool ts__tileir_has_flag(const tileir_op *op, const char *name);

/* Checks a module that was read or made (verify.c). */
TS_CHECKED ts_status ts__tileir_verify(const ts_tileir *m, ts_error *err);
/* Prints one operation, for messages (print.c). */
void ts__tileir_print_op(const ts_tileir *m, const tileir_fn *fn, const tileir_op *op, ts_text *out);
void ts__tileir_print_type(const ts_tileir *m, uint32_t type, ts_text *out);

#endif
