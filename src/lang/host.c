/* SPDX-License-Identifier: Apache-2.0
 *
 * Expressions that the host evaluates (tessera/host.h): compile-time values go to it and come back. What exists only
 * while the kernel runs goes as a proxy, the index of a list of values; the host may ask proxies for attributes and
 * compute with them, which adds code here. Part of the front end (lower.h).
 *
 *     Host node ─▶ values of its names ─▶ host.evaluate ─▶ ts_host_value ─▶ fr_value
 *                                          │      ▲
 *                     ts_host_apply("add") ▼      │ proxy of the sum
 *                                         fr_call_op
 */
#include "lang/lower.h"
#include "lang/tile/op.h"

struct ts_host_call {
    fr *f;
    uint32_t node;
    const char *placed; /* text of the last error that names its place already */
};

enum { HOST_MAX_DEPTH = 100 };

/* ---- to the host ------------------------------------------------------------------------------------ */

static ts_status host_give(fr *f, const fr_value *v, ts_host_value *out);

static ts_status host_give_items(fr *f, ts_host_kind kind, uint32_t n, uint32_t n_items, const fr_value *items,
                                 ts_host_value *out)
{
    ts_host_value *made = TS_NEW_N(f->arena, ts_host_value, n_items + 1);
    if (!made)
        return fr_oom(f);
    for (uint32_t i = 0; i < n_items; i++)
        TS_TRY(host_give(f, &items[i], &made[i]));
    *out = (ts_host_value){.kind = kind, .n = n, .as.items = made};
    return TS_OK;
}

static ts_status host_give_proxy(fr *f, const fr_value *v, const char *what, ts_host_value *out)
{
    *out = (ts_host_value){.kind = TS_HOST_PROXY, .n = f->proxies.n, .as.text = what};
    return TS_PUSH(f->arena, &f->proxies, *v) ? TS_OK : fr_oom(f);
}

static ts_status host_give_number(fr *f, const fr_value *v, ts_host_value *out)
{
    if (v->cat == FR_COMPLEX)
        *out = (ts_host_value){.kind = TS_HOST_COMPLEX, .as.f = {v->as.c[0], v->as.c[1]}};
    else if (v->cat == FR_FLOAT)
        *out = (ts_host_value){.kind = TS_HOST_FLOAT, .as.f = {v->as.f, 0}};
    else if (v->as.i >= INT64_MIN && v->as.i <= INT64_MAX)
        *out = (ts_host_value){.kind = v->cat == FR_BOOL ? TS_HOST_BOOL : TS_HOST_INT, .as.i = (int64_t)v->as.i};
    else {
        fr_int size = v->as.i < 0 ? -v->as.i : v->as.i; /* loose ones are within 124 bits */
        *out = (ts_host_value){.kind = TS_HOST_BIGINT,
                               .as.text = fr_textf(f, "%s0x%llx%016llx", v->as.i < 0 ? "-" : "",
                                                   (unsigned long long)(size >> 64), (unsigned long long)size)};
    }
    return TS_OK;
}

/* The dtype of records or texts, as the host knows it. */
static ts_status host_give_element(fr *f, const fr_value *v, ts_host_value *out)
{
    for (uint32_t i = 0; i < f->elements.n; i++)
        if (f->elements.at[i].element == v->as.element) {
            *out = (ts_host_value){.kind = TS_HOST_OBJECT, .n = f->elements.at[i].object};
            return TS_OK;
        }
    return host_give_proxy(f, v, "nothing", out);
}

