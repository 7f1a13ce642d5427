/* SPDX-License-Identifier: Apache-2.0
 *
 * Few elements of host memory at places that several arrays say, or one along another axis than the first, by the
 * thread that asks (direct.c has rows along the first axis). And any number of them that a function joins values to, in
 * their order, for places may be equal (walk.c).
 *
 *     a[:, i, j]    part a of axes (A, B, C), indices i and j of shape (N) along axes 1 and 2: result (A, N)
 *
 * For each place of the indices the axes that are kept are moved as a part of their own.
 */
#include "base/widths.h"
#include "numeric/walk.h"
#include <math.h>

enum { PICK_INDICES = 4, PICK_ROW_BYTES = 1 << 22, /* bytes that one thread picks by rows or points */
       PICK_BLOCK = 256 };                         /* points whose offsets are computed together */
/* Few elements and many points, or many by rows, too, or any. */
typedef enum pick_most { PICK_FEW, PICK_ROWS, PICK_ANY } pick_most;

/* A key applied to an array, and an array of its result's shape; steps in bytes. */
typedef struct pick_of {
    nd_move kept; /* the axes without an index; `to` is of the array, `from` of the other one */
    uint32_t rank, n_index; /* of the result; axes of the indices */
    uint32_t first;         /* of them in the result */
    int64_t count, shape[TS_ND_RANK], index_step[TS_ND_RANK]; /* of the other array along axes of the indices */
    const int64_t *places[PICK_INDICES];
    int64_t extent[PICK_INDICES], step[PICK_INDICES];
} pick_of;

/* Whether all of n places lie in -extent .. extent - 1: the signs of sums tell of those below and above, without a
 * branch. */
TS_INLINE void pick_are_places_loops(const int64_t *places, int64_t n, int64_t extent, bool *are)
{
    uint64_t below = (uint64_t)extent, odd = 0;
    for (int64_t k = 0; k < n; k++) {
        uint64_t place = (uint64_t)places[k];
        odd |= (place >> 63 ? place + below : below - 1 - place);
    }
    *are = !(odd >> 63);
}

TS_WIDTHS(pick_are_places, (const int64_t *places, int64_t n, int64_t extent, bool *are), (places, n, extent, are))

/* The places of one index; *fits false: it is no int64 array of the first one's shape that lies apart without gaps. */
static ts_status pick_index(const ts_nd *a, const ts_nd_pick *pick, uint32_t i, pick_of *p, bool *fits, ts_error *err)
{
    ts_nd *index = pick->indices[i], *first = pick->indices[0];
    void *data;
    *fits = index->dtype == TS_DTYPE_int64 && !index->meaning && index->graph == a->graph && index->rank &&
            index->rank == first->rank && nd_is_dense(index, 0) && !ts_nd_shares(a, index, false) &&
            memcmp(ts_nd_shape(index), ts_nd_shape(first), index->rank * sizeof(int64_t)) == 0;
    if (!*fits)
        return TS_OK;
    TS_TRY(ts_nd_memory(index, false, &data, NULL, err));
    p->places[i] = data;
    p->extent[i] = pick->part.shape[pick->axes[i]];
    p->step[i] = pick->part.strides[pick->axes[i]];
    pick_are_places(p->places[i], index->count, p->extent[i], fits);
    return TS_OK;
}

static bool pick_has(const ts_nd_pick *pick, uint32_t axis)
{
    bool has = false;
    for (uint32_t i = 0; i < pick->n; i++)
        has |= pick->axes[i] == axis;
    return has;
}

