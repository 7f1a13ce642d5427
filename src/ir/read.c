/* SPDX-License-Identifier: Apache-2.0
 *
 * Text to IR: the inverse of print.c. The grammar is the printer's; `%` names may be any word,
 * comments run from // to the end of the line. Reading checks the form only (what a line may look
 * like, names before use, sizes); whether the function obeys the rules of the language is
 * verify.c's business.
 *
 * A line becomes one instruction plus what the printer folded into it: arguments after an opener,
 * `res` instructions for its results. Locations: args take that of their opener, res that of `end`.
 * Words, numbers and types are read by lex.c.
 */
#include "ir/lex.h"
#include <stdio.h>

typedef struct read_ctx {
    ts__lex l;
    ts_builder b;
    ts_arena *arena;
    uint32_t depth;
    const char *counted; /* lines up to here are in n_lines */
    uint32_t n_lines;
    uint32_t statement;  /* where the statement that is read begins in the text */
} read_ctx;

typedef TS_VEC(ts__piece) read_pieces;
typedef TS_VEC(ts_val) read_vals;
typedef TS_VEC(ts_type) read_types;

/* One line while it is read. */
typedef struct read_line {
    ts_op op;
    read_pieces names;
    read_types types;
    read_vals opnds;
    uint32_t aux, flags;
} read_line;

/* ---- lists ----------------------------------------------------------------------------------- */

static ts_status read_nomem(const read_ctx *r)
{
    return ts_fail(r->l.err, TS_NOMEM, "out of memory while reading");
}

static ts_status read_opnd(read_ctx *r, read_vals *list)
{
    ts_val v;
    TS_TRY(ts__lex_value(&r->l, &v));
    if (list->n == TS__MAX_OPNDS)
        return ts__lex_fail(&r->l, "an instruction has at most %d operands", TS__MAX_OPNDS);
    return TS_PUSH(r->arena, list, v) ? TS_OK : read_nomem(r);
}

/* %a, %b, ... when a value comes next on this line (the next line may begin with one, too) */
static ts_status read_opnds(read_ctx *r, read_vals *list)
{
    if (!ts__lex_value_follows(&r->l))
        return TS_OK;
    do
        TS_TRY(read_opnd(r, list));
    while (ts__lex_is(&r->l, ","));
    return TS_OK;
}

static ts_status read_opnds_in_parens(read_ctx *r, read_vals *list)
{
    TS_TRY(ts__lex_want(&r->l, "("));
    TS_TRY(read_opnds(r, list));
    return ts__lex_want(&r->l, ")");
}

/* [: type, type ...] */
static ts_status read_result_types(read_ctx *r, read_types *list)
{
    if (!ts__lex_is(&r->l, ":"))
        return TS_OK;
    do {
        ts_type type;
        TS_TRY(ts__lex_type(&r->l, &type));
        if (list->n == TS__MAX_OPNDS)
            return ts__lex_fail(&r->l, "an instruction has at most %d results", TS__MAX_OPNDS);
        if (!TS_PUSH(r->arena, list, type))
            return read_nomem(r);
    } while (ts__lex_is(&r->l, ","));
    return TS_OK;
}

/* [%a, %b =] */
static ts_status read_result_names(read_ctx *r, read_pieces *list)
{
    if (ts__lex_peek(&r->l) != '%')
        return TS_OK;
    do {
        ts__piece name;
        TS_TRY(ts__lex_new_name(&r->l, &name));
        if (list->n == TS__MAX_OPNDS)
            return ts__lex_fail(&r->l, "an instruction has at most %d results", TS__MAX_OPNDS);
        if (!TS_PUSH(r->arena, list, name))
            return read_nomem(r);
    } while (ts__lex_is(&r->l, ","));
    return ts__lex_want(&r->l, "=");
}

/* ---- emitting -------------------------------------------------------------------------------- */

static ts_status read_emit(read_ctx *r, ts_op op, ts_type type, const read_line *line)
{
    uint32_t n = line ? line->opnds.n : 0;
    ts_emit(&r->b, op, type, n, n ? line->opnds.at : NULL, line ? line->aux : 0,
            line ? line->flags : 0);
    return ts__module_failed(r->l.m) ? read_nomem(r) : TS_OK;
}

static ts_val read_last(const read_ctx *r)
{
    return r->b.fn->inst.n - 1;
}

