/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPython extension tessera._bindings: one interpreter for the tables python/tessera/bindings/NAME.api. A table
 * says what a C function takes and gives and how structs are laid out; the objects here convert, call and wrap
 * by it. There is no code per function.
 *
 *   Type     what a name of the table means: a scalar, an enum, a handle, a struct
 *   Handle   base of handle and integer classes: one 8-byte cell with an address
 *   Record   base of struct classes: bytes, its own or of another object; Field is an attribute of it
 *   Function a callable C function, looked up at its first call
 *
 * Read next: function.c.
 */
#ifndef TS_EXT_BINDINGS_H
#define TS_EXT_BINDINGS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* What a value is in C. The numbers are known to tessera/bindings/_api.py. */
typedef enum bind_kind {
    BIND_I8, BIND_U8, BIND_I16, BIND_U16, BIND_I32, BIND_U32, BIND_I64, BIND_U64, BIND_F32, BIND_F64,
    BIND_ENUM, BIND_HANDLE, BIND_INTEGER, BIND_RECORD, BIND_POINTER, BIND_TEXT, BIND_BOOL
} bind_kind;

typedef struct bind_type {
    PyObject_HEAD
    uint8_t kind, base;  /* bind_kind; `base` is the scalar of enums and integer classes */
    uint32_t size, align;
    PyObject *name;      /* str; owned */
    PyObject *class;     /* of enums, handles, integers and records; owned, or NULL */
    PyObject *members;   /* of enums: value -> member; owned */
    PyObject *accepts;   /* of handles: tuple of names of other handles taken for it; owned, or NULL */
    struct {
        uint32_t counter;     /* offset of the field that counts the list */
        PyObject *name;       /* borrowed from the field */
    } lists[2];          /* of records: members that are lists */
    int n_lists;
} bind_type;

typedef struct bind_handle {
    PyObject_HEAD
    void *at;        /* &value, or foreign memory */
    uint64_t value;
    bind_type *type; /* lives as long as the class: see type_bind */
} bind_handle;

typedef struct bind_record {
    PyObject_HEAD
    char *data;
    PyObject *owner; /* the object whose memory `data` is; NULL: our own block, or foreign when !owned */
    PyObject *kept;  /* dict: field name -> what its pointer points into */
    bind_type *type; /* owned */
    bool owned;
} bind_record;

/* How a parameter is passed, or a field is stored. Known to _api.py. */
typedef enum bind_mode {
    BIND_IN, BIND_IN_RECORD, BIND_IN_LIST, BIND_IN_PARAMS, BIND_IN_CELL,
    BIND_INOUT, BIND_OUT, BIND_OUT_LIST, BIND_OUT_BYTES,
    BIND_FIELD, BIND_FIELD_ARRAY, BIND_FIELD_POINTER, BIND_FIELD_LIST, BIND_FIELD_PARAMS,
    BIND_OUT_TYPED, /* a value whose type follows from another argument: its counter */
    BIND_IN_BUFFER  /* char * that is written to: memory with a length, no address */
} bind_mode;

/* Attributes that are asked for by name: BIND_NAME(member, "text") is bind_state.name_<member>. */
#define BIND_NAMES(BIND_NAME)       \
    BIND_NAME(type, "_type")        \
    BIND_NAME(get_ptr, "getPtr")    \
    BIND_NAME(value, "value")

typedef struct bind_state {
    PyTypeObject *type_type, *handle_type, *record_type, *field_type, *function_type;
#define BIND_NAME(member, text) PyObject *name_##member;
    BIND_NAMES(BIND_NAME)
#undef BIND_NAME
    PyObject *ctypes;                                /* dict: ctypes class -> small int; or NULL */
} bind_state;

/* The state of the module that made `type` or one of its bases. */
bind_state *bind_state_of(PyTypeObject *type);

/* ---- convert.c: one value ------------------------------------------------------------------------------- */

/* What a call or an assignment keeps alive and gives back at its end. */
enum { BIND_VIEWS = 12, BIND_BLOCKS = 12, BIND_ARGS = 24, BIND_NEAR = 512 };
typedef struct bind_frame {
    bind_state *state;
    const char *function; /* for messages */
    int n_views, n_blocks;
    void *near;           /* BIND_NEAR bytes for the first block, aligned to 128; NULL: none, all blocks are apart */
    Py_buffer views[BIND_VIEWS];
    void *blocks[BIND_BLOCKS];
    PyObject *items[BIND_BLOCKS]; /* owned: the tuple whose members a block points into; or NULL */
} bind_frame;

void bind_frame_release(bind_frame *frame);
void *bind_frame_block(bind_frame *frame, size_t bytes); /* zeroed; NULL with exception */

/* A Python object as the C value of a type. `what` names it in messages: "cuMemAlloc: bytesize". */
int bind_word(bind_type *type, PyObject *object, const char *function, const char *what, uint64_t *word);
int bind_scalar(int kind, PyObject *object, const char *function, const char *what, uint64_t *word);
/* void*: an int, None, a buffer, a handle. *bytes is the length of a buffer, else -1. */
int bind_pointer(bind_frame *frame, PyObject *object, const char *what, uint64_t *word, Py_ssize_t *bytes);
int bind_text(bind_frame *frame, PyObject *object, const char *what, uint64_t *word);
int bind_store(bind_type *type, void *at, PyObject *object, const char *function, const char *what);
PyObject *bind_load(bind_type *type, const void *at);
PyObject *bind_complain(PyObject *class, const char *function, const char *what, const char *format, ...);
uint32_t bind_scalar_size(int kind);

/* A list of values in one block of the frame. *n is its length. */
int bind_list(bind_frame *frame, bind_type *type, PyObject *object, const char *what, uint64_t *word, Py_ssize_t *n);

/* ---- params.c: kernelParams in all its forms ------------------------------------------------------------- */

int bind_params(bind_frame *frame, PyObject *object, uint64_t *word);

/* ---- the types ------------------------------------------------------------------------------------------ */

int bind_type_init(PyObject *module, bind_state *state);
int bind_handle_init(PyObject *module, bind_state *state);
int bind_record_init(PyObject *module, bind_state *state);
int bind_function_init(PyObject *module, bind_state *state);

bind_type *bind_class_type(PyTypeObject *class); /* of a class of handles or records; borrowed; NULL with exception */
PyObject *bind_handle_new(bind_type *type, uint64_t value);
bind_record *bind_record_new(bind_type *type);                             /* zeroed, its own memory */
bind_record *bind_record_view(bind_type *type, void *data, PyObject *owner); /* owner may be NULL */
/* Whether the counts of its lists are true; 0, or -1 with exception. */
int bind_record_check(bind_record *record);
int bind_record_keep(bind_record *record, PyObject *name, PyObject *object);
PyObject *bind_add_type(PyObject *module, PyType_Spec *spec);

#define BIND_IS(state, object, which) PyObject_TypeCheck(object, (state)->which##_type)

#endif
