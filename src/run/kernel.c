/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernel objects: the packed function with its annotations and hints, and the table of specialisations.
 * Readers go through the table without a lock; a thread that misses takes the kernel's lock, compiles (through
 * the cache), loads, and publishes. Where a host answers (tessera/host.h) the lock is taken for publishing alone: its
 * code may launch this kernel and others. Tables and entries that were replaced live until the kernel ends,
 * because a reader may still be in them; they are few, each came with a compilation or a device reset.
 */
#include "compile/compile.h"
#include "run/cache.h"
#include "run/launch.h"
#include "tessera/ir.h"
#include <stdlib.h>

enum { KERNEL_SLOTS = 16 };

/* ---- life ------------------------------------------------------------------------------------------ */

static kernel_table *kernel_table_new(const ts_alloc *alloc, uint32_t slots, kernel_table *older)
{
    kernel_table *table = ts__new(alloc, sizeof *table + sizeof table->slots[0] * slots);
    if (table) {
        table->mask = slots - 1;
        table->older = older;
    }
    return table;
}

static void kernel_delete_params(const ts_alloc *alloc, kernel_param *params, size_t n)
{
    for (size_t i = 0; params && i < n; i++) {
        kernel_delete_params(alloc, params[i].items, params[i].n_items);
        ts__string_delete(alloc, params[i].name);
    }
    ts__delete(alloc, params, sizeof *params * (n + 1));
}

static void kernel_entry_delete(const ts_alloc *alloc, kernel_entry *entry)
{
    ts_program *programs[] = {ts__entry_program(entry), entry->before};
    for (size_t i = 0; i < TS_COUNT(programs); i++)
        if (programs[i])
            ts_program_destroy(programs[i]);
    ts__delete(alloc, entry, sizeof *entry + sizeof entry->words[0] * entry->n_words);
}

static void kernel_delete(ts_kernel *kernel)
{
    const ts_alloc *alloc = kernel->alloc;
    for (kernel_entry *entry = kernel->entries; entry;) {
        kernel_entry *older = entry->older;
        kernel_entry_delete(alloc, entry);
        entry = older;
    }
    for (kernel_table *table = atomic_load(&kernel->table); table;) {
        kernel_table *older = table->older;
        ts__delete(alloc, table, sizeof *table + sizeof table->slots[0] * ((size_t)table->mask + 1));
        table = older;
    }
    kernel_delete_params(alloc, kernel->params, kernel->n_params);
    ts__delete(alloc, (void *)(uintptr_t)kernel->source.bytes, kernel->source.n + 1);
    ts__string_delete(alloc, (char *)(uintptr_t)kernel->source.compiler);
    ts__string_delete(alloc, (char *)(uintptr_t)kernel->source.entry);
    ts__delete(alloc, (void *)(uintptr_t)kernel->source.id, kernel->source.n_id);
    ts__string_delete(alloc, kernel->name);
    ts__string_delete(alloc, kernel->file);
    ts__lock_deinit(&kernel->lock);
    ts__delete(alloc, kernel, sizeof *kernel);
}

static uint8_t kernel_param_asks(const ts_param *p)
{
    bool statics = p->static_shape | p->static_stride | p->static_shape_end | p->static_stride_end;
    return (p->flags & TS_PARAM_BOOL || p->form != TS_PARAM_ANY ? PARAM_ASKS_KIND : 0) |
           (statics ? PARAM_ASKS_STATICS : 0) |
           (p->dtype || p->flags & (TS_PARAM_CONSTANT | TS_PARAM_NUMBER) ? PARAM_ASKS_NUMBER : 0) |
           (ts_dtype_get((ts_dtype)p->dtype)->part ? PARAM_ASKS_COMPLEX : 0);
}

/* *to is whole, with fewer items, also where memory ran out. */
static bool kernel_copy_params(const ts_alloc *alloc, const ts_param *from, size_t n, kernel_param **to, size_t *n_to)
{
    if (!from)
        return true;
    *to = ts__new(alloc, sizeof **to * (n + 1));
    if (!*to)
        return false;
    *n_to = n;
    for (size_t i = 0; i < n; i++) {
        const ts_param *p = &from[i];
        kernel_param *copy = &(*to)[i];
        size_t n_items = 0;
        *copy = (kernel_param){.flags = p->flags, .static_shape = p->static_shape, .static_stride = p->static_stride,
                               .dtype = p->dtype, .asks = kernel_param_asks(p), .static_shape_end = p->static_shape_end,
                               .static_stride_end = p->static_stride_end, .form = p->form};
        bool ok = p->form == TS_PARAM_ANY || kernel_copy_params(alloc, p->items, p->n_items, &copy->items, &n_items);
        copy->n_items = (uint8_t)n_items;
        if (!ok || (p->name && !(copy->name = ts__string(alloc, p->name))))
            return false;
    }
    return true;
}

