/* SPDX-License-Identifier: Apache-2.0
 *
 * Which build of a library or program is loaded, from its bytes and not from its file's name, size or time: two
 * installs with equal times differ, and a copy elsewhere is the same. The linker's build id is a hash of what it
 * wrote, so reading it costs nothing; an object without one has its read-only segments hashed (0.3 ms per MiB
 * when nothing of it was in memory).
 */
#include "base/base.h"
#include <link.h>

typedef struct loaded_search {
    uintptr_t address;
    ts_digest id;
} loaded_search;

static bool loaded_holds(const struct dl_phdr_info *object, uintptr_t address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz)
            return true;
    }
    return false;
}

/* The build id in one segment of notes: header, "GNU", the hash. */
static bool loaded_note(const char *at, size_t n, ts_digest *id)
{
    ElfW(Nhdr) note;
    while (n >= sizeof note) {
        memcpy(&note, at, sizeof note);
        size_t name = ((size_t)note.n_namesz + 3) & ~(size_t)3, bytes = ((size_t)note.n_descsz + 3) & ~(size_t)3;
        if (name > n - sizeof note || bytes > n - sizeof note - name)
            return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(at + sizeof note, "GNU", 4) == 0 &&
            note.n_descsz >= 8) {
            *id = ts__digest_of(at + sizeof note + name, note.n_descsz);
            return true;
        }
        at += sizeof note + name + bytes;
        n -= sizeof note + name + bytes;
    }
    return false;
}

/* Segments that are not written to hold the same bytes in every process. */
static ts_digest loaded_hash(const struct dl_phdr_info *object)
{
    ts_digest parts[16] = {{0}};
    int n = 0;
    for (int i = 0; i < object->dlpi_phnum && n < 16; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & (PF_R | PF_W)) == PF_R)
            parts[n++] = ts__digest_of((const void *)(object->dlpi_addr + part->p_vaddr), part->p_filesz);
    }
    return ts__digest_of(parts, sizeof parts);
}

static int loaded_visit(struct dl_phdr_info *object, size_t size, void *user)
{
    loaded_search *search = user;
    (void)size;
    if (!loaded_holds(object, search->address))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_NOTE &&
            loaded_note((const char *)(object->dlpi_addr + part->p_vaddr), part->p_memsz, &search->id))
            return 1;
    }
    search->id = loaded_hash(object);
    return 1;
}

ts_digest ts__loaded_id(const void *address)
{
    loaded_search search = {.address = (uintptr_t)address};
    dl_iterate_phdr(loaded_visit, &search);
    return search.id;
}
