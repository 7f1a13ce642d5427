/* SPDX-License-Identifier: Apache-2.0
 * Sources of kernels (tessera/compile.h): what may become one, what code the cache keeps, what IR is compiled for. */
#include "run/cache.h"
#include "tessera/tessera.h"
#include "check.h"

static ts_error err;
static int n_compiled;
static size_t n_spec_seen;

static ts_status own_compile(const ts_source *source, const ts_spec *spec, size_t n_spec, const ts_hints *hints,
                             ts_target target, const ts_alloc *alloc, ts_code *out, ts_error *error)
{
    (void)spec, (void)hints, (void)error;
    n_compiled++;
    n_spec_seen = n_spec;
    *out = (ts_code){.alloc = alloc, .plan = {.target = target, .n_params = 3, .writes = {1}}};
    out->bytes = alloc->resize(alloc->user, NULL, 0, source->n);
    out->n_bytes = source->n;
    memcpy(out->bytes, source->bytes, source->n);
    return TS_OK;
}

static const char ir_text[] =
    "entry @k(%p: ptr<f32>, %n: i32, %s: i32) {\n  %x = constant 1.0 : f32\n"
    "  %t = store_ptr_tko %p, %x : token\n  return\n}\n";

static ts_status text_checked(const char *text, const ts_spec *spec, size_t n)
{
    ts_code code = {0};
    ts_source source = {.kind = TS_SOURCE_TEXT, .bytes = text, .n = strlen(text)};
    ts_status status = ts_compile_source(&source, spec, n, NULL, TS_TARGET_SM90, NULL, &code, &err);
    if (status == TS_OK)
        ts_code_deinit(&code);
    return status;
}

static void ir_must_take_what_the_arguments_pass(void)
{
    ts_spec array = {.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_float32, .rank = 1, .index_bits = 32}, other = array;
    CHECK_INT(text_checked(ir_text, &array, 1), TS_OK);
    other.dtype = TS_DTYPE_float64;
    CHECK_INT(text_checked(ir_text, &other, 1), TS_TYPE);
    CHECK(strstr(err.text, "a pointer to f64"));
    other = array, other.index_bits = 64;
    CHECK_INT(text_checked(ir_text, &other, 1), TS_TYPE);
    other = array, other.rank = 2;
    CHECK_INT(text_checked(ir_text, &other, 1), TS_TYPE);
    CHECK(strstr(err.text, "argument 0 is an array of rank 2, which passes a pointer, 2 extents and 2 strides, but 2 "
                           "integers follow that pointer (parameter 0), 0 of them for the arguments after it: an array "
                           "of rank 1 fits") != NULL);
    CHECK_INT(text_checked(ir_text, &array, 0), TS_TYPE);
    CHECK_INT(text_checked(ir_text, (ts_spec[]){array, {.kind = TS_SPEC_INT}}, 2), TS_TYPE);
    CHECK_INT(text_checked("module @m\n", &array, 1), TS_NOTFOUND);
    char text[512]; /* a function before the kernel is not it */
    snprintf(text, sizeof text, "func @f(%%x: i32) {\n  return\n}\n%s", ir_text);
    CHECK_INT(text_checked(text, &array, 1), TS_OK);
}

