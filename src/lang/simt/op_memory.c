/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the block and of one thread, loads and stores with hints, atomics. What no GPU has as an instruction (the
 * greater of two floats, counters that wrap at a limit) is a loop around compare and swap. Part of the front end
 * (lower.h); rows in simt_op.def.
 */
#include "lang/simt/op.h"

/* ---- arrays of the block, of a thread ------------------------------------------------------------- */

static ts_status memory_dtype(fr *f, const fr_call *c, uint32_t i, ts_dtype *out)
{
    const fr_value *v = &c->arg[i];
    *out = TS_DTYPE_NONE;
    if (v->kind == FR_DTYPE)
        *out = (ts_dtype)v->dtype;
    else if (v->kind == FR_STR)
        *out = strcmp(v->as.text, "bool") == 0 ? TS_DTYPE_bool_ : ts_dtype_find(v->as.text);
    else if (v->kind == FR_BUILTIN)
        *out = strcmp(v->as.text, "int") == 0     ? f->dialect->ints[0]
               : strcmp(v->as.text, "float") == 0 ? f->dialect->real
               : strcmp(v->as.text, "bool") == 0  ? TS_DTYPE_bool_
               : strcmp(v->as.text, "complex") == 0 ? f->dialect->complex
                                                  : TS_DTYPE_NONE;
    if (*out && fr_dtype_bits(*out) >= 8 - 7 * (*out == TS_DTYPE_bool_))
        return TS_OK;
    if (v->kind == FR_STR)
        return fr_error(f, c->at[i], TS_TILETYPE, "Invalid NumPy dtype specified: '%s'\n  help: name "
                        "it, np.float32, or as NumPy's text, \"float32\"", v->as.text);
    return fr_arg_error(f, c, i, "a dtype, such as np.float32");
}

static ts_status memory_extent(fr *f, const fr_call *c, const fr_value *v, int64_t *out)
{
    fr_value room;
    TS_TRY(fr_member_value(f, &v, &room));
    if (!fr_is_int(v, out))
        return fr_error(f, c->at[0], TS_TILETYPE,
                        "%s(): the shape must be an integer or a tuple of them, known at compile time\n  found: %s\n"
                        "  help: use a literal, or a global or closure variable; what only the launch knows is dynamic "
                        "shared memory, shape 0\n"
                        "  note: No implementation of function Function(<function %s.array>) found for signature:\n \n "
                        ">>> array(shape=%s, dtype=%s)",
                        fr_op_name(c), fr_say(f, v), c->op->x == TS_OP_shared_alloc ? "shared" : "local",
                        fr_simt_type_text(f, &c->arg[0]), fr_simt_type_text(f, &c->arg[1]));
    return TS_OK;
}

static ts_status memory_alignment(fr *f, const fr_call *c, uint32_t *out)
{
    int64_t n;
    *out = 0;
    if (!fr_given(c, 2))
        return TS_OK;
    if (!fr_is_int(&c->arg[2], &n))
        return fr_error(f, c->at[2], TS_TILETYPE, "%s(): RequireLiteralValue: the alignment must be a constant integer"
                        "\n  found: %s\n  help: use a literal, or a global or closure variable", fr_op_name(c),
                        fr_say(f, &c->arg[2]));
    const char *wrong = n <= 0 ? "must be positive" : !ts_is_pow2(n) ? "must be a power of 2"
                        : n % 8 ? "must be a multiple of 8" : NULL;
    if (wrong || n > 1024)
        return fr_error(f, c->at[2], TS_TILEVALUE, "Alignment %s: %lld\n  help: it is 8, 16, 32 .. 1024, or left out",
                        wrong ? wrong : "must be at most 1024", (long long)n);
    *out = (uint32_t)n;
    return TS_OK;
}

