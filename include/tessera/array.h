/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays: a counted piece of device memory (ts_buffer) and strided views on it (ts_array), and their
 * exchange with other libraries by DLPack. No arithmetic here; kernels do that.
 *
 *     ts_array *x, *row, *twice;
 *     int64_t shape[2] = {4, 5};
 *     ts_array_empty(device, NULL, TS_DTYPE_float32, 2, shape, &x, &err);
 *     ts_array_from_host(x, NULL, host, NULL, &err);                  waits until `host` may be reused
 *     ts_array_pick(x, 0, 3, &row, &err);                             a view: row 3, shape (5)
 *     ts_array_copy(row, NULL, NULL, &twice, &err);                   new memory
 *     ts_array_release(row);
 *
 * Shapes: extents are 0 or more, rank is 0 (one element) to TS_ARRAY_RANK; a view never reaches outside its buffer.
 * Streams: NULL is the default stream of the device; functions that take one are enqueued on it, the others do not look
 * at the contents. Errors beyond those named: TS_NOMEM for everything that makes an object, TS_BUFFER for memory that
 * was freed or lost, TS_DEVICE where the driver fails.
 *
 * Strides are in elements everywhere. Buffers and arrays are immutable after creation except for their
 * counts and contents, so they may be shared between threads.
 */
#ifndef TESSERA_ARRAY_H
#define TESSERA_ARRAY_H

#include "tessera/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- buffers ---------------------------------------------------------------------------------------- */

/* A buffer is counted device memory. It knows which streams use it, so that releasing the last reference is always
 * right, whatever still runs; every array holds one reference.
 *
 * `bytes` of memory in stream order (NULL = the device's default stream); given back to the pool, ordered
 * after that stream's work, when the last reference goes. Owns: *out is a new reference. */
TS_API TS_CHECKED ts_status ts_buffer_create(ts_device *device, const ts_stream *stream, uint64_t bytes,
                                             ts_buffer **out, ts_error *err);
/* Wraps `bytes` of memory of another owner at `data`, which is not copied. `release(user)` is called once, in whatever
 * thread drops the last reference; it may be NULL and must not fail. Owns: *out. On failure it is never called. */
TS_API TS_CHECKED ts_status ts_buffer_wrap(ts_device *device, void *data, uint64_t bytes,
                                           void (*release)(void *user), void *user, ts_buffer **out, ts_error *err);
/* One more reference, one less. NULL is fine for release. Threads: safe, and needs no interpreter. */
TS_API void ts_buffer_retain(ts_buffer *buffer);
TS_API void ts_buffer_release(ts_buffer *buffer);
/* For those who must know when memory goes (a `free` method, a context manager). Gives the memory back now although
 * references remain; using it afterwards is TS_BUFFER. Again: TS_OK.
 * Errors: TS_BUFFER while the memory is lent; nothing has changed then. */
TS_API TS_CHECKED ts_status ts_buffer_free(ts_buffer *buffer, ts_error *err);
/* For exports that others hold on to, such as DLPack's. Says that someone who keeps no account with us holds the
 * address, so ts_buffer_free must not succeed;
 * every lend is ended by one unlend, from any thread. Takes no reference. Errors: as ts_buffer_check. */
TS_API TS_CHECKED ts_status ts_buffer_lend(ts_buffer *buffer, ts_error *err);
TS_API void ts_buffer_unlend(ts_buffer *buffer);
/* TS_OK while the memory may be used; TS_BUFFER when freed, or lost by ts_device_reset, with a text that says which. */
TS_API TS_CHECKED ts_status ts_buffer_check(const ts_buffer *buffer, ts_error *err);
/* Says that work given to `stream` uses the buffer. If that is not the buffer's own stream, its memory is
 * given back only when all streams are done with what they have. ts_launch does this by itself. */
TS_API void ts_buffer_note_stream(const ts_buffer *buffer, const ts_stream *stream);
/* Address (NULL for no bytes), size and device of the memory, as they were when the buffer was made; still told of a
 * buffer that was freed. */
TS_API void *ts_buffer_data(const ts_buffer *buffer);
TS_API uint64_t ts_buffer_bytes(const ts_buffer *buffer);
TS_API ts_device *ts_buffer_device(const ts_buffer *buffer);

/* ---- arrays ------------------------------------------------------------------------------------------ */

/* Flags of an array, 0 for most; views keep them. A read-only array is what a read-only NumPy array or tensor
 * becomes: a launch whose kernel writes to it is refused (TS_VALUE). */
#define TS_ARRAY_READONLY 1

/* A strided view of a buffer: element [i, j, ...] lies at data + (i * strides[0] + j * strides[1] + ...) * bytes of the
 * dtype. Read freely; made only by the functions below, and never changed afterwards. */
