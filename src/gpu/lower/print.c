/* SPDX-License-Identifier: Apache-2.0
 *
 * print and printf: tiles go to shared memory, thread 0 says everything in order. What one printf of the GPU can hold
 * (32 values) is one printf; a block that needs several holds a lock meanwhile, so that lines of two blocks do not mix.
 */
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"
#include "gpu/lower/op.h"
#include "ir/format.h"
#include <stdio.h>

enum { PRINT_VALUES = 32 }; /* of one printf */

/* What one printf will say. */
typedef struct print_line {
    ts_text format;
    ts_val values[PRINT_VALUES];
    uint32_t n;
} print_line;

/* A value to print: a scalar, or a tile that lies in shared memory. */
typedef struct print_value {
    ts_val base;         /* the scalar, or a pointer to the tile */
    ts_type type, elem;  /* type 0: a scalar */
    uint32_t bytes, at;  /* of an element; where the tile lies */
    const char *spec;    /* its conversion, "%5.1f"; a complex number's, "%5.1jf", with the imaginary part after it */
    size_t n_spec;
    bool loops;          /* its elements are read by loops: they do not fit one printf */
    bool pair;           /* a complex number */
} print_value;

/* ---- a line ----------------------------------------------------------------------------------------------------- */

static void print_flush(ts_lower *lw, print_line *line)
{
    if (line->format.n)
        ts_emit(&lw->b, TS_OP_printf, TS_T_none, line->n, line->values,
                ts_intern(lw->module, ts__text_get(&line->format), line->format.n), 0);
    line->format.n = line->n = 0;
}

static void print_say(ts_lower *lw, print_line *line, const char *format, size_t n, ts_val value)
{
    if (value && line->n == PRINT_VALUES)
        print_flush(lw, line);
    ts__text_put(&line->format, format, n);
    if (value)
        line->values[line->n++] = value;
}

/* ---- the lock --------------------------------------------------------------------------------------------------- */

/* The word that is 1 while a block prints by several printfs. */
static ts_val print_lock(ts_lower *lw)
{
    static const char name[] = "print_lock";
    ts_module *m = lw->module;
    ts_str known = ts_intern(m, name, sizeof name - 1);
    int64_t one = 1;
    ts_global lock = {.name = known, .type = ts_type_tile(m, TS_T_i32, 1, &one), .align = 4};
    bool found = false;
    for (uint32_t i = 0; i < m->globals.n; i++)
        found = found || m->globals.at[i].name == known;
    if (!found && !TS_PUSH(m->arena, &m->globals, lock))
        return 0; /* the arena remembers */
    return ts_emit(&lw->b, TS_OP_get_global, ts_type_ptr(m, TS_T_i32, TS_GLOBAL), 0, NULL, known, 0);
}

static ts_val print_exchange(ts_lower *lw, ts_val lock, uint32_t mode, uint32_t order, uint32_t n, const ts_val *words)
{
    ts_val opnds[] = {lock, words[0], n > 1 ? words[1] : 0};
    uint32_t attr = TS_M_ORDER(order) | TS_M_SCOPE(TS_SCOPE_DEVICE) | TS_M_MODE(mode);
    return ts_emit(&lw->b, TS_OP_atom, TS_T_i32, 1 + n, opnds, attr, 0);
}

static void print_acquire(ts_lower *lw, ts_val lock)
{
    ts_builder *b = &lw->b;
    ts_val zero = ts__lower_i32(lw, 0), words[] = {zero, ts__lower_i32(lw, 1)};
    ts_val loop = ts_loop_begin(b, 0, NULL);
    ts_val old = print_exchange(lw, lock, TS_RMW_CAS, TS_ACQUIRE, 2, words);
    ts_val opener = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_EQ, old, zero, 0));
    ts_term(b, TS_OP_break, 0, NULL);
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, opener, 0, NULL);
    ts_term(b, TS_OP_continue, 0, NULL);
    ts_end(b, loop, 0, NULL);
}

