/* SPDX-License-Identifier: Apache-2.0
 * Packs read and lowered from C alone (src/lang): what is refused, what happens when memory runs
 * out, what IR comes out. The packs are the seeds of the fuzz target.
 */
#include "eval/eval.h"
#include "lang/front.h"
#include "lang/pack.h"
#include "check.h"
#include "failing.h"

static const char *const pack_seeds[] = {"copy", "loops", "calls", "shapes", "memory", "folding", "host", "records"};
static const ts_spec pack_spec[] = {
    {.kind = TS_SPEC_ARRAY,
     .dtype = TS_DTYPE_float32,
     .rank = 2,
     .index_bits = 32,
     .align16 = 1,
     .unit_stride = 2},
    {.kind = TS_SPEC_ARRAY,
     .dtype = TS_DTYPE_float32,
     .rank = 1,
     .index_bits = 32,
     .unit_stride = 1},
    {.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_int32},
    {.kind = TS_SPEC_INT, .value = 16},
};

static size_t pack_load(const char *name, uint8_t *room, size_t most)
{
    char path[200];
    snprintf(path, sizeof path, "tests/fuzz/corpus/front/%s.pack", name);
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(room, 1, most, file) : 0;
    if (file)
        fclose(file);
    return n;
}

/* Evaluates the expression of the seed "host", which reads a tile, a number and a tuple: (tile + number, the tuple). */
static ts_status host_answer(void *user, ts_host_call *call, uint32_t site, size_t n, const ts_host_value *values,
                             ts_host_value *out, ts_error *err)
{
    (void)user, (void)site;
    ts_host_value *items = ts_host_room(call, 2 * sizeof *items), shape;
    if (!items)
        return ts_fail(err, TS_NOMEM, "out of memory in a host");
    if (n != 3 || values[0].kind != TS_HOST_PROXY || values[2].kind != TS_HOST_TUPLE)
        return ts_fail(err, TS_STATICEVAL, "wanted a tile, a number and a tuple, got %zu values", n);
    TS_TRY(ts_host_attribute(call, &values[0], "shape", &shape, err));
    TS_TRY(ts_host_apply(call, "add", 2, values, 0, NULL, &items[0], err));
    items[1] = values[2];
    *out = (ts_host_value){.kind = TS_HOST_TUPLE, .n = 2, .as.items = items};
    return shape.kind == TS_HOST_TUPLE ? TS_OK : ts_fail(err, TS_STATICEVAL, "a shape is a tuple");
}

static ts_status lower_with(const ts_alloc *alloc, const uint8_t *pack, size_t n, ts_error *err)
{
    char *text = NULL;
    size_t length;
    ts_source source = {.bytes = pack, .n = n, .host = {.evaluate = host_answer}};
    ts_status status =
        ts_lower_source(&source, pack_spec, TS_COUNT(pack_spec), NULL, TS_LOWER_PLACES, alloc, &text, &length, err);
    if (status == TS_OK)
        alloc->resize(alloc->user, text, length + 1, 0);
    return status;
}

static void memory_may_run_out_anywhere(void)
{
    static uint8_t room[1 << 16];
    for (size_t s = 0; s < TS_COUNT(pack_seeds); s++) {
        size_t n = pack_load(pack_seeds[s], room, sizeof room);
        ts_status status = TS_NOMEM;
        ts_error err;
        for (int fail_at = 0; status != TS_OK && !check_failed && fail_at < 20000; fail_at++) {
            failing f = {.fail_at = fail_at / 2, .forever = fail_at % 2};
            ts_alloc alloc = {failing_resize, &f};
            err.text[0] = 0;
            status = lower_with(&alloc, room, n, &err);
            CHECK_INT(f.bytes, 0);
            if (status != TS_OK)
                CHECK_INT(status, TS_NOMEM);
        }
        CHECK_INT(status, TS_OK);
    }
}

static void every_seed_gives_ir_that_verifies(void)
{
    static uint8_t room[1 << 16];
    for (size_t s = 0; s < TS_COUNT(pack_seeds); s++) {
        ts_error err;
        ts_arena arena;
        ts_module *module = NULL;
        size_t n = pack_load(pack_seeds[s], room, sizeof room);
        ts__arena_init(&arena, NULL);
        ts_source source = {.bytes = room, .n = n, .host = {.evaluate = host_answer}};
        CHECK_OK(ts__front(&arena, &source, pack_spec, TS_COUNT(pack_spec), NULL, &module, &err));
        if (module) {
            CHECK_OK(ts_module_verify(module, &err));
            CHECK_STR(ts_str_get(module, module->fns.at[0]->name), pack_seeds[s]);
        }
        ts__arena_deinit(&arena);
    }
}

/* Sets one word of a good pack and expects a refusal. */
static void refuses_in(const char *seed, size_t at, uint32_t word, const char *part)
{
    static uint8_t room[1 << 16];
    size_t n = pack_load(seed, room, sizeof room);
    ts_error err = {0};
    ts_arena arena;
    ts_pack pack;
    memcpy(room + 4 * at, &word, 4);
    ts__arena_init(&arena, NULL);
    CHECK_INT(ts__pack_read(&arena, room, n, &pack, &err), TS_PARSE);
    CHECK(strstr(err.text, part) != NULL);
    ts__arena_deinit(&arena);
}

