/* SPDX-License-Identifier: Apache-2.0
 * One broken program for each rule of the verifier (src/ir/verify*.c), and what must be said of it;
 * then random damage to good functions, which must be reported or harmless, never a crash. */
#include "ir/text.h"
#include "check.h"

typedef struct rule {
    const char *body, *part;
} rule;

static ts_error err;

#define TILE                                                                                       \
    "  %z = constant 0 : i32\n  %o = constant 1 : i32\n  %t = constant 1.0 : tile<8x8xf32>\n  %i " \
    "= iota : tile<64xi32>\n"
#define VIEW                                                                                       \
    "  %v = make_tensor_view %p, %n : tensor_view<?x16xf32, strides=[16, 1]>\n  %w = "             \
    "make_partition_view %v : partition_view<[8, 8], tensor_view<?x16xf32, strides=[16, 1]>>\n"

#define FUNC(head) "  return\n}\nfunc @f" head " {\n" /* ends the kernel, begins @f */

static const rule rules_tile[] = {
    /* structure */
    {"  return\n  %y = constant 0 : i32\n", "an instruction follows a terminator"},
    {"  for %j in (%z, %n, %o) {\n    yield\n  }\n", "yield ends regions of if"},
    {"  if %c {\n    yield\n  }\n", "has no else"},
    {"  if %n {\n    yield\n  } else {\n    yield\n  }\n", "the condition of an if is an i1"},
    {"  if %c {\n    %y = addi %n, %n : i32\n  } else {\n    yield\n  }\n", "ends without yield"},
    {"  %r = if %c : i32 {\n    yield %n\n  } else {\n    yield\n  }\n", "yield gives 0 values"},
    {"  %r = if %c : i32 {\n    yield %n\n  } else {\n    yield %x\n  }\n",
     "value 0 has another type"},
    {"  if %c {\n    %y = addi %n, %n : i32\n    yield\n  } else {\n    %u = addi %y, %n : i32\n   "
     " yield\n  }\n",
     "in a region that has ended"},
    {"  if %c {\n    %y = addi %n, %n : i32\n    yield\n  } else {\n    yield\n  }\n  %u = addi "
     "%y, %n : i32\n",
     "in a region that has ended"},
    {"  for %j in (%x, %x, %x) {\n    continue\n  }\n", "the bounds of a for are integers"},
    {"  for %j in (%z, %n, %z) {\n    continue\n  }\n", "the step of a for is positive"},
    {"  for %j in (%z, %n, %o) {\n    break\n  }\n", "there is no loop around this break"},
    {"  for %j in (%z, %n, %o) iter(%a = %x) {\n    continue %a\n  }\n",
     "for has 0 results for 1 carried values"},
    {"  %r = for %j in (%z, %n, %o) iter(%a = %x) : f32 {\n    continue %j\n  }\n",
     "value 0 has another type"},
    {"  %r = for %j in (%z, %n, %o) iter(%a: i32 = %x) : f32 {\n    continue %x\n  }\n",
     "argument 1 has another type than its first value"},
    {VIEW "  %r = for %j in (%z, %n, %o) iter(%a = %v) : tensor_view<?x16xf32, strides=[16, 1]> "
          "{\n    continue %a\n  }\n",
     "neither tile, pointer nor token"},
    {"  %r = loop iter(%a = %x) : i32 {\n    break %a\n  }\n",
     "value 0 has another type than the loop"},
    {"  %r = reduce axis=0 (%i) identity(0) args(%a, %b) : i32 {\n    return\n  }\n",
     "need as many results and yielded values"},
    {"  %r = reduce axis=0 (%i) identity(0) args(%a, %b) : i32 {\n    %s = store_ptr_tko %q, %a : "
     "token\n    yield %b\n  }\n",
     "only pure operations do"},
    {"  %r = reduce axis=1 (%i) identity(0) args(%a, %b) : i32 {\n    yield %b\n  }\n",
     "axis 1 is out of range"},
    {"  %r = reduce axis=0 (%t) identity(0.0) args(%a, %b) : f32 {\n    yield %b\n  }\n",
     "result 0 is missing or has the wrong type"},
    {"  %r = reduce axis=0 reverse (%i) identity(0) args(%a, %b) : i32 {\n    yield %b\n  }\n",
     "reduce cannot be reverse: only a scan can"},
    {"  %m = constant true : tile<8x8xi1>\n  %r = cold %m (%t) : tile<8x8xf32> {\n    %s = addi "
     "%i, %i : tile<64xi32>\n    yield %t\n  }\n",
     "another shape than the condition"},
    {"  %m = constant true : tile<8x8xi1>\n  %r = cold %m (%t) : tile<8x8xf32> {\n    %l = "
     "load_ptr_tko %p : f32\n    yield %t\n  }\n",
     "does not belong in a cold path"},
    /* functions */
    {"  call @g\n", "the module has no function @g"},
    {"  call @k %p, %q, %n, %x, %c\n", "@k is a kernel, which a launch starts"},
    {"  call @f %n\n" FUNC("(%a: i32, %b: i32)"), "@f takes 2 arguments, not 1"},
    {"  call @f %n\n" FUNC("(%a: f32)"), "argument 0 has another type than parameter 0 of @f: found i32, wanted f32"},
    {"  %y = call @f : i32\n" FUNC("()"), "@f gives 0 results, not 1"},
    {"  %y = call @f : i32\n" FUNC("() : f32") "  %v = constant 1.0 : f32\n  return %v\n}\nfunc @g() {\n",
     "result 0 has another type than result 0 of @f"},
    {"  return %n\n}\nfunc @f() {\n", "a kernel returns nothing"},
    {FUNC("() : i32"), "return gives 0 values, the function has 1 results"},
    {FUNC("(%a: i32) : f32") "  return %a\n}\nfunc @g() {\n", "value 0 has another type than result 0"},
    {FUNC("(%a: i1)") "  if %a {\n    return\n  } else {\n    yield\n  }\n", "a func has one return, at its end"},
    {FUNC("()") "  call @f\n", "@f calls itself: @f -> @f"},
    {FUNC("()") "  call @g\n  return\n}\nfunc @g() {\n  call @f\n", "@f calls itself: @f -> @g -> @f"},
    {"  call @f\n  return\n}\nthread func @f() {\n", "@f is of the thread level, @k is of the tile level"},
    {"  return\n}\nboth func @f() {\n  %y = iota : tile<64xi32>\n",
     "iota does not belong to the operations of both levels"},
    {"  return\n}\nentry @e() : i32 {\n", "a kernel returns nothing, and this entry has 1 results"},
    {"  %r = reduce axis=0 (%i) identity(0) args(%a, %b) : i32 {\n    call @f %q, %b\n    yield %b\n  }\n" FUNC(
         "(%q: ptr<i32>, %b: i32)") "  %s = store_ptr_tko %q, %b : token\n",
     "line 13 of @f does not belong in a reduction: only pure operations do"},
    /* types */
    {"  %y = constant 0 : tile<3xi32>\n", "extent 3 of axis 0 is not a power of two"},
    {"  %y = constant 0 : tile<8192x4096xi32>\n", "more than 16777216 elements"},
    {"  %y = constant 0 : tile<i32>\n", "a tile of rank 0"},
    {"  %y = constant 0 : tile<4xtoken>\n", "elements of a tile are numbers or pointers"},
    {"  %y = ptr_to_ptr %p : ptr<token>\n", "a pointer points to a number"},
    {"  %y = ptr_to_ptr %p : ptr<f32, shared>\n", "does not convert"},
    {VIEW "  %y = make_partition_view %v : partition_view<[8], tensor_view<?x16xf32, strides=[16, "
          "1]>>\n",
     "a view's tile has rank 1"},
    {VIEW "  %y = make_partition_view %v : partition_view<[8, 8], tensor_view<?x16xf32, "
          "strides=[16, 1]>, dim_map=[0, 0]>\n",
     "not a permutation"},
    {VIEW "  %y = make_strided_view %v : strided_view<[8, 8], tensor_view<?x16xf32, strides=[16, "
          "1]>, steps=[0, 1]>\n",
     "is not positive"},
    {"  %y = make_tensor_view %q : tensor_view<8xi32, strides=[1]>\n  %u = make_partition_view %y "
     ": partition_view<[8], tensor_view<8xi32, strides=[1]>, padding=nan>\n",
     "integers can only be padded with zero"},
    /* elementwise */
    {"  %y = addf %x, %n : f32\n", "operand 1 has another type than operand 0: found i32, wanted f32"},
    {"  %y = addi %x, %x : f32\n", "addi works on i1 to i64: found f32"},
    {"  %y = addf %n, %n : i32\n", "addf works on f16"},
    {"  %y = addf %x, %x : f64\n", "the result has another type"},
    {"  %y = addf approx %x, %x : f32\n", "addf does not take this rounding; it takes rn, rz, rm, rp"},
    {"  %y = addf nsw %x, %x : f32\n", "addf does not know attribute bits"},
    {"  %d = ftof %x : f64\n  %y = addf ftz %d, %d : f64\n", "only f32 can be flushed"},
    {"  %y = cmpi lt %n, %n : i32\n", "a comparison gives i1"},
    {"  %y = select %n, %x, %x : f32\n", "select takes an i1"},
    {"  %y = bitcast %x : i64\n", "bitcast does not convert these element types (docs/reference/ir.md says which): "
     "found f32, wanted i64"},
    {"  %y = exti %n : i16\n", "does not convert"},
    {"  %y = itof %i : f32\n", "a conversion keeps the shape"},
    {"  %y = offset %p, %x : ptr<f32>\n", "the offset is an integer"},
    {"  %y = fpowi %x, %x : f32\n", "the exponent is an integer"},
    /* tiles */
    {"  %y = iota : tile<8xf32>\n", "iota gives a 1-D tile"},
    {"  %y = broadcast %t : tile<16x8xf32>\n", "cannot stretch"},
    {"  %y = reshape %t : tile<8xf32>\n", "reshape from 64 to 8"},
    {"  %y = permute [0, 0] %t : tile<8x8xf32>\n", "named twice"},
    {"  %y = permute [0] %t : tile<8x8xf32>\n", "names each axis"},
    {"  %y = cat axis=2 %t, %t : tile<8x16xf32>\n", "axis 2 is out of range"},
    {"  %y = cat axis=0 %t, %t : tile<8x16xf32>\n", "extents of axis 0 do not fit"},
    {"  %y = extract %t, %z, %n : tile<16x8xf32>\n", "does not divide"},
    {"  %y = extract %t, %z : tile<8x8xf32>\n", "extract takes 3 operands here, not 2"},
    {"  %y = extract %t, %z, %o : tile<8x8xf32>\n", "is out of range, there are 1 parts"},
    {"  %y = pack %t : tile<64xi8>\n", "more or fewer"},
    {"  %y = mmaf %t, %t, %i : tile<8x8xf32>\n", "three tiles of rank 2"},
    {"  %a = constant 1.0 : tile<8x4xf32>\n  %y = mmaf %t, %a, %t : tile<8x8xf32>\n",
     "does not give"},
    {"  %a = constant 1.0 : tile<8x8xf64>\n  %y = mmaf %t, %t, %a : tile<8x8xf64>\n",
     "no matrix multiply has these"},
    {"  %y = constant dense \"00\" : tile<4xi8>\n", "the data has 1 bytes, the type needs 4"},
    /* grid, views, memory */
    {"  %y = get_tile_block_id axis=3 : i32\n", "axes 0 to 2"},
    {"  %y = make_tensor_view %q, %n : tensor_view<?xf32, strides=[1]>\n",
     "operand 0, the base, must be a global pointer to f32"},
    {"  %y = make_tensor_view %p : tensor_view<?xf32, strides=[1]>\n", "make_tensor_view takes 2 operands here, not 1"},
    {VIEW "  %y = get_tensor_shape axis=2 %v : i32\n", "out of range for rank 2"},
    {VIEW "  %y = load_view_tko %w, %z : tile<8x8xf32>\n", "wants 2 indices"},
    {VIEW "  %y = load_view_tko %w, %z, %z : tile<8x16xf32>\n",
     "the tile's type is not the view's"},
    {VIEW "  %y = load_view_tko %w, %z, %x : tile<8x8xf32>\n", "index 1 must be one integer: found f32"},
    {VIEW "  %y = load_view_tko release device %w, %z, %z : tile<8x8xf32>\n",
     "does not know memory order"},
    {VIEW "  %y = load_view_tko relaxed %w, %z, %z : tile<8x8xf32>\n", "needs a scope"},
    {VIEW "  %y = load_view_tko device %w, %z, %z : tile<8x8xf32>\n", "a weak access has no scope"},
    {VIEW "  %y = load_view_tko latency=11 %w, %z, %z : tile<8x8xf32>\n", "latency 11"},
    {VIEW "  %y = load_view_tko inbounds=4 %w, %z, %z : tile<8x8xf32>\n", "beyond rank 2"},
    {VIEW "  %y = load_view_tko %w, %z, %z mask=%c : tile<8x8xf32>\n",
     "does not take the optional operand 'mask'; leave it out"},
    {"  %y = load_ptr_tko %p mask=%n : f32\n", "the mask must be i1 of the pointers' shape: found i32"},
    {"  %y = load_ptr_tko %p pad=%x : f32\n", "padding needs a mask"},
    {"  %y = load_ptr_tko %p : i32\n", "pointee"},
    {"  %y = store_ptr_tko %p, %n : token\n", "operand 1 is not of the pointers'"},
    {"  %y = atomic_rmw_tko add relaxed device %p, %x : f32\n", "works on i32 and i64"},
    {"  %y = atomic_rmw_tko addf relaxed device %q, %n : i32\n", "addf adds f16"},
    {"  %y = atomic_rmw_tko add %q, %n : i32\n", "does not know memory order"},
    {"  %y = token %x : token\n", "only loads and atomics"},
    {"  %y = join_tokens : token\n", "joins at least one"},
    {"  %y = assume div_by(3) %n : i32\n", "is not a power of two"},
    {"  %y = assume bounded(5, 4) %n : i32\n", "above the upper"},
    {"  %y = assume same(3) %i : tile<64xi32>\n", "does not divide axis 0"},
    {"  assert \"no\" %n\n", "assert takes an i1"},
    {"  %k = cmpi lt %i, %i : tile<64xi1>\n  assert \"no\" %k, %i\n", "may take an index and an extent"},
    {"  %k = cmpi lt %i, %i : tile<64xi1>\n  assert \"no\" %k, %n, %n\n", "the index of an assert"},
    {"  %k = cmpi lt %i, %i : tile<64xi1>\n  assert \"no\" %k, %i, %i\n", "the extent an integer"},
    {"  %y = print_tko \"%d\" : token\n", "the format wants 1 values, found 0"},
    {"  %y = print_tko \"%d %%%\" %n : token\n", "malformed or not supported"},
    {"  %y = print_tko \"%qd\" %n : token\n", "malformed or not supported"},
    {"  %y = print_tko \"%08d%12345678901234567890.1234567890d\" %n, %n : token\n", "malformed or not supported"},
    {"  %y = print_tko \"%q\" %n : token\n", "malformed"},
    {"  %y = print_tko \"%jf\" %n : token\n", "the format wants 2 values, found 1"},
    {"  %y = print_tko \"%d %jf\" %n, %n, %n : token\n", "%jf prints two floats of one type"},
    {"  %y = alloca bytes=4 align=3 : ptr<f32>\n", "the alignment is a power of two"},
    {"  %y = get_global \"nothing\" : ptr<f32>\n", "the module has no global @nothing; declare it"},
    {"  bar_sync\n", "does not belong to the tile level"},
};

