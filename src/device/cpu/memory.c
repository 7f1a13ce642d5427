/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooled host memory. Freed blocks are kept by size class and handed out again, so that arrays of a loop
 * cost neither system calls nor page faults. Four classes per power of two: at most a fifth is wasted.
 *
 *     from the hook:  | slack | header (64 bytes) | data, aligned ... |
 *                                                 ^ what the caller has
 */
#include "device/cpu/cpu.h"
#include <sys/mman.h>
#include <unistd.h>

struct cpu_block {
    void *base;        /* what the hook gave */
    size_t total;      /* its size */
    size_t bytes;      /* usable, a class size */
    cpu_block *next;   /* while kept */
    char pad[CPU_ALIGN - 4 * sizeof(void *)];
};
_Static_assert(sizeof(cpu_block) == CPU_ALIGN, "data follows its header at the alignment");

/* Class 4*p + q holds blocks of 2^p * (4 + q) / 4 bytes. */
static uint32_t memory_class(size_t bytes, size_t *rounded)
{
    if (bytes < CPU_ALIGN)
        bytes = CPU_ALIGN;
    int p = 63 - __builtin_clzll((unsigned long long)bytes);
    size_t base = (size_t)1 << p, quarter = base / 4;
    size_t q = (bytes - base + quarter - 1) / quarter; /* 0 to 4; 4 is the next power */
    *rounded = base + q * quarter;
    return (uint32_t)(4 * (size_t)p + q);
}

static uint64_t memory_keep_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    uint64_t eighth = pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes / 8 : 0;
    return TS_MAX(eighth, (uint64_t)64 << 20);
}

void cpu_memory_init(cpu_memory *memory, const ts_alloc *alloc)
{
    memset(memory, 0, sizeof *memory);
    memory->alloc = alloc;
    memory->keep_limit = memory_keep_limit();
    pthread_mutex_init(&memory->lock, NULL);
}

void cpu_memory_deinit(cpu_memory *memory)
{
    cpu_memory_trim(memory);
    pthread_mutex_destroy(&memory->lock);
}

static cpu_block *memory_fresh(cpu_memory *memory, size_t bytes)
{
    size_t align = bytes >= CPU_HUGE ? CPU_HUGE : CPU_ALIGN;
    size_t total = bytes + align + sizeof(cpu_block);
    char *base = memory->alloc->resize(memory->alloc->user, NULL, 0, total);
    if (!base)
        return NULL;
    uintptr_t data = ((uintptr_t)base + sizeof(cpu_block) + align - 1) & ~(uintptr_t)(align - 1);
    cpu_block *block = (cpu_block *)data - 1;
    *block = (cpu_block){.base = base, .total = total, .bytes = bytes};
    if (align == CPU_HUGE)
        madvise((void *)data, bytes & ~(CPU_HUGE - 1), MADV_HUGEPAGE); /* advice only: may fail */
    return block;
}

static void memory_release(cpu_memory *memory, cpu_block *block)
{
    memory->alloc->resize(memory->alloc->user, block->base, block->total, 0);
}

void *cpu_memory_get(cpu_memory *memory, size_t bytes)
{
    size_t rounded;
    if (bytes / 128 > memory->keep_limit)
        return NULL; /* sixteen times the machine's memory: do not even ask */
    uint32_t class = memory_class(bytes, &rounded);
    pthread_mutex_lock(&memory->lock);
    cpu_block *block = memory->kept[class];
    if (block) {
        memory->kept[class] = block->next;
        memory->kept_bytes -= rounded;
        memory->used_bytes += rounded;
    }
    pthread_mutex_unlock(&memory->lock);
    if (block)
        return block + 1;
    block = memory_fresh(memory, rounded);
    if (!block) {
        cpu_memory_trim(memory);
        block = memory_fresh(memory, rounded);
    }
    if (!block)
        return NULL;
    pthread_mutex_lock(&memory->lock);
    memory->used_bytes += rounded;
    pthread_mutex_unlock(&memory->lock);
    return block + 1;
}

void cpu_memory_put(cpu_memory *memory, void *at)
{
    if (!at)
        return;
    cpu_block *block = (cpu_block *)at - 1;
    size_t rounded;
    uint32_t class = memory_class(block->bytes, &rounded);
    pthread_mutex_lock(&memory->lock);
    memory->used_bytes -= rounded;
    bool keep = memory->kept_bytes + rounded <= memory->keep_limit;
    if (keep) {
        block->next = memory->kept[class];
        memory->kept[class] = block;
        memory->kept_bytes += rounded;
    }
    pthread_mutex_unlock(&memory->lock);
    if (!keep)
        memory_release(memory, block);
}

void cpu_memory_trim(cpu_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    for (uint32_t class = 0; class < CPU_CLASSES; class++)
        while (memory->kept[class]) {
            cpu_block *block = memory->kept[class];
            memory->kept[class] = block->next;
            memory->kept_bytes -= block->bytes;
            memory_release(memory, block);
        }
    pthread_mutex_unlock(&memory->lock);
}