static void refuses(size_t at, uint32_t word, const char *part)
{
    refuses_in("copy", at, word, part);
}

/* Where the first object of the kind stands among the words of the pack; *object is its number. */
static size_t object_of(ts_object_kind kind, uint32_t *object, size_t *lists)
{
    static uint8_t room[1 << 16];
    uint32_t head[8], found = 0;
    pack_load("records", room, sizeof room);
    memcpy(head, room, sizeof head);
    *lists = 8 + head[2] + 9 * (size_t)head[3];
    size_t at = *lists + head[4];
    for (*object = 0; *object + 1 < head[5] && found != (uint32_t)kind;)
        memcpy(&found, room + 4 * (at + 4 * (size_t)++*object), 4);
    CHECK_INT(found, kind);
    return at + 4 * (size_t)*object;
}

static uint32_t word_of(size_t at)
{
    static uint8_t room[1 << 16];
    uint32_t word;
    pack_load("records", room, sizeof room);
    memcpy(&word, room + 4 * at, 4);
    return word;
}

static void malformed_elements_are_refused(void)
{
    uint32_t object;
    size_t lists, at = object_of(TS_OBJ_STRUCT, &object, &lists), fields = lists + word_of(at + 3) + 1;
    refuses_in("records", at + 1, UINT32_MAX, "object");
    refuses_in("records", at + 2, 0, "object");
    refuses_in("records", at + 2, 3, "object"); /* fields beyond its bytes */
    refuses_in("records", at + 3, UINT32_MAX, "object");
    refuses_in("records", fields - 1, TS_STRUCT_FIELD - 1, "object");
    refuses_in("records", fields + TS_STRUCT_NAME, UINT32_MAX, "object");
    refuses_in("records", fields + TS_STRUCT_OF, object, "object");
    refuses_in("records", fields + TS_STRUCT_OFFSET, INT32_MAX, "object");
    refuses_in("records", fields + TS_STRUCT_SHAPE, UINT32_MAX, "object");
    at = object_of(TS_OBJ_CHARS, &object, &lists);
    refuses_in("records", at + 1, 0, "object");
    refuses_in("records", at + 2, 3, "object");
    at = object_of(TS_OBJ_ELEMENTS, &object, &lists);
    refuses_in("records", at + 1, object, "object");
    refuses_in("records", at + 2, UINT32_MAX, "object");
    refuses_in("records", lists + word_of(at + 2) + 1, 1000, "object"); /* more elements than bytes */
    refuses_in("records", object_of(TS_OBJ_BYTES, &object, &lists) + 1, UINT32_MAX, "object");
}

static void malformed_packs_are_refused(void)
{
    static uint8_t room[1 << 16];
    uint32_t head[8];
    CHECK(pack_load("copy", room, sizeof room) > sizeof head);
    memcpy(head, room, sizeof head);
    size_t nodes = 8 + head[2], lists = nodes + 9 * head[3], objects = lists + head[4],
           functions = objects + 4 * head[5];
    refuses(0, 7, "version");
    refuses(1, 99, "version 99");
    refuses(3, head[3] + 1, "its head promises");
    refuses(8, UINT32_MAX, "string 0");
    refuses(nodes + 9, TS_AST_COUNT, "node 1");
    refuses(nodes + 9 + 5, UINT32_MAX, "node 1");
    refuses(lists, 1, "list 0");
    refuses(objects + 4, TS_OBJ_COUNT, "object 1");
    refuses(functions, head[3], "function 0");
    refuses(functions + 1, head[2], "function 0");
}

static const ts_front_type operator_types[] = {{.dtype = TS_DTYPE_float32, .rank = 1, .dims = {16}},
                                               {.dtype = TS_DTYPE_float32, .rank = 1, .dims = {16}}};

/* entry @name(%p): calls the operator with a tile of `x` and one of 1, twice over; stores both results. */
static void add_kernel(ts_module *m, const char *name, const ts_front_fn *op, double x)
{
    ts_builder b;
    ts_type f32 = TS_T_f32, tile = ts_type_tile(m, f32, 1, (int64_t[]){16});
    ts_type line = ts_type_tile(m, TS_T_i32, 1, (int64_t[]){16});
    ts__builder_init(&b, ts_fn_create(m, name, TS_LEVEL_T));
    ts_val p = ts_fn_param(&b, ts_type_ptr(m, f32, TS_GLOBAL));
    ts_val args[] = {ts_float(&b, tile, x), ts_float(&b, tile, 1)};
    args[1] = ts_call(&b, op->fn, args) + 1;
    ts_val y = ts_call(&b, op->fn, args) + 1;
    ts_val at = ts_broadcast(&b, p, ts_type_tile(m, ts_type_of(b.fn, p), 1, (int64_t[]){16}));
    at = ts_op2(&b, TS_OP_offset, at, ts_emit(&b, TS_OP_iota, line, 0, NULL, 0, 0), 0);
    ts_emit(&b, TS_OP_store_ptr_tko, TS_T_token, 2, (ts_val[]){at, y}, 0, 0);
    ts_emit(&b, TS_OP_store_ptr_tko, TS_T_token, 2, (ts_val[]){p, y + 1}, 0, 0);
    ts_term(&b, TS_OP_return, 0, NULL);
}

