/* SPDX-License-Identifier: Apache-2.0
 *
 * The launch path on the CPU device with a compiler of the test's own: what it is told about the arguments,
 * what the kernel gets, what is refused before anything runs, and how specialisations are found again.
 */
#include "device/setup.h"
#include "tessera/array.h"
#include <pthread.h>
#include <sys/wait.h>

/* ---- a compiler that records ------------------------------------------------------------------------ */

static struct {
    _Atomic int n_compiled, n_runs; /* the rest is read by single-threaded tests only */
    ts_spec spec[TS_LAUNCH_ARGS];
    size_t n_spec;
    uint64_t params[TS_PLAN_PARAMS];
    uint32_t grid[3];
    ts_status fail;
    uint8_t reads, writes; /* of the plan's */
} seen;

static void entry_record(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end, void *scratch,
                         const ts_cpu_env *env)
{
    (void)scratch, (void)env, (void)end;
    if (begin != 0)
        return;
    memcpy(seen.params, params, sizeof(uint64_t) * 7); /* the launch path's room is larger */
    memcpy(seen.grid, grid, sizeof seen.grid);
    atomic_fetch_add(&seen.n_runs, 1);
}

/* As many parameters as the specs say. */
static uint32_t count_params(const ts_spec *spec, size_t n)
{
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) {
        bool in_list = i && spec[i - 1].kind == TS_SPEC_LIST;
        if (spec[i].kind == TS_SPEC_ARRAY && !in_list)
            count += 1 + 2u * spec[i].rank;
        count += spec[i].kind == TS_SPEC_SCALAR ? 1 : spec[i].kind == TS_SPEC_LIST ? 2 : 0;
    }
    return count;
}

static ts_status test_compile(const ts_source *source, const ts_spec *spec, size_t n_spec,
                              const ts_hints *hints, ts_target target, const ts_alloc *alloc, ts_code *out,
                              ts_error *error)
{
    (void)source, (void)hints;
    atomic_fetch_add(&seen.n_compiled, 1);
    memcpy(seen.spec, spec, n_spec * sizeof *spec);
    seen.n_spec = n_spec;
    if (seen.fail)
        return ts_fail(error, seen.fail, "as asked");
    *out = (ts_code){.alloc = alloc, .plan = {.target = target, .n_params = count_params(spec, n_spec)}};
    out->plan.reads[0] = seen.reads;
    out->plan.writes[0] = seen.writes;
    return TS_OK;
}

static ts_status test_load(ts_device *device, const ts_code *code, const char *name, const char *file,
                           ts_program **out, ts_error *error)
{
    ts_cpu_entry *function = entry_record;
    void *entry;
    memcpy(&entry, &function, sizeof entry);
    return ts__cpu_program_wrap(device, code, entry, name, file, out, error);
}

static ts_kernel *kernel_new(const ts_param *params, size_t n)
{
    ts_kernel *kernel = NULL;
    ts_kernel_desc desc = {.name = "k", .file = "k.py", .params = params, .n_params = n,
                           .source = {TS_SOURCE_CUSTOM, .compile = test_compile}};
    CHECK_OK(ts_kernel_create(&desc, &kernel, &err));
    return kernel;
}

static const int64_t one_block[3] = {1, 1, 1};
static _Alignas(16) float data[4096];

static ts_arg array_arg(uint32_t rank, const int64_t *shape, const int64_t *strides)
{
    return (ts_arg){.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_float32, .rank = (uint8_t)rank,
                    .device = TS_DEVICE_ID(TS_DEVICE_CPU, 0), .value.data = data, .shape = shape, .strides = strides};
}

#define INTS(...) ((const int64_t[]){__VA_ARGS__})

/* ---- what the compiler and the kernel get -------------------------------------------------------------- */

static void an_array_is_described_and_spread(void)
{
    ts_kernel *kernel = kernel_new(NULL, 0);
    ts_arg arg = array_arg(2, INTS(30, 64), INTS(128, 1));
    CHECK_OK(ts_launch(NULL, INTS(3, 2, 1), kernel, &arg, 1, 0, &err));
    const ts_spec *s = seen.spec;
    CHECK(seen.n_spec == 1 && s->kind == TS_SPEC_ARRAY && s->dtype == TS_DTYPE_float32 && s->rank == 2);
    CHECK_INT(s->index_bits, 32);
    CHECK_INT(s->align16, 1);
    CHECK_INT(s->unit_stride, 2);
    CHECK_INT(s->stride_div16, 1);
    CHECK_INT(s->shape_div16, 2);
    CHECK_INT(s->shape_one, 0);
    CHECK(seen.params[0] == (uintptr_t)data && seen.params[1] == 30 && seen.params[2] == 64);
    CHECK(seen.params[3] == 128 && seen.params[4] == 1);
    CHECK(seen.grid[0] == 3 && seen.grid[1] == 2 && seen.grid[2] == 1);
    ts_kernel_release(kernel);
}

