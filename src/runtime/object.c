/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads a relocatable ELF object for x86-64 into executable memory: what the CPU device does with the
 * bytes of ts_code, fresh or from the disk cache. No LLVM and no dynamic linker are involved.
 *
 *     image:  allocated read-only sections | one stub (16 bytes) per symbol | page | writable sections
 *             R-X                                                                    RW-
 *
 * The bytes are not trusted: every offset, index and size is checked before use, and only the symbols
 * of object_externals may be left undefined. A stub holds the address of its symbol and, 8 bytes
 * further, a jump to it; the first serves as table entry for GOTPCREL, the second for far calls.
 */
#include "runtime/runtime.h"
#include "runtime/entry.h"

#include <elf.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#define OBJECT_LIMIT ((size_t)1 << 30)
#define OBJECT_STUB 16

typedef struct object {
    const uint8_t *bytes;
    size_t n;
    const Elf64_Shdr *section;
    uint32_t n_sections, n_symbols;
    const Elf64_Sym *symbol;
    const char *names; /* of the symbols; ends in NUL */
    size_t n_names;
    uint64_t *place;  /* offset of each section in the image, UINT64_MAX = not in it */
    uint64_t stubs, code_bytes, image_bytes;
    uint8_t *image;
    ts_error *err;
} object;

/* What generated code may call outside itself. */
static const struct {
    const char *name;
    void (*address)(void);
} object_externals[] = {
#define OBJECT_EXTERNAL(name) {#name, (void (*)(void))name}
    OBJECT_EXTERNAL(memcpy), OBJECT_EXTERNAL(memmove), OBJECT_EXTERNAL(memset), OBJECT_EXTERNAL(fma),
    OBJECT_EXTERNAL(fmaf),   OBJECT_EXTERNAL(floor),   OBJECT_EXTERNAL(floorf), OBJECT_EXTERNAL(ceil),
    OBJECT_EXTERNAL(ceilf),
#define TS_RUNTIME(name) {"ts__rt_" #name, (void (*)(void))ts__rt_##name},
    TS_RUNTIMES
#undef TS_RUNTIME
};

static ts_status object_bad(const object *o, const char *what)
{
    return ts_fail(o->err, TS_PARSE, "object file of %zu bytes is damaged: %s", o->n, what);
}

/* Is [offset, offset + size) inside the file, and aligned for its use? */
static bool object_has(const object *o, uint64_t offset, uint64_t size, uint64_t align)
{
    return offset <= o->n && size <= o->n - offset && (uintptr_t)(o->bytes + offset) % align == 0;
}

/* ---- reading ------------------------------------------------------------------------------------*/

static ts_status object_header(object *o)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)o->bytes;
    if (!object_has(o, 0, sizeof *h, 8) || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
        return object_bad(o, "no ELF header");
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_REL)
        return object_bad(o, "not a 64-bit little-endian relocatable file");
    if (h->e_machine != EM_X86_64)
        return object_bad(o, "made for another processor than x86-64");
    if (h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shnum ||
        !object_has(o, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr), 8))
        return object_bad(o, "section table out of bounds");
    o->section = (const Elf64_Shdr *)(o->bytes + h->e_shoff);
    o->n_sections = h->e_shnum;
    return TS_OK;
}

static ts_status object_names(object *o, uint32_t link)
{
    if (link >= o->n_sections || o->section[link].sh_type != SHT_STRTAB)
        return object_bad(o, "symbol names missing");
    const Elf64_Shdr *s = &o->section[link];
    if (!s->sh_size || !object_has(o, s->sh_offset, s->sh_size, 1) || o->bytes[s->sh_offset + s->sh_size - 1])
        return object_bad(o, "symbol names out of bounds");
    o->names = (const char *)o->bytes + s->sh_offset;
    o->n_names = s->sh_size;
    return TS_OK;
}

static ts_status object_symbols(object *o)
{
    for (uint32_t i = 0; i < o->n_sections; i++) {
        const Elf64_Shdr *s = &o->section[i];
        if (s->sh_type != SHT_SYMTAB)
            continue;
        if (s->sh_entsize != sizeof(Elf64_Sym) || !object_has(o, s->sh_offset, s->sh_size, 8) ||
            s->sh_size / sizeof(Elf64_Sym) > 65536)
            return object_bad(o, "symbol table out of bounds");
        o->symbol = (const Elf64_Sym *)(o->bytes + s->sh_offset);
        o->n_symbols = (uint32_t)(s->sh_size / sizeof(Elf64_Sym));
        return object_names(o, s->sh_link);
    }
    return object_bad(o, "no symbol table");
}

/* ---- placing ------------------------------------------------------------------------------------*/

static uint64_t object_up(uint64_t x, uint64_t align)
{
    return (x + align - 1) / align * align;
}

