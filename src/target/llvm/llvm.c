/* SPDX-License-Identifier: Apache-2.0
 *
 * libLLVM at run time: found by name, resolved once, fed IR text, giving object bytes.
 *
 * No LLVM header is needed to build; llvm.def declares what we call. The library is looked for newest
 * first and kept for the process. LLVM ends the process on errors that it thinks fatal and when memory is out;
 * our handlers leave by longjmp instead (what that compile had allocated is lost) and the error becomes a
 * status. So that this stays rare, there must be room for a usual compile before one begins.
 * Read next: emit.c, which makes the text.
 */
#include "target/llvm/llvm.h"
#include "base/library.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LLVM_OLDEST 15
#define LLVM_NEWEST 22
/* Address space, as measured with LLVM 15: loading takes 170 MiB, a kernel of 100 KiB of text 20 MiB. */
#define LLVM_LOAD_BYTES ((size_t)256 << 20)
#define LLVM_COMPILE_BYTES(n_text) (((size_t)32 << 20) + 64 * (n_text))

typedef struct llvm_api {
#define TS_LLVM(result, name, parameters, need) result(*name) parameters;
#include "target/llvm/llvm.def"
} llvm_api;

static const ts_library_row llvm_rows[] = {
#define TS_LLVM(result, name, parameters, need) {"LLVM" #name, offsetof(llvm_api, name), 0, need},
#include "target/llvm/llvm.def"
};

/* The process's LLVM, set once under llvm_once and never changed after. */
static struct {
    llvm_api api;
    ts_llvm_info info;
    void *handle; /* of ts__library_open */
    ts_llvm_build build;
    _Atomic bool is_loaded; /* for those who do not wait for llvm_once */
    ts_error error;
} llvm_library;
static pthread_once_t llvm_once = PTHREAD_ONCE_INIT;

/* ---- finding it ---------------------------------------------------------------------------------*/

/* Opens one candidate. On failure the reason is kept for the message if the file exists. */
static bool llvm_open(const char *path, uint32_t major)
{
    void *library = ts__library_open(path);
    if (!library)
        return false;
    const char *missing = ts__library_fill(library, llvm_rows, TS_COUNT(llvm_rows), NULL, NULL, &llvm_library.api);
    if (missing) {
        (void)ts_fail(&llvm_library.error, TS_NODEVICE, "'%s' lacks %s: LLVM %d to %d is needed", path, missing,
                      LLVM_OLDEST, LLVM_NEWEST);
        ts__library_close(library);
        return false;
    }
    unsigned found = major, minor = 0, patch = 0;
    if (llvm_library.api.GetVersion)
        llvm_library.api.GetVersion(&found, &minor, &patch);
    llvm_library.info.major = found ? found : LLVM_OLDEST;
    llvm_library.info.minor = minor;
    snprintf(llvm_library.info.path, sizeof llvm_library.info.path, "%s", path);
    llvm_library.handle = library;
    return true;
}

static bool llvm_search(void)
{
    static const char *const forms[] = {"libLLVM.so.%d.1",
                                        "libLLVM-%d.so.1",
                                        "libLLVM-%d.so",
                                        "/usr/lib/llvm-%d/lib/libLLVM.so.1",
                                        "/usr/lib/llvm%d/lib/libLLVM.so",
                                        "/usr/lib64/llvm%d/lib64/libLLVM.so",
                                        "/opt/homebrew/opt/llvm@%d/lib/libLLVM.dylib"};
    char path[128];
    for (int version = LLVM_NEWEST; version >= LLVM_OLDEST; version--)
        for (size_t i = 0; i < TS_COUNT(forms); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(path, sizeof path, forms[i], version);
#pragma GCC diagnostic pop
            if (llvm_open(path, (uint32_t)version))
                return true;
        }
    return false;
}

/* Leaves a fatal error of LLVM; set around every stretch of calls that may raise one. */
static _Thread_local jmp_buf *llvm_escape;
static _Thread_local char llvm_reason[512];

/* ---- when memory is out ---------------------------------------------------------------------------*/

/* What C++ offers for it, of the library that LLVM uses; all NULL where it does not give them away. */
static struct {
    void (*previous)(void);        /* the new-handler of others */
    void (*throw_bad_alloc)(void); /* does not return */
} llvm_cxx;
static _Thread_local bool llvm_starved;