static ts_status host_give(fr *f, const fr_value *v, ts_host_value *out)
{
    *out = (ts_host_value){.kind = TS_HOST_NONE};
    switch (v->kind) {
    case FR_NONE:
        return TS_OK;
    case FR_ELLIPSIS:
        out->kind = TS_HOST_ELLIPSIS;
        return TS_OK;
    case FR_NUMBER:
        return host_give_number(f, v, out);
    case FR_STR:
    case FR_BUILTIN:
        *out = (ts_host_value){.kind = v->kind == FR_STR ? TS_HOST_STR : TS_HOST_BUILTIN, .as.text = v->as.text};
        return TS_OK;
    case FR_TUPLE:
    case FR_ITER:
    case FR_RECORD:
        TS_TRY(host_give_items(f, v->cls ? TS_HOST_RECORD : TS_HOST_TUPLE, v->n, v->n, v->as.items, out));
        out->cls = v->cls;
        return TS_OK;
    case FR_DICT:
        return host_give_items(f, TS_HOST_DICT, v->n, 2 * v->n, v->as.items, out);
    case FR_RANGE:
        return host_give_items(f, TS_HOST_RANGE, 3, 3, v->as.items, out);
    case FR_SLICE:
        return host_give_items(f, TS_HOST_SLICE, 3, 3, v->as.items, out);
    case FR_DTYPE:
        *out = (ts_host_value){.kind = TS_HOST_DTYPE, .n = v->dtype};
        return TS_OK;
    case FR_ENUM:
    case FR_MODULE:
    case FR_OPAQUE:
        *out = (ts_host_value){.kind = TS_HOST_OBJECT, .n = v->as.object};
        return TS_OK;
    case FR_OP:
        *out = (ts_host_value){.kind = TS_HOST_OP, .as.text = f->dialect->ops[v->n].name};
        return TS_OK;
    case FR_ELEMENT:
        return host_give_element(f, v, out);
    case FR_FUNC:
        if (v->as.function->lexical)
            return host_give_proxy(f, v, "function", out);
        *out = (ts_host_value){.kind = TS_HOST_FUNCTION, .n = v->as.function->function};
        return TS_OK;
    case FR_TILE:
        return host_give_proxy(f, v, "tile", out);
    case FR_ARRAY:
        return host_give_proxy(f, v, "array", out);
    case FR_LIST:
        return host_give_proxy(f, v, "list", out);
    case FR_VIEW:
        return host_give_proxy(f, v, "view", out);
    case FR_RAW:
        return host_give_proxy(f, v, "raw", out);
    case FR_METHOD:
        return host_give_proxy(f, v, "method", out);
    default:
        return host_give_proxy(f, v, "nothing", out);
    }
}

/* ---- from the host ---------------------------------------------------------------------------------- */

static ts_status host_take(ts_host_call *c, const ts_host_value *v, uint32_t depth, fr_value *out);

static ts_status host_take_items(ts_host_call *c, const ts_host_value *v, fr_kind kind, uint32_t n, uint32_t depth,
                                 fr_value *out)
{
    fr *f = c->f;
    fr_value *items = TS_NEW_N(f->arena, fr_value, (size_t)n + 1);
    if (!items)
        return fr_oom(f);
    for (uint32_t i = 0; i < n; i++)
        TS_TRY(host_take(c, &v->as.items[i], depth + 1, &items[i]));
    return fr_container(f, kind, n, items, out);
}

static ts_status host_wrong(ts_host_call *c, const ts_host_value *v)
{
    return fr_error(c->f, c->node, TS_INTERNAL, "the host gave a value of kind %u and number %u, which is unknown",
                    (unsigned)v->kind, v->n);
}

static ts_status host_take_object(ts_host_call *c, const ts_host_value *v, fr_value *out)
{
    fr *f = c->f;
    if (v->n == 0 || v->n >= f->pack.n_objects)
        return host_wrong(c, v);
    return fr_object(f, v->n, out);
}

static ts_status host_take_record(ts_host_call *c, const ts_host_value *v, uint32_t depth, fr_value *out)
{
    const ts_pack *pack = &c->f->pack;
    bool is_record = v->cls < pack->n_objects && pack->objects[v->cls].kind == TS_OBJ_RECORD;
    TS_TRY(host_take_items(c, v, FR_TUPLE, v->n, depth, out));
    return is_record && fr_record_of_items(c->f, v->cls, out) ? TS_OK : host_wrong(c, v);
}

