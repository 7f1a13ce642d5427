/* SPDX-License-Identifier: Apache-2.0
 *
 * The pack: a Python function as python/tessera/_pack.py hands it over, and the reader that makes it
 * safe to walk. Little-endian 32-bit words, then bytes:
 *
 *     magic version n_strings n_nodes n_lists n_objects n_functions n_bytes
 *     n_strings x offset into the bytes (each string ends in NUL; string 0 is "")
 *     n_nodes   x kind line col end_line end_col field0..field3         node 0 is "absent"
 *     n_lists   words: a list is the index of its count, the items follow; list 0 is empty
 *     n_objects x kind x y z                                            object 0 is "absent"
 *     n_functions x root file.. as in ts_pack_function
 *     n_bytes
 *
 * ts__pack_read checks everything once: indices in range, children before their parents (so the tree
 * has no cycles), nesting bounded, strings terminated. Later code trusts the result and never fails
 * on its structure.
 */
#ifndef TS_LANG_PACK_H
#define TS_LANG_PACK_H

#include "base/base.h"

#define TS_PACK_MAGIC 0x4B505354u
#define TS_PACK_VERSION 10
#define TS_PACK_MAX_DEPTH 1000 /* of nested expressions and statements */

typedef enum ts_ast_kind {
    TS_AST_none,
#define TS_AST(kind, fields, names) TS_AST_##kind,
#include "lang/ast.def"
    TS_AST_COUNT
} ts_ast_kind;

typedef enum ts_operator {
    TS_OPERATOR_none,
#define TS_AST_OPERATOR(name) TS_OPERATOR_##name,
#include "lang/ast.def"
    TS_OPERATOR_COUNT
} ts_operator;

typedef enum ts_parameter_kind {
#define TS_AST_PARAMETER(name) TS_PARAMETER_##name,
#include "lang/ast.def"
    TS_PARAMETER_COUNT
} ts_parameter_kind;

/* What a constant or a free name means. */
typedef enum ts_object_kind {
    TS_OBJ_ABSENT,
#define TS_AST_OBJECT(name) TS_OBJ_##name,
#include "lang/ast.def"
    TS_OBJ_COUNT
} ts_object_kind;

/* The list of a RECORD: TS_RECORD_* flags, a string that says why kernels make none (or 0), then for each field its
 * name, its default (an object, or 0) and TS_FIELD_* flags. */
enum { TS_RECORD_HEAD = 2, TS_RECORD_FIELD = 3 };
enum {
    TS_RECORD_TUPLE = 1, /* a named tuple */
    TS_RECORD_REPR = 2,
    TS_RECORD_EQ = 4,
    TS_RECORD_ORDER = 8
};
enum { TS_FIELD_REPR = 1, TS_FIELD_KEYWORD = 2, TS_FIELD_COMPARE = 4 };

/* The list of an ENUM: strings that are the member's name, its str(), format() and repr(); the object of its class. */
enum { TS_ENUM_NAME, TS_ENUM_STR, TS_ENUM_FORMAT, TS_ENUM_REPR, TS_ENUM_CLASS, TS_ENUM_WORDS };

/* The list of a STRUCT, for each field: a string, its name; an older object, what it holds (DTYPE, CHARS or STRUCT);
 * where it begins, in bytes; a list of extents, empty where it is no array. */
enum { TS_STRUCT_NAME, TS_STRUCT_OF, TS_STRUCT_OFFSET, TS_STRUCT_SHAPE, TS_STRUCT_FIELD };

/* How an attribute of a RECORD becomes a value of its instances. */
typedef enum ts_method_kind {
    TS_METHOD_PLAIN,
    TS_METHOD_PROPERTY,
    TS_METHOD_STATIC,
    TS_METHOD_CLASS,
    TS_METHOD_COUNT
} ts_method_kind;

/* The language of a kernel: what the walk asks about it is in the tables of src/lang/NAME/dialect.c. */
typedef enum ts_dialect { TS_DIALECT_TILE, TS_DIALECT_THREAD, TS_DIALECT_COUNT } ts_dialect;

typedef struct ts_node {
    uint32_t kind, line, col, end_line, end_col, f[4];
} ts_node;

typedef struct ts_object {
    uint32_t kind, x, y, z;
} ts_object;

typedef struct ts_pack_function {
    uint32_t root;       /* FunctionDef or Lambda */
    uint32_t name, file; /* strings */
    uint32_t first_line; /* of `source` in the file */
    uint32_t source;     /* string */
    uint32_t free;       /* list of (name string, object) */
    uint32_t defaults;   /* list of objects, one for each parameter; 0 = none */
    uint32_t dialect;    /* ts_dialect of the kernel that it is packed for */
    uint32_t is_library; /* 1: a function of Tessera's own, in whose lines users are not at home */
} ts_pack_function;

typedef struct ts_pack {
    const uint32_t *offsets; /* strings */
    const ts_node *nodes;
    const uint32_t *lists;
    const ts_object *objects;
    const ts_pack_function *functions;
    const char *bytes;
    uint32_t n_strings, n_nodes, n_lists, n_objects, n_functions, n_bytes;
} ts_pack;

/* Copies the words into the arena. Errors: TS_PARSE naming what is wrong, TS_NOMEM. */
TS_CHECKED ts_status ts__pack_read(ts_arena *arena, const void *bytes, size_t n, ts_pack *out, ts_error *err);

static inline const char *ts_pack_string(const ts_pack *pack, uint32_t string)
{
    return pack->bytes + pack->offsets[string];
}
static inline const ts_node *ts_pack_node(const ts_pack *pack, uint32_t node)
{
    return &pack->nodes[node];
}
/* Items of a list; *n is their number. */
static inline const uint32_t *ts_pack_list(const ts_pack *pack, uint32_t list, uint32_t *n)
{
    *n = pack->lists[list];
    return pack->lists + list + 1;
}
/* Words of each field of a RECORD (name, default, flags); *n is how many fields there are. */
static inline const uint32_t *ts_pack_fields(const ts_pack *pack, uint32_t record, uint32_t *n)
{
    uint32_t words;
    const uint32_t *list = ts_pack_list(pack, pack->objects[record].z, &words);
    *n = (words - TS_RECORD_HEAD) / TS_RECORD_FIELD;
    return list + TS_RECORD_HEAD;
}
/* One of the TS_ENUM_* words of an ENUM. */
static inline uint32_t ts_pack_member(const ts_pack *pack, uint32_t member, uint32_t word)
{
    return pack->lists[pack->objects[member].y + 1 + word];
}
/* "nen" for BinOp: field letters of ast.def. */
const char *ts__ast_fields(uint32_t kind);
const char *ts__ast_name(uint32_t kind);
const char *ts__operator_name(uint32_t op);

#endif