/* Integers after an array may be its own or other arguments. */
static void a_wrong_rank_is_told_by_the_argument(void)
{
    static const char text[] = "entry @k(%p: ptr<f32>, %n: i32, %m: i32, %s: i32, %t: i32, %q: i64, %o: ptr<f32>, "
                               "%l: i32, %d: i32) {\n  return\n}\n";
    ts_spec two = {.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_float32, .rank = 2, .index_bits = 32};
    ts_spec one = two, three = two;
    ts_spec number = {.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_int64};
    one.rank = 1, three.rank = 3;
    CHECK_INT(text_checked(text, (ts_spec[]){two, number, one}, 3), TS_OK);
    CHECK_INT(text_checked(text, (ts_spec[]){one, number, one}, 3), TS_TYPE);
    CHECK(strstr(err.text, "argument 0 is an array of rank 1") && strstr(err.text, "an array of rank 2 fits"));
    CHECK_INT(text_checked(text, (ts_spec[]){three, number, one}, 3), TS_TYPE);
    CHECK(strstr(err.text, "an array of rank 2 fits") != NULL);
    CHECK_INT(text_checked(text, (ts_spec[]){two, number, two}, 3), TS_TYPE);
    CHECK(strstr(err.text, "argument 2 is an array of rank 2") && strstr(err.text, "an array of rank 1 fits"));
    const char *flag = "entry @k(%p: ptr<f32>, %n: i32, %s: i32, %flag: i32) {\n  return\n}\n"; /* a bool is an i32 */
    number.dtype = TS_DTYPE_bool_;
    CHECK_INT(text_checked(flag, (ts_spec[]){one, number}, 2), TS_OK);
    CHECK_INT(text_checked(flag, (ts_spec[]){two, number}, 2), TS_TYPE);
    CHECK(strstr(err.text, "an array of rank 1 fits") != NULL);
}

static const char two_entries[] =
    "entry @one(%p: ptr<i32>, %n: i32, %s: i32) {\n  %x = constant 1 : i32\n  %t = store_ptr_tko %p, %x : token\n"
    "  return\n}\nfunc @helper() {\n  return\n}\n"
    "entry @two(%p: ptr<i32>, %n: i32, %s: i32) {\n  %x = constant 2 : i32\n  %t = store_ptr_tko %p, %x : token\n"
    "  return\n}\n";

/* Launches an entry of two_entries on the CPU; what it stored, or minus the status. */
static int64_t launch_entry(const char *entry)
{
    ts_kernel *kernel;
    int32_t data = 0;
    int64_t one = 1, grid[3] = {1, 1, 1};
    ts_source source = {.kind = TS_SOURCE_TEXT, .bytes = two_entries, .n = sizeof two_entries - 1, .entry = entry};
    ts_arg arg = {.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_int32, .rank = 1,
                  .device = TS_DEVICE_ID(TS_DEVICE_CPU, 0), .value.data = &data, .shape = &one};
    CHECK_OK(ts_kernel_find(&(ts_kernel_desc){.source = source}, &kernel, &err));
    CHECK_STR(ts_kernel_name(kernel), entry ? entry : "");
    ts_status status = ts_launch(NULL, grid, kernel, &arg, 1, 0, &err);
    ts_kernel_release(kernel);
    return status == TS_OK ? data : status;
}

static void an_entry_is_chosen_by_its_name(void)
{
    CHECK_INT(launch_entry(NULL), 1);
    CHECK_INT(launch_entry("two"), 2);
    CHECK_INT(launch_entry("one"), 1);
    CHECK_INT(launch_entry("three"), TS_NOTFOUND);
    CHECK(strstr(err.text, "no entry named 'three'; its entries are @one, @two") != NULL);
    CHECK_INT(launch_entry("helper"), TS_VALUE);
    CHECK(strstr(err.text, "@helper is a func, which kernels call; the entries of the module are @one, @two") != NULL);
    ts_kernel *kernel;
    ts_kernel_desc python = {.name = "k", .source = {.bytes = "", .entry = "two"}};
    CHECK_INT(ts_kernel_create(&python, &kernel, &err), TS_VALUE);
    CHECK_STR(err.text, "kernel 'k': source.entry chooses a kernel of IR; a packed function is one");
}

static void a_source_that_is_none_is_refused(void)
{
    ts_kernel *kernel;
    ts_kernel_desc module = {.name = "k", .source = {.kind = TS_SOURCE_MODULE}};
    ts_kernel_desc custom = {.name = "k", .source = {.kind = TS_SOURCE_CUSTOM}};
    CHECK_INT(ts_kernel_create(&module, &kernel, &err), TS_VALUE);
    CHECK_INT(ts_kernel_find(&module, &kernel, &err), TS_VALUE);
    CHECK_INT(ts_kernel_create(&custom, &kernel, &err), TS_VALUE);
    ts_kernel_desc text = {.name = "k", .source = {.kind = TS_SOURCE_TEXT, .n = 9}};
    CHECK_INT(ts_kernel_create(&text, &kernel, &err), TS_VALUE);
    CHECK_STR(err.text, "kernel 'k': the source has 9 bytes, but source.bytes is NULL");
    CHECK_INT(ts_kernel_find(&text, &kernel, &err), TS_VALUE);
}