typedef struct ts_array {
    /* One reference; the address of element [0, 0, ...]; the device of the memory. */
    ts_buffer *buffer;
    void *data;
    ts_device *device;
    uint8_t dtype, rank, flags;
    int64_t shape[TS_ARRAY_RANK], strides[TS_ARRAY_RANK];
    /* private */
    uint32_t references;
    const ts_alloc *alloc;
} ts_array;

/* New arrays, row-major, of memory in stream order: contents undefined, zeros, or all elements of one bit pattern (in
 * the low bytes of `bits`; of complex128 that of each part). Owns: *out is a new reference, end it with
 * ts_array_release. Errors: TS_SHAPE (rank above 8, negative extent, more than 2^62 bytes), TS_TYPE, TS_NOMEM,
 * TS_DEVICE. */
TS_API TS_CHECKED ts_status ts_array_empty(ts_device *device, const ts_stream *stream, ts_dtype dtype,
                                           uint32_t rank, const int64_t *shape, ts_array **out, ts_error *err);
TS_API TS_CHECKED ts_status ts_array_zeros(ts_device *device, const ts_stream *stream, ts_dtype dtype,
                                           uint32_t rank, const int64_t *shape, ts_array **out, ts_error *err);
TS_API TS_CHECKED ts_status ts_array_full(ts_device *device, const ts_stream *stream, ts_dtype dtype, uint64_t bits,
                                          uint32_t rank, const int64_t *shape, ts_array **out, ts_error *err);
/* A view of a buffer, checked to lie inside it; takes its own reference to the buffer. strides NULL =
 * row-major. `offset` in bytes. */
TS_API TS_CHECKED ts_status ts_array_of(ts_buffer *buffer, uint64_t offset, ts_dtype dtype, uint32_t rank,
                                        const int64_t *shape, const int64_t *strides, ts_array **out, ts_error *err);
/* One more reference, one less. The buffer's reference goes with the array's last. NULL is fine for release. */
TS_API void ts_array_retain(ts_array *array);
TS_API void ts_array_release(ts_array *array);

/* Number of elements: the product of the extents, 1 for rank 0. Whether they lie row-major without gaps; true for
 * none. */
TS_API int64_t ts_array_count(const ts_array *array);
TS_API bool ts_array_is_contiguous(const ts_array *array);

/* Views: new arrays on the same memory, with a reference to the buffer and the flags of `array`. Nothing is copied and
 * nothing enqueued. Owns: *out, ended by ts_array_release. Errors: TS_INDEX for an axis that is not there. */
/* start, stop, step as Python's slice.indices gives them: stop exclusive, step not 0, may be negative. */
TS_API TS_CHECKED ts_status ts_array_slice(const ts_array *array, uint32_t axis, int64_t start, int64_t stop,
                                           int64_t step, ts_array **out, ts_error *err);
/* The elements at position `index` of `axis`, which the result does not have: shape (4, 5), axis 1 -> shape (4).
 * 0 <= index < extent, else TS_INDEX. */
TS_API TS_CHECKED ts_status ts_array_pick(const ts_array *array, uint32_t axis, int64_t index, ts_array **out,
                                          ts_error *err);
/* Axis d of the result is axis axes[d]; each occurs once, else TS_VALUE. NULL reverses them. */
TS_API TS_CHECKED ts_status ts_array_transpose(const ts_array *array, const uint32_t *axes, ts_array **out,
                                               ts_error *err);
/* The same elements in row-major order with other extents. One extent may be -1, and is found from the others.
 * Errors: TS_SHAPE if the counts differ, TS_BUFFER if only a copy could do it. */
TS_API TS_CHECKED ts_status ts_array_reshape(const ts_array *array, uint32_t rank, const int64_t *shape,
                                             ts_array **out, ts_error *err);
/* The same bytes as another dtype of equal size, or of another size where the last axis is contiguous, whose extent
 * then changes with it. No value is converted. */
TS_API TS_CHECKED ts_status ts_array_view(const ts_array *array, ts_dtype dtype, ts_array **out, ts_error *err);

/* Copies of contents between an array of any strides and host memory of the same shape, in stream order (NULL =
 * default stream of the array's device); host strides in bytes, any sign,
 * NULL = row-major; the shape is the array's. Both return when `host` may be reused or is complete. */
TS_API TS_CHECKED ts_status ts_array_from_host(ts_array *array, const ts_stream *stream, const void *host,
                                               const int64_t *host_strides, ts_error *err);
TS_API TS_CHECKED ts_status ts_array_to_host(const ts_array *array, const ts_stream *stream, void *host,
                                             const int64_t *host_strides, ts_error *err);
/* A new row-major array with the same elements, on `device` (NULL = the same). In order of `stream`, of the array's
 * device; between devices it waits. Owns: *out is a new reference. */
TS_API TS_CHECKED ts_status ts_array_copy(const ts_array *array, ts_device *device, const ts_stream *stream,
                                          ts_array **out, ts_error *err);

