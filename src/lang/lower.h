/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of the front end: one walk over the packed tree that evaluates what is known at compile
 * time and appends tile IR for the rest. Names shared between the files of this folder begin with fr_.
 *
 *     pack.c    bytes -> checked tree                 scope.c    names, slots, liveness
 *     front.c   the entry: parameters, kernel body    value.c    compile-time values
 *     stmt.c    statements        expr.c  expressions promote.c  dtypes, casts, constants
 *     control.c if, loops, early return               arith.c    operators
 *     context.c with, generators as context managers  match.c     match
 *     text.c    str(), repr(), f-strings       format.c format specifications of constants
 *     recurse.c calls that only the running kernel ends
 *     call.c    arguments, inlining                   tile_op.def, tile/op_*.c  the operations of the language
 *     attr.c    attributes, methods, subscripts       diag.c     messages
 *     complex.c arithmetic of complex numbers         record.c   dataclasses and named tuples
 *     loop.c    for and while     sequence.c what a `for` of run time runs over
 *     struct.c  elements of arrays that are records of NumPy or texts
 *     simt_op.def, simt/ the thread language; both languages' tables are in their dialect.c (fr_dialect)
 *     host.c    expressions that the host evaluates
 *
 * A name's value is a fr_value: a number known at compile time, a tile (an IR value with a dtype), or
 * something that exists only at compile time (tuples, arrays, functions, dtypes, ...). Whatever a
 * dynamic `if` or loop may change is taken apart into leaves (tiles and numbers), carried through the
 * region as IR values, and put together again on the other side (control.c).
 */
#ifndef TS_LANG_LOWER_H
#define TS_LANG_LOWER_H

#include "lang/front.h"
#include "lang/pack.h"

__extension__ typedef __int128 fr_int; /* loose integers: exact while they fit, else an error */

/* ---- values -------------------------------------------------------------------------------------*/

typedef enum fr_kind {
    FR_UNBOUND,   /* no value (on some path); as.text says why, or NULL */
    FR_CONFLICT,  /* different types on different paths; as.text says which */
    FR_NONE,
    FR_ELLIPSIS,
    FR_NUMBER,    /* constant: cat, dtype (0 = loose), as.i, as.f or as.c */
    FR_STR,       /* as.text; n 1: bytes of Python, a character each */
    FR_TUPLE,     /* n items; cls: the RECORD of a named tuple, 0 of others; cat: 1 where it is written as a list */
    FR_RECORD,    /* instance of a dataclass: an item for each field; cls: its RECORD */
    FR_TILE,      /* as.v of dtype; scalars are tiles of rank 0 */
    FR_ARRAY,
    FR_LIST,      /* list of arrays, an argument */
    FR_VIEW,      /* Array.tiled_view */
    FR_RAW,       /* Array.get_raw_memory: as.array */
    FR_DTYPE,     /* dtype */
    FR_ENUM,      /* as.object */
    FR_MODULE,    /* as.object; classes too */
    FR_OP,        /* n = row of tile_op.def */
    FR_BUILTIN,   /* as.text */
    FR_FUNC,      /* as.function */
    FR_METHOD,    /* n = row of tile_op.def, as.items[0] = self */
    FR_BOUND,     /* as.items: function and what stands before the dot */
    FR_CONTEXT,   /* as.manager: a context manager, for `with` */
    FR_SLICE,     /* as.items: start, stop, step */
    FR_RANGE,     /* as.items: start, stop, step */
    FR_SEQUENCE,  /* enumerate, zip or reversed of what run time knows (sequence.c): n items, cat */
    FR_GROUP,     /* a group of threads of cuda.cg: n = 0 all of the grid, 1 of the cluster */
    FR_ITER,      /* ct.static_iter: n items */
    FR_DICT,      /* n pairs: as.items key, value, key, .. */
    FR_FSTRING,   /* n pairs: value, format specification (FR_STR) */
    FR_ELEMENT,   /* as.element: what records or texts of arrays are, as a dtype */
    FR_OPAQUE     /* as.object: something of the host that kernels cannot use */
} fr_kind;

typedef enum fr_cat { FR_BOOL, FR_INT, FR_FLOAT, FR_COMPLEX } fr_cat;

typedef struct fr_value {
    uint8_t kind, dtype, cat;
    uint8_t depth;   /* containers: how deep they nest */
    uint32_t n;
    uint32_t weight; /* containers: values in them, all levels together */
    uint32_t cls;    /* object of the class of FR_RECORD and of named tuples */
    union {
        fr_int i;
        double f;
        double c[2]; /* FR_COMPLEX: real and imaginary part */
        ts_val v;
        uint32_t object;
        const char *text;
        struct fr_value *items;
        struct fr_array *array;
        const struct fr_element *element;
        struct fr_list *list;
        struct fr_view *view;
        struct fr_function *function;
        struct fr_manager *manager;
    } as;
} fr_value;

typedef struct fr_shape {
    uint32_t rank;
    int64_t dims[TS_MAX_RANK];
} fr_shape;

/* What an array holds where it is no number: records with fields, or texts of a fixed length (struct.c). */
typedef struct fr_element {
    const char *name;                 /* for messages */
    uint32_t bytes;
    uint32_t n_fields;
    const struct fr_field *fields;
    uint32_t chars, char_bytes;       /* of a text: how many, each of 1 or 4 bytes; 0: a record */
    uint32_t cls;                     /* of dates: an int64 in memory, an instance of this class as a value; 0: none */
} fr_element;

typedef struct fr_field {
    const char *name;
    ts_dtype dtype;                   /* NONE: */
    const fr_element *element;
    uint32_t offset;
    fr_shape shape;                   /* of an array in the record; rank 0: none */
} fr_field;

/* Elements that are no numbers, or lie at any bytes, are reached through a pointer to bytes: align is not 0 then. A
 * record or a text is such an array without axes. */
