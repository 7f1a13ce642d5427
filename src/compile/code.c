/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a ts_code, for those who have code and no compiler.
 */
#include "tessera/compile.h"

void ts_code_deinit(ts_code *code)
{
    if (code->bytes)
        code->alloc->resize(code->alloc->user, code->bytes, code->n_bytes, 0);
    if (code->messages)
        code->alloc->resize(code->alloc->user, code->messages, code->n_messages, 0);
    code->bytes = NULL;
    code->messages = NULL;
    code->n_bytes = code->n_messages = 0;
}
