/* SPDX-License-Identifier: Apache-2.0
 *
 * Handles in use without the GIL. A call that drops it enters its streams and events here, so that close() of
 * another thread takes effect at once for Python, and for the library when the last such call is through.
 */
#include "core.h"

static void use_end_now(void *handle, void (*end)(void *handle))
{
    Py_BEGIN_ALLOW_THREADS;
    end(handle);
    Py_END_ALLOW_THREADS;
}

#ifdef Py_GIL_DISABLED

void core_use_begin(core_state *state, core_use *use, const void *one, const void *other)
{
    (void)state, (void)use, (void)one, (void)other;
}

void core_use_end(core_state *state, core_use *use)
{
    (void)state, (void)use;
}

void core_end(core_state *state, void *handle, void (*end)(void *handle), void **kept)
{
    (void)state, (void)end;
    CORE_SET(*kept, handle);
}

#else

void core_use_begin(core_state *state, core_use *use, const void *one, const void *other)
{
    *use = (core_use){state->uses, &state->uses, {one, other}, {NULL, NULL}};
    if (use->next)
        use->next->link = &use->next;
    state->uses = use;
}

void core_use_end(core_state *state, core_use *use)
{
    *use->link = use->next;
    if (use->next)
        use->next->link = use->link;
    for (int i = 0; i < 2 && (use->ends[0] || use->ends[1]); i++)
        if (use->ends[i])
            core_end(state, (void *)(uintptr_t)use->handles[i], use->ends[i], NULL);
}

void core_end(core_state *state, void *handle, void (*end)(void *handle), void **kept)
{
    (void)kept;
    for (core_use *use = state->uses; use; use = use->next)
        for (int i = 0; i < 2; i++)
            if (use->handles[i] == handle) {
                use->ends[i] = end;
                return;
            }
    use_end_now(handle, end);
}

#endif

void core_end_kept(void *kept, void (*end)(void *handle))
{
    if (kept)
        use_end_now(kept, end);
}