/* Dynamic shared memory has as many elements as the launch gives it bytes for. */
static ts_status memory_dynamic(fr *f, ts_dtype dtype, const fr_element *element, fr_value *out)
{
    ts_val size = ts_int(&f->b, TS_T_i32, element ? element->bytes : (int64_t)ts_dtype_bytes(dtype));
    fr_value shape = fr_tile(TS_DTYPE_int32, ts_op2(&f->b, TS_OP_divi, ts_shared_dynamic_bytes(&f->b), size, 0));
    ts_val base = ts_shared_dynamic(&f->b, fr_simt_storage(dtype), 0);
    return element ? fr_simt_new_struct_array(f, element, base, 1, &shape, out)
                   : fr_simt_new_array(f, dtype, base, 1, &shape, out);
}

/* Of values of a class that says how they are kept (python/tessera/cuda/_models.py). */
static ts_status memory_of_class(fr *f, const fr_call *c, fr_value *out, bool *done)
{
    const char *name = c->op->x == TS_OP_shared_alloc ? "__shared_places__" : "__local_places__";
    uint32_t member = c->arg[1].kind == FR_MODULE ? fr_record_find(f, c->arg[1].as.object, name) : 0;
    fr_value function;
    *done = member != 0;
    if (!member)
        return TS_OK;
    TS_TRY(fr_record_of_class(f, &c->arg[1], member, &function));
    return fr_call_value(f, &function, c->node, 1, &c->arg[0], out);
}

ts_status fr_simt_memory_array(fr *f, const fr_call *c, fr_value *out)
{
    const fr_value *items = c->arg[0].kind == FR_TUPLE ? c->arg[0].as.items : &c->arg[0];
    uint32_t n = c->arg[0].kind == FR_TUPLE ? c->arg[0].n : 1, align;
    fr_value shape[TS_ARRAY_RANK];
    int64_t extent, total = 1;
    ts_dtype dtype, none;
    bool is_shared = c->op->x == TS_OP_shared_alloc, done;
    TS_TRY(memory_of_class(f, c, out, &done));
    if (done)
        return TS_OK;
    const fr_element *element = c->arg[1].kind == FR_ELEMENT ? c->arg[1].as.element : NULL;
    dtype = TS_DTYPE_uint8;
    if (c->arg[1].kind == FR_MODULE && fr_record_find(f, c->arg[1].as.object, "__stored__")) /* dates */
        TS_TRY(fr_element_of(f, c->arg[1].as.object, &none, &element));
    if (!element)
        TS_TRY(memory_dtype(f, c, 1, &dtype));
    TS_TRY(memory_alignment(f, c, &align));
    if (n > TS_ARRAY_RANK)
        return fr_error(f, c->at[0], TS_TILETYPE, "%s(): an array of more than %d axes\n  help: put axes "
                        "together, and index with i * n + j", fr_op_name(c), TS_ARRAY_RANK);
    for (uint32_t d = 0; d < n; d++) {
        TS_TRY(memory_extent(f, c, &items[d], &extent));
        shape[d] = fr_number(extent);
        total = extent < 0 || extent > INT32_MAX ? -1 : total * extent;
        if (total < 0 || total > INT32_MAX)
            return fr_error(f, c->at[0], TS_TILEVALUE, "array length <= 0, or beyond 2 GiB: %s\n  help: every extent "
                            "is at least 1; large arrays are arguments", fr_say(f, &c->arg[0]));
    }
    if (total == 0 && is_shared && n == 1)
        return memory_dynamic(f, dtype, element, out);
    if (total == 0)
        return fr_error(f, c->at[0], TS_TILEVALUE, "array length <= 0\n  found: %s\n  help: every extent is at "
                        "least 1; shared memory that only the launch knows has the shape 0", fr_say(f, &c->arg[0]));
    uint32_t own = element ? element->bytes : (uint32_t)ts_dtype_bytes(dtype);
    if (total * own > INT32_MAX)
        return fr_error(f, c->at[0], TS_TILEVALUE, "an array beyond 2 GiB: %lld elements of %u bytes\n  help: large "
                        "arrays are arguments of the kernel", (long long)total, own);
    bool is_wide = element || (is_shared && total * own >= 16); /* so that neighbours may be one access */
    uint32_t words[] = {(uint32_t)total * own, TS_MAX(align, is_wide ? 16 : own), 0};
    ts_type type = ts_type_ptr(f->module, fr_simt_storage(dtype), is_shared ? TS_SHARED : TS_LOCAL);
    ts_val base = ts_emit(&f->b, (ts_op)c->op->x, type, 0, NULL, ts_pool_add(&f->b, 3, words), 0);
    return element ? fr_simt_new_struct_array(f, element, base, n, shape, out)
                   : fr_simt_new_array(f, dtype, base, n, shape, out);
}

