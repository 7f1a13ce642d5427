/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX through ptxas, where it is installed: whether it takes the text, and keeps all values in registers.
 */
#ifndef TS_TESTS_ASSEMBLE_H
#define TS_TESTS_ASSEMBLE_H

#include "check.h"
#include <unistd.h>

/* Not with TESSERA_QUICK: the text is the same under sanitizers. */
static inline bool has_assembler(void)
{
    return !getenv("TESSERA_QUICK") &&
           (access("/usr/local/bin/ptxas", X_OK) == 0 || system("command -v ptxas >/dev/null 2>&1") == 0);
}

/* What is wrong in a line of ptxas: "(C75.." are its warnings of wgmma that runs one after the other. */
static inline bool assemble_is_bad(const char *line, bool may_spill)
{
    bool spills = strstr(line, "spill stores") && !strstr(line, " 0 bytes spill stores");
    return strstr(line, "error") || strstr(line, "fatal") || strstr(line, "C75") || (spills && !may_spill);
}

/* False, with ptxas' words on stderr, when it objects; the file stays then. */
static inline bool assembles(const char *text, const char *arch, bool may_spill)
{
    char path[300], command[700], line[512];
    bool clean = true;
    snprintf(path, sizeof path, "%s/tessera-%d-%d.ptx", check_tmp(), (int)getpid(), check_passed);
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fputs(text, file);
    fclose(file);
    snprintf(command, sizeof command, "ptxas -v -arch=%s %s -o /dev/null 2>&1", arch, path);
    FILE *out = popen(command, "r");
    while (out && fgets(line, sizeof line, out))
        if (assemble_is_bad(line, may_spill)) {
            fprintf(stderr, "%s: %s", arch, line);
            clean = false;
        }
    clean = out && pclose(out) == 0 && clean;
    if (clean)
        remove(path);
    else
        fprintf(stderr, "kept: %s\n", path);
    return clean;
}

#endif
