/* SPDX-License-Identifier: Apache-2.0
 *
 * Little memory, or stack: LLVM, which ends the process when it gets none, is not begun without room, and where memory
 * runs out in the middle the compilation fails as any other. Every step has a process of its own, with a limit on its
 * address space a little above what it has.
 */
#include "check.h"
#include "target/llvm/llvm.h"
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static ts_error err;

/* One function with `n` chains of arithmetic that are all alive at its end. */
static void program(ts_text *text, int n)
{
    ts__text_init(text, NULL);
    ts__text_puts(text, "define double @f(double %x) {\n%v0 = fadd double %x, 1.0\n%s0 = fadd double %x, 2.0\n");
    for (int i = 1; i < n; i++)
        ts__text_printf(text, "%%v%d = fmul double %%v%d, 3.0\n", i, i - 1);
    for (int i = 1; i < n; i++)
        ts__text_printf(text, "%%s%d = fadd double %%s%d, %%v%d\n", i, i - 1, n - i);
    ts__text_printf(text, "ret double %%s%d\n}\n", n - 1);
}

static ts_status compile(const ts_text *text, size_t room)
{
    ts_llvm_host host;
    uint8_t *bytes;
    size_t n;
    ts__host_detect(&host);
    ts_llvm_options options = {.level = 1, .room = room};
    ts_status status = ts__llvm_compile(text->at, text->n, &host, &options, ts_alloc_default(), &bytes, &n, &err);
    if (status == TS_OK)
        ts_alloc_default()->resize(ts_alloc_default()->user, bytes, n, 0);
    return status;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they need address space of their own */
static void limit(size_t more)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    struct rlimit as = {pages * 4096 + more, RLIM_INFINITY};
    CHECK_INT(setrlimit(RLIMIT_AS, &as), 0);
}

/* The status of a compilation with `more` bytes left, in a process of its own; 99: the process ended badly. */
static int compile_with(const ts_text *text, size_t more, size_t room)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        limit(more);
        int found = -compile(text, room);
        struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
        setrlimit(RLIMIT_AS, &none);
        _exit(found);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static void a_compilation_without_room_is_not_begun(const ts_text *text)
{
    CHECK_INT(compile_with(text, 1 << 20, 0), -TS_NOMEM);
    CHECK_INT(compile_with(text, (size_t)512 << 20, 0), TS_OK);
}

static void memory_that_runs_out_is_an_error(const ts_text *text)
{
    int n_failed = 0;
    for (size_t more = 0; more < 20; more++) {
        int status = compile_with(text, more << 18, 4096);
        CHECK(status == TS_OK || status == -TS_NOMEM);
        n_failed += status == -TS_NOMEM;
    }
    CHECK(n_failed > 3);
}

static void loading_without_room_is_refused_and_not_for_good(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
        limit((size_t)64 << 20);
        CHECK_INT(ts_llvm_find(NULL, &err), TS_NOMEM);
        CHECK(strstr(err.text, "not enough memory to load LLVM") != NULL);
        CHECK_INT(setrlimit(RLIMIT_AS, &none), 0);
        CHECK_OK(ts_llvm_find(NULL, &err));
        _exit(check_failed != 0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
}
#endif

static void more_stack_than_a_thread_has_is_refused(void)
{
    for (int over = 0; over < 2; over++) {
        ts_text text;
        ts__text_init(&text, NULL);
        ts__text_printf(&text, "define void @f(ptr %%p) #0 {\n%%a = alloca [%d x i8]\nstore volatile ptr %%a, ptr %%p\n"
                        "ret void\n}\nattributes #0 = { \"warn-stack-size\"=\"%d\" }\n",
                        TS_LLVM_STACK + (over ? 4096 : -4096), TS_LLVM_STACK);
        CHECK_INT(compile(&text, 0), over ? TS_UNSUPPORTED : TS_OK);
        CHECK(!over || strstr(err.text, "bytes of stack on the CPU, more than the 4194304"));
        ts__text_deinit(&text);
    }
}

int main(void)
{
    ts_text text;
    program(&text, 400);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    loading_without_room_is_refused_and_not_for_good();
    CHECK_OK(ts_llvm_find(NULL, &err)); /* loaded only: what a compilation leaves in the heap would be used again */
    a_compilation_without_room_is_not_begun(&text);
    memory_that_runs_out_is_an_error(&text);
#endif
    CHECK_OK(compile(&text, 0));
    more_stack_than_a_thread_has_is_refused();
    ts__text_deinit(&text);
    return check_done();
}
