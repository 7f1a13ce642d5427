/* SPDX-License-Identifier: Apache-2.0
 *
 * A group as a kernel of tiles. The kernel depends on structure: functions, dtypes, how many axes are left when they
 * are joined, which places lack which axes and which lie dense along the last one. Extents, strides, addresses and
 * numbers are arguments, so a new size needs no new kernel.
 *
 *     axes     (2000, 3, 500) dense everywhere            -> (3000000)
 *              (2000, 500) + (500)                        -> (2000, 500), the second place lacks axis 0
 *     tile     last axis up to 16, 64, 256 or 1024 wide; what is left of 1024 along the axes before
 *              (2000, 500) with a place that lies transposed: squares
 *     grid     tiles of the last axis, of the axis before, all others together; all of them where those are too many
 *
 * group_build.c writes what such a kernel reads, computes and stores.
 */
#include "ir/ir.h"
#include "numeric/group.h"

enum {
    GROUP_GRID = 65535,          /* blocks along the second and third axis of a GPU's grid */
    GROUP_BLOCK_WORDS = 1 << 12, /* of a row, of 4 bytes, that a block of a cluster holds */
    GROUP_WARP_ELEMENTS = 1 << 10, /* of a row, narrower than a word, that a warp holds .. */
    GROUP_BLOCK_WARPS = 16,        /* .. of so many at most in a block */
    GROUP_FEW_NODES = 12,
    GROUP_ROWS = 8,        /* up to which a tile has all of them, where they read the same one */
    GROUP_NEIGHBOURS = 64, /* elements of a row, of tiles of several */
    GROUP_HEAVY = 4,       /* functions of floats alone, from which on instructions bound a kernel .. */
    GROUP_LONG = 6,        /* .. and memory no longer does */
    GROUP_MANY = 1 << 24,  /* elements, for which a kernel of their own pays */
    GROUP_BLOCK_BYTES = 1 << 12 /* that a block moves at least: a GPU starts 1.6 blocks a nanosecond */
};

/* ---- axes ---------------------------------------------------------------------------------------- */

static int64_t axes_size(int64_t x)
{
    return x < 0 ? -x : x;
}

/* Whether axis a steps less than axis b: by the first place where they differ, what is written first. */
static bool axes_is_inner(const nd_axes *axes, uint32_t n, uint32_t a, uint32_t b)
{
    for (uint32_t p = n; p-- > 0;) {
        int64_t x = axes_size(axes->stride[p][a]), y = axes_size(axes->stride[p][b]);
        if (x && y && x != y)
            return x < y;
    }
    return a > b;
}

static void axes_swap(nd_axes *axes, uint32_t n, uint32_t a, uint32_t b)
{
#define SWAP(x, y)          \
    do {                    \
        int64_t keep = (x); \
        (x) = (y);          \
        (y) = keep;         \
    } while (0)
    bool folded = axes->folded[a];
    axes->folded[a] = axes->folded[b];
    axes->folded[b] = folded;
    SWAP(axes->extent[a], axes->extent[b]);
    for (uint32_t p = 0; p < n; p++)
        SWAP(axes->stride[p][a], axes->stride[p][b]);
#undef SWAP
}

static void axes_sort(nd_axes *axes, uint32_t n)
{
    for (uint32_t i = 1; i < axes->rank; i++)
        for (uint32_t k = i; k > 0 && axes_is_inner(axes, n, k - 1, k); k--)
            axes_swap(axes, n, k - 1, k);
}

/* Axis d and the one after it are one where every place steps over the second as a whole. */
static void axes_join(nd_axes *axes, uint32_t n)
{
    uint32_t last = 0;
    for (uint32_t d = 1; d < axes->rank; d++) {
        bool one = axes->folded[last] == axes->folded[d];
        for (uint32_t p = 0; p < n && one; p++)
            one = axes->stride[p][last] == axes->stride[p][d] * axes->extent[d];
        last += !one;
        axes->extent[last] = one ? axes->extent[last] * axes->extent[d] : axes->extent[d];
        axes->folded[last] = axes->folded[d];
        for (uint32_t p = 0; p < n; p++)
            axes->stride[p][last] = axes->stride[p][d];
    }
    axes->rank = axes->rank ? last + 1 : 0;
}