static void a_config_asks_for_what_was_compiled(void)
{
    ts_kernel *kernel = kernel_new(NULL, 0);
    ts_arg arg = array_arg(1, INTS(64), NULL);
    ts_launch_config config = {.grid = {3, 1, 1}};
    CHECK_OK(ts_launch_config_run(NULL, &config, kernel, &arg, 1, &err));
    CHECK_INT(seen.grid[0], 3);
    config.block[0] = 128;
    CHECK_INT(ts_launch_config_run(NULL, &config, kernel, &arg, 1, &err), TS_VALUE);
    config = (ts_launch_config){.grid = {3, 1, 1}, .shared_bytes = 64};
    CHECK_INT(ts_launch_config_run(NULL, &config, kernel, &arg, 1, &err), TS_VALUE);
    config = (ts_launch_config){.grid = {3, 1, 1}, .cluster = {2, 1, 1}};
    CHECK_INT(ts_launch_config_run(NULL, &config, kernel, &arg, 1, &err), TS_VALUE);
    config.cluster[0] = 1;
    CHECK_OK(ts_launch_config_run(NULL, &config, kernel, &arg, 1, &err));
    ts_kernel_release(kernel);
}

static void strides_of_extent_one_do_not_matter(void)
{
    ts_kernel *kernel = kernel_new(NULL, 0);
    ts_arg a = array_arg(3, INTS(1, 5, 1), INTS(-77, 1, 3)), b = array_arg(3, INTS(1, 5, 1), NULL);
    int before = seen.n_compiled;
    CHECK_OK(ts_launch(NULL, one_block, kernel, &a, 1, 0, &err));
    CHECK(seen.params[4] == 5 && seen.params[5] == 1 && seen.params[6] == 1);
    CHECK_OK(ts_launch(NULL, one_block, kernel, &b, 1, 0, &err));
    CHECK_INT(seen.n_compiled - before, 1);
    CHECK_INT(seen.spec[0].shape_one, 5);
    ts_kernel_release(kernel);
}

static void numbers_follow_their_annotation(void)
{
    const ts_param params[] = {{"a", 0, 0, 0, 0}, {"b", 0, 0, 0, TS_DTYPE_int64}, {"c", TS_PARAM_CONSTANT, 0, 0, 0},
                               {"d", 0, 0, 0, 0}, {"e", 0, 0, 0, 0}, {"f", TS_PARAM_CONSTANT, 0, 0, 0}};
    const ts_arg args[] = {{.kind = TS_SPEC_INT, .value.i = -5}, {.kind = TS_SPEC_INT, .value.i = (int64_t)1 << 40},
                           {.kind = TS_SPEC_INT, .value.i = 77}, {.kind = TS_SPEC_FLOAT, .value.f = 1.5},
                           {.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_float16, .value.bits = 0x3C00},
                           {.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_int8, .value.bits = 0xFE}};
    ts_kernel *kernel = kernel_new(params, 6);
    CHECK_OK(ts_launch(NULL, one_block, kernel, args, 6, 0, &err));
    const ts_spec *s = seen.spec;
    CHECK(s[0].kind == TS_SPEC_SCALAR && s[0].dtype == TS_DTYPE_int32 && s[0].loose == 1);
    CHECK(s[1].kind == TS_SPEC_SCALAR && s[1].dtype == TS_DTYPE_int64);
    CHECK(s[2].kind == TS_SPEC_INT && s[2].value == 77 && s[2].dtype == 0);
    CHECK(s[3].dtype == TS_DTYPE_float32 && s[4].dtype == TS_DTYPE_float16 && s[4].loose == 0);
    CHECK(s[5].kind == TS_SPEC_INT && s[5].dtype == TS_DTYPE_int8 && s[5].value == -2);
    CHECK((uint32_t)seen.params[0] == (uint32_t)-5 && seen.params[1] == (uint64_t)1 << 40);
    CHECK(seen.params[2] == 0x3FC00000 && seen.params[3] == 0x3C00);
    ts_kernel_release(kernel);
}

static void static_extents_and_wide_indices_are_asked_for(void)
{
    const ts_param params[] = {{"a", TS_PARAM_INDEX64 | TS_PARAM_STATIC_STRIDES, 2, 1, 0}};
    ts_kernel *kernel = kernel_new(params, 1);
    ts_arg arg = array_arg(2, INTS(6, 8), NULL);
    CHECK_OK(ts_launch(NULL, one_block, kernel, &arg, 1, 0, &err));
    CHECK(seen.spec[0].index_bits == 64 && seen.spec[0].static_shape == 2 && seen.spec[0].static_stride == 1);
    CHECK(seen.spec[0].dims[0] == 0 && seen.spec[0].dims[1] == 8 && seen.spec[0].strides[0] == 8);
    CHECK(seen.spec[0].strides[1] == 0 && seen.spec[0].unit_stride == 0);
    ts_kernel_release(kernel);
}

static void huge_arrays_get_wide_indices(void)
{
    ts_kernel *kernel = kernel_new(NULL, 0);
    const int64_t limit = ((int64_t)1 << 31) - ((int64_t)1 << 25);
    struct { int64_t rows, stride; int bits; } cases[] = {{limit, 1, 32}, {limit + 2, 1, 64}, {3, limit, 64}};
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        ts_arg arg = array_arg(1, &cases[i].rows, &cases[i].stride);
        CHECK_OK(ts_launch(NULL, one_block, kernel, &arg, 1, 0, &err));
        CHECK_INT(seen.spec[0].index_bits, cases[i].bits);
    }
    ts_arg empty = array_arg(2, INTS(0, limit * 4), NULL);
    CHECK_OK(ts_launch(NULL, one_block, kernel, &empty, 1, 0, &err));
    ts_kernel_release(kernel);
}

