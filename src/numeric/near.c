/* SPDX-License-Identifier: Apache-2.0
 *
 * Storages of a GPU's arrays in host memory. A program that walks over elements reads them one by one, each with a
 * copy that waits for the device (8 us), and computes on a few of them, each time with a launch (4 us). So a storage of
 * which this is done often is carried to host memory, where a read takes 0.06 us and such a call 0.4, and its arrays
 * are of another graph for that time, the one near by. Calls on many elements carry it home.
 *
 *     a = array(x)                 a storage at home, on the GPU
 *     a[1], a[2], ..               reads, which are counted; then the storage is near
 *     a[i] = (a[i] + a[i - 1]) / 9    loops in C
 *     b = a * 2                    of many elements: home again, computed there
 *
 * Few elements come near, too, for a call whose results are looked at for faults before it returns (numpy.errstate
 * wants an error, or a cast loses): check.c and check_fold.c find them there, where a kernel's would be waited for.
 *
 * Nobody sees where a storage lies: the device of its arrays is that of their home, and memory that others get to
 * know is there. A storage moves where what was spent equals the price of its copy, so that calls never take more
 * than some three times what they would where it lay better all the time; the first four times that it comes near
 * the price is twice the one before, then it stays as it is. Values that wait hold buffers, which stay as they are,
 * so nothing that waits sees a storage go.
 */
#include "numeric/numeric.h"

enum {
    NEAR_COUNT = 1 << 15,      /* elements of a call that one thread computes in a launch's time or a few */
    NEAR_FEW = 3 << 8,         /* of a call for which an array comes near that is not read: a launch takes longer */
    NEAR_SMALL = 1 << 16,      /* bytes of a storage whose copy costs no more than a read */
    NEAR_MOST = 1 << 26,       /* bytes of one that may come near */
    NEAR_PRICE = 8,            /* of any copy, in launches; */
    NEAR_BYTES = 1 << 15,      /* one more for so many bytes */
    NEAR_PATIENCE = 4          /* doublings of the price: a walk that follows others is not put off for long */
};

ts_status ts_nd_graph_near(ts_nd_graph *graph, ts_device *host, uint32_t reads, ts_error *err)
{
    TS_NEED(err, graph, host);
    if (!(ts_device_caps_of(host) & TS_DEVICE_HOST_MEMORY) || graph->far)
        return ts_fail(err, TS_VALUE, "ts_nd_graph_near() wants a graph that was created, and a device whose memory is "
                       "the host's");
    if (!graph->near) {
        TS_TRY(ts_nd_graph_create(host, &graph->near, err));
        graph->near->far = graph;
        graph->near->alloc = graph->alloc; /* arrays end where they lie */
    }
    graph->near->watch = graph->watch;
    graph->reads = reads;
    return TS_OK;
}

ts_nd_graph *ts_nd_graph_home(ts_nd_graph *graph)
{
    return graph && graph->far ? graph->far : graph;
}

/* ---- one storage --------------------------------------------------------------------------------- */

static ts_status near_copy(const ts_nd_store *store, const ts_nd_graph *to, ts_buffer **out, ts_error *err)
{
    ts_array *from, *made;
    int64_t bytes = (int64_t)ts_buffer_bytes(store->buffer);
    TS_TRY(ts_array_of(store->buffer, 0, TS_DTYPE_uint8, 1, &bytes, NULL, &from, err));
    ts_status status = ts_array_copy(from, to->device, NULL, &made, err);
    ts_array_release(from);
    if (status != TS_OK)
        return status;
    *out = made->buffer;
    ts_buffer_retain(*out);
    ts_array_release(made);
    return TS_OK;
}

/* The storage lies in the other graph from now on, and so do its arrays. */
static ts_status near_carry(ts_nd_store *store, ts_nd_graph *to, ts_error *err)
{
    ts_buffer *made = NULL;
    if (store->value)
        TS_TRY(ts__nd_compute(store->arrays, TS_ND_CAUSE_move, err));
    if (store->buffer) {
        TS_TRY(near_copy(store, to, &made, err));
        ts_buffer_release(store->buffer);
        store->buffer = made;
    }
    for (ts_nd *a = store->arrays; a; a = a->next) {
        a->graph->n_arrays--;
        to->n_arrays++;
        a->graph = to;
    }
    (to->far ? to->far : to)->stats.n_carried++;
    store->graph = to;
    store->early = store->touched = 0;
    store->carried = (uint8_t)(store->carried + (to->far && store->carried < NEAR_PATIENCE));
    return TS_OK;
}

static uint32_t near_price(const ts_nd_store *store)
{
    const ts_nd_graph *graph = store->graph;
    uint32_t price = NEAR_PRICE + (uint32_t)(store->bytes / NEAR_BYTES);
    return graph->reads ? graph->reads : price << store->carried;
}