static void equal_contents_find_the_same_kernel(void)
{
    ts_kernel *one, *two, *three;
    ts_source source = {.kind = TS_SOURCE_TEXT, .bytes = ir_text, .n = sizeof ir_text - 1};
    ts_kernel_desc desc = {.name = "k", .source = source};
    CHECK_INT(ts_kernel_find(&desc, &one, &err), TS_OK);
    CHECK_INT(ts_kernel_find(&desc, &two, &err), TS_OK);
    desc.hints.checked = 1;
    CHECK_INT(ts_kernel_find(&desc, &three, &err), TS_OK);
    CHECK(one == two && one != three);
    ts_kernel_release(one), ts_kernel_release(two), ts_kernel_release(three);
}

/* The key of a custom source knows its compiler and its bytes. */
static void keys_tell_compilers_apart(void)
{
    ts_cache *cache = ts__cache_create(&(ts_cache_options){0});
    const ts_source sources[] = {{.kind = TS_SOURCE_CUSTOM, .bytes = "a", .n = 1, .compiler = "mine 1"},
                                 {.kind = TS_SOURCE_CUSTOM, .bytes = "a", .n = 1, .compiler = "mine 2"},
                                 {.kind = TS_SOURCE_CUSTOM, .bytes = "b", .n = 1, .compiler = "mine 1"},
                                 {.kind = TS_SOURCE_TEXT, .bytes = "a", .n = 1}, {.bytes = "a", .n = 1},
                                 {.kind = TS_SOURCE_TEXT, .bytes = "a", .n = 1, .entry = "e"},
                                 {.kind = TS_SOURCE_TEXT, .bytes = "a", .n = 1, .entry = "f"},
                                 {.id = "a", .n_id = 1}, {.bytes = "a", .n = 1, .id = "b", .n_id = 1}};
    ts_text keys[TS_COUNT(sources)];
    for (size_t i = 0; i < TS_COUNT(sources); i++) {
        ts__text_init(&keys[i], NULL);
        ts__cache_key(cache, &keys[i], &sources[i], NULL, NULL, 0, &(ts_hints){0}, TS_TARGET_SM90);
        for (size_t k = 0; k < i; k++)
            CHECK(keys[i].n != keys[k].n || memcmp(keys[i].at, keys[k].at, keys[i].n) != 0);
    }
    for (size_t i = 0; i < TS_COUNT(sources); i++)
        ts__text_deinit(&keys[i]);
    ts__cache_destroy(cache);
}

/* Where an id stands for the pack, the pack is not part of the key, whether it is there or not. */
static void an_id_stands_for_the_pack(void)
{
    ts_cache *cache = ts__cache_create(&(ts_cache_options){0});
    const ts_source sources[] = {{.bytes = "a", .n = 1, .id = "name", .n_id = 4}, {.id = "name", .n_id = 4}};
    ts_text keys[2];
    for (size_t i = 0; i < 2; i++) {
        ts__text_init(&keys[i], NULL);
        ts__cache_key(cache, &keys[i], &sources[i], NULL, NULL, 0, &(ts_hints){0}, TS_TARGET_SM90);
    }
    CHECK(keys[0].n == keys[1].n && memcmp(keys[0].at, keys[1].at, keys[0].n) == 0);
    ts__text_deinit(&keys[0]);
    ts__text_deinit(&keys[1]);
    ts__cache_destroy(cache);
}

static int n_asked;

static ts_status own_source(void *user, void **pack, size_t *n, ts_error *error)
{
    n_asked++;
    if (!user)
        return ts_fail(error, TS_IO, "the pack is gone");
    *n = strlen(user);
    *pack = malloc(*n);
    memcpy(*pack, user, *n);
    return TS_OK;
}