/* Whether the pack is left to be asked for. */
static bool kernel_is_later(const ts_source *source)
{
    return source->kind == TS_SOURCE_PYTHON && !source->bytes && source->id && source->host.source;
}

static bool kernel_copy_id(ts_kernel *kernel, const ts_source *from)
{
    if (!from->id)
        return true;
    void *id = ts__new(kernel->alloc, from->n_id);
    if (id)
        memcpy(id, from->id, from->n_id);
    kernel->source.id = id;
    kernel->source.n_id = id ? from->n_id : 0;
    return id != NULL;
}

/* Keeps what the source is made of; a module as its text. */
static ts_status kernel_copy_source(ts_kernel *kernel, const ts_source *from, ts_error *err)
{
    ts_source *to = &kernel->source;
    char *bytes = NULL;
    *to = *from;
    to->bytes = NULL, to->module = NULL, to->compiler = NULL, to->entry = NULL, to->n = 0, to->id = NULL, to->n_id = 0;
    kernel->array_mask = from->kind == TS_SOURCE_TEXT || from->kind == TS_SOURCE_MODULE ? WORD_OF_IR : UINT64_MAX;
    if (from->kind == TS_SOURCE_MODULE) {
        to->kind = TS_SOURCE_TEXT;
        TS_TRY(ts_module_print(from->module, kernel->alloc, &bytes, &to->n, err));
    } else if (!kernel_is_later(from)) {
        bytes = ts__new(kernel->alloc, from->n + 1);
        to->n = bytes ? from->n : 0;
    }
    atomic_store(&kernel->lacks_pack, kernel_is_later(from));
    to->bytes = bytes;
    if (from->compiler)
        to->compiler = ts__string(kernel->alloc, from->compiler);
    if (from->entry)
        to->entry = ts__string(kernel->alloc, from->entry);
    bool has_id = kernel_copy_id(kernel, from);
    if ((!bytes && !kernel_is_later(from)) || !has_id || (from->compiler && !to->compiler) ||
        (from->entry && !to->entry))
        return ts_fail(err, TS_NOMEM, "out of memory for a kernel");
    if (from->kind != TS_SOURCE_MODULE && from->n)
        memcpy(bytes, from->bytes, from->n);
    return TS_OK;
}

static ts_status kernel_check_param(const char *kernel, const ts_param *param, uint32_t depth, ts_error *err)
{
    bool one = param->form == TS_PARAM_TUPLE_OF || param->form == TS_PARAM_LIST_OF;
    if (param->form > TS_PARAM_RECORD || (one && param->n_items != 1) ||
        (param->form != TS_PARAM_ANY && param->n_items && !param->items) || depth > TS_PARAM_DEPTH)
        return ts_fail(err, TS_VALUE, "kernel '%s': a parameter of form %u with %u items, %u deep; see ts_param_form",
                       kernel, param->form, param->n_items, depth);
    for (uint32_t i = 0; param->form != TS_PARAM_ANY && i < param->n_items; i++)
        TS_TRY(kernel_check_param(kernel, &param->items[i], depth + 1, err));
    return TS_OK;
}

/* Whether a desc can become a kernel. */
static ts_status kernel_check(const ts_kernel_desc *desc, ts_error *err)
{
    const ts_source *source = &desc->source;
    const char *name = desc->name ? desc->name : "?";
    if (desc->n_params > TS_LAUNCH_ARGS)
        return ts_fail(err, TS_VALUE, "kernel '%s' has %zu parameters; the most is %d", name, desc->n_params,
                       TS_LAUNCH_ARGS);
    if ((unsigned)source->kind > TS_SOURCE_CUSTOM)
        return ts_fail(err, TS_VALUE, "kernel '%s': %d is not a kind of source; give a ts_source_kind", name,
                       (int)source->kind);
    if (source->kind != TS_SOURCE_MODULE && source->n && !source->bytes)
        return ts_fail(err, TS_VALUE, "kernel '%s': the source has %zu bytes, but source.bytes is NULL", name,
                       source->n);
    if (source->kind == TS_SOURCE_MODULE && !source->module)
        return ts_fail(err, TS_VALUE, "kernel '%s': the source is a module, but source.module is NULL", name);
    if (source->kind == TS_SOURCE_CUSTOM && !source->compile)
        return ts_fail(err, TS_VALUE, "kernel '%s': the source is custom, but source.compile is NULL; give a function "
                       "that compiles it", name);
    if (source->kind == TS_SOURCE_PYTHON && source->entry)
        return ts_fail(err, TS_VALUE, "kernel '%s': source.entry chooses a kernel of IR; a packed function is one",
                       name);
    for (size_t i = 0; desc->params && i < desc->n_params; i++)
        TS_TRY(kernel_check_param(name, &desc->params[i], 0, err));
    return TS_OK;
}

