/* SPDX-License-Identifier: Apache-2.0
 *
 * What messages call arguments. The path to an item of a tuple, list or record is found by walking the flat list anew,
 * so that launches that are right note nothing of it.
 */
#include "run/launch.h"
#include <stdio.h>
#include <string.h>

const char *ts__param_label(const ts_kernel *kernel, size_t param, char *room, size_t n)
{
    const char *name = ts_kernel_param_name(kernel, param);
    if (name)
        snprintf(room, n, "argument '%.80s'", name);
    else
        snprintf(room, n, "argument %zu", param);
    return room;
}

/* A tuple, list or record that the walk is in. */
typedef struct label_level {
    int64_t item, n;
    const char *fields; /* of a record: names as "x,y,z"; else NULL */
} label_level;

typedef struct label_path {
    size_t param, depth;
    label_level levels[TS_LAUNCH_ARGS];
} label_path;

/* Past an argument that holds no others. */
static void label_step(label_path *path)
{
    while (path->depth && ++path->levels[path->depth - 1].item == path->levels[path->depth - 1].n)
        path->depth--;
    path->param += path->depth == 0;
}

static void label_find(label_path *path, const ts_arg *args, size_t at)
{
    const char *fields = NULL;
    for (size_t i = 0; i < at; i++) {
        bool holds = args[i].kind == TS_SPEC_TUPLE || args[i].kind == TS_SPEC_LIST;
        if (args[i].kind == TS_SPEC_RECORD || args[i].kind == TS_SPEC_COMPLEX) {
            fields = args[i].fields;
            continue;
        }
        if (args[i].kind == TS_SPEC_STRUCT) /* its array is the argument */
            continue;
        if (holds && args[i].value.i > 0 && path->depth < TS_COUNT(path->levels))
            path->levels[path->depth++] = (label_level){0, args[i].value.i, fields};
        else
            label_step(path);
        fields = NULL;
    }
}

/* ".x" or "[1]" of one level. */
static void label_level_text(const label_level *level, char *out, size_t n)
{
    const char *name = level->fields;
    for (int64_t i = 0; name && i < level->item; i++) {
        name = strchr(name, ',');
        name += name != NULL;
    }
    if (name)
        snprintf(out, n, ".%.*s", (int)TS_MIN(strcspn(name, ","), (size_t)80), name);
    else
        snprintf(out, n, "[%lld]", (long long)level->item);
}

void ts_arg_label(const ts_kernel *kernel, const ts_arg *args, size_t at, char out[TS_ARG_LABEL])
{
    label_path path = {0};
    char part[96];
    label_find(&path, args, at);
    ts__param_label(kernel, path.param, out, TS_ARG_LABEL);
    size_t used = strlen(out), quote = out[used - 1] == '\'';
    used -= quote;
    for (size_t d = 0; d < path.depth; d++) {
        label_level_text(&path.levels[d], part, sizeof part);
        if (used + strlen(part) + 2 > TS_ARG_LABEL)
            break;
        used += (size_t)snprintf(out + used, TS_ARG_LABEL - used, "%s", part);
    }
    snprintf(out + used, TS_ARG_LABEL - used, "%s", quote ? "'" : "");
}
