/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole test framework: CHECK prints both operands and goes on; a test program ends with
 * `return check_done();`, which prints "N passed, N failed" and gives the exit status.
 */
#ifndef TS_TESTS_CHECK_H
#define TS_TESTS_CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_passed, check_failed, check_skipped;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (condition)                                                                             \
            check_passed++;                                                                        \
        else {                                                                                     \
            check_failed++;                                                                        \
            fprintf(stderr, "%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #condition);          \
        }                                                                                          \
    } while (0)

#define CHECK_INT(found, wanted)                                                                   \
    do {                                                                                           \
        int64_t found_ = (int64_t)(found), wanted_ = (int64_t)(wanted);                            \
        if (found_ == wanted_)                                                                     \
            check_passed++;                                                                        \
        else {                                                                                     \
            check_failed++;                                                                        \
            fprintf(stderr, "%s:%d: %s is %" PRId64 ", wanted %" PRId64 "\n", __FILE__, __LINE__,  \
                    #found, found_, wanted_);                                                      \
        }                                                                                          \
    } while (0)

#define CHECK_STR(found, wanted)                                                                   \
    do {                                                                                           \
        const char *found_ = (found), *wanted_ = (wanted);                                         \
        if (strcmp(found_, wanted_) == 0)                                                          \
            check_passed++;                                                                        \
        else {                                                                                     \
            check_failed++;                                                                        \
            fprintf(stderr, "%s:%d: %s is\n%s\nwanted\n%s\n", __FILE__, __LINE__, #found, found_,  \
                    wanted_);                                                                      \
        }                                                                                          \
    } while (0)

/* Needs err in scope. */
#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        err.text[0] = 0;                                                                           \
        ts_status status_ = (call);                                                                \
        if (status_ == TS_OK)                                                                      \
            check_passed++;                                                                        \
        else {                                                                                     \
            check_failed++;                                                                        \
            fprintf(stderr, "%s:%d: %s gives %s: %s\n", __FILE__, __LINE__, #call,                 \
                    ts_status_name(status_), err.text);                                            \
        }                                                                                          \
    } while (0)

/* How many of `n` random cases to run: all with TESSERA_TEST_LONG=1, a quarter otherwise, or a thirty-second where
 * every one is slow and another would tell nothing new (TESSERA_QUICK=1, set under sanitizers: `make test` looks for
 * wrong results without them). */
static inline uint64_t check_few(uint64_t n)
{
    return getenv("TESSERA_QUICK") ? (n + 31) / 32 : getenv("TESSERA_TEST_LONG") ? n : (n + 3) / 4;
}

/* The step through a list of cases that are alike: 1, or `few` with TESSERA_QUICK. */
static inline size_t check_step(size_t few)
{
    return getenv("TESSERA_QUICK") ? few : 1;
}

/* The folder for files of a test, which removes them. */
static inline const char *check_tmp(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

static inline int check_done(void)
{
    printf("%d passed, %d failed", check_passed, check_failed);
    if (check_skipped)
        printf(", %d skipped", check_skipped);
    printf("\n");
    return check_failed ? 1 : 0;
}

#endif