/* ---- one element --------------------------------------------------------------------------------- */

/* Of an element of the array that is argument i. */
static ts_status memory_place(fr *f, const fr_call *c, uint32_t i, const fr_value *index, fr_checks checks,
                              ts_dtype *dtype, ts_val *out)
{
    const fr_value *of = &c->arg[i];
    *dtype = TS_DTYPE_NONE;
    if (of->kind != FR_ARRAY)
        return fr_arg_error(f, c, i, "an array");
    const fr_array *a = of->as.array;
    *dtype = (ts_dtype)a->dtype;
    if (a->element || !fr_simt_is_aligned(a))
        return fr_error(f, c->at[i], TS_TILETYPE, a->element ? "%s() takes an array of numbers\n  found: %s"
                        : "%s() takes numbers that lie at multiples of their size\n  found: %s, at any bytes\n"
                          "  help: make the record's dtype with align=True", fr_op_name(c), fr_say(f, of));
    TS_TRY(fr_simt_address(f, c->node, of, index, checks, out));
    *out = fr_simt_pointer(f, a, *out);
    return TS_OK;
}

/* One integer for each axis. */
static ts_status memory_check_index(fr *f, const fr_call *c, const fr_value *index)
{
    const fr_value *items = index->kind == FR_TUPLE ? index->as.items : index;
    uint32_t n = index->kind == FR_TUPLE ? index->n : 1;
    uint32_t rank = c->arg[0].kind == FR_ARRAY ? c->arg[0].as.array->rank : n;
    if (n != rank)
        return fr_error(f, c->at[1], TS_TILETYPE, "%s(): Expected %u indices, got %s\n  found: %s\n  help: write one "
                        "index for each axis, in a tuple", fr_op_name(c), rank,
                        index->kind == FR_TUPLE ? fr_textf(f, "%u", n) : "a scalar", fr_say(f, index));
    for (uint32_t d = 0; d < n; d++) {
        const fr_value *v = &items[d];
        bool is_constant = v->kind == FR_NUMBER;
        fr_cat cat = is_constant ? (fr_cat)v->cat : v->kind == FR_TILE ? fr_dtype_cat((ts_dtype)v->dtype) : FR_INT;
        if (cat >= FR_FLOAT)
            return fr_error(f, c->at[1], TS_TILETYPE, "%s(): %s is not a valid index\n  found: %s\n  help: convert it "
                            "with int(x)", fr_op_name(c), fr_simt_type_text(f, v), fr_say(f, v));
    }
    return TS_OK;
}

static ts_status memory_address(fr *f, const fr_call *c, const fr_value *index, ts_dtype *dtype, ts_val *out)
{
    return memory_place(f, c, 0, index, FR_CHECKED, dtype, out);
}

ts_status fr_simt_load_hint(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype;
    ts_val address;
    TS_TRY(memory_check_index(f, c, &c->arg[1]));
    TS_TRY(memory_address(f, c, &c->arg[1], &dtype, &address));
    *out = fr_simt_load(f, dtype, address, c->op->x);
    return TS_OK;
}

ts_status fr_simt_store_hint(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype;
    ts_val address;
    *out = fr_none();
    TS_TRY(memory_check_index(f, c, &c->arg[1]));
    TS_TRY(memory_address(f, c, &c->arg[1], &dtype, &address));
    return fr_simt_store(f, dtype, address, &c->arg[2], c->op->x);
}

/* ---- neighbours ----------------------------------------------------------------------------------- */