/* The result's shape: axes that are kept, and those of the indices between them or in front. False: too many. */
static bool pick_shape(const ts_nd *a, const ts_nd_pick *pick, pick_of *p)
{
    const ts_nd *index = pick->indices[0];
    uint32_t kept = pick->part.rank - pick->n, d = 0;
    p->n_index = index->rank;
    p->rank = kept + p->n_index;
    p->first = pick->front ? 0 : pick->axes[0];
    p->kept.rank = kept;
    p->kept.item = a->item;
    if (kept > ND_MOVE_AXES || p->rank > TS_ND_RANK)
        return false;
    for (uint32_t axis = 0; axis < pick->part.rank; axis++)
        if (!pick_has(pick, axis)) {
            p->kept.shape[d] = pick->part.shape[axis];
            p->kept.to[d] = pick->part.strides[axis];
            p->shape[d < p->first ? d : d + p->n_index] = pick->part.shape[axis];
            d++;
        }
    memcpy(p->shape + p->first, ts_nd_shape(index), p->n_index * sizeof *p->shape);
    p->count = 1;
    for (d = 0; d < p->rank; d++)
        p->count *= p->shape[d];
    return p->count > 0;
}

static bool pick_is_few(const ts_nd *a, const pick_of *p)
{
    return p->count <= ND_DIRECT_BYTES / a->item;
}

/* Whether the same elements are picked out of each of several rows: one index along the last axis. */
static bool pick_is_rows(const ts_nd_pick *pick, const pick_of *p)
{
    return pick->n == 1 && p->n_index == 1 && p->kept.rank && p->first == p->kept.rank;
}

/* Whether one index picks whole rows, which lie without gaps. */
static bool pick_is_whole(const ts_nd *a, const ts_nd_pick *pick, const pick_of *p)
{
    uint32_t last = p->kept.rank - 1u;
    return pick->n == 1 && p->n_index == 1 && p->kept.rank && !p->first && p->kept.to[last] == a->item;
}

/* Whether the indices name single elements: no axis is kept. */
static bool pick_is_points(const pick_of *p)
{
    return !p->kept.rank;
}

/* PICK_ANY: also elements that are not there yet. */
static ts_status pick_read(ts_nd *a, const ts_nd_pick *pick, pick_most most, pick_of *p, bool *fits, ts_error *err)
{
    bool any = most == PICK_ANY;
    *fits = (any ? nd_is_direct(a) : nd_is_there(a)) && pick->n && pick->n <= PICK_INDICES &&
            pick->indices[0]->rank && pick->indices[0]->count && pick_shape(a, pick, p) &&
            (any || pick_is_few(a, p) ||
             ((pick_is_points(p) ||
               (most == PICK_ROWS && (pick_is_rows(pick, p) || pick_is_whole(a, pick, p)))) &&
              p->count <= PICK_ROW_BYTES / a->item));
    for (uint32_t i = 0; i < pick->n && *fits; i++)
        TS_TRY(pick_index(a, pick, i, p, fits, err));
    return TS_OK;
}

/* Steps of the other array along the result's axes, to those that are kept and those of the indices. */
static void pick_other(pick_of *p, const int64_t *steps)
{
    for (uint32_t d = 0; d < p->kept.rank; d++)
        p->kept.from[d] = steps[d < p->first ? d : d + p->n_index];
    memcpy(p->index_step, steps + p->first, p->n_index * sizeof *steps);
}

/* Joins elements to those of a part, row after row of the last axis. */
static void pick_join(const nd_walk *walk, const nd_move *m, char *to, const char *from)
{
    int64_t at[ND_MOVE_AXES] = {0};
    uint32_t inner = m->rank ? m->rank - 1 : 0, d;
    do {
        walk->loop(m->rank ? m->shape[inner] : 1, to, m->rank ? m->to[inner] : 0, from, m->rank ? m->from[inner] : 0,
                   to, m->rank ? m->to[inner] : 0);
        for (d = inner; d-- > 0;) {
            to += m->to[d];
            from += m->from[d];
            if (++at[d] < m->shape[d])
                break;
            to -= m->to[d] * at[d];
            from -= m->from[d] * at[d];
            at[d] = 0;
        }
    } while (d != UINT32_MAX);
}

/* Moves all elements: into the array, or from it; with a function (not NULL) those of the other array are joined to
 * the array's. */