static void print_release(ts_lower *lw, ts_val lock)
{
    ts_val zero = ts__lower_i32(lw, 0);
    print_exchange(lw, lock, TS_RMW_XCHG, TS_RELEASE, 1, &zero);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* A conversion, with the letter and length that fit the value in C's varargs. */
static void print_number(ts_lower *lw, print_line *line, const char *spec, size_t n, ts_val value)
{
    char text[64];
    size_t head = 1;
    ts_type type = ts_type_of(lw->fn, value);
    char letter = spec[n - 1];
    bool is_float = ts_type_is_float(lw->module, type), wide = ts_type_bits(lw->module, type) == 64;
    while (head + 1 < n && strchr("+-# 0123456789.", spec[head]))
        head++;
    if (is_float && !strchr("eEfFgGaA", letter))
        letter = 'f';
    if (!is_float && !strchr("diuoxX", letter))
        letter = 'd';
    if (!is_float && !wide && type != TS_T_i32) /* C's promotion to int */
        value =
            ts_cast(&lw->b, TS_OP_exti, value, TS_T_i32, strchr("di", letter) && type != TS_T_i1 ? 0 : TS_A_UNSIGNED);
    if (is_float && type != TS_T_f64)
        value = ts_cast(&lw->b, TS_OP_ftof, value, TS_T_f64, 0);
    int made =
        snprintf(text, sizeof text, "%.*s%s%c", (int)TS_MIN(head, 48u), spec, !is_float && wide ? "ll" : "", letter);
    print_say(lw, line, text, (size_t)made, value);
}

/* An element; of a pair both parts. */
static void print_scalar(ts_lower *lw, print_line *line, const print_value *of, const ts_val value[2])
{
    char spec[48];
    print_number(lw, line, of->spec, of->n_spec, value[0]);
    if (!of->pair)
        return;
    ts__conversion_imag(of->spec, of->n_spec - 2, spec); /* without jf */
    size_t n = strlen(spec);
    spec[n] = of->spec[of->n_spec - 1];
    print_number(lw, line, spec, n + 1, value[1]);
    print_say(lw, line, "j", 1, 0);
}

static void print_axis(ts_lower *lw, print_line *line, const print_value *t, uint32_t axis, ts_val at);

/* Element or row `i` (a value) of an axis. */
static void print_step(ts_lower *lw, print_line *line, const print_value *t, uint32_t axis, ts_val at, ts_val i)
{
    uint32_t stride = ts__axis_of(lw->module, t->type, axis).first;
    ts_val step = ts_op2(&lw->b, TS_OP_shli, i, ts__lower_i32(lw, stride), 0);
    print_axis(lw, line, t, axis + 1, ts_op2(&lw->b, TS_OP_addi, at, step, 0));
}

static void print_looped(ts_lower *lw, print_line *line, const print_value *t, uint32_t axis, ts_val at, int64_t n)
{
    ts_builder *b = &lw->b;
    print_flush(lw, line);
    ts_val loop = ts_for_begin(b, ts__lower_i32(lw, 0), ts__lower_i32(lw, n), ts__lower_i32(lw, 1), 0, NULL, 0),
           i = loop + 1;
    ts_val opener = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_NE, i, ts__lower_i32(lw, 0), 0));
    print_say(lw, line, ", ", 2, 0);
    print_flush(lw, line);
    ts_if_end(b, opener);
    print_step(lw, line, t, axis, at, i);
    print_flush(lw, line);
    ts_term(b, TS_OP_continue, 0, NULL);
    ts_end(b, loop, 0, NULL);
}

/* "[a, b]" for axis `axis` on; `at` is the element offset so far. */
static void print_axis(ts_lower *lw, print_line *line, const print_value *t, uint32_t axis, ts_val at)
{
    ts_builder *b = &lw->b;
    if (axis == ts_type_rank(lw->module, t->type)) {
        ts_val x[2] = {0}, bytes = ts_op2(b, TS_OP_muli, at, ts__lower_i32(lw, t->bytes), 0);
        ts_type memory = ts__lower_memory_type(lw, t->elem);
        for (uint32_t i = 0; i < 1u + t->pair; i++) {
            ts__lower_ld(lw, memory, ts__lower_ptr(lw, t[i].base, bytes, 0), 1, TS_CACHE_NONE, 0, 0, &x[i]);
            x[i] = ts__lower_from_memory(lw, x[i], t->elem);
        }
        print_scalar(lw, line, t, x);
        return;
    }
    int64_t n = ts_type_dims(lw->module, t->type)[axis];
    print_say(lw, line, "[", 1, 0);
    if (t->loops)
        print_looped(lw, line, t, axis, at, n);
    for (int64_t i = 0; !t->loops && i < n; i++) {
        print_say(lw, line, ", ", i ? 2 : 0, 0);
        print_step(lw, line, t, axis, at, ts__lower_i32(lw, i));
    }
    print_say(lw, line, "]", 1, 0);
}