static const rule rules_thread[] = {
    {"  %y = iota : tile<8xi32>\n", "does not belong to the thread level"},
    {"  %y = sreg clock64 : i32\n", "another type than this register: found i32, wanted i64"},
    {"  %a, %b = ld n=4 %p : f32, f32\n", "ld n=4 has 2 results"},
    {"  %a = ld n=1 %x : f32\n", "operand 0 is not a pointer"},
    {"  st n=2 %p, %x\n", "st n=2 takes a pointer and as many values"},
    {"  %y = shfl idx %c, %n : i1\n", "operand 0 is not a number of 16, 32 or 64 bits"},
    {"  %y = vote any %c : i32\n", "this vote gives another type: found i32, wanted i1"},
    {"  %y = redux addf %n : i32\n", "redux knows"},
    {"  bar_sync id=16\n", "bar_sync id=16: a block has 16 barriers, 0 to 15"},
    {"  bar_sync id=1 threads=33\n", "must be a multiple of 32, at most 1024"},
    {"  bar_sync id=1 threads=64 %n\n", "given twice"},
    {"  bar_arrive id=1\n", "needs a number of threads"},
    {"  cp_async bytes=3 %s, %p\n", "4, 8 or 16"},
    {"  cp_async bytes=4 %p, %p\n", "operand 0 is not a shared pointer"},
    {"  tma_load rank=6 %s, %s\n", "1 to 5 dimensions"},
    {"  tma_load rank=2 %s, %s, %n\n", "takes 4 operands"},
    {"  mbar_init %s\n", "at least one arrival"},
    {"  mbar_expect %s\n", "takes 2 operands"},
    {"  %a = ldmatrix n=3 %s : i32\n", "1, 2 or 4 registers"},
    {"  %a = mma_sync m16n8k16_f16 %n : i32\n", "takes 4 + 2 + 4 registers"},
    {"  %a = mma_sync m64k16_f16 %n : i32\n", "mma_sync does not have this shape"},
    {"  %a = wgmma m64k16_f16 n=12 %x : f32\n", "not a multiple of 8"},
    {"  setmaxnreg regs=20\n", "from 24 to 256"},
    {"  %y = mul_wide %n, %n : i32\n", "mul_wide multiplies"},
    {"  %y = pack2 %n, %n : i32\n", "two equal halves"},
    {"  %a, %b = unpack2 %n : i32, i32\n", "halves of its operand"},
    {"  %y = cvt_pack f32 %x, %x : i32\n", "cvt_pack makes"},
    {"  %y = atom cas relaxed device %p, %x : f32\n", "takes 3 operands"},
    {"  printf \"%d\"\n", "the format wants 1 values"},
    {"  %f = constant 1.0 : f32\n  printf \"%jf\" %f, %f\n", "%jf is for print_tko"},
};

