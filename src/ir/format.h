/* SPDX-License-Identifier: Apache-2.0
 *
 * Formats of print_tko and printf: what a conversion is and how a tile is written with one. Shared by the
 * verifier, the interpreter and the run-time part of the CPU target, so that they cannot differ.
 */
#ifndef TS_IR_FORMAT_H
#define TS_IR_FORMAT_H

#include "ir/ir.h"

/* One conversion: "%-8.3f" with its length modifiers taken out. "%.2jf", of print_tko alone, is a complex number: it
 * takes two values, the real and the imaginary part, and writes both, "1.00-2.00j". */
typedef struct ts__conversion {
    char head[32]; /* per cent sign, flags, width, precision */
    char letter;
    bool pair;
    size_t n; /* characters of the format it took */
} ts__conversion;

/* At a per cent sign. False when malformed, longer than `head` has room for, or of an unknown letter. */
bool ts__conversion_at(const char *format, ts__conversion *out);

/* The head for the imaginary part of a pair, which has a sign always. `head` as above, or longer: `n` characters. */
void ts__conversion_imag(const char *head, size_t n, char out[40]);

/* A tile to print: a scalar element type (i64 for pointers), extents, and its elements' payloads by index; `imag` is
 * the other half of a pair. */
typedef struct ts__printed {
    ts_type elem;
    uint32_t rank;
    const int64_t *dims;
    uint64_t (*get)(const void *user, int64_t i);
    const void *user, *imag;
} ts__printed;

/* "[[1, 2], [3, 4]]"; a scalar without brackets. A letter that does not fit the element gives way to f or d. */
void ts__print_tile(ts_text *out, const ts__conversion *c, const ts__printed *tile);

/* At a $ in the text of an asm: how many characters stand for one thing, and which register $0, $1 .. mean; TS_NO: a $
 * as it is. */
size_t ts__asm_place(const char *at, uint32_t *number);

#endif