/* Whether so much could be had now. */
static bool llvm_has_room(size_t bytes)
{
    void *trial = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (trial == MAP_FAILED)
        return false;
    munmap(trial, bytes);
    return true;
}

static ts_status llvm_no_room(size_t bytes, const char *what, ts_error *err)
{
    return ts_fail(err, TS_NOMEM, "not enough memory to %s: LLVM may need %zu MiB more (is there a limit, as by "
                                  "ulimit -v?)", what, bytes >> 20);
}

/* Leaves the compilation of this thread, if there is one. */
static void llvm_leave_starved(void)
{
    if (!llvm_escape)
        return;
    llvm_starved = true;
    longjmp(*llvm_escape, 1);
}

/* Called by operator new when it gets no memory, in any thread: outside LLVM it does what would be done without it. */
static void llvm_new_failed(void)
{
    llvm_leave_starved();
    if (llvm_cxx.previous)
        llvm_cxx.previous();
    else
        llvm_cxx.throw_bad_alloc();
}

static void llvm_alloc_failed(void *user, const char *reason, bool crash)
{
    (void)user, (void)reason, (void)crash;
    llvm_leave_starved();
}

/* C++ functions by the names that their compilers give them (Itanium C++ ABI). */
static void llvm_watch_memory(void *library)
{
    void (*(*set_new)(void (*)(void)))(void);
    void (*set_alloc)(void (*)(void *, const char *, bool), void *);
    ts__library_symbol(library, "_ZSt17__throw_bad_allocv", &llvm_cxx.throw_bad_alloc);
    ts__library_symbol(library, "_ZSt15set_new_handlerPFvvE", &set_new);
    if (set_new && llvm_cxx.throw_bad_alloc)
        llvm_cxx.previous = set_new(llvm_new_failed);
    ts__library_symbol(library, "_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_", &set_alloc);
    if (set_alloc)
        set_alloc(llvm_alloc_failed, NULL);
}

static void llvm_fatal(const char *reason)
{
    snprintf(llvm_reason, sizeof llvm_reason, "%s", reason);
    if (llvm_escape)
        longjmp(*llvm_escape, 1);
}

static void llvm_start(void)
{
    const llvm_api *api = &llvm_library.api;
    void (*const starters[])(void) = {
#if defined(__aarch64__)
        api->InitializeAArch64TargetInfo, api->InitializeAArch64Target, api->InitializeAArch64TargetMC,
        api->InitializeAArch64AsmPrinter
#else
        api->InitializeX86TargetInfo, api->InitializeX86Target, api->InitializeX86TargetMC, api->InitializeX86AsmPrinter
#endif
    };
    for (size_t i = 0; i < TS_COUNT(starters); i++)
        if (starters[i])
            starters[i]();
    api->InstallFatalErrorHandler(llvm_fatal);
    llvm_watch_memory(llvm_library.handle);
}

static void llvm_identify(void)
{
    void *inside;
    memcpy(&inside, &llvm_library.api.ContextCreate, sizeof inside);
    llvm_library.build = (ts_llvm_build){ts__loaded_id(inside), ts__library_file(inside)};
    atomic_store(&llvm_library.is_loaded, true);
}

static void llvm_load(void)
{
    const char *named = getenv("TESSERA_LLVM");
    bool found = named && *named ? llvm_open(named, 0) : llvm_search();
    if (found) {
        llvm_library.error.status = TS_OK;
        llvm_start();
        llvm_identify();
    } else if (llvm_library.error.status == TS_OK)
        (void)ts_fail(&llvm_library.error, TS_NODEVICE,
                      "the CPU target needs the LLVM library, version %d to %d, and none was found%s%s: "
                      "install it (Debian 12: apt install libllvm15; Ubuntu 24.04: apt install libllvm18; Fedora: dnf "
                      "install llvm-libs) or set TESSERA_LLVM to the path of libLLVM.so",
                      LLVM_OLDEST, LLVM_NEWEST, named && *named ? " at TESSERA_LLVM=" : "", named ? named : "");
}

