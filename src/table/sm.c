/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of sm.def.
 */
#include "table/sm.h"

static const ts_sm sm_rows[] = {
#define TS_SM(number, name, version, fixed, dynamic, registers)                                    \
    {(number), #name, (version), (fixed), (dynamic), (registers)},
#include "table/sm.def"
};

const ts_sm *ts__sm_find(uint32_t target)
{
    for (size_t i = 0; i < TS_COUNT(sm_rows); i++)
        if (sm_rows[i].number == target)
            return &sm_rows[i];
    return NULL;
}

uint32_t ts__sm_most_shared(void)
{
    uint32_t most = 0;
    for (size_t i = 0; i < TS_COUNT(sm_rows); i++)
        most = TS_MAX(most, sm_rows[i].dynamic_shared);
    return most;
}