typedef struct fr_array {
    uint8_t dtype, rank;              /* dtype NONE: element */
    uint8_t index_dtype;              /* TS_DTYPE_int32 or int64 */
    uint8_t align;                    /* 0, or strides are in bytes, and all addresses multiples of this (1 to 16) */
    const fr_element *element;
    ts_val base;                      /* pointer */
    fr_value shape[TS_ARRAY_RANK], stride[TS_ARRAY_RANK]; /* numbers (strict) or scalar tiles */
    fr_value extent[TS_ARRAY_RANK];   /* where accesses end: the shape, but for slices that reach beyond their array */
    ts_val view;                      /* tensor view; 0 for rank 0 */
} fr_array;

typedef struct fr_list {
    ts_val base, length; /* pointer to i64 words; i32 */
    ts_spec element;
} fr_list;

typedef struct fr_view {
    fr_array *array;
    fr_shape tile;                    /* in memory, of the array's rank */
    fr_shape shape;                   /* of what is loaded and stored: tile, or () for a tile of ones */
    int64_t step[TS_MAX_RANK];
    uint8_t padding;
    ts_val view;
} fr_view;

/* A function as a value: a packed one (lexical NULL) or a nested def or lambda. */
typedef struct fr_function {
    uint32_t function;         /* packed function that holds the text */
    uint32_t root;             /* FunctionDef or Lambda */
    struct fr_frame *lexical;  /* frame of the enclosing function */
    fr_value *defaults;        /* of a nested one: for each of n_defaults parameters, FR_UNBOUND = none */
    uint32_t n_defaults;
    const char *name;
    bool is_context;           /* calls of it make context managers */
} fr_function;

/* ---- scopes and frames (scope.c) ------------------------------------------------------------------*/

typedef struct fr_scope {
    uint32_t root, n_slots;
    const uint32_t *args;      /* `arg` nodes */
    uint32_t n_args;
    const uint32_t *body;      /* statements; a lambda has one expression */
    uint32_t n_body;
    uint32_t *slot_of;         /* name string -> slot + 1; see fr_slot_of */
    uint32_t n_names;          /* how many strings it knows */
    uint32_t *name_of;         /* slot -> name string */
    TS_VEC(uint32_t) *loads;   /* slot -> nodes that read it, ascending */
    bool *captured;            /* slot is read by a nested function */
    bool has_return;           /* a return that is not the last statement */
} fr_scope;

/* Hidden slots after the named ones. */
enum { FR_SLOT_RETURNED, FR_SLOT_RESULT, FR_SLOT_EXPR, FR_SLOT_BROKE /* the loop with `else` */, FR_HIDDEN };

/* A loop of the frame whose body is being lowered; control.c owns the rest. */
typedef struct fr_loop {
    struct fr_loop *outer;
    uint32_t node;
    const uint32_t *body;
    uint32_t n_body;
    struct fr_carry *carry; /* NULL: unrolled at compile time */
} fr_loop;

/* Of compiling a kernel: expressions that are evaluated, and MiB that are used for it. */
enum { FR_MAX_STEPS = 2000000, FR_MAX_MEBIBYTES = 2048 };

typedef struct fr_frame {
    const fr_scope *scope;
    uint32_t function;         /* packed function: source, file, free names */
    struct fr_frame *lexical, *caller;
    uint32_t call_node;        /* in the caller */
    ts_loc call_loc;
    const char *name;
    uint32_t regions;          /* fr.regions where it was called */
    fr_value *slots;
    fr_loop *loop;             /* innermost of this frame */
    uint32_t n_inlined;        /* calls of the same function inside of it, behind branches of run time */
    bool is_kernel;
    bool is_discarded;         /* nobody uses what the call returns */
    bool raises;               /* each path of the call ends the thread */
    bool is_over;              /* the call has returned: closures of it hold values that nothing changes */
    bool is_seen;              /* by the walk of value.c through what closures hold */
    const fr_value *given;          /* the arguments, in the order of the parameters; NULL: of a kernel */
    struct fr_recursion *recursion; /* it is lowered as one; else NULL (recurse.c) */
    const struct fr_entry *entry;   /* of a generator: the `with` that it runs for (context.c) */
    struct fr_context *context;     /* the innermost `with` that this frame is inside of */
} fr_frame;

typedef struct fr_known_element {
    uint32_t object;
    fr_element *element;
} fr_known_element;

/* A function that is IR as text (simt/op_written.c). */
typedef struct fr_written {
    const char *text;
    ts_fn *fn;
} fr_written;

typedef struct fr {
    const struct fr_dialect *dialect;
    ts_arena *arena;
    ts_pack pack;
    ts_module *module;
    ts_builder b;
    const ts_hints *hints;
    ts_host host;
    ts_error *err;
    fr_frame *frame;
    fr_scope **scopes;         /* node of a function -> its scope, made on first use */
    uint32_t n_scopes;         /* the pack may grow (host.c) */
    uint32_t node;             /* being lowered, for messages and locations */
    uint32_t discarded;        /* the call whose value nobody uses: a statement of its own */
    uint32_t iterable;         /* what the `for` being lowered runs over: static_iter stands only there */
    uint32_t test;             /* the expression being lowered of which only the truth is wanted */
    uint32_t n_args_of_kernel;
    uint32_t regions;          /* branches and loops of run time around what is being lowered */
    uint32_t n_recursions;     /* recursions around what is being lowered */
    fr_frame *restart;         /* with the status TS_RECURSION: the frame that is to be lowered anew as a recursion */
    bool stopped;              /* with it: the path ends, for it needs a result that is not known yet */
    const char *pure;          /* the operation whose function, which must be pure, is being lowered; else NULL */
    TS_VEC(struct fr_array *) arrays; /* arguments, those in lists left out */
    TS_VEC(fr_value) proxies;  /* what the host was given by number */
    TS_VEC(fr_value) captured; /* arrays that the kernel names, which follow its arguments */
    TS_VEC(fr_known_element) elements; /* made so far */
    TS_VEC(fr_written) written; /* functions that are IR as text, read so far */
    bool alone;                /* code for the CPU, of blocks of one thread: LLVM knows loops of 64 bits best */
    const char *stack;         /* address near the bottom of the C stack */
    uint32_t steps;            /* expressions evaluated; bounds compile time */
} fr;