const ts_llvm_build *ts__llvm_loaded(void)
{
    return atomic_load(&llvm_library.is_loaded) ? &llvm_library.build : NULL;
}

ts_status ts_llvm_find(ts_llvm_info *info, ts_error *err)
{
    if (!ts__llvm_loaded() && !llvm_has_room(LLVM_LOAD_BYTES)) /* said each time, and not for good */
        return llvm_no_room(LLVM_LOAD_BYTES, "load LLVM", err);
    pthread_once(&llvm_once, llvm_load);
    if (llvm_library.error.status != TS_OK)
        return ts_fail(err, llvm_library.error.status, "%s", llvm_library.error.text);
    if (info)
        *info = llvm_library.info;
    return TS_OK;
}

/* ---- compiling ----------------------------------------------------------------------------------*/

/* What one compile holds; volatile-free because it lives in the caller's frame of setjmp. */
typedef struct llvm_job {
    const llvm_api *api;
    void *context, *module, *machine, *object;
    const ts_alloc *alloc; /* of the caller */
    char message[512];     /* first error that LLVM reported */
    unsigned long stack;   /* bytes of a function that wants more than "warn-stack-size" allows; 0: none does */
} llvm_job;

static void llvm_keep(llvm_job *job, const char *message)
{
    if (!job->message[0])
        snprintf(job->message, sizeof job->message, "%s", message ? message : "no reason given");
}

static void llvm_take(llvm_job *job, char *message)
{
    llvm_keep(job, message);
    if (message)
        job->api->DisposeMessage(message);
}

static void llvm_diagnose(void *info, void *user)
{
    enum { LLVM_ERROR, LLVM_WARNING };
    llvm_job *job = user;
    int severity = job->api->GetDiagInfoSeverity(info);
    if (severity > LLVM_WARNING)
        return;
    char *message = job->api->GetDiagInfoDescription(info);
    if (severity == LLVM_ERROR)
        llvm_keep(job, message);
    const char *stack = message ? strstr(message, "stack frame size (") : NULL; /* newer ones name a place before */
    if (stack)
        (void)sscanf(stack, "stack frame size (%lu)", &job->stack);
    if (message)
        job->api->DisposeMessage(message);
}

static bool llvm_parse(llvm_job *job, const char *text, size_t n)
{
    char *message = NULL;
    void *buffer = job->api->CreateMemoryBufferWithMemoryRange(text, n, "tessera", 1);
    if (!job->api->ParseIRInContext(job->context, buffer, &job->module, &message))
        return true;
    llvm_take(job, message);
    job->module = NULL;
    return false;
}

static bool llvm_verify(llvm_job *job)
{
    char *message = NULL;
    bool broken = job->api->VerifyModule(job->module, 2, &message);
    if (broken)
        llvm_keep(job, message);
    if (message)
        job->api->DisposeMessage(message);
    return !broken;
}

static bool llvm_machine(llvm_job *job, const ts_llvm_host *host, int level)
{
    char *message = NULL;
    void *target = NULL;
    if (job->api->GetTargetFromTriple(host->triple, &target, &message)) {
        llvm_take(job, message);
        return false;
    }
    enum { RELOC_PIC = 2, MODEL_SMALL = 3 };
    job->machine = job->api->CreateTargetMachine(target, host->triple, host->cpu, host->features, level, RELOC_PIC,
                                                 MODEL_SMALL);
    if (!job->machine)
        llvm_keep(job, "no target machine");
    return job->machine != NULL;
}

static bool llvm_optimise(llvm_job *job, const char *passes)
{
    if (!*passes)
        return true;
    void *options = job->api->CreatePassBuilderOptions();
    void *error = job->api->RunPasses(job->module, passes, job->machine, options);
    job->api->DisposePassBuilderOptions(options);
    if (!error)
        return true;
    char *message = job->api->GetErrorMessage(error);
    llvm_keep(job, message);
    job->api->DisposeErrorMessage(message);
    return false;
}

static bool llvm_emit(llvm_job *job)
{
    char *message = NULL;
    enum { OBJECT_FILE = 1 };
    if (!job->api->TargetMachineEmitToMemoryBuffer(job->machine, job->module, OBJECT_FILE, &message, &job->object))
        return true;
    llvm_take(job, message);
    return false;
}

