/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan of a product for arrays as they lie: which kernel, its constants and grid, and what is copied before. Arrays
 * are checked first (plan_check), then the machine is asked (plan_machine), an option is taken (gemm_cost.c,
 * gemm_deep.c), and written out for its kernel.
 */
#include "lib/gemm.h"
#include "tessera/array.h"
#include "tessera/device.h"
#include <stdio.h>

#define GEMM_ELEMENTS ((int64_t)1 << 56) /* of one array: counts of tiles and their parts fit 64 bits */
#define GEMM_UNITS ((int64_t)1 << 20)

/* What a plan is made of. */
typedef struct plan_job {
    const ts_gemm_desc *desc;
    gemm_shape shape;
    ts_target target;
    bool tf32, fast; /* what the kernels are told: float32 as tf32, float8 with fast accumulation */
    bool grouped;
} plan_job;

static const char *const plan_names[] = {"a", "b", "c"};

/* ---- checks ---------------------------------------------------------------------------------------- */

static const char *plan_shape_text(const ts_arg *array, char *room, size_t n)
{
    size_t used = (size_t)snprintf(room, n, "(");
    for (uint32_t d = 0; d < array->rank && used < n; d++)
        used += (size_t)snprintf(room + used, n - used, "%s%lld", d ? ", " : "", (long long)array->shape[d]);
    if (used < n)
        snprintf(room + used, n - used, array->rank == 1 ? ",)" : ")");
    return room;
}

static ts_status plan_check_array(const ts_arg *array, const char *name, ts_error *err)
{
    if (!array || array->kind != TS_SPEC_ARRAY)
        return ts_fail(err, array ? TS_TYPE : TS_VALUE, "gemm: %s is %s; pass an array", name,
                       array ? "not an array" : "NULL");
    if (array->dtype == TS_DTYPE_NONE || array->dtype >= TS_DTYPE_COUNT)
        return ts_fail(err, TS_TYPE, "gemm: the dtype of %s is %u; pass a ts_dtype", name, array->dtype);
    if (array->rank < 2 || array->rank > 3)
        return ts_fail(err, TS_SHAPE, "gemm: %s has %u axes, wanted 2, or 3 with a batch", name, array->rank);
    if (!array->shape)
        return ts_fail(err, TS_VALUE, "gemm: the shape of %s is NULL; pass %u extents", name, array->rank);
    int64_t count = 1;
    for (uint32_t d = 0; d < array->rank; d++) {
        int64_t extent = array->shape[d], stride = array->strides ? array->strides[d] : 1;
        if (extent < 0 || extent > GEMM_ELEMENTS || (extent && count > GEMM_ELEMENTS / extent))
            return ts_fail(err, TS_SHAPE, "gemm: extent %lld of %s is out of range; arrays have 0 to 2^56 elements",
                           (long long)extent, name);
        if (stride < 0)
            return ts_fail(err, TS_VALUE, "gemm: axis %u of %s has a negative stride; pass a copy", d, name);
        count *= TS_MAX(extent, 1);
    }
    return TS_OK;
}

static ts_status plan_bad_shape(const char *name, const ts_arg *array, const int64_t *wanted, ts_error *err)
{
    char found[96], text[96];
    ts_arg other = *array;
    other.shape = wanted;
    return ts_fail(err, TS_SHAPE, "gemm: %s has shape %s, wanted %s", name,
                   plan_shape_text(array, found, sizeof found), plan_shape_text(&other, text, sizeof text));
}

