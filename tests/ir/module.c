/* SPDX-License-Identifier: Apache-2.0
 * Modules and builders as handles (tessera/ir.h): built, verified, printed, read, emptied, and compared by contents. */
#include "ir/ir.h"
#include "check.h"
#include "failing.h"

/* out[i] = x[i] * scale, tiles of 16, a sum of them to out of the block. */
static ts_status scale_build(ts_module *m, double scale, ts_error *err)
{
    ts_builder *b;
    ts_fn *fn = ts_fn_create(m, "scale", TS_LEVEL_T);
    TS_TRY(ts_builder_create(fn, &b, err));
    ts_val x[3], y[3], id = 0;
    ts_fn_param_array(b, TS_T_f32, 1, TS_T_i32, x);
    ts_fn_param_array(b, TS_T_f32, 1, TS_T_i32, y);
    id = ts_block_id(b, 0);
    ts_val from = ts_tensor_view(b, x[0], 1, (int64_t[]){TS_DYNAMIC}, (int64_t[]){TS_DYNAMIC}, 2, x + 1);
    ts_val to = ts_tensor_view(b, y[0], 1, (int64_t[]){TS_DYNAMIC}, (int64_t[]){1}, 1, y + 1);
    ts_val load = ts_partition_view(b, from, (int64_t[]){16}, TS_PAD_ZERO);
    ts_val store = ts_partition_view(b, to, (int64_t[]){16}, TS_PAD_UNDEF);
    ts_val tile = ts_load_view(b, load, &id, 0);
    ts_val by = ts_float(b, ts_val_type(fn, tile), scale);
    ts_store_view(b, store, ts_op2(b, TS_OP_mulf, tile, by, 0), &id, 0);
    ts_term(b, TS_OP_return, 0, NULL);
    ts_status status = ts_builder_status(b, err);
    ts_builder_destroy(b);
    return status == TS_OK ? ts_module_verify(m, err) : status;
}

static void what_is_built_verifies_and_is_read_as_printed(void)
{
    ts_error err;
    ts_module *m, *again;
    char *text, *second;
    size_t n, n_second;
    CHECK_INT(ts_module_create(NULL, &m, &err), TS_OK);
    CHECK_INT(scale_build(m, 2, &err), TS_OK);
    CHECK_INT(ts_module_print(m, NULL, &text, &n, &err), TS_OK);
    CHECK_INT(strlen(text), n);
    CHECK_INT(ts_module_read(text, n, NULL, &again, &err), TS_OK);
    CHECK_INT(ts_module_verify(again, &err), TS_OK);
    CHECK_INT(ts_module_print(again, NULL, &second, &n_second, &err), TS_OK);
    CHECK_STR(second, text);
    free(text), free(second);
    ts_module_destroy(m), ts_module_destroy(again), ts_module_destroy(NULL);
}

static void equal_contents_have_equal_keys(void)
{
    ts_module *m;
    ts_error err;
    ts_text keys[3];
    CHECK_INT(ts_module_create(NULL, &m, NULL), TS_OK);
    for (int i = 0; i < 3; i++) {
        ts__text_init(&keys[i], NULL);
        CHECK_INT(ts_module_clear(m, &err), TS_OK);
        CHECK_INT(scale_build(m, i == 2 ? 3 : 2, &err), TS_OK);
        ts__module_key(m, &keys[i]);
    }
    CHECK(keys[0].n == keys[1].n && memcmp(keys[0].at, keys[1].at, keys[0].n) == 0);
    CHECK(keys[0].n == keys[2].n && memcmp(keys[0].at, keys[2].at, keys[0].n) != 0);
    for (int i = 0; i < 3; i++)
        ts__text_deinit(&keys[i]);
    ts_module_destroy(m);
}

static void a_mistake_is_told_by_the_verifier(void)
{
    ts_module *m;
    ts_builder *b;
    ts_error err;
    CHECK_INT(ts_module_create(NULL, &m, &err), TS_OK);
    CHECK_INT(ts_builder_create(ts_fn_create(m, "k", TS_LEVEL_T), &b, &err), TS_OK);
    ts_val x = ts_fn_param(b, TS_T_f32), view = ts_partition_view(b, x, (int64_t[]){16}, TS_PAD_ZERO);
    ts_load_view(b, view, &x, 0);
    ts_term(b, TS_OP_return, 0, NULL);
    CHECK_INT(ts_builder_status(b, &err), TS_OK);
    CHECK_INT(ts_module_verify(m, &err), TS_VERIFY);
    ts_builder_destroy(b);
    ts_module_destroy(m);
}

static void operations_have_names(void)
{
    CHECK_INT(ts_op_find("addf", 4), TS_OP_addf);
    CHECK_INT(ts_op_find("addff", 5), TS_OP_COUNT);
    CHECK_STR(ts_op_name(TS_OP_load_view_tko), "load_view_tko");
    CHECK(!ts_op_name(TS_OP_COUNT));
}

static void every_allocation_may_fail(void)
{
    for (int n = 0, done = 0; !done; n++) {
        failing f = {0, n, 0};
        ts_alloc alloc = {failing_resize, &f};
        ts_module *m = NULL;
        char *text = NULL;
        size_t bytes;
        ts_status status = ts_module_create(&alloc, &m, NULL);
        if (status == TS_OK)
            status = scale_build(m, 2, NULL);
        if (status == TS_OK)
            status = ts_module_print(m, &alloc, &text, &bytes, NULL);
        CHECK(status == TS_OK || status == TS_NOMEM);
        if (text)
            alloc.resize(alloc.user, text, bytes + 1, 0);
        ts_module_destroy(m);
        CHECK_INT(f.bytes, 0);
        done = f.count <= n;
    }
}

int main(void)
{
    what_is_built_verifies_and_is_read_as_printed();
    equal_contents_have_equal_keys();
    a_mistake_is_told_by_the_verifier();
    operations_have_names();
    every_allocation_may_fail();
    return check_done();
}