static void lists_become_a_table_of_words(void)
{
    ts_kernel *kernel = kernel_new(NULL, 0);
    const ts_arg args[] = {{.kind = TS_SPEC_LIST, .value.i = 2}, array_arg(1, INTS(16), INTS(4)),
                           array_arg(1, INTS(7), NULL)};
    ts_arg mixed[] = {args[0], args[1], args[2]};
    CHECK_OK(ts_launch(NULL, one_block, kernel, args, 3, 0, &err));
    CHECK(seen.n_spec == 2 && seen.spec[0].kind == TS_SPEC_LIST && seen.spec[1].kind == TS_SPEC_ARRAY);
    CHECK(seen.spec[1].unit_stride == 0 && seen.spec[1].shape_div16 == 0 && seen.spec[1].align16 == 1);
    CHECK_INT(seen.params[1], 2);
    mixed[2].dtype = TS_DTYPE_float64;
    CHECK_INT(ts_launch(NULL, one_block, kernel, mixed, 3, 0, &err), TS_TYPE);
    CHECK_INT(ts_launch(NULL, one_block, kernel, args, 2, 0, &err), TS_VALUE);
    const ts_arg two[] = {args[0], args[1], args[2], {.kind = TS_SPEC_LIST, .value.i = 1}, args[1]};
    CHECK_OK(ts_launch(NULL, one_block, kernel, two, 5, 0, &err));
    CHECK_INT(seen.params[2] - seen.params[0], sizeof(uint64_t) * 3 * 2); /* behind the first: one copy for both */
    CHECK_INT(seen.params[3], 1);
    ts_kernel_release(kernel);
}

/* `first` to `second`: how the second of two arrays of 16 is described when it begins `at` elements after the first. */
static ts_spec shared_spec(int64_t at, const int64_t *strides)
{
    ts_kernel *kernel = kernel_new(NULL, 0);
    ts_arg args[] = {array_arg(1, INTS(16), NULL), array_arg(1, INTS(16), strides)};
    args[1].value.data = data + at;
    CHECK_OK(ts_launch(NULL, one_block, kernel, args, 2, 0, &err));
    int before = seen.n_compiled;
    CHECK_OK(ts_launch(NULL, one_block, kernel, args, 2, 0, &err));
    CHECK_INT(seen.n_compiled, before);
    CHECK_INT(seen.n_spec, 2);
    ts_kernel_release(kernel);
    return seen.spec[1];
}

static void arrays_that_share_memory_are_described(void)
{
    seen.writes = 1 << 0; /* the pointers are parameters 0 and 3 */
    seen.reads = 1 << 3;
    ts_spec same = shared_spec(0, NULL), apart = shared_spec(16, NULL), cross = shared_spec(8, NULL);
    ts_spec wide = shared_spec(0, INTS(2));
    CHECK(same.same_as == 1 && !same.overlap);
    CHECK(!apart.same_as && !apart.overlap);
    CHECK(!cross.same_as && cross.overlap);
    CHECK(!wide.same_as && wide.overlap);
    seen.reads = 0; /* the second is not accessed at all */
    cross = shared_spec(8, NULL);
    CHECK(!cross.same_as && !cross.overlap);
    seen.writes = 0;
}

enum { SHARED_MOST = 7 };

/* Numbers of up to seven arrays in any places, with the bytes and pointers that the launch path has to see. */
typedef struct shared_case {
    uint32_t n;
    ts_arg args[SHARED_MOST];
    int64_t at[SHARED_MOST], bytes[SHARED_MOST];
} shared_case;

static bool shared_meet(const shared_case *c, uint32_t i, uint32_t k)
{
    return c->at[i] < c->at[k] + c->bytes[k] && c->at[k] < c->at[i] + c->bytes[i];
}

/* Array i shares bytes with another one; both are accessed, and one of them is written. */
static bool shared_conflicts(const shared_case *c, uint32_t i)
{
    bool conflicts = false;
    for (uint32_t k = 0; k < c->n; k++) {
        uint32_t both = 1u << i | 1u << k;
        conflicts |= k != i && shared_meet(c, i, k) && ((seen.reads | seen.writes) & both) == both &&
                     seen.writes & both;
    }
    return conflicts;
}

static void shared_check(const shared_case *c)
{
    bool any = false;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t same = 0, overlap = 0;
        for (uint32_t k = 0; k < i && shared_conflicts(c, i); k++) {
            bool is_same = c->at[i] == c->at[k] && c->bytes[i] == c->bytes[k];
            if (!shared_conflicts(c, k) || !shared_meet(c, i, k))
                continue;
            same = same ? same : is_same ? k + 1 : 0;
            overlap |= !is_same;
        }
        any |= shared_conflicts(c, i);
        CHECK_INT(seen.spec[i].same_as, same);
        CHECK_INT(seen.spec[i].overlap, overlap);
    }
    CHECK_INT(seen.n_compiled, any ? 2 : 1);
}