/* b and c must have the shapes that follow from a's rows and K and b's columns. */
static ts_status plan_check_shapes(const ts_arg *a, const ts_arg *b, const ts_arg *c, ts_error *err)
{
    bool is_grouped = a->rank == 2 && b->rank == 3 && c->rank == 2;
    uint32_t i = a->rank - 2, j = b->rank - 2;
    if (!is_grouped && (a->rank != b->rank || a->rank != c->rank))
        return ts_fail(err, TS_SHAPE, "gemm: a, b and c have %u, %u and %u axes, wanted 2 or 3 for all; a product of "
                       "groups takes 2, 3 and 2", a->rank, b->rank, c->rank);
    int64_t of_b[3] = {i ? a->shape[0] : b->shape[0]}, of_c[3] = {a->shape[0]};
    of_b[j] = a->shape[i + 1], of_b[j + 1] = b->shape[j + 1];
    of_c[i] = a->shape[i], of_c[i + 1] = b->shape[j + 1];
    if (memcmp(b->shape, of_b, b->rank * sizeof *of_b) != 0)
        return plan_bad_shape("b", b, of_b, err);
    return memcmp(c->shape, of_c, c->rank * sizeof *of_c) != 0 ? plan_bad_shape("c", c, of_c, err) : TS_OK;
}

static bool plan_is_float8(uint8_t dtype)
{
    return dtype == TS_DTYPE_float8_e4m3fn || dtype == TS_DTYPE_float8_e5m2;
}

static bool plan_is_float(uint8_t dtype)
{
    return ts_dtype_get((ts_dtype)dtype)->kind == 'f';
}

static ts_status plan_check_dtypes(const ts_arg *a, const ts_arg *b, const ts_arg *c, ts_error *err)
{
    bool is_int8 = a->dtype == TS_DTYPE_int8;
    if (!is_int8 && !plan_is_float(a->dtype) && !plan_is_float8(a->dtype))
        return ts_fail(err, TS_TYPE, "gemm: a is of %s, wanted int8, float16, bfloat16, float32, float64, "
                       "float8_e4m3fn or float8_e5m2", ts_dtype_name((ts_dtype)a->dtype));
    if (b->dtype != a->dtype)
        return ts_fail(err, TS_TYPE, "gemm: b is of %s, wanted %s, the dtype of a", ts_dtype_name((ts_dtype)b->dtype),
                       ts_dtype_name((ts_dtype)a->dtype));
    bool holds = plan_is_float(c->dtype) || plan_is_float8(c->dtype) ||
                 (is_int8 && (c->dtype == TS_DTYPE_int32 || c->dtype == TS_DTYPE_int64));
    if (holds)
        return TS_OK;
    return ts_fail(err, TS_TYPE, "gemm: c is of %s, which does not hold sums of %s; wanted a float%s",
                   ts_dtype_name((ts_dtype)c->dtype), ts_dtype_name((ts_dtype)a->dtype),
                   is_int8 ? ", int32 or int64" : "");
}

static ts_status plan_check_tile(const ts_gemm_desc *desc, ts_error *err)
{
    const int64_t *tile = desc->tile;
    for (int i = 0; i < 3; i++)
        if (!ts_is_pow2(tile[i]) || tile[i] > 1 << 20)
            return ts_fail(err, TS_VALUE, "gemm: tile is (%lld, %lld, %lld), wanted 3 powers of two",
                           (long long)tile[0], (long long)tile[1], (long long)tile[2]);
    if (desc->a->rank != 2 || desc->b->rank != 2 || desc->flags & TS_GEMM_GELU)
        return ts_fail(err, TS_VALUE, "gemm: a tile can be given for one product without GELU; leave it zero");
    if (desc->group < 0 || desc->group > 1 << 20)
        return ts_fail(err, TS_VALUE, "gemm: group is %lld, wanted 1 to %d, or 0 for 8", (long long)desc->group,
                       1 << 20);
    return TS_OK;
}

static bool plan_has_tile(const ts_gemm_desc *desc)
{
    return desc->tile[0] || desc->tile[1] || desc->tile[2];
}

static ts_status plan_check(const ts_gemm_desc *desc, ts_error *err)
{
    const ts_arg *const arrays[] = {desc->a, desc->b, desc->c};
    for (int i = 0; i < 3; i++)
        TS_TRY(plan_check_array(arrays[i], plan_names[i], err));
    TS_TRY(plan_check_shapes(desc->a, desc->b, desc->c, err));
    TS_TRY(plan_check_dtypes(desc->a, desc->b, desc->c, err));
    if (desc->flags & ~(uint32_t)(TS_GEMM_TF32 | TS_GEMM_PRECISE | TS_GEMM_GELU))
        return ts_fail(err, TS_VALUE, "gemm: flags are 0x%x; give ts_gemm_flags", desc->flags);
    if (desc->flags & TS_GEMM_GELU && (desc->a->rank != 2 || desc->b->rank != 2))
        return ts_fail(err, TS_VALUE, "gemm: GELU is planned for one product, not for a batch or groups");
    if (plan_has_tile(desc))
        TS_TRY(plan_check_tile(desc, err));
    return TS_OK;
}

