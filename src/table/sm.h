/* SPDX-License-Identifier: Apache-2.0
 *
 * What the GPU generations have (sm.def).
 */
#ifndef TS_TABLE_SM_H
#define TS_TABLE_SM_H

#include "base/base.h"

typedef struct ts_sm {
    uint32_t number;
    const char *name;                        /* after .target */
    uint32_t version;                        /* lowest PTX version that knows it */
    uint32_t static_shared, dynamic_shared;  /* bytes of a block */
    uint32_t registers;                      /* of a thread */
} ts_sm;
/* NULL for targets that are no GPU. */
const ts_sm *ts__sm_find(uint32_t target);
/* The most bytes of shared memory that a block of any generation has. */
uint32_t ts__sm_most_shared(void);

#endif