static bool object_goes_in(const Elf64_Shdr *s)
{
    return (s->sh_flags & SHF_ALLOC) && s->sh_size && s->sh_type != SHT_X86_64_UNWIND;
}

/* Places the sections whose writability is `writable` from *at on. */
static ts_status object_place(object *o, uint64_t writable, uint64_t *at)
{
    for (uint32_t i = 0; i < o->n_sections; i++) {
        const Elf64_Shdr *s = &o->section[i];
        uint64_t align = s->sh_addralign ? s->sh_addralign : 1;
        if (!object_goes_in(s) || (s->sh_flags & SHF_WRITE) != writable)
            continue;
        if (align > 4096 || (align & (align - 1)) || s->sh_size > OBJECT_LIMIT)
            return object_bad(o, "section too large or badly aligned");
        if (s->sh_type != SHT_NOBITS && !object_has(o, s->sh_offset, s->sh_size, 1))
            return object_bad(o, "section contents out of bounds");
        *at = object_up(*at, align);
        o->place[i] = *at;
        *at += s->sh_size;
        if (*at > OBJECT_LIMIT)
            return object_bad(o, "sections too large");
    }
    return TS_OK;
}

static ts_status object_layout(object *o)
{
    uint64_t at = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
    memset(o->place, 0xFF, o->n_sections * sizeof *o->place);
    TS_TRY(object_place(o, 0, &at));
    o->stubs = object_up(at, OBJECT_STUB);
    o->code_bytes = object_up(o->stubs + (uint64_t)o->n_symbols * OBJECT_STUB, page);
    at = o->code_bytes;
    TS_TRY(object_place(o, SHF_WRITE, &at));
    o->image_bytes = object_up(at, page);
    return TS_OK;
}

/* ---- symbols ------------------------------------------------------------------------------------*/

static ts_status object_external(const object *o, const char *name, uint64_t *address)
{
    for (size_t i = 0; i < TS_COUNT(object_externals); i++)
        if (strcmp(object_externals[i].name, name) == 0) {
            *address = (uint64_t)(uintptr_t)object_externals[i].address;
            return TS_OK;
        }
    return ts_fail(o->err, TS_PARSE, "object file wants the symbol '%.80s', which kernels may not use", name);
}

static ts_status object_address(const object *o, uint32_t i, uint64_t *address)
{
    const Elf64_Sym *s = &o->symbol[i];
    if (s->st_name >= o->n_names)
        return object_bad(o, "symbol name out of bounds");
    if (s->st_shndx == SHN_UNDEF)
        return object_external(o, o->names + s->st_name, address);
    if (s->st_shndx >= o->n_sections || o->place[s->st_shndx] == UINT64_MAX ||
        s->st_value > o->section[s->st_shndx].sh_size)
        return object_bad(o, "symbol outside the image");
    *address = (uint64_t)(uintptr_t)o->image + o->place[s->st_shndx] + s->st_value;
    return TS_OK;
}

/* Fills the stub of a symbol: its address, then "jmp *[rip - 14]". Gives the stub's address. */
static uint64_t object_stub(const object *o, uint32_t i, uint64_t address)
{
    static const uint8_t jump[8] = {0xFF, 0x25, 0xF2, 0xFF, 0xFF, 0xFF, 0xCC, 0xCC};
    uint8_t *stub = o->image + o->stubs + (uint64_t)i * OBJECT_STUB;
    memcpy(stub, &address, 8);
    memcpy(stub + 8, jump, 8);
    return (uint64_t)(uintptr_t)stub;
}

/* ---- relocations --------------------------------------------------------------------------------*/

static ts_status object_patch32(const object *o, uint8_t *where, uint64_t target, int64_t addend)
{
    int64_t value = (int64_t)(target + (uint64_t)addend - (uint64_t)(uintptr_t)where);
    if (value != (int32_t)value)
        return object_bad(o, "a relative address does not fit in 32 bits");
    int32_t narrow = (int32_t)value;
    memcpy(where, &narrow, 4);
    return TS_OK;
}

static ts_status object_relocate(const object *o, const Elf64_Rela *r, uint32_t into)
{
    uint32_t i = (uint32_t)ELF64_R_SYM(r->r_info), type = (uint32_t)ELF64_R_TYPE(r->r_info);
    uint64_t size = o->section[into].sh_size, width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4, address;
    if (i >= o->n_symbols || size < width || r->r_offset > size - width)
        return object_bad(o, "relocation out of bounds");
    TS_TRY(object_address(o, i, &address));
    uint8_t *where = o->image + o->place[into] + r->r_offset;
    switch (type) {
    case R_X86_64_64:
        address += (uint64_t)r->r_addend;
        memcpy(where, &address, 8);
        return TS_OK;
    case R_X86_64_PC64:
        address += (uint64_t)r->r_addend - (uint64_t)(uintptr_t)where;
        memcpy(where, &address, 8);
        return TS_OK;
    case R_X86_64_PLT32:
        if (o->symbol[i].st_shndx == SHN_UNDEF)
            address = object_stub(o, i, address) + 8;
        return object_patch32(o, where, address, r->r_addend);
    case R_X86_64_PC32:
        return object_patch32(o, where, address, r->r_addend);
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
        return object_patch32(o, where, object_stub(o, i, address), r->r_addend);
    default:
        return object_bad(o, "relocation of an unknown kind");
    }
}