ts_status ts_kernel_create(const ts_kernel_desc *desc, ts_kernel **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, desc);
    const ts_alloc *alloc = desc->alloc ? desc->alloc : ts_alloc_default();
    TS_TRY(kernel_check(desc, err));
    ts_kernel *kernel = ts__new(alloc, sizeof *kernel);
    if (!kernel)
        return ts_fail(err, TS_NOMEM, "out of memory for a kernel");
    kernel->alloc = alloc;
    atomic_store(&kernel->references, 1);
    ts__lock_init(&kernel->lock, true); /* a signal handler may launch the kernel that its thread compiles */
    kernel->hints = desc->hints;
    kernel->n_by_target = TS_MIN(desc->n_by_target, (size_t)TS_LAUNCH_TARGETS);
    if (kernel->n_by_target)
        memcpy(kernel->by_target, desc->by_target, kernel->n_by_target * sizeof *desc->by_target);
    kernel->name = ts__string(alloc, desc->name ? desc->name : desc->source.entry);
    kernel->file = ts__string(alloc, desc->file);
    atomic_store(&kernel->table, kernel_table_new(alloc, KERNEL_SLOTS, NULL));
    bool ok = kernel_copy_params(alloc, desc->params, desc->n_params, &kernel->params, &kernel->n_params) &&
              kernel->name && kernel->file && atomic_load(&kernel->table);
    ts_status status = ok ? kernel_copy_source(kernel, &desc->source, err)
                          : ts_fail(err, TS_NOMEM, "out of memory for a kernel");
    if (status != TS_OK) {
        kernel_delete(kernel);
        return status;
    }
    *out = kernel;
    return TS_OK;
}

/* Under lock, once: threads may have asked at the same time. */
static ts_status kernel_take_pack(ts_kernel *kernel, const void *pack, size_t n, ts_error *err)
{
    char *bytes = ts__new(kernel->alloc, n + 1);
    if (!bytes)
        return ts_fail(err, TS_NOMEM, "out of memory for the source of kernel '%s'", kernel->name);
    memcpy(bytes, pack, n);
    kernel->source.bytes = bytes;
    kernel->source.n = n;
    atomic_store(&kernel->lacks_pack, false);
    return TS_OK;
}

ts_status ts__kernel_read(ts_kernel *kernel, ts_error *err)
{
    void *pack = NULL;
    size_t n = 0;
    if (!atomic_load(&kernel->lacks_pack))
        return TS_OK;
    TS_TRY(kernel->source.host.source(kernel->source.host.user, &pack, &n, err));
    ts__lock_take(&kernel->lock);
    ts_status status = atomic_load(&kernel->lacks_pack) ? kernel_take_pack(kernel, pack, n, err) : TS_OK;
    ts__lock_give(&kernel->lock);
    free(pack);
    return status;
}

void ts_kernel_retain(ts_kernel *kernel)
{
    atomic_fetch_add(&kernel->references, 1);
}

void ts_kernel_release(ts_kernel *kernel)
{
    if (kernel && atomic_fetch_sub(&kernel->references, 1) == 1)
        kernel_delete(kernel);
}

const char *ts_kernel_name(const ts_kernel *kernel)
{
    return kernel->name;
}

const char *ts_kernel_param_name(const ts_kernel *kernel, size_t param)
{
    return param < kernel->n_params ? kernel->params[param].name : NULL;
}