/* The `res` instructions of `owner`, with their names. */
static ts_status read_results(read_ctx *r, const read_line *line, ts_val owner)
{
    if (line->names.n && line->names.n != line->types.n)
        return ts__lex_fail(&r->l, "%u names for %u results", line->names.n, line->types.n);
    for (uint32_t i = 0; i < line->types.n; i++) {
        ts_emit(&r->b, TS_OP_res, line->types.at[i], 1, &owner, i, 0);
        if (ts__module_failed(r->l.m))
            return read_nomem(r);
        if (line->names.n)
            TS_TRY(ts__lex_define(&r->l, line->names.at[i], read_last(r)));
    }
    return TS_OK;
}

/* ---- locations ------------------------------------------------------------------------------- */

static ts_status read_frame(read_ctx *r, ts_loc_info *info)
{
    TS_TRY(ts__lex_string(&r->l, &info->file));
    TS_TRY(ts__lex_want(&r->l, ":"));
    TS_TRY(ts__lex_u32(&r->l, &info->line));
    TS_TRY(ts__lex_want(&r->l, ":"));
    TS_TRY(ts__lex_u32(&r->l, &info->col));
    TS_TRY(ts__lex_want(&r->l, "-"));
    TS_TRY(ts__lex_u32(&r->l, &info->end_line));
    TS_TRY(ts__lex_want(&r->l, ":"));
    TS_TRY(ts__lex_u32(&r->l, &info->end_col));
    return ts__lex_peek(&r->l) == '"' ? ts__lex_string(&r->l, &info->function) : TS_OK;
}

/* [loc(frame <- caller <- ...)] given to all instructions from `first` on. */
static ts_status read_loc(read_ctx *r, ts_val first)
{
    TS_VEC(ts_loc_info) frames = {0};
    ts_loc loc = 0;
    if (!ts__lex_is_word(&r->l, "loc"))
        return TS_OK;
    TS_TRY(ts__lex_want(&r->l, "("));
    do {
        ts_loc_info frame = {0};
        if (frames.n == 64)
            return ts__lex_fail(&r->l, "a location has at most 64 frames");
        TS_TRY(read_frame(r, &frame));
        if (!TS_PUSH(r->arena, &frames, frame))
            return read_nomem(r);
    } while (ts__lex_is(&r->l, "<-"));
    while (frames.n) {
        frames.at[--frames.n].caller = loc;
        loc = ts_loc_add(r->l.m, &frames.at[frames.n]);
    }
    if (ts__module_failed(r->l.m))
        return read_nomem(r);
    for (ts_val v = first; v < r->b.fn->loc.n; v++)
        r->b.fn->loc.at[v] = loc;
    return ts__lex_want(&r->l, ")");
}

/* ---- attributes ------------------------------------------------------------------------------ */

static ts_status read_pool(read_ctx *r, uint32_t n, const uint32_t *words, uint32_t *aux)
{
    *aux = ts_pool_add(&r->b, n, words);
    return ts__module_failed(r->l.m) ? read_nomem(r) : TS_OK;
}

/* One word or label=number of a packed attribute; false when it is none of the operation's. */
static ts_status read_field(read_ctx *r, ts__fields fields, uint32_t *aux, bool *found)
{
    const char *start = r->l.at;
    ts__piece word = ts__lex_word(&r->l);
    for (uint32_t i = 0; i < fields.n && word.n; i++) {
        const ts__field *f = &fields.at[i];
        uint32_t mask = (uint32_t)(((uint64_t)1 << f->width) - 1), value = 0;
        while (value < f->n_names && !(f->names[value] && ts__piece_is(word, f->names[value])))
            value++;
        *found = value < f->n_names;
        if (!*found && ts__piece_is(word, f->label) && ts__lex_is(&r->l, "=")) {
            TS_TRY(ts__lex_u32(&r->l, &value));
            *found = true;
        }
        if (!*found)
            continue;
        if (value > mask)
            return ts__lex_fail(&r->l, "%s is at most %u", f->label, mask);
        *aux = (*aux & ~(mask << f->shift)) | value << f->shift;
        return TS_OK;
    }
    if (ts__piece_is(word, "bits") && ts__lex_is(&r->l, "=")) {
        uint32_t bits;
        TS_TRY(ts__lex_u32(&r->l, &bits));
        *aux |= bits;
        *found = true;
        return TS_OK;
    }
    *found = false;
    r->l.at = start;
    return TS_OK;
}

