/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of operations as data, the walk through a recipe, and looking things up in a module.
 */
#include "ir/text.h"
#include "tileir/tileir.h"

const tileir_row ts__tileir_rows[TILEIR_CODES] = {
#define TILEIR_OP(name, opcode, since, recipe) {#name, recipe, opcode, since},
#include "tileir/tileir.def"
};

const tileir_row *ts__tileir_row(uint64_t opcode)
{
    for (int i = 0; i < TILEIR_CODES; i++)
        if (ts__tileir_rows[i].opcode == opcode)
            return &ts__tileir_rows[i];
    return NULL;
}

static const ts__field *table_field(ts_op op, const char *label)
{
    ts__fields fields = ts__fields_of(op);
    for (uint32_t i = 0; i < fields.n; i++)
        if (strcmp(fields.at[i].label, label) == 0)
            return &fields.at[i];
    return NULL;
}

/* Enumerations that our own IR has too are those of a field of its text, where the first may mean "none". */
static const char *table_field_word(ts_op op, const char *label, uint64_t value)
{
    const ts__field *field = table_field(op, label);
    return field && value < field->n_names ? field->names[value] : NULL;
}

const char *ts__tileir_word(tileir_kind kind, uint64_t value)
{
    static const char *const signs[] = {"unsigned", "signed"}, *const orderings[] = {"unordered", "ordered"};
    static const char *const overflows[] = {"wraps", "nsw", "nuw", "nw"};
    switch (kind) {
    case TILEIR_KIND_round:
    case TILEIR_KIND_pred:
        return table_field_word(TS_OP_addf, kind == TILEIR_KIND_pred ? "pred" : "round", value);
    case TILEIR_KIND_order:
        return table_field_word(TS_OP_atomic_rmw_tko, "order", value);
    case TILEIR_KIND_scope:
        return value < UINT64_MAX ? table_field_word(TS_OP_atomic_rmw_tko, "scope", value + 1) : NULL;
    case TILEIR_KIND_rmw:
        return value < TS_RMW_CAS ? table_field_word(TS_OP_atomic_rmw_tko, "mode", value) : NULL;
    case TILEIR_KIND_sign:
        return value < TS_COUNT(signs) ? signs[value] : NULL;
    case TILEIR_KIND_ordering:
        return value < TS_COUNT(orderings) ? orderings[value] : NULL;
    case TILEIR_KIND_overflow:
        return value < TS_COUNT(overflows) ? overflows[value] : NULL;
    default:
        return NULL;
    }
}

/* ---- what both ways of conversion read -------------------------------------------------------------- */

const char *const ts__tileir_hints[TILEIR_HINTS] = {"allow_tma", "latency", "num_cta_in_cga", "occupancy",
                                                    "num_worker_warps_per_cta"};

tileir_hint ts__tileir_hint(const char *name)
{
    int i = 0;
    while (i < TILEIR_HINTS && strcmp(ts__tileir_hints[i], name) != 0)
        i++;
    return (tileir_hint)i;
}

uint32_t ts__tileir_arith_bit(uint32_t i, const char **name)
{
    ts__fields fields = ts__fields_of(TS_OP_addf);
    *name = i < fields.n ? fields.at[i].label : NULL;
    return *name && fields.at[i].width == 1 ? 1u << fields.at[i].shift : 0;
}

uint8_t ts__tileir_role(const tileir_item *item)
{
    for (uint32_t i = 0; item->optional && i < TS__N_ROLES; i++)
        if (strlen(ts__roles[i].name) == item->n_name && memcmp(ts__roles[i].name, item->name, item->n_name) == 0)
            return ts__roles[i].flag;
    return 0;
}

const uint8_t *ts__tileir_order(tileir_code code)
{
    static const uint8_t same[] = {0, 1, 2, 3, 4, 5}, store[] = {1, 0, 2, 3}, red[] = {0, 2, 1, 3};
    return code == TILEIR_store_view_tko ? store : code == TILEIR_atomic_red_view_tko ? red : same;
}

/* ---- recipes ------------------------------------------------------------------------------------- */

static tileir_kind table_kind(const char *name, size_t n)
{
    static const struct {
        const char *name;
        tileir_kind kind;
    } kinds[] = {
#define X(name, number) {#name, TILEIR_KIND_##name},
        TILEIR_KINDS(X)
#undef X
    };
    for (size_t i = 0; i < TS_COUNT(kinds); i++)
        if (strlen(kinds[i].name) == n && memcmp(kinds[i].name, name, n) == 0)
            return kinds[i].kind;
    ts_assert(!"a recipe names an unknown kind");
    return TILEIR_ABSENT;
}

static const char *table_word(const char *at)
{
    while ((*at >= 'a' && *at <= 'z') || *at == '_')
        at++;
    return at;
}

/* What may stand behind an item: * ? @133 =5 */
static const char *table_tail(const char *at, tileir_item *out)
{
    for (; *at && *at != ' '; at++) {
        if (*at == '*')
            out->n = TILEIR_MANY;
        else if (*at == '?')
            out->optional = true;
        else if (*at == '@')
            out->since = (uint16_t)((at[1] - '0') * 100 + (at[2] - '0') * 10 + (at[3] - '0'));
        else if (*at == '=')
            out->before = (uint8_t)(at[1] - '0');
    }
    return at;
}