bool ts_kernel_takes_constant(const ts_kernel *kernel, size_t param, const size_t *path, size_t depth)
{
    const kernel_param *rule = param < kernel->n_params ? &kernel->params[param] : NULL;
    for (size_t i = 0; rule && i < depth && rule->form != TS_PARAM_ANY; i++) {
        bool each = rule->form == TS_PARAM_TUPLE || rule->form == TS_PARAM_RECORD;
        rule = !each ? rule->items : path[i] < rule->n_items ? &rule->items[path[i]] : NULL;
    }
    return rule && rule->flags & TS_PARAM_CONSTANT;
}

const ts_host *ts_kernel_host(const ts_kernel *kernel)
{
    return &kernel->source.host;
}

void ts_kernel_get_stats(const ts_kernel *kernel, ts_kernel_stats *out)
{
    *out = (ts_kernel_stats){
        .n_specialised = atomic_load_explicit(&kernel->n_specialised, memory_order_relaxed),
        .n_compiled = atomic_load_explicit(&kernel->n_compiled, memory_order_relaxed),
        .n_from_memory = atomic_load_explicit(&kernel->n_from_memory, memory_order_relaxed),
        .n_from_disk = atomic_load_explicit(&kernel->n_from_disk, memory_order_relaxed),
        .compile_ns = atomic_load_explicit(&kernel->compile_ns, memory_order_relaxed),
        .load_ns = atomic_load_explicit(&kernel->load_ns, memory_order_relaxed),
        .n_serialised = atomic_load_explicit(&kernel->n_serialised, memory_order_relaxed),
    };
}

/* ---- specialising ------------------------------------------------------------------------------------- */

static uint64_t kernel_since(int64_t before)
{
    return (uint64_t)(ts__now_ns() - before);
}

/* The allocator of a compilation that its caller may interrupt (ts_interrupt_set) or that has a time limit
 * (ts_compile_limit): when the compilation should stop, it gives no more memory, and the compiler ends as it does when
 * memory is out. The compiler allocates all the time, and asks for a byte between the steps of LLVM
 * (target/llvm/llvm.c); inside of those, and in the assemblers of other makers, nothing is asked. */
typedef struct kernel_interruptible {
    ts_alloc alloc;
    const ts_alloc *below;
    ts_interrupt_fn *should_stop; /* NULL: this thread is not the one to ask */
    int64_t next_ns, limit_ns, deadline_ns; /* limit_ns, deadline_ns: 0 = no limit */
    bool stopped, late;
} kernel_interruptible;

enum { KERNEL_ASK_NS = 20000000 };

static void *kernel_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    kernel_interruptible *p = user;
    bool asks = new_bytes > old_bytes && !p->stopped && (p->should_stop || p->deadline_ns);
    if (asks && ts__now_ns() >= p->next_ns) {
        p->late = p->deadline_ns && ts__now_ns() > p->deadline_ns;
        p->stopped = p->late || (p->should_stop && p->should_stop());
        p->next_ns = ts__now_ns() + KERNEL_ASK_NS;
    }
    return p->stopped && new_bytes > old_bytes ? NULL : p->below->resize(p->below->user, block, old_bytes, new_bytes);
}

/* `lowered` is the source as IR, or NULL. */
static ts_status kernel_compile(const kernel_wish *wish, ts_module *lowered, const ts_hints *hints, ts_code *code,
                                ts_error *err)
{
    int64_t before = ts__now_ns();
    ts_kernel *kernel = wish->kernel;
    const ts_spec *spec = wish->spec;
    size_t n_spec = wish->n_spec;
    ts_target target = wish->device->target;
    ts_source source = kernel->source; /* borrowed */
    if (wish->never_asks)
        source.host = (ts_host){0};
    kernel_interruptible p = {{kernel_resize, &p}, kernel->alloc, ts__interrupt_get(), before + KERNEL_ASK_NS,
                              ts__compile_limit_ns(), 0, false, false};
    const ts_spec *block = ts__compile_block(spec, &n_spec);
    n_spec += block != NULL;
    p.deadline_ns = p.limit_ns ? before + p.limit_ns : 0;
    ts_status status = lowered ? ts__compile_module(lowered, NULL, hints, target, block, NULL, &p.alloc, code, err)
                               : ts_compile_source(&source, spec, n_spec, hints, target, &p.alloc, code, err);
    if (code->alloc == &p.alloc)
        code->alloc = kernel->alloc;
    atomic_fetch_add(&kernel->compile_ns, kernel_since(before));
    atomic_fetch_add(&kernel->n_compiled, 1);
    if (p.late && status != TS_OK && status != TS_TIMEOUT)
        return ts_fail(err, TS_TIMEOUT, "kernel '%s' was not compiled within %.3g s\n"
                       "  help: allow more (ct.compiler_timeout(seconds)), or split the kernel",
                       kernel->name, (double)p.limit_ns * 1e-9);
    if (p.late)
        return status;
    if (!p.stopped && p.should_stop) /* what came while an assembler was at work */
        p.stopped = p.should_stop();
    if (!p.stopped)
        return status;
    if (status == TS_OK)
        ts_code_deinit(code);
    return ts_fail(err, TS_INTERRUPTED, "interrupted while kernel '%s' was compiled", kernel->name);
}