bool ts__nd_axes_of(const nd_group *group, uint64_t folded, nd_axes *axes)
{
    axes->rank = 0;
    for (uint32_t d = 0; d < group->rank; d++) {
        if (group->shape[d] == 1)
            continue;
        axes->folded[axes->rank] = folded >> d & 1;
        for (uint32_t p = 0; p < group->n_places; p++) {
            int64_t item = (int64_t)ts_dtype_bytes((ts_dtype)group->places[p].dtype);
            if (group->places[p].strides[d] % item)
                return false;
            axes->stride[p][axes->rank] = group->places[p].strides[d] / item;
        }
        axes->extent[axes->rank++] = group->shape[d];
    }
    if (!group->in_order)
        axes_sort(axes, group->n_places);
    axes_join(axes, group->n_places);
    if (!axes->rank) {
        axes->rank = 1;
        axes->extent[0] = 1;
        axes->folded[0] = false;
        for (uint32_t p = 0; p < group->n_places; p++)
            axes->stride[p][0] = group->places[p].store ? 1 : 0;
    }
    return axes->rank <= TS_MAX_RANK;
}

/* ---- shape of the kernel ------------------------------------------------------------------------- */

static void kernel_count_tiles(group_kernel *k)
{
    for (uint32_t d = 0; d < k->axes.rank; d++)
        k->n_tiles[d] = (k->axes.extent[d] + k->tile[d] - 1) / k->tile[d];
}

/* Elements of a tile along the last of several axes: few of them are beyond its end. */
static int64_t kernel_width(int64_t inner, int64_t most)
{
    int64_t width = inner <= 16 ? nd_up(inner) : most;
    for (; width > 64; width /= 4) {
        int64_t whole = (inner + width - 1) / width * width;
        if (whole - inner <= whole / 8)
            break;
    }
    return width;
}

/* Elements of a tile of 4 bytes each, more where the places, or those that are read alone, hold narrow ones. */
static int64_t kernel_elements(const group_kernel *k, bool reads)
{
    uint32_t item = 1;
    for (uint32_t p = 0; p < k->group->n_places; p++)
        if (!reads || !k->group->places[p].store)
            item = TS_MAX(item, (uint32_t)ts_dtype_bytes((ts_dtype)k->group->places[p].dtype));
    return item < 4 ? ND_TILE * 4 / item : ND_TILE;
}

static void kernel_tiles(group_kernel *k, int64_t elements)
{
    uint32_t r = k->axes.rank;
    int64_t inner = k->axes.extent[r - 1], left = elements;
    for (uint32_t d = 0; d < r; d++)
        k->tile[d] = 1;
    k->tile[r - 1] = r > 1 ? kernel_width(inner, elements) : inner <= 128 ? 128 : elements;
    left /= k->tile[r - 1];
    for (uint32_t d = r - 1; d-- > 0 && left > 1; left /= k->tile[d])
        k->tile[d] = k->axes.extent[d] < left ? TS_MIN(TS_MIN(left, 8), nd_up(k->axes.extent[d])) : left;
    kernel_count_tiles(k);
}

void ts__nd_kernel_tiles(group_kernel *k)
{
    kernel_tiles(k, ND_TILE);
}

/* The axis before the last along which some place lies dense, while another does along the last one; 0 in *found: there
 * is none. */
static bool kernel_is_turned(const group_kernel *k, uint32_t *found)
{
    uint32_t r = k->axes.rank;
    bool straight = false, turned = false;
    for (uint32_t p = 0; p < k->group->n_places; p++) {
        straight |= k->axes.stride[p][r - 1] == 1;
        for (uint32_t d = 0; d + 1 < r && !turned; d++)
            if (k->axes.stride[p][d] == 1 && k->axes.stride[p][r - 1] > 1 && k->axes.extent[d] >= ND_SQUARE / 4) {
                turned = true;
                *found = d;
            }
    }
    return straight && turned && k->axes.extent[r - 1] >= ND_SQUARE / 4;
}

/* Squares where places lie transposed to each other, so that all are read and written along lines of memory. */
static bool kernel_turned_tiles(group_kernel *k)
{
    uint32_t r = k->axes.rank, d = 0, bytes = 0;
    if (!kernel_is_turned(k, &d))
        return false;
    for (uint32_t p = 0; p < k->group->n_places; p++)
        bytes = TS_MAX(bytes, (uint32_t)ts_dtype_bytes((ts_dtype)k->group->places[p].dtype));
    for (; d + 2 < r; d++)
        axes_swap(&k->axes, k->group->n_places, d, d + 1);
    for (d = 0; d + 2 < r; d++)
        k->tile[d] = 1;
    k->tile[r - 2] = k->tile[r - 1] = bytes > 4 ? ND_SQUARE / 2 : ND_SQUARE;
    kernel_count_tiles(k);
    return true;
}

