/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter at thread level: races on global memory within a thread block. Program order holds in a tile
 * block, so two of its warps that touch a byte, one of them writing, must have met at a barrier in between. What
 * each warp did last to a byte, by its vector clock (eval/simt_mem.c), is kept in a hash table of 4-byte words that
 * lives as long as the thread block. Atomic and ordered accesses, and copies by TMA, are not looked at.
 */
#include "eval/simt.h"

enum { RACE_WORD = 4 };

/* Clocks of one byte: the last write, and after it the last read of every warp. */
typedef struct race_byte {
    uint32_t writer, write_clock; /* warp + 1; 0 = none */
    uint32_t read_clock[];
} race_byte;

struct simt_race_table {
    uint64_t *word;    /* address / RACE_WORD + 1; 0 = free */
    uint8_t *bytes;    /* RACE_WORD race_bytes a slot */
    uint32_t n, size;  /* size: a power of two */
};

static size_t race_stride(const simt_warp *w)
{
    return sizeof(race_byte) + w->cta->machine->n_warps * sizeof(uint32_t);
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
    size_t bytes = RACE_WORD * race_stride(w);
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

static race_byte *race_find(simt_warp *w, uint64_t address)
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
    return (race_byte *)(void *)(t->bytes + (at * RACE_WORD + address % RACE_WORD) * race_stride(w));
}

static ts_status race_fail(const simt_warp *w, ts_val v, uint64_t address, uint32_t other, const char *did)
{
    return eval_fail(simt_run(w), v, TS_LAUNCH,
                     "race: warp %u at address 0x%llx, which warp %u %s with no barrier between",
                     w->index, (unsigned long long)address, other, did);
}

static ts_status race_byte_touch(simt_warp *w, ts_val v, uint64_t address, bool write)
{
    race_byte *b = race_find(w, address);
    uint32_t n = w->cta->machine->n_warps;
    if (!b)
        return simt_nomem(w);
    if (b->writer && b->writer - 1 != w->index && b->write_clock > w->clock[b->writer - 1])
        return race_fail(w, v, address, b->writer - 1, "wrote");
    for (uint32_t k = 0; write && k < n; k++)
        if (k != w->index && b->read_clock[k] > w->clock[k])
            return race_fail(w, v, address, k, "read");
    if (write) {
        b->writer = w->index + 1;
        b->write_clock = (uint32_t)w->clock[w->index];
        memset(b->read_clock, 0, n * sizeof *b->read_clock);
    } else
        b->read_clock[w->index] = (uint32_t)w->clock[w->index];
    return TS_OK;
}

ts_status simt_global_touch(simt_warp *w, ts_val v, uint64_t address, const void *bytes, uint32_t n)
{
    if (!simt_run(w)->env->check_races || w->cta->machine->n_ctas > 1)
        return TS_OK;
    if (bytes && memcmp((const void *)(uintptr_t)address, bytes, n) == 0) /* replicas write the same */
        return TS_OK;
    for (uint32_t i = 0; i < n; i++)
        TS_TRY(race_byte_touch(w, v, address + i, bytes != NULL));
    return TS_OK;
}