static ts_status read_fields(read_ctx *r, read_line *line)
{
    ts__fields fields = ts__fields_of(line->op);
    bool found = true;
    while (found)
        TS_TRY(read_field(r, fields, &line->aux, &found));
    return TS_OK;
}

/* [1, 0, 2] */
static ts_status read_ints(read_ctx *r, read_line *line)
{
    TS_VEC(uint32_t) words = {0};
    TS_TRY(ts__lex_want(&r->l, "["));
    if (!TS_PUSH(r->arena, &words, 0))
        return read_nomem(r);
    while (!ts__lex_is(&r->l, "]")) {
        uint32_t x;
        if (words.n > 1)
            TS_TRY(ts__lex_want(&r->l, ","));
        TS_TRY(ts__lex_u32(&r->l, &x));
        if (!TS_PUSH(r->arena, &words, x))
            return read_nomem(r);
    }
    words.at[0] = words.n - 1;
    return read_pool(r, words.n, words.at, &line->aux);
}

static ts_status read_str(read_ctx *r, read_line *line)
{
    return ts__lex_string(&r->l, &line->aux);
}

static ts_status read_symbol(read_ctx *r, read_line *line)
{
    return ts__lex_symbol(&r->l, &line->aux);
}

static void read_put64(uint32_t *w, uint64_t x)
{
    w[0] = (uint32_t)x;
    w[1] = (uint32_t)(x >> 32);
}

/* (number or ?, number or ?) */
static ts_status read_bound(read_ctx *r, uint32_t *w)
{
    int64_t x;
    if (ts__lex_is(&r->l, "?"))
        return TS_OK;
    TS_TRY(ts__lex_int(&r->l, &x));
    w[0] = 1;
    read_put64(w + 1, (uint64_t)x);
    return TS_OK;
}

static ts_status read_div_by(read_ctx *r, uint32_t *w)
{
    int64_t x;
    TS_TRY(ts__lex_int(&r->l, &x));
    read_put64(w + 1, (uint64_t)x);
    if (!ts__lex_is(&r->l, ","))
        return TS_OK;
    w[3] = 1;
    TS_TRY(ts__lex_want(&r->l, "every="));
    TS_TRY(ts__lex_u32(&r->l, &w[4]));
    TS_TRY(ts__lex_want(&r->l, ","));
    TS_TRY(ts__lex_want(&r->l, "along="));
    return ts__lex_u32(&r->l, &w[5]);
}

static ts_status read_same(read_ctx *r, uint32_t *w)
{
    while (ts__lex_peek(&r->l) != ')') {
        if (w[1])
            TS_TRY(ts__lex_want(&r->l, ","));
        if (w[1] == TS_MAX_RANK)
            return ts__lex_fail(&r->l, "there are at most %d axes", TS_MAX_RANK);
        TS_TRY(ts__lex_u32(&r->l, &w[2 + w[1]]));
        w[1]++;
    }
    return TS_OK;
}

static ts_status read_assume(read_ctx *r, read_line *line)
{
    uint32_t w[2 + TS_MAX_RANK] = {0}, n;
    ts__piece word = ts__lex_word(&r->l);
    TS_TRY(ts__lex_want(&r->l, "("));
    if (ts__piece_is(word, "same")) {
        w[0] = TS_ASSUME_SAME;
        TS_TRY(read_same(r, w));
        n = 2 + w[1];
    } else if (ts__piece_is(word, "bounded")) {
        w[0] = TS_ASSUME_BOUNDED;
        TS_TRY(read_bound(r, w + 1));
        TS_TRY(ts__lex_want(&r->l, ","));
        TS_TRY(read_bound(r, w + 4));
        n = 7;
    } else if (ts__piece_is(word, "div_by")) {
        TS_TRY(read_div_by(r, w));
        n = 6;
    } else
        return ts__lex_fail(&r->l, "assume knows div_by, same and bounded");
    TS_TRY(ts__lex_want(&r->l, ")"));
    return read_pool(r, n, w, &line->aux);
}

static ts_status read_alloca(read_ctx *r, read_line *line)
{
    uint32_t w[3];
    TS_TRY(ts__lex_want(&r->l, "bytes="));
    TS_TRY(ts__lex_u32(&r->l, &w[0]));
    TS_TRY(ts__lex_want(&r->l, "align="));
    TS_TRY(ts__lex_u32(&r->l, &w[1]));
    w[2] = ts__lex_is_word(&r->l, "global");
    return read_pool(r, 3, w, &line->aux);
}

/* ---- plain instructions ---------------------------------------------------------------------- */