static void arrays_in_any_places_are_described(void)
{
    uint32_t random = 1;
    for (int round = 0; round < 500; round++) {
        shared_case c = {.n = 2 + (uint32_t)round % (SHARED_MOST - 1)};
        ts_kernel *kernel = kernel_new(NULL, 0);
        seen.reads = (uint8_t)(random >> 9);
        seen.writes = (uint8_t)(random >> 17 & random >> 24);
        for (uint32_t i = 0; i < c.n; i++) {
            random = random * 1664525 + 1013904223;
            c.bytes[i] = 4 << (random >> 20 & 1);
            c.at[i] = (int64_t)(random >> 24) % (round % 2 ? 12 : 120) / (c.bytes[i] / 4) * c.bytes[i];
            c.args[i] = array_arg(0, INTS(0), NULL);
            c.args[i].dtype = c.bytes[i] == 4 ? TS_DTYPE_float32 : TS_DTYPE_float64;
            c.args[i].value.data = (char *)data + c.at[i];
        }
        seen.n_compiled = 0;
        CHECK_OK(ts_launch(NULL, one_block, kernel, c.args, c.n, 0, &err));
        shared_check(&c);
        ts_kernel_release(kernel);
    }
    seen.reads = seen.writes = 0;
}

static void tuples_are_their_items(void)
{
    const ts_param params[] = {{"t", 0, 0, 0, 0}, {"c", TS_PARAM_CONSTANT, 0, 0, 0}};
    ts_kernel *kernel = kernel_new(params, 2);
    const ts_arg args[] = {{.kind = TS_SPEC_TUPLE, .value.i = 2}, {.kind = TS_SPEC_INT, .value.i = 3},
                           {.kind = TS_SPEC_TUPLE, .value.i = 1}, array_arg(1, INTS(16), NULL),
                           {.kind = TS_SPEC_TUPLE, .value.i = 2}, {.kind = TS_SPEC_INT, .value.i = 4},
                           {.kind = TS_SPEC_NONE}};
    CHECK_OK(ts_launch(NULL, one_block, kernel, args, 7, 0, &err));
    CHECK(seen.n_spec == 7 && seen.spec[0].kind == TS_SPEC_TUPLE && seen.spec[0].value == 2);
    CHECK(seen.spec[1].kind == TS_SPEC_SCALAR && seen.spec[3].kind == TS_SPEC_ARRAY);
    CHECK(seen.spec[5].kind == TS_SPEC_INT && seen.spec[5].value == 4 && seen.spec[6].kind == TS_SPEC_NONE);
    CHECK_INT(ts_launch(NULL, one_block, kernel, args, 6, 0, &err), TS_VALUE);
    ts_kernel_release(kernel);
}

static void items_follow_their_own_annotation(void)
{
    static const ts_param pair[] = {{.flags = TS_PARAM_CONSTANT}, {.dtype = TS_DTYPE_int64}};
    static const ts_param each[] = {{.form = TS_PARAM_TUPLE, .n_items = 2, .items = pair}};
    const ts_param params[] = {{.name = "t", .form = TS_PARAM_TUPLE_OF, .n_items = 1, .items = each}};
    ts_kernel *kernel = kernel_new(params, 1), *found[3];
    const ts_arg args[] = {{.kind = TS_SPEC_TUPLE, .value.i = 1}, {.kind = TS_SPEC_TUPLE, .value.i = 2},
                           {.kind = TS_SPEC_INT, .value.i = 3}, {.kind = TS_SPEC_INT, .value.i = 4}};
    CHECK_OK(ts_launch(NULL, one_block, kernel, args, 4, 0, &err));
    CHECK(seen.n_spec == 4 && seen.spec[2].kind == TS_SPEC_INT && seen.spec[2].value == 3);
    CHECK(seen.spec[3].kind == TS_SPEC_SCALAR && seen.spec[3].dtype == TS_DTYPE_int64);
    ts_kernel_release(kernel);
    const ts_param bad[] = {{.form = TS_PARAM_TUPLE, .n_items = 1}, {.form = TS_PARAM_LIST_OF}, {.form = 9}};
    for (size_t i = 0; i < TS_COUNT(bad); i++) {
        ts_kernel_desc desc = {.params = &bad[i], .n_params = 1, .source = {TS_SOURCE_CUSTOM, .compile = test_compile}};
        CHECK_INT(ts_kernel_create(&desc, &kernel, &err), TS_VALUE);
    }
    static const ts_param other[] = {{.form = TS_PARAM_TUPLE, .n_items = 1, .items = pair}};
    const ts_param *kinds[] = {each, each, other};
    for (size_t i = 0; i < 3; i++) {
        ts_kernel_desc desc = {.name = "items", .params = kinds[i], .n_params = 1,
                               .source = {TS_SOURCE_CUSTOM, .compile = test_compile}};
        CHECK_OK(ts_kernel_find(&desc, &found[i], &err));
    }
    CHECK(found[0] == found[1] && found[0] != found[2]);
    for (size_t i = 0; i < 3; i++)
        ts_kernel_release(found[i]);
}