void ts__nd_kernel_walk_tiles(group_kernel *k, int64_t width)
{
    uint32_t r = k->axes.rank;
    int64_t elements = kernel_elements(k, true);
    width = elements > ND_TILE ? 2 * width : width;
    kernel_tiles(k, elements);
    if (r < 2 || k->axes.folded[r - 1] || !k->axes.folded[r - 2] || k->tile[r - 1] < width)
        return;
    k->tile[r - 1] = width;
    k->tile[r - 2] = TS_MIN(nd_up(k->axes.extent[r - 2]), elements / width);
    kernel_count_tiles(k);
}

/* Tiles that hold whole rows, which lie along the folded axes; where they fill them (rows of 2^n elements), none of
 * their elements is asked for whether it is inside. */
static void kernel_row_tiles(group_kernel *k)
{
    uint32_t r = k->axes.rank;
    int64_t left = ND_TILE;
    for (uint32_t d = 0; d < r; d++) {
        k->tile[d] = k->axes.folded[d] ? nd_up(k->axes.extent[d]) : 1;
        left = TS_MAX(left / k->tile[d], 1);
    }
    left = k->axes.folded[r - 1] ? left : TS_MAX(left, ND_COLUMN); /* neighbours are read together */
    for (uint32_t d = r; d-- > 0 && left > 1;)
        if (!k->axes.folded[d]) {
            k->tile[d] = TS_MIN(left, nd_up(k->axes.extent[d]));
            left /= k->tile[d];
        }
    kernel_count_tiles(k);
    for (uint32_t d = 0; d < r; d++)
        k->whole |= (uint8_t)((k->axes.extent[d] % k->tile[d] == 0) << d);
}

/* Whether a place begins at a multiple of a line, and so do its rows, so that a thread may read a line of it: threads
 * that read elements of a byte or two each move too little. Kernels for host memory do not ask. */
static bool kernel_is_aligned(const group_kernel *k, uint32_t p)
{
    const nd_place *place = &k->group->places[p];
    int64_t item = (int64_t)ts_dtype_bytes((ts_dtype)place->dtype);
    bool on_host = ts_device_caps_of(k->group->graph->device) & TS_DEVICE_HOST_MEMORY;
    bool aligned = !on_host && k->unit[p] < k->axes.rank && (uintptr_t)place->data % ND_LINE == 0;
    for (uint32_t d = 0; d < k->axes.rank && aligned; d++)
        aligned = d == k->unit[p] || k->axes.stride[p][d] * item % ND_LINE == 0;
    return aligned;
}

static bool kernel_has_narrow(const group_kernel *k)
{
    for (uint32_t p = 0; p < k->group->n_places; p++)
        if (ts_dtype_bytes((ts_dtype)k->group->places[p].dtype) < 4)
            return true;
    return false;
}

void ts__nd_kernel_places(group_kernel *k)
{
    uint32_t r = k->axes.rank;
    bool large = false, lines = k->lines || kernel_has_narrow(k);
    for (uint32_t p = 0; p < k->group->n_places; p++) {
        int64_t reach = 0;
        k->lacks[p] = 0;
        k->unit[p] = (uint8_t)r;
        for (uint32_t d = 0; d < r; d++) {
            k->lacks[p] |= (uint8_t)((k->axes.stride[p][d] == 0) << d);
            k->unit[p] = k->axes.stride[p][d] == 1 ? (uint8_t)d : k->unit[p];
            reach += axes_size(k->axes.stride[p][d]) * k->axes.extent[d];
        }
        large |= reach > INT32_MAX;
        k->aligned[p] = lines && kernel_is_aligned(k, p);
    }
    for (uint32_t d = 0; d < r; d++)
        large |= k->axes.extent[d] > INT32_MAX;
    k->index = large ? TS_T_i64 : TS_T_i32;
}

/* ---- arguments and key --------------------------------------------------------------------------- */

void ts__nd_launch_pointer(nd_launch *launch, char *data, ts_buffer *buffer, ts_dtype dtype)
{
    ts_arg *arg = &launch->args[launch->n++];
    uint16_t device = ts_device_id(ts_buffer_device(buffer));
    *arg = (ts_arg){.kind = TS_SPEC_ARRAY, .dtype = (uint8_t)dtype, .device = device, .value.data = data,
                    .buffer = buffer};
}