/* mask=%a pad=%b src=%c token=%d, in that order */
static ts_status read_roles(read_ctx *r, read_line *line)
{
    for (int i = 0; i < TS__N_ROLES; i++) {
        const char *start = r->l.at;
        if (!ts__lex_is_word(&r->l, ts__roles[i].name))
            continue;
        if (!ts__lex_is(&r->l, "=")) {
            r->l.at = start;
            continue;
        }
        TS_TRY(read_opnd(r, &line->opnds));
        line->flags |= ts__roles[i].flag;
    }
    return TS_OK;
}

static ts_status read_one_result(read_ctx *r, read_line *line)
{
    if (!line->types.n) {
        char wanted[96];
        snprintf(wanted, sizeof wanted, "%s has one result: ': type'", ts__ops[line->op].name);
        return ts__lex_fail_wanted(&r->l, wanted);
    }
    if (line->types.n > 1)
        return ts__lex_fail(&r->l, "%s has one result, not %u", ts__ops[line->op].name, line->types.n);
    if (line->names.n > 1)
        return ts__lex_fail(&r->l, "%s has one result, not %u", ts__ops[line->op].name,
                            line->names.n);
    TS_TRY(read_emit(r, line->op, line->types.at[0], line));
    return line->names.n ? ts__lex_define(&r->l, line->names.at[0], read_last(r)) : TS_OK;
}

static ts_status read_finish(read_ctx *r, read_line *line)
{
    int n_result = ts__ops[line->op].n_result;
    if (n_result == 1)
        return read_one_result(r, line);
    if (n_result == 0 && (line->types.n || line->names.n))
        return ts__lex_fail(&r->l, "%s has no result", ts__ops[line->op].name);
    TS_TRY(read_emit(r, line->op, TS_T_none, line));
    return read_results(r, line, read_last(r));
}

/* constant 3 : i32 -- the payload needs the type that follows it, so it is read second. */
static ts_status read_constant(read_ctx *r, read_line *line)
{
    uint64_t payload = 0;
    if (ts__lex_is_word(&r->l, "dense")) {
        TS_TRY(ts__lex_dense(&r->l, &line->aux));
        line->aux++;
        TS_TRY(read_result_types(r, &line->types));
        return read_one_result(r, line);
    }
    ts__lex_peek(&r->l);
    const char *start = r->l.at;
    while (r->l.at < r->l.end && *r->l.at != ':' && *r->l.at != '\n')
        r->l.at++;
    int n = (int)TS_MIN(r->l.at - start, 40);
    TS_TRY(read_result_types(r, &line->types));
    if (line->types.n != 1 || line->names.n > 1) {
        r->l.at = start;
        return ts__lex_fail(&r->l, "constant has one result, as 'constant 3 : i32', found '%.*s'", n, start);
    }
    const char *end = r->l.at;
    r->l.at = start;
    TS_TRY(ts__lex_payload(&r->l, ts_type_elem(r->l.m, line->types.at[0]), &payload));
    if (ts__lex_peek(&r->l) != ':')
        return ts__lex_fail(&r->l, "the constant's value goes on after its end");
    r->l.at = end;
    ts_val words[3] = {(ts_val)payload, (ts_val)(payload >> 32)};
    ts_emit(&r->b, TS_OP_constant, line->types.at[0], 0, words, 0, 0);
    if (ts__module_failed(r->l.m))
        return read_nomem(r);
    return line->names.n ? ts__lex_define(&r->l, line->names.at[0], read_last(r)) : TS_OK;
}

static ts_status (*const read_attrs[])(read_ctx *, read_line *) = {
    [TS_ATTR_NONE] = read_fields,   [TS_ATTR_ARITH] = read_fields,  [TS_ATTR_AXIS] = read_fields,
    [TS_ATTR_MEM] = read_fields,    [TS_ATTR_INTS] = read_ints,     [TS_ATTR_STR] = read_str,
    [TS_ATTR_ASSUME] = read_assume, [TS_ATTR_ALLOCA] = read_alloca, [TS_ATTR_MMA] = read_fields,
    [TS_ATTR_SIMT] = read_fields,   [TS_ATTR_FN] = read_fields,     [TS_ATTR_SYMBOL] = read_symbol,
};

static ts_status read_plain(read_ctx *r, read_line *line)
{
    if (line->op == TS_OP_constant)
        return read_constant(r, line);
    TS_TRY(read_attrs[ts__ops[line->op].attr](r, line));
    TS_TRY(read_opnds(r, &line->opnds));
    TS_TRY(read_roles(r, line));
    TS_TRY(read_result_types(r, &line->types));
    return read_finish(r, line);
}