static void pick_move(const pick_of *p, uint32_t n, char *data, char *other, bool writes, const nd_walk *walk)
{
    int64_t at[TS_ND_RANK] = {0}, places = 1;
    nd_move move = p->kept;
    for (uint32_t d = 0; d < p->n_index; d++)
        places *= p->shape[p->first + d];
    for (uint32_t d = 0; d < move.rank && !writes; d++) {
        move.to[d] = p->kept.from[d];
        move.from[d] = p->kept.to[d];
    }
    for (int64_t k = 0; k < places; k++) {
        int64_t offset = 0;
        for (uint32_t i = 0; i < n; i++)
            offset += (p->places[i][k] + (p->places[i][k] < 0 ? p->extent[i] : 0)) * p->step[i];
        if (walk)
            pick_join(walk, &move, data + offset, other);
        else
            ts__nd_move(&move, writes ? data + offset : other, writes ? other : data + offset);
        for (uint32_t d = p->n_index; d-- > 0;) {
            other += p->index_step[d];
            if (++at[d] < p->shape[p->first + d])
                break;
            other -= p->index_step[d] * at[d];
            at[d] = 0;
        }
    }
}

/* Where points k to k + n - 1 lie in the array. */
TS_INLINE void pick_offsets_loops(const pick_of *p, uint32_t n_indices, int64_t k, int64_t n, int64_t *offsets)
{
    memset(offsets, 0, (size_t)n * sizeof *offsets);
    for (uint32_t i = 0; i < n_indices; i++) {
        const int64_t *places = p->places[i] + k, extent = p->extent[i], step = p->step[i];
        for (int64_t m = 0; m < n; m++)
            offsets[m] += (places[m] + (places[m] >> 63 & extent)) * step;
    }
}

TS_WIDTHS(pick_offsets, (const pick_of *p, uint32_t n_indices, int64_t k, int64_t n, int64_t *offsets),
          (p, n_indices, k, n, offsets))

/* Points of a block, one after the other, to or from elements with one step between them. */
TS_INLINE void pick_block(const int64_t *offsets, int64_t n, char *data, char *other, int64_t step, bool writes,
                          size_t item)
{
    for (int64_t k = 0; k < n; k++)
        memcpy(writes ? data + offsets[k] : other + k * step, writes ? other + k * step : data + offsets[k], item);
}

/* All elements where the indices name points, block by block. */
static void pick_points(const pick_of *p, uint32_t n_indices, char *data, char *other, bool writes)
{
    int64_t offsets[PICK_BLOCK], step = p->index_step[p->n_index - 1], n;
    for (int64_t k = 0; k < p->count; k += n, other += n * step) {
        n = p->count - k < PICK_BLOCK ? p->count - k : PICK_BLOCK;
        pick_offsets(p, n_indices, k, n, offsets);
        if (p->kept.item == 8)
            pick_block(offsets, n, data, other, step, writes, 8);
        else if (p->kept.item == 4)
            pick_block(offsets, n, data, other, step, writes, 4);
        else if (p->kept.item == 1)
            pick_block(offsets, n, data, other, step, writes, 1);
        else
            pick_block(offsets, n, data, other, step, writes, p->kept.item);
    }
}

/* Elements of one row, which lie side by side in the result. */
TS_INLINE void pick_row(const pick_of *p, const char *from, char *to, size_t item)
{
    const int64_t *places = p->places[0], extent = p->extent[0], step = p->step[0], n = p->shape[p->first];
    for (int64_t k = 0; k < n; k++)
        memcpy(to + k * (int64_t)item, from + (places[k] + (places[k] >> 63 & extent)) * step, item);
}

/* Row after row, so that those that lie side by side are read so. */
static void pick_rows(const pick_of *p, const char *data, char *to)
{
    const nd_move *m = &p->kept;
    int64_t at[ND_MOVE_AXES] = {0};
    uint32_t d;
    do {
        if (m->item == 8)
            pick_row(p, data, to, 8);
        else if (m->item == 4)
            pick_row(p, data, to, 4);
        else
            pick_row(p, data, to, m->item);
        for (d = m->rank; d-- > 0;) {
            data += m->to[d];
            to += m->from[d];
            if (++at[d] < m->shape[d])
                break;
            data -= m->to[d] * at[d];
            to -= m->from[d] * at[d];
            at[d] = 0;
        }
    } while (d != UINT32_MAX);
}