/* A kernel that was made without its pack asks for it where no code is kept: once, if it gets it. */
static void a_pack_is_asked_for_when_it_is_needed(void)
{
    const ts_plan *plan;
    ts_kernel *kernel;
    ts_kernel_desc desc = {.name = "k", .source = {.id = "later", .n_id = 5, .host.source = own_source}};
    CHECK_INT(ts_kernel_create(&desc, &kernel, &err), TS_OK);
    CHECK_INT(n_asked, 0);
    CHECK_INT(ts_kernel_prepare(NULL, kernel, NULL, 0, &plan, &err), TS_IO);
    CHECK_INT(ts_kernel_prepare(NULL, kernel, NULL, 0, &plan, &err), TS_IO);
    CHECK_STR(err.text, "the pack is gone");
    CHECK_INT(n_asked, 2);
    ts_kernel_release(kernel);
    desc.source.host.user = "no pack";
    CHECK_INT(ts_kernel_create(&desc, &kernel, &err), TS_OK);
    for (int i = 0; i < 2; i++)
        CHECK_INT(ts_kernel_prepare(NULL, kernel, NULL, 0, &plan, &err), TS_PARSE);
    CHECK_INT(n_asked, 3);
    ts_kernel_release(kernel);
}

static ts_status prepare(const char *compiler, const ts_param *param, const int64_t *stride, ts_kernel_stats *stats)
{
    static float data[8];
    static const int64_t shape[1] = {4};
    ts_kernel *kernel;
    const ts_plan *plan;
    ts_source source = {.kind = TS_SOURCE_CUSTOM, .bytes = "not an object", .n = 13, .compile = own_compile,
                        .compiler = compiler};
    ts_kernel_desc desc = {.name = "k", .source = source, .params = param, .n_params = 1};
    ts_arg arg = {.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_float32, .rank = 1, .value.data = data, .shape = shape,
                  .device = TS_DEVICE_ID(TS_DEVICE_CPU, 0), .strides = stride};
    CHECK_INT(ts_kernel_create(&desc, &kernel, &err), TS_OK);
    ts_status status = ts_kernel_prepare(NULL, kernel, &arg, 1, &plan, &err);
    ts_kernel_get_stats(kernel, stats);
    ts_kernel_release(kernel);
    return status;
}

/* What it makes is no object, so loading fails; what matters is who was asked for it. */
static void code_of_a_named_compiler_is_kept(void)
{
    ts_kernel_stats stats;
    ts_param any = {0};
    (void)prepare(NULL, &any, NULL, &stats);
    (void)prepare(NULL, &any, NULL, &stats);
    CHECK_INT(n_compiled, 2);
    (void)prepare("mine 1", &any, NULL, &stats);
    CHECK_INT(n_compiled, 3);
    (void)prepare("mine 1", &any, NULL, &stats);
    CHECK_INT(n_compiled, 3);
    CHECK_INT(stats.n_from_memory, 1);
    CHECK_INT(n_spec_seen, 1);
}

static void an_array_with_gaps_is_refused_where_it_must_be_dense(void)
{
    ts_kernel_stats stats;
    ts_param dense = {.flags = TS_PARAM_DENSE};
    CHECK_INT(prepare(NULL, &dense, (int64_t[]){2}, &stats), TS_VALUE);
    CHECK(strstr(err.text, "row-major without gaps"));
    (void)prepare(NULL, &dense, (int64_t[]){1}, &stats);
    CHECK_INT(stats.n_compiled, 1);
}

int main(void)
{
    CHECK_INT(setenv("TESSERA_CACHE_DIR", "off", 1), 0);
    ir_must_take_what_the_arguments_pass();
    a_wrong_rank_is_told_by_the_argument();
    an_entry_is_chosen_by_its_name();
    a_source_that_is_none_is_refused();
    equal_contents_find_the_same_kernel();
    keys_tell_compilers_apart();
    an_id_stands_for_the_pack();
    a_pack_is_asked_for_when_it_is_needed();
    code_of_a_named_compiler_is_kept();
    an_array_with_gaps_is_refused_where_it_must_be_dense();
    return check_done();
}