ts_space fr_simt_space(const fr *f, const fr_array *a)
{
    return (ts_space)ts_type_get(f->module, ts_type_of(f->b.fn, a->base))->space;
}

ts_status fr_simt_check_neighbours(fr *f, const fr_call *c, uint32_t i, const fr_value *count, uint32_t align,
                                   ts_val address)
{
    const fr_value *index = &c->arg[i + 1];
    fr_value items[TS_ARRAY_RANK], minus = fr_number(-1), more, last;
    uint32_t n = index->kind == FR_TUPLE ? index->n : 1;
    ts_val unused;
    if (!fr_simt_reports(f, TS_CHECK_BOUNDS))
        return TS_OK;
    TS_TRY(fr_simt_address(f, c->node, &c->arg[i], index, FR_CHECKED, &unused));
    for (uint32_t d = 0; d < n; d++)
        items[d] = index->kind == FR_TUPLE ? index->as.items[d] : *index;
    TS_TRY(fr_simt_binary(f, TS_OPERATOR_Add, count, &minus, (fr_options){0}, &more));
    TS_TRY(fr_simt_binary(f, TS_OPERATOR_Add, &items[n - 1], &more, (fr_options){0}, &items[n - 1]));
    TS_TRY(fr_tuple(f, n, items, &last));
    TS_TRY(fr_simt_address(f, c->node, &c->arg[i], &last, FR_CHECKED, &unused));
    bool shared = fr_simt_space(f, c->arg[i].as.array) == TS_SHARED;
    ts_type word = shared ? TS_T_i32 : TS_T_i64;
    ts_val low = ts_op2(&f->b, TS_OP_andi, ts_cast(&f->b, TS_OP_ptr_to_int, address, word, 0),
                        ts_int(&f->b, word, align - 1), 0);
    const char *text = fr_textf(f, "ValueError: %s(): the elements do not begin at a multiple of %u bytes",
                                fr_op_name(c), align);
    fr_simt_check(f, ts_cmp(&f->b, TS_OP_cmpi, TS_EQ, low, ts_int(&f->b, word, 0), 0),
                  &(fr_fault){.code = TS_FAULT_RAISE, .text = text});
    return TS_OK;
}

ts_status fr_simt_neighbours(fr *f, const fr_call *c, uint32_t i, ts_dtype *dtype, ts_val *out)
{
    int64_t step;
    TS_TRY(memory_place(f, c, i, &c->arg[i + 1], FR_UNCHECKED, dtype, out));
    const fr_array *a = c->arg[i].as.array;
    if (fr_dtype_cat(*dtype) == FR_COMPLEX)
        return fr_arg_error(f, c, i, "an array of numbers that are not complex; x.view(np.float64) shows their parts");
    if (!a->rank || !fr_is_int(&a->stride[a->rank - 1], &step) || step != 1)
        return fr_error(f, c->at[i], TS_TILETYPE, "%s() takes elements that lie side by side along the last axis\n"
                        "  found: %s, which is known to have them at other distances, or not known to have them so\n"
                        "  help: pass an array in C order, as np.ascontiguousarray makes it", fr_op_name(c),
                        fr_say(f, &c->arg[i]));
    return TS_OK;
}

/* Elements of one access, by argument 2 or the values: a power of two, in at most 16 bytes of global or shared memory.
 * */
static ts_status memory_vector(fr *f, const fr_call *c, int64_t n, ts_dtype *dtype, ts_val *address)
{
    fr_value count = fr_number(n);
    uint32_t bytes = c->arg[0].kind == FR_ARRAY ? (uint32_t)ts_dtype_bytes((ts_dtype)c->arg[0].as.array->dtype) : 0;
    if (bytes && (n < 1 || n > 16 || !ts_is_pow2((uint32_t)n) || n * bytes > 16))
        return fr_error(f, c->at[2], TS_TILEVALUE, "%s(): one access has 1, 2, 4, 8 or 16 elements, of 16 bytes at most"
                        "\n  found: %lld of %u bytes each", fr_op_name(c), (long long)n, bytes);
    TS_TRY(fr_simt_neighbours(f, c, 0, dtype, address));
    if (fr_simt_space(f, c->arg[0].as.array) == TS_LOCAL)
        return fr_arg_error(f, c, 0, "an array in global or shared memory; local memory is the thread's registers");
    return fr_simt_check_neighbours(f, c, 0, &count, (uint32_t)n * bytes, *address);
}

