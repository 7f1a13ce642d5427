/* SPDX-License-Identifier: Apache-2.0
 * The Debug section that is made from places of our IR: NVIDIA's assembler refuses a kernel whose places lie in a
 * function of another symbol.
 */
#include "tessera/tileir.h"
#include "check.h"
#include "tileir/tileir.h"
#include <string.h>

static ts_error err;

static const char source[] =
    "entry @\"k_Kt1\"(%1: ptr<f32>) {\n"
    "  %2 = load_ptr_tko %1 : f32 loc(\"/made/f.py\":3:4-3:9 \"helper\" <- \"/made/g.py\":70:0-70:9 \"k\")\n"
    "  %3 = store_ptr_tko %1, %2 : token loc(\"/made/g.py\":71:2-71:5 \"k\")\n"
    "  return\n}\n";

static const tileir_debug_attr *subprogram(const ts_tileir *m, const char *name)
{
    for (uint32_t i = 0; i < m->debug.n; i++)
        if (m->debug.at[i].tag == TILEIR_DEBUG_SUBPROGRAM &&
            strcmp(ts__tileir_str(m, (uint32_t)m->debug.at[i].f[2]), name) == 0)
            return &m->debug.at[i];
    return NULL;
}

static void a_kernels_function_has_the_kernels_symbol(void)
{
    ts_module *ir;
    ts_tileir *made;
    CHECK_OK(ts_module_read(source, strlen(source), NULL, &ir, &err));
    CHECK_OK(ts_tileir_of_ir(ir, 0, "sm_90", NULL, &made, &err));
    const tileir_debug_attr *kernel = subprogram(made, "k"), *helper = subprogram(made, "helper");
    CHECK(kernel && helper);
    CHECK_STR(ts__tileir_str(made, (uint32_t)kernel->f[3]), "k_Kt1");
    CHECK_STR(ts__tileir_str(made, (uint32_t)helper->f[3]), "helper");
    ts_tileir_destroy(made);
    ts_module_destroy(ir);
}

int main(void)
{
    a_kernels_function_has_the_kernels_symbol();
    return check_done();
}