/* A place that the walk can go back to: what was emitted since then is dropped. */
typedef struct fr_point {
    uint32_t inst, loc, pool, regions, n_recursions, node;
    ts_loc place;
    fr_frame *frame;
    fr_loop *loop;
    struct fr_context *context;
} fr_point;

/* How a range with a step of run time is counted: its turns, or the numbers themselves up to the stop, with a sign or
 * without one. */
typedef enum fr_counts { FR_COUNTS_TURNS, FR_COUNTS_UP, FR_COUNTS_UP_UNSIGNED } fr_counts;

/* How a block of statements ends. */
typedef enum fr_flow {
    FR_FALLS,    /* runs on into what follows */
    FR_RETURNS,  /* the function has returned; its value is in FR_SLOT_RESULT; nothing is emitted for it */
    FR_ENDS      /* the region has got its terminator (break, continue) */
} fr_flow;

/* Statements to lower, and what follows them when control may leave early in between. With `step` there are no
 * statements: it is called in their place; `done` says that it lowered `rest` too. */
typedef struct fr_block {
    const uint32_t *at;
    uint32_t n;
    const struct fr_block *next;
    ts_status (*step)(fr *f, const struct fr_block *block, fr_flow *flow, bool *done);
    const void *user;
} fr_block;

ts_status fr_scope_of(fr *f, uint32_t root, const fr_scope **out);
/* The slot of a name + 1, or 0. Strings that came with a later pack are names of no earlier scope. */
static inline uint32_t fr_slot_of(const fr_scope *s, uint32_t name)
{
    return name < s->n_names ? s->slot_of[name] : 0;
}
/* An empty scope, and the names of an assignment's target bound in it. */
ts_status fr_scope_new(fr *f, uint32_t root, fr_scope **out);
ts_status fr_scope_bind_target(fr *f, fr_scope *scope, uint32_t target);
/* A frame like `like` with unbound slots for `scope`. Frames and scopes live in the arena, as the values
 * do that may name them: a closure outlives the call or comprehension it was made in. */
ts_status fr_frame_open(fr *f, const fr_frame *like, const fr_scope *scope, fr_frame **out);
/* May the value of `slot` be read after node `at`, without being written first? */
bool fr_live_after(const fr *f, uint32_t slot, uint32_t at);
bool fr_live_in_loop(const fr *f, uint32_t slot, uint32_t loop, const uint32_t *body, uint32_t n);
/* Slots assigned by the statements, as a list; `n` is set. */
ts_status fr_assigned(fr *f, const uint32_t *body, uint32_t n_body, uint32_t **slots, uint32_t *n);
bool fr_contains(const fr *f, const uint32_t *body, uint32_t n, uint32_t kind); /* not in nested functions */

/* ---- messages (diag.c) -----------------------------------------------------------------------------*/

/* Text of a message may hold lines after the first: "\n  found: ...\n  help: ...". */
ts_status fr_error(fr *f, uint32_t node, ts_status status, const char *format, ...) TS_PRINTF(4, 5);
/* The function that an operation was given does something that it must not do; `found` says what. */
ts_status fr_not_pure(fr *f, const char *op, uint32_t node, const char *found);
ts_status fr_oom(fr *f);
/* "float32 tile of shape (16, 16)", "constant 3"; lives in the arena. */
const char *fr_say(fr *f, const fr_value *v);
const char *fr_say_shape(fr *f, const fr_shape *shape);
const char *fr_textf(fr *f, const char *format, ...) TS_PRINTF(2, 3);
const char *fr_string(const fr *f, uint32_t string);
/* Help lines, "" where there is nothing to say: what is written instead of something that the language lacks
 * (hint.def), of a function that cannot be called (`op`: the tile operation like it, or NULL), and of a host object. */
typedef enum fr_hint_of { FR_HINT_SYNTAX, FR_HINT_MEMBER, FR_HINT_CALL } fr_hint_of;
const char *fr_hint(fr *f, fr_hint_of of, const char *name);
const char *fr_call_help(fr *f, const char *name, const char *op);
const char *fr_opaque_help(fr *f, const fr_value *v);
const char *fr_did_you_mean(fr *f, const char *near); /* a help line; "" for NULL */
/* The operation (a function of the module) with this name here or in NumPy, or with the nearest; or NULL. */
const char *fr_op_called(const fr *f, const char *name);
const char *fr_op_nearest(const fr *f, const char *name);
const char *fr_builtin_name(const void *unused, uint32_t i); /* for ts__nearest */
/* Makes `node` the place of what is emitted from here on; gives the place before. */
ts_loc fr_at(fr *f, uint32_t node);

/* ---- values (value.c) --------------------------------------------------------------------------------*/

fr_value fr_none(void);
fr_value fr_bool(bool x);
fr_value fr_number(fr_int x);                       /* loose */
fr_value fr_real(double x);                         /* loose */
fr_value fr_strict(ts_dtype dtype, fr_int i);       /* integer or bool dtype; wraps */
fr_value fr_tile(ts_dtype dtype, ts_val v);
fr_value fr_text(const char *text);
/* How many characters a text has: bytes of UTF-8 that begin one. */
static inline long fr_characters(const char *text)
{
    long n = 0;
    for (; *text; text++)
        n += (*text & 0xC0) != 0x80;
    return n;
}
fr_value fr_dtype_value(ts_dtype dtype);
ts_status fr_tuple(fr *f, uint32_t n, const fr_value *items, fr_value *out);
/* A container of n items of the kind; the items are kept, not copied. Errors when it nests or grows
 * beyond what compile-time values may. fr_tuple copies them. */