ts_status fr_simt_load_vector(fr *f, const fr_call *c, fr_value *out)
{
    int64_t n;
    ts_dtype dtype;
    ts_val address;
    ts_type types[16];
    fr_value items[16];
    if (!fr_is_int(&c->arg[2], &n))
        return fr_arg_error(f, c, 2, "a constant, how many elements");
    TS_TRY(memory_vector(f, c, n, &dtype, &address));
    for (int64_t i = 0; i < n; i++)
        types[i] = fr_simt_storage(dtype);
    ts_val v = ts_emit_multi(&f->b, TS_OP_ld, 1, &address, TS_S(TS_CACHE_NONE, n, 0), 0, (uint32_t)n, types);
    for (int64_t i = 0; i < n; i++)
        items[i] = fr_simt_loaded(f, dtype, v + 1 + (ts_val)i);
    return fr_tuple(f, (uint32_t)n, items, out);
}

ts_status fr_simt_store_vector(fr *f, const fr_call *c, fr_value *out)
{
    const fr_value *values = &c->arg[2];
    ts_dtype dtype;
    ts_val x[17];
    *out = fr_none();
    if (values->kind != FR_TUPLE)
        return fr_arg_error(f, c, 2, "a tuple of numbers");
    TS_TRY(memory_vector(f, c, values->n, &dtype, &x[0]));
    for (uint32_t i = 0; i < values->n; i++)
        TS_TRY(fr_simt_stored(f, dtype, &values->as.items[i], &x[1 + i]));
    ts_emit(&f->b, TS_OP_st, TS_T_none, 1 + values->n, x, TS_S(TS_CACHE_NONE, values->n, 0), 0);
    return TS_OK;
}

ts_status fr_simt_prefetch(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype;
    ts_val address;
    *out = fr_none();
    TS_TRY(memory_address(f, c, &c->arg[1], &dtype, &address));
    if (fr_simt_space(f, c->arg[0].as.array) != TS_GLOBAL)
        return fr_arg_error(f, c, 0, "an array in global memory");
    ts_emit(&f->b, TS_OP_prefetch, TS_T_none, 1, &address, 0, 0);
    return TS_OK;
}

/* ---- atomics -------------------------------------------------------------------------------------- */

enum { MEMORY_RELAXED = TS_M_ORDER(TS_RELAXED) | TS_M_SCOPE(TS_SCOPE_DEVICE) };

static bool memory_is_word(ts_dtype dtype)
{
    return fr_dtype_is_int(dtype) && fr_dtype_bits(dtype) >= 32;
}

static ts_status memory_refused(fr *f, const fr_call *c, ts_dtype dtype, const char *takes)
{
    return fr_error(f, c->at[0], TS_TILETYPE, "%s() does not exist for %s\n  help: it takes %s", fr_op_name(c),
                    ts_dtype_name(dtype), takes);
}

/* The value that a loop of compare and swap writes for what it found. */
typedef ts_val memory_next(fr *f, const fr_call *c, ts_dtype dtype, ts_val old, ts_val value);

static ts_val memory_cast_bits(fr *f, ts_val v, ts_type type)
{
    return ts_type_of(f->b.fn, v) == type ? v : ts_cast(&f->b, TS_OP_bitcast, v, type, 0);
}

/* Memory of one thread: nobody else sees it. GPUs have no atomics there. */
static bool memory_is_own(const fr *f, ts_val address)
{
    return ts_type_get(f->module, ts_type_of(f->b.fn, address))->space == TS_LOCAL;
}