static ts_status host_take(ts_host_call *c, const ts_host_value *v, uint32_t depth, fr_value *out)
{
    fr *f = c->f;
    *out = fr_none();
    if (depth > HOST_MAX_DEPTH)
        return fr_error(f, c->node, TS_TILEVALUE, "the host gave a value that nests deeper than %d", HOST_MAX_DEPTH);
    switch (v->kind) {
    case TS_HOST_NONE:
        return TS_OK;
    case TS_HOST_ELLIPSIS:
        out->kind = FR_ELLIPSIS;
        return TS_OK;
    case TS_HOST_BOOL:
        *out = fr_bool(v->as.i != 0);
        return TS_OK;
    case TS_HOST_INT:
        *out = fr_number(v->as.i);
        return TS_OK;
    case TS_HOST_BIGINT:
        return fr_hex(f, v->as.text, out);
    case TS_HOST_FLOAT:
        *out = fr_real(v->as.f[0]);
        return TS_OK;
    case TS_HOST_COMPLEX:
        *out = (fr_value){.kind = FR_NUMBER, .cat = FR_COMPLEX, .as.c = {v->as.f[0], v->as.f[1]}};
        return TS_OK;
    case TS_HOST_STR:
        *out = fr_text(v->as.text);
        return TS_OK;
    case TS_HOST_TUPLE:
        return host_take_items(c, v, FR_TUPLE, v->n, depth, out);
    case TS_HOST_DICT:
        return host_take_items(c, v, FR_DICT, 2 * v->n, depth, out);
    case TS_HOST_RECORD:
        return host_take_record(c, v, depth, out);
    case TS_HOST_RANGE:
    case TS_HOST_SLICE:
        return host_take_items(c, v, v->kind == TS_HOST_RANGE ? FR_RANGE : FR_SLICE, 3, depth, out);
    case TS_HOST_DTYPE:
        if (v->n == 0 || v->n >= TS_DTYPE_COUNT)
            return host_wrong(c, v);
        *out = fr_dtype_value((ts_dtype)v->n);
        return TS_OK;
    case TS_HOST_OBJECT:
        return host_take_object(c, v, out);
    case TS_HOST_PROXY:
        if (v->n >= f->proxies.n)
            return host_wrong(c, v);
        *out = f->proxies.at[v->n];
        return TS_OK;
    default:
        return host_wrong(c, v);
    }
}

/* ---- what the host may call --------------------------------------------------------------------------- */

void *ts_host_room(ts_host_call *call, size_t bytes)
{
    return ts__arena_get(call->f->arena, bytes);
}

uint32_t ts_host_known(const ts_host_call *call)
{
    return call->f->pack.n_objects;
}

ts_status ts_host_grow(ts_host_call *call, const void *pack, size_t n, ts_error *err)
{
    const ts_pack *old = &call->f->pack;
    ts_pack fresh;
    TS_TRY(ts__pack_read(call->f->arena, pack, n, &fresh, err));
    bool grown = fresh.n_strings >= old->n_strings && fresh.n_nodes >= old->n_nodes &&
                 fresh.n_lists >= old->n_lists && fresh.n_objects >= old->n_objects &&
                 fresh.n_functions >= old->n_functions && fresh.n_bytes >= old->n_bytes &&
                 memcmp(fresh.nodes, old->nodes, old->n_nodes * sizeof *old->nodes) == 0 &&
                 memcmp(fresh.offsets, old->offsets, old->n_strings * sizeof *old->offsets) == 0;
    if (!grown)
        return ts_fail(err, TS_PARSE, "packed function: a later pack must begin with what the earlier one held");
    call->f->pack = fresh;
    return TS_OK;
}

/* What a host calls: its values, and the name of an attribute or operation. */
typedef struct host_step {
    ts_host_call *call;
    const ts_host_value *values;
    size_t n, n_named;
    const char *const *names;
    const char *name;
} host_step;

static ts_status host_attribute(const host_step *s, fr_value *out)
{
    fr_value of;
    TS_TRY(host_take(s->call, s->values, 0, &of));
    return fr_attribute_of(s->call->f, s->call->node, &of, s->name, out);
}

static ts_status host_apply(const host_step *s, fr_value *out)
{
    fr *f = s->call->f;
    uint32_t row = fr_op_find(f, s->name);
    fr_value *values = TS_NEW_N(f->arena, fr_value, s->n + 1);
    if (!values)
        return fr_oom(f);
    if (row == f->dialect->n_ops || !fr_op_is_value(f, row))
        return fr_error(f, s->call->node, TS_STATICEVAL, "%s() cannot be called in an expression of the host\n  help: "
                        "call it outside of static_eval, static_assert and static_iter", s->name);
    for (size_t i = 0; i < s->n; i++)
        TS_TRY(host_take(s->call, &s->values[i], 0, &values[i]));
    return fr_call_row(f, s->call->node, row, (uint32_t)s->n, values, (uint32_t)s->n_named, s->names, out);
}

