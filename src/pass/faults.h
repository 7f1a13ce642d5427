/* SPDX-License-Identifier: Apache-2.0
 *
 * How code of a GPU leaves a ts_fault for the host, and the texts that faults name. faults.c is the pass of that name,
 * too.
 */
#ifndef TS_PASS_FAULTS_H
#define TS_PASS_FAULTS_H

#include "pass/pass.h"

/* The number of a text in messages that are separated by NULs; it is added where it is not there yet. 0: "". */
uint32_t ts__fault_message(ts_text *messages, const char *text);

/* A fault, in values of the builder: i32, index and extent i64, 0 none. */
typedef struct ts_fault_values {
    ts_val record;           /* pointer to the ts_fault */
    ts_val code;
    ts_val index, extent;
    ts_val thread[3];        /* thread[0] 0: none */
    const ts_loc_info *place;
    const char *text;
} ts_fault_values;
/* Code at thread level: the first fault wins, it claims the record by compare-and-swap and fills in the rest. */
void ts__fault_claim(ts_builder *b, const ts_fault_values *fault, ts_text *messages);

#endif