/* ---- print ------------------------------------------------------------------------------------------------------ */

static void print_text(ts_lower *lw, print_line *line, ts_val v, print_value *values, uint32_t n)
{
    const char *p = ts_str_get(lw->module, ts_at(lw->tile, v)->aux), *text = p;
    for (uint32_t used = 0; *p;) {
        if (*p != '%' || p[1] == '%' || used == n) {
            p += *p == '%' && p[1] ? 2 : 1;
            continue;
        }
        print_value *t = &values[used++];
        print_say(lw, line, text, (size_t)(p - text), 0);
        t->spec = p++;
        while (*p && strchr("+-# 0123456789.hljztL", *p))
            p++;
        p += *p != 0;
        t->n_spec = (size_t)(p - t->spec);
        t->pair = used < n && memchr(t->spec, 'j', t->n_spec) && strchr("eEfFgGaA", p[-1]);
        used += t->pair;
        text = p;
        if (t->type)
            print_axis(lw, line, t, 0, ts__lower_i32(lw, 0));
        else
            print_scalar(lw, line, t, (ts_val[]){t->base, t[t->pair].base});
    }
    print_say(lw, line, text, strlen(text), 0);
    print_flush(lw, line);
}

/* Puts a tile where thread 0 can read it. */
static print_value print_value_of(ts_lower *lw, ts_val x)
{
    uint32_t flat[TS_LAYOUT_BITS];
    ts_type type = ts_type_of(lw->tile, x), elem = ts_type_elem(lw->module, type);
    if (ts_type_kind(lw->module, type) != TS_KIND_TILE)
        return (print_value){.base = lw->values.scalar[x]};
    const ts_linear *home = ts__lower_home(lw, x);
    ts_type memory = ts__lower_memory_type(lw, elem);
    print_value value = {.type = type, .elem = elem, .bytes = ts_type_bits(lw->module, memory) / 8};
    ts_layout_identity(flat);
    value.at = ts__lower_to_shared(lw, x, elem, home, ts__lower_get(lw, x, home), flat);
    value.base = ts__shared_pointer(lw, memory, value.at);
    return value;
}

/* The values of all, of which each is one element or many. */
static int64_t print_count(const ts_lower *lw, const print_value *values, uint32_t n)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += values[i].type ? ts_type_count(lw->module, values[i].type) : 1;
    return count;
}

void ts__lower_print(ts_lower *lw, ts_val v)
{
    uint32_t n = ts_at(lw->tile, v)->n_opnd - (ts__opnd_token(ts_at(lw->tile, v)) == TS_NO ? 0u : 1u);
    print_value *values = TS_NEW_N(lw->arena, print_value, n + 1);
    print_line line = {.n = 0};
    if (!values)
        return; /* the arena remembers */
    for (uint32_t i = 0; i < n; i++)
        values[i] = print_value_of(lw, ts_opnd(lw->tile, v, i));
    bool whole = print_count(lw, values, n) <= PRINT_VALUES;
    for (uint32_t i = 0; i < n; i++)
        values[i].loops = !whole;
    ts__text_init(&line.format, lw->faults.messages.alloc);
    ts__lower_barrier(lw);
    ts_val opener = ts_if_begin(&lw->b, ts_cmp(&lw->b, TS_OP_cmpi, TS_EQ, lw->tid, ts__lower_i32(lw, 0), 0));
    ts_val lock = whole ? 0 : print_lock(lw);
    if (lock)
        print_acquire(lw, lock);
    print_text(lw, &line, v, values, n);
    if (lock)
        print_release(lw, lock);
    ts_if_end(&lw->b, opener);
    if (line.format.failed && lw->status == TS_OK)
        lw->status = ts_fail(lw->err, TS_NOMEM, "out of memory while lowering a print");
    ts__text_deinit(&line.format);
    for (uint32_t i = 0; i < n; i++)
        if (values[i].type)
            ts__shared_done(lw, values[i].at, values[i].bytes * (uint32_t)ts_type_count(lw->module, values[i].type));
    lw->env->plan->uses_print = 1;
}