/* The array as an argument of ts_launch; borrows it, so it must live until the launch returns. Never fails. */
TS_API void ts_arg_of_array(const ts_array *array, ts_arg *out);

/* How the memory of two array arguments meets, which decides whether a kernel may read one while it writes the other.
 * SAME: all elements are at the same places; the dtypes have one
 * size. SOME: some byte belongs to both; also said of strides so irregular that finding out takes too long, and
 * of extents beyond all memory. Arrays of no elements meet nothing. Takes nanoseconds unless both lie in one
 * piece of memory. */
typedef enum ts_overlap { TS_OVERLAP_NONE, TS_OVERLAP_SAME, TS_OVERLAP_SOME } ts_overlap;
TS_API ts_overlap ts_arg_overlap(const ts_arg *a, const ts_arg *b);

/* ---- DLPack ------------------------------------------------------------------------------------------ */

/* The published ABI (versions 0.8 and 1.x), declared here so that nothing else is needed. Source: DLPack's dlpack.h,
 * https://dmlc.github.io/dlpack/latest/c_api.html. A consumer of the unversioned form cannot be told "read-only". */
/* Where a tensor lies: DLDeviceType, and the number of the device among those of its type. */
typedef struct ts_dl_device {
    int32_t type; /* 1 CPU, 2 CUDA, 3 pinned host, 13 managed */
    int32_t id;
} ts_dl_device;
/* What its elements are: DLDataTypeCode, bits of one lane, lanes; other than one lane is refused (TS_VALUE). */
typedef struct ts_dl_dtype {
    uint8_t code, bits; /* codes: see dtype.def */
    uint16_t lanes;
} ts_dl_dtype;
/* A strided view of memory of its producer: element [i, j, ...] lies at data + byte_offset + (i * strides[0] + ...)
 * elements. */
typedef struct ts_dl_tensor {
    void *data;
    ts_dl_device device;
    int32_t ndim;
    ts_dl_dtype dtype;
    int64_t *shape, *strides; /* elements; strides NULL = row-major (before 1.2) */
    uint64_t byte_offset;
} ts_dl_tensor;
/* A tensor and what ends it: what "dltensor" capsules of Python hold. */
typedef struct ts_dl_managed {
    ts_dl_tensor tensor;
    void *context;
    void (*deleter)(struct ts_dl_managed *self);
} ts_dl_managed;
/* The same with a version and flags: what "dltensor_versioned" capsules hold. READONLY: not to be written to; COPIED:
 * the producer made a copy for this consumer. */
#define TS_DL_READONLY 1u
#define TS_DL_COPIED 2u
typedef struct ts_dl_managed_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct ts_dl_managed_versioned *self);
    uint64_t flags;
    ts_dl_tensor tensor;
} ts_dl_managed_versioned;

/* Import and export share memory and copy nothing. Streams: DLPack's rule is the caller's to keep: the producer makes
 * its work visible to the consumer's stream (Python's `stream=` argument) before the tensor is handed over.
 *
 * Export: the result holds a reference to the array, lends its buffer and is ended by its deleter, from
 * any thread and without an interpreter. Errors: TS_BUFFER for a freed array or a dtype DLPack lacks, and for a
 * read-only array in the unversioned form. */
TS_API TS_CHECKED ts_status ts_array_to_dlpack(ts_array *array, ts_dl_managed **out, ts_error *err);
TS_API TS_CHECKED ts_status ts_array_to_dlpack_versioned(ts_array *array, ts_dl_managed_versioned **out,
                                                         ts_error *err);
/* Import takes the tensor on success and calls its deleter when the last reference goes; on failure the
 * caller still owns it. Errors: TS_TYPE (dtype), TS_VALUE (device, lanes, rank), TS_BUFFER (version). */
TS_API TS_CHECKED ts_status ts_array_from_dlpack(ts_dl_managed *managed, ts_array **out, ts_error *err);
TS_API TS_CHECKED ts_status ts_array_from_dlpack_versioned(ts_dl_managed_versioned *managed, ts_array **out,
                                                           ts_error *err);
/* ts_layout_check of a borrowed tensor, whose dtype may be one that arrays do not have. What a producer says of its
 * tensor is not believed before this. Errors: TS_VALUE, TS_SHAPE. */
TS_API TS_CHECKED ts_status ts_dl_check(const ts_dl_tensor *tensor, int32_t most_axes, ts_error *err);
/* An argument straight from a borrowed tensor, without an array in between: what a launch on tensors of another library
 * costs least with; shape and strides are borrowed too. Row-major strides stay
 * NULL. Errors: as import. */
TS_API TS_CHECKED ts_status ts_arg_of_dlpack(const ts_dl_tensor *tensor, ts_arg *out, ts_error *err);

#ifdef __cplusplus
}
#endif
#endif