ts_status fr_container(fr *f, fr_kind kind, uint32_t n, fr_value *items, fr_value *out);
ts_status fr_object(fr *f, uint32_t object, fr_value *out);
ts_status fr_hex(fr *f, const char *text, fr_value *out); /* "-0x1f" */
double fr_as_double(const fr_value *number);
bool fr_same(const fr *f, const fr_value *a, const fr_value *b); /* the very same value */
/* x == y of values known at compile time, as keys of dicts are compared: 1, 1.0 and a member of an IntEnum with the
 * value 1 are equal. What run time computes is equal to nothing but the very same value. In arith.c. */
ts_status fr_constants_equal(fr *f, const fr_value *x, const fr_value *y, bool *out);
/* A member of an enumeration of numbers or strings (IntEnum, StrEnum) is its value: *v becomes `room`, which holds it.
 * Other values stay. */
ts_status fr_member_value(fr *f, const fr_value **v, fr_value *room);
/* The pair of a dict's n pairs of key and value that has the key; n: none has. */
ts_status fr_find_key(fr *f, const fr_value *items, uint32_t n, const fr_value *key, uint32_t *at);
bool fr_is_int(const fr_value *v, int64_t *out);    /* an integer constant that fits 64 bits */
/* Numbers, strings, tuples, None, enums: whether true; false when that is not known at compile time. */
bool fr_truth(const fr_value *v, bool *out);
/* Leaves (tiles and numbers) of a value, in order; counts only when `leaves` is NULL. */
uint32_t fr_flatten(const fr_value *v, fr_value *leaves);
bool fr_same_skeleton(const fr *f, const fr_value *a, const fr_value *b);
/* closure.c: the call that made the closure, once it is over; NULL for other values. The others want such a closure. */
fr_frame *fr_closure_frame(const fr_value *v);
uint32_t fr_closure_flatten(const fr_value *v, fr_value *leaves);
bool fr_closures_alike(const fr *f, const fr_value *a, const fr_value *b);
ts_status fr_closure_rebuild(fr *f, const fr_value *skeleton, const fr_value **leaves, fr_value *out);
ts_status fr_rebuild(fr *f, const fr_value *skeleton, const fr_value **leaves, fr_value *out);

/* ---- dtypes and conversion (promote.c) -----------------------------------------------------------------*/

ts_type fr_ir(ts_dtype dtype);
bool fr_dtype_is_signed(ts_dtype dtype);
bool fr_dtype_is_int(ts_dtype dtype);         /* not bool_ */
bool fr_dtype_is_float(ts_dtype dtype);       /* not restricted */
bool fr_dtype_is_restricted(ts_dtype dtype);
uint32_t fr_dtype_bits(ts_dtype dtype);
fr_cat fr_dtype_cat(ts_dtype dtype);
/* 0 when there is none. */
ts_dtype fr_promote(ts_dtype a, ts_dtype b);
ts_status fr_default_dtype(fr *f, const fr_value *number, ts_dtype *out);
bool fr_fits(const fr_value *number, ts_dtype dtype);
/* Can the number stand for a value of the dtype where paths meet? A literal has to be of its category (1 is an
 * integer, 1.0 a float): what a name holds does not depend on which path ran. */
bool fr_joins(const fr_value *number, ts_dtype dtype);
/* The number as a typed one: floats rounded to nearest, integers wrapped. The one place where constants get
 * the precision of their dtype. Errors: TS_TILEVALUE for what the format cannot hold (a negative number in an
 * unsigned one, a NaN in one without). */
ts_status fr_round(fr *f, const fr_value *number, ts_dtype dtype, fr_value *out);

fr_shape fr_shape_of(const fr *f, const fr_value *tile);
ts_type fr_type(fr *f, ts_dtype dtype, const fr_shape *shape);
bool fr_same_shape(const fr_shape *a, const fr_shape *b);
/* Number or tile -> tile of the dtype (a number must fit); rank stays. */
/* The error for a number without dtype that is not in the range of one. */
ts_status fr_not_fitting(fr *f, const fr_value *v, ts_dtype dtype);
ts_status fr_to_tile(fr *f, const fr_value *v, ts_dtype dtype, fr_value *out);
/* Number or tile -> tile, numbers by their own or default dtype. */
ts_status fr_as_tile(fr *f, const fr_value *v, fr_value *out);
ts_val fr_constant(fr *f, const fr_value *number, ts_dtype dtype, const fr_shape *shape);
/* Explicit conversion (astype), any dtype to any. `round` is a ts_round. */
ts_status fr_convert(fr *f, const fr_value *v, ts_dtype dtype, uint32_t round, fr_value *out);
/* The implicit one of stores: only where promotion(from, to) == to. */
ts_status fr_implicit(fr *f, const fr_value *v, ts_dtype dtype, const char *what, fr_value *out);
ts_status fr_broadcast_shapes(fr *f, const fr_shape *a, const fr_shape *b, fr_shape *out);
ts_status fr_splat(fr *f, const fr_value *tile, const fr_shape *shape, fr_value *out);
/* Both operands as tiles of one dtype and shape. */
ts_status fr_unify(fr *f, const char *what, fr_value *x, fr_value *y);
/* The dtype that both get under the promotion rules. */
ts_status fr_common_dtype(fr *f, const char *what, const fr_value *x, const fr_value *y, ts_dtype *out);

/* ---- the walk --------------------------------------------------------------------------------------------*/

