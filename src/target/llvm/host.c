/* SPDX-License-Identifier: Apache-2.0
 *
 * What the processor can do, from cpuid and xgetbv and not from LLVM, whose answer depends on its age.
 * The result names a plain architecture level and spells every feature out, so that LLVM 15 and 22
 * make the same code.
 */
#include "target/llvm/llvm.h"

#include <stdio.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* One feature: cpuid leaf, register (0 a, 1 b, 2 c, 3 d), bit, LLVM's name, what the system must save. */
typedef struct host_bit {
    uint32_t leaf, sub, reg, bit;
    const char *name;
    uint64_t state;
} host_bit;
enum { HOST_YMM = 6, HOST_ZMM = 0xE6 };

static const host_bit host_bits[] = {
    {1, 0, 2, 0, "sse3", 0},          {1, 0, 2, 9, "ssse3", 0},         {1, 0, 2, 19, "sse4.1", 0},
    {1, 0, 2, 20, "sse4.2", 0},       {1, 0, 2, 23, "popcnt", 0},       {1, 0, 2, 22, "movbe", 0},
    {1, 0, 2, 28, "avx", HOST_YMM},   {1, 0, 2, 12, "fma", HOST_YMM},   {1, 0, 2, 29, "f16c", HOST_YMM},
    {7, 0, 1, 5, "avx2", HOST_YMM},   {7, 0, 1, 3, "bmi", 0},           {7, 0, 1, 8, "bmi2", 0},
    {0x80000001, 0, 2, 5, "lzcnt", 0},
    {7, 0, 1, 16, "avx512f", HOST_ZMM},     {7, 0, 1, 17, "avx512dq", HOST_ZMM}, {7, 0, 1, 28, "avx512cd", HOST_ZMM},
    {7, 0, 1, 30, "avx512bw", HOST_ZMM},    {7, 0, 1, 31, "avx512vl", HOST_ZMM}, {7, 0, 2, 1, "avx512vbmi", HOST_ZMM},
    {7, 0, 2, 11, "avx512vnni", HOST_ZMM},  {7, 1, 0, 5, "avx512bf16", HOST_ZMM},
};

static uint64_t host_saved_state(void)
{
    uint32_t a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 27))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low | (uint64_t)high << 32;
}

static bool host_has(const host_bit *f, uint64_t state)
{
    uint32_t r[4];
    if (!__get_cpuid_count(f->leaf, f->sub, &r[0], &r[1], &r[2], &r[3]))
        return false;
    return (r[f->reg] >> f->bit & 1) && (state & f->state) == f->state;
}

void ts__host_detect(ts_llvm_host *host)
{
    uint64_t state = host_saved_state();
    bool has[TS_COUNT(host_bits)];
    size_t n = 0;
    memset(host, 0, sizeof *host);
    for (size_t i = 0; i < TS_COUNT(host_bits); i++) {
        has[i] = host_has(&host_bits[i], state);
        n += (size_t)snprintf(host->features + n, sizeof host->features - n, "%c%s,", has[i] ? '+' : '-',
                              host_bits[i].name);
        host->f16c |= has[i] && !strcmp(host_bits[i].name, "f16c");
        host->vbmi |= has[i] && !strcmp(host_bits[i].name, "avx512vbmi");
        host->fma |= has[i] && !strcmp(host_bits[i].name, "fma");
    }
    bool wide = has[13] && has[14] && has[16] && has[17], middle = has[9] && host->fma;
    snprintf(host->features + n, sizeof host->features - n, "-prefer-256-bit");
    snprintf(host->cpu, sizeof host->cpu, "%s", wide ? "x86-64-v4" : middle ? "x86-64-v3" : "x86-64");
    host->triple = "x86_64-unknown-linux-gnu";
    host->vector_bytes = wide ? 64 : middle ? 32 : 16;
    host->vector_regs = wide ? 32 : 16;
    host->vbmi &= wide;
}

void ts__host_limit(ts_llvm_host *host, uint32_t vector_bytes)
{
    if (vector_bytes >= host->vector_bytes)
        return;
    bool middle = vector_bytes == 32;
    host->vector_bytes = middle ? 32 : 16;
    host->vector_regs = 16;
    host->f16c &= middle;
    host->fma &= middle;
    host->vbmi = false;
    snprintf(host->cpu, sizeof host->cpu, "%s", middle ? "x86-64-v3" : "x86-64");
    snprintf(host->features, sizeof host->features, "%s", middle ? "+avx2,+fma,+f16c,-avx512f" : "+sse2,-avx");
}

#else

void ts__host_limit(ts_llvm_host *host, uint32_t vector_bytes)
{
    (void)host;
    (void)vector_bytes;
}

void ts__host_detect(ts_llvm_host *host)
{
    memset(host, 0, sizeof *host);
    snprintf(host->cpu, sizeof host->cpu, "generic");
    snprintf(host->features, sizeof host->features, "+neon");
    host->triple = "aarch64-unknown-linux-gnu";
    host->vector_bytes = 16;
    host->vector_regs = 32;
    host->fma = true;
}

#endif