/* ---- the machine ----------------------------------------------------------------------------------- */

static ts_status plan_check_target(uint32_t target, ts_error *err)
{
    static const struct {
        uint32_t number;
        const char *text;
    } rows[] = {
#define X(name, number, text) {number, #number " (" text ")"},
        TS_TARGETS(X)
#undef X
    };
    char choices[160];
    int n = 0;
    for (size_t i = 0; i < TS_COUNT(rows); i++) {
        if (rows[i].number == target)
            return TS_OK;
        n += snprintf(choices + n, sizeof choices - (size_t)n, "%s%s", i ? ", " : "", rows[i].text);
        ts_assert(n < (int)sizeof choices);
    }
    return ts_fail(err, TS_VALUE, "gemm: target is %u, wanted 0 for that of c's device, or one of %s", target, choices);
}

static ts_status plan_machine(plan_job *job, ts_error *err)
{
    const ts_gemm_desc *desc = job->desc;
    ts_device *device;
    ts_device_info info;
    if (desc->target) {
        TS_TRY(plan_check_target((uint32_t)desc->target, err));
        if (desc->units < 1 || desc->units > GEMM_UNITS)
            return ts_fail(err, TS_VALUE, "gemm: units are %lld, wanted 1 to %lld with a target",
                           (long long)desc->units, (long long)GEMM_UNITS);
        job->target = desc->target;
        job->shape.sms = desc->units;
    } else {
        TS_TRY(ts_device_by_id(desc->c->device, &device, err));
        TS_TRY(ts_device_query(device, &info, err));
        job->target = info.target;
        job->shape.sms = TS_MAX(1, info.units);
    }
    job->shape.clusters = job->target == TS_TARGET_SM90;
    return TS_OK;
}

/* ---- copies ---------------------------------------------------------------------------------------- */

/* Of a matrix. A single row has the stride of dense rows, whatever is said of it: some libraries say 1. */
static int64_t plan_stride(const ts_arg *array, uint32_t axis)
{
    if (axis == 0 && array->shape[0] == 1)
        return (int64_t)((uint64_t)array->shape[1] * (uint64_t)plan_stride(array, 1));
    if (array->strides)
        return array->strides[axis];
    return axis ? 1 : array->shape[1];
}

/* Whether TMA can load a matrix as it is: one axis of unit stride (that of K if `major`), and everything else in units
 * of 16 bytes. `*unit`: that axis, or the one that a copy should have it along. */
static bool plan_lies(const ts_arg *array, int32_t k_axis, bool major, int32_t *unit)
{
    int64_t step = 16 / (int64_t)ts_dtype_bytes((ts_dtype)array->dtype);
    *unit = -1;
    for (int32_t axis = 0; axis < 2; axis++) /* the last one, if both are */
        if (plan_stride(array, (uint32_t)axis) == 1 && (!major || axis == k_axis))
            *unit = axis;
    bool is_aligned = ((uintptr_t)array->value.data & 15) == 0;
    bool lies = *unit >= 0 && is_aligned && plan_stride(array, 1 - (uint32_t)*unit) % step == 0;
    *unit = *unit < 0 ? k_axis : *unit;
    return lies;
}

/* Elements of 16 bits that a copy of 4, 8 or 16 bytes brings at a time of an array as it lies; 1: one. */
static int32_t plan_raw_step(const ts_arg *array, int32_t unit)
{
    int64_t line = plan_stride(array, 1 - (uint32_t)unit), most = 8;
    bool is_aligned = ((uintptr_t)array->value.data & 15) == 0;
    while (most > 1 && (!is_aligned || line % most || plan_stride(array, (uint32_t)unit) != 1))
        most /= 2;
    return (int32_t)most;
}

