/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of the library as sources: packed Python functions, which tools/gen_lib.py writes to packs.def from
 * python/tessera/lib/, and one ts_kernel for each with each set of hints that it was asked for.
 */
#include "base/lock.h"
#include "tessera/lib.h"
#include <stdatomic.h>

#include "lib/packs.def"

static const struct {
    const char *name, *function, *file;
    const ts_param *params;
    size_t n_params;
    ts_source source;
} lib_rows[TS_LIB_COUNT] = {
#define X(kernel, module, arrays)                                                                              \
    [TS_LIB_##kernel] = {#kernel, #kernel "_kernel", "tessera/lib/" #module ".py", lib_params_##kernel,        \
                         TS_COUNT(lib_params_##kernel), {.bytes = &lib_pack_##kernel, .n = LIB_BYTES_##kernel}},
    TS_LIB_KERNELS(X)
#undef X
};

/* A kernel with hints; immutable once it is in the list. */
typedef struct lib_variant {
    struct lib_variant *next;
    ts_kernel *kernel;
    ts_hints hints;
} lib_variant;

static struct {
    ts_lock lock; /* adding */
    _Atomic(lib_variant *) first[TS_LIB_COUNT];
} lib_kernels = {.lock = TS_LOCK_INIT};

static ts_status lib_check(ts_lib_kernel kernel, ts_error *err)
{
    if ((unsigned)kernel < TS_LIB_COUNT)
        return TS_OK;
    return ts_fail(err, TS_VALUE, "%d is not a kernel of the library; give a ts_lib_kernel", (int)kernel);
}

const char *ts_lib_kernel_name(ts_lib_kernel kernel)
{
    return (unsigned)kernel < TS_LIB_COUNT ? lib_rows[kernel].name : NULL;
}

ts_status ts_lib_kernel_desc(ts_lib_kernel kernel, ts_kernel_desc *out, ts_error *err)
{
    TS_NEED(err, out);
    *out = (ts_kernel_desc){0};
    TS_TRY(lib_check(kernel, err));
    out->name = lib_rows[kernel].function;
    out->file = lib_rows[kernel].file;
    out->source = lib_rows[kernel].source;
    out->params = lib_rows[kernel].params;
    out->n_params = lib_rows[kernel].n_params;
    out->hints.opt_level = TS_OPT_LEVEL;
    return TS_OK;
}

static ts_kernel *lib_find(ts_lib_kernel kernel, const ts_hints *hints)
{
    const lib_variant *v = atomic_load_explicit(&lib_kernels.first[kernel], memory_order_acquire);
    while (v && memcmp(&v->hints, hints, sizeof *hints) != 0)
        v = v->next;
    return v ? v->kernel : NULL;
}

/* Under lock. */
static ts_status lib_add(ts_lib_kernel kernel, const ts_hints *hints, ts_kernel **out, ts_error *err)
{
    const ts_alloc *alloc = ts_alloc_default();
    ts_kernel_desc desc;
    TS_TRY(ts_lib_kernel_desc(kernel, &desc, err));
    desc.hints = *hints;
    lib_variant *variant = alloc->resize(alloc->user, NULL, 0, sizeof *variant);
    if (!variant)
        return ts_fail(err, TS_NOMEM, "out of memory for kernel '%s' of the library", desc.name);
    ts_status status = ts_kernel_create(&desc, out, err);
    if (status != TS_OK) {
        alloc->resize(alloc->user, variant, sizeof *variant, 0);
        return status;
    }
    *variant = (lib_variant){atomic_load(&lib_kernels.first[kernel]), *out, *hints};
    atomic_store_explicit(&lib_kernels.first[kernel], variant, memory_order_release);
    return TS_OK;
}

ts_status ts_lib_kernel_get(ts_lib_kernel kernel, const ts_hints *hints, ts_kernel **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    static const ts_hints own = {.opt_level = TS_OPT_LEVEL};
    TS_TRY(lib_check(kernel, err));
    hints = hints ? hints : &own;
    *out = lib_find(kernel, hints);
    if (*out)
        return TS_OK;
    ts__lock_take(&lib_kernels.lock);
    *out = lib_find(kernel, hints); /* another thread may have been faster */
    ts_status status = *out ? TS_OK : lib_add(kernel, hints, out, err);
    ts__lock_give(&lib_kernels.lock);
    return status;
}
