/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the launch path: an argument list becomes a frame (args.c) of key words and parameter slots;
 * the words find the specialisation (kernel.c), the slots are what the device gets (launch.c).
 *
 * Key words. Every argument is one word; some are followed by more. All that code may depend on is in
 * them, and ts_spec is made from them alone, so equal words mean equal code.
 *
 *     bit  0- 3 kind    4- 8 dtype    9-12 rank    13 align16    14 64-bit indices    15 loose (array: see ts_spec)
 *     bit 16-23 unit_stride    24-31 stride_div16    32-39 shape_div16    40-47 shape_one
 *     bit 48-55 static_shape   56-63 static_stride
 *     then: arrays the static extents, then the static strides; constants, tuples and lists their value
 * A STRUCT has the alignment of its elements in the place of a dtype, then its object, then the words of its array.
 *
 * Behind the arguments (ts__frame_note_block) what a launch with a block asks for; a second word has the bytes of
 * dynamic shared memory. For a GPU both are empty but for bit 40:
 *     bit  0- 3 TS_SPEC_BLOCK    4-15 threads along x    16-27 y    28-39 z    40 at most TS_FEW_BLOCKS
 *
 * Code is compiled for arrays that lie apart. When an array that it writes shares bytes with another one, words behind
 * all others (WORD_SHARED, ts__frame_note_shared) lead to code that keeps their accesses in order:
 *     bit  0- 3 WORD_SHARED    8-15 number of the array    16-23 same_as    24 overlap
 */
#ifndef TS_RUN_LAUNCH_H
#define TS_RUN_LAUNCH_H

#include "base/lock.h"
#include "device/device.h"
#include "tessera/launch.h"

enum {
    LAUNCH_WORDS = 640, /* greatest number of key words */
    WORD_SHARED = 15, /* the kind of the words that say which arrays share memory */
    WORD_DTYPE = 4,
    WORD_RANK = 9,
    WORD_FEW = 40,
    WORD_ALIGN16 = 13,
    WORD_INDEX64 = 14,
    WORD_LOOSE = 15,
    WORD_UNIT = 16,
    WORD_STRIDE16 = 24,
    WORD_SHAPE16 = 32,
    WORD_ONE = 40,
    WORD_STATIC_SHAPE = 48,
    WORD_STATIC_STRIDE = 56
};
_Static_assert(TS_DTYPE_COUNT <= 1 << (WORD_RANK - WORD_DTYPE), "a dtype fits its bits");
/* Code from IR is what it is: it knows dtype, rank and width of an array's numbers, not their values. */
#define WORD_OF_IR ((((uint64_t)1 << WORD_ALIGN16) - 1) | (uint64_t)1 << WORD_INDEX64)

/* A list argument: its table goes to the device at each launch. */
typedef struct launch_list {
    uint32_t param;       /* slot of the pointer */
    uint32_t first, n;    /* the arrays among the arguments */
    uint32_t rank;
} launch_list;

enum { LAUNCH_LISTS = 8 };

/* An array that may not be written: what its plan says of it is looked up before the launch. */
typedef struct launch_readonly {
    uint32_t slot;        /* of its pointer, or of its list's */
    uint32_t param;       /* top-level parameter */
    bool overlaps;        /* because elements share memory; else it is read-only */
} launch_readonly;

typedef struct launch_span { /* the memory of an array argument that is not in a list */
    uintptr_t first, end;
    const ts_arg *arg;
    uint32_t word, param; /* where its words and its slots begin */
} launch_span;

typedef struct launch_frame {
    const ts_kernel *kernel;
    const ts_arg *args;
    size_t n_args;
    uint32_t n_words, n_params, n_lists, n_readonly, n_spans;
    bool has_device;
    bool has_buffers;     /* some array lies in memory of ours */
    bool may_share;       /* some span may meet another one */
    uint16_t device;      /* of the arrays */
    uint32_t device_arg;  /* which argument said so */
    uintptr_t low, high;  /* of all spans, for as long as each lies above or below those before it */
    uint64_t words[LAUNCH_WORDS];
    uint64_t params[TS_PLAN_PARAMS];
    launch_list lists[LAUNCH_LISTS];
    launch_readonly readonly[TS_LAUNCH_ARGS];
    launch_span spans[TS_LAUNCH_ARGS];
} launch_frame;

