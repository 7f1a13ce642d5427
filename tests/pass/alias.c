/* SPDX-License-Identifier: Apache-2.0
 * Which accesses may touch one byte (src/pass/alias.c): pairs of loads and stores with what is known of them. */
#include "pass/alias.h"
#include "check.h"
#include "ir/text.h"

static ts_error err;

/* Two parameters %a, %b with a view of tiles of 8 each, and a list %l; then the two accesses. */
static const char *const head =
    "module @m\n"
    "entry @k(%a: ptr<f32>, %b: ptr<f32>, %l: ptr<i64>, %n: i32, %i: i32)%s {\n"
    "  %va = make_tensor_view %a, %n : tensor_view<?xf32, strides=[1]>\n"
    "  %pa = make_partition_view %va : partition_view<[8], tensor_view<?xf32, strides=[1]>>\n"
    "  %pz = make_partition_view %va : partition_view<[8], tensor_view<?xf32, strides=[1]>, padding=zero>\n"
    "  %qa = make_partition_view %va : partition_view<[16], tensor_view<?xf32, strides=[1]>>\n"
    "  %a8 = offset %a, %n : ptr<f32>\n"
    "  %vo = make_tensor_view %a8, %n : tensor_view<?xf32, strides=[1]>\n"
    "  %po = make_partition_view %vo : partition_view<[8], tensor_view<?xf32, strides=[1]>>\n"
    "  %vb = make_tensor_view %b, %n : tensor_view<?xf32, strides=[1]>\n"
    "  %pb = make_partition_view %vb : partition_view<[8], tensor_view<?xf32, strides=[1]>>\n"
    "  %one = constant 1 : i32\n"
    "  %j = addi %i, %one : i32\n"
    "  %w = load_ptr_tko %l : i64\n"
    "  %wp = int_to_ptr %w : ptr<f32>\n"
    "  %vw = make_tensor_view %wp, %n : tensor_view<?xf32, strides=[1]>\n"
    "  %pw = make_partition_view %vw : partition_view<[8], tensor_view<?xf32, strides=[1]>>\n"
    "  %t = constant 0.0 : tile<8xf32>\n"
    "  %two = constant 2 : tile<8xi32>\n"
    "  %c1 = constant 1 : tile<8xi32>\n"
    "  %io = iota : tile<8xi32>\n"
    "  %io2 = muli %io, %two : tile<8xi32>\n"
    "  %ra = reshape %a : tile<1xptr<f32>>\n"
    "  %ba = broadcast %ra : tile<8xptr<f32>>\n"
    "  %re = offset %ba, %io2 : tile<8xptr<f32>>\n"
    "  %im = offset %re, %c1 : tile<8xptr<f32>>\n"
    "  %next = offset %re, %two : tile<8xptr<f32>>\n"
    "  %run = offset %ba, %io : tile<8xptr<f32>>\n"
    "  %later = offset %run, %c1 : tile<8xptr<f32>>\n";

/* The first two instructions that are loads or stores of tiles. */
static void find_two(const ts_fn *fn, ts_val *out)
{
    int n = 0;
    for (ts_val v = 1; v < fn->inst.n && n < 2; v++) {
        ts_op op = (ts_op)ts_at(fn, v)->op;
        bool is_tile = ts_type_kind(fn->module, ts_type_of(fn, v)) == TS_KIND_TILE;
        if (op == TS_OP_load_view_tko || op == TS_OP_store_view_tko || op == TS_OP_store_ptr_tko ||
            (op == TS_OP_load_ptr_tko && is_tile))
            out[n++] = v;
    }
}

static void pair(const char *hint, const char *first, const char *second, bool meet, bool same)
{
    char text[4096], *at = text;
    ts_arena arena;
    ts_module *m = NULL;
    ts_alias alias;
    ts_val v[2] = {0};
    const char *cut = strstr(head, "%s");
    at += snprintf(at, sizeof text, "%.*s%s%s", (int)(cut - head), head, hint, cut + 2);
    snprintf(at, sizeof text - (size_t)(at - text), "  %s\n  %s\n  return\n}\n", first, second);
    ts__arena_init(&arena, NULL);
    CHECK_OK(ts__module_read(&arena, text, strlen(text), &m, &err));
    if (m) {
        CHECK_OK(ts_module_verify(m, &err));
        find_two(m->fns.at[0], v);
        CHECK(ts__alias_of(m->fns.at[0], &arena, &alias) && v[1]);
        if (ts__alias_meet(&alias, v[0], v[1]) != meet || ts__alias_same_place(&alias, v[0], v[1]) != same)
            fprintf(stderr, "%s%s | %s\n", hint, first, second);
        CHECK_INT(ts__alias_meet(&alias, v[0], v[1]), meet);
        CHECK_INT(ts__alias_meet(&alias, v[1], v[0]), meet);
        CHECK_INT(ts__alias_same_place(&alias, v[0], v[1]), same);
    }
    ts__arena_deinit(&arena);
}

int main(void)
{
    const char *load = "%x = load_view_tko %pa, %i : tile<8xf32>", *store = "%y = store_view_tko %pa, %t, %i : token";
    pair("", load, store, true, true);
    pair("", "%x = load_view_tko %pz, %i : tile<8xf32>", store, true, true); /* padding plays no part */
    pair("", load, "%y = store_view_tko %pa, %t, %j : token", false, false); /* i and i + 1 */
    pair("", load, "%y = store_view_tko %pa, %t, %n : token", true, false);
    pair("", "%x = load_view_tko %qa, %i : tile<16xf32>", store, true, false); /* other tiles */
    pair("", load, "%y = store_view_tko %po, %t, %i : token", true, false);  /* another start */
    pair("", load, "%y = store_view_tko %pb, %t, %i : token", false, false);
    pair(" overlap", load, "%y = store_view_tko %pb, %t, %i : token", true, false);
    pair(" overlap", load, store, true, true);
    pair("", load, "%y = store_view_tko %pw, %t, %i : token", true, false);  /* out of a list: anywhere */
    pair("", store, "%z = store_view_tko %pa, %t, %i : token", true, true);
    pair("", load, "%y = store_view_tko release device %pb, %t, %i : token", true, false);
    pair("", load, "%y = store_view_tko release device %pa, %t, %i : token", true, false);
    const char *real = "%x = load_ptr_tko %re : tile<8xf32>";
    pair("", real, "%y = store_ptr_tko %im, %t : token", false, false); /* between the others */
    pair("", "%z = store_ptr_tko %im, %t : token", "%y = store_ptr_tko %re, %t : token", false, false);
    pair("", real, "%y = store_ptr_tko %next, %t : token", true, false);
    pair("", real, "%y = store_ptr_tko %later, %t : token", true, false);
    pair("", "%x = load_ptr_tko %run : tile<8xf32>", "%y = store_ptr_tko %later, %t : token", true, false);
    pair("", real, "%y = store_ptr_tko release device %im, %t : token", true, false);
    return check_done();
}