/* ---- regions --------------------------------------------------------------------------------- */

static ts_status read_statement(read_ctx *r);

/* Statements up to and with '}'. */
static ts_status read_block(read_ctx *r)
{
    if (++r->depth > TS__MAX_NEST)
        return ts__lex_fail(&r->l, "regions are nested deeper than %d", TS__MAX_NEST);
    while (!ts__lex_is(&r->l, "}"))
        TS_TRY(read_statement(r));
    r->depth--;
    return TS_OK;
}

/* An argument: its name and type, and for carried values nothing more. */
typedef TS_VEC(ts_type) read_arg_types;
typedef struct read_args {
    read_pieces names;
    read_arg_types types; /* TS_T_none: as its first value */
} read_args;

static ts_status read_arg(read_ctx *r, read_args *args)
{
    ts__piece name;
    ts_type type = TS_T_none;
    TS_TRY(ts__lex_new_name(&r->l, &name));
    if (ts__lex_is(&r->l, ":"))
        TS_TRY(ts__lex_type(&r->l, &type));
    if (args->names.n == 2 * TS__MAX_OPNDS)
        return ts__lex_fail(&r->l, "too many arguments");
    return TS_PUSH(r->arena, &args->names, name) && TS_PUSH(r->arena, &args->types, type)
               ? TS_OK
               : read_nomem(r);
}

static ts_status read_emit_args(read_ctx *r, const read_args *args,
                                ts_type (*by_default)(const read_ctx *, const read_line *,
                                                      uint32_t),
                                const read_line *line)
{
    for (uint32_t i = 0; i < args->names.n; i++) {
        ts_type type = args->types.at[i] ? args->types.at[i] : by_default(r, line, i);
        ts_emit(&r->b, TS_OP_arg, type, 0, NULL, i, 0);
        if (ts__module_failed(r->l.m))
            return read_nomem(r);
        TS_TRY(ts__lex_define(&r->l, args->names.at[i], read_last(r)));
    }
    return TS_OK;
}

/* [iter(%a = %x, %b: f32 = %y)] */
static ts_status read_iter(read_ctx *r, read_line *line, read_args *args)
{
    const char *start = r->l.at;
    if (!ts__lex_is_word(&r->l, "iter"))
        return TS_OK;
    if (!ts__lex_is(&r->l, "(")) {
        r->l.at = start;
        return TS_OK;
    }
    do {
        TS_TRY(read_arg(r, args));
        TS_TRY(ts__lex_want(&r->l, "="));
        TS_TRY(read_opnd(r, &line->opnds));
    } while (ts__lex_is(&r->l, ","));
    return ts__lex_want(&r->l, ")");
}

static ts_type read_for_arg(const read_ctx *r, const read_line *line, uint32_t i)
{
    return ts_type_of(r->b.fn, line->opnds.at[i ? i + 2 : 0]);
}

static ts_type read_loop_arg(const read_ctx *r, const read_line *line, uint32_t i)
{
    return ts_type_of(r->b.fn, line->opnds.at[i]);
}

static ts_type read_reduce_arg(const read_ctx *r, const read_line *line, uint32_t i)
{
    return ts_type_elem(r->l.m, ts_type_of(r->b.fn, line->opnds.at[i / 2]));
}

/* Result types, '{', the opener, its arguments and location. */
static ts_status read_open(read_ctx *r, read_line *line, const read_args *args,
                           ts_type (*by_default)(const read_ctx *, const read_line *, uint32_t))
{
    TS_TRY(read_result_types(r, &line->types));
    TS_TRY(ts__lex_want(&r->l, "{"));
    TS_TRY(read_emit(r, line->op, TS_T_none, line));
    ts_val opener = read_last(r);
    if (args)
        TS_TRY(read_emit_args(r, args, by_default, line));
    return read_loc(r, opener);
}

static ts_status read_close(read_ctx *r, read_line *line, ts_val opener)
{
    TS_TRY(read_emit(r, TS_OP_end, TS_T_none, NULL));
    return read_results(r, line, opener);
}