static ts_val memory_changed(fr *f, ts_rmw mode, ts_val old, ts_val value)
{
    ts_builder *b = &f->b;
    switch (mode) {
    case TS_RMW_ADD:
        return ts_op2(b, TS_OP_addi, old, value, 0);
    case TS_RMW_ADDF:
        return ts_op2(b, TS_OP_addf, old, value, 0);
    case TS_RMW_AND:
        return ts_op2(b, TS_OP_andi, old, value, 0);
    case TS_RMW_OR:
        return ts_op2(b, TS_OP_ori, old, value, 0);
    case TS_RMW_XOR:
        return ts_op2(b, TS_OP_xori, old, value, 0);
    case TS_RMW_MAX:
    case TS_RMW_UMAX:
        return ts_op2(b, TS_OP_maxi, old, value, mode == TS_RMW_MAX ? 0 : TS_A_UNSIGNED);
    case TS_RMW_MIN:
    case TS_RMW_UMIN:
        return ts_op2(b, TS_OP_mini, old, value, mode == TS_RMW_MIN ? 0 : TS_A_UNSIGNED);
    default: /* XCHG */
        return value;
    }
}

static ts_val memory_loop(fr *f, const fr_call *c, ts_dtype dtype, ts_val address, ts_val value, memory_next *next)
{
    ts_builder *b = &f->b;
    if (memory_is_own(f, address)) {
        ts_val was = ts_load(b, address, TS_CACHE_NONE);
        ts_store(b, address, next(f, c, dtype, was, value), TS_CACHE_NONE);
        return was;
    }
    ts_type word = fr_dtype_bits(dtype) == 64 ? TS_T_i64 : TS_T_i32, pointer = ts_type_of(b->fn, address);
    ts_type to = ts_type_ptr(f->module, word, (ts_space)ts_type_get(f->module, pointer)->space);
    ts_val place = pointer == to ? address : ts_cast(b, TS_OP_ptr_to_ptr, address, to, 0);
    ts_val first = ts_load(b, place, TS_CACHE_RELAXED);
    ts_val loop = ts_loop_begin(b, 1, &first), old = ts_region_arg(b->fn, loop, 0);
    ts_val made = next(f, c, dtype, memory_cast_bits(f, old, fr_ir(dtype)), value);
    ts_val got = ts_atomic_cas(b, place, old, memory_cast_bits(f, made, word), MEMORY_RELAXED);
    ts_val guard = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_NE, got, old, 0));
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_else(b);
    ts_term(b, TS_OP_break, 1, &old);
    ts_end(b, guard, 0, NULL);
    ts_term(b, TS_OP_continue, 1, &got);
    ts_end_like(b, loop);
    return memory_cast_bits(f, b->fn->inst.n - 1, fr_ir(dtype));
}

/* The greater or lesser one; with a NaN what was there, but for nanmax and nanmin a number before a NaN. */
static ts_val memory_extreme(fr *f, const fr_call *c, ts_dtype dtype, ts_val old, ts_val value)
{
    ts_builder *b = &f->b;
    ts_pred pred = c->op->x == TS_RMW_MAX ? TS_GT : TS_LT;
    (void)dtype;
    ts_val wins = ts_cmp(b, TS_OP_cmpf, pred, value, old, 0);
    if (c->op->y)
        wins = ts_op2(b, TS_OP_ori, wins, ts_cmp(b, TS_OP_cmpf, TS_NE, old, old, TS_A_UNORDERED), 0);
    return ts_select(b, wins, value, old);
}

static ts_val memory_wrapped(fr *f, const fr_call *c, ts_dtype dtype, ts_val old, ts_val value)
{
    ts_builder *b = &f->b;
    ts_val zero = ts_int(b, fr_ir(dtype), 0), one = ts_int(b, fr_ir(dtype), 1);
    if (!c->op->x)
        return ts_select(b, ts_cmp(b, TS_OP_cmpi, TS_GE, old, value, TS_A_UNSIGNED), zero,
                         ts_op2(b, TS_OP_addi, old, one, 0));
    ts_val ends = ts_op2(b, TS_OP_ori, ts_cmp(b, TS_OP_cmpi, TS_EQ, old, zero, 0),
                         ts_cmp(b, TS_OP_cmpi, TS_GT, old, value, TS_A_UNSIGNED), 0);
    return ts_select(b, ends, value, ts_op2(b, TS_OP_subi, old, one, 0));
}

