/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel of the algorithms by words, as "reduce_gpu dtype=float32 combine=add": the key of its choices.
 */
#include "lib/compute.h"

enum { COMPUTE_NO_CHOICE = UINT8_MAX }; /* no choice has this index */

static const char *const kernel_names[COMPUTE_COUNT] = {
#define X(name) #name,
    COMPUTE_NUMBER_NAMES(X)
#undef X
};

static const char *const axis_names[COMPUTE_AXES] = {
#define X(name) #name,
    COMPUTE_AXIS_NAMES(X)
#undef X
};

static const char *const combine_names[TS_COMBINE_COUNT] = {
#define X(name, meaning) #name,
    TS_COMBINES(X)
#undef X
};

/* A word of a text: up to the first of the characters that end it. */
typedef struct compute_word {
    const char *at;
    size_t n;
} compute_word;

static compute_word word_take(const char **text, const char *ends)
{
    compute_word word = {*text, strcspn(*text, ends)};
    *text += word.n + ((*text)[word.n] != '\0');
    return word;
}

static bool word_is(compute_word word, const char *name)
{
    return strlen(name) == word.n && !memcmp(name, word.at, word.n);
}

static uint32_t word_number(compute_word word)
{
    uint32_t value = 0;
    for (size_t i = 0; i < word.n; i++) {
        bool is_digit = word.at[i] >= '0' && word.at[i] <= '9' && value < COMPUTE_NO_CHOICE;
        value = is_digit ? value * 10 + (uint32_t)(word.at[i] - '0') : COMPUTE_NO_CHOICE;
    }
    return word.n ? value : COMPUTE_NO_CHOICE;
}

static uint32_t word_dtype(compute_word word)
{
    char name[16];
    if (word.n >= sizeof name)
        return COMPUTE_NO_CHOICE;
    memcpy(name, word.at, word.n);
    name[word.n] = '\0';
    ts_dtype dtype = ts_dtype_find(name);
    return dtype == TS_DTYPE_NONE ? COMPUTE_NO_CHOICE : (uint32_t)dtype;
}

/* The index of a choice; COMPUTE_NO_CHOICE where it is none. */
static uint32_t word_choice(compute_axis axis, compute_word word)
{
    const char *rest = word.at;
    uint32_t n = 0;
    switch (axis) {
    case COMPUTE_dtype: return word_dtype(word);
    case COMPUTE_pair: {
        compute_word dtype = word_take(&rest, "/ "), bytes = {rest, word.n - TS_MIN(word.n, dtype.n + 1)};
        uint32_t found = word_dtype(dtype);
        bool is_good = found < COMPUTE_NO_CHOICE && (word_is(bytes, "4") || word_is(bytes, "8"));
        return is_good ? COMPUTE_PAIR(found, word_number(bytes)) : COMPUTE_NO_CHOICE;
    }
    case COMPUTE_bytes:
        while (n < COMPUTE_NO_CHOICE && (uint32_t)1 << TS_MIN(n, 31) < word_number(word))
            n = n < 31 ? n + 1 : COMPUTE_NO_CHOICE;
        return n < COMPUTE_NO_CHOICE && (uint32_t)1 << n == word_number(word) ? n : COMPUTE_NO_CHOICE;
    case COMPUTE_combine:
        while (n < TS_COMBINE_COUNT && !word_is(word, combine_names[n]))
            n++;
        return n < TS_COMBINE_COUNT ? n : COMPUTE_NO_CHOICE;
    default: return word_number(word);
    }
}

/* The first choice of each axis that the kernel has. */
static void key_begin(compute_key *key)
{
    for (int axis = 0; axis < COMPUTE_AXES; axis++) {
        while (key->at[axis] < COMPUTE_NO_CHOICE && !ts__compute_choice(key, (compute_axis)axis))
            key->at[axis]++;
        key->at[axis] = key->at[axis] < COMPUTE_NO_CHOICE ? key->at[axis] : 0;
    }
}

static ts_status key_read(const char *text, compute_key *key, ts_error *err)
{
    compute_word word = word_take(&text, " ");
    uint32_t number = 0;
    while (number < COMPUTE_COUNT && !word_is(word, kernel_names[number]))
        number++;
    if (number == COMPUTE_COUNT)
        return ts_fail(err, TS_VALUE, "choices: '%.*s' is no kernel of the algorithms", (int)word.n, word.at);
    *key = (compute_key){.number = (compute_number)number};
    key_begin(key);
    while (*text) {
        word = word_take(&text, " ");
        const char *value = word.at;
        compute_word name = word_take(&value, "= ");
        uint32_t axis = 0, at = COMPUTE_NO_CHOICE;
        while (axis < COMPUTE_AXES && !word_is(name, axis_names[axis]))
            axis++;
        if (axis < COMPUTE_AXES && name.n + 1 < word.n)
            at = word_choice((compute_axis)axis, (compute_word){value, word.n - name.n - 1});
        if (at < COMPUTE_NO_CHOICE)
            key->at[axis] = (uint8_t)at;
        if (at >= COMPUTE_NO_CHOICE || !ts__compute_choice(key, (compute_axis)axis))
            return ts_fail(err, TS_VALUE, "choices: kernel '%s' has no choice '%.*s'", kernel_names[number],
                           (int)word.n, word.at);
    }
    return TS_OK;
}

ts_status ts_compute_desc(const char *choices, ts_kernel_desc *out, ts_error *err)
{
    compute_key key;
    TS_NEED(err, choices, out);
    *out = (ts_kernel_desc){0};
    TS_TRY(key_read(choices, &key, err));
    return ts__compute_desc_make(&key, out, err);
}

ts_status ts_compute_about(const char *choices, ts_kernel_desc *out, ts_error *err)
{
    compute_key key;
    TS_NEED(err, choices, out);
    *out = (ts_kernel_desc){0};
    TS_TRY(key_read(choices, &key, err));
    ts__compute_about(&key, out);
    return TS_OK;
}