/* A copy whose lines begin at multiples of 128 bytes, or of 16 where lines are short. */
static ts_gemm_copy plan_copy(const ts_arg *array, int32_t unit)
{
    int64_t bytes = (int64_t)ts_dtype_bytes((ts_dtype)array->dtype), line = array->shape[unit];
    int64_t step = (line * bytes >= GEMM_LONG_LINE ? 128 : 16) / bytes;
    return (ts_gemm_copy){unit, {array->shape[1 - unit], gemm_cdiv(line, step) * step}};
}

/* ---- one product on a GPU -------------------------------------------------------------------------- */

static gemm_kind plan_kind(uint8_t dtype)
{
    return dtype == TS_DTYPE_float32 ? GEMM_FLOAT32 : dtype == TS_DTYPE_float64 ? GEMM_FLOAT64 : GEMM_FLOAT8;
}

/* Whether wgmma takes the operands, as the kernels are told to. */
static bool plan_on_wgmma(const plan_job *job)
{
    uint8_t dtype = job->desc->a->dtype;
    if (dtype == TS_DTYPE_float32 || dtype == TS_DTYPE_float64)
        return job->tf32;
    return job->fast || !plan_is_float8(dtype);
}

/* The cheapest option on wgmma with operands that lie as they do, or copied where `copied` has their bit. */
static double plan_with_copies(plan_job *job, const int32_t unit[2], uint32_t copied, gemm_option *option,
                               ts_gemm_copy copies[2])
{
    const ts_arg *const operands[] = {job->desc->a, job->desc->b};
    int64_t bytes = 0;
    double clocks;
    for (uint32_t i = 0; i < 2; i++) {
        const ts_arg *array = operands[i];
        int64_t line = plan_stride(array, 1 - (uint32_t)unit[i]);
        copies[i] = copied >> i & 1 ? plan_copy(array, unit[i]) : (ts_gemm_copy){.unit = -1};
        line = copies[i].unit < 0 ? line : copies[i].shape[1];
        bytes += copies[i].unit < 0 ? 0 : copies[i].shape[0] * copies[i].shape[1] * job->shape.item_bytes;
        job->shape.across[i] = unit[i] != (i ? 0 : 1);
        job->shape.ragged[i] = line * job->shape.item_bytes % 128 != 0;
    }
    *option = ts__gemm_cheapest(&job->shape, &clocks);
    return clocks + ts__gemm_copying(bytes);
}

/* 65 to 128 rows of 16-bit elements beside a large operand that a cluster of two for each 64 of its columns reads: as
 * rows of the transposed product, with six stages, an H200 takes 0.93 of the time of all other plans, those with more
 * stages among them. Costs know no fewer stages than fit, so this one is a rule. */
static bool plan_is_tall(const gemm_shape *shape, gemm_option *out)
{
    int64_t blocks = 2 * gemm_cdiv(shape->n, 64);
    *out = gemm_option_of(64, 128, 64);
    out->swapped = true, out->ctas = 2, out->stages = 6;
    return shape->clusters && shape->item_bytes == 2 && 64 < shape->m && shape->m <= 128 && shape->k >= 8192 &&
           shape->sms * 3 / 4 <= blocks && blocks <= shape->sms;
}

/* The option for one product on wgmma: operands that TMA cannot read are copied, others where that makes up for lines
 * that begin between multiples of 128 bytes. `*shares`: it does without, and blocks share multiprocessors. */
