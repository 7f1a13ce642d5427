/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost report (src/compile/report.c, machine.c, report_text.c): notes of a kernel, the roof, what an
 * assembler's log says, and memory that runs out.
 */
#include "tessera/report.h"
#include "base/base.h"
#include "check.h"
#include "failing.h"
#include <math.h>

static ts_error err;

/* out = a, tiles of 1024 f32; n is promised to be a multiple of `every` elements. */
static const char *copy_text(int every)
{
    static char text[2048];
    snprintf(text, sizeof text,
             "entry @copy(%%1: ptr<f32>, %%2: i32, %%3: i32, %%4: ptr<f32>, %%5: i32, %%6: i32) {\n"
             "  %%7 = assume div_by(16) %%1 : ptr<f32>\n  %%8 = assume div_by(16) %%4 : ptr<f32>\n"
             "  %%9 = assume div_by(%d) %%2 : i32\n"
             "  %%10 = make_tensor_view %%7, %%9 : tensor_view<?xf32, strides=[1]>\n"
             "  %%11 = make_tensor_view %%8, %%9 : tensor_view<?xf32, strides=[1]>\n"
             "  %%12 = make_partition_view %%10 : partition_view<[1024], tensor_view<?xf32, "
             "strides=[1]>, padding=zero>\n"
             "  %%13 = make_partition_view %%11 : partition_view<[1024], tensor_view<?xf32, "
             "strides=[1]>, padding=zero>\n"
             "  %%14 = get_tile_block_id axis=0 : i32\n  %%15 = load_view_tko %%12, %%14 : "
             "tile<1024xf32>\n"
             "  %%16 = store_view_tko %%13, %%15, %%14 : token\n  return\n}\n",
             every);
    return text;
}

static ts_report_request copy_request(ts_target target, const char *text, const uint64_t *params)
{
    return (ts_report_request){.text = text, .n_text = strlen(text), .target = target, .params = params,
                               .n_params = params ? 6 : 0, .grid = {params ? 1024 : 0, 1, 1}};
}

static const ts_note_entry *note_of(const ts_report *r, ts_note_kind kind, const char *what)
{
    for (uint32_t i = 0; i < r->n_notes; i++)
        if (r->notes[i].kind == (uint32_t)kind && strcmp(r->notes[i].what, what) == 0)
            return &r->notes[i];
    return NULL;
}

static const uint64_t params[6] = {0x1000000, 1 << 20, 1, 0x2000000, 1 << 20, 1};

static void a_copy_is_bound_by_memory(void)
{
    ts_report *r;
    ts_report_request request = copy_request(TS_TARGET_SM90, copy_text(16), params);
    CHECK_OK(ts_report_make(&request, &r, &err));
    CHECK(r->evaluated && r->exact && r->machine.assumed);
    CHECK_INT(r->total[TS_WORK_load], 4 << 20);
    CHECK_INT(r->dram_bytes, 8 << 20);
    CHECK_INT(r->bound, TS_ROOF_DRAM);
    CHECK(fabs(r->roof_s[TS_ROOF_DRAM] - (8 << 20) / 4.8e12) < 1e-12);
    CHECK_STR(r->machine.name, "NVIDIA H200");
    const ts_note_entry *load = note_of(r, TS_NOTE_load, "vector");
    CHECK(load && strstr(load->text, "16 bytes"));
    CHECK(note_of(r, TS_NOTE_store, "vector") && note_of(r, TS_NOTE_missed, "tma") &&
          !note_of(r, TS_NOTE_missed, "vector"));
    ts_report_destroy(r);
}

static void an_element_at_a_time_says_why(void)
{
    ts_report *r;
    char *text = strdup(copy_text(16)), *align = strstr(text, "div_by(16) %1");
    memcpy(align, "div_by(4 )", 10);
    ts_report_request request = copy_request(TS_TARGET_SM80, text, NULL);
    CHECK_OK(ts_report_make(&request, &r, &err));
    CHECK(!r->evaluated && r->predicted_s == 0);
    const ts_note_entry *load = note_of(r, TS_NOTE_load, "scalar"), *why = note_of(r, TS_NOTE_missed, "vector");
    CHECK(load && why && why->value == load->value && strstr(why->text, "multiples of 4 bytes"));
    CHECK(!note_of(r, TS_NOTE_missed, "tma")); /* there is none on sm_80 */
    ts_report_destroy(r);
    free(text);
}

static void notes_alone_are_text(void)
{
    static const char text[] = "thread entry @k(%p: ptr<f32>) {\n"
                               "  %t = sreg tid.x : i32\n"
                               "  %q = offset %p, %t : ptr<f32>\n"
                               "  %x = ld n=1 %q : f32\n"
                               "  st n=1 %q, %x\n"
                               "  return\n"
                               "}\n";
    const ts_spec block = {.kind = TS_SPEC_BLOCK, .dims = {64, 1, 1}};
    ts_report_request request = copy_request(TS_TARGET_CPU, text, NULL);
    char *notes;
    size_t n;
    request.spec = &block;
    request.n_spec = 1;
    ts_status status = ts_report_notes(&request, &notes, &n, &err);
    if (status == TS_NODEVICE) /* no LLVM here */
        return;
    CHECK_INT(status, TS_OK);
    if (status != TS_OK)
        return;
    CHECK(n == strlen(notes) && strstr(notes, "threads warps: 32 threads at a time"));
    CHECK(strstr(notes, "load vector: neighbours") && strstr(notes, "store vector: neighbours"));
    const ts_alloc *alloc = ts_alloc_default();
    alloc->resize(alloc->user, notes, n + 1, 0);
    request.text = "thread";
    request.n_text = 6;
    CHECK_INT(ts_report_notes(&request, &notes, &n, &err), TS_PARSE);
    CHECK(!notes && !n);
}