static void records_are_their_class_and_a_tuple(void)
{
    static const ts_param fields[] = {{.flags = TS_PARAM_CONSTANT}, {.dtype = TS_DTYPE_int64}};
    const ts_param params[] = {{.name = "r", .form = TS_PARAM_RECORD, .n_items = 2, .items = fields}};
    ts_kernel *kernel = kernel_new(params, 1);
    ts_arg args[] = {{.kind = TS_SPEC_RECORD, .value.i = 7, .fields = "a,b"}, {.kind = TS_SPEC_TUPLE, .value.i = 2},
                     {.kind = TS_SPEC_INT, .value.i = 3}, {.kind = TS_SPEC_INT, .value.i = 4}};
    CHECK_OK(ts_launch(NULL, one_block, kernel, args, 4, 0, &err));
    CHECK(seen.n_spec == 4 && seen.spec[0].kind == TS_SPEC_RECORD && seen.spec[0].value == 7);
    CHECK(seen.spec[1].value == 2 && seen.spec[2].kind == TS_SPEC_INT && seen.spec[3].dtype == TS_DTYPE_int64);
    CHECK(ts_kernel_takes_constant(kernel, 0, (const size_t[]){0}, 1));
    CHECK(!ts_kernel_takes_constant(kernel, 0, (const size_t[]){1}, 1));
    CHECK(!ts_kernel_takes_constant(kernel, 0, (const size_t[]){2}, 1));
    CHECK(!ts_kernel_takes_constant(kernel, 0, NULL, 0) && !ts_kernel_takes_constant(kernel, 1, NULL, 0));
    CHECK_INT(ts_launch(NULL, one_block, kernel, args, 1, 0, &err), TS_VALUE);
    CHECK_INT(ts_launch(NULL, one_block, kernel, args + 1, 3, 0, &err), TS_TYPE);
    CHECK_INT(ts_launch(NULL, one_block, kernel, args, 3, 0, &err), TS_VALUE);
    args[3] = (ts_arg){.kind = TS_SPEC_FLOAT, .value.f = 1};
    CHECK_INT(ts_launch(NULL, one_block, kernel, args, 4, 0, &err), TS_TYPE);
    CHECK(strstr(err.text, "argument 'r.b': is annotated int64 but is the float 1.0"));
    ts_kernel_release(kernel);
}

static void structs_are_their_element_and_bytes(void)
{
    ts_kernel *kernel = kernel_new(NULL, 0);
    static _Alignas(16) uint8_t memory[64];
    const int64_t shape[] = {2, 2}, dense[] = {24, 12}, apart[] = {32, 13}, close[] = {24, 11};
    ts_arg args[] = {{.kind = TS_SPEC_STRUCT, .value.i = 9, .item_bytes = 12},
                     {.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_uint8, .rank = 2, .shape = shape, .strides = dense,
                      .value.data = memory, .device = TS_DEVICE_ID(TS_DEVICE_CPU, 0)}};
    CHECK_OK(ts_launch(NULL, one_block, kernel, args, 2, 0, &err));
    CHECK(seen.n_spec == 2 && seen.spec[0].kind == TS_SPEC_STRUCT && seen.spec[0].value == 9);
    CHECK(seen.spec[0].align == 2 && seen.spec[0].dtype == 0);
    CHECK(seen.spec[1].static_stride == 2 && seen.spec[1].strides[1] == 12 && !seen.spec[1].unit_stride);
    CHECK(seen.params[1] == 2 && seen.params[3] == 24 && seen.params[4] == 12);
    args[1].strides = apart;
    CHECK_OK(ts_launch(NULL, one_block, kernel, args, 2, 0, &err));
    CHECK(seen.spec[0].align == 0 && seen.spec[1].static_stride == 0);
    ts_kernel_release(kernel);
    kernel = kernel_new(NULL, 0);
    seen.writes = 1;
    args[1].strides = close; /* elements of 12 bytes that are 11 apart share bytes, and the kernel writes */
    CHECK_INT(ts_launch(NULL, one_block, kernel, args, 2, 0, &err), TS_VALUE);
    seen.writes = 0;
    args[0].item_bytes = 0;
    CHECK_INT(ts_launch(NULL, one_block, kernel, args, 2, 0, &err), TS_VALUE);
    args[0].item_bytes = 12;
    CHECK_INT(ts_launch(NULL, one_block, kernel, args, 1, 0, &err), TS_VALUE);
    ts_kernel_release(kernel);
}

static void arguments_are_named_by_their_path(void)
{
    const ts_param params[] = {{.name = "t"}, {.name = NULL}};
    ts_kernel *kernel = kernel_new(params, 2);
    char label[TS_ARG_LABEL];
    const ts_arg args[] = {
        {.kind = TS_SPEC_TUPLE, .value.i = 2}, {.kind = TS_SPEC_RECORD, .fields = "x,long_name"},
        {.kind = TS_SPEC_TUPLE, .value.i = 2}, {.kind = TS_SPEC_INT}, {.kind = TS_SPEC_LIST, .value.i = 1},
        {.kind = TS_SPEC_ARRAY}, {.kind = TS_SPEC_RECORD}, {.kind = TS_SPEC_TUPLE}, {.kind = TS_SPEC_NONE}};
    const char *const says[] = {"argument 't'", "argument 't[0]'", "argument 't[0]'", "argument 't[0].x'",
                                "argument 't[0].long_name'", "argument 't[0].long_name[0]'", "argument 't[1]'",
                                "argument 't[1]'", "argument 1"};
    for (size_t i = 0; i < TS_COUNT(args); i++) {
        ts_arg_label(kernel, args, i, label);
        CHECK_STR(label, says[i]);
    }
    ts_kernel_release(kernel);
}

/* ---- what is refused ------------------------------------------------------------------------------------- */

typedef struct refusal {
    ts_status status;
    const char *says;
    int64_t shape[2], strides[2];
} refusal;

