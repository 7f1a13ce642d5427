/* SPDX-License-Identifier: Apache-2.0
 *
 * Which bodies of reductions and scans commute for sure (src/ir/commute.c): what the front end makes of sum, max,
 * argmax, complex products and conversions; and what must be refused.
 */
#include "ir/commute.h"
#include "check.h"

static ts_error err;

/* A body of `n` inputs of the types; %1 is a parameter f32, inputs are %10, %11; arguments %20, %21, (%22, %23). */
typedef struct commute_case {
    const char *types[2], *body;
    bool commutes, first_used;
} commute_case;

/* The comparison of argmax as the front end writes it: %41, %42 or, for integers, as much of it as they need. */
#define WINS_INT "%30 = cmpi lt %22, %23 : i1\n %31 = cmpi gt %20, %21 : i1\n %32 = cmpi eq %20, %21 : i1\n" \
                 "%33 = andi %32, %30 : i1\n %41 = ori %31, %33 : i1\n"
#define WINS_FLOAT(x, a, loser, other)                                                                       \
    "%30 = cmpi lt %22, %23 : i1\n %31 = cmpf gt " x ", " a " : i1\n %32 = cmpf eq " x ", " a " : i1\n"       \
    "%33 = andi %32, %30 : i1\n %34 = ori %31, %33 : i1\n %35 = cmpf ne unordered " x ", " x " : i1\n"        \
    "%36 = cmpf ne unordered " a ", " a " : i1\n %37 = constant true : i1\n %38 = xori " other ", %37 : i1\n" \
    "%39 = ori %38, %30 : i1\n %40 = andi " loser ", %39 : i1\n %41 = ori %34, %40 : i1\n"
#define CHOOSE(type) "%42 = select %41, %20, %21 : " type "\n %43 = select %41, %22, %23 : i32\n yield %42, %43\n"

static const commute_case commute_cases[] = {
    {{"f32"}, "%30 = addf %21, %20 : f32\n yield %30\n", true},
    {{"f32"}, "%30 = addf rp %20, %21 : f32\n yield %30\n", true},
    {{"i32"}, "%30 = maxi unsigned %20, %21 : i32\n yield %30\n", true},
    {{"f32"}, "%30 = subf %20, %21 : f32\n yield %30\n", false},
    {{"i32"}, "%30 = addi %20, %20 : i32\n yield %30\n", false},
    {{"f32"}, "yield %20\n", false},
    {{"f32"}, "yield %21\n", false},
    {{"f32"}, "yield %1\n", true},
    /* sums of 16-bit floats by way of f32 */
    {{"f16"}, "%30 = ftof %20 : f32\n %31 = ftof %21 : f32\n %32 = addf %31, %30 : f32\n"
              "%33 = ftof %32 : f16\n yield %33\n", true},
    {{"f16"}, "%30 = ftof %20 : f32\n %31 = ftof %21 : f32\n %32 = ftof rz %31 : f16\n"
              "%33 = addf %32, %20 : f16\n yield %33\n", false},
    /* both sides alike, and one side only */
    {{"f32"}, "%30 = mulf %20, %1 : f32\n %31 = mulf %1, %21 : f32\n %32 = addf %30, %31 : f32\n yield %32\n", true},
    {{"f32"}, "%30 = mulf %20, %1 : f32\n %32 = addf %30, %21 : f32\n yield %32\n", false},
    {{"f32"}, "%30 = constant 2.0 : f32\n %31 = constant 3.0 : f32\n %32 = mulf %20, %30 : f32\n"
              "%33 = mulf %21, %31 : f32\n %34 = addf %32, %33 : f32\n yield %34\n", false},
    {{"f32"}, "%30 = fma %20, %21, %1 : f32\n yield %30\n", true},
    {{"f32"}, "%30 = fma %20, %1, %21 : f32\n yield %30\n", false},
    /* products of complex numbers; composition of affine maps */
    {{"f32", "f32"}, "%30 = mulf %20, %21 : f32\n %31 = mulf %22, %23 : f32\n %32 = subf %30, %31 : f32\n"
                     "%33 = mulf %20, %23 : f32\n %34 = mulf %22, %21 : f32\n %35 = addf %33, %34 : f32\n"
                     "yield %32, %35\n", true, true},
    {{"i32", "i32"}, "%30 = muli %20, %21 : i32\n %31 = muli %23, %20 : i32\n %32 = addi %31, %22 : i32\n"
                     "yield %30, %32\n", false, true},
    /* argmax */
    {{"i32", "i32"}, WINS_INT CHOOSE("i32"), true, false},
    {{"i32", "i32"}, WINS_INT CHOOSE("i32"), true, true},
    {{"f32", "i32"}, WINS_FLOAT("%20", "%21", "%36", "%35") CHOOSE("f32"), true, false},
    {{"f32", "i32"}, WINS_FLOAT("%20", "%21", "%35", "%36") CHOOSE("f32"), true, false},
    {{"bf16", "i32"}, "%24 = ftof %20 : f32\n %25 = ftof %21 : f32\n"
                      WINS_FLOAT("%24", "%25", "%36", "%35") CHOOSE("bf16"), true, false},
    /* zeros of both signs with one index: the first one is wanted */
    {{"f32", "i32"}, WINS_FLOAT("%20", "%21", "%36", "%35") CHOOSE("f32"), false, true},
    /* argmax that does not look at the index takes the first or the last of equals */
    {{"i32", "i32"}, "%41 = cmpi gt %20, %21 : i1\n" CHOOSE("i32"), false, false},
    {{"i32", "i32"}, "%30 = cmpi gt %20, %21 : i1\n %31 = cmpi eq %20, %21 : i1\n %32 = mini %22, %23 : i32\n"
                     "%33 = select %30, %22, %23 : i32\n %34 = select %31, %32, %33 : i32\n"
                     "%35 = maxi %20, %21 : i32\n yield %35, %34\n", true, true},
    {{"i32"}, "%30 = cmpi gt %20, %21 : i1\n %31 = select %30, %20, %21 : i32\n yield %31\n", true},
    {{"f32"}, "%30 = cmpf gt %20, %21 : i1\n %31 = select %30, %20, %21 : f32\n yield %31\n", false},
    {{"i32"}, "%30 = cmpi gt %20, %21 : i1\n %31 = cmpi gt unsigned %20, %21 : i1\n %32 = andi %30, %31 : i1\n"
              "%33 = select %32, %20, %21 : i32\n yield %33\n", false},
};

