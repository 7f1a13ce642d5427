/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes (src/ir/note.c): silent unless asked for, one entry a decision, with the place in the source.
 */
#include "ir/note.h"
#include "check.h"

static ts_fn *note_fn(ts_arena *arena)
{
    ts__arena_init(arena, NULL);
    ts_module *module = ts__module_create(arena);
    ts_fn *fn = ts_fn_create(module, "k", TS_LEVEL_T);
    ts_builder b;
    ts__builder_init(&b, fn);
    ts_loc_info outer = {.line = 40}, inner = {.line = 20, .caller = ts_loc_add(module, &outer)};
    ts_loc_info info =
        {.file = ts_intern(module, "k.py", 4), .line = 7, .col = 3, .caller = ts_loc_add(module, &inner)};
    b.loc = ts_loc_add(module, &info);
    ts_int(&b, TS_T_i32, 1);
    b.loc = 0;
    ts_int(&b, TS_T_i32, 2);
    return fn;
}

static void nothing_is_kept_unless_asked_for(void)
{
    ts_arena arena;
    ts_fn *fn = note_fn(&arena);
    CHECK(!ts__note(fn, 1, TS_NOTE_load, "tma", "%d bytes", 16));
    CHECK_INT(fn->module->notes.n, 0);
    ts__arena_deinit(&arena);
}

static void a_repetition_counts(void)
{
    ts_arena arena;
    ts_fn *fn = note_fn(&arena);
    fn->module->noting = true;
    CHECK(!ts__note(fn, 1, TS_NOTE_load, "tma", "%d bytes", 16));
    CHECK(!ts__note(fn, 1, TS_NOTE_load, "tma", "%d bytes", 32));
    CHECK(!ts__note(fn, 1, TS_NOTE_missed, "tma", "a reason"));
    CHECK(!ts__note(fn, 2, TS_NOTE_load, "tma", "elsewhere"));
    CHECK_INT(fn->module->notes.n, 3);
    const ts_note_entry *first = fn->module->notes.at;
    CHECK_INT(first->count, 2);
    CHECK_STR(first->text, "16 bytes");
    CHECK_INT(first->line, 7);
    CHECK_INT(first->column, 3);
    CHECK_INT(first->call_line, 20);
    CHECK_STR(first->file, "k.py");
    CHECK_INT(first[2].line, 0);
    CHECK_STR(first[2].file, "");
    ts__arena_deinit(&arena);
}

static void long_reasons_are_cut(void)
{
    ts_arena arena;
    char text[600];
    ts_fn *fn = note_fn(&arena);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    fn->module->noting = true;
    ts__note(fn, 1, TS_NOTE_warning, "long", "%s", text);
    CHECK_INT(strlen(fn->module->notes.at[0].text), 255);
    ts__arena_deinit(&arena);
}

int main(void)
{
    nothing_is_kept_unless_asked_for();
    a_repetition_counts();
    long_reasons_are_cut();
    return check_done();
}
