/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of algorithms: packs with choices (compute.def).
 *
 *     text          base64 of numbers of seven bits a byte, then of the strings: a pack (src/lang/pack.h) without what
 *                   follows from the rest, which is magic, version, where strings begin, and places in files
 *       --> words   the pack of the first choice on each axis
 *       --> changes which words the other choices make into what
 *       --> ts_kernel, which is kept
 */
#include "base/lock.h"
#include "lib/compute.h"
#include <stdatomic.h>

typedef struct compute_change {
    uint32_t at, word;
} compute_change;

typedef struct compute_row {
    const char *function, *file;
    const ts_param *params;
    size_t n_params;
    const char *const *text;
    const compute_change *changes;
    compute_axis_choices axes[COMPUTE_AXES];
    uint32_t record; /* object of the pack that describes records in temporary memory */
} compute_row;

#define COMPUTE_TABLES
#include "lib/compute.def"

enum { COMPUTE_MOST = 1280, COMPUTE_HEAD = 8, COMPUTE_NODE = 9, COMPUTE_OBJECT = 4, COMPUTE_FUNCTION = 9,
       COMPUTE_OWN_MOST = 1 << 20 };

/* A kernel with an operator of the program. */
typedef struct compute_own {
    const struct compute_own *next;
    ts_kernel *kernel;
    compute_number number;
    uint32_t index;
    char text[];
} compute_own;

static struct {
    ts_lock lock; /* making */
    _Atomic(ts_kernel *) made[COMPUTE_COUNT][COMPUTE_MOST]; /* by the choices as digits of one number */
    _Atomic(const compute_own *) own; /* all of them, the newest first */
} compute_kernels = {.lock = TS_LOCK_INIT};

/* ---- packs ------------------------------------------------------------------------------------------- */

typedef struct compute_reader {
    const char *const *rows;
    const char *next;
    uint32_t bits, n_bits;
} compute_reader;

static uint32_t reader_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a' + 26);
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0' + 52);
    return c == '+' ? 62 : c == '/' ? 63 : 0;
}

static uint8_t reader_byte(compute_reader *r)
{
    while (r->n_bits < 8) {
        while (!*r->next)
            r->next = *r->rows++;
        r->bits = r->bits << 6 | reader_digit(*r->next++);
        r->n_bits += 6;
    }
    r->n_bits -= 8;
    return (uint8_t)(r->bits >> r->n_bits);
}