static void bad_layouts_are_refused_before_anything_runs(void)
{
    const refusal cases[] = {
        {TS_VALUE, "argument 'x': axis 1 has a negative stride", {4, 4}, {4, -1}},
        {TS_SHAPE, "negative extent -1", {4, -1}, {1, 1}},
        {TS_SHAPE, "shape (9223372036854775807, 2) has more than 2^62 bytes", {INT64_MAX, 2}, {0, 0}},
        {TS_VALUE, "address space", {4, 2}, {INT64_MAX, 1}},
        {TS_VALUE, "address space", {4, 2}, {INT64_MAX / 16, 1}},
        {TS_VALUE, "address space", {4, 2}, {INT64_MIN / 16, 1}},
        {TS_OK, "", {4, 4}, {1, 4}},
        {TS_OK, "", {0, 4}, {-1, 0}},
        {TS_OK, "", {0, 4}, {INT64_MIN, INT64_MAX}},
    };
    const ts_param params[] = {{"x", 0, 0, 0, 0}};
    ts_kernel *kernel = kernel_new(params, 1);
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        int before = seen.n_runs;
        ts_arg arg = array_arg(2, cases[i].shape, cases[i].strides);
        err.text[0] = 0;
        CHECK_INT(ts_launch(NULL, one_block, kernel, &arg, 1, 0, &err), cases[i].status);
        CHECK(strstr(err.text, cases[i].says) != NULL);
        CHECK_INT(seen.n_runs - before, cases[i].status == TS_OK);
    }
    ts_kernel_release(kernel);
}

/* Read, a stride of 0 repeats an element; written, it would be lost which block came last. */
static void elements_that_overlap_are_read_and_not_written(void)
{
    static const int64_t strides[][2] = {{0, 1}, {3, 1}, {1, 3}, {0, 0}};
    for (uint8_t writes = 0; writes < 2; writes++) {
        ts_kernel *kernel = kernel_new(&(ts_param){"x", 0, 0, 0, 0}, 1);
        seen.writes = writes;
        for (size_t i = 0; i < TS_COUNT(strides); i++) {
            ts_arg arg = array_arg(2, INTS(4, 4), strides[i]);
            err.text[0] = 0;
            CHECK_INT(ts_launch(NULL, one_block, kernel, &arg, 1, 0, &err), writes ? TS_VALUE : TS_OK);
            CHECK(!writes || strstr(err.text, "argument 0 ('x') of kernel 'k' has elements that overlap in memory"));
        }
        seen.writes = 0;
        ts_kernel_release(kernel);
    }
}

static void an_array_without_address_or_shape_is_refused(void)
{
    ts_kernel *kernel = kernel_new(NULL, 0);
    ts_arg lost = array_arg(1, INTS(4), NULL), empty = array_arg(1, INTS(0), NULL), bare = array_arg(1, NULL, NULL),
           high = array_arg(1, INTS(4), NULL);
    lost.value.data = empty.value.data = NULL;
    high.value.data = (void *)(UINTPTR_MAX - 7);
    CHECK_INT(ts_launch(NULL, one_block, kernel, &lost, 1, 0, &err), TS_VALUE);
    CHECK(strstr(err.text, "shape (4,) says that it lies at address 0") != NULL);
    CHECK_INT(ts_launch(NULL, one_block, kernel, &bare, 1, 0, &err), TS_VALUE);
    CHECK(strstr(err.text, "gives no shape") != NULL);
    CHECK_INT(ts_launch(NULL, one_block, kernel, &high, 1, 0, &err), TS_VALUE);
    CHECK_OK(ts_launch(NULL, one_block, kernel, &empty, 1, 0, &err));
    ts_kernel_release(kernel);
}

static void bad_arguments_are_refused_with_their_name(void)
{
    const ts_param params[] = {{"x", 0, 0, 0, 0}, {"n", TS_PARAM_CONSTANT, 0, 0, 0}};
    ts_kernel *kernel = kernel_new(params, 2);
    ts_arg x = array_arg(1, INTS(8), NULL), n = {.kind = TS_SPEC_INT, .value.i = 2};
    ts_arg odd = x, big = {.kind = TS_SPEC_INT, .value.i = (int64_t)1 << 31};
    ts_arg unknown = {.kind = 99}, high = x, dtype = x;
    odd.value.data = (char *)data + 2;
    high.rank = 9;
    dtype.dtype = 200;
    struct { ts_arg args[2]; size_t n; ts_status status; const char *says; } cases[] = {
        {{x, x}, 2, TS_TYPE, "argument 'n': is annotated Constant but is an array"},
        {{odd, n}, 2, TS_VALUE, "not aligned to its float32 elements"},
        {{big, n}, 2, TS_OVERFLOW, "argument 'x': 2147483648 does not fit int32"},
        {{unknown, n}, 2, TS_TYPE, "kind 99"},
        {{high, n}, 2, TS_SHAPE, "9 axes"},
        {{dtype, n}, 2, TS_TYPE, "dtype"},
        {{x, n}, 1, TS_TYPE, "takes 2 arguments (x, n), got 1"},
    };
    int before = seen.n_compiled;
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        CHECK_INT(ts_launch(NULL, one_block, kernel, cases[i].args, cases[i].n, 0, &err), cases[i].status);
        CHECK(strstr(err.text, cases[i].says) != NULL);
    }
    CHECK_INT(seen.n_compiled, before);
    ts_kernel_release(kernel);
}

