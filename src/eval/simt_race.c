/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter at thread level: races on global memory within a thread block. Program order holds in a tile
 * block, so two of its warps that touch a byte, one of them writing, must have met at a barrier in between. What
 * each warp did last to a byte, by its vector clock (eval/simt_mem.c), is kept in a hash table of 4-byte words that
 * lives as long as the thread block. Atomic and ordered accesses, and copies by TMA, are not looked at.
 */
#include "eval/simt.h"

enum { RACE_WORD = 4 };

/* Clocks of one byte: the last write, and the last read after it of each warp that is in `readers`. */
typedef struct race_byte {
    uint32_t writer, write_clock; /* warp + 1; 0 = none */
    uint32_t readers;             /* a bit for each warp */
    uint32_t read_clock[];
} race_byte;
static_assert(SIMT_MAX_WARPS <= 32, "a bit for each warp");

struct simt_race_table {
    uint64_t *word;    /* address / RACE_WORD + 1; 0 = free */
    uint8_t *bytes;    /* RACE_WORD race_bytes a slot */
    uint32_t n, size;  /* size: a power of two */
};

size_t simt_touch_bytes(const simt_machine *machine)
{
    return sizeof(race_byte) + machine->n_warps * sizeof(uint32_t);
}

/* The warp whose access before this one it races with, + 1; 0: none. */
static uint32_t race_byte_touch(const simt_warp *w, race_byte *b, bool write, bool *written)
{
    const uint32_t own = w->index, clock = (uint32_t)w->clock[own];
    *written = b->writer && b->writer - 1 != own && b->write_clock > w->clock[b->writer - 1];
    if (*written)
        return b->writer;
    if (!write) {
        b->readers |= 1u << own;
        b->read_clock[own] = clock;
        return 0;
    }
    for (uint32_t left = b->readers & ~(1u << own); left; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(left);
        if (b->read_clock[k] > w->clock[k])
            return k + 1;
    }
    b->writer = own + 1;
    b->write_clock = clock;
    b->readers = 0;
    return 0;
}

bool simt_touch(const simt_warp *w, uint8_t *touched, uint64_t n, bool write, simt_race *race)
{
    const size_t each = simt_touch_bytes(w->cta->machine);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t other = race_byte_touch(w, (race_byte *)(void *)(touched + i * each), write, &race->written);
        if (other) {
            race->byte = (uint32_t)i;
            race->other = other - 1;
            return false;
        }
    }
    return true;
}

static uint32_t race_slot(const struct simt_race_table *t, uint64_t word)
{
    uint32_t at = (uint32_t)(ts_hash_mix(word, 0x9E3779B97F4A7C15u) >> 32) & (t->size - 1);
    while (t->word[at] && t->word[at] != word + 1)
        at = (at + 1) & (t->size - 1);
    return at;
}

static bool race_grow(simt_warp *w, struct simt_race_table *t)
{
    ts_arena *arena = &w->cta->machine->arena;
    size_t bytes = RACE_WORD * simt_touch_bytes(w->cta->machine);
    struct simt_race_table old = *t;
    t->size = old.size ? 2 * old.size : 1024;
    t->word = TS_NEW_N(arena, uint64_t, t->size);
    t->bytes = TS_NEW_N(arena, uint8_t, t->size * bytes);
    for (uint32_t i = 0; i < old.size && t->word && t->bytes; i++)
        if (old.word[i]) {
            uint32_t at = race_slot(t, old.word[i] - 1);
            t->word[at] = old.word[i];
            memcpy(t->bytes + at * bytes, old.bytes + i * bytes, bytes);
        }
    return t->word && t->bytes;
}

/* What is known of a byte of global memory; NULL when memory is out. */
static uint8_t *race_find(simt_warp *w, uint64_t address)
{
    struct simt_race_table *t = w->cta->race;
    uint64_t word = address / RACE_WORD;
    if (!t)
        t = w->cta->race = TS_NEW(&w->cta->machine->arena, struct simt_race_table);
    if (!t || (2 * t->n >= t->size && !race_grow(w, t)))
        return NULL;
    uint32_t at = race_slot(t, word);
    t->n += t->word[at] == 0;
    t->word[at] = word + 1;
    return t->bytes + (at * RACE_WORD + address % RACE_WORD) * simt_touch_bytes(w->cta->machine);
}

ts_status simt_global_touch(simt_warp *w, ts_val v, uint64_t address, const void *bytes, uint32_t n)
{
    if (!simt_run(w)->env->check_races || w->cta->machine->n_ctas > 1)
        return TS_OK;
    if (bytes && memcmp((const void *)(uintptr_t)address, bytes, n) == 0) /* replicas write the same */
        return TS_OK;
    for (uint32_t i = 0; i < n; i++) {
        simt_race race;
        uint8_t *touched = race_find(w, address + i);
        if (!touched)
            return simt_nomem(w);
        if (!simt_touch(w, touched, 1, bytes != NULL, &race))
            return eval_fail(simt_run(w), v, TS_LAUNCH,
                             "race: warp %u at address 0x%llx, which warp %u %s with no barrier between", w->index,
                             (unsigned long long)(address + i), race.other, race.written ? "wrote" : "read");
    }
    return TS_OK;
}