static gemm_option plan_choose_wgmma(plan_job *job, ts_gemm_plan *out, bool *shares)
{
    bool is_16_bit = job->shape.item_bytes == 2;
    int32_t unit[2];
    uint32_t needed = !plan_lies(job->desc->a, 1, !is_16_bit, &unit[0]);
    needed |= (uint32_t)!plan_lies(job->desc->b, 0, !is_16_bit, &unit[1]) << 1;
    gemm_option best, option;
    double least = plan_with_copies(job, unit, needed, &best, out->copies), clocks;
    uint32_t ragged = (job->shape.ragged[0] ? 1u : 0u) | (job->shape.ragged[1] ? 2u : 0u);
    if (!(needed | ragged) && plan_is_tall(&job->shape, &option))
        return option;
    for (uint32_t more = 1; more < 4; more++) {
        ts_gemm_copy copies[2];
        if (more & (needed | ~ragged))
            continue;
        clocks = plan_with_copies(job, unit, needed | more, &option, copies);
        if (clocks >= least)
            continue;
        least = clocks, best = option;
        memcpy(out->copies, copies, sizeof copies);
    }
    if (!needed || !is_16_bit)
        return best;
    job->shape.raw_step[0] = plan_raw_step(job->desc->a, unit[0]);
    job->shape.raw_step[1] = plan_raw_step(job->desc->b, unit[1]);
    option = ts__gemm_raw(&job->shape, &clocks);
    if (clocks >= least)
        return best;
    out->copies[0].unit = out->copies[1].unit = -1;
    *shares = true;
    return option;
}

/* The option for one product; `*shares`: blocks that make many tiles share multiprocessors. */
static gemm_option plan_choose(plan_job *job, ts_gemm_plan *out, bool *shares)
{
    gemm_kind kind = plan_kind(job->desc->a->dtype);
    gemm_option option;
    *shares = !plan_on_wgmma(job);
    if (!*shares)
        return plan_choose_wgmma(job, out, shares);
    if (!ts__gemm_deep_other(&job->shape, kind, &option))
        return ts__gemm_without_wgmma(&job->shape, kind);
    option.early = job->shape.k < GEMM_EARLY_K; /* others are spread unevenly over multiprocessors that they share */
    return option;
}

/* ---- writing a plan -------------------------------------------------------------------------------- */

static void plan_put(ts_gemm_plan *out, int64_t value)
{
    ts_assert(out->n_constants < TS_GEMM_CONSTANTS);
    out->constants[out->n_constants++] = value;
}

/* The constants in the order of the kernel's parameters. */
static void plan_put_constants(const plan_job *job, const gemm_option *option, ts_gemm_plan *out)
{
    plan_put(out, option->rows);
    plan_put(out, option->cols);
    if (out->kernel == TS_LIB_wide_gemm || out->kernel == TS_LIB_wide_split_gemm)
        plan_put(out, option->more);
    plan_put(out, option->depth);
    plan_put(out, option->pieces > 1 ? option->pieces : option->group);
    if (out->kernel == TS_LIB_raw_gemm || out->kernel == TS_LIB_raw_split_gemm) {
        plan_put(out, job->shape.raw_step[option->swapped]);
        plan_put(out, job->shape.raw_step[!option->swapped]);
    } else if (out->kernel != TS_LIB_gelu_gemm) {
        plan_put(out, job->tf32);
        plan_put(out, job->fast);
    }
    if (out->kernel == TS_LIB_gemm || out->kernel == TS_LIB_batched_gemm || out->kernel == TS_LIB_gelu_gemm)
        plan_put(out, option->tail);
}

static void plan_write(const plan_job *job, const gemm_option *option, ts_lib_kernel kernel, int64_t blocks,
                       ts_gemm_plan *out)
{
    out->kernel = kernel;
    out->flags = option->early ? TS_LAUNCH_PDL : 0;
    out->swapped = option->swapped;
    out->grid[0] = blocks, out->grid[1] = out->grid[2] = 1;
    out->hints.num_ctas = (uint8_t)TS_MAX(option->ctas, option->team);
    out->hints.num_stages = (uint8_t)(option->shared || option->stages ? ts__gemm_stages(option) : 0);
    out->hints.occupancy = option->shared ? 2 : 0;
    plan_put_constants(job, option, out);
}