static ts_status read_for(read_ctx *r, read_line *line, read_args *args)
{
    TS_TRY(read_fields(r, line));
    TS_TRY(read_arg(r, args));
    TS_TRY(ts__lex_want(&r->l, "in"));
    TS_TRY(read_opnds_in_parens(r, &line->opnds));
    if (line->opnds.n != 3)
        return ts__lex_fail(&r->l, "for takes (lower, upper, step)");
    TS_TRY(read_iter(r, line, args));
    return read_open(r, line, args, read_for_arg);
}

static ts_status read_loop(read_ctx *r, read_line *line, read_args *args)
{
    if (line->op == TS_OP_recursion)
        TS_TRY(read_fields(r, line));
    TS_TRY(read_iter(r, line, args));
    return read_open(r, line, args, read_loop_arg);
}

static ts_status read_cold(read_ctx *r, read_line *line)
{
    TS_TRY(read_opnd(r, &line->opnds));
    TS_TRY(read_opnds_in_parens(r, &line->opnds));
    return read_open(r, line, NULL, NULL);
}

/* identity(0.0, 1) */
static ts_status read_identities(read_ctx *r, const read_line *line, uint32_t *words)
{
    TS_TRY(ts__lex_want(&r->l, "identity("));
    for (uint32_t i = 0; i < line->opnds.n; i++) {
        uint64_t payload;
        if (i)
            TS_TRY(ts__lex_want(&r->l, ","));
        TS_TRY(ts__lex_payload(&r->l, read_reduce_arg(r, line, 2 * i), &payload));
        read_put64(words + 2 * (size_t)i, payload);
    }
    return ts__lex_want(&r->l, ")");
}

static ts_status read_reduction(read_ctx *r, read_line *line, read_args *args)
{
    uint32_t axis;
    TS_TRY(ts__lex_want(&r->l, "axis="));
    TS_TRY(ts__lex_u32(&r->l, &axis));
    bool reverse = ts__lex_is_word(&r->l, "reverse");
    TS_TRY(read_opnds_in_parens(r, &line->opnds));
    uint32_t n = line->opnds.n, *words = TS_NEW_N(r->arena, uint32_t, 3 + 2 * (size_t)n);
    if (!words)
        return read_nomem(r);
    words[0] = axis;
    words[1] = reverse;
    words[2] = n;
    TS_TRY(read_identities(r, line, words + 3));
    TS_TRY(ts__lex_want(&r->l, "args("));
    for (uint32_t i = 0; i < 2 * n; i++) {
        if (i)
            TS_TRY(ts__lex_want(&r->l, ","));
        TS_TRY(read_arg(r, args));
    }
    TS_TRY(ts__lex_want(&r->l, ")"));
    TS_TRY(read_pool(r, 3 + 2 * n, words, &line->aux));
    return read_open(r, line, args, read_reduce_arg);
}

static ts_status read_if(read_ctx *r, read_line *line)
{
    TS_TRY(read_opnd(r, &line->opnds));
    return read_open(r, line, NULL, NULL);
}

static ts_status read_else(read_ctx *r)
{
    if (!ts__lex_is_word(&r->l, "else"))
        return TS_OK;
    TS_TRY(ts__lex_want(&r->l, "{"));
    TS_TRY(read_emit(r, TS_OP_else, TS_T_none, NULL));
    TS_TRY(read_loc(r, read_last(r)));
    return read_block(r);
}

static ts_status read_region(read_ctx *r, read_line *line)
{
    read_args args = {0};
    switch ((int)line->op) {
    case TS_OP_if:
        TS_TRY(read_if(r, line));
        break;
    case TS_OP_for:
        TS_TRY(read_for(r, line, &args));
        break;
    case TS_OP_loop:
    case TS_OP_recursion:
        TS_TRY(read_loop(r, line, &args));
        break;
    case TS_OP_cold:
        TS_TRY(read_cold(r, line));
        break;
    default:
        TS_TRY(read_reduction(r, line, &args));
    }
    ts_val opener = read_last(r) - args.names.n;
    TS_TRY(read_block(r));
    if (line->op == TS_OP_if)
        TS_TRY(read_else(r));
    return read_close(r, line, opener);
}

/* ---- statements, functions, modules ---------------------------------------------------------- */

static bool read_is_structural(ts_op op)
{
    return op == TS_OP_none || op == TS_OP_param || op == TS_OP_arg || op == TS_OP_res ||
           op == TS_OP_else || op == TS_OP_end;
}

static const char *read_op_name(const void *unused, uint32_t i)
{
    (void)unused;
    return i >= TS_OP_COUNT ? NULL : read_is_structural((ts_op)i) ? "" : ts__ops[i].name;
}

