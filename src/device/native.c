/* SPDX-License-Identifier: Apache-2.0
 *
 * The public functions of tessera/native.h: check what the caller gave, then ask the device's table.
 */
#include "device/device.h"

static ts_status native_missing(ts_error *err, const char *what)
{
    return ts_fail(err, TS_UNSUPPORTED, "the CPU device has no %s; use a GPU", what);
}

/* NULL means the default stream. */
static ts_status native_stream(ts_device *device, const ts_stream **stream, ts_error *err)
{
    if (!*stream)
        *stream = device->default_stream;
    if ((*stream)->device == device)
        return TS_OK;
    return ts_fail(err, TS_VALUE, "the stream belongs to another device; use one made for this device");
}

ts_status ts_stream_create_with(ts_device *device, const ts_stream_options *options, ts_stream **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    return device->ops->stream_create(device, options, out, err);
}

ts_status ts_stream_adopt(ts_device *device, uintptr_t native, ts_stream **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    return device->ops->stream_adopt ? device->ops->stream_adopt(device, native, out, err)
                                     : native_missing(err, "streams of a driver");
}

ts_status ts_stream_find(ts_device *device, uintptr_t native, ts_stream *out, ts_error *err)
{
    TS_NEED(err, device, out);
    *out = (ts_stream){device, native, NULL};
    ts_status status = device->ops->stream_find ? device->ops->stream_find(device, native, out, err) : TS_OK;
    if (status != TS_OK)
        *out = (ts_stream){0};
    return status;
}

ts_status ts_event_create_with(ts_device *device, const ts_stream *stream, uint32_t flags, ts_event **out,
                               ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    if (flags & TS_EVENT_SHARED && !(flags & TS_EVENT_UNTIMED))
        return ts_fail(err, TS_VALUE, "an event shared between processes cannot be timed; switch timing off");
    return device->ops->event_create(device, stream, flags, out, err);
}

ts_status ts_event_adopt(ts_device *device, uintptr_t native, uint32_t flags, ts_event **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    return device->ops->event_adopt ? device->ops->event_adopt(device, native, flags, out, err)
                                    : native_missing(err, "events of a driver");
}

uintptr_t ts_event_native(const ts_event *event)
{
    return event->device->ops->event_native ? event->device->ops->event_native(event) : (uintptr_t)event;
}

uint32_t ts_event_flags_of(const ts_event *event)
{
    return event->flags;
}

ts_status ts_pool_alloc(ts_device *device, uintptr_t pool, const ts_stream *stream, uint64_t bytes, void **out,
                        ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    TS_TRY(native_stream(device, &stream, err));
    return device->ops->pool_alloc ? device->ops->pool_alloc(device, pool, stream, bytes, out, err)
                                   : native_missing(err, "pools of a driver");
}

ts_status ts_pool_free(ts_device *device, const ts_stream *stream, void *memory, ts_error *err)
{
    TS_NEED(err, device);
    if (native_stream(device, &stream, NULL) != TS_OK)
        stream = device->default_stream;
    return device->ops->pool_free ? device->ops->pool_free(device, stream, memory, err)
                                  : native_missing(err, "pools of a driver");
}

ts_status ts_native_launch(ts_device *device, const ts_stream *stream, const ts_native_config *config,
                           const ts_native_kernel *kernel, void **params, ts_error *err)
{
    TS_NEED(err, device, config, kernel);
    TS_TRY(native_stream(device, &stream, err));
    return device->ops->native_launch ? device->ops->native_launch(device, stream, config, kernel, params, err)
                                      : native_missing(err, "kernels of a driver");
}

ts_status ts_native_function(ts_device *device, uintptr_t kernel, uintptr_t *out, ts_error *err)
{
    TS_NEED(err, device, out);
    *out = 0;
    return device->ops->native_function ? device->ops->native_function(device, kernel, out, err)
                                        : native_missing(err, "kernels of a driver");
}

ts_status ts_native_param(ts_device *device, uintptr_t kernel, bool is_function, size_t index, size_t *offset,
                          size_t *bytes, ts_error *err)
{
    TS_NEED(err, device, offset, bytes);
    *offset = *bytes = 0;
    return device->ops->native_param
               ? device->ops->native_param(device, kernel, is_function, index, offset, bytes, err)
               : native_missing(err, "kernels of a driver");
}