void ts__nd_launch_scalar(nd_launch *launch, ts_dtype dtype, uint64_t bits)
{
    launch->args[launch->n++] = (ts_arg){.kind = TS_SPEC_SCALAR, .dtype = (uint8_t)dtype, .value.bits = bits};
}

void ts__nd_launch_int(nd_launch *launch, ts_type type, int64_t value)
{
    ts__nd_launch_scalar(launch, type == TS_T_i64 ? TS_DTYPE_int64 : TS_DTYPE_int32, (uint64_t)value);
}

void ts__nd_launch_number(nd_launch *launch, ts_dtype dtype, const uint64_t bits[2])
{
    ts_dtype part = (ts_dtype)ts_dtype_get(dtype)->part;
    if (dtype == TS_DTYPE_bool_)
        ts__nd_launch_scalar(launch, TS_DTYPE_int32, bits[0]);
    else
        ts__nd_launch_scalar(launch, part ? part : dtype, bits[0]);
    if (part)
        ts__nd_launch_scalar(launch, part, bits[1]);
}

uint32_t ts__nd_group_source(const nd_group *group, const nd_node *node, int i)
{
    const nd_in *in = &node->in[i];
    if (in->kind == ND_IN_NODE && !in->node->done)
        return ts__nd_group_index(group, in->node);
    if (in->kind == ND_IN_NUMBER) {
        ts_assert(group->numbers[in->at] == in);
        return ND_GROUP_NODES + ND_GROUP_MEMORY + in->at;
    }
    ts_assert(in->at < group->n_places && !group->places[in->at].store && group->places[in->at].dtype == in->dtype);
    ts_assert(group->places[in->at].data == (in->kind == ND_IN_NODE ? ts_buffer_data(in->node->done) : in->data));
    return ND_GROUP_NODES + in->at;
}

uint32_t ts__nd_group_index(const nd_group *group, const nd_node *node)
{
    ts_assert(node->at < group->n_nodes && group->nodes[node->at] == node);
    (void)group;
    return node->at;
}

static uint32_t group_n_in(const nd_node *node)
{
    return node->n_in + (node->has_where ? 2u : 0u);
}

/* One more byte, of a key whose room was looked at. */
static void key_put(uint8_t **to, uint32_t byte)
{
    ts_assert(byte <= UINT8_MAX);
    *(*to)++ = (uint8_t)byte;
}

void ts__nd_kernel_key(const group_kernel *k, nd_launch *launch)
{
    const nd_group *group = k->group;
    uint8_t *to = launch->key + launch->n_key;
    ts_assert(launch->n_key + 4 + k->axes.rank + 4 * group->n_places + 16 * group->n_nodes <= ND_KEY);
    key_put(&to, k->axes.rank);
    key_put(&to, k->index);
    key_put(&to, k->own | (uint32_t)k->warps << 2);
    for (uint32_t d = 0; d < k->axes.rank; d++)
        key_put(&to, (uint32_t)ts_log2((uint64_t)k->tile[d]) | (k->axes.folded[d] ? 128 : 0));
    for (uint32_t p = 0; p < group->n_places; p++) {
        const nd_place *place = &group->places[p];
        key_put(&to, place->dtype);
        key_put(&to, k->lacks[p]);
        key_put(&to, k->unit[p] | (k->aligned[p] ? 128u : 0));
        key_put(&to, place->store ? ts__nd_group_index(group, place->store) : UINT8_MAX);
    }
    key_put(&to, UINT8_MAX);
    for (uint32_t n = 0; n < group->n_nodes; n++) {
        const nd_node *node = group->nodes[n];
        key_put(&to, node->fn);
        key_put(&to, node->loop);
        key_put(&to, node->dtype);
        key_put(&to, (uint32_t)(node->has_where | node->is_narrow << 1 | node->told << 2));
        key_put(&to, node->fold);
        for (uint32_t i = 0; i < group_n_in(node); i++) {
            key_put(&to, ts__nd_group_source(group, node, (int)i));
            key_put(&to, node->in[i].dtype);
        }
    }
    launch->n_key = (uint32_t)(to - launch->key);
}

bool ts__nd_kernel_has_stride(const group_kernel *k, uint32_t p, uint32_t d)
{
    return !(k->lacks[p] >> d & 1) && d != k->unit[p];
}