/* Reads and checks all arguments. */
TS_CHECKED ts_status ts__frame_fill(launch_frame *frame, const ts_kernel *kernel, const ts_arg *args, size_t n,
                                    ts_error *err);
/* Adds the words about arrays that share memory which code of this plan writes; false: there are none. Needed where
 * `may_share` alone. */
bool ts__frame_note_shared(launch_frame *frame, const ts_plan *plan);
/* Adds the words about the block. */
void ts__frame_note_block(launch_frame *frame, const ts_launch_config *config, const int64_t grid[3], bool is_cpu);
/* At most TS_LAUNCH_ARGS items, and one for the block. */
size_t ts__frame_spec(const launch_frame *frame, ts_spec *spec);
/* The table entry of one array of a list: pointer, extents, strides. */
void ts__frame_list_item(const ts_arg *array, uint64_t *words);
/* "argument 'a'" or "argument 2" for messages, of the top-level parameter. */
const char *ts__param_label(const ts_kernel *kernel, size_t param, char *room, size_t n);

/* ---- kernels ------------------------------------------------------------------------------------ */

/* One specialisation; immutable once published, but for its program. */
typedef struct kernel_entry {
    uint64_t hash;
    uint32_t n_words;
    uint16_t device;
    _Atomic(ts_program *) program; /* one takes the place of another where there are tiers (tier.c) */
    ts_program *before;            /* that other one, which launches under way may still use; or NULL */
    struct kernel_entry *older;    /* every entry ever made, for the end */
    uint64_t words[];
} kernel_entry;

static inline ts_program *ts__entry_program(const kernel_entry *entry)
{
    return atomic_load_explicit(&entry->program, memory_order_acquire);
}

/* Open addressing; never more than half full; replaced, not changed, when it grows. */
typedef struct kernel_table {
    uint32_t mask, n;
    struct kernel_table *older;
    _Atomic(kernel_entry *) slots[];
} kernel_table;

typedef struct kernel_param { /* a ts_param of ours */
    char *name; /* NULL: none */
    uint16_t flags;
    uint8_t static_shape, static_stride, dtype;
    uint8_t asks; /* PARAM_ASKS_..., so that a launch looks at one byte where there is nothing to do */
    uint8_t static_shape_end, static_stride_end, form, n_items;
    struct kernel_param *items;
} kernel_param;
enum {
    PARAM_ASKS_KIND = 1,    /* that the argument is a tuple, a list or no container */
    PARAM_ASKS_STATICS = 2, /* that extents or strides of an array are constants */
    PARAM_ASKS_NUMBER = 4,  /* that it is no array */
    PARAM_ASKS_COMPLEX = 8  /* that a number is complex */
};

struct ts_kernel {
    const ts_alloc *alloc;
    _Atomic uint32_t references;
    _Atomic(kernel_table *) table;
    char *name, *file;
    ts_source source;      /* its bytes and texts are ours; a module is its text */
    _Atomic bool lacks_pack; /* source.bytes is still to be asked for (ts__kernel_read) */
    uint64_t array_mask;   /* the bits of an array's word that this kernel's code may depend on */
    kernel_param *params;
    size_t n_params;       /* 0 with params NULL: any number */
    ts_hints hints;
    ts_target_hints by_target[TS_LAUNCH_TARGETS];
    size_t n_by_target;
    ts_lock lock;          /* specialising */
    kernel_entry *entries; /* all, newest first; under lock */
    _Atomic uint64_t n_specialised, n_compiled, n_from_memory, n_from_disk, compile_ns, load_ns, n_serialised;
};

/* With TS_CHECK_WATCHED: the interpreter runs the kernel (watched.c). */
TS_CHECKED ts_status ts__launch_watched(const launch_frame *frame, const ts_stream *stream,
                                        const ts_launch_shape *shape, ts_error *err);