bool ts__tileir_next(const char **place, tileir_item *out)
{
    const char *at = *place;
    *out = (tileir_item){0};
    while (*at == ' ')
        at++;
    if (!*at)
        return false;
    out->what = *at == '=' || *at == '!' || *at == '%' || *at == '{' ? *at++ : 'a';
    out->name = at;
    switch (out->what) {
    case '=':
    case '{':
        out->n = *at == '*' ? TILEIR_MANY : (uint8_t)(*at - '0');
        at = table_tail(at + 1 + (out->what == '{'), out);
        break;
    case '!':
        out->name = at + 1;
        at = table_tail(strchr(at, ']') + 1, out);
        break;
    default:
        out->n = 1;
        at = table_word(at);
        out->n_name = (uint8_t)(at - out->name);
        if (out->what == 'a') {
            const char *kind = at + 1;
            at = table_word(kind);
            out->kind = (uint8_t)table_kind(kind, (size_t)(at - kind));
        }
        at = table_tail(at, out);
    }
    *place = at;
    return true;
}

int ts__tileir_flag(const char *recipe, const char *name, size_t n)
{
    const char *at = strchr(recipe, '!');
    if (!at)
        return -1;
    at += 2;
    for (int bit = 0;; bit++) {
        const char *end = table_word(at);
        if ((size_t)(end - at) == n && memcmp(at, name, n) == 0)
            return bit;
        end += *end == '?';
        if (*end != ',')
            return -1;
        at = end + 1;
    }
}

/* ---- looking up ---------------------------------------------------------------------------------- */

ts_type ts__tileir_scalar(uint32_t tag)
{
    static const struct {
        uint32_t tag;
        ts_type type;
    } rows[] = {
#define TS_SCALAR(name, bits, class, tag) {tag, TS_T_##name},
#include "tessera/type.def"
    };
    for (size_t i = 0; i < TS_COUNT(rows); i++)
        if (rows[i].tag == tag && tag != 131 && tag != 132) /* complex numbers are ours alone */
            return rows[i].type;
    return TS_T_none;
}

uint32_t ts__tileir_type_since(uint32_t tag)
{
    static const struct {
        uint32_t tag, since;
    } later[] = {{18, 132}, {19, 133}, {TILEIR_GATHER_SCATTER_VIEW, 133}, {TILEIR_STRIDED_VIEW, 133}, {22, 133},
                 {130, 134}};
    for (size_t i = 0; i < TS_COUNT(later); i++)
        if (later[i].tag == tag)
            return later[i].since;
    return TS_TILEIR_OLDEST;
}

bool ts__tileir_is_byte(const ts_tileir *m, uint32_t type)
{
    static const uint8_t bits[] = {
        [TS_T_none] = 0,
#define TS_SCALAR(name, n, class, tag) [TS_T_##name] = n,
#include "tessera/type.def"
    };
    const tileir_type *t = ts__tileir_type(m, type);
    return !t || bits[ts__tileir_scalar(t->tag)] <= 8;
}

const char *ts__tileir_str(const ts_tileir *m, uint32_t string)
{
    return string < m->str.n ? m->str.at[string].at : "";
}

const tileir_type *ts__tileir_type(const ts_tileir *m, uint32_t type)
{
    return type < m->type.n ? &m->type.at[type] : NULL;
}

const tileir_type *ts__tileir_elem(const ts_tileir *m, uint32_t type)
{
    const tileir_type *t = ts__tileir_type(m, type);
    return t && t->tag == TILEIR_TILE ? ts__tileir_type(m, t->elem) : t;
}

const tileir_attr *ts__tileir_attr(const tileir_op *op, const char *name)
{
    static const tileir_attr none;
    const char *at = ts__tileir_rows[op->code].recipe;
    tileir_item item;
    for (uint32_t i = 0; ts__tileir_next(&at, &item);) {
        if (item.what != 'a')
            continue;
        if (strlen(name) == item.n_name && memcmp(name, item.name, item.n_name) == 0)
            return i < op->n_attrs ? &op->attr[i] : &none;
        i++;
    }
    return &none;
}

uint32_t ts__tileir_opnd(const tileir_op *op, const char *group, uint32_t i)
{
    const char *at = ts__tileir_rows[op->code].recipe;
    tileir_item item;
    uint32_t first = 0, g = 0;
    while (ts__tileir_next(&at, &item)) {
        if (item.what != '%')
            continue;
        if (strlen(group) == item.n_name && memcmp(group, item.name, item.n_name) == 0)
            return i < op->group[g] ? op->opnd[first + i] : UINT32_MAX;
        first += op->group[g++];
    }
    return UINT32_MAX;
}

bool ts__tileir_has_flag(const tileir_op *op, const char *name)
{
    int bit = ts__tileir_flag(ts__tileir_rows[op->code].recipe, name, strlen(name));
    return bit >= 0 && op->flags >> bit & 1;
}