/* Runs `step` with its errors going to `err`; they name their place, so that it is not added again. */
static ts_status host_run(const host_step *s, ts_status (*step)(const host_step *, fr_value *), ts_host_value *out,
                          ts_error *err)
{
    fr *f = s->call->f;
    ts_error *outer = f->err, room = {0};
    fr_value v;
    f->err = &room;
    ts_status status = step(s, &v);
    if (status == TS_OK)
        status = host_give(f, &v, out);
    f->err = outer;
    if (status == TS_OK)
        return TS_OK;
    f->node = s->call->node; /* where it was, for messages: the host may go on */
    s->call->placed = ts__arena_text(f->arena, room.text, strlen(room.text));
    return ts_fail(err, status, "%s", room.text);
}

ts_status ts_host_attribute(ts_host_call *call, const ts_host_value *of, const char *name, ts_host_value *out,
                            ts_error *err)
{
    return host_run(&(host_step){call, of, 1, 0, NULL, name}, host_attribute, out, err);
}

ts_status ts_host_apply(ts_host_call *call, const char *op, size_t n, const ts_host_value *values, size_t n_named,
                        const char *const *names, ts_host_value *out, ts_error *err)
{
    return host_run(&(host_step){call, values, n, n_named, names, op}, host_apply, out, err);
}

/* ---- the node ------------------------------------------------------------------------------------------ */

/* A variable of the second list may be one of the expression itself: where it has no value here, it is not missed. */
static ts_status host_name(fr *f, uint32_t node, bool may_miss, ts_host_value *out)
{
    fr_value v;
    ts_error *err = f->err;
    f->err = may_miss ? NULL : err;
    ts_status status = fr_name(f, node, &v);
    f->err = err;
    if (status == TS_OK)
        return host_give(f, &v, out);
    if (!may_miss || status == TS_NOMEM)
        return status;
    return host_give_proxy(f, &(fr_value){.kind = FR_UNBOUND}, "nothing", out);
}

static ts_status host_evaluate(fr *f, uint32_t node, size_t n, const ts_host_value *values, fr_value *out)
{
    ts_host_call call = {f, node, NULL};
    ts_host_value answer = {0};
    ts_error err = {0};
    ts_loc loc = fr_at(f, node);
    uint32_t site = ts_pack_node(&f->pack, node)->f[0];
    ts_status status = f->host.evaluate(f->host.user, &call, site, n, values, &answer, &err);
    f->b.loc = loc;
    f->node = node;
    if (status == TS_OK)
        return host_take(&call, &answer, 0, out);
    if (status == TS_NOMEM || (call.placed && strcmp(call.placed, err.text) == 0))
        return ts_fail(f->err, status, "%s", err.text);
    return fr_error(f, node, status, "%s", err.text);
}

ts_status fr_host(fr *f, uint32_t node, fr_value *out)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    uint32_t n_names, n_more;
    const uint32_t *names = ts_pack_list(&f->pack, n->f[1], &n_names), *more = ts_pack_list(&f->pack, n->f[2], &n_more);
    if (!f->host.evaluate)
        return fr_error(f, node, TS_STATICEVAL,
                        "this expression is evaluated by Python, which this program does not have\n  help: give the "
                        "value as a constant argument, or compute it with the arithmetic of the tile language");
    ts_host_value *values = TS_NEW_N(f->arena, ts_host_value, (size_t)n_names + n_more + 1);
    if (!values)
        return fr_oom(f);
    for (uint32_t i = 0; i < n_names; i++)
        TS_TRY(host_name(f, names[i], false, &values[i]));
    for (uint32_t i = 0; i < n_more; i++)
        TS_TRY(host_name(f, more[i], true, &values[n_names + i]));
    return host_evaluate(f, node, (size_t)n_names + n_more, values, out);
}

ts_status fr_host_object(fr *f, int64_t object, fr_value *out)
{
    ts_host_call call = {f, f->node, NULL};
    if (object >= f->pack.n_objects && f->host.later)
        TS_TRY(f->host.later(f->host.user, &call, f->err));
    if (object <= 0 || object >= f->pack.n_objects)
        return ts_fail(f->err, TS_VALUE, "argument: the pack has no object %lld", (long long)object);
    return fr_object(f, (uint32_t)object, out);
}