/* An error once the walk is too deep or too long to end in reasonable time. */
ts_status fr_check_depth(fr *f, uint32_t node);
ts_status fr_expr(fr *f, uint32_t node, fr_value *out);
/* One of which only the truth is wanted: `and` and `or` there need no common dtype. */
ts_status fr_test(fr *f, uint32_t node, fr_value *out);
ts_status fr_name(fr *f, uint32_t node, fr_value *out);
/* What a `for` runs over. */
ts_status fr_iterable(fr *f, uint32_t node, fr_value *out);
ts_status fr_block_lower(fr *f, const fr_block *block, fr_flow *flow);
ts_status fr_assign(fr *f, uint32_t target, const fr_value *value);

/* host.c: a Host node, evaluated by the host. */
ts_status fr_host(fr *f, uint32_t node, fr_value *out);
/* An argument that is an object of the pack, perhaps of a later one. */
ts_status fr_host_object(fr *f, int64_t object, fr_value *out);

/* loop.c: a range as a count of turns, from 0, in its dtype; the item is origin + turn * stride. */
typedef struct fr_turns {
    uint8_t dtype;
    ts_val n, origin, stride;
} fr_turns;
ts_status fr_range_turns(fr *f, const fr_value *range, uint32_t at, fr_turns *out);

/* sequence.c */
typedef struct fr_sequence fr_sequence;
/* Has it a length, or items, that run time computes? */
bool fr_is_sequence(const fr *f, const fr_value *v);
/* enumerate, zip or reversed by name, where an argument is one; *done: it was. */
ts_status fr_sequence_call(fr *f, const char *name, uint32_t n, const fr_value *args, fr_value *out, bool *done);
/* Computes ahead of a loop what items are made of, and how many there are, an i64. `at` is an int64 below it. */
ts_status fr_sequence_open(fr *f, uint32_t node, const fr_value *v, const fr_sequence **out, ts_val *length);
ts_status fr_sequence_item(fr *f, uint32_t node, const fr_sequence *s, const fr_value *at, fr_value *out);

/* control.c */
typedef ts_status fr_body(fr *f, void *user, fr_flow *flow);
ts_status fr_if_stmt(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow);
/* One of two blocks, by a condition that may be known; `rest` is lowered inside of them where it is not NULL. `node`
 * is the statement: what it assigns may differ afterwards. */
ts_status fr_branch(fr *f, uint32_t node, const fr_value *cond, const fr_block arm[2], const fr_block *rest,
                    fr_flow *flow);
ts_status fr_if_expr(fr *f, uint32_t node, fr_value *out);
ts_status fr_bool_op(fr *f, uint32_t node, fr_value *out);
ts_status fr_loop_stmt(fr *f, uint32_t node, fr_flow *flow);
/* The `else` of a loop that ended, where it has one; `rest` as in fr_branch. */
ts_status fr_loop_else(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow, bool *done);
ts_status fr_after_loop(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow, bool *done);
ts_status fr_jump(fr *f, uint32_t node, bool is_break, fr_flow *flow);
ts_status fr_return(fr *f, uint32_t node, const fr_value *value, fr_flow *flow);
/* Where no branch of an `if` goes on, the loop's region still needs an end that nothing reaches. */
ts_status fr_unreachable(fr *f);
/* A scalar condition: known at compile time, or an i1. */
ts_status fr_condition(fr *f, uint32_t node, const fr_value *v, bool *known, bool *truth, ts_val *cond);

/* arith.c */
typedef struct fr_options {
    uint32_t attr;       /* rounding and flush bits given by the caller */
    bool has_round;
} fr_options;
ts_status fr_unary(fr *f, ts_operator op, const fr_value *x, fr_value *out);
ts_status fr_binary(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_options options, fr_value *out);
ts_status fr_compare(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out);
ts_status fr_fold_binary(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out);
ts_status fr_minmax(fr *f, bool is_max, const fr_value *x, const fr_value *y, uint32_t attr, fr_value *out);
/* `op` is divi or remi. */
ts_val fr_int_div(fr *f, ts_op op, ts_val x, ts_val y, uint32_t attr);
const char *fr_operator_sign(ts_operator op);

/* complex.c: complex numbers and tiles of them, by their parts. A number is real where it is not complex. */
bool fr_is_complex(const fr_value *v); /* a number or a tile */
/* Real and imaginary part: numbers of a number, tiles of a tile. Of what is real: itself, and zero. */
ts_status fr_complex_parts(fr *f, const fr_value *v, fr_value *re, fr_value *im);
/* A tile of two tiles of the part of `dtype`. */
fr_value fr_complex_join(fr *f, ts_dtype dtype, ts_val re, ts_val im);
ts_status fr_complex_binary(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out);
ts_status fr_complex_compare(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out);
ts_status fr_complex_negate(fr *f, const fr_value *x, fr_value *out);
ts_status fr_complex_abs(fr *f, const fr_value *x, fr_value *out);
/* Explicit conversion from or to a complex dtype. */
ts_status fr_complex_convert(fr *f, const fr_value *v, ts_dtype to, uint32_t round, fr_value *out);
/* For what is not defined for complex numbers: an error where an argument is one, an array of them or their dtype. */
ts_status fr_only_real(fr *f, uint32_t node, const char *name, uint32_t n, const fr_value *args);


/* attr.c */
ts_status fr_attribute(fr *f, uint32_t node, fr_value *out);
ts_status fr_attribute_of(fr *f, uint32_t node, const fr_value *v, const char *name, fr_value *out);
ts_status fr_subscript(fr *f, uint32_t node, fr_value *out);
/* v[index] of values. */
ts_status fr_item(fr *f, uint32_t node, const fr_value *v, const fr_value *index, fr_value *out);
/* index.c: t[...] of a tile; where a slice of n items begins, its step, and how many items it has. */
ts_status fr_index_tile(fr *f, const fr_value *tile, const fr_value *index, fr_value *out);
ts_status fr_slice_range(fr *f, const fr_value *slice, int64_t n, int64_t *start, int64_t *step, int64_t *count);
ts_status fr_index_tuple(fr *f, const fr_value *tuple, const fr_value *index, fr_value *out);