/* Code from the cache, or from the compiler into the cache. `lowered` is the source as IR, or NULL; then the key ends
 * with it, `ir`: what a host answered shows there alone. */
static ts_status kernel_code_of(const kernel_wish *wish, ts_module *lowered, const ts_text *ir, const ts_hints *hints,
                                ts_code *code, ts_error *err)
{
    ts_kernel *kernel = wish->kernel;
    ts_cache *cache;
    ts_text key;
    ts_target target = wish->device->target;
    TS_TRY(ts__cache_shared(&cache, err));
    ts__text_init(&key, kernel->alloc);
    ts_cache_hit hit = TS_CACHE_MISS;
    ts_status status = TS_OK;
    const ts_source *source = &kernel->source;
    bool usable = cache && (source->kind != TS_SOURCE_CUSTOM || source->compiler); /* else the key knows no compiler */
    if (usable)
        ts__cache_key(cache, &key, source, ir, wish->spec, wish->n_spec, hints, target);
    if (usable && !key.failed)
        hit = ts__cache_get(cache, key.at, key.n, kernel->alloc, code);
    if (hit == TS_CACHE_MEMORY)
        atomic_fetch_add(&kernel->n_from_memory, 1);
    else if (hit == TS_CACHE_DISK)
        atomic_fetch_add(&kernel->n_from_disk, 1);
    else if (wish->cached_only)
        status = TS_NOTFOUND;
    else {
        status = kernel_compile(wish, lowered, hints, code, err);
        usable &= status == TS_OK && !wish->kept_loaded;
        if (usable) /* again, because now it is of the LLVM that was used, not the one expected */
            ts__cache_key(cache, &key, source, ir, wish->spec, wish->n_spec, hints, target);
        if (usable && !key.failed)
            ts__cache_put(cache, key.at, key.n, code);
    }
    ts__text_deinit(&key);
    return status;
}

bool ts__kernel_is_hosted(const ts_kernel *kernel, const ts_spec *spec, size_t n_spec)
{
    bool hosted = kernel->source.host.asks;
    for (size_t i = 0; i < n_spec; i++)
        hosted |= spec[i].kind == TS_SPEC_OBJECT || /* numbers that say nothing outside of this process */
                  spec[i].kind == TS_SPEC_RECORD || spec[i].kind == TS_SPEC_STRUCT;
    return kernel->source.kind == TS_SOURCE_PYTHON && hosted;
}

/* A source with a host is lowered first, for the host to answer again: what it reads may have changed. */
static ts_status kernel_code(const kernel_wish *wish, const ts_hints *hints, ts_code *code, ts_error *err)
{
    ts_kernel *kernel = wish->kernel;
    if (!ts__kernel_is_hosted(kernel, wish->spec, wish->n_spec))
        return kernel_code_of(wish, NULL, NULL, hints, code, err);
    ts_arena arena;
    ts_text ir;
    ts_module *module = NULL;
    ts__arena_init(&arena, kernel->alloc);
    ts__text_init(&ir, kernel->alloc);
    ts_status status =
        ts__compile_lower(&arena, &kernel->source, wish->spec, wish->n_spec, hints, &module, err);
    if (status == TS_OK) {
        ts__module_key(module, &ir);
        status = ir.failed ? ts_fail(err, TS_NOMEM, "out of memory while specialising kernel '%s'", kernel->name)
                           : kernel_code_of(wish, module, &ir, hints, code, err);
    }
    ts__text_deinit(&ir);
    ts__arena_deinit(&arena);
    return status;
}