static void rule_is_enforced(const rule *r, const char *head)
{
    ts_arena arena;
    ts_module *m;
    ts_text source;
    ts__arena_init(&arena, NULL);
    ts__text_init(&source, NULL);
    ts__text_puts(&source, head);
    ts__text_puts(&source, r->body);
    ts__text_puts(&source, "  return\n}\n");
    CHECK_OK(ts__module_read(&arena, ts__text_get(&source), source.n, &m, &err));
    ts_status status = m ? ts_module_verify(m, &err) : TS_PARSE;
    bool said = status == TS_VERIFY && strstr(err.text, r->part);
    CHECK(said);
    if (!said)
        fprintf(stderr, "%swanted '%s', got %s: %s\n", r->body, r->part, ts_status_name(status),
                status ? err.text : "");
    ts__text_deinit(&source);
    ts__arena_deinit(&arena);
}

static void a_function_without_return_is_named_with_its_line(void)
{
    static const char *const wanted[] = {
        "the function @open does not end with return; add 'return' behind its last instruction",
        "@open, line 6: "};
    static const char source[] = "entry @whole() {\n  return\n}\n\nentry @open(%n: i32) {\n  %y = addi %n, %n : "
    "i32\n}\n";
    ts_arena arena;
    ts_module *m;
    ts__arena_init(&arena, NULL);
    CHECK_OK(ts__module_read(&arena, source, sizeof source - 1, &m, &err));
    CHECK_INT(ts_module_verify(m, &err), TS_VERIFY);
    for (size_t i = 0; i < TS_COUNT(wanted); i++)
        CHECK(strstr(err.text, wanted[i]) != NULL);
    ts__arena_deinit(&arena);
}

