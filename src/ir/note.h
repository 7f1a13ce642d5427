/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes of the compiler on what it decided and why, each at an instruction: which way a load took, why not
 * the better one, what moves between layouts are left. The code that decides writes them; the cost report
 * (compile/report.c) reads them. An ordinary compilation keeps none (module->noting is off).
 */
#ifndef TS_IR_NOTE_H
#define TS_IR_NOTE_H

#include "ir/ir.h"
#include "tessera/report.h"

/* Adds a note of `kind` about instruction `v`; `what` is one word, from a literal ("tma", "shared"). The
 * same kind and word about the same instruction again only counts; of different reasons the first stays.
 * Always false, so that a decision can end in `return ts__note(..)`. */
bool ts__note(const ts_fn *fn, ts_val v, ts_note_kind kind, const char *what, const char *format, ...) TS_PRINTF(5, 6);
/* The note of `kind` about `v` under the word `from`, if there is one, is filed under `to`: another way was found. */
void ts__note_refile(const ts_fn *fn, ts_val v, ts_note_kind kind, const char *from, const char *to);

#endif