static void run_kernel(const ts_fn *fn, float first, float rest)
{
    float out[16] = {0};
    uint64_t params[] = {(uint64_t)(uintptr_t)out};
    ts_eval_env env = {0};
    ts_error err;
    CHECK_OK(ts__eval_grid(fn, params, 1, (uint32_t[]){1, 1, 1}, &env, &err));
    CHECK(out[0] == first && out[1] == rest && out[15] == rest);
}

static void a_python_operator_serves_several_kernels(void)
{
    static uint8_t room[1 << 16];
    ts_error err;
    ts_arena arena;
    ts_front_fn op, again;
    size_t n = pack_load("operator", room, sizeof room);
    ts__arena_init(&arena, NULL);
    ts_module *m = ts__module_create(&arena);
    CHECK_OK(ts__front_function(m, "step", room, n, operator_types, 2, &op, &err));
    CHECK_INT(ts__front_function(m, "step", room, n, operator_types, 2, &again, &err), TS_VALUE);
    CHECK(strstr(err.text, "has a function @step already") != NULL);
    CHECK_INT(op.n_results, 2);
    CHECK_INT(op.result[0].rank, 1);
    CHECK_INT(op.result[1].rank, 0);
    CHECK_INT(op.result[1].dtype, TS_DTYPE_float32);
    add_kernel(m, "up", &op, 3);
    add_kernel(m, "down", &op, -3);
    CHECK_OK(ts_module_verify(m, &err));
    run_kernel(m->fns.at[1], 3, 13);   /* 3 * 2 + (3 * 2 + 1), max 3 */
    run_kernel(m->fns.at[2], -1, 1);   /* the other return: y, -1 */
    ts__arena_deinit(&arena);
}

/* What is refused leaves the module as it was. */
static void wrong_types_of_a_function_are_refused(void)
{
    static uint8_t room[1 << 16];
    static const ts_front_type odd[] = {{.dtype = TS_DTYPE_float32, .rank = 1, .dims = {3}}, {.dtype = 99}};
    ts_error err;
    ts_arena arena;
    ts_front_fn op;
    size_t n = pack_load("operator", room, sizeof room);
    ts__arena_init(&arena, NULL);
    ts_module *m = ts__module_create(&arena);
    CHECK_INT(ts__front_function(m, "f", room, n, odd, 1, &op, &err), TS_VALUE);
    CHECK(strstr(err.text, "extent 3 of axis 0 is not a power of two") != NULL);
    CHECK_INT(ts__front_function(m, "f", room, n, odd + 1, 1, &op, &err), TS_VALUE);
    CHECK_INT(ts__front_function(m, "f", room, n, operator_types, 1, &op, &err), TS_TILETYPE);
    CHECK(strstr(err.text, "operator() misses its argument 'y'") != NULL);
    CHECK(op.fn == NULL && m->fns.n == 0);
    ts__arena_deinit(&arena);
}

static void memory_may_run_out_in_a_function(void)
{
    static uint8_t room[1 << 16];
    size_t n = pack_load("operator", room, sizeof room);
    ts_status status = TS_NOMEM;
    ts_error err;
    for (int fail_at = 0; status != TS_OK && !check_failed && fail_at < 20000; fail_at++) {
        failing f = {.fail_at = fail_at / 2, .forever = fail_at % 2};
        ts_alloc alloc = {failing_resize, &f};
        ts_arena arena;
        ts_front_fn op;
        ts__arena_init(&arena, &alloc);
        ts_module *m = ts__module_create(&arena);
        status = m ? ts__front_function(m, "f", room, n, operator_types, 2, &op, &err) : TS_NOMEM;
        ts__arena_deinit(&arena);
        CHECK_INT(f.bytes, 0);
        if (status != TS_OK)
            CHECK_INT(status, TS_NOMEM);
    }
    CHECK_INT(status, TS_OK);
}

static void node_names_follow_the_table(void)
{
    CHECK_STR(ts__ast_name(TS_AST_BinOp), "BinOp");
    CHECK_STR(ts__ast_fields(TS_AST_BinOp), "nen");
    CHECK_STR(ts__operator_name(TS_OPERATOR_MatMult), "MatMult");
    CHECK_STR(ts__ast_name(TS_AST_COUNT), "?");
}

int main(void)
{
    node_names_follow_the_table();
    every_seed_gives_ir_that_verifies();
    malformed_packs_are_refused();
    malformed_elements_are_refused();
    memory_may_run_out_anywhere();
    a_python_operator_serves_several_kernels();
    wrong_types_of_a_function_are_refused();
    memory_may_run_out_in_a_function();
    return check_done();
}