static ts_status object_relocations(const object *o)
{
    for (uint32_t i = 0; i < o->n_sections; i++) {
        const Elf64_Shdr *s = &o->section[i];
        if (s->sh_type == SHT_REL)
            return object_bad(o, "relocations without addends");
        if (s->sh_type != SHT_RELA || s->sh_info >= o->n_sections || o->place[s->sh_info] == UINT64_MAX)
            continue;
        if (s->sh_entsize != sizeof(Elf64_Rela) || !object_has(o, s->sh_offset, s->sh_size, 8) ||
            o->section[s->sh_info].sh_type == SHT_NOBITS)
            return object_bad(o, "relocation table out of bounds");
        const Elf64_Rela *r = (const Elf64_Rela *)(o->bytes + s->sh_offset);
        for (uint64_t k = 0; k < s->sh_size / sizeof *r; k++)
            TS_TRY(object_relocate(o, &r[k], s->sh_info));
    }
    return TS_OK;
}

/* ---- the whole ----------------------------------------------------------------------------------*/

static ts_status object_fill(object *o)
{
    for (uint32_t i = 0; i < o->n_sections; i++)
        if (o->place[i] != UINT64_MAX && o->section[i].sh_type != SHT_NOBITS)
            memcpy(o->image + o->place[i], o->bytes + o->section[i].sh_offset, o->section[i].sh_size);
    TS_TRY(object_relocations(o));
    if (mprotect(o->image, o->code_bytes, PROT_READ | PROT_EXEC) != 0)
        return ts_fail(o->err, TS_DEVICE, "the system refuses executable memory (mprotect of %zu bytes)",
                       (size_t)o->code_bytes);
    return TS_OK;
}

static ts_status object_entry(const object *o, const char *name, ts_cpu_entry **entry)
{
    for (uint32_t i = 1; i < o->n_symbols; i++) {
        const Elf64_Sym *s = &o->symbol[i];
        uint64_t address;
        if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_name >= o->n_names || s->st_shndx == SHN_UNDEF ||
            strcmp(o->names + s->st_name, name) != 0)
            continue;
        TS_TRY(object_address(o, i, &address));
        if (!(o->section[s->st_shndx].sh_flags & SHF_EXECINSTR) || s->st_value >= o->section[s->st_shndx].sh_size)
            return object_bad(o, "entry is not code");
        *entry = (ts_cpu_entry *)(uintptr_t)address;
        return TS_OK;
    }
    return ts_fail(o->err, TS_PARSE, "object file has no entry '%s'", name);
}

static ts_status object_map(object *o, const char *name, ts_cpu_entry **entry)
{
    TS_TRY(object_layout(o));
    void *image = mmap(NULL, o->image_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (image == MAP_FAILED)
        return ts_fail(o->err, TS_NOMEM, "no memory for code of %zu bytes", (size_t)o->image_bytes);
    o->image = image;
    ts_status status = object_fill(o);
    if (status == TS_OK)
        status = object_entry(o, name, entry);
    if (status != TS_OK)
        munmap(image, o->image_bytes);
    return status;
}

ts_status ts__object_load(const void *bytes, size_t n, const char *name, void **image, size_t *image_bytes,
                         ts_cpu_entry **entry, ts_error *err)
{
    object o = {.bytes = bytes, .n = n, .err = err};
    *image = NULL;
    *image_bytes = 0;
    *entry = NULL;
    TS_TRY(object_header(&o));
    TS_TRY(object_symbols(&o));
    const ts_alloc *alloc = ts_alloc_default();
    size_t table = o.n_sections * sizeof *o.place;
    o.place = alloc->resize(alloc->user, NULL, 0, table);
    if (!o.place)
        return ts_fail(err, TS_NOMEM, "no memory to load an object file");
    ts_status status = object_map(&o, name, entry);
    alloc->resize(alloc->user, o.place, table, 0);
    if (status != TS_OK)
        return status;
    *image = o.image;
    *image_bytes = o.image_bytes;
    return TS_OK;
}

void ts__object_unload(void *image, size_t image_bytes)
{
    if (image)
        munmap(image, image_bytes);
}