void ts__nd_kernel_args(const group_kernel *k, nd_launch *launch)
{
    const nd_group *group = k->group;
    uint32_t r = k->axes.rank;
    for (uint32_t p = 0; p < group->n_places; p++)
        ts__nd_launch_pointer(launch, group->places[p].data, group->places[p].buffer, (ts_dtype)group->places[p].dtype);
    if (group->tells) {
        ts_buffer *flags = group->graph->flags->buffer;
        ts__nd_launch_pointer(launch, ts_buffer_data(flags), flags, TS_DTYPE_uint8);
        group->graph->is_late = true;
    }
    for (uint32_t d = 0; d < r; d++)
        ts__nd_launch_int(launch, k->index, k->axes.extent[d]);
    for (uint32_t p = 0; p < group->n_places; p++)
        for (uint32_t d = 0; d < r; d++)
            if (ts__nd_kernel_has_stride(k, p, d))
                ts__nd_launch_int(launch, k->index, k->axes.stride[p][d]);
    for (uint32_t n = 0; n < group->n_numbers; n++)
        ts__nd_launch_number(launch, (ts_dtype)group->numbers[n]->dtype, group->numbers[n]->bits);
}

bool ts__nd_kernel_is_wide(const group_kernel *k, uint32_t more)
{
    const nd_group *group = k->group;
    uint32_t r = k->axes.rank, n = more + group->tells + r + group->n_places + group->n_numbers;
    for (uint32_t p = 0; p < group->n_places; p++)
        for (uint32_t d = 0; d < r; d++)
            n += ts__nd_kernel_has_stride(k, p, d);
    for (uint32_t i = 0; i < group->n_numbers; i++)
        n += nd_kind((ts_dtype)group->numbers[i]->dtype) == 'c';
    return n > TS_LAUNCH_ARGS;
}

/* ---- the kernel ---------------------------------------------------------------------------------- */

/* Whether rows are folded and not read again: no value as wide as they are is computed of a fold. */
static bool group_reads_once(const nd_group *group)
{
    for (uint32_t n = 0; n < group->n_nodes; n++)
        for (uint32_t i = 0; i < group_n_in(group->nodes[n]) && !group->nodes[n]->is_narrow; i++) {
            const nd_in *in = &group->nodes[n]->in[i];
            if (in->kind == ND_IN_NODE && !in->node->done && in->node->is_narrow)
                return false;
        }
    return true;
}

/* Whether a place has one element for each row. */
static bool kernel_lacks_rows(const group_kernel *k, uint32_t p)
{
    uint32_t folded = 0;
    for (uint32_t d = 0; d < k->axes.rank; d++)
        folded |= (uint32_t)k->axes.folded[d] << d;
    return (k->lacks[p] & folded) == folded;
}

/* Bytes of the widest place, of those that hold whole rows if `rows`. */
static uint32_t kernel_widest(const group_kernel *k, bool rows)
{
    uint32_t most = 1;
    for (uint32_t p = 0; p < k->group->n_places; p++)
        if (!rows || !kernel_lacks_rows(k, p))
            most = TS_MAX(most, (uint32_t)ts_dtype_bytes((ts_dtype)k->group->places[p].dtype));
    return most;
}

/* Registers that a function of whole rows needs for an element beside its value, roughly. */
static uint32_t node_weight(const nd_node *node)
{
    const nd_in *divisor = &node->in[1];
    switch (node->fn) {
    case TS_ND_add: case TS_ND_subtract: case TS_ND_multiply: case TS_ND_square: case TS_ND_negative:
    case TS_ND_absolute: case TS_ND_maximum: case TS_ND_minimum: case TS_ND_select:
        return 0;
    case TS_ND_divide: return divisor->kind == ND_IN_NODE && divisor->node->is_narrow ? 0 : 2; /* one of a row */
    case TS_ND_exp: return 1;
    default: return 2;
    }
}

/* Whether 32 elements of rows narrower than a word fit 64 registers of a thread, with what is computed of them. */
static bool group_fits_threads(const group_kernel *k)
{
    uint32_t loads = 0, weight = 0, bytes = 0;
    for (uint32_t p = 0; p < k->group->n_places; p++)
        loads += !k->group->places[p].store && !kernel_lacks_rows(k, p) && !k->lacks[p];
    for (uint32_t n = 0; n < k->group->n_nodes; n++) {
        const nd_node *node = k->group->nodes[n];
        bool is_whole = !node->is_narrow && !node->fold;
        uint32_t loop = (uint32_t)ts_dtype_bytes((ts_dtype)node->loop);
        weight += is_whole ? node_weight(node) : 0;
        bytes = TS_MAX(bytes, is_whole ? 2 * loop : node->fold ? loop : 0);
    }
    return loads == 1 && weight <= 1 && bytes <= 4;
}