/* Asked between LLVM's steps: an allocator that gives no byte wants the compilation to end (run/kernel.c). */
static bool llvm_is_wanted(llvm_job *job)
{
    void *byte = job->alloc->resize(job->alloc->user, NULL, 0, 1);
    if (byte)
        job->alloc->resize(job->alloc->user, byte, 1, 0);
    else
        llvm_keep(job, "no memory");
    return byte != NULL;
}

static bool llvm_work(llvm_job *job, const char *text, size_t n, const ts_llvm_host *host,
                      const ts_llvm_options *options)
{
    job->context = job->api->ContextCreate();
    job->api->ContextSetDiagnosticHandler(job->context, llvm_diagnose, job);
    if (!llvm_is_wanted(job) || !llvm_parse(job, text, n))
        return false;
    if ((options->verify && !llvm_verify(job)) || !llvm_machine(job, host, options->level))
        return false;
    void *layout = job->api->CreateTargetDataLayout(job->machine);
    job->api->SetModuleDataLayout(job->module, layout);
    job->api->SetTarget(job->module, host->triple);
    job->api->DisposeTargetData(layout);
    return llvm_is_wanted(job) && llvm_optimise(job, options->passes ? options->passes : TS_LLVM_PASSES) &&
           llvm_is_wanted(job) && llvm_emit(job) && !job->message[0];
}

static void llvm_finish(llvm_job *job)
{
    if (job->object)
        job->api->DisposeMemoryBuffer(job->object);
    if (job->machine)
        job->api->DisposeTargetMachine(job->machine);
    if (job->module)
        job->api->DisposeModule(job->module);
    if (job->context)
        job->api->ContextDispose(job->context);
}

static ts_status llvm_copy(llvm_job *job, const ts_alloc *alloc, uint8_t **bytes, size_t *n, ts_error *err)
{
    size_t size = job->api->GetBufferSize(job->object);
    *bytes = alloc->resize(alloc->user, NULL, 0, size);
    if (!*bytes)
        return ts_fail(err, TS_NOMEM, "no memory for an object file of %zu bytes", size);
    memcpy(*bytes, job->api->GetBufferStart(job->object), size);
    *n = size;
    return TS_OK;
}

/* The guarded part: false when LLVM gave up through its fatal-error handler. */
static bool llvm_guarded(llvm_job *job, const char *text, size_t n, const ts_llvm_host *host,
                         const ts_llvm_options *options,
                         bool *worked)
{
    jmp_buf here, *outer = llvm_escape;
    llvm_escape = &here;
    if (setjmp(here)) {
        llvm_escape = outer;
        return false;
    }
    *worked = llvm_work(job, text, n, host, options);
    llvm_escape = outer;
    return true;
}

ts_status ts__llvm_compile(const char *text, size_t n_text, const ts_llvm_host *host, const ts_llvm_options *options,
                          const ts_alloc *alloc, uint8_t **bytes, size_t *n, ts_error *err)
{
    *bytes = NULL;
    *n = 0;
    TS_TRY(ts_llvm_find(NULL, err));
    size_t room = options->room ? options->room : LLVM_COMPILE_BYTES(n_text);
    if (!llvm_has_room(room))
        return llvm_no_room(room, "compile the kernel", err);
    llvm_job job = {.api = &llvm_library.api, .alloc = alloc};
    bool worked = false;
    llvm_starved = false;
    if (!llvm_guarded(&job, text, n_text, host, options, &worked))
        return llvm_starved ? llvm_no_room(room, "compile the kernel", err)
                            : ts_fail(err, TS_INTERNAL, "LLVM %u gave up: %s", llvm_library.info.major, llvm_reason);
    ts_status status = worked && job.stack
                           ? ts_fail(err, TS_UNSUPPORTED, "its code needs %lu bytes of stack on the CPU, more than the "
                                     "%d that a thread may have for it; make the kernel smaller", job.stack,
                                     TS_LLVM_STACK)
                       : worked ? llvm_copy(&job, alloc, bytes, n, err)
                              : ts_fail(err, TS_INTERNAL, "LLVM %u refused the code made for it: %s",
                                        llvm_library.info.major, job.message);
    llvm_finish(&job);
    return status;
}
