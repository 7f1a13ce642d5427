/* SPDX-License-Identifier: Apache-2.0
 *
 * A libnvidia-ml that tests load instead of NVIDIA's: two GPUs with one fan and two links each, the second link of
 * which is down. Structs are laid out as in nvml.h; a wrong version of one is refused as NVML refuses it.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7,
    VERSION_MISMATCH = 25
};
enum { N_GPUS = 2, N_LINKS = 2, FIRST_GPU = 100, LINK_COUNT_FIELD = 91, ENERGY_FIELD = 83, UNSIGNED_INT = 1,
       ULONGLONG = 3 };

typedef uintptr_t device;

static unsigned running; /* nvmlInit less nvmlShutdown */
static unsigned fan_speed = 30;

#define VERSION(type, number) ((unsigned)sizeof(type) | (unsigned)(number) << 24)

int nvmlInit_v2(void)
{
    running++;
    return OK;
}

int nvmlShutdown(void)
{
    if (!running)
        return UNINITIALIZED;
    running--;
    return OK;
}

const char *nvmlErrorString(int status)
{
    return status == NOT_SUPPORTED ? "Not Supported" : "mock";
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = N_GPUS;
    return running ? OK : UNINITIALIZED;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *out)
{
    *out = FIRST_GPU + index;
    return index < N_GPUS ? OK : INVALID_ARGUMENT;
}

typedef struct { unsigned version, type; char text[41]; } uuid_v1;

int nvmlDeviceGetHandleByUUIDV(const uuid_v1 *uuid, device *out)
{
    *out = FIRST_GPU + 1;
    if (uuid->version != VERSION(uuid_v1, 1))
        return VERSION_MISMATCH;
    return uuid->type == 1 && !strcmp(uuid->text, "GPU-1") ? OK : NOT_FOUND;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, device *out)
{
    *out = FIRST_GPU;
    return strcmp(bus, "00000000:04:00.0") ? NOT_FOUND : OK;
}

int nvmlDeviceGetIndex(device gpu, unsigned *index)
{
    *index = (unsigned)(gpu - FIRST_GPU);
    return OK;
}

int nvmlDeviceGetName(device gpu, char *name, unsigned length)
{
    return snprintf(name, length, "Mock %d", (int)(gpu - FIRST_GPU)) < (int)length ? OK : INSUFFICIENT_SIZE;
}

int nvmlDeviceGetComputeMode(device gpu, int *mode)
{
    *mode = gpu == FIRST_GPU ? 0 : 3;
    return OK;
}

int nvmlDeviceGetSerial(device gpu, char *serial, unsigned length)
{
    (void)gpu, (void)serial, (void)length;
    return NOT_SUPPORTED;
}

typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; } pci_info;

int nvmlDeviceGetPciInfo_v3(device gpu, pci_info *pci)
{
    *pci = (pci_info){.bus = 4, .device = (unsigned)(gpu - FIRST_GPU), .id = 0x233510de, .bus_id = "00000000:04:00.0"};
    return OK;
}

typedef struct { unsigned version; int sensor, temperature; } temperature_v1;

int nvmlDeviceGetTemperatureV(device gpu, temperature_v1 *out)
{
    (void)gpu;
    out->temperature = 41 + out->sensor;
    return out->version == VERSION(temperature_v1, 1) ? OK : VERSION_MISMATCH;
}

/* The processes: asked twice, the number first. */
typedef struct { unsigned pid; unsigned long long memory; unsigned gpu_instance, compute_instance; } process_info;

int nvmlDeviceGetComputeRunningProcesses_v3(device gpu, unsigned *count, process_info *out)
{
    (void)gpu;
    if (*count < 2) {
        *count = 2;
        return INSUFFICIENT_SIZE;
    }
    out[0] = (process_info){11, 1000, 1, 2};
    out[1] = (process_info){12, 2000, 3, 4};
    *count = 2;
    return OK;
}

typedef struct { unsigned char n; int info[256]; } bridges;

int nvmlDeviceGetBridgeChipInfo(device gpu, bridges *out)
{
    (void)gpu;
    out->n = 1;
    out->info[0] = 1, out->info[1] = 7;
    return OK;
}

