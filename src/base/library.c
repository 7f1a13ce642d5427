/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared libraries that are looked for at run time, so that nothing is linked and we run where they are not: the
 * driver of a GPU, LLVM. What each library offers us is a table (.def) that becomes a struct of pointers and the rows
 * that fill it. Which build of a library is loaded: loaded.c.
 */
#include "base/library.h"
#include <dlfcn.h>

void *ts__library_open(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

const char *ts__library_problem(void)
{
    const char *text = dlerror();
    return text ? text : "no reason was given";
}

void ts__library_close(void *library)
{
    if (library)
        dlclose(library);
}

void ts__library_symbol(void *library, const char *symbol, void *out)
{
    void *found = dlsym(library, symbol);
    memcpy(out, &found, sizeof found);
}

const char *ts__library_file(const void *address)
{
    Dl_info info;
    return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

const char *ts__library_fill(void *library, const ts_library_row *rows, size_t n, ts_library_find *find,
                             const void *user, void *out)
{
    for (size_t i = 0; i < n; i++) {
        void *found = find ? find(user, &rows[i]) : dlsym(library, rows[i].symbol);
        memcpy((char *)out + rows[i].offset, &found, sizeof found);
        if (!found && rows[i].need)
            return rows[i].symbol;
    }
    return NULL;
}
