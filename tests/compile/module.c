/* SPDX-License-Identifier: Apache-2.0
 *
 * Several kernels and functions in one module of IR text: which one is compiled, and run.
 */
#include "check.h"
#include "tessera/compile.h"

#define HELPER "func @square(%x: i32) : i32 {\n  %y = muli %x, %x : i32\n  return %y\n}\n"
#define DOUBLE                                                                                                         \
    "entry @double(%p: ptr<i32>) {\n  %x = load_ptr_tko %p : i32\n  %y = addi %x, %x : i32\n"                          \
    "  %t = store_ptr_tko %p, %y : token\n  return\n}\n"
#define SQUARE                                                                                                         \
    "entry @fourth(%p: ptr<i32>) {\n  %x = load_ptr_tko %p : i32\n  %y = call @square %x : i32\n"                      \
    "  %z = call @square %y : i32\n  %t = store_ptr_tko %p, %z : token\n  return\n}\n"
static const char all[] = HELPER DOUBLE SQUARE, alone[] = HELPER SQUARE;

static ts_error err;

static ts_status code_of(const char *text, const char *entry, ts_code *out)
{
    return ts_compile_text(text, strlen(text), entry, TS_TARGET_SM90, NULL, out, &err);
}

/* What the entry makes of 3, by the reference interpreter. */
static int32_t result_of(const char *entry)
{
    int32_t value = 3;
    uint64_t params[] = {(uint64_t)(uintptr_t)&value};
    ts_interpret run = {.params = params, .n_params = 1, .grid = {1, 1, 1}};
    CHECK_OK(ts_interpret_text(all, strlen(all), entry, &run, &err));
    return value;
}

static void first_kernel_is_compiled_when_none_is_named(void)
{
    ts_code code;
    CHECK_OK(code_of(all, NULL, &code));
    CHECK_STR(code.plan.name, "double");
    CHECK(strstr((char *)code.bytes, ".entry double(") && !strstr((char *)code.bytes, "fourth"));
    ts_code_deinit(&code);
    CHECK_INT(result_of(NULL), 6);
}

static void named_kernel_is_compiled_as_if_it_were_alone(void)
{
    ts_code code, other;
    CHECK_OK(code_of(all, "fourth", &code));
    CHECK_OK(code_of(alone, NULL, &other));
    CHECK_STR((char *)code.bytes, (char *)other.bytes);
    CHECK_STR(code.plan.name, "fourth");
    CHECK(!strstr((char *)code.bytes, "double") && !strstr((char *)code.bytes, "call"));
    ts_code_deinit(&code);
    ts_code_deinit(&other);
    CHECK_INT(result_of("fourth"), 81);
    CHECK_INT(result_of("double"), 6);
}

static void other_names_are_refused(void)
{
    ts_code code;
    CHECK_INT(code_of(all, "square", &code), TS_VALUE);
    CHECK_STR(err.text, "@square is a func, which kernels call; the entries of the module are @double, @fourth");
    CHECK(!code.bytes);
    CHECK_INT(code_of(all, "cube", &code), TS_NOTFOUND);
    CHECK_STR(err.text, "the module has no entry named 'cube'; its entries are @double, @fourth");
    CHECK(!code.bytes);
    CHECK_INT(code_of(HELPER, NULL, &code), TS_NOTFOUND);
    CHECK_STR(err.text, "the module has no entry: none of its 1 functions is a kernel; begin one with "
                        "'entry @name(...)' in place of 'func'");
    CHECK(!code.bytes);
    ts_interpret run = {.grid = {1, 1, 1}};
    CHECK_INT(ts_interpret_text(all, strlen(all), "cube", &run, &err), TS_NOTFOUND);
    CHECK_STR(err.text, "the module has no entry named 'cube'; its entries are @double, @fourth");
}

int main(void)
{
    first_kernel_is_compiled_when_none_is_named();
    named_kernel_is_compiled_as_if_it_were_alone();
    other_names_are_refused();
    return check_done();
}
