/* SPDX-License-Identifier: Apache-2.0
 *
 * The machines of machine.def, and what an assembler's log says of a kernel.
 */
#include "tessera/report.h"
#include "base/base.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- machines --------------------------------------------------------------------------------------- */

typedef struct machine_row {
    uint32_t target;
    const char *name;
    uint32_t sms, mhz, gb_s, l2, threads, blocks, shared_kib;
} machine_row;

static const machine_row machine_rows[] = {
#define TS_MACHINE(target, name, sms, mhz, gb_s, l2, threads, blocks, shared)                      \
    {target, name, sms, mhz, gb_s, l2, threads, blocks, shared},
#include "table/machine.def"
};

typedef struct machine_rates {
    uint32_t target, plain[5], tensor[5];
} machine_rates;

static const machine_rates machine_rate_rows[] = {
#define TS_RATES(target, f16, f32, f64, integer, special, t16, tf32, t8, ti8, t64)                 \
    {target, {f16, f32, f64, integer, special}, {t16, tf32, t8, ti8, t64}},
#include "table/machine.def"
};
_Static_assert(TS_WORK_special - TS_WORK_f16 == 4 && TS_WORK_tensor_f64 - TS_WORK_tensor_f16 == 4,
               "the columns of TS_RATES are in the order of TS_WORK");

enum { MACHINE_REGISTERS = 65536 }; /* of an SM, on every GPU since sm_30 */

bool ts_machine_of_target(ts_target target, ts_machine *out)
{
    *out = (ts_machine){.target = (uint32_t)target, .assumed = 1};
    for (size_t i = 0; i < TS_COUNT(machine_rows); i++) {
        const machine_row *row = &machine_rows[i];
        const machine_rates *rates = &machine_rate_rows[i];
        if (row->target != (uint32_t)target)
            continue;
        ts_assert(rates->target == row->target);
        snprintf(out->name, sizeof out->name, "%s", row->name);
        out->sms = row->sms;
        out->clock_hz = row->mhz * 1e6;
        out->dram_bytes_s = row->gb_s * 1e9;
        out->l2_bytes_clock = row->l2;
        out->threads = row->threads;
        out->blocks = row->blocks;
        out->shared_bytes = row->shared_kib << 10;
        out->registers = MACHINE_REGISTERS;
        for (uint32_t k = 0; k < 5; k++) {
            out->rate[TS_WORK_f16 + k] = rates->plain[k];
            out->rate[TS_WORK_tensor_f16 + k] = rates->tensor[k];
        }
        return true;
    }
    return false;
}

/* ---- the assembler's log ------------------------------------------------------------------------------ */

/* The number before `unit`, of its last mention in the log: "168 registers", "8 bytes spill stores". */
static bool machine_number(const char *log, const char *unit, uint32_t *out)
{
    bool found = false;
    for (const char *at = log; (at = strstr(at, unit)); at += strlen(unit)) {
        const char *begin = at;
        while (begin > log && begin[-1] >= '0' && begin[-1] <= '9')
            begin--;
        if (begin == at)
            continue;
        *out = (uint32_t)strtoul(begin, NULL, 10);
        found = true;
    }
    return found;
}

void ts_resources_parse(const char *log, ts_resources *out)
{
    *out = (ts_resources){0};
    out->known = machine_number(log, " registers", &out->registers);
    (void)machine_number(log, " bytes stack frame", &out->stack_bytes);
    (void)machine_number(log, " bytes spill stores", &out->spill_store_bytes);
    (void)machine_number(log, " bytes spill loads", &out->spill_load_bytes);
    out->serialised = strstr(log, "C75") != NULL;
}