static char *pick_data(const ts_nd *a, const ts_nd_pick *pick)
{
    return (char *)ts_buffer_data(a->store->buffer) + a->offset + pick->part.offset;
}

ts_status ts_nd_pick_from(ts_nd *a, const ts_nd_pick *pick, ts_nd **result, ts_error *err)
{
    pick_of p; /* filled as far as there are axes */
    bool fits;
    void *to;
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, a, pick);
    TS_TRY(pick_read(a, pick, PICK_ROWS, &p, &fits, err));
    if (!fits)
        return TS_OK;
    TS_TRY(ts_nd_empty(a->graph, (ts_dtype)a->dtype, p.rank, p.shape, false, result, err));
    nd_means(*result, a);
    ts_status status = ts_nd_memory(*result, false, &to, NULL, err);
    if (status == TS_OK) {
        pick_other(&p, ts_nd_strides(*result));
        if (pick_is_points(&p))
            pick_points(&p, pick->n, pick_data(a, pick), to, false);
        else if (pick_is_rows(pick, &p))
            pick_rows(&p, pick_data(a, pick), to);
        else
            pick_move(&p, pick->n, pick_data(a, pick), to, false, NULL);
    } else
        ts_nd_release(*result), *result = NULL;
    return status;
}

/* Whether the other array has one step between its elements along the indices' axes, and no others. */
static bool pick_is_line(const pick_of *p)
{
    bool is = pick_is_points(p);
    for (uint32_t d = 0; d + 1 < p->n_index && is; d++)
        is = p->index_step[d] == p->index_step[d + 1] * p->shape[d + 1];
    return is;
}

/* Steps of an array that is broadcast to the result; false: it is not. */
static bool pick_broadcast(const pick_of *p, const ts_nd *values, int64_t *steps)
{
    if (values->rank > p->rank)
        return false;
    uint32_t up = p->rank - values->rank;
    memset(steps, 0, p->rank * sizeof *steps);
    for (uint32_t d = 0; d < values->rank; d++) {
        if (ts_nd_shape(values)[d] != 1 && ts_nd_shape(values)[d] != p->shape[up + d])
            return false;
        steps[up + d] = ts_nd_shape(values)[d] == 1 ? 0 : ts_nd_strides(values)[d];
    }
    return true;
}

ts_status ts_nd_pick_to(ts_nd *a, const ts_nd_pick *pick, const ts_nd_operand *values, bool *done, ts_error *err)
{
    pick_of p; /* filled as far as there are axes */
    char element[16];
    void *from = element;
    int64_t steps[TS_ND_RANK] = {0};
    TS_NEED(err, done);
    *done = false;
    TS_NEED(err, a, pick, values);
    ts_nd *array = values->array;
    if (a->flags & TS_ND_READONLY || !nd_is_there(a) || nd_is_read(a) ||
        (array ? array->dtype != a->dtype || array->meaning != a->meaning || array->graph != a->graph ||
                     ts_nd_shares(a, array, false)
               : a->meaning || !ts__nd_element(values, (ts_dtype)a->dtype, element)))
        return TS_OK;
    TS_TRY(pick_read(a, pick, PICK_FEW, &p, done, err));
    *done = *done && (!array || pick_broadcast(&p, array, steps));
    if (!*done)
        return TS_OK;
    if (array)
        TS_TRY(ts_nd_memory(array, false, &from, NULL, err));
    *done = nd_is_there(a) && !nd_is_read(a);
    if (*done) {
        pick_other(&p, steps);
        if (pick_is_line(&p))
            pick_points(&p, pick->n, pick_data(a, pick), from, true);
        else
            pick_move(&p, pick->n, pick_data(a, pick), from, true, NULL);
    }
    return TS_OK;
}

/* Whether results in a wider dtype, rounded to that of the operands, are those that are computed in theirs. */
static bool pick_rounds_once(ts_nd_fn fn, char kind)
{
    bool is_sum = fn == TS_ND_add || fn == TS_ND_subtract, is_best = fn == TS_ND_maximum || fn == TS_ND_minimum ||
                                                                     fn == TS_ND_fmax || fn == TS_ND_fmin;
    return is_sum || (kind == 'f' && (is_best || fn == TS_ND_multiply || fn == TS_ND_divide));
}