static ts_status kernel_load(const kernel_wish *wish, const ts_code *code, ts_program **out, ts_error *err)
{
    ts_kernel *kernel = wish->kernel;
    if (code->plan.n_params != wish->n_params)
        return ts_fail(err, TS_INTERNAL, "kernel '%s' was compiled with %u parameters, its arguments give %u",
                       kernel->name, code->plan.n_params, wish->n_params);
    int64_t before = ts__now_ns();
    ts_code linked = *code; /* a borrowed copy */
    void *image = NULL;
    ts_host_link_fn *link = code->plan.target == TS_TARGET_CPU ? NULL : kernel->source.host.link;
    if (link) {
        TS_TRY(link(kernel->source.host.user, (const char *)code->bytes, &image, &linked.n_bytes, err));
        linked.bytes = image;
    }
    ts_status status = ts_program_load(wish->device, &linked, kernel->name, kernel->file, out, err);
    free(image);
    atomic_fetch_add(&kernel->load_ns, kernel_since(before));
    if (status == TS_OK && link && kernel->source.host.loaded) {
        status = kernel->source.host.loaded(kernel->source.host.user, ts__program_library(*out), err);
        if (status != TS_OK) {
            ts_program_destroy(*out);
            *out = NULL;
        }
    }
    return status;
}

/* One plan after the other (TS_PLANS). */
typedef struct kernel_plans {
    const kernel_wish *wish;
    ts_hints hints;
    ts_code code;        /* of the plan before, to see whether the next one differs */
    ts_program *program; /* the best so far; NULL = none yet */
    bool of_code;        /* which is that of `code` */
} kernel_plans;

/* Whether the next plan may do better than what this one came to: the last one, without wgmma, only where none else
 * assembles, since products that run one after the other are still faster than its own. */
static bool kernel_wants_next(const kernel_plans *plans, const ts_program *program, ts_status status,
                              const ts_error *err)
{
    bool (*is_beyond)(const ts_error *) = plans->wish->device->ops->program_is_beyond;
    if (plans->hints.plan + 1 >= TS_PLANS)
        return false;
    return status == TS_OK ? plans->hints.plan + 2 < TS_PLANS && ts_program_is_serialised(program)
                           : status == TS_DEVICE && is_beyond && is_beyond(err);
}

/* Compiles and loads plan `hints.plan`; *more: the next one is to be tried. A plan whose code is that of the one before
 * gives what that one gave. */
static ts_status kernel_try(kernel_plans *plans, bool *more, ts_error *err)
{
    ts_code code = {.alloc = plans->wish->kernel->alloc};
    ts_program *program = NULL;
    *more = false;
    ts_status status = kernel_code(plans->wish, &plans->hints, &code, err);
    if (status != TS_OK)
        return status;
    bool same = code.n_bytes == plans->code.n_bytes && plans->code.bytes &&
                memcmp(code.bytes, plans->code.bytes, code.n_bytes) == 0;
    ts_code_deinit(&plans->code);
    plans->code = code;
    if (same) {
        *more = !plans->program && plans->hints.plan + 1 < TS_PLANS;
        return plans->program ? TS_OK : TS_DEVICE;
    }
    status = kernel_load(plans->wish, &code, &program, err);
    *more = kernel_wants_next(plans, program, status, err);
    plans->of_code = status == TS_OK && (!plans->program || !ts_program_is_serialised(program));
    ts_program *other = plans->of_code ? plans->program : program;
    if (other)
        ts_program_destroy(other);
    if (plans->of_code)
        plans->program = program;
    return status;
}

/* Caches the code under the key of the first plan: the next kernel begins with it. */
static void kernel_keep(const kernel_plans *plans)
{
    const kernel_wish *wish = plans->wish;
    const ts_source *source = &wish->kernel->source;
    ts_hints first = plans->hints;
    ts_error err;
    ts_cache *cache;
    ts_text key;
    bool is_custom = source->kind == TS_SOURCE_CUSTOM;
    bool keyed = is_custom ? source->compiler != NULL
                           : !ts__kernel_is_hosted(wish->kernel, wish->spec, wish->n_spec);
    if (!keyed || ts__cache_shared(&cache, &err) != TS_OK || !cache)
        return;
    first.plan = 0;
    ts__text_init(&key, wish->kernel->alloc);
    ts__cache_key(cache, &key, source, NULL, wish->spec, wish->n_spec, &first, wish->device->target);
    if (!key.failed)
        ts__cache_put(cache, key.at, key.n, &plans->code);
    ts__text_deinit(&key);
}

/* The first plan that the driver assembles with all its products overlapped; if there is none, the first that it
 * assembles. What is not the first is cached in its place too, so that the next process begins with it. */