/* recurse.c */
fr_point fr_here(const fr *f);
void fr_back(fr *f, const fr_point *p);
/* Has the path stopped because it needs a result that is not known yet? Then goes back. */
bool fr_stopped(fr *f, ts_status status, const fr_point *p);
/* A call with the arguments of `frame`, which is not opened yet: *done where it is one of a recursion around it.
 * Errors: TS_RECURSION without a message, and f->restart: that frame is a recursion. */
ts_status fr_recurse(fr *f, fr_frame *frame, uint32_t node, fr_value *out, bool *done);
/* The function of the frame, lowered from `start` on as a recursion. */
ts_status fr_recursion_lower(fr *f, fr_frame *frame, const fr_point *start, fr_value *out);

/* context.c */
/* What a call of a context manager's function gives: the frame with its arguments. */
ts_status fr_context_make(fr *f, const fr_function *fn, fr_frame *frame, fr_value *out);
ts_status fr_with_stmt(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow);
ts_status fr_yield_stmt(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow);
/* Runs the ends of every `with` that a break, continue or return leaves. */
ts_status fr_context_unwind(fr *f);
/* Generators' variables change where a `with` ends, which may be in one branch of two. */
typedef struct fr_context_state {
    fr_frame *frame;
    fr_value *slots; /* NULL: only the context */
    struct fr_context *context;
} fr_context_state;
typedef TS_VEC(fr_context_state) fr_context_states;
ts_status fr_context_save(fr *f, fr_frame *frame, fr_context_states *states);
void fr_context_restore(const fr_context_states *states);

/* match.c */
ts_status fr_match_stmt(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow);

/* record.c */
/* The object that the class has under the name, or 0. */
/* A function, operation or builtin called with `self` first. */
ts_status fr_bind(fr *f, const fr_value *function, const fr_value *self, fr_value *out);
/* A tuple made an instance of the class, without its __post_init__; false: it has another number of fields. */
bool fr_record_of_items(const fr *f, uint32_t cls, fr_value *tuple);
uint32_t fr_record_find(const fr *f, uint32_t cls, const char *name);
/* Fields, methods, properties and constants of an instance. */
ts_status fr_record_attribute(fr *f, uint32_t node, const fr_value *v, const char *name, fr_value *out, bool *found);
/* What `object`, an attribute of a module or class, is without an instance: methods of the class are bound to it. */
ts_status fr_record_of_class(fr *f, const fr_value *cls, uint32_t object, fr_value *out);
/* What an instance's __bool__ or else __len__ gives. */
ts_status fr_record_truth(fr *f, const fr_value *v, fr_value *out, bool *found);
uint32_t fr_record_flags(const fr *f, uint32_t cls); /* TS_RECORD_* */
/* Is it an instance of the class, or of one derived from it? */
bool fr_is_instance(const fr *f, const fr_value *v, const fr_value *cls);
/* A method that its user wrote, bound to the instance; false where there is none. */
ts_status fr_record_method(fr *f, const fr_value *v, const char *name, fr_value *out, bool *found);
struct fr_arguments;
ts_status fr_record_make(fr *f, uint32_t node, uint32_t cls, const struct fr_arguments *args, fr_value *out);
/* dataclasses.replace(record, field=...), and _replace of named tuples. */
ts_status fr_record_replace(fr *f, uint32_t node, const struct fr_arguments *args, fr_value *out);

/* struct.c: elements of arrays that are records or texts. */
/* What an object of the pack (DTYPE, CHARS, STRUCT) says of elements: *dtype, or *element where that is NONE. */
ts_status fr_element_of(fr *f, uint32_t object, ts_dtype *dtype, const fr_element **element);
bool fr_same_element(const fr_element *a, const fr_element *b); /* either may be NULL */
/* The field, or NULL; also by number. */
const fr_field *fr_field_of(const fr_element *element, const char *name);
/* Elements of `dtype` or `element` at any bytes, in the place of those of `bytes`, an array of uint8. */
ts_status fr_struct_array(fr *f, uint32_t object, uint32_t align, const fr_value *bytes, fr_value *out);

/* call.c */
#define FR_MAX_ARGS 12
typedef struct fr_argument {
    const char *name; /* NULL: positional */
    uint32_t node;
    fr_value value;
} fr_argument;

typedef struct fr_arguments {
    TS_VEC(fr_argument) at; /* positional ones first */
    uint32_t n_positional;
    uint32_t n_self; /* 1 where the first is what stands before the dot */
} fr_arguments;

typedef struct fr_call {
    const struct fr_op *op;
    uint32_t node;
    fr_value arg[FR_MAX_ARGS];       /* FR_UNBOUND: not given */
    uint32_t at[FR_MAX_ARGS];        /* their nodes, for carets */
    const fr_value *rest;            /* *args of printf and print */
    uint32_t n_rest;
} fr_call;