static uint32_t reader_number(compute_reader *r)
{
    uint32_t value = 0;
    for (uint32_t shift = 0;; shift += 7) {
        uint8_t byte = reader_byte(r);
        value |= (uint32_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
}

typedef struct compute_pack {
    uint32_t *words;
    size_t n_words, bytes;
} compute_pack;

/* The words between the head and the strings. */
static void pack_fill(compute_reader *r, compute_pack *pack)
{
    uint32_t *words = pack->words, n_strings = words[2], n_nodes = words[3];
    size_t at = COMPUTE_HEAD + n_strings;
    for (uint32_t i = 0; i < n_nodes; i++, at += COMPUTE_NODE)
        for (uint32_t k = 0; k < COMPUTE_NODE; k++)
            words[at + k] = k == 0 || k > 4 ? reader_number(r) : 0;
    for (; at < pack->n_words; at++)
        words[at] = reader_number(r);
    char *strings = (char *)(words + pack->n_words);
    for (uint32_t i = 0, n = 0; i < words[7]; i++) {
        if (i == 0 || !strings[i - 1])
            words[COMPUTE_HEAD + n++] = i;
        strings[i] = (char)reader_byte(r);
    }
}

/* Where the text begins that stands for the program's operator; NULL where there is none. */
static uint32_t *pack_own_place(const compute_pack *pack)
{
    const char *strings = (const char *)(pack->words + pack->n_words);
    for (uint32_t i = 0; i < pack->words[2]; i++)
        if (!strcmp(strings + pack->words[COMPUTE_HEAD + i], COMPUTE_OWN))
            return &pack->words[COMPUTE_HEAD + i];
    return NULL;
}

/* Puts the program's operator into the place of the text that stands for it; there is room behind the strings. */
static void pack_own(compute_pack *pack, const char *own)
{
    char *strings = (char *)(pack->words + pack->n_words);
    uint32_t *place = pack_own_place(pack);
    if (place)
        *place = pack->words[7];
    memcpy(strings + pack->words[7], own, strlen(own) + 1);
    pack->words[7] += (uint32_t)strlen(own) + 1;
}

/* Owns: out->words, of `alloc`. */
static ts_status pack_read(const compute_row *row, const char *own, const ts_alloc *alloc, compute_pack *out,
                           ts_error *err)
{
    compute_reader r = {row->text + 1, row->text[0], 0, 0};
    uint32_t head[COMPUTE_HEAD] = {COMPUTE_MAGIC, COMPUTE_VERSION};
    for (int i = 2; i < COMPUTE_HEAD; i++)
        head[i] = reader_number(&r);
    out->n_words = COMPUTE_HEAD + (size_t)head[2] + (size_t)head[3] * COMPUTE_NODE + head[4] +
                   (size_t)head[5] * COMPUTE_OBJECT + (size_t)head[6] * COMPUTE_FUNCTION;
    out->bytes = out->n_words * 4 + head[7] + (own ? strlen(own) + 1 : 0);
    out->words = alloc->resize(alloc->user, NULL, 0, out->bytes);
    if (!out->words)
        return ts_fail(err, TS_NOMEM, "out of memory for kernel '%s' of an algorithm", row->function);
    memcpy(out->words, head, sizeof head);
    pack_fill(&r, out);
    if (own)
        pack_own(out, own);
    return TS_OK;
}

/* ---- kernels ----------------------------------------------------------------------------------------- */

const compute_choice *ts__compute_choice(const compute_key *key, compute_axis axis)
{
    const compute_axis_choices *choices = &compute_rows[key->number].axes[axis];
    const compute_choice *choice = choices->at + key->at[axis];
    return key->at[axis] < choices->n && choice->there ? choice : NULL;
}

uint32_t ts__compute_record(const compute_key *key)
{
    return compute_rows[key->number].record;
}

static uint32_t key_index(const compute_key *key)
{
    uint32_t index = 0;
    for (int axis = 0; axis < COMPUTE_AXES; axis++) {
        uint32_t n = compute_rows[key->number].axes[axis].n;
        index = n ? index * n + key->at[axis] : index;
    }
    ts_assert(index < COMPUTE_MOST);
    return index;
}

/* Makes the words of the pack those of the choices. */
static void key_apply(const compute_key *key, compute_pack *pack)
{
    const compute_row *row = &compute_rows[key->number];
    for (int axis = 0; axis < COMPUTE_AXES; axis++) {
        const compute_choice *choice = row->axes[axis].n ? ts__compute_choice(key, (compute_axis)axis) : NULL;
        for (uint32_t i = 0; choice && i < choice->n; i++)
            pack->words[row->changes[choice->first + i].at] = row->changes[choice->first + i].word;
    }
}

void ts__compute_about(const compute_key *key, ts_kernel_desc *out)
{
    const compute_row *row = &compute_rows[key->number];
    *out = (ts_kernel_desc){.name = row->function, .file = row->file, .params = row->params, .n_params = row->n_params,
                            .hints.opt_level = TS_OPT_LEVEL};
    ts_hints *hints = &out->hints;
    for (int axis = 0; axis < COMPUTE_AXES; axis++) {
        const compute_choice *choice = row->axes[axis].n ? ts__compute_choice(key, (compute_axis)axis) : NULL;
        hints->num_worker_warps = choice && choice->warps ? choice->warps : hints->num_worker_warps;
        hints->occupancy = choice && choice->occupancy ? choice->occupancy : hints->occupancy;
    }
}

void ts_compute_desc_deinit(ts_kernel_desc *desc)
{
    const ts_alloc *alloc = ts_alloc_default();
    if (desc && desc->source.bytes)
        alloc->resize(alloc->user, (void *)(uintptr_t)desc->source.bytes, desc->source.n, 0);
    if (desc)
        desc->source = (ts_source){0};
}

/* Whether the kernel is made with an operator of the program: by its choices or, without such an axis, always. */
static bool key_needs_own(const compute_key *key, const compute_pack *pack)
{
    if (ts__compute_choice(key, COMPUTE_combine))
        return key->at[COMPUTE_combine] == TS_COMBINE_own;
    return ts__compute_choice(key, COMPUTE_own) ? key->at[COMPUTE_own] != 0 : pack_own_place(pack) != NULL;
}

/* What the kernel is made of. Owns: out->source.bytes, which ts_compute_desc_deinit frees. */
static ts_status desc_make(const compute_key *key, const char *own, ts_kernel_desc *out, ts_error *err)
{
    const compute_row *row = &compute_rows[key->number];
    compute_pack pack;
    ts__compute_about(key, out);
    TS_TRY(pack_read(row, own, ts_alloc_default(), &pack, err));
    key_apply(key, &pack);
    out->source.bytes = pack.words, out->source.n = pack.bytes;
    if (own || !key_needs_own(key, &pack))
        return TS_OK;
    ts_compute_desc_deinit(out);
    return ts_fail(err, TS_VALUE, "choices: kernel '%s' takes an operator of the program here; no words stand for one",
                   row->function);
}

static ts_status kernel_make(const compute_key *key, const char *own, ts_kernel **out, ts_error *err)
{
    ts_kernel_desc desc;
    TS_TRY(desc_make(key, own, &desc, err));
    ts_status status = ts_kernel_create(&desc, out, err);
    ts_compute_desc_deinit(&desc);
    return status;
}

ts_status ts__compute_desc_make(const compute_key *key, ts_kernel_desc *out, ts_error *err)
{
    return desc_make(key, NULL, out, err);
}

static ts_kernel *own_find(const compute_key *key, const char *text)
{
    const compute_own *own = atomic_load_explicit(&compute_kernels.own, memory_order_acquire);
    uint32_t index = key_index(key);
    while (own && (own->number != key->number || own->index != index || strcmp(own->text, text)))
        own = own->next;
    return own ? own->kernel : NULL;
}

static ts_status own_make(const compute_key *key, const char *text, ts_kernel **out, ts_error *err)
{
    const ts_alloc *alloc = ts_alloc_default();
    size_t n = strlen(text) + 1, bytes = sizeof(compute_own) + n;
    if (n >= COMPUTE_OWN_MOST)
        return ts_fail(err, TS_VALUE, "options.own has %zu characters; an operator has less than %d", n - 1,
                       COMPUTE_OWN_MOST);
    compute_own *own = alloc->resize(alloc->user, NULL, 0, bytes);
    if (!own)
        return ts_fail(err, TS_NOMEM, "out of memory for an operator of %zu characters", n - 1);
    ts_status status = kernel_make(key, text, out, err);
    if (status != TS_OK) {
        alloc->resize(alloc->user, own, bytes, 0);
        return status;
    }
    *own = (compute_own){atomic_load(&compute_kernels.own), *out, key->number, key_index(key)};
    memcpy(own->text, text, n);
    atomic_store_explicit(&compute_kernels.own, own, memory_order_release);
    return TS_OK;
}

/* Kernels with operators of programs are looked for in a list: few have more than some. */
static ts_status own_kernel(const compute_key *key, const char *text, ts_kernel **out, ts_error *err)
{
    *out = own_find(key, text);
    if (*out)
        return TS_OK;
    ts__lock_take(&compute_kernels.lock);
    *out = own_find(key, text);
    ts_status status = *out ? TS_OK : own_make(key, text, out, err);
    ts__lock_give(&compute_kernels.lock);
    return status;
}

ts_status ts__compute_kernel(const compute_key *key, const char *own, ts_kernel **out, ts_error *err)
{
    if (own)
        return own_kernel(key, own, out, err);
    _Atomic(ts_kernel *) *place = &compute_kernels.made[key->number][key_index(key)];
    *out = atomic_load_explicit(place, memory_order_acquire);
    if (*out)
        return TS_OK;
    ts__lock_take(&compute_kernels.lock);
    *out = atomic_load_explicit(place, memory_order_acquire); /* another thread may have been faster */
    ts_status status = *out ? TS_OK : kernel_make(key, NULL, out, err);
    if (status == TS_OK)
        atomic_store_explicit(place, *out, memory_order_release);
    ts__lock_give(&compute_kernels.lock);
    return status;
}