static void arrays_of_two_devices_are_refused(void)
{
    ts_kernel *kernel = kernel_new(NULL, 0);
    ts_arg args[2] = {array_arg(1, INTS(8), NULL), array_arg(1, INTS(8), NULL)};
    args[1].device = TS_DEVICE_ID(TS_DEVICE_CUDA, 3);
    CHECK_INT(ts_launch(NULL, one_block, kernel, args, 2, 0, &err), TS_VALUE);
    CHECK_STR(err.text, "kernel 'k', argument 1: the array is on CUDA device 3, but argument 0 is on the CPU; copy one "
                        "of them");
    ts_stream foreign = {NULL, 0x7000, NULL};
    CHECK_INT(ts_launch(&foreign, one_block, kernel, args, 1, 0, &err), TS_VALUE);
    CHECK(strstr(err.text, "not a stream of the CPU device") != NULL);
    ts_kernel_release(kernel);
}

static void grids_are_checked_and_empty_ones_do_nothing(void)
{
    ts_kernel *kernel = kernel_new(NULL, 0);
    int before = seen.n_runs;
    const int64_t bad[][3] = {{-1, 1, 1}, {1, 1 << 24, 1}, {1, 1, INT64_MAX}, {0, -1, 1}};
    for (size_t i = 0; i < TS_COUNT(bad); i++)
        CHECK_INT(ts_launch(NULL, bad[i], kernel, NULL, 0, 0, &err), TS_VALUE);
    CHECK(strstr(err.text, "kernel 'k': grid (0, -1, 1) is out of range") != NULL);
    CHECK_OK(ts_launch(NULL, INTS(0, 5, 1), kernel, NULL, 0, 0, &err));
    CHECK_INT(seen.n_runs, before);
    ts_kernel_release(kernel);
}

static void freed_buffers_are_refused(void)
{
    ts_device *device;
    ts_array *array;
    ts_arg arg;
    ts_kernel *kernel = kernel_new(NULL, 0);
    CHECK_OK(ts_device_get(TS_DEVICE_CPU, 0, &device, &err));
    CHECK_OK(ts_array_zeros(device, NULL, TS_DTYPE_float32, 1, INTS(10), &array, &err));
    ts_arg_of_array(array, &arg);
    CHECK_OK(ts_launch(NULL, one_block, kernel, &arg, 1, 0, &err));
    CHECK_OK(ts_buffer_free(array->buffer, &err));
    CHECK_INT(ts_launch(NULL, one_block, kernel, &arg, 1, 0, &err), TS_BUFFER);
    CHECK(strstr(err.text, "freed") != NULL);
    ts_array_release(array);
    ts_kernel_release(kernel);
}

/* ---- finding specialisations again -------------------------------------------------------------------------- */

static void many_specialisations_are_each_compiled_once(void)
{
    const ts_param params[] = {{"n", TS_PARAM_CONSTANT, 0, 0, 0}};
    ts_kernel *kernel = kernel_new(params, 1);
    ts_kernel_stats stats;
    for (int round = 0; round < 3; round++)
        for (int64_t i = 0; i < 300; i++)
            CHECK_OK(ts_launch(NULL, one_block, kernel, &(ts_arg){.kind = TS_SPEC_INT, .value.i = i}, 1, 0, &err));
    ts_kernel_get_stats(kernel, &stats);
    CHECK_INT(stats.n_specialised, 300);
    CHECK_INT(stats.n_compiled, 300);
    ts_kernel_release(kernel);
}

static void *launch_numbers(void *user)
{
    for (int64_t i = 0; i < 200; i++)
        if (ts_launch(NULL, one_block, user, &(ts_arg){.kind = TS_SPEC_INT, .value.i = i}, 1, 0, NULL) != TS_OK)
            return user;
    return NULL;
}

static void threads_share_specialisations(void)
{
    const ts_param params[] = {{"n", TS_PARAM_CONSTANT, 0, 0, 0}};
    ts_kernel *kernel = kernel_new(params, 1);
    ts_kernel_stats stats;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, launch_numbers, kernel);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        CHECK(!failed);
    }
    ts_kernel_get_stats(kernel, &stats);
    CHECK_INT(stats.n_specialised, 200);
    ts_kernel_release(kernel);
}

/* ---- forks ------------------------------------------------------------------------------------------- */

static _Atomic int slow_begun, slow_may_end;

/* A compilation that holds its kernel's lock until it is told to end. */
static ts_status slow_compile(const ts_source *source, const ts_spec *spec, size_t n_spec, const ts_hints *hints,
                              ts_target target, const ts_alloc *alloc, ts_code *out, ts_error *error)
{
    atomic_store(&slow_begun, 1);
    while (!atomic_load(&slow_may_end))
        usleep(1000);
    return test_compile(source, spec, n_spec, hints, target, alloc, out, error);
}

static void *launch_slowly(void *user)
{
    return ts_launch(NULL, one_block, user, NULL, 0, 0, NULL) == TS_OK ? NULL : user;
}

static void *find_until(void *user)
{
    ts_kernel_desc desc = {.name = "found", .source = {TS_SOURCE_CUSTOM, .compile = test_compile}};
    do {
        ts_kernel *kernel;
        if (ts_kernel_find(&desc, &kernel, NULL) != TS_OK)
            return user;
        ts_kernel_release(kernel);
    } while (!atomic_load((_Atomic int *)user));
    return NULL;
}