/* What is wrong is shown as it was written, the line with the user's names, also of blocks; what was changed since has
 * its number. */
static void text_is_shown_as_it_was_written(void)
{
    static const struct {
        const char *body, *wanted;
    } cases[] = {
        {"  // why\n  %sum = addi %n, %x : i32\n",
         "@k, line 3: operand 1 has another type than operand 0: found f32, wanted i32\n  %sum = addi %n, %x : i32"},
        {"  %c = cmpi lt %n, %n : i1\n  if %c {\n    %q = addf %n, %n : i32\n    yield\n  } else {\n    yield\n  }\n",
         "@k, line 4: addf works on f16, bf16, f32 and f64: found i32\n  %q = addf %n, %n : i32"},
        {"  %c = cmpi lt %n, %n : i1\n  if %c {\n    yield\n  }\n", "the if at line 3 has no else\n  if %c {"},
    };
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        char text[512];
        ts_arena arena;
        ts_module *m = NULL;
        ts__arena_init(&arena, NULL);
        snprintf(text, sizeof text, "entry @k(%%n: i32, %%x: f32) {\n%s  return\n}\n", cases[i].body);
        CHECK_OK(ts__module_read(&arena, text, strlen(text), &m, &err));
        memset(text, '?', sizeof text); /* the module does not need the caller's text */
        CHECK_INT(m ? ts_module_verify(m, &err) : TS_OK, TS_VERIFY);
        CHECK(strstr(err.text, cases[i].wanted) != NULL);
        if (!strstr(err.text, cases[i].wanted))
            fprintf(stderr, "%s\n", err.text);
        m->fns.at[0]->text_at.n--;
        CHECK_INT(ts_module_verify(m, &err), TS_VERIFY);
        CHECK(strstr(err.text, "@k, %") != NULL);
        ts__arena_deinit(&arena);
    }
}

