/* SPDX-License-Identifier: Apache-2.0
 *
 * DLPack, both ways. An exported tensor holds a reference to its array, lends its buffer (so that it is
 * not freed meanwhile) and carries its own shape; its deleter needs no interpreter and may run in any
 * thread. An imported one becomes a buffer whose release calls the owner's deleter.
 */
#include "array/array.h"
#include "array/layout.h"

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13, DL_MAJOR = 1, DL_MINOR = 0 };

/* ---- dtypes and devices ---------------------------------------------------------------------------- */

enum { DLPACK_NO_CODE = 255 };

static bool dlpack_has(ts_dtype dtype)
{
    const ts_dtype_info *info = ts_dtype_get(dtype);
    return info->dlpack != DLPACK_NO_CODE && info->bits == 8 * info->bytes; /* float4: two to a byte are not ours */
}

/* Part of every launch with a tensor. */
static ts_dtype dlpack_dtype(ts_dl_dtype type)
{
    enum { NOT_OURS = 1 << 16 };
    switch (type.code << 8 | type.bits) {
#define TS_DTYPE(name, scalar, kind, bytes, bits, sign, dlpack, ...) \
    case dlpack != DLPACK_NO_CODE && bits == 8 * bytes ? (dlpack << 8 | bits) : NOT_OURS + TS_DTYPE_##name: \
        return TS_DTYPE_##name;
#include "tessera/dtype.def"
    default:
        return TS_DTYPE_NONE;
    }
}

/* The address of element 0; of a tensor without memory there is none, whatever its offset. */
static void *dlpack_data(const ts_dl_tensor *tensor)
{
    return tensor->data ? (void *)((uintptr_t)tensor->data + tensor->byte_offset) : NULL;
}

static ts_layout dlpack_layout(const ts_dl_tensor *tensor)
{
    uint32_t bytes = TS_MAX(1u, (tensor->dtype.bits * (uint32_t)tensor->dtype.lanes + 7) / 8);
    return (ts_layout){dlpack_data(tensor), tensor->ndim, bytes, bytes, tensor->shape, tensor->strides};
}

static ts_status dlpack_check_offset(const ts_dl_tensor *tensor, ts_error *err)
{
    uintptr_t at;
    if (tensor->byte_offset <= (uint64_t)LAYOUT_SPAN_MAX &&
        !__builtin_add_overflow((uintptr_t)tensor->data, tensor->byte_offset, &at))
        return TS_OK;
    return ts_fail(err, TS_VALUE, "the tensor's offset of %llu bytes leads outside the address space",
                   (unsigned long long)tensor->byte_offset);
}

ts_status ts_dl_check(const ts_dl_tensor *tensor, int32_t most_axes, ts_error *err)
{
    TS_NEED(err, tensor);
    TS_TRY(dlpack_check_offset(tensor, err));
    ts_layout layout = dlpack_layout(tensor);
    return ts_layout_check(&layout, most_axes, err);
}

static ts_status dlpack_check(const ts_dl_tensor *tensor, ts_dtype *dtype, uint16_t *device, ts_error *err)
{
    *dtype = dlpack_dtype(tensor->dtype);
    if (tensor->dtype.lanes != 1)
        return ts_fail(err, TS_VALUE, "a tensor of %u-element vectors cannot be taken; only scalars",
                       tensor->dtype.lanes);
    if (*dtype == TS_DTYPE_NONE)
        return ts_fail(err, TS_TYPE, "a tensor with DLPack type code %u of %u bits cannot be taken; convert it first",
                       tensor->dtype.code, tensor->dtype.bits);
    if (tensor->ndim < 0 || tensor->ndim > TS_ARRAY_RANK)
        return ts_fail(err, TS_VALUE, "a tensor of %d axes cannot be taken; the most is %d", tensor->ndim,
                       TS_ARRAY_RANK);
    TS_TRY(dlpack_check_offset(tensor, err));
    int32_t type = tensor->device.type, id = tensor->device.id;
    bool host = type == DL_CPU || type == DL_CUDA_HOST, gpu = type == DL_CUDA || type == DL_CUDA_MANAGED;
    if ((!host && !gpu) || id < 0 || id > 255)
        return ts_fail(err, TS_VALUE, "a tensor on DLPack device (%d, %d) cannot be taken; only CPU and CUDA", type,
                       id);
    *device = host ? (uint16_t)TS_DEVICE_ID(TS_DEVICE_CPU, 0) : (uint16_t)TS_DEVICE_ID(TS_DEVICE_CUDA, id);
    return TS_OK;
}

ts_status ts_arg_of_dlpack(const ts_dl_tensor *tensor, ts_arg *out, ts_error *err)
{
    TS_NEED(err, tensor, out);
    ts_dtype dtype;
    uint16_t device = 0;
    TS_TRY(dlpack_check(tensor, &dtype, &device, err));
    *out = (ts_arg){.kind = TS_SPEC_ARRAY, .dtype = (uint8_t)dtype, .rank = (uint8_t)tensor->ndim, .device = device,
                    .value.data = dlpack_data(tensor), .shape = tensor->shape, .strides = tensor->strides};
    return TS_OK;
}

/* ---- export ------------------------------------------------------------------------------------------- */

typedef struct dlpack_export {
    union {
        ts_dl_managed old;
        ts_dl_managed_versioned versioned;
    } managed; /* first: the deleter gets its address */
    ts_array *array;
    int64_t shape[TS_ARRAY_RANK], strides[TS_ARRAY_RANK];
} dlpack_export;