static void logs_of_assemblers(void)
{
    ts_resources x;
    ts_resources_parse("ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
                       "    8 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
                       "ptxas info    : Used 168 registers, used 2 barriers\n", &x);
    CHECK(x.known && x.registers == 168 && x.stack_bytes == 8 && x.spill_store_bytes == 24 && x.spill_load_bytes == 32);
    CHECK(!x.serialised);
    ts_resources_parse("ptxas info : (C7510) Potential Performance Loss: wgmma.mma_async "
                       "instructions are serialized",
                       &x);
    CHECK(!x.known && x.serialised);
    ts_resources_parse("", &x);
    CHECK(!x.known && !x.serialised && !x.registers);
    ts_resources_parse("many registers, registers", &x);
    CHECK(!x.known);
}

static void the_assembler_has_the_last_word(void)
{
    ts_report *r;
    ts_report_request request = copy_request(TS_TARGET_SM90, copy_text(16), params);
    ts_resources spilled = {.known = 1, .registers = 255, .spill_store_bytes = 4, .serialised = 1},
                 good = {.known = 1, .registers = 32};
    CHECK_OK(ts_report_make(&request, &r, &err));
    uint32_t before = r->n_notes;
    ts_report_assembled(r, &spilled);
    ts_report_assembled(r, &spilled);
    CHECK_INT(r->n_notes, before + 2);
    CHECK(note_of(r, TS_NOTE_warning, "spills") && note_of(r, TS_NOTE_warning, "serialised"));
    CHECK_INT(r->resident, 65536 / (255 * 32 / 256 * 256 + 256) / (r->code.plan.threads / 32));
    CHECK_STR(r->limit, "registers");
    ts_report_assembled(r, &good);
    CHECK_INT(r->n_notes, before);
    CHECK_INT(r->resident, 2048 / r->code.plan.threads);
    ts_report_destroy(r);
}

static void the_text_names_what_matters(void)
{
    ts_report *r;
    char *text;
    size_t n;
    ts_report_request request = copy_request(TS_TARGET_SM90, copy_text(16), params);
    CHECK_OK(ts_report_make(&request, &r, &err));
    CHECK_OK(ts_report_text(r, NULL, &text, &n, &err));
    CHECK_INT(strlen(text), n);
    CHECK(strstr(text, "copy for sm_90a, grid (1024, 1, 1)") && strstr(text, "by dram on NVIDIA H200 (assumed)"));
    CHECK(strstr(text, "load 4.19 MB") && strstr(text, "not tma:") && strstr(text, "registers unknown"));
    ts_alloc_default()->resize(NULL, text, n + 1, 0);
    ts_report_destroy(r);
}

static void every_target_has_its_machine(void)
{
    static const ts_target targets[] = {TS_TARGET_SM80, TS_TARGET_SM86,  TS_TARGET_SM89,
                                        TS_TARGET_SM90, TS_TARGET_SM100, TS_TARGET_SM120};
    ts_machine m;
    for (size_t i = 0; i < TS_COUNT(targets); i++) {
        CHECK(ts_machine_of_target(targets[i], &m));
        CHECK(m.sms && m.rate[TS_WORK_f32] > 0 && m.rate[TS_WORK_f64] > 0 &&
              m.rate[TS_WORK_tensor_f16] > m.rate[TS_WORK_f32]);
    }
    CHECK(!ts_machine_of_target(TS_TARGET_CPU, &m));
    CHECK_INT(m.sms, 0);
}

static void wrong_text_is_an_error(void)
{
    ts_report *r = (ts_report *)8;
    ts_report_request request = {.text = "nonsense", .n_text = 8, .target = TS_TARGET_SM90};
    CHECK(ts_report_make(&request, &r, &err) != TS_OK);
    CHECK(!r && err.text[0]);
    ts_report_destroy(NULL);
}

/* ---- memory ------------------------------------------------------------------------------------------ */

static void kernels_of_threads_have_no_report(void)
{
    ts_report *r;
    ts_report_request request = copy_request(TS_TARGET_SM90, "thread entry @k() {\n  return\n}\n", NULL);
    CHECK_INT(ts_report_make(&request, &r, &err), TS_UNSUPPORTED);
    CHECK(r == NULL && strstr(err.text, "kernel 'k' is written for threads; cost reports are made of kernels"));
}

static void memory_may_run_out_anywhere(void)
{
    bool done = false;
    for (int n = 0; !done && n < 5000; n++) {
        failing f = {.fail_at = n};
        ts_alloc alloc = {failing_resize, &f};
        ts_report *r = NULL;
        char *text = NULL;
        size_t n_text = 0;
        ts_report_request request = copy_request(TS_TARGET_SM90, copy_text(16), params);
        request.alloc = &alloc;
        ts_status status = ts_report_make(&request, &r, &err);
        if (status == TS_OK)
            status = ts_report_text(r, &alloc, &text, &n_text, &err);
        CHECK(status == TS_OK || status == TS_NOMEM);
        if (text)
            failing_resize(&f, text, n_text + 1, 0);
        ts_report_destroy(r);
        CHECK_INT(f.bytes, 0);
        done = f.count <= n;
    }
    CHECK(done);
}

int main(void)
{
    a_copy_is_bound_by_memory();
    an_element_at_a_time_says_why();
    notes_alone_are_text();
    logs_of_assemblers();
    the_assembler_has_the_last_word();
    the_text_names_what_matters();
    every_target_has_its_machine();
    wrong_text_is_an_error();
    kernels_of_threads_have_no_report();
    memory_may_run_out_anywhere();
    return check_done();
}