/* One product on a GPU. */
static void plan_one(plan_job *job, ts_gemm_plan *out)
{
    bool shares;
    gemm_option option = plan_choose(job, out, &shares);
    int64_t m = option.swapped ? job->shape.n : job->shape.m, n = option.swapped ? job->shape.m : job->shape.n;
    int64_t rows = gemm_cdiv(m, option.rows), cols = gemm_cdiv(n, option.cols + option.more), blocks = rows * cols;
    bool is_cut = option.pieces > 1;
    bool is_raw = shares && (job->shape.raw_step[0] > 1 || job->shape.raw_step[1] > 1);
    ts_lib_kernel kernel = is_raw        ? is_cut ? TS_LIB_raw_split_gemm : TS_LIB_raw_gemm
                           : option.more ? is_cut ? TS_LIB_wide_split_gemm : TS_LIB_wide_gemm
                           : is_cut      ? TS_LIB_split_gemm
                           : option.ctas ? TS_LIB_slender_gemm
                                         : TS_LIB_gemm;
    if (!shares && !option.ctas && option.pieces == 1)
        blocks = TS_MIN(blocks, ts__gemm_clusters(job->shape.sms, option.team));
    plan_write(job, &option, kernel, blocks, out);
    if (option.pieces == 1)
        return;
    out->grid[1] = option.pieces;
    out->parts[0] = option.pieces, out->parts[1] = rows * option.rows;
    out->parts[2] = cols * (option.cols + option.more);
}

static bool plan_has_dense_rows(const ts_arg *array)
{
    return !array->strides || array->strides[array->rank - 1] == 1;
}

/* Is this the CPU's product of a matrix, whose rows are dense, and one column? */
static bool plan_is_column(const plan_job *job)
{
    const ts_gemm_desc *desc = job->desc;
    return job->target == TS_TARGET_CPU && desc->a->rank == 2 && desc->b->rank == 2 && job->shape.n == 1 &&
           job->shape.k > 0 && desc->a->strides[1] == 1 && !job->tf32 && !(desc->flags & TS_GEMM_GELU) &&
           !plan_has_tile(desc);
}

/* A few whole rows at a time; more columns than these do not stay in the first cache. */
static void plan_column(const plan_job *job, ts_gemm_plan *out)
{
    enum { COLUMN_ROWS = 4, COLUMN_DEPTH = 4096 };
    int32_t depth = 16;
    while (depth < TS_MIN(job->shape.k, COLUMN_DEPTH))
        depth *= 2;
    gemm_option option = gemm_option_of(COLUMN_ROWS, 1, depth);
    plan_write(job, &option, TS_LIB_column_gemm, gemm_cdiv(job->shape.m, COLUMN_ROWS), out);
}

/* A batch, GELU, the CPU, or a tile that was given: blocks walk over tiles. */
static void plan_walking(const plan_job *job, ts_gemm_plan *out)
{
    const ts_gemm_desc *desc = job->desc;
    const gemm_shape *shape = &job->shape;
    bool is_gpu = job->target != TS_TARGET_CPU, is_given = plan_has_tile(desc);
    bool is_wide = desc->a->dtype != TS_DTYPE_float32 && desc->a->dtype != TS_DTYPE_float64;
    bool wgmma = is_given ? plan_on_wgmma(job) : is_wide;
    ts_lib_kernel kernel = desc->a->rank == 3           ? TS_LIB_batched_gemm
                           : desc->flags & TS_GEMM_GELU ? TS_LIB_gelu_gemm
                                                        : TS_LIB_gemm;
    gemm_option option;
    double clocks;
    if (is_given) {
        option = gemm_option_of((int32_t)desc->tile[0], (int32_t)desc->tile[1], (int32_t)desc->tile[2]);
        option.group = desc->group ? (int32_t)desc->group : option.group;
    } else if (!is_gpu)
        option = ts__gemm_on_cpu(shape);
    else
        option = wgmma ? ts__gemm_cheapest(shape, &clocks) : ts__gemm_without_wgmma(shape, plan_kind(desc->a->dtype));
    int64_t blocks = TS_MAX(1, shape->batch) * gemm_cdiv(shape->m, option.rows) * gemm_cdiv(shape->n, option.cols);
    plan_write(job, &option, kernel, is_gpu && wgmma ? TS_MIN(blocks, shape->sms) : blocks, out);
    if (kernel == TS_LIB_gelu_gemm && shape->k <= GEMM_GELU_SHALLOW)
        out->hints.num_stages = GEMM_GELU_STAGES;
}