/* Rows narrower than a word that are read again and fit their threads, 32 elements each: one block waits less for
 * itself than blocks of a cluster for each other, so it takes all the warps it may first (H100, softmax of rows of
 * 8,192, 16,384 and 32,768 float16 2,893, 2,111, 1,965 -> 2,991, 2,940, 2,257 GB/s, layer norm of the first two
 * 2,879, 2,729 -> 2,963, 2,964; a copy 2,950). 64 registers let 1,024 threads live on a multiprocessor. Where a GPU has
 * no clusters, threads of one block hold 64 elements of the longest rows and get all the registers that there are. */
static void group_share_narrow(const group_kernel *k, ts_fn *fn, int64_t elements)
{
    bool has_clusters = ts_device_target(k->group->graph->device) >= TS_TARGET_SM90;
    int64_t warps = elements / GROUP_WARP_ELEMENTS, blocks = warps / GROUP_BLOCK_WARPS;
    fn->num_warps = (uint8_t)TS_MIN(warps, GROUP_BLOCK_WARPS);
    fn->num_ctas = (uint8_t)(blocks < 2 ? 0 : blocks);
    fn->max_registers = blocks < 2 || has_clusters ? 64 : 0;
}

/* Long rows are shared by the blocks of a cluster, 32 words a thread (python/tessera/lib/_rows.py measured it); GPUs
 * without clusters give one block more warps. Where few values live at once, blocks get registers for six of them on a
 * multiprocessor: layer norm of rows of 16,384 and 32,768 gains 5 and 8 % (H200), softmax nothing. Rows that are read
 * once need no room for what is computed of them (H200, sums of rows of 16,384 float16: 3,698 -> 4,221 GB/s), but a
 * block of few warps for results that are wider (of 4,096 int8: 1,272 -> 1,843). Two blocks wait longer for each other
 * than one of 16 warps for itself where elements are narrow (softmax of rows of 8,192 float16: 1,329 -> 2,175). */
static void group_share(const group_kernel *k, ts_fn *fn)
{
    int64_t words = 1;
    bool once = group_reads_once(k->group);
    uint32_t least = once ? 1 : 4, widest = kernel_widest(k, once);
    for (uint32_t d = 0; d < k->axes.rank; d++)
        words *= k->tile[d];
    int64_t blocks = words * TS_MAX(widest, least) / 4 / GROUP_BLOCK_WORDS;
    int64_t wide = words * TS_MAX(kernel_widest(k, false), least) / 4 / GROUP_BLOCK_WORDS;
    if (!k->group->rows || wide < 2)
        return;
    if (!once && widest < 4 && group_fits_threads(k)) {
        group_share_narrow(k, fn, words);
        return;
    }
    if (blocks < 2 || (blocks == 2 && !once && widest < 4)) {
        fn->num_warps = (uint8_t)(blocks < 2 ? TS_MIN(2 * wide, 8) : 16);
        return;
    }
    fn->num_ctas = (uint8_t)TS_MIN(blocks, 8);
    fn->num_warps = (uint8_t)(blocks > 8 ? 8 : 4);
    fn->occupancy = k->group->n_nodes <= GROUP_FEW_NODES && blocks <= 8 ? 6 : 0;
}

static void group_write(void *user, ts_module *module, ts_builder *b)
{
    const group_kernel *k = user;
    const ts_alloc *alloc = k->group->graph->alloc;
    group_build *g = ts__nd_build_begin(k, "elementwise", module, b);
    if (!g)
        return;
    g->whole = k->whole;
    group_share(k, g->e.fn);
    ts__nd_build_place_in_grid(g, b);
    ts__nd_build_values(g, b);
    if (k->tells_first)
        ts__nd_build_told(g, b);
    for (uint32_t p = 0; p < k->group->n_places; p++)
        if (k->group->places[p].store)
            ts__nd_build_store(g, b, p);
    if (!k->tells_first)
        ts__nd_build_told(g, b);
    ts_term(b, TS_OP_return, 0, NULL);
    ts__delete(alloc, g, sizeof *g);
}