/* Whether joining a number of the host language, which NumPy makes an int64, a float64 or a complex128 of, gives the
 * same in the dtype of the elements: it is exact there, and no wider loop rounds otherwise. */
static bool pick_keeps(const ts_nd *a, ts_nd_fn fn, const ts_nd_operand *number)
{
    const double whole = 9007199254740992.0; /* 2^53: integers up to it are exact */
    char kind = nd_kind((ts_dtype)a->dtype);
    if (number->kind == 'b')
        return true;
    if (kind == 'i' || kind == 'u')
        return number->kind == 'i' && a->dtype != TS_DTYPE_uint64;
    double re = number->kind == 'i' ? (double)number->i : number->f;
    if (number->is_big || number->is_huge || (number->kind == 'i' && fabs(re) > whole))
        return false;
    if (a->dtype == TS_DTYPE_float64 || a->dtype == TS_DTYPE_complex128)
        return true;
    bool is_single = a->dtype == TS_DTYPE_float32 || a->dtype == TS_DTYPE_complex64;
    double im = number->kind == 'c' ? number->im : 0;
    return is_single && pick_rounds_once(fn, kind) && (double)(float)re == re && (double)(float)im == im;
}

/* What is joined to elements: an array of the same dtype, or a number that counts as one of it. */
static bool pick_is_value(const ts_nd *a, ts_nd_fn fn, const ts_nd_operand *values, char element[16])
{
    const ts_nd *array = values->array;
    if (array)
        return array->dtype == a->dtype && !array->meaning && array->graph == a->graph &&
               !ts_nd_shares(a, array, false);
    return (values->dtype ? values->dtype == a->dtype : pick_keeps(a, fn, values)) &&
           ts__nd_element(values, (ts_dtype)a->dtype, element);
}

/* Whether NumPy joins such values to an array of one axis without casts. */
static bool pick_is_of_one(const ts_nd *a, const ts_nd_operand *values)
{
    bool is_same = values->dtype ? values->dtype == a->dtype : values->kind == 'f' && a->dtype == TS_DTYPE_float64;
    return values->array ? values->array->rank < 2 : is_same;
}

ts_status ts_nd_pick_with(ts_nd *a, ts_nd_fn fn, const ts_nd_pick *pick, const ts_nd_operand *values, bool *done,
                          ts_error *err)
{
    pick_of p; /* filled as far as there are axes */
    char element[16];
    void *from = element, *unused;
    int64_t steps[TS_ND_RANK] = {0};
    TS_NEED(err, done);
    *done = false;
    TS_NEED(err, a, pick, values);
    const nd_walk *walk = ts__nd_walk_of(fn, (ts_dtype)a->dtype);
    if (!walk || a->meaning || a->flags & TS_ND_READONLY || !pick_is_value(a, fn, values, element))
        return TS_OK;
    TS_TRY(pick_read(a, pick, PICK_ANY, &p, done, err));
    *done = *done && (!values->array || pick_broadcast(&p, values->array, steps));
    if (!*done)
        return TS_OK;
    if (values->array)
        TS_TRY(ts_nd_memory(values->array, false, &from, NULL, err));
    TS_TRY(ts__nd_settle(a, TS_ND_CAUSE_part, err));
    TS_TRY(ts_nd_memory(a, false, &unused, NULL, err));
    pick_other(&p, steps);
    bool is_line = pick->n == 1 && pick_is_line(&p);
    bool is_of_one = is_line && a->rank == 1 && pick_is_of_one(a, values);
    ts__nd_walk_begin(walk, is_of_one);
    if (is_line)
        walk->at(&(nd_walk_places){p.count, p.extent[0], p.step[0], p.places[0]}, pick_data(a, pick), from,
                 p.index_step[p.n_index - 1]);
    else
        pick_move(&p, pick->n, pick_data(a, pick), from, true, walk);
    ts__nd_walk_end(walk, is_of_one, a->graph);
    return TS_OK;
}
