/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions of print formats (format.h).
 */
#include "ir/format.h"
#include "ir/float.h"
#include "ir/scalar.h"
#include <stdio.h>
#include <string.h>

bool ts__conversion_at(const char *format, ts__conversion *out)
{
    const char *s = format + 1;
    s += strspn(s, "-+ #0");
    s += strspn(s, "0123456789");
    if (*s == '.')
        s += 1 + strspn(s + 1, "0123456789");
    size_t head = (size_t)(s - format), length = strspn(s, "hlLjzt");
    if (head >= sizeof out->head || length > 2)
        return false;
    memcpy(out->head, format, head);
    out->head[head] = 0;
    out->letter = s[length];
    out->pair = length && s[0] == 'j' && out->letter && strchr("eEfFgGaA", out->letter);
    out->n = head + length + 1;
    return out->letter && strchr("diuoxXeEfFgGaAcps", out->letter);
}

void ts__conversion_imag(const char *head, size_t n, char out[40])
{
    bool sign = memchr(head, '+', n) != NULL;
    ts_assert(n && *head == '%');
    snprintf(out, 40, "%%%s%.*s", sign ? "" : "+", (int)TS_MIN(n - 1, 36), head + 1);
}

static void format_one(ts_text *out, const ts__conversion *c, const char *head, ts_type elem, uint64_t value)
{
    char spec[48];
    if (ts_type_is_float(NULL, elem)) {
        snprintf(spec, sizeof spec, "%s%c", head, strchr("eEfFgGaA", c->letter) ? c->letter : 'f');
        ts__text_printf(out, spec, ts__float_to_f64(elem, value));
        return;
    }
    char letter = strchr("diuoxX", c->letter) ? c->letter : 'd';
    uint32_t bits = ts__scalar_bits(elem);
    if (letter != 'd' && letter != 'i' && bits < 64)
        value &= ((uint64_t)1 << bits) - 1;
    snprintf(spec, sizeof spec, "%sll%c", head, letter);
    ts__text_printf(out, spec, (long long)value);
}

static void format_element(ts_text *out, const ts__conversion *c, const ts__printed *tile, int64_t i)
{
    char imag[40];
    format_one(out, c, c->head, tile->elem, tile->get(tile->user, i));
    if (!c->pair)
        return;
    ts__conversion_imag(c->head, strlen(c->head), imag);
    format_one(out, c, imag, tile->elem, tile->get(tile->imag, i));
    ts__text_putc(out, 'j');
}

void ts__print_tile(ts_text *out, const ts__conversion *c, const ts__printed *tile)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < tile->rank; d++)
        n *= tile->dims[d];
    for (int64_t i = 0; i < n; i++) {
        int64_t inner = 1;
        if (i)
            ts__text_puts(out, ", ");
        for (uint32_t d = tile->rank; d-- > 0 && i % (inner *= tile->dims[d]) == 0;)
            ts__text_putc(out, '[');
        format_element(out, c, tile, i);
        inner = 1;
        for (uint32_t d = tile->rank; d-- > 0 && (i + 1) % (inner *= tile->dims[d]) == 0;)
            ts__text_putc(out, ']');
    }
}

size_t ts__asm_place(const char *at, uint32_t *number)
{
    size_t n = 1;
    uint32_t value = 0;
    for (; at[n] >= '0' && at[n] <= '9' && n <= 4; n++)
        value = 10 * value + (uint32_t)(at[n] - '0');
    *number = n > 1 ? value : TS_NO;
    return n == 1 && at[1] == '$' ? 2 : n;
}
