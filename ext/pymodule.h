/* SPDX-License-Identifier: Apache-2.0
 *
 * The definition of an extension module: multi-phase init, all state in the module, which module_exec makes and
 * module_clear ends. The including file has these two and module_traverse.
 */
#ifndef TS_EXT_PYMODULE_H
#define TS_EXT_PYMODULE_H

#define PY_MODULE(definition, short_name, documentation, state_type, functions)       \
    static void module_free(void *module)                                             \
    {                                                                                 \
        module_clear(module);                                                         \
    }                                                                                 \
    static PyModuleDef_Slot module_slots[] = {                                        \
        {Py_mod_exec, module_exec},                                                   \
        {0, NULL},                                                                    \
    };                                                                                \
    PyModuleDef definition = {                                                        \
        PyModuleDef_HEAD_INIT,                                                        \
        .m_name = "tessera." #short_name,                                             \
        .m_doc = documentation,                                                       \
        .m_size = sizeof(state_type),                                                 \
        .m_methods = functions,                                                       \
        .m_slots = module_slots,                                                      \
        .m_traverse = module_traverse,                                                \
        .m_clear = module_clear,                                                      \
        .m_free = module_free,                                                        \
    };                                                                                \
    PyMODINIT_FUNC PyInit_##short_name(void);                                         \
    PyMODINIT_FUNC PyInit_##short_name(void)                                          \
    {                                                                                 \
        return PyModuleDef_Init(&definition);                                         \
    }

#endif