/* The hints that hold on a target. */
static inline const ts_hints *ts__kernel_hints(const ts_kernel *kernel, ts_target target)
{
    for (size_t i = 0; i < kernel->n_by_target; i++)
        if (kernel->by_target[i].target == target)
            return &kernel->by_target[i].hints;
    return &kernel->hints;
}

static inline uint64_t ts__frame_hash(const launch_frame *frame, uint16_t device)
{
    uint64_t hash = 0x9E3779B97F4A7C15u ^ device ^ (uint64_t)frame->n_words << 32;
    for (uint32_t i = 0; i < frame->n_words; i++)
        hash = ((hash << 5 | hash >> 59) ^ frame->words[i]) * 0xFF51AFD7ED558CCDu;
    return hash ^ hash >> 32;
}

/* A few words: a call of memcmp costs more. */
static inline bool ts__frame_is_of(const launch_frame *frame, const kernel_entry *entry)
{
    uint64_t differs = entry->n_words ^ frame->n_words;
    for (uint32_t i = 0; i < frame->n_words && !differs; i++)
        differs = entry->words[i] ^ frame->words[i];
    return !differs;
}

/* NULL when there is none, or it was loaded before a reset of its device. No lock. */
static inline const kernel_entry *ts__kernel_find(const ts_kernel *kernel, const launch_frame *frame,
                                                  const ts_device *device, uint64_t hash)
{
    const kernel_table *table = atomic_load_explicit(&kernel->table, memory_order_acquire);
    for (uint32_t i = (uint32_t)hash;; i++) {
        const kernel_entry *entry = atomic_load_explicit(&table->slots[i & table->mask], memory_order_acquire);
        if (!entry)
            return NULL;
        if (entry->hash == hash && entry->device == device->id && ts__frame_is_of(frame, entry))
            return ts__entry_program(entry)->epoch == atomic_load_explicit(&device->epoch, memory_order_relaxed)
                       ? entry : NULL;
    }
}

/* The arrays' device, or the stream's where there are no arrays; and the stream on it. */
TS_CHECKED ts_status ts__launch_device(const launch_frame *frame, const ts_stream *given, ts_stream *room,
                                       const ts_stream **stream, ts_error *err);

/* Code of a kernel for arguments of some kinds, loaded. Owns: *out. */
typedef struct kernel_wish {
    ts_kernel *kernel;
    ts_device *device;
    const ts_spec *spec;
    size_t n_spec;
    uint32_t n_params;  /* that the launch gives */
    ts_hints hints;
    bool cached_only;   /* TS_NOTFOUND, without a message, where nothing is in the cache */
    bool kept_loaded;   /* code goes to the cache once it is loaded: the driver has kept what it made of it by then */
    bool never_asks;    /* compiled without the kernel's host */
} kernel_wish;
/* Whether the host has a say in the code: its answers are part of the key, which only lowering finds. */
bool ts__kernel_is_hosted(const ts_kernel *kernel, const ts_spec *spec, size_t n_spec);
TS_CHECKED ts_status ts__kernel_program(const kernel_wish *wish, ts_program **out, ts_error *err);

/* Asks the host for the pack, where the kernel was made without. Not under the kernel's lock: the host may wait for
 * what another launch holds. */
TS_CHECKED ts_status ts__kernel_read(ts_kernel *kernel, ts_error *err);

/* Tiers (tier.c): whether `wish` is one that is met by code quickly made at first, and then makes the other code in the
 * background, for the launches that come after. */
bool ts__tier_is_wanted(const kernel_wish *wish);
void ts__tier_begin(kernel_entry *entry, const kernel_wish *wish);
/* A launch of this program: in a child of fork quick code says that the making of fast code goes on. */
void ts__tier_resume(const ts_program *program);

/* Compiles, loads and publishes what is missing; with `kept_only` TS_NOTFOUND where it would have to be compiled. */
TS_CHECKED ts_status ts__kernel_specialise(ts_kernel *kernel, const launch_frame *frame, ts_device *device,
                                           uint64_t hash, bool kept_only, const kernel_entry **out, ts_error *err);

#endif
