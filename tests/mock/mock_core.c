/* SPDX-License-Identifier: Apache-2.0
 *
 * More of the driver without a GPU: functions that tessera.core calls through the bindings. Objects are made,
 * counted and ended; what is copied is copied.
 */
#include "mock.h"
#include <stdlib.h>
#include <string.h>

enum { BAD_VALUE = 1, BAD_HANDLE = 400 };

/* ---- copies of rectangles ----------------------------------------------------------------------------------- */

enum { MEMORY_HOST = 1, MEMORY_ARRAY = 3 };

typedef struct rect_side {
    size_t x, y;
    int kind;
    void *host, *device, *array;
    size_t pitch;
} rect_side;

typedef struct rect_copy {
    rect_side from, to;
    size_t width, height;
} rect_copy;

static char *rect_row(const rect_side *side, size_t row)
{
    char *begin = side->kind == MEMORY_HOST ? side->host : side->device;
    return begin + (side->y + row) * side->pitch + side->x;
}

static cuda_result core_Memcpy2DAsync(const rect_copy *copy, void *stream)
{
    (void)stream;
    if (copy->from.kind == MEMORY_ARRAY || copy->to.kind == MEMORY_ARRAY)
        return BAD_VALUE;
    for (size_t row = 0; row < copy->height; row++)
        memmove(rect_row(&copy->to, row), rect_row(&copy->from, row), copy->width);
    return mock_state_data.sticky;
}

/* ---- the table --------------------------------------------------------------------------------------------- */

#define ROW(symbol, function) {symbol, (void (*)(void))core_##function}
static const mock_row rows[] = {
    ROW("cuMemcpy2DAsync", Memcpy2DAsync),
};

int mock_core(const char *symbol, void **out)
{
    return mock_find(rows, sizeof rows / sizeof rows[0], symbol, out);
}
