/* SPDX-License-Identifier: Apache-2.0
 * Arena, text and narrow floats (src/base/base.c). */
#include "base/base.h"
#include "check.h"
#include <math.h>

static void arena_rewind_frees_what_came_later(void)
{
    ts_arena arena;
    ts__arena_init(&arena, NULL);
    int *first = TS_NEW(&arena, int);
    *first = 7;
    ts_arena_mark mark = ts__arena_at(&arena);
    for (int i = 0; i < 1000; i++)
        CHECK(ts__arena_get(&arena, 4096) != NULL);
    CHECK(arena.bytes >= 1000 * 4096 && arena.bytes < 4 * 1000 * 4096);
    ts__arena_rewind(&arena, mark);
    CHECK(arena.bytes <= 65536);
    CHECK_INT(*first, 7);
    CHECK(ts__arena_get(&arena, 16) != NULL);
    ts__arena_deinit(&arena);
}

static void narrow_floats_round_trip(void)
{
    for (uint32_t bits = 0; bits < 65536; bits++) {
        double f16 = ts__f16_to_f64((uint16_t)bits), bf16 = ts__bf16_to_f64((uint16_t)bits);
        if (!isnan(f16))
            CHECK_INT(ts__f16_from_f64(f16), bits);
        if (!isnan(bf16))
            CHECK_INT(ts__bf16_from_f64(bf16), bits);
    }
    CHECK_INT(ts__f16_from_f64(65520.0), 0x7C00);
    CHECK_INT(ts__f16_from_f64(65519.99), 0x7BFF);
    CHECK_INT(ts__f16_from_f64(ldexp(1, -25)), 0);
    CHECK_INT(ts__f16_from_f64(ldexp(1.0001, -25)), 1);
}

static void text_grows_and_formats(void)
{
    ts_text text;
    ts__text_init(&text, NULL);
    for (int i = 0; i < 1000; i++)
        ts__text_int(&text, -i);
    ts__text_printf(&text, "%s", "!");
    CHECK(!text.failed && text.at[text.n - 1] == '!');
    ts__text_deinit(&text);
    CHECK_STR(ts__text_get(&text), "");
}

static void a_loaded_object_is_known_by_its_bytes(void)
{
    static const char inside = 0;
    int on_the_stack = 0;
    ts_digest own = ts__loaded_id(&inside), also = ts__loaded_id((const void *)(uintptr_t)&check_passed),
              libc = ts__loaded_id((const void *)(uintptr_t)stdout), none = ts__loaded_id(&on_the_stack);
    CHECK(own.lo && memcmp(&own, &also, sizeof own) == 0);
    CHECK(libc.lo && memcmp(&own, &libc, sizeof own) != 0);
    CHECK(!none.lo && !none.hi);
}

/* Callers leave their ts_error unset. */
static void a_failure_that_is_no_drivers_has_no_code_of_one(void)
{
    ts_error err;
    memset(&err, 0x5a, sizeof err);
    CHECK_INT(ts_fail(&err, TS_SHAPE, "axis %d", 3), TS_SHAPE);
    CHECK_INT(err.driver_code, 0);
    CHECK_STR(err.text, "axis 3");
}

int main(void)
{
    a_failure_that_is_no_drivers_has_no_code_of_one();
    a_loaded_object_is_known_by_its_bytes();
    arena_rewind_frees_what_came_later();
    narrow_floats_round_trip();
    text_grows_and_formats();
    return check_done();
}