/* The operation of a call as it is written: a method without its type. */
const char *fr_op_name(const fr_call *c);
typedef ts_status fr_op_fn(fr *f, const fr_call *c, fr_value *out);
typedef struct fr_op {
    const char *name, *signature;    /* signature NULL: a value that is not called */
    fr_op_fn *lower;
    uint32_t x, y;                   /* meaning is the function's */
    bool is_complex;                 /* takes complex numbers too */
} fr_op;
/* A method: the value's kind, the name, the operation that it is with the value as first argument. */
typedef struct fr_method {
    fr_kind kind;
    const char *name, *op;
} fr_method;
uint32_t fr_op_find(const fr *f, const char *name); /* dialect->n_ops when there is none */
/* The operation <class>_<name> of a class of the language that has this attribute (threadIdx.x); n_ops: none. */
uint32_t fr_class_op(fr *f, const fr_value *cls, const char *name);
/* The value of an operation: what it computes, where it is not called. */
ts_status fr_op_value(fr *f, uint32_t row, fr_value *out);
ts_status fr_call_node(fr *f, uint32_t node, fr_value *out);
/* A packed function called by nobody: opens its frame (f->frame), gives what it returns. */
/* The statements of the frame's function, whose slots have its arguments. */
ts_status fr_call_body(fr *f, const fr_scope *scope, fr_value *out);
ts_status fr_call_root(fr *f, const fr_function *fn, uint32_t n, const fr_value *args, fr_value *out);
/* A function, operation or builtin called with positional values; an operation by name. */
ts_status fr_call_value(fr *f, const fr_value *callee, uint32_t node, uint32_t n, const fr_value *args, fr_value *out);
ts_status fr_call_op(fr *f, uint32_t node, const char *name, uint32_t n, const fr_value *args, fr_value *out);
/* The operation of a row with the last n_named values passed by name. */
ts_status fr_call_row(fr *f, uint32_t node, uint32_t row, uint32_t n, const fr_value *values, uint32_t n_named,
                      const char *const *names, fr_value *out);
/* Does the operation compute a value from values, and nothing else? */
bool fr_op_is_value(const fr *f, uint32_t row);
bool fr_has_builtin(const char *name);
/* A row of the builtins, with as many arguments as it says. */
typedef struct fr_builtin_call {
    uint32_t node, n;
    const char *name;
    const fr_value *args;
} fr_builtin_call;
typedef ts_status fr_builtin(fr *f, const fr_builtin_call *c, fr_value *out);
/* text_method.c: methods of a text, the first argument. */
fr_builtin fr_text_upper, fr_text_lower, fr_text_strip, fr_text_lstrip, fr_text_rstrip, fr_text_startswith;
fr_builtin fr_text_endswith, fr_text_replace, fr_text_split, fr_text_count, fr_text_join;
ts_status fr_call_builtin(fr *f, uint32_t node, const char *name, uint32_t n, const fr_value *args, fr_value *out);
/* What a tuple, static_iter or constant range holds, as a tuple. */
ts_status fr_items(fr *f, const fr_value *v, const char *what, fr_value *out);

/* Arguments of operations, checked. `i` is the position in the signature. */
static inline bool fr_given(const fr_call *c, uint32_t i)
{
    return c->arg[i].kind != FR_UNBOUND && c->arg[i].kind != FR_NONE;
}
const char *fr_arg_name(fr *f, const fr_call *c, uint32_t i);
ts_status fr_arg_error(fr *f, const fr_call *c, uint32_t i, const char *wanted);
ts_status fr_arg_int(fr *f, const fr_call *c, uint32_t i, int64_t *out);      /* constant */
ts_status fr_arg_flag(fr *f, const fr_call *c, uint32_t i, bool standard, bool *out);
ts_status fr_arg_dtype(fr *f, const fr_call *c, uint32_t i, ts_dtype *out);
/* A member of an enumeration of tile_op.def, and its name; 0 where it is not given. */
ts_status fr_arg_enum(fr *f, const fr_call *c, uint32_t i, const char *cls, uint32_t *out);
const char *fr_enum_member(const char *cls, uint32_t value);
ts_status fr_arg_shape(fr *f, const fr_call *c, uint32_t i, fr_shape *out);   /* powers of two */
ts_status fr_arg_axis(fr *f, const fr_call *c, uint32_t i, uint32_t rank, uint32_t *out);
ts_status fr_arg_tile(fr *f, const fr_call *c, uint32_t i, fr_value *out);    /* numbers become tiles */
ts_status fr_arg_array(fr *f, const fr_call *c, uint32_t i, fr_array **out);
ts_status fr_arg_attr(fr *f, const fr_call *c, uint32_t round, uint32_t ftz, uint32_t allowed,
                      ts_dtype dtype, uint32_t *out);

/* Pieces that several operations share. */
ts_status fr_tile_view(fr *f, fr_view *view); /* makes view->view from the other members */
ts_status fr_matmul(fr *f, const fr_value *x, const fr_value *y, fr_value *out);
ts_status fr_reshape_to(fr *f, const fr_value *tile, const fr_shape *shape, fr_value *out);
/* A number, string, dtype or enum member as Python prints it; NULL for anything else. */
const char *fr_plain_text(fr *f, const fr_value *v);
const char *fr_real_text(fr *f, double x); /* as Python writes a float */
const char *fr_int_text(fr *f, fr_int x, int base); /* 2, 8, 10 or 16 */
/* format.c: format(v, spec) of a number or text known at compile time. */
ts_status fr_format(fr *f, const fr_value *v, const char *spec, fr_value *out);
ts_status fr_fstring(fr *f, uint32_t node, fr_value *out);
/* str() or repr(): FR_STR where it is known at compile time, FR_FSTRING with tiles in it; a tile is given back. */
ts_status fr_text_of(fr *f, const fr_value *v, bool repr, fr_value *out);
ts_status fr_text_concat(fr *f, const fr_value *x, const fr_value *y, fr_value *out);
/* Base, extents and strides of an array with what its specialisation knows of them (front.c). */
ts_val fr_known_base(fr *f, const ts_spec *s, ts_val base);
fr_value fr_known_extent(fr *f, const ts_spec *s, uint32_t d, ts_val param, ts_dtype index);
fr_value fr_known_stride(fr *f, const ts_spec *s, uint32_t d, ts_val param, ts_dtype index);
ts_status fr_list_item(fr *f, const fr_list *list, const fr_value *index, fr_value *out);

/* ---- dialects ----------------------------------------------------------------------------------- */

/* Where the languages of kernels differ (docs/adr/0021): the walk asks the table of the source's dialect. Numbers are
 * what fr_value calls numbers and tiles; `of` is an array. A member that may be NULL says what happens then. */