static ts_val memory_rmw(fr *f, uint32_t mode, ts_val address, ts_val value)
{
    if (memory_is_own(f, address)) {
        ts_val was = ts_load(&f->b, address, TS_CACHE_NONE);
        ts_store(&f->b, address, memory_changed(f, (ts_rmw)mode, was, value), TS_CACHE_NONE);
        return was;
    }
    return ts_atomic(&f->b, (ts_rmw)mode, address, value, MEMORY_RELAXED);
}

ts_status fr_simt_atomic(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype;
    ts_val address, value;
    uint32_t mode = c->op->x;
    TS_TRY(memory_address(f, c, &c->arg[1], &dtype, &address));
    bool real = fr_dtype_is_float(dtype), adds = mode == TS_RMW_ADD, orders = mode == TS_RMW_MAX || mode == TS_RMW_MIN;
    if (!memory_is_word(dtype) && !(real && (adds || (fr_dtype_bits(dtype) >= 32 && (orders || mode == TS_RMW_XCHG)))))
        return memory_refused(f, c, dtype, adds     ? "integers of 32 and 64 bits and floats"
                                           : orders ? "integers of 32 and 64 bits, float32 and float64"
                                                    : "integers of 32 and 64 bits");
    TS_TRY(fr_simt_cast(f, &c->arg[2], dtype, &value));
    if (adds && c->op->y)
        value = ts_op1(&f->b, real ? TS_OP_negf : TS_OP_negi, value, 0);
    if (real && orders) {
        *out = fr_tile(dtype, memory_loop(f, c, dtype, address, value, memory_extreme));
        return TS_OK;
    }
    if (orders && !fr_dtype_is_signed(dtype))
        mode = mode == TS_RMW_MAX ? TS_RMW_UMAX : TS_RMW_UMIN;
    *out = fr_tile(dtype, memory_rmw(f, real && adds ? TS_RMW_ADDF : mode, address, value));
    return TS_OK;
}

ts_status fr_simt_atomic_wrap(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype;
    ts_val address, value;
    TS_TRY(memory_address(f, c, &c->arg[1], &dtype, &address));
    if (dtype != TS_DTYPE_uint32 && dtype != TS_DTYPE_uint64)
        return memory_refused(f, c, dtype, "uint32 and uint64");
    TS_TRY(fr_simt_cast(f, &c->arg[2], dtype, &value));
    *out = fr_tile(dtype, memory_loop(f, c, dtype, address, value, memory_wrapped));
    return TS_OK;
}

ts_status fr_simt_atomic_cas(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype;
    ts_val address, old, value;
    bool first = c->op->x != 0; /* compare_and_swap: element 0 */
    fr_value zero = fr_number(0);
    TS_TRY(memory_address(f, c, first ? &zero : &c->arg[1], &dtype, &address));
    if (!memory_is_word(dtype))
        return memory_refused(f, c, dtype, "integers of 32 and 64 bits");
    TS_TRY(fr_simt_cast(f, &c->arg[first ? 1 : 2], dtype, &old));
    TS_TRY(fr_simt_cast(f, &c->arg[first ? 2 : 3], dtype, &value));
    if (memory_is_own(f, address)) {
        ts_val was = ts_load(&f->b, address, TS_CACHE_NONE), same = ts_cmp(&f->b, TS_OP_cmpi, TS_EQ, was, old, 0);
        ts_store(&f->b, address, ts_select(&f->b, same, value, was), TS_CACHE_NONE);
        *out = fr_tile(dtype, was);
        return TS_OK;
    }
    *out = fr_tile(dtype, ts_atomic_cas(&f->b, address, old, value, MEMORY_RELAXED));
    return TS_OK;
}
