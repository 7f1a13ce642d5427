/* SPDX-License-Identifier: Apache-2.0
 *
 * What the launch path asks of the table of dtypes for every array, without a call.
 */
#ifndef TS_TABLE_DTYPE_H
#define TS_TABLE_DTYPE_H

#include "tessera/compile.h"

/* Bytes of an element in an array: powers of two. TS_DTYPE_NONE has 0. */
extern const uint8_t ts__dtype_bytes[TS_DTYPE_COUNT];

#endif