static ts_status kernel_first_good(kernel_plans *plans, ts_error *err)
{
    ts_error first, next = {0};
    bool more;
    ts_status status = kernel_try(plans, &more, &next);
    first = next;
    while (more) {
        plans->hints.plan++;
        (void)kernel_try(plans, &more, &next); /* what the first one came to counts */
    }
    if ((plans->hints.plan || plans->wish->kept_loaded) && plans->of_code)
        kernel_keep(plans);
    if (!plans->program && err)
        *err = first;
    return plans->program ? TS_OK : status;
}

ts_status ts__kernel_program(const kernel_wish *wish, ts_program **out, ts_error *err)
{
    kernel_plans plans = {.wish = wish, .hints = wish->hints};
    plans.code.alloc = wish->kernel->alloc;
    plans.hints.tables = wish->device->target != TS_TARGET_CPU;
    plans.hints.tiers = 0; /* no code depends on it */
    ts_status status = kernel_first_good(&plans, err);
    if (status == TS_OK && ts_program_is_serialised(plans.program))
        atomic_fetch_add(&wish->kernel->n_serialised, 1);
    *out = plans.program;
    ts_code_deinit(&plans.code);
    return status;
}

/* Puts the entry in the place of its key; an old one of the same key (from before a reset) goes. */
static void kernel_place(kernel_table *table, kernel_entry *entry)
{
    for (uint32_t i = (uint32_t)entry->hash;; i++) {
        kernel_entry *found = atomic_load(&table->slots[i & table->mask]);
        bool same = found && found->hash == entry->hash && found->n_words == entry->n_words &&
                    found->device == entry->device &&
                    memcmp(found->words, entry->words, sizeof(uint64_t) * entry->n_words) == 0;
        if (found && !same)
            continue;
        table->n += !found;
        atomic_store_explicit(&table->slots[i & table->mask], entry, memory_order_release);
        return;
    }
}

/* Under lock. */
static bool kernel_grow(ts_kernel *kernel)
{
    kernel_table *table = atomic_load(&kernel->table);
    if (2 * (table->n + 1) <= table->mask + 1)
        return true;
    kernel_table *fresh = kernel_table_new(kernel->alloc, 2 * (table->mask + 1), table);
    if (!fresh)
        return false;
    for (uint32_t i = 0; i <= table->mask; i++) {
        kernel_entry *entry = atomic_load(&table->slots[i]);
        if (entry)
            kernel_place(fresh, entry);
    }
    atomic_store_explicit(&kernel->table, fresh, memory_order_release);
    return true;
}

/* Compiles and loads what is wished for; with or without the lock. */
static ts_status kernel_make(const kernel_wish *wish, const launch_frame *frame, uint64_t hash, kernel_entry **out,
                             ts_error *err)
{
    ts_kernel *kernel = wish->kernel;
    ts_program *program = NULL;
    kernel_entry *entry = ts__new(kernel->alloc, sizeof *entry + sizeof entry->words[0] * frame->n_words);
    if (!entry)
        return ts_fail(err, TS_NOMEM, "out of memory while specialising kernel '%s'", kernel->name);
    entry->hash = hash;
    entry->n_words = frame->n_words;
    entry->device = wish->device->id;
    memcpy(entry->words, frame->words, sizeof(uint64_t) * frame->n_words);
    ts_status status = ts__kernel_program(wish, &program, err);
    atomic_store(&entry->program, program);
    if (status != TS_OK)
        kernel_entry_delete(kernel->alloc, entry);
    else
        *out = entry;
    return status;
}

/* Under lock. Takes the entry. What was published meanwhile, by another thread or by a signal handler of this one,
 * stays. */
static ts_status kernel_publish(ts_kernel *kernel, const launch_frame *frame, ts_device *device, kernel_entry *entry,
                                const kernel_entry **out, ts_error *err)
{
    *out = ts__kernel_find(kernel, frame, device, entry->hash);
    bool has_room = *out || kernel_grow(kernel);
    if (*out || !has_room)
        kernel_entry_delete(kernel->alloc, entry);
    if (!has_room)
        return ts_fail(err, TS_NOMEM, "out of memory while specialising kernel '%s'", kernel->name);
    if (*out)
        return TS_OK;
    entry->older = kernel->entries;
    kernel->entries = entry;
    kernel_place(atomic_load(&kernel->table), entry);
    atomic_fetch_add(&kernel->n_specialised, 1);
    *out = entry;
    return TS_OK;
}