/* Whether a child of fork() does `work` and ends well; one that hangs is ended by its alarm. */
static bool child_can(void *(*work)(void *user), void *user, _Atomic int *flag)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        atomic_store(flag, 1);
        _exit(work(user) != NULL);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void a_child_compiles_what_a_thread_of_the_parent_was_compiling(void)
{
    ts_kernel *kernel = NULL;
    ts_kernel_desc desc = {.name = "slow", .source = {TS_SOURCE_CUSTOM, .compile = slow_compile}};
    pthread_t thread;
    void *failed;
    CHECK_OK(ts_kernel_create(&desc, &kernel, &err));
    CHECK(pthread_create(&thread, NULL, launch_slowly, kernel) == 0);
    while (!atomic_load(&slow_begun))
        usleep(1000);
    CHECK(child_can(launch_slowly, kernel, &slow_may_end));
    atomic_store(&slow_may_end, 1);
    pthread_join(thread, &failed);
    CHECK(!failed);
    CHECK(!launch_slowly(kernel));
    ts_kernel_release(kernel);
}

static void a_child_finds_kernels_while_threads_of_the_parent_do(void)
{
    _Atomic int end = 0;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, find_until, &end) == 0);
    for (int i = 0; i < 20; i++)
        CHECK(child_can(find_until, &end, &end));
    atomic_store(&end, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void failed_compilations_are_tried_again(void)
{
    ts_kernel *kernel = kernel_new(NULL, 0);
    seen.fail = TS_TILETYPE;
    CHECK_INT(ts_launch(NULL, one_block, kernel, NULL, 0, 0, &err), TS_TILETYPE);
    CHECK_STR(err.text, "as asked");
    seen.fail = TS_OK;
    CHECK_OK(ts_launch(NULL, one_block, kernel, NULL, 0, 0, &err));
    ts_kernel_release(kernel);
}

static void a_reset_device_gets_its_kernels_again(void)
{
    ts_device *device;
    const ts_plan *plan;
    ts_kernel_stats stats;
    ts_kernel *kernel = kernel_new(NULL, 0);
    CHECK_OK(ts_device_get(TS_DEVICE_CPU, 0, &device, &err));
    CHECK_OK(ts_kernel_prepare(NULL, kernel, NULL, 0, &plan, &err));
    CHECK_INT(plan->target, TS_TARGET_CPU);
    CHECK_OK(ts_device_reset(device, &err));
    CHECK_OK(ts_launch(NULL, one_block, kernel, NULL, 0, 0, &err));
    CHECK_OK(ts_launch(NULL, one_block, kernel, NULL, 0, 0, &err));
    ts_kernel_get_stats(kernel, &stats);
    CHECK_INT(stats.n_specialised, 2);
    ts_kernel_release(kernel);
}

static void kernels_survive_failing_allocations(void)
{
    static const ts_param items[] = {{.name = "item"}};
    const ts_param params[] = {{"n", TS_PARAM_CONSTANT, 0, 0, 0},
                               {.name = "t", .form = TS_PARAM_TUPLE, .n_items = 1, .items = items}};
    const ts_arg args[] = {{.kind = TS_SPEC_INT}, {.kind = TS_SPEC_TUPLE, .value.i = 1}, {.kind = TS_SPEC_NONE}};
    ts_status status = TS_NOMEM;
    int64_t n = 1;
    for (; n < 100 && status != TS_OK; n++) {
        counting count = {.fail_at = n};
        ts_alloc alloc = {counting_resize, &count};
        ts_kernel *kernel = NULL;
        ts_kernel_desc desc = {.name = "k", .params = params, .n_params = 2,
                               .alloc = &alloc, .source = {TS_SOURCE_CUSTOM, .compile = test_compile}};
        status = ts_kernel_create(&desc, &kernel, &err);
        for (int64_t i = 0; i < 20 && status == TS_OK; i++) {
            ts_arg given[3] = {args[0], args[1], args[2]};
            given[0].value.i = i;
            status = ts_launch(NULL, one_block, kernel, given, 3, 0, &err);
        }
        ts_kernel_release(kernel);
        CHECK(status == TS_OK || status == TS_NOMEM);
        CHECK_INT(count.bytes_out, 0);
    }
    CHECK(status == TS_OK && n > 20);
}

int main(void)
{
    ts_device *device;
    CHECK_OK(ts_device_get(TS_DEVICE_CPU, 0, &device, &err));
    ts_device_ops ops = *device->ops;
    const ts_device_ops *real = device->ops;
    ops.program_load = test_load;
    device->ops = &ops;
    an_array_is_described_and_spread();
    a_config_asks_for_what_was_compiled();
    strides_of_extent_one_do_not_matter();
    numbers_follow_their_annotation();
    static_extents_and_wide_indices_are_asked_for();
    huge_arrays_get_wide_indices();
    lists_become_a_table_of_words();
    arrays_that_share_memory_are_described();
    arrays_in_any_places_are_described();
    tuples_are_their_items();
    items_follow_their_own_annotation();
    records_are_their_class_and_a_tuple();
    structs_are_their_element_and_bytes();
    arguments_are_named_by_their_path();
    bad_layouts_are_refused_before_anything_runs();
    elements_that_overlap_are_read_and_not_written();
    an_array_without_address_or_shape_is_refused();
    bad_arguments_are_refused_with_their_name();
    arrays_of_two_devices_are_refused();
    grids_are_checked_and_empty_ones_do_nothing();
    freed_buffers_are_refused();
    many_specialisations_are_each_compiled_once();
    threads_share_specialisations();
    a_child_compiles_what_a_thread_of_the_parent_was_compiling();
    a_child_finds_kernels_while_threads_of_the_parent_do();
    failed_compilations_are_tried_again();
    a_reset_device_gets_its_kernels_again();
    kernels_survive_failing_allocations();
    device->ops = real;
    return check_done();
}