/* ---- running ------------------------------------------------------------------------------------- */

uint64_t ts__nd_group_bytes(const group_kernel *k)
{
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < k->group->n_places; p++) {
        uint64_t n = ts_dtype_bytes((ts_dtype)k->group->places[p].dtype);
        for (uint32_t d = 0; d < k->axes.rank; d++)
            n *= k->lacks[p] >> d & 1 ? 1 : (uint64_t)k->axes.extent[d];
        bytes += n;
    }
    return bytes;
}

void ts__nd_kernel_grid(group_kernel *k, uint32_t own, int64_t grid[3])
{
    uint32_t n = 0;
    grid[0] = grid[1] = grid[2] = 1;
    for (uint32_t d = k->axes.rank; d-- > 0;)
        if (!k->axes.folded[d]) {
            grid[TS_MIN(n, own)] *= k->n_tiles[d];
            n++;
        }
    bool fits = grid[1] <= GROUP_GRID && grid[2] <= GROUP_GRID;
    k->own = (uint8_t)(fits ? own : 0);
    if (!fits) {
        grid[0] *= grid[1] * grid[2];
        grid[1] = grid[2] = 1;
    }
}

/* Of narrow values alone, each is computed once: their shape has extent 1 along the rows. */
static void group_shrink(nd_group *group, int64_t *shape)
{
    for (uint32_t n = 0; n < group->n_nodes; n++)
        if (group->nodes[n]->fold || !group->nodes[n]->is_narrow)
            return;
    for (uint32_t d = 0; d < group->rank; d++)
        shape[d] = group->rows >> d & 1 ? 1 : group->shape[d];
    group->shape = shape;
}

bool ts__nd_group_is_apart(const nd_group *group)
{
    for (uint32_t s = 0; s < group->n_places; s++) {
        const nd_place *to = &group->places[s];
        if (to->buffer->release) /* memory of others, which may be anybody's */
            return false;
        for (uint32_t p = 0; to->store && p < group->n_places; p++)
            if (p != s && group->places[p].buffer == to->buffer && !group->is_apart)
                return false;
    }
    return true;
}

/* Elements of a row of tiles of several rows; 0: of others. Places read neighbours, from one buffer with the same
 * steps, a row or more apart, most of which the block itself has read (H200: five-point stencil 3,229 -> 3,542 GB/s,
 * seven points in three dimensions 2,564 -> 3,128). Or few rows read the same one. */
static int64_t group_tile_row(const group_kernel *k)
{
    uint32_t r = k->axes.rank;
    bool few = r > 1 && k->axes.extent[r - 2] <= GROUP_ROWS && k->tile[r - 1] == ND_TILE;
    for (uint32_t p = 0; p < k->group->n_places && r > 1; p++) {
        if (few && !k->axes.stride[p][r - 2] && k->axes.stride[p][r - 1] == 1)
            return ND_TILE / nd_up(k->axes.extent[r - 2]);
        for (uint32_t q = 0; q < p; q++) {
            const nd_place *a = &k->group->places[p], *b = &k->group->places[q];
            int64_t row = axes_size(k->axes.stride[p][r - 2]) * (int64_t)ts_dtype_bytes((ts_dtype)a->dtype);
            size_t bytes = k->group->rank * sizeof *a->strides;
            if (a->buffer == b->buffer && !a->store && !b->store && a->dtype == b->dtype && row &&
                axes_size(a->data - b->data) >= row / 2 && memcmp(a->strides, b->strides, bytes) == 0)
                return GROUP_NEIGHBOURS;
        }
    }
    return 0;
}

/* Tiles of so many elements of each row, eight elements a thread. */
static void group_row_tiles(group_kernel *k, int64_t row)
{
    uint32_t r = k->axes.rank;
    k->warps = 4;
    for (; k->tile[r - 1] > row; k->tile[r - 2] *= 2)
        k->tile[r - 1] /= 2;
    kernel_count_tiles(k);
}

static uint32_t group_n_heavy(const nd_group *group)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < group->n_nodes; i++)
        n += !strchr(ts_nd_get((ts_nd_fn)group->nodes[i]->fn)->loops, 'i');
    return n;
}

