/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers in order, by vectors of 64 bytes (AVX-512); sort.c says how.
 */
#ifndef TS_BASE_SORT_H
#define TS_BASE_SORT_H

#include "base/base.h"

enum {
    SORT_VECTOR = 64,       /* bytes of a vector, and of a row of columns */
    SORT_TURNED = 16,       /* rows to a multiple of which columns are padded */
    SORT_COLUMN_MOST = 1024 /* rows that columns are sorted by networks */
};

/* Whether the processor has the instructions; without them nothing else here may be called. */
bool ts__sort_is_there(void);

typedef enum sort_kind {
    SORT_INT_32, SORT_UINT_32, SORT_FLOAT_32,
    SORT_INT_64, SORT_UINT_64, SORT_FLOAT_64
} sort_kind;

/* Sorts n numbers in place; with `kth` from 0 on, only so far that this place has what belongs there, and none before
 * it is greater, none behind it less. Floats: without NaN, and with zeros of one sign; small ones must count
 * (no DAZ). */
void ts__sort(sort_kind kind, void *x, int64_t n, int64_t kth);

/* Copies floats, of which zeros lose their sign, and flips bits of all: whether some zeros had a sign, and whether some
 * floats are NaN, is noted. Flips bits. Makes signed integers in the order of floats of their bits, or floats of such
 * integers: of negative ones all bits but the sign are flipped. And whether a number is less than the one before. */
void ts__sort_floats_32(const uint32_t *from, uint32_t *to, int64_t n, uint32_t flip, bool *signs, bool *nans);
void ts__sort_floats_64(const uint64_t *from, uint64_t *to, int64_t n, uint64_t flip, bool *signs, bool *nans);
void ts__sort_flip_32(uint32_t *x, int64_t n, uint32_t flip);
void ts__sort_flip_64(uint64_t *x, int64_t n, uint64_t flip);
void ts__sort_keys_32(uint32_t *x, int64_t n);
void ts__sort_keys_64(uint64_t *x, int64_t n);
bool ts__sort_falls(sort_kind kind, const void *x, int64_t n);

/* Sorts columns side by side: rows of 16 or 8 integers, n of them, a multiple of SORT_TURNED up to SORT_COLUMN_MOST. */
void ts__sort_columns_32(int32_t *rows, int64_t n);
void ts__sort_columns_64(int64_t *rows, int64_t n);

/* The next n numbers of each line, from byte `at` on, become rows of columns: of 16 lines and up to as many numbers, or
 * 8 of both; all rows are written. And back, to the first `n_lines` of them, n numbers each. */
void ts__sort_lines_in_32(char *const lines[], int64_t at, int64_t n, int32_t *rows);
void ts__sort_lines_in_64(char *const lines[], int64_t at, int64_t n, int64_t *rows);
void ts__sort_lines_out_32(const int32_t *rows, char *const lines[], int n_lines, int64_t at, int64_t n);
void ts__sort_lines_out_64(const int64_t *rows, char *const lines[], int n_lines, int64_t at, int64_t n);

#endif