/* Whether compiling calls the host. */
static bool kernel_calls_host(const ts_kernel *kernel, const launch_frame *frame)
{
    bool calls = kernel->source.host.asks;
    for (size_t i = 0; i < frame->n_args; i++)
        calls |= frame->args[i].kind == TS_SPEC_OBJECT;
    return kernel->source.kind == TS_SOURCE_PYTHON && calls;
}

/* The first tier of `wish` if that has tiers: what is in the cache, else code that is quickly made. */
static ts_status kernel_make_tier(const kernel_wish *wish, const launch_frame *frame, uint64_t hash,
                                  kernel_entry **out, ts_error *err)
{
    kernel_wish first = *wish;
    if (!ts__tier_is_wanted(wish))
        return kernel_make(wish, frame, hash, out, err);
    first.cached_only = true;
    ts_status status = kernel_make(&first, frame, hash, out, err);
    if (status != TS_NOTFOUND)
        return status;
    first.cached_only = false;
    first.hints.opt_level = 1;
    return kernel_make(&first, frame, hash, out, err);
}

/* What is in the cache. TS_NOTFOUND, without a message: nothing. */
static ts_status kernel_take_kept(const kernel_wish *wish, const launch_frame *frame, uint64_t hash,
                                  const kernel_entry **out, ts_error *err)
{
    ts_kernel *kernel = wish->kernel;
    kernel_entry *made = NULL;
    kernel_wish kept = *wish;
    kept.cached_only = true;
    if (ts__kernel_is_hosted(kernel, wish->spec, wish->n_spec))
        return TS_NOTFOUND;
    ts__lock_take(&kernel->lock);
    *out = ts__kernel_find(kernel, frame, wish->device, hash);
    ts_status status = *out ? TS_OK : kernel_make(&kept, frame, hash, &made, err);
    if (made)
        status = kernel_publish(kernel, frame, wish->device, made, out, err);
    ts__lock_give(&kernel->lock);
    return status;
}

static ts_status kernel_specialise(const kernel_wish *wish, const launch_frame *frame, uint64_t hash,
                                   const kernel_entry **out, ts_error *err)
{
    ts_kernel *kernel = wish->kernel;
    ts_device *device = wish->device;
    ts_status status = TS_OK;
    kernel_entry *made = NULL;
    bool calls_host = kernel_calls_host(kernel, frame);
    if (atomic_load(&kernel->lacks_pack) || wish->cached_only) {
        status = kernel_take_kept(wish, frame, hash, out, err);
        if (status != TS_NOTFOUND)
            return status;
        if (wish->cached_only)
            return ts_fail(err, TS_NOTFOUND, "no code of kernel '%s' is kept for these arguments", kernel->name);
        TS_TRY(ts__kernel_read(kernel, err));
        status = TS_OK;
    }
    if (calls_host)
        status = kernel_make(wish, frame, hash, &made, err);
    ts__lock_take(&kernel->lock);
    *out = status == TS_OK ? ts__kernel_find(kernel, frame, device, hash) : NULL; /* another thread's */
    if (status == TS_OK && !*out && !calls_host)
        status = kernel_make_tier(wish, frame, hash, &made, err);
    if (made)
        status = kernel_publish(kernel, frame, device, made, out, err);
    if (made && *out == made)
        ts__tier_begin(made, wish);
    ts__lock_give(&kernel->lock);
    return status;
}

ts_status ts__kernel_specialise(ts_kernel *kernel, const launch_frame *frame, ts_device *device, uint64_t hash,
                                bool kept_only, const kernel_entry **out, ts_error *err)
{
    static const ts_hints none = {0};
    size_t bytes = sizeof(ts_spec) * (TS_LAUNCH_ARGS + 1);
    ts_spec *spec = ts__new(kernel->alloc, bytes);
    if (!spec)
        return ts_fail(err, TS_NOMEM, "out of memory while specialising kernel '%s'", kernel->name);
    const ts_hints *hints = ts__kernel_hints(kernel, device->target);
    kernel_wish wish = {.kernel = kernel, .device = device, .spec = spec, .n_spec = ts__frame_spec(frame, spec),
                        .n_params = frame->n_params, .hints = hints ? *hints : none, .cached_only = kept_only};
    ts_status status = kernel_specialise(&wish, frame, hash, out, err);
    ts__delete(kernel->alloc, spec, bytes);
    return status;
}