typedef struct fr_dialect {
    const char *language, *operation; /* for messages: "tile language", "tile operation" */
    const char *callables, *elements; /* the same: what can be called, how the elements of an array are read */
    const char *tuples; /* the same: what to do where a tuple is no number */
    const char *const *members;       /* attributes of arrays and numbers, for messages; the last is NULL */
    const char *module;               /* what its users call its module; help that names another one is left out */
    ts_level level;
    /* Dtypes of literals; of an integer the first that holds it. What int(), float() and complex() give. */
    ts_dtype ints[3], real, complex;
    bool counts_down;  /* range takes constant steps below zero */
    bool iterates_arrays; /* `for` runs over the items of an array */
    bool numbers_are;  /* `is` of numbers: whether they are equal and of one type */
    bool has_zeros;    /* a variable without a value on some path is zero on it */
    const fr_op *ops;
    uint32_t n_ops;
    const fr_method *methods;
    uint32_t n_methods;
    const char *const (*numpy)[2]; /* pairs: NumPy's name of an operation, its name; ends with NULL. NULL: none */
    /* Operators of numbers, at least one of them when there are two; both may be known at compile time. */
    ts_status (*unary)(fr *f, ts_operator op, const fr_value *x, fr_value *out);
    ts_status (*binary)(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_options options,
                        fr_value *out);
    ts_status (*compare)(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out);
    ts_status (*minmax)(fr *f, bool is_max, const fr_value *x, const fr_value *y, uint32_t attr, fr_value *out);
    /* dtype(x) */
    ts_status (*cast)(fr *f, const fr_value *v, ts_dtype dtype, fr_value *out);
    /* The dtype of a variable that is a scalar of one dtype on one path and of another on the other; NONE: there is
     * none. NULL: only equal dtypes meet. */
    ts_dtype (*join)(ts_dtype a, ts_dtype b);
    /* The counter of range() over scalars of these dtypes; NULL: their common dtype. */
    ts_dtype (*counter)(uint32_t n, const ts_dtype *dtypes);
    /* Whether a range is seen to count up and to come to its stop without overflow. NULL: a look at the step alone, in
     * loop.c. */
    fr_counts (*counts_up)(const fr *f, ts_val start, ts_val stop, ts_val step);
    /* A new array, whose members but `view` are set. NULL: nothing to do. */
    ts_status (*array)(fr *f, fr_array *array);
    ts_status (*array_attribute)(fr *f, const fr_value *of, const char *name, fr_value *out, bool *found);
    /* What only this language's numbers have; NULL: nothing. */
    ts_status (*number_attribute)(fr *f, const fr_value *of, const char *name, fr_value *out, bool *found);
    ts_status (*get_item)(fr *f, uint32_t node, const fr_value *of, const fr_value *index, fr_value *out);
    ts_status (*set_item)(fr *f, uint32_t node, const fr_value *of, const fr_value *index, const fr_value *value);
    /* a.name = value, a[index] op= value .. of an array; NULL: an error. */
    ts_status (*set_attribute)(fr *f, uint32_t node, const fr_value *of, const char *name, const fr_value *value);
    /* A comparison with an array, where *done; NULL: an error. */
    ts_status (*compare_array)(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out, bool *done);
    /* An ELEMENTS object, an array of the host in constant memory; NULL: an error. */
    ts_status (*constant_array)(fr *f, uint32_t object, fr_value *out);
    bool has_structs;  /* arrays hold records and texts, and numbers at any bytes */
    /* A tuple of numbers that stands for an array of the host, as an array; *found. NULL: there is none. */
    ts_status (*array_of)(fr *f, const fr_value *tuple, fr_value *out, bool *found);
    /* tuple[index] where the index is not known at compile time. NULL: an error. */
    ts_status (*index_tuple)(fr *f, uint32_t node, const fr_value *tuple, const fr_value *index, fr_value *out);
    /* Builtins and functions of the standard library and NumPy ("abs", "math.sin", "numpy.sin") that are otherwise
     * here than in builtin.c; *done stays false for others. NULL: none. */
    ts_status (*builtin)(fr *f, uint32_t node, const char *name, uint32_t n, const fr_value *args, fr_value *out,
                         bool *done);
    /* `raise`, and `assert`, which end a thread. NULL: raise is no statement, assert calls the operation assert_. */
    ts_status (*raise)(fr *f, uint32_t node, fr_flow *flow);
    ts_status (*assertion)(fr *f, uint32_t node);
    /* Reports that `fine` is false of the step of a range, which is zero; NULL: as an assert. */
    void (*check_step)(fr *f, ts_val fine);
} fr_dialect;
extern const fr_dialect fr_dialect_tile, fr_dialect_thread;

/* Explicit conversion as a tile kernel's dtype(x) is. In promote.c. */
ts_status fr_tiles_cast(fr *f, const fr_value *v, ts_dtype dtype, fr_value *out);
/* Operators on values that are known to be numbers; the tile language's members of the table. In arith.c. */
ts_status fr_tiles_unary(fr *f, ts_operator op, const fr_value *x, fr_value *out);
ts_status fr_tiles_binary(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_options options,
                          fr_value *out);
ts_status fr_tiles_compare(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out);
ts_status fr_tiles_minmax(fr *f, bool is_max, const fr_value *x, const fr_value *y, uint32_t attr, fr_value *out);
/* "cannot add A and B with '+'" with help; y may be NULL. */
ts_status fr_bad_operands(fr *f, ts_operator op, const fr_value *x, const fr_value *y, const char *help);
/* -1, 0, 1 for numbers known at compile time; 2 with a NaN. And whether op holds for what it says. */
int fr_order(const fr_value *x, const fr_value *y);
bool fr_order_holds(ts_operator op, int order);

#endif
