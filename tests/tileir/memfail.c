/* SPDX-License-Identifier: Apache-2.0
 * The n-th allocation fails, for every n until nothing fails any more, over all ways of Tile IR bytecode: from IR,
 * written, read, printed, back to IR. Each step says TS_NOMEM or works, and nothing leaks or crashes (run under ASan).
 */
#include "tessera/tileir.h"
#include "check.h"
#include "failing.h"

static ts_error err;

static void give_back(const ts_alloc *alloc, char *block, size_t n)
{
    if (block)
        alloc->resize(alloc->user, block, n + 1, 0);
}

static ts_status read_again(const char *bytes, size_t n, const ts_alloc *alloc)
{
    ts_tileir *read;
    ts_module *back;
    char *text;
    size_t n_text;
    TS_TRY(ts_tileir_read(bytes, n, alloc, &read, &err));
    ts_status status = ts_tileir_print(read, alloc, &text, &n_text, &err);
    give_back(alloc, text, n_text);
    if (status == TS_OK)
        status = ts_tileir_to_ir(read, NULL, alloc, &back, &err);
    if (status == TS_OK)
        ts_module_destroy(back);
    ts_tileir_destroy(read);
    return status;
}

static ts_status walk(const ts_module *ir, const ts_alloc *alloc)
{
    ts_tileir *made;
    TS_TRY(ts_tileir_of_ir(ir, 0, "sm_90", alloc, &made, &err));
    ts_status status = TS_OK;
    for (uint32_t version = 133; status == TS_OK && version <= TS_TILEIR_NEWEST; version++) {
        char *bytes;
        size_t n;
        status = ts_tileir_write(made, version, alloc, &bytes, &n, &err);
        if (status == TS_OK)
            status = read_again(bytes, n, alloc);
        give_back(alloc, bytes, n);
    }
    ts_tileir_destroy(made);
    return status;
}

static void every_allocation_may_fail(const ts_module *ir, const char *path, bool forever)
{
    for (int at = 0; at < 100000; at++) {
        failing f = {.fail_at = at, .forever = forever};
        ts_alloc alloc = {failing_resize, &f};
        err.text[0] = 0;
        ts_status status = walk(ir, &alloc);
        bool untouched = f.count <= at;
        CHECK_INT(status, untouched ? TS_OK : TS_NOMEM);
        CHECK(untouched || strstr(err.text, "out of memory"));
        CHECK_INT(f.bytes, 0);
        if (check_failed)
            fprintf(stderr, "%s, allocation %d: %s\n", path, at, err.text);
        if (untouched || check_failed)
            return;
    }
    CHECK(!"it ends");
}

int main(void)
{
    static const char *const paths[] = {"tests/tileir/kernel.ir", "tests/target/kernels/attention_causal.ir"};
    static char text[1 << 17];
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(paths[i], "rb");
        size_t n = file ? fread(text, 1, sizeof text, file) : 0;
        ts_module *ir = NULL;
        CHECK(n > 0);
        if (file)
            fclose(file);
        CHECK_OK(ts_module_read(text, n, NULL, &ir, &err));
        if (!ir)
            continue;
        every_allocation_may_fail(ir, paths[i], false);
        every_allocation_may_fail(ir, paths[i], true);
        ts_module_destroy(ir);
    }
    return check_done();
}