static ts_status read_no_operation(read_ctx *r, ts__piece word)
{
    char name[64] = "";
    memcpy(name, word.at, TS_MIN(word.n, sizeof name - 1));
    const char *near = ts__nearest(name, read_op_name, NULL);
    return ts__lex_fail(&r->l, "there is no operation '%s'; %s%s%s", name, near ? "did you mean '" : "",
                        near ? near : "docs/reference/ir.md lists them", near ? "'?" : "");
}

/* Notes for the instructions so far that they come from the statement before, and that another one begins at `begins`,
 * which it gives back. */
static uint32_t read_mark(read_ctx *r, uint32_t begins)
{
    ts_fn *fn = r->b.fn;
    uint32_t before = r->statement;
    while (fn->text_at.n < fn->inst.n && TS_PUSH(r->arena, &fn->text_at, before))
        ;
    r->statement = begins;
    return before;
}

static ts_status read_statement_here(read_ctx *r)
{
    read_line line = {0};
    ts_fn *fn = r->b.fn;
    TS_TRY(read_result_names(r, &line.names));
    ts__piece word = ts__lex_word(&r->l);
    line.op = ts_op_find(word.at, word.n);
    if (line.op == TS_OP_COUNT || read_is_structural(line.op)) {
        r->l.at = word.at;
        return read_no_operation(r, word);
    }
    ts_val first = fn->inst.n;
    if (!(ts__ops[line.op].flags & TS_REGION)) {
        TS_TRY(read_plain(r, &line));
        return read_loc(r, first);
    }
    TS_TRY(read_region(r, &line));
    return read_loc(r, fn->inst.n - line.types.n - 1);
}

static ts_status read_statement(read_ctx *r)
{
    if (!ts__lex_peek(&r->l))
        return ts__lex_fail(&r->l, "the text ends inside @%s, which begins in line %u: a '}' is missing",
                            ts_str_get(r->l.m, r->b.fn->name), r->b.fn->line);
    uint32_t around = read_mark(r, (uint32_t)(r->l.at - r->l.text));
    TS_TRY(read_statement_here(r));
    (void)read_mark(r, around); /* a block's end is its opener's */
    return TS_OK;
}

static ts_status read_params(read_ctx *r)
{
    TS_TRY(ts__lex_want(&r->l, "("));
    while (!ts__lex_is(&r->l, ")")) {
        ts__piece name;
        ts_type type;
        if (r->b.fn->n_params)
            TS_TRY(ts__lex_want(&r->l, ","));
        TS_TRY(ts__lex_new_name(&r->l, &name));
        TS_TRY(ts__lex_want(&r->l, ":"));
        TS_TRY(ts__lex_type(&r->l, &type));
        ts_fn_param(&r->b, type);
        if (ts__module_failed(r->l.m))
            return read_nomem(r);
        TS_TRY(read_loc(r, read_last(r)));
        TS_TRY(ts__lex_define(&r->l, name, read_last(r)));
    }
    return TS_OK;
}

static ts_status read_hints(read_ctx *r, ts_fn *fn)
{
    struct {
        const char *name;
        uint8_t *at;
    } hints[] = {{"num_ctas", &fn->num_ctas},
                 {"occupancy", &fn->occupancy},
                 {"num_warps", &fn->num_warps},
                 {"opt_level", &fn->opt_level},
                 {"max_registers", &fn->max_registers},
                 {"carveout", &fn->carveout},
                 {"lines", &fn->lines}};
    while (ts__lex_peek(&r->l) != '{') {
        ts__piece word = ts__lex_word(&r->l);
        uint32_t value;
        size_t i = 0;
        bool *flag = ts__piece_is(word, "checked") ? &fn->checked : ts__piece_is(word, "overlap") ? &fn->overlap : NULL;
        if (flag) {
            *flag = true;
            continue;
        }
        while (i < TS_COUNT(hints) && !ts__piece_is(word, hints[i].name))
            i++;
        if (i == TS_COUNT(hints))
            return ts__lex_fail(&r->l,
                                "there is no hint '%.*s'; hints are num_ctas, occupancy, num_warps, opt_level, "
                                "max_registers, carveout, lines, checked and overlap",
                                (int)TS_MIN(word.n, 60u), word.at);
        TS_TRY(ts__lex_want(&r->l, "="));
        TS_TRY(ts__lex_u32(&r->l, &value));
        if (value > 255)
            return ts__lex_fail(&r->l, "%s=%u is more than 255", hints[i].name, value);
        *hints[i].at = (uint8_t)value;
    }
    return TS_OK;
}