/* The GPUs of a CPU: takes room for just as many as there are, or none to tell their number. */
int nvmlSystemGetTopologyGpuSet(unsigned cpu, unsigned *count, device *out)
{
    if (out && *count != N_GPUS)
        return INVALID_ARGUMENT;
    *count = N_GPUS;
    for (unsigned i = 0; out && i < N_GPUS; i++)
        out[i] = FIRST_GPU + i;
    return cpu < 64 ? OK : INVALID_ARGUMENT;
}

/* ---- fans, links, fields ---------------------------------------------------------------------------------------- */

int nvmlDeviceGetNumFans(device gpu, unsigned *count)
{
    (void)gpu;
    *count = 1;
    return OK;
}

int nvmlDeviceGetFanSpeed_v2(device gpu, unsigned fan, unsigned *speed)
{
    (void)gpu;
    *speed = fan_speed;
    return fan ? INVALID_ARGUMENT : OK;
}

int nvmlDeviceSetFanSpeed_v2(device gpu, unsigned fan, unsigned speed)
{
    (void)gpu;
    fan_speed = speed;
    return fan ? INVALID_ARGUMENT : OK;
}

int nvmlDeviceSetDefaultFanSpeed_v2(device gpu, unsigned fan)
{
    return nvmlDeviceSetFanSpeed_v2(gpu, fan, 30);
}

int nvmlDeviceGetTargetFanSpeed(device gpu, unsigned fan, unsigned *speed)
{
    return nvmlDeviceGetFanSpeed_v2(gpu, fan, speed);
}

int nvmlDeviceGetMinMaxFanSpeed(device gpu, unsigned *slowest, unsigned *fastest)
{
    (void)gpu;
    *slowest = 20, *fastest = 100;
    return OK;
}

int nvmlDeviceGetFanControlPolicy_v2(device gpu, unsigned fan, unsigned *policy)
{
    (void)gpu, (void)fan;
    *policy = fan_speed != 30;
    return OK;
}

typedef struct { unsigned version, fan, speed; } fan_speed_info;

int nvmlDeviceGetFanSpeedRPM(device gpu, fan_speed_info *out)
{
    (void)gpu;
    out->speed = 40 * fan_speed;
    return out->version == VERSION(fan_speed_info, 1) ? OK : VERSION_MISMATCH;
}

int nvmlDeviceGetNvLinkState(device gpu, unsigned link, int *state)
{
    (void)gpu;
    *state = link == 0;
    return link < N_LINKS ? OK : INVALID_ARGUMENT;
}

int nvmlDeviceGetNvLinkVersion(device gpu, unsigned link, unsigned *version)
{
    (void)gpu;
    *version = link ? 99 : 6; /* 4.0; an unknown one */
    return OK;
}

typedef struct {
    unsigned field, scope;
    long long timestamp, latency;
    int value_type, status;
    unsigned long long value;
} field_value;

static void fill_field(field_value *field)
{
    field->status = OK, field->timestamp = 5;
    if (field->field == LINK_COUNT_FIELD)
        field->value_type = UNSIGNED_INT, field->value = N_LINKS;
    else if (field->field == ENERGY_FIELD)
        field->value_type = ULONGLONG, field->value = (1ull << 40) + field->scope;
    else
        field->status = NOT_SUPPORTED;
}

int nvmlDeviceGetFieldValues(device gpu, int count, field_value *fields)
{
    (void)gpu;
    for (int i = 0; i < count; i++)
        fill_field(&fields[i]);
    return count ? OK : INVALID_ARGUMENT;
}

int nvmlDeviceClearFieldValues(device gpu, int count, field_value *fields)
{
    (void)gpu;
    return count && fields[0].field ? OK : INVALID_ARGUMENT;
}

/* ---- parts of a GPU: the second of three is not made ------------------------------------------------------------ */

int nvmlDeviceIsMigDeviceHandle(device gpu, unsigned *is_part)
{
    *is_part = gpu >= 10 * FIRST_GPU;
    return OK;
}

int nvmlDeviceGetMaxMigDeviceCount(device gpu, unsigned *count)
{
    (void)gpu;
    *count = 3;
    return OK;
}

int nvmlDeviceGetMigDeviceHandleByIndex(device gpu, unsigned index, device *out)
{
    *out = gpu * 10 + index;
    return index == 1 ? NOT_FOUND : OK;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(device part, device *out)
{
    *out = part / 10;
    return OK;
}