/* The body in a reduction whose first result may be stored. */
static void commute_text(const commute_case *c, ts_text *text)
{
    const char *a = c->types[0], *b = c->types[1], *zero_a = a[0] == 'i' ? "0" : "0.0",
               *zero_b = b && b[0] == 'i' ? "0" : "0.0";
    ts__text_printf(text, "entry @k(%%1: f32, %%2: ptr<%s>) {\n %%10 = constant %s : tile<8x%s>\n", a, zero_a, a);
    if (b)
        ts__text_printf(text, "%%11 = constant %s : tile<8x%s>\n %%50, %%51 = reduce axis=0 (%%10, %%11) "
                             "identity(%s, %s) args(%%20, %%21, %%22, %%23) : %s, %s {\n",
                       zero_b, b, zero_a, zero_b, a, b);
    else
        ts__text_printf(text, "%%50 = reduce axis=0 (%%10) identity(%s) args(%%20, %%21) : %s {\n", zero_a, a);
    ts__text_printf(text, "%s }\n%sreturn\n}\n", c->body, c->first_used ? "%60 = store_ptr_tko %2, %50 : token\n" : "");
}

static void bodies_commute_only_for_sure(void)
{
    for (size_t i = 0; i < TS_COUNT(commute_cases); i++) {
        const commute_case *c = &commute_cases[i];
        ts_arena arena;
        ts_module *m = NULL;
        ts_text text;
        ts__arena_init(&arena, NULL);
        ts__text_init(&text, NULL);
        commute_text(c, &text);
        CHECK_OK(ts__module_read(&arena, ts__text_get(&text), strlen(ts__text_get(&text)), &m, &err));
        ts_val v = 1;
        while (m && ts_at(m->fns.at[0], v)->op != TS_OP_reduce)
            v++;
        bool commutes = m && ts__body_commutes(m->fns.at[0], v);
        CHECK_INT(commutes, c->commutes);
        if (commutes != c->commutes)
            fprintf(stderr, "%s", ts__text_get(&text));
        ts__text_deinit(&text);
        ts__arena_deinit(&arena);
    }
}

int main(void)
{
    bodies_commute_only_for_sure();
    return check_done();
}
