/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: what a stream is given can be recorded instead of run, and a script of recorded work launched again and
 * again, on devices whose driver has no graphs of its own: the CPU. Read device.h first.
 *
 * A script is a list of steps, run from the first to the last in the order of a stream:
 *     RUN work              SET condition = value        JUMP to a step
 *     JUMP_IF / JUMP_UNLESS condition == value
 *
 *     ts_piece *work;
 *     ts_script *script;
 *     ts_record_begin(stream, &err);
 *     ts_launch(stream, grid, kernel, args, n, 0, &err);              recorded, not run
 *     ts_record_end(stream, &work, &err);
 *     ts_step step = {.op = TS_STEP_RUN, .work = work};
 *     ts_script_create(device, &step, 1, NULL, NULL, &script, &err);
 *     for (int i = 0; i < 1000; i++)
 *         ts_script_launch(script, stream, &err);
 *
 * Threads: a stream is recorded by one thread at a time; pieces and scripts may be retained, launched and released from
 * any thread. Errors name the stream or step that is wrong; nothing has been enqueued then.
 */
#ifndef TESSERA_GRAPH_H
#define TESSERA_GRAPH_H

#include "tessera/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ts_piece ts_piece;     /* one recorded piece: a launch, a copy, ...; counted */
typedef struct ts_script ts_script; /* counted */

/* What a piece does, for those who show or change graphs. */
typedef enum ts_piece_kind {
    TS_PIECE_OTHER,
    TS_PIECE_KERNEL,
    TS_PIECE_COPY,
    TS_PIECE_FILL,
    TS_PIECE_HOST,
    TS_PIECE_RECORD,
    TS_PIECE_WAIT
} ts_piece_kind;

/* Work given to the stream is recorded, from begin to end. Memory that it uses is kept by the caller, events by the
 * work; what is freed on the stream meanwhile is freed with the recorded work. Nothing can wait for the stream, nor
 * another stream for an event recorded in it (TS_RUNTIME). Errors: TS_UNSUPPORTED for a GPU's stream, TS_RUNTIME for
 * the default stream, which runs its work at once. */
TS_API TS_CHECKED ts_status ts_record_begin(const ts_stream *stream, ts_error *err);
/* Owns: *out, the first of a list (NULL: nothing was recorded), one reference of each. */
TS_API TS_CHECKED ts_status ts_record_end(const ts_stream *stream, ts_piece **out, ts_error *err);
/* Whether the stream is being recorded now; false for a GPU's stream. */
TS_API bool ts_record_active(const ts_stream *stream);
/* The piece recorded after this one, NULL for the last: borrowed, from the list that ts_record_end gave. */
TS_API ts_piece *ts_piece_next(const ts_piece *work);
TS_API ts_piece_kind ts_piece_kind_of(const ts_piece *work);
/* Ends one reference; the piece and what it keeps of its arguments go with the last. NULL is fine. */
TS_API void ts_piece_release(ts_piece *work);

/* One step. RUN needs `work`; SET, JUMP_IF and JUMP_UNLESS need `condition` and `value`; jumps need `target`, a step's
 * index or the number of steps. Other members are not looked at. */
typedef enum ts_step_op { TS_STEP_RUN, TS_STEP_SET, TS_STEP_JUMP, TS_STEP_JUMP_IF, TS_STEP_JUMP_UNLESS } ts_step_op;
typedef struct ts_step {
    ts_step_op op;
    uint32_t target;     /* of jumps; the number of steps is the end */
    uint32_t value;
    uint32_t *condition; /* read and written atomically; the caller's, alive as long as the script */
    ts_piece *work;
} ts_step;

/* A script of n steps, which are copied; their works are retained. `end(user)` is called once, in whatever thread drops
 * the script last; it may be NULL. Owns: *out, one reference, ended by ts_script_release. Errors: TS_NOMEM; TS_VALUE
 * for a step without what it needs and for a jump beyond the end; TS_UNSUPPORTED for a GPU. */
TS_API TS_CHECKED ts_status ts_script_create(ts_device *device, const ts_step *steps, size_t n, void (*end)(void *user),
                                             void *user, ts_script **out, ts_error *err);
/* NULL is fine; launches that still run keep the script until they end. */
TS_API void ts_script_release(ts_script *script);
/* Enqueued on `stream` as one piece of work; returns before it is done unless the stream is the default one. A fault
 * ends this run of the script and is reported by the stream's next wait. */
TS_API TS_CHECKED ts_status ts_script_launch(ts_script *script, const ts_stream *stream, ts_error *err);

#ifdef __cplusplus
}
#endif
#endif