/* ---- damage ---------------------------------------------------------------------------------- */

static uint64_t seed = 99;
static uint32_t damage_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}

/* Any word of any instruction or of the pool, small or wild. */
static void damage(ts_fn *fn)
{
    uint32_t value = damage_random() % 3 ? damage_random() % 64 : damage_random();
    ts_inst *inst = &fn->inst.at[damage_random() % fn->inst.n];
    switch (damage_random() % 8) {
    case 0:
        inst->op = value & 1023;
        break;
    case 1:
        inst->n_opnd = value & 0x3FFF;
        break;
    case 2:
        inst->flags = value & 255;
        break;
    case 3:
        inst->type = value;
        break;
    case 4:
        inst->aux = value;
        break;
    case 5:
        fn->pool.at[damage_random() % fn->pool.n] = value;
        break;
    default:
        inst->opnd[damage_random() % 3] = value;
    }
}

static void an_operand_that_is_defined_later_is_named(void)
{
    static const char source[] =
        "entry @k(%n: i32) {\n  %a = addi %n, %n : i32\n  %b = addi %a, %n : i32\n  return\n}\n";
    ts_arena arena;
    ts_module *m;
    ts__arena_init(&arena, NULL);
    CHECK_OK(ts__module_read(&arena, source, sizeof source - 1, &m, &err));
    m->fns.at[0]->inst.at[2].opnd[1] = 3;
    CHECK_INT(ts_module_verify(m, &err), TS_VERIFY);
    CHECK(strstr(err.text, "@k, line 2: operand 1, line 3, is defined later") != NULL);
    ts__arena_deinit(&arena);
}