/* Items and what has a meaning are read in other ways. */
static bool near_may(const ts_nd *a)
{
    return !a->store->lasting && a->store->bytes <= NEAR_MOST && a->dtype && !a->meaning;
}

/* Whether what was spent on an array's storage, and `more`, pays for its way; `now`: as where its copy is waited for
 * anyway. */
static bool near_pays(const ts_nd *a, uint32_t more, bool now)
{
    ts_nd_store *store = a->store;
    if (!near_may(a))
        return false;
    store->touched += more;
    return store->touched >= near_price(store) || (now && store->bytes <= NEAR_SMALL && a->graph->reads != UINT32_MAX);
}

void ts__nd_near_read(ts_nd *a)
{
    bool is_part = a->store->bytes > a->item && !a->graph->watch;
    if (is_part && near_pays(a, ND_COSTS_READ, false))
        (void)near_carry(a->store, a->graph->near, NULL); /* else it is read where it stays */
}

ts_status ts_nd_home(ts_nd *a, ts_error *err)
{
    TS_NEED(err, a);
    return a->graph->far ? near_carry(a->store, a->graph->far, err) : TS_OK;
}

/* ---- arrays of a call ---------------------------------------------------------------------------- */

static ts_status meet_at(ts_nd_graph *goal, ts_nd *const *arrays, uint32_t n, ts_error *err)
{
    ts_nd_graph *other = goal->far ? goal->far : goal->near;
    for (uint32_t i = 0; i < n; i++)
        if (arrays[i] && arrays[i]->graph == other)
            TS_TRY(near_carry(arrays[i]->store, goal, err));
    return TS_OK;
}

/* Whether all arrays that lie at home may come near for this call. */
static bool meet_pays(const ts_nd_graph *home, ts_nd *const *arrays, uint32_t n, uint32_t costs, bool now)
{
    bool pays = true;
    for (uint32_t i = 0; i < n; i++)
        if (arrays[i] && arrays[i]->graph == home)
            pays &= near_pays(arrays[i], costs, now);
    return pays;
}

/* Whether all arrays that lie at home can come near for a call whose results are looked at there. */
static bool meet_looks(const nd_meeting *meeting, const ts_nd_graph *home, ts_nd *const *arrays, uint32_t n)
{
    bool may = meeting->looks && meeting->count <= TS_ND_LOOKED_AT && home->reads != UINT32_MAX;
    for (uint32_t i = 0; i < n && may; i++)
        if (arrays[i] && arrays[i]->graph == home)
            may = near_may(arrays[i]) && arrays[i]->store->bytes <= NEAR_SMALL;
    return may;
}

/* What arrays at home would have spared near by counts from here on: this call would carry them back. */
static void meet_many(const ts_nd_graph *home, ts_nd *const *arrays, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (arrays[i] && arrays[i]->graph == home)
            arrays[i]->store->touched = 0;
}

ts_status ts__nd_meet(nd_meeting *meeting, ts_nd *const *arrays, uint32_t n, ts_error *err)
{
    ts_nd_graph *home = ts_nd_graph_home(meeting->graph), *near = home->near, *goal;
    bool is_near = false, is_home = false, is_much = false; /* near by */
    for (uint32_t i = 0; i < n; i++) {
        is_near |= arrays[i] && arrays[i]->graph == near;
        is_home |= arrays[i] && arrays[i]->graph == home;
        is_much |= arrays[i] && arrays[i]->graph == near && arrays[i]->store->bytes > NEAR_SMALL;
    }
    if (!near || (!is_near && !is_home))
        return TS_OK;
    bool waits = meeting->costs == ND_COSTS_RESULT, may = meeting->count <= NEAR_COUNT && !home->watch;
    bool looks = may && meet_looks(meeting, home, arrays, n);
    if (meeting->count > NEAR_COUNT)
        meet_many(home, arrays, n);
    if (!is_near)
        may &= waits || meeting->count <= NEAR_FEW;
    goal = looks || (may && (!is_home || meet_pays(home, arrays, n, meeting->costs, is_much || waits))) ? near : home;
    if (goal == near && is_home && meet_at(near, arrays, n, NULL) != TS_OK)
        goal = home; /* without memory there */
    TS_TRY(meet_at(goal, arrays, n, err));
    if (goal != meeting->graph) {
        goal->strict = meeting->graph->strict;
        goal->wants = meeting->graph->wants;
        goal->underflows = meeting->graph->underflows;
    }
    meeting->graph = goal;
    return TS_OK;
}

ts_status ts__nd_meet_few(int64_t count, ts_nd *const *arrays, uint32_t n, ts_error *err)
{
    nd_meeting meeting = {.graph = arrays[0]->graph, .count = count, .costs = ND_COSTS_LAUNCH};
    return nd_may_meet(meeting.graph) ? ts__nd_meet(&meeting, arrays, n, err) : TS_OK;
}