/* Bytes of an element where all places are dense along one axis and begin at lines, on a GPU; 0: they are not. */
static int64_t kernel_dense_bytes(const group_kernel *k)
{
    int64_t bytes = 0;
    if (k->axes.rank > 1 || ts__nd_is_host(k->group->graph))
        return 0;
    for (uint32_t p = 0; p < k->group->n_places; p++) {
        const nd_place *place = &k->group->places[p];
        if (k->axes.stride[p][0] != 1 || (uintptr_t)place->data % ND_LINE)
            return 0;
        bytes += (int64_t)ts_dtype_bytes((ts_dtype)place->dtype);
    }
    return bytes;
}

static void kernel_lines(group_kernel *k, int64_t width, uint8_t warps)
{
    k->tile[k->axes.rank - 1] = width;
    k->warps = warps;
    k->lines = true;
    kernel_count_tiles(k);
}

/* Tiles of many elements, in lines (H200, GB/s; 4 elements a thread of 8 warps before). Memory bounds short kernels:
 * small blocks, of which more end while others begin (four functions in a chain 4,070 -> 4,211). Of heavy functions
 * eight elements a thread share what is not of an element (Black-Scholes 2,279 -> 2,684); a few of them are better off
 * with four of one array (2,444 -> 2,570), and with blocks of one warp if there are several (3,960 -> 3,990). */
static void group_many_tiles(group_kernel *k)
{
    enum { SMALL = ND_TILE / 2, LEAST = ND_TILE / 4 };
    uint32_t heavy = group_n_heavy(k->group);
    int64_t bytes = kernel_dense_bytes(k);
    bool is_lone = heavy < GROUP_HEAVY || k->group->n_places < 3;
    if (heavy < GROUP_LONG && is_lone && bytes * SMALL >= GROUP_BLOCK_BYTES)
        kernel_lines(k, SMALL, 4);
    else if (heavy < GROUP_LONG && !is_lone && bytes * LEAST >= GROUP_BLOCK_BYTES)
        kernel_lines(k, LEAST, 1);
    else if (heavy >= GROUP_HEAVY)
        kernel_lines(k, SMALL, 2);
}

/* The tiles of a group's kernel, its grid, and who writes it. */
static nd_build *group_shape(group_kernel *k, int64_t grid[3])
{
    bool is_turned = !k->group->rows && kernel_turned_tiles(k);
    if (!k->group->rows && !is_turned && ts__nd_loop_fits(k)) {
        ts__nd_loop_grid(k, grid);
        return ts__nd_loop_write;
    }
    if (k->group->rows)
        kernel_row_tiles(k);
    else if (!is_turned) {
        ts__nd_kernel_tiles(k);
        int64_t row = group_tile_row(k);
        if (row)
            group_row_tiles(k, row);
        else if (k->tile[k->axes.rank - 1] == ND_TILE && k->group->nodes[0]->count >= GROUP_MANY)
            group_many_tiles(k);
    }
    ts__nd_kernel_grid(k, 2, grid);
    return group_write;
}

ts_status ts__nd_group_done(const nd_group *group, ts_status status)
{
    for (uint32_t i = 0; i < group->n_nodes && status == TS_OK; i++)
        group->nodes[i]->told = 0;
    return status;
}

ts_status ts__nd_group_run(nd_group *group, ts_error *err)
{
    int64_t shape[TS_ND_RANK], grid[3];
    if (group->rows)
        group_shrink(group, shape);
    group_kernel k; /* as the launch, large and filled as far as it is used */
    nd_launch launch;
    k.group = group;
    k.lines = false;
    k.warps = k.whole = 0;
    launch.n = launch.n_key = 0;
    if (!ts__nd_axes_of(group, group->rows, &k.axes))
        return ts__nd_group_run_flat(group, err);
    launch.apart = ts__nd_group_is_apart(group);
    launch.brief = nd_is_brief(group);
    k.tells_first = group->tells && !launch.apart;
    nd_build *write = group_shape(&k, grid);
    ts__nd_kernel_places(&k);
    if (ts__nd_kernel_is_wide(&k, 0))
        return ts_fail(err, TS_UNSUPPORTED, "a value of arrays that needs more than %d numbers", TS_LAUNCH_ARGS);
    ts__nd_launch_key(&launch, write != group_write ? 'L' : k.tells_first ? 'e' : 'E');
    ts__nd_launch_key(&launch, k.whole);
    ts__nd_kernel_key(&k, &launch);
    ts__nd_kernel_args(&k, &launch);
    group->graph->stats.bytes += ts__nd_group_bytes(&k);
    return ts__nd_group_done(group, ts__nd_launch_run(group->graph, &launch, grid, write, &k, err));
}
