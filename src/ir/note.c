/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of notes of a module (note.h). Short, so looking for a repetition is a plain search.
 */
#include "ir/note.h"
#include <stdio.h>

static ts_note_entry *note_find(ts_module *module, ts_val v, ts_note_kind kind, const char *what)
{
    for (uint32_t i = 0; i < module->notes.n; i++) {
        ts_note_entry *note = &module->notes.at[i];
        if (note->value == v && note->kind == (uint32_t)kind && strcmp(note->what, what) == 0)
            return note;
    }
    return NULL;
}

bool ts__note(const ts_fn *fn, ts_val v, ts_note_kind kind, const char *what, const char *format, ...)
{
    char text[256];
    va_list args;
    ts_module *module = fn->module;
    if (!module->noting)
        return false;
    ts_note_entry *old = note_find(module, v, kind, what);
    if (old) {
        old->count++;
        return false;
    }
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const ts_loc_info *place = ts__loc_of(fn, v);
    ts_loc call = place->caller < module->locs.n ? place->caller : 0;
    ts_note_entry note = {.kind = (uint32_t)kind, .value = v, .count = 1, .what = what, .line = place->line,
                          .column = place->col, .call_line = module->locs.at[call].line,
                          .file = ts_str_get(module, place->file)};
    note.text = ts__arena_text(module->arena, text, n < 0 ? 0 : TS_MIN((size_t)n, sizeof text - 1));
    if (note.text)
        (void)TS_PUSH(module->arena, &module->notes, note);
    return false;
}

void ts__note_refile(const ts_fn *fn, ts_val v, ts_note_kind kind, const char *from, const char *to)
{
    ts_note_entry *note = note_find(fn->module, v, kind, from);
    if (note)
        note->what = to;
}