static void dlpack_end(dlpack_export *export)
{
    ts_array *array = export->array;
    ts__delete(array->alloc, export, sizeof *export);
    ts_buffer_unlend(array->buffer);
    ts_array_release(array);
}

static void dlpack_end_old(ts_dl_managed *self)
{
    if (self)
        dlpack_end((dlpack_export *)self);
}

static void dlpack_end_versioned(ts_dl_managed_versioned *self)
{
    if (self)
        dlpack_end((dlpack_export *)self);
}

static ts_status dlpack_begin(ts_array *array, dlpack_export **out, ts_dl_tensor *tensor, ts_error *err)
{
    *out = NULL;
    TS_TRY(ts_buffer_check(array->buffer, err));
    if (!dlpack_has((ts_dtype)array->dtype))
        return ts_fail(err, TS_BUFFER, "DLPack has no %s; view the array as bytes to hand it out",
                       ts_dtype_name((ts_dtype)array->dtype));
    dlpack_export *export = ts__new(array->alloc, sizeof *export);
    if (!export)
        return ts_fail(err, TS_NOMEM, "out of memory for a DLPack tensor");
    ts_status status = ts_buffer_lend(array->buffer, err);
    if (status != TS_OK) {
        ts__delete(array->alloc, export, sizeof *export);
        return status;
    }
    ts_array_retain(array);
    export->array = array;
    memcpy(export->shape, array->shape, sizeof export->shape);
    memcpy(export->strides, array->strides, sizeof export->strides);
    uint16_t id = array->device->id;
    const ts_dtype_info *info = ts_dtype_get((ts_dtype)array->dtype);
    *tensor = (ts_dl_tensor){
        .data = array->data,
        .device = {TS_DEVICE_ID_KIND(id) == TS_DEVICE_CPU ? DL_CPU : DL_CUDA, TS_DEVICE_ID_ORDINAL(id)},
        .ndim = array->rank,
        .dtype = {info->dlpack, info->bits, 1},
        .shape = export->shape,
        .strides = export->strides,
    };
    *out = export;
    return TS_OK;
}

ts_status ts_array_to_dlpack(ts_array *array, ts_dl_managed **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, array);
    dlpack_export *export;
    ts_dl_tensor tensor;
    if (array->flags & TS_ARRAY_READONLY)
        return ts_fail(err, TS_BUFFER, "a read-only array cannot be handed out in the old DLPack form; ask for version "
                                       "1.0, or copy it");
    TS_TRY(dlpack_begin(array, &export, &tensor, err));
    export->managed.old = (ts_dl_managed){tensor, export, dlpack_end_old};
    *out = &export->managed.old;
    return TS_OK;
}

ts_status ts_array_to_dlpack_versioned(ts_array *array, ts_dl_managed_versioned **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, array);
    dlpack_export *export;
    ts_dl_tensor tensor;
    TS_TRY(dlpack_begin(array, &export, &tensor, err));
    export->managed.versioned = (ts_dl_managed_versioned){
        .major = DL_MAJOR, .minor = DL_MINOR, .context = export, .deleter = dlpack_end_versioned,
        .flags = array->flags & TS_ARRAY_READONLY ? TS_DL_READONLY : 0, .tensor = tensor};
    *out = &export->managed.versioned;
    return TS_OK;
}

/* ---- import ---------------------------------------------------------------------------------------------- */

static void dlpack_release_old(void *user)
{
    ts_dl_managed *managed = user;
    if (managed->deleter)
        managed->deleter(managed);
}

static void dlpack_release_versioned(void *user)
{
    ts_dl_managed_versioned *managed = user;
    if (managed->deleter)
        managed->deleter(managed);
}

static ts_status dlpack_import(const ts_dl_tensor *tensor, void (*release)(void *), void *user, uint32_t flags,
                               ts_array **out, ts_error *err)
{
    ts_arg arg;
    ts_device *device;
    ts_buffer *buffer;
    layout_span span;
    int64_t strides[TS_ARRAY_RANK];
    *out = NULL;
    TS_TRY(ts_arg_of_dlpack(tensor, &arg, err));
    ts_layout layout = dlpack_layout(tensor);
    layout_flaw flaw = ts__layout_flaw(&layout, TS_ARRAY_RANK, &span);
    if (flaw != LAYOUT_GOOD)
        return ts__layout_fail(flaw, &layout, TS_ARRAY_RANK, err);
    TS_TRY(ts_device_by_id(arg.device, &device, err));
    ts__array_strides(&layout, span.empty, strides);
    TS_TRY(ts_buffer_wrap(device, (char *)arg.value.data + span.low, (uint64_t)(span.high - span.low), NULL, user,
                          &buffer, err));
    ts_status status = ts__array_new(buffer, arg.value.data, (ts_dtype)arg.dtype, arg.rank, arg.shape, strides, flags,
                                     out, err);
    if (status == TS_OK)
        buffer->release = release; /* only now: on failure the caller still owns the tensor */
    else
        ts_buffer_release(buffer);
    return status;
}

ts_status ts_array_from_dlpack(ts_dl_managed *managed, ts_array **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, managed);
    return dlpack_import(&managed->tensor, dlpack_release_old, managed, 0, out, err);
}

ts_status ts_array_from_dlpack_versioned(ts_dl_managed_versioned *managed, ts_array **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, managed);
    if (managed->major != DL_MAJOR)
        return ts_fail(err, TS_BUFFER, "a tensor of DLPack version %u.%u cannot be taken; this library knows version 1",
                       managed->major, managed->minor);
    return dlpack_import(&managed->tensor, dlpack_release_versioned, managed,
                         managed->flags & TS_DL_READONLY ? TS_ARRAY_READONLY : 0, out, err);
}
