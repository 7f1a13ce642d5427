/* SPDX-License-Identifier: Apache-2.0
 * Widths of vectors (src/base/widths.h): what the environment allows, and never more than the processor has. */
#include "base/widths.h"
#include "base/sort.h"
#include "check.h"

static void a_width_is_taken_or_refused(void)
{
    static const struct {
        const char *wish;
        uint32_t bytes;
        bool is_bad;
    } cases[] = {{"", 64, false},  {"16", 16, false}, {"32", 32, false}, {"64", 64, false},
                 {"24", 64, true}, {"32x", 64, true}, {"-1", 64, true},  {"wide", 64, true}};
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        uint32_t bytes = 0;
        ts_error err = {0};
        setenv("TESSERA_VECTOR_BYTES", cases[i].wish, 1);
        ts_status status = ts__vector_limit(&bytes, &err);
        CHECK_INT(status, cases[i].is_bad ? TS_VALUE : TS_OK);
        CHECK_INT(bytes, cases[i].bytes);
        CHECK(!cases[i].is_bad || strstr(err.text, cases[i].wish));
    }
}

static void a_limit_makes_vectors_narrower(void)
{
    uint32_t widest = 0;
    static const char *const wishes[] = {"", "64", "32", "16"};
    for (size_t i = 0; i < TS_COUNT(wishes); i++) {
        uint32_t limit;
        setenv("TESSERA_VECTOR_BYTES", wishes[i], 1);
        CHECK_INT(ts__vector_limit(&limit, NULL), TS_OK);
        uint32_t found = ts__vector_find();
        widest = i ? widest : found;
        CHECK_INT(found, TS_MIN(widest, limit));
        CHECK_INT(ts__vector_bytes(), found);
        CHECK_INT(ts__sort_is_there(), found == 64);
    }
}

int main(void)
{
    a_width_is_taken_or_refused();
    a_limit_makes_vectors_narrower();
    return check_done();
}
