/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader's hands: characters, words, numbers, strings, names of values, types. read.c puts
 * instructions together from them. Nothing here trusts the text: every step is bounded by its end,
 * numbers are checked against their range, nesting of types is limited.
 */
#ifndef TS_IR_LEX_H
#define TS_IR_LEX_H

#include "ir/text.h"

typedef struct ts__piece {
    const char *at;
    uint32_t n;
} ts__piece;

typedef struct ts__name {
    ts__piece text;
    ts_val value;
} ts__name;

typedef struct ts__lex {
    const char *text, *at, *end;
    ts_module *m;
    ts_error *err;
    TS_VEC(ts__name) names;     /* of the current function */
    uint32_t *table, table_cap; /* open addressing over names, index + 1 */
} ts__lex;

/* "line:column: message", TS_PARSE. */
TS_CHECKED ts_status ts__lex_fail(const ts__lex *l, const char *format, ...) TS_PRINTF(2, 3);
/* The same, that `wanted` is wanted here, and what stands here. */
TS_CHECKED ts_status ts__lex_fail_wanted(ts__lex *l, const char *wanted);

char ts__lex_peek(ts__lex *l); /* next character that is no space or comment; 0 at the end */
bool ts__lex_value_follows(const ts__lex *l);         /* a '%' comes next, and on the same line */
bool ts__lex_is(ts__lex *l, const char *punctuation); /* takes it when it comes next */
TS_CHECKED ts_status ts__lex_want(ts__lex *l, const char *punctuation);
/* Takes a word [A-Za-z_][A-Za-z0-9_.]*; empty when none comes next. */
ts__piece ts__lex_word(ts__lex *l);
bool ts__piece_is(ts__piece piece, const char *word);
bool ts__lex_is_word(ts__lex *l, const char *word); /* takes that word when it comes next */
TS_CHECKED ts_status ts__lex_int(ts__lex *l, int64_t *value);
TS_CHECKED ts_status ts__lex_u32(ts__lex *l, uint32_t *value);
TS_CHECKED ts_status ts__lex_string(ts__lex *l, ts_str *string);
TS_CHECKED ts_status ts__lex_symbol(ts__lex *l, ts_str *string); /* @name */
TS_CHECKED ts_status ts__lex_dense(ts__lex *l, uint32_t *index); /* "hex": new dense data */
TS_CHECKED ts_status ts__lex_payload(ts__lex *l, ts_type elem, uint64_t *payload);
TS_CHECKED ts_status ts__lex_type(ts__lex *l, ts_type *type);

/* %name of a value to be defined; %name of a known one. */
TS_CHECKED ts_status ts__lex_new_name(ts__lex *l, ts__piece *name);
TS_CHECKED ts_status ts__lex_value(ts__lex *l, ts_val *value);
TS_CHECKED ts_status ts__lex_define(ts__lex *l, ts__piece name, ts_val value);
void ts__lex_forget_names(ts__lex *l);

#endif