/* Rows in groups, whose sizes the device alone knows: as many blocks as it runs at once. */
static void plan_grouped(plan_job *job, ts_gemm_plan *out)
{
    gemm_shape *shape = &job->shape;
    int64_t groups = TS_MAX(1, job->desc->b->shape[0]), threads = shape->sms;
    bool wgmma = plan_on_wgmma(job), is_gpu = job->target != TS_TARGET_CPU;
    shape->m = TS_MAX(1, gemm_cdiv(shape->m, groups));
    gemm_option option = is_gpu ? ts__gemm_grouped(shape, wgmma, plan_kind(job->desc->a->dtype))
                                : ts__gemm_on_cpu(shape);
    plan_write(job, &option, TS_LIB_grouped_gemm, is_gpu && !wgmma ? 2 * threads : threads, out);
}

ts_status ts_gemm_plan_make(const ts_gemm_desc *desc, ts_gemm_plan *out, ts_error *err)
{
    TS_NEED(err, desc, out);
    *out = (ts_gemm_plan){.hints.opt_level = TS_OPT_LEVEL, .copies = {{.unit = -1}, {.unit = -1}}};
    TS_TRY(plan_check(desc, err));
    const ts_arg *a = desc->a, *b = desc->b;
    plan_job job = {.desc = desc, .grouped = a->rank == 2 && b->rank == 3};
    job.tf32 = desc->flags & TS_GEMM_TF32 && a->dtype == TS_DTYPE_float32;
    job.fast = !(desc->flags & TS_GEMM_PRECISE) && plan_is_float8(a->dtype);
    job.shape = (gemm_shape){.m = a->shape[a->rank - 2], .n = b->shape[b->rank - 1], .k = a->shape[a->rank - 1],
                             .batch = a->rank == 3 ? TS_MAX(1, a->shape[0]) : 0,
                             .item_bytes = (int64_t)ts_dtype_bytes((ts_dtype)a->dtype),
                             .after = desc->flags & TS_GEMM_GELU ? GEMM_GELU_AFTER : 1};
    TS_TRY(plan_machine(&job, err));
    job.shape.trims = job.shape.item_bytes >= 4 && !job.tf32 && a->rank == 2 && b->rank == 2 &&
                      plan_has_dense_rows(a) && plan_has_dense_rows(b);
    out->sums = a->dtype == TS_DTYPE_int8 ? TS_DTYPE_int32 : a->dtype == TS_DTYPE_float64 ? TS_DTYPE_float64
                                                                                          : TS_DTYPE_float32;
    bool is_empty = !job.shape.m || !job.shape.n || (a->rank == 3 && !a->shape[0]);
    bool is_plain = a->rank == 2 && !(desc->flags & TS_GEMM_GELU) && !plan_has_tile(desc);
    if (job.grouped)
        plan_grouped(&job, out);
    else if (plan_is_column(&job))
        plan_column(&job, out);
    else if (is_plain && job.target != TS_TARGET_CPU && !is_empty)
        plan_one(&job, out);
    else
        plan_walking(&job, out);
    if (is_empty)
        out->grid[0] = 0;
    return TS_OK;
}

size_t ts_gemm_constants(const ts_gemm_plan *plan, ts_arg out[TS_GEMM_CONSTANTS])
{
    ts_kernel_desc kernel;
    size_t n = TS_MIN(plan->n_constants, (uint32_t)TS_GEMM_CONSTANTS);
    if (ts_lib_kernel_desc(plan->kernel, &kernel, NULL) != TS_OK)
        return 0;
    for (size_t i = 0; i < n; i++) {
        bool is_bool = kernel.params[kernel.n_params - n + i].flags & TS_PARAM_BOOL;
        out[i] = (ts_arg){.kind = is_bool ? TS_SPEC_BOOL : TS_SPEC_INT, .value.i = plan->constants[i]};
    }
    return n;
}