static void damaged_functions_are_reported_or_harmless(void)
{
    static char source[1 << 16];
    FILE *file = fopen("tests/golden/ir/every_op.tsir", "rb");
    size_t n = file ? fread(source, 1, sizeof source, file) : 0;
    ts_arena arena;
    ts_module *m;
    ts_text text;
    int reported = 0;
    if (file)
        fclose(file);
    ts__arena_init(&arena, NULL);
    ts__text_init(&text, NULL);
    CHECK_OK(ts__module_read(&arena, source, n, &m, &err));
    for (int i = 0; i < 20000; i++) {
        ts_fn copy = *m->fns.at[i & 1], *fn = &copy;
        ts_arena_mark mark = ts__arena_at(&arena);
        fn->inst.at = memcpy(ts__arena_get(&arena, fn->inst.n * sizeof *fn->inst.at), fn->inst.at,
                             fn->inst.n * sizeof *fn->inst.at);
        fn->pool.at = memcpy(ts__arena_get(&arena, fn->pool.n * sizeof *fn->pool.at), fn->pool.at,
                             fn->pool.n * sizeof *fn->pool.at);
        for (uint32_t k = 1 + damage_random() % 3; k; k--)
            damage(fn);
        reported += ts_fn_verify(fn, &err) == TS_VERIFY;
        text.n = 0;
        ts__fn_print(fn, &text);
        ts__arena_rewind(&arena, mark);
    }
    CHECK(reported > 10000);
    ts__text_deinit(&text);
    ts__arena_deinit(&arena);
}

int main(void)
{
    for (size_t i = 0; i < TS_COUNT(rules_tile); i++)
        rule_is_enforced(&rules_tile[i],
                         "entry @k(%p: ptr<f32>, %q: ptr<i32>, %n: i32, %x: f32, %c: i1) {\n" TILE);
    for (size_t i = 0; i < TS_COUNT(rules_thread); i++)
        rule_is_enforced(&rules_thread[i],
                         "thread entry @k(%p: ptr<f32>, %n: i32, %x: f32, %h: f16, %c: i1) {\n  %s "
                         "= shared offset=0 : ptr<f32, shared>\n");
    a_function_without_return_is_named_with_its_line();
    text_is_shown_as_it_was_written();
    an_operand_that_is_defined_later_is_named();
    damaged_functions_are_reported_or_harmless();
    return check_done();
}
