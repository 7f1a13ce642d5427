/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of the source in PTX, for profilers and debuggers: asked for by the hint `lines`.
 *
 *     1    .file 1 "/home/me/kernels.py"     at the top, one for each file
 *          .loc 1 12 9                       before instructions of another line than those above
 *     2    the same, `.target sm_90, debug`, and a compilation unit in DWARF: the driver compiles without optimising
 *
 * The unit says who wrote the code and of which file; line tables, ranges and symbols are the assembler's.
 */
#include "target/ptx/emit.h"

enum { LINES_PYTHON = 0x14 }; /* DW_LANG_Python */

/* The number of a file in .file lines, 1 the first; 0: memory is out. */
static uint32_t lines_file(ts_ptx *e, ts_str file)
{
    for (uint32_t i = 0; i < e->files.n; i++)
        if (e->files.at[i] == file)
            return i + 1;
    return TS_PUSH(&e->arena, &e->files, file) ? e->files.n : 0;
}

void ts__ptx_line(ts_ptx *e, ts_val v)
{
    const ts_loc_info *place = ts__loc_of(e->fn, v);
    if (!place->line || (e->line.file == place->file && e->line.line == place->line))
        return;
    e->line = *place;
    ts__text_printf(&e->text, ".loc %u %u %u\n", lines_file(e, place->file), place->line, place->col + 1);
}

static void lines_text(ts_text *out, const char *text)
{
    ts__text_puts(out, ".b8 ");
    for (; *text; text++)
        ts__text_printf(out, "%u,", (unsigned char)*text);
    ts__text_puts(out, "0\n");
}

void ts__ptx_files(ts_ptx *e, ts_text *out)
{
    for (uint32_t i = 0; i < e->files.n; i++) {
        ts__text_printf(out, ".file %u \"", i + 1);
        for (const char *c = ts_str_get(e->fn->module, e->files.at[i]); *c; c++)
            ts__text_putc(out, *c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? '_' : *c);
        ts__text_puts(out, "\"\n");
    }
}

void ts__ptx_dwarf(ts_ptx *e, ts_text *out)
{
    static const char producer[] = "Tessera";
    const char *file = e->files.n ? ts_str_get(e->fn->module, e->files.at[0]) : "";
    size_t bytes = 2 + 4 + 1 + 1 + sizeof producer + 2 + strlen(file) + 1 + 4;
    /* abbreviation 1: a compile_unit without children: producer, language, name, stmt_list */
    ts__text_puts(out, ".section .debug_abbrev {\n.b8 1,17,0,37,8,19,5,3,8,16,6,0,0,0\n}\n");
    ts__text_printf(out, ".section .debug_info {\n.b32 %zu\n.b8 2,0\n.b32 .debug_abbrev\n.b8 8,1\n", bytes);
    lines_text(out, producer);
    ts__text_printf(out, ".b8 %d,0\n", LINES_PYTHON);
    lines_text(out, file);
    ts__text_puts(out, ".b32 .debug_line\n}\n.section .debug_line { }\n");
}