/* Lines are counted from the function before on. */
static uint32_t read_line_here(read_ctx *r)
{
    for (; r->counted < r->l.at; r->counted++)
        r->n_lines += *r->counted == '\n';
    return 1 + r->n_lines;
}

static const char *read_line_begin(const read_ctx *r)
{
    const char *at = r->l.at;
    while (at > r->l.text && at[-1] != '\n')
        at--;
    return at;
}

static ts_status read_fn(read_ctx *r, ts_level level, bool entry)
{
    ts_str name;
    TS_TRY(ts__lex_symbol(&r->l, &name));
    ts_fn *fn = ts_fn_create(r->l.m, ts_str_get(r->l.m, name), level);
    if (!fn)
        return read_nomem(r);
    fn->entry = entry;
    fn->line = read_line_here(r);
    r->statement = (uint32_t)(read_line_begin(r) - r->l.text);
    ts__builder_init(&r->b, fn);
    ts__lex_forget_names(&r->l);
    TS_TRY(read_params(r));
    read_types results = {0};
    TS_TRY(read_result_types(r, &results));
    fn->n_results = results.n;
    fn->result = results.at;
    TS_TRY(read_hints(r, fn));
    TS_TRY(ts__lex_want(&r->l, "{"));
    r->depth = 0;
    return read_block(r);
}

/* global|constant @name [align=n] : type [= dense "hex"] */
static ts_status read_global(read_ctx *r, bool constant)
{
    ts_global g = {.constant = constant};
    TS_TRY(ts__lex_symbol(&r->l, &g.name));
    if (ts__lex_is(&r->l, "align="))
        TS_TRY(ts__lex_u32(&r->l, &g.align));
    TS_TRY(ts__lex_want(&r->l, ":"));
    TS_TRY(ts__lex_type(&r->l, &g.type));
    if (ts__lex_is(&r->l, "=")) {
        TS_TRY(ts__lex_want(&r->l, "dense"));
        TS_TRY(ts__lex_dense(&r->l, &g.data));
        g.data++;
    }
    return TS_PUSH(r->arena, &r->l.m->globals, g) ? TS_OK : read_nomem(r);
}

static ts_status read_item(read_ctx *r)
{
    ts_level level = TS_LEVEL_T;
    ts__piece word = ts__lex_word(&r->l);
    if (ts__piece_is(word, "module"))
        return ts__lex_symbol(&r->l, &r->l.m->name);
    if (ts__piece_is(word, "global") || ts__piece_is(word, "constant"))
        return read_global(r, word.at[0] == 'c');
    if (ts__piece_is(word, "thread") || ts__piece_is(word, "both")) {
        level = word.at[0] == 't' ? TS_LEVEL_S : TS_LEVEL_B;
        word = ts__lex_word(&r->l);
    }
    if (ts__piece_is(word, "entry") || ts__piece_is(word, "func"))
        return read_fn(r, level, word.at[0] == 'e');
    r->l.at = word.at;
    return ts__lex_fail(&r->l,
                        "a module holds functions (entry, func) and globals (global, constant), found '%.*s'",
                        (int)TS_MIN(word.n, 60u), word.at);
}

ts_status ts__module_add(ts_module *module, const char *text, size_t n, ts_error *err)
{
    read_ctx r = {.l = {.m = module, .text = text, .at = text, .end = text + n, .err = err}, .arena = module->arena,
                  .counted = text};
    if (n >= UINT32_MAX)
        return ts_fail(err, TS_VALUE, "a text of %zu bytes is too long to read; a module has less than 4 GiB", n);
    while (ts__lex_peek(&r.l))
        TS_TRY(read_item(&r));
    if (r.l.at < r.l.end)
        return ts__lex_fail(&r.l, "a zero byte stands in the text; give the number of its characters as n");
    return ts__module_failed(module) ? read_nomem(&r) : TS_OK;
}

ts_status ts__module_read(ts_arena *arena, const char *text, size_t n, ts_module **out, ts_error *err)
{
    *out = NULL;
    ts_module *module = ts__module_create(arena);
    if (!module)
        return ts_fail(err, TS_NOMEM, "out of memory while reading");
    module->text = n < UINT32_MAX ? ts__arena_text(arena, text, n) : NULL;
    TS_TRY(ts__module_add(module, text, n, err));
    *out = module;
    return TS_OK;
}
